"""From encoded columns to the weighted points that the clustering kernels work on, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.data.encoding import day_value
from ontomask.data.masked import NewColumn
from ontomask.data.microdata import Attribute, Microdata, Tuples
from ontomask.data.schema import Date, Nominal
from ontomask.errors import MethodError
from ontomask.kernels.records import Points, pack_points
from ontomask.semantics.operators import (
    Coded,
    flat_operator,
    nominal_operator,
    ordinal_operator,
)
from ontomask.taxonomy.measures import Space

__all__ = ["Layout", "Scaled", "number_column", "quasi_layout", "space_of"]

UNBOUNDED = ("path", "weighted-path")
ROUNDING = 1e-13
"""Relative differences up to here come from computing, not from the data."""


@dataclass(frozen=True, eq=False)
class Scaled:
    """A numeric attribute: its numbers are multiplied by `factor` before they are compared."""

    attribute: Attribute
    factor: float
    gap: float


@dataclass(frozen=True, eq=False)
class Layout:
    """The attributes as the kernels see them: coded ones first, then numeric ones."""

    coded: tuple[tuple[Attribute, Coded], ...]
    numeric: tuple[Scaled, ...]
    metric: str

    @property
    def power(self) -> int:
        """The exponent of a number's difference."""
        return 1 if self.metric == "mean" else 2

    def points(self, tuples: Tuples, weighting: str = "none") -> Points:
        """Weighted points for the kernels."""
        order = {name: place for place, name in enumerate(tuples.names)}
        codes = [tuples.codes[order[one.name]] for one, _ in self.coded]
        numbers = [
            self._numbers(one, tuples.codes[order[one.attribute.name]]) for one in self.numeric
        ]
        return pack_points(
            [coded.arrays for _, coded in self.coded],
            np.array(codes, np.int32).reshape(len(codes), len(tuples)),
            np.array(numbers, np.float64).reshape(len(numbers), len(tuples)),
            tuples.weights,
            _factors(tuples.weights, weighting, self.power),
            np.array([one.gap for one in self.numeric]),
            self.power,
        )

    @staticmethod
    def _numbers(one: Scaled, codes: Ints) -> Floats:
        domain = one.attribute.numbers
        assert domain is not None
        padded = np.append(domain * one.factor, np.nan)
        result: Floats = padded[codes]
        return result

    def columns(self, rows: Ints, numbers: Floats, labels: Longs) -> dict[str, NewColumn]:
        """The columns that replace each record by its cluster's centroid.

        `rows` and `numbers` hold one centroid per line, `labels` the cluster of each record.
        """
        coded = {
            one.name: _coded_column(one, operator, rows[:, place], labels)
            for place, (one, operator) in enumerate(self.coded)
        }
        numeric = {
            one.attribute.name: number_column(one.attribute, numbers[:, place] / one.factor, labels)
            for place, one in enumerate(self.numeric)
        }
        return {**coded, **numeric}


def default_metric(microdata: Microdata, names: Sequence[str]) -> str:
    """`mean` when all attributes are nominal, `euclidean` when any is numeric."""
    kinds = {microdata[name].column.kind for name in names}
    return "euclidean" if kinds & {"numeric", "date"} else "mean"


def layout_of(
    microdata: Microdata, names: Sequence[str], *, operators: str, metric: str, measure: str | None
) -> Layout:
    """Lay out attributes under an operator set and a metric."""
    coded: list[tuple[Attribute, Coded]] = []
    numeric: list[Scaled] = []
    for name in names:
        attribute = microdata[name]
        if attribute.column.kind in ("numeric", "date"):
            numeric.append(_scaled(attribute, microdata, metric))
        else:
            coded.append((attribute, _coded(attribute, microdata, operators, metric, measure)))
    if numeric and operators in ("lcs", "consensus"):
        raise MethodError(
            f"The operators {operators!r} have no meaning for numbers, and column "
            f"{numeric[0].attribute.name!r} is numeric; use 'semantic' or 'marginality'."
        )
    return Layout(tuple(coded), tuple(numeric), metric)


class Comparing(Protocol):
    """A method that compares records by operators, a metric and a measure."""

    @property
    def operators(self) -> str: ...
    @property
    def metric(self) -> str | None: ...
    @property
    def measure(self) -> str | None: ...


def quasi_layout(microdata: Microdata, method: Comparing) -> Layout:
    """Lay out the quasi-identifiers as a method compares them."""
    names = microdata.quasi
    metric = method.metric or default_metric(microdata, names)
    return layout_of(
        microdata, names, operators=method.operators, metric=metric, measure=method.measure
    )


def space_of(attribute: Attribute, measure: str | None = None) -> Space:
    """The distance of a nominal attribute, bounded to [0, 1] so that attributes can be mixed."""
    column = attribute.column
    assert isinstance(column, Nominal)
    assert column.taxonomy is not None
    assert attribute.concepts is not None
    chosen = measure or column.measure
    options = dict(column.options) if chosen == column.measure else {}
    if chosen in UNBOUNDED:
        options.setdefault("scaled", True)
    return column.taxonomy.space(attribute.concepts, chosen, column.root, **options)


def _coded(
    attribute: Attribute, microdata: Microdata, operators: str, metric: str, measure: str | None
) -> Coded:
    counts = attribute.frequencies(microdata.weights)
    weight, has_missing = attribute.column.weight, attribute.has_missing
    if attribute.column.kind == "nominal":
        assert attribute.concepts is not None
        return nominal_operator(
            space_of(attribute, measure),
            attribute.concepts,
            counts,
            has_missing=has_missing,
            operators=operators,
            metric=metric,
            weight=weight,
        )
    build = ordinal_operator if attribute.column.kind == "ordinal" else flat_operator
    return build(
        attribute.size,
        counts,
        has_missing=has_missing,
        operators=operators,
        metric=metric,
        weight=weight,
    )


def _scaled(attribute: Attribute, microdata: Microdata, metric: str) -> Scaled:
    """Divide by the standard deviation (S-distance: by that of a pair, sqrt(2) times as much)."""
    numbers = attribute.record_numbers()
    known = ~np.isnan(numbers)
    weights = microdata.weights[known]
    mean = np.average(numbers[known], weights=weights)
    total = weights.sum()
    variance = float(weights @ (numbers[known] - mean) ** 2 / max(1.0, total - 1.0))
    weight = attribute.column.weight
    if variance == 0.0:
        return Scaled(attribute, 1.0, weight)
    if metric == "mean":
        return Scaled(attribute, weight / np.sqrt(variance), weight)
    spread = variance if metric == "euclidean" else 2.0 * variance
    return Scaled(attribute, float(np.sqrt(weight / spread)), weight)


def _factors(weights: Floats, weighting: str, power: int) -> Floats:
    """The comparison operator multiplies distances by frequencies (squared sums by squares)."""
    return weights**power if weighting == "frequency" else np.ones_like(weights)


def _coded_column(attribute: Attribute, operator: Coded, rows: Ints, labels: Longs) -> NewColumn:
    chosen = operator.rows[rows]
    if attribute.column.kind == "nominal":
        known = [int(concept) for concept in chosen if concept >= 0]
        written = iter(attribute.written(known))
        values = [next(written) if concept >= 0 else None for concept in chosen]
        return NewColumn(labels, values, concepts=chosen)
    values = [attribute.values[code] if code >= 0 else None for code in chosen]
    ranks = None
    if attribute.numbers is not None:
        ranks = np.append(attribute.numbers, np.nan)[chosen]
    return NewColumn(labels, values, numbers=ranks)


def _snapped(numbers: Floats, attribute: Attribute) -> Floats:
    """Numbers that differ from a value of the column by rounding only, as that value."""
    assert attribute.numbers is not None
    known = np.sort(attribute.numbers)
    places = np.searchsorted(known, numbers)
    snapped = numbers.copy()
    for beside in (places - 1, places):
        near = known[np.clip(beside, 0, known.size - 1)]
        same = np.abs(numbers - near) <= ROUNDING * np.abs(near)
        snapped[same] = near[same]
    return snapped


def number_column(attribute: Attribute, numbers: Floats, labels: Longs) -> NewColumn:
    """A numeric or date column with new numbers, rounded where the column is whole."""
    numbers = np.rint(numbers) if attribute.integer else _snapped(numbers, attribute)
    missing = np.isnan(numbers)
    if isinstance(attribute.column, Date):
        example, written = attribute.values[0], attribute.column.format
        values: list[object] = [
            None if gap else day_value(number, example, written)
            for number, gap in zip(numbers, missing, strict=True)
        ]
    else:
        whole = isinstance(attribute.values[0], int)
        values = [
            None if gap else (int(number) if whole else float(number))
            for number, gap in zip(numbers, missing, strict=True)
        ]
    return NewColumn(labels, values, numbers=numbers)
