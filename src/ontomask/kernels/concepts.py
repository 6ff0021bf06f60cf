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
empty, every row has a pair with every column. What all columns share with a row is then counted in
one pass (`stretches`), from what they share with the row before it: few ancestors differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontomask.arrays import Floats, Ints, Longs, different, offsets_of, ranges
from ontomask.kernels.blocks import in_blocks
from ontomask.kernels.compiling import compiled
from ontomask.kernels.stretches import read_along, step_below, stretches_below

__all__ = [
    "ancestor_sets",
    "ancestor_totals",
    "deepest_shared",
    "depths_below",
    "longest_depths",
    "shared_entries",
    "shortest_paths",
    "transpose",
    "weighted_ups",
]

Sets = tuple[Longs, Ints, NDArray[Any]]
"""Offsets, members and what each member costs."""


MOST_CONCEPTS = 16_384
"""So many concepts have their ancestors listed at once where only sums are asked for."""


def transpose(offsets: Longs, targets: Ints, count: int) -> tuple[Longs, Ints]:
    """Turn child -> parents into parent -> children (children ascending)."""
    sources = np.repeat(np.arange(offsets.size - 1, dtype=np.int32), np.diff(offsets))
    return offsets_of(targets, count), sources[np.argsort(targets, kind="stable")]


def longest_depths(offsets: Longs, child_offsets: Longs, children: Ints) -> Ints:
    """Number of nodes on the longest path from a root; 0 for concepts on or below a cycle."""
    waiting, depths = np.diff(offsets), np.zeros(offsets.size - 1, np.int32)
    level, depth = np.flatnonzero(waiting == 0), 1
    while level.size:
        depths[level] = depth
        below, _ = _linked(child_offsets, children, level)
        np.subtract.at(waiting, below, 1)
        level, depth = different(below[waiting[below] == 0]), depth + 1
    return depths


def depths_below(child_offsets: Longs, children: Ints, root: int) -> Ints:
    """Longest depth in nodes counted from `root` (itself 1); 0 outside the subtree of `root`."""
    depths, level, depth = np.zeros(child_offsets.size - 1, np.int32), np.array([root]), 1
    while level.size:
        # who is met again is met on a longer way
        depths[level] = depth
        level, depth = different(_linked(child_offsets, children, level)[0]), depth + 1
    return depths


def ancestor_sets(
    offsets: Longs, parents: Ints, concepts: Longs | Ints
) -> tuple[Longs, Ints, Ints]:
    """Ancestors of each concept, itself included, ascending, with the shortest ways up."""
    count = offsets.size - 1
    # a concept and one of its ancestors are a single number, so that sorting knows both
    level = known = np.arange(concepts.size) * count + concepts
    levels = [level]
    while level.size:
        owners, numbers = np.divmod(level, count)
        above, sizes = _linked(offsets, parents, numbers)
        level = different(np.repeat(owners, sizes) * count + above)
        places = np.minimum(np.searchsorted(known, level), known.size - 1)
        level = level[known[places] != level]
        levels.append(level)
        known = np.sort(np.concatenate([known, level]), kind="stable")
    ups = np.repeat(np.arange(len(levels), dtype=np.int32), [one.size for one in levels])
    owners, members = np.divmod(known, count)
    order = np.argsort(np.concatenate(levels), kind="stable")
    return offsets_of(owners, concepts.size), members.astype(np.int32), ups[order]


def ancestor_totals(offsets: Longs, parents: Ints, amounts: Floats) -> Floats:
    """For every concept, the sum of the amounts of its specializations, itself included.

    A specialization reached on several ways counts once.
    """
    totals, counted = np.zeros(amounts.size), np.flatnonzero(amounts)
    for start in range(0, counted.size, MOST_CONCEPTS):
        concepts = counted[start : start + MOST_CONCEPTS]
        starts, members, _ = ancestor_sets(offsets, parents, concepts)
        np.add.at(totals, members, np.repeat(amounts[concepts], np.diff(starts)))
    return totals


def _linked(offsets: Longs, targets: Ints, sources: Longs | Ints) -> tuple[Ints, Longs]:
    """What some concepts are linked to, one after the other, and how many each."""
    firsts = offsets[sources]
    sizes = offsets[sources + 1] - firsts
    return targets[ranges(firsts, sizes)], sizes


def weighted_ups(
    offsets: Longs, members: Ints, graph_offsets: Longs, graph_parents: Ints, link_lengths: Floats
) -> Floats:
    """Least sum of link lengths on a way up from each set's concept to each of its ancestors.

    The length of a link is that of its child, `link_lengths[child]`. The graph is local: numbers
    ascend from parent to child, and a set's own concept is its last member.
    """
    result, costs = np.empty(members.size), np.empty(graph_offsets.size - 1)
    _add_lengths(offsets, members, graph_offsets, graph_parents, link_lengths, costs, result)
    return result


@compiled
def _add_lengths(
    offsets: Longs,
    members: Ints,
    graph_offsets: Longs,
    graph_parents: Ints,
    link_lengths: Floats,
    costs: Floats,
    result: Floats,
) -> None:
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


LEAST_PAIRS = 100_000
"""Pairs that are enough work for one more thread."""


def shared_entries(
    rows: Sets,
    columns: Sets,
    starts: Longs,
    targets: Longs,
    size: int,
    chains: bool,
    curve: NDArray[Any],
    first_profiles: Longs,
    second_profiles: Longs,
    room: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """For every pair, the entry of a curve by both profiles and the number of common ancestors.

    `chains`: every set is a chain from the root on, so that what two share comes first in both.
    They are written to `room`, where that is given.
    """
    result = np.empty(starts[-1], np.float64) if room is None else room
    if targets.size == 0:
        below, width = stretches_below(columns[0], columns[1], size), curve.shape[2]
        steps = np.zeros(second_profiles.size + 1, np.int32)
        wholes = np.concatenate([below, second_profiles * width])
        lines = first_profiles * (curve.shape[1] * width)
        told = wholes, below.size, curve.ravel(), lines
        _by_row(_read_rectangle, steps, starts, rows, *told, result)
        return result
    given = targets, rows, columns, chains, curve, first_profiles, second_profiles
    _by_row(_read_shared, np.zeros(size, np.int32), starts, *given, result)
    return result


@compiled
def _read_rectangle(
    first: int,
    last: int,
    steps: Ints,
    starts: Longs,
    rows: Sets,
    wholes: Longs,
    kinds: int,
    curves: NDArray[Any],
    lines: Longs,
    result: NDArray[Any],
) -> None:
    """Write the entries of the rows from first to last with all columns."""
    offsets, members, _ = rows
    for row in range(first, last):
        own, stop = offsets[row], offsets[row + 1]
        other = offsets[row - 1] if row > first else own
        while own < stop or other < offsets[row]:
            if other == offsets[row] or (own < stop and members[own] < members[other]):
                step_below(wholes, 0, members[own], 1, steps)
                own += 1
            elif own == stop or members[other] < members[own]:
                step_below(wholes, 0, members[other], -1, steps)
                other += 1
            else:
                own, other = own + 1, other + 1
        read_along(curves, lines[row], wholes, kinds, steps, result, starts[row])


@compiled
def _read_shared(
    first: int,
    last: int,
    marks: Ints,
    starts: Longs,
    targets: Longs,
    rows: Sets,
    columns: Sets,
    chains: bool,
    curve: Floats,
    row_profiles: Longs,
    column_profiles: Longs,
    result: Floats,
) -> None:
    """Write the entries of the listed pairs of the rows from first to last."""
    row_offsets, row_members, _ = rows
    column_offsets, column_members, _ = columns
    for row in range(first, last):
        for slot in range(row_offsets[row], row_offsets[row + 1]):
            marks[row_members[slot]] = 1
        profile = row_profiles[row]
        for pair in range(starts[row], starts[row + 1]):
            column = targets[pair]
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
    _by_row(_find_shortest, np.full(size, np.inf), starts, targets, rows, columns, result)
    return result


@compiled
def _find_shortest(
    first: int,
    last: int,
    costs: Floats,
    starts: Longs,
    targets: Longs,
    rows: Sets,
    columns: Sets,
    result: Floats,
) -> None:
    row_offsets, row_members, row_costs = rows
    column_offsets, column_members, column_costs = columns
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
    room = np.full(depths.size, -1, np.int32)
    _by_row(_find_deepest, room, starts, targets, rows, columns, depths, subsumers, sums)
    return subsumers, sums


@compiled
def _find_deepest(
    first: int,
    last: int,
    ways: Ints,
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


def _by_row(
    kernel: Callable[..., None], room: NDArray[Any], starts: Longs, *arguments: object
) -> None:
    """Let a kernel do all rows; each thread has a room of its own, which is left as it was."""
    count = starts.size - 1

    def work(first: int, last: int) -> None:
        kernel(first, last, room.copy(), starts, *arguments)

    in_blocks(work, count, 1 + LEAST_PAIRS * count // max(1, int(starts[-1])))
