"""Count persons rather than records, where several records may be of one.

Points say in `owners` whose records they hold: where the units of each point start in that very
array, and behind the starts the units; it is empty where every record is somebody else's. Of how
many units some points are is counted by *marks*, a number for each unit and, in the last place, the
last mark that was given: a unit that has the mark of the present count was counted already. Sums
would not do, for two points may share units.
"""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Longs
from ontomask.kernels.compiling import compiled, part
from ontomask.kernels.records import Points

__all__ = [
    "add_units",
    "amount",
    "drop_units",
    "is_of_records",
    "new_count",
    "new_marks",
    "points_of_units",
]


def new_marks(points: Points) -> Longs:
    """Room for the marks of all units."""
    size = points.weights.size
    return np.zeros(int(points.owners[size + 1 :].max(initial=-1)) + 2, np.int64)


def points_of_units(points: Points) -> Longs:
    """For each unit the number of points that hold records of it."""
    return np.bincount(points.owners[points.weights.size + 1 :]).astype(np.int64)


def amount(points: Points) -> float:
    """How many units there are; without units, the records."""
    if points.owners.size:
        return float(np.count_nonzero(points_of_units(points)))
    return float(points.sizes.sum())


@compiled
def new_count(marks: Longs) -> None:
    """Begin to count."""
    marks[marks.size - 1] += 1


@compiled
def add_units(points: Points, marks: Longs, point: int) -> float:
    """How many units a point adds to the present count; without units, its records."""
    owners = points.owners
    if owners.size == 0:
        return points.sizes[point]
    added, present = 0.0, marks[marks.size - 1]
    for place in range(owners[point], owners[point + 1]):
        unit = owners[place]
        if marks[unit] != present:
            marks[unit] = present
            added += 1.0
    return added


@part
def drop_units(points: Points, held: Longs, point: int) -> float:
    """How many units have no points left when a point goes; without units, its records.

    `held` holds for each unit the number of its points.
    """
    owners = points.owners
    if owners.size == 0:
        return points.sizes[point]
    dropped = 0.0
    for place in range(owners[point], owners[point + 1]):
        held[owners[place]] -= 1
        if held[owners[place]] == 0:
            dropped += 1.0
    return dropped


@part
def is_of_records(points: Points) -> bool:
    """Whether there are units, and every point is of a single one, as single records are."""
    return points.owners.size == 2 * points.sizes.size + 1
