"""Which clusters to unite: for each that must not stay as it is, the one whose union costs least.

A cluster is found by the member that is nearest to its centroid. The nearest few are looked at, and
the exact loss of each union decides; equal ones by the smaller number.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import in_blocks
from ontomask.kernels.centroids import Tally, members_by_cluster, new_tally, price
from ontomask.kernels.compiling import compiled, part, whole
from ontomask.kernels.index import (
    LEAF,
    NEAREST,
    Finds,
    Index,
    build_index,
    new_finds,
    search,
)
from ontomask.kernels.neighbors import prepare
from ontomask.kernels.records import Points, replacement_cost

__all__ = ["PARTNERS", "Clusters", "described", "united"]

PARTNERS = 4
"""How many of the nearest clusters are tried."""
STRETCHES = 8
"""In so many stretches clusters are looked at: who finds a partner in one is not in the next."""
SMALLEST_SHARE = 20_000
"""So many values of points are enough for one more thread."""


class Clusters(NamedTuple):
    """Clusters of points and what is known of each."""

    labels: Ints
    """[p] the cluster of each point."""
    references: Floats
    """[clusters, coded + numeric] the centroids."""
    losses: Floats
    """[clusters] to the centroids."""
    middles: Longs
    """[clusters] the member nearest to the centroid."""


@compiled
def _describe(
    points: Points,
    tally: Tally,
    offsets: Longs,
    members: Longs,
    changed: Longs,
    references: Floats,
    losses: Floats,
    middles: Longs,
) -> None:
    """Write what there is to know of the clusters that changed."""
    for cluster in changed:
        own = members[offsets[cluster] : offsets[cluster + 1]]
        losses[cluster] = price(points, tally, own, references[cluster])
        least = np.inf
        for point in own:
            cost = replacement_cost(points, references[cluster], point)
            if cost < least:
                least, middles[cluster] = cost, point


@part
def _joined(offsets: Longs, members: Longs, room: Longs, one: int, other: int) -> int:
    """Write the members of two clusters one after the other; how many there are."""
    count = whole(0)
    for cluster in (one, other):
        for place in range(offsets[cluster], offsets[cluster + 1]):
            room[count] = members[place]
            count += 1
    return count


@compiled
def _choose(
    points: Points,
    index: Index,
    finds: Finds,
    tally: Tally,
    offsets: Longs,
    members: Longs,
    references: Floats,
    losses: Floats,
    owners: Longs,
    asked: Longs,
    chosen: Longs,
    room: Longs,
    reference: Floats,
) -> None:
    """Write for each of the clusters asked about the one that it costs least to unite it with."""
    for cluster in asked:
        found = search(
            points, index, finds, references[cluster], NEAREST, whole(finds.answers.shape[0])
        )
        least, best = np.inf, whole(-1)
        for slot in range(found):
            other = owners[whole(finds.answers[slot, 2])]
            if other == cluster:
                continue
            count = _joined(offsets, members, room, cluster, other)
            cost = price(points, tally, room[:count], reference) - losses[other]
            if cost < least or (cost == least and other < best):
                least, best = cost, other
        chosen[cluster] = best


def described(points: Points, labels: Ints) -> Clusters:
    """Look at every cluster."""
    count, width = int(labels.max()) + 1, points.codes.shape[0] + points.numbers.shape[0]
    clusters = Clusters(
        labels, np.empty((count, width)), np.empty(count), np.empty(count, np.int64)
    )
    _describe(
        *(points, new_tally(points), *members_by_cluster(labels, count)),
        *(np.arange(count), *clusters[1:]),
    )
    return clusters


def united(points: Points, clusters: Clusters, failing: Longs) -> Clusters:
    """Unite the clusters that fail, given in their order, with the cheapest ones, in pairs.

    A cluster whose partner is already taken stays as it is; the first one never does.
    """
    partners = _partners(points, clusters, failing)
    every = np.arange(partners.size)
    firsts, numbers = np.unique(
        np.where(partners >= 0, np.minimum(partners, every), every), return_inverse=True
    )
    new = Clusters(
        numbers[clusters.labels].astype(np.int32), *(one[firsts] for one in clusters[1:])
    )
    _describe(
        *(points, new_tally(points), *members_by_cluster(new.labels, firsts.size)),
        *(np.flatnonzero(partners[firsts] >= 0), *new[1:]),
    )
    return new


def _partners(points: Points, clusters: Clusters, failing: Longs) -> Longs:
    """For each cluster the one that it is to be united with, or -1.

    Those whose turn comes soon are looked at side by side, by what none of them changes.
    """
    partners, chosen = np.full((2, clusters.losses.size), -1)
    look = _looking(points, clusters, chosen)
    step, smallest = failing.size // STRETCHES + 1, _enough(clusters)
    for start in range(0, failing.size, step):
        some = failing[start : start + step]
        asked = some[partners[some] < 0]
        in_blocks(functools.partial(look, asked), asked.size, smallest)
        for cluster in asked.tolist():
            other = int(chosen[cluster])
            if partners[cluster] < 0 <= other and partners[other] < 0:
                partners[cluster], partners[other] = other, cluster
    return partners


def _enough(clusters: Clusters) -> int:
    """How many clusters are to be looked at for one more thread."""
    values = clusters.references.shape[1] * clusters.labels.size
    return 1 + SMALLEST_SHARE * clusters.losses.size // max(1, values)


def _looking(
    points: Points, clusters: Clusters, chosen: Longs
) -> Callable[[Longs, int, int], None]:
    """Write what clusters are to be united with; several threads may do so."""
    labels, references, losses, middles = clusters
    count, size = losses.size, labels.size
    owners = np.full(size, -1)
    owners[middles] = np.arange(count)
    index = build_index(points, middles, np.ones(size), np.zeros(size), LEAF)
    prepare(index)
    offsets, members = members_by_cluster(labels, count)

    def look(asked: Longs, first: int, last: int) -> None:
        finds = new_finds(index, min(PARTNERS + 1, count))
        _choose(
            *(points, index, finds, new_tally(points), offsets, members, references, losses),
            *(owners, asked[first:last], chosen),
            *(np.empty(size, np.int64), np.empty(references.shape[1])),
        )

    return look
