"""Which masked tuples an original tuple lies in, where released values stand for several."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import in_blocks
from ontomask.kernels.compiling import compiled, part

__all__ = ["covered"]

LEAST_PAIRS = 20_000
"""Pairs of tuples that are enough work for one more thread."""


def covered(
    groups: Longs,
    starts: Longs,
    order: Longs,
    codes: Ints,
    own: Ints,
    sets: Ints,
    firsts: Longs,
    starts_of: Longs,
    holding: Longs,
    factors: Floats,
    weights: Floats,
) -> Floats:
    """For each original tuple the weight of the masked tuples of its group that it lies in.

    Tuple x lies in T with the product over attributes of a factor: 1 or 0 where T has a single
    value (`own`), else that of x and of T's set, 0 if it does not hold x. The masked tuples of
    group g are ``order[starts[g]:starts[g + 1]]``. The sets that hold code c of an attribute are
    `holding`, with their `factors`, from ``starts_of[firsts[attribute] + c]`` on; sets of all
    attributes have numbers of their own.
    """
    found, count = np.zeros(groups.size, np.float64), int(holding.max(initial=sets.max(initial=0)))
    masked = own[:, order], sets[:, order]
    ends = _ends(*masked, starts)

    def work(first: int, last: int) -> None:
        columns = (codes, *masked, ends, firsts, starts_of, holding, factors)
        told = np.zeros(count + 1)
        _cover(first, last, groups, starts, *columns, weights[order], told, found)

    in_blocks(work, groups.size, 1 + LEAST_PAIRS // max(1, weights.size))
    return found


def _ends(own: Ints, sets: Ints, starts: Longs) -> Ints:
    """For each attribute and masked tuple, where those end that are equal up to the attribute.

    Tuples of a group are ordered by their codes, so equal ones lie together.
    """
    ends, begins = np.empty(sets.shape, np.int32), np.zeros(sets.shape[1] + 1, bool)
    begins[starts] = begins[-1] = True
    for attribute, values in enumerate(zip(own, sets, strict=True)):
        for one in values:
            begins[1:-1] |= one[1:] != one[:-1]
        places = np.flatnonzero(begins)
        ends[attribute] = np.repeat(places[1:], np.diff(places))
    return ends


@part
def _tell(
    codes: Ints,
    one: int,
    firsts: Longs,
    starts_of: Longs,
    holding: Longs,
    factors: Floats,
    told: Floats,
    share: float,
) -> None:
    """Write the factors of an original tuple, times a share, at the sets that hold its values."""
    for attribute in range(codes.shape[0]):
        row = firsts[attribute] + codes[attribute, one]
        for slot in range(starts_of[row], starts_of[row + 1]):
            told[holding[slot]] = share * factors[slot]


@compiled
def _cover(
    first: int,
    last: int,
    groups: Longs,
    starts: Longs,
    codes: Ints,
    own: Ints,
    sets: Ints,
    ends: Ints,
    firsts: Longs,
    starts_of: Longs,
    holding: Longs,
    factors: Floats,
    weights: Floats,
    told: Floats,
    found: Floats,
) -> None:
    """Write what is found of some of the tuples; `told`, of all sets, is 0 before and after.

    Masked tuples are in the order of their groups.
    """
    for one in range(first, last):
        group = groups[one]
        _tell(codes, one, firsts, starts_of, holding, factors, told, 1.0)
        place = starts[group]
        while place < starts[group + 1]:
            factor, following = weights[place], place + 1
            for attribute in range(codes.shape[0]):
                chosen = sets[attribute, place]
                if chosen < 0:
                    share = 1.0 if own[attribute, place] == codes[attribute, one] else 0.0
                else:
                    share = told[chosen]
                factor *= share
                # it does not lie in those either that are equal so far
                if share == 0.0:
                    following = np.int64(ends[attribute, place])
                    break
            found[one] += factor
            place = following
        _tell(codes, one, firsts, starts_of, holding, factors, told, 0.0)
