"""The nearest points of every point or reference, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.blocks import in_blocks, meanwhile
from ontomask.kernels.compiling import compiled, whole
from ontomask.kernels.index import (
    FARTHEST,
    LEAF,
    NEAREST,
    POINT,
    Finds,
    Index,
    amount_within,
    bound_all,
    build_index,
    new_finds,
    search,
)
from ontomask.kernels.records import VALUES, Points, contribution, point_reference
from ontomask.kernels.tiles import NO_TILES, Tiles

__all__ = [
    "Links",
    "Neighborhood",
    "nearest_points",
    "paired_distances",
    "prepare",
    "sort_by_keys",
]

FEW_LEAVES = 16
"""Of an index, within which the points at the least distance nearly always lie."""
SMALLEST_SHARE = 256
"""Points for which it pays to start a thread: to find the nearest takes tens of microseconds."""


@compiled
def sort_by_keys(keys: Floats, items: Longs, count: int) -> None:
    """Sort the first items and their keys, ascending (Shell 1959, gaps 1, 4, 13, ...)."""
    gap = whole(1)
    while 3 * gap < count:
        gap = 3 * gap + 1
    while gap > 0:
        for start in range(gap, count):
            key, item, slot = keys[start], items[start], start
            while slot >= gap and keys[slot - gap] > key:
                keys[slot], items[slot] = keys[slot - gap], items[slot - gap]
                slot -= gap
            keys[slot], items[slot] = key, item
        gap //= 3


@compiled
def prepare(index: Index) -> None:
    """Find the bounds of the index, before threads share it."""
    bound_all(index)


@compiled
def _link_nearest(
    points: Points,
    index: Index,
    finds: Finds,
    reference: Floats,
    keys: Floats,
    near: Longs,
    chosen: Ints,
    first: int,
    last: int,
    graph: Ints,
) -> None:
    """Fill the graph for the chosen points from first to last."""
    wanted = graph.shape[1]
    for slot in range(first, last):
        point = whole(chosen[slot])
        point_reference(points, point, reference)
        # one more, as the point finds itself, or an equal one
        found = search(points, index, finds, reference, NEAREST, wanted + 1)
        for place in range(found):
            keys[place], near[place] = finds.answers[place, 0], whole(finds.answers[place, 2])
        sort_by_keys(keys, near, found)
        filled = 0
        for place in range(found):
            if near[place] != point and filled < wanted:
                graph[point, filled] = near[place]
                filled += 1


class Neighborhood(NamedTuple):
    """Points whose nearest ones are being found, some at a time."""

    points: Points
    searched: Index
    asked: Ints
    """The points that ask."""
    graph: Ints
    """[p, wanted] what they found, -1 where there are fewer or nobody asked."""

    @classmethod
    def of(cls, points: Points, wanted: int, chosen: Longs | None = None) -> Neighborhood:
        """Make ready to find so many others for every point, or for those that are chosen."""
        size = points.weights.size
        index = build_index(points, np.arange(size), np.ones(size), np.zeros(size), LEAF)
        prepare(index)
        # neighbors one after the other find the same things in the cache
        asked = index.cells[POINT].copy() if chosen is None else chosen.astype(np.int32)
        return cls(points, index, asked, np.full((size, wanted), -1, np.int32))

    def fill(self, first: int, last: int) -> None:
        """Find the nearest of the askers from first to last, by plain distance."""
        points, index, asked, graph = self
        wanted = graph.shape[1] + 1
        reference = np.empty(points.codes.shape[0] + points.gaps.size)
        room = new_finds(index, wanted), reference, np.empty(wanted), np.empty(wanted, np.int64)
        _link_nearest(points, index, *room, asked, first, last, graph)


def nearest_points(points: Points, wanted: int, chosen: Longs | None = None) -> Ints:
    """For every point the `wanted` nearest others (-1 where there are fewer), by plain distance.

    Where points are chosen, the rows of all others are -1.
    """
    found = Neighborhood.of(points, wanted, chosen)
    in_blocks(found.fill, found.asked.size, SMALLEST_SHARE)
    return found.graph


@compiled
def _link_references(
    points: Points,
    index: Index,
    finds: Finds,
    references: Floats,
    order: Longs,
    tolerance: float,
    first: int,
    last: int,
    passed: Floats,
    links: Floats,
) -> None:
    """Write the least distance and the records at it for the references at first to last."""
    for slot in range(first, last):
        number = order[slot]
        reference = references[number]
        search(points, index, finds, reference, NEAREST, whole(1))
        links[0, number] = finds.answers[0, 0]
        radius = finds.answers[0, 0] + tolerance
        amount = amount_within(points, index, finds, reference, radius, passed, whole(FEW_LEAVES))
        if amount < 0.0:
            search(points, index, finds, reference, FARTHEST, whole(1))
            amount = amount_within(points, index, finds, reference, radius, passed, whole(0))
        links[1, number] = amount


class Links(NamedTuple):
    """References whose nearest points are being found, some at a time."""

    points: Points
    searched: Index
    references: Floats
    order: Longs
    """In which they ask."""
    passed: Floats
    """The records before each place of the index, and behind the last."""
    tolerance: float
    found: Floats
    """[2, references] the least distance to a point, and the records at it."""
    tiles: Tiles
    """Tables that are not there as a whole."""

    @classmethod
    def of(
        cls, points: Points, references: Floats, tolerance: float, tiles: Tiles = NO_TILES
    ) -> Links:
        """Make ready to find what is nearest to references among points, of which there are some.

        Distances that differ by no more than `tolerance` count as equal.
        """
        size, coded = points.weights.size, points.codes.shape[0]
        index = build_index(points, np.arange(size), points.factors, np.zeros(size), LEAF)
        # what is known of a row is found again whenever the row changes: let it change rarely
        widest = int(points.heads[:, VALUES].argmax()) if coded else 0
        order = np.argsort(references[:, widest], kind="stable")
        prepare(index)
        passed = np.concatenate([[0.0], np.cumsum(points.sizes[index.cells[POINT]])])
        found = np.empty((2, references.shape[0]))
        return cls(points, index, references, order, passed, tolerance, found, tiles)

    def fill(self, first: int, last: int) -> None:
        """Find what is nearest to the references that ask from first to last."""
        if not self.tiles.tiles:
            self._fill(self.points, self.references, self.order, first, last, self.found)
            return
        for start in range(first, last, self.tiles.step):
            chosen = self.order[start : min(start + self.tiles.step, last)]
            found = np.empty((2, chosen.size))
            with self.tiles.laid_out(self.points, self.references[chosen]) as told:
                self._fill(*told, np.arange(chosen.size), 0, chosen.size, found)
            self.found[:, chosen] = found

    def _fill(
        self,
        points: Points,
        references: Floats,
        order: Longs,
        first: int,
        last: int,
        found: Floats,
    ) -> None:
        room = new_finds(self.searched, 1)
        asked = references, order, self.tolerance, first, last
        _link_references(points, self.searched, room, *asked, self.passed, found)

    def distances(self, firsts: Longs, seconds: Longs) -> Floats:
        """Distance of the reference firsts[i] to the point seconds[i], for every i."""
        if not self.tiles.tiles:
            return paired_distances(self.points, self.references, firsts, seconds)
        result = np.empty(firsts.size)
        for start in range(0, firsts.size, self.tiles.step):
            some = slice(start, start + self.tiles.step)
            with self.tiles.laid_out(self.points, self.references[firsts[some]]) as told:
                every = np.arange(firsts[some].size)
                result[some] = paired_distances(*told, every, seconds[some])
        return result

    def begun(self) -> AbstractContextManager[Callable[[], list[None]]]:
        """Let other threads find them while this one does something else; see `meanwhile`."""
        return meanwhile(self.fill, self.order.size, SMALLEST_SHARE)


@compiled
def _fill_pairs(
    points: Points, references: Floats, firsts: Longs, seconds: Longs, result: Floats
) -> None:
    """Write the distance of every pair."""
    for pair in range(result.size):
        point = seconds[pair]
        distance = contribution(points, references[firsts[pair]], point)
        result[pair] = distance * points.factors[point]


def paired_distances(points: Points, references: Floats, firsts: Longs, seconds: Longs) -> Floats:
    """Distance of the reference firsts[i] to the point seconds[i], for every i."""
    result = np.empty(firsts.size)
    _fill_pairs(points, references, firsts, seconds, result)
    return result
