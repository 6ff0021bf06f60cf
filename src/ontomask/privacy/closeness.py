"""Earth mover's distances of the sensitive values of classes from those of the whole table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ontomask.arrays import Bools, Floats, Ints
from ontomask.errors import ParameterError
from ontomask.kernels.transport import transport_cost
from ontomask.privacy.classes import Classes, Domain, Histogram

__all__ = ["ROUNDING", "are_close"]

ROUNDING = 1e-12
"""Distances that exceed a threshold by less than this are equal to it."""

BLOCK = 2**21
"""So many cells of class times value are worked on at a time."""


def are_close(classes: Classes, histogram: Histogram, ground: str, t: float) -> Bools:
    """For each class whether its distribution p is at most t away from q, the table's."""
    if ground == "equal":
        return np.asarray(_equal(classes, histogram) <= t + ROUNDING)
    close = np.empty(len(classes), bool)
    for block, excess in _excesses(classes, histogram):
        if ground == "semantic":
            close[block] = _semantically_close(excess, histogram.domain, t)
        else:
            measure = _ordered if ground == "ordered" else _hierarchical
            close[block] = measure(excess, histogram.domain) <= t + ROUNDING
    return close


def _equal(classes: Classes, histogram: Histogram) -> Floats:
    """1/2 sum |p - q|; values that are not in the class contribute q."""
    q = histogram.domain.shares[histogram.values]
    differences = np.abs(classes.shares(histogram) - q) - q
    distances: Floats = 0.5 * (classes.total(histogram, differences) + 1.0)
    return distances


def _excesses(classes: Classes, histogram: Histogram) -> Iterator[tuple[slice, Floats]]:
    """Yield p - q for blocks of classes, one row per class, one column per value."""
    step = max(1, BLOCK // histogram.domain.size)
    shares = classes.shares(histogram)
    order = np.argsort(histogram.classes, kind="stable")
    owners = histogram.classes[order]
    for start in range(0, len(classes), step):
        block = slice(start, min(start + step, len(classes)))
        pairs = order[slice(*np.searchsorted(owners, [block.start, block.stop]))]
        excess = np.zeros((block.stop - start, histogram.domain.size))
        excess[histogram.classes[pairs] - start, histogram.values[pairs]] = shares[pairs]
        yield block, excess - histogram.domain.shares


def _ordered(excess: Floats, domain: Domain) -> Floats:
    """Sum over i of |sum of p_j - q_j for j <= i|, over d - 1."""
    distances: Floats = np.abs(np.cumsum(excess, axis=1)).sum(axis=1) / max(domain.size - 1, 1)
    return distances


def _hierarchical(excess: Floats, domain: Domain) -> Floats:
    """What must pass each link of the tree, times its length.

    Two values whose lowest common generalization is at level l of h are l / h apart: as far as the
    way between them if every link from a level to the next has length 1 / 2h.
    """
    if domain.levels is None:
        raise ParameterError(
            "The hierarchical ground distance needs a sensitive column with a hierarchy."
        )
    if (domain.levels[-1] != domain.levels[-1][0]).any():
        raise ParameterError(
            "The hierarchical ground distance needs a hierarchy that ends in one value for all; "
            "add a last level to the hierarchy of the sensitive column."
        )
    passing = np.zeros(len(excess))
    for codes in domain.levels[:-1]:
        passing += np.abs(_united(excess, codes)).sum(axis=1)
    distances: Floats = passing / (2.0 * max(1, len(domain.levels) - 1))
    return distances


def _united(columns: Floats, parents: Ints) -> Floats:
    """Add up the columns that have the same parent."""
    order = np.argsort(parents, kind="stable")
    starts = np.flatnonzero(np.diff(parents[order], prepend=-1))
    united: Floats = np.add.reduceat(columns[:, order], starts, axis=1)
    return united


def _semantically_close(excess: Floats, domain: Domain, t: float) -> Bools:
    """Decide by bounds where they suffice: what moves goes at least and at most so far."""
    if domain.distances is None:
        raise ParameterError(
            "The semantic ground distance needs a sensitive column with a taxonomy."
        )
    q, moved = domain.shares, np.maximum(excess, 0).sum(axis=1)
    apart = domain.distances[~np.eye(domain.size, dtype=bool)]
    close: Bools = moved * apart.max(initial=0) <= t + ROUNDING
    unclear = np.flatnonzero(~close & (moved * apart.min(initial=0) <= t + ROUNDING))
    for row in unclear.tolist():
        cost = transport_cost(domain.distances, np.maximum(excess[row] + q, 0), q)
        close[row] = cost <= t + ROUNDING
    return close
