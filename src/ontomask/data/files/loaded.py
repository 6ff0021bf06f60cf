"""What every reader hands on: the frame as the file has it, and how to speak of its records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import polars as pl

from ontomask.checks import did_you_mean
from ontomask.data.files.formats import FileFormat
from ontomask.errors import DataError
from ontomask.wording import enumerated, quoted

__all__ = ["Loaded", "check_columns", "check_names", "with_missing"]

NumbersOfRecords = Sequence[int]


@dataclass(frozen=True, eq=False)
class Loaded:
    """A frame before kinds are applied; `places` says in which lines or rows some records are."""

    frame: pl.DataFrame
    format: FileFormat
    notes: tuple[str, ...]
    places: Callable[[NumbersOfRecords], str]


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
    """Make the texts that mean a missing value missing."""
    if not missing:
        return frame
    return frame.with_columns(pl.col(pl.String).replace(dict.fromkeys(missing)))
