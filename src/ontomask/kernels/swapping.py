"""The loops of rank swapping.

Rodriguez-Garcia, Batet and Sánchez, "Utility-preserving privacy protection of nominal data sets via
semantic rank swapping", Information Fusion 45 (2019): algorithms 1 (`swap_ranked`), 2 (`swap_coded`
for values with a distance matrix, `swap_ordered` for numbers) and 3 (`swap_records`). The published
loops sort all records at every step. Here values, or tuples, are counted instead: records that are
equal are one counter.

Randomness. All draws are made beforehand: `uniforms[step]` holds the numbers of one step, and
a *priority* order of the records says which of equal records comes first. Ties in distance are
broken at random, anew in every step: where an interval ends inside a group of equally distant
records, each of them is as likely to belong to it. Where the text says "record", records of the
same value are taken by priority; since the priorities are random this is a uniform choice.

Results. `partners[record]` is the record whose value it gets (itself, when its value stays), so the
masked column is `column[partners]`. `references` are the records at which the steps started, in
order; with the partners they tell the whole story, and `nearer_…` recount from them, by plain
counting, how many records were nearer than the one drawn.

The dynamic loops take a `signal`: they write how many records are done to signal[0] and stop soon
after signal[1] is set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.kernels.blocks import in_blocks
from ontomask.kernels.compiling import allocating, compiled, part, whole
from ontomask.kernels.counters import add, counter, locate, total_before
from ontomask.kernels.draws import hypergeometric, pick

__all__ = [
    "Neighbors",
    "nearer_coded",
    "nearer_ordered",
    "nearer_ranked",
    "neighbors",
    "swap_coded",
    "swap_ordered",
    "swap_ranked",
]

POSITION, TIE, NEXT, SHARE = 0, 1, 2, 3
"""Columns of the univariate draws: place in the interval, record of a tie, next reference, share
of a tie that lies in the interval."""


# One ranking for all: algorithm 1 -------------------------------------------------------------


@allocating
def swap_ranked(order: Longs, k: int, everyone: bool, uniforms: Floats) -> Longs:
    """Swap each record with one of the next k in `order`; returns the partners.

    `everyone`: the k next ranks, whether swapped or not; else the k next unswapped ones.
    """
    count = order.size
    partners = np.arange(count)
    swapped = np.zeros(count, np.bool_)
    unswapped = counter(np.ones(count, np.int64))
    for rank in range(count):
        if swapped[rank]:
            continue
        add(unswapped, rank, whole(-1))
        before = total_before(unswapped, rank)
        last = min(count, rank + k + 1) if everyone else count
        choices = total_before(unswapped, last) - before
        if choices == 0:
            continue
        other = locate(unswapped, before + pick(uniforms[rank], min(choices, k)))
        add(unswapped, other, whole(-1))
        swapped[other] = True
        partners[order[rank]] = order[other]
        partners[order[other]] = order[rank]
    return partners


# A ranking around every reference: algorithm 2, values with a distance matrix ------------------


class Neighbors(NamedTuple):
    """For each value, all values by distance."""

    order: Ints
    """[size, size] values by (distance, value)."""
    ends: Bools
    """[size, size] True where the next value in the row is farther."""


LEAST_VALUES = 20_000
"""Values to sort that are enough work for one more thread."""


def neighbors(matrix: Floats) -> Neighbors:
    """Sort every row of a distance matrix once."""
    size = matrix.shape[0]
    near = Neighbors(np.empty((size, size), np.int32), np.ones((size, size), np.bool_))

    def work(first: int, last: int) -> None:
        ranked = np.argsort(matrix[first:last], axis=1, kind="stable")
        distances = np.take_along_axis(matrix[first:last], ranked, axis=1)
        near.order[first:last] = ranked
        near.ends[first:last, :-1] = distances[:, 1:] != distances[:, :-1]

    in_blocks(work, size, 1 + LEAST_VALUES // max(1, size))
    return near


class Interval(NamedTuple):
    """The records nearest to a reference: whole groups of equal distance, then part of one."""

    inside: int
    """Unswapped records in the whole groups."""
    start: int
    """Where the last group starts."""
    stop: int
    """Where it ends."""
    unswapped: int
    """Unswapped records in the last group."""
    present: int
    """Records in the last group."""
    slots: int
    """How many of them the interval has room for."""


@part
def nearest_values(order: Ints, ends: Bools, present: Longs, unswapped: Longs, k: int) -> Interval:
    """Walk along the values, nearest first, until the records present number k."""
    inside, room, start, here, left = 0, k, 0, 0, 0
    for rank in range(order.size):
        here += present[order[rank]]
        left += unswapped[order[rank]]
        if not ends[rank]:
            continue
        if here >= room:
            return Interval(inside, start, rank + 1, left, here, room)
        inside += left
        room -= here
        start, here, left = rank + 1, 0, 0
    return Interval(inside, start, start, 0, 0, 0)


@compiled
def value_at(order: Ints, unswapped: Longs, start: int, position: int) -> int:
    """The value of the unswapped record at a position of the walk from `start`."""
    rank = start
    while position >= unswapped[order[rank]]:
        position -= unswapped[order[rank]]
        rank += 1
    return int(order[rank])


@part
def draw_value(
    order: Ints, unswapped: Longs, interval: Interval, everyone: bool, draws: Floats
) -> int:
    """The value of an unswapped record drawn from the interval; -1 when it holds none."""
    share = interval.slots
    if everyone:
        share = hypergeometric(draws[SHARE], interval.present, interval.unswapped, interval.slots)
    if interval.inside + share == 0:
        return -1
    position = pick(draws[POSITION], interval.inside + share)
    if position < interval.inside:
        return value_at(order, unswapped, whole(0), position)
    return value_at(order, unswapped, interval.start, pick(draws[TIE], interval.unswapped))


@part
def farthest_value(order: Ints, ends: Bools, unswapped: Longs, uniform: float) -> int:
    """The value of an unswapped record among the farthest ones."""
    records, rank = 0, order.size - 1
    while True:
        records += unswapped[order[rank]]
        if rank == 0 or (ends[rank - 1] and records > 0):
            break
        rank -= 1
    return value_at(order, unswapped, rank, pick(uniform, records))


@compiled
def take(buckets: Longs, tops: Longs, unswapped: Longs, value: int) -> int:
    """Take the next unswapped record of a value out of its bucket."""
    record = buckets[tops[value]]
    tops[value] += 1
    unswapped[value] -= 1
    return int(record)


@allocating
def fill_buckets(codes: Ints, size: int, priority: Longs) -> tuple[Longs, Longs, Longs]:
    """Records by (value, priority), where each value starts, and how many records it has."""
    counts = np.zeros(size, np.int64)
    for code in codes:
        counts[code] += 1
    # written out: slices and sums over arrays take the compiler seconds
    starts, filled = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for value in range(1, size):
        starts[value] = filled[value] = starts[value - 1] + counts[value - 1]
    buckets = np.empty(codes.size, np.int64)
    for record in priority:
        buckets[filled[codes[record]]] = record
        filled[codes[record]] += 1
    return buckets, starts, counts


@allocating
def swap_coded(
    codes: Ints,
    near: Neighbors,
    first: int,
    k: int,
    everyone: bool,
    priority: Longs,
    uniforms: Floats,
    signal: Longs,
) -> tuple[Longs, Longs]:
    """Dynamic intervals at opposite ends over coded values; returns partners and references.

    `first` is the value of the first reference, `priority` the records in random order, and
    `uniforms` has a row of four per step. `everyone`: the interval is taken over all records;
    else over the unswapped ones.
    """
    count = codes.size
    buckets, tops, counts = fill_buckets(codes, near.order.shape[0], priority)
    unswapped = counts.copy()
    partners, references = np.arange(count), np.empty(count, np.int64)
    value, left, step = first, count, 0
    while left > 0 and signal[1] == 0:
        order, ends, draws = near.order[value], near.ends[value], uniforms[step]
        record = take(buckets, tops, unswapped, value)
        counts[value] -= 1
        present = counts if everyone else unswapped
        room = min(k, count - 1 if everyone else left - 1)
        interval = nearest_values(order, ends, present, unswapped, room)
        other_value = draw_value(order, unswapped, interval, everyone, draws)
        counts[value] += 1
        left -= 1
        if other_value >= 0:
            other = take(buckets, tops, unswapped, other_value)
            partners[record], partners[other] = other, record
            left -= 1
        references[step] = record
        step += 1
        signal[0] = count - left
        if left > 0:
            value = farthest_value(order, ends, unswapped, draws[NEXT])
    return partners, references[:step]


# The same for numbers: no matrix, sums over ranges of values -----------------------------------


@compiled
def reach(
    values: Floats, center: int, distance: float, closed: int, within: tuple[int, int]
) -> tuple[int, int]:
    """The range of values nearer to the center than the distance (`closed`, 1: or at it).

    Only values within a range are looked at.
    """
    low, high = within[0], center + 1
    while low < high:
        middle = (low + high) // 2
        gap = values[center] - values[middle]
        if gap < distance or (closed and gap == distance):
            high = middle
        else:
            low = middle + 1
    start = low
    low, high = center, within[1]
    while low < high:
        middle = (low + high) // 2
        gap = values[middle] - values[center]
        if gap < distance or (closed and gap == distance):
            low = middle + 1
        else:
            high = middle
    return start, max(start, low)


@compiled
def total_between(tree: Longs, start: int, stop: int) -> int:
    """Sum of the counts of a range."""
    return total_before(tree, stop) - total_before(tree, start)


@compiled
def surroundings(size: int, center: int, present: Longs, k: int) -> tuple[int, int]:
    """The range of values around one that has k records on either side, where there are so many."""
    before, after = total_before(present, center), total_before(present, center + 1) + k
    start, stop = whole(0), whole(size)
    if before >= k:
        start = locate(present, before - k)
    if after <= total_before(present, stop):
        stop = locate(present, after - 1) + 1
    return start, stop


@compiled
def side_radius(
    values: Floats, center: int, present: Longs, k: int, side: int, within: tuple[int, int]
) -> float:
    """The least distance to a value on one side (-1, 1) within which k records are present.

    Where one side alone has so many, `within` ends with the last of them.
    """
    limit = center - within[0] if side < 0 else within[1] - 1 - center
    low, high = 0, limit + 1
    while low < high:
        middle = (low + high) // 2
        distance = abs(values[center + side * middle] - values[center])
        start, stop = reach(values, center, distance, whole(1), within)
        if total_between(present, start, stop) >= k:
            high = middle
        else:
            low = middle + 1
    if low > limit:
        return np.inf
    return float(abs(values[center + side * low] - values[center]))


@compiled
def draw_from_ring(
    unswapped: Longs, outer: tuple[int, int], nearer: tuple[int, int], uniform: float
) -> int:
    """The value of an unswapped record of the outer range that is not in the nearer one."""
    before = total_before(unswapped, outer[0])
    left = total_before(unswapped, nearer[0]) - before
    inside = total_between(unswapped, nearer[0], nearer[1])
    records = total_before(unswapped, outer[1]) - before - inside
    position = pick(uniform, records)
    if position >= left:
        position += inside
    return locate(unswapped, before + position)


@part
def draw_number(
    values: Floats,
    center: int,
    present: Longs,
    unswapped: Longs,
    room: int,
    everyone: bool,
    draws: Floats,
) -> int:
    """The value of an unswapped record drawn from the `room` nearest; -1 when there is none."""
    if room == 0:
        return -1
    within = surroundings(values.size, center, present, room)
    radius = min(
        side_radius(values, center, present, room, whole(-1), within),
        side_radius(values, center, present, room, whole(1), within),
    )
    nearer, outer = (
        reach(values, center, radius, whole(0), within),
        reach(values, center, radius, whole(1), within),
    )
    inside = total_between(unswapped, nearer[0], nearer[1])
    slots = room - total_between(present, nearer[0], nearer[1])
    share = slots
    if everyone:
        here = total_between(present, outer[0], outer[1]) - room + slots
        marked = total_between(unswapped, outer[0], outer[1]) - inside
        share = hypergeometric(draws[SHARE], here, marked, slots)
    if inside + share == 0:
        return -1
    position = pick(draws[POSITION], inside + share)
    if position < inside:
        return locate(unswapped, total_before(unswapped, nearer[0]) + position)
    return draw_from_ring(unswapped, outer, nearer, draws[TIE])


@part
def farthest_number(values: Floats, center: int, unswapped: Longs, uniform: float) -> int:
    """The value of an unswapped record among the farthest ones."""
    everything = total_before(unswapped, values.size)
    lowest, highest = locate(unswapped, whole(0)), locate(unswapped, everything - 1)
    radius = max(abs(values[center] - values[lowest]), abs(values[highest] - values[center]))
    everywhere = whole(0), whole(values.size)
    nearer = reach(values, center, radius, whole(0), everywhere)
    return draw_from_ring(unswapped, everywhere, nearer, uniform)


@allocating
def swap_ordered(
    codes: Ints,
    values: Floats,
    first: int,
    k: int,
    everyone: bool,
    priority: Longs,
    uniforms: Floats,
    signal: Longs,
) -> tuple[Longs, Longs]:
    """Dynamic intervals over numbers, which are `values` (ascending, distinct) by code.

    The distance is |x - y|; all else as in `swap_coded`, with positions counted by value instead
    of by distance.
    """
    count = codes.size
    buckets, tops, counts = fill_buckets(codes, values.size, priority)
    unswapped, everybody, rest = counter(counts), counter(counts), counts.copy()
    partners, references = np.arange(count), np.empty(count, np.int64)
    value, left, step = first, count, 0
    while left > 0 and signal[1] == 0:
        draws = uniforms[step]
        record = take(buckets, tops, rest, value)
        add(unswapped, value, whole(-1))
        if everyone:  # else nobody asks who else there is
            add(everybody, value, whole(-1))
        present = everybody if everyone else unswapped
        room = min(k, count - 1 if everyone else left - 1)
        other_value = draw_number(values, value, present, unswapped, room, everyone, draws)
        if everyone:
            add(everybody, value, whole(1))
        left -= 1
        if other_value >= 0:
            other = take(buckets, tops, rest, other_value)
            add(unswapped, other_value, whole(-1))
            partners[record], partners[other] = other, record
            left -= 1
        references[step] = record
        step += 1
        signal[0] = count - left
        if left > 0:
            value = farthest_number(values, value, unswapped, draws[NEXT])
    return partners, references[:step]


# Recounting, by other means than the loops above -----------------------------------------------


@allocating
def nearer_coded(
    codes: Ints, matrix: Floats, partners: Longs, references: Longs, everyone: bool
) -> Longs:
    """For each step, how many records of the pool were nearer to the reference than its partner.

    In a correct run every number is smaller than k.
    """
    present = np.zeros(matrix.shape[0], np.int64)
    for code in codes:
        present[code] += 1
    result = np.zeros(references.size, np.int64)
    for step in range(references.size):
        record = references[step]
        other = partners[record]
        row = matrix[codes[record]]
        present[codes[record]] -= 1
        if other != record:
            for value in range(row.size):
                if row[value] < row[codes[other]]:
                    result[step] += present[value]
            present[codes[other]] -= 1
        if everyone:
            present[codes[record]] += 1
            present[codes[other]] += other != record
    return result


@allocating
def nearer_ordered(
    codes: Ints, values: Floats, partners: Longs, references: Longs, everyone: bool
) -> Longs:
    """The same for numbers."""
    counts = np.zeros(values.size, np.int64)
    for code in codes:
        counts[code] += 1
    present = counter(counts)
    result = np.zeros(references.size, np.int64)
    for step in range(references.size):
        record = references[step]
        other = partners[record]
        center, beside = whole(codes[record]), whole(codes[other])
        add(present, center, whole(-1))
        if other != record:
            distance = abs(values[beside] - values[center])
            everywhere = whole(0), whole(values.size)
            start, stop = reach(values, center, distance, whole(0), everywhere)
            result[step] = total_between(present, start, stop)
            add(present, beside, whole(-1))
        if everyone:
            add(present, center, whole(1))
            add(present, beside, whole(other != record))
    return result


@allocating
def nearer_ranked(order: Longs, partners: Longs, everyone: bool) -> Longs:
    """The same for one ranking: how many records of the pool lie between two that were swapped."""
    ranks = np.empty(order.size, np.int64)
    for rank in range(order.size):
        ranks[order[rank]] = rank
    present = counter(np.ones(order.size, np.int64))
    result = np.zeros(order.size, np.int64)
    for rank in range(order.size):
        other = ranks[partners[order[rank]]]
        if other > rank:
            result[rank] = total_between(present, rank + 1, other)
        if not everyone and other >= rank:
            add(present, rank, -1)
            if other > rank:
                add(present, other, -1)
    return result
