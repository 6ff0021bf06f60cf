"""The loop of multivariate rank swapping, on whole records (see `kernels.swapping`).

Records that are equal form one *tuple*, a point of factor 1. An index answers which tuples are
nearest to the reference, and which are farthest; the answers, ties included, are those of ranking
all records anew in each step. Distances are sums over attributes; dividing by their number, as the
published mean does, changes no order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.kernels.index import (
    FARTHEST,
    LEAF,
    NEAREST,
    Finds,
    Index,
    bound_all,
    build_index,
    new_finds,
    points_within,
    remove,
    search,
)
from ontomask.kernels.neighbors import sort_by_keys
from ontomask.kernels.records import (
    Points,
    compiled,
    inner,
    part,
    point_reference,
    whole,
)
from ontomask.kernels.swapping import pick

__all__ = ["swap_records"]

SAMPLE, NEXT, FIRST = 0, 1, 2
"""Columns of the draws: seed of the sample of a tie, next reference, then two per attribute."""
REFERENCE, STEP = 0, 1
"""Entries of `progress`: the record that is next, and how many have been."""
MORE_LISTED = 8
"""So many more than twice the interval are listed around a reference for all attributes at once."""
SMALLEST_REBUILD = 256
"""An index over fewer points is not made anew: that would hardly repay."""


class State(NamedTuple):
    """What is still to be swapped."""

    unswapped: Ints
    """[attributes, p] records of each tuple whose value of the attribute is not swapped."""
    unfinished: Ints
    """[p] records of each tuple with any value not swapped."""
    swapped: Bools
    """[attributes, n] whether a record's value is swapped."""
    waiting: Ints
    """[n] number of values of a record that are not swapped."""
    buckets: Longs
    """[attributes + 1, n] records by (tuple, priority); the last row serves the references."""
    tops: Longs
    """[attributes + 1, p] where the unswapped records of a tuple may start in its bucket."""
    starts: Longs
    """[p] where its bucket starts."""
    sizes: Ints
    """[p] number of records of each tuple."""


class Scratch(NamedTuple):
    """Room for a step."""

    reference: Floats
    keys: Floats
    """[listed] distances of the tuples listed around the reference, ascending."""
    near: Longs
    """[listed] those tuples."""
    order: Floats
    """[p] room to sort the tied by number."""
    tied: Longs
    """[p] tuples at one distance, ascending."""
    inside: Longs
    """[listed] tuples nearer than the edge of the interval over all records, ascending."""
    sampled: Longs
    """[k] records at that edge that belong to the interval."""
    more_keys: Floats
    more_near: Longs
    """Room for another list, for a single attribute."""


class Room(NamedTuple):
    """Where references look for partners, and for the next reference."""

    near: Index
    """The tuples among which intervals are taken."""
    rest: Index
    """Those with an unfinished record."""
    near_finds: Finds
    rest_finds: Finds


# The ranking: which tuples lie at a position ---------------------------------------------------


@inner
def _list_nearest(
    points: Points, index: Index, finds: Finds, counts: Ints, wanted: int, scratch: Scratch
) -> int:
    """List the nearest tuples with a count (all counts, if there are none), nearest first."""
    counted = Finds(finds.answers, finds.stack, finds.extremes, counts)
    found = search(points, index, counted, scratch.reference, NEAREST, wanted)
    for slot in range(found):
        scratch.keys[slot] = finds.answers[slot, 0]
        scratch.near[slot] = whole(finds.answers[slot, 2])
    sort_by_keys(scratch.keys, scratch.near, found)
    return found


@inner
def _slot_at(scratch: Scratch, counts: Ints, found: int, position: int) -> int:
    """The place in the list where a position of the ranking by records falls; -1: behind it."""
    for slot in range(found):
        position -= counts[scratch.near[slot]]
        if position < 0:
            return slot
    return -1


@inner
def _by_number(scratch: Scratch, size: int) -> None:
    """Sort the tied by number."""
    for slot in range(size):
        scratch.order[slot] = scratch.tied[slot]
    sort_by_keys(scratch.order, scratch.tied, size)


@inner
def _tied_in_list(scratch: Scratch, counts: Ints, found: int, slot: int) -> int:
    """Collect the listed tuples that are as far as the one in the slot; how many."""
    size, radius = whole(0), scratch.keys[slot]
    for place in range(found):
        if scratch.keys[place] == radius and counts[scratch.near[place]] > 0:
            scratch.tied[size] = scratch.near[place]
            size += 1
    _by_number(scratch, size)
    return size


@inner
def _tied_at(
    points: Points,
    index: Index,
    finds: Finds,
    counts: Ints,
    direction: float,
    radius: float,
    scratch: Scratch,
) -> int:
    """Collect all tuples with a count at a distance; how many."""
    counted = Finds(finds.answers, finds.stack, finds.extremes, counts)
    reference, keys, tied = scratch.reference, scratch.order, scratch.tied
    found = points_within(points, index, counted, reference, direction, radius, keys, tied)
    size = whole(0)
    for slot in range(found):
        if keys[slot] == radius:
            tied[size] = tied[slot]
            size += 1
    _by_number(scratch, size)
    return size


@inner
def _ranked_at(
    points: Points, index: Index, finds: Finds, counts: Ints, position: int, scratch: Scratch
) -> tuple[float, int, int]:
    """The distance at a position of the ranking, how many tuples are listed, how many tied."""
    # with one more than is needed, ties that go on behind the list show themselves
    wanted = position + 2
    found = _list_nearest(points, index, finds, counts, wanted, scratch)
    slot = _slot_at(scratch, counts, found, position)
    radius = scratch.keys[slot]
    if found < wanted or radius < scratch.keys[found - 1]:
        return radius, found, _tied_in_list(scratch, counts, found, slot)
    return radius, found, _tied_at(points, index, finds, counts, NEAREST, radius, scratch)


@part
def _farthest(points: Points, room: Room, state: State, uniform: float, scratch: Scratch) -> int:
    """The tuple of an unfinished record among the farthest ones, or -1."""
    finds, counts = room.rest_finds, state.unfinished
    found = search(points, room.rest, finds, scratch.reference, FARTHEST, whole(2))
    if found == 0:
        return -1
    # the worse of two answers lies on top
    size, radius = whole(1), finds.answers[found - 1, 0]
    scratch.tied[0] = whole(finds.answers[found - 1, 2])
    if found == 2 and finds.answers[0, 0] == radius:
        size = _tied_at(points, room.rest, finds, counts, FARTHEST, radius, scratch)
    tied = scratch.tied[:size]
    return _tuple_at(counts, tied, pick(uniform, _total(counts, tied)))


@inner
def _tuple_at(counts: Ints, listed: Longs, position: int) -> int:
    """The listed tuple that holds a position of the summed counts."""
    slot = 0
    while position >= counts[listed[slot]]:
        position -= counts[listed[slot]]
        slot += 1
    return int(listed[slot])


@inner
def _total(counts: Ints, listed: Longs) -> int:
    """Sum of the counts of the listed tuples."""
    total = 0
    for point in listed:
        total += counts[point]
    return total


# Drawing a partner -----------------------------------------------------------------------------


@inner
def _first_unswapped(state: State, attribute: int, point: int) -> int:
    """The record of a tuple that comes first among those not swapped in the attribute."""
    top = state.tops[attribute, point]
    while state.swapped[attribute, state.buckets[attribute, top]]:
        top += 1
    state.tops[attribute, point] = top
    return int(state.buckets[attribute, top])


@inner
def _first_unfinished(state: State, point: int) -> int:
    """The record of a tuple that comes first among those with a value not swapped."""
    row = state.buckets.shape[0] - 1
    top = state.tops[row, point]
    while state.waiting[state.buckets[row, top]] == 0:
        top += 1
    state.tops[row, point] = top
    return int(state.buckets[row, top])


@part
def _nearest_partner(
    points: Points,
    room: Room,
    state: State,
    attribute: int,
    listed: int,
    near: int,
    draws: Floats,
    scratch: Scratch,
) -> int:
    """A record drawn from the `near` nearest of those not swapped in the attribute, or -1.

    So many tuples are `listed` for all attributes; where they do not tell, others are asked for.
    """
    if near == 0:
        return -1
    counts, position = state.unswapped[attribute], pick(draws[0], near)
    slot = _slot_at(scratch, counts, listed, position)
    complete = listed < scratch.keys.size
    if slot >= 0 and (complete or scratch.keys[slot] < scratch.keys[listed - 1]):
        size = _tied_in_list(scratch, counts, listed, slot)
    else:
        other = Scratch(
            scratch.reference,
            scratch.more_keys,
            scratch.more_near,
            scratch.order,
            scratch.tied,
            scratch.inside,
            scratch.sampled,
            scratch.keys,
            scratch.near,
        )
        size = _ranked_at(points, room.near, room.near_finds, counts, position, other)[2]
    tied = scratch.tied[:size]
    point = _tuple_at(counts, tied, pick(draws[1], _total(counts, tied)))
    return _first_unswapped(state, attribute, point)


@inner
def uniform_of(seed: float, record: int) -> float:
    """A number in [0, 1) for each record, by the mixing function of splitmix64 (Steele 2014)."""
    state = np.uint64(seed * 9007199254740992.0) + np.uint64(record + 1) * np.uint64(
        0x9E3779B97F4A7C15
    )
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((state ^ (state >> np.uint64(31))) >> np.uint64(11)) / 9007199254740992.0


@inner
def _sample_tie(
    state: State, tied: Longs, reference: int, slots: int, seed: float, sampled: Longs
) -> int:
    """Choose `slots` of the records at the edge of the interval (Knuth's algorithm S).

    The reference itself is none of them. Returns how many were chosen.
    """
    row, chosen, unseen = state.buckets.shape[0] - 1, 0, 0
    for point in tied:
        unseen += state.sizes[point]
    for point in tied:
        start = state.starts[point]
        for record in state.buckets[row, start : start + state.sizes[point]]:
            if record == reference:
                unseen -= 1
    for point in tied:
        start = state.starts[point]
        for record in state.buckets[row, start : start + state.sizes[point]]:
            if record == reference:
                continue
            if uniform_of(seed, record) * unseen < slots - chosen:
                sampled[chosen] = record
                chosen += 1
            unseen -= 1
    return chosen


@inner
def _any_partner(
    state: State, attribute: int, inside: Longs, sampled: Longs, uniform: float
) -> int:
    """An unswapped record drawn from those of the tuples inside and the sampled ones, or -1."""
    counts, swapped = state.unswapped[attribute], state.swapped[attribute]
    within = _total(counts, inside)
    choices = within
    for record in sampled:
        choices += not swapped[record]
    if choices == 0:
        return -1
    position = pick(uniform, choices)
    if position >= within:
        return _unswapped_at(sampled, swapped, position - within)
    return _first_unswapped(state, attribute, _tuple_at(counts, inside, position))


@inner
def _unswapped_at(records: Longs, swapped: Bools, position: int) -> int:
    """The unswapped record at a position."""
    for record in records:
        if not swapped[record]:
            if position == 0:
                return int(record)
            position -= 1
    return -1


# The loop --------------------------------------------------------------------------------------


@inner
def _finish_value(state: State, attribute: int, record: int, point: int) -> None:
    """Note that a record's value of an attribute has been dealt with."""
    state.swapped[attribute, record] = True
    state.unswapped[attribute, point] -= 1
    state.waiting[record] -= 1
    if state.waiting[record] == 0:
        state.unfinished[point] -= 1


def _start(tuple_of: Ints, size: int, priorities: Longs) -> State:
    """Nothing is swapped yet."""
    attributes, count = priorities.shape[0] - 1, tuple_of.size
    sizes = np.bincount(tuple_of, minlength=size).astype(np.int32)
    starts = np.cumsum(sizes, dtype=np.int64) - sizes
    orders = [np.argsort(tuple_of[one], kind="stable") for one in priorities]
    buckets = np.array([one[order] for one, order in zip(priorities, orders, strict=True)])
    return State(
        np.tile(sizes, (attributes, 1)),
        sizes.copy(),
        np.zeros((attributes, count), np.bool_),
        np.full(count, attributes, np.int32),
        buckets,
        np.tile(starts, (attributes + 1, 1)),
        starts,
        sizes,
    )


@part
def _edge(
    points: Points,
    room: Room,
    state: State,
    reference: int,
    point: int,
    k: int,
    seed: float,
    scratch: Scratch,
) -> tuple[int, int]:
    """Find the interval over all records; how many tuples lie inside and records at its edge."""
    state.sizes[point] -= 1
    radius, found, size = _ranked_at(
        points, room.near, room.near_finds, state.sizes, k - 1, scratch
    )
    inside, records = whole(0), 0
    for slot in range(found):
        if scratch.keys[slot] < radius:
            scratch.inside[inside] = scratch.near[slot]
            records += state.sizes[scratch.near[slot]]
            inside += 1
    state.sizes[point] += 1
    for slot in range(inside):
        scratch.keys[slot] = scratch.inside[slot]
    sort_by_keys(scratch.keys, scratch.inside, inside)
    tied = scratch.tied[:size]
    chosen = _sample_tie(state, tied, reference, k - records, seed, scratch.sampled)
    return inside, chosen


@part
def _leave(room: Room, state: State, point: int) -> None:
    """Take a tuple out of those that are unfinished when it is not."""
    if state.unfinished[point] == 0 and room.rest.places[point] >= 0:
        remove(room.rest, point)


@part
def _swap_reference(
    points: Points,
    room: Room,
    state: State,
    tuple_of: Ints,
    reference: int,
    left: Longs,
    k: int,
    everyone: bool,
    draws: Floats,
    scratch: Scratch,
    partners: Longs,
) -> None:
    """Swap every value of the reference that is not swapped yet; `left` counts the others left."""
    point = whole(tuple_of[reference])
    listed, inside, chosen = whole(0), whole(0), whole(0)
    if everyone:
        inside, chosen = _edge(points, room, state, reference, point, k, draws[SAMPLE], scratch)
    else:
        wanted = whole(scratch.keys.size)
        listed = _list_nearest(
            points, room.near, room.near_finds, room.near_finds.counts, wanted, scratch
        )
    for attribute in range(state.swapped.shape[0]):
        if state.swapped[attribute, reference]:
            continue
        _finish_value(state, attribute, reference, point)
        left[attribute] -= 1
        two = draws[FIRST + 2 * attribute : FIRST + 2 * attribute + 2]
        if everyone:
            sampled = scratch.sampled[:chosen]
            other = _any_partner(state, attribute, scratch.inside[:inside], sampled, two[0])
        else:
            near = min(k, left[attribute])
            other = _nearest_partner(points, room, state, attribute, listed, near, two, scratch)
        if other >= 0:
            _finish_value(state, attribute, other, whole(tuple_of[other]))
            left[attribute] -= 1
            partners[attribute, reference] = other
            partners[attribute, other] = reference


@compiled
def _swap_some(
    points: Points,
    room: Room,
    state: State,
    tuple_of: Ints,
    progress: Longs,
    left: Longs,
    k: int,
    everyone: bool,
    uniforms: Floats,
    scratch: Scratch,
    partners: Longs,
    references: Longs,
    signal: Longs,
) -> None:
    """Go on until half of the unfinished tuples are finished, or on request."""
    attributes, count = partners.shape
    indexed = room.rest.columns.shape[1]
    alive = indexed
    bound_all(room.rest)
    if everyone:
        bound_all(room.near)
    while progress[REFERENCE] >= 0 and signal[1] == 0:
        if indexed >= SMALLEST_REBUILD and 2 * alive < indexed:
            return
        reference, step = progress[REFERENCE], progress[STEP]
        point_reference(points, whole(tuple_of[reference]), scratch.reference)
        draws = uniforms[step]
        _swap_reference(
            points,
            room,
            state,
            tuple_of,
            reference,
            left,
            k,
            everyone,
            draws,
            scratch,
            partners,
        )
        references[step] = reference
        _leave(room, state, whole(tuple_of[reference]))
        for attribute in range(attributes):
            _leave(room, state, whole(tuple_of[partners[attribute, reference]]))
        alive = room.rest.nodes[0, 1]
        progress[STEP] += 1
        signal[0] = count - left.max()
        point = _farthest(points, room, state, draws[NEXT], scratch)
        progress[REFERENCE] = _first_unfinished(state, point) if point >= 0 else -1


def _searched(points: Points, order: Longs) -> Index:
    """An index over some tuples."""
    return build_index(points, order, points.factors, np.zeros(points.weights.size), LEAF)


def swap_records(
    points: Points,
    tuple_of: Ints,
    first: int,
    k: int,
    everyone: bool,
    priorities: Longs,
    uniforms: Floats,
    signal: Longs,
) -> tuple[Longs, Longs]:
    """Swap the values of whole records; returns partners [attributes, n] and references.

    `tuple_of` gives the tuple of each record, `first` the tuple of the first reference,
    `priorities` has a random order of the records for each attribute and one for the references,
    and `uniforms` a row of 2 + 2 * attributes per step. `everyone`: the interval is the k nearest
    of all records; else, for each attribute, of those whose value is not swapped. `signal` as in
    `kernels.swapping`.
    """
    attributes, count = priorities.shape[0] - 1, tuple_of.size
    size = points.factors.size
    state = _start(tuple_of, size, priorities)
    listed = min(2 * k + MORE_LISTED, size + 1)
    scratch = _scratch(attributes, size, listed, k)
    partners = np.tile(np.arange(count), (attributes, 1))
    references, left = np.empty(count, np.int64), np.full(attributes, count)
    progress = np.array([state.buckets[-1, state.starts[first]], 0])
    everything = _searched(points, np.arange(size)) if everyone else None
    while progress[REFERENCE] >= 0 and signal[1] == 0:
        rest = _searched(points, np.flatnonzero(state.unfinished > 0))
        near = rest if everything is None else everything
        room = Room(near, rest, new_finds(near, listed), new_finds(rest, 2))
        _swap_some(
            *(points, room, state, tuple_of, progress, left, k, everyone, uniforms, scratch),
            *(partners, references, signal),
        )
    return partners, references[: progress[STEP]]


def _scratch(attributes: int, size: int, listed: int, k: int) -> Scratch:
    """Room for a step."""
    return Scratch(
        np.empty(attributes),
        np.empty(listed),
        np.empty(listed, np.int64),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(listed, np.int64),
        np.empty(k, np.int64),
        np.empty(listed),
        np.empty(listed, np.int64),
    )
