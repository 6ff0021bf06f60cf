"""What a method returns: new columns, clusters, suppressed records, promises, and a scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from ontomask.arrays import Bools, Longs
from ontomask.data.domains import Concepts, Labels, Numbers
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.schema import Nominal
from ontomask.data.seen import Seen, beside
from ontomask.data.tables import Table
from ontomask.promises import Promise

__all__ = ["Masked", "Scheme", "State", "apply_masked", "joined"]

WRITTEN_ONCE = ("quasi", "sensitive")
"""Roles of columns that have one spelling for each value."""


class Scheme(Protocol):
    """What a method learned, to be applied to records it has not seen."""

    def apply(self, microdata: Microdata) -> Masked:
        """Mask new records, encoded over the same domains."""
        ...


@dataclass(frozen=True, eq=False)
class Masked:
    """The result of a method on encoded microdata.

    Attributes
    ----------
    columns
        The columns that the method replaced, of all records.
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

    columns: Mapping[str, Attribute]
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
    columns: Mapping[str, Attribute] = field(default_factory=dict)

    @classmethod
    def start(cls, table: Table, microdata: Microdata) -> State:
        """The table before the first step; concepts are written as ids or labels where asked.

        Values of a quasi-identifier that mean the same are written in one way, since they are of
        one class: a reader must not be able to tell them apart. So are those of a sensitive column:
        two spellings are no two values to hide among.
        """
        start = cls(table, microdata)
        columns = {
            name: one
            for name, one in microdata.attributes.items()
            if (isinstance(one.column, Nominal) and one.column.output != "input")
            or (one.column.role in WRITTEN_ONCE and _looks_otherwise(start.seen(name), one))
        }
        return replace(start, columns=columns)

    def after(self, masked: Masked) -> State:
        """The table after a step."""
        columns = {**self.columns, **masked.columns}
        if masked.kept is not None:
            kept = masked.kept
            columns = {name: one.of(kept) for name, one in columns.items()}
        return State(self.table, apply_masked(self.microdata, masked), columns)

    def seen(self, name: str) -> Seen:
        """A column as it would be published now."""
        if name in self.columns:
            return self.columns[name].seen
        seen = self.table.seen(name)
        return seen if self.is_whole else seen.of(self.microdata.rows)

    @property
    def is_whole(self) -> bool:
        """Whether no record of the table was left out."""
        return len(self.microdata) == len(self.table)

    def kept(self, end: State) -> Longs | slice:
        """Which of the records, by place, are left in a later state."""
        if len(end.microdata) == len(self.microdata):
            return slice(None)
        left = np.zeros(len(self.table), bool)
        left[end.microdata.rows] = True
        return np.flatnonzero(left[self.microdata.rows])

    def frame(self, published: Sequence[str]) -> Any:
        """The outgoing frame of the records that are left, in their order."""
        rows = None if self.is_whole else self.microdata.rows
        replaced = {name: one.seen for name, one in self.columns.items() if name in published}
        return self.table.released(published, replaced, rows)


def _looks_otherwise(seen: Seen, attribute: Attribute) -> bool:
    """Whether a value has several looks, or a concept one that is not its own."""
    # these values are there because a record shows them: as many looks as values are one for each
    shown = isinstance(attribute.domain, (Numbers, Labels))
    if shown and len(seen.values) <= attribute.size + 1:
        return False
    looks, codes, _ = beside(seen.codes, attribute.codes, attribute.cardinality)
    values = attribute.by_code
    own = not isinstance(attribute.domain, Concepts) or all(
        seen.values[look] == values[code]
        for look, code in zip(looks.tolist(), codes.tolist(), strict=True)
    )
    return not own or bool((np.bincount(codes) > 1).any())


def apply_masked(microdata: Microdata, masked: Masked) -> Microdata:
    """The microdata after a step, for the next step to go on with."""
    columns = {name: one for name, one in masked.columns.items() if name in microdata.attributes}
    gone, result = microdata.gone, microdata
    if masked.kept is not None:
        sensitive = [
            name for name in microdata.schema.with_role("sensitive") if name in microdata.attributes
        ]
        left_out = microdata.subset(~masked.kept)
        gone = {name: left_out.distribution(name) for name in sensitive}
        columns = {name: one.of(masked.kept) for name, one in columns.items()}
        result = microdata.subset(masked.kept)
    settled = {name: one.settled() for name, one in columns.items()}
    return replace(
        result,
        attributes={**result.attributes, **settled},
        gone={name: people for name, people in gone.items() if name not in columns},
    )


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


def _joined_column(name: str, parts: Sequence[tuple[Bools, Masked]], count: int) -> Attribute:
    columns = [(mask, masked.columns[name]) for mask, masked in parts]
    first = columns[0][1]
    domain = first.domain.followed_by([one.domain for _, one in columns[1:]])
    codes = np.full(count, domain.size, np.int32)
    behind = 0
    for mask, one in columns:
        codes[mask] = np.where(one.codes < one.size, one.codes + behind, domain.size)
        behind += one.size
    missing = any(one.has_missing for _, one in columns)
    return replace(first, codes=codes, domain=domain, has_missing=missing)
