"""Rows of levels, finest first, made into links: one algorithm for hierarchy files and for tables.

A row says that its first value lies below its second, that below its third, and so on. A value is
one concept wherever it stands, so it must have the same value above it everywhere:

* a value that repeats itself at the next level (`Other;Other;*`) is the same concept, not a link;
* a value with two different values above it at one level does not determine that level;
* a value that stands at two levels with different values above it means two things.

The last two are errors. What passes cannot contain a circle: each value's way up is the rest of
any row it stands in, which ends at the top.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ontomask.errors import StructureError
from ontomask.taxonomy.draft import Draft

__all__ = ["add_rows"]


@dataclass(frozen=True)
class _Place:
    """Where a value was first seen, and what was above it there (None: it was at the top)."""

    above: str | None
    level: int
    line: int

    def describe(self) -> str:
        return f"up to {self.above!r}" if self.above is not None else "no further up"


def add_rows(
    draft: Draft,
    rows: Iterable[tuple[int, Sequence[str]]],
    where: Callable[[int], str],
    levels: Sequence[str] = (),
) -> None:
    """Add the concepts and links of rows of values, finest level first.

    `where` names a row by its number in messages; `levels` names the levels, by default
    "level 1" and so on. A row may lack its finest values.
    """
    places: dict[str, _Place] = {}
    for line, values in rows:
        above: str | None = None
        for level in range(len(values) - 1, -1, -1):
            value = values[level]
            if level + 1 < len(values) and values[level + 1] != value:
                above = values[level + 1]
            found = _Place(above, level + max(0, len(levels) - len(values)), line)
            known = places.setdefault(value, found)
            if known.above != above:
                raise _contradiction(value, known, found, where, levels)
    for value, place in places.items():
        draft.add_concept(value, line=place.line)
        if place.above is not None:
            draft.add_link(value, place.above, place.line)


def _contradiction(
    value: str,
    known: _Place,
    found: _Place,
    where: Callable[[int], str],
    levels: Sequence[str],
) -> StructureError:
    def named(level: int) -> str:
        return levels[level] if levels else f"level {level + 1}"

    here, there = named(found.level), named(known.level)
    if found.level == known.level:
        reason = f"so {here} does not determine {named(found.level + 1)}"
    else:
        reason = "so one name means two things"
    return StructureError(
        f"{where(found.line)}: {value!r} ({here}) leads {found.describe()} but in "
        f"{_short(where(known.line))} ({there}) {known.describe()}, {reason}; "
        "every value needs one value above it: correct the row, or give the two different names."
    )


def _short(where: str) -> str:
    """Drop the file's name, which the sentence has named already."""
    return where.rpartition(", ")[2]
