"""How one word or code finds its concept: the rules, in their order, and the dictionaries they use.

1. `id`: the text is the id of a concept.
2. `code`: the same with other case, or with or without the dots (`v4571` for `V45.71`).
3. `label`, 4. `synonym`: the text is a name of a concept.
5. `folded`: the same without regard to case, punctuation and, failing that, accents.
6. `stem`: the same by the root of each word (plurals, inflections), in the taxonomy's language.

The first rule that finds anything decides. If it finds several concepts, the most frequent sense
wins where the source ranks senses, otherwise a label before a synonym, then the shallowest
concept, then the smallest id; the others are kept in the `Match`. Where senses are ranked, labels
and synonyms are one rule: the order of the words in a WordNet synset says nothing about which of
its senses a word most often has.

Codes are never repaired: "8.45" is not taken for "008.45" (a spreadsheet's lost zeros), nor for
"845" (a moved dot). Repairs are proposed by `ontomask.taxonomy.suggestions`.
"""

from __future__ import annotations

import functools
import numbers
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import Stemmer

if TYPE_CHECKING:
    from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["Match", "TermIndex", "fold", "is_number", "number_key", "unaccented"]

Postings = dict[str, list[int]]

APOSTROPHES = re.compile("['’ʼ`´]")
# Punctuation, but not + # % < > =, which tell "Rh+" from "Rh-" and "<5" from ">5".
SEPARATORS = re.compile(
    r"[\s!\"$&()*,\-./:;?@\[\\\]^_{|}~¡§«¶·»¿\u2010-\u2027\u2030-\u205e\u3001-\u3003\u3008-\u301f]+"
)
# Latin, Greek and Cyrillic accents only: in other scripts combining marks are letters.
ACCENTS = re.compile("[\u0300-\u036f]")
NUMBER = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
UNRANKED = 2**15

BY_RANK = "most frequent sense"
BY_LABEL = "label before synonym"
BY_SINGULAR = "same singular"
BY_DEPTH = "shallowest concept"
BY_ID = "smallest id"
BY_CODE = "a code, not a number"


class Match(NamedTuple):
    """The concept found for a text, by which rule, and what else it might have been."""

    concept: int
    how: str
    others: tuple[int, ...] = ()
    decided_by: str = ""


class Sense(NamedTuple):
    """One reading of a name; the smallest is chosen."""

    other_singular: bool
    rank: int
    is_synonym: bool
    concept: int


def fold(text: str) -> str:
    """Return a text without case, punctuation and superfluous spaces; accents are kept."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return SEPARATORS.sub(" ", APOSTROPHES.sub("", text.casefold())).strip()


def unaccented(text: str) -> str:
    """Return a text without accents."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", ACCENTS.sub("", unicodedata.normalize("NFD", text)))


def singular(folded: str) -> str:
    """Return a folded text with the plural endings of its words cut (after Harman's S-stemmer)."""
    return " ".join(map(_singular_word, folded.split(" ")))


def _singular_word(word: str) -> str:
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


def is_number(value: object) -> bool:
    """Tell whether a value is a number itself, not a text of digits."""
    return isinstance(value, numbers.Number) and not isinstance(value, bool)


def number_key(text: str) -> str | None:
    """Return what a spreadsheet leaves of a code of digits, or None if the text is not one."""
    if not NUMBER.fullmatch(text):
        return None
    whole, _, fraction = text.partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


@dataclass(frozen=True, eq=False, repr=False)
class TermIndex:
    """The dictionaries of one taxonomy's ids and names, each built when first needed."""

    taxonomy: Taxonomy

    @property
    def language(self) -> str:
        """The language of the names, by whose rules words have roots."""
        return self.taxonomy.language

    def find(self, text: str, *, is_number: bool = False) -> Match | None:
        """Return the concept of a word or code, or None.

        `is_number` says that the text was a number, so that a ".0" is no part of a code.
        """
        stripped = text.strip()
        return (
            self._by_id(text)
            or self._by_id(stripped)
            or self._by_code(stripped, is_number)
            or self._by_name(stripped)
            or self._by_fold(stripped)
            or self._by_stem(stripped)
        )

    def numbers_alike(self, text: str) -> list[int]:
        """Return the concepts whose codes a spreadsheet would turn into the same number."""
        key = number_key(text)
        return self._by_number.get(key, []) if key is not None else []

    def best_of_folded(self, folded: str) -> Match:
        """Return the concept of a folded name that is known to exist."""
        return self._chosen(self.folded[folded], "folded")

    def names_of(self, concept: int) -> list[str]:
        """Return the folded names of a concept."""
        return self._folded_names[self._starts[concept] : self._starts[concept + 1]]

    def written(self, folded: str) -> str:
        """Return a folded name as it is written."""
        return self.taxonomy.names[self.folded[folded][0]]

    def stems(self, folded: str) -> frozenset[str]:
        """Return the distinct roots of the words of a folded text."""
        return frozenset(self._stem(unaccented(folded)).split(" "))

    # Rules ----------------------------------------------------------------------------------

    def _by_id(self, text: str) -> Match | None:
        return Match(self.taxonomy.index_of(text), "id") if text in self.taxonomy else None

    def _by_code(self, text: str, is_number: bool) -> Match | None:
        key = text.casefold()
        found = self._cased.get(key)
        if found is None and "." not in key:
            found = self._undotted.get(key)
        if found is not None:
            return self._shallowest(found)
        return None if is_number or "." not in key else self._by_dotted_code(key)

    def _by_dotted_code(self, key: str) -> Match | None:
        """Find the id "00845" of "008.45": only if "008" is an id, so that no dot has moved."""
        head, _, tail = key.partition(".")
        category, found = self._cased.get(head), self._cased.get(key.replace(".", ""))
        if category is None or found is None:
            return None
        if tail and not tail.strip("0"):
            return Match(found[0], "code", (*found[1:], *category), BY_CODE)
        return self._shallowest(found)

    def _shallowest(self, concepts: list[int]) -> Match:
        # Concepts are numbered by depth, then id, and the dictionaries keep that order.
        depths = self.taxonomy.depths
        if len(concepts) == 1:
            return Match(concepts[0], "code")
        tied = depths[concepts[0]] == depths[concepts[1]]
        return Match(concepts[0], "code", tuple(concepts[1:]), BY_ID if tied else BY_DEPTH)

    def _by_name(self, text: str) -> Match | None:
        found = self._names.get(text)
        if found is None:
            return None
        if not any(self._ranks[position] for position in found):
            found = [position for position in found if self._is_label(position)] or found
        match = self._chosen(found, "synonym")
        if any(self._is_label(p) and self._owners[p] == match.concept for p in found):
            return match._replace(how="label")
        return match

    def _by_fold(self, text: str) -> Match | None:
        key = fold(text)
        found = self.folded.get(key)
        if found is None:
            plain = unaccented(key)
            found = [*self.folded.get(plain, ()), *self._accented.get(plain, ())]
        return self._chosen(found, "folded") if found else None

    def _by_stem(self, text: str) -> Match | None:
        folded = unaccented(fold(text))
        found = self._stemmed.get(self._stem(folded))
        return self._chosen(found, "stem", singular(folded)) if found else None

    # Several senses -------------------------------------------------------------------------

    def _chosen(self, positions: list[int], how: str, wanted: str = "") -> Match:
        """Choose among the concepts that have names at these positions."""
        if len(positions) == 1:
            return Match(self._owners[positions[0]], how)
        senses: dict[int, Sense] = {}
        for sense in sorted(self._senses(positions, wanted)):
            senses.setdefault(sense.concept, sense)
        best, *others = senses.values()
        if not others:
            return Match(best.concept, how)
        concepts = tuple(sense.concept for sense in others)
        return Match(best.concept, how, concepts, self._reason(best, others[0]))

    def _senses(self, positions: list[int], wanted: str) -> Iterable[Sense]:
        ranks = [self._ranks[position] for position in positions]
        ranked = any(ranks)
        for position, rank in zip(positions, ranks, strict=True):
            other = bool(wanted) and singular(unaccented(self._folded_names[position])) != wanted
            is_synonym = not ranked and not self._is_label(position)
            yield Sense(other, rank or UNRANKED, is_synonym, self._owners[position])

    def _reason(self, best: Sense, second: Sense) -> str:
        if best.other_singular != second.other_singular:
            return BY_SINGULAR
        if best.rank != second.rank:
            return BY_RANK
        if best.is_synonym != second.is_synonym:
            return BY_LABEL
        depths = self.taxonomy.depths
        return BY_ID if depths[best.concept] == depths[second.concept] else BY_DEPTH

    def _is_label(self, position: int) -> bool:
        return self._starts[self._owners[position]] == position

    # Dictionaries ---------------------------------------------------------------------------

    @functools.cached_property
    def _cased(self) -> Postings:
        return _postings(identifier.casefold() for identifier in self.taxonomy.ids)

    @functools.cached_property
    def _undotted(self) -> Postings:
        keys = (identifier.casefold() for identifier in self.taxonomy.ids)
        return _postings(key.replace(".", "") if "." in key else "" for key in keys)

    @functools.cached_property
    def _by_number(self) -> Postings:
        found: Postings = {}
        for concept, identifier in enumerate(self.taxonomy.ids):
            for key in {number_key(identifier), number_key(identifier.replace(".", ""))}:
                if key is not None:
                    found.setdefault(key, []).append(concept)
        return found

    @functools.cached_property
    def _starts(self) -> list[int]:
        starts: list[int] = self.taxonomy.name_offsets.tolist()
        return starts

    @functools.cached_property
    def _owners(self) -> list[int]:
        spans = zip(self._starts[:-1], self._starts[1:], strict=True)
        return [concept for concept, (start, stop) in enumerate(spans) for _ in range(start, stop)]

    @functools.cached_property
    def _ranks(self) -> list[int]:
        ranks: list[int] = self.taxonomy.name_ranks.tolist()
        return ranks

    @functools.cached_property
    def _names(self) -> Postings:
        return _postings(name.strip() for name in self.taxonomy.names)

    @functools.cached_property
    def _folded_names(self) -> list[str]:
        return [fold(name) for name in self.taxonomy.names]

    @functools.cached_property
    def folded(self) -> Postings:
        """Positions of the names by their folded form."""
        return _postings(self._folded_names)

    @functools.cached_property
    def _accented(self) -> Postings:
        return _postings("" if key.isascii() else unaccented(key) for key in self._folded_names)

    @functools.cached_property
    def _stemmed(self) -> Postings:
        return _postings(self._stem(unaccented(key)) for key in self._folded_names)

    @functools.cached_property
    def _stems(self) -> dict[str, str]:
        words = {word for key in self._folded_names for word in unaccented(key).split(" ")}
        ordered = sorted(words)
        return dict(zip(ordered, _stemmer(self.language).stemWords(ordered), strict=True))

    def _stem(self, folded: str) -> str:
        known, stem = self._stems, _stemmer(self.language).stemWord
        return " ".join([known.get(word) or stem(word) for word in folded.split(" ")])


def _postings(keys: Iterable[str]) -> Postings:
    """Return the positions of every key; empty keys are left out."""
    found: Postings = {}
    for position, key in enumerate(keys):
        if key:
            found.setdefault(key, []).append(position)
    return found


@functools.cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language)
