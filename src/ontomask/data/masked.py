"""What a method returns: new columns, clusters, suppressed records, promises, and a scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.tables import Replacement
from ontomask.promises import Promise

__all__ = ["Masked", "NewColumn", "Scheme", "apply_masked", "joined"]


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


def apply_masked(microdata: Microdata, masked: Masked) -> Microdata:
    """The microdata after a step, for the next step to go on with."""
    attributes = {
        name: _replaced(one, masked.columns[name]) if name in masked.columns else one
        for name, one in microdata.attributes.items()
    }
    result = replace(microdata, attributes=attributes)
    return result if masked.kept is None else result.subset(masked.kept)


def _replaced(attribute: Attribute, new: NewColumn) -> Attribute:
    """The attribute with a new domain: equal values united, sorted, missing behind the last."""
    keys = _sorting_keys(new)
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


def _sorting_keys(new: NewColumn) -> Longs | Floats:
    if new.concepts is not None:
        return new.concepts
    if new.numbers is not None:
        return new.numbers
    texts = sorted({str(value) for value in new.values})
    ranks = {text: rank for rank, text in enumerate(texts)}
    return np.array([ranks[str(value)] for value in new.values], np.int64)


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
        promises=first.promises,
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
