"""Loops over independent rows, and works that are independent of each other, on all cores.

The threads are Python's own and live as long as one loop; the kernels let go of the interpreter.
What Numba starts for `parallel=True` stays alive: it hangs in a process that is forked later
(OpenMP), or ends the process when two threads meet in it (Numba's own queue).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

import numpy as np

from ontomask.cores import available_cores

__all__ = [
    "InTurn",
    "Threads",
    "Underway",
    "allowed_threads",
    "beside",
    "in_blocks",
    "meanwhile",
    "side_by_side",
    "workers",
]

Result = TypeVar("Result")

BLOCKS_PER_THREAD = 4
"""Rows differ in how long they take: who is done early takes another block."""
BLOCKS_MEANWHILE = 32
"""Nobody knows when the one who does something else will take part: blocks are small."""
SHARING = ContextVar("sharing", default=False)
"""Whether others are at work beside a thread: loops in it start no more."""


def in_blocks(work: Callable[[int, int], None], count: int, smallest: int = 1) -> None:
    """Call ``work(first, last)`` until all rows are done, on as many threads as pay.

    Parameters
    ----------
    work
        Does the rows from first to last (not included) and writes nowhere else.
    count
        How many rows there are.
    smallest
        How many rows are enough work for one more thread.
    """
    threads = min(allowed_threads(), count // smallest)
    if threads < 2:
        work(0, count)
        return
    blocks = min(BLOCKS_PER_THREAD * threads, count)
    bounds = np.linspace(0, count, blocks + 1).astype(int).tolist()
    with Threads(most=threads) as some:
        some.side_by_side(work, bounds[:-1], bounds[1:])


@contextmanager
def meanwhile(
    work: Callable[[int, int], None], count: int, smallest: int = 1
) -> Iterator[Callable[[], list[None]]]:
    """Let other threads do rows, as `in_blocks`, while this one does something else.

    What is handed out finishes the rows: this one takes part, too. As long as others are at work on
    them, loops of this one have so many threads less.
    """
    threads = min(allowed_threads(), count // smallest)
    blocks = min(BLOCKS_MEANWHILE * threads, count) if threads > 1 else 1
    bounds = np.linspace(0, count, blocks + 1).astype(int).tolist()
    with _pool(threads - 1, shares=True) if threads > 1 else nullcontext() as pool:
        rows = Underway(work, (bounds[:-1], bounds[1:]), pool, threads - 1)
        before = MEANWHILE.set(rows)
        try:
            yield rows.finish
        finally:
            MEANWHILE.reset(before)
            rows.drop()


def side_by_side(
    work: Callable[..., Result], *given: Sequence[Any], shares: bool = True
) -> list[Result]:
    """Call ``work`` for what is at each place of some lists, on all cores if these are shared."""
    with Threads(shares=shares) as threads:
        return threads.side_by_side(work, *given)


class Threads(AbstractContextManager["Threads"]):
    """Threads that are kept from one list of works to the next: to start one takes long.

    Parameters
    ----------
    shares
        Whether works share the cores.
    most
        No more threads than this work at a time.
    """

    def __init__(self, *, shares: bool = True, most: int | None = None) -> None:
        allowed = allowed_threads() if shares else 1
        self.most = allowed if most is None else min(allowed, most)
        """So many threads work at a time."""
        self._pool: ThreadPoolExecutor | None = None

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            # where this one was interrupted, nothing is left for the others
            self._pool.shutdown(cancel_futures=True)

    def hand_over(self, work: Callable[[], Result]) -> Future[Result]:
        """Let another thread do a work when one is free; whoever cancels it does it."""
        if self.most < 2:
            return Future()
        return self._others().submit(work)

    def side_by_side(self, work: Callable[..., Result], *given: Sequence[Any]) -> list[Result]:
        """Call ``work`` for what is at each place of some lists."""
        others = min(self.most, len(given[0])) - 1
        if others < 1:
            return list(map(work, *given))
        return Underway(work, given, self._others(), others).finish()

    def _others(self) -> ThreadPoolExecutor:
        if self._pool is None:  # which starts no more threads than there are works for
            self._pool = _pool(self.most - 1, shares=True)
        return self._pool


class InTurn(Generic[Result]):
    """Works that are added one by one and done on all cores, and what they give in that order.

    Who asks for the oldest one does those that nobody has begun, as long as it is not there.

    Parameters
    ----------
    threads
        Who works.
    """

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._line: deque[tuple[Callable[[], Result], Future[Result]]] = deque()

    def add(self, work: Callable[[], Result], *, small: bool = False) -> None:
        """Add a work; one that is small is not worth handing over."""
        handed = Future[Result]() if small else self._threads.hand_over(work)
        self._line.append((work, handed))

    def first(self) -> Result:
        """What the oldest work gives, which leaves the line."""
        for place, (work, handed) in enumerate(tuple(self._line)):
            if self._line[0][1].done():
                break
            # what can be canceled has not been begun
            if handed.cancel():
                self._line[place] = work, self._done(work)
        return self._line.popleft()[1].result()

    def _done(self, work: Callable[[], Result]) -> Future[Result]:
        """A work that this thread has done, while others may be at work beside it."""
        done = Future[Result]()
        before = SHARING.set(SHARING.get() or self._threads.most > 1)
        try:
            done.set_result(work())
        finally:
            SHARING.reset(before)
        return done


class Underway(Generic[Result]):
    """Works that other threads have begun, for what is at each place of some lists.

    Whoever is free takes the next place; the one that wants to see them finished takes part, too.
    """

    def __init__(
        self,
        work: Callable[..., Result],
        given: Sequence[Sequence[Any]],
        pool: ThreadPoolExecutor | None,
        threads: int,
    ) -> None:
        self._work, self._given = work, given
        self._made = dict[int, Result]()
        self._places = iter(range(len(given[0])))
        self._others = [pool.submit(self._take) for _ in range(threads)] if pool else []

    def _take(self) -> None:
        for place in self._places:
            self._made[place] = self._work(*(one[place] for one in self._given))

    def finish(self) -> list[Result]:
        """Take part, wait for the others, and give what was made, in order."""
        before = SHARING.set(True)
        try:
            self._take()
        finally:
            SHARING.reset(before)
            # where this one was interrupted, nothing is left for the others
            self.drop()
        for other in self._others:
            other.result()
        return [self._made[place] for place in range(len(self._made))]

    def drop(self) -> None:
        """Have nobody take another place."""
        list(self._places)

    @property
    def threads(self) -> int:
        """How many others are at work."""
        return sum(not other.done() for other in self._others)


MEANWHILE: ContextVar[Underway[None] | None] = ContextVar("meanwhile", default=None)
"""What other threads do while this one does something else."""


def workers(count: int) -> ThreadPoolExecutor:
    """Threads for so many works, but no more than the cores; a single one may use all of them."""
    threads = max(1, min(allowed_threads(), count))
    return _pool(threads, shares=threads > 1)


def beside() -> AbstractContextManager[ThreadPoolExecutor | None]:
    """Threads that work beside this one, where it may have any."""
    threads = allowed_threads() - 1
    return _pool(threads, shares=True) if threads else nullcontext()


def _pool(threads: int, *, shares: bool) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, initializer=SHARING.set, initargs=(shares,))


def allowed_threads() -> int:
    """One per available core, unless ONTOMASK_THREADS says how many or others work beside this."""
    if SHARING.get():
        return 1
    chosen, rows = os.environ.get("ONTOMASK_THREADS", ""), MEANWHILE.get()
    every = int(chosen) if chosen.isdigit() and int(chosen) else available_cores()
    return every if rows is None else max(1, every - rows.threads)
