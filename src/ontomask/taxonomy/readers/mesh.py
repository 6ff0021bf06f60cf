"""MeSH descriptor XML (`desc2024.xml`, also gzipped), the yearly release of the thesaurus.

A descriptor stands at one or more places of the tree, each named by a tree number; its parents are
the descriptors one place up (C04.588.033 hangs below C04.588). Where an excerpt leaves out the
place above, the nearest place above that is there takes its role. The first places of a branch
(C04) hang below their category (C, Diseases). Descriptors without any tree number, such as the
check tags Male and Female, have no parent.

Descriptors repeat at several places, so that one can come out as its own parent or, in some
releases, as its own ancestor (HHS/meshrdf issue 194). Links are taken from the shortest tree number
to the longest, then in alphabetical order, and one that would close a circle is left out.

The file is streamed: only what a taxonomy needs is kept.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree.ElementTree import Element

from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Draft, Reader
from ontomask.taxonomy.readers.sources import stream_file
from ontomask.taxonomy.readers.xml_safety import stream_records

__all__ = ["READER"]

ROOT, RECORD = "DescriptorRecordSet", "DescriptorRecord"
SCOPE_NOTE = "ConceptList/Concept[@PreferredConceptYN='Y']/ScopeNote"
"""The note of the concept that names the descriptor."""

CATEGORIES = {
    "A": "Anatomy",
    "B": "Organisms",
    "C": "Diseases",
    "D": "Chemicals and Drugs",
    "E": "Analytical, Diagnostic and Therapeutic Techniques, and Equipment",
    "F": "Psychiatry and Psychology",
    "G": "Phenomena and Processes",
    "H": "Disciplines and Occupations",
    "I": "Anthropology, Education, Sociology, and Social Phenomena",
    "J": "Technology, Industry, and Agriculture",
    "K": "Humanities",
    "L": "Information Science",
    "M": "Named Groups",
    "N": "Health Care",
    "V": "Publication Characteristics",
    "Z": "Geographicals",
}

_TREE_NUMBER = re.compile(r"[A-Z]\d+(\.\d+)*")


def can_read(path: Path, first_bytes: bytes) -> bool:  # noqa: ARG001
    """Recognize the root element of a descriptor file."""
    return b"<DescriptorRecordSet" in first_bytes or b"<!DOCTYPE DescriptorRecordSet" in first_bytes


def read(path: Path) -> Draft:
    """Read a descriptor file; ids are the descriptors' unique identifiers (D009369)."""
    draft = Draft(str(path))
    year = re.search(r"desc((?:19|20)\d\d)", path.name)
    draft.version = year[1] if year else ""
    places: dict[str, str] = {}
    with stream_file(path) as stream:
        for record in stream_records(stream, ROOT, [RECORD], path):
            _add_descriptor(draft, record, places)
    _add_links(draft, places)
    return draft


def _add_descriptor(draft: Draft, record: Element, places: dict[str, str]) -> None:
    identifier = _text(record, "DescriptorUI")
    label = _text(record, "DescriptorName/String")
    if not identifier or not label:
        raise FormatError(
            f"{draft.source}: descriptor {identifier or label or '(no name)'!r}, number "
            f"{len(draft) + 1} in the file, lacks its DescriptorUI or DescriptorName; every "
            "descriptor needs both, fetch the file again from its publisher."
        )
    terms = (_text(term, "String") for term in record.iterfind("ConceptList/Concept/TermList/Term"))
    synonyms = dict.fromkeys(term for term in terms if term and term != label)
    draft.add_concept(identifier, label, synonyms=synonyms, gloss=_text(record, SCOPE_NOTE))
    for element in record.iterfind("TreeNumberList/TreeNumber"):
        _add_place(draft, identifier, (element.text or "").strip(), places)


def _add_place(draft: Draft, identifier: str, number: str, places: dict[str, str]) -> None:
    if not _TREE_NUMBER.fullmatch(number):
        raise FormatError(
            f"{draft.source}: descriptor {identifier!r} has the tree number {number!r}; a tree "
            "number is a capital letter and digits, with dots between, such as 'C04.588.033'."
        )
    holder = places.setdefault(number, identifier)
    if holder != identifier:
        raise FormatError(
            f"{draft.source}: the descriptors {holder!r} and {identifier!r} both have the tree "
            f"number {number!r}; a place in the tree belongs to one descriptor."
        )


def _text(element: Element, path: str) -> str:
    return (element.findtext(path) or "").strip()


def _add_links(draft: Draft, places: dict[str, str]) -> None:
    parents: dict[str, list[str]] = {}
    for number in sorted(places, key=lambda number: (number.count("."), number)):
        child, parent = places[number], _place_above(number, places)
        if len(parent) == 1:
            draft.add_concept(parent, CATEGORIES.get(parent, ""))
        known = parents.setdefault(child, [])
        if parent not in known and not _reaches(parent, child, parents):
            known.append(parent)
            draft.add_link(child, parent)


def _place_above(number: str, places: dict[str, str]) -> str:
    """Return the descriptor at the nearest place above, or else the category letter."""
    above = number
    while "." in above:
        above = above.rpartition(".")[0]
        if above in places:
            return places[above]
    return number[0]


def _reaches(start: str, goal: str, parents: dict[str, list[str]]) -> bool:
    """Tell whether `goal` is `start` or one of its ancestors so far."""
    waiting, seen = [start], {start}
    while waiting:
        concept = waiting.pop()
        if concept == goal:
            return True
        fresh = [parent for parent in parents.get(concept, ()) if parent not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return False


READER = Reader("mesh", can_read, read)
