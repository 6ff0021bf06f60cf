"""Evaluating a masked table that lies in a file, and comparing methods on the table of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ontomask.checks import Choice, check
from ontomask.comparison import METHOD_NAMES, Comparison, compare
from ontomask.data.encoding import encode
from ontomask.data.files import FileFormat, Source, file_digest, read_file
from ontomask.data.schema import Nominal, Schema
from ontomask.data.tables import open_table
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
class FileAccount:
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


def evaluate_files(plan: Plan, original: Path, masked: Path) -> FileAccount:
    """Compare two files with corresponding records through the columns of a plan."""
    schema, chosen = plan.schema, plan.contents.evaluation
    if plan.contents.output.shuffle and masked.resolve().parent == plan.target.resolve():
        raise ParameterError(
            f"{masked} was put in a random order (shuffle = true), so its records no longer "
            "correspond to the original's; the figures of the run are in its report and manifest."
        )
    kinds = {name: column.kind for name, column in schema.items()}
    before = read_file(original, plan.contents.input, kinds=kinds).frame
    published = {name: kinds[name] for name in schema.published}
    after = _read_masked(masked, plan.contents.input, published).frame
    paired = pair_tables(before, after, schema, hierarchies=_hierarchies(plan, before))
    found = evaluate_paired(paired, Settings(**chosen.settings))
    limits = measured_limits(plan.contents.limits, found, found.loss.suppressed, len(before))
    account = gather(
        before,
        after,
        schema,
        Run(
            evaluation=found,
            limits=limits,
            plan=plan.text,
            digests={"original": file_digest(original), "masked": file_digest(masked)},
            versions=versions(schema),
            title=masked.name,
        ),
        paired=paired,
    )
    return FileAccount(found, limits, account)


def _hierarchies(plan: Plan, frame: object) -> dict[str, Any]:
    """What the labels of a masked table may stand for: the hierarchies of the plan's steps."""
    steps = [step for step in plan.steps if isinstance(step, Generalization)]
    known: dict[str, Any] = {}
    if not steps:
        return known
    microdata = encode(open_table(frame), plan.contents.decided(plan.name))
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
