"""JSON with the line of every value, so that a mistake in a tree can be pointed at.

The standard library's decoder reads the scalars; objects keep all their members in order, also
those whose key is repeated.
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from ontomask.errors import FormatError

__all__ = ["MAX_DEPTH", "Node", "parse"]

MAX_DEPTH = 200
"""No tree may be nested deeper than this."""

SPACE = re.compile(r"[ \t\r\n]*")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


DECODER = json.JSONDecoder(parse_constant=_refuse)

Part = TypeVar("Part")
Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Node:
    """A value and its line; of the three fields only the one for its kind is filled."""

    line: int
    scalar: Scalar = None
    members: tuple[tuple[str, Node], ...] | None = None
    items: tuple[Node, ...] | None = None

    def describe(self) -> str:
        """Name the kind of value, or show it if it is small."""
        if self.members is not None:
            return "an object"
        if self.items is not None:
            return "a list"
        return json.dumps(self.scalar, ensure_ascii=False)


def parse(text: str, source: str) -> Node:
    """Parse a whole JSON text."""
    return _Parser(text, source).whole()


class _Parser:
    """Walks through one text; `at` is where it stands."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self.source = source
        self.at = 0
        self.depth = 0
        self.line_ends = [match.start() for match in re.finditer("\n", text)]

    def whole(self) -> Node:
        node = self.value()
        if self.peek():
            raise self.error("something follows after the end of the tree")
        return node

    def peek(self) -> str:
        """Skip white space and return the next character, '' at the end."""
        match = SPACE.match(self.text, self.at)
        if match:
            self.at = match.end()
        return self.text[self.at : self.at + 1]

    def line(self) -> int:
        return bisect.bisect_left(self.line_ends, self.at) + 1

    def error(self, reason: str) -> FormatError:
        return FormatError(
            f"{self.source}, line {self.line()}: {reason}; correct the JSON at this place."
        )

    def value(self) -> Node:
        start = self.peek()
        line = self.line()
        if start not in ("{", "["):
            return Node(line, scalar=self.scalar())
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"the tree is nested deeper than {MAX_DEPTH} levels")
        if start == "{":
            node = Node(line, members=tuple(self.listed("}", self.member)))
        else:
            node = Node(line, items=tuple(self.listed("]", self.value)))
        self.depth -= 1
        return node

    def scalar(self) -> Scalar:
        try:
            value: Scalar
            value, self.at = DECODER.raw_decode(self.text, self.at)
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise self.error(f"the JSON is malformed ({reason})") from None
        return value

    def member(self) -> tuple[str, Node]:
        if self.peek() != '"':
            raise self.error("a key in double quotes is expected")
        key = self.scalar()
        if self.peek() != ":":
            raise self.error(f"a colon is expected after the key {key!r}")
        self.at += 1
        return str(key), self.value()

    def listed(self, end: str, part: Callable[[], Part]) -> Iterator[Part]:
        """Yield the parts between the brackets, separated by commas."""
        self.at += 1
        if self.peek() == end:
            self.at += 1
            return
        while True:
            yield part()
            following = self.peek()
            self.at += 1
            if following == end:
                return
            if following != ",":
                self.at -= 1
                raise self.error(f"a comma or {end!r} is expected")
