"""How a cluster grows, and how another thread lets the one opposite to it grow meanwhile.

MDAV and SA-MDAV form clusters in pairs: one around r, and one around s, the farthest from r. Both
are far apart, so the second hardly ever depends on whom the first one takes. It is therefore formed
at the same time, by a thread with an index of its own, as if the first was not there. If the first
has taken none of its members, it is the very cluster that would have been formed afterwards, ties
and rounding included; otherwise that is done.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ontomask.arrays import Floats, Ints, Longs
from ontomask.kernels.boards import (
    READY,
    close_now,
    count_up,
    exchange,
    is_closed,
    new_board,
    offer,
    read,
    take,
    take_back,
)
from ontomask.kernels.centroids import Tally, centroid_reference, clear, count_point, new_tally
from ontomask.kernels.compiling import apart, compiled, part, whole
from ontomask.kernels.index import (
    FARTHEST,
    NEAREST,
    Finds,
    Index,
    new_finds,
    remove,
    restore,
    search,
)
from ontomask.kernels.neighbors import sort_by_keys
from ontomask.kernels.records import Points, point_reference
from ontomask.kernels.units import add_units, is_of_records, new_count, new_marks

__all__ = [
    "MANY",
    "Opposite",
    "Side",
    "ask",
    "beside_clusters",
    "compile_answers",
    "drop",
    "grow",
    "grown_opposite",
    "new_side",
]

FEWEST = 2048
"""Below so many points, they are clustered before another thread could begin."""
MANY = 8192
"""Where there were fewer points from the first, another thread gains milliseconds, and a first run
would wait for seconds until what it does is compiled."""
WAITING = 1 << 19
"""So often a thread looks whether the other one is done, or lives: some hundred microseconds."""
NAP = 1e-4
"""Seconds that a thread pauses when it was not asked for long."""

SEED, LOGGED = 0, 1
"""Entries of `post`: around which point the first cluster grows; how many were taken out before."""
OPEN, ASKED, ACCEPTED = 2, 3, 4
"""Entries of `post`: whether another thread is there; whether an answer has not come yet; whether
the last one was true."""
SEEN, GROWN = 5, 6
"""Entries of `post`, the other thread's: how many that were taken out it has seen, and how many
members its cluster has."""
ANSWERED = 8
"""Entry of `post`: how many questions there were up to the one that was answered last."""
SIZE = 16


class Side(NamedTuple):
    """What a thread needs to let a cluster grow."""

    searched: Index
    """The points that remain; members are taken out."""
    finds: Finds
    reference: Floats
    """Room for what is searched for."""
    own: Tally
    """Of the cluster's members."""
    marks: Longs
    """Which units are in the cluster."""
    members: Longs
    """[p] the cluster's points, in the order in which they came; those of one search by number."""
    keys: Floats
    """[k + 1] room to sort them."""
    pulse: Longs
    """[1] how often a cluster has grown: a sign of life."""


class Opposite(NamedTuple):
    """The other thread, and what is known of it."""

    side: Side
    board: Longs
    """The works are clusters around the point that is farthest from a SEED."""
    post: Longs
    """[16] what the threads tell each other: see the constants above."""


def new_side(points: Points, index: Index, k: int) -> Side:
    """Room for clusters of at least k records, or persons, of an index."""
    return Side(
        index,
        new_finds(index, k + 1),
        np.empty(points.codes.shape[0] + points.numbers.shape[0]),
        new_tally(points),
        new_marks(points),
        np.empty(index.columns.shape[1], np.int64),
        np.empty(k + 1),
        np.zeros(1, np.int64),
    )


@apart
@compiled
def drop(index: Index, point: int) -> None:
    """Take a point out of an index."""
    remove(index, point)


@part
def _are_single(points: Points, spare: float) -> bool:
    """Whether each point is a single record, or of one person, if there are so many more records.

    Several can be taken at once then, though the answers of a search are in no order.
    """
    return is_of_records(points) if points.owners.size > 0 else spare == 0.0


@apart
@compiled
def grow(
    points: Points, side: Side, seed: int, k: int, adaptive: bool, dynamic: bool, spare: float
) -> tuple[int, float]:
    """Form a cluster around a point until it has k records; how many members and records it has.

    Of the points that remain there are fewer than records, by `spare`. The first is taken out
    before the search, for a record equal to it may come first among the nearest.
    """
    answers = side.finds.answers
    clear(points.heads, side.own)
    point_reference(points, seed, side.reference)
    answers[0, 2] = seed
    new_count(side.marks)
    amount, size, found = 0.0, whole(0), whole(1)
    while found > 0:
        # in which order they are found depends on how the points lie in the index
        newest = side.members[size : size + found]
        for slot in range(found):
            newest[slot], side.keys[slot] = whole(answers[slot, 2]), answers[slot, 2]
        sort_by_keys(side.keys, newest, found)
        size += found
        count_up(side.pulse, 0)
        for point in newest:
            drop(side.searched, point)
            amount += add_units(points, side.marks, point)
            spare -= points.sizes[point] - 1.0
            if dynamic:
                count_point(points, side.own, point)
        found = whole(0)
        if amount < k:
            if dynamic:
                centroid_reference(points, side.own, side.reference)
            several = not adaptive and _are_single(points, spare)
            wanted = whole(k - amount) if several else whole(1)
            found = search(points, side.searched, side.finds, side.reference, NEAREST, wanted)
    return size, amount


# The thread that forms the first cluster ---------------------------------------------------------


@part
def _is_answered(opposite: Opposite) -> bool:
    return read(opposite.post, ANSWERED) == read(opposite.board, READY)


@part
def ask(opposite: Opposite, seed: int, logged: int) -> None:
    """Let the other thread form the cluster opposite to one that grows around a point."""
    board, post = opposite.board, opposite.post
    if post[ASKED] == 1 and _is_answered(opposite):
        post[ASKED], post[ACCEPTED] = 0, 0
    if post[OPEN] == 1 and post[ASKED] == 0:
        post[SEED], post[LOGGED], post[ASKED] = seed, logged, 1
        offer(board)


@part
def _comes_in_time(opposite: Opposite) -> bool:
    """Wait for the answer as long as the other thread gives signs of life; whether it is there."""
    before, pulse = whole(-1), read(opposite.side.pulse, 0)
    while pulse != before and not _is_answered(opposite):
        for _ in range(WAITING):
            if _is_answered(opposite):
                break
        before, pulse = pulse, read(opposite.side.pulse, 0)
    return _is_answered(opposite)


@part
def grown_opposite(opposite: Opposite, labels: Ints) -> int:
    """How many members the opposite cluster has, if the other thread has formed it, else 0.

    It has not where it has not begun, or is late, or took points that have a label by now.
    """
    board, post = opposite.board, opposite.post
    if post[ASKED] == 0:
        return whole(0)
    if take_back(board):
        post[ASKED] = 0
        return whole(0)
    if not _comes_in_time(opposite):
        return whole(0)
    post[ASKED], post[ACCEPTED] = 0, 1
    for slot in range(post[GROWN]):
        if labels[opposite.side.members[slot]] >= 0:
            post[ACCEPTED] = 0
    return post[GROWN] if post[ACCEPTED] == 1 else whole(0)


# The other thread --------------------------------------------------------------------------------


@compiled
def _answer(
    points: Points, opposite: Opposite, taken: Longs, k: int, adaptive: bool, dynamic: bool
) -> None:
    """Form the clusters that are asked for."""
    side, post = opposite.side, opposite.post
    number = take(opposite.board, WAITING)
    while number >= 0:
        if post[ACCEPTED] == 0:
            for slot in range(post[GROWN] - 1, -1, -1):
                restore(side.searched, side.members[slot])
        for slot in range(1 + post[SEEN], 1 + post[LOGGED]):
            if side.searched.places[taken[slot]] >= 0:
                drop(side.searched, taken[slot])
        post[SEEN] = post[LOGGED]
        point_reference(points, post[SEED], side.reference)
        search(points, side.searched, side.finds, side.reference, FARTHEST, whole(1))
        seed = whole(side.finds.answers[0, 2])
        post[GROWN] = grow(points, side, seed, k, adaptive, dynamic, 0.0)[0]
        exchange(post, ANSWERED, read(post, ANSWERED), number + 1)
        number = take(opposite.board, WAITING)


def _wait_for_questions(
    points: Points, opposite: Opposite, taken: Longs, k: int, adaptive: bool, dynamic: bool
) -> None:
    """Answer until there are no more questions."""
    while not is_closed(opposite.board):
        _answer(points, opposite, taken, k, adaptive, dynamic)
        time.sleep(NAP)


def _copied(index: Index) -> Index:
    """An index from which points can be taken without changing the other."""
    return index._replace(
        places=index.places.copy(),
        cells=index.cells.copy(),
        columns=index.columns.copy(),
        nodes=index.nodes.copy(),
        boxes=index.boxes.copy(),
    )


@contextmanager
def beside_clusters(
    points: Points,
    index: Index,
    taken: Longs,
    k: int,
    adaptive: bool,
    dynamic: bool,
    pool: ThreadPoolExecutor | None,
) -> Iterator[Opposite]:
    """A thread that forms opposite clusters, where it pays to have one.

    `taken` holds how many points were taken out of the index, and these in order.
    """
    board, post = new_board(), np.zeros(SIZE, np.int64)
    many = points.weights.size >= MANY and index.columns.shape[1] >= FEWEST
    pays = pool is not None and many
    own = _copied(index) if pays else index
    opposite = Opposite(new_side(points, own, k), board, post)
    if pool is None or not pays:
        yield opposite
        return
    try:
        asked = pool.submit(_wait_for_questions, points, opposite, taken, k, adaptive, dynamic)
        post[OPEN] = 1
        yield opposite
    finally:
        close_now(board)
    asked.result()


def compile_answers(points: Points, index: Index) -> None:
    """Compile what the other thread runs; there are no questions."""
    with beside_clusters(points, index, np.zeros(1, np.int64), 2, True, True, None) as opposite:
        close_now(opposite.board)
        _answer(points, opposite, np.zeros(1, np.int64), 2, True, True)
