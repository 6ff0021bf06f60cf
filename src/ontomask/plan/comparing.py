"""Evaluating a masked table that lies in a file, whoever made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ontomask.data.files import FileFormat, Source, file_digest, read_file
from ontomask.errors import DataError, ParameterError
from ontomask.evaluation.evaluation import Evaluation, evaluate
from ontomask.plan.limits import measured_limits
from ontomask.plan.manifest import versions
from ontomask.plan.plan import Plan
from ontomask.report.document import render
from ontomask.report.facts import Account, Limit, gather

__all__ = ["FileAccount", "evaluate_files"]


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
    found = evaluate(before, after, schema, **chosen.settings)
    limits = measured_limits(plan.contents.limits, found, 0, len(before))
    account = gather(
        before,
        after,
        schema,
        found,
        limits=limits,
        plan=plan.text,
        digests={"original": file_digest(original), "masked": file_digest(masked)},
        versions=versions(schema),
        title=masked.name,
    )
    return FileAccount(found, limits, account)


def _read_masked(path: Path, original: FileFormat, kinds: Mapping[str, str]) -> Source:
    """Read a masked table: as a run writes it (UTF-8, in a format of its own), or as the input."""
    written = replace(original, format=None, encoding=None, sheet=None)
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
