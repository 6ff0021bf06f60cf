"""Tables that a command is given without a plan, and the options that say how they are read.

What reads files is imported when it is needed, so that help is quick.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontomask.checks import did_you_mean
from ontomask.errors import ParameterError

if TYPE_CHECKING:
    from ontomask.data.files import FileFormat, Source

__all__ = [
    "Decimal",
    "Encoding",
    "Header",
    "Quote",
    "Reading",
    "Separator",
    "Sheet",
    "Skip",
    "column_of",
    "measured_table",
    "require_columns",
    "table_of",
]

Separator = Annotated[
    str | None, typer.Option(help="What separates cells, if unclear: , ; | or tab.")
]
Encoding = Annotated[str | None, typer.Option(help="Such as latin-1, if not UTF-8.")]
Decimal = Annotated[
    str | None, typer.Option(help="The decimal mark, . or , if unclear.", show_default=False)
]
Quote = Annotated[
    str | None,
    typer.Option(help="What encloses texts, \" or '; none if nothing does.", show_default=False),
]
Header = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="The line or row with the columns' names; 0 if there is none.",
        show_default=False,
    ),
]
Skip = Annotated[
    list[int] | None,
    typer.Option(help="A line that is no record, such as units; -1 is the last. Repeatable."),
]
Sheet = Annotated[str | None, typer.Option(help="The sheet of a workbook; the first by default.")]


@dataclass(frozen=True)
class Reading:
    """What a command was told about the way a table is written; what is None is found out."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    header: int | None = None
    skip: tuple[int, ...] = ()
    quote: str | None = None

    @property
    def format(self) -> FileFormat:
        """What was said, checked."""
        from ontomask.data.files import FileFormat

        return FileFormat(
            separator=_spelled_out(self.separator),
            encoding=self.encoding,
            decimal="." if self.decimal is None else self.decimal,
            sheet=self.sheet,
            header=self.header,
            skip=self.skip,
            quote=self.quote or '"',
        )

    @property
    def guess(self) -> tuple[str, ...]:
        """What may be guessed: what was not said."""
        said = {"encoding": self.encoding, "decimal": self.decimal}
        return tuple(name for name, value in said.items() if value is None)


def table_of(data: Path, how: Reading) -> Source:
    """A file, with all types of columns and what is odd in it guessed."""
    from ontomask.data.files import first_look

    return first_look(data, how.format, how.guess)


@contextmanager
def measured_table(data: Path, how: Reading) -> Iterator[tuple[Source, Any]]:
    """A first look at a file, and the whole table: a frame, or what DuckDB holds of a large one."""
    from ontomask.engines.files import Resources, files_of, opened, read, too_large
    from ontomask.plan.proposal import sample_of

    if not too_large(data):
        source = table_of(data, how)
        yield source, source.frame
        return
    with opened(Resources()) as connection:
        look = sample_of(data, how.format, how.guess)
        yield look, read(connection, files_of(data), how.format, {})


def _spelled_out(separator: str | None) -> str | None:
    """A separator as a shell can say it: a tab is hard to type there."""
    return "\t" if separator in ("tab", "\\t") else separator


def column_of(data: Path, column: str, how: Reading, plan: Path | None) -> Source:
    """A file, read as said or as a plan says, with a column as texts so that codes keep zeros."""
    from ontomask.data.files import read_file

    kinds = {column: "nominal"}
    if plan is None:
        return read_file(data, how.format, kinds=kinds, guess=how.guess)
    if how != Reading():
        raise ParameterError(
            "The plan says how the table is read; leave out --plan, or leave out --separator, "
            "--encoding, --sheet and --header."
        )
    from ontomask.plan.plan import Plan

    return read_file(data, Plan.read(plan).contents.input, kinds=kinds)


def require_columns(wanted: list[str], found: list[str]) -> None:
    """Refuse columns that a table does not have."""
    for name in wanted:
        if name not in found:
            hint = did_you_mean(name, found) or f" It has {', '.join(found[:30])}."
            raise ParameterError(f"The table has no column {name!r}.{hint}")
