"""Rows of levels, finest first: what hierarchy files, nested columns and builders have in common.

A row says that its first value lies below its second, that below its third, and so on. As links of
a taxonomy, a value is one concept wherever it stands, so it must have the same value above it
everywhere:

* a value that repeats itself at the next level (`Other;Other;*`) is the same concept, not a link;
* a value with two different values above it at one level does not determine that level;
* a value that stands at two levels with different values above it means two things.

The last two are errors. What passes cannot contain a circle: each value's way up is the rest of
any row it stands in, which ends at the top.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ontomask.errors import StructureError
from ontomask.taxonomy.draft import Draft, Line, place, spot

__all__ = ["Row", "add_rows", "check_even"]


class Row(NamedTuple):
    """A value and what it becomes, level by level, with its place in the source."""

    line: Line
    cells: Sequence[str]


class _Place(NamedTuple):
    """Where a value was first seen, and what was above it there (None: it was at the top)."""

    above: str | None
    level: int
    line: Line

    def describe(self) -> str:
        return f"up to {self.above!r}" if self.above is not None else "no further up"


def check_even(rows: Sequence[Row], source: str) -> None:
    """Refuse rows of unequal length and empty cells."""
    for line, cells in rows:
        if len(cells) != len(rows[0].cells):
            fault = f"{len(cells)} levels and the first row {len(rows[0].cells)}"
        elif not all(cells):
            fault = f"an empty cell at level {list(cells).index('')}"
        else:
            continue
        raise StructureError(
            f"{place(source, line)}: the row of {cells[0]!r} has {fault}; repeat a value where a "
            "level is missing."
        )


def add_rows(draft: Draft, rows: Iterable[Row], levels: Sequence[str] = ()) -> None:
    """Add the concepts and links of rows.

    `levels` names the levels, by default "level 0" and so on. A row may lack its finest values.
    """
    places: dict[str, _Place] = {}
    for line, cells in rows:
        above: str | None = None
        for level in range(len(cells) - 1, -1, -1):
            value = cells[level]
            if level + 1 < len(cells) and cells[level + 1] != value:
                above = cells[level + 1]
            found = _Place(above, level + max(0, len(levels) - len(cells)), line)
            known = places.setdefault(value, found)
            if known.above != above:
                raise _contradiction(draft.source, value, known, found, levels)
    for value, first in places.items():
        draft.add_concept(value, line=first.line)
        if first.above is not None:
            draft.add_link(value, first.above, first.line)


def _contradiction(
    source: str, value: str, known: _Place, found: _Place, levels: Sequence[str]
) -> StructureError:
    def named(level: int) -> str:
        return levels[level] if levels else f"level {level}"

    here, there = named(found.level), named(known.level)
    if found.level == known.level:
        reason = f"so {here} does not determine {named(found.level + 1)}"
    else:
        reason = "so one name means two things"
    return StructureError(
        f"{place(source, found.line)}: {value!r} ({here}) leads {found.describe()} but in "
        f"{spot(known.line)} ({there}) {known.describe()}, {reason}; every value needs one value "
        "above it: correct the row, or give the two different names."
    )
