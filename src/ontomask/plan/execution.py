"""Running a plan: read, protect, evaluate, write, read back, recount, put in place."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ontomask.arrays import Longs
from ontomask.data.files import Source
from ontomask.data.schema import Schema
from ontomask.data.tables import open_table
from ontomask.engines.databases import is_server
from ontomask.engines.release import LargeRelease
from ontomask.errors import DataError, OutputError, PromiseError
from ontomask.evaluation.classification import ClassificationReport, judge_classification
from ontomask.evaluation.evaluation import Evaluation
from ontomask.findings import Verification
from ontomask.methods.base import Progress, silent
from ontomask.plan.examination import notes_on, read_declared, repeated_in
from ontomask.plan.large import LargeRun, engine_of
from ontomask.plan.limits import measured_limits
from ontomask.plan.manifest import manifest, to_json, versions
from ontomask.plan.outputs import INTERNAL, MANIFEST, REPORT, check_free, staged
from ontomask.plan.places import Place, check_table, place_of
from ontomask.plan.problems import refuse_at
from ontomask.plan.reading import Contents
from ontomask.plan.requirements import absent
from ontomask.protection import protect
from ontomask.release import Release
from ontomask.report.document import render
from ontomask.report.facts import Limit, Run
from ontomask.verdict import Judgment, judge
from ontomask.wording import terse_percent
from ontomask.writing import write_new

__all__ = ["Job", "Measured", "Outcome", "Workbench", "execute", "judgment_of", "measure"]

SHARES = {
    "read": 0.05,
    "protect": 0.45,
    "evaluate": 0.20,
    "classify": 0.05,
    "write": 0.15,
    "report": 0.10,
}
"""The share of a run that each stage usually takes, for the progress bar."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome(Run):
    """What a run made, with everything that it found.

    Attributes
    ----------
    folder, table, report, manifest, internal
        Where the files are; `internal` is the internal report, if one was asked for. A report for
        which memory was too short is None, and a note says so; a table in a database is no file.
    release
        The release; the other attributes are its account.
    verification
        What was promised, recounted on the written file.
    stored
        The table and its database, where it is in one.
    seconds
        How long the run took.

    Examples
    --------
    >>> text = '''
    ... seed = 1
    ... input = {path = "patients.csv"}
    ... columns = {age = {kind = "numeric", role = "quasi"}}
    ... steps = [{method = "microaggregation", k = 2}]
    ... output = {folder = "release"}
    ... '''
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     om.files.write_file(pl.DataFrame({"age": [34, 36, 71, 69]}), f"{folder}/patients.csv")
    ...     outcome = om.Plan.parse(text, folder=folder).run()
    >>> outcome.table.name, outcome.verification.kept
    ('patients.csv', True)
    """

    folder: Path
    table: Path | None
    report: Path | None
    manifest: Path
    internal: Path | None
    release: Release
    verification: Verification
    stored: str = ""
    seconds: float = 0.0

    def __repr__(self) -> str:
        found = self.evaluation
        loss, risk = terse_percent(found.loss.loss, 1), terse_percent(found.risk, 1)
        return (
            f"Outcome({self.folder}: {self.release!r}, loss {loss}, linkage {risk}, "
            f"{len(self.exceeded)} limits exceeded)"
        )

    @property
    def place(self) -> str:
        """Where the table is, for people: its file, or its name and its database."""
        return str(self.table) if self.table is not None else self.stored

    @property
    def exceeded(self) -> tuple[Limit, ...]:
        """The limits of the plan that the release exceeds."""
        return tuple(one for one in self.limits if one.exceeded)

    @property
    def judgment(self) -> Judgment:
        """What was promised, against whom, and whether that covers what is published."""
        return judgment_of(self.release, self.verification)


@dataclass(frozen=True, eq=False)
class Job:
    """A plan with its name, its text and the folder it lies in."""

    contents: Contents
    name: str
    text: str
    folder: Path

    @property
    def target(self) -> Path:
        """Where the release goes."""
        return self.folder / (self.contents.output.folder or f"{Path(self.name).stem}-release")

    @property
    def table(self) -> str:
        """The name of the masked table."""
        return self.contents.output.table or self.contents.input.file.name


@dataclass(frozen=True, eq=False)
class Workbench:
    """What a run computes of a table in memory; whoever has some of it already hands it out here.

    Attributes
    ----------
    job, schema
        The plan, and its columns without those that are left out.
    """

    job: Job
    schema: Schema

    def read(self) -> Source:
        """The table."""
        return read_declared(self.job.contents, self.job.folder)

    def protect(self, source: Source, progress: Progress) -> Release:
        """The table masked."""
        contents = self.job.contents
        return protect(source.frame, self.schema, contents.steps, contents.seed, progress=progress)

    def evaluate(self, source: Source, release: Release, progress: Progress) -> Evaluation:
        """What was lost and what is still at risk."""
        settings = self.job.contents.evaluation.settings
        return release.evaluate(source.frame, progress=progress, **settings)

    def classify(self, source: Source, release: Release) -> ClassificationReport | None:
        """What classifiers still learn, where a target is named."""
        return _classification(self.job.contents, source.frame, release)


@dataclass
class _Stages:
    """Progress and times of a run's stages."""

    progress: Progress
    started: datetime.datetime
    seconds: dict[str, float] = field(default_factory=dict)
    done: float = 0.0

    @contextmanager
    def stage(self, name: str, message: str) -> Iterator[Progress]:
        """Time a stage and report its progress as its share of the whole."""
        base, share, started = self.done, SHARES[name], time.perf_counter()

        def inner(fraction: float, said: str) -> None:
            self.progress(base + share * fraction, f"{message} ({said})" if said else message)

        inner(0.0, "")
        yield inner
        self.done = base + share
        self.seconds[name] = time.perf_counter() - started
        self.progress(self.done, message)


def _check_place(job: Job, *, force: bool) -> None:
    """See at once whether the release can be put in its place, and will not take its own input."""
    check_free(job.target, force=force)
    given = job.contents.input
    local = given.database is None or not is_server(given.database)
    source = job.folder / (given.database or given.file)
    if local and source.resolve().is_relative_to(job.target.resolve()):
        raise OutputError(
            f"The input {given.database or given.path} lies in {job.target}, where the release is "
            "to go; choose another folder under [output]."
        )
    check_table(job.contents.output, job.folder, job.target, force=force)


def execute(
    job: Job,
    *,
    force: bool = False,
    internal: bool = False,
    leave_out_undecided: bool = False,
    progress: Progress = silent,
    bench: Callable[[Job, Schema], Workbench] = Workbench,
) -> Outcome:
    """Run a plan; either all its files are in their place afterwards, or none.

    `bench` computes what is computed in memory.
    """
    started = time.perf_counter()
    schema = job.contents.decided(job.name, leave_out=leave_out_undecided)
    refuse_at(job.name, job.text, absent(job.contents))
    _check_place(job, force=force)
    stages = _Stages(progress, datetime.datetime.now(datetime.UTC))
    with engine_of(job.contents, job.folder) as engine:
        work = bench(job, schema) if engine is None else Workbench(job, schema)
        found = _classified(work, _measured(work, stages, engine), stages)
        made = _put_in_place(job, found, stages, engine, force=force, internal=internal)
    return replace(made, seconds=time.perf_counter() - started)


def _put_in_place(
    job: Job,
    found: Measured,
    stages: _Stages,
    engine: LargeRun | None,
    *,
    force: bool,
    internal: bool,
) -> Outcome:
    """Write the release with its reports and manifest, recounted, all at once."""
    with_internal, database = internal or job.contents.output.internal, job.contents.output.database
    with _places(job, force=force) as (stage, place):
        with stages.stage("write", "writing and recounting"):
            recounted = _written(job.contents, found, engine, place)
            digests = {**found.run.digests, "output": place.digest()}
            found = found.knowing(verification=recounted, digests=digests)
        with stages.stage("report", "drawing the report"):
            wanted = (REPORT, INTERNAL) if with_internal else (REPORT,)
            found = found.knowing(timings={**found.release.timings, **stages.seconds})
            reports = _write_reports(found, stage, wanted)
        notes = (*found.run.notes, *_unreported(wanted, reports))
        found = found.knowing(notes=notes, timings={**found.release.timings, **stages.seconds})
        described = to_json(_manifest(job, found, stages, recounted))
        write_new(stage / MANIFEST, described, force=False, private=True)
    return Outcome(
        **vars(found.run),
        folder=job.target,
        table=job.target / job.table if database is None else None,
        stored="" if database is None else f"{job.table} in {database}",
        report=job.target / REPORT if REPORT in reports else None,
        manifest=job.target / MANIFEST,
        internal=job.target / INTERNAL if INTERNAL in reports else None,
        release=found.release,
    )


@contextmanager
def _places(job: Job, *, force: bool) -> Iterator[tuple[Path, Place]]:
    """The hidden folder of a run, and where its table goes."""
    output, target = job.contents.output, job.target
    with (
        staged(target, force=force) as stage,
        place_of(output, job.folder, stage / job.table, target, force=force) as place,
    ):
        yield stage, place


class Measured(NamedTuple):
    """A table, its release, and what the run has found so far."""

    source: Source
    release: Release
    run: Run

    def knowing(self, **more: Any) -> Measured:
        """The same with more found."""
        return self._replace(run=replace(self.run, **more))


def measure(work: Workbench, progress: Progress = silent) -> Measured:
    """Protect a table in memory and measure the release; nothing is written.

    What classifiers learn, which takes long, is left to who asks for it.
    """
    found = _measured(work, _Stages(progress, datetime.datetime.now(datetime.UTC)), None)
    return found.knowing(verification=found.release.verification, timings=found.release.timings)


def _measured(work: Workbench, stages: _Stages, engine: LargeRun | None) -> Measured:
    job, contents = work.job, work.job.contents
    source, release = _protected(work, stages, engine)
    repeated = repeated_in(source, contents.schema)
    with stages.stage("evaluate", "measuring loss and risk") as inner:
        evaluation = work.evaluate(source, release, inner)
    run = Run(
        evaluation=evaluation,
        limits=measured_limits(contents.limits, evaluation, release.suppressed, source.rows),
        notes=(
            *release.notes,
            *(engine.notes if engine is not None else ()),
            *notes_on(source, contents, repeated),
        ),
        repeated=repeated,
        plan=job.text,
        digests={"input": source.sha256},
        versions=versions(release.schema),
        title=contents.input.name,
        about=contents.about,
        made=f"{stages.started:%Y-%m-%d %H:%M} UTC",
        shuffled=contents.output.shuffle,
    )
    return Measured(source, release, run)


def _classified(work: Workbench, found: Measured, stages: _Stages) -> Measured:
    """The same with what classifiers learn, from all records and from those of the release."""
    if work.job.contents.evaluation.target is None:
        stages.done += SHARES["classify"]
        return found
    with stages.stage("classify", "training classifiers"):
        return found.knowing(
            classification=work.classify(found.source, found.release),
            released_classification=_released_classification(
                work.job.contents, found.source.frame, found.release
            ),
        )


def _protected(work: Workbench, stages: _Stages, engine: LargeRun | None) -> tuple[Source, Release]:
    """The table and its release, in memory or where the engine holds them."""
    if engine is not None:
        stages.done = SHARES["read"]
        with stages.stage("protect", "protecting") as inner:
            return engine.protected(work.schema, inner)
    with stages.stage("read", "reading the table"):
        source = work.read()
    with stages.stage("protect", "protecting") as inner:
        return source, work.protect(source, inner)


def _written(
    contents: Contents, found: Measured, engine: LargeRun | None, place: Place
) -> Verification:
    """Write the table where it belongs, and recount it there."""
    if engine is not None and isinstance(found.release, LargeRelease):
        return engine.written(found.release, place)
    return _write(contents, found.release, found.source, place)


def judgment_of(release: Release, verification: Verification) -> Judgment:
    """The verdict; how many equal records a row stands for is nothing to be covered."""
    names = release.published
    return judge(verification, [name for name in names if name != release.schema.count])


def _manifest(
    job: Job, found: Measured, stages: _Stages, verification: Verification
) -> dict[str, Any]:
    return manifest(
        found.release,
        found.run,
        found.source,
        name=job.name,
        table=job.table,
        database=job.contents.output.database,
        made=stages.started.isoformat(timespec="seconds"),
        order=_order(job.contents, found.release),
        verification=verification,
        judgment=judgment_of(found.release, verification),
    )


def _released_classification(
    contents: Contents, frame: Any, release: Release
) -> ClassificationReport | None:
    """The same, judged on the records of the release: for those who do not know of others."""
    if not release.left_out or release.rows is None:
        return None
    kept = open_table(frame).part(release.rows).native
    alone = replace(release, _rows=np.arange(len(release.rows)))
    try:
        return _classification(contents, kept, alone)
    except DataError:  # too few of them to learn from
        return None


def _classification(
    contents: Contents, frame: Any, release: Release
) -> ClassificationReport | None:
    """What classifiers still learn, where a target is named."""
    chosen = contents.evaluation
    if chosen.target is None:
        return None
    return judge_classification(
        frame,
        release.schema,
        chosen.target,
        lambda _: release,
        classifiers=chosen.classifiers,
        features=chosen.features,
        folds=chosen.folds,
        seed=chosen.seed,
    )


def _order(contents: Contents, release: Release) -> Longs | None:
    """A random order of the records, if the plan wants one."""
    if not contents.output.shuffle or release.rows is None:
        return None
    return release.generator("output order").permutation(len(release.rows))


def _write(contents: Contents, release: Release, source: Source, place: Place) -> Verification:
    """Write the table, read it back, and recount what was promised."""
    order = _order(contents, release)
    table, how = open_table(release.frame), source.format.dialect
    escape = contents.output.escape_formulas
    outgoing = place.write(table.released(table.names, {}, order), how, escape=escape)
    try:
        back, text = place.back(open_table(outgoing), how)
    except DataError as error:
        raise PromiseError(
            "The release does not keep its promise and is withheld: what was written cannot be "
            f"read back ({str(error).replace(place.shown, Path(place.shown).name)})"
        ) from error
    return release.recount(back, outgoing, source.frame, order=order, text=text)


def _write_reports(found: Measured, stage: Path, wanted: tuple[str, ...]) -> list[str]:
    """Write reports and name those that are there: without memory for one, the release goes on."""
    written: list[str] = []
    try:
        account = found.release.account(found.source.frame, **vars(found.run))
        for name in wanted:
            private = name == INTERNAL
            page = render(account, internal=private)
            write_new(stage / name, page, force=False, private=private)
            written.append(name)
    except MemoryError:
        pass
    return written


def _unreported(wanted: tuple[str, ...], written: list[str]) -> list[str]:
    missing = [name for name in wanted if name not in written]
    return [
        f"There was not enough memory for {name}, so it is left out; the table is complete and its "
        "promises were recounted. Run the plan again where there is more memory to have it."
        for name in missing
    ]
