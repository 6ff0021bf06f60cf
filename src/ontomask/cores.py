"""How many cores a process may keep busy, which can be fewer than the machine has.

A container is often given the time of one core on a machine of many: threads beyond that would take
time from each other.
"""

from __future__ import annotations

import functools
import math
import os
from pathlib import Path

__all__ = ["available_cores"]

GROUP = Path("/sys/fs/cgroup")
QUOTAS = (
    (GROUP / "cpu.max",),
    (GROUP / "cpu" / "cpu.cfs_quota_us", GROUP / "cpu" / "cpu.cfs_period_us"),
)
"""Files that hold how long a group of processes may run, and within what time, together."""


@functools.cache
def available_cores() -> int:
    """The cores that this process may run on, but no more than its group has the time for."""
    return max(1, min([_own_cores(), *_quotas()]))


def _own_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1


def _quotas() -> list[int]:
    found = []
    for files in QUOTAS:
        try:
            texts = " ".join(one.read_text() for one in files)
            time, within = (float(one) for one in texts.split())
        except (OSError, ValueError):  # no such file, or no limit: "max 100000"
            continue
        if time > 0.0 and within > 0.0:
            found.append(math.ceil(time / within))
    return found
