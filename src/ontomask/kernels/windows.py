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
def draw_near(
    codes: Ints, widths: Floats, distances: Floats, order: Ints, uniforms: Floats
) -> Longs:
    """Draw, for each record, one of the values that are no farther than its width.

    Codes are rows of the distances; `order[v]` lists the values by their distance to v.
    """
    drawn = np.empty(codes.size, np.int64)
    size = order.shape[1]
    for record in range(codes.size):
        value, width = codes[record], widths[record]
        # the values within the width come first in the order: halve until their end is found
        low, high = 0, size
        while low < high:
            middle = (low + high) // 2
            if distances[value, order[value, middle]] <= width:
                low = middle + 1
            else:
                high = middle
        rank = min(int(uniforms[record] * low), low - 1)
        drawn[record] = order[value, rank]
    return drawn
