"""What privacy models are told: classes of records with histograms of their sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ontomask.agglomeration import Dendrogram, linkage
from ontomask.arithmetic import summed_columns, summed_products, summed_rows
from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.checks import composed
from ontomask.errors import ParameterError
from ontomask.kernels.transport import least_cost
from ontomask.remembering import remembered

__all__ = ["Classes", "Domain", "Ground", "Histogram", "Levels", "chosen_column"]


Levels = tuple[Ints, Floats]
"""For each level the codes of the values, and the share of each code in the whole table."""


@dataclass(frozen=True, eq=False)
class Ground:
    """The distances of all pairs of values, and trees that take their place as bounds.

    Attributes
    ----------
    matrix
        The distances, symmetric, 0 on the diagonal.
    """

    matrix: Floats
    known: dict[str, Dendrogram] = field(default_factory=dict, repr=False)

    def tree(self, method: str) -> Dendrogram:
        """A tree over which no two values are farther apart (`single`) or nearer (`complete`)."""
        if method not in self.known:
            self.known[method] = linkage(self.matrix, method)
        return self.known[method]

    def least_cost(self, excess: Floats, limit: float = np.nan) -> float:
        """The earth mover's distance: what is too much goes where it lacks at the least cost.

        What both have stays where it is, which is best wherever the triangle inequality holds.
        What is clear of the limit need not be exact. Values at the same distances from all others
        that matter are one.
        """
        sources, sinks = np.flatnonzero(excess > 0), np.flatnonzero(excess < 0)
        if not sources.size or not sinks.size:
            return 0.0
        costs = self.matrix[np.ix_(sources, sinks)]
        # what lacks somewhere comes at best from the nearest value that has too much
        bound = summed_products(costs.min(axis=0), -excess[sinks])
        if bound > limit:
            return bound
        firsts, columns = _alike(costs)
        costs = costs[:, firsts]
        firsts, rows = _alike(costs.T)
        surplus = np.bincount(rows, excess[sources]).astype(np.float64)
        lack = np.bincount(columns, -excess[sinks]).astype(np.float64)
        return float(least_cost(np.ascontiguousarray(costs[firsts]), surplus, lack, limit))


def _alike(table: Floats) -> tuple[Longs, Longs]:
    """The first of all columns that are equal, and for each column which of them it equals.

    They are found by a sum with odd weights, and compared; those that differ stay apart.
    """
    sums = summed_columns(np.sqrt(np.arange(1.0, len(table) + 1.0)), table)
    _, firsts, places = np.unique(sums, return_index=True, return_inverse=True)
    if (table[:, firsts][:, places] == table).all():
        return firsts, places
    return np.arange(table.shape[1]), np.arange(table.shape[1])


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of a sensitive attribute.

    Attributes
    ----------
    totals
        How many people of the whole table have each value, suppressed records included. For the
        ordered distance, values are numbered from lowest to highest.
    levels
        A hierarchy: for each level (0 is the value itself) and value a code, numbered anyhow; at
        the highest level all values have the same.
    distances
        Semantic distances of all pairs of values.
    """

    totals: Floats
    levels: Ints | None = None
    distances: Ground | None = None

    @property
    def size(self) -> int:
        """The number of values."""
        return self.totals.size

    @property
    def present(self) -> int:
        """The number of values that occur."""
        return int(np.count_nonzero(self.totals))

    @remembered
    def shares(self) -> Floats:
        """The distribution of the values in the whole table."""
        shares: Floats = self.totals / self.totals.sum()
        return shares

    @remembered
    def values(self) -> Levels:
        """The values as the only level."""
        return np.arange(self.size, dtype=np.int32)[None], self.shares[None]

    @remembered
    def below_root(self) -> Levels:
        """All levels of the hierarchy but the last, where nothing differs."""
        assert self.levels is not None
        codes = np.ascontiguousarray(self.levels[:-1], np.int32)
        width = int(codes.max(initial=0)) + 1
        united = [np.bincount(level, self.shares, width) for level in codes]
        return codes, np.array(united, np.float64).reshape(-1, width)

    @remembered
    def farthest_in_order(self) -> float:
        """The greatest ordered distance of a distribution from this one: all at one of the ends."""
        passing = np.cumsum(self.shares)[:-1]
        return float(max(passing.sum(), (1.0 - passing).sum()) / max(self.size - 1, 1))

    @remembered
    def farthest_in_meaning(self) -> float:
        """The greatest semantic distance of a distribution from this one: all at one value."""
        if self.distances is None:
            return 1.0
        return float(summed_rows(self.distances.matrix, self.shares).max())


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often which sensitive value occurs in which class; pairs that do not occur are left out.

    Attributes
    ----------
    classes, values, counts
        One entry per pair, each pair once; counts are of records.
    people
        How many people the records of each pair stand for, where that is not their number.
    """

    classes: Ints
    values: Ints
    counts: Longs
    domain: Domain
    people: Floats | None = None

    def part(self, chosen: Bools, numbers: Longs) -> Histogram:
        """Some of the pairs, with new numbers of classes."""
        return Histogram(
            numbers[self.classes[chosen]].astype(np.int32),
            self.values[chosen],
            self.counts[chosen],
            self.domain,
            None if self.people is None else self.people[chosen],
        )


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a table.

    Attributes
    ----------
    sizes
        The number of records of each class; 0 for one that only the population has, which counts
        where a model is not mendable.
    population
        The number of people in each class of the population, for models that need it: counted in a
        table of the population, or the sum of the survey weights of the class.
    histograms
        The sensitive attributes by name.
    persons
        The number of persons in each class, where several records may be of one.
    information
        The share of their information that the records of each class keep, from 0 (nothing but
        stars) to 1 (as they were), for models that ask for it.
    """

    sizes: Longs
    population: Longs | Floats | None = None
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    persons: Longs | None = None
    information: Floats | None = None

    def __len__(self) -> int:
        return self.sizes.size

    def part(self, chosen: Bools) -> Classes:
        """Some of the classes, in their order."""
        numbers = np.cumsum(chosen) - 1
        population = None if self.population is None else self.population[chosen]
        histograms = {
            name: one.part(chosen[one.classes], numbers) for name, one in self.histograms.items()
        }
        persons = None if self.persons is None else self.persons[chosen]
        information = None if self.information is None else self.information[chosen]
        return Classes(self.sizes[chosen], population, histograms, persons, information)

    @property
    def counted(self) -> Longs:
        """What k counts in each class: persons, where that is asked for, or records."""
        return self.sizes if self.persons is None else self.persons

    def histogram(self, column: str | None) -> Histogram:
        """The histogram of a sensitive attribute, or of the only one."""
        return self.histograms[chosen_column(column, self.histograms)]

    def count(self, histogram: Histogram, chosen: Bools | None = None) -> Longs:
        """For each class, how many of its sensitive values (that are chosen) are different."""
        pairs = histogram.classes if chosen is None else histogram.classes[chosen]
        return np.bincount(pairs, minlength=len(self))

    def total(self, histogram: Histogram, amounts: Floats | Longs) -> Floats:
        """For each class the sum of amounts given per pair."""
        totals = np.bincount(histogram.classes, weights=amounts, minlength=len(self))
        return totals.astype(np.float64, copy=False)

    def shares(self, histogram: Histogram) -> Floats:
        """For each pair the share of the value among the people of its class."""
        people = histogram.counts if histogram.people is None else histogram.people
        shares: Floats = people / self.total(histogram, people)[histogram.classes]
        return shares


def chosen_column(column: str | None, available: Mapping[str, object]) -> str:
    """The sensitive attribute that a model means."""
    listed = ", ".join(repr(name) for name in available) or "none"
    if column is None and len(available) == 1:
        return next(iter(available))
    if column is None:
        raise ParameterError(
            f"column must say which sensitive column the model protects; there are: {listed}."
            + ("" if available else " Declare one with role='sensitive'.")
        )
    if composed(column) not in available:
        raise ParameterError(
            f"{column!r} is not a sensitive column; there are: {listed}. Take this promise out of "
            "the step, or make the column sensitive."
        )
    return composed(column)
