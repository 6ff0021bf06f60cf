"""The cells of written tables of any size, as a reader sees them, counted by DuckDB.

Whoever recounts a release wants to know what its file holds. So the questions are SQL of their own:
nothing is shared with what counted, rewrote and wrote the table.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from ontomask.arrays import Floats
from ontomask.checks import composed
from ontomask.data.files import FileFormat
from ontomask.engines.databases import quoted
from ontomask.engines.files import Resources, files_of, is_plain, opened, read, too_large
from ontomask.extras import is_there, optional

__all__ = ["WrittenTable", "has_to_stay"]

ROWS = "ontomask rows"


def has_to_stay(path: Path, how: FileFormat) -> bool:
    """Whether a table does not fit into memory, and DuckDB can count it where it is."""
    return too_large(path) and is_there("duckdb") and is_plain(how)


@dataclass(frozen=True, eq=False)
class WrittenTable:
    """A table on the disk, as DuckDB reads it: numbers of CSV files are texts, too."""

    relation: Any

    @classmethod
    @contextlib.contextmanager
    def at(cls, path: Path, how: FileFormat) -> Iterator[WrittenTable]:
        """Open a table; what is missing in it is a text like any other."""
        with opened(Resources()) as connection:
            yield cls(read(connection, files_of(path), replace(how, missing=()), {}))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(composed(one) for one in self.relation.columns)

    def __len__(self) -> int:
        return int(self.relation.aggregate("count(*)").fetchall()[0][0])

    def combinations(self, names: Sequence[str]) -> tuple[pl.DataFrame, Floats]:
        """The distinct combinations of some columns, and how many rows have each.

        Values are told apart as they are written: as numbers, 0.0 and -0.0 would be equal.
        """
        own = dict(zip(self.names, map(quoted, self.relation.columns), strict=True))
        texts = [f"CAST({own[name]} AS VARCHAR)" for name in names]
        values = [f"any_value({own[name]}) AS {quoted(name)}" for name in names]
        chosen = ", ".join([*values, f"count(*) AS {quoted(ROWS)}"])
        asked = f"SELECT {chosen} FROM written GROUP BY {', '.join(texts)}"
        optional("pyarrow")
        found = pl.from_arrow(self.relation.query("written", asked).to_arrow_table())
        assert isinstance(found, pl.DataFrame)
        return found.drop(ROWS), found[ROWS].to_numpy().astype(float)
