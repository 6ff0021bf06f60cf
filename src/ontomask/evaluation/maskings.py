"""Masked tables as classifiers see them: records to train on, and test records made like them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ontomask.arrays import Bools, Longs
from ontomask.data.encoding import encode
from ontomask.data.schema import Column, Schema
from ontomask.data.tables import Table, open_table
from ontomask.data.values import is_star, read_span
from ontomask.errors import DataError, MethodError
from ontomask.evaluation.features import Features, blank, category_codes, read_features

__all__ = ["Columns", "Masking", "Protected", "read_masking"]


class AppliesToRecords(Protocol):
    """What gives records not seen the values that masked ones have."""

    def apply(self, frame: Any) -> Any:
        """Transform records; they stay in their order."""
        ...


class Protected(Protocol):
    """A masked table, such as a release.

    Further attributes are used where they are there: `scheme` (something with `apply`, or with
    `transform`, which treats all records alike; None, or an attribute that raises a `MethodError`,
    for methods that keep the domain of values), `rows` (for each masked record its position in the
    table that was masked; needed where records are left out) and `suppressed` (which masked records
    are suppressed; by default those whose quasi-identifiers are all missing or `*`).
    """

    @property
    def frame(self) -> Any:
        """The masked records."""
        ...


@dataclass(frozen=True)
class Columns:
    """What is to be predicted from what.

    Attributes
    ----------
    target, classes
        The column to be predicted and its values.
    features
        The columns to predict from.
    intervals
        Whether numbers generalized to intervals enter as `categories` or as `midpoints`.
    """

    schema: Schema
    target: str
    classes: tuple[object, ...]
    features: tuple[str, ...]
    intervals: str


@dataclass(frozen=True, eq=False)
class Masking:
    """Masked records to train on and transformed records to test on.

    Attributes
    ----------
    training, labels, rows
        Of each masked record the features, the class (-1 if it does not train) and the position in
        the table that was masked.
    testing
        The features of each test record.
    transformed
        Which test records could be transformed; the features of the others mean nothing.
    suppressed
        Which test records come out suppressed.
    """

    training: Features
    labels: Longs
    rows: Longs
    testing: Features
    transformed: Bools
    suppressed: Bools

    def released(self, count: int) -> Bools:
        """Which of the `count` records that were masked are released and not suppressed."""
        found = np.zeros(count, bool)
        found[self.rows[self.labels >= 0]] = True
        return found


def read_masking(protected: Protected, original: Table, tests: Table, columns: Columns) -> Masking:
    """Read the masking of an original table, and transform test records in the same way."""
    table = open_table(protected.frame)
    if columns.target not in table.names:
        raise DataError(
            f"The masked table has no column {columns.target!r}, so there is nothing to learn; the "
            "target must be published."
        )
    names = [name for name in columns.features if name in table.names]
    rows = _rows(protected, table, original, columns.schema)
    scheme = _scheme(protected)
    generalized = scheme is None and _is_generalized(table, original, names, columns.schema)
    if scheme is not None or generalized:
        _refuse_masked_target(columns)
    transformed: Table | None
    if generalized:
        transformed, places = _own_versions(table, rows, original, tests)
    else:
        transformed, places = _transformed(scheme, tests, columns.schema)
    if transformed is None:
        _check_unchanged(table, rows, original, names)
        transformed = tests
    training, testing = read_features(
        names, columns.schema, [table, transformed], columns.intervals
    )
    labels = category_codes(table, columns.target, columns.classes)
    return Masking(
        training,
        np.where(_suppressed(protected, table, original, rows, columns.schema), -1, labels),
        rows,
        testing.chosen(np.maximum(places, 0)),
        places >= 0,
        _blanked(transformed, tests, columns.schema)[np.maximum(places, 0)] | (places < 0),
    )


def _scheme(protected: Protected) -> AppliesToRecords | None:
    try:
        found: AppliesToRecords | None = getattr(protected, "scheme", None)
    except MethodError:
        return None
    return found


def _is_generalized(table: Table, original: Table, names: Sequence[str], schema: Schema) -> bool:
    """Whether masked values are labels that original ones are not: intervals, groups of words."""
    return any(_has_labels(table, original, name, schema.column(name)) for name in names)


def _has_labels(table: Table, original: Table, name: str, column: Column) -> bool:
    values = [one for one in table.distinct(name)[1] if not is_star(one)]
    if column.kind in ("numeric", "date"):
        spans = [read_span(one, column) for one in values]
        return not all(one is not None and one.is_point for one in spans)
    known = set(map(str, original.distinct(name)[1]))
    return not known.issuperset(map(str, values))


def _own_versions(table: Table, rows: Longs, original: Table, tests: Table) -> tuple[Table, Longs]:
    """Test records as they were released, where nothing else tells how they look generalized."""
    if tests is not original:
        raise MethodError(
            "Records that were generalized differently from each other, or without a scheme, tell "
            "nothing about others; judge one release of the whole table (masking='once')."
        )
    places = np.full(len(original), -1, np.int64)
    places[rows] = np.arange(rows.size)
    return table, places


def _refuse_masked_target(columns: Columns) -> None:
    """Masking would look at the target of test records to choose the values of their features."""
    if columns.schema[columns.target].role == "quasi":
        raise MethodError(
            f"The target {columns.target!r} is a quasi-identifier, so that masking a test record "
            "would make use of the answer; give it the role 'sensitive' or 'other'."
        )


def _rows(protected: Protected, table: Table, original: Table, schema: Schema) -> Longs:
    """For each masked record its position in the table that was masked."""
    given = getattr(protected, "rows", None)
    if given is not None:
        rows = np.asarray(given, np.int64)
    elif len(table) == len(original):
        rows = np.arange(len(original))
    else:
        rows = encode(original, schema).rows
    if rows.size != len(table) or rows.max(initial=0) >= len(original) or (rows < 0).any():
        raise DataError(
            f"The masked table has {len(table)} of {len(original)} records, and it is not known "
            "which; give the masked table with the positions of its records in the original as "
            "`rows`."
        )
    return rows


def _transformed(
    scheme: AppliesToRecords | None, tests: Table, schema: Schema
) -> tuple[Table | None, Longs]:
    """The transformed test records and where each one is found among them, -1 for nowhere.

    No table where the scheme leaves out records on its own account.
    """
    everyone = np.arange(len(tests))
    if scheme is None:
        return tests, everyone
    change = getattr(scheme, "transform", scheme.apply)
    applied = change(tests.frame.to_native())
    if len(applied) == len(tests):
        return open_table(applied), everyone
    encoded = encode(tests, schema).rows
    if len(applied) != encoded.size:
        return None, everyone
    places = np.full(len(tests), -1, np.int64)
    places[encoded] = np.arange(encoded.size)
    return open_table(applied), places


def _check_unchanged(table: Table, rows: Longs, original: Table, names: Sequence[str]) -> None:
    """A release that only leaves out records transforms nothing; any other must not leave out."""
    for name in names:
        codes, distinct = original.distinct(name)
        if (category_codes(table, name, distinct) != codes[rows]).any():
            raise MethodError(
                "The scheme of the release changes values and leaves out records, so it is not "
                "known what became of each test record; judge a release that keeps all records."
            )


def _suppressed(
    protected: Protected, table: Table, original: Table, rows: Longs, schema: Schema
) -> Bools:
    """Which masked records are suppressed: as said, or those that lost all quasi-identifiers."""
    given = np.asarray(getattr(protected, "suppressed", 0))
    if given.dtype == np.bool_ and given.shape == (len(table),):
        return given
    return _blanked(table, original, schema, rows)


def _blanked(table: Table, before: Table, schema: Schema, rows: Longs | None = None) -> Bools:
    """Which records have lost all their quasi-identifiers."""
    names = [name for name in schema.quasi if name in table.names]
    now, earlier = blank(table, names), blank(before, names)
    if rows is None:
        return now if len(table) != len(before) else now & ~earlier
    return now & ~earlier[rows]
