"""The loop of multivariate rank swapping where a record is a single word.

Words are equal or not, so the interval around a reference begins with the records that equal it,
all others are tied, and the next reference is any of these. `record_swapping` would list these in
every step; here a counter (see `counters`) tells who stands at a position, in as many looks as
the number of words has bits. The draws are used alike, and the answers are the same; but where
intervals hold swapped records, too, how many others of an interval are left is drawn at once.
"""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import compiled, part, whole
from ontomask.kernels.counters import add, counter, locate, total_before
from ontomask.kernels.draws import hypergeometric, pick
from ontomask.kernels.formulas import EQUAL, FIGURES, GAP, WAY
from ontomask.kernels.partners import (
    State,
    finish_value,
    first_unfinished,
    first_unswapped,
    start_state,
)
from ontomask.kernels.record_swapping import FIRST, NEXT, SAMPLE
from ontomask.kernels.records import Points

__all__ = ["are_words", "swap_words"]


def are_words(points: Points) -> bool:
    """Whether tuples are single words that differ from all others alike."""
    heads = points.heads
    if heads.shape[0] != 1 or points.gaps.size or heads[0, WAY] != EQUAL:
        return False
    return bool(points.tables[heads[0, FIGURES] + GAP] > 0.0)


@compiled
def _other_at(counts: Longs, point: int, own: int, position: int) -> int:
    """The tuple that holds a position of the records of all but one tuple, which has `own`."""
    if position >= total_before(counts, point):
        position += own
    return whole(locate(counts, position))


@part
def _side_among_all(
    own: int, others: int, equal: int, different: int, k: int, draws: Floats
) -> int:
    """Whether a partner within the k nearest of all records is an equal one (0), another (1), none.

    Of the `equal` records `own` are not swapped, of the `different` ones `others`.
    """
    inside, edge = own, whole(0)
    if equal >= k:
        inside = hypergeometric(draws[SAMPLE], equal, own, k)
    else:
        edge = hypergeometric(draws[SAMPLE], different, others, k - equal)
    if inside + edge == 0:
        return whole(-1)
    return whole(pick(draws[FIRST], inside + edge) >= inside)


@compiled
def _swap_words(
    state: State,
    counts: Longs,
    tuple_of: Ints,
    reference: int,
    k: int,
    everyone: bool,
    uniforms: Floats,
    partners: Longs,
    references: Longs,
    nearer: Longs,
    signal: Longs,
) -> int:
    """Swap until nobody is left, or on request; how many steps that took."""
    count, left, step = references.size, whole(references.size), whole(0)
    while reference >= 0 and signal[1] == 0:
        point, draws = whole(tuple_of[reference]), uniforms[step]
        finish_value(state, whole(0), reference, point)
        add(counts, point, whole(-1))
        left -= 1
        own, equal, side = whole(state.unfinished[point]), state.sizes[point] - 1, whole(-1)
        if left > 0 and everyone:
            different = count - 1 - equal
            side = _side_among_all(
                own, left - own, whole(equal), different, min(k, count - 1), draws
            )
        elif left > 0:
            side = whole(pick(draws[FIRST], min(k, left)) >= own)
        if side >= 0:
            holder = point
            if side == 1:
                holder = _other_at(counts, point, own, pick(draws[FIRST + 1], left - own))
                nearer[step, 0] = equal if everyone else own
            other = whole(first_unswapped(state, whole(0), holder))
            finish_value(state, whole(0), other, holder)
            add(counts, holder, whole(-1))
            left -= 1
            partners[0, reference], partners[0, other] = other, reference
        references[step] = reference
        signal[0], step = count - left, step + 1
        own = whole(state.unfinished[point])
        # the farthest are all others, if there are any
        if left > own:
            point = _other_at(counts, point, own, pick(draws[NEXT], left - own))
        reference = whole(first_unfinished(state, point)) if left > 0 else whole(-1)
    return step


def swap_words(
    points: Points,
    tuple_of: Ints,
    first: int,
    k: int,
    everyone: bool,
    priorities: Longs,
    uniforms: Floats,
    signal: Longs,
) -> tuple[Longs, Longs, Longs]:
    """What `swap_records` finds for words; if intervals hold `everyone`, what it may find."""
    count = tuple_of.size
    state = start_state(tuple_of, points.sizes.size, priorities)
    partners, references = np.arange(count)[None].copy(), np.empty(count, np.int64)
    nearer, start = np.zeros((count, 1), np.int64), int(state.buckets[-1, state.starts[first]])
    steps = _swap_words(
        *(state, counter(state.sizes.astype(np.int64)), tuple_of, start, k, everyone),
        *(uniforms, partners, references, nearer, signal),
    )
    return partners, references[:steps], nearer[:steps]
