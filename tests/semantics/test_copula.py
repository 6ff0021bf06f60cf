"""The arithmetic of data shuffling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ontomask.semantics import copula


def correlated(generator: np.random.Generator, count: int, rho, levels: int = 0) -> list:
    """Columns of codes from a normal sample, cut into levels of equal size where given."""
    sample = generator.multivariate_normal(np.zeros(len(rho)), rho, count).T
    ranks = sample.argsort(axis=1).argsort(axis=1)
    return [row * levels // count if levels else row for row in ranks]


RHO = np.array([[1.0, 0.6, 0.5], [0.6, 1.0, -0.3], [0.5, -0.3, 1.0]])


def test_mid_ranks_and_correlation_are_those_of_spearman():
    generator = np.random.default_rng(1)
    columns = correlated(generator, 400, RHO, 7)
    np.testing.assert_allclose(copula.mid_ranks(columns[0]), stats.rankdata(columns[0]) - 1)
    expected = stats.spearmanr(np.stack(columns, axis=1)).statistic
    np.testing.assert_allclose(copula.rank_correlation(columns), expected)


def test_a_constant_column_is_correlated_with_nothing():
    columns = [np.arange(10), np.zeros(10, np.int64)]
    assert copula.rank_correlation(columns).tolist() == [[1, 0], [0, 1]]


def test_broken_ranks_respect_values_and_are_uniform_within_ties():
    codes, generator = np.array([2, 0, 2, 1, 2]), np.random.default_rng(2)
    drawn = np.array([copula.broken_ranks(codes, generator) for _ in range(6000)])
    assert (np.sort(drawn, axis=1) == np.arange(5)).all()
    assert (drawn[:, 1] == 0).all()
    assert (drawn[:, 3] == 1).all()
    counts = np.bincount(drawn[:, 0])[2:]
    assert counts.sum() == 6000
    assert np.abs(counts - 2000).max() < 200


@pytest.mark.parametrize("count", [1, 2, 3, 10, 1001, 200_000])
def test_normal_scores_are_symmetric_quantiles(count):
    scores = copula.normal_scores(count)
    # near 1 a probability has few digits left that tell it from 1
    expected = stats.norm.ppf((np.arange((count + 1) // 2) + 0.5) / count)
    np.testing.assert_allclose(scores[: expected.size], expected, rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(scores, -scores[::-1])


def test_rank_correlation_of_normal_variables_is_undone():
    """Spearman's R of a normal pair is 6 / pi * asin(rho / 2)."""
    ranks = 6 / np.pi * np.arcsin(RHO / 2)
    np.testing.assert_allclose(copula.gaussian_correlation(ranks), RHO)


def test_nearest_correlation_of_the_literature():
    """The example of Higham (2002)."""
    found = copula.nearest_correlation(np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]]))
    expected = np.array([[1, 0.7607, 0.1573], [0.7607, 1, 0.7607], [0.1573, 0.7607, 1]])
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.linalg.eigvalsh(found)[0] > 0


def test_a_positive_definite_matrix_is_left_alone():
    assert copula.nearest_correlation(RHO) is RHO


def test_conditional_moments_by_hand():
    coefficients, spread = copula.conditional(np.array([[1.0, 0.6], [0.6, 1.0]]), 1)
    np.testing.assert_allclose(coefficients, [[0.6]])
    np.testing.assert_allclose(spread, [[0.8]])
    coefficients, spread = copula.conditional(RHO[:2, :2], 2)
    assert coefficients.shape == (2, 0)
    np.testing.assert_allclose(spread @ spread.T, RHO[:2, :2])


@pytest.mark.parametrize("levels", [0, 50])
def test_marginals_are_exact_and_rank_correlations_kept(levels):
    generator = np.random.default_rng(3)
    columns = correlated(generator, 20_000, RHO, levels)
    masked = copula.shuffled(columns[:2], columns[2:], generator)
    for one, other in zip(columns, masked, strict=False):
        assert (np.sort(one) == np.sort(other)).all()
    before = copula.rank_correlation(columns)
    after = copula.rank_correlation([*masked, columns[2]])
    np.testing.assert_allclose(after, before, atol=0.02)
    alone = [copula.rank_correlation([columns[place], masked[place]])[0, 1] for place in (0, 1)]
    through_given = np.array([0.5**2, 0.3**2])
    np.testing.assert_allclose(alone, 6 / np.pi * np.arcsin(through_given / 2), atol=0.02)


def test_without_given_columns_the_result_is_independent():
    generator = np.random.default_rng(4)
    columns = correlated(generator, 20_000, RHO)[:2]
    masked = copula.shuffled(columns, [], generator)
    after = copula.rank_correlation([*columns, *masked])
    assert np.abs(after[:2, 2:]).max() < 0.03
    assert after[2, 3] == pytest.approx(after[0, 1], abs=0.02)


def test_repeated_and_constant_columns_do_no_harm():
    generator = np.random.default_rng(5)
    column = correlated(generator, 5000, RHO)[0]
    constant = np.full(5000, 0)
    masked = copula.shuffled([column, column, constant], [column, column], generator)
    assert (masked[2] == constant).all()
    after = copula.rank_correlation([column, *masked[:2]])
    assert after.min() > 0.999


def test_the_generator_decides():
    columns = correlated(np.random.default_rng(6), 300, RHO, 9)
    first, again, other = (
        copula.shuffled(columns[:1], columns[1:], np.random.default_rng(seed))[0]
        for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()
