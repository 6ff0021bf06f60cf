"""A second process that compiles, from the moment a first run begins, what that run needs late.

Nothing that computes is imported here, only there: both processes import it at the same time.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import signal
from collections.abc import Iterator

from ontomask.cores import available_cores
from ontomask.kernels import compiled_before

__all__ = ["helped"]

PROCESSES = 2


@contextlib.contextmanager
def helped() -> Iterator[None]:
    """Let another process compile what a run needs late while it compiles what it needs first.

    Only where nothing was compiled on this machine yet, and there is a core for it.
    """
    if compiled_before() or available_cores() < PROCESSES:
        yield
        return
    helper = multiprocessing.get_context("spawn").Process(target=_help, daemon=True)
    helper.start()
    try:
        yield
    finally:
        helper.terminate()
        helper.join()


def _help() -> None:
    """Compile in silence: a help that fails is none, and who interrupts the run speaks to that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    with contextlib.suppress(Exception):
        from ontomask.warming import compile_beside

        compile_beside()
