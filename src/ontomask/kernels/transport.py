"""The least cost of moving one distribution to another."""

from __future__ import annotations

import numpy as np
from numba import njit

from ontomask.arrays import Floats, Longs

__all__ = ["transport_cost"]

ROUNDING = 1e-12


@njit(cache=True, nogil=True)
def transport_cost(costs: Floats, supply: Floats, demand: Floats) -> float:
    """The earth mover's distance of two distributions over d values with d x d costs.

    Successive shortest paths: each value in turn sends what it has along the cheapest way to one
    that wants more; a way may take back what was sent before. Potentials keep the reduced costs
    from becoming negative, so that Dijkstra's algorithm finds the ways.
    """
    size = costs.shape[0]
    flow = np.zeros((size, size))
    inside, outside = np.zeros(size), np.empty(size)
    for sink in range(size):
        outside[sink] = costs[:, sink].min()
    left, wanted = supply.copy(), demand * (supply.sum() / demand.sum())
    for source in range(size):
        while left[source] > ROUNDING:
            sink = _send(costs, flow, inside, outside, left, wanted, source)
            if sink < 0:
                break
    return float((flow * costs).sum())


@njit(cache=True, nogil=True)
def _send(
    costs: Floats,
    flow: Floats,
    inside: Floats,
    outside: Floats,
    left: Floats,
    wanted: Floats,
    source: int,
) -> int:
    """Send as much as possible along one cheapest way; return where to, -1 if nowhere."""
    size = costs.shape[0]
    way_in, way_out = np.full(size, np.inf), np.full(size, np.inf)
    before_out, before_in = np.full(size, -1), np.full(size, -1)
    done = np.zeros(size, np.bool_)
    way_in[source] = 0.0
    _extend(costs, inside, outside, way_in, way_out, before_out, source)
    while True:
        sink = -1
        for candidate in range(size):
            if not done[candidate] and (sink < 0 or way_out[candidate] < way_out[sink]):
                sink = candidate
        if sink < 0:
            return -1
        done[sink] = True
        if wanted[sink] > ROUNDING:
            break
        for giver in range(size):
            if flow[giver, sink] > 0 and np.isinf(way_in[giver]):
                way_in[giver] = way_out[sink]
                before_in[giver] = sink
                _extend(costs, inside, outside, way_in, way_out, before_out, giver)
    for value in range(size):
        inside[value] += max(way_out[sink] - way_in[value], 0.0)
        outside[value] -= max(way_out[sink] - way_out[value], 0.0)
    _push(flow, left, wanted, before_out, before_in, source, sink)
    return sink


@njit(cache=True, nogil=True)
def _extend(
    costs: Floats,
    inside: Floats,
    outside: Floats,
    way_in: Floats,
    way_out: Floats,
    before_out: Longs,
    giver: int,
) -> None:
    """Note where it is nearer to go by way of a giver."""
    for sink in range(costs.shape[0]):
        reduced = max(costs[giver, sink] - inside[giver] - outside[sink], 0.0)
        if way_in[giver] + reduced < way_out[sink]:
            way_out[sink] = way_in[giver] + reduced
            before_out[sink] = giver


@njit(cache=True, nogil=True)
def _push(
    flow: Floats,
    left: Floats,
    wanted: Floats,
    before_out: Longs,
    before_in: Longs,
    source: int,
    sink: int,
) -> None:
    """Send what the source has, the sink wants and the ways back allow."""
    amount = min(left[source], wanted[sink])
    place = sink
    while before_out[place] != source:
        giver = before_out[place]
        place = before_in[giver]
        amount = min(amount, flow[giver, place])
    place = sink
    while True:
        giver = before_out[place]
        flow[giver, place] += amount
        if giver == source:
            break
        place = before_in[giver]
        flow[giver, place] -= amount
    left[source] -= amount
    wanted[sink] -= amount
