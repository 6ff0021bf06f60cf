"""Classification in slow plain Python: scores by counting pairs, interwoven cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

Record = tuple[str, ...]
Predictor = Callable[[Record], list[float]]


def most_probable(probabilities: Sequence[float]) -> int:
    return max(range(len(probabilities)), key=lambda code: (probabilities[code], -code))


def accuracy(truth: Sequence[int], predictions: Sequence[Sequence[float]]) -> float:
    right = [most_probable(one) == label for label, one in zip(truth, predictions, strict=True)]
    return sum(right) / len(right)


def precision_recall(
    truth: Sequence[int], predictions: Sequence[Sequence[float]], code: int
) -> tuple[float, float]:
    predicted = [most_probable(one) for one in predictions]
    hits = sum(a == code and b == code for a, b in zip(truth, predicted, strict=True))
    claimed, actual = predicted.count(code), list(truth).count(code)
    return (hits / claimed if claimed else 0.0), hits / actual


def auc(truth: Sequence[int], predictions: Sequence[Sequence[float]], code: int) -> float:
    """The share of pairs (one of the class, one not) in the right order, ties counted half."""
    inside = [one[code] for label, one in zip(truth, predictions, strict=True) if label == code]
    outside = [one[code] for label, one in zip(truth, predictions, strict=True) if label != code]
    won = sum(Fraction((a > b) * 2 + (a == b), 2) for a in inside for b in outside)
    return float(won / (len(inside) * len(outside)))


def brier(truth: Sequence[int], predictions: Sequence[Sequence[float]]) -> float:
    squares = [
        (probability - (label == code)) ** 2
        for label, one in zip(truth, predictions, strict=True)
        for code, probability in enumerate(one)
    ]
    return sum(squares) / len(truth)


def zero_r(labels: Sequence[int], classes: int) -> Predictor:
    shares = [list(labels).count(code) / len(labels) for code in range(classes)]
    return lambda record: shares


def naive_bayes(records: Sequence[Record], labels: Sequence[int], classes: int) -> Predictor:
    """Frequencies plus 1 over the values that occur and one more; other values tell nothing."""
    seen = [set(column) for column in zip(*records, strict=True)]

    def predict(record: Record) -> list[float]:
        logs = []
        for code in range(classes):
            own = [one for one, label in zip(records, labels, strict=True) if label == code]
            total = math.log(len(own) / len(records)) if own else -math.inf
            for place, value in enumerate(record):
                if value not in seen[place]:
                    continue
                count = sum(one[place] == value for one in own)
                total += math.log((count + 1) / (len(own) + len(seen[place]) + 1))
            logs.append(total)
        odds = [math.exp(one - max(logs)) for one in logs]
        return [one / sum(odds) for one in odds]

    return predict


def interwoven(
    masked: Sequence[Record | None],
    transformed: Sequence[Record],
    labels: Sequence[int],
    folds: Sequence[int],
    classes: int,
) -> tuple[list[list[float]], list[list[float]]]:
    """Predictions of every record in both readings; None is a suppressed record."""
    like_others: list[list[float]] = [[] for _ in labels]
    supported: list[list[float]] = [[] for _ in labels]
    for fold in sorted(set(folds)):
        others = [place for place, one in enumerate(folds) if one != fold]
        released = [place for place in others if masked[place] is not None]
        learned = naive_bayes(
            [masked[place] for place in released], [labels[place] for place in released], classes
        )
        baseline = zero_r([labels[place] for place in others], classes)
        for place, one in enumerate(folds):
            if one == fold:
                like_others[place] = learned(transformed[place])
                chosen = learned if masked[place] is not None else baseline
                supported[place] = chosen(transformed[place])
    return like_others, supported
