"""Privacy models on risks: estimated k-map, records at risk, population uniqueness, games."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, get_args

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.chances import poisson_quantile
from ontomask.checks import Integer, Real
from ontomask.errors import ParameterError
from ontomask.population import estimated_uniques
from ontomask.privacy.classes import Classes, Domain
from ontomask.privacy.closeness import ROUNDING
from ontomask.privacy.models import (
    Costs,
    KAnonymity,
    PrivacyModel,
    SmallestGo,
    TableModel,
    cheapest,
    enough_people,
    no_costs,
    population_of,
)

__all__ = [
    "ESTIMATORS",
    "EstimatedKMap",
    "NoAttack",
    "PopulationNoAttack",
    "PopulationProfitability",
    "PopulationUniques",
    "Profitability",
    "RecordsAtRisk",
]

Estimator = Literal["dankar", "pitman", "zayatz", "snb"]
ESTIMATORS = get_args(Estimator)

Fraction = Annotated[float, Real(0, 1, open_low=True)]
Amount = Annotated[float, Real(0, open_low=True)]
Gain = Annotated[Amount, "What a person who is recognized is worth to an attacker."]
Cost = Annotated[Amount, "What an attack costs."]


@dataclass(frozen=True)
class EstimatedKMap(PrivacyModel):
    """Every class is so large that the population most probably has k such people.

    After El Emam and Dankar, "Protecting privacy using k-anonymity" (2008); thresholds as ARX has
    them.

    Examples
    --------
    >>> model = om.privacy.EstimatedKMap(10, fraction=0.01)
    >>> model.least
    3
    >>> table, ages = pl.DataFrame({"age": [31, 34, 36, 52, 55, 58]}), {"intervals": [5, 10, 20]}
    >>> method = om.Generalization([model], hierarchies={"age": ages})
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), method)
    >>> release.frame["age"].unique(maintain_order=True).to_list()
    ['[30, 40)', '[50, 60)']
    """

    k: Annotated[int, Integer(2), "The least number of people of the population in a class."]
    fraction: Annotated[Fraction, "The share of the population that is in the table."]
    estimator: Annotated[
        Literal["poisson", "zero-truncated-poisson"],
        "How the records of a class of k people are distributed: `poisson`, or "
        "`zero-truncated-poisson`, since a class that is seen has at least one.",
    ] = "poisson"
    significance: Annotated[float, Real(0, 1, open_low=True), "How probable a mistake may be."] = (
        0.05
    )

    @property
    def monotone_with_suppression(self) -> bool:
        """Classes only grow."""
        return True

    @property
    def least(self) -> int:
        """How many records a class needs."""
        rate, level = self.k * self.fraction, 1.0 - self.significance
        if self.estimator == "poisson":
            return min(self.k, poisson_quantile(level, rate) + 2)
        absent = math.exp(-rate)
        return min(self.k, max(1, poisson_quantile(absent + level * (1.0 - absent), rate)) + 1)

    def holds(self, classes: Classes) -> Bools:
        """N >= the least size."""
        return classes.sizes >= self.least

    def check_possible(self, records: int, domain: Domain | None) -> None:
        """Refuse k > n."""
        KAnonymity(max(2, self.least)).check_possible(records, domain)


@dataclass(frozen=True)
class RecordsAtRisk(SmallestGo):
    """Few of the records that stay have a risk, 1 / class size, above a threshold.

    Examples
    --------
    >>> table = pl.DataFrame({"city": ["Reus"] * 3 + ["Tarragona"] * 3 + ["Falset"]})
    >>> models, stars = [om.privacy.RecordsAtRisk(0.5, share=0.1)], {"city": {"star": True}}
    >>> method = om.Generalization(models, suppression_limit=0.2, hierarchies=stars)
    >>> release = om.protect(table, om.Schema(city=om.Flat()), method)
    >>> release.left_out, release.frame["city"].unique(maintain_order=True).to_list()
    (1, ['Reus', 'Tarragona'])
    """

    t: Annotated[
        float, Real(0, 1, open_low=True), "The risk that counts as high when it is exceeded."
    ]
    share: Annotated[float, Real(0, 1), "The largest share of records at a higher risk."] = 0.0

    def _met(self, ascending: Longs) -> Bools:
        risky = np.where(1.0 / ascending > self.t + ROUNDING, ascending, 0)
        left = np.append(np.cumsum(risky[::-1])[::-1], 0)
        records = np.append(np.cumsum(ascending[::-1])[::-1], 0)
        return np.asarray(left <= self.share * records + ROUNDING)


@dataclass(frozen=True)
class PopulationUniques(TableModel):
    """Few people are estimated to be unique in the population that the table is a sample of.

    Examples
    --------
    >>> table = pl.DataFrame({"city": ["Reus"] * 3 + ["Tarragona"] * 3 + ["Falset"]})
    >>> models, stars = [om.privacy.PopulationUniques(0.01, fraction=0.1)], {"city": {"star": True}}
    >>> method = om.Generalization(models, suppression_limit=0.2, hierarchies=stars)
    >>> release = om.protect(table, om.Schema(city=om.Flat()), method)
    >>> release.left_out, release.frame["city"].unique(maintain_order=True).to_list()
    (1, ['Reus', 'Tarragona'])
    """

    t: Annotated[float, Real(0, 1), "The largest estimated share of the population that is unique."]
    fraction: Annotated[Fraction, "The share of the population that is in the table."]
    estimator: Annotated[
        Estimator, "See `population_uniqueness`; `dankar` chooses among the others."
    ] = "dankar"

    @property
    def monotone(self) -> bool:
        """Estimates may rise when classes are united."""
        return False

    @property
    def monotone_with_suppression(self) -> bool:
        """Estimates may rise when classes are united."""
        return False

    def stays(self, sizes: Longs, kept: Bools, costs: Costs = no_costs) -> Bools:
        """Leave out as few unique records as needed; without any, none is expected."""
        ascending, uniques = np.sort(sizes[kept]), np.flatnonzero(kept & (sizes == 1))
        # estimates may rise when records go: what holds as it is must not be searched for by halves
        if self._estimated(ascending):
            return kept.copy()
        low, high = min(1, uniques.size), uniques.size
        while low < high:
            middle = (low + high) // 2
            if self._estimated(ascending[middle:]):
                high = middle
            else:
                low = middle + 1
        result = kept.copy()
        result[cheapest(uniques, low, costs)] = False
        return result

    def _estimated(self, sizes: Longs) -> bool:
        """Whether few enough are estimated to be unique."""
        if not sizes.size:
            return True
        found = estimated_uniques(sizes, self.fraction, self.estimator)
        return found.share is not None and found.share <= self.t + ROUNDING


def _size_without_profit(gain: float, cost: float) -> int:
    """The least class in which gain / size < cost."""
    return math.floor(gain / cost + ROUNDING) + 1


@dataclass(frozen=True)
class NoAttack(PrivacyModel):
    """Nobody gains by an attack on a person known to be in the table (Wan et al. 2015).

    An attack on a class of n records, or of n persons where several may be of one, succeeds with
    probability 1 / n.

    Examples
    --------
    >>> model = om.privacy.NoAttack(adversary_gain=300, adversary_cost=120)
    >>> model.k
    3
    >>> table, ages = pl.DataFrame({"age": [31, 34, 36, 52, 55, 58]}), {"intervals": [5, 10, 20]}
    >>> method = om.Generalization([model], hierarchies={"age": ages})
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), method)
    >>> release.frame["age"].unique(maintain_order=True).to_list()
    ['[30, 40)', '[50, 60)']
    """

    adversary_gain: Gain
    adversary_cost: Cost

    @property
    def monotone_with_suppression(self) -> bool:
        """Classes only grow."""
        return True

    @property
    def k(self) -> int:
        """The least number of records, or persons, in a class: gain / n < cost."""
        return _size_without_profit(self.adversary_gain, self.adversary_cost)

    def holds(self, classes: Classes) -> Bools:
        """Gain / n < cost."""
        return classes.counted >= self.k

    def check_possible(self, records: int, domain: Domain | None) -> None:
        """Refuse more records than there are."""
        KAnonymity(max(2, self.k)).check_possible(records, domain)


@dataclass(frozen=True)
class PopulationNoAttack(PrivacyModel):
    """Nobody gains by an attack on a person of the population (Wan et al. 2015).

    An attack on a class succeeds with probability 1 / people of the population in the class, who
    are counted as for `KMap`.

    Examples
    --------
    >>> people = pl.DataFrame({"town": ["Reus", "Falset", "Vic", "Berga"] * 2})
    >>> regions = [["Reus", "south"], ["Falset", "south"], ["Vic", "north"], ["Berga", "north"]]
    >>> models = [om.privacy.PopulationNoAttack(adversary_gain=300, adversary_cost=120)]
    >>> method = om.Generalization(models, hierarchies={"town": regions}, population=people)
    >>> release = om.protect(people.head(5), om.Schema(town=om.Flat()), method)
    >>> release.frame["town"].to_list()
    ['south', 'south', 'north', 'north', 'south']
    """

    needs_population: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = True

    adversary_gain: Gain
    adversary_cost: Cost

    @property
    def monotone_with_suppression(self) -> bool:
        """Classes only grow."""
        return True

    @property
    def k(self) -> int:
        """The least number of people in a class: gain / n < cost."""
        return _size_without_profit(self.adversary_gain, self.adversary_cost)

    def holds(self, classes: Classes) -> Bools:
        """Gain / n_population < cost, and somebody is there to be attacked."""
        return enough_people(classes, self.k)


@dataclass(frozen=True)
class Profitability(PrivacyModel):
    """Publishing pays, even where an attack on a person in the table does (Wan et al. 2015).

    A record that keeps a share of its information brings the publisher that share of the benefit.
    An attack on a class of n, of records or of persons, succeeds with probability 1 / n; where it
    pays for the attacker it is made, and costs the publisher the loss with that probability.

    Examples
    --------
    >>> model = om.privacy.Profitability(100, 250, adversary_gain=300, adversary_cost=120)
    >>> table, ages = pl.DataFrame({"age": [31, 34, 36, 52, 55, 58]}), {"intervals": [5, 10, 20]}
    >>> method = om.Generalization([model], hierarchies={"age": ages})
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), method)
    >>> release.frame["age"].unique(maintain_order=True).to_list()
    ['[30, 40)', '[50, 60)']
    """

    needs_information: ClassVar[bool] = True

    publisher_benefit: Annotated[Amount, "What a record as it is brings the publisher."]
    publisher_loss: Annotated[Amount, "What a person who is recognized costs the publisher."]
    adversary_gain: Gain
    adversary_cost: Cost

    @property
    def monotone(self) -> bool:
        """Larger classes tell less."""
        return False

    @property
    def joinable(self) -> bool:
        """Classes that look the same tell the same, and together are larger."""
        return True

    def holds(self, classes: Classes) -> Bools:
        """Benefit * information - (loss / n if gain / n > cost) > 0."""
        if classes.information is None:
            raise ParameterError("The model needs to know how much of its information is kept.")
        chances = 1.0 / np.maximum(self._among(classes), 1)
        attacked = self.adversary_gain * chances > self.adversary_cost * (1.0 + ROUNDING)
        benefits = self.publisher_benefit * classes.information
        payouts = benefits - np.where(attacked, self.publisher_loss * chances, 0.0)
        return np.asarray(payouts > ROUNDING * self.publisher_benefit)

    def _among(self, classes: Classes) -> Longs | Floats:
        """Among how many an attacker has to guess."""
        return classes.counted


@dataclass(frozen=True)
class PopulationProfitability(Profitability):
    """Publishing pays, even where an attack on a person of the population does (Wan et al. 2015).

    Like `Profitability`, but an attacker has to guess among the people of the population in a
    class, who are counted as for `KMap`.

    Examples
    --------
    >>> people = pl.DataFrame({"town": ["Reus", "Falset", "Vic", "Berga"] * 2})
    >>> regions = [["Reus", "south"], ["Falset", "south"], ["Vic", "north"], ["Berga", "north"]]
    >>> stakes = {"adversary_gain": 300, "adversary_cost": 120}
    >>> model = om.privacy.PopulationProfitability(100, 250, **stakes)
    >>> method = om.Generalization([model], hierarchies={"town": regions}, population=people)
    >>> release = om.protect(people.head(5), om.Schema(town=om.Flat()), method)
    >>> release.frame["town"].to_list()
    ['south', 'south', 'north', 'north', 'south']
    """

    needs_population: ClassVar[bool] = True
    takes_weights: ClassVar[bool] = True

    def _among(self, classes: Classes) -> Longs | Floats:
        return population_of(classes)
