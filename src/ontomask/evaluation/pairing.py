"""An original and a masked table, record by record, over one domain per column.

The masked table may come from ontomask or from any other tool: values that the original never had
(inner concepts, intervals such as ``20-29``, stars) are understood where they can be.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.checks import did_you_mean
from ontomask.data.encoding import record_counts, record_units, survey_weights
from ontomask.data.microdata import group_rows
from ontomask.data.schema import Column, Date, Nominal, Numeric, Ordinal, Schema, value_distances
from ontomask.data.tables import Table, open_table
from ontomask.data.values import is_star, read_span
from ontomask.errors import DataError, SchemaError
from ontomask.semantics.distances import ValueDistances
from ontomask.semantics.moments import mean, variance
from ontomask.taxonomy.measures import Space

__all__ = ["Amounts", "Paired", "PairedColumn", "pair_tables"]


class Amounts(NamedTuple):
    """For each record how many equal records it is, and how many people it stands for."""

    counts: Floats
    weights: Floats

    def part(self, rows: Bools | Longs) -> Amounts:
        """Only some of the records."""
        return Amounts(self.counts[rows], self.weights[rows])


@dataclass(frozen=True, eq=False)
class PairedColumn:
    """One column before and after masking.

    `old` and `new` are codes over one domain of `size` values; a missing value has the code
    `size`. Numeric columns carry numbers instead, NaN where missing.
    """

    name: str
    column: Column
    amounts: Amounts
    old: Ints
    new: Ints
    size: int
    distances: ValueDistances = field(default_factory=ValueDistances)
    concepts: Ints | None = None
    old_numbers: Floats | None = None
    new_numbers: Floats | None = None
    ranks: Floats | None = None

    @property
    def space(self) -> Space | None:
        """The measure of a nominal column."""
        return self.distances.space

    @property
    def numbered(self) -> Any:
        """What `distances` compares, by code; -1 is missing."""
        if self.ranks is not None:
            return np.append(self.ranks, -1.0)
        known = np.arange(self.size) if self.concepts is None else self.concepts
        return np.append(known, -1).astype(np.int64)

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers or dates."""
        return self.old_numbers is not None

    @functools.cached_property
    def spread(self) -> float:
        """The variance of the original numbers."""
        assert self.old_numbers is not None
        known = ~np.isnan(self.old_numbers)
        return variance(self.old_numbers[known], *self.amounts.part(known))

    @property
    def deviation(self) -> float:
        """The standard deviation of the original numbers, 1 if they are constant."""
        return float(np.sqrt(self.spread)) or 1.0

    @functools.cached_property
    def table(self) -> Floats:
        """Distances between the values of the domain; a missing value is at distance 1."""
        return self.distances.between(self.numbered, self.numbered)

    @functools.cached_property
    def moved(self) -> Floats:
        """How far each record's value moved: semantic distance, or standard deviations."""
        if self.old_numbers is None or self.new_numbers is None:
            result: Floats = self.table[self.old, self.new]
            return result
        distance = np.abs(self.old_numbers - self.new_numbers) / self.deviation
        gaps = np.isnan(self.old_numbers), np.isnan(self.new_numbers)
        return np.where(gaps[0] | gaps[1], (gaps[0] != gaps[1]).astype(np.float64), distance)

    def part(self, rows: Bools | Longs) -> PairedColumn:
        """Only some of the records; distances between values stay, and so does their table."""
        return self._like(
            amounts=self.amounts.part(rows),
            old=self.old[rows],
            new=self.new[rows],
            old_numbers=None if self.old_numbers is None else self.old_numbers[rows],
            new_numbers=None if self.new_numbers is None else self.new_numbers[rows],
        )

    def without_suppressed(self) -> PairedColumn:
        """The same without the original values of which the masked table has nothing."""
        gone = self.new == self.size
        old = np.where(gone, self.size, self.old).astype(np.int32)
        numbers = None if self.old_numbers is None else np.where(gone, np.nan, self.old_numbers)
        return self._like(old=old, old_numbers=numbers)

    def _like(self, **changed: Any) -> PairedColumn:
        """Another column over the same domain, with the distances that are known already."""
        other = replace(self, **changed)
        if "table" in self.__dict__:
            other.__dict__["table"] = self.table
        return other

    @functools.cached_property
    def changed(self) -> Bools:
        """Whether each record's value differs from the original."""
        changed: Bools = self.old != self.new
        return changed


@dataclass(frozen=True, eq=False)
class Paired:
    """Original and masked table over common domains, record by record.

    Attributes
    ----------
    amounts
        How many records and people each record stands for.
    suppressed, suppressed_people
        How many records, and people, the masked table lacks.
    units
        Whose record each one is, by number, where persons are protected.
    """

    schema: Schema
    columns: Mapping[str, PairedColumn]
    amounts: Amounts
    suppressed: float = 0.0
    suppressed_people: float = 0.0
    units: Longs | None = None

    def __len__(self) -> int:
        return self.weights.size

    @property
    def counts(self) -> Floats:
        """How many equal records each one is: what classes and risks count."""
        return self.amounts.counts

    @property
    def weights(self) -> Floats:
        """How many people each record stands for: what losses and statistics count."""
        return self.amounts.weights

    def chosen(self, names: Sequence[str] | None) -> list[PairedColumn]:
        """Some columns, by default the quasi-identifiers and whatever else was changed."""
        if names is None:
            return [
                one
                for one in self.columns.values()
                if one.column.role == "quasi" or bool(one.changed.any())
            ]
        for name in names:
            if name not in self.columns:
                raise SchemaError(
                    f"There is no column {name!r} to evaluate.{did_you_mean(name, self.columns)}"
                )
        return [self.columns[name] for name in names]

    def quasi(self) -> list[PairedColumn]:
        """The quasi-identifiers."""
        return [one for one in self.columns.values() if one.column.role == "quasi"]

    def subset(self, mask: Bools | Longs) -> Paired:
        """Only some of the records."""
        columns = {name: one.part(mask) for name, one in self.columns.items()}
        units = None if self.units is None else self.units[mask]
        return replace(self, columns=columns, amounts=self.amounts.part(mask), units=units)

    def without_suppressed(self) -> Paired:
        """What the masked table has something of: no other records, and no other values."""
        columns = {name: one.without_suppressed() for name, one in self.columns.items()}
        return Paired(self.schema, columns, self.amounts, units=self.units)


def tuple_groups(columns: Sequence[PairedColumn], which: str) -> tuple[Longs, Longs]:
    """First record and group of each record, by the original (`old`) or masked (`new`) values."""
    codes = [one.old if which == "old" else one.new for one in columns]
    return group_rows(codes, [one.size + 1 for one in columns])


def pair_tables(
    original: object, masked: object, schema: Schema, *, rows: Longs | None = None
) -> Paired:
    """Pair two tables record by record.

    `rows` gives, for a masked table that lacks records, which original records it holds.
    """
    Schema.require(schema)
    everyone, after = open_table(original), open_table(masked)
    # nothing that is measured may depend on the values of records that are not in the release
    before = everyone if rows is None else everyone.part(rows)
    if len(after) != len(before):
        raise DataError(
            f"The original has {len(before)} records and the masked table {len(after)}; they must "
            "correspond record by record. For a release that left records out, release.evaluate() "
            "knows which, and release.rows tells."
        )
    published = [name for name in schema.published if name != schema.count]
    names = [name for name in before.names if name in published]
    lacking = [name for name in names if name not in after.names]
    if lacking and len(lacking) == len(names):
        raise DataError("The masked table has none of the schema's columns.")
    names = [name for name in names if name not in lacking]
    amounts = _amounts(before, schema)
    columns = {name: _paired(before, after, name, schema.column(name), amounts) for name in names}
    pairs = zip(_amounts(everyone, schema), amounts, strict=True)
    records, people = (float(all_.sum() - kept.sum()) for all_, kept in pairs)
    return Paired(schema, columns, amounts, records, people, record_units(before, schema))


def _amounts(table: Table, schema: Schema) -> Amounts:
    for name in (schema.count, schema.weight, schema.unit):
        if name is not None and name not in table.names:
            raise SchemaError(
                f"The schema names a column {name!r} that the table does not have."
                f"{did_you_mean(name, table.names)}"
            )
    counts = record_counts(table, schema)
    return Amounts(counts, counts * survey_weights(table, schema))


def _paired(
    before: Table, after: Table, name: str, column: Column, amounts: Amounts
) -> PairedColumn:
    old_codes, old_values = before.distinct(name)
    new_codes, new_values = after.distinct(name)
    if isinstance(column, (Numeric, Date)):
        return _numeric(name, column, amounts, old_codes, old_values, new_codes, new_values)
    if isinstance(column, Nominal):
        return _nominal(name, column, amounts, old_codes, old_values, new_codes, new_values)
    return _plain(name, column, amounts, old_codes, old_values, new_codes, new_values)


def _numeric(
    name: str,
    column: Column,
    amounts: Amounts,
    old_codes: Ints,
    old_values: list[object],
    new_codes: Ints,
    new_values: list[object],
) -> PairedColumn:
    old = _numbers(name, column, old_values)[old_codes]
    new = _released_numbers(column, new_values, new_codes, old, amounts.weights)
    both = np.concatenate([old, new])
    missing = np.isnan(both)
    domain, places = np.unique(both[~missing], return_inverse=True)
    codes = np.full(both.size, domain.size, np.int32)
    codes[~missing] = places
    return PairedColumn(
        name,
        column,
        amounts,
        codes[: old.size],
        codes[old.size :],
        domain.size,
        old_numbers=old,
        new_numbers=new,
    )


def _numbers(name: str, column: Column, values: list[object]) -> Floats:
    """Values as numbers; the entry behind the last is a missing one."""
    return np.array([*(_number(name, column, value) for value in values), np.nan])


def _number(name: str, column: Column, value: object) -> float:
    """An original value as a number; it must stand for one by itself."""
    span = None if is_star(value) else read_span(value, column)
    if span is None and not is_star(value):
        wanted = "dates" if isinstance(column, Date) else "numbers"
        raise DataError(
            f"Column {name!r} is said to hold {wanted}, but the original holds a value that is "
            "none; correct it, or declare the column as flat."
        )
    return np.nan if span is None else span.middle


def _released_numbers(
    column: Column, values: list[object], codes: Ints, original: Floats, weights: Floats
) -> Floats:
    """The numbers that released values stand for, record by record.

    An interval or a calendar period stands for its middle; one without end, such as 90+, and any
    other label, such as the name of an age group, for the mean of the original numbers that were
    given it.
    """
    numbers = np.full(len(values) + 1, np.nan)
    for place, value in enumerate(values):
        span = None if is_star(value) else read_span(value, column)
        if span is not None and span.is_bounded:
            numbers[place] = span.middle
        elif not is_star(value):
            given = (codes == place) & ~np.isnan(original)
            numbers[place] = mean(original[given], weights[given]) if given.any() else np.nan
    return numbers[codes]


def _nominal(
    name: str,
    column: Nominal,
    amounts: Amounts,
    old_codes: Ints,
    old_values: list[object],
    new_codes: Ints,
    new_values: list[object],
) -> PairedColumn:
    assert column.taxonomy is not None
    old = _concepts(name, column, old_values, "original")
    new = _concepts(name, column, new_values, "masked")
    both = np.concatenate([old, new])
    concepts = np.unique(both[both >= 0])
    places = np.searchsorted(concepts, both).astype(np.int32)
    places[both < 0] = concepts.size
    first, second = places[: old.size], places[old.size :]
    codes = first[old_codes], second[new_codes]
    distances = value_distances(column, concepts if concepts.size else None)
    return PairedColumn(name, column, amounts, *codes, concepts.size, distances, concepts)


def _concepts(name: str, column: Nominal, values: list[object], which: str) -> Ints:
    """Concept numbers of values, -1 where missing; the entry behind the last is a missing one."""
    assert column.taxonomy is not None
    known = [None if is_star(value) else value for value in values]
    taxonomy = column.taxonomy
    mapping = taxonomy.map(known, overrides=column.overrides)
    found = np.full(len(values) + 1, -1, np.int32)
    places = np.asarray(mapping.positions)
    present = np.flatnonzero(places >= 0)
    found[present] = mapping.concepts[places[present]]
    unmapped = [values[place] for place in present.tolist() if found[place] < 0]
    if column.unmapped == "root":
        found[[place for place in present.tolist() if found[place] < 0]] = 0
    elif unmapped and column.unmapped == "error":
        raise DataError(
            f"Column {name!r}: {len(unmapped)} {which} values are not in the taxonomy "
            f"{taxonomy.name or 'given'!r}, the first is {unmapped[0]!r}; map them with overrides, "
            "or declare the column as flat."
        )
    return found


def _plain(
    name: str,
    column: Column,
    amounts: Amounts,
    old_codes: Ints,
    old_values: list[object],
    new_codes: Ints,
    new_values: list[object],
) -> PairedColumn:
    order = list(column.order) if isinstance(column, Ordinal) else []
    domain = {value: place for place, value in enumerate(order)}
    for value in (*old_values, *new_values):
        if not is_star(value):
            domain.setdefault(value, len(domain))
    size = len(domain)
    first = np.array([*(domain.get(value, size) for value in old_values), size], np.int32)
    second = np.array([*(domain.get(value, size) for value in new_values), size], np.int32)
    old, new = first[old_codes], second[new_codes]
    ranks = _ranks(len(order), size, old, new, amounts.weights) if order else None
    distances = value_distances(column, None)
    return PairedColumn(name, column, amounts, old, new, size, distances, ranks=ranks)


def _ranks(known: int, size: int, old: Ints, new: Ints, weights: Floats) -> Floats:
    """The rank of each value; a label that is none has the mean rank of what was given it."""
    ranks = np.arange(size, dtype=np.float64)
    for label in range(known, size):
        given = (new == label) & (old < known)
        ranks[label] = mean(old[given], weights[given]) if given.any() else (known - 1) / 2.0
    return ranks
