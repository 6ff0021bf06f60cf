"""Gamma functions and probabilities of counts against SciPy, and against exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

from ontomask.chances import binomial_tail, poisson_chances, poisson_quantile
from ontomask.gamma_functions import digamma, log_rising, stirling_error, trigamma

WIDE = np.concatenate([np.geomspace(1e-12, 1e12, 400), np.arange(1.0, 60.0), [0.5, 9.5, 1.46163]])


def test_digamma_is_that_of_scipy():
    np.testing.assert_allclose(digamma(WIDE), special.psi(WIDE), rtol=1e-14, atol=2e-15)
    assert float(digamma(1.0)) == pytest.approx(-np.euler_gamma, rel=1e-15)


def test_trigamma_is_that_of_scipy():
    np.testing.assert_allclose(trigamma(WIDE), special.polygamma(1, WIDE), rtol=1e-14)
    assert float(trigamma(1.0)) == pytest.approx(np.pi**2 / 6, rel=1e-15)


@pytest.mark.parametrize("steps", [0.0, 1e-9, 0.25, 1.0, 7.5, 300.0])
def test_ratios_of_gamma_functions(steps):
    """`poch` is exact for small numbers; for large ones two logarithms would lose their digits."""
    starts = WIDE[(WIDE > 1e-9) & (WIDE < 40)]
    expected = special.gammaln(starts + steps) - special.gammaln(starts)
    np.testing.assert_allclose(log_rising(starts, steps), expected, rtol=2e-13, atol=1e-12)


@pytest.mark.parametrize("start", [1, 3, 10**6, 10**9, 10**15])
def test_rising_products_of_large_numbers_keep_their_digits(start):
    product = math.prod(range(start, start + 50))
    digits = product.bit_length() - 60
    expected = (
        math.log(product >> digits) + digits * math.log(2) if digits > 0 else math.log(product)
    )
    assert float(log_rising(start, 50)) == pytest.approx(expected, rel=1e-14)


def test_errors_of_stirlings_formula():
    counts = np.arange(1, 171)
    exact = [math.log(math.factorial(n)) for n in counts.tolist()]
    found = stirling_error(counts.astype(float))
    formula = (counts + 0.5) * np.log(counts) - counts + math.log(2 * math.pi) / 2
    np.testing.assert_allclose(formula + found, exact, rtol=1e-14, atol=1e-15)
    assert (np.diff(found) < 0).all()
    assert (1 / (12 * counts + 1) < found).all()
    assert (found < 1 / (12 * counts)).all()


def exact_tail(count: int, trials: int, chance: Fraction) -> float:
    return float(
        sum(
            math.comb(trials, one) * chance**one * (1 - chance) ** (trials - one)
            for one in range(count + 1, trials + 1)
        )
    )


@pytest.mark.parametrize("chance", [1e-9, 0.03, 0.5, 0.8, 1 - 1e-6])
def test_binomial_tails_against_exact_fractions(chance):
    pairs = [(count, trials) for trials in (1, 2, 17, 60) for count in range(-1, trials + 2)]
    counts, trials = np.array(pairs).T
    expected = [exact_tail(max(one, -1), of, Fraction(chance)) for one, of in pairs]
    np.testing.assert_allclose(binomial_tail(counts, trials, chance), expected, rtol=1e-12)


@pytest.mark.parametrize("trials", [10**3, 10**5, 10**7])
@pytest.mark.parametrize("chance", [1e-4, 0.2, 0.7])
def test_binomial_tails_of_many_trials(trials, chance):
    deviation = math.sqrt(trials * chance * (1 - chance))
    counts = np.floor(trials * chance + deviation * np.array([-8, -2, 0, 0.5, 3, 9, 30]))
    counts = np.unique(np.clip(counts, 0, trials - 1))
    expected = stats.binom.sf(counts, trials, chance)
    found = binomial_tail(counts, np.full(counts.size, trials), chance)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize("rate", [1e-12, 0.3, 2.0, 55.5, 1e4, 1e7])
def test_poisson(rate):
    counts = np.unique(np.floor(rate + np.linspace(-9, 30, 60) * (1 + math.sqrt(rate))))
    counts = counts[counts >= 0]
    expected = stats.poisson.pmf(counts, rate)
    # SciPy goes by the logarithm of a factorial, and has fewer digits of large numbers
    digits = 1e-7 if rate > 1e3 else 1e-11
    np.testing.assert_allclose(poisson_chances(counts, rate), expected, rtol=digits, atol=1e-300)
    every = np.arange(max(0.0, rate - 40 * math.sqrt(rate)), rate + 40 * (1 + math.sqrt(rate)))
    assert math.fsum(poisson_chances(np.floor(every), rate)) == pytest.approx(1.0, abs=1e-14)
    for level in (1e-9, 0.2, 0.5, 0.95, 0.999, 1 - 1e-9 if rate < 1e5 else 0.99):
        assert poisson_quantile(level, rate) == stats.poisson.ppf(level, rate)
    assert math.isfinite(poisson_quantile(1.0, rate))
