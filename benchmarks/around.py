"""What `protect` costs around the method: encoding, digests, recount, writing back.

Sections:

* `rows`: Adult (`tables/adult/` of the folder given by `--data`) resampled to many records, 15 %
  of the cells redrawn from their column, 5-anonymity by generalization with 2 % suppression. Beside
  it, in the same run, what Polars takes to group the same columns. CPU seconds, since cores may be
  busy; the peak of memory with the table itself, as a multiple of the table in memory;
* `kinds`: made-up tables of other kinds (narrow integers, truths, categories, texts, dates, times,
  amounts, gaps, many columns), at most 2,000,000 records: 5-anonymity by generalization as it is
  without hierarchies, noise, rank swapping, microaggregation of the first column. What the release
  takes is told, too: texts take 16 bytes in Polars, whatever they were made of;
* `small`: four records, by microaggregation and generalization, in three kinds of frames;
* `cheap`: methods that do little: noise on 200,000 numbers, rank swapping of 50,000 x 4, MDAV of
  4,092 x 11; CPU seconds, and those of the clock.

    python benchmarks/around.py --data FOLDER [--sections rows,kinds,…] [--records 3000000]
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
from dataclasses import dataclass
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
        _apart(folder, path, "rows")


def _apart(folder: Path, path: Path, what: str) -> None:
    command = [sys.executable, __file__, "--data", str(folder), "--once", str(path)]
    subprocess.run([*command, "--what", what], check=True)


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


@dataclass(frozen=True)
class Spent:
    """CPU seconds of the parts of a call, bytes of both tables, and what it took beside them."""

    grouped: float
    encoding: float
    method: float
    recount: float
    whole: float
    table: int
    release: int
    peak: float

    @property
    def around(self) -> float:
        return self.whole - self.encoding - self.method

    @property
    def times(self) -> float:
        """The peak of memory with the table itself, as a multiple of the table."""
        return (self.peak + self.table) / self.table


def spent_on(path: Path, library: str, schema: om.Schema, method: om.Method) -> Spent:
    """Time the parts of one call on a table.

    What is grouped beside it comes last: libraries keep the memory that it took.
    """
    some, frame = (_in_library(one, library) for one in _read(path))
    om.protect(some, schema, method, seed=1)
    spent = {name: _clocked(room, name) for name in ("encode", "run_steps", "prove")}
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    made: list[om.Release] = []
    whole = _spent(lambda: made.append(om.protect(frame, schema, method, seed=1)))
    peak = _memory("VmHWM") - before
    encoding, masking, recount = (sum(one) for one in spent.values())
    plain = pl.read_parquet(path)
    quasi = [name for name in plain.columns if schema[name].role == "quasi"]
    grouped = min(_spent(lambda: plain.group_by(quasi).len()) for _ in range(3))
    sizes = _size(frame), _size(made[0].frame)
    return Spent(grouped, encoding, masking, recount, whole, *sizes, 1e6 * peak)


def _read(path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Some records to begin with, and all."""
    frame = pl.read_parquet(path)
    return frame.head(1000), frame


def _in_library(frame: pl.DataFrame, library: str) -> Any:
    return frame if library == "polars" else getattr(frame, f"to_{library}")()


def _size(frame: Any) -> int:
    if isinstance(frame, pl.DataFrame):  # which estimates texts by their characters
        columns = frame.get_columns()
        return sum(
            CELL * len(one) if one.dtype == pl.String else one.estimated_size() for one in columns
        )
    usage = getattr(frame, "memory_usage", None)
    return int(usage(deep=True, index=False).sum() if usage else frame.nbytes)


def rows_once(folder: Path, path: Path) -> None:
    schema = om.Schema(**{name: om.Flat() for name in COLUMNS})
    method = om.Generalization(K, 0.02, hierarchies=adult_hierarchies(folder))
    spent = spent_on(path, "polars", schema, method)
    print(f"{len(COLUMNS)} columns, {spent.table / 1e6:.0f} MB; CPU seconds")
    print(f"  Polars' group-by {spent.grouped:6.2f}")
    print(f"  encoding         {spent.encoding:6.2f}   {spent.encoding / spent.grouped:.2f} of it")
    print(f"  around           {spent.around:6.2f}   (recount {spent.recount:.2f})")
    print(f"  method           {spent.method:6.2f}")
    print(f"  whole call       {spent.whole:6.2f}   memory {spent.times:.1f} times the table")


# Other kinds of tables ------------------------------------------------------------------------

MOST = 2_000_000
DIFFERENT = 300_000
"""So many different amounts, times or codes there are, at most."""


def _narrow(random: np.random.Generator, count: int) -> pl.DataFrame:
    kinds = {"a": (100, np.int8), "b": (1000, np.int16), "c": (5, np.int8), "d": (2000, np.int32)}
    return pl.DataFrame(
        {name: random.integers(0, most, count).astype(kind) for name, (most, kind) in kinds.items()}
    )


def _few(random: np.random.Generator, count: int, kind: Any) -> pl.DataFrame:
    texts = {name: pl.Series([f"{name}{place}" for place in range(40)]) for name in "abcd"}
    return pl.DataFrame(
        {name: one[random.integers(0, 40, count)].cast(kind) for name, one in texts.items()}
    )


def _many(random: np.random.Generator, count: int, values: pl.Series) -> pl.DataFrame:
    places = random.integers(0, len(values), count)
    return pl.DataFrame({"a": values[places], "b": random.integers(0, 5, count).astype(np.int8)})


def _times(random: np.random.Generator, kind: Any, most: int) -> pl.Series:
    return pl.Series(random.integers(0, most, DIFFERENT)).cast(kind)


def _with_gaps(random: np.random.Generator, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(
        pl.when(pl.Series(random.random(len(frame)) < 0.95)).then(pl.col(name))
        for name in frame.columns
    )


KINDS: dict[str, Callable[[np.random.Generator, int], pl.DataFrame]] = {
    "narrow integers": _narrow,
    "truths": lambda random, count: pl.DataFrame(
        {name: random.random(count) < 0.5 for name in "abcdefgh"}
    ),
    "categories": lambda random, count: _few(random, count, pl.Categorical),
    "few texts": lambda random, count: _few(random, count, pl.String),
    "many texts": lambda random, count: _many(
        random, count, pl.Series([f"{place:07d}" for place in random.permutation(DIFFERENT)])
    ),
    "dates": lambda random, count: _many(random, count, _times(random, pl.Date, 20_000)),
    "times": lambda random, count: _many(random, count, _times(random, pl.Datetime("ms"), 10**12)),
    "amounts": lambda random, count: _many(
        random, count, pl.Series(random.lognormal(8, 1, DIFFERENT).round(2))
    ),
    "gaps": lambda random, count: _with_gaps(random, _narrow(random, count)),
    "60 columns": lambda random, count: pl.DataFrame(
        {f"c{place}": random.integers(0, 50, count // 10).astype(np.int16) for place in range(60)}
    ),
}
OTHERS = {
    "narrow integers": ("noise", "rank swapping", "microaggregation"),
    "amounts": ("noise",),
    "gaps": ("noise",),
    "60 columns": ("noise",),
}
"""What is done besides generalization."""


def kinds_section(folder: Path, records: int) -> None:
    print(
        "times the table: release, peak of memory; CPU seconds: group-by, encoding, around, method"
    )
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "made.parquet"
        for kind, make in KINDS.items():
            make(np.random.default_rng(1), min(records, MOST)).write_parquet(path)
            wide = kind == "60 columns"
            for method in (*(() if wide else ("generalization",)), *OTHERS.get(kind, ())):
                libraries = ("polars", "pandas", "arrow") if method == "noise" else ("polars",)
                for library in libraries:
                    _apart(folder, path, f"{kind},{method},{library}")


def kinds_once(path: Path, kind: str, method: str, library: str) -> None:
    kinds = pl.read_parquet_schema(path)
    numbers = [name for name, one in kinds.items() if one.is_numeric()]
    methods: dict[str, Callable[[], om.Method]] = {
        "generalization": lambda: om.Generalization(K, 0.05),
        "noise": lambda: om.Noise(numbers),
        "rank swapping": lambda: om.RankSwapping(k=50),
        "microaggregation": lambda: om.Microaggregation(5),
    }
    columns: dict[str, Any] = {name: _declared(one) for name, one in kinds.items()}
    if method == "microaggregation":
        columns |= {name: om.Flat(role="other") for name in list(columns)[1:]}
    spent = spent_on(path, library, om.Schema(**columns), methods[method]())
    print(
        f"  {kind:16}{method:18}{library:8}{spent.release / spent.table:6.1f}{spent.times:7.1f}"
        f"{spent.grouped:9.2f}{spent.encoding:7.2f}{spent.around:7.2f}{spent.method:7.2f}"
    )


def _declared(kind: Any) -> Any:
    if kind.is_temporal():
        return om.Date(missing="own-category")
    return om.Numeric(missing="own-category") if kind.is_numeric() else om.Flat()


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


SECTIONS = {
    "rows": rows_section,
    "kinds": kinds_section,
    "small": small_section,
    "cheap": cheap_section,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=folder_with("tables/adult/adult.csv"), required=True, help="with the tables"
    )
    parser.add_argument("--sections", type=some_of(SECTIONS), default=",".join(SECTIONS))
    parser.add_argument("--records", type=whole_number, default=3_000_000)
    parser.add_argument("--once", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--what", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once and options.what == "rows":
        rows_once(options.data, options.once)
        return
    if options.once:
        kinds_once(options.once, *options.what.split(","))
        return
    for name in options.sections.split(","):
        print(f"== {name}")
        SECTIONS[name](options.data, options.records)


if __name__ == "__main__":
    main()
