"""Tables that a command is given without a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ontomask.checks import did_you_mean
from ontomask.data.files import FileFormat, read_file
from ontomask.data.tables import open_table
from ontomask.errors import ParameterError

__all__ = ["column_of", "require_columns", "spelled_out", "table_of"]


def table_of(data: Path, separator: str | None = None, encoding: str | None = None) -> Any:
    """The frame of a file; its columns' types are guessed."""
    return read_file(data, FileFormat(separator=spelled_out(separator), encoding=encoding)).frame


def spelled_out(separator: str | None) -> str | None:
    """A separator as a shell can say it: a tab is hard to type there."""
    return "\t" if separator in ("tab", "\\t") else separator


def column_of(data: Path, column: str) -> list[object]:
    """A column of a file, as texts so that codes keep their zeros."""
    source = read_file(data, FileFormat(), kinds={column: "nominal"})
    require_columns([column], source.frame.columns)
    return open_table(source.frame).column(column)


def require_columns(wanted: list[str], found: list[str]) -> None:
    """Refuse columns that a table does not have."""
    for name in wanted:
        if name not in found:
            hint = did_you_mean(name, found) or f" It has {', '.join(found[:30])}."
            raise ParameterError(f"The table has no column {name!r}.{hint}")
