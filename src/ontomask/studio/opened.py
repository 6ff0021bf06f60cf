"""A plan and its table as a worker process has them at hand, and pieces of both."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ontomask.arrays import Longs
from ontomask.data.encoding import encode
from ontomask.data.files import Source, read_file, write_file
from ontomask.data.microdata import Microdata
from ontomask.data.schema import Schema
from ontomask.data.tables import Table, open_table
from ontomask.errors import OntomaskError
from ontomask.evaluation.classification import ClassificationReport
from ontomask.evaluation.evaluation import Evaluation
from ontomask.methods.base import Progress
from ontomask.plan.examination import Examination, Reading
from ontomask.plan.execution import Job, Measured, Workbench, measure
from ontomask.plan.plan import Plan
from ontomask.plan.reading import Contents
from ontomask.plan.surveying import survey
from ontomask.release import Release
from ontomask.studio.project import RUNS

__all__ = ["About", "Opened", "cells_of", "examples"]

About = Mapping[str, str]
"""What a task is told of the plan: its `text`, `name` and `folder`, what it has `declared` of the
table and what it is `masked` by, and a `stamp` that tells two states of the files apart that it
names."""

SAMPLE = 3000
EXAMPLES = 6


@dataclass(frozen=True)
class _Question:
    """What a computation depends on, and who does it: the same question is not computed twice."""

    key: tuple[str, ...]
    work: Workbench = field(compare=False)
    progress: Progress = field(compare=False, default=lambda *_: None)


@functools.lru_cache(maxsize=1)
def _read(asked: _Question) -> Source:
    return asked.work.read()


@functools.lru_cache(maxsize=1)
def _odd(asked: _Question) -> tuple[str, ...]:
    return Reading().suspicions(asked.work.job.contents, asked.work.job.folder)


@functools.lru_cache(maxsize=1)
def _masked(asked: _Question, reading: _Question) -> Release:
    return asked.work.protect(_read(reading), asked.progress)


@functools.lru_cache(maxsize=1)
def _evaluated(asked: _Question, masking: _Question, reading: _Question) -> Evaluation:
    source = _read(reading)
    return asked.work.evaluate(source, _masked(masking, reading), asked.progress)


@functools.lru_cache(maxsize=1)
def _classified(
    asked: _Question, masking: _Question, reading: _Question
) -> ClassificationReport | None:
    return asked.work.classify(_read(reading), _masked(masking, reading))


@dataclass(frozen=True, eq=False)
class Kept(Workbench):
    """What a run computes, kept by the process: all screens and the release share it."""

    about: About

    def _asked(self, *parts: str, progress: Progress = lambda *_: None) -> _Question:
        key = tuple(self.about[name] for name in (*parts, "folder", "stamp"))
        return _Question(key, Workbench(self.job, self.schema), progress)

    def read(self) -> Source:
        """The table."""
        return _read(self._asked("declared"))

    def odd(self) -> tuple[str, ...]:
        """What is odd in the file of the table."""
        return _odd(self._asked("declared"))

    def protect(self, source: Source, progress: Progress) -> Release:
        """The table masked."""
        del source
        return _masked(self._asked("masked", progress=progress), self._asked("declared"))

    def evaluate(self, source: Source, release: Release, progress: Progress) -> Evaluation:
        """What was lost and what is still at risk."""
        del source, release
        asked = self._asked("masked", "judged", progress=progress)
        return _evaluated(asked, self._asked("masked"), self._asked("declared"))

    def classify(self, source: Source, release: Release) -> ClassificationReport | None:
        """What classifiers still learn."""
        del source, release
        asked = self._asked("masked", "judged")
        return _classified(asked, self._asked("masked"), self._asked("declared"))


@dataclass(frozen=True)
class _KeptReading(Reading):
    """What a check reads, kept by the process: neither a role nor a step reads the table anew."""

    bench: Kept

    def table(self, contents: Contents, folder: Path) -> Source:
        """The table."""
        del contents, folder
        return self.bench.read()

    def suspicions(self, contents: Contents, folder: Path) -> tuple[str, ...]:
        """What is odd in the file."""
        del contents, folder
        return self.bench.odd()


@dataclass(frozen=True)
class Opened:
    """A plan, and its table; kept between two tasks while neither file nor declaration changes."""

    plan: Plan
    about: About

    @classmethod
    def of(cls, about: About) -> Opened:
        """Read the plan of a question."""
        plan = Plan.parse(about["text"], name=about["name"], folder=about["folder"])
        return cls(plan, about)

    @property
    def bench(self) -> Kept:
        """What computes of the table, and keeps it."""
        return self.at(self.plan, self.plan.schema.decided())

    def at(self, job: Job, schema: Schema) -> Kept:
        """The same for a run of the plan."""
        return Kept(job, schema, self.about)

    def checked(self) -> Examination:
        """What `ontomask check` finds."""
        plan = self.plan
        reading = _KeptReading(self.bench)
        return survey(plan.contents, plan.folder, plan.name, plan.text, reading)

    @property
    def frame(self) -> Any:
        """The whole table."""
        return self.bench.read().frame

    def release(self, progress: Progress, until: float) -> Release:
        """The whole table masked, which takes `until` of the work."""
        bench = self.bench
        return bench.protect(bench.read(), lambda share, said: progress(until * share, said))

    def measured(self, progress: Progress, until: float) -> Measured:
        """The whole table masked and measured as a run does it, which takes `until` of the work."""
        return measure(self.bench, lambda share, said: progress(until * share, said))

    @property
    def table(self) -> Table:
        """The whole table."""
        return open_table(self.frame)

    @property
    def seed(self) -> int:
        """What fixes draws; 0 where the plan says none."""
        return self.plan.contents.seed or 0

    def microdata(self) -> Microdata:
        """The table encoded as the plan declares it."""
        return encode(self.table, self.plan.schema.decided())

    def sample(self) -> tuple[Any, bool]:
        """At most 3,000 records, drawn by the seed, and whether these are all.

        They are kept as a file, so that other processes need not read the whole table for them.
        """
        drawn = "\n".join([self.about["declared"], self.about["stamp"], str(self.seed)])
        digest = hashlib.sha256(drawn.encode()).hexdigest()[:24]
        path = Path(self.about["folder"]) / RUNS / f"sample-{digest}.parquet"
        if path.is_file():
            return read_file(path).frame, False
        whole = self.table
        if len(whole) <= SAMPLE:
            return whole.native, True
        rows = np.random.default_rng(self.seed).choice(len(whole), SAMPLE, replace=False)
        frame = whole.part(np.sort(rows)).native
        _keep(frame, path)
        return frame, False


def _keep(frame: object, path: Path) -> None:
    """Keep a sample instead of those before it; without a place for it, it is drawn anew."""
    with contextlib.suppress(OntomaskError, OSError):
        for old in path.parent.glob("sample-*.parquet"):
            old.unlink(missing_ok=True)
        writing = path.with_name(f"{os.getpid()}-{path.name}")
        write_file(frame, writing)
        writing.replace(path)


def examples(before: Table, release: Release, chosen: Longs | None = None) -> dict[str, Any]:
    """Records before and after, a few from everywhere by default; for this machine only."""
    after, rows = open_table(release.frame), release.rows
    if rows is None:
        return {"names": [], "rows": []}
    if chosen is None:
        chosen = np.linspace(0, len(rows) - 1, min(EXAMPLES, len(rows))).astype(np.int64)
    names = [name for name in after.names if name in before.names]
    old, new = before.part(rows[chosen]), after.part(chosen)
    pairs = [list(zip(cells_of(old, name), cells_of(new, name), strict=True)) for name in names]
    return {"names": names, "rows": [list(row) for row in zip(*pairs, strict=True)]}


def cells_of(table: Table, name: str) -> list[str]:
    """A column as texts, a gap as nothing."""
    seen = table.seen(name)
    return ["" if seen.values[code] is None else str(seen.values[code]) for code in seen.codes]
