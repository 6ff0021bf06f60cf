"""Which masked tuples an original tuple lies in, where released values stand for several."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import in_blocks
from ontomask.kernels.compiling import compiled

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
    tables: Floats,
    table_starts: Longs,
    widths: Longs,
    weights: Floats,
) -> Floats:
    """For each original tuple the weight of the masked tuples of its group that it lies in.

    Tuple x lies in T with the product over attributes of a factor: 1 or 0 where T has a single
    value (`own`), else the entry of x and of T's set in the attribute's table. The masked tuples of
    group g are ``order[starts[g]:starts[g + 1]]``.
    """
    found = np.zeros(groups.size, np.float64)

    def work(first: int, last: int) -> None:
        columns = (codes, own, sets, tables, table_starts, widths)
        _cover(first, last, groups, starts, order, *columns, weights, found)

    in_blocks(work, groups.size, 1 + LEAST_PAIRS // max(1, weights.size))
    return found


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
    tables: Floats,
    table_starts: Longs,
    widths: Longs,
    weights: Floats,
    found: Floats,
) -> None:
    for one in range(first, last):
        group = groups[one]
        for place in range(starts[group], starts[group + 1]):
            other = order[place]
            factor = weights[other]
            for attribute in range(codes.shape[0]):
                code = codes[attribute, one]
                chosen = sets[attribute, other]
                if chosen < 0:
                    factor *= 1.0 if own[attribute, other] == code else 0.0
                else:
                    row = table_starts[attribute] + code * widths[attribute]
                    factor *= tables[row + chosen]
                if factor == 0.0:
                    break
            found[one] += factor
