"""What worker processes compute of single columns: the meaning of words, numbers, an order."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from ontomask.arrays import Floats, Longs
from ontomask.data.profile import spread_of
from ontomask.data.schema import Nominal
from ontomask.errors import MethodError
from ontomask.methods.base import Progress
from ontomask.studio.opened import About, Opened
from ontomask.taxonomy.mapping import Mapping
from ontomask.taxonomy.taxonomy import Taxonomy
from ontomask.toml_text import toml_value

__all__ = ["concept", "found", "shape", "values", "words"]

SHOWN = 50
MEASURED = ("numeric", "date")
TOP = 12
LISTED = 200
"""Values of a column whose order can be changed on a page."""


def _nominal(opened: Opened, column: str) -> tuple[Nominal, Taxonomy]:
    declared = opened.plan.schema[column]
    if not isinstance(declared, Nominal) or declared.taxonomy is None:
        raise MethodError("Only the values of a nominal column mean concepts.")
    return declared, declared.taxonomy


def _mapped(opened: Opened, column: str) -> Mapping:
    """The concepts of a column's values, and how many records have them."""
    declared, taxonomy = _nominal(opened, column)
    counts, distinct = _counted(opened, column)
    return taxonomy.map(distinct, counts=counts.tolist(), overrides=declared.overrides)


def _counted(opened: Opened, column: str) -> tuple[Longs, list[object]]:
    codes, distinct = opened.table.distinct(column)
    return np.bincount(codes[codes >= 0], minlength=len(distinct)), distinct


def words(*, about: About, column: str, progress: Progress) -> dict[str, Any]:
    """The values of a nominal column that no concept was found for, with what they may mean."""
    progress(0.3, "looking values up")
    opened = Opened.of(about)
    mapping = _mapped(opened, column)
    places = sorted(mapping.unmapped_positions, key=lambda place: -mapping.counts[place])
    return {
        "taxonomy": mapping.index.taxonomy.name,
        "coverage": str(mapping.coverage),
        "unmapped": len(places),
        "rule": _nominal(opened, column)[0].unmapped,
        "warnings": list(mapping.warnings),
        "ambiguous": [str(one) for one in mapping.ambiguous[:SHOWN]],
        "values": [
            {
                "value": str(mapping.values[place]),
                "count": int(mapping.counts[place]),
                "suggestions": [
                    {"id": one.id, "label": one.label, "reason": one.reason}
                    for one in mapping.suggestions(mapping.values[place])
                ],
            }
            for place in places[:SHOWN]
        ],
    }


def concept(*, about: About, column: str, here: int, other: int, progress: Progress) -> Any:
    """A concept of a column's taxonomy and those below it, with the table's records rolled up.

    With another concept, how far the two are apart, and the way from one to the other.
    """
    opened = Opened.of(about)
    declared, taxonomy = _nominal(opened, column)
    mapping = _mapped(opened, column)
    progress(0.5, "rolling up")
    known = mapping.concepts >= 0
    weights = np.zeros(len(taxonomy))
    np.add.at(weights, mapping.concepts[known], mapping.counts[known])
    totals, last = taxonomy.totals(weights), len(taxonomy) - 1
    shown = _shown_concept(taxonomy, totals, min(here, last))
    if not 0 <= other <= last:
        return shown | {"apart": None}
    pair = (shown["here"]["number"], other)
    return shown | {
        "other": _named(taxonomy, totals, taxonomy.ids[other]),
        "apart": _apart(declared, totals, pair, mapping),
    }


def _shown_concept(taxonomy: Taxonomy, totals: Floats, number: int) -> dict[str, Any]:
    """A concept with the way up to the root, and its children, the most frequent first."""
    identifier = taxonomy.ids[number]
    above = sorted(taxonomy.ancestors(identifier), key=taxonomy.depth)
    below = taxonomy.children(identifier)
    children = [_named(taxonomy, totals, one) for one in below]
    return {
        "here": _named(taxonomy, totals, identifier),
        "above": [_named(taxonomy, totals, one) for one in above if one != identifier],
        "below": sorted(children, key=lambda one: -one["records"])[:SHOWN],
        "children": len(below),
    }


def _named(taxonomy: Taxonomy, totals: Floats, identifier: str) -> dict[str, Any]:
    number = taxonomy.index_of(identifier)
    return {
        "number": number,
        "id": identifier,
        "label": taxonomy.label_of(identifier),
        "records": int(totals[number]),
        "leaf": bool(taxonomy.leaf_mask[number]),
    }


def _apart(
    declared: Nominal, totals: Floats, pair: tuple[int, int], mapping: Mapping
) -> dict[str, Any]:
    """The distance of two concepts as the column measures it, and the way over what both are."""
    taxonomy = mapping.index.taxonomy
    first, second = taxonomy.ids_of(pair)
    present = np.unique(mapping.concepts[mapping.concepts >= 0]).astype(np.int32)
    attribute = np.append(present, np.array(pair, np.int32))
    space = taxonomy.space(attribute, declared.measure, declared.root, **declared.options)
    path = taxonomy.path(first, second)
    top = path.index(taxonomy.lcs([first, second]))
    named = [_named(taxonomy, totals, one) for one in path]
    return {
        "measure": declared.measure,
        "distance": float(space.paired(*np.array(pair, np.int32)[:, None])[0]),
        "first": named[:top],
        "shared": named[top],
        "second": named[:top:-1],
    }


def found(*, about: About, column: str, text: str, progress: Progress) -> list[dict[str, Any]]:
    """The concepts that a word or code means, or is like."""
    progress(0.3, "looking it up")
    taxonomy = _nominal(Opened.of(about), column)[1]
    mapping = taxonomy.map([text])
    alike = [one.id for one in mapping.suggestions(text, SHOWN)]
    means = [one for one in mapping.ids if one is not None]
    none = np.zeros(len(taxonomy))
    return [_named(taxonomy, none, one) for one in dict.fromkeys([*means, *alike])]


def shape(*, about: About, column: str, progress: Progress) -> dict[str, Any]:
    """Of numbers and dates their range and a histogram, of other values how often they occur."""
    opened = Opened.of(about)
    progress(0.3, "counting")
    kind = opened.plan.schema[column].kind
    attribute = opened.microdata().attributes.get(column) if kind in MEASURED else None
    if attribute is not None and attribute.size:
        counts = np.bincount(attribute.codes, minlength=attribute.size)[: attribute.size]
        spread = spread_of(attribute.numbers, counts)
        ends = (spread.least, *spread.quartiles, spread.greatest)
        told, edges = ([_told(number, kind) for number in one] for one in (ends, spread.edges))
        return {"kind": kind, "spread": vars(spread), "told": told, "edges": edges}
    return {"kind": kind, "spread": None, **_listed(opened, column)}


def _told(number: float, kind: str) -> str:
    if kind == "date":
        return datetime.date.fromordinal(int(number)).isoformat()
    return f"{number:,.6g}"


def _listed(opened: Opened, column: str) -> dict[str, Any]:
    """Values with their records, the most frequent first, or in the order that is declared."""
    counts, distinct = _counted(opened, column)
    records = dict(zip(distinct, counts.tolist(), strict=True))
    frequent = sorted(distinct, key=lambda value: -records[value])
    order = getattr(opened.plan.schema[column], "order", ())
    ordered = list(dict.fromkeys([*order, *frequent]))
    movable = bool(order) and len(ordered) <= LISTED
    shown = ordered[: LISTED if movable else TOP]
    return {
        "values": [[toml_value(one), str(one), records.get(one, 0)] for one in shown],
        "distinct": len(ordered),
        "movable": movable,
    }


def values(*, about: About, column: str, progress: Progress) -> list[Any]:
    """The values of a column in an order to begin with: numbers by size, words by the alphabet."""
    progress(0.3, "counting")
    distinct = _counted(Opened.of(about), column)[1]
    try:
        return sorted(distinct, key=lambda value: float(str(value)))
    except ValueError:
        return sorted(distinct, key=str)
