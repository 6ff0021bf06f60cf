"""A first look at a file of which nobody has said how it is to be read.

What is probably odd (a title above the header, a row of units or totals, codes for missing values,
texts that stand for numbers, marks of thousands) is guessed here, so that a plan can say it and a
person can correct it. What is said already is not guessed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from ontomask.data.files.formats import FileFormat
from ontomask.data.files.headers import doubt_about, refuse_record
from ontomask.data.files.loaded import Top
from ontomask.data.files.oddities import (
    HEADER_AGAIN,
    OddValues,
    likely_header,
    odd_rows,
    odd_values,
    thousands_mark,
)
from ontomask.data.files.reading import GUESSABLE, Source, read_file, read_top
from ontomask.wording import enumerated, quoted

__all__ = ["first_look"]

Guesses = dict[str, tuple[Any, str]]
"""What to say of a file, by name, each with the sentence on it."""

NOTES = "What stands below the table seems to be notes."


def first_look(
    path: str | os.PathLike[str],
    how: FileFormat | None = None,
    guess: Sequence[str] = GUESSABLE,
) -> Source:
    """Read a file as it is probably meant; `Source.guessed` says what was guessed.

    Parameters
    ----------
    path
        The file.
    how
        What is known of it already: that is not guessed.
    guess
        Whether encoding and decimal mark may be guessed, as in `read_file`.
    """
    asked = how or FileFormat()
    top = read_top(path, asked)
    guesses = _around(top, asked, str(path))
    source = read_file(path, _saying(asked, guesses), guess=guess)
    rows = [] if asked.skip else odd_rows(source.frame, source.format)
    guesses |= _skipping(source, rows, guesses)
    guesses |= _named(top, _saying(asked, guesses))
    left_out = {place for place, _ in rows}
    kept = [place for place in range(source.rows) if place not in left_out]
    guesses |= _values(source.frame[kept] if rows else source.frame, source.format, asked)
    if not guesses:
        return source
    sentences = {name: sentence for name, (_, sentence) in guesses.items()}
    again = read_file(path, _saying(asked, guesses), guess=guess)
    return replace(
        again, guessed={**again.guessed, **sentences}, notes=(*sentences.values(), *again.notes)
    )


def _saying(how: FileFormat, guesses: Guesses) -> FileFormat:
    return replace(how, **{name: value for name, (value, _) in guesses.items()})


def _around(top: Top, how: FileFormat, shown: str) -> Guesses:
    """Where the table begins, and what stands loosely below it."""
    guesses: Guesses = {}
    rows = [cells for _, cells in top.rows]
    header = likely_header(rows) if how.header is None else 0
    if header:
        number = top.rows[header][0]
        refuse_record(doubt_about(rows[header], rows[header + 1 :]), shown, number)
        sentence = f"The columns' names seem to be in line {number}, below a title."
        guesses["header"] = number, sentence
    if top.loose_end and not how.skip:
        guesses["skip"] = tuple(range(-top.loose_end, 0)), NOTES
    return guesses


def _named(top: Top, said: FileFormat) -> Guesses:
    """That the first line names the columns, though some of its cells look like values.

    Whether it is a record has been asked about the whole table, when it was read.
    """
    rows = [cells for _, cells in top.rows]
    doubt = doubt_about(rows[0], rows[1:]) if rows and said.header is None else None
    if doubt is None:
        return {}
    number = top.rows[0][0]
    return {"header": (number, f"Line {number} seems to name the columns; {doubt.note}")}


def _skipping(source: Source, rows: Sequence[tuple[int, str]], guesses: Guesses) -> Guesses:
    """Say which rows are no records: by their lines, but those at the end from the end."""
    if not rows:
        return {}
    below, said = guesses.get("skip", ((), ""))
    inside = [place for place, why in rows if place == 0 or why == HEADER_AGAIN]
    ends = [place - source.rows - len(below) for place, _ in rows if place not in inside]
    seen = enumerated([f"line {source.numbers([place])[0]} {why}" for place, why in rows])
    sentence = f"These seem to be no records: {seen}."
    return {
        "skip": ((*source.numbers(inside), *ends, *below), " ".join(filter(None, [sentence, said])))
    }


def _values(frame: pl.DataFrame, found: FileFormat, asked: FileFormat) -> Guesses:
    """What is odd in columns of numbers."""
    texts = [one.unique() for one in frame.get_columns() if one.dtype == pl.String]
    marks = None if asked.thousands else thousands_mark(texts, found)
    guesses: Guesses = {}
    if marks is not None:
        mark, decimal, names = marks
        only = f"only so are numbers: {quoted(names)}"
        guesses["thousands"] = mark, f"{mark!r} seems to stand between thousands; {only}."
        guesses["decimal"] = decimal, f"{decimal!r} seems to be the decimal mark; {only}."
        if decimal == FileFormat().decimal:
            del guesses["decimal"]
        found = replace(found, thousands=mark, decimal=decimal)
    if asked.missing_in or asked.read_as:
        return guesses
    plain = [one for one in frame.get_columns() if one.dtype == pl.String or one.dtype.is_numeric()]
    return guesses | _readings({one.name: odd_values(one, found) for one in plain})


def _readings(found: Mapping[str, OddValues]) -> Guesses:
    numbers = {name: one.numbers for name, one in found.items() if one.numbers}
    missing = {name: one.missing for name, one in found.items() if one.missing}
    guesses: Guesses = {}
    if numbers:
        read = enumerated([f"in {name!r} {_numbers_told(one)}" for name, one in numbers.items()])
        guesses["read_as"] = numbers, f"Texts seem to stand for numbers: {read}."
    if missing:
        taken = enumerated([f"in {name!r} {quoted(one)}" for name, one in missing.items()])
        guesses["missing_in"] = missing, f"Codes seem to stand for missing values: {taken}."
    return guesses


def _numbers_told(numbers: Mapping[str, float]) -> str:
    return enumerated([f"{text!r} for {number:g}" for text, number in numbers.items()])
