"""Improve a clustering: move a point, swap two, split, dissolve, cut two clusters anew.

A local search that keeps the weight of every cluster at k or more and lets the loss only fall (in
the spirit of Hartigan 1975; for microaggregation see Laszlo and Mukherjee 2015). A point only looks
at the clusters of its nearest points, so the work grows with the number of points. Changes are
found by an estimate that keeps coded centroids where they are, exact for numbers with power 2,

    joining:  W w / (W + w) |x - mean|^2      leaving:  - W w / (W - w) |x - mean|^2

and are made only when the exact loss of the clusters concerned falls. Nothing is random.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.centroids import (
    Tally,
    centroid_reference,
    fill,
    new_tally,
    replacement_cost,
)
from ontomask.kernels.index import LEAF, NEAREST, build_index, new_finds, search
from ontomask.kernels.records import (
    Points,
    Reference,
    number_difference,
    point_reference,
    whole,
)

__all__ = ["nearest_points", "refine"]

SMALLEST_GAIN = 1e-10
LONGEST_WALK = 64


class Partition(NamedTuple):
    """Clusters as linked lists of points, each with its centroid."""

    labels: Longs
    """[p] cluster of each point."""
    links: Longs
    """[p, 2] next and previous point of the cluster, -1 at the ends."""
    heads: Longs
    """[clusters] first point, -1 for an empty cluster."""
    figures: Floats
    """[clusters, 4] weight, loss, time of the last change, number of points."""
    rows: Ints
    """[clusters, coded] centroid."""
    numbers: Floats
    """[clusters, 2, numeric] centroid, and the weight behind it."""
    clock: Longs
    """[1] number of changes made."""


class Bench(NamedTuple):
    """Room to try a change."""

    tally: Tally
    reference: Reference
    members: Longs
    others: Longs
    keys: Floats


@njit(cache=True, nogil=True)
def nearest_points(points: Points, wanted: int) -> Longs:
    """For every point the `wanted` nearest others (-1 where there are fewer), by plain distance."""
    size = points.weights.size
    flat = np.ones(size, np.float64)
    index = build_index(points, np.arange(size), flat, np.zeros(size, np.float64), LEAF)
    finds = new_finds(points, wanted + 1)
    answers = finds.answers
    coded, numeric = points.codes.shape[0], points.numbers.shape[0]
    reference = Reference(np.empty(coded, np.int32), np.empty(numeric, np.float64))
    result = np.full((size, wanted), -1, np.int64)
    for point in range(size):
        point_reference(points, point, reference)
        found = search(points, index, finds, reference, NEAREST, wanted + 1)
        order = np.argsort(answers[:found, 0])
        filled = 0
        for slot in order:
            near = int(answers[slot, 2])
            if near != point and filled < wanted:
                result[point, filled] = near
                filled += 1
    return result


@njit(cache=True, nogil=True)
def _link(labels: Longs, links: Longs, heads: Longs, point: int, cluster: int) -> None:
    """Put a point at the head of a cluster's list."""
    head = heads[cluster]
    labels[point] = cluster
    links[point, 0], links[point, 1] = head, -1
    if head >= 0:
        links[head, 1] = point
    heads[cluster] = point


@njit(cache=True, nogil=True)
def _unlink(labels: Longs, links: Longs, heads: Longs, point: int) -> None:
    """Take a point out of its cluster's list."""
    after, before = links[point, 0], links[point, 1]
    if after >= 0:
        links[after, 1] = before
    if before >= 0:
        links[before, 0] = after
    else:
        heads[labels[point]] = after


@njit(cache=True, nogil=True)
def _collect(heads: Longs, links: Longs, cluster: int, members: Longs, count: int) -> int:
    """Append a cluster's points to `members`; how many there are now."""
    point = heads[cluster]
    while point >= 0:
        members[count] = point
        count += 1
        point = links[point, 0]
    return count


@njit(cache=True, nogil=True)
def _price(points: Points, tally: Tally, reference: Reference, members: Longs) -> float:
    """Loss of a cluster of these points; its centroid becomes the reference."""
    if members.size == 0:
        return 0.0
    fill(points, tally, members)
    centroid_reference(points, tally, reference)
    total = 0.0
    for point in members:
        cost = replacement_cost(points, point, reference.rows, reference.numbers)
        total += points.weights[point] * cost
    return total


@njit(cache=True, nogil=True)
def _settle(points: Points, part: Partition, bench: Bench, cluster: int) -> None:
    """Bring a cluster's centroid and figures up to date after a change."""
    count = _collect(part.heads, part.links, cluster, bench.others, whole(0))
    tally, reference = bench.tally, bench.reference
    part.figures[cluster, 1] = _price(points, tally, reference, bench.others[:count])
    part.figures[cluster, 0] = tally.weight[0] if count > 0 else 0.0
    part.figures[cluster, 2] = part.clock[0]
    part.figures[cluster, 3] = count
    for attribute in range(reference.rows.size):
        part.rows[cluster, attribute] = reference.rows[attribute]
    for attribute in range(reference.numbers.size):
        part.numbers[cluster, 0, attribute] = reference.numbers[attribute]
        part.numbers[cluster, 1, attribute] = tally.numbers[1, attribute]


@njit(cache=True, nogil=True)
def _number_change(
    mean: float, behind: float, out: float, lost: float, new: float, gained: float, power: int
) -> float:
    """Change of a numeric loss when `out` leaves with weight `lost`, `new` joins with `gained`."""
    change = 0.0
    if power != 2:
        return gained * abs(new - mean) - lost * abs(out - mean)
    if lost > 0.0 and behind > lost:
        difference = out - mean
        change -= behind * lost / (behind - lost) * difference * difference
        mean -= lost / (behind - lost) * difference
        behind -= lost
    if gained > 0.0:
        difference = new - mean
        change += behind * gained / (behind + gained) * difference * difference
    return change


@njit(cache=True, nogil=True)
def _change(points: Points, rows: Ints, numbers: Floats, cluster: int, out: int, new: int) -> float:
    """Estimated change of a cluster's loss when `out` leaves and `new` joins (-1: nobody)."""
    weights, codes, costs = points.weights, points.codes, points.costs
    lost = weights[out] if out >= 0 else 0.0
    gained = weights[new] if new >= 0 else 0.0
    total = 0.0
    for attribute in range(codes.shape[0]):
        base = points.starts[attribute] + rows[cluster, attribute]
        size = points.rows[attribute]
        if out >= 0:
            total -= lost * costs[base + codes[attribute, out] * size]
        if new >= 0:
            total += gained * costs[base + codes[attribute, new] * size]
    for attribute in range(points.numbers.shape[0]):
        mean, gap = numbers[cluster, 0, attribute], points.gaps[attribute]
        first = points.numbers[attribute, out] if out >= 0 else mean
        second = points.numbers[attribute, new] if new >= 0 else mean
        if mean == mean and first == first and second == second:
            behind = numbers[cluster, 1, attribute]
            total += _number_change(mean, behind, first, lost, second, gained, points.power)
        else:
            total -= lost * number_difference(first, mean, gap, points.power)
            total += gained * number_difference(second, mean, gap, points.power)
    return total


@njit(cache=True, nogil=True)
def _transfer(
    points: Points, part: Partition, bench: Bench, point: int, new: int, cluster: int
) -> float:
    """Move a point to a cluster, and `new` (-1: nobody) from there to the point's; the change."""
    home = part.labels[point]
    before = part.figures[home, 1] + part.figures[cluster, 1]
    part.clock[0] += 1
    _unlink(part.labels, part.links, part.heads, point)
    _link(part.labels, part.links, part.heads, point, cluster)
    if new >= 0:
        _unlink(part.labels, part.links, part.heads, new)
        _link(part.labels, part.links, part.heads, new, home)
    _settle(points, part, bench, home)
    _settle(points, part, bench, cluster)
    return float(part.figures[home, 1] + part.figures[cluster, 1] - before)


@njit(cache=True, nogil=True)
def _best_partner(
    points: Points, part: Partition, k: float, point: int, cluster: int
) -> tuple[float, int]:
    """The best that moving a point to a cluster can do, alone (-1) or against a member of it."""
    labels, links, figures, rows, numbers = (
        part.labels,
        part.links,
        part.figures,
        part.rows,
        part.numbers,
    )
    home, weights = labels[point], points.weights
    spare = figures[home, 0] - weights[point] - k
    best, partner = np.inf, whole(-1)
    if spare >= 0.0:
        best = _change(points, rows, numbers, home, point, whole(-1))
        best += _change(points, rows, numbers, cluster, whole(-1), point)
    other, walked = part.heads[cluster], 0
    while other >= 0 and walked < LONGEST_WALK:
        room = figures[cluster, 0] + weights[point] - weights[other] - k
        if spare + weights[other] >= 0.0 and room >= 0.0:
            change = _change(points, rows, numbers, home, point, other)
            change += _change(points, rows, numbers, cluster, other, point)
            if change < best:
                best, partner = change, other
        other = links[other, 0]
        walked += 1
    return best, partner


@njit(cache=True, nogil=True)
def _improve_point(
    points: Points, part: Partition, bench: Bench, near: Longs, k: float, point: int, seen: int
) -> float:
    """Move or swap a point where that lowers the loss most; the change."""
    labels, figures = part.labels, part.figures
    home = labels[point]
    best, partner, target = -SMALLEST_GAIN, whole(-1), whole(-1)
    for slot in range(near.size):
        if near[slot] < 0:
            break
        cluster = labels[near[slot]]
        if cluster == home or max(figures[cluster, 2], figures[home, 2]) < seen:
            continue
        change, other = _best_partner(points, part, k, point, cluster)
        if change < best:
            best, partner, target = change, other, cluster
    if target < 0:
        return 0.0
    change = _transfer(points, part, bench, point, partner, target)
    if change < 0.0:
        return change
    # the estimate was wrong: coded centroids moved; go back
    if partner >= 0:
        _transfer(points, part, bench, point, partner, home)
    else:
        _transfer(points, part, bench, point, whole(-1), home)
    return 0.0


@njit(cache=True, nogil=True)
def _pair_distance(points: Points, point: int, other: int) -> float:
    """Contribution between two points."""
    total = 0.0
    for attribute in range(points.codes.shape[0]):
        own = points.own_rows[points.value_starts[attribute] + points.codes[attribute, point]]
        base = points.starts[attribute] + own * points.values[attribute]
        total += points.tables[base + points.codes[attribute, other]]
    for attribute in range(points.numbers.shape[0]):
        first, second = points.numbers[attribute, point], points.numbers[attribute, other]
        total += number_difference(first, second, points.gaps[attribute], points.power)
    return total


@njit(cache=True, nogil=True)
def _order_between_ends(points: Points, bench: Bench, members: Longs) -> None:
    """Order points from one end of the set to the other: by the difference of distances."""
    reference = bench.reference
    _price(points, bench.tally, reference, members)
    keys = bench.keys[: members.size]
    for slot in range(members.size):
        keys[slot] = replacement_cost(points, members[slot], reference.rows, reference.numbers)
    first = members[np.argmax(keys)]
    for slot in range(members.size):
        keys[slot] = _pair_distance(points, first, members[slot])
    second = members[np.argmax(keys)]
    for slot in range(members.size):
        keys[slot] -= _pair_distance(points, second, members[slot])
    ordered = members[np.argsort(keys)]
    members[:] = ordered


@njit(cache=True, nogil=True)
def _best_cut(
    points: Points, bench: Bench, members: Longs, k: float, total: float
) -> tuple[float, int]:
    """Where to cut an ordered set into two of weight k or more: the least loss and the place."""
    best, place = np.inf, whole(-1)
    step = max(1, members.size // LONGEST_WALK)
    passed = 0.0
    for cut in range(1, members.size):
        passed += points.weights[members[cut - 1]]
        if passed >= k and total - passed >= k and cut % step == 0:
            loss = _price(points, bench.tally, bench.reference, members[:cut])
            if loss < best:
                loss += _price(points, bench.tally, bench.reference, members[cut:])
            if loss < best:
                best, place = loss, cut
    return best, place


@njit(cache=True, nogil=True)
def _recut(
    points: Points, part: Partition, bench: Bench, k: float, cluster: int, other: int
) -> float:
    """Cut the union of two clusters (`other` may be empty) in another way; the change."""
    count = _collect(part.heads, part.links, cluster, bench.members, whole(0))
    count = _collect(part.heads, part.links, other, bench.members, count)
    total = part.figures[cluster, 0] + part.figures[other, 0]
    if total < 2.0 * k:
        return 0.0
    members = bench.members[:count]
    _order_between_ends(points, bench, members)
    best, place = _best_cut(points, bench, members, k, total)
    before = part.figures[cluster, 1] + part.figures[other, 1]
    if place < 0 or best >= before - SMALLEST_GAIN:
        return 0.0
    part.clock[0] += 1
    for slot in range(count):
        _unlink(part.labels, part.links, part.heads, members[slot])
        target = cluster if slot < place else other
        _link(part.labels, part.links, part.heads, members[slot], target)
    _settle(points, part, bench, cluster)
    _settle(points, part, bench, other)
    return float(part.figures[cluster, 1] + part.figures[other, 1] - before)


@njit(cache=True, nogil=True)
def _cheapest_host(points: Points, part: Partition, near: Longs, point: int) -> tuple[float, int]:
    """The neighboring cluster that a point could join at least loss."""
    best, host = np.inf, whole(-1)
    for slot in range(near.size):
        if near[slot] < 0:
            break
        cluster = part.labels[near[slot]]
        if cluster != part.labels[point]:
            change = _change(points, part.rows, part.numbers, cluster, whole(-1), point)
            if change < best:
                best, host = change, cluster
    return best, host


@njit(cache=True, nogil=True)
def _dissolve(points: Points, part: Partition, bench: Bench, graph: Longs, cluster: int) -> float:
    """Give all points of a cluster to others if that lowers the loss; the change."""
    count = _collect(part.heads, part.links, cluster, bench.members, whole(0))
    estimate = -part.figures[cluster, 1]
    for slot in range(count):
        point = bench.members[slot]
        estimate += _cheapest_host(points, part, graph[point], point)[0]
    if not estimate < -SMALLEST_GAIN:
        return 0.0
    change = 0.0
    for slot in range(count):
        point = bench.members[slot]
        host = _cheapest_host(points, part, graph[point], point)[1]
        bench.keys[slot] = host
        change += _transfer(points, part, bench, point, whole(-1), host)
    if change < 0.0:
        return change
    for slot in range(count):
        point = bench.members[slot]
        _transfer(points, part, bench, point, whole(-1), cluster)
    return 0.0


@njit(cache=True, nogil=True)
def _empty_cluster(heads: Longs) -> int:
    """The first empty cluster, or -1."""
    for cluster in range(heads.size):
        if heads[cluster] < 0:
            return cluster
    return -1


@njit(cache=True, nogil=True)
def _improve_cluster(
    points: Points, part: Partition, bench: Bench, graph: Longs, k: float, cluster: int, seen: int
) -> float:
    """Split or dissolve a cluster, or cut it anew together with a neighbor; the change."""
    change = 0.0
    if part.figures[cluster, 0] >= 2.0 * k:
        free = _empty_cluster(part.heads)
        if free >= 0:
            change += _recut(points, part, bench, k, cluster, free)
    elif part.figures[cluster, 2] >= seen:
        change += _dissolve(points, part, bench, graph, cluster)
    if part.heads[cluster] < 0:
        return change
    point = part.heads[cluster]
    for near in graph[point]:
        other = part.labels[near] if near >= 0 else cluster
        fresh = max(part.figures[cluster, 2], part.figures[other, 2]) >= seen
        if other != cluster and fresh:
            change += _recut(points, part, bench, k, cluster, other)
    return change


@njit(cache=True, nogil=True)
def _partition(points: Points, labels: Ints, capacity: int, bench: Bench) -> Partition:
    """The clusters of these labels."""
    size = labels.size
    part = Partition(
        np.empty(size, np.int64),
        np.empty((size, 2), np.int64),
        np.full(capacity, -1, np.int64),
        np.zeros((capacity, 4), np.float64),
        np.zeros((capacity, points.codes.shape[0]), np.int32),
        np.zeros((capacity, 2, points.numbers.shape[0]), np.float64),
        np.ones(1, np.int64),
    )
    for point in range(size - 1, -1, -1):
        _link(part.labels, part.links, part.heads, point, int(labels[point]))
    for cluster in range(capacity):
        _settle(points, part, bench, cluster)
    return part


@njit(cache=True, nogil=True)
def _numbered(labels: Longs, capacity: int) -> Ints:
    """Labels without gaps, in the old order."""
    used = np.zeros(capacity + 1, np.int32)
    for label in labels:
        used[label + 1] = 1
    shift = np.cumsum(used)
    result = np.empty(labels.size, np.int32)
    for point in range(labels.size):
        result[point] = shift[labels[point]]
    return result


@njit(cache=True, nogil=True)
def refine(
    points: Points, labels: Ints, k: float, neighbors: int, rounds: int, signal: Longs
) -> Ints:
    """Labels of less loss; every cluster has weight k or more, if it had before.

    `neighbors` nearest points of a point name the clusters it tries; at most `rounds` passes are
    made, fewer when nothing improves. signal[0] counts passes; a stop request ends the search
    with what has been reached.
    """
    size = labels.size
    coded, numeric = points.codes.shape[0], points.numbers.shape[0]
    bench = Bench(
        new_tally(points),
        Reference(np.empty(coded, np.int32), np.empty(numeric, np.float64)),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.float64),
    )
    capacity = max(int(labels.max()) + 1, int(points.weights.sum() / k))
    part = _partition(points, labels, capacity, bench)
    graph = nearest_points(points, min(neighbors, size - 1))
    since = np.zeros(size + capacity, np.int64)
    for turn in range(rounds):
        signal[0] = turn
        change = 0.0
        for point in range(size):
            seen, since[point] = since[point], part.clock[0]
            change += _improve_point(points, part, bench, graph[point], k, point, seen)
            if signal[1] != 0:
                return _numbered(part.labels, capacity)
        for cluster in range(capacity):
            if part.heads[cluster] >= 0:
                seen, since[size + cluster] = since[size + cluster], part.clock[0]
                change += _improve_cluster(points, part, bench, graph, k, cluster, seen)
        if change > -SMALLEST_GAIN:
            break
    return _numbered(part.labels, capacity)
