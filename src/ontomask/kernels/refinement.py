"""Improve a clustering: move a point, swap two, split, dissolve, cut two clusters anew.

A local search that keeps k records, or persons, in every cluster and lets the loss only fall (in
the spirit of Hartigan 1975; for microaggregation see Laszlo and Mukherjee 2015). A point only looks
at the clusters of its nearest points, so the work grows with the number of points, and only at what
changed since it looked last (see `partitions`). Nothing is random.

Most looks find nothing to change. So what a stretch of points, or of clusters, will find is looked
up ahead on all cores; then they act one after the other, and look again only at what was touched
meanwhile. While they act, other threads begin with the next points. What these see of a cluster
that is being changed is of no use, but such a cluster counts as touched: nothing is believed that
could have been seen otherwise. The clusters are the same for any number of threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Ints, Longs
from ontomask.kernels.blocks import Underway, allowed_threads, beside
from ontomask.kernels.centroids import price
from ontomask.kernels.compiling import apart, compiled, part, whole
from ontomask.kernels.exchanges import (
    LONGEST_WALK,
    best_partner,
    improve_point,
    is_known,
    is_too_far,
    join_change,
    transfer,
)
from ontomask.kernels.neighbors import nearest_points, sort_by_keys
from ontomask.kernels.partitions import (
    CHANGED,
    CHANGES,
    DIVIDED,
    FIRST,
    HEAD,
    LOSS,
    RECORDS,
    SIZE,
    SMALLEST_GAIN,
    VISITED,
    VISITS,
    Bench,
    Foreseen,
    Partition,
    collect,
    divide,
    empty_cluster,
    kin_at,
    kin_looked_at,
    new_bench,
    new_foreseen,
    new_partition,
    relink,
    settle,
    unite,
)
from ontomask.kernels.records import Points, contribution, point_reference
from ontomask.kernels.units import add_units, new_count

__all__ = ["Look", "Refinement", "refine", "unite_in"]

PARTNERS = 12
"""How many neighbors a cluster is cut anew with."""
STRETCHES = 32
"""Into so many the points, and the clusters, are cut at most, to look ahead …"""
PIECES = 32
"""Into so many pieces a stretch is cut for threads that are free."""
FEWEST_POINTS, FEWEST_CLUSTERS = 1024, 128
"""… but not into less than this: to start threads takes as long as to look for a few."""
LARGE = 8_192
"""Points from which on looking ahead pays: of fewer, more is touched meanwhile."""


@part
def _order_between_ends(points: Points, bench: Bench, members: Longs) -> None:
    """Order points from one end of the set to the other: by the difference of distances."""
    keys, reference = bench.keys, bench.saved[0, : points.codes.shape[0] + points.gaps.size]
    price(points, bench.tally, members, reference)
    for turn in range(3):
        farthest = 0
        for slot in range(members.size):
            distance = contribution(points, reference, members[slot])
            keys[slot] = keys[slot] - distance if turn == 2 else distance
            if keys[slot] > keys[farthest]:
                farthest = slot
        # from the center to one end, from there to the other
        point_reference(points, members[farthest], reference)
    sort_by_keys(keys, members, members.size)


@part
def _best_cut(points: Points, bench: Bench, members: Longs, k: float) -> tuple[float, int]:
    """Where to cut an ordered set into two of k records or more: the least loss and where."""
    marks, behind = bench.marks, bench.keys
    new_count(marks)
    passed = 0.0
    for slot in range(members.size - 1, -1, -1):
        passed += add_units(points, marks, members[slot])
        behind[slot] = passed
    reference, tally = bench.saved[0, : points.codes.shape[0] + points.gaps.size], bench.tally
    best, chosen, passed = np.inf, whole(-1), 0.0
    new_count(marks)
    step = members.size // LONGEST_WALK + 1
    for cut in range(1, members.size):
        passed += add_units(points, marks, members[cut - 1])
        if passed >= k and behind[cut] >= k and cut % step == 0:
            loss = price(points, tally, members[:cut], reference)
            if loss < best:
                loss += price(points, tally, members[cut:], reference)
            if loss < best:
                best, chosen = loss, cut
    return best, chosen


@compiled
def _divide_at(
    points: Points, partition: Partition, members: Longs, count: int, amount: float
) -> int:
    """Let an ordered set be cut after so many records; how many points it has then."""
    passed, slot = 0.0, whole(0)
    while passed + points.sizes[members[0, slot]] < amount:
        passed += points.sizes[members[0, slot]]
        slot += 1
    chosen = members[0, slot]
    piece = divide(points, partition, chosen, amount - passed)
    if piece < 0 or piece == chosen:
        return count
    for place in range(count, slot, -1):
        members[0, place] = members[0, place - 1]
    members[0, slot] = piece
    return count + 1


@compiled
def unite_in(points: Points, partition: Partition, members: Longs, cluster: int) -> None:
    """Let pieces of a tuple that lie in the same cluster be one."""
    if partition.clock[DIVIDED] != 0:
        count = collect(partition, members, whole(0), whole(0), cluster)
        for slot in range(count):
            unite(points, partition, members[0, slot])


@apart
@compiled
def _better_cut(
    points: Points, partition: Partition, bench: Bench, k: float, cluster: int, other: int
) -> int:
    """Where to cut the union of two clusters (`other` may be empty) anew; -1: they stay.

    Its points, in order, are the first row of the bench's members then; two may be divided.
    """
    figures = partition.figures
    records = figures[cluster, RECORDS] + figures[other, RECORDS]
    if records < 2.0 * k:
        return whole(-1)
    count = collect(partition, bench.members, whole(0), whole(0), cluster)
    count = collect(partition, bench.members, whole(0), count, other)
    # of clusters that are being changed nobody may be left
    if count < 2:
        return whole(-1)
    _order_between_ends(points, bench, bench.members[0, :count])
    if partition.clock[DIVIDED] != 0:
        count = _divide_at(points, partition, bench.members, count, k)
        count = _divide_at(points, partition, bench.members, count, records - k)
    best, cut = _best_cut(points, bench, bench.members[0, :count], k)
    before = figures[cluster, LOSS] + figures[other, LOSS]
    return cut if best < before - SMALLEST_GAIN else whole(-1)


@compiled
def _recut(
    points: Points, partition: Partition, bench: Bench, k: float, cluster: int, other: int
) -> float:
    """Cut the union of two clusters (`other` may be empty) in another way; the change."""
    figures, clusters = partition.figures, partition.clusters
    cut = _better_cut(points, partition, bench, k, cluster, other)
    before = figures[cluster, LOSS] + figures[other, LOSS]
    if cut >= 0:
        partition.clock[CHANGES] += 1
        for slot in range(clusters[cluster, SIZE] + clusters[other, SIZE]):
            target = cluster if slot < cut else other
            relink(partition.links, clusters, bench.members[0, slot], target)
    unite_in(points, partition, bench.members, cluster)
    unite_in(points, partition, bench.members, other)
    if cut < 0:
        return 0.0
    return (
        settle(points, partition, bench, cluster) + settle(points, partition, bench, other) - before
    )


@compiled
def _cheapest_host(
    points: Points, partition: Partition, graph: Ints, point: int
) -> tuple[float, int]:
    """The neighboring cluster that a point could join at least loss."""
    best, host = np.inf, whole(-1)
    links = partition.links
    for slot in range(-1, graph.shape[1]):
        near = point if slot < 0 else whole(graph[point, slot])
        if near < 0:
            break
        for step in range(kin_looked_at(links, near, slot)):
            cluster = links[2, kin_at(links, near, step)]
            if cluster >= 0 and cluster != links[2, point] and cluster != host:
                change = join_change(points, partition, cluster, point)
                if change < best:
                    best, host = change, cluster
    return best, host


@part
def _dissolve(
    points: Points, partition: Partition, bench: Bench, graph: Ints, cluster: int
) -> float:
    """Give all points of a cluster to others if that lowers the loss; the change."""
    count = collect(partition, bench.members, whole(0), whole(0), cluster)
    change = -partition.figures[cluster, LOSS]
    for slot in range(count):
        # estimates are cheap: points are moved only where they promise a gain
        if change < -SMALLEST_GAIN:
            change += _cheapest_host(points, partition, graph, bench.members[0, slot])[0]
    if not change < -SMALLEST_GAIN:
        return 0.0
    change = 0.0
    for slot in range(count):
        point = bench.members[0, slot]
        host = _cheapest_host(points, partition, graph, point)[1]
        change += transfer(points, partition, bench, point, whole(-1), host)
    if change < 0.0:
        for slot in range(count):
            unite(points, partition, bench.members[0, slot])
        return change
    for slot in range(count):
        transfer(points, partition, bench, bench.members[0, slot], whole(-1), cluster)
    return 0.0


@part
def _is_hopeless(
    partition: Partition, foreseen: Foreseen, slot: int, cluster: int, other: int
) -> bool:
    """Whether it is known that two clusters cannot be cut better."""
    item = partition.own.size + cluster
    return (
        is_known(partition.clusters, foreseen, item, slot, cluster, other)
        and foreseen.partners[item - foreseen.first, slot] < 0
    )


@part
def _improve_cluster(
    points: Points,
    partition: Partition,
    bench: Bench,
    graph: Ints,
    k: float,
    cluster: int,
    seen: int,
) -> float:
    """Split or dissolve a cluster, or cut it anew together with a neighbor; the change."""
    clusters, clock, change = partition.clusters, partition.clock, 0.0
    if partition.figures[cluster, RECORDS] >= 2.0 * k:
        free = empty_cluster(clusters, clock)
        if free >= 0:
            change += _recut(points, partition, bench, k, cluster, free)
    elif clusters[cluster, CHANGED] >= seen:
        change += _dissolve(points, partition, bench, graph, cluster)
    point, tried = clusters[cluster, HEAD], 0
    if point < 0:
        return change
    clock[VISITS] += 1
    clusters[cluster, VISITED] = clock[VISITS]
    links = partition.links
    for slot in range(-1, graph.shape[1]):
        near = point if slot < 0 else whole(graph[point, slot])
        if near < 0:
            break
        for step in range(kin_looked_at(links, near, slot)):
            other = links[2, kin_at(links, near, step)]
            if tried < PARTNERS and other >= 0 and clusters[other, VISITED] != clock[VISITS]:
                clusters[other, VISITED] = clock[VISITS]
                tried += 1
                fresh = clusters[cluster, CHANGED] >= seen or clusters[other, CHANGED] >= seen
                if fresh and not _is_hopeless(partition, bench.foreseen, slot, cluster, other):
                    change += _recut(points, partition, bench, k, cluster, other)
    return change


@compiled
def _improve(
    points: Points,
    partition: Partition,
    bench: Bench,
    graph: Ints,
    since: Longs,
    k: float,
    first: int,
    last: int,
    change: float,
    signal: Longs,
) -> float:
    """Improve points and clusters, from one to another; the change, with what it was before."""
    clusters, clock, size = partition.clusters, partition.clock, partition.own.size
    for cluster in range(clusters.shape[0]):
        if clusters[cluster, CHANGED] < 0:
            settle(points, partition, bench, cluster)
    for item in range(first, last):
        seen = since[item]
        if item < size:
            since[item] = clock[CHANGES]
            if partition.links[2, item] < 0:
                continue
            change += improve_point(points, partition, bench, graph, k, item, seen)
        elif clusters[item - size, HEAD] >= 0:
            since[item] = clock[CHANGES]
            change += _improve_cluster(points, partition, bench, graph, k, item - size, seen)
        if signal[1] != 0:
            return 0.0
    return change


@part
def _foresee_one(
    points: Points, partition: Partition, bench: Bench, graph: Ints, k: float, item: int, seen: int
) -> None:
    """Look at the clusters near a point, or near the first point of a cluster."""
    clusters, links, foreseen = partition.clusters, partition.links, bench.foreseen
    size, row, tried = partition.own.size, item - foreseen.first, 0
    point = item if item < size else clusters[item - size, HEAD]
    for slot in range(graph.shape[1]):
        foreseen.clusters[row, slot] = -1
    if point < 0:
        return
    home = links[2, point]
    for slot in range(graph.shape[1]):
        if graph[point, slot] < 0 or (item >= size and tried == PARTNERS):
            break
        cluster = links[2, graph[point, slot]]
        fresh = clusters[cluster, CHANGED] >= seen or clusters[home, CHANGED] >= seen
        if cluster == home or (item < size and not fresh):
            continue
        known = False
        for before in range(slot):
            known |= foreseen.clusters[row, before] == cluster
        if known:
            continue
        tried += 1
        foreseen.clusters[row, slot] = cluster
        if item < size:
            if is_too_far(partition, points.weights, point, home, cluster):
                foreseen.changes[row, slot], foreseen.partners[row, slot] = np.inf, -1
                continue
            found = best_partner(points, partition, bench.marks, k, point, cluster)
            foreseen.changes[row, slot], foreseen.partners[row, slot] = found[0], found[1]
        elif fresh:
            cut = _better_cut(points, partition, bench, k, home, cluster)
            foreseen.partners[row, slot] = cut
            # it will be cut there, and then everything is to be looked at again
            if cut >= 0:
                return
        else:
            foreseen.partners[row, slot] = 0


@compiled
def _foresee(
    points: Points,
    partition: Partition,
    bench: Bench,
    graph: Ints,
    since: Longs,
    k: float,
    first: int,
    last: int,
) -> None:
    """Look ahead for the points and clusters from one to another."""
    for item in range(first, last):
        _foresee_one(points, partition, bench, graph, k, item, since[item])


class Refinement(NamedTuple):
    """A clustering that is being improved."""

    points: Points
    partition: Partition
    bench: Bench
    graph: Ints
    """[p, neighbors] the nearest points of each."""
    since: Longs
    """[p + clusters] the last change that each point and cluster knows of."""
    k: float
    spare: list[Bench]
    """Benches that no thread works at; there are as many as threads have worked side by side."""

    @classmethod
    def of(
        cls,
        points: Points,
        labels: Ints,
        k: float,
        neighbors: int | Ints,
        kin: Longs | None = None,
    ) -> Refinement:
        """Make ready; the nearest points of a point name the clusters that it tries.

        `neighbors` says how many, or who they are, as `nearest_points` does; `kin`, as in
        `new_partition`, which points are pieces of the same tuple.
        """
        size = labels.size
        # with room for two more than there can be, to put things aside
        capacity = max(int(labels.max()) + 1, int(points.sizes.sum() / k)) + 2
        partition = new_partition(points, labels, capacity, kin)
        bench = new_bench(points, partition.figures.shape[1])
        graph = neighbors
        if not isinstance(graph, np.ndarray):
            graph = nearest_points(points, min(graph, size - 1))
        since = np.zeros(size + capacity, np.int64)
        return cls(points, partition, bench, graph, since, float(k), [])

    def improve(self, rounds: int, signal: Longs) -> None:
        """Make at most `rounds` passes, fewer when nothing improves; signal[0] counts them."""
        changes = self.partition.clusters.shape[0]
        for turn in range(rounds):
            signal[0], before = turn, self.partition.clock[CHANGES]
            if self._improve_all(changes, signal) > -SMALLEST_GAIN:
                break
            changes = int(self.partition.clock[CHANGES] - before)

    def _improve_all(self, changes: int, signal: Longs) -> float:
        """Improve all points and clusters once, looking ahead if that pays; the change."""
        change, stretches = 0.0, [*self._stretches(changes)]
        # the figures of clusters that are new
        self._improve(0, 0, 0.0, None, signal)
        with beside() as pool:
            ahead = self.look_ahead(stretches[0], pool, signal)
            for place, (first, last) in enumerate(stretches, start=1):
                foreseen = ahead.found() if ahead else None
                ahead = None
                if place < len(stretches):
                    ahead = self.look_ahead(stretches[place], pool, signal)
                change = self._improve(first, last, change, foreseen, signal)
        return change

    @property
    def _looks_ahead(self) -> bool:
        # of pieces too much could be otherwise meanwhile
        divided = bool(self.partition.clock[DIVIDED])
        return not divided and allowed_threads() > 1 and self.partition.own.size >= LARGE

    def _stretches(self, changes: int) -> Iterator[tuple[int, int]]:
        """What is improved at a time: the more is changed, the less can be foreseen."""
        size, behind = self.partition.own.size, self.since.size
        if not self._looks_ahead:
            yield 0, behind
            return
        wanted = min(STRETCHES, 1 + STRETCHES * changes // (behind - size))
        for first, last, fewest in ((0, size, FEWEST_POINTS), (size, behind, FEWEST_CLUSTERS)):
            count = max(1, min(wanted, (last - first) // fewest))
            bounds = np.linspace(first, last, count + 1).astype(int).tolist()
            yield from itertools.pairwise(bounds)

    def _improve(
        self, first: int, last: int, change: float, foreseen: Foreseen | None, signal: Longs
    ) -> float:
        """Improve points and clusters, from one to another."""
        bench = self.bench if foreseen is None else self.bench._replace(foreseen=foreseen)
        given = self.points, self.partition, bench, self.graph, self.since, self.k
        return float(_improve(*given, first, last, change, signal))

    def look_ahead(
        self, stretch: tuple[int, int], pool: ThreadPoolExecutor | None, signal: Longs
    ) -> Look | None:
        """Let threads look up what points or clusters find, from one to another, if that pays."""
        first, last = stretch
        fewest = FEWEST_POINTS if first < self.partition.own.size else FEWEST_CLUSTERS
        pays = self._looks_ahead and last - first >= fewest and signal[1] == 0
        return Look(self, first, last, pool) if pays and pool is not None else None

    def restarted(self, labels: Ints | Longs) -> Refinement:
        """The same with other clusters."""
        kin = self.partition.links[FIRST:].copy()
        partition = new_partition(self.points, labels, self.partition.clusters.shape[0], kin)
        return self._replace(partition=partition, since=np.zeros_like(self.since))

    @property
    def labels(self) -> Ints:
        """The cluster of each point, numbered from 0; that of an empty piece is -1."""
        found = self.partition.links[2]
        empty = int(found.min() < 0)
        return (np.unique(found, return_inverse=True)[1] - empty).astype(np.int32)


class Look:
    """What points or clusters find, from one to another, while it is looked up on all cores."""

    def __init__(
        self, refinement: Refinement, first: int, last: int, pool: ThreadPoolExecutor
    ) -> None:
        self._refinement = refinement
        self._stamp = self._last_change()
        self._foreseen = new_foreseen(first, last - first, refinement.graph.shape[1])
        bounds = np.linspace(first, last, 1 + min(PIECES, last - first)).astype(int).tolist()
        given = bounds[:-1], bounds[1:]
        self._underway = Underway(self._look, given, pool, allowed_threads() - 1)

    def _last_change(self) -> int:
        return int(self._refinement.partition.clock[CHANGES])

    def _look(self, first: int, last: int) -> None:
        points, partition, _, graph, since, k, spare = self._refinement
        foreseen = self._foreseen
        try:
            bench = spare.pop()
        except IndexError:
            bench = new_bench(points, partition.figures.shape[1])
        foreseen.stamps[first - foreseen.first : last - foreseen.first] = self._stamp
        room = bench._replace(foreseen=foreseen)
        _foresee(points, partition, room, graph, since, k, first, last)
        spare.append(bench)

    def found(self) -> Foreseen:
        """What they find; nothing is changed until it is known."""
        self._stamp = self._last_change()
        self._underway.finish()
        return self._foreseen


def refine(
    points: Points,
    labels: Ints,
    k: float,
    neighbors: int | Ints,
    rounds: int,
    signal: Longs,
    kin: Longs | None = None,
) -> Ints:
    """Labels of less loss; every cluster has k records (persons) or more, if it had before.

    Parameters as in `Refinement`; a stop request ends the search with what has been reached. Where
    there are pieces, the sizes and weights of the points become others, too.
    """
    refinement = Refinement.of(points, labels, k, neighbors, kin)
    refinement.improve(rounds, signal)
    return refinement.labels
