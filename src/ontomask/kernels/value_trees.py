"""Binary trees over the values of coded attributes: they bound table look-ups for sets of values.

Near values share low nodes. For one reference, the least (or greatest) table entry below every
node is found in a single pass; a set of points then needs one look-up per attribute to bound its
distance, for any table whatever: no triangle inequality is asked for. Nodes are numbered in
preorder over all attributes, so a left child is its parent's number plus one, and the nodes below
node n are n up to its END.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import compiled, part, unsigned, whole
from ontomask.kernels.formulas import EQUAL, PALETTE, SHADED, move_leaves
from ontomask.kernels.reaching import fill_leaves
from ontomask.kernels.records import LOOKED_UP, START, VALUE_START, VALUES, WAY, Points, entry

__all__ = ["END", "PARENT", "RIGHT", "ValueTrees", "fill_extremes", "joint_node", "value_trees"]

RIGHT = 0
"""Column of `links`: right child, or -1 for a leaf."""
PARENT = 1
"""Column of `links`: parent; a root is its own."""
END = 2
"""Column of `links`: first number after the subtree."""
TURN = 0
"""Column of `turns`: the node whose turn it is when extremes are found."""
SOURCE = 1
"""Column of `turns`: that node's value, or its right child."""


MOST_GROUPS = 32
"""So many groups of values are looked for among those that are equally far from both seeds."""


class ValueTrees(NamedTuple):
    """The trees of all coded attributes."""

    roots: Longs
    """[coded + 1] root of each attribute's tree, and the end."""
    links: Ints
    """[nodes, 3] RIGHT, PARENT and END of each node."""
    turns: Ints
    """[nodes, 2] TURN and SOURCE: from an attribute's root on, the order in which extremes are
    found. First every leaf, by its value, then every inner node with its right child: the lowest
    first, so that none waits for the one just before it."""
    widths: Floats
    """[nodes] distance between the two values that split the node: how much it spreads."""
    leaves: Ints
    """[all values] leaf of each value, -1 for one that does not occur."""


@compiled
def joint_node(links: Ints, node: int, other: int) -> int:
    """Lowest node over two nodes of one tree; -1 stands for nothing."""
    if node < 0 or other < 0:
        return node if other < 0 else other
    while not node <= other < links[node, END]:
        node = links[node, PARENT]
    return node


@compiled
def _most_distant(
    points: Points, attribute: int, row: int, values: Longs, start: int, stop: int
) -> int:
    """The value farthest from a row."""
    best, width = values[start], -1.0
    for slot in range(start, stop):
        distance = entry(points, attribute, row, values[slot])
        if distance > width:
            best, width = values[slot], distance
    return best


@part
def _share_out(
    points: Points,
    attribute: int,
    seed: int,
    values: Longs,
    start: int,
    left: int,
    rest: Longs,
    right: int,
    tied: int,
) -> tuple[int, int]:
    """Give values that are equally far from both seeds to the smaller side; where both sides end.

    They lie in the second half of `rest`. Those that are nearer to each other than to the seed stay
    together: unrelated values are all equally far in many taxonomies, and chapters would be torn.
    """
    rows, pending = points.lineages[points.heads[attribute, VALUE_START] :], rest[values.size :]
    for group in range(MOST_GROUPS + 1):
        if tied == 0:
            break
        # after so many groups each value is its own
        row, kept = rows[pending[0]], whole(0)
        limit = entry(points, attribute, row, seed) if group < MOST_GROUPS else np.inf
        for slot in range(tied):
            value = pending[slot]
            if slot == 0 or group == MOST_GROUPS:
                to_left = left - start <= right
            if slot > 0 and not entry(points, attribute, row, value) < limit:
                pending[kept] = value
                kept += 1
            elif to_left:
                values[left] = value
                left += 1
            else:
                rest[right] = value
                right += 1
        tied = kept
    return left, right


@part
def _split_values(
    points: Points, attribute: int, values: Longs, rest: Longs, start: int, stop: int
) -> tuple[int, float]:
    """Bring the values near one seed to the front; where the others start, the seeds' distance.

    Values equally far from both seeds keep the sides even, and very uneven sides are cut in
    half: the tree stays shallow also under the 0/1 distance.
    """
    rows = points.lineages[points.heads[attribute, VALUE_START] :]
    first = _most_distant(points, attribute, rows[values[start]], values, start, stop)
    second = _most_distant(points, attribute, rows[first], values, start, stop)
    row, other = rows[first], rows[second]
    left, right, tied = start, whole(0), whole(0)
    for slot in range(start, stop):
        value = values[slot]
        near, far = (
            entry(points, attribute, row, value),
            entry(points, attribute, other, value),
        )
        if near < far:
            values[left] = value
            left += 1
        elif near > far:
            rest[right] = value
            right += 1
        else:
            rest[values.size + tied] = value
            tied += 1
    left, right = _share_out(points, attribute, first, values, start, left, rest, right, tied)
    for slot in range(right):
        values[left + slot] = rest[slot]
    if 32 * (left - start) < stop - start or 32 * right < stop - start:
        left = start + (stop - start + 1) // 2
    return left, entry(points, attribute, row, second)


@part
def _order_inner(
    links: Ints, turns: Ints, root: int, leaves: int, heights: Longs, counts: Longs
) -> None:
    """Write the turns of the inner nodes behind those of the leaves, by their height above them.

    `heights` has room for a number of each node, `counts` for two of each height.
    """
    end = links[root, END]
    for height in range(counts.shape[0]):
        counts[height, 0] = 0
    for node in range(end - 1, root - 1, -1):
        heights[node - root], right = 0, links[node, RIGHT]
        if right >= 0:
            height, beside = heights[node + 1 - root], heights[right - root]
            heights[node - root] = 1 + (height if height > beside else beside)
            counts[heights[node - root], 0] += 1
    slot = root + leaves
    for height in range(counts.shape[0]):
        counts[height, 1] = slot
        slot += counts[height, 0]
    for node in range(root, end):
        height = heights[node - root]
        if height > 0:
            slot = counts[height, 1]
            counts[height, 1] += 1
            turns[slot, TURN], turns[slot, SOURCE] = node, links[node, RIGHT]


@compiled
def _grow_tree(
    points: Points,
    attribute: int,
    values: Longs,
    trees: ValueTrees,
    root: int,
    stack: Longs,
    rest: Longs,
) -> None:
    """Write the tree over `values` at the nodes from `root` on."""
    first = points.heads[attribute, VALUE_START]
    links, widths = trees.links, trees.widths
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, values.size, root
    depth, node = 1, root
    leaf = root
    while depth > 0:
        depth -= 1
        start, stop, parent = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        links[node, RIGHT], links[node, PARENT] = -1, parent
        links[node, END] = node + 2 * (stop - start) - 1
        widths[node] = 0.0
        if node > parent + 1:
            links[parent, RIGHT] = node
        if stop - start == 1:
            trees.leaves[first + values[start]] = node
            trees.turns[leaf, TURN], trees.turns[leaf, SOURCE] = node, values[start]
            leaf += 1
        else:
            middle, widths[node] = _split_values(points, attribute, values, rest, start, stop)
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = middle, stop, node
            stack[depth + 1, 0], stack[depth + 1, 1] = start, middle
            stack[depth + 1, 2] = node
            depth += 2
        node += 1
    # both have served: the values are in place
    _order_inner(links, trees.turns, root, values.size, rest, stack)


def value_trees(points: Points, order: Longs) -> ValueTrees:
    """Trees over the values that occur in the points of `order`."""
    present = [np.unique(codes[order]).astype(np.int64) for codes in points.codes]
    sizes = [2 * values.size - 1 for values in present]
    roots = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    nodes = int(roots[-1])
    trees = ValueTrees(
        roots,
        np.empty((nodes, 3), np.int32),
        np.empty((nodes, 2), np.int32),
        np.empty(nodes, np.float64),
        np.full(int(points.heads[:, VALUES].sum()), -1, np.int32),
    )
    for attribute, values in enumerate(present):
        stack, rest = np.empty((values.size + 1, 3), np.int64), np.empty(2 * values.size, np.int64)
        root = int(roots[attribute])
        _grow_tree(points, attribute, values, trees, root, stack, rest)
        leaves = trees.turns[root : root + values.size]
        # a row of the table is read from its start to its end: far faster where tables are large
        leaves[:] = leaves[np.argsort(leaves[:, SOURCE])]
    return trees


@part
def fill_extremes(
    points: Points,
    roots: Longs,
    links: Ints,
    turns: Ints,
    reference: Floats,
    direction: float,
    extremes: Floats,
) -> None:
    """For every node, the least (direction -1: minus the greatest) entry of the reference below it.

    The last places of `extremes` tell for which rows they are; what is there already is kept.
    """
    tables, heads = points.tables, points.heads
    filled = turns.shape[0]
    for attribute in range(heads.shape[0]):
        before, row = whole(extremes[filled + attribute]), whole(reference[attribute])
        if before == row:
            continue
        extremes[filled + attribute] = reference[attribute]
        start, end = unsigned(roots[attribute]), unsigned(roots[attribute + 1])
        first_inner = unsigned((roots[attribute] + roots[attribute + 1] + 1) // 2)
        base = unsigned(heads[attribute, START] + row * heads[attribute, VALUES])
        if heads[attribute, WAY] == SHADED:
            palette, shades = unsigned(heads[attribute, PALETTE]), points.shades
            for slot in range(start, first_inner):
                shade = unsigned(shades[base + unsigned(turns[slot, SOURCE])])
                extremes[unsigned(turns[slot, TURN])] = direction * tables[palette + shade]
        elif heads[attribute, WAY] == LOOKED_UP:
            for slot in range(start, first_inner):
                value = base + unsigned(turns[slot, SOURCE])
                extremes[unsigned(turns[slot, TURN])] = direction * tables[value]
        else:
            leaves = turns[start:first_inner]
            lineages = points.lineages
            if heads[attribute, WAY] == EQUAL and before >= 0:
                move_leaves(
                    *(heads, lineages, tables, attribute, before, row, leaves, links),
                    *(direction, extremes),
                )
                continue
            fill_leaves(heads, lineages, tables, attribute, row, leaves, direction, extremes)
        for slot in range(first_inner, end):
            node = unsigned(turns[slot, TURN])
            first, second = extremes[node + unsigned(1)], extremes[unsigned(turns[slot, SOURCE])]
            extremes[node] = first if first < second else second
