import functools
import importlib
import pkgutil
import threading
import time

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from ontomask import kernels
from ontomask.kernels.blocks import (
    InTurn,
    Threads,
    allowed_threads,
    in_blocks,
    meanwhile,
    side_by_side,
)


@pytest.mark.parametrize("threads", ["", "0", "1", "3", "64", "many"])
@pytest.mark.parametrize(("count", "smallest"), [(0, 1), (1, 1), (7, 1), (1000, 10), (10, 1000)])
def test_every_row_is_done_once(monkeypatch, threads, count, smallest):
    monkeypatch.setenv("ONTOMASK_THREADS", threads)
    done = np.zeros(count, int)

    def work(first, last):
        done[first:last] += 1

    in_blocks(work, count, smallest)
    assert done.tolist() == [1] * count


@pytest.mark.parametrize("threads", ["1", "2", "3", "64"])
@pytest.mark.parametrize(("count", "smallest"), [(0, 1), (1, 1), (7, 1), (1000, 10), (10, 1000)])
def test_every_row_is_done_once_meanwhile(monkeypatch, threads, count, smallest):
    monkeypatch.setenv("ONTOMASK_THREADS", threads)
    done = np.zeros(count, int)

    def work(first, last):
        done[first:last] += 1

    with meanwhile(work, count, smallest) as finish:
        finish()
        assert done.tolist() == [1] * count
        assert allowed_threads() == int(threads)


def test_who_does_something_else_has_the_threads_that_are_left(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "4")
    others, go_on = threading.Barrier(4), threading.Event()

    def work(first, last):
        if last <= 3:
            others.wait(30)
            go_on.wait(30)

    with meanwhile(work, 100) as finish:
        others.wait(30)
        assert allowed_threads() == 1
        go_on.set()
        finish()
        assert allowed_threads() == 4


def test_rows_end_where_something_else_fails(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    begun, go_on, done = threading.Event(), threading.Event(), []

    def work(first, last):
        begun.set()
        go_on.wait(30)
        done.append(first)

    def fail():
        begun.wait(30)
        threading.Timer(0.05, go_on.set).start()
        raise ValueError("something else")

    with pytest.raises(ValueError, match="something else"), meanwhile(work, 100):
        fail()
    assert done == [0]
    assert allowed_threads() == 2


def test_the_number_of_threads_can_be_said(monkeypatch):
    blocks = {}
    for threads in ("1", "4"):
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        seen = []
        in_blocks(lambda first, last, seen=seen: seen.append((first, last)), 100)
        blocks[threads] = len(seen)
    assert blocks == {"1": 1, "4": 16}


def test_what_goes_wrong_in_a_block_is_raised(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "4")

    def work(first, last):
        if last == 100:
            raise ValueError("the last row")

    with pytest.raises(ValueError, match="the last row"):
        in_blocks(work, 100)


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_works_side_by_side_answer_in_order_and_start_no_more_threads(monkeypatch, threads):
    monkeypatch.setenv("ONTOMASK_THREADS", threads)

    def work(first, second):
        time.sleep(0.001 * (first % 3))
        return first * second, allowed_threads()

    made = side_by_side(work, range(20), range(1, 21))
    assert made == [(place * (place + 1), 1) for place in range(20)]
    assert allowed_threads() == int(threads)
    # nobody shares the cores with a single work, or where they are not to be shared
    assert side_by_side(work, [3], [4]) == [(12, int(threads))]
    assert side_by_side(work, [3, 1], [4, 1], shares=False)[1] == (1, int(threads))


def test_who_is_interrupted_leaves_nothing_to_others(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    done = []

    def work(place):
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        done.append(place)
        time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        side_by_side(work, range(100))
    assert len(done) < 50
    assert allowed_threads() == 2


@pytest.mark.compiled
def test_no_kernel_starts_threads_that_outlive_it():
    compiled = [
        function
        for module in pkgutil.iter_modules(kernels.__path__, "ontomask.kernels.")
        for function in vars(importlib.import_module(module.name)).values()
        if isinstance(function, Dispatcher)
    ]
    assert len(compiled) > 50
    assert not [one.__name__ for one in compiled if one.targetoptions.get("parallel")]


def test_threads_are_kept_from_one_list_to_the_next_and_end_with_the_last(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    both = threading.Barrier(2)

    def work(_):
        both.wait(timeout=10)  # so that each of the two takes one place
        return threading.current_thread()

    with Threads() as threads:
        seen = [set(threads.side_by_side(work, [1, 2])) for _ in range(3)]
    assert seen[0] == seen[1] == seen[2]
    assert [one.is_alive() for one in seen[0]].count(True) == 1


def test_kept_threads_end_where_a_work_fails(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError), Threads() as threads:
        threads.side_by_side(lambda one: 1 // one, [1, 0, 1, 0])
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", ["1", "2", "5"])
@pytest.mark.parametrize("small", [False, True])
def test_works_in_turn_give_what_they_make_in_order(monkeypatch, threads, small):
    monkeypatch.setenv("ONTOMASK_THREADS", threads)
    with Threads() as some:
        line, made = InTurn(some), []
        for number in range(30):
            line.add(functools.partial(pow, number, 2), small=small)
            if number >= 3:
                made.append(line.first())
        made += [line.first() for _ in range(3)]
    assert made == [number**2 for number in range(30)]


def test_who_waits_for_a_work_does_those_behind_it(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    begun, go_on = threading.Event(), threading.Event()

    def slow():
        begun.set()
        return go_on.wait(30), threading.get_ident()

    def release():
        go_on.set()
        return allowed_threads(), threading.get_ident()

    with Threads() as some:
        line = InTurn(some)
        line.add(slow)
        assert begun.wait(30)
        line.add(release)
        (released, other), (allowed, this) = line.first(), line.first()
    assert released
    assert allowed == 1  # others are at work beside it
    assert other != threading.get_ident() == this
    assert allowed_threads() == 2


def test_a_work_in_turn_that_fails_says_so():
    line = InTurn(Threads())
    line.add(functools.partial(divmod, 1, 0))
    with pytest.raises(ZeroDivisionError):
        line.first()


def test_works_that_nobody_has_begun_are_left_where_this_one_is_interrupted(monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    begun, go_on, done = threading.Event(), threading.Event(), []

    def slow():
        begun.set()
        return go_on.wait(30)

    def interrupt():
        threading.Timer(0.05, go_on.set).start()
        raise KeyboardInterrupt

    def works():
        with Threads() as some:
            line = InTurn(some)
            for work in (slow, interrupt, functools.partial(done.append, 1)):
                line.add(work)
            assert begun.wait(30)
            line.first()

    with pytest.raises(KeyboardInterrupt):
        works()
    assert go_on.is_set()
    assert not done
