"""How a table file is written down, and telling so from its name and its first bytes."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from ontomask.checks import (
    AnyOf,
    Choice,
    Declared,
    Flag,
    Integer,
    ListOf,
    Null,
    Real,
    TableOf,
    Text,
    Typed,
)
from ontomask.data.file_names import PACKED, SUFFIXES, format_of_name
from ontomask.errors import DataError, ParameterError

__all__ = [
    "SEPARATORS",
    "FileFormat",
    "recognized",
    "unknown_name",
]

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
THOUSANDS = (",", ".", "'", "’", " ", "\u00a0", "\u202f")
TITLES = {
    "csv": "a CSV text",
    "parquet": "a Parquet file",
    "excel": "an Excel workbook",
    "spss": "an SPSS file",
    "stata": "a Stata file",
}
MAGIC = {
    b"PAR1": "parquet",
    b"$FL2": "spss",
    b"$FL3": "spss",
    b"<stata_dta>": "stata",
    b"\xd0\xcf\x11\xe0": "excel",
}
ZIP = b"PK\x03\x04"
OLD_STATA = (b"\x6c", b"\x6e", b"\x6f", b"\x71", b"\x72", b"\x73")
"""Stata files before version 13 begin with the number of their version only."""


@dataclass(frozen=True)
class FileFormat(Declared):
    r"""How a table file is read or written; what is None is found out from the file itself.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> form = om.files.FileFormat(separator=";", decimal=",", missing_in={"age": ["999"]})
    >>> frame = pl.DataFrame({"age": [34, 999], "charge": [12.5, 8.25]})
    >>> with TemporaryDirectory() as folder:
    ...     om.files.write_file(frame, f"{folder}/charges.csv", form)
    ...     source = om.files.read_file(f"{folder}/charges.csv", form)
    >>> source.frame.to_dict(as_series=False)
    {'age': [34, None], 'charge': [12.5, 8.25]}
    """

    format: Annotated[
        str | None,
        AnyOf(Choice(*SUFFIXES), Null()),
        "`csv`, `parquet`, `excel`, `spss` or `stata`. If left out: told by the first bytes "
        "or the name (CSV: `.csv`, `.tsv`, `.txt`, also packed as `.gz`, `.bz2`, `.xz` or "
        "`.zst`).",
    ] = None
    separator: Annotated[
        str | None,
        AnyOf(Choice(*SEPARATORS, ":", " "), Null()),
        "What separates the fields of a CSV line: one of ``, ; \\t | :`` or a blank. If left "
        "out: the one of comma, semicolon, tab and bar that splits the first lines alike; a "
        "comma when writing.",
    ] = None
    encoding: Annotated[
        str | None,
        AnyOf(Text(), Null()),
        "The encoding of a CSV file, as Python calls it. If left out: by its byte-order mark, "
        "else UTF-8.",
    ] = None
    decimal: Annotated[str, Choice(".", ","), "The decimal mark of the numbers in a CSV file."] = (
        "."
    )
    thousands: Annotated[
        str | None,
        AnyOf(Choice(*THOUSANDS), Null()),
        "What stands between thousands in the numbers of a CSV file; left out if nothing does.",
    ] = None
    header: Annotated[
        int | None,
        AnyOf(Integer(0), Null()),
        "The line of a CSV file, or the row of a sheet, that holds the columns' names, "
        "counted from 1; what is above it is left out. 0 if there is none: columns are then "
        "called column_1, column_2 and so on. If left out: the first that is not empty, unless "
        "it looks like a record.",
    ] = None
    skip: Annotated[
        tuple[int, ...],
        ListOf(Integer()),
        "Lines or rows below the header that are no records, such as units or totals, counted "
        "as the header is, or from the end: -1 is the last record.",
    ] = ()
    quote: Annotated[
        str,
        Choice('"', "'", "none"),
        "What encloses CSV fields that hold separators or line ends; `none` if nothing does.",
    ] = '"'
    missing: Annotated[
        tuple[str, ...],
        ListOf(Typed(str, "a text")),
        "The texts that mean a missing value in CSV, Excel, SPSS and Stata files, compared "
        "exactly and whether quoted or not. The first of them is written for a missing value "
        'in CSV. With ``("",)`` the text NA is a value like any other; with ``()`` an empty '
        "field is one too.",
    ] = ("", "NA")
    missing_in: Annotated[
        Mapping[str, Sequence[str]],
        TableOf(ListOf(Text())),
        "Further texts or numbers that mean a missing value in some columns, by column: "
        '``{"age": ["999", "unk"]}``.',
    ] = field(default_factory=dict)
    read_as: Annotated[
        Mapping[str, Mapping[str, float]],
        TableOf(TableOf(Real())),
        'Texts that stand for a number, by column: ``{"age": {"90+": 90}}``.',
    ] = field(default_factory=dict)
    sheet: Annotated[
        str | None, AnyOf(Text(), Null()), "The sheet of an Excel workbook; if left out: the first."
    ] = None
    labels: Annotated[
        bool, Flag(), "Whether codes of SPSS and Stata files are replaced by their labels."
    ] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "missing", tuple(self.missing))
        object.__setattr__(self, "skip", tuple(self.skip))
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.thousands == self.decimal:
            raise ParameterError(
                f"thousands and decimal cannot both be {self.decimal!r}; say which of them it is."
            )

    @property
    def quote_mark(self) -> str | None:
        """What encloses fields, if anything does."""
        return None if self.quote == "none" else self.quote

    @property
    def dialect(self) -> FileFormat:
        """How a table of the same kind is written that has nothing odd in it."""
        return FileFormat(
            separator=self.separator,
            decimal=self.decimal,
            header=1,
            quote=self.quote,
            missing=self.missing,
            labels=self.labels,
        )


def recognized(path: Path, shown: str) -> tuple[str, tuple[str, ...]]:
    """Tell a file's format by its first bytes or else its name, with a note if they disagree."""
    by_name = format_of_name(path)
    with path.open("rb") as stream:
        by_content = _format_of_content(stream.read(16), path, shown)
    if by_content is None:
        return _trusted(by_name, path, shown), ()
    notes = (f"By its first bytes {shown} is {TITLES[by_content]}; it was read as one.",)
    return by_content, () if by_content == by_name else notes


def unknown_name(shown: str) -> DataError:
    """Make the error for a file whose name does not tell its format."""
    known = ", ".join(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
    return DataError(
        f"The name {shown!r} does not tell the file's format; known endings are {known}, and "
        f"{', '.join(PACKED)} after those of texts. Rename the file, or say its format: one of "
        f"{', '.join(SUFFIXES)}."
    )


def _trusted(by_name: str | None, path: Path, shown: str) -> str:
    if by_name is None:
        raise unknown_name(shown)
    if by_name == "csv" or path.stat().st_size == 0:
        return by_name
    raise DataError(
        f"{shown} is named like {TITLES[by_name]} but does not begin like one; fetch it again, or "
        "say which format it is in, for instance 'csv'."
    )


def _format_of_content(beginning: bytes, path: Path, shown: str) -> str | None:
    if beginning.startswith(ZIP):
        return _format_of_zip(path, shown)
    if path.suffix.lower() in SUFFIXES["stata"] and beginning.startswith(OLD_STATA):
        return "stata"
    return next((name for magic, name in MAGIC.items() if beginning.startswith(magic)), None)


def _format_of_zip(path: Path, shown: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except zipfile.BadZipFile:
        raise DataError(f"{shown} is damaged: it begins like a zip file but is none.") from None
    if names & {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}:
        return "excel"
    raise DataError(f"{shown} is a zip archive; unpack it and give the table file that is in it.")


def _check_encoding(encoding: str) -> None:
    try:
        "".encode(encoding)
    except (LookupError, ValueError):
        raise ParameterError(
            f"encoding must be a text encoding that Python knows, for instance 'utf-8', 'cp1252' "
            f"or 'latin-1', not {encoding!r}."
        ) from None
