"""What the report shows of each column, computed from the two tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.data.schema import Column, Nominal
from ontomask.data.tables import Table
from ontomask.data.values import is_star, read_span
from ontomask.evaluation.evaluation import Evaluation
from ontomask.evaluation.pairing import Paired, PairedColumn, pair_tables
from ontomask.evaluation.utility import ColumnLoss
from ontomask.report.distributions import (
    Distribution,
    View,
    category_bars,
    concept_bars,
    extremes,
    histogram_bars,
    level_bars,
    rare_concepts,
    rare_values,
)

__all__ = ["CHARTED", "ColumnFacts", "Missing", "column_facts", "single_column"]

CHARTED = 24
"""How many columns get a chart: quasi-identifiers first, then sensitive ones, then others."""
DOMINANT = 0.5
"""The share of a spread above which few records are said to make it up."""
SCATTERED = 0.5
"""The share of different numbers above which most are said to differ."""


@dataclass(frozen=True)
class Missing:
    """Counts of missing values; as exact as this for internal use only.

    Attributes
    ----------
    original
        Original values that are missing.
    suppressed
        Known values that the release lacks or stars.
    unmapped
        Original values that have no concept.
    filled
        Missing values in whose place the release has one.
    added
        Values, known or not, in whose place the release has nothing.
    """

    original: int
    suppressed: int
    unmapped: int
    filled: int
    added: int


@dataclass(frozen=True)
class ColumnFacts:
    """One column of the release.

    Attributes
    ----------
    taxonomy
        The name of its taxonomy, for nominal columns.
    changed
        The share of changed values.
    few
        Whether some values changed, suppressed ones aside, but fewer than the threshold: whatever
        is said of the original then speaks of them, to those who subtract the release.
    loss
        What it lost, where that was measured.
    distribution
        Before and after, for columns with a chart.
    dominated
        Whether fewer records than the threshold make up most of the spread of the original
        numbers, so that mean and deviation would give them away.
    scattered
        Whether most of the original numbers differ from each other, so that it says nothing how
        often one occurs.
    ranges
        Whether the release has ranges, such as intervals or years, in place of numbers or dates.
    missing
        What happened to missing values.
    """

    name: str
    kind: str
    role: str
    taxonomy: str
    changed: float
    few: bool
    loss: ColumnLoss | None
    distribution: Distribution | None
    dominated: bool
    scattered: bool
    ranges: bool
    missing: Missing


@dataclass(frozen=True, eq=False)
class _Tables:
    """Both tables, paired record by record.

    Attributes
    ----------
    before, whole
        The original table with all its records: for internal use.
    kept, after, paired
        The records of the release, before and after masking.
    told
        The same without original values that the release has nothing of: all that a public report
        may speak of.
    """

    before: Table
    whole: Paired
    kept: Table
    after: Table
    paired: Paired
    told: Paired
    least: int

    @classmethod
    def of(
        cls, before: Table, after: Table, rows: Longs | None, paired: Paired, least: int
    ) -> _Tables:
        whole, kept = paired, before if rows is None else before.part(rows)
        if paired.left_out:
            whole = pair_tables(before, before, paired.schema)
        return cls(before, whole, kept, after, paired, paired.without_suppressed(), least)


def column_facts(
    before: Table,
    after: Table,
    rows: Longs | None,
    paired: Paired,
    evaluation: Evaluation,
    least: int,
) -> tuple[ColumnFacts, ...]:
    """What a report shows of each column; `least` is the threshold of a public report."""
    tables = _Tables.of(before, after, rows, paired, least)
    charted = _charted(paired)
    losses = {one.name: one for one in evaluation.loss.columns}
    return tuple(
        _column(tables, name, losses.get(name), charts=name in charted) for name in paired.columns
    )


def single_column(
    before: Table, after: Table, rows: Longs | None, paired: Paired, name: str
) -> ColumnFacts:
    """One column with its distribution, for the owner of the table; its loss is not measured."""
    return _column(_Tables.of(before, after, rows, paired, 1), name, None, charts=True)


def _charted(paired: Paired) -> set[str]:
    """The columns that are worth a chart, the more important ones first."""
    ranks = {"quasi": 0, "sensitive": 1}
    ranked = [
        (ranks.get(one.column.role, 2), not one.changed.any(), place, name)
        for place, (name, one) in enumerate(paired.columns.items())
    ]
    return {name for *_, name in sorted(ranked)[:CHARTED]}


def _column(tables: _Tables, name: str, loss: ColumnLoss | None, *, charts: bool) -> ColumnFacts:
    paired, told = tables.paired.columns[name], tables.told.columns[name]
    column = paired.column
    taxonomy = column.taxonomy if isinstance(column, Nominal) else None
    return ColumnFacts(
        name=name,
        kind=column.kind,
        role=column.role,
        taxonomy=taxonomy.name if taxonomy is not None else "",
        changed=float(np.average(paired.changed, weights=tables.paired.weights)),
        few=0 < int(np.count_nonzero(told.changed)) < tables.least,
        loss=loss,
        distribution=_distribution(tables, name) if charts else None,
        dominated=_is_dominated(told.old_numbers, tables.least),
        scattered=_is_scattered(told.old_numbers),
        ranges=_has_ranges(column, tables.after.distinct(name)[1]),
        missing=_missing(tables, name),
    )


def _distribution(tables: _Tables, name: str) -> Distribution:
    """The public form speaks of what the release has something of, the full one of everything."""
    told, whole = tables.told.columns[name], tables.whole.columns[name]
    public = View.public(tables.least, rounded=bool(told.changed.any()))
    full = View.full(tables.least)
    weights = tables.paired.weights, tables.paired.weights
    everyone = tables.whole.weights, tables.paired.weights
    if told.stands_for_several.any():
        return Distribution(
            "categories",
            level_bars(told, tables.paired.weights, public),
            level_bars(tables.paired.columns[name], tables.paired.weights, full),
            extremes=extremes(whole) if told.is_numeric else None,
        )
    if told.is_numeric:
        return Distribution(
            "histogram",
            histogram_bars(told, told, weights, public),
            histogram_bars(whole, told, everyone, full),
            extremes=extremes(whole),
        )
    if isinstance(told.column, Nominal):
        return Distribution(
            "categories",
            concept_bars(told, told, weights, public),
            concept_bars(whole, told, everyone, full),
            rare=rare_concepts(whole, tables.least),
        )
    original, after = tables.before.distinct(name), tables.after.distinct(name)
    codes, values = tables.kept.distinct(name)
    known = np.where(_absent(told, "new"), -1, codes).astype(np.int32), values
    return Distribution(
        "categories",
        category_bars(told.column, known, after, weights, public),
        category_bars(told.column, original, after, everyone, full),
        rare=rare_values(*original, tables.least),
    )


def _is_dominated(numbers: Floats | None, least: int) -> bool:
    """Whether fewer than `least` numbers make up most of the squared deviations from the mean."""
    known = _known(numbers)
    if known.size < least:
        return True
    squares = np.sort((known - known.mean()) ** 2)
    return bool(squares[known.size - least + 1 :].sum() > DOMINANT * squares.sum())


def _is_scattered(numbers: Floats | None) -> bool:
    known = _known(numbers)
    return bool(np.unique(known).size > SCATTERED * known.size)


def _has_ranges(column: Column, values: Iterable[object]) -> bool:
    """Whether some released value of numbers or dates stands for several."""
    if column.kind not in ("numeric", "date"):
        return False
    spans = (read_span(value, column) for value in values if not is_star(value))
    return any(span is None or not span.is_point for span in spans)


def _known(numbers: Floats | None) -> Floats:
    return numbers[~np.isnan(numbers)] if numbers is not None else np.empty(0)


def _missing(tables: _Tables, name: str) -> Missing:
    whole, paired = tables.whole.columns[name], tables.paired.columns[name]
    empty, was = (table.distinct(name)[0] < 0 for table in (tables.before, tables.kept))
    codes, values = tables.after.distinct(name)
    held = np.array([*(not is_star(value) for value in values), False])[codes]
    lost: Bools = _absent(paired, "new") & ~_absent(paired, "old")
    return Missing(
        original=int(empty.sum()),
        suppressed=int(lost.sum()),
        unmapped=int(_absent(whole, "old").sum() - empty.sum()),
        filled=int((was & held).sum()),
        added=int((~was & (codes < 0)).sum()),
    )


def _absent(column: PairedColumn, which: str) -> Bools:
    missing = column.old == column.sides.size
    absent: Bools = missing if which == "old" else column.sides.tells_nothing[column.new]
    return absent
