"""What is known of a column before anybody has said what it is."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Longs
from ontomask.data.column_names import Hints, read_name
from ontomask.data.files.oddities import MISSING_WORDS, is_missing_word
from ontomask.data.tables import Table
from ontomask.data.value_shapes import written_as_numbers
from ontomask.wording import plural

__all__ = ["OFTEN_DISTINCT", "Evidence", "evidence_of", "records_sampled", "sampled"]

CELLS = 1_000_000
FEWEST_SAMPLED = 2_000
"""Up to so many cells are looked at, but so many records at least."""

EXAMINED = 2_000
"""So many distinct values are looked at closely; the most frequent ones."""

OFTEN_DISTINCT = 0.5


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of a column: its name, its type, its distinct values and how often they occur.

    `texts` are the most frequent values, without those that stand for missing ones (`marks`).
    """

    name: str
    hints: Hints
    table: Table
    texts: tuple[str, ...]
    counts: Longs
    records: int
    distinct: int
    marks: tuple[str, ...] = ()
    is_sampled: bool = False

    @functools.cached_property
    def is_number(self) -> bool:
        """Whether the column holds numbers by its type."""
        return self.table.is_number(self.name)

    @functools.cached_property
    def share(self) -> float:
        """How many of the values are distinct: 1 where each occurs once."""
        if not self.is_sampled or self.distinct < OFTEN_DISTINCT * self.records:
            return self.distinct / max(1, self.records)
        distinct, records = self.whole
        return distinct / max(1, records)

    @functools.cached_property
    def whole(self) -> tuple[int, int]:
        """How many distinct values there are in how many records of the whole table."""
        if not self.is_sampled:
            return self.distinct, self.records
        known = self.table.frame[self.name].drop_nulls()
        return int(known.n_unique()), len(known)

    @functools.cached_property
    def reads_as_numbers(self) -> bool:
        """Whether the values are numbers, by type or as they are written."""
        return self.is_number or written_as_numbers(self.texts)

    @functools.cached_property
    def is_whole(self) -> bool:
        """Whether the values are whole numbers."""
        return self.reads_as_numbers and all(float(text).is_integer() for text in self.texts)

    @property
    def told(self) -> str:
        """How many distinct values there are, or were seen, in words."""
        seen = f"{self.distinct:,} or more distinct values"
        return seen if self.is_sampled else plural(self.distinct, "distinct value")


def records_sampled(columns: int) -> int:
    """How many records are looked at of a table of so many columns."""
    return max(FEWEST_SAMPLED, CELLS // columns)


def sampled(table: Table) -> Table:
    """The table itself, or evenly spaced records of it if it is large."""
    size = records_sampled(len(table.names))
    if size >= len(table):
        return table
    rows = np.linspace(0, len(table) - 1, size).astype(np.int64)
    return Table(table.frame[rows])


def evidence_of(table: Table, sample: Table, name: str) -> Evidence:
    """What is known of a column, of which `sample` holds some records."""
    codes, values = sample.distinct(name)
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    order = np.argsort(-counts, kind="stable")
    texts = [str(values[place]).strip() for place in order[: EXAMINED + len(MISSING_WORDS)]]
    marks = tuple(text for text in texts if is_missing_word(text))
    kept = [place for place, text in enumerate(texts) if text and text not in marks][:EXAMINED]
    blank = sum(int(counts[order[place]]) for place, text in enumerate(texts) if not text)
    return Evidence(
        name=name,
        hints=read_name(name),
        table=table,
        texts=tuple(texts[place] for place in kept),
        counts=counts[order[kept]] if kept else np.empty(0, np.int64),
        records=int(counts.sum()) - blank,
        distinct=len(values) - (len(texts) - len([text for text in texts if text])),
        marks=marks,
        is_sampled=sample is not table,
    )
