"""The quality models by name, with their parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from ontomask.arithmetic import log2, log10, summed_products
from ontomask.arrays import Floats
from ontomask.checks import AnyOf, Choice, Declared, Flag, Null, Real, Typed, check, did_you_mean
from ontomask.errors import ParameterError
from ontomask.quality.facts import AttributeFacts, Facts
from ontomask.quality.measures import (
    AGGREGATES,
    AmbiguityMeasure,
    ClassSizeMeasure,
    DiscernibilityMeasure,
    DivergenceMeasure,
    EntropyMeasure,
    LevelMeasure,
    Measure,
    SemanticMeasure,
)
from ontomask.quality.votes import ClassificationMeasure, QuasiTargetMeasure

__all__ = [
    "QUALITIES",
    "Ambiguity",
    "AverageClassSize",
    "Classification",
    "Discernibility",
    "EntropyLoss",
    "Height",
    "KLDivergence",
    "Loss",
    "NonUniformEntropy",
    "Precision",
    "Quality",
    "Semantic",
    "quality_model",
]

Weights = Annotated[
    Mapping[str, float] | None,
    AnyOf(Typed(Mapping, "a weight for each column"), Null()),
    "The importance of columns, 1 unless given.",
]
Factor = Annotated[
    float,
    Real(0, 1),
    "Generalization (towards 0) against suppression (towards 1): which costs more.",
]
Aggregate = Annotated[
    str, Choice(*AGGREGATES), "How attributes are combined: geometric, arithmetic, sum, max, rank."
]


@dataclass(frozen=True)
class Quality(Declared, ABC):
    """A quality model."""

    name: ClassVar[str] = ""
    measures: ClassVar[str] = ""
    """What its figure is, and what 0 or 1 would be."""
    needs_tuples: ClassVar[bool] = False

    counts_suppression: Annotated[
        bool,
        Flag(),
        "Whether suppressed records are charged; if not, they cost what they would if kept.",
    ] = field(default=True, kw_only=True)

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns to be predicted."""
        return ()

    @abstractmethod
    def prepare(self, facts: Facts) -> Measure:
        """Make the model ready for a table."""


def _factors(factor: float) -> tuple[float, float]:
    """The weights of generalization and of suppression."""
    generalization = 1.0 if factor <= 0.5 else 1.0 - 2.0 * (factor - 0.5)
    return generalization, 2.0 * factor if factor < 0.5 else 1.0


def _weight_vector(weights: Mapping[str, float] | None, facts: Facts) -> Floats:
    for name, weight in (weights or {}).items():
        if name not in facts.names:
            raise ParameterError(
                f"weights names {name!r}, which is not a quasi-identifier."
                f"{did_you_mean(name, facts.names)}"
            )
        check(f"The weight of {name!r}", weight, Real(0))
    vector = np.array([(weights or {}).get(name, 1.0) for name in facts.names], np.float64)
    if not vector.any():
        raise ParameterError("weights must not all be 0; leave them out to treat columns equally.")
    return vector


@dataclass(frozen=True)
class Loss(Quality):
    """Granularity: the mean share of its domain that a generalized value covers (Iyengar 2002).

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 31, 58, 58], "sex": ["m", "f", "m", "f"]})
    >>> stars = {"age": {"star": True}, "sex": {"star": True}}
    >>> quality = om.quality.Loss(weights={"age": 3})
    >>> method = om.Generalization([om.privacy.KAnonymity(2)], quality=quality, hierarchies=stars)
    >>> release = om.protect(table, om.Schema(age=om.Numeric(), sex=om.Flat()), method)
    >>> release.details[0]["levels"], round(release.details[0]["quality"], 2)
    ({'age': 0, 'sex': 1}, 0.19)
    """

    name: ClassVar[str] = "loss"
    measures: ClassVar[str] = (
        "the mean share of its domain that a value covers: 0 is the original, 1 a star"
    )

    aggregate: Aggregate = "geometric"
    factor: Factor = 0.5
    weights: Weights = None

    def prepare(self, facts: Facts) -> Measure:
        """Costs are shares, rescaled so that the original has 0 and the root 1."""
        generalization, suppression = _factors(self.factor)
        shares = np.concatenate([one.shares.ravel() for one in facts.attributes])
        least = np.array([generalization * facts.records / one.rows for one in facts.attributes])
        span = facts.records - least
        return LevelMeasure(
            facts,
            self.counts_suppression,
            self.aggregate,
            _weight_vector(self.weights, facts),
            kept=generalization * shares,
            dropped=shares + suppression * (1.0 - shares),
            offset=least,
            scale=np.where(span > 0, span, 1.0),
        )


@dataclass(frozen=True)
class Precision(Quality):
    """The mean height of generalization (Sweeney 2002).

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 31, 58, 58], "sex": ["m", "f", "m", "f"]})
    >>> stars = {"age": {"star": True}, "sex": {"star": True}}
    >>> quality = om.quality.Precision(weights={"sex": 2})
    >>> method = om.Generalization([om.privacy.KAnonymity(2)], quality=quality, hierarchies=stars)
    >>> release = om.protect(table, om.Schema(age=om.Numeric(), sex=om.Flat()), method)
    >>> release.details[0]["levels"], round(release.details[0]["quality"], 2)
    ({'age': 1, 'sex': 0}, 0.33)
    """

    name: ClassVar[str] = "precision"
    measures: ClassVar[str] = (
        "the mean height of the levels: 0 is the original, 1 the top of all hierarchies"
    )

    aggregate: Aggregate = "arithmetic"
    factor: Factor = 0.5
    weights: Weights = None

    def prepare(self, facts: Facts) -> Measure:
        """A kept record costs level / height, a suppressed one 1."""
        generalization, suppression = _factors(self.factor)
        heights = [
            np.repeat(np.arange(one.height + 1) / max(one.height, 1), one.rows)
            for one in facts.attributes
        ]
        kept = generalization * np.concatenate(heights)
        return LevelMeasure(
            facts,
            self.counts_suppression,
            self.aggregate,
            _weight_vector(self.weights, facts),
            kept=kept,
            dropped=np.full(kept.size, suppression),
            offset=np.zeros(len(facts.attributes)),
            scale=np.full(len(facts.attributes), float(facts.records)),
        )


@dataclass(frozen=True)
class Height(Quality):
    """The sum of the levels; suppression does not count.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 31, 58, 58], "sex": ["m", "f", "m", "f"]})
    >>> stars = {"age": {"star": True}, "sex": {"star": True}}
    >>> quality = om.quality.Height(weights={"sex": 2})
    >>> method = om.Generalization([om.privacy.KAnonymity(2)], quality=quality, hierarchies=stars)
    >>> release = om.protect(table, om.Schema(age=om.Numeric(), sex=om.Flat()), method)
    >>> release.details[0]["levels"], round(release.details[0]["quality"], 2)
    ({'age': 1, 'sex': 0}, 1.0)
    """

    name: ClassVar[str] = "height"
    measures: ClassVar[str] = "the sum of the levels: 0 is the original"

    aggregate: Aggregate = "sum"
    weights: Weights = None

    def prepare(self, facts: Facts) -> Measure:
        """Every record costs the level."""
        levels = [np.repeat(np.arange(one.height + 1.0), one.rows) for one in facts.attributes]
        return LevelMeasure(
            facts,
            False,
            self.aggregate,
            _weight_vector(self.weights, facts),
            kept=np.concatenate(levels),
            dropped=np.concatenate(levels),
            offset=np.zeros(len(facts.attributes)),
            scale=np.full(len(facts.attributes), float(facts.records)),
        )


@dataclass(frozen=True)
class EntropyLoss(Quality):
    """Sum over records of the log of the area that each covers (Wan et al. 2015).

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 31, 36, 52, 55, 58]})
    >>> ages, quality = {"age": {"intervals": [5, 10, 20]}}, om.quality.EntropyLoss()
    >>> method = om.Generalization([om.privacy.KAnonymity(3)], quality=quality, hierarchies=ages)
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), method)
    >>> round(release.details[0]["quality"], 2)
    3.34
    """

    name: ClassVar[str] = "entropy-loss"
    measures: ClassVar[str] = (
        "the sum over records of the log of the area that each covers: 0 is the original"
    )

    factor: Factor = 0.5

    def prepare(self, facts: Facts) -> Measure:
        """log(prod of shares) / log(prod of rows) + 1, the 1 in equal parts."""
        generalization, suppression = _factors(self.factor)
        # a share of the rows times the rows: how many a value covers, of which the original has 1
        covered = [np.rint(one.shares * one.rows).ravel() for one in facts.attributes]
        every = log10(np.array([one.rows for one in facts.attributes]))
        span = float(every.sum()) or 1.0
        sizes = [one.codes.size for one in facts.attributes]
        return LevelMeasure(
            facts,
            self.counts_suppression,
            weights=np.ones(len(facts.attributes)),
            kept=generalization * log10(np.concatenate(covered)) / span,
            dropped=suppression * np.repeat(every, sizes) / span,
            offset=np.zeros(len(facts.attributes)),
            scale=np.ones(len(facts.attributes)),
        )


@dataclass(frozen=True)
class NonUniformEntropy(Quality):
    """The entropy that columns lose (Gionis and Tassa 2009).

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 31, 58, 58], "sex": ["m", "f", "m", "f"]})
    >>> stars = {"age": {"star": True}, "sex": {"star": True}}
    >>> quality = om.quality.NonUniformEntropy(normalized=True)
    >>> method = om.Generalization([om.privacy.KAnonymity(2)], quality=quality, hierarchies=stars)
    >>> release = om.protect(table, om.Schema(age=om.Numeric(), sex=om.Flat()), method)
    >>> release.details[0]["levels"], round(release.details[0]["quality"], 2)
    ({'age': 0, 'sex': 1}, 1.0)
    """

    name: ClassVar[str] = "non-uniform-entropy"
    measures: ClassVar[str] = "the information that the columns lose: 0 is none"

    aggregate: Aggregate = "sum"
    factor: Factor = 0.5
    weights: Weights = None
    normalized: Annotated[bool, Flag(), "Divide by what each column has to lose."] = False

    def prepare(self, facts: Facts) -> Measure:
        """Columns, apart from suppressed records, are known beforehand."""
        factors = _factors(self.factor)
        most = np.array([_whole_entropy(one, facts.records) for one in facts.attributes])
        most *= factors[0]
        scale = np.where(most > 0, most, 1.0) if self.normalized else np.ones(most.size)
        weights = _weight_vector(self.weights, facts)
        return EntropyMeasure(
            facts, self.counts_suppression, self.aggregate, weights, factors=factors, scale=scale
        )


def _whole_entropy(attribute: AttributeFacts, records: int) -> float:
    counts = attribute.counts[attribute.counts > 0]
    return -summed_products(counts, log2(counts / records))


@dataclass(frozen=True)
class Discernibility(Quality):
    """The sum of squared class sizes, N for each suppressed record (Bayardo and Agrawal 2005).

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 31, 36, 52, 55, 58]})
    >>> ages, quality = {"age": {"intervals": [5, 10, 20]}}, om.quality.Discernibility()
    >>> method = om.Generalization([om.privacy.KAnonymity(3)], quality=quality, hierarchies=ages)
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), method)
    >>> round(release.details[0]["quality"], 2)
    18.0
    """

    name: ClassVar[str] = "discernibility"
    measures: ClassVar[str] = "the sum of squared class sizes: the number of records is the least"

    def prepare(self, facts: Facts) -> Measure:
        """Classes alone matter."""
        return DiscernibilityMeasure(facts, self.counts_suppression)


@dataclass(frozen=True)
class AverageClassSize(Quality):
    """N over the number of classes, the suppressed records being one (LeFevre et al. 2006).

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 31, 36, 52, 55, 58]})
    >>> ages, quality = {"age": {"intervals": [5, 10, 20]}}, om.quality.AverageClassSize()
    >>> method = om.Generalization([om.privacy.KAnonymity(3)], quality=quality, hierarchies=ages)
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), method)
    >>> round(release.details[0]["quality"], 2)
    3.0
    """

    name: ClassVar[str] = "average-class-size"
    measures: ClassVar[str] = "records in an average class: 1 is the least"

    factor: Factor = 0.5

    def prepare(self, facts: Facts) -> Measure:
        """Classes alone matter."""
        return ClassSizeMeasure(facts, self.counts_suppression, factors=_factors(self.factor))


@dataclass(frozen=True)
class Ambiguity(Quality):
    """How many original tuples a generalized record may stand for (Goldberger and Tassa 2010).

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 31, 36, 52, 55, 58]})
    >>> ages, quality = {"age": {"intervals": [5, 10, 20]}}, om.quality.Ambiguity()
    >>> method = om.Generalization([om.privacy.KAnonymity(3)], quality=quality, hierarchies=ages)
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), method)
    >>> round(release.details[0]["quality"], 2)
    15.0
    """

    name: ClassVar[str] = "ambiguity"
    measures: ClassVar[str] = "how many original combinations the records may stand for, added up"

    def prepare(self, facts: Facts) -> Measure:
        """The sum of n times the class's area."""
        return AmbiguityMeasure(facts, self.counts_suppression)


@dataclass(frozen=True)
class KLDivergence(Quality):
    """The divergence of the table from what the classes say (Machanavajjhala et al. 2007).

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 31, 36, 52, 55, 58]})
    >>> ages, quality = {"age": {"intervals": [5, 10, 20]}}, om.quality.KLDivergence()
    >>> method = om.Generalization([om.privacy.KAnonymity(3)], quality=quality, hierarchies=ages)
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), method)
    >>> round(release.details[0]["quality"], 2)
    0.18
    """

    name: ClassVar[str] = "kl-divergence"
    measures: ClassVar[str] = "the divergence of the table from what its classes say: 0 is none"
    needs_tuples: ClassVar[bool] = True

    def prepare(self, facts: Facts) -> Measure:
        """Every original tuple is compared with its class."""
        return DivergenceMeasure(facts, self.counts_suppression)


@dataclass(frozen=True)
class Semantic(Quality):
    """The sum over records of the squared mean semantic distance; 1 for a suppressed record.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 31, 58, 58], "sex": ["m", "f", "m", "f"]})
    >>> stars = {"age": {"star": True}, "sex": {"star": True}}
    >>> quality = om.quality.Semantic(weights={"sex": 2})
    >>> method = om.Generalization([om.privacy.KAnonymity(2)], quality=quality, hierarchies=stars)
    >>> release = om.protect(table, om.Schema(age=om.Numeric(), sex=om.Flat()), method)
    >>> release.details[0]["levels"], round(release.details[0]["quality"], 2)
    ({'age': 1, 'sex': 0}, 0.15)
    """

    name: ClassVar[str] = "semantic"
    measures: ClassVar[str] = (
        "the squared mean distances of the records from what they were, added up: 1 is a star"
    )
    needs_tuples: ClassVar[bool] = True

    weights: Annotated[Weights, "The importance of columns in the mean, 1 unless given."] = None

    def prepare(self, facts: Facts) -> Measure:
        """Distances come with the hierarchies."""
        weights = _weight_vector(self.weights, facts)
        return SemanticMeasure(facts, self.counts_suppression, attribute_weights=weights)


@dataclass(frozen=True)
class Classification(Quality):
    """How badly a majority vote among equal records predicts the target (Iyengar 2002).

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 31, 58, 58], "sex": ["m", "f"] * 2, "sick": [0, 0, 1, 1]})
    >>> schema = om.Schema(age=om.Numeric(), sex=om.Flat(), sick=om.Flat(role="sensitive"))
    >>> stars = {"age": {"star": True}, "sex": {"star": True}}
    >>> quality = om.quality.Classification("sick")
    >>> method = om.Generalization(k=2, quality=quality, hierarchies=stars)
    >>> release = om.protect(table, schema, method)
    >>> release.details[0]["levels"], release.details[0]["quality"]
    ({'age': 0, 'sex': 1}, 0.0)
    """

    name: ClassVar[str] = "classification"
    measures: ClassVar[str] = "how badly the classes predict the target: 0 is always rightly"

    target: Annotated[
        str | tuple[str, ...],
        Typed((str, tuple, list), "the name of a column or several"),
        "The column to be predicted, or several, whose losses add up; a quasi-identifier may "
        "be one.",
    ]
    suppressed: Annotated[
        float,
        Real(0),
        "The penalty of a suppressed record.",
    ] = 0.5
    minority: Annotated[
        float,
        Real(0),
        "The penalty of a record that is not of its class's unique majority.",
    ] = 1.0
    tie: Annotated[
        float,
        Real(0),
        "The penalty of a record in a class without unique majority.",
    ] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.targets or not all(isinstance(one, str) and one for one in self.targets):
            raise ParameterError("target must be the name of a column, or a list of such names.")
        if not any((self.suppressed, self.minority, self.tie)):
            raise ParameterError("suppressed, minority and tie must not all be 0.")

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns to be predicted."""
        return (self.target,) if isinstance(self.target, str) else tuple(self.target)

    def prepare(self, facts: Facts) -> Measure:
        """The mean penalty, as a share of the largest."""
        penalties = (self.suppressed, self.minority, self.tie)
        unknown = [one for one in self.targets if one not in {*facts.targets, *facts.names}]
        if unknown:
            known = ", ".join([*facts.targets, *facts.names])
            raise ParameterError(f"target names {unknown[0]!r}; there are the columns {known}.")
        quasi = tuple(facts.names.index(one) for one in self.targets if one in facts.names)
        others = tuple(one for one in self.targets if one not in facts.names)
        plain = ClassificationMeasure(
            facts,
            self.counts_suppression,
            scale=facts.records * max(penalties),
            targets=others,
            penalties=penalties,
        )
        if not quasi:
            return plain
        return QuasiTargetMeasure(
            facts,
            self.counts_suppression,
            plain=plain if others else None,
            quasi=quasi,
            penalties=penalties,
        )


QUALITIES: dict[str, type[Quality]] = {
    kind.name: kind
    for kind in (
        Loss,
        Precision,
        Discernibility,
        AverageClassSize,
        NonUniformEntropy,
        KLDivergence,
        Ambiguity,
        Height,
        EntropyLoss,
        Classification,
        Semantic,
    )
}
"""Every quality model by its name."""


def quality_model(quality: str | Quality, **options: Any) -> Quality:
    """The model of a name, with its options, or the model itself."""
    if isinstance(quality, Quality):
        return quality
    check("quality", quality, Choice(*QUALITIES))
    if quality == Classification.name and "target" not in options:
        raise ParameterError(
            "The quality 'classification' needs the column to be predicted; give "
            "Classification(target=…) instead of its name."
        )
    return QUALITIES[quality](**options)
