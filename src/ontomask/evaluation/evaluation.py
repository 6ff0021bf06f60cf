"""The account of a release: what was lost and what is still at risk, in one immutable object."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any

from ontomask.brevity import abridged
from ontomask.cards import card, table
from ontomask.checks import AnyOf, Choice, Declared, Flag, Integer, ListOf, Null, Real, check
from ontomask.evaluation import statistics as statistics_room
from ontomask.evaluation import utility as utility_room
from ontomask.evaluation.clustering import ClusteringLoss, measure_clustering
from ontomask.evaluation.linkage import DISTANCES, LinkageRisk, linked, linking, own_versions
from ontomask.evaluation.pairing import Paired
from ontomask.evaluation.risk import IntervalDisclosure
from ontomask.evaluation.statistics import Statistic, measure_statistics, related
from ontomask.evaluation.structure import ClassRisk, class_risk, disclosed_intervals
from ontomask.evaluation.unchanged import NOTHING_UNCHANGED, UnchangedRisk, unchanged_risk
from ontomask.evaluation.utility import Loss, made_ready, measure_loss
from ontomask.kernels.blocks import allowed_threads
from ontomask.wording import terse_percent

__all__ = ["DEFINITIONS", "Evaluation", "Row", "Settings", "evaluate_paired"]

Progress = Callable[[float, str], None]

FIRST = ("summary", "risk", "loss")
"""The sections that come first where an evaluation is printed."""

LOSS_DONE, STATISTICS_DONE = 0.1, 0.3
"""How far an evaluation usually is after these parts."""


def silent(fraction: float, message: str) -> None:
    """Report progress to nobody."""


DEFINITIONS = {
    **utility_room.DEFINITIONS,
    **statistics_room.DEFINITIONS,
    "classes": "number of different combinations of the quasi-identifiers",
    "smallest_class": "records in the smallest class",
    "uniques": "share of records that are alone in their class",
    "highest_risk": "prosecutor risk of the record at most risk: 1 / smallest class",
    "average_risk": "mean prosecutor risk, which is also the marketer risk: classes / records",
    "records_at_risk": "share of records whose risk 1 / class size is above the threshold",
    "linkage": "mean over records of 1 / |G| if the own masked version is among the "
    "nearest masked records G, else 0",
    "distinct_l": "least number of distinct sensitive values in a class",
    "homogeneous": "share of records in classes with a single sensitive value",
    "entropy_l": "least exponential of the entropy of sensitive values in a class",
    "closeness_t": "largest half sum of |p - q| between a class and the whole table",
    "intervals": "share of masked numbers within a share of the original",
    "alone_unchanged": "share of records that are alone with their values of all columns published "
    "unchanged",
    "clustering": "distance of the Ward clusterings before and after: 0 same, 1 unrelated",
    "notes": "what could not be read of the masked table",
    "score": "alpha L + (1 - alpha) linkage risk",
}


@dataclass(frozen=True)
class Row:
    """One figure of an evaluation with its definition."""

    section: str
    figure: str
    value: object
    definition: str


@dataclass(frozen=True)
class Evaluation:
    """What was lost and what is still at risk.

    Attributes
    ----------
    loss
        Distances moved, classes, divergence; in all and per column.
    released
        The same for what the masked table has something of: records left out do not count, and
        starred values as others do on average.
    statistics
        Means, variances and correlations before and after.
    clustering
        Whether the cluster structure survives, if asked for.
    risk_before, risk_after
        The class structure of the quasi-identifiers and the risks that follow from it.
    linkage
        Record linkage by each distance asked for.
    intervals
        For each numeric column the share of masked numbers within a share of the original.
    unchanged
        How many records the columns that are published as they are single out.
    alpha
        The weight of loss in the score.
    notes
        What could not be read of the masked table.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [30, 40, 50, 60]})
    >>> release = om.protect(frame, om.Schema(age=om.Numeric()), om.Microaggregation(k=2), seed=1)
    >>> evaluation = release.evaluate()
    >>> evaluation.risk_after.smallest_class, evaluation.risk
    (2, 0.5)
    >>> round(evaluation.loss.loss, 3), round(evaluation.score, 3)
    (0.2, 0.35)
    """

    loss: Loss
    released: Loss
    statistics: tuple[Statistic, ...]
    clustering: ClusteringLoss | None
    risk_before: ClassRisk
    risk_after: ClassRisk
    linkage: tuple[LinkageRisk, ...]
    intervals: tuple[tuple[str, IntervalDisclosure], ...] = ()
    unchanged: UnchangedRisk = NOTHING_UNCHANGED
    alpha: float = 0.5
    notes: tuple[str, ...] = ()

    @property
    def risk(self) -> float:
        """The highest linkage risk measured."""
        return max((one.risk for one in self.linkage), default=self.risk_after.average_risk)

    @property
    def score(self) -> float:
        """Alpha L + (1 - alpha) risk, with the evaluation's alpha."""
        return self.score_at(self.alpha)

    def score_at(self, alpha: float) -> float:
        """The score for another weight of loss against risk."""
        check("alpha", alpha, Real(0, 1))
        return alpha * self.loss.loss + (1.0 - alpha) * self.risk

    def curve(self, steps: int = 11) -> tuple[tuple[float, float], ...]:
        """The score over alpha from 0 to 1."""
        return tuple(
            (place / (steps - 1), self.score_at(place / (steps - 1))) for place in range(steps)
        )

    def rows(self) -> tuple[Row, ...]:
        """Every figure with its definition, one row each."""
        return tuple(self._rows())

    def as_dict(self) -> dict[str, Any]:
        """All figures as plain Python values."""
        return {**dataclasses.asdict(self), "risk": self.risk, "score": self.score}

    def to_json(self) -> str:
        """All figures as JSON."""
        return json.dumps(self.as_dict(), indent=1, sort_keys=True)

    def __repr__(self) -> str:
        loss, risk = terse_percent(self.loss.loss, 2), terse_percent(self.risk, 2)
        return f"Evaluation(loss {loss}, risk {risk})"

    def __str__(self) -> str:
        ordered = sorted(self.rows(), key=_importance)
        lines = [f"{row.section:12} {row.figure:42} {_shown(row.value)}" for row in ordered]
        return abridged(lines, "evaluation.rows() has them all")

    def _repr_html_(self) -> str:
        before, after = self.risk_before, self.risk_after
        facts = [
            ("information loss", terse_percent(self.loss.loss, 2)),
            ("records linked correctly", terse_percent(self.risk, 2)),
            ("score", terse_percent(self.score, 2)),
            ("smallest class", f"{before.smallest_class:,} → {after.smallest_class:,}"),
            (
                "unique records",
                f"{terse_percent(before.uniques, 1)} → {terse_percent(after.uniques, 1)}",
            ),
            ("suppressed", f"{self.loss.left_out:,} left out, {self.loss.starred:,} starred"),
        ]
        columns = [
            (one.name, terse_percent(one.changed, 1), one.semantic_loss)
            for one in self.loss.columns
        ]
        moved = table(["column", "values changed", "mean distance"], columns)
        return card("Evaluation", [*facts, *(("note", one) for one in self.notes)], moved)

    def _rows(self) -> Iterator[Row]:
        yield Row("summary", "score", self.score, DEFINITIONS["score"])
        for name, value in dataclasses.asdict(self.loss).items():
            if name != "columns" and value is not None:
                yield Row("loss", name, value, DEFINITIONS[name])
        for column in self.loss.columns:
            for name in ("semantic_loss", "rmse", "changed"):
                figure = f"{column.name}: {name}"
                definition = DEFINITIONS.get(name, "share of changed values of the column")
                yield Row("loss", figure, getattr(column, name), definition)
        for one in self.statistics:
            figure = f"{', '.join(one.columns)}: {one.name}"
            value = f"{_shown(one.original)} → {_shown(one.masked)}"
            yield Row("statistics", figure, value, DEFINITIONS[one.name])
        if self.clustering is not None:
            yield Row("clustering", "distance", self.clustering.distance, DEFINITIONS["clustering"])
        yield from self._risk_rows()

    def _risk_rows(self) -> Iterator[Row]:
        before, after = dataclasses.asdict(self.risk_before), dataclasses.asdict(self.risk_after)
        for name, value in before.items():
            if name in DEFINITIONS:
                shown = f"{_shown(value)} → {_shown(after[name])}"
                yield Row("risk", name, shown, DEFINITIONS[name])
        for first, second in zip(
            self.risk_before.sensitive, self.risk_after.sensitive, strict=True
        ):
            for name in ("distinct_l", "homogeneous", "entropy_l", "closeness_t"):
                shown = f"{_shown(getattr(first, name))} → {_shown(getattr(second, name))}"
                yield Row("risk", f"{first.column}: {name}", shown, DEFINITIONS[name])
        for column, found in self.intervals:
            if found.shares is not None:
                pairs = zip(found.widths, found.shares, strict=True)
                shown = ", ".join(f"{share:.3f} within {100 * width:g}%" for width, share in pairs)
                yield Row("risk", f"{column}: intervals", shown, DEFINITIONS["intervals"])
        if self.unchanged.columns:
            definition = DEFINITIONS["alone_unchanged"]
            yield Row("risk", "alone_unchanged", self.unchanged.alone, definition)
        for link in self.linkage:
            yield Row("risk", f"linkage, {link.distance}", link.risk, DEFINITIONS["linkage"])
        for note in self.notes:
            yield Row("note", "released labels", note, DEFINITIONS["notes"])


def _importance(row: Row) -> int:
    """Where a figure stands among those that are printed: what is about all columns comes first."""
    about_all = row.section in FIRST and ": " not in row.figure
    return FIRST.index(row.section) if about_all else len(FIRST)


def _shown(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Settings(Declared):
    """What to evaluate, checked when it is made; see `evaluate`."""

    columns: Annotated[
        Sequence[str] | None,
        "Columns whose loss is measured: quasi-identifiers and changed ones by default.",
    ] = None
    distances: Annotated[
        Sequence[str],
        ListOf(Choice(*DISTANCES)),
        "How an intruder may link: `semantic`, `matching`, `s-distance`, `euclidean`.",
    ] = ("semantic", "matching")
    k: Annotated[int | None, AnyOf(Integer(2), Null()), "For the class size relative to k."] = None
    threshold: Annotated[
        float,
        Real(0, 1, open_low=True),
        "Records whose risk 1 / class size is above it are counted.",
    ] = 0.2
    subdomains: Annotated[
        int, Integer(0), "Also compare the statistics on so many random subsamples."
    ] = 0
    fraction: Annotated[
        float,
        Real(0, 1, open_low=True),
        "The size of these subsamples, as a share of the records.",
    ] = 0.1
    clustering: Annotated[bool, Flag(), "Also compare Ward clusterings before and after."] = False
    alpha: Annotated[float, Real(0, 1), "The weight of loss against risk in the score."] = 0.5
    seed: Annotated[int, Integer(0), "For the random subsamples."] = 0


def _not_compared(paired: Paired, settings: Settings) -> Iterator[str]:
    """That a table is too wide for all pairs of its columns, if so."""
    compared, there = len(related(paired)), len(paired.columns)
    if settings.columns is None and compared < there:
        yield (
            f"Relations of two columns were measured of {compared} of the {there:,} columns, those "
            "that masking is about first; name others by columns=[…]."
        )


@contextmanager
def _linking(
    paired: Paired, columns: Sequence[str] | None, distances: Sequence[str]
) -> Iterator[Callable[[str], LinkageRisk]]:
    """How records are linked by a distance; which tuples became which is found once.

    Other threads, where there are any, begin with the first one that takes long.
    """
    versions = functools.cache(lambda: own_versions(paired))
    slow = [one for one in distances if one != "matching"]
    if not slow or allowed_threads() == 1:
        yield lambda distance: linked(versions(), distance)
        return
    made_ready(paired, columns)  # with all threads
    with linking(versions(), slow[0]) as outcome:
        yield lambda distance: outcome() if distance == slow[0] else linked(versions(), distance)


def _linkages(
    link: Callable[[str], LinkageRisk], distances: Sequence[str], progress: Progress
) -> Iterator[LinkageRisk]:
    """Link by each of the distances."""
    for place, distance in enumerate(distances):
        share = STATISTICS_DONE + (1.0 - STATISTICS_DONE) * place / len(distances)
        progress(share, f"record linkage, {distance}")
        yield link(distance)


def evaluate_paired(paired: Paired, settings: Settings, progress: Progress = silent) -> Evaluation:
    """Evaluate tables that have been paired."""
    links = settings.distances if paired.quasi() else ()
    progress(0.0, "information loss")
    with _linking(paired, settings.columns, links) as link:
        rest = _without_linkage(paired, settings, progress)
        linkage = tuple(_linkages(link, links, progress))
    progress(1.0, "")
    return replace(rest, linkage=linkage)


def _without_linkage(paired: Paired, settings: Settings, progress: Progress) -> Evaluation:
    loss = measure_loss(paired, settings.columns, k=settings.k)
    told = paired.without_suppressed()
    columns = [one.name for one in loss.columns]
    released = loss if told is paired else measure_loss(told, columns, k=settings.k)
    progress(LOSS_DONE, "statistics")
    statistics = measure_statistics(
        paired,
        settings.columns,
        subdomains=settings.subdomains,
        fraction=settings.fraction,
        seed=settings.seed,
    )
    clustering = measure_clustering(paired, seed=settings.seed) if settings.clustering else None
    return Evaluation(
        loss=loss,
        released=released,
        statistics=statistics,
        clustering=clustering,
        risk_before=class_risk(paired, "old", settings.threshold),
        risk_after=class_risk(paired, "new", settings.threshold),
        intervals=disclosed_intervals(paired),
        unchanged=unchanged_risk(paired),
        linkage=(),
        alpha=settings.alpha,
        notes=(*paired.notes, *_not_compared(paired, settings)),
    )
