"""Tables of distances of which some rows are there at a time, where all of them would be large."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Longs
from ontomask.kernels.blocks import allowed_threads
from ontomask.kernels.formulas import LOOKED_UP, RANKED, WAY, unrelated
from ontomask.kernels.records import START, VALUES, Attribute, Points, on_demand

__all__ = ["NO_TILES", "Tile", "Tiles"]

ENTRIES = 2**18
"""So many entries a tile has, of one attribute."""


class Tile(NamedTuple):
    """An attribute without a table.

    Attributes
    ----------
    rows
        Gives some rows of the table.
    height, width
        How many rows and values there are.
    ranks
        Where each value lies among the rows, -1 where nowhere: an index is built by that.
    """

    rows: Callable[[Longs], Floats]
    height: int
    width: int
    ranks: Longs

    @property
    def step(self) -> int:
        """How many rows are there at a time."""
        return max(1, ENTRIES // self.width)

    def attribute(self, step: int) -> Attribute:
        """What an index is built by, with room for so many rows of each thread."""
        nodes = np.concatenate([np.arange(self.height), self.ranks])
        formula = unrelated(nodes, RANKED, float(max(1, self.height)))
        places = self.height + np.arange(self.width)
        like = on_demand(formula._replace(nodes=places), self.height, np.maximum(self.ranks, 0))
        return like._replace(table=np.empty((step * allowed_threads(), self.width)))


class Tiles(NamedTuple):
    """Those of some attributes of points, and who may use which."""

    tiles: dict[int, Tile]
    step: int
    rooms: list[int]

    @classmethod
    def of(cls, tiles: Sequence[Tile | None]) -> Tiles:
        """The tiles of attributes, of which others may have a table."""
        some = {place: one for place, one in enumerate(tiles) if one is not None}
        step = min((one.step for one in some.values()), default=0)
        return cls(some, step, list(range(allowed_threads())))

    @contextmanager
    def laid_out(self, points: Points, references: Floats) -> Iterator[tuple[Points, Floats]]:
        """Points that know the rows of at most `step` references, and these references."""
        room, heads, told = self.rooms.pop(), points.heads.copy(), references.copy()
        try:
            for attribute, tile in self.tiles.items():
                codes, places = np.unique(references[:, attribute], return_inverse=True)
                heads[attribute, WAY] = LOOKED_UP
                heads[attribute, START] += room * self.step * heads[attribute, VALUES]
                rows = tile.rows(codes.astype(np.int64)).ravel()
                points.tables[heads[attribute, START] :][: rows.size] = rows
                told[:, attribute] = places
            yield points._replace(heads=heads), told
        finally:
            self.rooms.append(room)


NO_TILES = Tiles({}, 0, [])
