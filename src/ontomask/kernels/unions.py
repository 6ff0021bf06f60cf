"""Which clusters to unite: for each that must not stay as it is, the one whose union costs least.

A cluster is found by the member that is nearest to its centroid. The nearest few are looked at, and
the exact loss of each union decides; equal ones by the smaller number.
"""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.centroids import (
    Tally,
    centroid_reference,
    centroids,
    fill,
    members_by_cluster,
    new_tally,
)
from ontomask.kernels.index import (
    LEAF,
    NEAREST,
    Finds,
    Index,
    bound_all,
    build_index,
    new_finds,
    search,
)
from ontomask.kernels.records import Points, compiled, inner, part, replacement_cost, whole

__all__ = ["PARTNERS", "united"]

PARTNERS = 4
"""How many of the nearest clusters are tried."""


@inner
def _loss(points: Points, tally: Tally, members: Longs, reference: Floats) -> float:
    """Loss of a cluster of these points; its centroid becomes the reference."""
    total = 0.0
    fill(points, tally, members)
    centroid_reference(points, tally, reference)
    for point in members:
        total += points.weights[point] * replacement_cost(points, reference, point)
    return total


@compiled
def _describe(
    points: Points,
    tally: Tally,
    offsets: Longs,
    members: Longs,
    references: Floats,
    losses: Floats,
    middles: Longs,
) -> None:
    """Write the loss of every cluster, and the member nearest to its centroid."""
    for cluster in range(losses.size):
        own = members[offsets[cluster] : offsets[cluster + 1]]
        losses[cluster] = _loss(points, tally, own, references[cluster])
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
    order: Longs,
    partners: Longs,
) -> None:
    """Write for the clusters of `order` their partners; one that has one already waits."""
    bound_all(index)
    room, reference = np.empty(members.size, np.int64), np.empty(references.shape[1])
    for cluster in order:
        if partners[cluster] >= 0:
            continue
        found = search(
            points, index, finds, references[cluster], NEAREST, whole(finds.answers.shape[0])
        )
        least, chosen = np.inf, whole(-1)
        for slot in range(found):
            other = owners[whole(finds.answers[slot, 2])]
            if other == cluster:
                continue
            count = _joined(offsets, members, room, cluster, other)
            cost = _loss(points, tally, room[:count], reference) - losses[other]
            if cost < least or (cost == least and other < chosen):
                least, chosen = cost, other
        if chosen >= 0 and partners[chosen] < 0:
            partners[cluster], partners[chosen] = chosen, cluster


def united(points: Points, labels: Ints, failing: Longs) -> Ints:
    """Unite the clusters that fail, given in their order, with the cheapest ones, in pairs.

    A cluster whose partner is already taken stays as it is; the first one never does.
    """
    count = int(labels.max()) + 1
    offsets, members = members_by_cluster(labels, count)
    rows, numbers = centroids(points, labels, count, np.zeros(count))
    references = np.ascontiguousarray(np.concatenate([rows, numbers], axis=1))
    losses, middles = np.empty(count), np.empty(count, np.int64)
    tally = new_tally(points)
    _describe(points, tally, offsets, members, references, losses, middles)
    owners = np.full(labels.size, -1)
    owners[middles] = np.arange(count)
    index = build_index(points, middles, np.ones(labels.size), np.zeros(labels.size), LEAF)
    finds = new_finds(index, min(PARTNERS + 1, count))
    partners = np.full(count, -1)
    _choose(
        *(points, index, finds, tally, offsets, members, references, losses, owners),
        *(failing, partners),
    )
    firsts = np.where(partners >= 0, np.minimum(partners, np.arange(count)), np.arange(count))
    return np.unique(firsts[labels], return_inverse=True)[1].astype(np.int32)
