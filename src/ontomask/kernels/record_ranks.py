"""The recount of multivariate rank swapping: how near the records were that exchanged values.

From the result alone: it tells when each value was exchanged, and so who was in the pool at any
step. Around every reference all tuples nearer than its farthest partner are listed, and of each the
records counted that were in the pool. No step needs another one, so they share the cores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import BLOCKS_PER_THREAD, allowed_threads, side_by_side
from ontomask.kernels.compiling import compiled, part, whole
from ontomask.kernels.index import (
    LEAF,
    NEAREST,
    Finds,
    Index,
    build_index,
    new_finds,
    points_within,
)
from ontomask.kernels.neighbors import prepare
from ontomask.kernels.records import VALUES, Points, contribution, point_reference
from ontomask.kernels.value_trees import fill_extremes

__all__ = ["nearer_records"]

FEWEST = 256
"""An index over fewer tuples is not made anew: that would hardly repay."""
SMALLEST_SHARE = 512
"""Steps for which it pays to start a thread."""


class Story(NamedTuple):
    """Who exchanged values with whom, and when."""

    tuple_of: Ints
    partners: Longs
    references: Longs
    moments: Longs
    """[attributes, n] the step in which a record's value was dealt with."""
    sorted_moments: Longs
    """[attributes, n] the same, by (tuple, step)."""
    starts: Longs
    """[p + 1] where the records of a tuple start there."""
    everyone: bool


@part
def _in_pool(story: Story, attribute: int, point: int, step: int) -> int:
    """How many records of a tuple are in the pool of an attribute at a step."""
    low, stop = story.starts[point], story.starts[point + 1]
    if story.everyone:
        return int(stop - low)
    high = stop
    while low < high:
        middle = (low + high) // 2
        if story.sorted_moments[attribute, middle] < step:
            low = middle + 1
        else:
            high = middle
    return int(stop - low)


@part
def _fill_limits(
    points: Points, story: Story, step: int, reference: Floats, limits: Floats
) -> float:
    """Write how far the partners of a step are, -1 where there is none; the farthest of them."""
    record, farthest = story.references[step], -1.0
    for attribute in range(limits.size):
        limits[attribute] = -1.0
        other = story.partners[attribute, record]
        if story.moments[attribute, record] == step and other != record:
            limits[attribute] = contribution(points, reference, whole(story.tuple_of[other]))
            farthest = max(farthest, limits[attribute])
    return farthest


@compiled
def _fill_nearer(
    points: Points,
    index: Index,
    finds: Finds,
    story: Story,
    order: Longs,
    reference: Floats,
    limits: Floats,
    keys: Floats,
    found: Longs,
    result: Longs,
) -> None:
    """Write how many records were nearer in some steps."""
    attributes = limits.size
    for step in order:
        own = whole(story.tuple_of[story.references[step]])
        point_reference(points, own, reference)
        farthest = _fill_limits(points, story, step, reference, limits)
        extremes = finds.extremes[0]
        fill_extremes(points, index.roots, index.links, index.turns, reference, NEAREST, extremes)
        size = points_within(points, index, finds, reference, farthest, keys, found)
        for attribute in range(attributes):
            for slot in range(size):
                if keys[slot] < limits[attribute]:
                    point = whole(found[slot])
                    # the reference itself is none of the others
                    result[step, attribute] += _in_pool(story, attribute, point, step)
                    result[step, attribute] -= point == own


def nearer_records(
    points: Points,
    tuple_of: Ints,
    partners: Longs,
    references: Longs,
    everyone: bool,
    chosen: Longs,
) -> Longs:
    """For chosen steps and each attribute, how many records were nearer than the partner.

    Recounted from the result; in a correct run every number is smaller than k. `chosen` ascends.
    """
    story = _told(tuple_of, points.factors.size, partners, references, everyone)
    result = np.zeros((references.size, partners.shape[0]), np.int64)
    epochs = list(_epochs(story))
    indexes = side_by_side(lambda epoch: _searched(points, epoch[1]), epochs)
    orders = [_by_value(points, story, _within(chosen, *span)) for span, _ in epochs]

    def work(index: Index, order: Longs) -> None:
        attributes, alive = partners.shape[0], index.cells.shape[1]
        room = *np.empty((2, attributes)), np.empty(alive), np.empty(alive, np.int64)
        finds = new_finds(index, 1)
        _fill_nearer(points, index, finds, story, order, *room, result)

    pieces = _pieces(orders, allowed_threads())
    side_by_side(work, [indexes[epoch] for epoch, _ in pieces], [some for _, some in pieces])
    return result[chosen]


def _searched(points: Points, alive: Longs) -> Index:
    """An index over some tuples."""
    index = build_index(points, alive, points.factors, np.zeros(points.factors.size), LEAF)
    prepare(index)
    return index


def _within(chosen: Longs, first: int, last: int) -> Longs:
    """The chosen steps from one to another, which is not one of them."""
    return chosen[np.searchsorted(chosen, first) : np.searchsorted(chosen, last)]


def _pieces(orders: Sequence[Longs], threads: int) -> list[tuple[int, Longs]]:
    """Steps to be done one after the other, and the number of their span."""
    total = sum(order.size for order in orders)
    most = max(SMALLEST_SHARE, total // (BLOCKS_PER_THREAD * threads)) if threads > 1 else total
    cuts = [range(most, order.size, most) for order in orders]
    parts = [np.split(order, cut) for order, cut in zip(orders, cuts, strict=True)]
    return [(epoch, part) for epoch, some in enumerate(parts) for part in some]


def _told(tuple_of: Ints, size: int, partners: Longs, references: Longs, everyone: bool) -> Story:
    """What the result tells of the steps."""
    attributes, count = partners.shape
    moments = np.full((attributes, count), references.size)
    moments[:, references] = np.arange(references.size)
    # an exchange took place when the first of the two was the reference
    moments = np.minimum(moments, np.take_along_axis(moments, partners, axis=1))
    sizes = np.bincount(tuple_of, minlength=size)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    # as single numbers, which are sorted in a fraction of the time
    before = np.arange(size) * (references.size + 1)
    keys = np.sort(before[tuple_of] + moments, axis=1)
    by_moment = keys - np.repeat(before, sizes)
    return Story(tuple_of, partners, references, moments, by_moment, starts, everyone)


def _epochs(story: Story) -> Iterator[tuple[tuple[int, int], Longs]]:
    """Spans of steps, and the tuples in the pool of any attribute when each begins.

    Among few that are left, those long gone would be met again and again.
    """
    size, steps = story.starts.size - 1, story.references.size
    if story.everyone:
        yield (0, steps), np.arange(size)
        return
    gone = story.sorted_moments.max(axis=0)
    gone = np.maximum.reduceat(gone, story.starts[:-1])
    first, alive = 0, np.arange(size)
    while first < steps:
        half = int(np.partition(gone[alive], alive.size // 2)[alive.size // 2])
        last = steps if alive.size < FEWEST else min(max(half, first + 1), steps)
        yield (first, last), alive
        first, alive = last, np.flatnonzero(gone >= last)


def _by_value(points: Points, story: Story, steps: Longs) -> Longs:
    """Steps by the value of their reference that has most others: the index knows it still."""
    if points.codes.shape[0] == 0:
        return steps
    values = points.codes[int(points.heads[:, VALUES].argmax())]
    return steps[np.argsort(values[story.tuple_of[story.references[steps]]], kind="stable")]
