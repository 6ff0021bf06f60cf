"""How a kernel hands works over to another one that runs beside it, within a microsecond.

One thread makes works ready, one after the other; whoever is free takes the next. What they must
know of each other lies on a *board*. Through Python it would take longer than many a work does.
Nobody has to wait for a work that is not begun: who has made them ready takes part, and does all of
them where no other thread comes. Works may come in rounds: once those of one are called off and the
ones that were begun are done, what they looked at can be changed. Who looks for something again and
again gives way now and then: what it waits for may be what has no processor.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from ontomask.arrays import Longs
from ontomask.kernels.compiling import compiled, part, whole

__all__ = [
    "CLOSED",
    "DONE",
    "FIRST",
    "PATIENCE",
    "READY",
    "abandon",
    "call_off",
    "close_now",
    "count_up",
    "exchange",
    "finish",
    "give_way",
    "is_at_rest",
    "is_closed",
    "new_board",
    "note",
    "offer",
    "read",
    "start_round",
    "take",
]

READY, TAKEN, CLOSED, DONE, FIRST = 0, 8, 16, 24, 32
"""Places of a board: how many works are ready, how many are taken, whether no more will come, how
many are done or called off, and the number of the first one of a round. They lie so far apart that
one thread's writing does not hold up another's reading."""
SIZE = 40
PATIENCE = 1 << 19
"""So often one looks for a work before one leaves, or whether it is done: some two hundred
microseconds, longer than anybody takes between two rounds."""
LOOKS = 1 << 11
"""After so many looks, which take half a microsecond, one gives way, which takes as long."""


def new_board() -> Longs:
    """A board for works, none of which is ready."""
    return np.zeros(SIZE, np.int64)


# Numbers that several threads read and write -----------------------------------------------------

_writing: Any = cgutils  # which has no types
_NUMBER, _WIDTH = types.int64, 8
_ONE_AT_A_TIME = threading.Lock()


def _plain_read(board: Longs, place: int) -> int:
    return int(board[place])


def _plain_exchange(board: Longs, place: int, old: int, new: int) -> bool:
    with _ONE_AT_A_TIME:
        found = int(board[place]) == old
        if found:
            board[place] = new
    return found


def _address(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    """The address of a place of a board."""
    kind = signature.args[0]
    board = context.make_array(kind)(context, builder, given[0])
    return _writing.get_item_pointer(context, builder, kind, board, [given[1]])


def _read_at_once(_context: Any, board: Any, _place: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        address = _address(context, builder, signature, given)
        return builder.load_atomic(address, "acquire", _WIDTH)

    return _NUMBER(board, _NUMBER), write


def _exchange_at_once(_context: Any, board: Any, _place: Any, _old: Any, _new: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        address = _address(context, builder, signature, given)
        both = builder.cmpxchg(address, given[2], given[3], "seq_cst", "seq_cst")
        return builder.extract_value(both, 1)

    return types.boolean(board, _NUMBER, _NUMBER, _NUMBER), write


_settings: Any = config
read: Any = _plain_read if _settings.DISABLE_JIT else intrinsic(_read_at_once)
"""A number as it is now; what was written before it is seen, too."""
exchange: Any = _plain_exchange if _settings.DISABLE_JIT else intrinsic(_exchange_at_once)
"""Write a new number where the old one still is; whether it was."""

# Whose turn it is --------------------------------------------------------------------------------


def _keep_on() -> None:
    """What threads do where they cannot give way."""


_next_one: Any = getattr(os, "sched_yield", _keep_on)
if not _settings.DISABLE_JIT:
    known = hasattr(os, "sched_yield")
    _next_one = types.ExternalFunction("sched_yield", types.int32()) if known else part(_keep_on)


@part
def give_way(look: int) -> None:
    """After every so many looks, let another thread have this processor, if one waits for it."""
    if look % LOOKS == LOOKS - 1:
        _next_one()


# Works -------------------------------------------------------------------------------------------


@part
def note(board: Longs, place: int, number: int) -> None:
    """Write what no other thread writes; who reads it sees all that was written before it."""
    exchange(board, place, read(board, place), number)


@part
def count_up(board: Longs, place: int) -> None:
    """Add one to a number that no other thread writes."""
    note(board, place, read(board, place) + 1)


@part
def offer(board: Longs) -> None:
    """Let another work be taken: the one whose number is that of the works before it."""
    count_up(board, READY)


@compiled
def take(board: Longs, patience: int) -> int:
    """The number of the next work, or -1: all are taken, or the next one is long in coming.

    One looks for it so often, at most.
    """
    for look in range(patience):
        give_way(look)
        taken = read(board, TAKEN)
        if taken < read(board, READY):
            if exchange(board, TAKEN, taken, taken + 1):
                return whole(taken)
        elif read(board, CLOSED) != 0:
            break
    return whole(-1)


@part
def start_round(board: Longs) -> None:
    """Let the next work be the first one of a round; the board is at rest."""
    board[FIRST] = read(board, READY)


@compiled
def finish(board: Longs, amount: int) -> None:
    """Note that so many works are done, which several threads may do at a time."""
    done = read(board, DONE)
    while not exchange(board, DONE, done, done + amount):
        done = read(board, DONE)


@part
def call_off(board: Longs, patience: int) -> None:
    """Let nobody begin another of the works that are ready; those begun may come to an end.

    One looks so often whether they have, at most.
    """
    ready, taken = read(board, READY), read(board, TAKEN)
    while not exchange(board, TAKEN, taken, ready):
        taken = read(board, TAKEN)
    finish(board, ready - taken)
    for look in range(patience):
        give_way(look)
        if read(board, DONE) == ready:
            break


def is_at_rest(board: Longs) -> bool:
    """Whether all works are done or called off."""
    return bool(board[DONE] == board[READY])


def is_closed(board: Longs) -> bool:
    """Whether no more will come."""
    return bool(board[CLOSED] != 0)


def close_now(board: Longs) -> None:
    """Tell that no more will come."""
    board[CLOSED] = 1


def abandon(board: Longs) -> None:
    """Tell that no more will come, and let nobody begin another of those that are ready."""
    board[TAKEN] = board[READY]
    close_now(board)
