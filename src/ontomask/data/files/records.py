"""Where the records of a CSV text begin and end, how many fields they have, and in which line.

Polars fills short records silently and gives no line numbers; this scan of the bytes finds both,
some hundred megabytes per second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Longs
from ontomask.errors import DataError
from ontomask.wording import numbered

__all__ = ["Records", "check_quotes", "find_records", "without_blank_lines"]

CHUNK = 2**20
NEWLINE, RETURN = b"\n\r"


@dataclass(frozen=True, eq=False)
class Records:
    """The records of a text that are not blank lines: places in the text and numbers of fields."""

    content: bytes
    starts: Longs
    ends: Longs
    fields: Longs
    blank: Longs

    def __len__(self) -> int:
        return self.starts.size

    def text(self, record: int) -> str:
        """One record, with the line ends inside of quoted fields but not its own."""
        return self.content[self.starts[record] : self.ends[record]].decode().removesuffix("\r")

    def lines(self, records: Sequence[int]) -> str:
        """Say in which lines of the file some records begin."""
        places = [_line(self.content, int(self.starts[record])) for record in records]
        return numbered("line", places)


def find_records(content: bytes, separator: str, quote: str | None) -> Records:
    """Split a text at the line ends, and count at the separators, that are outside of quotes."""
    ends: list[Longs] = []
    counts: list[Longs] = []
    total = 0
    for start, newlines, separators in _outside(content, ord(separator), quote):
        ends.append(newlines + start)
        counts.append(total + np.searchsorted(separators, newlines))
        total += separators.size
    if not ends or not ends[-1].size or ends[-1][-1] != len(content) - 1:
        ends.append(np.array([len(content)]))
        counts.append(np.array([total]))
    return _without_blank(content, np.concatenate(ends), np.concatenate(counts))


def check_quotes(content: bytes, separator: str, quote: str | None, shown: str) -> None:
    """Refuse quotation marks that neither open nor close a field, and one that stays open."""
    if quote is None or quote.encode() not in content:
        return
    opens_after = np.isin(np.arange(256), [NEWLINE, ord(separator), ord(quote)])
    closes_before = opens_after | (np.arange(256) == RETURN)
    cells = np.frombuffer(content, np.uint8)
    seen, last = 0, 0
    for start in range(0, len(content), CHUNK):
        places = np.flatnonzero(cells[start : start + CHUNK] == ord(quote)) + start
        opening = (np.arange(places.size) + seen) % 2 == 0
        before = opens_after[cells[places - 1]] | (places == 0)
        after = closes_before[cells[(places + 1) % len(content)]] | (places == len(content) - 1)
        wrong = places[np.where(opening, ~before, ~after)]
        if wrong.size:
            raise _stray_quote(content, int(wrong[0]), shown)
        seen += places.size
        last = int(places[-1]) if places.size else last
    if seen % 2:
        raise DataError(
            f"{shown}, line {_line(content, last)}: a quotation mark opens a field there that is "
            "never closed; close it, or say quote=None if quotation marks are mere characters."
        )


def without_blank_lines(records: Records) -> bytes:
    """Return the text without its blank lines (each a line end, perhaps after a return)."""
    if not records.blank.size:
        return records.content
    keep = np.ones(len(records.content) + 1, np.bool_)
    keep[records.blank] = False
    return np.frombuffer(records.content, np.uint8)[keep[:-1]].tobytes()


def _outside(
    content: bytes, separator: int, quote: str | None
) -> Iterator[tuple[int, Longs, Longs]]:
    """Yield the start of each chunk and where in it unquoted line ends and separators are."""
    cells = np.frombuffer(content, np.uint8)
    is_open = False
    for start in range(0, len(content), CHUNK):
        chunk = cells[start : start + CHUNK]
        newlines, separators = chunk == NEWLINE, chunk == separator
        marks = chunk == (ord(quote) if quote else 0)
        if is_open or marks.any():
            inside: Bools = np.bitwise_xor.accumulate(marks) ^ is_open
            newlines &= ~inside
            separators &= ~inside
            is_open = bool(inside[-1])
        yield start, np.flatnonzero(newlines), np.flatnonzero(separators)


def _without_blank(content: bytes, ends: Longs, counts: Longs) -> Records:
    starts = np.concatenate([[0], ends[:-1] + 1])
    fields = np.diff(counts, prepend=0) + 1
    cells = np.frombuffer(content, np.uint8)
    returns = cells[np.minimum(starts, cells.size - 1)] == RETURN
    blank = (ends == starts) | ((ends == starts + 1) & returns)
    places = np.concatenate([starts[blank], ends[blank]])
    return Records(content, starts[~blank], ends[~blank], fields[~blank], places)


def _line(content: bytes, place: int) -> int:
    return content.count(b"\n", 0, place) + 1


def _stray_quote(content: bytes, place: int, shown: str) -> DataError:
    return DataError(
        f"{shown}, line {_line(content, place)}: a quotation mark stands inside of a field; double "
        "it and enclose the field in quotation marks, or say quote=None if quotation marks are "
        "mere characters in this file."
    )
