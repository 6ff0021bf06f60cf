"""Whom a record exchanges values with in multivariate rank swapping, and what is left to exchange.

The partner of a value is drawn from the interval around the reference, in records: from the k
nearest whose value is not swapped yet, or from those among the k nearest of all. What stands at a
position of the ranking `tuple_ranking` tells; ties are drawn from, or sampled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.kernels.compiling import apart, compiled, part, whole
from ontomask.kernels.draws import pick, uniform_of
from ontomask.kernels.index import Finds, Index, points_within
from ontomask.kernels.neighbors import sort_by_keys
from ontomask.kernels.records import Points, contribution
from ontomask.kernels.tuple_ranking import (
    Lots,
    Scratch,
    count_nearer,
    list_nearest,
    ranked_at,
    slot_at,
    slot_in_list,
    tied_in_list,
    total,
    tuple_at,
)

__all__ = [
    "UNKNOWN",
    "Listed",
    "Room",
    "State",
    "Tied",
    "any_partner",
    "edge",
    "finish_value",
    "first_unfinished",
    "first_unswapped",
    "nearer_inside",
    "nearest_partner",
    "start_state",
]

UNKNOWN = -1


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


class Room(NamedTuple):
    """Where references look for partners, and for the next reference."""

    near: Index
    """The tuples among which intervals are taken."""
    rest: Index
    """Those with an unfinished record."""
    lots: Lots
    """What the next reference is drawn by where very many are farthest."""
    near_finds: Finds
    rest_finds: Finds


class Listed(NamedTuple):
    """The tuples nearest to a reference."""

    scratch: Scratch
    """The room in which they lie."""
    found: int
    wanted: int


class Tied(NamedTuple):
    """All tuples no farther than the last one listed, for the attributes that ask for them."""

    scratch: Scratch
    """The room in which they lie."""
    found: Longs
    """[1] how many there are, or UNKNOWN."""


@compiled
def first_unswapped(state: State, attribute: int, point: int) -> int:
    """The record of a tuple that comes first among those not swapped in the attribute."""
    top = state.tops[attribute, point]
    while state.swapped[attribute, state.buckets[attribute, top]]:
        top += 1
    state.tops[attribute, point] = top
    return int(state.buckets[attribute, top])


@part
def first_unfinished(state: State, point: int) -> int:
    """The record of a tuple that comes first among those with a value not swapped."""
    row = state.buckets.shape[0] - 1
    top = state.tops[row, point]
    while state.waiting[state.buckets[row, top]] == 0:
        top += 1
    state.tops[row, point] = top
    return int(state.buckets[row, top])


@apart
@compiled
def nearest_partner(
    points: Points,
    room: Room,
    state: State,
    attribute: int,
    listed: Listed,
    tied_on: Tied,
    near: int,
    draws: Floats,
    scratch: Scratch,
) -> tuple[int, int]:
    """A record drawn from the `near` nearest of those not swapped, or -1; how many are nearer.

    Some tuples are `listed` for all attributes; where they do not tell, others are asked for.
    """
    if near == 0:
        return whole(-1), whole(0)
    counts, position = state.unswapped[attribute], pick(draws[0], near)
    here, found = listed.scratch, listed.found
    slot = slot_in_list(here, counts, found, listed.wanted, position)
    if slot < 0 and slot_at(here, counts, found, position) >= 0:
        found = _tied_on(points, room, listed, tied_on, scratch)
        here = tied_on.scratch
        slot = slot_at(here, counts, found, position)
    if slot >= 0:
        size = tied_in_list(here, counts, found, slot)
        nearer = count_nearer(here, counts, found, here.keys[slot])
    else:
        ranked = ranked_at(points, room.near, room.near_finds, counts, position, scratch)
        size, nearer = ranked[2], count_nearer(scratch, counts, ranked[1], ranked[0])
    tied = scratch.tied[:size]
    point = tuple_at(counts, tied, pick(draws[1], total(counts, tied)))
    return whole(first_unswapped(state, attribute, point)), whole(nearer)


@apart
@compiled
def _tied_on(points: Points, room: Room, listed: Listed, tied_on: Tied, scratch: Scratch) -> int:
    """List all tuples no farther than the last one listed, once for a reference; how many."""
    if tied_on.found[0] == UNKNOWN:
        near, finds, (keys, tuples) = room.near, room.near_finds, tied_on.scratch[1:3]
        radius = listed.scratch.keys[listed.found - 1]
        # a search comes first, after which its bounds can be used again
        list_nearest(points, near, finds, finds.counts, whole(1), scratch)
        found = points_within(points, near, finds, scratch.reference, radius, keys, tuples)
        sort_by_keys(keys, tuples, found)
        tied_on.found[0] = found
    return whole(tied_on.found[0])


@part
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


@part
def any_partner(state: State, attribute: int, inside: Longs, sampled: Longs, uniform: float) -> int:
    """An unswapped record drawn from those of the tuples inside and the sampled ones, or -1."""
    counts, swapped = state.unswapped[attribute], state.swapped[attribute]
    within = total(counts, inside)
    choices = within
    for record in sampled:
        choices += not swapped[record]
    if choices == 0:
        return -1
    position = pick(uniform, choices)
    if position >= within:
        return _unswapped_at(sampled, swapped, position - within)
    return first_unswapped(state, attribute, tuple_at(counts, inside, position))


@compiled
def nearer_inside(
    points: Points, state: State, inside: Longs, point: int, reference: Floats, other: int
) -> int:
    """How many records of the tuples inside are nearer to the reference than another tuple."""
    radius, records = contribution(points, reference, other), whole(0)
    for near in inside:
        if contribution(points, reference, near) < radius:
            # the reference itself is none of them
            records += state.sizes[near] - (near == point)
    return records


@part
def _unswapped_at(records: Longs, swapped: Bools, position: int) -> int:
    """The unswapped record at a position."""
    for record in records:
        if not swapped[record]:
            if position == 0:
                return int(record)
            position -= 1
    return -1


@compiled
def finish_value(state: State, attribute: int, record: int, point: int) -> None:
    """Note that a record's value of an attribute has been dealt with."""
    state.swapped[attribute, record] = True
    state.unswapped[attribute, point] -= 1
    state.waiting[record] -= 1
    if state.waiting[record] == 0:
        state.unfinished[point] -= 1


def start_state(tuple_of: Ints, size: int, priorities: Longs) -> State:
    """Nothing is swapped yet."""
    attributes, count = priorities.shape[0] - 1, tuple_of.size
    sizes = np.bincount(tuple_of, minlength=size).astype(np.int32)
    starts = np.cumsum(sizes, dtype=np.int64) - sizes
    # numbers of two bytes are counted rather than compared
    keys = tuple_of.astype(np.uint16) if size <= 1 << 16 else tuple_of
    buckets = np.array([one[np.argsort(keys[one], kind="stable")] for one in priorities])
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


@apart
@compiled
def edge(
    points: Points,
    room: Room,
    state: State,
    listed: Listed,
    reference: int,
    point: int,
    k: int,
    seed: float,
    scratch: Scratch,
) -> tuple[int, int]:
    """Find the interval over all records; how many tuples lie inside and records at its edge."""
    state.sizes[point] -= 1
    here, found, slot = listed.scratch, listed.found, whole(-1)
    slot = slot_in_list(here, state.sizes, found, listed.wanted, k - 1)
    if slot >= 0:
        size, radius = tied_in_list(here, state.sizes, found, slot), here.keys[slot]
    else:
        here = scratch
        finds = room.near_finds
        radius, found, size = ranked_at(points, room.near, finds, state.sizes, k - 1, scratch)
    inside, records = whole(0), 0
    for place in range(found):
        if here.keys[place] < radius:
            scratch.inside[inside] = here.near[place]
            records += state.sizes[here.near[place]]
            inside += 1
    state.sizes[point] += 1
    for place in range(inside):
        scratch.keys[place] = scratch.inside[place]
    sort_by_keys(scratch.keys, scratch.inside, inside)
    tied = scratch.tied[:size]
    chosen = _sample_tie(state, tied, reference, k - records, seed, scratch.sampled)
    return inside, chosen
