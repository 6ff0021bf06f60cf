"""What quality models are told: the table, its classes at some levels, and local outcomes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ontomask.arithmetic import summed_columns
from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.remembering import remembered

__all__ = ["AttributeFacts", "Facts", "Lost", "Partition", "Recoded", "two_largest"]


@dataclass(frozen=True, eq=False)
class AttributeFacts:
    """One attribute: a hierarchy and how often its rows occur.

    Attributes
    ----------
    codes
        For each level and row the code of the generalized value.
    counts
        The number of records of each row.
    distances
        For each level and row the semantic distance of the value to its generalization.
    """

    name: str
    codes: Ints
    counts: Longs
    distances: Floats

    @property
    def rows(self) -> int:
        """The number of values in the hierarchy."""
        return self.counts.size

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.codes) - 1

    @remembered
    def widths(self) -> tuple[int, ...]:
        """The number of generalized values at each level."""
        return tuple((self.codes.max(axis=1) + 1).tolist())

    @remembered
    def shares(self) -> Floats:
        """For each level and row the share of the rows with the same generalized value."""
        return np.array([np.bincount(codes)[codes] for codes in self.codes]) / self.rows

    @remembered
    def generalized_counts(self) -> Longs:
        """For each level and row the number of records with the same generalized value."""
        united = [np.bincount(codes, weights=self.counts)[codes] for codes in self.codes]
        counts: Longs = np.rint(np.array(united)).astype(np.int64)
        return counts


@dataclass(frozen=True, eq=False)
class Facts:
    """A table, as far as quality models need to know it.

    Attributes
    ----------
    records
        How many there are.
    attributes
        The quasi-identifiers.
    tuples, weights
        The distinct rows (t x m) that occur and how often.
    targets
        The number of values of each column to be predicted.
    """

    records: int
    attributes: tuple[AttributeFacts, ...]
    tuples: Ints
    weights: Longs
    targets: Mapping[str, int] = field(default_factory=dict)

    @remembered
    def starts(self) -> tuple[int, ...]:
        """Where each attribute begins in a flat table of levels and rows."""
        sizes = [attribute.codes.size for attribute in self.attributes]
        return tuple(np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int).tolist())

    def level_starts(self, levels: Sequence[int]) -> Longs:
        """Where the given levels begin in a flat table."""
        offsets = zip(self.starts, levels, self.attributes, strict=True)
        return np.array([start + level * one.rows for start, level, one in offsets], np.int64)

    @property
    def area(self) -> float:
        """The number of tuples that the hierarchies allow."""
        return math.prod(float(one.rows) for one in self.attributes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers."""
        return tuple(attribute.name for attribute in self.attributes)


@dataclass(frozen=True, eq=False)
class Partition:
    """The records at some levels, in classes, some of them suppressed.

    Attributes
    ----------
    levels
        The level of each attribute.
    sizes
        The number of records of each class; none is empty.
    suppressed
        Which classes are suppressed.
    representatives
        One tuple of each class, by its number.
    targets
        For each target the pairs (class, value, count) that occur.
    known
        What has been computed of the partition and may be asked for again.
    """

    facts: Facts
    levels: tuple[int, ...]
    sizes: Longs
    suppressed: Bools
    representatives: Ints
    targets: Mapping[str, tuple[Ints, Ints, Longs]] = field(default_factory=dict)
    known: dict[object, Any] = field(default_factory=dict, repr=False)

    @remembered
    def kept(self) -> Bools:
        """The classes that are not suppressed."""
        return ~self.suppressed

    @remembered
    def left(self) -> int:
        """How many records are not suppressed."""
        return int(self.sizes @ self.kept)

    @remembered
    def everyone(self) -> Bools:
        """All classes."""
        return np.ones(self.sizes.size, bool)

    @remembered
    def rows(self) -> Ints:
        """One tuple of each class, by its rows (classes x attributes)."""
        rows: Ints = self.facts.tuples[self.representatives]
        return rows

    def codes(self, attribute: int, level: int | None = None) -> Ints:
        """The generalized value of each class, by code; at its own level, or a coarser one."""
        chosen = self.levels[attribute] if level is None else level
        codes: Ints = self.facts.attributes[attribute].codes[chosen][self.own_rows(attribute)]
        return codes

    def own_rows(self, attribute: int) -> Ints:
        """The row of one attribute of a tuple of each class."""
        rows: Ints = self.facts.tuples[:, attribute][self.representatives]
        return rows

    def shares(self) -> Floats:
        """The product over attributes of the share of each class's generalized value."""
        product = np.ones(self.sizes.size)
        for place, (attribute, level) in enumerate(
            zip(self.facts.attributes, self.levels, strict=True)
        ):
            product *= attribute.shares[level][self.rows[:, place]]
        return product

    def two_largest(self, target: str) -> tuple[Longs, Longs]:
        """How often the two most frequent values of a target occur in each class."""
        classes, _, counts = self.targets[target]
        return two_largest(self.sizes.size, classes, counts)

    def without(self, attribute: int) -> Ints:
        """Number the classes so that those that differ only in one attribute are the same."""
        keys = np.zeros(self.sizes.size, np.int64)
        for place in range(len(self.levels)):
            if place != attribute:
                codes = self.codes(place)
                keys = keys * (int(codes.max()) + 1) + codes
                keys = np.unique(keys, return_inverse=True)[1]
        return keys.astype(np.int32)

    def totals(self, costs: Floats, chosen: Bools, amounts: Longs | None = None) -> Floats:
        """For each attribute, size times cost (a flat table) summed over the chosen classes.

        Where amounts are given, they take the place of the sizes.
        """
        cells = self.facts.level_starts(self.levels) + self.rows[chosen]
        counted = self.sizes if amounts is None else amounts
        return summed_columns(counted[chosen], costs[cells])

    @remembered
    def places(self) -> Longs:
        """The class of each tuple (meaningless for tuples that do not occur)."""
        own = _packed(self, self.representatives)
        order = np.argsort(own)
        found = np.searchsorted(own, _packed(self, np.arange(len(self.facts.tuples))), sorter=order)
        return order[np.minimum(found, order.size - 1)]


@dataclass(frozen=True, eq=False)
class Lost:
    """Records of a partition that are suppressed there and at all finer levels.

    Attributes
    ----------
    whole
        The classes all of whose records are.
    amounts
        How many records of each class are, at least; which ones is not known.
    """

    whole: Bools
    amounts: Longs

    @remembered
    def part(self) -> Bools:
        """The classes of which some records are, but perhaps not all."""
        return ~self.whole & (self.amounts > 0)


@dataclass(frozen=True, eq=False)
class Recoded:
    """Tuples that are generalized each in its own way, some of them suppressed.

    Attributes
    ----------
    levels
        The level of each attribute (tuples x attributes).
    suppressed
        Which tuples are suppressed.
    places
        The class of each tuple: tuples that look the same.
    targets
        For each target the pairs (class, value, count) that occur.
    """

    facts: Facts
    levels: Ints
    suppressed: Bools
    places: Longs
    targets: Mapping[str, tuple[Ints, Ints, Longs]] = field(default_factory=dict)

    @property
    def sizes(self) -> Longs:
        """The number of records of each class."""
        return np.rint(np.bincount(self.places, weights=self.facts.weights)).astype(np.int64)

    @property
    def suppressed_classes(self) -> Bools:
        """Which classes are suppressed."""
        found: Bools = np.bincount(self.places, weights=self.suppressed) > 0
        return found

    def cells(self) -> Longs:
        """Where each tuple's values are found in a flat table (tuples x attributes)."""
        rows = np.array([one.rows for one in self.facts.attributes])
        cells: Longs = np.array(self.facts.starts) + self.levels * rows + self.facts.tuples
        return cells


def _packed(partition: Partition, tuples: Ints | Longs) -> Longs:
    """The generalized tuples, each as one number (dense, so that it cannot grow too large)."""
    rows = partition.facts.tuples
    keys = np.zeros(len(rows), np.int64)
    for place, (attribute, level) in enumerate(
        zip(partition.facts.attributes, partition.levels, strict=True)
    ):
        codes = attribute.codes[level][rows[:, place]]
        keys = np.unique(keys * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    packed: Longs = keys[tuples]
    return packed


def two_largest(size: int, classes: Ints, counts: Longs) -> tuple[Longs, Longs]:
    """The largest and second largest count of each class, 0 where there is none."""
    first, second = np.zeros(size, np.int64), np.zeros(size, np.int64)
    np.maximum.at(first, classes, counts)
    is_first = counts == first[classes]
    several = np.bincount(classes[is_first], minlength=size) > 1
    np.maximum.at(second, classes[~is_first], counts[~is_first])
    return first, np.where(several, first, second)
