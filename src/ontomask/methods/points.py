"""From encoded columns to the weighted points that the clustering kernels work on, and back."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Protocol

import numpy as np

from ontomask.arrays import PIECE, Bools, Floats, FloatValues, Ints, Longs, numbered, numbered_whole
from ontomask.data.domains import Concepts, Numbers
from ontomask.data.encoding import day_value
from ontomask.data.microdata import Attribute, Microdata, Tuples
from ontomask.data.schema import Date
from ontomask.errors import DataError, MethodError
from ontomask.kernels.blocks import in_blocks
from ontomask.kernels.records import Points, flat_owners, pack_points, with_points
from ontomask.semantics.moments import variance
from ontomask.semantics.operators import Coded, Comparison, Outline, coded_operators, outlined

__all__ = ["Layout", "Scaled", "layout_of", "number_column", "quasi_layout", "spread_of"]

ROUNDING = 1e-13
"""Relative differences up to here come from computing, not from the data."""

SMALL_PART = 0.1
"""Whole numbers that differ by less are the same."""

LOOKED_UP = 40_000
"""To look up so many numbers takes about ten times as long as to start a thread."""

FIRST_DAY = datetime.date(1677, 9, 22).toordinal()
LAST_DAY = datetime.date(2262, 4, 10).toordinal()
"""What 64 bits of nanoseconds can hold, as many columns of dates have them."""


@dataclass(frozen=True, eq=False)
class Scaled:
    """A numeric attribute: its numbers are multiplied by `factor` before they are compared."""

    attribute: Attribute
    factor: float
    gap: float

    @property
    def numbers(self) -> Floats:
        """The numbers to compare, by code; NaN is missing."""
        return np.append(self.attribute.numbers * self.factor, np.nan)


@dataclass(frozen=True, eq=False)
class Layout:
    """The attributes as the kernels see them: coded ones first, then numeric ones."""

    coded: tuple[tuple[Attribute, Coded], ...]
    numeric: tuple[Scaled, ...]
    metric: str

    @property
    def power(self) -> int:
        """The exponent of a number's difference."""
        return 1 if self.metric == "mean" else 2

    @functools.cached_property
    def _nobody(self) -> Points:
        """No points, over the tables of all attributes: laid out once, as these may be large."""
        return pack_points(
            [coded.arrays for _, coded in self.coded],
            np.empty((len(self.coded), 0), np.int32),
            np.empty((len(self.numeric), 0)),
            *(np.empty(0), np.empty(0), np.empty(0)),
            np.array([one.gap for one in self.numeric]),
            self.power,
        )

    def points(self, tuples: Tuples) -> Points:
        """Weighted points for the kernels."""
        order = {name: place for place, name in enumerate(tuples.names)}
        codes = [tuples.codes[order[one.name]] for one, _ in self.coded]
        numbers = [one.numbers[tuples.codes[order[one.attribute.name]]] for one in self.numeric]
        units = tuples.units
        return with_points(
            self._nobody,
            np.array(codes, np.int32).reshape(len(codes), len(tuples)),
            np.array(numbers, np.float64).reshape(len(numbers), len(tuples)),
            tuples.counts,
            tuples.weights,
            np.ones_like(tuples.counts),
            None if units is None else flat_owners(units.starts, units.units),
        )

    def centroids(self, rows: Ints, numbers: Floats) -> dict[str, Attribute]:
        """Centroids, one per line of `rows` and `numbers`, as columns with a record for each."""
        coded = {
            one.name: _coded_column(one, operator, rows[:, place])
            for place, (one, operator) in enumerate(self.coded)
        }
        numeric = {
            one.attribute.name: number_column(one.attribute, numbers[:, place] / one.factor)
            for place, one in enumerate(self.numeric)
        }
        return {**coded, **numeric}

    def own(self, tuples: Tuples, chosen: Longs) -> dict[str, Attribute]:
        """Chosen tuples as columns with a record for each; values are as written."""
        codes = dict(zip(tuples.names, tuples.codes[:, chosen], strict=True))
        coded = {
            one.name: _coded_column(one, operator, operator.arrays.own_rows[codes[one.name]])
            for one, operator in self.coded
        }
        numeric = [one.attribute for one in self.numeric]
        return {**coded, **{one.name: replace(one, codes=codes[one.name]) for one in numeric}}


def default_metric(microdata: Microdata, names: Sequence[str]) -> str:
    """`mean` when all attributes are nominal, `euclidean` when any is numeric."""
    kinds = {microdata[name].column.kind for name in names}
    return "euclidean" if kinds & {"numeric", "date"} else "mean"


def layout_of(
    microdata: Microdata,
    names: Sequence[str],
    *,
    operators: str,
    metric: str,
    measure: str | None,
    aggregates: bool = True,
) -> Layout:
    """Lay out attributes under an operator set and a metric; where nothing aggregates, in less."""
    coded: dict[str, Outline] = {}
    numeric: list[Scaled] = []
    for name in names:
        attribute = microdata[name]
        if attribute.column.kind in ("numeric", "date"):
            numeric.append(_scaled(attribute, microdata, metric))
        else:
            held = sum(one.size for one in coded.values())
            named = operators, metric, measure
            coded[name] = _outlined(attribute, microdata, *named, held)
    if numeric and operators in ("lcs", "consensus"):
        raise MethodError(
            f"The operators {operators!r} have no meaning for numbers, and column "
            f"{numeric[0].attribute.name!r} is numeric; use 'semantic' or 'marginality'."
        )
    made = coded_operators([*coded.values()], aggregates=aggregates)
    pairs = zip(map(microdata.__getitem__, coded), made, strict=True)
    return Layout(tuple(pairs), tuple(numeric), metric)


class Comparing(Protocol):
    """A method that compares records by operators, a metric and a measure."""

    @property
    def operators(self) -> str: ...
    @property
    def metric(self) -> str | None: ...
    @property
    def measure(self) -> str | None: ...


def quasi_layout(microdata: Microdata, method: Comparing) -> Layout:
    """Lay out the quasi-identifiers as a method compares them."""
    names = microdata.quasi
    metric = method.metric or default_metric(microdata, names)
    return layout_of(
        microdata, names, operators=method.operators, metric=metric, measure=method.measure
    )


def _outlined(
    attribute: Attribute,
    microdata: Microdata,
    operators: str,
    metric: str,
    measure: str | None,
    held: int,
) -> Outline:
    distances, importance = attribute.distances(measure), attribute.column.weight
    return outlined(
        Comparison(distances, operators, metric, importance=importance),
        attribute.numbered,
        attribute.codes,
        microdata.counts,
        microdata.weights,
        held,
    )


def _scaled(attribute: Attribute, microdata: Microdata, metric: str) -> Scaled:
    """Divide by the standard deviation (S-distance: by that of a pair, sqrt(2) times as much)."""
    spread = spread_of(attribute, microdata)
    importance = attribute.column.weight
    if spread == 0.0:
        return Scaled(attribute, 1.0, importance)
    if metric == "mean":
        return Scaled(attribute, importance / np.sqrt(spread), importance)
    spread = spread if metric == "euclidean" else 2.0 * spread
    return Scaled(attribute, float(np.sqrt(importance / spread)), importance)


def spread_of(attribute: Attribute, microdata: Microdata) -> float:
    """The variance of a numeric column, or of one with dates."""
    numbers = attribute.record_numbers()
    known: Bools | slice = ~np.isnan(numbers) if attribute.has_missing else slice(None)
    return variance(numbers[known], microdata.counts[known], microdata.weights[known])


def _coded_column(attribute: Attribute, operator: Coded, rows: Ints) -> Attribute:
    chosen = operator.rows[rows]
    domain = attribute.domain
    if isinstance(domain, Concepts):
        domain = Concepts.of(np.unique(chosen[chosen >= 0]), domain.vocabulary)
    codes = np.where(chosen < 0, domain.size, np.searchsorted(domain.numbered, chosen))
    missing = bool((chosen < 0).any())
    return replace(attribute, codes=codes.astype(np.int32), domain=domain, has_missing=missing)


def number_column(attribute: Attribute, numbers: Floats) -> Attribute:
    """A numeric or date column with a new number for each record, NaN where missing.

    A number that is a value of the column, up to rounding, is written as the column writes it;
    others are rounded where the column is whole, decimals to their places, dates to days.
    """
    _refuse_alike(attribute)
    domain = attribute.as_numbers
    codes, distinct = (numbered_whole if _is_written_whole(attribute) else numbered)(numbers)
    own = _own_codes(domain.numbers, distinct)
    new, kept = _rounded(attribute, distinct), own >= 0
    if kept.any():
        new = np.where(kept, domain.numbers[own], new)
    codes, firsts = _united(codes, new)
    own, new = own[firsts], new[firsts]
    return replace(
        attribute,
        codes=codes,
        domain=Numbers(_all_written(attribute, own, new), new, domain.whole),
        has_missing=bool((codes == new.size).any()),
    )


def _is_written_whole(attribute: Attribute) -> bool:
    """Whether nothing is told of numbers but the nearest whole one.

    Those of the column are so far from each other that no more than rounding leads to them.
    """
    domain = attribute.as_numbers
    is_number = domain.decimals is None and not isinstance(attribute.column, Date)
    if not (is_number and domain.whole and domain.fits_floats and domain.size):
        return False
    greatest = max(-domain.numbers[0], domain.numbers[-1])
    return type(domain.values[0]) is int and bool(greatest * ROUNDING < SMALL_PART)


def _united(codes: Ints, numbers: Floats) -> tuple[Ints, Bools | slice]:
    """Codes of numbers of which equal neighbors, after rounding, are one; and which ones stay.

    A column of ages has as many different ones as records before it is rounded, and a hundred
    afterwards: to write them all took more memory than everything else.
    """
    is_first = np.ones(numbers.size, bool)
    np.not_equal(numbers[1:], numbers[:-1], out=is_first[1:])
    if is_first.all():
        return codes, slice(None)
    places = np.cumsum(is_first, dtype=np.int32) - np.int32(1)
    return np.append(places, places[-1] + np.int32(1)).take(codes), is_first


def _rounded(attribute: Attribute, numbers: Floats) -> Floats:
    """Numbers as exact as those of the column."""
    domain = attribute.as_numbers
    if domain.decimals is not None:
        return np.round(numbers, domain.decimals)
    rounded = np.rint(numbers) if domain.whole else numbers
    if not isinstance(attribute.column, Date):
        return rounded
    # days that every kind of column can hold, or that lie between those of the column itself
    first, last = min(FIRST_DAY, domain.numbers[0]), max(LAST_DAY, domain.numbers[-1])
    return np.clip(rounded, np.ceil(first), np.floor(last))


def _own_codes(known: Floats, numbers: Floats) -> Longs:
    """Which of the known numbers each number is, if it differs by rounding only; -1 for others.

    Both ascend, so that a piece of the numbers is looked for in a piece of the known ones.
    """
    own = np.empty(numbers.size, np.int64)

    def look(start: int, end: int) -> None:
        for place in range(start, end, PIECE):
            part = numbers[place : min(place + PIECE, end)]
            first, last = np.searchsorted(known, part[[0, -1]])
            first = max(first - 1, 0)
            found = _nearest_own(known[first : last + 1], part)
            found[found >= 0] += first
            own[place : place + part.size] = found

    in_blocks(look, numbers.size, smallest=LOOKED_UP)
    return own


def _nearest_own(known: Floats, numbers: Floats) -> Longs:
    above = np.clip(np.searchsorted(known, numbers), 0, known.size - 1)
    below = np.maximum(above - 1, 0)
    lower, upper = known[below], known[above]
    to_lower, to_upper = np.abs(numbers - lower), np.abs(numbers - upper)
    is_below = to_lower < to_upper
    most = ROUNDING * np.abs(np.where(is_below, lower, upper))
    found = np.minimum(to_lower, to_upper) <= most
    return np.where(found, np.where(is_below, below, above), -1)


def _refuse_alike(attribute: Attribute) -> None:
    """Refuse numbers that are different, but the same to compute with."""
    domain = attribute.as_numbers
    if not domain.fits_floats and (np.diff(domain.numbers) == 0).any():
        raise DataError(
            f"Column {attribute.name!r} holds numbers that differ only beyond the 15 digits that "
            "are computed with; round them or take a constant off, or declare the column as flat."
        )


def _all_written(attribute: Attribute, own: Longs, numbers: Floats) -> Sequence[object]:
    """Numbers as the column writes them, given which of its own each one is, if any."""
    domain = attribute.as_numbers
    kind = type(domain.values[0]) if domain.values else None
    if kind in (int, float) and domain.fits_floats and not isinstance(attribute.column, Date):
        return FloatValues(numbers) if kind is float else tuple(map(int, numbers.tolist()))
    return tuple(
        domain.values[code] if code >= 0 else _written(attribute, number)
        for code, number in zip(own.tolist(), numbers.tolist(), strict=True)
    )


def _written(attribute: Attribute, number: float) -> object:
    """A number that is none of the column's own, as the column would write it."""
    domain = attribute.as_numbers
    if isinstance(attribute.column, Date):
        beside = min(int(np.searchsorted(domain.numbers, number)), domain.size - 1)
        return day_value(number, domain.values[beside], attribute.column.format)
    if domain.decimals is not None:
        return Decimal(f"{number:.{max(0, domain.decimals)}f}")
    return int(number) if isinstance(domain.values[0], int) else float(number)
