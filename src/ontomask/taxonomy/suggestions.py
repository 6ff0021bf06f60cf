"""What an unmapped value may have meant: proposals for a person, never applied by themselves.

In this order: codes that a spreadsheet would have turned into the value by dropping zeros; for
what looks like a code, the nearest broader and the most similar codes; the names that resemble the
value word by word (`ontomask.taxonomy.resemblance`). Among equally similar names the concepts count
that lie where the other values of the column do, the more frequent sense of a name and the more
general concept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from rapidfuzz import fuzz, process

from ontomask.arrays import Floats
from ontomask.taxonomy.resemblance import Resemblance, names_of
from ontomask.taxonomy.term_index import TermIndex, fold, number_key

__all__ = ["Suggester", "Suggestion"]

CODE = re.compile(r"[^\W\d_]{0,3}\d[\w.,/-]*")
OTHERWISE = "the same number, written otherwise"
LEAST_CODE_LIKENESS = 75
OTHER_SENSE, GENERAL, SURROUNDINGS = 0.97, 0.1, 0.2
"""What a less frequent sense keeps; what a general concept, and one in the column's midst, gain."""


@dataclass(frozen=True)
class Suggestion:
    """A concept that a value may have meant, and why."""

    id: str
    label: str
    reason: str
    concept: int = field(repr=False, compare=False)

    def __str__(self) -> str:
        called = self.id if self.label == self.id else f"{self.id} {self.label}"
        return f"{called} ({self.reason})"


@dataclass(frozen=True, eq=False, repr=False)
class Suggester:
    """Proposes concepts of one taxonomy."""

    index: TermIndex
    surroundings: Floats | None = None
    """The share of the column's records at or below every concept."""

    def suggest(self, text: str, limit: int = 3) -> tuple[Suggestion, ...]:
        """Return the concepts closest to a text, the likeliest first."""
        text = text.strip()
        return tuple(islice(self._distinct(text, limit), limit))

    def lost_zeros(self, text: str) -> tuple[Suggestion, ...]:
        """Return the codes that become this text when a spreadsheet drops their zeros."""
        return tuple(found for found in self.same_number(text) if found.reason != OTHERWISE)

    def same_number(self, text: str) -> tuple[Suggestion, ...]:
        """Return the codes that are the same number as this text, the shortest first."""
        alike = [(self._form(text, concept), concept) for concept in self.index.numbers_alike(text)]
        alike.sort(key=lambda pair: (len(pair[0]), pair[1]))
        return tuple(
            self._suggestion(concept, _zeros_reason(text, form))
            for form, concept in alike
            if form != text
        )

    def _distinct(self, text: str, limit: int) -> Iterator[Suggestion]:
        seen: set[int] = set()
        for suggestion in self._all(text, limit):
            if suggestion.concept not in seen:
                seen.add(suggestion.concept)
                yield suggestion

    def _all(self, text: str, limit: int) -> Iterator[Suggestion]:
        if CODE.fullmatch(text):
            yield from self._codes(text, limit)
        if any(sign.isalpha() for sign in text):
            yield from self._similar_names(text)

    def _codes(self, text: str, limit: int) -> Iterator[Suggestion]:
        same = self.same_number(text)
        yield from same
        if not same:
            yield from self._decimal_comma(text)
            yield from self._moved_dot(text)
            yield from self._broader_codes(text)
            yield from self._similar_codes(text, limit)

    def _form(self, text: str, concept: int) -> str:
        """Write a concept's code with its dot, or without if only that gives the number."""
        code = self.index.taxonomy.ids[concept]
        return code if number_key(code) == number_key(text) else code.replace(".", "")

    def _decimal_comma(self, text: str) -> Iterator[Suggestion]:
        dotted = text.replace(",", ".")
        if dotted != text:
            yield from self._code(dotted, "comma instead of a dot")
            yield from self.same_number(dotted)

    def _moved_dot(self, text: str) -> Iterator[Suggestion]:
        if "." in text:
            yield from self._code(text.replace(".", ""), "the dot is elsewhere")

    def _broader_codes(self, text: str) -> Iterator[Suggestion]:
        """Cut the code from its end, down to half of it, until what is left is a code."""
        for end in range(len(text) - 1, (len(text) - 1) // 2, -1):
            yield from self._code(text[:end].rstrip(".,/-"), "nearest broader code")

    def _code(self, text: str, reason: str) -> Iterator[Suggestion]:
        match = self.index.find(text)
        if match is not None and match.how in ("id", "code"):
            yield self._suggestion(match.concept, reason)

    def _similar_codes(self, text: str, limit: int) -> Iterator[Suggestion]:
        ids = self.index.taxonomy.ids
        found = process.extract(
            text.upper(), ids, scorer=fuzz.ratio, score_cutoff=LEAST_CODE_LIKENESS, limit=limit
        )
        for _, _, concept in found:
            yield self._suggestion(concept, "similar code")

    def _similar_names(self, text: str) -> Iterator[Suggestion]:
        found: dict[int, tuple[float, Resemblance]] = {}
        for one in names_of(self.index).like(text):
            match = self.index.best_of_folded(one.name)
            for rank, concept in enumerate((match.concept, *match.others)):
                likeness = one.likeness * OTHER_SENSE**rank + self._expected(concept)
                found[concept] = max((likeness, one), found.get(concept, (0.0, one)))
        for concept in sorted(found, key=lambda concept: (-found[concept][0], concept)):
            yield self._named(concept, found[concept][1])

    def _expected(self, concept: int) -> float:
        """What speaks for a concept before a name is looked at."""
        taxonomy = self.index.taxonomy
        general = GENERAL * (1.0 - float(taxonomy.depths[concept]) / taxonomy.max_depth)
        if self.surroundings is None or concept == 0:
            return general
        above = [number for number in taxonomy.ways_up(concept) if number]
        return general + SURROUNDINGS * float(self.surroundings[above].mean())

    def _named(self, concept: int, found: Resemblance) -> Suggestion:
        is_label = fold(self.index.taxonomy.labels[concept]) == found.name
        called = "the label" if is_label else f"the synonym {found.name!r}"
        return self._suggestion(concept, f"{found.how} {called}")

    def _suggestion(self, concept: int, reason: str) -> Suggestion:
        taxonomy = self.index.taxonomy
        return Suggestion(taxonomy.ids[concept], taxonomy.labels[concept], reason, concept)


def _zeros_reason(text: str, form: str) -> str:
    leading = _leading_zeros(form) > _leading_zeros(text)
    trailing = _trailing_zeros(form) > _trailing_zeros(text)
    lost = [name for name, is_lost in (("leading", leading), ("trailing", trailing)) if is_lost]
    return f"{' and '.join(lost)} zeros lost" if lost else OTHERWISE


def _leading_zeros(code: str) -> int:
    return len(code) - len(code.lstrip("0"))


def _trailing_zeros(code: str) -> int:
    fraction = code.partition(".")[2]
    return len(fraction) - len(fraction.rstrip("0"))
