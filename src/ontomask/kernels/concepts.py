"""Loops over is-a links and ancestor sets.

Conventions. A graph over n concepts is given as `offsets` (n + 1) and `parents`: the parents of
concept c are `parents[offsets[c]:offsets[c + 1]]`. Concepts are numbered so that a parent's number
is smaller than its child's. Ancestor sets of m concepts are given likewise as `offsets` (m + 1),
`members` (numbers of ancestors, the concept itself included) and `ups` (the number of links on the
shortest way up to that ancestor).

The pairwise kernels take ancestor sets of rows and of columns, members ascending, over one *local*
numbering 0..size-1 of the ancestors in use. Each row marks its ancestors once; a column then costs
one look-up per ancestor, so a pair costs some ten nanoseconds whatever the taxonomy's size. The
pairs of a row are `starts[row]:starts[row + 1]`; each one's column is in `targets` or, if that is
empty, every row has a pair with every column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import in_blocks
from ontomask.kernels.compiling import allocating, compiled

__all__ = [
    "ancestor_sets",
    "ancestor_totals",
    "deepest_shared",
    "depths_below",
    "longest_depths",
    "shared_counts",
    "shared_entries",
    "shortest_paths",
    "transpose",
    "weighted_ups",
]

Sets = tuple[Longs, Ints, NDArray[Any]]
"""Offsets, members and what each member costs."""


@allocating
def transpose(offsets: Longs, targets: Ints, count: int) -> tuple[Longs, Ints]:
    """Turn child -> parents into parent -> children (children ascending)."""
    reverse_offsets = np.zeros(count + 1, np.int64)
    for target in targets:
        reverse_offsets[target + 1] += 1
    for position in range(count):
        reverse_offsets[position + 1] += reverse_offsets[position]
    fill = reverse_offsets[:-1].copy()
    sources = np.empty(targets.size, np.int32)
    for source in range(count):
        for link in range(offsets[source], offsets[source + 1]):
            target = targets[link]
            sources[fill[target]] = source
            fill[target] += 1
    return reverse_offsets, sources


@allocating
def longest_depths(offsets: Longs, parents: Ints, child_offsets: Longs, children: Ints) -> Ints:
    """Number of nodes on the longest path from a root; 0 for concepts on or below a cycle."""
    count = offsets.size - 1
    waiting = np.empty(count, np.int64)
    depths = np.zeros(count, np.int32)
    queue = np.empty(count, np.int32)
    head = tail = 0
    for concept in range(count):
        waiting[concept] = offsets[concept + 1] - offsets[concept]
        if waiting[concept] == 0:
            queue[tail] = concept
            tail += 1
    while head < tail:
        concept = queue[head]
        head += 1
        deepest = 0
        for link in range(offsets[concept], offsets[concept + 1]):
            deepest = max(deepest, depths[parents[link]])
        depths[concept] = deepest + 1
        for link in range(child_offsets[concept], child_offsets[concept + 1]):
            child = children[link]
            waiting[child] -= 1
            if waiting[child] == 0:
                queue[tail] = child
                tail += 1
    return depths


@allocating
def depths_below(offsets: Longs, parents: Ints, root: int) -> Ints:
    """Longest depth in nodes counted from `root` (itself 1); 0 outside the subtree of `root`."""
    count = offsets.size - 1
    depths = np.zeros(count, np.int32)
    depths[root] = 1
    for concept in range(root + 1, count):
        deepest = 0
        for link in range(offsets[concept], offsets[concept + 1]):
            deepest = max(deepest, depths[parents[link]])
        if deepest > 0:
            depths[concept] = deepest + 1
    return depths


@compiled
def _climb(
    concept: int, offsets: Longs, parents: Ints, seen: Ints, stamp: int, queue: Ints, ups: Ints
) -> int:
    """Breadth-first walk up from `concept`; fills queue and ups, returns how many were found."""
    queue[0] = concept
    ups[0] = 0
    seen[concept] = stamp
    head = 0
    tail = 1
    while head < tail:
        current = queue[head]
        for link in range(offsets[current], offsets[current + 1]):
            parent = parents[link]
            # a stamp for every walk saves clearing the marks
            if seen[parent] != stamp:
                seen[parent] = stamp
                queue[tail] = parent
                ups[tail] = ups[head] + 1
                tail += 1
        head += 1
    return tail


@allocating
def _grown(numbers: Ints, used: int, capacity: int) -> Ints:
    """A longer array that begins with the same numbers."""
    grown = np.empty(capacity, np.int32)
    for slot in range(used):
        grown[slot] = numbers[slot]
    return grown


@allocating
def ancestor_sets(offsets: Longs, parents: Ints, concepts: Ints) -> tuple[Longs, Ints, Ints]:
    """Ancestors of each concept, itself included, nearest first, with the shortest ways up."""
    count = offsets.size - 1
    seen = np.full(count, -1, np.int32)
    queue = np.empty(count, np.int32)
    ups = np.empty(count, np.int32)
    set_offsets = np.zeros(concepts.size + 1, np.int64)
    capacity = max(64, 16 * concepts.size)
    members = np.empty(capacity, np.int32)
    member_ups = np.empty(capacity, np.int32)
    for position in range(concepts.size):
        found = _climb(concepts[position], offsets, parents, seen, position, queue, ups)
        start = set_offsets[position]
        if start + found > members.size:
            members = _grown(members, start, 2 * (start + found))
            member_ups = _grown(member_ups, start, 2 * (start + found))
        # written out: assigning slices takes the compiler seconds, for the words of its errors
        for slot in range(found):
            members[start + slot], member_ups[start + slot] = queue[slot], ups[slot]
        set_offsets[position + 1] = start + found
    total = set_offsets[-1]
    return set_offsets, _grown(members, total, total), _grown(member_ups, total, total)


@allocating
def ancestor_totals(offsets: Longs, parents: Ints, amounts: Floats) -> Floats:
    """For every concept, the sum of the amounts of its specializations, itself included.

    A specialization reached on several ways counts once.
    """
    count = offsets.size - 1
    seen = np.full(count, -1, np.int32)
    queue = np.empty(count, np.int32)
    ups = np.empty(count, np.int32)
    totals = np.zeros(count, np.float64)
    for concept in range(count):
        if amounts[concept] != 0.0:
            found = _climb(concept, offsets, parents, seen, concept, queue, ups)
            for position in range(found):
                totals[queue[position]] += amounts[concept]
    return totals


@allocating
def weighted_ups(
    offsets: Longs, members: Ints, graph_offsets: Longs, graph_parents: Ints, link_lengths: Floats
) -> Floats:
    """Least sum of link lengths on a way up from each set's concept to each of its ancestors.

    The length of a link is that of its child, `link_lengths[child]`. The graph is local: numbers
    ascend from parent to child, and a set's own concept is its last member.
    """
    count = graph_offsets.size - 1
    costs = np.empty(count, np.float64)
    result = np.empty(members.size, np.float64)
    for position in range(offsets.size - 1):
        start, stop = offsets[position], offsets[position + 1]
        for slot in range(start, stop):
            costs[members[slot]] = np.inf
        costs[members[stop - 1]] = 0.0
        # numbers ascend from parent to child: at its turn, all ways up to a concept are known
        for slot in range(stop - 1, start - 1, -1):
            child = members[slot]
            for link in range(graph_offsets[child], graph_offsets[child + 1]):
                parent = graph_parents[link]
                costs[parent] = min(costs[parent], costs[child] + link_lengths[child])
        for slot in range(start, stop):
            result[slot] = costs[members[slot]]
    return result


LEAST_PAIRS = 100_000
"""Pairs that are enough work for one more thread."""


def shared_counts(rows: Sets, columns: Sets, starts: Longs, targets: Longs, size: int) -> Ints:
    """Number of common ancestors of every pair."""
    result = np.empty(starts[-1], np.int32)
    # the entry of a number is the number itself, whatever the profiles
    curve = np.arange(size + 1, dtype=np.int32).reshape(1, 1, -1)
    profiles = (np.zeros(offsets.size - 1, np.int64) for offsets, *_ in (rows, columns))
    _by_row(_read_shared, starts, targets, rows, columns, size, False, curve, *profiles, result)
    return result


def shared_entries(
    rows: Sets,
    columns: Sets,
    starts: Longs,
    targets: Longs,
    size: int,
    chains: bool,
    curve: Floats,
    first_profiles: Longs,
    second_profiles: Longs,
) -> Floats:
    """For every pair, the entry of a curve by both profiles and the number of common ancestors.

    `chains`: every set is a chain from the root on, so that what two share comes first in both.
    """
    result = np.empty(starts[-1], np.float64)
    told = chains, curve, first_profiles, second_profiles
    _by_row(_read_shared, starts, targets, rows, columns, size, *told, result)
    return result


@allocating
def _read_shared(
    first: int,
    last: int,
    starts: Longs,
    targets: Longs,
    rows: Sets,
    columns: Sets,
    size: int,
    chains: bool,
    curve: Ints | Floats,
    row_profiles: Longs,
    column_profiles: Longs,
    result: Ints | Floats,
) -> None:
    """Write the entries of the pairs of the rows from first to last."""
    row_offsets, row_members, _ = rows
    column_offsets, column_members, _ = columns
    marks = np.zeros(size, np.int32)
    for row in range(first, last):
        for slot in range(row_offsets[row], row_offsets[row + 1]):
            marks[row_members[slot]] = 1
        profile = row_profiles[row]
        for pair in range(starts[row], starts[row + 1]):
            column = targets[pair] if targets.size else pair - starts[row]
            shared = 0
            for slot in range(column_offsets[column], column_offsets[column + 1]):
                mark = marks[column_members[slot]]
                if chains and mark == 0:
                    break
                shared += mark
            result[pair] = curve[profile, column_profiles[column], shared]
        for slot in range(row_offsets[row], row_offsets[row + 1]):
            marks[row_members[slot]] = 0


def shortest_paths(rows: Sets, columns: Sets, starts: Longs, targets: Longs, size: int) -> Floats:
    """Least cost of a way from row to column through a common ancestor, for every pair."""
    result = np.empty(starts[-1], np.float64)
    _by_row(_find_shortest, starts, targets, rows, columns, size, result)
    return result


@allocating
def _find_shortest(
    first: int,
    last: int,
    starts: Longs,
    targets: Longs,
    rows: Sets,
    columns: Sets,
    size: int,
    result: Floats,
) -> None:
    row_offsets, row_members, row_costs = rows
    column_offsets, column_members, column_costs = columns
    costs = np.full(size, np.inf)
    for row in range(first, last):
        for slot in range(row_offsets[row], row_offsets[row + 1]):
            costs[row_members[slot]] = row_costs[slot]
        for pair in range(starts[row], starts[row + 1]):
            column = targets[pair] if targets.size else pair - starts[row]
            best = np.inf
            for slot in range(column_offsets[column], column_offsets[column + 1]):
                best = min(best, costs[column_members[slot]] + column_costs[slot])
            result[pair] = best
        for slot in range(row_offsets[row], row_offsets[row + 1]):
            costs[row_members[slot]] = np.inf


def deepest_shared(
    rows: Sets, columns: Sets, starts: Longs, targets: Longs, depths: Ints
) -> tuple[Ints, Ints]:
    """Least common subsumer of every pair, and the links up to it from both.

    Local numbers ascend with (depth, id), so the deepest common ancestor is met first from the
    end; among equally deep ones the smallest sum of ways up decides, then the smaller number.
    """
    subsumers = np.empty(starts[-1], np.int32)
    sums = np.empty(starts[-1], np.int32)
    _by_row(_find_deepest, starts, targets, rows, columns, depths, subsumers, sums)
    return subsumers, sums


@allocating
def _find_deepest(
    first: int,
    last: int,
    starts: Longs,
    targets: Longs,
    rows: Sets,
    columns: Sets,
    depths: Ints,
    subsumers: Ints,
    sums: Ints,
) -> None:
    row_offsets, row_members, row_ups = rows
    column_offsets, column_members, column_ups = columns
    ways = np.full(depths.size, -1, np.int32)
    for row in range(first, last):
        for slot in range(row_offsets[row], row_offsets[row + 1]):
            ways[row_members[slot]] = row_ups[slot]
        for pair in range(starts[row], starts[row + 1]):
            column = targets[pair] if targets.size else pair - starts[row]
            best, best_sum, best_depth = -1, 0, 0
            for slot in range(column_offsets[column + 1] - 1, column_offsets[column] - 1, -1):
                member = column_members[slot]
                # members descend by depth: nothing as deep follows
                if depths[member] < best_depth:
                    break
                if ways[member] >= 0:
                    way = ways[member] + column_ups[slot]
                    # numbers descend, so that of equal ways the smaller number is taken last
                    if best < 0 or way <= best_sum:
                        best, best_sum, best_depth = member, way, depths[member]
            subsumers[pair] = best
            sums[pair] = best_sum
        for slot in range(row_offsets[row], row_offsets[row + 1]):
            ways[row_members[slot]] = -1


def _by_row(kernel: Callable[..., None], starts: Longs, *arguments: object) -> None:
    count = starts.size - 1

    def work(first: int, last: int) -> None:
        kernel(first, last, starts, *arguments)

    in_blocks(work, count, 1 + LEAST_PAIRS * count // max(1, int(starts[-1])))
