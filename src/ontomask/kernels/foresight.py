"""What multivariate swapping will ask for next, found ahead on all cores.

Each reference is the farthest tuple from the one before. Partners are near, not far, so the next
references hardly depend on whom the ones before them draw: they are followed in the index as if no
partner was finished meanwhile, put back, and the tuples nearest to all of them are listed at once.
The loop checks each expectation and uses a list only where it came true; so nothing depends on how
many are foreseen, or on how many threads do it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import allowed_threads
from ontomask.kernels.boards import (
    PATIENCE,
    close,
    exchange,
    new_board,
    offer,
    read,
    take,
    withdraw,
)
from ontomask.kernels.compiling import apart, compiled, part, whole
from ontomask.kernels.index import Finds, Index, new_finds, remove, restore
from ontomask.kernels.records import Points, point_reference
from ontomask.kernels.tuple_ranking import (
    Lots,
    Scratch,
    drawn_farthest,
    list_nearest,
    new_scratch,
)

__all__ = [
    "Foreseen",
    "Outlook",
    "amount_ahead",
    "foreseeing",
    "has_list",
    "look_out",
    "most_ahead",
]

FEWEST_AHEAD = 4
"""Where no more steps than these come true, it is given up."""
UNLISTED = -1
MOST_LISTERS = 2
"""So many threads list while another one follows references: no more of them would be busy."""
MOST_TIED = 32
"""So many of the tuples that are farthest alike are kept for a step, at most."""


class Foreseen(NamedTuple):
    """The references that are expected, in order, and the tuples nearest to them."""

    expected: Longs
    """[steps] the tuple of each reference."""
    ties: Ints
    """[steps] how many tuples it was drawn from, the farthest ones; 0 where they were too many, or
    not listed."""
    tied: Ints
    """[steps, MOST_TIED] those tuples, ascending: some may be finished when the step comes."""
    wanted: Longs
    """[steps] how many tuples were asked for."""
    found: Longs
    """[steps] how many there were, or UNLISTED."""
    keys: Floats
    """[steps, listed] their distances, ascending."""
    near: Longs
    """[steps, listed] the tuples."""
    board: Longs
    """Tells which of them have been followed, and for which of those somebody lists the tuples."""


def _empty(steps: int, listed: int) -> Foreseen:
    return Foreseen(
        np.empty(steps, np.int64),
        np.empty(steps, np.int32),
        np.empty((steps, MOST_TIED), np.int32),
        np.empty(steps, np.int64),
        np.full(steps, UNLISTED),
        np.empty((steps, listed)),
        np.empty((steps, listed), np.int64),
        new_board(),
    )


@part
def _put_back(rest: Index, unfinished: Ints, expected: Longs) -> None:
    """Make all as it was before these references were followed."""
    for step in range(expected.size - 1, -1, -1):
        point = expected[step]
        if unfinished[point] == 0:
            restore(rest, point)
        unfinished[point] += 1


@compiled
def _follow(
    points: Points,
    rest: Index,
    finds: Finds,
    lots: Lots,
    unfinished: Ints,
    point: int,
    uniforms: Floats,
    scratch: Scratch,
    foreseen: Foreseen,
) -> int:
    """Offer the references that are expected, as if `point` was the first; how many there are.

    Afterwards all is as it was before.
    """
    count, steps = whole(0), foreseen.expected.size
    while count < steps and point >= 0:
        foreseen.expected[count] = point
        offer(foreseen.board)
        unfinished[point] -= 1
        if unfinished[point] == 0:
            remove(rest, point)
        point_reference(points, point, scratch.reference)
        uniform = uniforms[count]
        point, size = drawn_farthest(points, rest, finds, lots, unfinished, uniform, scratch)
        count += 1
        if count < steps:
            kept = size if size <= MOST_TIED else whole(0)
            foreseen.ties[count] = kept
            for slot in range(kept):
                foreseen.tied[count, slot] = scratch.tied[slot]
    close(foreseen.board)
    _put_back(rest, unfinished, foreseen.expected[:count])
    return count


@apart
@compiled
def _list_one(
    points: Points, near: Index, finds: Finds, scratch: Scratch, foreseen: Foreseen, slot: int
) -> None:
    """List the tuples nearest to an expected reference."""
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
    found = list_nearest(points, near, finds, finds.counts, foreseen.wanted[slot], here)
    exchange(foreseen.found, slot, UNLISTED, found)


@compiled
def _list_some(
    points: Points, near: Index, foreseen: Foreseen, finds: Finds, scratch: Scratch
) -> None:
    """List the tuples nearest to references that are offered, as long as there are any."""
    slot = take(foreseen.board, PATIENCE)
    while slot >= 0:
        _list_one(points, near, finds, scratch, foreseen, slot)
        slot = take(foreseen.board, PATIENCE)


@apart
@compiled
def has_list(
    points: Points, near: Index, finds: Finds, scratch: Scratch, foreseen: Foreseen, slot: int
) -> bool:
    """See that the tuples nearest to an expected reference are listed, if all have been followed.

    While another thread is at it, others are listed here. Whether they are: one that does not come
    to an end, because something else has its processor, is not waited for.
    """
    for _ in range(PATIENCE):
        if read(foreseen.found, slot) != UNLISTED:
            return True
        another = take(foreseen.board, whole(1))
        if another >= 0:
            _list_one(points, near, finds, scratch, foreseen, another)
    return False


class Outlook(NamedTuple):
    """Where is looked ahead, and the room for it, which serves again and again."""

    points: Points
    near: Index
    """The tuples of which the nearest ones are listed; nothing is taken out meanwhile."""
    rest: Index
    """Those among which references are followed: another index than `near`."""
    lots: Lots
    listed: int
    """How many tuples a list has room for."""
    following: tuple[Finds, Scratch]
    listing: list[tuple[Finds, Scratch]]
    """For each thread that lists."""
    pool: ThreadPoolExecutor | None
    """Threads that list while references are followed; None where this one is alone."""


def look_out(
    points: Points,
    near: Index,
    rest: Index,
    lots: Lots,
    listed: int,
    pool: ThreadPoolExecutor | None,
) -> Outlook:
    """Prepare to look ahead over these tuples."""
    attributes, alive = points.codes.shape[0] + points.gaps.size, rest.cells.shape[1]
    following = new_finds(rest, 0), new_scratch(attributes, alive, 0, 0)
    threads = min(allowed_threads() - 1, MOST_LISTERS) if pool else 0
    listing = [(new_finds(near, listed), new_scratch(attributes, 0, 0, 0)) for _ in range(threads)]
    return Outlook(points, near, rest, lots, listed, following, listing, pool)


@contextmanager
def foreseeing(
    outlook: Outlook, unfinished: Ints, point: int, uniforms: Floats, wanted: Longs
) -> Iterator[Foreseen]:
    """The references of the next steps, from a tuple on; beside, the tuples nearest to them.

    `uniforms` and `wanted` have an entry for each step: the draw of the reference after it, and how
    many tuples to list around its reference.
    """
    points, rest, lots = outlook.points, outlook.rest, outlook.lots
    finds, scratch = outlook.following
    foreseen = _empty(wanted.size, outlook.listed)
    foreseen.wanted[:], foreseen.ties[:1] = wanted, 0
    if wanted.size == 0:
        yield foreseen
        return
    others: list[Future[None]] = []
    if outlook.pool is not None:
        others = [
            outlook.pool.submit(_list_some, points, outlook.near, foreseen, own, room)
            for own, room in outlook.listing
        ]
    try:
        count = _follow(points, rest, finds, lots, unfinished, point, uniforms, scratch, foreseen)
        rows = {name: one[:count] for name, one in foreseen._asdict().items() if name != "board"}
        yield foreseen._replace(**rows)
    finally:
        withdraw(foreseen.board)
        for other in others:
            if not other.cancel():
                other.result()


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
