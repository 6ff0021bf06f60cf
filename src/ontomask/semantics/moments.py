"""Means, variances and covariances of numbers, where records have counts and weights."""

from __future__ import annotations

import numpy as np

from ontomask.arithmetic import row_products
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
    if (counts == 1.0).all() and (weights == 1.0).all():
        total, centered = float(counts.size), from_first
        centered -= from_first.sum(axis=1, keepdims=True) / total
        return row_products(centered, centered) * (1.0 / (total - 1.0))
    surveyed = weights / counts
    amounts = counts * surveyed
    total = float(amounts.sum())
    centered = from_first - (from_first * amounts).sum(axis=1, keepdims=True) / total
    divisor = total - float((amounts * surveyed).sum()) / total
    products = row_products(centered, centered * amounts)
    return products * float(np.divide(1.0, max(divisor, 0.0)))


def variance(numbers: Floats, counts: Floats, weights: Floats) -> float:
    """Sample variance; see `covariances`."""
    return float(covariances(numbers[None, :], counts, weights)[0, 0])
