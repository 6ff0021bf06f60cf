"""Search within a budget, for lattices too large to be looked at node by node."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

import numpy as np

from ontomask.checks import AnyOf, Integer, Null, Real, check
from ontomask.errors import MethodError, ParameterError
from ontomask.methods.base import record_limit
from ontomask.methods.generalization.evaluation import Evaluation, Evaluator
from ontomask.methods.generalization.examination import Examiner
from ontomask.methods.generalization.groupings import Levels
from ontomask.methods.generalization.lattice import Lattice
from ontomask.methods.generalization.problem import Problem
from ontomask.methods.generalization.search import (
    Incumbent,
    NodeTable,
    Report,
    Solution,
    make_evaluator,
    node_table,
    unreported,
)
from ontomask.privacy import PrivacyModel
from ontomask.quality import Loss, Quality

__all__ = ["best_effort", "visited"]


def best_effort(
    problem: Problem,
    privacy: Sequence[PrivacyModel],
    suppression_limit: float = 0.0,
    quality: Quality | None = None,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    generator: np.random.Generator | None = None,
    report: Report = unreported,
    budget: int = 50_000_000,
) -> Solution:
    """The best valid node found within a number of steps, or within a time.

    Climb: from the bottom, generalize the attribute that removes most outliers for the least
    loss, until the node is valid. Descend: from there, lower attributes as long as the loss falls
    and the node stays valid. Then again and again: raise some attributes of the best node at
    random, and climb and descend from there. Where many records may be suppressed, every node is
    valid and nothing leads upward; so climbs go on as if a tenth or fewer might be, mostly as many
    as last led to something better, and descents first keep to that, then to what is allowed.

    Parameters
    ----------
    problem, privacy, suppression_limit, quality
        As for `optimal`.
    steps
        How many nodes may be checked; with the same steps and random generator the outcome is
        the same.
    seconds
        How long it may take.
    generator
        The source of randomness; `numpy.random.default_rng(0)` if None.
    report
        Called now and then with the nodes checked, pruned (0) and there at all.
    budget
        How many numbers may be kept in groupings to start from.
    """
    check("steps", steps, AnyOf(Integer(1), Null()))
    check("seconds", seconds, AnyOf(Real(0, open_low=True), Null()))
    if steps is None and seconds is None:
        raise ParameterError("A best-effort search needs a budget: give steps=… or seconds=….")
    evaluator = make_evaluator(problem, privacy, suppression_limit, quality)
    chosen = np.random.default_rng(0) if generator is None else generator
    run = _BestEffort(evaluator, chosen, Examiner(evaluator, budget), report)
    return run.search(steps or 2**62, seconds or np.inf)


FIRST = 0.1
"""The share of records that climbs leave at most, where more may be suppressed."""
STRICTER = (0.05, 0.02, 0.01, 0.0)
"""Shares that are tried besides."""
LEAST_RESTARTED = 0.02
"""Limits up to this one lead upward by themselves."""

TOGETHER = 8
"""So many nodes are looked at together before the time is."""

MOST_IDLE = 1000
"""After so many attempts in a row that met only known nodes, there is little left to find."""


class _Spent(Exception):  # noqa: N818 - a signal, not an error
    """The budget is used up."""


def _targets(evaluator: Evaluator) -> list[int]:
    """How many outliers climbs may leave: fewer and fewer."""
    limit, records = evaluator.limit, int(evaluator.problem.records)
    if limit <= record_limit(LEAST_RESTARTED, records):
        return [limit]
    first = min(limit, record_limit(FIRST, records))
    stricter = (record_limit(one, records) for one in STRICTER)
    return [first, *(one for one in stricter if one < first)]


class _BestEffort:
    """The state of one search."""

    _completely = False
    """Whether nodes are evaluated completely even where they are found to be invalid."""

    def __init__(
        self,
        evaluator: Evaluator,
        generator: np.random.Generator,
        examiner: Examiner,
        report: Report,
    ) -> None:
        self._evaluator = evaluator
        self._lattice = Lattice(evaluator.problem.heights)
        self._generator = generator
        self._examiner = examiner
        self._report = report
        self._incumbent = Incumbent(evaluator)
        self._known: dict[Levels, tuple[int, tuple[float, ...]]] = {}
        self._floors = Loss().prepare(evaluator.problem.facts).floors or ()
        self._targets = _targets(evaluator)
        self._leading = self._targets[0]
        self._lowest: dict[int, Levels] = {}
        self._told = -100

    def search(self, steps: int, seconds: float) -> Solution:
        """Climb and descend until the budget is used up."""
        self._steps, self._seconds = steps, seconds
        self._evaluator.watch = self._check_time
        bound = -np.inf
        try:
            self._look(self._lattice.heights)
            levels = self._lowest_levels(self._evaluator.limit)
            bound = self._bound(levels)
            self._begin(levels)
            idle = turn = 0
            while not self._proven(bound) and idle < MOST_IDLE:
                checked, target = self._incumbent.checked, self._target_of(turn)
                if self._improves(self._climb(self._shaken(target), target), target):
                    self._leading = target
                idle = idle + 1 if self._incumbent.checked == checked else 0
                turn += 1
        except _Spent:
            pass
        complete = self._incumbent.checked == self._lattice.size
        return self._incumbent.solution(self._lattice.size, bound=None if complete else bound)

    def _begin(self, levels: Levels) -> None:
        """Climb to fewer and fewer outliers, as long as it leads to something better."""
        for target in self._targets:
            # the way to fewer outliers leads on from where there are more
            least = zip(levels, self._lowest_levels(target), strict=True)
            levels = self._climb(tuple(max(pair) for pair in least), target)
            if not self._improves(levels, target):
                break

    def _improves(self, levels: Levels, target: int) -> bool:
        """Descend from a node; tell whether that led to a better one than all before.

        First as if no more outliers than the target were allowed: whoever leaves many right away
        comes to an end sooner.
        """
        before = self._incumbent.key
        self._descend(self._descend(levels, target), self._evaluator.limit)
        return self._incumbent.key < before

    def _proven(self, bound: float) -> bool:
        if self._incumbent.checked == self._lattice.size:
            return True
        return self._incumbent.best is not None and self._incumbent.key[0] <= bound

    def _look(self, levels: Levels) -> tuple[int, tuple[float, ...]]:
        """Outliers and loss of a node; what is known already costs nothing."""
        self._look_at([levels])
        return self._known[levels]

    def _look_at(self, nodes: Sequence[Levels]) -> None:
        """Evaluate nodes together that are not known yet, as far as the budget goes."""
        new = [node for node in nodes if node not in self._known]
        if not new:
            return
        self._check_budget()
        allowed = new[: self._steps - self._incumbent.checked]
        complete = self._completely or self._incumbent.checked == 0
        for start in range(0, len(allowed), TOGETHER):
            self._check_time()
            few = allowed[start : start + TOGETHER]
            for evaluation in self._examiner.examine(few, complete=complete):
                self._take(evaluation)
        if len(allowed) < len(new):
            raise _Spent

    def _take(self, evaluation: Evaluation) -> None:
        self._incumbent.consider(evaluation)
        self._known[evaluation.levels] = evaluation.outliers, self._key(evaluation)

    def _check_time(self) -> None:
        if self._incumbent.seconds > self._seconds:
            raise _Spent

    def _check_budget(self) -> None:
        self._check_time()
        if self._incumbent.checked >= self._steps:
            raise _Spent
        if self._incumbent.checked >= self._told + 100:
            self._told = self._incumbent.checked
            self._report(self._told, 0, self._lattice.size)

    def _key(self, evaluation: Evaluation) -> tuple[float, ...]:
        if not evaluation.valid:
            return (np.inf,)
        return self._evaluator.measure.key(evaluation.vector)

    def _lowest_levels(self, target: int) -> Levels:
        """For each attribute the level it needs at least, all others being at the top.

        Without a model that forbids going on below an invalid node, or where every record may be
        an outlier, that is level 0.
        """
        if not self._evaluator.all_last or target >= self._evaluator.problem.records:
            return tuple(0 for _ in self._lattice.heights)
        if target not in self._lowest:
            places = range(len(self._lattice.heights))
            self._lowest[target] = tuple(self._lowest_level(place, target) for place in places)
        return self._lowest[target]

    def _lowest_level(self, place: int, target: int) -> int:
        low, high = 0, self._lattice.heights[place]
        while low < high:
            middle = (low + high) // 2
            node = list(self._lattice.heights)
            node[place] = middle
            valid = self._look(tuple(node))[0] <= target
            low, high = (low, middle) if valid else (middle + 1, high)
        return low

    def _bound(self, lowest: Levels) -> float:
        """No valid node is below the lowest levels, so that their floor is a bound."""
        floors = self._evaluator.measure.floors
        if floors is None:
            return -np.inf
        parts = [floor[level] for floor, level in zip(floors, lowest, strict=True)]
        return float(self._evaluator.measure.scalar(parts))

    def _target_of(self, turn: int) -> int:
        """Mostly the one that last led to something better, else one after the other."""
        if turn % 4 < 3:
            return self._leading
        return self._targets[turn // 4 % len(self._targets)]

    def _loss(self, levels: Levels, target: int) -> tuple[float, ...]:
        """The loss of a node, infinite where it has more outliers than the target."""
        outliers, loss = self._look(levels)
        return loss if outliers <= target else (np.inf,)

    def _climb(self, levels: Levels, target: int) -> Levels:
        """Go up to a valid node, each time by what removes most outliers for the least loss."""
        outliers, _ = self._look(levels)
        while outliers > target and levels != self._lattice.heights:
            nodes = self._lattice.successors(levels)
            self._look_at(nodes)
            gains = [(self._gain(levels, node, outliers), node) for node in nodes]
            levels = max(gains, key=lambda pair: pair[0])[1]
            outliers, _ = self._look(levels)
        return levels

    def _gain(self, levels: Levels, node: Levels, outliers: int) -> float:
        """Outliers removed, for each unit of granularity lost."""
        removed = outliers - self._look(node)[0]
        lost = sum(
            float(floor[new] - floor[old])
            for floor, old, new in zip(self._floors, levels, node, strict=True)
        )
        # a step may cost nothing
        return removed / (lost + 1e-9)

    def _descend(self, levels: Levels, target: int) -> Levels:
        """Go down to the best neighbor within the target as long as there is a better one."""
        loss = self._loss(levels, target)
        while True:
            nodes = self._lattice.predecessors(levels)
            self._look_at(nodes)
            best = min(nodes, key=lambda node: self._loss(node, target), default=levels)
            if self._loss(best, target) >= loss:
                return levels
            levels, loss = best, self._loss(best, target)

    def _shaken(self, target: int) -> Levels:
        """The best node with some attributes lowered and others raised at random."""
        best, lowest = self._incumbent.best, self._lowest_levels(target)
        levels = np.array(self._lattice.heights if best is None else best.levels)
        # mostly few: with many, little is left of what was found
        count = 1 + int(self._generator.geometric(0.4))
        for place in self._generator.choice(levels.size, min(count, levels.size), replace=False):
            # no node below the lowest levels keeps to the target
            span = lowest[place], self._lattice.heights[place] + 1
            levels[place] = self._generator.integers(*span)
        return tuple(levels.tolist())


# The nodes on the way ---------------------------------------------------------------------------


def visited(
    problem: Problem,
    privacy: Sequence[PrivacyModel],
    suppression_limit: float,
    qualities: Mapping[str, Quality],
    *,
    steps: int,
    report: Report = unreported,
) -> NodeTable:
    """The nodes that a best-effort search of so many steps looks at, with all their figures."""
    evaluator = make_evaluator(problem, privacy, suppression_limit, next(iter(qualities.values())))
    run = _Visiting(evaluator, qualities, report)
    run.walk(steps)
    return run.table()


class _Visiting(_BestEffort):
    """A search that writes down what it sees."""

    _completely = True

    def __init__(
        self, evaluator: Evaluator, qualities: Mapping[str, Quality], report: Report
    ) -> None:
        super().__init__(evaluator, np.random.default_rng(0), Examiner(evaluator), report)
        self._measures = {
            name: quality.prepare(evaluator.problem.facts) for name, quality in qualities.items()
        }
        self._seen: dict[Levels, tuple[float, ...]] = {}

    def walk(self, steps: int) -> None:
        """Search, whether or not something valid is found."""
        with contextlib.suppress(MethodError):
            self.search(steps, np.inf)

    def _take(self, evaluation: Evaluation) -> None:
        super()._take(evaluation)
        losses = [one.scalar(one.vector(evaluation.partition)) for one in self._measures.values()]
        figures = evaluation.valid, evaluation.classes, evaluation.outliers
        self._seen[evaluation.levels] = (*figures, *map(float, losses))

    def table(self) -> NodeTable:
        """What was seen, in lexicographic order."""
        nodes = sorted(self._seen)
        figures = np.array([self._seen[node] for node in nodes]).T
        losses = dict(zip(self._measures, figures[3:], strict=True))
        levels = np.array(nodes, np.int32)
        return node_table(self._evaluator.problem, levels, figures[:3].astype(np.int64), losses)
