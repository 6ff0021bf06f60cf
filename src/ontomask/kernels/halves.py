"""Cut a range of points in two: by the attribute in which they spread most."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Longs
from ontomask.kernels.compiling import part, whole
from ontomask.kernels.records import VALUE_START, Points
from ontomask.kernels.value_trees import RIGHT, ValueTrees, joint_node

__all__ = ["split"]


@part
def _widest(
    points: Points, trees: ValueTrees, order: Longs, start: int, stop: int, stress: float
) -> tuple[int, int]:
    """The attribute in which these points spread most (-1: they are equal), and its value node.

    The spread of numbers counts `stress` times.
    """
    codes, numbers = points.codes, points.numbers
    links, leaves = trees.links, trees.leaves
    coded = codes.shape[0]
    best, best_node, best_width = -1, -1, 0.0
    for attribute in range(coded):
        first = points.heads[attribute, VALUE_START]
        node = whole(-1)
        for place in range(start, stop):
            leaf = leaves[first + codes[attribute, order[place]]]
            node = joint_node(links, node, whole(leaf))
        # a node that is no leaf can always be split, also where all its distances are 0
        width = trees.widths[node] + 1e-300 if links[node, RIGHT] >= 0 else 0.0
        if width > best_width:
            best, best_node, best_width = attribute, node, width
    for attribute in range(numbers.shape[0]):
        low, high, hole = np.inf, -np.inf, False
        for place in range(start, stop):
            number = numbers[attribute, order[place]]
            low, high = number if number < low else low, number if number > high else high
            hole |= number != number
        width = 0.0
        if low <= high:
            width = (high - low) * (high - low) if points.power == 2 else high - low
            # missing and known numbers can always be split
            if hole:
                width = points.gaps[attribute] + (width + 1e-300)
        if stress * width > best_width:
            best, best_node, best_width = coded + attribute, -1, stress * width
    return best, best_node


@part
def _select(keys: Floats, order: Longs, start: int, stop: int) -> int:
    """Reorder so that the middle is where sorting by keys would put it (Hoare 1961); where."""
    low, high, middle = start, stop - 1, (start + stop) // 2
    while low < high:
        pivot, left, right = keys[(low + high) // 2], low, high
        while left <= right:
            # equal keys change sides as well, so that many duplicates are still cut in half
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
            break
    return middle


@part
def split(
    points: Points,
    trees: ValueTrees,
    order: Longs,
    keys: Floats,
    start: int,
    stop: int,
    stress: float,
) -> int:
    """Reorder a range of points into two sides; where the second starts."""
    attribute, node = _widest(points, trees, order, start, stop, stress)
    codes, numbers, leaves = points.codes, points.numbers, trees.leaves
    coded = codes.shape[0]
    if 0 <= attribute < coded:
        first, limit = points.heads[attribute, VALUE_START], trees.links[node, RIGHT]
        left, right = start, stop - 1
        while left <= right:
            if leaves[first + codes[attribute, order[left]]] < limit:
                left += 1
            else:
                order[left], order[right] = order[right], order[left]
                right -= 1
        return left
    for place in range(start, stop):
        keys[place] = order[place]
        if attribute >= coded:
            number = numbers[attribute - coded, order[place]]
            keys[place] = number if number == number else np.inf
    return _select(keys, order, start, stop)
