"""The loop of multivariate rank swapping, on whole records (see `kernels.swapping`).

Records that are equal form one *tuple*, a point of factor 1. A step measures the reference's
distance to all of them, finds the distance at one position of the ranking by counting in bins, and
draws among the tuples at that distance. Distances are sums over attributes; dividing by their
number, as the published mean does, changes no order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.kernels.records import Points, fill_distances, point_reference
from ontomask.kernels.swapping import pick

__all__ = ["nearer_records", "swap_records"]

BINS = 512
SAMPLE, NEXT, FIRST = 0, 1, 2
"""Columns of the draws: seed of the sample of a tie, next reference, then two per attribute."""


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
    distances: Floats
    found: Ints
    bins: Longs
    sampled: Longs


@njit(cache=True, nogil=True)
def _measure(points: Points, point: int, scratch: Scratch) -> Floats:
    """Distances of one tuple to all."""
    distances = scratch.distances[: points.factors.size]
    point_reference(points, point, scratch.reference)
    fill_distances(points, scratch.reference, distances)
    return distances


# The ranking: which distance lies at a position ------------------------------------------------


@njit(cache=True, nogil=True)
def _bin_of(distance: float, low: float, scale: float) -> int:
    """Bins follow the order of the distances: rounding is monotone."""
    return min(int((distance - low) * scale), BINS - 1)


@njit(cache=True, nogil=True)
def _counted(distances: Floats, counts: Ints, found: Ints) -> int:
    """List the tuples with a count; returns how many there are."""
    size = 0
    for point in range(distances.size):
        if counts[point] > 0:
            found[size] = point
            size += 1
    return size


@njit(cache=True, nogil=True)
def _range(distances: Floats, listed: Ints) -> tuple[float, float]:
    """Least and greatest distance of the listed tuples."""
    low, high = np.inf, -np.inf
    for point in listed:
        low, high = min(low, distances[point]), max(high, distances[point])
    return low, high


@njit(cache=True, nogil=True)
def distance_at(
    distances: Floats, counts: Ints, position: int, found: Ints, bins: Longs
) -> tuple[float, int]:
    """The distance at a position when all records are ranked, and the tuples at that distance.

    The tuples come as the first entries of `found`, ascending. Counts per bin tell in which bin the
    position falls; its tuples are binned again, until they are equally distant.
    """
    size = _counted(distances, counts, found)
    low, high = _range(distances, found[:size])
    # nearer than this the scale would overflow: they count as equal
    while high - low > 1e-300:
        scale = BINS / (high - low)
        bins[:] = 0
        for point in found[:size]:
            bins[_bin_of(distances[point], low, scale)] += counts[point]
        wanted = 0
        while position >= bins[wanted]:
            position -= bins[wanted]
            wanted += 1
        kept = 0
        for point in found[:size]:
            if _bin_of(distances[point], low, scale) == wanted:
                found[kept] = point
                kept += 1
        size = kept
        low, high = _range(distances, found[:size])
    return low, size


@njit(cache=True, nogil=True)
def _tuple_at(counts: Ints, listed: Ints, position: int) -> int:
    """The listed tuple that holds a position of the summed counts."""
    slot = 0
    while position >= counts[listed[slot]]:
        position -= counts[listed[slot]]
        slot += 1
    return int(listed[slot])


@njit(cache=True, nogil=True)
def _total(counts: Ints, listed: Ints) -> int:
    """Sum of the counts of the listed tuples."""
    total = 0
    for point in listed:
        total += counts[point]
    return total


@njit(cache=True, nogil=True)
def _farthest(distances: Floats, unfinished: Ints, uniform: float) -> int:
    """The tuple of an unfinished record among the farthest ones."""
    best, records = -1.0, 0
    for point in range(distances.size):
        if unfinished[point] > 0 and distances[point] >= best:
            if distances[point] > best:
                best, records = distances[point], 0
            records += unfinished[point]
    position = pick(uniform, records)
    for point in range(distances.size):
        if distances[point] == best and unfinished[point] > 0:
            position -= unfinished[point]
            if position < 0:
                return point
    return -1


# Drawing a partner -----------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _first_unswapped(state: State, attribute: int, point: int) -> int:
    """The record of a tuple that comes first among those not swapped in the attribute."""
    top = state.tops[attribute, point]
    while state.swapped[attribute, state.buckets[attribute, top]]:
        top += 1
    state.tops[attribute, point] = top
    return int(state.buckets[attribute, top])


@njit(cache=True, nogil=True)
def _first_unfinished(state: State, point: int) -> int:
    """The record of a tuple that comes first among those with a value not swapped."""
    row = state.buckets.shape[0] - 1
    top = state.tops[row, point]
    while state.waiting[state.buckets[row, top]] == 0:
        top += 1
    state.tops[row, point] = top
    return int(state.buckets[row, top])


@njit(cache=True, nogil=True)
def _nearest_partner(
    state: State, attribute: int, distances: Floats, room: int, draws: Floats, scratch: Scratch
) -> int:
    """A record drawn from the `room` nearest of those not swapped in the attribute, or -1."""
    if room == 0:
        return -1
    counts = state.unswapped[attribute]
    position = pick(draws[0], room)
    size = distance_at(distances, counts, position, scratch.found, scratch.bins)[1]
    tied = scratch.found[:size]
    point = _tuple_at(counts, tied, pick(draws[1], _total(counts, tied)))
    return _first_unswapped(state, attribute, point)


@njit(cache=True, nogil=True)
def uniform_of(seed: float, record: int) -> float:
    """A number in [0, 1) for each record, by the mixing function of splitmix64 (Steele 2014)."""
    state = np.uint64(seed * 9007199254740992.0) + np.uint64(record + 1) * np.uint64(
        0x9E3779B97F4A7C15
    )
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((state ^ (state >> np.uint64(31))) >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True)
def _sample_tie(
    state: State, tied: Ints, reference: int, slots: int, seed: float, sampled: Longs
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


@njit(cache=True, nogil=True)
def _any_partner(
    state: State,
    attribute: int,
    distances: Floats,
    radius: float,
    sampled: Longs,
    uniform: float,
) -> int:
    """An unswapped record drawn from those nearer than the radius and the sampled ones, or -1."""
    counts, swapped = state.unswapped[attribute], state.swapped[attribute]
    inside = 0
    for point in range(distances.size):
        if distances[point] < radius:
            inside += counts[point]
    choices = inside
    for record in sampled:
        choices += not swapped[record]
    if choices == 0:
        return -1
    position = pick(uniform, choices)
    if position >= inside:
        return _unswapped_at(sampled, swapped, position - inside)
    for point in range(distances.size):
        if distances[point] < radius:
            position -= counts[point]
            if position < 0:
                return _first_unswapped(state, attribute, point)
    return -1


@njit(cache=True, nogil=True)
def _unswapped_at(records: Longs, swapped: Bools, position: int) -> int:
    """The unswapped record at a position."""
    for record in records:
        if not swapped[record]:
            if position == 0:
                return int(record)
            position -= 1
    return -1


# The loop --------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _finish_value(state: State, attribute: int, record: int, point: int) -> None:
    """Note that a record's value of an attribute has been dealt with."""
    state.swapped[attribute, record] = True
    state.unswapped[attribute, point] -= 1
    state.waiting[record] -= 1
    if state.waiting[record] == 0:
        state.unfinished[point] -= 1


@njit(cache=True, nogil=True)
def _start(tuple_of: Ints, size: int, priorities: Longs) -> State:
    """Nothing is swapped yet."""
    attributes, count = priorities.shape[0] - 1, tuple_of.size
    sizes = np.zeros(size, np.int32)
    for point in tuple_of:
        sizes[point] += 1
    starts = np.zeros(size, np.int64)
    starts[1:] = np.cumsum(sizes)[:-1]
    buckets = np.empty(priorities.shape, np.int64)
    unswapped = np.empty((attributes, size), np.int32)
    tops = np.empty((attributes + 1, size), np.int64)
    for row in range(attributes + 1):
        tops[row] = starts
        filled = starts.copy()
        for record in priorities[row]:
            buckets[row, filled[tuple_of[record]]] = record
            filled[tuple_of[record]] += 1
    for attribute in range(attributes):
        unswapped[attribute] = sizes
    swapped = np.zeros((attributes, count), np.bool_)
    waiting = np.full(count, attributes, np.int32)
    return State(unswapped, sizes.copy(), swapped, waiting, buckets, tops, starts, sizes)


@njit(cache=True, nogil=True)
def _kept(points: Points, state: State, tuple_of: Ints) -> tuple[Points, State]:
    """The same without the tuples whose records are all finished; renumbers `tuple_of`."""
    alive = np.flatnonzero(state.unfinished > 0)
    numbers = np.full(state.unfinished.size, -1, np.int32)
    for slot in range(alive.size):
        numbers[alive[slot]] = slot
    for record in range(tuple_of.size):
        if tuple_of[record] >= 0:
            tuple_of[record] = numbers[tuple_of[record]]
    fewer = Points(
        np.ascontiguousarray(points.codes[:, alive]),
        np.ascontiguousarray(points.numbers[:, alive]),
        points.gaps,
        points.sizes[alive],
        points.weights[alive],
        points.factors[alive],
        points.tables,
        points.costs,
        points.heads,
        points.lineages,
        points.owners,
        points.power,
    )
    rest = State(
        np.ascontiguousarray(state.unswapped[:, alive]),
        state.unfinished[alive],
        state.swapped,
        state.waiting,
        state.buckets,
        np.ascontiguousarray(state.tops[:, alive]),
        state.starts[alive],
        state.sizes[alive],
    )
    return fewer, rest


@njit(cache=True, nogil=True)
def _edge(
    state: State, reference: int, point: int, k: int, seed: float, scratch: Scratch
) -> tuple[float, int]:
    """The distance at which the interval over all records ends, and how many of it are sampled."""
    distances = scratch.distances[: state.sizes.size]
    state.sizes[point] -= 1
    radius, size = distance_at(distances, state.sizes, k - 1, scratch.found, scratch.bins)
    inside = 0
    for other in range(distances.size):
        if distances[other] < radius:
            inside += state.sizes[other]
    state.sizes[point] += 1
    tied = scratch.found[:size]
    chosen = _sample_tie(state, tied, reference, k - inside, seed, scratch.sampled)
    return radius, chosen


@njit(cache=True, nogil=True)
def _swap_reference(
    state: State,
    tuple_of: Ints,
    reference: int,
    room: Longs,
    k: int,
    everyone: bool,
    draws: Floats,
    scratch: Scratch,
    partners: Longs,
) -> None:
    """Swap every value of the reference that is not swapped yet; `room` counts the others left."""
    point = tuple_of[reference]
    distances = scratch.distances[: state.sizes.size]
    radius, chosen = 0.0, 0
    if everyone:
        radius, chosen = _edge(state, reference, point, k, draws[SAMPLE], scratch)
    for attribute in range(state.swapped.shape[0]):
        if state.swapped[attribute, reference]:
            continue
        _finish_value(state, attribute, reference, point)
        room[attribute] -= 1
        two = draws[FIRST + 2 * attribute : FIRST + 2 * attribute + 2]
        if everyone:
            sampled = scratch.sampled[:chosen]
            other = _any_partner(state, attribute, distances, radius, sampled, two[0])
        else:
            near = min(k, room[attribute])
            other = _nearest_partner(state, attribute, distances, near, two, scratch)
        if other >= 0:
            _finish_value(state, attribute, other, tuple_of[other])
            room[attribute] -= 1
            partners[attribute, reference] = other
            partners[attribute, other] = reference


@njit(cache=True, nogil=True)
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
    tuple_of = tuple_of.copy()
    size = points.factors.size
    state = _start(tuple_of, size, priorities)
    scratch = Scratch(
        np.empty(attributes, np.float64),
        np.empty(size, np.float64),
        np.empty(size, np.int32),
        np.empty(BINS, np.int64),
        np.empty(k, np.int64),
    )
    partners = np.empty((attributes, count), np.int64)
    partners[:] = np.arange(count)
    references, room = np.empty(count, np.int64), np.full(attributes, count)
    reference, step = _first_unfinished(state, first), 0
    while reference >= 0 and signal[1] == 0:
        distances = _measure(points, tuple_of[reference], scratch)
        draws = uniforms[step]
        _swap_reference(state, tuple_of, reference, room, k, everyone, draws, scratch, partners)
        references[step] = reference
        step += 1
        signal[0] = count - room.max()
        point = _farthest(distances, state.unfinished, draws[NEXT])
        reference = _first_unfinished(state, point) if point >= 0 else -1
        # clearing costs a pass over all tuples, so now and then only
        if not everyone and step % 1024 == 0:
            points, state = _kept(points, state, tuple_of)
    return partners, references[:step]


@njit(cache=True, nogil=True)
def nearer_records(
    points: Points, tuple_of: Ints, partners: Longs, references: Longs, everyone: bool
) -> Longs:
    """For each step and attribute, how many records of the pool were nearer than the partner.

    Recounted from the result by plain counting; in a correct run every number is smaller than k.
    """
    attributes, count = partners.shape
    size = points.factors.size
    present = np.zeros((attributes, size), np.int64)
    for point in tuple_of:
        present[:, point] += 1
    swapped = np.zeros((attributes, count), np.bool_)
    reference, distances = np.empty(attributes, np.float64), np.empty(size, np.float64)
    result = np.zeros((references.size, attributes), np.int64)
    for step in range(references.size):
        record = references[step]
        point_reference(points, tuple_of[record], reference)
        fill_distances(points, reference, distances)
        for attribute in range(attributes):
            other = partners[attribute, record]
            if swapped[attribute, record]:
                continue
            swapped[attribute, record] = swapped[attribute, other] = True
            present[attribute, tuple_of[record]] -= 1
            if other != record:
                limit = distances[tuple_of[other]]
                for point in range(size):
                    if distances[point] < limit:
                        result[step, attribute] += present[attribute, point]
                present[attribute, tuple_of[other]] -= 1
            if everyone:
                present[attribute, tuple_of[record]] += 1
                present[attribute, tuple_of[other]] += other != record
    return result
