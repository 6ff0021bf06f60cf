"""The knowledge layer in slow plain Python, straight from the definitions."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import product


class SlowTaxonomy:
    """A taxonomy as a dictionary of parents; it must have one root."""

    def __init__(self, parents: dict[str, list[str]]) -> None:
        self.parents = parents

    @cached_property
    def root(self) -> str:
        (root,) = [concept for concept, above in self.parents.items() if not above]
        return root

    def ancestors(self, concept: str) -> set[str]:
        found = {concept}
        for parent in self.parents[concept]:
            found |= self.ancestors(parent)
        return found

    def depth(self, concept: str, root: str | None = None) -> int:
        """Nodes on the longest path from root; 0 when the concept is not below it."""
        root = root or self.root
        if concept == root:
            return 1
        best = max((self.depth(parent, root) for parent in self.parents[concept]), default=0)
        return best + 1 if best else 0

    def up(self, concept: str, ancestor: str) -> float:
        if concept == ancestor:
            return 0
        ways = [self.up(parent, ancestor) + 1 for parent in self.parents[concept]]
        return min(ways, default=math.inf)

    def subtree(self, concept: str) -> set[str]:
        return {other for other in self.parents if concept in self.ancestors(other)}

    def lcs(self, concepts: list[str], root: str | None = None) -> str:
        common = set.intersection(*(self.ancestors(concept) for concept in concepts))
        if root:
            common &= self.subtree(root)
        return min(
            common,
            key=lambda one: (
                -self.depth(one, root),
                sum(self.up(concept, one) for concept in set(concepts)),
                one,
            ),
        )

    def minimum_hierarchy(self, concepts: list[str]) -> set[str]:
        top = self.lcs(concepts)
        return {
            one
            for concept in concepts
            for one in self.ancestors(concept)
            if top in self.ancestors(one)
        }

    def leaves(self, concept: str) -> int:
        inner = {parent for above in self.parents.values() for parent in above}
        return len(self.subtree(concept) - {concept} - inner)

    # Information content ---------------------------------------------------------------------

    def seco(self, concept: str) -> float:
        return 1 - math.log(len(self.subtree(concept))) / math.log(len(self.parents))

    def sanchez(self, concept: str) -> float:
        share = self.leaves(concept) / len(self.ancestors(concept)) + 1
        return -math.log(share / (self.leaves(self.root) + 1))

    def frequency_content(self, counts: dict[str, int], concept: str) -> float:
        below = sum(counts.get(one, 0) + 1 for one in self.subtree(concept))
        everything = sum(counts.get(one, 0) + 1 for one in self.parents)
        return -math.log(below / everything)

    # Distances -------------------------------------------------------------------------------

    def path(self, a: str, b: str, root: str | None = None) -> float:
        common = self.ancestors(a) & self.ancestors(b) & self.subtree(root or self.root)
        return min(self.up(a, one) + self.up(b, one) for one in common)

    def leacock_chodorow(self, a: str, b: str, root: str) -> float:
        deepest = max(self.depth(one, root) for one in self.subtree(root))
        return math.log(self.path(a, b, root) + 1) / math.log(2 * deepest)

    def wu_palmer(self, a: str, b: str, root: str, *, links: bool = False) -> float:
        if a == b:
            return 0.0
        top = self.lcs([a, b], root)
        level = self.depth(top, root) - links
        return 1 - 2 * level / (self.up(a, top) + self.up(b, top) + 2 * level)

    def logsc(self, a: str, b: str) -> float:
        first, second = self.ancestors(a), self.ancestors(b)
        union = len(first | second)
        return math.log2(1 + (union - len(first & second)) / union)

    def tversky(self, a: str, b: str, root: str) -> float:
        if self.depth(a, root) > self.depth(b, root):
            a, b = b, a
        inside = self.subtree(root)
        first, second = self.ancestors(a) & inside, self.ancestors(b) & inside
        low, high = self.depth(a, root), self.depth(b, root)
        gamma = low / (low + high)
        shared = len(first & second)
        rest = gamma * len(first - second) + (1 - gamma) * len(second - first)
        return 1 - shared / (shared + rest)

    def weighted_path(self, a: str, b: str, sample: list[str], top: str) -> float:
        """The weights follow the depths below the root, L is that of the deepest value."""
        deepest = max(self.depth(value, top) for value in sample)
        common = self.ancestors(a) & self.ancestors(b) & self.subtree(top)
        costs = [
            self._weighted_up(a, one, top, deepest) + self._weighted_up(b, one, top, deepest)
            for one in common
        ]
        return min(costs)

    def _weighted_up(self, concept: str, ancestor: str, top: str, deepest: int) -> float:
        if concept == ancestor:
            return 0.0
        weight = 2.0 ** (deepest - self.depth(concept, top))
        ways = [
            self._weighted_up(parent, ancestor, top, deepest) + weight
            for parent in self.parents[concept]
            if self.depth(parent, top)
        ]
        return min(ways, default=math.inf)

    def resnik(self, a: str, b: str, content) -> float:
        largest = max(content(one) for one in self.parents)
        return 0.0 if a == b else 1 - content(self.lcs([a, b])) / largest

    def lin(self, a: str, b: str, content) -> float:
        both = content(a) + content(b)
        return 0.0 if a == b or not both else 1 - 2 * content(self.lcs([a, b])) / both

    def jiang_conrath(self, a: str, b: str, content) -> float:
        largest = max(content(one) for one in self.parents)
        return (content(a) + content(b) - 2 * content(self.lcs([a, b]))) / (2 * largest)


def all_pairs(values: list[str], distance) -> list[list[float]]:
    """The square matrix of a distance, by calling it for every pair."""
    table = {pair: distance(*pair) for pair in product(values, repeat=2)}
    return [[table[a, b] for b in values] for a in values]
