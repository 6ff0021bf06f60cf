"""What Narwhals does not tell alike of DuckDB, Spark and Polars' lazy frames.

How a small table is brought to the large one, how an answer comes back, how columns get names that
need no quoting, and how files are read and written. Everything else is asked through Narwhals.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl
import polars.selectors as cs

from ontomask.errors import DataError
from ontomask.extras import optional

__all__ = ["DuckDB", "LazyPolars", "Library", "Spark", "library_of"]


MARKS = 2**28
"""How many marks there are: their sum over ten thousand million rows is still a whole number."""

BROADCAST = 1_000_000
"""Spark gives every executor a copy of tables with no more rows, instead of sorting both sides."""


class Library(Protocol):
    """What has to be known of the library that holds a large table."""

    @property
    def name(self) -> str:
        """What it is called in a plan."""
        ...

    def names(self, native: Any) -> list[str]:
        """The columns' names, in order."""
        ...

    def renamed(self, native: Any, names: Sequence[str]) -> Any:
        """The same columns under other names, by position, since old ones may be odd."""
        ...

    def collected(self, native: Any) -> pl.DataFrame:
        """The answer to a question, which fits into memory."""
        ...

    def lent(self, frame: pl.DataFrame, beside: Any) -> Any:
        """A small table, where it can be joined with a large one."""
        ...

    def joined(self, large: Any, small: Any, pairs: Mapping[str, str], gaps: Set[str]) -> Any:
        """Rows of a large and a small table that are equal in paired columns, gaps too.

        `gaps` are the columns of the small table that have any.
        """
        ...

    def beside(self, first: Any, second: Any, by: tuple[str, str] | None = None) -> Any:
        """All rows of a table, with those of another at their side.

        Those in the same place; or those with the same value in two columns, where there are any.
        """
        ...

    def marked(self, native: Any, names: Sequence[str], mark: str) -> Any:
        """The table with a column that tells rows of other values in some columns apart."""
        ...

    def ranked(self, native: Any, group: str, order: Sequence[str], rank: str) -> Any:
        """The table with the number, from 0, of each row in its group; missing values come first.

        Narwhals has no such number by several columns but a running sum, which takes twice as long.
        """
        ...


@dataclass(frozen=True)
class DuckDB:
    """Relations of DuckDB, whatever connection they belong to."""

    name: str = "duckdb"

    def names(self, native: Any) -> list[str]:
        """The columns' names, in order."""
        return list(native.columns)

    def renamed(self, native: Any, names: Sequence[str]) -> Any:
        """The same columns under other names, by position."""
        column = optional("duckdb").ColumnExpression
        pairs = zip(native.columns, names, strict=True)
        return native.select(*(column(own).alias(name) for own, name in pairs))

    def collected(self, native: Any) -> pl.DataFrame:
        """The answer to a question, which fits into memory."""
        optional("pyarrow")
        return _from_arrow(native.to_arrow_table())

    def lent(self, frame: pl.DataFrame, beside: Any) -> Any:
        """A small table in the connection of the large one, which only that one knows."""
        lent = frame.to_arrow()  # found by the query under the name of this variable
        relation = beside.query("large", "SELECT * FROM lent")
        del lent
        return relation

    def joined(self, large: Any, small: Any, pairs: Mapping[str, str], gaps: Set[str]) -> Any:
        """Rows that are equal in columns whose names need no quoting."""
        equal = ["IS NOT DISTINCT FROM" if one in gaps else "=" for one in pairs.values()]
        both = zip(pairs, equal, pairs.values(), strict=True)
        same = " AND ".join(" ".join(one) for one in both)
        return large.set_alias("large").join(small.set_alias("small"), same, how="inner")

    def beside(self, first: Any, second: Any, by: tuple[str, str] | None = None) -> Any:
        """Rows side by side, by their place or by columns whose names need no quoting."""
        masked = second  # found by the query under the name of this variable
        how = "POSITIONAL JOIN masked" if by is None else f"LEFT JOIN masked ON {' = '.join(by)}"
        try:
            beside = first.query("original", f"SELECT * FROM original {how}")
            del masked
            return beside
        except optional("duckdb").InvalidInputException:
            raise DataError(
                "The original and the masked table belong to different connections of DuckDB; open "
                "both with one."
            ) from None

    def marked(self, native: Any, names: Sequence[str], mark: str) -> Any:
        """The table with a digest of some columns, whose names need no quoting."""
        return native.project(f"*, (hash({', '.join(names)}) & {MARKS - 1})::INTEGER AS {mark}")

    def ranked(self, native: Any, group: str, order: Sequence[str], rank: str) -> Any:
        """The table with the number of each row in its group."""
        ordered = ", ".join(f"{name} NULLS FIRST" for name in order)
        number = f"row_number() OVER (PARTITION BY {group} ORDER BY {ordered})"
        return native.project(f"*, {number} - 1 AS {rank}")


@dataclass(frozen=True)
class Spark:
    """Frames of PySpark; the session is the user's."""

    name: str = "spark"

    def names(self, native: Any) -> list[str]:
        """The columns' names, in order."""
        return list(native.columns)

    def renamed(self, native: Any, names: Sequence[str]) -> Any:
        """The same columns under other names, by position."""
        return native.toDF(*names)

    def collected(self, native: Any) -> pl.DataFrame:
        """The answer to a question, which fits into memory."""
        return _from_arrow(native.toArrow())

    def lent(self, frame: pl.DataFrame, beside: Any) -> Any:
        """A small table in the session of the large one, to be copied to every executor."""
        signed = frame.with_columns(cs.unsigned_integer().cast(pl.Int64))  # Spark has no others
        lent = beside.sparkSession.createDataFrame(signed.to_arrow())
        if len(frame) > BROADCAST:
            return lent
        return optional("pyspark.sql.functions").broadcast(lent)

    def joined(self, large: Any, small: Any, pairs: Mapping[str, str], gaps: Set[str]) -> Any:
        """Rows that are equal in paired columns."""
        column = optional("pyspark.sql.functions").col
        both = [(column(one), column(other), other in gaps) for one, other in pairs.items()]
        equal = [own.eqNullSafe(its) if gap else own == its for own, its, gap in both]
        return large.join(small, equal, "inner")

    def beside(self, first: Any, second: Any, by: tuple[str, str] | None = None) -> Any:
        """Rows side by side, by columns; Spark's rows have no places."""
        if by is None:
            raise DataError(
                "Spark keeps no order of records, so it cannot tell which correspond; name a "
                "column of both tables that does (key)."
            )
        column = optional("pyspark.sql.functions").col
        return first.join(second, column(by[0]) == column(by[1]), "left")

    def marked(self, native: Any, names: Sequence[str], mark: str) -> Any:
        """The table with a digest of some columns."""
        functions = optional("pyspark.sql.functions")
        digest = functions.xxhash64(*names)
        return native.withColumn(mark, functions.pmod(digest, functions.lit(MARKS)))

    def ranked(self, native: Any, group: str, order: Sequence[str], rank: str) -> Any:
        """The table with the number of each row in its group."""
        functions = optional("pyspark.sql.functions")
        ordered = [functions.col(name).asc_nulls_first() for name in order]
        window = optional("pyspark.sql.window").Window.partitionBy(group).orderBy(*ordered)
        return native.withColumn(rank, functions.row_number().over(window).cast("long") - 1)


@dataclass(frozen=True)
class LazyPolars:
    """Lazy frames of Polars, collected by its streaming engine."""

    name: str = "polars"

    def names(self, native: Any) -> list[str]:
        """The columns' names, in order."""
        return list(native.collect_schema().names())

    def renamed(self, native: Any, names: Sequence[str]) -> Any:
        """The same columns under other names, by position."""
        own = self.names(native)
        return native.select(pl.col(old).alias(new) for old, new in zip(own, names, strict=True))

    def collected(self, native: Any) -> pl.DataFrame:
        """The answer to a question, which fits into memory."""
        answer: pl.DataFrame = native.collect(engine="streaming")
        return answer

    def lent(self, frame: pl.DataFrame, beside: Any) -> Any:  # noqa: ARG002 - no session to share
        """A small table as a lazy frame."""
        return frame.lazy()

    def joined(self, large: Any, small: Any, pairs: Mapping[str, str], gaps: Set[str]) -> Any:
        """Rows that are equal in paired columns."""
        own, others = list(pairs), list(pairs.values())
        return large.join(small, left_on=own, right_on=others, nulls_equal=bool(gaps))

    def beside(self, first: Any, second: Any, by: tuple[str, str] | None = None) -> Any:
        """Rows side by side, by their place or by columns."""
        if by is None:
            return pl.concat([first, second], how="horizontal")
        return first.join(second, left_on=by[0], right_on=by[1], how="left", coalesce=False)

    def marked(self, native: Any, names: Sequence[str], mark: str) -> Any:
        """The table with a digest of some columns."""
        digests = [pl.col(name).hash(place) for place, name in enumerate(names)]
        together = functools.reduce(lambda one, other: one ^ other, digests)
        return native.with_columns((together % MARKS).cast(pl.Int64).alias(mark))

    def ranked(self, native: Any, group: str, order: Sequence[str], rank: str) -> Any:
        """The table with the number of each row in its group."""
        number = pl.int_range(pl.len(), dtype=pl.Int64).over(group, order_by=list(order))
        return native.with_columns(number.alias(rank))


def _from_arrow(table: Any) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


def library_of(frame: object) -> Library | None:
    """The library that a large table belongs to; None for frames that are in memory."""
    if isinstance(frame, pl.LazyFrame):
        return LazyPolars()
    home = type(frame).__module__.partition(".")[0]
    if home in ("duckdb", "_duckdb") and type(frame).__name__ == "DuckDBPyRelation":
        return DuckDB()
    if home == "pyspark" and type(frame).__name__ == "DataFrame":
        return Spark()
    return None
