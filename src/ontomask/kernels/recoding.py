"""The loop of recoding: tuples that are too rare take the values of another tuple.

While a tuple t has weight below k, its records take the values of a tuple v of the current table,
chosen by the guide; weights add up (Martinez, Sanchez, Valls and Batet 2012). No new tuple appears.
Among tuples of the smallest weight the first goes first; one that has gained weight in between is
judged by its new weight. In the order ANY the tuples go by number instead.

SEMANTIC takes the v of least omega_v * distance(t, v) (or of least distance, unweighted), of equals
the least frequent, then the first. DISCERNIBILITY takes the merge that least increases the sum of
squared group sizes: (w_t + w_v)^2 - w_t^2 - w_v^2 = 2 w_t w_v, so the least frequent v, then the
first. RANDOM_GUIDE takes any, by one uniform number per merge.
"""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.index import (
    LEAF,
    NEAREST,
    Finds,
    Index,
    build_index,
    new_finds,
    remove,
    search,
    set_factor,
)
from ontomask.kernels.records import (
    Points,
    Reference,
    point_reference,
    whole,
)

__all__ = ["ANY", "DISCERNIBILITY", "RANDOM_GUIDE", "SEMANTIC", "SMALLEST_FIRST", "recode"]

SEMANTIC, DISCERNIBILITY, RANDOM_GUIDE = 0, 1, 2
SMALLEST_FIRST, ANY = 0, 1


@njit(cache=True, nogil=True)
def _least_frequent(queue: list[tuple[float, int]], weights: Floats, but: int) -> int:
    """The living tuple of least weight other than `but`; the queue holds stale entries as well."""
    kept = (-1.0, whole(-1))
    found = whole(-1)
    while len(queue) > 0 and found < 0:
        weight, tuple_number = queue[0]
        if weights[tuple_number] != weight:
            heapq.heappop(queue)
        elif tuple_number == but:
            kept = heapq.heappop(queue)
        else:
            found = tuple_number
    if kept[1] >= 0:
        heapq.heappush(queue, kept)
    return found


@njit(cache=True, nogil=True)
def _drawn(living: Longs, spots: Longs, count: int, but: int, uniform: float) -> int:
    """A living tuple other than `but`, by a uniform number."""
    slot = min(int(uniform * (count - 1)), count - 2)
    return int(living[slot if slot < spots[but] else slot + 1])


@njit(cache=True, nogil=True)
def _most_similar(
    points: Points, index: Index, finds: Finds, reference: Reference, point: int
) -> int:
    """The tuple nearest to a point that has just been taken out of the index."""
    point_reference(points, point, reference)
    search(points, index, finds, reference, NEAREST, whole(1))
    return int(finds.answers[0, 2])


@njit(cache=True, nogil=True)
def _factors(weights: Floats, power: int, weighted: bool) -> Floats:
    """Omega ** power, as contributions are distances raised to the power; ones when unweighted."""
    return weights**power if weighted else np.ones(weights.size)


@njit(cache=True, nogil=True)
def _final_targets(targets: Longs) -> Longs:
    """Follow every chain of merges to its end."""
    for start in range(targets.size):
        end = start
        while targets[end] != end:
            end = targets[end]
        point = start
        while point != end:
            following = targets[point]
            targets[point] = end
            point = following
    return targets


@njit(cache=True, nogil=True)
def _strike(living: Longs, spots: Longs, count: int, point: int) -> None:
    """Take a tuple off the list of living ones; the last takes its place."""
    last = living[count - 1]
    living[spots[point]] = last
    spots[last] = spots[point]


@njit(cache=True, nogil=True)
def recode(
    points: Points,
    k: float,
    guide: int,
    order: int,
    weighted: bool,
    uniforms: Floats,
    signal: Longs,
) -> Ints:
    """For every tuple the number of the tuple whose values its records take.

    `uniforms` holds a number per tuple for RANDOM_GUIDE. signal[0] counts merges; after a stop
    request the targets so far are returned.
    """
    size, power = points.weights.size, points.power
    weights = points.weights.copy()
    targets, living, spots = np.arange(size), np.arange(size), np.arange(size)
    queue = [(float(weights[point]), int(point)) for point in range(size)]
    heapq.heapify(queue)
    reference = Reference(
        np.empty(points.codes.shape[0], np.int32), np.empty(points.numbers.shape[0], np.float64)
    )
    finds = new_finds(points, 1)
    index = build_index(points, living, _factors(weights, power, weighted), weights, LEAF)
    count, indexed, turn = size, size, whole(-1)
    while count > 1 and signal[1] == 0:
        if order == SMALLEST_FIRST:
            turn = _least_frequent(queue, weights, whole(-1))
            if weights[turn] >= k:
                break
        else:
            turn += 1
            if turn == size:
                break
            if weights[turn] < 0.0 or weights[turn] >= k:
                continue
        if guide == SEMANTIC:
            remove(points, index, turn)
            chosen = _most_similar(points, index, finds, reference, turn)
        elif guide == DISCERNIBILITY:
            chosen = _least_frequent(queue, weights, turn)
        else:
            chosen = _drawn(living, spots, count, turn, uniforms[size - count])
        weights[chosen] += weights[turn]
        weights[turn] = -1.0
        targets[turn] = chosen
        _strike(living, spots, count, turn)
        heapq.heappush(queue, (float(weights[chosen]), int(chosen)))
        count -= 1
        signal[0] = size - count
        if guide == SEMANTIC:
            factor = weights[chosen] ** power if weighted else 1.0
            set_factor(points, index, chosen, factor, weights[chosen])
            if 2 * count < indexed and indexed >= 256:
                factors = _factors(weights, power, weighted)
                index = build_index(points, np.sort(living[:count]), factors, weights, LEAF)
                indexed = count
    return _final_targets(targets).astype(np.int32)
