"""Lists of names and places, as they stand in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["enumerated", "numbered", "quoted"]

SHOWN = 5


def enumerated(items: Sequence[str]) -> str:
    """Join the first few items by commas and tell how many more there are."""
    if len(items) > SHOWN:
        return f"{', '.join(items[:SHOWN])} and {len(items) - SHOWN} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def quoted(names: Sequence[str]) -> str:
    """Enumerate names in quotation marks."""
    return enumerated([repr(name) for name in names])


def numbered(word: str, numbers: Sequence[int]) -> str:
    """Say which lines, rows or records: 'line 4', 'lines 4, 9 and 12'."""
    return f"{word}{'s' if len(numbers) > 1 else ''} {enumerated([str(one) for one in numbers])}"
