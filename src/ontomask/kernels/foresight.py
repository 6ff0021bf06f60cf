"""What multivariate swapping will ask for next, found ahead on all cores.

Each reference is the farthest tuple from the one before. Partners are near, not far, so the next
references hardly depend on whom the ones before them draw: they are followed in the index as if no
partner was finished meanwhile, put back, and the tuples nearest to all of them are listed at once.
The loop checks each expectation and uses a list only where it came true; so nothing depends on how
many are foreseen, or on how many threads do it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.kernels.blocks import in_blocks
from ontomask.kernels.compiling import compiled, whole
from ontomask.kernels.index import Finds, Index, new_finds, remove, restore
from ontomask.kernels.records import Points, point_reference
from ontomask.kernels.tuple_ranking import (
    Scratch,
    farthest_tuple,
    list_nearest,
    new_scratch,
)

__all__ = ["Foreseen", "amount_ahead", "foresee", "most_ahead", "nothing_foreseen"]

FEWEST_AHEAD = 4
"""Where no more steps than these come true, it is given up."""
SMALLEST_SHARE = 16
"""Lists for which it pays to start a thread."""


class Foreseen(NamedTuple):
    """The references that are expected, in order, and the tuples nearest to them."""

    expected: Longs
    """[steps] the tuple of each reference."""
    sure: Bools
    """[steps] whether it is farthest alone: then it is the next one if it is not finished."""
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
        np.empty(steps, np.bool_),
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
) -> int:
    """Write which references are expected from a tuple on; how many. All is as it was then."""
    sure, count = True, whole(0)
    for step in range(foreseen.expected.size):
        if point < 0:
            break
        count += 1
        foreseen.expected[step], foreseen.sure[step] = point, sure
        unfinished[point] -= 1
        if unfinished[point] == 0:
            remove(rest, point)
        point_reference(points, point, scratch.reference)
        point, sure = farthest_tuple(points, rest, finds, unfinished, uniforms[step], scratch)
    for step in range(count - 1, -1, -1):
        point = foreseen.expected[step]
        if unfinished[point] == 0:
            restore(rest, point)
        unfinished[point] += 1
    return count


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


def foresee(
    points: Points,
    near: Index,
    rest: Index,
    unfinished: Ints,
    point: int,
    uniforms: Floats,
    wanted: Longs,
    listed: int,
) -> Foreseen:
    """The references of the next steps, from a tuple on, and the tuples nearest to them.

    `uniforms` and `wanted` have an entry for each step: the draw of the reference after it, and how
    many tuples to list around its reference.
    """
    attributes = points.codes.shape[0] + points.gaps.size
    foreseen = _empty(wanted.size, listed)
    scratch = new_scratch(attributes, rest.cells.shape[1], 0, 0)
    finds = new_finds(rest, 2)
    count = _follow(points, rest, finds, unfinished, point, uniforms, scratch, foreseen)
    foreseen = foreseen._replace(**{name: one[:count] for name, one in foreseen._asdict().items()})
    foreseen.wanted[:] = wanted[:count]
    # what the index knows of a value is found again when the value changes: let it change rarely
    values = points.codes[:, foreseen.expected]
    order = np.lexsort(values) if values.shape[0] else np.arange(count)

    def work(first: int, last: int) -> None:
        room = new_scratch(attributes, 0, 0, 0)
        _list_some(points, near, new_finds(near, listed), room, order[first:last], foreseen)

    in_blocks(work, count, SMALLEST_SHARE)
    return foreseen


def most_ahead(alive: int) -> int:
    """How many steps may be foreseen while so many tuples are unfinished.

    An expectation fails when a partner is finished that was to be a reference. How often that
    happens grows with the square of the steps: far more than the root of the tuples would be in
    vain.
    """
    return math.isqrt(alive) // 2


def amount_ahead(foreseen: int, used: int) -> int:
    """How many steps to foresee after so many of the last ones were used; 0 where it does not pay.

    Where references come from a small part of the table, at the start of large ones, fewer come
    true than elsewhere; hardly any do in tables full of ties.
    """
    amount = foreseen + foreseen // 4 + 1 if used >= foreseen else (foreseen + used) // 2
    return amount if amount >= FEWEST_AHEAD else 0
