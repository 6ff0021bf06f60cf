"""Distances of a node to all others, or to many, where they are computed when they are asked for.

What a node has in common with all others is counted once (`stretches`); of a few others, ancestors
are looked up in those that it has marked. Where arrays are made, the compiler counts who holds any
of them, in every turn of a loop: ten times the price of a distance. So loops are kernels of their
own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import allocating, compiled, later, part
from ontomask.kernels.formulas import (
    CLASSES,
    COMPARED,
    DEPTHS,
    KIND_STARTS,
    NODES,
    OFFSETS,
    PLACES,
    PROFILES,
    REPLACED,
    SHARED,
    STARTS,
    TREE,
    VALUE_PLACES,
    WAY,
    contributed,
    curve_start,
)
from ontomask.kernels.stretches import read_along, step_below

__all__ = ["add_to_points", "add_to_rows", "fill_leaves"]

LOOKED_AT = 16
"""So many nodes are reached with all others in the time of looking up the ancestors of one."""


@part
def _room(heads: Longs, attribute: int) -> int:
    """How many places there are, where common ancestors count."""
    counts = heads[attribute, WAY] == SHARED
    return heads[attribute, VALUE_PLACES] - heads[attribute, PLACES] if counts else 0


@part
def _reach(
    heads: Longs,
    lineages: Longs,
    tables: Floats,
    attribute: int,
    node: int,
    asked: int,
    reached: Floats,
    steps: Ints,
) -> None:
    """Write what a node and each other one contribute, or cost, by the place of the other.

    `steps` are 0, one more than there are places, and stay so.
    """
    offsets, starts = heads[attribute, OFFSETS], heads[attribute, STARTS]
    first, stop = lineages[offsets + node], lineages[offsets + node + 1]
    for slot in range(first, stop):
        step_below(lineages, starts, lineages[slot], 1, steps)
    profile = lineages[heads[attribute, PROFILES] + node]
    start, kinds = curve_start(heads, attribute, profile, asked), heads[attribute, KIND_STARTS]
    read_along(tables, start, lineages, kinds, steps, reached, 0)
    for slot in range(first, stop):
        step_below(lineages, starts, lineages[slot], -1, steps)
    reached[lineages[heads[attribute, PLACES] + node]] = 0.0


@compiled
def _add_to_points(
    heads: Longs,
    lineages: Longs,
    tables: Floats,
    attribute: int,
    row: int,
    codes: Ints,
    result: Floats,
    reached: Floats,
    steps: Ints,
) -> None:
    if reached.size > 0:
        _reach(heads, lineages, tables, attribute, row, COMPARED, reached, steps)
        for point in range(result.size):
            place = heads[attribute, VALUE_PLACES] + codes[attribute, point]
            result[point] += reached[lineages[place]]
        return
    for point in range(result.size):
        other = lineages[heads[attribute, NODES] + codes[attribute, point]]
        result[point] += contributed(heads, lineages, tables, attribute, row, other, 0, COMPARED)


@later
@allocating
def add_to_points(
    heads: Longs,
    lineages: Longs,
    tables: Floats,
    attribute: int,
    row: int,
    codes: Ints,
    result: Floats,
) -> None:
    """Add what a row and the value of each point contribute."""
    room = _room(heads, attribute)
    reached, steps = np.empty(room), np.zeros(room + 1, np.int32)
    _add_to_points(heads, lineages, tables, attribute, row, codes, result, reached, steps)


@compiled
def _fill_leaves(
    heads: Longs,
    lineages: Longs,
    tables: Floats,
    attribute: int,
    row: int,
    turns: Ints,
    direction: float,
    extremes: Floats,
    reached: Floats,
    steps: Ints,
) -> None:
    if reached.size > 0:
        _reach(heads, lineages, tables, attribute, row, COMPARED, reached, steps)
        places = heads[attribute, VALUE_PLACES]
        for slot in range(turns.shape[0]):
            extremes[turns[slot, 0]] = direction * reached[lineages[places + turns[slot, 1]]]
        return
    for slot in range(turns.shape[0]):
        other = lineages[heads[attribute, NODES] + turns[slot, 1]]
        found = contributed(heads, lineages, tables, attribute, row, other, 0, COMPARED)
        extremes[turns[slot, 0]] = direction * found


@later
@allocating
def fill_leaves(
    heads: Longs,
    lineages: Longs,
    tables: Floats,
    attribute: int,
    row: int,
    turns: Ints,
    direction: float,
    extremes: Floats,
) -> None:
    """Write what a row and a value contribute, with its sign, at the place beside each value."""
    room = _room(heads, attribute)
    reached, steps = np.empty(room), np.zeros(room + 1, np.int32)
    told = direction, extremes, reached, steps
    _fill_leaves(heads, lineages, tables, attribute, row, turns, *told)


@part
def _mark(heads: Longs, lineages: Longs, attribute: int, node: int, marks: Any) -> None:
    """Mark the ancestors of a node, where that counts."""
    offsets = heads[attribute, OFFSETS]
    if marks.size > 0:
        for slot in range(lineages[offsets + node], lineages[offsets + node + 1]):
            marks[lineages[slot]] = 1


@part
def _marked(heads: Longs, lineages: Longs, attribute: int, marks: Any, node: int) -> int:
    """How many ancestors of a node are marked."""
    shared, offsets, tree = 0, heads[attribute, OFFSETS], heads[attribute, TREE]
    if marks.size > 0:
        for slot in range(lineages[offsets + node], lineages[offsets + node + 1]):
            mark = marks[lineages[slot]]
            # in a tree those that are shared come first, and mostly they are few
            if tree and mark == 0:
                break
            shared += mark
    return shared


@compiled
def _add_to_rows(
    heads: Longs,
    lineages: Longs,
    tables: Floats,
    attribute: int,
    value: int,
    weight: float,
    rows: Ints,
    sums: Floats,
    reached: Floats,
    steps: Ints,
    marks: Any,
) -> None:
    other = lineages[heads[attribute, NODES] + value]
    if reached.size > 0:
        _reach(heads, lineages, tables, attribute, other, REPLACED, reached, steps)
        for slot in range(rows.size):
            row = np.int64(rows[slot])
            sums[row] += weight * reached[lineages[heads[attribute, PLACES] + row]]
        return
    _mark(heads, lineages, attribute, other, marks)
    for slot in range(rows.size):
        row = np.int64(rows[slot])
        shared = _marked(heads, lineages, attribute, marks, row)
        found = contributed(heads, lineages, tables, attribute, row, other, shared, REPLACED)
        sums[row] += weight * found


@later
@allocating
def add_to_rows(
    heads: Longs,
    lineages: Longs,
    tables: Floats,
    attribute: int,
    value: int,
    weight: float,
    rows: Ints,
    sums: Floats,
) -> None:
    """Add the weight times what it costs to replace a value by each of some rows."""
    room = _room(heads, attribute)
    marked = heads[attribute, DEPTHS] - heads[attribute, CLASSES] if room > 0 else 0
    # to look up the ancestors of a few rows is quicker than to reach all
    room = room if LOOKED_AT * rows.size > room else 0
    marks = np.zeros(marked if room == 0 else 0, np.int8)
    reached, steps = np.empty(room), np.zeros(room + 1, np.int32)
    told = rows, sums, reached, steps, marks
    _add_to_rows(heads, lineages, tables, attribute, value, weight, *told)
