"""Unite small groups with others at their lowest common generalization, cheapest first.

A group has a *cell*: for each attribute the row of one of its values, and the level up to which it
is generalized. Levels are nested, so what two cells have in common is found at the lowest level at
which their rows have the same code. The cheapest partner is looked for in a binary tree over the
groups: a node has the smallest cell around those below it, the least of their sizes and the first
of their numbers, which together bound what a merger costs. Costs are whole numbers and ties are
decided by the number, so that the answers are those of a look at every group.

Where that is no help, in tables of many attributes that have nothing to do with each other, every
group is looked at. Most of them share their cells with others, attribute by attribute: what each
such *part* of a cell costs is found once, and then added up for all groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Ints, Longs
from ontomask.kernels.compiling import allocating, apart, compiled, part, unsigned, whole

__all__ = ["Ladders", "merge_smallest"]

NEVER = 2**62
"""More than any merger costs."""
SHARE = 4
"""The tree is built anew when so large a part of its groups is gone: cells grow, and do not fit
any more where they lie."""
TRIALS = 16
"""So many searches tell …"""
LOOK = 24
"""… whether a search takes longer than a look at every group does: a look at a node takes so many
times as long as one at a group, …"""
PRICE = 16
"""… and to find a price so many times as long as to add it."""
STRETCH = 512
"""So many groups are looked at together: what is added up for them stays near the processor."""
STEPS = 32
"""A price holds the steps of the own group, and above so many bits those of the other one …"""
APART = 1 << 24
"""… or so many, which are more than there are in a table, where two parts never meet."""


class Ladders(NamedTuple):
    """What the values of each attribute become: flat tables over levels and rows."""

    codes: Ints
    """Equal for two rows from the level on at which they are the same."""
    steps: Ints
    """How many times a value has become another one, up to a level."""
    starts: Longs
    """[attributes] where the tables of each start."""
    rows: Longs
    """[attributes] how many rows they have."""
    heights: Longs
    """[attributes] the highest level."""


class Tree(NamedTuple):
    """Nodes from 1 on; those below node n are 2n and 2n + 1, and the leaves come last."""

    cells: Ints
    """[2, nodes, attributes] row and level; behind the highest level, where values never meet."""
    sizes: Longs
    """[nodes] the least number of records of a group below; NEVER where there is none."""
    firsts: Longs
    """[nodes] the least number of a group below."""
    leaves: Longs
    """[groups] the leaf of each group."""
    looks: Longs
    """[2] how many searches there were, and how many nodes they looked at."""


class Parts(NamedTuple):
    """The cells of all leaves, attribute by attribute, where equal ones are one part."""

    same: Ints
    """For each level and row, laid out like the ladders, the first row of the same code."""
    numbers: Ints
    """Laid out in the same way: the number of a part, or -1 where no group has it."""
    whats: Ints
    """[parts, 3] attribute, row and level of each; there is room for some more."""
    leaves: Ints
    """[attributes, groups] the parts of each leaf."""
    known: Longs
    """[1] how many there are."""
    prices: Longs
    """[parts] what a group and one with this part would become; see STEPS."""
    sums: Longs
    """[STRETCH] room to add them up."""


@compiled
def _meeting_level(ladders: Ladders, attribute: int, first: int, second: int, level: int) -> int:
    """The lowest level, from `level` on, at which two rows have the same code.

    If there is none, it is the one behind the highest.
    """
    rows, height = ladders.rows[attribute], ladders.heights[attribute]
    while level <= height:
        begin = ladders.starts[attribute] + level * rows
        if ladders.codes[begin + first] == ladders.codes[begin + second]:
            break
        level += 1
    return level


@part
def _steps_up(ladders: Ladders, attribute: int, row: int, low: int, high: int) -> int:
    """How many times the value of a row becomes another one between two levels."""
    start, rows = ladders.starts[attribute], ladders.rows[attribute]
    return whole(ladders.steps[start + high * rows + row] - ladders.steps[start + low * rows + row])


@compiled
def _least_cost(
    ladders: Ladders,
    tree: Tree,
    tuples: Ints,
    levels: Ints,
    size: int,
    group: int,
    node: int,
    most: int,
) -> int:
    """Steps times records when a group is united with one below a node: no merger costs less.

    For a leaf it is the cost. NEVER, if they do not meet, or if it is more than `most`.
    """
    total, is_leaf = whole(0), 2 * node >= tree.sizes.size
    for attribute in range(tuples.shape[1]):
        row, level = tuples[group, attribute], whole(levels[group, attribute])
        beside, around = tree.cells[0, node, attribute], whole(tree.cells[1, node, attribute])
        if around > ladders.heights[attribute]:
            continue
        meeting = _meeting_level(ladders, attribute, row, beside, max(level, around))
        if meeting > ladders.heights[attribute]:
            return NEVER
        # inside the cell of a node, a group may be what the others are
        if meeting > around or is_leaf:
            total += size * _steps_up(ladders, attribute, row, level, meeting)
            total += tree.sizes[node] * _steps_up(ladders, attribute, beside, around, meeting)
            if total > most:
                return NEVER
    return total


@compiled
def _gather(ladders: Ladders, tree: Tree, node: int) -> None:
    """Find out about a node from those below it."""
    left, right = 2 * node, 2 * node + 1
    tree.sizes[node] = min(tree.sizes[left], tree.sizes[right])
    tree.firsts[node] = min(tree.firsts[left], tree.firsts[right])
    lone = left if tree.sizes[right] == NEVER else right
    for attribute in range(ladders.starts.size):
        row, level = tree.cells[0, lone, attribute], whole(tree.cells[1, lone, attribute])
        if tree.sizes[left] < NEVER and tree.sizes[right] < NEVER:
            first = whole(tree.cells[1, left, attribute])
            beside = tree.cells[0, left, attribute]
            level = _meeting_level(ladders, attribute, row, beside, max(first, level))
        tree.cells[0, node, attribute], tree.cells[1, node, attribute] = row, level


@compiled
def _gather_all(ladders: Ladders, tree: Tree) -> None:
    """Find out about all nodes, from those above the leaves on."""
    for node in range(tree.sizes.size // 2 - 1, 0, -1):
        _gather(ladders, tree, node)


@part
def _climb(ladders: Ladders, tree: Tree, leaf: int) -> None:
    """Find out anew about the nodes above a leaf."""
    node = leaf // 2
    while node > 0:
        _gather(ladders, tree, node)
        node //= 2


@part
def _number_part(ladders: Ladders, parts: Parts, attribute: int, row: int, level: int) -> int:
    """The number of a part, which may be a new one."""
    begin = ladders.starts[attribute] + level * ladders.rows[attribute]
    first = parts.same[begin + row]
    number = whole(parts.numbers[begin + first])
    if number < 0:
        number = parts.known[0]
        parts.numbers[begin + first] = number
        parts.known[0] += 1
        parts.whats[number, 0], parts.whats[number, 1] = attribute, first
        parts.whats[number, 2] = level
    return number


@part
def _meeting_below(ladders: Ladders, attribute: int, first: int, second: int, level: int) -> int:
    """The same as `_meeting_level`, from the highest level on: most values only meet there."""
    rows, meeting = ladders.rows[attribute], ladders.heights[attribute] + 1
    begin = ladders.starts[attribute] + meeting * rows
    while meeting > level:
        begin -= rows
        if ladders.codes[begin + first] != ladders.codes[begin + second]:
            break
        meeting -= 1
    return meeting


@part
def _fill_prices(ladders: Ladders, parts: Parts, tuples: Ints, levels: Ints, group: int) -> None:
    """Find out what a group and one with each of the parts would become."""
    for number in range(parts.known[0]):
        attribute, beside = whole(parts.whats[number, 0]), whole(parts.whats[number, 1])
        around = whole(parts.whats[number, 2])
        row, level = whole(tuples[group, attribute]), whole(levels[group, attribute])
        meeting = _meeting_below(ladders, attribute, row, beside, max(level, around))
        if meeting > ladders.heights[attribute]:
            parts.prices[number] = APART
            continue
        steps = _steps_up(ladders, attribute, row, level, meeting)
        others = _steps_up(ladders, attribute, beside, around, meeting)
        parts.prices[number] = steps + (others << STEPS)


@apart
@compiled
def _cheapest_of_all(
    ladders: Ladders,
    tree: Tree,
    parts: Parts,
    tuples: Ints,
    levels: Ints,
    size: int,
    group: int,
) -> int:
    """The group that it costs least to unite this one with, by a look at every group."""
    _fill_prices(ladders, parts, tuples, levels, group)
    partner, least, count = whole(-1), whole(NEVER), tree.sizes.size // 2
    sums, prices = parts.sums, parts.prices
    for start in range(0, count, STRETCH):
        length = min(STRETCH, count - start)
        for slot in range(length):
            sums[slot] = 0
        for attribute in range(tuples.shape[1]):
            leaves = parts.leaves[attribute, start : start + length]
            for slot in range(length):
                sums[slot] += prices[unsigned(leaves[slot])]
        sizes, firsts = tree.sizes[count + start :], tree.firsts[count + start :]
        for slot in range(length):
            if sizes[slot] == NEVER:
                continue
            steps = sums[slot] & ((1 << STEPS) - 1)
            cost = size * steps + sizes[slot] * (sums[slot] >> STEPS)
            if steps < APART and (cost < least or (cost == least and firsts[slot] < partner)):
                partner, least = firsts[slot], cost
    return partner


@part
def _cheapest(
    ladders: Ladders,
    tree: Tree,
    parts: Parts,
    tuples: Ints,
    levels: Ints,
    size: int,
    group: int,
    stack: Longs,
) -> int:
    """The group that it costs least to unite this one with, the first of equals; -1 if none."""
    partner, least, looks = whole(-1), whole(NEVER), tree.looks
    if looks[0] >= TRIALS:
        added = parts.leaves.size + PRICE * parts.known[0]
        if LOOK * looks[1] * parts.leaves.shape[0] > looks[0] * added:
            return _cheapest_of_all(ladders, tree, parts, tuples, levels, size, group)
    looks[0] += 1
    stack[0, 0], stack[0, 1], top = 1, 0, 1
    while top > 0:
        top -= 1
        looks[1] += 1
        node, cost = stack[top, 0], stack[top, 1]
        if cost > least or (cost == least and tree.firsts[node] > partner):
            continue
        if 2 * node >= tree.sizes.size:
            partner, least = tree.firsts[node], cost
            continue
        bottom = top
        for child in range(2 * node, 2 * node + 2):
            if tree.sizes[child] == NEVER:
                continue
            cost = _least_cost(ladders, tree, tuples, levels, size, group, child, least)
            if cost == NEVER:
                continue
            slot = top
            if top > bottom and cost >= stack[bottom, 1]:
                # the cheaper one lies on top and comes first
                stack[top, 0], stack[top, 1] = stack[bottom, 0], stack[bottom, 1]
                slot = bottom
            stack[slot, 0], stack[slot, 1] = child, cost
            top += 1
    return partner


@part
def _push(heap: Longs, length: int, key: int) -> None:
    """Put a key into a heap of so many, the least on top."""
    slot = length
    while slot > 0 and heap[(slot - 1) // 2] > key:
        heap[slot] = heap[(slot - 1) // 2]
        slot = (slot - 1) // 2
    heap[slot] = key


@part
def _pop(heap: Longs, length: int) -> int:
    """Take the least key out of a heap of so many."""
    found, key, slot = heap[0], heap[length - 1], whole(0)
    while 2 * slot + 1 < length - 1:
        child = 2 * slot + 1
        if child + 1 < length - 1 and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[slot] = heap[child]
        slot = child
    heap[slot] = key
    return whole(found)


@compiled
def _merge(
    ladders: Ladders,
    tree: Tree,
    parts: Parts,
    tuples: Ints,
    levels: Ints,
    sizes: Longs,
    persons: Longs,
    k: int,
    signal: Longs,
    owners: Ints,
    counted: Longs,
    after: Longs,
    marks: Longs,
    heap: Longs,
    length: int,
    most: int,
    stack: Longs,
) -> int:
    """Write which group each one was united with; how long the heap is after `most` mergers.

    The heap has the groups that are too small, by what k counts and then by their numbers; a key
    that is no longer that of a group is passed over.
    """
    count = sizes.size
    while length > 0 and most > 0 and signal[1] == 0:
        key = _pop(heap, length)
        length -= 1
        group = key % count
        if owners[group] != group or counted[group] != key // count:
            continue
        leaf = tree.leaves[group]
        tree.sizes[leaf], tree.firsts[leaf] = NEVER, NEVER
        _climb(ladders, tree, leaf)
        partner = _cheapest(ladders, tree, parts, tuples, levels, sizes[group], group, stack)
        if partner < 0:
            return whole(0)
        _unite(ladders, tree, parts, tuples, levels, sizes, partner, group)
        owners[group] = partner
        after[partner], after[group] = after[group], after[partner]
        counted[partner] = sizes[partner]
        if persons.size:
            counted[partner] = _persons(persons, after, partner, marks, signal[0])
        if counted[partner] < k:
            _push(heap, length, counted[partner] * count + partner)
            length += 1
        signal[0] += 1
        most -= 1
    return length


def merge_smallest(
    tuples: Ints,
    levels: Ints,
    sizes: Longs,
    ladders: Ladders,
    persons: Longs,
    k: int,
    signal: Longs,
) -> Ints:
    """Unite the smallest group below k with its cheapest partner until there is none.

    `tuples` (groups x attributes) are the rows of each group's first tuple, `levels` its levels,
    changed in place like `sizes`. k counts records or, where `persons` says whose they are as
    `owners` do in `units`, persons. Ties: the first group. Returns for each group the one it ended
    in. `signal[0]` counts mergers, and setting `signal[1]` stops.
    """
    count = sizes.size
    owners = np.arange(count, dtype=np.int32)
    # what k counts, the ring of the tuples of each group, and marks of the units counted last
    counted, after = sizes.copy(), np.arange(count)
    if persons.size:
        counted = np.diff(persons[: count + 1])
    marks = np.full(int(persons[count + 1 :].max(initial=-1)) + 1, -1)
    small, stack = np.flatnonzero(counted < k), np.empty((128, 2), np.int64)
    # what is in order is a heap; a group comes back at most once for each that it takes in
    heap = np.zeros(2 * count + 1, np.int64)
    length = small.size
    heap[:length] = np.sort(counted[small] * count + small)
    state = tuples, levels, sizes, persons, k, signal, owners, counted, after, marks, heap
    same = _first_rows(ladders)
    while length > 0 and signal[1] == 0:
        alive = np.flatnonzero(owners == np.arange(count))
        tree, most = _tree(ladders, tuples, levels, sizes, alive), 1 + alive.size // SHARE
        parts = _parts(ladders, same, tree.cells[:, alive.size :], most)
        length = _merge(ladders, tree, parts, *state, length, most, stack)
    return np.asarray(_followed(owners), np.int32)


def _first_rows(ladders: Ladders) -> Ints:
    """For each level and row the first row of the same code."""
    same = np.empty(ladders.codes.size, np.int32)
    for start, rows, height in zip(ladders.starts, ladders.rows, ladders.heights, strict=True):
        for begin in range(start, start + (height + 1) * rows, rows):
            _, firsts, own = np.unique(
                ladders.codes[begin : begin + rows], return_index=True, return_inverse=True
            )
            same[begin : begin + rows] = firsts[own]
    return same


def _parts(ladders: Ladders, same: Ints, cells: Ints, mergers: int) -> Parts:
    """The parts of the cells of some leaves; there is room for those of so many mergers."""
    begins = ladders.starts + cells[1] * ladders.rows
    places = begins + same[begins + cells[0]]
    there = np.zeros(same.size, bool)
    there[places] = True
    found, numbers = np.flatnonzero(there), np.full(same.size, -1, np.int32)
    numbers[found] = np.arange(found.size)
    most = min(same.size, found.size + ladders.starts.size * mergers)
    whats = np.empty((most, 3), np.int32)
    attributes = np.searchsorted(ladders.starts, found, "right") - 1
    inside = found - ladders.starts[attributes]
    whats[: found.size, 0] = attributes
    whats[: found.size, 2], whats[: found.size, 1] = np.divmod(inside, ladders.rows[attributes])
    return Parts(
        same,
        numbers,
        whats,
        np.ascontiguousarray(numbers[places].T),
        np.array([found.size]),
        np.empty(most, np.int64),
        np.empty(STRETCH, np.int64),
    )


def _tree(ladders: Ladders, tuples: Ints, levels: Ints, sizes: Longs, alive: Longs) -> Tree:
    """A tree over groups in an order in which alike ones lie together."""
    order = alive[np.lexsort(_branches(ladders, tuples[alive], levels[alive]))]
    count = order.size
    leaves, places = np.zeros(sizes.size, np.int64), np.arange(count, 2 * count)
    leaves[order] = places
    cells = np.empty((2, 2 * count, tuples.shape[1]), np.int32)
    cells[0, count:], cells[1, count:] = tuples[order], levels[order]
    least, firsts = np.full((2, 2 * count), NEVER)
    least[count:], firsts[count:] = sizes[order], order
    tree = Tree(cells, least, firsts, leaves, np.zeros(2, np.int64))
    _gather_all(ladders, tree)
    return tree


def _branches(ladders: Ladders, tuples: Ints, levels: Ints) -> list[Ints]:
    """What to sort groups by: the highest levels of all attributes first, and so on, last to first.

    Below its own level a group has no code, and lies before those that have one.
    """
    keys = []
    for below in range(int(ladders.heights.max(initial=0)), -1, -1):
        for attribute in range(tuples.shape[1]):
            level = int(ladders.heights[attribute]) - below
            if level >= 0:
                start = ladders.starts[attribute] + level * ladders.rows[attribute]
                found = ladders.codes[start + tuples[:, attribute]]
                keys.append(np.where(levels[:, attribute] <= level, found, -1))
    return keys


@part
def _persons(persons: Longs, after: Longs, group: int, marks: Longs, mark: int) -> int:
    """How many persons have records among the tuples of a ring."""
    found, one = 0, group
    while True:
        for place in range(persons[one], persons[one + 1]):
            if marks[persons[place]] != mark:
                marks[persons[place]] = mark
                found += 1
        one = after[one]
        if one == group:
            return found


@part
def _unite(
    ladders: Ladders,
    tree: Tree,
    parts: Parts,
    tuples: Ints,
    levels: Ints,
    sizes: Longs,
    into: int,
    gone: int,
) -> None:
    """Let a group take another one in, and find out anew about the nodes above it."""
    leaf = tree.leaves[into]
    sizes[into] += sizes[gone]
    tree.sizes[leaf] = sizes[into]
    for attribute in range(tuples.shape[1]):
        first, second = tuples[into, attribute], tuples[gone, attribute]
        level = whole(max(levels[into, attribute], levels[gone, attribute]))
        level = _meeting_level(ladders, attribute, first, second, level)
        levels[into, attribute] = tree.cells[1, leaf, attribute] = level
        number = _number_part(ladders, parts, attribute, first, level)
        parts.leaves[attribute, leaf - tree.sizes.size // 2] = number
    _climb(ladders, tree, leaf)


@allocating
def _followed(owners: Ints) -> Ints:
    """Where each group ended, after all mergers."""
    ends = owners.copy()
    for group in range(owners.size):
        end = group
        while owners[end] != end:
            end = owners[end]
        ends[group] = end
    return ends
