"""Counting on the written text, with the csv module and definitions: nothing of the package.

Every definition is that of the literature, written down again as plainly as can be; speed does not
matter here, and nothing is shared with the code that makes or recounts a release.
"""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

ROUNDING = 1e-7
"""Sums of shares are not exact."""

Shares = Mapping[str, float]


@dataclass(frozen=True)
class Text:
    """A table as a reader sees it: names, and rows of texts."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, text: str) -> Text:
        first, *rest = csv.reader(io.StringIO(text, newline=""), strict=True)
        assert all(len(row) == len(first) for row in rest), "rows of different lengths"
        return cls(tuple(first), tuple(tuple(row) for row in rest))

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[str]:
        place = self.names.index(name)
        return [row[place] for row in self.rows]

    def classes(self, names: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
        """The records of each combination of texts."""
        found: dict[tuple[str, ...], list[int]] = defaultdict(list)
        columns = [self.column(name) for name in names if name in self.names]
        for place in range(len(self)):
            found[tuple(column[place] for column in columns)].append(place)
        return dict(found)


def sizes(text: Text, names: Sequence[str], count: str | None) -> list[int]:
    """How many records each class stands for."""
    amounts = [1] * len(text) if count is None else [int(float(one)) for one in text.column(count)]
    return [sum(amounts[one] for one in places) for places in text.classes(names).values()]


def smallest_class(text: Text, names: Sequence[str], count: str | None = None) -> int:
    return min(sizes(text, names, count), default=0)


def average_risk(text: Text, names: Sequence[str], count: str | None = None) -> float:
    found = sizes(text, names, count)
    return len(found) / sum(found)


def share_of_uniques(text: Text, names: Sequence[str], count: str | None = None) -> float:
    found = sizes(text, names, count)
    return sum(size for size in found if size == 1) / sum(found)


# What a class says of a sensitive column ------------------------------------------------------


def histograms(
    text: Text, names: Sequence[str], values: Sequence[str], amounts: Sequence[float]
) -> list[dict[str, float]]:
    """For each class how much there is of each value."""
    found = []
    for places in text.classes(names).values():
        counts: defaultdict[str, float] = defaultdict(float)
        for place in places:
            counts[values[place]] += amounts[place]
        found.append(dict(counts))
    return found


def shares(counts: Mapping[str, float]) -> dict[str, float]:
    total = sum(counts.values())
    return {value: count / total for value, count in counts.items()}


def is_distinct_diverse(counts: Mapping[str, float], diversity: float) -> bool:
    return len(counts) >= diversity - ROUNDING


def is_entropy_diverse(counts: Mapping[str, float], diversity: float) -> bool:
    entropy = -sum(share * math.log(share) for share in shares(counts).values())
    return entropy >= math.log(diversity) - ROUNDING


def is_recursively_diverse(counts: Mapping[str, float], diversity: float, factor: float) -> bool:
    ranked = sorted(counts.values(), reverse=True)
    return ranked[0] < factor * sum(ranked[math.ceil(diversity - ROUNDING) - 1 :])


def is_grassberger_diverse(counts: Mapping[str, float], diversity: float) -> bool:
    """Entropy with G(n) in the place of ln n, and l different values besides."""
    total = sum(counts.values())
    spread = sum(count * _grassberger(count) for count in counts.values()) / total
    enough = _grassberger(total) - spread >= math.log(diversity) - ROUNDING
    return enough and is_distinct_diverse(counts, diversity)


def _grassberger(count: float) -> float:
    """G(1) = -gamma - ln 2; G(2n) = G(2n + 1) = G(1) + 2/1 + 2/3 + … + 2/(2n - 1)."""
    odd = sum(2.0 / (2 * one - 1) for one in range(1, int(count) // 2 + 1))
    return odd - np.euler_gamma - math.log(2.0)


def is_delta_disclosing(p: Shares, q: Shares, delta: float) -> bool:
    """Whether a value is too rare or too frequent; one that nobody had is."""
    return any(
        value not in q or abs(math.log2(share / q[value])) > delta + ROUNDING
        for value, share in p.items()
    )


def is_beta_like(p: Shares, q: Shares, beta: float, *, enhanced: bool) -> bool:
    for value, share in p.items():
        if value not in q:
            return False
        bound = min(beta, -math.log(q[value])) if enhanced else beta
        if (share - q[value]) / q[value] > bound + ROUNDING:
            return False
    return True


def earth_mover(p: Shares, q: Shares, ground: Callable[[str, str], float]) -> float:
    """The least cost of moving p to q, as a linear program over all flows."""
    values = sorted(set(p) | set(q))
    size = len(values)
    costs = [ground(one, other) for one in values for other in values]
    out_of = np.kron(np.eye(size), np.ones(size))
    into = np.kron(np.ones(size), np.eye(size))
    amounts = [p.get(one, 0.0) for one in values] + [q.get(one, 0.0) for one in values]
    found = linprog(costs, A_eq=np.vstack([out_of, into]), b_eq=amounts, method="highs")
    assert found.status == 0, found.message
    return float(found.fun)


def equal_ground(one: str, other: str) -> float:
    return float(one != other)


def ordered_ground(order: Sequence[str]) -> Callable[[str, str], float]:
    """Ranks apart, over the largest."""
    ranks = {value: rank for rank, value in enumerate(order)}
    return lambda one, other: abs(ranks[one] - ranks[other]) / max(1, len(order) - 1)


def hierarchical_ground(rows: Sequence[Sequence[str]]) -> Callable[[str, str], float]:
    """The level of the first common generalization, over the height; 1 to a missing value."""
    by_value = {row[0]: row for row in rows}
    height = len(rows[0]) - 1

    def ground(one: str, other: str) -> float:
        if one == other:
            return 0.0
        if one not in by_value or other not in by_value:
            return 1.0
        pairs = zip(by_value[one], by_value[other], strict=True)
        return next(level for level, (a, b) in enumerate(pairs) if a == b) / height

    return ground


def semantic_ground(parents: Mapping[str, Sequence[str]]) -> Callable[[str, str], float]:
    """log2(1 + ancestors not shared / all ancestors of both), 1 to a missing value."""

    def above(concept: str) -> set[str]:
        return {concept}.union(*(above(parent) for parent in parents[concept]))

    def ground(one: str, other: str) -> float:
        if one == other:
            return 0.0
        if one not in parents or other not in parents:
            return 1.0
        ones, others = above(one), above(other)
        return math.log2(1.0 + len(ones ^ others) / len(ones | others))

    return ground
