"""What the columns of a table look like, for the people who must decide on them.

A profile shows single values: it is for the steward, never for a report that others see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.data.column_names import AGES
from ontomask.data.evidence import Evidence, evidence_of, sampled
from ontomask.data.files.oddities import MOSTLY, likely_codes
from ontomask.data.tables import Table
from ontomask.data.value_shapes import date_shape, is_plain_number, written_as_codes
from ontomask.errors import DataError
from ontomask.wording import plural, quoted

__all__ = ["Profile", "Spread", "profile_of", "profiles", "sketches", "spread_of"]

SHOWN = 5
BARS = 16
WIDEST = 24
HISTOGRAM = 48
FAR = 3.0
"""Quartile distances beyond the quartiles from which on a number is far out (Tukey 1977)."""
ROUNDED = 0.95
"""The share of numbers that are multiples of a unit where they are said to be rounded to it."""
UNITS = tuple(factor * 10.0**power for power in range(6, -5, -1) for factor in (5, 1))
OLDEST = 120
"""No person is older."""


@dataclass(frozen=True)
class Profile:
    """What a column looks like.

    Attributes
    ----------
    span
        Its range; nothing for words.
    listed
        Its values if they are few.
    count
        How many values there are, in words.
    missing
        How many are missing.
    odd
        What is probably wrong with it.
    """

    span: str
    listed: str
    count: str
    missing: int
    odd: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self._told(self.span or self.listed or self.count)

    @property
    def counted(self) -> str:
        """What it looks like without its range, whose ends are often those of single people."""
        return self._told(self.listed or self.count)

    def _told(self, values: str) -> str:
        missing = f"{self.missing:,} missing" if self.missing else ""
        return "; ".join([", ".join(filter(None, [values, missing])), *self.odd])


def profiles(table: Table, names: Sequence[str]) -> dict[str, Profile]:
    """The profiles of some columns."""
    sample = sampled(table)
    return {name: profile_of(evidence_of(table, sample, name)) for name in names}


def profile_of(evidence: Evidence) -> Profile:
    """What a column looks like, from what is known of it."""
    numbers = _numbers(evidence)
    span, listed = _span(evidence, numbers), _listed(evidence)
    odd = tuple(_odd(evidence, numbers))
    return Profile(span, listed, _counted(evidence), _missing(evidence), odd)


def _missing(evidence: Evidence) -> int:
    if not evidence.is_sampled:
        return len(evidence.table) - evidence.records
    if evidence.is_number:
        return int(np.isnan(evidence.table.numbers(evidence.name)).sum())
    return int(evidence.table.frame[evidence.name].null_count())


def _numbers(evidence: Evidence) -> Floats:
    """The numbers of a column that holds mostly such, by type or as they are written."""
    if evidence.is_number:
        numbers = evidence.table.numbers(evidence.name)
        known: Floats = numbers[~np.isnan(numbers)]
        return known
    plain = _plain(evidence)
    if (
        written_as_codes(evidence.texts)
        or not plain.any()
        or evidence.counts[plain].sum() < MOSTLY * evidence.counts.sum()
    ):
        return np.empty(0)
    written = zip(evidence.texts, plain, strict=True)
    return np.array([float(text) for text, is_plain in written if is_plain])


def _plain(evidence: Evidence) -> Bools:
    """Which of the different texts are numbers."""
    return np.array([is_plain_number(text) for text in evidence.texts], bool)


def _span(evidence: Evidence, numbers: Floats) -> str:
    """From the lowest to the highest value."""
    ends: Sequence[object] = ()
    seen = ""
    if numbers.size:
        numbers, seen = _whole(evidence, numbers)
        ends = [f"{number:.10g}" for number in (numbers.min(), numbers.max())]
    elif evidence.table.is_date(evidence.name):
        series = evidence.table.frame[evidence.name]
        ends = [str(day)[:10] for day in (series.min(), series.max())]
    elif (shape := date_shape(evidence.texts)) is not None and shape.format is None:
        ends = [min(evidence.texts), max(evidence.texts)]
    if not ends:
        return ""
    return f"{ends[0]} only" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}{seen}"


def _whole(evidence: Evidence, numbers: Floats) -> tuple[Floats, str]:
    """All numbers of a column, also where only its most frequent texts were looked at."""
    everything = not evidence.is_sampled and evidence.distinct <= len(evidence.texts)
    if evidence.is_number or everything:
        return numbers, ""
    try:
        known = evidence.table.with_numbers([evidence.name]).numbers(evidence.name)
    except DataError:  # some texts are no numbers
        return numbers, " in the values looked at"
    return known[~np.isnan(known)], ""


def _listed(evidence: Evidence) -> str:
    texts = [*evidence.texts, *evidence.marks]
    if len(texts) > SHOWN or evidence.is_sampled:
        return ""
    return ", ".join(_cut(text) for text in texts)


def _counted(evidence: Evidence) -> str:
    if not evidence.distinct:
        return ""
    many = "or more " if evidence.is_sampled else ""
    once = ", each once" if evidence.distinct == evidence.records and not many else ""
    values = "value" if evidence.distinct == 1 and not many else "values"
    return f"{evidence.distinct:,} {many}{values}{once}"


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _odd(evidence: Evidence, numbers: Floats) -> Iterator[str]:
    if not numbers.size:
        return
    wrong = (
        []
        if evidence.is_number
        else [text for text in (*evidence.texts, *evidence.marks) if not is_plain_number(text)]
    )
    if wrong:
        yield f"{quoted(wrong)} {'is no number' if len(wrong) == 1 else 'are no numbers'}"
    codes = likely_codes(np.unique(numbers).tolist())
    if codes:
        looks = "looks like a code" if len(codes) == 1 else "look like codes"
        yield f"{quoted(codes)} {looks} for missing values"
    beyond = numbers[(numbers < 0) | (numbers > OLDEST)]
    rest = beyond[~np.isin(beyond, [float(code) for code in codes])]
    if evidence.hints.has(AGES) and rest.size:
        yield f"{plural(rest.size, 'value')} {'is' if rest.size == 1 else 'are'} no age of a person"


def sketches(table: Table, names: Sequence[str]) -> dict[str, list[float]]:
    """The shape of each column as the heights of a few bars, the highest of them 1.

    Records are counted: by numbers in even intervals, by other values the most frequent first.
    """
    sample = sampled(table)
    return {name: _sketch(evidence_of(table, sample, name)) for name in names}


def _sketch(evidence: Evidence) -> list[float]:
    numbers = _numbers(evidence)
    if numbers.size and numbers.min() < numbers.max():
        # numbers by type are there for every record, those of texts once for each text
        records = None if evidence.is_number else evidence.counts[_plain(evidence)]
        heights = np.histogram(numbers, BARS, weights=records)[0].astype(np.float64)
    else:
        heights = np.sort(evidence.counts)[::-1][:BARS].astype(np.float64)
    return [float(height) for height in heights / heights.max(initial=1.0)]


@dataclass(frozen=True)
class Spread:
    """The numbers of a column: where they lie, and how they are written.

    Attributes
    ----------
    least, quartiles, greatest
        Order statistics.
    far
        How many records are far out.
    unit
        What nearly all are multiples of; 0 where they are not rounded.
    edges, counts
        A histogram.
    """

    least: float
    quartiles: tuple[float, float, float]
    greatest: float
    far: int
    unit: float
    edges: tuple[float, ...]
    counts: tuple[int, ...]


def spread_of(numbers: Floats, counts: Longs) -> Spread:
    """The spread of numbers that differ, given with how often each occurs."""
    order = np.argsort(numbers, kind="stable")
    numbers, counts = numbers[order], counts[order]
    below = np.cumsum(counts)
    places = np.searchsorted(below, below[-1] * np.array([0.25, 0.5, 0.75]))
    low, middle, high = numbers[places].tolist()
    margin = FAR * (high - low)
    far = (numbers < low - margin) | (numbers > high + margin)
    heights, edges = np.histogram(numbers, HISTOGRAM, weights=counts)
    return Spread(
        float(numbers[0]),
        (low, middle, high),
        float(numbers[-1]),
        int(counts[far].sum()),
        _unit(numbers, counts),
        tuple(edges.tolist()),
        tuple(heights.astype(np.int64).tolist()),
    )


def _unit(numbers: Floats, counts: Longs) -> float:
    """The largest unit that nearly all numbers are multiples of."""
    total = float(counts.sum())
    for unit in UNITS:
        steps = numbers / unit
        if counts[np.abs(steps - np.rint(steps)) < 1e-6].sum() >= ROUNDED * total:
            return unit
    return 0.0
