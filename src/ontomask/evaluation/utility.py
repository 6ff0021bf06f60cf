"""What was lost: distances moved, classes, distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ontomask.arithmetic import log, summed_products, summed_rows
from ontomask.arrays import Bools, Floats
from ontomask.brevity import Brief
from ontomask.data.schema import Ordinal
from ontomask.evaluation.pairing import Amounts, Paired, PairedColumn, are_many, tuple_groups
from ontomask.evaluation.sides import CodedSides, NumberSides
from ontomask.evaluation.tuples import PairedTuples
from ontomask.kernels.blocks import side_by_side
from ontomask.semantics.distances import MISSING_DISTANCE
from ontomask.semantics.moments import mean

__all__ = ["DEFINITIONS", "ColumnLoss", "Loss", "made_ready", "measure_loss"]

DEFINITIONS = {
    "sse": "sum over records, each with its weight, of the squared mean distance of original and "
    "masked values",
    "sst": "the same sum against the centroid of the whole original table",
    "loss": "L = SSE / SST, at most 1: 0 nothing lost, 1 as if every record were the "
    "centroid; values that stand for several are compared with stars instead, so that stars "
    "everywhere are 1 too",
    "numeric_loss": "SSE / SST of the numeric columns, squared differences in deviations",
    "semantic_loss": "mean over records and columns of the distance of original and masked value",
    "records_changed": "share of records with at least one changed value",
    "values_changed": "share of changed values",
    "suppressed": "records left out or starred",
    "left_out": "records that are not in the masked table, each as often as its count says (in "
    "sums it counts, with its weight, as moved by 1)",
    "starred": "records of the masked table that lost all their quasi-identifiers, which are stars "
    "or missing",
    "discernibility": "sum over classes of the masked table of the squared class size",
    "average_class_size": "records per class of the masked table",
    "normalized_class_size": "average class size divided by k",
    "kl_divergence": "sum over original tuples of f ln(f / f'), f' at least 1 / (n + p) for n "
    "records and p tuples",
    "rmse": "square root of the mean squared distance of original and masked value",
}


@dataclass(frozen=True)
class ColumnLoss:
    """What one column lost; numbers are measured in standard deviations, `raw_sse` as they are.

    `deviation` is what a distance of 1 is in the unit of the numbers; None where there are none.
    """

    name: str
    sse: float
    semantic_loss: float
    rmse: float
    changed: float
    raw_sse: float | None
    deviation: float | None = None


@dataclass(frozen=True)
class Loss(Brief):
    """What the table lost; see `DEFINITIONS` for each figure."""

    sse: float
    sst: float
    loss: float
    numeric_loss: float | None
    semantic_loss: float
    records_changed: float
    values_changed: float
    suppressed: int
    left_out: int
    starred: int
    discernibility: float
    average_class_size: float
    normalized_class_size: float | None
    kl_divergence: float
    columns: tuple[ColumnLoss, ...]


def measure_loss(
    paired: Paired, columns: Sequence[str] | None = None, *, k: int | None = None
) -> Loss:
    """Measure the loss over some columns: quasi-identifiers and changed ones by default."""
    chosen = made_ready(paired, columns)
    changed = np.array([_touched(one) for one in chosen])
    weights, total = paired.weights, float(paired.weights.sum())
    lost = paired.people_left_out
    moved = np.mean([one.moved for one in chosen], axis=0)
    sums = _sums(chosen, weights)
    sizes = _class_sizes(paired.quasi() or chosen, paired.counts)
    average = float(paired.counts.sum()) / sizes.size
    return Loss(
        sse=summed_products(weights, moved**2) + lost,
        sst=sums.center + lost,
        loss=sums.share(lost) or 0.0,
        numeric_loss=_numeric_loss(chosen),
        semantic_loss=(summed_products(weights, moved) + lost) / (total + lost),
        records_changed=summed_products(weights, np.any(changed, axis=0)) / total,
        values_changed=summed_products(weights, changed.mean(axis=0)) / total,
        suppressed=int(paired.left_out + paired.starred),
        left_out=int(paired.left_out),
        starred=int(paired.starred),
        discernibility=float((sizes**2).sum()),
        average_class_size=average,
        normalized_class_size=average / k if k else None,
        kl_divergence=_divergence(paired.quasi() or chosen, paired.amounts),
        columns=tuple(_column_loss(one) for one in chosen),
    )


def made_ready(paired: Paired, columns: Sequence[str] | None = None) -> list[PairedColumn]:
    """The columns whose loss is measured; what takes long of each is found on all cores."""
    chosen = paired.chosen(columns) or list(paired.columns.values())
    side_by_side(_make_ready, chosen, shares=are_many(chosen))
    return chosen


def _make_ready(one: PairedColumn) -> None:
    """Find what takes long of a column, which remembers it."""
    _ = one.moved, one.starred
    if isinstance(one.sides, CodedSides) and one.sides.distances.space is not None:
        _ = one.sides.center if one.sides.people[:-1].any() else None


class _Sums(NamedTuple):
    """What a loss is made of: sums of squared distances of whole records.

    Attributes
    ----------
    error
        From the original to the released values.
    center
        From the original values to the centroid of the table.
    """

    error: float
    center: float

    def share(self, lost: float = 0.0) -> float | None:
        """The loss, where so many people are lost altogether."""
        total = self.center + lost
        return min(1.0, (self.error + lost) / total) if total > 0 else None


def _sums(columns: list[PairedColumn], weights: Floats) -> _Sums:
    """The sums of squares of some columns.

    A star is farther from most values than the centroid is, since it is no guess. So what stands
    for several is measured by what stars everywhere would cost, and points by what the centroid
    would: both ways of telling nothing are a loss of 1.
    """
    center = summed_products(
        weights, np.mean([_from_centroid(one) for one in columns], axis=0) ** 2
    )
    stars = summed_products(weights, np.mean([one.starred for one in columns], axis=0) ** 2)
    scale = np.sqrt(center / stars) if stars > 0 else 1.0
    scaled = [np.where(one.stands_for_several, scale, 1.0) * one.moved for one in columns]
    return _Sums(summed_products(weights, np.mean(scaled, axis=0) ** 2), center)


def _column_loss(one: PairedColumn) -> ColumnLoss:
    weights = one.amounts.weights
    total = float(weights.sum())
    squares = summed_products(weights, one.moved**2)
    raw = deviation = None
    if isinstance(one.sides, NumberSides):
        known = ~(one.sides.tells_nothing[one.new] | (one.old == one.sides.size))
        deviation = float(one.sides.deviation)
        raw = summed_products(weights[known], one.moved[known] ** 2) * deviation**2
    return ColumnLoss(
        one.name,
        squares,
        summed_products(weights, one.moved) / total,
        float(np.sqrt(squares / total)),
        summed_products(weights, _touched(one)) / total,
        raw,
        deviation,
    )


def _touched(one: PairedColumn) -> Bools:
    """Whether each value was changed or suppressed."""
    return one.changed if one.hidden is None else one.changed | one.hidden


def _from_centroid(one: PairedColumn) -> Floats:
    """Distance of each record's original value to the centroid of its column."""
    sides = one.sides
    if not sides.people[:-1].any():  # nothing but missing values
        return np.zeros(one.old.size)
    if isinstance(sides, NumberSides):
        center = mean(sides.numbers[:-1], sides.people[:-1])
        distances = np.abs(sides.numbers - center) / sides.deviation
        return one.filled(np.where(np.isnan(distances), MISSING_DISTANCE, distances)[one.old])
    return one.filled(_from_value(one, sides)[one.old])


def _from_value(one: PairedColumn, sides: CodedSides) -> Floats:
    """Distance of each original value to the one in the middle: semantic mean, median or mode."""
    people, every = sides.people[:-1], np.arange(sides.values.size)
    if sides.distances.space is not None:
        from_center: Floats = sides.distances.between(np.array([sides.center]), sides.values)[0]
        return from_center
    if sides.distances.table is not None:
        middle = int(summed_rows(sides.originals_apart(every[:-1], every[:-1]), people).argmin())
    elif isinstance(one.column, Ordinal):
        middle = int(np.searchsorted(np.cumsum(people), people.sum() / 2.0))
    else:
        middle = int(people.argmax())
    from_middle: Floats = sides.originals_apart(every[[middle]], every)[0]
    return from_middle


def _numeric_loss(columns: list[PairedColumn]) -> float | None:
    numeric = [_sums([one], one.amounts.weights) for one in columns if one.is_numeric]
    errors, total = (sum(one[place] for one in numeric) for place in range(2))
    return _Sums(errors, total).share()


def _class_sizes(columns: list[PairedColumn], counts: Floats) -> Floats:
    firsts, places = tuple_groups(columns, "new")
    return np.bincount(places, weights=counts, minlength=firsts.size).astype(np.float64)


def _divergence(columns: list[PairedColumn], amounts: Amounts) -> float:
    """Kullback-Leibler divergence of the tuple distributions; vanished tuples take a floor.

    A released tuple that stands for several is spread over the values below it, in each column by
    how often they occur.
    """
    tuples = PairedTuples.of(columns, amounts.weights)
    total = float(amounts.weights.sum())
    floor = 1.0 / (amounts.counts.sum() + tuples.people.size)
    shares = tuples.people / total
    others = np.maximum(tuples.covered("shares") / total, floor)
    return summed_products(shares, log(shares / others))
