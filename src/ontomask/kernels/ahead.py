"""How two threads form the clusters of MDAV and SA-MDAV that come one after the other.

Clusters come in pairs: one AROUND r, the point farthest from the center, and one OPPOSITE to it,
around s, the farthest from r. Which r comes next depends on all clusters before, but it can be
told in most cases: the point that is next to r in its distance from the same center. So the
clusters of this pair and of the one that is expected after it are *works*, in their order, and
whoever is free forms the next one, out of an index of its own, as if none of those that are not
done yet was there. The thread that clusters (the *first*) then takes them over in order: if all
members of one remain, it is the very cluster that would have been formed now, ties and rounding
included, since a point that is nearest among many is so among some of them. If not, or if another
r comes next, whatever is left of the works is forgotten, and a new round of them begins.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ontomask.arrays import Ints, Longs
from ontomask.kernels.boards import (
    CLOSED,
    FIRST,
    READY,
    abandon,
    call_off,
    exchange,
    give_way,
    is_closed,
    new_board,
    note,
    offer,
    read,
    start_round,
    take,
)
from ontomask.kernels.boxes import LIVE
from ontomask.kernels.centroids import Tally, new_tally
from ontomask.kernels.compiling import apart, compiled, later, part, whole
from ontomask.kernels.growing import Side, drop, grow, new_side, opposite_of
from ontomask.kernels.index import Index, restore
from ontomask.kernels.records import Points
from ontomask.kernels.shrinking import Shrinking, help_subtracting, new_shrinking

__all__ = [
    "AROUND",
    "LARGE",
    "OPPOSITE",
    "Ahead",
    "beside_clusters",
    "compile_works",
    "forget",
    "is_held_back",
    "is_shared",
    "obtain",
    "obtained_members",
    "tell_taken",
]

FEWEST = 512
"""Below so many points, they are clustered before another thread could begin."""
LARGE = 8192
"""Where there were fewer points from the first, another thread gains milliseconds, and a first run
would wait for seconds until what it does is compiled."""
SEVERAL = 4
"""Points of fewer numbers, and nothing else, are compared so soon that nobody can be asked to."""
WAITING = 1 << 18
"""So often a thread looks whether the other one is done, or lives: some hundred microseconds."""
SOON = 4
"""So often the first thread tries to take a work, which the other one may take at the same time."""
NAP = 1e-4
"""Seconds that a thread pauses when there was no work for long."""

AROUND, OPPOSITE = 0, 1
"""Kinds of works."""
WORKS = 8
"""Places for works: twice as many as can be waiting, those of two pairs."""
KIND, SEED, STATE = 0, 1, 2
"""What is noted of a work: its kind, its r, and whether it is done.

The state of work n is -1 - n until somebody has done it, and then 2 + 2n plus who did. Who comes
too late finds the state of another work in this place, and leaves it."""
BEGIN, AMOUNT = 0, 1
"""What a thread notes of a work that it did: where the members begin, and how many there are."""
STRIDE = 4

OPEN, NEXT, LOGGED = 0, 1, 2
"""Entries of `post`: whether another thread is there; the work that is taken over next; how many
points were taken out of the set."""
OWN, HELD = 3, 4
"""Entries of `post`: how many works the first thread has done itself that it has not taken over
yet, and how many places of its list are in use."""
SEEN, USED, UNSETTLED = 16, 17, 18
"""Entries of `post`, the other thread's: how many that were taken out it has seen; how many places
of its list are in use; how many works it has done of which it does not know yet whether they were
taken over, and behind it these."""
SIZE = 32
FIRST_THREAD, OTHER_THREAD = 0, 1


class Ahead(NamedTuple):
    """What the threads know of each other."""

    side: Side
    """The other thread's."""
    labels: Ints
    """[p] cluster of each point, -1 while it remains."""
    board: Longs
    works: Longs
    """[WORKS * STRIDE] what is noted of each work that waits."""
    made: Longs
    """[2, WORKS * STRIDE] what both threads have noted of those that they did."""
    accepted: Longs
    """[WORKS] 1 + n, where n was done by the other thread and taken over."""
    post: Longs
    """[SIZE] what the threads tell each other: see the constants above."""


@part
def _place(number: int) -> int:
    """Where something is noted of a work."""
    return number % WORKS * STRIDE


@apart
@compiled
def _form(
    points: Points,
    side: Side,
    ahead: Ahead,
    who: int,
    number: int,
    begin: int,
    k: int,
    adaptive: bool,
    dynamic: bool,
) -> int:
    """Do a work, unless its point is gone or the list is full; how many members there are."""
    works, made, place, size = ahead.works, ahead.made, _place(number), whole(0)
    seed = whole(works[place + SEED])
    if side.searched.nodes[0, LIVE] > 0 and 2 * begin <= side.members.size:
        if works[place + KIND] == OPPOSITE:
            seed = opposite_of(points, side, seed)
        if side.searched.places[seed] >= 0:
            size = grow(points, side, begin, seed, k, adaptive, dynamic, 0.0)[0]
    made[who, place + BEGIN], made[who, place + AMOUNT] = begin, size
    exchange(works, place + STATE, -1 - number, 2 + 2 * number + who)
    return size


@part
def _listed(side: Side, ahead: Ahead, who: int, number: int) -> Longs:
    """The members of a work that a thread did, whose side is given."""
    made, place = ahead.made, _place(number)
    begin = made[who, place + BEGIN]
    return side.members[begin : begin + made[who, place + AMOUNT]]


@part
def _put_back(side: Side, ahead: Ahead, who: int, number: int) -> None:
    """Put back what is left of the members of a work that is not taken over."""
    for point in _listed(side, ahead, who, number):
        if ahead.labels[point] < 0:
            restore(side.searched, point)


# The thread that clusters ------------------------------------------------------------------------


@part
def is_shared(ahead: Ahead) -> bool:
    """Whether there is another thread."""
    return ahead.post[OPEN] == 1


@part
def _propose(ahead: Ahead, kind: int, seed: int) -> None:
    """Add a work."""
    number = read(ahead.board, READY)
    place = _place(number)
    ahead.works[place + KIND], ahead.works[place + SEED] = kind, seed
    ahead.works[place + STATE] = -1 - number
    offer(ahead.board)


@part
def _expect(ahead: Ahead, seed: int) -> None:
    """Add the works of a pair that is expected, if any is (-1: none)."""
    if seed >= 0:
        _propose(ahead, whole(AROUND), seed)
        _propose(ahead, whole(OPPOSITE), seed)


@part
def _is_next(ahead: Ahead, kind: int, seed: int) -> bool:
    """Whether this is the work that comes next."""
    number, place = ahead.post[NEXT], _place(ahead.post[NEXT])
    known = ahead.works[place + KIND] == kind and ahead.works[place + SEED] == seed
    return known and number < read(ahead.board, READY)


@later
@compiled
def forget(side: Side, ahead: Ahead) -> None:
    """Have no more works: what comes next is something else."""
    board, post = ahead.board, ahead.post
    call_off(board, whole(0))
    for number in range(post[NEXT], read(board, READY)):
        if read(ahead.works, _place(number) + STATE) == 2 + 2 * number + FIRST_THREAD:
            _put_back(side, ahead, whole(FIRST_THREAD), number)
    start_round(board)
    post[NEXT], post[OWN], post[HELD] = read(board, READY), 0, 0


@part
def _is_done(ahead: Ahead, number: int) -> bool:
    return read(ahead.works, _place(number) + STATE) > 0


@part
def _comes_in_time(ahead: Ahead, number: int) -> bool:
    """Wait for a work as long as the other thread gives signs of life; whether it is done."""
    before, pulse = whole(-1), read(ahead.side.pulse, 0)
    while pulse != before and not _is_done(ahead, number):
        for look in range(WAITING):
            give_way(look)
            if _is_done(ahead, number):
                break
        before, pulse = pulse, read(ahead.side.pulse, 0)
    return _is_done(ahead, number)


@part
def _have_done(
    points: Points, side: Side, ahead: Ahead, number: int, k: int, adaptive: bool, dynamic: bool
) -> bool:
    """Do works until this one is done, or wait for it; whether it is."""
    post, waits = ahead.post, True
    while waits and not _is_done(ahead, number):
        other = take(ahead.board, whole(SOON))
        if other >= 0:
            begin, who = whole(post[HELD]), whole(FIRST_THREAD)
            post[OWN] += 1
            post[HELD] += _form(points, side, ahead, who, other, begin, k, adaptive, dynamic)
        else:
            waits = _comes_in_time(ahead, number)
    return waits


@part
def _members(side: Side, ahead: Ahead, number: int) -> Longs:
    """The members of a work that is done, whoever did it."""
    who = whole(read(ahead.works, _place(number) + STATE) % 2)
    return _listed(side if who == FIRST_THREAD else ahead.side, ahead, who, number)


@part
def _remain(members: Longs, labels: Ints) -> bool:
    """Whether there are members, and none of them has a label."""
    for point in members:
        if labels[point] >= 0:
            return False
    return members.size > 0


@later
@compiled
def obtain(
    points: Points,
    side: Side,
    ahead: Ahead,
    kind: int,
    seed: int,
    expected: int,
    k: int,
    adaptive: bool,
    dynamic: bool,
) -> bool:
    """Have the cluster that was formed ahead around a point, or opposite to it; whether there is.

    There is none if something else was formed, if it is late, or if some of its members have a
    label by now. Then works begin anew, with what comes after this cluster. After this pair one
    around another point is `expected` (-1: none).
    """
    number = whole(ahead.post[NEXT])
    if _is_next(ahead, kind, seed):
        if kind == AROUND:
            _expect(ahead, expected)
        if _have_done(points, side, ahead, number, k, adaptive, dynamic) and _remain(
            _members(side, ahead, number), ahead.labels
        ):
            return True
    forget(side, ahead)
    if kind == AROUND:
        _propose(ahead, whole(OPPOSITE), seed)
    _expect(ahead, expected)
    return False


@part
def obtained_members(side: Side, ahead: Ahead) -> Longs:
    """The members of the cluster that was obtained; it is to be taken over before the next."""
    return _members(side, ahead, whole(ahead.post[NEXT]))


@part
def is_held_back(ahead: Ahead) -> bool:
    """Whether some points that remain are out of the first thread's index."""
    return ahead.post[OWN] > 0


@part
def tell_taken(ahead: Ahead, taken: Longs, obtained: bool) -> None:
    """Tell how many points were taken out of the set, last those of a cluster that was obtained."""
    post, number = ahead.post, whole(ahead.post[NEXT])
    if obtained:
        post[NEXT] += 1
        if read(ahead.works, _place(number) + STATE) % 2 == OTHER_THREAD:
            note(ahead.accepted, number % WORKS, number + 1)
        else:
            post[OWN] -= 1
            post[HELD] *= min(post[OWN], 1)
    note(post, LOGGED, taken[0])


# The other thread --------------------------------------------------------------------------------


@part
def _settle(ahead: Ahead) -> None:
    """Put back the members of works that were forgotten."""
    post, first, kept = ahead.post, read(ahead.board, FIRST), whole(0)
    for slot in range(UNSETTLED + 1, UNSETTLED + 1 + post[UNSETTLED]):
        number = post[slot]
        if read(ahead.accepted, number % WORKS) == number + 1:
            continue
        if number < first:
            _put_back(ahead.side, ahead, OTHER_THREAD, number)
        else:
            kept += 1
            post[UNSETTLED + kept] = number
    post[UNSETTLED] = kept
    if kept == 0:
        post[USED] = 0


@part
def _next_work(points: Points, ahead: Ahead, tally: Tally, shrinking: Shrinking) -> int:
    """Take a work, and help the first thread as long as there is none; -1: none came for long."""
    number = whole(-1)
    for look in range(WAITING // SOON):
        give_way(look)
        number = take(ahead.board, whole(SOON))
        if number >= 0 or read(ahead.board, CLOSED) != 0:
            break
        help_subtracting(points, tally, shrinking)
    return number


@compiled
def _do_works(
    points: Points,
    ahead: Ahead,
    tally: Tally,
    shrinking: Shrinking,
    k: int,
    adaptive: bool,
    dynamic: bool,
) -> None:
    """Do works as long as there are any."""
    side, post, taken = ahead.side, ahead.post, shrinking.taken
    number = _next_work(points, ahead, tally, shrinking)
    while number >= 0:
        _settle(ahead)
        logged = read(post, LOGGED)
        for slot in range(1 + post[SEEN], 1 + logged):
            drop(side.searched, taken[slot])
        post[SEEN] = logged
        begin = whole(post[USED])
        post[USED] += _form(points, side, ahead, OTHER_THREAD, number, begin, k, adaptive, dynamic)
        post[UNSETTLED] += 1
        post[UNSETTLED + post[UNSETTLED]] = number
        number = _next_work(points, ahead, tally, shrinking)


def _wait_for_works(points: Points, ahead: Ahead, *given: Any) -> None:
    """Do works until there will be no more."""
    while not is_closed(ahead.board):
        _do_works(points, ahead, *given)
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
    labels: Ints,
    tally: Tally,
    shrinking: Shrinking,
    k: int,
    adaptive: bool,
    dynamic: bool,
    pool: ThreadPoolExecutor | None,
) -> Iterator[Ahead]:
    """A thread that forms clusters ahead, where it pays to have one.

    `shrinking` knows which points were taken out of the index, in order.
    """
    many = points.weights.size >= LARGE and index.columns.shape[1] >= FEWEST
    slow = points.codes.shape[0] > 0 or points.numbers.shape[0] >= SEVERAL
    pays = pool is not None and many and slow
    side = new_side(points, _copied(index) if pays else index, k)
    works, accepted, post = (np.zeros(size, np.int64) for size in (WORKS * STRIDE, WORKS, SIZE))
    made = np.zeros((2, WORKS * STRIDE), np.int64)
    ahead = Ahead(side, labels, new_board(), works, made, accepted, post)
    if pool is None or not pays:
        yield ahead
        return
    try:
        given = tally, shrinking, k, adaptive, dynamic
        waiting = pool.submit(_wait_for_works, points, ahead, *given)
        post[OPEN] = 1
        yield ahead
    finally:
        abandon(ahead.board)
    waiting.result()


def compile_works(points: Points, index: Index) -> list[tuple[Any, tuple[Any, ...]]]:
    """Compile what the other thread runs; what the first one calls, and with which arguments."""
    nobody = np.full(points.weights.size, -1, np.int32)
    given = new_tally(points), new_shrinking(points), 2, True, True
    with beside_clusters(points, index, nobody, *given, None) as ahead:
        abandon(ahead.board)  # there are no works
        _do_works(points, ahead, *given)
    side = ahead.side
    return [(obtain, (points, side, ahead, 0, 0, 0, 2, True, True)), (forget, (side, ahead))]
