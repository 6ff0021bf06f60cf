"""Microaggregation and recoding as the specification says them: lists, dictionaries, no arrays.

Everything is read off `Points` once, into `Case`; from there on the text of sections 2.1, 3.1 and
3.2 is followed line by line, with full scans.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ontomask.kernels.records import LCS, MINIMUM_HIERARCHY, RANDOM, Points


class Column(NamedTuple):
    table: list[list[float]]
    costs: list[list[float]]  # [row][value]
    own: list[int]
    depths: list[int]
    above: list[set[int]]
    rule: int
    missing: int


class Case(NamedTuple):
    columns: list[Column]
    codes: list[list[int]]  # [point][attribute]
    numbers: list[list[float]]
    gaps: list[float]
    sizes: list[float]
    weights: list[float]
    factors: list[float]
    power: int


def _column(points: Points, j: int) -> Column:
    start, rows, values, row_start, first, rule, missing, _ = points.heads[j, :8].tolist()
    size = rows * values
    bounds = points.lineages[row_start : row_start + rows + 1].tolist()
    lineages = [points.lineages[bounds[r] : bounds[r + 1]].tolist() for r in range(rows)]
    return Column(
        points.tables[start : start + size].reshape(rows, values).tolist(),
        points.costs[start : start + size].reshape(values, rows).T.tolist(),
        points.lineages[first : first + values].tolist(),
        [lineage[0] for lineage in lineages],
        [set(lineage[1:]) for lineage in lineages],
        rule,
        missing,
    )


def case_of(points: Points) -> Case:
    return Case(
        [_column(points, j) for j in range(points.codes.shape[0])],
        points.codes.T.tolist(),
        points.numbers.T.tolist(),
        points.gaps.tolist(),
        points.sizes.tolist(),
        points.weights.tolist(),
        points.factors.tolist(),
        points.power,
    )


Reference = tuple[list[int], list[float]]


def number_part(x: float, y: float, gap: float, power: int) -> float:
    if math.isnan(x) and math.isnan(y):
        return 0.0
    if math.isnan(x) or math.isnan(y):
        return gap
    return abs(x - y) ** power


def reference_of(case: Case, i: int) -> Reference:
    rows = [column.own[v] for column, v in zip(case.columns, case.codes[i], strict=True)]
    return rows, list(case.numbers[i])


def contribution(case: Case, reference: Reference, i: int, costs: bool = False) -> float:
    rows, numbers = reference
    total = 0.0
    for column, row, value in zip(case.columns, rows, case.codes[i], strict=True):
        total += (column.costs if costs else column.table)[row][value]
    for x, y, gap in zip(case.numbers[i], numbers, case.gaps, strict=True):
        total += number_part(x, y, gap, case.power)
    return total


def distance(case: Case, reference: Reference, i: int) -> float:
    return contribution(case, reference, i) * case.factors[i]


def centroid_row(case: Case, members: list[int], j: int) -> int:
    column = case.columns[j]
    present = {case.codes[i][j] for i in members}
    known = present - {column.missing}
    own = {column.own[v] for v in present}
    candidates = own
    if column.rule in (MINIMUM_HIERARCHY, LCS) and known:
        covering = set.intersection(*(column.above[column.own[v]] for v in known))
        lcs = min(covering, key=lambda row: (-column.depths[row], row))
        if column.rule == LCS:
            return lcs
        candidates = {
            row for v in known for row in column.above[column.own[v]] if lcs in column.above[row]
        }
        if column.missing in present:
            candidates.add(column.own[column.missing])
    sums = {
        row: math.fsum(case.weights[i] * column.costs[row][case.codes[i][j]] for i in members)
        for row in candidates
    }
    least = min(sums.values())
    weight = sum(case.weights[i] for i in members)
    return min(row for row in sums if sums[row] <= least + 1e-9 * (abs(least) + weight))


def centroid_number(case: Case, members: list[int], a: int) -> float:
    known = [i for i in members if not math.isnan(case.numbers[i][a])]
    weight = sum(case.weights[i] for i in known)
    missing = sum(case.weights[i] for i in members) - weight
    if missing > weight or not known:
        return math.nan
    return sum(case.weights[i] * case.numbers[i][a] for i in known) / weight


def centroid(case: Case, members: list[int]) -> Reference:
    return (
        [centroid_row(case, members, j) for j in range(len(case.columns))],
        [centroid_number(case, members, a) for a in range(len(case.gaps))],
    )


def random_centroid(case: Case, members: list[int], uniform: float) -> Reference:
    rows, numbers = centroid(case, members)
    passed, total = 0.0, sum(case.weights[i] for i in members)
    drawn = members[-1]
    for i in members:
        passed += case.weights[i]
        if uniform * total < passed:
            drawn = i
            break
    own = reference_of(case, drawn)[0]
    rules = [column.rule for column in case.columns]
    return [
        o if rule == RANDOM else r for o, r, rule in zip(own, rows, rules, strict=True)
    ], numbers


def farthest(case: Case, reference: Reference, remaining: list[int]) -> int:
    return max(remaining, key=lambda i: (distance(case, reference, i), -i))


def nearest(case: Case, reference: Reference, remaining: list[int]) -> int:
    return min(remaining, key=lambda i: (distance(case, reference, i), i))


def _labels(case: Case, clusters: list[list[int]]) -> list[int]:
    labels = [-1] * len(case.weights)
    for number, cluster in enumerate(clusters):
        for i in cluster:
            labels[i] = number
    return labels


def records(case: Case, members: list[int]) -> float:
    return sum(case.sizes[i] for i in members)


def _around(case: Case, r: int, k: int, remaining: list[int]) -> list[int]:
    """r and its nearest until they are k records, removed from the remaining."""
    cluster = [r]
    remaining.remove(r)
    reference = reference_of(case, r)
    while records(case, cluster) < k:
        cluster.append(nearest(case, reference, remaining))
        remaining.remove(cluster[-1])
    return cluster


def mdav(points: Points, k: int) -> list[int]:
    case = case_of(points)
    remaining = list(range(len(case.weights)))
    clusters = []
    while records(case, remaining) >= 3 * k:
        r = farthest(case, centroid(case, remaining), remaining)
        clusters.append(_around(case, r, k, remaining))
        if records(case, remaining) >= 2 * k:  # always, where every point is one record
            s = farthest(case, reference_of(case, r), remaining)
            clusters.append(_around(case, s, k, remaining))
    if records(case, remaining) >= 2 * k:
        r = farthest(case, centroid(case, remaining), remaining)
        clusters.append(_around(case, r, k, remaining))
    if records(case, remaining) >= k or not clusters:
        clusters.append(remaining)
    else:
        _join_nearest(case, clusters, remaining)
    return _labels(case, clusters)


def _join_nearest(case: Case, clusters: list[list[int]], remaining: list[int]) -> None:
    centers = [centroid(case, cluster) for cluster in clusters]
    for i in remaining:
        choices = [contribution(case, center, i) for center in centers]
        clusters[choices.index(min(choices))].append(i)


def sa_mdav(points: Points, k: int, dynamic: bool) -> list[int]:
    case = case_of(points)
    remaining = list(range(len(case.weights)))

    def grown(r: int) -> list[int]:
        cluster = [r]
        remaining.remove(r)
        center = reference_of(case, r)
        while records(case, cluster) < k:
            if dynamic:
                center = centroid(case, cluster)
            cluster.append(nearest(case, center, remaining))
            remaining.remove(cluster[-1])
        return cluster

    clusters: list[list[int]] = []
    while records(case, remaining) >= k:
        r = farthest(case, centroid(case, remaining), remaining)
        clusters.append(grown(r))
        if records(case, remaining) >= k:
            clusters.append(grown(farthest(case, reference_of(case, r), remaining)))
    _join_nearest(case, clusters, remaining)
    return _labels(case, clusters)


def v_mdav(points: Points, k: int, gamma: float) -> list[int]:
    case = case_of(points)
    remaining = list(range(len(case.weights)))
    center = centroid(case, remaining)
    clusters = []
    while records(case, remaining) >= k:
        cluster = _around(case, farthest(case, center, remaining), k, remaining)
        while records(case, cluster) < 2 * k - 1 and remaining:
            inside, u = min(
                (distance(case, reference_of(case, member), i), i)
                for member in cluster
                for i in remaining
            )
            outside = min(
                (distance(case, reference_of(case, u), i) for i in remaining if i != u),
                default=math.inf,
            )
            grown = records(case, [*cluster, u])
            if grown > 2 * k - 1 or not inside < gamma**case.power * outside:
                break
            cluster.append(u)
            remaining.remove(u)
        clusters.append(cluster)
    _join_nearest(case, clusters, remaining)
    return _labels(case, clusters)


def loss(points: Points, labels: Any) -> float:
    case = case_of(points)
    total = 0.0
    for label in set(labels):
        members = [i for i in range(len(labels)) if labels[i] == label]
        center = centroid(case, members)
        total += sum(case.weights[i] * contribution(case, center, i, costs=True) for i in members)
    return total


def recode(
    points: Points, k: float, guide: str, smallest_first: bool, weighted: bool, uniforms: Any
) -> list[int]:
    case = case_of(points)
    weights = dict(enumerate(case.sizes))  # the current table
    holds = {i: [i] for i in weights}  # whose records have these values
    alive = list(weights)  # in the order in which the kernel keeps them, for random draws

    def choice(t: int, merge: int) -> int:
        others = [v for v in weights if v != t]
        if guide == "random":
            slot = int(uniforms[merge] * len(others))
            return [v for v in alive if v != t][slot]
        if guide == "discernibility":
            increase = {
                v: (weights[t] + weights[v]) ** 2 - weights[t] ** 2 - weights[v] ** 2
                for v in others
            }
            return min(others, key=lambda v: (increase[v], v))
        reference = reference_of(case, t)
        far = {v: contribution(case, reference, v) for v in others}
        if weighted:
            far = {v: far[v] * weights[v] ** case.power for v in others}
        return min(others, key=lambda v: (far[v], weights[v], v))

    def merge(t: int) -> None:
        v = choice(t, len(case.weights) - len(weights))
        weights[v] += weights.pop(t)
        holds[v] += holds.pop(t)
        spot = alive.index(t)
        alive[spot] = alive[-1]
        alive.pop()

    if smallest_first:
        while len(weights) > 1:
            t = min(weights, key=lambda i: (weights[i], i))
            if weights[t] >= k:
                break
            merge(t)
    else:
        for t in range(len(case.weights)):
            if t in weights and weights[t] < k and len(weights) > 1:
                merge(t)
    targets = {i: v for v, members in holds.items() for i in members}
    return [targets[i] for i in range(len(case.weights))]
