"""Clusters that keep sensitive values from being disclosed: privacy models beyond k-anonymity.

Three ways. *Merge*: clusters that fail a model are united with the cluster whose union costs least
until all hold; for any model. *t-first* and *k-first*, after Soria-Comas, Domingo-Ferrer, Sánchez
and Martínez, "t-closeness through microaggregation" (2015): clusters are formed with a view to the
sensitive values; what then still fails is merged.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.checks import ListOf, Typed
from ontomask.data.grouping import group_rows
from ontomask.data.microdata import Attribute, Microdata, Owners
from ontomask.errors import MethodError
from ontomask.kernels.balanced import by_exchanges, by_slices
from ontomask.kernels.records import Points
from ontomask.kernels.unions import described, united
from ontomask.methods.base import Context, class_size, watched
from ontomask.methods.generalization.encoding import sensitive_columns
from ontomask.methods.generalization.evaluation import check_models
from ontomask.methods.generalization.problem import Sensitive, counted, pairs_of
from ontomask.methods.generalization.promised import class_promise, without_smaller
from ontomask.methods.persons import refuse_counting_records
from ontomask.privacy import (
    Classes,
    Domain,
    Histogram,
    PrivacyModel,
    TableModel,
    TCloseness,
    chosen_column,
)
from ontomask.privacy.trees import ground_tree, value_order
from ontomask.promises import Promise

__all__ = ["WAYS", "Demands", "Privacy", "PrivacyBy", "check_privacy"]

Way = Literal["merge", "t-first", "k-first"]
WAYS = get_args(Way)

Privacy = Annotated[
    tuple[PrivacyModel, ...] | list[PrivacyModel],
    ListOf(Typed(PrivacyModel, "a privacy model such as TCloseness(0.2)")),
    "Models that the classes must satisfy besides, such as l-diversity or t-closeness.",
]
PrivacyBy = Annotated[
    Way,
    "How they come to do so: by uniting clusters that fail (`merge`, for any model), or by forming "
    "clusters of records with a view to t-closeness, one from each slice of the sensitive values "
    "(`t-first`) or the nearest ones and then exchanges (`k-first`); what then still fails is "
    "united. Only `merge` heeds `algorithm`, and only with it clusters can be refined.",
]

DRAWN = 32
"""So many clusters are drawn to see whether a size is enough, …"""
CLOSE = 0.9
"""… and such a share of them must be close."""
GROWTH = 1.25

Columns = dict[str, Attribute]
"""Centroids as columns with a record for each."""


def check_privacy(
    privacy: Sequence[PrivacyModel], strata: Sequence[str] = (), way: str = "merge"
) -> None:
    """Refuse models that clusters cannot be asked for, and ways that do not fit the models."""
    for model in privacy:
        name = type(model).__name__
        if model.needs_population and not model.takes_weights:
            raise MethodError(
                f"{name} needs a population table, which only generalization takes; use "
                "Generalization(…, population=…)."
            )
        if model.needs_information:
            raise MethodError(
                f"{name} weighs what general values still tell, which clusters do not have; use "
                f"Generalization([{name}(…)])."
            )
        if strata and not model.monotone:
            raise MethodError(
                f"{name} may hold inside every stratum and not for all of them together; leave out "
                "strata."
            )
    close = sum(isinstance(model, TCloseness) for model in privacy)
    if way != "merge" and close != 1:
        raise MethodError(
            f"privacy_by={way!r} forms clusters by t-closeness, but privacy names {close} such "
            "models; give one TCloseness(…), or use privacy_by='merge'."
        )


@dataclass(frozen=True, eq=False)
class Demands:
    """What privacy models ask of the clusters of a table.

    Attributes
    ----------
    k
        The least number of records, or persons, of a cluster.
    sensitive
        The sensitive columns by name.
    """

    microdata: Microdata
    k: int
    privacy: tuple[PrivacyModel, ...]
    sensitive: Mapping[str, Sensitive]
    population: None = None

    @classmethod
    def of(cls, microdata: Microdata, k: int, privacy: Sequence[PrivacyModel]) -> Demands:
        """Look at the sensitive columns, and refuse what no clustering can satisfy."""
        sensitive = sensitive_columns(microdata, privacy, {}) if privacy else {}
        demands = cls(microdata, k, tuple(privacy), sensitive)
        if privacy:
            refuse_counting_records(microdata, privacy)
            check_models(demands, privacy)
            demands.refuse_impossible()
        return demands

    @functools.cached_property
    def records(self) -> int:
        """How many records the table stands for."""
        return int(self.counts.sum())

    @functools.cached_property
    def counts(self) -> Longs:
        """How many equal records each one stands for."""
        return np.rint(self.microdata.counts).astype(np.int64)

    @property
    def people(self) -> Floats | None:
        """How many people each record stands for, where a survey weighs them."""
        return None if self.microdata.schema.weight is None else self.microdata.weights

    @functools.cached_property
    def domains(self) -> Mapping[str, Domain]:
        """What privacy models need to know of the sensitive columns."""
        return {name: one.domain(self.microdata.weights) for name, one in self.sensitive.items()}

    # Asking ------------------------------------------------------------------------------------

    def classes(self, clusters: Ints) -> Classes:
        """What privacy models are told of clusters, given that of each record."""
        count, people = int(clusters.max()) + 1, self.people
        histograms = {
            name: Histogram(
                *pairs_of(clusters, one.codes, one.size, self.counts),
                self.domains[name],
                None if people is None else pairs_of(clusters, one.codes, one.size, people)[2],
            )
            for name, one in self.sensitive.items()
        }
        everyone = None
        if people is not None:
            everyone = np.bincount(clusters, weights=people, minlength=count).astype(np.float64)
        units, persons = self.microdata.units, None
        if units is not None:
            persons = Owners.of(clusters.astype(np.int64), units, count).counts.astype(np.int64)
        return Classes(counted(clusters, self.counts, count), everyone, histograms, persons)

    def failing(self, clusters: Ints, asked: Bools | None = None) -> Bools:
        """Which clusters (of those asked about) are too small, or fail one of the models."""
        classes = self.classes(clusters)
        classes = classes if asked is None else classes.part(asked)
        fails: Bools = classes.counted < self.k  # clusters formed by values may be of few persons
        for model in self.privacy:
            fails |= ~model.holds(classes)
        return fails

    def refuse_impossible(self) -> None:
        """Refuse models that not even all records together satisfy, where that cannot change."""
        everyone = self.classes(np.zeros(len(self.microdata), np.int32))
        for model in self.privacy:
            if model.monotone and not model.holds(everyone).all():
                raise MethodError(
                    f"No union of clusters satisfies {model!r}: not even all "
                    f"{self.records:,} records together do; weaken it, or leave out strata and "
                    "steps that leave records out."
                )

    # Merging -----------------------------------------------------------------------------------

    def merged(self, points: Points, places: Longs, labels: Ints, context: Context) -> Ints:
        """Unite clusters of points until all satisfy the models; `places` finds a record's point.

        Small ones come first. In one round a cluster is united with one other at most.
        """
        if not self.privacy:
            return labels
        failing, clusters = self.failing(labels[places]), described(points, labels)
        while failing.any() and failing.size > 1:
            count = failing.size
            context.progress(1.0 - np.count_nonzero(failing) / count, "merging clusters")
            sizes = np.bincount(labels, weights=points.sizes)
            order = np.flatnonzero(failing)
            order = order[np.argsort(sizes[order], kind="stable")]
            clusters = united(points, clusters, order)
            failing = self._failing_after(labels, clusters.labels, failing, places)
            labels = clusters.labels
        if failing.any():
            self._refuse_one_cluster()
        return labels

    def _failing_after(self, old: Ints, new: Ints, failing: Bools, places: Longs) -> Bools:
        """Ask about the clusters that have changed, or about all where a model speaks of all."""
        firsts = np.unique(new, return_index=True)[1]
        same = np.bincount(new) == np.bincount(old)[old[firsts]]
        result: Bools = failing[old[firsts]]
        asked = ~same
        if any(isinstance(model, TableModel) for model in self.privacy):
            asked = np.ones(same.size, bool)
        result[asked] = self.failing(new[places], asked)
        return result

    def _refuse_one_cluster(self) -> None:
        asked = " and ".join(repr(model) for model in self.privacy)
        raise MethodError(
            f"Even all {self.records:,} records as one cluster do not satisfy {asked}; weaken it, "
            "or leave it out."
        )

    def settled(
        self,
        points: Points,
        places: Longs,
        labels: Ints,
        write: Callable[[Ints], Columns],
        context: Context,
    ) -> tuple[Ints, Columns]:
        """Merge clusters until the models hold as they are written, too: some may look the same."""
        while True:
            labels = self.merged(points, places, labels, context)
            columns = write(labels)
            if all(model.monotone for model in self.privacy):
                return labels, columns
            alike = _looking_alike(columns)[labels]
            if not self.failing(alike[places]).any():
                return labels, columns
            labels = alike

    # Forming clusters by t-closeness -----------------------------------------------------------

    def balanced(self, points: Points, way: str, context: Context) -> Ints:
        """Clusters of records formed with a view to t-closeness, `t-first` or `k-first`."""
        model = next(one for one in self.privacy if isinstance(one, TCloseness))
        column = chosen_column(model.column, self.sensitive)
        domain, codes = self.domains[column], self.sensitive[column].codes
        order = np.argsort(value_order(domain, model.ground)[codes], kind="stable")
        size = self._enough(model, column, order, context)
        if way == "t-first":
            slices = np.empty(codes.size, np.int32)
            slices[order] = _slices(codes.size, size)
            work: tuple[Any, ...] = (by_slices, points, slices)
        else:
            tree = ground_tree(domain, model.ground)
            work = (by_exchanges, points, tree, codes, size, model.t)
        labels: Ints = watched(
            *work, total=float(codes.size), context=context, message="clustering"
        )
        return labels

    def _enough(self, model: TCloseness, column: str, order: Longs, context: Context) -> int:
        """How many records a cluster needs, one from each slice, to be t-close in most cases.

        With distances over ranks, n / (2 (n - 1) t + 1) are enough if all values differ.
        """
        count, size = order.size, self.k
        if model.ground == "ordered":
            size = max(size, math.ceil(count / (2.0 * (count - 1) * model.t + 1.0)))
        # two halves are tried before everything becomes one cluster
        while size < count:
            clusters = self._drawn(column, order, size, context)
            if model.holds(clusters).mean() >= CLOSE:
                break
            size = min(math.ceil(GROWTH * size), count // 2 if 2 * size < count - 1 else count)
        return min(size, count)

    def _drawn(self, column: str, order: Longs, size: int, context: Context) -> Classes:
        """Clusters with one record from each slice, at random."""
        starts = np.searchsorted(_slices(order.size, size), np.arange(size + 1))
        uniforms = context.generator.random((DRAWN, size))
        records = order[(starts[:-1] + uniforms * np.diff(starts)).astype(np.int64)].ravel()
        one, weights = self.sensitive[column], self.microdata.weights
        clusters = np.repeat(np.arange(DRAWN, dtype=np.int32), size)
        pairs = pairs_of(clusters, one.codes[records], one.size, weights[records])
        domain = self.domains[column]
        histogram = Histogram(
            pairs[0], pairs[1], np.ones(pairs[0].size, np.int64), domain, pairs[2]
        )
        return Classes(np.full(DRAWN, size), None, {column: histogram})

    # Promising ---------------------------------------------------------------------------------

    def promises(self) -> tuple[Promise, ...]:
        """The least size of a class and each model as something that can be recounted."""
        names = self.microdata.quasi
        stated = [
            class_promise(model, names, self.microdata, self.sensitive) for model in self.privacy
        ]
        return without_smaller([class_size(self.k, self.microdata), *stated])


def _slices(count: int, size: int) -> Longs:
    """The slice of each place of an order; those in the middle are one longer where needed."""
    lengths = np.full(size, count // size)
    middle = np.argsort(np.abs(np.arange(size) - (size - 1) / 2.0), kind="stable")
    lengths[middle[: count % size]] += 1
    return np.repeat(np.arange(size), lengths)


def _looking_alike(columns: Columns) -> Ints:
    """For each centroid the number of its look: those written alike have the same."""
    looks = []
    for column in columns.values():
        numbers: dict[object, int] = {}
        own = [numbers.setdefault(value, len(numbers)) for value in column.by_code]
        looks.append(np.array(own, np.int32)[column.codes])
    return group_rows(looks, [int(one.max()) + 1 for one in looks])[1].astype(np.int32)
