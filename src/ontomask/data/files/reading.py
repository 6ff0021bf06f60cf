"""Reading a table file, whatever its format, into a Polars frame."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from ontomask.brevity import Brief
from ontomask.checks import AnyOf, Choice, ListOf, Null, Text, Typed, check, composed
from ontomask.data.files.encodings import guessed_encoding, mixed_encodings
from ontomask.data.files.formats import FileFormat, recognized
from ontomask.data.files.kinds import check_kinds, only_with_comma, with_kinds
from ontomask.data.files.loaded import Loaded, Top, check_columns, check_names, with_readings
from ontomask.data.files.numbers import pointed, to_numbers
from ontomask.data.files.opening import existing, file_digest, reported, unpacked
from ontomask.data.files.separated import read_separated, separated_top
from ontomask.data.files.survey import read_survey
from ontomask.data.files.workbooks import read_workbook, workbook_top
from ontomask.data.libraries import Framed
from ontomask.errors import DataError
from ontomask.wording import option, quoted

__all__ = [
    "GUESSABLE",
    "Source",
    "as_declared",
    "as_texts",
    "read_file",
    "read_texts",
    "read_top",
    "with_numbers",
]

GUESSABLE = ("encoding", "decimal")
"""What `read_file` can guess, though only a person knows."""

ROWS = ("csv", "excel")
"""Formats in which rows can be named."""

Reader = Callable[[Path, FileFormat, Sequence[str] | None, str], Loaded]


@dataclass(frozen=True, eq=False)
class Source(Brief, Framed):
    """A table that was read from a file.

    Attributes
    ----------
    frame
        The records, as a Polars frame.
    format
        How the file is written, with everything filled in that was found out.
    sha256
        The digest of the file's bytes.
    notes
        What was guessed or left out, in sentences.
    guessed
        What of `format` has to be said to read the file so again, with the sentence on the guess.
    numbers
        Tells the lines or rows of the file that some records stand in.
    repeated
        The identifiers of which several records have the same, where somebody has looked.
    """

    frame: pl.DataFrame
    format: FileFormat
    sha256: str
    notes: tuple[str, ...]
    guessed: Mapping[str, str] = field(default_factory=dict)
    numbers: Callable[[Sequence[int]], list[int]] = list
    repeated: tuple[str, ...] | None = None

    @property
    def rows(self) -> int:
        """The number of records."""
        return self.frame.height

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(self.frame.columns)


def read_file(
    path: str | os.PathLike[str],
    format: FileFormat | None = None,  # noqa: A002 - what a user calls it
    *,
    kinds: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    guess: Sequence[str] = (),
) -> Source:
    """Read a table file; codes keep their zeros.

    All cells of a CSV file are read as text. Columns of the kinds `numeric` and `weight` then
    become numbers: whole ones (Int64) if all are written as whole numbers, else Float64. The other
    kinds stay text, dates too (the schema knows their format). In an Excel, SPSS or Stata file,
    which has types of its own, numbers become text where the kind is not one of numbers; in a
    Parquet file types stay as they are, except that texts of numeric columns become numbers.

    A column without a kind is taken for numbers if every value looks like one, none has a leading
    zero and the column is not written like codes (see `ontomask.data.files.numbers`).

    Parameters
    ----------
    path
        The file.
    format
        How it is written, as far as it cannot be found out from the file.
    kinds
        The kinds of columns, as in a schema: `numeric`, `weight`, `nominal`, `flat`, `ordinal`,
        `date`, `identifier`.
    columns
        The columns to read, in this order; all if it is not given.
    guess
        What may be guessed of a CSV file where nothing says it, for a first look at a table:
        `encoding` (cp1252 for a text that is not UTF-8) and `decimal` (a comma where columns are
        numbers only with it and fields end otherwise). `Source.guessed` says what was.

    Raises
    ------
    DataError
        If the file cannot be read or holds something else than declared; values are never shown.
    ParameterError
        If a kind is unknown.
    DependencyError
        If the format needs a package that is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> frame = pl.DataFrame({"zip": ["08001"], "age": [34]})
    >>> with TemporaryDirectory() as folder:
    ...     om.files.write_file(frame, f"{folder}/people.csv")
    ...     kinds = {"zip": "flat", "age": "numeric"}
    ...     source = om.files.read_file(f"{folder}/people.csv", kinds=kinds)
    >>> source.frame.to_dict(as_series=False)
    {'zip': ['08001'], 'age': [34]}
    >>> source.format.separator, source.format.encoding
    (',', 'utf-8')
    """
    check("format", format, AnyOf(Typed(FileFormat, "a FileFormat"), Null()))
    check("columns", columns, AnyOf(ListOf(Text(), empty=False), Null()))
    check("guess", guess, ListOf(Choice(*GUESSABLE)))
    check_kinds(kinds or {})
    shown = str(path)
    with reported(shown):
        place = existing(Path(path))
        asked, notes = _with_format(place, format or FileFormat(), shown)
        chosen = None if columns is None else list(dict.fromkeys(columns))
        asked, guessed = _with_encoding(place, asked, shown) if "encoding" in guess else (asked, {})
        loaded = _loaded(place, asked, chosen, shown)
        declared = _as_written(kinds or {}, loaded.frame.columns)
        _check_declared(declared, loaded, columns, shown)
        if "decimal" in guess:
            loaded, more_guessed = _with_decimal(loaded, declared)
            guessed |= more_guessed
        frame, more = with_kinds(loaded, declared)
        empty = () if frame.height else (f"{shown} has a header but no records.",)
        doubts = _encoding_doubts(place, format or FileFormat(), shown)
        notes = (*notes, *guessed.values(), *doubts, *loaded.notes, *more, *empty)
        digest = file_digest(path)
        return Source(frame, loaded.format, digest, notes, guessed, loaded.numbers)


def as_declared(
    frame: pl.DataFrame, how: FileFormat, kinds: Mapping[str, str], shown: str
) -> Source:
    """A frame that has types of its own, as what is said of its columns asks for.

    Parameters
    ----------
    frame
        What a database answered, for instance.
    how
        What is said of the values of single columns.
    kinds
        The kinds of the columns.
    shown
        What to call the frame.
    """
    check_kinds(kinds)
    check_names(frame.columns, shown)
    loaded = with_readings(Loaded(frame, how), shown)
    declared = _as_written(kinds, frame.columns)
    _check_declared(declared, loaded, None, shown)
    typed, notes = with_kinds(loaded, declared)
    return Source(typed, how, "", (*loaded.notes, *notes))


def with_numbers(frame: pl.DataFrame, how: FileFormat, name: str) -> pl.DataFrame:
    """A frame that was read without kinds, with a column of texts as numbers, as by its kind.

    Raises
    ------
    DataError
        If some of its texts are none.
    """
    column = frame[name]
    if column.dtype != pl.String:
        return frame
    return frame.with_columns(to_numbers(column, how, Loaded(frame, how).places))


def read_top(path: str | os.PathLike[str], how: FileFormat) -> Top:
    """The first rows of a CSV or Excel file as they are, for a look at where its table begins."""
    shown = str(path)
    with reported(shown):
        place = existing(Path(path))
        asked, _ = _with_format(place, how, shown)
        asked, _ = _with_encoding(place, asked, shown)
        read = {"csv": separated_top, "excel": workbook_top}.get(asked.format or "")
        return read(place, asked, shown) if read else Top(())


def read_texts(
    path: str | os.PathLike[str], how: FileFormat, numbers: Sequence[str] = ()
) -> pl.DataFrame:
    """Read all cells of a file as the texts that a reader sees, missing values as empty ones.

    The columns `numbers` are written in one way, so that 1.50 and 1,5 can be compared.
    """
    shown = str(path)
    with reported(shown):
        place = existing(Path(path))
        asked, _ = _with_format(place, replace(how, missing=()), shown)
        frame = _loaded(place, asked, None, shown).frame
    return as_texts(frame, how, numbers)


def as_texts(frame: pl.DataFrame, how: FileFormat, numbers: Sequence[str] = ()) -> pl.DataFrame:
    """All cells as the texts that a reader sees, as `read_texts` gives those of a file."""
    texts = frame.select(pl.all().cast(pl.String).fill_null(""))
    plain = [_one_way(texts[name], how) for name in numbers if name in texts.columns]
    return texts.with_columns(plain)


def _loaded(path: Path, how: FileFormat, columns: Sequence[str] | None, shown: str) -> Loaded:
    if how.format not in ROWS and (how.header not in (None, 1) or how.skip):
        raise DataError(
            f"header and skip are for CSV and Excel files, and {shown} is none; leave them out."
        )
    return with_readings(READERS[how.format or "csv"](path, how, columns, shown), shown, columns)


def _one_way(texts: pl.Series, how: FileFormat) -> pl.Series:
    """Numbers as texts in their shortest form; what is none stays, a gap is empty."""
    numbers = pointed(texts.str.strip_chars(), how).cast(pl.Float64, strict=False).cast(pl.String)
    gaps = texts.is_in([*how.missing, ""])
    return numbers.fill_null(texts).set(gaps, "").alias(texts.name)


def _with_format(
    path: Path,
    how: FileFormat,
    shown: str,
) -> tuple[FileFormat, tuple[str, ...]]:
    if how.format is not None:
        return how, ()
    name, notes = recognized(path, shown)
    return replace(how, format=name), notes


def _with_encoding(path: Path, how: FileFormat, shown: str) -> tuple[FileFormat, dict[str, str]]:
    """Take a text that is not UTF-8 for what most of such texts are."""
    if how.format != "csv" or how.encoding is not None:
        return how, {}
    content = unpacked(path.read_bytes(), shown)
    encoding = guessed_encoding(content)
    if encoding is not None and (mixed := mixed_encodings(content)):
        raise DataError(
            f"{shown} is {mixed}; two files were probably joined. Save both in the same encoding "
            "and join them again, or say the encoding of most of it "
            f"({option('encoding', encoding)})."
        )
    if encoding is None:
        return how, {}
    note = (
        f"{shown} is not UTF-8 text and was read as {encoding} (Windows); if letters such as ä or "
        "é come out wrong, say its encoding."
    )
    return replace(how, encoding=encoding), {"encoding": note}


def _encoding_doubts(path: Path, how: FileFormat, shown: str) -> tuple[str, ...]:
    """Say so if a text that is said not to be UTF-8 partly is."""
    if how.encoding is None or codecs.lookup(how.encoding).name not in ("cp1252", "iso8859-1"):
        return ()
    mixed = mixed_encodings(unpacked(path.read_bytes(), shown))
    return (f"{shown} seems to be {mixed}; letters in some lines will be wrong.",) if mixed else ()


def _with_decimal(loaded: Loaded, kinds: Mapping[str, str]) -> tuple[Loaded, dict[str, str]]:
    """Take the comma for the decimal mark where columns are numbers only so."""
    names = only_with_comma(loaded, kinds)
    if not names:
        return loaded, {}
    note = f"The comma was taken for the decimal mark; only so are numbers: {quoted(names)}."
    return replace(loaded, format=replace(loaded.format, decimal=",")), {"decimal": note}


def _as_written(kinds: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Kinds by the names as the file has them: accents may be composed or separate there."""
    written = {composed(name): name for name in names}
    return {written.get(composed(name), name): kind for name, kind in kinds.items()}


def _check_declared(
    kinds: Mapping[str, str], loaded: Loaded, columns: Sequence[str] | None, shown: str
) -> None:
    """Only where all columns were read is it known that a declared one is not there."""
    if columns is None:
        check_columns(kinds, loaded.frame.columns, shown)


def _read_parquet(
    path: Path,
    how: FileFormat,
    columns: Sequence[str] | None,
    shown: str,
) -> Loaded:
    try:
        # an open file, since Polars would take a name with an asterisk for many files
        with path.open("rb") as stream:
            names = list(pl.read_parquet_schema(stream))
            check_names(names, shown)
            check_columns(columns or (), names, shown)
            stream.seek(0)
            frame = pl.read_parquet(stream, columns=list(columns or names))
    except pl.exceptions.PolarsError:
        raise DataError(
            f"{shown} cannot be read as a Parquet file; it is damaged or incomplete. Fetch or "
            "write it again."
        ) from None
    return Loaded(frame, how)


READERS: Mapping[str, Reader] = {
    "csv": read_separated,
    "parquet": _read_parquet,
    "excel": read_workbook,
    "spss": read_survey,
    "stata": read_survey,
}
