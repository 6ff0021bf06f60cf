"""The least cost of moving what some values have too much of to those that have too little."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Longs
from ontomask.kernels.compiling import allocating, apart, compiled, part

__all__ = ["least_cost", "tree_costs"]

ROUNDING = 1e-13
"""Costs that differ by less than this are equal."""

ROUND = 64
"""So many exchanges are made before the bound is looked at again."""

CALM = 200
"""After so many exchanges in a row that moved nothing, they are chosen so that none comes back."""


@allocating
def tree_costs(excess: Floats, links: Longs, heights: Floats) -> Floats:
    """For each row what moving costs if it goes over a tree: a pair costs where its ways meet.

    The tree unites two nodes at a time, `links[i]`, into node d + i at a height; the first d nodes
    are the values. What is too much on one side and too little on the other is exchanged there.
    """
    count, size = excess.shape
    costs, nodes = np.zeros(count), np.empty(size + len(links))
    for row in range(count):
        for value in range(size):  # a slice would take the compiler seconds
            nodes[value] = excess[row, value]
        for link in range(len(links)):
            first, second = nodes[links[link, 0]], nodes[links[link, 1]]
            # what one side has too much of goes over to the other here; the rest goes further up
            if first * second < 0:
                costs[row] += heights[link] * min(abs(first), abs(second))
            nodes[size + link] = first + second
    return costs


@allocating
def least_cost(costs: Floats, surplus: Floats, lack: Floats, limit: float) -> float:
    """The least cost of moving a surplus (a) to where it lacks (b), with a x b costs.

    Exact where that matters: as soon as a plan costs no more than the limit, its cost is returned,
    and as soon as none can, a bound above the limit; with NaN as limit, always the least cost.

    The simplex method on a tree (Dantzig 1951): a plan uses a + b - 1 ways that form a tree, whose
    costs give every source and sink a price; a way that is cheaper than its prices say replaces the
    way on the tree that runs empty when as much as possible is rerouted.
    """
    sources, sinks, flows = _first_plan(costs, surplus, lack)
    total, start, exchanges, calm = _cost(costs, sources, sinks, flows), 0, 0, 0
    while not total <= limit:
        prices, parents, ways, depths = _prices(costs, sources, sinks)
        if exchanges % ROUND == 0:
            bound = _bound(costs, surplus, lack, prices)
            if bound > limit:
                return bound
        # exchanges that move nothing could go round in a circle; with the first way in a fixed
        # order they cannot (Bland 1977)
        start = 0 if calm > CALM else start
        source, sink, start = _cheaper_way(costs, prices, start, calm > CALM)
        if source < 0:
            break
        moved = _exchange(sources, sinks, flows, parents, ways, depths, source, sink, costs.shape)
        calm = 0 if moved > 0 else calm + 1
        exchanges += 1
        total = _cost(costs, sources, sinks, flows)
    return total


@compiled
def _cost(costs: Floats, sources: Longs, sinks: Longs, flows: Floats) -> float:
    total = 0.0
    for way in range(flows.size):
        total += costs[sources[way], sinks[way]] * flows[way]
    return total


@apart
@allocating
def _first_plan(costs: Floats, surplus: Floats, lack: Floats) -> tuple[Longs, Longs, Floats]:
    """Take the cheapest ways first, each as far as possible; they form a tree."""
    # both add up to the same but for rounding; made equal, nothing is left over in the end
    left, wanted = surplus.copy(), lack * (surplus.sum() / lack.sum())
    rows, columns = left.size, wanted.size
    count = rows + columns - 1
    sources, sinks, flows = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
    has, wants = np.ones(left.size, np.bool_), np.ones(wanted.size, np.bool_)
    way = 0
    for pair in np.argsort(costs.ravel()):
        source, sink = pair // wanted.size, pair % wanted.size
        if not (has[source] and wants[sink]):
            continue
        amount = min(left[source], wanted[sink])
        sources[way], sinks[way], flows[way] = source, sink, amount
        way += 1
        left[source] -= amount
        wanted[sink] -= amount
        # one side is done, never both at once, so that the ways hang together
        if columns == 1 or (rows > 1 and left[source] <= wanted[sink]):
            has[source] = False
            rows -= 1
        else:
            wants[sink] = False
            columns -= 1
    return sources, sinks, flows


@apart
@allocating
def _prices(costs: Floats, sources: Longs, sinks: Longs) -> tuple[Floats, Longs, Longs, Longs]:
    """The price of each source and sink, so that every way on the tree costs what they add up to.

    Also for each its parent on the tree, the way there, and its depth. Sinks come behind sources.
    """
    rows, count = costs.shape[0], sources.size + 1
    starts, around = _ways_around(sources, sinks, rows)
    prices, depths = np.zeros(count), np.zeros(count, np.int64)
    parents, ways = np.full(count, -1), np.full(count, -1)
    queue = np.zeros(count, np.int64)
    parents[0], done, known = 0, 0, 1
    while done < known:
        node = queue[done]
        done += 1
        for way in around[starts[node] : starts[node + 1]]:
            other = rows + sinks[way] if node < rows else sources[way]
            if parents[other] < 0:
                parents[other], ways[other], depths[other] = node, way, depths[node] + 1
                prices[other] = costs[sources[way], sinks[way]] - prices[node]
                queue[known] = other
                known += 1
    return prices, parents, ways, depths


@allocating
def _ways_around(sources: Longs, sinks: Longs, rows: int) -> tuple[Longs, Longs]:
    """The ways of each node, one node behind the other, and where they begin."""
    starts = np.zeros(sources.size + 2, np.int64)
    for way in range(sources.size):
        starts[sources[way] + 1] += 1
        starts[rows + sinks[way] + 1] += 1
    for node in range(1, starts.size):
        starts[node] += starts[node - 1]
    free, around = starts.copy(), np.empty(2 * sources.size, np.int64)
    for way in range(sources.size):
        for node in (sources[way], rows + sinks[way]):
            around[free[node]] = way
            free[node] += 1
    return starts, around


@allocating
def _bound(costs: Floats, surplus: Floats, lack: Floats, prices: Floats) -> float:
    """No plan costs less: prices of sinks lowered until none exceeds the costs."""
    rows, columns = costs.shape
    bound = (surplus * prices[:rows]).sum()
    scale = surplus.sum() / lack.sum()
    highest = np.full(columns, np.inf)
    for source in range(rows):
        for sink in range(columns):
            highest[sink] = min(highest[sink], costs[source, sink] - prices[source])
    return float(bound + scale * (lack * highest).sum())


@part
def _cheaper_way(costs: Floats, prices: Floats, start: int, first: bool) -> tuple[int, int, int]:
    """The way that most undercuts its prices among the next sources with any, -1 if none does.

    Sources are looked at in turn, from `start` on; or the `first` such way is taken.
    """
    rows, columns = costs.shape
    best, found, sink = -ROUNDING, -1, -1
    for step in range(rows):
        source = (start + step) % rows
        for column in range(columns):
            saved = costs[source, column] - prices[source] - prices[rows + column]
            if saved < best:
                best, found, sink = saved, source, column
                if first:
                    return found, sink, 0
        # a good way among a few sources is found sooner than the best of all
        if found >= 0 and step % 8 == 7:
            break
    return found, sink, (source + 1) % rows


@part
def _exchange(
    sources: Longs,
    sinks: Longs,
    flows: Floats,
    parents: Longs,
    ways: Longs,
    depths: Longs,
    source: int,
    sink: int,
    shape: tuple[int, int],
) -> float:
    """Reroute as much as possible over a new way; it replaces the way that runs empty.

    On the tree, the ways between sink and source carry less and more in turn: less where a source
    is below its end on the source's side, or a sink on the sink's side.
    """
    rows, columns = shape
    amount, empty, number = np.inf, -1, -1
    for change in range(2):
        left, right = source, rows + sink
        while left != right:
            deeper = depths[left] >= depths[right]
            node = left if deeper else right
            less = (node < rows) == deeper
            way = ways[node]
            if change:
                flows[way] += -amount if less else amount
            elif less:
                own = sources[way] * columns + sinks[way]
                # ties by number, as the rule against circles asks
                if flows[way] < amount or (flows[way] == amount and own < number):
                    amount, empty, number = flows[way], way, own
            if deeper:
                left = parents[node]
            else:
                right = parents[node]
    sources[empty], sinks[empty], flows[empty] = source, sink, amount
    return amount
