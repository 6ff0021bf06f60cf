"""Risk of a table in slow plain Python: dictionaries, fractions and definitions word by word."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Rows = Sequence[tuple]


def people(rows: Rows, weights: Sequence[int]) -> list[tuple]:
    """One row per person."""
    return [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]


def classes(rows: Rows) -> Counter:
    return Counter(rows)


def prosecutor(rows: Rows, threshold: float) -> tuple[float, float, float]:
    sizes = classes(rows)
    risks = [Fraction(1, sizes[row]) for row in rows]
    above = sum(risk > Fraction(threshold).limit_denominator(10**6) for risk in risks)
    return float(max(risks)), float(sum(risks) / len(rows)), above / len(rows)


def distinct_l(rows: Rows, values: Sequence) -> int:
    return min(len(set(found)) for found in _by_class(rows, values).values())


def homogeneous(rows: Rows, values: Sequence) -> float:
    found = _by_class(rows, values).values()
    return sum(len(members) for members in found if len(set(members)) == 1) / len(rows)


def entropy_l(rows: Rows, values: Sequence) -> float:
    return min(math.exp(_entropy(found)) for found in _by_class(rows, values).values())


def closeness_t(rows: Rows, values: Sequence) -> float:
    whole = Counter(values)
    return max(_distance(Counter(found), whole) for found in _by_class(rows, values).values())


def _by_class(rows: Rows, values: Sequence) -> dict[tuple, list]:
    found: dict[tuple, list] = {}
    for row, value in zip(rows, values, strict=True):
        found.setdefault(row, []).append(value)
    return found


def _entropy(values: Sequence) -> float:
    shares = [count / len(values) for count in Counter(values).values()]
    return -sum(share * math.log(share) for share in shares)


def _distance(part: Counter, whole: Counter) -> float:
    few, many = sum(part.values()), sum(whole.values())
    return sum(abs(part[value] / few - whole[value] / many) for value in whole) / 2


def separation(rows: Rows) -> float:
    """The share of pairs of people who differ."""
    pairs = list(combinations(rows, 2))
    return sum(one != other for one, other in pairs) / len(pairs)


def unique_people(rows: Rows, members: Sequence[int]) -> set[int]:
    """Who has a combination of values that nobody else has."""
    parts = [tuple(row[member] for member in members) for row in rows]
    counts = Counter(parts)
    return {person for person, part in enumerate(parts) if counts[part] == 1}


def minimal_unique_sets(rows: Rows, largest: int) -> dict[int, list[tuple[int, ...]]]:
    """For each person all sets of columns that are unique while no proper subset is."""
    columns = range(len(rows[0]))
    unique = {
        members: unique_people(rows, members)
        for size in range(1, largest + 1)
        for members in combinations(columns, size)
    }
    found: dict[int, list[tuple[int, ...]]] = {person: [] for person in range(len(rows))}
    for members, whom in unique.items():
        smaller = [part for size in range(1, len(members)) for part in combinations(members, size)]
        for person in whom:
            if not any(person in unique[part] for part in smaller):
                found[person].append(members)
    return found


def zayatz(sizes: Sequence[int], population: int) -> Fraction:
    """S_1 = s_1 P(F = 1 | f = 1) N / n with exact binomial coefficients."""
    drawn, counts = sum(sizes), Counter(sizes)

    def chance(size: int) -> Fraction:
        others = math.comb(population - size, drawn - 1)
        return Fraction(size * others, math.comb(population, drawn))

    total = sum(count * chance(size) for size, count in counts.items())
    return counts[1] * (counts[1] * chance(1) / total) * Fraction(population, drawn)


def pitman_log_likelihood(sizes: Sequence[int], alpha: float, theta: float) -> float:
    """Pitman's sampling formula, factor by factor."""
    value = sum(math.log(theta + step * alpha) for step in range(1, len(sizes)))
    value -= sum(math.log(theta + step) for step in range(1, sum(sizes)))
    return value + sum(math.log(step - alpha) for size in sizes for step in range(1, size))


def pitman_uniques(count: int, alpha: float, theta: float) -> float:
    """Seat people one after the other, keeping the expected number of those who sit alone.

    The next person opens a table with probability (theta + alpha K) / (theta + i) and joins a
    table of one with probability (1 - alpha) / (theta + i); expectations are linear in both.
    """
    tables = alone = 0.0
    for seated in range(count):
        opening = (theta + alpha * tables) / (theta + seated)
        joining = alone * (1 - alpha) / (theta + seated)
        tables, alone = tables + opening, alone + opening - joining
    return alone


def slide_negative_binomial(
    alpha: float, beta: float, fraction: float, size: int, terms: int = 4000
) -> float:
    """P(f = size) by adding up P(F = j) times the binomial chance that `size` of j are drawn."""
    total = 0.0
    for whole in range(size, terms):
        chance = math.lgamma(alpha + whole - 1) - math.lgamma(alpha) - math.lgamma(whole)
        chance += alpha * math.log(beta) + (whole - 1) * math.log(1 - beta)
        drawn = math.log(math.comb(whole, size)) + size * math.log(fraction)
        total += math.exp(chance + drawn + (whole - size) * math.log(1 - fraction))
    return total


def shlosser(sizes: Sequence[int], fraction: float) -> float:
    """The modified estimator of Haas and Stokes, term by term."""
    counts = Counter(sizes)
    items = counts.items()
    first = sum(i * fraction**2 * (1 - fraction**2) ** (i - 1) * s for i, s in items)
    second = sum((1 - fraction) ** i * ((1 + fraction) ** i - 1) * s for i, s in items)
    third = sum((1 - fraction) ** i * s for i, s in items)
    fourth = sum(i * fraction * (1 - fraction) ** (i - 1) * s for i, s in items)
    return len(sizes) + counts[1] * first / second * (third / fourth) ** 2


def sampled(sizes: Sequence[int], fraction: float, generator) -> list[int]:
    """Draw people without replacement from classes of these sizes; the classes of the sample."""
    owners = [place for place, size in enumerate(sizes) for _ in range(size)]
    drawn = generator.choice(len(owners), round(len(owners) * fraction), replace=False)
    return list(Counter(owners[person] for person in drawn.tolist()).values())
