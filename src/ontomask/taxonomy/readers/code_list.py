"""Code lists whose hierarchy is in the codes: CSV with the header `code,label`, parent by prefix.

::

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
from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.readers.separated import read_table

__all__ = ["NAME", "can_read", "read"]

NAME = "codes"

COLUMNS = {"code": ("code", "id"), "label": ("label",)}


def can_read(path: Path, first_bytes: bytes) -> bool:  # noqa: ARG001 - every reader is asked alike
    """Return False: without `by_prefix` a list of codes has no hierarchy, so nobody may guess."""
    return False


def read(path: Path, *, by_prefix: Sequence[int], separator: str | None = None) -> Draft:
    """Read a code list.

    Parameters
    ----------
    path
        The file, plain or gzip.
    by_prefix
        The lengths that codes may have, in growing order, counted without dots.
    separator
        What separates the cells; found out among comma, semicolon, tab and bar when None.
    """
    lengths = _checked_lengths(by_prefix)
    table = read_table(path, COLUMNS, needed=("code",), separator=separator)
    draft = Draft(table.source)
    codes: dict[str, str] = {}
    for line, row in table.rows:
        _remember(codes, row["code"], lengths, f"{table.source}, line {line}")
        draft.add_concept(row["code"], row.get("label", ""), line=line)
    lines = zip(draft.lines, codes.items(), strict=True)
    for line_of_code, (bare, code) in lines:
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
