"""`protect` and `Release`: mask, decode, verify. The only way data leaves."""

from __future__ import annotations

import dataclasses
import datetime
import os
import secrets
import time
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ontomask.arrays import Longs
from ontomask.checks import Integer, check
from ontomask.data.encoding import encode
from ontomask.data.masked import Masked, NewColumn, Scheme, apply_masked
from ontomask.data.microdata import Microdata
from ontomask.data.schema import Schema
from ontomask.data.tables import Table, open_table
from ontomask.errors import DataError, MethodError, ParameterError
from ontomask.evaluation.evaluation import Evaluation, Settings, evaluate_kept
from ontomask.evaluation.structure import ClassRisk
from ontomask.evaluation.utility import Loss
from ontomask.methods.base import Context, Method, Progress, silent
from ontomask.promises import Closeness, Permutation, Promise, Unchanged
from ontomask.verify import DEFECT, Verification, verify
from ontomask.writing import require_new, write_new

if TYPE_CHECKING:
    from ontomask.report.facts import Account

__all__ = ["AppliedScheme", "Release", "protect"]

WRITTEN_WRONG = (
    "What was written cannot be read back as it is; choose another format for the output, such as "
    "Parquet."
)
UNDONE = "A later step undoes what an earlier one promises: put the step that promises it last."


@dataclass(frozen=True, eq=False)
class AppliedScheme:
    """What the methods learned, ready for records that they have not seen."""

    schema: Schema
    schemes: tuple[Scheme, ...]
    published: tuple[str, ...]

    def apply(self, frame: object) -> Any:
        """Mask records not seen and return the same kind of frame.

        The records are not counted towards the classes of the release: a class of k stays one of
        at least k, and the new records are given the values of such classes.
        """
        table = open_table(frame)
        microdata = encode(table, self.schema)
        state = _State(microdata)
        for scheme in self.schemes:
            state = state.after(scheme.apply(state.microdata))
        return state.frame(table, self.published)


@dataclass(frozen=True, eq=False)
class Release:
    """A protected table and the account of how it was made.

    Attributes
    ----------
    frame
        The masked table: the same kind of frame that came in, with the published columns only.
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
    suppressed
        How many records were left out of the release.
    details
        What each step reports of itself (clusters, gain of a refinement, chosen levels, …).
    verification
        The recount of every promise on the frame itself.
    timings
        Seconds spent on encoding, each step, and verification.
    digests
        Digests of the incoming and outgoing tables.
    promises
        What still had to hold at the end, as it was recounted.
    """

    frame: Any
    schema: Schema
    steps: tuple[Method, ...]
    seed: int
    clusters: Longs | None
    class_sizes: Mapping[int, int]
    changed: Mapping[str, float]
    suppressed: int
    details: tuple[Mapping[str, object], ...]
    verification: Verification
    timings: Mapping[str, float]
    digests: Mapping[str, str]
    promises: tuple[Promise, ...] = ()
    _weights: tuple[float, ...] | None = field(repr=False, default=None)
    _scheme: AppliedScheme | None = field(repr=False, default=None)
    _rows: Longs | None = field(repr=False, default=None)
    _original: Callable[[], object] | None = field(repr=False, default=None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the reference to the original table behind."""
        return {**self.__dict__, "_original": None}

    def evaluate(
        self, original: object = None, *, progress: Progress = silent, **settings: Any
    ) -> Evaluation:
        """Account for what was lost and what is still at risk; see `ontomask.evaluate`.

        A release does not hold the original table. As long as the frame given to `protect` is
        still there it is found again; otherwise give it.
        """
        frame = self._found(original, "evaluate")
        assert self._rows is not None
        k = next((step.k for step in reversed(self.steps) if hasattr(step, "k")), None)
        known = {"k": k} if isinstance(k, int) else {}
        chosen = Settings(**{**known, **settings})
        return evaluate_kept(frame, self.frame, self.schema, self._rows, chosen, progress)

    def _found(self, original: object, asked: str) -> object:
        frame = original if original is not None else self._original and self._original()
        if frame is None:
            raise DataError(
                f"The original table is gone; give it to {asked}: release.{asked}(original=…)."
            )
        return frame

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
        """Gather what a report shows; see `ontomask.report.facts.gather` for what may be added."""
        from ontomask.report.facts import gather

        frame = self._found(original, "report")
        known = {"digests": self.digests, "timings": self.timings}
        return gather(
            frame,
            self.frame,
            self.schema,
            evaluation or self.evaluate(frame),
            rows=self._rows,
            steps=self.steps,
            details=self.details,
            verification=self.verification,
            seed=self.seed,
            **{**known, **more},
        )

    def recount(self, frame: object, outgoing: object, order: Longs | None = None) -> Verification:
        """Recount a written release on what was read back from its file.

        Parameters
        ----------
        frame
            What was read back.
        outgoing
            What was written: the columns of the release in their order, which the file must hold.
        order
            Which record of the release each record is, if they were put in another order.
        """
        table, back = open_table(outgoing), open_table(frame)
        written = dict(zip(open_table(self.frame).names, table.names, strict=True))
        counted = [one.renamed(written) for one in self.promises if _countable(one, table, written)]
        weights = self._weights
        if weights is not None and order is not None:
            weights = tuple(weights[row] for row in order.tolist())
        return verify(
            frame,
            [*counted, Unchanged(table.names)],
            published=table.names,
            records=len(table),
            weights=weights,
            original={name: _as_written(table, back, name) for name in table.names},
        ).require(WRITTEN_WRONG)

    def __repr__(self) -> str:
        names = " → ".join(step.name for step in self.steps)
        return (
            f"Release({names}, {len(open_table(self.frame)):,} records, "
            f"smallest class {min(self.class_sizes, default=0)}, {self.suppressed:,} suppressed)"
        )

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
    def quality(self) -> Any:
        """The value of the quality model, where the last step has one."""
        return self.details[-1].get("quality")


def _countable(promise: Promise, written: Table, names: Mapping[str, str]) -> bool:
    """Whether a promise can be recounted without the original, on values as they are written."""
    if isinstance(promise, Closeness):
        known = {value for value, _ in promise.counts}
        return set(written.distinct(names[promise.sensitive])[1]) <= known
    return not isinstance(promise, (Permutation, Unchanged))


def _as_written(table: Table, back: Table, name: str) -> list[object]:
    """The values of a column as its file shows them: a text has no dates and no truth values."""
    values = table.column(name)
    if name not in back.names or table.is_text(name) or not back.is_text(name):
        return values
    return [_written(value) for value in values]


def _written(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime.date) else value


@dataclass(frozen=True, eq=False)
class _State:
    """The table between two steps."""

    microdata: Microdata
    columns: Mapping[str, NewColumn] = field(default_factory=dict)

    def after(self, masked: Masked) -> _State:
        """The table after a step."""
        columns = {**self.columns, **masked.columns}
        if masked.kept is not None:
            kept = masked.kept
            columns = {
                name: dataclasses.replace(one, codes=one.codes[kept])
                for name, one in columns.items()
            }
        return _State(apply_masked(self.microdata, masked), columns)

    def frame(self, table: Table, published: Sequence[str]) -> Any:
        """The outgoing frame of the records that are left, in their order."""
        rows = self.microdata.rows
        replaced = {
            name: dataclasses.replace(one, codes=_spread(one.codes, rows, len(table))).replacement
            for name, one in self.columns.items()
            if name in published
        }
        return table.released(published, replaced, None if rows.size == len(table) else rows)


def _spread(codes: Longs, rows: Longs, count: int) -> Longs:
    """Codes of all records of the table; those left out get any."""
    if rows.size == count:
        return codes
    spread = np.zeros(count, np.int64)
    spread[rows] = codes
    return spread


def protect(
    frame: object,
    schema: Schema,
    method: Method | Sequence[Method],
    seed: int | None = None,
    *,
    progress: Progress = silent,
) -> Release:
    """Protect a table: apply one method or a list of them, verify, and return the release.

    Parameters
    ----------
    frame
        A pandas, Polars or PyArrow data frame; it is not changed.
    schema
        What its columns are. Columns that the schema does not name are not published; one whose
        role is `undecided` is refused.
    method
        A method, or a list of steps that are applied in order.
    seed
        A number that fixes all random choices; by default a new one is drawn (a fixed default
        would let an intruder repeat them) and noted in the release.
    progress
        Called with the fraction done and a message; it may raise to stop the run.
    """
    steps = _steps(method)
    chosen = _seed(seed)
    table = open_table(frame)
    started = time.perf_counter()
    fingerprint = table.fingerprint()
    microdata = encode(table, Schema.require(schema).require_decided())
    timings = {"encode": time.perf_counter() - started}
    state, masks = _run(steps, microdata, chosen, progress, timings)
    if table.fingerprint() != fingerprint:
        raise DataError("The table was changed while it was being masked; run it again.")
    return _release(table, schema, steps, chosen, microdata, state, masks, timings)


def _steps(method: Method | Sequence[Method]) -> tuple[Method, ...]:
    steps = tuple(method) if isinstance(method, (list, tuple)) else (method,)
    if not steps or not all(isinstance(step, Method) for step in steps):
        raise ParameterError(
            "method must be a masking method or a list of them, such as Microaggregation(k=5), not "
            f"{method!r}."
        )
    return steps


def _seed(seed: int | None) -> int:
    if seed is None:
        return secrets.randbits(63)
    check("seed", seed, Integer(0))
    return int(seed)


def _run(
    steps: tuple[Method, ...],
    microdata: Microdata,
    seed: int,
    progress: Progress,
    timings: dict[str, float],
) -> tuple[_State, list[Masked]]:
    """Apply the steps one after the other."""
    state, masks = _State(microdata), []
    for place, (step, generator) in enumerate(zip(steps, generators(steps, seed), strict=True)):

        def report(fraction: float, message: str, place: int = place) -> None:
            progress((place + fraction) / len(steps), message)

        started = time.perf_counter()
        report(0.0, step.name)
        masked = step.run(state.microdata, Context(generator, report))
        report(1.0, step.name)
        timings[f"step {place + 1}: {step.name}"] = time.perf_counter() - started
        state = state.after(masked)
        masks.append(masked)
    return state, masks


def generators(steps: Sequence[Method], seed: int) -> list[np.random.Generator]:
    """One generator per step, so that adding a step does not change the draws of another."""
    seen: Counter[str] = Counter()
    result = []
    for step in steps:
        key = (zlib.crc32(step.name.encode()), seen[step.name])
        seen[step.name] += 1
        result.append(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key)))
    return result


def _release(
    table: Table,
    schema: Schema,
    steps: tuple[Method, ...],
    seed: int,
    before: Microdata,
    state: _State,
    masks: list[Masked],
    timings: dict[str, float],
) -> Release:
    published = _published(table, schema, masks)
    if not published:
        raise MethodError("Nothing would be published: every column is an identifier or dropped.")
    outgoing = state.frame(table, published)
    started = time.perf_counter()
    promises, verification = _verified(outgoing, published, before, state, masks)
    timings["verify"] = time.perf_counter() - started
    declared = [name for name in table.names if name in schema]
    clusters = masks[-1].clusters
    if clusters is not None and masks[-1].kept is not None:
        clusters = clusters[masks[-1].kept]
    schemes = tuple(masked.scheme for masked in masks if masked.scheme is not None)
    scheme = AppliedScheme(schema, schemes, published) if len(schemes) == len(masks) else None
    return Release(
        frame=outgoing,
        schema=schema,
        steps=steps,
        seed=seed,
        clusters=clusters,
        class_sizes=_class_sizes(state.microdata),
        changed=_changed(before, state),
        suppressed=len(table) - len(state.microdata),
        details=tuple(dict(masked.details) for masked in masks),
        verification=verification,
        timings=timings,
        digests={"input": table.digest(declared), "output": open_table(outgoing).digest()},
        promises=promises,
        _weights=tuple(state.microdata.counts.tolist()) if schema.count else None,
        _scheme=scheme,
        _rows=state.microdata.rows,
        _original=_found_again(table.given),
    )


def _found_again(frame: object) -> Callable[[], object] | None:
    """A reference that does not keep the original alive."""
    try:
        return weakref.ref(frame)
    except TypeError:
        return None


def _published(table: Table, schema: Schema, masks: list[Masked]) -> tuple[str, ...]:
    dropped = {name for masked in masks for name in masked.dropped}
    added = [name for masked in masks for name in masked.columns if name not in schema.published]
    kept = [
        name
        for name in table.names
        if (name in schema.published or name in added) and name not in dropped
    ]
    return tuple(kept)


def _verified(
    outgoing: Any,
    published: tuple[str, ...],
    before: Microdata,
    state: _State,
    masks: list[Masked],
) -> tuple[tuple[Promise, ...], Verification]:
    """Recount on the frame itself what the steps promise; the last word of each column counts."""
    kept = np.isin(before.rows, state.microdata.rows)
    original = {
        name: _original_values(before, name, kept)
        for name in published
        if name in before.attributes
    }
    promises = tuple(_promises(published, original, state, masks))
    return promises, verify(
        outgoing,
        promises,
        published=published,
        records=len(state.microdata),
        weights=state.microdata.counts.tolist(),
        original=original,
    ).require(DEFECT if len(masks) == 1 else UNDONE)


def _original_values(microdata: Microdata, name: str, kept: Any) -> list[object]:
    attribute = microdata[name]
    values = (*attribute.values, None)
    return [values[code] for code in attribute.codes[kept].tolist()]


def _promises(
    published: tuple[str, ...],
    original: Mapping[str, object],
    state: _State,
    masks: list[Masked],
) -> list[Promise]:
    """What still has to hold at the end: a later step ends a promise about columns it changes.

    A permutation is compared with the original; where an earlier step changed the columns, or a
    later one leaves records out, only the method itself can recount it (and does).
    """
    standing: list[Promise] = []
    changed: set[str] = set()
    for masked in masks:
        standing = [one for one in standing if not set(one.columns) & set(masked.columns)]
        if masked.kept is not None:
            standing = [one for one in standing if not isinstance(one, Permutation)]
        standing.extend(
            one
            for one in masked.promises
            if not (isinstance(one, Permutation) and changed & set(one.columns))
        )
        changed.update(masked.columns)
    standing = [one for one in standing if set(one.columns) <= set(published)]
    untouched = tuple(name for name in published if name not in state.columns and name in original)
    return [*standing, *([Unchanged(untouched)] if untouched else [])]


def _class_sizes(microdata: Microdata) -> dict[int, int]:
    if not microdata.quasi:
        return {}
    sizes = microdata.tuples().counts.astype(np.int64)
    found, counts = np.unique(sizes, return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


def _changed(before: Microdata, state: _State) -> dict[str, float]:
    kept = np.isin(before.rows, state.microdata.rows)
    shares = {}
    for name, one in before.attributes.items():
        new = state.columns.get(name)
        if new is None:
            shares[name] = 0.0
            continue
        old_values = np.array([str(value) for value in (*one.values, None)], object)
        new_values = np.array([str(value) for value in new.values], object)
        differ = old_values[one.codes[kept]] != new_values[new.codes]
        shares[name] = float(np.mean(differ)) if differ.size else 0.0
    return shares
