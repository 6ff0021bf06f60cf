"""Earth mover's distances of the sensitive values of classes from those of the whole table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.errors import ParameterError
from ontomask.kernels.groups import merge_pairs
from ontomask.kernels.transport import tree_costs
from ontomask.privacy.classes import Classes, Domain, Histogram

__all__ = ["ROUNDING", "GoesOn", "always", "are_close"]

ROUNDING = 1e-12
"""Distances that exceed a threshold by less than this are equal to it."""

BLOCK = 2**18
"""So many cells of class times value are worked on at a time."""

GoesOn = Callable[[int], bool]
"""Told how many records have failed so far, says whether the rest matters; it may raise."""


def always(failed: int) -> bool:  # noqa: ARG001
    """Go on whatever has failed."""
    return True


def are_close(
    classes: Classes, histogram: Histogram, ground: str, t: float, goes_on: GoesOn = always
) -> Bools:
    """For each class whether its distribution p is at most t away from q, the table's.

    Large classes are looked at first. Now and then `goes_on` is asked with the number of records
    that have failed; if it says no, the classes that are left count as failing.
    """
    if ground in _DISTANCES:
        return np.asarray(_DISTANCES[ground](classes, histogram) <= t + ROUNDING)
    close, failed = np.zeros(len(classes), bool), 0
    for block, excess in _excesses(classes, histogram):
        close[block] = _CLOSE[ground](excess, histogram.domain, t)
        failed += int(classes.sizes[block][~close[block]].sum())
        if not goes_on(failed):
            break
    return close


def _equal(classes: Classes, histogram: Histogram) -> Floats:
    """1/2 sum |p - q|."""
    shares = classes.shares(histogram)
    return _differing(classes, histogram.classes, histogram.values, shares, histogram.domain.shares)


def _differing(
    classes: Classes, owners: Ints, values: Ints, shares: Floats, expected: Floats
) -> Floats:
    """Half the sum of |p - q| per class; values that are not in the class contribute q."""
    q = expected[values]
    differences = np.bincount(owners, np.abs(shares - q) - q, len(classes))
    return np.asarray(0.5 * (differences + 1.0), np.float64)


def _hierarchical(classes: Classes, histogram: Histogram) -> Floats:
    """What must pass each link of the tree, times its length.

    Two values whose lowest common generalization is at level l of h are l / h apart: as far as the
    way between them if every link from a level to the next has length 1 / 2h. What passes the links
    above a level is what differs there, so this is the mean of the levels' equal distances, and
    only values that occur in a class need to be looked at.
    """
    levels = _rooted(histogram.domain)
    shares, every = classes.shares(histogram), np.arange(len(classes), dtype=np.int32)
    total = np.zeros(len(classes))
    for codes in levels[:-1]:
        expected = np.bincount(codes, histogram.domain.shares).astype(np.float64)
        pairs = histogram.classes, codes[histogram.values], shares
        owners, values, united = merge_pairs(every, *pairs, len(classes), expected.size)
        total += _differing(classes, owners, values, united, expected)
    return np.asarray(total / max(1, len(levels) - 1), np.float64)


def _rooted(domain: Domain) -> Ints:
    """The levels of a hierarchy, which must end in one value for all."""
    if domain.levels is None:
        raise ParameterError(
            "The hierarchical ground distance needs a sensitive column with a hierarchy."
        )
    if (domain.levels[-1] != domain.levels[-1][0]).any():
        raise ParameterError(
            "The hierarchical ground distance needs a hierarchy that ends in one value for all; "
            "add a last level to the hierarchy of the sensitive column."
        )
    return domain.levels


def _excesses(classes: Classes, histogram: Histogram) -> Iterator[tuple[Longs, Floats]]:
    """Yield p - q for blocks of classes, one row per class, one column per value."""
    step = max(1, BLOCK // histogram.domain.size)
    shares = classes.shares(histogram)
    # the failure of a large class settles soonest that too many records fail
    by_size = np.argsort(-classes.sizes, kind="stable")
    ranks = np.empty(len(classes), np.int64)
    ranks[by_size] = np.arange(len(classes))
    owners = ranks[histogram.classes]
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(0, len(classes) + step, step))
    for place, start in enumerate(range(0, len(classes), step)):
        block = by_size[start : start + step]
        pairs = order[starts[place] : starts[place + 1]]
        excess = np.zeros((block.size, histogram.domain.size))
        excess[owners[pairs] - start, histogram.values[pairs]] = shares[pairs]
        yield block, excess - histogram.domain.shares


def _close_in_order(excess: Floats, domain: Domain, t: float) -> Bools:
    """Sum over i of |sum of p_j - q_j for j <= i|, over d - 1, at most t."""
    passing = np.abs(np.cumsum(excess, axis=1)).sum(axis=1)
    return np.asarray(passing / max(domain.size - 1, 1) <= t + ROUNDING)


def _close_in_meaning(excess: Floats, domain: Domain, t: float) -> Bools:
    """Decide by trees with nowhere larger, or nowhere smaller, distances where that suffices."""
    ground = domain.distances
    if ground is None:
        raise ParameterError(
            "The semantic ground distance needs a sensitive column with a taxonomy."
        )
    # over the one tree no two values are nearer than they are, over the other none farther: what
    # the first finds close is close, what the second finds apart is apart, and few are in between
    close = np.asarray(tree_costs(excess, *ground.tree("complete")) <= t + ROUNDING)
    unclear = tree_costs(excess, *ground.tree("single")) <= t + ROUNDING
    for row in np.flatnonzero(unclear & ~close).tolist():
        close[row] = ground.least_cost(excess[row], t + ROUNDING) <= t + ROUNDING
    return close


_DISTANCES = {"equal": _equal, "hierarchical": _hierarchical}
"""Grounds of which the values that occur in a class tell all."""

_CLOSE = {"ordered": _close_in_order, "semantic": _close_in_meaning}
"""Grounds for which every value counts."""
