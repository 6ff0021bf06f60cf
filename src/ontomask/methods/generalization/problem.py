"""The table to be generalized, as arrays: hierarchies, codes, sensitive attributes, targets."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.errors import ParameterError
from ontomask.kernels import groups as kernel
from ontomask.privacy import Domain
from ontomask.quality import AttributeFacts, Facts
from ontomask.taxonomy.hierarchies import Hierarchy

__all__ = ["Problem", "Sensitive", "Tuples", "distinct_rows"]

LARGEST_KEY = 2**62

Pairs = tuple[Ints, Ints, Longs]
"""A histogram: group, value and count of everything that occurs."""


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive attribute, or one to be predicted.

    Attributes
    ----------
    codes
        The value of each record, by number.
    size
        The number of values.
    order
        The values from lowest to highest, where that is not how they are numbered.
    levels
        A hierarchy of the values, for the hierarchical distance.
    distances
        The distances of all pairs of values, for the semantic distance.
    totals
        How often each value occurs in the whole table, where the records are only a part of it.
    """

    codes: Ints
    size: int
    order: Ints | None = None
    levels: Ints | None = None
    distances: Floats | None = None
    totals: Longs | None = None

    def domain(self, weights: Longs) -> Domain:
        """What privacy models need to know of the attribute."""
        totals = self.totals
        if totals is None:
            totals = _counted(self.codes, weights, self.size)
        return Domain(totals, self.order, self.levels, self.distances)

    def part(self, mask: Bools, weights: Longs) -> Sensitive:
        """The attribute of some of the records."""
        return replace(self, codes=self.codes[mask], totals=self.domain(weights).totals)


@dataclass(frozen=True, eq=False)
class Tuples:
    """The distinct combinations of quasi-identifiers.

    Attributes
    ----------
    rows
        The rows of their hierarchies (tuples x attributes).
    amounts
        How many records each stands for; in a second line those of the population, if there is one.
    places
        The tuple of each record.
    pairs
        The histograms of sensitive attributes and targets over tuples.
    """

    rows: Ints
    amounts: Longs
    places: Ints
    pairs: Mapping[str, Pairs]


@dataclass(frozen=True, eq=False)
class Problem:
    """A table to be generalized.

    Attributes
    ----------
    hierarchies
        Those of the quasi-identifiers.
    codes
        For each quasi-identifier and record the row of its hierarchy.
    names
        The names of the quasi-identifiers.
    weights
        How many people each record stands for, 1 unless given.
    sensitive, targets
        Attributes to be protected and to be predicted, by name.
    population
        Codes of the records of a population table that holds this one, like `codes`.
    """

    hierarchies: tuple[Hierarchy, ...]
    codes: Ints
    names: tuple[str, ...] = ()
    weights: Longs = field(default_factory=lambda: np.empty(0, np.int64))
    sensitive: Mapping[str, Sensitive] = field(default_factory=dict)
    targets: Mapping[str, Sensitive] = field(default_factory=dict)
    population: Ints | None = None

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
        if not self.weights.size:
            object.__setattr__(self, "weights", np.ones(self.codes.shape[1], np.int64))

    @property
    def heights(self) -> tuple[int, ...]:
        """The highest level of each quasi-identifier."""
        return tuple(one.height for one in self.hierarchies)

    @functools.cached_property
    def records(self) -> int:
        """How many people the table stands for."""
        return int(self.weights.sum())

    @functools.cached_property
    def domains(self) -> Mapping[str, Domain]:
        """What privacy models need to know of the sensitive attributes."""
        return {name: one.domain(self.weights) for name, one in self.sensitive.items()}

    @functools.cached_property
    def tuples(self) -> Tuples:
        """The table reduced to its distinct tuples."""
        codes = self.codes
        if self.population is not None:
            codes = np.concatenate([codes, self.population], axis=1)
        firsts, places = distinct_rows(codes, [one.rows for one in self.hierarchies])
        rows = np.ascontiguousarray(codes[:, firsts].T, np.int32)
        own = places[: self.codes.shape[1]]
        amounts = [_counted(own, self.weights, firsts.size)]
        if self.population is not None:
            others = np.ones(self.population.shape[1], np.int64)
            amounts.append(_counted(places[own.size :], others, firsts.size))
        pairs = {
            name: _pairs(own, one, self.weights)
            for name, one in {**self.targets, **self.sensitive}.items()
        }
        return Tuples(rows, np.array(amounts), own, pairs)

    @functools.cached_property
    def facts(self) -> Facts:
        """What quality models need to know of the table."""
        tuples = self.tuples
        occurring = tuples.amounts[0]
        attributes = tuple(
            AttributeFacts(
                name,
                one.levels,
                _counted(tuples.rows[:, place], occurring, one.rows),
                one.distances,
            )
            for place, (name, one) in enumerate(zip(self.names, self.hierarchies, strict=True))
        )
        targets = {name: one.size for name, one in self.targets.items()}
        return Facts(self.records, attributes, tuples.rows, occurring, targets)

    def restricted(self, mask: Bools) -> Problem:
        """The problem of some of the records; hierarchies and distributions stay the table's."""
        return replace(
            self,
            codes=np.ascontiguousarray(self.codes[:, mask]),
            weights=self.weights[mask],
            sensitive={name: one.part(mask, self.weights) for name, one in self.sensitive.items()},
            targets={name: one.part(mask, self.weights) for name, one in self.targets.items()},
        )


def _counted(places: Ints, weights: Longs, size: int) -> Longs:
    return np.rint(np.bincount(places, weights=weights, minlength=size)).astype(np.int64)


def _pairs(places: Ints, attribute: Sensitive, weights: Longs) -> Pairs:
    keys = places.astype(np.int64) * attribute.size + attribute.codes
    numbers, count = kernel.number_keys(keys[None], 0)
    firsts = np.empty(count, np.int64)
    firsts[numbers[::-1]] = np.arange(keys.size - 1, -1, -1)
    counts = _counted(numbers, weights, count)
    return places[firsts], attribute.codes[firsts].astype(np.int32), counts


def distinct_rows(columns: Ints, sizes: Sequence[int]) -> tuple[Longs, Ints]:
    """The first of all records with equal codes, and for each record which of them it equals.

    Columns are packed into one number; whenever that would grow too large, the numbers are first
    made dense.
    """
    keys, span = np.zeros((1, columns.shape[1]), np.int64), 1
    for codes, size in zip(columns, sizes, strict=True):
        if span * size > LARGEST_KEY:
            dense, span = kernel.number_keys(keys, span)
            keys = dense.astype(np.int64)[None]
        keys = keys * size + codes
        span *= size
    places, count = kernel.number_keys(keys, span)
    firsts = np.empty(count, np.int64)
    firsts[places[::-1]] = np.arange(places.size - 1, -1, -1)
    return firsts, places
