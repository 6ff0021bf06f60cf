import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ontomask as om
from ontomask.semantics import moments
from strategies import random_attribute, random_parents


def explicit(matrix_x: np.ndarray, matrix_y: np.ndarray) -> float:
    """Distance covariance from the n x n matrices, as it is defined."""

    def centered(matrix: np.ndarray) -> np.ndarray:
        rows, columns = matrix.mean(axis=1, keepdims=True), matrix.mean(axis=0, keepdims=True)
        return matrix - rows - columns + matrix.mean()

    total = (centered(matrix_x) * centered(matrix_y)).sum()
    return float(np.sqrt(max(total, 0.0))) / len(matrix_x)


@st.composite
def two_columns(draw):
    parents, values = draw(random_attribute())
    others = draw(
        st.lists(st.sampled_from(sorted(parents)), min_size=len(values), max_size=len(values))
    )
    return om.Taxonomy.from_parents(parents), values, others


@given(two_columns())
@settings(max_examples=60)
def test_distance_covariance_and_correlation_agree_with_the_definition(case):
    taxonomy, values, others = case
    x, y = om.statistics.Sample.of(values, taxonomy), om.statistics.Sample.of(others, taxonomy)
    matrix_x, matrix_y = taxonomy.distances(values), taxonomy.distances(others)
    covariance = explicit(matrix_x, matrix_y)
    assert om.statistics.semantic_covariance(x, y) == pytest.approx(covariance, abs=1e-7)
    assert om.statistics.semantic_variance(x) == pytest.approx(
        explicit(matrix_x, matrix_x), abs=1e-7
    )
    variances = explicit(matrix_x, matrix_x) * explicit(matrix_y, matrix_y)
    expected = covariance / np.sqrt(variances) if variances > 1e-12 else 0.0
    assert om.statistics.semantic_correlation(x, y) == pytest.approx(expected, abs=1e-5)


@given(two_columns())
@settings(max_examples=40)
def test_marginality_agrees_with_the_definition(case):
    taxonomy, values, others = case
    x, y = om.statistics.Sample.of(values, taxonomy), om.statistics.Sample.of(others, taxonomy)
    matrix = taxonomy.distances(values)
    np.testing.assert_allclose(om.statistics.marginality(x), matrix.sum(axis=1), atol=1e-12)
    assert om.statistics.nominal_variance(x) == pytest.approx(matrix.sum() / len(values))
    assert matrix[values.index(om.statistics.nominal_mean(x))].sum() == pytest.approx(
        matrix.sum(axis=1).min()
    )
    products = om.statistics.marginality(x) * om.statistics.marginality(y)
    assert om.statistics.nominal_covariance(x, y) == pytest.approx(
        np.sqrt(products).sum() / len(values)
    )


@pytest.mark.parametrize("measure", [measure.name for measure in om.knowledge.measures()])
@given(attribute=random_attribute())
@settings(max_examples=30)
def test_semantic_mean_is_the_nearest_of_the_whole_subtree(measure, attribute):
    parents, values = attribute
    taxonomy = om.Taxonomy.from_parents(parents)
    inside = taxonomy.subtree(taxonomy.lcs(values))
    sample = om.statistics.Sample.of(values, taxonomy, measure)
    numbers = taxonomy.indices_of(inside)
    sums = sample.space.between(numbers, taxonomy.indices_of(values)).sum(axis=1)
    mean = om.statistics.semantic_mean(sample)
    assert sums[inside.index(mean)] == pytest.approx(sums.min(), abs=1e-9)


@given(random_parents())
@settings(max_examples=20)
def test_s_distance_by_hand(parents):
    taxonomy = om.Taxonomy.from_parents(parents)
    values = sorted(parents)
    sample = om.statistics.Sample.of(values, taxonomy)
    numbers = list(range(len(values)))
    constant = [7.0] * len(values)
    spread = np.var(numbers, ddof=1)
    expected = np.sqrt(
        taxonomy.distances(values)[0, -1] / om.statistics.nominal_variance(sample)
        + (numbers[0] - numbers[-1]) ** 2 / 2 / spread
    )
    assert om.statistics.s_distance([sample, numbers, constant], 0, -1) == pytest.approx(expected)


def test_a_million_records_cost_as_much_as_their_contingency_table(icd9):
    generator = np.random.default_rng(1)
    concepts = generator.choice(len(icd9), 300, replace=False).astype(np.int32)
    x, y = (
        om.statistics.Sample.from_numbers(generator.choice(concepts, 1_000_000), icd9)
        for _ in range(2)
    )
    assert 0 <= om.statistics.semantic_correlation(x, y) < 0.1


def test_columns_of_different_length_are_refused(icd9):
    one, two = (
        om.statistics.Sample.of(["250.00"], icd9),
        om.statistics.Sample.of(["250.00", "401.9"], icd9),
    )
    for function in (om.statistics.nominal_covariance, om.statistics.semantic_covariance):
        with pytest.raises(om.errors.ParameterError, match="same records, but one has 1"):
            function(one, two)


def test_missing_values_in_a_sample_are_refused(icd9):
    with pytest.raises(om.errors.ParameterError, match="holds 1 missing values"):
        om.statistics.Sample.of(["250.00", None], icd9)


@given(st.floats(-1e9, 1e9), st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=8))
def test_equal_numbers_have_no_variance_whatever_they_weigh(number, weights):
    numbers, counts = np.full(len(weights), number), np.ones(len(weights))
    assert moments.variance(numbers, counts, np.array(weights)) == 0.0
    assert moments.mean(numbers, np.array(weights)) == number
