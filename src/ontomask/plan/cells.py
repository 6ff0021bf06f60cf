"""The cells of a table as the texts that a reader sees, to be recounted.

A table that does not fit into memory stays on the disk: DuckDB counts how many rows have the same
cells in the columns that are asked for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ontomask.arrays import Floats, Longs
from ontomask.data.files import FileFormat, as_texts, read_texts
from ontomask.data.seen import Seen
from ontomask.data.tables import Table, open_table
from ontomask.engines.counting import WrittenTable, has_to_stay
from ontomask.findings import Claim, Finding
from ontomask.promises import Promise
from ontomask.verify import verify

__all__ = ["Cells", "Columns"]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a table.

    Attributes
    ----------
    names, rows
        The columns of the table, and how many rows it has.
    format
        How it is written.
    asked
        Gives the cells of some columns, and how many rows have each line of them: None for one
        each, in the order of the table.
    in_order
        Whether it does.
    """

    names: tuple[str, ...]
    rows: int
    format: FileFormat
    asked: Callable[[Sequence[str]], tuple[Any, Floats | None]]
    in_order: bool = True

    @classmethod
    @contextlib.contextmanager
    def at(cls, path: Path, how: FileFormat) -> Iterator[Cells]:
        """Those of a file."""
        if has_to_stay(path, how):
            with WrittenTable.at(path, how) as written:
                yield cls(written.names, len(written), how, written.combinations, in_order=False)
        else:
            yield cls.of(read_texts(path, how), how)

    @classmethod
    def of(cls, frame: Any, how: FileFormat) -> Cells:
        """Those of a frame."""
        table = open_table(frame)
        return cls(table.names, len(table), how, lambda names: (table.native.select(names), None))

    def columns(self, names: Sequence[str], numbers: Sequence[str] = ()) -> Columns:
        """Those of some columns, as far as they are there; `numbers` are written in one way."""
        chosen = [name for name in self.names if name in names] or self.names[:1]
        frame, rows = self.asked(chosen)
        return Columns(open_table(as_texts(frame, self.format, numbers)), rows)


@dataclass(frozen=True, eq=False)
class Columns:
    """Some columns of a table: lines of cells, and how many rows have each (None: one)."""

    table: Table
    rows: Floats | None

    def seen(self, name: str) -> Seen:
        """A column as a reader sees it."""
        return replace(self.table.seen(name), counts=self.rows)

    def recounted(
        self,
        claims: Sequence[Promise | Claim],
        counts: Floats | None,
        units: Longs | None = None,
    ) -> tuple[Finding, ...]:
        """Recount promises; `counts` says how many records each line stands for."""
        return verify(
            self.table.native,
            claims,
            published=self.table.names,
            records=len(self.table),
            counts=counts,
            units=units,
        ).findings[2:]
