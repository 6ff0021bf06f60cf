"""What a generalization promises: every privacy model as something that can be recounted."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Floats, Ints
from ontomask.data.microdata import Microdata
from ontomask.methods.generalization.encoding import EncodedColumn
from ontomask.methods.generalization.problem import Problem, Sensitive, distinct_rows
from ontomask.methods.generalization.shown import Kinds, looks_at
from ontomask.privacy import (
    AverageRisk,
    BetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    EstimatedKMap,
    KAnonymity,
    KMap,
    LDiversity,
    NoAttack,
    PopulationNoAttack,
    PopulationProfitability,
    PopulationUniques,
    PrivacyModel,
    Profitability,
    RecordsAtRisk,
    SampleUniqueness,
    TCloseness,
    chosen_column,
)
from ontomask.promises import (
    AverageRiskLimit,
    ClassSize,
    Closeness,
    Counts,
    Disclosure,
    Diversity,
    EstimatedMapSize,
    Likeness,
    MapSize,
    Payout,
    Population,
    PopulationUniquenessLimit,
    Presence,
    Promise,
    RiskLimit,
    UniquenessLimit,
)

__all__ = ["Outcome", "class_promise", "without_smaller"]


@dataclass(frozen=True, eq=False)
class Outcome:
    """A generalized table, as far as promises about it need to know.

    Attributes
    ----------
    kinds
        Its records, those that are treated alike as one.
    kept
        Which kinds stay in the release.
    """

    microdata: Microdata
    problem: Problem
    columns: Mapping[str, EncodedColumn]
    kinds: Kinds
    kept: Bools

    def promises(self, privacy: Sequence[PrivacyModel]) -> tuple[Promise, ...]:
        """Each model as a promise; of several class sizes, the largest."""
        return without_smaller([self._promise(model) for model in privacy])

    def _promise(self, model: PrivacyModel) -> Promise | None:
        names = tuple(self.columns)
        match model:
            case KMap() | PopulationNoAttack():
                return MapSize(names, model.k, population=self._of_the_release())
            case Profitability():
                return self._payout(model)
            case DeltaPresence():
                population = self._population(every=not model.mendable)
                return Presence(names, model.minimum, model.maximum, population=population)
        return class_promise(model, names, self.microdata, self.problem.sensitive)

    # Values and what they tell -----------------------------------------------------------------

    def _payout(self, model: Profitability) -> Payout:
        by_population = isinstance(model, PopulationProfitability)
        return Payout(
            tuple(self.columns),
            *(model.publisher_benefit, model.publisher_loss),
            *(model.adversary_gain, model.adversary_cost),
            self._kept_information(),
            by_population,
            None if by_population else self.microdata.schema.unit,
            population=self._of_the_release() if by_population else None,
        )

    def _kept_information(self) -> tuple[Counts, ...]:
        """For each column what the values of the release add to the information that is kept."""
        shown = [np.unique(looks) for looks in self.kinds.looks[:, self.kept]]
        given = zip(self._written, self.problem.information, shown, strict=True)
        return tuple(
            tuple((written[look], float(kept[look])) for look in looks.tolist())
            for written, kept, looks in given
        )

    @property
    def _written(self) -> list[dict[int, object]]:
        """For each column how its values are written, by their looks."""
        return [
            column.written(texts=bool(self.kinds.levels[:, place].any() or self.stars.any()))
            for place, column in enumerate(self.columns.values())
        ]

    # The population -----------------------------------------------------------------------------

    def _of_the_release(self) -> Population | None:
        """The people of the population in the classes of the release, where there is a table."""
        return None if self.problem.population is None else self._population(every=False)

    def _population(self, *, every: bool) -> Population:
        """The people of the population in the classes of the release, or in every class there is.

        Classes are written as in the release. People are in one if they look like it at the levels
        of one of its records; anybody looks like a star.
        """
        written = self._written
        classes = self._looks_of_people() if every else self.kinds.looks[:, self.kept]
        classes = np.unique(classes, axis=1)
        keys = (
            tuple(values[look] for values, look in zip(written, looks, strict=True))
            for looks in classes.T.tolist()
        )
        return tuple(zip(keys, self._people(classes).tolist(), strict=True))

    @functools.cached_property
    def stars(self) -> Bools:
        """Which kinds of records are starred."""
        return self.kinds.suppressed & self.kept

    def _looks_of_people(self, place: int = 0) -> Ints:
        """How the people of the population look at the levels of a kind, tuple by tuple."""
        rows = self.problem.tuples.rows
        levels = np.broadcast_to(self.kinds.levels[place], rows.shape)
        return looks_at(self.problem, rows, levels, np.zeros(len(rows), bool))

    def _people(self, classes: Ints) -> Floats:
        """How many people look like each class; where different levels do, those of the most."""
        amounts = self.problem.tuples.amounts[1].astype(np.float64)
        sizes = [int(looks.max()) + 1 for looks in self.problem.looks]
        people = np.where((classes == 0).all(axis=0), amounts.sum(), 0.0)
        shown = np.flatnonzero(~self.kinds.suppressed)
        firsts = shown[np.unique(self.kinds.levels[shown], axis=0, return_index=True)[1]]
        for place in firsts.tolist():
            looks = np.concatenate([classes, self._looks_of_people(place)], axis=1)
            # numbered by first appearance, the classes come first
            places = distinct_rows(looks, sizes)[1][classes.shape[1] :]
            found = np.bincount(places, weights=amounts, minlength=classes.shape[1])
            people = np.maximum(people, found[: classes.shape[1]])
        return people


def without_smaller(found: Sequence[Promise | None]) -> tuple[Promise, ...]:
    """The promises that there are; of several class sizes, the largest."""
    smallest = max((one.k for one in found if isinstance(one, ClassSize)), default=0)
    return tuple(
        one
        for one in found
        if one is not None and not (isinstance(one, ClassSize) and one.k < smallest)
    )


def class_promise(
    model: PrivacyModel,
    names: tuple[str, ...],
    microdata: Microdata,
    sensitive: Mapping[str, Sensitive],
) -> Promise | None:
    """A model of the classes of the named columns, by their records and survey weights alone."""
    match model:
        case KAnonymity() | NoAttack():
            return ClassSize(names, model.k, microdata.schema.unit)
        case KMap() | PopulationNoAttack():
            return MapSize(names, model.k)
        case EstimatedKMap():
            return EstimatedMapSize(
                names, model.k, model.fraction, model.estimator, model.significance
            )
        case AverageRisk():
            return AverageRiskLimit(names, model.t)
        case RecordsAtRisk():
            return RiskLimit(names, model.t, model.share)
        case SampleUniqueness():
            return UniquenessLimit(names, model.t)
        case PopulationUniques():
            return PopulationUniquenessLimit(names, model.t, model.fraction, model.estimator)
    return _sensitive_promise(model, names, microdata, sensitive)


def _sensitive_promise(
    model: PrivacyModel,
    names: tuple[str, ...],
    microdata: Microdata,
    sensitive: Mapping[str, Sensitive],
) -> Promise | None:
    """A model of the values of a sensitive column in the classes of the named ones."""
    if not model.needs_column:
        return None
    column = chosen_column(getattr(model, "column", None), sensitive)
    match model:
        case LDiversity():
            return Diversity(names, column, model.l, model.kind, model.c, model.estimator)
        case TCloseness():
            distances = _distances(sensitive[column], model.ground)
            counts = _counts(microdata, column)
            return Closeness(names, column, model.t, counts, model.ground, distances)
        case DeltaDisclosure():
            return Disclosure(names, column, model.delta, _counts(microdata, column))
        case BetaLikeness():
            return Likeness(names, column, model.beta, _counts(microdata, column), model.kind)
    return None


def _counts(microdata: Microdata, column: str) -> Counts:
    """How many people of the whole table have each value of a column."""
    people = microdata.distribution(column).tolist()
    return tuple(zip(microdata[column].by_code, people, strict=True))


def _distances(sensitive: Sensitive, ground: str) -> object:
    """What a recount needs to know of the distances of values."""
    if ground == "hierarchical":
        assert sensitive.levels is not None
        return tuple(tuple(level.tolist()) for level in sensitive.levels[1:])
    if ground == "semantic":
        assert sensitive.distances is not None
        return sensitive.distances.matrix
    return None
