"""What numbers that were drawn from [0, 1) beforehand decide."""

from __future__ import annotations

import numpy as np

from ontomask.kernels.compiling import compiled

__all__ = ["hypergeometric", "pick", "uniform_of"]


@compiled
def pick(uniform: float, count: int) -> int:
    """A number from 0 to count - 1."""
    return min(int(uniform * count), count - 1)


@compiled
def uniform_of(seed: float, place: int) -> float:
    """A number in [0, 1) for each place, by the mixing function of splitmix64 (Steele 2014)."""
    state = np.uint64(seed * 9007199254740992.0) + np.uint64(place + 1) * np.uint64(
        0x9E3779B97F4A7C15
    )
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((state ^ (state >> np.uint64(31))) >> np.uint64(11)) / 9007199254740992.0


@compiled
def hypergeometric(uniform: float, present: int, marked: int, slots: int) -> int:
    """How many of `slots` records, drawn from `present`, are among the `marked`, by inversion.

    Probabilities relative to the mode's follow from the ratio of neighbors; those below 1e-18 do
    not count.
    """
    lowest, highest = max(0, slots + marked - present), min(slots, marked)
    mode = (slots + 1) * (marked + 1) // (present + 2)
    mode = min(max(mode, lowest), highest)
    low, likelihood, total = mode, 1.0, 1.0
    while low > lowest and likelihood > 1e-18:
        likelihood *= low * (present - marked - slots + low)
        likelihood /= (marked - low + 1.0) * (slots - low + 1.0)
        low -= 1
        total += likelihood
    first = likelihood
    high, likelihood = mode, 1.0
    while high < highest and likelihood > 1e-18:
        likelihood *= (marked - high) * (slots - high)
        likelihood /= (high + 1.0) * (present - marked - slots + high + 1.0)
        high += 1
        total += likelihood
    target, result, likelihood = uniform * total, low, first
    while result < high and target >= likelihood:
        target -= likelihood
        likelihood *= (marked - result) * (slots - result)
        likelihood /= (result + 1.0) * (present - marked - slots + result + 1.0)
        result += 1
    return result
