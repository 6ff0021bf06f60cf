"""Unite small groups with others at their lowest common generalization, cheapest first."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Bools, Ints, Longs
from ontomask.kernels.compiling import allocating, compiled, part

__all__ = ["merge_smallest"]


@compiled
def _meeting_level(
    codes: Ints, start: int, rows: int, height: int, first: int, second: int, level: int
) -> int:
    """The lowest level, from `level` on, at which two rows have the same code; -1 if none."""
    while level <= height:
        begin = start + level * rows
        if codes[begin + first] == codes[begin + second]:
            return level
        level += 1
    return -1


@part
def _merger_steps(
    tuples: Ints,
    levels: Ints,
    sizes: Longs,
    codes: Ints,
    steps: Ints,
    starts: Longs,
    rows: Longs,
    heights: Longs,
    group: int,
    partner: int,
    most: int,
) -> int:
    """Generalization steps times records when two groups meet; -1 if more than `most`, or never."""
    total = 0
    for attribute in range(starts.size):
        start, count = starts[attribute], rows[attribute]
        first, second = tuples[group, attribute], tuples[partner, attribute]
        own_level, partner_level = levels[group, attribute], levels[partner, attribute]
        level = _meeting_level(
            codes, start, count, heights[attribute], first, second, max(own_level, partner_level)
        )
        if level < 0:
            return -1
        top = start + level * count
        own_steps = steps[top + first] - steps[start + own_level * count + first]
        partner_steps = steps[top + second] - steps[start + partner_level * count + second]
        total += sizes[group] * own_steps + sizes[partner] * partner_steps
        # steps only add up: a merger that is dearer than the best so far stays so
        if total > most:
            return -1
    return total


@compiled
def _merge(
    tuples: Ints,
    levels: Ints,
    sizes: Longs,
    codes: Ints,
    steps: Ints,
    starts: Longs,
    rows: Longs,
    heights: Longs,
    persons: Longs,
    k: int,
    signal: Longs,
    owners: Ints,
    alive: Bools,
    counted: Longs,
    after: Longs,
    marks: Longs,
) -> None:
    """Write which group each one was united with."""
    count = sizes.size
    while signal[1] == 0:
        smallest = -1
        for group in range(count):
            small = alive[group] and counted[group] < k
            # of equals the first, so that the result does not depend on chance
            if small and (smallest < 0 or counted[group] < counted[smallest]):
                smallest = group
        if smallest < 0:
            break
        partner, least = -1, 2**62
        for group in range(count):
            if alive[group] and group != smallest:
                cost = _merger_steps(
                    tuples,
                    levels,
                    sizes,
                    codes,
                    steps,
                    starts,
                    rows,
                    heights,
                    smallest,
                    group,
                    least - 1,
                )
                if cost >= 0:
                    partner, least = group, cost
        if partner < 0:
            break
        _unite(tuples, levels, sizes, codes, starts, rows, heights, partner, smallest)
        alive[smallest] = False
        owners[smallest] = partner
        after[partner], after[smallest] = after[smallest], after[partner]
        counted[partner] = sizes[partner]
        if persons.size:
            counted[partner] = _persons(persons, after, partner, marks, signal[0])
        signal[0] += 1


def merge_smallest(
    tuples: Ints,
    levels: Ints,
    sizes: Longs,
    codes: Ints,
    steps: Ints,
    starts: Longs,
    rows: Longs,
    heights: Longs,
    persons: Longs,
    k: int,
    signal: Longs,
) -> Ints:
    """Unite the smallest group below k with its cheapest partner until there is none.

    `tuples` (groups x attributes) are the rows of each group's first tuple, `levels` its levels,
    changed in place like `sizes`; `codes` and `steps` are flat tables over levels and rows. k
    counts records or, where `persons` says whose they are as `owners` do in `units`, persons. Ties:
    the first group. Returns for each group the one it ended in. `signal[0]` counts mergers, and
    setting `signal[1]` stops.
    """
    count = sizes.size
    owners = np.arange(count, dtype=np.int32)
    # what k counts, the ring of the tuples of each group, and marks of the units counted last
    counted, after = sizes.copy(), np.arange(count)
    if persons.size:
        counted = np.diff(persons[: count + 1])
    marks = np.full(int(persons[count + 1 :].max(initial=-1)) + 1, -1)
    given = tuples, levels, sizes, codes, steps, starts, rows, heights, persons, k, signal
    _merge(*given, owners, np.ones(count, np.bool_), counted, after, marks)
    return np.asarray(_followed(owners), np.int32)


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
    tuples: Ints,
    levels: Ints,
    sizes: Longs,
    codes: Ints,
    starts: Longs,
    rows: Longs,
    heights: Longs,
    into: int,
    gone: int,
) -> None:
    for attribute in range(starts.size):
        first, second = tuples[into, attribute], tuples[gone, attribute]
        level = max(levels[into, attribute], levels[gone, attribute])
        levels[into, attribute] = _meeting_level(
            codes, starts[attribute], rows[attribute], heights[attribute], first, second, level
        )
    sizes[into] += sizes[gone]


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
