"""Excel workbooks: one sheet with its header in the first row that is not empty."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from ontomask.checks import did_you_mean
from ontomask.data.files.formats import FileFormat
from ontomask.data.files.headers import (
    doubt_about,
    numbered_names,
    refuse_record,
    sampled_places,
)
from ontomask.data.files.kinds import dates_if_possible, whole_if_possible
from ontomask.data.files.loaded import Loaded, Top, check_columns, check_names, with_missing
from ontomask.data.files.opening import check_archive
from ontomask.errors import DataError
from ontomask.extras import optional
from ontomask.wording import left_out, option, quoted

__all__ = ["read_workbook", "workbook_top"]

HEADER_WITHIN = 100

# A column without values is logged as a warning, which Python would print if nobody listens.
logging.getLogger("fastexcel").addHandler(logging.NullHandler())


def read_workbook(
    path: Path,
    how: FileFormat,
    columns: Sequence[str] | None,
    shown: str,
) -> Loaded:
    """Read a sheet: cells have types there; whole numbers and dates are recognized as such."""
    with _opened(path, shown) as book:
        return _read(book, how, columns, shown)


@contextmanager
def _opened(path: Path, shown: str) -> Iterator[Any]:
    """Lend a workbook, and say what is wrong with it if it cannot be read."""
    library = optional("fastexcel")
    check_archive(path, shown)
    try:
        yield library.read_excel(path.read_bytes())
    except library.FastExcelError:
        raise DataError(
            f"{shown} cannot be read as an Excel workbook; it is damaged or protected by a "
            "password. Save it anew without one."
        ) from None


def workbook_top(path: Path, how: FileFormat, shown: str) -> Top:
    """The first rows of a sheet that are not empty."""
    with _opened(path, shown) as book:
        sheet = _chosen(list(book.sheet_names), how.sheet, shown)
        top = _rows(book, sheet, 0, n_rows=HEADER_WITHIN, dtypes="string")
    rows = ((place + 1, tuple(cell or "" for cell in top.row(place))) for place in _filled(top))
    return Top(tuple(rows))


def _read(book: Any, how: FileFormat, columns: Sequence[str] | None, shown: str) -> Loaded:
    sheets = list(book.sheet_names)
    sheet = _chosen(sheets, how.sheet, shown)
    header = _header_row(book, sheet, how.header, shown)
    whole, names = _body(book, sheet, header)
    doubts = _doubts(whole, names, header, shown) if how.header is None else ()
    check_names(names, shown)
    filled = _filled(whole)
    kept = _unskipped(filled, header, how.skip, shown)
    if how.skip and kept:  # without the rows that are no records the types of columns are clear
        extent = {"n_rows": kept[-1] - kept[0] + 1}
        whole, names = _body(book, sheet, header, kept[0], **extent)
    whole.columns = names
    frame = _selected(whole, columns, shown)
    first = kept[0] if how.skip and kept else 0
    return Loaded(
        _typed(frame[[place - first for place in kept]], how.missing),
        replace(how, format="excel", sheet=sheet),
        (*doubts, *_notes(sheets, sheet, how, len(frame) - len(filled) if not how.skip else 0)),
        "row",
        lambda found: [kept[one] + header + 2 for one in found],
    )


def _unskipped(filled: list[int], header: int, skip: Sequence[int], shown: str) -> list[int]:
    """The places of the rows that are records, counted from the first row below the header."""
    from_end = dict(enumerate(reversed(filled), start=1))
    asked = [row - header - 2 if row > 0 else from_end.get(-row, -1) for row in skip]
    if set(asked) - set(filled):
        raise DataError(
            f"skip names a row of {shown} that is no record below the header; count the rows as "
            "the spreadsheet does, or from the end: -1 is the last record."
        )
    return [place for place in filled if place not in asked]


def _chosen(sheets: list[str], asked: str | None, shown: str) -> str:
    if asked is None and sheets:
        return sheets[0]
    if asked in sheets:
        return asked
    raise DataError(
        f"{shown} has no sheet {asked!r}; it has {quoted(sheets)}.{did_you_mean(asked, sheets)}"
    )


def _header_row(book: Any, sheet: str, asked: int | None, shown: str) -> int:
    height = book.load_sheet(sheet, header_row=None, n_rows=0).total_height
    if asked is not None and asked > height:
        raise DataError(f"header names row {asked} of {shown}, where the sheet has {height} only.")
    if asked is not None:
        return asked - 1
    top = _rows(book, sheet, 0, n_rows=HEADER_WITHIN, dtypes="string")
    filled = _filled(top)
    if not filled:
        raise DataError(
            f"The sheet {sheet!r} of {shown} is empty; a table needs a header with the columns' "
            "names. Move the table to the top of its sheet, or say another sheet "
            f"({option('sheet', 'NAME')})."
        )
    return filled[0]


def _body(
    book: Any, sheet: str, header: int, first: int = 0, **extent: int
) -> tuple[pl.DataFrame, list[str]]:
    """Load the rows below the header, and its names, without columns that are wholly empty."""
    frame = _rows(book, sheet, header + 1 + first, schema_sample_rows=None, **extent)
    if header < 0:
        found: Sequence[str | None] = [None] * frame.width
    else:
        found = _rows(book, sheet, header, n_rows=1, dtypes="string").row(0)
    if not frame.width:  # nothing below the header
        frame = pl.DataFrame(
            {str(place): pl.Series([], dtype=pl.String) for place in range(len(found))}
        )
    used = [
        place
        for place, column in enumerate(frame.get_columns())
        if found[place] is not None or column.null_count() < len(column)
    ]
    names = numbered_names(len(used)) if header < 0 else [found[place] or "" for place in used]
    return frame[:, used], names


def _doubts(body: pl.DataFrame, names: Sequence[str], header: int, shown: str) -> tuple[str, ...]:
    """What is doubtful about the names of columns; refused if they are a record."""
    known = body[_filled(body)]
    sample = known[sampled_places(known.height, known.width)]
    whole = sample.select([whole_if_possible(one) for one in sample.get_columns()])
    texts = whole.select(pl.all().cast(pl.String).fill_null("")) if known.width else whole
    doubt = doubt_about(names, texts.rows())
    refuse_record(doubt, shown, header + 1, "row")
    return (doubt.note,) if doubt else ()


def _rows(book: Any, sheet: str, skipped: int, **options: Any) -> pl.DataFrame:
    return pl.DataFrame(book.load_sheet(sheet, header_row=None, skip_rows=skipped, **options))


def _selected(frame: pl.DataFrame, columns: Sequence[str] | None, shown: str) -> pl.DataFrame:
    check_columns(columns or (), frame.columns, shown)
    return frame.select(columns or frame.columns)


def _filled(frame: pl.DataFrame) -> list[int]:
    """Return the numbers of the rows that are not empty."""
    if not frame.width:
        return []
    filled = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
    return filled.arg_true().to_list()


def _typed(frame: pl.DataFrame, missing: Sequence[str]) -> pl.DataFrame:
    known = with_missing(frame, missing)
    return known.with_columns(
        [dates_if_possible(whole_if_possible(column)) for column in known.get_columns()]
    )


def _notes(
    sheets: list[str],
    sheet: str,
    how: FileFormat,
    empty: int,
) -> tuple[str, ...]:
    notes = []
    if how.sheet is None and len(sheets) > 1:
        notes.append(f"The first of the sheets {quoted(sheets)} was read: {sheet!r}.")
    if empty:
        notes.append(left_out(empty, "empty row"))
    return tuple(notes)
