"""Ancestor arrays of the concepts in use, and what every pair of them has in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels import concepts as kernel
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["AncestorSets", "Pairs"]


@dataclass(frozen=True, eq=False)
class _Side:
    """The rows or the columns of a rectangle: concepts and their ancestor sets."""

    concepts: Ints
    offsets: Longs
    members: Ints
    ups: Ints

    def cut(self, block: slice) -> _Side:
        offsets = self.offsets[block.start : block.stop + 1]
        inside = slice(offsets[0], offsets[-1])
        return _Side(
            self.concepts[block], offsets - offsets[0], self.members[inside], self.ups[inside]
        )


@dataclass(frozen=True, eq=False)
class AncestorSets:
    """Ancestor sets of row and column concepts over one local numbering.

    Local numbers ascend with (depth, id), where depth is counted from the root in use; ancestors
    outside that root's subtree are left out.
    """

    taxonomy: Taxonomy
    local: Ints
    depths: Ints
    rows: _Side
    columns: _Side

    @classmethod
    def of(cls, taxonomy: Taxonomy, depths: Ints, rows: Ints, columns: Ints) -> AncestorSets:
        """Collect the ancestors of the given concepts."""
        sides = [taxonomy.ancestor_arrays(numbers) for numbers in (rows, columns)]
        used = np.unique(np.concatenate([members for _, members, _ in sides]))
        local = _by_depth_and_id(taxonomy, used[depths[used] > 0], depths)
        places = np.full(len(taxonomy), -1, np.int32)
        places[local] = np.arange(local.size, dtype=np.int32)
        first, second = (
            _localized(concepts, *arrays, places)
            for concepts, arrays in zip((rows, columns), sides, strict=True)
        )
        return cls(taxonomy, local, np.ascontiguousarray(depths[local]), first, second)

    def pairs(self, block: slice) -> Pairs:
        """The pairs of a block of rows with all columns."""
        return Pairs(self, self.rows.cut(block), self.columns)


@dataclass(frozen=True, eq=False)
class Pairs:
    """A rectangle of concept pairs and the questions measures ask of it."""

    sets: AncestorSets
    row_side: _Side
    column_side: _Side

    @property
    def rows(self) -> Ints:
        """The row concepts' numbers."""
        return self.row_side.concepts

    @property
    def columns(self) -> Ints:
        """The column concepts' numbers."""
        return self.column_side.concepts

    @property
    def depths(self) -> Ints:
        """The depth of every local ancestor."""
        return self.sets.depths

    @property
    def row_sizes(self) -> Longs:
        """The number of ancestors of each row concept."""
        return np.diff(self.row_side.offsets)

    @property
    def column_sizes(self) -> Longs:
        """The number of ancestors of each column concept."""
        return np.diff(self.column_side.offsets)

    @property
    def row_depths(self) -> Ints:
        """The depth of each row concept (it is the last of its ancestors)."""
        return self.depths[self.row_side.members[self.row_side.offsets[1:] - 1]]

    @property
    def column_depths(self) -> Ints:
        """The depth of each column concept."""
        return self.depths[self.column_side.members[self.column_side.offsets[1:] - 1]]

    def shared_counts(self) -> Ints:
        """The number of common ancestors of each pair."""
        first, second = self.row_side, self.column_side
        counts: Ints = kernel.shared_counts(
            first.offsets, first.members, second.offsets, second.members, self.sets.local.size
        )
        return counts

    def path_lengths(self) -> Floats:
        """The least number of links through a common ancestor."""
        return self._shortest(
            self.row_side.ups.astype(np.float64), self.column_side.ups.astype(np.float64)
        )

    def weighted_path_lengths(self, link_weights: Floats) -> Floats:
        """The least sum of link weights through a common ancestor; a link weighs as its child."""
        offsets, parents = self._local_links()
        costs = [
            kernel.weighted_ups(side.offsets, side.members, offsets, parents, link_weights)
            for side in (self.row_side, self.column_side)
        ]
        return self._shortest(*costs)

    def subsumers(self) -> tuple[Ints, Ints]:
        """The least common subsumer of each pair, in local numbers, and the links up to it."""
        first, second = self.row_side, self.column_side
        subsumers, sums = kernel.deepest_shared(
            *(first.offsets, first.members, first.ups),
            *(second.offsets, second.members, second.ups),
            self.depths,
        )
        return subsumers, sums

    def subsumer_numbers(self) -> Ints:
        """The least common subsumer of each pair, in numbers of the taxonomy."""
        return self.sets.local[self.subsumers()[0]]

    def _shortest(self, row_costs: Floats, column_costs: Floats) -> Floats:
        first, second = self.row_side, self.column_side
        lengths: Floats = kernel.shortest_paths(
            *(first.offsets, first.members, row_costs),
            *(second.offsets, second.members, column_costs),
            self.sets.local.size,
        )
        return lengths

    def _local_links(self) -> tuple[Longs, Ints]:
        """The is-a links among the local ancestors, by child."""
        taxonomy, local = self.sets.taxonomy, self.sets.local
        places = np.full(len(taxonomy), -1, np.int32)
        places[local] = np.arange(local.size, dtype=np.int32)
        starts, stops = taxonomy.parent_offsets[local], taxonomy.parent_offsets[local + 1]
        owners = np.repeat(np.arange(local.size), stops - starts)
        within = np.arange(owners.size) - np.repeat(
            np.cumsum(stops - starts) - (stops - starts), stops - starts
        )
        parents = places[taxonomy.parent_numbers[starts[owners] + within]]
        kept = parents >= 0
        offsets = np.zeros(local.size + 1, np.int64)
        np.cumsum(np.bincount(owners[kept], minlength=local.size), out=offsets[1:])
        return offsets, np.ascontiguousarray(parents[kept])


def _by_depth_and_id(taxonomy: Taxonomy, numbers: Ints, depths: Ints) -> Ints:
    """Sort by (depth, id); by construction numbers are so already for the taxonomy's own depths."""
    if depths is taxonomy.depths:
        return numbers
    ids = taxonomy.ids
    levels = depths[numbers].tolist()
    pairs = zip(levels, (ids[number] for number in numbers.tolist()), numbers.tolist(), strict=True)
    return np.array([number for *_, number in sorted(pairs)], np.int32)


def _localized(concepts: Ints, offsets: Longs, members: Ints, ups: Ints, places: Ints) -> _Side:
    """Translate ancestor sets to local numbers, ascending, without those that have none."""
    owners = np.repeat(np.arange(concepts.size), np.diff(offsets))
    translated = places[members]
    kept = np.flatnonzero(translated >= 0)
    order = kept[np.lexsort((translated[kept], owners[kept]))]
    new_offsets = np.zeros(concepts.size + 1, np.int64)
    np.cumsum(np.bincount(owners[order], minlength=concepts.size), out=new_offsets[1:])
    return _Side(concepts, new_offsets, translated[order], ups[order])
