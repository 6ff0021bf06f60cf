"""What the values of a masked table stand for: read from hierarchies, or by their shape.

Original values become numbers first (*meanings*): concepts, ranks, numbers or days, and for mere
words the order in which they are met. A label of a hierarchy stands for the values below it, an
interval or a period for the original numbers in it, a star for the whole column. What cannot be
read stands for the original numbers or ranks in whose place it was put; in a column without order
it is a value that the original does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ontomask.arrays import Bools, Floats, Ints, Longs
from ontomask.data.domains import Concepts, Domain, Numbers
from ontomask.data.schema import Column, Date, Flat, Nominal, Numeric, Ordinal
from ontomask.data.values import is_star, read_span
from ontomask.errors import DataError
from ontomask.evaluation.features import written
from ontomask.evaluation.sides import Released
from ontomask.taxonomy.hierarchies import Hierarchy
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["Known", "Labels", "Words", "known_labels", "read_labels"]

Known = Hierarchy | Taxonomy | Domain
"""What may say what labels stand for."""

RANGE = " – "
"""What stands between the first and the last of united values of an order."""


@dataclass(frozen=True, eq=False)
class Words:
    """Turns the values of a column into meanings; the words of a flat column are remembered."""

    name: str
    column: Column
    known: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.column, Flat):  # listed values are known by their places
            self.remember(self.column.values)

    def originals(self, values: Sequence[object]) -> Floats:
        """The meanings of original values, which must have one; NaN where they are missing."""
        if isinstance(self.column, (Numeric, Date)):
            return np.array([self._number(value) for value in values])
        if isinstance(self.column, Nominal):
            return self._concepts(values, "original")
        self.remember([value for value in values if not is_star(value)])
        return self.read(values)

    def _number(self, value: object) -> float:
        """An original value as a number; it must stand for one by itself."""
        span = None if is_star(value) else read_span(value, self.column)
        if span is None and not is_star(value):
            wanted = "dates" if isinstance(self.column, Date) else "numbers"
            raise DataError(
                f"Column {self.name!r} is said to hold {wanted}, but the original holds a value "
                "that is none; correct it, or declare the column as flat."
            )
        return np.nan if span is None else span.middle

    def _concepts(self, values: Sequence[object], which: str) -> Floats:
        """The concepts of values, NaN where missing; which are to have one, the column says."""
        column, taxonomy = self.column, self.taxonomy
        found = self.read(values)
        stars = np.array([is_star(value) for value in values], bool)
        lacking = np.flatnonzero(np.isnan(found) & ~stars).tolist()
        if lacking and isinstance(column, Nominal) and column.unmapped == "root":
            found[lacking] = 0.0
        elif lacking and isinstance(column, Nominal) and column.unmapped == "error":
            raise DataError(
                f"Column {self.name!r}: {len(lacking)} {which} values are not in the taxonomy "
                f"{taxonomy.name or 'given'!r}, the first is {values[lacking[0]]!r}; map them with "
                "overrides, give their hierarchy, or declare the column as flat."
            )
        return found

    def released(self, values: Sequence[object]) -> Floats:
        """The meanings of released values that are like original ones; concepts must be known."""
        return self._concepts(values, "masked") if self.is_nominal else self.read(values)

    @property
    def is_nominal(self) -> bool:
        """Whether values are concepts."""
        return isinstance(self.column, Nominal)

    @property
    def has_order(self) -> bool:
        """Whether values are numbers, dates or ranks."""
        return isinstance(self.column, (Numeric, Date, Ordinal))

    def meant(self, domain: Domain) -> Floats:
        """The meanings of the values of an encoded column."""
        if isinstance(domain, Numbers):
            return domain.numbers
        if isinstance(domain, Concepts):
            return domain.concepts.astype(np.float64)
        self.remember([value for value in domain.values if not is_star(value)])
        return self.read(domain.values)

    def remember(self, values: Sequence[object]) -> None:
        """Give words of a flat column a meaning, if they have none."""
        if not (self.has_order or self.is_nominal):
            for value in values:
                self.known.setdefault(written(value), float(len(self.known)))

    def names(self, meanings: Longs) -> tuple[str, ...]:
        """The values of a column without numbers that have some meanings, as texts."""
        column = self.column
        if isinstance(column, Nominal):
            return tuple(self.taxonomy.ids_of(meanings.tolist()))
        ordered = column.order if isinstance(column, Ordinal) else list(self.known)
        return tuple(str(ordered[meaning]) for meaning in meanings.tolist())

    def read(self, values: Sequence[object]) -> Floats:
        """The meanings of values, NaN for those without one."""
        column = self.column
        if isinstance(column, (Numeric, Date)):
            spans = [None if is_star(value) else read_span(value, column) for value in values]
            return np.array([one.low if one and one.is_point else np.nan for one in spans])
        if isinstance(column, Nominal):
            return self._mapped(values)
        known = self.known
        if isinstance(column, Ordinal):
            known = {written(value): float(rank) for rank, value in enumerate(column.order)}
        return np.array([known.get(written(value), np.nan) for value in values], np.float64)

    def _mapped(self, values: Sequence[object]) -> Floats:
        asked = [None if is_star(value) else value for value in values]
        overrides = self.column.overrides if isinstance(self.column, Nominal) else None
        mapping = self.taxonomy.map(asked, overrides=overrides)
        places = np.asarray(mapping.positions, np.int64)
        concepts = np.append(mapping.concepts, -1)[places].astype(np.float64)
        return np.where((places < 0) | (concepts < 0), np.nan, concepts)

    @property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy of a nominal column."""
        assert isinstance(self.column, Nominal)
        assert self.column.taxonomy is not None
        return self.column.taxonomy


@dataclass(frozen=True, eq=False)
class Labels:
    """What released values stand for, as meanings.

    Attributes
    ----------
    values
        The released values.
    points
        The meaning of each value that is like an original one, NaN for others.
    groups
        For each of the others the meanings of what it stands for; None for points and stars.
    stars
        Which values stand for the whole column.
    unread
        How many labels could not be read.
    """

    values: Sequence[object]
    points: Floats
    groups: Sequence[Floats | None]
    stars: Bools
    unread: int = 0

    def domain(self, originals: Floats) -> Floats:
        """The original meanings, ascending, and those of labels none of which occurs there."""
        known = np.unique(originals[~np.isnan(originals)])
        absent = [one for one in self.groups if one is not None and not _codes_in(known, one).size]
        return np.unique(np.concatenate([known, *absent]))

    @property
    def codes(self) -> Longs:
        """The code of each value: one for values that mean the same, the last for nothing."""
        codes = np.arange(len(self.values))
        firsts, places = np.unique(self.points, return_index=True, return_inverse=True)[1:]
        known = ~np.isnan(self.points)
        codes[known] = firsts[places[known]]
        none = np.array([one is None for one in self.groups], bool)
        codes[none & ~known & ~self.stars] = codes.size
        return codes

    def over(self, domain: Floats, points: Any) -> Released:
        """The same by codes of a domain; `points` are the points as distances compare them."""
        groups = [None if one is None else np.unique(_codes_in(domain, one)) for one in self.groups]
        return Released.of(self.values, points, groups, domain.size, self.stars, self.unread)


def _codes_in(domain: Floats, meanings: Floats) -> Longs:
    """The places in an ascending domain of those meanings that it has."""
    places: Longs = np.searchsorted(domain, meanings)
    there: Bools = np.append(domain, np.nan)[places] == meanings
    return places[there]


def read_labels(
    words: Words,
    values: Sequence[object],
    codes: Ints,
    originals: Floats,
    hierarchy: Known | None = None,
    *,
    together: bool = True,
) -> Labels:
    """Read what the values of a masked column stand for.

    Parameters
    ----------
    words
        What reads values of the column.
    values, codes
        The masked column: its distinct values, and the one of each record.
    originals
        The meaning of each original record, NaN where missing.
    hierarchy
        The hierarchy whose labels they may be, the domain of a column of a release, or the taxonomy
        whose concepts stand for those below them; without it a concept is a point, as the semantic
        distance compares concepts.
    together
        Whether records correspond, so that labels can be read from what they were put in place of.
    """
    known = np.unique(originals[~np.isnan(originals)])
    stars = np.array([is_star(value) for value in values], bool)
    groups: list[Floats | None] = [None] * len(values)
    if isinstance(hierarchy, Hierarchy):
        groups = _of_hierarchy(words, values, hierarchy)
    elif isinstance(hierarchy, Domain):
        groups = _of_domain(words, values, hierarchy)
    left = [place for place, one in enumerate(groups) if one is None and not stars[place]]
    points = np.full(len(values), np.nan)
    points[left] = words.released([values[place] for place in left])
    unread = 0
    for place in (one for one in left if np.isnan(points[one]) and not words.is_nominal):
        points[place], groups[place] = _by_shape(words, values[place], known)
        if not np.isnan(points[place]) or groups[place] is not None:
            continue
        unread += 1
        if words.has_order:
            given = originals[codes == place] if together else originals[:0]
            groups[place] = np.unique(given[~np.isnan(given)])
        else:
            words.remember([values[place]])
            points[place] = words.read([values[place]])[0]
    stars |= np.array([one is not None and not one.size for one in groups], bool)
    labels = Labels(values, points, groups, stars, unread)
    return _below_concepts(hierarchy, labels, known) if isinstance(hierarchy, Taxonomy) else labels


def known_labels(words: Words, domain: Domain) -> Labels:
    """What the values of a column of a run stand for; nothing has to be read."""
    stars = np.array([is_star(value) for value in domain.values], bool)
    nothing: list[Floats | None] = [None] * domain.size
    if domain.stands_for().below is domain:
        return Labels(domain.values, words.meant(domain), nothing, stars)
    groups = _of_domain(words, domain.values, domain)
    return Labels(domain.values, np.full(domain.size, np.nan), groups, stars)


def _of_hierarchy(
    words: Words, values: Sequence[object], hierarchy: Hierarchy
) -> list[Floats | None]:
    """What labels of a hierarchy stand for; None for other values.

    If a level has all of them it is taken, the lowest one first; else what they stand for at any.
    """
    words.remember(hierarchy.values)
    meanings = words.read(hierarchy.values)
    asked = {written(value) for value in values if not is_star(value)}
    levels = [level for level, labels in enumerate(hierarchy.labels) if asked <= {*labels}]
    found: list[tuple[str, Floats]] = []
    for level in levels[:1] or range(len(hierarchy.labels)):
        codes = hierarchy.levels[level]
        parts = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
        found += [
            (label, meanings[part])
            for label, part in zip(hierarchy.labels[level], parts, strict=True)
        ]
    return _united(values, found)


def _of_domain(words: Words, values: Sequence[object], domain: Domain) -> list[Floats | None]:
    """What the values of a column of a release stand for."""
    groups = domain.stands_for()
    parts = np.split(words.meant(groups.below)[groups.members], groups.starts[1:-1])
    return _united(values, zip(map(written, domain.values), parts, strict=True))


def _united(values: Sequence[object], found: Iterable[tuple[str, Floats]]) -> list[Floats | None]:
    """What each value stands for, given for labels of which some may occur several times."""
    parts: dict[str, list[Floats]] = {}
    for label, meanings in found:
        parts.setdefault(label, []).append(meanings[~np.isnan(meanings)])
    known = [[] if is_star(value) else parts.get(written(value), []) for value in values]
    return [np.unique(np.concatenate(one)) if one else None for one in known]


def _by_shape(words: Words, value: object, known: Floats) -> tuple[float, Floats | None]:
    """What a label stands for by its shape: a number, or some of the known meanings."""
    if isinstance(words.column, (Numeric, Date)):
        span = read_span(value, words.column)
        if span is None:
            return np.nan, None
        inside = known[(known >= span.low) & ((known < span.high) | (known == span.high))]
        inside = inside[inside < span.high] if span.open_high else inside
        # what no number lies in is as far from each of them as its middle
        return (np.nan, inside) if inside.size else (span.middle, None)
    text = written(value)
    if isinstance(words.column, Ordinal):
        ends = words.read(text.split(RANGE))
        between = known[(known >= ends[0]) & (known <= ends[-1])]
        return np.nan, between if ends.size == 2 and between.size else None
    return np.nan, _masked_digits(words, text)


def _masked_digits(words: Words, text: str) -> Floats | None:
    """The words that begin, or end, as a text does whose other characters are stars."""
    kept = text.strip("*")
    if not kept or kept == text or "*" in kept:
        return None
    fits = str.startswith if text.endswith("*") else str.endswith
    if text[0] == text[-1] == "*":
        return None
    found = [meaning for word, meaning in words.known.items() if fits(word, kept)]
    return np.array(sorted(found)) if found else None


def _below_concepts(taxonomy: Taxonomy, labels: Labels, known: Floats) -> Labels:
    """Released concepts as the sets of known ones below them; others stay points."""
    offsets, above, _ = taxonomy.ancestor_arrays(known.astype(np.int32))
    below = np.repeat(known, np.diff(offsets))
    found = [below[above == point] for point in labels.points]
    groups = [one if one.size else None for one in found]
    points = np.where([one is None for one in groups], labels.points, np.nan)
    return Labels(labels.values, points, groups, labels.stars, labels.unread)
