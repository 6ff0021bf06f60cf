"""Edge lists: CSV with the header `child,parent[,label]`, one row per is-a link.

::

    child,parent,label
    disease,,Disease
    flu,disease,Influenza
    flu,infection,

* A concept with several parents has several rows; a row with an empty parent declares a root.
* When some row has an empty parent, the list is taken to be complete: a parent without a row of
  its own is an error. Otherwise a parent is declared by being named, as in a bare list of links.
* The label is the child's; it need be given in one of its rows only. Further columns are ignored.
"""

from __future__ import annotations

from pathlib import Path

from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.readers.separated import header_of, read_table

__all__ = ["NAME", "can_read", "read"]

NAME = "edges"

COLUMNS = {"child": ("child",), "parent": ("parent",), "label": ("label",)}


def can_read(path: Path, first_bytes: bytes) -> bool:  # noqa: ARG001 - every reader is asked alike
    """Tell whether the file begins with a header that names `child` and `parent`."""
    return {"child", "parent"} <= set(header_of(first_bytes))


def read(path: Path, *, separator: str | None = None) -> Draft:
    """Read an edge list.

    Parameters
    ----------
    path
        The file, plain or gzip.
    separator
        What separates the cells; found out among comma, semicolon, tab and bar when None.
    """
    table = read_table(path, COLUMNS, needed=("child", "parent"), separator=separator)
    has_root_row = any(not row["parent"] for _, row in table.rows)
    draft = Draft(table.source, parents_declare=not has_root_row)
    for line, row in table.rows:
        if not row["child"]:
            raise FormatError(
                f"{table.source}, line {line}: the cell 'child' is empty beside the parent "
                f"{row['parent']!r}; write the child's id, or leave the parent empty in the "
                "root's own row."
            )
        draft.add_concept(row["child"], row.get("label", ""), line=line)
        if row["parent"]:
            draft.add_link(row["child"], row["parent"], line)
    return draft
