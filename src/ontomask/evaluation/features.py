"""Columns as classifiers see them: numbers, and codes of categories.

Values are taken as they are written, so that generalized ones (`[20, 30)`, a chapter, a region)
enter as categories. A numeric or date column enters as numbers where all its values are such; with
`intervals="midpoints"` also where they are intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.data.schema import Column, Schema
from ontomask.data.tables import Table
from ontomask.data.values import is_star, read_span
from ontomask.extras import optional

__all__ = [
    "INTERVALS",
    "Encoder",
    "Features",
    "blank",
    "category_codes",
    "read_features",
    "written",
]

INTERVALS = ("categories", "midpoints")


@dataclass(frozen=True, eq=False)
class Features:
    """Some records' features.

    Attributes
    ----------
    numbers
        The numeric columns (records x columns), NaN where missing.
    codes
        The categories (records x columns), by their number in a dictionary that training and test
        records share; a missing value is a category of its own.
    sizes
        The number of categories of each column.
    """

    numbers: Floats
    codes: Ints
    sizes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.numbers)

    def chosen(self, records: Bools | Longs) -> Features:
        """The features of some of the records."""
        return Features(self.numbers[records], self.codes[records], self.sizes)


def read_features(
    names: Sequence[str], schema: Schema, tables: Sequence[Table], intervals: str = INTERVALS[0]
) -> list[Features]:
    """The features of several tables (training and test records) over common dictionaries."""
    numbers: list[list[Floats]] = [[] for _ in tables]
    codes: list[list[Ints]] = [[] for _ in tables]
    sizes: list[int] = []
    for name in names:
        columns = [_numeric(one, name, schema.column(name), intervals) for one in tables]
        known = [one for one in columns if one is not None]
        if len(known) == len(tables):
            _add(numbers, known)
            gaps = [np.isnan(one).astype(np.int32) for one in known]
            if any(one.any() for one in gaps):
                _add(codes, gaps)
                sizes.append(2)
        else:
            size, coded = _categories(name, tables)
            _add(codes, coded)
            sizes.append(size)
    return [
        Features(
            _side_by_side(mine, table, np.float64), _side_by_side(own, table, np.int32), (*sizes,)
        )
        for mine, own, table in zip(numbers, codes, tables, strict=True)
    ]


def _add(lists: list[list[Any]], columns: Sequence[Any]) -> None:
    for one, column in zip(lists, columns, strict=True):
        one.append(column)


def _side_by_side(columns: Sequence[Any], table: Table, kind: type) -> Any:
    return np.column_stack(columns) if columns else np.empty((len(table), 0), kind)


# Reading --------------------------------------------------------------------------------------


def _numeric(table: Table, name: str, column: Column, intervals: str) -> Floats | None:
    """A numeric or date column as numbers, NaN where missing; None where it holds anything else."""
    if column.kind not in ("numeric", "date"):
        return None
    if table.is_number(name):
        return table.numbers(name)
    codes, distinct = table.distinct(name)
    parsed = [_number(value, column, intervals) for value in distinct]
    found = [one for one in parsed if one is not None]
    if len(found) < len(parsed):
        return None
    result: Floats = np.array([*found, math.nan])[codes]
    return result


def _number(value: object, column: Column, intervals: str) -> float | None:
    if is_star(value):
        return math.nan
    span = read_span(value, column)
    if span is None or not (span.is_point or intervals == "midpoints"):
        return None
    return span.middle


def _categories(name: str, tables: Sequence[Table]) -> tuple[int, list[Ints]]:
    """The number of categories and each table's codes; 0 is the missing value."""
    known: dict[str, int] = {}
    columns = []
    for table in tables:
        codes, distinct = table.distinct(name)
        places = [known.setdefault(written(value), len(known) + 1) for value in distinct]
        columns.append(np.array([*places, 0], np.int32)[codes])
    return len(known) + 1, columns


def written(value: object) -> str:
    """Equal for equal values whatever their type: 3, 3.0 and "3" are one category."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)  # type: ignore[call-overload]


def category_codes(table: Table, name: str, values: Sequence[object]) -> Longs:
    """For each record the position of its value among the given ones, -1 where it is none."""
    known = {written(value): place for place, value in enumerate(values)}
    codes, distinct = table.distinct(name)
    places: Longs = np.array([*(known.get(written(value), -1) for value in distinct), -1], np.int64)
    return places[codes]


def blank(table: Table, names: Sequence[str]) -> Bools:
    """Which records have nothing but missing values and stars in the given columns."""
    empty = np.full(len(table), bool(names))
    for name in names:
        codes, distinct = table.distinct(name)
        empty &= np.array([*(is_star(value) for value in distinct), True])[codes]
    return empty


# For a classifier -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Encoder:
    """What is learned from training records: means, standard deviations, categories that occur.

    Columns of numbers that do not vary among them tell nothing and are left out.
    """

    means: Floats
    deviations: Floats
    places: tuple[Ints, ...]

    @classmethod
    def of(cls, training: Features) -> Encoder:
        """Learn from training records."""
        known = ~np.isnan(training.numbers)
        counts = np.maximum(known.sum(axis=0), 1)
        means = np.where(known, training.numbers, 0.0).sum(axis=0) / counts
        centered = np.where(known, training.numbers - means, 0.0)
        deviations = np.sqrt((centered**2).sum(axis=0) / counts)
        columns = zip(training.codes.T, training.sizes, strict=True)
        places = tuple(_occurring(codes, size) for codes, size in columns)
        return cls(means, deviations, places)

    @property
    def sizes(self) -> list[int]:
        """For each column the number of categories that occur, plus one for all others."""
        return [int(places.max(initial=0)) + 1 for places in self.places]

    @property
    def width(self) -> int:
        """The number of columns of the matrix."""
        return int(np.count_nonzero(self.deviations > 0)) + sum(self.sizes) - len(self.sizes)

    def numbers(self, features: Features) -> Floats:
        """Standardized numbers; missing ones take the mean."""
        varying = self.deviations > 0
        centered = features.numbers[:, varying] - self.means[varying]
        scaled = centered / self.deviations[varying]
        result: Floats = np.where(np.isnan(scaled), 0.0, scaled)
        return result

    def codes(self, features: Features) -> Ints:
        """Categories by number: 0 for those that do not occur in training, then the others."""
        result = np.zeros(features.codes.shape, np.int32)
        for column, places in enumerate(self.places):
            result[:, column] = places[features.codes[:, column]]
        return result

    def matrix(self, features: Features) -> Any:
        """Numbers and one column per category, sparse; a category not seen has none."""
        sparse = optional("scipy.sparse")
        codes = self.codes(features)
        starts = np.concatenate([[0], np.cumsum(np.array(self.sizes) - 1)]).astype(np.int64)
        seen = codes > 0
        records = np.broadcast_to(np.arange(len(features))[:, None], codes.shape)[seen]
        columns = (codes - 1 + starts[:-1])[seen]
        shape = (len(features), int(starts[-1]))
        ones = sparse.csr_array((np.ones(columns.size), (records, columns)), shape=shape)
        return sparse.csr_matrix(sparse.hstack([sparse.csr_array(self.numbers(features)), ones]))


def _occurring(codes: Ints, size: int) -> Ints:
    """Numbers 1, 2, … for the categories that occur, 0 for the others."""
    occurs = np.bincount(codes, minlength=size) > 0
    return np.where(occurs, np.cumsum(occurs), 0).astype(np.int32)
