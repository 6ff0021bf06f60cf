"""What worker processes compute: calls of the library, with results that a page can show.

Nothing is measured here. Every task takes plain arguments and `progress`, and returns plain lists
and dictionaries, which are kept as JSON. A `stamp` tells two states of the table's file apart.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ontomask.comparison import METHOD_NAMES, Cell, Comparison, compare
from ontomask.data.files import Source, first_look
from ontomask.data.files.reading import read_top
from ontomask.data.profile import sketches
from ontomask.data.schema import Nominal
from ontomask.data.tables import Table, open_table
from ontomask.errors import MethodError, OntomaskError
from ontomask.evaluation.suggestion import suggest_quasi_identifiers
from ontomask.methods.base import Progress
from ontomask.methods.generalization.exploration import explore
from ontomask.methods.generalization.method import Generalization
from ontomask.plan.examination import read_declared
from ontomask.plan.plan import Plan
from ontomask.plan.proposal import propose
from ontomask.release import Release, protect
from ontomask.report.alternatives import picture
from ontomask.report.document import render
from ontomask.report.drawing import draw
from ontomask.warming import warm

__all__ = [
    "account",
    "begin",
    "columns",
    "look",
    "methods",
    "preview",
    "release",
    "solutions",
    "warmed",
    "words",
]

SHOWN_ROWS = 50
SAMPLE = 5000
EXAMPLES = 6
MOST_NODES = 20_000
TELLING = 8


def warmed(*, progress: Progress) -> None:
    """Compile the kernels, so that nobody waits for them later."""
    for share, name in warm():
        progress(share, f"compiling {name}, once on this machine")


def look(*, path: str, progress: Progress) -> dict[str, Any]:
    """The first rows of a file as they lie there, and how it is read."""
    progress(0.1, "reading the file")
    source = first_look(path)
    top = read_top(path, source.format)
    return {
        "records": source.rows,
        "names": source.frame.columns,
        "rows": [[number, list(cells)] for number, cells in top.rows[:SHOWN_ROWS]],
        "guessed": dict(source.guessed),
        "notes": list(source.notes),
    }


def begin(*, table: str, plan: str, progress: Progress) -> str:
    """The text of a first plan for a table."""
    progress(0.1, "looking at every column")
    return propose(table, plan)[0]


def columns(*, text: str, name: str, folder: str, stamp: str, progress: Progress) -> dict[str, Any]:
    """What was found in every column, and who is alone."""
    plan = Plan.parse(text, name=name, folder=folder)
    progress(0.2, "reading the table")
    found = plan.check()
    progress(0.6, "comparing columns")
    table = open_table(_source(plan, stamp).frame)
    drawn = sketches(table, [column.name for column in found.columns])
    risk = found.risk.structure if found.risk else None
    return {
        "records": found.records,
        "columns": [{**vars(one), "sketch": drawn[one.name]} for one in found.columns],
        "alone": None if risk is None else risk.unique_share,
        "by": list(found.risk.columns) if found.risk else [],
        "unchanged": {"alone": found.unchanged.alone, "said": str(found.unchanged)},
        "undecided": dict(found.undecided),
        "notes": list(found.notes),
        "telling": _telling(table, plan),
    }


def words(
    *, text: str, name: str, folder: str, stamp: str, column: str, progress: Progress
) -> dict[str, Any]:
    """The values of a nominal column that no concept was found for, with what they may mean."""
    plan = Plan.parse(text, name=name, folder=folder)
    declared = plan.schema[column]
    if not isinstance(declared, Nominal) or declared.taxonomy is None:
        raise MethodError("Only the values of a nominal column mean concepts.")
    codes, values = open_table(_source(plan, stamp).frame).distinct(column)
    progress(0.3, "looking values up")
    counts = np.bincount(codes[codes >= 0], minlength=len(values)).tolist()
    mapping = declared.taxonomy.map(values, counts=counts, overrides=declared.overrides)
    places = sorted(mapping.unmapped_positions, key=lambda place: -mapping.counts[place])
    return {
        "column": column,
        "taxonomy": declared.taxonomy.name,
        "coverage": str(mapping.coverage),
        "unmapped": len(places),
        "warnings": list(mapping.warnings),
        "values": [
            {
                "value": str(mapping.values[place]),
                "count": int(mapping.counts[place]),
                "suggestions": [
                    {"id": one.id, "label": one.label, "reason": one.reason}
                    for one in mapping.suggestions(mapping.values[place])
                ],
            }
            for place in places[:SHOWN_ROWS]
        ],
    }


def _telling(table: Table, plan: Plan) -> list[dict[str, Any]]:
    """The sets of columns that single people out best."""
    names = [name for name in table.names if name in plan.schema.published]
    found = suggest_quasi_identifiers(table.released(names, {}, None))
    sets = [*(one.alone for one in found.columns), *found.combinations]
    worst = sorted(sets, key=lambda one: -one.unique_share)[:TELLING]
    return [{"columns": list(one.columns), "unique": one.unique_share} for one in worst]


@functools.lru_cache(maxsize=2)
def _read(text: str, name: str, folder: str, stamp: str) -> Source:
    del stamp  # a file that changes is read anew
    plan = Plan.parse(text, name=name, folder=folder)
    return read_declared(plan.contents, Path(folder))


def _source(plan: Plan, stamp: str) -> Source:
    """The table of a plan; kept between two tasks while neither it nor its declaration changes."""
    return _read(plan.text, plan.name, str(plan.folder), stamp)


def preview(*, text: str, name: str, folder: str, stamp: str, progress: Progress) -> dict[str, Any]:
    """What the plan's steps do to a sample of the table."""
    plan = Plan.parse(text, name=name, folder=folder)
    whole = open_table(_source(plan, stamp).frame)
    rows = _sample(len(whole), plan.contents.seed or 0)
    frame = whole.native if rows is None else whole.part(rows).native
    release = protect(
        frame,
        plan.schema.decided(),
        plan.steps,
        plan.contents.seed or 0,
        progress=lambda share, said: progress(0.1 + 0.6 * share, said),
    )
    progress(0.7, "measuring")
    found = release.evaluate(frame, distances=["semantic"])
    return {
        "records": len(whole) if rows is None else rows.size,
        "whole": rows is None,
        "loss": found.loss.loss,
        "linkage": found.risk,
        "smallest": found.risk_after.smallest_class,
        "alone_before": found.risk_before.uniques,
        "alone_after": found.risk_after.uniques,
        "suppressed": int(release.suppressed),
        "promises": [finding.statement for finding in release.verification.findings],
        "examples": _examples(open_table(frame), release),
    }


def _sample(count: int, seed: int) -> Any:
    if count <= SAMPLE:
        return None
    generator = np.random.default_rng(seed)
    return np.sort(generator.choice(count, SAMPLE, replace=False))


def _examples(before: Table, release: Release) -> dict[str, Any]:
    """A few records before and after; for the person at this machine only."""
    after = open_table(release.frame)
    rows = release.rows
    if rows is None:
        return {"names": [], "rows": []}
    chosen = np.linspace(0, len(rows) - 1, min(EXAMPLES, len(rows))).astype(np.int64)
    names = [name for name in after.names if name in before.names]
    pairs = [
        [_cells(before.part(rows[chosen]), name), _cells(after.part(chosen), name)]
        for name in names
    ]
    return {
        "names": names,
        "rows": [[[old[row], new[row]] for old, new in pairs] for row in range(len(chosen))],
    }


def _cells(table: Table, name: str) -> list[str]:
    seen = table.seen(name)
    return ["" if seen.values[code] is None else str(seen.values[code]) for code in seen.codes]


def methods(
    *,
    text: str,
    name: str,
    folder: str,
    stamp: str,
    names: Sequence[str],
    sizes: Sequence[int],
    limit: float,
    progress: Progress,
) -> dict[str, Any]:
    """A grid of methods and k: loss and risk of each, and which to take under a limit."""
    plan = Plan.parse(text, name=name, folder=folder)
    whole = open_table(_source(plan, stamp).frame)
    rows = _sample(len(whole), plan.contents.seed or 0)
    frame = whole.native if rows is None else whole.part(rows).native
    chosen = [one for one in names if one in METHOD_NAMES]
    schema = plan.schema.decided()
    grid = compare(frame, schema, chosen, k=list(sizes), workers=1, progress=progress)
    best, frontier = _best(grid, limit), {cell.title for cell in grid.frontier()}
    cells = [
        {**_cell(cell), "frontier": cell.title in frontier, "best": cell.title == best}
        for cell in grid.means()
    ]
    drawn = draw(picture(grid, limit), "methods", "Loss and risk", "Each dot is a release.")
    return {"cells": cells, "best": best, "picture": drawn, "whole": rows is None}


def _best(grid: Comparison, limit: float) -> str:
    """What made the release that loses least under the limit; nothing if none is under it."""
    try:
        return grid.best(limit).title
    except MethodError:
        return ""


def _cell(cell: Cell) -> dict[str, Any]:
    shown = ("method", "k", "loss", "risk", "suppressed", "seconds", "error", "title")
    return {name: getattr(cell, name) for name in shown}


def solutions(
    *, text: str, name: str, folder: str, stamp: str, progress: Progress
) -> dict[str, Any]:
    """Every node of the lattice of the plan's generalization."""
    plan = Plan.parse(text, name=name, folder=folder)
    step = next((one for one in plan.steps if isinstance(one, Generalization)), None)
    if step is None:
        raise MethodError(
            "The plan has no generalization, so there is no lattice; add that step first."
        )
    nodes = explore(_source(plan, stamp).frame, plan.schema.decided(), step, progress=progress)
    quality = next(iter(nodes.losses))
    order = np.lexsort([nodes.losses[quality], ~nodes.valid])[:MOST_NODES]
    return {
        "names": list(nodes.names),
        "count": len(nodes),
        "tops": nodes.levels.max(axis=0).tolist(),
        "quality": quality,
        "nodes": [
            {
                "levels": nodes.levels[node].tolist(),
                "valid": bool(nodes.valid[node]),
                "loss": float(nodes.losses[quality][node]),
                "classes": int(nodes.classes[node]),
                "suppressed": int(nodes.outliers[node]),
            }
            for node in order.tolist()
        ],
    }


def account(*, text: str, name: str, folder: str, stamp: str, progress: Progress) -> dict[str, Any]:
    """The whole table masked and measured, as parts of a page."""
    plan = Plan.parse(text, name=name, folder=folder)
    source = _source(plan, stamp)
    release = protect(
        source.frame,
        plan.schema.decided(),
        plan.steps,
        plan.contents.seed,
        progress=lambda share, said: progress(0.5 * share, said),
    )
    settings: Mapping[str, Any] = plan.contents.evaluation.settings
    found = release.evaluate(
        source.frame,
        progress=lambda share, said: progress(0.5 + 0.4 * share, said),
        **settings,
    )
    progress(0.9, "drawing")
    return {
        "page": render(release.account(source.frame, found), internal=True),
        "loss": found.loss.loss,
        "linkage": found.risk,
        "smallest": found.risk_after.smallest_class,
        "columns": [[one.name, one.semantic_loss] for one in found.loss.columns],
        "before": _risks(found.risk_before),
        "after": _risks(found.risk_after),
        "unchanged": str(found.unchanged),
    }


def _risks(risk: Any) -> dict[str, float]:
    names = ("uniques", "highest_risk", "average_risk", "smallest_class")
    return {name: float(getattr(risk, name)) for name in names}


def release(*, plan: str, force: bool, leave_out: bool, progress: Progress) -> dict[str, Any]:
    """Run the plan: what `ontomask run` does."""
    outcome = Plan.read(plan).run(
        force=force, internal=True, leave_out_undecided=leave_out, progress=progress
    )
    return {
        "folder": str(outcome.folder),
        "kept": outcome.verification.kept,
        "findings": [[one.kept, one.statement] for one in outcome.verification.findings],
        "exceeded": [str(vars(one)) for one in outcome.exceeded],
        "notes": list(outcome.notes),
        "seconds": outcome.seconds,
    }


def problem_of(text: str, name: str, folder: Path) -> str:
    """What is wrong with a plan, in its own words; nothing if it can be read."""
    try:
        Plan.parse(text, name=name, folder=folder)
    except OntomaskError as error:
        return str(error)
    return ""
