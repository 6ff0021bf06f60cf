"""Records with equal codes in several columns: which there are, and how many each group has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ontomask.arrays import Codes, Floats, Ints, Longs, stretches
from ontomask.data.seen import FEW, ROOMY

__all__ = ["group_rows", "group_sizes"]

NEAR = 2**20
"""Numbers below this one are looked up in tables that stay near the processor."""

SHORT = 2**31
"""Numbers below this one take four bytes."""


def group_rows(columns: Iterable[Codes], sizes: Sequence[int]) -> tuple[Longs, Longs]:
    """Group records with equal codes: the first record of each group, and each record's group.

    Groups are numbered by their codes in lexicographic order. Columns are taken one after the
    other, so that whoever makes them as they are asked for holds one at a time.
    """
    places, count = _numbered(*_packed(columns, sizes))
    firsts = np.empty(count, np.int64)
    for part in reversed(stretches(places.size)):
        # backwards, so that the first one is written last
        firsts[places[part][::-1]] = np.arange(part.stop - 1, part.start - 1, -1)
    return firsts, places.astype(np.int64, copy=False)


def group_sizes(
    columns: Iterable[Codes], sizes: Sequence[int], counts: Floats | None = None
) -> Floats:
    """How many records, or how much of `counts`, the groups of records with equal codes have.

    Groups are in the order of `group_rows`; which record is in which is not asked, so where the
    codes are many they are sorted without being numbered.
    """
    keys, span = _packed(columns, sizes)
    if span <= ROOMY * max(keys.size, FEW):
        held = np.bincount(keys)
        summed = held if counts is None else np.bincount(keys, weights=counts)
        return summed[held > 0].astype(np.float64)
    if counts is None:
        keys.sort()  # in place: nobody else has them
        is_last = np.ones(keys.size, bool)
        np.not_equal(keys[1:], keys[:-1], out=is_last[:-1])
        del keys  # there may be as many groups as records
        ends = np.flatnonzero(is_last)
        lengths = np.empty(ends.size)
        np.subtract(ends[1:], ends[:-1], out=lengths[1:])
        lengths[:1] = ends[:1] + 1
        return lengths
    return np.bincount(_numbered(keys, span)[0], weights=counts).astype(np.float64)


def _packed(columns: Iterable[Codes], sizes: Sequence[int]) -> tuple[Ints | Longs, int]:
    """Codes of several columns as one number for each record, and what all numbers are below.

    Whenever the numbers would grow large, they are first made dense: early, as long as there are
    so few different ones that this is quick, and otherwise before they must be sorted.
    """
    keys: Ints | Longs = np.zeros(0, np.int32)
    span = known = 1
    for codes, size in zip(columns, sizes, strict=True):
        if not keys.size:
            keys = codes.astype(np.int32) if size <= SHORT else codes.astype(np.int64)
            span = size
            continue
        most = ROOMY * keys.size
        if span > known and span * size > (most if ROOMY * known > NEAR else min(most, NEAR)):
            keys, span = _numbered(keys, span)
            known = span
        if span * size > SHORT:
            keys = keys.astype(np.int64, copy=False)
        keys *= size
        keys += codes
        span *= size
    return keys, span


def _numbered(keys: Ints | Longs, span: int) -> tuple[Ints | Longs, int]:
    """Number equal keys, all below a span, in their order; tell how many there are.

    The keys themselves may become the numbers.
    """
    if span > ROOMY * max(keys.size, FEW):
        different, places = np.unique(keys, return_inverse=True)
        return places.astype(np.int64, copy=False), different.size
    occurs = np.zeros(span, bool)
    for part in stretches(keys.size):
        occurs[keys[part]] = True
    numbers = np.cumsum(occurs, dtype=np.int32)
    numbers -= 1
    for part in stretches(keys.size):
        keys[part] = numbers.take(keys[part])
    return keys, int(numbers[-1]) + 1
