"""Privacy models in plain Python, counted on the rows of a release; nothing shared.

A release is a list of `Row`: what an intruder sees of a record, its sensitive value, how many
records it stands for and how many people. The whole table is a dictionary of people by value.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple


class Row(NamedTuple):
    seen: tuple
    value: object
    count: int = 1
    people: float = 1.0


def classes_of(rows):
    found = defaultdict(list)
    for row in rows:
        found[row.seen].append(row)
    return list(found.values())


def sums(members, amount):
    found = defaultdict(float)
    for row in members:
        found[row.value] += getattr(row, amount)
    return dict(found)


def shares(amounts):
    total = sum(amounts.values())
    return {value: amount / total for value, amount in amounts.items()}


def size(members):
    return sum(row.count for row in members)


def smallest_class(rows):
    return min(size(members) for members in classes_of(rows))


def fewest_people(rows):
    return min(sum(row.people for row in members) for members in classes_of(rows))


def fewest_values(rows):
    return min(len(sums(members, "count")) for members in classes_of(rows))


def least_entropy(rows):
    """exp of the entropy of records, the l of entropy l-diversity."""
    entropies = []
    for members in classes_of(rows):
        parts = shares(sums(members, "count")).values()
        entropies.append(math.exp(-sum(part * math.log(part) for part in parts)))
    return min(entropies)


def largest_distance(rows, whole):
    """The t of t-closeness with equal distances, people being weighed."""
    q = shares(whole)
    distances = []
    for members in classes_of(rows):
        p = shares(sums(members, "people"))
        distances.append(sum(abs(p.get(value, 0.0) - q[value]) for value in q) / 2)
    return max(distances)


def ratios(rows, whole):
    """(p, q) of every present value of every class."""
    q = shares(whole)
    return [
        (p, q[value])
        for members in classes_of(rows)
        for value, p in shares(sums(members, "people")).items()
    ]


def largest_disclosure(rows, whole):
    return max(abs(math.log2(p / q)) for p, q in ratios(rows, whole))


def largest_gain(rows, whole):
    return max((p - q) / q for p, q in ratios(rows, whole))


def average_risk(rows):
    return len(classes_of(rows)) / size(rows)


def uniqueness(rows):
    return sum(size(members) == 1 for members in classes_of(rows)) / size(rows)
