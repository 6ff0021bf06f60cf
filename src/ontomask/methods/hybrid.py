"""Hybrid replacement: within a cluster, each value is drawn anew from its neighborhood.

MicroHybrid after Domingo-Ferrer, Muralidhar and Rufian-Torrell (2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from ontomask.arrays import Floats, Longs
from ontomask.checks import AnyOf, Choice, Integer, ListOf, Null, Text
from ontomask.data.masked import Masked, NewColumn
from ontomask.data.microdata import Attribute, Microdata
from ontomask.kernels.windows import draw_near, window_widths
from ontomask.methods.base import Context, Method, register
from ontomask.methods.microaggregation import Microaggregation
from ontomask.methods.points import number_column, space_of
from ontomask.semantics.operators import METRICS, OPERATORS
from ontomask.taxonomy.measures import MEASURES

__all__ = ["Hybrid"]


@register
@dataclass(frozen=True)
class Hybrid(Method):
    """Replace each value by one drawn uniformly from its neighborhood in a cluster of k.

    The neighborhood of a value reaches as far as the farthest value of its attribute inside the
    cluster. Means, variances and granularity survive far better than with centroids; the outcome is
    *not* k-anonymous and does not claim to be: measure its protection by record linkage.

    Parameters
    ----------
    k
        The least number of records in a cluster.
    partition
        How clusters are made: `mdav` or `sa-mdav`.
    operators, metric, measure, strata
        As in `Microaggregation`.
    """

    name: ClassVar[str] = "hybrid"

    k: Annotated[int, Integer(2)]
    partition: Annotated[str, Choice("mdav", "sa-mdav")] = "mdav"
    operators: Annotated[str, Choice(*OPERATORS)] = "marginality"
    metric: Annotated[str | None, AnyOf(Choice(*METRICS), Null())] = "s-distance"
    measure: Annotated[str | None, AnyOf(Choice(*MEASURES), Null())] = None
    strata: Annotated[tuple[str, ...], ListOf(Text())] = ()

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Cluster, then draw."""
        grouping = Microaggregation(
            self.k,
            algorithm=self.partition,
            operators=self.operators,
            metric=self.metric,
            measure=self.measure,
        )
        _, tuples, labels, count, details = grouping.cluster(microdata, context)
        clusters = labels[tuples.places].astype(np.int64)
        members = np.argsort(clusters, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(clusters, minlength=count))])
        columns = {
            name: _redrawn(microdata[name], offsets, members, self.measure, context)
            for name in microdata.quasi
        }
        return Masked(columns, clusters=clusters, details=details)


def _redrawn(
    attribute: Attribute, offsets: Longs, members: Longs, measure: str | None, context: Context
) -> NewColumn:
    if attribute.column.kind in ("numeric", "date"):
        return _number_drawn(attribute, offsets, members, context)
    if attribute.column.kind == "flat":
        return _value_drawn(attribute, offsets, members, context)
    return _neighbor_drawn(attribute, offsets, members, measure, context)


def _number_drawn(
    attribute: Attribute, offsets: Longs, members: Longs, context: Context
) -> NewColumn:
    """Uniform in the window around each number, within the column's range."""
    numbers = attribute.record_numbers()
    sizes = np.diff(offsets)
    filled = numbers[members]
    low = np.fmin.reduceat(filled, offsets[:-1])
    high = np.fmax.reduceat(filled, offsets[:-1])
    width = np.empty_like(numbers)
    width[members] = np.maximum(filled - np.repeat(low, sizes), np.repeat(high, sizes) - filled)
    domain = attribute.numbers
    assert domain is not None
    bottom = np.maximum(numbers - width, domain[0])
    top = np.minimum(numbers + width, domain[-1])
    drawn = _uniform_between(bottom, top, attribute.integer, context)
    return number_column(attribute, drawn, np.arange(numbers.size))


def _uniform_between(bottom: Floats, top: Floats, whole: bool, context: Context) -> Floats:
    uniforms = context.generator.random(bottom.size)
    if not whole:
        return bottom + uniforms * (top - bottom)
    low, high = np.ceil(bottom), np.floor(top)
    drawn: Floats = np.minimum(low + np.floor(uniforms * (high - low + 1.0)), high)
    return drawn


def _value_drawn(
    attribute: Attribute, offsets: Longs, members: Longs, context: Context
) -> NewColumn:
    """With replacement from the cluster's own values."""
    sizes = np.diff(offsets)
    uniforms = context.generator.random(members.size)
    places = np.repeat(offsets[:-1], sizes) + np.floor(uniforms * np.repeat(sizes, sizes)).astype(
        int
    )
    codes = np.empty(members.size, np.int64)
    codes[members] = attribute.codes[members[places]]
    return _coded_column(attribute, codes)


def _neighbor_drawn(
    attribute: Attribute, offsets: Longs, members: Longs, measure: str | None, context: Context
) -> NewColumn:
    """Among the values no farther than the farthest one of the cluster."""
    distances = _domain_distances(attribute, measure)
    order = np.argsort(distances, axis=1, kind="stable").astype(np.int32)
    widths = window_widths(attribute.codes, offsets, members, distances)
    uniforms = context.generator.random(members.size)
    return _coded_column(attribute, draw_near(attribute.codes, widths, distances, order, uniforms))


def _domain_distances(attribute: Attribute, measure: str | None) -> Floats:
    """Distances between the values of the domain, the missing one at distance 1 from the rest."""
    if attribute.column.kind == "nominal":
        assert attribute.concepts is not None
        distances = space_of(attribute, measure).between(attribute.concepts, attribute.concepts)
    else:
        ranks = np.arange(attribute.size) / max(1, attribute.size - 1)
        distances = np.abs(ranks[:, None] - ranks[None, :])
    if attribute.has_missing:
        distances = np.pad(distances, ((0, 1), (0, 1)), constant_values=1.0)
        distances[-1, -1] = 0.0
    return np.ascontiguousarray(distances)


def _coded_column(attribute: Attribute, codes: Longs) -> NewColumn:
    values = [*attribute.values, None]
    concepts = numbers = None
    if attribute.concepts is not None:
        concepts = np.append(attribute.concepts, -1).astype(np.int64)
    if attribute.numbers is not None:
        numbers = np.append(attribute.numbers, np.nan)
    return NewColumn(codes, values, concepts, numbers)
