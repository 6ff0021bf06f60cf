"""Improve a clustering further: take clusters apart, build them anew, keep what is better.

A large neighborhood search (Shaw 1998) over the local search of `refinement`, which ends where no
single move helps. A trial takes the clusters around a point, builds others of their points, from
one end of the set to the other or around points that are drawn, lets the local search improve
these, and is undone unless the loss has fallen (early on: unless it has risen much). Points and
numbers of clusters are drawn; the same draws give the same clusters.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import compiled, part, whole
from ontomask.kernels.exchanges import (
    improve_point,
    join_change,
)
from ontomask.kernels.neighbors import sort_by_keys
from ontomask.kernels.partitions import (
    BEHIND,
    CHANGED,
    CHANGES,
    DIVIDED,
    FIRST,
    HEAD,
    LOSS,
    RECORDS,
    SIZE,
    SMALLEST_GAIN,
    Bench,
    Partition,
    collect,
    divide,
    empty_cluster,
    kin_at,
    kin_looked_at,
    relink,
    settle,
    unlink,
)
from ontomask.kernels.records import Points, contribution, point_reference
from ontomask.kernels.refinement import Refinement, unite_in
from ontomask.kernels.units import add_units, new_count

__all__ = ["rebuild"]

DRAWS = 6
"""Numbers that a trial draws: its point, how many clusters it takes, how many it makes, an end,
whether it is kept, and where clusters begin."""
HEAT = 0.05
"""What a trial may cost at the beginning, as a share of the mean loss of a cluster."""
OTHER_COUNT = 1 / 6
"""The share of trials that make one cluster less, and of those that make one more."""
BY_LOT = 0.5
"""The share of trials in which clusters begin at points that are drawn, not at an end: there are
few ends, and trials that begin at the same ones build the same clusters."""
SPREAD = 7919.0
"""Turns one draw into several: the fractions of its multiples."""
PATIENCE = 0.1
"""The share of the seconds in which nobody looks whether trials are slow: something else may have
been done meanwhile, and a run that is judged by the clock cannot be repeated."""
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
    """[p] how far these are from an end; later the first change that each has not seen."""
    labels: Longs
    """[p] the clusters as they were before."""
    amounts: Floats
    """[2, p] sizes and weights as they were before."""


@part
def _choose(partition: Partition, graph: Ints, site: Site, point: int, wanted: int) -> int:
    """The clusters around a point, its own first; how many."""
    links = partition.links
    site.chosen[0], count = links[2, point], whole(1)
    for slot in range(-1, graph.shape[1]):
        near = point if slot < 0 else whole(graph[point, slot])
        if near < 0:
            break
        for step in range(kin_looked_at(links, near, slot)):
            cluster = links[2, kin_at(links, near, step)]
            known = cluster < 0 or count == wanted
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
    points: Points,
    partition: Partition,
    bench: Bench,
    site: Site,
    size: int,
    k: float,
    count: int,
    end: float,
    lot: float,
) -> tuple[int, int, int]:
    """Fill clusters with the pool, one after the other from end to end; how many, and the rest.

    The points from that place on are in no cluster yet. Where one is divided, the pool is larger.
    A small `lot` lets clusters begin at other points than the ends.
    """
    reference = bench.saved[0, : points.codes.shape[0] + points.gaps.size]
    point_reference(points, site.pool[whole(end * size)], reference)
    _order_from(points, site, reference, whole(0), size)
    built, done, amount = whole(0), whole(0), k
    while built < count and amount >= k and done < size:
        # the farthest of those that are left is the next end
        begin = size - 1
        if lot < BY_LOT:
            begin = done + whole((lot * SPREAD * (built + 1)) % 1.0 * (size - done))
        point_reference(points, site.pool[begin], reference)
        _order_from(points, site, reference, done, size)
        new_count(bench.marks)
        place, amount = done, 0.0
        while amount < k and place < size:
            amount += add_units(points, bench.marks, site.pool[place])
            place += 1
        if amount > k and partition.clock[DIVIDED] != 0:
            # the rest of the last one stays in the pool
            over = divide(points, partition, site.pool[place - 1], amount - k)
            if over >= 0:
                site.pool[size] = over
                size += 1
        if amount >= k:
            for slot in range(done, place):
                relink(partition.links, partition.clusters, site.pool[slot], site.chosen[built])
            settle(points, partition, bench, site.chosen[built])
            done, built = place, built + 1
    return built, done, size


@part
def _join_nearest(
    points: Points, partition: Partition, site: Site, size: int, built: int, done: int
) -> None:
    """Give the points of the pool from `done` on to the clusters that were built."""
    for slot in range(done, size):
        best, host = np.inf, site.chosen[0]
        for place in range(built):
            change = join_change(points, partition, site.chosen[place], site.pool[slot])
            if change < best:
                best, host = change, site.chosen[place]
        relink(partition.links, partition.clusters, site.pool[slot], host)


@part
def _speaks_for_kin(partition: Partition, point: int, start: int) -> bool:
    """Whether no piece of the same tuple before it lies in a cluster that has changed since."""
    links, first = partition.links, True
    for piece in range(links[FIRST, point], point):
        cluster = links[2, piece]
        first &= cluster < 0 or partition.clusters[cluster, CHANGED] < start
    return first


@compiled
def _list_changed(partition: Partition, site: Site, changed: Longs, start: int) -> int:
    """List the points that may be in other clusters than before, or hold more or fewer records.

    What left a piece lies in a cluster that has changed, so kin is listed along with what does.
    """
    clusters, links, count = partition.clusters, partition.links, whole(0)
    for cluster in range(clusters.shape[0]):
        if clusters[cluster, CHANGED] >= start:
            point = clusters[cluster, HEAD]
            while point >= 0:
                if _speaks_for_kin(partition, point, start):
                    for piece in range(links[FIRST, point], links[BEHIND, point]):
                        if links[2, piece] >= 0 or site.labels[piece] >= 0:
                            changed[count] = piece
                            count += 1
                point = links[0, point]
    return count


@part
def _undo(points: Points, partition: Partition, bench: Bench, site: Site, start: int) -> None:
    """Put everything back that has changed since."""
    clusters, links = partition.clusters, partition.links
    count = _list_changed(partition, site, bench.members[0], start)
    for slot in range(count):
        point = bench.members[0, slot]
        points.sizes[point], points.weights[point] = site.amounts[0, point], site.amounts[1, point]
        if site.labels[point] < 0:
            unlink(links, clusters, point)
        elif site.labels[point] != links[2, point]:
            relink(links, clusters, point, site.labels[point])
    for cluster in range(clusters.shape[0]):
        if clusters[cluster, CHANGED] >= start:
            settle(points, partition, bench, cluster)


@part
def _keep(points: Points, partition: Partition, bench: Bench, site: Site, start: int) -> None:
    """Note where points are now."""
    count = _list_changed(partition, site, bench.members[0], start)
    for slot in range(count):
        point = bench.members[0, slot]
        site.labels[point] = partition.links[2, point]
        site.amounts[0, point], site.amounts[1, point] = points.sizes[point], points.weights[point]


@part
def _put_aside(points: Points, partition: Partition, bench: Bench, room: Site, taken: int) -> int:
    """Take clusters apart: their points lie in an empty one; how many points."""
    size, yard = whole(0), empty_cluster(partition.clusters, partition.clock)
    for place in range(taken):
        size = collect(partition, bench.members, whole(0), size, room.chosen[place])
    for slot in range(size):
        relink(partition.links, partition.clusters, bench.members[0, slot], yard)
    unite_in(points, partition, bench.members, yard)
    partition.clusters[yard, CHANGED] = partition.clock[CHANGES]
    size = collect(partition, bench.members, whole(0), whole(0), yard)
    for slot in range(size):
        room.pool[slot] = bench.members[0, size - 1 - slot]
    return size


@part
def _polish(
    points: Points,
    partition: Partition,
    bench: Bench,
    graph: Ints,
    site: Site,
    size: int,
    k: float,
    start: int,
) -> float:
    """Let the local search improve what was built; the change of the loss."""
    change, clock = 0.0, partition.clock
    for slot in range(size):
        site.keys[slot] = start
    for _ in range(PASSES):
        gain = 0.0
        for slot in range(size):
            point, seen = site.pool[slot], whole(site.keys[slot])
            if partition.links[2, point] >= 0:
                site.keys[slot] = clock[CHANGES] + 1
                gain += improve_point(points, partition, bench, graph, k, point, seen)
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
    while partition.links[2, point] < 0:
        point = kin_at(partition.links, point, whole(1))
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
    size = _put_aside(points, partition, bench, room, taken)
    wanted = taken - whole(draws[2] < OTHER_COUNT) + whole(draws[2] >= 1.0 - OTHER_COUNT)
    made = min(whole(records / k), wanted)
    if made > taken:
        room.chosen[taken] = empty_cluster(clusters, clock)
        taken += 1
    built, done, size = _build(points, partition, bench, room, size, k, made, draws[3], draws[5])
    _join_nearest(points, partition, room, size, built, done)
    for place in range(taken):
        unite_in(points, partition, bench.members, room.chosen[place])
        change += settle(points, partition, bench, room.chosen[place])
    change += _polish(points, partition, bench, graph, room, size, k, start)
    if change < -SMALLEST_GAIN - heat * np.log(draws[4]):
        _keep(points, partition, bench, room, start)
    else:
        _undo(points, partition, bench, room, start)


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
    labels, points = refinement.partition.links[2].copy(), refinement.points
    size, amounts = labels.size, np.array([points.sizes, points.weights])
    chosen = np.empty(MOST + 1, np.int64)
    return Site(chosen, np.empty(size, np.int64), np.empty(size), labels, amounts)


def _state(refinement: Refinement) -> tuple[Longs, Floats, Floats]:
    """Clusters, sizes and weights of all points, to come back to."""
    points = refinement.points
    return refinement.partition.links[2].copy(), points.sizes.copy(), points.weights.copy()


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
    kin: Longs | None = None,
) -> tuple[Ints, int]:
    """Labels of less loss, and how many rounds were made; a round has a trial for each cluster.

    Parameters as in `refine`, which comes first. At the beginning a trial may raise the loss a
    little, at the end it may not (Kirkpatrick, Gelatt and Vecchi 1983); the least loss counts. When
    the seconds are over, fewer rounds are made than asked for; where they were ahead of the rounds,
    after a tenth of them or later, trials were judged by the clock, and not all rounds count as
    made. signal[0] counts hundredths.
    """
    refinement = Refinement.of(points, labels, k, neighbors, kin)
    refinement.improve(passes, signal)
    site, done = _new_site(refinement), 0
    losses = refinement.partition.figures[:, LOSS]
    best, least = _state(refinement), losses.sum()
    clusters = int(np.count_nonzero(refinement.partition.clusters[:, SIZE]))
    heat = HEAT * least / clusters
    share, hurried = 0.0, False
    given = points, refinement.partition, refinement.bench, refinement.graph, site, refinement.k
    # without a trial it is only compiled, where it was not: that takes none of the seconds
    _rebuild(*given, np.empty((0, DRAWS)), heat, signal)
    start = time.monotonic()
    while share < 1.0 and signal[1] == 0:
        draws = generator.random((min(TRIALS, rounds * clusters - done), DRAWS))
        _rebuild(*given, draws, heat * (1.0 - share) ** 2, signal)
        if losses.sum() < least:
            best, least = _state(refinement), losses.sum()
        done += len(draws)
        made, spent = done / (rounds * clusters), (time.monotonic() - start) / seconds
        late = spent > max(made, PATIENCE)
        share, hurried = spent if late else made, hurried or late
        signal[0] = int(100 * min(share, 1.0))
    if losses.sum() > least:
        found, points.sizes[:], points.weights[:] = best
        refinement = refinement.restarted(found)
    refinement.improve(passes, np.array([0, signal[1]]))
    return refinement.labels, min(done // clusters, rounds - hurried)
