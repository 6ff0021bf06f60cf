"""Where the records of a CSV text begin and end, how many fields they have, and in which line.

Polars fills short records silently and gives no line numbers; this scan of the bytes finds both,
some hundred megabytes per second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ontomask.arrays import Bools, Longs
from ontomask.errors import DataError
from ontomask.wording import option

__all__ = ["Records", "check_quotes", "find_records", "kept_text", "line_start"]

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
    dropped: Longs

    def __len__(self) -> int:
        return self.starts.size

    def text(self, record: int) -> str:
        """One record, with the line ends inside of quoted fields but not its own."""
        return self.content[self.starts[record] : self.ends[record]].decode().removesuffix("\r")

    def lines(self, records: Sequence[int]) -> list[int]:
        """The lines of the file in which some records begin, counted from 1."""
        return [_line(self.content, int(self.starts[record])) for record in records]

    def at_line(self, line: int) -> int | None:
        """The record that begins in a line, counted from 1; None where none does."""
        begin = line_start(self.content, line)
        place = int(np.searchsorted(self.starts, begin))
        return place if place < len(self) and self.starts[place] == begin else None

    def without(self, records: Sequence[int]) -> Records:
        """The same without some records."""
        kept = np.ones(len(self), np.bool_)
        kept[list(records)] = False
        ranges = [np.arange(self.starts[one], self.ends[one] + 1) for one in records]
        return replace(
            self,
            starts=self.starts[kept],
            ends=self.ends[kept],
            fields=self.fields[kept],
            dropped=np.concatenate([self.dropped, *ranges]),
        )


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
            f"never closed; close it, or say that quotation marks are mere characters "
            f"({option('quote', 'none')})."
        )


def kept_text(records: Records) -> bytes:
    """Return the text without blank lines (a line end, perhaps after a return) or left-out ones."""
    if not records.blank.size and not records.dropped.size:
        return records.content
    keep = np.ones(len(records.content) + 1, np.bool_)
    keep[records.blank] = False
    keep[records.dropped] = False
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
    nothing = np.empty(0, np.int64)
    return Records(content, starts[~blank], ends[~blank], fields[~blank], places, nothing)


def line_start(content: bytes, line: int) -> int:
    """Where a line of a text begins, counted from 1; behind the text if it has fewer."""
    start = 0
    for _ in range(line - 1):
        start = content.find(b"\n", start) + 1
        if not start:
            return len(content) + 1
    return start


def _line(content: bytes, place: int) -> int:
    return content.count(b"\n", 0, place) + 1


def _stray_quote(content: bytes, place: int, shown: str) -> DataError:
    return DataError(
        f"{shown}, line {_line(content, place)}: a quotation mark stands inside of a field; double "
        "it and enclose the field in quotation marks, or say that quotation marks are mere "
        f"characters in this file ({option('quote', 'none')})."
    )
