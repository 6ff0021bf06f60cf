"""Weighted points and the distance of a reference to all of them.

A *point* is a distinct tuple with its frequency, or a single record with weight 1. Its attributes
are coded (nominal, ordinal) or numeric. A *row* of a coded attribute is a centroid candidate: a
concept of the minimum hierarchy or a value. A *reference* is a row per coded attribute and a number
per numeric one: a point or a centroid. Its contribution to point i is

    sum_j table_j[row_j, code_ji]  +  sum_a |number_a - x_ai| ** power

where a number missing on one side counts `gaps[a]` and on both sides nothing. For power 2 this is
the squared euclidean distance, which orders points as the distance itself does. The *distance*
to point i is that sum times `factors[i]`, the comparison operator wsd(b, <v, w>) = w * sd(b, v) of
the literature (Martinez, Sanchez and Valls 2012). Ties: the smallest point number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange

from ontomask.arrays import Floats, Ints, Longs

__all__ = [
    "LCS",
    "MINIMUM_HIERARCHY",
    "PRESENT",
    "RANDOM",
    "Attribute",
    "Points",
    "Reference",
    "distances",
    "farthest",
    "k_nearest",
    "nearest",
    "pack_points",
    "point_reference",
    "whole",
]

MINIMUM_HIERARCHY = 0
PRESENT = 1
LCS = 2
RANDOM = 3


class Attribute(NamedTuple):
    """One coded attribute with v values and r rows, sorted by (depth, id).

    A row's ancestors, itself included, are `row_above[row_above_offsets[row]:...[row + 1]]`;
    in an attribute without taxonomy, and for the missing value, that is the row alone.
    """

    table: Floats
    """Comparison, r x v: distance of a row to a value, already weighted and raised to the power."""
    costs: Floats
    """Aggregation, r x v: cost of replacing a value by a row."""
    own_rows: Ints
    """[v] row of each value."""
    row_depths: Ints
    """[r] depth of each row."""
    row_above_offsets: Longs
    row_above: Ints
    rule: int
    """How a centroid is chosen: MINIMUM_HIERARCHY, PRESENT, LCS or RANDOM."""
    missing: int
    """The code that means "missing", or -1."""


class Points(NamedTuple):
    """p points; attribute j of the coded ones has `values[j]` values and `rows[j]` rows."""

    codes: Ints
    """[coded, p] value of each point, contiguous per attribute."""
    numbers: Floats
    """[numeric, p] scaled numbers; NaN means missing."""
    gaps: Floats
    """[numeric] contribution when exactly one of two numbers is missing."""
    weights: Floats
    """[p] frequencies, at least 1."""
    factors: Floats
    """[p] factor of the distance to each point."""
    tables: Floats
    """Comparison tables, one after the other, each rows x values in C order."""
    costs: Floats
    """Aggregation tables at the same starts, but *values x rows*: a value's costs lie together."""
    starts: Longs
    """[coded] where the tables of each attribute start."""
    rows: Longs
    """[coded] number of rows."""
    values: Longs
    """[coded] number of values."""
    row_starts: Longs
    """[coded] where the attribute's rows start in arrays over all rows."""
    value_starts: Longs
    """[coded] where the attribute's values start in arrays over all values."""
    own_rows: Ints
    """[all values] row of each value, within its attribute."""
    row_depths: Ints
    """[all rows] depth of each row."""
    row_above_offsets: Longs
    """[all rows + 1] where the ancestors of each row start in `row_above`."""
    row_above: Ints
    """Ancestors-or-self of each row, as rows within the attribute."""
    rules: Longs
    """[coded] rule of the centroid."""
    missing: Longs
    """[coded] the code that means "missing", or -1."""
    power: int
    """1: absolute differences of numbers; 2: squared ones."""


class Reference(NamedTuple):
    """What points are compared with."""

    rows: Ints
    numbers: Floats


def _starts(sizes: Sequence[int]) -> Longs:
    """Where consecutive blocks of these sizes start; one entry more than blocks."""
    return np.concatenate(([0], np.cumsum(np.asarray(sizes, np.int64)))).astype(np.int64)


def _joined(parts: Sequence[Any], kind: type) -> Any:
    """One flat array of all parts."""
    flat: list[Any] = [np.ascontiguousarray(part, dtype=kind).ravel() for part in parts]
    return np.concatenate(flat) if flat else np.empty(0, kind)


def pack_points(
    attributes: Sequence[Attribute],
    codes: Ints,
    numbers: Floats,
    weights: Floats,
    factors: Floats,
    gaps: Floats,
    power: int,
) -> Points:
    """Lay the attributes' tables out as the kernels want them."""
    # read-only or strided arrays are other types to the compiler: every kernel twice
    layout: Any = ["C_CONTIGUOUS", "WRITEABLE"]
    shapes = [attribute.table.shape for attribute in attributes]
    above_starts = _starts([attribute.row_above.size for attribute in attributes])
    offsets = [
        attribute.row_above_offsets[:-1] + start
        for attribute, start in zip(attributes, above_starts, strict=False)
    ]
    return Points(
        codes=np.require(codes, np.int32, layout),
        numbers=np.require(numbers, np.float64, layout),
        gaps=np.require(gaps, np.float64, layout),
        weights=np.require(weights, np.float64, layout),
        factors=np.require(factors, np.float64, layout),
        tables=_joined([attribute.table for attribute in attributes], np.float64),
        costs=_joined([attribute.costs.T for attribute in attributes], np.float64),
        starts=_starts([rows * values for rows, values in shapes])[:-1],
        rows=np.array([rows for rows, _ in shapes], np.int64),
        values=np.array([values for _, values in shapes], np.int64),
        row_starts=_starts([rows for rows, _ in shapes])[:-1],
        value_starts=_starts([values for _, values in shapes])[:-1],
        own_rows=_joined([attribute.own_rows for attribute in attributes], np.int32),
        row_depths=_joined([attribute.row_depths for attribute in attributes], np.int32),
        row_above_offsets=_joined([*offsets, above_starts[-1:]], np.int64),
        row_above=_joined([attribute.row_above for attribute in attributes], np.int32),
        rules=np.array([attribute.rule for attribute in attributes], np.int64),
        missing=np.array([attribute.missing for attribute in attributes], np.int64),
        power=int(power),
    )


@njit(cache=True, nogil=True)
def whole(number: int) -> int:
    """The number as the type all loops use.

    A plain 0 is a type of its own to the compiler: every function it is passed to would be
    compiled once more.
    """
    return int(np.int64(number))


@njit(cache=True, nogil=True)
def point_reference(points: Points, point: int, reference: Reference) -> None:
    """Make a point the reference."""
    for attribute in range(points.codes.shape[0]):
        value = points.value_starts[attribute] + points.codes[attribute, point]
        reference.rows[attribute] = points.own_rows[value]
    for attribute in range(points.numbers.shape[0]):
        reference.numbers[attribute] = points.numbers[attribute, point]


@njit(cache=True, nogil=True)
def add_looked_up(totals: Floats, codes: Ints, table: Floats, base: int) -> None:
    """Add the table's row that starts at `base` to the totals, by code."""
    for position in range(totals.size):
        totals[position] += table[base + codes[position]]


@njit(cache=True, nogil=True)
def number_difference(number: float, other: float, gap: float, power: int) -> float:
    """Contribution of one pair of numbers."""
    difference = number - other
    if difference == difference:
        return difference * difference if power == 2 else abs(difference)
    return 0.0 if number != number and other != other else gap


@njit(cache=True, nogil=True)
def add_differences(
    totals: Floats, numbers: Floats, reference: float, gap: float, power: int
) -> None:
    """Add |number - reference| ** power to the totals; missing ones count as the gap says."""
    for position in range(totals.size):
        totals[position] += number_difference(numbers[position], reference, gap, power)


@njit(cache=True, nogil=True)
def _block_distances(
    points: Points, rows: Ints, numbers: Floats, start: int, totals: Floats
) -> None:
    """Fill the distances of the points from `start` on."""
    stop = start + totals.size
    totals[:] = 0.0
    for attribute in range(points.codes.shape[0]):
        base = points.starts[attribute] + rows[attribute] * points.values[attribute]
        add_looked_up(totals, points.codes[attribute, start:stop], points.tables, base)
    for attribute in range(points.numbers.shape[0]):
        column = points.numbers[attribute, start:stop]
        add_differences(totals, column, numbers[attribute], points.gaps[attribute], points.power)
    for position in range(totals.size):
        totals[position] *= points.factors[start + position]


@njit(cache=True, nogil=True, parallel=True)
def distances(points: Points, rows: Ints, numbers: Floats) -> Floats:
    """Distance of one reference to every point, by a full scan on all cores."""
    count = points.weights.size
    block = 8192
    result = np.empty(count, np.float64)
    for part in prange((count + block - 1) // block):
        start = part * block
        stop = min(count, start + block)
        _block_distances(points, rows, numbers, start, result[start:stop])
    return result


def nearest(points: Points, rows: Ints, numbers: Floats) -> int:
    """Point of least distance."""
    return int(np.argmin(distances(points, rows, numbers)))


def farthest(points: Points, rows: Ints, numbers: Floats) -> int:
    """Point of greatest distance."""
    return int(np.argmax(distances(points, rows, numbers)))


def k_nearest(points: Points, rows: Ints, numbers: Floats, k: int) -> Longs:
    """The k points of least distance, nearest first, by partial selection."""
    found = distances(points, rows, numbers)
    limit = np.partition(found, k - 1)[k - 1]
    near = np.flatnonzero(found <= limit)
    return np.asarray(near[np.argsort(found[near], kind="stable")[:k]], dtype=np.int64)
