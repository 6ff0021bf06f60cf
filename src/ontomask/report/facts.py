"""Everything the report shows, as plain data computed once from the two tables and their account.

An `Account` holds no table, but it does hold rare values and exact counts for the internal report:
keep it as close as the original. What of it a public report shows is decided when it is rendered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.data.schema import Nominal, Schema
from ontomask.data.tables import Table, open_table
from ontomask.evaluation.classification import ClassificationReport
from ontomask.evaluation.evaluation import Evaluation
from ontomask.evaluation.pairing import Paired, PairedColumn, pair_tables
from ontomask.evaluation.utility import ColumnLoss
from ontomask.methods.base import Method
from ontomask.report.discretion import threshold
from ontomask.report.distributions import (
    Distribution,
    category_distribution,
    concept_distribution,
    histogram,
)
from ontomask.report.promised import Promised, read_promises
from ontomask.report.steps import StepFacts, describe_step
from ontomask.verify import Verification

__all__ = ["SUPPRESSED", "Account", "ColumnFacts", "Limit", "Pairs", "gather"]

CHARTED = 24
"""How many columns get a chart: quasi-identifiers first, then sensitive and changed ones."""
SUPPRESSED = "suppressed records"
"""The limit whose measure counts original records, so that a public report may not be exact."""
DOMINANT = 0.5
"""The share of a spread above which few records are said to make it up."""

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Limit:
    """A limit that the plan sets: what was measured, and the most that is allowed."""

    name: str
    measured: float
    allowed: float
    unit: str = "%"

    @property
    def exceeded(self) -> bool:
        """Whether more was measured than is allowed."""
        return self.measured > self.allowed


@dataclass(frozen=True)
class ColumnFacts:
    """One column of the release.

    Attributes
    ----------
    taxonomy
        The name of its taxonomy, for nominal columns.
    changed
        The share of changed values.
    loss
        What it lost, where that was measured.
    distribution
        Before and after, for columns with a chart.
    dominated
        Whether fewer records than the threshold make up most of the spread of the original
        numbers, so that mean and deviation would give them away.
    missing
        How many original values are missing; how many values only the release lacks; how many
        original values have no concept. For internal use.
    """

    name: str
    kind: str
    role: str
    taxonomy: str
    changed: float
    loss: ColumnLoss | None
    distribution: Distribution | None
    dominated: bool
    missing: tuple[int, int, int]


@dataclass(frozen=True)
class Account:
    """Everything the report shows; see `gather`.

    Attributes
    ----------
    records, original_records
        How many records the release and the original table have.
    published
        The columns of the release.
    removed
        The columns of the schema that it lacks, with their kinds.
    threshold
        The fewest original records that a public report speaks of.
    suppressed_for
        For each column whose missing values are to be suppressed, how many it has.
    """

    title: str
    made: str
    records: int
    original_records: int
    weighted: bool
    published: tuple[str, ...]
    removed: Pairs
    quasi: tuple[str, ...]
    columns: tuple[ColumnFacts, ...]
    threshold: int
    steps: tuple[StepFacts, ...]
    promised: Promised | None
    evaluation: Evaluation
    classification: ClassificationReport | None
    limits: tuple[Limit, ...]
    plan: str | None
    digests: Pairs
    versions: Pairs
    timings: tuple[tuple[str, float], ...]
    seed: int | None
    suppressed_for: tuple[tuple[str, int], ...]


def gather(
    original: object,
    masked: object,
    schema: Schema,
    evaluation: Evaluation,
    *,
    rows: Longs | None = None,
    steps: Sequence[Method] = (),
    details: Sequence[Mapping[str, object]] = (),
    verification: Verification | None = None,
    classification: ClassificationReport | None = None,
    limits: Sequence[Limit] = (),
    plan: str | None = None,
    digests: Mapping[str, str] | None = None,
    versions: Mapping[str, str] | None = None,
    timings: Mapping[str, float] | None = None,
    seed: int | None = None,
    title: str = "",
    made: str = "",
) -> Account:
    """Collect what a report shows: record i of `masked` is record ``rows[i]`` of `original`.

    `rows` are all records by default. `steps` are the methods and `details` what each reports of
    itself; there are none for a table masked elsewhere, and then no `verification` either.
    `limits` are those of the plan, exceeded or not. `plan` is its text: a public report shows it
    without comments, seed, secrets, folders and lists of values. `digests` and `versions` are
    shown as given; `timings`, `seed` and the digest of the original in internal reports only.
    Without `made`, a text that says when the release was made, the report holds no time.
    """
    before, after = open_table(original), open_table(masked)
    promised = None if verification is None else read_promises(verification)
    least = threshold(promised.k if promised else None)
    return Account(
        title=title,
        made=made,
        records=len(after),
        original_records=len(before),
        weighted=schema.weight is not None,
        published=after.names,
        removed=tuple((name, one.kind) for name, one in schema.items() if name not in after.names),
        quasi=tuple(name for name in schema.quasi if name in after.names),
        columns=_columns(before, after, schema, evaluation, rows, least),
        threshold=least,
        steps=_steps(steps, details, before.names),
        promised=promised,
        evaluation=evaluation,
        classification=classification,
        limits=tuple(limits),
        plan=plan,
        digests=tuple((digests or {}).items()),
        versions=tuple((versions or {}).items()),
        timings=tuple((timings or {}).items()),
        seed=seed,
        suppressed_for=_suppressed_for(before, schema),
    )


def _steps(
    steps: Sequence[Method], details: Sequence[Mapping[str, object]], columns: Sequence[str]
) -> tuple[StepFacts, ...]:
    filled = [*details, *({} for _ in steps[len(details) :])]
    return tuple(describe_step(step, one, columns) for step, one in zip(steps, filled, strict=True))


def _suppressed_for(before: Table, schema: Schema) -> tuple[tuple[str, int], ...]:
    names = [name for name in schema.published if schema.column(name).missing == "suppress"]
    counts = [(name, int((before.distinct(name)[0] < 0).sum())) for name in names]
    return tuple((name, count) for name, count in counts if count)


# Columns --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Tables:
    """Both tables, paired; `whole` also holds the records that the release leaves out."""

    before: Table
    after: Table
    paired: Paired
    whole: Paired
    least: int

    @property
    def weights(self) -> tuple[Floats, Floats]:
        return self.whole.weights, self.paired.weights


def _columns(
    before: Table,
    after: Table,
    schema: Schema,
    evaluation: Evaluation,
    rows: Longs | None,
    least: int,
) -> tuple[ColumnFacts, ...]:
    paired = pair_tables(before.native, after.native, schema, rows=rows)
    whole = paired
    if paired.suppressed:
        whole = pair_tables(before.native, before.native, schema)
    tables = _Tables(before, after, paired, whole, least)
    charted = _charted(paired)
    losses = {one.name: one for one in evaluation.loss.columns}
    return tuple(
        _column(tables, name, losses.get(name), charts=name in charted) for name in paired.columns
    )


def _charted(paired: Paired) -> set[str]:
    """The columns that are worth a chart, the more important ones first."""
    ranks = {"quasi": 0, "sensitive": 1}
    worth = [
        (ranks.get(one.column.role, 2), place, name)
        for place, (name, one) in enumerate(paired.columns.items())
        if one.column.role in ranks or bool(one.changed.any())
    ]
    return {name for _, _, name in sorted(worth)[:CHARTED]}


def _column(tables: _Tables, name: str, loss: ColumnLoss | None, *, charts: bool) -> ColumnFacts:
    paired = tables.paired.columns[name]
    column = paired.column
    taxonomy = column.taxonomy if isinstance(column, Nominal) else None
    return ColumnFacts(
        name=name,
        kind=column.kind,
        role=column.role,
        taxonomy=taxonomy.name if taxonomy is not None else "",
        changed=float(np.average(paired.changed, weights=tables.paired.weights)),
        loss=loss,
        distribution=_distribution(tables, name) if charts else None,
        dominated=_is_dominated(tables.whole.columns[name].old_numbers, tables.least),
        missing=_missing(tables, name),
    )


def _distribution(tables: _Tables, name: str) -> Distribution:
    whole, paired = tables.whole.columns[name], tables.paired.columns[name]
    if paired.is_numeric:
        return histogram(whole, paired, tables.weights, tables.least)
    if paired.concepts is not None:
        return concept_distribution(whole, paired, tables.weights, tables.least)
    sides = tables.before.distinct(name), tables.after.distinct(name)
    return category_distribution(whole.column, *sides, tables.weights, tables.least)


def _is_dominated(numbers: Floats | None, least: int) -> bool:
    """Whether fewer than `least` numbers make up most of the squared deviations from the mean."""
    known = numbers[~np.isnan(numbers)] if numbers is not None else np.empty(0)
    if known.size < least:
        return True
    squares = np.sort((known - known.mean()) ** 2)
    return bool(squares[known.size - least + 1 :].sum() > DOMINANT * squares.sum())


def _missing(tables: _Tables, name: str) -> tuple[int, int, int]:
    whole, paired = tables.whole.columns[name], tables.paired.columns[name]
    empty = int((tables.before.distinct(name)[0] < 0).sum())
    lost: Bools = _absent(paired, "new") & ~_absent(paired, "old")
    return empty, int(lost.sum()), int(_absent(whole, "old").sum()) - empty


def _absent(column: PairedColumn, which: str) -> Bools:
    absent: Bools = getattr(column, which) == column.size
    return absent
