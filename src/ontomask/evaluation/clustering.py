"""Is the cluster structure preserved? Ward clusterings before and after, and how far they agree.

Partition distance after López de Mántaras (1991): d = (2 I(A∩B) - I(A) - I(B)) / I(A∩B).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.agglomeration import cut, linkage
from ontomask.arithmetic import log2, summed_products
from ontomask.arrays import Floats, Longs
from ontomask.errors import DataError
from ontomask.evaluation.pairing import Paired, PairedColumn, tuple_groups
from ontomask.evaluation.sides import NumberSides

__all__ = ["ClusteringLoss", "measure_clustering", "partition_distance"]


@dataclass(frozen=True)
class ClusteringLoss:
    """How far the clusterings of original and masked records are apart (0 same, 1 unrelated)."""

    distance: float
    clusters: int
    records: int


def partition_distance(
    first: Sequence[object] | Longs,
    second: Sequence[object] | Longs,
    weights: Sequence[float] | Floats | None = None,
) -> float:
    """Distance of two partitions of the same records, from their entropies in bits.

    Parameters
    ----------
    first, second
        For each record the name or number of its part.
    weights
        How much each record counts; all alike by default.

    Examples
    --------
    >>> halves, alternating = ["a", "a", "b", "b"], [0, 1, 0, 1]
    >>> om.measuring.partition_distance(halves, halves)
    0.0
    >>> om.measuring.partition_distance(halves, alternating)
    1.0
    """
    shares = np.ones(len(first)) if weights is None else np.asarray(weights, np.float64)
    if not len(first) == len(second) == shares.size or not shares.size:
        raise DataError(
            f"Both partitions must tell the part of each record, but there are {len(first)} and "
            f"{len(second)} of them (and {shares.size} weights); give the same records."
        )
    one, other = (np.unique(np.asarray(each), return_inverse=True)[1] for each in (first, second))
    joint = _entropy(one * (int(other.max()) + 1) + other, shares)
    if joint == 0.0:
        return 0.0
    return (2.0 * joint - _entropy(one, shares) - _entropy(other, shares)) / joint


def _entropy(labels: Longs, weights: Floats) -> float:
    totals = np.bincount(np.unique(labels, return_inverse=True)[1], weights=weights)
    shares = totals / totals.sum()
    return -summed_products(shares, log2(shares))


def measure_clustering(
    paired: Paired, clusters: int = 10, *, records: int = 2000, seed: int = 0
) -> ClusteringLoss:
    """Cluster at most `records` randomly chosen records before and after, and compare."""
    columns = paired.quasi() or list(paired.columns.values())
    count = len(paired)
    rows = np.arange(count)
    if count > records:
        rows = np.sort(np.random.default_rng(seed).choice(count, records, replace=False))
    part = paired.subset(rows)
    chosen = [part.columns[one.name] for one in columns]
    before = _ward(chosen, "old", clusters)
    after = _ward(chosen, "new", clusters)
    distance = partition_distance(before, after, part.weights)
    return ClusteringLoss(distance, clusters, round(float(part.counts.sum())))


def _ward(columns: list[PairedColumn], which: str, clusters: int) -> Longs:
    """Ward's clustering of the distinct tuples, as a label per record."""
    firsts, places = tuple_groups(columns, which)
    if firsts.size <= clusters:
        return places
    distances = np.mean([_distances(one, which, firsts) for one in columns], axis=0)
    return cut(linkage(distances, "ward"), clusters)[places]


def _distances(column: PairedColumn, which: str, firsts: Longs) -> Floats:
    sides = column.sides
    if isinstance(sides, NumberSides):
        numbers = sides.numbers[column.old] if which == "old" else sides.expected[column.new]
        values = np.nan_to_num(numbers[firsts] / sides.deviation, nan=0.0)
        return np.abs(values[:, None] - values[None, :])
    if which == "old":
        return sides.originals_apart(column.old[firsts], column.old[firsts])
    return sides.released_apart(column.new[firsts], column.new[firsts])
