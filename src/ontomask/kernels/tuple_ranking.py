"""Which tuples lie at a position of a ranking around a reference, for multivariate swapping.

An index answers which tuples are nearest to the reference, and which are farthest; the answers,
ties included, are those of ranking all records anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import apart, compiled, whole
from ontomask.kernels.draws import pick
from ontomask.kernels.index import (
    NEAREST,
    Finds,
    Index,
    farthest_by_lot,
    farthest_points,
    points_within,
    search,
)
from ontomask.kernels.neighbors import sort_by_keys
from ontomask.kernels.records import Points, point_reference

__all__ = [
    "LEAST_BY_LOT",
    "SAMPLED",
    "Lots",
    "Scratch",
    "count_nearer",
    "drawn_farthest",
    "drawn_tuple",
    "list_nearest",
    "lots_of",
    "new_lots",
    "new_scratch",
    "ranked_at",
    "slot_at",
    "slot_in_list",
    "tied_in_list",
    "total",
    "tuple_at",
]


SAMPLED = 16
"""Around so many tuples lots are tried before they are used."""
LEAST_BY_LOT = 1024
"""Fewer tuples are listed soon enough."""


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


class Lots(NamedTuple):
    """What one of very many tuples that are farthest alike is drawn by; nothing where few are."""

    tuples: Ints
    """[lots] the tuple of each."""
    ranks: Ints
    """[lots] its number among those of the tuple."""


def new_lots(
    points: Points, index: Index, finds: Finds, counts: Ints, alive: Longs, scratch: Scratch
) -> Lots:
    """A lot for each record that counts, if drawing finds a farthest tuple more often than not."""
    none = lots_of(alive[:0], counts)
    if alive.size < LEAST_BY_LOT:
        return none
    lots = lots_of(alive, counts)
    asked = alive[np.linspace(0, alive.size - 1, SAMPLED).astype(np.int64)]
    met = _met(points, index, finds, lots, counts, asked, scratch)
    return lots if 2 * met > SAMPLED else none


def lots_of(alive: Longs, counts: Ints) -> Lots:
    """A lot for each record of some tuples that counts."""
    some = counts[alive]
    starts = np.cumsum(some) - some
    ranks = np.arange(int(some.sum()), dtype=np.int32) - np.repeat(starts, some).astype(np.int32)
    return Lots(np.repeat(alive, some).astype(np.int32), ranks)


@compiled
def _met(
    points: Points,
    index: Index,
    finds: Finds,
    lots: Lots,
    counts: Ints,
    asked: Longs,
    scratch: Scratch,
) -> int:
    """Around how many of some tuples a farthest one is met by lot."""
    met = 0
    for place in range(asked.size):
        point_reference(points, whole(asked[place]), scratch.reference)
        seed = (place + 0.5) / asked.size
        reference, (tuples, ranks) = scratch.reference, lots
        point = farthest_by_lot(points, index, finds, reference, tuples, ranks, counts, seed)
        met += point >= 0
    return met


@compiled
def drawn_farthest(
    points: Points,
    index: Index,
    finds: Finds,
    lots: Lots,
    counts: Ints,
    uniform: float,
    scratch: Scratch,
) -> tuple[int, int]:
    """The tuple of a record drawn from the farthest that count, or -1, and how many were listed.

    None is listed where the tuple was drawn by lot.
    """
    reference, tuples, ranks = scratch.reference, lots.tuples, lots.ranks
    if tuples.size > 0:
        point = farthest_by_lot(points, index, finds, reference, tuples, ranks, counts, uniform)
        if point >= 0:
            return point, whole(0)
    size = farthest_points(points, index, finds, reference, scratch.tied)
    _by_number(scratch, size)
    return drawn_tuple(counts, scratch.tied[:size], uniform), size


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
