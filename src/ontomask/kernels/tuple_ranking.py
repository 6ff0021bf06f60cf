"""Which tuples lie at a position of a ranking around a reference, for multivariate swapping.

An index answers which tuples are nearest to the reference, and which are farthest; the answers,
ties included, are those of ranking all records anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import apart, compiled, whole
from ontomask.kernels.index import NEAREST, Finds, Index, farthest_points, points_within, search
from ontomask.kernels.neighbors import sort_by_keys
from ontomask.kernels.records import Points
from ontomask.kernels.swapping import pick

__all__ = [
    "Scratch",
    "count_nearer",
    "drawn_tuple",
    "farthest_tuples",
    "list_nearest",
    "new_scratch",
    "ranked_at",
    "slot_in_list",
    "tied_in_list",
    "total",
    "tuple_at",
]


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


def new_scratch(attributes: int, size: int, listed: int, k: int) -> Scratch:
    """Room for a step over so many tuples."""
    return Scratch(
        np.empty(attributes),
        np.empty(listed),
        np.empty(listed, np.int64),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(listed, np.int64),
        np.empty(k, np.int64),
    )


@apart
@compiled
def list_nearest(
    points: Points, index: Index, finds: Finds, counts: Ints, wanted: int, scratch: Scratch
) -> int:
    """List the nearest tuples with a count (all counts, if there are none), nearest first."""
    counted = Finds(finds.answers, finds.stack, finds.extremes, counts, finds.distances)
    found = search(points, index, counted, scratch.reference, NEAREST, wanted)
    for slot in range(found):
        scratch.keys[slot] = finds.answers[slot, 0]
        scratch.near[slot] = whole(finds.answers[slot, 2])
    sort_by_keys(scratch.keys, scratch.near, found)
    return found


@compiled
def slot_at(scratch: Scratch, counts: Ints, found: int, position: int) -> int:
    """The place in the list where a position of the ranking by records falls; -1: behind it."""
    for slot in range(found):
        position -= counts[scratch.near[slot]]
        if position < 0:
            return slot
    return -1


@compiled
def _by_number(scratch: Scratch, size: int) -> None:
    """Sort the tied by number."""
    for slot in range(size):
        scratch.order[slot] = scratch.tied[slot]
    sort_by_keys(scratch.order, scratch.tied, size)


@compiled
def tied_in_list(scratch: Scratch, counts: Ints, found: int, slot: int) -> int:
    """Collect the listed tuples that are as far as the one in the slot; how many."""
    size, radius = whole(0), scratch.keys[slot]
    for place in range(found):
        if scratch.keys[place] == radius and counts[scratch.near[place]] > 0:
            scratch.tied[size] = scratch.near[place]
            size += 1
    _by_number(scratch, size)
    return size


@apart
@compiled
def tied_at(
    points: Points,
    index: Index,
    finds: Finds,
    counts: Ints,
    radius: float,
    scratch: Scratch,
) -> int:
    """Collect all tuples with a count at a distance; how many."""
    counted = Finds(finds.answers, finds.stack, finds.extremes, counts, finds.distances)
    reference, keys, tied = scratch.reference, scratch.order, scratch.tied
    found = points_within(points, index, counted, reference, radius, keys, tied)
    size = whole(0)
    for slot in range(found):
        if keys[slot] == radius:
            tied[size] = tied[slot]
            size += 1
    _by_number(scratch, size)
    return size


@compiled
def slot_in_list(scratch: Scratch, counts: Ints, found: int, wanted: int, position: int) -> int:
    """Where a position of the ranking falls in the list; -1 where the list does not tell.

    Ties at the end of a full list, which holds all that were wanted, may go on behind it.
    """
    slot = slot_at(scratch, counts, found, position)
    if slot >= 0 and found == wanted and scratch.keys[slot] == scratch.keys[found - 1]:
        return whole(-1)
    return slot


@apart
@compiled
def ranked_at(
    points: Points, index: Index, finds: Finds, counts: Ints, position: int, scratch: Scratch
) -> tuple[float, int, int]:
    """The distance at a position of the ranking, how many tuples are listed, how many tied."""
    # with one more than is needed, ties that go on behind the list show themselves
    wanted = position + 2
    found = list_nearest(points, index, finds, counts, wanted, scratch)
    slot = slot_in_list(scratch, counts, found, wanted, position)
    if slot >= 0:
        return scratch.keys[slot], found, tied_in_list(scratch, counts, found, slot)
    radius = scratch.keys[slot_at(scratch, counts, found, position)]
    return radius, found, tied_at(points, index, finds, counts, radius, scratch)


@compiled
def count_nearer(scratch: Scratch, counts: Ints, found: int, radius: float) -> int:
    """How many counted records of the listed tuples are nearer than a radius."""
    records = 0
    for slot in range(found):
        if scratch.keys[slot] < radius:
            records += counts[scratch.near[slot]]
    return records


@compiled
def farthest_tuples(points: Points, index: Index, finds: Finds, scratch: Scratch) -> int:
    """Collect the tuples of the index that are farthest; how many."""
    size = farthest_points(points, index, finds, scratch.reference, scratch.tied)
    _by_number(scratch, size)
    return size


@compiled
def drawn_tuple(counts: Ints, listed: Longs, uniform: float) -> int:
    """The tuple of a record drawn from those of listed tuples that count, or -1."""
    records = total(counts, listed)
    return whole(tuple_at(counts, listed, pick(uniform, records)) if records > 0 else -1)


@compiled
def tuple_at(counts: Ints, listed: Longs, position: int) -> int:
    """The listed tuple that holds a position of the summed counts."""
    slot = 0
    while position >= counts[listed[slot]]:
        position -= counts[listed[slot]]
        slot += 1
    return int(listed[slot])


@compiled
def total(counts: Ints, listed: Longs) -> int:
    """Sum of the counts of the listed tuples."""
    records = 0
    for point in listed:
        records += counts[point]
    return records
