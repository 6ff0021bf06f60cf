"""Matrices whose rows have few entries, and what such entries join, by NumPy alone."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ontomask.arrays import Floats, Ints, Longs

__all__ = ["SparseRows", "joined_by", "places_in"]

CELLS = 2**20
"""So many products are added up at a time."""


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A matrix of which only the entries that are not 0 are kept, row by row.

    Row number i has the entries ``amounts[starts[i]:starts[i + 1]]`` in the columns
    ``columns[starts[i]:starts[i + 1]]``; no column twice.

    Attributes
    ----------
    starts, columns, amounts
        The entries.
    width
        The number of columns.
    """

    starts: Longs
    columns: Longs
    amounts: Floats
    width: int

    @classmethod
    def of(cls, owners: Longs, columns: Longs, amounts: Floats, shape: tuple[int, int]) -> Self:
        """A matrix from the row, ascending, the column and the amount of each entry."""
        starts = np.searchsorted(owners, np.arange(shape[0] + 1))
        return cls(starts, columns, amounts, shape[1])

    def __len__(self) -> int:
        return self.starts.size - 1

    def __getitem__(self, rows: Longs | Ints) -> SparseRows:
        """Some of the rows."""
        starts, entries = places_in(self.starts, rows)
        return SparseRows(starts, self.columns[entries], self.amounts[entries], self.width)

    @property
    def sizes(self) -> Longs:
        """How many entries each row has."""
        return np.diff(self.starts)

    @functools.cached_property
    def owners(self) -> Longs:
        """The row of each entry."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def with_amounts(self, amounts: Floats) -> SparseRows:
        """Other amounts in the same places."""
        return replace(self, amounts=amounts)

    def dense(self) -> Floats:
        """All entries."""
        table = np.zeros((len(self), self.width))
        table[self.owners, self.columns] = self.amounts
        return table

    def turned(self) -> SparseRows:
        """The transposed matrix; its columns ascend."""
        order = np.lexsort((self.owners, self.columns))
        entries = self.columns[order], self.owners[order], self.amounts[order]
        return SparseRows.of(*entries, (self.width, len(self)))

    def at(self, rows: Longs, columns: Longs | Ints) -> Floats:
        """The entries in these rows and columns, one by one; 0 where there is none."""
        keys, wanted = self.owners * self.width + self.columns, rows * self.width + columns
        order = np.append(np.argsort(keys, kind="stable"), keys.size)
        found = order[np.searchsorted(keys, wanted, sorter=order[:-1])]
        there = np.append(keys, -1)[found] == wanted
        return np.where(there, np.append(self.amounts, 0.0)[found], 0.0)

    def times(self, other: Floats) -> Floats:
        """The product with a dense matrix or a vector; entries are added up in their order."""
        if other.ndim == 1:
            return self._summed(self.owners, self.amounts * other[self.columns], len(self))
        product = np.zeros((len(self), other.shape[1]))
        for row in np.flatnonzero(self.sizes).tolist():
            entries = slice(self.starts[row], self.starts[row + 1])
            _add_rows(product[row], other, self.columns[entries], self.amounts[entries])
        return product

    def gathered(self, values: Floats) -> Floats:
        """For each column the sum of the rows' values times its entries."""
        return self._summed(self.columns, self.amounts * values[self.owners], self.width)

    @staticmethod
    def _summed(places: Longs, products: Floats, count: int) -> Floats:
        return np.bincount(places, products, count).astype(np.float64)


def places_in(starts: Longs, rows: Longs | Ints) -> tuple[Longs, Longs]:
    """Where some rows begin when put one behind the other, and where their entries are now."""
    sizes = np.diff(starts)[rows]
    begins = np.append(0, np.cumsum(sizes))
    inside = np.arange(begins[-1]) - np.repeat(begins[:-1], sizes)
    return begins, np.repeat(starts[rows], sizes) + inside


def _add_rows(total: Floats, other: Floats, columns: Longs, amounts: Floats) -> None:
    step = max(1, CELLS // max(1, total.size))
    for start in range(0, columns.size, step):
        part = slice(start, start + step)
        products = other[columns[part]] * amounts[part, None]
        # along the first axis NumPy adds one row after the other
        products[0] += total
        products.sum(axis=0, out=total)


def joined_by(rows: SparseRows) -> tuple[Longs, Longs]:
    """The group of each column and of each row: those that an entry joins are in one group.

    Groups are numbered by their first column; behind them come the rows without entries.
    """
    groups = np.arange(rows.width + len(rows))
    own, owners = rows.columns, rows.width + rows.owners
    while (groups[own] != groups[owners]).any():
        # whatever is joined takes the least number of both, and then the number that one has
        least = np.minimum(groups[own], groups[owners])
        for ends in (own, owners):
            np.minimum.at(groups, groups[ends], least)
            np.minimum.at(groups, ends, least)
        groups = groups[groups]
    numbers = np.unique(groups, return_inverse=True)[1]
    return numbers[: rows.width], numbers[rows.width :]
