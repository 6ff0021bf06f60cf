"""Search within a budget, for lattices too large to be looked at node by node."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools
from ontomask.checks import AnyOf, Integer, Null, Real, check
from ontomask.errors import MethodError, ParameterError
from ontomask.methods.base import Paced, Progress, record_limit, silent
from ontomask.methods.generalization.evaluation import Evaluation, Evaluator
from ontomask.methods.generalization.examination import Examiner
from ontomask.methods.generalization.groupings import Levels
from ontomask.methods.generalization.lattice import Lattice
from ontomask.methods.generalization.problem import Problem
from ontomask.methods.generalization.search import (
    Incumbent,
    NodeTable,
    Solution,
    make_evaluator,
    node_table,
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
    progress: Progress = silent,
    budget: int = 50_000_000,
) -> Solution:
    """The best valid node found within a number of steps, or within a time.

    The same nodes are looked at whatever may be suppressed; the limit only says which of them are
    valid. So a limit finds all that stricter ones do, and in as many steps never ends with a
    greater loss than they. The best nodes are looked for with several targets, which are the
    greatest numbers of outliers: none, a share of `SHARES`, any.

    Climb: from the lowest levels, generalize the attribute that removes most outliers for the least
    loss, until there are no more than a target allows. Settle: from there, go on to neighbors as
    long as the loss falls. Then again and again: lower and raise some attributes of a best node at
    random, climb and settle from there; mostly for the target for which that last led to something
    better.

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
    progress
        Called now and then with how far it is; it may raise to stop the search.
    budget
        How many numbers may be kept in groupings to start from.
    """
    check("steps", steps, AnyOf(Integer(1), Null()))
    check("seconds", seconds, AnyOf(Real(0, open_low=True), Null()))
    if steps is None and seconds is None:
        raise ParameterError("A best-effort search needs a budget: give steps=… or seconds=….")
    evaluator = make_evaluator(problem, privacy, suppression_limit, quality)
    chosen = np.random.default_rng(0) if generator is None else generator
    with Examiner(evaluator, budget, measuring=True) as examiner:
        run = _BestEffort(evaluator, chosen, examiner, progress)
        return run.search(steps or 2**62, seconds or np.inf)


SHARES = (0.0, 0.02, 0.1, 1.0)
"""Of the records, so many are outliers at most at the nodes that are looked for."""

TOGETHER = 8
"""So many nodes are looked at together before the time is."""

MOST_IDLE = 1000
"""After so many attempts in a row that met only known nodes, there is little left to find."""

SMALL = 20_000
"""Of lattices with so many nodes, those that are left then are looked at, too."""

REMEMBERED = 4096
"""So many of the last nodes tell which finer ones have too many outliers."""

Key = tuple[float, ...]
"""A loss to compare nodes by."""


class _Spent(Exception):  # noqa: N818 - a signal, not an error
    """The budget is used up."""


@dataclass
class _Target:
    """The best node with at most so many outliers, and the last one that has no better neighbor."""

    outliers: int
    lasts: bool
    """Whether nodes below one with too many outliers have too many, too."""
    lowest: Levels
    """What each attribute needs at least."""
    best: Levels | None = None
    key: Key = (np.inf,)
    settled: Levels | None = None


class _Memory:
    """The last nodes that were looked at, and their outliers."""

    def __init__(self, attributes: int) -> None:
        self._levels = np.full((REMEMBERED, attributes), -1, np.int32)
        self._outliers = np.zeros(REMEMBERED, np.int64)
        self._next = 0

    def add(self, levels: Levels, outliers: int) -> None:
        """Remember a node instead of the oldest one."""
        place = self._next % REMEMBERED
        self._levels[place], self._outliers[place] = levels, outliers
        self._next += 1

    def failing_below(self, levels: Levels, most: int) -> Bools:
        """The attributes whose lowering leads below a node with more than so many outliers."""
        lacking = np.array(levels) - self._levels[: self._next][self._outliers[: self._next] > most]
        # such a node lies above all of the levels but one, which it misses by one
        near = lacking[np.maximum(lacking, 0).sum(axis=1) == 1]
        return np.asarray((near > 0).any(axis=0))


class _BestEffort:
    """The state of one search."""

    def __init__(
        self,
        evaluator: Evaluator,
        generator: np.random.Generator,
        examiner: Examiner,
        progress: Progress,
    ) -> None:
        self._evaluator = evaluator
        self._lattice = Lattice(evaluator.problem.heights)
        self._generator = generator
        self._examiner = examiner
        self._tell = Paced(progress)
        self._incumbent = Incumbent(evaluator)
        self._known: dict[Levels, tuple[int, Key]] = {}
        self._memory = _Memory(len(self._lattice.heights))
        self._gains: dict[tuple[int, int], float] = {}
        floors = Loss().prepare(evaluator.problem.facts).floors or ()
        self._rises = [np.diff(floor, append=np.inf).tolist() for floor in floors]
        self._everyone = int(evaluator.problem.records)
        most = sorted({record_limit(share, self._everyone) for share in SHARES})
        bottom = tuple(0 for _ in self._lattice.heights)
        self._targets = [_Target(one, evaluator.lasts_at(one), bottom) for one in most]

    def search(self, steps: int, seconds: float) -> Solution:
        """Climb and settle until the budget is used up."""
        self._steps, self._seconds = steps, seconds
        self._evaluator.watch = self._check_time
        bound = -np.inf
        try:
            self._look(self._lattice.heights)
            for target in self._targets:
                self._look_for_lowest(target)
                target.lowest = self._lowest_levels(target.outliers)
            bound = self._bound()
            self._begin()
            self._go_on(bound)
        except _Spent:
            pass
        complete = self._incumbent.checked == self._lattice.size
        return self._incumbent.solution(self._lattice.size, bound=None if complete else bound)

    def _begin(self) -> None:
        """Climb to fewer and fewer outliers, each time from where there are more."""
        # where everybody may be an outlier, nothing leads upward
        *others, last = self._targets
        levels = last.lowest
        for target in reversed(others):
            levels = tuple(map(max, levels, target.lowest))
            levels = self._climb(levels, target)
            self._settle(levels, target)

    def _go_on(self, bound: float) -> None:
        """Attempt to find better nodes, mostly with the target that last led to one."""
        idle = turn = leading = 0
        while not self._proven(bound) and idle < min(MOST_IDLE, self._lattice.size):
            number = leading if turn % 4 else turn // 4 % len(self._targets)
            target, checked = self._targets[number], self._incumbent.checked
            before = target.key
            self._attempt(target)
            if target.key < before:
                leading = number
            elif number == leading:
                leading = (leading + 1) % len(self._targets)
            idle = idle + 1 if self._incumbent.checked == checked else 0
            turn += 1
        if self._lattice.size <= SMALL and not self._proven(bound):
            self._look_at(list(self._lattice.nodes()))

    def _attempt(self, target: _Target) -> None:
        """Look for a better node near the best ones."""
        if target.best is None:
            return
        if target.best != target.settled:  # it was found on the way to another target
            target.settled = self._settle(target.best, target)
            return
        self._settle(self._climb(self._shaken(target), target), target)

    def _proven(self, bound: float) -> bool:
        if self._incumbent.checked == self._lattice.size:
            return True
        return self._incumbent.best is not None and self._incumbent.key[0] <= bound

    # Looking at nodes ---------------------------------------------------------------------------

    def _look(self, levels: Levels) -> tuple[int, Key]:
        """Outliers and loss of a node; what is known already costs nothing."""
        self._look_at([levels])
        return self._known[levels]

    def _look_at(self, nodes: Sequence[Levels]) -> None:
        """Evaluate nodes together that are not known yet, as far as the budget goes."""
        new = [node for node in nodes if node not in self._known]
        for start in range(0, len(new), TOGETHER):
            self._check_budget()
            few = new[start : start + TOGETHER]
            allowed = few[: self._steps - self._incumbent.checked]
            for evaluation in self._examiner.examine(allowed, complete=True):
                self._take(evaluation)
            if len(allowed) < len(few):
                raise _Spent

    def _take(self, evaluation: Evaluation) -> None:
        self._incumbent.consider(evaluation)
        levels, outliers = evaluation.levels, evaluation.outliers
        key = self._evaluator.measure.key(evaluation.vector)
        self._known[levels] = outliers, key
        self._memory.add(levels, outliers)
        for target in self._targets:
            if outliers <= target.outliers and key < target.key:
                target.best, target.key = levels, key

    def _check_time(self) -> None:
        if self._incumbent.seconds > self._seconds:
            raise _Spent

    def _check_budget(self) -> None:
        self._check_time()
        if self._incumbent.checked >= self._steps:
            raise _Spent
        self._tell(self._telling)

    def _telling(self) -> tuple[float, str]:
        checked, total = self._incumbent.checked, self._lattice.size
        share = max(checked / min(self._steps, total), self._incumbent.seconds / self._seconds)
        return min(1.0, share), f"{checked} nodes checked of {total}"

    # The lowest levels --------------------------------------------------------------------------

    def _look_for_lowest(self, target: _Target) -> None:
        """Look for the level that each attribute needs at least, all others being at the top."""
        if not target.lasts or target.outliers >= self._everyone:
            return
        spans = dict(enumerate((0, height) for height in self._lattice.heights))
        # all attributes at once, so that they share the cores
        while asked := {at: (low + high) // 2 for at, (low, high) in spans.items() if low < high}:
            self._look_at([self._lowered(*one) for one in asked.items()])
            for place, middle in asked.items():
                outliers, (low, high) = self._look(self._lowered(place, middle))[0], spans[place]
                spans[place] = (low, middle) if outliers <= target.outliers else (middle + 1, high)

    def _lowered(self, place: int, level: int) -> Levels:
        """The highest node with one attribute at another level."""
        heights = self._lattice.heights
        return (*heights[:place], level, *heights[place + 1 :])

    def _lowest_levels(self, most: int) -> Levels:
        """What each attribute needs at least for so many outliers, as far as nodes tell."""
        if not self._evaluator.lasts_at(most):
            return tuple(0 for _ in self._lattice.heights)
        return tuple(self._lowest_level(place, most) for place in range(len(self._rises)))

    def _lowest_level(self, place: int, most: int) -> int:
        for level in range(self._lattice.heights[place] - 1, -1, -1):
            outliers, _ = self._known.get(self._lowered(place, level), (0, ()))
            if outliers > most:
                return level + 1
        return 0

    def _bound(self) -> float:
        """No valid node is below the lowest levels, so that their floor is a bound."""
        floors = self._evaluator.measure.floors
        if floors is None:
            return -np.inf
        lowest = self._lowest_levels(self._evaluator.limit)
        parts = [floor[level] for floor, level in zip(floors, lowest, strict=True)]
        return float(self._evaluator.measure.scalar(parts))

    # Ways through the lattice -------------------------------------------------------------------

    def _climb(self, levels: Levels, target: _Target) -> Levels:
        """Go up until the target is reached, by what removes most outliers for the least loss."""
        while self._look(levels)[0] > target.outliers and levels != self._lattice.heights:
            levels = self._raised(levels)
        return levels

    def _raised(self, levels: Levels) -> Levels:
        """Raise the attribute that gains most, looking at those first that last did so."""
        nodes = {(place, levels[place]): node for place, node in self._neighbors(levels, 1).items()}
        order = sorted(nodes, key=lambda step: -self._gains.get(step, np.inf))
        outliers, _ = self._look(levels)
        for start in range(0, len(order), TOGETHER):
            few = order[start : start + TOGETHER]
            self._look_at([nodes[step] for step in few])
            for step in few:
                removed = outliers - self._look(nodes[step])[0]
                # a step may cost nothing
                self._gains[step] = removed / (self._rises[step[0]][step[1]] + 1e-9)
            best = max(order[: start + TOGETHER], key=lambda step: self._gains[step])
            after = order[start + TOGETHER : start + TOGETHER + 1]
            if all(self._gains[best] >= self._gains.get(step, np.inf) for step in after):
                break
        return nodes[best]

    def _neighbors(self, levels: Levels, change: int) -> dict[int, Levels]:
        """The nodes at which one attribute is higher or lower, by attribute."""
        return {
            place: (*levels[:place], level + change, *levels[place + 1 :])
            for place, level in enumerate(levels)
            if 0 <= level + change <= self._lattice.heights[place]
        }

    def _settle(self, levels: Levels, target: _Target) -> Levels:
        """Go to the best neighbor as long as it is better: a finer one, else a coarser one."""
        outliers, key = self._look(levels)
        if outliers > target.outliers:
            return levels
        while True:
            better = self._better(self._finer(levels, target), target, key)
            if better is None and self._known[levels][0]:  # else there is nobody to win back
                better = self._better(self._coarser(levels), target, key)
            if better is None:
                return levels
            levels, key = better, self._known[better][1]

    def _finer(self, levels: Levels, target: _Target) -> list[Levels]:
        """The neighbors below that may keep to a target."""
        nodes = self._neighbors(levels, -1)
        if not target.lasts:
            return list(nodes.values())
        failing = self._memory.failing_below(levels, target.outliers)
        return [node for place, node in nodes.items() if not failing[place]]

    def _coarser(self, levels: Levels) -> list[Levels]:
        """Some neighbors above, those that cost least."""
        nodes = self._neighbors(levels, 1)
        order = sorted(nodes, key=lambda place: self._rises[place][levels[place]])
        return [nodes[place] for place in order[:TOGETHER]]

    def _better(self, nodes: Sequence[Levels], target: _Target, key: Key) -> Levels | None:
        """The best of the nodes that keep to a target, if it is better than a given loss."""
        self._look_at(nodes)
        found = [node for node in nodes if self._known[node][0] <= target.outliers]
        best = min(found, key=lambda node: self._known[node][1], default=None)
        return best if best is not None and self._known[best][1] < key else None

    def _shaken(self, target: _Target) -> Levels:
        """A best node with some attributes lowered, or some lowered and others raised."""
        draw = self._generator
        levels = np.array(self._start(target))
        lowest = np.minimum(levels, target.lowest)
        lower = np.flatnonzero(levels > lowest)
        if not lower.size or draw.random() < 0.3:
            # mostly few: with many, little is left of what was found
            count = min(1 + int(draw.geometric(0.4)), levels.size)
            for place in draw.choice(levels.size, count, replace=False):
                levels[place] = draw.integers(lowest[place], self._lattice.heights[place] + 1)
        else:
            for place in draw.choice(lower, min(int(draw.geometric(0.5)), lower.size), False):
                levels[place] = draw.integers(lowest[place], levels[place])
        return tuple(levels.tolist())

    def _start(self, target: _Target) -> Levels:
        """The best node for a target; now and then one that has more outliers."""
        looser = self._targets[self._targets.index(target) :]
        if self._generator.random() < 0.3:
            target = looser[int(self._generator.integers(len(looser)))]
        assert target.best is not None
        return target.best


# The nodes on the way ---------------------------------------------------------------------------


def visited(
    problem: Problem,
    privacy: Sequence[PrivacyModel],
    suppression_limit: float,
    qualities: Mapping[str, Quality],
    *,
    steps: int,
    progress: Progress = silent,
) -> NodeTable:
    """The nodes that a best-effort search of so many steps looks at, with all their figures."""
    evaluator = make_evaluator(problem, privacy, suppression_limit, next(iter(qualities.values())))
    with Examiner(evaluator) as examiner:
        run = _Visiting(evaluator, qualities, examiner, progress)
        run.walk(steps)
    return run.table()


class _Visiting(_BestEffort):
    """A search that writes down what it sees."""

    def __init__(
        self,
        evaluator: Evaluator,
        qualities: Mapping[str, Quality],
        examiner: Examiner,
        progress: Progress,
    ) -> None:
        super().__init__(evaluator, np.random.default_rng(0), examiner, progress)
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
