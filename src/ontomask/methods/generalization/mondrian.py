"""Mondrian over hierarchies: start with one class at the top and divide it as long as one can."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Ints, Longs
from ontomask.errors import MethodError
from ontomask.kernels import groups as kernel
from ontomask.methods.base import Paced, Progress, silent
from ontomask.methods.generalization.evaluation import check_models
from ontomask.methods.generalization.problem import Pairs, Problem
from ontomask.methods.generalization.recoded import LocalSolution, recoded_loss
from ontomask.methods.generalization.shown import class_places, failing_records
from ontomask.privacy import KAnonymity, PrivacyModel, TableModel
from ontomask.quality import Loss, Quality

__all__ = ["mondrian"]


@dataclass(frozen=True, eq=False)
class _Box:
    """Some tuples that look the same at given levels, and the box it was part of."""

    members: Longs
    levels: tuple[int, ...]
    whole: _Box | None = None


def mondrian(
    problem: Problem,
    privacy: Sequence[PrivacyModel],
    quality: Quality | None = None,
    *,
    progress: Progress = silent,
) -> LocalSolution:
    """Divide the table top-down (LeFevre et al. 2006), along hierarchies instead of medians.

    A class is divided by the attribute whose value covers the largest share of its domain: its
    records go to the values one level below, each of which becomes a class if it satisfies the
    models. What does not, stays together at the old value; if that is too little, the smallest of
    the new classes join it. Attributes that cannot divide the class are passed over for the next.
    No record is suppressed. In the end, classes may look the same that have different levels; where
    they do not satisfy the models together, divisions are taken back, the smallest first.
    """
    check_models(problem, privacy)
    if any(isinstance(model, TableModel) or not model.mendable for model in privacy):
        raise MethodError("Mondrian needs models on single classes; use algorithm='optimal'.")
    if any(model.needs_information for model in privacy):
        raise MethodError(
            "Mondrian divides classes as long as they satisfy the models, and begins with one that "
            "tells nothing, which no publisher is paid for; use algorithm='optimal' or 'local'."
        )
    return _Division(problem, privacy, progress).run(quality or Loss())


class _Division:
    """The state of a division."""

    def __init__(
        self, problem: Problem, privacy: Sequence[PrivacyModel], progress: Progress
    ) -> None:
        self._problem = problem
        self._privacy = privacy
        self._tell = Paced(progress)
        self._divisions = self._done = 0
        self._smallest = max((one.k for one in privacy if isinstance(one, KAnonymity)), default=1)
        self._rows, self._columns = problem.tuples.rows, problem.tuples.columns
        self._amounts = problem.tuples.amounts
        self._pairs = {}
        for name, (groups, values, counts) in problem.tuples.pairs.items():
            order = np.argsort(groups, kind="stable")
            begins = np.searchsorted(groups[order], np.arange(len(self._rows) + 1))
            self._pairs[name] = (begins, values[order], counts[order])

    def run(self, quality: Quality) -> LocalSolution:
        """Divide until nothing can be divided."""
        start = time.perf_counter()
        waiting = self._tops()
        boxes: list[_Box] = []
        while waiting:
            self._tell(self._telling)
            box = waiting.pop()
            parts = self._divided(box)
            if parts:
                self._divisions += 1
                waiting += parts
            else:
                self._done += box.members.size
                boxes.append(box)
        levels = self._levels(self._united(boxes))
        nothing = np.zeros(len(self._rows), bool)
        loss, classes = recoded_loss(self._problem, quality, levels, nothing)
        records = np.zeros(self._problem.codes.shape[1], bool)
        seconds = time.perf_counter() - start
        return LocalSolution(levels, records, 0, classes, loss, self._divisions, seconds)

    def _telling(self) -> tuple[float, str]:
        """The share of the tuples whose classes are not divided any more."""
        return self._done / len(self._rows), f"{self._divisions} divisions"

    def _tops(self) -> list[_Box]:
        """The whole table, or its parts where hierarchies do not end in one value."""
        everything = np.arange(len(self._rows))
        top = _Box(everything, self._problem.heights)
        nothing = np.zeros(everything.size, bool)
        places = class_places(self._problem, self._rows, self._levels([top]), nothing)
        count = int(places.max()) + 1
        if not self._hold(everything, places.astype(np.int32), count).all():
            raise MethodError(
                "Not even the most general values satisfy the privacy models; weaken them, or give "
                "hierarchies that end in one value."
            )
        return [_Box(np.flatnonzero(places == place), top.levels) for place in range(count)]

    def _levels(self, boxes: list[_Box]) -> Ints:
        levels = np.zeros(self._rows.shape, np.int32)
        for box in boxes:
            levels[box.members] = box.levels
        return levels

    def _united(self, boxes: list[_Box]) -> list[_Box]:
        """Take divisions back until the classes satisfy the models as they look.

        The most general values do, so that there is an end.
        """
        while True:
            self._tell(self._telling)
            failing = self._failing(self._levels(boxes))
            wholes = [box.whole for box in boxes if box.whole and failing[box.members].any()]
            if not wholes:
                return boxes
            whole = min(wholes, key=lambda box: box.members.size)
            inside = np.zeros(len(self._rows), bool)
            inside[whole.members] = True
            boxes = [box for box in boxes if not inside[box.members[0]]] + [whole]

    def _failing(self, levels: Ints) -> Bools:
        """Which tuples have records that fail, as their classes look."""
        problem, places = self._problem, self._problem.tuples.places
        nothing = np.zeros(len(self._rows), bool)
        shown = class_places(problem, self._rows, levels, nothing)
        failing = np.zeros(len(self._rows), bool)
        failing[places] = failing_records(problem, self._privacy, shown[places])
        return failing

    def _divided(self, box: _Box) -> list[_Box]:
        """The parts of a class by the first attribute that can divide it."""
        divisible = int(self._amounts[0].take(box.members).sum()) >= 2 * self._smallest
        for attribute in self._by_share(box):
            parts = self._divided_by(box, attribute, divisible)
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

    def _divided_by(self, box: _Box, attribute: int, divisible: bool) -> list[_Box]:
        hierarchy, level = self._problem.hierarchies[attribute], box.levels[attribute]
        below = hierarchy.levels[level - 1].take(self._columns[attribute].take(box.members))
        lower = (*box.levels[:attribute], level - 1, *box.levels[attribute + 1 :])
        if (below == below[0]).all():  # the same class, which satisfies the models
            return [_Box(box.members, lower, box)]
        if not divisible:
            return []
        _, children = np.unique(below, return_inverse=True)
        count = int(children.max()) + 1
        sizes = self._sums(box.members, children, count)[0]
        apart = self._apart(box.members, children.astype(np.int32), sizes)
        if not apart.any():
            return []
        parts = [_Box(box.members[children == one], lower, box) for one in np.flatnonzero(apart)]
        rest = box.members[~apart[children]]
        return [*parts, _Box(rest, box.levels, box)] if rest.size else parts

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
        pairs = {name: self._histogram(name, members, places, count) for name in self._pairs}
        classes = self._problem.classes(sums, pairs)
        holds = np.ones(count, bool)
        for model in self._privacy:
            holds &= model.holds(classes)
        return holds

    def _sums(self, members: Longs, places: Ints | Longs, count: int) -> Longs:
        amounts = np.ascontiguousarray(self._amounts[:, members])
        sums: Longs = kernel.sum_groups(places.astype(np.int32), amounts, count)
        return sums

    def _histogram(self, name: str, members: Longs, places: Ints, count: int) -> Pairs:
        begins, values, counts = self._pairs[name]
        lengths = begins[members + 1] - begins[members]
        firsts = np.repeat(begins[members] - np.cumsum(lengths) + lengths, lengths)
        chosen = firsts + np.arange(lengths.sum())
        owners = np.repeat(np.arange(members.size, dtype=np.int32), lengths)
        size = self._problem.histogram_sizes[name]
        merged: Pairs = kernel.merge_pairs(
            places, owners, values[chosen], counts[chosen], count, size
        )
        return merged
