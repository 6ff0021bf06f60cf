"""Table files of any size, read and written by DuckDB."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from ontomask.checks import AnyOf, Declared, Integer, Null, Text, composed
from ontomask.data.file_names import format_of_name
from ontomask.data.files import FileFormat, Source, file_digest, read_file
from ontomask.data.files.headers import (
    MOST_RECORDS,
    doubt_about,
    numbered_names,
    refuse_record,
    sampled_places,
)
from ontomask.engines.databases import LOST, Answer, Database
from ontomask.errors import DataError, OutputError, ParameterError
from ontomask.extras import optional

__all__ = [
    "LargeSource",
    "Resources",
    "copied",
    "digest_of",
    "files_of",
    "in_words",
    "is_plain",
    "opened",
    "opened_paths",
    "read",
    "read_back",
    "sampled",
    "too_large",
    "too_many",
    "write",
]

NUMBERS = ("numeric", "count", "weight")
WHOLE = r"[+-]?0*\d{1,18}"
"""Longer ones may be too large for whole numbers of eight bytes."""

NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
UNPACKED = {"parquet": 40, "csv": 20}
"""How many times its size on the disk a table takes in memory while it is protected."""

SAMPLE = 100_000
"""How many records of a large table are looked at to propose a plan."""

PLAIN = {"preserve_insertion_order": False, "autoinstall_known_extensions": False}
CELL = 150
"""How many bytes a value of a database takes then."""


@dataclass(frozen=True)
class Resources(Declared):
    """What DuckDB may use."""

    memory: Annotated[
        str | None,
        AnyOf(Text(), Null()),
        "How much memory, such as `4GB`; beyond it, DuckDB writes to a temporary folder. By "
        "default 80 % of what the machine has.",
    ] = None
    threads: Annotated[
        int | None,
        AnyOf(Integer(1), Null()),
        "How many threads; by default as many as there are processors.",
    ] = None
    temporary: Annotated[
        str | None,
        AnyOf(Text(), Null()),
        "The folder in which to make the temporary one, which only its owner can read.",
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.memory is not None and not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", self.memory):
            raise ParameterError(
                f"memory must be a number with its unit, such as '4GB', not {self.memory!r}."
            )


@dataclass(frozen=True, eq=False)
class LargeSource(Source):
    """A table of any size that was opened: `frame` holds its columns and no record."""

    count: int = 0

    @property
    def rows(self) -> int:
        """The number of records."""
        return self.count

    @classmethod
    def of(cls, digest: str, how: FileFormat, relation: Any, count: int) -> LargeSource:
        """Describe what was read."""
        frame = pl.DataFrame(schema=dict.fromkeys(relation.columns, pl.String))
        return cls(frame, how, digest, (), count=count)


@contextlib.contextmanager
def opened(resources: Resources) -> Iterator[Any]:
    """A connection of DuckDB of its own; what it spills is gone afterwards."""
    with (
        in_words(),
        tempfile.TemporaryDirectory(prefix="ontomask-", dir=resources.temporary) as spill,
    ):
        chosen = {"memory_limit": resources.memory, "threads": resources.threads}
        config = {
            "temp_directory": spill,
            **PLAIN,
            **{name: value for name, value in chosen.items() if value is not None},
        }
        with optional("duckdb").connect(config=config) as connection:
            yield connection


@contextlib.contextmanager
def in_words() -> Iterator[None]:
    """Answer what DuckDB cannot do with a sentence; its own may show values."""
    duckdb = optional("duckdb")
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise DataError(
            "DuckDB needs more memory or more room for temporary files than it may use; give it "
            "more under [engine] (memory, temporary)."
        ) from None
    except duckdb.IOException as error:
        full = "No space left" in str(error)
        raise OutputError(
            "The disk is full, so nothing was released; make room, or say another folder under "
            "[output] or [engine] (temporary)."
            if full
            else "DuckDB cannot read or write a file; see whether it is there, complete and yours."
        ) from None
    except duckdb.Error as error:
        raise DataError(
            f"DuckDB cannot work with this table ({type(error).__name__}); save it as Parquet with "
            "plain columns, or run it in memory."
        ) from None


def too_large(path: Path) -> bool:
    """Whether a table is too large to be protected in memory, or several files."""
    found = format_of_name(path)
    if not path.is_file():
        return _holds_tables(path) or bool(set("*?[") & set(path.name))
    if found not in UNPACKED:
        return False
    return path.stat().st_size * UNPACKED[found] > _memory()


def _holds_tables(folder: Path) -> bool:
    """Whether a folder holds Parquet files, or folders of them by the value of a column."""
    return folder.is_dir() and any(
        one.suffix == ".parquet" or "=" in one.name for one in folder.iterdir()
    )


def opened_paths(tables: Sequence[object], kinds: Mapping[str, str]) -> tuple[Any, ...]:
    """Tables that belong together, of which those that are paths are opened.

    As frames; or, if any file is too large for memory or several, as relations of one connection.
    """
    places = [Path(one) for one in tables if isinstance(one, (str, os.PathLike))]
    large = any(map(too_large, places))
    with in_words() if large else contextlib.nullcontext():
        connection = optional("duckdb").connect(config=PLAIN) if large else None
        return tuple(
            one if not isinstance(one, (str, os.PathLike)) else _opened(connection, one, kinds)
            for one in tables
        )


def _opened(connection: Any, path: str | os.PathLike[str], kinds: Mapping[str, str]) -> Any:
    if connection is None:
        return read_file(path, kinds=kinds).frame
    return read(connection, files_of(Path(path)), FileFormat(), kinds)


def sampled(connection: Any, path: Path, how: FileFormat, folder: Path) -> tuple[Path, int]:
    """A file with some records of a large table, and how many there are of them all.

    Parameters
    ----------
    connection
        The connection that reads the table.
    path, how
        The table, and how it is written.
    folder
        Where to put the file.
    """
    relation = read(connection, files_of(path), how, {})
    count = int(relation.aggregate("count(*)").fetchall()[0][0])
    target = folder / f"sample.{how.format or format_of_name(files_of(path)[0])}"
    some = f"SELECT * FROM large USING SAMPLE reservoir({SAMPLE} ROWS) REPEATABLE (1)"
    write(relation.query("large", some), target, how)
    return target, count


def too_many(database: Database, query: str) -> bool:
    """Whether what a query gives is too large to be protected in memory."""
    with database.opened() as session:
        records, columns = session.size(query)
    return records * columns * CELL > _memory()


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


# Reading --------------------------------------------------------------------------------------


def files_of(path: Path) -> list[Path]:
    """The files that a path means: itself, all Parquet files of a folder, or those of a pattern."""
    if path.is_dir():
        found = sorted(path.rglob("*.parquet"))
    else:
        found = [path] if path.is_file() else sorted(path.parent.glob(path.name))
    if not found:
        raise DataError(f"There is no table {path.name}; say the path of a file or of a folder.")
    return found


def digest_of(files: Sequence[Path]) -> str:
    """The digest of a file, or that of the digests of several."""
    digests = [file_digest(one) for one in files]
    return digests[0] if len(files) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def read(connection: Any, files: Sequence[Path], how: FileFormat, kinds: Mapping[str, str]) -> Any:
    """Read Parquet or CSV files.

    Parameters
    ----------
    connection
        The connection that reads them.
    files
        The files, all of one format.
    how
        How CSV files are written.
    kinds
        The kinds of columns: of CSV files, those of numbers are taken as such, the others as texts.
    """
    names = [str(one) for one in files]
    found = how.format or format_of_name(files[0])
    if found == "parquet":
        by_folder = all("=" in one.parent.name for one in files)  # year=2024/part.parquet
        return connection.read_parquet(names, hive_partitioning=by_folder)
    if found != "csv":
        raise DataError(
            f"DuckDB reads Parquet and CSV files, and {files[0].name} is neither; save it as one "
            'of them, or say name = "memory" under [engine].'
        )
    return _with_numbers(_texts(connection, names, how), kinds)


def copied(connection: Any, answer: Answer, kinds: Mapping[str, str], name: str) -> Any:
    """A copy of what a database answered, so that it cannot change while it is worked with.

    Parameters
    ----------
    connection
        The connection that holds the copy.
    answer
        The answer.
    kinds
        The kinds of its columns.
    name
        What to call the copy.
    """
    duckdb = optional("duckdb")
    connection.register("answered", answer.batches)
    try:
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM answered")
    except (duckdb.OutOfMemoryException, duckdb.IOException):
        raise
    except duckdb.Error:  # the stream broke off
        raise DataError(LOST) from None
    connection.unregister("answered")
    numbers = {one: kind for one, kind in kinds.items() if one in answer.numbers}
    return _with_numbers(connection.table(name), numbers)


def is_plain(how: FileFormat) -> bool:
    """Whether DuckDB understands how a file is written."""
    return not _oddities(how)


def _oddities(how: FileFormat) -> list[str]:
    """What DuckDB does not understand of how a file is written."""
    plain = FileFormat()
    said = ("decimal", "thousands", "header", "skip", "missing_in", "read_as")
    odd = [name for name in said if getattr(how, name) != getattr(plain, name)]
    if how.header in (0, 1):
        odd.remove("header")
    known = (how.encoding or "utf-8").lower() in ("utf-8", "utf8")
    return odd if known else [*odd, "encoding"]


def _texts(connection: Any, names: Sequence[str], how: FileFormat) -> Any:
    odd = _oddities(how)
    if odd:
        raise DataError(
            f"DuckDB reads plain CSV files in UTF-8 only, without {', '.join(odd)}; "
            'save the table as Parquet, or say name = "memory" under [engine].'
        )
    given = {} if how.separator is None else {"sep": how.separator}
    relation = connection.read_csv(
        list(names),
        **given,
        header=how.header != 0,
        all_varchar=True,
        quotechar=how.quote or "",
        na_values=list(how.missing) or None,
    )
    if how.header == 0:
        return _renamed(relation, numbered_names(len(relation.columns)))
    if how.header is None:
        _refuse_record(relation, Path(names[0]).name)
    return relation


def _renamed(relation: Any, names: Sequence[str]) -> Any:
    column = optional("duckdb").ColumnExpression
    pairs = zip(relation.columns, names, strict=True)
    return relation.select(*(column(old).alias(new) for old, new in pairs))


def _refuse_record(relation: Any, shown: str) -> None:
    """Compare the names with the first records: those of a large table are not spread cheaply."""
    count = len(sampled_places(MOST_RECORDS, len(relation.columns)))
    rows = [[one or "" for one in row] for row in relation.limit(count).fetchall()]
    refuse_record(doubt_about(relation.columns, rows), shown)


def _with_numbers(relation: Any, kinds: Mapping[str, str]) -> Any:
    """Take columns of numbers as numbers: whole ones if all are written so."""
    duckdb = optional("duckdb")
    names = [name for name in relation.columns if kinds.get(composed(name)) in NUMBERS]
    if not names:
        return relation
    column, constant, call = (
        duckdb.ColumnExpression,
        duckdb.ConstantExpression,
        duckdb.FunctionExpression,
    )
    asked = [
        call("count_if", ~call("regexp_full_match", column(name), constant(pattern)))
        for name in names
        for pattern in (WHOLE, NUMBER)
    ]
    answers = relation.aggregate(asked).fetchall()[0]
    types = {}
    for name, broken, odd in zip(names, answers[::2], answers[1::2], strict=True):
        if odd:
            raise DataError(
                f"Column {name!r} is to hold numbers but holds other texts in {odd:,} records; "
                "correct them, say what means a missing value (missing), or declare it as flat."
            )
        types[name] = "DOUBLE" if broken else "BIGINT"
    return relation.select(
        *(
            column(one).cast(types[one]).alias(one) if one in types else column(one)
            for one in relation.columns
        )
    )


# Writing --------------------------------------------------------------------------------------


def write(relation: Any, path: Path, how: FileFormat, *, shuffle: bool = False) -> None:
    """Write a relation to one file, whose suffix is the format; in a random order if asked for."""
    ordered = relation.order("random()") if shuffle else relation
    found = format_of_name(path)
    if found == "parquet":
        ordered.to_parquet(str(path), compression="zstd")
    elif found == "csv" and path.suffix in (".csv", ".tsv", ".txt"):
        missing = how.missing[0] if how.missing else ""
        ordered.to_csv(
            str(path), sep=how.separator or ",", na_rep=missing, header=True, quotechar=how.quote
        )
    else:
        raise DataError(
            f"DuckDB writes .parquet and .csv files, not {path.name}; say so under [output] "
            "(table)."
        )


def read_back(connection: Any, path: Path, how: FileFormat, written: Any) -> Any:
    """What a reader sees in a file, with the types of what was written."""
    if format_of_name(path) == "parquet":
        return connection.read_parquet(str(path))
    relation = _texts(connection, [str(path)], how.dialect)
    column = optional("duckdb").ColumnExpression
    types = dict(zip(written.columns, written.types, strict=True))
    return relation.select(*(column(one).cast(types[one]).alias(one) for one in relation.columns))
