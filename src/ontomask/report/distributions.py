"""Distributions before and after masking, in a form that may be published and in a full one.

In the published form nothing stems from fewer than a threshold of original records: intervals with
fewer are merged with their neighbors, rare values and groups are counted together as others, and
shares of the original are rounded to steps of so many records, so that subtracting the bars of the
release from them tells nothing about fewer.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.data.schema import Date, Nominal, Ordinal
from ontomask.data.values import is_star
from ontomask.evaluation.pairing import PairedColumn
from ontomask.evaluation.sides import CodedSides, Level, NumberSides
from ontomask.report.groups import MOST, concept_groups, group_name
from ontomask.report.scales import date_scale, even_scale, number_scale
from ontomask.report.words import coarse
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = [
    "Bar",
    "Distribution",
    "View",
    "category_bars",
    "concept_bars",
    "extremes",
    "histogram_bars",
    "interval_places",
    "level_bars",
    "level_places",
    "original_concepts",
    "rare_concepts",
    "rare_values",
    "released_concepts",
]

FULL = 60
"""How many categories the full form shows."""
RARE = 12
"""How many rare values the full form lists."""
MISSING = "missing or suppressed"

Rare = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Bar:
    """The records of one interval, value or group.

    `before` is None where fewer original records than the threshold, but some, are in it; in the
    published form that happens only to others and to missing values, which name no value.
    """

    label: str
    tick: str
    before: float | None
    after: float
    before_count: int
    after_count: int


@dataclass(frozen=True)
class Distribution:
    """A column before and after masking.

    Attributes
    ----------
    shape
        `histogram` (intervals on an axis) or `categories`.
    public
        What may be published; empty if that is too little to show.
    full
        The same with nothing merged or left out, for internal use only.
    extremes
        The least and greatest original value as texts, for internal use only.
    rare
        Original values of fewer records than the threshold, for internal use only.
    """

    shape: str
    public: tuple[Bar, ...]
    full: tuple[Bar, ...]
    extremes: tuple[str, str] | None = None
    rare: Rare = ()


@dataclass(frozen=True)
class View:
    """How exactly a distribution is shown.

    Attributes
    ----------
    least
        The fewest original records of anything that is shown.
    grouped
        The fewest original records of the groups that most of a nominal column is to be in.
    most
        How many categories are shown.
    rounded
        Whether shares of the original are rounded to steps of `least` records.
    """

    least: int
    grouped: int
    most: int
    rounded: bool

    @classmethod
    def public(cls, least: int, *, rounded: bool) -> View:
        """As it may be published."""
        return cls(least, least, MOST - 1, rounded)

    @classmethod
    def full(cls, least: int) -> View:
        """With nothing merged, rounded or left out."""
        return cls(1, least, FULL, rounded=False)


@dataclass(frozen=True, eq=False)
class Side:
    """A column on one side of the masking: codes of bars, -1 where missing, and weights."""

    codes: Longs
    weights: Floats

    def counts(self, size: int) -> Longs:
        """Records of each bar, the missing ones last."""
        return np.bincount(_positive(self.codes, size), minlength=size + 1).astype(np.int64)

    def shares(self, size: int) -> Floats:
        """Share of people of each bar, the missing ones last."""
        places = _positive(self.codes, size)
        sums = np.bincount(places, weights=self.weights, minlength=size + 1)
        shares: Floats = sums / max(float(sums.sum()), 1e-300)
        return shares


def _positive(codes: Longs, size: int) -> Longs:
    return np.where(codes < 0, size, codes)


def _bars(
    labels: Sequence[tuple[str, str]], before: Side, after: Side, view: View
) -> tuple[Bar, ...]:
    """One bar per label (and tick), and one for missing values if there are any."""
    size = len(labels)
    counts, new_counts = before.counts(size), after.counts(size)
    shares, new_shares = before.shares(size).tolist(), after.shares(size).tolist()
    if view.rounded:
        shares = [coarse(share, view.least, before.codes.size) for share in shares]
    named = [*labels, (MISSING, "missing")]
    if not counts[-1] and not new_counts[-1]:
        named.pop()
    return tuple(
        Bar(
            label,
            tick,
            None if 0 < counts[place] < view.least else shares[place],
            new_shares[place],
            int(counts[place]),
            int(new_counts[place]),
        )
        for place, (label, tick) in enumerate(named)
    )


# Numbers and dates ----------------------------------------------------------------------------


def histogram_bars(
    whole: PairedColumn, paired: PairedColumn, weights: tuple[Floats, Floats], view: View
) -> tuple[Bar, ...]:
    """The distribution of a numeric or date column: `whole` before and `paired` after masking."""
    labels, *codes = interval_places(whole, paired, view.least)
    before, after = map(Side, codes, weights)
    return _bars(labels, before, after, view) if labels else ()


def interval_places(
    whole: PairedColumn, paired: PairedColumn, least: int
) -> tuple[list[tuple[str, str]], Longs, Longs]:
    """Intervals of `least` original numbers or more, and the one of each record, -1 for none."""
    known = _known(whole)
    sides = [numbers for numbers in (whole.old_numbers, paired.new_numbers) if numbers is not None]
    if not known.size:
        nowhere = [np.full(numbers.size, -1, np.int64) for numbers in sides]
        return [], nowhere[0], nowhere[1]
    make = date_scale if isinstance(whole.column, Date) else number_scale
    scale = even_scale(make, known, least)
    before, after = (np.where(np.isnan(one), -1, scale.places(one)) for one in sides)
    return [(scale.label(place), scale.tick(place)) for place in range(len(scale))], before, after


def level_bars(column: PairedColumn, weights: Floats, view: View) -> tuple[Bar, ...]:
    """The distribution of a column whose released values stand for several.

    Both sides are counted at the finest level that both have, under the labels of the release.
    """
    called, before, after = level_places(column, view.least)
    ordered = column.is_numeric or isinstance(column.column, Ordinal)
    both = Side(before, weights), Side(after, weights)
    return _categories(called, *both, view, "other values", ordered=ordered)


def level_places(column: PairedColumn, least: int) -> tuple[list[str], Longs, Longs]:
    """The finest groups that the original and the release both have, and the one of each record."""
    level, sides = column.sides.level(column.new), column.sides
    cells, released = level.original, level.released
    if isinstance(sides, NumberSides):
        cells, released, called = _with_intervals(column, sides, level, least)
    else:
        called = [""] * (int(cells.max(initial=-1)) + 1)
        for code, cell in enumerate(cells[:-1].tolist()):
            called[cell] = level.names.get(cell, sides.names[code])
    return called, cells[column.old], released[column.new]


def _with_intervals(
    column: PairedColumn, sides: NumberSides, level: Level, least: int
) -> tuple[Longs, Longs, list[str]]:
    """Groups of numbers, where those released as they are have intervals; all in their order."""
    named = np.array([cell in level.names for cell in level.original.tolist()], bool)
    alone = ~named[column.old] & (column.old < sides.size)
    known: Floats = sides.numbers[column.old[alone]]
    labels: dict[int, str] = dict(level.names)
    cells, first = level.original.copy(), int(level.original.max(initial=-1)) + 1
    own = np.flatnonzero(~named[:-1])
    if not known.size:  # nothing is told of these, so that they need no intervals
        cells[own], labels[first] = first, "all values"
    else:
        make = date_scale if isinstance(column.column, Date) else number_scale
        scale = even_scale(make, known, least)
        cells[own] = first + scale.places(sides.numbers[own])
        labels |= {first + place: scale.label(place) for place in range(len(scale))}
    # numbers that nobody has any more are in no group
    order = [cell for cell in dict.fromkeys(cells[:-1].tolist()) if cell in labels]
    places = np.full(first + len(labels) + 1, -1, np.int64)
    places[order] = np.arange(len(order))
    released = np.append(cells, -1)[sides.nearest_codes]
    several = np.append(sides.released.sets >= 0, False)
    released[several] = level.released[several]
    released[sides.tells_nothing] = -1
    shown = [labels[cell] for cell in order]
    return places[cells], np.where(released < 0, -1, places[released]), shown


def _known(column: PairedColumn) -> Floats:
    numbers = column.old_numbers
    assert numbers is not None
    known: Floats = numbers[~np.isnan(numbers)]
    return known


def extremes(column: PairedColumn) -> tuple[str, str] | None:
    """The least and the greatest original number or date."""
    known = _known(column)
    if not known.size:
        return None
    ends = float(known.min()), float(known.max())
    if isinstance(column.column, Date):
        first, last = (datetime.date.fromordinal(int(end)) for end in ends)
        return first.isoformat(), last.isoformat()
    return f"{ends[0]:,.10g}", f"{ends[1]:,.10g}"


# Categories -----------------------------------------------------------------------------------


def concept_bars(
    whole: PairedColumn, paired: PairedColumn, weights: tuple[Floats, Floats], view: View
) -> tuple[Bar, ...]:
    """The distribution of a nominal column over groups of its taxonomy."""
    before, after = original_concepts(whole), released_concepts(paired)
    original, counts = np.unique(before[before >= 0], return_counts=True)
    if not original.size:
        return ()
    every = np.unique(np.concatenate([original, after[after >= 0]])).astype(np.int32)
    present = np.zeros(every.size, np.int64)
    present[np.searchsorted(every, original)] = counts
    taxonomy = _taxonomy(whole)
    kinds, places = np.unique(
        concept_groups(taxonomy, every, present, view.grouped), return_inverse=True
    )
    places = np.append(places, -1)
    names = [group_name(taxonomy, int(kind)) for kind in kinds]
    sides = [
        Side(places[np.where(one >= 0, np.searchsorted(every, one), -1)], weight)
        for one, weight in zip((before, after), weights, strict=True)
    ]
    return _categories(names, sides[0], sides[1], view, "other groups", ordered=False)


def _taxonomy(column: PairedColumn) -> Taxonomy:
    assert isinstance(column.column, Nominal)
    assert column.column.taxonomy is not None
    return column.column.taxonomy


def _coded(column: PairedColumn) -> CodedSides:
    assert isinstance(column.sides, CodedSides)
    return column.sides


def original_concepts(column: PairedColumn) -> Longs:
    """The original concept of each record, -1 where it is missing."""
    found: Longs = _coded(column).values[column.old]
    return found


def released_concepts(column: PairedColumn) -> Longs:
    """The released concept of each record, -1 where there is none."""
    found: Longs = np.append(_coded(column).released.points, -1)[column.new]
    return found


def rare_concepts(column: PairedColumn, least: int) -> Rare:
    """Original concepts of fewer than `least` records."""
    concepts = original_concepts(column)
    found, counts = np.unique(concepts[concepts >= 0], return_counts=True)
    taxonomy = _taxonomy(column)
    names = [f"{taxonomy.ids[one]} {group_name(taxonomy, one)}" for one in found.tolist()]
    return _rarest(names, counts, least)


def category_bars(
    column: object,
    before: tuple[Ints, list[object]],
    after: tuple[Ints, list[object]],
    weights: tuple[Floats, Floats],
    view: View,
) -> tuple[Bar, ...]:
    """The distribution of a flat or ordinal column, given by codes and distinct values."""
    order = column.order if isinstance(column, Ordinal) else ()
    values: dict[object, int] = {value: place for place, value in enumerate(order)}
    for codes, distinct in (before, after):
        present = np.unique(codes[codes >= 0]).tolist()
        for value in (distinct[place] for place in present):
            if not is_star(value):
                values.setdefault(value, len(values))
    sides = []
    for (codes, distinct), weight in zip((before, after), weights, strict=True):
        places = np.array([*(values.get(value, -1) for value in distinct), -1], np.int64)
        sides.append(Side(places[codes], weight))
    names = [str(value) for value in values]
    return _categories(names, sides[0], sides[1], view, "other values", ordered=bool(order))


def rare_values(codes: Ints, distinct: list[object], least: int) -> Rare:
    """Original values of fewer than `least` records."""
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    names = [str(value) for value in distinct]
    return _rarest(names, np.where([is_star(name) for name in names], 0, counts), least)


def _rarest(names: list[str], counts: Longs, least: int) -> Rare:
    rare = [(n, int(count)) for n, count in zip(names, counts, strict=True) if 0 < count < least]
    return tuple(sorted(rare, key=lambda one: (one[1], one[0]))[:RARE])


def _categories(
    names: list[str], before: Side, after: Side, view: View, others: str, *, ordered: bool
) -> tuple[Bar, ...]:
    counts, new_counts = before.counts(len(names))[:-1], after.counts(len(names))[:-1]
    frequent = (counts >= view.least) | ((counts == 0) & (new_counts >= view.least))
    frequent &= ~_telling(names, counts, view.least, frequent)
    shown = _largest(np.maximum(counts, new_counts), frequent, view.most)
    return _category_bars(names, before, after, shown, view, others, ordered)


def _telling(names: list[str], counts: Longs, least: int, frequent: Bools) -> Bools:
    """New values whose text holds a rare original one, as sets of values do."""
    rare = [name for name, count in zip(names, counts, strict=True) if 0 < count < least]
    new = np.flatnonzero(frequent & (counts == 0))
    telling = np.zeros(len(names), bool)
    for place in new.tolist():
        telling[place] = any(name and name in names[place] for name in rare)
    return telling


def _largest(sizes: Longs, allowed: Bools, most: int) -> Bools:
    """The allowed categories, of many the largest; one more where that leaves no other."""
    places = np.flatnonzero(allowed)
    if places.size > most + int(places.size == sizes.size):
        order = np.lexsort((places, -sizes[places]))
        places = places[order[:most]]
    chosen: Bools = np.zeros(sizes.size, bool)
    chosen[places] = True
    return chosen


def _category_bars(
    names: list[str],
    before: Side,
    after: Side,
    shown: Bools,
    view: View,
    others: str,
    ordered: bool,
) -> tuple[Bar, ...]:
    chosen = np.flatnonzero(shown)
    labels = [(names[place], names[place]) for place in chosen]
    places = np.full(len(names) + 1, chosen.size, np.int64)
    places[chosen] = np.arange(chosen.size)
    places[-1] = -1
    sides = [Side(places[one.codes], one.weights) for one in (before, after)]
    if any((one.codes == chosen.size).any() for one in sides):
        labels.append((others, others))
    bars = _bars(labels, sides[0], sides[1], view)
    named = bars[: chosen.size] if ordered else sorted(bars[: chosen.size], key=_largest_first)
    return (*named, *bars[chosen.size :])


def _largest_first(bar: Bar) -> tuple[float, float, str]:
    """What orders bars: nothing that they do not show."""
    return -(bar.before or 0.0), -bar.after, bar.label
