"""The loops of microaggregation: MDAV, SA-MDAV and V-MDAV over weighted points.

All of them look for the points nearest to or farthest from a reference among those that remain.
The index answers exactly; it is built anew when half of its points are gone. `signal` is an
int64 array of two: the kernel writes the number of points done into signal[0], and returns early
(with labels -1) when another thread has set signal[1]. Labels count clusters in order of creation.

The three share one compiled loop, and inner functions take the few arrays they need rather than
everything: the compiler's time grows with the number of arrays that are passed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.centroids import (
    Tally,
    centroid_reference,
    centroids,
    clear,
    enter,
    fill,
    leave,
    new_tally,
)
from ontomask.kernels.index import (
    FARTHEST,
    LEAF,
    NEAREST,
    Finds,
    Index,
    build_index,
    new_finds,
    remove,
    search,
)
from ontomask.kernels.records import (
    Points,
    Reference,
    number_difference,
    point_reference,
    whole,
)

__all__ = ["LEAF", "mdav", "sa_mdav", "v_mdav"]

SMALLEST_REBUILD = 256
FIXED, ADAPTIVE, VARIABLE = 0, 1, 2


class Fringe(NamedTuple):
    """For every member of a growing cluster, the remaining point nearest to it."""

    members: Longs
    neighbors: Longs
    distances: Floats


class Rest(NamedTuple):
    """The points that remain, with what is needed to search them."""

    searched: Index
    tally: Tally
    finds: Finds
    reference: Reference
    labels: Ints
    """[p] cluster of each point, -1 while it remains."""
    left: Floats
    """[3] number and weight of the points that remain; number of the cluster being formed."""


def mdav(points: Points, k: int, signal: Longs, leaf_size: int = LEAF) -> Ints:
    """Clusters of k records, the last one of k to 2k - 1 (Domingo-Ferrer and Torra 2005).

    While at least 3k records remain: x their centroid, r the farthest from x; r and its k - 1
    nearest are a cluster; s the farthest from r of the others; s and its k - 1 nearest are a
    cluster. If at least 2k remain, one more around r. The rest is the last. Sizes count points.
    """
    return _clustered(points, k, FIXED, 0.0, signal, leaf_size)


def sa_mdav(points: Points, k: int, dynamic: bool, signal: Longs, leaf_size: int = LEAF) -> Ints:
    """Clusters of weight at least k over weighted tuples (Martinez, Sanchez and Valls 2012).

    While weight k remains: x the centroid of the remaining, r the farthest from x; its cluster
    grows by the tuple nearest to the cluster's centroid (dynamic) or to r, until its weight is
    k. If weight k still remains, the same from s, the farthest from r. Tuples left over join
    the cluster with the nearest centroid.
    """
    return _clustered(points, k, ADAPTIVE, float(dynamic), signal, leaf_size)


def v_mdav(points: Points, k: int, gamma: float, signal: Longs, leaf_size: int = LEAF) -> Ints:
    """Clusters of k to 2k - 1 records (Solanas and Martinez-Balleste 2006).

    c is the centroid of all records. While k remain: e the farthest from c and its k - 1 nearest
    are a cluster; the remaining u nearest to a member joins it, up to 2k - 1, as long as that
    distance is less than gamma times the distance from u to its own nearest remaining record.
    Records left over join the cluster with the nearest centroid. Sizes count points.
    """
    # contributions are distances raised to the power, so gamma is raised as well
    return _clustered(points, k, VARIABLE, float(gamma) ** points.power, signal, leaf_size)


@njit(cache=True, nogil=True, inline="always")
def _start(points: Points, wanted: int, leaf_size: int) -> Rest:
    """All points remain."""
    size = points.weights.size
    order = np.arange(size)
    tally = new_tally(points)
    fill(points, tally, order)
    coded, numeric = points.codes.shape[0], points.numbers.shape[0]
    return Rest(
        build_index(points, order, points.factors, np.zeros(size, np.float64), leaf_size),
        tally,
        new_finds(points, wanted),
        Reference(np.empty(coded, np.int32), np.empty(numeric, np.float64)),
        np.full(size, -1, np.int32),
        np.array([float(size), points.weights.sum(), 0.0]),
    )


@njit(cache=True, nogil=True, inline="always")
def _renewed(
    points: Points, index: Index, tally: Tally, labels: Ints, left: Floats, leaf_size: int
) -> Index:
    """A new index and new sums once half of the indexed points are gone."""
    size = index.ids.size
    if size < SMALLEST_REBUILD or 2 * left[0] > size:
        return index
    order = np.flatnonzero(labels < 0)
    fill(points, tally, order)
    return build_index(points, order, points.factors, np.zeros(labels.size), leaf_size)


@njit(cache=True, nogil=True)
def _take(
    points: Points, index: Index, tally: Tally, labels: Ints, left: Floats, point: int
) -> None:
    """Put a remaining point into the cluster being formed."""
    remove(points, index, point)
    labels[point] = int(left[2])
    leave(points, tally, point)
    left[0] -= 1.0
    left[1] -= points.weights[point]


@njit(cache=True, nogil=True, inline="always")
def _find(
    points: Points, index: Index, finds: Finds, reference: Reference, direction: float
) -> int:
    """The remaining point nearest to (FARTHEST: farthest from) the reference."""
    search(points, index, finds, reference, direction, whole(1))
    return int(finds.answers[0, 2])


@njit(cache=True, nogil=True, inline="always")
def _take_nearest(points: Points, rest: Rest, point: int, wanted: int, fringe: Fringe) -> None:
    """A cluster of a point and the `wanted` remaining points nearest to it."""
    index, tally, labels, left = rest.searched, rest.tally, rest.labels, rest.left
    members = fringe.members
    members[0] = point
    point_reference(points, point, rest.reference)
    # taken out before the search, for a record equal to it may come first among the nearest
    _take(points, index, tally, labels, left, point)
    found = search(points, index, rest.finds, rest.reference, NEAREST, wanted)
    for slot in range(found):
        members[slot + 1] = int(rest.finds.answers[slot, 2])
        _take(points, index, tally, labels, left, members[slot + 1])


@njit(cache=True, nogil=True, inline="always")
def _grow(points: Points, rest: Rest, own: Tally, point: int, k: float, dynamic: bool) -> None:
    """Grow a cluster from a point by the nearest remaining point until its weight is k."""
    index, tally, labels, left = rest.searched, rest.tally, rest.labels, rest.left
    reference = rest.reference
    clear(points, own)
    point_reference(points, point, reference)
    newest = point
    while True:
        enter(points, own, newest)
        _take(points, index, tally, labels, left, newest)
        if own.weight[0] >= k:
            return
        if dynamic:
            centroid_reference(points, own, reference)
        newest = _find(points, index, rest.finds, reference, NEAREST)


@njit(cache=True, nogil=True, inline="always")
def _look_around(points: Points, rest: Rest, fringe: Fringe, slot: int) -> None:
    """Find the remaining point nearest to the member in this slot."""
    fringe.neighbors[slot], fringe.distances[slot] = -1, np.inf
    if rest.left[0] > 0:
        point_reference(points, fringe.members[slot], rest.reference)
        found = _find(points, rest.searched, rest.finds, rest.reference, NEAREST)
        fringe.neighbors[slot] = found
        fringe.distances[slot] = rest.finds.answers[0, 0]


@njit(cache=True, nogil=True, inline="always")
def _distance_outside(points: Points, rest: Rest, point: int) -> float:
    """Distance from a remaining point to the nearest other one."""
    point_reference(points, point, rest.reference)
    answers = rest.finds.answers
    found = search(points, rest.searched, rest.finds, rest.reference, NEAREST, whole(2))
    least = np.inf
    for slot in range(found):
        if int(answers[slot, 2]) != point:
            least = min(least, answers[slot, 0])
    return least


@njit(cache=True, nogil=True, inline="always")
def _closest_slot(neighbors: Longs, distances: Floats, size: int) -> int:
    """The member with the nearest neighbor; of equals the one whose neighbor comes first."""
    best = whole(0)
    for slot in range(1, size):
        first = neighbors[slot] < neighbors[best]
        if distances[slot] < distances[best] or (distances[slot] == distances[best] and first):
            best = slot
    return best


@njit(cache=True, nogil=True, inline="always")
def _extend(points: Points, rest: Rest, fringe: Fringe, k: int, threshold: float) -> None:
    """Let a cluster of k members grow to at most 2k - 1 while newcomers are near enough."""
    index, tally, labels, left = rest.searched, rest.tally, rest.labels, rest.left
    size, newest = k, whole(-2)
    fringe.neighbors[:] = newest
    while True:
        for slot in range(size):
            if fringe.neighbors[slot] == newest:
                _look_around(points, rest, fringe, slot)
        if size >= 2 * k - 1 or left[0] == 0:
            return
        best = _closest_slot(fringe.neighbors, fringe.distances, size)
        newest, inside = fringe.neighbors[best], fringe.distances[best]
        if not inside < threshold * _distance_outside(points, rest, newest):
            return
        _take(points, index, tally, labels, left, newest)
        fringe.members[size], fringe.neighbors[size] = newest, newest
        size += 1


@njit(cache=True, nogil=True)
def _form(
    points: Points,
    rest: Rest,
    own: Tally,
    fringe: Fringe,
    point: int,
    k: int,
    style: int,
    extra: float,
) -> None:
    """Form a cluster around a point in the style of the algorithm."""
    if style == ADAPTIVE:
        _grow(points, rest, own, point, float(k), extra > 0.0)
    else:
        _take_nearest(points, rest, point, k - 1, fringe)
    if style == VARIABLE:
        _extend(points, rest, fringe, k, extra)
    rest.left[2] += 1.0


@njit(cache=True, nogil=True, inline="always")
def _nearest_cluster(points: Points, point: int, rows: Ints, numbers: Floats) -> int:
    """The cluster whose centroid is nearest to a point."""
    best, least = 0, np.inf
    for cluster in range(rows.shape[0]):
        total = 0.0
        for attribute in range(points.codes.shape[0]):
            base = points.starts[attribute] + rows[cluster, attribute] * points.values[attribute]
            total += points.tables[base + points.codes[attribute, point]]
        for attribute in range(points.numbers.shape[0]):
            total += number_difference(
                points.numbers[attribute, point],
                numbers[cluster, attribute],
                points.gaps[attribute],
                points.power,
            )
        if total < least:
            best, least = cluster, total
    return best


@njit(cache=True, nogil=True, inline="always")
def _distribute(points: Points, labels: Ints, count: int) -> None:
    """Each point without a cluster joins the one with the nearest centroid (not recomputed)."""
    leftover = np.flatnonzero(labels < 0)
    if leftover.size == 0:
        return
    if count == 0:
        labels[:] = 0
        return
    rows, numbers = centroids(points, labels, count, np.zeros(count, np.float64))
    for point in leftover:
        labels[point] = _nearest_cluster(points, int(point), rows, numbers)


@njit(cache=True, nogil=True, inline="always")
def _goes_on(left: Floats, k: int, style: int) -> bool:
    """Whether another cluster is to be formed."""
    if style == FIXED:
        return bool(left[0] >= 2 * k)
    return bool(left[1] >= k if style == ADAPTIVE else left[0] >= k)


@njit(cache=True, nogil=True)
def _clustered(
    points: Points, k: int, style: int, extra: float, signal: Longs, leaf_size: int
) -> Ints:
    """The loop of all three; `extra` is `dynamic` or gamma."""
    rest = _start(points, k + 1, leaf_size)
    index, tally, finds, reference, labels, left = rest
    own = new_tally(points)
    fringe = Fringe(
        np.empty(2 * k, np.int64), np.empty(2 * k, np.int64), np.empty(2 * k, np.float64)
    )
    center = Reference(reference.rows.copy(), reference.numbers.copy())
    centroid_reference(points, tally, center)
    while _goes_on(left, k, style):
        signal[0] = labels.size - int(left[0])
        if signal[1] != 0:
            return np.full(labels.size, -1, np.int32)
        pair = style == ADAPTIVE or (style == FIXED and left[0] >= 3 * k)
        index = _renewed(points, index, tally, labels, left, leaf_size)
        rest = Rest(index, tally, finds, reference, labels, left)
        if style != VARIABLE:
            centroid_reference(points, tally, center)
        outer = _find(points, index, finds, center, FARTHEST)
        _form(points, rest, own, fringe, outer, k, style, extra)
        if pair and _goes_on(left, k, style):
            point_reference(points, outer, reference)
            opposite = _find(points, index, finds, reference, FARTHEST)
            _form(points, rest, own, fringe, opposite, k, style, extra)
    count = int(left[2])
    if style == FIXED:
        labels[labels < 0] = count
    _distribute(points, labels, count)
    signal[0] = labels.size
    return labels
