"""Rank swapping in slow plain Python: the published algorithms 1, 2 and 3, step by step.

Rodriguez-Garcia, Batet and Sánchez (2019). Every step ranks all records anew, as the pseudo-code
says. The random draws are the kernels' own: a row of numbers per step, and orders of the records
that say which of several equal ones is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb

Distance = Callable[[int, int], float]


def pick(uniform: float, choices: Sequence[int]) -> int:
    return choices[min(int(uniform * len(choices)), len(choices) - 1)]


def share_of_tie(uniform: float, present: int, marked: int, slots: int) -> int:
    """How many marked ones a random subset of `slots` holds: the exact distribution, inverted."""
    rest = Fraction(uniform)
    for found in range(slots + 1):
        rest -= Fraction(
            comb(marked, found) * comb(present - marked, slots - found), comb(present, slots)
        )
        if rest < 0:
            return found
    raise AssertionError


def fixed(ranking: list[int], k: int, everyone: bool, uniforms: Sequence[float]) -> list[int]:
    """Algorithm 1 on records that are ranked already."""
    partners = list(range(len(ranking)))
    swapped: set[int] = set()
    for place, record in enumerate(ranking):
        if record in swapped:
            continue
        following = ranking[place + 1 :]
        if everyone:
            interval = [other for other in following[:k] if other not in swapped]
        else:
            interval = [other for other in following if other not in swapped][:k]
        if interval:
            other = pick(uniforms[place], interval)
            partners[record], partners[other] = other, record
            swapped.add(other)
        swapped.add(record)
    return partners


def by_distance(records: Sequence[int], distance: Distance, center: int) -> list[list[int]]:
    """The records in groups of equal distance to the center, nearest first."""
    groups: dict[float, list[int]] = {}
    for record in records:
        groups.setdefault(distance(center, record), []).append(record)
    return [groups[key] for key in sorted(groups)]


def cut(groups: list[list[int]], k: int) -> tuple[list[int], list[int], int]:
    """The first k records: whole groups, then a group and how many of it belong."""
    inside: list[int] = []
    for group in groups:
        if len(inside) + len(group) >= k:
            return inside, group, k - len(inside)
        inside += group
    raise AssertionError


class Univariate:
    """Algorithm 2. Positions among the records of an interval are counted in the order `key`."""

    def __init__(
        self,
        codes: Sequence[int],
        distance: Distance,
        priority: Sequence[int],
        uniforms: Sequence[Sequence[float]],
        *,
        by_value: bool,
    ) -> None:
        self.codes, self.uniforms, self.by_value = codes, uniforms, by_value
        self.distance = lambda a, b: distance(codes[a], codes[b])
        self.turn = {record: turn for turn, record in enumerate(priority)}

    def first_of_value(self, record: int, unswapped: set[int]) -> int:
        same = [other for other in unswapped if self.codes[other] == self.codes[record]]
        return min(same, key=self.turn.__getitem__)

    def ordered(self, records: Sequence[int], center: int) -> list[int]:
        def key(record: int) -> tuple[float, int]:
            near = 0.0 if self.by_value else self.distance(center, record)
            return near, self.codes[record]

        return sorted(records, key=key)

    def partner(
        self, center: int, k: int, everyone: bool, unswapped: set[int], draws
    ) -> int | None:
        """The record drawn from the interval of the center."""
        pool = set(range(len(self.codes))) if everyone else unswapped
        pool = pool - {center}
        k = min(k, len(pool))
        if k == 0:
            return None
        inside, tied, slots = cut(by_distance(sorted(pool), self.distance, center), k)
        inside = self.ordered([one for one in inside if one in unswapped], center)
        present, tied = len(tied), self.ordered([one for one in tied if one in unswapped], center)
        share = share_of_tie(draws[3], present, len(tied), slots) if everyone else slots
        if not inside and not share:
            return None
        position = min(int(draws[0] * (len(inside) + share)), len(inside) + share - 1)
        drawn = inside[position] if position < len(inside) else pick(draws[1], tied)
        return self.first_of_value(drawn, unswapped)

    def run(self, first: int, k: int, everyone: bool) -> tuple[list[int], list[int]]:
        """Start at a record of the value `first`; returns partners and references."""
        unswapped = set(range(len(self.codes)))
        partners, references = list(range(len(self.codes))), []
        drawn = self.codes.index(first)
        while unswapped:
            center, draws = self.first_of_value(drawn, unswapped), self.uniforms[len(references)]
            references.append(center)
            unswapped.remove(center)
            other = self.partner(center, k, everyone, unswapped, draws)
            if other is not None:
                partners[center], partners[other] = other, center
                unswapped.remove(other)
            if unswapped:
                farthest = by_distance(sorted(unswapped), self.distance, center)[-1]
                drawn = pick(draws[2], sorted(farthest, key=self.codes.__getitem__))
        return partners, references


def mixed(seed: float, record: int) -> float:
    """The number in [0, 1) that splitmix64 makes of a seed and a record."""
    mask = 2**64 - 1
    state = (int(seed * 2**53) + (record + 1) * 0x9E3779B97F4A7C15) & mask
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & mask
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & mask
    return ((state ^ (state >> 31)) >> 11) / 2**53


class Multivariate:
    """Algorithm 3: `tuple_of` numbers the distinct records, `distance` compares two of those."""

    def __init__(
        self,
        tuple_of: Sequence[int],
        distance: Distance,
        priorities: Sequence[Sequence[int]],
        uniforms: Sequence[Sequence[float]],
    ) -> None:
        self.tuple_of, self.uniforms = tuple_of, uniforms
        self.distance = lambda a, b: distance(tuple_of[a], tuple_of[b])
        self.turns = [{record: turn for turn, record in enumerate(row)} for row in priorities]
        self.attributes = len(priorities) - 1

    def ordered(self, records, row: int) -> list[int]:
        return sorted(records, key=lambda one: (self.tuple_of[one], self.turns[row][one]))

    def first_of_tuple(self, record: int, choices: set[int], row: int) -> int:
        same = [one for one in choices if self.tuple_of[one] == self.tuple_of[record]]
        return self.ordered(same, row)[0]

    def interval(self, center: int, k: int, seed: float) -> tuple[list[int], list[int]]:
        """The k nearest of all records: those before the last distance, and a sample at it."""
        pool = [one for one in range(len(self.tuple_of)) if one != center]
        inside, tied, slots = cut(by_distance(pool, self.distance, center), k)
        tied, sample = self.ordered(tied, self.attributes), []
        for seen, record in enumerate(tied):
            if mixed(seed, record) * (len(tied) - seen) < slots - len(sample):
                sample.append(record)
        return inside, sample

    def from_everyone(self, inside, sample, unswapped: set[int], row: int, draws) -> int | None:
        inside = self.ordered([one for one in inside if one in unswapped], row)
        sample = [one for one in sample if one in unswapped]
        if not inside and not sample:
            return None
        drawn = pick(draws[0], inside + sample)
        return drawn if drawn in sample else self.first_of_tuple(drawn, unswapped, row)

    def from_unswapped(self, center: int, k: int, unswapped: set[int], row: int, draws):
        k = min(k, len(unswapped))
        if k == 0:
            return None
        position = min(int(draws[0] * k), k - 1)
        _, tied, _ = cut(by_distance(sorted(unswapped), self.distance, center), position + 1)
        drawn = pick(draws[1], self.ordered(tied, row))
        return self.first_of_tuple(drawn, unswapped, row)

    def run(self, first: int, k: int, everyone: bool) -> tuple[list[list[int]], list[int]]:
        count = len(self.tuple_of)
        unswapped = [set(range(count)) for _ in range(self.attributes)]
        partners = [list(range(count)) for _ in range(self.attributes)]
        references: list[int] = []
        drawn = self.tuple_of.index(first)
        while unfinished := set.union(*unswapped):
            center = self.first_of_tuple(drawn, unfinished, self.attributes)
            draws = self.uniforms[len(references)]
            references.append(center)
            inside, sample = self.interval(center, k, draws[0]) if everyone else ([], [])
            for row, left in enumerate(unswapped):
                if center not in left:
                    continue
                left.remove(center)
                two = draws[2 + 2 * row : 4 + 2 * row]
                if everyone:
                    other = self.from_everyone(inside, sample, left, row, two)
                else:
                    other = self.from_unswapped(center, k, left, row, two)
                if other is not None:
                    left.remove(other)
                    partners[row][center], partners[row][other] = other, center
            if left := set.union(*unswapped):
                farthest = by_distance(sorted(left), self.distance, center)[-1]
                drawn = pick(draws[1], self.ordered(farthest, self.attributes))
        return partners, references
