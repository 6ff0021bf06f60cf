"""The sections of a plan that are the same for every table: input, evaluation, limits, output."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Annotated, Any

from ontomask.checks import AnyOf, Choice, Flag, Integer, ListOf, Null, Real, Text, validate
from ontomask.data.files.formats import FileFormat, format_of_name
from ontomask.engines.files import Resources
from ontomask.errors import ParameterError
from ontomask.evaluation.classifiers import CLASSIFIERS
from ontomask.evaluation.evaluation import Settings
from ontomask.plan.parts import Kind
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

Percent = Annotated[float | None, AnyOf(Real(0, 100), Null())]
Name = Annotated[str | None, AnyOf(Text(), Null())]


@dataclass(frozen=True)
class Input(FileFormat):
    """The table that is protected.

    Parameters
    ----------
    path
        The file, relative to the plan.
    """

    path: Annotated[str, Text()] = field(kw_only=True)


@dataclass(frozen=True)
class Assessment(Settings):
    """What is measured of the release.

    Parameters
    ----------
    columns, distances, threshold, subdomains, fraction, clustering, alpha
        As in `evaluate`.
    k
        For the class size relative to k; that of the last step by default.
    seed
        For random subsamples and for folds.
    target
        A column that classifiers shall predict from the release.
    classifiers
        The classifiers to train.
    features
        The columns to predict from; all published ones by default.
    folds
        The number of parts for cross-validation.
    """

    target: Name = None
    classifiers: Annotated[
        tuple[str, ...] | list[str], ListOf(Choice(*CLASSIFIERS), empty=False)
    ] = ("logistic",)
    features: Annotated[
        tuple[str, ...] | list[str] | None, AnyOf(ListOf(Text(), empty=False), Null())
    ] = None
    folds: Annotated[int, Integer(2)] = 5

    @property
    def settings(self) -> dict[str, Any]:
        """What `Release.evaluate` is given."""
        names = Settings.__dataclass_fields__
        chosen = {name: getattr(self, name) for name in names}
        return {name: value for name, value in chosen.items() if value is not None}


@dataclass(frozen=True)
class Limits:
    """What a release must not exceed, in percent; a run that does ends with exit code 3.

    Parameters
    ----------
    max_linkage
        The highest record linkage measured.
    max_risk
        The risk of the record at most risk: 100 / smallest class.
    max_loss
        The information loss L.
    max_suppressed
        The share of records left out.
    max_unique_unchanged
        The share of records that are alone by the columns published unchanged, all together.
    """

    max_linkage: Percent = None
    max_risk: Percent = None
    max_loss: Percent = None
    max_suppressed: Percent = None
    max_unique_unchanged: Percent = None

    def __post_init__(self) -> None:
        validate(self)


def is_writable(name: str) -> bool:
    """Whether the name of a file tells a format that can be written."""
    found, suffix = format_of_name(Path(name)), PurePath(name).suffix.lower()
    return found is not None and (found != "excel" or suffix == ".xlsx")


@dataclass(frozen=True)
class Output:
    """Where the release goes.

    Parameters
    ----------
    folder
        A folder that does not exist yet, relative to the plan; `<plan>-release` by default.
    table
        The name of the masked table in it; its suffix is the format. By default that of the input.
    shuffle
        Put the records in a random order.
    escape_formulas
        Put an apostrophe before texts that a spreadsheet would execute.
    internal
        Also write an internal report, which must not be published.
    """

    folder: Name = None
    table: Name = None
    shuffle: Annotated[bool, Flag()] = False
    escape_formulas: Annotated[bool, Flag()] = False
    internal: Annotated[bool, Flag()] = False

    def __post_init__(self) -> None:
        validate(self)
        if "\0" in f"{self.folder}{self.table}":
            raise ParameterError("folder and table must be names without zero characters.")
        if self.table is not None and PurePath(self.table).name != self.table:
            raise ParameterError(
                f"table must be the name of a file inside the output folder, not {self.table!r}."
            )
        if self.table is not None and not is_writable(self.table):
            raise ParameterError(f"table must end in {WRITABLE}, not be {self.table!r}.")


@dataclass(frozen=True)
class Engine(Resources):
    """What does the work: memory, or DuckDB for tables larger than that.

    Parameters
    ----------
    name
        `memory`, `duckdb` (the distinct combinations of a table are masked, whatever its size), or
        `automatic`: DuckDB where the table is too large for memory and every step works there.
    """

    name: Annotated[str, Choice("automatic", "memory", "duckdb")] = "automatic"


SECTIONS = {
    "about": Kind("", "about", About),
    "input": Kind("", "input", Input),
    "engine": Kind("", "engine", Engine),
    "evaluation": Kind("", "evaluation", Assessment),
    "limits": Kind("", "limits", Limits),
    "output": Kind("", "output", Output),
}
