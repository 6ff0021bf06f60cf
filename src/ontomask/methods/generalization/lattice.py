"""The lattice of all combinations of levels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontomask.arrays import Floats, Longs
from ontomask.errors import MethodError
from ontomask.methods.generalization.groupings import Levels
from ontomask.quality import Measure

__all__ = ["Bounds", "Lattice"]

LARGEST = 20_000_000
"""So many nodes can be kept track of one by one."""


@dataclass(frozen=True)
class Lattice:
    """All nodes between level 0 and the heights of the attributes."""

    heights: Levels

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each attribute."""
        return tuple(height + 1 for height in self.heights)

    @property
    def size(self) -> int:
        """The number of nodes (more than `len` could say)."""
        return math.prod(self.shape)

    def nodes(self) -> Iterator[Levels]:
        """All nodes, in lexicographic order."""
        return np.ndindex(self.shape)

    def check_size(self) -> None:
        """Refuse lattices too large to be kept track of node by node."""
        if self.size > LARGEST:
            raise MethodError(
                f"The lattice has {self.size:,} nodes, too many for this search; "
                "use algorithm='best-effort', or hierarchies with fewer levels."
            )

    def successors(self, levels: Levels) -> list[Levels]:
        """The nodes one level higher in one attribute."""
        return [
            (*levels[:place], level + 1, *levels[place + 1 :])
            for place, level in enumerate(levels)
            if level < self.heights[place]
        ]

    def predecessors(self, levels: Levels) -> list[Levels]:
        """The nodes one level lower in one attribute."""
        return [
            (*levels[:place], level - 1, *levels[place + 1 :])
            for place, level in enumerate(levels)
            if level > 0
        ]


def below(levels: Levels) -> tuple[slice, ...]:
    """The region of a node and all finer ones."""
    return tuple(slice(0, level + 1) for level in levels)


def above(levels: Levels) -> tuple[slice, ...]:
    """The region of a node and all coarser ones."""
    return tuple(slice(level, None) for level in levels)


def at_all_nodes(measure: Measure, values: Sequence[Floats]) -> Floats:
    """What values per attribute and level make of every node.

    Nodes that differ in the first attribute lie next to each other in memory: what one attribute
    after the other is combined with are long rows then.
    """
    count = len(values)
    spread = [
        np.reshape(one, [-1 if axis == place else 1 for axis in reversed(range(count))])
        for place, one in enumerate(values)
    ]
    return np.array(measure.scalar(spread), np.float64).T


def in_memory(nodes: NDArray[Any]) -> NDArray[Any]:
    """What is told of every node as it lies in memory, without a copy."""
    return nodes.T.reshape(-1)


class Bounds:
    """Lower bounds on the loss of every node, raised with what evaluated nodes tell.

    Floors are told by finer nodes and surpluses by coarser ones: they add up. Where the levels
    alone give a floor, both are told at once.
    """

    def __init__(self, measure: Measure, lattice: Lattice) -> None:
        self._measure = measure
        self._floors = measure.floors
        self.by_levels = self._floors is not None
        """Whether the levels alone give a floor."""
        if self._floors is None:
            self._floor = np.full(lattice.shape, -np.inf, order="F")
            self._surplus = np.zeros(lattice.shape, order="F")
            self._least = np.full(lattice.shape, -np.inf, order="F")
        else:
            self._floor = at_all_nodes(measure, self._floors)

    def at(self, levels: Levels) -> float:
        """The bound of a node."""
        floor: float = self._floor[levels]
        return floor if self.by_levels else max(floor + self._surplus[levels], self._least[levels])

    def of(self, nodes: Longs) -> Floats:
        """The bounds of nodes, given by their places in memory."""
        floor: Floats = in_memory(self._floor)[nodes]
        if self.by_levels:
            return floor
        surplus, least = (in_memory(one)[nodes] for one in (self._surplus, self._least))
        bounds: Floats = np.maximum(floor + surplus, least)
        return bounds

    def raise_above(self, levels: Levels, floor: Floats) -> None:
        """No coarser node has a smaller floor."""
        _raise(self._floor[above(levels)], self._measure.scalar(floor))

    def raise_below(self, levels: Levels, surplus: Floats, least: float = -np.inf) -> None:
        """What is added to the floor here is added at all finer nodes, which cost `least`."""
        region = below(levels)
        if self._floors is None:
            _raise(self._surplus[region], self._measure.scalar(surplus))
            _raise(self._least[region], least)
            return
        parts = [
            floor[: level + 1] + more
            for floor, level, more in zip(self._floors, levels, surplus.tolist(), strict=True)
        ]
        _raise(self._floor[region], at_all_nodes(self._measure, parts))


def _raise(region: Floats, bound: Floats | float) -> None:
    np.maximum(region, bound, out=region)
