"""Means, variances and covariances of numbers, where records have counts and weights."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats

__all__ = ["covariances", "mean", "variance"]


def mean(numbers: Floats, weights: Floats) -> float:
    """The mean over people; 0 where there are none."""
    if not numbers.size:
        return 0.0
    # counted from one of them, so that the mean of equal numbers is that number to the last bit
    return float(numbers[0] + np.average(numbers - numbers[0], weights=weights))


def covariances(columns: Floats, counts: Floats, weights: Floats) -> Floats:
    """Sample covariances of the rows of `columns`, all numbers known; 0 for a single record.

    A record with count c is as good as c equal records; survey weights (weights / counts) are
    relative, so that their unit does not matter: with w the weights, a the survey weights and W the
    sum of w, the divisor is W - sum(w a) / W, which is n - 1 where all survey weights are equal.
    """
    if counts.sum() < 2:
        return np.zeros((columns.shape[0], columns.shape[0]))
    # counted from one record, so that equal numbers have no variance, not even by rounding
    from_first = columns - columns[:, :1]
    found = np.cov(from_first, fweights=counts.astype(np.int64), aweights=weights / counts)
    return np.atleast_2d(found)


def variance(numbers: Floats, counts: Floats, weights: Floats) -> float:
    """Sample variance; see `covariances`."""
    return float(covariances(numbers[None, :], counts, weights)[0, 0])
