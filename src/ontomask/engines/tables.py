"""A table of any size and the two questions asked of it.

*Which combinations of these columns are there, and how often?* (`LargeTable.tuples`; of a single
column these are its domain, of a written release they are its recount.) *Put new combinations in
the place of the old ones* (`LargeTable.rewritten`). Both are asked through Narwhals' lazy frames:
the library that holds the records answers them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from ontomask.arrays import Ints, Longs
from ontomask.checks import composed, did_you_mean
from ontomask.data.schema import Schema
from ontomask.engines.libraries import Library
from ontomask.errors import DataError, SchemaError
from ontomask.evaluation.unchanged import NOTHING_UNCHANGED, UnchangedRisk

__all__ = [
    "MARK",
    "PEOPLE",
    "RECORDS",
    "ROWS",
    "Amounts",
    "LargeTable",
    "Rewriting",
    "Shares",
    "Summary",
]

ROWS, RECORDS, PEOPLE = "ontomask rows", "ontomask records", "ontomask weight"
"""How many rows, records (rows times their count) and people each a combination stands for."""

MARK = "ontomask mark"
"""The sum of digests of what else stands in the rows of a combination."""

FINEST = 2**31
"""Survey weights are added up as whole multiples of their largest over this: sums of floats would
depend on the order in which threads deliver them."""


@dataclass(frozen=True)
class Amounts:
    """The columns that say how many records and people a row stands for, where there are any."""

    count: str | None = None
    weight: str | None = None

    @classmethod
    def of(cls, schema: Schema) -> Amounts:
        """Those that a schema declares."""
        return cls(schema.count, schema.weight)


@dataclass(frozen=True, eq=False)
class Summary:
    """A column's least and greatest value, with a gap if there is any, and how many gaps."""

    extremes: pl.DataFrame
    missing: int


@dataclass(frozen=True, eq=False)
class Shares:
    """Which of the new combinations each record of the old ones becomes.

    The records of an old combination are numbered in the order of what else they hold, so that they
    are the same ones in every library, however its rows are divided.

    Attributes
    ----------
    starts
        Where the records of each old combination begin.
    new
        For each record the row of its new combination, -1 if it is left out.
    """

    starts: Longs
    new: Ints


@dataclass(frozen=True, eq=False)
class Rewriting:
    """Combinations as they are in the table (`old`), and what replaces them (`new`), row by row.

    Rows of the table whose combination is not among the old ones are left out. With `shares`, the
    records of one old combination may become different new ones.
    """

    old: pl.DataFrame
    new: pl.DataFrame
    shares: Shares | None = None


@dataclass(frozen=True, eq=False)
class LargeTable:
    """A table of any size.

    Attributes
    ----------
    library
        What holds it.
    native
        The table under names that need no quoting: c0, c1, …
    own_names
        The names as they were given.
    """

    library: Library
    native: Any
    own_names: tuple[str, ...]

    @classmethod
    def of(cls, native: Any, library: Library) -> LargeTable:
        """Take a frame or relation."""
        own = tuple(library.names(native))
        numbered = library.renamed(native, [f"c{place}" for place in range(len(own))])
        table = cls(library, numbered, own)
        twice = [name for name in table.names if table.names.count(name) > 1]
        if twice:
            raise DataError(
                f"Two columns are called {twice[0]!r}, perhaps once with composed and once with "
                "separate accents; rename one of them."
            )
        return table

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names in Unicode's composed form, in order."""
        return tuple(composed(name) for name in self.own_names)

    @functools.cached_property
    def lazy(self) -> nw.LazyFrame[Any]:
        """The table as Narwhals sees it."""
        lazy: nw.LazyFrame[Any] = nw.from_native(self.native).lazy()
        return lazy

    @functools.cached_property
    def types(self) -> Mapping[str, nw.dtypes.DType]:
        """The columns' types by name."""
        return dict(zip(self.names, self.lazy.collect_schema().values(), strict=True))

    def require(self, names: Sequence[str]) -> None:
        """Refuse columns that are not there, or hold lists or records."""
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise SchemaError(
                f"The schema names a column {unknown[0]!r} that the table does not have."
                f"{did_you_mean(unknown[0], self.names)}"
            )
        types = {name: self.types[name] for name in names}
        odd = [name for name, one in types.items() if one.is_nested() or one == nw.Object]
        if odd:
            raise DataError(
                f"Column {odd[0]!r} holds values of a type that cannot be worked with "
                f"({types[odd[0]]}); make them texts, numbers or plain dates, or leave the "
                "column out."
            )

    def column(self, name: str) -> nw.Expr:
        """A column with one zero and one missing value, whatever the library makes of -0.0 and NaN.

        Types that Narwhals does not know, and categories, are taken as the texts that they show.
        """
        own, kind = nw.col(f"c{self.names.index(name)}"), self.types[name]
        if kind.is_float():
            # not by is_nan: from the statistics of a Parquet file, which leave out NaN, DuckDB
            # concludes that there is none
            known = own.is_finite() | (own == math.inf) | (own == -math.inf)
            zeroed = nw.when(own == 0).then(nw.lit(0.0).cast(kind)).otherwise(own)
            return nw.when(known).then(zeroed)
        if kind in (nw.Categorical, nw.Enum, nw.Unknown):
            return own.cast(nw.String)
        return own

    def _floats(self, names: Sequence[str]) -> dict[str, type[pl.DataType]]:
        """The types of those columns that hold floats."""
        kinds = {name: self.types[name] for name in names if self.types[name].is_float()}
        return {n: pl.Float32 if one == nw.Float32 else pl.Float64 for n, one in kinds.items()}

    def _seen(self, name: str) -> nw.Expr:
        """A column whose floats are the texts that tell them all apart."""
        own = nw.col(f"c{self.names.index(name)}")
        return own.cast(nw.String) if self._floats([name]) else self.column(name)

    # The first question -----------------------------------------------------------------------

    def tuples(
        self,
        names: Sequence[str],
        amounts: Amounts,
        *,
        as_seen: bool = False,
        beside: Sequence[str] = (),
    ) -> pl.DataFrame:
        """The distinct combinations of some columns, in their order, with what they stand for.

        Parameters
        ----------
        names
            The columns.
        amounts
            The columns that count and weigh rows.
        as_seen
            Tell values apart as a reader of the table would: -0.0 from 0.0, NaN from a gap.
        beside
            Columns of whose values a digest is added up for each combination (`MARK`).
        """
        keys = [f"k{place}" for place in range(len(names))]
        view = self._seen if as_seen else self.column
        columns = [view(name).alias(key) for key, name in zip(keys, names, strict=True)]
        scale = self._finest(amounts.weight)
        chosen = self.lazy.select(
            *columns,
            *self._amounts(amounts, scale),
            *(self._marked(name).alias(f"m{place}") for place, name in enumerate(beside)),
        )
        grouped = self._with_mark(chosen, len(beside)).group_by(*keys)
        marks = [nw.col("mark").sum().cast(nw.Int64)] if beside else []
        answer = self.library.collected(
            grouped.agg(nw.len().alias("rows"), *self._sums(amounts), *marks).to_native()
        )
        whole = [pl.col(one).cast(pl.Int64) for one in ("rows", "records") if one in answer.columns]
        found = answer.with_columns(whole).rename(dict(zip(keys, names, strict=True)))
        if as_seen:
            found = found.with_columns(
                pl.col(n).cast(one) for n, one in self._floats(names).items()
            )
        named = found.rename({"mark": MARK}, strict=False)
        return _with_amounts(named, amounts, scale).sort(names, nulls_last=True)

    def markable(self, name: str) -> bool:
        """Whether a column's values are the same numbers and texts wherever they are written."""
        kind = self.types[name]
        texts = (nw.String, nw.Date, nw.Boolean, nw.Categorical, nw.Enum)
        return kind.is_numeric() or kind in texts

    def _marked(self, name: str) -> nw.Expr:
        """A column as numbers or texts, which another place of writing does not change."""
        kind = self.types[name]
        plain = kind.is_numeric() or kind == nw.Boolean
        return self.column(name).cast(nw.Float64 if plain else nw.String)

    def _with_mark(self, chosen: nw.LazyFrame[Any], columns: int) -> nw.LazyFrame[Any]:
        if not columns:
            return chosen
        names = [f"m{place}" for place in range(columns)]
        marked: nw.LazyFrame[Any] = nw.from_native(
            self.library.marked(chosen.to_native(), names, "mark")
        ).lazy()
        return marked

    def _finest(self, weight: str | None) -> float:
        """What survey weights are multiplied by to be added up as whole numbers."""
        if weight is None:
            return 1.0
        largest = self.summaries([weight])[weight].extremes[weight].max()
        return FINEST / largest if isinstance(largest, (int, float)) and largest > 0 else 1.0

    def _amounts(self, amounts: Amounts, scale: float) -> Iterator[nw.Expr]:
        counts = nw.lit(1) if amounts.count is None else self.column(amounts.count)
        if amounts.count is not None:
            yield counts.cast(nw.Int64).alias("records")
        if amounts.weight is not None:
            people = self.column(amounts.weight) * scale
            yield (people.round(0).cast(nw.Int64) * counts.cast(nw.Int64)).alias("people")

    @staticmethod
    def _sums(amounts: Amounts) -> Iterator[nw.Expr]:
        if amounts.count is not None:
            yield nw.col("records").sum()
        if amounts.weight is not None:
            yield nw.col("people").sum().cast(nw.Float64)

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """What there is to say of columns without knowing all their values, in one question."""
        asked = [
            part.alias(f"{what}{place}")
            for place in range(len(names))
            for what, part in _summed_up(nw.col(f"v{place}")).items()
        ]
        if not asked:
            return {}
        columns = [self.column(name).alias(f"v{place}") for place, name in enumerate(names)]
        answer = self.library.collected(self.lazy.select(*columns).select(*asked).to_native())
        return {name: _summary(answer, place, name) for place, name in enumerate(names)}

    def size(self, count: str | None) -> tuple[int, int]:
        """How many rows there are, and how many records they stand for."""
        rows = self.lazy.select(nw.len().alias("rows"))
        found = int(self.library.collected(rows.to_native()).item())
        if count is None:
            return found, found
        records = self.lazy.select(self.column(count).cast(nw.Int64).sum().alias("records"))
        return found, int(self.library.collected(records.to_native()).item() or 0)

    def distinct(self, names: Sequence[str]) -> dict[str, int]:
        """How many different values each of some columns has, without the missing one."""
        columns = [self.column(name).alias(f"v{place}") for place, name in enumerate(names)]
        asked = [
            (
                nw.col(f"v{place}").n_unique() - nw.col(f"v{place}").is_null().any().cast(nw.Int64)
            ).alias(f"v{place}")
            for place in range(len(names))
        ]
        answer = self.library.collected(self.lazy.select(*columns).select(*asked).to_native())
        return dict(zip(names, map(int, answer.row(0)), strict=True))

    def alone(self, names: Sequence[str], count: str | None) -> float:
        """The share of records that share their values of some columns with no other."""
        keys = [f"k{place}" for place in range(len(names))]
        columns = [self.column(name).alias(key) for key, name in zip(keys, names, strict=True)]
        counts = [] if count is None else [self.column(count).cast(nw.Int64).alias("count")]
        records = nw.len() if count is None else nw.col("count").sum()
        asked = self.lazy.select(*columns, *counts).group_by(*keys)
        sizes = asked.agg(records.alias("records"))
        single = (nw.col("records") == 1).cast(nw.Int64)
        answer = sizes.select(single.sum().alias("alone"), nw.col("records").sum().alias("all"))
        alone, everyone = self.library.collected(answer.to_native()).row(0)
        return float(alone) / float(everyone)

    def alone_by(self, names: Sequence[str], count: str | None) -> UnchangedRisk:
        """The records that some columns single out, together and one by one."""
        if not names:
            return NOTHING_UNCHANGED
        single = tuple((name, self.alone([name], count)) for name in names)
        alone = single[0][1] if len(single) == 1 else self.alone(names, count)
        return UnchangedRisk(tuple(names), alone, single)

    # The second question ----------------------------------------------------------------------

    def with_column(self, name: str, made: nw.Expr) -> LargeTable:
        """The table with a further column."""
        wider = self.lazy.with_columns(made.alias(f"c{len(self.names)}"))
        return replace(self, native=wider.to_native(), own_names=(*self.own_names, name))

    def rewritten(self, rewritings: Sequence[Rewriting], published: Sequence[str]) -> Any:
        """The published columns, with new combinations in the place of the old ones."""
        lazy, found, ranks = self.lazy, dict[str, nw.Expr](), list[str]()
        order = {name: f"o{place}" for place, name in enumerate(published)}
        if any(one.shares for one in rewritings):
            lazy = lazy.with_columns(*(self.column(name).alias(one) for name, one in order.items()))
        for place, rewriting in enumerate(rewritings):
            if rewriting.shares is None:
                lazy = self._joined(lazy, rewriting.old, _numbered(rewriting.new, place), place)
            else:
                others = [one for name, one in order.items() if name not in rewriting.old.columns]
                lazy = self._shared(lazy, rewriting, place, [*others, *ranks])
                ranks.append(f"r{place}")
            found |= {
                name: nw.col(f"n{place}_{column}")
                for column, name in enumerate(rewriting.new.columns)
            }
        columns = [found.get(name, self.column(name)) for name in published]
        chosen = lazy.select(*(one.alias(f"p{place}") for place, one in enumerate(columns)))
        own = dict(zip(self.names, self.own_names, strict=True))
        return self.library.renamed(chosen.to_native(), [own[name] for name in published])

    def _shared(
        self, lazy: nw.LazyFrame[Any], rewriting: Rewriting, place: int, order: Sequence[str]
    ) -> nw.LazyFrame[Any]:
        """Number the records of each combination, and put beside each what it becomes.

        Equal records may be numbered in any order, but it must be the same in all rewritings: the
        numbers of earlier ones are part of the order.
        """
        assert rewriting.shares is not None
        start, rank, part = f"s{place}", f"r{place}", f"t{place}"
        starts = pl.DataFrame({start: rewriting.shares.starts})
        joined = self._joined(lazy, rewriting.old, starts, place).to_native()
        numbered = self.library.ranked(joined, start, order or [start], rank)
        ranked: nw.LazyFrame[Any] = nw.from_native(numbered).lazy()
        new, whole = rewriting.shares.new.astype(np.int64), _numbered(rewriting.new, place)
        records = pl.DataFrame({rank: np.arange(new.size), part: new}).filter(pl.col(part) >= 0)
        parts = whole.with_columns(pl.Series(part, np.arange(len(whole))))
        return (
            ranked.with_columns((nw.col(start) + nw.col(rank)).alias(rank))
            .join(self._lent(records), on=rank)
            .join(self._lent(parts), on=part)
        )

    def _lent(self, small: pl.DataFrame) -> nw.LazyFrame[Any]:
        lent: nw.LazyFrame[Any] = nw.from_native(self.library.lent(small, self.native)).lazy()
        return lent

    def _joined(
        self, lazy: nw.LazyFrame[Any], old: pl.DataFrame, new: pl.DataFrame, place: int
    ) -> nw.LazyFrame[Any]:
        """Join by equal values, where a missing value equals a missing one."""
        names = [f"k{place}_{column}" for column in range(old.width)]
        keyed = old.rename(dict(zip(old.columns, names, strict=True)))
        lent = self.library.lent(pl.concat([keyed, new], how="horizontal"), self.native)
        own = [f"j{place}_{column}" for column in range(old.width)]
        columns = [self.column(name).alias(key) for key, name in zip(own, old.columns, strict=True)]
        wider = lazy.with_columns(*columns).to_native()
        gaps = {key for key in names if keyed[key].null_count()}
        joined = self.library.joined(wider, lent, dict(zip(own, names, strict=True)), gaps)
        beside: nw.LazyFrame[Any] = nw.from_native(joined).lazy()
        return beside


def _numbered(new: pl.DataFrame, place: int) -> pl.DataFrame:
    """New columns under names that need no quoting."""
    return new.rename({name: f"n{place}_{column}" for column, name in enumerate(new.columns)})


def _summed_up(column: nw.Expr) -> dict[str, nw.Expr]:
    return {
        "low": column.min(),
        "high": column.max(),
        "missing": column.is_null().cast(nw.Int64).sum(),
    }


def _summary(answer: pl.DataFrame, place: int, name: str) -> Summary:
    missing = int(answer[f"missing{place}"].item() or 0)
    known = pl.concat([answer[f"low{place}"].alias(name), answer[f"high{place}"].alias(name)])
    gap = pl.Series(name, [None] if missing else [], known.dtype)
    return Summary(pl.concat([known, gap]).to_frame(), missing)


def _with_amounts(found: pl.DataFrame, amounts: Amounts, scale: float) -> pl.DataFrame:
    """Rows, records and the mean weight of a combination under their lasting names."""
    records = pl.col("rows" if amounts.count is None else "records")
    made = [pl.col("rows").alias(ROWS), records.alias(RECORDS)]
    if amounts.weight is not None:
        made.append((pl.col("people") / scale / records).alias(PEOPLE))
    return found.with_columns(made).drop("rows", "records", "people", strict=False)
