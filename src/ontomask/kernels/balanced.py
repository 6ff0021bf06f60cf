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
from ontomask.kernels.compiling import compiled, part, whole
from ontomask.kernels.index import (
    LEAF,
    NEAREST,
    Finds,
    Index,
    build_index,
    new_finds,
    remove,
    search,
)
from ontomask.kernels.neighbors import prepare, sort_by_keys
from ontomask.kernels.records import (
    Points,
    contribution,
    distances,
    nearest_references,
    point_reference,
)

__all__ = ["Tree", "by_exchanges", "by_slices"]

TRIED = 4
"""How many times as many points as a cluster has may come in by an exchange, …"""
TRIED_MORE = 32
"""… and so many more."""
SMALLEST_GAIN = 1e-12
"""Less is rounding."""


class Tree(NamedTuple):
    """Values as nodes of a tree; a parent has a greater number than its children."""

    parents: Longs
    """[nodes] -1 for the root; the first nodes are the values."""
    lengths: Floats
    """[nodes] of the link to the parent."""
    shares: Floats
    """[nodes] what the table has at or below the node."""


@compiled
def _form_slices(
    points: Points,
    slices: Ints,
    seeds: Longs,
    clusters: int,
    labels: Ints,
    left: Longs,
    reference: Floats,
    nearest: Longs,
    least: Floats,
    signal: Longs,
) -> None:
    """Form clusters that take one point of every slice; `left` holds all points."""
    count, turn = whole(labels.size), whole(0)
    for cluster in range(clusters):
        if signal[1] != 0:
            return
        while labels[seeds[turn]] >= 0:
            turn += 1
        point_reference(points, seeds[turn], reference)
        for number in range(least.size):
            least[number] = np.inf
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
        flows[node] = 0.0
    for slot in range(size):
        flows[values[chosen[slot]]] += 1.0
    total = 0.0
    for node in range(flows.size):
        if tree.parents[node] >= 0:
            flows[tree.parents[node]] += flows[node]
        flows[node] -= size * tree.shares[node]
        total += tree.lengths[node] * abs(flows[node])
    return total


@part
def _leaving(tree: Tree, flows: Floats, held: Longs, least: Floats, leaver: Longs) -> None:
    """Write for each node which held value at or below it leaves most cheaply, and the change.

    The change is that of what passes the links below the node.
    """
    for node in range(flows.size):
        least[node] = np.inf
        if held[node] > 0:
            least[node], leaver[node] = 0.0, node
    for node in range(flows.size - 1):
        above, flow = tree.parents[node], flows[node]
        change = least[node] + tree.lengths[node] * (abs(flow - 1.0) - abs(flow))
        if change < least[above]:
            least[above], leaver[above] = change, leaver[node]


@part
def _best_exchange(
    tree: Tree, flows: Floats, least: Floats, leaver: Longs, new: int
) -> tuple[float, int]:
    """The change of the cost when a value comes and the best one leaves for it, and which that is.

    Ways that go up a link and down again need not be kept apart: they never seem cheaper.
    """
    best, out, coming, node = np.inf, whole(-1), 0.0, new
    while node >= 0:
        if coming + least[node] < best:
            best, out = coming + least[node], leaver[node]
        coming += tree.lengths[node] * (abs(flows[node] + 1.0) - abs(flows[node]))
        node = tree.parents[node]
    return best, out


@part
def _pass(tree: Tree, flows: Floats, value: int, amount: float) -> None:
    """Let a value pass all nodes above it."""
    node = value
    while node >= 0:
        flows[node] += amount
        node = tree.parents[node]


@part
def _nearest_first(finds: Finds, found: int, keys: Floats, near: Longs) -> None:
    """Write the points that were found in the order of their distances."""
    for slot in range(found):
        keys[slot], near[slot] = finds.answers[slot, 0], whole(finds.answers[slot, 2])
    sort_by_keys(keys, near, found)


@part
def _exchange_members(
    tree: Tree,
    values: Ints,
    near: Longs,
    size: int,
    found: int,
    bar: float,
    flows: Floats,
    least: Floats,
    held: Longs,
    leaver: Longs,
) -> None:
    """Let the next nearest take the place of members until what must pass costs at most `bar`."""
    cost, fresh = _spread(tree, values, near, size, flows), False
    held[:] = 0
    # the seed itself stays
    for slot in range(1, size):
        held[values[near[slot]]] += 1
    for candidate in range(size, found):
        if cost <= bar:
            break
        if not fresh:
            _leaving(tree, flows, held, least, leaver)
        new = whole(values[near[candidate]])
        change, out = _best_exchange(tree, flows, least, leaver, new)
        fresh = change >= -SMALLEST_GAIN
        if not fresh:
            cost += change
            held[out] -= 1
            held[new] += 1
            _pass(tree, flows, out, -1.0)
            _pass(tree, flows, new, 1.0)
            # of those with the value the farthest goes
            slot = size - 1
            while values[near[slot]] != out:
                slot -= 1
            near[slot], near[candidate] = near[candidate], near[slot]


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
    reference: Floats,
    flows: Floats,
    least: Floats,
    held: Longs,
    leaver: Longs,
    keys: Floats,
    near: Longs,
    signal: Longs,
) -> None:
    """Form clusters of the nearest points, changed until their values are t-close."""
    cluster, turn, count = 0, whole(0), labels.size
    while count >= 2 * size and signal[1] == 0:
        while labels[seeds[turn]] >= 0:
            turn += 1
        point_reference(points, seeds[turn], reference)
        found = search(points, index, finds, reference, NEAREST, whole(keys.size))
        _nearest_first(finds, found, keys, near)
        _exchange_members(tree, values, near, size, found, t * size, flows, least, held, leaver)
        for slot in range(size):
            remove(index, near[slot])
            labels[near[slot]] = cluster
        count -= size
        cluster += 1
        signal[0] = labels.size - count


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
        *(np.arange(labels.size), reference, np.empty(sizes.size, np.int64)),
        *(np.empty(sizes.size), signal),
    )
    return _distributed(points, labels)


def by_exchanges(
    points: Points, tree: Tree, values: Ints, size: int, t: float, signal: Longs
) -> Ints:
    """Clusters of `size` points; the last one takes what is left."""
    count = values.size
    labels = np.full(count, -1, np.int32)
    index = build_index(points, np.arange(count), np.ones(count), np.zeros(count), LEAF)
    prepare(index)
    finds = new_finds(index, min((1 + TRIED) * size + TRIED_MORE, count))
    nodes, wanted = tree.shares.size, finds.answers.shape[0]
    _form_exchanges(
        *(points, index, finds, tree, values.astype(np.int32), _seeds(points), size, float(t)),
        *(labels, np.empty(points.codes.shape[0] + points.gaps.size)),
        *(np.empty(nodes), np.empty(nodes), np.empty(nodes, np.int64), np.empty(nodes, np.int64)),
        *(np.empty(wanted), np.empty(wanted, np.int64), signal),
    )
    left = np.flatnonzero(labels < 0)
    if left.size >= size:
        labels[left] = labels.max() + 1
    return _distributed(points, labels)


def _distributed(points: Points, labels: Ints) -> Ints:
    """Each point without a cluster joins the one with the nearest centroid (not recomputed)."""
    leftover, count = np.flatnonzero(labels < 0), int(labels.max()) + 1
    if leftover.size and count:
        rows, numbers = centroids(points, labels, count, np.zeros(count))
        labels[leftover] = nearest_references(points, leftover, rows, numbers)
    return np.maximum(labels, 0)
