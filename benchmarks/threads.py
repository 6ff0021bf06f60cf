"""What a second core gains, method by method, and whether the answers stay the same.

    python benchmarks/threads.py DATA [--records 20000] [--turns 3] [--only swapping linkage …]

DATA is the folder that holds `tables/inpatient_claims_icd9.csv.gz` and `tables/adult/`. Each case
runs with one thread and with two, in one process, on the first records of the claims; more than
there are are drawn from them, a share of their cells anew. A line is the method alone, on a table
that is encoded already; the one below it the whole call, with reading, recount and account around
it. The evaluation is that of a release in blocks, all of it. Searches are those of Adult with a
million records, 5-anonymity and a limit of suppression, the search alone. Seconds are those of the
clock and of the processor, of the quickest of some turns (the first one may wait for memory that
the machine has not given yet). Where others use the machine too, the clock says little; "at most"
is what two cores gain when nobody else is there: all processor seconds, beside those that come one
after the other (threads that hinder each other are not seen).
"""

from __future__ import annotations

import argparse
import functools
import operator
import os
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

import ontomask as om
from arguments import CLAIMS, folder_with, whole_number
from blocks import Clocked
from generalization import K, adult, make_problem
from microaggregation import claims_frame, claims_schema, resampled
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.evaluation.linkage import linked, own_versions
from ontomask.evaluation.pairing import pair_tables
from ontomask.methods.base import Context, Method
from ontomask.methods.generalization.problem import Problem
from ontomask.methods.generalization.search import optimal

NUMBERS = ["age", "los"]
Work = Callable[[], object]
Case = Callable[[pd.DataFrame, Path], Work]
"""Makes ready what is timed then."""


def of_columns(frame: pd.DataFrame, columns: list[str] | None) -> tuple[pd.DataFrame, om.Schema]:
    """Some columns of the claims, or all, with their schema."""
    schema = claims_schema()
    schema = om.Schema.of({name: schema[name] for name in columns or schema})
    return frame[list(schema)], schema


def step(method: Method, columns: list[str] | None = None) -> Case:
    """The codes that a method makes of an encoded table."""

    def made_ready(frame: pd.DataFrame, _folder: Path) -> Work:
        some, schema = of_columns(frame, columns)
        microdata = encode(open_table(some), schema)

        def work() -> pd.DataFrame:
            masked = method.run(microdata, Context(np.random.default_rng(1)))
            return pd.DataFrame({name: one.codes for name, one in masked.columns.items()})

        return work

    return made_ready


def call(method: Method, columns: list[str] | None = None) -> Case:
    """The frame of a release."""

    def made_ready(frame: pd.DataFrame, _folder: Path) -> Work:
        some, schema = of_columns(frame, columns)
        return lambda: om.protect(some, schema, method, seed=1).frame

    return made_ready


def shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    """A table whose ages are those of others."""
    return frame.assign(age=frame["age"].sample(frac=1, random_state=1).to_numpy())


def linking(frame: pd.DataFrame, _folder: Path) -> Work:
    versions = own_versions(pair_tables(frame, shuffled(frame), claims_schema()))
    return lambda: linked(versions, "semantic").risk


def linkage(frame: pd.DataFrame, _folder: Path) -> Work:
    masked = shuffled(frame)
    return lambda: om.measuring.record_linkage(frame, masked, claims_schema()).risk


def evaluation(frame: pd.DataFrame, _folder: Path) -> Work:
    release = om.protect(frame, claims_schema(), METHODS["sa-mdav, blocks"][0], seed=1)
    return lambda: release.evaluate(frame)


@functools.cache
def million(folder: Path) -> Problem:
    problem = make_problem(folder, adult(folder, 1_000_000, 0.15))
    optimal(problem, K, 1.0)  # tuples and facts are found once
    return problem


def searched(limit: float) -> Case:
    """The levels that an exact search finds, their loss and the nodes it looked at."""

    def made_ready(_frame: pd.DataFrame, folder: Path) -> Work:
        problem = million(folder)

        def work() -> tuple[object, ...]:
            found = optimal(problem, K, limit)
            return found.levels, found.loss, found.checked

        return work

    return made_ready


METHODS: dict[str, tuple[Method, list[str] | None]] = {
    "sa-mdav": (om.Microaggregation(5), None),
    "sa-mdav, numbers": (om.Microaggregation(5), NUMBERS),
    "sa-mdav, blocks": (om.Microaggregation(5, block_size=4000), None),
    "refined": (om.Microaggregation(5, refine=True), None),
    "refined, blocks": (om.Microaggregation(5, refine=True, block_size=4000), None),
    "swapping": (om.RankSwapping(k=10, algorithm="multivariate"), None),
}
CASES: dict[str, list[Case]] = {
    **{name: [step(*given), call(*given)] for name, given in METHODS.items()},
    "linkage": [linking, linkage],
    "evaluation": [evaluation],
    "search, limit 0": [searched(0.0)],
    "search, limit 2 %": [searched(0.02)],
    "search, limit 100 %": [searched(1.0)],
}


def timed(work: Work, threads: int) -> tuple[object, float, float, float]:
    """The answer; seconds, processor seconds, and those of them that no thread saves."""
    os.environ["ONTOMASK_THREADS"] = str(threads)
    Clocked.several.clear()
    started, worked = time.perf_counter(), time.process_time()
    with mock.patch("ontomask.kernels.blocks.ThreadPoolExecutor", Clocked):
        answer = work()
    worked = time.process_time() - worked
    return answer, time.perf_counter() - started, worked, worked - Clocked.saved()


def same(one: object, other: object) -> bool:
    return one.equals(other) if isinstance(one, pd.DataFrame) else one == other


def compared(name: str, case: Case, frame: pd.DataFrame, folder: Path, turns: int) -> str:
    case(frame.head(300), folder)()  # compile
    every = [timed(case(frame, folder), threads) for _ in range(turns) for threads in (1, 2)]
    answers = [answer for answer, *_ in every]
    (one, busy, _), (two, both, path) = (
        min((spent for _, *spent in every[first::2]), key=operator.itemgetter(0))
        for first in (0, 1)
    )
    figures = f"{one:10.2f}{busy:9.2f}{two:11.2f}{both:9.2f}{one / two:7.2f}{both / path:9.2f}"
    alike = all(same(answers[0], other) for other in answers)
    return f"{name:20}{figures}  {'same' if alike else 'DIFFERENT'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=folder_with(CLAIMS, "tables/adult/adult.csv"))
    parser.add_argument("--records", type=whole_number, default=20_000)
    parser.add_argument("--turns", type=whole_number, default=3)
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    given = parser.parse_args()
    folder, schema = Path(given.data), claims_schema()
    claims = claims_frame(folder)[list(schema)]
    frame = claims.head(given.records)
    if given.records > len(claims):
        frame = resampled(claims, given.records, np.random.default_rng(1))
    titles = f"{'1 thread':>10}{'cpu':>9}{'2 threads':>11}{'cpu':>9}{'x':>7}{'at most':>9}"
    print(f"{'case':20}{titles}  answers")
    for name in given.only:
        for title, case in zip((name, "  whole call"), CASES[name], strict=False):
            print(compared(title, case, frame, folder, given.turns), flush=True)


if __name__ == "__main__":
    main()
