"""The recount of multivariate rank swapping: how near the records were that exchanged values.

From the result alone: around every reference all tuples nearer than its partner are listed, and the
records counted that were in the pool at that step.
"""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.kernels.index import (
    LEAF,
    NEAREST,
    Finds,
    Index,
    bound_all,
    build_index,
    new_finds,
    points_within,
    remove,
    search,
)
from ontomask.kernels.records import (
    Points,
    compiled,
    contribution,
    part,
    point_reference,
    whole,
)

__all__ = ["nearer_records"]


@part
def _leave(index: Index, present: Ints, point: int) -> None:
    """Take a tuple out whose records are swapped in all attributes."""
    if index.places[point] >= 0:
        left = 0
        for attribute in range(present.shape[0]):
            left += present[attribute, point]
        if left == 0:
            remove(index, point)


@compiled
def _fill_nearer(
    points: Points,
    index: Index,
    finds: Finds,
    tuple_of: Ints,
    partners: Longs,
    references: Longs,
    everyone: bool,
    present: Ints,
    swapped: Bools,
    keys: Floats,
    found: Longs,
    result: Longs,
) -> None:
    """Write how many records were nearer, by looking at all of them that are."""
    attributes, reference = partners.shape[0], np.empty(partners.shape[0])
    bound_all(index)
    for step in range(references.size):
        record = references[step]
        point_reference(points, whole(tuple_of[record]), reference)
        search(points, index, finds, reference, NEAREST, whole(1))
        for attribute in range(attributes):
            other = partners[attribute, record]
            if swapped[attribute, record]:
                continue
            swapped[attribute, record] = swapped[attribute, other] = True
            present[attribute, tuple_of[record]] -= 1
            if other != record:
                limit = contribution(points, reference, whole(tuple_of[other]))
                counted = Finds(finds.answers, finds.stack, finds.extremes, present[attribute])
                size = points_within(points, index, counted, reference, NEAREST, limit, keys, found)
                for slot in range(size):
                    if keys[slot] < limit:
                        result[step, attribute] += present[attribute, found[slot]]
                present[attribute, tuple_of[other]] -= 1
            if everyone:
                present[attribute, tuple_of[record]] += 1
                present[attribute, tuple_of[other]] += other != record
        # among few that are left, those long gone would be met again and again
        _leave(index, present, whole(tuple_of[record]))
        for attribute in range(attributes):
            _leave(index, present, whole(tuple_of[partners[attribute, record]]))


def nearer_records(
    points: Points, tuple_of: Ints, partners: Longs, references: Longs, everyone: bool
) -> Longs:
    """For each step and attribute, how many records of the pool were nearer than the partner.

    Recounted from the result; in a correct run every number is smaller than k.
    """
    attributes, size = partners.shape[0], points.factors.size
    sizes = np.bincount(tuple_of, minlength=size).astype(np.int32)
    index = build_index(points, np.arange(size), points.factors, np.zeros(size), LEAF)
    result = np.zeros((references.size, attributes), np.int64)
    _fill_nearer(
        *(points, index, new_finds(index, 1), tuple_of, partners, references, everyone),
        *(np.tile(sizes, (attributes, 1)), np.zeros(partners.shape, bool)),
        *(np.empty(size), np.empty(size, np.int64), result),
    )
    return result
