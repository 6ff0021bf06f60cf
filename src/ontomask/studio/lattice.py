"""What a page shows of the nodes of a lattice: filtered, sorted, colored, drawn, in pages of fifty.

What was computed once is looked at here in many ways; a way of looking is an address, so that it
survives a reload and can be gone back to. Nodes are written as their levels, as in 0.2.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import numpy as np

from ontomask.arrays import Bools, Longs
from ontomask.errors import PlanError

__all__ = ["View", "node_levels", "node_name", "shown_nodes"]

ROWS = 50
DRAWN = 160
SHADES = 5
BINS = 10
SORTS = ("loss", "suppressed", "classes", "height")
WIDE, STEP, RADIUS = 760.0, 62.0, 9.0

Query = Mapping[str, str]


@dataclass(frozen=True)
class View:
    """A way of looking at nodes, as an address says it."""

    valid: bool = False
    loss: float = math.inf
    suppressed: float = 100.0
    height: int | None = None
    low: Mapping[int, int] = field(default_factory=dict)
    high: Mapping[int, int] = field(default_factory=dict)
    sort: str = "loss"
    page: int = 0
    node: str = ""
    pins: tuple[str, ...] = ()

    @classmethod
    def of(cls, query: Query, names: int) -> View:
        """Read an address; what cannot be read is as if it were not there."""
        height = _whole(query.get("height"))
        return cls(
            valid=query.get("valid") == "1",
            loss=_number(query.get("loss"), math.inf),
            suppressed=_number(query.get("suppressed"), 100.0),
            height=height,
            low={n: level for n in range(names) if (level := _whole(query.get(f"low{n}")))},
            high={
                n: level
                for n in range(names)
                if (level := _whole(query.get(f"high{n}"))) is not None
            },
            sort=query.get("sort", "") if query.get("sort") in SORTS else SORTS[0],
            page=_whole(query.get("page")) or 0,
            node=query.get("node", ""),
            pins=tuple(dict.fromkeys(one for one in query.get("pins", "").split("_") if one)),
        )

    def address(self, **changed: Any) -> str:
        """The address of this way of looking, with something changed."""
        said = {
            "valid": "1" if self.valid else "",
            "loss": "" if math.isinf(self.loss) else f"{self.loss:g}",
            "suppressed": "" if self.suppressed >= 100 else f"{self.suppressed:g}",
            "height": "" if self.height is None else self.height,
            **{f"low{n}": level for n, level in self.low.items()},
            **{f"high{n}": level for n, level in self.high.items()},
            "sort": self.sort,
            "page": self.page or "",
            "node": self.node,
            "pins": "_".join(self.pins),
        } | changed
        return urlencode({"view": "solutions", **{k: v for k, v in said.items() if v != ""}})

    def chosen(self, nodes: _Nodes) -> Longs:
        """The nodes that pass the filters, in order."""
        share = 100.0 * nodes.suppressed / max(1, nodes.records)
        passing: Bools = (nodes.loss <= self.loss) & (share <= self.suppressed)
        if self.valid:
            passing &= nodes.valid
        if self.height is not None:
            passing &= nodes.heights == self.height
        for place, level in self.low.items():
            passing &= nodes.levels[:, place] >= level
        for place, level in self.high.items():
            passing &= nodes.levels[:, place] <= level
        key = {"height": nodes.heights, "classes": -nodes.classes}.get(self.sort)
        values = getattr(nodes, self.sort) if key is None else key
        order = np.lexsort([nodes.loss, values, ~nodes.valid])
        return order[passing[order]]


def _number(text: str | None, otherwise: float) -> float:
    try:
        number = float(text or "")
    except ValueError:
        return otherwise
    return number if number >= 0 else otherwise


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


class _Nodes:
    """What a task found, as arrays."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.levels = np.array(found["levels"], np.int64)
        self.valid = np.array(found["valid"], bool)
        self.loss = np.array(found["loss"], np.float64)
        self.classes = np.array(found["classes"], np.int64)
        self.suppressed = np.array(found["suppressed"], np.int64)
        self.heights = self.levels.sum(axis=1)
        self.records = int(found["records"])
        spread = float(np.ptp(self.loss)) or 1.0
        shades = SHADES * (self.loss - self.loss.min()) / spread
        self.shades = np.minimum(shades.astype(np.int64), SHADES - 1)

    def place(self, name: str) -> int | None:
        """Where a node is, by its name."""
        levels = [_whole(one) for one in name.split(".")]
        if len(levels) != self.levels.shape[1] or None in levels:
            return None
        found = np.flatnonzero((self.levels == np.array(levels, np.int64)).all(axis=1))
        return int(found[0]) if found.size else None

    def row(self, place: int) -> dict[str, Any]:
        """A node as a page shows it."""
        levels = self.levels[place].tolist()
        return {
            "name": node_name(levels),
            "levels": levels,
            "valid": bool(self.valid[place]),
            "loss": float(self.loss[place]),
            "classes": int(self.classes[place]),
            "suppressed": int(self.suppressed[place]),
            "share": 100.0 * float(self.suppressed[place]) / max(1, self.records),
            "shade": int(self.shades[place]),
        }


def node_name(levels: list[int]) -> str:
    """How a node is written in an address."""
    return ".".join(map(str, levels))


def node_levels(name: str, names: list[str]) -> dict[str, int]:
    """The level of each column at a node that an address names."""
    levels = [_whole(one) for one in name.split(".")]
    known = [level for level in levels if level is not None]
    if len(known) != len(names) or len(levels) != len(names):
        raise PlanError("There is no such combination of levels any more; reload the page.")
    return dict(zip(names, known, strict=True))


def shown_nodes(found: Mapping[str, Any], query: Query) -> dict[str, Any]:
    """Everything that a page shows for an address."""
    nodes = _Nodes(found)
    view = View.of(query, len(found["names"]))
    chosen = view.chosen(nodes)
    first = min(view.page, max(0, len(chosen) - 1) // ROWS) * ROWS
    picked = nodes.place(view.node)
    pinned = [place for one in view.pins if (place := nodes.place(one)) is not None]
    small = len(nodes.levels) <= DRAWN
    return {
        "view": view,
        "count": len(chosen),
        "seen": len(nodes.levels),
        "first": first,
        "rows": [nodes.row(place) for place in chosen[first : first + ROWS].tolist()],
        "more": first + ROWS < len(chosen),
        "node": None if picked is None else nodes.row(picked),
        "pinned": [nodes.row(place) for place in pinned],
        "drawn": list(_drawn(nodes, chosen)) if small else [],
        "drawn_height": STEP * (int(nodes.heights.max()) + 1),
        "tiles": [] if small else list(_tiles(nodes, chosen)),
        "fixed": node_name(found["fixed"]),
    }


def _drawn(nodes: _Nodes, chosen: Longs) -> Iterator[dict[str, Any]]:
    """Circles in rows by the sum of their levels, the lowest sum at the bottom."""
    passing = np.zeros(len(nodes.levels), bool)
    passing[chosen] = True
    top = int(nodes.heights.max())
    for height in range(top + 1):
        row = np.flatnonzero(nodes.heights == height)
        for number, place in enumerate(row.tolist()):
            yield {
                **nodes.row(place),
                "x": round(WIDE * (number + 1) / (row.size + 1), 1),
                "y": STEP * (top - height) + STEP / 2,
                "passing": bool(passing[place]),
            }


def _tiles(nodes: _Nodes, chosen: Longs) -> Iterator[dict[str, Any]]:
    """How many nodes have a sum of levels and a loss, and how many of them are valid."""
    low, spread = float(nodes.loss.min()), float(np.ptp(nodes.loss)) or 1.0
    bins = np.minimum((BINS * (nodes.loss - low) / spread).astype(np.int64), BINS - 1)
    top = int(nodes.heights.max())
    key = nodes.heights * BINS + bins
    counts = np.bincount(key[chosen], minlength=(top + 1) * BINS)
    valid = np.bincount(key[chosen], nodes.valid[chosen], (top + 1) * BINS)
    wide, high = WIDE / (top + 1), 200.0 / BINS
    for place in np.flatnonzero(counts).tolist():
        height, level = divmod(place, BINS)
        share = float(valid[place] / counts[place])
        yield {
            "x": round(height * wide, 1),
            "y": round((BINS - 1 - level) * high, 1),
            "wide": round(wide - 1, 1),
            "high": round(high - 1, 1),
            "shade": min(int(SHADES * share), SHADES - 1),
            "height": height,
            "loss": low + spread * (level + 1) / BINS,
            "count": int(counts[place]),
            "valid": int(valid[place]),
        }
