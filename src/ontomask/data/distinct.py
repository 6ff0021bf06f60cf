"""Which different values a column holds: floats by sorting, or by what it should hold.

Whatever is expected of a column is compared with it, and never believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from ontomask.arrays import (
    Bools,
    Codes,
    Floats,
    FloatValues,
    Ints,
    Longs,
    numbered,
    recoded,
    stretches,
)
from ontomask.data.seen import ROOMY, Seen

__all__ = [
    "counted_whole",
    "distinct_floats",
    "floats_as_expected",
    "is_plain",
    "plain_numbers",
    "seen_floats",
    "texts_as_expected",
    "texts_of",
]

Counted = tuple[Ints, Longs]
"""For each record the position of its value, -1 where missing, and where each appears first."""

LEAST_PLAIN, MOST_PLAIN = 1e-4, 1e16
"""Python writes floats from the one to below the other without an exponent."""


def distinct_floats(numbers: Floats) -> tuple[Ints, Floats]:
    """For each record the position of its number, -1 where missing, and the numbers in order."""
    codes, known = numbered(numbers)
    # which of two zeros comes first is a matter of sorting: added to 0.0, both are the same
    return _with_gaps(codes, known.size), known.astype(np.float64) + 0.0


def _with_gaps(codes: Ints, missing: int) -> Ints:
    """Codes with -1 in place of a missing value's."""
    gaps = codes == missing
    return np.where(gaps, np.int32(-1), codes) if gaps.any() else codes


def counted_whole(numbers: NDArray[np.integer[Any]], missing: Bools | None) -> Counted | None:
    """Whole numbers numbered by appearance, without sorting, if they lie near one another.

    They are looked at a stretch at a time, so that little is held besides the codes.
    """
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= ROOMY * numbers.size:
        return None
    firsts = np.full(high - low + 1, numbers.size)
    parts = stretches(numbers.size)
    for part in reversed(parts):  # so that the first one is written last
        known = slice(None) if missing is None else ~missing[part]
        places = np.arange(part.start, part.stop)[known][::-1]
        firsts[_above(low, numbers[places])] = places
    held = np.flatnonzero(firsts < numbers.size)
    order = held[np.argsort(firsts[held])]
    ranks = np.zeros(firsts.size, np.int32)
    ranks[order] = np.arange(order.size)
    codes = np.empty(numbers.size, np.int32)
    for part in parts:
        codes[part] = ranks.take(_above(low, numbers[part]))
    if missing is not None:
        codes[missing] = -1
    return codes, firsts[order]


def _above(low: int, numbers: NDArray[np.integer[Any]]) -> Longs:
    """How far numbers are above the lowest one: short ones may have to be longer to hold that."""
    if numbers.dtype == np.uint64:
        return (numbers - np.uint64(low)).astype(np.int64)
    return numbers.astype(np.int64) - low


def floats_as_expected(numbers: Floats, expected: Seen | None) -> tuple[Ints, Floats] | None:
    """What `distinct_floats` finds, if every record has the number that it is expected to have."""
    if expected is None or not isinstance(expected.values, FloatValues):
        return None
    codes, known = expected.codes, expected.values.numbers
    is_listed = (known[1:] > known[:-1]).all() and _are_first(expected.used, known.size)
    if not is_listed or not _have_same_bits(np.append(known, np.nan).take(codes), numbers):
        return None
    return _with_gaps(codes, known.size), known


def _are_first(used: Longs, count: int) -> bool:
    """Whether so many first values are all in use, given the places of those that are."""
    return used.size >= count and (count == 0 or int(used[count - 1]) == count - 1)


def texts_as_expected(column: Any, expected: Seen | None) -> tuple[Codes, list[object]] | None:
    """The distinct texts of a column of Polars, if every record has the one that it should have."""
    if expected is None or not isinstance(column, pl.Series) or column.dtype != pl.String:
        return None
    codes, texts = expected.narrow, list(expected.values)
    if {*map(type, texts)} - {str, type(None)} or len({*texts}) < len(texts):
        return None
    if not _are_at(column, pl.Series(texts, dtype=pl.String), codes):
        return None
    known = [place for place in expected.in_order.tolist() if texts[place] is not None]
    ranks = np.full(len(texts), -1, np.int32)
    ranks[known] = np.arange(len(known))
    return recoded(codes, ranks), [texts[place] for place in known]


def _are_at(column: pl.Series, texts: pl.Series, codes: Codes) -> bool:
    """Whether a column has, record by record, the texts that codes tell; some at a time."""
    # Polars looks through signed places for those that count from the end
    return codes.size == len(column) and all(
        texts[codes[part].astype(np.uint32)].equals(column[part]) for part in stretches(codes.size)
    )


def _have_same_bits(numbers: Floats, others: Floats) -> bool:
    """Whether floats are the same ones; 0.0 and -0.0 are not, and NaN is."""
    same = numbers.dtype == others.dtype
    return same and np.array_equal(numbers.view(np.int64), others.view(np.int64))


def texts_of(values: Sequence[object]) -> list[str]:
    """Values as Python writes them; of floats that need no exponent Polars makes the same texts."""
    if not isinstance(values, FloatValues):
        return list(map(str, values))
    texts: list[str] = pl.Series(values.numbers).cast(pl.String).to_list()
    sizes = np.abs(values.numbers)
    for place in np.flatnonzero((sizes < LEAST_PLAIN) | (sizes >= MOST_PLAIN)).tolist():
        texts[place] = str(values[place])
    return [*texts, str(None)] if values.gap else texts


def is_plain(series: nw.Series[Any]) -> bool:
    """Whether floats that look different are different numbers: no -0.0, and no NaN that is one."""
    numbers = series.to_numpy()
    gaps, zeros = np.isnan(numbers), numbers[numbers == 0]
    return not np.signbit(zeros).any() and int(gaps.sum()) == series.null_count()


def seen_floats(series: nw.Series[Any]) -> Seen:
    """Floats told apart by their bits, so that neither -0.0 nor NaN passes for something else."""
    missing = series.is_null().to_numpy()
    numbers = series.fill_null(0.0).to_numpy().astype(np.float64)
    bits, codes = np.unique(numbers.view(np.int64), return_inverse=True)
    codes[missing] = bits.size
    return Seen(codes.astype(np.int32), [*bits.view(np.float64).tolist(), None])


def plain_numbers(series: nw.Series[Any]) -> nw.Series[Any]:
    """One zero and one missing value: a reader would see -0.0 and NaN as values of their own."""
    if not series.dtype.is_float() or is_plain(series):
        return series
    return series.zip_with(series != 0, series.abs()).fill_nan(None)
