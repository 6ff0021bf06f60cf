"""ICD-11 tabulations of the WHO (`SimpleTabulation-ICD-11-MMS-en.txt`): a table separated by tabs.

A row is a chapter, a block or a category; the dashes before its title say how deep it stands ("- -
- Cholera"), and it hangs below the last row before it that stands less deep. Ids are the codes of
categories, the ids of blocks and `Chapter 01`; the last part of the address where there is none.
Tables in other languages hold the English title as well, which becomes a synonym. An entity that is
tabulated at several places has all of them above it.
"""

from __future__ import annotations

import re
from pathlib import Path

from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Draft, Reader, place
from ontomask.taxonomy.readers.separated import header_of, read_table

__all__ = ["READER"]

COLUMNS = {
    "uri": ("linearization uri", "linearization (release) uri"),
    "code": ("code",),
    "block": ("blockid",),
    "title": ("title",),
    "english": ("titleen",),
    "kind": ("classkind",),
    "chapter": ("chapterno",),
}
NEEDED = ("code", "title", "kind")
DASHES = re.compile(r"(?:-\s+)*")


def can_read(path: Path, first_bytes: bytes) -> bool:  # noqa: ARG001
    """Recognize the header."""
    return header_of(first_bytes) >= {"title", "classkind", "blockid", "chapterno"}


def read(path: Path) -> Draft:
    """Read a tabulation."""
    draft = Draft(str(path))
    above: list[tuple[int, str]] = []
    for line, row in read_table(path, COLUMNS, needed=NEEDED, separator="\t", short_rows=True):
        depth = DASHES.match(row["title"])[0].count("-")  # type: ignore[index]  # it always matches
        title = DASHES.sub("", row["title"], count=1).strip()
        identifier = _identifier(draft, row, line)
        english = row.get("english", "")
        synonyms = [DASHES.sub("", english, count=1).strip()] if english else []
        draft.add_concept(identifier, title, synonyms=synonyms, line=line)
        while above and above[-1][0] >= depth:
            above.pop()
        if above:
            draft.add_link(identifier, above[-1][1], line)
        elif depth:
            raise FormatError(
                f"{place(draft.source, line)}: {identifier!r} stands {depth} deep and nothing "
                "stands above it; use the table as it was published, with all of its rows."
            )
        above.append((depth, identifier))
    return draft


def _identifier(draft: Draft, row: dict[str, str], line: int) -> str:
    if row["kind"].lower() == "chapter" and row.get("chapter"):
        return f"Chapter {row['chapter']}"
    found = row["code"] or row.get("block") or row.get("uri", "").rstrip("/").rpartition("/")[2]
    if not found:
        raise FormatError(
            f"{place(draft.source, line)}: the row has neither a code nor a block's id nor an "
            "address; use the table as it was published."
        )
    return found


READER = Reader("icd11", can_read, read)
