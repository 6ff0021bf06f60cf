"""Elements of an SVG drawing as text: escaped, rounded, in colors that the page may change.

How wide its words will be is told without the font they are set in: by a table of average widths.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable

from ontomask.report.charts import COLORS, WIDTH

__all__ = [
    "LABEL_SIZE",
    "TICK_SIZE",
    "VALUE_SIZE",
    "bar",
    "colored",
    "escaped",
    "filled",
    "hint",
    "label",
    "legible",
    "line",
    "lines",
    "shortened",
    "tag",
    "texts",
    "width",
    "write",
]

LABEL_SIZE, TICK_SIZE, VALUE_SIZE = 12.0, 11.0, 10.5
"""Pixels of the letters of labels, of numbers at axes and of numbers at bars."""
UNSEEN = 0.05
"""Pixels below which a bar is none."""


def tag(name: str, *inside: str, **attributes: str | float) -> str:
    """An element; of its attributes' names, underscores are hyphens."""
    written = "".join(
        f' {key.strip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
    )
    content = "".join(inside)
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return html.escape(value)
    return f"{round(value, 1) + 0.0:g}"  # 0 has no sign


def escaped(text: str) -> str:
    """A text inside an element."""
    return html.escape(legible(text), quote=False)


def colored(color: str, parts: Iterable[str], **attributes: str | float) -> str:
    """Parts of one color, if there are any."""
    content = "".join(parts)
    if not content:
        return ""
    return tag("g", content, class_=color, color=COLORS[color], **attributes)


def filled(color: str, parts: Iterable[str]) -> str:
    """Shapes of one color."""
    return colored(color, parts, fill="currentColor")


def lines(color: str, parts: Iterable[str], **attributes: str | float) -> str:
    """Lines of one color."""
    return colored(color, parts, stroke="currentColor", **attributes)


def texts(color: str, size: float, anchor: str, parts: Iterable[str]) -> str:
    """Texts of one color and size that start, end or have their middle at their place."""
    return colored(color, parts, fill="currentColor", font_size=size, text_anchor=anchor)


def write(text: str, x: float, y: float) -> str:
    """A text, if there is any."""
    return tag("text", escaped(text), x=x, y=y) if text else ""


def label(text: str, x: float, y: float) -> str:
    """A label of a row; where it is cut short, it is told in full on pointing at it."""
    whole = legible(text)
    cut = shortened(whole, WIDTH - x, LABEL_SIZE)
    told = "" if cut == whole else hint(whole)
    return tag("text", told, escaped(cut), x=x, y=y) if cut else ""


def hint(text: str) -> str:
    """What an element says when it is pointed at."""
    return tag("title", escaped(text))


def bar(x: float, y: float, wide: float, high: float) -> str:
    """A rectangle, if there is anything to see."""
    return tag("rect", x=x, y=y, width=wide, height=high) if min(wide, high) >= UNSEEN else ""


def line(x: float, y: float, to_x: float, to_y: float) -> str:
    """A straight line."""
    return tag("line", x1=x, y1=y, x2=to_x, y2=to_y)


# Letters --------------------------------------------------------------------------------------

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
