"""What multivariate swapping will ask for next, found ahead on all cores.

Each reference is the farthest tuple from the one before. Partners are near, not far, so the next
references hardly depend on whom the ones before them draw: they are followed in the index as if no
partner was finished meanwhile, put back, and the tuples nearest to all of them are listed at once.
The loop checks each expectation and uses a list only where it came true; so nothing depends on how
many are foreseen, or on how many threads do it.
"""

from __future__ import annotations

import math
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import compiled, whole
from ontomask.kernels.index import Finds, Index, new_finds, remove, restore
from ontomask.kernels.records import Points, point_reference
from ontomask.kernels.tuple_ranking import (
    Scratch,
    drawn_tuple,
    farthest_tuples,
    list_nearest,
    new_scratch,
)

__all__ = [
    "Foreseen",
    "Outlook",
    "amount_ahead",
    "foresee",
    "look_out",
    "most_ahead",
    "nothing_foreseen",
]

FEWEST_AHEAD = 4
"""Where no more steps than these come true, it is given up."""
MOST_TIED = 32
"""So many of the tuples that are farthest alike are kept for a step, at most."""
PIECE = 8
"""So many steps are followed before a thread may list the tuples nearest to them."""


class Foreseen(NamedTuple):
    """The references that are expected, in order, and the tuples nearest to them."""

    expected: Longs
    """[steps] the tuple of each reference."""
    ties: Ints
    """[steps] how many tuples it was drawn from, the farthest ones; 0 where they were too many."""
    tied: Ints
    """[steps, MOST_TIED] those tuples, ascending: some may be finished when the step comes."""
    wanted: Longs
    """[steps] how many tuples were asked for."""
    found: Longs
    """[steps] how many there were."""
    keys: Floats
    """[steps, listed] their distances, ascending."""
    near: Longs
    """[steps, listed] the tuples."""


def nothing_foreseen(listed: int) -> Foreseen:
    """No expectations."""
    return _empty(0, listed)


def _empty(steps: int, listed: int) -> Foreseen:
    return Foreseen(
        np.empty(steps, np.int64),
        np.empty(steps, np.int32),
        np.empty((steps, MOST_TIED), np.int32),
        np.empty(steps, np.int64),
        np.empty(steps, np.int64),
        np.empty((steps, listed)),
        np.empty((steps, listed), np.int64),
    )


@compiled
def _follow(
    points: Points,
    rest: Index,
    finds: Finds,
    unfinished: Ints,
    point: int,
    uniforms: Floats,
    scratch: Scratch,
    foreseen: Foreseen,
    first: int,
    last: int,
) -> tuple[int, int]:
    """Write which references are expected in the steps from first to last, as if `point` was first.

    Returns how many there are, and the tuple of the one behind them or -1.
    """
    count = whole(0)
    for step in range(first, last):
        if point < 0:
            break
        count += 1
        foreseen.expected[step] = point
        unfinished[point] -= 1
        if unfinished[point] == 0:
            remove(rest, point)
        point_reference(points, point, scratch.reference)
        size = farthest_tuples(points, rest, finds, scratch)
        point = drawn_tuple(unfinished, scratch.tied[:size], uniforms[step])
        if step + 1 < foreseen.expected.size:
            kept = size if size <= MOST_TIED else whole(0)
            foreseen.ties[step + 1] = kept
            for slot in range(kept):
                foreseen.tied[step + 1, slot] = scratch.tied[slot]
    return count, point


@compiled
def _put_back(rest: Index, unfinished: Ints, expected: Longs) -> None:
    """Make all as it was before these references were followed."""
    for step in range(expected.size - 1, -1, -1):
        point = expected[step]
        if unfinished[point] == 0:
            restore(rest, point)
        unfinished[point] += 1


@compiled
def _list_some(
    points: Points, index: Index, finds: Finds, scratch: Scratch, slots: Longs, foreseen: Foreseen
) -> None:
    """List the tuples nearest to some of the expected references."""
    for slot in slots:
        here = Scratch(
            scratch.reference,
            foreseen.keys[slot],
            foreseen.near[slot],
            scratch.order,
            scratch.tied,
            scratch.inside,
            scratch.sampled,
        )
        point_reference(points, foreseen.expected[slot], here.reference)
        foreseen.found[slot] = list_nearest(
            points, index, finds, finds.counts, foreseen.wanted[slot], here
        )


class Outlook(NamedTuple):
    """Where is looked ahead, and the room for it, which serves again and again."""

    points: Points
    near: Index
    """The tuples of which the nearest ones are listed; nothing is taken out meanwhile."""
    rest: Index
    """Those among which references are followed: another index than `near`."""
    listed: int
    """How many tuples a list has room for."""
    following: tuple[Finds, Scratch]
    listing: list[tuple[Finds, Scratch]]
    """What no thread is using now."""
    pool: ThreadPoolExecutor | None
    """Threads that list while references are followed; None where this one is alone."""


def look_out(
    points: Points, near: Index, rest: Index, listed: int, pool: ThreadPoolExecutor | None
) -> Outlook:
    """Prepare to look ahead over these tuples."""
    attributes, alive = points.codes.shape[0] + points.gaps.size, rest.cells.shape[1]
    following = new_finds(rest, 0), new_scratch(attributes, alive, 0, 0)
    return Outlook(points, near, rest, listed, following, [], pool)


def foresee(
    outlook: Outlook, unfinished: Ints, point: int, uniforms: Floats, wanted: Longs
) -> Foreseen:
    """The references of the next steps, from a tuple on, and the tuples nearest to them.

    `uniforms` and `wanted` have an entry for each step: the draw of the reference after it, and how
    many tuples to list around its reference.
    """
    points, rest, (finds, scratch) = outlook.points, outlook.rest, outlook.following
    steps, foreseen, count = wanted.size, _empty(wanted.size, outlook.listed), 0
    foreseen.wanted[:], foreseen.ties[0] = wanted, 0
    works: list[tuple[Future[None], tuple[int, int]]] = []
    while count < steps and point >= 0:
        last = steps if outlook.pool is None else min(count + PIECE, steps)
        more, point = _follow(
            points, rest, finds, unfinished, point, uniforms, scratch, foreseen, count, last
        )
        if outlook.pool is not None:
            span = count, count + more
            works.append((outlook.pool.submit(_list_span, outlook, foreseen, *span), span))
        count += more
    _put_back(rest, unfinished, foreseen.expected[:count])
    if outlook.pool is None:
        _list_span(outlook, foreseen, 0, count)
    for work, span in reversed(works):
        if work.cancel():
            _list_span(outlook, foreseen, *span)
    for work, _ in works:
        if not work.cancelled():
            work.result()
    return foreseen._replace(**{name: one[:count] for name, one in foreseen._asdict().items()})


def _list_span(outlook: Outlook, foreseen: Foreseen, first: int, last: int) -> None:
    """List the tuples nearest to the references that are expected from first to last."""
    points, near, listing = outlook.points, outlook.near, outlook.listing
    # what the index knows of a value is found again when the value changes: let it change rarely
    values = points.codes[:, foreseen.expected[first:last]]
    order = first + (np.lexsort(values) if values.shape[0] else np.arange(last - first))
    try:
        finds, scratch = listing.pop()
    except IndexError:
        finds = new_finds(near, outlook.listed)
        scratch = new_scratch(values.shape[0] + points.gaps.size, 0, 0, 0)
    _list_some(points, near, finds, scratch, order, foreseen)
    listing.append((finds, scratch))


def most_ahead(alive: int) -> int:
    """How many steps may be foreseen while so many tuples are unfinished.

    An expectation fails when a partner is finished that was to be a reference. How often that
    happens grows with the square of the steps: far more than the root of the tuples would be in
    vain.
    """
    return math.isqrt(alive) // 3


def amount_ahead(foreseen: int, used: int) -> int:
    """How many steps to foresee after so many of the last ones were used; 0 where it does not pay.

    Where references come from a small part of the table, at the start of large ones, fewer come
    true than elsewhere; hardly any do in tables full of ties.
    """
    amount = foreseen + foreseen // 4 + 1 if used >= foreseen else (foreseen + used) // 2
    return amount if amount >= FEWEST_AHEAD else 0
