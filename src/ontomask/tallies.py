"""The rows of a release as a reader sees them, counted with plain NumPy.

Nothing here is shared with the methods: an error in their encoding, kernels or searches cannot hide
in what `verify` counts by it.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs, different, stretches
from ontomask.data.seen import FEW, ROOMY, Seen, beside
from ontomask.data.tables import Table
from ontomask.errors import PromiseError
from ontomask.promises import SensitivePromise

__all__ = ["Rows", "Tally", "plain"]

NEAR, SHORT = 2**20, 2**31
"""Numbers below the one are looked up quickly, those below the other take four bytes."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The released columns as they are seen, each looked at once, and each set of classes."""

    table: Table
    counts: Floats
    weights: Floats
    units: Longs | None = None
    seen: dict[str, Seen] = field(default_factory=dict)
    grouped: dict[tuple[str, ...], Ints | Longs] = field(default_factory=dict)

    def column(self, name: str) -> Seen:
        """A column, its values told apart as they are written."""
        if name not in self.seen:
            self.seen[name] = self.table.seen(name)
        return self.seen[name]

    def classes(self, names: Sequence[str]) -> Ints | Longs:
        """The class of each row: those that look the same in all the columns."""
        key = tuple(names)
        if key not in self.grouped:
            self.grouped[key] = self._classes(key)
        return self.grouped[key]

    def _classes(self, names: Sequence[str]) -> Ints | Longs:
        """Columns are packed into one number, made dense before it grows large."""
        places: Ints | Longs = np.zeros(len(self.table), np.int32)
        size = 1
        for name in names:
            column = self.column(name)
            width = len(column.values)
            if size * width > NEAR:
                places, size = _dense(places, size)
            if size * width > SHORT:
                places = places.astype(np.int64, copy=False)
            places *= width
            places += column.narrow
            size *= width
        return _dense(places, size)[0]

    def sizes(self, names: Sequence[str]) -> Floats:
        """How many records each class has."""
        return np.bincount(self.classes(names), weights=self.counts).astype(np.float64)

    def persons(self, names: Sequence[str]) -> Floats:
        """How many different persons have records in each class."""
        whose = self._whose()
        people = int(whose.max()) + 1
        pairs = different(self.classes(names).astype(np.int64) * people + whose)
        return np.bincount(pairs // people).astype(np.float64)

    def alike(self, names: Sequence[str]) -> Floats:
        """For each list of records that a person has, how many persons have the same one."""
        classes, whose = self.classes(names), self._whose()
        order = np.lexsort((classes, whose))
        ends = np.flatnonzero(np.diff(whose[order])) + 1
        lists = Counter(one.tobytes() for one in np.split(classes[order], ends))
        return np.array(list(lists.values()), np.float64)

    def _whose(self) -> Longs:
        if self.units is None:
            raise PromiseError("Nobody can tell here whose record each row is.")
        return self.units

    def histogram(self, promise: SensitivePromise, amounts: Floats) -> Tally:
        """How much of which sensitive value each class has."""
        column, classes = self.column(promise.sensitive), self.classes(promise.columns)
        return Tally(*beside(classes, column.narrow, len(column.values), amounts), column.values)


@dataclass(frozen=True, eq=False)
class Tally:
    """One entry per class and sensitive value that occurs in it, sorted by class."""

    classes: Longs
    values: Longs
    amounts: Floats
    names: Sequence[object]

    @property
    def size(self) -> int:
        """How many classes there are."""
        return int(self.classes[-1]) + 1

    @functools.cached_property
    def shares(self) -> Floats:
        """The share of each entry in its class."""
        totals = np.bincount(self.classes, weights=self.amounts)
        shares: Floats = self.amounts / totals[self.classes]
        return shares

    def summed(self, numbers: Floats | Bools) -> Floats:
        """For each class the sum over its entries."""
        return np.bincount(self.classes, weights=numbers, minlength=self.size).astype(np.float64)

    def whole(self, counts: Sequence[tuple[object, float]]) -> tuple[Floats, Longs]:
        """The table's distribution, and the place of each entry's value in it.

        A value that the table is not said to have has the last place, with a share of 0.
        """
        places = {plain(value): place for place, (value, _) in enumerate(counts)}
        shares = np.zeros(len(counts) + 1)
        for value, amount in counts:
            shares[places[plain(value)]] += amount
        own = np.array([places.get(plain(value), len(counts)) for value in self.names])
        return shares / shares.sum(), own[self.values]


def _dense(keys: Ints | Longs, span: int) -> tuple[Ints | Longs, int]:
    """Number equal keys, all less than the span, in their order; tell how many there are.

    The keys themselves may become the numbers.
    """
    if span > ROOMY * max(keys.size, FEW):
        known, places = np.unique(keys, return_inverse=True)
        return places.astype(np.int64, copy=False), known.size
    occurs = np.zeros(span, bool)
    for part in stretches(keys.size):
        occurs[keys[part]] = True
    numbers = np.cumsum(occurs, dtype=np.int32)
    for part in stretches(keys.size):
        keys[part] = numbers.take(keys[part]) - 1
    return keys, int(numbers[-1])


def plain(value: object) -> object:
    """Make all kinds of missing values equal to each other."""
    if type(value) in (str, int):
        return value
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if isinstance(value, float) and value != value else value
