"""How far the values of a column are apart, in one place: by a taxonomy, an order, or neither."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.taxonomy.measures import MEASURES, Space
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["MISSING_DISTANCE", "ValueDistances", "column_space", "table_between"]

MISSING_DISTANCE = 1.0


def column_space(
    taxonomy: Taxonomy, concepts: Ints, measure: str, root: str, options: Mapping[str, Any]
) -> Space:
    """A measure made ready for a column; one without bound is scaled, so that columns can be mixed.

    Parameters
    ----------
    concepts
        The concepts of the column.
    measure, root, options
        As in `Taxonomy.distances`.
    """
    bounded = MEASURES[measure].bounded
    settings = dict(options) if bounded else {"scaled": True, **options}
    return taxonomy.space(concepts, measure, root, **settings)


def table_between(
    rows: Longs | Ints,
    columns: Longs | Ints,
    known: Callable[[Longs | Ints, Longs | Ints], Floats],
    inside: Callable[[Longs | Ints], Bools] = lambda values: values >= 0,
) -> Floats:
    """A table of distances where whatever is not inside, as a missing value, is at distance 1."""
    first, second = inside(rows), inside(columns)
    if first.all() and second.all():
        return known(rows, columns)
    table = np.full((rows.size, columns.size), MISSING_DISTANCE)
    table[rows[:, None] == columns[None, :]] = 0.0
    if first.any() and second.any():
        table[np.ix_(first, second)] = known(rows[first], columns[second])
    return table


@dataclass(frozen=True, eq=False)
class ValueDistances:
    """The distances between the values of a column.

    Values are given by numbers: concepts of the taxonomy, ranks of an order, or any numbers for
    words of which one can only say whether they are equal.

    Attributes
    ----------
    space
        The measure of a column with a taxonomy.
    highest
        The highest rank of a column with an order.
    """

    space: Space | None = None
    highest: int | None = None

    def between(self, rows: Longs | Ints, columns: Longs | Ints) -> Floats:
        """Distances from each value of `rows` to each of `columns`; -1 is the missing value.

        It is at distance 1 from all others, and so is a concept outside the column's part of the
        taxonomy, which can only come from another table.
        """
        return table_between(rows, columns, self._known, self._inside)

    def _inside(self, values: Longs | Ints) -> Bools:
        known: Bools = values >= 0
        return known if self.space is None else known & (self.space.depths[values] > 0)

    def _known(self, rows: Longs | Ints, columns: Longs | Ints) -> Floats:
        if self.space is not None:
            return self.space.between(rows, columns)
        if self.highest is not None:
            apart = np.abs(np.subtract.outer(rows, columns))
            return np.asarray(apart / max(1, self.highest), np.float64)
        return np.not_equal.outer(rows, columns).astype(np.float64)

    def without_values(self) -> ValueDistances:
        """The same distances, without the concepts that they were made ready for."""
        return self if self.space is None else replace(self, space=self.space.without_values())
