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
from ontomask.kernels.ahead import (
    AROUND,
    LARGE,
    OPPOSITE,
    Ahead,
    beside_clusters,
    forget,
    is_held_back,
    is_shared,
    obtain,
    obtained_members,
    tell_taken,
)
from ontomask.kernels.blocks import beside
from ontomask.kernels.centroids import Tally, Tallying, centroids, new_tally, tallied
from ontomask.kernels.compiling import compiled, part, whole
from ontomask.kernels.growing import Side, drop, farthest_point, grow, new_side, opposite_of
from ontomask.kernels.index import NEAREST, build_index, search
from ontomask.kernels.neighbors import prepare
from ontomask.kernels.ranking import Ranking, farthest_from_center, new_ranking
from ontomask.kernels.records import Points, nearest_references, point_reference
from ontomask.kernels.shrinking import Shrinking, new_shrinking, remaining_center, take_out
from ontomask.kernels.units import amount, drop_units, points_of_units

__all__ = ["LEAF", "mdav", "sa_mdav", "v_mdav"]

LEAF = 64
"""Points of a leaf: to measure dozens of them takes less than to bound more nodes."""
SMALLEST_REBUILD = 256
"""An index over fewer points is not made anew: that would hardly repay."""
MOST_LUCK, PAUSE = 8, 64
"""Which pair comes next is not foreseen for a while where that was wrong more often than right."""
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

    side: Side
    labels: Ints
    """[p] cluster of each point, -1 while it remains."""
    left: Floats
    """[3] NUMBER, RECORDS and CLUSTER."""
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
    tally, shrinking = new_tally(points), new_shrinking(points)
    fixed, adaptive, dynamic = style == VARIABLE, style == ADAPTIVE, extra > 0.0
    center = np.empty(points.heads.shape[0] + points.numbers.shape[0])
    if fixed:
        center = tallied(points, tally, np.arange(size))
    labels, left = np.full(size, -1, np.int32), np.array([size, amount(points), 0.0])
    held, more = points_of_units(points), True
    with beside() as pool:
        while more and signal[1] == 0:
            order = np.flatnonzero(labels < 0)
            # sums that were updated often carry rounding
            others = pool if size >= LARGE else None
            sums = None if fixed else Tallying(points, tally, order, others)
            index = build_index(points, order, points.factors, np.zeros(size), leaf_size)
            prepare(index)
            rest = Rest(new_side(points, index, k), labels, left, held)
            ranking = new_ranking(points, order)
            if sums is None:
                fringe = np.empty((size if points.owners.size else 2 * k, 3))
                more = _form_extended(points, rest, ranking, center, fringe, k, extra, signal)
                continue
            sums.finish()
            shrinking.forget()
            ways = k, adaptive, adaptive and dynamic
            with beside_clusters(points, index, labels, tally, shrinking, *ways, pool) as ahead:
                more = _form_clusters(
                    *(points, rest, ahead, ranking, center, tally, shrinking, *ways, signal),
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


@part
def _take(points: Points, rest: Rest, point: int) -> None:
    """Put a point into the cluster being formed."""
    rest.labels[point] = whole(rest.left[CLUSTER])
    rest.left[NUMBER] -= 1.0
    rest.left[RECORDS] -= drop_units(points, rest.held, point)


@part
def _interrupted(rest: Rest, signal: Longs) -> bool:
    """Report progress; whether to stop, because half of the points are gone or on request."""
    indexed, left = rest.side.searched.columns.shape[1], rest.left[NUMBER]
    signal[0] = rest.labels.size - whole(left)
    return signal[1] != 0 or (indexed >= SMALLEST_REBUILD and 2 * left < indexed)


@part
def _outermost(points: Points, side: Side, center: Floats) -> int:
    """The point farthest from the center, found by the index, where the ranking does not tell."""
    for entry in range(center.size):
        side.reference[entry] = center[entry]
    return farthest_point(points, side)


@part
def _after(luck: int, seed: int, expected: int) -> int:
    """How good luck is after this point was expected (-1: none was); none is expected below 1."""
    if expected < 0 or seed == expected:
        return min(luck + 1, MOST_LUCK)
    return whole(luck - 2 if luck > 2 else -PAUSE)


@compiled
def _form_clusters(
    points: Points,
    rest: Rest,
    ahead: Ahead,
    ranking: Ranking,
    center: Floats,
    tally: Tally,
    shrinking: Shrinking,
    k: int,
    adaptive: bool,
    dynamic: bool,
    signal: Longs,
) -> bool:
    """Form clusters of MDAV and SA-MDAV; whether there are more to come."""
    left, labels, side = rest.left, rest.labels, rest.side
    kind, seed, expected, pairs = whole(AROUND), whole(-1), whole(-1), False
    luck = whole(MOST_LUCK)
    while left[RECORDS] >= (k if adaptive else 2 * k):
        spare = left[RECORDS] - left[NUMBER]
        # once it is shared it stays so: there are never more records for the points that remain;
        # of persons, whose points may share records, who forms clusters ahead needs not be told
        shared = is_shared(ahead) and (adaptive or points.owners.size > 0 or spare == 0.0)
        if kind == AROUND:
            if _interrupted(rest, signal):
                return True
            remaining_center(points, tally, shrinking, center)
            seed = farthest_from_center(points, ranking, labels, center, whole(-1))
            if seed < 0:
                if is_held_back(ahead):
                    forget(side, ahead)
                seed = _outermost(points, side, center)
            # r is remembered: the next cluster begins at s, the farthest from it
            pairs = adaptive or left[RECORDS] >= 3 * k
            if shared:
                luck = _after(luck, seed, expected)
                expected = whole(-1)
                if luck > 0:
                    expected = farthest_from_center(points, ranking, labels, center, seed)
        ready = shared and obtain(points, side, ahead, kind, seed, expected, k, adaptive, dynamic)
        if ready:
            members = obtained_members(side, ahead)
        else:
            first = seed if kind == AROUND else opposite_of(points, side, seed)
            size = grow(points, side, whole(0), first, k, adaptive, dynamic, spare)[0]
            members = side.members[:size]
        for point in members:
            drop(side.searched, point)
            _take(points, rest, point)
            take_out(points, tally, shrinking, point)
        if is_shared(ahead):
            tell_taken(ahead, shrinking.taken, ready)
        left[CLUSTER] += 1.0
        kind = whole(OPPOSITE if kind == AROUND and pairs else AROUND)
    return False


@compiled
def _distance_around(points: Points, rest: Rest, point: int) -> float:
    """Distance of a point to the nearest other remaining one, which is then the first answer."""
    answers = rest.side.finds.answers
    point_reference(points, point, rest.side.reference)
    # a point that remains finds itself as well
    remains = rest.labels[point] < 0
    wanted = whole(2 if remains else 1)
    side = rest.side
    found = search(points, side.searched, side.finds, side.reference, NEAREST, wanted)
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
                fringe[slot, NEIGHBOR] = rest.side.finds.answers[0, 2]
            first = fringe[slot, NEIGHBOR] < fringe[best, NEIGHBOR]
            same = fringe[slot, APART] == fringe[best, APART]
            if fringe[slot, APART] < fringe[best, APART] or (same and first):
                best = slot
        newest = fringe[best, NEIGHBOR]
        outside = _distance_around(points, rest, whole(newest))
        amount += points.sizes[whole(newest)]
        if amount > most or not fringe[best, APART] < threshold * outside:
            return
        drop(rest.side.searched, whole(newest))
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
    left, members = rest.left, rest.side.members
    while left[RECORDS] >= k:
        if _interrupted(rest, signal):
            return True
        chosen = farthest_from_center(points, ranking, rest.labels, center, whole(-1))
        if chosen < 0:
            chosen = _outermost(points, rest.side, center)
        spare = left[RECORDS] - left[NUMBER]
        size, amount = grow(points, rest.side, whole(0), chosen, k, False, False, spare)
        for slot in range(size):
            fringe[slot, MEMBER] = members[slot]
            _take(points, rest, members[slot])
        _extend(points, rest, fringe, size, amount, 2 * k - 1, threshold)
        left[CLUSTER] += 1.0
    return False
