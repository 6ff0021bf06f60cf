"""Charts as data: what is to be seen and where, as small typed descriptions; nothing is drawn here.

From one description `drawing` makes the SVG of the report and `vega` a Vega-Lite dictionary for
notebooks. All charts of a report are of one width, that of a phone, so that they are legible there
and stand side by side on a desk. Before and after have the same two colors everywhere, told apart
also without color: they differ in lightness and in order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ontomask.report.scales import round_steps

__all__ = [
    "COLORS",
    "WIDTH",
    "Axis",
    "Chart",
    "Columns",
    "Dot",
    "Dumbbells",
    "Mark",
    "Pairs",
    "Scatter",
    "columns_chart",
    "dumbbell_chart",
    "pairs_chart",
    "scatter_chart",
]

COLORS = {
    "before": "#c27c1e",
    "after": "#1f5a96",
    "ink": "#1d2733",
    "muted": "#5b6775",
    "line": "#dfe4ea",
    "series-1": "#1f5a96",
    "series-2": "#c27c1e",
    "series-3": "#1a7f5a",
    "series-4": "#a23b72",
    "series-5": "#6b4fa0",
    "series-6": "#5b6775",
}
"""What a color is for, and its value on white paper; a page may give it another."""
WIDTH = 340


@dataclass(frozen=True)
class Mark:
    """One group of a chart: two numbers with the texts that stand beside them."""

    label: str
    before: float | None
    after: float | None
    before_text: str = ""
    after_text: str = ""


@dataclass(frozen=True)
class Axis:
    """Numbers from `low` to `high` laid out between two places, with the numbers to be written."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...] = ()

    def place(self, number: float) -> float:
        """Where a number is drawn."""
        share = (number - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


@dataclass(frozen=True)
class Pairs:
    """Rows of a label above two bars, before above after, with a text at the end of each.

    Of a number that is None only the text is shown. `line` is a dashed line, such as a baseline.
    """

    marks: tuple[Mark, ...]
    axis: Axis
    line: float | None = None
    width: int = WIDTH

    @property
    def alone(self) -> bool:
        """Whether there is only one side to be shown."""
        return _is_alone(self.marks)

    @property
    def row(self) -> int:
        """The height of a row."""
        return LABEL_ROW + (BAR + GAP) * (1 if self.alone else 2) + SPACE

    @property
    def height(self) -> int:
        """The height of the chart."""
        return self.row * len(self.marks)


@dataclass(frozen=True)
class Columns:
    """Two columns per interval, before left of after, or one, over a percentage axis."""

    marks: tuple[Mark, ...]
    axis: Axis
    width: int = WIDTH
    height: int = 200

    @property
    def alone(self) -> bool:
        """Whether there is only one side to be shown."""
        return _is_alone(self.marks)


@dataclass(frozen=True)
class Dumbbells:
    """Two points per row on one axis: before a ring, after a disk."""

    marks: tuple[Mark, ...]
    axis: Axis
    width: int = WIDTH

    @property
    def height(self) -> int:
        """The height of the chart."""
        return DUMBBELL_ROW * len(self.marks) + TICK_ROW


@dataclass(frozen=True)
class Dot:
    """One thing of two numbers.

    Attributes
    ----------
    series
        What it belongs to; the dots of a series have one color and shape.
    label
        What stands beside it.
    told
        What it says when it is pointed at.
    best
        Whether no other dot has less of both numbers.
    """

    series: str
    label: str
    told: str
    x: float
    y: float
    best: bool = False


@dataclass(frozen=True)
class Scatter:
    """Dots over two axes, those of a series joined, and a stair along the best of them.

    Attributes
    ----------
    titles
        What the axes measure, across and up.
    line
        A number of the upright axis that is not to be exceeded.
    """

    dots: tuple[Dot, ...]
    across: Axis
    up: Axis
    titles: tuple[str, str]
    width: int
    height: int
    line: float | None = None

    @property
    def series(self) -> tuple[str, ...]:
        """The names of the series in the order in which they come."""
        return tuple(dict.fromkeys(dot.series for dot in self.dots))

    @property
    def frontier(self) -> tuple[Dot, ...]:
        """The best dots from left to right."""
        return tuple(sorted((dot for dot in self.dots if dot.best), key=lambda dot: (dot.x, dot.y)))


Chart = Pairs | Columns | Dumbbells | Scatter

LABEL_ROW, BAR, GAP, SPACE = 20, 9, 3, 5
"""Pixels of a row of bars: its label, each bar, what is between bars and between rows."""
ROOM = 58
"""Pixels to the right of the longest bar, for its text."""
DUMBBELL_ROW, TICK_ROW = 42, 24
POINT = 7
"""Pixels beside the ends of an axis, so that points there are whole."""


def pairs_chart(
    marks: Sequence[Mark], highest: float | None = None, line: float | None = None
) -> Pairs:
    """Compare by bars; `highest` is the number of the longest bar that may be."""
    known = _known(marks)
    top = highest or max(1e-9, *_numbers(known), 0.0)
    return Pairs(known, Axis(min(0.0, *_numbers(known), 0.0), top, 0, WIDTH - ROOM), line)


def columns_chart(marks: Sequence[Mark]) -> Columns:
    """Compare the shares of intervals, in percent."""
    known = _known(marks)
    numbers = (0.0, *_numbers(known))
    ticks = round_steps(min(numbers), max(numbers), 5, whole=True)
    height = Columns.height
    return Columns(known, Axis(ticks[0], ticks[-1], height - TICK_ROW, TOP, ticks))


TOP = 8
"""Pixels above the highest column, for half of the number beside it."""


def dumbbell_chart(marks: Sequence[Mark]) -> Dumbbells:
    """Compare numbers between -1 (or 0) and 1."""
    known = _known(marks)
    ticks = (-1.0, -0.5, 0.0, 0.5, 1.0) if min((0.0, *_numbers(known))) < 0 else (0.0, 0.5, 1.0)
    return Dumbbells(known, Axis(ticks[0], ticks[-1], POINT, WIDTH - POINT, ticks))


SIZES = {False: (WIDTH, 360), True: (720, 440)}
"""Width and height of dots on a phone and on a desk."""
LEFT, RIGHT, ABOVE, BELOW = 42, 14, 34, 44
"""Pixels around the area of dots, for numbers and titles of its axes."""


def scatter_chart(
    dots: Sequence[Dot],
    titles: tuple[str, str],
    *,
    line: float | None = None,
    wide: bool = False,
) -> Scatter:
    """Compare things by two numbers of which less is better; `wide` is for a desk."""
    width, height = SIZES[wide]
    across = round_steps(0.0, max((0.0, *(dot.x for dot in dots))), 8 if wide else 4)
    up = round_steps(0.0, max((0.0, line or 0.0, *(dot.y for dot in dots))), 5)
    return Scatter(
        tuple(dots),
        Axis(across[0], across[-1], LEFT, width - RIGHT, across),
        Axis(up[0], up[-1], height - BELOW, ABOVE, up),
        titles,
        width,
        height,
        line,
    )


def _known(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Marks without numbers that have no place on an axis."""
    return tuple(
        replace(mark, before=_finite(mark.before), after=_finite(mark.after)) for mark in marks
    )


def _is_alone(marks: Sequence[Mark]) -> bool:
    return not any(mark.before is not None or mark.before_text for mark in marks)


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _numbers(marks: Sequence[Mark]) -> list[float]:
    return [one for mark in marks for one in (mark.before, mark.after) if one is not None]
