"""What multivariate swapping will ask for next, found ahead on all cores.

Each reference is the farthest tuple from the one before. Partners are near, not far, so the next
references hardly depend on whom the ones before them draw: they are followed in the index as if no
partner was finished meanwhile, put back, and the tuples nearest to all of them are listed at once.
The loop checks each expectation and uses a list only where it came true; so nothing depends on how
many are foreseen, or on how many threads do it.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import allowed_threads
from ontomask.kernels.boards import (
    FIRST,
    PATIENCE,
    close_now,
    exchange,
    finish,
    give_way,
    is_at_rest,
    is_closed,
    new_board,
    offer,
    read,
    start_round,
    take,
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
    "amount_ahead",
    "come_to_rest",
    "follow",
    "has_list",
    "looking_out",
    "most_ahead",
]

FEWEST_AHEAD = 4
"""Where no more steps than these come true, it is given up."""
UNLISTED = -1
MOST_LISTERS = 2
"""So many threads list while another one follows references: no more of them would be busy."""
NAP = 1e-4
"""Seconds that a thread pauses when nothing came for long."""
MOST_TIED = 32
"""So many of the tuples that are farthest alike are kept for a step, at most."""


class Foreseen(NamedTuple):
    """The references that are expected, in order, and the tuples nearest to them."""

    expected: Longs
    """[most] the tuple of each reference."""
    ties: Ints
    """[most] how many tuples it was drawn from, the farthest ones; 0 where they were too many, or
    not listed."""
    tied: Ints
    """[most, MOST_TIED] those tuples, ascending: some may be finished when the step comes."""
    wanted: Longs
    """[most] how many tuples were asked for."""
    found: Longs
    """[most] how many there were, or UNLISTED."""
    keys: Floats
    """[most, listed] their distances, ascending."""
    near: Longs
    """[most, listed] the tuples."""
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
def follow(
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

    There are no more than `uniforms`: the draw of the reference after each. Afterwards all is as it
    was before.
    """
    count, steps = whole(0), uniforms.size
    for slot in range(steps):
        foreseen.found[slot] = UNLISTED
    foreseen.ties[0] = 0
    start_round(foreseen.board)
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
    _put_back(rest, unfinished, foreseen.expected[:count])
    return count


@apart
@compiled
def _list_one(
    points: Points, near: Index, finds: Finds, scratch: Scratch, foreseen: Foreseen, number: int
) -> None:
    """List the tuples nearest to an expected reference, the one with this number on the board."""
    slot = number - foreseen.board[FIRST]
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
    finish(foreseen.board, whole(1))


@compiled
def _list_some(
    points: Points, near: Index, foreseen: Foreseen, finds: Finds, scratch: Scratch
) -> None:
    """List the tuples nearest to references that are offered, as long as there are any."""
    number = take(foreseen.board, PATIENCE)
    while number >= 0:
        _list_one(points, near, finds, scratch, foreseen, number)
        number = take(foreseen.board, PATIENCE)


@apart
@compiled
def has_list(
    points: Points, near: Index, finds: Finds, scratch: Scratch, foreseen: Foreseen, slot: int
) -> bool:
    """See that the tuples nearest to an expected reference are listed, if all have been followed.

    While another thread is at it, others are listed here. Whether they are: one that does not come
    to an end, because something else has its processor, is not waited for.
    """
    for look in range(PATIENCE):
        give_way(look)
        if read(foreseen.found, slot) != UNLISTED:
            return True
        another = take(foreseen.board, whole(1))
        if another >= 0:
            _list_one(points, near, finds, scratch, foreseen, another)
    return False


def _wait_for_references(
    points: Points, near: Index, foreseen: Foreseen, finds: Finds, scratch: Scratch
) -> None:
    """List until no more references will come."""
    while not is_closed(foreseen.board):
        _list_some(points, near, foreseen, finds, scratch)
        time.sleep(NAP)


@contextmanager
def looking_out(
    points: Points, near: Index, listed: int, most: int, pool: ThreadPoolExecutor | None
) -> Iterator[Foreseen]:
    """Room for up to `most` references; threads of the pool list the tuples nearest to them.

    Lists have room for `listed` tuples. `near` holds those of which the nearest ones are listed; it
    may change when the board is at rest.
    """
    foreseen, attributes = _empty(most, listed), points.codes.shape[0] + points.gaps.size
    threads = min(allowed_threads() - 1, MOST_LISTERS) if most else 0
    own = [(new_finds(near, listed), new_scratch(attributes, 0, 0, 0)) for _ in range(threads)]
    others = list[Future[None]]()
    try:
        if pool is not None:
            work = functools.partial(_wait_for_references, points, near, foreseen)
            others += [pool.submit(work, *room) for room in own]
        yield foreseen
    finally:
        close_now(foreseen.board)
        for other in others:
            if not other.cancel():
                other.result()


def come_to_rest(foreseen: Foreseen) -> None:
    """Wait until nobody lists any more: something else may have its processor."""
    while not is_at_rest(foreseen.board):
        time.sleep(NAP)


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
