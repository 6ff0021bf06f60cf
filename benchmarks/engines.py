"""Tables of any size: a plan on DuckDB beside DuckDB's own counting, joining and writing.

The bare cost is DuckDB's group-by over the quasi-identifiers, its join of a mapping of that size,
its writing of the result: what nobody can do without who leaves the table on the disk. A run does
that, clusters the combinations, measures loss and risk, recounts the written file, and reports.

Every way runs in a process of its own, so that its peak memory is its own. Where others use the
machine too, processor seconds say more than those of a clock. With three sizes, the cost per
record is fitted and carried on to 10^9 and 10^10 records.

Neither kernels are compiled nor Java started at the expense of a run: each process has protected a
thousand records before. Both write, read back and recount; a plan measures and reports, too. Java's
memory and processor seconds count as Spark's. Usage:
``python benchmarks/engines.py [--records 1e6 1e7 1e8] [--spark] [--threads 2] [--memory 3GB]``;
``--records 2e7 --wards 1000``, once with ``--threads 1``, shows millions of combinations in blocks.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import numpy as np

from arguments import whole_number

QUASI = ("age", "sex", "region", "illness", "ward")
MADE = """
COPY (SELECT (20 + 59 * random() * random())::INT AS age,
             ['f', 'm', 'x'][1 + (random() * random() * 2)::INT] AS sex,
             CASE WHEN random() < 0.02 THEN NULL
                  ELSE 'r' || (random() * random() * 19)::INT END AS region,
             'i' || (random() * random() * random() * 19)::INT AS illness,
             (random() * random() * {wards})::INT AS ward,
             round(random() * 10000, 2) AS cost
      FROM range({records}))
TO '{path}' (FORMAT parquet, COMPRESSION zstd)
"""
PLAN = """
seed = 1
[input]
path = "in.parquet"
[engine]
name = "duckdb"
threads = {threads}
memory = "{memory}"
[output]
table = "out.parquet"
[evaluation]
distances = ["matching"]
[columns]
age = {{ kind = "numeric" }}
sex = {{ kind = "flat" }}
region = {{ kind = "flat" }}
illness = {{ kind = "flat" }}
ward = {{ kind = "numeric" }}
cost = {{ kind = "numeric", role = "other" }}
[[steps]]
method = "microaggregation"
k = 5
"""


def connected(threads: int, memory: str) -> duckdb.DuckDBPyConnection:
    limits = {"threads": threads, "memory_limit": memory, "preserve_insertion_order": False}
    return duckdb.connect(config=limits)


def bare(folder: Path, threads: int, memory: str) -> dict[str, float]:
    """DuckDB alone: count the combinations, join a mapping of them, write."""
    with connected(threads, memory) as connection:
        started = time.perf_counter()
        keys = ", ".join(QUASI)
        table = f"read_parquet('{folder / 'in.parquet'}')"
        connection.execute(f"CREATE TABLE tuples AS SELECT {keys} FROM {table} GROUP BY ALL")
        counted = time.perf_counter()
        same = " AND ".join(f"t.{name} IS NOT DISTINCT FROM m.{name}" for name in QUASI)
        chosen = ", ".join(f"m.{name}" for name in QUASI)
        connection.execute(
            f"COPY (SELECT {chosen}, t.cost FROM {table} t JOIN tuples m ON {same}) "
            f"TO '{folder / 'bare.parquet'}' (FORMAT parquet, COMPRESSION zstd)"
        )
        combinations = connection.sql("SELECT count(*) FROM tuples").fetchall()[0][0]
    done = time.perf_counter()
    parts = {"counting s": counted - started, "write s": done - counted}
    return {"combinations": combinations, "seconds": done - started, **parts}


def planned(folder: Path, threads: int, memory: str) -> dict[str, float]:
    """A whole plan on DuckDB, after a small one that compiles the kernels."""
    import ontomask as om

    text = PLAN.format(threads=threads, memory=memory)
    small = text.replace("in.parquet", "small.parquet")
    om.Plan.parse(small, folder=folder).run(force=True)
    masked, busy = om.Microaggregation.mask, []

    def clocked(*given: Any) -> Any:
        worked = time.process_time()
        found = masked(*given)
        busy.append(time.process_time() - worked)
        return found

    with mock.patch.object(om.Microaggregation, "mask", clocked):
        worked = time.process_time()
        outcome = om.Plan.parse(text, folder=folder).run(force=True)
        worked = time.process_time() - worked
    timings = outcome.release.timings
    stages = json.loads(outcome.manifest.read_text())["times"]["seconds"]
    parts = {f"{name} s": stages[name] for name in ("protect", "evaluate", "write", "report")}
    return {
        "seconds": outcome.seconds,
        "clustering": timings["step 1: microaggregation"],
        "processor": worked,
        "clustering processor": busy[0],
        "counting s": timings["count combinations"],
        **parts,
    }


def on_spark(folder: Path, threads: int, memory: str) -> dict[str, float]:
    """The same masking on Spark, written by Spark; the session has done a small one before."""
    from pyspark.sql import SparkSession

    import ontomask as om

    builder = SparkSession.builder.master(f"local[{threads}]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.memory", memory.replace("GB", "g")).getOrCreate()
    contents = om.Plan.parse(PLAN.format(threads=threads, memory=memory), folder=folder).contents

    def written(name: str) -> om.Release:
        frame, target = session.read.parquet(str(folder / name)), folder / f"spark {name}"
        return om.protect(frame, contents.schema, contents.steps, seed=1, target=target)

    written("small.parquet")
    machine = Path(f"/proc/{session.sparkContext._gateway.proc.pid}")
    started, worked = time.perf_counter(), time.process_time() + processor_seconds(machine)
    release = written("in.parquet")
    return {
        "seconds": time.perf_counter() - started,
        "clustering": release.timings["step 1: microaggregation"],
        "processor": time.process_time() + processor_seconds(machine) - worked,
        "beside": most_memory(machine),
    }


def processor_seconds(process: Path) -> float:
    """What another process (that of Java) has worked, as Linux tells it."""
    behind_name = (process / "stat").read_text().rpartition(")")[2].split()
    return sum(map(int, behind_name[11:13])) / os.sysconf("SC_CLK_TCK")


def most_memory(process: Path) -> float:
    """The peak memory of another process in GiB."""
    lines = (process / "status").read_text().splitlines()
    return next(int(one.split()[1]) for one in lines if one.startswith("VmHWM:")) / 2**20


CLUSTERING = ("clustering", "clustering processor")
WAYS = {"bare": bare, "plan": planned, "spark": on_spark}


def measured(way: str, folder: Path, threads: int, memory: str) -> dict[str, float]:
    """Run one way in a process of its own."""
    command = [sys.executable, __file__, "--one", way, str(folder), str(threads), memory]
    limited = {**os.environ, "ONTOMASK_THREADS": str(threads)}
    answer = subprocess.run(command, check=True, capture_output=True, text=True, env=limited).stdout
    found: dict[str, float] = json.loads(answer.strip().splitlines()[-1])
    return found


def one_way(way: str, folder: str, threads: str, memory: str) -> None:
    worked = time.process_time()
    found = WAYS[way](Path(folder), int(threads), memory)
    own = {"processor": time.process_time() - worked, **dict.fromkeys(CLUSTERING, 0.0)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20 + found.pop("beside", 0.0)
    print(json.dumps({**own, **found, "peak": peak}))


def compared(
    records: int, wards: int, threads: int, memory: str, ways: list[str]
) -> dict[str, float]:
    """Run every way on a table of some records, and tell what a plan took."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with connected(threads, memory) as connection:
            for count, name in ((records, "in.parquet"), (1000, "small.parquet")):
                made = MADE.format(records=count, wards=wards, path=folder / name)
                connection.execute(made)
        found = {way: measured(way, folder, threads, memory) for way in ways}
    own = found["bare"]
    print(f"{records:,} records, {own['combinations']:,} combinations, {threads} threads, {memory}")
    for way, one in found.items():
        clocks = zip(("seconds", "processor"), CLUSTERING, strict=True)
        rest, busy = (one[name] - one[part] for name, part in clocks)
        spent = (
            f", {one['seconds'] / found['plan']['seconds']:.2f} x the plan, "
            f"{one['processor'] / found['plan']['processor']:.2f} x by processor seconds"
            if way == "spark"
            else f", {busy / own['processor']:.2f} x by processor seconds"
        )
        print(
            f"  {way:6} {one['seconds']:8.1f} s, clustering {one['clustering']:7.1f} s, the rest "
            f"{rest / own['seconds']:5.2f} x bare{spent}, peak {one['peak']:5.2f} GiB"
        )
        parts = [f"{name[:-2]} {value:.1f}" for name, value in one.items() if name.endswith(" s")]
        print(f"         {', '.join(parts)} s" if parts else "", flush=True)
    return {"records": records, "combinations": own["combinations"], **found["plan"]}


def extrapolated(found: list[dict[str, float]]) -> None:
    """Carry the cost of a plan on to more records, by a line through what was measured."""
    records = np.array([one["records"] for one in found])
    for clock, part in zip(("seconds", "processor"), CLUSTERING, strict=True):
        rest = np.array([one[clock] - one[part] for one in found])
        slope, start = np.polyfit(records, rest, 1, w=1.0 / rest)  # by relative errors
        each = [f"{one[part] / one['combinations'] * 1e6:.0f}" for one in found]
        hours = [f"{(start + slope * many) / 3600:.1f} hours" for many in (1e9, 1e10)]
        print(
            f"{clock}: {start:.1f} s and {slope * 1e6:.2f} microseconds per record besides the "
            f"clustering ({', '.join(each)} microseconds per combination); "
            f"10^9 records {hours[0]}, 10^10 records {hours[1]}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", nargs="+", type=float, default=[1e6, 1e7])
    parser.add_argument("--wards", type=whole_number, default=2, help="for more combinations")
    parser.add_argument("--threads", type=whole_number, default=2)
    parser.add_argument("--memory", default="3GB")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--one", nargs=4)
    given = parser.parse_args()
    if given.one:
        one_way(*given.one)
        return
    ways = ["bare", "plan", *(["spark"] if given.spark else [])]
    limits = given.wards, given.threads, given.memory, ways
    found = [compared(int(one), *limits) for one in given.records]
    if len(found) > 2:
        extrapolated(found)


if __name__ == "__main__":
    main()
