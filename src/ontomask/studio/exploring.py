"""What worker processes compute for exploring: methods side by side, the nodes of a lattice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ontomask.comparison import Cell, Comparison, compare
from ontomask.data.tables import open_table
from ontomask.errors import MethodError, OntomaskError
from ontomask.methods.base import Progress
from ontomask.methods.generalization.encoding import hierarchy_of
from ontomask.methods.generalization.exploration import explore
from ontomask.methods.generalization.method import Generalization
from ontomask.methods.generalization.recipes import drafted, value_text
from ontomask.plan.plan import Plan
from ontomask.protection import protect
from ontomask.report.alternatives import drawn
from ontomask.studio.opened import About, Opened, examples
from ontomask.taxonomy.hierarchies import Hierarchy
from ontomask.toml_text import toml_value

__all__ = ["cell", "gathered", "ladder", "node", "solutions"]

MOST_NODES = 15_000
SHOWN_VALUES = 60


def cell(*, about: About, name: str, k: int, whole: bool, progress: Progress) -> dict[str, Any]:
    """One release of a grid, of the whole table or of a sample: its loss and its risk."""
    opened = Opened.of(about)
    progress(0.1, "reading the table")
    frame, is_all = (opened.frame, True) if whole else opened.sample()
    progress(0.2, f"{name}, k = {k}")
    grid = compare(frame, opened.plan.schema.decided(), [name], k=[k], workers=1)
    return {"cell": grid.rows()[0], "whole": is_all, "records": grid.records}


def gathered(found: Sequence[Mapping[str, Any]], limit: float) -> dict[str, Any]:
    """What is known so far of a grid: its releases, and which to take under a limit in percent."""
    grid = Comparison(tuple(Cell(**one["cell"]) for one in found))
    share = limit / 100.0
    best, frontier = _best(grid, share), {one.title for one in grid.frontier()}
    return {
        "cells": [
            {**_cell(one), "frontier": one.title in frontier, "best": one.title == best}
            for one in grid.means()
        ],
        "best": best,
        **(drawn(grid, share) if frontier else {"pictures": {}, "legend": []}),
        "records": max((one["records"] for one in found), default=0),
        "whole": all(one["whole"] for one in found),
    }


def _best(grid: Comparison, limit: float) -> str:
    """What made the release that loses least under the limit; nothing if none is under it."""
    try:
        return grid.best(limit).title
    except MethodError:
        return ""


def _cell(cell: Cell) -> dict[str, Any]:
    shown = ("method", "k", "loss", "risk", "suppressed", "seconds", "error", "title")
    return {name: getattr(cell, name) for name in shown}


def solutions(*, about: About, progress: Progress) -> dict[str, Any]:
    """The nodes of the lattice of the plan's generalization, column by column."""
    opened = Opened.of(about)
    step = _generalization(opened.plan)
    schema = opened.plan.schema.decided()
    nodes = explore(opened.frame, schema, step, most=MOST_NODES, progress=progress)
    quality = next(iter(nodes.losses))
    return {
        "names": list(nodes.names),
        "level_names": [list(names) for names in nodes.level_names],
        "total": nodes.total,
        "records": len(opened.table),
        "quality": quality,
        "fixed": [step.levels.get(name, -1) for name in nodes.names],
        "levels": nodes.levels.tolist(),
        "valid": nodes.valid.tolist(),
        "loss": nodes.losses[quality].tolist(),
        "classes": nodes.classes.tolist(),
        "suppressed": nodes.outliers.tolist(),
    }


def node(*, about: About, levels: Mapping[str, int], progress: Progress) -> dict[str, Any]:
    """What records look like at a node, on a sample; whatever is not valid there is left out."""
    opened = Opened.of(about)
    step = replace(
        _generalization(opened.plan), levels=levels, suppression_limit=1.0, algorithm="optimal"
    )
    frame, whole = opened.sample()
    progress(0.3, "generalizing")
    release = protect(frame, opened.plan.schema.decided(), step, opened.seed)
    return {"whole": whole, "examples": examples(open_table(frame), release)}


def _generalization(plan: Plan) -> Generalization:
    step = next((one for one in plan.steps if isinstance(one, Generalization)), None)
    if step is None:
        raise MethodError(
            "The plan has no generalization, so there is no lattice; add that step first."
        )
    return step


def ladder(*, about: About, column: str, progress: Progress) -> dict[str, Any]:
    """The levels of a column: how they are built, and each value with its generalizations."""
    opened = Opened.of(about)
    microdata = opened.microdata()
    shown: dict[str, Any] = {"given": None, "drafted": "", "values": 0, "levels": [], "rows": []}
    if column not in microdata.quasi:
        return shown | {"problem": "Only columns that others may know are generalized."}
    attribute, step = microdata[column], _generalization(opened.plan)
    given = step.hierarchies.get(column)
    progress(0.5, "building the levels")
    shown |= {
        "given": toml_value(given) if isinstance(given, (dict, str)) else None,
        "drafted": toml_value(drafted(attribute)),
        "values": len(attribute.values),
    }
    try:
        hierarchy = hierarchy_of(attribute, given, step.levels_by)
    except OntomaskError as error:
        return shown | {"problem": str(error)}
    return shown | _rungs(hierarchy, [value_text(value) for value in attribute.values])


def _rungs(hierarchy: Hierarchy, values: Sequence[str]) -> dict[str, Any]:
    """The levels in words with their numbers of values, and the rows of values that occur."""
    rows = {row[0]: row for row in hierarchy.cells()}
    return {
        "levels": [
            [hierarchy.level_in_words(level), len(labels)]
            for level, labels in enumerate(hierarchy.labels)
        ],
        "rows": [rows[value] for value in values if value in rows][:SHOWN_VALUES],
        "problem": _outside([value for value in values if value not in rows]),
    }


def _outside(values: Sequence[str]) -> str:
    if not values:
        return ""
    return f"{len(values)} values are not in the hierarchy: {', '.join(values[:5])}."
