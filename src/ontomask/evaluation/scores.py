"""How good predictions are, from the probabilities that a classifier gives to each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ontomask.arithmetic import summed_products
from ontomask.arrays import Bools, Floats, Longs
from ontomask.brevity import Brief

__all__ = [
    "SCORE_DEFINITIONS",
    "ClassScores",
    "ConfidencePoint",
    "Curve",
    "Scores",
    "relative_accuracy",
    "score",
]

SCORE_DEFINITIONS: dict[str, str] = {
    "accuracy": "Share of the records whose most probable class is the true one.",
    "average_error": "Mean over records of 1 minus the probability given to the true class.",
    "brier": "Mean over records of the sum over classes of (probability - [is the true class])², "
    "0 to 2; of a single class, its part of that sum, 0 to 1.",
    "precision": "Of the records predicted to be of a class, the share that is; 0 if there are "
    "none. Overall: the mean over classes.",
    "recall": "Of the records of a class, the share predicted to be of it. Overall: the mean over "
    "classes.",
    "specificity": "Of the records of other classes, the share not predicted to be of this one; 1 "
    "if there are none.",
    "f1": "2 precision recall / (precision + recall) of a class, 0 if both are. Overall: the mean "
    "over classes.",
    "auc": "Area under the ROC curve of a class against the rest: the probability that a record of "
    "the class is given a higher probability of it than another record, ties counted half. "
    "Overall: the mean over classes.",
    "curve": "For thresholds on the probability of a class, the ROC curve (false positive rate, "
    "recall) and the precision-recall curve of that class against the rest.",
    "confidence": "For thresholds on the probability of the predicted class: the share of records "
    "answered (at least that sure), precision (of the answered, the share that is right) and "
    "recall (of all records, the share that is answered and right).",
    "relative_accuracy": "(accuracy - baseline accuracy) / (original accuracy - baseline "
    "accuracy): 0 is no better than always saying the most frequent class, 1 as good as the "
    "original table; none where the original table does not beat the baseline.",
}
"""What each figure means."""

THRESHOLDS = tuple(step / 20 for step in range(21))
POINTS = 101


@dataclass(frozen=True)
class Curve(Brief):
    """A class against the rest, for falling thresholds on its probability (at most 101 points)."""

    thresholds: tuple[float, ...]
    false_positive_rates: tuple[float, ...]
    recalls: tuple[float, ...]
    precisions: tuple[float, ...]


@dataclass(frozen=True)
class ClassScores:
    """One class against the rest.

    Attributes
    ----------
    value
        The class.
    records
        How many records (people, where records have weights) are of it.
    precision
        Of the records predicted to be of the class, the share that is; 0 if there are none.
    recall
        Of the records of the class, the share predicted to be of it.
    specificity
        Of the records of other classes, the share not predicted to be of this one.
    f1
        2 precision recall / (precision + recall), 0 if both are.
    auc
        The probability that a record of the class is given a higher probability of it than
        another record, ties counted half.
    brier
        Mean of (probability of the class - [is of the class])².
    curve
        The ROC and precision-recall curves.
    """

    value: str
    records: float
    precision: float
    recall: float
    specificity: float
    f1: float
    auc: float
    brier: float
    curve: Curve


@dataclass(frozen=True)
class ConfidencePoint:
    """What is left when only predictions count that are at least `threshold` sure.

    `answered` is the share of such records, `precision` how many of them are right (1 if there are
    none), `recall` the share of all records that is answered and right.
    """

    threshold: float
    answered: float
    precision: float
    recall: float


@dataclass(frozen=True)
class Scores(Brief):
    """How good predictions are.

    Attributes
    ----------
    accuracy
        Share of the records whose most probable class is the true one.
    average_error
        Mean over records of 1 minus the probability given to the true class.
    brier
        Mean over records of the sum over classes of (probability - [is the true class])².
    precision, recall, f1, auc
        The means over classes.
    classes
        Each class against the rest.
    confidence
        Precision and recall over thresholds on the probability of the predicted class.
    """

    accuracy: float
    average_error: float
    brier: float
    precision: float
    recall: float
    f1: float
    auc: float
    classes: tuple[ClassScores, ...]
    confidence: tuple[ConfidencePoint, ...]


def score(truth: Longs, probabilities: Floats, weights: Floats, values: tuple[str, ...]) -> Scores:
    """Compare the true classes with the probabilities (records x classes).

    The most probable class is predicted, the first of several.
    """
    total = float(weights.sum())
    predicted = probabilities.argmax(axis=1)
    right = predicted == truth
    classes = tuple(
        _class_scores(value, truth == code, predicted == code, probabilities[:, code], weights)
        for code, value in enumerate(values)
    )
    own = probabilities[np.arange(truth.size), truth]
    return Scores(
        accuracy=summed_products(weights, right) / total,
        average_error=summed_products(weights, 1.0 - own) / total,
        brier=sum(one.brier for one in classes),
        precision=_mean([one.precision for one in classes]),
        recall=_mean([one.recall for one in classes]),
        f1=_mean([one.f1 for one in classes]),
        auc=_mean([one.auc for one in classes]),
        classes=classes,
        confidence=_confidence(right, probabilities.max(axis=1), weights),
    )


def relative_accuracy(accuracy: float, baseline: float, original: float) -> float | None:
    """(accuracy - baseline) / (original - baseline), none where the original is no better."""
    if original - baseline <= 1e-12:
        return None
    return (accuracy - baseline) / (original - baseline)


def _mean(figures: list[float]) -> float:
    return sum(figures) / len(figures)


def _share(part: float, whole: float, otherwise: float = 0.0) -> float:
    return part / whole if whole > 0 else otherwise


def _class_scores(
    value: str, actual: Bools, predicted: Bools, probability: Floats, weights: Floats
) -> ClassScores:
    hits = summed_products(weights, actual & predicted)
    records, claimed = summed_products(weights, actual), summed_products(weights, predicted)
    curve, auc = _curve(actual, probability, weights)
    return ClassScores(
        value=value,
        records=records,
        precision=_share(hits, claimed),
        recall=_share(hits, records),
        specificity=_share(
            summed_products(weights, ~(actual | predicted)),
            summed_products(weights, ~actual),
            otherwise=1.0,
        ),
        f1=_share(2 * hits, claimed + records),
        auc=auc,
        brier=summed_products(weights, (probability - actual) ** 2) / float(weights.sum()),
        curve=curve,
    )


def _curve(actual: Bools, probability: Floats, weights: Floats) -> tuple[Curve, float]:
    """The curve and the area under its ROC half, by trapezoids over all distinct thresholds."""
    thresholds, places = np.unique(-probability, return_inverse=True)
    found = np.cumsum(np.bincount(places, weights=weights * actual))
    claimed = np.cumsum(np.bincount(places, weights=weights))
    wrong = claimed - found
    recalls = found / found[-1]
    rates = wrong / wrong[-1]
    heights = (recalls + np.append(0.0, recalls[:-1])) / 2
    area = summed_products(heights, np.diff(rates, prepend=0.0))
    shown = np.unique(np.linspace(0, thresholds.size - 1, min(POINTS, thresholds.size)).astype(int))
    columns = (-thresholds, rates, recalls, found / claimed)
    return Curve(*(tuple(one[shown].tolist()) for one in columns)), area


def _confidence(right: Bools, confidence: Floats, weights: Floats) -> tuple[ConfidencePoint, ...]:
    total = float(weights.sum())
    points = []
    for threshold in THRESHOLDS:
        sure = confidence >= threshold
        answered, correct = summed_products(weights, sure), summed_products(weights, sure & right)
        precision = _share(correct, answered, 1.0)
        points.append(ConfidencePoint(threshold, answered / total, precision, correct / total))
    return tuple(points)
