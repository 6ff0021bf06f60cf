"""What was lost: distances moved, classes, distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Floats
from ontomask.data.microdata import group_rows
from ontomask.data.schema import Ordinal
from ontomask.evaluation.pairing import Amounts, Paired, PairedColumn, tuple_groups
from ontomask.semantics.dependence import semantic_mean
from ontomask.semantics.moments import mean
from ontomask.semantics.sample import Sample

__all__ = ["DEFINITIONS", "ColumnLoss", "Loss", "measure_loss"]

DEFINITIONS = {
    "sse": "sum over records, each with its weight, of the squared mean distance of original and "
    "masked values",
    "sst": "the same sum against the centroid of the whole original table",
    "loss": "L = 100 SSE / SST: 0 nothing lost, 100 as if every record were the centroid",
    "numeric_loss": "100 SSE / SST of the numeric columns, squared differences in deviations",
    "semantic_loss": "mean over records and columns of the distance of original and masked value",
    "records_changed": "share of records with at least one changed value",
    "values_changed": "share of changed values",
    "suppressed": "records that are not in the masked table, each as often as its count says (in "
    "sums it counts, with its weight, as moved by 1)",
    "discernibility": "sum over classes of the masked table of the squared class size",
    "average_class_size": "records per class of the masked table",
    "normalized_class_size": "average class size divided by k",
    "kl_divergence": "sum over original tuples of f ln(f / f'), f' at least 1 / (n + p) for n "
    "records and p tuples",
    "rmse": "square root of the mean squared distance of original and masked value",
}


@dataclass(frozen=True)
class ColumnLoss:
    """What one column lost; numbers are measured in standard deviations, `raw_sse` as they are."""

    name: str
    sse: float
    semantic_loss: float
    rmse: float
    changed: float
    raw_sse: float | None


@dataclass(frozen=True)
class Loss:
    """What the table lost; see `DEFINITIONS` for each figure."""

    sse: float
    sst: float
    loss: float
    numeric_loss: float | None
    semantic_loss: float
    records_changed: float
    values_changed: float
    suppressed: int
    discernibility: float
    average_class_size: float
    normalized_class_size: float | None
    kl_divergence: float
    columns: tuple[ColumnLoss, ...]


def measure_loss(
    paired: Paired, columns: Sequence[str] | None = None, *, k: int | None = None
) -> Loss:
    """Measure the loss over some columns: quasi-identifiers and changed ones by default."""
    chosen = paired.chosen(columns) or list(paired.columns.values())
    moved = np.array([one.moved for one in chosen])
    changed = np.array([one.changed for one in chosen])
    weights, total = paired.weights, float(paired.weights.sum())
    lost = paired.suppressed_people
    sse = float(weights @ moved.mean(axis=0) ** 2) + lost
    spread = np.array([_from_centroid(one) for one in chosen])
    sst = float(weights @ spread.mean(axis=0) ** 2) + lost
    sizes = _class_sizes(paired.quasi() or chosen, paired.counts)
    average = float(paired.counts.sum()) / sizes.size
    return Loss(
        sse=sse,
        sst=sst,
        loss=100.0 * sse / sst if sst > 0 else 0.0,
        numeric_loss=_numeric_loss(chosen),
        semantic_loss=(float(weights @ moved.mean(axis=0)) + lost) / (total + lost),
        records_changed=float(weights @ changed.any(axis=0)) / total,
        values_changed=float(weights @ changed.mean(axis=0)) / total,
        suppressed=int(paired.suppressed),
        discernibility=float((sizes**2).sum()),
        average_class_size=average,
        normalized_class_size=average / k if k else None,
        kl_divergence=_divergence(paired.quasi() or chosen, paired.amounts),
        columns=tuple(_column_loss(one) for one in chosen),
    )


def _column_loss(one: PairedColumn) -> ColumnLoss:
    weights = one.amounts.weights
    total = float(weights.sum())
    squares = float(weights @ one.moved**2)
    raw = None
    if one.old_numbers is not None and one.new_numbers is not None:
        raw = float(np.nansum(weights * (one.old_numbers - one.new_numbers) ** 2))
    return ColumnLoss(
        one.name,
        squares,
        float(weights @ one.moved) / total,
        float(np.sqrt(squares / total)),
        float(weights @ one.changed) / total,
        raw,
    )


def _from_centroid(one: PairedColumn) -> Floats:
    """Distance of each original value to the centroid of its column."""
    if one.old_numbers is not None:
        known = ~np.isnan(one.old_numbers)
        center = mean(one.old_numbers[known], one.amounts.weights[known])
        return np.where(known, np.abs(one.old_numbers - center) / one.deviation, 1.0)
    if one.space is not None and one.concepts is not None:
        return _from_concept(one)[one.old]
    if one.size == 0:  # nothing but missing values
        return np.zeros(one.old.size)
    people = np.bincount(one.old, weights=one.amounts.weights, minlength=one.size + 1)[:-1]
    if isinstance(one.column, Ordinal):
        middle = int(np.searchsorted(np.cumsum(people), people.sum() / 2.0))
    else:
        middle = int(people.argmax())
    result: Floats = one.table[middle][one.old]
    return result


def _from_concept(one: PairedColumn) -> Floats:
    """Distance of each concept of the domain to the semantic mean; missing values at 1."""
    assert one.space is not None
    assert one.concepts is not None
    known = one.old < one.size
    concepts, codes = np.unique(one.old[known], return_inverse=True)
    sample = Sample(one.space, one.concepts[concepts], codes, one.amounts.weights[known])
    center = one.space.taxonomy.index_of(semantic_mean(sample))
    from_center: Floats = one.distances.between(np.array([center]), one.numbered)[0]
    return from_center


def _numeric_loss(columns: list[PairedColumn]) -> float | None:
    errors = total = 0.0
    for one in columns:
        if one.old_numbers is not None:
            errors += float(one.amounts.weights @ one.moved**2)
            total += float(one.amounts.weights @ _from_centroid(one) ** 2)
    return 100.0 * errors / total if total > 0 else None


def _class_sizes(columns: list[PairedColumn], counts: Floats) -> Floats:
    firsts, places = tuple_groups(columns, "new")
    return np.bincount(places, weights=counts, minlength=firsts.size).astype(np.float64)


def _divergence(columns: list[PairedColumn], amounts: Amounts) -> float:
    """Kullback-Leibler divergence of the tuple distributions; vanished tuples take a floor."""
    both = [np.concatenate([one.old, one.new]) for one in columns]
    keys = group_rows(both, [one.size + 1 for one in columns])[1]
    weights, count = amounts.weights, amounts.weights.size
    size = int(keys.max()) + 1
    before = np.bincount(keys[:count], weights=weights, minlength=size)
    after = np.bincount(keys[count:], weights=weights, minlength=size)
    total = float(weights.sum())
    present = before > 0
    floor = 1.0 / (amounts.counts.sum() + np.count_nonzero(present))
    shares = before[present] / total
    others = np.maximum(after[present] / total, floor)
    return float(shares @ np.log(shares / others))
