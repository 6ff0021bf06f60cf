"""Ground distances as trees: exact, but for meanings, where they are an upper bound."""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Longs
from ontomask.kernels.balanced import Tree
from ontomask.privacy.classes import Domain

__all__ = ["ground_tree", "value_order"]


def ground_tree(domain: Domain, ground: str) -> Tree:
    """A tree over whose links what is too much somewhere goes to where it lacks.

    Semantic distances are replaced by those of a tree in which none is smaller.
    """
    parents, lengths = _LINKS[ground](domain)
    shares = np.zeros(parents.size)
    shares[: domain.size] = domain.shares
    for node in range(parents.size - 1):
        shares[parents[node]] += shares[node]
    return Tree(parents, lengths, shares)


def _star(domain: Domain) -> tuple[Longs, Floats]:
    """All values hang on one node, half a distance away."""
    parents = np.append(np.full(domain.size, domain.size), -1)
    return parents, np.append(np.full(domain.size, 0.5), 0.0)


def _path(domain: Domain) -> tuple[Longs, Floats]:
    """Each value hangs on the next higher one."""
    parents = np.append(np.arange(1, domain.size), -1)
    return parents, np.append(np.full(domain.size - 1, 1.0 / max(domain.size - 1, 1)), 0.0)


def _levels(domain: Domain) -> tuple[Longs, Floats]:
    """Values, then the groups of each level; a link is half a level long."""
    assert domain.levels is not None
    codes = [np.unique(level, return_inverse=True)[1] for level in domain.levels[1:]]
    sizes = [domain.size, *(int(level.max()) + 1 for level in codes)]
    starts = np.cumsum([0, *sizes])
    parents = np.full(starts[-1], -1)
    below = np.arange(domain.size)
    for place, level in enumerate(codes):
        above = starts[place + 1] + level
        parents[below] = above
        below = above
    lengths = np.full(parents.size, 0.5 / max(len(codes), 1))
    return parents, np.where(parents < 0, 0.0, lengths)


def _meanings(domain: Domain) -> tuple[Longs, Floats]:
    """Values are united at the height of the largest distance between them."""
    assert domain.distances is not None
    links, heights = domain.distances.tree("complete")
    size, every = domain.size, np.concatenate([np.zeros(domain.size), heights])
    parents = np.full(every.size, -1)
    for side in range(2):
        parents[links[:, side]] = size + np.arange(len(links))
    return parents, np.where(parents < 0, 0.0, (every[parents] - every) / 2.0)


_LINKS = {"equal": _star, "ordered": _path, "hierarchical": _levels, "semantic": _meanings}


def value_order(domain: Domain, ground: str) -> Longs:
    """The place of each value in an order in which near values stand together.

    Numbers, dates and ordered words have theirs; values with a hierarchy or taxonomy come as the
    leaves of its tree do.
    """
    if ground not in ("hierarchical", "semantic") or domain.size < 2:
        return np.arange(domain.size)
    parents = _LINKS[ground](domain)[0]
    firsts = np.arange(parents.size)
    for node in range(parents.size - 1):
        firsts[parents[node]] = min(firsts[parents[node]], firsts[node])
    keys = np.empty(parents.size, object)
    keys[-1] = ()
    for node in range(parents.size - 2, -1, -1):
        keys[node] = (*keys[parents[node]], int(firsts[node]))
    order = sorted(range(domain.size), key=lambda value: keys[value])
    places = np.empty(domain.size, np.int64)
    places[order] = np.arange(domain.size)
    return places
