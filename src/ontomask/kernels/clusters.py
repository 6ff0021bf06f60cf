"""The loops of microaggregation: MDAV, SA-MDAV and V-MDAV over weighted points.

k counts records, the sizes of points, or persons (see `units`); centroids are weighted by people,
the weights of points. A point is never torn: where points of several records make a cluster larger
than k, fewer are left.
All of them look for the points nearest to or farthest from a reference among those that remain.
Index and ranking answer exactly; they are made anew when half of their points are gone. `signal` is
an int64 array of two: the kernel writes the number of points done into signal[0], and returns early
(with labels -1) when another thread has set signal[1]. Labels count clusters in order of creation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.centroids import (
    Tally,
    centroid_reference,
    centroids,
    clear,
    count_point,
    new_tally,
    tallied,
)
from ontomask.kernels.compiling import apart, compiled, part, whole
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
from ontomask.kernels.neighbors import prepare
from ontomask.kernels.ranking import Ranking, farthest_from_center, new_ranking
from ontomask.kernels.records import Points, nearest_references, point_reference
from ontomask.kernels.shrinking import Shrinking, new_shrinking, remaining_center, take_out
from ontomask.kernels.units import (
    add_units,
    amount,
    drop_units,
    is_of_records,
    new_count,
    new_marks,
    points_of_units,
)

__all__ = ["LEAF", "mdav", "sa_mdav", "v_mdav"]

SMALLEST_REBUILD = 256
"""An index over fewer points is not made anew: that would hardly repay."""
FIXED, ADAPTIVE, VARIABLE = 0, 1, 2

NUMBER = 0
"""Entry of `left`: number of the points that remain."""
RECORDS = 1
"""Entry of `left`: the records, or persons, that they stand for."""
CLUSTER = 2
"""Entry of `left`: number of the cluster being formed."""

MEMBER, NEIGHBOR, APART = 0, 1, 2
"""Columns of `fringe`."""


class Rest(NamedTuple):
    """The points that remain, with what is needed to search them."""

    searched: Index
    finds: Finds
    reference: Floats
    """Room for what is searched for."""
    labels: Ints
    """[p] cluster of each point, -1 while it remains."""
    left: Floats
    """[3] NUMBER, RECORDS and CLUSTER."""
    marks: Longs
    """Which units are in the cluster being formed."""
    held: Longs
    """[units] the points that remain of each."""


def mdav(points: Points, k: int, signal: Longs, leaf_size: int = LEAF) -> Ints:
    """Clusters of k records, the last one of k to 2k - 1 (Domingo-Ferrer and Torra 2005).

    While at least 3k records remain: x their centroid, r the farthest from x; r and its k - 1
    nearest are a cluster; s the farthest from r of the others; s and its k - 1 nearest are a
    cluster. If at least 2k remain, one more around r. The rest is the last (where points stand for
    several records, fewer than k may be left: they join the cluster with the nearest centroid).
    """
    return _clustered(points, k, FIXED, 0.0, signal, leaf_size)


def sa_mdav(points: Points, k: int, dynamic: bool, signal: Longs, leaf_size: int = LEAF) -> Ints:
    """Clusters of at least k records over distinct tuples (Martinez, Sanchez and Valls 2012).

    While k records remain: x the centroid of the remaining, r the farthest from x; its cluster
    grows by the tuple nearest to the cluster's centroid (dynamic) or to r, until it has k records.
    If k still remain, the same from s, the farthest from r. Tuples left over join the cluster with
    the nearest centroid.
    """
    return _clustered(points, k, ADAPTIVE, float(dynamic), signal, leaf_size)


def v_mdav(points: Points, k: int, gamma: float, signal: Longs, leaf_size: int = LEAF) -> Ints:
    """Clusters of k to 2k - 1 records (Solanas and Martinez-Balleste 2006).

    c is the centroid of all records. While k remain: e the farthest from c and its k - 1 nearest
    are a cluster; the remaining u nearest to a member joins it, up to 2k - 1, as long as that
    distance is less than gamma times the distance from u to its own nearest remaining record.
    Records left over join the cluster with the nearest centroid.
    """
    # contributions are distances raised to the power, so gamma is raised as well
    return _clustered(points, k, VARIABLE, float(gamma) ** points.power, signal, leaf_size)


def _clustered(
    points: Points, k: int, style: int, extra: float, signal: Longs, leaf_size: int
) -> Ints:
    """The loop of all three; `extra` is `dynamic` or gamma."""
    size = points.weights.size
    tally, own, shrinking = new_tally(points), new_tally(points), new_shrinking(points)
    width = points.codes.shape[0] + points.numbers.shape[0]
    fixed = style == VARIABLE
    center = tallied(points, tally, np.arange(size)) if fixed else np.empty(width)
    marks, held = new_marks(points), points_of_units(points)
    labels, left = np.full(size, -1, np.int32), np.array([size, amount(points), 0.0])
    more = True
    while more and signal[1] == 0:
        order = np.flatnonzero(labels < 0)
        index = build_index(points, order, points.factors, np.zeros(size), leaf_size)
        prepare(index)
        finds = new_finds(index, k + 1)
        rest = Rest(index, finds, np.empty_like(center), labels, left, marks, held)
        ranking = new_ranking(points, order)
        if fixed:
            fringe = np.empty((size if points.owners.size else 2 * k, 3))
            more = _form_extended(points, rest, ranking, center, fringe, k, extra, signal)
        else:
            # sums that were updated often carry rounding
            center = tallied(points, tally, order)
            shrinking.forget()
            more = _form_clusters(
                *(points, rest, ranking, center, tally, shrinking, own),
                *(k, style, extra > 0.0, signal),
            )
    if signal[1] != 0:
        return np.full(size, -1, np.int32)
    count = int(left[CLUSTER])
    if style == FIXED and left[RECORDS] >= k:
        labels[labels < 0] = count
    _distribute(points, labels, count)
    signal[0] = size
    return labels


def _distribute(points: Points, labels: Ints, count: int) -> None:
    """Each point without a cluster joins the one with the nearest centroid (not recomputed)."""
    leftover = np.flatnonzero(labels < 0)
    if leftover.size == 0:
        return
    if count == 0:
        labels[:] = 0
        return
    rows, numbers = centroids(points, labels, count, np.zeros(count, np.float64))
    labels[leftover] = nearest_references(points, leftover, rows, numbers)


@apart
@compiled
def _take(points: Points, rest: Rest, point: int) -> float:
    """Put a remaining point into the cluster being formed; the records, or persons, it brings."""
    remove(rest.searched, point)
    rest.labels[point] = whole(rest.left[CLUSTER])
    rest.left[NUMBER] -= 1.0
    rest.left[RECORDS] -= drop_units(points, rest.held, point)
    return add_units(points, rest.marks, point)


@part
def _lacking(points: Points, rest: Rest, records: float) -> int:
    """How many points are taken at once where so many records, or persons, are wanting.

    The answers of a search are in no order, so it is one by one unless each is a single record.
    """
    single = rest.left[NUMBER] == rest.left[RECORDS] or is_of_records(points)
    return whole(records) if single else whole(1)


@part
def _interrupted(rest: Rest, signal: Longs) -> bool:
    """Report progress; whether to stop, because half of the points are gone or on request."""
    indexed, left = rest.searched.columns.shape[1], rest.left[NUMBER]
    signal[0] = rest.labels.size - whole(left)
    return signal[1] != 0 or (indexed >= SMALLEST_REBUILD and 2 * left < indexed)


@part
def _grow(
    points: Points,
    rest: Rest,
    tally: Tally,
    shrinking: Shrinking,
    own: Tally,
    seed: int,
    k: int,
    style: int,
    dynamic: bool,
) -> None:
    """Form a cluster around a point until it has k records.

    The first is taken out before the search, for a record equal to it may come first among the
    nearest.
    """
    answers = rest.finds.answers
    clear(points.heads, own)
    point_reference(points, seed, rest.reference)
    answers[0, 2] = seed
    new_count(rest.marks)
    amount, found = 0.0, whole(1)
    while found > 0:
        for slot in range(found):
            point = whole(answers[slot, 2])
            amount += _take(points, rest, point)
            take_out(points, tally, shrinking, point)
            if dynamic:
                count_point(points, own, point)
        found = whole(0)
        if amount < k:
            if dynamic:
                centroid_reference(points, own, rest.reference)
            wanted = whole(1) if style == ADAPTIVE else _lacking(points, rest, k - amount)
            found = search(points, rest.searched, rest.finds, rest.reference, NEAREST, wanted)


@compiled
def _form_clusters(
    points: Points,
    rest: Rest,
    ranking: Ranking,
    center: Floats,
    tally: Tally,
    shrinking: Shrinking,
    own: Tally,
    k: int,
    style: int,
    dynamic: bool,
    signal: Longs,
) -> bool:
    """Form clusters of MDAV and SA-MDAV; whether there are more to come."""
    left, reference = rest.left, rest.reference
    outer = whole(-1)
    while left[RECORDS] >= (2 * k if style == FIXED else k):
        chosen, second = whole(-1), outer >= 0
        if second:
            point_reference(points, outer, reference)
            outer = whole(-1)
        else:
            if _interrupted(rest, signal):
                return True
            remaining_center(points, tally, shrinking, center)
            chosen = farthest_from_center(points, ranking, rest.labels, center)
            for entry in range(center.size):
                reference[entry] = center[entry]
        # s is found by the index, and so is r while the rows of the center change
        if chosen < 0:
            search(points, rest.searched, rest.finds, reference, FARTHEST, whole(1))
            chosen = whole(rest.finds.answers[0, 2])
        # r is remembered: the next cluster begins at s, the farthest from it
        if not second and (style == ADAPTIVE or left[RECORDS] >= 3 * k):
            outer = chosen
        _grow(points, rest, tally, shrinking, own, chosen, k, style, dynamic and style == ADAPTIVE)
        left[CLUSTER] += 1.0
    return False


@compiled
def _distance_around(points: Points, rest: Rest, point: int) -> float:
    """Distance of a point to the nearest other remaining one, which is then the first answer."""
    answers = rest.finds.answers
    point_reference(points, point, rest.reference)
    # a point that remains finds itself as well
    remains = rest.labels[point] < 0
    wanted = whole(2 if remains else 1)
    found = search(points, rest.searched, rest.finds, rest.reference, NEAREST, wanted)
    if found < wanted:
        return np.inf
    return answers[1, 0] if remains and answers[0, 2] == point else answers[0, 0]


@part
def _extend(
    points: Points,
    rest: Rest,
    fringe: Floats,
    size: int,
    amount: float,
    most: int,
    threshold: float,
) -> None:
    """Let a cluster of `size` members grow to at most `most` records by those near enough."""
    newest = -2.0
    for slot in range(size):
        fringe[slot, NEIGHBOR] = newest
    while amount < most and rest.left[NUMBER] > 0.0:
        best = 0
        for slot in range(size):
            if fringe[slot, NEIGHBOR] == newest:
                fringe[slot, APART] = _distance_around(points, rest, whole(fringe[slot, MEMBER]))
                fringe[slot, NEIGHBOR] = rest.finds.answers[0, 2]
            first = fringe[slot, NEIGHBOR] < fringe[best, NEIGHBOR]
            same = fringe[slot, APART] == fringe[best, APART]
            if fringe[slot, APART] < fringe[best, APART] or (same and first):
                best = slot
        newest = fringe[best, NEIGHBOR]
        outside = _distance_around(points, rest, whole(newest))
        amount += points.sizes[whole(newest)]
        if amount > most or not fringe[best, APART] < threshold * outside:
            return
        _take(points, rest, whole(newest))
        fringe[size, MEMBER], fringe[size, NEIGHBOR] = newest, newest
        size += 1


@compiled
def _form_extended(
    points: Points,
    rest: Rest,
    ranking: Ranking,
    center: Floats,
    fringe: Floats,
    k: int,
    threshold: float,
    signal: Longs,
) -> bool:
    """Form clusters of V-MDAV; whether there are more to come.

    In the fringe lie, for each MEMBER of the cluster being formed, the remaining NEIGHBOR nearest
    to it and how far they are APART.
    """
    answers = rest.finds.answers
    while rest.left[RECORDS] >= k:
        if _interrupted(rest, signal):
            return True
        chosen = farthest_from_center(points, ranking, rest.labels, center)
        point_reference(points, chosen, rest.reference)
        answers[0, 2] = chosen
        new_count(rest.marks)
        amount, size, found = 0.0, whole(0), whole(1)
        while found > 0:
            for slot in range(found):
                fringe[size, MEMBER] = answers[slot, 2]
                amount += _take(points, rest, whole(answers[slot, 2]))
                size += 1
            found = whole(0)
            if amount < k:
                wanted = _lacking(points, rest, k - amount)
                found = search(points, rest.searched, rest.finds, rest.reference, NEAREST, wanted)
        _extend(points, rest, fringe, size, amount, 2 * k - 1, threshold)
        rest.left[CLUSTER] += 1.0
    return False
