"""An exact index over points: nearest and farthest without looking at every point.

Points lie in a tree of boxes (`boxes`). Bounds of what is in a box are computed by the same
operations in the same order as distances, and rounding is monotone: a node is left out only when no
point in it can win, ties included. The answers are those of a full scan, to the last bit.

Farthest points are found as nearest ones with all signs turned around.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.boxes import (
    CODES,
    FACTOR,
    FIRST,
    FOLLOWING,
    LIMITS,
    LIVE,
    LOWEST,
    NUMBERS,
    POINT,
    RANK,
    SPANS,
    Index,
    bound_all,
    build_index,
    remove,
    restore,
    set_factor,
)
from ontomask.kernels.compiling import apart, compiled, part, unsigned, whole
from ontomask.kernels.draws import pick, uniform_of
from ontomask.kernels.records import Points, number_difference
from ontomask.kernels.value_trees import fill_extremes

__all__ = [
    "ATTEMPTS",
    "FARTHEST",
    "LEAF",
    "NEAREST",
    "POINT",
    "TO_FIND_FARTHEST",
    "Finds",
    "Index",
    "amount_within",
    "bound_all",
    "build_index",
    "farthest_by_lot",
    "farthest_points",
    "new_finds",
    "points_within",
    "remove",
    "restore",
    "search",
    "set_factor",
]

LEAF = 16
"""Points of a leaf, at most."""
TO_FIND_FARTHEST = 4.0
"""What to stress numbers by where the farthest points are looked for: most concepts are unrelated,
so in coded attributes nearly all values are equally far."""
ATTEMPTS = 64
"""So many lots are drawn before all points are looked at."""
STRETCH = 32
"""So many points of a leaf are measured at once."""
NEAREST = 1.0
FARTHEST = -1.0


class Finds(NamedTuple):
    """Room for the answers of a search and for its walk."""

    answers: Floats
    """[wanted, 3] distance, rank, point number; a heap with the worst on top."""
    stack: Floats
    """[nodes, 2] nodes to be looked at, and their bounds."""
    extremes: Floats
    """[2, nodes of value trees + coded] for nearest and for farthest; see `fill_extremes`."""
    counts: Ints
    """[p] points with a count of 0 are passed over; empty where none are."""
    distances: Floats
    """[STRETCH] distances of the points of a leaf, or of a part of it."""


def new_finds(index: Index, wanted: int) -> Finds:
    """Room for up to `wanted` answers over this index."""
    return Finds(
        np.empty((wanted, 3), np.float64),
        np.empty((index.nodes.shape[0] + 2, 2), np.float64),
        np.full((2, index.links.shape[0] + index.roots.size), -1.0),
        np.empty(0, np.int32),
        np.empty(STRETCH),
    )


@part
def _bound_difference(
    boxes: Floats, node: int, row: int, number: float, gap: float, power: int, direction: float
) -> float:
    """No number of the interval (or missing one) contributes less than this, with its sign."""
    limit = LIMITS + 3 * row
    low, negative, hole = boxes[node, limit], boxes[node, limit + 1], boxes[node, limit + 2]
    apart, other = direction * (low - number), direction * (number + negative)
    apart = apart if apart > other else other
    apart = apart if apart > 0.0 else 0.0
    total = direction * apart * ((power - 1) * apart + (2 - power))
    signed_gap = direction * gap
    # a missing reference is at the gap from known numbers and at 0 from missing ones
    if number != number:
        total = signed_gap if hole == 0.0 or (low <= -negative and signed_gap < 0.0) else 0.0
    elif hole != 0.0 and (signed_gap < total or not low <= -negative):
        total = signed_gap
    return total


@part
def _bound(
    index: Index,
    extremes: Floats,
    reference: Floats,
    gaps: Floats,
    power: int,
    direction: float,
    side: int,
    node: int,
) -> float:
    """What the best point below the node can reach at most; smaller is better."""
    nodes, boxes, here = index.nodes, index.boxes, unsigned(node)
    total, coded = 0.0, nodes.shape[1] - SPANS
    for attribute in range(coded):
        total += extremes[unsigned(nodes[here, SPANS + attribute])]
    for attribute in range(gaps.size):
        number, gap = reference[coded + attribute], gaps[attribute]
        total += _bound_difference(boxes, here, NUMBERS + attribute, number, gap, power, direction)
    # the least factor, or the greatest
    return total * direction * boxes[here, LIMITS + side]


@part
def _measure(
    index: Index,
    finds: Finds,
    reference: Floats,
    gaps: Floats,
    power: int,
    direction: float,
    start: int,
    stop: int,
) -> None:
    """Write the distances (farthest: negative) of the points from one place to another.

    Attribute by attribute, so that the processor does several points at once: the same sums.
    """
    cells, columns, distances = index.cells, index.columns, finds.distances
    extremes, coded = finds.extremes[1 if direction < 0.0 else 0], cells.shape[0] - CODES
    count, first = stop - start, unsigned(start)
    for slot in range(count):
        distances[slot] = 0.0
    for attribute in range(coded):
        for slot in range(count):
            code = cells[CODES + attribute, first + unsigned(slot)]
            distances[slot] += extremes[unsigned(code)]
    for attribute in range(gaps.size):
        other, gap = reference[coded + attribute], gaps[attribute]
        for slot in range(count):
            number = columns[NUMBERS + attribute, first + unsigned(slot)]
            distances[slot] += direction * number_difference(number, other, gap, power)
    for slot in range(count):
        distances[slot] *= columns[FACTOR, first + unsigned(slot)]


@compiled
def _precedes(answers: Floats, slot: int, distance: float, rank: float, number: float) -> bool:
    """Whether an answer is better than that in the slot."""
    if distance != answers[slot, 0]:
        return distance < answers[slot, 0]
    if rank != answers[slot, 1]:
        return rank < answers[slot, 1]
    return number < answers[slot, 2]


@part
def _offer(
    answers: Floats, count: int, wanted: int, distance: float, rank: float, number: float
) -> int:
    """Take the answer in if it is among the best; how many there are now."""
    full = count == wanted
    if full and not _precedes(answers, whole(0), distance, rank, number):
        return count
    slot = whole(0) if full else count
    while full:
        child = 2 * slot + 1
        if child + 1 < count and _precedes(
            answers, child + 1, answers[child, 0], answers[child, 1], answers[child, 2]
        ):
            child += 1
        if child >= count or not _precedes(answers, child, distance, rank, number):
            break
        for column in range(3):
            answers[slot, column] = answers[child, column]
        slot = child
    while not full and slot > 0:
        parent = (slot - 1) // 2
        if _precedes(answers, parent, distance, rank, number):
            break
        for column in range(3):
            answers[slot, column] = answers[parent, column]
        slot = parent
    answers[slot, 0], answers[slot, 1], answers[slot, 2] = distance, rank, number
    return count if full else count + 1


@part
def _push_children(
    index: Index,
    extremes: Floats,
    reference: Floats,
    gaps: Floats,
    power: int,
    direction: float,
    side: int,
    node: int,
    stack: Floats,
    top: int,
) -> int:
    """Lay the living children of a node and their bounds on the stack; where it ends now."""
    bottom = top
    for child in (node + 1, whole(index.nodes[node, FOLLOWING])):
        # an empty node has no bounds
        if index.nodes[child, LIVE] == 0:
            continue
        bound = _bound(index, extremes, reference, gaps, power, direction, side, child)
        slot = top
        if top > bottom and bound >= stack[bottom, 1]:
            # the better one lies on top and comes first
            stack[top, 0], stack[top, 1] = stack[bottom, 0], stack[bottom, 1]
            slot = bottom
        stack[slot, 0], stack[slot, 1] = child, bound
        top += 1
    return top


@apart
@compiled
def search(
    points: Points, index: Index, finds: Finds, reference: Floats, direction: float, wanted: int
) -> int:
    """Find the `wanted` nearest (direction -1: farthest) living points; how many were found.

    They lie in `finds` in no order, the worst in slot 0. Order: distance, rank, point number.
    """
    side = 1 if direction < 0.0 else 0
    extremes = finds.extremes[side]
    fill_extremes(points, index.roots, index.links, index.turns, reference, direction, extremes)
    gaps, power = points.gaps, points.power
    nodes, boxes = index.nodes, index.boxes
    cells, columns = index.cells, index.columns
    answers, stack, counts = finds.answers, finds.stack, finds.counts
    stack[0, 0], stack[0, 1] = 0.0, -np.inf
    top, count = 1, whole(0)
    while top > 0:
        top -= 1
        node = whole(stack[top, 0])
        # one that cannot beat the worst answer is left out
        if count == wanted and not _precedes(
            answers, whole(0), stack[top, 1], boxes[node, LOWEST], boxes[node, 0]
        ):
            continue
        if nodes[node, FOLLOWING] < 0:
            first = whole(nodes[node, FIRST])
            for start in range(first, first + nodes[node, LIVE], STRETCH):
                stop = min(start + STRETCH, first + nodes[node, LIVE])
                _measure(index, finds, reference, gaps, power, direction, start, stop)
                for slot in range(stop - start):
                    distance, place = finds.distances[slot], start + slot
                    # equals go in as well: rank and number decide between them
                    if (count < wanted or distance <= answers[0, 0]) and (
                        counts.size == 0 or counts[cells[POINT, place]] > 0
                    ):
                        rank, number = columns[RANK, place], float(cells[POINT, place])
                        count = _offer(answers, count, wanted, distance, rank, number)
            continue
        top = _push_children(
            index, extremes, reference, gaps, power, direction, side, node, stack, top
        )
    return count


@apart
@compiled
def points_within(
    points: Points,
    index: Index,
    finds: Finds,
    reference: Floats,
    radius: float,
    keys: Floats,
    found: Longs,
) -> int:
    """List the living points no farther than a radius, and their distances; how many.

    Asked after a search for the points nearest to the same reference: its extremes are used again.
    """
    extremes, gaps, power = finds.extremes[0], points.gaps, points.power
    nodes, cells, stack, counts = index.nodes, index.cells, finds.stack, finds.counts
    stack[0, 0], top, size = 0.0, 1, whole(0)
    while top > 0:
        top -= 1
        node = whole(stack[top, 0])
        if nodes[node, LIVE] == 0 or (
            _bound(index, extremes, reference, gaps, power, NEAREST, whole(0), node) > radius
        ):
            continue
        if nodes[node, FOLLOWING] >= 0:
            stack[top, 0], stack[top + 1, 0] = node + 1, nodes[node, FOLLOWING]
            top += 2
            continue
        first = whole(nodes[node, FIRST])
        for start in range(first, first + nodes[node, LIVE], STRETCH):
            stop = min(start + STRETCH, first + nodes[node, LIVE])
            _measure(index, finds, reference, gaps, power, NEAREST, start, stop)
            for place in range(start, stop):
                distance, point = finds.distances[place - start], cells[POINT, place]
                if distance <= radius and (counts.size == 0 or counts[point] > 0):
                    keys[size], found[size] = distance, point
                    size += 1
    return size


@apart
@compiled
def amount_within(
    points: Points,
    index: Index,
    finds: Finds,
    reference: Floats,
    radius: float,
    passed: Floats,
    most: int,
) -> float:
    """How many records are no farther than a radius; `passed` counts those before each place.

    Asked after a search for the points nearest to the same reference. If `most` leaves do not
    suffice, it is -1; where there is no such limit, nodes that lie within the radius as a whole are
    not looked into, which must come after a search for the farthest point, too.
    """
    near, far, gaps, power = finds.extremes[0], finds.extremes[1], points.gaps, points.power
    nodes, cells, stack = index.nodes, index.cells, finds.stack
    stack[0, 0], top, total = 0.0, 1, 0.0
    limited = most > 0
    while top > 0:
        top -= 1
        node = whole(stack[top, 0])
        first, last = whole(nodes[node, FIRST]), whole(nodes[node, FIRST] + nodes[node, LIVE])
        if first == last or (
            _bound(index, near, reference, gaps, power, NEAREST, whole(0), node) > radius
        ):
            continue
        if not limited and (
            -_bound(index, far, reference, gaps, power, FARTHEST, whole(1), node) <= radius
        ):
            total += passed[last] - passed[first]
            continue
        if nodes[node, FOLLOWING] >= 0:
            stack[top, 0], stack[top + 1, 0] = node + 1, nodes[node, FOLLOWING]
            top += 2
            continue
        if limited and most == 0:
            return -1.0
        most -= 1
        for start in range(first, last, STRETCH):
            stop = min(start + STRETCH, last)
            _measure(index, finds, reference, gaps, power, NEAREST, start, stop)
            for place in range(start, stop):
                if finds.distances[place - start] <= radius:
                    total += points.sizes[cells[POINT, place]]
    return total


@apart
@compiled
def farthest_points(
    points: Points, index: Index, finds: Finds, reference: Floats, found: Longs
) -> int:
    """List all living points at the greatest distance of any, in no order; how many."""
    extremes, gaps, power = finds.extremes[1], points.gaps, points.power
    fill_extremes(points, index.roots, index.links, index.turns, reference, FARTHEST, extremes)
    nodes, cells, stack = index.nodes, index.cells, finds.stack
    stack[0, 0], stack[0, 1] = 0.0, -np.inf
    top, size, best = 1, whole(0), np.inf
    while top > 0:
        top -= 1
        node = whole(stack[top, 0])
        if stack[top, 1] > best:
            continue
        if nodes[node, FOLLOWING] >= 0:
            top = _push_children(
                index, extremes, reference, gaps, power, FARTHEST, whole(1), node, stack, top
            )
            continue
        first = whole(nodes[node, FIRST])
        for start in range(first, first + nodes[node, LIVE], STRETCH):
            stop = min(start + STRETCH, first + nodes[node, LIVE])
            _measure(index, finds, reference, gaps, power, FARTHEST, start, stop)
            for place in range(start, stop):
                distance = finds.distances[place - start]
                if distance <= best:
                    size = size if distance == best else whole(0)
                    best, found[size] = distance, cells[POINT, place]
                    size += 1
    return size


@apart
@compiled
def farthest_by_lot(
    points: Points,
    index: Index,
    finds: Finds,
    reference: Floats,
    lots: Ints,
    ranks: Ints,
    counts: Ints,
    seed: float,
) -> int:
    """A point drawn from those that are as far as any could be, or -1 if chance met none of them.

    Where very many points are farthest alike, as where columns hold words, that spares to list all
    of them. Every point has `lots`, numbered by `ranks`, as many of which count as its count says.
    """
    if index.nodes[0, LIVE] == 0:  # and so it has no bounds
        return whole(-1)
    extremes, gaps, power = finds.extremes[1], points.gaps, points.power
    fill_extremes(points, index.roots, index.links, index.turns, reference, FARTHEST, extremes)
    farthest = _bound(index, extremes, reference, gaps, power, FARTHEST, whole(1), whole(0))
    for attempt in range(ATTEMPTS):
        lot = pick(uniform_of(seed, attempt), lots.size)
        point = whole(lots[lot])
        if ranks[lot] >= counts[point]:
            continue
        place = whole(index.places[point])
        _measure(index, finds, reference, gaps, power, FARTHEST, place, place + 1)
        if finds.distances[0] == farthest:
            return point
    return whole(-1)
