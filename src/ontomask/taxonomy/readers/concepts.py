"""Concept lists: CSV with the header `id,label,parents`, one row per concept.

::

    id,label,parents,synonyms
    disease,Disease,,illness|sickness
    flu,Influenza,infection|respiratory,

* `code` is accepted for `id` and `parent` for `parents`; the columns may stand in any order.
* Several parents are separated by `|` or `;`; no parent means a root.
* Optional columns: `synonyms` and `alt_labels` (separated by `|`), `short_label` (a synonym where
  it differs from the label), `gloss`. Any further column (level, billable, ...) is ignored.
"""

from __future__ import annotations

from pathlib import Path

from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.readers.separated import header_of, read_table, split_cell

__all__ = ["NAME", "can_read", "read"]

NAME = "concepts"

COLUMNS = {
    "id": ("id", "code"),
    "parents": ("parents", "parent"),
    "label": ("label",),
    "synonyms": ("synonyms",),
    "alt_labels": ("alt_labels",),
    "short_label": ("short_label",),
    "gloss": ("gloss",),
}
SYNONYM_COLUMNS = ("synonyms", "alt_labels", "short_label")


def can_read(path: Path, first_bytes: bytes) -> bool:  # noqa: ARG001 - every reader is asked alike
    """Tell whether the file begins with a header that names an id and its parents."""
    names = set(header_of(first_bytes))
    return bool(names & set(COLUMNS["id"])) and bool(names & set(COLUMNS["parents"]))


def read(path: Path, *, separator: str | None = None, parents_declare: bool = False) -> Draft:
    """Read a concept list.

    Parameters
    ----------
    path
        The file, plain or gzip.
    separator
        What separates the cells; found out among comma, semicolon, tab and bar when None.
    parents_declare
        True takes a parent that has no row of its own for a concept without a label; by
        default it is an error.
    """
    table = read_table(path, COLUMNS, needed=("id", "parents"), separator=separator)
    draft = Draft(table.source, parents_declare=parents_declare)
    for line, row in table.rows:
        _add(draft, line, row)
    return draft


def _add(draft: Draft, line: int, row: dict[str, str]) -> None:
    identifier, label = row["id"], row.get("label", "")
    if not identifier:
        raise FormatError(
            f"{draft.source}, line {line}: the concept labeled {label!r} has no id; "
            "give every row an id."
        )
    synonyms = [name for column in SYNONYM_COLUMNS for name in split_cell(row.get(column, ""), "|")]
    draft.add_concept(
        identifier,
        label,
        synonyms=dict.fromkeys(synonym for synonym in synonyms if synonym != label),
        gloss=row.get("gloss", ""),
        line=line,
    )
    for parent in split_cell(row["parents"], "|;"):
        draft.add_link(identifier, parent, line)
