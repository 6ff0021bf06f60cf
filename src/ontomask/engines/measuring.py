"""The risk of a table of any size, by its distinct combinations."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ontomask.data.schema import Schema
from ontomask.engines.files import opened_paths
from ontomask.engines.libraries import Library, library_of
from ontomask.engines.protecting import condensed_schema
from ontomask.engines.tables import Amounts, LargeTable
from ontomask.errors import DataError
from ontomask.evaluation import assessment
from ontomask.evaluation.risk import FileRisk
from ontomask.evaluation.uniques import UniqueSets

__all__ = ["collected", "condensed", "file_risk", "minimal_unique_sets"]


MOST_RECORDS = 1_000_000
"""So many are collected from a query where a table is needed in memory."""


def collected(frame: object, schema: Schema) -> object:
    """A table in memory, where releases that are compared are made; a very large one is refused."""
    (frame,) = opened_paths([frame], {name: one.kind for name, one in schema.items()})
    library = library_of(frame)
    if library is None:
        return frame
    records = LargeTable.of(frame, library).size(None)[0]
    if records > MOST_RECORDS:
        raise DataError(
            f"Releases are compared in memory, and {records:,} records are more than the "
            f"{MOST_RECORDS:,} that are collected from a query or a large file; compare on a "
            "sample of them, and protect the whole table with what you choose."
        )
    return library.collected(frame)


def condensed(
    native: object, library: Library, schema: Schema, names: Sequence[str]
) -> tuple[pl.DataFrame, Schema]:
    """The combinations of some columns, each with its count of records, and what they are."""
    if schema.unit is not None:
        raise DataError(
            f"Column {schema.unit!r} says whose each record is, so every record is needed; give a "
            "data frame that fits into memory, or declare the column without unit."
        )
    table = LargeTable.of(native, library)
    table.require(names)
    return table.tuples(names, Amounts.of(schema)), condensed_schema(schema, names)


def _whole(frame: object, schema: Schema, columns: Sequence[str] | None) -> tuple[object, Schema]:
    """A frame as it is, a large one by the combinations that figures are counted from."""
    kinds = {name: one.kind for name, one in Schema.require(schema).items()}
    (frame,) = opened_paths([frame], kinds)
    library = library_of(frame)
    if library is None:
        return frame, schema
    chosen = (*(columns or schema.quasi), *schema.with_role("sensitive"))
    return condensed(frame, library, schema, list(dict.fromkeys(chosen)))


def file_risk(
    frame: object,
    schema: Schema,
    columns: Sequence[str] | None = None,
    *,
    threshold: float = 0.2,
    fraction: float | None = None,
    population: object = None,
) -> FileRisk:
    """Measure the risk of a table: classes, prosecutor, journalist and marketer risk, uniqueness.

    Parameters
    ----------
    frame
        A data frame, or a table of any size as in `protect`.
    schema
        What its columns are.
    columns
        What an intruder knows; the quasi-identifiers by default.
    threshold
        People whose risk is above it are counted.
    fraction
        The share of the population that is in the table, for estimates of population uniqueness.
    population
        A table of the population with the same columns, for the journalist risk.

    Examples
    --------
    >>> frame = pl.DataFrame({"sex": ["f", "f", "m", "m", "m"], "age": [30, 30, 40, 40, 70]})
    >>> risk = om.file_risk(frame, om.Schema(sex=om.Flat(), age=om.Numeric()))
    >>> risk.prosecutor.highest, risk.prosecutor.average
    (1.0, 0.6)
    >>> om.file_risk(frame.lazy(), om.Schema(sex=om.Flat())).prosecutor.highest
    0.5
    """
    return assessment.file_risk(
        *_whole(frame, schema, columns),
        columns,
        threshold=threshold,
        fraction=fraction,
        population=population,
    )


def minimal_unique_sets(
    frame: object, schema: Schema, columns: Sequence[str] | None = None, max_size: int = 3
) -> UniqueSets:
    """Find which combinations of columns single records out; see `evaluation.uniques`.

    Examples
    --------
    >>> frame = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": [30, 40, 30, 40]})
    >>> found = om.measuring.minimal_unique_sets(frame, om.Schema(sex=om.Flat(), age=om.Numeric()))
    >>> found.combinations[0].columns, found.combinations[0].unique
    (('sex', 'age'), 4)
    """
    return assessment.minimal_unique_sets(*_whole(frame, schema, columns), columns, max_size)
