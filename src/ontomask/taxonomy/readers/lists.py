"""Lists: CSV with a header, and a row for each link, concept or code. Further columns are ignored.

Edge lists, `child,parent[,label]`, a row for each is-a link::

    child,parent,label
    disease,,Disease
    flu,disease,Influenza
    flu,infection,

* A concept with several parents has several rows; a row with an empty parent declares a root.
* When some row has an empty parent, the list is taken to be complete: a parent without a row of
  its own is an error. Otherwise a parent is declared by being named, as in a bare list of links.
* The label is the child's; it need be given in one of its rows only.

Concept lists, `id,label,parents`, a row for each concept::

    id,label,parents,synonyms
    disease,Disease,,illness|sickness
    flu,Influenza,infection|respiratory,

* `code` is accepted for `id` and `parent` for `parents`; the columns may stand in any order.
* Several parents are separated by `|` or `;`; no parent means a root.
* Optional columns: `synonyms` and `alt_labels` (separated by `|`), `short_label` (a synonym where
  it differs from the label), `gloss`.

Code lists, `code,label`, whose hierarchy is in the codes::

    code,label
    10,Manufacture of food products
    10.1,Processing of meat
    10.11,Processing and preserving of meat

Read with `by_prefix=[2, 3, 4]`, the lengths that codes may have, counted without dots. A code's
parent is its longest shorter prefix of one of these lengths that is in the list; a code without
any is at the top (assembly puts a virtual root above several of those).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from numbers import Integral
from pathlib import Path

from ontomask.errors import DuplicateConceptError, FormatError, ParameterError
from ontomask.taxonomy.draft import Draft, Reader, place
from ontomask.taxonomy.readers.separated import header_of, read_table, split_cell

__all__ = ["CODES", "CONCEPTS", "EDGES"]

EDGE_COLUMNS = {"child": ("child",), "parent": ("parent",), "label": ("label",)}
CONCEPT_COLUMNS = {
    "id": ("id", "code"),
    "parents": ("parents", "parent"),
    "label": ("label",),
    "synonyms": ("synonyms",),
    "alt_labels": ("alt_labels",),
    "short_label": ("short_label",),
    "gloss": ("gloss",),
}
SYNONYM_COLUMNS = ("synonyms", "alt_labels", "short_label")
CODE_COLUMNS = {"code": ("code", "id"), "label": ("label",)}


def read_edges(path: Path, *, separator: str | None = None) -> Draft:
    """Read an edge list."""
    rows = list(read_table(path, EDGE_COLUMNS, needed=("child", "parent"), separator=separator))
    draft = Draft(str(path), parents_declare=all(row["parent"] for _, row in rows))
    for line, row in rows:
        if not row["child"]:
            raise FormatError(
                f"{place(draft.source, line)}: the cell 'child' is empty beside the parent "
                f"{row['parent']!r}; write the child's id, or leave the parent empty in the "
                "root's own row."
            )
        draft.add_concept(row["child"], row.get("label", ""), line=line)
        if row["parent"]:
            draft.add_link(row["child"], row["parent"], line)
    return draft


def read_concepts(
    path: Path, *, separator: str | None = None, parents_declare: bool = False
) -> Draft:
    """Read a concept list.

    With `parents_declare`, a parent that has no row of its own is a concept without a label; by
    default it is an error.
    """
    rows = read_table(path, CONCEPT_COLUMNS, needed=("id", "parents"), separator=separator)
    draft = Draft(str(path), parents_declare=parents_declare)
    for line, row in rows:
        label = row.get("label", "")
        if not row["id"]:
            raise FormatError(
                f"{place(draft.source, line)}: the concept labeled {label!r} has no id; give every "
                "row an id."
            )
        names = [name for key in SYNONYM_COLUMNS for name in split_cell(row.get(key, ""), "|")]
        synonyms = dict.fromkeys(name for name in names if name != label)
        gloss = row.get("gloss", "")
        draft.add_concept(row["id"], label, synonyms=synonyms, gloss=gloss, line=line)
        for parent in split_cell(row["parents"], "|;"):
            draft.add_link(row["id"], parent, line)
    return draft


def read_codes(path: Path, *, by_prefix: Sequence[int], separator: str | None = None) -> Draft:
    """Read a code list; `by_prefix` are the lengths of codes, growing, counted without dots."""
    lengths = _checked_lengths(by_prefix)
    rows = read_table(path, CODE_COLUMNS, needed=("code",), separator=separator)
    draft = Draft(str(path))
    codes: dict[str, str] = {}
    for line, row in rows:
        _remember(codes, row["code"], lengths, place(draft.source, line))
        draft.add_concept(row["code"], row.get("label", ""), line=line)
    for line_of_code, (bare, code) in zip(draft.lines, codes.items(), strict=True):
        prefixes = (bare[:length] for length in reversed(lengths) if length < len(bare))
        parent = next((codes[prefix] for prefix in prefixes if prefix in codes), None)
        if parent is not None:
            draft.add_link(code, parent, line_of_code)
    return draft


def _checked_lengths(by_prefix: object) -> list[int]:
    lengths = list(by_prefix) if isinstance(by_prefix, Iterable) else []
    whole = all(isinstance(length, Integral) and int(length) > 0 for length in lengths)
    if not lengths or not whole or any(a >= b for a, b in itertools.pairwise(lengths)):
        raise ParameterError(
            "by_prefix must be a list of growing code lengths such as [2, 3, 4], "
            f"not {by_prefix!r}."
        )
    return [int(length) for length in lengths]


def _remember(codes: dict[str, str], code: str, lengths: list[int], where: str) -> None:
    bare = code.replace(".", "")
    if not bare:
        raise FormatError(f"{where}: the cell 'code' is empty; give every row a code.")
    if len(bare) not in lengths:
        raise FormatError(
            f"{where}: the code {code!r} has {len(bare)} characters without dots and by_prefix "
            f"allows {', '.join(map(str, lengths))}; add {len(bare)} to by_prefix or correct "
            "the code."
        )
    if codes.setdefault(bare, code) != code:
        raise DuplicateConceptError(
            f"{where}: the codes {codes[bare]!r} and {code!r} differ only by their dots; "
            "keep one spelling."
        )


def _has_edges(_path: Path, first_bytes: bytes) -> bool:
    return header_of(first_bytes) >= {"child", "parent"}


def _has_concepts(_path: Path, first_bytes: bytes) -> bool:
    names = header_of(first_bytes)
    return all(names & set(CONCEPT_COLUMNS[column]) for column in ("id", "parents"))


EDGES = Reader("edges", _has_edges, read_edges)
CONCEPTS = Reader("concepts", _has_concepts, read_concepts)
# Without `by_prefix` a list of codes has no hierarchy, so nobody may guess that a file is one.
CODES = Reader("codes", lambda _path, _first_bytes: False, read_codes)
