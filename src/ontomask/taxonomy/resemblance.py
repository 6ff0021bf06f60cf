"""Which names of a taxonomy resemble a text, word by word.

Text and name are sets of word roots; a root weighs the more the fewer names have it. A word of the
text is found in a name, more or less,

* as it stands (1), whatever the order of the words;
* by what the taxonomy's own synonyms teach: where most concepts called "NOS" are also called
  "unspecified", the one is found in the other (by the share of such concepts);
* as an abbreviation: the name's word begins with it, or has its letters in order ("clstrdium"), or
  a hospital's dictionary has it ("TB", "Fx": `ontomask.taxonomy.abbreviations`);
* misspelled, if no name has it as it stands (by edit distance);
* as initials, if it is written in capitals: "UTI" in "Urinary tract infection, site not specified".
  So short a word is taken for nothing else: by edit distance it resembles everything. Where the
  dictionary has it, too, other names with these initials are less likely ("CHF").

Letters and digits are words of their own, so that what "SPG38" teaches is known of "SPG39".

The likeness is the weight of what was found, against the weights of the text and, less so, of the
name, plus a little for whole texts that are spelled alike. `benchmarks/suggestions.py` measures how
often the right concept comes first.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from ontomask.arrays import Bools, Floats, Ints
from ontomask.taxonomy.abbreviations import SMALL_WORDS, meanings, spelled_out
from ontomask.taxonomy.term_index import TermIndex, fold, unaccented

__all__ = ["Names", "Resemblance", "names_of"]

LEAST_LIKENESS = 0.35
SHORTLIST = 60
"""So many names at most are looked at more closely."""

TEXT_SHARE = 0.85
"""What the text's weight counts, beside the name's: a name may well say more than the text."""

SPELLING = 0.15
"""What the spelling of the whole texts counts."""

ABBREVIATED, ALSO_A_WORD, BEGINNING, MISSPELLED = 0.75, 0.6, 0.15, 0.8
"""What abbreviations count at most, if they are also words, more if they begin the word they stand
for; what misspelled words count."""

EXPANDED = 0.95
"""What the words count that an abbreviation stands for."""

WHOLE = 0.95
"""What the initials of a part of a name count, beside those of the whole name."""

COINCIDENCE = 0.6
"""What initials keep where a dictionary knows better: "CHF" is hardly Crimean hemorrhagic fever."""

LEAST_LETTERS, LEAST_SPELLING = 0.4, 0.7
TEACHERS, TAUGHT_BY, TAUGHT_SHARE, TAUGHT_LIFT = 500, 3, 0.3, 5.0
"""Of so many names at most, so many concepts, this share of them, this many times more than by
chance teach a word."""

UNSAID = "unspecified"
"""How a classification calls what somebody wrote who said no more."""

CAPITALS = re.compile(r"\b[A-Z]{2,4}\b")
PARTS = re.compile(r"[,;:()\[\]]+")

Roots = frozenset[str]


class Resemblance(NamedTuple):
    """A folded name that resembles a text, how much, and by what."""

    name: str
    likeness: float
    how: str


@functools.lru_cache(maxsize=8)
def names_of(index: TermIndex) -> Names:
    """The names of a taxonomy, made ready once."""
    return Names(index)


@dataclass(frozen=True, eq=False, repr=False)
class Names:
    """The names of a taxonomy and the roots of their words, each made ready when first needed."""

    index: TermIndex

    def like(self, text: str) -> list[Resemblance]:
        """Return the names that resemble a text most, in no particular order."""
        # in a text of capitals they are no sign of initials, unless it is a single word
        is_loud = text.isupper() and len(text.split()) > 1
        text, meant = meanings(text, self.index.language, loud=is_loud)
        folded = spelled_out(unaccented(fold(text)))
        words = dict.fromkeys(folded.split(" "))
        capitals = {word.lower() for word in CAPITALS.findall("" if is_loud else text)}
        likeness, by_initials = self._likeness(words, capitals, meant)
        best = np.argsort(-likeness, kind="stable")[:SHORTLIST]
        roots = self.index.stems(" ".join(word for word in words if word not in self._small))
        found = []
        for place in best[likeness[best] >= LEAST_LIKENESS].tolist():
            name = self.names[place]
            spelling = fuzz.token_sort_ratio(folded, name) / 100
            how = "initials of" if by_initials[place] else _how(roots, self._roots[name], meant)
            found.append(Resemblance(name, float(likeness[place]) + SPELLING * spelling, how))
        return found

    def _likeness(
        self, words: dict[str, None], capitals: set[str], meant: dict[str, list[str]]
    ) -> tuple[Floats, Bools]:
        """How much every name resembles a text, and which of them by their initials."""
        found, total = np.zeros(len(self.names)), 0.0
        by_initials, is_whole = (np.zeros(len(self.names), bool) for _ in range(2))
        alone = len(words) == 1
        for word in words:
            weight, best = self._found(word, is_short=word in capitals or word in meant)
            # beside others, what names call it teaches better than a dictionary
            asked = meant.get(word, ()) if alone or word not in self._words else ()
            amount, meaning, agrees = self._spelled_out(asked)
            if amount:
                weight = max(amount, self._weights.get(self._root(word), 0.0))
                best = np.maximum(best, meaning)
            if word in capitals:
                likely = self._with_initials(word, alone=alone)
                likely *= np.where(agrees | (amount == 0.0), 1.0, COINCIDENCE)
                # beside others, a word that many names have, such as NOS, is itself
                own = None if alone else self._weights.get(self._root(word))
                fitting = likely * (own or amount or self._rarest)
                by_initials |= (fitting >= best) & (fitting > 0.0)
                is_whole |= alone & (likely >= WHOLE)
                weight, best = max(weight, float(fitting.max())), np.maximum(best, fitting)
            found += best
            total += weight
        # alone, the initials of a whole name leave nothing of it unsaid
        sizes = np.where(is_whole, 0.0, self._sizes)
        return found / (TEXT_SHARE * total + (1.0 - TEXT_SHARE) * sizes), by_initials

    def _spelled_out(self, meanings: Iterable[str]) -> tuple[float, Floats, Bools]:
        """The weight of what an abbreviation may stand for, where it is found, and where wholly.

        Meanings with words that no name has are none of this taxonomy.
        """
        weight, share = 0.0, np.zeros(len(self.names))
        for meaning in meanings:
            words = [word for word in meaning.split(" ") if word not in self._small]
            if all(self._root(word) in self._places for word in words):
                parts = [self._found(word, is_short=True) for word in words]
                amount = sum(one for one, _ in parts)
                weight = max(weight, amount)
                share = np.maximum(share, np.sum([one for _, one in parts], axis=0) / amount)
        return weight, EXPANDED * weight * share, share >= WHOLE

    def _found(self, word: str, is_short: bool) -> tuple[float, Floats]:
        """The weight of a word, and how much of it is found in every name."""
        alike: dict[str, float] = {}
        for root, share in self._alike(word, is_short):
            alike[root] = max(share, alike.get(root, 0.0))
        likely = max((share * self._weights[root] for root, share in alike.items()), default=0.0)
        weight = self._weights.get(self._root(word)) or likely or self._rarest
        parts = [(share * min(weight, self._weights[root]), root) for root, share in alike.items()]
        best = np.zeros(len(self.names))
        for amount, root in sorted(parts):  # the largest is written last
            best[self._places[root]] = amount
        return weight, best

    def _alike(self, word: str, is_short: bool) -> Iterator[tuple[str, float]]:
        """Yield the roots in which a word can be found, and how much of it."""
        own = self._root(word)
        is_known = word in self._words if is_short else own in self._places
        if is_known:
            yield own, 1.0
            yield from self._taught_by(own)
        if is_short or len(word) < 3 or word.isdigit():
            return
        most = ALSO_A_WORD if is_known else ABBREVIATED
        for longer in self._words_by_letter[word[0]]:
            share = len(word) / len(longer)
            if share < 1 and longer.startswith(word):
                yield self._words[longer], most * (1 + share) / 2 + BEGINNING
            elif LEAST_LETTERS <= share < 1 and _in_order(word, longer):
                yield self._words[longer], most * (1 + share) / 2
        if not is_known and len(word) > 3:
            scorer, words = OSA.normalized_similarity, self._words.keys()
            for other, likeness, _ in process.extract_iter(
                word, words, scorer=scorer, score_cutoff=LEAST_SPELLING
            ):
                yield self._words[other], MISSPELLED * likeness**2

    def _taught_by(self, root: str) -> Iterator[tuple[str, float]]:
        """Yield the roots that most concepts with this root have too, in any of their names."""
        names = (self.names[place] for place in self._places[root][:TEACHERS])
        concepts = {self.index.best_of_folded(name).concept for name in names}
        called = [self.index.names_of(concept) for concept in concepts]
        sets = [self._rooted(" ".join(names)) for names in called if len(names) > 1]
        for other, count in Counter(one for roots in sets for one in roots).items():
            share = count / len(sets)
            usual = len(self._places[other]) / len(self.names)
            if count >= TAUGHT_BY and share >= max(TAUGHT_SHARE, TAUGHT_LIFT * usual):
                yield other, share

    def _with_initials(self, word: str, alone: bool) -> Floats:
        """How well every name's initials fit: all of them, those of a part, the first, or any."""
        likeness = np.zeros(len(self.names))
        for place, initials in enumerate(self._initials):
            if word in initials:
                parts = initials.split("|")
                if word in parts:
                    likeness[place] = 1.0 if len(parts) == 1 else WHOLE
                elif not alone or (len(word) > 2 and initials.startswith(word)):
                    likeness[place] = 0.7
        return likeness

    def _root(self, word: str) -> str:
        return next(iter(self.index.stems(word)))

    def _rooted(self, folded: str) -> Roots:
        return self.index.stems(spelled_out(folded))

    @property
    def _small(self) -> frozenset[str]:
        return SMALL_WORDS[self.index.language]

    # Made ready -----------------------------------------------------------------------------

    @functools.cached_property
    def names(self) -> list[str]:
        """The folded names."""
        return list(self.index.folded)

    @functools.cached_property
    def _roots(self) -> dict[str, Roots]:
        return {name: self._rooted(name) for name in self.names}

    @functools.cached_property
    def _places(self) -> dict[str, Ints]:
        """The names that have a root."""
        found: dict[str, list[int]] = defaultdict(list)
        for place, roots in enumerate(self._roots.values()):
            for root in roots:
                found[root].append(place)
        return {root: np.array(places, np.int32) for root, places in found.items()}

    @functools.cached_property
    def _rarest(self) -> float:
        return math.log1p(len(self.names))

    @functools.cached_property
    def _weights(self) -> dict[str, float]:
        count = len(self.names)
        return {root: math.log1p(count / len(one)) for root, one in self._places.items()}

    @functools.cached_property
    def _sizes(self) -> Floats:
        """What every name says; that something is unspecified says nothing."""
        weights = self._weights | {self._root(UNSAID): 0.0}
        return np.array([sum(weights[root] for root in roots) for roots in self._roots.values()])

    @functools.cached_property
    def _words(self) -> dict[str, str]:
        """The root of every word, as the words are written."""
        words = {word for name in self.names for word in spelled_out(unaccented(name)).split(" ")}
        return {word: self._root(word) for word in sorted(words)}

    @functools.cached_property
    def _words_by_letter(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for word in self._words:
            found[word[0]].append(word)
        return found

    @functools.cached_property
    def _initials(self) -> list[str]:
        """The initials of every name, those of its parts between commas and brackets apart."""
        written = [self.index.written(name) for name in self.names]
        return ["|".join(map(self._initials_of, PARTS.split(text))) for text in written]

    def _initials_of(self, text: str) -> str:
        words = unaccented(fold(text)).split(" ")
        return "".join(word[0] for word in words if word and word not in self._small)


def _in_order(letters: str, word: str) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in letters)


def _how(roots: Roots, others: Roots, meant: Collection[str]) -> str:
    if roots <= others:
        return "all its words in"
    if roots & others:
        return "some of its words in"
    return "short for" if meant else "spelled like"
