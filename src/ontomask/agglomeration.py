"""Hierarchical clustering by single, complete and Ward's linkage, by NumPy alone.

Single linkage takes the edges of a minimum spanning tree (Prim 1957), the others follow chains of
nearest neighbors until two are each other's nearest: Müllner, "Modern hierarchical, agglomerative
clustering algorithms", arXiv:1109.2378 (2011). Of equally near ones the first is taken, but the one
before in the chain before all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Longs

__all__ = ["Dendrogram", "cut", "linkage"]


class Dendrogram(NamedTuple):
    """Which two nodes are united one after the other, and at which height, ascending.

    The first nodes are the points; union number i makes the node behind the points and the unions
    before it.
    """

    links: Longs
    heights: Floats


def linkage(distances: Floats, method: str) -> Dendrogram:
    """Unite the nearest two groups of points until there is one.

    Parameters
    ----------
    distances
        Of all pairs of points; symmetric.
    method
        How far two groups are apart: `single`, as their nearest points; `complete`, as their
        farthest ones; `ward`, by how much their union adds to the sum of squares.
    """
    unions = _along_a_tree(distances) if method == "single" else _along_chains(distances, method)
    pairs, heights = [], []
    for first, second, height in unions:
        pairs.append((first, second))
        heights.append(height)
    order = np.argsort(heights, kind="stable")
    links = _numbered([pairs[place] for place in order.tolist()], len(distances))
    return Dendrogram(links, np.array(heights, np.float64)[order])


def cut(tree: Dendrogram, most: int) -> Longs:
    """The group of each point where so many groups are left, or fewer if heights are equal."""
    points = len(tree.links) + 1
    if most >= points:
        return np.arange(points)
    highest = tree.heights[points - most - 1]
    unions = int(np.searchsorted(tree.heights, highest, side="right"))
    groups = np.arange(points + unions)
    # from the last union down, both nodes belong where their union does
    for union in reversed(range(unions)):
        groups[tree.links[union]] = groups[points + union]
    return np.unique(groups[:points], return_inverse=True)[1]


Unions = Iterator[tuple[int, int, float]]
"""A point of each of two groups, and how far these are apart."""


def _along_a_tree(distances: Floats) -> Unions:
    """The edges of a minimum spanning tree, each with the point that came before."""
    point, nearest = 0, np.full(len(distances), np.inf)
    outside = np.ones(len(distances), bool)
    for _ in range(len(distances) - 1):
        outside[point] = False
        np.minimum(nearest, distances[point], out=nearest)
        following = int(np.where(outside, nearest, np.inf).argmin())
        yield point, following, float(nearest[following])
        point = following


def _along_chains(distances: Floats, method: str) -> Unions:
    """Pairs that are each other's nearest; the second then stands for both."""
    apart = distances.copy()
    np.fill_diagonal(apart, np.inf)
    sizes, chain = np.ones(len(apart), np.int64), [0]
    for _ in range(len(apart) - 1):
        chain = chain or [int(np.flatnonzero(sizes)[0])]
        _follow(apart, chain)
        gone, kept = sorted((chain.pop(), chain.pop()))
        height = float(apart[gone, kept])
        yield gone, kept, height
        new = _UPDATES[method](apart[gone], apart[kept], height, sizes[gone], sizes[kept], sizes)
        sizes[kept] += sizes[gone]
        sizes[gone] = 0
        apart[kept] = apart[:, kept] = new
        apart[:, gone] = np.inf  # nobody asks for its row any more


def _follow(apart: Floats, chain: list[int]) -> None:
    """Go to the nearest until the last two are each other's nearest."""
    while True:
        row = apart[chain[-1]]
        nearest = int(row.argmin())
        if len(chain) > 1 and row[chain[-2]] <= row[nearest]:
            return
        chain.append(nearest)


def _farthest(first: Floats, second: Floats, *_: object) -> Floats:
    return np.maximum(first, second)


def _added_squares(
    first: Floats, second: Floats, between: float, one: int, other: int, sizes: Longs
) -> Floats:
    """How far the union is from the rest (Ward 1963; Lance and Williams 1967)."""
    share = 1.0 / (one + other + sizes)
    near = (sizes + one) * share * first * first + (sizes + other) * share * second * second
    return np.sqrt(near - sizes * share * between * between)


_UPDATES: dict[str, Callable[..., Floats]] = {"complete": _farthest, "ward": _added_squares}


def _numbered(pairs: list[tuple[int, int]], points: int) -> Longs:
    """Pairs of points as pairs of the nodes that hold them, the smaller number first."""
    above = list(range(2 * points - 1))
    links = np.empty((len(pairs), 2), np.int64)
    for union, pair in enumerate(pairs, start=points):
        nodes = [_top(above, point) for point in pair]
        links[union - points] = sorted(nodes)
        above[nodes[0]] = above[nodes[1]] = union
    return links


def _top(above: list[int], node: int) -> int:
    """The last union that holds a node; ways are shortened on the way."""
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node
