"""Nodes of the lattice looked at beside each other, on all cores where the table is large."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from ontomask.kernels.blocks import Threads
from ontomask.methods.generalization.evaluation import Evaluation, Evaluator
from ontomask.methods.generalization.groupings import Grouping, Levels, Snapshots

__all__ = ["Examiner"]

ENOUGH = 20_000
"""So many tuples make a node enough work for a thread of its own."""


class Examiner(AbstractContextManager["Examiner"]):
    """Evaluates nodes, each from the smallest grouping known that is finer.

    What is evaluated together starts from what was known before; so the outcome does not depend on
    how many threads there are.

    Parameters
    ----------
    evaluator
        Judges groupings.
    budget
        How many numbers may be kept in groupings to start from.
    bounding
        Whether what a node tells about finer ones will be asked for, too.
    measuring
        Whether the loss of nodes that are not valid will be asked for, too.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        budget: int = 50_000_000,
        *,
        bounding: bool = False,
        measuring: bool = False,
    ) -> None:
        self._evaluator = evaluator
        self._bounding = bounding
        self._measuring = measuring
        self._snapshots = Snapshots(evaluator.grouper, budget)
        self.shares = len(evaluator.grouper.finest) >= ENOUGH
        """Whether nodes that are evaluated together share the cores."""
        self._threads = Threads(shares=self.shares)

    def __exit__(self, *error: object) -> None:
        self._threads.__exit__(*error)

    def examine(self, nodes: Sequence[Levels], *, complete: bool = False) -> list[Evaluation]:
        """Evaluate nodes; unless it must be complete, each until it is found to be invalid."""
        starts = self._starts(nodes)

        def work(start: Grouping, levels: Levels) -> tuple[Grouping, Evaluation]:
            grouping = start
            if start.levels != levels:
                grouping = self._evaluator.grouper.roll_up(start, levels)
            evaluation = self._evaluator.evaluate(grouping, complete=complete)
            self._count(evaluation)
            return grouping, evaluation

        # what takes longest begins first, so that all threads end at about the same time
        order = sorted(range(len(nodes)), key=lambda place: -len(starts[place]))
        given = ([some[place] for place in order] for some in (starts, nodes))
        found = self._threads.side_by_side(work, *given)
        made = dict(zip(order, found, strict=True))
        for place, start in enumerate(starts):
            self._snapshots.offer(made[place][0], start)
        return [made[place][1] for place in range(len(nodes))]

    def _starts(self, nodes: Sequence[Levels]) -> list[Grouping]:
        """What to start from; where that is far away, what others may start from, too, is made."""
        starts = [self._snapshots.nearest(levels) for levels in nodes]
        given = zip(starts, nodes, strict=True)
        between = {self._snapshots.between(*one): one[0] for one in given}
        new = {
            levels: start
            for levels, start in between.items()
            if levels != start.levels and levels not in nodes
        }
        if not new:
            return starts
        work = self._evaluator.grouper.roll_up
        found = self._threads.side_by_side(work, [*new.values()], [*new])
        for made, start in zip(found, new.values(), strict=True):
            self._snapshots.offer(made, start)
        return [self._snapshots.nearest(levels) for levels in nodes]

    def _count(self, evaluation: Evaluation) -> None:
        """Count what will be asked for, while others are evaluated beside it."""
        if evaluation.valid or self._measuring:
            _ = evaluation.vector
        if self._bounding and 0 < evaluation.lasting <= self._evaluator.limit:
            _ = evaluation.surplus
