"""The tables that stand in for those of the thesis, and how its experiments measure a release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from typing import Any

import polars as pl

import ontomask as om
from studies.data import Data
from studies.study import Claim, Clock, Figure, ResultTable

__all__ = [
    "MAPPING",
    "Grid",
    "Make",
    "Material",
    "Outcome",
    "Part",
    "averaged",
    "census_material",
    "chosen",
    "counted",
    "falling",
    "grid_table",
    "halves",
    "measured",
    "poll_material",
    "record_material",
    "rising",
    "rows_of",
    "run_grid",
    "tuple_counts",
]

MAPPING = Path(__file__).parent / "adult_wordnet.csv"
"""Table 12 of the thesis, with the values of Adult that it leaves out."""

CENSUS_COLUMNS = ("occupation", "native-country")
RECORD_COLUMNS = ("dx_principal", "dx_secondary")
POLL_RECORDS = 975
HOSPITAL_RECORDS = 3006
SEED = 1
REPEATS, LONG = 2, 0.2
"""Masking that takes less than so many seconds is repeated, and the least time counts."""

QUICK_KS = (2, 5, 8)

Make = Callable[[int], Any]
"""Makes a method for a k."""


@dataclass(frozen=True)
class Part:
    """What one chapter contributes to the findings."""

    tables: tuple[ResultTable, ...]
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]
    discrepancies: tuple[str, ...] = ()


# Tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Material:
    """A table of two nominal quasi-identifiers.

    `quick` asks for few k and draws. `schema` compares values by logSC; `view` gives the same
    columns compared by another measure.
    """

    name: str
    frame: pl.DataFrame
    taxonomy: om.Taxonomy
    overrides: Path | None = None
    quick: bool = False

    def view(self, measure: str) -> om.Schema:
        """The columns as a measure sees them; depth is counted from the ontology's root."""
        column = om.Nominal(
            self.taxonomy, measure=measure, root="taxonomy", overrides=self.overrides, output="id"
        )
        return om.Schema.of(dict.fromkeys(self.frame.columns, column))

    @property
    def schema(self) -> om.Schema:
        """The columns compared by logSC, the measure of the thesis."""
        return self.view("logsc")

    def only(self, name: str, frame: pl.DataFrame) -> Material:
        """Other records or fewer columns of the same kind."""
        return replace(self, name=name, frame=frame)

    def concepts(self, column: str) -> list[str]:
        """The concept of each record."""
        mapping = self.taxonomy.map(self.frame[column].to_list(), overrides=self.overrides)
        return [self.taxonomy.ids[mapping.concepts[place]] for place in mapping.positions]


def census_material(data: Data, quick: bool = False) -> Material:
    """Adult without records that have gaps: the second table of the thesis."""
    frame = data["adult"].drop_nulls().select(CENSUS_COLUMNS)
    return Material("census", frame, om.load_taxonomy("wordnet"), MAPPING, quick)


def poll_material(data: Data, quick: bool = False) -> Material:
    """A sample of people born abroad: as uneven as the poll of the thesis, with the same size."""
    abroad = data["adult"].drop_nulls().filter(pl.col("native-country") != "United-States")
    sample = abroad.sample(min(POLL_RECORDS, abroad.height), seed=SEED).select(CENSUS_COLUMNS)
    return Material("poll", sample, om.load_taxonomy("wordnet"), MAPPING, quick)


def record_material(data: Data, quick: bool = False) -> Material:
    """A sample of digestive claims: as uneven as the hospital's records, with the same size."""
    claims = data["digestive"].drop_nulls(RECORD_COLUMNS)
    sample = claims.sample(min(HOSPITAL_RECORDS, claims.height), seed=SEED)
    taxonomy = om.load_taxonomy("icd9cm")
    return Material("records", sample.select(RECORD_COLUMNS), taxonomy, quick=quick)


def tuple_counts(frame: pl.DataFrame) -> list[int]:
    """How often each combination of values occurs, the most frequent first."""
    counts: list[int] = frame.group_by(frame.columns).len()["len"].sort(descending=True).to_list()
    return counts


# Measuring a release --------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What a release lost and risks, and how long masking took (reading and proving left out).

    `linkage` and `matching` look for the nearest, or equal, masked records of an original (Eq.
    8.3); `printed_linkage` for the equal original records of a masked one (Eq. 5.7).
    """

    loss: float
    sse: float
    semantic_loss: float
    divergence: float
    linkage: float
    matching: float
    printed_linkage: float
    seconds: float

    def score(self, alpha: float = 0.5) -> float:
        """Eq. 6.5, by the printed linkage."""
        return alpha * self.loss + (1.0 - alpha) * self.printed_linkage

    def semantic_score(self, alpha: float = 0.5) -> float:
        """Eq. 6.5, by semantic linkage."""
        return alpha * self.loss + (1.0 - alpha) * self.linkage


def measured(material: Material, method: Any, seed: int, measure: str = "logsc") -> Outcome:
    """Mask with logSC (unless the method has a measure of its own) and judge by a measure."""
    release = om.protect(material.frame, material.schema, method, seed)
    seconds = _masking_seconds(release)
    for _ in range(0 if material.quick or seconds > LONG else REPEATS):
        again = om.protect(material.frame, material.schema, method, seed)
        seconds = min(seconds, _masking_seconds(again))
    view = material.view(measure)
    found = om.evaluate(material.frame, release.frame, view)
    semantic, matching = (100.0 * one.risk for one in found.linkage)
    swapped = om.measuring.record_linkage(release.frame, material.frame, view, distance="matching")
    return Outcome(
        100.0 * found.loss.loss,
        found.loss.sse,
        found.loss.semantic_loss,
        found.loss.kl_divergence,
        semantic,
        matching,
        100.0 * swapped.risk,
        seconds,
    )


def _masking_seconds(release: om.Release) -> float:
    return sum(spent for step, spent in release.timings.items() if step.startswith("step"))


def halves(outcomes: Mapping[int, Outcome]) -> tuple[float, float]:
    """The median seconds of the lower and of the upper half of k."""
    seconds = [one.seconds for one in outcomes.values()]
    middle = (len(seconds) + 1) // 2
    return median(seconds[:middle]), median(seconds[middle:] or seconds)


def averaged(
    material: Material, make: Make, k: int, seeds: Sequence[int], measure: str = "logsc"
) -> Outcome:
    """The mean outcome over seeds."""
    found = [measured(material, make(k), seed, measure) for seed in seeds]
    names = tuple(vars(found[0]))
    return Outcome(*(mean(getattr(one, name) for one in found) for name in names))


# Saying what was found ------------------------------------------------------------------------


def rising(numbers: Iterable[float], slack: float = 0.0) -> list[bool]:
    """Whether each number is at least the one before it (but for some slack)."""
    return [later >= earlier - slack for earlier, later in pairwise(numbers)]


def falling(numbers: Iterable[float], slack: float = 0.0) -> list[bool]:
    """Whether each number is at most the one before it (but for some slack)."""
    return rising([-number for number in numbers], slack)


def counted(tests: Sequence[bool], what: str = "k") -> str:
    """How many tests passed, in words."""
    return f"{sum(tests)} of {len(tests)} {what}"


def chosen(ks: Sequence[int], material: Material) -> tuple[int, ...]:
    """The k that the table is large enough for; a few of them in a quick run."""
    fitting = tuple(k for k in ks if 2 * k <= material.frame.height)
    return tuple(k for k in fitting if k in QUICK_KS) if material.quick else fitting


Grid = Mapping[str, Mapping[int, Outcome]]


def rows_of(grid: Grid, **figures: Callable[[Outcome], float]) -> list[dict[str, Any]]:
    """Each method and k with some figures, for charts."""
    return [
        {"method": method, "k": k, **{name: of(one) for name, of in figures.items()}}
        for method, outcomes in grid.items()
        for k, one in outcomes.items()
    ]


def grid_table(
    name: str, title: str, grid: Grid, figure: Callable[[Outcome], float], note: str = ""
) -> ResultTable:
    """A row for each k, a column for each method."""
    ks = list(next(iter(grid.values())))
    rows = tuple((k, *(figure(outcomes[k]) for outcomes in grid.values())) for k in ks)
    return ResultTable(name, title, ("k", *grid), rows, note)


def run_grid(
    material: Material,
    methods: Mapping[str, Make],
    ks: Sequence[int],
    clock: Clock,
    chapter: str,
    *,
    measure: str = "logsc",
    seeds: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, dict[int, Outcome]]:
    """Mask and judge by every method for every k; the time of masking is told for each method."""
    grid: dict[str, dict[int, Outcome]] = {}
    for method, make in methods.items():
        several = (SEED,) if material.quick else (seeds or {}).get(method, (SEED,))
        om.protect(material.frame, material.schema, make(ks[0]), SEED)  # loads compiled code
        judging = f"{chapter}: judging and everything else"
        with clock.part(judging):
            grid[method] = {k: averaged(material, make, k, several, measure) for k in ks}
        times = [one.seconds for one in grid[method].values()]
        each = f"{times[0]:.3f} s at k = {ks[0]}, {times[-1]:.3f} s at k = {ks[-1]}"
        spent = len(several) * sum(times)
        clock.seconds[f"{chapter}: masking {material.name} by {method} ({each})"] = spent
        clock.seconds[judging] -= spent
    return grid
