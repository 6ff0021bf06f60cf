"""Classes of two attributes alone, at all levels of both."""

from __future__ import annotations

import numpy as np
from numba import uint64

from ontomask.arrays import Ints, Longs
from ontomask.kernels.compiling import allocating, compiled

__all__ = ["lowest_levels"]


@allocating
def lowest_levels(
    rows: Ints, others: Ints, amounts: Longs, own: Ints, other: Ints, k: int, limit: int
) -> Longs:
    """For each level of one attribute the lowest of another at which few enough records fail.

    Records fail in classes of fewer than k; where too many do at every level of the other, its
    number of levels is given. `rows` and `others` tell for each tuple the rows of the hierarchies,
    whose levels (levels x rows) are `own` and `other`, and `amounts` how many records it has.
    """
    size = other.shape[1]
    counts = np.zeros(own.shape[1] * size, np.int64)
    cells, sizes = np.empty(counts.size, np.int64), np.empty(counts.size, np.int64)
    lowest = np.zeros(own.shape[0], np.int64)
    _find_lowest(rows, others, amounts, own, other, k, limit, counts, cells, sizes, lowest)
    return lowest


@compiled
def _find_lowest(
    rows: Ints,
    others: Ints,
    amounts: Longs,
    own: Ints,
    other: Ints,
    k: int,
    limit: int,
    counts: Longs,
    cells: Longs,
    sizes: Longs,
    lowest: Longs,
) -> None:
    """Write down the lowest levels; the arrays between are room to work in."""
    size, levels = other.shape[1], other.shape[0]
    for place in range(rows.size):
        counts[uint64(rows[place]) * uint64(size) + uint64(others[place])] += amounts[place]
    held, fewest = 0, 0
    for cell in range(counts.size):
        if counts[cell] > 0:
            cells[held] = cell
            held += 1
            fewest += counts[cell] if counts[cell] < k else 0
    if fewest <= limit:  # as they are, and so at all levels
        return
    reached = levels
    for level in range(own.shape[0]):
        # fewer fail the higher both are
        while reached > 0:
            failing = _failing(own[level], other[reached - 1], counts, cells[:held], sizes, k)
            if failing > limit:
                break
            reached -= 1
        lowest[level] = reached


@compiled
def _failing(own: Ints, other: Ints, counts: Longs, cells: Longs, sizes: Longs, k: int) -> int:
    """How many records are in classes of fewer than k, given the cells that have any."""
    size, failing = uint64(other.size), 0
    sizes[:] = 0
    for cell in cells:
        row = uint64(cell) // size
        place = uint64(own[row]) * size + uint64(other[uint64(cell) - row * size])
        sizes[place] += counts[uint64(cell)]
    for count in sizes:
        failing += count if count < k else 0
    return failing
