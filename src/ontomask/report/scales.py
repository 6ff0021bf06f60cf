"""Edges of histograms that a person would choose: round numbers, starts of months or years.

An edge is never a value of the table. The first and the last interval are open (less than 20, 90 or
more), so neither the smallest nor the largest value shows.
"""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.report.words import compact

__all__ = ["Scale", "date_scale", "even_scale", "merge_rare", "number_scale", "round_steps"]

WANTED = (10, 7, 5, 4, 3)
"""About how many intervals a histogram has, and what is tried next where some would be rare."""
FEW = 3
"""So few intervals at least are worth being even."""
TAIL = 0.02
"""The share of records that may lie beyond the first and the last edge."""
SKEWED = 20
"""Numbers whose bulk spans more than this factor get edges that grow."""
CROWDED = 0.2
"""But only if half of them lie in so small a part of the span; else even intervals show more."""
DECADES = 5
"""Over more powers of ten than this, edges are powers of ten only."""
HARDLY = 1e-8
"""Numbers whose bulk spans less than this share of their size are as good as equal."""
MONTHS = (1, 3, 12, 60, 120, 600, 1200, 6000, 12000)
"""Widths of intervals of dates; the widest ones are for tables with 9999-12-31 for no end."""
FINEST = (1, 7)


@dataclass(frozen=True)
class Scale:
    """Inner edges of a histogram, ascending, with what to call them.

    Attributes
    ----------
    starts
        Each edge as the first value of the interval above it.
    stops
        Each edge as the last value of the interval below it.
    ticks
        Each edge in a few letters, for an axis.
    """

    edges: tuple[float, ...]
    starts: tuple[str, ...]
    stops: tuple[str, ...]
    ticks: tuple[str, ...]
    is_date: bool = False

    def __len__(self) -> int:
        return len(self.edges) + 1

    def places(self, numbers: Floats) -> Longs:
        """The interval of each number."""
        return np.searchsorted(np.array(self.edges), numbers, side="right").astype(np.int64)

    def kept(self, keep: Bools) -> Scale:
        """The scale without some of its edges: neighbors become one interval."""
        chosen = np.flatnonzero(keep).tolist()
        parts = (self.edges, self.starts, self.stops, self.ticks)
        edges, starts, stops, ticks = (tuple(part[one] for one in chosen) for part in parts)
        return Scale(edges, starts, stops, ticks, self.is_date)  # type: ignore[arg-type]

    def label(self, place: int) -> str:
        """What an interval holds."""
        if not self.edges:
            return "all values"
        if place == 0:
            return f"{'before' if self.is_date else 'less than'} {self.starts[0]}"
        if place == len(self.edges):
            return f"{self.starts[-1]} or {'later' if self.is_date else 'more'}"
        start, stop = self.starts[place - 1], self.stops[place]
        return start if start == stop else f"{start} to {stop}"

    def tick(self, place: int) -> str:
        """What an interval holds, in a few letters."""
        if not self.edges:
            return "all"
        if place == 0:
            return f"<{self.ticks[0]}"
        return f"{self.ticks[place - 1]}{'+' if place == len(self.edges) else ''}"


def number_scale(numbers: Floats, least: int, wanted: int = WANTED[0]) -> Scale:
    """Round edges for numbers; beyond each end lie at least `least` of them."""
    low, high = _range(numbers, least)
    whole = int(np.count_nonzero(numbers != np.rint(numbers))) < least  # few may not be told
    crowded = float(np.median(numbers)) - low < CROWDED * (high - low)
    growing = crowded and low > 0 and high / low > SKEWED
    edges = _growing_edges(low, high, fine=wanted == WANTED[0]) if growing else []
    edges = edges or _equal_edges(low, high, whole, wanted)
    names = tuple(f"{edge:,.10g}" for edge in edges)
    stops = (f"{edge - 1:,.10g}" if whole else f"below {edge:,.10g}" for edge in edges)
    return Scale(tuple(edges), names, tuple(stops), tuple(compact(edge) for edge in edges))


def _equal_edges(low: float, high: float, whole: bool, wanted: int) -> list[float]:
    """Multiples of a round number; none where the numbers hardly differ."""
    width = high / wanted - low / wanted  # the whole span may be more than a float holds
    if width <= max(HARDLY / wanted * max(abs(low), abs(high)), sys.float_info.min):
        return []
    factor, size = _nice_step(width, whole)
    step = _decimal(factor, size)
    places = range(math.floor(low / step), math.floor(high / step) + 2)
    edges = [_decimal(place * factor, size) for place in places]
    return [edge for edge in edges if low < edge <= high]


def _growing_edges(low: float, high: float, *, fine: bool) -> list[float]:
    """1, 2, 5, 10, 20, … or 1, 10, 100, …: for numbers of very different sizes."""
    sizes = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if fine and len(sizes) <= DECADES else (1,)
    apart = -(-len(sizes) // (3 * DECADES))
    edges = [_decimal(factor, size) for size in sizes[::apart] for factor in factors]
    return [edge for edge in edges if low < edge <= high]


def _decimal(factor: int, size: int) -> float:
    """The number that is written so; a product with a power of ten would not always be."""
    return float(f"{factor}e{size}")


def _range(numbers: Floats, least: int) -> tuple[float, float]:
    """Where the bulk lies; where that is a single number, where all but the last few lie."""
    ordered = np.sort(numbers)
    for beyond in (max(least, round(TAIL * ordered.size)), least):
        if 2 * beyond > ordered.size:
            continue
        low, high = float(ordered[beyond - 1]), float(ordered[-beyond])
        if low < high:
            return low, high
    return float(ordered[ordered.size // 2]), float(ordered[ordered.size // 2])


def _nice_step(width: float, whole: bool) -> tuple[int, int]:
    """The least of 1, 2, 5, 10, 20, … that is at least `width`, as factor and power of ten."""
    if whole and width <= 1:
        return 1, 0
    size = math.floor(math.log10(width))
    unit = _decimal(1, size)
    return next((factor, size) for factor in (1, 2, 5, 10, 20) if factor * unit >= width * 0.999)


def round_steps(low: float, high: float, most: int, *, whole: bool = False) -> tuple[float, ...]:
    """Multiples of a round number from at most `low` to at least `high`, in about `most` steps."""
    factor, size = _nice_step((high - low) / most or 1.0, whole)
    step = _decimal(factor, size)
    # a quotient that is whole but for the last bits is whole
    first, last = math.floor(round(low / step, 6)), math.ceil(round(high / step, 6))
    places = range(first, max(last, first + 1) + 1)
    return tuple(_decimal(place * factor, size) for place in places)


def date_scale(days: Floats, least: int, wanted: int = WANTED[0]) -> Scale:
    """Edges at starts of days, weeks, months, quarters or years, for day numbers."""
    low, high = _range(days, least)
    for step in FINEST:
        if (high - low) / step <= wanted:
            return _day_scale(low, high, step)
    months = next((one for one in MONTHS if (high - low) / (30.4 * one) <= wanted), MONTHS[-1])
    return _month_scale(low, high, months)


def _day_scale(low: float, high: float, step: int) -> Scale:
    first = math.floor(low / step) + 1
    edges = [place * step for place in range(first, math.floor(high / step) + 1)]
    days = [datetime.date.fromordinal(edge) for edge in edges]
    before = [datetime.date.fromordinal(edge - 1) for edge in edges]
    return Scale(
        tuple(float(edge) for edge in edges),
        tuple(day.isoformat() for day in days),
        tuple(day.isoformat() for day in before),
        tuple(f"{day:%b} {day.day}" for day in days),
        is_date=True,
    )


def _month_scale(low: float, high: float, step: int) -> Scale:
    first, last = (_month_of(day) // step for day in (low, high))
    months = [place * step for place in range(first + 1, last + 1)]
    starts = [_month_start(month) for month in months]
    ends = [_month_start(month - 1) for month in months]
    written = "%Y" if step >= 12 else "%b %Y"
    short = "%Y" if step >= 12 else "%b %y"
    return Scale(
        tuple(float(day.toordinal()) for day in starts),
        tuple(day.strftime(written) for day in starts),
        tuple(day.strftime(written) for day in ends),
        tuple(day.strftime(short) for day in starts),
        is_date=True,
    )


def _month_of(day: float) -> int:
    date = datetime.date.fromordinal(math.floor(day))
    return date.year * 12 + date.month - 1


def _month_start(month: int) -> datetime.date:
    return datetime.date(month // 12, month % 12 + 1, 1)


def even_scale(make: Callable[[Floats, int, int], Scale], numbers: Floats, least: int) -> Scale:
    """A scale without rare intervals: as fine as can be with even ones, else of merged ones.

    Columns of one width under intervals of different widths would show a wrong shape.
    """
    for wanted in WANTED:
        scale = make(numbers, least, wanted)
        if not _rare(scale, numbers, least).size and (len(scale) >= FEW or wanted == WANTED[0]):
            return scale
    return merge_rare(make(numbers, least, WANTED[0]), numbers, least)


def _rare(scale: Scale, numbers: Floats, least: int) -> Longs:
    """The intervals that hold some numbers, but fewer than `least`."""
    counts = np.bincount(scale.places(numbers), minlength=len(scale))
    return np.flatnonzero((counts > 0) & (counts < least))


def merge_rare(scale: Scale, numbers: Floats, least: int) -> Scale:
    """Give up edges until no interval holds some numbers but fewer than `least`."""
    while len(scale) > 1:
        rare = _rare(scale, numbers, least)
        if not rare.size:
            return scale
        counts = np.bincount(scale.places(numbers), minlength=len(scale))
        keep = np.ones(len(scale.edges), bool)
        keep[_edge_to_give_up(counts, int(rare[0]))] = False
        scale = scale.kept(keep)
    return scale


def _edge_to_give_up(counts: Longs, place: int) -> int:
    """The edge towards the neighbor with fewer numbers."""
    if place == 0:
        return 0
    if place == counts.size - 1:
        return place - 1
    return place - 1 if counts[place - 1] <= counts[place + 1] else place
