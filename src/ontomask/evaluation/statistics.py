"""Which statistics survive: means, variances, covariances, correlations, whole and in parts."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.brevity import Brief
from ontomask.evaluation.pairing import Paired, PairedColumn, are_many
from ontomask.evaluation.sides import CodedSides, NumberSides
from ontomask.kernels.blocks import side_by_side
from ontomask.memory import LARGEST_TABLE
from ontomask.remembering import remembered
from ontomask.semantics.dependence import semantic_correlation, semantic_variance
from ontomask.semantics.marginality import nominal_covariance, nominal_variance
from ontomask.semantics.moments import covariances, mean, variance
from ontomask.semantics.sample import Summing, Values

__all__ = ["DEFINITIONS", "LARGEST_SAMPLE", "Statistic", "measure_statistics", "related"]

MOST_COLUMNS = 40
"""So many columns are compared two by two unless others are named."""

LARGEST_SAMPLE = 1000
"""Columns with more different values than this are compared on so many records."""

NUMERIC = ("covariance", "correlation")
NOMINAL = ("marginality covariance", "semantic correlation")
OTHER = ("distance correlation",)
"""What is measured of two columns, by their kinds."""

MOST_CONCEPTS = math.isqrt(LARGEST_TABLE)
"""So are two nominal columns with more different values than this."""

DEFINITIONS = {
    "mean": "arithmetic mean of the known numbers; what stands for several counts as their mean",
    "variance": "sample variance of the known numbers",
    "marginality variance": "mean marginality of a nominal column",
    "semantic mean": "the concept nearest to all values; its shift is a semantic distance",
    "semantic variance": "distance variance sdVar of a nominal column",
    "covariance": "sample covariance of two numeric columns",
    "correlation": "Pearson correlation of two numeric columns",
    "marginality covariance": "mean of sqrt(m(x) m(y)) of two nominal columns",
    "semantic correlation": "distance correlation sdCor of two nominal columns; it and the "
    f"covariance above, of columns with more than {MOST_CONCEPTS:,} different values, on "
    f"{LARGEST_SAMPLE:,} records, evenly spread over the table",
    "distance correlation": "distance correlation of two columns of other or different kinds: "
    "semantic distances, differences of numbers and ranks, equal or not; of columns with more than "
    f"{LARGEST_SAMPLE} different values on as many records, evenly spread over the table",
    "variation": "(masked - original) / original",
    "subdomain variation": "mean absolute variation over random subsamples",
}


@dataclass(frozen=True)
class Statistic(Brief):
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
    pairs: Sequence[str] | None = None,
    subdomains: int = 0,
    fraction: float = 0.1,
    seed: int = 0,
) -> tuple[Statistic, ...]:
    """Compare the statistics of some columns, on the whole and on random subsamples.

    By default those of single columns are of the ones that masking is about, those of two columns
    of all that are published, or of some where they are many; `pairs` names the columns of the
    latter.
    """
    single = paired.chosen(columns)
    every = columns if columns is not None else related(paired)
    chosen = paired.chosen(every if pairs is None else pairs)
    whole = _measured_all(single, chosen)
    parts = _variations(single, len(paired), subdomains, fraction, seed)
    means = [_mean_shift(one) for one in single]
    return (
        *(
            _statistic(name, names, original, masked, parts.get((name, names)))
            for (name, names), (original, masked) in whole.items()
        ),
        *(shift for shift in means if shift is not None),
    )


def related(paired: Paired) -> list[str]:
    """The columns that are compared two by two: those that masking is about come first.

    Their pairs are many: of 2,000 columns, two million.
    """
    masked = [one.name for one in paired.chosen(None)]
    first = dict.fromkeys([*masked, *paired.columns])
    kept = set(list(first)[:MOST_COLUMNS])
    return [name for name in paired.columns if name in kept]


def _statistic(
    name: str, names: tuple[str, ...], original: float, masked: float, part: float | None
) -> Statistic:
    return Statistic(
        name, names, original, masked, masked - original, _variation(original, masked), part
    )


def _variation(original: float, masked: float) -> float | None:
    return (masked - original) / original if original else None


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
        for key, (original, masked) in _measured_all(part, part).items():
            variation = _variation(original, masked)
            if variation is not None:
                collected.setdefault(key, []).append(abs(variation))
    return {key: float(np.mean(values)) for key, values in collected.items()}


# Single columns -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Column:
    """A column on one side of the masking.

    Attributes
    ----------
    codes, known
        The code of each record, and whether it tells anything.
    numbers
        The numbers of a numeric column by code.
    apart
        The distances between codes of any other.
    summed
        What tells, where it can, weighted sums of distances (`Values.summed`).
    held
        Whether its distances may be held in memory.
    whole
        The values of all known records, and of some of them.
    """

    codes: Ints
    known: Bools
    numbers: Floats | None
    apart: Callable[[Longs, Longs], Floats] | None
    summed: Summing | None = None
    held: bool = True
    whole: dict[bool, Values] = field(default_factory=dict)

    def values(self, rows: Bools, weights: Floats, *, sampled: bool = False) -> Values:
        """The values of some records, all of them known, with their distances.

        Those of all known records are made once, however many columns they are compared with.
        """
        if np.count_nonzero(rows) != self.count:
            return self._values(rows, weights, sampled)
        if sampled not in self.whole:
            self.whole[sampled] = self._values(rows, weights, sampled)
        return self.whole[sampled]

    @remembered
    def count(self) -> int:
        """How many records are known."""
        return int(np.count_nonzero(self.known))

    def _values(self, rows: Bools, weights: Floats, sampled: bool) -> Values:
        chosen = _spread_out(np.flatnonzero(rows)) if sampled else rows
        codes = self.codes[chosen]
        occurs = np.bincount(codes) > 0
        used, places = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]
        apart = self.apart or self._differences
        return Values(apart, used, places, weights[chosen], self.held, self.summed)

    def _differences(self, first: Longs, second: Longs) -> Floats:
        assert self.numbers is not None
        apart: Floats = np.abs(np.subtract.outer(self.numbers[first], self.numbers[second]))
        return apart

    @remembered
    def distinct(self) -> int:
        """How many different values are known."""
        return int(np.count_nonzero(np.bincount(self.codes[self.known])))


def _before(column: PairedColumn) -> _Column:
    known: Bools = column.old < column.sides.size
    if isinstance(column.sides, NumberSides):
        return _Column(column.old, known, column.sides.numbers, None)
    sides = column.sides
    return _Column(column.old, known, None, sides.originals_apart, sides.originals_summed)


def _after(column: PairedColumn) -> _Column:
    known: Bools = ~column.sides.tells_nothing[column.new]
    if isinstance(column.sides, NumberSides):
        return _Column(column.new, known, column.sides.expected, None)
    sides = column.sides
    return _Column(column.new, known, None, sides.released_apart, sides.released_summed)


def _sides(column: PairedColumn) -> tuple[_Column, _Column]:
    """Both sides of a column; what masking left alone is the same, and is measured once."""
    before = _before(column)
    same = column.hidden is None and not column.changed.any()
    return before, before if same else _after(column)


def _space(column: PairedColumn) -> bool:
    """Whether values are concepts."""
    sides = column.sides
    return isinstance(sides, CodedSides) and sides.distances.space is not None


def _measured_all(single: list[PairedColumn], pairs: list[PairedColumn]) -> Measured:
    """Every statistic of single columns, and of pairs of others, before and after.

    What is known of a column is found once, side by side with others.
    """
    sides = {one.name: _sides(one) for one in single}
    sides |= _held(pairs, [sides.get(one.name) or _sides(one) for one in pairs])
    chosen = [sides[one.name] for one in single]
    found = side_by_side(_measured, single, chosen, shares=are_many(single))
    whole = {key: both for one in found for key, both in one.items()}
    return whole | _measured_pairs(pairs, sides)


def _measured(column: PairedColumn, sides: tuple[_Column, _Column]) -> Measured:
    """Every statistic of a single column, before and after."""
    names = (column.name,)
    if not all(side.known.any() for side in sides):
        return {}
    if column.is_numeric:
        both = zip(*(_moments(side, column) for side in sides), strict=True)
        return {(name, names): one for name, one in zip(("mean", "variance"), both, strict=True)}
    if not _space(column):
        return {}
    samples = [side.values(side.known, column.amounts.weights) for side in sides]
    return {
        (name, names): (measure(samples[0]), measure(samples[1]))
        for name, measure in _NOMINAL.items()
    }


def _moments(side: _Column, column: PairedColumn) -> tuple[float, float]:
    """Mean and variance of the known numbers."""
    assert side.numbers is not None
    numbers, amounts = side.numbers[side.codes[side.known]], column.amounts.part(side.known)
    return mean(numbers, amounts.weights), variance(numbers, *amounts)


def _mean_shift(column: PairedColumn) -> Statistic | None:
    """The semantic mean; what stands for several counts as they do."""
    sides, known = column.sides, column.old < column.sides.size
    told = ~column.sides.tells_nothing[column.new]
    if not isinstance(sides, CodedSides) or sides.distances.space is None:
        return None
    if not known.any() or not told.any():
        return None
    taxonomy = sides.distances.space.taxonomy
    released = sides.released_center(column.new, column.amounts.weights)
    numbers = np.array([sides.center, released])
    before, after = taxonomy.ids_of(numbers.tolist())
    shift = sides.distances.between(numbers[:1], numbers[1:]).item()
    return Statistic("semantic mean", (column.name,), before, after, shift, None)


_NOMINAL: dict[str, Callable[[Values], float]] = {
    "marginality variance": nominal_variance,
    "semantic variance": semantic_variance,
}


# Pairs of columns -----------------------------------------------------------------------------


def _measured_pairs(
    columns: list[PairedColumn], known: Mapping[str, tuple[_Column, _Column]]
) -> Measured:
    """Every statistic of two columns, before and after."""
    found: Measured = {}
    sides = [known[column.name] for column in columns]
    distinct = [max(side.distinct for side in both) for both in sides]
    for first, second in combinations(range(len(columns)), 2):
        pair = columns[first], columns[second]
        both = list(zip(sides[first], sides[second], strict=True))
        if not all((one.known & other.known).any() for one, other in both):
            continue
        nominal = _space(pair[0]) and _space(pair[1])
        most = MOST_CONCEPTS if nominal else LARGEST_SAMPLE
        large = max(distinct[first], distinct[second]) > most
        names = pair[0].name, pair[1].name
        for name, values in _of_pair(pair, both, large=large).items():
            found[name, names] = values
    return found


def _held(
    columns: list[PairedColumn], sides: list[tuple[_Column, _Column]]
) -> dict[str, tuple[_Column, _Column]]:
    """The sides of columns, of which as many hold their distances as may be held."""
    limits = [MOST_CONCEPTS if _space(column) else LARGEST_SAMPLE for column in columns]
    values = [
        min(max(side.distinct for side in both), limit)
        for both, limit in zip(sides, limits, strict=True)
    ]
    order = sorted(range(len(sides)), key=values.__getitem__)
    room = dict(zip(order, np.cumsum([2 * values[place] ** 2 for place in order]), strict=True))
    return {
        column.name: sides[place] if room[place] <= LARGEST_TABLE else _unheld(*sides[place])
        for place, column in enumerate(columns)
    }


def _unheld(before: _Column, after: _Column) -> tuple[_Column, _Column]:
    one = replace(before, held=False)
    return one, one if after is before else replace(after, held=False)


def _of_pair(
    pair: tuple[PairedColumn, PairedColumn], sides: list[tuple[_Column, _Column]], *, large: bool
) -> dict[str, tuple[float, float]]:
    """The statistics of two columns that suit their kinds."""
    first, second = pair
    nominal = _space(first) and _space(second)
    numeric = first.is_numeric and second.is_numeric
    names = NUMERIC if numeric else NOMINAL if nominal else OTHER
    found: list[tuple[float, ...]] = []
    for both in _different(sides):
        if numeric:
            found.append(_numbers_of_pair(*both, first))
        else:
            weights = first.amounts.weights
            found.append(_values_of_pair(*both, weights, large=large, nominal=nominal))
    return {name: (found[0][place], found[-1][place]) for place, name in enumerate(names)}


def _different(sides: list[tuple[_Column, _Column]]) -> list[tuple[_Column, _Column]]:
    """The sides of two columns, once where masking left both alone."""
    before, after = sides
    return [before] if all(map(operator.is_, before, after)) else sides


def _values_of_pair(
    first: _Column, second: _Column, weights: Floats, *, large: bool, nominal: bool
) -> tuple[float, ...]:
    """Distance correlation over the records that have both; before it, of concepts, covariance."""
    rows: Bools = first.known & second.known
    one, other = (side.values(rows, weights, sampled=large) for side in (first, second))
    correlation = semantic_correlation(one, other)
    return (nominal_covariance(one, other), correlation) if nominal else (correlation,)


def _spread_out(rows: Longs) -> Longs:
    """At most `LARGEST_SAMPLE` of some records, evenly spread over them."""
    if rows.size <= LARGEST_SAMPLE:
        return rows
    return rows[np.arange(LARGEST_SAMPLE) * rows.size // LARGEST_SAMPLE]


def _numbers_of_pair(first: _Column, second: _Column, column: PairedColumn) -> tuple[float, float]:
    """Covariance and correlation over the records that have both numbers."""
    assert first.numbers is not None
    assert second.numbers is not None
    known = first.known & second.known
    table = np.array([first.numbers[first.codes[known]], second.numbers[second.codes[known]]])
    (one, both), (_, other) = covariances(table, *column.amounts.part(known))
    spread = float(np.sqrt(one * other))
    return float(both), float(both) / spread if spread > 0.0 else 0.0
