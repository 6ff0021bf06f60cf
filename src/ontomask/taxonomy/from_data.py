"""Taxonomies built from a table itself: nested columns, dates, numbers, masked texts.

All take plain sequences, in which None, NaN and empty texts are missing values and are skipped.
Every value becomes a concept, so that the column maps to its own taxonomy completely; where a
concept's id is written differently from the value (`17` for `17.0`), the value is its synonym.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR, Decimal, localcontext

from ontomask.checks import AnyOf, Flag, Integer, Null, Real, check
from ontomask.errors import ParameterError, StructureError
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.levels import add_rows
from ontomask.taxonomy.taxonomy import Taxonomy
from ontomask.taxonomy.values import distinct_values, finite_number, is_missing, shown_number

__all__ = [
    "date_draft",
    "date_taxonomy",
    "interval_draft",
    "interval_taxonomy",
    "masking_draft",
    "masking_taxonomy",
    "nested_draft",
    "nested_taxonomy",
]

ANY_DATE = "*"

PRECISION = 700
"""Decimal digits enough to subtract and divide any two floats without rounding."""

MAX_INTERVALS = 2**53


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
    """
    return assemble(nested_draft(*columns), name=name)


def nested_draft(*columns: Sequence[object]) -> Draft:
    """Make the draft of `nested_taxonomy`."""
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
    draft = Draft("the table")
    rows = ((number, _known_part(row, number)) for row, number in first_rows.items())
    names = [f"column {number}" for number in range(1, len(columns) + 1)]
    add_rows(draft, rows, lambda number: f"The nested columns, row {number}", names)
    return draft


def _known_part(row: tuple[object, ...], number: int) -> list[str]:
    """Return the row as texts from its first value on; a gap above a value is an error."""
    values = list(itertools.dropwhile(is_missing, row))
    if any(map(is_missing, values)):
        raise StructureError(
            f"The nested columns, row {number}: a value is missing above {str(values[0])!r}; "
            "fill it in, or leave the finer values of the row empty too."
        )
    return [str(value).strip() for value in values]


def date_taxonomy(values: Iterable[object], *, name: str = "") -> Taxonomy:
    """Build the taxonomy day, month, year, any date (`*`) over the dates that occur.

    Parameters
    ----------
    values
        Dates, date-times, or texts that begin with an ISO date (2019-03-01).
    name
        The taxonomy's name.
    """
    return assemble(date_draft(values), name=name)


def date_draft(values: Iterable[object]) -> Draft:
    """Make the draft of `date_taxonomy`."""
    draft = Draft("the dates")
    for value in distinct_values(values):
        day = _day(value)
        path = [day, day[:7], day[:4], ANY_DATE]
        _add_path(draft, path, str(value).strip())
    return draft


def _day(value: object) -> str:
    if isinstance(value, datetime.date):
        return f"{value:%Y-%m-%d}"
    text = str(value).strip()
    is_day = len(text) == 10 or text[10:11] in ("T", " ")
    try:
        if is_day:
            return datetime.date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        pass
    raise ParameterError(
        f"values must be dates or ISO texts such as 2019-03-01, not {text!r}; convert them first."
    )


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
    """
    draft = interval_draft(values, width=width, fanout=fanout, levels=levels, origin=origin)
    return assemble(draft, name=name)


def interval_draft(
    values: Iterable[object],
    *,
    width: float | None = None,
    fanout: int = 2,
    levels: int | None = None,
    origin: float | None = None,
) -> Draft:
    """Make the draft of `interval_taxonomy`."""
    check("width", width, AnyOf(Real(0, open_low=True), Null()))
    check("fanout", fanout, Integer(2))
    check("levels", levels, AnyOf(Integer(1), Null()))
    check("origin", origin, AnyOf(Real(), Null()))
    numbers = {value: finite_number(value) for value in distinct_values(values)}
    draft = Draft("the numbers")
    if not numbers:
        return draft
    with localcontext() as context:
        context.prec = PRECISION
        distinct = sorted(set(numbers.values()))
        step = _default_width(distinct, fanout) if width is None else Decimal(str(width))
        start = _start(distinct[0], step, fanout, origin)
        _check_count(distinct[-1] - start, step)
        paths = _interval_paths(distinct, step, fanout, levels, start)
        for value, number in numbers.items():
            _add_path(draft, [shown_number(number), *paths[number]], str(value).strip())
    return draft


def _default_width(distinct: list[Decimal], fanout: int) -> Decimal:
    """Return the 1-2-5 number next above the mean gap between numbers times the fanout."""
    if len(distinct) == 1:
        return Decimal(1)
    target = (distinct[-1] - distinct[0]) / (len(distinct) - 1) * fanout
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
            f"origin must not be above the smallest number, {shown_number(lowest)}, but is "
            f"{origin!r}."
        )
    return Decimal(str(origin))


def _check_count(span: Decimal, step: Decimal) -> None:
    if span / step > MAX_INTERVALS:
        raise ParameterError(
            f"width is {shown_number(step)}, too small for numbers that span {span:.3g}; choose a "
            "larger width."
        )


def _interval_paths(
    distinct: list[Decimal], step: Decimal, fanout: int, levels: int | None, start: Decimal
) -> dict[Decimal, list[str]]:
    """Return the intervals above every number, the finest first."""
    indexes = [int(((number - start) / step).to_integral_value(ROUND_FLOOR)) for number in distinct]
    paths: dict[Decimal, list[str]] = {number: [] for number in distinct}
    for level in itertools.count(1):
        for number, index in zip(distinct, indexes, strict=True):
            low = start + index * step
            paths[number].append(f"[{shown_number(low)}, {shown_number(low + step)})")
        if indexes[0] == indexes[-1] or level == levels:
            return paths
        indexes = [index // fanout for index in indexes]
        step *= fanout
    raise AssertionError("the loop above ends by returning")


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
    """
    draft = masking_draft(values, character=character, from_right=from_right)
    return assemble(draft, name=name)


def masking_draft(
    values: Iterable[object], *, character: str = "*", from_right: bool = True
) -> Draft:
    """Make the draft of `masking_taxonomy`."""
    check("from_right", from_right, Flag())
    if not isinstance(character, str) or len(character) != 1 or character.isspace():
        raise ParameterError(f"character must be a single visible character, not {character!r}.")
    texts = list(dict.fromkeys(str(value).strip() for value in distinct_values(values)))
    longest = max(map(len, texts), default=0)
    draft = Draft("the texts")
    for text in texts:
        if character in text:
            raise ParameterError(
                f"The value {text!r} holds the masking character {character!r}; choose another "
                "character."
            )
        kept = range(min(len(text), longest - 1), -1, -1)
        _add_path(draft, [text, *(_masked(text, n, longest, character, from_right) for n in kept)])
    return draft


def _masked(text: str, kept: int, length: int, character: str, from_right: bool) -> str:
    if from_right:
        return text[:kept].ljust(length, character)
    return text[len(text) - kept :].rjust(length, character)


def _add_path(draft: Draft, path: list[str], spelling: str = "") -> None:
    """Add a value and everything above it; `spelling` is how the value was written."""
    synonyms = [spelling] if spelling and spelling != path[0] else []
    draft.add_concept(path[0], synonyms=synonyms)
    for child, parent in itertools.pairwise(path):
        is_new = parent not in draft.positions
        draft.add_concept(parent)
        draft.add_link(child, parent)
        if not is_new:
            return
