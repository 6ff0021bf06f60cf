"""Records counted by the branches of a taxonomy that is a tree: who stands where around a concept.

How far two concepts are apart follows from the *kinds* of both and from how many ancestors they
share (`formulas`, SHARED). In a tree, those that share so many with a concept are below one of its
ancestors and not below the next. So a ranking of all records around a concept has as many steps as
there are kinds times ancestors, and how many records stand on each is the difference of two counts.

Every branch has a list for each kind: the tuples of that kind below it, by number, and a counter
(see `counters`) over their records, which finds the tuple at a position among those that are tied.
Who has no ancestors, as the missing value, is below the *trunk* alone, where every chain begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs, ranges
from ontomask.kernels.chains import MOST_LISTS, laid_along
from ontomask.kernels.compiling import compiled, part, whole
from ontomask.kernels.counters import add, total_before
from ontomask.kernels.formulas import (
    CLASSES,
    CURVE,
    DEPTHS,
    KINDS,
    NODES,
    OFFSETS,
    PROFILES,
    SHARED,
    TREE,
    WAY,
    WIDTH,
)
from ontomask.kernels.records import VALUE_START, Points

__all__ = [
    "Branches",
    "add_record",
    "amount_at",
    "branches_of",
    "counted_below",
    "distance_of",
    "farthest_step",
    "fill_below",
    "nearest_step",
    "step_start",
    "step_tuple",
]

MOST_STEPS = 2**14
"""So many distances from a concept are told apart, at most, by kind and by what is shared: trees of
more than some hundred levels have more, and to look at all concepts is quicker there."""


class Branches(NamedTuple):
    """Tuples by branch and kind. A list has the number of its branch's first plus its kind."""

    chains: Longs
    """[p + 1] where the chain of a tuple starts: its branches from the trunk to itself."""
    lists: Longs
    """[chains] the first list of each."""
    spots: Longs
    """[chains] where the tuple is in the list of its kind."""
    kinds: Longs
    """[p] the kind of each tuple."""
    starts: Longs
    """[lists + 1] where each list starts."""
    tuples: Longs
    """The tuples of all lists, ascending in each."""
    sums: Longs
    """The counters of all lists; each has one entry more than its list."""
    totals: Longs
    """[lists] how many records each list has."""
    reached: Floats
    """[kinds, kinds * width] distances by both kinds and the number of shared ancestors."""
    order: Longs
    """[kinds, kinds * width] the places of a row of these, nearest first."""
    width: int


def branches_of(points: Points, counts: Ints) -> Branches | None:
    """The branches of tuples that are single concepts of a tree, or None where they are not.

    `counts` says how many records each tuple has.
    """
    heads = points.heads
    if heads.shape[0] != 1 or points.gaps.size or heads[0, WAY] != SHARED or not heads[0, TREE]:
        return None
    nodes, kinds, size = (
        _nodes(points),
        _kinds(points),
        int(heads[0, DEPTHS] - heads[0, CLASSES]) + 1,
    )
    many = heads[0, KINDS] * heads[0, WIDTH] > MOST_STEPS or size * heads[0, KINDS] > MOST_LISTS
    if nodes is None or many:
        return None
    reached = _reached(points)
    starts = points.lineages[heads[0, OFFSETS] :]
    above, sizes = starts[nodes], starts[nodes + 1] - starts[nodes]
    if (sizes == 0).sum() > 1 or not _is_zero_at_home(reached, kinds, sizes):
        return None
    return _listed(points.lineages[ranges(above, sizes)], sizes, kinds, size, reached, counts)


def _nodes(points: Points) -> Longs | None:
    """The node of each tuple, if it is what the tuple is compared as on either side."""
    head, codes = points.heads[0], points.codes[0]
    nodes: Longs = points.lineages[head[NODES] + codes]
    alike = np.array_equal(nodes, points.lineages[head[VALUE_START] + codes])
    return nodes if alike and np.unique(nodes).size == nodes.size else None


def _kinds(points: Points) -> Longs:
    """The kind of each tuple."""
    head = points.heads[0]
    kinds: Longs = points.lineages[head[PROFILES] + points.lineages[head[NODES] + points.codes[0]]]
    return kinds


def _reached(points: Points) -> Floats:
    """Distances by both kinds and the number of shared ancestors."""
    curve, kinds, width = points.heads[0, [CURVE, KINDS, WIDTH]].tolist()
    reached = points.tables[curve : curve + kinds * kinds * width].reshape(kinds, kinds, width)
    reached = reached.copy()
    # whoever has no ancestors, of whom there is one, is nearest to itself
    reached[-1, -1, 0] = 0.0
    return reached


def _is_zero_at_home(reached: Floats, kinds: Longs, sizes: Longs) -> bool:
    """Whether the distance of what shares all is 0, as that of a concept to itself is."""
    return bool((reached[kinds, kinds, sizes] == 0.0).all()) and bool(
        ((sizes == 0) == (kinds == len(reached) - 1)).all()
    )


def _listed(
    members: Longs, sizes: Longs, kinds: Longs, size: int, reached: Floats, counts: Ints
) -> Branches:
    """Lay out chains and lists; branch 0 is the trunk."""
    laid = laid_along(members, sizes, kinds, size, reached)
    empty = Branches(
        *laid[:6],
        np.zeros(laid.values.size + laid.starts.size, np.int64),
        np.zeros(laid.starts.size - 1, np.int64),
        *(laid.reached, np.argsort(laid.reached, axis=1, kind="stable"), laid.width),
    )
    fill_below(empty, np.arange(sizes.size), counts, empty.totals)
    _fill_sums(empty, counts)
    return empty


@compiled
def _fill_sums(branches: Branches, counts: Ints) -> None:
    """Write the counters of all lists."""
    starts, tuples, sums = branches.starts, branches.tuples, branches.sums
    for one in range(starts.size - 1):
        first, size = starts[one], starts[one + 1] - starts[one]
        for place in range(1, size + 1):
            slot = first + one + place
            sums[slot] += counts[tuples[first + place - 1]]
            above = place + (place & -place)
            if above <= size:
                sums[first + one + above] += sums[slot]


@compiled
def fill_below(branches: Branches, tuples: Longs, counts: Ints, totals: Longs) -> None:
    """Write how many records of some tuples there are below each branch, by kind."""
    for one in range(totals.size):
        totals[one] = 0
    for point in tuples:
        for slot in range(branches.chains[point], branches.chains[point + 1]):
            totals[branches.lists[slot] + branches.kinds[point]] += counts[point]


@compiled
def add_record(branches: Branches, point: int, amount: int) -> None:
    """Count so many more records of a tuple."""
    starts, kind = branches.starts, branches.kinds[point]
    for slot in range(branches.chains[point], branches.chains[point + 1]):
        one = branches.lists[slot] + kind
        branches.totals[one] += amount
        sums = branches.sums[starts[one] + one : starts[one + 1] + one + 1]
        add(sums, branches.spots[slot], amount)


@compiled
def distance_of(branches: Branches, point: int, other: int) -> float:
    """The distance of two tuples."""
    first, second = branches.chains[point], branches.chains[other]
    most = min(branches.chains[point + 1] - first, branches.chains[other + 1] - second)
    shared = whole(1)
    while shared < most and branches.lists[first + shared] == branches.lists[second + shared]:
        shared += 1
    # the trunk is nobody's ancestor
    place = branches.kinds[other] * branches.width + shared - 1
    return float(branches.reached[branches.kinds[point], place])


@part
def _both_lists(branches: Branches, point: int, place: int) -> tuple[int, int]:
    """The lists of those that share so much with a tuple, and of those among them that share more.

    -1 for one that is not there.
    """
    kind, shared = place // branches.width, place % branches.width
    slot, stop = branches.chains[point] + shared, branches.chains[point + 1]
    inside = branches.lists[slot] + kind if slot < stop else whole(-1)
    beyond = branches.lists[slot + 1] + kind if slot + 1 < stop else whole(-1)
    return inside, beyond


@compiled
def amount_at(branches: Branches, totals: Longs, point: int, place: int) -> int:
    """How many records are at a place of the row of distances from a tuple."""
    inside, beyond = _both_lists(branches, point, place)
    if inside < 0:
        return whole(0)
    return whole(totals[inside] - (totals[beyond] if beyond >= 0 else 0))


@compiled
def step_start(branches: Branches, point: int, rank: int) -> int:
    """The first rank of those that are as far from a tuple as a rank of its order."""
    row, order = branches.reached[branches.kinds[point]], branches.order[branches.kinds[point]]
    while rank > 0 and row[order[rank - 1]] == row[order[rank]]:
        rank -= 1
    return rank


@compiled
def nearest_step(branches: Branches, point: int, position: int) -> tuple[int, int]:
    """The last rank of the step where a position around a tuple falls; how many are nearer."""
    row, order = branches.reached[branches.kinds[point]], branches.order[branches.kinds[point]]
    nearer, here, rank = whole(0), whole(0), whole(0)
    while True:
        here += amount_at(branches, branches.totals, point, whole(order[rank]))
        if rank + 1 == order.size or row[order[rank + 1]] != row[order[rank]]:
            if nearer + here > position:
                return rank, nearer
            nearer, here = nearer + here, whole(0)
        rank += 1


@compiled
def farthest_step(branches: Branches, totals: Longs, point: int) -> int:
    """The last rank at which anybody is, farthest from a tuple, by some totals; or -1."""
    order = branches.order[branches.kinds[point]]
    rank = whole(order.size - 1)
    while rank >= 0 and amount_at(branches, totals, point, whole(order[rank])) == 0:
        rank -= 1
    return rank


@part
def _before(branches: Branches, one: int, number: int) -> int:
    """How many records of a list are of tuples with smaller numbers."""
    first, low, high = branches.starts[one], branches.starts[one], branches.starts[one + 1]
    sums = branches.sums[first + one : high + one + 1]
    while low < high:
        middle = (low + high) // 2
        if branches.tuples[middle] < number:
            low = middle + 1
        else:
            high = middle
    return total_before(sums, low - first)


@compiled
def counted_below(branches: Branches, point: int, first: int, last: int, number: int) -> int:
    """How many records from one rank around a tuple to another are of smaller numbers."""
    order, records = branches.order[branches.kinds[point]], whole(0)
    for rank in range(first, last + 1):
        inside, beyond = _both_lists(branches, point, whole(order[rank]))
        if inside >= 0:
            records += _before(branches, inside, number)
        if beyond >= 0:
            records -= _before(branches, beyond, number)
    return records


@compiled
def step_tuple(branches: Branches, point: int, first: int, last: int, position: int) -> int:
    """The tuple that holds a position among the records from one rank to another, by number."""
    low, high = whole(0), whole(branches.kinds.size - 1)
    while low < high:
        middle = (low + high) // 2
        if counted_below(branches, point, first, last, middle + 1) > position:
            high = middle
        else:
            low = middle + 1
    return low
