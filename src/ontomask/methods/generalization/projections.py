"""What two columns alone exclude: records that are too few there are too few with more columns."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable

import numpy as np

from ontomask.arrays import Bools, Ints, Longs
from ontomask.kernels.blocks import side_by_side
from ontomask.kernels.groups import sum_groups
from ontomask.methods.generalization.problem import Problem

__all__ = ["possible_nodes"]

ROOMY = 4
"""Pairs of columns with more combinations than so many times the tuples are not looked at."""


def possible_nodes(problem: Problem, k: int, limit: int, *, shares: bool = False) -> Bools:
    """The nodes at which no two attributes alone have too many records in classes below k.

    Classes of two attributes hold those of all of them at the same levels, so that elsewhere too
    many records are suppressed, whatever the levels of the others are (the subset property of
    LeFevre et al. 2005). Along axes that nothing depends on the answer may have length 1. Where
    the table is large, pairs share the cores.
    """
    shape, count = [height + 1 for height in problem.heights], problem.tuples.columns.shape[1]
    rows, amounts = problem.tuples.columns, problem.tuples.amounts[:1]
    spans = [one.rows for one in problem.hierarchies]

    def work(pair: tuple[int, int]) -> Bools:
        one, other = (problem.hierarchies[place] for place in pair)
        keys = rows[pair[0]] * np.int32(other.rows) + rows[pair[1]]
        counts = sum_groups(keys, amounts, one.rows * other.rows)[0]
        cells = np.flatnonzero(counts)
        possible = _possible(one.levels, other.levels, cells, counts[cells], (k, limit))
        return possible.reshape([size if at in pair else 1 for at, size in enumerate(shape)])

    # where all may be suppressed nothing is excluded
    every = itertools.combinations(range(len(shape)), 2) if limit < problem.records else ()
    pairs = [(one, other) for one, other in every if spans[one] * spans[other] <= ROOMY * count]
    found = dict(zip(pairs, side_by_side(work, pairs, shares=shares), strict=True))
    return _all_of(
        _all_of(found[pair] for pair in pairs if pair[1] == last) for last in range(len(shape))
    )


def _all_of(some: Iterable[Bools]) -> Bools:
    """Where all hold; attribute after attribute, so that few steps are about all of them."""
    return functools.reduce(np.logical_and, some, np.array(True))


def _possible(one: Ints, other: Ints, cells: Longs, counts: Longs, asked: tuple[int, int]) -> Bools:
    """The levels of two attributes at which few enough fail, given the rows that occur together."""
    (k, limit), size = asked, other.shape[1]
    firsts, seconds = np.divmod(cells, size)
    possible, lowest = np.ones((len(one), len(other)), bool), len(other)
    if counts[counts < k].sum() <= limit:  # as they are, and so at all levels
        return possible
    for level, codes in enumerate(one):
        # fewer fail the higher both are
        while lowest:
            sizes = np.bincount(codes[firsts] * size + other[lowest - 1][seconds], counts)
            if sizes[sizes < k].sum() > limit:
                break
            lowest -= 1
        possible[level, :lowest] = False
    return possible
