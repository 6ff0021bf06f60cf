"""Works that one kernel hands over to others beside it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ontomask.kernels.boards import PATIENCE, close, new_board, offer, take, take_back, withdraw
from ontomask.kernels.compiling import compiled


@compiled
def offer_all(board, works, amount):
    """Write each work down before it is offered; it is of no use to whoever sees it too early."""
    for number in range(amount):
        works[number] = number + 1
        offer(board)
    close(board)


@compiled
def take_all(board, works, done):
    number = take(board, PATIENCE)
    while number >= 0:
        done[number] += works[number]
        number = take(board, PATIENCE)


@compiled
def take_back_now(board):
    return take_back(board)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_every_work_is_done_once_and_seen_whole(threads):
    amount = 3000
    for _ in range(5):
        board, works = new_board(), np.zeros(amount, np.int64)
        done = np.zeros((threads, amount), np.int64)
        with ThreadPoolExecutor(threads) as pool:
            others = [pool.submit(take_all, board, works, one) for one in done[1:]]
            offer_all(board, works, amount)
            take_all(board, works, done[0])
            for one in others:
                one.result()
        assert (done.sum(axis=0) == np.arange(1, amount + 1)).all()


def test_none_is_taken_where_none_is_ready_or_all_are_withdrawn():
    board = new_board()
    assert take(board, PATIENCE) == -1  # somebody who never offers any is not waited for
    offer_all(board, np.zeros(2, np.int64), 2)
    assert take(board, PATIENCE) == 0
    withdraw(board)
    assert take(board, PATIENCE) == -1


def test_a_work_is_taken_back_until_somebody_has_begun_it():
    board = new_board()
    offer_all(board, np.zeros(1, np.int64), 1)
    assert take_back_now(board)
    assert not take_back_now(board)
    assert take(board, PATIENCE) == -1
