"""Charts drawn as SVG for the inside of an HTML page: no script, no request, no engine.

Places come from the numbers of a chart, which are as exact as its report may be, and are rounded to
a tenth of a pixel; so a drawing tells no more than its texts. A class of the page gives each part
its color (`currentColor`); without a page the colors are those of white paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ontomask.report.charts import (
    BAR,
    DUMBBELL_ROW,
    GAP,
    LABEL_ROW,
    TICK_ROW,
    WIDTH,
    Axis,
    Chart,
    Columns,
    Dumbbells,
    Mark,
    Pairs,
    Scatter,
)
from ontomask.report.scatter import scatter
from ontomask.report.svg import (
    LABEL_SIZE,
    TICK_SIZE,
    VALUE_SIZE,
    bar,
    escaped,
    filled,
    hint,
    label,
    legible,
    line,
    lines,
    shortened,
    tag,
    texts,
    width,
    write,
)

__all__ = ["draw"]

PADDING = 6.0
"""Pixels between a text and what it belongs to."""
WIDEST = 26.0
"""Pixels of the widest column: few columns are not to become blocks."""
NAME = 56.0
"""Pixels that the name of a column may always take; others then go without."""
BETWEEN = 0.22
"""The share of a group of columns that is left free."""


def draw(chart: Chart, name: str, title: str, description: str) -> str:
    """Draw a chart as an `svg` element.

    Parameters
    ----------
    chart
        What is to be seen.
    name
        A prefix for ids, unique in the page.
    title, description
        What a screen reader says instead of the picture.
    """
    return tag(
        "svg",
        tag("title", escaped(title), id=f"{name}-title"),
        tag("desc", escaped(description), id=f"{name}-text"),
        *_parts(chart),
        viewBox=f"0 0 {chart.width} {chart.height}",
        role="img",
        aria_labelledby=f"{name}-title {name}-text",
    )


def _parts(chart: Chart) -> Iterator[str]:
    match chart:
        case Pairs():
            return _pairs(chart)
        case Columns():
            return _columns(chart)
        case Dumbbells():
            return _dumbbells(chart)
        case Scatter():
            return scatter(chart)


# Pairs of bars with their label above ---------------------------------------------------------


def _pairs(chart: Pairs) -> Iterator[str]:
    tops = [chart.row * place for place in range(len(chart.marks))]
    rows = list(zip(chart.marks, tops, strict=True))
    zero = chart.axis.place(0.0)
    foot = chart.row - LABEL_ROW - 5
    yield lines(
        "line", (line(zero, top + LABEL_ROW - 1, zero, top + LABEL_ROW + foot) for top in tops)
    )
    sides = ("after",) if chart.alone else ("before", "after")
    for place, side in enumerate(sides):
        down = LABEL_ROW + place * (BAR + GAP)
        numbers = [(_number(mark, side), top + down) for mark, top in rows]
        yield filled(side, (_across(chart.axis, number, y) for number, y in numbers))
    if chart.line is not None:
        x = chart.axis.place(chart.line)
        dashed = line(x, LABEL_ROW - 4, x, chart.height)
        yield lines("ink", [dashed], stroke_dasharray="3 3")
    yield texts("ink", LABEL_SIZE, "start", (label(mark.label, 0, top + 14) for mark, top in rows))
    yield texts("muted", VALUE_SIZE, "start", _values(chart, sides))


def _values(chart: Pairs, sides: Iterable[str]) -> Iterator[str]:
    """The texts at the ends of bars."""
    for place, mark in enumerate(chart.marks):
        for below, side in enumerate(sides):
            y = chart.row * place + LABEL_ROW + below * (BAR + GAP) + BAR - 1
            end = chart.axis.place(max(_number(mark, side) or 0.0, 0.0))
            yield write(getattr(mark, f"{side}_text"), end + PADDING - 1, y)


def _number(mark: Mark, side: str) -> float | None:
    return mark.before if side == "before" else mark.after


def _across(axis: Axis, number: float | None, y: float) -> str:
    if number is None:
        return ""
    start, end = sorted((axis.place(0.0), axis.place(number)))
    return bar(start, y, end - start, BAR)


# Columns over an axis -------------------------------------------------------------------------


def _columns(chart: Columns) -> Iterator[str]:
    axis = chart.axis
    ticks = [f"{tick:g}%" for tick in axis.ticks]
    left = max(width(tick, TICK_SIZE) for tick in ticks) + PADDING
    heights = [axis.place(tick) for tick in axis.ticks]
    yield lines("line", (line(left, y, WIDTH, y) for y in heights))
    yield texts(
        "muted",
        TICK_SIZE,
        "end",
        (write(tick, left - PADDING, y + 4) for tick, y in zip(ticks, heights, strict=True)),
    )
    band = (WIDTH - left) / max(len(chart.marks), 1)
    middles = [left + band * (place + 0.5) for place in range(len(chart.marks))]
    wide = min(band * (1.0 - BETWEEN) / 2.0, WIDEST)
    sides = (("after", -wide / 2.0),) if chart.alone else (("before", -wide), ("after", 0.0))
    for side, shift in sides:
        yield filled(
            side,
            (
                _upright(axis, _number(mark, side), middle + shift, wide)
                for mark, middle in zip(chart.marks, middles, strict=True)
            ),
        )
    yield texts("muted", TICK_SIZE, "middle", _names(chart, middles, band))
    yield from _hints(chart, middles, band)


def _upright(axis: Axis, number: float | None, x: float, wide: float) -> str:
    if number is None:
        return ""
    top, foot = sorted((axis.place(0.0), axis.place(number)))
    return bar(x, top, wide, foot - top)


def _names(chart: Columns, middles: list[float], band: float) -> Iterator[str]:
    """The names of groups below them, leaving out those that would touch the one before."""
    free = 0.0
    for mark, middle in zip(chart.marks, middles, strict=True):
        name = shortened(legible(mark.label), max(band - PADDING / 2, NAME), TICK_SIZE)
        half = width(name, TICK_SIZE) / 2.0
        if middle - half >= free and middle + half <= WIDTH + PADDING:
            yield write(name, middle, chart.height - 7)
            free = middle + half + PADDING / 2


def _hints(chart: Columns, middles: list[float], band: float) -> Iterator[str]:
    """What a group says when it is pointed at, over its whole height."""
    areas = []
    for mark, middle in zip(chart.marks, middles, strict=True):
        told = hint(_said(mark, "%"))
        area = {"x": middle - band / 2, "y": 0.0, "width": band, "height": float(chart.height)}
        areas.append(tag("rect", told, **area))
    yield tag("g", *areas, fill_opacity=0.0) if areas else ""


def _said(mark: Mark, unit: str) -> str:
    sides = {"before": mark.before_text, "after": mark.after_text}
    told = [
        f"{side} {text or f'{number:g}{unit}'}"
        for side, text in sides.items()
        if (number := _number(mark, side)) is not None or text
    ]
    return f"{mark.label}: {', '.join(told)}" if told else mark.label


# Dumbbells ------------------------------------------------------------------------------------


def _dumbbells(chart: Dumbbells) -> Iterator[str]:
    axis, foot = chart.axis, chart.height - TICK_ROW
    rows = [(mark, DUMBBELL_ROW * place) for place, mark in enumerate(chart.marks)]
    grid = [(axis.place(tick), f"{tick:g}".replace("-", "\N{MINUS SIGN}")) for tick in axis.ticks]
    yield lines("line", (line(x, 0, x, foot) for x, _ in grid))
    yield texts("muted", TICK_SIZE, "middle", (write(tick, x, foot + 16) for x, tick in grid))
    yield texts("ink", LABEL_SIZE, "start", (label(mark.label, 0, top + 14) for mark, top in rows))
    for mark, top in rows:
        yield tag("g", hint(_said(mark, "")), *_dumbbell(axis, mark, top + 29.0))


def _dumbbell(axis: Axis, mark: Mark, y: float) -> Iterator[str]:
    before, after = (None if one is None else axis.place(one) for one in (mark.before, mark.after))
    if before is not None and after is not None:
        link = [line(before, y, after, y)]
        yield lines("muted", link, stroke_width=2)
    if after is not None:
        yield filled("after", [tag("circle", cx=after, cy=y, r=4.7)])
    if before is not None:
        ring = [tag("circle", cx=before, cy=y, r=5.4)]
        yield lines("before", ring, fill="none", stroke_width=2.5)
