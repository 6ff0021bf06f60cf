"""Nodes of the lattice looked at beside each other, on all cores where the table is large."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from ontomask.kernels.blocks import InTurn, Threads
from ontomask.methods.generalization.evaluation import Evaluation, Evaluator
from ontomask.methods.generalization.groupings import Grouper, Grouping, Levels, Snapshots

__all__ = ["Examiner"]

Finished = TypeVar("Finished")

WORTH = 2_000
"""So many classes to start from make it worth while to hand nodes over to other threads."""

LONG, FEW = 100_000, 4
"""So many classes that become so many times fewer are united in parts: these are soon joined."""

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
        self._begun: InTurn[tuple[list[Grouping], Evaluation]] = InTurn(self._threads)

    def __exit__(self, *error: object) -> None:
        self._threads.__exit__(*error)

    def examine(self, nodes: Sequence[Levels], *, complete: bool = False) -> list[Evaluation]:
        """Evaluate nodes; unless it must be complete, each until it is found to be invalid."""
        starts = self._starts(nodes)

        def finish(place: int, grouping: Grouping) -> tuple[int, Grouping, Evaluation]:
            evaluation = self._evaluator.evaluate(grouping, complete=complete)
            self._count(evaluation)
            return place, grouping, evaluation

        found = {
            place: (grouping, evaluation)
            for place, grouping, evaluation in self._roll_up(starts, nodes, finish)
        }
        for place, start in enumerate(starts):
            self._snapshots.offer(found[place][0], start)
        return [found[place][1] for place in range(len(nodes))]

    def begin(self, levels: Levels) -> None:
        """Have a node evaluated, from what is known now, until it is found to be invalid."""
        start = self._snapshots.nearest(levels)
        between = self._snapshots.between(start, levels)
        way = [one for one in dict.fromkeys([between, levels]) if one != start.levels]

        def work() -> tuple[list[Grouping], Evaluation]:
            made = [start]
            for one in way:
                made.append(self._evaluator.grouper.roll_up(made[-1], one))
            evaluation = self._evaluator.evaluate(made[-1])
            self._count(evaluation)
            return made, evaluation

        self._begun.add(work, small=len(start) < WORTH)

    def first(self) -> Evaluation:
        """The node that was begun before all others that are left."""
        made, evaluation = self._begun.first()
        # one that had been made already is made of itself
        self._last = (made[0], *made)[-2:]
        for finer, coarser in itertools.pairwise(made[:-1]):
            self._snapshots.offer(coarser, finer)
        return evaluation

    def keep(self, *, wanted: bool) -> None:
        """Keep what the last of these nodes was made of, if it is wanted to start from."""
        finer, made = self._last
        self._snapshots.offer(made, finer, wanted=wanted)

    def _roll_up(
        self,
        starts: Sequence[Grouping],
        nodes: Sequence[Levels],
        finish: Callable[[int, Grouping], Finished],
    ) -> list[Finished]:
        """Make the groupings of nodes and finish with each, in any order, on all threads."""
        # what takes longest begins first, so that all threads end at about the same time
        order = sorted(range(len(nodes)), key=lambda place: -len(starts[place]))
        alone = [
            functools.partial(self._finish, finish, place, starts[place], nodes[place])
            for place in order
        ]
        if sum(map(len, starts)) < WORTH:
            return [work() for work in alone]
        works: list[Callable[[], Finished | None]] = [*alone]
        odd = _odd_one([len(starts[place]) for place in order], self._threads.most)
        if odd >= 0 and self._can_be_parted(starts[order[odd]], nodes[order[odd]]):
            place = order[odd]
            given = starts[place], nodes[place], functools.partial(finish, place)
            works[odd : odd + 1] = []
            works[:0] = _parts(self._evaluator.grouper, self._threads.most, *given)
        found = self._threads.side_by_side(_call, works)
        return [one for one in found if one is not None]

    def _finish(
        self,
        finish: Callable[[int, Grouping], Finished],
        place: int,
        start: Grouping,
        levels: Levels,
    ) -> Finished:
        """Make the grouping of a node and finish with it."""
        if start.levels == levels:
            return finish(place, start)
        return finish(place, self._evaluator.grouper.roll_up(start, levels))

    def _can_be_parted(self, start: Grouping, levels: Levels) -> bool:
        """Whether it is worth while to make a grouping in parts."""
        if start.pairs or len(start) < LONG:
            return False
        return FEW * self._evaluator.grouper.most_classes(levels) <= len(start)

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
        found = dict(self._roll_up([*new.values()], [*new], _numbered))
        for place, start in enumerate(new.values()):
            self._snapshots.offer(found[place], start)
        return [self._snapshots.nearest(levels) for levels in nodes]

    def _count(self, evaluation: Evaluation) -> None:
        """Count what will be asked for, while others are evaluated beside it."""
        if evaluation.valid or self._measuring:
            _ = evaluation.vector
        if self._bounding and 0 < evaluation.lasting <= self._evaluator.limit:
            _ = evaluation.surplus


def _numbered(place: int, grouping: Grouping) -> tuple[int, Grouping]:
    return place, grouping


def _call(work: Callable[[], Finished]) -> Finished:
    return work()


def _odd_one(sizes: Sequence[int], threads: int) -> int:
    """The last of the large works, where some threads would have one more than others.

    Sizes are in descending order; -1 says that there is none.
    """
    large = sum(2 * size >= sizes[0] for size in sizes)
    return large - 1 if large % threads else -1


def _parts(
    grouper: Grouper,
    count: int,
    start: Grouping,
    levels: Levels,
    finish: Callable[[Grouping], Finished],
) -> list[Callable[[], Finished | None]]:
    """Works that make a grouping together; whoever is the last joins the parts and finishes."""
    bounds = [len(start) * part // count for part in range(count + 1)]
    made: dict[int, Grouping] = {}
    turns = itertools.count(1)

    def work(part: int) -> Finished | None:
        some = start.part(bounds[part], bounds[part + 1])
        made[part] = grouper.roll_up(some, levels)
        # counting up is one step of the interpreter, so that no two threads are the last
        if next(turns) < count:
            return None
        return finish(grouper.joined([made[one] for one in range(count)]))

    return [functools.partial(work, part) for part in range(count)]
