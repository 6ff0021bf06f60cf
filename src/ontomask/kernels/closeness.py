"""How far the values of classes are from those of the whole table, and how many could stay.

A histogram is given as pairs of values and counts; those of class c are
`order[starts[c]:starts[c + 1]]`. Every level unites values: `codes[l, v]` is the number of value v
at level l, and `shares` of that number is what the whole table has of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint64

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.kernels.compiling import allocating

__all__ = ["kept_at_most"]

MOST_STEPS = 20
"""So often the number of records that could stay is lowered; every step gives a bound."""

SLACK = 1e-9
"""Bounds allow this much more than t, so that rounding cannot make them too low."""


@allocating
def kept_at_most(
    starts: Longs,
    order: Longs,
    values: Ints,
    counts: Any,
    codes: Ints,
    shares: Floats,
    t: float,
) -> tuple[Bools, Floats]:
    """Whether each class is at most t away, and how much of it parts that are so hold at most.

    The distance is the mean over the levels of 1/2 sum |p - q|, which is 1 - sum min(p, q). Parts
    that are close are so together, because it is convex. If they hold X of the class, then no value
    more often than the class does, so that (1 - t) X <= mean over the levels of the sum of
    min(count, q X). The right side is concave in X: Newton's method comes down to the greatest such
    X, never below it.
    """
    close, most = np.ones(starts.size - 1, np.bool_), np.zeros(starts.size - 1)
    united = np.zeros(shares.shape)
    largest = max([0] + [starts[place + 1] - starts[place] for place in range(close.size)])
    found, ends = np.empty((len(shares), largest), np.int64), np.empty(len(shares), np.int64)
    for place in range(close.size):
        pairs = order[starts[place] : starts[place + 1]]
        for pair in pairs:
            most[place] += counts[uint64(pair)]
        _unite(pairs, values, counts, codes, united, found, ends)
        shared, slope = _in_common(united, shares, found, ends, most[place])
        close[place] = shared >= (1.0 - t) * most[place]
        for _ in range(MOST_STEPS):
            over = (1.0 - t - SLACK) * most[place] - shared
            if over <= 0.0:
                break
            most[place] = max(0.0, most[place] - over / (1.0 - t - SLACK - slope))
            shared, slope = _in_common(united, shares, found, ends, most[place])
        for level in range(len(shares)):
            for code in found[level, : ends[level]]:
                united[level, uint64(code)] = 0.0
    return close, most


@allocating
def _unite(
    pairs: Longs,
    values: Ints,
    counts: Any,
    codes: Ints,
    united: Floats,
    found: Longs,
    ends: Longs,
) -> None:
    """Add up the counts of a class at every level; note what was found there."""
    for level in range(len(united)):
        sums, end = united[level], 0
        for pair in pairs:
            code = uint64(codes[level, uint64(values[uint64(pair)])])
            if sums[code] == 0.0:
                found[level, end] = code
                end += 1
            sums[code] += counts[uint64(pair)]
        ends[level] = end


@allocating
def _in_common(
    united: Floats, shares: Floats, found: Longs, ends: Longs, total: float
) -> tuple[float, float]:
    """The mean over the levels of the sum of min(count, q X), and how fast it grows with X."""
    shared, slope = 0.0, 0.0
    for level in range(len(united)):
        for code in found[level, : ends[level]]:
            count, share = united[level, uint64(code)], shares[level, uint64(code)]
            if share * total < count:
                shared += share * total
                slope += share
            else:
                shared += count
    return shared / len(united), slope / len(united)
