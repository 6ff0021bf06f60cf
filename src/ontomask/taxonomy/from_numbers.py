"""Taxonomies and hierarchies of numbers: intervals of equal width, or between cuts.

Bounds are exact decimals: numbers are taken as they are written.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal, InvalidOperation, localcontext

from ontomask.checks import AnyOf, Integer, ListOf, Null, Real, check
from ontomask.errors import ParameterError
from ontomask.taxonomy.from_rows import different_values, hierarchy_of, taxonomy_of
from ontomask.taxonomy.hierarchies import Hierarchy
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
    numbers = {written: _number(value) for written, value in different_values(values).items()}
    steps, start = [_number(width) for width in widths], _number(origin)
    low, high = (None if bound is None else _number(bound) for bound in (bottom, top))
    rows = _interval_rows(numbers, steps, start, low, high)
    return hierarchy_of(rows, "the intervals", [f"intervals of {width:g}" for width in widths])


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
    rows = [
        [called, *(_between(_number(value), level) for level in levels)]
        for called, value in different_values(values).items()
    ]
    named = [f"cuts at {', '.join(map(_shown, level))}" for level in levels]
    return hierarchy_of(rows, "the cuts", named)


def check_cuts(cuts: Sequence[float]) -> None:
    """Refuse cuts that do not ascend."""
    check("cuts", list(cuts), ListOf(Real(), empty=False))
    for lower, higher in itertools.pairwise(cuts):
        if lower >= higher:
            raise ParameterError(f"cuts must ascend, but {higher:g} follows {lower:g}.")


def _between(number: Decimal, cuts: Sequence[Decimal]) -> str:
    """The interval between two cuts that a number lies in."""
    place = bisect.bisect_right(cuts, number)
    if place in (0, len(cuts)):
        return f">= {_shown(cuts[-1])}" if place else f"< {_shown(cuts[0])}"
    return f"[{_shown(cuts[place - 1])}, {_shown(cuts[place])})"


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
        rows = _interval_rows(called, steps, start, None, None)
    return taxonomy_of(rows, "the numbers", name, names)


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


def _interval_rows(
    numbers: Mapping[str, Decimal],
    steps: Sequence[Decimal],
    start: Decimal,
    low: Decimal | None,
    high: Decimal | None,
) -> list[list[str]]:
    """Return every number as it is called, with the intervals of these widths around it."""

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
        levels = [_along(list(numbers.values()), step, interval) for step in steps]
    return [[*row] for row in zip(numbers, *levels, strict=True)]


def _along(
    numbers: list[Decimal],
    step: Decimal,
    interval: Callable[[Decimal, Decimal], tuple[str, Decimal]],
) -> list[str]:
    """The interval of each number; one that many share is written once."""
    shown, text, end = [""] * len(numbers), "", Decimal("-Infinity")
    for place in sorted(range(len(numbers)), key=numbers.__getitem__):
        number = numbers[place]
        if number >= end:
            text, end = interval(number, step)
        shown[place] = text
    return shown


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
