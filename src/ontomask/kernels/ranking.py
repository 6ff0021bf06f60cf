"""The point farthest from a center that moves little by little, without looking at every point.

The shell of a shrinking set is about equally far from its center, so boxes tell little. But as long
as the center keeps its rows, the distance of a point (for power 2 its root) changes by no more than
the center's numbers move, because coded attributes and missing numbers contribute a constant, and
|x - c'| <= |x - c| + |c - c'|. Every point therefore keeps an upper bound from the last time it was
compared, minus the path the center had gone by then; bounds are put right only when they come to
the top of the heap. The answer is that of a full scan, ties included.

Where very many are equally far, as in tables with few different records, each call would compare
all of these. An index tells them apart by their numbers alone, so it is asked until they are gone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import apart, compiled, part, whole
from ontomask.kernels.records import Points, contribution

__all__ = ["Ranking", "farthest_from_center", "new_ranking"]

SLACK = 1e-12
"""Far more than the rounding of roots and sums, relative to the figures they are made of."""
PATIENCE = 16
"""Calls with the same rows after which it pays to compare all points."""
MOST_TIED = 512
"""So many compared points in a call are too many."""

COUNT = 0
"""Entry of `state`: keys in the heap, -1 when the bounds do not hold."""
PATH = 1
"""Entry of `state`: length of the center's path, times the scale."""
SCALE = 2
"""Entry of `state`: greatest factor (for power 2 its root)."""
CALLS = 3
"""Entry of `state`: calls since the center's rows changed."""
CENTER = 4
"""First entry of `state`: the center as it was last."""


class Ranking(NamedTuple):
    """A heap of upper bounds, the greatest on top."""

    ids: Ints
    """[2, members] point of each key, and all members."""
    keys: Floats
    """[members] bound of the distance (for power 2 of its root), less the path at that time."""
    state: Floats
    """[4 + coded + numeric] COUNT, PATH, SCALE, CALLS, and from CENTER on where it was last."""


def new_ranking(points: Points, members: Longs) -> Ranking:
    """A ranking of these points, to be filled when it is first asked."""
    greatest = float(points.factors[members].max(initial=0.0))
    scale = float(np.sqrt(greatest)) if points.power == 2 else greatest
    center = np.full(points.codes.shape[0] + points.numbers.shape[0], np.nan)
    return Ranking(
        np.array([members, members], np.int32),
        np.empty(members.size, np.float64),
        np.concatenate([[-1.0, 0.0, scale, 2.0 * PATIENCE], center]),
    )


@compiled
def _sink(keys: Floats, ids: Ints, count: int, slot: int, source: int) -> None:
    """Put the key of the source where it belongs at or below a slot."""
    key, point = keys[source], ids[0, source]
    while 2 * slot + 1 < count:
        child = 2 * slot + 1
        if child + 1 < count and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] <= key:
            break
        keys[slot], ids[0, slot] = keys[child], ids[0, child]
        slot = child
    keys[slot], ids[0, slot] = key, point


@part
def _rise(keys: Floats, ids: Ints, slot: int) -> None:
    """Put the key of the last slot where it belongs."""
    key, point = keys[slot], ids[0, slot]
    while slot > 0 and keys[(slot - 1) // 2] < key:
        keys[slot], ids[0, slot] = keys[(slot - 1) // 2], ids[0, (slot - 1) // 2]
        slot = (slot - 1) // 2
    keys[slot], ids[0, slot] = key, point


@part
def _distance(points: Points, reference: Floats, point: int) -> float:
    """Distance of a point."""
    return contribution(points, reference, point) * points.factors[point]


@part
def _fill(points: Points, ranking: Ranking, labels: Ints, center: Floats) -> None:
    """Compare all points that remain."""
    keys, ids, count = ranking.keys, ranking.ids, whole(0)
    for slot in range(keys.size):
        point = whole(ids[1, slot])
        if labels[point] < 0:
            distance = _distance(points, center, point)
            keys[count] = np.sqrt(distance) if points.power == 2 else distance
            ids[0, count] = point
            count += 1
    for slot in range(count // 2 - 1, -1, -1):
        _sink(keys, ids, count, slot, slot)
    ranking.state[COUNT], ranking.state[PATH] = count, 0.0


@part
def _follow(state: Floats, center: Floats, coded: int, power: int) -> None:
    """Lengthen the path; when rows change or numbers get missing, the bounds hold no more."""
    same, path = True, 0.0
    for entry in range(center.size):
        old, new = state[CENTER + entry], center[entry]
        move = abs(new - old)
        if entry < coded or move != move:
            same &= old == new or (entry >= coded and old != old and new != new)
        else:
            path += move * move if power == 2 else move
        state[CENTER + entry] = new
    # rounded up: a bound may be too large, never too small
    state[PATH] += (np.sqrt(path) if power == 2 else path) * state[SCALE] * (1.0 + SLACK)
    state[CALLS] += 1.0
    if not same:
        # the first call counts as the last of many
        state[CALLS] = 0.0 if state[CALLS] <= 2.0 * PATIENCE else PATIENCE
        state[COUNT] = -1.0


@apart
@compiled
def farthest_from_center(
    points: Points, ranking: Ranking, labels: Ints, center: Floats, other: int
) -> int:
    """The point without a label that is farthest from the center, or the next after this `other`.

    The next one (no other: -1) is asked for after the farthest from the same center. The answer -1
    says: better ask the index.
    """
    keys, ids, state = ranking.keys, ranking.ids, ranking.state
    if other < 0:
        _follow(state, center, points.codes.shape[0], points.power)
    if state[COUNT] < 0.0:
        if state[CALLS] < PATIENCE or other >= 0:
            return -1
        _fill(points, ranking, labels, center)
    count, kept, path = whole(state[COUNT]), 0, state[PATH]
    best, farthest, limit = whole(-1), -np.inf, -np.inf
    while count > 0 and keys[0] + path >= limit:
        point = whole(ids[0, 0])
        count -= 1
        _sink(keys, ids, count, whole(0), count)
        # what has been compared waits behind the heap
        if labels[point] >= 0:
            keys[count], ids[0, count] = keys[count + kept], ids[0, count + kept]
            continue
        distance = _distance(points, center, point)
        root = np.sqrt(distance) if points.power == 2 else distance
        keys[count], ids[0, count] = root - path, point
        kept += 1
        # whatever comes within rounding of the best is compared too, for the sake of ties
        if point == other:
            continue
        if distance > farthest or (distance == farthest and point < best):
            best, farthest, limit = point, distance, root - SLACK * (root + path)
    for slot in range(count, count + kept):
        _rise(keys, ids, slot)
    state[COUNT] = count + kept
    if kept > MOST_TIED:
        # a call takes at least one of them away
        state[COUNT], state[CALLS] = -1.0, PATIENCE - kept
    return best
