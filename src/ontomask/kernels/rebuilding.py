"""Improve a clustering further: take clusters apart, build them anew, keep what is better.

A large neighborhood search (Shaw 1998) over the local search of `refinement`, which ends where no
single move helps. A trial takes the clusters around a point, builds others of their points from one
end of the set to the other, lets the local search improve these, and is undone unless the loss has
fallen (early on: unless it has risen much). Points and numbers of clusters are drawn; the same
draws give the same clusters.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import compiled, part, whole
from ontomask.kernels.neighbors import sort_by_keys
from ontomask.kernels.partitions import (
    CHANGED,
    CHANGES,
    HEAD,
    LOSS,
    RECORDS,
    SIZE,
    SMALLEST_GAIN,
    Bench,
    Partition,
    collect,
    empty_cluster,
    improve_point,
    join_change,
    relink,
    settle,
)
from ontomask.kernels.records import Points, contribution, point_reference
from ontomask.kernels.refinement import Refinement
from ontomask.kernels.units import add_units, new_count

__all__ = ["rebuild"]

DRAWS = 5
"""Numbers that a trial draws: its point, how many clusters it takes, how many it makes, an end, and
whether it is kept."""
HEAT = 0.05
"""What a trial may cost at the beginning, as a share of the mean loss of a cluster."""
TRIALS = 256
"""How many are made before the clock is looked at."""
FEWEST, MOST = 2, 7
"""How many clusters are taken apart."""
PASSES = 4
"""How often the local search goes over what was built."""
LARGEST_POOL = 400
"""Larger sets would take longer than they are worth."""


class Site(NamedTuple):
    """Room for a trial."""

    chosen: Longs
    """[MOST + 1] the clusters that are taken apart and built."""
    pool: Longs
    """[p] their points."""
    keys: Floats
    """[p] how far these are from an end."""
    labels: Longs
    """[p] the clusters as they were before."""


@part
def _choose(partition: Partition, graph: Ints, site: Site, point: int, wanted: int) -> int:
    """The clusters around a point, its own first; how many."""
    site.chosen[0], count = partition.links[2, point], whole(1)
    for slot in range(graph.shape[1]):
        if graph[point, slot] < 0 or count == wanted:
            break
        cluster, known = partition.links[2, graph[point, slot]], False
        for place in range(count):
            known |= site.chosen[place] == cluster
        if not known:
            site.chosen[count] = cluster
            count += 1
    return count


@compiled
def _order_from(points: Points, site: Site, reference: Floats, first: int, last: int) -> None:
    """Sort a part of the pool by the distance from a reference."""
    for slot in range(first, last):
        site.keys[slot] = contribution(points, reference, site.pool[slot])
    sort_by_keys(site.keys[first:last], site.pool[first:last], last - first)


@part
def _build(
    points: Points, partition: Partition, bench: Bench, site: Site, k: float, count: int, end: float
) -> tuple[int, int]:
    """Fill clusters with the pool, one after the other from end to end; how many, and the rest.

    The points from that place on are in no cluster yet.
    """
    size, reference = site.pool.size, bench.saved[0, : points.codes.shape[0] + points.gaps.size]
    point_reference(points, site.pool[whole(end * size)], reference)
    _order_from(points, site, reference, whole(0), size)
    built, done, amount = whole(0), whole(0), k
    while built < count and amount >= k and done < size:
        # the farthest of those that are left is the next end
        point_reference(points, site.pool[size - 1], reference)
        _order_from(points, site, reference, done, size)
        new_count(bench.marks)
        place, amount = done, 0.0
        while amount < k and place < size:
            amount += add_units(points, bench.marks, site.pool[place])
            place += 1
        if amount >= k:
            for slot in range(done, place):
                relink(partition.links, partition.clusters, site.pool[slot], site.chosen[built])
            settle(points, partition, bench, site.chosen[built])
            done, built = place, built + 1
    return built, done


@part
def _join_nearest(points: Points, partition: Partition, site: Site, built: int, done: int) -> None:
    """Give the points of the pool from `done` on to the clusters that were built."""
    for slot in range(done, site.pool.size):
        best, host = np.inf, site.chosen[0]
        for place in range(built):
            change = join_change(points, partition, site.chosen[place], site.pool[slot])
            if change < best:
                best, host = change, site.chosen[place]
        relink(partition.links, partition.clusters, site.pool[slot], host)


@part
def _undo(points: Points, partition: Partition, bench: Bench, site: Site, start: int) -> None:
    """Put everything back that has changed since."""
    clusters, links, count = partition.clusters, partition.links, whole(0)
    for cluster in range(clusters.shape[0]):
        if clusters[cluster, CHANGED] >= start:
            point = clusters[cluster, HEAD]
            while point >= 0:
                if site.labels[point] != cluster:
                    bench.members[0, count] = point
                    count += 1
                point = links[0, point]
    for slot in range(count):
        point = bench.members[0, slot]
        relink(links, clusters, point, site.labels[point])
    for cluster in range(clusters.shape[0]):
        if clusters[cluster, CHANGED] >= start:
            settle(points, partition, bench, cluster)


@part
def _keep(partition: Partition, site: Site, start: int) -> None:
    """Note where points are now."""
    clusters, links = partition.clusters, partition.links
    for cluster in range(clusters.shape[0]):
        if clusters[cluster, CHANGED] >= start:
            point = clusters[cluster, HEAD]
            while point >= 0:
                site.labels[point] = cluster
                point = links[0, point]


@part
def _put_aside(partition: Partition, bench: Bench, room: Site, taken: int) -> int:
    """Take clusters apart: their points lie in an empty one; how many points."""
    size, yard = whole(0), empty_cluster(partition.clusters, partition.clock)
    for place in range(taken):
        size = collect(partition, bench.members, whole(0), size, room.chosen[place])
    for slot in range(size):
        room.pool[slot] = bench.members[0, slot]
        relink(partition.links, partition.clusters, room.pool[slot], yard)
    partition.clusters[yard, CHANGED] = partition.clock[CHANGES]
    return size


@part
def _polish(
    points: Points,
    partition: Partition,
    bench: Bench,
    graph: Ints,
    site: Site,
    k: float,
    start: int,
) -> float:
    """Let the local search improve what was built; the change of the loss."""
    change = 0.0
    for _ in range(PASSES):
        gain = 0.0
        for point in site.pool:
            gain += improve_point(points, partition, bench, graph, k, point, start)
        change += gain
        if gain > -SMALLEST_GAIN:
            break
    return change


@part
def _try_rebuilding(
    points: Points,
    partition: Partition,
    bench: Bench,
    graph: Ints,
    room: Site,
    k: float,
    draws: Floats,
    heat: float,
) -> None:
    """One trial, which is kept if the loss falls, or with the chance exp(-change / heat)."""
    clusters, figures, clock = partition.clusters, partition.figures, partition.clock
    point = whole(draws[0] * partition.own.size)
    taken = _choose(partition, graph, room, point, FEWEST + whole(draws[1] * (MOST - FEWEST + 1)))
    size, change, records = whole(0), 0.0, 0.0
    for place in range(taken):
        change -= figures[room.chosen[place], LOSS]
        records += figures[room.chosen[place], RECORDS]
        size = size + clusters[room.chosen[place], SIZE]
    if size > LARGEST_POOL:
        return
    clock[CHANGES] += 1
    start = clock[CHANGES]
    size = _put_aside(partition, bench, room, taken)
    site = Site(room.chosen, room.pool[:size], room.keys, room.labels)
    made = min(whole(records / k), taken - 1 + whole(draws[2] * 3.0))
    if made > taken:
        site.chosen[taken] = empty_cluster(clusters, clock)
        taken += 1
    built, done = _build(points, partition, bench, site, k, made, draws[3])
    _join_nearest(points, partition, site, built, done)
    for place in range(taken):
        change += settle(points, partition, bench, site.chosen[place])
    change += _polish(points, partition, bench, graph, site, k, start)
    if change < -SMALLEST_GAIN - heat * np.log(draws[4]):
        _keep(partition, site, start)
    else:
        _undo(points, partition, bench, site, start)


@compiled
def _rebuild(
    points: Points,
    partition: Partition,
    bench: Bench,
    graph: Ints,
    site: Site,
    k: float,
    draws: Floats,
    heat: float,
    signal: Longs,
) -> None:
    """A trial for each row of draws."""
    for trial in range(draws.shape[0]):
        if signal[1] == 0:
            _try_rebuilding(points, partition, bench, graph, site, k, draws[trial], heat)


def _new_site(refinement: Refinement) -> Site:
    labels = refinement.partition.links[2].copy()
    size = labels.size
    return Site(np.empty(MOST + 1, np.int64), np.empty(size, np.int64), np.empty(size), labels)


def rebuild(
    points: Points,
    labels: Ints,
    k: float,
    neighbors: int | Ints,
    passes: int,
    rounds: int,
    seconds: float,
    generator: np.random.Generator,
    signal: Longs,
) -> tuple[Ints, int]:
    """Labels of less loss, and how many rounds were made; a round has a trial for each cluster.

    Parameters as in `refine`, which comes first. At the beginning a trial may raise the loss a
    little, at the end it may not (Kirkpatrick, Gelatt and Vecchi 1983); the least loss counts. When
    the seconds are over, fewer rounds are made than asked for. signal[0] counts hundredths.
    """
    refinement = Refinement.of(points, labels, k, neighbors)
    refinement.improve(passes, signal)
    site, start, done = _new_site(refinement), time.monotonic(), 0
    losses, found = refinement.partition.figures[:, LOSS], refinement.partition.links[2]
    best, least = found.copy(), losses.sum()
    clusters = int(np.count_nonzero(refinement.partition.clusters[:, SIZE]))
    heat = HEAT * least / clusters
    share = 0.0
    while share < 1.0 and signal[1] == 0:
        draws = generator.random((min(TRIALS, rounds * clusters - done), DRAWS))
        warmth = heat * (1.0 - share) ** 2
        _rebuild(
            *(points, refinement.partition, refinement.bench, refinement.graph, site),
            *(refinement.k, draws, warmth, signal),
        )
        if losses.sum() < least:
            best, least = found.copy(), losses.sum()
        done += len(draws)
        share = max(done / (rounds * clusters), (time.monotonic() - start) / seconds)
        signal[0] = int(100 * min(share, 1.0))
    last = refinement.restarted(best)
    last.improve(passes, np.array([0, signal[1]]))
    return last.labels, done // clusters
