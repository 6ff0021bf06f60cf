"""What stands for a cluster besides its centroid: its medoid, or the nearest allowed combination.

A centroid is made column by column, so that it may be a combination that nobody can have. Where a
rule of the schema excludes it, candidates take its place: the centroid with the value of one column
exchanged for that of a member or for what is above it in the taxonomy, and the members themselves.
Of those that no rule excludes, the one of least loss is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.data.microdata import Microdata, Tuples
from ontomask.data.rules import Rule
from ontomask.kernels.losses import candidate_losses
from ontomask.kernels.records import Attribute, Points
from ontomask.methods.points import Layout
from ontomask.sparse import places_in

__all__ = ["StandIns"]

Centers = tuple[Ints, Floats]
"""A line for each: rows of coded attributes, and numbers."""


@dataclass(frozen=True, eq=False)
class StandIns:
    """Clusters of tuples, and what may stand for them.

    Attributes
    ----------
    frozen
        Columns whose values must not be exchanged.
    """

    layout: Layout
    tuples: Tuples
    microdata: Microdata
    labels: Ints
    frozen: tuple[str, ...] = ()

    @property
    def points(self) -> Points:
        """The tuples for the kernels."""
        return self.layout.points(self.tuples)

    def medoids(self) -> Centers:
        """For each cluster the member to which all others are nearest; first an allowed one."""
        every = np.arange(len(self.tuples))
        rows, numbers = self._members(every)
        owners = self.labels.astype(np.int64)
        allowed = ~self._excluded(rows, numbers, owners)
        chosen = self._best(rows, numbers, owners, allowed)
        chosen = np.where(chosen >= 0, chosen, self._best(rows, numbers, owners, allowed | True))
        return rows[chosen], numbers[chosen]

    def allowed(self, rows: Ints, numbers: Floats) -> Centers:
        """Centers of the clusters of which no rule excludes any, as far as there are such."""
        clusters = np.arange(len(rows))
        wrong = self._excluded(rows, numbers, clusters)
        if not wrong.any():
            return rows, numbers
        new_rows, new_numbers, owners = self._candidates(rows, numbers, wrong)
        allowed = ~self._excluded(new_rows, new_numbers, owners)
        best = self._best(new_rows, new_numbers, owners, allowed)
        mended = np.flatnonzero(best >= 0)
        rows, numbers = rows.copy(), numbers.copy()
        rows[mended], numbers[mended] = new_rows[best[mended]], new_numbers[best[mended]]
        return rows, numbers

    def _members(self, members: Longs) -> Centers:
        """Some tuples as centers."""
        points = self.points
        rows = [
            operator.arrays.own_rows[codes[members]]
            for (_, operator), codes in zip(self.layout.coded, points.codes, strict=True)
        ]
        shape = len(rows), members.size
        return np.array(rows, np.int32).reshape(shape).T.copy(), points.numbers[:, members].T.copy()

    def _candidates(self, rows: Ints, numbers: Floats, wrong: Bools) -> tuple[Ints, Floats, Longs]:
        """Centers with another value in one column, and members; and whose they are."""
        members = np.flatnonzero(wrong[self.labels])
        owners = self.labels[members].astype(np.int64)
        own_rows, own_numbers = self._members(members)
        found = [] if self.frozen else [(own_rows, own_numbers, owners)]
        named = {name for rule in self._rules for name in rule.conditions} - set(self.frozen)
        for place, (attribute, operator) in enumerate(self.layout.coded):
            if attribute.name in named:
                above, below = _above(operator.arrays, rows[:, place], np.flatnonzero(wrong))
                whose = np.concatenate([owners, below])
                exchanged = rows[whose]
                exchanged[:, place] = np.concatenate([own_rows[:, place], above])
                found.append((exchanged, numbers[whose], whose))
        for place, one in enumerate(self.layout.numeric):
            if one.attribute.name in named:
                changed = numbers[owners]
                changed[:, place] = own_numbers[:, place]
                found.append((rows[owners], changed, owners))
        found.append((rows[:0], numbers[:0], owners[:0]))
        rows, numbers, owners = (np.concatenate(part) for part in zip(*found, strict=True))
        return rows, numbers, owners

    @property
    def _rules(self) -> Sequence[Rule]:
        """The rules that speak of columns to be masked here."""
        quasi = set(self.microdata.quasi)
        return [one for one in self.microdata.schema.rules if quasi & set(one.conditions)]

    def _excluded(self, rows: Ints, numbers: Floats, owners: Longs) -> Bools:
        """Which centers a rule excludes, as they are written, for some record of their cluster."""
        excluded = np.zeros(owners.size, bool)
        if not owners.size or not self._rules:
            return excluded
        columns = self.layout.centroids(rows, numbers)
        for rule in self._rules:
            meets = self._elsewhere(rule)[owners]
            for name, condition in rule.conditions.items():
                if name in columns:
                    meets &= columns[name].meeting(condition)
            excluded |= meets
        return excluded

    def _elsewhere(self, rule: Rule) -> Bools:
        """Which clusters have a record that meets what a rule says of columns not masked here."""
        meets = np.ones(len(self.microdata), bool)
        for name, condition in rule.conditions.items():
            if name not in self.microdata.quasi:
                meets &= self.microdata[name].meeting(condition)
        clusters = self.labels[self.tuples.places[meets]]
        return np.bincount(clusters, minlength=int(self.labels.max()) + 1) > 0

    def _best(self, rows: Ints, numbers: Floats, owners: Longs, allowed: Bools) -> Longs:
        """For each cluster the allowed candidate of least loss, the first of equals; or -1."""
        best = np.full(int(self.labels.max()) + 1, -1, np.int64)
        places = np.flatnonzero(allowed)
        losses = candidate_losses(
            self.points, self.labels, rows[places], numbers[places], owners[places]
        )
        order = np.lexsort((losses, owners[places]))[::-1]
        best[owners[places[order]]] = places[order]
        return best


def _above(arrays: Attribute, rows: Ints, clusters: Longs) -> tuple[Ints, Longs]:
    """What is above the values of some clusters in the taxonomy, and whose it is."""
    starts, entries = places_in(arrays.row_above_offsets, rows[clusters])
    return arrays.row_above[entries], np.repeat(clusters, np.diff(starts))
