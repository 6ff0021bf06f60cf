"""A plan and its table as a worker process has them at hand, and pieces of both."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ontomask.arrays import Longs
from ontomask.data.encoding import encode
from ontomask.data.files import Source
from ontomask.data.microdata import Microdata
from ontomask.data.tables import Table, open_table
from ontomask.methods.base import Progress
from ontomask.plan.examination import read_declared
from ontomask.plan.plan import Plan
from ontomask.protection import protect
from ontomask.release import Release

__all__ = ["About", "Opened", "cells_of", "examples"]

About = Mapping[str, str]
"""What a task is told of the plan: its `text`, `name` and `folder`, what it has `declared` of the
table and what it is `masked` by, and a `stamp` that tells two states of the files apart that it
names."""

SAMPLE = 3000
EXAMPLES = 6


@dataclass(frozen=True)
class _Reading:
    """What a table is read by: a changed step does not read it anew."""

    key: tuple[str, ...]
    plan: Plan = field(compare=False)
    progress: Progress = field(compare=False, default=lambda *_: None)


@functools.lru_cache(maxsize=2)
def _read(reading: _Reading) -> Source:
    return read_declared(reading.plan.contents, reading.plan.folder)


@functools.lru_cache(maxsize=1)
def _masked(masking: _Reading, reading: _Reading) -> Release:
    """The whole table masked: once for all that is asked of the same plan."""
    plan = masking.plan
    schema, seed = plan.schema.decided(), plan.contents.seed
    return protect(_read(reading).frame, schema, plan.steps, seed, progress=masking.progress)


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
    def frame(self) -> Any:
        """The whole table."""
        return _read(self._reading("declared")).frame

    def _reading(self, part: str, progress: Progress = lambda *_: None) -> _Reading:
        key = tuple(self.about[name] for name in (part, "folder", "stamp"))
        return _Reading(key, self.plan, progress)

    def release(self, progress: Progress, until: float) -> Release:
        """The whole table masked, which takes `until` of the work."""
        masking = self._reading("masked", lambda share, said: progress(until * share, said))
        return _masked(masking, self._reading("declared"))

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
        """At most 3,000 records, drawn by the seed, and whether these are all."""
        whole = self.table
        if len(whole) <= SAMPLE:
            return whole.native, True
        rows = np.random.default_rng(self.seed).choice(len(whole), SAMPLE, replace=False)
        return whole.part(np.sort(rows)).native, False


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
