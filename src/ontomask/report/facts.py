"""Everything the report shows, as plain data computed once from the two tables and their account.

An `Account` holds no table, but it does hold rare values and exact counts for the internal report:
keep it as close as the original. What of it a public report shows is decided when it is rendered.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ontomask.arrays import Longs
from ontomask.checks import AnyOf, Declared, Null, TableOf, Text, Typed
from ontomask.data.schema import Schema
from ontomask.data.tables import Table, open_table
from ontomask.evaluation.classification import ClassificationReport
from ontomask.evaluation.evaluation import Evaluation
from ontomask.evaluation.pairing import Paired, pair_tables
from ontomask.evaluation.statistics import Statistic, measure_statistics
from ontomask.findings import Verification
from ontomask.methods.base import Method
from ontomask.report.columns import ColumnFacts, column_facts
from ontomask.report.discretion import threshold
from ontomask.report.promised import Promised, in_words
from ontomask.report.steps import StepFacts, describe_step
from ontomask.report.words import bucket

__all__ = ["LOSS", "SUPPRESSED", "UNCHANGED", "About", "Account", "Limit", "Pairs", "Run", "gather"]

LOSS = "information loss"
SUPPRESSED = "suppressed records"
"""Limits whose measure counts the records left out, so that a public report may not be exact."""
UNCHANGED = "records alone by unchanged columns"

Pairs = tuple[tuple[str, str], ...]


Name = Annotated[str | None, AnyOf(Text(), Null())]


@dataclass(frozen=True)
class About(Declared):
    """For whom and for what a release is made, and who decided; the report begins with it."""

    title: Annotated[Name, "What the release is called; the name of its table by default."] = None
    purpose: Annotated[Name, "What it is made for."] = None
    recipient: Annotated[Name, "Who is given it."] = None
    contact: Annotated[Name, "Whom to ask about it."] = None
    date: Annotated[
        str | datetime.date | None,
        AnyOf(Text(), Typed(datetime.date, "a date"), Null()),
        "When it was decided on.",
    ] = None
    decided_by: Annotated[
        Mapping[str, str],
        TableOf(Text()),
        'Who decided what, such as ``{"roles of the columns" = "A. Smith"}``.',
    ] = field(default_factory=dict)


@dataclass(frozen=True)
class Limit:
    """A limit that the plan sets: the share that was measured, and the most that is allowed."""

    name: str
    measured: float
    allowed: float

    @property
    def exceeded(self) -> bool:
        """Whether more was measured than is allowed."""
        return self.measured > self.allowed


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run found, in one record that report, manifest and `Outcome` are made from.

    Attributes
    ----------
    verification
        What was promised, recounted; None for a table that was masked elsewhere.
    classification, released_classification
        What classifiers learn, judged on all original records and on those of the release. Of the
        former a public report shows nothing if records were left out.
    limits
        Those of the plan with what was measured, exceeded or not.
    notes
        What was guessed or left out.
    plan
        Its text: a public report shows it without comments, seed, secrets, folders and lists of
        values.
    digests, versions, timings
        Shown as given; timings and the digest of the original in internal reports only.
    about
        For whom and for what the release is made, with a title that replaces `title`.
    made
        When the release was made; without it the report holds no time.
    shuffled
        Whether the records were put in a random order; None where that is not known.
    repeated
        The identifiers of which several records have the same, though records are counted.
    """

    evaluation: Evaluation
    verification: Verification | None = None
    classification: ClassificationReport | None = None
    released_classification: ClassificationReport | None = None
    limits: Sequence[Limit] = ()
    notes: tuple[str, ...] = ()
    plan: str | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    title: str = ""
    about: About = field(default_factory=About)
    made: str = ""
    shuffled: bool | None = None
    repeated: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Account(Run):
    """Everything the report shows: what a run found, and what `gather` adds from the two tables.

    Attributes
    ----------
    records, original_records
        How many records the release and, for internal use only, the original table have.
    left_out
        The fewest and the most records that may be left out, for all that a public report says;
        None where the steps keep every record.
    published
        The columns of the release.
    removed
        The columns of the schema that it lacks, with their kinds.
    threshold
        The fewest original records that a public report speaks of.
    few_changed
        Whether some records changed, but fewer than the threshold.
    statistics
        Those of the evaluation, without original values that the release has nothing of.
    suppressed_for
        For each column whose missing values are to be suppressed, how many it has.
    """

    records: int
    original_records: int
    left_out: tuple[int, int] | None
    weighted: bool
    published: tuple[str, ...]
    removed: Pairs
    quasi: tuple[str, ...]
    columns: tuple[ColumnFacts, ...]
    threshold: int
    few_changed: bool
    steps: tuple[StepFacts, ...]
    promised: Promised | None
    statistics: tuple[Statistic, ...]
    seed: int | None
    suppressed_for: tuple[tuple[str, int], ...]


def gather(
    original: object,
    masked: object,
    schema: Schema,
    run: Run,
    *,
    rows: Longs | None = None,
    paired: Paired | None = None,
    steps: Sequence[Method] = (),
    details: Sequence[Mapping[str, object]] = (),
    seed: int | None = None,
) -> Account:
    """Collect what a report shows: record i of `masked` is record ``rows[i]`` of `original`.

    `rows` are all records by default; those of a release come `paired`. `steps` are the methods and
    `details` what each reports of itself; there are none for a table masked elsewhere.
    """
    before, after = open_table(original), open_table(masked)
    paired = paired or pair_tables(before, after, schema, rows=rows)
    told = [name for name in after.names if name != schema.count]
    promised = None if run.verification is None else in_words(run.verification, told)
    least = threshold(promised.k if promised else None)
    left_out = len(before) - len(after)
    found = vars(run) | {"title": run.about.title or run.title}
    if not left_out:
        found["released_classification"] = run.classification
    return Account(
        **found,
        records=len(after),
        original_records=len(before),
        left_out=_left_out(left_out, steps, schema, least),
        weighted=schema.weight is not None or schema.count is not None,
        published=after.names,
        removed=tuple((name, one.kind) for name, one in schema.items() if name not in after.names),
        quasi=tuple(name for name in schema.quasi if name in after.names),
        columns=column_facts(before, after, rows, paired, run.evaluation, least),
        threshold=least,
        few_changed=0 < _changed_records(paired) < least,
        steps=_steps(steps, details, before.names),
        promised=promised,
        statistics=_statistics(paired, run.evaluation),
        seed=seed,
        suppressed_for=_suppressed_for(before, schema),
    )


def _steps(
    steps: Sequence[Method], details: Sequence[Mapping[str, object]], columns: Sequence[str]
) -> tuple[StepFacts, ...]:
    filled = [*details, *({} for _ in steps[len(details) :])]
    return tuple(describe_step(step, one, columns) for step, one in zip(steps, filled, strict=True))


def _left_out(
    count: int, steps: Sequence[Method], schema: Schema, least: int
) -> tuple[int, int] | None:
    """How many records were left out, in public; None where the plan says that it is none."""
    suppressing = bool(_suppressing(schema)) or schema.sequences
    if not count and not suppressing and not any(step.leaves_out for step in steps):
        return None
    return bucket(count, least)


def _changed_records(paired: Paired) -> int:
    changed = [one.changed for one in paired.columns.values()]
    return int(np.count_nonzero(np.any(changed, axis=0)))


def _statistics(paired: Paired, evaluation: Evaluation) -> tuple[Statistic, ...]:
    """The statistics of what the release has something of."""
    told = paired.without_suppressed()
    if all(np.array_equal(one.old, told.columns[name].old) for name, one in paired.columns.items()):
        return evaluation.statistics
    measured = [one.name for one in evaluation.loss.columns]
    pairs = {name for one in evaluation.statistics for name in one.columns if len(one.columns) > 1}
    return measure_statistics(told, measured, pairs=[one for one in paired.columns if one in pairs])


def _suppressing(schema: Schema) -> list[str]:
    """The columns whose missing values leave a record out."""
    return [name for name in schema.published if getattr(schema[name], "missing", "") == "suppress"]


def _suppressed_for(before: Table, schema: Schema) -> tuple[tuple[str, int], ...]:
    counts = [(n, int((before.distinct(n)[0] < 0).sum())) for n in _suppressing(schema)]
    return tuple((name, count) for name, count in counts if count)
