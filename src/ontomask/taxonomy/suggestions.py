"""What an unmapped value may have meant: proposals for a person, never applied by themselves.

In this order: codes that a spreadsheet would have turned into the value by dropping zeros; for
what looks like a code, the nearest broader and the most similar codes; names that have all words
of the value and more, or some of its words and no others; the most similar names, by edit
distance, with the words as they stand and with the words sorted. Words go before edit distance,
which would offer "hypotension" for "hypertension".
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from rapidfuzz import fuzz, process

from ontomask.taxonomy.term_index import TermIndex, fold, number_key, unaccented

__all__ = ["Suggester", "Suggestion"]

CODE = re.compile(r"[^\W\d_]{0,3}\d[\w.,/-]*")
OTHERWISE = "the same number, written otherwise"
LEAST_LIKENESS = 70
LEAST_CODE_LIKENESS = 75


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
        folded = fold(text)
        if folded:
            yield from self._names_with_words(folded, limit)
            yield from self._similar_names(folded, limit)

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

    def _names_with_words(self, folded: str, limit: int) -> Iterator[Suggestion]:
        """Find names that have all words of the value and more, or a part of them only."""
        words = self.index.stems(folded)
        shared = Counter(name for word in words for name in self._names_by_word.get(word, ()))
        sizes = self._name_sizes
        found = [n for n, count in shared.items() if count in (len(words), sizes[n])]
        # The fewer words they do not share the closer; then the shallower concept.
        order = sorted((len(words) + sizes[n] - 2 * shared[n], -shared[n], n) for n in found)
        for _, negative, name in order[: 3 * limit]:
            share = "all" if -negative == len(words) else "some of"
            yield self._named(self._names[name], f"{share} its words in")

    def _similar_names(self, folded: str, limit: int) -> Iterator[Suggestion]:
        scores: dict[str, float] = {}
        for query, choices in ((folded, self._names), (_sorted_words(folded), self._sorted_names)):
            for _, score, position in process.extract(
                query, choices, scorer=fuzz.ratio, score_cutoff=LEAST_LIKENESS, limit=3 * limit
            ):
                name = self._names[position]
                scores[name] = max(score, scores.get(name, 0.0))
        for name in sorted(scores, key=lambda name: (-scores[name], name)):
            yield self._named(name, "spelled like")

    def _named(self, folded: str, likeness: str) -> Suggestion:
        concept = self.index.best_of_folded(folded).concept
        is_label = fold(self.index.taxonomy.labels[concept]) == folded
        called = "the label" if is_label else f"the synonym {folded!r}"
        return self._suggestion(concept, f"{likeness} {called}")

    def _suggestion(self, concept: int, reason: str) -> Suggestion:
        taxonomy = self.index.taxonomy
        return Suggestion(taxonomy.ids[concept], taxonomy.labels[concept], reason, concept)

    @functools.cached_property
    def _names(self) -> list[str]:
        return list(self.index.folded)

    @functools.cached_property
    def _words(self) -> list[frozenset[str]]:
        return [self.index.stems(name) for name in self._names]

    @functools.cached_property
    def _name_sizes(self) -> list[int]:
        return [len(words) for words in self._words]

    @functools.cached_property
    def _names_by_word(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for name, words in enumerate(self._words):
            for word in words:
                found.setdefault(word, []).append(name)
        return found

    @functools.cached_property
    def _sorted_names(self) -> list[str]:
        return [_sorted_words(name) for name in self._names]


def _sorted_words(folded: str) -> str:
    return " ".join(sorted(unaccented(folded).split(" ")))


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
