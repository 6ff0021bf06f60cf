"""The sections of a plan that are the same for every table: input, evaluation, limits, output."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Annotated, Any

from ontomask.checks import AnyOf, Choice, Declared, Flag, Integer, ListOf, Null, Real, Text
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
    """The table that is protected."""

    path: Annotated[str, Text(), "The file, relative to the plan."] = field(kw_only=True)


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
    """What a release must not exceed, in percent; a run that does ends with exit code 3."""

    max_linkage: Annotated[Percent, "The highest record linkage measured."] = None
    max_risk: Annotated[Percent, "The risk of the record at most risk: 100 / smallest class."] = (
        None
    )
    max_loss: Annotated[Percent, "The information loss L."] = None
    max_suppressed: Annotated[Percent, "The share of records left out or starred."] = None
    max_unique_unchanged: Annotated[
        Percent,
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
        "input.",
    ] = None
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
        if self.table is not None and PurePath(self.table).name != self.table:
            raise ParameterError(
                f"table must be the name of a file inside the output folder, not {self.table!r}."
            )
        if self.table is not None and not is_writable(self.table):
            raise ParameterError(f"table must end in {WRITABLE}, not be {self.table!r}.")


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


SECTIONS = {
    "about": Kind("", "about", About),
    "input": Kind("", "input", Input),
    "engine": Kind("", "engine", Engine),
    "evaluation": Kind("", "evaluation", Assessment),
    "limits": Kind("", "limits", Limits),
    "output": Kind("", "output", Output),
}
