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

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import Underway, in_blocks
from ontomask.kernels.compiling import apart, compiled, part, unsigned, whole
from ontomask.kernels.formulas import EQUAL, PALETTE, SHADED, SHADES, TURNED, add_differing
from ontomask.kernels.reaching import add_to_rows
from ontomask.kernels.records import (
    LCS,
    LOOKED_UP,
    MINIMUM_HIERARCHY,
    MISSING,
    MISSING_ROW,
    RANDOM,
    ROW_START,
    ROWS,
    RULE,
    START,
    VALUE_START,
    VALUES,
    WAY,
    WORDS,
    Points,
    replacement_cost,
)

__all__ = [
    "Tally",
    "Tallying",
    "add_costs",
    "add_past_costs",
    "add_some_costs",
    "best_row",
    "best_row_among",
    "centroid_reference",
    "centroids",
    "clear",
    "count_numbers",
    "count_point",
    "fill",
    "first_least",
    "in_one_stream",
    "members_by_cluster",
    "new_tally",
    "price",
    "tallied",
    "turn_value",
    "write_means",
]

TOLERANCE = 1e-9
"""Relative to sum and weight: a least sum of 0 carries rounding too."""


def tie_bar(least: float, weight: float) -> float:
    """Sums below this bar are as small as the least one: they differ by rounding alone."""
    return least + TOLERANCE * (abs(least) + weight)


_tie_bar: Any = part(tie_bar)


def first_least(sums: Floats, weight: float) -> int:
    """The first of the sums over this weight that are least up to rounding."""
    return int(np.flatnonzero(sums < tie_bar(float(sums.min()), weight))[0])


SMALLEST_SHARE = 2048
"""Points for whose clusters it pays to start a thread."""

HELD = 0
"""Row of `marks`: number of points that hold the value, or of values at or below the row."""
LISTED = 1
"""Row of `marks`: those that are held, as a list from the attribute's start on."""
SPOT = 2
"""Row of `marks`: place in that list."""
VERDICT = 3
"""Row of `marks`: the LCS for which a row was last found below (LCS + 1) or not (-LCS - 1)."""


class Tally(NamedTuple):
    """What is known of a set of points, enough to read off its centroid."""

    marks: Ints
    """[4, all values and rows] HELD, LISTED, SPOT and VERDICT."""
    lengths: Longs
    """[2, coded] lengths of the lists of values and of rows."""
    sums: Floats
    """[all values and rows] weight of a value; sum of weight times cost of a listed row."""
    numbers: Floats
    """[2, numeric + 1] weighted sum of the numbers, weight of those that are not missing; in the
    last column, the total weight twice."""


def new_tally(points: Points) -> Tally:
    """A tally of nothing."""
    coded, numeric = points.codes.shape[0], points.numbers.shape[0]
    entries = int(points.heads[:, VALUES].sum() + points.heads[:, ROWS].sum())
    return Tally(
        np.zeros((4, entries), np.int32),
        np.zeros((2, coded), np.int64),
        np.zeros(entries, np.float64),
        np.zeros((2, numeric + 1), np.float64),
    )


@compiled
def clear(heads: Longs, tally: Tally) -> None:
    """Make it a tally of nothing again, at the price of what it held."""
    marks, lengths = tally.marks, tally.lengths
    sums, numbers = tally.sums, tally.numbers
    for attribute in range(heads.shape[0]):
        for kind in range(2):
            start = heads[attribute, ROW_START if kind == 1 else VALUE_START]
            for slot in range(start, start + lengths[kind, attribute]):
                entry = start + marks[LISTED, slot]
                marks[HELD, entry], sums[entry] = 0, 0.0
            lengths[kind, attribute] = 0
    for attribute in range(numbers.shape[1]):
        numbers[0, attribute], numbers[1, attribute] = 0.0, 0.0


@compiled
def _hold(tally: Tally, kind: int, attribute: int, start: int, item: int, step: int) -> bool:
    """Count a value (kind 0) or row up or down and keep the list; whether the list changed."""
    marks, lengths = tally.marks, tally.lengths
    marks[HELD, start + item] += step
    held, length = marks[HELD, start + item], lengths[kind, attribute]
    if step > 0 and held == 1:
        marks[LISTED, start + length], marks[SPOT, start + item] = item, length
        lengths[kind, attribute] = length + 1
        return True
    if step < 0 and held == 0:
        spot, last = marks[SPOT, start + item], marks[LISTED, start + length - 1]
        marks[LISTED, start + spot], marks[SPOT, start + last] = last, spot
        lengths[kind, attribute] = length - 1
        return True
    return False


@compiled
def turn_value(points: Points, tally: Tally, attribute: int, value: int, step: int) -> bool:
    """Count a value; when it begins or ceases to occur, count it at the rows it makes candidates.

    Whether it did.
    """
    heads, lineages = points.heads, points.lineages
    first, start = heads[attribute, VALUE_START], heads[attribute, ROW_START]
    if not _hold(tally, whole(0), attribute, first, value, step):
        return False
    rule, own = heads[attribute, RULE], lineages[first + value]
    for slot in range(lineages[start + own] + 1, lineages[start + own + 1]):
        row = lineages[slot]
        if (row == own or rule in (MINIMUM_HIERARCHY, LCS)) and _hold(
            tally, whole(1), attribute, start, row, step
        ):
            tally.sums[start + row] = 0.0
    return True


@part
def in_one_stream(heads: Longs, tally: Tally, attribute: int) -> bool:
    """Whether so many rows are candidates that costs are added to all; what the others get is lost.

    Their sums begin anew when they become candidates.
    """
    return 3 * tally.lengths[1, attribute] > heads[attribute, ROWS]


@part
def _add_shaded_costs(
    points: Points,
    tally: Tally,
    attribute: int,
    value: int,
    weight: float,
    streamed: bool,
    first: int,
    last: int,
) -> None:
    """The same where the table says which distance it is."""
    sums, marks, heads, tables = tally.sums, tally.marks, points.heads, points.tables
    start = unsigned(heads[attribute, ROW_START])
    palette = unsigned(heads[attribute, PALETTE] + heads[attribute, SHADES])
    base = unsigned(heads[attribute, TURNED] + value * heads[attribute, ROWS])
    for slot in range(first, last):
        row = unsigned(slot if streamed else marks[LISTED, start + unsigned(slot)])
        shade = unsigned(points.shades[base + row])
        sums[start + row] += weight * tables[palette + shade]


@compiled
def add_some_costs(
    points: Points,
    tally: Tally,
    attribute: int,
    value: int,
    weight: float,
    streamed: bool,
    first: int,
    last: int,
) -> None:
    """Add weight times the value's costs, of a table, from the first to the last of the candidates.

    They are slots of the list, or rows where these are `streamed`.
    """
    sums, costs, marks, heads = tally.sums, points.costs, tally.marks, points.heads
    size, start = heads[attribute, ROWS], heads[attribute, ROW_START]
    if heads[attribute, WAY] == SHADED:
        _add_shaded_costs(points, tally, attribute, value, weight, streamed, first, last)
        return
    base = heads[attribute, START] + value * size
    if streamed:
        for row in range(first, last):
            sums[start + row] += weight * costs[base + row]
    else:
        for slot in range(start + first, start + last):
            row = marks[LISTED, slot]
            sums[start + row] += weight * costs[base + row]


@compiled
def add_costs(
    points: Points, tally: Tally, attribute: int, value: int, weight: float, low: int
) -> None:
    """Add weight times the value's costs to the candidates from slot low of the list on."""
    sums, heads = tally.sums, points.heads
    size, start = heads[attribute, ROWS], heads[attribute, ROW_START]
    high = tally.lengths[1, attribute]
    if heads[attribute, RULE] == LCS:
        return
    if heads[attribute, WAY] not in (LOOKED_UP, SHADED):
        rows, own = tally.marks[LISTED, start + low : start + high], sums[start : start + size]
        lineages, tables = points.lineages, points.tables
        add_to_rows(heads, lineages, tables, attribute, value, weight, rows, own)
        return
    streamed = low == 0 and in_one_stream(heads, tally, attribute)
    last = whole(size if streamed else high)
    add_some_costs(points, tally, attribute, value, weight, streamed, low, last)


@compiled
def add_past_costs(points: Points, tally: Tally, attribute: int, low: int) -> None:
    """Give the candidates from slot low on the costs of all values of the set."""
    heads, sums, marks = points.heads, tally.sums, tally.marks
    start, first = heads[attribute, VALUE_START], heads[attribute, ROW_START]
    stop = start + tally.lengths[0, attribute]
    if heads[attribute, WAY] == EQUAL:
        values, weights = marks[LISTED, start:stop], sums[start:first]
        rows = marks[LISTED, first + low : first + tally.lengths[1, attribute]]
        add_differing(heads, points.lineages, attribute, values, weights, rows, sums[first:])
        return
    for slot in range(start, stop):
        value = whole(marks[LISTED, slot])
        add_costs(points, tally, attribute, value, sums[start + value], low)


@compiled
def count_numbers(columns: Floats, numbers: Floats, point: int, weight: float) -> None:
    """Add a point's numbers with this weight."""
    for attribute in range(columns.shape[0]):
        number = columns[attribute, point]
        if number == number:
            numbers[0, attribute] += weight * number
            numbers[1, attribute] += weight
    numbers[0, columns.shape[0]] += weight
    numbers[1, columns.shape[0]] += weight


@compiled
def count_point(points: Points, tally: Tally, point: int) -> None:
    """Add a point to the set."""
    codes, heads, lengths = points.codes, points.heads, tally.lengths
    weight = points.weights[point]
    count_numbers(points.numbers, tally.numbers, point, weight)
    for attribute in range(codes.shape[0]):
        value, known = whole(codes[attribute, point]), lengths[1, attribute]
        tally.sums[heads[attribute, VALUE_START] + value] += weight
        add_costs(points, tally, attribute, value, weight, whole(0))
        if turn_value(points, tally, attribute, value, whole(1)):
            add_past_costs(points, tally, attribute, known)


@part
def _add_other_words(heads: Longs, tally: Tally, attribute: int) -> None:
    """Give each candidate the weight of all other words, which the table would say, too."""
    sums, marks, total = tally.sums, tally.marks, 0.0
    first, start = heads[attribute, VALUE_START], heads[attribute, ROW_START]
    for slot in range(first, first + tally.lengths[0, attribute]):
        total += sums[first + marks[LISTED, slot]]
    for slot in range(start, start + tally.lengths[1, attribute]):
        row = marks[LISTED, slot]
        sums[start + row] = total - sums[first + row]


@part
def fill(points: Points, tally: Tally, members: Longs) -> None:
    """Make it the tally of these points, at the price of their distinct values."""
    codes, weights, heads = points.codes, points.weights, points.heads
    clear(heads, tally)
    for point in members:
        count_numbers(points.numbers, tally.numbers, point, weights[point])
    for attribute in range(codes.shape[0]):
        start = heads[attribute, VALUE_START]
        for point in members:
            value = whole(codes[attribute, point])
            tally.sums[start + value] += weights[point]
            turn_value(points, tally, attribute, value, whole(1))
        if heads[attribute, WORDS] == 1:
            _add_other_words(heads, tally, attribute)
        else:
            add_past_costs(points, tally, attribute, whole(0))


@compiled
def _subsumer(points: Points, tally: Tally, attribute: int) -> int:
    """The deepest row above all values that are not missing, the first of equals; -1 if none."""
    heads, lineages, marks = points.heads, points.lineages, tally.marks
    first, start = heads[attribute, VALUE_START], heads[attribute, ROW_START]
    missing, distinct = heads[attribute, MISSING], tally.lengths[0, attribute]
    if missing >= 0 and marks[HELD, first + missing] > 0:
        distinct -= 1
    best, deepest = whole(-1), whole(-1)
    if distinct == 0:
        return best
    # what is above all values is above any one of them
    value = marks[LISTED, first]
    own = lineages[first + (marks[LISTED, first + 1] if value == missing else value)]
    for slot in range(lineages[start + own] + 1, lineages[start + own + 1]):
        row = lineages[slot]
        if marks[HELD, start + row] != distinct or row == heads[attribute, MISSING_ROW]:
            continue
        depth = lineages[lineages[start + row]]
        if depth > deepest or (depth == deepest and row < best):
            best, deepest = row, depth
    return best


@compiled
def _lies_below(lineages: Longs, marks: Ints, start: int, row: int, subsumer: int) -> bool:
    """Whether the subsumer (-1: anything) is an ancestor-or-self of the row; remembered."""
    verdict = marks[VERDICT, start + row]
    if subsumer < 0 or abs(verdict) == subsumer + 1:
        return subsumer < 0 or verdict > 0
    found = False
    for slot in range(lineages[start + row] + 1, lineages[start + row + 1]):
        found |= lineages[slot] == subsumer
    marks[VERDICT, start + row] = subsumer + 1 if found else -subsumer - 1
    return found


@compiled
def best_row_among(points: Points, tally: Tally, attribute: int, rows: Ints) -> int:
    """The best of these rows by the attribute's rule, the first of equals; -1 if there is none."""
    sums, marks = tally.sums, tally.marks
    lineages, heads = points.lineages, points.heads
    start, missing_row = heads[attribute, ROW_START], heads[attribute, MISSING_ROW]
    subsumer = whole(-1)
    if heads[attribute, RULE] == MINIMUM_HIERARCHY and rows.size > 0:
        subsumer = _subsumer(points, tally, attribute)
    bar, best = np.inf, heads[attribute, ROWS]
    for turn in range(2):
        for slot in range(rows.size):
            row = whole(rows[slot])
            if (
                sums[start + row] < bar
                and row < best
                and marks[HELD, start + row] > 0
                and (row == missing_row or _lies_below(lineages, marks, start, row, subsumer))
            ):
                # first the least sum, then the first row that comes near it
                if turn == 0:
                    bar = sums[start + row]
                else:
                    best = row
        bar = _tie_bar(bar, tally.numbers[0, tally.numbers.shape[1] - 1])
    return best if best < heads[attribute, ROWS] else whole(-1)


@apart
@compiled
def best_row(points: Points, tally: Tally, attribute: int) -> int:
    """The row of the set's centroid."""
    heads, start = points.heads, points.heads[attribute, ROW_START]
    if heads[attribute, RULE] == LCS:
        row = _subsumer(points, tally, attribute)
    else:
        listed = tally.marks[LISTED, start : start + tally.lengths[1, attribute]]
        row = best_row_among(points, tally, attribute, listed)
    return row if row >= 0 else heads[attribute, MISSING_ROW]


@compiled
def write_means(numbers: Floats, reference: Floats, coded: int) -> None:
    """Write the numbers of the set's centroid behind its rows."""
    weight = numbers[0, numbers.shape[1] - 1]
    for attribute in range(numbers.shape[1] - 1):
        total, known = numbers[0, attribute], numbers[1, attribute]
        # the majority decides; where nothing is known there is no mean
        missing = 2.0 * known < weight or known <= 0.0
        reference[coded + attribute] = np.nan if missing else total / known


@apart
@compiled
def centroid_reference(points: Points, tally: Tally, reference: Floats) -> None:
    """Make the set's centroid the reference."""
    coded = points.heads.shape[0]
    for attribute in range(coded):
        reference[attribute] = best_row(points, tally, attribute)
    write_means(tally.numbers, reference, coded)


@apart
@compiled
def price(points: Points, tally: Tally, members: Longs, reference: Floats) -> float:
    """Loss of a cluster of these points; its centroid becomes the reference."""
    total = 0.0
    if members.size > 0:
        fill(points, tally, members)
        centroid_reference(points, tally, reference)
    for point in members:
        total += points.weights[point] * replacement_cost(points, reference, point)
    return total


def members_by_cluster(labels: Ints, count: int) -> tuple[Longs, Longs]:
    """Points of cluster c: members[offsets[c]:offsets[c + 1]], ascending; label -1 is none."""
    members = np.argsort(labels, kind="stable").astype(np.int64)
    sizes = np.bincount(labels + 1, minlength=count + 1)
    return np.cumsum(sizes) - sizes[0], members[sizes[0] :]


@part
def _draw_rows(points: Points, members: Longs, uniform: float, reference: Floats) -> None:
    """Where the rule is RANDOM, take the value of the member at this share of the weight."""
    heads, total = points.heads, 0.0
    passed, drawn = 0.0, whole(-1)
    for point in members:
        total += points.weights[point]
    for point in members:
        passed += points.weights[point]
        if drawn < 0 and uniform * total < passed:
            drawn = point
    for attribute in range(heads.shape[0]):
        if heads[attribute, RULE] == RANDOM:
            value = heads[attribute, VALUE_START] + points.codes[attribute, drawn]
            reference[attribute] = points.lineages[value]


@compiled
def _fill_centroids(
    first: int,
    last: int,
    points: Points,
    tally: Tally,
    offsets: Longs,
    members: Longs,
    uniforms: Floats,
    references: Floats,
) -> None:
    """Write the centroids of the clusters from first to last."""
    for cluster in range(first, last):
        own = members[offsets[cluster] : offsets[cluster + 1]]
        fill(points, tally, own)
        centroid_reference(points, tally, references[cluster])
        if own.size > 0:
            _draw_rows(points, own, uniforms[cluster], references[cluster])


def tallied(points: Points, tally: Tally, members: Longs) -> Floats:
    """Make it the tally of these points; their centroid as a reference."""
    references = np.empty((1, points.codes.shape[0] + points.numbers.shape[0]))
    offsets = np.array([0, members.size])
    _fill_centroids(0, 1, points, tally, offsets, members, np.zeros(1), references)
    return references[0]


class Tallying:
    """A tally of many points that is made beside other work, an attribute at a time.

    Parameters
    ----------
    points, tally, members
        As in `tallied`.
    pool
        Threads that take part, where there are any.
    """

    def __init__(
        self, points: Points, tally: Tally, members: Longs, pool: ThreadPoolExecutor | None
    ) -> None:
        self._given = points, tally, members
        # the largest tables first; numbers come last
        order = np.argsort(-points.heads[:, ROWS] * points.heads[:, VALUES], kind="stable")
        works = [*order.tolist(), order.size]
        self._works = Underway(self._count, [works], pool, 1)

    def _count(self, place: int) -> None:
        """Count one of the coded attributes, or, behind them, the numbers."""
        points, tally, members = self._given
        coded = slice(place, place + 1)
        numbers = points.numbers[: points.numbers.shape[0] * (place == points.heads.shape[0])]
        part = points._replace(
            codes=points.codes[coded], heads=points.heads[coded], numbers=numbers
        )
        counted = tally._replace(
            lengths=tally.lengths[:, coded].copy(), numbers=np.zeros((2, len(numbers) + 1))
        )
        tallied(part, counted, members)
        tally.lengths[:, coded] = counted.lengths
        if coded.start == points.heads.shape[0]:
            tally.numbers[:] = counted.numbers

    def finish(self) -> None:
        """Take part, and wait until all is counted."""
        self._works.finish()


def centroids(points: Points, labels: Ints, count: int, uniforms: Floats) -> tuple[Ints, Floats]:
    """Centroid of every cluster, on all cores: rows [count, coded] and numbers [count, numeric].

    `uniforms`, one in [0, 1) per cluster, decide where the rule is RANDOM; the same member is
    drawn for all such attributes.
    """
    coded, numeric = points.codes.shape[0], points.numbers.shape[0]
    references = np.empty((count, coded + numeric), np.float64)
    offsets, members = members_by_cluster(labels, count)

    def work(first: int, last: int) -> None:
        tally = new_tally(points)
        _fill_centroids(first, last, points, tally, offsets, members, uniforms, references)

    in_blocks(work, count, 1 + SMALLEST_SHARE * count // max(1, labels.size))
    return references[:, :coded].astype(np.int32), references[:, coded:].copy()
