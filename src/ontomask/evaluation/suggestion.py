"""Which columns of a table are quasi-identifiers, judged by how well they tell people apart.

Motwani and Xu, "Efficient algorithms for masking and finding quasi-identifiers", VLDB workshop on
secure data management (2007): the distinction of some columns is the number of their different
values over the number of people, their separation the share of pairs of people whom they tell
apart. A missing value is a value like any other.

The data show how identifying a column is, not whether an intruder knows it: a person decides.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ontomask.arrays import Floats, Ints
from ontomask.brevity import Brief, abridged
from ontomask.checks import Integer, check
from ontomask.data.domains import Numbers
from ontomask.data.grouping import group_rows, group_sizes
from ontomask.data.microdata import Microdata
from ontomask.data.tables import Table, open_table

__all__ = [
    "DEFINITIONS",
    "ColumnSuggestion",
    "Separation",
    "Suggestions",
    "suggest_quasi_identifiers",
]

IDENTIFYING = 0.9
"""Columns of at least this distinction name single people."""

FEW_VALUES = 20
"""Columns of so many values or fewer name nobody, however small the table."""

TELLING = 0.5
"""Columns of at least this separation are quasi-identifiers by themselves."""

CONTRIBUTING = 0.01
"""Columns that single out this share of people, with others, are quasi-identifiers."""

DEFINITIONS: dict[str, str] = {
    "distinct": "number of different values, a missing one included",
    "distinction": "different values (or combinations of values) / people",
    "separation": "share of pairs of people whom the columns tell apart",
    "unique_share": "share of people whose values nobody else has",
    "contribution": (
        "share of people who are unique on all columns that name nobody, but no longer without "
        "the column"
    ),
    "role": "suggested role: identifier, quasi or other",
}


@dataclass(frozen=True)
class Separation(Brief):
    """How well some columns tell people apart; see `DEFINITIONS` for each figure.

    Attributes
    ----------
    columns
        The columns.
    distinct
        The number of different combinations of their values.
    distinction
        The same divided by the number of people.
    separation
        The share of pairs of people whom they tell apart.
    unique_share
        The share of people whose combination nobody else has.
    """

    columns: tuple[str, ...]
    distinct: int
    distinction: float
    separation: float
    unique_share: float


@dataclass(frozen=True)
class ColumnSuggestion:
    """What a column is suggested to be, and why.

    Attributes
    ----------
    column
        The column.
    role
        `identifier` (names people: leave it out), `quasi` (amounts that nearly all differ are this
        too, but take no part in combinations) or `other`.
    reason
        Why, in a sentence.
    alone
        How well it tells people apart by itself.
    contribution
        The share of people who are unique on all candidates, but no longer without the column.
    """

    column: str
    role: str
    reason: str
    alone: Separation
    contribution: float


@dataclass(frozen=True)
class Suggestions(Brief):
    """The columns and combinations of a table, those that tell people apart best first.

    Attributes
    ----------
    people
        People in the table: records, each as often as its count says.
    columns
        The columns, by separation.
    combinations
        Combinations of at least two columns that are no identifiers, by separation.
    """

    people: int
    columns: tuple[ColumnSuggestion, ...]
    combinations: tuple[Separation, ...]

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns suggested as quasi-identifiers."""
        return tuple(one.column for one in self.columns if one.role == "quasi")

    def as_dict(self) -> dict[str, Any]:
        """The figures as a dictionary."""
        return {**asdict(self), "quasi_identifiers": self.quasi_identifiers}

    def __str__(self) -> str:
        lines = [f"{one.column}: {one.role} ({one.reason})" for one in self.columns]
        return abridged(lines, "suggestions.columns has them all")


def suggest_quasi_identifiers(table: object, *, max_size: int = 2) -> Suggestions:
    """Rank the columns of a table by how well they tell people apart, and suggest roles.

    Parameters
    ----------
    table
        A data frame or an encoded table.
    max_size
        The largest number of columns in the combinations that are ranked.

    Examples
    --------
    >>> frame = pl.DataFrame(om.discharges(500, seed=1)).select("patient", "sex", "age", "county")
    >>> suggested = om.measuring.suggest_quasi_identifiers(frame)
    >>> sorted(suggested.quasi_identifiers)
    ['age', 'county', 'sex']
    >>> [one.column for one in suggested.columns if one.role == "identifier"]
    ['patient']
    """
    check("max_size", max_size, Integer(1))
    codes = _Codes.of(table)
    alone = {name: codes.separation((name,)) for name in codes.columns}
    candidates = [name for name, one in alone.items() if one.distinct > 1 and not _names(one)]
    combined = _combined(codes, candidates, max_size)
    lost = _contributions(codes, candidates)
    unique = {one.columns: one.unique_share for one in [*alone.values(), *combined]}
    suggested = [
        _suggested(one, lost.get(name, 0.0), unique, name in codes.amounts)
        for name, one in alone.items()
    ]
    return Suggestions(
        people=round(codes.people),
        columns=tuple(
            sorted(suggested, key=lambda one: (-one.alone.separation, -one.contribution))
        ),
        combinations=tuple(sorted(combined, key=lambda one: (-one.separation, one.columns))),
    )


def _names(alone: Separation) -> bool:
    """Whether a column names single people."""
    return alone.distinction >= IDENTIFYING and alone.distinct > FEW_VALUES


def _combined(codes: _Codes, candidates: list[str], max_size: int) -> list[Separation]:
    return [
        codes.separation(members)
        for size in range(2, max_size + 1)
        for members in combinations(candidates, size)
    ]


def _contributions(codes: _Codes, candidates: list[str]) -> dict[str, float]:
    """How many fewer people are unique on all candidates when one of them is left out."""
    if not candidates:
        return {}
    everything = codes.separation(candidates).unique_share
    return {
        name: everything - (codes.separation_of(others).unique_share if others else 0.0)
        for name, others in _without(codes, candidates)
    }


def _without(codes: _Codes, candidates: list[str]) -> Iterator[tuple[str, list[_Column]]]:
    """For each candidate the others as at most two columns: those before it, and those after."""
    columns = [codes.columns[name] for name in candidates]
    after: list[list[_Column]] = [[]]
    for column in columns[:0:-1]:
        after.append(_united([column, *after[-1]]))
    before: list[_Column] = []
    for name, column in zip(candidates, columns, strict=True):
        yield name, [*before, *after.pop()]
        before = _united([*before, column])


def _united(columns: list[_Column]) -> list[_Column]:
    """Columns as one, in which records have the same code if they have in each."""
    if len(columns) == 1:
        return columns
    firsts, places = group_rows([codes for codes, _ in columns], [size for _, size in columns])
    return [(places.astype(np.int32), firsts.size)]


Shares = Mapping[tuple[str, ...], float]


def _suggested(
    alone: Separation, contribution: float, unique: Shares, amount: bool
) -> ColumnSuggestion:
    role, reason = _role(alone, contribution, unique)
    if amount and role == "identifier":
        role, reason = "quasi", f"{alone.distinction:.0%} of its amounts are different"
    return ColumnSuggestion(alone.columns[0], role, reason, alone, contribution)


def _role(alone: Separation, contribution: float, unique: Shares) -> tuple[str, str]:
    """The role and its reason: the first rule that applies."""
    apart = f"it tells {alone.separation:.0%} of all pairs of people apart"
    if alone.distinct == 1:
        return "other", "it has the same value for everybody"
    if _names(alone):
        return "identifier", f"{alone.distinction:.0%} of its values are different: it names people"
    if alone.separation >= TELLING:
        return "quasi", apart
    gain, others = _best_gain(alone.columns[0], unique)
    if gain >= CONTRIBUTING:
        return "quasi", f"added to {', '.join(others)} it singles out {gain:.0%} more of the people"
    if contribution >= CONTRIBUTING:
        return "quasi", f"without it {contribution:.0%} fewer people are unique on all columns"
    return "other", f"{apart}, and with other columns it singles out hardly anybody"


def _best_gain(column: str, unique: Shares) -> tuple[float, tuple[str, ...]]:
    """The most people whom other columns single out only together with this one."""
    gains = []
    for members, share in unique.items():
        if column in members and len(members) > 1:
            others = tuple(other for other in members if other != column)
            gains.append((share - unique[others], others))
    return max(gains, default=(0.0, ()))


# Any table as codes ---------------------------------------------------------------------------

_Column = tuple[Ints, int]
"""The codes of a column, and how many there are."""


@dataclass(frozen=True, eq=False)
class _Codes:
    """The columns of a table as codes with their number, and the people in each record.

    Amounts are the columns of numbers that are not whole: they name nobody, even if all differ.
    """

    columns: Mapping[str, _Column]
    counts: Floats
    amounts: frozenset[str]

    @classmethod
    def of(cls, table: object) -> _Codes:
        if isinstance(table, Microdata):
            attributes = table.attributes
            encoded = {name: (one.codes, one.cardinality) for name, one in attributes.items()}
            domains = {name: one.domain for name, one in attributes.items()}
            broken = {
                name for name, one in domains.items() if isinstance(one, Numbers) and not one.whole
            }
            return cls(encoded, table.counts, frozenset(broken))
        opened = table if isinstance(table, Table) else open_table(table)
        columns = {name: _plain_codes(*opened.distinct(name)) for name in opened.names}
        amounts = {name for name in opened.names if _holds_amounts(opened, name)}
        return cls(columns, np.ones(len(opened)), frozenset(amounts))

    @functools.cached_property
    def people(self) -> float:
        return float(self.counts.sum())

    @functools.cached_property
    def _weights(self) -> Floats | None:
        """The people in each record, where these are not one in each."""
        return None if (self.counts == 1).all() else self.counts

    def separation(self, names: Sequence[str]) -> Separation:
        """1 - sum of f (f - 1) over classes / n (n - 1), and what else the classes tell."""
        return self.separation_of([self.columns[name] for name in names], names)

    def separation_of(self, columns: Sequence[_Column], names: Sequence[str] = ()) -> Separation:
        """The same of columns that need not be those of the table."""
        each = [size for _, size in columns]
        sizes = group_sizes([codes for codes, _ in columns], each, self._weights)
        people = self.people
        together = float((sizes * (sizes - 1)).sum()) / max(1.0, people * (people - 1))
        return Separation(
            columns=tuple(names),
            distinct=sizes.size,
            distinction=sizes.size / people,
            separation=1.0 - together,
            unique_share=float(np.count_nonzero(sizes == 1)) / people,
        )


def _holds_amounts(table: Table, name: str) -> bool:
    if not table.is_number(name) or table.is_integer(name):
        return False
    numbers = table.numbers(name)
    known = numbers[~np.isnan(numbers)]
    return bool((known != np.rint(known)).any())


def _plain_codes(codes: Ints, known: list[object]) -> tuple[Ints, int]:
    """Codes with missing values behind the last."""
    size = len(known)
    return np.where(codes < 0, size, codes).astype(np.int32), size + 1
