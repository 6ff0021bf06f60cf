"""Numbers and intervals as people write them: 20-29, [20, 30), 90+, < 1."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

__all__ = ["Span", "read_interval"]

_NUMBER = r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
_UNIT = r"(?:\s*years)?"
_CLOSED = re.compile(
    rf"([\[(\]])?\s*{_NUMBER}\s*(?:-|–|to|,|;|\.\.)\s*(?:<\s*)?{_NUMBER}(?:\s*([\])\[]))?{_UNIT}"
)
_FROM = re.compile(
    rf"(?:>=?|≥|over|above)\s*{_NUMBER}{_UNIT}|{_NUMBER}\s*(?:\+|and (?:over|older|above)){_UNIT}"
)
_UNTIL = re.compile(rf"(?:<=?|≤|under|below|up to)\s*{_NUMBER}{_UNIT}")


@dataclass(frozen=True)
class Span:
    """The numbers from `low` to `high`, both included unless `open_high`; one number if equal."""

    low: float
    high: float
    open_high: bool = False

    @property
    def is_point(self) -> bool:
        """Whether it is a single number."""
        return self.low == self.high

    @property
    def is_bounded(self) -> bool:
        """Whether it has two ends."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def middle(self) -> float:
        """The middle; the known end of a span without the other."""
        if not self.is_bounded:
            return self.high if math.isinf(self.low) else self.low
        return self.low / 2.0 + self.high / 2.0


def read_interval(text: str) -> Span | None:
    """A number or an interval as it is written, by its whole text."""
    plain = text.strip().casefold()
    if re.fullmatch(_NUMBER, plain):
        return Span(float(plain), float(plain))
    if found := _CLOSED.fullmatch(plain):
        low, high = float(found[2]), float(found[3])
        return Span(low, high, found[4] in (")", "[")) if low <= high else None
    if found := _FROM.fullmatch(plain):
        return Span(float(found[1] or found[2]), math.inf)
    if found := _UNTIL.fullmatch(plain):
        return Span(-math.inf, float(found[1]), plain[0] == "<" and plain[1:2] != "=")
    return None
