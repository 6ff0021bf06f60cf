"""What `protect` costs around the method: encoding, digests, recount, writing back.

Sections:

* `rows`: Adult (`tables/adult/` of the folder given by `--data`) resampled to many records, 15 %
  of the cells redrawn from their column, 5-anonymity by generalization with 2 % suppression. Beside
  it, in the same run, what Polars takes to group the same columns. CPU seconds, since cores may be
  busy; the peak of memory with the table itself, as a multiple of the table in memory;
* `small`: four records, by microaggregation and generalization, in three kinds of frames;
* `cheap`: methods that do little: noise on 200,000 numbers, rank swapping of 50,000 x 4, MDAV of
  4,092 x 11; CPU seconds, and those of the clock.

    python benchmarks/around.py --data FOLDER [--sections rows,small,cheap] [--records 3000000]
"""

from __future__ import annotations

import argparse
import csv
import functools
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import ontomask as om
from arguments import folder_with, some_of, whole_number
from generalization import COLUMNS, K, adult, adult_hierarchies
from ontomask import protection as room

CELL = 16
"""Bytes of a short text in memory."""


def rows_section(folder: Path, records: int) -> None:
    """In a process of its own, so that nothing else is in the peak of memory."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "adult.parquet"
        resampled(folder, records).write_parquet(path)
        command = [sys.executable, __file__, "--data", str(folder), "--once", str(path)]
        subprocess.run(command, check=True)


def resampled(folder: Path, records: int) -> pl.DataFrame:
    """Adult as texts, with many records."""
    codes, columns = adult(folder, copies=records, redrawn=0.15), {}
    for name, hierarchy in adult_hierarchies(folder).items():
        path = folder / "tables" / "adult" / f"adult_hierarchy_{name}.csv"
        with path.open(encoding="utf-8") as file:
            values = [row[0] for row in csv.reader(file, delimiter=";")]
        texts = pl.Series(values)[np.argsort(hierarchy.encode(values))]
        columns[name] = texts[codes[name]]
    return pl.DataFrame(columns)


def once(folder: Path, path: Path) -> None:
    """Time the parts of one call on a table."""
    frame = pl.read_parquet(path)
    schema = om.Schema(**{name: om.Flat() for name in COLUMNS})
    method = om.Generalization(K, 0.02, hierarchies=adult_hierarchies(folder))
    om.protect(frame.head(1000), schema, method, seed=1)
    grouped = min(_spent(lambda: frame.group_by(COLUMNS).len()) for _ in range(3))
    spent = {name: _clocked(room, name) for name in ("encode", "run_steps", "prove")}
    table = len(frame) * len(COLUMNS) * CELL / 1e6
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    whole = _spent(lambda: om.protect(frame, schema, method, seed=1))
    peak = (_memory("VmHWM") - before + table) / table
    parts = {name: sum(one) for name, one in spent.items()}
    around = whole - parts["encode"] - parts["run_steps"]
    print(f"{len(frame):,} records of {len(COLUMNS)} columns, {table:.0f} MB; CPU seconds")
    print(f"  Polars' group-by {grouped:6.2f}")
    print(f"  encoding         {parts['encode']:6.2f}   {parts['encode'] / grouped:.2f} group-bys")
    print(
        f"  around           {around:6.2f}   {around / grouped:.2f} (recount {parts['prove']:.2f})"
    )
    print(f"  method           {parts['run_steps']:6.2f}")
    print(f"  whole call       {whole:6.2f}   peak of memory {peak:.1f} times the table")


def _clocked(module: Any, name: str) -> list[float]:
    """The CPU seconds of each call of a function from now on."""
    spent: list[float] = []
    function = getattr(module, name)

    def clocked(*args: Any, **named: Any) -> Any:
        answer = []
        spent.append(_spent(lambda: answer.append(function(*args, **named))))
        return answer[0]

    setattr(module, name, clocked)
    return spent


def _spent(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    start = clock()
    work()
    return clock() - start


def _memory(key: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith(key))


def small_section(_folder: Path, _records: int) -> None:
    frame = pl.DataFrame({"age": [34, 36, 71, 69], "job": ["a", "a", "b", "b"]})
    schema = om.Schema(age=om.Numeric(), job=om.Flat())
    ages = [["34", "3*", "*"], ["36", "3*", "*"], ["71", "7*", "*"], ["69", "6*", "*"]]
    hierarchies = {"age": ages, "job": [["a", "*"], ["b", "*"]]}
    methods = [
        om.Microaggregation(2),
        om.Generalization([om.privacy.KAnonymity(2)], hierarchies=hierarchies),
    ]
    print("four records, CPU milliseconds a call")
    for method in methods:
        for own in (frame, frame.to_arrow(), frame.to_pandas()):
            best = _best(functools.partial(om.protect, own, schema, method, seed=1), 100)
            print(f"  {method.name:18}{type(own).__module__.split('.')[0]:10}{1e3 * best:6.1f}")


def cheap_section(_folder: Path, _records: int) -> None:
    generator = np.random.default_rng(1)
    cases = {
        "noise, 200,000": (om.Noise(["c0"]), 200_000, 1),
        "rank swapping, 50,000 x 4": (om.RankSwapping(k=50), 50_000, 4),
        "MDAV, 4,092 x 11": (om.Microaggregation(3, algorithm="mdav"), 4092, 11),
    }
    print("seconds: CPU, whole call and the method's share of it; by the clock, whole call")
    for name, (method, count, width) in cases.items():
        columns = [f"c{place}" for place in range(width)]
        frame = pl.DataFrame({one: generator.normal(size=count) for one in columns})
        schema = om.Schema(**{one: om.Numeric() for one in columns})
        spent = _clocked(room, "run_steps")
        work = functools.partial(om.protect, frame, schema, method, seed=1)
        best, own = _best(work, 5), min(spent)
        print(f"  {name:28}{best:6.3f}{own:8.3f}{_best(work, 5, time.perf_counter):8.3f}")


def _best(
    work: Callable[[], object], times: int, clock: Callable[[], float] = time.process_time
) -> float:
    work()
    return min(_spent(work, clock) for _ in range(times))


SECTIONS = {"rows": rows_section, "small": small_section, "cheap": cheap_section}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=folder_with("tables/adult/adult.csv"), required=True, help="with the tables"
    )
    parser.add_argument("--sections", type=some_of(SECTIONS), default=",".join(SECTIONS))
    parser.add_argument("--records", type=whole_number, default=3_000_000)
    parser.add_argument("--once", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        once(options.data, options.once)
        return
    for name in options.sections.split(","):
        print(f"== {name}")
        SECTIONS[name](options.data, options.records)


if __name__ == "__main__":
    main()
