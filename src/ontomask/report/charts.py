"""Charts as data: pure functions from figures to Vega-Lite dictionaries; nothing is drawn here.

All charts are of one width, that of a phone, so that they are legible there and stand side by side
on a desk. Before and after have the same two colors everywhere, told apart also without color: they
differ in lightness and in order.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["AFTER", "BEFORE", "Mark", "columns_chart", "dumbbell_chart", "pairs_chart"]

BEFORE, AFTER = "#d08a2e", "#1f5a96"
INK, MUTED, GRID = "#1d2733", "#5b6775", "#dfe4ea"
WIDTH = 340
LABEL = 300
"""Pixels for a label; less than the width, since the reader's font may be a wider one."""
FONT = "Helvetica, Arial, sans-serif"

Spec = dict[str, Any]


@dataclass(frozen=True)
class Mark:
    """One group of a chart: two numbers with the texts that stand beside them."""

    label: str
    before: float | None
    after: float | None
    before_text: str = ""
    after_text: str = ""


def _base(marks: Sequence[Mark], height: int) -> Spec:
    values = [
        {
            "row": row,
            "label": mark.label,
            "before": mark.before,
            "after": mark.after,
            "before_text": mark.before_text,
            "after_text": mark.after_text,
        }
        for row, mark in enumerate(marks)
    ]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": WIDTH,
        "height": height,
        "padding": 0,
        "background": None,
        "autosize": {"type": "fit", "contains": "padding"},
        "data": {"values": values},
        "config": {
            "aria": False,
            "font": FONT,
            "view": {"stroke": None},
            "text": {"fontSize": 12, "color": INK},
            "axis": {
                "labelFontSize": 11,
                "labelColor": MUTED,
                "gridColor": GRID,
                "domainColor": GRID,
                "ticks": False,
                "labelPadding": 6,
                "title": None,
            },
        },
    }


# Pairs of bars with their label above ---------------------------------------------------------

ROW = 46
ROOM = 58
"""Pixels to the right of the longest bar, for its text."""


def pairs_chart(
    marks: Sequence[Mark], highest: float | None = None, line: float | None = None
) -> Spec:
    """Two horizontal bars per row, before above after; of a number that is None only the text.

    `line` draws a dashed vertical line, such as a baseline.
    """
    numbers = [one for mark in marks for one in (mark.before, mark.after) if one is not None]
    top = highest or max([*numbers, 1e-9])
    scale = {"domain": [0, top], "range": [0, WIDTH - ROOM]}
    layers = [] if line is None else [_line_layer(line, scale)]
    layers += [_label_layer()]
    layers += [*_bar_layers("before", scale, marks), *_bar_layers("after", scale, marks)]
    return {**_base(marks, ROW * len(marks)), "layer": layers}


def _row(**more: Any) -> Spec:
    return {"field": "row", "type": "ordinal", "axis": None, **more}


def _label_layer() -> Spec:
    return {
        "mark": {"type": "text", "align": "left", "baseline": "top", "dy": 7, "limit": LABEL},
        "encoding": {
            "y": _row(bandPosition=0, scale={"padding": 0}),
            "x": {"value": 0},
            "text": {"field": "label", "type": "nominal"},
        },
    }


def _bar_layers(side: str, scale: Spec, marks: Sequence[Mark]) -> list[Spec]:
    """The bars of one side and the texts at their ends; none if the side has neither."""
    if not any(getattr(mark, side) is not None or getattr(mark, f"{side}_text") for mark in marks):
        return []
    alone = not any(mark.before is not None or mark.before_text for mark in marks)
    shift, color = (14, AFTER) if side == "after" and not alone else (4, AFTER if alone else BEFORE)
    x = {"field": side, "type": "quantitative", "scale": scale, "axis": None}
    end = {**x, "field": "end"}
    return [
        {
            "mark": {"type": "bar", "height": 8, "yOffset": shift, "color": color},
            "encoding": {"y": _row(), "x": x},
        },
        {
            "transform": [{"calculate": f"datum.{side} === null ? 0 : datum.{side}", "as": "end"}],
            "mark": {
                "type": "text",
                "align": "left",
                "baseline": "middle",
                "dx": 5,
                "dy": shift + 0.5,
                "fontSize": 10.5,
                "color": MUTED,
            },
            "encoding": {
                "y": _row(),
                "x": end,
                "text": {"field": f"{side}_text", "type": "nominal"},
            },
        },
    ]


def _line_layer(value: float, scale: Spec) -> Spec:
    return {
        "data": {"values": [{"value": value}]},
        "mark": {"type": "rule", "strokeDash": [3, 3], "color": INK},
        "encoding": {"x": {"field": "value", "type": "quantitative", "scale": scale, "axis": None}},
    }


# Columns over an axis -------------------------------------------------------------------------

COLUMNS_HEIGHT = 190


def columns_chart(marks: Sequence[Mark]) -> Spec:
    """Two columns per interval, before left of after, over a percentage axis."""
    ticks = json.dumps([mark.label for mark in marks])
    x = {
        "field": "row",
        "type": "ordinal",
        "scale": {"paddingInner": 0.22, "paddingOuter": 0.08},
        "axis": {
            "labelExpr": f"{ticks}[datum.value]",
            "labelAngle": 0,
            "labelOverlap": "greedy",
            "labelSeparation": 3,
        },
    }
    y = {
        "field": "share",
        "type": "quantitative",
        "axis": {"tickCount": 4, "domain": False, "labelExpr": "datum.label + '%'"},
    }
    offset = {"field": "side", "type": "nominal", "sort": ["before", "after"]}
    color = {
        "field": "side",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": ["before", "after"], "range": [BEFORE, AFTER]},
    }
    return {
        **_base(marks, COLUMNS_HEIGHT),
        "transform": [{"fold": ["before", "after"], "as": ["side", "share"]}],
        "mark": {"type": "bar"},
        "encoding": {"x": x, "y": y, "xOffset": offset, "color": color},
    }


# Dumbbells ------------------------------------------------------------------------------------

DUMBBELL_ROW = 42


def dumbbell_chart(marks: Sequence[Mark]) -> Spec:
    """Two points per row on an axis from -1 (or 0) to 1: before a ring, after a disk."""
    lowest = -1 if any((one or 0) < 0 for mark in marks for one in (mark.before, mark.after)) else 0
    axis = {"values": [-1, -0.5, 0, 0.5, 1], "domain": False, "orient": "bottom"}
    scale = {"domain": [lowest, 1], "range": [7, WIDTH - 7]}
    x = {"field": "before", "type": "quantitative", "scale": scale, "axis": axis}
    layers = [
        _label_layer(),
        {
            "mark": {"type": "rule", "color": MUTED, "strokeWidth": 2, "yOffset": 9},
            "encoding": {"y": _row(), "x": x, "x2": {"field": "after"}},
        },
        _point("after", x, {"filled": True, "color": AFTER, "size": 70}),
        _point("before", x, {"filled": False, "color": BEFORE, "size": 90, "strokeWidth": 2.5}),
    ]
    return {**_base(marks, DUMBBELL_ROW * len(marks) + 24), "layer": layers}


def _point(side: str, x: Spec, look: Spec) -> Spec:
    return {
        "mark": {"type": "point", "opacity": 1, "yOffset": 9, **look},
        "encoding": {"y": _row(), "x": {**x, "field": side}},
    }
