"""How often the concept that a text means is suggested for it, and how quickly.

    python benchmarks/suggestions.py [--texts 300] [--seed 2]

Synonyms of the bundled taxonomies are held back, and those that no rule finds any more are asked
for: how often comes their concept first, how often among the first five? Beside it the same for
what was done before: names that have all words of the text, or a part of them and no others, then
names by edit distance. The last columns give the column a context: a hundred values of the same
branch are mapped already.

Then the same for abbreviations, whose concept, or one below it, is to be suggested: those of the
field, for which the dictionary of abbreviations was made, and those that it does not have: synonyms
that the Disease Ontology lists for diseases that the taxonomy knows by another name of theirs.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from rapidfuzz import fuzz, process

import ontomask as om
from arguments import whole_number
from ontomask.taxonomy.abbreviations import ABBREVIATIONS
from ontomask.taxonomy.suggestions import Suggester
from ontomask.taxonomy.term_index import TermIndex, fold, unaccented

TAXONOMIES = ("icd9cm", "icd9cm-procedures", "icd10cm", "doid", "wordnet")
CONTEXT = 100
SHORT, CODES = re.compile(r"[A-Z]{2,5}"), ("id", "code")
FIELD = {
    "icd9cm": "AMI 410, UTI 599.0, COPD 490-496, CHF 428, DM2 250, HTN 401-405, MI 410, TIA 435, "
    "CABG V45.81, DVT 453, AF 427.31, CKD 585, PE 415.1, GERD 530.81, CAD 414.0, RA 714.0, OA 715, "
    "BPH 600, ESRD 585.6, PNA 480-488, ACS 411.1, NSTEMI 410.7, AKI 584, OSA 327.23, HLD 272, "
    "LBP 724.2, GIB 578, SLE 710.0, ALS 335.20, ADHD 314.0, OCD 300.3, MDD 296, SAH 430, ICH 431",
    "icd9cm-procedures": "CABG 36.1, PTCA 00.66, PCI 00.66, TURP 60.2, TKR 81.54, THR 81.51, "
    "ERCP 51.10, EGD 45.1, ECMO 39.65, LVAD 37.6",
    "icd10cm": "AMI I21, UTI N39.0, COPD J44, CHF I50, DM2 E11, HTN I10, MI I21, TIA G45, "
    "CABG Z95.1, DVT I82.4, AF I48, CKD N18, PE I26, GERD K21, CAD I25, RA M06, OA M19, "
    "BPH N40, ESRD N18.6, PNA J09-J18, ACS I24, NSTEMI I21.4, AKI N17, OSA G47.33, HLD E78, "
    "LBP M54.5, GIB K92.2, SLE M32, ALS G12.21, ADHD F90, OCD F42, MDD F33, SAH I60, ICH I61",
}
"""Abbreviations, each with the concept whose branch they mean."""

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


def of_the_field(taxonomy: om.Taxonomy) -> list[list[str]]:
    return [one.split(" ") for one in FIELD[taxonomy.name].split(", ")]


def of_the_ontology(taxonomy: om.Taxonomy) -> list[list[str]]:
    """Abbreviations that nobody wrote down for this purpose, each with the concept they mean."""
    ontology, index = om.load_taxonomy("doid"), taxonomy.term_index
    listed = {short.upper() for short in ABBREVIATIONS["english"]}
    pairs = []
    for label, synonyms in zip(ontology.labels, ontology.synonyms, strict=True):
        shorts = {one for one in synonyms if SHORT.fullmatch(one)} - listed
        unknown = sorted(one for one in shorts if index.find(one) is None)
        names = [one for one in (label, *synonyms) if unknown and not SHORT.fullmatch(one)]
        matches = [found for one in names if (found := index.find(one)) and found.how not in CODES]
        pairs += [[one, taxonomy.ids[matches[0].concept]] for one in unknown if matches]
    return pairs


def abbreviated(taxonomy: om.Taxonomy, pairs: list[list[str]]) -> str:
    """Recall for abbreviations, before and now, and what is not found."""
    answers = [set(taxonomy.indices_of(taxonomy.subtree(branch)).tolist()) for _, branch in pairs]
    shown, missed = f"{taxonomy.name:18}{len(pairs):6}", ""
    for ask in (Before(taxonomy.term_index), now(taxonomy)):
        found = [ask(text, 5) for text, _ in pairs]
        ranks = [
            next((rank for rank, one in enumerate(each) if one in right), 5)
            for each, right in zip(found, answers, strict=True)
        ]
        first, five = (np.mean(np.array(ranks) < limit) for limit in (1, 5))
        shown += f"{first:8.1%}{five:8.1%}{'':8}"
        missed = " ".join(text for (text, _), rank in zip(pairs, ranks, strict=True) if rank == 5)
    return f"{shown}{missed}"


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
    print("\nabbreviations of the field; at the end those that are not found")
    for name in FIELD:
        taxonomy = om.load_taxonomy(name)
        print(abbreviated(taxonomy, of_the_field(taxonomy)), flush=True)
    print("\nabbreviations that are in no list of ours")
    for name in ("icd9cm", "icd10cm"):
        taxonomy = om.load_taxonomy(name)
        print(abbreviated(taxonomy, of_the_ontology(taxonomy)), flush=True)


if __name__ == "__main__":
    main()
