"""The loop of multivariate rank swapping, on whole records (see `kernels.swapping`).

Records that are equal form one *tuple*, a point of factor 1. `tuple_ranking` tells which tuples are
nearest to the reference, and which are farthest, `partners` with whom it exchanges values;
`foresight` has found out ahead what it can.
Distances are sums over attributes; dividing by their number, as the published mean does, changes no
order.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import beside
from ontomask.kernels.boards import PATIENCE, call_off, close_now
from ontomask.kernels.boxes import LIVE
from ontomask.kernels.compiling import apart, compiled, part, whole
from ontomask.kernels.foresight import (
    Foreseen,
    amount_ahead,
    come_to_rest,
    follow,
    has_list,
    looking_out,
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
    "SMALLEST_REBUILD",
    "swap_records",
]

SAMPLE, NEXT, FIRST = 0, 1, 2
"""Columns of the draws: seed of the sample of a tie, next reference, then two per attribute."""
REFERENCE, STEP, AHEAD, USED, THINNED, WORN = 0, 1, 2, 3, 4, 5
"""Entries of `progress`: the record that is next, how many have been; how many are to be foreseen,
or were, and how many of these came true; after how many steps finished tuples were taken out of the
index of the nearest; whether the other index should be made anew."""
MORE_LISTED = 8
"""So many more than twice the interval are listed around a reference for all attributes at once."""
LEAF = 64
"""Points of a leaf: dozens of neighbors are asked for at once, so leaves can be large."""
MOST_UNFORESEEN = 64
"""So many steps are done at once where nothing is foreseen: finished tuples stay in the way."""
SMALLEST_REBUILD = 256
"""An index over fewer points is not made anew: that would hardly repay."""
SMALLEST_SHARE = 2048
"""An index over so many points is worth another thread."""


class Course(NamedTuple):
    """What came of the steps so far."""

    progress: Longs
    """See the constants above."""
    left: Longs
    """[attributes] how many values are not swapped."""
    partners: Longs
    """[attributes, n] who exchanged values."""
    references: Longs
    """[n] the record of each step."""
    nearer: Longs
    """[n, attributes] for each step, how many records were nearer than the partner."""


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
    ahead: int,
    slot: int,
    point: int,
    first: Scratch,
) -> Listed:
    """The tuples nearest to the reference: foreseen, or asked for now."""
    finds, wanted = room.near_finds, whole(first.keys.size)
    if slot < ahead and has_list(points, room.near, finds, first, foreseen, slot):
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
    ahead: int,
    slot: int,
    uniform: float,
    scratch: Scratch,
) -> int:
    """The tuple of the next reference, or -1."""
    if slot < ahead and room.lots.tuples.size == 0:
        # those farther were finished before: whoever is left of these is farthest still
        tied = foreseen.tied[slot, : foreseen.ties[slot]]
        point = drawn_tuple(state.unfinished, tied, uniform)
        if point >= 0:
            return point
    rest, finds, lots = room.rest, room.rest_finds, room.lots
    return drawn_farthest(points, rest, finds, lots, state.unfinished, uniform, scratch)[0]


@part
def _worn(index: Index) -> bool:
    """Whether an index holds so few of its points still that it should be made anew."""
    indexed = index.columns.shape[1]
    return bool(indexed >= SMALLEST_REBUILD and 2 * index.nodes[0, LIVE] < indexed)


@part
def _most(left: Longs) -> int:
    most = whole(0)
    for attribute in range(left.size):
        most = left[attribute] if left[attribute] > most else most
    return most


@part
def _thin_out(near: Index, state: State, tuple_of: Ints, course: Course) -> None:
    """Take the tuples out that the last steps have finished; no other thread looks at them."""
    progress = course.progress
    for step in range(progress[THINNED], progress[STEP]):
        _leave_with_partners(near, state, tuple_of, course.partners, course.references[step])
    progress[THINNED] = progress[STEP]


@part
def _fill_wanted(
    foreseen: Foreseen, uniforms: Floats, records: float, left: Longs, k: int, everyone: bool
) -> None:
    """How many tuples to list around each reference: lists should hardly ever be too short.

    So many `records` are unfinished, about.
    """
    fewest, listed = left[0], foreseen.keys.shape[1]
    for attribute in range(left.size):
        fewest = left[attribute] if left[attribute] < fewest else fewest
    for slot in range(uniforms.shape[0]):
        # the reference's own tuple may hold no other record, and one shows whether ties go on
        wanted = whole(k + 2)
        if not everyone:
            position = 0.0
            for attribute in range(left.size):
                uniform = uniforms[slot, FIRST + 2 * attribute]
                position = uniform if uniform > position else position
            wanted = whole(6.0 + 1.4 * (position * k + 1.0) * records / max(1, fewest))
        foreseen.wanted[slot] = wanted if wanted < listed else listed


@compiled
def _swap_some(
    points: Points,
    room: Room,
    state: State,
    tuple_of: Ints,
    foreseen: Foreseen,
    course: Course,
    k: int,
    everyone: bool,
    uniforms: Floats,
    per_tuple: float,
    first: Scratch,
    scratch: Scratch,
    tied_on: Tied,
    signal: Longs,
) -> None:
    """Foresee some steps and do those that come true; some more where none are to be foreseen.

    No step is done after half of the tuples are finished, or on request. About so many unfinished
    records there are `per_tuple`.
    """
    progress, partners, used = course.progress, course.partners, whole(0)
    if not everyone:
        _thin_out(room.near, state, tuple_of, course)
    ahead, most = progress[AHEAD], MOST_UNFORESEEN
    if ahead > 0:
        some = uniforms[progress[STEP] : progress[STEP] + ahead]
        records = per_tuple * room.rest.nodes[0, LIVE]
        _fill_wanted(foreseen, some, records, course.left, k, everyone)
        rest, finds, lots = room.rest, room.rest_finds, room.lots
        start, following = whole(tuple_of[progress[REFERENCE]]), some[:, NEXT]
        ahead = most = follow(
            points, rest, finds, lots, state.unfinished, start, following, scratch, foreseen
        )
    while used < most and progress[REFERENCE] >= 0 and signal[1] == 0:
        if _worn(room.rest):
            break
        reference, step = progress[REFERENCE], progress[STEP]
        point = whole(tuple_of[reference])
        if ahead > 0 and foreseen.expected[used] != point:
            break
        listed = _listed(points, room, foreseen, ahead, used, point, first)
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
            course.left,
            k,
            everyone,
            draws,
            scratch,
            partners,
            course.nearer[step],
        )
        course.references[step] = reference
        _leave_with_partners(room.rest, state, tuple_of, partners, reference)
        used += 1
        progress[STEP] += 1
        signal[0] = partners.shape[1] - _most(course.left)
        point = _next_tuple(points, room, state, foreseen, ahead, used, draws[NEXT], scratch)
        progress[REFERENCE] = first_unfinished(state, point) if point >= 0 else -1
    call_off(foreseen.board, PATIENCE)
    progress[AHEAD], progress[USED], progress[WORN] = ahead, used, _worn(room.rest)


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
    size = points.factors.size
    state = start_state(tuple_of, size, priorities)
    course = _start(state, first)
    rooms = _step_rooms(priorities.shape[0] - 1, size, k)
    everything = _searched(points, np.arange(size)) if everyone else None
    with beside() as pool:
        while course.progress[REFERENCE] >= 0 and signal[1] == 0:
            room, per_tuple = _new_room(points, state, everything, rooms[0], pool)
            most = most_ahead(_alive(room))
            with looking_out(points, room.near, rooms[0].keys.size, most, pool) as foreseen:
                given = points, room, state, tuple_of, foreseen, course
                _swap_until_worn(*given, k, everyone, uniforms, per_tuple, *rooms, signal)
    done = course.progress[STEP]
    return course.partners, course.references[:done], course.nearer[:done]


def _start(state: State, first: int) -> Course:
    """No step is done; the first reference is of a tuple."""
    attributes, count = state.swapped.shape
    return Course(
        np.array([state.buckets[-1, state.starts[first]], 0, 0, 0, 0, 0]),
        np.full(attributes, count),
        np.tile(np.arange(count), (attributes, 1)),
        np.empty(count, np.int64),
        np.zeros((count, attributes), np.int64),
    )


def _step_rooms(attributes: int, size: int, k: int) -> tuple[Scratch, Scratch, Tied]:
    """Room for lists around a reference: for all attributes, for a single one, with all ties."""
    listed = min(2 * k + MORE_LISTED, size + 1)
    scratch = new_scratch(attributes, size, listed, k)
    another = scratch._replace(keys=np.empty(listed), near=np.empty(listed, np.int64))
    wide = scratch._replace(keys=np.empty(size), near=np.empty(size, np.int64))
    return scratch, another, Tied(wide, np.empty(1, np.int64))


def _new_room(
    points: Points,
    state: State,
    everything: Index | None,
    scratch: Scratch,
    pool: ThreadPoolExecutor | None,
) -> tuple[Room, float]:
    """Indexes over the tuples that are unfinished, and how many unfinished records each has."""
    unfinished = np.flatnonzero(state.unfinished > 0)
    coming = None
    if everything is None and pool is not None and unfinished.size >= SMALLEST_SHARE:
        coming = pool.submit(_searched, points, unfinished)
    rest = _searched(points, unfinished, TO_FIND_FARTHEST)
    near = coming.result() if coming else everything or _searched(points, unfinished)
    finds = new_finds(near, scratch.keys.size), new_finds(rest, 0)
    lots = new_lots(points, rest, finds[1], state.unfinished, unfinished, scratch)
    records = float(state.unfinished.sum())
    return Room(near, rest, lots, *finds), records / max(1, unfinished.size)


def _alive(room: Room) -> int:
    """How many tuples are unfinished."""
    return int(room.rest.nodes[0, LIVE])


def _swap_until_worn(
    points: Points,
    room: Room,
    state: State,
    tuple_of: Ints,
    foreseen: Foreseen,
    course: Course,
    k: int,
    everyone: bool,
    *given: Any,
) -> None:
    """Do steps until half of the tuples are finished, or on request."""
    progress, signal, ahead = course.progress, given[-1], foreseen.expected.size
    progress[THINNED], progress[WORN] = progress[STEP], 0
    while progress[REFERENCE] >= 0 and signal[1] == 0 and not progress[WORN]:
        ahead = min(ahead, most_ahead(_alive(room)))
        if not ahead:
            close_now(foreseen.board)  # nor will anything be foreseen later
        progress[AHEAD] = min(ahead, tuple_of.size - progress[STEP])
        _swap_some(points, room, state, tuple_of, foreseen, course, k, everyone, *given)
        come_to_rest(foreseen)
        ahead = amount_ahead(int(progress[AHEAD]), int(progress[USED]))
