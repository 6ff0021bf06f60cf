"""Reading single values of a table, in one place: numbers, intervals, periods, stars, gaps.

A value of a release may stand for many: an interval such as ``20-29`` or ``[20, 30)``, an open one
such as ``90+`` or ``< 1``, a month, quarter, year, decade or century, or a star. It is read by its
whole text: a label that merely contains a digit, such as ``Q1``, is a label.
"""

from __future__ import annotations

import datetime
import math
import re

from ontomask.data.encoding import day_number
from ontomask.data.intervals import Span, read_interval
from ontomask.data.schema import Column, Date
from ontomask.errors import DataError

__all__ = ["STAR", "Span", "is_gap", "is_star", "read_interval", "read_span"]

STAR = "*"

_PERIOD = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])|-Q([1-4])|(s))?")
"""A month, quarter, year, decade or century, as hierarchies of dates write them."""


def is_gap(value: object) -> bool:
    """Whether a value of a frame is missing, whatever its library calls that."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def is_star(value: object) -> bool:
    """Whether a value is suppressed: it may have been any."""
    return isinstance(value, str) and value.strip() == STAR


def read_span(value: object, column: Column) -> Span | None:
    """The numbers (days of dates) that a value of a column stands for; None for a mere label."""
    if isinstance(column, Date):
        return _days(value, column)
    if not isinstance(value, str):
        number = float(value)  # type: ignore[arg-type]
        return None if math.isnan(number) else Span(number, number)
    return read_interval(value)


def _days(value: object, column: Date) -> Span | None:
    period = _PERIOD.fullmatch(str(value).strip())
    if period is None:
        try:
            day = day_number("", value, column.format)
        except DataError:
            return None
        return Span(day, day)
    year, month, quarter, several = period.groups()
    start = int(month or 3 * int(quarter or 1) - 2)
    length = 1 if month else 3 if quarter else 12
    if several:
        length = 1200 if int(year) % 100 == 0 else 120
    first, after = (_first_day(int(year), one) for one in (start, start + length))
    return Span(first, after, open_high=True)


def _first_day(year: int, month: int) -> float:
    """The first day of a month, which may lie beyond the year's twelve."""
    return float(datetime.date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1).toordinal())
