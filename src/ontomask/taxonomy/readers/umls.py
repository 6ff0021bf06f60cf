"""A vocabulary of the UMLS Metathesaurus in Rich Release Format: a folder or zip of `.RRF` files.

What is read, at any depth:

* ``MRHIER.RRF``: the places of atoms in the hierarchy of their vocabulary (`SAB`), each with the
  atom right above it (`PAUI`). Atoms of other vocabularies there, such as the name of the
  vocabulary itself at the top, are no concepts;
* ``MRREL.RRF``, in subsets without the former: the pairs of atoms of which one is the parent of the
  other. `REL` is what the *second* is to the first (UMLS Reference Manual, NBK9685, "Related
  Concepts"; NLM: rows "are read from right to left"): the parent (`PAR`) or a child (`CHD`);
* ``MRCONSO.RRF``: the atoms, each with the code that it has in its vocabulary and its text. The
  label of a code is the text of its atom in the hierarchy; the other texts are synonyms, obsolete
  ones excepted.

Ids are the codes of the vocabulary or, with `ids="cui"`, the concepts of the Metathesaurus, which
unite codes that mean the same; of those a hierarchy may run in a circle, which is an error.

Files are UTF-8 without header and quoting; a bar ends every cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ontomask.checks import AnyOf, Choice, Null, Text, checked
from ontomask.errors import FormatError, ParameterError
from ontomask.taxonomy.draft import Draft, Reader
from ontomask.taxonomy.readers.sources import (
    Inside,
    base_name,
    check_encoding,
    files_inside,
    names_inside,
)

__all__ = ["READER"]

WIDTHS = {"MRHIER.RRF": 9, "MRREL.RRF": 16, "MRCONSO.RRF": 18}
HIER_AUI, PAUI, HIER_SAB = 1, 3, 4
AUI1, REL, AUI2, REL_SAB, REL_SUPPRESS = 1, 3, 5, 10, 14
CUI, AUI, SAB, CODE, STR, SUPPRESS = 0, 7, 11, 13, 14, 16
OBSOLETE, NAMING, PARENT, CHILD = b"O", b"N", b"PAR", b"CHD"
SHOWN = 12


@dataclass
class Names:
    """The texts of a concept, those of atoms in the hierarchy first."""

    placed: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Recognize a folder or zip that holds the atoms."""
    return any(_kind(name) == "MRCONSO.RRF" for name in names_inside(path, first_bytes))


@checked(vocabulary=AnyOf(Text(), Null()), ids=Choice("code", "cui"))
def read(path: Path, *, vocabulary: str | None = None, ids: str = "code") -> Draft:
    """Read a vocabulary such as "ICD10CM" or "MSH"; a single one need not be named."""
    with files_inside(path) as inside:
        files = {_kind(name): (name, opener) for name, opener in inside}
        hierarchy = files.get("MRHIER.RRF") or files.get("MRREL.RRF")
        if hierarchy is None or "MRCONSO.RRF" not in files:
            missing = "MRCONSO.RRF" if hierarchy else "MRHIER.RRF and no MRREL.RRF"
            raise FormatError(
                f"{path} holds no {missing}; give the folder META of a release of the UMLS, or the "
                "subset that MetamorphoSys wrote."
            )
        chosen = _chosen(hierarchy, vocabulary, path)
        above = _above(hierarchy, chosen)
        draft = Draft(str(path))
        owners = _add_concepts(
            draft, files["MRCONSO.RRF"], chosen, above, CUI if ids == "cui" else CODE
        )
    _add_links(draft, above, owners)
    return draft


def _kind(name: str) -> str:
    return base_name(name).upper().removesuffix(".GZ")


def _chosen(file: Inside, vocabulary: str | None, path: Path) -> bytes:
    known = sorted({one for one, _, _ in _places(file)})
    wanted = known[0] if vocabulary is None and len(known) == 1 else (vocabulary or "").encode()
    if wanted not in known:
        listed = ", ".join(one.decode() for one in known[:SHOWN]) or "none"
        more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
        what = "no hierarchy of" if vocabulary else "several hierarchies; choose by"
        raise ParameterError(
            f"{path} holds {what} vocabulary={vocabulary or '…'!r}; there are {listed}{more}."
        )
    return wanted


def _above(file: Inside, vocabulary: bytes) -> dict[bytes, dict[bytes, None]]:
    """The atoms right above each atom in the hierarchy, each once."""
    above: dict[bytes, dict[bytes, None]] = {}
    for own, atom, parent in _places(file):
        if own == vocabulary:
            above.setdefault(atom, {})[parent] = None
            above.setdefault(parent, {})
    return above


def _places(file: Inside) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield vocabulary, atom and the atom right above, of either file that tells them."""
    if _kind(file[0]) == "MRHIER.RRF":
        yield from ((row[HIER_SAB], row[HIER_AUI], row[PAUI]) for row in _rows(file))
        return
    for row in _rows(file):
        if row[REL_SUPPRESS] != OBSOLETE and row[AUI1] and row[AUI2]:
            if row[REL] == PARENT:
                yield row[REL_SAB], row[AUI1], row[AUI2]
            elif row[REL] == CHILD:
                yield row[REL_SAB], row[AUI2], row[AUI1]


def _add_concepts(
    draft: Draft, file: Inside, vocabulary: bytes, placed: dict[bytes, dict[bytes, None]], key: int
) -> dict[bytes, str]:
    """Add the concepts that have a place, and return whose each atom is."""
    owners: dict[bytes, str] = {}
    names: dict[str, Names] = {}
    for row in _rows(file):
        if row[SAB] == vocabulary and row[SUPPRESS] != OBSOLETE:
            owner = row[key].decode()
            found = names.setdefault(owner, Names())
            if row[AUI] in placed:
                owners[row[AUI]] = owner
                found.placed.append(row[STR].decode().strip())
            elif row[SUPPRESS] == NAMING:
                found.others.append(row[STR].decode().strip())
    for owner, found in names.items():
        if found.placed:
            label, *synonyms = dict.fromkeys([*found.placed, *found.others])
            draft.add_concept(owner, label, synonyms=synonyms)
    return owners


def _add_links(
    draft: Draft, above: dict[bytes, dict[bytes, None]], owners: dict[bytes, str]
) -> None:
    for atom, parents in above.items():
        child = owners.get(atom)
        for parent in (owners.get(one) for one in parents):
            if child is not None and parent is not None and parent != child:
                draft.add_link(child, parent)


def _rows(file: Inside) -> Iterator[list[bytes]]:
    """Yield the rows, each checked for its number of cells and its encoding."""
    name, opener = file
    width = WIDTHS[_kind(name)] + 1  # behind the last bar is nothing
    with opener() as stream:
        for number, line in enumerate(stream, start=1):
            row = line.rstrip(b"\r\n").split(b"|")
            if len(row) != width:
                raise FormatError(
                    f"{name}, line {number}: the row has {len(row) - 1} cells instead of "
                    f"{width - 1}; the file may be cut short or edited, fetch the release again."
                )
            if not line.isascii():
                check_encoding(line, number, name)
            yield row


READER = Reader("umls", can_read, read)
