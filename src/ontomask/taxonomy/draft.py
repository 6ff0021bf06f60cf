"""What a reader is, and what it hands over: concepts and is-a links in order, not yet checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ontomask.errors import DuplicateConceptError

__all__ = ["Draft", "Line", "Reader", "place", "spot"]

Line = int | str | None
"""Where something stands in a source: a line's number, a path of keys, or nothing known."""


def place(source: str, line: Line) -> str:
    """Name a place in a source the way error messages do."""
    if not line:
        return source or "The taxonomy"
    return f"{source}, {spot(line)}" if source else spot(line).capitalize()


def spot(line: Line) -> str:
    """Name a place where its source has been named already."""
    return f"line {line}" if isinstance(line, int) else line or ""


class Draft:
    """Concepts and links collected by a reader, each with the line it was read from.

    A draft is only ever filled; `assemble` checks it and makes the immutable `Taxonomy`. A
    concept may be added several times (an edge list names it once per parent): its synonyms are
    united, and two different labels for one id are an error at once.

    Parameters
    ----------
    source
        What to call the source in messages, usually the file's path.
    parents_declare
        True for edge lists, where a parent that has no row of its own is thereby declared; False
        (the default) makes such a parent an `UnknownParentError`.
    """

    def __init__(self, source: str = "", *, parents_declare: bool = False) -> None:
        self.source = source
        self.parents_declare = parents_declare
        self.version = ""
        self.positions: dict[str, int] = {}
        self.labels: list[str] = []
        self.synonyms: list[tuple[str, ...]] = []
        self.glosses: list[str] = []
        self.lines: list[Line] = []
        self.label_ranks: list[int] = []
        self.synonym_ranks: list[tuple[int, ...]] = []
        self.links: list[tuple[str, str, Line]] = []

    def __len__(self) -> int:
        return len(self.labels)

    def add_concept(
        self,
        identifier: str,
        label: str = "",
        *,
        synonyms: Iterable[str] = (),
        gloss: str = "",
        line: Line = None,
        label_rank: int = 0,
        synonym_ranks: Iterable[int] = (),
    ) -> None:
        """Add a concept, or more about one that is there already.

        Ranks are the positions of this concept among the senses of its label and of each
        synonym (1 = the most frequent sense); 0 means that the source does not rank senses.
        """
        synonyms = tuple(synonyms)
        position = self.positions.setdefault(identifier, len(self.labels))
        if position < len(self.labels):
            self._merge(position, identifier, label, synonyms, gloss, line)
            return
        self.labels.append(label)
        self.synonyms.append(synonyms)
        self.glosses.append(gloss)
        self.lines.append(line)
        self.label_ranks.append(label_rank)
        self.synonym_ranks.append(tuple(synonym_ranks) or (0,) * len(synonyms))

    def add_link(self, child: str, parent: str, line: Line = None) -> None:
        """Say that `child` is a `parent`."""
        self.links.append((child, parent, line))

    def _merge(
        self,
        position: int,
        identifier: str,
        label: str,
        synonyms: tuple[str, ...],
        gloss: str,
        line: Line,
    ) -> None:
        known = self.labels[position]
        if label and known and label != known:
            first = self.lines[position]
            since = f" ({spot(first)})" if first else ""
            raise DuplicateConceptError(
                f"{place(self.source, line)}: concept {identifier!r} is labeled {label!r} here "
                f"but {known!r} before{since}; give one id one label, or another id to one of them."
            )
        self.labels[position] = known or label
        self.glosses[position] = self.glosses[position] or gloss
        new = tuple(synonym for synonym in synonyms if synonym not in self.synonyms[position])
        self.synonyms[position] += new
        self.synonym_ranks[position] += (0,) * len(new)


@dataclass(frozen=True)
class Reader:
    """A format: what it is called, how it is recognized by path and first bytes, how it is read."""

    name: str
    can_read: Callable[[Path, bytes], bool]
    read: Callable[..., Draft]
