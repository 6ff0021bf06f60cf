"""A tree of boxes over points, and its bounds while points come and go.

A k-d tree (Bentley 1975, Friedman, Bentley and Finkel 1977) in which a node bounds numeric
attributes by an interval and coded ones by a node of a value tree. Points can be taken out or get
another factor; the bounds of the nodes above are tightened at once, so they are always those of the
living points. `index` finds points in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import compiled, part, whole
from ontomask.kernels.halves import split
from ontomask.kernels.records import VALUE_START, Points
from ontomask.kernels.value_trees import ValueTrees, joint_node, value_trees

__all__ = [
    "CODES",
    "FACTOR",
    "FIRST",
    "FOLLOWING",
    "LIMITS",
    "LIVE",
    "LOWEST",
    "NUMBERS",
    "POINT",
    "RANK",
    "SPANS",
    "Index",
    "bound_all",
    "build_index",
    "remove",
    "restore",
    "set_factor",
]

FIRST = 0
"""Column of `nodes`: first place."""
LIVE = 1
"""Column of `nodes`: number of living points below."""
FOLLOWING = 2
"""Column of `nodes`: right child, -1 for a leaf; the left child is the next node."""
ABOVE = 3
"""Column of `nodes`: parent, -1 for the root."""
SPANS = 4
"""First of the columns of `nodes` with the value node that holds all values of an attribute."""

POINT = 0
"""Row of `cells`: the point."""
HOME = 1
"""Row of `cells`: its leaf."""
CODES = 2
"""First of the rows of `cells` with the leaf of the value tree that is the point's value."""

FACTOR = 0
"""Row of `columns`: the point's factor."""
RANK = 1
"""Row of `columns`: what decides between equal distances, before the point's number."""
NUMBERS = 2
"""First of the rows of `columns` with numbers."""

LOWEST = 4
"""Column of `boxes`: least rank."""
LIMITS = 1
"""First of the columns of `boxes` with limits, three for each row of `columns`."""


class Index(NamedTuple):
    """Points in the order of the leaves, and the tree's nodes in preorder."""

    places: Ints
    """[p] place of each point, negative when it is not in the index; one that was taken out is
    behind the living of its leaf, at -1 - place."""
    cells: Ints
    """[2 + coded, size] POINT, HOME and CODES by place; the living ones of a leaf come first."""
    columns: Floats
    """[2 + numeric, size] FACTOR, RANK and NUMBERS by place."""
    nodes: Ints
    """[nodes, 4 + coded] FIRST, LIVE, FOLLOWING, ABOVE and SPANS."""
    boxes: Floats
    """[nodes, 7 + 3 * numeric] least point number; then for FACTOR, RANK and each of NUMBERS the
    least, minus the greatest, and -1.0 when one is missing: all of them minima."""
    roots: Longs
    links: Ints
    turns: Ints
    """What is needed of the value trees."""


@compiled
def _shape(
    points: Points,
    trees: ValueTrees,
    order: Longs,
    leaf_size: int,
    stress: float,
    nodes: Ints,
    stack: Longs,
    keys: Floats,
) -> int:
    """Order the points along the leaves and write the nodes; how many there are."""
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, order.size, -1
    depth, node = 1, 0
    while depth > 0:
        depth -= 1
        start, stop, parent = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        nodes[node, FIRST], nodes[node, LIVE] = start, stop - start
        nodes[node, FOLLOWING], nodes[node, ABOVE] = -1, parent
        if parent >= 0 and parent != node - 1:
            nodes[parent, FOLLOWING] = node
        if stop - start > leaf_size:
            middle = split(points, trees, order, keys, start, stop, stress)
            # the left side lies on top: it becomes the next node, as preorder wants
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = middle, stop, node
            stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = start, middle, node
            depth += 2
        node += 1
    return node


def build_index(
    points: Points,
    order: Longs,
    factors: Floats,
    ranks: Floats,
    leaf_size: int,
    stress: float = 1.0,
) -> Index:
    """Index over the points of `order`; factors and ranks are given for all points.

    A leaf size of at least the number of points makes one leaf: the full scan. Points are divided
    by the attribute in which they spread most; the spread of numbers counts `stress` times.
    """
    order = np.array(order, np.int64)
    coded, numeric = points.codes.shape[0], points.numbers.shape[0]
    trees = value_trees(points, order)
    nodes = np.empty((2 * order.size + 1, SPANS + coded), np.int32)
    stack = np.empty((2 * order.size + 2, 3), np.int64)
    keys = np.empty(order.size)
    count = _shape(points, trees, order, leaf_size, stress, nodes, stack, keys)
    places = np.full(points.weights.size, -1, np.int32)
    places[order] = np.arange(order.size)
    cells = np.zeros((CODES + coded, order.size), np.int32)
    cells[POINT] = order
    for attribute, codes in enumerate(points.codes):
        start = points.heads[attribute, VALUE_START]
        cells[CODES + attribute] = trees.leaves[start + codes[order]]
    return Index(
        places,
        cells,
        np.concatenate([[factors[order], ranks[order]], points.numbers[:, order]]),
        nodes[:count].copy(),
        np.empty((count, LIMITS + 3 * (NUMBERS + numeric)), np.float64),
        trees.roots,
        trees.links,
        trees.turns,
    )


@part
def bound_all(index: Index) -> None:
    """Find the bounds of all nodes, children first; to be done before the first search."""
    nodes, cells = index.nodes, index.cells
    for node in range(nodes.shape[0] - 1, -1, -1):
        first = nodes[node, FIRST]
        if nodes[node, FOLLOWING] < 0:
            for place in range(first, first + nodes[node, LIVE]):
                cells[HOME, place] = node
        _bound_node(index, node)


@compiled
def _bound_node(index: Index, node: int) -> bool:
    """Find the bounds of a leaf from its living points, or of a node; whether they changed."""
    if index.nodes[node, FOLLOWING] < 0:
        _refresh(index, node)
        return True
    return _merge(index.nodes, index.boxes, index.links, node)


@part
def _refresh(index: Index, node: int) -> None:
    """Bounds of a leaf from its living points."""
    cells, columns, nodes = index.cells, index.columns, index.nodes
    boxes, links = index.boxes, index.links
    start = nodes[node, FIRST]
    stop = start + nodes[node, LIVE]
    for attribute in range(cells.shape[0] - CODES):
        span = whole(-1)
        for place in range(start, stop):
            span = joint_node(links, span, whole(cells[CODES + attribute, place]))
        nodes[node, SPANS + attribute] = span
    boxes[node, 0] = np.inf
    for place in range(start, stop):
        if cells[POINT, place] < boxes[node, 0]:
            boxes[node, 0] = cells[POINT, place]
    for row in range(columns.shape[0]):
        low, negative, hole = np.inf, np.inf, 0.0
        for place in range(start, stop):
            number = columns[row, place]
            low, negative = (
                number if number < low else low,
                -number if -number < negative else negative,
            )
            hole = hole if number == number else -1.0
        limit = LIMITS + 3 * row
        boxes[node, limit], boxes[node, limit + 1], boxes[node, limit + 2] = low, negative, hole


@part
def _merge(nodes: Ints, boxes: Floats, links: Ints, node: int) -> bool:
    """Bounds of a node from its children; whether they changed."""
    left, right = node + 1, nodes[node, FOLLOWING]
    changed = False
    for column in range(boxes.shape[1]):
        value, other = boxes[left, column], boxes[right, column]
        # greatest values are kept negated, so one rule merges all columns
        merged = value if value < other else other
        changed |= merged != boxes[node, column]
        boxes[node, column] = merged
    for column in range(SPANS, nodes.shape[1]):
        span = joint_node(links, whole(nodes[left, column]), whole(nodes[right, column]))
        changed |= span != nodes[node, column]
        nodes[node, column] = span
    return changed


@part
def _tighten(index: Index, leaf: int) -> None:
    """Bounds of a leaf and, as far as they change, of the nodes above it."""
    node = leaf
    # where the bounds of a node stay, those above it stay
    while node >= 0 and _bound_node(index, node):
        node = whole(index.nodes[node, ABOVE])


@part
def _change_places(index: Index, place: int, other: int) -> None:
    """Exchange what lies at two places of a leaf."""
    cells, columns = index.cells, index.columns
    for row in range(cells.shape[0]):
        cells[row, place], cells[row, other] = cells[row, other], cells[row, place]
    for row in range(columns.shape[0]):
        columns[row, place], columns[row, other] = columns[row, other], columns[row, place]


@part
def remove(index: Index, point: int) -> None:
    """Take a point out; it changes places with the last living one of its leaf."""
    places, cells, nodes = index.places, index.cells, index.nodes
    place = places[point]
    leaf = whole(cells[HOME, place])
    last = nodes[leaf, FIRST] + nodes[leaf, LIVE] - 1
    # the living of a leaf lie together, so that no search has to test who is left
    _change_places(index, place, last)
    places[cells[POINT, place]] = place
    places[point] = -1 - last
    _count_living(nodes, leaf, -1)
    _tighten(index, leaf)


@part
def restore(index: Index, point: int) -> None:
    """Put a point back; it changes places with the first of its leaf that is out."""
    place = -1 - index.places[point]
    leaf = whole(index.cells[HOME, place])
    first = whole(index.nodes[leaf, FIRST] + index.nodes[leaf, LIVE])
    _change_places(index, place, first)
    index.places[index.cells[POINT, place]] = -1 - place
    index.places[point] = first
    _count_living(index.nodes, leaf, 1)
    _tighten(index, leaf)


@part
def _count_living(nodes: Ints, leaf: int, more: int) -> None:
    """Note in a leaf, and in the nodes above it, that so many more live there."""
    node = leaf
    while node >= 0:
        nodes[node, LIVE] += more
        node = whole(nodes[node, ABOVE])


@part
def set_factor(index: Index, point: int, factor: float, rank: float) -> None:
    """Give a point another factor and rank."""
    place = index.places[point]
    index.columns[FACTOR, place], index.columns[RANK, place] = factor, rank
    _tighten(index, whole(index.cells[HOME, place]))
