"""From the values of a column to concepts.

`map_values` looks every distinct value up by the rules of `ontomask.taxonomy.term_index` and
returns a `Mapping` with coverage, ambiguities, suggestions and warnings. A user's own mapping goes
before all rules, because what is stated beats what is inferred. Nothing is guessed silently: what
no rule finds is unmapped, and an error until the user says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ontomask.checks import Integer, check
from ontomask.errors import ParameterError
from ontomask.taxonomy.mapping import Ambiguity, Coverage, Mapping
from ontomask.taxonomy.mapping_file import Overrides, read_overrides
from ontomask.taxonomy.suggestions import Suggestion
from ontomask.taxonomy.term_index import TermIndex, is_number

if TYPE_CHECKING:
    from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["Ambiguity", "Coverage", "Mapping", "Suggestion", "TermIndex", "map_values"]


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
    column = _column(values, counts)
    index = taxonomy.term_index
    stated = read_overrides(index, overrides)
    matches = tuple(
        stated.get(text.strip()) or index.find(text, is_number=is_number(value))
        for text, value in zip(column.texts, column.values, strict=True)
    )
    return Mapping(
        index=index,
        values=tuple(column.values),
        counts=np.array(column.counts, np.int64),
        positions=np.array(column.positions, np.int64),
        matches=matches,
        records_missing=column.missing,
    )


@dataclass
class _Column:
    """A column being reduced to its distinct values, told apart by how they are written."""

    texts: dict[str, int] = field(default_factory=dict)
    values: list[object] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    missing: int = 0

    def add(self, value: object, count: int) -> None:
        text = value if type(value) is str else str(value)
        if _is_missing(value, text):
            self.missing += count
            self.positions.append(-1)
            return
        position = self.texts.setdefault(text, len(self.values))
        if position == len(self.values):
            self.values.append(value)
            self.counts.append(0)
        self.counts[position] += count
        self.positions.append(position)


def _column(values: Iterable[object], counts: Iterable[int] | None) -> _Column:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ParameterError(
            f"values must be a list of values, not a single {type(values).__name__}; "
            "write [value] to map one."
        )
    column = _Column()
    given = list(values)
    for value, count in zip(given, _checked_counts(counts, len(given)), strict=True):
        column.add(value, count)
    return column


def _checked_counts(counts: Iterable[int] | None, size: int) -> Sequence[int]:
    if counts is None:
        return [1] * size
    given = list(counts)
    if len(given) != size:
        raise ParameterError(
            f"counts must have one number for each of the {size:,} values, not {len(given):,}."
        )
    for count in given:
        check("counts", count, Integer(0))
    return [int(count) for count in given]


def _is_missing(value: object, text: str) -> bool:
    """Tell None, not-a-number (of any library) and blank texts."""
    if isinstance(value, str):
        return not text or text.isspace()
    return value is None or text in ("nan", "NaN", "NaT", "<NA>")
