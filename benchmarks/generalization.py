"""How fast the generalization engine is, and what it loses.

Sections, on tables of a folder given by `--data` (with `tables/adult/` and
`tables/inpatient_claims_icd9.csv.gz`):

* `optimal`: Adult, 5-anonymity, limits 0, 2 % and 100 %: loss over 9 quasi-identifiers (12,960
  nodes), and classification with the salary class as target, outside the 8 others (6,480 nodes, as
  in the conformance cases) or as one of the 9 (12,960 nodes); warm (best of three in one process),
  the whole call of `protect` besides the search, and cold (a fresh process: start of Python,
  reading, compiled code from the cache). The reference
  times of the established tool are quoted from the task, not measured here, and do not say which
  of the two classification problems they are for;
* `scale`: the table resampled to more records, 15 % of the cells redrawn from their column;
* `claims`: 50,025 claims with ICD-9-CM as hierarchy: optimal, local, Mondrian, SA-MDAV;
* `meaning`: semantic t-closeness of 2,422 diagnoses of the claims over 480 nodes: the optimum,
  every node, and what a time limit gives;
* `closeness`: Adult under 5-anonymity and t-closeness of the occupation, and of made-up codes with
  a hierarchy of six levels, 5,676 of them in Adult and 100,000 in 300,000 resampled records; CPU
  seconds, and the peak of memory. The established tool's times are quoted from the task, where
  the 5,676 values were others;
* `threads`: searches on one core and on all: the same outcome, cores used, and how much faster;
* `large`: a lattice of more than 10^9 nodes, best effort, loss over time.

    python benchmarks/generalization.py --data FOLDER [--sections optimal,claims,…]
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import gzip
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars

import ontomask as om
from arguments import CLAIMS, folder_with, some_of
from ontomask import privacy, quality
from ontomask.methods.generalization.best_effort import best_effort
from ontomask.methods.generalization.local import local
from ontomask.methods.generalization.mondrian import mondrian
from ontomask.methods.generalization.problem import Problem, Sensitive
from ontomask.methods.generalization.recoded import LocalSolution, recoded_loss
from ontomask.methods.generalization.search import Solution, optimal
from ontomask.taxonomy.from_numbers import interval_hierarchy
from ontomask.taxonomy.hierarchies import Hierarchy

COLUMNS = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
LIMITS = (0.0, 0.02, 1.0)
REFERENCE = {
    ("loss", 0.0): "0.05-0.1",
    ("loss", 0.02): "1.2-1.3",
    ("loss", 1.0): "4.2-4.3",
    ("classification", 0.0): "0.05",
    ("classification", 0.02): "0.8-0.9",
    ("classification", 1.0): "3.9-4.0",
}
K = [privacy.KAnonymity(5)]


def adult(folder: Path, copies: float = 1.0, redrawn: float = 0.0) -> dict[str, np.ndarray]:
    """The Adult table as codes of its hierarchies."""
    with (folder / "tables" / "adult" / "adult.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    hierarchies = adult_hierarchies(folder)
    codes = {
        name: hierarchy.encode([row[name] for row in rows])
        for name, hierarchy in hierarchies.items()
    }
    if copies == 1.0:
        return codes
    generator = np.random.default_rng(1)
    chosen = generator.integers(0, len(rows), round(copies))
    resampled = {}
    for name, column in codes.items():
        drawn = column[chosen]
        again = generator.random(chosen.size) < redrawn
        drawn[again] = generator.choice(column, int(again.sum()))
        resampled[name] = drawn
    return resampled


def adult_hierarchies(folder: Path) -> dict[str, Hierarchy]:
    base = folder / "tables" / "adult"
    return {name: Hierarchy.from_csv(base / f"adult_hierarchy_{name}.csv") for name in COLUMNS}


def make_problem(folder: Path, codes: dict[str, np.ndarray], target: str = "") -> Problem:
    """All columns as quasi-identifiers, or all but the target."""
    hierarchies = adult_hierarchies(folder)
    names = tuple(name for name in COLUMNS if name != target)
    targets = {target: Sensitive(codes[target], hierarchies[target].rows)} if target else {}
    return Problem(
        tuple(hierarchies[name] for name in names),
        np.array([codes[name] for name in names]),
        names,
        targets=targets,
    )


def cases() -> dict[str, tuple[quality.Quality, str]]:
    """Quality model and the column that is no quasi-identifier."""
    target = "salary-class"
    return {
        "loss": (quality.Loss(), ""),
        "classification": (quality.Classification(target), target),
        "classification-9": (quality.Classification(target), ""),
    }


def optimal_section(folder: Path) -> None:
    print(f"{'quality':17}{'limit':>6}{'loss':>10}{'checked':>9}{'nodes':>7}{'warm s':>8}", end="")
    print(f"{'CPU s':>7}{'call CPU s':>12}{'cold s':>8}  reference, warm s")
    codes, frame = adult(folder), adult_frame(folder)
    for name, (model, target) in cases().items():
        for limit in LIMITS:
            spent, calls = [], []
            for _ in range(3):
                problem = make_problem(folder, codes, target)
                with _clock() as seconds:
                    solution = optimal(problem, K, limit, model)
                spent.append(seconds)
                calls.append(_called(folder, frame, limit, model, target))
            best, cpu = np.min(spent, axis=0)
            print(
                f"{name:17}{limit:6.2f}{solution.loss:10.6f}{solution.checked:9}"
                f"{solution.total:7}{best:8.3f}{cpu:7.3f}{min(calls):12.3f}"
                f"{_cold(folder, name, limit):8.2f}  {REFERENCE[model.name, limit]}"
            )


def adult_frame(folder: Path) -> polars.DataFrame:
    """The Adult table as texts."""
    path = folder / "tables" / "adult" / "adult.csv"
    return polars.read_csv(path, separator=";", infer_schema=False).select(COLUMNS)


def _called(
    folder: Path, frame: polars.DataFrame, limit: float, model: quality.Quality, target: str
) -> float:
    """The CPU seconds of the whole call: encoding, search, recount, digests."""
    hierarchies = adult_hierarchies(folder)
    hierarchies.pop(target, None)
    columns = {name: om.Flat(role="other" if name == target else "quasi") for name in COLUMNS}
    method = om.Generalization(K, limit, model, hierarchies=hierarchies)
    with _clock() as spent:
        om.protect(frame, om.Schema(**columns), method, seed=1)
    return spent[1]


def _cold(folder: Path, name: str, limit: float) -> float:
    command = [sys.executable, __file__, "--data", str(folder), "--once", f"{name},{limit}"]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def once(folder: Path, name: str, limit: float) -> None:
    """One search, for a cold process."""
    model, target = cases()[name]
    solution = optimal(make_problem(folder, adult(folder), target), K, limit, model)
    print(solution.loss)


def scale_section(folder: Path) -> None:
    print(f"{'records':>10}{'tuples':>9}{'limit':>7}{'loss':>9}{'checked':>9}{'s':>8}{'MiB':>7}")
    for count in (300_000, 3_000_000):
        codes = adult(folder, copies=count, redrawn=0.15)
        for limit in LIMITS:
            problem = make_problem(folder, codes)
            start = time.perf_counter()
            solution = optimal(problem, K, limit)
            seconds = time.perf_counter() - start
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            tuples = len(problem.tuples.rows)
            print(
                f"{count:10,}{tuples:9,}{limit:7.2f}{solution.loss:9.5f}{solution.checked:9}"
                f"{seconds:8.2f}{memory:7.0f}"
            )


def read_claims(folder: Path) -> dict[str, list[str]]:
    with gzip.open(folder / "tables" / "inpatient_claims_icd9.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    names = ("age", "sex", "race", "state", "los", "dx_principal")
    return {name: [row[name] for row in rows] for name in names}


def claims_problem(folder: Path, by: str) -> Problem:
    """Ages, stays by intervals, states and the rest flat, diagnoses by ICD-9-CM."""
    columns = read_claims(folder)
    taxonomy = om.load_taxonomy("icd9cm")
    found = taxonomy.map(columns["dx_principal"])
    numbers = found.resolve("error")[found.positions]
    diagnoses = list(taxonomy.ids_of(numbers.tolist()))
    hierarchies = {
        "age": interval_hierarchy(columns["age"], [5, 10, 20], top=90),
        "sex": flat(columns["sex"]),
        "race": flat(columns["race"]),
        "state": flat(columns["state"]),
        "los": interval_hierarchy(columns["los"], [2, 4, 8, 16], top=32),
        "dx_principal": Hierarchy.from_taxonomy(taxonomy, sorted(set(diagnoses)), by=by),
    }
    columns["dx_principal"] = diagnoses
    codes = np.array([one.encode(columns[name]) for name, one in hierarchies.items()])
    return Problem(tuple(hierarchies.values()), codes, tuple(hierarchies))


def flat(values: list[str]) -> Hierarchy:
    return Hierarchy.from_rows([[value, "*"] for value in sorted(set(values))])


def claims_section(folder: Path) -> None:
    """Loss and semantic loss of all columns, and the semantic loss of the diagnosis alone."""
    print(
        f"{'search':24}{'loss':>8}{'semantic':>10}{'diagnosis':>11}{'lost':>7}{'classes':>9}{'s':>7}"
    )
    for by in ("steps", "depth"):
        problem = claims_problem(folder, by)
        for model in (quality.Loss(), quality.Semantic()):
            found = optimal(problem, K, 0.05, model)
            shape = (len(problem.tuples.rows), len(found.levels))
            levels = np.broadcast_to(np.array(found.levels, np.int32), shape)
            _claims_row(f"optimal {model.name} {by}", problem, found, np.ascontiguousarray(levels))
        for name, found in (
            (f"local {by}", local(problem, K, 0.05)),
            (f"mondrian {by}", mondrian(problem, K)),
        ):
            _claims_row(name, problem, found, found.levels)
    _microaggregated(folder)


def _claims_row(
    name: str, problem: Problem, found: Solution | LocalSolution, levels: np.ndarray
) -> None:
    gone = np.zeros(len(problem.tuples.rows), bool)
    gone[problem.tuples.places[found.suppressed]] = True
    loss, classes = recoded_loss(problem, quality.Loss(), levels, gone)
    meaning, _ = recoded_loss(problem, quality.Semantic(), levels, gone)
    rows, last = problem.tuples.rows[:, -1], problem.hierarchies[-1]
    distances = np.where(gone, 1.0, last.distances[levels[:, -1], rows])
    diagnosis = float(problem.tuples.amounts[0] @ distances**2)
    print(f"{name:24}{loss:8.4f}{meaning:10.1f}{diagnosis:11.1f}{found.outliers:7}", end="")
    print(f"{classes:9}{found.seconds:7.2f}")


def _microaggregated(folder: Path) -> None:
    """SA-MDAV at the same k: what it does to the diagnosis."""
    taxonomy = om.load_taxonomy("icd9cm")
    columns = read_claims(folder)
    kinds = {"age": om.Numeric(), "los": om.Numeric(), "dx_principal": om.Nominal(taxonomy)}
    schema = om.Schema.of({name: kinds.get(name, om.Flat()) for name in columns})
    numbers = {name: [float(one) for one in columns[name]] for name in ("age", "los")}
    frame = polars.DataFrame({**columns, **numbers})
    start = time.perf_counter()
    release = om.protect(frame, schema, om.Microaggregation(k=5), seed=1)
    seconds = time.perf_counter() - start
    before = list(columns["dx_principal"])
    after = release.frame["dx_principal"].to_list()
    pairs = Counter(zip(before, after, strict=True))
    ids = dict(zip(names := sorted({*before, *after}), _ids(taxonomy, names), strict=True))
    cost = sum(
        count * taxonomy.distance(ids[one], ids[other]) ** 2
        for (one, other), count in pairs.items()
        if one != other
    )
    print(f"{'sa-mdav':24}{'':8}{'':10}{cost:11.1f}{0:7}{'':9}{seconds:7.2f}")


def _ids(taxonomy: om.Taxonomy, values: list[str]) -> list[str]:
    found = taxonomy.map(values)
    return list(taxonomy.ids_of(found.resolve("error")[found.positions].tolist()))


def meaning_section(folder: Path) -> None:
    """Through the public calls, with their recount."""
    frame = polars.read_csv(
        folder / "tables" / "inpatient_claims_icd9.csv.gz", infer_schema=False
    ).with_columns(polars.col("age", "los").cast(polars.Int64))
    flats = ("sex", "race", "state", "deductible")
    diagnosis = om.Nominal(om.load_taxonomy("icd9cm"), "sensitive")
    numbers = {"age": om.Numeric(), "los": om.Numeric()}
    words = {name: om.Flat() for name in flats}
    schema = om.Schema.of({**numbers, **words, "dx_principal": diagnosis})
    hierarchies = {
        "age": interval_hierarchy(frame["age"], [5, 10, 20]),
        "los": interval_hierarchy(frame["los"], [2, 4, 8, 16]),
        **{name: flat(frame[name].to_list()) for name in flats},
    }
    print(f"{'search':14}{'t':>5}{'loss':>9}{'nodes':>7}{'wall s':>8}{'CPU s':>8}")
    for t in (0.1, 0.2, 0.3):
        models = [*K, privacy.TCloseness(t, "semantic")]
        best = om.Generalization(models, 0.05, hierarchies=hierarchies)
        timed = replace(best, algorithm="best-effort", seconds=5.0)
        for name, method in (("optimal", best), ("5 seconds", timed)):
            with _clock() as spent:
                release = om.protect(frame, schema, method, seed=1)
            nodes = release.details[0]["checked"]
            print(f"{name:14}{t:5.2f}{release.quality:9.5f}{nodes:7}{spent[0]:8.1f}{spent[1]:8.1f}")
        with _clock() as spent:
            table = om.measuring.explore(frame, schema, best)
        least = table.losses["loss"][table.valid].min()
        print(f"{'every node':14}{t:5.2f}{least:9.5f}{len(table):7}{spent[0]:8.1f}{spent[1]:8.1f}")


@contextlib.contextmanager
def _clock() -> Iterator[list[float]]:
    """Wall and CPU seconds."""
    spent, wall, cpu = [], time.perf_counter(), time.process_time()
    yield spent
    spent += [time.perf_counter() - wall, time.process_time() - cpu]


CODES = {"5,676 codes": (5676, 1.0, 0.5, "5.3"), "100,000 codes": (100_000, 300_000, 0.5, "")}


def closeness_section(folder: Path) -> None:
    """Limit 4 %, as in the conformance cases with these grounds."""
    print(f"{'sensitive':24}{'loss':>9}{'checked':>9}{'CPU s':>8}{'MiB':>7}  reference, s")
    for ground, reference in (("equal", "1.21"), ("hierarchical", "1.11")):
        codes, one = adult(folder), adult_hierarchies(folder)["occupation"]
        sensitive = Sensitive(codes["occupation"], one.rows, one.levels)
        _closeness_row(f"occupation {ground}", folder, codes, sensitive, (ground, 0.2), reference)
    for name, (count, records, t, reference) in CODES.items():
        codes = adult(folder, records, 0.15)
        made = made_up_codes(count, len(codes["sex"]))
        _closeness_row(name, folder, codes, made, ("hierarchical", t), reference)


def made_up_codes(count: int, records: int) -> Sensitive:
    """Codes that all occur, the first ones most often, in groups of 8, 64, 512 and halves."""
    generator = np.random.default_rng(1)
    often = 1.0 / np.arange(1, count + 1) ** 0.8
    drawn = generator.choice(count, records - count, p=often / often.sum())
    numbers = np.arange(count, dtype=np.int32)
    levels = [numbers // size for size in (1, 8, 64, 512, (count + 1) // 2, count)]
    codes = generator.permutation(np.concatenate([numbers, drawn])).astype(np.int32)
    return Sensitive(codes, count, np.array(levels))


def _closeness_row(
    name: str,
    folder: Path,
    codes: dict[str, np.ndarray],
    sensitive: Sensitive,
    model: tuple[str, float],
    reference: str,
) -> None:
    problem = replace(make_problem(folder, codes, "occupation"), sensitive={"s": sensitive})
    models = [*K, privacy.TCloseness(model[1], model[0])]
    optimal(problem, models, 0.04)
    with _clock() as spent:
        found = optimal(replace(problem), models, 0.04)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name:24}{found.loss:9.5f}{found.checked:9}{spent[1]:8.2f}{memory:7.0f}  {reference}")


def threads_section(folder: Path) -> None:
    """Twice each: with one thread, and with one for every core."""
    print(
        f"{'search':24}{'loss':>9}{'checked':>9}{'1 thread s':>11}{'all s':>8}{'cores':>7}", end=""
    )
    print(f"{'faster':>8}")
    problem = make_problem(folder, adult(folder, 1_000_000, 0.15))
    searches = {
        "optimal, limit 2 %": lambda: optimal(problem, K, 0.02),
        "optimal, limit 100 %": lambda: optimal(problem, K, 1.0),
        "best effort, 300 nodes": lambda: best_effort(problem, K, 0.02, steps=300),
    }
    for name, search in searches.items():
        search()
        found, spent = {}, {}
        for threads in ("1", ""):
            os.environ["ONTOMASK_THREADS"] = threads
            with _clock() as spent[threads]:
                found[threads] = search()
        one, every = found.values()
        assert (one.levels, one.loss, one.checked) == (every.levels, every.loss, every.checked)
        alone, beside = spent["1"][0], spent[""][0]
        print(f"{name:24}{one.loss:9.5f}{one.checked:9}{alone:11.2f}{beside:8.2f}", end="")
        print(f"{spent[''][1] / beside:7.2f}{alone / beside:8.2f}")


LIMITS_AT_MOST = (0.0, 0.02, 0.1, 0.3, 1.0)


def large_section(folder: Path) -> None:
    """Adult with copies of its columns in random order: 21 quasi-identifiers."""
    codes = adult(folder)
    hierarchies = adult_hierarchies(folder)
    generator = np.random.default_rng(1)
    names = [*COLUMNS, *[name for name in COLUMNS if hierarchies[name].height > 1] * 2]
    columns = [
        codes[name] if place < len(COLUMNS) else generator.permutation(codes[name])
        for place, name in enumerate(names)
    ]
    problem = Problem(tuple(hierarchies[name] for name in names), np.array(columns))
    size = np.prod([float(height + 1) for height in problem.heights])
    print(f"{len(names)} quasi-identifiers, {size:.2g} nodes, limit 10 %")
    for seconds in (10.0, 30.0):
        found = best_effort(problem, K, 0.1, seconds=seconds)
        steps = ", ".join(f"{loss:.4f} ({when:.1f} s)" for when, _, loss in found.trace[::4])
        print(f"{seconds:.0f} s: {found.checked} nodes, loss {found.loss:.4f}")
        print(f"   {steps}, {found.trace[-1][2]:.4f} ({found.trace[-1][0]:.1f} s)")
    budgets: dict[str, dict[str, Any]] = {
        "10 s": {"seconds": 10.0},
        "1,500 nodes": {"steps": 1500},
        "4,000 nodes": {"steps": 4000},
    }
    for name, budget in budgets.items():
        losses = [best_effort(problem, K, limit, **budget).loss for limit in LIMITS_AT_MOST]
        pairs = zip(LIMITS_AT_MOST, losses, strict=True)
        shown = ", ".join(f"{limit:.0%} {loss:.4f}" for limit, loss in pairs)
        ratio = losses[-1] / min(losses)
        print(f"{name} by limit: {shown}; the greatest limit over the best {ratio:.3f}")
    one, other = (best_effort(problem, K, 0.1, steps=3000) for _ in range(2))
    print(f"3,000 steps twice: equal {one.levels == other.levels}, loss {one.loss:.4f}")


SECTIONS = {
    "optimal": optimal_section,
    "scale": scale_section,
    "claims": claims_section,
    "meaning": meaning_section,
    "closeness": closeness_section,
    "threads": threads_section,
    "large": large_section,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=folder_with("tables/adult/adult.csv", CLAIMS), required=True)
    parser.add_argument("--sections", type=some_of(SECTIONS), default=",".join(SECTIONS))
    parser.add_argument("--once", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        name, limit = options.once.split(",")
        once(options.data, name, float(limit))
        return
    for name in options.sections.split(","):
        print(f"== {name}")
        SECTIONS[name](options.data)


if __name__ == "__main__":
    main()
