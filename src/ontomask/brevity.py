"""What objects print: whatever they hold, no more than fits on a screen.

Somebody who types a name at a prompt wants to know what it is, not to read a thousand values of it.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import accumulate, islice
from typing import Any

__all__ = ["LONGEST", "SHOWN", "Brief", "abridged", "brief", "cut"]

LONGEST = 1000
"""So many characters are printed of an object."""

SHOWN = 12
"""So many items are shown of a list."""

WORD = 120
"""So many characters are shown of a single value."""

BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}


class Brief:
    """A dataclass that prints itself as others do, but of long values their beginning only."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # what a class has itself already, `dataclass` leaves alone
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        told = (one.name for one in fields(self) if one.repr)  # type: ignore[arg-type]
        said = ", ".join(f"{name}={brief(getattr(self, name))}" for name in told)
        return cut(f"{type(self).__qualname__}({said})")


def brief(value: object) -> str:
    """A value as Python writes it, with the first items of long lists and dictionaries only."""
    if isinstance(value, dict):
        pairs = (f"{brief(key)}: {brief(one)}" for key, one in value.items())
        return f"{{{_items(pairs, value)}}}"
    opening, closing = BRACKETS.get(type(value), ("", ""))
    if opening and isinstance(value, Collection) and value:
        comma = "," if opening == "(" and len(value) == 1 else ""
        return f"{opening}{_items(map(brief, value), value)}{comma}{closing}"
    said = repr(value)
    if len(said) <= WORD or isinstance(value, (str, bytes, Brief)):
        return said if isinstance(value, Brief) else cut(said, WORD)
    return f"<{type(value).__name__}>"


def abridged(lines: Sequence[str], rest: str) -> str:
    """As many lines as may be printed; `rest` says where the others are."""
    room = LONGEST - len(rest) - len(" and 1,000,000 more: ")
    ends = list(accumulate(len(line) + 1 for line in lines))
    fitting = bisect(ends, room)
    if fitting == len(lines):
        return "\n".join(lines)
    shown = lines[:fitting] or [cut(lines[0], room)]
    more = len(lines) - len(shown)
    return "\n".join([*shown, *([f"and {more:,} more: {rest}"] if more else [])])


def cut(said: str, longest: int = LONGEST) -> str:
    """The beginning of a text that is too long."""
    return said if len(said) <= longest else f"{said[: longest - 1]}…"


def _items(said: Iterable[str], of: Collection[object] | Mapping[Any, Any]) -> str:
    more = [f"… and {len(of) - SHOWN:,} more"] if len(of) > SHOWN else []
    return ", ".join([*islice(said, SHOWN), *more])
