"""Hybrid replacement: within a cluster, each value is drawn anew from its neighborhood.

MicroHybrid after Domingo-Ferrer, Muralidhar and Rufian-Torrell (2012).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.checks import Integer
from ontomask.data.masked import Masked
from ontomask.data.microdata import Attribute, Microdata
from ontomask.kernels.chains import Chains, amounts_around, drawn_near, widths_along
from ontomask.kernels.windows import draw_near, window_widths
from ontomask.memory import MODERATE_TABLE, row_blocks
from ontomask.methods.base import Context, Measure, Method, Metric, Operators, Strata, register
from ontomask.methods.blocks import BlockSize, check_blocks
from ontomask.methods.disclosure import Privacy, PrivacyBy, check_privacy
from ontomask.methods.heeding import redrawn
from ontomask.methods.microaggregation import Microaggregation
from ontomask.methods.points import number_column

__all__ = ["Hybrid"]


CLUSTERED, MERGED = 0.7, 0.75
"""The shares of the work that are done when clusters are formed, and when they are merged."""
AT_A_TIME = 10_000
"""For so many records values are drawn before progress is told."""


@register
@dataclass(frozen=True)
class Hybrid(Method):
    """Replace each value by one drawn uniformly from its neighborhood in a cluster of k.

    The neighborhood of a value reaches as far as the farthest value of its attribute inside the
    cluster. Means, variances and granularity survive far better than with centroids; the outcome is
    *not* k-anonymous and does not claim to be: measure its protection by record linkage. Models of
    `privacy` hold for the clusters that values are drawn in, and are not promised of the release.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 34, 36, 52, 55, 58]})
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), om.Hybrid(k=3), seed=1)
    >>> release.changed["age"] > 0, abs(release.frame["age"].mean() - table["age"].mean()) < 3
    (True, True)
    """

    name: ClassVar[str] = "hybrid"

    k: Annotated[int, Integer(2), "The least number of records in a cluster."]
    algorithm: Annotated[
        Literal["mdav", "sa-mdav"], "How clusters are made: `mdav` or `sa-mdav`."
    ] = "mdav"
    operators: Operators = "marginality"
    metric: Metric = "s-distance"
    measure: Measure = None
    strata: Strata = ()
    privacy: Privacy = ()
    privacy_by: PrivacyBy = "merge"
    block_size: BlockSize = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_privacy(self.privacy, self.strata, self.privacy_by)
        check_blocks(self.block_size, self.privacy_by)

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Cluster, then draw."""
        grouping = Microaggregation(
            self.k,
            algorithm=self.algorithm,
            operators=self.operators,
            metric=self.metric,
            measure=self.measure,
            privacy=self.privacy,
            privacy_by=self.privacy_by,
            block_size=self.block_size,
        )
        found = grouping.cluster(microdata, context.part(0.0, CLUSTERED))
        tuples, points = found.tuples, found.layout.points(found.tuples)
        merging = context.part(CLUSTERED, MERGED - CLUSTERED)
        labels = found.demands.merged(points, tuples.places, found.labels, merging)
        count = int(labels.max()) + 1
        clusters = labels[tuples.places].astype(np.int64)
        members = np.argsort(clusters, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(clusters, minlength=count))])

        def draw(part: Context) -> dict[str, Attribute]:
            columns = {}
            for number, name in enumerate(microdata.quasi):
                own = part.part(number, 1, len(microdata.quasi))
                drawing = _Drawing(offsets, members, microdata.weights, own)
                columns[name] = drawing.drawn(microdata[name], self.measure)
                own.progress(1.0, f"drawing {name}")
            return columns

        columns = redrawn(microdata, draw, context.part(MERGED, 1.0 - MERGED))
        return Masked(columns, clusters=clusters, details={**found.details, "clusters": count})


@dataclass(frozen=True, eq=False)
class _Drawing:
    """Clusters, cluster c holding the records members[offsets[c]:offsets[c + 1]], to draw from."""

    offsets: Longs
    members: Longs
    weights: Floats
    context: Context

    def drawn(self, attribute: Attribute, measure: str | None) -> Attribute:
        """The column with new values."""
        if attribute.column.kind in ("numeric", "date"):
            return number_column(attribute, self._numbers(attribute))
        if attribute.column.kind == "flat":
            return replace(attribute, codes=self._values(attribute))
        return replace(attribute, codes=self._neighbors(attribute, measure))

    def _numbers(self, attribute: Attribute) -> Floats:
        """Uniform in the window around each number, within the column's range."""
        numbers, sizes = attribute.record_numbers(), np.diff(self.offsets)
        filled = numbers[self.members]
        low = np.fmin.reduceat(filled, self.offsets[:-1])
        high = np.fmax.reduceat(filled, self.offsets[:-1])
        width = np.empty_like(numbers)
        width[self.members] = np.maximum(
            filled - np.repeat(low, sizes), np.repeat(high, sizes) - filled
        )
        domain = attribute.numbers
        bottom: Floats = np.maximum(numbers - width, domain[0])
        top: Floats = np.minimum(numbers + width, domain[-1])
        uniforms = self.context.generator.random(numbers.size)
        if not attribute.as_numbers.whole:
            return bottom + uniforms * (top - bottom)
        low, high = np.ceil(bottom), np.floor(top)
        drawn = np.minimum(low + np.floor(uniforms * (high - low + 1.0)), high)
        # a time of day may have no whole day in its window
        return np.where(low > high, numbers, drawn)

    def _values(self, attribute: Attribute) -> Ints:
        """With replacement from the cluster's own values, by the people who have them."""
        passed = np.append(0.0, np.cumsum(self.weights[self.members]))
        starts, stops = passed[self.offsets[:-1]], passed[self.offsets[1:]]
        sizes = np.diff(self.offsets)
        uniforms = self.context.generator.random(self.members.size)
        targets = np.repeat(starts, sizes) + uniforms * np.repeat(stops - starts, sizes)
        found = np.searchsorted(passed, targets, side="right") - 1
        places = np.clip(
            found, np.repeat(self.offsets[:-1], sizes), np.repeat(self.offsets[1:] - 1, sizes)
        )
        codes = np.empty(self.members.size, np.int32)
        codes[self.members] = attribute.codes[self.members[places]]
        return codes

    def _neighbors(self, attribute: Attribute, measure: str | None) -> Ints:
        """Among the values no farther than the farthest one of the cluster."""
        values, codes = attribute.numbered, attribute.codes
        operator = attribute.distances(measure)
        uniforms, drawn = self.context.generator.random(codes.size), np.empty_like(codes)
        chains = operator.chains(values)
        if chains is not None:
            return self._along(chains, codes, uniforms)
        done = 0
        for rows in row_blocks(values.size, values.size, MODERATE_TABLE):
            distances = operator.between(values[rows], values)
            widths = window_widths(codes, self.offsets, self.members, distances, rows.start)
            every = np.flatnonzero((codes >= rows.start) & (codes < rows.stop))
            for start in range(0, every.size, AT_A_TIME):
                self.context.progress(done / codes.size, f"drawing {attribute.name}")
                those = every[start : start + AT_A_TIME]
                own = codes[those] - rows.start
                drawn[those] = draw_near(own, widths[those], distances, uniforms[those])
                done += those.size
        return drawn

    def _along(self, chains: Chains, codes: Ints, uniforms: Floats) -> Ints:
        """The same of very many concepts of a tree, by how many stand where around each."""
        widths, drawn = widths_along(chains, codes, self.offsets, self.members), codes.copy()
        order = np.argsort(codes, kind="stable")
        ascending = codes[order]
        for rows, amounts in amounts_around(chains, np.ones(chains.kinds.size)):
            first, last = np.searchsorted(ascending, [rows.start, rows.start + len(amounts)])
            those = order[first:last]
            given = rows.start, widths[those], amounts, uniforms[those]
            drawn[those] = drawn_near(chains, codes[those], *given)
        return drawn
