"""Small plans with their tables, for tests of plan, outputs and command line."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tables import DISEASES, mixed_columns

TABLE = "people.csv"

COLUMNS = """
[columns.patient]
kind = "identifier"
[columns.diagnosis]
kind = "nominal"
taxonomy = "diseases.csv"
[columns.age]
kind = "numeric"
[columns.admitted]
kind = "date"
[columns.severity]
kind = "ordinal"
order = ["mild", "moderate", "severe"]
[columns.sex]
kind = "flat"
[columns.charge]
kind = "numeric"
role = "sensitive"
"""

STEP = """
[[steps]]
method = "microaggregation"
k = 3
"""

PUBLISHED = ["diagnosis", "age", "admitted", "severity", "sex", "charge"]


def plan_text(
    *, seed: int | None = 7, table: str = TABLE, columns: str = COLUMNS, step: str = STEP, more=""
) -> str:
    """The text of a plan for `write_people`."""
    head = f"seed = {seed}\n" if seed is not None else ""
    return f'{head}[input]\npath = "{table}"\n{columns}{step}{more}'


def people(count: int = 60) -> pl.DataFrame:
    """The table of these plans."""
    return pl.DataFrame(mixed_columns(count))


def write_people(folder: Path, count: int = 60) -> Path:
    """Write the table and its taxonomy; return the table's path."""
    DISEASES.save(folder / "diseases.csv", overwrite=True)
    people(count).write_csv(folder / TABLE)
    return folder / TABLE


def write_plan(folder: Path, name: str = "plan.toml", **parts) -> Path:
    """Write the table, its taxonomy and a plan; return the plan's path."""
    write_people(folder)
    plan = folder / name
    plan.write_text(plan_text(**parts), encoding="utf-8")
    return plan


SMALL = """seed = 3
[input]
path = "small.csv"
[columns.name]
kind = "identifier"
[columns.age]
kind = "numeric"
[columns.job]
kind = "flat"
role = "sensitive"
[[steps]]
method = "microaggregation"
k = 3
"""


def write_small(folder: Path, more: str = "", name: str = "plan.toml") -> Path:
    """Write a table of 24 people with two columns and its plan: as quick as a run can be."""
    rows = "".join(f"n{number},{20 + number % 9},j{number % 4}\n" for number in range(24))
    (folder / "small.csv").write_text(f"name,age,job\n{rows}", encoding="utf-8")
    plan = folder / name
    plan.write_text(SMALL + more, encoding="utf-8")
    return plan


def names_in(folder: Path) -> list[str]:
    """What lies in a folder, hidden things too."""
    return sorted(one.name for one in folder.iterdir())
