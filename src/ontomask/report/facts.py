"""Everything the report shows, as plain data computed once from the two tables and their account.

An `Account` holds no table, but it does hold rare values and exact counts for the internal report:
keep it as close as the original. What of it a public report shows is decided when it is rendered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ontomask.arrays import Longs
from ontomask.data.schema import Schema
from ontomask.data.tables import Table, open_table
from ontomask.evaluation.classification import ClassificationReport
from ontomask.evaluation.evaluation import Evaluation
from ontomask.methods.base import Method
from ontomask.report.columns import ColumnFacts, column_facts
from ontomask.report.discretion import threshold
from ontomask.report.promised import Promised, in_words
from ontomask.report.steps import StepFacts, describe_step
from ontomask.verify import Verification

__all__ = ["LOSS", "SUPPRESSED", "Account", "Limit", "Pairs", "gather"]

LOSS = "information loss"
SUPPRESSED = "suppressed records"
"""The limit whose measure counts original records, so that a public report may not be exact."""

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
    shuffled
        Whether the records were put in a random order; None where that is not known.
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
    shuffled: bool | None = None


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
    shuffled: bool | None = None,
) -> Account:
    """Collect what a report shows: record i of `masked` is record ``rows[i]`` of `original`.

    `rows` are all records by default. `steps` are the methods and `details` what each reports of
    itself; there are none for a table masked elsewhere, and then no `verification` either.
    `limits` are those of the plan, exceeded or not. `plan` is its text: a public report shows it
    without comments, seed, secrets, folders and lists of values. `digests` and `versions` are
    shown as given; `timings`, `seed` and the digest of the original in internal reports only.
    Without `made`, a text that says when the release was made, the report holds no time.
    `shuffled` says whether the records were put in a random order, if that is known.
    """
    before, after = open_table(original), open_table(masked)
    promised = None if verification is None else in_words(verification)
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
        columns=column_facts(before, after, schema, evaluation, rows, least),
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
        shuffled=shuffled,
    )


def _steps(
    steps: Sequence[Method], details: Sequence[Mapping[str, object]], columns: Sequence[str]
) -> tuple[StepFacts, ...]:
    filled = [*details, *({} for _ in steps[len(details) :])]
    return tuple(describe_step(step, one, columns) for step, one in zip(steps, filled, strict=True))


def _suppressed_for(before: Table, schema: Schema) -> tuple[tuple[str, int], ...]:
    names = [
        name for name in schema.published if getattr(schema[name], "missing", "") == "suppress"
    ]
    counts = [(name, int((before.distinct(name)[0] < 0).sum())) for name in names]
    return tuple((name, count) for name, count in counts if count)
