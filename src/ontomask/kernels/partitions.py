"""Clusters that points move between, and what each of them loses.

A tuple of several records may be divided: its *pieces* are points that lie one after the other and
have the same values; a piece without records lies in no cluster.

What points will find can be looked up ahead (`Foreseen`), on all cores: it stays true of a pair of
clusters until one of them is touched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.centroids import Tally, new_tally, price
from ontomask.kernels.compiling import apart, compiled, part, whole
from ontomask.kernels.records import Points, coded_cost
from ontomask.kernels.units import add_units, new_count, new_marks

__all__ = [
    "Bench",
    "Foreseen",
    "Partition",
    "collect",
    "divide",
    "empty_cluster",
    "kin_at",
    "kin_looked_at",
    "new_bench",
    "new_foreseen",
    "new_partition",
    "note_costs",
    "relink",
    "settle",
    "share_of",
    "squares_apart",
    "unite",
    "unlink",
]

SMALLEST_GAIN = 1e-10
"""Less is rounding, not improvement; two states could follow each other for ever."""
OWN_ROW, LONGEST_ROW = 32, 4
"""So many pieces of its own tuple, and of each that is near, name clusters that a point tries."""

HEAD, SIZE, CHANGED, VISITED, TOUCHED = 0, 1, 2, 3, 4
"""Columns of `clusters`: first point or -1, number of points, last change, last visit, and last
change that was tried, kept or not: it leaves the points in another order."""
CLUSTER, FIRST, BEHIND = 2, 3, 4
"""Rows of `links`: the cluster, and where the pieces of the same tuple begin and end."""
RECORDS, LOSS, RADIUS, CENTROID = 0, 1, 2, 3
"""Columns of `figures`; after the centroid comes, for every number, the weight behind it. The
radius is how far members are from the centroid at most; infinite where some are not numbers that
weigh 1."""
CHANGES, VISITS, FREE, DIVIDED = 0, 1, 2, 3
"""Entries of `clock`: changes made, visits made, where to look for an empty cluster, and whether
tuples have room for several pieces."""


class Partition(NamedTuple):
    """Clusters as linked lists of points, each with its centroid."""

    links: Longs
    """[5, p] next and previous point of the cluster (-1 at the ends), CLUSTER (-1: none), FIRST and
    BEHIND."""
    clusters: Longs
    """[clusters, 5] HEAD, SIZE, CHANGED, VISITED, TOUCHED."""
    figures: Floats
    """[clusters, 3 + coded + 2 * numeric] RECORDS, LOSS, RADIUS, CENTROID."""
    own: Floats
    """[p] cost of a point's coded values in its cluster."""
    apart: Floats
    """[p] distance of its numbers from those of the centroid; NaN where numbers are
    missing, or not squared."""
    rows: Floats
    """[p, numeric] the numbers, those of a point together: some are looked at over and over."""
    clock: Longs
    """[4] CHANGES, VISITS, FREE, DIVIDED."""


class Foreseen(NamedTuple):
    """What some points, or clusters, find when they look at the clusters near them.

    Points and clusters are numbered as one: clusters come behind the points.
    """

    first: int
    """The point or cluster of the first row."""
    stamps: Longs
    """[rows] the last change that it takes into account."""
    clusters: Longs
    """[rows, neighbors] the cluster that was looked at, -1 where none was."""
    partners: Longs
    """[rows, neighbors] the point to swap places with, -1: none."""
    changes: Floats
    """[rows, neighbors] the change of the loss."""


class Bench(NamedTuple):
    """Room to try a change."""

    tally: Tally
    members: Longs
    """[2, p] points of a union, and of one cluster."""
    keys: Floats
    """[p] what a union is ordered by."""
    saved: Floats
    """[2, columns of figures] figures of two clusters before a change."""
    marks: Longs
    """Which units have been counted, see `units`."""
    foreseen: Foreseen


def new_foreseen(first: int, rows: int, neighbors: int) -> Foreseen:
    """Room for what so many points or clusters find."""
    shape = rows, neighbors
    return Foreseen(
        first,
        np.empty(rows, np.int64),
        np.empty(shape, np.int64),
        np.empty(shape, np.int64),
        np.empty(shape),
    )


def new_bench(points: Points, columns: int) -> Bench:
    """Room to try changes of clusters whose figures have so many columns; nothing is foreseen."""
    size = points.weights.size
    return Bench(
        new_tally(points),
        np.empty((2, size), np.int64),
        np.empty(size),
        np.empty((2, columns)),
        new_marks(points),
        new_foreseen(0, 0, 0),
    )


def new_partition(
    points: Points, labels: Ints | Longs, capacity: int, kin: Longs | None = None
) -> Partition:
    """The clusters of these labels, ascending, still without figures.

    `kin` says of each point where the pieces of its tuple begin and end; by default every point is
    a tuple of its own. Empty pieces have the label -1.
    """
    size, width = labels.size, points.codes.shape[0] + 2 * points.numbers.shape[0]
    order = np.argsort(labels, kind="stable")[np.count_nonzero(labels < 0) :]
    same = labels[order[1:]] == labels[order[:-1]]
    links = np.full((5, size), -1, np.int64)
    links[0, order[:-1][same]] = order[1:][same]
    links[1, order[1:][same]] = order[:-1][same]
    links[CLUSTER] = labels
    alone = np.arange(size)
    links[FIRST:] = (alone, alone + 1) if kin is None else kin
    clusters = np.zeros((capacity, 5), np.int64)
    clusters[:, HEAD], clusters[:, CHANGED] = -1, -1
    firsts = order[np.concatenate([[True], ~same])]
    clusters[labels[firsts], HEAD] = firsts
    clusters[:, SIZE] = np.bincount(labels[order], minlength=capacity)
    figures = np.zeros((capacity, CENTROID + width))
    clock = np.array([1, 1, 1, kin is not None])
    rows = np.ascontiguousarray(points.numbers.T)
    return Partition(links, clusters, figures, np.zeros(size), np.zeros(size), rows, clock)


@compiled
def unlink(links: Longs, clusters: Longs, point: int) -> None:
    """Take a point out of its cluster's list."""
    after, before, home = links[0, point], links[1, point], links[CLUSTER, point]
    if after >= 0:
        links[1, after] = before
    if before >= 0:
        links[0, before] = after
    elif home >= 0:
        clusters[home, HEAD] = after
    if home >= 0:
        clusters[home, SIZE] -= 1
    links[0, point], links[1, point], links[CLUSTER, point] = -1, -1, -1


@compiled
def relink(links: Longs, clusters: Longs, point: int, cluster: int) -> None:
    """Take a point out of its cluster's list and put it at the head of another's."""
    unlink(links, clusters, point)
    head = clusters[cluster, HEAD]
    links[0, point], links[CLUSTER, point] = head, cluster
    if head >= 0:
        links[1, head] = point
    clusters[cluster, HEAD] = point
    clusters[cluster, SIZE] += 1


@part
def share_of(points: Points, point: int, amount: float) -> float:
    """The weight of so many of a point's records."""
    weight, size = points.weights[point], points.sizes[point]
    return weight if amount == size else weight * amount / size


@part
def kin_at(links: Longs, point: int, step: int) -> int:
    """The piece of the same tuple that comes so many places after a point, in a ring."""
    first = links[FIRST, point]
    return first + (point - first + step) % (links[BEHIND, point] - first)


@part
def kin_looked_at(links: Longs, point: int, slot: int) -> int:
    """How many pieces name clusters to look at: of the point's own tuple more (slot -1)."""
    return min(links[BEHIND, point] - links[FIRST, point], OWN_ROW if slot < 0 else LONGEST_ROW)


@compiled
def divide(points: Points, partition: Partition, point: int, amount: float) -> int:
    """Let so many records of a point be a piece of their own in the same cluster.

    -1: there is no empty piece left; the point itself where it has no more records than that.
    """
    links, sizes, weights = partition.links, points.sizes, points.weights
    if not amount < sizes[point]:
        return point
    for piece in range(links[FIRST, point], links[BEHIND, point]):
        if links[CLUSTER, piece] < 0:
            weights[piece] = share_of(points, point, amount)
            sizes[piece] = amount
            weights[point] -= weights[piece]
            sizes[point] -= amount
            partition.own[piece] = partition.own[point]
            relink(links, partition.clusters, piece, links[CLUSTER, point])
            return piece
    return -1


@compiled
def unite(points: Points, partition: Partition, point: int) -> None:
    """Let a point be one with another piece of its tuple in the same cluster, if there is one."""
    links, sizes, weights = partition.links, points.sizes, points.weights
    home = links[CLUSTER, point]
    for piece in range(links[FIRST, point], links[BEHIND, point]):
        if piece != point and home >= 0 and links[CLUSTER, piece] == home:
            sizes[piece] += sizes[point]
            weights[piece] += weights[point]
            sizes[point], weights[point] = 0.0, 0.0
            unlink(links, partition.clusters, point)
            return


@compiled
def collect(partition: Partition, members: Longs, row: int, count: int, cluster: int) -> int:
    """Append a cluster's points to a row of members; how many there are now.

    Where the cluster is being changed meanwhile, they are any points, but never too many.
    """
    point = partition.clusters[cluster, HEAD]
    while point >= 0 and count < members.shape[1]:
        members[row, count] = point
        count += 1
        point = partition.links[0, point]
    return count


@compiled
def squares_apart(rows: Floats, figures: Floats, coded: int, cluster: int, point: int) -> float:
    """Squared distance of a point's numbers from a centroid's; NaN where one is missing."""
    total, start = 0.0, CENTROID + coded
    for attribute in range(rows.shape[1]):
        difference = rows[point, attribute] - figures[cluster, start + attribute]
        total += difference * difference
    return total


@compiled
def note_costs(points: Points, partition: Partition, cluster: int) -> None:
    """Keep what the points of a cluster cost there."""
    figures, coded, numeric = partition.figures, points.codes.shape[0], points.numbers.shape[0]
    complete, usual, behind = points.power == 2, coded == 0, CENTROID + coded + numeric
    for attribute in range(1, numeric):
        complete &= figures[cluster, behind + attribute] == figures[cluster, behind]
    point, radius = partition.clusters[cluster, HEAD], 0.0 if complete else np.inf
    while point >= 0:
        partition.own[point] = coded_cost(points, figures[cluster, CENTROID:], point)
        partition.apart[point] = np.nan
        if complete:
            squares = squares_apart(partition.rows, figures, coded, cluster, point)
            partition.apart[point] = np.sqrt(squares)
            if not partition.apart[point] <= radius:
                radius = partition.apart[point] if squares >= 0.0 else np.inf
        usual &= points.weights[point] == 1.0
        point = partition.links[0, point]
    figures[cluster, RADIUS] = radius if usual else np.inf


@apart
@compiled
def settle(points: Points, partition: Partition, bench: Bench, cluster: int) -> float:
    """Bring a cluster's centroid and figures up to date after a change; its loss."""
    figures, tally, coded = partition.figures, bench.tally, points.codes.shape[0]
    numeric = points.numbers.shape[0]
    count = collect(partition, bench.members, whole(1), whole(0), cluster)
    members = bench.members[1, :count]
    reference = figures[cluster, CENTROID : CENTROID + coded + numeric]
    figures[cluster, LOSS] = price(points, tally, members, reference)
    figures[cluster, RECORDS] = 0.0
    new_count(bench.marks)
    for attribute in range(numeric):
        figures[cluster, CENTROID + coded + numeric + attribute] = tally.numbers[1, attribute]
    for point in members:
        figures[cluster, RECORDS] += add_units(points, bench.marks, point)
    note_costs(points, partition, cluster)
    partition.clusters[cluster, CHANGED] = partition.clock[CHANGES]
    partition.clusters[cluster, TOUCHED] = partition.clock[CHANGES]
    return figures[cluster, LOSS]


@part
def empty_cluster(clusters: Longs, clock: Longs) -> int:
    """An empty cluster, or -1; the next search goes on where this one ends."""
    for _ in range(clusters.shape[0]):
        clock[FREE] = (clock[FREE] + 1) % clusters.shape[0]
        if clusters[clock[FREE], HEAD] < 0:
            return clock[FREE]
    return -1
