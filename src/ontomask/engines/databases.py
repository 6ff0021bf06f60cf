"""Databases as source and target: PostgreSQL, and files of SQLite and DuckDB.

A query is read as a stream of Arrow batches, a table is written from one, in one transaction. What
a database answers to a mistake may show values, so sentences here are our own.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import polars as pl

from ontomask.data.files import FileFormat, Source
from ontomask.data.files.loaded import check_names
from ontomask.data.files.reading import as_declared
from ontomask.data.tables import open_table
from ontomask.errors import DataError, OntomaskError, OutputError, ParameterError
from ontomask.extras import optional

__all__ = ["LOST", "Answer", "Database", "Session", "check_address", "is_server", "read_query"]

SERVERS = ("postgresql", "postgres")
SECRETS = ("password", "sslpassword", "passfile")
MAGIC = {b"SQLite format 3\0": "sqlite", b"DUCK": "duckdb"}
"""What the files of a database begin with; those of DuckDB after eight bytes."""

BATCH = 50_000
REASONS = {
    "42P01": "there is no such table",
    "42703": "there is no such column",
    "42601": "it is no SELECT statement",
    "42501": "the user of the database may not do that",
    "25006": "it would change the database",
    "53100": "its disk is full",
    "42P07": "there is such a table already",
    "3F000": "there is no such schema",
}
"""What some of the states of SQL mean."""

LOST = (
    "The database broke off on the way (the connection was lost, or the query failed there), so "
    "nothing was released; try the query with the database's own program, then run it again."
)


def is_server(address: str) -> bool:
    """Whether an address is that of a server; else it is a file."""
    return urlsplit(address).scheme in SERVERS


def check_address(address: str) -> None:
    """Refuse an address that holds a password, or that no database has; it is not shown."""
    parts = urlsplit(address)
    if not is_server(address):
        if "://" in address:
            raise ParameterError(
                "database must be an address such as postgresql://reader@host/hospital, or a file "
                "of SQLite or DuckDB relative to the plan."
            )
        return
    said = {name for name, _ in parse_qsl(parts.query)}
    if parts.password is not None or said & set(SECRETS):
        raise ParameterError(
            "database must be an address without a password, since plans are kept and shown; name "
            "the environment variable that holds it: password_variable."
        )


@dataclass(frozen=True)
class Answer:
    """What a query gives: Arrow batches, and which of its columns are numbers written as texts."""

    batches: Any
    numbers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Database:
    """A database, and what lets one in.

    Attributes
    ----------
    address
        Of a server, without a password; or the path of a file.
    folder
        Where paths start from.
    password_variable
        The environment variable that holds the password; by default PostgreSQL's own ways.
    """

    address: str
    folder: Path = field(default_factory=Path)
    password_variable: str | None = None

    @property
    def name(self) -> str:
        """What it is called, for people."""
        return urlsplit(self.address).path.strip("/") or "the database"

    @property
    def file(self) -> Path:
        """The file it is in."""
        return self.folder / self.address

    @contextlib.contextmanager
    def opened(self, *, writing: bool = False) -> Iterator[Session]:
        """Enter the database; what is not committed is undone when it is left."""
        kind = "postgresql" if is_server(self.address) else self._kind(writing=writing)
        session = SESSIONS[kind].of(self, writing=writing)
        try:
            yield session
        finally:
            with contextlib.suppress(Exception):  # a lost connection cannot be left in order
                session.close()

    def _kind(self, *, writing: bool) -> str:
        """Which database a file belongs to: by its first bytes, a new one by its name."""
        if self.file.is_file():
            with self.file.open("rb") as stream:
                beginning = stream.read(16)
            for magic, kind in MAGIC.items():
                if beginning[8 if kind == "duckdb" else 0 :].startswith(magic):
                    return kind
        elif writing:
            return "duckdb" if self.file.suffix == ".duckdb" else "sqlite"
        raise DataError(
            f"{self.address} is no file of SQLite or DuckDB, or is not there; the path starts from "
            "the plan."
        )

    @property
    def entry(self) -> str:
        """The address with the password in it; never to be shown or kept."""
        if self.password_variable is None:
            return self.address
        password = os.environ.get(self.password_variable, "")
        if not password:
            raise ParameterError(
                f"password_variable names the environment variable {self.password_variable!r}, "
                "which is not set; set it to the password of the database before the run."
            )
        scheme, _, rest = self.address.partition("://")
        user, at, place = rest.rpartition("@")
        return f"{scheme}://{user}:{quote(password, safe='')}{at or '@'}{place}"


@dataclass(frozen=True, eq=False)
class Session(ABC):
    """An open database; `handle` is the connection of its driver."""

    handle: Any
    text = "text"
    """The type of texts there."""

    @classmethod
    @abstractmethod
    def of(cls, database: Database, *, writing: bool) -> Session:
        """Enter a database, for reading only unless it is to be written to."""

    @abstractmethod
    def _batches(self, statement: str) -> Any:
        """The answer to a statement as Arrow batches."""

    @abstractmethod
    def _execute(self, statement: str) -> None: ...

    @abstractmethod
    def _create(self, table: str, batches: Any) -> None: ...

    @abstractmethod
    def _in_words(self) -> contextlib.AbstractContextManager[None]:
        """Answer what the database cannot do with a sentence."""

    def read(self, query: str) -> Answer:
        """The answer to a SELECT; types that only the database knows become texts."""
        with self._in_words():
            found = self._schema(_asked(query))
            columns = [
                quoted(name) if plain else f"CAST({quoted(name)} AS {self.text}) AS {quoted(name)}"
                for name, (plain, _) in found.items()
            ]
            batches = self._batches(f"SELECT {', '.join(columns)} FROM {_asked(query)}")
        return Answer(batches, tuple(name for name, (_, number) in found.items() if number))

    def _schema(self, source: str) -> Mapping[str, tuple[bool, bool]]:
        """Which columns have plain types, and which of the others are numbers."""
        schema = self._batches(f"SELECT * FROM {source} LIMIT 0").read_all().schema
        names = [one.name for one in schema]
        check_names(names, "The query")
        return {one.name: _seen(one) for one in schema}

    def size(self, query: str) -> tuple[int, int]:
        """How many records and columns a query gives."""
        with self._in_words():
            columns = self._schema(_asked(query))
            answer = self._batches(f"SELECT count(*) AS n FROM {_asked(query)}").read_all()
        return int(answer["n"][0].as_py()), len(columns)

    def exists(self, table: str) -> bool:
        """Whether there is such a table."""
        try:
            self._batches(f"SELECT * FROM {_place(table)} LIMIT 0").read_all()
        except Exception:  # noqa: BLE001 - every driver has its own
            self._undo()
            return False
        return True

    def _undo(self) -> None:
        """Go back to the beginning of the transaction."""
        self._execute("ROLLBACK")
        self._execute("BEGIN")

    def write(self, table: str, batches: Any, *, replace: bool = False) -> None:
        """Write batches to a new table; nobody sees it before `commit`."""
        with self._in_words():
            if replace:
                self._execute(f"DROP TABLE IF EXISTS {_place(table)}")
            self._create(table, batches)

    def commit(self) -> None:
        """Let others see what was written."""
        with self._in_words():
            self._execute("COMMIT")

    def close(self) -> None:
        """Leave; what was not committed is undone."""
        self.handle.close()

    def frame(self, query: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
        """The answer to a SELECT in memory, and which columns are numbers written as texts."""
        answer = self.read(query)
        with self._in_words():
            frame = pl.from_arrow(answer.batches.read_all())
        assert isinstance(frame, pl.DataFrame)
        return frame, answer.numbers

    def back(self, table: str) -> str:
        """The query for what was written."""
        return f"SELECT * FROM {_place(table)}"


def quoted(name: str) -> str:
    """A name as SQL writes it, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def _asked(query: str) -> str:
    """A query as the source of another, so that it can be no other statement."""
    return f"({query.strip().rstrip(';')}\n) AS asked"  # it may end in a comment


def _place(table: str) -> str:
    """A table, perhaps with its schema."""
    return ".".join(quoted(part) for part in table.split("."))


def _seen(column: Any) -> tuple[bool, bool]:
    """Whether a column's type is plain, and if not whether it is one of numbers."""
    types = optional("pyarrow").types
    metadata = column.metadata or {}
    kind = metadata.get(b"POSTGRESQL:type", b"")
    plain = (
        *(types.is_integer, types.is_floating, types.is_boolean, types.is_decimal),
        *(types.is_string, types.is_large_string, types.is_date, types.is_timestamp),
    )
    return kind != b"money" and any(one(column.type) for one in plain), kind == b"numeric"


def _refused(state: str | None) -> OntomaskError:
    """The error for a statement that a database does not carry out."""
    if state is not None and state.startswith(("08", "57P")):
        return DataError(LOST)
    why = REASONS.get(state or "", f"state {state}" if state else "its driver says no more")
    return DataError(
        f"The database does not carry out the query ({why}); try it with the database's own "
        "program, under the same user."
    )


# PostgreSQL -----------------------------------------------------------------------------------


class PostgreSQL(Session):
    """A server of PostgreSQL, by ADBC."""

    @classmethod
    def of(cls, database: Database, *, writing: bool) -> Session:
        """Connect; a query cannot change anything."""
        driver, manager = optional("adbc_driver_postgresql.dbapi"), optional("adbc_driver_manager")
        try:
            session = cls(driver.connect(database.entry))
        except manager.Error as error:
            wrong = "password" in str(error) or "authentication" in str(error)
            raise DataError(
                f"The database {database.name!r} does not let you in; see the user and the "
                "password, which is read from the variable that password_variable names, else "
                "from PGPASSWORD or your .pgpass file."
                if wrong
                else f"The database {database.name!r} cannot be reached; see whether the address "
                "is right and the server running."
            ) from None
        # what was written is read back in the order in which it was written
        session._execute("SET synchronize_seqscans = off")
        session._execute("SET max_parallel_workers_per_gather = 0")
        session.commit()
        if not writing:
            session._execute("SET TRANSACTION READ ONLY")
        return session

    def _batches(self, statement: str) -> Any:
        cursor = self.handle.cursor()
        try:
            cursor.execute(statement)
            stream = cursor.fetch_record_batch()
        except Exception:
            cursor.close()
            raise

        def kept() -> Iterator[Any]:
            with cursor:  # which would take the stream with it
                yield from stream

        return optional("pyarrow").RecordBatchReader.from_batches(stream.schema, kept())

    def _execute(self, statement: str) -> None:
        with self.handle.cursor() as cursor:
            cursor.execute(statement)

    def _undo(self) -> None:
        self.handle.rollback()

    def commit(self) -> None:
        """Let others see what was written; the driver begins the next transaction by itself."""
        with self._in_words():
            self.handle.commit()

    def _create(self, table: str, batches: Any) -> None:
        schema, _, name = table.rpartition(".")
        with self.handle.cursor() as cursor:
            cursor.adbc_ingest(name, batches, mode="create", db_schema_name=schema or None)

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except optional("adbc_driver_manager").Error as error:
            raise _refused(error.sqlstate or "08000") from None
        except (OSError, optional("pyarrow").ArrowException):  # what a stream of batches raises
            raise DataError(LOST) from None


# DuckDB ---------------------------------------------------------------------------------------


class DuckDBFile(Session):
    """A file of DuckDB."""

    text = "VARCHAR"

    @classmethod
    def of(cls, database: Database, *, writing: bool) -> Session:
        """Open the file; it is locked for others while it is written to."""
        duckdb = optional("duckdb")
        optional("pyarrow")
        config = {"autoinstall_known_extensions": False}
        try:
            session = cls(duckdb.connect(str(database.file), read_only=not writing, config=config))
        except duckdb.Error:
            raise DataError(
                f"{database.address} cannot be opened by DuckDB; see whether another program has "
                "it open, and whether it is complete and yours."
            ) from None
        session._execute("BEGIN")
        return session

    def _batches(self, statement: str) -> Any:
        return self.handle.sql(statement).to_arrow_reader(BATCH)

    def _execute(self, statement: str) -> None:
        self.handle.execute(statement)

    def _create(self, table: str, batches: Any) -> None:
        self.handle.register("ontomask_batches", batches)
        self.handle.execute(f"CREATE TABLE {_place(table)} AS SELECT * FROM ontomask_batches")
        self.handle.unregister("ontomask_batches")

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        duckdb = optional("duckdb")
        try:
            yield
        except duckdb.IOException:
            raise OutputError(
                "The file of the database cannot be read or written; see whether it is yours and "
                "the disk has room."
            ) from None
        except duckdb.Error as error:
            states = {"CatalogException": "42P01", "BinderException": "42703"}
            states["ParserException"] = "42601"
            raise _refused(states.get(type(error).__name__)) from None


# SQLite ---------------------------------------------------------------------------------------


class SQLite(Session):
    """A file of SQLite, by Python's own driver; values, not columns, have types there."""

    @classmethod
    def of(cls, database: Database, *, writing: bool) -> Session:
        """Open the file."""
        optional("pyarrow")
        mode = "rwc" if writing else "ro"
        address = f"file:{quote(str(database.file))}?mode={mode}"
        try:
            handle = sqlite3.connect(  # DuckDB takes batches from threads of its own
                address, uri=True, isolation_level=None, check_same_thread=False
            )
            handle.execute("BEGIN")
        except sqlite3.Error:
            raise DataError(
                f"{database.address} cannot be opened by SQLite; see whether it is yours."
            ) from None
        return cls(handle)

    def _schema(self, source: str) -> Mapping[str, tuple[bool, bool]]:
        names = [
            one[0] for one in self.handle.execute(f"SELECT * FROM {source} LIMIT 0").description
        ]
        check_names(names, "The query")
        kinds = self._kinds(names, source)
        return {name: (kind != "mixed", False) for name, kind in kinds.items()}

    def _kinds(self, names: list[str], source: str) -> dict[str, str]:
        """What the values of each column are: integer, real, text, or mixed."""
        asked = ", ".join(
            f"max(typeof({quoted(name)}) = '{kind}')"
            for name in names
            for kind in ("integer", "real", "text", "blob")
        )
        found = self.handle.execute(f"SELECT {asked} FROM {source}").fetchone()
        answers = zip(names, zip(*[iter(found)] * 4, strict=True), strict=True)
        return {name: _kind_of_values(*map(bool, one)) for name, one in answers}

    def _batches(self, statement: str) -> Any:
        arrow = optional("pyarrow")
        cursor = self.handle.execute(statement)
        names = [one[0] for one in cursor.description]
        kinds = self._kinds(names, f"({statement})")
        types = {"integer": pl.Int64, "real": pl.Float64}
        schema = {name: types.get(kind, pl.String) for name, kind in kinds.items()}

        def frames() -> Iterator[Any]:
            while rows := cursor.fetchmany(BATCH):
                yield from pl.DataFrame(rows, schema, orient="row").to_arrow().to_batches()

        empty = pl.DataFrame(schema=schema).to_arrow().schema
        return arrow.RecordBatchReader.from_batches(empty, frames())

    def _execute(self, statement: str) -> None:
        self.handle.execute(statement)

    def _create(self, table: str, batches: Any) -> None:
        names, place = [quoted(one) for one in batches.schema.names], quoted(table)
        self.handle.execute(f"CREATE TABLE {place} ({', '.join(names)})")
        statement = f"INSERT INTO {place} VALUES ({', '.join('?' * len(names))})"
        for batch in batches:
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            self.handle.executemany(statement, _for_sqlite(frame).iter_rows())

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            said = str(error)
            states = {"no such table": "42P01", "no such column": "42703", "syntax error": "42601"}
            states |= {"disk is full": "53100", "readonly": "25006", "already exists": "42P07"}
            raise _refused(next((s for w, s in states.items() if w in said), None)) from None


def _kind_of_values(integer: bool, real: bool, text: bool, blob: bool) -> str:
    if blob or (text and (integer or real)):
        return "mixed"
    if real:
        return "real"
    return "integer" if integer else "text"


def _for_sqlite(frame: pl.DataFrame) -> pl.DataFrame:
    """Values that SQLite has no type for as the texts and numbers that are usual there."""
    return frame.with_columns(
        pl.col(pl.Date, pl.Datetime, pl.Time, pl.Categorical, pl.Enum).cast(pl.String),
        pl.col(pl.Boolean).cast(pl.Int64),
        pl.col(pl.Decimal).cast(pl.Float64),
    )


SESSIONS: Mapping[str, type[Session]] = {
    "postgresql": PostgreSQL,
    "duckdb": DuckDBFile,
    "sqlite": SQLite,
}


def read_query(database: Database, query: str, how: FileFormat, kinds: Mapping[str, str]) -> Source:
    """Read the answer to a query into memory, as its columns are declared.

    Parameters
    ----------
    database, query
        Where the table is, and the SELECT that gives it.
    how
        What is said of the values of single columns: what is missing, what is a number.
    kinds
        The kinds of the columns.
    """
    with database.opened() as session:
        frame, numbers = session.frame(query)
    source = as_declared(frame, how, {**dict.fromkeys(numbers, "numeric"), **kinds}, "The query")
    return Source(source.frame, source.format, open_table(source.frame).digest(), source.notes)
