"""Two tables of any size whose records correspond: the pairs of combinations, before and after.

A pair stands for all records that had one combination and have the other, so whatever compares
two tables record by record is exact on the pairs with their counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from ontomask.arrays import Longs
from ontomask.checks import did_you_mean
from ontomask.data.schema import Schema
from ontomask.engines.libraries import DuckDB, Library
from ontomask.engines.protecting import condensed_schema
from ontomask.engines.tables import PEOPLE, RECORDS, Amounts, LargeTable
from ontomask.errors import DataError
from ontomask.evaluation.unchanged import MOSTLY, NOTHING_UNCHANGED, UnchangedRisk

__all__ = ["Pairs", "pairs_of"]

BEFORE, AFTER = "before ", "after "
"""What the columns of both tables are called side by side."""

THERE = "ontomask there"


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of combinations of two tables.

    Attributes
    ----------
    before, after
        A row for each pair; those of records that the second table lacks are in `before` only.
    rows
        Which rows of `before` those of `after` belong to.
    schema
        What the columns are.
    records
        How many records the original has.
    unchanged
        Who is alone by the columns that are published as they are.
    """

    before: pl.DataFrame
    after: pl.DataFrame
    rows: Longs
    schema: Schema
    records: int
    unchanged: UnchangedRisk


def pairs_of(
    original: Any,
    masked: Any,
    schema: Schema,
    columns: Sequence[str],
    key: str | None = None,
    library: Library | None = None,
) -> Pairs:
    """Count the pairs of two tables that one library holds; of DuckDB, in one connection.

    Parameters
    ----------
    original, masked
        The tables.
    schema
        What their columns are.
    columns
        Those that are compared; the second table may lack some.
    key
        A column that says which records correspond; by default, they stand in the same order.
    library
        What holds them, DuckDB by default.
    """
    if schema.unit is not None:
        raise DataError(
            f"Column {schema.unit!r} says whose each record is, so every record is needed; give "
            "tables that fit into memory, or declare the column without unit."
        )
    before, after = (LargeTable.of(one, library or DuckDB()) for one in (original, masked))
    before.require([*columns, *(name for name in (schema.count, schema.weight) if name)])
    chosen = [name for name in columns if name in after.names]
    if not chosen:
        raise DataError("The masked table has none of the columns that are to be compared.")
    beside = _beside(before, after, key)
    named = (None if one is None else BEFORE + one for one in (schema.count, schema.weight))
    amounts = Amounts(*named)
    hidden = (*schema.quasi, schema.count)
    others = [one for one in schema.published if one in after.names and one not in hidden]
    unchanged = _unchanged(beside, others, amounts.count)
    old, new = _counted(beside, chosen, amounts)
    rows, known = np.arange(len(new)), condensed_schema(schema, chosen)
    return Pairs(old, new, rows, known, int(old[RECORDS].sum()), unchanged)


def _counted(
    beside: LargeTable, names: Sequence[str], amounts: Amounts
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The combinations of each pair; those that are in the first table only come last."""
    both = [side + name for side in (BEFORE, AFTER) for name in names]
    found = beside.tuples([THERE, *both], amounts)
    sums = {name: name for name in (RECORDS, PEOPLE) if name in found.columns}
    old, new = (
        found.select(**{name: side + name for name in names}, **sums) for side in (BEFORE, AFTER)
    )
    return old, new[: int(found[THERE].count())]


def _beside(before: LargeTable, after: LargeTable, key: str | None) -> LargeTable:
    """Both tables side by side, with a column that is missing where the second lacks a record."""
    library, sizes = before.library, [one.size(None)[0] for one in (before, after)]
    own = library.renamed(before.native, [f"b{place}" for place in range(len(before.names))])
    masked = library.renamed(after.native, [f"a{place}" for place in range(len(after.names))])
    if key is None:
        _require_equal(*sizes)
        joined = library.beside(own, masked)
    else:
        sides = zip((before, after), sizes, ("original", "masked table"), strict=True)
        for table, size, called in sides:
            _require_key(table, key, size, called)
        by = f"b{before.names.index(key)}", f"a{after.names.index(key)}"
        joined = library.beside(own, masked, by)
    names = [*(BEFORE + one for one in before.names), *(AFTER + one for one in after.names)]
    beside = LargeTable.of(library.renamed(joined, names), library)
    there = nw.lit(True) if key is None else nw.when(~beside.column(AFTER + key).is_null()).then(1)
    return beside.with_column(THERE, there)


def _require_equal(before: int, after: int) -> None:
    if before != after:
        raise DataError(
            f"The original has {before} records and the masked table {after}; they must correspond "
            "record by record. Name a column of both that tells which do (key, --key)."
        )


def _require_key(table: LargeTable, key: str, size: int, called: str) -> None:
    """Refuse a key that is not there, or does not tell every record from all others."""
    if key not in table.names:
        raise DataError(
            f"The {called} has no column {key!r}, which is to tell which records correspond (key, "
            f"--key); name one that both have.{did_you_mean(key, table.names)}"
        )
    table.require([key])
    if table.distinct([key])[key] != size:
        raise DataError(
            f"Column {key!r} does not tell all records apart, so it cannot say which correspond; "
            "name another one as key."
        )


def _unchanged(beside: LargeTable, names: Sequence[str], count: str | None) -> UnchangedRisk:
    """Who is alone by the columns of which at least half of the values are the original ones."""
    names = [name for name in names if _comparable(beside, name)]
    there = replace(beside, native=beside.lazy.filter(~beside.column(THERE).is_null()).to_native())
    same = [
        (there.column(BEFORE + name) == there.column(AFTER + name)).fill_null(False)
        | (there.column(BEFORE + name).is_null() & there.column(AFTER + name).is_null())
        for name in names
    ]
    asked = [one.cast(nw.Int64).mean().alias(f"v{place}") for place, one in enumerate(same)]
    if not asked:
        return NOTHING_UNCHANGED
    shares = there.library.collected(there.lazy.select(*asked).to_native()).row(0)
    mostly = [name for name, share in zip(names, shares, strict=True) if share >= 1.0 - MOSTLY]
    found = there.alone_by([AFTER + name for name in mostly], count)
    single = tuple((name.removeprefix(AFTER), share) for name, share in found.single)
    return replace(found, columns=tuple(mostly), single=single)


def _comparable(beside: LargeTable, name: str) -> bool:
    """Whether both tables hold numbers, or neither does: numbers may have become intervals."""
    before, after = (beside.types[side + name].is_numeric() for side in (BEFORE, AFTER))
    return before == after
