"""Distances of values that are computed when they are asked for: a table of all may be too large.

A value, or a candidate for a centroid, is a *node* with the set of its ancestors, itself included,
over one local numbering that ascends from parent to child. What two nodes have in common is found
by walking along both sets; a *curve* says what distance follows. It was computed by the measure
itself, so that distances are those of a table, to the last bit.

Numbers lie in the arrays of `records.Points`: sets in `lineages`, ways and curves in `tables`. The
columns of `heads` from WAY on say where.

Where the number of common ancestors counts, nodes have *places* in an order in which those below an
ancestor lie in few stretches, for loops over all of them (`reaching`). Where values are equal or
not, one of them stands out, and the others need not be looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import compiled, later, part, whole
from ontomask.kernels.stretches import branch_order, stretches_below

__all__ = [
    "ANY",
    "COLUMNS",
    "COMPARED",
    "CONTENT",
    "DESCENT",
    "EQUAL",
    "LENGTH",
    "LOOKED_UP",
    "PALETTE",
    "PATH",
    "PLAIN",
    "RANKED",
    "RELATIVE",
    "REPLACED",
    "SHADED",
    "SHADES",
    "SHARED",
    "SQUARED",
    "SUBSUMER",
    "TURNED",
    "WAY",
    "WORDS",
    "Formula",
    "add_differing",
    "contributed",
    "curve_start",
    "formed",
    "greatest_cost",
    "is_tree",
    "laid_out",
    "move_leaves",
    "unrelated",
    "weight_at",
    "with_unknown",
]

SHADED = -2
"""A table says which of a few distances it is, by its place in a palette."""
LOOKED_UP = -1
"""A table holds the distances."""
EQUAL = 0
"""Different nodes are at distance 1. Instead of ancestors, a node has the values that are it."""
RANKED = 1
"""The difference of the profiles, over the divisor."""
SHARED = 2
"""The curve by the profiles of both nodes and the number of common ancestors."""
PATH = 3
"""The curve by the links on the least way through a common ancestor."""
LENGTH = 4
"""The length of that way, over the divisor."""
SUBSUMER = 5
"""The curve by the class of the deepest common ancestor and the links up to it from both."""
CONTENT = 6
"""What both contents exceed that of the deepest common ancestor by, over the divisor."""
RELATIVE = 7
"""The same over both contents."""
DESCENT = 8
"""The way from the deepest common ancestor down to the value, over the divisor."""

PLAIN, SQUARED, ANY = 0, 1, 2
"""What enters: the distance, its square, or whether there is any."""


class Formula(NamedTuple):
    """How the distances of n nodes follow from the sets of their ancestors."""

    way: int
    """EQUAL to DESCENT."""
    profiles: Longs
    """[n] what is to be known of a node itself; -1 for one at distance 1 from all others."""
    offsets: Longs
    """[n + 1] where the ancestors of each node start."""
    members: Longs
    """The ancestors of all nodes, ascending for each."""
    ways: Floats
    """[members] how far each is up."""
    classes: Longs
    """[local] the class of each ancestor."""
    depths: Longs
    """[local] its depth."""
    contents: Floats
    """[local] its information content."""
    curve: Floats
    """Distances, with a last axis of `width` and before it, for SHARED, two of the profiles."""
    width: int
    divisor: float = 1.0
    nodes: Longs = np.empty(0, np.int64)
    """[values] the node of each value; a candidate row has its own number."""
    compared: int = PLAIN
    """What enters a contribution …"""
    spread: float = 1.0
    importance: float = 1.0
    """… which is divided by the one and multiplied by the other."""
    gap: float = 1.0
    """What a pair contributes of which one is at distance 1 from all others."""
    replaced: int = PLAIN
    """What enters a cost."""


def unrelated(profiles: Longs, way: int, divisor: float) -> Formula:
    """A formula over nodes without ancestors."""
    nothing, empty = np.empty(0, np.int64), np.empty(0)
    offsets = np.zeros(profiles.size + 1, np.int64)
    sets = profiles, offsets, nothing, empty, nothing, nothing, empty
    return Formula(way, *sets, empty, 0, divisor)


WAY, TREE, OFFSETS, PROFILES, CLASSES, DEPTHS, NODES = 8, 9, 10, 11, 12, 13, 14
PLACES, VALUE_PLACES, KIND_STARTS, STARTS = 15, 16, 17, 18
WAYS, CONTENTS, CURVE, WIDTH, KINDS, COMPARED, REPLACED, FIGURES = 19, 20, 21, 22, 23, 24, 25, 26
BEHIND = 27
"""Columns of `heads`: ways and where things lie in `lineages`, then in `tables`; the last says how
far the curve of costs lies behind that of contributions."""
WORDS = 28
"""Column of `heads`: whether the tables of an attribute say no more than whether values are equal;
a value then has the row of its own number."""
TURNED, PALETTE, SHADES = 29, 30, 31
"""Columns of `heads`, for SHADED: where the table lies in `shades` value by value, as START says
where it lies row by row; where the palette lies in `tables`, contributions and behind them costs;
how many of either there are."""
COLUMNS = 32
"""How many columns `heads` has."""
DIVISOR, SPREAD, IMPORTANCE, GAP = 0, 1, 2, 3
"""Figures, from FIGURES on."""


def laid_out(
    formula: Formula, whole_start: int, float_start: int, head: Longs
) -> tuple[list[Longs], list[Floats]]:
    """Whole numbers and floats of a formula, in parts, as they will lie from two starts on.

    Writes into `head`, a row of `heads`, where they are.
    """
    formula = with_unknown(formula)
    wholes = [formula.offsets, formula.profiles, formula.classes, formula.depths, formula.nodes]
    wholes += _stretched(formula) if formula.way == SHARED else [np.empty(0, np.int64)] * 4
    spots = whole_start + np.cumsum([0, *(one.size for one in wholes)])
    columns = OFFSETS, PROFILES, CLASSES, DEPTHS, NODES, PLACES, VALUE_PLACES, KIND_STARTS, STARTS
    head[[*columns]] = spots[: len(columns)]
    wholes[0] = formula.offsets + spots[-1]
    wholes[-1][: formula.depths.size + 1] += spots[-2]
    figures = [formula.divisor, formula.spread, formula.importance, formula.gap]
    floats = [formula.ways, formula.contents, formula.curve.ravel(), np.array(figures)]
    firsts = float_start + np.cumsum([0, *(one.size for one in floats)])
    head[[WAYS, CONTENTS, CURVE, FIGURES]] = firsts[:-1]
    # the way of the member at a place of `lineages` is so much farther in `tables`
    head[WAYS] -= spots[-1]
    head[WAY], head[WIDTH] = formula.way, formula.width
    if formula.way == SHARED:
        head[KINDS] = formula.curve.shape[-2]
        head[BEHIND] = (len(formula.curve) - 1) * formula.curve[0].size
    head[COMPARED], head[REPLACED] = formula.compared, formula.replaced
    head[TREE] = is_tree(formula)
    return [*wholes, formula.members], floats


def with_unknown(formula: Formula) -> Formula:
    """The formula as SHARED is read: what enters, for either question, and one profile more.

    That is the profile of nodes at distance 1 from all others.
    """
    if formula.way != SHARED:
        return formula
    plain, kinds = formula.curve, formula.curve.shape[0]
    entered = plain * plain if formula.compared == SQUARED else plain
    compared = _padded(entered / formula.spread * formula.importance, formula.gap)
    replaced = _padded(_entering_costs(formula), 1.0)
    # curves over many kinds are large, and mostly the same
    alike = np.array_equal(compared, replaced)
    return formula._replace(
        curve=compared[None] if alike else np.stack([compared, replaced]),
        profiles=np.where(formula.profiles < 0, kinds, formula.profiles),
    )


def _entering_costs(formula: Formula) -> Floats:
    """What enters a cost, along the curve."""
    if formula.replaced == ANY:
        return (formula.curve > 0.0).astype(np.float64)
    return formula.curve * formula.curve if formula.replaced == SQUARED else formula.curve


def _padded(curve: Floats, gap: float) -> Floats:
    """A curve with one profile more on both sides, which is a gap from all."""
    padded = np.full((len(curve) + 1, len(curve) + 1, curve.shape[2]), gap)
    padded[:-1, :-1] = curve
    return padded


def _stretched(formula: Formula) -> list[Longs]:
    """Places of nodes and of values, the starts on the curve by place, and stretches."""
    order = branch_order(formula.offsets, formula.members)
    places, kinds = np.empty_like(order), formula.profiles[order] * formula.width
    places[order] = np.arange(order.size)
    below = stretches_below(formula.offsets, formula.members, formula.depths.size, order)
    return [places, places[formula.nodes], kinds, below]


def greatest_cost(head: Longs, tables: Floats) -> float:
    """The greatest cost that SHARED can say for any two nodes."""
    start, entries = int(head[CURVE] + head[BEHIND]), int(head[KINDS] ** 2 * head[WIDTH])
    return float(tables[start : start + entries].max())


def is_tree(formula: Formula) -> bool:
    """Whether the ancestors of every node are a chain, so that no two differ in one depth."""
    if formula.way == EQUAL:
        return False
    depths = formula.depths[formula.members]
    apart = np.diff(depths)
    inside = np.ones(apart.size, bool)
    firsts = formula.offsets[1:-1]
    inside[firsts[(firsts > 0) & (firsts < depths.size)] - 1] = False
    # the numbering ascends by depth: a chain has one of each depth from its top on
    return bool((apart[inside] == 1).all())


@part
def _shared(heads: Longs, lineages: Longs, attribute: int, node: int, other: int) -> int:
    """The number of common ancestors of two nodes."""
    offsets, tree = heads[attribute, OFFSETS], heads[attribute, TREE]
    first, stop = lineages[offsets + node], lineages[offsets + node + 1]
    second, last = lineages[offsets + other], lineages[offsets + other + 1]
    shared = 0
    while first < stop and second < last:
        one, two = lineages[first], lineages[second]
        if one == two:
            shared += 1
        elif tree:
            break
        first += one <= two
        second += two <= one
    return shared


@compiled
def _by_ways(
    heads: Longs, lineages: Longs, tables: Floats, attribute: int, node: int, other: int
) -> float:
    """The distance of two nodes by the ways through common ancestors.

    What counts is the least way, or the deepest of the ancestors: of equally deep ones the nearest,
    then the first.
    """
    offsets, ways, depths = (
        heads[attribute, OFFSETS],
        heads[attribute, WAYS],
        heads[attribute, DEPTHS],
    )
    first, stop = lineages[offsets + node], lineages[offsets + node + 1]
    second, last = lineages[offsets + other], lineages[offsets + other + 1]
    # the last of its ancestors is a node itself
    own, beside = lineages[stop - 1], lineages[last - 1]
    least, best, deepest, both, down = np.inf, np.int64(-1), np.int64(-1), np.inf, 0.0
    while first < stop and second < last:
        one, two = lineages[first], lineages[second]
        if one == two:
            length = tables[ways + first] + tables[ways + second]
            least = min(least, length)
            depth = lineages[depths + one]
            if depth > deepest or length < both:
                best, deepest, both, down = one, depth, length, tables[ways + second]
        elif heads[attribute, TREE]:
            break
        first += one <= two
        second += two <= one
    way, curve = heads[attribute, WAY], heads[attribute, CURVE]
    divisor, contents = tables[heads[attribute, FIGURES] + DIVISOR], heads[attribute, CONTENTS]
    if way == PATH:
        return float(tables[curve + np.int64(least)])
    if way == SUBSUMER:
        place = lineages[heads[attribute, CLASSES] + best] * heads[attribute, WIDTH]
        return float(tables[curve + place + np.int64(both)])
    if way in (LENGTH, DESCENT):
        return float((least if way == LENGTH else down) / divisor)
    total = tables[contents + own] + tables[contents + beside]
    apart = total - 2.0 * tables[contents + best]
    return float(apart / (divisor if way == CONTENT else total if total > 0.0 else 1.0))


@part
def curve_start(heads: Longs, attribute: int, profile: int, asked: int) -> int:
    """Where on the curve the entries of nodes of a profile begin."""
    start = heads[attribute, CURVE] + (heads[attribute, BEHIND] if asked == REPLACED else 0)
    return start + profile * heads[attribute, KINDS] * heads[attribute, WIDTH]


@part
def contributed(
    heads: Longs,
    lineages: Longs,
    tables: Floats,
    attribute: int,
    row: int,
    other: int,
    shared: int,
    asked: int,
) -> float:
    """What a row and the node of a value contribute, or cost, that share so many ancestors."""
    profiles, figures = heads[attribute, PROFILES], heads[attribute, FIGURES]
    profile, beside = lineages[profiles + row], lineages[profiles + other]
    way, divisor = heads[attribute, WAY], tables[figures + DIVISOR]
    if row == other:
        return 0.0
    if way == SHARED:
        start = curve_start(heads, attribute, profile, asked)
        return float(tables[start + beside * heads[attribute, WIDTH] + shared])
    # one of both is at distance 1 from all others
    if profile < 0 or beside < 0:
        return float(tables[figures + GAP] if asked == COMPARED else 1.0)
    if way == EQUAL:
        plain = 1.0
    elif way == RANKED:
        plain = abs(profile - beside) / divisor
    else:
        plain = _by_ways(heads, lineages, tables, attribute, row, other)
    if heads[attribute, asked] == SQUARED:
        plain *= plain
    if asked == COMPARED:
        return float(plain / tables[figures + SPREAD] * tables[figures + IMPORTANCE])
    if heads[attribute, asked] == ANY:
        return 1.0 if plain > 0.0 else 0.0
    return float(plain)


@later
@compiled
def formed(
    heads: Longs, lineages: Longs, tables: Floats, attribute: int, row: int, value: int, asked: int
) -> float:
    """What a row and a value of an attribute contribute (asked: COMPARED), or cost (REPLACED)."""
    other, shared = lineages[heads[attribute, NODES] + value], 0
    if heads[attribute, WAY] == SHARED:
        shared = _shared(heads, lineages, attribute, row, other)
    return float(contributed(heads, lineages, tables, attribute, row, other, shared, asked))


@later
@compiled
def weight_at(heads: Longs, lineages: Longs, attribute: int, row: int, weights: Floats) -> float:
    """The weight of the values that equal a row; weights are given by value."""
    total, offsets = 0.0, heads[attribute, OFFSETS]
    for slot in range(lineages[offsets + row], lineages[offsets + row + 1]):
        total += weights[lineages[slot]]
    return float(total)


@later
@compiled
def add_differing(
    heads: Longs,
    lineages: Longs,
    attribute: int,
    values: Ints,
    weights: Floats,
    rows: Ints,
    sums: Floats,
) -> None:
    """Add to the sum of each of some rows the weight of those of the values that differ from it."""
    total = 0.0
    for slot in range(values.size):
        total += weights[values[slot]]
    for slot in range(rows.size):
        row = whole(rows[slot])
        sums[row] += total - weight_at(heads, lineages, attribute, row, weights)


@part
def _leaf_of(leaves: Ints, value: int) -> int:
    """The leaf of a value, -1 if it has none; leaves ascend by their values."""
    low, high = whole(0), whole(leaves.shape[0])
    while low < high:
        middle = (low + high) // 2
        if leaves[middle, 1] < value:
            low = middle + 1
        else:
            high = middle
    found = low < leaves.shape[0] and leaves[low, 1] == value
    return whole(leaves[low, 0] if found else -1)


@later
@compiled
def move_leaves(
    heads: Longs,
    lineages: Longs,
    tables: Floats,
    attribute: int,
    before: int,
    row: int,
    leaves: Ints,
    links: Ints,
    direction: float,
    extremes: Floats,
) -> None:
    """Turn the extremes of one row, in leaves and above them, into those of another row.

    Only the values that equal one of both rows change. `links` holds the right child of each node
    and its parent.
    """
    offsets = heads[attribute, OFFSETS]
    for turn in range(2):
        node, found = (row, 0.0) if turn else (before, tables[heads[attribute, FIGURES] + GAP])
        for slot in range(lineages[offsets + node], lineages[offsets + node + 1]):
            below = _leaf_of(leaves, lineages[slot])
            if below < 0:
                continue
            extremes[below] = direction * found
            above = whole(links[below, 1])
            # a root is its own parent
            while above != below:
                first, second = extremes[above + 1], extremes[links[above, 0]]
                extremes[above] = first if first < second else second
                below, above = above, whole(links[above, 1])
