"""The sections of a plan that are the same for every table: input, evaluation, limits, output."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Annotated, Any

from ontomask.checks import (
    AnyOf,
    Choice,
    Declared,
    Flag,
    Integer,
    ListOf,
    Null,
    Real,
    Text,
    texts_of,
)
from ontomask.data.file_names import format_of_name
from ontomask.data.files.formats import FileFormat
from ontomask.engines.databases import Database, check_address
from ontomask.engines.files import Resources
from ontomask.errors import ParameterError
from ontomask.evaluation.classifiers import CLASSIFIERS
from ontomask.evaluation.evaluation import Settings
from ontomask.plan.parts import Kind, Written
from ontomask.report.facts import About

__all__ = [
    "SECTIONS",
    "WRITABLE",
    "Assessment",
    "Engine",
    "Input",
    "Limits",
    "Output",
    "is_writable",
]

WRITABLE = ".csv, .tsv, .txt (also packed: .csv.gz), .parquet, .xlsx, .sav, .zsav or .dta"

Share = Annotated[float | None, AnyOf(Real(0, 1), Null())]
Percent = Annotated[float | None, AnyOf(Real(0, 100), Null())]
Name = Annotated[str | None, AnyOf(Text(), Null())]
PASSWORD = (
    "The environment variable that holds the password of the database; a plan never holds it. By "
    "default PostgreSQL's own ways: PGPASSWORD, or a .pgpass file."
)


@dataclass(frozen=True)
class Input(FileFormat):
    """The table that is protected: a file, or what a query gives."""

    path: Annotated[Name, "The file, relative to the plan."] = field(default=None, kw_only=True)
    database: Annotated[
        Name,
        "Instead of a file, a database: `postgresql://user@host/name` without a password, or a "
        "file of SQLite or DuckDB relative to the plan.",
    ] = field(default=None, kw_only=True)
    query: Annotated[Name, "The SELECT that gives the table of the database."] = field(
        default=None, kw_only=True
    )
    password_variable: Annotated[Name, PASSWORD] = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.path is None) == (self.database is None):
            raise ParameterError(
                'path = "your-table.csv" or database = "…" says where the table is: one of them.'
            )
        if (self.database is None) != (self.query is None):
            raise ParameterError("database and query go together: a query says what is protected.")
        _check_database(self.database, self.password_variable)

    @property
    def name(self) -> str:
        """What the table is called, for people: the name of its file, or of its database."""
        return self.file.name if self.database is None else Database(self.database).name

    @property
    def file(self) -> Path:
        """The file, relative to the plan; of a database there is none."""
        return Path(self.path or "")

    def source(self, folder: Path) -> tuple[Database, str] | None:
        """The database and the query; None for a file."""
        if self.database is None or self.query is None:
            return None
        return Database(self.database, folder, self.password_variable), self.query


def _check_database(database: str | None, variable: str | None) -> None:
    """Refuse what is no address of a database, and a password for none."""
    if database is not None:
        check_address(database)
    elif variable is not None:
        raise ParameterError("password_variable is for a database, and none is named.")


@dataclass(frozen=True)
class Assessment(Settings):
    """What is measured of the release."""

    k: Annotated[
        int | None,
        AnyOf(Integer(2), Null()),
        "For the class size relative to k; that of the last step by default.",
    ] = None
    seed: Annotated[int, Integer(0), "For random subsamples and for folds."] = 0
    target: Annotated[Name, "A column that classifiers shall predict from the release."] = None
    classifiers: Annotated[
        tuple[str, ...] | list[str],
        ListOf(Choice(*CLASSIFIERS), empty=False),
        "The classifiers to train.",
    ] = ("logistic",)
    features: Annotated[
        tuple[str, ...] | list[str] | None,
        AnyOf(ListOf(Text(), empty=False), Null()),
        "The columns to predict from; all published ones by default.",
    ] = None
    folds: Annotated[int, Integer(2), "The number of parts for cross-validation."] = 5

    @property
    def settings(self) -> dict[str, Any]:
        """What `Release.evaluate` is given."""
        names = Settings.__dataclass_fields__
        chosen = {name: getattr(self, name) for name in names}
        return {name: value for name, value in chosen.items() if value is not None}


@dataclass(frozen=True)
class Limits(Declared):
    """What a release must not exceed, in percent; a run that does ends with exit code 3.

    Only a plan says percent: here they are shares.
    """

    max_linkage: Annotated[Share, "The highest record linkage measured."] = None
    max_risk: Annotated[Share, "The risk of the record at most risk: 1 / smallest class."] = None
    max_loss: Annotated[Share, "The information loss L."] = None
    max_suppressed: Annotated[Share, "The share of records left out or starred."] = None
    max_unique_unchanged: Annotated[
        Share,
        "The share of records that are alone by the columns published unchanged, all together.",
    ] = None


def is_writable(name: str) -> bool:
    """Whether the name of a file tells a format that can be written."""
    found, suffix = format_of_name(Path(name)), PurePath(name).suffix.lower()
    return found is not None and (found != "excel" or suffix == ".xlsx")


@dataclass(frozen=True)
class Output(Declared):
    """Where the release goes."""

    folder: Annotated[
        Name, "A folder that does not exist yet, relative to the plan; `<plan>-release` by default."
    ] = None
    table: Annotated[
        Name,
        "The name of the masked table in it; its suffix is the format. By default that of the "
        "input. In a database the name of a new table there, perhaps with its schema: "
        "`released.visits`.",
    ] = None
    database: Annotated[
        Name,
        "A database for the masked table, written as under [input]; report and manifest go to the "
        "folder.",
    ] = None
    password_variable: Annotated[Name, PASSWORD] = None
    shuffle: Annotated[bool, Flag(), "Put the records in a random order."] = False
    escape_formulas: Annotated[
        bool, Flag(), "Put an apostrophe before texts that a spreadsheet would execute."
    ] = False
    internal: Annotated[
        bool, Flag(), "Also write an internal report, which must not be published."
    ] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if "\0" in f"{self.folder}{self.table}":
            raise ParameterError("folder and table must be names without zero characters.")
        _check_database(self.database, self.password_variable)
        if self.database is not None:
            self._check_table()
        elif self.table is not None:
            self._check_file(self.table)

    def _check_table(self) -> None:
        if not re.fullmatch(r"[^.]+(\.[^.]+)?", self.table or ""):
            raise ParameterError(
                "table must be the name of a new table of the database, such as released_visits."
            )

    @staticmethod
    def _check_file(table: str) -> None:
        if PurePath(table).name != table:
            raise ParameterError(
                f"table must be the name of a file inside the output folder, not {table!r}."
            )
        if not is_writable(table):
            raise ParameterError(f"table must end in {WRITABLE}, not be {table!r}.")


@dataclass(frozen=True)
class Engine(Resources):
    """What does the work: memory, or DuckDB for tables larger than that."""

    name: Annotated[
        str,
        Choice("automatic", "memory", "duckdb"),
        "`memory`, `duckdb` (the distinct combinations of a table are masked, whatever its size), "
        "or `automatic`: DuckDB where the table is too large for memory and every step works "
        "there.",
    ] = "automatic"


def _in_percent(kind: type) -> dict[str, Written]:
    """Shares that a plan says in percent."""
    return {name: Written(name, Percent, _share, text) for name, text in texts_of(kind).items()}


def _share(percent: float | None, _folder: Path) -> float | None:
    return None if percent is None else percent / 100.0


SECTIONS = {
    "about": Kind("", "about", About),
    "input": Kind("", "input", Input),
    "engine": Kind("", "engine", Engine),
    "evaluation": Kind("", "evaluation", Assessment),
    "limits": Kind("", "limits", Limits, _in_percent(Limits)),
    "output": Kind("", "output", Output),
}
