"""Which of a few distances pairs of concepts have.

What two concepts have in common is a small whole number for most measures, so hardly more than some
dozen distances occur between thousands of them. Which one a pair has is written to a table of short
numbers, from the very curve that distances are read from: the same bits, a quarter of the memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs, Shorts
from ontomask.kernels import formulas
from ontomask.kernels.blocks import in_blocks
from ontomask.taxonomy.measures import Space
from ontomask.taxonomy.pairs import AncestorSets, Pairs

__all__ = ["Shading", "shading"]

RARE = 64
"""Distances are few where what tells them is so many times smaller than a table …"""
MOST = 2**15 - 2
"""… and there are no more than this, so that a short number says which one it is."""
PIECE = 2**16
"""So many pairs are looked at together where these are not counted in one pass."""

Writing = Callable[[Shorts, Shorts], None]
"""Writes into a table, or a part of one, which entry of an array each pair has."""


class Shading(NamedTuple):
    """Pairs of concepts that have a few distances only.

    Attributes
    ----------
    distances
        These, ascending, 0 among them.
    write
        Writes into a table, or a part of one, which of them each pair has.
    """

    distances: Floats
    write: Callable[[Shorts], None]


def shading(space: Space, rows: Ints, columns: Ints) -> Shading | None:
    """The few distances that different concepts have, where the measure tells them."""
    space.check_inside(rows, columns)
    sets = AncestorSets.of(space.taxonomy, space.depths, rows, columns)
    told = _told(space, sets, rows.size * columns.size // RARE)
    if told is None:
        return None
    curve, write = told
    distances, codes = np.unique(np.append(curve, 0.0), return_inverse=True)
    if distances.size > MOST:
        return None
    shades = codes[:-1].astype(np.int16).reshape(curve.shape)
    return Shading(distances, functools.partial(write, shades))


def _told(space: Space, sets: AncestorSets, most: float) -> tuple[Floats, Writing] | None:
    """All distances there can be, if at most so many, and what writes which one pairs have."""
    way, links = space.measure.summary, 2 * sets.farthest_up + 1
    told = space.by_profiles(sets, most)
    if told is not None:
        profiles, curve = told
        return space.scaled(curve), functools.partial(_write_by_profiles, sets, profiles)
    if way == formulas.PATH and links <= most:
        return space.by_links(sets), functools.partial(_write_by_links, sets)
    if way == formulas.SUBSUMER and links <= most:
        classes, curve = space.by_classes(sets)
        write = functools.partial(_write_by_classes, sets, classes)
        return (curve, write) if curve.size <= most else None
    return None


def _write_by_profiles(sets: AncestorSets, profiles: Longs, shades: Shorts, room: Shorts) -> None:
    """Write what follows from the profiles of both and the number of common ancestors."""
    count = sets.rows.concepts.size
    pairs, sides = sets.rectangle(slice(0, count)), (profiles[:count], profiles[count:])
    pairs.write_on_curve(shades, *sides, room)


def _write_by_links(sets: AncestorSets, shades: Shorts, room: Shorts) -> None:
    """Write what follows from the links on the least way."""
    _write_entries(sets, lambda pairs: shades.take(pairs.path_lengths().astype(np.int64)), room)


def _write_by_classes(sets: AncestorSets, classes: Longs, shades: Shorts, room: Shorts) -> None:
    """Write what follows from the class of the common subsumer and the links up to it."""
    starts = np.zeros(len(sets.taxonomy), np.int64)
    starts[sets.local] = classes * shades.shape[-1]

    def entries(pairs: Pairs) -> Shorts:
        subsumers, ways = pairs.subsumers()
        return shades.ravel().take(starts.take(subsumers) + ways)

    _write_entries(sets, entries, room)


def _write_entries(sets: AncestorSets, entries: Callable[[Pairs], Shorts], room: Shorts) -> None:
    """Write what follows from pairs, some rows at a time, on all cores."""
    step = max(1, PIECE // max(1, room.shape[1]))

    def work(first: int, last: int) -> None:
        for start in range(first, last, step):
            block = slice(start, min(start + step, last))
            room[block] = entries(sets.rectangle(block))

    in_blocks(work, room.shape[0], step)
