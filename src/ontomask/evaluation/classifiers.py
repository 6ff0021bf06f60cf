"""Classifiers by name. All but ZeroR are scikit-learn's, which is imported when one is used."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ontomask.arithmetic import exp, log
from ontomask.arrays import Floats, Longs
from ontomask.evaluation.features import Encoder, Features
from ontomask.extras import optional

__all__ = ["CLASSIFIERS", "Predict", "learn", "require_library"]

Predict = Callable[[Features], Floats]
"""The probability of each class for each record."""

ITERATIONS = 1000
TREES = 100
SMALLEST_LEAF = 5


def learn(
    name: str, training: Features, labels: Longs, weights: Floats, classes: int, seed: int
) -> Predict:
    """Train a classifier; where there is nothing to tell apart, it is ZeroR.

    Parameters
    ----------
    name
        One of `CLASSIFIERS`.
    labels
        The class of each training record, from 0 to `classes` - 1; not all need occur.
    weights
        How many people each training record stands for.
    seed
        Fixes the random choices of trees and forests.
    """
    present = np.unique(labels)
    if name == "zero-r" or present.size < 2 or not Encoder.of(training).width:
        return _zero_r(labels, weights, classes)
    # a classifier that stops early is still a classifier; how good it is, is what is measured
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", _sklearn("exceptions").ConvergenceWarning)
        predict = _TRAINERS[name](training, labels, weights, seed)
    return _for_all_classes(predict, present, classes)


def _for_all_classes(predict: Predict, present: Longs, classes: int) -> Predict:
    """Give classes that do not occur in training the probability 0."""

    def spread(features: Features) -> Floats:
        probabilities = np.zeros((len(features), classes))
        if len(features):
            probabilities[:, present] = predict(features)
        return probabilities

    return spread


def _zero_r(labels: Longs, weights: Floats, classes: int) -> Predict:
    """Always the most frequent class, with the classes' frequencies as probabilities."""
    counts = np.bincount(labels, weights=weights, minlength=classes).astype(np.float64)
    shares: Floats = counts / (counts.sum() or 1.0)
    return lambda features: np.tile(shares, (len(features), 1))


def _logistic(training: Features, labels: Longs, weights: Floats, seed: int) -> Predict:
    model = _sklearn("linear_model").LogisticRegression(max_iter=ITERATIONS, random_state=seed)
    return _on_matrix(model, training, labels, weights)


def _tree(training: Features, labels: Longs, weights: Floats, seed: int) -> Predict:
    model = _sklearn("tree").DecisionTreeClassifier(
        min_samples_leaf=SMALLEST_LEAF, random_state=seed
    )
    return _on_matrix(model, training, labels, weights)


def _forest(training: Features, labels: Longs, weights: Floats, seed: int) -> Predict:
    model = _sklearn("ensemble").RandomForestClassifier(
        n_estimators=TREES, min_samples_leaf=SMALLEST_LEAF, random_state=seed
    )
    return _on_matrix(model, training, labels, weights)


def _on_matrix(model: Any, training: Features, labels: Longs, weights: Floats) -> Predict:
    encoder = Encoder.of(training)
    with _single_thread():
        model.fit(encoder.matrix(training), labels, sample_weight=weights)

    def predict(features: Features) -> Floats:
        with _single_thread():
            probabilities: Floats = model.predict_proba(encoder.matrix(features))
        return probabilities

    return predict


def _single_thread() -> Any:
    """Let one thread multiply matrices.

    These are many and small: several threads wait for each other, up to sixty times as long on a
    busy machine, and the last digits of sums depend on how many there are.
    """
    return optional("threadpoolctl").threadpool_limits(1, user_api="blas")


def _naive_bayes(training: Features, labels: Longs, weights: Floats, seed: int) -> Predict:  # noqa: ARG001
    """Categories by their frequencies (plus 1), numbers by normal distributions.

    A category that does not occur in training tells nothing; smoothing alone would count it as a
    sign of the rarest class.
    """
    encoder = Encoder.of(training)
    library = _sklearn("naive_bayes")
    parts: list[_Part] = []
    if training.codes.shape[1]:
        parts.append(_Part(library.CategoricalNB(min_categories=encoder.sizes), encoder.codes))
    if encoder.deviations.any():
        parts.append(_Part(library.GaussianNB(), encoder.numbers))
    for part in parts:
        part.model.fit(part.view(training), labels, sample_weight=weights)
        for table in getattr(part.model, "feature_log_prob_", ()):
            table[:, 0] = 0.0
    prior = log(np.bincount(labels, weights=weights)[np.unique(labels)] / weights.sum())

    def predict(features: Features) -> Floats:
        joint = sum((part.log_likelihoods(features, prior) for part in parts), prior)
        odds = exp(joint - joint.max(axis=1, keepdims=True))
        probabilities: Floats = odds / odds.sum(axis=1, keepdims=True)
        return probabilities

    return predict


@dataclass(frozen=True, eq=False)
class _Part:
    """One of the distributions of naive Bayes, and what of the features it looks at."""

    model: Any
    view: Callable[[Features], Any]

    def log_likelihoods(self, features: Features, prior: Floats) -> Floats:
        joint: Floats = self.model.predict_joint_log_proba(self.view(features)) - prior
        return joint


Train = Callable[[Features, Longs, Floats, int], Predict]

_TRAINERS: dict[str, Train] = {
    "logistic": _logistic,
    "tree": _tree,
    "naive-bayes": _naive_bayes,
    "forest": _forest,
}

CLASSIFIERS = ("zero-r", *_TRAINERS)
"""The names of all classifiers."""


def require_library() -> None:
    """Make sure that scikit-learn is there, or say how to get it."""
    _sklearn("base")


def _sklearn(module: str) -> Any:
    return optional(f"sklearn.{module}")
