"""Centroids of sets of points that grow and shrink.

For a coded attribute the centroid is the row c that minimizes sum_i w_i * cost(c, v_i) over the
candidates its rule allows (Martinez, Valls and Sanchez 2012; Domingo-Ferrer, Sanchez and
Rufian-Torrell 2013 for the marginality mean):

* MINIMUM_HIERARCHY: rows that are an ancestor-or-self of a value of the set and lie at or below the
  set's least common subsumer (LCS), the deepest row above all its values;
* PRESENT: rows of values of the set (mode, marginality mean, ordinal median, by the costs);
* LCS: the subsumer itself, whatever it costs;
* RANDOM: the value of a random member; while clusters grow it is treated as PRESENT.

A missing value is ignored by the LCS; its own row is a candidate where it occurs. A candidate wins
that comes first among those within TOLERANCE * (least sum + weight of the set): sums are updated
by what enters and leaves and carry rounding. For a numeric attribute the centroid is the weighted
mean of the numbers that are not missing, or missing when more than half of the weight is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.records import (
    LCS,
    MINIMUM_HIERARCHY,
    RANDOM,
    Points,
    Reference,
    number_difference,
    whole,
)

__all__ = [
    "Tally",
    "centroid_reference",
    "centroids",
    "clear",
    "enter",
    "fill",
    "leave",
    "loss",
    "loss_to",
    "members_by_cluster",
    "new_tally",
]

TOLERANCE = 1e-9


class Tally(NamedTuple):
    """What is known of a set of points, enough to read off its centroid."""

    counts: Ints
    """[all values] number of points that hold the value."""
    value_weights: Floats
    """[all values] their weight."""
    seen: Ints
    """[all values] the values that occur, listed per attribute from `value_starts` on."""
    seen_spots: Ints
    """[all values] place of a value in that list, -1 when it does not occur."""
    covers: Ints
    """[all rows] number of distinct values at or below the row."""
    sums: Floats
    """[all rows] sum of weight times cost, kept for candidates only."""
    listed: Ints
    """[all rows] the rows that cover a value, listed per attribute from `row_starts` on."""
    spots: Ints
    """[all rows] place of a row in that list, -1 when it covers nothing."""
    verdicts: Ints
    """[all rows] the LCS for which the row was last found below (row + 1) or not (-row - 1)."""
    lengths: Longs
    """[2, coded] lengths of the lists of values and of rows."""
    numbers: Floats
    """[2, numeric] weighted sum of the numbers, weight of those that are not missing."""
    weight: Floats
    """[1] total weight."""


@njit(cache=True, nogil=True)
def new_tally(points: Points) -> Tally:
    """A tally of nothing."""
    values, rows = points.own_rows.size, points.row_depths.size
    return Tally(
        np.zeros(values, np.int32),
        np.zeros(values, np.float64),
        np.empty(values, np.int32),
        np.full(values, -1, np.int32),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.float64),
        np.empty(rows, np.int32),
        np.full(rows, -1, np.int32),
        np.zeros(rows, np.int32),
        np.zeros((2, points.codes.shape[0]), np.int64),
        np.zeros((2, points.numbers.shape[0]), np.float64),
        np.zeros(1, np.float64),
    )


@njit(cache=True, nogil=True)
def clear(points: Points, tally: Tally) -> None:
    """Make it a tally of nothing again, at the price of what it held."""
    counts, weights, seen, seen_spots = (
        tally.counts,
        tally.value_weights,
        tally.seen,
        tally.seen_spots,
    )
    covers, listed, spots = tally.covers, tally.listed, tally.spots
    for attribute in range(points.codes.shape[0]):
        first, row_first = points.value_starts[attribute], points.row_starts[attribute]
        for slot in range(first, first + tally.lengths[0, attribute]):
            value = first + seen[slot]
            counts[value], weights[value], seen_spots[value] = 0, 0.0, -1
        for slot in range(row_first, row_first + tally.lengths[1, attribute]):
            row = row_first + listed[slot]
            covers[row], spots[row] = 0, -1
    tally.lengths[:] = 0
    tally.numbers[:] = 0.0
    tally.weight[0] = 0.0


@njit(cache=True, nogil=True)
def _list_item(items: Ints, spots: Ints, start: int, length: int, item: int) -> None:
    """Append an item to a list that begins at `start`."""
    items[start + length] = item
    spots[start + item] = length


@njit(cache=True, nogil=True)
def _unlist_item(items: Ints, spots: Ints, start: int, length: int, item: int) -> None:
    """Take an item out of a list of this length; the last one takes its place."""
    spot, last = spots[start + item], items[start + length - 1]
    items[start + spot] = last
    spots[start + last] = spot
    spots[start + item] = -1


@njit(cache=True, nogil=True)
def _span_above(points: Points, attribute: int, value: int) -> tuple[int, int]:
    """Where the rows that a value supports as candidates start and end in `row_above`."""
    row = points.row_starts[attribute] + points.own_rows[points.value_starts[attribute] + value]
    return points.row_above_offsets[row], points.row_above_offsets[row + 1]


@njit(cache=True, nogil=True)
def _uses_ancestors(points: Points, attribute: int) -> bool:
    """Whether the rule looks at ancestors of values."""
    return points.rules[attribute] in (MINIMUM_HIERARCHY, LCS)


@njit(cache=True, nogil=True)
def _support(points: Points, tally: Tally, attribute: int, row: int) -> None:
    """One more value lies at or below the row; a new candidate's sum starts at zero."""
    start = points.row_starts[attribute]
    tally.covers[start + row] += 1
    if tally.covers[start + row] == 1:
        _list_item(tally.listed, tally.spots, start, tally.lengths[1, attribute], row)
        tally.lengths[1, attribute] += 1
        tally.sums[start + row] = 0.0


@njit(cache=True, nogil=True)
def _unsupport(points: Points, tally: Tally, attribute: int, row: int) -> None:
    """One value less lies at or below the row."""
    start = points.row_starts[attribute]
    tally.covers[start + row] -= 1
    if tally.covers[start + row] == 0:
        _unlist_item(tally.listed, tally.spots, start, tally.lengths[1, attribute], row)
        tally.lengths[1, attribute] -= 1


@njit(cache=True, nogil=True)
def _see(points: Points, tally: Tally, attribute: int, value: int) -> None:
    """A value occurs for the first time."""
    start = points.value_starts[attribute]
    _list_item(tally.seen, tally.seen_spots, start, tally.lengths[0, attribute], value)
    tally.lengths[0, attribute] += 1
    if not _uses_ancestors(points, attribute):
        _support(points, tally, attribute, points.own_rows[start + value])
        return
    low, high = _span_above(points, attribute, value)
    for slot in range(low, high):
        _support(points, tally, attribute, points.row_above[slot])


@njit(cache=True, nogil=True)
def _unsee(points: Points, tally: Tally, attribute: int, value: int) -> None:
    """A value occurs no more."""
    start = points.value_starts[attribute]
    _unlist_item(tally.seen, tally.seen_spots, start, tally.lengths[0, attribute], value)
    tally.lengths[0, attribute] -= 1
    if not _uses_ancestors(points, attribute):
        _unsupport(points, tally, attribute, points.own_rows[start + value])
        return
    low, high = _span_above(points, attribute, value)
    for slot in range(low, high):
        _unsupport(points, tally, attribute, points.row_above[slot])


@njit(cache=True, nogil=True)
def _add_costs(
    points: Points, tally: Tally, attribute: int, value: int, weight: float, low: int, high: int
) -> None:
    """Add weight times the value's costs to the candidates in slots low to high of the list."""
    if points.rules[attribute] == LCS:
        return
    sums, listed, costs = tally.sums, tally.listed, points.costs
    base = points.starts[attribute] + value * points.rows[attribute]
    start = points.row_starts[attribute]
    for slot in range(start + low, start + high):
        row = listed[slot]
        sums[start + row] += weight * costs[base + row]


@njit(cache=True, nogil=True)
def _add_past_costs(points: Points, tally: Tally, attribute: int, low: int, high: int) -> None:
    """Give the candidates in slots low to high the costs of all values of the set."""
    start = points.value_starts[attribute]
    for slot in range(start, start + tally.lengths[0, attribute]):
        value = tally.seen[slot]
        weight = tally.value_weights[start + value]
        _add_costs(points, tally, attribute, value, weight, low, high)


@njit(cache=True, nogil=True)
def _count_numbers(points: Points, tally: Tally, point: int, weight: float) -> None:
    """Add a point's numbers with this weight."""
    tally.weight[0] += weight
    for attribute in range(points.numbers.shape[0]):
        number = points.numbers[attribute, point]
        if number == number:
            tally.numbers[0, attribute] += weight * number
            tally.numbers[1, attribute] += weight


@njit(cache=True, nogil=True)
def enter(points: Points, tally: Tally, point: int) -> None:
    """Add a point to the set."""
    weight = points.weights[point]
    _count_numbers(points, tally, point, weight)
    for attribute in range(points.codes.shape[0]):
        value = points.codes[attribute, point]
        flat = points.value_starts[attribute] + value
        known = tally.lengths[1, attribute]
        tally.counts[flat] += 1
        tally.value_weights[flat] += weight
        _add_costs(points, tally, attribute, value, weight, 0, known)
        if tally.counts[flat] == 1:
            _see(points, tally, attribute, value)
            _add_past_costs(points, tally, attribute, known, tally.lengths[1, attribute])


@njit(cache=True, nogil=True)
def leave(points: Points, tally: Tally, point: int) -> None:
    """Take a point out of the set."""
    weight = points.weights[point]
    _count_numbers(points, tally, point, -weight)
    for attribute in range(points.codes.shape[0]):
        value = points.codes[attribute, point]
        flat = points.value_starts[attribute] + value
        tally.counts[flat] -= 1
        tally.value_weights[flat] -= weight
        if tally.counts[flat] == 0:
            _unsee(points, tally, attribute, value)
        _add_costs(points, tally, attribute, value, -weight, 0, tally.lengths[1, attribute])


@njit(cache=True, nogil=True)
def fill(points: Points, tally: Tally, members: Longs) -> None:
    """Make it the tally of these points, at the price of their distinct values."""
    clear(points, tally)
    counts, weights, codes = tally.counts, tally.value_weights, points.codes
    for point in members:
        _count_numbers(points, tally, point, points.weights[point])
    for attribute in range(codes.shape[0]):
        start = points.value_starts[attribute]
        for point in members:
            value = start + codes[attribute, point]
            counts[value] += 1
            weights[value] += points.weights[point]
            if counts[value] == 1:
                _see(points, tally, attribute, codes[attribute, point])
        _add_past_costs(points, tally, attribute, 0, tally.lengths[1, attribute])


@njit(cache=True, nogil=True)
def _missing_row(points: Points, attribute: int) -> int:
    """The row of the missing value, or -1."""
    missing = points.missing[attribute]
    return -1 if missing < 0 else points.own_rows[points.value_starts[attribute] + missing]


@njit(cache=True, nogil=True)
def _subsumer(points: Points, tally: Tally, attribute: int) -> int:
    """The deepest row above all values that are not missing, the first of equals; -1 if none."""
    start, first = points.row_starts[attribute], points.value_starts[attribute]
    missing, missing_row = points.missing[attribute], _missing_row(points, attribute)
    distinct = tally.lengths[0, attribute]
    if missing >= 0 and tally.counts[first + missing] > 0:
        distinct -= 1
    covers, listed, depths = tally.covers, tally.listed, points.row_depths
    best, depth = whole(-1), -1
    for slot in range(start, start + tally.lengths[1, attribute]):
        row = listed[slot]
        if covers[start + row] != distinct or row == missing_row:
            continue
        if depths[start + row] > depth or (depths[start + row] == depth and row < best):
            best, depth = row, depths[start + row]
    return best


@njit(cache=True, nogil=True)
def _lies_below(
    offsets: Longs, row_above: Ints, verdicts: Ints, start: int, row: int, subsumer: int
) -> bool:
    """Whether the subsumer is an ancestor-or-self of the row; remembered until it changes."""
    verdict = verdicts[start + row]
    if abs(verdict) == subsumer + 1:
        return bool(verdict > 0)
    found = False
    for slot in range(offsets[start + row], offsets[start + row + 1]):
        found |= row_above[slot] == subsumer
    verdicts[start + row] = subsumer + 1 if found else -subsumer - 1
    return found


@njit(cache=True, nogil=True)
def _cheapest(points: Points, tally: Tally, attribute: int, subsumer: int) -> int:
    """The candidate of least sum at or below the subsumer (-1: anywhere), the first of equals."""
    start, missing_row = points.row_starts[attribute], _missing_row(points, attribute)
    sums, listed, verdicts = tally.sums, tally.listed, tally.verdicts
    offsets, row_above = points.row_above_offsets, points.row_above
    stop = start + tally.lengths[1, attribute]
    least = np.inf
    for slot in range(start, stop):
        row = listed[slot]
        if sums[start + row] < least and (
            subsumer < 0
            or row == missing_row
            or _lies_below(offsets, row_above, verdicts, start, row, subsumer)
        ):
            least = sums[start + row]
    limit = least + TOLERANCE * (abs(least) + tally.weight[0])
    best = int(points.rows[attribute])
    for slot in range(start, stop):
        row = listed[slot]
        if (
            row < best
            and sums[start + row] <= limit
            and (
                subsumer < 0
                or row == missing_row
                or _lies_below(offsets, row_above, verdicts, start, row, subsumer)
            )
        ):
            best = int(row)
    return int(best)


@njit(cache=True, nogil=True)
def _centroid_row(points: Points, tally: Tally, attribute: int) -> int:
    """The centroid of a coded attribute by its rule."""
    if not _uses_ancestors(points, attribute):
        return _cheapest(points, tally, attribute, whole(-1))
    subsumer = _subsumer(points, tally, attribute)
    if points.rules[attribute] == LCS:
        return subsumer if subsumer >= 0 else _missing_row(points, attribute)
    return _cheapest(points, tally, attribute, subsumer)


@njit(cache=True, nogil=True)
def centroid_reference(points: Points, tally: Tally, reference: Reference) -> None:
    """Make the set's centroid the reference."""
    for attribute in range(points.codes.shape[0]):
        reference.rows[attribute] = _centroid_row(points, tally, attribute)
    for attribute in range(points.numbers.shape[0]):
        total, known = tally.numbers[0, attribute], tally.numbers[1, attribute]
        missing = 2.0 * known < tally.weight[0] or known <= 0.0
        reference.numbers[attribute] = np.nan if missing else total / known


@njit(cache=True, nogil=True)
def members_by_cluster(labels: Ints, count: int) -> tuple[Longs, Longs]:
    """Points of cluster c: members[offsets[c]:offsets[c + 1]], ascending; label -1 is none."""
    offsets = np.zeros(count + 1, np.int64)
    for label in labels:
        if label >= 0:
            offsets[label + 1] += 1
    for cluster in range(count):
        offsets[cluster + 1] += offsets[cluster]
    fill_at = offsets[:-1].copy()
    members = np.empty(offsets[-1], np.int64)
    for point in range(labels.size):
        if labels[point] >= 0:
            members[fill_at[labels[point]]] = point
            fill_at[labels[point]] += 1
    return offsets, members


@njit(cache=True, nogil=True)
def _random_member(points: Points, members: Longs, uniform: float) -> int:
    """The member at this share of the weight."""
    total = 0.0
    for point in members:
        total += points.weights[point]
    limit, passed = uniform * total, 0.0
    for point in members:
        passed += points.weights[point]
        if limit < passed:
            return int(point)
    return int(members[-1])


@njit(cache=True, nogil=True)
def centroids(points: Points, labels: Ints, count: int, uniforms: Floats) -> tuple[Ints, Floats]:
    """Centroid of every cluster: rows [count, coded] and numbers [count, numeric].

    `uniforms`, one in [0, 1) per cluster, decide where the rule is RANDOM; the same member is
    drawn for all such attributes.
    """
    coded, numeric = points.codes.shape[0], points.numbers.shape[0]
    rows = np.empty((count, coded), np.int32)
    numbers = np.empty((count, numeric), np.float64)
    offsets, members = members_by_cluster(labels, count)
    tally = new_tally(points)
    for cluster in range(count):
        own = members[offsets[cluster] : offsets[cluster + 1]]
        fill(points, tally, own)
        centroid_reference(points, tally, Reference(rows[cluster], numbers[cluster]))
        for attribute in range(coded):
            if points.rules[attribute] == RANDOM:
                drawn = points.codes[attribute, _random_member(points, own, uniforms[cluster])]
                rows[cluster, attribute] = points.own_rows[points.value_starts[attribute] + drawn]
    return rows, numbers


@njit(cache=True, nogil=True)
def replacement_cost(points: Points, point: int, rows: Ints, numbers: Floats) -> float:
    """Cost of replacing one record of the point by a centroid."""
    total = 0.0
    for attribute in range(points.codes.shape[0]):
        base = points.starts[attribute]
        base += points.codes[attribute, point] * points.rows[attribute]
        total += points.costs[base + rows[attribute]]
    for attribute in range(points.numbers.shape[0]):
        number, gap = points.numbers[attribute, point], points.gaps[attribute]
        total += number_difference(number, numbers[attribute], gap, points.power)
    return total


@njit(cache=True, nogil=True)
def loss_to(points: Points, labels: Ints, rows: Ints, numbers: Floats) -> float:
    """Sum over points of weight times the cost of replacement by the given centroids."""
    total = 0.0
    for point in range(labels.size):
        cluster = labels[point]
        cost = replacement_cost(points, point, rows[cluster], numbers[cluster])
        total += points.weights[point] * cost
    return total


@njit(cache=True, nogil=True)
def loss(points: Points, labels: Ints, count: int) -> float:
    """Loss to the clusters' own centroids; on numbers alone with power 2 it is the SSE."""
    rows, numbers = centroids(points, labels, count, np.zeros(count, np.float64))
    return loss_to(points, labels, rows, numbers)
