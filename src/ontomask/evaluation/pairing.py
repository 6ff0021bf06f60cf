"""An original and a masked table, record by record.

The masked table may come from ontomask or from any other tool. Each column has two sides, the
original values and the released ones, which may stand for several of them (`evaluation.sides`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ontomask.arithmetic import summed_products
from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.checks import did_you_mean
from ontomask.data.domains import Domain
from ontomask.data.encoding import record_counts, record_units, survey_weights
from ontomask.data.grouping import group_rows
from ontomask.data.microdata import Attribute
from ontomask.data.schema import Column, Date, Nominal, Numeric, Schema, value_distances
from ontomask.data.tables import Table, open_table
from ontomask.errors import DataError, ParameterError, SchemaError
from ontomask.evaluation.labels import Known, Labels, Words, known_labels, read_labels
from ontomask.evaluation.sides import CodedSides, NumberSides
from ontomask.remembering import remembered
from ontomask.semantics.distances import MISSING_DISTANCE
from ontomask.semantics.moments import variance
from ontomask.taxonomy.hierarchies import Hierarchy
from ontomask.taxonomy.taxonomy import Taxonomy
from ontomask.wording import plural

__all__ = [
    "Amounts",
    "Paired",
    "PairedColumn",
    "are_many",
    "pair_column",
    "pair_columns",
    "pair_tables",
    "tuple_groups",
]


MANY = 20_000
"""So many records are measured for several columns at once."""


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

    Attributes
    ----------
    old, new
        The codes of the original and of the released value of each record.
    sides
        What the codes stand for, and how far they are apart.
    hidden
        Which original values are not to be told: they count as others do on average.
    """

    name: str
    column: Column
    amounts: Amounts
    old: Ints
    new: Ints
    sides: CodedSides | NumberSides
    hidden: Bools | None = None

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers or dates."""
        return isinstance(self.sides, NumberSides)

    @property
    def old_numbers(self) -> Floats | None:
        """The original numbers, NaN where missing."""
        return self.sides.numbers[self.old] if isinstance(self.sides, NumberSides) else None

    @property
    def new_numbers(self) -> Floats | None:
        """The released numbers; what stands for several is their mean, a star is none."""
        return self.sides.expected[self.new] if isinstance(self.sides, NumberSides) else None

    @remembered
    def moved(self) -> Floats:
        """How far each record's value moved: semantic distance, or standard deviations."""
        moved = self.filled(self.sides.moved(self.old, self.new))
        if self.hidden is not None:
            moved[self.hidden & (self.new == self.sides.released_size)] = MISSING_DISTANCE
        return moved

    @remembered
    def starred(self) -> Floats:
        """How far each record's value would move if it were released as a star."""
        return self.filled(self.sides.to_star[self.old])

    @remembered
    def changed(self) -> Bools:
        """Whether each record's value differs from the original, or stands for others as well.

        Of hidden values nothing is told, not even this.
        """
        changed: Bools = self.old != self.sides.own[self.new]
        return changed if self.hidden is None else changed & ~self.sides.tells_nothing[self.new]

    @property
    def stands_for_several(self) -> Bools:
        """Whether each released value stands for a set."""
        several: Bools = self.sides.sets[self.new] >= 0
        return several

    def filled(self, distances: Floats) -> Floats:
        """Distances by record, where those of hidden values are the mean of the others."""
        if self.hidden is None or not self.hidden.any():
            return distances.copy()
        weights = np.where(self.hidden, 0.0, self.amounts.weights)
        total = float(weights.sum())
        mean = summed_products(weights, distances) / total if total else MISSING_DISTANCE
        return np.where(self.hidden, mean, distances)

    def part(self, rows: Bools | Longs) -> PairedColumn:
        """Only some of the records; the distances between values stay."""
        hidden = None if self.hidden is None else self.hidden[rows]
        amounts = self.amounts.part(rows)
        return replace(self, amounts=amounts, old=self.old[rows], new=self.new[rows], hidden=hidden)

    def without_suppressed(self) -> PairedColumn:
        """The same without the original values of which the masked table has nothing."""
        gone = self.sides.tells_nothing[self.new]
        # of a value that was missing before there is nothing to be left out
        if not (gone & (self.changed | (self.old < self.sides.size))).any():
            return self
        old = np.where(gone, self.sides.size, self.old).astype(np.int32)
        hidden = gone & (self.old < self.sides.size)
        return replace(self, old=old, sides=_counted(self.sides, old, self.amounts), hidden=hidden)


def _counted(
    sides: CodedSides | NumberSides, old: Ints, amounts: Amounts
) -> CodedSides | NumberSides:
    """The same values, with the people who have them and their variance counted anew."""
    people = np.bincount(old, amounts.weights, sides.size + 1).astype(np.float64)
    if isinstance(sides, NumberSides):
        return sides.counted(people, spread=_spread(sides.numbers[old], amounts))
    return sides.counted(people)


def _spread(numbers: Floats, amounts: Amounts) -> float:
    known = ~np.isnan(numbers)
    return variance(numbers[known], *amounts.part(known))


@dataclass(frozen=True, eq=False)
class Paired:
    """Original and masked table over common domains, record by record.

    Attributes
    ----------
    amounts
        How many records and people each record stands for.
    left_out, people_left_out
        How many records, and people, the masked table lacks.
    units
        Whose record each one is, by number, where persons are protected.
    """

    schema: Schema
    columns: Mapping[str, PairedColumn]
    amounts: Amounts
    left_out: float = 0.0
    people_left_out: float = 0.0
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

    @functools.cached_property
    def moved(self) -> Floats:
        """How far each record moved: the mean over the quasi-identifiers and what else changed."""
        moved = [one.moved for one in self.chosen(None)]
        return np.mean(moved, axis=0) if moved else np.zeros(len(self))

    def quasi(self) -> list[PairedColumn]:
        """The quasi-identifiers."""
        return [one for one in self.columns.values() if one.column.role == "quasi"]

    @functools.cached_property
    def starred(self) -> float:
        """How many records are there without any of the quasi-identifiers that they had."""
        columns = self.quasi()
        empty = np.full(len(self), bool(columns))
        known = np.zeros(len(self), bool)
        for one in columns:
            empty &= one.sides.tells_nothing[one.new]
            known |= (one.old < one.sides.size) | (one.hidden if one.hidden is not None else False)
        return float(self.counts[empty & known].sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be read of the masked table, in sentences."""
        return tuple(_note(one) for one in self.columns.values() if one.sides.released.unread)

    def subset(self, mask: Bools | Longs) -> Paired:
        """Only some of the records."""
        columns = {name: one.part(mask) for name, one in self.columns.items()}
        units = None if self.units is None else self.units[mask]
        return replace(self, columns=columns, amounts=self.amounts.part(mask), units=units)

    def without_suppressed(self) -> Paired:
        """What the masked table has something of: no other records, and no other values."""
        columns = {name: one.without_suppressed() for name, one in self.columns.items()}
        same = all(one is self.columns[name] for name, one in columns.items())
        if same and not (self.left_out or self.people_left_out):
            return self
        return Paired(self.schema, columns, self.amounts, units=self.units)


def _note(column: PairedColumn) -> str:
    released = column.sides.released
    flat = isinstance(column.sides, CodedSides) and column.sides.distances.highest is None
    taken = "a value of its own" if flat else "the original values in whose place it stands"
    return (
        f"Column {column.name!r}: {released.unread} of {plural(len(released), 'released label')} "
        f"could not be read, and each is taken for {taken}; hierarchies says what labels mean."
    )


def are_many(columns: Sequence[PairedColumn]) -> bool:
    """Whether there are enough records to share columns among threads."""
    return bool(columns) and columns[0].old.size >= MANY


def tuple_groups(columns: Sequence[PairedColumn], which: str) -> tuple[Longs, Longs]:
    """First record and group of each record, by the original (`old`) or masked (`new`) values."""
    if which == "old":
        return group_rows([one.old for one in columns], [one.sides.size + 1 for one in columns])
    sizes = [one.sides.released_size + 1 for one in columns]
    return group_rows([one.new for one in columns], sizes)


def pair_tables(
    original: object,
    masked: object,
    schema: Schema,
    *,
    rows: Longs | None = None,
    hierarchies: Mapping[str, Any] | None = None,
) -> Paired:
    """Pair two tables record by record.

    Parameters
    ----------
    rows
        For a masked table that lacks records, which original records it holds.
    hierarchies
        For columns whose labels cannot be read by their shape, their hierarchies; for those of a
        release their domains, which know what values stand for.
    """
    Schema.require(schema)
    known = read_hierarchies(hierarchies or {}, schema)
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
    columns = {
        name: pair_column(before, after, name, schema.column(name), amounts, known.get(name))
        for name in names
    }
    pairs = zip(_amounts(everyone, schema), amounts, strict=True)
    records, people = (float(all_.sum() - kept.sum()) for all_, kept in pairs)
    return Paired(schema, columns, amounts, records, people, record_units(before, schema))


def pair_columns(
    before: Mapping[str, Attribute],
    after: Mapping[str, Attribute],
    schema: Schema,
    table: Table,
    rows: Longs,
) -> Paired:
    """Pair the columns of a run as they are encoded, before and after it.

    Parameters
    ----------
    before, after
        The columns of the records that were released.
    table, rows
        The original table, and which of its records those are.
    """
    everyone = _amounts(table, schema)
    amounts = everyone.part(rows)
    columns = {
        name: _paired(one, after[name], amounts)
        for name, one in before.items()
        if name != schema.count
    }
    records, people = (
        float(all_.sum() - kept.sum()) for all_, kept in zip(everyone, amounts, strict=True)
    )
    units = record_units(table.part(rows), schema)
    return Paired(schema, columns, amounts, records, people, units)


def _paired(old: Attribute, new: Attribute, amounts: Amounts) -> PairedColumn:
    words = Words(old.name, old.column)
    meanings = np.append(words.meant(old.domain), np.nan)[old.codes]
    return _joined(words, meanings, known_labels(words, new.domain), new.codes, amounts)


def read_hierarchies(given: Mapping[str, Any], schema: Schema) -> dict[str, Known]:
    """The hierarchies of columns, in any of the forms that `Generalization` takes.

    For a nominal column also its taxonomy, where released concepts stand for those below them.
    """
    for name in given:
        if name not in schema.published:
            raise ParameterError(
                f"hierarchies names {name!r}, which is not a published column."
                f"{did_you_mean(name, schema.published)}"
            )
    return {name: _hierarchy(name, one, schema[name]) for name, one in given.items()}


def _hierarchy(name: str, given: Any, column: object) -> Known:
    own = isinstance(column, Nominal) and given is column.taxonomy
    known = isinstance(given, Domain) or (own and isinstance(given, Taxonomy))
    return given if known else Hierarchy.of(given, name)


def _amounts(table: Table, schema: Schema) -> Amounts:
    for name in (schema.count, schema.weight, schema.unit):
        if name is not None and name not in table.names:
            raise SchemaError(
                f"The schema names a column {name!r} that the table does not have."
                f"{did_you_mean(name, table.names)}"
            )
    counts = record_counts(table, schema)
    return Amounts(counts, counts * survey_weights(table, schema))


def pair_column(
    before: Table,
    after: Table,
    name: str,
    column: Column,
    amounts: Amounts,
    hierarchy: Known | None = None,
    *,
    together: bool = True,
) -> PairedColumn:
    """Pair a column of two tables.

    Parameters
    ----------
    amounts
        Of the records of the first table.
    hierarchy
        The hierarchy whose labels the second table may hold.
    together
        Whether the records of both correspond.
    """
    old_codes, old_values = before.distinct(name)
    new_codes, new_values = after.distinct(name)
    words = Words(name, column)
    meanings = np.append(words.originals(old_values), np.nan)[old_codes]
    labels = read_labels(words, new_values, new_codes, meanings, hierarchy, together=together)
    return _joined(words, meanings, labels, new_codes, amounts)


def _joined(
    words: Words, meanings: Floats, labels: Labels, released: Ints, amounts: Amounts
) -> PairedColumn:
    """Both sides of a column: what original values mean, and the label of each record."""
    domain = labels.domain(meanings)
    old = np.searchsorted(domain, np.where(np.isnan(meanings), np.inf, meanings)).astype(np.int32)
    new = np.append(labels.codes, len(labels.values))[released].astype(np.int32)
    sides = _sides(words, labels, domain, old, amounts)
    return PairedColumn(words.name, words.column, amounts, old, new, sides)


def _sides(
    words: Words, labels: Labels, domain: Floats, old: Ints, amounts: Amounts
) -> CodedSides | NumberSides:
    column = words.column
    people = np.bincount(old, amounts.weights, domain.size + 1).astype(np.float64)
    if isinstance(column, (Numeric, Date)):
        numbers = np.append(domain, np.nan)
        released = labels.over(domain, labels.points)
        return NumberSides(released, people, numbers, _spread(numbers[old], amounts))
    points = np.where(np.isnan(labels.points), -1, labels.points).astype(np.int64)
    values = domain.astype(np.int64)
    used = np.union1d(values, points[points >= 0]).astype(np.int32)
    distances = value_distances(column, used if used.size else None)
    released, names = labels.over(domain, points), words.names(values)
    return CodedSides(released, people, distances, np.append(values, -1), names)
