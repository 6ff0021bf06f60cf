"""How often the concept that a text means is suggested for it, and how quickly.

    python benchmarks/suggestions.py [--texts 300] [--seed 2]

Synonyms of the bundled taxonomies are held back, and those that no rule finds any more are asked
for: how often comes their concept first, how often among the first five? Beside it the same for
what was done before: names that have all words of the text, or a part of them and no others, then
names by edit distance. The last columns give the column a context: a hundred values of the same
branch are mapped already.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz import fuzz, process

import ontomask as om
from arguments import whole_number
from ontomask.taxonomy.suggestions import Suggester
from ontomask.taxonomy.term_index import TermIndex, fold, unaccented

TAXONOMIES = ("icd9cm", "icd9cm-procedures", "icd10cm", "doid", "wordnet")
CONTEXT = 100

Asked = tuple[str, int]
Ask = Callable[[str, int], Sequence[int]]


def held_back(
    taxonomy: om.Taxonomy, count: int, generator: np.random.Generator
) -> tuple[om.Taxonomy, list[Asked]]:
    """The taxonomy without some synonyms, and those that are not found any more."""
    owners = np.repeat(np.arange(len(taxonomy)), np.diff(taxonomy.name_offsets))
    is_synonym = np.ones(owners.size, bool)
    is_synonym[taxonomy.name_offsets[:-1]] = False
    words = np.array([any(sign.isalpha() for sign in name) for name in taxonomy.names])
    codes = np.array([name.partition(":")[2].isdigit() for name in taxonomy.names])
    candidates = np.flatnonzero(is_synonym & words & ~codes)
    chosen = generator.choice(candidates, min(4 * count, candidates.size // 2), replace=False)
    kept = np.setdiff1d(np.arange(owners.size), chosen)
    offsets = np.searchsorted(owners[kept], np.arange(len(taxonomy) + 1))
    rest = dataclasses.replace(
        taxonomy,
        names=tuple(taxonomy.names[place] for place in kept.tolist()),
        name_offsets=offsets,
        name_ranks=taxonomy.name_ranks[kept],
    )
    asked = [(taxonomy.names[place], int(owners[place])) for place in chosen.tolist()]
    return rest, [one for one in asked if rest.term_index.find(one[0]) is None][:count]


class Before:
    """Names with all or some of the words and no others, then names by edit distance."""

    def __init__(self, index: TermIndex) -> None:
        self.index, self.names = index, list(index.folded)
        self.words = [index.stems(name) for name in self.names]
        self.sorted = [" ".join(sorted(unaccented(name).split(" "))) for name in self.names]
        self.by_word: dict[str, list[int]] = defaultdict(list)
        for place, words in enumerate(self.words):
            for word in words:
                self.by_word[word].append(place)

    def __call__(self, text: str, limit: int) -> list[int]:
        folded = fold(text)
        found = [*self.with_words(folded, limit), *self.spelled_alike(folded, limit)]
        concepts = (self.index.best_of_folded(self.names[place]).concept for place in found)
        return list(dict.fromkeys(concepts))[:limit]

    def with_words(self, folded: str, limit: int) -> list[int]:
        words, sizes = self.index.stems(folded), [len(words) for words in self.words]
        shared = Counter(place for word in words for place in self.by_word.get(word, ()))
        fit = [place for place, count in shared.items() if count in (len(words), sizes[place])]
        return sorted(fit, key=lambda p: (sizes[p] - 2 * shared[p], -shared[p], p))[: 3 * limit]

    def spelled_alike(self, folded: str, limit: int) -> list[int]:
        scores: dict[int, float] = {}
        ordered = " ".join(sorted(unaccented(folded).split(" ")))
        for query, choices in ((folded, self.names), (ordered, self.sorted)):
            for _, score, place in process.extract(
                query, choices, scorer=fuzz.ratio, score_cutoff=70, limit=3 * limit
            ):
                scores[place] = max(score, scores.get(place, 0.0))
        return sorted(scores, key=lambda place: (-scores[place], self.names[place]))


def now(taxonomy: om.Taxonomy) -> Ask:
    suggester = Suggester(taxonomy.term_index)
    return lambda text, limit: [one.concept for one in suggester.suggest(text, limit)]


def in_context(taxonomy: om.Taxonomy, owner: int, generator: np.random.Generator) -> Ask:
    """Suggestions in a column whose other values lie in the branch of the right answer."""
    above = sorted(taxonomy.ways_up(owner))
    branch = taxonomy.indices_of(taxonomy.subtree(taxonomy.ids[above[min(2, len(above) - 1)]]))
    weights = np.zeros(len(taxonomy))
    weights[generator.choice(branch, min(CONTEXT, branch.size), replace=False)] = 1.0
    weights[owner] = 0.0
    suggester = Suggester(taxonomy.term_index, taxonomy.totals(weights) / max(1.0, weights.sum()))
    return lambda text, limit: [one.concept for one in suggester.suggest(text, limit)]


def measured(asked: list[Asked], ask: Callable[[int], Ask]) -> str:
    ranks = []
    start = time.process_time()
    for text, owner in asked:
        found = list(ask(owner)(text, 5))
        ranks.append(found.index(owner) if owner in found else 5)
    milliseconds = 1000 * (time.process_time() - start) / len(asked)
    first, five = (np.mean(np.array(ranks) < limit) for limit in (1, 5))
    return f"{first:8.1%}{five:8.1%}{milliseconds:8.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=whole_number, default=300)
    parser.add_argument("--seed", type=int, default=2)
    arguments = parser.parse_args()
    columns = "".join(f"{'at 1':>8}{'at 5':>8}{'ms':>8}" for _ in range(3))
    print(f"{'':18}{'':>6}{'before':>24}{'now':>24}{'in context':>24}")
    print(f"{'taxonomy':18}{'texts':>6}{columns}")
    for name in TAXONOMIES:
        try:
            whole = om.load_taxonomy(name)
        except om.errors.DependencyError as error:
            print(error)
            continue
        generator = np.random.default_rng(arguments.seed)
        taxonomy, asked = held_back(whole, arguments.texts, generator)
        before, after = Before(taxonomy.term_index), now(taxonomy)
        for warm in (before, after):
            warm("a first Text", 5)
        print(
            f"{name:18}{len(asked):6}",
            measured(asked, lambda _, ask=before: ask),
            measured(asked, lambda _, ask=after: ask),
            measured(asked, lambda owner, t=taxonomy, g=generator: in_context(t, owner, g)),
            sep="",
            flush=True,
        )


if __name__ == "__main__":
    main()
