"""From the values of a column to concepts, and how sure that is.

`map_values` looks every distinct value up by the rules of `ontomask.taxonomy.term_index` and
returns a `Mapping` with coverage, ambiguities, suggestions and warnings. A user's own mapping goes
before all rules, because what is stated beats what is inferred. Nothing is guessed silently: what
no rule finds is unmapped, and an error until the user says otherwise.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ontomask.arrays import Ints, Longs
from ontomask.checks import Choice, Integer, check
from ontomask.errors import ParameterError, SourceNotFoundError, UnmappedValuesError
from ontomask.taxonomy import mapping_report as report
from ontomask.taxonomy.mapping_file import Overrides, read_overrides
from ontomask.taxonomy.suggestions import Suggester, Suggestion
from ontomask.taxonomy.term_index import Match, TermIndex, is_number
from ontomask.wording import percent, plural
from ontomask.writing import write_rows

if TYPE_CHECKING:
    from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["Ambiguity", "Coverage", "Mapping", "is_missing", "map_values"]

UNMAPPED = Choice("error", "root", "suppress")
SHOWN = 5


def map_values(
    taxonomy: Taxonomy,
    values: Iterable[object],
    *,
    counts: Iterable[int] | None = None,
    overrides: Overrides = None,
) -> Mapping:
    """Map the values of a column to the concepts of a taxonomy.

    Parameters
    ----------
    taxonomy
        Where the concepts are looked for.
    values
        The column, or its distinct values; numbers are taken as they are written.
    counts
        In how many records each of the given values occurs; 1 each if left out.
    overrides
        A dictionary or a mapping file (value, concept) that goes before all rules.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ParameterError(
            f"values must be a list of values, not a single {type(values).__name__}; "
            "write [value] to map one."
        )
    index, given = taxonomy.term_index, list(values)
    amounts = _checked_counts(counts, len(given))
    positions, distinct = _distinct(given)
    stated = read_overrides(index, overrides)
    return Mapping(
        index=index,
        values=tuple(distinct.values()),
        counts=np.bincount(positions + 1, amounts, len(distinct) + 1)[1:].astype(np.int64),
        positions=positions,
        matches=tuple(
            stated.get(text.strip()) or index.find(text, is_number=is_number(value))
            for text, value in distinct.items()
        ),
        records_missing=int(amounts[positions < 0].sum()),
    )


def is_missing(value: object, text: str) -> bool:
    """Tell None, not-a-number (of any library) and blank texts; `text` is how it is written."""
    if isinstance(value, str):
        return not text or text.isspace()
    return value is None or text in ("nan", "NaN", "NaT", "<NA>")


def _distinct(values: list[object]) -> tuple[Longs, dict[str, object]]:
    """The place of every value among the distinct ones, which are told apart by their texts."""
    places: dict[str, int] = {}
    distinct: dict[str, object] = {}
    positions: list[int] = []
    for value in values:
        text = value if type(value) is str else str(value)
        if is_missing(value, text):
            positions.append(-1)
            continue
        positions.append(places.setdefault(text, len(places)))
        distinct.setdefault(text, value)
    return np.array(positions, np.int64), distinct


def _checked_counts(counts: Iterable[int] | None, size: int) -> Longs:
    given = [1] * size if counts is None else list(counts)
    if len(given) != size:
        raise ParameterError(
            f"counts must have one number for each of the {size:,} values, not {len(given):,}."
        )
    for count in given if counts is not None else ():
        check("counts", count, Integer(0))
    return np.array(given, np.int64)


@dataclass(frozen=True)
class Coverage:
    """How much of a column has found a concept; missing values do not count."""

    values: int
    values_mapped: int
    records: int
    records_mapped: int
    records_missing: int

    @property
    def value_share(self) -> float:
        """Share of the distinct values that are mapped (1 if there are none)."""
        return self.values_mapped / self.values if self.values else 1.0

    @property
    def record_share(self) -> float:
        """Share of the records with a value that are mapped (1 if there are none)."""
        return self.records_mapped / self.records if self.records else 1.0

    def __str__(self) -> str:
        records = plural(self.records, "record")
        missing = f"; {self.records_missing:,} missing" if self.records_missing else ""
        values = percent(self.value_share, 1)
        return (
            f"{self.values_mapped:,} of {self.values:,} values mapped ({values}), "
            f"{self.records_mapped:,} of {records} ({percent(self.record_share, 1)}){missing}"
        )


@dataclass(frozen=True)
class Ambiguity:
    """A value that several concepts claimed: the one chosen, the others, and what decided."""

    value: object
    id: str
    others: tuple[str, ...]
    how: str
    decided_by: str

    def __str__(self) -> str:
        rest = ", ".join(self.others[:SHOWN])
        more = f" and {len(self.others) - SHOWN} more" if len(self.others) > SHOWN else ""
        return f"{str(self.value)!r} is {self.id} ({self.decided_by}), not {rest}{more}"


@dataclass(frozen=True, eq=False, repr=False)
class Mapping:
    """The values of a column and the concepts that they mean.

    Attributes
    ----------
    values
        The distinct values, in order of first appearance, missing ones left out.
    counts
        In how many records each of them occurs.
    positions
        For every value that was given, its place in `values`; -1 if it is missing.
    matches
        For every distinct value what was found, or None.
    records_missing
        How many of the records have no value: None, not-a-number or a blank text.

    Examples
    --------
    >>> icd9 = om.load_taxonomy("icd9cm")
    >>> mapping = icd9.map(["25000", "250.13", "no such disease"])
    >>> mapping.ids
    ('250.00', '250.13', None)
    >>> mapping.unmapped
    ('no such disease',)
    """

    index: TermIndex
    values: tuple[object, ...]
    counts: Longs
    positions: Longs
    matches: tuple[Match | None, ...]
    records_missing: int

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Mapping({self.coverage})"

    def __str__(self) -> str:
        return self.summary()

    # What was found -------------------------------------------------------------------------

    @functools.cached_property
    def concepts(self) -> Ints:
        """The number of each value's concept; -1 where none was found."""
        return np.array([-1 if m is None else m.concept for m in self.matches], np.int32)

    @functools.cached_property
    def ids(self) -> tuple[str | None, ...]:
        """The id of each value's concept; None where none was found."""
        known = self.index.taxonomy.ids
        return tuple(None if match is None else known[match.concept] for match in self.matches)

    @functools.cached_property
    def how(self) -> tuple[str | None, ...]:
        """The rule by which each value was found; None where none was."""
        return tuple(None if match is None else match.how for match in self.matches)

    @functools.cached_property
    def coverage(self) -> Coverage:
        """How many values and records are mapped."""
        mapped = self.concepts >= 0
        return Coverage(
            values=len(self.values),
            values_mapped=int(mapped.sum()),
            records=int(self.counts.sum()),
            records_mapped=int(self.counts[mapped].sum()),
            records_missing=self.records_missing,
        )

    @functools.cached_property
    def unmapped(self) -> tuple[object, ...]:
        """The values without a concept, the most frequent first."""
        return tuple(self.values[position] for position in self.unmapped_positions)

    @functools.cached_property
    def ambiguous(self) -> tuple[Ambiguity, ...]:
        """The values that several concepts claimed, with the choice made."""
        ids = self.index.taxonomy.ids
        return tuple(
            Ambiguity(
                value,
                ids[match.concept],
                tuple(ids[other] for other in match.others),
                match.how,
                match.decided_by,
            )
            for value, match in zip(self.values, self.matches, strict=True)
            if match is not None and match.others
        )

    @functools.cached_property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about signs that the column's codes have been damaged."""
        return tuple(report.zero_warnings(self))

    # What to do -----------------------------------------------------------------------------

    def suggestions(self, value: object, limit: int = 3) -> tuple[Suggestion, ...]:
        """Return the concepts closest to a value, the likeliest first."""
        check("limit", limit, Integer(1))
        return self.suggester.suggest(str(value), limit)

    def suggestion_table(
        self, limit: int = 3, *, values: int | None = 100
    ) -> list[tuple[object, int, Suggestion]]:
        """Return rows (value, records, suggestion) for the most frequent unmapped values.

        `values` bounds how many of them are looked at; None takes all.
        """
        return [
            (self.values[position], int(self.counts[position]), suggestion)
            for position in self.unmapped_positions[:values]
            for suggestion in self.suggestions(self.values[position], limit)
        ]

    def require(self) -> Mapping:
        """Return the mapping itself, or raise `UnmappedValuesError` if it is not complete."""
        if self.unmapped:
            raise UnmappedValuesError(report.unmapped_sentence(self))
        return self

    def resolve(self, unmapped: str = "error") -> Ints:
        """Return the concept of each value, with a treatment of the unmapped ones.

        "error" raises, "root" takes the root of the taxonomy (which says nothing, truthfully),
        "suppress" leaves -1: the records have to be treated as missing.
        """
        check("unmapped", unmapped, UNMAPPED)
        if unmapped == "error":
            self.require()
        floor = 0 if unmapped == "root" else -1
        return np.maximum(self.concepts, np.int32(floor))

    def to_csv(
        self, path: str | Path, *, overwrite: bool = False, suggestions: int | None = 200
    ) -> Path:
        """Write a mapping file to be edited and given back as `overrides`.

        Unmapped values come first, the most frequent on top, with an empty concept;
        `suggestions` bounds for how many of them the closest concept is looked up.
        """
        target = Path(path)
        rows = [report.FILE_COLUMNS, *report.file_rows(self, suggestions)]
        if os.path.lexists(target) and not overwrite:
            raise ParameterError(
                f"{target} exists already; choose another name or say overwrite=True."
            )
        try:
            # With its byte-order mark, spreadsheets recognize UTF-8.
            write_rows(target, rows, encoding="utf-8-sig")
        except FileNotFoundError:
            raise SourceNotFoundError(
                f"There is no folder {str(target.parent)!r} to write {target.name!r} into."
            ) from None
        return target

    def summary(self) -> str:
        """Return an account of the mapping for the person who is responsible for the data."""
        return report.summary(self)

    @functools.cached_property
    def suggester(self) -> Suggester:
        """Proposes concepts of the taxonomy, of equal ones those near the mapped values."""
        taxonomy, found = self.index.taxonomy, self.concepts >= 0
        if not found.any():
            return Suggester(self.index)
        records = np.zeros(len(taxonomy))
        np.add.at(records, self.concepts[found], self.counts[found])
        return Suggester(self.index, taxonomy.totals(records) / max(1.0, records.sum()))

    @functools.cached_property
    def unmapped_positions(self) -> list[int]:
        """The places of the unmapped values in `values`, the most frequent first."""
        positions = np.flatnonzero(self.concepts < 0)
        order = np.argsort(-self.counts[positions], kind="stable")
        ordered: list[int] = positions[order].tolist()
        return ordered
