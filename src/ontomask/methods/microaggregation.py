"""Microaggregation: clusters of at least k similar records, each replaced by its centroid.

MDAV after Domingo-Ferrer and Mateo-Sanz (2002) and Domingo-Ferrer and Torra (2005), V-MDAV after
Solanas and Martínez-Ballesté (2006), the semantic adaptive SA-MDAV after Martínez, Sánchez and
Valls (2012).
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, get_args

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.checks import AnyOf, Choice, Flag, Integer, Null, Real
from ontomask.data.masked import Masked
from ontomask.data.microdata import Attribute, Microdata, Tuples
from ontomask.errors import MethodError
from ontomask.kernels import centroids as centers
from ontomask.kernels import clusters as kernel
from ontomask.kernels.losses import loss_to
from ontomask.kernels.neighbors import Neighborhood
from ontomask.kernels.pieces import Pieces, Shares, grains
from ontomask.kernels.rebuilding import rebuild
from ontomask.kernels.records import Points, select_points
from ontomask.kernels.refinement import refine
from ontomask.kernels.units import amount
from ontomask.methods.base import (
    Context,
    Measure,
    Method,
    Metric,
    Operators,
    Strata,
    check_k,
    register,
    watched_parts,
)
from ontomask.methods.blocks import (
    BlockSize,
    around_clusters,
    blocks_of,
    check_blocks,
    members_of,
)
from ontomask.methods.disclosure import Demands, Privacy, PrivacyBy, check_privacy
from ontomask.methods.nearest import NearestCentroid
from ontomask.methods.persons import constant_columns, one_each
from ontomask.methods.points import Layout, quasi_layout
from ontomask.methods.resampling import sorted_places
from ontomask.methods.sequences import (
    distinct_persons,
    lists_of_records,
    refuse_single_records,
)
from ontomask.methods.stand_ins import StandIns
from ontomask.promises import SequenceSize

__all__ = ["ALGORITHMS", "Microaggregation"]

Algorithm = Literal["sa-mdav", "mdav", "v-mdav"]
ALGORITHMS = get_args(Algorithm)

NEIGHBORS = 32
PASSES = 60
"""How far a refinement looks around a point, and how often it goes over the table."""
WATCHED_FROM = 100
"""Fewer points are clustered in less time than a thread takes to begin."""
SLICES = 16
"""Into so many the search for near points is cut, so that threads end at the same time."""
TIED_FROM = 0.05
"""Where a smaller share of the records equals others, to divide these would save nothing."""
BRIEF, BRIEF_TRIALS, BRIEF_SECONDS, BRIEF_UP_TO = 3, 512, 1e9, 8_192
"""Small tables are rebuilt for so many rounds by any refinement, with at least so many trials,
whatever time it takes: it ends where no single move helps, and often three clusters or more have to
change at once."""
LOSSES = ("loss_before", "loss_after")


@register
@dataclass(frozen=True)
class Microaggregation(Method):
    """Replace each record by the centroid of a cluster of at least k similar ones.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [31, 34, 36, 52, 55, 58]})
    >>> release = om.protect(table, om.Schema(age=om.Numeric()), om.Microaggregation(k=3), seed=1)
    >>> release.frame["age"].to_list()
    [34, 34, 34, 55, 55, 55]
    """

    name: ClassVar[str] = "microaggregation"

    k: Annotated[int, Integer(2), "The least number of records in a cluster."]
    algorithm: Annotated[
        Algorithm,
        "`sa-mdav` (adaptive, on distinct tuples), `mdav` (clusters of k, on records) or "
        "`v-mdav` (clusters of k to 2k - 1, on records).",
    ] = "sa-mdav"
    operators: Operators = "semantic"
    metric: Metric = None
    measure: Measure = None
    dynamic: Annotated[
        bool | None,
        AnyOf(Flag(), Null()),
        "Whether the center of a growing cluster is its centroid (sa-mdav) or stays its first "
        "tuple. By default its centroid; where most columns are numbers, and either may be better, "
        "both are tried and what loses less is kept.",
    ] = None
    weighting: Annotated[
        Literal["none", "frequency"],
        "Whether distances to tuples are multiplied by their frequency (`frequency`) or not.",
    ] = "none"
    gamma: Annotated[float, Real(0), "How willingly v-mdav extends a cluster."] = 0.2
    refine: Annotated[
        bool | str,
        AnyOf(Flag(), Choice("thorough")),
        "Improve the clusters afterwards: same promise, less loss. `thorough` also takes "
        "neighboring clusters apart again and again, builds them anew and keeps what is better.",
    ] = False
    rounds: Annotated[
        int,
        Integer(1),
        'How many rounds `refine = "thorough"` makes, each with a trial for every cluster.',
    ] = 200
    seconds: Annotated[
        float,
        Real(0, open_low=True),
        "After how many seconds it makes no more of them, beside what it takes to improve clusters "
        "before and after; the report says how many rounds were made. Only a run that made them "
        "all gives the same release again.",
    ] = 60.0
    centers: Annotated[
        Literal["centroid", "medoid"],
        "What stands for a cluster: its `centroid`, made column by column, or its `medoid`, the "
        "tuple of its own that is nearest to all others, so that only combinations appear that "
        "someone has.",
    ] = "centroid"
    strata: Strata = ()
    privacy: Privacy = ()
    privacy_by: PrivacyBy = "merge"
    block_size: BlockSize = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_privacy(self.privacy, self.strata, self.privacy_by)
        if self.refine and self.privacy_by != "merge":
            raise MethodError(
                f"refine={self.refine!r} would undo what privacy_by={self.privacy_by!r} balances; "
                "use privacy_by='merge', which refines first, or leave out refine."
            )
        check_blocks(self.block_size, self.privacy_by)

    def mask(self, microdata: Microdata, context: Context) -> Masked:
        """Cluster and replace by centroids."""
        if microdata.schema.sequences:
            return self._mask_persons(microdata, context)
        found = self.cluster(microdata, context)
        tuples, demands = found.tuples, found.demands
        labels, centroids = demands.settled(
            found.layout.points(tuples),
            tuples.places,
            found.labels,
            lambda labels: found.centroids(labels, context),
            context,
        )
        clusters = labels[tuples.places].astype(np.int64)
        return Masked(
            {name: one.of(clusters) for name, one in centroids.items()},
            demands.promises(),
            clusters,
            scheme=NearestCentroid.of(found.layout, centroids),
            details={**found.details, "clusters": int(labels.max()) + 1},
        )

    def cluster(self, microdata: Microdata, context: Context) -> Clustering:
        """Cluster the quasi-identifiers.

        What the models ask of the clusters comes along; they may still have to be merged.
        """
        check_k(self.k, microdata)
        layout, demands = quasi_layout(microdata, self), Demands.of(microdata, self.k, self.privacy)
        details: dict[str, object] = {"metric": layout.metric}
        if self.privacy_by != "merge":
            tuples = microdata.records()
            labels = demands.balanced(layout.points(tuples), self.privacy_by, context)
            return Clustering(layout, tuples, labels, demands, details, centers=self.centers)
        # clusters that are merged may be of persons who differ in what is constant
        constant = () if self.privacy else constant_columns(microdata)
        tuples, frame = self._tuples(microdata, constant), None
        if constant:
            details["once_per_person"] = list(constant)
        if constant and len(constant) < len(microdata.quasi):
            frame = self._frame(microdata, constant, context)[_first_records(tuples)]
        shares = self._shares(layout.points(tuples), tuples.places, frame, details, context)
        labels = shares.labels
        if shares.owners.size > len(tuples):
            # equal records may lie in different clusters
            tuples, labels = microdata.records(), shares.by_record(tuples.places)
        return Clustering(layout, tuples, labels, demands, details, constant, frame, self.centers)

    def _mask_persons(self, microdata: Microdata, context: Context) -> Masked:
        """Cluster persons with all their records; some leave records out to be like others."""
        check_k(self.k, microdata, by_records=False)
        refuse_single_records(microdata, self.strata, tuple(self.privacy))
        layout, constant = quasi_layout(microdata, self), constant_columns(microdata)
        details: dict[str, object] = {"metric": layout.metric}
        persons, labels = self._persons(microdata, layout, details, context)
        kept = labels >= 0
        left = microdata.subset(kept)
        frame = persons[kept] if constant else None
        details |= {"once_per_person": list(constant), "records_left_out": int((~kept).sum())}
        found = Clustering(
            *(layout, left.records(), labels[kept], Demands.of(left, self.k, ()), details),
            *(constant, frame, self.centers),
        )
        clusters = np.maximum(labels, 0).astype(np.int64)
        columns = found.centroids(found.labels, context)
        promise = SequenceSize(microdata.quasi, self.k, str(microdata.schema.unit))
        return Masked(
            {name: one.of(clusters) for name, one in columns.items()},
            (*found.demands.promises(), promise),
            clusters,
            kept=None if kept.all() else kept,
            details={**details, "clusters": int(persons.max()) + 1},
        )

    def _persons(
        self, microdata: Microdata, layout: Layout, details: dict[str, object], context: Context
    ) -> tuple[Longs, Ints]:
        """For each record the cluster of its person, and its own in that; -1 if it is left out."""
        records, found = layout.points(microdata.records()), list[dict[str, Any]]()
        order = sorted_places(layout, records, np.arange(len(microdata)), context)
        persons = np.full(len(microdata), -1, np.int64)
        labels, behind, before = np.full(len(microdata), -1, np.int32), 0, 0
        for lists in lists_of_records(microdata, order, self.k):
            united = self.algorithm == "sa-mdav"
            points, places = distinct_persons(layout, records, lists, united=united)
            found.append({})
            own = self._shares(points, places, None, found[-1], context).by_record(places)
            length = lists.shape[1]
            persons[lists] = before + own[:, None]
            labels[lists] = behind + own[:, None] * length + np.arange(length)
            before, behind = before + int(own.max()) + 1, int(labels.max()) + 1
        if self.refine:
            losses = ([one["refinement"][when] for one in found] for when in LOSSES)
            details["refinement"] = _gain(*map(sum, losses))
        return persons, labels

    def _tuples(self, microdata: Microdata, constant: tuple[str, ...]) -> Tuples:
        """What is clustered: distinct tuples, records, or persons who have one tuple each."""
        if self.algorithm == "sa-mdav":
            return microdata.tuples()
        if not constant or constant != microdata.quasi:
            return microdata.records()
        persons, places = one_each(microdata, constant)
        return replace(persons.records(), places=places)

    def _frame(self, microdata: Microdata, constant: tuple[str, ...], context: Context) -> Longs:
        """The class of each record by what is constant in its person: at least k persons each."""
        persons, places = one_each(microdata, constant)
        found = replace(self, algorithm="sa-mdav", refine=False).cluster(persons, context)
        classes: Longs = found.labels[found.tuples.places].astype(np.int64)[places]
        return classes

    def _shares(
        self,
        plain: Points,
        places: Longs,
        frame: Longs | None,
        details: dict[str, object],
        context: Context,
    ) -> Shares:
        """The clusters of each point's records, inside the classes of a frame if there is one."""
        points = plain
        if self.weighting == "frequency":  # distances times sizes, squared sums times squares
            points = plain._replace(factors=plain.sizes if plain.power == 1 else plain.sizes**2)
        classes = [np.arange(plain.sizes.size)] if frame is None else members_of(frame)
        parts = blocks_of(points, classes, self.k, self.block_size, details)
        divisible = self._divisible(plain, places)
        found, near = self._formed(plain, points, parts, divisible, context)
        if not self.refine:
            return Shares.united(found).in_order()
        before = sum(one.loss(plain) for one in found[: len(parts)])
        if len(found) > 1 or not _is_small(found):  # else what rebuilds them refines them first
            found = self._refined(plain, found, divisible, near, context)
        found = [_best(plain, found[place :: len(parts)]) for place in range(len(parts))]
        if frame is None and len(found) > 1:
            found = _around_clusters(plain, found)
            found = self._refined(plain, found, divisible, near, context)
        if self.refine == "thorough":
            found, details["rounds"] = self._rebuilt(plain, found, divisible, near, context)
        elif _is_small(found):
            clusters = sum(int(one.labels.max()) + 1 for one in found)
            rounds = max(BRIEF, -(-BRIEF_TRIALS // clusters))
            brief = replace(self, rounds=rounds, seconds=BRIEF_SECONDS)
            found, _ = brief._rebuilt(plain, found, divisible, near, context)
        details["refinement"] = _gain(before, sum(one.loss(plain) for one in found))
        return Shares.united(found).in_order()

    def _divisible(self, points: Points, places: Longs) -> Bools:
        """Which points a refinement may divide: those that stand for several rows of the table."""
        rows = np.bincount(places, minlength=points.sizes.size)
        divisible: Bools = (rows > 1) & (rows == points.sizes)
        few = rows[divisible].sum() < TIED_FROM * places.size
        if few or not self.refine or points.owners.size:
            divisible[:] = False
        return divisible

    def _formed(
        self,
        plain: Points,
        points: Points,
        parts: Sequence[Longs],
        divisible: Bools,
        context: Context,
    ) -> tuple[list[Shares], int | Ints]:
        """The clusters of every part; where they are formed in two ways, those that lose less.

        Behind these, where a refinement may divide points, it begins with other clusters as well.

        With them who is near whom, as far as that is known before a refinement: a single part is
        clustered by one thread, and others find it out beside that.
        """
        near: int | Ints = NEIGHBORS
        ways = self._ways(points)
        works: list[Callable[[Longs], Any]] = [
            functools.partial(self._clustered, points, members, way)
            for way in ways
            for members in parts
        ]
        if divisible.any():
            works += [functools.partial(self._divided, points, one, divisible) for one in parts]
        totals = [float(members.size) for members in parts] * (len(works) // len(parts))
        if self.refine and len(parts) == 1:
            near, finding = _neighbors_of(plain)
            works += finding
            totals += [points.sizes.size / len(finding)] * len(finding)
        few = points.sizes.size < WATCHED_FROM
        found = watched_parts(
            works, totals=totals, context=context, message="clustering", brief=few
        )
        tried, others = len(parts) * len(ways), len(parts) if divisible.any() else 0
        formed = [_best(plain, found[place : tried : len(parts)]) for place in range(len(parts))]
        return formed + found[tried : tried + others], near

    def _ways(self, points: Points) -> tuple[bool, ...]:
        """What to try of `dynamic`."""
        if self.dynamic is not None:
            return (self.dynamic,)
        both = self.algorithm == "sa-mdav" and points.numbers.shape[0] > points.codes.shape[0]
        return (True, False) if both else (True,)

    def _divided(self, every: Points, members: Longs, divisible: Bools, signal: Longs) -> Shares:
        """Clusters of records, as MDAV forms them."""
        points = select_points(every, members)
        single = grains(points, divisible[members], self.k)
        if amount(points) >= 2 * self.k:
            labels = kernel.mdav(single.points(points), self.k, signal)
            single = single._replace(labels=labels)
        return single._replace(owners=members[single.owners]).added()

    def _clustered(self, every: Points, members: Longs, dynamic: bool, signal: Longs) -> Shares:
        return Shares(members, self._labels(every, members, dynamic, signal), every.sizes[members])

    def _labels(self, every: Points, members: Longs, dynamic: bool, signal: Longs) -> Ints:
        points = select_points(every, members)
        if amount(points) < 2 * self.k:
            return np.zeros(points.weights.size, np.int32)
        if self.algorithm == "mdav":
            return kernel.mdav(points, self.k, signal)
        if self.algorithm == "v-mdav":
            return kernel.v_mdav(points, self.k, self.gamma, signal)
        return kernel.sa_mdav(points, self.k, dynamic, signal)

    def _refined(
        self,
        points: Points,
        parts: Sequence[Shares],
        divisible: Bools,
        near: int | Ints,
        context: Context,
    ) -> list[Shares]:
        """Better clusters, each made of those of one part."""

        def work(shares: Shares, signal: Longs) -> Shares:
            pieces = Pieces.of(points, shares, divisible, self.k, near)
            _, given, labels, graph, kin = pieces
            return pieces.shares(refine(given, labels, float(self.k), graph, PASSES, signal, kin))

        return watched_parts(
            [functools.partial(work, shares) for shares in parts],
            totals=[float(PASSES)] * len(parts),
            context=context,
            message="refining",
            efforts=[shares.owners.size for shares in parts],
        )

    def _rebuilt(
        self,
        points: Points,
        parts: Sequence[Shares],
        divisible: Bools,
        near: int | Ints,
        context: Context,
    ) -> tuple[list[Shares], int]:
        """Clusters that were taken apart and built anew, and the rounds made in every part.

        A single part is searched twice, by different draws, where that is to be thorough: two cores
        take no longer for that.
        """
        tries = list(parts) * (2 if len(parts) == 1 and self.refine == "thorough" else 1)
        started, size = time.monotonic(), sum(shares.owners.size for shares in parts)

        def work(shares: Shares, draws: np.random.Generator, signal: Longs) -> tuple[Shares, int]:
            pieces = Pieces.of(points, shares, divisible, self.k, near)
            _, given, labels, graph, kin = pieces
            left, share = started + self.seconds - time.monotonic(), shares.owners.size / size
            seconds = max(left, 1e-9) if len(parts) == 1 else self.seconds * share
            own = labels, float(self.k), graph, PASSES, self.rounds, seconds
            labels, rounds = rebuild(given, *own, draws, signal, kin)
            return pieces.shares(labels), rounds

        every = context.generator.spawn(len(tries))
        works = [functools.partial(work, *one) for one in zip(tries, every, strict=True)]
        totals = [100.0] * len(tries)
        found = watched_parts(works, totals=totals, context=context, message="rebuilding")
        clusters, rounds = (list(column) for column in zip(*found, strict=True))
        if len(parts) == 1:
            clusters = [_best(points, clusters)]
        return clusters, min(rounds)


@dataclass(frozen=True, eq=False)
class Clustering:
    """A clustering of the quasi-identifiers.

    Attributes
    ----------
    layout, tuples
        What was clustered.
    labels
        The cluster of each tuple.
    demands
        What the models ask of the clusters.
    details
        Figures to report.
    constant, frame
        The columns that are constant within persons and, where there are others too, the class of
        each tuple by which the constant ones are masked.
    centers
        What stands for a cluster, as in `Microaggregation`.
    """

    layout: Layout
    tuples: Tuples
    labels: Ints
    demands: Demands
    details: dict[str, object]
    constant: tuple[str, ...] = ()
    frame: Longs | None = None
    centers: str = "centroid"

    def centroids(self, labels: Ints, context: Context) -> dict[str, Attribute]:
        """The centroid of each cluster, in what is constant within persons that of its class."""
        points, stand_ins = self.layout.points(self.tuples), self._stand_ins(labels)
        rows, numbers = _centroids(points, labels, context)
        if self.centers == "medoid":
            self.details["loss_of_centroids"] = loss_to(points, labels, rows, numbers)
            rows, numbers = stand_ins.medoids()
            self.details["loss_of_medoids"] = loss_to(points, labels, rows, numbers)
        if self.frame is not None:
            wider = _centroids(points, self.frame.astype(np.int32), context)
            chosen = self.frame[np.unique(labels, return_index=True)[1]]
            coded = [one.name in self.constant for one, _ in self.layout.coded]
            numeric = [one.attribute.name in self.constant for one in self.layout.numeric]
            rows[:, coded] = wider[0][chosen][:, coded]
            numbers[:, numeric] = wider[1][chosen][:, numeric]
        return self.layout.centroids(*stand_ins.allowed(rows, numbers))

    def _stand_ins(self, labels: Ints) -> StandIns:
        frozen = () if self.frame is None else self.constant
        return StandIns(self.layout, self.tuples, self.demands.microdata, labels, frozen)


def _centroids(points: Points, labels: Ints, context: Context) -> tuple[Ints, Floats]:
    count = int(labels.max()) + 1
    return centers.centroids(points, labels, count, context.generator.random(count))


def _neighbors_of(points: Points) -> tuple[Ints, list[Callable[[Longs], None]]]:
    """Room for the points that are near each one, and works that find them."""
    size = points.sizes.size
    around = Neighborhood.of(points, min(NEIGHBORS, size - 1))

    def work(first: int, last: int, signal: Longs) -> None:
        if signal[1] == 0:
            around.fill(first, last)

    bounds = np.linspace(0, size, 1 + min(SLICES, size)).astype(int).tolist()
    return around.graph, [functools.partial(work, *one) for one in itertools.pairwise(bounds)]


def _gain(before: float, after: float) -> dict[str, float]:
    """What refining made better."""
    gain = 1.0 - after / before if before else 0.0
    return {**dict(zip(LOSSES, (before, after), strict=True)), "gain": gain}


def _is_small(parts: Sequence[Shares]) -> bool:
    return sum(one.owners.size for one in parts) < BRIEF_UP_TO


def _best(points: Points, found: Sequence[Shares]) -> Shares:
    """The clusters that lose least; of equals the first."""
    return min(found, key=lambda one: one.loss(points)) if len(found) > 1 else found[0]


def _around_clusters(points: Points, parts: Sequence[Shares]) -> list[Shares]:
    """Other parts, of whole clusters: the seams between these lie inside."""
    shares = Shares.united(parts)
    numbers = np.repeat(np.arange(len(parts)), [one.owners.size for one in parts])
    former = members_of(numbers[np.argsort(shares.owners, kind="stable")])
    shares = shares.in_order()
    blocks = around_clusters(shares.points(points), shares.labels, former)
    return [shares.selected(members) for members in blocks]


def _first_records(tuples: Tuples) -> Longs:
    """A record of each tuple."""
    return np.unique(tuples.places, return_index=True)[1]
