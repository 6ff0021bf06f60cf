"""Hierarchies built from the values themselves: intervals, masks, dates, order, frequency.

All take the values of a column, as they are or as texts; repeated and missing ones (None, NaN,
blank) are skipped. The last level is the root `*`.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_FLOOR, Decimal

from ontomask.checks import AnyOf, Choice, Flag, Integer, ListOf, Null, Real, check
from ontomask.errors import ParameterError
from ontomask.methods.generalization.hierarchies import ROOT, Hierarchy
from ontomask.taxonomy.values import distinct_values, finite_number, is_missing, shown_number

__all__ = [
    "date_hierarchy",
    "frequency_hierarchy",
    "interval_hierarchy",
    "masking_hierarchy",
    "order_hierarchy",
]

OTHER = "other"


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
    """
    _check_intervals(widths, bottom, top)
    steps = [finite_number(width) for width in widths]
    low, high = (None if bound is None else finite_number(bound) for bound in (bottom, top))
    start = finite_number(origin)
    rows = []
    for value in distinct_values(values):
        number = finite_number(value)
        coded = [_interval(number, step, start, low, high) for step in steps]
        rows.append([str(value), *coded, ROOT])
    return Hierarchy.from_rows(rows, "the intervals")


def _check_intervals(widths: Sequence[float], bottom: float | None, top: float | None) -> None:
    check("widths", list(widths), ListOf(Real(0, open_low=True), empty=False))
    for name, bound in (("bottom", bottom), ("top", top)):
        check(name, bound, AnyOf(Real(), Null()))
    for finer, coarser in itertools.pairwise(widths):
        if finite_number(coarser) % finite_number(finer) != 0:
            raise ParameterError(
                f"widths must be multiples of each other, so that each interval lies in one of the "
                f"next level, but {coarser:g} is no multiple of {finer:g}."
            )
    if bottom is not None and top is not None and bottom > top:
        raise ParameterError(f"bottom must not be above top, but {bottom:g} is above {top:g}.")


def _interval(
    number: Decimal, step: Decimal, start: Decimal, low: Decimal | None, high: Decimal | None
) -> str:
    if low is not None and number < low:
        return f"< {low:f}"
    if high is not None and number >= high:
        return f">= {high:f}"
    left = start + ((number - start) / step).to_integral_value(ROUND_FLOOR) * step
    right = left + step
    left = left if low is None else max(left, low)
    right = right if high is None else min(right, high)
    return f"[{shown_number(left)}, {shown_number(right)})"


def masking_hierarchy(
    values: Iterable[object], *, character: str = "*", from_right: bool = True
) -> Hierarchy:
    """Texts masked character by character: 28013, 2801*, 280**, and so on to the root.

    Shorter texts are first filled up with blanks on the masked side, so that equal masks mean
    equal beginnings (or, with `from_right=False`, equal ends).
    """
    check("from_right", from_right, Flag())
    if not isinstance(character, str) or len(character) != 1 or character.isspace():
        raise ParameterError(f"character must be a single visible character, not {character!r}.")
    texts = [str(value).strip() for value in distinct_values(values)]
    longest = max(map(len, texts), default=0)
    rows = []
    for text in texts:
        if character in text:
            raise ParameterError(
                f"The value {text!r} holds the masking character {character!r}; choose another "
                "character."
            )
        padded = text.ljust(longest) if from_right else text.rjust(longest)
        masks = [_mask(padded, count, character, from_right) for count in range(1, longest)]
        rows.append([text, *masks, ROOT])
    return Hierarchy.from_rows(rows, "the masks")


def _mask(text: str, count: int, character: str, from_right: bool) -> str:
    kept = text[:-count] if from_right else text[count:]
    return kept + character * count if from_right else character * count + kept


UNITS: dict[str, Callable[[datetime.date], str]] = {
    "week": lambda day: "{}-W{:02d}".format(*day.isocalendar()[:2]),
    "month": lambda day: f"{day:%Y-%m}",
    "quarter": lambda day: f"{day:%Y}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day:%Y}",
    "decade": lambda day: f"{day.year // 10 * 10}s",
    "century": lambda day: f"{day.year // 100 * 100}s",
}
"""What a date becomes, by the name of the level."""


def date_hierarchy(
    values: Iterable[object], units: Sequence[str] = ("month", "quarter", "year", "decade")
) -> Hierarchy:
    """Dates (or texts that begin with an ISO date) by calendar units, finest first.

    Units are week, month, quarter, year, decade and century; a week may lie in two months, so
    `week` goes only with levels that it determines in the dates at hand.
    """
    check("units", list(units), ListOf(Choice(*UNITS), empty=False))
    rows = []
    for value in distinct_values(values):
        day = _day(value)
        rows.append([str(value).strip(), *(UNITS[unit](day) for unit in units), ROOT])
    return Hierarchy.from_rows(rows, "the dates")


def _day(value: object) -> datetime.date:
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    try:
        return datetime.date.fromisoformat(str(value).strip()[:10])
    except ValueError:
        raise ParameterError(
            f"values must be dates or ISO texts such as 2019-03-01, not {value!r}; convert them "
            "first."
        ) from None


def order_hierarchy(values: Sequence[object], *, fanout: int = 2) -> Hierarchy:
    """Values in their order, united with their neighbors.

    Level 1 unites `fanout` of them, level 2 its square, and so on; `values` gives the order, from
    lowest to highest.
    """
    check("fanout", fanout, Integer(2))
    ordered = [str(value).strip() for value in distinct_values(values)]
    levels = max(1, math.ceil(round(math.log(max(len(ordered), 2), fanout), 9)))
    rows = []
    for position, value in enumerate(ordered):
        ranges = [_range(ordered, position, fanout**level) for level in range(1, levels)]
        rows.append([value, *ranges, ROOT])
    return Hierarchy.from_rows(rows, "the order")


def _range(ordered: Sequence[str], position: int, size: int) -> str:
    first = position // size * size
    last = min(first + size, len(ordered)) - 1
    return ordered[first] if first == last else f"{ordered[first]} – {ordered[last]}"


def frequency_hierarchy(
    values: Iterable[object], thresholds: Sequence[int] = (5, 50, 500), *, other: str = OTHER
) -> Hierarchy:
    """Rare values united: at level l, those that occur less often than `thresholds[l - 1]`.

    Here repeated values count: give the whole column.
    """
    check("thresholds", list(thresholds), ListOf(Integer(1), empty=False))
    if list(thresholds) != sorted(thresholds):
        raise ParameterError(f"thresholds must rise from level to level, not {list(thresholds)}.")
    counts = Counter(str(value).strip() for value in values if not is_missing(value))
    if other in counts:
        raise ParameterError(
            f"The column holds {other!r} itself; say what rare values become with other=…"
        )
    rows = [
        [value, *(other if count < least else value for least in thresholds), ROOT]
        for value, count in counts.items()
    ]
    return Hierarchy.from_rows(rows, "the frequencies")
