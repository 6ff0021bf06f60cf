"""Taxonomies and hierarchies built from the values themselves (those of numbers: `from_numbers`).

Masked texts, calendar units, an order, rare values and nested columns are made into rows of levels
once, and seen as a `Hierarchy` (level by level, the last one the root `*`) or as a `Taxonomy`, in
which every value becomes a concept, so that the column maps to its own taxonomy completely; where a
concept's id is written differently from the value (`17` for `17.0`), the value is its synonym.

All take plain sequences, in which None, NaN and empty texts are missing values and are skipped.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ontomask.arrays import Ints
from ontomask.checks import Choice, Flag, Integer, ListOf, check
from ontomask.errors import ParameterError, StructureError
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.from_rows import (
    cells_of,
    different_values,
    hierarchy_of,
    hierarchy_of_columns,
    places_of,
    taxonomy_of,
)
from ontomask.taxonomy.hierarchies import ROOT, Generalized, Hierarchy
from ontomask.taxonomy.levels import Row, add_rows
from ontomask.taxonomy.mapping import is_missing
from ontomask.taxonomy.taxonomy import Taxonomy
from ontomask.wording import plural

__all__ = [
    "UNITS",
    "date_hierarchy",
    "date_taxonomy",
    "frequency_hierarchy",
    "masking_hierarchy",
    "masking_taxonomy",
    "nested_taxonomy",
    "order_hierarchy",
]

OTHER = "other"

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
    texts = _maskable(values, character, from_right)
    levels = list(_masks(texts, character, from_right))
    named = [f"{plural(count, 'character')} masked" for count in range(1, len(levels) + 1)]
    return hierarchy_of_columns(texts, levels, "the masks", named)


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
    texts = _maskable(values, character, from_right)
    levels = map(cells_of, _masks(texts, character, from_right))
    tops = [character * max(map(len, texts), default=0)] * len(texts)
    return taxonomy_of(zip(texts, *levels, tops, strict=True), "the texts", name, {})


def _maskable(values: Iterable[object], character: str, from_right: bool) -> list[str]:
    """The different texts, of which none may hold the masking character."""
    check("from_right", from_right, Flag())
    if not isinstance(character, str) or len(character) != 1 or character.isspace():
        raise ParameterError(f"character must be a single visible character, not {character!r}.")
    texts = list(different_values(values))
    for text in texts:
        if character in text:
            raise ParameterError(
                f"The value {text!r} holds the masking character {character!r}; choose another "
                "character."
            )
    return texts


def _masks(texts: Sequence[str], character: str, from_right: bool) -> Iterator[Generalized]:
    """The masks of texts, level by level; each is made from the one below, and once."""
    longest = max(map(len, texts), default=0)
    places: Ints = np.arange(len(texts), dtype=np.int32)
    below = texts
    for kept in range(longest - 1, 0, -1):
        if from_right:
            masks = (text[:kept].ljust(longest, character) for text in below)
        else:
            masks = (text[max(0, len(text) - kept) :].rjust(longest, character) for text in below)
        above, below = places_of(masks)
        places = above.take(places)
        yield places, below


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
    days = _days(values)
    levels = [places_of(map(UNITS[unit], days.values())) for unit in units]
    return hierarchy_of_columns(days, levels, "the dates", named)


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
    rows = [
        [day.isoformat(), UNITS["month"](day), UNITS["year"](day), ROOT]
        for day in dict.fromkeys(days.values())
    ]
    return taxonomy_of(rows, "the dates", name, names)


def _days(values: Iterable[object]) -> dict[str, datetime.date]:
    return {written: _day(value, written) for written, value in different_values(values).items()}


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
    ordered = list(different_values(values))
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
    return hierarchy_of(rows, "the order", named)


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
    return hierarchy_of(rows, "the frequencies", named)


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
