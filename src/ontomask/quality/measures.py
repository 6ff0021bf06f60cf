"""Quality models made ready for a table: losses of partitions, and bounds on them."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from ontomask.arithmetic import log2, raised, summed_columns, summed_products, summed_rows
from ontomask.arrays import Bools, Floats, Longs
from ontomask.errors import ParameterError
from ontomask.quality.facts import AttributeFacts, Facts, Lost, Partition, Recoded
from ontomask.remembering import remembered

__all__ = [
    "AGGREGATES",
    "Aggregate",
    "AmbiguityMeasure",
    "ClassMeasure",
    "ClassSizeMeasure",
    "DiscernibilityMeasure",
    "DivergenceMeasure",
    "EntropyMeasure",
    "LevelMeasure",
    "Measure",
    "SemanticMeasure",
]

Parts = Sequence[Any] | Floats


class Aggregate(NamedTuple):
    """How the costs of attributes are combined: each is turned, then all are joined.

    Attributes
    ----------
    turned
        What costs become, given the weights of their attributes and the sum of all weights.
    joined
        What two of these make.
    ended
        The result, given what all of them make and the sum of all weights.
    """

    turned: Callable[[Floats, Floats, float], Floats]
    joined: Callable[[Any, Any], Any]
    ended: Callable[[Any, float], Any]

    def of(self, parts: Parts, weights: Floats) -> Any:
        """Combine entries per attribute, each a number or an array, into one."""
        total = weights.sum()
        if isinstance(parts, np.ndarray) and parts.ndim == 1:
            turned = self.turned(parts, weights, total).tolist()
            return self.ended(functools.reduce(self.joined, turned), total)
        # all of them are turned at once: most are a few numbers, and a call takes longer
        sizes = [np.size(part) for part in parts]
        every = np.concatenate([np.ravel(part) for part in parts])
        turned = self.turned(every, weights.repeat(sizes), total)
        ends = itertools.accumulate(sizes, initial=0)
        shaped = (
            turned[first:last].reshape(np.shape(part))
            for part, (first, last) in zip(parts, itertools.pairwise(ends), strict=True)
        )
        return self.ended(functools.reduce(self.joined, shaped), total)


def _factors(costs: Floats, weights: Floats, total: float) -> Floats:
    return raised(np.maximum(1.0 + costs, 0.0), weights / total)


def _weighted(costs: Floats, weights: Floats, _total: float) -> Floats:
    return costs * weights


def _as_it_is(found: Any, _total: float) -> Any:
    return found


AGGREGATES: dict[str, Aggregate] = {
    "geometric": Aggregate(_factors, operator.mul, lambda product, _: product - 1.0),
    "arithmetic": Aggregate(_weighted, operator.add, operator.truediv),
    "sum": Aggregate(_weighted, operator.add, _as_it_is),
    "max": Aggregate(_weighted, np.maximum, _as_it_is),
    "rank": Aggregate(_weighted, np.maximum, _as_it_is),
}
"""How the costs of attributes are combined; `rank` compares the largest, then the next, …"""


@dataclass(frozen=True, eq=False)
class Measure(ABC):
    """A quality model made ready for a table."""

    facts: Facts
    counts_suppression: bool = True
    aggregate: str = "sum"
    weights: Floats = field(default_factory=lambda: np.ones(1))
    limit: float = math.inf
    """How many records may be suppressed."""
    stays: bool = False
    """Whether a class that is kept stays so, whatever it is united with."""

    @property
    def floors(self) -> tuple[Floats, ...] | None:
        """For each attribute the floor at each level, where the levels alone determine it."""
        return None

    @abstractmethod
    def vector(self, partition: Partition) -> Floats:
        """What the partition costs, before attributes are combined."""

    def floor(self, partition: Partition) -> Floats:  # noqa: ARG002
        """A part of the cost that never falls with further generalization."""
        return np.full(self.weights.size, -math.inf)

    def surplus(self, partition: Partition, lost: Lost) -> Floats:  # noqa: ARG002
        """What records that must be suppressed add to the floor of every finer node."""
        return np.zeros(self.weights.size)

    def least(self, lost: Lost) -> float:  # noqa: ARG002
        """What every finer node costs at least, since these records are suppressed there too."""
        return -math.inf

    def within(self, limit: int, *, stays: bool) -> Self:
        """The measure for searches that suppress at most so many records.

        The fewer may be suppressed, and the more certainly classes are kept, the less can
        suppression save.
        """
        return replace(self, limit=float(limit), stays=stays)

    def escaping(self, partition: Partition) -> Bools:
        """The classes that coarser nodes may still suppress."""
        if self.stays:
            return partition.suppressed
        return np.ones(partition.sizes.size, bool)

    def class_costs(self, partition: Partition, chosen: Longs) -> Floats | None:  # noqa: ARG002
        """What some classes of equal size cost by themselves if kept, where the model can tell."""
        return None

    def mixed(self, recoded: Recoded) -> Floats:  # noqa: ARG002
        """What tuples cost that are generalized each in its own way."""
        raise ParameterError(
            "The quality model is not defined for records that are generalized differently; use "
            "loss, precision, height, entropy-loss, discernibility, average-class-size, "
            "classification or semantic."
        )

    def scalar(self, parts: Parts) -> Any:
        """Combine entries per attribute, each a number or an array, into one."""
        return AGGREGATES[self.aggregate].of(parts, self.weights)

    def key(self, vector: Floats) -> tuple[float, ...]:
        """What two losses are compared by."""
        if self.aggregate == "rank":
            return tuple(sorted((vector * self.weights).tolist(), reverse=True))
        return (float(self.scalar(vector)),)

    def suppressed(self, partition: Partition) -> Bools:
        """The suppressed classes, none of them if the model looks away."""
        if self.counts_suppression:
            return partition.suppressed
        return np.zeros(partition.sizes.size, bool)


@dataclass(frozen=True, eq=False)
class LevelMeasure(Measure):
    """Costs per attribute, value and record: (sum of costs - offset) / scale for each attribute.

    `kept` and `dropped` are what a record costs at each level and row, when it is kept and when it
    is suppressed, as flat tables.
    """

    kept: Floats = field(default_factory=lambda: np.empty(0))
    dropped: Floats = field(default_factory=lambda: np.empty(0))
    offset: Floats = field(default_factory=lambda: np.zeros(1))
    scale: Floats = field(default_factory=lambda: np.ones(1))

    @remembered
    def _lowest(self) -> Floats:
        """What a record costs at least."""
        if not self.counts_suppression or (self.kept <= self.dropped).all():
            return self.kept
        return np.minimum(self.kept, self.dropped)

    @remembered
    def _extra(self) -> Floats:
        return self.dropped - self.kept

    @remembered
    def _firm_extra(self) -> Floats:
        return self._extra if self._lowest is self.kept else self.dropped - self._lowest

    @remembered
    def _bases(self) -> tuple[Floats, ...]:
        return self._totals(self.kept)

    @remembered
    def floors(self) -> tuple[Floats, ...]:
        """For each attribute the floor at each level."""
        return self._totals(self._lowest)

    def _totals(self, costs: Floats) -> tuple[Floats, ...]:
        """For each attribute and level the cost if no record is suppressed."""
        totals = []
        for place, (start, one) in enumerate(
            zip(self.facts.starts, self.facts.attributes, strict=True)
        ):
            table = costs[start : start + one.codes.size].reshape(one.codes.shape)
            totals.append((summed_rows(table, one.counts) - self.offset[place]) / self.scale[place])
        return tuple(totals)

    def vector(self, partition: Partition) -> Floats:
        """The cost of each attribute."""
        base = np.array(
            [one[level] for one, level in zip(self._bases, partition.levels, strict=True)]
        )
        chosen = self.suppressed(partition)
        if not chosen.any():
            return base
        found = base + partition.totals(self._extra, chosen) / self.scale
        # what is subtracted for the suppressed may be rounded up
        pairs = zip(self.floors, partition.levels, strict=True)
        return np.maximum(found, [floors[level] for floors, level in pairs])

    def mixed(self, recoded: Recoded) -> Floats:
        """The cost of each attribute, tuple by tuple."""
        cells = recoded.cells()
        dropped = self.dropped if self.counts_suppression else self.kept
        costs = np.where(recoded.suppressed[:, None], dropped[cells], self.kept[cells])
        return (summed_columns(self.facts.weights, costs) - self.offset) / self.scale

    @remembered
    def _different(self) -> tuple[Floats, Longs, Longs]:
        """What kept records cost, each cost of an attribute once; whose it is, and where it is."""
        ends = [*self.facts.starts[1:], self.kept.size]
        found = [
            np.unique(self.kept[start:end], return_inverse=True)
            for start, end in zip(self.facts.starts, ends, strict=True)
        ]
        sizes = [values.size for values, _ in found]
        firsts = itertools.accumulate(sizes, initial=0)
        places = [first + own for first, (_, own) in zip(firsts, found, strict=False)]
        owners = np.arange(len(found)).repeat(sizes)
        return np.concatenate([values for values, _ in found]), owners, np.concatenate(places)

    def class_costs(self, partition: Partition, chosen: Longs) -> Floats:
        """The cost of some classes of equal size, attributes combined."""
        values, owners, places = self._different
        way, total = AGGREGATES[self.aggregate], self.weights.sum()
        size = partition.sizes[chosen[0]]
        turned = way.turned(values * size, self.weights[owners], total)
        tuples = self.facts.tuples[partition.representatives[chosen]]
        cells = self.facts.level_starts(partition.levels) + tuples
        costs: Floats = functools.reduce(way.joined, turned.take(places.take(cells)).T)
        return np.asarray(way.ended(costs, total), np.float64)

    def surplus(self, partition: Partition, lost: Lost) -> Floats:
        """What they cost beyond the floor: records of a class cost the same, whichever they are."""
        if not self.counts_suppression:
            return np.zeros(self.weights.size)
        total = partition.totals(self._firm_extra, lost.whole)
        if lost.part.any():
            total = total + partition.totals(self._firm_extra, lost.part, lost.amounts)
        return total / self.scale


@dataclass(frozen=True, eq=False)
class EntropyMeasure(Measure):
    """Non-uniform entropy: costs of columns, and what the suppressed records lose beyond that."""

    factors: tuple[float, float] = (1.0, 1.0)
    scale: Floats = field(default_factory=lambda: np.ones(1))

    @remembered
    def floors(self) -> tuple[Floats, ...]:
        """For each attribute and level - sum c log2(c / c(generalized))."""
        generalization = self.factors[0]
        pairs = zip(self.facts.attributes, self.scale, strict=True)
        return tuple(generalization * column_entropy(one) / scale for one, scale in pairs)

    def vector(self, partition: Partition) -> Floats:
        """The entropy lost in each column."""
        base = np.array(
            [one[level] for one, level in zip(self.floors, partition.levels, strict=True)]
        )
        return base + self._entropy(partition, np.where(partition.suppressed, partition.sizes, 0))

    def surplus(self, partition: Partition, lost: Lost) -> Floats:
        """The entropy of so many of the suppressed records; more of them can only have more."""
        return self._entropy(partition, lost.amounts)

    def _entropy(self, partition: Partition, amounts: Longs) -> Floats:
        """- sum s log2(s / S) over the generalized values of S records, so many of each class."""
        lost = np.zeros(self.weights.size)
        if not self.counts_suppression or not amounts.any():
            return lost
        chosen = amounts > 0
        sizes = amounts[chosen]
        for place in range(lost.size):
            every = np.bincount(partition.codes(place)[chosen], weights=sizes)
            counts = every[every > 0]
            lost[place] = -summed_products(counts, log2(counts / sizes.sum()))
        return self.factors[1] * lost / self.scale


def column_entropy(attribute: AttributeFacts) -> Floats:
    """For each level - sum over values c log2(c / c(generalized value))."""
    occurs = attribute.counts > 0
    counts = attribute.counts[occurs]
    ratios = counts / attribute.generalized_counts[:, occurs]
    return -summed_rows(log2(ratios), counts)


@dataclass(frozen=True, eq=False)
class ClassMeasure(Measure):
    """Costs per class: the sum over classes of what they cost kept or suppressed, over a scale."""

    scale: float = 1.0

    @abstractmethod
    def costs(self, partition: Partition) -> tuple[Floats, Floats, Floats]:
        """What each class costs kept, suppressed, and kept at least (superadditive)."""

    def _costs(self, partition: Partition) -> tuple[Floats, Floats, Floats]:
        """The costs, computed once for each partition."""
        if self not in partition.known:
            partition.known[self] = self.costs(partition)
        costs: tuple[Floats, Floats, Floats] = partition.known[self]
        return costs

    def vector(self, partition: Partition) -> Floats:
        """The sum, as a vector of one."""
        kept, dropped, _ = self._costs(partition)
        total = np.where(self.suppressed(partition), dropped, kept).sum()
        return np.array([total / self.scale])

    def floor(self, partition: Partition) -> Floats:
        """The sum of the cheaper of both for each class that may still be suppressed."""
        _, dropped, least = self._costs(partition)
        saved = np.maximum(least - dropped, 0)[self.escaping(partition)].sum()
        return np.array([(least.sum() - saved * self.counts_suppression) / self.scale])

    def class_costs(self, partition: Partition, chosen: Longs) -> Floats:
        """What some classes cost if kept."""
        return self._costs(partition)[0][chosen]

    def surplus(self, partition: Partition, lost: Lost) -> Floats:
        """What classes that are lost as wholes cost beyond the cheaper of both."""
        if not self.counts_suppression:
            return np.zeros(1)
        _, dropped, least = self._costs(partition)
        beyond = np.maximum(dropped[lost.whole] - least[lost.whole], 0)
        return np.array([beyond.sum() / self.scale])


@dataclass(frozen=True, eq=False)
class DiscernibilityMeasure(ClassMeasure):
    """Squared class sizes."""

    def costs(self, partition: Partition) -> tuple[Floats, Floats, Floats]:
        """A kept class costs its size for each record, a suppressed one the size of the table."""
        sizes = partition.sizes.astype(np.float64)
        return sizes**2, self.facts.records * sizes, sizes**2

    def mixed(self, recoded: Recoded) -> Floats:
        """The sum over classes."""
        sizes = recoded.sizes.astype(np.float64)
        dropped = recoded.suppressed_classes & self.counts_suppression
        return np.array([np.where(dropped, self.facts.records * sizes, sizes**2).sum()])


@dataclass(frozen=True, eq=False)
class AmbiguityMeasure(ClassMeasure):
    """The areas that records cover."""

    def costs(self, partition: Partition) -> tuple[Floats, Floats, Floats]:
        """A kept record covers its class's area, a suppressed one everything."""
        everything: Floats = partition.sizes.astype(np.float64) * self.facts.area
        kept = everything * partition.shares()
        return kept, everything, kept


@dataclass(frozen=True, eq=False)
class SemanticMeasure(ClassMeasure):
    """Squared mean distances of the original tuples to their generalization."""

    attribute_weights: Floats = field(default_factory=lambda: np.ones(1))

    @remembered
    def _distances(self) -> tuple[Floats, ...]:
        return tuple(one.distances for one in self.facts.attributes)

    @remembered
    def _least(self) -> tuple[Floats, ...]:
        """The smallest distance at this level or any above: it cannot fall with the level."""
        return tuple(
            np.minimum.accumulate(one[::-1], axis=0)[::-1].copy() for one in self._distances
        )

    def _summed(self, tables: tuple[Floats, ...], partition: Partition) -> Floats:
        mean = np.zeros(len(self.facts.tuples))
        weights = self.attribute_weights / self.attribute_weights.sum()
        for place, (table, level) in enumerate(zip(tables, partition.levels, strict=True)):
            mean += weights[place] * table[level][self.facts.tuples[:, place]]
        squares = self.facts.weights * mean**2
        sums = np.bincount(partition.places, weights=squares, minlength=partition.sizes.size)
        return sums.astype(np.float64, copy=False)

    def mixed(self, recoded: Recoded) -> Floats:
        """The sum over tuples."""
        flat = np.concatenate([one.ravel() for one in self._distances])
        weights = self.attribute_weights / self.attribute_weights.sum()
        squares = summed_rows(flat[recoded.cells()], weights) ** 2
        if self.counts_suppression:
            squares = np.where(recoded.suppressed, 1.0, squares)
        return np.array([summed_products(self.facts.weights, squares)])

    def costs(self, partition: Partition) -> tuple[Floats, Floats, Floats]:
        """The squares summed over classes; a suppressed record costs 1."""
        kept = self._summed(self._distances, partition)
        return kept, partition.sizes.astype(np.float64), self._summed(self._least, partition)


@dataclass(frozen=True, eq=False)
class ClassSizeMeasure(Measure):
    """The average class size, all suppressed records making up one class."""

    factors: tuple[float, float] = (1.0, 1.0)

    def vector(self, partition: Partition) -> Floats:
        """N / (classes + 1 if any is suppressed)."""
        # what a class adds is weighted the other way round: fewer classes cost more
        one_class, rest = self.factors[1], self.factors[0]
        dropped = self.suppressed(partition)
        classes = one_class * np.count_nonzero(~dropped) + rest * bool(dropped.any())
        return np.array([self.facts.records / classes if classes else math.inf])

    def mixed(self, recoded: Recoded) -> Floats:
        """N / (classes + 1 if any is suppressed)."""
        dropped = recoded.suppressed_classes & self.counts_suppression
        classes = self.factors[1] * np.count_nonzero(~dropped) + self.factors[0] * dropped.any()
        return np.array([self.facts.records / classes if classes else math.inf])

    def floor(self, partition: Partition) -> Floats:
        """As if no class were suppressed and there were yet another one."""
        rest = self.factors[0] if self.counts_suppression else 0.0
        classes = self.factors[1] * partition.sizes.size + rest
        return np.array([self.facts.records / classes if classes else math.inf])


@dataclass(frozen=True, eq=False)
class DivergenceMeasure(Measure):
    """Sum over records of p log2(p / q)."""

    def vector(self, partition: Partition) -> Floats:
        """Spread each class evenly over its area, suppressed records over everything."""
        records = self.facts.records
        everything = self.facts.area
        dropped = self.suppressed(partition)
        lost = partition.sizes[dropped].sum() / records / everything
        spread = np.where(
            dropped, lost, partition.sizes / records / (partition.shares() * everything)
        )
        occurs, p, logarithms = self._own
        # where spread and share are the same number, so are their logarithms
        apart = logarithms - log2(spread)[partition.places[occurs]]
        return np.array([records * summed_products(p**2, apart)])

    @remembered
    def _own(self) -> tuple[Bools, Floats, Floats]:
        """Which tuples occur, which share of the records they are, and its logarithm."""
        occurs = self.facts.weights > 0
        p = self.facts.weights[occurs] / self.facts.records
        return occurs, p, log2(p)
