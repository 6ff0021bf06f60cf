"""Indented text: one concept per line, children further in than their parent.

::

    disease
        infection
            flu | Influenza
        injury

* The stripped line is the concept's id and label; `id | label` gives both.
* Indentation is by spaces or by tabs, the same throughout the file; any width will do, as long as
  a line that steps back returns to the width of a line above it.
* Blank lines are skipped. A concept written below several parents has all of them as parents.
"""

from __future__ import annotations

from pathlib import Path

from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Draft, Reader
from ontomask.taxonomy.readers.separated import beginning, plain_suffix
from ontomask.taxonomy.readers.sources import numbered_lines

__all__ = ["READER"]

SUFFIXES = {".txt", ".outline", ".indented"}

FOREIGN_STARTS = ("<", "{", "[", "@", "!", "format-version:")
"""How XML, JSON, Turtle and OBO begin, which are indented too."""

INDENTS = {" ": "spaces", "\t": "tabs"}


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Tell whether the text begins at the margin and is indented further on."""
    if plain_suffix(path) not in SUFFIXES:
        return False
    text = beginning(first_bytes)
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or lines[0][0] in INDENTS or lines[0].startswith(FOREIGN_STARTS):
        return False
    return any(line[0] in INDENTS for line in lines)


def read(path: Path) -> Draft:
    """Read an indented text, plain or gzip."""
    draft = Draft(str(path))
    open_concepts: list[tuple[int, str]] = []
    indent = ""
    for line, text in numbered_lines(path):
        if not text.strip():
            continue
        where = f"{draft.source}, line {line}"
        identifier, label = _concept(text, where)
        margin = text[: len(text) - len(text.lstrip())]
        indent = _checked_indent(margin, indent, where)
        _close(open_concepts, len(margin), where)
        draft.add_concept(identifier, label, line=line)
        if open_concepts:
            draft.add_link(identifier, open_concepts[-1][1], line)
        open_concepts.append((len(margin), identifier))
    return draft


def _concept(text: str, where: str) -> tuple[str, str]:
    identifier, bar, label = (part.strip() for part in text.partition("|"))
    if bar and not (identifier and label):
        raise FormatError(
            f"{where}: {text.strip()!r} lacks the id before or the label after the bar; write "
            "'id | label', or the id alone."
        )
    return identifier, label


def _checked_indent(margin: str, known: str, where: str) -> str:
    """Return the character that the file is indented with, '' as long as none was seen."""
    used = set(margin)
    if known:
        used.add(known)
    if len(used) > 1 or not used <= INDENTS.keys():
        raise FormatError(
            f"{where}: the line is not indented with {INDENTS.get(known, 'spaces or tabs')} "
            "alone; use the same kind of indentation, spaces or tabs, in the whole file."
        )
    return next(iter(used), "")


def _close(open_concepts: list[tuple[int, str]], width: int, where: str) -> None:
    """Leave open only the concepts that the line is inside of."""
    if not open_concepts or width > open_concepts[-1][0]:
        return
    widths = [each for each, _ in open_concepts]
    if width not in widths:
        raise FormatError(
            f"{where}: the line steps back to {width} characters of indentation, where no line "
            f"above it begins; step back to {' or '.join(map(str, widths))}."
        )
    del open_concepts[widths.index(width) :]


READER = Reader("indented", can_read, read)
