"""Loops over independent rows, and works that are independent of each other, on all cores.

The threads are Python's own and live as long as one loop; the kernels let go of the interpreter.
What Numba starts for `parallel=True` stays alive: it hangs in a process that is forked later
(OpenMP), or ends the process when two threads meet in it (Numba's own queue).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

__all__ = ["allowed_threads", "in_blocks", "side_by_side", "workers"]

Result = TypeVar("Result")

BLOCKS_PER_THREAD = 4
"""Rows differ in how long they take: who is done early takes another block."""
SHARING = "ontomask-sharing"
"""How threads are called that share the cores with others: loops in them start no more."""


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
    bounds = np.linspace(0, count, BLOCKS_PER_THREAD * threads + 1).astype(int).tolist()
    with workers(threads) as pool:
        list(pool.map(work, bounds[:-1], bounds[1:]))


def side_by_side(
    work: Callable[..., Result], *given: Sequence[Any], shares: bool = True
) -> list[Result]:
    """Call ``work`` for the things at each place of some lists, on all cores if these are shared.

    Where there is one thread only, or one thing, none is started.
    """
    count = len(given[0]) if shares else 1
    if min(allowed_threads(), count) < 2:
        return list(map(work, *given))
    with workers(count) as pool:
        return list(pool.map(work, *given))


def workers(count: int) -> ThreadPoolExecutor:
    """Threads for so many works, but no more than the cores; a single one may use all of them."""
    threads = max(1, min(allowed_threads(), count))
    return ThreadPoolExecutor(threads, SHARING if threads > 1 else "")


def allowed_threads() -> int:
    """One per core, unless ONTOMASK_THREADS says how many or others are at work beside this."""
    if threading.current_thread().name.startswith(SHARING):
        return 1
    chosen = os.environ.get("ONTOMASK_THREADS", "")
    return int(chosen) if chosen.isdigit() and int(chosen) else os.cpu_count() or 1
