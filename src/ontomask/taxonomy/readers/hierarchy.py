"""Generalization hierarchies: CSV without a header, one row per leaf, columns from leaf to root.

::

    Bachelors;Undergraduate;Higher education;*
    Masters;Graduate;Higher education;*

Every row has the same number of cells, none of them empty. A value may repeat itself at the next
level; it is one concept then. Each value must have one and the same value above it in all rows.
The format is recognized when all rows end in one root; otherwise ask for `format="hierarchy"`.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path

from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Draft, Reader, place
from ontomask.taxonomy.levels import Row, add_rows, check_even
from ontomask.taxonomy.readers.separated import (
    SEPARATORS,
    beginning,
    check_separator,
    plain_suffix,
    rows_of,
)
from ontomask.taxonomy.readers.sources import read_text

__all__ = ["READER", "read_rows"]

SUFFIXES = {".csv", ".tsv", ".txt"}

HEADER_WORDS = {"child", "parent", "parents", "id", "code", "label"}
"""A first row with one of these is the header of a list, not a row of a hierarchy."""


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Tell whether the rows narrow from left to right, as levels do and other tables do not."""
    if plain_suffix(path) not in SUFFIXES:
        return False
    text = beginning(first_bytes)
    complete = text[: text.rfind("\n") + 1] or text
    try:
        rows = [row.cells for row in _split(complete, None, str(path))]
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
    rows = read_rows(path, separator)
    if rows and len(rows[0].cells) == 1:
        raise FormatError(
            f"{place(str(path), rows[0].line)}: {rows[0].cells[0]!r} is the row's only cell; a "
            "hierarchy has a leaf and at least one level above it, separated by comma, semicolon, "
            "tab or bar."
        )
    check_even(rows, str(path))
    draft = Draft(str(path))
    add_rows(draft, rows)
    return draft


def read_rows(path: Path, separator: str | None = None) -> list[Row]:
    """Return the rows of a hierarchy file as they stand there."""
    check_separator(separator)
    return _split(read_text(path), separator, str(path))


def _split(text: str, separator: str | None, source: str) -> list[Row]:
    """Split by the separator that gives all rows the same number of cells.

    Where several do, the comma is taken last, for it is the one that occurs inside values; where
    none does, the one most frequent in the first row, so that the ragged row can be named.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    likely = sorted(SEPARATORS, key=first.count, reverse=True)
    candidates = sorted(filter(first.count, likely), key=lambda each: each == ",")
    for candidate in candidates if separator is None else ():
        with contextlib.suppress(FormatError):
            rows = [Row(*row) for row in rows_of(text, candidate, source)]
            if len({len(row.cells) for row in rows}) == 1:
                return rows
    return [Row(*row) for row in rows_of(text, separator or likely[0], source)]


READER = Reader("hierarchy", can_read, read)
