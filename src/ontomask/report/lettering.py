"""How wide a text will be, without the font it is set in: a table of average widths."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["legible", "shortened", "width"]

CLASSES = (
    ("ijlIJ|'.,:;!` ", 0.31),
    ('frt()[]{}/\\-"*°', 0.41),
    ("szckvxyJ?_", 0.56),
    ("mwMW%@&OQGDHNU—…<>=+~#", 0.83),
)
"""Letters with their average width in ems, in a font that is wider than most (DejaVu Sans)."""
TABLE = {letter: size for letters, size in CLASSES for letter in letters}
SMALL, CAPITAL, DIGIT, FULL = 0.62, 0.69, 0.64, 1.0
ELLIPSIS = "…"
UNWRITABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML has no place for: control characters and halves of characters."""


def legible(text: str) -> str:
    """A text on one line, in characters that an XML file may hold."""
    return " ".join(UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text).split())


def width(text: str, size: float) -> float:
    """About how many pixels wide a text in a sans-serif font of this size is."""
    return size * sum(map(_em, text))


def _em(letter: str) -> float:
    if letter in TABLE:
        return TABLE[letter]
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return FULL
    if letter.isdigit():
        return DIGIT
    return CAPITAL if letter.isupper() else SMALL


def shortened(text: str, room: float, size: float) -> str:
    """A text that fits into so many pixels, cut behind a whole character where it is longer."""
    used, fits = 0.0, 0
    for place, letter in enumerate(text):
        wide = size * _em(letter)
        if wide and used + size * TABLE[ELLIPSIS] <= room:
            fits = place
        used += wide
        if used > room:
            return text[:fits].rstrip() + ELLIPSIS
    return text
