"""Count equal rows, and unite groups of them when their values are generalized (roll-up).

Conventions. A *tuple* is a column of `tuples` (m x t): for each attribute the row of its hierarchy.
A *group* is a set of tuples, known by one of them, its representative, and by its *key*: the
generalized codes, each multiplied by its attribute's place value, added up in one or more words
(w x g). `shifts` holds these products for all levels of all attributes one behind the other, so
that raising an attribute from one level to another changes a key by
`shifts[new + row] - shifts[old + row]`, where `old` and `new` say where the levels begin. Groups
are numbered by first appearance: those that come out keep the order of those that went in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint64

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.kernels.compiling import allocating, apart, compiled

__all__ = [
    "attribute_totals",
    "members",
    "merge_pairs",
    "nearest_finer",
    "number_keys",
    "raise_keys",
    "roll_up",
    "room_for",
    "sum_groups",
    "two_largest",
]

Room = tuple[Longs, Longs, Longs, Ints, Ints, Ints]
"""Keys, different ones, keys mixed to one word, a hash table, first groups, and places."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""Two to the 64 divided by the golden ratio: multiplying by it spreads consecutive keys."""


@apart
@allocating
def raise_keys(
    tuples: Ints,
    representatives: Ints,
    raised: Longs,
    shifts: Longs,
    attributes: Longs,
    words: Longs,
    old: Longs,
    new: Longs,
    sizes: Longs,
) -> None:
    """Raise some attributes in keys, each kept in one of the words, `sizes` rows each."""
    for turn in range(attributes.size):
        change = np.empty(sizes[turn], np.int64)
        for row in range(sizes[turn]):
            change[row] = shifts[new[turn] + row] - shifts[old[turn] + row]
        rows = tuples[attributes[turn]]
        word = raised[words[turn]]
        for group in range(representatives.size):
            # unsigned: no test whether the index counts from the end
            word[group] += change[uint64(rows[uint64(representatives[group])])]


@compiled
def _number(
    keys: Longs, factor: int, shift: int, owners: Ints, known: Longs, firsts: Ints, places: Ints
) -> int:
    """Write the number of each key; how many there are.

    A free place of the hash table stands for the next number, whose key is written down before
    anybody knows whether it is new: nothing is left to guess for the processor but collisions.
    """
    last, count = uint64(owners.size - 1), 0
    for position in range(keys.size):
        key = keys[position]
        known[count] = key
        slot = (uint64(key) * uint64(factor)) >> uint64(shift)
        owner = owners[slot]
        if owner < 0:
            owner = count
        while known[uint64(owner)] != key:
            slot = (slot + uint64(1)) & last
            owner = owners[slot]
            if owner < 0:
                owner = count
        owners[slot] = owner
        firsts[count] = position
        places[position] = owner
        count += owner == count
    return count


@apart
@allocating
def number_keys(keys: Longs, span: int) -> tuple[Ints, Ints]:
    """Number equal keys (w x n) by first appearance; tell also where each appears first.

    A hash table with open addressing; single-word keys less than `span` are addresses themselves
    where `span` is small enough (0: not known).
    """
    bits, size = _table_bits(keys.shape[1]), keys.shape[1]
    factor, shift = GOLDEN, 64 - bits
    if keys.shape[0] == 1 and 0 < span <= 1 << bits:
        # small keys are addresses themselves: no hashing, no collisions
        factor, shift = uint64(1), 0
    owners, known = np.empty(1 << bits, np.int32), np.empty(size, np.int64)
    firsts, places = np.empty(size, np.int32), np.empty(size, np.int32)
    mixed = keys[0]
    if keys.shape[0] > 1:
        mixed = np.empty(size, np.int64)
    count = _number_words(keys, factor, shift, owners, known, firsts, places, mixed)
    return places, firsts[:count].copy()


@apart
@compiled
def _number_words(
    keys: Longs,
    factor: int,
    shift: int,
    owners: Ints,
    known: Longs,
    firsts: Ints,
    places: Ints,
    mixed: Longs,
) -> int:
    """Write the number of each key of one or more words; `mixed` is the word if there is only one.

    The loops make no arrays: else the compiler would count in every turn who holds these.
    """
    salt = GOLDEN
    while True:
        if keys.shape[0] > 1:
            _mix(keys, salt, mixed)
        owners[:] = -1
        count = _number(mixed, factor, shift, owners, known, firsts, places)
        if keys.shape[0] == 1 or _agree(keys, firsts, places):
            return count
        # different keys were mixed to the same word: so they must be mixed in another way
        salt += uint64(2)


@compiled
def _mix(keys: Longs, salt: int, mixed: Longs) -> None:
    """Make one word of several, for most keys a different one."""
    for position in range(mixed.size):
        mixed[position] = 0
    for word in keys:
        for position in range(mixed.size):
            value = (uint64(mixed[position]) ^ uint64(word[position])) * uint64(salt)
            mixed[position] = (value ^ (value >> uint64(32))) >> uint64(1)


@compiled
def _agree(keys: Longs, firsts: Ints, places: Ints) -> bool:
    """Whether all keys with the same number are equal."""
    differing = 0
    for word in keys:
        for position in range(places.size):
            first = word[uint64(firsts[uint64(places[position])])]
            differing |= word[position] ^ first
    return differing == 0


@compiled
def _table_bits(count: int) -> int:
    """The bits of the addresses of a hash table that is at most half full."""
    bits = 3
    while 1 << bits < 2 * count:
        bits += 1
    return bits


@allocating
def sum_groups(places: Ints, amounts: Longs, count: int) -> Longs:
    """For each row of `amounts` (w x g), the sums over the groups that go to the same place."""
    sums = np.zeros((amounts.shape[0], count), np.int64)
    for row in range(amounts.shape[0]):
        for group in range(places.size):
            sums[row, uint64(places[group])] += amounts[row, group]
    return sums


@allocating
def members(owners: Ints, asked: Bools) -> tuple[Longs, Longs]:
    """The members of each group asked about, one group behind the other: starts, and members.

    `owners` tells for each member its group.
    """
    starts = np.zeros(asked.size + 1, np.int64)
    for owner in owners:
        starts[uint64(owner) + uint64(1)] += asked[uint64(owner)]
    for group in range(asked.size):
        starts[group + 1] += starts[group]
    free, order = starts[:-1].copy(), np.empty(starts[-1], np.int64)
    for member in range(owners.size):
        owner = uint64(owners[member])
        if asked[owner]:
            order[uint64(free[owner])] = member
            free[owner] += 1
    return starts, order


@allocating
def nearest_finer(kept: Ints, sizes: Longs, levels: Ints) -> int:
    """The smallest of some groupings, by their levels, none of which is above the given ones."""
    best = -1
    for place in range(sizes.size):
        if best >= 0 and sizes[place] >= sizes[best]:
            continue
        finer = True
        for attribute in range(levels.size):
            if kept[place, attribute] > levels[attribute]:
                finer = False
                break
        if finer:
            best = place
    return best


def room_for(words: int, size: int) -> Room:
    """Room for keys of so many groups and what is found of them, to roll up again and again."""
    narrow, wide = np.int32, np.int64
    raised, known = np.empty((words, size), wide), np.empty(size, wide)
    mixed = np.empty(size if words > 1 else 0, wide)
    firsts, places = np.empty(size, narrow), np.empty(size, narrow)
    return raised, known, mixed, np.empty(1 << _table_bits(size), narrow), firsts, places


@allocating
def roll_up(
    tuples: Ints,
    representatives: Ints,
    keys: Longs,
    amounts: Longs,
    shifts: Longs,
    attributes: Longs,
    words: Longs,
    old: Longs,
    new: Longs,
    sizes: Longs,
    anew: Longs,
    room: Room,
) -> tuple[Ints, Ints, Longs, Longs]:
    """Unite the groups that are equal after raising some attributes.

    Where a word is given for each of the keys in `anew`, attributes are added to these instead of
    to the keys. Returns for each group its place, which lies in the room, and for each place the
    representative, the key, and the sums of the amounts (rows x places).
    """
    size, bits = representatives.size, _table_bits(representatives.size)
    raised, known, mixed, owners, firsts, places = room
    for word in range(keys.shape[0]):
        for group in range(size):
            raised[word, group] = anew[word] if anew.size else keys[word, group]
    raise_keys(tuples, representatives, raised, shifts, attributes, words, old, new, sizes)
    own, places, owners = raised[0, :size], places[:size], owners[: 1 << bits]
    if keys.shape[0] > 1:
        own = mixed[:size]
    count = _number_words(raised, GOLDEN, 64 - bits, owners, known, firsts, places, own)
    new_keys = np.empty((keys.shape[0], count), np.int64)
    chosen = np.empty(count, np.int32)
    # written out: lists of places and slices take the compiler seconds
    for place in range(count):
        first = uint64(firsts[place])
        chosen[place] = representatives[first]
        for word in range(keys.shape[0]):
            new_keys[word, place] = raised[word, first]
    return places, chosen, new_keys, sum_groups(places, amounts, count)


@allocating
def merge_pairs(
    places: Ints, groups: Ints, values: Ints, counts: Any, groups_count: int, size: int
) -> tuple[Ints, Ints, Any]:
    """Roll up a histogram given as (group, value, count), values less than `size`.

    Pairs come out in the order of their first appearance, whatever the counts, which may be of
    people, in floats.
    """
    owners = np.full(1 << _table_bits(groups.size), -1, np.int32)
    known = np.empty(groups.size, np.int64)
    new_groups = np.empty(groups.size, np.int32)
    new_values = np.empty(groups.size, np.int32)
    new_counts = np.empty_like(counts)
    made = new_groups, new_values, new_counts
    direct = groups_count * size <= owners.size
    count = _merge(places, groups, values, counts, size, direct, owners, known, *made)
    return new_groups[:count].copy(), new_values[:count].copy(), new_counts[:count].copy()


@compiled
def _merge(
    places: Ints,
    groups: Ints,
    values: Ints,
    counts: Any,
    size: int,
    direct: bool,
    owners: Ints,
    known: Longs,
    new_groups: Ints,
    new_values: Ints,
    new_counts: Any,
) -> int:
    """Write pairs of united groups, as keys are numbered; how many there are."""
    last, count = uint64(owners.size - 1), 0
    factor = uint64(1) if direct else GOLDEN
    shift = uint64(0 if direct else 64 - _table_bits(groups.size))
    for pair in range(groups.size):
        group, value = places[uint64(groups[pair])], values[pair]
        key = group * size + value
        known[count], new_groups[count], new_values[count] = key, group, value
        new_counts[count] = 0
        slot = (uint64(key) * factor) >> shift
        owner = owners[slot]
        if owner < 0:
            owner = count
        while known[uint64(owner)] != key:
            slot = (slot + uint64(1)) & last
            owner = owners[slot]
            if owner < 0:
                owner = count
        owners[slot] = owner
        new_counts[uint64(owner)] += counts[pair]
        count += owner == count
    return count


@allocating
def attribute_totals(
    tuples: Ints,
    representatives: Ints,
    sizes: Longs,
    chosen: Bools,
    costs: Floats,
    starts: Longs,
) -> Floats:
    """For each attribute the sum of size times cost over the chosen groups.

    `costs` is laid out like `shifts`: `costs[starts[j] + tuples[j, i]]` is what one record of tuple
    i costs in attribute j at the chosen level.
    """
    totals, picked, count = np.zeros(starts.size), np.empty(chosen.size, np.int32), 0
    for group in range(chosen.size):
        # written down whether it is chosen or not: nothing is left to guess for the processor
        picked[count] = group
        count += chosen[group]
    # three sums at a time: each waits for its own last addition, and for no other
    for first in range(0, starts.size, 3):
        second, third = min(first + 1, starts.size - 1), min(first + 2, starts.size - 1)
        one, two, three = tuples[first], tuples[second], tuples[third]
        a, b, c = 0.0, 0.0, 0.0
        for turn in range(count):
            group = uint64(picked[turn])
            size, place = sizes[group], uint64(representatives[group])
            a += size * costs[uint64(starts[first] + one[place])]
            b += size * costs[uint64(starts[second] + two[place])]
            c += size * costs[uint64(starts[third] + three[place])]
        totals[third], totals[second], totals[first] = c, b, a
    return totals


@allocating
def two_largest(groups: Ints, counts: Longs, groups_count: int) -> tuple[Longs, Longs]:
    """The largest and second largest count of each group, 0 where there is none."""
    first = np.zeros(groups_count, np.int64)
    second = np.zeros(groups_count, np.int64)
    for pair in range(groups.size):
        group, count = groups[pair], counts[pair]
        if count > first[group]:
            second[group] = first[group]
            first[group] = count
        elif count > second[group]:
            second[group] = count
    return first, second
