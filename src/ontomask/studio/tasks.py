"""What worker processes compute of a table and a plan: calls of the library, for a page.

Nothing is measured here. Every task takes plain arguments and `progress`, and returns plain lists
and dictionaries, which are kept as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ontomask.data.files import FileFormat, first_look
from ontomask.data.files.reading import read_top
from ontomask.data.inference import infer_schema
from ontomask.data.profile import sketches
from ontomask.data.tables import Table, open_table
from ontomask.errors import DataError, MethodError, OntomaskError
from ontomask.evaluation.linkage import link_paired
from ontomask.evaluation.structure import class_risk
from ontomask.evaluation.suggestion import suggest_quasi_identifiers
from ontomask.evaluation.uniques import minimal_unique_sets
from ontomask.evaluation.utility import measure_loss
from ontomask.methods.base import Progress
from ontomask.methods.generalization.recipes import drafted
from ontomask.plan.examination import examined
from ontomask.plan.execution import execute, judgment_of
from ontomask.plan.plan import Plan
from ontomask.plan.problems import Problem
from ontomask.plan.proposal import propose
from ontomask.protection import protect
from ontomask.report.sentences import homogeneous
from ontomask.studio.edits import WITHOUT_ROLE
from ontomask.studio.measuring import figures_of
from ontomask.studio.opened import About, Opened, examples
from ontomask.warming import METHODS, compile_for

__all__ = [
    "begin",
    "check",
    "columns",
    "draft",
    "look",
    "people",
    "preview",
    "problem_of",
    "release",
    "unique",
    "warmed",
]

SHOWN_ROWS = 50
TELLING = 8
COMPARED = 40
"""Columns whose pairs are still compared with each other."""
SEARCHED = {3: 12, 2: 40}
"""The largest sets that are looked for, by how many columns there are at most."""


def warmed(*, progress: Progress) -> None:
    """Compile the kernels, so that nobody waits for them later.

    One after the other: a worker process may have no processes of its own, and the person at the
    page needs the other core.
    """
    for place, method in enumerate(METHODS):
        progress(place / len(METHODS), f"compiling {method.name}, once on this machine")
        compile_for(place)


def look(*, path: str, stamp: str, how: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """The first rows of a file as they lie there, and how it is read."""
    del stamp  # a file that changes is looked at anew
    progress(0.1, "reading the file")
    form = FileFormat(**how)
    try:
        source = first_look(path, form)
    except DataError as error:  # the rows show what is wrong, and how to read them instead
        rows = _top(path, form)
        return {"problem": str(error), "guessed": {}, "notes": [], "rows": rows, "said": {}}
    rows = _top(path, source.format)
    return {
        "problem": "",
        "records": source.rows,
        "columns": len(source.columns),
        "rows": rows,
        "said": _no_records(rows, source.format),
        "guessed": dict(source.guessed),
        "notes": list(source.notes),
    }


def _top(path: str, form: FileFormat) -> list[list[Any]]:
    return [[number, list(cells)] for number, cells in read_top(path, form).rows[:SHOWN_ROWS]]


def _no_records(rows: Sequence[Any], form: FileFormat) -> dict[str, str]:
    """What the rows are that are no records, by their number in the file."""
    first = next((number for number, cells in rows if any(cells)), 1)
    if form.header == 0:
        return {str(number): "left out" for number in form.skip}
    header = form.header or first
    above = {str(number): "left out" for number, _ in rows if number < header}
    return above | {str(number): "left out" for number in form.skip} | {str(header): "names"}


def begin(*, table: str, plan: str, stamp: str, how: Mapping[str, Any], progress: Progress) -> str:
    """The text of a first plan for a table."""
    del stamp
    progress(0.1, "looking at every column")
    return propose(table, plan, FileFormat(**how))[0]


def columns(*, about: About, progress: Progress) -> dict[str, Any]:
    """What is in every column, whoever may know it: values, shapes, guesses, telling sets."""
    opened = Opened.of(about)
    schema = opened.plan.schema
    progress(0.2, "reading the table")
    try:
        table = opened.table
    except OntomaskError:  # the check says what is wrong; the columns can be put right
        return {"records": 0, "columns": {}, "telling": []}
    names = [name for name in schema if name in table.names]
    progress(0.4, "looking at every column")
    drawn, guesses = sketches(table, names), infer_schema(table.native)
    found = {
        one.name: {
            **vars(one),
            "sketch": drawn[one.name],
            "reason": guesses.reasons.get(one.name, ""),
            "unsure": one.name in guesses.unsure,
        }
        for one in examined(table, {name: schema[name] for name in names})
    }
    progress(0.7, "comparing columns")
    published = [name for name in names if schema[name].kind not in WITHOUT_ROLE]
    return {
        "records": len(table),
        "columns": found,
        "telling": _telling(table, published if len(published) <= COMPARED else ()),
    }


def _telling(table: Table, names: Sequence[str]) -> list[dict[str, Any]]:
    """The sets of columns that single people out best."""
    if not names:
        return []
    found = suggest_quasi_identifiers(table.released(names, {}, None))
    sets = [*(one.alone for one in found.columns), *found.combinations]
    worst = sorted(sets, key=lambda one: -one.unique_share)[:TELLING]
    return [
        {
            "columns": list(one.columns),
            "unique": one.unique_share,
            "distinction": one.distinction,
            "separation": one.separation,
        }
        for one in worst
    ]


def check(*, about: About, progress: Progress) -> dict[str, Any]:
    """Whether the plan fits its table, as `ontomask check` says it, and who is alone."""
    progress(0.2, "comparing plan and table")
    try:
        found = Opened.of(about).checked()
    except OntomaskError as error:
        return {"problems": _problems(error)}
    risk = found.risk.structure if found.risk else None
    return {
        "problems": [{"stage": "columns", "said": one} for one in found.exceeded],
        "records": found.records,
        "alone": None if risk is None else risk.unique_share,
        "by": list(found.risk.columns) if found.risk else [],
        "unchanged": {"alone": found.unchanged.alone, "said": str(found.unchanged)},
        "notes": list(found.notes),
    }


def _problems(error: OntomaskError) -> list[dict[str, str]]:
    """What is wrong, and on which screen it can be put right."""
    known = _known(error)
    if not known:
        stage = "open" if isinstance(error, DataError) else "protection"
        return [{"stage": stage, "said": str(error)}]
    stages = {"[columns": "columns", "[input": "open"}
    return [
        {
            "stage": stages.get(one.place.split(".")[0].rstrip("]"), "protection"),
            "said": f"{one.place}: {one.sentence}",
        }
        for one in known
    ]


def unique(*, about: About, progress: Progress) -> dict[str, Any]:
    """The smallest sets of the columns that others know by which people are alone."""
    microdata = Opened.of(about).microdata()
    progress(0.3, "comparing columns")
    names = list(microdata.quasi)
    size = next((size for size, most in SEARCHED.items() if len(names) <= most), 1)
    found = minimal_unique_sets(microdata, names, size) if names else None
    return {
        "size": size,
        "people": found.people if found else 0,
        "singled_out": found.singled_out if found else 0,
        "sets": [
            {"columns": list(one.columns), "minimal": one.minimal, "share": one.minimal_share}
            for one in (found.combinations if found else ())[:TELLING]
            if one.minimal
        ],
    }


def people(*, about: About, progress: Progress) -> dict[str, Any]:
    """The columns that may say whose record it is, and how many records people have by them."""
    opened = Opened.of(about)
    schema, table = opened.plan.schema, opened.table
    progress(0.3, "counting records of people")
    named = [name for name, column in schema.items() if column.kind == "identifier"]
    found = [_repeated(table, name) for name in named if name in table.names]
    return {"unit": schema.unit, "records": len(table), "columns": found}


def _repeated(table: Table, name: str) -> dict[str, Any]:
    codes, values = table.distinct(name)
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    return {"name": name, "people": len(values), "most": int(counts.max(initial=0))}


def draft(*, about: About, progress: Progress) -> dict[str, Any]:
    """How to build the hierarchies of the quasi-identifiers, as a first draft."""
    progress(0.2, "looking at every column")
    microdata = Opened.of(about).microdata()
    drafts = {name: drafted(microdata[name]) for name in microdata.quasi}
    return {name: recipe for name, recipe in drafts.items() if recipe}


def preview(*, about: About, progress: Progress) -> dict[str, Any]:
    """What the plan's steps do to a sample of the table."""
    opened = Opened.of(about)
    plan = opened.plan
    frame, whole = opened.sample()
    before = open_table(frame)
    try:
        release = protect(
            frame,
            plan.schema.decided(),
            plan.steps,
            opened.seed,
            progress=lambda share, said: progress(0.1 + 0.6 * share, said),
        )
    except OntomaskError as error:
        if whole:
            raise
        tried = f"Tried on {len(before):,} of {len(opened.table):,} records"
        raise MethodError(f"{tried}: {error}") from error
    progress(0.7, "measuring")
    paired = release.paired(frame)
    old, new = (class_risk(paired, which, 0.2) for which in ("old", "new"))
    return {
        "records": len(before),
        "whole": whole,
        # only what is shown: statistics of all pairs of columns would take most of the time
        "loss": measure_loss(paired).loss,
        "linkage": link_paired(paired).risk if paired.quasi() else new.average_risk,
        "smallest": new.smallest_class,
        "alone_before": old.uniques,
        "alone_after": new.uniques,
        "suppressed": int(release.suppressed),
        "promises": [finding.statement for finding in release.verification.findings],
        "judged": str(judgment_of(release, release.verification)),
        "examples": examples(before, release),
    }


def release(
    *, about: About, text: str, force: bool, leave_out: bool, progress: Progress
) -> dict[str, Any]:
    """Run the plan: what `ontomask run` does, with what the screens before have computed."""
    opened = Opened.of(about)
    outcome = execute(
        Plan.parse(text, name=about["name"], folder=about["folder"]),
        force=force,
        internal=True,
        leave_out_undecided=leave_out,
        progress=progress,
        bench=opened.at,
    )
    return {
        "folder": str(outcome.folder),
        "kept": outcome.verification.kept,
        "judged": str(outcome.judgment),
        "findings": [[one.kept, one.statement] for one in outcome.verification.findings],
        "alike": homogeneous(outcome.evaluation.risk_after),
        "figures": figures_of(outcome.evaluation),
        "exceeded": [
            f"{one.name}: {100 * one.measured:.3g} %, where {100 * one.allowed:g} are allowed."
            for one in outcome.exceeded
        ],
        "notes": list(outcome.notes),
        "seconds": outcome.seconds,
    }


def _known(error: OntomaskError) -> list[Problem]:
    return [one for one in getattr(error, "problems", ()) if isinstance(one, Problem)]


def problem_of(text: str, name: str, folder: Path) -> str:
    """What is wrong with a plan, in a sentence or more; nothing if it can be read.

    A plan that is not saved has no lines to be named.
    """
    try:
        Plan.parse(text, name=name, folder=folder)
    except OntomaskError as error:
        return " ".join(one.sentence for one in _known(error)) or str(error)
    return ""
