"""A table encoded against a schema: integer codes over small domains, and distinct tuples."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.data.schema import Column, Nominal, Schema, value_distances
from ontomask.data.tables import LARGEST_EXACT
from ontomask.errors import MethodError
from ontomask.semantics.distances import ValueDistances
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["Attribute", "Microdata", "Tuples", "group_rows"]


@dataclass(frozen=True, eq=False)
class Attribute:
    """One encoded column.

    A record's code is the position of its value in the domain; where values are missing, they have
    the code behind the last value.

    Attributes
    ----------
    values
        The domain as it is written in a release (texts, numbers, dates), without the missing value.
    numbers
        The domain as numbers: numeric values, days of dates, ranks of ordinal values.
    concepts
        The domain as concept numbers of the taxonomy, ascending, for nominal columns.
    integer
        Whether numbers are whole, so that means are rounded.
    named
        Whether concepts come out as labels rather than ids.
    dotless
        Whether ids come out without their dots, where they can be read so.
    spellings
        Concepts that come out as many records write them.
    """

    name: str
    column: Column
    codes: Ints
    values: tuple[object, ...]
    has_missing: bool
    numbers: Floats | None = None
    concepts: Ints | None = None
    integer: bool = False
    named: bool = False
    dotless: bool = False
    spellings: Mapping[int, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of distinct values, the missing one not counted."""
        return len(self.values)

    @property
    def missing_code(self) -> int:
        """The code of a missing value, -1 if none is missing."""
        return self.size if self.has_missing else -1

    @property
    def cardinality(self) -> int:
        """The number of codes."""
        return self.size + self.has_missing

    @property
    def numbered(self) -> Longs:
        """What `distances` compares, by code: concepts, ranks, or just codes; -1 is missing."""
        meaning = self.numbers if self.column.kind == "ordinal" else self.concepts
        known = np.arange(self.size) if meaning is None else meaning.astype(np.int64)
        return np.append(known, -1) if self.has_missing else known

    def distances(self, measure: str | None = None) -> ValueDistances:
        """How far the values of the domain are apart, by the column's measure or another one."""
        self.require_meaning()
        return value_distances(self.column, self.concepts, measure)

    def meanings(self) -> list[object]:
        """The values of the domain in a form that is comparable between tables."""
        column = self.column
        if isinstance(column, Nominal) and column.taxonomy and self.concepts is not None:
            return list(column.taxonomy.ids_of(self.concepts.tolist()))
        if self.numbers is not None and column.kind != "ordinal":
            return list(self.numbers.tolist())
        return [str(value) for value in self.values]

    @functools.cached_property
    def fits_floats(self) -> bool:
        """Whether floats hold the numbers as they are; not so decimals and large whole numbers."""
        return all(map(_fits_float, self.values))

    @functools.cached_property
    def places(self) -> int | None:
        """The decimal places of a column of decimals; None for other columns."""
        exponents = [one.as_tuple().exponent for one in self.values if isinstance(one, Decimal)]
        return -min(int(one) for one in exponents) if exponents else None

    def written(self, concepts: Sequence[int]) -> list[object]:
        """How concepts are written in a release, in the vocabulary that went in."""
        self.require_meaning()
        column = self.column
        assert isinstance(column, Nominal)
        assert column.taxonomy is not None
        texts = column.taxonomy.labels if self.named else column.taxonomy.ids
        known = dict(self.spellings)
        if self.dotless and not self.named:
            known |= _without_dots(column.taxonomy, [one for one in concepts if one not in known])
        return [known.get(concept, texts[concept]) for concept in concepts]

    def require_meaning(self) -> None:
        """Refuse a column whose values an earlier step has replaced by names of groups."""
        meaning = self.concepts if self.column.kind == "nominal" else self.numbers
        if meaning is None and self.column.kind != "flat":
            raise MethodError(
                f"Column {self.name!r} was generalized by an earlier step and is no longer "
                f"{self.column.kind}; put the step that compares its values before that one."
            )

    def record_numbers(self) -> Floats:
        """The column as numbers, one per record, NaN where missing."""
        self.require_meaning()
        assert self.numbers is not None
        padded = np.append(self.numbers, np.nan) if self.has_missing else self.numbers
        result: Floats = padded[self.codes]
        return result


@dataclass(frozen=True, eq=False)
class Tuples:
    """The distinct combinations of some columns' codes, with their counts and weights.

    Attributes
    ----------
    names
        The columns.
    codes
        One row per column, one column per tuple.
    counts
        How many records each tuple stands for: what k counts.
    weights
        How many people each tuple stands for: what statistics and centroids count.
    places
        For each record, its tuple.
    """

    names: tuple[str, ...]
    codes: Ints
    counts: Floats
    weights: Floats
    places: Longs

    def __len__(self) -> int:
        return self.weights.size


@dataclass(frozen=True, eq=False)
class Microdata:
    """A table encoded against a schema.

    Attributes
    ----------
    schema
        What the columns are.
    attributes
        The encoded columns by name, in the table's order.
    counts
        How many equal records each one stands for, 1 unless a column says so: what k counts.
    weights
        How many people each record stands for, its count times its survey weight: what statistics
        and centroids count.
    left_out
        Records that a missing-value rule leaves out of the release, by position in the table.
    rows
        The positions in the table of the records that are encoded here.
    read_identifier
        Encodes an identifier of the whole table, like a flat column, for pseudonyms only.
    gone
        For each sensitive column how many people had each value in records that earlier steps, or
        a rule for missing values, left out; a column that a step changes begins anew.
    """

    schema: Schema
    attributes: Mapping[str, Attribute]
    counts: Floats
    weights: Floats
    rows: Longs
    left_out: Longs
    read_identifier: Callable[[str], Attribute]
    gone: Mapping[str, Floats] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.weights.size

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[name]

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the table's order."""
        return tuple(name for name in self.attributes if self.schema[name].role == "quasi")

    @functools.cached_property
    def total(self) -> float:
        """How many records the table stands for."""
        return float(self.counts.sum())

    def distribution(self, name: str) -> Floats:
        """How many people of the whole table have each value of a column.

        Records that were left out before are included.
        """
        attribute = self[name]
        own = np.bincount(attribute.codes, weights=self.weights, minlength=attribute.cardinality)
        return own.astype(np.float64) + self.gone.get(name, 0.0)

    def tuples(self, names: Sequence[str] | None = None) -> Tuples:
        """The distinct combinations of some columns, by default the quasi-identifiers."""
        chosen = self.quasi if names is None else tuple(names)
        columns = [self.attributes[name] for name in chosen]
        firsts, places = group_rows(
            [one.codes for one in columns], [one.cardinality for one in columns]
        )
        codes = np.array([one.codes[firsts] for one in columns], np.int32)
        counts, weights = (
            np.bincount(places, weights=amounts, minlength=firsts.size).astype(np.float64)
            for amounts in (self.counts, self.weights)
        )
        return Tuples(chosen, np.ascontiguousarray(codes), counts, weights, places)

    def records(self, names: Sequence[str] | None = None) -> Tuples:
        """Every record as a tuple of its own, for methods that work on records."""
        chosen = self.quasi if names is None else tuple(names)
        codes = np.array([self.attributes[name].codes for name in chosen], np.int32)
        every = np.arange(len(self))
        return Tuples(chosen, np.ascontiguousarray(codes), self.counts, self.weights, every)

    def subset(self, mask: Bools) -> Microdata:
        """The same table with only some of its records; domains stay as they are."""
        attributes = {
            name: replace(one, codes=one.codes[mask]) for name, one in self.attributes.items()
        }
        return replace(
            self,
            attributes=attributes,
            counts=self.counts[mask],
            weights=self.weights[mask],
            rows=self.rows[mask],
        )


def _without_dots(taxonomy: Taxonomy, concepts: Sequence[int]) -> dict[int, str]:
    """Codes without their dots, where they can be read again."""
    plain = [taxonomy.ids[concept].replace(".", "") for concept in concepts]
    mapping = taxonomy.map(plain)
    read = mapping.concepts[mapping.positions].tolist()
    pairs = zip(concepts, plain, read, strict=True)
    return {concept: text for concept, text, found in pairs if concept == found}


def _fits_float(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) <= LARGEST_EXACT
    return not isinstance(value, Decimal)


def group_rows(columns: Sequence[Ints], sizes: Sequence[int]) -> tuple[Longs, Longs]:
    """Group records with equal codes: the first record of each group, and each record's group.

    Groups are numbered by their codes in lexicographic order. Codes are packed into one number
    column by column; whenever the numbers would grow too large they are first made dense again.
    """
    keys = np.zeros(columns[0].size, np.int64)
    span = 1
    for codes, size in zip(columns, sizes, strict=True):
        if span * size >= 2**62:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            span = int(keys.max()) + 1
        keys = keys * size + codes
        span *= size
    _, firsts, places = np.unique(keys, return_index=True, return_inverse=True)
    return firsts, places
