"""How far the values of a column are apart, in one place: by a taxonomy, an order, or neither."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ontomask.arithmetic import summed_columns, summed_rows
from ontomask.arrays import Bools, Floats, Ints, Longs, Shorts
from ontomask.errors import SchemaError
from ontomask.kernels.chains import Chains, chained_sums, chains_of
from ontomask.kernels.formulas import EQUAL, RANKED, Formula, unrelated
from ontomask.memory import LARGEST_TABLE, SMALL_TABLE, require_memory, row_blocks
from ontomask.taxonomy.measures import MEASURES, Space
from ontomask.taxonomy.shades import Shading, shading
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = [
    "MISSING_DISTANCE",
    "ValueDistances",
    "checked_table",
    "column_space",
    "require_table",
    "spread_out",
    "summed_from",
    "summed_to",
    "table_between",
]

MISSING_DISTANCE = 1.0

COPIES = 3
"""What is computed from a table is as large as it, and there is one in between."""

Between = Callable[[Longs | Ints, Longs | Ints], Floats]
"""Distances from each of some values to each of others."""

Writing = Callable[[Longs | Ints, Longs | Ints, Floats], None]
"""The same, written to a table, or a part of one, that is given."""


def summed_from(
    between: Between, rows: Longs | Ints, columns: Longs | Ints, weights: Floats
) -> Floats:
    """The weighted sum of the distances from each of the rows to all columns."""
    parts = [
        summed_rows(between(rows[block], columns), weights)
        for block in row_blocks(rows.size, columns.size)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def summed_to(between: Between, rows: Longs, columns: Longs, weights: Floats) -> Floats:
    """The weighted sum of the distances from all rows to each of the columns."""
    total = np.zeros(columns.size)
    for block in row_blocks(rows.size, columns.size):
        summed_columns(weights[block], between(rows[block], columns), total)
    return total


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


def require_table(rows: int, columns: int) -> None:
    """Refuse a table of distances that does not fit into memory, with what is computed from it."""
    if rows * columns > LARGEST_TABLE:
        require_memory(
            *(8 * COPIES * rows * columns, f"The distances of {rows:,} from {columns:,} values"),
            "map rare values to broader concepts first, mask fewer records at a time (strata), or "
            "use a machine with more",
        )


def table_between(
    rows: Longs | Ints,
    columns: Longs | Ints,
    write: Writing,
    inside: Callable[[Longs | Ints], Bools] = lambda values: values >= 0,
    room: Floats | None = None,
) -> Floats:
    """A table of distances where whatever is not inside, as a missing value, is at distance 1.

    It is `room` where that is given.
    """
    first, second = inside(rows), inside(columns)
    if room is None:
        require_table(rows.size, columns.size)
    table = np.empty((rows.size, columns.size)) if room is None else room
    # known values come first almost always: slices take a fraction of the time of places
    above, left = np.count_nonzero(first), np.count_nonzero(second)
    if above and left:
        if first[:above].all() and second[:left].all():
            write(rows[:above], columns[:left], table[:above, :left])
        else:
            known = np.empty((above, left))
            write(rows[first], columns[second], known)
            table[np.ix_(first, second)] = known
    table[~first] = _unlike(rows[~first], columns)
    table[:, ~second] = _unlike(rows, columns[~second])
    return table


def _unlike(rows: Longs | Ints, columns: Longs | Ints) -> Floats:
    """A table in which values are equal or at distance 1."""
    return np.where(rows[:, None] == columns[None, :], 0.0, MISSING_DISTANCE)


def spread_out(formula: Formula, known: Longs, count: int) -> Formula:
    """A formula over `count` nodes that knows some of them; the rest is at distance 1 from all."""
    profiles, sizes = np.full(count, -1, np.int64), np.zeros(count, np.int64)
    profiles[known], sizes[known] = formula.profiles, np.diff(formula.offsets)
    return formula._replace(profiles=profiles, offsets=np.append(0, np.cumsum(sizes)))


def checked_table(values: Sequence[object], given: Any) -> tuple[tuple[float, ...], ...]:
    """Distances between all values, at most 1; those that a function says, or a matrix."""
    if callable(given):
        given = [[given(one, other) for other in values] for one in values]
    try:
        table = np.array(given, np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape != (len(values), len(values)) or not np.isfinite(table).all():
        raise SchemaError(
            f"distances must be a matrix of {len(values)} times {len(values)} numbers, one row and "
            "one column for each of the values, or a function of two values."
        )
    plain = all(isinstance(value, Hashable) for value in values)
    if not plain or len({*map(str, values)}) != len(values):
        raise SchemaError("values must name every value once, in the order of the distances.")
    if (table < 0).any() or (table != table.T).any() or table.diagonal().any():
        raise SchemaError(
            "distances must be at least 0, the same in both directions, and 0 from a value to "
            "itself."
        )
    return tuple(map(tuple, (table / max(1.0, table.max())).tolist()))


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
    table
        The distances of values that somebody has listed, by their places in the list.
    """

    space: Space | None = None
    highest: int | None = None
    table: Floats | None = None

    @property
    def of_words(self) -> bool:
        """Whether values are equal or at distance 1, and nothing else."""
        return self.space is None and self.highest is None and self.table is None

    def between(
        self, rows: Longs | Ints, columns: Longs | Ints, room: Floats | None = None
    ) -> Floats:
        """Distances from each value of `rows` to each of `columns`; -1 is the missing value.

        It is at distance 1 from all others, and so is a concept outside the column's part of the
        taxonomy, or a value that is not listed, which can only come from another table. The
        distances are written to `room` where that is given.
        """
        return table_between(rows, columns, self._write_known, self._inside, room)

    def shading(self, rows: Longs, columns: Longs) -> Shading | None:
        """The few distances of different values, ascending, where there are no more.

        Missing values come last. Behind those of known values comes that of a missing one.
        """
        first, second = rows[rows >= 0], columns[columns >= 0]
        if self.space is None or not (self._inside(first).all() and self._inside(second).all()):
            return None
        found = shading(self.space, first.astype(np.int32), second.astype(np.int32))
        if found is None:
            return None

        def write(table: Shorts) -> None:
            known = table[: first.size, : second.size]
            found.write(known)
            table[first.size :], table[:, second.size :] = (
                found.distances.size,
                found.distances.size,
            )
            table[first.size :, second.size :] = 0

        return Shading(np.append(found.distances, MISSING_DISTANCE), write)

    def paired(self, first: Longs, second: Longs) -> Floats:
        """Distances of the values at the same places of two lists, as `between` has them."""
        distances = np.where(first == second, 0.0, MISSING_DISTANCE)
        known = self._inside(first) & self._inside(second)
        if self.space is not None and known.any():
            distances[known] = self.space.paired(first[known], second[known])
        elif self.table is not None:
            distances[known] = self.table[first[known], second[known]]
        elif self.highest is not None:
            distances[known] = np.abs(first - second)[known] / max(1, self.highest)
        return distances

    def _inside(self, values: Longs | Ints) -> Bools:
        known: Bools = values >= 0
        if self.table is not None:
            return known & (values < len(self.table))
        return known if self.space is None else known & (self.space.depths[values] > 0)

    def _write_known(self, rows: Longs | Ints, columns: Longs | Ints, room: Floats) -> None:
        if self.space is not None:
            self.space.between(rows, columns, room)
        elif self.table is not None:
            room[...] = self.table[np.ix_(rows, columns)]
        elif self.highest is not None:
            np.divide(np.abs(np.subtract.outer(rows, columns)), max(1, self.highest), out=room)
        else:
            np.not_equal.outer(rows, columns, out=room, casting="unsafe")

    def formula(self, values: Longs) -> Formula:
        """How the distances between different values follow from what is known of each."""
        known = np.flatnonzero(self._inside(values))
        if self.space is None:
            way = EQUAL if self.highest is None else RANKED
            return unrelated(values, way, float(max(1, self.highest or 0)))
        return spread_out(self.space.formula(values[known].astype(np.int32)), known, values.size)

    def chains(self, values: Longs) -> Chains | None:
        """Many values along the chains of their ancestors, where that tells their distances."""
        known = np.flatnonzero(self._inside(values))
        if self.space is None or known.size**2 <= SMALL_TABLE:
            return None
        formula = self.space.stepped(values[known].astype(np.int32))
        return None if formula is None else chains_of(spread_out(formula, known, values.size))

    def summed(self, rows: Longs, columns: Longs, weights: Floats, power: int = 1) -> Floats | None:
        """The weighted sums of distances, raised to a power, from each of the rows to all columns.

        None where they are few, or nothing tells them without a look at all pairs.
        """
        if rows.size * columns.size <= SMALL_TABLE:
            return None
        values, places = np.unique(np.concatenate([rows, columns]), return_inverse=True)
        chains = self.chains(values)
        if chains is None:
            return None
        own, others = places[: rows.size], places[rows.size :]
        counts = np.bincount(others, weights, values.size).astype(np.float64)
        return chained_sums(chains, counts, power)[own]

    def without_values(self) -> ValueDistances:
        """The same distances, without the concepts that they were made ready for."""
        return self if self.space is None else replace(self, space=self.space.without_values())
