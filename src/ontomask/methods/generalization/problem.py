"""The table to be generalized, as arrays: hierarchies, codes, sensitive attributes, targets."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ontomask.arithmetic import log
from ontomask.arrays import Bools, Codes, Floats, Ints, Longs
from ontomask.errors import ParameterError
from ontomask.kernels import groups as kernel
from ontomask.privacy import Classes, Domain, Ground, Histogram
from ontomask.quality import AttributeFacts, Facts
from ontomask.taxonomy.hierarchies import ROOT, Hierarchy

__all__ = ["Combinations", "Problem", "Sensitive", "distinct_rows", "looks_of", "pairs_of"]

LARGEST_KEY = 2**62

PEOPLE = "(people)"
"""The histogram of how many people the records of a group stand for, all having the value 0."""
UNITS = "(units)"
"""The histogram of whose the records of a group are; its values are the units."""

Pairs = tuple[Ints, Ints, Any]
"""A histogram: group, value and count (of records, or of people) of everything that occurs."""


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive attribute, or one to be predicted.

    Attributes
    ----------
    codes
        The value of each record, by number.
    size
        The number of values.
    levels
        A hierarchy of the values, for the hierarchical distance.
    distances
        The distances of all pairs of values, for the semantic distance.
    totals
        How many people of the whole table have each value, where the records are only a part of it.
    """

    codes: Ints
    size: int
    levels: Ints | None = None
    distances: Ground | None = None
    totals: Floats | None = None

    def domain(self, people: Longs | Floats) -> Domain:
        """What privacy models need to know of the attribute."""
        totals = self.totals
        if totals is None:
            totals = np.bincount(self.codes, weights=people, minlength=self.size).astype(np.float64)
        return Domain(totals, self.levels, self.distances)

    def part(self, mask: Bools, people: Longs | Floats) -> Sensitive:
        """The attribute of some of the records."""
        return replace(self, codes=self.codes[mask], totals=self.domain(people).totals)


@dataclass(frozen=True, eq=False)
class Combinations:
    """The distinct combinations of quasi-identifiers.

    Attributes
    ----------
    columns
        The rows of their hierarchies (attributes x tuples).
    amounts
        How many records each stands for; in a second line those of the population, if there is one.
    places
        The tuple of each record.
    pairs
        The histograms of sensitive attributes and targets over tuples.
    """

    columns: Ints
    amounts: Longs
    places: Ints
    pairs: Mapping[str, Pairs]

    @functools.cached_property
    def rows(self) -> Ints:
        """The same, tuple by tuple (tuples x attributes)."""
        return np.ascontiguousarray(self.columns.T)


@dataclass(frozen=True, eq=False)
class Problem:
    """A table to be generalized.

    Attributes
    ----------
    hierarchies
        Those of the quasi-identifiers.
    codes
        For each quasi-identifier and record the row of its hierarchy, in as few bytes as one likes.
    names
        The names of the quasi-identifiers.
    counts
        How many equal records each one stands for, 1 unless given.
    sensitive, targets
        Attributes to be protected and to be predicted, by name.
    population
        Codes of the records of a population table that holds this one, like `codes`.
    people
        How many people of the population each record stands for, where a survey weighs them.
    units
        Whose record each one is, by number, where k counts persons.
    looks
        For each quasi-identifier, level and row a number for how the generalized value is written
        in a release, 0 for a star; by the hierarchy's labels, unless given.
    """

    hierarchies: tuple[Hierarchy, ...]
    codes: Codes
    names: tuple[str, ...] = ()
    counts: Longs = field(default_factory=lambda: np.empty(0, np.int64))
    sensitive: Mapping[str, Sensitive] = field(default_factory=dict)
    targets: Mapping[str, Sensitive] = field(default_factory=dict)
    population: Codes | None = None
    people: Floats | None = None
    looks: tuple[Ints, ...] = ()
    units: Ints | None = None

    def __post_init__(self) -> None:
        if not self.hierarchies or len(self.hierarchies) != len(self.codes):
            raise ParameterError(
                f"There are {len(self.codes)} quasi-identifiers and {len(self.hierarchies)} "
                "hierarchies; each needs one, and there must be at least one."
            )
        if not self.codes.shape[1]:
            raise ParameterError("There are no records to generalize.")
        if not self.names:
            default = tuple(f"attribute {place}" for place in range(1, len(self.codes) + 1))
            object.__setattr__(self, "names", default)
        if not self.counts.size:
            object.__setattr__(self, "counts", np.ones(self.codes.shape[1], np.int64))
        if not self.looks:
            looks = tuple(looks_of(one.labels, one.levels) for one in self.hierarchies)
            object.__setattr__(self, "looks", looks)

    @property
    def heights(self) -> tuple[int, ...]:
        """The highest level of each quasi-identifier."""
        return tuple(one.height for one in self.hierarchies)

    @functools.cached_property
    def records(self) -> int:
        """How many records the table stands for."""
        return int(self.counts.sum())

    @property
    def _weighed(self) -> Longs | Floats:
        """What each record counts in a distribution."""
        return self.counts if self.people is None else self.people

    @functools.cached_property
    def domains(self) -> Mapping[str, Domain]:
        """What privacy models need to know of the sensitive attributes."""
        return {name: one.domain(self._weighed) for name, one in self.sensitive.items()}

    @functools.cached_property
    def histogram_sizes(self) -> Mapping[str, int]:
        """The number of values of every histogram that is kept of a group."""
        sizes = {name: one.size for name, one in {**self.targets, **self.sensitive}.items()}
        if self.people is not None:
            sizes |= {PEOPLE: 1, **{_of_people(name): sizes[name] for name in self.sensitive}}
        if self.units is not None:
            sizes[UNITS] = int(self.units.max()) + 1
        return sizes

    def histograms(self, places: Ints) -> dict[str, Pairs]:
        """Count the values of sensitive attributes and targets in the group of each record."""
        attributes = {**self.targets, **self.sensitive}
        pairs = {
            name: pairs_of(places, one.codes, self.histogram_sizes[name], self.counts)
            for name, one in attributes.items()
        }
        if self.people is not None:
            pairs[PEOPLE] = pairs_of(places, np.zeros(places.size, np.int32), 1, self.people)
            pairs |= {
                _of_people(name): pairs_of(places, one.codes, one.size, self.people)
                for name, one in self.sensitive.items()
            }
        if self.units is not None:
            pairs[UNITS] = pairs_of(places, self.units, self.histogram_sizes[UNITS], self.counts)
        return pairs

    def classes(self, amounts: Longs, pairs: Mapping[str, Pairs]) -> Classes:
        """What privacy models are told of groups with given amounts and histograms."""
        weighed = self.people is not None
        histograms = {
            name: Histogram(*pairs[name], domain, pairs[_of_people(name)][2] if weighed else None)
            for name, domain in self.domains.items()
        }
        population: Longs | Floats | None = amounts[1] if len(amounts) > 1 else None
        if population is None and weighed:
            groups, _, people = pairs[PEOPLE]
            population = np.zeros(amounts.shape[1])
            population[groups] = people
        persons = None
        if self.units is not None:
            persons = np.bincount(pairs[UNITS][0], minlength=amounts.shape[1])
        return Classes(amounts[0], population, histograms, persons)

    @functools.cached_property
    def information(self) -> tuple[Floats, ...]:
        """For each quasi-identifier and look the share of all information that such a value keeps.

        A value that stands for s of the N of its column keeps log(N / s), a star nothing; all
        columns together have the sum of log N. (Wan et al. 2015; of values that are written alike
        the least, since a reader cannot tell them apart.)
        """
        span = sum(math.log(one.rows) for one in self.hierarchies) or 1.0
        kept = []
        for one, looks in zip(self.hierarchies, self.looks, strict=True):
            least = np.full(int(looks.max()) + 1, np.inf)
            np.minimum.at(least, looks, -log(one.shares) / span)
            least[0] = 0.0
            kept.append(least)
        return tuple(kept)

    def information_at(self, rows: Ints, levels: Ints) -> Floats:
        """The share of its information that each record or class keeps at its levels, or at all."""
        total = np.zeros(len(rows))
        for place, (kept, looks) in enumerate(zip(self.information, self.looks, strict=True)):
            total += kept[looks[levels[..., place], rows[:, place]]]
        return total

    @functools.cached_property
    def tuples(self) -> Combinations:
        """The table reduced to its distinct tuples."""
        codes = self.codes
        if self.population is not None:
            codes = np.concatenate([codes, self.population], axis=1)
        firsts, places = distinct_rows(codes, [one.rows for one in self.hierarchies])
        columns = codes.take(firsts, axis=1).astype(np.int32, copy=False)
        own = places[: self.codes.shape[1]]
        amounts = [counted(own, self.counts, firsts.size)]
        if self.population is not None:
            others = np.ones(self.population.shape[1], np.int64)
            amounts.append(counted(places[own.size :], others, firsts.size))
        return Combinations(columns, np.array(amounts), own, self.histograms(own))

    @functools.cached_property
    def facts(self) -> Facts:
        """What quality models need to know of the table."""
        tuples = self.tuples
        occurring = tuples.amounts[0]
        attributes = tuple(
            AttributeFacts(
                name,
                one.levels,
                counted(rows, occurring, one.rows),
                one.distances,
            )
            for rows, name, one in zip(tuples.columns, self.names, self.hierarchies, strict=True)
        )
        targets = {name: one.size for name, one in self.targets.items()}
        return Facts(self.records, attributes, tuples.rows, occurring, targets)

    def restricted(self, mask: Bools) -> Problem:
        """The problem of some of the records; hierarchies and distributions stay the table's."""
        return replace(
            self,
            codes=np.ascontiguousarray(self.codes[:, mask]),
            counts=self.counts[mask],
            people=None if self.people is None else self.people[mask],
            units=None if self.units is None else self.units[mask],
            sensitive={name: one.part(mask, self._weighed) for name, one in self.sensitive.items()},
            targets={name: one.part(mask, self._weighed) for name, one in self.targets.items()},
        )


def looks_of(written: Sequence[Sequence[object]], levels: Ints) -> Ints:
    """Number the generalized values of each level and row by how they are written, a star by 0."""
    numbers: dict[object, int] = {ROOT: 0}
    tables = [
        np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int32)
        for values in written
    ]
    return np.array([table[codes] for table, codes in zip(tables, levels, strict=True)])


def counted(places: Ints | Longs, counts: Longs, size: int) -> Longs:
    """How many records go to each place."""
    sums: Longs = kernel.sum_groups(places.astype(np.int32, copy=False), counts[None], size)[0]
    return sums


def _of_people(name: str) -> str:
    """The name of an attribute's histogram of people instead of records."""
    return f"{name} {PEOPLE}"


def pairs_of(places: Ints, codes: Ints, size: int, amounts: Longs | Floats) -> Pairs:
    """Add up the amounts of the records of each group and value."""
    keys = places.astype(np.int64) * size + codes
    numbers, firsts = kernel.number_keys(keys[None], 0)
    sums = np.bincount(numbers, weights=amounts, minlength=firsts.size).astype(amounts.dtype)
    return places[firsts], codes[firsts].astype(np.int32), sums


def distinct_rows(columns: Codes, sizes: Sequence[int]) -> tuple[Longs, Ints]:
    """The first of all records with equal codes, and for each record which of them it equals.

    Columns are packed into one number; whenever that would grow too large, the numbers are first
    made dense.
    """
    keys, span = np.zeros((1, columns.shape[1]), np.int64), 1
    for codes, size in zip(columns, sizes, strict=True):
        if span * size > LARGEST_KEY:
            dense, known = kernel.number_keys(keys, span)
            keys, span = dense.astype(np.int64)[None], known.size
        keys *= size
        keys += codes
        span *= size
    places, firsts = kernel.number_keys(keys, span)
    return firsts.astype(np.int64), places
