"""Ratios of the gamma function and its logarithmic derivatives, by Stirling's series.

Abramowitz and Stegun, "Handbook of mathematical functions" (1964), 6.1.41, 6.3.18 and 6.4.12;
small arguments are first raised by 6.1.15, 6.3.5 and 6.4.6. Two logarithms of the gamma function
of a large number have few correct digits in common after they are subtracted, so there is no such
logarithm here, but the logarithm of a ratio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ontomask.arithmetic import log, log1p
from ontomask.arrays import Floats

__all__ = ["digamma", "log_rising", "stirling_error", "trigamma"]

RAISED = 10
"""From this number on the series are exact."""

STEPS = np.arange(float(RAISED))

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
"""Bernoulli's numbers B_2, B_4, … B_14."""

STIRLING = tuple(one / (2 * k * (2 * k - 1)) for k, one in enumerate(BERNOULLI, start=1))
DERIVED = tuple(one / (2 * k) for k, one in enumerate(BERNOULLI, start=1))
"""What is divided by powers of a number, for the logarithm and for its derivative."""

SMALL = np.array(
    [0.0]
    + [
        math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - math.log(2 * math.pi) / 2
        for n in range(1, 2 * RAISED)
    ]
)


def log_rising(start: Floats | float, steps: Floats | float) -> Floats:
    """The logarithm of Gamma(start + steps) / Gamma(start), both positive.

    For whole steps that is the sum of the logarithms of start, start + 1, …, start + steps - 1.
    """
    first, more = np.broadcast_arrays(np.asarray(start, float), np.asarray(steps, float))
    raised = log1p(more[..., None] / (first[..., None] + STEPS)).sum(axis=-1)
    low = first + RAISED
    high = low + more
    leading = more * (log(low) - 1.0) + (high - 0.5) * log1p(more / low)
    return np.asarray(leading + _correction(high) - _correction(low) - raised, np.float64)


def digamma(number: Floats | float) -> Floats:
    """The derivative of the logarithm of the gamma function, for positive numbers."""
    low = np.asarray(number, float)
    raised, high = (1.0 / (low[..., None] + STEPS)).sum(axis=-1), low + RAISED
    series = _polynomial(DERIVED, 1.0 / high**2) / high**2
    return np.asarray(log(high) - 0.5 / high - series - raised, np.float64)


def trigamma(number: Floats | float) -> Floats:
    """The derivative of `digamma`, for positive numbers."""
    low = np.asarray(number, float)
    raised, high = (1.0 / (low[..., None] + STEPS) ** 2).sum(axis=-1), low + RAISED
    series = _polynomial(BERNOULLI, 1.0 / high**2) / (high * high**2)
    return np.asarray(1.0 / high + 0.5 / high**2 + series + raised, np.float64)


def stirling_error(counts: Floats) -> Floats:
    """By how much ln n! exceeds Stirling's (n + 1/2) ln n - n + ln(2 pi) / 2; 0 for 0."""
    large = np.maximum(counts, len(SMALL))
    small = np.minimum(counts, len(SMALL) - 1).astype(np.int64)
    return np.where(counts < len(SMALL), SMALL[small], _correction(large))


def _correction(number: Floats) -> Floats:
    """What Stirling's formula for the logarithm of the gamma function lacks."""
    return _polynomial(STIRLING, 1.0 / number**2) / number


def _polynomial(coefficients: Sequence[float], number: Floats) -> Floats:
    """By Horner's rule, from the constant on."""
    value = np.full(number.shape, coefficients[-1])
    for one in coefficients[-2::-1]:
        value = value * number + one
    return value
