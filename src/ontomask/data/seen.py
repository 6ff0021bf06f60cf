"""A column as a reader sees it, and what stands beside what in two of them: codes, no frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ontomask.arrays import (
    Codes,
    Floats,
    FloatValues,
    Ints,
    Longs,
    Narrow,
    keeping_codes_narrow,
    narrow_codes,
    occurring,
)

__all__ = ["FEW", "ROOMY", "Seen", "beside", "with_gap"]

ROOMY, FEW = 4, 1000
"""Numbers below so many times their count, or a few thousand, are counted without sorting."""

AHEAD = 1000
"""So many first records are looked at before all others."""


@keeping_codes_narrow
@dataclass(frozen=True, eq=False)
class Seen:
    """A column as a reader sees it: for each record the position of its value among `values`.

    None is a missing value. Values that look different are different, 0.0 and -0.0 for instance.
    `counts` says how many equal records each one stands for where that matters.
    """

    codes: Ints
    values: Sequence[object]
    counts: Floats | None = None

    @property
    def narrow(self) -> Narrow:
        """The codes in as few bytes as they are kept in."""
        return narrow_codes(self)

    @cached_property
    def used(self) -> Longs:
        """The places of the values that records have."""
        return occurring(self.narrow, len(self.values))

    @property
    def in_order(self) -> Longs:
        """The same, in the order in which records first have them."""
        codes = self.narrow
        count = codes.size
        firsts = np.full(len(self.values), count)
        for start, some in ((0, codes[:AHEAD]), (AHEAD, codes[AHEAD:])):
            new = np.flatnonzero((firsts == count).take(some))
            # backwards, so that the first one is written last
            firsts[some[new[::-1]]] = start + new[::-1]
            found = firsts.take(self.used)
            if found.max(initial=0) < count:  # most often the first records have all of them
                break
        return self.used[np.argsort(found)]

    def of(self, rows: Longs | slice) -> Seen:
        """The column of some records."""
        counts = None if self.counts is None else self.counts[rows]
        return Seen(self.narrow[rows], self.values, counts)

    def beside(self, other: Seen, counts: Floats | None = None) -> list[tuple[object, object, int]]:
        """Every value that stands beside one of another column, and in how many records."""
        found = beside(self.narrow, other.narrow, len(other.values), counts)
        return [
            (self.values[own], other.values[place], round(count))
            for own, place, count in zip(*(one.tolist() for one in found), strict=True)
        ]


def with_gap(values: Sequence[object]) -> Sequence[object]:
    """Values, and behind them a missing one."""
    if isinstance(values, FloatValues):
        return FloatValues(values.numbers, gap=True)
    return [*values, None]


def beside(
    codes: Codes, others: Codes, size: int, counts: Floats | None = None
) -> tuple[Longs, Longs, Floats]:
    """The codes that stand beside others (less than `size`), and how many records have them."""
    keys = codes.astype(np.int64)
    keys *= size
    keys += others
    span = int(keys.max(initial=-1)) + 1
    if span > ROOMY * max(keys.size, FEW):
        pairs, keys = np.unique(keys, return_inverse=True)
        return pairs // size, pairs % size, np.bincount(keys, counts).astype(np.float64)
    amounts = np.bincount(keys, counts).astype(np.float64)
    pairs = np.flatnonzero(amounts)
    return pairs // size, pairs % size, amounts[pairs]
