"""Whether the line that should name the columns of a table is one of its records.

A record that is taken for names is published as such, so where most that can be told speaks for a
record nothing is read until a person has said what the line is. Sentences never show its cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.data.intervals import read_interval
from ontomask.errors import DataError
from ontomask.wording import plural

__all__ = [
    "MOST_RECORDS",
    "Doubt",
    "doubt_about",
    "numbered_names",
    "refuse_record",
    "sampled_places",
]

CELLS = 100_000
MOST_RECORDS, FEWEST_RECORDS = 2_000, 50
"""So many records are compared with the names, spread over the table."""

MOSTLY = 0.8
NEARLY_ALL = 0.95
REPEATED = 0.1
"""So many of the records at most are the header again."""

OFTEN = 5
"""A value that occurs so often on average is hardly missing among the records."""

LONGEST_CODE = 100
YEARS = range(1900, 2101)
SHORTEST_RUN = 4

DATE = re.compile(r"\d{4}[-/]\d{1,2}|\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[T ].*)?")
NUMBER = re.compile(
    r"[$€£]?\s?[+-]?(?=[\d.,]*\d)[\d.,'’ \u00a0\u202f]+(?:[eE][+-]?\d+)?\s?(?:[%$€£])?"
)
UNKNOWN = frozenset(["", "na", "n/a", "nan", "null", "none", "unknown", "missing", "?", "-", "."])


@dataclass(frozen=True)
class Doubt:
    """How many of the cells in a line of names look like values, and whether it is a record."""

    alike: int
    cells: int
    certain: bool

    @property
    def note(self) -> str:
        """What to say where it is no record for certain."""
        named = "column is named" if self.alike == 1 else "columns are named"
        return (
            f"{self.alike} {named} like values; if the line of names is a record, say that there "
            "is none (header = 0)."
        )

    def __str__(self) -> str:
        told = f"{self.alike} of its {plural(self.cells, 'cell')}"
        return f"{told} {'is' if self.alike == 1 else 'are'} like the values below it"


def sampled_places(records: int, columns: int) -> list[int]:
    """Which records to compare with the names."""
    size = min(records, max(FEWEST_RECORDS, min(MOST_RECORDS, CELLS // max(1, columns))))
    return list(dict.fromkeys(np.linspace(0, records - 1, size).astype(int).tolist()))


def doubt_about(names: Sequence[str], records: Sequence[Sequence[str]]) -> Doubt | None:
    """Whether names look like a record of those below them.

    For it speaks a cell that occurs again in its column or is written as its column is, against it
    one that differs from nearly all below it. Names of years or numbered ones prove nothing.
    """
    names = [name.strip() for name in names]
    below = [[cell.strip() for cell in one] for one in records if len(one) == len(names)]
    others = [one for one in below if one != names]
    if len(others) > (1 - REPEATED) * len(below):  # the header again, where files were joined
        below = others
    if not below:
        return None
    columns = [_Compared(name, [one[place] for one in below]) for place, name in enumerate(names)]
    counted = _counting(columns)
    alike = [one.is_alike and place not in counted for place, one in enumerate(columns)]
    unlike = sum(one.is_unlike for one in columns)
    doubtful = sum(one.is_alike or bool(one.kind) for one in columns)
    if not doubtful:
        return None
    certain = any(alike) and sum(alike) >= unlike
    return Doubt(sum(alike) if certain else doubtful, len(names), certain)


def refuse_record(doubt: Doubt | None, shown: str, number: int = 1, word: str = "line") -> None:
    """Refuse to take a record for names."""
    if doubt is not None and doubt.certain:
        raise DataError(
            f"The first {word} of {shown} looks like a record, not like names: {doubt}; write the "
            f"columns' names above it, or say that there is no {word} of names, so that they are "
            "column_1, column_2 and so on (in a plan: header = 0 under [input]; without a plan: "
            f"--header 0), or that it does name them (header = {number}, or --header {number})."
        )


def numbered_names(count: int) -> list[str]:
    """The names of columns that nobody has named."""
    return [f"column_{place}" for place in range(1, count + 1)]


class _Compared:
    """A cell in a line of names, and the values of the records below it."""

    def __init__(self, name: str, below: Sequence[str]) -> None:
        self.name, self.kind = name, _kind(name)
        self.values = [one for one in below if one.casefold() not in UNKNOWN]
        self.kinds = [_kind(one) for one in self.values]

    @property
    def is_alike(self) -> bool:
        """Whether the name looks like one of the values."""
        if self.name.casefold() in UNKNOWN or not self.values:
            return False
        if self.name in self.values:
            return True
        if self._is_other_of_few:
            return False
        if self.kind == "date":
            return self.share("date") >= MOSTLY
        if self.kind == "number":
            return _share([_has_digit(one) for one in self.values]) >= MOSTLY
        written = _shape(self.name)
        return (
            _has_digit(self.name)
            and _share([_shape(one) == written for one in self.values]) >= MOSTLY
        )

    @property
    def is_unlike(self) -> bool:
        """Whether the name differs from what nearly all values have in common."""
        if self.name.casefold() in UNKNOWN or not self.values or self.name in self.values:
            return False
        if self._is_other_of_few:
            return True
        if self.kind or read_interval(self.name) is not None:
            return False
        typed = max(self.share("date"), self.share("number")) >= NEARLY_ALL
        digits = _share([_has_digit(one) for one in self.values]) >= NEARLY_ALL
        return typed or (digits and not _has_digit(self.name))

    @property
    def _is_other_of_few(self) -> bool:
        """Whether the values are so few that the name would be among them."""
        return len(self.values) >= OFTEN * max(2, len(set(self.values))) and self.name not in (
            self.values
        )

    def share(self, kind: str) -> float:
        """How many of the values are of a kind."""
        return _share([one == kind for one in self.kinds])


def _counting(columns: Sequence[_Compared]) -> set[int]:
    """The places of names that count: years, positions, steps of equal width."""
    whole = [int(one.name) if re.fullmatch(r"\d{1,4}", one.name) else None for one in columns]
    if whole in ([*range(len(whole))], [*range(1, len(whole) + 1)]) and len(whole) > 2:
        return set(range(len(whole)))
    found: set[int] = set()
    for run in _runs(whole):
        years = all(whole[place] in YEARS for place in run)
        held = _share([_is_year(one) for place in run for one in columns[place].values])
        if held < MOSTLY if years else len(run) >= SHORTEST_RUN:
            found.update(run)
    return found


def _runs(whole: Sequence[int | None]) -> Iterator[list[int]]:
    """Places side by side whose numbers grow, or fall, in equal steps."""
    run: list[int] = []
    for place, number in enumerate(whole):
        if number is None:
            if run:
                yield run
            run = []
        elif len(run) < 2 or number - (whole[run[-1]] or 0) == (whole[run[1]] or 0) - (
            whole[run[0]] or 0
        ):
            run.append(place)
        else:
            yield run
            run = [place]
    if run:
        yield run


def _is_year(text: str) -> bool:
    return text.isdecimal() and len(text) == 4 and int(text) in YEARS


def _kind(text: str) -> str:
    """Whether a text is a date or a number, however such are written."""
    if DATE.fullmatch(text):
        return "date"
    return "number" if NUMBER.fullmatch(text) else ""


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _shape(text: str) -> str:
    """How a text is written: its letters by case, numbers however long they are, its marks."""
    if len(text) > LONGEST_CODE:
        return ""
    letters = re.sub(r"[^\W\d_]", lambda found: "A" if found[0].isupper() else "a", text)
    return re.sub(r"\d+", "9", letters)


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 0.0
