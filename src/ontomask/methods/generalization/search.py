"""Searches through the whole lattice: the best node, provably, and a table of all nodes."""

from __future__ import annotations

import functools
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs, stretches
from ontomask.brevity import Brief
from ontomask.checks import Real, check
from ontomask.errors import MethodError
from ontomask.kernels.blocks import side_by_side
from ontomask.methods.base import Paced, Progress, record_limit, silent
from ontomask.methods.generalization.evaluation import Evaluation, Evaluator
from ontomask.methods.generalization.examination import Examiner
from ontomask.methods.generalization.groupings import Grouping, Levels
from ontomask.methods.generalization.lattice import (
    Bounds,
    Lattice,
    at_all_nodes,
    below,
    in_memory,
)
from ontomask.methods.generalization.problem import Problem
from ontomask.methods.generalization.projections import possible_nodes
from ontomask.privacy import PrivacyModel
from ontomask.quality import Loss, Quality

__all__ = ["NodeTable", "Solution", "exhaustive", "optimal"]

AHEAD = 512
"""So many nodes are looked through at a time for one to go on from."""

LARGE = 500
"""In lattices of so many nodes it saves time to look at pairs of attributes first."""

MANY = 500_000
"""So many records are enough for threads to share them in the end."""

WAYS = 3
"""So many have a node that is looked at: one for each of two cores, and one for the core that is
done first. More of them look at nodes that fewer would have excluded."""

TOLERANCE = 1e-12
"""Losses that differ by less than this, relatively, are equal."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The outcome of a search.

    Attributes
    ----------
    levels
        The chosen level of each quasi-identifier.
    loss
        The quality model's value.
    suppressed
        Which records are suppressed.
    outliers
        How many people they stand for.
    optimal
        Whether no valid node has a smaller loss.
    bound
        No valid node has a loss smaller than this.
    checked, pruned, total
        The number of nodes that were evaluated, excluded without that, and there at all.
    seconds
        How long it took.
    trace
        The losses of the best nodes found, each with the seconds and the nodes checked until then.
    """

    levels: Levels
    loss: float
    suppressed: Bools
    outliers: int
    optimal: bool
    bound: float
    checked: int
    pruned: int
    total: int
    seconds: float
    trace: tuple[tuple[float, int, float], ...] = field(default=(), repr=False)


class Incumbent:
    """The best valid node so far, and the nearest miss."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._start = time.perf_counter()
        self.best: Evaluation | None = None
        self.key: tuple[float, ...] = (np.inf,)
        self.nearest: Evaluation | None = None
        self.checked = 0
        self.trace: list[tuple[float, int, float]] = []

    @property
    def seconds(self) -> float:
        """The time since the search began."""
        return time.perf_counter() - self._start

    @property
    def ceiling(self) -> float:
        """Nodes whose loss is certainly above this cannot be better."""
        return self.key[0] + TOLERANCE * abs(self.key[0])

    def consider(self, evaluation: Evaluation) -> bool:
        """Take an evaluated node into account; tell whether it is the best so far."""
        self.checked += 1
        if evaluation.complete and (
            self.nearest is None or evaluation.outliers < self.nearest.outliers
        ):
            self.nearest = evaluation
        if not evaluation.valid:
            return False
        key = self._evaluator.measure.key(evaluation.vector)
        if self.best is not None and not self._precedes(key, evaluation.levels):
            return False
        self.best, self.key = evaluation, key
        self.trace.append((self.seconds, self.checked, self.loss))
        return True

    @property
    def loss(self) -> float:
        """The loss of the best node."""
        assert self.best is not None
        return float(self._evaluator.measure.scalar(self.best.vector))

    def _precedes(self, key: tuple[float, ...], levels: Levels) -> bool:
        """Smaller loss, then lower level sum, then smaller vector."""
        assert self.best is not None
        for new, old in zip(key, self.key, strict=True):
            if abs(new - old) > TOLERANCE * max(abs(new), abs(old)):
                return new < old
        return (sum(levels), levels) < (sum(self.best.levels), self.best.levels)

    def solution(self, lattice_size: int, *, bound: float | None = None) -> Solution:
        """The outcome; without a bound, the node is proven to be the best."""
        if self.best is None:
            raise self._nothing_valid(everywhere=bound is None or self.checked == lattice_size)
        # a bound that is reached is a proof, whatever was not looked at
        proven = bound is None or self.key[0] <= bound + TOLERANCE * abs(bound)
        return Solution(
            levels=tuple(int(level) for level in self.best.levels),
            loss=self.loss,
            suppressed=suppressed_records(self._evaluator.problem, self.best),
            outliers=self.best.outliers,
            optimal=proven,
            bound=self.key[0] if bound is None or proven else bound,
            checked=self.checked,
            pruned=lattice_size - self.checked if proven else 0,
            total=lattice_size,
            seconds=self.seconds,
            trace=tuple(self.trace),
        )

    def _nothing_valid(self, *, everywhere: bool) -> MethodError:
        nearest, limit = self.nearest, self._evaluator.limit
        if nearest is None:
            return MethodError(
                "The time was up before one combination of levels was checked; allow more seconds."
            )
        found = "No combination of levels" if everywhere else "No combination that was checked"
        if self._evaluator.unmendable:
            return MethodError(
                f"{found} satisfies the privacy models: {self._evaluator.unmendable[0]} must hold "
                "for every class of the population, those without records included, and "
                "suppression cannot mend it; lower its minimum."
            )
        names = self._evaluator.problem.names
        shown = ", ".join(f"{n}: {level}" for n, level in zip(names, nearest.levels, strict=True))
        share = nearest.outliers / self._evaluator.problem.records
        return MethodError(
            f"{found} satisfies the privacy models with at most {limit} records suppressed; the "
            f"nearest miss suppresses {nearest.outliers} (levels {shown}). Raise suppression_limit "
            f"to {share:.4f} or more, or weaken the privacy models."
        )


def suppressed_records(problem: Problem, evaluation: Evaluation) -> Bools:
    """Which records lie in suppressed classes."""
    partition = evaluation.partition
    if not partition.suppressed.any():
        return np.zeros(problem.tuples.places.size, bool)
    gone, places = partition.at_tuples(partition.suppressed), problem.tuples.places
    suppressed = np.empty(places.size, bool)

    def work(some: slice) -> None:
        # in stretches: places are widened to index by them, and memory that is new takes longest
        suppressed[some] = gone.take(places[some])

    side_by_side(work, stretches(places.size), shares=places.size >= MANY)
    return suppressed


def optimal(
    problem: Problem,
    privacy: Sequence[PrivacyModel],
    suppression_limit: float = 0.0,
    quality: Quality | None = None,
    *,
    progress: Progress = silent,
    budget: int = 50_000_000,
) -> Solution:
    """The valid node with the least loss.

    Nodes are taken in the order of their lower bounds. From each, a way leads up through nodes
    that may still be better than the best one known; it is searched by halves: where too many
    records fail for good, everything below is excluded, otherwise the node's loss and the bounds
    that it gives exclude others. Ties: the lower level sum, then the smaller vector.

    Parameters
    ----------
    problem
        The table.
    privacy
        The models, all of which must hold.
    suppression_limit
        The share of records that may be suppressed.
    quality
        What to minimize, `Loss()` by default.
    progress
        Called now and then with how far it is; it may raise to stop the search.
    budget
        How many numbers may be kept in groupings to start from.
    """
    evaluator = make_evaluator(problem, privacy, suppression_limit, quality)
    lattice = Lattice(problem.heights)
    lattice.check_size()
    with Examiner(evaluator, budget, bounding=True) as examiner:
        return _Optimal(evaluator, lattice, examiner, progress).search()


def make_evaluator(
    problem: Problem,
    privacy: Sequence[PrivacyModel],
    suppression_limit: float,
    quality: Quality | None,
) -> Evaluator:
    """Check the parameters of a search and bring them together."""
    check("suppression_limit", suppression_limit, Real(0, 1))
    limit = record_limit(suppression_limit, problem.records)
    return Evaluator(problem, privacy, limit, quality or Loss())


def granularity(problem: Problem) -> Floats:
    """The loss of every node if no record were suppressed: where to look first."""
    measure = Loss().prepare(problem.facts)
    assert measure.floors is not None
    return at_all_nodes(measure, measure.floors)


class _Way:
    """A way up through the lattice that is searched by halves."""

    def __init__(self, nodes: list[Levels], *, from_above: bool) -> None:
        self._nodes = nodes
        self._low, self._high = 0, len(nodes) - 1
        self._middle = self._high if from_above else self._high // 2

    def next(self, promising: Callable[[Levels], bool]) -> Levels | None:
        """The node to look at next, if any; those that are not promising are passed by."""
        while self._low <= self._high and promising(self._nodes[self._low]):
            if promising(self._nodes[self._middle]):
                return self._nodes[self._middle]
            self.turn(down=True)
        return None

    def turn(self, *, down: bool) -> None:
        """Go on in the lower or the upper half."""
        if down:
            self._high = self._middle - 1
        else:
            self._low = self._middle + 1
        self._middle = (self._low + self._high) // 2


class _Optimal:
    """The state of one search for the best node."""

    def __init__(
        self, evaluator: Evaluator, lattice: Lattice, examiner: Examiner, progress: Progress
    ) -> None:
        self._evaluator = evaluator
        self._lattice = lattice
        self._tell = Paced(progress)
        self._examiner = examiner
        self._bounds = Bounds(evaluator.measure, lattice)
        self._open = np.ones(lattice.shape, bool, order="F")
        self._guide = granularity(evaluator.problem)
        self._incumbent = Incumbent(evaluator)

    def search(self) -> Solution:
        """Check nodes until none is left that could be better."""
        self._take(*self._examiner.examine([self._lattice.heights], complete=True))
        if self._lattice.size >= LARGE:
            evaluator, shares = self._evaluator, self._examiner.shares
            asked = evaluator.problem, evaluator.smallest, evaluator.limit
            self._open &= possible_nodes(*asked, shares=shares)
        # several ways where nodes share the cores, however many there are: nodes are taken into
        # account in the order in which they were begun, so that the answer is always the same
        most = WAYS if self._examiner.shares else 1
        begun: deque[_Way] = deque()
        for way in map(self._way_up, self._starts()):
            if self._begin(way):
                begun.append(way)
            while len(begun) == most:
                self._go_on(begun)
        while begun:
            self._go_on(begun)
        return self._incumbent.solution(self._lattice.size)

    def _starts(self) -> Iterator[Levels]:
        """Yield the promising nodes by lower bound, then level sum, then vector."""
        levels = np.nonzero(self._open)
        nodes = np.ravel_multi_index(levels, self._lattice.shape, order="F")
        guide = in_memory(self._guide)[nodes]
        order = nodes[np.lexsort((np.add.reduce(levels), guide, self._bounds.of(nodes)))]
        start = 0
        while start < order.size:
            ahead = order[start : start + AHEAD]
            promising = self._bounds_of(ahead) < np.inf
            first = int(promising.argmax())
            start += first + 1 if promising[first] else ahead.size
            if promising[first]:
                node = np.unravel_index(ahead[first], self._lattice.shape, order="F")
                yield tuple(int(level) for level in node)

    def _bounds_of(self, nodes: Longs) -> Floats:
        """The lower bounds of nodes given by their places, infinite for those that are excluded."""
        bounds = self._bounds.of(nodes)
        promising = in_memory(self._open)[nodes] & (bounds <= self._incumbent.ceiling)
        return np.where(promising, bounds, np.inf)

    def _promising(self, levels: Levels) -> bool:
        """Whether the node is not excluded."""
        return bool(self._open[levels] and self._bounds.at(levels) <= self._incumbent.ceiling)

    def _way_up(self, levels: Levels) -> _Way:
        """From a node up, each time to the promising node with the smallest bound."""
        heights, level = np.array(self._lattice.heights), np.array(levels)
        steps = np.array(self._open.strides)
        place, way = int(level @ steps), [levels]
        while True:
            raised = np.flatnonzero(level < heights)
            bounds = self._bounds_of(place + steps[raised])
            best = int(bounds.argmin()) if raised.size else -1
            if best < 0 or bounds[best] == np.inf:
                # if the last node fails for good, the whole way does; later on that is likely
                return _Way(way, from_above=self._incumbent.checked > 20)
            level[raised[best]] += 1
            place += int(steps[raised[best]])
            way.append(tuple(level.tolist()))

    def _begin(self, way: _Way) -> bool:
        """Have the next node of a way looked at, if there is any."""
        node = way.next(self._promising)
        if node is not None:
            # other ways need not look at it, too
            self._open[node] = False
            self._examiner.begin(node)
        return node is not None

    def _go_on(self, begun: deque[_Way]) -> None:
        """Take the oldest node that is looked at into account, and begin the next of its way."""
        way, evaluation = begun.popleft(), self._examiner.first()
        way.turn(down=self._take(evaluation))
        above = self._lattice.successors(evaluation.levels)
        self._examiner.keep(wanted=any(map(self._promising, above)))
        if self._begin(way):
            begun.append(way)

    def _take(self, evaluation: Evaluation) -> bool:
        """Take an evaluated node into account; tell whether finer nodes may be valid."""
        levels = evaluation.levels
        self._open[levels] = False
        self._incumbent.consider(evaluation)
        self._tell(self._telling)
        if not self._bounds.by_levels:
            floor = self._evaluator.measure.floor(evaluation.partition)
            self._bounds.raise_above(levels, floor)
        # classes only grow smaller below: what fails for good here fails at all finer nodes
        if evaluation.lasting > self._evaluator.limit:
            self._open[below(levels)] = False
            return False
        # records that fail at all finer nodes cost there what suppression costs
        if evaluation.lasting:
            least = self._evaluator.measure.least(evaluation.lost)
            self._bounds.raise_below(levels, evaluation.surplus, least)
        return True

    def _telling(self) -> tuple[float, str]:
        checked, total = self._incumbent.checked, self._lattice.size
        decided = total - int(np.count_nonzero(self._open))
        message = f"{checked} nodes checked, {decided - checked} pruned, of {total}"
        return decided / total, message


# Every node -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NodeTable(Brief):
    """Nodes with their figures, in lexicographic order.

    Attributes
    ----------
    names
        The attributes.
    level_names
        For each attribute its levels in words, the lowest first.
    levels
        The levels (nodes x attributes).
    valid
        Whether the outliers are within the limit.
    classes
        The number of classes that are not suppressed.
    outliers
        The number of suppressed records.
    losses
        The value of each quality model, suppression applied even where the limit is exceeded.
    """

    names: tuple[str, ...]
    level_names: tuple[tuple[str, ...], ...]
    levels: Ints
    valid: Bools
    classes: Longs
    outliers: Longs
    losses: Mapping[str, Floats]

    def __len__(self) -> int:
        return len(self.levels)

    @property
    def total(self) -> int:
        """How many nodes the lattice has, those that were not looked at included."""
        return math.prod(map(len, self.level_names))

    def columns(self) -> dict[str, Ints | Longs | Bools | Floats]:
        """The table as columns by name, to make a data frame of."""
        columns: dict[str, Ints | Longs | Bools | Floats] = {
            name: self.levels[:, place] for place, name in enumerate(self.names)
        }
        columns |= {"valid": self.valid, "classes": self.classes, "suppressed": self.outliers}
        return {**columns, **self.losses}


def exhaustive(
    problem: Problem,
    privacy: Sequence[PrivacyModel],
    suppression_limit: float = 0.0,
    qualities: Mapping[str, Quality] | None = None,
    *,
    progress: Progress = silent,
) -> NodeTable:
    """Evaluate every node of the lattice by every quality model asked for.

    Each node is rolled up from the one before it in lexicographic order wherever that is finer,
    and otherwise from the last one that is.
    """
    chosen = dict(qualities or {Loss.name: Loss()})
    evaluator = make_evaluator(problem, privacy, suppression_limit, next(iter(chosen.values())))
    measures = {name: quality.prepare(problem.facts) for name, quality in chosen.items()}
    lattice = Lattice(problem.heights)
    lattice.check_size()
    size = lattice.size
    figures = np.zeros((3, size), np.int64)
    losses = {name: np.empty(size) for name in measures}
    tell = Paced(progress)
    for number, grouping in enumerate(_all_groupings(evaluator, lattice)):
        evaluation = evaluator.evaluate(grouping, complete=True)
        figures[:, number] = evaluation.valid, evaluation.classes, evaluation.outliers
        for name, measure in measures.items():
            losses[name][number] = measure.scalar(measure.vector(evaluation.partition))
        tell(functools.partial(_so_many, number + 1, size))
    levels = np.array(list(lattice.nodes()), np.int32).reshape(size, -1)
    return node_table(problem, levels, figures, losses)


def _so_many(done: int, size: int) -> tuple[float, str]:
    return done / size, f"{done} of {size} nodes"


def node_table(
    problem: Problem, levels: Ints, figures: Longs, losses: Mapping[str, Floats]
) -> NodeTable:
    """Nodes with their figures: whether they are valid, their classes, their outliers."""
    words = tuple(
        tuple(one.level_in_words(level) for level in range(height + 1))
        for one, height in zip(problem.hierarchies, problem.heights, strict=True)
    )
    valid, classes, outliers = figures
    return NodeTable(problem.names, words, levels, valid.astype(bool), classes, outliers, losses)


def _all_groupings(evaluator: Evaluator, lattice: Lattice) -> Iterator[Grouping]:
    """Yield the grouping of every node in lexicographic order.

    `prefixes[j]` is the grouping at the current levels of the attributes before j, the others at 0.
    """
    grouper = evaluator.grouper
    prefixes = [grouper.finest] * (len(lattice.heights) + 1)
    before: Levels = prefixes[0].levels
    for levels in lattice.nodes():
        if levels != before:
            pairs = zip(before, levels, strict=True)
            changed = next(place for place, (old, new) in enumerate(pairs) if old != new)
            current = grouper.roll_up(prefixes[changed + 1], levels)
            prefixes[changed + 1 :] = [current] * (len(prefixes) - changed - 1)
        before = levels
        yield prefixes[-1]
