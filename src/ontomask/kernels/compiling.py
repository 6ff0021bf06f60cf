"""How kernels are compiled, and when they are, rather than found on disk.

Numba compiles a kernel at its first call on a machine, and whoever waits for seconds should be told
what for. Kernels that are found on disk are not reported.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import njit
from numba.core import event

__all__ = ["NOTICE", "Compiling", "allocating", "compiled", "compiling", "part", "whole"]

_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
allocating: Any = njit(**_OPTIONS | {"_nrt": True})
"""How kernels are compiled that make arrays, or call one that hands out an array."""
# nobody counts who holds the arrays that are passed, which is half of the compiler's work on a call
compiled: Any = njit(**_OPTIONS | {"_nrt": False})
"""How those are compiled that only write into arrays they are given."""
part: Any = njit(inline="always")
"""For steps that are called in one place and get a name to be read: they are written out there,
because the compiler goes through a function again in every function above it."""

whole: Any = np.int64
"""The type all loops use. A plain 0, or a number from a narrower array, is a type of its own to the
compiler: every function it is passed to would be compiled once more."""

NOTICE = "compiling, once on this machine, about 15 s"
"""What a person is told, in the middle of a sentence."""


class Compiling(event.Listener):
    """Whether a kernel is being compiled, in whatever thread."""

    def __init__(self, tell: Callable[[bool], None]) -> None:
        self._tell, self._depth = tell, 0

    @property
    def active(self) -> bool:
        """Whether one is being compiled now."""
        return self._depth > 0

    # a kernel that calls others is compiled around them, and Numba compiles one at a time
    def on_start(self, _event: Any) -> None:
        """Count a kernel that is begun, and tell of the outermost."""
        self._depth += 1
        if self._depth == 1:
            self._tell(True)

    def on_end(self, _event: Any) -> None:
        """Count a kernel that is done, and tell of the outermost."""
        self._depth -= 1
        if self._depth == 0:
            self._tell(False)


@contextlib.contextmanager
def compiling(tell: Callable[[bool], None] = lambda _active: None) -> Iterator[Compiling]:
    """Tell when kernels begin to be compiled, and when that is over.

    Parameters
    ----------
    tell
        Called with True and, afterwards, with False; in the thread that compiles.
    """
    watch = Compiling(tell)
    with event.install_listener("numba:compile", watch):
        yield watch
