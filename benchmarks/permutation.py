"""What permutation methods keep, and how fast they are.

Behavior: rank swapping of principal diagnosis and procedure, with Wu and Palmer's distance, on
hospital claims: root mean square semantic error of both columns and the difference in semantic
distance correlation, for several k, mean of several seeds; and whether it comes out as Rodriguez-
Garcia, Batet and Sánchez (2019) report. Shuffling: what is kept of the rank correlations, and how
many records a nearest-neighbor attack links.

Speed: dynamic swapping of one ICD-9 column, multivariate swapping of two and three, and shuffling
of four columns, as n grows, beside the published loop, which sorts all records at every step.

    python benchmarks/permutation.py TABLES [--seeds 5] [--pool unswapped] [--only behavior …]

TABLES is a folder with inpatient_claims_icd9.csv.gz, inpatient_neoplasm.csv.gz and
inpatient_digestive.csv.gz.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import ontomask as om
from arguments import folder_with, whole_number
from ontomask.data.encoding import encode
from ontomask.data.microdata import Microdata
from ontomask.data.tables import open_table
from ontomask.kernels.records import distances
from ontomask.methods.base import Context, Method
from ontomask.methods.points import layout_of
from ontomask.methods.rank_swapping import RankSwapping
from ontomask.methods.shuffling import Shuffling

PAIR = ["dx_principal", "procedure"]
INTERVALS = (2, 5, 10, 20, 50, 100)
VARIANTS = ("fixed", "dynamic", "multivariate", "distributional", "random")
SAMPLE = 1172


def timed(function: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def read(folder: Path, name: str) -> pl.DataFrame:
    frame = pl.read_csv(folder / f"{name}.csv.gz", infer_schema=False)
    return frame.with_columns(pl.col("age", "los", "payment").cast(pl.Int64))


def schema() -> om.Schema:
    diagnoses, procedures = om.load_taxonomy("icd9cm"), om.load_taxonomy("icd9cm-procedures")
    return om.Schema(
        dx_principal=om.Nominal(diagnoses, measure="wu-palmer", unmapped="suppress"),
        dx_secondary=om.Nominal(diagnoses, measure="wu-palmer", unmapped="suppress"),
        procedure=om.Nominal(procedures, measure="wu-palmer", unmapped="suppress"),
        age=om.Numeric(role="other"),
        los=om.Numeric(role="other"),
        payment=om.Numeric(role="other"),
    )


def encoded(frame: pl.DataFrame) -> Microdata:
    return encode(open_table(frame), schema())


def masked_codes(method: Method, table: Microdata, seed: int) -> dict[str, np.ndarray]:
    masked = method.mask(table, Context(np.random.default_rng(seed)))
    return {name: column.codes for name, column in masked.columns.items()}


# Behavior of rank swapping ----------------------------------------------------------------------


def sample_of(table: Microdata, name: str) -> om.statistics.Sample:
    column = table[name]
    return om.statistics.Sample.from_numbers(
        column.concepts[column.codes], column.column.taxonomy, "wu-palmer"
    )


def rmse(sample: om.statistics.Sample, codes: np.ndarray) -> float:
    return float(np.sqrt(np.mean(sample.matrix[sample.codes, codes] ** 2)))


@dataclasses.dataclass
class Figures:
    """Of one variant and k, means over seeds: two RMSE, correlation and its difference."""

    errors: np.ndarray
    correlation: float
    difference: float
    kept: bool


def figures(table: Microdata, method: RankSwapping, seeds: int) -> Figures:
    samples = {name: sample_of(table, name) for name in PAIR}
    before = om.statistics.semantic_correlation(*samples.values())
    errors, correlations, kept = [], [], True
    for seed in range(seeds):
        codes = masked_codes(method, table, seed)
        new = {name: dataclasses.replace(samples[name], codes=codes[name]) for name in PAIR}
        errors.append([rmse(samples[name], codes[name]) for name in PAIR])
        correlations.append(om.statistics.semantic_correlation(*new.values()))
        kept = kept and all(unchanged(samples[name], new[name]) for name in PAIR)
    difference = float(np.mean(np.abs(np.array(correlations) - before)))
    return Figures(np.mean(errors, axis=0), float(np.mean(correlations)), difference, kept)


def unchanged(before: om.statistics.Sample, after: om.statistics.Sample) -> bool:
    """Whether semantic mean and variance are the same."""
    one, other = om.statistics.semantic_variance(before), om.statistics.semantic_variance(after)
    return (
        om.statistics.semantic_mean(before) == om.statistics.semantic_mean(after)
        and abs(one - other) < 1e-12
    )


def method_of(variant: str, k: int, pool: str) -> RankSwapping:
    limit = None if variant == "random" else k
    return RankSwapping(k=limit, algorithm=variant, pool=pool, columns=PAIR)


def behavior(title: str, frame: pl.DataFrame, seeds: int, pool: str) -> None:
    table = encoded(frame.drop_nulls(PAIR))
    samples = [sample_of(table, name) for name in PAIR]
    print(f"\n{title}: {len(table):,} records, pool {pool!r}, {seeds} seeds", end="; ")
    print(f"{samples[0].concepts.size} diagnoses, {samples[1].concepts.size} procedures", end="; ")
    print(f"sdCor {om.statistics.semantic_correlation(*samples):.4f}")
    found = {
        (variant, k): figures(table, method_of(variant, k, pool), seeds)
        for variant in VARIANTS
        for k in INTERVALS
        if variant != "random" or k == INTERVALS[0]
    }
    for k in INTERVALS:
        found["random", k] = found["random", INTERVALS[0]]
    print_table("RMSE diagnosis", found, lambda one: one.errors[0])
    print_table("RMSE procedure", found, lambda one: one.errors[1])
    print_table("|sdCor - sdCor'|", found, lambda one: one.difference)
    judge(found)


def print_table(title: str, found: dict, figure: Callable[[Figures], float]) -> None:
    print(f"  {title:18}" + "".join(f"{f'k={k}':>9}" for k in INTERVALS))
    for variant in VARIANTS:
        numbers = (figure(found[variant, k]) for k in INTERVALS)
        print(f"    {variant:16}" + "".join(f"{one:9.4f}" for one in numbers))


def judge(found: dict) -> None:
    """Say of each published observation whether it comes out, and at which k it does not."""

    def where(holds: Callable[[int], bool]) -> str:
        wrong = [k for k in INTERVALS if not holds(k)]
        return "yes" if not wrong else f"NO at k = {', '.join(map(str, wrong))}"

    def below(one: str, others: tuple[str, ...], figure: Callable) -> str:
        return where(
            lambda k: all(
                np.all(figure(found[one, k]) < figure(found[other, k])) for other in others
            )
        )

    def errors(one: Figures) -> np.ndarray:
        return one.errors

    def difference(one: Figures) -> float:
        return one.difference

    rows = [
        (
            "semantic mean and variance unchanged",
            where(lambda k: all(found[one, k].kept for one in VARIANTS)),
        )
    ]
    for variant in VARIANTS[:3]:
        growth = [found[variant, k].errors for k in INTERVALS]
        grows = np.all(np.diff(growth, axis=0) >= 0)
        rows.append((f"RMSE grows with k ({variant})", "yes" if grows else "NO"))
    rows.append(("RMSE: dynamic below fixed", below("dynamic", ("fixed",), errors)))
    rows.append(("RMSE: dynamic below multivariate", below("dynamic", ("multivariate",), errors)))
    baselines = ("random", "distributional")
    others = ("fixed", "dynamic", *baselines)
    rows.append(("sdCor: multivariate keeps it best", below("multivariate", others, difference)))
    for variant in ("dynamic", "multivariate"):
        rows.append((f"RMSE: baselines above {variant}", below(variant, baselines, errors)))
        rows.append(
            (f"sdCor: baselines worse than {variant}", below(variant, baselines, difference))
        )
    for claim, verdict in rows:
        print(f"    {claim:42}{verdict}")


# Shuffling ---------------------------------------------------------------------------------------


def ordered_codes(table: Microdata, name: str) -> np.ndarray:
    """The column as ranks of marginality, or as it is."""
    column = table[name]
    if column.column.kind != "nominal":
        return column.codes
    sample = sample_of(table, name)
    weight = sample.matrix @ sample.counts
    return np.argsort(np.lexsort((np.arange(weight.size), weight)))[column.codes]


def shuffling(frame: pl.DataFrame, seeds: int) -> None:
    from ontomask.semantics.copula import rank_correlation

    confidential, given = ["dx_principal", "payment"], ["age", "los"]
    table = encoded(frame.drop_nulls(["dx_principal"]).select(*confidential, *given, *rest(frame)))
    names = [*confidential, *given]
    before = rank_correlation([ordered_codes(table, name) for name in names])
    method = Shuffling(confidential=confidential, given=given)
    after, linked = [], []
    for seed in range(seeds):
        codes = masked_codes(method, table, seed)
        masked = dataclasses.replace(
            table,
            attributes={
                name: dataclasses.replace(one, codes=codes[name]) if name in codes else one
                for name, one in table.attributes.items()
            },
        )
        after.append(rank_correlation([ordered_codes(masked, name) for name in names]))
        linked.append(links(table, masked, confidential))
    print(f"\nShuffling {', '.join(confidential)} given {', '.join(given)}: {len(table):,} records")
    print(f"  {'Spearman of':30}{'before':>9}{'after':>9}{'sd':>9}{'1/sqrt(n)':>11}")
    for one in range(4):
        for other in range(max(one + 1, 1), 4):
            if one < 2:
                drawn = np.array(after)[:, one, other]
                label = f"{names[one]}, {names[other]}"
                print(
                    f"  {label:30}{before[one, other]:9.4f}{drawn.mean():9.4f}{drawn.std():9.4f}"
                    f"{len(table) ** -0.5:11.4f}"
                )
    print(f"  linked by the nearest record: {np.mean(linked):.3%}; by chance {1 / len(table):.3%}")


def rest(frame: pl.DataFrame) -> list[str]:
    return [name for name in ("dx_secondary", "procedure") if name in frame.columns]


def links(before: Microdata, after: Microdata, names: list[str], probes: int = 2000) -> float:
    """The chance that the nearest original of a masked record, ties at random, is its own."""
    generator = np.random.default_rng(1)
    total = 0.0
    sample = sample_of(before, names[0])
    old = before[names[1]].record_numbers()
    new = after[names[1]].record_numbers()
    for record in generator.choice(len(before), probes, replace=False):
        gaps = sample.matrix[after[names[0]].codes[record]][before[names[0]].codes]
        gaps = gaps + np.abs(old - new[record]) / old.std()
        nearest = np.flatnonzero(gaps == gaps.min())
        total += (nearest == record).any() / nearest.size
    return total / probes


# Speed -------------------------------------------------------------------------------------------


def published_loop(codes: np.ndarray, matrix: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Algorithm 2 as published: all unswapped records are sorted around every reference."""
    generator = np.random.default_rng(seed)
    partners, unswapped = np.arange(codes.size), np.ones(codes.size, bool)
    reference = int((matrix @ np.bincount(codes, minlength=len(matrix)))[codes].argmax())
    while True:
        unswapped[reference] = False
        left = np.flatnonzero(unswapped)
        if not left.size:
            return partners
        gaps = matrix[codes[reference]][codes[left]]
        ranking = left[np.argsort(gaps, kind="stable")]
        other = int(generator.choice(ranking[:k]))
        partners[reference], partners[other] = other, reference
        unswapped[other] = False
        reference = int(next((one for one in ranking[::-1] if unswapped[one]), -1))
        if reference < 0:
            return partners


def repeated(frame: pl.DataFrame, count: int) -> pl.DataFrame:
    """A table of any size with the frequencies of the claims."""
    return frame.sample(count, with_replacement=count > len(frame), seed=1)


def dynamic_speed(frame: pl.DataFrame) -> None:
    print("\nDynamic, dx_principal, k = 20 (seconds; published loop on the smaller ones)")
    print(f"  {'n':>10}{'seconds':>10}{'us / record':>13}{'published':>11}{'ratio':>9}")
    masked_codes(RankSwapping(k=20, columns=PAIR[:1]), encoded(repeated(frame, 500)), 1)
    for count in (1_000, 4_000, 16_000, 64_000, 250_000, 1_000_000):
        table = encoded(repeated(frame, count))
        method = RankSwapping(k=20, columns=PAIR[:1])
        seconds, _ = timed(lambda table=table, method=method: masked_codes(method, table, 1))
        line = f"  {count:10,}{seconds:10.3f}{seconds / count * 1e6:13.2f}"
        if count <= 64_000:
            sample = sample_of(table, PAIR[0])
            slow, _ = timed(lambda one=sample: published_loop(one.codes, one.matrix, 20, 1))
            line += f"{slow:11.2f}{slow / seconds:9.0f}"
        print(line)


SIX = [*PAIR, "dx_secondary", "age", "los", "payment"]


def scans(table: Microdata, names: list[str], steps: int = 20) -> float:
    """What measuring the distances of every other record to all tuples alone would take."""
    layout = layout_of(table, names, operators="marginality", metric="mean", measure=None)
    points = layout.points(table.tuples(names))
    rows, numbers = np.zeros(len(layout.coded), np.int32), np.zeros(len(layout.numeric))
    distances(points, rows, numbers)
    seconds, _ = timed(lambda: [distances(points, rows, numbers) for _ in range(steps)])
    return seconds / steps * len(table) / 2


def spread(frame: pl.DataFrame, count: int) -> pl.DataFrame:
    """A table of any size with as many different payments as records."""
    cents = np.random.default_rng(1).integers(-500, 500, count)
    return repeated(frame, count).with_columns(pl.col("payment") + pl.Series(cents))


def multivariate_speed(frame: pl.DataFrame) -> None:
    print("\nMultivariate, k = 20 (seconds; scans: what full scans alone would take)")
    print(
        f"  {'attributes':50}{'n':>10}{'tuples':>10}{'seconds':>10}{'us / record':>13}{'scans':>9}"
    )
    for names in (PAIR, [*PAIR, "payment"], SIX):
        for count in (10_000, 30_000, 100_000):
            table = encoded(spread(frame, count))
            method = RankSwapping(k=20, algorithm="multivariate", columns=names)
            masked_codes(method, encoded(repeated(frame, 200)), 1)
            seconds, _ = timed(lambda table=table, method=method: masked_codes(method, table, 1))
            tuples, each = len(table.tuples(names)), seconds / count * 1e6
            print(f"  {', '.join(names):50}{count:10,}{tuples:10,}{seconds:10.2f}", end="")
            print(f"{each:13.1f}{scans(table, names):9.1f}", flush=True)


def shuffling_speed(frame: pl.DataFrame) -> None:
    print("\nShuffling dx_principal and payment given age and los (seconds)")
    method = Shuffling(confidential=["dx_principal", "payment"], given=["age", "los"])
    for count in (10_000, 100_000, 1_000_000):
        table = encoded(repeated(frame.drop_nulls(["dx_principal"]), count))
        seconds, _ = timed(lambda table=table: masked_codes(method, table, 1))
        print(f"  {count:10,}{seconds:10.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", type=folder_with("inpatient_claims_icd9.csv.gz"))
    parser.add_argument("--seeds", type=whole_number, default=5)
    parser.add_argument("--pool", default="unswapped", choices=["unswapped", "all"])
    parts = ["behavior", "shuffling", "speed"]
    parser.add_argument("--only", nargs="*", default=parts, choices=parts)
    arguments = parser.parse_args()
    claims = read(arguments.tables, "inpatient_claims_icd9")
    if "behavior" in arguments.only:
        complete = claims.drop_nulls(PAIR).sample(SAMPLE, seed=1)
        behavior("All claims, sample", complete, arguments.seeds, arguments.pool)
        for name in ("neoplasm", "digestive"):
            frame = read(arguments.tables, f"inpatient_{name}")
            behavior(name.capitalize(), frame, arguments.seeds, arguments.pool)
    if "shuffling" in arguments.only:
        shuffling(claims, arguments.seeds)
    if "speed" in arguments.only:
        dynamic_speed(claims)
        multivariate_speed(claims)
        shuffling_speed(claims)


if __name__ == "__main__":
    main()
