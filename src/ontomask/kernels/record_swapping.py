"""The loop of multivariate rank swapping, on whole records (see `kernels.swapping`).

Records that are equal form one *tuple*, a point of factor 1. `tuple_ranking` tells which tuples are
nearest to the reference, and which are farthest, `partners` with whom it exchanges values;
`foresight` has found out ahead what it can.
Distances are sums over attributes; dividing by their number, as the published mean does, changes no
order.
"""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
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
from ontomask.kernels.index import TO_FIND_FARTHEST, Index, build_index, new_finds, remove
from ontomask.kernels.neighbors import prepare
from ontomask.kernels.partners import (
    UNKNOWN,
    Listed,
    Room,
    State,
    Tied,
    any_partner,
    edge,
    finish_value,
    first_unfinished,
    nearer_inside,
    nearest_partner,
    start_state,
)
from ontomask.kernels.records import Points, point_reference
from ontomask.kernels.tuple_ranking import (
    Scratch,
    drawn_farthest,
    drawn_tuple,
    list_nearest,
    new_lots,
    new_scratch,
)

__all__ = [
    "FIRST",
    "NEXT",
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
    tied_on: Tied,
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
    inside, chosen, tied_on.found[0] = whole(0), whole(0), UNKNOWN
    if everyone:
        seed = draws[SAMPLE]
        inside, chosen = edge(points, room, state, listed, reference, point, k, seed, scratch)
    for attribute in range(state.swapped.shape[0]):
        if state.swapped[attribute, reference]:
            continue
        finish_value(state, attribute, reference, point)
        left[attribute] -= 1
        two = draws[FIRST + 2 * attribute : FIRST + 2 * attribute + 2]
        if everyone:
            within, sampled = scratch.inside[:inside], scratch.sampled[:chosen]
            other = whole(any_partner(state, attribute, within, sampled, two[0]))
            if other >= 0:
                nearer[attribute] = nearer_inside(
                    points, state, within, point, scratch.reference, whole(tuple_of[other])
                )
        else:
            near = min(k, left[attribute])
            other, nearer[attribute] = nearest_partner(
                points, room, state, attribute, listed, tied_on, near, two, scratch
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
    if slot < foreseen.expected.size and room.lots.tuples.size == 0:
        # those farther were finished before: whoever is left of these is farthest still
        tied = foreseen.tied[slot, : foreseen.ties[slot]]
        point = drawn_tuple(state.unfinished, tied, uniform)
        if point >= 0:
            return point
    rest, finds, lots = room.rest, room.rest_finds, room.lots
    return drawn_farthest(points, rest, finds, lots, state.unfinished, uniform, scratch)[0]


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
    tied_on: Tied,
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
            tied_on,
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
    another = scratch._replace(keys=np.empty(listed), near=np.empty(listed, np.int64))
    wide = scratch._replace(keys=np.empty(size), near=np.empty(size, np.int64))
    rooms = scratch, another, Tied(wide, np.empty(1, np.int64))
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
            finds = new_finds(near, listed), new_finds(rest, 0)
            lots = new_lots(points, rest, finds[1], state.unfinished, unfinished, scratch)
            room = Room(near, rest, lots, *finds)
            outlook = look_out(points, near, rest, lots, listed, pool)
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
