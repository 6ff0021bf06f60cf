"""Population uniqueness: hand-made samples, exact references, and samples of known populations."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special
from scipy.optimize import minimize

from ontomask import population
from ontomask.errors import DataError, ParameterError
from ontomask.population import (
    DEFINITIONS,
    ClassSizes,
    Estimate,
    _snb_solutions,
    classes_in_population,
    dankar,
    estimated_uniques,
    intrusion_success,
    pitman,
    pitman_uniques,
    population_uniqueness,
    slide_negative_binomial,
    snb_expected,
    zayatz,
)
from reference import risk as reference

SAMPLE = [1] * 30 + [2] * 12 + [3] * 5 + [4, 6, 11]


def estimate(number):
    return Estimate(number, None, "")


# Zayatz ---------------------------------------------------------------------------------------


def test_zayatz_by_hand():
    # n = 3 of N = 6, classes of 1 and 2 people. One of the class of one is drawn with probability
    # 1/2, exactly one of a class of two with 2 C(4, 2) / C(6, 3) = 12 / 20.
    # P = (1/2) / (1/2 + 3/5) = 5 / 11, and S_1 = 1 * 5/11 * 6/3 = 10 / 11.
    found = zayatz(ClassSizes.of([1, 2], 0.5))
    assert found.uniques == pytest.approx(10 / 11)
    assert found.share == pytest.approx(10 / 66)


@pytest.mark.parametrize("fraction", [0.03, 0.2, 0.5, 0.9])
def test_zayatz_against_exact_fractions(fraction):
    sample = ClassSizes.of(SAMPLE, fraction)
    expected = reference.zayatz(SAMPLE, sample.population)
    assert zayatz(sample).uniques == pytest.approx(float(expected), rel=1e-9)


def test_zayatz_of_a_large_population_keeps_its_digits():
    """C(N - j, n - 1) / C(N, n) is n / N times a product of j - 1 ratios."""
    sizes = [1] * 300_000 + [2] * 200_000 + [5] * 60_000
    sample = ClassSizes.of(sizes, 1e-3)
    n, N = sample.people, sample.population  # noqa: N806
    chances = {
        size: size * math.prod((Fraction(N - n - i, N - 1 - i) for i in range(size - 1)), start=1)
        for size in (1, 2, 5)
    }
    correct = 300_000 / sum(sizes.count(size) * one for size, one in chances.items())
    expected = float(300_000 * correct * Fraction(N, n))
    assert zayatz(sample).uniques == pytest.approx(expected, rel=1e-13)


def test_a_class_too_large_to_be_missed_counts_nothing():
    # 9 of 10 people drawn: at least 5 - 1 people of a class of five are in the sample.
    sample = ClassSizes.of([1, 1, 2, 5], 0.9)
    assert sample.population == 10
    assert zayatz(sample).uniques == pytest.approx(float(reference.zayatz([1, 1, 2, 5], 10)))


# Pitman ---------------------------------------------------------------------------------------


def test_expected_uniques_of_pitmans_formula_by_seating_people():
    for alpha, theta in [(0.5, 3.0), (0.05, 40.0), (0.9, -0.5)]:
        expected = reference.pitman_uniques(300, alpha, theta)
        assert pitman_uniques(300, alpha, theta) == pytest.approx(expected, rel=1e-9)


def test_expected_uniques_approach_the_published_limit():
    limit = math.gamma(4.0) / math.gamma(3.5) * (10**7) ** 0.5
    assert pitman_uniques(10**7, 0.5, 3.0) == pytest.approx(limit, rel=1e-3)


@pytest.mark.parametrize("point", [(-2.0, 1.0), (0.5, 3.0), (3.0, -1.0)])
def test_the_likelihood_bends_as_differences_of_its_slope_do(point):
    likelihood, step = population._PitmanLikelihood(ClassSizes.of(SAMPLE, 0.1)), 1e-5
    moved = [step * np.array(one) for one in ((1.0, 0.0), (0.0, 1.0))]
    expected = [
        (likelihood(point + one)[1] - likelihood(point - one)[1]) / (2 * step) for one in moved
    ]
    np.testing.assert_allclose(likelihood.curvature(np.array(point)), expected, rtol=1e-6)


def test_pitmans_parameters_have_the_greatest_likelihood():
    found = pitman(ClassSizes.of(SAMPLE, 0.1))
    alpha, theta = (float(part.strip(" .")) for part in _numbers(found.reason))
    best = reference.pitman_log_likelihood(SAMPLE, alpha, theta)
    for factor in (0.8, 0.98, 1.02, 1.2):
        assert reference.pitman_log_likelihood(SAMPLE, alpha * factor, theta) < best
        assert reference.pitman_log_likelihood(SAMPLE, alpha, theta * factor) < best


@pytest.mark.parametrize("fraction", [0.01, 0.4])
@pytest.mark.parametrize("sizes", [SAMPLE, [1] * 5 + [2] * 4 + [9] * 3, [1] * 900 + [2, 3, 70]])
def test_pitmans_estimate_is_the_one_that_a_search_finds(sizes, fraction):
    """By Nelder and Mead, over logarithms, without slopes."""
    sample = ClassSizes.of(sizes, fraction)

    def high(point):
        alpha = special.expit(point[0])
        return -reference.pitman_log_likelihood(sizes, alpha, math.exp(point[1]) - alpha)

    best = minimize(high, (0.0, 1.0), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12})
    alpha = special.expit(best.x[0])
    expected = pitman_uniques(sample.population, alpha, math.exp(best.x[1]) - alpha)
    assert pitman(sample).uniques == pytest.approx(min(expected, sample.population), rel=1e-5)


def _numbers(reason):
    return [part.split(",")[0] for part in reason.split("=")[1:]]


# Slide negative binomial ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "beta", "fraction"), [(0.5, 0.1, 0.3), (2.0, 0.4, 0.05), (7.0, 0.8, 0.9)]
)
def test_expected_classes_of_the_slide_negative_binomial_model(alpha, beta, fraction):
    for size, found in enumerate(snb_expected(alpha, beta, fraction), start=1):
        expected = reference.slide_negative_binomial(alpha, beta, fraction, size)
        assert math.exp(found) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("fraction", [0.003, 0.1, 0.6, 0.95])
@pytest.mark.parametrize(("alpha", "beta"), [(0.3, 1e-6), (1.3, 3e-4), (4.0, 0.5), (0.05, 0.9)])
def test_every_solution_is_found(alpha, beta, fraction):
    classes = 1e15
    counts = [round(classes * math.exp(one)) for one in snb_expected(alpha, beta, fraction)]
    sample = ClassSizes(np.array([1, 2]), np.array(counts), fraction)
    solutions = _snb_solutions(sample, classes)
    assert any(one == pytest.approx((alpha, beta), rel=1e-3) for one in solutions)
    for solution in solutions:
        expected = [classes * math.exp(one) for one in snb_expected(*solution, fraction)]
        assert expected == pytest.approx(counts, rel=1e-9)


def test_the_equations_are_solved():
    sample = ClassSizes.of(SAMPLE, 0.4)
    found = slide_negative_binomial(sample)
    numbers = [float(part.split(",")[0].strip(" .")) for part in found.reason.split("=")[1:]]
    classes = classes_in_population(sample)
    expected = [classes * math.exp(one) for one in snb_expected(*numbers, 0.4)]
    assert expected == pytest.approx([30, 12], rel=1e-2)
    assert found.uniques == pytest.approx(classes * numbers[1] ** numbers[0], rel=1e-2)


@pytest.mark.parametrize("fraction", [0.02, 0.3, 0.8])
def test_the_number_of_classes(fraction):
    found = classes_in_population(ClassSizes.of(SAMPLE, fraction))
    assert found == pytest.approx(reference.shlosser(SAMPLE, fraction))


def test_the_number_of_classes_of_very_large_classes_does_not_overflow():
    assert classes_in_population(ClassSizes.of([1, 2, 10**6], 0.5)) >= 3


# Known populations ----------------------------------------------------------------------------


def errors(sizes, fraction, runs=3):
    """Relative errors of the estimates: the mean over several samples of one population."""
    truth = np.count_nonzero(np.asarray(sizes) == 1)
    found = [
        population_uniqueness(
            reference.sampled(sizes, fraction, np.random.default_rng(seed)), fraction
        )
        for seed in range(runs)
    ]
    return {
        name: np.mean([getattr(one, name).uniques for one in found]) / truth - 1
        for name in ("zayatz", "pitman", "snb", "dankar")
    }


def pitman_population(count, alpha, theta, generator):
    """Seat people by Pitman's scheme."""
    sizes, owners = [], []
    for seated in range(count):
        if generator.random() * (theta + seated) < theta + alpha * len(sizes):
            owners.append(len(sizes))
            sizes.append(1)
            continue
        owner = owners[generator.integers(seated)]
        while generator.random() * sizes[owner] > sizes[owner] - alpha:
            owner = owners[generator.integers(seated)]
        sizes[owner] += 1
        owners.append(owner)
    return sizes


def test_pitman_recovers_a_population_of_its_own_kind_within_ten_percent():
    sizes = pitman_population(30_000, 0.5, 100.0, np.random.default_rng(1))
    for fraction in (0.05, 0.1):
        found = errors(sizes, fraction)
        assert abs(found["pitman"]) < 0.1
        assert found["dankar"] == found["pitman"]


def test_the_slide_negative_binomial_model_recovers_its_own_kind_within_ten_percent():
    sizes = 1 + np.random.default_rng(2).negative_binomial(2, 0.3, 6_000)
    for fraction in (0.5, 0.8):
        found = errors(sizes.tolist(), fraction)
        assert abs(found["snb"]) < 0.1
        assert abs(found["dankar"]) < 0.1


def test_zayatz_is_good_for_large_fractions_and_too_high_for_small_ones():
    sizes = np.maximum(1, np.random.default_rng(3).lognormal(1, 1.5, 6_000).astype(int)).tolist()
    assert abs(errors(sizes, 0.7)["zayatz"]) < 0.1
    found = errors(sizes, 0.05)
    assert found["zayatz"] > 1
    assert abs(found["dankar"]) < found["zayatz"] / 2


# What needs no model, and what has no answer --------------------------------------------------


def test_the_whole_population_is_counted():
    found = population_uniqueness(SAMPLE, 1)
    assert {found.zayatz.uniques, found.pitman.uniques, found.snb.uniques} == {30}
    assert found.dankar.uniques == 30
    assert found.population == sum(SAMPLE)
    assert found.intrusion_success == 1


def test_nobody_unique():
    found = population_uniqueness([2, 3, 3], 0.1)
    assert found.dankar == found.pitman == found.snb == found.zayatz
    assert found.dankar.uniques == 0
    assert found.intrusion_success is None
    assert "Nobody is unique" in found.dankar.reason


def test_everybody_unique():
    found = population_uniqueness([1] * 20, 0.1)
    assert found.dankar.uniques == found.population == 200
    assert found.dankar.share == 1


def test_no_pairs_leave_the_slide_negative_binomial_model_without_an_answer():
    found = population_uniqueness([1, 1, 1, 3, 4], 0.5)
    assert found.snb.uniques is None
    assert found.snb.share is None
    assert "No class of the table has two people" in found.snb.reason
    assert found.chosen == "zayatz"
    assert found.dankar == found.zayatz


def test_classes_of_equal_size_leave_it_without_a_solution():
    sizes = reference.sampled([5] * 2_000, 0.7, np.random.default_rng(4))
    found = population_uniqueness(sizes, 0.7)
    assert found.snb.uniques is None
    assert "no solution" in found.snb.reason
    assert found.chosen == "zayatz"


def test_estimates_never_exceed_the_population():
    for fraction in (0.001, 0.01, 0.3, 0.99):
        found = population_uniqueness([1] * 50 + [2], fraction)
        for one in (found.zayatz, found.pitman, found.snb, found.dankar):
            assert one.uniques is None or 0 <= one.share <= 1


# The rule -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fraction", "numbers", "chosen"),
    [
        (0.1, (5, 6, 4), "pitman"),
        (0.1, (5, None, 4), "zayatz"),
        (0.11, (5, 6, 4), "snb"),
        (0.11, (5, 6, 5), "snb"),
        (0.11, (5, 4, 6), "zayatz"),
        (0.11, (5, 4, None), "zayatz"),
    ],
)
def test_dankars_rule(fraction, numbers, chosen):
    found = dict(zip(("zayatz", "pitman", "snb"), map(estimate, numbers), strict=True))
    assert dankar(fraction, found.__getitem__) == (chosen, found[chosen])


@pytest.mark.parametrize("fraction", [0.05, 0.4, 1.0])
def test_one_estimator_says_what_it_says_among_all(fraction):
    every = population_uniqueness(SAMPLE, fraction)
    for name in ("zayatz", "pitman", "snb", "dankar"):
        assert estimated_uniques(SAMPLE, fraction, name) == getattr(every, name)


@pytest.mark.parametrize(
    ("fraction", "unasked"), [(0.1, ("zayatz", "slide_negative_binomial")), (0.2, ("pitman",))]
)
def test_nobody_is_asked_whose_answer_does_not_matter(fraction, unasked, monkeypatch):
    """A search asks for one estimate thousands of times."""
    for name in unasked:
        monkeypatch.setattr(f"ontomask.population.{name}", None)
    assert estimated_uniques(SAMPLE, fraction, "dankar").uniques > 0


def test_intrusion_by_hand():
    # pi s_1 / (pi s_1 + 2 (1 - pi) s_2) = 3 / (3 + 2 * 0.9 * 12 * 1) for pi = 0.1, 30 and 12.
    assert intrusion_success(ClassSizes.of(SAMPLE, 0.1)) == pytest.approx(3 / (3 + 21.6))


# Mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [0, -0.1, 1.01, math.nan, "half", None, True])
def test_fractions_outside_their_bounds(fraction):
    with pytest.raises(ParameterError, match="fraction must be a number from 0 to 1, 0 excluded"):
        population_uniqueness([1, 2], fraction)


@pytest.mark.parametrize("sizes", [[], [0, 1], [1.5]])
def test_sizes_that_are_none(sizes):
    with pytest.raises(DataError, match="whole numbers of at least 1"):
        population_uniqueness(sizes, 0.5)


def test_every_figure_is_defined():
    assert set(population_uniqueness(SAMPLE, 0.5).as_dict()) == set(DEFINITIONS)
