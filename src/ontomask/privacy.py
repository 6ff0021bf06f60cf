"""Privacy models, as conditions on the classes of records that share their quasi-identifiers.

A model is a frozen description; asked with `holds`, it says for each class whether the condition is
met. It never counts records itself: class sizes and histograms of sensitive values come in as
`Classes`. Models on the whole table (`TableModel`) say instead which classes may stay.

Two kinds of monotony matter to a search. A model is `monotone` when a table whose classes all
satisfy it still does so after further generalization, which only unites classes. It is
`monotone_with_suppression` when a class that satisfies it still does so after being united with
*any* other class; then every record that fails at some levels also fails at all finer ones.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.checks import AnyOf, Choice, Integer, Null, Real, Text, validate
from ontomask.errors import MethodError, ParameterError
from ontomask.kernels.transport import transport_cost

__all__ = [
    "AverageRisk",
    "BetaLikeness",
    "Classes",
    "DeltaDisclosure",
    "DeltaPresence",
    "Domain",
    "Histogram",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "PrivacyModel",
    "SampleUniqueness",
    "TCloseness",
    "TableModel",
    "grassberger",
]

ROUNDING = 1e-12
"""Distances that exceed a threshold by less than this are equal to it."""

BLOCK = 2**21
"""So many cells of class times value are worked on at a time."""

Column = Annotated[str | None, AnyOf(Text(), Null())]


# What models see ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of a sensitive attribute.

    Attributes
    ----------
    totals
        How often each value occurs in the whole table, suppressed records included.
    order
        The values from lowest to highest, for the ordered distance; as they are numbered, if None.
    levels
        A hierarchy: for each level (0 is the value itself) and value a code, numbered anyhow; at
        the highest level all values have the same.
    distances
        Semantic distances of all pairs of values.
    """

    totals: Longs
    order: Ints | None = None
    levels: Ints | None = None
    distances: Floats | None = None

    @property
    def size(self) -> int:
        """The number of values."""
        return self.totals.size

    @property
    def present(self) -> int:
        """The number of values that occur."""
        return int(np.count_nonzero(self.totals))

    @property
    def shares(self) -> Floats:
        """The distribution of the values in the whole table."""
        shares: Floats = self.totals / self.totals.sum()
        return shares


@dataclass(frozen=True, eq=False)
class Histogram:
    """How often which sensitive value occurs in which class; pairs that do not occur are left out.

    Attributes
    ----------
    classes, values, counts
        One entry per pair, each pair once.
    """

    classes: Ints
    values: Ints
    counts: Longs
    domain: Domain


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a table.

    Attributes
    ----------
    sizes
        The number of records of each class; 0 for one that only the population has, which counts
        where a model is not mendable.
    population
        The number of records in each class of a population table, for models that need it.
    histograms
        The sensitive attributes by name.
    """

    sizes: Longs
    population: Longs | None = None
    histograms: Mapping[str, Histogram] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.sizes.size

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
        """For each pair the share of the value among the records of its class."""
        shares: Floats = histogram.counts / self.sizes[histogram.classes]
        return shares


def chosen_column(column: str | None, available: Mapping[str, object]) -> str:
    """The sensitive attribute that a model means."""
    listed = ", ".join(repr(name) for name in available) or "none"
    if column is None and len(available) == 1:
        return next(iter(available))
    if column is None:
        raise ParameterError(
            f"column must say which sensitive column the model protects; there are: {listed}."
        )
    if column not in available:
        raise ParameterError(f"{column!r} is not a sensitive column; there are: {listed}.")
    return column


# Models on classes ----------------------------------------------------------------------------


@dataclass(frozen=True)
class PrivacyModel(ABC):
    """A condition on each class."""

    needs_column: ClassVar[bool] = False
    needs_population: ClassVar[bool] = False

    def __post_init__(self) -> None:
        validate(self)

    @property
    def monotone(self) -> bool:
        """Whether uniting classes that satisfy the model gives one that does."""
        return True

    @property
    def monotone_with_suppression(self) -> bool:
        """Whether uniting a class that satisfies the model with any other gives one that does."""
        return False

    @property
    def mendable(self) -> bool:
        """Whether the model holds for the rest once the classes that fail are suppressed."""
        return True

    @abstractmethod
    def holds(self, classes: Classes) -> Bools:
        """For each class, whether it satisfies the model."""

    def check_possible(self, records: int, domain: Domain | None) -> None:  # noqa: B027 - most models are always possible
        """Refuse parameters that no table of so many records can satisfy."""


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least k records (Samarati 2001).

    Parameters
    ----------
    k
        The least number of records in a class.
    """

    k: Annotated[int, Integer(2)]

    @property
    def monotone_with_suppression(self) -> bool:
        """Classes only grow."""
        return True

    def holds(self, classes: Classes) -> Bools:
        """N >= k."""
        return classes.sizes >= self.k

    def check_possible(self, records: int, domain: Domain | None) -> None:  # noqa: ARG002
        """Refuse k > n."""
        if self.k > records:
            raise MethodError(
                f"k is {self.k}, but there are only {records} records; choose a smaller k."
            )


@dataclass(frozen=True)
class KMap(PrivacyModel):
    """Every class has at least k records in a population table (Sweeney 2001).

    Parameters
    ----------
    k
        The least number of people of the population in a class.
    """

    needs_population: ClassVar[bool] = True

    k: Annotated[int, Integer(2)]

    @property
    def monotone_with_suppression(self) -> bool:
        """Classes only grow."""
        return True

    def holds(self, classes: Classes) -> Bools:
        """n_population >= k."""
        return _population(classes) >= self.k


@dataclass(frozen=True)
class DeltaPresence(PrivacyModel):
    """The share of a population's class that is in the table lies within bounds (Nergiz 2007).

    With a minimum above 0 every class of the population must have records in the table, and none
    can be suppressed.

    Parameters
    ----------
    minimum, maximum
        The bounds of the share, from 0 to 1.
    """

    needs_population: ClassVar[bool] = True

    minimum: Annotated[float, Real(0, 1)]
    maximum: Annotated[float, Real(0, 1)]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.minimum > self.maximum:
            raise ParameterError(
                f"minimum must not exceed maximum, but {self.minimum:g} > {self.maximum:g}."
            )

    @property
    def mendable(self) -> bool:
        """Of a suppressed class, as of one that the table never had, nobody is in the release."""
        return self.minimum == 0

    def holds(self, classes: Classes) -> Bools:
        """Minimum <= n / n_population <= maximum; n may be 0."""
        share = classes.sizes / np.maximum(_population(classes), 1)
        return (share >= self.minimum) & (share <= self.maximum)


def _population(classes: Classes) -> Longs:
    if classes.population is None:
        raise ParameterError("The model needs a population table; give one as population=….")
    return classes.population


@dataclass(frozen=True)
class LDiversity(PrivacyModel):
    """Every class has l well-represented sensitive values (Machanavajjhala et al. 2007).

    Parameters
    ----------
    l
        How many values; a whole number unless the kind is `entropy`.
    kind
        `distinct` (l different values), `entropy` (entropy of at least ln l) or `recursive`
        (the most frequent value is less frequent than c times all from the l-th on together).
    c
        The factor of the recursive kind.
    column
        The sensitive column; the only one, if None.
    estimator
        Of the entropy: `shannon`, or `grassberger` (Grassberger 2003), which corrects the bias of
        small classes; for the latter, at least l different values are demanded as well.
    """

    needs_column: ClassVar[bool] = True

    l: Annotated[float, Real(1)]  # noqa: E741 - the model's own letter
    kind: Annotated[str, Choice("distinct", "entropy", "recursive")] = "distinct"
    c: Annotated[float, Real(0, open_low=True)] = 1.0
    column: Column = None
    estimator: Annotated[str, Choice("shannon", "grassberger")] = "shannon"

    @property
    def monotone(self) -> bool:
        """Entropy is concave; its estimate need not be."""
        return self.kind != "entropy" or self.estimator == "shannon"

    @property
    def monotone_with_suppression(self) -> bool:
        """Different values only become more; but one of them may become too frequent."""
        return self.kind == "distinct"

    @property
    def least(self) -> int:
        """How many different values are needed at any rate."""
        return math.ceil(self.l - ROUNDING)

    def holds(self, classes: Classes) -> Bools:
        """Distinct values >= l, and the condition of the kind."""
        histogram = classes.histogram(self.column)
        enough: Bools = classes.count(histogram) >= self.least
        if self.kind == "entropy":
            return enough & self._entropy_suffices(classes, histogram)
        if self.kind == "recursive":
            return enough & self._no_value_dominates(classes, histogram)
        return enough

    def _entropy_suffices(self, classes: Classes, histogram: Histogram) -> Bools:
        """H = log n - sum s log s / n >= ln l, with Grassberger's substitute for the logarithm."""
        logarithm = np.log if self.estimator == "shannon" else grassberger
        spread = classes.total(histogram, histogram.counts * logarithm(histogram.counts))
        entropy = logarithm(classes.sizes) - spread / classes.sizes
        return np.asarray(entropy >= math.log(self.l) - ROUNDING)

    def _no_value_dominates(self, classes: Classes, histogram: Histogram) -> Bools:
        """f_1 < c * sum of f_j from j = l on, frequencies descending."""
        order = np.lexsort((-histogram.counts, histogram.classes))
        owners, counts = histogram.classes[order], histogram.counts[order]
        starts = np.searchsorted(owners, np.arange(len(classes)))
        ranks = np.arange(owners.size) - starts[owners]
        size = len(classes)
        first = np.bincount(owners[ranks == 0], counts[ranks == 0], minlength=size)
        late = ranks >= self.least - 1
        rest = np.bincount(owners[late], counts[late], minlength=size)
        return np.asarray(first < self.c * rest)

    def check_possible(self, records: int, domain: Domain | None) -> None:  # noqa: ARG002
        """Refuse l beyond the number of sensitive values."""
        if domain is not None and self.least > domain.present:
            raise MethodError(
                f"l is {self.l:g}, but the sensitive column has only {domain.present} different "
                "values; choose a smaller l."
            )


def grassberger(counts: Longs) -> Floats:
    """G(1) = -gamma - ln 2; G(2n) = G(2n + 1) = -gamma - ln 2 + sum of 2 / (2k - 1), k = 1..n."""
    largest = int(counts.max(initial=1)) // 2
    sums = np.concatenate([[0.0], np.cumsum(2.0 / (2.0 * np.arange(1, largest + 1) - 1.0))])
    substitutes: Floats = sums[counts // 2] - np.euler_gamma - math.log(2.0)
    return substitutes


@dataclass(frozen=True)
class TCloseness(PrivacyModel):
    """The sensitive values of every class are distributed almost as in the table (Li et al. 2007).

    Parameters
    ----------
    t
        The largest earth mover's distance allowed.
    ground
        The distance of two values: `equal` (1 for all), `ordered` (by rank), `hierarchical` (height
        of the lowest common generalization over the height of the hierarchy) or `semantic` (of the
        column's taxonomy).
    column
        The sensitive column; the only one, if None.
    """

    needs_column: ClassVar[bool] = True

    t: Annotated[float, Real(0, 1)]
    ground: Annotated[str, Choice("equal", "ordered", "hierarchical", "semantic")] = "equal"
    column: Column = None

    def holds(self, classes: Classes) -> Bools:
        """Distance of p, the class's distribution, and q, the table's, at most t."""
        histogram = classes.histogram(self.column)
        if self.ground == "equal":
            return np.asarray(self._equal(classes, histogram) <= self.t + ROUNDING)
        close = np.empty(len(classes), bool)
        for block, excess in _excesses(classes, histogram):
            close[block] = self._close(excess, histogram.domain)
        return close

    @staticmethod
    def _equal(classes: Classes, histogram: Histogram) -> Floats:
        """1/2 sum |p - q|; values that are not in the class contribute q."""
        q = histogram.domain.shares[histogram.values]
        differences = np.abs(classes.shares(histogram) - q) - q
        distances: Floats = 0.5 * (classes.total(histogram, differences) + 1.0)
        return distances

    def _close(self, excess: Floats, domain: Domain) -> Bools:
        if self.ground == "semantic":
            return self._semantically_close(excess, domain)
        measure = _ordered if self.ground == "ordered" else _hierarchical
        return np.asarray(measure(excess, domain) <= self.t + ROUNDING)

    def _semantically_close(self, excess: Floats, domain: Domain) -> Bools:
        """Decide by bounds where they suffice: what moves goes at least and at most so far."""
        if domain.distances is None:
            raise ParameterError(
                "The semantic ground distance needs a sensitive column with a taxonomy."
            )
        q, moved = domain.shares, np.maximum(excess, 0).sum(axis=1)
        apart = domain.distances[~np.eye(domain.size, dtype=bool)]
        close: Bools = moved * apart.max(initial=0) <= self.t + ROUNDING
        unclear = np.flatnonzero(~close & (moved * apart.min(initial=0) <= self.t + ROUNDING))
        for row in unclear.tolist():
            cost = transport_cost(domain.distances, np.maximum(excess[row] + q, 0), q)
            close[row] = cost <= self.t + ROUNDING
        return close


def _excesses(classes: Classes, histogram: Histogram) -> Iterator[tuple[slice, Floats]]:
    """Yield p - q for blocks of classes, one row per class, one column per value."""
    step = max(1, BLOCK // histogram.domain.size)
    order = np.argsort(histogram.classes, kind="stable")
    owners = histogram.classes[order]
    for start in range(0, len(classes), step):
        block = slice(start, min(start + step, len(classes)))
        pairs = order[slice(*np.searchsorted(owners, [block.start, block.stop]))]
        excess = np.zeros((block.stop - start, histogram.domain.size))
        excess[histogram.classes[pairs] - start, histogram.values[pairs]] = histogram.counts[pairs]
        yield block, excess / classes.sizes[block, None] - histogram.domain.shares


def _ordered(excess: Floats, domain: Domain) -> Floats:
    """Sum over i of |sum of p_j - q_j for j <= i|, over d - 1."""
    ordered = excess if domain.order is None else excess[:, domain.order]
    distances: Floats = np.abs(np.cumsum(ordered, axis=1)).sum(axis=1) / max(domain.size - 1, 1)
    return distances


def _hierarchical(excess: Floats, domain: Domain) -> Floats:
    """What must pass each link of the tree, times its length.

    Two values whose lowest common generalization is at level l of h are l / h apart: as far as the
    way between them if every link from a level to the next has length 1 / 2h.
    """
    if domain.levels is None:
        raise ParameterError(
            "The hierarchical ground distance needs a sensitive column with a hierarchy."
        )
    if (domain.levels[-1] != domain.levels[-1][0]).any():
        raise ParameterError(
            "The hierarchical ground distance needs a hierarchy that ends in one value for all; "
            "add a last level to the hierarchy of the sensitive column."
        )
    passing = np.zeros(len(excess))
    for codes in domain.levels[:-1]:
        passing += np.abs(_united(excess, codes)).sum(axis=1)
    distances: Floats = passing / (2.0 * max(1, len(domain.levels) - 1))
    return distances


def _united(columns: Floats, parents: Ints) -> Floats:
    """Add up the columns that have the same parent."""
    order = np.argsort(parents, kind="stable")
    starts = np.flatnonzero(np.diff(parents[order], prepend=-1))
    united: Floats = np.add.reduceat(columns[:, order], starts, axis=1)
    return united


@dataclass(frozen=True)
class DeltaDisclosure(PrivacyModel):
    """No present value is much more or less frequent than in the table (Brickell 2008).

    Parameters
    ----------
    delta
        The largest |log2(share in the class / share in the table)|, excluded.
    column
        The sensitive column; the only one, if None.
    """

    needs_column: ClassVar[bool] = True

    delta: Annotated[float, Real(0, open_low=True)]
    column: Column = None

    @property
    def monotone(self) -> bool:
        """A value that is absent from one of two united classes may become too rare."""
        return False

    def holds(self, classes: Classes) -> Bools:
        """|log2(p / q)| < delta for every present value."""
        histogram = classes.histogram(self.column)
        ratio = classes.shares(histogram) / histogram.domain.shares[histogram.values]
        return np.asarray(classes.count(histogram, np.abs(np.log2(ratio)) >= self.delta) == 0)


@dataclass(frozen=True)
class BetaLikeness(PrivacyModel):
    """No value is much more frequent than in the table (Cao and Karras 2012).

    Parameters
    ----------
    beta
        The largest relative gain of confidence.
    kind
        `basic`, or `enhanced`, which also bounds the gain by -ln q.
    column
        The sensitive column; the only one, if None.
    """

    needs_column: ClassVar[bool] = True

    beta: Annotated[float, Real(0, open_low=True)]
    kind: Annotated[str, Choice("basic", "enhanced")] = "basic"
    column: Column = None

    def holds(self, classes: Classes) -> Bools:
        """(p - q) / q <= beta, or <= min(beta, -ln q)."""
        histogram = classes.histogram(self.column)
        q = histogram.domain.shares[histogram.values]
        bound = np.minimum(self.beta, -np.log(q)) if self.kind == "enhanced" else self.beta
        gain = (classes.shares(histogram) - q) / q
        return np.asarray(classes.count(histogram, gain > bound + ROUNDING) == 0)


# Models on the whole table --------------------------------------------------------------------


@dataclass(frozen=True)
class TableModel(PrivacyModel):
    """A condition on all classes together, met by suppressing the smallest of them."""

    @property
    def monotone_with_suppression(self) -> bool:
        """The number of records to be suppressed does not grow with generalization."""
        return True

    def holds(self, classes: Classes) -> Bools:
        """For each class, whether it may stay when as few of the smallest as needed must go."""
        return self.stays(classes.sizes, np.ones(len(classes), bool))

    def stays(self, sizes: Longs, kept: Bools, costs: Floats | None = None) -> Bools:
        """Which of the kept classes may stay.

        Of equally large classes those that cost less go first, and of those the first ones.
        """
        candidates = np.flatnonzero(kept)
        ties = (sizes[candidates],) if costs is None else (costs[candidates], sizes[candidates])
        order = candidates[np.lexsort(ties)]
        gone = int(np.argmax(self._met(sizes[order])))
        result = kept.copy()
        result[order[:gone]] = False
        return result

    @abstractmethod
    def _met(self, ascending: Longs) -> Bools:
        """Whether the condition is met when the first 0, 1, … all classes have gone."""


@dataclass(frozen=True)
class AverageRisk(TableModel):
    """The average risk of the records that stay, 1 / average class size, is at most t.

    Parameters
    ----------
    t
        The largest average risk allowed, from 0 to 1.
    """

    t: Annotated[float, Real(0, 1, open_low=True)]

    def _met(self, ascending: Longs) -> Bools:
        classes = np.arange(ascending.size, -1, -1)
        records = np.append(ascending.sum() - np.cumsum(ascending) + ascending, 0)
        return np.asarray(classes <= self.t * records + ROUNDING)


@dataclass(frozen=True)
class SampleUniqueness(TableModel):
    """The share of unique records among those that stay is at most t.

    Parameters
    ----------
    t
        The largest share allowed, from 0 to 1.
    """

    t: Annotated[float, Real(0, 1)]

    def _met(self, ascending: Longs) -> Bools:
        unique = np.append(np.cumsum((ascending == 1)[::-1])[::-1], 0)
        records = np.append(ascending.sum() - np.cumsum(ascending) + ascending, 0)
        return np.asarray(unique <= self.t * records + ROUNDING)
