"""Draws from windows around values."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import allocating

__all__ = ["draw_near", "window_widths"]


@allocating
def window_widths(
    codes: Ints, offsets: Longs, members: Longs, distances: Floats, first: int
) -> Floats:
    """For each record the largest distance of its value to a value inside its cluster.

    Cluster c holds the records `members[offsets[c]:offsets[c + 1]]`. The rows of the distances are
    those of the values from the first on; records of others get 0.
    """
    widths = np.zeros(codes.size, np.float64)
    for cluster in range(offsets.size - 1):
        for slot in range(offsets[cluster], offsets[cluster + 1]):
            row, widest = codes[members[slot]] - first, 0.0
            if not 0 <= row < distances.shape[0]:
                continue
            for other in range(offsets[cluster], offsets[cluster + 1]):
                widest = max(widest, distances[row, codes[members[other]]])
            widths[members[slot]] = widest
    return widths


@allocating
def draw_near(codes: Ints, widths: Floats, distances: Floats, uniforms: Floats) -> Longs:
    """Draw, for each record, one of the values that are no farther than its width.

    Codes are rows of the distances. Values are ranked by distance, equals by number; only those
    within the width are, since mostly they are few.
    """
    drawn, size = np.empty(codes.size, np.int64), distances.shape[1]
    near, keys = np.empty(size, np.int64), np.empty(size, np.float64)
    for record in range(codes.size):
        row, found = distances[codes[record]], 0
        for value in range(size):
            if row[value] <= widths[record]:
                near[found], keys[found] = value, row[value]
                found += 1
        rank = min(int(uniforms[record] * found), found - 1)
        limit = np.partition(keys[:found], rank)[rank]
        for slot in range(found):
            rank -= keys[slot] < limit
        for slot in range(found):
            if keys[slot] == limit:
                if rank == 0:
                    drawn[record] = near[slot]
                rank -= 1
    return drawn
