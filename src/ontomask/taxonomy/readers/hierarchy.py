"""Generalization hierarchies: CSV without a header, one row per leaf, columns from leaf to root.

::

    Bachelors;Undergraduate;Higher education;*
    Masters;Graduate;Higher education;*

Every row has the same number of cells, none of them empty. A value may repeat itself at the next
level; it is one concept then. Each value must have one and the same value above it in all rows.
The format is recognized when all rows end in one root; otherwise ask for `format="hierarchy"`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ontomask.checks import check
from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Draft, place
from ontomask.taxonomy.levels import add_rows
from ontomask.taxonomy.readers.separated import (
    BYTE_ORDER_MARK,
    SEPARATORS,
    SeparatorConstraint,
    plain_suffix,
    rows_of,
)
from ontomask.taxonomy.readers.sources import read_text

__all__ = ["NAME", "can_read", "read"]

NAME = "hierarchy"

SUFFIXES = {".csv", ".tsv", ".txt"}

HEADER_WORDS = {"child", "parent", "parents", "id", "code", "label"}
"""A first row with one of these is the header of a list, not a row of a hierarchy."""

Rows = list[tuple[int, list[str]]]


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Tell whether the rows narrow from left to right, as levels do and other tables do not."""
    if plain_suffix(path) not in SUFFIXES:
        return False
    text = first_bytes.decode("utf-8", errors="replace").lstrip(BYTE_ORDER_MARK)
    complete = text[: text.rfind("\n") + 1] or text
    try:
        rows = [cells for _, cells in _split(complete, None, str(path))]
    except FormatError:
        return False
    if not rows or HEADER_WORDS & {cell.lower() for cell in rows[0]}:
        return False
    width = Counter(map(len, rows)).most_common(1)[0][0]
    columns = list(zip(*(row for row in rows if len(row) == width), strict=True))
    return width > 1 and all(columns[-1]) and _narrows([len(set(column)) for column in columns])


def _narrows(sizes: list[int]) -> bool:
    """Tell whether levels of these sizes get no larger on the way up and end in one value.

    A table of numbers may narrow as well, so a hierarchy with several roots must be named as such.
    """
    return sizes[-1] == 1 and sizes == sorted(sizes, reverse=True)


def read(path: Path, *, separator: str | None = None) -> Draft:
    """Read a generalization hierarchy.

    Parameters
    ----------
    path
        The file, plain or gzip.
    separator
        What separates the cells; found out among comma, semicolon, tab and bar when None.
    """
    source = str(path)
    if separator is not None:
        check("separator", separator, SeparatorConstraint())
    rows = _split(read_text(path), separator, source)
    _check_rows(rows, source)
    draft = Draft(source)
    add_rows(draft, rows, lambda line: place(source, line))
    return draft


def _split(text: str, separator: str | None, source: str) -> Rows:
    """Split by the separator that gives all rows the same number of cells, at least two.

    Where several do, the comma is taken last, for it is the one that occurs inside values; where
    none does, the one most frequent in the first row, so that the ragged row can be named.
    """
    if separator is not None:
        return list(rows_of(text, separator, source))
    first = next((line for line in text.splitlines() if line.strip()), "")
    likely = sorted(SEPARATORS, key=first.count, reverse=True)
    for candidate in sorted(filter(first.count, likely), key=lambda each: each == ","):
        rows = _even_rows(text, candidate, source)
        if rows:
            return rows
    return list(rows_of(text, likely[0], source))


def _even_rows(text: str, separator: str, source: str) -> Rows:
    """Return the rows if all of them have the same number of cells, else none."""
    try:
        rows = list(rows_of(text, separator, source))
    except FormatError:
        return []
    return rows if len({len(cells) for _, cells in rows}) == 1 else []


def _check_rows(rows: Rows, source: str) -> None:
    width = len(rows[0][1]) if rows else 0
    if width == 1:
        raise FormatError(
            f"{place(source, rows[0][0])}: {rows[0][1][0]!r} is the row's only cell; a hierarchy "
            "has a leaf and at least one level above it, separated by comma, semicolon, tab or bar."
        )
    for line, cells in rows:
        if len(cells) != width:
            raise FormatError(
                f"{place(source, line)}: the row of {cells[0]!r} has {len(cells)} levels and the "
                f"first row {width}; repeat a value where a level is missing."
            )
        if not all(cells):
            raise FormatError(
                f"{place(source, line)}: the row of {cells[0]!r} has an empty cell at level "
                f"{cells.index('') + 1}; repeat a value where a level is missing."
            )
