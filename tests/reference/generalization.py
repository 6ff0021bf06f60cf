"""Generalization in plain Python: dictionaries, loops and the definitions, nothing shared.

A table is a list of records (tuples of values), a hierarchy a list of rows (value, generalization,
…, root), a node a tuple of levels. Classes are dictionaries from generalized tuples to lists of
record numbers.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict


def generalize(value, hierarchy, level):
    return next(row[level] for row in hierarchy if row[0] == value)


def classes_at(records, hierarchies, node):
    found = defaultdict(list)
    for number, record in enumerate(records):
        key = tuple(
            generalize(value, hierarchy, level)
            for value, hierarchy, level in zip(record, hierarchies, node, strict=True)
        )
        found[key].append(number)
    return dict(found)


def nodes(hierarchies):
    return list(itertools.product(*(range(len(one[0])) for one in hierarchies)))


# Single tuples --------------------------------------------------------------------------------


def meeting_level(ladder, one, other, level):
    """The lowest level, from a level on, at which two rows have the same code; None if none."""
    above = range(level, len(ladder))
    return next((high for high in above if ladder[high][one] == ladder[high][other]), None)


def steps_up(ladder, row, low, high):
    sizes = [level.count(level[row]) for level in ladder]
    return sum(sizes[level] != sizes[level - 1] for level in range(low + 1, high + 1))


def merger(ladders, group, partner):
    """The levels at which two groups (rows, levels, records, persons) meet, and the cost."""
    met, cost = [], 0
    for ladder, *sides in zip(ladders, *group[:2], *partner[:2], strict=True):
        one, low, other, high = sides
        level = meeting_level(ladder, one, other, max(low, high))
        if level is None:
            return None
        cost += group[2] * steps_up(ladder, one, low, level)
        cost += partner[2] * steps_up(ladder, other, high, level)
        met.append(level)
    return cost, met


def merged_smallest(tuples, sizes, persons, ladders, k):
    """For each tuple the one that it ends in and its levels, by a look at every group."""
    groups = {
        place: (row, [0] * len(ladders), size, whose)
        for place, (row, size, whose) in enumerate(zip(tuples, sizes, persons, strict=True))
    }
    ends = [*range(len(tuples))]
    while small := [(len(one[3]), place) for place, one in groups.items() if len(one[3]) < k]:
        gone = min(small)[1]
        left = groups.pop(gone)
        found = {place: merger(ladders, left, one) for place, one in groups.items()}
        costs = [(told[0], place) for place, told in found.items() if told is not None]
        if not costs:
            groups[gone] = left
            break
        into = min(costs)[1]
        row, _, size, whose = groups[into]
        groups[into] = row, found[into][1], size + left[2], whose | left[3]
        ends = [into if end == gone else end for end in ends]
    return ends, [groups[end][1] for end in ends]


# Privacy: one class at a time -----------------------------------------------------------------


def frequencies(values, domain):
    counts = Counter(values)
    return [counts[one] / len(values) for one in domain]


def entropy(values):
    shares = [count / len(values) for count in Counter(values).values()]
    return -sum(share * math.log(share) for share in shares)


def recursive_diverse(values, length, c):
    ordered = sorted(Counter(values).values(), reverse=True)
    return ordered[0] < c * sum(ordered[length - 1 :])


def equal_distance(inside, everything):
    domain = sorted(set(everything))
    p, q = frequencies(inside, domain), frequencies(everything, domain)
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def ordered_distance(inside, everything, order):
    p, q = frequencies(inside, order), frequencies(everything, order)
    sums = itertools.accumulate(a - b for a, b in zip(p, q, strict=True))
    return sum(abs(one) for one in sums) / (len(order) - 1)


def tree_distance(inside, everything, hierarchy):
    """The earth mover's distance over a tree: what must cross each link, times its length.

    Two values are as far apart as the level of their lowest common generalization over the height,
    which is the length of the way between them if every link has length 1 / (2 height).
    """
    height = len(hierarchy[0]) - 1
    total = 0.0
    for level in range(height):
        labels = {row[0]: row[level] for row in hierarchy}
        for label in set(labels.values()):
            p = sum(labels[value] == label for value in inside) / len(inside)
            q = sum(labels[value] == label for value in everything) / len(everything)
            total += abs(p - q) / (2 * height)
    return total


def line_distance(inside, everything, places):
    """The earth mover's distance of values on a line: what must pass each gap, times its width."""
    ordered = sorted(places, key=places.get)
    total = 0.0
    for left, right in itertools.pairwise(ordered):
        p = sum(places[value] <= places[left] for value in inside) / len(inside)
        q = sum(places[value] <= places[left] for value in everything) / len(everything)
        total += abs(p - q) * (places[right] - places[left])
    return total


# Suppression ----------------------------------------------------------------------------------


def suppressed_keys(classes, holds):
    """The classes that fail; `holds` is told the record numbers of a class."""
    return {key for key, members in classes.items() if not holds(members)}


# Quality --------------------------------------------------------------------------------------


class Scene:
    """A table at a node with some classes suppressed, and what it costs."""

    def __init__(self, records, hierarchies, node, suppressed):
        self.records, self.hierarchies, self.node = records, hierarchies, node
        self.classes = classes_at(records, hierarchies, node)
        self.gone = suppressed
        self.total = len(records)
        self.lost = sum(len(self.classes[key]) for key in suppressed)

    def share(self, attribute, label):
        hierarchy = self.hierarchies[attribute]
        level = self.node[attribute]
        return sum(row[level] == label for row in hierarchy) / len(hierarchy)

    def factors(self, g):
        return (1 if g <= 0.5 else 1 - 2 * (g - 0.5)), (2 * g if g < 0.5 else 1)

    def loss_parts(self, g=0.5):
        generalization, suppression = self.factors(g)
        parts = []
        for attribute, hierarchy in enumerate(self.hierarchies):
            cost = 0.0
            for key, members in self.classes.items():
                share = self.share(attribute, key[attribute])
                each = generalization * share
                if key in self.gone:
                    each = share + suppression * (1 - share)
                cost += len(members) * each
            least = generalization * self.total / len(hierarchy)
            span = self.total - least
            parts.append((cost - least) / (span if span else 1))
        return parts

    def loss(self, g=0.5):
        parts = self.loss_parts(g)
        return math.prod(1 + part for part in parts) ** (1 / len(parts)) - 1

    def precision(self, g=0.5):
        generalization, suppression = self.factors(g)
        kept = self.total - self.lost
        heights = [len(one[0]) - 1 for one in self.hierarchies]
        parts = [
            (generalization * kept * level / max(height, 1) + suppression * self.lost) / self.total
            for level, height in zip(self.node, heights, strict=True)
        ]
        return sum(parts) / len(parts)

    def discernibility(self):
        return sum(
            len(members) * (self.total if key in self.gone else len(members))
            for key, members in self.classes.items()
        )

    def average_class_size(self):
        return self.total / (len(self.classes) - len(self.gone) + bool(self.gone))

    def non_uniform_entropy(self):
        total = 0.0
        for attribute, hierarchy in enumerate(self.hierarchies):
            column = [record[attribute] for record in self.records]
            level = self.node[attribute]
            general = [generalize(value, hierarchy, level) for value in column]
            counts, united = Counter(column), Counter(general)
            total -= sum(
                math.log2(counts[value] / united[label])
                for value, label in zip(column, general, strict=True)
            )
            lost = [key[attribute] for key in self.gone for _ in self.classes[key]]
            total -= sum(math.log2(Counter(lost)[label] / len(lost)) for label in lost)
        return total

    def area(self, key):
        return math.prod(
            self.share(attribute, label) * len(self.hierarchies[attribute])
            for attribute, label in enumerate(key)
        )

    def everything(self):
        return math.prod(len(one) for one in self.hierarchies)

    def kl_divergence(self):
        original = Counter(self.records)
        total = 0.0
        for key, members in self.classes.items():
            spread = len(members) / self.total / self.area(key)
            if key in self.gone:
                spread = self.lost / self.total / self.everything()
            for number in members:
                p = original[self.records[number]] / self.total
                total += p * math.log2(p / spread)
        return total

    def ambiguity(self):
        return sum(
            len(members) * (self.everything() if key in self.gone else self.area(key))
            for key, members in self.classes.items()
        )

    def height(self):
        return sum(self.node)

    def entropy_loss(self):
        shares = {
            key: math.prod(self.share(attribute, label) for attribute, label in enumerate(key))
            for key in self.classes
        }
        return sum(
            len(members)
            * (
                1
                if key in self.gone
                else math.log10(shares[key]) / math.log10(self.everything()) + 1
            )
            for key, members in self.classes.items()
        )

    def classification(self, target, penalties=(0.5, 1.0, 1.0)):
        suppressed, minority, tie = penalties
        cost = 0.0
        for key, members in self.classes.items():
            votes = Counter(target[number] for number in members).most_common()
            unique = len(votes) == 1 or votes[0][1] > votes[1][1]
            for number in members:
                if key in self.gone:
                    cost += suppressed
                elif not unique:
                    cost += tie
                elif target[number] != votes[0][0]:
                    cost += minority
        return cost / self.total / max(penalties)

    def semantic(self):
        cost = 0.0
        for key, members in self.classes.items():
            for number in members:
                cost += 1.0 if key in self.gone else self._mean_distance(self.records[number]) ** 2
        return cost

    def _mean_distance(self, record):
        """Mean of log2(2 - shared / all ancestors), repeated values counted once."""
        distances = []
        for value, hierarchy, level in zip(record, self.hierarchies, self.node, strict=True):
            row = next(row for row in hierarchy if row[0] == value)
            meanings = [
                frozenset(other[0] for other in hierarchy if other[place] == label)
                for place, label in enumerate(row)
            ]
            all_above = len(set(meanings))
            shared = len(set(meanings[level:]))
            distances.append(math.log2(2 - shared / all_above))
        return sum(distances) / len(distances)
