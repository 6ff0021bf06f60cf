"""A table encoded against a schema: integer codes over small domains, and distinct tuples."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ontomask.arrays import (
    Bools,
    Floats,
    Ints,
    Longs,
    Narrow,
    different,
    keeping_codes_narrow,
    narrow_codes,
    recoded,
    stretches,
)
from ontomask.data.domains import Concepts, Domain, Labels, Numbers, Ranks
from ontomask.data.grouping import group_rows
from ontomask.data.rules import Condition
from ontomask.data.schema import Column, Schema, value_distances
from ontomask.data.seen import Seen, with_gap
from ontomask.errors import MethodError
from ontomask.semantics.distances import ValueDistances

__all__ = ["Attribute", "Microdata", "Owners", "Tuples"]


@keeping_codes_narrow
@dataclass(frozen=True, eq=False)
class Attribute:
    """A column of a run: what encoding gives, a method returns, and a release writes.

    Attributes
    ----------
    name, column
        What it is called, and what the schema declares of it.
    codes
        For each record the position of its value in the domain; a missing value has the code
        behind the last.
    domain
        The values, and what they mean.
    has_missing
        Whether there is a code for missing values.
    """

    name: str
    column: Column
    codes: Ints
    domain: Domain
    has_missing: bool = False

    @property
    def narrow(self) -> Narrow:
        """The codes in as few bytes as they are kept in."""
        return narrow_codes(self)

    @property
    def values(self) -> Sequence[object]:
        """The domain as it is written in a release, without the missing value."""
        return self.domain.values

    @property
    def by_code(self) -> list[object]:
        """What is written for each code, None for a missing value."""
        return [*self.values, *([None] if self.has_missing else [])]

    @property
    def size(self) -> int:
        """The number of distinct values, the missing one not counted."""
        return self.domain.size

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
        known = self.domain.numbered
        return np.append(known, -1) if self.has_missing else known

    def meeting(self, condition: Condition) -> Bools:
        """Which records meet the condition of a rule; a missing value does not."""
        column, domain = self.column, self.domain
        meets: Bools = np.zeros(self.cardinality, bool)
        known = meets[: self.size]  # names of groups are no values, and meet no condition
        if isinstance(domain, Concepts):
            known[:] = condition.concepts(column)[domain.concepts]
        elif isinstance(domain, Numbers):
            known[:] = condition.within(column, domain.numbers)
        elif isinstance(domain, Ranks):
            known[:] = condition.within(column, domain.ranks.astype(np.float64))
        elif column.kind == "flat":
            words = {str(one) for one in condition.values}
            known[:] = [str(one) in words for one in self.values]
        return meets.take(self.codes)

    @property
    def numbers(self) -> Floats:
        """The domain of a numeric or date column as numbers."""
        return self.as_numbers.numbers

    @property
    def concepts(self) -> Ints:
        """The domain of a nominal column as concepts of its taxonomy."""
        return self.as_concepts.concepts

    @property
    def as_numbers(self) -> Numbers:
        """The domain of a numeric or date column."""
        if not isinstance(self.domain, Numbers):
            raise self._meaningless
        return self.domain

    @property
    def as_concepts(self) -> Concepts:
        """The domain of a nominal column."""
        if not isinstance(self.domain, Concepts):
            raise self._meaningless
        return self.domain

    def distances(self, measure: str | None = None) -> ValueDistances:
        """How far the values of the domain are apart, by the column's measure or another one."""
        self.require_meaning()
        if type(self.domain) is Labels:  # perhaps names of groups
            return ValueDistances()
        concepts = self.domain.concepts if isinstance(self.domain, Concepts) else None
        return value_distances(self.column, concepts, measure)

    def require_meaning(self) -> None:
        """Refuse a column whose values an earlier step has replaced by names of groups."""
        if isinstance(self.domain, Labels) and self.column.kind != "flat":
            raise self._meaningless

    @property
    def _meaningless(self) -> MethodError:
        return MethodError(
            f"Column {self.name!r} was generalized by an earlier step and is no longer "
            f"{self.column.kind}; put the step that compares its values before that one."
        )

    def record_numbers(self) -> Floats:
        """The column as numbers, one per record, NaN where missing."""
        known = np.append(self.numbers, np.nan) if self.has_missing else self.numbers
        found = np.empty(len(self.narrow))
        for part in stretches(found.size):
            found[part] = known.take(self.narrow[part])
        return found

    @functools.cached_property
    def seen(self) -> Seen:
        """The column as it is written."""
        return Seen(self.narrow, with_gap(self.values))

    def of(self, records: Longs | Ints | Bools | slice) -> Attribute:
        """The column of some of its records, over the same domain."""
        if isinstance(records, slice) or records.dtype == bool:
            return replace(self, codes=self.narrow[records])
        # NumPy indexes by short numbers in small pieces, which takes three times as long
        return replace(self, codes=self.narrow.take(records))

    def starred(self, mask: Bools) -> Attribute:
        """The column with some of its values missing."""
        codes = np.where(mask, self.size, self.codes).astype(np.int32)
        return replace(self, codes=codes, has_missing=self.has_missing or bool(mask.any()))

    def trimmed(self) -> Attribute:
        """The column over the values it has, and no others."""
        used = self.seen.used
        if used.size and used[-1] == self.size:  # a gap
            used = used[:-1]
        if used.size == self.size:
            return self
        translate = np.full(self.size + 1, used.size, np.int32)
        translate[used] = np.arange(used.size)
        codes = recoded(self.narrow, translate)
        return replace(self, codes=codes, domain=self.domain.taken(used))

    def settled(self) -> Attribute:
        """The column over the values it has, equal ones united, in their order."""
        own = self.trimmed()
        keys = own.domain.keys
        if (keys[1:] > keys[:-1]).all():
            codes, domain = own.narrow, own.domain
        else:
            firsts, places = np.unique(keys, return_index=True, return_inverse=True)[1:]
            codes = recoded(own.narrow, np.append(places, firsts.size).astype(np.int32))
            domain = own.domain.taken(firsts)
        missing = bool((codes == domain.size).any())
        return replace(self, codes=codes, domain=domain, has_missing=missing)


@dataclass(frozen=True, eq=False)
class Owners:
    """For each group of records whose they are: `units[starts[g]:starts[g + 1]]`, each once."""

    starts: Longs
    units: Longs

    @classmethod
    def of(cls, places: Longs, units: Longs, count: int) -> Owners:
        """The units of each of so many groups, given the group and the unit of each record."""
        size = int(units.max(initial=0)) + 1
        pairs = different(places * size + units)
        return cls(np.searchsorted(pairs, np.arange(count + 1) * size), pairs % size)

    @property
    def counts(self) -> Floats:
        """How many different units each group has."""
        return np.diff(self.starts).astype(np.float64)


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
        How many records each tuple stands for, or how many persons, where several records may be
        of one: what k counts.
    weights
        How many people each tuple stands for: what statistics and centroids count.
    places
        For each record, its tuple.
    units
        Whose records each tuple holds; None where every record is somebody else's.
    """

    names: tuple[str, ...]
    codes: Ints
    counts: Floats
    weights: Floats
    places: Longs
    units: Owners | None = None

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
    units
        Whose record each one is, by number, where several may be of one person (household, …); k
        then counts persons.
    """

    schema: Schema
    attributes: Mapping[str, Attribute]
    counts: Floats
    weights: Floats
    rows: Longs
    left_out: Longs
    read_identifier: Callable[[str], Attribute]
    gone: Mapping[str, Floats] = field(default_factory=dict)
    units: Longs | None = None

    def __len__(self) -> int:
        return self.weights.size

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[name]

    @functools.cached_property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the table's order."""
        return tuple(name for name in self.attributes if self.schema[name].role == "quasi")

    @functools.cached_property
    def total(self) -> float:
        """How many records, or persons, the table stands for: of what k can be counted."""
        return float(self.counts.sum() if self.units is None else different(self.units).size)

    @property
    def counted(self) -> str:
        """What k counts, in the singular."""
        return "record" if self.units is None else "person"

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
            (one.narrow for one in columns), [one.cardinality for one in columns]
        )
        codes = np.array([one.narrow[firsts] for one in columns], np.int32)
        return self._tuples(chosen, codes, places)

    def records(self, names: Sequence[str] | None = None) -> Tuples:
        """Every record as a tuple of its own, for methods that work on records."""
        chosen = self.quasi if names is None else tuple(names)
        codes = np.array([self.attributes[name].codes for name in chosen], np.int32)
        return self._tuples(chosen, codes, np.arange(len(self)))

    def _tuples(self, names: tuple[str, ...], codes: Ints, places: Longs) -> Tuples:
        counts, weights = (
            np.bincount(places, weights=amounts, minlength=codes.shape[1]).astype(np.float64)
            for amounts in (self.counts, self.weights)
        )
        tuples = Tuples(names, np.ascontiguousarray(codes), counts, weights, places)
        if self.units is None:
            return tuples
        owners = Owners.of(places, self.units, codes.shape[1])
        return replace(tuples, counts=owners.counts, units=owners)

    def violations(self) -> list[Bools]:
        """For each rule of the schema which records have the combination that it excludes."""
        return [
            np.all([self[name].meeting(one) for name, one in rule.conditions.items()], axis=0)
            for rule in self.schema.rules
        ]

    def subset(self, mask: Bools) -> Microdata:
        """The same table with only some of its records; domains stay as they are."""
        attributes = {name: one.of(mask) for name, one in self.attributes.items()}
        return replace(
            self,
            attributes=attributes,
            counts=self.counts[mask],
            weights=self.weights[mask],
            rows=self.rows[mask],
            units=None if self.units is None else self.units[mask],
        )
