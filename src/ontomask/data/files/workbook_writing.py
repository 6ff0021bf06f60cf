"""One Excel sheet with a header; texts are texts, whatever they begin with."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from ontomask.data.files.formats import FileFormat
from ontomask.errors import DataError
from ontomask.extras import optional
from ontomask.wording import quoted

__all__ = ["workbook_content"]

WRITTEN = (".xlsx",)
MAX_ROWS, MAX_COLUMNS, MAX_TEXT = 1_048_576, 16_384, 32_767
CREATED = datetime.datetime(2000, 1, 1)
"""The date in every workbook, so that the same table gives the same bytes."""

EXACT = 10**15
"""Excel keeps 15 digits; longer whole numbers are written as text."""


def workbook_content(frame: pl.DataFrame, how: FileFormat, path: Path) -> bytes:
    """Return an .xlsx workbook with the frame on its only sheet; missing values are empty cells."""
    library = optional("xlsxwriter")
    _check_fits(frame, path)
    buffer = io.BytesIO()
    book = library.Workbook(buffer, {"in_memory": True})
    book.set_properties({"created": CREATED})
    try:
        sheet = book.add_worksheet(how.sheet or "Sheet1")
    except library.exceptions.XlsxWriterException as error:
        raise DataError(f"The sheet cannot be named {how.sheet!r}: {error}.") from None
    styles = _styles(book)
    for place, column in enumerate(frame.get_columns()):
        sheet.write_string(0, place, column.name)
        _write(sheet, place, column, styles)
    book.close()
    return buffer.getvalue()


def _styles(book: Any) -> dict[str, Any]:
    formats = {"Date": "yyyy-mm-dd", "Datetime": "yyyy-mm-dd hh:mm:ss", "Time": "hh:mm:ss"}
    return {name: book.add_format({"num_format": shown}) for name, shown in formats.items()}


def _write(sheet: Any, place: int, column: pl.Series, styles: dict[str, Any]) -> None:
    write, style = _writer(sheet, column), styles.get(str(column.dtype.base_type()))
    for row, value in enumerate(column, start=1):
        if value is not None:
            write(row, place, value, style)


def _writer(sheet: Any, column: pl.Series) -> Callable[..., Any]:
    kind = column.dtype
    if kind.is_numeric():
        return _numbers(sheet)
    if kind == pl.Boolean:
        writer: Callable[..., Any] = sheet.write_boolean
    elif kind.is_temporal() and kind != pl.Duration and not getattr(kind, "time_zone", None):
        writer = sheet.write_datetime
    elif kind in (pl.String, pl.Null):
        writer = sheet.write_string
    else:
        raise DataError(
            f"Column {column.name!r} holds values of the type {kind}, which an Excel sheet cannot; "
            "leave it out, or write Parquet."
        )
    return writer


def _numbers(sheet: Any) -> Callable[..., Any]:
    def write(row: int, place: int, value: Any, style: Any) -> None:
        if isinstance(value, int) and abs(value) >= EXACT:
            sheet.write_string(row, place, str(value), style)
        else:
            sheet.write_number(row, place, value, style)

    return write


def _check_fits(frame: pl.DataFrame, path: Path) -> None:
    if path.suffix.lower() not in WRITTEN:
        raise DataError(f"{str(path)!r}: workbooks are written as .xlsx only; name it so.")
    if frame.height >= MAX_ROWS or frame.width > MAX_COLUMNS:
        raise DataError(
            f"An Excel sheet holds {MAX_ROWS - 1} records and {MAX_COLUMNS} columns at most, and "
            f"the table has {frame.height} and {frame.width}; write CSV or Parquet."
        )
    texts = [column for column in frame.get_columns() if column.dtype == pl.String]
    long = [one.name for one in texts if (one.str.len_chars() > MAX_TEXT).any()]
    if long:
        raise DataError(
            f"Texts in {quoted(long)} have more than {MAX_TEXT} characters, which an Excel cell "
            "cannot hold; write CSV or Parquet."
        )
