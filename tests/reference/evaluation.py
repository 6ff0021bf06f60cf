"""Loss and linkage in slow plain Python, straight from the definitions, on rows of values."""

from __future__ import annotations

import math
from collections import Counter


def record_distance(one, other, distances) -> float:
    """Mean over attributes; `distances` holds a function per attribute."""
    return sum(d(a, b) for d, a, b in zip(distances, one, other, strict=True)) / len(one)


def linkage_risk(original, masked, distances) -> float:
    """The mean of 1 / |G| where the own masked record is nearest."""
    total = 0.0
    for place, record in enumerate(original):
        found = [record_distance(record, other, distances) for other in masked]
        nearest = [spot for spot, one in enumerate(found) if one <= min(found) + 1e-9]
        total += 1 / len(nearest) if place in nearest else 0.0
    return total / len(original)


def matching_risk(original, masked) -> float:
    total = 0.0
    for place, record in enumerate(original):
        equal = [spot for spot, other in enumerate(masked) if other == record]
        total += 1 / len(equal) if place in equal else 0.0
    return total / len(original)


def squared_error(original, masked, distances) -> float:
    return sum(
        record_distance(one, other, distances) ** 2
        for one, other in zip(original, masked, strict=True)
    )


def divergence(original, masked) -> float:
    before, after = Counter(original), Counter(masked)
    count = len(original)
    floor = 1 / (count + len(before))
    return sum(
        (number / count) * math.log((number / count) / max(after[one] / count, floor))
        for one, number in before.items()
    )


def partition_distance(first, second) -> float:
    def entropy(labels) -> float:
        shares = [number / len(labels) for number in Counter(labels).values()]
        return -sum(share * math.log2(share) for share in shares)

    joint = entropy(list(zip(first, second, strict=True)))
    return (2 * joint - entropy(first) - entropy(second)) / joint if joint else 0.0
