"""Draws from windows around values, and the nearest of many references."""

from __future__ import annotations

import numpy as np
from numba import njit

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import in_blocks
from ontomask.kernels.records import START, VALUES, Points

__all__ = ["draw_near", "nearest_reference", "nearest_references", "window_widths"]


@njit(cache=True, nogil=True)
def window_widths(codes: Ints, offsets: Longs, members: Longs, distances: Floats) -> Floats:
    """For each record the largest distance of its value to a value inside its cluster.

    Cluster c holds the records `members[offsets[c]:offsets[c + 1]]`.
    """
    widths = np.zeros(codes.size, np.float64)
    for cluster in range(offsets.size - 1):
        for one in range(offsets[cluster], offsets[cluster + 1]):
            row = codes[members[one]]
            widest = 0.0
            for other in range(offsets[cluster], offsets[cluster + 1]):
                widest = max(widest, distances[row, codes[members[other]]])
            widths[members[one]] = widest
    return widths


@njit(cache=True, nogil=True)
def draw_near(
    codes: Ints, widths: Floats, distances: Floats, order: Ints, uniforms: Floats
) -> Longs:
    """Draw, for each record, one of the values that are no farther than its width.

    `order[v]` lists the values by their distance to v.
    """
    drawn = np.empty(codes.size, np.int64)
    size = order.shape[1]
    for record in range(codes.size):
        value, width = codes[record], widths[record]
        low, high = 0, size
        while low < high:
            middle = (low + high) // 2
            if distances[value, order[value, middle]] <= width:
                low = middle + 1
            else:
                high = middle
        place = min(int(uniforms[record] * low), low - 1)
        drawn[record] = order[value, place]
    return drawn


@njit(cache=True, nogil=True)
def nearest_reference(points: Points, point: int, rows: Ints, numbers: Floats) -> int:
    """The reference nearest to one point; ties by the smaller number.

    `rows` and `numbers` hold one reference per line.
    """
    best, best_distance = 0, np.inf
    for reference in range(rows.shape[0]):
        distance = 0.0
        for attribute in range(points.codes.shape[0]):
            row, value = rows[reference, attribute], points.codes[attribute, point]
            start = points.heads[attribute, START] + row * points.heads[attribute, VALUES]
            distance += points.tables[start + value]
        for attribute in range(points.numbers.shape[0]):
            one, other = points.numbers[attribute, point], numbers[reference, attribute]
            if np.isnan(one) or np.isnan(other):
                distance += points.gaps[attribute] * (np.isnan(one) != np.isnan(other))
            else:
                distance += abs(one - other) ** points.power
        if distance < best_distance:
            best, best_distance = reference, distance
    return best


LEAST_REFERENCES = 20_000
"""Pairs of a point and a reference that are enough work for one more thread."""


def nearest_references(points: Points, rows: Ints, numbers: Floats) -> Longs:
    """The nearest reference of each point, on all cores; see `nearest_reference`."""
    nearest = np.empty(points.weights.size, np.int64)

    def work(first: int, last: int) -> None:
        _find_nearest(first, last, points, rows, numbers, nearest)

    in_blocks(work, nearest.size, 1 + LEAST_REFERENCES // max(1, rows.shape[0]))
    return nearest


@njit(cache=True, nogil=True)
def _find_nearest(
    first: int, last: int, points: Points, rows: Ints, numbers: Floats, nearest: Longs
) -> None:
    for point in range(first, last):
        nearest[point] = nearest_reference(points, point, rows, numbers)
