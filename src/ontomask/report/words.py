"""How numbers and names are written in the report."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ontomask.wording import plural

__all__ = [
    "capital",
    "compact",
    "distance",
    "figure",
    "grouped",
    "listing",
    "percent",
    "plural",
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


def percent(share: float, digits: int = 0) -> str:
    """A share as a percentage; small ones are never written as 0, nor large ones as 100."""
    shown = 100.0 * share
    least = 10.0**-digits
    if shown in (0.0, 100.0):
        return f"{shown:.0f}%"
    if 0.0 < shown <= least / 2:
        return f"less than {least:g}%"
    if 100.0 - least / 2 <= shown < 100.0:
        return f"more than {100 - least:g}%"
    return f"{shown:.{digits}f}%"


def terse_percent(share: float, digits: int = 0) -> str:
    """The same in signs: <1%, >99%."""
    return percent(share, digits).replace("less than ", "<").replace("more than ", ">")


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
