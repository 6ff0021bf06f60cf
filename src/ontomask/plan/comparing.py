"""Evaluating a masked table that lies in a file, and comparing methods on the table of a plan."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ontomask.brevity import Brief
from ontomask.checks import Choice, check
from ontomask.comparison import METHOD_NAMES, Comparison, compare
from ontomask.data.encoding import encode
from ontomask.data.files import FileFormat, Source, read_file
from ontomask.data.schema import Nominal, Schema
from ontomask.data.tables import open_table
from ontomask.engines.files import digest_of, files_of, opened, read, too_large
from ontomask.engines.pairing import Pairs, pairs_of
from ontomask.errors import DataError, ParameterError
from ontomask.evaluation.classification import ClassificationTask
from ontomask.evaluation.evaluation import Evaluation, Settings, evaluate_paired
from ontomask.evaluation.pairing import pair_tables
from ontomask.methods.base import Method, Progress, silent
from ontomask.methods.generalization.encoding import hierarchy_of
from ontomask.methods.generalization.method import Generalization
from ontomask.plan.examination import read_declared
from ontomask.plan.limits import measured_limits
from ontomask.plan.manifest import versions
from ontomask.plan.plan import Plan
from ontomask.plan.sections import Assessment
from ontomask.report.document import render
from ontomask.report.facts import Account, Limit, Run, gather

__all__ = ["FileAccount", "compare_methods", "evaluate_files"]

OWN = "plan"
"""What the steps of the plan itself are called."""


@dataclass(frozen=True, eq=False)
class FileAccount(Brief):
    """The account of a masked table."""

    evaluation: Evaluation
    limits: tuple[Limit, ...]
    account: Account

    @property
    def exceeded(self) -> tuple[Limit, ...]:
        """The limits of the plan that the table exceeds."""
        return tuple(one for one in self.limits if one.exceeded)

    def report(self, *, internal: bool = False) -> str:
        """The report as HTML."""
        return render(self.account, internal=internal)


def evaluate_files(plan: Plan, original: Path, masked: Path, key: str | None = None) -> FileAccount:
    """Compare two files with corresponding records through the columns of a plan.

    Where a file is too large for memory, DuckDB counts the pairs of combinations.

    Parameters
    ----------
    plan
        What says what the columns are, and what is measured.
    original, masked
        The files.
    key
        A column of both that says which records correspond; by default they have the same order.
    """
    schema, chosen = plan.schema, plan.contents.evaluation
    large = key is not None or too_large(original) or too_large(masked)
    _refuse_another_order(plan, masked, large=large and key is None)
    files = (plan, original, masked)
    pairs = _large_pairs(*files, key) if large else _whole_tables(*files)
    before, after, schema = pairs.before, pairs.after, pairs.schema
    paired = pair_tables(
        before, after, schema, rows=pairs.rows, hierarchies=_hierarchies(plan, before, schema)
    )
    found = evaluate_paired(paired, Settings(**chosen.settings))
    if pairs.unchanged is not None:
        found = replace(found, unchanged=pairs.unchanged)
    limits = measured_limits(plan.contents.limits, found, found.loss.suppressed, pairs.records)
    account = gather(
        before,
        after,
        schema,
        Run(
            evaluation=found,
            limits=limits,
            plan=plan.text,
            digests={
                "original": digest_of(files_of(original)),
                "masked": digest_of(files_of(masked)),
            },
            versions=versions(schema),
            title=masked.name,
        ),
        rows=pairs.rows,
        paired=paired,
    )
    return FileAccount(found, limits, account)


def _refuse_another_order(plan: Plan, masked: Path, *, large: bool) -> None:
    """Refuse the release of a plan whose records are not in the order of the original's."""
    own = masked.resolve().parent == plan.target.resolve()
    if own and (plan.contents.output.shuffle or large):
        why = "shuffle = true" if plan.contents.output.shuffle else "whatever DuckDB gave"
        raise ParameterError(
            f"{masked} was put in a random order ({why}), so its records no longer "
            "correspond to the original's; the figures of the run are in its report and manifest."
        )


@dataclass(frozen=True, eq=False)
class _Tables:
    """Two tables whose records correspond, as `Pairs` are of large ones."""

    before: Any
    after: Any
    schema: Schema
    records: int
    rows: None = None
    unchanged: None = None


def _whole_tables(plan: Plan, original: Path, masked: Path) -> _Tables:
    kinds = {name: column.kind for name, column in plan.schema.items()}
    before = read_file(original, plan.contents.input, kinds=kinds).frame
    published = {name: kinds[name] for name in plan.schema.published}
    after = _read_masked(masked, plan.contents.input, published).frame
    return _Tables(before, after, plan.schema, len(before))


def _large_pairs(plan: Plan, original: Path, masked: Path, key: str | None) -> Pairs:
    """The pairs of combinations of two large files, counted by DuckDB."""
    schema, how = plan.contents.decided(plan.name), plan.contents.input
    kinds = {name: column.kind for name, column in schema.items()}
    columns = plan.contents.evaluation.columns or ()
    compared = tuple(dict.fromkeys([*schema.quasi, *schema.with_role("sensitive"), *columns]))
    with opened(plan.contents.engine) as connection:
        before = read(connection, files_of(original), how, kinds)
        files = files_of(masked)
        after = read(connection, files, how.dialect, _readable(connection, files, how, kinds))
        return pairs_of(before, after, schema, compared, key)


def _readable(
    connection: Any, files: Sequence[Path], how: FileFormat, kinds: Mapping[str, str]
) -> dict[str, str]:
    """The kinds of columns but of numbers that were masked by intervals: those are texts."""
    found = {}
    for name, kind in kinds.items():
        with contextlib.suppress(DataError):
            read(connection, files, how.dialect, {name: kind})
            found[name] = kind
    return found


def _hierarchies(plan: Plan, frame: object, schema: Schema) -> dict[str, Any]:
    """What the labels of a masked table may stand for: the hierarchies of the plan's steps."""
    steps = [step for step in plan.steps if isinstance(step, Generalization)]
    known: dict[str, Any] = {}
    if not steps:
        return known
    microdata = encode(open_table(frame), schema.decided())
    for step in steps:
        for name in microdata.quasi:
            column, given = plan.schema[name], step.hierarchies.get(name)
            own = column.taxonomy if given is None and isinstance(column, Nominal) else None
            known[name] = own or hierarchy_of(microdata[name], given, step.levels_by)
    return known


def _read_masked(path: Path, original: FileFormat, kinds: Mapping[str, str]) -> Source:
    """Read a masked table: as a run writes it (UTF-8, in a format of its own), or as the input."""
    written = original.dialect
    try:
        there = read_file(path, written).columns
    except DataError:
        if original.encoding is None:
            raise
        written = replace(written, encoding=original.encoding)
        there = read_file(path, written).columns
    known = {name: kind for name, kind in kinds.items() if name in there}
    try:
        return read_file(path, written, kinds=known)
    except DataError:
        return read_file(path, written, kinds=dict(_with_intervals(path, written, known)))


def _with_intervals(
    path: Path, written: FileFormat, kinds: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The kinds of columns, where masked numbers may have become intervals: those are texts."""
    for name, kind in kinds.items():
        try:
            read_file(path, written, kinds={name: kind}, columns=[name])
            yield name, kind
        except DataError:
            yield name, "flat"


# Comparing ------------------------------------------------------------------------------------


def compare_methods(
    plan: Plan,
    methods: Sequence[str],
    *,
    k: Sequence[int],
    seeds: Sequence[int] = (1,),
    workers: int | None = None,
    progress: Progress = silent,
) -> Comparison:
    """Run several methods on the table of a plan, and measure what the plan measures.

    Parameters
    ----------
    plan
        What says what the table, its columns, the distances and the target are.
    methods
        Presets, methods, `plan` for the plan's own steps, or other plan files for theirs.
    k, seeds, workers, progress
        As in `ontomask.compare`.
    """
    chosen, schema = plan.contents.evaluation, plan.contents.decided(plan.name)
    named = {name: _steps(name, plan) for name in methods}
    if not named:
        raise ParameterError("methods is empty; name at least one.")
    frame = read_declared(plan.contents, plan.folder).frame
    return compare(
        frame,
        schema,
        named,
        k=k,
        seeds=seeds,
        alpha=chosen.alpha,
        columns=chosen.columns,
        distances=chosen.distances,
        target=_target(chosen, frame, schema),
        workers=workers,
        progress=progress,
    )


def _steps(name: str, plan: Plan) -> str | tuple[Method, ...]:
    """What a name stands for: steps, or a method that `compare` knows by name."""
    if name == OWN:
        return plan.steps
    if Path(name).suffix == ".toml":
        return Plan.read(name).steps
    check("methods", name, Choice(OWN, *METHOD_NAMES))
    return name


def _target(chosen: Assessment, frame: object, schema: Schema) -> ClassificationTask | None:
    if chosen.target is None:
        return None
    features = None if chosen.features is None else tuple(chosen.features)
    return ClassificationTask(
        frame, schema, chosen.target, tuple(chosen.classifiers), features, chosen.folds, chosen.seed
    )
