"""Parts of a table for cross-validation, the same for everything that is to be compared."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Longs

__all__ = ["stratified_folds"]


def stratified_folds(labels: Longs, folds: int, seed: int) -> Longs:
    """The fold of each record: of equal size and with equal shares of each class, up to one record.

    Records are shuffled, ordered by class and dealt out one by one.
    """
    order = np.random.default_rng(seed).permutation(labels.size)
    order = order[np.argsort(labels[order], kind="stable")]
    assigned = np.empty(labels.size, np.int64)
    assigned[order] = np.arange(labels.size) % folds
    return assigned
