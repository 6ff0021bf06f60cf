"""What two columns alone exclude: records that are too few there are too few with more columns."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable

import numpy as np

from ontomask.arrays import Bools
from ontomask.kernels.blocks import side_by_side
from ontomask.kernels.projections import lowest_levels
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
    rows, amounts = problem.tuples.columns, problem.tuples.amounts[0]
    levels = [one.levels for one in problem.hierarchies]
    spans = [one.rows for one in problem.hierarchies]

    def work(pair: tuple[int, int]) -> Bools:
        one, other = pair
        asked = rows[one], rows[other], amounts, levels[one], levels[other], k, limit
        possible: Bools = np.arange(shape[other]) >= lowest_levels(*asked)[:, None]
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
