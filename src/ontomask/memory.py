"""How much memory is left, so that what would not fit is refused before it is begun."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ontomask.errors import ShortMemoryError

__all__ = [
    "LARGEST_TABLE",
    "MODERATE_TABLE",
    "NEAR_TABLE",
    "SMALL_TABLE",
    "free_memory",
    "keep_freed",
    "require_memory",
    "row_blocks",
]

LARGEST_TABLE = 2**24
"""So many distances are held at once; of more they are computed as they are asked for."""


SMALL_TABLE = 2**20
"""So many are kept for who asks for them again; more are computed as fast as they are copied."""
MODERATE_TABLE = 2**23
"""So many are held where there is little to be done for each part of a table …"""
NEAR_TABLE = 2**16
"""… and so many where it is gone through several times: they stay near the processor."""


def row_blocks(rows: int, columns: int, most: int | None = None) -> Iterator[slice]:
    """The rows of a table, so many entries at a time, or as many as may be held."""
    step = max(1, (LARGEST_TABLE if most is None else most) // max(1, columns))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


KEPT = 2**24
"""The bytes of the largest arrays whose memory is kept for others."""


def keep_freed() -> None:
    """Have memory of arrays kept for those that follow, rather than given back to the system.

    To get it anew, page by page, takes a third of the time of what does little with each record.
    The GNU library decides by the largest array that it has seen come and go: it is shown one,
    which nobody writes to, so that it takes no memory. Other libraries do as ever.
    """
    np.empty(KEPT, np.uint8)


STATUS, SYSTEM = Path("/proc/self/status"), Path("/proc/meminfo")
GROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)
"""Where a limit for a group of processes and what it uses stand."""


def free_memory() -> int | None:
    """The bytes that this process can still get, or None where nobody tells.

    The least of what the machine has left and of what is left of limits on this process.
    """
    found = [_in_lines(SYSTEM, "MemAvailable"), _below_own_limit()]
    for limit, used in GROUPS:
        most, now = _number(limit), _number(used)
        if most is not None and now is not None:
            found.append(most - now)
    known = [one for one in found if one is not None]
    return max(0, min(known)) if known else None


def require_memory(amount: int, what: str, remedy: str) -> None:
    """Refuse what needs more bytes than there are.

    Parameters
    ----------
    amount
        The bytes.
    what, remedy
        The thing that needs them, and what to do instead, as parts of the sentence.
    """
    free = free_memory()
    if free is not None and amount > free:
        raise ShortMemoryError(
            f"{what} would take {amount / 2**30:.1f} GB of memory, and {free / 2**30:.1f} GB are "
            f"left; {remedy}."
        )


def _below_own_limit() -> int | None:
    """What is left of the address space that this process may have."""
    try:
        import resource
    except ImportError:  # not on this system
        return None
    limit, used = resource.getrlimit(resource.RLIMIT_AS)[0], _in_lines(STATUS, "VmSize")
    return None if limit == resource.RLIM_INFINITY or used is None else limit - used


def _in_lines(path: Path, name: str) -> int | None:
    """A figure from lines such as "MemAvailable:  123 kB", in bytes."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
    return 1024 * int(found[0]) if found else None


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
