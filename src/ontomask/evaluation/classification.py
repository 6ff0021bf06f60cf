"""What classifiers still learn from a masked table: interwoven cross-validation.

The same folds for all. For each fold a classifier is trained on the *masked* records of the other
folds and predicts the fold's *original* records after they went through the same transformation
(Inan, Kantarcioglu and Bertino 2009; Prasser et al. 2017). What masks is handed in: any object with
the masked table and, where values change their domain, a scheme for records not seen.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.brevity import Brief
from ontomask.checks import (
    AnyOf,
    Choice,
    Integer,
    ListOf,
    Null,
    Text,
    check,
    did_you_mean,
    validate,
)
from ontomask.data.encoding import record_counts, survey_weights
from ontomask.data.schema import Schema
from ontomask.data.tables import Table, open_table
from ontomask.errors import DataError, ParameterError, SchemaError
from ontomask.evaluation.classifiers import CLASSIFIERS, Predict, learn, require_library
from ontomask.evaluation.features import INTERVALS, Features, read_features
from ontomask.evaluation.maskings import Columns, Masking, Protected, read_masking
from ontomask.evaluation.scores import SCORE_DEFINITIONS, Scores, relative_accuracy, score
from ontomask.wording import only, plural, terse_percent

__all__ = [
    "DEFINITIONS",
    "ClassificationReport",
    "ClassificationTask",
    "ClassifierReport",
    "Protect",
    "Protected",
    "judge_classification",
    "stratified_folds",
]

DEFINITIONS: dict[str, str] = {
    **SCORE_DEFINITIONS,
    "baseline": "ZeroR, trained and tested on the original table: always the most frequent class "
    "of the training records.",
    "original": "The classifier trained and tested on the original table.",
    "masked": "The classifier trained on the masked records and tested on the original ones after "
    "the same transformation; records that are suppressed in the release are transformed like the "
    "others.",
    "supported": "The same, but records that are suppressed in the release are predicted by the "
    "baseline: what the released records support.",
    "suppressed": "Number of records that are left out of the release or have lost all their "
    "quasi-identifiers; they do not train.",
    "trained": "Number of masked records that train, each in all folds but one.",
    "without_target": "Number of records without a class; they neither train nor are tested.",
}
"""What each figure means."""

MASKING = ("once", "per-fold")
MOST_CLASSES = 100
FOLDS = 10


Protect = Callable[[Any], Protected]
"""Masks a table."""


# Results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassifierReport(Brief):
    """What one classifier learns from the original and from the masked table.

    Attributes
    ----------
    name
        The classifier.
    original
        Trained and tested on the original table.
    masked
        Trained on masked records, tested on transformed original ones, suppressed ones included:
        the literature's reading.
    supported
        The same, but records that are suppressed in the release are predicted by the baseline.
    relative_accuracy
        (masked accuracy - baseline) / (original accuracy - baseline); none where the original table
        does not beat the baseline.
    relative_accuracy_supported
        The same for the second reading.
    """

    name: str
    original: Scores
    masked: Scores
    supported: Scores
    relative_accuracy: float | None
    relative_accuracy_supported: float | None


@dataclass(frozen=True)
class ClassificationReport(Brief):
    """What classifiers still learn from a masked table; `DEFINITIONS` explains every figure.

    Attributes
    ----------
    target
        The column to be predicted.
    classes
        Its values.
    features
        The columns it is predicted from.
    masking
        `once`: folds over one release of the whole table; `per-fold`: the training records of each
        fold are masked without the others.
    records
        The number of records with a class.
    without_target
        The number of records whose class is missing; they neither train nor are tested.
    trained
        The number of masked records that train, each in all folds but one.
    suppressed
        The number of records that are left out of the release or have lost all their
        quasi-identifiers; per fold, those that the scheme stars or cannot transform, which is none
        for schemes that only generalize.
    baseline
        ZeroR, trained and tested on the original table.
    classifiers
        The classifiers asked for.
    """

    target: str
    classes: tuple[str, ...]
    features: tuple[str, ...]
    folds: int
    seed: int
    masking: str
    records: int
    without_target: int
    trained: int
    suppressed: int
    baseline: Scores
    classifiers: tuple[ClassifierReport, ...]

    def __getitem__(self, name: str) -> ClassifierReport:
        for one in self.classifiers:
            if one.name == name:
                return one
        raise ParameterError(
            f"There is no classifier {name!r} in the report; it has "
            f"{', '.join(one.name for one in self.classifiers)}."
        )

    def as_dict(self) -> dict[str, Any]:
        """All figures as plain dictionaries, lists and numbers."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        lines = [
            f"Predicting {self.target!r} ({len(self.classes)} classes) from "
            f"{len(self.features)} columns, {self.records:,} records, {self.folds} folds, "
            f"{self.suppressed:,} suppressed; baseline accuracy "
            f"{terse_percent(self.baseline.accuracy, 1)}",
            f"{'classifier':<12}{'original':>10}{'masked':>10}{'relative':>10}"
            f"{'supported':>11}{'relative':>10}",
        ]
        lines += [_line(one) for one in self.classifiers]
        return "\n".join(lines)


def _line(one: ClassifierReport) -> str:
    shown = [
        "-" if share is None else terse_percent(share, 1)
        for share in (one.relative_accuracy, one.relative_accuracy_supported)
    ]
    return (
        f"{one.name:<12}{one.original.accuracy:>10.1%}{one.masked.accuracy:>10.1%}{shown[0]:>10}"
        f"{one.supported.accuracy:>11.1%}{shown[1]:>10}"
    )


# Judging --------------------------------------------------------------------------------------


def judge_classification(
    frame: object,
    schema: Schema,
    target: str,
    protect: Protect,
    *,
    classifiers: str | Sequence[str] = ("logistic",),
    features: Sequence[str] | None = None,
    folds: int = FOLDS,
    seed: int = 0,
    masking: str = MASKING[0],
    intervals: str = INTERVALS[0],
) -> ClassificationReport:
    """Tell what classifiers learn from masked records.

    Parameters
    ----------
    frame
        The original table.
    schema
        What its columns are.
    target
        The column to be predicted; it may be of any kind, with at most 100 distinct values.
    protect
        What masks a table; see `Protected` for what it returns.
    classifiers
        Names: `zero-r`, `logistic`, `tree`, `naive-bayes`, `forest`.
    features
        The columns to predict from; by default all that are published.
    folds
        The number of parts for cross-validation.
    seed
        Fixes the folds and the random choices of classifiers.
    masking
        `once` masks the whole table and makes folds of its records (interwoven cross-validation);
        `per-fold` masks the training records of each fold without the others, so that nothing of a
        tested record is in the masking it is judged by.
    intervals
        Numbers generalized to intervals enter as `categories` or as `midpoints`.
    """
    check("masking", masking, Choice(*MASKING))
    chosen = (classifiers,) if isinstance(classifiers, str) else tuple(classifiers)
    named = None if features is None else tuple(features)
    task = ClassificationTask(frame, schema, target, chosen, named, folds, seed, intervals)
    return task.judge(protect(frame)) if masking == "once" else task.judge_folds(protect)


@dataclass(frozen=True, eq=False)
class ClassificationTask:
    """A column to be predicted, with folds, ready to judge any number of maskings of its table.

    Parameters are those of `judge_classification`; what the original table gives is computed once.
    """

    frame: Any
    schema: Schema
    target: Annotated[str, Text()]
    classifiers: Annotated[tuple[str, ...], ListOf(Text(), empty=False)] = ("logistic",)
    features: Annotated[tuple[str, ...] | None, AnyOf(ListOf(Text(), empty=False), Null())] = None
    folds: Annotated[int, Integer(2)] = FOLDS
    seed: Annotated[int, Integer(0)] = 0
    intervals: Annotated[str, Choice(*INTERVALS)] = INTERVALS[0]

    def __post_init__(self) -> None:
        validate(self)
        for name in self.classifiers:
            check("classifiers", name, Choice(*CLASSIFIERS))
        if set(self.classifiers) - {"zero-r"}:
            require_library()
        _check_target(self.target, self.schema, self.table)
        _check_features(self.features, self.target, self.schema, self.table)
        _check_classes(self.target, self.labels, len(self.values), self.folds)

    # The original table -----------------------------------------------------------------------

    @functools.cached_property
    def table(self) -> Table:
        """The original table."""
        return open_table(self.frame)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The columns to predict from."""
        if self.features is not None:
            return self.features
        return tuple(_predictors(self.schema, self.target))

    @functools.cached_property
    def _classes(self) -> tuple[Longs, tuple[object, ...]]:
        codes, distinct = self.table.distinct(self.target)
        order = sorted(range(len(distinct)), key=lambda place: _sort_key(distinct[place]))
        ranks = np.full(len(distinct) + 1, -1, np.int64)
        ranks[order] = np.arange(len(order))
        return ranks[codes], tuple(distinct[place] for place in order)

    @property
    def labels(self) -> Longs:
        """The class of each record, -1 where it is missing."""
        return self._classes[0]

    @property
    def values(self) -> tuple[object, ...]:
        """The classes."""
        return self._classes[1]

    @functools.cached_property
    def counts(self) -> Floats:
        """How many equal records each one is."""
        return record_counts(self.table, self.schema)

    @functools.cached_property
    def weights(self) -> Floats:
        """How many people each record stands for."""
        return self.counts * survey_weights(self.table, self.schema)

    @functools.cached_property
    def fold_of(self) -> Longs:
        """The fold of each record, -1 where it has no class."""
        known = self.labels >= 0
        assigned = np.full(self.labels.size, -1, np.int64)
        assigned[known] = stratified_folds(self.labels[known], self.folds, self.seed)
        return assigned

    @functools.cached_property
    def baseline_probabilities(self) -> Floats:
        """The frequencies of the classes in the other folds, for each record."""
        return self._on_original("zero-r")

    @functools.cached_property
    def baseline(self) -> Scores:
        """How good it is always to say the most frequent class."""
        return self._scores(self.baseline_probabilities)

    @functools.cached_property
    def originals(self) -> dict[str, Scores]:
        """How good each classifier is on the original table."""
        return {name: self._scores(self._on_original(name)) for name in self.classifiers}

    @functools.cached_property
    def _original_features(self) -> Features:
        return read_features(self.names, self.schema, [self.table], self.intervals)[0]

    def _on_original(self, name: str) -> Floats:
        features = self._original_features
        probabilities = np.zeros((len(self.table), len(self.values)))
        for fold in range(self.folds):
            training = (self.fold_of != fold) & (self.labels >= 0)
            predict = self._learn(
                name, features.chosen(training), self.labels[training], self.weights[training]
            )
            tested = self.fold_of == fold
            probabilities[tested] = predict(features.chosen(tested))
        return probabilities

    def _learn(self, name: str, training: Features, labels: Longs, weights: Floats) -> Predict:
        return learn(name, training, labels, weights, len(self.values), self.seed)

    def _scores(self, probabilities: Floats) -> Scores:
        known = self.labels >= 0
        values = tuple(str(value) for value in self.values)
        return score(self.labels[known], probabilities[known], self.weights[known], values)

    # A masked table ---------------------------------------------------------------------------

    @functools.cached_property
    def _columns(self) -> Columns:
        return Columns(self.schema, self.target, self.values, self.names, self.intervals)

    def judge(self, protected: Protected) -> ClassificationReport:
        """Judge one release of the whole table, with folds over its records."""
        masking = read_masking(protected, self.table, self.table, self._columns)
        suppressed = ~masking.released(len(self.table))
        lessons = []
        for fold in range(self.folds):
            training = (self.fold_of[masking.rows] != fold) & (masking.labels >= 0)
            tested = np.flatnonzero((self.fold_of == fold) & masking.transformed)
            lessons.append(self._lesson(masking, training, masking.rows, tested, tested))
        return self._report("once", lessons, suppressed)

    def judge_folds(self, protect: Protect) -> ClassificationReport:
        """Judge a way of masking: the training records of each fold are masked on their own."""
        lessons = []
        suppressed = np.zeros(len(self.table), bool)
        for fold in range(self.folds):
            others = np.flatnonzero(self.fold_of != fold)
            tested = np.flatnonzero(self.fold_of == fold)
            training, tests = self._part(others), self._part(tested)
            protected = protect(training.frame.to_native())
            masking = read_masking(protected, training, tests, self._columns)
            places = np.flatnonzero(masking.transformed)
            useful = masking.labels >= 0
            rows = others[masking.rows]
            lessons.append(self._lesson(masking, useful, rows, places, tested[places]))
            suppressed[tested[masking.suppressed]] = True
        return self._report("per-fold", lessons, suppressed)

    def _part(self, rows: Longs) -> Table:
        return open_table(self.table.released(self.table.names, {}, rows))

    def _lesson(
        self, masking: Masking, training: Bools, rows: Longs, places: Longs, tested: Longs
    ) -> _Lesson:
        return _Lesson(
            masking.training.chosen(training),
            masking.labels[training],
            self.counts[rows[training]],
            self.weights[rows[training]],
            masking.testing.chosen(places),
            tested,
        )

    def _report(
        self, masking: str, lessons: list[_Lesson], suppressed: Bools
    ) -> ClassificationReport:
        known = self.labels >= 0
        trained = sum(lesson.counts.sum() for lesson in lessons) / (self.folds - 1)
        return ClassificationReport(
            target=self.target,
            classes=tuple(str(value) for value in self.values),
            features=self.names,
            folds=self.folds,
            seed=self.seed,
            masking=masking,
            records=int(self.counts[known].sum()),
            without_target=int(self.counts[~known].sum()),
            trained=round(trained),
            suppressed=int(self.counts[suppressed & known].sum()),
            baseline=self.baseline,
            classifiers=tuple(self._judged(name, lessons, suppressed) for name in self.classifiers),
        )

    def _judged(self, name: str, lessons: list[_Lesson], suppressed: Bools) -> ClassifierReport:
        """What cannot be learned or transformed is left to the baseline in both readings."""
        base = self.baseline_probabilities
        probabilities = base.copy()
        for lesson in lessons:
            if lesson.labels.size:
                predict = self._learn(name, lesson.training, lesson.labels, lesson.weights)
                probabilities[lesson.tested] = predict(lesson.testing)
        original, masked = self.originals[name], self._scores(probabilities)
        supported = self._scores(np.where(suppressed[:, None], base, probabilities))
        reference = (self.baseline.accuracy, original.accuracy)
        return ClassifierReport(
            name,
            original,
            masked,
            supported,
            relative_accuracy(masked.accuracy, *reference),
            relative_accuracy(supported.accuracy, *reference),
        )


@dataclass(frozen=True, eq=False)
class _Lesson:
    """What a classifier learns from in one fold, and the records (by position) it is tested on."""

    training: Features
    labels: Longs
    counts: Floats
    weights: Floats
    testing: Features
    tested: Longs


# Mistakes -------------------------------------------------------------------------------------


def _check_target(target: str, schema: Schema, table: Table) -> None:
    if target not in schema:
        raise ParameterError(
            f"target names {target!r}, which is not a column of the schema."
            f"{did_you_mean(target, schema.published)}"
        )
    if target not in schema.published or target == schema.count:
        raise ParameterError(
            f"target names {target!r}, which is declared as {schema[target].role} and never "
            "published; choose a published column."
        )
    _check_there((target,), table)


def _predictors(schema: Schema, target: str) -> list[str]:
    """The columns that can predict the target: how often a record occurs says nothing of it."""
    return [name for name in schema.published if name not in (target, schema.count)]


def _check_features(
    features: tuple[str, ...] | None, target: str, schema: Schema, table: Table
) -> None:
    published = _predictors(schema, target)
    for name in features or ():
        if name == target:
            raise ParameterError(f"features names the target {target!r} itself; leave it out.")
        if name not in published:
            raise ParameterError(
                f"features names {name!r}, which is not a published column of the schema."
                f"{did_you_mean(name, published)}"
            )
    if not published:
        raise SchemaError(f"The schema has no column to predict {target!r} from; declare some.")
    _check_there(features or published, table)


def _check_there(names: Sequence[str], table: Table) -> None:
    for name in names:
        if name not in table.names:
            raise SchemaError(
                f"The schema names a column {name!r} that the table does not have."
                f"{did_you_mean(name, table.names)}"
            )


def _check_classes(target: str, labels: Longs, classes: int, folds: int) -> None:
    records = int(np.count_nonzero(labels >= 0))
    if classes < 2:
        raise DataError(
            f"The target {target!r} has {classes} distinct values in the table; a classifier needs "
            "at least two classes to tell apart."
        )
    if classes > MOST_CLASSES:
        raise DataError(
            f"The target {target!r} has {classes} distinct values, more than {MOST_CLASSES}; put "
            "them into brackets or groups first, such as low, middle and high."
        )
    if records < folds:
        raise DataError(
            f"folds is {folds}, but {only(records, 'record')} with a value of {target!r}; choose "
            f"at most {plural(records, 'fold')} or give more records."
        )


def _sort_key(value: object) -> tuple[str, Any]:
    return type(value).__name__, value


def stratified_folds(labels: Longs, folds: int, seed: int) -> Longs:
    """The fold of each record: of equal size and with equal shares of each class, up to one record.

    Records are shuffled, ordered by class and dealt out one by one.
    """
    order = np.random.default_rng(seed).permutation(labels.size)
    order = order[np.argsort(labels[order], kind="stable")]
    assigned = np.empty(labels.size, np.int64)
    assigned[order] = np.arange(labels.size) % folds
    return assigned
