"""Variances and covariances: those of NumPy, whatever the number of cores."""

import numpy as np
import pytest

from ontomask.semantics.moments import covariances, variance


@pytest.mark.parametrize("weighing", ["none", "counts", "both"])
@pytest.mark.parametrize("shape", [(1, 2), (1, 900), (3, 900)])
def test_covariances_are_those_of_numpy(shape, weighing):
    generator = np.random.default_rng(1)
    columns, ones = generator.normal(size=shape), np.ones(shape[1])
    counts = ones if weighing == "none" else generator.integers(1, 4, shape[1]).astype(np.float64)
    weights = counts * generator.choice([0.5, 2.5], shape[1]) if weighing == "both" else counts
    expected = np.cov(
        columns - columns[:, :1], fweights=counts.astype(np.int64), aweights=weights / counts
    )
    found = covariances(columns, counts, weights)
    np.testing.assert_allclose(found, np.atleast_2d(expected), rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_variance_does_not_depend_on_the_number_of_cores(weighted):
    limits = pytest.importorskip("threadpoolctl").threadpool_limits
    generator = np.random.default_rng(1)
    for count in (20_000, 50_001):
        numbers, ones = generator.normal(size=count), np.ones(count)
        weights = generator.random(count) if weighted else ones
        found = []
        for threads in (1, 2):
            with limits(threads):
                found.append(variance(numbers, ones, weights))
        assert found[0] == found[1]
        if not weighted:
            assert found[0] == pytest.approx(np.var(numbers, ddof=1), rel=1e-12)
