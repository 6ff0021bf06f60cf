"""Binary trees over the values of coded attributes: they bound table look-ups for sets of values.

Near values share low nodes. For one reference, the least (or greatest) table entry below every
node is found in a single pass; a set of points then needs one look-up per attribute to bound its
distance, for any table whatever: no triangle inequality is asked for. Nodes are numbered in
preorder over all attributes, so a left child is its parent's number plus one, and the nodes below
node n are n up to ends[n].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ontomask.arrays import Floats, Longs
from ontomask.kernels.records import Points, Reference

__all__ = ["ValueTrees", "fill_extremes", "joint_node", "value_trees"]


class ValueTrees(NamedTuple):
    """The trees of all coded attributes."""

    starts: Longs
    """[coded + 1] root of each attribute's tree, and the end."""
    rights: Longs
    """Right child, or -1 for a leaf."""
    parents: Longs
    """Parent; a root is its own."""
    ends: Longs
    """First number after the subtree."""
    codes: Longs
    """Value of a leaf, -1 for an inner node."""
    widths: Floats
    """Distance between the two values that split the node: how much it spreads."""
    leaves: Longs
    """[all values] leaf of each value, -1 for one that does not occur."""


@njit(cache=True, nogil=True)
def joint_node(parents: Longs, ends: Longs, node: int, other: int) -> int:
    """Lowest node over two nodes of one tree; -1 stands for nothing."""
    if node < 0 or other < 0:
        return max(node, other)
    while not node <= other < ends[node]:
        node = parents[node]
    return node


@njit(cache=True, nogil=True)
def _most_distant(points: Points, attribute: int, value: int, values: Longs) -> tuple[int, float]:
    """The value farthest from `value`, and its distance."""
    own = points.own_rows[points.value_starts[attribute] + value]
    base = points.starts[attribute] + own * points.values[attribute]
    best, width = values[0], -1.0
    for candidate in values:
        distance = points.tables[base + candidate]
        if distance > width:
            best, width = candidate, distance
    return best, width


@njit(cache=True, nogil=True)
def _split_values(points: Points, attribute: int, values: Longs) -> tuple[int, float]:
    """Reorder values so that those near one seed come first; how many, and the seeds' distance.

    Values equally far from both seeds keep the sides even, and very uneven sides are cut in
    half: the tree stays shallow also under the 0/1 distance.
    """
    first, _ = _most_distant(points, attribute, values[0], values)
    second, width = _most_distant(points, attribute, first, values)
    start, size = points.value_starts[attribute], points.values[attribute]
    base = points.starts[attribute] + points.own_rows[start + first] * size
    other = points.starts[attribute] + points.own_rows[start + second] * size
    rest = np.empty(values.size, np.int64)
    left = right = 0
    for value in values:
        near, far = points.tables[base + value], points.tables[other + value]
        if near < far or (near == far and left <= right):
            values[left] = value
            left += 1
        else:
            rest[right] = value
            right += 1
    for position in range(right):
        values[left + position] = rest[position]
    if 32 * min(left, right) < values.size:
        left = (values.size + 1) // 2
    return left, width


@njit(cache=True, nogil=True)
def _grow_tree(points: Points, attribute: int, values: Longs, trees: ValueTrees, root: int) -> None:
    """Write the tree over `values` at the nodes from `root` on."""
    stack = np.empty((values.size + 1, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, values.size, -1
    depth, node = 1, root
    while depth > 0:
        depth -= 1
        start, stop, parent = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        trees.parents[node] = parent if parent >= 0 else node
        if parent >= 0 and parent != node - 1:
            trees.rights[parent] = node
        trees.ends[node] = node + 2 * (stop - start) - 1
        trees.rights[node], trees.codes[node], trees.widths[node] = -1, -1, 0.0
        if stop - start == 1:
            trees.codes[node] = values[start]
            trees.leaves[points.value_starts[attribute] + values[start]] = node
        else:
            left, width = _split_values(points, attribute, values[start:stop])
            trees.widths[node] = width
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = start + left, stop, node
            stack[depth + 1, 0], stack[depth + 1, 1] = start, start + left
            stack[depth + 1, 2] = node
            depth += 2
        node += 1


@njit(cache=True, nogil=True)
def value_trees(points: Points, order: Longs) -> ValueTrees:
    """Trees over the values that occur in the points of `order`."""
    coded = points.codes.shape[0]
    leaves = np.full(points.own_rows.size, -1, np.int64)
    for attribute in range(coded):
        for point in order:
            leaves[points.value_starts[attribute] + points.codes[attribute, point]] = 0
    starts = np.zeros(coded + 1, np.int64)
    for attribute in range(coded):
        found = 0
        first = points.value_starts[attribute]
        for value in range(first, first + points.values[attribute]):
            found += leaves[value] + 1
        starts[attribute + 1] = starts[attribute] + 2 * found - 1
    size = starts[-1]
    links = np.empty((4, size), np.int64)
    trees = ValueTrees(
        starts, links[0], links[1], links[2], links[3], np.empty(size, np.float64), leaves
    )
    for attribute in range(coded):
        first = points.value_starts[attribute]
        present = np.flatnonzero(leaves[first : first + points.values[attribute]] >= 0)
        _grow_tree(points, attribute, present.astype(np.int64), trees, starts[attribute])
    return trees


@njit(cache=True, nogil=True)
def fill_extremes(
    points: Points, trees: ValueTrees, reference: Reference, direction: float, extremes: Floats
) -> None:
    """For every node, the least (direction -1: greatest) table entry of the reference below it."""
    tables, rights, codes = points.tables, trees.rights, trees.codes
    for attribute in range(points.codes.shape[0]):
        base = points.starts[attribute] + reference.rows[attribute] * points.values[attribute]
        for node in range(trees.starts[attribute + 1] - 1, trees.starts[attribute] - 1, -1):
            right = rights[node]
            if right < 0:
                extremes[node] = tables[base + codes[node]]
            elif direction < 0.0:
                extremes[node] = max(extremes[node + 1], extremes[right])
            else:
                extremes[node] = min(extremes[node + 1], extremes[right])
