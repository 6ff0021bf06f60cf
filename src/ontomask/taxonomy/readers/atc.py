"""ATC lists: a table of codes and names, whose hierarchy is in the codes.

A code has 1, 3, 4, 5 or 7 characters (A, A10, A10B, A10BA, A10BA02), one more and a Q before it in
the veterinary ATCvet. Its parent is the longest shorter code in the list; where the list leaves a
level out, the next one above takes its role. The columns may be called as in the index of the WHO
(`ATC code`, `ATC level name`), in its database files (`ATCCode`, `Name`), or as tables made from
these call them (`atc_code`, `atc_name`); others, such as daily doses, are passed over, and so are
the further rows of a substance that has several.
"""

from __future__ import annotations

import re
from pathlib import Path

from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Draft, Reader, place
from ontomask.taxonomy.readers.separated import header_of, read_table

__all__ = ["READER"]

COLUMNS = {
    "code": ("atc code", "atc_code", "atccode", "atc-code", "atc"),
    "name": (
        "atc level name",
        "atc_name",
        "atcname",
        "atc name",
        "name",
        "level name",
        "bedeutung",
    ),
}
CODE = re.compile(r"(?P<animal>Q?)[A-Z](?:\d\d(?:[A-Z](?:[A-Z](?:\d\d)?)?)?)?")
LENGTHS = (1, 3, 4, 5, 7)


def can_read(path: Path, first_bytes: bytes) -> bool:  # noqa: ARG001
    """Recognize a header with a column of codes and one of names."""
    names = header_of(first_bytes)
    return all(names & set(spellings) for spellings in COLUMNS.values())


def read(path: Path, *, separator: str | None = None) -> Draft:
    """Read a list."""
    draft = Draft(str(path))
    for line, row in read_table(path, COLUMNS, needed=tuple(COLUMNS), separator=separator):
        code = row["code"].upper()
        if not CODE.fullmatch(code):
            raise FormatError(
                f"{place(draft.source, line)}: {row['code']!r} is no ATC code; a code has 1, 3, 4, "
                "5 or 7 characters, such as A10BA02 (correct it or remove the row)."
            )
        draft.add_concept(code, row["name"], line=line)
    for code, place_of_code in draft.positions.items():
        parent = _above(code, draft)
        if parent is not None:
            draft.add_link(code, parent, draft.lines[place_of_code])
    return draft


def _above(code: str, draft: Draft) -> str | None:
    """The longest shorter code of a level that is in the list."""
    lead = 1 if code[0] == "Q" else 0
    shorter = [code[: length + lead] for length in reversed(LENGTHS) if length + lead < len(code)]
    return next((one for one in shorter if one in draft.positions), None)


READER = Reader("atc", can_read, read)
