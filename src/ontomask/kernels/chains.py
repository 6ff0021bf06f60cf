"""Values of a taxonomy that is a tree along the chains of their ancestors: how many stand where.

How far two concepts are apart follows from the *kinds* of both and from how many ancestors they
share (`formulas`, SHARED). In a tree, those that share so many with a concept are below one of its
ancestors and not below the next. So all values lie on as many *steps* around a concept as there are
kinds times ancestors, and what weighs on each is the difference of two sums: nobody need look at
all pairs.

Every ancestor, or *branch*, has a list for each kind: the values of that kind below it, by number.
Who has no ancestors, as the missing value, is below the *trunk* alone, where every chain begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ontomask.arithmetic import summed_rows
from ontomask.arrays import Floats, Ints, Longs, offsets_of, ranges
from ontomask.kernels.compiling import compiled, whole
from ontomask.kernels.formulas import SHARED, Formula, is_tree, with_unknown

__all__ = [
    "MOST_LISTS",
    "Chains",
    "amounts_around",
    "chained_sums",
    "chains_of",
    "drawn_along",
    "drawn_near",
    "farthest_along",
    "laid_along",
    "widths_along",
]

MOST_LISTS = 2**23
"""So many lists are made, at most: there are as many as branches times kinds."""
AT_ONCE = 2**20
"""So many amounts are held at a time."""
RARE = 8
"""There are steps so many times fewer than values; else it is quicker to look at these."""


class Chains(NamedTuple):
    """Values by branch and kind. A list has the number of its branch's first plus its kind."""

    offsets: Longs
    """[n + 1] where the chain of a value starts: its branches from the trunk to itself."""
    lists: Longs
    """[chains] the first list of each."""
    spots: Longs
    """[chains] where the value is in the list of its kind."""
    kinds: Longs
    """[n] the kind of each value."""
    starts: Longs
    """[lists + 1] where each list starts."""
    values: Longs
    """The values of all lists, ascending in each."""
    reached: Floats
    """[kinds, kinds * width] distances by both kinds and the number of shared ancestors."""
    width: int


def chains_of(formula: Formula) -> Chains | None:
    """The chains of values, if these are those of a tree and steps are few; else None."""
    if formula.way != SHARED or not is_tree(formula):
        return None
    formula = with_unknown(formula)
    sizes, kinds, reached = np.diff(formula.offsets), formula.profiles, formula.curve[0].copy()
    count, branches = len(reached), formula.depths.size + 1
    # who has no ancestors, of whom there is one, is nearest to itself
    reached[-1, -1, 0] = 0.0
    many = count * formula.width * RARE > sizes.size or branches * count > MOST_LISTS
    if many or (sizes == 0).sum() > 1 or (reached[kinds, kinds, sizes] != 0.0).any():
        return None
    return laid_along(formula.members, sizes, kinds, branches, reached)


def laid_along(members: Longs, sizes: Longs, kinds: Longs, size: int, reached: Floats) -> Chains:
    """Lay out chains and lists; branch 0 of `size` branches is the trunk."""
    count, width = len(reached), reached.shape[2]
    offsets = np.append(0, np.cumsum(sizes + 1))
    branches = np.zeros(int(offsets[-1]), np.int64)
    branches[ranges(offsets[:-1] + 1, sizes)] = members + 1
    owners = np.repeat(np.arange(sizes.size), sizes + 1)
    lists = branches * count
    of_kind = lists + kinds[owners]
    starts = offsets_of(of_kind, size * count)
    by_list = np.argsort(of_kind, kind="stable")
    spots = np.empty_like(by_list)
    spots[by_list] = np.arange(by_list.size) - starts[of_kind[by_list]]
    flat = reached.reshape(count, -1)
    return Chains(offsets, lists, spots, kinds, starts, owners[by_list], flat, width)


def amounts_around(chains: Chains, weights: Floats) -> Iterator[tuple[slice, Floats]]:
    """For some values at a time, what all of a weight that stand on each step around them weigh."""
    count, width = len(chains.reached), chains.width
    lengths = np.diff(chains.offsets)
    owners = np.repeat(np.arange(chains.kinds.size), lengths)
    of_kind = chains.lists + chains.kinds[owners]
    below = np.bincount(of_kind, weights[owners], chains.starts.size - 1).reshape(-1, count)
    together = max(1, AT_ONCE // (count * width))
    for start in range(0, lengths.size, together):
        block = slice(start, start + together)
        sizes = lengths[block]
        slots = slice(chains.offsets[start], chains.offsets[start + sizes.size])
        found = np.zeros((sizes.size, width, count))
        spots = ranges(np.zeros_like(sizes), sizes)
        found[np.repeat(np.arange(sizes.size), sizes), spots] = below[chains.lists[slots] // count]
        # below one ancestor and not below the next
        found[:, :-1] -= found[:, 1:].copy()
        yield block, found.transpose(0, 2, 1).reshape(sizes.size, -1)


def chained_sums(chains: Chains, weights: Floats, power: int = 1) -> Floats:
    """For each value the weighted sum of its distances, raised to a power, to all values."""
    sums = np.empty(chains.kinds.size)
    reached = chains.reached if power == 1 else chains.reached**2
    for block, amounts in amounts_around(chains, weights):
        amounts *= reached[chains.kinds[block]]
        sums[block] = summed_rows(amounts, np.ones(amounts.shape[1]))
    # weights that are no whole numbers leave a rest when one is taken from another
    return np.maximum(sums, 0.0)


def farthest_along(chains: Chains) -> float:
    """The largest distance of two values."""
    return max(
        float(chains.reached[chains.kinds[block]][amounts > 0.0].max(initial=0.0))
        for block, amounts in amounts_around(chains, np.ones(chains.kinds.size))
    )


# Draws --------------------------------------------------------------------------------------------


@compiled
def _distance(chains: Chains, value: int, other: int) -> float:
    """The distance of two values."""
    first, second = chains.offsets[value], chains.offsets[other]
    most = min(chains.offsets[value + 1] - first, chains.offsets[other + 1] - second)
    shared = whole(1)
    while shared < most and chains.lists[first + shared] == chains.lists[second + shared]:
        shared += 1
    # the trunk is nobody's ancestor
    place = chains.kinds[other] * chains.width + shared - 1
    return float(chains.reached[chains.kinds[value], place])


@compiled
def _before(values: Longs, low: int, high: int, number: int) -> int:
    """The first place from one to another behind the values up to a number."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= number:
            low = middle + 1
        else:
            high = middle
    return whole(low)


@compiled
def _passed(
    chains: Chains, value: int, number: int, shares: Floats, bounds: Longs, found: Longs
) -> float:
    """What the values up to a number have on all steps around a value, each step by its share.

    `bounds` holds, for each list along the chain, from where and up to where its first value behind
    the number is to be looked for; `found` is told where it is.
    """
    kinds, first = chains.reached.shape[0], chains.offsets[value]
    total, length = 0.0, chains.offsets[value + 1] - first
    for kind in range(kinds):
        deeper = whole(0)
        for slot in range(length - 1, -1, -1):
            one, place = chains.lists[first + slot] + kind, kind * chains.width + slot
            found[place] = _before(chains.values, bounds[0, place], bounds[1, place], number)
            here = found[place] - chains.starts[one]
            if here > deeper:
                total += shares[place] * (here - deeper)
            deeper = here
    return total


@compiled
def _select(
    chains: Chains,
    value: int,
    target: float,
    shares: Floats,
    bounds: Longs,
    found: Longs,
    sums: Floats,
) -> int:
    """The first value up to which all have more than a target; `sums`: before it, and with it."""
    first, low, high = chains.offsets[value], whole(0), whole(chains.kinds.size - 1)
    for kind in range(chains.reached.shape[0]):
        for slot in range(chains.offsets[value + 1] - first):
            one, place = chains.lists[first + slot] + kind, kind * chains.width + slot
            bounds[0, place], bounds[1, place] = chains.starts[one], chains.starts[one + 1]
    while low < high:
        middle = (low + high) // 2
        total = _passed(chains, value, middle, shares, bounds, found)
        side = whole(1 if total > target else 0)
        sums[side] = total
        for place in range(found.size):
            bounds[side, place] = found[place]
        if side == 1:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def _draw_along(
    chains: Chains,
    codes: Ints,
    first: int,
    shares: Floats,
    totals: Floats,
    uniforms: Floats,
    bounds: Longs,
    found: Longs,
    sums: Floats,
    drawn: Ints,
    apart: Floats,
) -> None:
    for record in range(codes.size):
        row = codes[record] - first
        target = uniforms[record] * totals[row]
        sums[0], sums[1] = 0.0, totals[row]
        given = shares[row], bounds, found, sums
        drawn[record] = _select(chains, whole(codes[record]), target, *given)
        apart[record] = min(target - sums[0], sums[1] - target)


def drawn_along(
    chains: Chains, codes: Ints, first: int, shares: Floats, totals: Floats, uniforms: Floats
) -> tuple[Ints, Floats]:
    """For records of some values, the value where a share of all that they may become lies.

    Also how far that is from where another value begins.

    Parameters
    ----------
    codes, first
        The values of the records, and the first of those that `shares` has rows for.
    shares, totals
        What a value has on each step around each of these, and what all have together.
    uniforms
        The shares of the whole, one for each record.
    """
    drawn, apart = np.empty(codes.size, np.int32), np.empty(codes.size)
    _draw_along(chains, codes, first, shares, totals, uniforms, *_room(chains), drawn, apart)
    return drawn, apart


def _room(chains: Chains) -> tuple[Longs, Longs, Floats]:
    """Bounds, places and sums of a search."""
    steps = chains.reached.shape[1]
    return np.zeros((2, steps), np.int64), np.zeros(steps, np.int64), np.zeros(2)


@compiled
def _widen(chains: Chains, codes: Ints, offsets: Longs, members: Longs, widths: Floats) -> None:
    for cluster in range(offsets.size - 1):
        for slot in range(offsets[cluster], offsets[cluster + 1]):
            own, widest = whole(codes[members[slot]]), 0.0
            for other in range(offsets[cluster], offsets[cluster + 1]):
                widest = max(widest, _distance(chains, own, whole(codes[members[other]])))
            widths[members[slot]] = widest


def widths_along(chains: Chains, codes: Ints, offsets: Longs, members: Longs) -> Floats:
    """What `windows.window_widths` finds, without a table of distances."""
    widths = np.zeros(codes.size)
    _widen(chains, codes, offsets, members, widths)
    return widths


@compiled
def _draw_near(
    chains: Chains,
    codes: Ints,
    first: int,
    widths: Floats,
    amounts: Floats,
    order: Longs,
    uniforms: Floats,
    shares: Floats,
    bounds: Longs,
    found: Longs,
    sums: Floats,
    drawn: Ints,
) -> None:
    for record in range(codes.size):
        value = whole(codes[record])
        kind, here = chains.kinds[value], amounts[codes[record] - first]
        reached, near = chains.reached[kind], whole(0)
        for place in range(reached.size):
            if reached[place] <= widths[record]:
                near += whole(here[place])
        position, rank, nearer = min(whole(uniforms[record] * near), near - 1), whole(0), whole(0)
        while True:
            step, distance = whole(0), reached[order[kind, rank]]
            for place in range(shares.size):
                shares[place] = 0.0
            while rank < reached.size and reached[order[kind, rank]] == distance:
                at = order[kind, rank]
                step, shares[at], rank = step + whole(here[at]), 1.0, rank + 1
            if nearer + step > position:
                break
            nearer += step
        target = float(position - nearer)
        drawn[record] = _select(chains, value, target, shares, bounds, found, sums)


def drawn_near(
    chains: Chains, codes: Ints, first: int, widths: Floats, amounts: Floats, uniforms: Floats
) -> Ints:
    """What `windows.draw_near` draws, without a table of distances.

    `amounts` says how many values there are on each step around those from the first on.
    """
    drawn, order = np.empty(codes.size, np.int32), np.argsort(chains.reached, axis=1, kind="stable")
    given = codes, first, widths, amounts, order, uniforms, np.zeros(chains.reached.shape[1])
    _draw_near(chains, *given, *_room(chains), drawn)
    return drawn
