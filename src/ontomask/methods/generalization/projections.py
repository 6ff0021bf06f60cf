"""What two columns alone exclude: records that are too few there are too few with more columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.methods.generalization.problem import Problem

__all__ = ["possible_pairs"]

ROOMY = 4
"""Pairs of columns with more combinations than so many times the tuples are not looked at."""


def possible_pairs(problem: Problem, k: int, limit: int) -> Iterator[Bools]:
    """For pairs of attributes the levels at which at most so many records are in classes below k.

    Classes of two attributes hold those of all of them at the same levels, so that at other levels
    too many records are suppressed, whatever the levels of the others are (the subset property of
    LeFevre et al. 2005). Along the axes of the others an answer has length 1.
    """
    attributes, amounts = range(len(problem.heights)), problem.tuples.amounts[0].astype(np.float64)
    rows, keys = problem.tuples.rows.T.astype(np.int64), np.empty(len(amounts), np.int64)
    for pair in itertools.combinations(attributes, 2):
        one, other = (problem.hierarchies[place] for place in pair)
        # where all may be suppressed nothing is excluded
        if limit >= problem.records or one.rows * other.rows > ROOMY * len(amounts):
            continue
        np.multiply(rows[pair[0]], other.rows, out=keys)
        np.add(keys, rows[pair[1]], out=keys)
        counts = np.bincount(keys, amounts).astype(np.float64)
        cells = np.flatnonzero(counts)
        possible = _possible(one.levels, other.levels, cells, counts[cells], (k, limit))
        if not possible.all():
            shape = [problem.heights[place] + 1 if place in pair else 1 for place in attributes]
            yield possible.reshape(shape)


def _possible(
    one: Ints, other: Ints, cells: Longs, counts: Floats, asked: tuple[int, int]
) -> Bools:
    """The levels of two attributes at which few enough fail, given the rows that occur together."""
    (k, limit), size = asked, other.shape[1]
    firsts, seconds = np.divmod(cells, size)
    possible, lowest = np.ones((len(one), len(other)), bool), len(other)
    for level, codes in enumerate(one):
        # fewer fail the higher both are
        while lowest:
            sizes = np.bincount(codes[firsts] * size + other[lowest - 1][seconds], counts)
            if sizes[sizes < k].sum() > limit:
                break
            lowest -= 1
        possible[level, :lowest] = False
    return possible
