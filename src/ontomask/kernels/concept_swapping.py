"""The loop of multivariate rank swapping where a record is a single concept of a tree.

`record_swapping` would look at all concepts in every step, to bound how far they are; here counts
of records below the ancestors of a reference tell who is near and who is far (`branches`), in as
many looks as there are ancestors times kinds of concepts. The draws are used alike, and the answers
are the same. That holds where the next reference is drawn by lot, too: what no concept can be
farther than is asked of the same value tree, which is made anew as often.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.branches import (
    Branches,
    add_record,
    amount_at,
    branches_of,
    distance_of,
    farthest_step,
    fill_below,
    nearest_step,
    step_start,
    step_tuple,
)
from ontomask.kernels.compiling import compiled, part, whole
from ontomask.kernels.draws import pick, uniform_of
from ontomask.kernels.index import ATTEMPTS
from ontomask.kernels.partners import (
    State,
    finish_value,
    first_unfinished,
    first_unswapped,
    start_state,
)
from ontomask.kernels.record_swapping import FIRST, NEXT, SMALLEST_REBUILD
from ontomask.kernels.records import VALUE_START, Points
from ontomask.kernels.tuple_ranking import LEAST_BY_LOT, SAMPLED, Lots, lots_of
from ontomask.kernels.value_trees import END, joint_node, value_trees

__all__ = ["swap_concepts"]

REFERENCE, STEP, LIVING, LEFT = 0, 1, 2, 3
"""Entries of `progress`: the record that is next, how many have been, how many tuples are
unfinished, and how many records."""
LOW, HIGH, SPAN = 0, 1, 2
"""Entries of `ends`: the first and the last leaf that is unfinished, and what joins them."""


class Reach(NamedTuple):
    """What tells how far any tuple could be: those that a node of a value tree holds."""

    leaves: Longs
    """[tuples] the leaves of tuples, ascending …"""
    tuples: Longs
    """… and the tuples."""
    links: Ints
    """As in `value_trees`."""
    ends: Longs
    """See the constants above."""
    ones: Ints
    """[p] 1 for each tuple."""
    totals: Longs
    """[lists of branches] how many of the tuples below the span are in each."""
    lots: Lots


@compiled
def _narrow(branches: Branches, reach: Reach, unfinished: Ints) -> None:
    """Find what joins the leaves of all tuples that are unfinished; there is one at least."""
    ends, tuples, leaves = reach.ends, reach.tuples, reach.leaves
    while unfinished[tuples[ends[LOW]]] == 0:
        ends[LOW] += 1
    while unfinished[tuples[ends[HIGH]]] == 0:
        ends[HIGH] -= 1
    span = joint_node(reach.links, whole(leaves[ends[LOW]]), whole(leaves[ends[HIGH]]))
    if span != ends[SPAN]:
        ends[SPAN] = span
        first, last = whole(0), whole(tuples.size)
        while leaves[first] < span:
            first += 1
        while leaves[last - 1] >= reach.links[span, END]:
            last -= 1
        fill_below(branches, tuples[first:last], reach.ones, reach.totals)


@compiled
def _by_lot(branches: Branches, reach: Reach, unfinished: Ints, point: int, seed: float) -> int:
    """What `index.farthest_by_lot` draws."""
    kind = branches.kinds[point]
    rank = farthest_step(branches, reach.totals, point)
    farthest, lots = branches.reached[kind, branches.order[kind, rank]], reach.lots
    for attempt in range(ATTEMPTS):
        lot = pick(uniform_of(seed, attempt), lots.tuples.size)
        other = whole(lots.tuples[lot])
        if lots.ranks[lot] < unfinished[other] and distance_of(branches, point, other) == farthest:
            return other
    return whole(-1)


@compiled
def _met(branches: Branches, reach: Reach, unfinished: Ints, asked: Longs) -> int:
    """Around how many of some tuples a farthest one is met by lot."""
    met = 0
    _narrow(branches, reach, unfinished)
    for place in range(asked.size):
        seed = (place + 0.5) / asked.size
        met += _by_lot(branches, reach, unfinished, whole(asked[place]), seed) >= 0
    return met


@part
def _farthest(
    branches: Branches, reach: Reach, unfinished: Ints, point: int, uniform: float
) -> int:
    """What `tuple_ranking.drawn_farthest` draws."""
    if reach.lots.tuples.size > 0:
        _narrow(branches, reach, unfinished)
        other = _by_lot(branches, reach, unfinished, point, uniform)
        if other >= 0:
            return other
    return _drawn(branches, point, farthest_step(branches, branches.totals, point), uniform)


@compiled
def _drawn(branches: Branches, point: int, rank: int, uniform: float) -> int:
    """A tuple drawn from those on the step around another one that ends with a rank."""
    order, records = branches.order[branches.kinds[point]], whole(0)
    first = step_start(branches, point, rank)
    for place in range(first, rank + 1):
        records += amount_at(branches, branches.totals, point, whole(order[place]))
    return step_tuple(branches, point, first, rank, whole(pick(uniform, records)))


@part
def _finish(branches: Branches, state: State, record: int, point: int, progress: Longs) -> None:
    """Note that a record's value has been dealt with."""
    finish_value(state, whole(0), record, point)
    add_record(branches, point, whole(-1))
    progress[LEFT] -= 1
    progress[LIVING] -= state.unfinished[point] == 0


@compiled
def _swap_concepts(
    branches: Branches,
    reach: Reach,
    state: State,
    tuple_of: Ints,
    k: int,
    uniforms: Floats,
    progress: Longs,
    partners: Longs,
    references: Longs,
    nearer: Longs,
    signal: Longs,
) -> None:
    """Swap until half of the tuples are finished or nobody is left, or on request."""
    indexed = progress[LIVING]
    while progress[REFERENCE] >= 0 and signal[1] == 0:
        if indexed >= SMALLEST_REBUILD and 2 * progress[LIVING] < indexed:
            break
        reference, step = progress[REFERENCE], progress[STEP]
        point, draws = whole(tuple_of[reference]), uniforms[step]
        _finish(branches, state, reference, point, progress)
        if progress[LEFT] > 0:
            position = whole(pick(draws[FIRST], min(k, progress[LEFT])))
            rank, nearer[step, 0] = nearest_step(branches, point, position)
            holder = whole(_drawn(branches, point, rank, draws[FIRST + 1]))
            other = whole(first_unswapped(state, whole(0), holder))
            _finish(branches, state, other, holder, progress)
            partners[0, reference], partners[0, other] = other, reference
        references[step] = reference
        progress[STEP] += 1
        signal[0] = references.size - progress[LEFT]
        progress[REFERENCE] = -1
        if progress[LEFT] > 0:
            point = whole(_farthest(branches, reach, state.unfinished, point, draws[NEXT]))
            progress[REFERENCE] = first_unfinished(state, point)


def swap_concepts(
    points: Points,
    tuple_of: Ints,
    first: int,
    k: int,
    everyone: bool,
    priorities: Longs,
    uniforms: Floats,
    signal: Longs,
) -> tuple[Longs, Longs, Longs] | None:
    """What `swap_records` finds for concepts of a tree; None where records are something else.

    Intervals that hold `everyone` are sampled from all who are tied, so they are not found here.
    """
    if everyone:
        return None
    count, state = tuple_of.size, start_state(tuple_of, points.sizes.size, priorities)
    branches = branches_of(points, state.sizes)
    if branches is None:
        return None
    partners, references = np.arange(count)[None].copy(), np.empty(count, np.int64)
    nearer, start = np.zeros((count, 1), np.int64), int(state.buckets[-1, state.starts[first]])
    progress = np.array([start, 0, 0, count])
    while progress[REFERENCE] >= 0 and signal[1] == 0:
        alive = np.flatnonzero(state.unfinished > 0)
        progress[LIVING] = alive.size
        reach = _new_reach(points, branches, state.unfinished, alive)
        told = partners, references, nearer, signal
        _swap_concepts(branches, reach, state, tuple_of, k, uniforms, progress, *told)
    steps = progress[STEP]
    return partners, references[:steps], nearer[:steps]


def _new_reach(points: Points, branches: Branches, unfinished: Ints, alive: Longs) -> Reach:
    """What lots need, and lots if drawing finds a farthest tuple more often than not."""
    trees = value_trees(points, alive)
    leaves = trees.leaves[points.heads[0, VALUE_START] + points.codes[0, alive]].astype(np.int64)
    order, ones = np.argsort(leaves), np.ones(unfinished.size, np.int32)
    ends, totals = np.array([0, alive.size - 1, -1]), np.zeros_like(branches.totals)
    place = leaves[order], alive[order], trees.links, ends
    reach = Reach(*place, ones, totals, lots_of(alive, unfinished))
    # fewer tuples are listed soon enough
    some = SAMPLED if alive.size >= LEAST_BY_LOT else 0
    asked = alive[np.linspace(0, alive.size - 1, some).astype(np.int64)]
    met = _met(branches, reach, unfinished, asked)
    return reach if 2 * met > SAMPLED else reach._replace(lots=lots_of(alive[:0], unfinished))
