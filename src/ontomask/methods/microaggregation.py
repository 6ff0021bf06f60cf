"""Microaggregation: clusters of at least k similar records, each replaced by its centroid.

MDAV after Domingo-Ferrer and Mateo-Sanz (2002) and Domingo-Ferrer and Torra (2005), V-MDAV after
Solanas and Martínez-Ballesté (2006), the semantic adaptive SA-MDAV after Martínez, Sánchez and
Valls (2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from ontomask.arrays import Ints
from ontomask.checks import AnyOf, Choice, Flag, Integer, ListOf, Null, Real, Text
from ontomask.data.masked import Masked
from ontomask.data.microdata import Attribute, Microdata, Tuples
from ontomask.errors import MethodError
from ontomask.kernels import centroids as centers
from ontomask.kernels import clusters as kernel
from ontomask.kernels.records import Points
from ontomask.kernels.refinement import refine
from ontomask.methods.base import Context, Method, check_k, register, watched
from ontomask.methods.disclosure import Demands, Privacy, PrivacyBy, check_privacy
from ontomask.methods.nearest import NearestCentroid
from ontomask.methods.points import Layout, quasi_layout
from ontomask.semantics.operators import METRICS, OPERATORS
from ontomask.taxonomy.measures import MEASURES

__all__ = ["ALGORITHMS", "Microaggregation"]

ALGORITHMS = ("sa-mdav", "mdav", "v-mdav")

NEIGHBORS = 32
ROUNDS = 60
"""How far a refinement looks around a point, and how often it goes over the table."""


@register
@dataclass(frozen=True)
class Microaggregation(Method):
    """Replace each record by the centroid of a cluster of at least k similar ones.

    Parameters
    ----------
    k
        The least number of records in a cluster.
    algorithm
        `sa-mdav` (adaptive, on distinct tuples), `mdav` (clusters of k, on records) or `v-mdav`
        (clusters of k to 2k - 1, on records).
    operators
        How values are compared and summed up; see `ontomask.semantics.operators`.
    metric
        How attributes are combined: `mean`, `euclidean` or `s-distance`; by default `mean` when
        all are nominal and `euclidean` otherwise.
    measure
        A distance for all nominal columns, instead of each column's own.
    dynamic
        Whether the center of a growing cluster is its centroid (sa-mdav) or stays its first tuple.
    weighting
        Whether distances to tuples are multiplied by their frequency (`frequency`) or not.
    gamma
        How willingly v-mdav extends a cluster.
    refine
        Improve the clusters afterwards: same promise, less loss.
    strata
        Columns whose values are masked apart from each other.
    privacy
        Models that the classes must satisfy besides, such as l-diversity or t-closeness.
    privacy_by
        How they come to do so: by uniting clusters that fail (`merge`, for any model), or by
        forming clusters of records with a view to t-closeness, one from each slice of the sensitive
        values (`t-first`) or the nearest ones and then exchanges (`k-first`); what then still fails
        is united. Only `merge` heeds `algorithm`, and only with it clusters can be refined.
    """

    name: ClassVar[str] = "microaggregation"

    k: Annotated[int, Integer(2)]
    algorithm: Annotated[str, Choice(*ALGORITHMS)] = "sa-mdav"
    operators: Annotated[str, Choice(*OPERATORS)] = "semantic"
    metric: Annotated[str | None, AnyOf(Choice(*METRICS), Null())] = None
    measure: Annotated[str | None, AnyOf(Choice(*MEASURES), Null())] = None
    dynamic: Annotated[bool, Flag()] = True
    weighting: Annotated[str, Choice("none", "frequency")] = "none"
    gamma: Annotated[float, Real(0)] = 0.2
    refine: Annotated[bool, Flag()] = False
    strata: Annotated[tuple[str, ...], ListOf(Text())] = ()
    privacy: Privacy = ()
    privacy_by: PrivacyBy = "merge"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_privacy(self.privacy, self.strata, self.privacy_by)
        if self.refine and self.privacy_by != "merge":
            raise MethodError(
                f"refine=True would undo what privacy_by={self.privacy_by!r} has balanced; use "
                "privacy_by='merge', which refines first, or leave out refine."
            )

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Cluster and replace by centroids."""
        clustering = self.cluster(microdata, context)
        layout, tuples, labels, demands, details = clustering
        points = layout.points(tuples)

        def write(labels: Ints) -> dict[str, Attribute]:
            count = int(labels.max()) + 1
            uniforms = context.generator.random(count)
            return layout.centroids(*centers.centroids(points, labels, count, uniforms))

        labels, centroids = demands.settled(points, tuples.places, labels, write, context)
        clusters = labels[tuples.places].astype(np.int64)
        details["clusters"] = int(labels.max()) + 1
        return Masked(
            {name: one.of(clusters) for name, one in centroids.items()},
            demands.promises(),
            clusters,
            scheme=NearestCentroid.of(layout, centroids),
            details=details,
        )

    def cluster(
        self, microdata: Microdata, context: Context
    ) -> tuple[Layout, Tuples, Ints, Demands, dict[str, object]]:
        """Cluster the quasi-identifiers: tuples, their clusters, and figures to report.

        What the models ask of the clusters comes along; they may still have to be merged.
        """
        check_k(self.k, microdata)
        layout, demands = quasi_layout(microdata, self), Demands.of(microdata, self.k, self.privacy)
        on_records = self.algorithm != "sa-mdav" or self.privacy_by != "merge"
        tuples = microdata.records() if on_records else microdata.tuples()
        details: dict[str, object] = {"metric": layout.metric}
        if self.privacy_by != "merge":
            labels = demands.balanced(layout.points(tuples), self.privacy_by, context)
            return layout, tuples, labels, demands, details
        labels = self._clustered(layout.points(tuples, self.weighting), context)
        if self.refine:
            labels, details["refinement"] = _refined(layout.points(tuples), labels, self.k, context)
        return layout, tuples, labels, demands, details

    def _clustered(self, points: Points, context: Context) -> Ints:
        total = float(points.weights.size)
        work: dict[str, tuple[Any, ...]] = {
            "sa-mdav": (kernel.sa_mdav, points, self.k, self.dynamic),
            "mdav": (kernel.mdav, points, self.k),
            "v-mdav": (kernel.v_mdav, points, self.k, self.gamma),
        }
        labels: Ints = watched(
            *work[self.algorithm], total=total, context=context, message="clustering"
        )
        return labels


def _refined(
    points: Points, labels: Ints, k: int, context: Context
) -> tuple[Ints, dict[str, float]]:
    before = float(centers.loss(points, labels, int(labels.max()) + 1))
    better: Ints = watched(
        *(refine, points, labels, float(k), NEIGHBORS, ROUNDS),
        total=float(ROUNDS),
        context=context,
        message="refining",
    )
    after = float(centers.loss(points, better, int(better.max()) + 1))
    gain = 1.0 - after / before if before else 0.0
    return better, {"loss_before": before, "loss_after": after, "gain": gain}
