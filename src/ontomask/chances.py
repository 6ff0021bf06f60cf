"""Probabilities of counts: binomial and Poisson.

Single probabilities by their deviance and Stirling's error, which keep all digits where factorials
lose them: Loader, "Fast and accurate computation of binomial probabilities" (2000).
"""

from __future__ import annotations

import math

import numpy as np

from ontomask.arithmetic import exp, log, log1p
from ontomask.arrays import Floats, Longs
from ontomask.gamma_functions import stirling_error

__all__ = ["binomial_tail", "poisson_chances", "poisson_quantile"]

NEAR = 0.1
"""Where numbers differ by a smaller share of their sum, the deviance is a series."""

TERMS = 8
"""So many terms of that series are enough."""

FARTHEST = 40.0
"""Counts that are so many standard deviations away do not occur."""


def binomial_tail(counts: Longs | Floats, trials: Longs | Floats, chance: float) -> Floats:
    """P(X > count) where X is how many of the trials succeed, each with the same chance.

    Parameters
    ----------
    counts, trials
        Whole numbers.
    chance
        Above 0 and below 1.
    """
    most, whole = np.asarray(counts, float), np.asarray(trials, float)
    above = most + 1.0 > whole * chance
    # the shorter side is added up; failures are counted where it is the lower one
    firsts = np.where(above, most, whole - most - 1.0) + 1.0
    tails = _added_up(firsts, whole, np.where(above, chance, 1.0 - chance))
    return np.where(above, tails, 1.0 - tails)


def _added_up(firsts: Floats, trials: Floats, chances: Floats) -> Floats:
    """P(X >= first), term by term, where terms only get smaller."""
    possible = firsts <= trials
    counts, odds = np.where(possible, firsts, 0.0), chances / (1.0 - chances)
    terms = np.where(possible, _binomial_chances(counts, trials, chances), 0.0)
    total = terms.copy()
    while (terms > total * 1e-17).any():
        terms *= (trials - counts) / (counts + 1.0) * odds
        counts += 1.0
        total += terms
    return total


def _binomial_chances(counts: Floats, trials: Floats, chances: Floats) -> Floats:
    """P(X = count)."""
    rest = trials - counts
    inner = (counts > 0) & (rest > 0)
    some, others = np.where(inner, counts, 1.0), np.where(inner, rest, 1.0)
    whole = some + others
    logarithms = stirling_error(whole) - stirling_error(some) - stirling_error(others)
    logarithms -= _deviance(some, whole * chances) + _deviance(others, whole * (1.0 - chances))
    found = exp(logarithms) * np.sqrt(whole / (2.0 * math.pi * some * others))
    outer = np.where(counts > 0, log(chances), log1p(-chances)) * trials
    return np.where(inner, found, exp(outer))


def poisson_chances(counts: Longs | Floats, rate: float) -> Floats:
    """P(X = count) where `rate` is the mean, above 0."""
    given = np.asarray(counts, float)
    some = np.maximum(given, 1.0)
    logarithms = -stirling_error(some) - _deviance(some, np.full(some.shape, rate))
    found = exp(logarithms) / np.sqrt(2.0 * math.pi * some)
    return np.where(given > 0, found, math.exp(-rate))


def poisson_quantile(level: float, rate: float) -> int:
    """The least count that is not exceeded with at least this probability."""
    reach = FARTHEST * (1.0 + math.sqrt(rate))
    first = max(0, math.floor(rate - reach))
    chances = poisson_chances(np.arange(first, math.ceil(rate + reach)), rate)
    return first + int(np.searchsorted(np.cumsum(chances), level))


def _deviance(counts: Floats, means: Floats) -> Floats:
    """The count times ln(count / mean), less count, plus mean; for positive ones."""
    apart = (counts - means) / (counts + means)
    near = np.abs(apart) < NEAR
    small = np.where(near, apart, 0.0)
    odd = [2.0 / (2 * term + 1) for term in range(TERMS, 0, -1)]
    series = small * (counts - means) + counts * small * np.polyval([*odd, 0.0], small**2)
    return np.where(near, series, counts * log(counts / means) + means - counts)
