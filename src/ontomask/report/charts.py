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
    "Dumbbells",
    "Mark",
    "Pairs",
    "columns_chart",
    "dumbbell_chart",
    "pairs_chart",
]

COLORS = {
    "before": "#c27c1e",
    "after": "#1f5a96",
    "ink": "#1d2733",
    "muted": "#5b6775",
    "line": "#dfe4ea",
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

    @property
    def alone(self) -> bool:
        """Whether there is only one side to be shown."""
        return not any(mark.before is not None or mark.before_text for mark in self.marks)

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
    """Two columns per interval, before left of after, over a percentage axis."""

    marks: tuple[Mark, ...]
    axis: Axis
    height: int = 200


@dataclass(frozen=True)
class Dumbbells:
    """Two points per row on one axis: before a ring, after a disk."""

    marks: tuple[Mark, ...]
    axis: Axis

    @property
    def height(self) -> int:
        """The height of the chart."""
        return DUMBBELL_ROW * len(self.marks) + TICK_ROW


Chart = Pairs | Columns | Dumbbells

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


def _known(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Marks without numbers that have no place on an axis."""
    return tuple(
        replace(mark, before=_finite(mark.before), after=_finite(mark.after)) for mark in marks
    )


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def _numbers(marks: Sequence[Mark]) -> list[float]:
    return [one for mark in marks for one in (mark.before, mark.after) if one is not None]
