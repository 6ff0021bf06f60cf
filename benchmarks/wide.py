"""What tables of very many columns cost: CPU seconds of every step, and how they grow.

Four quasi-identifiers and other columns, half of them sensitive; or numbers with noise, all of them
quasi-identifiers. Twice the columns should cost twice the time.

    python benchmarks/wide.py [--columns 500 1000 2000] [--records 1000] [--noise]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import ontomask as om
from arguments import whole_number

KNOWN = ("age", "town", "sex", "job")


def table(columns: int, records: int) -> pd.DataFrame:
    random = np.random.default_rng(1)
    known = {
        "age": random.integers(18, 90, records),
        "town": random.integers(100, 140, records),
        "sex": random.choice(["f", "m"], records),
        "job": random.choice(["baker", "clerk", "nurse", "smith"], records),
    }
    makers: list[Callable[[], object]] = [
        lambda: random.normal(size=records).round(3),
        lambda: random.integers(0, 50, records),
        lambda: random.choice(["low", "middle", "high"], records),
        lambda: random.integers(0, 2, records),
    ]
    others = {f"c{place}": makers[place % 4]() for place in range(columns - len(KNOWN))}
    return pd.DataFrame({**known, **others})


def few(frame: pd.DataFrame) -> tuple[om.Schema, object]:
    numbers = frame.select_dtypes("number").columns
    roles = dict.fromkeys(KNOWN, "quasi")
    for place, name in enumerate(frame.columns[len(KNOWN) :]):
        roles[name] = ("sensitive", "other")[place % 2]
    kinds = {name: om.Numeric if name in numbers else om.Flat for name in frame.columns}
    schema = om.Schema.of({name: kinds[name](role=roles[name]) for name in frame.columns})
    return schema, om.Microaggregation(k=5)


def noisy(frame: pd.DataFrame) -> tuple[om.Schema, object]:
    numbers = frame.select_dtypes("number").columns
    return om.Schema.of({name: om.Numeric() for name in numbers}), om.Noise(columns=list(numbers))


def timed(frame: pd.DataFrame, chosen: Callable[[pd.DataFrame], tuple[om.Schema, object]]) -> dict:
    """The CPU seconds of each step."""
    spent, marks = {}, [time.process_time()]

    def done(name: str) -> None:
        marks.append(time.process_time())
        spent[name] = marks[-1] - marks[-2]

    om.Schema.infer(frame)
    done("infer")
    schema, method = chosen(frame)
    release = om.protect(frame, schema, method, seed=1)
    done("protect")
    release.evaluate()
    done("evaluate")
    with tempfile.TemporaryDirectory() as folder:
        release.report(Path(folder, "report.html"))
    done("report")
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", nargs="+", type=whole_number, default=[500, 1000, 2000])
    parser.add_argument("--records", type=whole_number, default=1000)
    parser.add_argument("--noise", action="store_true", help="all columns are quasi-identifiers")
    options = parser.parse_args()
    chosen = noisy if options.noise else few
    timed(table(8, 50), chosen)  # compiles
    spent = {count: timed(table(count, options.records), chosen) for count in options.columns}
    heads = [f"{count:,}" for count in spent]
    print(f"{'CPU s, columns':16}" + "".join(f"{head:>9}" for head in heads) + f"{'growth':>9}")
    first, last = min(spent), max(spent)
    for name in spent[first]:
        cells = "".join(f"{spent[count][name]:9.2f}" for count in spent)
        print(f"{name:16}{cells}{spent[last][name] / max(spent[first][name], 1e-9):9.1f}")


if __name__ == "__main__":
    main()
