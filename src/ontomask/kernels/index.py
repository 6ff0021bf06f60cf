"""An exact index over points: nearest and farthest without looking at every point.

A k-d tree (Bentley 1975, Friedman, Bentley and Finkel 1977) in which a node bounds numeric
attributes by an interval and coded ones by a node of a value tree. Points can be taken out or get
another factor; the bounds of the nodes above are tightened at once, so they are always those of the
living points. The bounds are computed by the same operations in the same order as distances, and
rounding is monotone: a node is left out only when no point in it can win, ties included. The
answers are those of a full scan, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.records import (
    Points,
    Reference,
    number_difference,
    whole,
)
from ontomask.kernels.value_trees import (
    ValueTrees,
    fill_extremes,
    joint_node,
    value_trees,
)

__all__ = [
    "FARTHEST",
    "NEAREST",
    "Finds",
    "Index",
    "build_index",
    "new_finds",
    "remove",
    "search",
    "set_factor",
]

LEAF = 16
NEAREST = 1.0
FARTHEST = -1.0


class Index(NamedTuple):
    """Points in the order of the leaves, and the tree's nodes in preorder."""

    ids: Longs
    """[size] point at each place; the living ones of a leaf come first."""
    places: Longs
    """[p] place of each point, -1 when it is not in the index."""
    codes: Ints
    """[coded, size] codes by place."""
    numbers: Floats
    """[numeric, size] numbers by place."""
    factors: Floats
    """[size] factors by place."""
    ranks: Floats
    """[size] what decides between equal distances, before the point's number."""
    homes: Longs
    """[size] leaf of each place."""
    firsts: Longs
    """[nodes] first place."""
    live: Longs
    """[nodes] number of living points below."""
    rights: Longs
    """[nodes] right child, -1 for a leaf; the left child is the next node."""
    parents: Longs
    """[nodes] parent, -1 for the root."""
    spans: Longs
    """[nodes, coded] node of the value tree that holds all values."""
    boxes: Floats
    """[nodes, 4 + 3 * numeric] least factor, greatest factor, least rank, least point number; then
    for every numeric attribute the least and greatest number, and 1.0 when one is missing."""
    trees: ValueTrees


class Finds(NamedTuple):
    """Room for the answers of a search and for its walk."""

    answers: Floats
    """[wanted, 3] distance, rank, point number; a heap with the worst on top."""
    nodes: Longs
    bounds: Floats
    totals: Floats
    extremes: Floats


@njit(cache=True, nogil=True)
def new_finds(points: Points, wanted: int) -> Finds:
    """Room for up to `wanted` answers over these points."""
    size = points.weights.size
    return Finds(
        np.empty((wanted, 3), np.float64),
        np.empty(2 * size + 2, np.int64),
        np.empty(2 * size + 2, np.float64),
        np.empty(size + LEAF, np.float64),
        np.empty(2 * points.own_rows.size + 1, np.float64),
    )


@njit(cache=True, nogil=True)
def _widest(
    points: Points, trees: ValueTrees, order: Longs, start: int, stop: int
) -> tuple[int, int]:
    """The attribute in which these points spread most (-1: they are equal), and its value node."""
    coded = points.codes.shape[0]
    best, best_node, best_width = -1, -1, 0.0
    leaves, parents, ends = trees.leaves, trees.parents, trees.ends
    codes, numbers = points.codes, points.numbers
    for attribute in range(coded):
        first = points.value_starts[attribute]
        node = whole(-1)
        for place in range(start, stop):
            leaf = leaves[first + codes[attribute, order[place]]]
            node = joint_node(parents, ends, node, leaf)
        # a node that is no leaf can always be split, also where all its distances are 0
        width = max(trees.widths[node], 1e-300) if trees.rights[node] >= 0 else 0.0
        if width > best_width:
            best, best_node, best_width = attribute, node, width
    for attribute in range(points.numbers.shape[0]):
        low, high, hole = np.inf, -np.inf, False
        for place in range(start, stop):
            number = numbers[attribute, order[place]]
            if number == number:
                low, high = min(low, number), max(high, number)
            else:
                hole = True
        width = 0.0
        if low <= high:
            width = (high - low) ** points.power
            if hole:
                width = max(width, points.gaps[attribute], 1e-300)
        if width > best_width:
            best, best_node, best_width = coded + attribute, -1, width
    return best, best_node


@njit(cache=True, nogil=True)
def _select(keys: Floats, order: Longs, start: int, stop: int, middle: int) -> None:
    """Reorder keys and order so that the middle is where sorting would put it (Hoare 1961)."""
    low, high = start, stop - 1
    while low < high:
        first, center, last = keys[low], keys[(low + high) // 2], keys[high]
        pivot = max(min(first, center), min(max(first, center), last))
        left, right = low, high
        while left <= right:
            while keys[left] < pivot:
                left += 1
            while keys[right] > pivot:
                right -= 1
            if left <= right:
                keys[left], keys[right] = keys[right], keys[left]
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if middle <= right:
            high = right
        elif middle >= left:
            low = left
        else:
            return


@njit(cache=True, nogil=True)
def _split_by_values(
    points: Points,
    trees: ValueTrees,
    order: Longs,
    start: int,
    stop: int,
    attribute: int,
    node: int,
) -> int:
    """Bring the values of the node's left child to the front; where the others start."""
    first = points.value_starts[attribute]
    left, right = start, stop - 1
    while left <= right:
        if trees.leaves[first + points.codes[attribute, order[left]]] < trees.rights[node]:
            left += 1
        else:
            order[left], order[right] = order[right], order[left]
            right -= 1
    return left


@njit(cache=True, nogil=True)
def _split(
    points: Points, trees: ValueTrees, order: Longs, keys: Floats, start: int, stop: int
) -> int:
    """Reorder a range of points into two sides; where the second starts."""
    attribute, node = _widest(points, trees, order, start, stop)
    coded = points.codes.shape[0]
    if 0 <= attribute < coded:
        return _split_by_values(points, trees, order, start, stop, attribute, node)
    for place in range(start, stop):
        keys[place] = order[place]
        if attribute >= coded:
            number = points.numbers[attribute - coded, order[place]]
            keys[place] = number if number == number else np.inf
    middle = (start + stop) // 2
    _select(keys, order, start, stop, middle)
    return middle


@njit(cache=True, nogil=True)
def _shape(
    points: Points, trees: ValueTrees, order: Longs, leaf_size: int
) -> tuple[Longs, Longs, Longs, Longs]:
    """Order the points along the leaves; firsts, sizes, rights and parents of the nodes."""
    capacity = 2 * order.size + 1
    nodes = np.empty((4, capacity), np.int64)
    keys = np.empty(order.size, np.float64)
    stack = np.empty((capacity, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, order.size, -1
    depth, node = 1, 0
    while depth > 0:
        depth -= 1
        start, stop, parent = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        nodes[0, node], nodes[1, node] = start, stop - start
        nodes[2, node], nodes[3, node] = -1, parent
        if parent >= 0 and parent != node - 1:
            nodes[2, parent] = node
        if stop - start > leaf_size:
            middle = _split(points, trees, order, keys, start, stop)
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = middle, stop, node
            stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = start, middle, node
            depth += 2
        node += 1
    return (
        nodes[0, :node].copy(),
        nodes[1, :node].copy(),
        nodes[2, :node].copy(),
        nodes[3, :node].copy(),
    )


@njit(cache=True, nogil=True)
def _copy_point(points: Points, index: Index, place: int) -> None:
    """Copy the point's codes and numbers to its place."""
    point = index.ids[place]
    index.places[point] = place
    for attribute in range(points.codes.shape[0]):
        index.codes[attribute, place] = points.codes[attribute, point]
    for attribute in range(points.numbers.shape[0]):
        index.numbers[attribute, place] = points.numbers[attribute, point]


@njit(cache=True, nogil=True)
def build_index(
    points: Points, order: Longs, factors: Floats, ranks: Floats, leaf_size: int
) -> Index:
    """Index over the points of `order`; factors and ranks are given for all points.

    A leaf size of at least the number of points makes one leaf: the full scan.
    """
    order = order.copy()
    trees = value_trees(points, order)
    firsts, live, rights, parents = _shape(points, trees, order, leaf_size)
    size, count = order.size, firsts.size
    coded, numeric = points.codes.shape[0], points.numbers.shape[0]
    index = Index(
        order,
        np.full(points.weights.size, -1, np.int64),
        np.empty((coded, size), np.int32),
        np.empty((numeric, size), np.float64),
        factors[order],
        ranks[order],
        np.empty(size, np.int64),
        firsts,
        live,
        rights,
        parents,
        np.empty((count, coded), np.int64),
        np.empty((count, 4 + 3 * numeric), np.float64),
        trees,
    )
    for node in range(count - 1, -1, -1):
        if rights[node] < 0:
            for place in range(firsts[node], firsts[node] + live[node]):
                index.homes[place] = node
                _copy_point(points, index, place)
            _refresh_leaf(points, index, node)
        else:
            _merge_boxes(index.boxes, node, node + 1, rights[node])
            _merge_spans(index.spans, trees.parents, trees.ends, node, node + 1, rights[node])
    return index


@njit(cache=True, nogil=True)
def _refresh_box(
    box: Floats, ids: Longs, numbers: Floats, factors: Floats, ranks: Floats, start: int, stop: int
) -> None:
    """Limits and intervals of the points between two places."""
    box[0], box[1], box[2], box[3] = np.inf, 0.0, np.inf, np.inf
    for place in range(start, stop):
        box[0], box[1] = min(box[0], factors[place]), max(box[1], factors[place])
        box[2], box[3] = min(box[2], ranks[place]), min(box[3], ids[place])
    for attribute in range(numbers.shape[0]):
        low, high, hole = np.inf, -np.inf, 0.0
        for place in range(start, stop):
            number = numbers[attribute, place]
            if number == number:
                low, high = min(low, number), max(high, number)
            else:
                hole = 1.0
        column = 4 + 3 * attribute
        box[column], box[column + 1], box[column + 2] = low, high, hole


@njit(cache=True, nogil=True)
def _refresh_leaf(points: Points, index: Index, node: int) -> None:
    """Bounds of a leaf from its living points."""
    start = index.firsts[node]
    stop = start + index.live[node]
    leaves, parents, ends = index.trees.leaves, index.trees.parents, index.trees.ends
    for attribute in range(index.codes.shape[0]):
        first = points.value_starts[attribute]
        span = whole(-1)
        for place in range(start, stop):
            leaf = leaves[first + index.codes[attribute, place]]
            span = joint_node(parents, ends, span, leaf)
        index.spans[node, attribute] = span
    box = index.boxes[node]
    _refresh_box(box, index.ids, index.numbers, index.factors, index.ranks, start, stop)


@njit(cache=True, nogil=True)
def _merge_boxes(boxes: Floats, node: int, left: int, right: int) -> bool:
    """Limits and intervals of a node from its children; whether they changed."""
    changed = False
    for column in range(boxes.shape[1]):
        value, other = boxes[left, column], boxes[right, column]
        # the greatest factor, the greatest number and the missing one are maxima
        if column == 1 or (column >= 4 and column % 3 != 1):
            merged = max(value, other)
        else:
            merged = min(value, other)
        changed |= merged != boxes[node, column]
        boxes[node, column] = merged
    return changed


@njit(cache=True, nogil=True)
def _merge_spans(
    spans: Longs, parents: Longs, ends: Longs, node: int, left: int, right: int
) -> bool:
    """Value nodes of a node from its children; whether they changed."""
    changed = False
    for attribute in range(spans.shape[1]):
        span = joint_node(parents, ends, spans[left, attribute], spans[right, attribute])
        changed |= span != spans[node, attribute]
        spans[node, attribute] = span
    return changed


@njit(cache=True, nogil=True)
def _tighten(points: Points, index: Index, leaf: int) -> None:
    """Bounds of a leaf and, as far as they change, of the nodes above it."""
    boxes, spans, rights, above = index.boxes, index.spans, index.rights, index.parents
    parents, ends = index.trees.parents, index.trees.ends
    _refresh_leaf(points, index, leaf)
    node = above[leaf]
    while node >= 0:
        changed = _merge_boxes(boxes, node, node + 1, rights[node])
        changed |= _merge_spans(spans, parents, ends, node, node + 1, rights[node])
        if not changed:
            return
        node = above[node]


@njit(cache=True, nogil=True)
def remove(points: Points, index: Index, point: int) -> None:
    """Take a point out."""
    place = index.places[point]
    leaf = index.homes[place]
    last = index.firsts[leaf] + index.live[leaf] - 1
    index.ids[place] = index.ids[last]
    index.factors[place], index.ranks[place] = index.factors[last], index.ranks[last]
    if place != last:
        _copy_point(points, index, place)
    index.places[point] = -1
    live, above = index.live, index.parents
    node = leaf
    while node >= 0:
        live[node] -= 1
        node = above[node]
    _tighten(points, index, leaf)


@njit(cache=True, nogil=True)
def set_factor(points: Points, index: Index, point: int, factor: float, rank: float) -> None:
    """Give a point another factor and rank."""
    place = index.places[point]
    index.factors[place], index.ranks[place] = factor, rank
    _tighten(points, index, index.homes[place])


@njit(cache=True, nogil=True)
def _least_difference(
    number: float, low: float, high: float, hole: float, gap: float, power: int
) -> float:
    """No number of the interval (or missing one) contributes less than this."""
    if number != number:
        return gap if hole == 0.0 else 0.0
    least = np.inf
    if low <= high:
        least = max(low - number, number - high, 0.0)
        if power == 2:
            least *= least
    return min(least, gap) if hole == 1.0 else least


@njit(cache=True, nogil=True)
def _greatest_difference(
    number: float, low: float, high: float, hole: float, gap: float, power: int
) -> float:
    """No number of the interval (or missing one) contributes more than this."""
    if number != number:
        return gap if low <= high else 0.0
    greatest = 0.0
    if low <= high:
        greatest = max(high - number, number - low)
        if power == 2:
            greatest *= greatest
    return max(greatest, gap) if hole == 1.0 else greatest


@njit(cache=True, nogil=True)
def _bound(
    boxes: Floats,
    spans: Longs,
    extremes: Floats,
    numbers: Floats,
    gaps: Floats,
    power: int,
    direction: float,
    node: int,
) -> float:
    """What the best point below the node can reach at most; smaller is better."""
    total = 0.0
    for attribute in range(spans.shape[1]):
        total += extremes[spans[node, attribute]]
    for attribute in range(numbers.size):
        column = 4 + 3 * attribute
        low, high, hole = boxes[node, column], boxes[node, column + 1], boxes[node, column + 2]
        number, gap = numbers[attribute], gaps[attribute]
        if direction < 0.0:
            total += _greatest_difference(number, low, high, hole, gap, power)
        else:
            total += _least_difference(number, low, high, hole, gap, power)
    factor = -boxes[node, 1] if direction < 0.0 else boxes[node, 0]
    return float(total * factor)


@njit(cache=True, nogil=True)
def _scan_codes(
    totals: Floats, codes: Ints, tables: Floats, bases: Longs, start: int, count: int
) -> None:
    """Sums of the table entries of the points from place `start` on."""
    for position in range(count):
        totals[position] = 0.0
    for attribute in range(codes.shape[0]):
        base = bases[attribute]
        for position in range(count):
            totals[position] += tables[base + codes[attribute, start + position]]


@njit(cache=True, nogil=True)
def _scan_numbers(
    totals: Floats,
    columns: Floats,
    numbers: Floats,
    gaps: Floats,
    power: int,
    start: int,
    count: int,
) -> None:
    """Add the differences of numbers of the points from place `start` on."""
    for attribute in range(numbers.size):
        number, gap = numbers[attribute], gaps[attribute]
        for position in range(count):
            other = columns[attribute, start + position]
            totals[position] += number_difference(other, number, gap, power)


@njit(cache=True, nogil=True)
def _precedes(
    distance: float,
    rank: float,
    number: float,
    other: float,
    other_rank: float,
    other_number: float,
) -> bool:
    """Whether the first answer is better than the second."""
    if distance != other:
        return distance < other
    if rank != other_rank:
        return rank < other_rank
    return number < other_number


@njit(cache=True, nogil=True)
def _worse(answers: Floats, first: int, second: int) -> bool:
    """Whether the answer in the first slot is worse than that in the second."""
    return _precedes(
        answers[second, 0],
        answers[second, 1],
        answers[second, 2],
        answers[first, 0],
        answers[first, 1],
        answers[first, 2],
    )


@njit(cache=True, nogil=True)
def _exchange(answers: Floats, first: int, second: int) -> None:
    """Exchange two answers."""
    for column in range(3):
        kept = answers[first, column]
        answers[first, column] = answers[second, column]
        answers[second, column] = kept


@njit(cache=True, nogil=True)
def _sift_down(answers: Floats, count: int) -> None:
    """Bring the answer on top of the heap to its place."""
    slot = whole(0)
    while 2 * slot + 1 < count:
        child = 2 * slot + 1
        if child + 1 < count and _worse(answers, child + 1, child):
            child += 1
        if not _worse(answers, child, slot):
            return
        _exchange(answers, child, slot)
        slot = child


@njit(cache=True, nogil=True)
def _offer(
    answers: Floats, count: int, wanted: int, distance: float, rank: float, point: int
) -> int:
    """Take the answer in if it is among the best; how many there are now."""
    if count == wanted:
        if _precedes(distance, rank, point, answers[0, 0], answers[0, 1], answers[0, 2]):
            answers[0, 0], answers[0, 1], answers[0, 2] = distance, rank, point
            _sift_down(answers, count)
        return count
    slot = count
    answers[slot, 0], answers[slot, 1], answers[slot, 2] = distance, rank, point
    while slot > 0 and _worse(answers, slot, (slot - 1) // 2):
        _exchange(answers, slot, (slot - 1) // 2)
        slot = (slot - 1) // 2
    return count + 1


@njit(cache=True, nogil=True)
def search(
    points: Points, index: Index, finds: Finds, reference: Reference, direction: float, wanted: int
) -> int:
    """Find the `wanted` nearest (direction -1: farthest) living points; how many were found.

    They lie in `finds` in no order, the worst in slot 0. Order: distance, rank, point number.
    """
    # Locals, because every access to a field of a tuple of arrays inside the loops counts
    # references and costs more than the arithmetic.
    fill_extremes(points, index.trees, reference, direction, finds.extremes)
    live, rights, firsts, ids = index.live, index.rights, index.firsts, index.ids
    ranks, factors, boxes, spans = index.ranks, index.factors, index.boxes, index.spans
    answers, nodes, bounds, totals = finds.answers, finds.nodes, finds.bounds, finds.totals
    extremes, numbers, gaps, power = finds.extremes, reference.numbers, points.gaps, points.power
    codes, columns, tables = index.codes, index.numbers, points.tables
    bases = points.starts + reference.rows * points.values
    nodes[0], bounds[0] = 0, -np.inf
    top, count = whole(1), whole(0)
    while top > 0:
        top -= 1
        node = nodes[top]
        if live[node] == 0 or (
            count == wanted
            and not _precedes(
                bounds[top],
                boxes[node, 2],
                boxes[node, 3],
                answers[0, 0],
                answers[0, 1],
                answers[0, 2],
            )
        ):
            continue
        start, population = firsts[node], live[node]
        if rights[node] < 0:
            _scan_codes(totals, codes, tables, bases, start, population)
            _scan_numbers(totals, columns, numbers, gaps, power, start, population)
            for position in range(population):
                place = start + position
                distance = direction * totals[position] * factors[place]
                if count < wanted or distance <= answers[0, 0]:
                    count = _offer(answers, count, wanted, distance, ranks[place], ids[place])
            continue
        left, right = node + 1, rights[node]
        bound = _bound(boxes, spans, extremes, numbers, gaps, power, direction, left)
        other = _bound(boxes, spans, extremes, numbers, gaps, power, direction, right)
        if _precedes(
            bound, boxes[left, 2], boxes[left, 3], other, boxes[right, 2], boxes[right, 3]
        ):
            left, right, bound, other = right, left, other, bound
        nodes[top], bounds[top] = left, bound
        nodes[top + 1], bounds[top + 1] = right, other
        top += 2
    return count
