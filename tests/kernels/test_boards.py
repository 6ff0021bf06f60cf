"""Works that one kernel hands over to others beside it."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ontomask.kernels.boards import (
    DONE,
    FIRST,
    abandon,
    call_off,
    close_now,
    finish,
    give_way,
    is_at_rest,
    is_closed,
    new_board,
    offer,
    read,
    start_round,
    take,
)
from ontomask.kernels.compiling import compiled

PATIENCE = 1 << 14


@compiled
def offer_all(board, works, amount):
    """Write each work down before it is offered; it is of no use to whoever sees it too early."""
    for number in range(amount):
        works[number] = number + 1
        offer(board)


@compiled
def take_all(board, works, done):
    number = take(board, PATIENCE)
    while number >= 0:
        done[number] += works[number]
        number = take(board, PATIENCE)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_every_work_is_done_once_and_seen_whole(threads):
    amount = 3000
    for _ in range(5):
        board, works = new_board(), np.zeros(amount, np.int64)
        done = np.zeros((threads, amount), np.int64)
        with ThreadPoolExecutor(threads) as pool:
            others = [pool.submit(take_all, board, works, one) for one in done[1:]]
            offer_all(board, works, amount)
            close_now(board)
            take_all(board, works, done[0])
            for one in others:
                one.result()
        assert (done.sum(axis=0) == np.arange(1, amount + 1)).all()


@compiled
def offer_rounds(board, works, rounds, amount):
    """Write other works down in every round; how many rounds began while somebody was at work."""
    disturbed = 0
    for number in range(rounds):
        start_round(board)
        for slot in range(amount):
            works[slot] = 1000 * number + slot
            offer(board)
        call_off(board, 1 << 30)
        disturbed += board[FIRST] + amount != board[DONE]
    return disturbed


@compiled
def take_rounds(board, works, sums):
    """Add up works, which must not change meanwhile."""
    number = take(board, PATIENCE)
    while number >= 0:
        slot = number - board[FIRST]
        before = works[slot]
        sums[0] += 1
        sums[1] += works[slot] != before or before % 1000 != slot
        finish(board, 1)
        number = take(board, PATIENCE)


@pytest.mark.compiled
def test_no_round_begins_while_somebody_is_at_a_work_of_the_last_one():
    board, works, disturbed = new_board(), np.zeros(7, np.int64), 0
    sums = np.zeros((2, 2), np.int64)

    def others(own):
        while not is_closed(board):
            take_rounds(board, works, own)

    with ThreadPoolExecutor(2) as pool:
        begun = [pool.submit(others, own) for own in sums]
        while sums[:, 0].sum() < 1000:  # where others have the processor, they come late
            disturbed += offer_rounds(board, works, 5000, works.size)
        close_now(board)
        for one in begun:
            one.result()
    assert disturbed == 0
    assert sums[:, 1].sum() == 0
    assert is_at_rest(board)


@compiled
def call_off_now(board):
    call_off(board, PATIENCE)


def test_none_is_taken_where_none_is_ready_or_all_are_called_off():
    board = new_board()
    assert take(board, PATIENCE) == -1  # somebody who never offers any is not waited for
    offer_all(board, np.zeros(3, np.int64), 3)
    assert take(board, PATIENCE) == 0
    call_off_now(board)
    assert take(board, PATIENCE) == -1
    assert not is_at_rest(board)  # the first one was begun
    finish(board, 1)
    assert is_at_rest(board)
    call_off_now(board)  # again: nothing is left
    assert is_at_rest(board)


def test_of_what_is_abandoned_nothing_is_begun():
    board = new_board()
    offer_all(board, np.zeros(3, np.int64), 3)
    assert take(board, PATIENCE) == 0
    abandon(board)
    assert take(board, PATIENCE) == -1
    assert is_closed(board)


@compiled
def answer_all(board, amount):
    for _ in range(amount):
        while take(board, PATIENCE) < 0:
            pass
        finish(board, 1)


@compiled
def ask_one_by_one(board, amount, gives_way):
    """Offer a work and look again and again whether it is done, before the next one."""
    for number in range(1, amount + 1):
        offer(board)
        looks = 0
        while read(board, DONE) < number:
            looks += 1
            if gives_way:
                give_way(looks)


def seconds_on_one_processor(amount, gives_way):
    board, began = new_board(), time.perf_counter()
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(answer_all, board, amount)
        ask_one_by_one(board, amount, gives_way)
        other.result()
    return time.perf_counter() - began


@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads choose their processor")
def test_who_looks_for_what_another_one_does_lets_it_have_the_processor():
    """Where others keep all cores but one busy, that one is not spent on looking."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)})  # this thread's, and those that it starts
    try:
        seconds_on_one_processor(1, True)  # compile
        in_vain, giving = (
            min(seconds_on_one_processor(40, g) for _ in "123") for g in (False, True)
        )
    finally:
        os.sched_setaffinity(0, every)
    assert giving < in_vain / 4
