"""What moving shares between values costs, without any kernel: for the recount of promises.

Plans are tried from the simplest to the best one; a plan that is good enough makes a better one
needless. What is stated is at least the true distance: the cost of a plan that can be carried out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from ontomask.agglomeration import Dendrogram, linkage
from ontomask.arrays import Floats, Longs

__all__ = ["costs_of_moving"]

CELLS = 2**21
"""So many cells of class times value are worked on at a time."""
NEAR = 32
"""So many ways of each value are enough for a plan that is nearly the best."""
AT_A_TIME = 512
"""Of so many ways it is seen at once which are still of use."""


def costs_of_moving(distances: Floats, excesses: Iterator[Floats], limit: float) -> Floats:
    """What it costs in each class to bring what is too much to where it lacks.

    Parameters
    ----------
    distances
        Of all pairs of values.
    excesses
        For each class what each value has too much of, negative where it lacks.
    limit
        A plan that costs no more is good enough.
    """
    found, united = [np.zeros(0)], linkage(distances, "complete")
    while block := list(itertools.islice(excesses, 1 + CELLS // len(distances))):
        costs = _plans_over_a_tree(united, np.array(block))
        for place in np.flatnonzero(costs > limit).tolist():
            costs[place] = min(costs[place], _cost_of_moving(distances, block[place], limit))
        found.append(costs)
    return np.concatenate(found)


def _plans_over_a_tree(tree: Dendrogram, excesses: Floats) -> Floats:
    """What one group has too much of and the other lacks is exchanged when they are united."""
    count, size = excesses.shape
    groups = np.concatenate([excesses.T, np.empty((len(tree.links), count))])
    total = np.zeros(count)
    unions = zip(tree.links.tolist(), tree.heights.tolist(), strict=True)
    for place, ((one, other), greatest) in enumerate(unions, start=size):
        first, second = groups[one], groups[other]
        opposed = np.minimum(np.abs(first), np.abs(second))
        total += greatest * np.where(first * second < 0.0, opposed, 0.0)
        groups[place] = first + second
    return total


def _cost_of_moving(distances: Floats, excess: Floats, limit: float) -> float:
    sources, targets = np.flatnonzero(excess > 0), np.flatnonzero(excess < 0)
    if not sources.size or not targets.size:
        return 0.0
    costs = distances[np.ix_(sources, targets)]
    surplus, lack = excess[sources], -excess[targets]
    cost, ways = _thrifty_plan(costs, surplus, lack)
    if cost > limit and min(costs.shape) > 1:
        cost = min(cost, _best_plan(costs, surplus, lack, _near_ways(costs, ways)))
    if cost > limit:
        cost = _best_plan(costs, surplus, lack, np.arange(costs.size))
    return cost


def _thrifty_plan(costs: Floats, surplus: Floats, lack: Floats) -> tuple[float, list[int]]:
    """The cheapest ways first, each as far as it can be used; the cost and the ways."""
    left, wanted = surplus.copy(), lack.copy()
    order = np.argsort(costs, axis=None, kind="stable")
    total, used = 0.0, []
    for start in range(0, order.size, AT_A_TIME):
        ways = order[start : start + AT_A_TIME]
        useful = (left[ways // lack.size] > 0.0) & (wanted[ways % lack.size] > 0.0)
        for way in ways[useful].tolist():
            source, target = divmod(way, lack.size)
            moved = min(left[source], wanted[target])
            left[source] -= moved
            wanted[target] -= moved
            total += float(moved * costs[source, target])
            used.append(way)
    return total, used


def _near_ways(costs: Floats, used: list[int]) -> Longs:
    """The ways between near values, and those that were used, so that there is a plan."""
    chosen = np.zeros(costs.shape, bool)
    for axis in range(2):
        most = min(NEAR, costs.shape[axis])
        places = np.argpartition(costs, most - 1, axis=axis).take(np.arange(most), axis=axis)
        np.put_along_axis(chosen, places, True, axis=axis)
    chosen.ravel()[used] = True
    return np.flatnonzero(chosen)


def _best_plan(costs: Floats, surplus: Floats, lack: Floats, ways: Longs) -> float:
    """The cheapest plan over some ways, as a linear program that HiGHS solves."""
    import highspy  # takes long, and few need it

    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = ways.size, surplus.size + lack.size
    program.col_cost_ = costs.ravel()[ways]
    program.col_lower_, program.col_upper_ = np.zeros(ways.size), np.full(ways.size, np.inf)
    program.row_lower_ = np.concatenate([surplus, lack * (surplus.sum() / lack.sum())])
    program.row_upper_ = program.row_lower_
    # each way takes from one source and gives to one target
    program.a_matrix_.start_ = np.arange(0, 2 * ways.size + 1, 2)
    ends = np.column_stack([ways // lack.size, surplus.size + ways % lack.size])
    program.a_matrix_.index_ = ends.ravel()
    program.a_matrix_.value_ = np.ones(ends.size)
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.silent()
    solver.setOptionValue("threads", 1)
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return math.inf
    return float(solver.getObjectiveValue())
