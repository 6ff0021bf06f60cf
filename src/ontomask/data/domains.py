"""What the distinct values of a column are and mean: one class for each kind of column.

A domain knows no records, and no missing value is among its values. Values may repeat, and come in
any order, until the column they belong to is `settled`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, ClassVar, Self

import numpy as np

from ontomask.arrays import Floats, Ints, Longs, taken
from ontomask.data.tables import LARGEST_EXACT
from ontomask.sparse import places_in
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = [
    "ConceptGroups",
    "Concepts",
    "Domain",
    "Groups",
    "LabelGroups",
    "Labels",
    "Listed",
    "Numbers",
    "Ranks",
    "Vocabulary",
]


@dataclass(frozen=True, eq=False)
class Domain:
    """The distinct values of a column.

    Attributes
    ----------
    values
        The values as they are written in a release: texts, numbers, dates.
    """

    values: Sequence[object]

    ordered: ClassVar[bool] = False
    """Whether the values have an order of their own."""

    aligned: ClassVar[tuple[str, ...]] = ()
    """What has an entry for each value."""

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.values)

    @property
    def numbered(self) -> Longs:
        """The values as the numbers that distances compare; here they can only be told apart."""
        return np.arange(self.size)

    @property
    def keys(self) -> Longs | Floats:
        """Numbers that are equal where values are, in the order of the values."""
        return _ranks([str(value) for value in self.values])

    def meanings(self) -> list[object]:
        """The values in a form that is comparable between tables."""
        return [str(value) for value in self.values]

    def stands_for(self) -> Groups:
        """What each value stands for; unless it was generalized, for itself."""
        every = np.arange(self.size + 1)
        return Groups(self, every, every[:-1])

    def taken(self, places: Longs | Ints) -> Self:
        """Some of the values, in the order of their places."""
        arrays = {name: getattr(self, name)[places] for name in self.aligned}
        return replace(self, values=taken(self.values, places), **arrays)

    def followed_by(self, others: Sequence[Domain]) -> Self:
        """The values of this domain and then those of others of its kind."""
        every: list[Domain] = [self, *others]
        values = tuple(itertools.chain.from_iterable(one.values for one in every))
        parts = {name: [getattr(one, name) for one in every] for name in self.aligned}
        return replace(
            self, values=values, **{name: _end_to_end(one) for name, one in parts.items()}
        )


@dataclass(frozen=True, eq=False)
class Labels(Domain):
    """Words of which one can only say whether they are equal."""


@dataclass(frozen=True, eq=False)
class Listed(Labels):
    """Words with the place of each in the list that their distances were given for."""

    places: Longs

    aligned: ClassVar[tuple[str, ...]] = ("places",)

    @property
    def numbered(self) -> Longs:
        """The places."""
        return self.places

    @property
    def keys(self) -> Longs | Floats:
        """The places."""
        return self.places


@dataclass(frozen=True, eq=False)
class Ranks(Domain):
    """Values of an ordinal column, with the place of each in the declared order."""

    ranks: Longs

    ordered: ClassVar[bool] = True
    aligned: ClassVar[tuple[str, ...]] = ("ranks",)

    @property
    def numbered(self) -> Longs:
        """The ranks."""
        return self.ranks

    @property
    def keys(self) -> Longs | Floats:
        """The ranks."""
        return self.ranks


@dataclass(frozen=True, eq=False)
class Numbers(Domain):
    """Values of a numeric or date column.

    Attributes
    ----------
    numbers
        The values as numbers to compute with, dates as days.
    whole
        Whether new numbers are rounded to whole ones.
    """

    numbers: Floats
    whole: bool = False

    ordered: ClassVar[bool] = True
    aligned: ClassVar[tuple[str, ...]] = ("numbers",)

    @property
    def keys(self) -> Longs | Floats:
        """The numbers; the values themselves where floats do not hold them."""
        return self.numbers if self.fits_floats else _ranks(self.values)

    def meanings(self) -> list[object]:
        """The numbers."""
        return list(self.numbers.tolist())

    @functools.cached_property
    def fits_floats(self) -> bool:
        """Whether floats hold the numbers as they are; not so decimals and large whole numbers."""
        if self.are_floats:
            return True
        # seen at a glance; beyond, a whole number may have been rounded
        small = isinstance(self.values[0], int) and np.abs(self.numbers).max() < LARGEST_EXACT
        return bool(small) or all(map(_fits, self.values))

    @property
    def are_floats(self) -> bool:
        """Whether the values are floats themselves, which `numbers` has as they are."""
        return not self.values or isinstance(self.values[0], float)

    @functools.cached_property
    def decimals(self) -> int | None:
        """The decimal places of a column of decimals; None for other columns."""
        if not self.values or not isinstance(self.values[0], Decimal):
            return None
        exponents = [one.as_tuple().exponent for one in self.values if isinstance(one, Decimal)]
        return -min(int(one) for one in exponents) if exponents else None


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """How a column writes concepts.

    Attributes
    ----------
    named
        Whether concepts come out as labels rather than ids.
    dotless
        Whether ids come out without their dots, where they can be read so.
    spellings
        Concepts that come out as many records write them.
    """

    taxonomy: Taxonomy
    named: bool = False
    dotless: bool = False
    spellings: Mapping[int, str] = field(default_factory=dict)

    def written(self, concepts: Sequence[int]) -> list[object]:
        """How concepts are written in a release, in the vocabulary that went in."""
        texts = self.taxonomy.labels if self.named else self.taxonomy.ids
        known = dict(self.spellings)
        if self.dotless and not self.named:
            known |= self._without_dots([one for one in concepts if one not in known])
        return [known.get(concept, texts[concept]) for concept in concepts]

    def _without_dots(self, concepts: Sequence[int]) -> dict[int, str]:
        """Codes without their dots, where they can be read again."""
        plain = [self.taxonomy.ids[concept].replace(".", "") for concept in concepts]
        mapping = self.taxonomy.map(plain)
        read = mapping.concepts[mapping.positions].tolist()
        pairs = zip(concepts, plain, read, strict=True)
        return {concept: text for concept, text, found in pairs if concept == found}


@dataclass(frozen=True, eq=False)
class Concepts(Domain):
    """Values of a nominal column, with the concept of its taxonomy that each of them means."""

    concepts: Ints
    vocabulary: Vocabulary

    aligned: ClassVar[tuple[str, ...]] = ("concepts",)

    @classmethod
    def of(cls, concepts: Ints | Longs, vocabulary: Vocabulary) -> Concepts:
        """Concepts as a vocabulary writes them."""
        written = vocabulary.written(concepts.tolist())
        return Concepts(tuple(written), concepts.astype(np.int32), vocabulary)

    @property
    def numbered(self) -> Longs:
        """The concepts."""
        return self.concepts.astype(np.int64)

    @property
    def keys(self) -> Longs | Floats:
        """The concepts."""
        return self.numbered

    def meanings(self) -> list[object]:
        """The ids of the concepts."""
        return list(self.vocabulary.taxonomy.ids_of(self.concepts.tolist()))


@dataclass(frozen=True, eq=False)
class Groups:
    """The values of a domain that each generalized value stands for.

    Generalized value number i stands for the values number ``members[starts[i]:starts[i + 1]]`` of
    `below`, which is the domain of the column before it was generalized (before the first time, if
    it was more than once). A value that was not generalized stands for itself alone, a star for all
    values.
    """

    below: Domain
    starts: Longs
    members: Longs

    @classmethod
    def over(cls, below: Domain, pairs: Longs, count: int) -> Groups:
        """Groups from pairs of a generalized value and a value of a domain that it stands for.

        Where that domain has been generalized itself, they stand for what is below it.
        """
        owners, members = pairs
        own = below.stands_for()
        lower = own[members]
        keys = np.unique(np.repeat(owners, lower.sizes) * own.below.size + lower.members)
        starts = np.searchsorted(keys, np.arange(count + 1) * own.below.size)
        return cls(own.below, starts, keys % own.below.size)

    @property
    def sizes(self) -> Longs:
        """How many values each generalized value stands for."""
        return np.diff(self.starts)

    def __getitem__(self, places: Longs | Ints) -> Groups:
        """The groups of some generalized values."""
        starts, members = places_in(self.starts, places)
        return Groups(self.below, starts, self.members[members])


@dataclass(frozen=True, eq=False)
class LabelGroups(Labels):
    """Names of groups that values were generalized to: what they meant is no longer known."""

    groups: Groups

    aligned: ClassVar[tuple[str, ...]] = ("groups",)

    def stands_for(self) -> Groups:
        """What each value stands for."""
        return self.groups


@dataclass(frozen=True, eq=False)
class ConceptGroups(Concepts):
    """Concepts that values were generalized to; they stand for those below them."""

    groups: Groups

    aligned: ClassVar[tuple[str, ...]] = ("concepts", "groups")

    def stands_for(self) -> Groups:
        """What each value stands for."""
        return self.groups


def _end_to_end(parts: Sequence[Any]) -> Any:
    if not isinstance(parts[0], Groups):
        return np.concatenate(parts)
    starts = [np.zeros(1, np.int64)]
    for one in parts:
        starts.append(one.starts[1:] + starts[-1][-1])
    members = np.concatenate([one.members for one in parts])
    return Groups(parts[0].below, np.concatenate(starts), members)


def _fits(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) <= LARGEST_EXACT
    return not isinstance(value, Decimal)


def _ranks(values: Sequence[Any]) -> Longs:
    """The place of each value among the distinct ones in their order."""
    ranks = {value: rank for rank, value in enumerate(sorted({*values}))}
    return np.array([ranks[value] for value in values], np.int64)
