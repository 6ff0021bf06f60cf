"""What worker processes compute for exploring: methods side by side, the nodes of a lattice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ontomask.comparison import METHOD_NAMES, Cell, Comparison, compare
from ontomask.data.tables import open_table
from ontomask.errors import MethodError, OntomaskError
from ontomask.methods.base import Progress
from ontomask.methods.generalization.encoding import hierarchy_of
from ontomask.methods.generalization.exploration import explore
from ontomask.methods.generalization.method import Generalization
from ontomask.methods.generalization.recipes import drafted, value_text
from ontomask.plan.plan import Plan
from ontomask.protection import protect
from ontomask.report.alternatives import picture
from ontomask.report.drawing import draw
from ontomask.studio.opened import About, Opened, examples
from ontomask.taxonomy.hierarchies import Hierarchy
from ontomask.toml_text import toml_value

__all__ = ["ladder", "methods", "node", "solutions"]

MOST_NODES = 15_000
SHOWN_VALUES = 60


def methods(
    *, about: About, names: Sequence[str], sizes: Sequence[int], limit: float, progress: Progress
) -> dict[str, Any]:
    """A grid of methods and k: loss and risk of each, and which to take under a limit."""
    opened = Opened.of(about)
    frame, whole = opened.sample()
    chosen = [one for one in names if one in METHOD_NAMES]
    schema = opened.plan.schema.decided()
    grid = compare(frame, schema, chosen, k=list(sizes), workers=1, progress=progress)
    best, frontier = _best(grid, limit), {cell.title for cell in grid.frontier()}
    cells = [
        {**_cell(cell), "frontier": cell.title in frontier, "best": cell.title == best}
        for cell in grid.means()
    ]
    drawn = draw(picture(grid, limit), "methods", "Loss and risk", "Each dot is a release.")
    return {"cells": cells, "best": best, "picture": drawn, "whole": whole}


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
