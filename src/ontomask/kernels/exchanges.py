"""What a move of a point, or an exchange of two, would change, and the best one.

A point looks at the clusters of its nearest points. Changes are found by an estimate that keeps
coded centroids where they are, exact for numbers with power 2,

    joining:  W w / (W + w) |x - mean|^2      leaving:  - W w / (W - w) |x - mean|^2

and are kept only when the exact loss of the clusters concerned falls. The loss of a cluster is a
concave function of how many records of each tuple it holds (a mean is a perspective, a coded
centroid the least of several linear costs), so of all amounts that could move only the extreme ones
count: all of a piece, or as much as k allows. Bounds tell of most clusters, and most of their
points, that they are too far to be of use.
"""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.compiling import apart, compiled, part, whole
from ontomask.kernels.partitions import (
    BEHIND,
    CENTROID,
    CHANGED,
    CHANGES,
    FIRST,
    HEAD,
    LOSS,
    RADIUS,
    RECORDS,
    SMALLEST_GAIN,
    TOUCHED,
    VISITED,
    VISITS,
    Bench,
    Foreseen,
    Partition,
    divide,
    kin_at,
    kin_looked_at,
    note_costs,
    relink,
    settle,
    share_of,
    squares_apart,
    unite,
)
from ontomask.kernels.records import Points, coded_cost, number_difference
from ontomask.kernels.units import add_units, new_count

__all__ = [
    "LONGEST_WALK",
    "best_partner",
    "improve_point",
    "is_known",
    "is_too_far",
    "join_change",
    "transfer",
]

LONGEST_WALK = 64
"""So many members of a cluster are looked at, or cuts tried: large ones would cost squares."""
TOLERANCE = 1e-9
"""How far, as a share, a formula may be wrong by rounding."""


@compiled
def _squares_between(rows: Floats, point: int, other: int) -> float:
    """Squared distance of the numbers of two points."""
    total = 0.0
    for attribute in range(rows.shape[1]):
        difference = rows[point, attribute] - rows[other, attribute]
        total += difference * difference
    return total


@compiled
def _number_change(
    points: Points,
    figures: Floats,
    cluster: int,
    out: int,
    lost: float,
    new: int,
    gained: float,
) -> float:
    """Change of a cluster's numeric loss when `out` leaves and `new` joins (-1: nobody).

    They do so with a weight of `lost` and of `gained`.
    """
    columns, coded, numeric = points.numbers, points.codes.shape[0], points.numbers.shape[0]
    total, known, leaving, shift, joining = 0.0, -1.0, 0.0, 0.0, 0.0
    for attribute in range(numeric):
        mean = figures[cluster, CENTROID + coded + attribute]
        behind = figures[cluster, CENTROID + coded + numeric + attribute]
        first = columns[attribute, out] if out >= 0 else mean
        second = columns[attribute, new] if new >= 0 else mean
        if points.power != 2 or not (mean == mean and first == first and second == second):
            gap = points.gaps[attribute]
            total -= lost * number_difference(first, mean, gap, points.power)
            total += gained * number_difference(second, mean, gap, points.power)
            continue
        # first one leaves, then the other joins what is left: exact for a swap as well
        if behind != known:
            # without missing numbers the same for all, and divisions take longest
            known, leaving, shift, rest = behind, 0.0, 0.0, behind
            if behind > lost:
                leaving, shift = behind * lost / (behind - lost), lost / (behind - lost)
                rest = behind - lost
            joining = rest * gained / (rest + gained)
        difference = first - mean
        total -= leaving * difference * difference
        difference = second - (mean - shift * difference)
        total += joining * difference * difference
    return total


@compiled
def join_change(points: Points, partition: Partition, cluster: int, point: int) -> float:
    """Estimated change of a cluster's loss when a point joins it."""
    weight, figures = points.weights[point], partition.figures
    change = weight * coded_cost(points, figures[cluster, CENTROID:], point)
    return change + _number_change(points, figures, cluster, whole(-1), 0.0, point, weight)


@apart
@compiled
def transfer(
    points: Points, partition: Partition, bench: Bench, point: int, partner: int, cluster: int
) -> float:
    """Move a point to a cluster, and the partner (-1: nobody) from there to its own; the change."""
    home = partition.links[2, point]
    before = partition.figures[home, LOSS] + partition.figures[cluster, LOSS]
    partition.clock[CHANGES] += 1
    relink(partition.links, partition.clusters, point, cluster)
    if partner >= 0:
        relink(partition.links, partition.clusters, partner, home)
    return (
        settle(points, partition, bench, home) + settle(points, partition, bench, cluster) - before
    )


@part
def _try_transfer(
    points: Points,
    partition: Partition,
    bench: Bench,
    point: int,
    partner: int,
    cluster: int,
    moved: float,
    returned: float,
) -> float:
    """Transfer so many records if that lowers the loss; otherwise nothing changes. The change."""
    figures, clusters, saved = partition.figures, partition.clusters, bench.saved
    home = partition.links[2, point]
    stamp, other_stamp = clusters[home, CHANGED], clusters[cluster, CHANGED]
    point = divide(points, partition, point, moved)
    if partner >= 0 and point >= 0:
        partner = divide(points, partition, partner, returned)
        if partner < 0:
            unite(points, partition, point)
            point = partner
    if point < 0:
        return 0.0
    for column in range(saved.shape[1]):
        saved[0, column], saved[1, column] = figures[home, column], figures[cluster, column]
    change = transfer(points, partition, bench, point, partner, cluster)
    if change < 0.0:
        unite(points, partition, point)
        if partner >= 0:
            unite(points, partition, partner)
        return change
    # the estimate was wrong: coded centroids moved
    relink(partition.links, clusters, point, home)
    if partner >= 0:
        relink(partition.links, clusters, partner, cluster)
        unite(points, partition, partner)
    unite(points, partition, point)
    clusters[home, CHANGED], clusters[cluster, CHANGED] = stamp, other_stamp
    for column in range(saved.shape[1]):
        figures[home, column], figures[cluster, column] = saved[0, column], saved[1, column]
    note_costs(points, partition, home)
    note_costs(points, partition, cluster)
    return 0.0


@compiled
def _stays_large(
    points: Points, partition: Partition, marks: Longs, k: float, cluster: int, out: int, new: int
) -> bool:
    """Whether a cluster still has k records, or persons, when `out` leaves and `new` joins it.

    Persons are counted only where bounds do not tell: `out` may share them with other members.
    """
    now, joining = partition.figures[cluster, RECORDS], 0.0
    if new >= 0:
        joining = points.sizes[new]
    left = now - points.sizes[out]
    if points.owners.size == 0:
        return left + joining >= k
    if left >= k or now + joining < k:
        return left >= k
    new_count(marks)
    left = add_units(points, marks, new) if new >= 0 else 0.0
    member = partition.clusters[cluster, HEAD]
    while member >= 0 and left < k:
        if member != out:
            left += add_units(points, marks, member)
        member = partition.links[0, member]
    return left >= k


@part
def _can_swap(
    points: Points, partition: Partition, marks: Longs, k: float, point: int, other: int
) -> bool:
    """Whether two points can change places."""
    home, cluster = partition.links[2, point], partition.links[2, other]
    return _stays_large(points, partition, marks, k, home, point, other) and _stays_large(
        points, partition, marks, k, cluster, other, point
    )


@part
def _amounts(way: int, size: float, other: float, spare: float, room: float) -> tuple[float, float]:
    """How many of `size` records leave and of `other` come back; (0, 0): not that way.

    All of both; all of the first for as many or as few as can be; the same for the second. What
    they have above k is `spare` and `room`.
    """
    moved, returned = size, other
    if way == 1:
        returned = min(other, size + room)
    elif way == 2:
        returned = size - spare
    elif way == 3:
        moved = min(size, other + spare)
    elif way == 4:
        moved = other - room
    fits = 0.0 < moved <= size and 0.0 < returned <= other
    fits &= moved - returned <= spare and returned - moved <= room
    # other ways to say "all of both"
    if not fits or (way > 0 and moved == size and returned == other):
        return 0.0, 0.0
    return moved, returned


@part
def _ways(points: Points, links: Longs, point: int, other: int) -> int:
    """How many of those ways there are: single records have one, as have tuples in one piece."""
    several = points.sizes[point] > 1.0 and links[BEHIND, point] - links[FIRST, point] > 1
    more = points.sizes[other] > 1.0 and links[BEHIND, other] - links[FIRST, other] > 1
    if several:
        return 5
    return 3 if more else 1


@part
def _swap_factors(lost: float, gained: float, here: float, there: float) -> tuple[float, ...]:
    """What bounds the loss of numbers when points of these weights change places.

    With weights W and V of the clusters before and W', V' after, distances a and b from the own
    centroids, e and x from the other one's, and s between the points, it changes by

        W/W' (gained x^2 - lost a^2) + V/V' (lost e^2 - gained b^2) - f s^2,
        f = lost gained (1/W' + 1/V')

    where s is no more than the way over either centroid. Before x and s are known, it is at least

        A e^2 - B b^2 - C a^2 - the lesser of f (b + e)^2 and D a^2,

    the latter being the least that x can make of it. These are A, B, C, f, D and W/W' gained.
    """
    rest, behind = here - lost + gained, there - gained + lost
    ratio, other = here / rest, there / behind
    far, pull = lost * gained * (1.0 / rest + 1.0 / behind), ratio * gained
    drawn = pull * far / (pull - far) if pull > far else np.inf
    return other * lost, other * gained, ratio * lost, far, drawn, pull


@part
def _move_alone(
    points: Points, partition: Partition, marks: Longs, k: float, point: int, cluster: int
) -> tuple[float, float]:
    """What it changes to move a point, or as much of it as k allows; and how many records."""
    figures, links, home = partition.figures, partition.links, partition.links[2, point]
    moved, spare = points.sizes[point], figures[home, RECORDS] - k
    if not _stays_large(points, partition, marks, k, home, point, whole(-1)):
        if spare < 1.0 or links[BEHIND, point] - links[FIRST, point] == 1:
            return np.inf, moved
        moved = spare
    weight = share_of(points, point, moved)
    there = figures[cluster, CENTROID:]
    change = weight * (coded_cost(points, there, point) - partition.own[point])
    change += _number_change(points, figures, home, point, weight, whole(-1), 0.0)
    change += _number_change(points, figures, cluster, whole(-1), 0.0, point, weight)
    return change, moved


@apart
@compiled
def best_partner(
    points: Points, partition: Partition, marks: Longs, k: float, point: int, cluster: int
) -> tuple[float, int, float, float]:
    """The best that moving a point to a cluster can do, alone (-1) or against a member of it.

    Then how many records move, and how many of the member's. What cannot do any good is left out.
    """
    figures, own, apart_, links = partition.figures, partition.own, partition.apart, partition.links
    home, sizes, coded = links[2, point], points.sizes, points.codes.shape[0]
    # views are made once: the loop below is where refinement spends its time
    here, there = figures[home, CENTROID:], figures[cluster, CENTROID:]
    persons, numbers = points.owners.size > 0, points.numbers.shape[0] > 0
    spare, room = figures[home, RECORDS] - k, figures[cluster, RECORDS] - k
    base = coded_cost(points, there, point) - own[point]
    best, moved = _move_alone(points, partition, marks, k, point, cluster)
    partner, returned = whole(-1), 0.0
    away, out = squares_apart(partition.rows, figures, coded, cluster, point), apart_[point]
    reach, last, last_back, factors = np.sqrt(away), -1.0, -1.0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    other, walked = partition.clusters[cluster, HEAD], 0
    while other >= 0 and walked < LONGEST_WALK:
        for way in range(_ways(points, links, point, other)):
            amount, back = sizes[point], sizes[other]
            if not persons:
                amount, back = _amounts(way, amount, back, spare, room)
            if amount == 0.0:
                continue
            weight, gained = share_of(points, point, amount), share_of(points, other, back)
            change = weight * base - gained * own[other]
            # NaN where numbers are missing
            if numbers and out + apart_[other] >= 0.0:
                if weight != last or gained != last_back:
                    last, last_back = weight, gained
                    factors = _swap_factors(
                        weight, gained, here[here.size - 1], there[there.size - 1]
                    )
                new, over = apart_[other], apart_[other] + reach
                least = factors[0] * away - factors[1] * new * new - factors[2] * out * out
                slack = min(factors[3] * over * over, factors[4] * out * out)
                if change + least - slack > SMALLEST_GAIN:
                    continue
                across = squares_apart(partition.rows, figures, coded, home, other)
                between = _squares_between(partition.rows, point, other)
                least += factors[5] * across - factors[3] * between
                if change + least > min(best, 0.0) + TOLERANCE * (away + across):
                    continue
            change += _number_change(points, figures, home, point, weight, other, gained)
            change += _number_change(points, figures, cluster, other, gained, point, weight)
            # what is left can only add to it
            if change < best:
                change += gained * coded_cost(points, here, other)
            # persons are counted last, for that takes as long
            if change < best and (
                not persons or _can_swap(points, partition, marks, k, point, other)
            ):
                best, partner, moved, returned = change, other, amount, back
        other = links[0, other]
        walked += 1
    return best, partner, moved, returned


@part
def is_too_far(partition: Partition, weights: Floats, point: int, home: int, cluster: int) -> bool:
    """Whether neither a move nor a swap with any member of a cluster could do any good."""
    figures, last = partition.figures, partition.figures.shape[1] - 1
    new, out = figures[cluster, RADIUS], partition.apart[point]
    if weights[point] != 1.0 or not new + out < np.inf:
        return False
    away = squares_apart(partition.rows, figures, whole(0), cluster, point)
    here, there = figures[home, last], figures[cluster, last]
    factors, over = _swap_factors(1.0, 1.0, here, there), new + np.sqrt(away)
    slack = min(factors[3] * over * over, factors[4] * out * out)
    change = factors[0] * away - factors[1] * new * new - factors[2] * out * out - slack
    # who is alone stays
    if here > 1.0:
        moved = there / (there + 1.0) * away - here / (here - 1.0) * out * out
        change = min(change, moved)
    return change > SMALLEST_GAIN + TOLERANCE * away


@part
def is_known(
    clusters: Longs, foreseen: Foreseen, item: int, slot: int, home: int, near: int
) -> bool:
    """Whether what a point or cluster, at home, finds at a cluster near it is foreseen and true."""
    row = item - foreseen.first
    return (
        0 <= row < foreseen.clusters.shape[0]
        and foreseen.clusters[row, slot] == near
        and clusters[home, TOUCHED] <= foreseen.stamps[row]
        and clusters[near, TOUCHED] <= foreseen.stamps[row]
    )


@apart
@compiled
def improve_point(
    points: Points, partition: Partition, bench: Bench, graph: Ints, k: float, point: int, seen: int
) -> float:
    """Move or swap a point where that lowers the loss most; the change."""
    clusters, links, clock = partition.clusters, partition.links, partition.clock
    home, foreseen = links[2, point], bench.foreseen
    best, partner, target = -SMALLEST_GAIN, whole(-1), whole(-1)
    moved, returned = 0.0, 0.0
    clock[VISITS] += 1
    clusters[home, VISITED] = clock[VISITS]
    for slot in range(-1, graph.shape[1]):
        near = point if slot < 0 else whole(graph[point, slot])
        if near < 0:
            break
        for step in range(kin_looked_at(links, near, slot)):
            cluster = links[2, kin_at(links, near, step)]
            if cluster < 0 or clusters[cluster, VISITED] == clock[VISITS]:
                continue
            if clusters[cluster, CHANGED] < seen and clusters[home, CHANGED] < seen:
                continue
            clusters[cluster, VISITED] = clock[VISITS]
            if is_too_far(partition, points.weights, point, home, cluster):
                continue
            if is_known(clusters, foreseen, point, slot, home, cluster):
                row = point - foreseen.first
                change, other = foreseen.changes[row, slot], foreseen.partners[row, slot]
                amount, back = points.sizes[point], 0.0
                if other >= 0:
                    back = points.sizes[other]
            else:
                change, other, amount, back = best_partner(
                    points, partition, bench.marks, k, point, cluster
                )
            if change < best:
                best, partner, target, moved, returned = change, other, cluster, amount, back
    if target < 0:
        return 0.0
    return _try_transfer(points, partition, bench, point, partner, target, moved, returned)
