"""Draws from windows around values."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import compiled, part, whole

__all__ = ["draw_near", "window_widths"]


@compiled
def _widen(
    codes: Ints, offsets: Longs, members: Longs, distances: Floats, first: int, widths: Floats
) -> None:
    for cluster in range(offsets.size - 1):
        for slot in range(offsets[cluster], offsets[cluster + 1]):
            row, widest = codes[members[slot]] - first, 0.0
            if not 0 <= row < distances.shape[0]:
                continue
            for other in range(offsets[cluster], offsets[cluster + 1]):
                widest = max(widest, distances[row, codes[members[other]]])
            widths[members[slot]] = widest


def window_widths(
    codes: Ints, offsets: Longs, members: Longs, distances: Floats, first: int
) -> Floats:
    """For each record the largest distance of its value to a value inside its cluster.

    Cluster c holds the records `members[offsets[c]:offsets[c + 1]]`. The rows of the distances are
    those of the values from the first on; records of others get 0.
    """
    widths = np.zeros(codes.size, np.float64)
    _widen(codes, offsets, members, distances, first, widths)
    return widths


@part
def _of_rank(keys: Floats, near: Longs, found: int, rank: int) -> int:
    """Which of the first values has a rank by key, equals by number (Hoare 1961).

    NumPy's own way would take ten times as long to compile.
    """
    low, high = 0, found - 1
    while low < high:
        key, value = keys[rank], near[rank]
        left, right = low, high
        while left <= right:
            while keys[left] < key or (keys[left] == key and near[left] < value):
                left += 1
            while keys[right] > key or (keys[right] == key and near[right] > value):
                right -= 1
            if left <= right:
                keys[left], keys[right] = keys[right], keys[left]
                near[left], near[right] = near[right], near[left]
                left, right = left + 1, right - 1
        low, high = left if right < rank else low, right if rank < left else high
    return int(near[rank])


@compiled
def _draw(
    codes: Ints,
    widths: Floats,
    distances: Floats,
    uniforms: Floats,
    near: Longs,
    keys: Floats,
    drawn: Longs,
) -> None:
    for record in range(codes.size):
        row, found = codes[record], 0
        for value in range(distances.shape[1]):
            if distances[row, value] <= widths[record]:
                near[found], keys[found] = value, distances[row, value]
                found += 1
        rank = min(whole(uniforms[record] * found), found - 1)
        drawn[record] = _of_rank(keys, near, found, rank)


def draw_near(codes: Ints, widths: Floats, distances: Floats, uniforms: Floats) -> Longs:
    """Draw, for each record, one of the values that are no farther than its width.

    Codes are rows of the distances. Values are ranked by distance, equals by number; only those
    within the width are, since mostly they are few.
    """
    drawn, size = np.empty(codes.size, np.int64), distances.shape[1]
    _draw(codes, widths, distances, uniforms, np.empty(size, np.int64), np.empty(size), drawn)
    return drawn
