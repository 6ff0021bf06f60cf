"""What a method returns: new columns, clusters, suppressed records, promises, and a scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.schema import Nominal
from ontomask.data.tables import Replacement, Seen, Table
from ontomask.promises import Promise

__all__ = ["Masked", "NewColumn", "Scheme", "State", "apply_masked", "joined"]

WRITTEN_ONCE = ("quasi", "sensitive")
"""Roles of columns that have one spelling for each value."""


class Scheme(Protocol):
    """What a method learned, to be applied to records it has not seen."""

    def apply(self, microdata: Microdata) -> Masked:
        """Mask new records, encoded over the same domains."""
        ...


@dataclass(frozen=True, eq=False)
class NewColumn:
    """A masked column: for each record the position of its value among `values`.

    `values` are as written in a release (None is missing); `concepts` (-1 is missing) and
    `numbers` (NaN is missing) say what they mean, so that a further step can go on from there.
    """

    codes: Longs
    values: Sequence[object]
    concepts: Longs | None = None
    numbers: Floats | None = None

    @property
    def replacement(self) -> Replacement:
        """The column for the outgoing frame."""
        return Replacement(self.codes, self.values)


@dataclass(frozen=True, eq=False)
class Masked:
    """The result of a method on encoded microdata.

    Attributes
    ----------
    columns
        The columns that the method replaced.
    promises
        What it claims of the outcome.
    clusters
        For each record the number of its cluster or class, if the method makes any.
    kept
        Which records stay in the release; all, unless given.
    scheme
        What can be applied to records not seen; None for methods that have none.
    dropped
        Columns that the method takes out of the release.
    details
        Figures to report: loss, gain of a refinement, chosen levels, …
    """

    columns: Mapping[str, NewColumn]
    promises: tuple[Promise, ...] = ()
    clusters: Longs | None = None
    kept: Bools | None = None
    scheme: Scheme | None = None
    dropped: tuple[str, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class State:
    """A table between two steps: its records as they are encoded, and its columns as written.

    `columns` holds the columns that are written anew; the others are published as they came.
    """

    table: Table
    microdata: Microdata
    columns: Mapping[str, NewColumn] = field(default_factory=dict)

    @classmethod
    def start(cls, table: Table, microdata: Microdata) -> State:
        """The table before the first step; concepts are written as ids or labels where asked.

        Values of a quasi-identifier that mean the same are written in one way, since they are of
        one class: a reader must not be able to tell them apart. So are those of a sensitive column:
        two spellings are no two values to hide among.
        """
        rows = microdata.rows
        columns = {
            name: _own_column(one)
            for name, one in microdata.attributes.items()
            if (isinstance(one.column, Nominal) and one.column.output != "input")
            or (
                one.column.role in WRITTEN_ONCE and _looks_otherwise(table.seen(name).of(rows), one)
            )
        }
        return cls(table, microdata, columns)

    def after(self, masked: Masked) -> State:
        """The table after a step."""
        columns = {**self.columns, **masked.columns}
        if masked.kept is not None:
            kept = masked.kept
            columns = {name: replace(one, codes=one.codes[kept]) for name, one in columns.items()}
        return State(self.table, apply_masked(self.microdata, masked), columns)

    def seen(self, name: str) -> Seen:
        """A column as it would be published now."""
        if name in self.columns:
            return Seen(self.columns[name].codes, self.columns[name].values)
        return self.table.seen(name).of(self.microdata.rows)

    def frame(self, published: Sequence[str]) -> Any:
        """The outgoing frame of the records that are left, in their order."""
        rows, count = self.microdata.rows, len(self.table)
        replaced = {
            name: replace(one, codes=_spread(one.codes, rows, count)).replacement
            for name, one in self.columns.items()
            if name in published
        }
        return self.table.released(published, replaced, None if rows.size == count else rows)


def _looks_otherwise(seen: Seen, attribute: Attribute) -> bool:
    """Whether a value has several looks, or a concept one that is not its own."""
    size = attribute.cardinality
    pairs = np.unique(seen.codes * size + attribute.codes)
    values = (*attribute.values, None)
    own = attribute.concepts is None or all(
        seen.values[pair // size] == values[pair % size] for pair in pairs.tolist()
    )
    return not own or pairs.size > np.unique(attribute.codes).size


def _own_column(attribute: Attribute) -> NewColumn:
    """An encoded column as it is written, before any step."""
    concepts = attribute.concepts
    return NewColumn(
        attribute.codes.astype(np.int64),
        [*attribute.values, None],
        None if concepts is None else np.append(concepts, -1).astype(np.int64),
    )


def _spread(codes: Longs, rows: Longs, count: int) -> Longs:
    """Codes of all records of the table; those left out get any."""
    if rows.size == count:
        return codes
    spread = np.zeros(count, np.int64)
    spread[rows] = codes
    return spread


def apply_masked(microdata: Microdata, masked: Masked) -> Microdata:
    """The microdata after a step, for the next step to go on with."""
    attributes = {
        name: _replaced(one, masked.columns[name]) if name in masked.columns else one
        for name, one in microdata.attributes.items()
    }
    result = replace(microdata, attributes=attributes)
    if masked.kept is None:
        return replace(result, gone=_unchanged(microdata.gone, masked))
    sensitive = [name for name in microdata.schema.with_role("sensitive") if name in attributes]
    left_out = microdata.subset(~masked.kept)
    gone = {name: left_out.distribution(name) for name in sensitive}
    return replace(result.subset(masked.kept), gone=_unchanged(gone, masked))


def _unchanged(gone: Mapping[str, Floats], masked: Masked) -> dict[str, Floats]:
    return {name: one for name, one in gone.items() if name not in masked.columns}


def _replaced(attribute: Attribute, new: NewColumn) -> Attribute:
    """The attribute with a new domain: equal values united, sorted, missing behind the last."""
    keys = _sorting_keys(new, attribute.fits_floats)
    used = np.unique(new.codes)
    present = np.array([new.values[place] is not None for place in used], bool)
    distinct, firsts, places = np.unique(
        keys[used[present]], return_index=True, return_inverse=True
    )
    translate = np.full(len(new.values), distinct.size, np.int32)
    translate[used[present]] = places
    chosen = used[present][firsts]
    return replace(
        attribute,
        codes=translate[new.codes],
        values=tuple(new.values[place] for place in chosen),
        has_missing=not present.all(),
        numbers=None if new.numbers is None else new.numbers[chosen],
        concepts=None if new.concepts is None else new.concepts[chosen].astype(np.int32),
    )


def _sorting_keys(new: NewColumn, fits_floats: bool) -> Longs | Floats:
    if new.concepts is not None:
        return new.concepts
    if new.numbers is None:
        return _ranks([str(value) for value in new.values])
    return new.numbers if fits_floats else _ranks(new.values)


def _ranks(values: Sequence[Any]) -> Longs:
    """The place of each value among the distinct ones in their order, -1 where it is missing."""
    ranks = {one: rank for rank, one in enumerate(sorted({*values} - {None}))}
    return np.array([ranks.get(value, -1) for value in values], np.int64)


def joined(parts: Sequence[tuple[Bools, Masked]], count: int) -> Masked:
    """Put the results of separate strata together, each given with the mask of its records."""
    first = parts[0][1]
    columns = {name: _joined_column(name, parts, count) for name in first.columns}
    clusters = np.full(count, -1, np.int64)
    kept = np.ones(count, bool)
    behind = 0
    for mask, masked in parts:
        if masked.clusters is not None:
            clusters[mask] = masked.clusters + behind
            behind += int(masked.clusters.max(initial=-1)) + 1
        if masked.kept is not None:
            kept[mask] = masked.kept
    return Masked(
        columns,
        promises=tuple(dict.fromkeys(one for _, masked in parts for one in masked.promises)),
        clusters=clusters if first.clusters is not None else None,
        kept=None if kept.all() else kept,
        details={"strata": [dict(masked.details) for _, masked in parts]},
    )


def _joined_column(name: str, parts: Sequence[tuple[Bools, Masked]], count: int) -> NewColumn:
    codes = np.empty(count, np.int64)
    values: list[object] = []
    for mask, masked in parts:
        new = masked.columns[name]
        codes[mask] = new.codes + len(values)
        values.extend(new.values)
    pieces = [masked.columns[name] for _, masked in parts]
    concepts = [one.concepts for one in pieces if one.concepts is not None]
    numbers = [one.numbers for one in pieces if one.numbers is not None]
    return NewColumn(
        codes,
        values,
        np.concatenate(concepts) if concepts else None,
        np.concatenate(numbers) if numbers else None,
    )
