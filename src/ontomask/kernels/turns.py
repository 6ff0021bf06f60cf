"""One process compiles a kernel, and others that need it wait for that instead of doing the same.

Each kernel, for some types, has a byte of one file that is locked meanwhile. The system takes locks
back from a process that ends, however it ends. No two processes wait for each other: what a kernel
waits for is called by it. Where files cannot be locked, nobody waits.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator

from numba.core import event

from ontomask.kernels import FOLDER

if sys.platform != "win32":
    import fcntl

__all__ = ["WAITING", "turn"]

WAITING = "ontomask:waiting"
"""The kind of event that there is while another process compiles."""


def _file() -> int | None:
    """The file of the locks; it stays open, since closing it would give all of them back."""
    if FOLDER is None or sys.platform == "win32":
        return None
    with contextlib.suppress(OSError):
        FOLDER.mkdir(parents=True, exist_ok=True)
        return os.open(FOLDER / "ontomask-turns", os.O_RDWR | os.O_CREAT, 0o600)
    return None


FILE = _file()


@contextlib.contextmanager
def turn(name: str) -> Iterator[None]:
    """Do something while no other process does what has the same name."""
    if FILE is None or sys.platform == "win32":
        yield
        return
    place = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=6).digest())
    with contextlib.suppress(OSError):
        try:
            fcntl.lockf(FILE, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            with event.trigger_event(WAITING):
                fcntl.lockf(FILE, fcntl.LOCK_EX, 1, place)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            fcntl.lockf(FILE, fcntl.LOCK_UN, 1, place)
