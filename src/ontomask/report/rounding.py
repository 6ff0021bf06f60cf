"""How exactly a number of original records may be told to those who have the release.

They can count the release themselves and subtract. So whatever is counted on the original is told
in steps of at least a threshold of records: what is left of a difference is a range of that width.
"""

from __future__ import annotations

__all__ = ["STEPS", "bucket", "coarse", "step"]

STEPS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15, 0.2, 0.25, 0.5)
"""Steps of shares; each is at most twice the one before, so that `least` records are never 0."""


def bucket(count: int, least: int) -> tuple[int, int]:
    """The first and last of the numbers that are not told apart from `count`.

    There are at least `least` of them, and more where the count has more than two digits. None is
    not told apart from few: it would turn “few, and at most one” into “one”.
    """
    width = least * 10 ** max(0, len(str(count // least)) - 2)
    first = count // width * width
    return first, first + width - 1


def step(least: int, of: float) -> float:
    """The step in which shares of so many records are told."""
    return next((one for one in STEPS if one * of >= least), STEPS[-1])


def coarse(share: float, least: int, of: float) -> float:
    """A share of so many records, rounded to its step; only none is 0 and only all is 1.

    Steps of one percent are left to those who write or draw it: they show no more than that.
    """
    width = step(least, of)
    if width == STEPS[0] or share in (0.0, 1.0):
        return share
    return min(max(round(share / width) * width, width), 1.0 - width)
