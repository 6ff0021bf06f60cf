"""What all that is built from values has in common: values, each once, and rows of their levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ontomask.errors import ParameterError
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.hierarchies import ROOT, Hierarchy
from ontomask.taxonomy.levels import Row, add_rows
from ontomask.taxonomy.mapping import is_missing
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = ["different_values", "hierarchy_of", "taxonomy_of"]

Names = dict[str, str]
"""What each value is called in the taxonomy, by how it is written in the column."""


def different_values(values: Iterable[object]) -> dict[str, object]:
    """Return the values that are not missing, each once, by how they are written."""
    if isinstance(values, str):
        raise ParameterError(f"values must be a sequence of values, not the text {values!r}.")
    texts = {str(value): value for value in dict.fromkeys(values)}
    return {text.strip(): value for text, value in texts.items() if not is_missing(value, text)}


def hierarchy_of(
    rows: Iterable[Sequence[str]], source: str, named: Iterable[str] = ()
) -> Hierarchy:
    """A hierarchy of rows below the root, with what its levels are in words."""
    return Hierarchy.from_rows([[*row, ROOT] for row in rows], source, named)


def taxonomy_of(rows: Iterable[Sequence[str]], source: str, name: str, names: Names) -> Taxonomy:
    """A taxonomy of rows, with what values are called in it."""
    draft = Draft(source)
    add_rows(draft, (Row(None, row) for row in rows))
    for written, called in names.items():
        draft.add_concept(called, synonyms=[written] if written != called else ())
    return assemble(draft, name=name)
