"""Separated-value text: which separator it uses, and its rows with their lines.

The readers of lists and of generalization hierarchies stand on this.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from ontomask.errors import FormatError, ParameterError
from ontomask.taxonomy.readers.sources import read_text

__all__ = [
    "SEPARATORS",
    "beginning",
    "check_separator",
    "header_of",
    "plain_suffix",
    "read_table",
    "rows_of",
    "split_cell",
]

SEPARATORS = ",;\t|"
"""The separators that are looked for."""

Row = tuple[int, dict[str, str]]
"""Line and cells of a row, by the names that the reader uses."""


def check_separator(separator: object) -> None:
    """Refuse what cannot separate cells; None has the separator found out."""
    is_character = isinstance(separator, str) and len(separator) == 1 and separator not in '"\r\n'
    if separator is not None and not is_character:
        raise ParameterError(
            f"separator must be a single character, or None to find it out, not {separator!r}."
        )


def plain_suffix(path: Path) -> str:
    """Return a file's suffix in lower case, looking through a final `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def beginning(first_bytes: bytes) -> str:
    """Return the text that a file begins with; for `can_read`."""
    return first_bytes.decode("utf-8", errors="replace").lstrip("\ufeff")


def header_of(first_bytes: bytes) -> set[str]:
    """Return the lower-case cells of what would be a file's header; for `can_read`."""
    line = _first_line(beginning(first_bytes))
    return {cell.strip().strip('"').strip().lower() for cell in line.split(_most_frequent(line))}


def rows_of(text: str, separator: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, stripped cells) of every row that is not blank."""
    # StringIO breaks lines only where CSV does; str.splitlines knows a dozen other places
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise FormatError(
            f"{source}, line {line}: the row cannot be split into cells ({error}); "
            "close every quotation mark and double those inside a quoted cell."
        ) from None


def read_table(
    path: Path,
    columns: Mapping[str, Sequence[str]],
    *,
    needed: Collection[str],
    separator: str | None = None,
    short_rows: bool = False,
) -> Iterator[Row]:
    """Read a file with a header, row by row.

    `columns` gives, for each name the reader uses, the names a header may use for it; those in
    `needed` must be there. Further columns are ignored. With `short_rows`, cells may be missing at
    the end of a row.
    """
    check_separator(separator)
    text, source = read_text(path), str(path)
    rows = rows_of(text, separator or _most_frequent(_first_line(text)), source)
    line, header = next(rows, (0, []))
    if not header:
        raise FormatError(
            f"{source} is empty; the first row must name the columns, {' and '.join(needed)}."
        )
    places = _places(header, columns, needed, f"{source}, line {line}")
    if short_rows:
        rows = ((line, cells + [""] * (len(header) - len(cells))) for line, cells in rows)
    yield from _picked(rows, len(header), places, source)


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _most_frequent(header: str) -> str:
    return max(SEPARATORS, key=header.count)


def _places(
    header: list[str], columns: Mapping[str, Sequence[str]], needed: Collection[str], where: str
) -> dict[str, int]:
    """Return the position of every column that is there."""
    names = [name.lower() for name in header]
    places: dict[str, int] = {}
    for column, spellings in columns.items():
        found = [position for position, name in enumerate(names) if name in spellings]
        either = " or ".join(map(repr, spellings))
        if len(found) > 1:
            raise FormatError(
                f"{where}: the header names {either} more than once ({', '.join(header)}); keep "
                "one such column."
            )
        if not found and column in needed:
            raise FormatError(
                f"{where}: the header has no column {either} but "
                f"{', '.join(map(repr, header))}; the first row must name the columns."
            )
        if found:
            places[column] = found[0]
    return places


def _picked(
    rows: Iterator[tuple[int, list[str]]], width: int, places: Mapping[str, int], source: str
) -> Iterator[Row]:
    for line, cells in rows:
        if len(cells) != width:
            raise FormatError(
                f"{source}, line {line}: the row has {len(cells)} cells and the header {width}; "
                "fill in or remove cells, and quote a cell that holds the separator."
            )
        yield line, {column: cells[position] for column, position in places.items()}


def split_cell(cell: str, separators: str) -> list[str]:
    """Split a cell that holds several values; empty ones are left out."""
    for separator in separators[1:]:
        cell = cell.replace(separator, separators[0])
    return [part for part in (part.strip() for part in cell.split(separators[0])) if part]
