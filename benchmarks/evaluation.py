"""How fast a release is evaluated, and how the methods compare.

    python benchmarks/evaluation.py DATA [section ...] [--records 100000 300000 1000000]

DATA is the folder that holds `tables/`; sections: linkage growth correlation whole grid (all by
default). --records says how many records growth and whole draw from the claims.
Ratios are against plain NumPy or plain Python in the same run.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import ontomask as om
from arguments import CLAIMS, folder_with, whole_number
from microaggregation import resampled

CODES = ("dx_admit", "dx_principal", "dx_secondary", "procedure", "drg")
SIX = ("age", "sex", "los", "dx_principal", "procedure", "dx_secondary")
TWO = ("dx_principal", "procedure")
PLAIN = 200


def timed(function: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def claims(data: Path, names: tuple[str, ...]) -> tuple[pd.DataFrame, om.Schema]:
    path = data / "tables/inpatient_claims_icd9.csv.gz"
    frame = pd.read_csv(path, dtype=dict.fromkeys(CODES, str))[list(names)]
    diagnoses, procedures = om.load_taxonomy("icd9cm"), om.load_taxonomy("icd9cm-procedures")
    kinds = {
        "age": om.Numeric(),
        "los": om.Numeric(),
        "sex": om.Flat(),
        "procedure": om.Nominal(procedures),
    }
    return frame, om.Schema.of({name: kinds.get(name, om.Nominal(diagnoses)) for name in names})


def plain_linkage(frame: pd.DataFrame, masked: pd.DataFrame, schema: om.Schema) -> float:
    """Seconds per original record of a plain NumPy linkage, from a few records."""
    rows = np.random.default_rng(1).choice(len(frame), PLAIN, replace=False)
    tables = []
    for name, column in schema.items():
        if isinstance(column, om.Nominal):
            words = pd.unique(pd.concat([frame[name], masked[name]]).dropna())
            mapped = column.taxonomy.map(words.tolist()).require()
            matrix = np.pad(
                column.taxonomy.space(mapped.concepts).matrix(), (0, 1), constant_values=1
            )
            place = {word: spot for spot, word in enumerate(mapped.values)}
            codes = [
                part.map(place).fillna(len(place)).astype(int)
                for part in (frame[name], masked[name])
            ]
            tables.append((matrix, *(one.to_numpy() for one in codes)))
    start = time.perf_counter()
    for row in rows:
        total = np.zeros(len(masked))
        for matrix, old, new in tables:
            total += matrix[old[row], new]
        (total <= total.min() + 1e-9).sum()
    return (time.perf_counter() - start) / PLAIN


def linkage(data: Path) -> Iterator[str]:
    """Semantic linkage of the 50,025 claims with their releases, k = 5."""
    titles = f"{'columns':>9}{'seconds':>9}{'risk %':>8}{'plain, est. s':>15}{'peak MB':>9}"
    yield f"{'release':22}{titles}"
    methods = {"sa-mdav": om.Microaggregation(5), "rank swapping": om.RankSwapping(k=5)}
    for names in (TWO, SIX):
        frame, schema = claims(data, names)
        for title, method in methods.items():
            release = om.protect(frame, schema, method, seed=1)
            om.measuring.record_linkage(frame.head(50), release.frame.head(50), schema)  # compile
            seconds, risk = timed(
                lambda f=frame, r=release, s=schema: om.measuring.record_linkage(f, r.frame, s)
            )
            estimate = plain_linkage(frame, release.frame, schema) * len(frame)
            figures = f"{seconds:9.2f}{100 * risk.risk:8.2f}{estimate:15.1f}{peak():9.0f}"
            yield f"{title:22}{len(names):9}{figures}"


def drawn(data: Path, count: int) -> tuple[pd.DataFrame, om.Schema]:
    """Claims of six columns, drawn with replacement, 15 % of their cells redrawn."""
    frame, schema = claims(data, SIX)
    return resampled(frame, count, np.random.default_rng(1)), schema


def growth(data: Path, records: list[int]) -> Iterator[str]:
    """Semantic linkage of six columns with a release by rank swapping (k = 5), as tables grow."""
    yield f"{'records':>10}{'tuples':>10}{'seconds':>9}{'cpu':>9}{'risk %':>8}{'peak MB':>9}"
    for count in records:
        frame, schema = drawn(data, count)
        release = om.protect(frame, schema, om.RankSwapping(k=5), seed=1)
        om.measuring.record_linkage(frame.head(50), release.frame.head(50), schema)  # compile
        worked = time.process_time()
        seconds, found = timed(
            lambda f=frame, r=release, s=schema: om.measuring.record_linkage(f, r.frame, s)
        )
        worked = time.process_time() - worked
        figures = f"{seconds:9.1f}{worked:9.1f}{100 * found.risk:8.2f}{peak():9.0f}"
        yield f"{count:10,}{len(frame.drop_duplicates()):10,}{figures}"


def correlation(data: Path) -> Iterator[str]:
    """Distance correlation of two ICD-9 columns with 10^6 records."""
    frame, _ = claims(data, ("dx_principal", "dx_secondary"))
    frame = frame.dropna()
    taxonomy = om.load_taxonomy("icd9cm")
    generator = np.random.default_rng(1)
    big = frame.iloc[generator.integers(0, len(frame), 1_000_000)]
    mapping, samples = timed(
        lambda: [om.statistics.Sample.of(big[name].tolist(), taxonomy) for name in frame]
    )
    seconds, value = timed(lambda: om.statistics.semantic_correlation(*samples))
    again, _ = timed(lambda: om.statistics.semantic_correlation(*samples))
    yield f"mapping {mapping:.2f} s; sdCor {value:.4f} in {seconds:.2f} s, again {again:.3f} s"
    small = [
        om.statistics.Sample.from_numbers(one.space.values[:2000], taxonomy) for one in samples
    ]
    plain, expected = timed(lambda: explicit(*(one.space.matrix() for one in small)))
    fast, found = timed(lambda: om.statistics.semantic_correlation(*small))
    yield (
        f"2,000 records: {found:.6f} in {fast:.3f} s, n x n definition {expected:.6f} in "
        f"{plain:.3f} s (ratio {plain / fast:.0f})"
    )


def explicit(one: np.ndarray, other: np.ndarray) -> float:
    """Distance correlation from n x n matrices."""

    def centered(matrix: np.ndarray) -> np.ndarray:
        return matrix - matrix.mean(0) - matrix.mean(1)[:, None] + matrix.mean()

    x, y = centered(one), centered(other)
    covariance, first, second = ((a * b).sum() ** 0.5 for a, b in ((x, y), (x, x), (y, y)))
    return float(covariance / (first * second) ** 0.5)


def whole(data: Path, records: list[int]) -> Iterator[str]:
    """Everything of `evaluate` on a release of six columns by sa-mdav, k = 5, as tables grow."""
    distances = ("semantic", "matching", "s-distance", "euclidean")
    for count in records:
        frame, schema = drawn(data, count)
        release = om.protect(frame, schema, om.Microaggregation(5), seed=1)
        worked = time.process_time()
        seconds, found = timed(lambda r=release, f=frame: r.evaluate(f, distances=distances))
        worked = time.process_time() - worked
        figures = f"L = {found.loss.loss:.2%}, risk = {found.risk:.2%}"
        yield f"{count:10,}: {seconds:.1f} s, cpu {worked:.1f} s, {figures}, peak {peak():.0f} MB"


def grid(data: Path) -> Iterator[str]:
    """`compare` on the claims (dx_principal, procedure, age, los): the risk-utility map."""
    frame, schema = claims(data, ("dx_principal", "procedure", "age", "los"))
    hierarchies = {
        "age": om.knowledge.interval_hierarchy(frame["age"].unique().tolist(), [5, 10, 20, 40]),
        "los": om.knowledge.interval_hierarchy(frame["los"].unique().tolist(), [2, 4, 8, 16]),
    }
    methods = {
        "recoding": lambda k: om.Recoding(k),
        "sa-mdav": lambda k: om.Microaggregation(k),
        "resampling": lambda k: om.Resampling(k),
        "rank swapping": lambda k: om.RankSwapping(k=k),
        "shuffling": om.Shuffling(
            confidential=("dx_principal", "age", "los"), given=("procedure",)
        ),
        "hybrid": lambda k: om.Hybrid(k),
        "generalization": lambda k: om.Generalization(
            [om.privacy.KAnonymity(k)], suppression_limit=0.05, hierarchies=hierarchies
        ),
        "suppression": lambda k: om.LocalSuppression(k),
    }
    seconds, found = timed(lambda: om.compare(frame, schema, methods, k=(2, 5, 10, 20)))
    frontier = {(one.method, one.k) for one in found.frontier()}
    yield f"{len(found.cells)} releases in {seconds:.0f} s; * = on the Pareto frontier"
    yield f"{'method':18}{'k':>4}{'L':>9}{'semantic':>10}{'risk %':>9}{'score':>8}{'seconds':>9}"
    for one in found.cells:
        if one.error:
            yield f"{one.method:18}{one.k:4}  {one.error}"
        else:
            star = " *" if (one.method, one.k) in frontier else ""
            yield (
                f"{one.method:18}{one.k:4}{100 * one.loss:9.2f}{one.semantic_loss:10.4f}"
                f"{100 * one.risk:9.2f}{100 * one.score:8.2f}{one.seconds:9.2f}{star}"
            )


GROWING = {function.__name__: function for function in (growth, whole)}
SECTIONS = {one.__name__: one for one in (linkage, growth, correlation, whole, grid)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=folder_with(CLAIMS))
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], default=[])
    parser.add_argument(
        "--records", nargs="+", type=whole_number, default=[100_000, 300_000, 1_000_000]
    )
    arguments = parser.parse_args()
    for name in arguments.sections or SECTIONS:
        print(f"\n{SECTIONS[name].__doc__}")
        sizes = [arguments.records] if name in GROWING else []
        for line in SECTIONS[name](arguments.data, *sizes):
            print(line, flush=True)


if __name__ == "__main__":
    main()
