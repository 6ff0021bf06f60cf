"""Semantic mean, and distance covariance and correlation of nominal attributes.

Rodriguez-Garcia, Batet and Sánchez, "Utility-preserving privacy protection of nominal data sets
via semantic rank swapping", Information Fusion 45 (2019); distance covariance after Székely, Rizzo
and Bakirov (2007).
"""

from __future__ import annotations

import numpy as np

from ontomask.arithmetic import summed_products
from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.centroids import first_least
from ontomask.kernels.products import summed_rows, total_of_product, turned_product
from ontomask.memory import row_blocks
from ontomask.semantics.distances import ValueDistances
from ontomask.semantics.sample import Compared, Sample, check_same_records
from ontomask.sparse import SparseRows

__all__ = ["semantic_correlation", "semantic_covariance", "semantic_mean", "semantic_variance"]


def semantic_mean(sample: Sample) -> str:
    """The concept of the attribute's taxonomy with the least sum of distances to the records.

    The attribute's taxonomy is the subtree of the values' LCS. Ties by depth, then id; sums that
    differ by rounding alone are ties.

    Examples
    --------
    >>> pets = om.Taxonomy.from_parents({"pet": [], "dog": ["pet"], "pug": ["dog"], "lab": ["dog"]})
    >>> sample = om.statistics.Sample.of(["pug", "lab", "dog"], pets, measure="path")
    >>> om.statistics.semantic_mean(sample)
    'dog'
    """
    candidates = _candidates(sample)
    return sample.taxonomy.ids[
        int(candidates[first_least(_sums_from(candidates, sample), sample.total)])
    ]


def _sums_from(candidates: Ints, sample: Sample) -> Floats:
    """For each of some concepts the sum of its distances to all records."""
    both = candidates.astype(np.int64), sample.concepts.astype(np.int64)
    told = ValueDistances(sample.space).summed(*both, sample.counts)
    if told is not None:
        return told
    sums = [
        summed_rows(sample.space.between(candidates[block], sample.concepts), sample.counts)
        for block in row_blocks(candidates.size, sample.distinct)
    ]
    return np.concatenate(sums)


def _candidates(sample: Sample) -> Ints:
    """The concepts that can be nearest: not the whole subtree, where that is safe.

    A concept outside the minimum hierarchy with a single parent shares with the values just what
    its parent shares, so under most measures it cannot be nearer; one that joins several parents
    can, and stays.
    """
    taxonomy = sample.taxonomy
    top = taxonomy.lcs_number(sample.concepts)
    inside = np.flatnonzero(taxonomy.depths_below(top))
    if not sample.space.measure.ancestors_dominate:
        return inside.astype(np.int32)
    joining = inside[np.diff(taxonomy.parent_offsets)[inside] > 1]
    return np.union1d(taxonomy.minimum_hierarchy_numbers(sample.concepts), joining).astype(np.int32)


def semantic_covariance(first: Compared, second: Compared) -> float:
    """Distance covariance: sdCov(X, Y) = sqrt(sum of the products of centered distances) / n.

    Examples
    --------
    >>> pets = om.Taxonomy.from_parents({"pet": [], "cat": ["pet"], "dog": ["pet"]})
    >>> first = om.statistics.Sample.of(["cat", "cat", "dog", "dog"], pets, measure="path")
    >>> second = om.statistics.Sample.of(["cat", "dog", "cat", "dog"], pets, measure="path")
    >>> om.statistics.semantic_covariance(first, first)
    1.0
    >>> om.statistics.semantic_covariance(first, second)
    0.0
    """
    return float(np.sqrt(max(_centered_product(first, second), 0.0)))


def semantic_variance(sample: Compared) -> float:
    """Distance variance sdVar(X) = sdCov(X, X).

    Examples
    --------
    >>> pets = om.Taxonomy.from_parents({"pet": [], "cat": ["pet"], "dog": ["pet"]})
    >>> sample = om.statistics.Sample.of(["cat", "cat", "dog"], pets, measure="path")
    >>> round(om.statistics.semantic_variance(sample), 3)
    0.889
    >>> om.statistics.semantic_variance(om.statistics.Sample.of(["cat", "cat", "cat"], pets))
    0.0
    """
    return sample.variance


def semantic_correlation(first: Compared, second: Compared) -> float:
    """Distance correlation: sdCov / sqrt(sdVar(X) sdVar(Y)), 0 if either variance is 0.

    Examples
    --------
    >>> pets = om.Taxonomy.from_parents({"pet": [], "cat": ["pet"], "dog": ["pet"]})
    >>> first = om.statistics.Sample.of(["cat", "cat", "dog", "dog"], pets)
    >>> second = om.statistics.Sample.of(["dog", "dog", "cat", "cat"], pets)
    >>> round(om.statistics.semantic_correlation(first, second), 6)
    1.0
    """
    spread = semantic_variance(first) * semantic_variance(second)
    return semantic_covariance(first, second) / float(np.sqrt(spread)) if spread > 0.0 else 0.0


def _centered_product(first: Compared, second: Compared) -> float:
    """Mean over all n^2 pairs of records of the product of the centered distances.

    With the contingency table N of the two attributes, sum_ij Dx_ij Dy_ij = sum(N * (Dx N Dy)),
    and row means are D f / n: no n x n matrix is ever built.
    """
    check_same_records(first, second)
    count = first.total
    rows, columns, cells = _contingency(first, second)
    row_means, column_means = first.means, second.means
    products = _paired_products(first.distances, second.distances, rows, columns, cells)
    means = summed_products(row_means[rows] * column_means[columns], cells)
    grands = [summed_products(one.means, one.counts) / count for one in (first, second)]
    return products / count**2 - 2.0 * means / count + grands[0] * grands[1]


def _paired_products(
    one: Floats, other: Floats, rows: Longs, columns: Longs, cells: Floats
) -> float:
    """The sum of N * (Dx N Dy), N the contingency table given by its cells that are not empty.

    It is that of Dx * (N (N Dy)'): two products with rows of few entries.
    """
    table = SparseRows.of(rows, columns, cells, (one.shape[0], other.shape[0]))
    return total_of_product(table, turned_product(table, other), one)


def _contingency(first: Compared, second: Compared) -> tuple[Longs, Longs, Floats]:
    """Row, column and frequency of the cells that are not empty."""
    width = second.distinct
    keys = first.codes * width + second.codes
    if first.distinct * width > keys.size:
        cells, keys = np.unique(keys, return_inverse=True)
    else:
        cells = np.arange(first.distinct * width)
    counts = np.bincount(keys, first.weights, cells.size).astype(np.float64)
    filled = np.flatnonzero(counts)
    return cells[filled] // width, cells[filled] % width, counts[filled]
