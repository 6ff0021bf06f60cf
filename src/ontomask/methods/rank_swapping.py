"""Rank swapping: values change places with values that are near.

The semantic variants after Rodriguez-Garcia, Batet and Sánchez, "Utility-preserving privacy
protection of nominal data sets via semantic rank swapping", Information Fusion 45 (2019).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.checks import AnyOf, Integer, ListOf, Null, Real, Text
from ontomask.data.masked import Masked
from ontomask.data.microdata import Attribute, Microdata
from ontomask.errors import MethodError, ParameterError, PromiseError
from ontomask.kernels import record_swapping as records
from ontomask.kernels import swapping as kernel
from ontomask.kernels.blocks import allowed_threads
from ontomask.kernels.concept_swapping import swap_concepts
from ontomask.kernels.record_ranks import nearer_records
from ontomask.kernels.records import Points
from ontomask.kernels.word_swapping import are_words, swap_words
from ontomask.methods.base import (
    Context,
    Measure,
    Method,
    Strata,
    record_limit,
    register,
    watched,
    watched_parts,
)
from ontomask.methods.heeding import returned
from ontomask.methods.permuting import check_no_counts, chosen_columns, permuted_column
from ontomask.methods.points import Layout, Scaled, layout_of
from ontomask.promises import Permutation
from ontomask.semantics.operators import Coded
from ontomask.wording import only

__all__ = ["VARIANTS", "RankSwapping"]

Variant = Literal["fixed", "dynamic", "multivariate", "random", "distributional"]
VARIANTS = get_args(Variant)
Pool = Literal["unswapped", "all"]
POOLS = get_args(Pool)

RECOUNTED = 10_000
"""Steps of multivariate swapping, spread over all, whose ranks are recounted from the result."""

Loop = Callable[[Callable[..., tuple[Longs, Longs]], object], tuple[Longs, Longs]]
Work = Callable[[Longs], tuple[Longs, int | None]]
"""What is left to do for a column once all is drawn: its partners and the rank of the farthest."""

"""Runs a kernel's loop over a domain."""


@register
@dataclass(frozen=True)
class RankSwapping(Method):
    """Exchange each value with that of a record drawn among the k nearest.

    Every column keeps exactly its values, so every statistic of a single column survives. The
    distance of nominal values is that of their column (the literature takes Wu and Palmer's).

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 34, 36, 52, 55, 58]})
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), om.RankSwapping(k=2), seed=1)
    >>> sorted(release.frame["age"]), release.changed["age"]
    ([31, 34, 36, 52, 55, 58], 1.0)
    """

    name: ClassVar[str] = "rank-swapping"

    k: Annotated[
        int | None,
        AnyOf(Integer(2), Null()),
        "How many records the swapping interval holds; or give `share`.",
    ] = None
    share: Annotated[
        float | None,
        AnyOf(Real(0, 1, open_low=True), Null()),
        "The interval as a share of the records.",
    ] = None
    algorithm: Annotated[
        Variant,
        "`fixed` ranks the column once by distance to its most distant value; `dynamic` ranks "
        "it anew around each value, starting at opposite ends; `multivariate` does so with "
        "whole records, which keeps columns related: each value is exchanged within the k "
        "nearest records. For comparison: `random` exchanges values without any limit, "
        "`distributional` ranks by frequency.",
    ] = "dynamic"
    pool: Annotated[
        Pool,
        "`unswapped`: the interval holds the k nearest records that are still to be swapped, "
        "so every value gets a partner while two are left. `all`: the k nearest of all "
        "records, as published; a value without a partner in its interval stays.",
    ] = "unswapped"
    columns: Annotated[
        tuple[str, ...] | list[str] | None,
        AnyOf(ListOf(Text(), empty=False), Null()),
        "The columns to mask, by default the quasi-identifiers.",
    ] = None
    measure: Measure = None
    strata: Strata = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        limited = self.algorithm != "random"
        if limited and (self.k is None) == (self.share is None):
            raise ParameterError(
                "Rank swapping needs the size of its interval: give either k (records) or "
                "share (of all records), not both."
            )
        if not limited and (self.k is not None or self.share is not None):
            raise ParameterError(
                "The algorithm 'random' exchanges values without any limit; leave k and share out."
            )

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Swap the values of the columns."""
        names = chosen_columns(self.columns, microdata)
        check_no_counts(microdata, "Rank swapping")
        k = self._interval(len(microdata))
        if self.algorithm == "multivariate":
            partners, ranks = self._swap_records(microdata, names, k, context)
        else:
            partners, ranks = self._swap_columns(microdata, names, k, context)
        found = dict(zip(names, partners, strict=True))
        if k is not None:  # without intervals there are no pairs that could exchange back
            found = returned(microdata, found)
        details: dict[str, object] = {
            "k": k,
            "farthest_rank": dict(zip(names, ranks, strict=True)),
            "stayed": {name: _stayed(one) for name, one in found.items()},
        }
        columns = {
            name: permuted_column(microdata[name], microdata[name].codes[one])
            for name, one in found.items()
        }
        return Masked(columns, (Permutation(names),), details=details)

    @property
    def _everyone(self) -> bool:
        return self.pool == "all"

    def _interval(self, count: int) -> int | None:
        """The size of the interval in records."""
        if self.share is not None:
            found = min(record_limit(self.share, count), count - 1)
            if found < 2:
                raise MethodError(
                    f"share = {self.share:g} of {count} records makes an interval of {found}; at "
                    f"least 2 are needed: choose a share of at least {2.0 / count:.3g}."
                )
            return found
        if self.k is not None and self.k >= count:
            raise MethodError(
                f"k is {self.k}, but {only(count, 'record')}; the swapping interval must be "
                f"smaller than the table: choose k of at most {count - 1}."
            )
        return self.k

    def _swap_columns(
        self, microdata: Microdata, names: Sequence[str], k: int | None, context: Context
    ) -> tuple[list[Longs], list[int | None]]:
        """Each column on its own, as many at a time as there are cores."""
        found, size = [], allowed_threads() if self.algorithm == "dynamic" else 1
        for start in range(0, len(names), size):
            some = names[start : start + size]
            part = context.part(start, len(some), len(names))
            found += self._swap_some(microdata, some, k, part)
        return [partners for partners, _ in found], [rank for _, rank in found]

    def _swap_some(
        self, microdata: Microdata, names: Sequence[str], k: int | None, context: Context
    ) -> list[tuple[Longs, int | None]]:
        """Some columns side by side; what was drawn for them is gone before the next ones."""
        # what is drawn is drawn column after column, whatever is done at a time
        works = [self._swap_column(microdata, name, k, context) for name in names]
        totals, message = [len(microdata)] * len(names), f"swapping {', '.join(names)}"
        return watched_parts(works, totals=totals, context=context, message=message)

    def _swap_column(
        self, microdata: Microdata, name: str, k: int | None, context: Context
    ) -> Work:
        attribute = microdata[name]
        if k is None:
            return _done(_random(len(microdata), context.generator), None)
        if self.algorithm == "distributional":
            counts = np.bincount(attribute.codes, minlength=attribute.cardinality)
            keys = counts.astype(np.float64)
            return _done(*_ranked(attribute.codes, keys, k, self._everyone, context))
        layout = self._layout(microdata, [name])
        column = _column(layout)
        if self.algorithm == "fixed":
            keys = column.from_value(_first(column))
            return _done(*_ranked(column.codes, keys, k, self._everyone, context))
        if isinstance(column, _Coded) and not column.operator.looked_up:
            # around every value all others would have to be sorted: the index of records needs not
            partners, ranks = self._swap_records(microdata, [name], k, context)
            return _done(partners[0], ranks[0])
        return _dynamic(column, k, self._everyone, context.generator)

    def _layout(self, microdata: Microdata, names: Sequence[str]) -> Layout:
        """How values are compared; nobody aggregates them."""
        return layout_of(
            *(microdata, names),
            operators="marginality",
            metric="mean",
            measure=self.measure,
            aggregates=False,
        )

    def _swap_records(
        self, microdata: Microdata, names: Sequence[str], k: int | None, context: Context
    ) -> tuple[list[Longs], list[int | None]]:
        """Whole records."""
        assert k is not None
        count, generator = len(microdata), context.generator
        layout = self._layout(microdata, names)
        tuples = microdata.tuples(names)
        points = layout.points(tuples)
        places = tuples.places.astype(np.int32)
        priorities = np.stack([generator.permutation(count) for _ in range(len(names) + 1)])
        uniforms = generator.random((count, 2 + 2 * len(names)))
        first = _most_distant_tuple(layout, names, tuples.codes, tuples.counts)
        work = functools.partial(_swapped, points, places, first, k, self._everyone)
        partners, references, nearer = watched(
            work, priorities, uniforms, total=count, context=context, message="swapping"
        )
        steps = np.unique(np.linspace(0, references.size - 1, RECOUNTED).astype(np.int64))
        story = points, places, partners, references
        _check_ranks(nearer[steps], nearer_records(*story, self._everyone, steps))
        order = [names.index(name) for name in _layout_names(layout)]
        placed = np.argsort(order)
        ranks = [_checked_rank(nearer[:, place], k, "records") for place in placed]
        return [partners[place] for place in placed], list(ranks)


@dataclass(frozen=True, eq=False)
class _Coded:
    """One column as codes over a domain with distances."""

    codes: Ints
    counts: Floats
    operator: Coded

    def marginality(self) -> Floats:
        """The sum of each value's distances to all records."""
        return self.operator.summed(self.counts)

    def from_value(self, value: int) -> Floats:
        """Distances of all values to one of them."""
        values = self.operator.values
        distances: Floats = self.operator.between(values[[value]], values)[0]
        return distances

    def swapped(self, run: Loop, everyone: bool) -> tuple[Longs, Longs]:
        """Each record's partner, and how many records are nearer."""
        matrix = self.operator.contributed()
        partners, references = run(kernel.swap_coded, kernel.neighbors(matrix))
        nearer = kernel.nearer_coded(self.codes, matrix, partners, references, everyone)
        return partners, nearer


@dataclass(frozen=True, eq=False)
class _Ordered:
    """One column as codes over ascending numbers."""

    codes: Ints
    counts: Floats
    numbers: Floats

    def marginality(self) -> Floats:
        """The sum of each number's differences to all records."""
        return summed_differences(self.numbers, self.counts)

    def from_value(self, value: int) -> Floats:
        """Differences of all numbers to one of them."""
        return np.asarray(np.abs(self.numbers - self.numbers[value]))

    def swapped(self, run: Loop, everyone: bool) -> tuple[Longs, Longs]:
        """Each record's partner, and how many records are nearer."""
        partners, references = run(kernel.swap_ordered, self.numbers)
        nearer = kernel.nearer_ordered(self.codes, self.numbers, partners, references, everyone)
        return partners, nearer


def _column(layout: Layout) -> _Coded | _Ordered:
    if layout.numeric:
        scaled = layout.numeric[0]
        return _Ordered(*_counted(scaled.attribute), _ascending(scaled))
    attribute, operator = layout.coded[0]
    return _Coded(*_counted(attribute), operator)


def _first(column: _Coded | _Ordered) -> int:
    """The most distant value of a column."""
    return int(np.where(column.counts > 0, column.marginality(), -1.0).argmax())


def _counted(attribute: Attribute) -> tuple[Ints, Floats]:
    counts = np.bincount(attribute.codes, minlength=attribute.cardinality)
    return attribute.codes, counts.astype(np.float64)


def _ascending(one: Scaled) -> Floats:
    """The scaled numbers of a domain; missing values lie one unit above the greatest."""
    numbers = one.attribute.numbers * one.factor
    return np.append(numbers, numbers[-1] + one.gap) if one.attribute.has_missing else numbers


def summed_differences(numbers: Floats, counts: Floats) -> Floats:
    """For each of ascending numbers, the sum of |x - y| over all records y, in linear time."""
    below, sums = np.cumsum(counts), np.cumsum(counts * numbers)
    left = numbers * below - sums
    right = (sums[-1] - sums) - numbers * (below[-1] - below)
    return np.asarray(left + right, np.float64)


def _random(count: int, generator: np.random.Generator) -> Longs:
    return generator.permutation(count)


def _ranked(
    codes: Ints, keys: Floats, k: int, everyone: bool, context: Context
) -> tuple[Longs, int]:
    """Swap within k ranks of the order of the values by (key, value); equal ones at random."""
    places = np.empty(keys.size, np.int64)
    places[np.lexsort((np.arange(keys.size), keys))] = np.arange(keys.size)
    order = context.generator.permutation(codes.size)
    order = order[np.argsort(places[codes[order]], kind="stable")]
    partners = kernel.swap_ranked(order, k, everyone, context.generator.random(codes.size))
    nearer = kernel.nearer_ranked(order, partners, everyone)
    return partners, _checked_rank(nearer, k, "values")


def _done(partners: Longs, rank: int | None) -> Work:
    """Nothing is left to do."""
    return lambda _signal: (partners, rank)


def _dynamic(
    column: _Coded | _Ordered, k: int, everyone: bool, generator: np.random.Generator
) -> Work:
    """Swap within intervals around each value."""
    count, first = column.codes.size, _first(column)
    rest = (first, k, everyone, generator.permutation(count), generator.random((count, 4)))

    def work(signal: Longs) -> tuple[Longs, int]:
        def run(loop: Callable[..., tuple[Longs, Longs]], domain: object) -> tuple[Longs, Longs]:
            return loop(column.codes, domain, *rest, signal)

        partners, nearer = column.swapped(run, everyone)
        return partners, _checked_rank(nearer, k, "values")

    return work


def _swapped(points: Points, *rest: Any) -> tuple[Longs, Longs, Longs]:
    """Swap records by the quickest loop that knows what they are; all find the same."""
    found = None if are_words(points) else swap_concepts(points, *rest)
    if found is not None:
        return found
    loop = swap_words if are_words(points) else records.swap_records
    return loop(points, *rest)


def _layout_names(layout: Layout) -> list[str]:
    """The columns in the order of the kernels: coded ones, then numeric ones."""
    return [
        *(attribute.name for attribute, _ in layout.coded),
        *(one.attribute.name for one in layout.numeric),
    ]


def _most_distant_tuple(layout: Layout, names: Sequence[str], codes: Ints, weights: Floats) -> int:
    """The tuple with the largest summed distance to all records."""
    rows = {name: codes[place] for place, name in enumerate(names)}
    total = np.zeros(weights.size)
    for attribute, operator in layout.coded:
        counts = np.bincount(rows[attribute.name], weights, minlength=attribute.cardinality)
        total += operator.summed(counts.astype(np.float64))[rows[attribute.name]]
    for one in layout.numeric:
        total += _summed_numbers(one, rows[one.attribute.name], weights)
    return int(total.argmax())


def _summed_numbers(one: Scaled, codes: Ints, weights: Floats) -> Floats:
    """Summed distances in a numeric attribute; a missing number counts as the attribute's gap."""
    attribute = one.attribute
    counts: Floats = np.bincount(codes, weights, attribute.size + 1).astype(np.float64)
    known, missing = counts[: attribute.size], counts[attribute.size]
    sums = summed_differences(attribute.numbers * one.factor, known) + missing * one.gap
    return np.append(sums, known.sum() * one.gap).take(codes)


def _checked_rank(nearer: Longs, k: int, what: str) -> int:
    """The rank of the farthest partner; it must lie in the interval."""
    rank = int(nearer.max(initial=-1)) + 1
    if rank > k:
        raise PromiseError(
            f"Rank swapping exchanged {what} that are {rank} ranks apart where k is {k}; the "
            "release is withheld. This is a defect of the method: please report it."
        )
    return rank


def _check_ranks(noted: Longs, recounted: Longs) -> None:
    """What the loop noted must be what the result shows."""
    if not np.array_equal(noted, recounted):
        raise PromiseError(
            "Rank swapping exchanged values of other records than it noted; the release is "
            "withheld. This is a defect of the method: please report it."
        )


def _stayed(partners: Longs) -> int:
    """How many records kept their own value for want of a partner."""
    return int(np.count_nonzero(partners == np.arange(partners.size)))
