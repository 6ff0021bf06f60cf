"""Lists of names and places, as they stand in a sentence."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

__all__ = ["enumerated", "numbered", "option", "quoted"]

SHOWN = 5


def enumerated(items: Sequence[str]) -> str:
    """Join the first few items by commas and tell how many more there are."""
    if len(items) > SHOWN:
        return f"{', '.join(items[:SHOWN])} and {len(items) - SHOWN} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def quoted(names: Sequence[str]) -> str:
    """Enumerate names in quotation marks."""
    return enumerated([repr(name) for name in names])


def option(name: str, value: str) -> str:
    """Say how a plan and a command without one say an option of reading."""
    typed = shlex.quote(value)  # a shell ends the command at a semicolon
    return f'in a plan: {name} = "{value}" under [input]; without a plan: --{name} {typed}'


def numbered(word: str, numbers: Sequence[int]) -> str:
    """Say which lines, rows or records: 'line 4', 'lines 4, 9 and 12'."""
    return f"{word}{'s' if len(numbers) > 1 else ''} {enumerated([str(one) for one in numbers])}"
