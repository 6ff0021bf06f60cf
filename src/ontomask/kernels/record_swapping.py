"""The loop of multivariate rank swapping, on whole records (see `kernels.swapping`).

Records that are equal form one *tuple*, a point of factor 1. `tuple_ranking` tells which tuples are
nearest to the reference, and which are farthest; `foresight` has found out ahead what it can.
Distances are sums over attributes; dividing by their number, as the published mean does, changes no
order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.kernels.blocks import beside
from ontomask.kernels.compiling import apart, compiled, part, whole
from ontomask.kernels.foresight import (
    Foreseen,
    amount_ahead,
    foreseeing,
    has_list,
    look_out,
    most_ahead,
)
from ontomask.kernels.index import (
    TO_FIND_FARTHEST,
    Finds,
    Index,
    build_index,
    new_finds,
    remove,
)
from ontomask.kernels.neighbors import prepare, sort_by_keys
from ontomask.kernels.records import Points, contribution, point_reference
from ontomask.kernels.swapping import pick
from ontomask.kernels.tuple_ranking import (
    Scratch,
    count_nearer,
    drawn_tuple,
    farthest_tuples,
    list_nearest,
    new_scratch,
    ranked_at,
    slot_in_list,
    tied_in_list,
    total,
    tuple_at,
)

__all__ = [
    "FIRST",
    "NEXT",
    "State",
    "finish_value",
    "first_unfinished",
    "first_unswapped",
    "start_state",
    "swap_records",
]

SAMPLE, NEXT, FIRST = 0, 1, 2
"""Columns of the draws: seed of the sample of a tie, next reference, then two per attribute."""
REFERENCE, STEP, USED = 0, 1, 2
"""Entries of `progress`: the record that is next, how many have been, how many were foreseen."""
MORE_LISTED = 8
"""So many more than twice the interval are listed around a reference for all attributes at once."""
LEAF = 64
"""Points of a leaf: dozens of neighbors are asked for at once, so leaves can be large."""
MOST_UNFORESEEN = 64
"""So many steps are done at once where nothing is foreseen: finished tuples stay in the way."""
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


class Room(NamedTuple):
    """Where references look for partners, and for the next reference."""

    near: Index
    """The tuples among which intervals are taken."""
    rest: Index
    """Those with an unfinished record."""
    near_finds: Finds
    rest_finds: Finds


class Listed(NamedTuple):
    """The tuples nearest to a reference."""

    scratch: Scratch
    """The room in which they lie."""
    found: int
    wanted: int


# Drawing a partner -----------------------------------------------------------------------------


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
def _nearest_partner(
    points: Points,
    room: Room,
    state: State,
    attribute: int,
    listed: Listed,
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
    slot = slot_in_list(listed.scratch, counts, listed.found, listed.wanted, position)
    if slot >= 0:
        size = tied_in_list(listed.scratch, counts, listed.found, slot)
        radius = listed.scratch.keys[slot]
        nearer = count_nearer(listed.scratch, counts, listed.found, radius)
    else:
        ranked = ranked_at(points, room.near, room.near_finds, counts, position, scratch)
        size, nearer = ranked[2], count_nearer(scratch, counts, ranked[1], ranked[0])
    tied = scratch.tied[:size]
    point = tuple_at(counts, tied, pick(draws[1], total(counts, tied)))
    return whole(first_unswapped(state, attribute, point)), whole(nearer)


@part
def uniform_of(seed: float, record: int) -> float:
    """A number in [0, 1) for each record, by the mixing function of splitmix64 (Steele 2014)."""
    state = np.uint64(seed * 9007199254740992.0) + np.uint64(record + 1) * np.uint64(
        0x9E3779B97F4A7C15
    )
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((state ^ (state >> np.uint64(31))) >> np.uint64(11)) / 9007199254740992.0


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
def _any_partner(
    state: State, attribute: int, inside: Longs, sampled: Longs, uniform: float
) -> int:
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
def _nearer_inside(
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


# The loop --------------------------------------------------------------------------------------


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


@apart
@compiled
def _edge(
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


@apart
@compiled
def _leave(index: Index, state: State, point: int) -> None:
    """Take a tuple out of an index of those that are unfinished when it is not."""
    if state.unfinished[point] == 0 and index.places[point] >= 0:
        remove(index, point)


@part
def _leave_with_partners(
    index: Index, state: State, tuple_of: Ints, partners: Longs, reference: int
) -> None:
    """The same for the tuples of a reference and its partners."""
    _leave(index, state, whole(tuple_of[reference]))
    for attribute in range(partners.shape[0]):
        _leave(index, state, whole(tuple_of[partners[attribute, reference]]))


@part
def _swap_reference(
    points: Points,
    room: Room,
    state: State,
    tuple_of: Ints,
    listed: Listed,
    reference: int,
    left: Longs,
    k: int,
    everyone: bool,
    draws: Floats,
    scratch: Scratch,
    partners: Longs,
    nearer: Longs,
) -> None:
    """Swap every value of the reference that is not swapped yet; `left` counts the others left.

    How many records of the pool are nearer than the partner of each attribute is noted.
    """
    point = whole(tuple_of[reference])
    inside, chosen = whole(0), whole(0)
    if everyone:
        seed = draws[SAMPLE]
        inside, chosen = _edge(points, room, state, listed, reference, point, k, seed, scratch)
    for attribute in range(state.swapped.shape[0]):
        if state.swapped[attribute, reference]:
            continue
        finish_value(state, attribute, reference, point)
        left[attribute] -= 1
        two = draws[FIRST + 2 * attribute : FIRST + 2 * attribute + 2]
        if everyone:
            within, sampled = scratch.inside[:inside], scratch.sampled[:chosen]
            other = whole(_any_partner(state, attribute, within, sampled, two[0]))
            if other >= 0:
                nearer[attribute] = _nearer_inside(
                    points, state, within, point, scratch.reference, whole(tuple_of[other])
                )
        else:
            near = min(k, left[attribute])
            other, nearer[attribute] = _nearest_partner(
                points, room, state, attribute, listed, near, two, scratch
            )
        if other >= 0:
            finish_value(state, attribute, other, whole(tuple_of[other]))
            left[attribute] -= 1
            partners[attribute, reference] = other
            partners[attribute, other] = reference


@part
def _listed(
    points: Points,
    room: Room,
    foreseen: Foreseen,
    slot: int,
    point: int,
    first: Scratch,
) -> Listed:
    """The tuples nearest to the reference: foreseen, or asked for now."""
    finds, wanted = room.near_finds, whole(first.keys.size)
    if slot < foreseen.expected.size and has_list(points, room.near, finds, first, foreseen, slot):
        there = Scratch(
            first.reference,
            foreseen.keys[slot],
            foreseen.near[slot],
            first.order,
            first.tied,
            first.inside,
            first.sampled,
        )
        return Listed(there, foreseen.found[slot], foreseen.wanted[slot])
    point_reference(points, point, first.reference)
    found = list_nearest(points, room.near, finds, finds.counts, wanted, first)
    return Listed(first, found, wanted)


@part
def _next_tuple(
    points: Points,
    room: Room,
    state: State,
    foreseen: Foreseen,
    slot: int,
    uniform: float,
    scratch: Scratch,
) -> int:
    """The tuple of the next reference, or -1."""
    if slot < foreseen.expected.size:
        # those farther were finished before: whoever is left of these is farthest still
        tied = foreseen.tied[slot, : foreseen.ties[slot]]
        point = drawn_tuple(state.unfinished, tied, uniform)
        if point >= 0:
            return point
    size = farthest_tuples(points, room.rest, room.rest_finds, scratch)
    return whole(drawn_tuple(state.unfinished, scratch.tied[:size], uniform))


@compiled
def _worn(index: Index) -> bool:
    """Whether an index holds so few of its points still that it should be made anew."""
    indexed = index.columns.shape[1]
    return bool(indexed >= SMALLEST_REBUILD and 2 * index.nodes[0, 1] < indexed)


@part
def _most(left: Longs) -> int:
    most = whole(0)
    for attribute in range(left.size):
        most = left[attribute] if left[attribute] > most else most
    return most


@compiled
def _swap_some(
    points: Points,
    room: Room,
    state: State,
    tuple_of: Ints,
    foreseen: Foreseen,
    progress: Longs,
    left: Longs,
    k: int,
    everyone: bool,
    uniforms: Floats,
    first: Scratch,
    scratch: Scratch,
    partners: Longs,
    references: Longs,
    nearer: Longs,
    signal: Longs,
) -> None:
    """Go on as far as was foreseen, until half of the tuples are finished, or on request."""
    count, ahead, used = partners.shape[1], foreseen.expected.size, whole(0)
    most = ahead if ahead > 0 else MOST_UNFORESEEN
    while used < most and progress[REFERENCE] >= 0 and signal[1] == 0:
        if _worn(room.rest):
            break
        reference, step = progress[REFERENCE], progress[STEP]
        point = whole(tuple_of[reference])
        if ahead > 0 and foreseen.expected[used] != point:
            break
        listed = _listed(points, room, foreseen, used, point, first)
        point_reference(points, point, scratch.reference)
        draws = uniforms[step]
        _swap_reference(
            points,
            room,
            state,
            tuple_of,
            listed,
            reference,
            left,
            k,
            everyone,
            draws,
            scratch,
            partners,
            nearer[step],
        )
        references[step] = reference
        _leave_with_partners(room.rest, state, tuple_of, partners, reference)
        used += 1
        progress[STEP] += 1
        signal[0] = count - _most(left)
        point = _next_tuple(points, room, state, foreseen, used, draws[NEXT], scratch)
        progress[REFERENCE] = first_unfinished(state, point) if point >= 0 else -1
    progress[USED] = used


@compiled
def _thin_out(near: Index, state: State, tuple_of: Ints, partners: Longs, records: Longs) -> None:
    """Take the tuples out that are finished after some references were swapped."""
    for reference in records:
        _leave_with_partners(near, state, tuple_of, partners, reference)


def _searched(points: Points, order: Longs, stress: float = 1.0) -> Index:
    """An index over some tuples."""
    ranks = np.zeros(points.weights.size)
    index = build_index(points, order, points.factors, ranks, LEAF, stress)
    prepare(index)
    return index


def swap_records(
    points: Points,
    tuple_of: Ints,
    first: int,
    k: int,
    everyone: bool,
    priorities: Longs,
    uniforms: Floats,
    signal: Longs,
) -> tuple[Longs, Longs, Longs]:
    """Swap the values of whole records.

    Returns partners [attributes, n], references, and for each of these and every attribute how many
    records of the pool were nearer than the partner.

    `tuple_of` gives the tuple of each record, `first` the tuple of the first reference,
    `priorities` has a random order of the records for each attribute and one for the references,
    and `uniforms` a row of 2 + 2 * attributes per step. `everyone`: the interval is the k nearest
    of all records; else, for each attribute, of those whose value is not swapped. `signal` as in
    `kernels.swapping`.
    """
    attributes, count = priorities.shape[0] - 1, tuple_of.size
    size = points.factors.size
    state = start_state(tuple_of, size, priorities)
    listed = min(2 * k + MORE_LISTED, size + 1)
    scratch = new_scratch(attributes, size, listed, k)
    # another list around the same reference, for a single attribute
    rooms = scratch, scratch._replace(keys=np.empty(listed), near=np.empty(listed, np.int64))
    partners = np.tile(np.arange(count), (attributes, 1))
    references, left = np.empty(count, np.int64), np.full(attributes, count)
    nearer = np.zeros((count, attributes), np.int64)
    progress = np.array([state.buckets[-1, state.starts[first]], 0, 0])
    everything = _searched(points, np.arange(size)) if everyone else None
    with beside() as pool:
        while progress[REFERENCE] >= 0 and signal[1] == 0:
            unfinished = np.flatnonzero(state.unfinished > 0)
            amount = float(state.unfinished.sum())
            rest = _searched(points, unfinished, TO_FIND_FARTHEST)
            near = _searched(points, unfinished) if everything is None else everything
            room = Room(near, rest, new_finds(near, listed), new_finds(rest, 0))
            outlook = look_out(points, near, rest, listed, pool)
            ahead = most_ahead(int(rest.nodes[0, 1]))
            while progress[REFERENCE] >= 0 and signal[1] == 0 and not _worn(rest):
                ahead = min(ahead, most_ahead(int(rest.nodes[0, 1])))
                steps, before = uniforms[progress[STEP] :][:ahead], progress[STEP]
                # about as many records are left of the tuples as before
                records = amount * rest.nodes[0, 1] / unfinished.size
                wanted = _wanted(steps, records, left, k, everyone, listed)
                point = int(tuple_of[progress[REFERENCE]])
                with foreseeing(
                    outlook, state.unfinished, point, steps[:, NEXT], wanted
                ) as foreseen:
                    _swap_some(
                        *(points, room, state, tuple_of, foreseen, progress, left, k, everyone),
                        *(uniforms, *rooms, partners, references, nearer, signal),
                    )
                if not everyone:
                    # not before: other threads look at it
                    done = references[before : progress[STEP]]
                    _thin_out(near, state, tuple_of, partners, done)
                ahead = amount_ahead(foreseen.expected.size, int(progress[USED]))
    return partners, references[: progress[STEP]], nearer[: progress[STEP]]


def _wanted(
    uniforms: Floats, unfinished: float, left: Longs, k: int, everyone: bool, listed: int
) -> Longs:
    """How many tuples to list around each reference: lists should hardly ever be too short."""
    if everyone:
        # the reference's own tuple may hold no other record, and one shows whether ties go on
        return np.full(uniforms.shape[0], min(k + 2, listed))
    positions = uniforms[:, FIRST::2].max(axis=1) * k + 1.0
    wanted = 6.0 + 1.4 * positions * unfinished / max(1, left.min())
    return np.minimum(wanted.astype(np.int64), listed)
