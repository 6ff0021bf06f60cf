"""What was lost: distances moved, classes, distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Floats
from ontomask.data.microdata import group_rows
from ontomask.data.schema import Ordinal
from ontomask.evaluation.pairing import Paired, PairedColumn, tuple_groups
from ontomask.semantics.dependence import semantic_mean
from ontomask.semantics.sample import Sample

__all__ = ["DEFINITIONS", "ColumnLoss", "Loss", "measure_loss"]

DEFINITIONS = {
    "sse": "sum over records of the squared mean distance of original and masked values",
    "sst": "the same sum against the centroid of the whole original table",
    "loss": "L = 100 SSE / SST: 0 nothing lost, 100 as if every record were the centroid",
    "numeric_loss": "100 SSE / SST of the numeric columns, squared differences in deviations",
    "semantic_loss": "mean over records and columns of the distance of original and masked value",
    "records_changed": "share of records with at least one changed value",
    "values_changed": "share of changed values",
    "suppressed": "records that are not in the masked table (each counts as moved by 1)",
    "discernibility": "sum over classes of the masked table of the squared class size",
    "average_class_size": "records per class of the masked table",
    "normalized_class_size": "average class size divided by k",
    "kl_divergence": "sum over original tuples of f ln(f / f'), f' at least 1 / (n + p)",
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
    sse = float(weights @ moved.mean(axis=0) ** 2) + paired.suppressed
    spread = np.array([_from_centroid(one) for one in chosen])
    sst = float(weights @ spread.mean(axis=0) ** 2) + paired.suppressed
    sizes = _class_sizes(paired.quasi() or chosen, weights)
    average = total / sizes.size
    everyone = total + paired.suppressed
    return Loss(
        sse=sse,
        sst=sst,
        loss=100.0 * sse / sst if sst > 0 else 0.0,
        numeric_loss=_numeric_loss(chosen, weights),
        semantic_loss=(float(weights @ moved.mean(axis=0)) + paired.suppressed) / everyone,
        records_changed=float(weights @ changed.any(axis=0)) / total,
        values_changed=float(weights @ changed.mean(axis=0)) / total,
        suppressed=int(paired.suppressed),
        discernibility=float((sizes**2).sum()),
        average_class_size=average,
        normalized_class_size=average / k if k else None,
        kl_divergence=_divergence(paired.quasi() or chosen, weights),
        columns=tuple(_column_loss(one, weights) for one in chosen),
    )


def _column_loss(one: PairedColumn, weights: Floats) -> ColumnLoss:
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
        numbers = one.old_numbers
        distance = np.abs(numbers - np.nanmean(numbers)) / one.deviation
        return np.where(np.isnan(numbers), 1.0, distance)
    counts = np.bincount(one.old, minlength=one.size + 1).astype(np.float64)
    if one.space is not None and one.concepts is not None:
        return _from_concept(one)[one.old]
    if isinstance(one.column, Ordinal):
        center = int(np.searchsorted(np.cumsum(counts[:-1]), counts[:-1].sum() / 2.0))
    elif one.size == 0:  # nothing but missing values
        return np.zeros(one.old.size)
    else:
        center = int(counts[:-1].argmax())
    result: Floats = one.table[center][one.old]
    return result


def _from_concept(one: PairedColumn) -> Floats:
    """Distance of each concept of the domain to the semantic mean; missing values at 1."""
    assert one.space is not None
    assert one.concepts is not None
    known = one.old[one.old < one.size]
    concepts, codes = np.unique(known, return_inverse=True)
    sample = Sample(one.space, one.concepts[concepts], codes)
    mean = one.space.taxonomy.index_of(semantic_mean(sample))
    distances = one.space.between(np.array([mean]), one.concepts)[0]
    return np.append(distances, 1.0)


def _numeric_loss(columns: list[PairedColumn], weights: Floats) -> float | None:
    errors = total = 0.0
    for one in columns:
        if one.old_numbers is not None:
            errors += float(weights @ one.moved**2)
            total += float(weights @ _from_centroid(one) ** 2)
    return 100.0 * errors / total if total > 0 else None


def _class_sizes(columns: list[PairedColumn], weights: Floats) -> Floats:
    firsts, places = tuple_groups(columns, "new")
    return np.bincount(places, weights=weights, minlength=firsts.size).astype(np.float64)


def _divergence(columns: list[PairedColumn], weights: Floats) -> float:
    """Kullback-Leibler divergence of the tuple distributions; vanished tuples take a floor."""
    both = [np.concatenate([one.old, one.new]) for one in columns]
    keys = group_rows(both, [one.size + 1 for one in columns])[1]
    count = weights.size
    size = int(keys.max()) + 1
    before = np.bincount(keys[:count], weights=weights, minlength=size)
    after = np.bincount(keys[count:], weights=weights, minlength=size)
    total = float(weights.sum())
    present = before > 0
    floor = 1.0 / (total + np.count_nonzero(present))
    shares = before[present] / total
    others = np.maximum(after[present] / total, floor)
    return float(shares @ np.log(shares / others))
