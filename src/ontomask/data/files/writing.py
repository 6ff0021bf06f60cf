"""Writing a Polars frame to a table file; the same frame gives the same bytes."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import narwhals as nw
import polars as pl

from ontomask.checks import AnyOf, Flag, Null, Typed, check
from ontomask.data.file_names import PACKED, format_of_name
from ontomask.data.files.formats import FileFormat, unknown_name
from ontomask.data.files.opening import reported
from ontomask.data.files.survey_writing import survey_content
from ontomask.data.files.workbook_writing import workbook_content
from ontomask.errors import DataError
from ontomask.wording import quoted
from ontomask.writing import replacing

__all__ = ["with_formulas_escaped", "write_file"]

EXECUTED = r"^[\t\r\n]|^[\s\"]*[=+\-@＝＋－＠]"
"""A spreadsheet may take such a cell for a formula (OWASP, CSV injection)."""

EXECUTED_INSIDE = r"([,;|\t\r\n][\s\"]*)([=+\-@＝＋－＠])"
"""One that expects another separator takes the rest of such a cell for a cell of its own."""

PACKERS: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": lambda content: gzip.compress(content, mtime=0),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


def write_file(
    frame: object,
    path: str | os.PathLike[str],
    format: FileFormat | None = None,  # noqa: A002 - what a user calls it
    *,
    escape_formulas: bool = False,
) -> None:
    """Write a frame to a file whose format is told by its name, or else by `format`.

    CSV is written with the separator, quotation mark, decimal mark and encoding of `format` (a
    comma and UTF-8 where it says nothing), line feeds, dates as 2024-01-31, and the first of the
    texts in `missing` for missing values; names ending in .gz, .bz2, .xz or .zst are packed.
    A run of a plan says no encoding, so its release is UTF-8 without a byte-order mark, whatever
    the encoding of its input.
    Numbers are written in their shortest form: what was read from 1.50 comes out as 1.5. SPSS and
    Stata files hold the values themselves, without value labels.

    Parameters
    ----------
    frame
        A Polars frame, or any other that Narwhals knows.
    path
        Where to write; an existing file is replaced.
    format
        How to write, for instance `Source.format` to write like the input.
    escape_formulas
        Put an apostrophe before texts (also names of columns) that begin with ``= + - @``, a tab or
        a line end, which a spreadsheet may execute; in CSV also inside of texts where ``= + - @``
        follows a comma, semicolon, bar, tab or line end, at which a spreadsheet may divide them.
        Numbers are left alone, and so are Parquet, SPSS and Stata files, which no spreadsheet
        executes.

    Raises
    ------
    DataError
        If the file cannot be written, or cannot hold the frame.
    DependencyError
        If the format needs a package that is not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> frame = pl.DataFrame({"zip": ["08001", "25003"], "charge": [12.5, 8.25]})
    >>> om.files.write_file(frame, "release.csv", om.files.FileFormat(separator=";", decimal=","))
    >>> print(Path("release.csv").read_text(encoding="utf-8"), end="")
    zip;charge
    08001;12,5
    25003;8,25
    >>> Path("release.csv").unlink()
    """
    check("escape_formulas", escape_formulas, Flag())
    check("format", format, AnyOf(Typed(FileFormat, "a FileFormat"), Null()))
    place = Path(path)
    how = _filled(format or FileFormat(), place)
    plain = _plain(_polars(frame))
    if not plain.width:
        raise DataError("The table has no columns, so there is nothing to write.")
    if escape_formulas and how.format in ("csv", "excel"):
        plain = _escaped(plain, how)
    content = WRITERS[how.format or "csv"](plain, how, place)
    with reported(str(path)):
        _check_folder(place)
        with replacing(place) as stream:
            stream.write(content)


def _filled(how: FileFormat, path: Path) -> FileFormat:
    """Decide what is open; the name goes first, so that a CSV table can be released as Parquet."""
    name = format_of_name(path) or how.format
    if name is None:
        raise unknown_name(str(path))
    tabs = ".tsv" in (suffix.lower() for suffix in path.suffixes[-2:])
    separator = how.separator or ("\t" if tabs else ",")
    return replace(how, format=name, separator=separator)


def _polars(frame: object) -> pl.DataFrame:
    if isinstance(frame, pl.DataFrame):
        return frame
    try:
        return nw.from_native(frame, eager_only=True).to_polars()  # type: ignore[call-overload,no-any-return]
    except TypeError:
        raise DataError(
            f"A table must be a Polars, pandas or PyArrow data frame, not {type(frame).__name__}."
        ) from None


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Make categories texts, and not-a-number missing."""
    categories = [name for name, kind in frame.schema.items() if kind in (pl.Categorical, pl.Enum)]
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    return frame.with_columns(pl.col(categories).cast(pl.String), pl.col(floats).fill_nan(None))


def _escaped(frame: pl.DataFrame, how: FileFormat) -> pl.DataFrame:
    escaped = frame.with_columns(_harmless(pl.col(pl.String), how).name.keep())
    names = pl.select(_harmless(pl.lit(pl.Series(frame.columns)), how)).to_series().to_list()
    if len(set(names)) < len(names):
        double = [name for name, count in Counter(names).items() if count > 1]
        raise DataError(
            f"With an apostrophe before formulas two columns would be called {quoted(double)}; "
            "rename one of them."
        )
    escaped.columns = names
    return escaped


def _harmless(texts: pl.Expr, how: FileFormat) -> pl.Expr:
    inside = texts.str.replace_all(EXECUTED_INSIDE, "${1}'${2}") if how.format == "csv" else texts
    return pl.when(texts.str.contains(EXECUTED)).then("'" + inside).otherwise(inside)


def with_formulas_escaped(frame: object, path: str | os.PathLike[str]) -> pl.DataFrame:
    """What `write_file` would write with `escape_formulas`, to compare a written file with."""
    how = _filled(FileFormat(), Path(path))
    plain = _plain(_polars(frame))
    if not plain.width:
        raise DataError("The table has no columns, so there is nothing to write.")
    return _escaped(plain, how) if how.format in ("csv", "excel") else plain


def _check_folder(path: Path) -> None:
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder; give the name of a file to write.")
    if not path.parent.is_dir():
        raise DataError(f"There is no folder {str(path.parent)!r} to write to; make it first.")


def _csv(frame: pl.DataFrame, how: FileFormat, path: Path) -> bytes:
    packing, encoding = PACKED.get(path.suffix.lower()), how.encoding or "utf-8"
    if packing != "zstd":
        content = _encoded(_separated(frame, how), encoding, path)
        return PACKERS[packing](content) if packing else content
    if codecs.lookup(encoding).name != "utf-8":
        raise DataError(
            f"{str(path)!r} can be written in UTF-8 only, not in {encoding}; name it .gz, "
            "or say encoding='utf-8'."
        )
    return _separated(frame, how, "zstd")


def _separated(
    frame: pl.DataFrame,
    how: FileFormat,
    compression: Literal["uncompressed", "zstd"] = "uncompressed",
) -> bytes:
    _check_unquoted(frame, how)
    buffer = io.BytesIO()
    try:
        frame.write_csv(
            buffer,
            compression=compression,
            separator=how.separator or ",",
            quote_char=how.quote_mark or '"',
            quote_style="never" if how.quote_mark is None else "necessary",
            decimal_comma=how.decimal == ",",
            datetime_format="%Y-%m-%dT%H:%M:%S%.f",
            null_value=_missing_text(frame, how),
        )
    except pl.exceptions.PolarsError as error:
        raise DataError(
            f"The table cannot be written as CSV ({str(error).splitlines()[0]}); leave out the "
            "column, or write Parquet."
        ) from None
    return buffer.getvalue()


def _missing_text(frame: pl.DataFrame, how: FileFormat) -> str:
    """Write what means missing; a lone empty field is quoted, or it would be a blank line."""
    text, quote = next(iter(how.missing), ""), how.quote_mark
    special = bool(set(text) & {how.separator or ",", "\n"}) or (not text and frame.width == 1)
    return f"{quote}{text}{quote}" if quote and special else text


def _check_unquoted(frame: pl.DataFrame, how: FileFormat) -> None:
    """Without quotation marks no text may hold a separator or a line end."""
    if how.quote_mark is not None:
        return
    special = rf"[\r\n{how.separator or ','}]"
    texts = [column for column in frame.get_columns() if column.dtype == pl.String]
    holding = [column.name for column in texts if column.str.contains(special).any()]
    if holding:
        raise DataError(
            f"Texts in {quoted(holding)} hold separators or line ends and cannot be written "
            "without quotation marks; say quote='\"'."
        )


def _encoded(content: bytes, encoding: str, path: Path) -> bytes:
    if codecs.lookup(encoding).name == "utf-8":
        return content
    try:
        return content.decode().encode(encoding)
    except UnicodeEncodeError:
        raise DataError(
            f"{str(path)!r} cannot be written in {encoding}, which lacks some of the characters; "
            "say encoding='utf-8'."
        ) from None


def _parquet(frame: pl.DataFrame, _format: FileFormat, _path: Path) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


WRITERS: Mapping[str, Callable[[pl.DataFrame, FileFormat, Path], bytes]] = {
    "csv": _csv,
    "parquet": _parquet,
    "excel": workbook_content,
    "spss": survey_content,
    "stata": survey_content,
}
