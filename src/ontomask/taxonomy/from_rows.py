"""What all that is built from values has in common: values, each once, and rows of their levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ontomask.arrays import Ints
from ontomask.errors import ParameterError
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.hierarchies import ROOT, Generalized, Hierarchy
from ontomask.taxonomy.levels import Row, add_rows
from ontomask.taxonomy.mapping import is_missing
from ontomask.taxonomy.taxonomy import Taxonomy

__all__ = [
    "cells_of",
    "different_values",
    "hierarchy_of",
    "hierarchy_of_columns",
    "places_of",
    "taxonomy_of",
]

Names = dict[str, str]
"""What each value is called in the taxonomy, by how it is written in the column."""


def different_values(values: Iterable[object]) -> dict[str, object]:
    """Return the values that are not missing, each once, by how they are written."""
    if isinstance(values, str):
        raise ParameterError(f"values must be a sequence of values, not the text {values!r}.")
    texts = {str(value): value for value in dict.fromkeys(values)}
    return {text.strip(): value for text, value in texts.items() if not is_missing(value, text)}


def hierarchy_of_columns(
    values: Iterable[str], above: Iterable[Generalized], source: str, named: Iterable[str] = ()
) -> Hierarchy:
    """A hierarchy of different values and their levels below the root."""
    texts = tuple(values)
    top: Generalized = (np.zeros(len(texts), np.int32), (ROOT,))
    return Hierarchy.from_columns(texts, [*above, top], source, named)


def cells_of(level: Generalized) -> list[str]:
    """What each value becomes at a level."""
    places, labels = level
    return [labels[place] for place in places.tolist()]


def places_of(texts: Iterable[str]) -> tuple[Ints, Sequence[str]]:
    """Texts as a level: the place of each among the different ones."""
    known: dict[str, int] = {}
    places = [known.setdefault(text, len(known)) for text in texts]
    return np.array(places, np.int32), tuple(known)


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
