"""CSV in all its dialects: every cell is read as text, so that no code loses its zeros."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from ontomask.arrays import Longs
from ontomask.data.files.encodings import as_utf8, encoding_of
from ontomask.data.files.formats import SEPARATORS, FileFormat
from ontomask.data.files.headers import (
    doubt_about,
    numbered_names,
    refuse_record,
    sampled_places,
)
from ontomask.data.files.loaded import Loaded, Top, check_columns, check_names, with_missing
from ontomask.data.files.opening import unpacked
from ontomask.data.files.records import Records, check_quotes, find_records, kept_text, line_start
from ontomask.errors import DataError
from ontomask.wording import left_out, option

__all__ = ["read_separated", "separated_top"]

SAMPLED = 65536
TOP = 30
FEWEST_FULL = 5
"""Below so few full records nothing is called loose."""


def read_separated(
    path: Path,
    how: FileFormat,
    columns: Sequence[str] | None,
    shown: str,
) -> Loaded:
    """Read a CSV text, packed or not, all cells as text."""
    every, separator, encoding = _split(path, how, shown)
    records = _chosen(every, how, shown)
    names, doubts = _names(records, separator, how, shown)
    check_names(names, shown)
    _check_fields(records, separator, shown)
    filled = replace(how, format="csv", separator=separator, encoding=encoding)
    frame = _parsed(records, names, columns, filled, shown)
    notes = (*doubts, *_notes(how, filled, records))
    below = 0 if how.header == 0 else 1
    return Loaded(
        frame,
        filled,
        notes,
        "line",
        lambda found: records.lines([place + below for place in found]),
    )


def separated_top(path: Path, how: FileFormat, shown: str) -> Top:
    """The first records of a CSV text, and how many at its end have too few fields."""
    records, separator, _ = _split(path, how, shown)
    first = range(min(len(records), TOP))
    cells = (tuple(_cells(records.text(one), separator, how.quote_mark)) for one in first)
    full = np.flatnonzero(records.fields >= usual_width(records.fields))
    loose = len(records) - 1 - int(full[-1]) if full.size > FEWEST_FULL else 0
    return Top(tuple(zip(records.lines(list(first)), cells, strict=True)), loose)


def _split(path: Path, how: FileFormat, shown: str) -> tuple[Records, str, str]:
    """The records of a text, what separates their fields, and its encoding."""
    content = unpacked(path.read_bytes(), shown)
    encoding = how.encoding or encoding_of(content)
    content = as_utf8(content, encoding, shown)
    if not content.strip():
        raise DataError(f"{shown} is empty; a table needs a header with the columns' names.")
    below = content[line_start(content, how.header or 1) :] or content
    separator = how.separator or _sniffed(below, how.quote_mark)
    check_quotes(content, separator, how.quote_mark, shown)
    return find_records(content, separator, how.quote_mark), separator, encoding


def _chosen(records: Records, how: FileFormat, shown: str) -> Records:
    """The header and the records below it, without those that are to be skipped."""
    if how.header is None and not how.skip:
        return records
    header = _at("header", how.header, records, shown) if how.header else _unsaid(how)
    skipped = {
        _at("skip", line, records, shown) if line > 0 else len(records) + line for line in how.skip
    }
    wrong = [one for one in skipped if not header < one < len(records)]
    if wrong:
        first = records.lines([header])[0] + 1 if header >= 0 else 1
        raise DataError(
            f"skip names a line of {shown} that is no record below the header; it may name lines "
            f"{first} to {records.lines([len(records) - 1])[0]}, or count "
            "from the end: -1 is the last record."
        )
    return records.without([*range(header), *sorted(skipped)])


def _unsaid(how: FileFormat) -> int:
    """Which record names the columns where no line is said: the first, or the one before it."""
    return -1 if how.header == 0 else 0


def _at(name: str, line: int, records: Records, shown: str) -> int:
    found = records.at_line(line)
    if found is None:
        raise DataError(
            f"{name} names line {line} of {shown}, where no record begins; count the lines of the "
            "file from 1, blank ones too."
        )
    return found


def _sniffed(content: bytes, quote: str | None) -> str:
    """Choose the separator that splits the first records most alike, then into most fields."""
    sample = content[:SAMPLED]
    if len(content) > SAMPLED:
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    scores = {}
    for separator in SEPARATORS:
        fields = find_records(sample, separator, quote).fields
        usual = usual_width(fields)
        if usual > 1:
            scores[separator] = (float(np.mean(fields == usual)), usual)
    return max(scores, key=lambda separator: scores[separator], default=",")


def usual_width(fields: Longs) -> int:
    """How many fields most records have; of equally many that of the first of them."""
    found, firsts, counts = np.unique(fields, return_index=True, return_counts=True)
    return int(found[np.lexsort((firsts, -counts))[0]])


def _names(
    records: Records, separator: str, how: FileFormat, shown: str
) -> tuple[list[str], tuple[str, ...]]:
    """The names of the columns, and what is doubtful about them if nobody has said where they are.

    Doubts come first: what is wrong with names is told with them, and nothing with values.
    """
    if how.header == 0:
        return numbered_names(int(records.fields[0])), ()
    names = _cells(records.text(0), separator, how.quote_mark)
    if how.header is not None:
        return names, ()
    places = sampled_places(len(records) - 1, len(names))
    below = [_cells(records.text(one + 1), separator, how.quote_mark) for one in places]
    doubt = doubt_about(names, below)
    refuse_record(doubt, shown, records.lines([0])[0])
    return names, (doubt.note,) if doubt else ()


def _cells(text: str, separator: str, quote: str | None) -> list[str]:
    """The cells of a record, in which quotation marks are known to open and close fields.

    Python's reader of CSV refuses cells of more than 131,072 characters.
    """
    if quote is None or quote not in text:
        return text.split(separator)
    cells: list[str] = []
    begun: list[str] = []
    inside = False
    for part in text.split(separator):
        begun.append(part)
        inside ^= part.count(quote) % 2 == 1
        if not inside:
            cells.append(_unquoted(separator.join(begun), quote))
            begun = []
    return cells


def _unquoted(cell: str, quote: str) -> str:
    return cell[1:-1].replace(quote * 2, quote) if cell.startswith(quote) else cell


def _check_fields(records: Records, separator: str, shown: str) -> None:
    width = int(records.fields[0])
    wrong = np.flatnonzero(records.fields != width)
    if not wrong.size:
        return
    found = int(records.fields[wrong[0]])
    others = f" ({wrong.size} records are so)" if wrong.size > 1 else ""
    raise DataError(
        f"{shown}, line {records.lines([int(wrong[0])])[0]}: the record has {found} field"
        f"{'s' if found > 1 else ''} where the header has {width}{others}; correct it, enclose "
        f"values that hold the separator {separator!r} in quotation marks, or say another one "
        f"({option('separator', ';' if separator == ',' else ',')})."
    )


def _parsed(
    records: Records,
    names: list[str],
    columns: Sequence[str] | None,
    how: FileFormat,
    shown: str,
) -> pl.DataFrame:
    check_columns(columns or (), names, shown)
    chosen = list(columns or names)
    places = sorted(names.index(name) for name in chosen)
    frame = pl.read_csv(
        kept_text(records),
        separator=how.separator or ",",
        quote_char=how.quote_mark,
        columns=places,
        infer_schema=False,
        has_header=how.header != 0,
    )
    if frame.shape != (len(records) - (how.header != 0), len(places)):
        raise DataError(
            f"{shown} could not be split into records and fields without doubt; save it anew as "
            "CSV with quotation marks around texts."
        )
    # an empty field is null to Polars, whatever the texts are that mean missing
    frame.columns = [names[place] for place in places]
    return with_missing(frame.select(pl.col(chosen).fill_null("")), how.missing)


def _notes(asked: FileFormat, filled: FileFormat, records: Records) -> tuple[str, ...]:
    notes = []
    if asked.separator is None:
        word = SEPARATORS[filled.separator or ","]
        if records.fields[0] == 1:
            notes.append("There is one column only.")
        elif word != "comma":
            notes.append(f"The fields end at each {word}.")
    if asked.encoding is None and filled.encoding != "utf-8":
        notes.append(f"By its first bytes the text is in {filled.encoding}.")
    if records.blank.size:
        notes.append(left_out(records.blank.size // 2, "blank line"))
    return tuple(notes)
