"""Names for the array types that travel between rooms, and the different numbers of an array."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Floats", "Ints", "Longs", "Shorts", "different"]

Bools = NDArray[np.bool_]
Shorts = NDArray[np.int16]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Whole = TypeVar("Whole", bound=np.integer[Any])


def different(numbers: NDArray[Whole]) -> NDArray[Whole]:
    """The different ones of whole numbers, ascending.

    `np.unique` looks them up in a hash table: where a million are different, that takes a second
    instead of a fiftieth.
    """
    ordered: NDArray[Whole] = np.sort(numbers)
    is_new = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]
