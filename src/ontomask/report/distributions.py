"""Distributions before and after masking, in a form that may be published and in a full one.

In the published form nothing stems from fewer than a threshold of original records: intervals with
fewer are merged with their neighbors, rare values and groups are counted together as others.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.data.schema import Date, Nominal, Ordinal
from ontomask.evaluation.pairing import STARS, PairedColumn
from ontomask.report.groups import MOST, concept_groups, group_name
from ontomask.report.scales import Scale, date_scale, merge_rare, number_scale

__all__ = ["Bar", "Distribution", "category_distribution", "concept_distribution", "histogram"]

FULL = 60
"""How many categories the full form shows."""
RARE = 12
"""How many rare values the full form lists."""
MISSING = "missing or suppressed"


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
    rare: tuple[tuple[str, int], ...] = ()


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
    labels: Sequence[tuple[str, str]], before: Side, after: Side, least: int
) -> tuple[Bar, ...]:
    """One bar per label (and tick), and one for missing values if there are any."""
    size = len(labels)
    counts, new_counts = before.counts(size), after.counts(size)
    shares, new_shares = before.shares(size), after.shares(size)
    named = [*labels, (MISSING, "missing")]
    if not counts[-1] and not new_counts[-1]:
        named.pop()
    return tuple(
        Bar(
            label,
            tick,
            None if 0 < counts[place] < least else float(shares[place]),
            float(new_shares[place]),
            int(counts[place]),
            int(new_counts[place]),
        )
        for place, (label, tick) in enumerate(named)
    )


# Numbers and dates ----------------------------------------------------------------------------


def histogram(
    whole: PairedColumn, paired: PairedColumn, weights: tuple[Floats, Floats], least: int
) -> Distribution:
    """The distribution of a numeric or date column."""
    before, after = whole.old_numbers, paired.new_numbers
    assert before is not None
    assert after is not None
    known = before[~np.isnan(before)]
    if not known.size:
        return Distribution("histogram", (), ())
    make: Callable[[Floats, int], Scale] = (
        date_scale if isinstance(whole.column, Date) else number_scale
    )
    public = merge_rare(make(known, least), known, least)
    full = make(known, 1)
    return Distribution(
        "histogram",
        _histogram_bars(public, before, after, weights, least) if len(public) > 1 else (),
        _histogram_bars(full, before, after, weights, 1),
        extremes=_extremes(known, isinstance(whole.column, Date)),
    )


def _histogram_bars(
    scale: Scale, before: Floats, after: Floats, weights: tuple[Floats, Floats], least: int
) -> tuple[Bar, ...]:
    sides = [
        Side(np.where(np.isnan(numbers), -1, scale.places(numbers)), weight)
        for numbers, weight in zip((before, after), weights, strict=True)
    ]
    labels = [(scale.label(place), scale.tick(place)) for place in range(len(scale))]
    return _bars(labels, sides[0], sides[1], least)


def _extremes(known: Floats, is_date: bool) -> tuple[str, str]:
    ends = float(known.min()), float(known.max())
    if is_date:
        first, last = (datetime.date.fromordinal(int(end)) for end in ends)
        return first.isoformat(), last.isoformat()
    return f"{ends[0]:,.10g}", f"{ends[1]:,.10g}"


# Categories -----------------------------------------------------------------------------------


def concept_distribution(
    whole: PairedColumn, paired: PairedColumn, weights: tuple[Floats, Floats], least: int
) -> Distribution:
    """The distribution of a nominal column over groups of its taxonomy."""
    assert isinstance(whole.column, Nominal)
    taxonomy = whole.column.taxonomy
    assert taxonomy is not None
    before, after = _concepts(whole, whole.old), _concepts(paired, paired.new)
    original, counts = np.unique(before[before >= 0], return_counts=True)
    if not original.size:
        return Distribution("categories", (), ())
    every = np.unique(np.concatenate([original, after[after >= 0]])).astype(np.int32)
    present = np.zeros(every.size, np.int64)
    present[np.searchsorted(every, original)] = counts
    groups = concept_groups(taxonomy, every, present, least)
    kinds, places = np.unique(groups, return_inverse=True)
    places = np.append(places, -1)
    names = [group_name(taxonomy, int(kind)) for kind in kinds]
    sides = [
        Side(places[np.where(one >= 0, np.searchsorted(every, one), -1)], weight)
        for one, weight in zip((before, after), weights, strict=True)
    ]
    rare = tuple(
        (f"{taxonomy.ids[concept]} {group_name(taxonomy, concept)}", int(count))
        for concept, count in zip(original.tolist(), counts.tolist(), strict=True)
        if count < least
    )
    made = _categories(names, sides[0], sides[1], least, "other groups", ordered=False)
    return replace(made, rare=_rarest(rare))


def _concepts(column: PairedColumn, codes: Ints) -> Longs:
    assert column.concepts is not None
    return np.append(column.concepts.astype(np.int64), -1)[codes]


def category_distribution(
    column: object,
    before: tuple[Ints, list[object]],
    after: tuple[Ints, list[object]],
    weights: tuple[Floats, Floats],
    least: int,
) -> Distribution:
    """The distribution of a flat or ordinal column, given by codes and distinct values."""
    order = column.order if isinstance(column, Ordinal) else ()
    values: dict[object, int] = {value: place for place, value in enumerate(order)}
    for value in (*before[1], *after[1]):
        if str(value) not in STARS:
            values.setdefault(value, len(values))
    sides = []
    for (codes, distinct), weight in zip((before, after), weights, strict=True):
        places = np.array([*(values.get(value, -1) for value in distinct), -1], np.int64)
        sides.append(Side(places[codes], weight))
    names = [str(value) for value in values]
    counts = sides[0].counts(len(names))
    rare = tuple(
        (name, int(count)) for name, count in zip(names, counts, strict=False) if 0 < count < least
    )
    made = _categories(names, sides[0], sides[1], least, "other values", ordered=bool(order))
    return replace(made, rare=_rarest(rare))


def _rarest(rare: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(rare, key=lambda one: (one[1], one[0]))[:RARE])


def _categories(
    names: list[str], before: Side, after: Side, least: int, others: str, *, ordered: bool
) -> Distribution:
    counts, new_counts = before.counts(len(names))[:-1], after.counts(len(names))[:-1]
    frequent = (counts >= least) | ((counts == 0) & (new_counts >= least))
    frequent &= ~_telling(names, counts, least, frequent)
    shown = _largest(np.maximum(counts, new_counts), frequent, MOST - 1)
    everything = _largest(np.maximum(counts, new_counts), counts + new_counts > 0, FULL)
    return Distribution(
        "categories",
        _category_bars(names, before, after, shown, least, others, ordered),
        _category_bars(names, before, after, everything, 1, others, ordered),
    )


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
    least: int,
    others: str,
    ordered: bool,
) -> tuple[Bar, ...]:
    chosen = np.flatnonzero(shown)
    if not ordered:
        sizes = before.counts(len(names))[chosen]
        chosen = chosen[np.lexsort((chosen, -sizes))]
    labels = [(names[place], names[place]) for place in chosen]
    places = np.full(len(names) + 1, chosen.size, np.int64)
    places[chosen] = np.arange(chosen.size)
    places[-1] = -1
    sides = [Side(places[one.codes], one.weights) for one in (before, after)]
    if any((one.codes == chosen.size).any() for one in sides):
        labels.append((others, others))
    return _bars(labels, sides[0], sides[1], least)
