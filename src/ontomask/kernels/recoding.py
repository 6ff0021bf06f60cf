"""The loop of recoding: tuples that are too rare take the values of another tuple.

While a tuple t is smaller than k, its records take the values of a tuple v of the current table,
chosen by the guide; sizes add up (Martinez, Sanchez, Valls and Batet 2012). No new tuple appears.
Among the smallest tuples the first goes first; a tuple that has grown in between is judged by its
new size. In the order ANY the tuples go by number instead. The size of a tuple, omega in the
literature, is the number of its records, not of the people whom they stand for. Where several
records may be of one person (see `units`), it is the number of persons, counted anew at every
merge.

SEMANTIC takes the v of least omega_v * distance(t, v) (or of least distance alone), of equals
the least frequent, then the first. DISCERNIBILITY takes the merge that least increases the sum of
squared group sizes: (w_t + w_v)^2 - w_t^2 - w_v^2 = 2 w_t w_v, so the least frequent v, then the
first. RANDOM_GUIDE takes any, by one uniform number per merge.
"""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
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
    set_factor,
)
from ontomask.kernels.neighbors import prepare
from ontomask.kernels.records import Points, point_reference
from ontomask.kernels.units import add_units, new_count, new_marks

__all__ = ["ANY", "DISCERNIBILITY", "RANDOM_GUIDE", "SEMANTIC", "SMALLEST_FIRST", "recode"]

SEMANTIC, DISCERNIBILITY, RANDOM_GUIDE = 0, 1, 2
SMALLEST_FIRST, ANY = 0, 1
SMALLEST_REBUILD = 256
"""As in the clusterings: an index over fewer tuples is not made anew."""

TARGET, LIVING, SPOT, NEXT, LAST = 0, 1, 2, 3, 4
"""Rows of `tuples`: whose values a tuple takes; the tuples of the current table; where they are;
and, for all that were merged, the next one (itself at the end) and the last one."""
COUNT, TURN = 0, 1
"""Entries of `state`: number of tuples in the current table; the tuple whose turn it is."""


@compiled
def _set_size(sizes: Floats, point: int, records: float) -> None:
    """Write a size into a tree of minima: node n lies over nodes 2n and 2n + 1, tuples last."""
    node = sizes.size // 2 + point
    sizes[node] = records
    while node > 1:
        node = node // 2
        first, second = sizes[2 * node], sizes[2 * node + 1]
        sizes[node] = first if first < second else second


@compiled
def _least_frequent(sizes: Floats) -> int:
    """The smallest tuple, the first of equals."""
    node, half = whole(1), sizes.size // 2
    while node < half:
        node = 2 * node if sizes[2 * node] == sizes[node] else 2 * node + 1
    return node - half


@part
def _drawn(tuples: Longs, count: int, but: int, uniform: float) -> int:
    """A tuple of the current table other than `but`, by a uniform number."""
    slot = whole(uniform * (count - 1))
    slot = slot if slot < count - 2 else count - 2
    return tuples[LIVING, slot if slot < tuples[SPOT, but] else slot + 1]


@part
def _strike(tuples: Longs, count: int, point: int) -> None:
    """Take a tuple off the list of the current table; the last takes its place."""
    last = tuples[LIVING, count - 1]
    tuples[LIVING, tuples[SPOT, point]] = last
    tuples[SPOT, last] = tuples[SPOT, point]


@part
def _most_similar(points: Points, index: Index, finds: Finds, reference: Floats, point: int) -> int:
    """The tuple nearest to a point, which is taken out."""
    remove(index, point)
    point_reference(points, point, reference)
    search(points, index, finds, reference, NEAREST, whole(1))
    return whole(finds.answers[0, 2])


@part
def _united(
    points: Points, tuples: Longs, marks: Longs, turn: int, chosen: int, own: float, other: float
) -> float:
    """The size of a tuple with the records of another one."""
    tuples[NEXT, tuples[LAST, chosen]], tuples[LAST, chosen] = turn, tuples[LAST, turn]
    if points.owners.size == 0:
        return own + other
    new_count(marks)
    total, member = add_units(points, marks, chosen), chosen
    while tuples[NEXT, member] != member and total < other + own:
        member = tuples[NEXT, member]
        total += add_units(points, marks, member)
    return total


@part
def _next_turn(sizes: Floats, state: Longs, size: int, k: float, order: int) -> bool:
    """Find the tuple whose turn it is; whether there is one."""
    if order == SMALLEST_FIRST:
        state[TURN] = _least_frequent(sizes)
    else:
        # a tuple that is gone has infinite size
        while state[TURN] < size and sizes[sizes.size // 2 + state[TURN]] >= k:
            state[TURN] += 1
    return state[TURN] < size and sizes[sizes.size // 2 + state[TURN]] < k


@compiled
def _merge_rare(
    points: Points,
    index: Index,
    finds: Finds,
    reference: Floats,
    tuples: Longs,
    sizes: Floats,
    marks: Longs,
    state: Longs,
    k: float,
    guide: int,
    order: int,
    by_size: bool,
    uniforms: Floats,
    signal: Longs,
) -> bool:
    """Merge tuples until half of those indexed are gone; whether there are more to merge."""
    size, half, indexed = tuples.shape[1], sizes.size // 2, index.columns.shape[1]
    while state[COUNT] > 1 and signal[1] == 0 and _next_turn(sizes, state, size, k, order):
        if guide == SEMANTIC and indexed >= SMALLEST_REBUILD and 2 * state[COUNT] < indexed:
            return True
        turn = state[TURN]
        records = sizes[half + turn]
        _set_size(sizes, turn, np.inf)
        if guide == SEMANTIC:
            chosen = _most_similar(points, index, finds, reference, turn)
        elif guide == DISCERNIBILITY:
            chosen = _least_frequent(sizes)
        else:
            chosen = _drawn(tuples, state[COUNT], turn, uniforms[size - state[COUNT]])
        other = sizes[half + chosen]
        records = _united(points, tuples, marks, turn, chosen, records, other)
        _set_size(sizes, chosen, records)
        tuples[TARGET, turn] = chosen
        _strike(tuples, state[COUNT], turn)
        state[COUNT] -= 1
        signal[0] = size - state[COUNT]
        if guide == SEMANTIC:
            factor = 1.0
            if by_size:
                factor = records if points.power == 1 else records * records
            # the size is the rank as well: of equally near tuples the least frequent comes first
            set_factor(index, chosen, factor, records)
    return False


def _tree(sizes: Floats) -> Floats:
    """Sizes as the leaves of a tree of minima."""
    half = 1 << max(0, int(sizes.size - 1).bit_length())
    tree = np.full(2 * half, np.inf)
    tree[half : half + sizes.size] = sizes
    while half > 1:
        tree[half // 2 : half] = tree[half : 2 * half].reshape(-1, 2).min(axis=1)
        half //= 2
    return tree


def _final_targets(targets: Longs) -> Ints:
    """Follow every chain of merges to its end."""
    following = targets[targets]
    while not np.array_equal(following, targets):
        targets, following = following, following[following]
    return targets.astype(np.int32)


def recode(
    points: Points,
    k: float,
    guide: int,
    order: int,
    by_size: bool,
    uniforms: Floats,
    signal: Longs,
) -> Ints:
    """For every tuple the number of the tuple whose values its records take.

    `uniforms` holds a number per tuple for RANDOM_GUIDE. signal[0] counts merges; after a stop
    request the targets so far are returned.
    """
    size = points.sizes.size
    tuples, sizes = np.array([np.arange(size)] * 5), _tree(points.sizes)
    marks = new_marks(points)
    state = np.array([size, 0])
    reference = np.empty(points.codes.shape[0] + points.numbers.shape[0])
    more = True
    while more:
        current = sizes[sizes.size // 2 :][:size]
        # contributions are distances raised to the power, so sizes are raised as well
        factors = current**points.power if by_size else np.ones(size)
        living = np.sort(tuples[LIVING, : state[COUNT]])
        index = build_index(points, living, factors, current, LEAF)
        prepare(index)
        finds = new_finds(index, 1)
        more = _merge_rare(
            *(points, index, finds, reference, tuples, sizes, marks, state),
            *(float(k), guide, order, by_size, uniforms, signal),
        )
    return _final_targets(tuples[TARGET])
