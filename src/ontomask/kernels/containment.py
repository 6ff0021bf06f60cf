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

    def work(first: int, last: int) -> None:
        columns = (codes, own, sets, firsts, starts_of, holding, factors)
        told = np.zeros(count + 1)
        _cover(first, last, groups, starts, order, *columns, weights, told, found)

    in_blocks(work, groups.size, 1 + LEAST_PAIRS // max(1, weights.size))
    return found


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
    order: Longs,
    codes: Ints,
    own: Ints,
    sets: Ints,
    firsts: Longs,
    starts_of: Longs,
    holding: Longs,
    factors: Floats,
    weights: Floats,
    told: Floats,
    found: Floats,
) -> None:
    """Write what is found of some of the tuples; `told`, of all sets, is 0 before and after."""
    for one in range(first, last):
        group = groups[one]
        _tell(codes, one, firsts, starts_of, holding, factors, told, 1.0)
        for place in range(starts[group], starts[group + 1]):
            other = order[place]
            factor = weights[other]
            for attribute in range(codes.shape[0]):
                code = codes[attribute, one]
                chosen = sets[attribute, other]
                if chosen < 0:
                    factor *= 1.0 if own[attribute, other] == code else 0.0
                else:
                    factor *= told[chosen]
                if factor == 0.0:
                    break
            found[one] += factor
        _tell(codes, one, firsts, starts_of, holding, factors, told, 0.0)
