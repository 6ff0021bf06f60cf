"""LOINC's component hierarchy by system (`ComponentHierarchyBySystem.csv` of a LOINC release).

A row is a place in the tree: a code (of a part, LP7787-7, or of a term, 2345-7), its text and the
code right above it. A term stands at several places if several parts classify it. The release of
former years, `MultiAxialHierarchy.csv`, has the same columns.
"""

from __future__ import annotations

from pathlib import Path

from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Draft, Reader, place
from ontomask.taxonomy.readers.separated import header_of, read_table

__all__ = ["READER"]

COLUMNS = {"parent": ("immediate_parent",), "code": ("code",), "text": ("code_text",)}


def can_read(path: Path, first_bytes: bytes) -> bool:  # noqa: ARG001
    """Recognize the header."""
    return header_of(first_bytes) >= {"path_to_root", "immediate_parent", "code", "code_text"}


def read(path: Path) -> Draft:
    """Read a component hierarchy."""
    draft = Draft(str(path))
    for line, row in read_table(path, COLUMNS, needed=tuple(COLUMNS), separator=","):
        if not row["code"]:
            raise FormatError(
                f"{place(draft.source, line)}: the cell CODE is empty; use the file as it was "
                "published."
            )
        draft.add_concept(row["code"], row["text"], line=line)
        if row["parent"]:
            draft.add_link(row["code"], row["parent"], line)
    return draft


READER = Reader("loinc", can_read, read)
