"""What every reader hands on: the frame as the file has it, and how to speak of its records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import polars as pl

from ontomask.checks import did_you_mean
from ontomask.data.files.formats import FileFormat
from ontomask.errors import DataError
from ontomask.wording import enumerated, numbered, plural, quoted

__all__ = ["Loaded", "Top", "check_columns", "check_names", "with_missing", "with_readings"]

NumbersOfRecords = Sequence[int]


@dataclass(frozen=True)
class Top:
    """The first rows of a file with their numbers, and how many at its end are no full records."""

    rows: tuple[tuple[int, tuple[str, ...]], ...]
    loose_end: int = 0


@dataclass(frozen=True, eq=False)
class Loaded:
    """A frame before kinds are applied; `word` and `numbers` say where in the file records are."""

    frame: pl.DataFrame
    format: FileFormat
    notes: tuple[str, ...] = ()
    word: str = "record"
    numbers: Callable[[NumbersOfRecords], list[int]] = lambda found: [one + 1 for one in found]

    def places(self, found: NumbersOfRecords) -> str:
        """Say in which lines or rows of the file some records are."""
        return numbered(self.word, self.numbers(found))


def check_names(names: Sequence[str], shown: str) -> None:
    """Every column needs a name of its own."""
    nameless = [str(place) for place, name in enumerate(names, start=1) if not name.strip()]
    if nameless:
        raise DataError(
            f"{shown}: {'columns' if len(nameless) > 1 else 'column'} {enumerated(nameless)} "
            f"{'have' if len(nameless) > 1 else 'has'} no name in the header; write it there, or "
            "save the table without it if it only numbers the rows."
        )
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise DataError(
            f"{shown}: the header names {quoted(twice)} more than once; give every column a name "
            "of its own."
        )


def check_columns(asked: Collection[str], names: Sequence[str], shown: str) -> None:
    """Columns that are asked for must be there."""
    unknown = next((name for name in asked if name not in names), None)
    if unknown is not None:
        raise DataError(
            f"{shown} has no column {unknown!r}; it has {quoted(names)}."
            f"{did_you_mean(unknown, names)}"
        )


def with_missing(frame: pl.DataFrame, missing: Sequence[str]) -> pl.DataFrame:
    """Make the texts, and the numbers they spell, that mean a missing value missing."""
    if not missing:
        return frame
    return frame.with_columns([_without(column, missing) for column in frame.get_columns()])


def _without(column: pl.Series, codes: Sequence[str]) -> pl.Series:
    if column.dtype == pl.String:
        return column.replace(dict.fromkeys(codes))
    numbers = pl.Series(codes).cast(pl.Float64, strict=False).drop_nulls()
    if not column.dtype.is_numeric() or not len(numbers):
        return column
    return column.set(column.cast(pl.Float64).is_in(numbers.implode()), None)


def with_readings(loaded: Loaded, shown: str, asked: Sequence[str] | None = None) -> Loaded:
    """Apply what is said of the values of single columns: what is missing, what is a number."""
    how, frame = loaded.format, loaded.frame
    said = {*how.missing_in, *how.read_as}
    if asked is None:
        check_columns(said, frame.columns, shown)
    changed = [_read(frame[name], how) for name in frame.columns if name in said]
    if not changed:
        return loaded
    gone = [(one.name, one.null_count() - frame[one.name].null_count()) for one in changed]
    notes = [
        f"{plural(count, 'value')} of {name!r} that, as missing_in says, "
        f"{'stands' if count == 1 else 'stand'} for a missing one: written as missing, too."
        for name, count in gone
        if count
    ]
    return replace(loaded, frame=frame.with_columns(changed), notes=(*loaded.notes, *notes))


def _read(column: pl.Series, how: FileFormat) -> pl.Series:
    known = column.str.strip_chars() if column.dtype == pl.String else column
    spelled = {
        text: f"{number:g}".replace(".", how.decimal)
        for text, number in how.read_as.get(column.name, {}).items()
    }
    if known.dtype == pl.String:
        known = known.replace(spelled)
    return _without(known, tuple(how.missing_in.get(column.name, ())))
