"""Earth mover's distances of the sensitive values of classes from those of the whole table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.errors import ParameterError
from ontomask.kernels.closeness import kept_at_most
from ontomask.kernels.groups import members
from ontomask.kernels.transport import tree_costs
from ontomask.privacy.classes import Classes, Domain, Histogram, Levels

__all__ = ["ROUNDING", "GoesOn", "Judged", "always", "judge_closeness"]

ROUNDING = 1e-12
"""Distances that exceed a threshold by less than this are equal to it."""

SLACK = 1e-9
"""Bounds on what could stay allow this much more, so that rounding cannot make them too low."""

BLOCK = 2**18
"""So many cells of class times value are worked on at a time."""

GoesOn = Callable[[int], bool]
"""Told how many records have failed so far, says whether the rest matters; it may raise."""

Judged = tuple[Bools, Longs]
"""For each class whether it satisfies a model, and how many of its records finer ones could hold.

No classes of finer levels that satisfy the model hold more records of it than that.
"""


def always(failed: int) -> bool:  # noqa: ARG001
    """Go on whatever has failed."""
    return True


def judge_closeness(
    classes: Classes,
    histogram: Histogram,
    ground: str,
    t: float,
    asked: Bools,
    goes_on: GoesOn = always,
) -> Judged:
    """For each class asked about whether its distribution p is at most t away from q, the table's.

    Large classes are looked at first. Now and then `goes_on` is asked with the number of records
    that have failed; if it says no, the classes that are left count as failing.
    """
    if ground in _LEVELS:
        return _judged_by_levels(classes, histogram, _LEVELS[ground](histogram.domain), t, asked)
    farthest = _FARTHEST[ground](histogram.domain)
    close, most, failed = ~asked, classes.sizes.copy(), 0
    for block, excess in _excesses(classes, histogram, asked):
        close[block], least = _CLOSE[ground](excess, histogram.domain, t)
        if histogram.people is None:
            most[block] = _most(classes.sizes[block], least, farthest, t)
        failed += int(classes.sizes[block][~close[block]].sum())
        if not goes_on(failed):
            break
    return close, most


def _most(sizes: Longs, least: Floats, farthest: float, t: float) -> Longs:
    """How many records could stay of classes that are at least so far away.

    A distance is no more than the mean of those of the parts: with X of n records at most t away,
    n times the distance is at most t X and for each of the others the greatest distance there is.
    """
    beyond = least - t - SLACK
    lost = np.ceil(sizes * beyond / max(farthest - t, SLACK) - SLACK)
    most: Longs = np.where(beyond > 0, np.maximum(sizes - lost, 0), sizes).astype(np.int64)
    return most


def _judged_by_levels(
    classes: Classes, histogram: Histogram, levels: Levels, t: float, asked: Bools
) -> Judged:
    """The mean over levels of the equal distance 1/2 sum |p - q| of what values are there.

    Two values whose lowest common generalization is at level l of h are l / h apart: as far as the
    way between them if every link from a level to the next has length 1 / 2h. What passes the links
    above a level is what differs there, so a hierarchical distance is the mean of equal ones, and
    only values that occur in a class need to be looked at.
    """
    codes, shares = levels
    if not len(codes):
        return np.ones(len(classes), bool), classes.sizes
    starts, order = members(histogram.classes, asked)
    counts = histogram.counts if histogram.people is None else histogram.people
    given = starts, order, histogram.values, counts, codes, shares
    close, most = kept_at_most(*given, t + ROUNDING)
    stays = np.floor(most).astype(np.int64) if histogram.people is None else classes.sizes
    return close, np.where(asked, stays, classes.sizes)


def _values(domain: Domain) -> Levels:
    return domain.values


def _rooted(domain: Domain) -> Levels:
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
    return domain.below_root


def _excesses(
    classes: Classes, histogram: Histogram, asked: Bools
) -> Iterator[tuple[Longs, Floats]]:
    """Yield p - q for blocks of classes, one row per class asked about, one column per value."""
    step = max(1, BLOCK // histogram.domain.size)
    shares = classes.shares(histogram)
    # the failure of a large class settles soonest that too many records fail
    by_size = np.flatnonzero(asked)
    by_size = by_size[np.argsort(-classes.sizes[by_size], kind="stable")]
    # those that are not asked about come last
    ranks = np.full(len(classes), by_size.size, np.int64)
    ranks[by_size] = np.arange(by_size.size)
    owners = ranks[histogram.classes].astype(np.int32)
    starts, order = members(owners, np.arange(by_size.size + 1) < by_size.size)
    for start in range(0, by_size.size, step):
        block = by_size[start : start + step]
        pairs = order[starts[start] : starts[start + block.size]]
        excess = np.zeros((block.size, histogram.domain.size))
        excess[owners[pairs] - start, histogram.values[pairs]] = shares[pairs]
        yield block, excess - histogram.domain.shares


def _close_in_order(excess: Floats, domain: Domain, t: float) -> tuple[Bools, Floats]:
    """Sum over i of |sum of p_j - q_j for j <= i|, over d - 1, at most t; and how much it is."""
    passing = np.abs(np.cumsum(excess, axis=1)).sum(axis=1) / max(domain.size - 1, 1)
    return passing <= t + ROUNDING, passing


def _close_in_meaning(excess: Floats, domain: Domain, t: float) -> tuple[Bools, Floats]:
    """Decide by trees with nowhere larger, or nowhere smaller, distances where that suffices."""
    ground = domain.distances
    if ground is None:
        raise ParameterError(
            "The semantic ground distance needs a sensitive column with a taxonomy."
        )
    # over the one tree no two values are nearer than they are, over the other none farther: what
    # the first finds close is close, what the second finds apart is apart, and few are in between
    close = np.asarray(tree_costs(excess, *ground.tree("complete")) <= t + ROUNDING)
    least = tree_costs(excess, *ground.tree("single"))
    for row in np.flatnonzero((least <= t + ROUNDING) & ~close).tolist():
        close[row] = ground.least_cost(excess[row], t + ROUNDING) <= t + ROUNDING
    return close, least


_LEVELS = {"equal": _values, "hierarchical": _rooted}
"""Grounds of which the values that occur in a class tell all."""

_CLOSE = {"ordered": _close_in_order, "semantic": _close_in_meaning}
"""Grounds for which every value counts; what they find to be far away is at least so far."""

_FARTHEST = {
    "ordered": lambda domain: domain.farthest_in_order,
    "semantic": lambda domain: domain.farthest_in_meaning,
}
"""No class is farther away than this."""
