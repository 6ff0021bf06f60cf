"""The shapes of figures that several studies draw: Vega-Lite dictionaries, without theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["bars", "dots", "lines", "panels"]

Row = Mapping[str, Any]


def lines(
    rows: Sequence[Row],
    x: str,
    y: str,
    series: str,
    *,
    titles: tuple[str, str],
    log_x: bool = False,
    order: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Lines with points, one per value of `series` (in the given order)."""
    scale = {"scale": {"type": "log", "nice": False}} if log_x else {}
    ticks = sorted({row[x] for row in rows})
    across = {"field": x, "type": "quantitative", "title": titles[0], "axis": {"values": ticks}}
    color = {"field": series, "type": "nominal", "title": None, "sort": list(order or ())}
    return {
        "data": {"values": [dict(row) for row in rows]},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {**across, **scale},
            "y": {"field": y, "type": "quantitative", "title": titles[1]},
            "color": color if order else {**color, "sort": None},
        },
    }


def bars(
    rows: Sequence[Row], x: str, y: str, series: str, *, titles: tuple[str, str]
) -> dict[str, Any]:
    """Grouped bars: one group per value of `x`, one bar per value of `series`."""
    return {
        "data": {"values": [dict(row) for row in rows]},
        "mark": "bar",
        "encoding": {
            "x": {"field": x, "type": "nominal", "title": titles[0], "sort": None},
            "xOffset": {"field": series, "sort": None},
            "y": {"field": y, "type": "quantitative", "title": titles[1]},
            "color": {"field": series, "type": "nominal", "title": None, "sort": None},
        },
    }


def dots(
    rows: Sequence[Row], x: str, y: str, series: str, *, title: str, log_x: bool = False
) -> dict[str, Any]:
    """Dots along lines, one line per value of `y`; a logarithmic axis leaves out what is 0."""
    scale = {"scale": {"type": "log"}} if log_x else {}
    return {
        "data": {"values": [dict(row) for row in rows if not log_x or row[x] > 0]},
        "mark": {"type": "point", "filled": True, "size": 60},
        "encoding": {
            "x": {"field": x, "type": "quantitative", "title": title, **scale},
            "y": {"field": y, "type": "nominal", "title": None, "sort": None},
            "color": {"field": series, "type": "nominal", "title": None, "sort": None},
        },
    }


def panels(named: Mapping[str, Mapping[str, Any]], columns: int = 2) -> dict[str, Any]:
    """Several charts side by side, each with its title."""
    parts = [{**spec, "title": title} for title, spec in named.items()]
    return {"concat": parts, "columns": columns, "resolve": {"scale": {"y": "independent"}}}
