"""Eigenvectors, roots and solutions, against the library of linear algebra."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontomask.decompositions import eigenvectors, lower_root, solved

generator = np.random.default_rng(8)


def covariance(size):
    rows = generator.normal(size=(size, 2 * size)) * 10.0 ** generator.uniform(-2, 2, (size, 1))
    return rows @ rows.T


def assert_decomposed(matrix):
    values, vectors = eigenvectors(matrix)
    scale = max(np.abs(matrix).max(initial=0.0), 1e-300)
    assert np.array_equal(values, np.sort(values))
    np.testing.assert_allclose(values / scale, np.linalg.eigvalsh(matrix) / scale, atol=1e-13)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(matrix)), atol=1e-12)
    np.testing.assert_allclose((vectors * values) @ vectors.T / scale, matrix / scale, atol=1e-13)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 30])
def test_eigenvectors_are_those_of_the_matrix(size):
    assert_decomposed(covariance(size))
    indefinite = generator.normal(size=(size, size))
    assert_decomposed(indefinite + indefinite.T)


@pytest.mark.parametrize(
    "matrix",
    [
        *(np.zeros((3, 3)), np.ones((5, 5)), np.diag([3.0, 1.0, 2.0]), np.eye(4) * 1e-200),
        *(np.array([[0.0, 1.0], [1.0, 0.0]]), np.full((2, 2), 1e150), np.diag([1e300, 1e-300])),
        np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 4e-252], [0.0, 4e-252, 1.0]]),
    ],
)
def test_degenerate_matrices(matrix):
    assert_decomposed(matrix)


@given(st.lists(st.floats(-1e3, 1e3), min_size=9, max_size=9))
def test_any_symmetric_matrix_is_decomposed(numbers):
    matrix = np.array(numbers).reshape(3, 3)
    assert_decomposed((matrix + matrix.T) / 2.0)


def test_a_matrix_without_columns_has_none():
    values, vectors = eigenvectors(np.empty((0, 0)))
    assert values.size == vectors.size == 0


@pytest.mark.parametrize("size", [1, 2, 6, 20])
def test_roots_and_solutions(size):
    matrix, right = covariance(size), generator.normal(size=(size, 3))
    np.testing.assert_allclose(lower_root(matrix), np.linalg.cholesky(matrix), rtol=1e-9)
    np.testing.assert_allclose(matrix @ solved(matrix, right), right, atol=1e-8)
    assert solved(np.empty((0, 0)), np.empty((0, 2))).shape == (0, 2)
