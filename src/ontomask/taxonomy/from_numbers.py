"""Taxonomies and hierarchies of numbers: intervals of equal width, or between cuts.

Bounds are exact decimals: numbers are taken as they are written.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, InvalidOperation, localcontext

import numpy as np

from ontomask.arrays import Floats, Longs
from ontomask.checks import AnyOf, Integer, ListOf, Null, Real, check
from ontomask.errors import ParameterError
from ontomask.taxonomy.from_rows import (
    cells_of,
    different_values,
    hierarchy_of_columns,
    taxonomy_of,
)
from ontomask.taxonomy.hierarchies import Generalized, Hierarchy
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = [
    "check_cuts",
    "check_intervals",
    "cut_hierarchy",
    "interval_hierarchy",
    "interval_taxonomy",
]

PRECISION = 700
"""Decimal digits enough to subtract and divide any two floats without rounding."""

MAX_INTERVALS = 2**53


def interval_hierarchy(
    values: Iterable[object],
    widths: Sequence[float] = (5, 10, 20),
    *,
    bottom: float | None = None,
    top: float | None = None,
    origin: float = 0,
) -> Hierarchy:
    """Numbers in half-open intervals [a, b), a level for each width.

    Parameters
    ----------
    values
        Numbers, or texts that are numbers.
    widths
        The widths of the intervals, each a whole multiple of the one before.
    bottom, top
        Bottom and top coding: from level 1 on, numbers below `bottom` become `< bottom` and those
        from `top` on become `>= top`; intervals are cut there.
    origin
        A bound of the intervals, from which the others are counted.

    Examples
    --------
    >>> ages = om.knowledge.interval_hierarchy([3, 17, 34, 71], widths=[10, 20], top=65)
    >>> for row in ages.cells():
    ...     print(row)
    ['3', '[0, 10)', '[0, 20)', '*']
    ['17', '[10, 20)', '[0, 20)', '*']
    ['34', '[30, 40)', '[20, 40)', '*']
    ['71', '>= 65', '>= 65', '*']
    """
    check_intervals(widths, bottom, top)
    written = different_values(values)
    steps, start = [_number(width) for width in widths], _number(origin)
    low, high = (None if bound is None else _number(bound) for bound in (bottom, top))
    levels = _interval_levels(_Sorted.of(written), steps, start, low, high)
    named = [f"intervals of {width:g}" for width in widths]
    return hierarchy_of_columns(written, levels, "the intervals", named)


def cut_hierarchy(values: Iterable[object], cuts: Sequence[float]) -> Hierarchy:
    """Numbers in intervals [a, b) between cuts; each level has every second cut of the one below.

    Parameters
    ----------
    values
        Numbers, or texts that are numbers.
    cuts
        Where the intervals of level 1 meet, ascending; numbers below and above are one group each.

    Examples
    --------
    >>> for row in om.knowledge.cut_hierarchy([3, 17, 34, 71], cuts=[6, 18, 65]).cells():
    ...     print(row)
    ['3', '< 6', '< 18', '*']
    ['17', '[6, 18)', '< 18', '*']
    ['34', '[18, 65)', '>= 18', '*']
    ['71', '>= 65', '>= 18', '*']
    """
    check_cuts(cuts)
    levels = [[*map(_number, cuts)]]
    while len(levels[-1]) > 1:
        levels.append(levels[-1][1::2])
    written = different_values(values)
    places = _Sorted.of(written).beyond(levels[0])
    named = [f"cuts at {', '.join(map(_shown, level))}" for level in levels]
    # of every second cut, half as many are not above a number
    above = [(places >> step, _between(level)) for step, level in enumerate(levels)]
    return hierarchy_of_columns(written, above, "the cuts", named)


def check_cuts(cuts: Sequence[float]) -> None:
    """Refuse cuts that do not ascend."""
    check("cuts", list(cuts), ListOf(Real(), empty=False))
    for lower, higher in itertools.pairwise(cuts):
        if lower >= higher:
            raise ParameterError(f"cuts must ascend, but {higher:g} follows {lower:g}.")


def _between(cuts: Sequence[Decimal]) -> list[str]:
    """The intervals below, between and above cuts."""
    shown = [_shown(cut) for cut in cuts]
    inside = [f"[{low}, {high})" for low, high in itertools.pairwise(shown)]
    return [f"< {shown[0]}", *inside, f">= {shown[-1]}"]


def interval_taxonomy(
    values: Iterable[object],
    *,
    width: float | None = None,
    fanout: int = 2,
    levels: int | None = None,
    origin: float | None = None,
    name: str = "",
) -> Taxonomy:
    """Build a tree of half-open intervals [a, b) over the numbers that occur.

    The finest intervals are `width` wide, each level above `fanout` times as wide, until one
    interval holds all numbers. Bounds are exact decimals.

    Parameters
    ----------
    values
        Numbers, or texts that are numbers.
    width
        Width of the finest intervals; by default 1, 2 or 5 times a power of ten, chosen so that
        such an interval holds about `fanout` of the distinct numbers.
    fanout
        How many intervals one interval of the next level unites, at least 2.
    levels
        At most so many levels of intervals; what remains is united by the virtual root.
    origin
        Where the intervals are counted from, not above the smallest number; by default 0, or
        for negative numbers the nearest bound below them of which 0 is a multiple.
    name
        The taxonomy's name.

    Examples
    --------
    >>> ages = om.knowledge.interval_taxonomy([3, 17, 34, 38], width=10)
    >>> ages.lcs(["34", "38"])
    '[30, 40)'
    >>> ages.lcs(["17", "38"])
    '[0, 40)'
    """
    check("width", width, AnyOf(Real(0, open_low=True), Null()))
    check("fanout", fanout, Integer(2))
    check("levels", levels, AnyOf(Integer(1), Null()))
    check("origin", origin, AnyOf(Real(), Null()))
    numbers = {written: _number(value) for written, value in different_values(values).items()}
    called = {_shown(number): number for number in numbers.values()}
    names = {written: _shown(number) for written, number in numbers.items()}
    with localcontext(prec=PRECISION):
        steps, start = _growing(sorted(called.values()), width, fanout, levels, origin)
        intervals = _interval_levels(_Sorted.of(called), steps, start, None, None)
    columns = map(cells_of, intervals)
    return taxonomy_of(zip(called, *columns, strict=True), "the numbers", name, names)


@dataclass(frozen=True, eq=False)
class _Sorted:
    """Numbers that are compared as they are written, which floats tell of nearly all of them.

    Of two numbers the smaller one never has the larger float; only where their floats are equal
    the numbers themselves are asked.

    Attributes
    ----------
    texts
        The numbers as they are written.
    order
        Their places, in the order of their size.
    floats
        The nearest floats, in that order.
    """

    texts: Sequence[str]
    order: Longs
    floats: Floats

    @classmethod
    def of(cls, written: Mapping[str, object]) -> _Sorted:
        """Numbers by how they are written."""
        texts = tuple(written)
        try:
            floats = np.array([*map(float, texts)], np.float64)
        except ValueError:  # which one it is
            floats = np.array([*map(_number, written.values())], np.float64)
        for place in np.flatnonzero(~np.isfinite(floats)).tolist():  # beyond them, or no number
            _number(written[texts[place]])
        order = np.argsort(floats, kind="stable")
        floats = floats.take(order)
        tied = np.zeros(floats.size, bool)
        np.equal(floats[1:], floats[:-1], out=tied[1:])
        tied[:-1] |= tied[1:]
        order[tied] = sorted(order[tied].tolist(), key=lambda place: Decimal(texts[place]))
        return cls(texts, order, floats)

    def __getitem__(self, rank: int) -> Decimal:
        return Decimal(self.texts[self.order[rank]])

    def below(self, end: Decimal) -> int:
        """How many of them are less than a number."""
        near = float(end)
        rank = int(np.searchsorted(self.floats, near))
        while rank < self.floats.size and self.floats[rank] == near and self[rank] < end:
            rank += 1
        return rank

    def beyond(self, cuts: Sequence[Decimal]) -> Longs:
        """For each number how many of some ascending cuts are not above it."""
        places = np.empty(self.order.size, np.int64)
        ends = [self.below(cut) for cut in cuts]
        places[self.order] = np.searchsorted(ends, np.arange(places.size), side="right")
        return places


def _number(value: object) -> Decimal:
    """Read a number exactly as it is written."""
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if isinstance(value, bool) or not number.is_finite():
        raise ParameterError(
            f"values must be finite numbers, not {value!r}; convert or remove it first."
        )
    return number


def _shown(number: Decimal) -> str:
    """Write a number without exponent and without trailing zeros."""
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def check_intervals(
    widths: Sequence[float], bottom: float | None = None, top: float | None = None
) -> None:
    """Refuse widths and ends that make no intervals inside of each other."""
    check("widths", list(widths), ListOf(Real(0, open_low=True), empty=False))
    for name, bound in (("bottom", bottom), ("top", top)):
        check(name, bound, AnyOf(Real(), Null()))
    for finer, coarser in itertools.pairwise(widths):
        if _number(coarser) % _number(finer) != 0:
            raise ParameterError(
                f"widths must be multiples of each other, so that each interval lies in one of the "
                f"next level, but {coarser:g} is no multiple of {finer:g}."
            )
    if bottom is not None and top is not None and bottom > top:
        raise ParameterError(f"bottom must not be above top, but {bottom:g} is above {top:g}.")


def _interval_levels(
    numbers: _Sorted,
    steps: Sequence[Decimal],
    start: Decimal,
    low: Decimal | None,
    high: Decimal | None,
) -> list[Generalized]:
    """Return the intervals of these widths around every number, a level for each."""

    def interval(number: Decimal, step: Decimal) -> tuple[str, Decimal]:
        """The interval of a number, and where it ends."""
        if low is not None and number < low:
            return f"< {_shown(low)}", low
        if high is not None and number >= high:
            return f">= {_shown(high)}", Decimal("Infinity")
        left = start + _floor(number - start, step) * step
        right = left + step
        left = left if low is None else max(left, low)
        right = right if high is None else min(right, high)
        return f"[{_shown(left)}, {_shown(right)})", right

    with localcontext(prec=PRECISION):
        return [_along(numbers, step, interval) for step in steps]


def _along(
    numbers: _Sorted,
    step: Decimal,
    interval: Callable[[Decimal, Decimal], tuple[str, Decimal]],
) -> Generalized:
    """The interval of each number; one that many share is written once."""
    places, begin = np.empty(numbers.order.size, np.int64), 0
    shown: list[str] = []
    while begin < places.size:
        text, end = interval(numbers[begin], step)
        stop = numbers.below(end)
        places[numbers.order[begin:stop]] = len(shown)
        shown.append(text)
        begin = stop
    return places, shown


def _growing(
    ordered: list[Decimal],
    width: float | None,
    fanout: int,
    levels: int | None,
    origin: float | None,
) -> tuple[list[Decimal], Decimal]:
    """Return the widths from the finest until one interval holds all, and where they begin."""
    if not ordered:
        return [], Decimal(0)
    step = _default_width(ordered, fanout) if width is None else Decimal(str(width))
    start = _start(ordered[0], step, fanout, origin)
    span = ordered[-1] - start
    if span / step > MAX_INTERVALS:
        raise ParameterError(
            f"width is {_shown(step)}, too small for numbers that span {span:.3g}; choose a larger "
            "width."
        )
    steps = [step]
    while _floor(ordered[0] - start, steps[-1]) != _floor(span, steps[-1]) and len(steps) != levels:
        steps.append(steps[-1] * fanout)
    return steps, start


def _floor(distance: Decimal, step: Decimal) -> Decimal:
    return (distance / step).to_integral_value(ROUND_FLOOR)


def _default_width(ordered: list[Decimal], fanout: int) -> Decimal:
    """Return the 1-2-5 number next above the mean gap between numbers times the fanout."""
    if len(ordered) == 1:
        return Decimal(1)
    target = (ordered[-1] - ordered[0]) / (len(ordered) - 1) * fanout
    power = Decimal(1).scaleb(target.adjusted())
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= target)


def _start(lowest: Decimal, step: Decimal, fanout: int, origin: float | None) -> Decimal:
    if origin is None:
        start, reach = Decimal(0), step
        while lowest < start:
            start, reach = -reach, reach * fanout
        return start
    if Decimal(str(origin)) > lowest:
        raise ParameterError(
            f"origin must not be above the smallest number, {_shown(lowest)}, but is {origin!r}."
        )
    return Decimal(str(origin))
