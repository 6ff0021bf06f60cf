"""Nearest masked tuples of every original tuple, and how many records share that distance."""

from __future__ import annotations

import numpy as np
from numba import njit

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import in_blocks

__all__ = ["closest_links"]


LEAST_PAIRS = 20_000
"""Pairs of tuples that are enough work for one more thread."""


def closest_links(
    codes: Ints,
    masked_codes: Ints,
    tables: Floats,
    starts: Longs,
    sizes: Longs,
    numbers: Floats,
    masked_numbers: Floats,
    weights: Floats,
    power: int,
    tolerance: float,
) -> tuple[Floats, Floats]:
    """For each original tuple the least distance to a masked one, and the weight at that distance.

    Attribute j of the coded ones has a square table of `sizes[j]` values at `starts[j]`; numbers
    contribute |x - y| ** power, and 1 where exactly one of them is missing. Distances that differ
    by no more than `tolerance` count as equal.
    """
    count, others = codes.shape[1], masked_codes.shape[1]
    least = np.empty(count, np.float64)
    shared = np.empty(count, np.float64)

    def work(first: int, last: int) -> None:
        columns = (codes, masked_codes, tables, starts, sizes, numbers, masked_numbers)
        _link(first, last, *columns, weights, power, tolerance, least, shared)

    in_blocks(work, count, 1 + LEAST_PAIRS // max(1, others))
    return least, shared


@njit(cache=True, nogil=True)
def _link(
    first: int,
    last: int,
    codes: Ints,
    masked_codes: Ints,
    tables: Floats,
    starts: Longs,
    sizes: Longs,
    numbers: Floats,
    masked_numbers: Floats,
    weights: Floats,
    power: int,
    tolerance: float,
    least: Floats,
    shared: Floats,
) -> None:
    others = masked_codes.shape[1]
    totals = np.empty(others, np.float64)
    for one in range(first, last):
        totals[:] = 0.0
        for attribute in range(codes.shape[0]):
            size = sizes[attribute]
            base = starts[attribute] + codes[attribute, one] * size
            row = tables[base : base + size]
            column = masked_codes[attribute]
            for other in range(others):
                totals[other] += row[column[other]]
        for attribute in range(numbers.shape[0]):
            number = numbers[attribute, one]
            values = masked_numbers[attribute]
            for other in range(others):
                difference = abs(values[other] - number)
                if np.isnan(difference):
                    totals[other] += 1.0 if np.isnan(number) != np.isnan(values[other]) else 0.0
                else:
                    totals[other] += difference if power == 1 else difference * difference
        best = np.inf
        for other in range(others):
            best = min(best, totals[other])
        total = 0.0
        for other in range(others):
            if totals[other] <= best + tolerance:
                total += weights[other]
        least[one] = best
        shared[one] = total
