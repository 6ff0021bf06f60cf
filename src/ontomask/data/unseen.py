"""Combinations of two columns that a table never has although both parts are frequent.

They are proposed as rules: a code that no man has, an age that no newborn has. If the columns were
independent, as many records as `expected` says would have the combination.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.data.domains import Concepts, Numbers
from ontomask.data.microdata import Attribute, Microdata
from ontomask.data.rules import Rule

__all__ = ["Unseen", "unseen"]

EXPECTED = 40.0
"""So many records would have to be expected before it is no chance that there are none."""
FEW = 12
"""A column such as sex has no more values than this."""
NAMED, MOST = 8, 8
"""So many values are named in a rule at most, and so many rules proposed."""


@dataclass(frozen=True)
class Unseen:
    """A rule that holds in the whole table, and how many records would otherwise be expected."""

    rule: Rule
    expected: float


def unseen(microdata: Microdata) -> list[Unseen]:
    """What never occurs in a table, where most would be expected first."""
    found = _united(_between_all(list(microdata.attributes.values())))
    return sorted(found, key=lambda one: -one.expected)[:MOST]


def _united(found: Iterable[Unseen]) -> Iterator[Unseen]:
    """One rule for all values of a column that exclude the same: several ages, one by one."""
    alike: dict[str, list[Unseen]] = {}
    for one in found:
        alike.setdefault(repr((list(one.rule.when), one.rule.never)), []).append(one)
    for group in alike.values():
        first = group[0].rule
        if len(group) == 1:
            yield group[0]
        else:
            when = {name: [one.rule.when[name] for one in group] for name in first.when}
            yield Unseen(Rule(when, first.never), sum(one.expected for one in group))


def _between_all(attributes: list[Attribute]) -> Iterator[Unseen]:
    coded = [one for one in attributes if _is_few(one) or isinstance(one.domain, Concepts)]
    for one, other in itertools.permutations(coded, 2):
        # of two columns with few values, each pair is looked at once
        twice = _is_few(one) and coded.index(one) > coded.index(other)
        if _is_few(other) and not twice:
            yield from _of_values(_Parts(one), other)
    for one in coded:
        for other in attributes:
            if isinstance(other.domain, Numbers) and other.column.kind == "numeric":
                yield from _of_numbers(_Parts(one), other)


def _is_few(attribute: Attribute) -> bool:
    return attribute.column.kind in ("flat", "ordinal") and 2 <= attribute.size <= FEW


@dataclass(frozen=True, eq=False)
class _Parts:
    """What a rule can name of a column: values, or the concepts of its taxonomy."""

    attribute: Attribute

    @property
    def _taxonomy(self) -> Any:
        named = isinstance(self.attribute.domain, Concepts)
        return getattr(self.attribute.column, "taxonomy", None) if named else None

    @property
    def known(self) -> Bools:
        """Which records have one."""
        return self.attribute.codes < self.attribute.size

    def counts(self, chosen: Bools) -> Floats:
        """How many of the chosen records have each part."""
        size = self.attribute.size
        own = np.bincount(self.attribute.codes[chosen], minlength=size).astype(np.float64)
        if self._taxonomy is None:
            return own
        by_concept = np.bincount(self.attribute.concepts, own, len(self._taxonomy))
        totals: Floats = self._taxonomy.totals(by_concept)
        return totals

    def lowest(self, numbers: Floats) -> Floats:
        """The lowest number of a record with each part; infinite where none is known."""
        known = np.isfinite(numbers) & self.known
        own = np.full(self.attribute.size, np.inf)
        np.minimum.at(own, self.attribute.codes[known], numbers[known])
        if self._taxonomy is None:
            return own
        offsets, above, _ = self._taxonomy.ancestor_arrays(self.attribute.concepts)
        found = np.full(len(self._taxonomy), np.inf)
        np.minimum.at(found, above, np.repeat(own, np.diff(offsets)))
        return found

    def widest(self, meant: Bools) -> Longs:
        """Those of the parts that are in no other one."""
        if self._taxonomy is None:
            return np.flatnonzero(meant)
        taxonomy = self._taxonomy
        links = np.repeat(np.arange(len(taxonomy)), np.diff(taxonomy.parent_offsets))
        inside = np.bincount(links, meant[taxonomy.parent_numbers], len(taxonomy)) > 0
        return np.flatnonzero(meant & ~inside)

    def named(self, parts: Longs) -> list[object]:
        """The parts as a rule names them."""
        names = self.attribute.values if self._taxonomy is None else self._taxonomy.ids
        return [names[one] for one in parts.tolist()]


def _of_values(parts: _Parts, other: Attribute) -> Iterator[Unseen]:
    """What of a column never occurs with a value of another one."""
    known = parts.known & (other.codes < other.size)
    everyone = parts.counts(known)
    for code, value in enumerate(other.values):
        having = known & (other.codes == code)
        expected = everyone * (having.sum() / max(known.sum(), 1))
        chosen = parts.widest((parts.counts(having) == 0) & (expected >= EXPECTED))
        chosen = chosen[np.argsort(-expected[chosen], kind="stable")][:NAMED]
        if chosen.size:
            rule = Rule({other.name: value}, {parts.attribute.name: parts.named(chosen)})
            yield Unseen(rule, float(expected[chosen].sum()))


def _of_numbers(parts: _Parts, other: Attribute) -> Iterator[Unseen]:
    """What of a column never occurs below, or above, some number of another one."""
    numbers = other.record_numbers()
    known = parts.known & np.isfinite(numbers)
    everyone = parts.counts(known)
    for end, sign in (("to", 1.0), ("from", -1.0)):
        ascending = np.sort(sign * numbers[known])
        lowest = parts.lowest(sign * numbers)
        below = np.searchsorted(ascending, lowest)
        expected = np.where(np.isfinite(lowest), everyone * below / max(ascending.size, 1), 0.0)
        chosen = parts.widest(expected >= EXPECTED)
        for bound in np.unique(below[chosen]).tolist():
            alike = chosen[below[chosen] == bound]
            alike = alike[np.argsort(-expected[alike], kind="stable")][:NAMED]
            last = float(sign * ascending[bound - 1])
            limit = {end: int(last) if last.is_integer() else last}
            rule = Rule({parts.attribute.name: parts.named(alike)}, {other.name: limit})
            yield Unseen(rule, float(expected[alike].sum()))
