"""Means, variances and covariances of numbers, where records have counts and weights."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import PIECE, Floats

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
        # the library multiplies an array by itself in another order
        others = centered.copy() if len(centered) > 1 else centered
        return _products(centered, others) * (1.0 / (total - 1.0))
    surveyed = weights / counts
    amounts = counts * surveyed
    total = float(amounts.sum())
    centered = from_first - (from_first * amounts).sum(axis=1, keepdims=True) / total
    divisor = total - float((amounts * surveyed).sum()) / total
    return _products(centered, centered * amounts) * float(np.divide(1.0, max(divisor, 0.0)))


def _products(rows: Floats, others: Floats) -> Floats:
    """The products of rows with others, each added up."""
    if len(rows) > 1:
        return np.asarray(np.dot(rows, others.T), np.float64)
    # in pieces: all at once would be divided among the cores, and rounded as many times
    starts = range(0, rows.shape[1], PIECE)
    parts = [np.dot(rows[0, one : one + PIECE], others[0, one : one + PIECE]) for one in starts]
    return np.array([[sum(parts)]], np.float64)


def variance(numbers: Floats, counts: Floats, weights: Floats) -> float:
    """Sample variance; see `covariances`."""
    return float(covariances(numbers[None, :], counts, weights)[0, 0])
