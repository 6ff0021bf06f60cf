"""What classifiers learn at every node of a generalization lattice.

Interwoven cross-validation as in `ontomask.measuring.judge_classification`, on codes instead of
tables: a node is judged in milliseconds by naive Bayes, which is a matter of counting. The study
compares some nodes with the library's own judgment.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

import ontomask as om

__all__ = ["Lattice", "judge_nodes"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

ITERATIONS = 1000
CHUNK = {"naive-bayes": 200, "logistic": 4}


@dataclass(frozen=True, eq=False)
class Lattice:
    """A table whose columns can be generalized, with the classes and folds of its records.

    Attributes
    ----------
    hierarchies, codes
        For each column its hierarchy, and the row in it of each record (columns x records).
    labels, folds
        The class and the fold of each record.
    k
        Records in smaller classes of equal values are suppressed.
    """

    hierarchies: tuple[om.Hierarchy, ...]
    codes: Longs
    labels: Longs
    folds: Longs
    k: int

    @property
    def classes(self) -> int:
        """The number of classes."""
        return int(self.labels.max()) + 1

    @property
    def fold_count(self) -> int:
        """The number of folds."""
        return int(self.folds.max()) + 1

    def values(self, levels: Sequence[int]) -> tuple[Longs, Longs]:
        """The generalized values (records x columns), numbered through, and where columns start."""
        columns = list(zip(self.hierarchies, self.codes, levels, strict=True))
        sizes = [int(one.widths[level]) for one, _, level in columns]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        values = [
            one.levels[level][codes] + start
            for (one, codes, level), start in zip(columns, starts[:-1], strict=True)
        ]
        return np.column_stack(values).astype(np.int64), starts

    def kept(self, values: Longs, starts: Longs) -> Bools:
        """Which records share their values with at least k - 1 others."""
        keys = np.zeros(len(values), np.int64)
        for column, size in enumerate(np.diff(starts)):
            keys = keys * size + values[:, column] - starts[column]
        _, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
        enough: Bools = (counts >= self.k)[places]
        return enough

    @functools.cached_property
    def baseline(self) -> Bools:
        """Which records the most frequent class of the other folds predicts right."""
        right = np.zeros(self.labels.size, bool)
        for fold in range(self.fold_count):
            most = np.bincount(self.labels[self.folds != fold]).argmax()
            right |= (self.folds == fold) & (self.labels == most)
        return right

    def right(self, classifier: str, values: Longs, starts: Longs, kept: Bools) -> Bools:
        """Which records a classifier predicts right that is trained on the kept ones."""
        if not kept.any():
            return self.baseline
        if classifier == "naive-bayes":
            return self._bayes(values, starts, kept)
        return self._logistic(values, int(starts[-1]), kept)

    def accuracies(self, classifier: str, levels: Sequence[int]) -> tuple[float, float]:
        """Accuracy with suppressed records generalized like others, or left to the baseline."""
        values, starts = self.values(levels)
        kept = self.kept(values, starts)
        right = self.right(classifier, values, starts, kept)
        return float(right.mean()), float(np.where(kept, right, self.baseline).mean())

    def _bayes(self, values: Longs, starts: Longs, kept: Bools) -> Bools:
        known = (self.labels, self.folds)
        counts, totals = bayes_counts(
            values, int(starts[-1]), *known, kept, self.classes, self.fold_count
        )
        right: Bools = bayes_right(values, *known, *bayes_logs(counts, totals, starts))
        return right

    def _logistic(self, values: Longs, width: int, kept: Bools) -> Bools:
        right = self.baseline.copy()
        for fold in range(self.fold_count):
            training = kept & (self.folds != fold)
            rows = np.column_stack([values[training], self.labels[training]])
            distinct, counts = np.unique(rows, axis=0, return_counts=True)
            if np.unique(distinct[:, -1]).size < 2:
                continue
            model = LogisticRegression(max_iter=ITERATIONS, random_state=0)
            model.fit(one_hot(distinct[:, :-1], width), distinct[:, -1], sample_weight=counts)
            tested = np.flatnonzero(self.folds == fold)
            seen, places = np.unique(values[tested], axis=0, return_inverse=True)
            predicted = model.predict(one_hot(seen, width))[places.ravel()]
            right[tested] = predicted == self.labels[tested]
        return right


def one_hot(values: Longs, width: int) -> Any:
    """A column for each value, 1 where a record has it."""
    rows, columns = values.shape
    offsets = np.arange(0, values.size + 1, columns)
    return csr_array((np.ones(values.size), values.ravel(), offsets), shape=(rows, width))


# Naive Bayes ----------------------------------------------------------------------------------


def _bayes_counts(
    values: Longs,
    width: int,
    labels: Longs,
    folds: Longs,
    kept: Bools,
    classes: int,
    fold_count: int,
) -> tuple[Floats, Floats]:
    """How often each value and each class occur in each fold, among the kept records."""
    counts = np.zeros((fold_count, width, classes))
    totals = np.zeros((fold_count, classes))
    for record in range(labels.size):
        if kept[record]:
            fold, label = folds[record], labels[record]
            totals[fold, label] += 1
            for column in range(values.shape[1]):
                counts[fold, values[record, column], label] += 1
    return counts, totals


def _bayes_right(values: Longs, labels: Longs, folds: Longs, logs: Floats, priors: Floats) -> Bools:
    """Which records naive Bayes predicts right."""
    right = np.zeros(labels.size, np.bool_)
    for record in range(labels.size):
        fold = folds[record]
        best, largest = 0, -np.inf
        for label in range(priors.shape[1]):
            total = priors[fold, label]
            for column in range(values.shape[1]):
                total += logs[fold, values[record, column], label]
            if total > largest:
                best, largest = label, total
        right[record] = best == labels[record]
    return right


bayes_counts = numba.njit(cache=True)(_bayes_counts)
bayes_right = numba.njit(cache=True)(_bayes_right)


def bayes_logs(counts: Floats, totals: Floats, starts: Longs) -> tuple[Floats, Floats]:
    """For each fold the logarithms of frequencies (plus 1) in the other folds, and of classes.

    A value that does not occur in the other folds tells nothing.
    """
    others, own = counts.sum(axis=0) - counts, totals.sum(axis=0) - totals
    occurs = others.sum(axis=2) > 0
    seen = np.add.reduceat(occurs, starts[:-1], axis=1, dtype=np.int64)
    spread = np.repeat(seen, np.diff(starts), axis=1)[:, :, None]
    logs = np.log((others + 1) / (own[:, None, :] + spread + 1)) * occurs[:, :, None]
    shares = own / np.maximum(own.sum(axis=1, keepdims=True), 1)
    return logs, np.log(np.maximum(shares, 1e-300))


# Many nodes -----------------------------------------------------------------------------------

_SHARED: dict[str, Lattice] = {}
"""What a worker process is given when it starts."""


def _share(lattice: Lattice) -> None:
    _SHARED["lattice"] = lattice


def _judge(work: tuple[str, list[list[int]]]) -> list[tuple[float, float]]:
    classifier, nodes = work
    return [_SHARED["lattice"].accuracies(classifier, levels) for levels in nodes]


def judge_nodes(
    lattice: Lattice, classifier: str, nodes: npt.NDArray[np.int32], workers: int
) -> Floats:
    """The two accuracies of each node; in several processes, or in this one."""
    listed, step = nodes.tolist(), CHUNK[classifier]
    parts = [(classifier, listed[at : at + step]) for at in range(0, len(listed), step)]
    if workers == 1:
        _SHARED["lattice"] = lattice
        return _gathered(map(_judge, parts))
    with ProcessPoolExecutor(workers, get_context("spawn"), _share, (lattice,)) as pool:
        return _gathered(pool.map(_judge, parts))


def _gathered(parts: Iterable[list[tuple[float, float]]]) -> Floats:
    return np.array([one for part in parts for one in part], np.float64).reshape(-1, 2)
