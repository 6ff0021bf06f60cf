"""`Release`: a protected table and the account of how it was made."""

from __future__ import annotations

import copy
import os
import typing
import weakref
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from ontomask import cards
from ontomask.arrays import Longs
from ontomask.brevity import Brief
from ontomask.checks import did_you_mean
from ontomask.data.domains import Concepts
from ontomask.data.encoding import encode, record_counts, record_units, survey_weights
from ontomask.data.libraries import Framed
from ontomask.data.masked import Masked, Scheme, State
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.schema import Schema
from ontomask.data.tables import Table, open_table
from ontomask.errors import DataError, MethodError, ParameterError
from ontomask.evaluation.evaluation import Evaluation, Settings, evaluate_paired
from ontomask.evaluation.pairing import Paired, pair_columns
from ontomask.evaluation.structure import ClassRisk
from ontomask.evaluation.utility import Loss
from ontomask.findings import Verification
from ontomask.methods.base import Method, Progress, silent
from ontomask.promises import Promise
from ontomask.proof import recount
from ontomask.wording import all_alike, terse_percent
from ontomask.writing import require_new, write_new

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from ontomask.data.files import FileFormat
    from ontomask.report.facts import Account
    from ontomask.report.pictures import Picture

    Frame = TypeVar("Frame", default=Any)
else:  # Python itself knows defaults from 3.13 on
    Frame = typing.TypeVar("Frame")

__all__ = ["AppliedScheme", "Frame", "Original", "Release", "digest_of", "drawing", "spellings_of"]

FOR_ROOMS = {"account", "generator", "paired", "recount"}
"""What other rooms ask of a release; an editor does not offer it."""
NOT_KEPT = "(secret, not kept in a pickle)"


@dataclass(frozen=True, eq=False)
class Original:
    """The original as long as somebody else holds its frame: a reference, and what was encoded.

    Attributes
    ----------
    frame
        Gives the frame, or None when it is gone.
    columns
        Its columns as they are encoded, which go with it.
    """

    frame: Callable[[], object]
    columns: Mapping[str, Attribute]

    @classmethod
    def of(cls, table: Table, microdata: Microdata) -> Original | None:
        """A reference that does not keep the frame alive; None for a frame that takes none."""
        columns = _whole(microdata, len(table))
        try:
            return cls(weakref.ref(table.given, lambda _: columns.clear()), columns)
        except TypeError:
            return None


def _whole(microdata: Microdata, count: int) -> dict[str, Attribute]:
    """The encoded columns of all records of a table; those that are left out have any value."""
    if len(microdata) == count:
        return dict(microdata.attributes)
    places = np.zeros(count, np.int64)
    places[microdata.rows] = np.arange(len(microdata))
    return {name: one.of(places) for name, one in microdata.attributes.items()}


@dataclass(frozen=True, eq=False)
class AppliedScheme(Brief):
    """What the methods learned, ready for records that they have not seen."""

    schema: Schema
    schemes: tuple[Scheme, ...]
    published: tuple[str, ...]
    spellings: Mapping[str, Mapping[int, str]] = field(default_factory=dict)

    def apply(self, frame: object) -> Any:
        """Mask records not seen and return the same kind of frame.

        The records are not counted towards the classes of the release: a class of k stays one of
        at least k, and the new records are given the values of such classes. After a
        generalization, a record that fits none of them is starred if the release has stars, and
        left out otherwise. The frame must have the quasi-identifiers; of the other published
        columns those that it has come back. It may be empty.
        """
        return self._masked(frame, [scheme.apply for scheme in self.schemes])

    def transform(self, frame: object) -> Any:
        """Change records not seen as those of the release were, even if no class there fits them.

        That is how a classifier's test records must look; it is nothing to hand out.
        """
        return self._masked(frame, [getattr(one, "transform", one.apply) for one in self.schemes])

    def _masked(self, frame: object, steps: Sequence[Callable[[Microdata], Masked]]) -> Any:
        table = open_table(frame, may_be_empty=True)
        published = [one for one in self.published if self._is_needed(one) or one in table.names]
        if not len(table):
            return table.released([one for one in published if one in table.names], {}, None)
        schema = Schema.of(
            {n: one for n, one in self.schema.items() if self._is_needed(n) or n in table.names}
        )
        microdata = encode(table, schema, spellings=self.spellings, batch=True)
        state = State.start(table, microdata)
        for step in steps:
            state = state.after(step(state.microdata))
        return state.frame(published)

    def _is_needed(self, name: str) -> bool:
        return self.schema[name].role == "quasi"


@dataclass(frozen=True, eq=False)
class Release(Framed, Generic[Frame]):
    """A protected table and the account of how it was made.

    Attributes
    ----------
    frame
        The masked table: the same kind of frame that came in, with the published columns only. An
        editor knows it: a Polars frame makes a `Release[pl.DataFrame]`.
    steps
        The methods with all their parameters, in the order they were applied.
    seed
        The seed of all random choices; the same table, steps and seed give the same release.
    clusters
        For each released record the number of its cluster or class, where the last step made any.
    class_sizes
        How many classes of the quasi-identifiers have which size.
    changed
        The share of changed values of each column.
    left_out
        How many records are not in the release.
    starred
        How many records are in it without any of the quasi-identifiers that they had.
    details
        What each step reports of itself (clusters, gain of a refinement, chosen levels, …).
    verification
        The recount of every promise on the frame itself.
    timings
        Seconds spent on encoding, each step, and verification.
    digests
        Digests of the incoming and outgoing tables.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [34, 36, 71, 69]})
    >>> release = om.protect(frame, om.Schema(age=om.Numeric()), om.Microaggregation(k=2), seed=1)
    >>> release.class_sizes, release.verification.kept
    ({2: 2}, True)
    >>> release.scheme.apply(pl.DataFrame({"age": [68]}))["age"].to_list()  # a later record
    [70]
    """

    frame: Frame
    schema: Schema
    steps: tuple[Method, ...]
    seed: int
    clusters: Longs | None
    class_sizes: Mapping[int, int]
    changed: Mapping[str, float]
    left_out: int
    starred: int
    details: tuple[Mapping[str, object], ...]
    verification: Verification
    timings: Mapping[str, float]
    digests: Mapping[str, str]
    _scheme: AppliedScheme | None = field(repr=False, default=None)
    _rows: Longs | None = field(repr=False, default=None)
    _original: Original | None = field(repr=False, default=None)
    _columns: Mapping[str, Attribute] = field(repr=False, default_factory=dict)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__()} - FOR_ROOMS)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the reference to the original table behind, and the secrets of the steps."""
        steps = tuple(_without_secrets(step) for step in self.steps)
        return {**self.__dict__, "steps": steps, "_original": None}

    def evaluate(
        self, original: object = None, *, progress: Progress = silent, **settings: Any
    ) -> Evaluation:
        """Account for what was lost and what is still at risk; see `ontomask.evaluate`.

        A release does not hold the original table. As long as the frame given to `protect` is
        still there it is found again; otherwise give it. A table that differs from the one that was
        protected, if only in the order of its records, is refused.
        """
        return self._evaluated(self.paired(original), progress, **settings)

    def _evaluated(
        self, paired: Paired, progress: Progress = silent, **settings: Any
    ) -> Evaluation:
        k = next((step.k for step in reversed(self.steps) if hasattr(step, "k")), None)
        known = {"k": k} if isinstance(k, int) else {}
        found = evaluate_paired(paired, Settings(**{**known, **settings}), progress)
        if not settings:  # a report, or another question, need not wait for it again
            vars(self)["_evaluation"] = found
        return found

    def paired(self, original: object = None) -> Paired:
        """The original and the release, record by record, as both are encoded: no text is read."""
        return self._paired(self._found(original, "evaluate"))

    def _paired(self, table: Table) -> Paired:
        known = self._original.columns if self._original else {}
        if not known:
            spellings = spellings_of(self._columns)
            known = _whole(encode(table, self.schema, spellings=spellings), len(table))
        rows = np.arange(len(table)) if self._rows is None else self._rows
        before = {name: known[name].of(rows).trimmed() for name in self._columns}
        return pair_columns(before, self._columns, self.schema, table, rows)

    def _found(self, original: object, asked: str) -> Table:
        frame = original if original is not None else self._original and self._original.frame()
        if frame is None:
            raise DataError(
                "The original table is gone, since a release does not hold it; keep it in a "
                f"variable, or give it to {asked}: release.{asked}(original=…)."
            )
        table = open_table(frame)
        self._require_same(table)
        return table

    def _require_same(self, table: Table) -> None:
        lacking = [name for name in self.schema if name not in table.names]
        if lacking or digest_of(table, self.schema) != self.digests["input"]:
            raise DataError(
                "This is not the table that was protected, or it was changed or sorted since, so "
                "its records do not correspond to those of the release; give the table as it was "
                "(a lazy frame or a query may give other records each time: collect it first)."
            )

    @property
    def published(self) -> tuple[str, ...]:
        """The columns, in order."""
        return open_table(self.frame).names

    @property
    def promises(self) -> tuple[Promise, ...]:
        """Everything that was promised and recounted."""
        return tuple(finding.promise for finding in self.verification.findings)

    @property
    def given_up(self) -> tuple[Promise, ...]:
        """What an earlier step promised and a later one, with ``keeps=False``, has undone."""
        return self.verification.given_up

    @property
    def notes(self) -> tuple[str, ...]:
        """What the steward should know of the outcome, whatever was promised."""
        found = (details.get("default_hierarchies") for details in self.details)
        built = [pair for one in found if isinstance(one, Mapping) for pair in one.items()]
        notes = [
            f"Column {name!r} had no hierarchy; it was generalized by {words}."
            for name, words in built
        ]
        if list(self.class_sizes.values()) == [1]:
            said = all_alike([name for name in self.schema.quasi if name in self.published])
            hint = "Weaken the privacy models, let records be left out, or use another method."
            notes.append(f"{said} {hint}")
        return tuple(notes)

    def generator(self, purpose: str) -> np.random.Generator:
        """A source of random choices for something done with the release, such as its order."""
        return drawing(self.seed, self.digests["input"], (zlib.crc32(purpose.encode()),))

    @cached_property
    def _evaluation(self) -> Evaluation:
        return self.evaluate()

    @property
    def risk(self) -> dict[str, ClassRisk]:
        """The class structure `before` and `after`, and the risks that follow from it."""
        return {"before": self._evaluation.risk_before, "after": self._evaluation.risk_after}

    @property
    def utility(self) -> Loss:
        """What was lost: distances moved, classes, divergence; in all and per column."""
        return self._evaluation.loss

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        original: object = None,
        evaluation: Evaluation | None = None,
        internal: bool = False,
        title: str = "",
    ) -> Path:
        """Write the report of the release: one HTML file that needs nothing else.

        Parameters
        ----------
        path
            The file to write; an existing one is replaced.
        original
            The table given to `protect`, if it is not there any more.
        evaluation
            An evaluation that was made already.
        internal
            Add details that must not be published; the report is marked so, and only its owner
            may read the file.
        title
            What to call the table.
        """
        from ontomask.report.document import render

        target = Path(path)
        require_new(target, force=True)
        account = self.account(original, evaluation, title=title)
        write_new(target, render(account, internal=internal), force=True, private=internal)
        return target

    def account(
        self, original: object = None, evaluation: Evaluation | None = None, **more: Any
    ) -> Account:
        """Gather what a report shows; see `ontomask.report.facts.Run` for what may be added."""
        from ontomask.report.facts import Run, gather

        table = self._found(original, "report")
        paired = self._paired(table)
        known = {
            "digests": self.digests,
            "timings": self.timings,
            "verification": self.verification,
        }
        return gather(
            table,
            self.frame,
            self.schema,
            Run(
                evaluation=evaluation or vars(self).get("_evaluation") or self._evaluated(paired),
                **{**known, **more},
            ),
            paired=paired,
            rows=self._rows,
            steps=self.steps,
            details=self.details,
            seed=self.seed,
        )

    def before_after(self, column: str, original: object = None) -> Picture:
        """A column before and after masking, as a picture for notebooks.

        It shows the original as it is, so it is for the owner of the table only.
        """
        from ontomask.report.columns import single_column
        from ontomask.report.discretion import Discretion
        from ontomask.report.figures import distribution
        from ontomask.report.pictures import Picture

        table = self._found(original, "before_after")
        paired = self._paired(table)
        if column not in paired.columns:
            hint = did_you_mean(column, list(paired.columns))
            raise ParameterError(f"The release has no column {column!r}.{hint}")
        facts = single_column(table, open_table(self.frame), self._rows, paired, column)
        figure = distribution(facts, Discretion(0, internal=True), len(table))
        if figure is None:
            raise DataError(f"Column {column!r} has a single value, so there is nothing to draw.")
        return Picture(figure.title, figure.text, figure.chart, figure.sides)

    def _repr_html_(self) -> str:
        sizes = min(self.class_sizes, default=0)
        facts = [
            ("steps", " → ".join(step.name for step in self.steps)),
            ("records", f"{len(open_table(self.frame)):,}"),
            ("smallest class", sizes or "no quasi-identifiers"),
            ("suppressed", f"{self.left_out:,} left out, {self.starred:,} starred"),
            ("seed", self.seed),
            *(("note", one) for one in self.notes),
        ]
        kept = [
            ("kept" if one.kept else "NOT KEPT", one.promise.describe(), one.measured)
            for one in self.verification.findings
        ]
        gone = [("given up", one.describe(), "") for one in self.given_up]
        promises = cards.table(["", "promise", "recounted"], [*kept, *gone])
        changed = sorted(self.changed.items(), key=lambda pair: -pair[1])
        shares = [(name, terse_percent(share, 1)) for name, share in changed]
        return cards.card(
            "Release", facts, promises, cards.table(["column", "values changed"], shares)
        )

    def recount(
        self,
        back: object,
        outgoing: object,
        original: object,
        *,
        order: Longs | None = None,
        text: FileFormat | None = None,
    ) -> Verification:
        """Recount a written release on what was read back from its file.

        Parameters
        ----------
        back
            What was read back: cells as texts, as a reader sees them, where `text` is given.
        outgoing
            What was written: the columns of the release in their order, which the file must hold.
        original
            The table given to `protect`, for the counts and weights of its records.
        order
            Which record of the release each record is, if they were put in another order.
        text
            How the file writes values as texts.
        """
        table = open_table(original)
        rows = self._rows if order is None or self._rows is None else self._rows[order]
        counts = record_counts(table, self.schema)[rows]
        weights = counts * survey_weights(table, self.schema)[rows]
        units = record_units(table, self.schema)
        names = open_table(self.frame).names
        return recount(
            self.verification,
            back,
            outgoing,
            names=names,
            counts=counts,
            weights=weights,
            units=None if units is None else units[rows],
            text=text,
        )

    def __repr__(self) -> str:
        names = " → ".join(step.name for step in self.steps)
        return (
            f"Release({names}, {len(open_table(self.frame)):,} records, "
            f"smallest class {min(self.class_sizes, default=0)}, {self.suppressed:,} suppressed)"
        )

    @property
    def suppressed(self) -> int:
        """How many records were left out or starred."""
        return self.left_out + self.starred

    @property
    def rows(self) -> Longs | None:
        """Which records of the original the release holds, by position, in its order."""
        return self._rows

    @property
    def scheme(self) -> AppliedScheme:
        """What can be applied to records not seen: ``release.scheme.apply(new_frame)``."""
        if self._scheme is None:
            raise MethodError(
                "This release has no scheme for further records: one of its steps permutes, "
                "perturbs or suppresses the records given to it and learns nothing for others."
            )
        return self._scheme

    @property
    def levels(self) -> Any:
        """The chosen levels of generalization, where the last step generalizes."""
        return self.details[-1].get("levels")

    @property
    def generalized(self) -> dict[str, str]:
        """The levels of generalization in words, where all records have the same."""
        found = (details.get("generalized", {}) for details in self.details)
        return {
            name: words for one in found if isinstance(one, Mapping) for name, words in one.items()
        }

    @property
    def quality(self) -> Any:
        """The value of the quality model, where the last step has one."""
        return self.details[-1].get("quality")


def _without_secrets(step: Method) -> Method:
    """The step as it shows itself: what it does not show must not be found in a pickle either."""
    hidden = [one.name for one in fields(step) if not one.repr]
    if not hidden:
        return step
    shown = copy.copy(step)
    for name in hidden:
        object.__setattr__(shown, name, NOT_KEPT)
    return shown


def digest_of(table: Table, schema: Schema) -> str:
    """A digest of everything in a table that a schema speaks of."""
    return table.digest([name for name in table.names if name in schema])


def drawing(seed: int, digest: str, key: tuple[int, ...]) -> np.random.Generator:
    """A source of random choices.

    It depends on the table as well as on the seed, so that nobody who guesses a small seed, but
    does not have the table, can repeat the choices.
    """
    return np.random.default_rng(np.random.SeedSequence([seed, int(digest, 16)], spawn_key=key))


def spellings_of(columns: Mapping[str, Attribute]) -> dict[str, Mapping[int, str]]:
    """How nominal columns spell concepts."""
    domains = {name: one.domain for name, one in columns.items()}
    return {
        name: one.vocabulary.spellings for name, one in domains.items() if isinstance(one, Concepts)
    }
