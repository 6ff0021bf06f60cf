"""Classification made ready: how many records the vote of their class predicts wrongly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.kernels.groups import members
from ontomask.kernels.votes import vote
from ontomask.quality.facts import Lost, Partition, Recoded, two_largest
from ontomask.quality.measures import ClassMeasure, Measure

__all__ = ["ClassificationMeasure", "QuasiTargetMeasure"]


@dataclass(frozen=True, eq=False)
class ClassificationMeasure(ClassMeasure):
    """Records that a majority vote in their class predicts wrongly."""

    targets: tuple[str, ...] = ()
    penalties: tuple[float, float, float] = (0.5, 1.0, 1.0)

    def costs(self, partition: Partition) -> tuple[Floats, Floats, Floats]:
        """The penalties of each class."""
        votes = [partition.two_largest(target) for target in self.targets]
        return self._penalties(partition.sizes, votes)

    def _penalties(
        self, sizes: Longs, votes: Sequence[tuple[Longs, Longs]]
    ) -> tuple[Floats, Floats, Floats]:
        suppressed, minority, tie = self.penalties
        kept, least = np.zeros(sizes.size), np.zeros(sizes.size)
        for first, second in votes:
            wrong = sizes - first
            kept += np.where(first > second, minority * wrong, tie * sizes)
            least += min(minority, tie) * wrong
        return kept, suppressed * len(votes) * sizes.astype(np.float64), least

    def mixed(self, recoded: Recoded) -> Floats:
        """The mean penalty over classes."""
        sizes = recoded.sizes
        pairs = [recoded.targets[target] for target in self.targets]
        votes = [two_largest(sizes.size, classes, counts) for classes, _, counts in pairs]
        kept, dropped, _ = self._penalties(sizes, votes)
        chosen = recoded.suppressed_classes & self.counts_suppression
        return np.array([np.where(chosen, dropped, kept).sum() / self.scale])


@dataclass(frozen=True, eq=False)
class QuasiTargetMeasure(Measure):
    """Classification where some of the targets are themselves generalized.

    Such a target is predicted from the other attributes: classes that differ only in it are
    united. Predicting a generalized value is worth less: with d of d_0 values left, penalties
    move towards the largest one by the share 1 - (d - 1) / (d_0 - 1).
    """

    plain: ClassificationMeasure | None = None
    quasi: tuple[int, ...] = ()
    penalties: tuple[float, float, float] = (0.5, 1.0, 1.0)

    @property
    def _scale(self) -> float:
        return self.facts.records * max(self.penalties)

    def within(self, limit: int, *, stays: bool) -> Self:
        """The other targets' as well."""
        plain = None if self.plain is None else self.plain.within(limit, stays=stays)
        return replace(super().within(limit, stays=stays), plain=plain)

    def vector(self, partition: Partition) -> Floats:
        """The mean penalty."""
        total = 0.0 if self.plain is None else float(self.plain.vector(partition)[0])
        lost = sum(self._penalty(partition, attribute) for attribute in self.quasi)
        return np.array([total + lost / self._scale])

    def floor(self, partition: Partition) -> Floats:
        """The sum of the targets' floors."""
        total = 0.0 if self.plain is None else float(self.plain.floor(partition)[0])
        least = sum(self._target_floor(partition, attribute) for attribute in self.quasi)
        return np.array([total + least / self._scale])

    def surplus(self, partition: Partition, lost: Lost) -> Floats:
        """That of the other targets, and for whole groups the records that were predicted."""
        total = np.zeros(1) if self.plain is None else self.plain.surplus(partition, lost)
        if not self.counts_suppression:
            return total
        predicted = sum(self._least_predicted(partition, one, lost) for one in self.quasi)
        return total + self.penalties[0] * predicted / self._scale

    def least(self, lost: Lost) -> float:
        """Suppressed records pay their penalty for every target."""
        if not self.counts_suppression:
            return -math.inf
        targets = len(self.quasi) + (0 if self.plain is None else len(self.plain.targets))
        return float(self.penalties[0] * targets * lost.amounts.sum() / self._scale)

    def _blur(self, attribute: int, level: int) -> float:
        one = self.facts.attributes[attribute]
        return 1.0 - (one.widths[level] - 1) / (one.rows - 1) if one.rows > 1 else 0.0

    def _penalty(self, partition: Partition, attribute: int) -> float:
        suppressed, minority, tie = self.penalties
        blur = self._blur(attribute, partition.levels[attribute])
        kept = partition.kept if self.counts_suppression else partition.everyone
        left = partition.left if self.counts_suppression else self.facts.records
        votes = _vote(partition, attribute, partition.levels[attribute], kept)
        wrong, tied = (0, left) if blur == 1.0 else (votes.minority, votes.tied)
        towards = max(self.penalties) * blur
        lost = wrong * (minority * (1 - blur) + towards) + tied * (tie * (1 - blur) + towards)
        return float(lost + suppressed * (self.facts.records - left))

    def _least_predicted(self, partition: Partition, attribute: int, lost: Lost) -> float:
        """How many records of groups that are suppressed as wholes any finer node predicts.

        Its floor does not count them. The most frequent value of a group is found in finer groups
        at least as often; where the target is generalized here, its finer values share the group.
        """
        level = partition.levels[attribute]
        if self._blur(attribute, level) == 1.0:
            return 0.0
        same = lost.whole is partition.suppressed
        votes = _vote(partition, attribute, level, partition.kept if same else ~lost.whole)
        if level == 0:
            return float(votes.predicted)
        return votes.inside / self.facts.attributes[attribute].rows

    def _target_floor(self, partition: Partition, attribute: int) -> float:
        """The least penalty at any level of the target from its own on, other attributes coarser.

        With w records outside the largest value of their group, u of them even if all that may be
        suppressed is, and each costing c if kept, suppressing s records leaves at least w - s and
        at least u, so that the penalty is at least c w - (c - penalty) min(s, w - u).
        """
        levels = range(partition.levels[attribute], len(self.facts.attributes[attribute].codes))
        return min(self._level_floor(partition, attribute, level) for level in levels)

    def _level_floor(self, partition: Partition, attribute: int, level: int) -> float:
        suppressed, minority, tie = self.penalties
        blur = self._blur(attribute, level)
        each = min(minority, tie) * (1 - blur) + max(self.penalties) * blur
        wrong, sure = self._wrong(partition, attribute, level)
        if not self.counts_suppression or each <= suppressed:
            return each * wrong
        return each * wrong - (each - suppressed) * min(self.limit, wrong - sure)

    def _wrong(self, partition: Partition, attribute: int, level: int) -> tuple[int, int]:
        """How many records are outside the largest value of their group, and how many for sure."""
        if self._blur(attribute, level) == 1.0:
            return self.facts.records, partition.left if self.stays else 0
        votes = _vote(partition, attribute, level, partition.kept)
        return votes.outside, votes.sure if self.stays else 0


class _Votes(NamedTuple):
    """What a majority vote inside groups of classes finds, in records: see the kernel."""

    outside: int
    sure: int
    minority: int
    tied: int
    inside: int
    predicted: int


def _vote(partition: Partition, attribute: int, level: int, kept: Bools) -> _Votes:
    """Vote on the target at a level of its own among classes that differ only in it."""
    # the same is asked for the loss, the floor and the surplus; a kept array keeps its address
    question = "vote", attribute, level, id(kept)
    if question not in partition.known:
        width = partition.facts.attributes[attribute].widths[level]
        values, groups = partition.codes(attribute, level), _groups(partition, attribute)
        found = vote(*groups, values, partition.sizes, kept, width)
        partition.known[question] = kept, _Votes(*found.tolist())
    votes: _Votes = partition.known[question][1]
    return votes


def _groups(partition: Partition, attribute: int) -> tuple[Longs, Longs]:
    """The classes that differ only in one attribute, group by group."""
    question = "groups", attribute
    if question not in partition.known:
        groups = partition.without(attribute)
        partition.known[question] = members(groups, np.ones(int(groups.max()) + 1, bool))
    found: tuple[Longs, Longs] = partition.known[question]
    return found
