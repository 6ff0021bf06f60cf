"""The nearest points of every point, on all cores."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import in_blocks
from ontomask.kernels.index import (
    LEAF,
    NEAREST,
    POINT,
    Finds,
    Index,
    bound_all,
    build_index,
    new_finds,
    search,
)
from ontomask.kernels.records import Points, compiled, inner, point_reference, whole

__all__ = ["nearest_points", "sort_by_keys"]

SMALLEST_SHARE = 2048
"""Points for which it pays to start a thread."""


@inner
def sort_by_keys(keys: Floats, items: Longs, count: int) -> None:
    """Sort the first items and their keys, ascending (Shell 1959, gaps 1, 4, 13, ...)."""
    gap = whole(1)
    while 3 * gap < count:
        gap = 3 * gap + 1
    while gap > 0:
        for start in range(gap, count):
            key, item, slot = keys[start], items[start], start
            while slot >= gap and keys[slot - gap] > key:
                keys[slot], items[slot] = keys[slot - gap], items[slot - gap]
                slot -= gap
            keys[slot], items[slot] = key, item
        gap //= 3


@compiled
def _link_nearest(
    points: Points,
    index: Index,
    finds: Finds,
    reference: Floats,
    keys: Floats,
    near: Longs,
    first: int,
    last: int,
    graph: Ints,
) -> None:
    """Fill the graph for the points at places first to last; none: prepare the index."""
    wanted = graph.shape[1]
    if first == last:
        bound_all(index)
    for place in range(first, last):
        point = whole(index.cells[POINT, place])
        point_reference(points, point, reference)
        found = search(points, index, finds, reference, NEAREST, wanted + 1)
        for slot in range(found):
            keys[slot], near[slot] = finds.answers[slot, 0], whole(finds.answers[slot, 2])
        sort_by_keys(keys, near, found)
        filled = 0
        for slot in range(found):
            if near[slot] != point and filled < wanted:
                graph[point, filled] = near[slot]
                filled += 1


def nearest_points(points: Points, wanted: int) -> Ints:
    """For every point the `wanted` nearest others (-1 where there are fewer), by plain distance."""
    size = points.weights.size
    index = build_index(points, np.arange(size), np.ones(size), np.zeros(size), LEAF)
    graph = np.full((size, wanted), -1, np.int32)

    def work(first: int, last: int) -> None:
        finds, reference = (
            new_finds(index, wanted + 1),
            np.empty(points.codes.shape[0] + points.gaps.size),
        )
        keys, near = np.empty(wanted + 1), np.empty(wanted + 1, np.int64)
        _link_nearest(points, index, finds, reference, keys, near, first, last, graph)

    work(0, 0)
    in_blocks(work, size, SMALLEST_SHARE)
    return graph
