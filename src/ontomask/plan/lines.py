"""Where in a TOML file something is said.

The parser of the standard library tells no places. A file is therefore cut into its statements
(a header or a key with its value, which may run over several lines): each is a small document that
the parser can read by itself.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping

__all__ = ["Place", "line_of", "places"]

Place = tuple[str | int, ...]
"""The way to a value: names of tables and keys, positions in lists."""

TOKEN = re.compile(
    r"""
    \"{3} (?: \\. | [^\\] )*? \"{3,5}   # a text over several lines
    | '{3} .*? '{3,5}                     # the same, taken literally
    | " (?: \\. | [^"\\\n] )* "
    | ' [^'\n]* '
    | \# [^\n]*
    | [][{}\n]
    """,
    re.VERBOSE | re.DOTALL,
)
"""What decides where a statement ends: texts, comments, brackets and line ends."""


def places(text: str) -> dict[Place, int]:
    """The line of every table, key and list entry of a TOML document, counted from 1."""
    found: dict[Place, int] = {}
    inside: Place = ()
    entries: Counter[Place] = Counter()
    for line, statement in _statements(text):
        parsed = tomllib.loads(statement)
        if statement.lstrip().startswith("["):
            inside = _opened(parsed, entries)
            found.setdefault(inside, line)
        else:
            for place in _inner(parsed):
                found.setdefault((*inside, *place), line)
    return found


def line_of(place: Place, lines: Mapping[Place, int]) -> int | None:
    """The line of a value, or of the nearest thing around it."""
    for length in range(len(place), 0, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a document that is known to be valid, each with its first line."""
    document = text.replace("\r\n", "\n") + "\n"
    start, line, depth = 0, 1, 0
    for token in TOKEN.finditer(document):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] != "\n" or depth:
            continue
        statement = document[start : token.end()]
        if tomllib.loads(statement):
            yield line, statement
        start, line = token.end(), line + statement.count("\n")


def _opened(parsed: Mapping[str, object], entries: Counter[Place]) -> Place:
    """The table that a header opens; an entry of a list is numbered."""
    place: Place = ()
    inner: object = parsed
    while isinstance(inner, (Mapping, list)) and inner:
        if isinstance(inner, list):
            entries[place] += 1
            place = (*place, entries[place] - 1)
            inner = inner[0]
        else:
            name, inner = next(iter(inner.items()))
            place = (*place, name)
            if isinstance(inner, Mapping) and entries[place]:  # a table of the last list entry
                place = (*place, entries[place] - 1)
    return place


def _inner(value: object, place: Place = ()) -> Iterator[Place]:
    if place:
        yield place
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from _inner(one, (*place, name))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _inner(one, (*place, number))
