"""Which statistics survive: means, variances, covariances, correlations, whole and in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ontomask.arrays import Bools, Floats, Ints
from ontomask.evaluation.pairing import Paired, PairedColumn
from ontomask.semantics.dependence import semantic_correlation, semantic_mean, semantic_variance
from ontomask.semantics.marginality import nominal_covariance, nominal_variance
from ontomask.semantics.moments import covariances, mean, variance
from ontomask.semantics.sample import Sample

__all__ = ["DEFINITIONS", "Statistic", "measure_statistics"]

DEFINITIONS = {
    "mean": "arithmetic mean of the known numbers",
    "variance": "sample variance of the known numbers",
    "marginality variance": "mean marginality of a nominal column",
    "semantic mean": "the concept nearest to all values; its shift is a semantic distance",
    "semantic variance": "distance variance sdVar of a nominal column",
    "covariance": "sample covariance of two numeric columns",
    "correlation": "Pearson correlation of two numeric columns",
    "marginality covariance": "mean of sqrt(m(x) m(y)) of two nominal columns",
    "semantic correlation": "distance correlation sdCor of two nominal columns",
    "variation": "(masked - original) / original",
    "subdomain variation": "mean absolute variation over random subsamples",
}


@dataclass(frozen=True)
class Statistic:
    """One statistic before and after; `variation` is relative, None where the original is 0."""

    name: str
    columns: tuple[str, ...]
    original: float | str
    masked: float | str
    difference: float
    variation: float | None
    subdomain_variation: float | None = None


Measured = dict[tuple[str, tuple[str, ...]], tuple[float, float]]


def measure_statistics(
    paired: Paired,
    columns: Sequence[str] | None = None,
    *,
    subdomains: int = 0,
    fraction: float = 0.1,
    seed: int = 0,
) -> tuple[Statistic, ...]:
    """Compare the statistics of some columns, on the whole and on random subsamples."""
    chosen = [one for one in paired.chosen(columns) if one.is_numeric or one.space is not None]
    whole = _measured(chosen)
    parts = _variations(chosen, len(paired), subdomains, fraction, seed)
    means = [_mean_shift(one) for one in chosen if one.space is not None]
    return (
        *(
            _statistic(name, names, original, masked, parts.get((name, names)))
            for (name, names), (original, masked) in whole.items()
        ),
        *(shift for shift in means if shift is not None),
    )


def _statistic(
    name: str, names: tuple[str, ...], original: float, masked: float, part: float | None
) -> Statistic:
    return Statistic(
        name, names, original, masked, masked - original, _variation(original, masked), part
    )


def _variation(original: float, masked: float) -> float | None:
    return (masked - original) / original if original else None


def _measured(columns: list[PairedColumn]) -> Measured:
    """Every statistic, before and after."""
    found: Measured = {}
    for one in columns:
        if one.is_numeric:
            if not _any_known(one):
                continue
            pairs = zip(_moments(one, "old"), _moments(one, "new"), strict=True)
            for name, both in zip(("mean", "variance"), pairs, strict=True):
                found[name, (one.name,)] = both
        elif (pair := _samples(one)) is not None:
            for name, measure in _NOMINAL.items():
                found[name, (one.name,)] = (measure(pair[0]), measure(pair[1]))
    for first, second in combinations(columns, 2):
        found |= _of_pair(first, second)
    return found


def _any_known(one: PairedColumn) -> bool:
    """Whether any number is left in a column, before and after: else there is nothing to say."""
    assert one.old_numbers is not None
    assert one.new_numbers is not None
    return not (np.isnan(one.old_numbers).all() or np.isnan(one.new_numbers).all())


def _of_pair(first: PairedColumn, second: PairedColumn) -> Measured:
    names = (first.name, second.name)
    if first.is_numeric and second.is_numeric:
        if not (_any_known(first) and _any_known(second)):
            return {}
        before, after = (_numbers_of_pair(first, second, which) for which in ("old", "new"))
        return {
            ("covariance", names): (before[0], after[0]),
            ("correlation", names): (before[1], after[1]),
        }
    if first.is_numeric or second.is_numeric:
        return {}
    pairs = _joint_samples(first, second)
    if pairs is None:
        return {}
    (x, y), (masked_x, masked_y) = pairs
    return {
        ("marginality covariance", names): (
            nominal_covariance(x, y),
            nominal_covariance(masked_x, masked_y),
        ),
        ("semantic correlation", names): (
            semantic_correlation(x, y),
            semantic_correlation(masked_x, masked_y),
        ),
    }


def _numbers_of_pair(first: PairedColumn, second: PairedColumn, which: str) -> tuple[float, float]:
    """Covariance and correlation over the records that have both numbers."""
    table = np.array([_numbers(first, which), _numbers(second, which)])
    known = ~np.isnan(table).any(axis=0)
    (one, both), (_, other) = covariances(table[:, known], *first.amounts.part(known))
    spread = float(np.sqrt(one * other))
    return float(both), float(both) / spread if spread > 0.0 else 0.0


def _numbers(one: PairedColumn, which: str) -> Floats:
    numbers = one.old_numbers if which == "old" else one.new_numbers
    assert numbers is not None
    return numbers


def _moments(one: PairedColumn, which: str) -> tuple[float, float]:
    """Mean and variance of the known numbers."""
    known = ~np.isnan(_numbers(one, which))
    numbers, amounts = _numbers(one, which)[known], one.amounts.part(known)
    return mean(numbers, amounts.weights), variance(numbers, *amounts)


def _sample(one: PairedColumn, codes: Ints, known: Bools) -> Sample:
    assert one.space is not None
    assert one.concepts is not None
    used, places = np.unique(codes[known], return_inverse=True)
    matrix, weights = one.table[np.ix_(used, used)], one.amounts.weights[known]
    return Sample.with_matrix(one.space, one.concepts[used], places, matrix, weights)


def _samples(one: PairedColumn) -> tuple[Sample, Sample] | None:
    before, after = one.old < one.size, one.new < one.size
    if not before.any() or not after.any():
        return None
    return _sample(one, one.old, before), _sample(one, one.new, after)


def _joint_samples(
    first: PairedColumn, second: PairedColumn
) -> tuple[tuple[Sample, Sample], tuple[Sample, Sample]] | None:
    """Samples of the records that have both values, before and after."""
    pairs = []
    for which in ("old", "new"):
        one, other = getattr(first, which), getattr(second, which)
        known = (one < first.size) & (other < second.size)
        if not known.any():
            return None
        pairs.append((_sample(first, one, known), _sample(second, other, known)))
    return pairs[0], pairs[1]


def _mean_shift(one: PairedColumn) -> Statistic | None:
    pair = _samples(one)
    if pair is None or one.space is None:
        return None
    before, after = semantic_mean(pair[0]), semantic_mean(pair[1])
    numbers = one.space.taxonomy.indices_of([before, after])
    shift = one.distances.between(numbers[:1], numbers[1:]).item()
    return Statistic("semantic mean", (one.name,), before, after, shift, None)


def _variations(
    columns: list[PairedColumn], count: int, subdomains: int, fraction: float, seed: int
) -> dict[tuple[str, tuple[str, ...]], float]:
    """Mean absolute variation of each statistic over random subsamples."""
    generator = np.random.default_rng(seed)
    size = max(2, round(count * fraction))
    collected: dict[tuple[str, tuple[str, ...]], list[float]] = {}
    for _ in range(subdomains):
        rows = generator.choice(count, min(size, count), replace=False)
        part = [one.part(rows) for one in columns]
        for key, (original, masked) in _measured(part).items():
            variation = _variation(original, masked)
            if variation is not None:
                collected.setdefault(key, []).append(abs(variation))
    return {key: float(np.mean(values)) for key, values in collected.items()}


_NOMINAL: dict[str, Callable[[Sample], float]] = {
    "marginality variance": nominal_variance,
    "semantic variance": semantic_variance,
}
