"""How fast semantic distances are.

All pairs of 1,000 random WordNet nouns and of 1,000 concepts of a synthetic taxonomy of 300,000
concepts and about 500,000 links, for every measure, in pairs per second; beside it a plain loop
over pairs with the same definitions (and NLTK where its WordNet is at hand) on a sample. Also the
pairs per second of two lists (`paired`) and of one call per pair (`distance`).

    python benchmarks/distances.py [--values 1000] [--concepts 300000]
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

import ontomask as om
from arguments import whole_number

LOOP_PAIRS = 300


def timed(function: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def synthetic(concepts: int, generator: np.random.Generator) -> dict[str, list[str]]:
    """A graph shaped like a clinical terminology: bushy, 16 levels, two parents for two in three.

    The second parent is a neighbor of the first (a sibling or cousin), as in real terminologies.
    """
    sizes = np.minimum(5.0 ** np.arange(1, 16), concepts).cumsum()
    sizes = np.unique(np.minimum(sizes, concepts - 1).astype(int))
    levels = [np.arange(a, b) for a, b in zip([1, *(sizes[:-1] + 1)], sizes + 1, strict=True)]
    deep = np.array_split(levels[-1], max(1, 16 - len(levels)))
    parents: dict[str, list[str]] = {"000000": []}
    above = np.array([0])
    for level in [*levels[:-1], *deep]:
        first = np.sort(generator.integers(0, above.size, level.size))
        second = np.clip(first + generator.integers(-2, 3, level.size), 0, above.size - 1)
        for concept, one, other in zip(level, above[first], above[second], strict=True):
            parents[f"{concept:06d}"] = list({f"{one:06d}", f"{other:06d}"})
        above = level
    return parents


class Loop:
    """The measures pair by pair in plain Python, ancestor sets remembered."""

    def __init__(self, taxonomy: om.Taxonomy) -> None:
        self.taxonomy = taxonomy
        self.known: dict[str, dict[str, int]] = {}

    def ups(self, concept: str) -> dict[str, int]:
        if concept not in self.known:
            ways = {concept: 0}
            level = [concept]
            while level:
                level = [p for one in level for p in self.taxonomy.parents(one) if p not in ways]
                ways.update(dict.fromkeys(level, max(ways.values()) + 1))
            self.known[concept] = ways
        return self.known[concept]

    def logsc(self, a: str, b: str) -> float:
        first, second = self.ups(a).keys(), self.ups(b).keys()
        union = len(first | second)
        return float(np.log2(1 + (union - len(first & second)) / union))


def loop_rate(taxonomy: om.Taxonomy, values: list[str]) -> float:
    loop = Loop(taxonomy)
    pairs = list(zip(values[:LOOP_PAIRS], values[::-1][:LOOP_PAIRS], strict=True))
    for value in values:
        loop.ups(value)
    seconds, _ = timed(lambda: [loop.logsc(a, b) for a, b in pairs])
    return len(pairs) / seconds


def nltk_rate(values: list[str]) -> float | None:
    try:
        from nltk.corpus import wordnet

        synsets = [wordnet.synset(value) for value in values[:LOOP_PAIRS]]
    except (ImportError, LookupError):
        return None
    pairs = list(zip(synsets, synsets[::-1], strict=True))
    seconds, _ = timed(lambda: [a.wup_similarity(b) for a, b in pairs])
    return len(pairs) / seconds


def paired_rate(taxonomy: om.Taxonomy, values: list[str], measure: str) -> float:
    first, second = values * 100, (values[1:] + values[:1]) * 100
    taxonomy.paired(first, second, measure)
    return len(first) / timed(lambda: taxonomy.paired(first, second, measure))[0]


def single_rate(taxonomy: om.Taxonomy, values: list[str], measure: str) -> float:
    pairs = list(zip(values, values[::-1], strict=True))

    def every() -> list[float]:
        return [taxonomy.distance(a, b, measure) for a, b in pairs]

    every()
    return len(pairs) / timed(every)[0]


def report(title: str, taxonomy: om.Taxonomy, values: list[str]) -> None:
    baseline = loop_rate(taxonomy, values)
    print(
        f"\n{title}: {len(values):,} values, all pairs; plain loop (logSC) {baseline:,.0f} pairs/s"
    )
    print(
        f"{'measure':18}{'first s':>9}{'again s':>9}{'pairs/s':>15}{'x loop':>10}{'peak MB':>9}"
        f"{'paired/s':>12}{'single/s':>12}"
    )
    for measure in om.knowledge.measures():
        first, _ = timed(lambda name=measure.name: taxonomy.distances(values, name))
        again = min(
            timed(lambda name=measure.name: taxonomy.distances(values, name))[0] for _ in range(5)
        )
        tracemalloc.start()
        taxonomy.distances(values, measure.name)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        rate = len(values) ** 2 / again
        print(
            f"{measure.name:18}{first:9.3f}{again:9.3f}{rate:15,.0f}{rate / baseline:10,.0f}"
            f"{peak:9.1f}{paired_rate(taxonomy, values, measure.name):12,.0f}"
            f"{single_rate(taxonomy, values, measure.name):12,.0f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=whole_number, default=1000)
    parser.add_argument("--concepts", type=whole_number, default=300_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    generator = np.random.default_rng(arguments.seed)
    om.Taxonomy.from_parents({"t": [], "a": ["t"]}).distances(["a"])  # compile
    seconds, wordnet = timed(lambda: om.load_taxonomy("wordnet"))
    print(f"load bundled WordNet: {seconds:.3f} s, {wordnet}")
    values = generator.choice(np.array(wordnet.ids), arguments.values, replace=False).tolist()
    report("WordNet nouns", wordnet, values)
    rate = nltk_rate(values)
    print(f"NLTK (wu-palmer): {f'{rate:,.0f} pairs/s' if rate else 'its WordNet is not installed'}")
    parents = synthetic(arguments.concepts, generator)
    seconds, big = timed(lambda: om.Taxonomy.from_parents(parents))
    print(f"\nbuild the synthetic taxonomy: {seconds:.2f} s, {big}")
    print(f"mean ancestors: {big.subsumer_counts.mean():.1f}")
    values = generator.choice(np.array(big.ids), arguments.values, replace=False).tolist()
    report("Synthetic", big, values)


if __name__ == "__main__":
    main()
