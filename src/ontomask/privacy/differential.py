"""Differential privacy of a generalization: which share is drawn, which classes are too small.

After Bild, Kuhn and Prasser, "SafePub: a truthful data anonymization algorithm with strong privacy
guarantees" (2018), and Li, Qardaji and Su, "On sampling, anonymization, and differential privacy"
(2012). Records are drawn with probability beta, generalized by a scheme that does not depend on
them, and left out where fewer than k look the same. With gamma = (e^epsilon - 1 + beta) /
e^epsilon, that is (epsilon, delta)-differentially private for beta <= 1 - e^-epsilon and

    delta = max over n >= ceil(k / gamma - 1) of P(Binomial(n, beta) > gamma n),

where no term exceeds exp(-n (gamma ln(gamma / beta) + (1 - gamma) ln((1 - gamma) / (1 - beta))))
(Hoeffding 1963).
"""

from __future__ import annotations

import math

import numpy as np

from ontomask.arrays import Floats
from ontomask.chances import binomial_tail

__all__ = ["least_class", "sampling_probability", "spent_delta"]

BLOCK = 64
"""So many terms are computed at a time."""

ROUNDING = 1e-9
SAFETY = 1.0 + ROUNDING
"""Rounding is taken to be to the disadvantage of protection."""


def sampling_probability(epsilon: float) -> float:
    """The largest probability with which records may be drawn."""
    return float(np.nextafter(-math.expm1(-epsilon), 0.0))


def spent_delta(k: int, beta: float, epsilon: float) -> float:
    """The delta of sampling with probability beta and leaving out classes below k."""
    # 1 - gamma, which for a large epsilon would be rounded to 0
    rest = (1.0 - beta) * math.exp(-epsilon)
    gamma = 1.0 - rest
    rate = gamma * math.log(gamma / beta) - rest * epsilon
    first, largest, start = max(1, math.ceil(k / gamma - 1.0 - ROUNDING)), 0.0, 0.0
    while True:
        counts, sizes = _peaks(first, gamma, rest, np.arange(start, start + BLOCK))
        terms = binomial_tail(counts, sizes, beta) * SAFETY
        largest = max(largest, float(terms.max()))
        start += BLOCK
        if math.exp(-sizes[-1] * rate) <= largest:
            return largest


def _peaks(first: int, gamma: float, rest: float, steps: Floats) -> tuple[Floats, Floats]:
    """The largest count that is no more than gamma n, and n, where no other n has larger terms.

    One more record makes more than a count likelier, unless the count is one more, too: then less
    so. That leaves the largest n of each count or, as well, the least n of each number of records
    that may be missing, of which there are fewer if gamma is above 1/2.
    """
    if gamma < 0.5:
        counts = math.floor(gamma * first - ROUNDING) + steps
        return counts, np.maximum(np.ceil((counts + 1 + ROUNDING) / gamma) - 1, first)
    missing = math.ceil(rest * first + ROUNDING) - 1 + steps
    sizes = np.maximum(np.floor((missing - ROUNDING) / rest) + 1, first)
    return sizes - missing - 1, sizes


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
