"""What a second core gains, method by method, and whether the answers stay the same.

    python benchmarks/threads.py DATA [--records 20000] [--only swapping linkage …]

DATA is the folder that holds `tables/inpatient_claims_icd9.csv.gz`. Each case runs with one thread
and with two, in one process, on the first records of the claims. Seconds are those of the clock
and of the processor. Where others use the machine too, the clock says little; "at most" is what
two cores gain when nobody else is there: all processor seconds, beside those that come one after
the other (threads that hinder each other are not seen).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pandas as pd

import ontomask as om
from arguments import CLAIMS, folder_with, whole_number
from blocks import Clocked
from microaggregation import claims_frame, claims_schema

NUMBERS = ["age", "los"]
Case = Callable[[pd.DataFrame], object]


def masked(method: object, columns: list[str] | None = None) -> Case:
    """The frame of a release, of some columns of the claims or all."""

    def run(frame: pd.DataFrame) -> pd.DataFrame:
        schema = claims_schema()
        schema = om.Schema.of({name: schema[name] for name in columns or schema})
        return om.protect(frame[list(schema)], schema, method, seed=1).frame

    return run


def linked(frame: pd.DataFrame) -> float:
    """The linkage risk of a table whose ages are those of others."""
    shuffled = frame.assign(age=frame["age"].sample(frac=1, random_state=1).to_numpy())
    return om.measuring.record_linkage(frame, shuffled, claims_schema()).risk


CASES: dict[str, Case] = {
    "sa-mdav": masked(om.Microaggregation(5)),
    "sa-mdav, numbers": masked(om.Microaggregation(5), NUMBERS),
    "sa-mdav, blocks": masked(om.Microaggregation(5, block_size=4000)),
    "refined": masked(om.Microaggregation(5, refine=True)),
    "refined, blocks": masked(om.Microaggregation(5, refine=True, block_size=4000)),
    "swapping": masked(om.RankSwapping(k=10, algorithm="multivariate")),
    "linkage": linked,
}


def timed(case: Case, frame: pd.DataFrame, threads: int) -> tuple[object, float, float, float]:
    """The answer; seconds, processor seconds, and those of them that no thread saves."""
    os.environ["ONTOMASK_THREADS"] = str(threads)
    Clocked.several.clear()
    started, worked = time.perf_counter(), time.process_time()
    with mock.patch("ontomask.kernels.blocks.ThreadPoolExecutor", Clocked):
        answer = case(frame)
    worked = time.process_time() - worked
    return answer, time.perf_counter() - started, worked, worked - Clocked.saved()


def same(one: object, other: object) -> bool:
    return one.equals(other) if isinstance(one, pd.DataFrame) else one == other


def compared(name: str, frame: pd.DataFrame) -> str:
    case = CASES[name]
    case(frame.head(300))  # compile
    alone, one, busy, _ = timed(case, frame, 1)
    together, two, both, path = timed(case, frame, 2)
    figures = f"{one:10.2f}{busy:9.2f}{two:11.2f}{both:9.2f}{one / two:7.2f}{both / path:9.2f}"
    return f"{name:20}{figures}  {'same' if same(alone, together) else 'DIFFERENT'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=folder_with(CLAIMS))
    parser.add_argument("--records", type=whole_number, default=20_000)
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    given = parser.parse_args()
    frame = claims_frame(Path(given.data)).head(given.records)
    titles = f"{'1 thread':>10}{'cpu':>9}{'2 threads':>11}{'cpu':>9}{'x':>7}{'at most':>9}"
    print(f"{'case':20}{titles}  answers")
    for name in given.only:
        print(compared(name, frame), flush=True)


if __name__ == "__main__":
    main()
