"""The privacy models by name, with their parameters."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from ontomask.arithmetic import log, log2
from ontomask.arrays import Bools, Floats, Longs
from ontomask.checks import AnyOf, Declared, Integer, Null, Real, Text
from ontomask.errors import MethodError, ParameterError
from ontomask.privacy.classes import Classes, Domain, Histogram
from ontomask.privacy.closeness import ROUNDING, GoesOn, Judged, always, judge_closeness
from ontomask.wording import only

__all__ = [
    "AverageRisk",
    "BetaLikeness",
    "Costs",
    "DeltaDisclosure",
    "DeltaPresence",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "PrivacyModel",
    "SampleUniqueness",
    "SmallestGo",
    "TCloseness",
    "TableModel",
    "cheapest",
    "enough_people",
    "grassberger",
    "no_costs",
    "population_of",
]

Column = Annotated[
    str | None, AnyOf(Text(), Null()), "The sensitive column; the only one, if left out."
]


# Models on classes ----------------------------------------------------------------------------


@dataclass(frozen=True)
class PrivacyModel(Declared, ABC):
    """A condition on each class."""

    name: ClassVar[str] = ""
    """What plans call it, where it comes from another package."""
    needs_column: ClassVar[bool] = False
    needs_population: ClassVar[bool] = False
    takes_weights: ClassVar[bool] = False
    needs_information: ClassVar[bool] = False
    costly: ClassVar[bool] = False
    """Whether it takes long to ask the model, so that it should be asked only where needed."""

    @property
    def monotone(self) -> bool:
        """Whether uniting classes that satisfy the model gives one that does."""
        return True

    @property
    def monotone_with_suppression(self) -> bool:
        """Whether uniting a class that satisfies the model with any other gives one that does."""
        return False

    @property
    def joinable(self) -> bool:
        """Whether classes that satisfy the model and look the same do so together."""
        return self.monotone

    @property
    def mendable(self) -> bool:
        """Whether the model holds for the rest once the classes that fail are suppressed."""
        return True

    @abstractmethod
    def holds(self, classes: Classes) -> Bools:
        """For each class, whether it satisfies the model."""

    def judge(self, classes: Classes, asked: Bools, goes_on: GoesOn) -> Judged:  # noqa: ARG002
        """Whether classes satisfy the model, and how many of their records finer ones could hold.

        Of classes that are not asked about nothing need be told. Once `goes_on`, told how many
        records have failed, says that the rest does not matter, it counts as failing.
        """
        holds = self.holds(classes)
        # where no union mends a failure, a part of it cannot have been without
        stays = holds if self.monotone_with_suppression else np.ones(len(classes), bool)
        return holds, np.where(stays, classes.sizes, 0)

    def check_possible(self, records: int, domain: Domain | None) -> None:
        """Refuse parameters that no table of so many records can satisfy."""


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every class has at least k records (Samarati 2001).

    Examples
    --------
    >>> table, ages = pl.DataFrame({"age": [31, 34, 36, 52, 55, 58]}), {"intervals": [5, 10, 20]}
    >>> method = om.Generalization([om.privacy.KAnonymity(3)], hierarchies={"age": ages})
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), method)
    >>> release.frame["age"].unique(maintain_order=True).to_list()
    ['[30, 40)', '[50, 60)']
    """

    k: Annotated[int, Integer(2), "The least number of records in a class."]

    @property
    def monotone_with_suppression(self) -> bool:
        """Classes only grow."""
        return True

    def holds(self, classes: Classes) -> Bools:
        """N >= k."""
        return classes.counted >= self.k

    def check_possible(self, records: int, domain: Domain | None) -> None:  # noqa: ARG002
        """Refuse k > n."""
        if self.k > records:
            raise MethodError(f"k is {self.k}, but {only(records, 'record')}; choose a smaller k.")


@dataclass(frozen=True)
class KMap(PrivacyModel):
    """Every class has at least k people in the population (Sweeney 2001).

    They are counted in a population table; without one, the survey weights of the class's records
    are added up.

    Examples
    --------
    >>> people = pl.DataFrame({"town": ["Reus", "Falset", "Vic", "Berga"] * 2})
    >>> regions = [["Reus", "south"], ["Falset", "south"], ["Vic", "north"], ["Berga", "north"]]
    >>> models = [om.privacy.KMap(3)]
    >>> method = om.Generalization(models, hierarchies={"town": regions}, population=people)
    >>> release = om.protect(people.head(5), om.Schema(town=om.Flat()), method)
    >>> release.frame["town"].to_list()
    ['south', 'south', 'north', 'north', 'south']
    """

    needs_population: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = True

    k: Annotated[int, Integer(2), "The least number of people of the population in a class."]

    @property
    def monotone_with_suppression(self) -> bool:
        """Classes only grow."""
        return True

    def holds(self, classes: Classes) -> Bools:
        """n_population >= k."""
        return enough_people(classes, self.k)


@dataclass(frozen=True)
class DeltaPresence(PrivacyModel):
    """The share of a population's class that is in the table lies within bounds (Nergiz 2007).

    With a minimum above 0 every class of the population must have records in the table, and none
    can be suppressed.

    Examples
    --------
    >>> people = pl.DataFrame({"town": ["Reus", "Falset", "Vic", "Berga"] * 2})
    >>> regions = [["Reus", "south"], ["Falset", "south"], ["Vic", "north"], ["Berga", "north"]]
    >>> models = [om.privacy.DeltaPresence(0, 0.8)]
    >>> method = om.Generalization(models, hierarchies={"town": regions}, population=people)
    >>> release = om.protect(people.head(5), om.Schema(town=om.Flat()), method)
    >>> release.frame["town"].to_list()
    ['south', 'south', 'north', 'north', 'south']
    """

    needs_population: ClassVar[bool] = True

    minimum: Annotated[float, Real(0, 1), "The lowest share allowed, from 0 to 1."]
    maximum: Annotated[float, Real(0, 1), "The highest share allowed, from 0 to 1."]

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
        share = classes.sizes / np.maximum(population_of(classes), 1)
        return (share >= self.minimum) & (share <= self.maximum)


def population_of(classes: Classes) -> Longs | Floats:
    """How many people of the population are in each class; they must be known."""
    if classes.population is None:
        raise ParameterError("The model needs a population table; give one as population=….")
    return classes.population


def enough_people(classes: Classes, least: int) -> Bools:
    """Which classes have so many people of the population; survey weights carry rounding."""
    return np.asarray(population_of(classes) >= least * (1.0 - ROUNDING))


@dataclass(frozen=True)
class LDiversity(PrivacyModel):
    """Every class has l well-represented sensitive values (Machanavajjhala et al. 2007).

    Examples
    --------
    >>> ages, ills = [31, 32, 35, 36, 51, 52, 55, 56], ["flu", "flu", "flu", "asthma"] * 2
    >>> table = pl.DataFrame({"age": ages, "ill": ills})
    >>> schema = om.Schema(age=om.Numeric(), ill=om.Flat(role="sensitive"))
    >>> method = om.Microaggregation(2, privacy=[om.privacy.LDiversity(2)])
    >>> om.protect(table, schema, method, seed=1).frame["age"].to_list()
    [34, 34, 34, 34, 53, 53, 53, 53]
    """

    needs_column: ClassVar[bool] = True

    l: Annotated[float, Real(1), "How many values; a whole number unless the kind is `entropy`."]  # noqa: E741 - the model's own letter
    kind: Annotated[
        Literal["distinct", "entropy", "recursive"],
        "`distinct` (l different values), `entropy` (entropy of at least ln l) or `recursive` "
        "(the most frequent value is less frequent than c times all from the l-th on "
        "together).",
    ] = "distinct"
    c: Annotated[float, Real(0, open_low=True), "The factor of the recursive kind."] = 1.0
    column: Column = None
    estimator: Annotated[
        Literal["shannon", "grassberger"],
        "Of the entropy: `shannon`, or `grassberger` (Grassberger 2003), which corrects the "
        "bias of small classes; for the latter, at least l different values are demanded as "
        "well.",
    ] = "shannon"

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
        logarithm = log if self.estimator == "shannon" else grassberger
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
    """The sensitive values of every class are distributed almost as in the table.

    Li et al. 2007.

    Examples
    --------
    >>> ages, ills = [31, 32, 35, 36, 51, 52, 55, 56], ["flu", "flu", "flu", "asthma"] * 2
    >>> table = pl.DataFrame({"age": ages, "ill": ills})
    >>> schema = om.Schema(age=om.Numeric(), ill=om.Flat(role="sensitive"))
    >>> method = om.Microaggregation(2, privacy=[om.privacy.TCloseness(0.2)])
    >>> om.protect(table, schema, method, seed=1).frame["age"].to_list()
    [34, 34, 34, 34, 53, 53, 53, 53]
    """

    needs_column: ClassVar[bool] = True
    costly: ClassVar[bool] = True

    t: Annotated[float, Real(0, 1), "The largest earth mover's distance allowed."]
    ground: Annotated[
        Literal["equal", "ordered", "hierarchical", "semantic"],
        "The distance of two values: `equal` (1 for all), `ordered` (by rank), `hierarchical` "
        "(height of the lowest common generalization over the height of the hierarchy) or "
        "`semantic` (of the column's taxonomy).",
    ] = "equal"
    column: Column = None

    def holds(self, classes: Classes) -> Bools:
        """Distance of p, the class's distribution, and q, the table's, at most t."""
        return self.judge(classes, np.ones(len(classes), bool), always)[0]

    def judge(self, classes: Classes, asked: Bools, goes_on: GoesOn) -> Judged:
        """Large classes are asked about first."""
        histogram = classes.histogram(self.column)
        return judge_closeness(classes, histogram, self.ground, self.t, asked, goes_on)


@dataclass(frozen=True)
class DeltaDisclosure(PrivacyModel):
    """No present value is much more or less frequent than in the table (Brickell 2008).

    Examples
    --------
    >>> ages, ills = [31, 32, 35, 36, 51, 52, 55, 56], ["flu", "flu", "flu", "asthma"] * 2
    >>> table = pl.DataFrame({"age": ages, "ill": ills})
    >>> schema = om.Schema(age=om.Numeric(), ill=om.Flat(role="sensitive"))
    >>> method = om.Microaggregation(2, privacy=[om.privacy.DeltaDisclosure(0.5)])
    >>> om.protect(table, schema, method, seed=1).frame["age"].to_list()
    [34, 34, 34, 34, 53, 53, 53, 53]
    """

    needs_column: ClassVar[bool] = True

    delta: Annotated[
        float,
        Real(0, open_low=True),
        "The largest |log2(share in the class / share in the table)|, excluded.",
    ]
    column: Column = None

    @property
    def monotone(self) -> bool:
        """A value that is absent from one of two united classes may become too rare."""
        return False

    def holds(self, classes: Classes) -> Bools:
        """|log2(p / q)| < delta for every present value."""
        histogram = classes.histogram(self.column)
        ratio = classes.shares(histogram) / histogram.domain.shares[histogram.values]
        return np.asarray(classes.count(histogram, np.abs(log2(ratio)) >= self.delta) == 0)


@dataclass(frozen=True)
class BetaLikeness(PrivacyModel):
    """No value is much more frequent than in the table (Cao and Karras 2012).

    Examples
    --------
    >>> ages, ills = [31, 32, 35, 36, 51, 52, 55, 56], ["flu", "flu", "flu", "asthma"] * 2
    >>> table = pl.DataFrame({"age": ages, "ill": ills})
    >>> schema = om.Schema(age=om.Numeric(), ill=om.Flat(role="sensitive"))
    >>> method = om.Microaggregation(2, privacy=[om.privacy.BetaLikeness(0.5)])
    >>> om.protect(table, schema, method, seed=1).frame["age"].to_list()
    [34, 34, 34, 34, 53, 53, 53, 53]
    """

    needs_column: ClassVar[bool] = True

    beta: Annotated[float, Real(0, open_low=True), "The largest relative gain of confidence."]
    kind: Annotated[
        Literal["basic", "enhanced"],
        "`basic`, or `enhanced`, which also bounds the gain by -ln q.",
    ] = "basic"
    column: Column = None

    def holds(self, classes: Classes) -> Bools:
        """(p - q) / q <= beta, or <= min(beta, -ln q)."""
        histogram = classes.histogram(self.column)
        q = histogram.domain.shares[histogram.values]
        bound = np.minimum(self.beta, -log(q)) if self.kind == "enhanced" else self.beta
        gain = (classes.shares(histogram) - q) / q
        return np.asarray(classes.count(histogram, gain > bound + ROUNDING) == 0)


# Models on the whole table --------------------------------------------------------------------


Costs = Callable[[Longs], Floats | None]
"""What some classes of equal size cost by themselves, where that is known."""


def no_costs(_classes: Longs) -> None:
    """As if all cost the same."""


@dataclass(frozen=True)
class TableModel(PrivacyModel):
    """A condition on all classes together, met by suppressing some of them."""

    @property
    def monotone_with_suppression(self) -> bool:
        """The number of records to be suppressed does not grow with generalization."""
        return True

    def holds(self, classes: Classes) -> Bools:
        """For each class, whether it may stay when as few as needed must go."""
        return self.stays(classes.sizes, np.ones(len(classes), bool))

    @abstractmethod
    def stays(self, sizes: Longs, kept: Bools, costs: Costs = no_costs) -> Bools:
        """Which of the kept classes may stay; of equal ones those that cost less go first."""


def cheapest(classes: Longs, count: int, costs: Costs) -> Longs:
    """So many of some classes of equal size that cost least, and of these the first ones."""
    if not 0 < count < classes.size:
        return classes[:count]
    found = costs(classes)
    return classes[:count] if found is None else classes[np.argsort(found, kind="stable")[:count]]


class SmallestGo(TableModel):
    """A condition on all classes together, met by suppressing the smallest of them."""

    def stays(self, sizes: Longs, kept: Bools, costs: Costs = no_costs) -> Bools:
        """Which of the kept classes may stay.

        Of equally large classes those that cost less go first, and of those the first ones.
        """
        ascending = np.sort(sizes[kept])
        gone = int(np.argmax(self._met(ascending)))
        if not gone:
            return kept.copy()
        last = ascending[gone - 1]
        smaller, equal = kept & (sizes < last), np.flatnonzero(kept & (sizes == last))
        result: Bools = kept & ~smaller
        result[cheapest(equal, gone - int(smaller.sum()), costs)] = False
        return result

    @abstractmethod
    def _met(self, ascending: Longs) -> Bools:
        """Whether the condition is met when the first 0, 1, … all classes have gone."""


@dataclass(frozen=True)
class AverageRisk(SmallestGo):
    """The average risk of the records that stay, 1 / average class size, is at most t.

    Examples
    --------
    >>> table = pl.DataFrame({"city": ["Reus"] * 3 + ["Tarragona"] * 3 + ["Falset"]})
    >>> models, stars = [om.privacy.AverageRisk(0.4)], {"city": {"star": True}}
    >>> method = om.Generalization(models, suppression_limit=0.2, hierarchies=stars)
    >>> release = om.protect(table, om.Schema(city=om.Flat()), method)
    >>> release.left_out, release.frame["city"].unique(maintain_order=True).to_list()
    (1, ['Reus', 'Tarragona'])
    """

    t: Annotated[float, Real(0, 1, open_low=True), "The largest average risk allowed, from 0 to 1."]

    def _met(self, ascending: Longs) -> Bools:
        classes = np.arange(ascending.size, -1, -1)
        records = np.append(ascending.sum() - np.cumsum(ascending) + ascending, 0)
        return np.asarray(classes <= self.t * records + ROUNDING)


@dataclass(frozen=True)
class SampleUniqueness(SmallestGo):
    """The share of unique records among those that stay is at most t.

    Examples
    --------
    >>> table = pl.DataFrame({"city": ["Reus"] * 3 + ["Tarragona"] * 3 + ["Falset"]})
    >>> models, stars = [om.privacy.SampleUniqueness(0.1)], {"city": {"star": True}}
    >>> method = om.Generalization(models, suppression_limit=0.2, hierarchies=stars)
    >>> release = om.protect(table, om.Schema(city=om.Flat()), method)
    >>> release.left_out, release.frame["city"].unique(maintain_order=True).to_list()
    (1, ['Reus', 'Tarragona'])
    """

    t: Annotated[float, Real(0, 1), "The largest share allowed, from 0 to 1."]

    def _met(self, ascending: Longs) -> Bools:
        unique = np.append(np.cumsum((ascending == 1)[::-1])[::-1], 0)
        records = np.append(ascending.sum() - np.cumsum(ascending) + ascending, 0)
        return np.asarray(unique <= self.t * records + ROUNDING)
