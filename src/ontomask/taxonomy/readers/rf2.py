"""SNOMED CT in Release Format 2: the Snapshot files of a release folder or of the release zip.

What is read, at any depth, with or without the `x` of a beta release:

* ``sct2_Concept_Snapshot_*.txt``: the active concepts;
* ``sct2_Relationship_Snapshot_*.txt``: the active inferred is-a links (type 116680003) between
  active concepts (neither the stated relationships nor the concrete values);
* ``sct2_Description_Snapshot-<language>_*.txt``: active fully specified names and synonyms;
* ``sct2_TextDefinition_Snapshot-<language>_*.txt``, where there is one: definitions, as glosses.

The label of a concept is its fully specified name ("Myocardial infarction (disorder)"), because it
is the one term that no other concept shares; all other terms are synonyms. A concept without any
term in the chosen language takes its English ones, so that a partly translated edition loads whole.

An extension brings its own files beside the international ones. They are united, and where several
files hold the same component, the row with the latest effectiveTime is the valid one.

Files are UTF-8, separated by tabs, without any quoting: a term may hold a double quote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ontomask.checks import Text, checked
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

IS_A = b"116680003"
FULLY_SPECIFIED_NAME = b"900000000000003001"
SYNONYM = b"900000000000013009"
DEFINITION = b"900000000000550004"
ACTIVE = b"1"

COMPONENT = "id effectiveTime active moduleId"
DESCRIPTION = f"{COMPONENT} conceptId languageCode typeId term caseSignificanceId"
COLUMNS = {
    "Concept": f"{COMPONENT} definitionStatusId".split(),
    "Description": DESCRIPTION.split(),
    "TextDefinition": DESCRIPTION.split(),
    "Relationship": (
        f"{COMPONENT} sourceId destinationId relationshipGroup typeId characteristicTypeId "
        "modifierId"
    ).split(),
}
NEEDED = ("Concept", "Description", "Relationship")
FALLBACK_LANGUAGE = "en"

# The UK and other editions write their own name before "Snapshot".
_FILE_NAME = re.compile(
    r"x?sct2_(?P<kind>Concept|Description|TextDefinition|Relationship)_[A-Za-z]*Snapshot"
    r"(?:-(?P<language>[A-Za-z\-]+))?_[^/]*?(?P<date>\d{8})?\.txt"
)

Row = list[bytes]
Opener = Callable[[], AbstractContextManager[IO[bytes]]]


@dataclass(frozen=True)
class ReleaseFile:
    """One file of a release: what it holds and how to open it."""

    name: str
    kind: str
    language: str
    date: str
    open: Opener


@dataclass(slots=True)
class Terms:
    """The terms of one concept in one language."""

    names: list[str] = field(default_factory=list)
    synonyms: list[str] = field(default_factory=list)
    definition: str = ""


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Recognize a folder or zip that holds a Snapshot concept file."""
    return any(map(_holds_concepts, names_inside(path, first_bytes)))


@checked(language=Text())
def read(path: Path, *, language: str = "en") -> Draft:
    """Read a release folder or zip; `language` is a code such as "en", "es" or "nl"."""
    with files_inside(path) as inside:
        files = _recognized(inside)
        _check_complete(files, path)
        draft = Draft(str(path))
        draft.version = max(file.date for file in files)
        active = _active_concepts(files)
        chosen = language.lower().partition("-")[0]
        own = _terms(files, chosen, active)
        if active and not own:
            raise _unknown_language(language, files, path)
        english = own if chosen == FALLBACK_LANGUAGE else _terms(files, FALLBACK_LANGUAGE, active)
        for identifier, name in active.items():
            _add_concept(draft, name, own.get(identifier) or english.get(identifier) or Terms())
        _add_links(draft, files, active)
    return draft


def _add_concept(draft: Draft, identifier: str, terms: Terms) -> None:
    """Add a concept with its terms; without a fully specified name, a synonym is the label."""
    label, *others = dict.fromkeys(terms.names + terms.synonyms) or [""]
    draft.add_concept(identifier, label, synonyms=others, gloss=terms.definition)


def _active_concepts(files: list[ReleaseFile]) -> dict[bytes, str]:
    """Return the active concepts, as written in the files and as text."""
    rows = _valid_rows(files, "Concept")
    return {row[0]: row[0].decode() for row in rows if row[2] == ACTIVE}


def _terms(files: list[ReleaseFile], language: str, active: dict[bytes, str]) -> dict[bytes, Terms]:
    """Return the active terms of active concepts in one language, each list in file order."""
    code = language.encode()
    terms: dict[bytes, Terms] = {}
    for kind in ("Description", "TextDefinition"):
        for row in _valid_rows(files, kind, language):
            concept = row[4]
            if row[2] != ACTIVE or concept not in active or row[5].lower() != code:
                continue
            found = terms.get(concept)
            if found is None:
                found = terms[concept] = Terms()
            _keep_term(found, row[6], row[7].decode())
    return terms


def _keep_term(terms: Terms, kind: bytes, text: str) -> None:
    if kind == SYNONYM:
        terms.synonyms.append(text)
    elif kind == FULLY_SPECIFIED_NAME:
        terms.names.append(text)
    elif kind == DEFINITION:
        terms.definition = terms.definition or text


def _add_links(draft: Draft, files: list[ReleaseFile], active: dict[bytes, str]) -> None:
    """Link active concepts, each pair once (an extension may repeat a link under its own id)."""
    links: dict[tuple[bytes, bytes], None] = {}
    for row in _valid_rows(files, "Relationship"):
        if row[7] == IS_A and row[2] == ACTIVE and row[4] in active and row[5] in active:
            links[row[4], row[5]] = None
    for child, parent in links:
        draft.add_link(active[child], active[parent])


def _valid_rows(files: list[ReleaseFile], kind: str, language: str = "") -> Iterator[Row]:
    """Yield the rows of all files of a kind; of rows with the same id, only the latest."""
    chosen = [file for file in files if file.kind == kind and _in_language(file, language)]
    several = len(chosen) > 1
    latest = _latest_times(chosen) if several else {}
    for file in chosen:
        for row in _rows(file):
            if several:
                if latest.get(row[0]) != row[1]:
                    continue
                del latest[row[0]]
            yield row


def _latest_times(files: list[ReleaseFile]) -> dict[bytes, bytes]:
    """Return the latest effectiveTime (YYYYMMDD) of every component."""
    latest: dict[bytes, bytes] = {}
    times: dict[bytes, bytes] = {}  # a few hundred dates, kept once instead of once per component
    for file in files:
        for identifier, time, *_ in _rows(file):
            if time > latest.get(identifier, b""):
                latest[identifier] = times.setdefault(time, time)
    return latest


def _rows(file: ReleaseFile) -> Iterator[Row]:
    """Yield the rows below the header, each checked for its number of columns and its encoding.

    The line's end stays on the last column, which nobody needs.
    """
    columns = COLUMNS[file.kind]
    width = len(columns)
    with file.open() as stream:
        _check_header(stream.readline(), columns, file)
        for number, line in enumerate(stream, start=2):
            row = line.split(b"\t")
            if len(row) == width:
                if not line.isascii():
                    check_encoding(line, number, file.name)
                yield row
            elif line.strip():
                raise _wrong_width(len(row), number, columns, file)


def _check_header(line: bytes, columns: list[str], file: ReleaseFile) -> None:
    found = line.decode("utf-8-sig", "replace").rstrip("\r\n").split("\t")
    if found != columns:
        raise FormatError(
            f"{file.name}, line 1: the columns are {', '.join(found)[:300]!r}, but a {file.kind} "
            f"file of Release Format 2 has {', '.join(columns)!r}, separated by tabs; use the "
            "Snapshot files as they were published."
        )


def _wrong_width(width: int, number: int, columns: list[str], file: ReleaseFile) -> FormatError:
    return FormatError(
        f"{file.name}, line {number}: the row has {width} columns instead of {len(columns)} "
        f"({', '.join(columns)}); the file may be cut short or edited, fetch the release again."
    )


def _recognized(named: Iterable[Inside]) -> list[ReleaseFile]:
    files = []
    for name, opener in named:
        if match := _FILE_NAME.fullmatch(base_name(name)):
            language = (match["language"] or "").lower()
            files.append(ReleaseFile(name, match["kind"], language, match["date"] or "", opener))
    return files


def _in_language(file: ReleaseFile, language: str) -> bool:
    """Tell whether a file may hold terms of a language; some files name none."""
    return not language or not file.language or file.language.partition("-")[0] == language


def _holds_concepts(name: str) -> bool:
    match = _FILE_NAME.fullmatch(name)
    return match is not None and match["kind"] == "Concept"


def _unknown_language(language: str, files: list[ReleaseFile], path: Path) -> ParameterError:
    languages = sorted({file.language for file in files if file.language})
    return ParameterError(
        f"{path} holds no active description for language={language!r}; its files are for "
        f"{', '.join(languages) or 'languages they do not name'}: choose one of these."
    )


def _check_complete(files: list[ReleaseFile], path: Path) -> None:
    missing = [kind for kind in NEEDED if not any(file.kind == kind for file in files)]
    if missing:
        names = ", ".join(f"sct2_{kind}_Snapshot*.txt" for kind in missing)
        raise FormatError(
            f"{path} holds no {names}; a SNOMED CT release has them in Snapshot/Terminology: give "
            "the folder of the whole release or its zip."
        )


READER = Reader("rf2", can_read, read)
