"""How a cluster grows around a point, out of those that remain in an index."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Longs
from ontomask.kernels.boards import count_up
from ontomask.kernels.centroids import Tally, centroid_reference, clear, count_point, new_tally
from ontomask.kernels.compiling import apart, compiled, part, whole
from ontomask.kernels.index import FARTHEST, NEAREST, Finds, Index, new_finds, remove, search
from ontomask.kernels.neighbors import sort_by_keys
from ontomask.kernels.records import Points, point_reference
from ontomask.kernels.units import add_units, is_of_records, new_count, new_marks

__all__ = ["Side", "drop", "farthest_point", "grow", "new_side", "opposite_of"]


class Side(NamedTuple):
    """What a thread needs to let clusters grow."""

    searched: Index
    """The points that remain; members are taken out."""
    finds: Finds
    reference: Floats
    """Room for what is searched for."""
    own: Tally
    """Of the cluster's members."""
    marks: Longs
    """Which units are in the cluster."""
    members: Longs
    """[2p] points of clusters, in the order in which they came; those of one search by number."""
    keys: Floats
    """[k + 1] room to sort them."""
    pulse: Longs
    """[1] how often a cluster has grown: a sign of life."""


def new_side(points: Points, index: Index, k: int) -> Side:
    """Room for clusters of at least k records, or persons, of an index."""
    return Side(
        index,
        new_finds(index, k + 1),
        np.empty(points.codes.shape[0] + points.numbers.shape[0]),
        new_tally(points),
        new_marks(points),
        np.empty(2 * index.columns.shape[1], np.int64),
        np.empty(k + 1),
        np.zeros(1, np.int64),
    )


@apart
@compiled
def drop(index: Index, point: int) -> None:
    """Take a point out of an index, unless it is out already."""
    if index.places[point] >= 0:
        remove(index, point)


@part
def farthest_point(points: Points, side: Side) -> int:
    """The remaining point farthest from the reference."""
    search(points, side.searched, side.finds, side.reference, FARTHEST, whole(1))
    return whole(side.finds.answers[0, 2])


@part
def opposite_of(points: Points, side: Side, seed: int) -> int:
    """The remaining point farthest from another one."""
    point_reference(points, seed, side.reference)
    return farthest_point(points, side)


@part
def _are_single(points: Points, spare: float) -> bool:
    """Whether each point is a single record, or of one person, if there are so many more records.

    Several can be taken at once then, though the answers of a search are in no order.
    """
    return is_of_records(points) if points.owners.size > 0 else spare == 0.0


@apart
@compiled
def grow(
    points: Points,
    side: Side,
    start: int,
    seed: int,
    k: int,
    adaptive: bool,
    dynamic: bool,
    spare: float,
) -> tuple[int, float]:
    """Form a cluster around a point until it has k records; how many members and records it has.

    Its members are written from `start` on. Of the points that remain there are fewer than records,
    by `spare`. The first is taken out before the search, for a record equal to it may come first
    among the nearest.
    """
    answers = side.finds.answers
    clear(points.heads, side.own)
    point_reference(points, seed, side.reference)
    answers[0, 2] = seed
    new_count(side.marks)
    amount, stop, found = 0.0, whole(start), whole(1)
    while found > 0:
        # in which order they are found depends on how the points lie in the index
        newest = side.members[stop : stop + found]
        for slot in range(found):
            newest[slot], side.keys[slot] = whole(answers[slot, 2]), answers[slot, 2]
        sort_by_keys(side.keys, newest, found)
        stop += found
        count_up(side.pulse, 0)
        for point in newest:
            drop(side.searched, point)
            amount += add_units(points, side.marks, point)
            spare -= points.sizes[point] - 1.0
            if dynamic:
                count_point(points, side.own, point)
        found = whole(0)
        if amount < k:
            if dynamic:
                centroid_reference(points, side.own, side.reference)
            several = not adaptive and _are_single(points, spare)
            wanted = whole(k - amount) if several else whole(1)
            found = search(points, side.searched, side.finds, side.reference, NEAREST, wanted)
    return stop - start, amount
