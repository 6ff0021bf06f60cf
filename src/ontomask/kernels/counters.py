"""Counters with fast sums: a binary indexed tree (Fenwick 1994)."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Longs
from ontomask.kernels.compiling import allocating, compiled

__all__ = ["add", "counter", "locate", "total_before"]


@allocating
def counter(counts: Longs) -> Longs:
    """A binary indexed tree over these counts."""
    tree = np.zeros(counts.size + 1, np.int64)
    for index in range(1, counts.size + 1):
        tree[index] += counts[index - 1]
        above = index + (index & -index)
        if above <= counts.size:
            tree[above] += tree[index]
    return tree


@compiled
def add(tree: Longs, index: int, amount: int) -> None:
    """Change one count."""
    node = index + 1
    while node < tree.size:
        tree[node] += amount
        # the next node of the counter that covers the index (Fenwick 1994)
        node += node & -node


@compiled
def total_before(tree: Longs, index: int) -> int:
    """Sum of the counts before an index."""
    total = 0
    while index > 0:
        total += tree[index]
        index -= index & -index
    return total


@compiled
def locate(tree: Longs, position: int) -> int:
    """The index whose count holds the given position of the sum."""
    index, step = 0, 1
    while 2 * step < tree.size:
        step *= 2
    while step > 0:
        if index + step < tree.size and tree[index + step] <= position:
            index += step
            position -= tree[index]
        step //= 2
    return index
