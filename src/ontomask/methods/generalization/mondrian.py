"""Mondrian over hierarchies: start with one class at the top and divide it as long as one can."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Ints, Longs
from ontomask.errors import MethodError
from ontomask.kernels import groups as kernel
from ontomask.methods.generalization.evaluation import check_models
from ontomask.methods.generalization.problem import Problem
from ontomask.methods.generalization.recoded import LocalSolution, recoded_loss
from ontomask.privacy import Classes, Histogram, PrivacyModel, TableModel
from ontomask.quality import Loss, Quality

__all__ = ["mondrian"]


@dataclass(frozen=True, eq=False)
class _Box:
    """Some tuples that look the same at given levels."""

    members: Longs
    levels: tuple[int, ...]


def mondrian(
    problem: Problem, privacy: Sequence[PrivacyModel], quality: Quality | None = None
) -> LocalSolution:
    """Divide the table top-down (LeFevre et al. 2006), along hierarchies instead of medians.

    A class is divided by the attribute whose value covers the largest share of its domain: its
    records go to the values one level below, each of which becomes a class if it satisfies the
    models. What does not, stays together at the old value; if that is too little, the smallest of
    the new classes join it. Attributes that cannot divide the class are passed over for the next.
    No record is suppressed.
    """
    check_models(problem, privacy)
    if any(isinstance(model, TableModel) for model in privacy):
        raise MethodError("Mondrian needs models on single classes; use search='optimal'.")
    return _Division(problem, privacy).run(quality or Loss())


class _Division:
    """The state of a division."""

    def __init__(self, problem: Problem, privacy: Sequence[PrivacyModel]) -> None:
        self._problem = problem
        self._privacy = privacy
        self._rows = problem.tuples.rows
        self._amounts = problem.tuples.amounts
        self._pairs = {}
        for name in problem.sensitive:
            groups, values, counts = problem.tuples.pairs[name]
            order = np.argsort(groups, kind="stable")
            begins = np.searchsorted(groups[order], np.arange(len(self._rows) + 1))
            self._pairs[name] = (begins, values[order], counts[order])

    def run(self, quality: Quality) -> LocalSolution:
        """Divide until nothing can be divided."""
        start = time.perf_counter()
        waiting = [_Box(np.arange(len(self._rows)), self._problem.heights)]
        if not self._hold(waiting[0].members, np.zeros(len(self._rows), np.int32), 1)[0]:
            raise MethodError(
                "Not even the whole table as one class satisfies the privacy models; weaken them."
            )
        levels = np.zeros(self._rows.shape, np.int32)
        divisions = 0
        while waiting:
            box = waiting.pop()
            parts = self._divided(box)
            if parts:
                divisions += 1
                waiting += parts
            else:
                levels[box.members] = box.levels
        nothing = np.zeros(len(self._rows), bool)
        loss, classes = recoded_loss(self._problem, quality, levels, nothing)
        records = np.zeros(self._problem.codes.shape[1], bool)
        seconds = time.perf_counter() - start
        return LocalSolution(levels, records, 0, classes, loss, divisions, seconds)

    def _divided(self, box: _Box) -> list[_Box]:
        """The parts of a class by the first attribute that can divide it."""
        for attribute in self._by_share(box):
            parts = self._divided_by(box, attribute)
            if parts:
                return parts
        return []

    def _by_share(self, box: _Box) -> list[int]:
        """The attributes that can go down, the one with the largest share first."""
        row = self._rows[box.members[0]]
        shares = {
            place: hierarchy.shares[level, row[place]]
            for place, (hierarchy, level) in enumerate(
                zip(self._problem.hierarchies, box.levels, strict=True)
            )
            if level > 0
        }
        return sorted(shares, key=lambda place: (-shares[place], place))

    def _divided_by(self, box: _Box, attribute: int) -> list[_Box]:
        hierarchy, level = self._problem.hierarchies[attribute], box.levels[attribute]
        below = hierarchy.levels[level - 1][self._rows[box.members, attribute]]
        _, children = np.unique(below, return_inverse=True)
        count = int(children.max()) + 1
        sizes = self._sums(box.members, children, count)[0]
        apart = self._apart(box.members, children.astype(np.int32), sizes)
        if not apart.any():
            return []
        lower = (*box.levels[:attribute], level - 1, *box.levels[attribute + 1 :])
        parts = [_Box(box.members[children == one], lower) for one in np.flatnonzero(apart)]
        rest = box.members[~apart[children]]
        return [*parts, _Box(rest, box.levels)] if rest.size else parts

    def _apart(self, members: Longs, children: Ints, sizes: Longs) -> Bools:
        """Which children can be classes, so that the others together are one."""
        apart = self._hold(members, children, sizes.size)
        while apart.any() and not apart.all():
            rest = ~apart[children]
            if self._hold(members[rest], np.zeros(int(rest.sum()), np.int32), 1)[0]:
                return apart
            smallest = np.flatnonzero(apart)[np.argmin(sizes[apart])]
            apart[smallest] = False
        return apart

    def _hold(self, members: Longs, places: Ints, count: int) -> Bools:
        """Whether each of some classes of tuples satisfies all models."""
        sums = self._sums(members, places, count)
        histograms = {name: self._histogram(name, members, places, count) for name in self._pairs}
        classes = Classes(sums[0], sums[1] if len(sums) > 1 else None, histograms)
        holds = np.ones(count, bool)
        for model in self._privacy:
            holds &= model.holds(classes)
        return holds

    def _sums(self, members: Longs, places: Ints | Longs, count: int) -> Longs:
        amounts = np.ascontiguousarray(self._amounts[:, members])
        sums: Longs = kernel.sum_groups(places.astype(np.int32), amounts, count)
        return sums

    def _histogram(self, name: str, members: Longs, places: Ints, count: int) -> Histogram:
        begins, values, counts = self._pairs[name]
        lengths = begins[members + 1] - begins[members]
        firsts = np.repeat(begins[members] - np.cumsum(lengths) + lengths, lengths)
        chosen = firsts + np.arange(lengths.sum())
        owners = np.repeat(np.arange(members.size, dtype=np.int32), lengths)
        size = self._problem.sensitive[name].size
        merged = kernel.merge_pairs(places, owners, values[chosen], counts[chosen], count, size)
        return Histogram(*merged, self._problem.domains[name])
