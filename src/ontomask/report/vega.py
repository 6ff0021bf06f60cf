"""Charts as Vega-Lite dictionaries, for notebooks and other programs that draw them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ontomask.report.charts import (
    BAR,
    COLORS,
    GAP,
    LABEL_ROW,
    WIDTH,
    Axis,
    Chart,
    Columns,
    Dot,
    Dumbbells,
    Mark,
    Pairs,
    Scatter,
)

__all__ = ["vega_lite"]

Spec = dict[str, Any]


def vega_lite(chart: Chart) -> Spec:
    """A chart as a Vega-Lite dictionary that holds its data."""
    match chart:
        case Pairs():
            return {**_base(chart, chart.marks), "layer": _pairs(chart)}
        case Columns():
            return {**_base(chart, chart.marks), **_columns(chart)}
        case Dumbbells():
            return {**_base(chart, chart.marks), "layer": _dumbbells(chart)}
        case Scatter():
            return {**_base(chart, chart.dots), "layer": _scatter(chart)}


def _base(chart: Chart, shown: Sequence[Mark | Dot]) -> Spec:
    axis = {
        "labelColor": COLORS["muted"],
        "gridColor": COLORS["line"],
        "domainColor": COLORS["line"],
        "ticks": False,
        "title": None,
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": chart.width,
        "height": chart.height,
        "background": "transparent",
        "autosize": {"type": "fit", "contains": "padding"},
        "data": {"values": [{"row": row, **vars(one)} for row, one in enumerate(shown)]},
        "config": {
            "view": {"stroke": None},
            "text": {"fontSize": 12, "color": COLORS["ink"]},
            "axis": axis,
        },
    }


def _row(**more: Any) -> Spec:
    return {"field": "row", "type": "ordinal", "axis": None, "scale": {"padding": 0}, **more}


def _along(axis: Axis, **more: Any) -> Spec:
    scale = {"domain": [axis.low, axis.high], "range": [axis.start, axis.end]}
    return {"type": "quantitative", "scale": scale, "axis": None, **more}


def _labels() -> Spec:
    look = {"type": "text", "align": "left", "baseline": "top", "dy": 4, "limit": WIDTH}
    text = {"field": "label", "type": "nominal"}
    return {
        "mark": look,
        "encoding": {"y": _row(bandPosition=0), "x": {"value": 0}, "text": text},
    }


def _pairs(chart: Pairs) -> list[Spec]:
    sides = ["after"] if chart.alone else ["before", "after"]
    layers = [_labels()]
    for place, side in enumerate(sides):
        middle = LABEL_ROW + place * (BAR + GAP) + BAR / 2 - chart.row / 2
        layers += _bars(chart.axis, side, middle)
    if chart.line is not None:
        rule = {"type": "rule", "strokeDash": [3, 3], "color": COLORS["ink"]}
        layers.append({"mark": rule, "encoding": {"x": _along(chart.axis, datum=chart.line)}})
    return layers


def _bars(axis: Axis, side: str, middle: float) -> list[Spec]:
    """The bars of one side, so far below the middle of their rows, and the texts at their ends."""
    bar = {"type": "bar", "height": BAR, "yOffset": middle, "color": COLORS[side]}
    text = {"type": "text", "align": "left", "dx": 5, "dy": middle, "fontSize": 10.5}
    end = {"calculate": f"max(datum.{side}, 0)", "as": "end"}
    written = {"field": f"{side}_text", "type": "nominal"}
    return [
        {"mark": bar, "encoding": {"y": _row(), "x": _along(axis, field=side)}},
        {
            "transform": [end],
            "mark": {**text, "color": COLORS["muted"]},
            "encoding": {"y": _row(), "x": _along(axis, field="end"), "text": written},
        },
    ]


def _columns(chart: Columns) -> Spec:
    ticks = json.dumps([mark.label for mark in chart.marks])
    labels = {"labelExpr": f"{ticks}[datum.value]", "labelAngle": 0, "labelOverlap": "greedy"}
    high = {"values": list(chart.axis.ticks), "domain": False, "labelExpr": "datum.label + '%'"}
    domain = {"domain": [chart.axis.low, chart.axis.high]}
    colors = {"domain": ["before", "after"], "range": [COLORS["before"], COLORS["after"]]}
    side = {"field": "side", "type": "nominal"}
    return {
        "transform": [{"fold": ["before", "after"], "as": ["side", "share"]}],
        "mark": {"type": "bar"},
        "encoding": {
            "x": {"field": "row", "type": "ordinal", "axis": labels},
            "y": {"field": "share", "type": "quantitative", "scale": domain, "axis": high},
            "xOffset": {**side, "sort": ["before", "after"]},
            "color": {**side, "legend": None, "scale": colors},
        },
    }


def _dumbbells(chart: Dumbbells) -> list[Spec]:
    ticks = {"values": list(chart.axis.ticks), "domain": False, "orient": "bottom"}
    x = {**_along(chart.axis), "axis": ticks}
    link = {"type": "rule", "color": COLORS["muted"], "strokeWidth": 2, "yOffset": 9}
    between = {"y": _row(), "x": {**x, "field": "before"}, "x2": {"field": "after"}}
    looks: dict[str, Spec] = {
        "after": {"filled": True, "size": 70},
        "before": {"filled": False, "size": 90, "strokeWidth": 2.5},
    }
    points = [
        {
            "mark": {"type": "point", "opacity": 1, "yOffset": 9, "color": COLORS[side], **look},
            "encoding": {"y": _row(), "x": {**x, "field": side}},
        }
        for side, look in looks.items()
    ]
    return [_labels(), {"mark": link, "encoding": between}, *points]


def _scatter(chart: Scatter) -> list[Spec]:
    def measured(axis: Axis, field: str, title: str) -> Spec:
        ticks = {"values": list(axis.ticks), "title": title}
        scale = {"domain": [axis.low, axis.high]}
        return {"field": field, "type": "quantitative", "scale": scale, "axis": ticks}

    x, y = measured(chart.across, "x", chart.titles[0]), measured(chart.up, "y", chart.titles[1])
    colors = [color for name, color in COLORS.items() if name.startswith("series-")]
    series: Spec = {"field": "series", "type": "nominal", "sort": None, "title": None}
    both = {"x": x, "y": y, "order": {"field": "row"}}
    best = {"transform": [{"filter": "datum.best"}]}
    stair = {"type": "line", "interpolate": "step-after", "color": COLORS["muted"]}
    layers: list[Spec] = [
        {**best, "mark": stair, "encoding": {**both, "order": {"field": "x"}}},
        {
            "mark": {"type": "line", "opacity": 0.35},
            "encoding": {**both, "color": {**series, "scale": {"range": colors}}},
        },
        {
            "mark": {"type": "point", "size": 60},
            "encoding": {
                **both,
                "color": series,
                "shape": series,
                "fillOpacity": {"condition": {"test": "datum.best", "value": 1}, "value": 0},
                "fill": {**series, "legend": None, "scale": {"range": colors}},
                "tooltip": {"field": "told"},
            },
        },
    ]
    if chart.line is not None:
        rule = {"type": "rule", "strokeDash": [3, 3]}
        layers.append({"mark": rule, "encoding": {"y": {"datum": chart.line}}})
    return layers
