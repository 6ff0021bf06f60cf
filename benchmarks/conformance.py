"""Compare the generalization engine with what the established tool computes.

Reads a folder with `conformance/adult_optimum.csv`, `conformance/adult_lattice.csv.gz` and
`tables/adult/` (the Adult table, its hierarchies, a subset), and prints a table of cases with the
number of differences: validity, suppressed records and loss of every node of a lattice, or loss
and levels of an optimum.

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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ontomask import privacy, quality
from ontomask.arrays import Bools
from ontomask.methods.generalization.problem import Problem, Sensitive
from ontomask.methods.generalization.search import exhaustive, optimal
from ontomask.taxonomy.hierarchies import Hierarchy

TOLERANCE = 1e-6
LATTICE_COLUMNS = ("sex", "age", "race", "marital-status", "education")

Rows = list[dict[str, str]]


@dataclass(frozen=True)
class Folder:
    """Where the cases are."""

    path: Path

    def table(self, name: str) -> Rows:
        with (self.path / "tables" / "adult" / name).open(encoding="utf-8") as file:
            return list(csv.DictReader(file, delimiter=";"))

    def hierarchy(self, column: str) -> Hierarchy:
        return Hierarchy.from_csv(self.path / "tables" / "adult" / f"adult_hierarchy_{column}.csv")

    def optima(self) -> Rows:
        with (self.path / "conformance" / "adult_optimum.csv").open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def nodes(self) -> Rows:
        with gzip.open(self.path / "conformance" / "adult_lattice.csv.gz", "rt") as file:
            return list(csv.DictReader(file))


def make_problem(
    folder: Folder, columns: list[str], sensitive: str, target: str, subset: str = ""
) -> Problem:
    """The table as a problem; with a subset, the table is the population it comes from."""
    rows = folder.table("adult.csv")
    hierarchies = tuple(folder.hierarchy(column) for column in columns)

    def encoded(table: Rows) -> np.ndarray:
        pairs = zip(hierarchies, columns, strict=True)
        return np.array([one.encode([row[column] for row in table]) for one, column in pairs])

    def attribute(column: str) -> Sensitive:
        hierarchy = folder.hierarchy(column)
        values = [row[column] for row in rows]
        order = np.argsort(hierarchy.values).astype(np.int32)
        return Sensitive(hierarchy.encode(values), hierarchy.rows, order, hierarchy.levels)

    return Problem(
        hierarchies,
        encoded(folder.table(subset) if subset else rows),
        tuple(columns),
        sensitive={sensitive: attribute(sensitive)} if sensitive else {},
        targets={target: attribute(target)} if target else {},
        population=encoded(rows) if subset else None,
    )


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


def hash_order(models: list[privacy.PrivacyModel], problem: Problem) -> list[privacy.PrivacyModel]:
    """The same models with the tool's way of summation."""
    changed = []
    for model in models:
        if isinstance(model, privacy.LDiversity) and model.estimator == "grassberger":
            sensitive = problem.sensitive[str(model.column)]
            seen = dict.fromkeys(sensitive.codes.tolist())
            rank = {value: number for number, value in enumerate(seen)}
            numbers = tuple(rank.get(value, -1) for value in range(sensitive.size))
            options = (model.l, model.kind, model.c, model.column, model.estimator)
            changed.append(HashOrder(*options, numbers=numbers))
        else:
            changed.append(model)
    return changed


# Comparing ------------------------------------------------------------------------------------


def differs(found: float, expected: float) -> bool:
    """Whether two losses differ by more than rounding."""
    return abs(found - expected) > TOLERANCE * max(abs(expected), 1e-9)


def lattice_cases(folder: Folder) -> Iterator[tuple[str, str, int, str]]:
    """Yield name, description, number of differences and what they are."""
    for name, group in itertools.groupby(folder.nodes(), key=lambda row: row["config"]):
        rows = list(group)
        first = rows[0]
        yield lattice_case(folder, name, rows, exact=False)
        if "grassberger" in first["privacy_models"]:
            yield lattice_case(folder, f"{name}*", rows, exact=True)


def lattice_case(
    folder: Folder, name: str, rows: Rows, *, exact: bool
) -> tuple[str, str, int, str]:
    first = rows[0]
    found_subset = re.search(r"subset=([\w.]+)", first["privacy_models"])
    subset = found_subset.group(1) if found_subset else ""
    sensitive, target = first["sensitive"], first["response"]
    problem = make_problem(folder, list(LATTICE_COLUMNS), sensitive, target, subset)
    models = parse_privacy(first["privacy_models"])
    models = hash_order(models, problem) if exact else models
    model = make_quality(first["metric"], float(first["gs_factor"]), first["aggregate"], target)
    limit = float(first["suppression_limit"])
    table = exhaustive(problem, models, limit, {"loss": model})
    places = {tuple(levels): number for number, levels in enumerate(table.levels.tolist())}
    everything = problem.population if subset else problem.codes
    wrong = {"valid": 0, "suppressed": 0, "loss": 0}
    for row in rows:
        node = tuple(int(level) for level in row["transformation"].strip("[]").split(","))
        number = places[node]
        shown = table.outliers[number] + everything.shape[1] - problem.records
        if limit > 0 and node == problem.heights:
            shown = everything.shape[1]
        wrong["valid"] += bool(table.valid[number]) != (row["anonymous"] == "1")
        wrong["suppressed"] += int(shown) != int(row["suppressed_rows_in_output"])
        wrong["loss"] += differs(table.losses["loss"][number], float(row["loss"]))
    listed = ", ".join(f"{count} {what}" for what, count in wrong.items() if count)
    described = f"{first['privacy_models']} {first['metric']} g={first['gs_factor']}"
    return name, described, sum(wrong.values()), listed


def optimum_cases(folder: Folder) -> Iterator[tuple[str, str, int, str]]:
    """Yield name, description, number of differences and what they are."""
    for number, row in enumerate(folder.optima(), start=1):
        columns = row["quasi_identifiers"].split(";")
        problem = make_problem(folder, columns, row["sensitive"], row["target"])
        counts = row["counts_suppression"] == "yes"
        aggregate = row["aggregate"]
        model = make_quality(row["quality"], 0.5, aggregate, row["target"], counts=counts)
        limit = float(row["suppression_limit"])
        solution = optimal(problem, parse_privacy(row["privacy"]), limit, model)
        levels = tuple(int(level) for level in row["expected_levels"].strip("[]").split(","))
        wrong = differs(solution.loss, float(row["expected_loss"]))
        same = "same levels" if solution.levels == levels else f"levels {solution.levels}"
        note = f"{same}, {solution.checked} of {solution.total} nodes, {solution.seconds:.2f} s"
        described = f"{row['privacy']} limit {row['suppression_limit']} {row['quality']}"
        if wrong:
            note += f", loss {solution.loss!r} instead of {row['expected_loss']}"
        yield f"O{number}", described, int(wrong), note


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with the cases")
    folder = Folder(parser.parse_args().data)
    failures = 0
    start = time.perf_counter()
    for name, described, count, note in (*optimum_cases(folder), *lattice_cases(folder)):
        print(f"{name:6} {'equal' if not count else 'DIFFERENT':10} {described[:78]:78} {note}")
        # by definition, L114 differs; starred, it shows why
        failures += bool(count)
    print(f"{failures} cases differ ({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
