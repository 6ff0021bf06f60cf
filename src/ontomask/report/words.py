"""How numbers and names are written in the report, and how exactly counts of the original are told.

Those who have the release can count it and subtract. So whatever is counted on the original is told
in steps of at least a threshold of records: what is left of a difference is a range of that width.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ontomask.wording import percent, plural, terse_percent

__all__ = [
    "STEPS",
    "bucket",
    "capital",
    "coarse",
    "compact",
    "distance",
    "figure",
    "grouped",
    "listing",
    "percent",
    "plural",
    "step",
    "terse_percent",
]

NAMED = 6
CLASS = re.compile(r"\bclass(es)?\b")


def listing(names: Sequence[str], most: int = NAMED, last: str = "and") -> str:
    """Names as in a sentence; of many, the first few and how many more there are."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} {last} {len(names) - most + 1} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def capital(text: str) -> str:
    """A text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def grouped(text: str) -> str:
    """A text of the library, which says class, in the words of the report, which says group."""
    return CLASS.sub(lambda found: "groups" if found[1] else "group", text)


def figure(number: float, digits: int = 3) -> str:
    """A number with a few significant digits, in plain notation where that is readable."""
    if number == 0 or not math.isfinite(number):
        return "0" if number == 0 else "not defined"
    size = math.floor(math.log10(abs(number)))
    if size < -4 or size > 12:
        return f"{number:.{digits}g}"
    rounded = round(number, digits - 1 - size)
    return f"{rounded:,.{max(0, digits - 1 - size)}f}"


def distance(number: float) -> str:
    """A distance, loss or correlation with two digits behind the point."""
    return "<0.01" if 0 < number < 0.005 else f"{number:.2f}"


def compact(number: float) -> str:
    """A number for an axis: 1200 as 1.2k."""
    for size, letter in ((1e9, "B"), (1e6, "M"), (1e4, "k")):
        if abs(number) >= size:
            unit = 1e3 if letter == "k" else size
            return f"{number / unit:.4g}{letter}"
    return f"{number:,.6g}"


# Counts of the original -----------------------------------------------------------------------

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
