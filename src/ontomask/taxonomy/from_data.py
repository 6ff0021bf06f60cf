"""Taxonomies and hierarchies built from the values themselves.

Intervals of numbers, masked texts, calendar units, an order, rare values and nested columns are
made into rows of levels once, and seen as a `Hierarchy` (level by level, the last one the root `*`)
or as a `Taxonomy`, in which every value becomes a concept, so that the column maps to its own
taxonomy completely; where a concept's id is written differently from the value (`17` for `17.0`),
the value is its synonym.

All take plain sequences, in which None, NaN and empty texts are missing values and are skipped.
"""

from __future__ import annotations

import bisect
import datetime
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal, InvalidOperation, localcontext

from ontomask.checks import AnyOf, Choice, Flag, Integer, ListOf, Null, Real, check
from ontomask.errors import ParameterError, StructureError
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.hierarchies import ROOT, Hierarchy
from ontomask.taxonomy.levels import Row, add_rows
from ontomask.taxonomy.mapping import is_missing
from ontomask.taxonomy.taxonomy import Taxonomy
from ontomask.wording import plural

__all__ = [
    "UNITS",
    "check_cuts",
    "check_intervals",
    "cut_hierarchy",
    "date_hierarchy",
    "date_taxonomy",
    "frequency_hierarchy",
    "interval_hierarchy",
    "interval_taxonomy",
    "masking_hierarchy",
    "masking_taxonomy",
    "nested_taxonomy",
    "order_hierarchy",
]

OTHER = "other"

PRECISION = 700
"""Decimal digits enough to subtract and divide any two floats without rounding."""

MAX_INTERVALS = 2**53

Names = dict[str, str]
"""What each value is called in the taxonomy, by how it is written in the column."""

# Values ---------------------------------------------------------------------------------------


def _distinct(values: Iterable[object]) -> dict[str, object]:
    """Return the values that are not missing, each once, by how they are written."""
    if isinstance(values, str):
        raise ParameterError(f"values must be a sequence of values, not the text {values!r}.")
    texts = {str(value): value for value in dict.fromkeys(values)}
    return {text.strip(): value for text, value in texts.items() if not is_missing(value, text)}


def _hierarchy(rows: Iterable[Sequence[str]], source: str, named: Iterable[str] = ()) -> Hierarchy:
    """A hierarchy of rows below the root, with what its levels are in words."""
    return Hierarchy.from_rows([[*row, ROOT] for row in rows], source, named)


def _taxonomy(rows: Iterable[Sequence[str]], source: str, name: str, names: Names) -> Taxonomy:
    draft = Draft(source)
    add_rows(draft, (Row(None, row) for row in rows))
    for written, called in names.items():
        draft.add_concept(called, synonyms=[written] if written != called else ())
    return assemble(draft, name=name)


# Numbers --------------------------------------------------------------------------------------


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
    numbers = {written: _number(value) for written, value in _distinct(values).items()}
    steps, start = [_number(width) for width in widths], _number(origin)
    low, high = (None if bound is None else _number(bound) for bound in (bottom, top))
    rows = _interval_rows(numbers, steps, start, low, high)
    return _hierarchy(rows, "the intervals", [f"intervals of {width:g}" for width in widths])


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
        for called, value in _distinct(values).items()
    ]
    named = [f"cuts at {', '.join(map(_shown, level))}" for level in levels]
    return _hierarchy(rows, "the cuts", named)


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
    numbers = {written: _number(value) for written, value in _distinct(values).items()}
    called = {_shown(number): number for number in numbers.values()}
    names = {written: _shown(number) for written, number in numbers.items()}
    with localcontext(prec=PRECISION):
        steps, start = _growing(sorted(called.values()), width, fanout, levels, origin)
        rows = _interval_rows(called, steps, start, None, None)
    return _taxonomy(rows, "the numbers", name, names)


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


# Texts ----------------------------------------------------------------------------------------


def masking_hierarchy(
    values: Iterable[object], *, character: str = "*", from_right: bool = True
) -> Hierarchy:
    """Texts masked character by character: 28013, 2801*, 280**, and so on to the root.

    All masks are as long as the longest text; a shorter text is masked from its own end on, so
    that equal masks mean equal beginnings (or, with `from_right=False`, equal ends).

    Examples
    --------
    >>> om.knowledge.masking_hierarchy(["28013", "28020"]).cells()[0]
    ['28013', '2801*', '280**', '28***', '2****', '*']
    """
    rows = _mask_rows(values, character, from_right)
    longest = max((len(row) for row in rows), default=1)
    named = [f"{plural(count, 'character')} masked" for count in range(1, longest)]
    return _hierarchy(rows, "the masks", named)


def masking_taxonomy(
    values: Iterable[object], *, character: str = "*", from_right: bool = True, name: str = ""
) -> Taxonomy:
    """Build a taxonomy of texts that are masked character by character.

    28013, 2801*, 280**, and so on to *****. All masks are as long as the longest text; a shorter
    text lies below the mask that pads it (8013 below 8013*), which says that it begins so.

    Parameters
    ----------
    values
        Texts; anything else is taken as it is written.
    character
        The masking character; no value may hold it.
    from_right
        True masks the last characters first, False the first ones.
    name
        The taxonomy's name.

    Examples
    --------
    >>> codes = om.knowledge.masking_taxonomy(["28013", "28020", "41001"])
    >>> codes.lcs(["28013", "28020"])
    '280**'
    """
    rows = _mask_rows(values, character, from_right)
    top = character * max((len(row[0]) for row in rows), default=0)
    return _taxonomy([[*row, top] for row in rows], "the texts", name, {})


def _mask_rows(values: Iterable[object], character: str, from_right: bool) -> list[list[str]]:
    check("from_right", from_right, Flag())
    if not isinstance(character, str) or len(character) != 1 or character.isspace():
        raise ParameterError(f"character must be a single visible character, not {character!r}.")
    texts = list(_distinct(values))
    longest = max(map(len, texts), default=0)

    def mask(text: str, count: int) -> str:
        kept = min(len(text), longest - count)
        if from_right:
            return text[:kept].ljust(longest, character)
        return text[len(text) - kept :].rjust(longest, character)

    for text in texts:
        if character in text:
            raise ParameterError(
                f"The value {text!r} holds the masking character {character!r}; choose another "
                "character."
            )
    return [[text, *(mask(text, count) for count in range(1, longest))] for text in texts]


# Dates ----------------------------------------------------------------------------------------

UNITS: dict[str, Callable[[datetime.date], str]] = {
    "week": lambda day: "{}-W{:02d}".format(*day.isocalendar()[:2]),
    "month": lambda day: day.isoformat()[:7],
    "quarter": lambda day: f"{day.isoformat()[:4]}-Q{(day.month + 2) // 3}",
    "year": lambda day: day.isoformat()[:4],
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

    Examples
    --------
    >>> days = om.knowledge.date_hierarchy(["2024-01-31", "2024-05-01"], units=["quarter", "year"])
    >>> days.cells()
    [['2024-01-31', '2024-Q1', '2024', '*'], ['2024-05-01', '2024-Q2', '2024', '*']]
    """
    check("units", list(units), ListOf(Choice(*UNITS), empty=False))
    named = ["centuries" if unit == "century" else f"{unit}s" for unit in units]
    return _hierarchy(_date_rows(_days(values), units), "the dates", named)


def date_taxonomy(values: Iterable[object], *, name: str = "") -> Taxonomy:
    """Build the taxonomy day, month, year, any date (`*`) over the dates that occur.

    Parameters
    ----------
    values
        Dates, date-times, or texts that begin with an ISO date (2019-03-01).
    name
        The taxonomy's name.

    Examples
    --------
    >>> days = om.knowledge.date_taxonomy(["2024-01-31", "2024-02-01", "2025-02-01"])
    >>> days.lcs(["2024-01-31", "2024-02-01"])
    '2024'
    """
    days = _days(values)
    names = {written: day.isoformat() for written, day in days.items()}
    rows = _date_rows({day.isoformat(): day for day in days.values()}, ("month", "year"))
    return _taxonomy([[*row, ROOT] for row in rows], "the dates", name, names)


def _date_rows(days: Mapping[str, datetime.date], units: Sequence[str]) -> list[list[str]]:
    return [[called, *(UNITS[unit](day) for unit in units)] for called, day in days.items()]


def _days(values: Iterable[object]) -> dict[str, datetime.date]:
    return {written: _day(value, written) for written, value in _distinct(values).items()}


def _day(value: object, text: str) -> datetime.date:
    if isinstance(value, datetime.date):
        return datetime.date(value.year, value.month, value.day)
    try:
        if len(text) == 10 or text[10:11] in ("T", " "):
            return datetime.date.fromisoformat(text[:10])
    except ValueError:
        pass
    raise ParameterError(
        f"values must be dates or ISO texts such as 2019-03-01, not {text!r}; convert them first."
    )


# Orders, frequencies, columns -----------------------------------------------------------------


def order_hierarchy(values: Sequence[object], *, fanout: int = 2) -> Hierarchy:
    """Values in their order, united with their neighbors.

    Level 1 unites `fanout` of them, level 2 its square, and so on; `values` gives the order, from
    lowest to highest.

    Examples
    --------
    >>> for row in om.knowledge.order_hierarchy(["none", "mild", "strong", "fatal"]).cells():
    ...     print(row)
    ['none', 'none – mild', '*']
    ['mild', 'none – mild', '*']
    ['strong', 'strong – fatal', '*']
    ['fatal', 'strong – fatal', '*']
    """
    check("fanout", fanout, Integer(2))
    ordered = list(_distinct(values))
    levels = max(1, math.ceil(round(math.log(max(len(ordered), 2), fanout), 9)))

    def around(position: int, size: int) -> str:
        first = position // size * size
        last = min(first + size, len(ordered)) - 1
        return ordered[first] if first == last else f"{ordered[first]} – {ordered[last]}"

    rows = [
        [value, *(around(position, fanout**level) for level in range(1, levels))]
        for position, value in enumerate(ordered)
    ]
    named = [f"groups of {fanout**level} neighbors" for level in range(1, levels)]
    return _hierarchy(rows, "the order", named)


def frequency_hierarchy(
    values: Iterable[object], thresholds: Sequence[int] = (5, 50, 500), *, other: str = OTHER
) -> Hierarchy:
    """Rare values united: at level l, those that occur less often than `thresholds[l - 1]`.

    Here repeated values count: give the whole column.

    Examples
    --------
    >>> om.knowledge.frequency_hierarchy(["Ash", "Ash", "Elm", "Oak"], thresholds=[2]).cells()
    [['Ash', 'Ash', '*'], ['Elm', 'other', '*'], ['Oak', 'other', '*']]
    """
    check("thresholds", list(thresholds), ListOf(Integer(1), empty=False))
    if list(thresholds) != sorted(thresholds):
        raise ParameterError(f"thresholds must rise from level to level, not {list(thresholds)}.")
    texts = ((str(value), value) for value in values)
    counts = Counter(text.strip() for text, value in texts if not is_missing(value, text))
    if other in counts:
        raise ParameterError(
            f"The column holds {other!r} itself; say what rare values become with other=…"
        )
    rows = [
        [value, *(other if count < least else value for least in thresholds)]
        for value, count in counts.items()
    ]
    named = [f"values below {least} records united" for least in thresholds]
    return _hierarchy(rows, "the frequencies", named)


def nested_taxonomy(*columns: Sequence[object], name: str = "") -> Taxonomy:
    """Build a taxonomy from columns that contain each other, the finest first.

    For instance city, province and country. A value is one concept wherever it stands: the city
    Madrid in the province Madrid is the same concept as the province. The same name below two
    different ones (a Toledo in Ohio and one in Spain) is an error, for its records could not be
    told apart; write such values differently first. Missing values may stand at the fine end of
    a row, not above a value.

    Parameters
    ----------
    *columns
        At least two sequences of equal length, one value per record.
    name
        The taxonomy's name.

    Examples
    --------
    >>> places = om.knowledge.nested_taxonomy(["Reus", "Valls", "Vic"], ["South", "South", "North"])
    >>> places.lcs(["Reus", "Valls"])
    'South'
    """
    if len(columns) < 2:
        raise ParameterError(
            f"nested_taxonomy needs at least two columns, the finest first, not {len(columns)}."
        )
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        raise ParameterError(
            f"The nested columns must have the same length, not {', '.join(map(str, lengths))}."
        )
    first_rows: dict[tuple[object, ...], int] = {}
    for number, row in enumerate(zip(*columns, strict=True), start=1):
        first_rows.setdefault(row, number)
    draft = Draft("The nested columns")
    rows = (Row(f"row {number}", _known_part(row, number)) for row, number in first_rows.items())
    add_rows(draft, rows, [f"column {number}" for number in range(1, len(columns) + 1)])
    return assemble(draft, name=name)


def _known_part(row: tuple[object, ...], number: int) -> list[str]:
    """Return the row as texts from its first value on; a gap above a value is an error."""
    texts = ["" if is_missing(value, str(value)) else str(value).strip() for value in row]
    known = list(itertools.dropwhile(lambda text: not text, texts))
    if not all(known):
        raise StructureError(
            f"The nested columns, row {number}: a value is missing above {known[0]!r}; "
            "fill it in, or leave the finer values of the row empty too."
        )
    return known
