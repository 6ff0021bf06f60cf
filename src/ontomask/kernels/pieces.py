"""Tuples whose records lie in several clusters: as shares, and as pieces that a search moves.

A *share* says how many records of a point lie in a cluster. A refinement sees the shares of a point
as points of their own, *pieces* (see `partitions`), with empty ones behind them, so that more can
be made: a point of many records may help many clusters to k.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.kernels.losses import loss
from ontomask.kernels.neighbors import nearest_points
from ontomask.kernels.records import Points, select_points

__all__ = ["Pieces", "Shares", "grains"]

SPARE = 2
"""So many pieces more than there are, and two for every k records, can a point have."""


class Shares(NamedTuple):
    """How many records of which points lie in which clusters."""

    owners: Longs
    """The point."""
    labels: Ints
    """The cluster."""
    sizes: Floats
    """The records."""

    @classmethod
    def united(cls, parts: Sequence[Shares]) -> Shares:
        """Shares of several parts, whose clusters are numbered one part after the other."""
        counts = [int(one.labels.max()) + 1 for one in parts]
        behind = np.cumsum([0, *counts[:-1]])
        labels = [one.labels + first for one, first in zip(parts, behind, strict=True)]
        owners, sizes = ([one[column] for one in parts] for column in (0, 2))
        return cls(
            np.concatenate(owners),
            np.concatenate(labels).astype(np.int32),
            np.concatenate(sizes),
        )

    def in_order(self) -> Shares:
        """All by their points."""
        order = np.argsort(self.owners, kind="stable")
        return Shares(self.owners[order], self.labels[order], self.sizes[order])

    def selected(self, chosen: Longs) -> Shares:
        """Some of them, with clusters numbered from 0."""
        labels = np.unique(self.labels[chosen], return_inverse=True)[1].astype(np.int32)
        return Shares(self.owners[chosen], labels, self.sizes[chosen])

    def added(self) -> Shares:
        """The same with one share for each point and cluster, by point, the largest first."""
        count = int(self.labels.max()) + 1
        keys, places = np.unique(self.owners * count + self.labels, return_inverse=True)
        owners, labels = np.divmod(keys, count)
        sizes = np.bincount(places, self.sizes).astype(np.float64)
        order = np.lexsort((labels, -sizes, owners))
        return Shares(owners[order], labels[order].astype(np.int32), sizes[order])

    def points(self, points: Points) -> Points:
        """Every share as a point."""
        chosen = select_points(points, self.owners)
        whole = self.sizes == chosen.sizes
        weights = np.where(whole, chosen.weights, chosen.weights * self.sizes / chosen.sizes)
        return chosen._replace(sizes=self.sizes.copy(), weights=weights)

    def loss(self, points: Points) -> float:
        """Loss to the clusters' centroids."""
        return loss(self.points(points), self.labels, int(self.labels.max()) + 1)

    def by_record(self, places: Longs) -> Ints:
        """The cluster of each record, whose point is its place; the first ones take the largest."""
        shares, records = self.added(), np.bincount(places)
        alone = np.bincount(shares.owners)[shares.owners] == 1
        counts = np.where(alone, records[shares.owners], shares.sizes).astype(np.int64)
        labels = np.empty(places.size, np.int32)
        labels[np.argsort(places, kind="stable")] = np.repeat(shares.labels, counts)
        return labels


class Pieces(NamedTuple):
    """Shares as points that a search can move and divide."""

    owners: Longs
    """[p] the point that each is a piece of."""
    points: Points
    labels: Ints
    """[p] the cluster, -1 of an empty piece."""
    near: int | Ints
    """Who is near, as `Refinement` asks for it."""
    kin: Longs | None
    """[2, p] where the pieces of the same point begin and end; None where none can be divided."""

    @classmethod
    def of(
        cls, points: Points, shares: Shares, divisible: Bools, k: int, near: int | Ints
    ) -> Pieces:
        """Lay shares out with room for more where points are divisible."""
        if not divisible[shares.owners].any():
            return cls(shares.owners, shares.points(points), shares.labels, near, None)
        shares = shares.added()
        owners, firsts, used = np.unique(shares.owners, return_index=True, return_counts=True)
        totals = np.add.reduceat(shares.sizes, firsts).astype(np.int64)
        most = np.minimum(totals, used + SPARE + 2 * totals // k)
        room = np.where(divisible[owners], most, used)
        starts = np.cumsum(room) - room
        places = np.repeat(starts - firsts, used) + np.arange(shares.owners.size)
        every = Shares(
            np.repeat(owners, room), np.full(room.sum(), -1, np.int32), np.zeros(room.sum())
        )
        every.labels[places], every.sizes[places] = shares.labels, shares.sizes
        if not isinstance(near, np.ndarray):
            near = nearest_points(select_points(points, owners), min(near, owners.size - 1))
        graph = np.where(near >= 0, starts[near], -1).astype(np.int32)
        kin = np.repeat(np.array([starts, starts + room]), room, axis=1)
        return cls(
            every.owners, every.points(points), every.labels, np.repeat(graph, room, axis=0), kin
        )

    def shares(self, labels: Ints) -> Shares:
        """What is in which cluster now."""
        there = labels >= 0
        return Shares(self.owners[there], labels[there], self.points.sizes[there])


def grains(points: Points, divisible: Bools, k: int) -> Shares:
    """Single records; of divisible points with 3k or more, all but 2k as a whole, behind them.

    A cluster of equal records loses nothing, so more than that need not look for others.
    """
    records = np.where(divisible, points.sizes, 1.0).astype(np.int64)
    core = np.maximum(records - 2 * k, 0)
    core[core < k] = 0
    counts = np.where(divisible, records - core + (core > 0), 1)
    sizes = np.repeat(np.where(divisible, 1.0, points.sizes), counts)
    sizes[np.cumsum(counts)[core > 0] - 1] = core[core > 0]
    owners = np.repeat(np.arange(points.sizes.size), counts)
    return Shares(owners, np.zeros(owners.size, np.int32), sizes)
