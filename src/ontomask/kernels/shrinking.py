"""The centroid of a set that shrinks, without adding up the costs of all rows at every step.

The sums of a few rows that are best are kept up to date. What the others can have become is known:
a point that leaves lowers a sum by no more than its weight times the greatest cost. As long as they
cannot have come near the best, only the few are compared; otherwise all sums are brought up to
date, and the few are chosen anew. The answer is that of sums that are all kept up to date.

Where values are equal or not, whatever is taken out makes its own row worse against all others. So
the best row stays the best as long as nothing is taken out that equals it.

To bring the sums of all rows up to date takes as long as a dozen clusters. So stretches of rows are
handed out on a board: another thread that waits takes some of them (`help_subtracting`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.boards import DONE, READY, finish, give_way, new_board, note, read, take
from ontomask.kernels.centroids import (
    LISTED,
    TOLERANCE,
    Tally,
    add_costs,
    add_past_costs,
    add_some_costs,
    best_row,
    best_row_among,
    count_numbers,
    in_one_stream,
    turn_value,
    write_means,
)
from ontomask.kernels.compiling import apart, compiled, part, whole
from ontomask.kernels.formulas import (
    EQUAL,
    PALETTE,
    SHADED,
    SHADES,
    SHARED,
    TURNED,
    greatest_cost,
    weight_at,
)
from ontomask.kernels.records import (
    LCS,
    LOOKED_UP,
    PRESENT,
    ROW_START,
    ROWS,
    RULE,
    START,
    VALUE_START,
    VALUES,
    WAY,
    Points,
    cost,
)

__all__ = ["Shrinking", "help_subtracting", "new_shrinking", "remaining_center", "take_out"]

FEW = 48
"""How many rows are kept up to date: chapters of a taxonomy, not their codes."""

STRETCH = 512
"""So many rows, or candidates, are brought up to date at once."""

FLOOR = 0
"""Row of `limits`: no other row has a sum below this; of values that are equal or not, the weight
that the best row had when it was found."""
GREATEST = 1
"""Row of `limits`: the greatest cost there is; infinite where it is not known."""

ATTRIBUTE, VALUES_LISTED, STREAMED, BEHIND = 0, 1, 2, 3
"""Entries of `job`: of which attribute sums are brought up to date; how many values are listed;
whether stretches are of rows, not of the list of candidates; where their numbers end."""


class Shrinking(NamedTuple):
    """What was taken out of a set since it was tallied."""

    taken: Longs
    """[1 + p] how many points, and these in order."""
    counted: Longs
    """[coded] how many of them are in the sums of all rows."""
    few: Ints
    """[coded, 1 + FEW] how many rows are kept up to date, and these; the best row comes first."""
    sums: Floats
    """[FEW] room for sums."""
    limits: Floats
    """[2, coded] FLOOR and GREATEST."""
    gone: Floats
    """[most values] room for the weights of values, 0 in between."""
    listed: Longs
    """[most values] room for values."""
    board: Longs
    """Where stretches are handed out."""
    job: Longs
    """[4] what is to be done with them: ATTRIBUTE to BEHIND."""

    def forget(self) -> None:
        """The set was tallied anew."""
        self.taken[0], self.counted[:], self.few[:, 0], self.limits[FLOOR] = 0, 0, 0, -np.inf


def new_shrinking(points: Points) -> Shrinking:
    """Nothing was taken out, and nothing is known of the sums."""
    size, coded = points.weights.size, points.heads.shape[0]
    limits = np.full((2, coded), np.inf)
    for attribute, head in enumerate(points.heads):
        if head[WAY] == LOOKED_UP and head[RULE] != LCS:
            costs = points.costs[head[START] : head[START] + head[ROWS] * head[VALUES]]
            limits[GREATEST, attribute] = costs.max(initial=0.0)
        elif head[WAY] == SHADED and head[RULE] != LCS:
            limits[GREATEST, attribute] = _greatest_shade(points, head)
        elif head[WAY] == SHARED and head[RULE] != LCS:
            limits[GREATEST, attribute] = greatest_cost(head, points.tables)
    values = int(points.heads[:, VALUES].max(initial=0))
    made = Shrinking(
        np.zeros(1 + size, np.int64),
        np.zeros(coded, np.int64),
        np.zeros((coded, 1 + FEW), np.int32),
        np.empty(FEW),
        limits,
        np.zeros(values),
        np.empty(values, np.int64),
        new_board(),
        np.zeros(4, np.int64),
    )
    made.forget()
    return made


def _greatest_shade(points: Points, head: Longs) -> float:
    """The greatest cost among distances up to the last one that occurs."""
    size, start = head[ROWS] * head[VALUES], head[PALETTE] + head[SHADES]
    last = points.shades[head[TURNED] : head[TURNED] + size].max(initial=0)
    return float(points.tables[start : start + last + 1].max())


@compiled
def take_out(points: Points, tally: Tally, shrinking: Shrinking, point: int) -> None:
    """Take a point out of the set."""
    taken, few, limits = shrinking.taken, shrinking.few, shrinking.limits
    heads, sums = points.heads, tally.sums
    weight = -points.weights[point]
    count_numbers(points.numbers, tally.numbers, point, weight)
    taken[0] += 1
    taken[taken[0]] = point
    for attribute in range(heads.shape[0]):
        value = whole(points.codes[attribute, point])
        sums[heads[attribute, VALUE_START] + value] += weight
        turn_value(points, tally, attribute, value, whole(-1))
        if heads[attribute, WAY] == EQUAL:
            continue
        limits[FLOOR, attribute] += weight * limits[GREATEST, attribute]
        start = heads[attribute, ROW_START]
        for slot in range(1, 1 + few[attribute, 0]):
            row = whole(few[attribute, slot])
            sums[start + row] += weight * cost(points, attribute, row, value)


@part
def _list_gone(points: Points, shrinking: Shrinking, attribute: int) -> int:
    """List the values of what is not counted yet, with their weights; how many there are."""
    taken, gone, count = shrinking.taken, shrinking.gone, whole(0)
    for slot in range(1 + shrinking.counted[attribute], 1 + taken[0]):
        value, weight = points.codes[attribute, taken[slot]], points.weights[taken[slot]]
        if weight > 0.0 and gone[value] == 0.0:
            shrinking.listed[count] = value
            count += 1
        gone[value] += weight
    shrinking.counted[attribute] = taken[0]
    return count


@part
def _subtract_from(points: Points, tally: Tally, shrinking: Shrinking, number: int) -> None:
    """Take the listed values from the sums of the stretch of this number."""
    job, listed, gone = shrinking.job, shrinking.listed, shrinking.gone
    attribute, streamed = whole(job[ATTRIBUTE]), job[STREAMED] == 1
    every = points.heads[attribute, ROWS] if streamed else tally.lengths[1, attribute]
    last = whole(every - (job[BEHIND] - 1 - number) * STRETCH)
    first = whole(max(last - STRETCH, 0))
    for slot in range(job[VALUES_LISTED]):
        value = whole(listed[slot])
        add_some_costs(points, tally, attribute, value, -gone[value], streamed, first, last)


@compiled
def help_subtracting(points: Points, tally: Tally, shrinking: Shrinking) -> int:
    """Bring stretches of sums up to date as long as some are handed out; how many it were."""
    count, number = whole(0), take(shrinking.board, whole(1))
    while number >= 0:
        _subtract_from(points, tally, shrinking, number)
        finish(shrinking.board, whole(1))
        count, number = count + 1, take(shrinking.board, whole(1))
    return count


@part
def _hand_out(
    points: Points, tally: Tally, shrinking: Shrinking, attribute: int, count: int
) -> None:
    """Have the listed values taken from the sums of all rows, by whoever is free."""
    board, job = shrinking.board, shrinking.job
    streamed = in_one_stream(points.heads, tally, attribute)
    every = points.heads[attribute, ROWS] if streamed else tally.lengths[1, attribute]
    behind = read(board, READY) + (every + STRETCH - 1) // STRETCH
    job[ATTRIBUTE], job[VALUES_LISTED] = attribute, count
    job[STREAMED], job[BEHIND] = streamed, behind
    note(board, READY, behind)
    looks = whole(0)
    while read(board, DONE) < behind:
        help_subtracting(points, tally, shrinking)
        give_way(looks)
        looks += 1


@part
def _subtract(
    points: Points, tally: Tally, shrinking: Shrinking, attribute: int, count: int
) -> None:
    """Take the listed values from the sums of all rows."""
    few, sums = shrinking.few, tally.sums
    start, kept = points.heads[attribute, ROW_START], few[attribute, 0]
    for slot in range(kept):
        shrinking.sums[slot] = sums[start + few[attribute, 1 + slot]]
    if points.heads[attribute, WAY] in (LOOKED_UP, SHADED):
        _hand_out(points, tally, shrinking, attribute, count)
    else:
        for slot in range(count):
            value = whole(shrinking.listed[slot])
            add_costs(points, tally, attribute, value, -shrinking.gone[value], whole(0))
    # theirs are so already
    for slot in range(kept):
        sums[start + few[attribute, 1 + slot]] = shrinking.sums[slot]


@part
def _catch_up(points: Points, tally: Tally, shrinking: Shrinking, attribute: int) -> None:
    """Bring the sums of all rows up to date."""
    count = _list_gone(points, shrinking, attribute)
    if points.heads[attribute, WAY] == EQUAL or count > tally.lengths[0, attribute]:
        start = points.heads[attribute, ROW_START]
        for slot in range(start, start + tally.lengths[1, attribute]):
            tally.sums[start + tally.marks[LISTED, slot]] = 0.0
        add_past_costs(points, tally, attribute, whole(0))
    else:
        _subtract(points, tally, shrinking, attribute, count)
    for slot in range(count):
        shrinking.gone[shrinking.listed[slot]] = 0.0


@part
def _choose_few(points: Points, tally: Tally, shrinking: Shrinking, attribute: int) -> None:
    """Find the rows of least sums, and what the others have at least."""
    few, least = shrinking.few[attribute], shrinking.sums
    start, count, floor = points.heads[attribute, ROW_START], whole(0), np.inf
    for place in range(start, start + tally.lengths[1, attribute]):
        row = whole(tally.marks[LISTED, place])
        total = tally.sums[start + row]
        slot = count
        if count == FEW:
            other = total if total > least[FEW - 1] else least[FEW - 1]
            floor = other if other < floor else floor
            slot = whole(FEW - 1)
            if total >= least[FEW - 1]:
                continue
        else:
            count += 1
        while slot > 0 and least[slot - 1] > total:
            least[slot], few[1 + slot] = least[slot - 1], few[slot]
            slot -= 1
        least[slot], few[1 + slot] = total, row
    few[0], shrinking.limits[FLOOR, attribute] = count, floor


@part
def _most_frequent(points: Points, tally: Tally, shrinking: Shrinking, attribute: int) -> int:
    """The row that most of what is left equals."""
    few, limits, heads = shrinking.few, shrinking.limits, points.heads
    weights, lineages = tally.sums[heads[attribute, VALUE_START] :], points.lineages
    row = whole(few[attribute, 1])
    if weight_at(heads, lineages, attribute, row, weights) != limits[FLOOR, attribute]:
        _catch_up(points, tally, shrinking, attribute)
        row = best_row(points, tally, attribute)
        few[attribute, 1] = row
        limits[FLOOR, attribute] = weight_at(heads, lineages, attribute, row, weights)
    return row


@apart
@compiled
def remaining_center(points: Points, tally: Tally, shrinking: Shrinking, reference: Floats) -> None:
    """Make the centroid of what is left the reference."""
    few, limits, heads = shrinking.few, shrinking.limits, points.heads
    weight, coded = tally.numbers[0, tally.numbers.shape[1] - 1], heads.shape[0]
    for attribute in range(coded):
        if heads[attribute, WAY] == EQUAL and heads[attribute, RULE] == PRESENT:
            reference[attribute] = _most_frequent(points, tally, shrinking, attribute)
            continue
        rows = few[attribute, 1 : 1 + few[attribute, 0]]
        row = best_row_among(points, tally, attribute, rows)
        total = tally.sums[heads[attribute, ROW_START] + row] if row >= 0 else np.inf
        # ties within rounding count as well, and rounding itself is far less
        if not total + 4.0 * TOLERANCE * (abs(total) + weight) < limits[FLOOR, attribute]:
            _catch_up(points, tally, shrinking, attribute)
            row = best_row(points, tally, attribute)
            if limits[GREATEST, attribute] < np.inf:
                _choose_few(points, tally, shrinking, attribute)
        reference[attribute] = row
    write_means(tally.numbers, reference, coded)
