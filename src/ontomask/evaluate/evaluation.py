"""The account of a release: what was lost and what is still at risk, in one immutable object."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ontomask.arrays import Longs
from ontomask.checks import AnyOf as OneOf
from ontomask.checks import Choice, Constraint, Flag, Integer, ListOf, Null, Real, check
from ontomask.data.schema import Schema
from ontomask.evaluate import statistics as statistics_room
from ontomask.evaluate import utility as utility_room
from ontomask.evaluate.clustering import ClusteringLoss, measure_clustering
from ontomask.evaluate.linkage import DISTANCES, LinkageRisk, link_paired
from ontomask.evaluate.pairing import Paired, pair_tables
from ontomask.evaluate.statistics import Statistic, measure_statistics
from ontomask.evaluate.structure import ClassRisk, class_risk
from ontomask.evaluate.utility import Loss, measure_loss

__all__ = ["DEFINITIONS", "Evaluation", "Row", "evaluate", "evaluate_paired"]

DEFINITIONS = {
    **utility_room.DEFINITIONS,
    **statistics_room.DEFINITIONS,
    "classes": "number of different combinations of the quasi-identifiers",
    "smallest_class": "records in the smallest class",
    "uniques": "share of records that are alone in their class",
    "highest_risk": "prosecutor risk of the record at most risk: 1 / smallest class",
    "average_risk": "mean prosecutor risk, which is also the marketer risk: classes / records",
    "records_at_risk": "share of records whose risk 1 / class size is above the threshold",
    "linkage": "100 times the mean over records of 1 / |G| if the own masked version is among the "
    "nearest masked records G, else 0",
    "clustering": "distance of the Ward clusterings before and after: 0 same, 1 unrelated",
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
    statistics
        Means, variances and correlations before and after.
    clustering
        Whether the cluster structure survives, if asked for.
    risk_before, risk_after
        The class structure of the quasi-identifiers and the risks that follow from it.
    linkage
        Record linkage by each distance asked for.
    alpha
        The weight of loss in the score.
    """

    loss: Loss
    statistics: tuple[Statistic, ...]
    clustering: ClusteringLoss | None
    risk_before: ClassRisk
    risk_after: ClassRisk
    linkage: tuple[LinkageRisk, ...]
    alpha: float = 0.5

    @property
    def risk(self) -> float:
        """The highest linkage risk measured, in percent."""
        return max((one.risk for one in self.linkage), default=100.0 * self.risk_after.average_risk)

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

    def __str__(self) -> str:
        lines = [f"{row.section:12} {row.figure:42} {_shown(row.value)}" for row in self.rows()]
        return "\n".join(lines)

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
        for link in self.linkage:
            yield Row("risk", f"linkage, {link.distance}", link.risk, DEFINITIONS["linkage"])


def _shown(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def evaluate(
    original: object,
    masked: object,
    schema: Schema,
    *,
    columns: Sequence[str] | None = None,
    distances: Sequence[str] = ("semantic", "matching"),
    k: int | None = None,
    threshold: float = 0.2,
    subdomains: int = 0,
    fraction: float = 0.1,
    clustering: bool = False,
    alpha: float = 0.5,
    seed: int = 0,
) -> Evaluation:
    """Compare an original and a masked table, record by record.

    Parameters
    ----------
    original, masked
        Tables with corresponding records; the masked one may come from any tool.
    schema
        What the columns are.
    columns
        Columns whose loss is measured: quasi-identifiers and changed ones by default.
    distances
        How an intruder may link: `semantic`, `matching`, `s-distance`, `euclidean`.
    k
        For the class size relative to k.
    threshold
        Records whose risk 1 / class size is above it are counted.
    subdomains, fraction
        Also compare the statistics on so many random subsamples of that size.
    clustering
        Also compare Ward clusterings before and after.
    alpha
        The weight of loss against risk in the score.
    seed
        For the random subsamples.
    """
    settings: dict[str, Any] = {
        "columns": columns,
        "distances": distances,
        "k": k,
        "threshold": threshold,
        "subdomains": subdomains,
        "fraction": fraction,
        "clustering": clustering,
        "alpha": alpha,
        "seed": seed,
    }
    _check(settings)
    return evaluate_paired(pair_tables(original, masked, schema), **settings)


def evaluate_kept(
    original: object, masked: object, schema: Schema, rows: Longs, settings: dict[str, Any]
) -> Evaluation:
    """Evaluate a release that holds only some of the original records."""
    _check(settings)
    return evaluate_paired(pair_tables(original, masked, schema, rows=rows), **settings)


def evaluate_paired(
    paired: Paired,
    *,
    columns: Sequence[str] | None = None,
    distances: Sequence[str] = ("semantic", "matching"),
    k: int | None = None,
    threshold: float = 0.2,
    subdomains: int = 0,
    fraction: float = 0.1,
    clustering: bool = False,
    alpha: float = 0.5,
    seed: int = 0,
) -> Evaluation:
    """Evaluate tables that have been paired."""
    quasi = paired.quasi()
    return Evaluation(
        loss=measure_loss(paired, columns, k=k),
        statistics=measure_statistics(
            paired, columns, subdomains=subdomains, fraction=fraction, seed=seed
        ),
        clustering=measure_clustering(paired, seed=seed) if clustering else None,
        risk_before=class_risk(quasi, "old", paired.weights, threshold),
        risk_after=class_risk(quasi, "new", paired.weights, threshold),
        linkage=tuple(link_paired(paired, one) for one in distances) if quasi else (),
        alpha=alpha,
    )


_CONSTRAINTS: dict[str, Constraint] = {
    "distances": ListOf(Choice(*DISTANCES)),
    "k": OneOf(Integer(2), Null()),
    "threshold": Real(0, 1, open_low=True),
    "subdomains": Integer(0),
    "fraction": Real(0, 1, open_low=True),
    "clustering": Flag(),
    "alpha": Real(0, 1),
    "seed": Integer(0),
}


def _check(settings: dict[str, Any]) -> None:
    for name, constraint in _CONSTRAINTS.items():
        if name in settings:
            check(name, settings[name], constraint)
