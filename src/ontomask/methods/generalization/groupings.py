"""The classes of a table at given levels, each made from a finer one that is known already."""

from __future__ import annotations

import itertools
import math
import operator
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Ints, Longs
from ontomask.kernels import groups as kernel
from ontomask.kernels.blocks import allowed_threads, side_by_side
from ontomask.methods.generalization.problem import LARGEST_KEY, Pairs, Problem

__all__ = ["Grouper", "Grouping", "Levels", "Snapshots"]

Levels = tuple[int, ...]

United = tuple[Ints, Ints, Longs, Longs]
"""For each group its place, and for each place a tuple, the key, and the amounts."""

Change = tuple[int, int, int]
"""An attribute, and where its levels began and begin in the flat tables."""

NOTHING = np.empty(0, np.int64)

CAPACITY = 64
"""Places for snapshots to begin with."""

SHARED = 50_000
"""So many tuples are enough for threads to share them."""

FAR, LARGE = 8, 1000
"""A grouping that has so many times fewer classes than a large one is far from it."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """The classes at some levels.

    Attributes
    ----------
    representatives
        A tuple of each class.
    keys
        The generalized values of each class, packed into one or more words.
    amounts
        The number of records of each class; in a second line those of the population.
    pairs
        The histograms of sensitive attributes and targets.
    """

    levels: Levels
    representatives: Ints
    keys: Longs
    amounts: Longs
    pairs: Mapping[str, Pairs]

    def __len__(self) -> int:
        return self.representatives.size

    def part(self, first: int, last: int) -> Grouping:
        """Some of the classes, from the first to the last (not included), without histograms."""
        rows = slice(first, last)
        # of a single line no copy is made
        keys, amounts = (np.ascontiguousarray(one[:, rows]) for one in (self.keys, self.amounts))
        return Grouping(self.levels, self.representatives[rows], keys, amounts, {})

    @property
    def cells(self) -> int:
        """How many numbers it holds, for the memory budget."""
        pairs = sum(groups.size for groups, _, _ in self.pairs.values())
        return self.representatives.size + 2 * (self.keys.size + self.amounts.size) + 4 * pairs


class Grouper:
    """Makes groupings of a table."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.tuples = problem.tuples.columns
        self._sizes = problem.histogram_sizes
        begins = problem.facts.starts
        self._starts = [
            [begin + level * one.rows for level in range(one.height + 1)]
            for begin, one in zip(begins, problem.hierarchies, strict=True)
        ]
        self._rows = [one.rows for one in problem.hierarchies]
        self._widths = [
            [int(np.count_nonzero(np.bincount(codes))) for codes in one.levels]
            for one in problem.hierarchies
        ]
        """How many values each attribute has at each level."""
        self._words, place_values = _place_values(self._rows)
        pairs = zip(problem.hierarchies, place_values, strict=True)
        shifts = [one.levels.ravel() * np.int64(value) for one, value in pairs]
        nothing = np.zeros(max(self._rows), np.int64)
        self._shifts = np.concatenate([*shifts, nothing])
        self._nowhere = self._shifts.size - nothing.size
        """Where a level begins that adds nothing to a key."""
        self.finest = self._finest()
        self._rooms = threading.local()

    def _finest(self) -> Grouping:
        """Every tuple is a class of its own."""
        representatives = np.arange(self.tuples.shape[1], dtype=np.int32)
        levels = tuple(0 for _ in self.tuples)
        words, changes = self._anew(levels)
        keys = np.repeat(words[:, None], representatives.size, axis=1)
        kernel.raise_keys(self.tuples, representatives, keys, self._shifts, *self._told(changes))
        amounts, pairs = self.problem.tuples.amounts, self.problem.tuples.pairs
        return Grouping(levels, representatives, keys, amounts, pairs)

    def starts(self, levels: Levels) -> Longs:
        """Where the levels begin in the flat tables."""
        begins = [starts[level] for starts, level in zip(self._starts, levels, strict=True)]
        return np.array(begins, np.int64)

    def most_classes(self, levels: Levels) -> int:
        """There are no more classes than this."""
        return math.prod(map(operator.getitem, self._widths, levels))

    def places(self, levels: Levels) -> Ints:
        """The class of each tuple, numbered by first appearance."""
        return self._united(self.finest, levels)[0].copy()

    def at_tuples(self, levels: Levels, keys: Longs, chosen: Bools) -> Bools:
        """For each tuple whether its class is among those chosen, the others having other keys."""
        count, found = len(self.finest), np.zeros(self.tuples.shape[1], bool)
        # classes that are not among those asked about have the numbers behind them
        known = np.append(chosen, False)

        def work(first: int, last: int) -> None:
            places, _, own, _ = self._united(self.finest.part(first, last), levels)
            numbers = kernel.number_keys(np.concatenate([keys, own], axis=1), 0)[0]
            found[first:last] = known.take(numbers[chosen.size :], mode="clip").take(places)

        parts = allowed_threads() if count >= SHARED else 1
        bounds = [count * part // parts for part in range(parts + 1)]
        side_by_side(work, bounds[:-1], bounds[1:])
        return found

    def without(self, grouping: Grouping, attribute: int) -> Ints:
        """Number classes so that those that differ only in one attribute are the same."""
        level = grouping.levels[attribute]
        if self._widths[attribute][level] == 1:
            return np.arange(len(grouping), dtype=np.int32)
        rows = self.tuples[attribute].take(grouping.representatives)
        keys = grouping.keys.copy()
        keys[self._words[attribute]] -= self._shifts[self._starts[attribute][level] :].take(rows)
        numbers: Ints = kernel.number_keys(keys, 0)[0]
        return numbers

    def roll_up(self, finer: Grouping, levels: Levels) -> Grouping:
        """Unite the classes of a finer grouping that are equal at the given levels."""
        places, representatives, keys, amounts = self._united(finer, levels)
        pairs = {
            name: kernel.merge_pairs(places, *pairs, representatives.size, self._sizes[name])
            for name, pairs in finer.pairs.items()
        }
        return Grouping(levels, representatives, keys, amounts, pairs)

    def joined(self, parts: Sequence[Grouping]) -> Grouping:
        """Unite what the parts of a grouping were rolled up to, as if there had been no parts."""
        levels = parts[0].levels
        together = Grouping(
            levels,
            np.concatenate([one.representatives for one in parts]),
            np.concatenate([one.keys for one in parts], axis=1),
            np.concatenate([one.amounts for one in parts], axis=1),
            {},
        )
        return self.roll_up(together, levels)

    def _united(self, finer: Grouping, levels: Levels) -> United:
        words, changes = NOTHING, self._changes(finer.levels, levels)
        wide = sum(width > 1 for width in map(operator.getitem, self._widths, levels))
        if len(changes) > wide:
            words, changes = self._anew(levels)
        united: United = kernel.roll_up(
            self.tuples,
            finer.representatives,
            finer.keys,
            finer.amounts,
            self._shifts,
            *self._told(changes),
            words,
            self._own_room(),
        )
        return united

    def _own_room(self) -> kernel.Room:
        """Room for this thread: in memory that is new each time it takes three times as long."""
        room: kernel.Room | None = getattr(self._rooms, "own", None)
        if room is None:
            room = self._rooms.own = kernel.room_for(len(self.finest.keys), len(self.finest))
        return room

    def _changes(self, before: Levels, levels: Levels) -> list[Change]:
        """What must be added to keys and taken away for other levels."""
        return [
            (place, starts[old], starts[new])
            for place, (old, new, starts) in enumerate(
                zip(before, levels, self._starts, strict=True)
            )
            if old != new
        ]

    def _anew(self, levels: Levels) -> tuple[Longs, list[Change]]:
        """What attributes with a single value make of a key, and what the others add to that.

        High up in the lattice most attributes have a single value: to change keys takes longer.
        """
        words, changes = np.zeros(max(self._words) + 1, np.int64), []
        for place, level in enumerate(levels):
            begin = self._starts[place][level]
            if self._widths[place][level] > 1:
                changes.append((place, self._nowhere, begin))
            else:
                words[self._words[place]] += self._shifts[begin]
        return words, changes

    def _told(self, changes: Sequence[Change]) -> Longs:
        """Changes as the kernels want them."""
        changed = [
            (place, self._words[place], old, new, self._rows[place]) for place, old, new in changes
        ]
        told: Longs = np.array(changed, np.int64).reshape(-1, 5).T.copy()
        return told


def _place_values(sizes: Sequence[int]) -> tuple[list[int], list[int]]:
    """For each attribute the word of the key it goes to and its place value there."""
    words, values, span = [0], [1], sizes[0]
    for size in sizes[1:]:
        if span * size > LARGEST_KEY:
            words.append(words[-1] + 1)
            span = 1
        else:
            words.append(words[-1])
        values.append(span)
        span *= size
    return words, values


class Snapshots:
    """Groupings that are kept to start from, within a memory budget.

    Parameters
    ----------
    grouper
        What makes groupings.
    budget
        How many numbers may be kept; the least recently used snapshots go first.
    """

    def __init__(self, grouper: Grouper, budget: int = 50_000_000) -> None:
        self._grouper, self._budget, self._cells = grouper, budget, 0
        self._kept = [grouper.finest]
        self._levels = np.zeros((CAPACITY, len(grouper.finest.levels)), np.int32)
        self._sizes = np.full(CAPACITY, len(grouper.finest), np.int64)
        self._used = np.zeros(CAPACITY, np.int64)
        self._clock = itertools.count(1)
        self._leaps: dict[Levels, Levels] = {}

    def between(self, finer: Grouping, levels: Levels) -> Levels:
        """A node from which both the given one and the last that was far away can be reached.

        Nodes that are looked at one after the other resemble each other: where one is far from what
        it started from, it is worth while to stop on the way of the next, and others start there.
        """
        last = self._leaps.pop(finer.levels, None)
        return finer.levels if last is None else tuple(map(min, levels, last))

    def offer(self, made: Grouping, finer: Grouping, *, wanted: bool = True) -> None:
        """Keep a grouping that is wanted and not hardly smaller than the one it was made from."""
        if len(finer) >= LARGE and FAR * len(made) < len(finer):
            self._leaps[finer.levels] = made.levels
        # one that is hardly smaller saves no work to those that start from it
        if wanted and len(made) < 0.7 * len(finer):
            self._keep(made)

    def nearest(self, levels: Levels) -> Grouping:
        """The smallest known grouping that is at least as fine; the finest of all is the first."""
        count = len(self._kept)
        known = self._levels[:count], self._sizes[:count]
        place = int(kernel.nearest_finer(*known, np.array(levels, np.int32)))
        self._used[place] = next(self._clock)
        return self._kept[place]

    def _keep(self, grouping: Grouping) -> None:
        if grouping.cells > self._budget // 2:
            return
        self._cells += grouping.cells
        while self._cells > self._budget:
            self._forget(1 + int(np.argmin(self._used[1 : len(self._kept)])))
        if len(self._kept) == len(self._sizes):
            tables = (self._levels, self._sizes, self._used)
            self._levels, self._sizes, self._used = (np.concatenate([one, one]) for one in tables)
        self._kept.append(grouping)
        self._write(len(self._kept) - 1, next(self._clock))

    def _forget(self, place: int) -> None:
        """The last one takes the place of the one that goes."""
        self._cells -= self._kept[place].cells
        used, self._kept[place] = int(self._used[len(self._kept) - 1]), self._kept[-1]
        self._write(place, used)
        self._kept.pop()

    def _write(self, place: int, used: int) -> None:
        self._levels[place] = self._kept[place].levels
        self._sizes[place] = len(self._kept[place])
        self._used[place] = used
