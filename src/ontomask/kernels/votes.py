"""How well a majority vote inside groups of classes predicts a value that the classes have."""

from __future__ import annotations

import numpy as np
from numba import uint64

from ontomask.arrays import Bools, Ints, Longs
from ontomask.kernels.compiling import allocating

__all__ = ["vote"]


@allocating
def vote(starts: Longs, order: Longs, values: Ints, sizes: Longs, kept: Bools, width: int) -> Longs:
    """Count records that are not of the most frequent value of their group.

    The classes of group g are `order[starts[g]:starts[g + 1]]`; their values are less than `width`.
    Returns how many records are outside the most frequent value of all classes; how many of kept
    classes are outside that of kept classes, how many of them where it is the only most frequent
    one, and how many records of kept classes are in groups without such a value; and of groups
    without kept classes, how many records are in them and how many are of the most frequent value.
    """
    every, stays = np.zeros(width, np.int64), np.zeros(width, np.int64)
    found = np.zeros(6, np.int64)
    for group in range(starts.size - 1):
        classes = order[starts[group] : starts[group + 1]]
        total, left = 0, 0
        for place in classes:
            value, size = uint64(values[uint64(place)]), sizes[uint64(place)]
            every[value] += size
            total += size
            if kept[uint64(place)]:
                stays[value] += size
                left += size
        most, first, second = 0, 0, 0
        for place in classes:
            value = uint64(values[uint64(place)])
            most = max(most, every[value])
            if stays[value] > first:
                first, second = stays[value], first
            elif stays[value] > second:
                second = stays[value]
            every[value] = stays[value] = 0  # several classes may have the value: it is one
        found[0] += total - most
        found[1] += left - first
        if first > second:
            found[2] += left - first
        else:
            found[3] += left
        if left == 0:
            found[4] += total
            found[5] += most
    return found
