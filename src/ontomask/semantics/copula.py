"""Data shuffling through a Gaussian copula.

Muralidhar and Sarathy, "Data shuffling: a new masking approach for numerical data", Management
Science 52 (2006); nominal columns by their marginality after Domingo-Ferrer, Muralidhar and
Rufian-Torrell, "Anonymization methods for taxonomic microdata", PSD 2012.

A column is given as codes whose order is the order of its values; equal codes are ties. With the
rank correlations R of all columns, rho = 2 sin(pi R / 6) and the normal scores X*, S* of the ranks
of the confidential and of the given columns, a draw

    Y* ~ N( rho_XS rho_SS^-1 S*,  rho_XX - rho_XS rho_SS^-1 rho_SX )

is made for every record, and the i-th smallest value of a confidential column goes to the record
with the i-th smallest draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np

from ontomask.arithmetic import combined, row_products, sine
from ontomask.arrays import Floats, Ints, Longs
from ontomask.decompositions import eigenvectors, lower_root, solved

__all__ = [
    "broken_ranks",
    "conditional",
    "gaussian_correlation",
    "mid_ranks",
    "nearest_correlation",
    "normal_scores",
    "rank_correlation",
    "shuffled",
]

SMALLEST_EIGENVALUE = 1e-8
ROUNDS = 500


def shuffled(
    confidential: Sequence[Longs | Ints],
    given: Sequence[Longs | Ints],
    generator: np.random.Generator,
    passed: Callable[[float], None] = lambda _share: None,
) -> list[Longs]:
    """Shuffle the codes of the confidential columns, given the others.

    Every column keeps exactly its codes. Rank correlations among the confidential columns and with
    the given ones are kept up to sampling error; without given columns the result is independent
    of the original. `passed` is told now and then which share of the work is done.
    """
    works = 1 + len(given) + len(confidential)
    rho = nearest_correlation(gaussian_correlation(rank_correlation([*confidential, *given])))
    coefficients, spread = conditional(rho, len(confidential))
    draws = generator.standard_normal((len(confidential), confidential[0].size))
    scores = combined(spread, draws)
    quantiles = normal_scores(confidential[0].size) if given else np.empty(0)
    for done, (column, weights) in enumerate(zip(given, coefficients.T, strict=True), start=1):
        passed(done / works)
        scores += np.outer(weights, quantiles[broken_ranks(column, generator)])
    result = []
    for done, (codes, row) in enumerate(zip(confidential, scores, strict=True), 1 + len(given)):
        passed(done / works)
        result.append(_reversed(codes, row))
    return result


def _reversed(codes: Longs | Ints, scores: Floats) -> Longs:
    """Give the i-th smallest code to the record with the i-th smallest score."""
    result = np.empty(codes.size, np.int64)
    result[np.argsort(scores, kind="stable")] = np.sort(codes)
    return result


def mid_ranks(codes: Longs | Ints) -> Floats:
    """Ranks from 0, tied records sharing the mean of their ranks."""
    counts = np.bincount(codes)
    ranks: Floats = (np.cumsum(counts) - (counts + 1) / 2.0)[codes]
    return ranks


def broken_ranks(codes: Longs | Ints, generator: np.random.Generator) -> Longs:
    """Ranks from 0, ties broken at random."""
    order = generator.permutation(codes.size)
    order = order[np.argsort(codes[order], kind="stable")]
    ranks = np.empty(codes.size, np.int64)
    ranks[order] = np.arange(codes.size)
    return ranks


def normal_scores(count: int) -> Floats:
    """The quantiles of the normal distribution at (rank + 1/2) / n, for all ranks."""
    lower = (np.arange((count + 1) // 2) + 0.5) / count
    scores: Floats = np.fromiter(map(NormalDist().inv_cdf, lower.tolist()), np.float64, lower.size)
    return np.concatenate([scores, -scores[: count // 2][::-1]])


def rank_correlation(columns: Sequence[Longs | Ints]) -> Floats:
    """Spearman's correlations; those of a column with one value are 0."""
    ranks = np.stack([mid_ranks(codes) for codes in columns])
    ranks -= ranks.mean(axis=1, keepdims=True)
    sizes = np.sqrt((ranks**2).sum(axis=1))
    scaled = ranks / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    result = row_products(scaled, scaled)
    np.fill_diagonal(result, 1.0)
    return result


def gaussian_correlation(rank_correlations: Floats) -> Floats:
    """The correlation of the normal variables behind rank correlations: 2 sin(pi R / 6)."""
    return 2.0 * sine(np.pi / 6.0 * rank_correlations)


def nearest_correlation(matrix: Floats) -> Floats:
    """The matrix itself if it is positive definite, else the nearest correlation matrix that is.

    Alternating projections with Dykstra's correction: Higham, "Computing the nearest correlation
    matrix", IMA Journal of Numerical Analysis 22 (2002).
    """
    if eigenvectors(matrix)[0][0] >= SMALLEST_EIGENVALUE:
        return matrix
    found, correction = matrix.copy(), np.zeros_like(matrix)
    for _ in range(ROUNDS):
        held = found - correction
        projected = _positive(held)
        correction = projected - held
        previous, found = found, projected.copy()
        np.fill_diagonal(found, 1.0)
        if np.abs(found - previous).max() < 1e-12:
            break
    return _unit_diagonal(_positive(found))


def _positive(matrix: Floats) -> Floats:
    """The nearest matrix whose eigenvalues are not below the smallest one allowed."""
    values, vectors = eigenvectors(matrix)
    return combined(vectors * np.maximum(values, 2.0 * SMALLEST_EIGENVALUE), vectors.T)


def _unit_diagonal(matrix: Floats) -> Floats:
    scale = np.sqrt(np.diag(matrix))
    return np.asarray(matrix / np.outer(scale, scale), np.float64)


def conditional(rho: Floats, count: int) -> tuple[Floats, Floats]:
    """The coefficients of the given columns, and a root of the covariance that they leave.

    The first `count` rows of `rho` are the confidential columns.
    """
    across = rho[:count, count:]
    coefficients = solved(rho[count:, count:], across.T).T
    rest = rho[:count, :count] - combined(coefficients, across.T)
    return coefficients, lower_root(_positive((rest + rest.T) / 2.0))
