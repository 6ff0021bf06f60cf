"""Counts, shares, and lists of names and places, as they stand in a sentence."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

__all__ = [
    "all_alike",
    "enumerated",
    "left_out",
    "numbered",
    "only",
    "option",
    "percent",
    "plural",
    "quoted",
    "terse_percent",
]

SHOWN = 5


def plural(count: float, one: str, many: str = "") -> str:
    """A count with its noun: 1 record, 2 records."""
    return f"{count:,.10g} {one if count == 1 else many or one + 's'}"


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


def left_out(count: int, one: str) -> str:
    """Say that something was left out: 1 blank line was, 2 blank lines were."""
    return f"{plural(count, one)} {'was' if count == 1 else 'were'} left out."


def only(count: float, one: str) -> str:
    """Say that there are too few: there is only 1 record, there are only 2 records."""
    return f"there {'is' if count == 1 else 'are'} only {plural(count, one)}"


def enumerated(items: Sequence[str], most: int = SHOWN) -> str:
    """Join the first few items by commas and tell how many more there are."""
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def all_alike(names: Sequence[str]) -> str:
    """Say that columns tell nothing any more: no record differs from another."""
    they = "which tells" if len(names) == 1 else "which tell"
    return f"All records look the same by {enumerated(names)}, {they} nothing any more."


def quoted(names: Sequence[str], most: int = SHOWN) -> str:
    """Enumerate names in quotation marks."""
    return enumerated([repr(name) for name in names], most)


def option(name: str, value: str) -> str:
    """Say how a plan and a command without one say an option of reading."""
    typed = shlex.quote(value)  # a shell ends the command at a semicolon
    return f'in a plan: {name} = "{value}" under [input]; without a plan: --{name} {typed}'


def numbered(word: str, numbers: Sequence[int]) -> str:
    """Say which lines, rows or records: 'line 4', 'lines 4, 9 and 12'."""
    return f"{word}{'s' if len(numbers) > 1 else ''} {enumerated([str(one) for one in numbers])}"
