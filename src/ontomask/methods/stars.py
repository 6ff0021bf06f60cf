"""Which cells to star so that every combination of values and stars is shared by at least k.

A record with the star pattern S is grouped with the records of the same pattern that agree on the
other columns. Three ways bring an unsafe record into a group of k: it joins a group that exists,
unsafe records that agree form one among themselves, or they are completed by records lent from
larger safe groups. Each has a price per unsafe record; the search takes the cheapest first, and at
the end gives lent records their values back where a group can spare them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.data.grouping import group_rows

__all__ = ["starred_cells"]

ALL_PATTERNS_UP_TO = 8
PASSES = 4
SEARCHED = 0.6
"""The share of the work that is done before what was found is improved."""


def starred_cells(
    codes: Ints, counts: Floats, costs: Floats, k: int, report: Callable[[float], None]
) -> Bools:
    """Which cells to star: a row for each record, with an entry for each column.

    Parameters
    ----------
    codes
        One row per column, one column per record.
    counts
        How many equal records each one is.
    costs
        What a star costs in each column.
    k
        The least size of a group.
    report
        Called with the share that is done.
    """
    search = _Search(codes, counts, costs, k)
    options = search.options()
    for done, (_, pattern, least) in enumerate(options):
        if not search.unsafe.any():
            break
        search.join(pattern)
        search.form(pattern, least)
        report(SEARCHED * done / len(options))
    search.finish()
    for done in range(PASSES):

        def passed(share: float, done: int = done) -> None:
            report(SEARCHED + (1.0 - SEARCHED) * (done + share) / PASSES)

        if not search.improve(passed):
            break
    starred = np.array([_bits(stars, costs.size) for stars in search.sets])
    return starred[search.patterns]


def _bits(stars: int, width: int) -> list[bool]:
    return [bool(stars >> place & 1) for place in range(width)]


@dataclass
class _Search:
    """The state of the search: what is starred now, and which groups there are.

    A pattern is the place in `sets` of a set of stars, a number whose bit j says that column j is
    starred; they ascend, from no star to all of them.
    """

    codes: Ints
    counts: Floats
    costs: Floats
    k: int
    patterns: Longs = field(init=False)
    unsafe: Bools = field(init=False)

    def __post_init__(self) -> None:
        count = self.codes.shape[1]
        self.patterns = np.zeros(count, np.int64)
        self.kept_keys: dict[int, Ints] = {}
        self.runs: dict[tuple[int, int], Ints] = {}
        # prices in the order of combining, which decides between equal ones
        every = self._all_sets()
        self.sets = [0, *sorted(every)]
        places = {stars: place for place, stars in enumerate(self.sets)}
        self.price = {places[stars]: self._price(stars) for stars in every}
        self.most = dict.fromkeys(self.price, np.inf)
        self.original = self.keys(0)
        self.unsafe = self._group_counts(self.original)[self.original] < self.k

    def _all_sets(self) -> list[int]:
        width = self.codes.shape[0]
        sizes = range(1, width + 1) if width <= ALL_PATTERNS_UP_TO else (1, 2, width)
        return [
            sum(1 << place for place in chosen)
            for size in sizes
            for chosen in combinations(range(width), size)
        ]

    def _price(self, stars: int) -> float:
        return float(sum(c for place, c in enumerate(self.costs) if stars >> place & 1))

    def options(self) -> list[tuple[float, int, int]]:
        """(Price per unsafe record, pattern, least size of a group to complete), cheapest first."""
        return sorted(
            (price * max(self.k, least) / least, pattern, least)
            for pattern, price in self.price.items()
            for least in range(1, self.k + 1)
        )

    def keys(self, pattern: int) -> Ints:
        """A number for each record that is equal where the unstarred columns are."""
        if pattern not in self.kept_keys:
            self.kept_keys[pattern] = self._numbers(self._runs(self.sets[pattern]))
        return self.kept_keys[pattern]

    def _runs(self, stars: int) -> list[Ints]:
        """What the columns between the stars tell, each time of all that stand side by side."""
        width = self.codes.shape[0]
        ends = [-1, *(place for place in range(width) if stars >> place & 1), width]
        bounds = [(one + 1, other) for one, other in pairwise(ends) if one + 1 < other]
        return [self._run(*one) for one in bounds]

    def _run(self, first: int, end: int) -> Ints:
        """A number for each record that is equal where the columns from first to end are."""
        if end == first + 1:
            column: Ints = self.codes[first]
            return column
        if (first, end) not in self.runs:
            self.runs[first, end] = self._numbers([self._run(first, end - 1), self.codes[end - 1]])
        return self.runs[first, end]

    def _numbers(self, columns: list[Ints]) -> Ints:
        """A number for each record that is equal where the columns are."""
        if not columns:
            return np.zeros(self.codes.shape[1], np.int32)
        numbers: Ints = np.empty(self.codes.shape[1], np.int32)
        numbers[:] = group_rows(columns, [int(one.max()) + 1 for one in columns])[1]
        return numbers

    def _group_counts(self, keys: Ints, mask: Bools | None = None) -> Floats:
        counts = self.counts if mask is None else np.where(mask, self.counts, 0.0)
        return np.bincount(keys, weights=counts).astype(np.float64)

    def join(self, pattern: int) -> None:
        """Let unsafe records join groups of this pattern."""
        members = self.patterns == pattern
        if members.any():
            keys = self.keys(pattern)
            there = self._group_counts(keys, members) > 0
            self._star(self.unsafe & there[keys], pattern)

    def form(self, pattern: int, least: int) -> None:
        """Form groups of at least `least` unsafe records, completed by lent ones where needed."""
        # records only become safe, so groups of unsafe ones never grow
        if self.most[pattern] < least:
            return
        keys = self.keys(pattern)
        totals = self._group_counts(keys, self.unsafe)
        self.most[pattern] = totals.max(initial=0.0)
        if self.most[pattern] < least:
            return
        enough = totals >= self.k
        needy = np.flatnonzero((totals >= least) & ~enough)
        lent = self._lent(pattern, keys, needy, self.k - totals[needy])
        enough[np.unique(keys[lent])] = True
        self._star(self.unsafe & enough[keys], pattern)
        self._star_records(lent, pattern)

    def _lent(self, pattern: int, keys: Ints, needy: Longs, wanted: Floats) -> Longs:
        """Records from safe groups that can spare them, enough for each group that gets any."""
        if needy.size == 0:
            return np.empty(0, np.int64)
        safe = ~self.unsafe & (self.patterns == 0)
        spare = self._group_counts(self.original, safe) - self.k
        useful = np.isin(keys, needy) & safe & (spare[self.original] >= 1)
        records = np.flatnonzero(useful)
        records = records[np.lexsort((-spare[self.original[records]], keys[records]))]
        starts = np.searchsorted(keys[records], needy)
        stops = np.searchsorted(keys[records], needy, side="right")
        chosen: list[int] = []
        for start, stop, want in zip(starts, stops, wanted, strict=True):
            chosen.extend(self._lend(records[start:stop], spare, float(want)))
        return np.array(chosen, np.int64)

    def _lend(self, records: Longs, spare: Floats, want: float) -> list[int]:
        """Take records one by one until `want` are found; nothing if there are too few."""
        taken: list[int] = []
        for record in records.tolist():
            if want <= 0:
                break
            count, group = self.counts[record], self.original[record]
            if spare[group] >= count:
                spare[group] -= count
                want -= count
                taken.append(record)
        if want <= 0:
            return taken
        for record in taken:
            spare[self.original[record]] += self.counts[record]
        return []

    def _star(self, mask: Bools, pattern: int) -> None:
        self.patterns[mask] = pattern
        self.unsafe[mask] = False

    def _star_records(self, records: Longs, pattern: int) -> None:
        self.patterns[records] = pattern

    def finish(self) -> None:
        """Star whatever is left completely, with whole safe groups where none can spare any."""
        everything = len(self.sets) - 1
        self.join(everything)
        if not self.unsafe.any():
            return
        self._star(self.unsafe.copy(), everything)
        while self.counts[self.patterns == everything].sum() < self.k:
            plain = self.patterns == 0
            if not plain.any():  # too few are left in any other way: nothing can be told apart
                self.patterns[:] = everything
                return
            totals = self._group_counts(self.original, plain)
            smallest = int(np.where(totals > 0, totals, np.inf).argmin())
            self._star(plain & (self.original == smallest), everything)

    def improve(self, report: Callable[[float], None]) -> bool:
        """Move records to cheaper groups, or give them their values back; tell if any moved."""
        moved = False
        for done, pattern in enumerate(sorted(self.price, key=lambda one: -self.price[one])):
            report(done / len(self.price))
            members = np.flatnonzero(self.patterns == pattern)
            if members.size:
                moved |= self._release(pattern, members)
        return moved

    def _release(self, pattern: int, members: Longs) -> bool:
        keys = self.keys(pattern)
        totals = self._group_counts(keys, self.patterns == pattern)
        moved = False
        targets = [0, *(one for one in self.price if self.price[one] < self.price[pattern])]
        targets.sort(key=lambda one: self.price.get(one, 0.0))
        for target in targets:
            there = self._group_counts(self.keys(target), self.patterns == target) >= self.k
            able = members[there[self.keys(target)[members]] & (self.patterns[members] == pattern)]
            for record in able.tolist():
                if totals[keys[record]] - self.counts[record] >= self.k:
                    totals[keys[record]] -= self.counts[record]
                    self.patterns[record] = target
                    moved = True
        return moved
