"""Concepts grouped along the upper levels of their taxonomy, for charts of nominal columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Ints, Longs
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["MOST", "concept_groups", "group_name"]

MOST = 12
"""How many groups a chart shows."""
COVERED = 0.8
"""The least share of records in groups that are frequent enough to be named."""


@dataclass(frozen=True, eq=False)
class _Ancestors:
    """The ancestors of some concepts, those of one concept after those of the other."""

    owners: Longs
    members: Ints
    depths: Ints
    count: int

    def at(self, depth: int) -> Ints:
        """For each concept its deepest ancestor that is no deeper than `depth`."""
        fitting = self.depths <= depth
        owners, members = self.owners[fitting], self.members[fitting]
        order = np.lexsort((members, -self.depths[fitting], owners))
        firsts = np.searchsorted(owners[order], np.arange(self.count))
        found: Ints = members[order][firsts]
        return found


def concept_groups(taxonomy: Taxonomy, concepts: Ints, counts: Longs, least: int) -> Ints:
    """The group of each concept: its ancestor on the lowest level that makes a readable chart.

    That is a level with at most 12 groups, where most records are in groups of at least `least`;
    the level below the common ancestor of all, if there is none.

    Parameters
    ----------
    taxonomy
        Where the concepts are from.
    concepts
        All concepts of a column, before and after masking.
    counts
        How many original records each of them has: the level is chosen for those.
    least
        The fewest original records of a group that is shown.
    """
    original = concepts[counts > 0]
    offsets, members, _ = taxonomy.ancestor_arrays(concepts)
    owners = np.repeat(np.arange(concepts.size), np.diff(offsets))
    ancestors = _Ancestors(owners, members, taxonomy.depths[members], concepts.size)
    top = int(taxonomy.depths[taxonomy.lcs_number(original)])
    lowest = int(taxonomy.depths[original].max())
    groups = ancestors.at(min(top + 1, lowest))
    for depth in range(top + 2, lowest + 1):
        finer = ancestors.at(depth)
        if not _is_readable(finer, counts, least):
            break
        groups = finer
    return groups


def _is_readable(groups: Ints, counts: Longs, least: int) -> bool:
    _, places = np.unique(groups, return_inverse=True)
    sizes = np.bincount(places, weights=counts)
    shown = sizes[sizes >= least].sum()
    return bool(np.count_nonzero(sizes) <= MOST and shown >= COVERED * sizes.sum())


def group_name(taxonomy: Taxonomy, concept: int) -> str:
    """The label of a concept, or its id where it has none."""
    return taxonomy.names[int(taxonomy.name_offsets[concept])] or taxonomy.ids[concept]
