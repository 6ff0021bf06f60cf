"""What a node of the lattice is worth: which classes fail, whether it is valid, what it costs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.errors import MethodError, ParameterError
from ontomask.kernels import groups as kernel
from ontomask.methods.generalization.groupings import Grouper, Grouping, Levels
from ontomask.methods.generalization.problem import Problem
from ontomask.privacy import (
    Classes,
    Domain,
    KAnonymity,
    PrivacyModel,
    TableModel,
    chosen_column,
)
from ontomask.quality import Measure, Partition, Quality
from ontomask.quality.facts import Lost
from ontomask.remembering import remembered

__all__ = ["Evaluation", "Evaluator", "check_models", "refuse_without_people"]


@dataclass(frozen=True, eq=False)
class KernelPartition(Partition):
    """A partition that counts with kernels and does not count the same twice."""

    grouper: Grouper | None = None
    starts: Longs = field(default_factory=lambda: np.empty(0, np.int64))
    keys: Longs = field(default_factory=lambda: np.empty((0, 0), np.int64))

    def totals(self, costs: Floats, chosen: Bools, amounts: Longs | None = None) -> Floats:
        """For each attribute, size times cost summed over the chosen classes."""
        # the arrays outlive the partition, so that their addresses identify them
        question = id(costs), id(chosen), id(amounts)
        if question not in self.known:
            assert self.grouper is not None
            self.known[question] = kernel.attribute_totals(
                self.grouper.tuples,
                self.representatives,
                self.sizes if amounts is None else amounts,
                chosen,
                costs,
                self.starts,
            )
        totals: Floats = self.known[question]
        return totals

    def without(self, attribute: int) -> Ints:
        """Number the classes so that those that differ only in one attribute are the same."""
        question = "without", attribute
        if question not in self.known:
            assert self.grouper is not None
            classes = self.levels, self.representatives, self.keys, self.sizes[None]
            self.known[question] = self.grouper.without(Grouping(*classes, {}), attribute)
        numbers: Ints = self.known[question]
        return numbers

    def own_rows(self, attribute: int) -> Ints:
        """The row of one attribute of a tuple of each class."""
        assert self.grouper is not None
        rows: Ints = self.grouper.tuples[attribute][self.representatives]
        return rows

    def two_largest(self, target: str) -> tuple[Longs, Longs]:
        """How often the two most frequent values of a target occur in each class."""
        if target not in self.known:
            classes, _, counts = self.targets[target]
            self.known[target] = kernel.two_largest(classes, counts, self.sizes.size)
        largest: tuple[Longs, Longs] = self.known[target]
        return largest

    def at_tuples(self, chosen: Bools) -> Bools:
        """For each tuple whether its class is among those chosen."""
        assert self.grouper is not None
        return self.grouper.at_tuples(self.levels, self.keys, chosen)

    @remembered
    def places(self) -> Longs:
        """The class of each tuple."""
        assert self.grouper is not None
        places = self.grouper.places(self.levels)
        numbers = np.zeros(int(places.max()) + 1, np.int64)
        numbers[places[self.representatives]] = np.arange(self.sizes.size)
        return numbers.take(places)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What is known of a node.

    Attributes
    ----------
    outliers
        The number of records in classes that fail; at least so many where it is not `complete`.
    lasting
        The number of records that fail here and at all finer levels at least.
    lost
        The records that are known to be suppressed here and at all finer levels.
    valid
        Whether the outliers are within the limit.
    complete
        Whether all models were asked about all classes.
    evaluator
        What judged it.
    """

    partition: KernelPartition
    outliers: int
    lasting: int
    lost: Lost
    valid: bool
    complete: bool
    evaluator: Evaluator = field(repr=False)

    @remembered
    def vector(self) -> Floats:
        """The loss of each attribute, by the quality model."""
        return self.evaluator.measure.vector(self.partition)

    @remembered
    def surplus(self) -> Floats:
        """What the records cost beyond the floor that are lost here and at all finer levels."""
        return self.evaluator.measure.surplus(self.partition, self.lost)

    @property
    def levels(self) -> Levels:
        """The node."""
        return self.partition.levels

    @property
    def classes(self) -> int:
        """The number of classes that are not suppressed."""
        return int(np.count_nonzero(~self.partition.suppressed))


class Evaluator:
    """Judges groupings by privacy models and measures them by a quality model.

    Parameters
    ----------
    problem
        The table.
    privacy
        The models, all of which must hold.
    limit
        How many records may be suppressed.
    quality
        The model to be minimized.
    """

    def __init__(
        self, problem: Problem, privacy: Sequence[PrivacyModel], limit: int, quality: Quality
    ) -> None:
        self.problem = problem
        self.limit = limit
        self.watch: Callable[[], None] = lambda: None
        """Called now and then while a grouping is judged; it may raise to stop."""
        self.grouper = Grouper(problem)
        self.quality = quality
        check_models(problem, privacy)
        self._class_models = [model for model in privacy if not isinstance(model, TableModel)]
        self._table_models = [model for model in privacy if isinstance(model, TableModel)]
        self._firm = [model for model in self._class_models if model.monotone_with_suppression]
        others = [model for model in self._class_models if model not in self._firm]
        self._others = sorted(others, key=lambda model: model.costly)
        sizes = [model.k for model in privacy if isinstance(model, KAnonymity)]
        self.smallest = max(sizes, default=1)
        """Classes with fewer records fail at all finer levels, too."""
        self._informed = any(model.needs_information for model in privacy)
        self.unmendable = [model for model in self._class_models if not model.mendable]
        self._all_last = self.lasts_at(limit)

    def lasts_at(self, limit: int) -> bool:
        """Whether exceeding a limit means exceeding it at all finer levels, too."""
        models = [*self._class_models, *self._table_models]
        return all(_lasts(model, limit) for model in models)

    @remembered
    def measure(self) -> Measure:
        """The quality model made ready for the table."""
        # who is kept for a model of which that is not sure may be suppressed at coarser nodes
        stays = not self._others and not self._table_models
        return self.quality.prepare(self.problem.facts).within(self.limit, stays=stays)

    def evaluate(self, grouping: Grouping, *, complete: bool = False) -> Evaluation:
        """Judge a grouping; unless it must be complete, only until it is found to be invalid."""
        everything = grouping
        grouping = _without_empty(grouping)
        classes = self._classes(grouping)
        firm = _all_hold(self._firm, classes)
        kept, last, most, asked = self._ask_others(classes, firm, complete)
        partition = self._partition(grouping, ~kept)
        if self._table_models:
            sure = [model for model in self._table_models if _lasts(model, self.limit)]
            alike = last is kept and len(sure) == len(self._table_models)
            kept = self._after_models(self._table_models, partition, kept)
            # others may fail here and hold at a finer node
            last = kept if alike else self._after_models(sure, partition, last)
            partition = self._partition(grouping, ~kept)
        # where suppression cannot mend a failure, one failing class makes all fail
        if self.unmendable and not (kept.all() and self._nowhere_failing(everything)):
            kept = np.zeros(len(grouping), bool)
            partition = self._partition(grouping, ~kept)
        # the very same array where no other model was asked
        whole = partition.suppressed if kept is firm else most == 0
        lost = Lost(whole, classes.sizes - most)
        least = int(lost.amounts.sum())
        outliers = least if kept is firm else int(classes.sizes @ partition.suppressed)
        lasting = max(least, outliers if self._all_last else int(classes.sizes @ ~last))
        valid = outliers <= self.limit
        return Evaluation(partition, outliers, lasting, lost, valid, asked, self)

    def _classes(self, grouping: Grouping) -> Classes:
        classes = self.problem.classes(grouping.amounts, grouping.pairs)
        if not self._informed:
            return classes
        rows = self.problem.tuples.rows[grouping.representatives]
        kept = self.problem.information_at(rows, np.array(grouping.levels))
        return replace(classes, information=kept)

    def _ask_others(
        self, classes: Classes, firm: Bools, complete: bool
    ) -> tuple[Bools, Bools, Longs, bool]:
        """Ask the models that are not firm, costly ones last and only about what matters.

        Returns the classes that satisfy all models, those that satisfy the models whose failure
        lasts, how many records of each class finer nodes can keep at most, and whether all that
        matters was asked.
        """
        kept = last = firm
        most, done = classes.sizes * firm, True
        if not self._others:
            return kept, last, most, done
        for model in self._others:
            verdict, stays, asked = self._verdict(model, classes, kept, complete)
            kept, done = kept & verdict, done and asked
            most = np.minimum(most, stays)
            if _lasts(model, self.limit):
                last = last & verdict
        return kept, last, np.where(most < self.smallest, 0, most), done

    def _verdict(
        self, model: PrivacyModel, classes: Classes, kept: Bools, complete: bool
    ) -> tuple[Bools, Longs, bool]:
        """Which classes satisfy a model, how many records can stay, and whether it was asked."""
        failed = int(classes.sizes[~kept].sum())
        enough: list[int] = []

        def goes_on(more: int) -> bool:
            self.watch()
            if not complete and failed + more > self.limit:
                enough.append(more)
            return not enough

        # too many may have failed already by the models that cost little
        if model.costly and not goes_on(0):
            return np.ones(len(classes), bool), classes.sizes, False
        return *model.judge(classes, kept, goes_on), not enough

    def _partition(self, grouping: Grouping, suppressed: Bools) -> KernelPartition:
        return KernelPartition(
            self.problem.facts,
            grouping.levels,
            grouping.amounts[0],
            suppressed,
            grouping.representatives,
            grouping.pairs,
            grouper=self.grouper,
            starts=self.grouper.starts(grouping.levels),
            keys=grouping.keys,
        )

    def _nowhere_failing(self, grouping: Grouping) -> bool:
        """Whether models that suppression cannot mend hold for all classes, empty ones included."""
        classes = Classes(grouping.amounts[0], grouping.amounts[1])
        return bool(_all_hold(self.unmendable, classes).all())

    def _after_models(
        self, models: Sequence[TableModel], partition: Partition, kept: Bools
    ) -> Bools:
        costs = functools.partial(self.measure.class_costs, partition)
        for model in models:
            kept = model.stays(partition.sizes, kept, costs)
        return kept


def _lasts(model: PrivacyModel, limit: int) -> bool:
    """Whether failing the model means failing it at all finer levels, given a limit."""
    return model.monotone if limit == 0 else model.monotone_with_suppression


def _all_hold(models: Sequence[PrivacyModel], classes: Classes) -> Bools:
    holds = [model.holds(classes) for model in models]
    if not holds:
        return np.ones(len(classes), bool)
    return functools.reduce(np.logical_and, holds)


def _without_empty(grouping: Grouping) -> Grouping:
    """Leave out classes that only the population has."""
    if len(grouping.amounts) == 1:
        return grouping
    occurs = grouping.amounts[0] > 0
    places = np.cumsum(occurs) - 1
    pairs = {
        name: (places[groups].astype(np.int32), values, counts)
        for name, (groups, values, counts) in grouping.pairs.items()
    }
    return Grouping(
        grouping.levels,
        grouping.representatives[occurs],
        np.ascontiguousarray(grouping.keys[:, occurs]),
        np.ascontiguousarray(grouping.amounts[:, occurs]),
        pairs,
    )


class Asked(Protocol):
    """A table that models are asked about."""

    @property
    def population(self) -> object: ...
    @property
    def people(self) -> Floats | None: ...
    @property
    def domains(self) -> Mapping[str, Domain]: ...
    @property
    def records(self) -> int: ...


def check_models(problem: Asked, privacy: Sequence[PrivacyModel]) -> None:
    """Refuse models that the table cannot satisfy or has no data for."""
    if not privacy:
        raise ParameterError("privacy must hold at least one model, such as KAnonymity(5).")
    for model in privacy:
        if model.needs_population and problem.population is None:
            refuse_without_people(model, weighted=problem.people is not None)
        domain = None
        if model.needs_column:
            domain = problem.domains[chosen_column(getattr(model, "column", None), problem.domains)]
        model.check_possible(problem.records, domain)


def refuse_without_people(model: PrivacyModel, *, weighted: bool) -> None:
    """Refuse a model of a population that is neither given as a table nor by survey weights."""
    name = type(model).__name__
    if not model.takes_weights:
        raise MethodError(f"{name} needs a population table; give one as population=….")
    if not weighted:
        raise MethodError(
            f"{name} needs a population table or survey weights; give population=…, or declare the "
            "column of weights as Weight()."
        )
