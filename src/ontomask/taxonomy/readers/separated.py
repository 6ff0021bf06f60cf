"""Separated-value text: which separator it uses, and its rows with their lines.

The readers of edge lists, concept lists, code lists and generalization hierarchies stand on this.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontomask.checks import check
from ontomask.errors import FormatError
from ontomask.taxonomy.readers.sources import read_text

__all__ = [
    "SEPARATORS",
    "Table",
    "cells_of",
    "header_of",
    "plain_suffix",
    "read_table",
    "rows_of",
    "sniff_header_separator",
    "split_cell",
]

SEPARATORS = ",;\t|"
"""The separators that are looked for."""

BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Table:
    """The rows of a file with a header; the columns that the reader asked for, by its own names."""

    source: str
    rows: tuple[tuple[int, dict[str, str]], ...]


@dataclass(frozen=True)
class SeparatorConstraint:
    """A single character that can separate cells."""

    def accepts(self, value: object) -> bool:
        """Tell whether the value is such a character."""
        return isinstance(value, str) and len(value) == 1 and value not in '"\r\n'

    def describe(self) -> str:
        """Say it."""
        return "a single character, or None to find it out"

    def wrong_values(self) -> list[object]:
        """Make texts that are no single character."""
        return ["", ",,", '"', 5]

    def json_schema(self) -> dict[str, Any]:
        """Say it as JSON Schema."""
        return {"type": "string", "minLength": 1, "maxLength": 1}


def plain_suffix(path: Path) -> str:
    """Return a file's suffix in lower case, looking through a final `.gz`."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


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


def sniff_header_separator(header: str) -> str:
    """Return the separator that occurs most often in a header line."""
    return max(SEPARATORS, key=header.count)


def cells_of(line: str, separator: str) -> list[str]:
    """Split one header line into lower-case cells."""
    return [cell.strip().strip('"').strip().lower() for cell in line.split(separator)]


def header_of(first_bytes: bytes) -> list[str]:
    """Return the lower-case cells of what would be a file's header; for `can_read`."""
    text = first_bytes.decode("utf-8", errors="replace").lstrip(BYTE_ORDER_MARK)
    line = next((line for line in text.splitlines() if line.strip()), "")
    return cells_of(line, sniff_header_separator(line))


def read_table(
    path: Path,
    columns: Mapping[str, Sequence[str]],
    *,
    needed: Collection[str],
    separator: str | None = None,
) -> Table:
    """Read a file with a header.

    `columns` gives, for each name the reader uses, the names a header may use for it; those in
    `needed` must be there. Further columns are ignored.
    """
    source = str(path)
    if separator is not None:
        check("separator", separator, SeparatorConstraint())
    text = read_text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    rows = rows_of(text, separator or sniff_header_separator(first), source)
    line, header = next(rows, (0, []))
    if not header:
        return Table(source, ())
    places = _places(header, columns, needed, f"{source}, line {line}")
    return Table(source, tuple(_picked(rows, len(header), places, source)))


def _places(
    header: list[str], columns: Mapping[str, Sequence[str]], needed: Collection[str], where: str
) -> dict[str, int]:
    """Return the position of every column that is there."""
    names = [name.lower() for name in header]
    places: dict[str, int] = {}
    for column, spellings in columns.items():
        found = [position for position, name in enumerate(names) if name in spellings]
        if len(found) > 1:
            raise FormatError(
                f"{where}: the header names {_either(spellings)} more than once "
                f"({', '.join(header)}); keep one such column."
            )
        if not found and column in needed:
            raise FormatError(
                f"{where}: the header has no column {_either(spellings)} "
                f"but {', '.join(map(repr, header))}; the first row must name "
                "the columns."
            )
        if found:
            places[column] = found[0]
    return places


def _picked(
    rows: Iterator[tuple[int, list[str]]], width: int, places: Mapping[str, int], source: str
) -> Iterator[tuple[int, dict[str, str]]]:
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


def _either(spellings: Sequence[str]) -> str:
    return " or ".join(repr(spelling) for spelling in spellings)
