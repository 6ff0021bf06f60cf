"""The values of a column before and after masking, and how far they are apart.

A released value is a value like the original ones (a *point*), or stands for a *set* of them: a
label of a hierarchy, an interval, a period, a star. The distance of an original value x to a set G
is the mean of d(x, y) over the y in G, weighted by how often y occurs in the original column, and
uniformly where none of them does.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.memory import LARGEST_TABLE, NEAR_TABLE, SMALL_TABLE, row_blocks
from ontomask.remembering import remembered
from ontomask.semantics.dependence import semantic_mean
from ontomask.semantics.distances import MISSING_DISTANCE, ValueDistances
from ontomask.semantics.sample import Sample
from ontomask.sparse import SparseRows, joined_by

__all__ = ["CodedSides", "NumberSides", "Released", "Sides"]

POINT, FOREIGN = -1, -1
"""What has no set, and what is no original value."""
TABLES = ("_between_originals", "_between_released", "table")
"""Distances that depend on how many people have each value only where there are sets."""


@dataclass(frozen=True, eq=False)
class Released:
    """The released values of a column, by code; a missing one has the code behind the last.

    Attributes
    ----------
    points
        What each value is, as the original ones are numbered: a concept, a rank, a code, or a
        number of a numeric column. It means nothing for a set.
    sets
        The number of the set that each value stands for, -1 for a point.
    members
        The original values in each set: 1 where the value (a column; the missing value is the last
        one) belongs to the set (a row).
    stars
        Which values stand for the whole column.
    labels
        The values as texts.
    unread
        How many labels could not be read by themselves.
    """

    points: Any
    sets: Longs
    members: SparseRows
    stars: Bools
    labels: tuple[str, ...]
    unread: int = 0

    @classmethod
    def of(
        cls,
        labels: Sequence[object],
        points: Any,
        groups: Sequence[Longs | None],
        size: int,
        stars: Bools | None = None,
        unread: int = 0,
    ) -> Released:
        """Released values, each of them with the codes of what it stands for, or None for a point.

        Parameters
        ----------
        labels, points, stars, unread
            As the attributes; without `stars` there are none.
        groups
            For each value the codes of the original values below it.
        size
            The number of original values, the missing one not counted.
        """
        starred = np.zeros(len(labels), bool) if stars is None else stars
        everything = np.arange(size + 1)
        chosen = [everything if star else one for star, one in zip(starred, groups, strict=True)]
        given = [one for one in chosen if one is not None]
        sets = np.full(len(labels), POINT, np.int64)
        sets[[one is not None for one in chosen]] = np.arange(len(given))
        starts = np.concatenate([[0], np.cumsum([one.size for one in given])]).astype(np.int64)
        flat = np.concatenate([np.empty(0, np.int64), *given])
        members = SparseRows(starts, flat, np.ones(flat.size), size + 1)
        return cls(points, sets, members, starred, tuple(map(str, labels)), unread)

    def __len__(self) -> int:
        return self.sets.size

    @remembered
    def single(self) -> Longs:
        """The only original value in each set, -1 where there are several."""
        members = self.members
        firsts = np.append(members.columns, FOREIGN)[members.starts[:-1]]
        return np.where(members.sizes == 1, firsts, FOREIGN)

    def holds(self, sets: Longs, codes: Ints) -> Bools:
        """Whether each set holds an original code."""
        members = self.members
        width = members.width
        return np.isin(sets * width + codes, members.owners * width + members.columns)

    def shares(self, people: Floats) -> SparseRows:
        """How the members of each set are spread over it: rows that add up to 1."""
        members = self.members
        weights = people[members.columns]
        totals = members.times(people)[members.owners]
        sizes = members.sizes[members.owners]
        spread = np.where(totals > 0, weights / np.where(totals > 0, totals, 1.0), 1.0 / sizes)
        return members.with_amounts(spread)


class Level(NamedTuple):
    """The finest groups of values that both sides of a column have.

    Attributes
    ----------
    original, released
        The group of each original and of each released code; -1 for what tells nothing, and for
        released values that the original does not have.
    names
        For groups of several values the label under which they are released.
    """

    original: Longs
    released: Longs
    names: Mapping[int, str]


@dataclass(frozen=True, eq=False)
class Sides(ABC):
    """The values of a column before and after masking.

    Attributes
    ----------
    released
        The released values.
    people
        How many people have each original value, the missing one last.
    """

    released: Released
    people: Floats

    @property
    def size(self) -> int:
        """The number of original values, and the code of a missing one."""
        return self.people.size - 1

    @property
    def released_size(self) -> int:
        """The number of released values, and the code of a missing one."""
        return len(self.released)

    def counted(self, people: Floats, **others: Any) -> Self:
        """The same values, which other people have; what is known of values alone is kept."""
        counted = replace(self, people=people, **others)
        known = {name: vars(self)[name] for name in self._of_values if name in vars(self)}
        vars(counted).update(known)  # where it is looked for first
        return counted

    @property
    def _of_values(self) -> tuple[str, ...]:
        """What is remembered and does not depend on how many people have each value."""
        return "sets", "tells_nothing", "own"

    @remembered
    def shares(self) -> SparseRows:
        """How original values are spread over each set."""
        return self.released.shares(self.people)

    @remembered
    def sets(self) -> Longs:
        """The set of each released code, -1 for points and missing values."""
        return np.append(self.released.sets, POINT)

    @remembered
    def tells_nothing(self) -> Bools:
        """Which released codes say nothing of the value: stars and missing ones."""
        return np.append(self.released.stars, True)

    @remembered
    def own(self) -> Longs:
        """The original code that each released code stands for alone, -1 where there is none."""
        sets = self.released.sets
        single = self._codes_of_points()
        single[sets >= 0] = self.released.single[sets[sets >= 0]]
        return np.append(single, self.size)

    @remembered
    def to_star(self) -> Floats:
        """The distance of each original code to the whole column."""
        everything = Released.of(
            ["*"], self.released.points[:0], [None], self.size, np.ones(1, bool)
        )
        return replace(self, released=everything).to_sets[:, 0]

    @property
    @abstractmethod
    def to_sets(self) -> Floats:
        """The distances of the original codes to the sets."""

    @property
    @abstractmethod
    def numbered(self) -> Any:
        """The original values as numbers that can be compared; the missing one is the last."""

    def _codes_of_points(self) -> Longs:
        """The original code of each released value, as if none were a set."""
        known, wanted = self.numbered[:-1], self.released.points
        order = np.argsort(known, kind="stable")
        places = np.minimum(np.searchsorted(known[order], wanted), max(known.size - 1, 0))
        if not known.size:
            return np.full(wanted.size, FOREIGN, np.int64)
        found = order[places]
        return np.where(known[found] == wanted, found, FOREIGN).astype(np.int64)

    @abstractmethod
    def moved(self, old: Ints, new: Ints) -> Floats:
        """The distances of pairs of an original and a released code."""

    def level(self, new: Ints) -> Level:
        """The finest groups of values that both sides have, where these codes are released."""
        used = np.unique(new)
        used = used[(self.sets[used] >= 0) & ~self.tells_nothing[used]]
        sets = self.released.members[self.sets[used]]
        known = sets.columns < self.size
        entries = sets.owners[known], sets.columns[known], sets.amounts[known]
        members = SparseRows.of(*entries, (used.size, self.size))
        cells, united = joined_by(members)
        original = np.append(cells, -1)
        released = np.where(self.own < 0, -1, original[self.own])
        released[used] = united
        released[self.tells_nothing] = -1
        # the label of the largest set of a group comes last, and stays
        order = used[np.argsort(members.sizes, kind="stable")].tolist()
        names = {int(released[code]): self.released.labels[code] for code in order}
        return Level(original, released, names)


@dataclass(frozen=True, eq=False)
class CodedSides(Sides):
    """The values of a nominal, ordinal or flat column.

    Attributes
    ----------
    distances
        How far values are apart.
    values
        The original values as `distances` compares them; the missing one, -1, is the last.
    names
        The original values as texts.
    """

    distances: ValueDistances
    values: Longs
    names: tuple[str, ...]

    @property
    def numbered(self) -> Any:
        """The original values as `distances` compares them."""
        return self.values

    @property
    def _of_values(self) -> tuple[str, ...]:
        """What is remembered and does not depend on how many people have each value."""
        between = ("_between_originals",) if len(self.released.members) else TABLES
        return (*super()._of_values, *between)

    @remembered
    def _between_originals(self) -> Floats:
        return self.distances.between(self.values, self.values)

    def originals_apart(self, first: Longs | Ints, second: Longs | Ints) -> Floats:
        """Distances between original codes; a missing value is at distance 1."""
        if self.values.size**2 > SMALL_TABLE:
            return self.distances.between(self.values[first], self.values[second])
        apart: Floats = self._between_originals[np.ix_(first, second)]
        return apart

    def released_apart(self, first: Longs | Ints, second: Longs | Ints) -> Floats:
        """Distances between released codes; those of two sets are expected ones."""
        points = self._points
        if points.size**2 > SMALL_TABLE and (self.released.sets < 0).all():
            return self.distances.between(points[first], points[second])
        if self.distances.of_words and not self.held:
            return self._words_apart(first, second)
        apart: Floats = self._between_released[np.ix_(first, second)]
        return apart

    def _words_apart(self, first: Longs | Ints, second: Longs | Ints) -> Floats:
        """The same of words: 1, less the probability that both codes stand for the same word."""
        rows, others, apart = self._spread[first], self._spread[second], []
        for block in row_blocks(second.size, self.values.size):
            some = others[np.arange(second.size)[block]].dense()
            apart.append(1.0 - rows.times(np.ascontiguousarray(some.T)))
        found = np.concatenate(apart, axis=1)
        found[np.equal.outer(first, second)] = 0.0
        return found

    @remembered
    def _spread(self) -> SparseRows:
        """How each released code is spread over original ones; one that is none of them is not."""
        within, alone = self.sets >= 0, (self.sets < 0) & (self.own >= 0)
        inside = self.shares[self.sets[within]]
        owners = np.append(np.flatnonzero(within)[inside.owners], np.flatnonzero(alone))
        columns = np.append(inside.columns, self.own[alone])
        amounts, order = np.append(inside.amounts, np.ones(alone.sum())), np.argsort(owners)
        shape = self.sets.size, self.values.size
        return SparseRows.of(owners[order], columns[order], amounts[order], shape)

    def originals_summed(
        self, first: Longs, second: Longs, weights: Floats, power: int = 1
    ) -> Floats | None:
        """Weighted sums of distances between original codes, where nobody need look at pairs."""
        return self.distances.summed(self.values[first], self.values[second], weights, power)

    def released_summed(
        self, first: Longs, second: Longs, weights: Floats, power: int = 1
    ) -> Floats | None:
        """The same between released codes that are no sets."""
        if (self.sets[first] >= 0).any() or (self.sets[second] >= 0).any():
            return None
        points = self._points
        return self.distances.summed(points[first], points[second], weights, power)

    @remembered
    def to_star(self) -> Floats:
        """The distance of each original code to the whole column."""
        every, people = np.arange(self.values.size), self.people
        told = self.originals_summed(every, every, people) if people.any() else None
        return super().to_star if told is None else told / people.sum()

    @property
    def _points(self) -> Longs:
        """What each released code is, -1 for sets and the missing one."""
        return np.append(np.where(self.released.sets < 0, self.released.points, -1), -1)

    @property
    def held(self) -> bool:
        """Whether the distances of original to released codes are held in a table."""
        return self.values.size * self._points.size <= LARGEST_TABLE

    @remembered
    def to_sets(self) -> Floats:
        """The distances of the original codes to the sets."""
        codes = np.arange(self.values.size)
        if self.distances.of_words:
            return (self.shares.sizes > 0) - self.shares.dense().T
        if not len(self.released.members):
            return np.empty((codes.size, 0))  # where all distances would be computed for nothing
        parts = [
            self.shares.times(np.ascontiguousarray(self.originals_apart(codes[block], codes).T)).T
            for block in row_blocks(codes.size, codes.size)
        ]
        return np.concatenate(parts)

    @remembered
    def table(self) -> Floats:
        """Distances of original to released codes; a missing value is at distance 1."""
        points = self.released.sets < 0
        numbers = np.where(points, self.released.points, 0)
        table = self.distances.between(self.values, np.append(numbers, -1))
        if not points.all():
            table[:, :-1][:, ~points] = self.to_sets[:, self.released.sets[~points]]
        return table

    @remembered
    def _between_released(self) -> Floats:
        points = self.released.sets < 0
        numbers = np.append(np.where(points, self.released.points, 0), -1)
        table = self.distances.between(numbers, numbers)
        if not points.all():
            rows = self.shares[self.released.sets[~points]].times(self.table)
            table[:-1][~points] = rows
            table[:, :-1][:, ~points] = rows.T
            np.fill_diagonal(table, 0.0)
        return table

    @remembered
    def center(self) -> int:
        """The concept nearest to all values of a column with a taxonomy."""
        return self._center(self.values[:-1], self.people[:-1])

    def released_center(self, new: Ints, weights: Floats) -> int:
        """The same for released codes; what stands for several counts as these do."""
        told = np.bincount(new, weights, self.released_size + 1)[:-1]
        told = np.where(self.released.stars, 0.0, told)
        points = self.released.sets < 0
        inside = np.zeros(len(self.released.members))
        np.add.at(inside, self.released.sets[~points], told[~points])
        spread = self.shares.gathered(inside)[:-1]
        concepts = np.append(self.values[:-1], self.released.points[points])
        return self._center(concepts, np.append(spread, told[points]))

    def _center(self, concepts: Longs, people: Floats) -> int:
        assert self.distances.space is not None
        used, codes = np.unique(concepts[people > 0], return_inverse=True)
        sample = Sample(self.distances.space, used.astype(np.int32), codes, people[people > 0])
        return self.distances.space.taxonomy.index_of(semantic_mean(sample))

    def moved(self, old: Ints, new: Ints) -> Floats:
        """The distances of pairs of an original and a released code."""
        if self.held:
            found: Floats = self.table[old, new]
            return found
        found, sets = self.distances.paired(self.values[old], self._points[new]), self.sets[new]
        within = sets >= 0
        found[within] = self._to_some_sets(old[within], sets[within])
        return found

    def _to_some_sets(self, codes: Ints, sets: Longs) -> Floats:
        """The distances of pairs of an original code and a set, one by one.

        A word is at distance 1 from all of a set but itself, so that nobody else need be looked at.
        """
        if self.distances.of_words:
            return (self.shares.sizes > 0)[sets] - self.shares.at(sets, codes)
        return self.to_sets[codes, sets]


class _Running(NamedTuple):
    """Sums over the members of sets of numbers up to each of them, the missing one left out.

    Attributes
    ----------
    starts
        Where the sums of each set begin, with that over nothing.
    firsts, sizes
        The first member of each set, and how many there are.
    keys
        The members of all sets, where those of some are not one behind the other.
    before, sums
        The sums of shares, and of shares times numbers, which begin with the first of the column.
    ends, missing
        The whole of the latter, and the share of the missing value.
    width
        How many codes there are, the missing one among them.
    """

    starts: Longs
    firsts: Longs
    sizes: Longs
    keys: Longs | None
    before: Floats
    sums: Floats
    ends: Floats
    missing: Floats
    width: int

    @classmethod
    def of(cls, shares: SparseRows, numbers: Floats) -> _Running:
        """Of sets over numbers, ascending, behind which a missing one has the last code."""
        known = np.append(numbers - (numbers[0] if numbers.size else 0.0), 0.0)
        missing, inside = np.zeros(len(shares)), shares.columns < numbers.size
        missing[shares.owners[~inside]] = shares.amounts[~inside]
        order = np.flatnonzero(inside)
        order = order[np.lexsort((shares.columns[order], shares.owners[order]))]
        owners, codes = shares.owners[order], shares.columns[order]
        amounts = shares.amounts[order]
        begins = np.searchsorted(owners, np.arange(len(shares) + 1))
        starts, sizes = begins + np.arange(begins.size), np.diff(begins)
        firsts = np.append(codes, 0)[begins[:-1]]
        close = np.arange(codes.size) - begins[owners] == codes - firsts[owners]
        before, sums = (_summed(begins, one) for one in (amounts, amounts * known[codes]))
        width = numbers.size + 1
        keys = None if close.all() else owners * width + codes
        return cls(starts, firsts, sizes, keys, before, sums, sums[starts[1:] - 1], missing, width)

    def places(self, codes: Longs | Ints, sets: Longs) -> Longs:
        """Where the sums over all members of a set up to a code are, for pairs of these."""
        if self.keys is None:
            inside = np.clip(codes - (self.firsts[sets] - 1), 0, self.sizes[sets])
            return np.asarray(self.starts[sets] + inside)
        found = np.searchsorted(self.keys, sets * self.width + codes, side="right")
        return np.asarray(found + sets)


def _summed(begins: Longs, amounts: Floats) -> Floats:
    """Running sums of amounts, of each stretch by itself and behind a 0."""
    sums = np.zeros(amounts.size + begins.size)
    for place, (first, last) in enumerate(itertools.pairwise(begins.tolist())):
        np.cumsum(amounts[first:last], out=sums[first + place + 1 : last + place + 1])
    return sums


@dataclass(frozen=True, eq=False)
class NumberSides(Sides):
    """The values of a numeric or date column; distances are measured in standard deviations.

    Attributes
    ----------
    numbers
        The original numbers, ascending; NaN, the missing one, is the last.
    spread
        The variance of the column.
    """

    numbers: Floats
    spread: float

    @property
    def numbered(self) -> Any:
        """The original numbers."""
        return self.numbers

    @property
    def deviation(self) -> float:
        """The standard deviation of the original numbers, 1 if they are constant."""
        return float(np.sqrt(self.spread)) or 1.0

    @property
    def to_sets(self) -> Floats:
        """The distances of the original codes to the sets."""
        return self.some_to_sets(np.arange(self.size + 1))

    def some_to_sets(self, codes: Longs) -> Floats:
        """The distances of some original codes to all sets, a row for each."""
        table, every = np.empty((codes.size, len(self.shares))), np.arange(len(self.shares))
        for block in row_blocks(codes.size, every.size, NEAR_TABLE):
            table[block] = self._apart(codes[block, None], every)
        return table

    @property
    def middles(self) -> Longs:
        """An original code in the midst of each set."""
        running = self._running
        middles: Longs = running.firsts + running.sizes // 2
        return np.minimum(middles, max(0, self.size - 1))

    @remembered
    def _running(self) -> _Running:
        return _Running.of(self.shares, self.numbers[:-1])

    def _apart(self, codes: Longs | Ints, sets: Longs) -> Floats:
        """The distances of pairs of an original code and a set, from running sums over the set."""
        running, size = self._running, self.size
        missing, place = running.missing[sets], running.places(codes, sets)
        known = np.append(self.numbers[:-1] - (self.numbers[0] if size else 0.0), 0.0)[codes]
        before, sums = running.before[place], running.sums[place]
        # the sum of |x - y| is that of x - y over the y up to x, less that over those behind it
        apart = known * (2.0 * before - (1.0 - missing)) - 2.0 * sums + running.ends[sets]
        apart = np.maximum(apart, 0.0) / self.deviation + missing * MISSING_DISTANCE
        apart = np.where(codes == size, MISSING_DISTANCE * (1.0 - missing), apart)
        return np.where(self.released.single[sets] == codes, 0.0, apart)

    @remembered
    def expected(self) -> Floats:
        """The number that each released code stands for on average, NaN if it tells nothing."""
        found: Floats = np.append(self.released.points.astype(np.float64), np.nan)
        within = self.released.sets >= 0
        if within.any():
            known = np.append(self.numbers[:-1], 0.0)
            found[:-1][within] = self.shares.times(known)[self.released.sets[within]]
        found[self.tells_nothing] = np.nan
        return found

    @property
    def nearest_codes(self) -> Longs:
        """The original code next to each released number; nothing for sets and missing ones."""
        points = np.append(self.released.points, np.nan)
        known = self.numbers[:-1]
        places = np.clip(np.searchsorted(known, points), 0, max(known.size - 1, 0))
        return np.where(np.isnan(points), self.size, places).astype(np.int64)

    def moved(self, old: Ints, new: Ints) -> Floats:
        """The distances of pairs of an original and a released code."""
        sets = self.sets[new]
        points = np.append(self.released.points, np.nan)[new]
        distance: Floats = np.abs(self.numbers[old] - points) / self.deviation
        gaps = old == self.size, new == self.released_size
        distance = np.where(gaps[0] | gaps[1], (gaps[0] != gaps[1]) * MISSING_DISTANCE, distance)
        within = sets >= 0
        distance[within] = self._apart(old[within], sets[within])
        return distance
