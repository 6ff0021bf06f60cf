"""Marginality: how far a value lies from the rest of its sample, and the statistics built on it.

Domingo-Ferrer, Sánchez and Rufian-Torrell, "Anonymization of nominal data based on semantic
marginality", Information Sciences 242 (2013).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ontomask.arithmetic import summed_products
from ontomask.arrays import Floats
from ontomask.kernels.centroids import first_least
from ontomask.semantics.sample import Compared, Sample, check_same_records

__all__ = [
    "marginality",
    "nominal_covariance",
    "nominal_mean",
    "nominal_variance",
    "s_distance",
    "value_marginality",
]


def value_marginality(sample: Compared) -> Floats:
    """Marginality of each distinct concept of the sample: the matrix D times the frequencies."""
    return sample.sums


def marginality(sample: Compared) -> Floats:
    """Marginality of each record: m(x_j) = sum over the other records l of sd(x_j, x_l).

    Examples
    --------
    >>> pets = om.Taxonomy.from_parents({"pet": [], "cat": ["pet"], "dog": ["pet"]})
    >>> sample = om.statistics.Sample.of(["cat", "dog", "dog"], pets, measure="path")
    >>> om.statistics.marginality(sample).tolist()
    [4.0, 2.0, 2.0]
    """
    return value_marginality(sample)[sample.codes]


def nominal_mean(sample: Sample) -> str:
    """The value of the sample with least marginality; ties, up to rounding, by depth, then id.

    Examples
    --------
    >>> pets = om.Taxonomy.from_parents({"pet": [], "cat": ["pet"], "dog": ["pet"]})
    >>> om.statistics.nominal_mean(om.statistics.Sample.of(["cat", "dog", "dog"], pets))
    'dog'
    """
    first = first_least(value_marginality(sample), sample.total)
    return sample.taxonomy.ids[int(sample.concepts[first])]


def nominal_variance(sample: Compared) -> float:
    """Mean marginality of the records: sum of m(x_j) / n.

    Examples
    --------
    >>> pets = om.Taxonomy.from_parents({"pet": [], "cat": ["pet"], "dog": ["pet"]})
    >>> sample = om.statistics.Sample.of(["cat", "dog", "dog"], pets, measure="path")
    >>> round(om.statistics.nominal_variance(sample), 3)
    2.667
    """
    return summed_products(value_marginality(sample), sample.counts) / sample.total


def nominal_covariance(first: Compared, second: Compared) -> float:
    """Sum of sqrt(m(x_j) m(y_j)) / n over the records of two attributes.

    Examples
    --------
    >>> pets = om.Taxonomy.from_parents({"pet": [], "cat": ["pet"], "dog": ["pet"]})
    >>> first = om.statistics.Sample.of(["cat", "dog", "dog"], pets, measure="path")
    >>> second = om.statistics.Sample.of(["dog", "cat", "cat"], pets, measure="path")
    >>> round(om.statistics.nominal_covariance(first, second), 3)
    2.667
    """
    check_same_records(first, second)
    products = np.sqrt(marginality(first) * marginality(second))
    return float(np.average(products, weights=first.weights))


def s_distance(attributes: Sequence[Sample | Sequence[float]], one: int, other: int) -> float:
    """S-distance of two records of a table, given by their positions.

    sqrt(sum over attributes of var(pair) / var(data)). A nominal attribute is a `Sample`, with
    var(pair) = sd(x1, x2) and var(data) its marginality variance; a numeric or ordinal one is a
    sequence of numbers, with var(pair) = (x1 - x2)^2 / 2 and var(data) the sample variance. A
    constant attribute contributes nothing.

    Examples
    --------
    >>> pets = om.Taxonomy.from_parents({"pet": [], "cat": ["pet"], "dog": ["pet"]})
    >>> pet = om.statistics.Sample.of(["cat", "dog", "dog"], pets)
    >>> age = [34.0, 36.0, 71.0]
    >>> [round(om.statistics.s_distance([pet, age], one, one + 1), 2) for one in (0, 1)]
    [0.87, 1.19]
    """
    total = 0.0
    for attribute in attributes:
        if isinstance(attribute, Sample):
            pair = float(attribute.matrix[attribute.codes[one], attribute.codes[other]])
            spread = nominal_variance(attribute)
        else:
            numbers = np.asarray(attribute, np.float64)
            pair = float(numbers[one] - numbers[other]) ** 2 / 2.0
            spread = float(numbers.var(ddof=1)) if numbers.size > 1 else 0.0
        total += pair / spread if spread > 0.0 else 0.0
    return float(np.sqrt(total))
