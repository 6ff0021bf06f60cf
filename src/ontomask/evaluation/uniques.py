"""Which combinations of columns single people out: minimal unique sets.

A person is unique on a set of columns if nobody else in the table has the same values there, and
minimally so if this holds for no proper subset. Elliot, Manning and Ford, "A computational
algorithm for handling the special uniques problem", International Journal of Uncertainty,
Fuzziness and Knowledge-Based Systems 10 (2002); Manning, Haglin and Keane, "A recursive search
algorithm for statistical disclosure assessment", Data Mining and Knowledge Discovery 16 (2008).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ontomask.arrays import Bools, Longs
from ontomask.brevity import Brief
from ontomask.checks import Integer, check
from ontomask.data.grouping import group_rows
from ontomask.data.microdata import Microdata, Tuples
from ontomask.evaluation.selection import chosen_columns

__all__ = [
    "DEFINITIONS",
    "ColumnScore",
    "UniqueSet",
    "UniqueSets",
    "minimal_unique_sets",
]

SPARSE = 16
"""Numbers of up to so many times the tuples are counted in place rather than sorted."""

DEFINITIONS: dict[str, str] = {
    "unique": "people whose values on the combination nobody else in the table has",
    "minimal": "people who are unique on the combination and on no smaller part of it",
    "singled_out": "people who are unique on at least one combination of at most max_size columns",
    "by_size": "for each size, people whose smallest combination that singles them out has it",
    "sets": "minimal unique sets of all people together that the column is part of",
    "set_share": "share of all minimal unique sets that the column is part of",
    "people": "people with a minimal unique set that the column is part of",
    "score": (
        "sum of the scores of the minimal unique sets that the column is part of; a set of size k "
        "scores the product of (columns - i) for i from k to max_size (SUDA)"
    ),
    "score_share": "the column's score divided by the score of all minimal unique sets",
}

Combination = tuple[int, ...]


@dataclass(frozen=True)
class UniqueSet(Brief):
    """A combination of columns, and how many people it singles out.

    Attributes
    ----------
    columns
        The combination.
    unique, unique_share
        People whose values on it nobody else has, and their share.
    minimal, minimal_share
        Those among them who are unique on no smaller part of it, and their share.
    """

    columns: tuple[str, ...]
    unique: int
    unique_share: float
    minimal: int
    minimal_share: float


@dataclass(frozen=True)
class ColumnScore:
    """How much a column helps to single people out; see `DEFINITIONS` for each figure.

    Attributes
    ----------
    column
        The column.
    sets, set_share
        Minimal unique sets of people that it is part of, and their share among all.
    people
        People with such a set.
    score, score_share
        The scores of these sets, and their share of the whole.
    """

    column: str
    sets: int
    set_share: float
    people: int
    score: float
    score_share: float


@dataclass(frozen=True)
class UniqueSets(Brief):
    """All combinations of columns up to a size, and whom they single out.

    Attributes
    ----------
    columns, max_size
        What was asked.
    people
        People in the table: records, each as often as its count says.
    singled_out
        People who are unique on at least one of the combinations.
    by_size
        For each size from 1, people whose smallest minimal unique set has it.
    combinations
        The combinations, those that single out most people minimally first.
    scores
        The columns, the one with the highest score first.
    """

    columns: tuple[str, ...]
    max_size: int
    people: int
    singled_out: int
    by_size: tuple[int, ...]
    combinations: tuple[UniqueSet, ...]
    scores: tuple[ColumnScore, ...]

    def as_dict(self) -> dict[str, Any]:
        """The figures as a dictionary."""
        return asdict(self)

    def rows(self) -> list[dict[str, Any]]:
        """One row per combination, for a data frame."""
        return [
            {**asdict(one), "columns": ", ".join(one.columns), "size": len(one.columns)}
            for one in self.combinations
        ]


def minimal_unique_sets(
    microdata: Microdata, columns: Sequence[str] | None = None, max_size: int = 3
) -> UniqueSets:
    """Find for every combination of columns whom it singles out.

    Parameters
    ----------
    microdata
        The encoded table; missing values are values like any other, and people whose record has a
        count above 1 are never unique.
    columns
        The columns to combine; the quasi-identifiers if None.
    max_size
        The largest number of columns in a combination.
    """
    check("max_size", max_size, Integer(1))
    chosen = chosen_columns(microdata, columns)
    tuples = microdata.tuples(chosen)
    cardinalities = [microdata[name].cardinality for name in chosen]
    largest = min(max_size, len(chosen))
    tally = _Tally(chosen, largest, len(tuples), round(microdata.total))
    for members, unique, minimal in _searched(tuples, cardinalities, largest):
        tally.add(members, unique, minimal)
    return tally.result(max_size)


def _set_score(size: int, largest: int, columns: int) -> float:
    """The product of (columns - i) for i from the set's size to the largest size looked at.

    The last factor would be zero when all columns may be combined; it is left out.
    """
    return float(math.prod(columns - i for i in range(size, min(largest, columns - 1) + 1)))


# The search -----------------------------------------------------------------------------------


def _searched(
    tuples: Tuples, cardinalities: Sequence[int], largest: int
) -> Iterator[tuple[Combination, Bools, Longs]]:
    """Each combination with the tuples unique on it and the places of those minimally so.

    Whoever is unique on a set is so on all larger ones; so it suffices to look at the parts that
    lack one column, and only the last size is remembered.
    """
    single: Bools = tuples.counts == 1
    smaller: dict[Combination, Bools] = {(): np.zeros(len(tuples), bool)}
    for size in range(1, largest + 1):
        current: dict[Combination, Bools] = {}
        for members in combinations(range(len(cardinalities)), size):
            unique = _unique(tuples, cardinalities, members, single)
            before = [smaller[part] for part in combinations(members, size - 1)]
            minimal = np.flatnonzero(unique & ~np.logical_or.reduce(before))
            if size < largest:
                current[members] = unique
            yield members, unique, minimal
        smaller = current


def _unique(
    tuples: Tuples, cardinalities: Sequence[int], members: Combination, single: Bools
) -> Bools:
    """Which tuples are one person alone on some columns."""
    sizes = [cardinalities[one] for one in members]
    codes = [tuples.codes[one] for one in members]
    span = math.prod(sizes)
    if span <= SPARSE * len(tuples):
        places = np.zeros(len(tuples), np.int64)
        for column, size in zip(codes, sizes, strict=True):
            places = places * size + column
    else:
        places = group_rows(codes, sizes)[1]
    alone: Bools = np.bincount(places)[places] == 1
    return alone & single


class _Tally:
    """Adds up whom the combinations single out; a tuple that is unique is one person."""

    def __init__(self, names: tuple[str, ...], largest: int, tuples: int, people: int) -> None:
        self.names, self.largest, self.people = names, largest, people
        self.found: list[UniqueSet] = []
        self.sets = np.zeros(len(names), np.int64)
        self.scores = np.zeros(len(names))
        self.touched = np.zeros((len(names), tuples), bool)
        self.smallest = np.zeros(tuples, np.int64)
        self.all_sets, self.all_scores = 0, 0.0

    def add(self, members: Combination, unique: Bools, minimal: Longs) -> None:
        """Take in one combination; smaller ones come first."""
        count, size = int(np.count_nonzero(unique)), len(members)
        columns = tuple(self.names[one] for one in members)
        shares = count / self.people, minimal.size / self.people
        self.found.append(UniqueSet(columns, count, shares[0], minimal.size, shares[1]))
        score = minimal.size * _set_score(size, self.largest, len(self.names))
        self.all_sets += minimal.size
        self.all_scores += score
        for one in members:
            self.sets[one] += minimal.size
            self.scores[one] += score
            self.touched[one, minimal] = True
        self.smallest[minimal[self.smallest[minimal] == 0]] = size

    def result(self, max_size: int) -> UniqueSets:
        """What was found."""
        by_size = np.bincount(self.smallest, minlength=self.largest + 1)[1:]
        return UniqueSets(
            columns=self.names,
            max_size=max_size,
            people=self.people,
            singled_out=int(by_size.sum()),
            by_size=tuple(by_size.tolist()),
            combinations=tuple(
                sorted(self.found, key=lambda one: (-one.minimal, len(one.columns), one.columns))
            ),
            scores=tuple(sorted(self._column_scores(), key=lambda one: (-one.score, one.column))),
        )

    def _column_scores(self) -> Iterator[ColumnScore]:
        for place, name in enumerate(self.names):
            yield ColumnScore(
                column=name,
                sets=int(self.sets[place]),
                set_share=float(self.sets[place]) / max(1, self.all_sets),
                people=int(np.count_nonzero(self.touched[place])),
                score=float(self.scores[place]),
                score_share=float(self.scores[place]) / (self.all_scores or 1.0),
            )
