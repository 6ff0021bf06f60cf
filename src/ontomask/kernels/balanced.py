"""Clusters of near points in which the values of another attribute are spread as in the table.

After Soria-Comas, Domingo-Ferrer, Sanchez and Martinez, "t-closeness through microaggregation:
strict privacy with enhanced utility preservation" (2015). A seed is the point
farthest from the centroid of all among those that remain, as in V-MDAV. `signal` is as in
`clusters`.

*Slices*: each cluster takes from every slice of the table the point nearest to its seed.
*Exchanges*: a cluster begins with the points nearest to its seed; then, one after the other, the
next nearest take the place of the member whose leaving lowers the distance of the values most,
until it is at most `t`. Distances are earth mover's distances over a tree: the sum over nodes of
the length of the link above times what must pass there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.centroids import centroids
from ontomask.kernels.index import (
    LEAF,
    NEAREST,
    Finds,
    Index,
    bound_all,
    build_index,
    new_finds,
    remove,
    search,
)
from ontomask.kernels.neighbors import sort_by_keys
from ontomask.kernels.records import (
    Points,
    compiled,
    contribution,
    distances,
    inner,
    nearest_references,
    part,
    point_reference,
    whole,
)

__all__ = ["Tree", "by_exchanges", "by_slices"]

TRIED = 4
"""How many times as many points as a cluster has may come in by an exchange, …"""
LEAST_TRIED, STEPS = 200, 20_000
"""… up to so many, or as many as can be tried in so many steps on the tree, …"""
TRIED_MORE = 32
"""… and so many more."""


class Tree(NamedTuple):
    """Values as nodes of a tree; a parent has a greater number than its children."""

    parents: Longs
    """[nodes] -1 for the root; the first nodes are the values."""
    lengths: Floats
    """[nodes] of the link to the parent."""
    shares: Floats
    """[nodes] what the table has at or below the node."""
    depths: Longs
    """[nodes] links to the root."""


@compiled
def _form_slices(
    points: Points,
    slices: Ints,
    seeds: Longs,
    clusters: int,
    labels: Ints,
    reference: Floats,
    nearest: Longs,
    signal: Longs,
) -> None:
    """Form clusters that take one point of every slice."""
    left, least = np.arange(labels.size), np.empty(nearest.size)
    count, turn = whole(labels.size), whole(0)
    for cluster in range(clusters):
        if signal[1] != 0:
            return
        while labels[seeds[turn]] >= 0:
            turn += 1
        point_reference(points, seeds[turn], reference)
        least[:] = np.inf
        for place in range(count):
            point = left[place]
            number = slices[point]
            distance = contribution(points, reference, point)
            if distance < least[number]:
                least[number], nearest[number] = distance, point
        for point in nearest:
            labels[point] = cluster
        kept = whole(0)
        for place in range(count):
            if labels[left[place]] < 0:
                left[kept] = left[place]
                kept += 1
        count = kept
        signal[0] = labels.size - count


@part
def _spread(tree: Tree, values: Ints, chosen: Longs, size: int, flows: Floats) -> float:
    """What must pass each node for the first `size` chosen points; what that costs."""
    for node in range(flows.size):
        flows[node] = -size * tree.shares[node]
    for slot in range(size):
        node = whole(values[chosen[slot]])
        while node >= 0:
            flows[node] += 1.0
            node = tree.parents[node]
    total = 0.0
    for node in range(flows.size):
        total += tree.lengths[node] * abs(flows[node])
    return total


@inner
def _exchange(tree: Tree, flows: Floats, out: int, new: int, change: bool) -> float:
    """The change of the cost when a value goes and another comes; made, or only computed."""
    total, one, other = 0.0, out, new
    while one != other:
        if tree.depths[one] >= tree.depths[other]:
            total += tree.lengths[one] * (abs(flows[one] - 1.0) - abs(flows[one]))
            if change:
                flows[one] -= 1.0
            one = tree.parents[one]
        else:
            total += tree.lengths[other] * (abs(flows[other] + 1.0) - abs(flows[other]))
            if change:
                flows[other] += 1.0
            other = tree.parents[other]
    return total


@part
def _nearest_first(finds: Finds, found: int, keys: Floats, near: Longs) -> None:
    """Write the points that were found in the order of their distances."""
    for slot in range(found):
        keys[slot], near[slot] = finds.answers[slot, 0], whole(finds.answers[slot, 2])
    sort_by_keys(keys, near, found)


@part
def _exchange_members(
    tree: Tree, values: Ints, near: Longs, size: int, found: int, bar: float, flows: Floats
) -> None:
    """Let the next nearest take the place of members until what must pass costs at most `bar`."""
    cost = _spread(tree, values, near, size, flows)
    for candidate in range(size, found):
        if cost <= bar:
            break
        best, place, new = -1e-12, -1, whole(values[near[candidate]])
        # the seed itself stays
        for slot in range(1, size):
            change = _exchange(tree, flows, whole(values[near[slot]]), new, False)
            if change < best:
                best, place = change, slot
        if place >= 0:
            cost += _exchange(tree, flows, whole(values[near[place]]), new, True)
            near[place], near[candidate] = near[candidate], near[place]


@compiled
def _form_exchanges(
    points: Points,
    index: Index,
    finds: Finds,
    tree: Tree,
    values: Ints,
    seeds: Longs,
    size: int,
    t: float,
    labels: Ints,
    signal: Longs,
) -> None:
    """Form clusters of the nearest points, changed until their values are t-close."""
    flows, reference = (
        np.empty(tree.shares.size),
        np.empty(points.codes.shape[0] + points.gaps.size),
    )
    keys, near = np.empty(finds.answers.shape[0]), np.empty(finds.answers.shape[0], np.int64)
    cluster, turn, count = 0, whole(0), labels.size
    bound_all(index)
    while count >= 2 * size and signal[1] == 0:
        while labels[seeds[turn]] >= 0:
            turn += 1
        point_reference(points, seeds[turn], reference)
        found = search(points, index, finds, reference, NEAREST, whole(keys.size))
        _nearest_first(finds, found, keys, near)
        _exchange_members(tree, values, near, size, found, t * size, flows)
        for slot in range(size):
            remove(index, near[slot])
            labels[near[slot]] = cluster
        count -= size
        cluster += 1
        signal[0] = labels.size - count
    if count >= size:
        labels[labels < 0] = cluster


def _seeds(points: Points) -> Longs:
    """All points, those farthest from the centroid first."""
    rows, numbers = centroids(points, np.zeros(points.weights.size, np.int32), 1, np.zeros(1))
    return np.argsort(-distances(points, rows[0], numbers[0]), kind="stable")


def by_slices(points: Points, slices: Ints, signal: Longs) -> Ints:
    """As many clusters as every slice allows; what is left goes to the nearest centroid."""
    labels, sizes = np.full(slices.size, -1, np.int32), np.bincount(slices)
    reference = np.empty(points.codes.shape[0] + points.gaps.size)
    _form_slices(
        *(points, slices.astype(np.int32), _seeds(points), int(sizes.min()), labels),
        *(reference, np.empty(sizes.size, np.int64), signal),
    )
    return _distributed(points, labels)


def by_exchanges(
    points: Points, tree: Tree, values: Ints, size: int, t: float, signal: Longs
) -> Ints:
    """Clusters of `size` points; the last one takes what is left."""
    count = values.size
    labels = np.full(count, -1, np.int32)
    index = build_index(points, np.arange(count), np.ones(count), np.zeros(count), LEAF)
    most = max(LEAST_TRIED, STEPS // (1 + int(tree.depths.mean())))
    tried = min(TRIED * size, most) + TRIED_MORE
    finds = new_finds(index, min(size + tried, count))
    _form_exchanges(
        *(points, index, finds, tree, values.astype(np.int32), _seeds(points), size, float(t)),
        *(labels, signal),
    )
    return _distributed(points, labels)


def _distributed(points: Points, labels: Ints) -> Ints:
    """Each point without a cluster joins the one with the nearest centroid (not recomputed)."""
    leftover, count = np.flatnonzero(labels < 0), int(labels.max()) + 1
    if leftover.size and count:
        rows, numbers = centroids(points, labels, count, np.zeros(count))
        labels[leftover] = nearest_references(points, leftover, rows, numbers)
    return np.maximum(labels, 0)
