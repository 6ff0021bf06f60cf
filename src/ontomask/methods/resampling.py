"""Resampling: samples of the table are sorted and averaged rank by rank.

The k-anonymous variant after Martínez, Sánchez and Valls (2012); the original after Heer (1993).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.checks import Integer
from ontomask.data.masked import Masked
from ontomask.data.microdata import Attribute, Microdata
from ontomask.errors import MethodError
from ontomask.kernels import centroids as centers
from ontomask.kernels.records import Points, distances, nearest_references, select_points
from ontomask.methods.base import (
    Context,
    Measure,
    Method,
    Metric,
    Operators,
    Strata,
    check_k,
    register,
)
from ontomask.methods.disclosure import Demands, Privacy, check_privacy
from ontomask.methods.nearest import NearestCentroid
from ontomask.methods.points import Layout, quasi_layout
from ontomask.methods.stand_ins import StandIns
from ontomask.wording import plural

__all__ = ["Resampling", "sorted_places"]


@register
@dataclass(frozen=True)
class Resampling(Method):
    """Draw k samples, sort each, and replace the records of equal rank by their centroid.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 34, 36, 52, 55, 58]})
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), om.Resampling(k=2), seed=1)
    >>> min(release.class_sizes) >= 2
    True
    """

    name: ClassVar[str] = "resampling"

    k: Annotated[int, Integer(2), "The number of samples, and the least size of a class."]
    algorithm: Annotated[
        Literal["k-anonymous", "heer"],
        "`k-anonymous` (samples without replacement that use every record) or `heer` (the "
        "original: samples with replacement, the averages go to the records by rank; no "
        "k-anonymity).",
    ] = "k-anonymous"
    operators: Operators = "semantic"
    metric: Metric = None
    measure: Measure = None
    strata: Strata = ()
    privacy: Privacy = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_privacy(self.privacy, self.strata)
        if self.privacy and self.algorithm == "heer":
            raise MethodError(
                "algorithm='heer' makes no classes that privacy models could hold for; use "
                "algorithm='k-anonymous', or leave out privacy."
            )

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Sample, sort and average."""
        check_k(self.k, microdata)
        layout = quasi_layout(microdata, self)
        records = layout.points(microdata.records())
        draw = self._ranked if self.algorithm == "k-anonymous" else self._ranked_heer
        return draw(microdata, layout, records, context)

    def _ranked(
        self, microdata: Microdata, layout: Layout, records: Points, context: Context
    ) -> Masked:
        if len(microdata) < self.k:
            raise MethodError(
                f"k is {self.k}, and resampling draws k samples of different rows, but the table "
                f"has only {plural(len(microdata), 'row')} (for "
                f"{plural(microdata.total, 'record')}); choose k of at most "
                f"{len(microdata)}, or repeat each row as often as its count says."
            )
        *samples, rest = _samples(microdata, self.k, context)
        size = min(sample.size for sample in samples)
        labels = np.full(len(microdata), -1, np.int32)
        for number, chosen in enumerate(samples, start=1):
            order = chosen[sorted_places(layout, records, chosen, context)]
            labels[order] = np.arange(chosen.size) * size // chosen.size
            context.progress(number / (self.k + 1), f"sample {number} of {self.k}")
        last = context.part(self.k, 1, self.k + 1)
        averages = _averaged(records, labels, rest, size, context)
        last.progress(0.5, "averaging")

        def write(labels: Ints) -> dict[str, Attribute]:
            count = int(labels.max()) + 1
            rows, numbers = averages
            if count != size:
                uniforms = context.generator.random(count)
                rows, numbers = centers.centroids(records, labels, count, uniforms)
            stand_ins = StandIns(layout, microdata.records(), microdata, labels)
            return layout.centroids(*stand_ins.allowed(rows, numbers))

        demands, every = Demands.of(microdata, self.k, self.privacy), np.arange(labels.size)
        labels, centroids = demands.settled(records, every, labels, write, last.part(0.5, 0.5))
        clusters = labels.astype(np.int64)
        return Masked(
            {name: one.of(clusters) for name, one in centroids.items()},
            demands.promises(),
            clusters,
            scheme=NearestCentroid.of(layout, centroids),
            details={"metric": layout.metric, "clusters": int(labels.max()) + 1},
        )

    def _ranked_heer(
        self, microdata: Microdata, layout: Layout, records: Points, context: Context
    ) -> Masked:
        size = len(microdata)
        drawn = np.empty((self.k, size), np.int64)
        for sample in range(self.k):
            chosen = context.generator.integers(0, size, size)
            drawn[sample] = chosen[sorted_places(layout, records, chosen, context)]
            context.progress((sample + 1) / (self.k + 2), f"sample {sample + 1} of {self.k}")
        everything = np.arange(size)
        order = everything[sorted_places(layout, records, everything, context)]
        context.progress((self.k + 1) / (self.k + 2), "averaging")
        labels = np.tile(np.arange(size, dtype=np.int32), self.k)
        points = select_points(records, drawn.ravel())
        rows, numbers = centers.centroids(points, labels, size, context.generator.random(size))
        places = np.empty(size, np.int64)
        places[order] = everything
        averages = layout.centroids(rows, numbers)
        columns = {name: one.of(places) for name, one in averages.items()}
        return Masked(columns, details={"metric": layout.metric})


def _samples(microdata: Microdata, k: int, context: Context) -> list[Longs]:
    """Draw k samples of the records; the last part is what is left over.

    Persons are drawn with all their records, so that equal ranks are of k different persons; those
    with many records are dealt out first, to and fro, so that samples are about equally large.
    """
    shuffled = context.generator.permutation(len(microdata))
    if microdata.units is None:
        size = len(microdata) // k
        return np.split(shuffled, np.arange(1, k + 1) * size)
    numbers, whose, sizes = np.unique(microdata.units, return_inverse=True, return_counts=True)
    drawn = context.generator.permutation(numbers.size)
    drawn = drawn[np.argsort(-sizes[drawn], kind="stable")]
    rounds, turns = np.divmod(np.arange(numbers.size), k)
    sample = np.empty(numbers.size, np.int64)
    sample[drawn] = np.where(rounds % 2, k - 1 - turns, turns)
    own = sample[whose[shuffled]]
    return [*(shuffled[own == number] for number in range(k)), shuffled[:0]]


def sorted_places(layout: Layout, records: Points, chosen: Longs, context: Context) -> Longs:
    """The sorting operator: by distance to the record farthest from the centroid."""
    points = select_points(records, chosen)
    rows, numbers = centers.centroids(
        points, np.zeros(chosen.size, np.int32), 1, context.generator.random(1)
    )
    farthest = int(distances(points, rows[0], numbers[0]).argmax())
    own = [
        coded.arrays.own_rows[points.codes[place, farthest]]
        for place, (_, coded) in enumerate(layout.coded)
    ]
    numbers = np.ascontiguousarray(points.numbers[:, farthest])
    order: Longs = np.argsort(distances(points, np.array(own, np.int32), numbers), kind="stable")
    return order


def _averaged(
    records: Points, labels: Ints, rest: Longs, size: int, context: Context
) -> tuple[Ints, Floats]:
    """Centroids of the ranks; records left over join the nearest, whose centroid is renewed."""
    uniforms = context.generator.random(size)
    used = labels >= 0
    inside = select_points(records, np.flatnonzero(used))
    rows, numbers = centers.centroids(inside, labels[used], size, uniforms)
    for place, record in enumerate(rest):
        cluster = int(nearest_references(records, rest[place : place + 1], rows, numbers)[0])
        labels[record] = cluster
        members = select_points(records, np.flatnonzero(labels == cluster))
        every = np.zeros(members.weights.size, np.int32)
        new_rows, new_numbers = centers.centroids(
            members, every, 1, uniforms[cluster : cluster + 1]
        )
        rows[cluster], numbers[cluster] = new_rows[0], new_numbers[0]
    return rows, numbers
