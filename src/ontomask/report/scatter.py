"""Dots over two axes drawn as SVG: series by color and shape, a stair along the best dots."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from ontomask.report.charts import COLORS, Dot, Scatter
from ontomask.report.svg import TICK_SIZE, colored, hint, line, lines, tag, texts, width, write

__all__ = ["scatter", "swatch"]

SERIES = tuple(name for name in COLORS if name.startswith("series-"))
SHAPES: tuple[tuple[float, tuple[tuple[float, float], ...]], ...] = (
    (4.2, ((-1, -1), (1, -1), (1, 1), (-1, 1))),
    (5.6, ((0, -1), (1, 0), (0, 1), (-1, 0))),
    (5.2, ((0, -1), (1, 0.8), (-1, 0.8))),
    (5.2, ((0, 1), (1, -0.8), (-1, -0.8))),
)
"""Corners of the shapes of series, with their size; the first series has disks."""
RADIUS = 4.8
LABELED = 80
"""How many dots get their label at most."""

SIDES = ((-8, 4, "end"), (0, 17, "middle"), (0, -9, "middle"), (8, 4, "start"))
"""Where labels of the best dots are tried in turn, away from the stair; those of others back."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


def swatch(place: int) -> str:
    """The color and shape of a series, by its place, for a legend."""
    color = SERIES[place % len(SERIES)]
    shape = colored(color, [_symbol(place, 8.0, 8.0)], fill="currentColor", stroke="currentColor")
    return tag("svg", shape, viewBox="0 0 16 16", width=16.0, height=16.0, aria_hidden="true")


def _symbol(place: int, x: float, y: float, /, *inside: str, **look: str | float) -> str:
    """The shape of a series, by its place, around a point."""
    if not place % (len(SHAPES) + 1):
        return tag("circle", *inside, cx=x, cy=y, r=RADIUS, **look)
    size, corners = SHAPES[place % (len(SHAPES) + 1) - 1]
    points = " ".join(f"{x + size * dx:.1f},{y + size * dy:.1f}" for dx, dy in corners)
    return tag("polygon", *inside, points=points, **look)


def scatter(chart: Scatter) -> Iterator[str]:
    """The parts of a drawing, those in the background first."""
    yield from _axes(chart)
    if chart.line is not None:
        y = chart.up.place(chart.line)
        dashed = line(chart.across.start, y, chart.across.end, y)
        yield lines("ink", [dashed], stroke_dasharray="3 3")
    yield _stair(chart)
    for place, name in enumerate(chart.series):
        yield _series(chart, place, [dot for dot in chart.dots if dot.series == name])
    labels = list(_labels(chart))
    for color, best in (("muted", False), ("ink", True)):
        for anchor in ("start", "end", "middle"):
            chosen = (text for text, where, good in labels if (where, good) == (anchor, best))
            yield texts(color, TICK_SIZE, anchor, chosen)


def _axes(chart: Scatter) -> Iterator[str]:
    across, up = chart.across, chart.up
    columns = [(across.place(tick), f"{tick:g}") for tick in across.ticks]
    rows = [(up.place(tick), f"{tick:g}") for tick in up.ticks]
    grid = [line(across.start, y, across.end, y) for y, _ in rows]
    grid += [line(x, up.start, x, up.end) for x, _ in columns]
    yield lines("line", grid)
    numbers = (write(text, across.start - 6, y + 4) for y, text in rows)
    yield texts("muted", TICK_SIZE, "end", numbers)
    below = (write(text, x, up.start + 16) for x, text in columns)
    yield texts("muted", TICK_SIZE, "middle", below)
    title = write(chart.titles[0], across.end, up.start + 36)
    yield texts("ink", TICK_SIZE, "end", [title])
    yield texts("ink", TICK_SIZE, "start", [write(chart.titles[1], 0, 12)])


def _stair(chart: Scatter) -> str:
    """Along the best dots: what lies above and to the right of it is beaten by one of them."""
    places = [_place(chart, dot) for dot in chart.frontier]
    if not places:
        return ""
    corners = [places[0]]
    for (_, y), (next_x, next_y) in itertools.pairwise(places):
        corners += [(next_x, y), (next_x, next_y)]
    path = [(places[0][0], chart.up.end), *corners, (chart.across.end, places[-1][1])]
    return lines("muted", [_joined(path)], fill="none", stroke_width=1.5, stroke_opacity="0.7")


def _joined(places: Iterable[tuple[float, float]]) -> str:
    return tag("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places))


def _series(chart: Scatter, place: int, dots: list[Dot]) -> str:
    """Dots of one series: the best are full, the others hollow."""
    color = SERIES[place % len(SERIES)]
    joined = _joined(_place(chart, dot) for dot in dots)
    parts = [tag("g", joined, fill="none", stroke_opacity="0.35")] if len(dots) > 1 else []
    for dot in dots:
        look = {"fill": "currentColor"} if dot.best else {"class_": "hollow", "fill": "#ffffff"}
        parts.append(_symbol(place, *_place(chart, dot), hint(dot.told), **look))
    return colored(color, parts, stroke="currentColor", stroke_width=1.5)


def _place(chart: Scatter, dot: Dot) -> tuple[float, float]:
    return chart.across.place(dot.x), chart.up.place(dot.y)


# Labels ---------------------------------------------------------------------------------------


def _labels(chart: Scatter) -> Iterator[tuple[str, str, bool]]:
    """Labels where there is room for them, with their anchor and whether their dot is best."""
    taken = [_around(*_place(chart, dot)) for dot in chart.dots]
    for dot in _by_importance(chart)[:LABELED]:
        wide = width(dot.label, TICK_SIZE)
        x, y = _place(chart, dot)
        for left, down, anchor in SIDES if dot.best else SIDES[::-1]:
            box = _box(x + left, y + down, wide, anchor)
            if _inside(box, chart) and not any(_touch(box, other) for other in taken):
                taken.append(box)
                yield write(dot.label, x + left, y + down), anchor, dot.best
                break


def _by_importance(chart: Scatter) -> list[Dot]:
    """The best dots, then the first and last of each series, then all others."""
    ends = set()
    for name in chart.series:
        dots = [dot for dot in chart.dots if dot.series == name]
        ends |= {dots[0], dots[-1]}
    labeled = [dot for dot in chart.dots if dot.label]
    return sorted(labeled, key=lambda dot: (not dot.best, dot not in ends))


def _around(x: float, y: float) -> Box:
    return (x - 5, y - 5, x + 5, y + 5)


def _box(x: float, y: float, wide: float, anchor: str) -> Box:
    left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
    return (left, y - 9, left + wide, y + 2)


def _inside(box: Box, chart: Scatter) -> bool:
    return chart.across.start <= box[0] and box[2] <= chart.width and box[3] <= chart.up.start


def _touch(one: Box, two: Box) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]
