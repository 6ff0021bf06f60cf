"""Differential privacy of a generalization: which share is drawn, which classes are too small.

After Bild, Kuhn and Prasser, "SafePub: a truthful data anonymization algorithm with strong privacy
guarantees" (2018), and Li, Qardaji and Su, "On sampling, anonymization, and differential privacy"
(2012). Records are drawn with probability beta, generalized by a scheme that does not depend on
them, and left out where fewer than k look the same. With gamma = (e^epsilon - 1 + beta) /
e^epsilon, that is (epsilon, delta)-differentially private for beta <= 1 - e^-epsilon and

    delta = max over n >= ceil(k / gamma - 1) of P(Binomial(n, beta) > gamma n),

where no term exceeds exp(-n (gamma ln(gamma / beta) - (gamma - beta))).
"""

from __future__ import annotations

import math

import numpy as np

from ontomask.chances import binomial_tail

__all__ = ["least_class", "sampling_probability", "spent_delta"]

BLOCK = 512
"""So many terms are computed at a time."""

SAFETY = 1.0 + 1e-9
"""Rounding is taken to be to the disadvantage of protection."""


def sampling_probability(epsilon: float) -> float:
    """The largest probability with which records may be drawn."""
    return float(np.nextafter(-math.expm1(-epsilon), 0.0))


def spent_delta(k: int, beta: float, epsilon: float) -> float:
    """The delta of sampling with probability beta and leaving out classes below k."""
    gamma = (math.expm1(epsilon) + beta) / math.exp(epsilon)
    rate = gamma * math.log(gamma / beta) - (gamma - beta)
    first, largest = max(1, math.ceil(k / gamma - 1.0 - 1e-9)), 0.0
    while True:
        sizes = np.arange(first, first + BLOCK)
        terms = binomial_tail(np.floor(gamma * sizes - 1e-9), sizes, beta) * SAFETY
        largest = max(largest, float(terms.max()))
        first += BLOCK
        if math.exp(-first * rate) <= largest:
            return largest


def least_class(epsilon: float, delta: float, beta: float) -> int:
    """The least k with which delta is not exceeded."""
    high = 2
    while spent_delta(high, beta, epsilon) > delta:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if spent_delta(middle, beta, epsilon) <= delta:
            high = middle
        else:
            low = middle
    return high
