"""A part of a taxonomy as a tree to look at, with how often its concepts occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from ontomask.brevity import Brief, abridged

if TYPE_CHECKING:
    from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["Tree", "tree_of"]

WIDEST = 12
"""How many children of a concept are shown."""


@dataclass(frozen=True)
class Tree(Brief):
    """A concept with what is below it; in a notebook its branches open and close.

    Attributes
    ----------
    concept, label
        The concept's id and label.
    count
        How many of the given values it or a concept below it is; None where none were given.
    children
        What is shown below it, the most frequent first.
    hidden
        How many further children there are.
    """

    concept: str
    label: str
    count: int | None
    children: tuple[Tree, ...] = ()
    hidden: int = 0

    def __str__(self) -> str:
        return abridged(list(self._lines("", "")), "taxonomy.tree(concept) shows a part")

    def _repr_html_(self) -> str:
        return f'<div style="line-height:1.5">{self._html(open_=True)}</div>'

    @property
    def said(self) -> str:
        """The concept in words, with its count."""
        name = self.label if self.label == self.concept else f"{self.label} [{self.concept}]"
        return name if self.count is None else f"{name}  {self.count:,}"

    def _lines(self, first: str, rest: str) -> Iterator[str]:
        yield first + self.said
        last = len(self.children) - (not self.hidden)
        for place, child in enumerate(self.children):
            ends = place == last
            yield from child._lines(
                rest + ("└─ " if ends else "├─ "), rest + ("   " if ends else "│  ")
            )
        if self.hidden:
            yield f"{rest}└─ and {self.hidden:,} more"

    def _html(self, open_: bool = False) -> str:
        said = escape(self.said)
        if not self.children:
            return f'<div style="padding-left:1.1em">{said}</div>'
        more = f'<div style="padding-left:1.1em">and {self.hidden:,} more</div>'
        inside = "".join(child._html() for child in self.children) + (more if self.hidden else "")
        state = " open" if open_ else ""
        return (
            f"<details{state}><summary>{said}</summary>"
            f'<div style="padding-left:1.1em">{inside}</div></details>'
        )


def tree_of(
    taxonomy: Taxonomy, root: str, depth: int, values: Sequence[object] | None = None
) -> Tree:
    """The tree below a concept; see `Taxonomy.tree`."""
    totals = None if values is None else _totals(taxonomy, values)

    def grown(concept: str, left: int) -> Tree:
        below = taxonomy.children(concept)
        if totals is not None:
            below = tuple(sorted((one for one in below if totals[one]), key=lambda c: -totals[c]))
        shown = below[:WIDEST] if left else ()
        return Tree(
            concept,
            taxonomy.label_of(concept),
            None if totals is None else totals[concept],
            tuple(grown(one, left - 1) for one in shown),
            len(below) - len(shown) if left else 0,
        )

    return grown(root, depth)


def _totals(taxonomy: Taxonomy, values: Sequence[object]) -> Counter[str]:
    """How often each concept occurs, itself or below; with several parents it counts once above."""
    mapping = taxonomy.map(values)
    totals: Counter[str] = Counter()
    for concept, count in zip(mapping.ids, mapping.counts.tolist(), strict=True):
        for above in taxonomy.ancestors(concept) if concept is not None else ():
            totals[above] += count
    return totals
