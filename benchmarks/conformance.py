"""Compare generalization with what the established tool computes, through the public calls alone.

Reads a folder with `conformance/adult_optimum.csv`, `conformance/adult_lattice.csv.gz` and
`tables/adult/` (the Adult table, its hierarchies, a subset), and prints a table of cases with the
number of differences: loss and levels of an optimum (`om.protect`), or validity, suppressed records
and loss of every node of a lattice (`om.measuring.explore`) together with its optimum
(`om.protect`). Hierarchies are given as files.

    python benchmarks/conformance.py --data FOLDER

One configuration is shown twice. The tool's test of entropy l-diversity with Grassberger's
estimator adds up terms in the order of a hash table and stops as soon as the sum exceeds the
threshold, although terms of single records are negative and later ones can bring it down again;
its verdict on some classes thus depends on how values are numbered. The package follows the
definition and differs there (first line). `HashOrder` below repeats the tool's summation (second
line, starred): validity and suppressed rows of all 240 nodes are then equal, the loss of 16 nodes
is not. At the 7 of these 16 where all subsets of the disputed classes could be tried, the tool's
loss fits exactly one number of suppressed rows, and it is not the number in the tool's own output;
the other 9 have too many disputed classes to try, so the cause there is not shown.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import itertools
import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars

import ontomask as om
from arguments import folder_with
from ontomask import privacy, quality
from ontomask.arrays import Bools

TOLERANCE = 1e-6
LATTICE_COLUMNS = ("sex", "age", "race", "marital-status", "education")

Rows = list[dict[str, str]]
Case = tuple[str, str, int, str]
"""Name, description, number of differences, and what they are."""


@dataclass(frozen=True)
class Folder:
    """Where the cases are."""

    path: Path

    def table(self, name: str) -> polars.DataFrame:
        file = self.path / "tables" / "adult" / name
        return polars.read_csv(file, separator=";", infer_schema=False)

    def hierarchy(self, column: str) -> str:
        return str(self.path / "tables" / "adult" / f"adult_hierarchy_{column}.csv")

    def optima(self) -> Rows:
        with (self.path / "conformance" / "adult_optimum.csv").open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def nodes(self) -> Rows:
        with gzip.open(self.path / "conformance" / "adult_lattice.csv.gz", "rt") as file:
            return list(csv.DictReader(file))


@dataclass(frozen=True)
class Question:
    """A table with what is asked about it; with a subset, the table is the population it is of."""

    folder: Folder
    columns: Sequence[str]
    models: Sequence[privacy.PrivacyModel]
    limit: float
    quality: quality.Quality
    sensitive: str = ""
    target: str = ""
    subset: str = ""

    @property
    def frame(self) -> polars.DataFrame:
        return self.folder.table(self.subset or "adult.csv")

    @property
    def schema(self) -> om.Schema:
        columns = {name: om.Flat() for name in self.columns}
        if self.target:
            columns[self.target] = om.Flat(role="other")
        if self.sensitive:
            columns[self.sensitive] = self._protected()
        return om.Schema.of(columns)

    def _protected(self) -> om.Flat | om.Ordinal:
        if any(getattr(model, "ground", "") == "ordered" for model in self.models):
            return om.Ordinal(sorted(set(self.frame[self.sensitive])), "sensitive")
        return om.Flat(role="sensitive")

    @property
    def method(self) -> om.Generalization:
        named = [*self.columns, *([self.sensitive] if self.sensitive else [])]
        return om.Generalization(
            list(self.models),
            self.limit,
            self.quality,
            hierarchies={name: self.folder.hierarchy(name) for name in named},
            population=self.folder.table("adult.csv") if self.subset else None,
        )

    def release(self) -> om.Release:
        return om.protect(self.frame, self.schema, self.method, seed=1)


# From names to models -------------------------------------------------------------------------


def parse_privacy(text: str) -> list[privacy.PrivacyModel]:
    """Read conditions such as `k_anonymity(k=5); equal_t_closeness(occupation,0.2)`."""
    models = []
    for part in text.split("; "):
        name, inside = re.fullmatch(r"(\w+)\((.*)\)", part.strip()).groups()
        values = [one.rpartition("=")[2] for one in inside.split(",")]
        models.append(PRIVACY[name](values))
    return models


def _closeness(ground: str):
    return lambda values: privacy.TCloseness(float(values[1]), ground, values[0])


PRIVACY = {
    "k_anonymity": lambda v: privacy.KAnonymity(int(v[0])),
    "distinct_l_diversity": lambda v: privacy.LDiversity(int(v[1]), column=v[0]),
    "entropy_l_diversity": lambda v: privacy.LDiversity(
        float(v[1]), "entropy", column=v[0], estimator=v[2].lower()
    ),
    "recursive_cl_diversity": lambda v: privacy.LDiversity(
        int(v[2]), "recursive", float(v[1]), v[0]
    ),
    "equal_t_closeness": _closeness("equal"),
    "ordered_t_closeness": _closeness("ordered"),
    "hierarchical_t_closeness": _closeness("hierarchical"),
    "d_disclosure": lambda v: privacy.DeltaDisclosure(float(v[1]), v[0]),
    "basic_b_likeness": lambda v: privacy.BetaLikeness(float(v[1]), "basic", v[0]),
    "enhanced_b_likeness": lambda v: privacy.BetaLikeness(float(v[1]), "enhanced", v[0]),
    "d_presence": lambda v: privacy.DeltaPresence(float(v[0]), float(v[1])),
    "k_map": lambda v: privacy.KMap(int(v[0])),
    "average_risk": lambda v: privacy.AverageRisk(float(v[0])),
    "sample_uniqueness": lambda v: privacy.SampleUniqueness(float(v[0])),
}

AGGREGATES = {
    "geometric mean": "geometric",
    "arithmetic mean": "arithmetic",
    "sum": "sum",
    "maximum": "max",
    "max": "max",
    "rank": "rank",
    "": "sum",
}


def make_quality(
    metric: str, factor: float, aggregate: str, target: str, *, counts: bool = True
) -> quality.Quality:
    """The quality model of a name as the files have it."""
    name = metric.lower().replace("-", "_").replace(" ", "_")
    combined = AGGREGATES[aggregate.lower().replace("_", " ")]
    ignoring = name.endswith(("_star", "_monotonic"))
    counted = {"counts_suppression": counts and not ignoring}
    name = name.removesuffix("_star").removesuffix("_monotonic")
    weighed = {"factor": factor, **counted}
    if name in ("nu_entropy", "non_uniform_entropy", "nu_entropy_normalized"):
        normalized = name.endswith("normalized")
        return quality.NonUniformEntropy(combined, normalized=normalized, **weighed)
    if name == "classification":
        suppression = 2 * factor if factor < 0.5 else 1.0
        generalization = 1.0 if factor <= 0.5 else 1.0 - 2.0 * (factor - 0.5)
        return quality.Classification(target, factor, generalization, suppression, **counted)
    simple = {
        "discernibility": quality.Discernibility,
        "discernability": quality.Discernibility,
        "ambiguity": quality.Ambiguity,
        "kl_divergence": quality.KLDivergence,
    }
    if name in simple:
        return simple[name](**counted)
    if name == "height":
        return quality.Height(combined)
    if name == "aecs":
        return quality.AverageClassSize(**weighed)
    if name == "entropy_based_il":
        return quality.EntropyLoss(**weighed)
    kind = {"loss": quality.Loss, "precision": quality.Precision}[name]
    return kind(combined, **weighed)


@dataclass(frozen=True)
class HashOrder(privacy.LDiversity):
    """Grassberger's estimator with the tool's summation: see the top of this file.

    `numbers` gives the number of each value by first appearance in the table.
    """

    numbers: tuple[int, ...] = ()

    @property
    def monotone(self) -> bool:
        return False

    def holds(self, classes: privacy.Classes) -> Bools:
        histogram = classes.histogram(self.column)
        pairs: list[list[tuple[int, int]]] = [[] for _ in range(len(classes))]
        listed = zip(histogram.classes, histogram.values, histogram.counts, strict=True)
        for owner, value, count in listed:
            pairs[owner].append((self.numbers[value], int(count)))
        sizes = classes.sizes.tolist()
        return np.array(
            [self._one(size, inside) for size, inside in zip(sizes, pairs, strict=True)]
        )

    def _one(self, size: int, pairs: list[tuple[int, int]]) -> bool:
        if len(pairs) < self.least:
            return False
        substitute = privacy.grassberger
        threshold = size * (float(substitute(np.array([size]))[0]) - math.log(self.l))
        counts = dict(pairs)
        total = 0.0
        for number in bucket_order([number for number, _ in pairs]):
            count = counts[number]
            total += count * float(substitute(np.array([count]))[0])
            if total > threshold:
                return False
        return True


def bucket_order(numbers: list[int]) -> list[int]:
    """The order in a table of 8 buckets, doubled when three quarters are in use."""
    buckets: list[int] = [-1] * 8
    for used, number in enumerate(numbers, start=1):
        _put(buckets, number)
        if used > 0.75 * len(buckets):
            grown = [-1] * (2 * len(buckets))
            for one in filter(lambda one: one >= 0, buckets):
                _put(grown, one)
            buckets = grown
    return [number for number in buckets if number >= 0]


def _put(buckets: list[int], number: int) -> None:
    place = number % len(buckets)
    while buckets[place] >= 0:
        place = (place + 1) % len(buckets)
    buckets[place] = number


def hash_order(model: privacy.PrivacyModel, column: Sequence[str]) -> privacy.PrivacyModel:
    """The same model with the tool's way of summation, given the sensitive values."""
    if not isinstance(model, privacy.LDiversity) or model.estimator != "grassberger":
        return model
    ranks = {value: number for number, value in enumerate(dict.fromkeys(column))}
    numbers = tuple(ranks[value] for value in sorted(ranks))
    options = (model.l, model.kind, model.c, model.column, model.estimator)
    return HashOrder(*options, numbers=numbers)


# Comparing ------------------------------------------------------------------------------------


def differs(found: float, expected: float) -> bool:
    """Whether two losses differ by more than rounding."""
    return abs(found - expected) > TOLERANCE * max(abs(expected), 1e-9)


def lattice_cases(folder: Folder) -> Iterator[Case]:
    """Every node of a lattice, and its optimum."""
    for name, group in itertools.groupby(folder.nodes(), key=lambda row: row["config"]):
        rows = list(group)
        question = lattice_question(folder, rows[0])
        yield lattice_case(name, question, rows)
        if "grassberger" in rows[0]["privacy_models"]:
            column = question.frame[question.sensitive].to_list()
            models = [hash_order(model, column) for model in question.models]
            yield lattice_case(f"{name}*", replace(question, models=models), rows)


def lattice_question(folder: Folder, row: dict[str, str]) -> Question:
    subset = re.search(r"subset=([\w.]+)", row["privacy_models"])
    target, factor = row["response"], float(row["gs_factor"])
    return Question(
        folder,
        LATTICE_COLUMNS,
        parse_privacy(row["privacy_models"]),
        float(row["suppression_limit"]),
        make_quality(row["metric"], factor, row["aggregate"], target),
        row["sensitive"],
        target,
        subset.group(1) if subset else "",
    )


def lattice_case(name: str, question: Question, rows: Rows) -> Case:
    table = om.measuring.explore(question.frame, question.schema, question.method)
    order = [table.names.index(column) for column in question.columns]
    places = {tuple(node): number for number, node in enumerate(table.levels[:, order].tolist())}
    everybody = len(question.folder.table("adult.csv"))
    outside = everybody - len(question.frame)
    (losses,) = table.losses.values()
    wrong = {"valid": 0, "suppressed": 0, "loss": 0, "optimum": 0}
    for row in rows:
        node = levels_of(row["transformation"])
        number = places[node]
        shown = int(table.outliers[number]) + outside
        if question.limit > 0 and number == len(table) - 1:
            shown = everybody
        wrong["valid"] += bool(table.valid[number]) != (row["anonymous"] == "1")
        wrong["suppressed"] += shown != int(row["suppressed_rows_in_output"])
        wrong["loss"] += differs(losses[number], float(row["loss"]))
    note = ""
    if not name.endswith("*"):
        best = next(row for row in rows if row["is_reported_optimum"] == "1")
        release = question.release()
        wrong["optimum"] = differs(release.quality, float(best["loss"]))
        same = tuple(release.levels[one] for one in question.columns)
        note = "" if same == levels_of(best["transformation"]) else f"optimum at {same}"
    listed = [f"{count:d} {what}" for what, count in wrong.items() if count]
    first = rows[0]
    described = f"{first['privacy_models']} {first['metric']} g={first['gs_factor']}"
    return name, described, sum(wrong.values()), ", ".join([*listed, *([note] if note else [])])


def levels_of(text: str) -> tuple[int, ...]:
    return tuple(int(level) for level in text.strip("[]").split(","))


def optimum_cases(folder: Folder) -> Iterator[Case]:
    """The optimum of a larger lattice."""
    for number, row in enumerate(folder.optima(), start=1):
        columns, counts = row["quasi_identifiers"].split(";"), row["counts_suppression"] == "yes"
        model = make_quality(row["quality"], 0.5, row["aggregate"], row["target"], counts=counts)
        models, limit = parse_privacy(row["privacy"]), float(row["suppression_limit"])
        question = Question(folder, columns, models, limit, model, row["sensitive"], row["target"])
        start = time.perf_counter()
        release = question.release()
        seconds = time.perf_counter() - start
        levels = tuple(release.levels[one] for one in columns)
        wrong = differs(release.quality, float(row["expected_loss"]))
        same = "same levels" if levels == levels_of(row["expected_levels"]) else f"levels {levels}"
        details = release.details[0]
        note = f"{same}, {details['checked']} of {details['nodes']} nodes, {seconds:.2f} s"
        if wrong:
            note += f", loss {release.quality!r} instead of {row['expected_loss']}"
        described = f"{row['privacy']} limit {row['suppression_limit']} {row['quality']}"
        yield f"O{number}", described, int(wrong), note


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = folder_with("conformance/adult_optimum.csv", "tables/adult/adult.csv")
    parser.add_argument("--data", type=known, required=True, help="the folder with the cases")
    folder = Folder(parser.parse_args().data)
    failures = cases = 0
    start = time.perf_counter()
    for name, described, count, note in itertools.chain(
        optimum_cases(folder), lattice_cases(folder)
    ):
        cases += 1
        print(f"{name:6} {'equal' if not count else 'DIFFERENT':10} {described[:78]:78} {note}")
        # by definition, L114 differs; starred, it shows why
        failures += bool(count)
    print(f"{failures} of {cases} cases differ ({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
