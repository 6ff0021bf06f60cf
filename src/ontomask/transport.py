"""What moving shares between values costs, by NumPy and SciPy alone: for the recount of promises.

Plans are tried from the simplest to the best one; a plan that is good enough makes a better one
needless. What is stated is at least the true distance: the cost of a plan that can be carried out.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from ontomask.arrays import Floats, Longs

__all__ = ["cost_of_moving"]

NEAR = 32
"""So many ways of each value are enough for a plan that is nearly the best."""


def cost_of_moving(distances: Floats, nearest: Longs, excess: Floats, limit: float) -> float:
    """What it costs to bring what is too much to where it lacks; the least, if above the limit.

    Parameters
    ----------
    distances
        Of all pairs of values.
    nearest
        For each value all values, the nearest first.
    excess
        What each value has too much of, negative where it lacks.
    limit
        A plan that costs no more is good enough.
    """
    cost = _simple_plan(distances, nearest, excess)
    sources, targets = np.flatnonzero(excess > 0), np.flatnonzero(excess < 0)
    if cost <= limit or not sources.size or not targets.size:
        return cost
    costs = distances[np.ix_(sources, targets)]
    surplus, lack = excess[sources], -excess[targets]
    cost, ways = _thrifty_plan(costs, surplus, lack)
    if cost > limit and min(costs.shape) > 1:
        cost = min(cost, _best_plan(costs, surplus, lack, _near_ways(costs, ways)))
    if cost > limit:
        cost = _best_plan(costs, surplus, lack, np.arange(costs.size))
    return cost


def _simple_plan(distances: Floats, nearest: Longs, excess: Floats) -> float:
    """Each surplus goes to the nearest values that still lack some."""
    lack, cost = np.maximum(-excess, 0.0), 0.0
    for source in np.flatnonzero(excess > 0).tolist():
        targets = nearest[source]
        wanted = np.cumsum(lack[targets])
        moved = np.diff(np.minimum(wanted, excess[source]), prepend=0.0)
        cost += float(moved @ distances[source, targets])
        lack[targets] -= moved
    return cost


def _thrifty_plan(costs: Floats, surplus: Floats, lack: Floats) -> tuple[float, list[int]]:
    """The cheapest ways first, each as far as it can be used; the cost and the ways."""
    left, wanted = surplus.tolist(), lack.tolist()
    order = np.argsort(costs, axis=None, kind="stable")
    total, used = 0.0, []
    for way, price in zip(order.tolist(), costs.ravel()[order].tolist(), strict=True):
        source, target = divmod(way, len(wanted))
        moved = min(left[source], wanted[target])
        if moved > 0.0:
            left[source] -= moved
            wanted[target] -= moved
            total += moved * price
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
    """The cheapest plan over some ways, as a linear program."""
    rows = np.concatenate([ways // lack.size, surplus.size + ways % lack.size])
    columns = np.tile(np.arange(ways.size), 2)
    shape = (surplus.size + lack.size, ways.size)
    bound = coo_array((np.ones(rows.size), (rows, columns)), shape=shape)
    amounts = np.concatenate([surplus, lack * (surplus.sum() / lack.sum())])
    solved = linprog(costs.ravel()[ways], A_eq=bound.tocsr(), b_eq=amounts)
    return float(solved.fun) if solved.success else math.inf
