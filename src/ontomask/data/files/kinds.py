"""Giving every column the type that its declared kind, or else its look, asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import polars as pl

from ontomask.checks import Choice, check
from ontomask.data.files.loaded import Loaded
from ontomask.data.files.numbers import (
    looks_numeric,
    to_numbers,
    would_be_numeric,
    written_like_codes,
)
from ontomask.errors import DataError
from ontomask.wording import option, quoted

__all__ = [
    "KINDS",
    "NUMBERS",
    "check_kinds",
    "dates_if_possible",
    "only_with_comma",
    "whole_if_possible",
    "with_kinds",
]

NUMBERS = ("numeric", "count", "weight")
TEXTS = ("nominal", "flat", "ordinal", "identifier", "date")
KINDS = (*NUMBERS, *TEXTS)
KEEPS_TYPES = ("parquet", None)
"""Formats that have types of their own; None is that of a database."""

LARGEST_WHOLE = 2.0**53
NAMED = 10
"""Columns that a note names; of more it tells how many."""


def check_kinds(kinds: Mapping[str, str]) -> None:
    """Kinds are those of a schema."""
    for name, kind in kinds.items():
        check(f"the kind of column {name!r}", kind, Choice(*KINDS))


def with_kinds(loaded: Loaded, kinds: Mapping[str, str]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Convert the columns of a frame; return it with notes on what was guessed or changed."""
    frame = loaded.frame
    undeclared = [name for name in frame.columns if name not in kinds]
    declared = [
        _declared(loaded, frame[name], kinds[name]) for name in frame.columns if name in kinds
    ]
    became_text = [new.name for new in declared if _was_number(frame[new.name], new)]
    frame = frame.with_columns(declared)
    notes = _codes_note(became_text)
    if loaded.format.format != "csv":
        return frame, notes
    guessed = [name for name in undeclared if _is_numeric(loaded, frame[name])]
    numbers = [_numbers(loaded, frame[name]) for name in guessed]
    texts = [frame[name] for name in undeclared if name not in guessed]
    return frame.with_columns(numbers), (*notes, *_guesses(guessed, texts, loaded.format.decimal))


def only_with_comma(loaded: Loaded, kinds: Mapping[str, str]) -> list[str]:
    """Name the columns that are numbers only if the comma is the decimal mark.

    There are none where fields end at commas, where the mark is said to be a comma already, and
    where another column is numbers only if the mark is a point.
    """
    how = loaded.format
    if how.format != "csv" or how.thousands or "," in (how.separator, how.decimal):
        return []
    frame = loaded.frame
    candidates = [frame[name] for name in frame.columns if kinds.get(name, "numeric") in NUMBERS]
    comma = replace(how, decimal=",")
    pointed = {column.name for column in candidates if looks_numeric(column, how)}
    commaed = {column.name for column in candidates if looks_numeric(column, comma)}
    if pointed - commaed:
        return []
    return [name for name in frame.columns if name in commaed - pointed]


def whole_if_possible(column: pl.Series) -> pl.Series:
    """Turn floats that are all whole into integers: Excel, SPSS and Stata know only floats."""
    if not column.dtype.is_float():
        return column
    known = column.drop_nulls()
    fits = (known == known.round()) & (known.abs() <= LARGEST_WHOLE)
    return column.cast(pl.Int64) if len(known) and fits.all() else column


def dates_if_possible(column: pl.Series) -> pl.Series:
    """Turn times that are all midnight into dates: Excel knows only times."""
    if not isinstance(column.dtype, pl.Datetime):
        return column
    known = column.drop_nulls()
    midnight = (known.dt.truncate("1d") == known).all()
    return column.dt.date() if len(known) and midnight else column


def _declared(loaded: Loaded, column: pl.Series, kind: str) -> pl.Series:
    if column.dtype.is_nested():
        raise DataError(
            f"Column {column.name!r} holds lists or tables of values, which cannot be protected; "
            "leave it out, or make columns of them."
        )
    if kind in TEXTS:
        keeps = loaded.format.format in KEEPS_TYPES or not column.dtype.is_numeric()
        return column if keeps else column.cast(pl.String)
    if column.dtype == pl.String:
        return _numbers(loaded, column)
    if column.dtype.is_numeric() or column.dtype == pl.Null:
        return column
    raise DataError(
        f"Column {column.name!r} is to hold numbers but holds values of the type {column.dtype}; "
        "declare it as a date or as flat, or save it as numbers."
    )


def _numbers(loaded: Loaded, column: pl.Series) -> pl.Series:
    return to_numbers(column, loaded.format, loaded.places)


def _is_numeric(loaded: Loaded, column: pl.Series) -> bool:
    return looks_numeric(column, loaded.format)


def _was_number(before: pl.Series, after: pl.Series) -> bool:
    return before.dtype.is_numeric() and after.dtype == pl.String


def _codes_note(names: list[str]) -> tuple[str, ...]:
    if not names:
        return ()
    return (
        f"The file holds numbers in {quoted(names)}, which became texts: codes that had zeros at "
        "their beginning or end (038, 250.00) lost them before the file was saved.",
    )


def _guesses(numbers: list[str], texts: list[pl.Series], decimal: str) -> tuple[str, ...]:
    notes = [f"Taken for numbers by their look: {quoted(numbers, NAMED)}."] if numbers else []
    coded = _names(texts, written_like_codes)
    if coded:
        notes.append(
            f"Written like codes, not like numbers, and left as text: {quoted(coded, NAMED)}."
        )
    commas = _names(texts, would_be_numeric) if decimal == "." else []
    if commas:
        notes.append(
            "With the comma as decimal mark these columns would be numbers: "
            f"{quoted(commas, NAMED)} ({option('decimal', ',')})."
        )
    return tuple(notes)


def _names(texts: list[pl.Series], test: Callable[[pl.Series], bool]) -> list[str]:
    return [column.name for column in texts if test(column)]
