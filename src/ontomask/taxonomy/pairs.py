"""What pairs of concepts have in common: of whole arrays of pairs, and of a single one.

`Pairs` and `Pair` answer the same questions, so that a measure is one formula for both, and for
`Summaries`, which are no pairs but what any pairs might have in common.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ontomask.arithmetic import power_of_two
from ontomask.arrays import Floats, Ints, Longs, offsets_of, ranges
from ontomask.kernels import concepts as kernel
from ontomask.kernels.formulas import EQUAL, Formula
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["AncestorSets", "Pair", "Pairs", "Summaries"]

EVERY_COLUMN = np.empty(0, np.int64)

Kind = TypeVar("Kind", bound=np.generic)


@dataclass(frozen=True, eq=False)
class _Side:
    """The rows or the columns: concepts and their ancestor sets."""

    concepts: Ints
    offsets: Longs
    members: Ints
    ups: Ints

    @property
    def own(self) -> Ints:
        """The concepts by their local numbers: each is the last of its own ancestors."""
        return self.members[self.offsets[1:] - 1]

    @property
    def places_from_below(self) -> Longs:
        """How far before the last of its set each member is."""
        sizes = np.diff(self.offsets)
        return np.repeat(self.offsets[1:] - 1, sizes) - np.arange(self.members.size)

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
        places, ordered = _places(taxonomy, local), bool((np.diff(local) > 0).all())
        first, second = (
            _localized(concepts, *arrays, places, ordered)
            for concepts, arrays in zip((rows, columns), sides, strict=True)
        )
        return cls(taxonomy, local, np.ascontiguousarray(depths[local]), first, second)

    @functools.cached_property
    def chains(self) -> bool:
        """Whether each set is a chain: as large as its concept is deep."""
        sides = self.rows, self.columns
        return all((np.diff(one.offsets) == self.depths[one.own]).all() for one in sides)

    @property
    def rooted(self) -> bool:
        """Whether they are chains from one root on, without a link that leaves anybody out."""
        sides = self.rows, self.columns
        straight = all((one.ups == one.places_from_below).all() for one in sides)
        return straight and self.chains and np.count_nonzero(self.depths == 1) == 1

    @property
    def farthest_up(self) -> int:
        """The most links from a concept up to one of its ancestors."""
        return max(int(side.ups.max(initial=0)) for side in (self.rows, self.columns))

    def rectangle(self, block: slice) -> Pairs:
        """Each of a block of rows with each column."""
        rows = self.rows.cut(block)
        starts = np.arange(rows.concepts.size + 1) * self.columns.concepts.size
        return Pairs(self, rows, starts, EVERY_COLUMN)

    def listed(self, starts: Longs, targets: Longs) -> Pairs:
        """Row r with the columns `targets[starts[r]:starts[r + 1]]`."""
        return Pairs(self, self.rows, starts, targets)

    def formula(self) -> Formula:
        """The rows as nodes that are equal or not, with the sets that other formulas need."""
        rows, nothing = self.rows, np.empty(0)
        return Formula(
            EQUAL,
            np.zeros(rows.concepts.size, np.int64),
            rows.offsets,
            rows.members.astype(np.int64),
            rows.ups.astype(np.float64),
            np.zeros(self.local.size, np.int64),
            self.depths.astype(np.int64),
            nothing,
            nothing,
            0,
        )

    def weighted_ways(self, side: _Side, levels: int) -> Floats:
        """The least sums of link weights up to each ancestor: 2^(levels - child's depth)."""
        weights = power_of_two(levels - self.depths)
        ways: Floats = kernel.weighted_ups(side.offsets, side.members, *self._links(), weights)
        return ways

    def _links(self) -> tuple[Longs, Ints]:
        """The is-a links among the local ancestors, by child."""
        taxonomy, local = self.taxonomy, self.local
        firsts, sizes = taxonomy.parent_offsets[local], np.diff(taxonomy.parent_offsets)[local]
        owners = np.repeat(np.arange(local.size), sizes)
        parents = _places(taxonomy, local)[taxonomy.parent_numbers[ranges(firsts, sizes)]]
        kept = parents >= 0
        return offsets_of(owners[kept], local.size), np.ascontiguousarray(parents[kept])


@dataclass(frozen=True, eq=False)
class Pairs:
    """Concept pairs, as a rectangle or as a list, and the questions measures ask of them."""

    sets: AncestorSets
    rows: _Side
    starts: Longs
    targets: Longs

    @property
    def concepts(self) -> tuple[Ints, Ints]:
        """The numbers of the first and the second concepts, such that they broadcast."""
        return self._spread(self.rows.concepts, self.sets.columns.concepts)

    @property
    def sizes(self) -> tuple[Longs, Longs]:
        """How many ancestors the first and the second concepts have."""
        return self._spread(np.diff(self.rows.offsets), np.diff(self.sets.columns.offsets))

    def shared(self) -> Floats:
        """The number of common ancestors."""
        numbers = np.arange(self.sets.local.size + 1.0)[None, None]
        sides = self.rows, self.sets.columns
        return self.on_curve(numbers, *(np.zeros(one.concepts.size, np.int64) for one in sides))

    def on_curve(self, curve: Floats, first: Longs, second: Longs) -> Floats:
        """The entries of a curve by the profiles of both and the number of common ancestors."""
        return self._shaped(self._entries(self.starts, curve, first, second))

    def write_on_curve(
        self, curve: NDArray[Kind], first: Longs, second: Longs, room: NDArray[Kind]
    ) -> None:
        """Write the same of a rectangle to a table, or a part of one, whose rows lie together."""
        rows, columns = room.shape
        stride, size = room.strides[0] // room.itemsize, room.itemsize
        flat = np.lib.stride_tricks.as_strided(room, ((rows - 1) * stride + columns,), (size,))
        self._entries(np.arange(rows + 1) * stride, curve, first, second, flat)

    def _entries(
        self, starts: Longs, curve: Any, first: Longs, second: Longs, room: Any = None
    ) -> Any:
        sets, (rows, columns, _, targets) = self.sets, self._arguments()
        given = rows, columns, starts, targets, sets.local.size, sets.chains
        return kernel.shared_entries(*given, curve, first, second, room)

    def path_lengths(self) -> Floats:
        """The least number of links through a common ancestor."""
        return self._shaped(kernel.shortest_paths(*self._arguments(), self.sets.local.size))

    def weighted_path_lengths(self, levels: int) -> Floats:
        """The least sum of link weights through a common ancestor: 2^(levels - child's depth)."""
        sides = self.rows, self.sets.columns
        ways = [self.sets.weighted_ways(side, levels) for side in sides]
        return self._shaped(kernel.shortest_paths(*self._arguments(*ways), self.sets.local.size))

    def subsumers(self) -> tuple[Ints, Ints]:
        """The number of the least common subsumer, and the links up to it from both."""
        subsumers, ways = kernel.deepest_shared(*self._arguments(), self.sets.depths)
        return self._shaped(self.sets.local[subsumers]), self._shaped(ways)

    def _arguments(
        self, row_ways: Floats | None = None, column_ways: Floats | None = None
    ) -> tuple[kernel.Sets, kernel.Sets, Longs, Longs]:
        """The sets of both sides with the ways up, in links unless they are given."""
        rows, columns = self.rows, self.sets.columns
        return (
            (rows.offsets, rows.members, rows.ups if row_ways is None else row_ways),
            (columns.offsets, columns.members, columns.ups if column_ways is None else column_ways),
            self.starts,
            self.targets,
        )

    def _spread(
        self, rows: NDArray[Kind], columns: NDArray[Kind]
    ) -> tuple[NDArray[Kind], NDArray[Kind]]:
        if self.targets is EVERY_COLUMN:
            return rows[:, None], columns[None, :]
        return np.repeat(rows, np.diff(self.starts)), columns[self.targets]

    def _shaped(self, flat: NDArray[Kind]) -> NDArray[Kind]:
        return flat.reshape(len(self.rows.concepts), -1) if self.targets is EVERY_COLUMN else flat


class Pair(NamedTuple):
    """One pair: plain Python is quicker here than starting anything."""

    depths: Ints
    concepts: tuple[int, int]
    ways: tuple[Mapping[int, Any], Mapping[int, Any]]

    @property
    def sizes(self) -> tuple[int, int]:
        """How many ancestors the two concepts have."""
        return len(self.ways[0]), len(self.ways[1])

    def shared(self) -> int:
        """The number of common ancestors."""
        return len(self.ways[0].keys() & self.ways[1].keys())

    def path_lengths(self) -> int:
        """The least number of links through a common ancestor."""
        return int(min(way for _, way in self._common()))

    def weighted_path_lengths(self, _levels: int) -> float:
        """The same of link weights, by the levels down to the deeper one: the two are the sample.

        Ways are weighted here.
        """
        first, second = self.concepts
        levels = max(int(self.depths[first]), int(self.depths[second]))
        return float(2.0**levels * min(way for _, way in self._common()))

    def subsumers(self) -> tuple[int, int]:
        """The number of the least common subsumer, and the links up to it from both."""
        depths = self.depths
        return min(self._common(), key=lambda one: (-depths[one[0]], one[1], one[0]))

    def _common(self) -> list[tuple[int, Any]]:
        """The common ancestors, with the links up to each from both."""
        first, second = self.ways
        return [(one, way + second[one]) for one, way in first.items() if one in second]


class Summaries(NamedTuple):
    """What any pairs might have in common; a measure asks for what it needs."""

    common: Any = None
    sizes: Any = None
    concepts: Any = None
    path: Any = None
    subsumer: Any = None

    def shared(self) -> Any:
        """The number of common ancestors."""
        return self.common

    def path_lengths(self) -> Any:
        """The least number of links through a common ancestor."""
        return self.path

    def subsumers(self) -> Any:
        """The number of the least common subsumer, and the links up to it from both."""
        return self.subsumer


def _by_depth_and_id(taxonomy: Taxonomy, numbers: Ints, depths: Ints) -> Ints:
    """Sort by (depth, id); by construction numbers are so already for the taxonomy's own depths."""
    if depths is taxonomy.depths:
        return numbers
    keys = [(int(depths[number]), taxonomy.ids[number], number) for number in numbers.tolist()]
    return np.array([number for *_, number in sorted(keys)], np.int32)


def _localized(
    concepts: Ints, offsets: Longs, members: Ints, ups: Ints, places: Ints, ordered: bool
) -> _Side:
    """Translate ancestor sets to local numbers, ascending, without those that have none.

    `ordered`: local numbers ascend as those of the taxonomy do, by which sets are ordered.
    """
    owners = np.repeat(np.arange(concepts.size), np.diff(offsets))
    translated = places[members]
    order = np.flatnonzero(translated >= 0)
    if not ordered:
        order = order[np.lexsort((translated[order], owners[order]))]
    return _Side(concepts, offsets_of(owners[order], concepts.size), translated[order], ups[order])


def _places(taxonomy: Taxonomy, local: Ints) -> Ints:
    """The local number of every concept, -1 where it has none."""
    places = np.full(len(taxonomy), -1, np.int32)
    places[local] = np.arange(local.size, dtype=np.int32)
    return places
