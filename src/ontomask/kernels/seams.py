"""Cut points into blocks that can be clustered apart, along seams that few near pairs cross.

A seam lies between two poles: on one side are the points that are nearer to the first of them, or
nearer by so much, by the record distance or in one attribute alone (a metric tree, Uhlmann 1991).
What a cut costs is what clusters lose who would have reached over it. So *scouts*, an even sample
of the points, look for their nearest points, and of several seams that one is taken which parts
the fewest of these pairs for what it achieves. Nothing is random, and nothing depends on threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Bools, Floats, Longs
from ontomask.kernels.blocks import in_blocks, side_by_side
from ontomask.kernels.centroids import centroids
from ontomask.kernels.compiling import compiled, whole
from ontomask.kernels.neighbors import nearest_points
from ontomask.kernels.records import VALUE_START, Points, entry, number_difference, select_points
from ontomask.kernels.units import amount

__all__ = ["cut_points"]

FIELD = 32_768
"""So many points at most are looked at when a seam is sought, …"""
SCOUTS = 2_048
"""… so many of them are scouts, …"""
NEAREST = 6
"""… and each finds so many near it."""
PARTED_BEFORE = 20
"""How many times a pair counts that was parted in former blocks."""
FEWEST_PAIRS = 1_500
"""With fewer, new scouts are sent out."""
WITNESSES = 1_024
"""So many points tell how even a seam cuts."""
LEAST_SHARE = 0.15
"""What a side must have of the points."""
TURNS = 3
"""How often poles move to the centers of their sides."""
SMALLEST_SHARE = 16_384
"""Points for which it pays to start a thread."""


class Seam(NamedTuple):
    """Points whose key is less than `bar` lie on the first side."""

    poles: Floats
    """[2, coded + numeric] two references."""
    attributes: tuple[int, int]
    """The first of the attributes that count, and the one behind the last."""
    bar: float
    cost: float


class Piece(NamedTuple):
    """Points that may be cut."""

    members: Longs
    """Ascending."""
    pairs: Longs | None
    """[2, pairs] near ones; none where no cut was found."""


class Sample(NamedTuple):
    """What is known of a set of points: some of them, which speak for all, and near pairs."""

    points: Points
    witnesses: Longs
    pairs: Longs
    """[2, pairs] places among the points."""


def cut_points(
    points: Points,
    parts: Sequence[Longs],
    most: int,
    least: float,
    former: Longs | None = None,
) -> list[Longs]:
    """Cut parts, each given by its points in ascending order, into blocks of at most `most` points.

    A block is left larger where a side would have fewer than `least` records, or persons. Where
    points lay in `former` blocks, the seams of these are avoided, so that they lie inside.
    """

    def is_large(piece: Piece) -> bool:
        return piece.members.size > most and piece.pairs is not None

    def work(piece: Piece) -> list[Piece]:
        return _halves(points, piece, least, former)

    pieces = [Piece(members, np.empty((2, 0), np.int64)) for members in parts]
    while large := [one for one in pieces if is_large(one)]:
        halves = iter(side_by_side(work, large))
        pieces = [half for one in pieces for half in (next(halves) if is_large(one) else [one])]
    return [one.members for one in pieces]


def _halves(points: Points, piece: Piece, least: float, former: Longs | None) -> list[Piece]:
    """A piece that is cut in two, or the same, which cannot be cut."""
    members, pairs = piece
    if pairs is None or pairs.shape[1] < FEWEST_PAIRS:
        pairs = _near_pairs(points, members, former)
    side = _sides(points, members, pairs, least)
    if side is None:
        return [Piece(members, None)]
    first = side[np.searchsorted(members, pairs)]
    return [
        Piece(members[side == chosen], pairs[:, (first == chosen).all(axis=0)])
        for chosen in (True, False)
    ]


def _near_pairs(points: Points, members: Longs, former: Longs | None) -> Longs:
    """Scouts among these points and the points nearest to each; some of them count many times."""
    field = _evenly(members, FIELD)
    near = select_points(points, field)
    scouts = _evenly(np.arange(field.size), SCOUTS)
    graph = nearest_points(near, min(NEAREST, field.size - 1), scouts)[scouts]
    pairs = np.stack([np.repeat(field[scouts], graph.shape[1]), field[graph.ravel()]])
    if former is None:
        return pairs
    parted = former[pairs[0]] != former[pairs[1]]
    return np.repeat(pairs, np.where(parted, PARTED_BEFORE, 1), axis=1)


def _evenly(members: Longs, most: int) -> Longs:
    """Every so-manieth, so that there are at most `most`."""
    return members[:: -(-members.size // most)]


def _sides(points: Points, members: Longs, pairs: Longs, least: float) -> Bools | None:
    """Whether each point lies on the first side of the best cut; nothing if there is none."""
    seam = min(_seams(_sampled(points, members, pairs)), key=lambda one: one.cost)
    keys = _keys(points, members, seam.poles, seam.attributes)
    half = np.zeros(members.size, bool)
    half[np.argsort(keys, kind="stable")[: members.size // 2]] = True
    for side in (keys < seam.bar, half):
        smaller = min(side.mean(), 1.0 - side.mean())
        # witnesses may be mistaken about how even a cut is
        if smaller >= LEAST_SHARE / 2.0 and all(
            amount(select_points(points, members[side == one])) >= least for one in (True, False)
        ):
            return side
    return None


def _sampled(points: Points, members: Longs, pairs: Longs) -> Sample:
    witnesses = _evenly(members, WITNESSES)
    ends = np.unique(np.concatenate([witnesses, pairs.ravel()]))
    return Sample(
        select_points(points, ends),
        np.searchsorted(ends, witnesses),
        np.searchsorted(ends, pairs),
    )


def _seams(sample: Sample) -> Iterator[Seam]:
    """What may be cut along: by the whole distance, by that to centers, by each attribute."""
    points, every = sample.points, np.arange(sample.points.weights.size)
    width = points.codes.shape[0] + points.numbers.shape[0]
    center = _centers(points, np.ones(every.size, bool))
    for attributes in [(0, width), *((one, one + 1) for one in range(width))]:
        poles = center.copy()
        # from the center, the second for now, to one end, from there to the other
        for pole in range(2):
            away = _distances(points, every, poles[1 - pole], attributes)
            poles[pole] = _reference(points, int(away.argmax()))
        keys = _keys(points, every, poles, attributes)
        yield _best_seam(sample, keys, poles, attributes)
    for _ in range(TURNS):
        second = keys > np.median(keys)
        second = second if second.any() else keys == keys.max()
        # the center of nothing is nowhere
        if second.all():
            return
        poles = _centers(points, second)
        keys = _keys(points, every, poles, (0, width))
    yield _best_seam(sample, keys, poles, (0, width))


def _best_seam(sample: Sample, keys: Floats, poles: Floats, attributes: tuple[int, int]) -> Seam:
    """The bar for these keys that parts the fewest pairs for how even it cuts."""
    witnesses = np.sort(keys[sample.witnesses])
    bars = np.unique(witnesses)
    share = np.searchsorted(witnesses, bars) / witnesses.size
    bars, share = (one[np.minimum(share, 1.0 - share) >= LEAST_SHARE] for one in (bars, share))
    if not bars.size:
        return Seam(poles, attributes, np.nan, np.inf)
    ends = np.sort(keys[sample.pairs], axis=0)
    parted = np.searchsorted(np.sort(ends[0]), bars) - np.searchsorted(np.sort(ends[1]), bars)
    # of cuts that part nobody the more even one is better
    costs = (1.0 + parted) / (share * (1.0 - share))
    best = int(costs.argmin())
    return Seam(poles, attributes, float(bars[best]), float(costs[best]))


def _centers(points: Points, second: Bools) -> Floats:
    """The centroids of both sides as references; a side without points has none."""
    rows, numbers = centroids(points, second.astype(np.int32), 2, np.zeros(2))
    return np.concatenate([rows, numbers], axis=1)


def _reference(points: Points, point: int) -> Floats:
    values = points.heads[:, VALUE_START] + points.codes[:, point]
    return np.concatenate([points.lineages[values], points.numbers[:, point]])


def _keys(points: Points, members: Longs, poles: Floats, attributes: tuple[int, int]) -> Floats:
    """How much nearer each point is to the second pole than to the first."""
    return _distances(points, members, poles[0], attributes) - _distances(
        points, members, poles[1], attributes
    )


def _distances(
    points: Points, members: Longs, reference: Floats, attributes: tuple[int, int]
) -> Floats:
    """What some attributes contribute to the distances of a reference, on all cores."""
    result = np.zeros(members.size)

    def work(first: int, last: int) -> None:
        _add_contributions(first, last, points, members, reference, *attributes, result)

    in_blocks(work, members.size, SMALLEST_SHARE)
    return result


@compiled
def _add_contributions(
    first: int,
    last: int,
    points: Points,
    members: Longs,
    reference: Floats,
    begin: int,
    end: int,
    result: Floats,
) -> None:
    """Add what the attributes from begin to end contribute, for the members at first to last."""
    codes, coded = points.codes, points.codes.shape[0]
    for attribute in range(begin, min(end, coded)):
        row = whole(reference[attribute])
        for slot in range(first, last):
            value = whole(codes[attribute, members[slot]])
            result[slot] += entry(points, attribute, row, value)
    for attribute in range(max(begin, coded), end):
        number, gap = reference[attribute], points.gaps[attribute - coded]
        for slot in range(first, last):
            other = points.numbers[attribute - coded, members[slot]]
            result[slot] += number_difference(other, number, gap, points.power)
