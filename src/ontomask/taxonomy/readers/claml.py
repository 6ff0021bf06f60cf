"""ClaML (ISO 13120), in which ICD-10 of the WHO, ICD-10-GM, OPS and others are published.

What is read of the XML file, plain or gzip:

* every `Class`: its code, the `SuperClass` and `SubClass` links, and its rubrics. The label is the
  rubric `preferredLong` or else `preferred`; the other of the two and the inclusions are synonyms.
  Chapters get the ids `Chapter I` or `Chapter 5`: a column of small numbers would match bare ones.
* `Modifier`: a class that is `ModifiedBy` one stands for the codes made by appending those of its
  `ModifierClass` elements, all or those listed as valid (E10 and .0: "E10.0"). A second modifier
  is appended to the codes of the first, except where `excludeOnPrecedingModifier` says otherwise.
  A class with subclasses hands its modifiers down to the last ones, unless these exclude them.
* A subclass that is named but not defined is passed over; ICD-10 has some (Y35.6). A superclass
  that is not defined is an error, since the place of a code would be lost.

References to other codes are no part of a label. Several languages may stand side by side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from xml.etree.ElementTree import Element

from ontomask.checks import AnyOf, Null, Text, checked
from ontomask.errors import FormatError, UnsafeSourceError
from ontomask.taxonomy.draft import Draft, Reader
from ontomask.taxonomy.readers.sources import stream_file
from ontomask.taxonomy.readers.xml_safety import stream_records

__all__ = ["READER"]

ROOT = "ClaML"
RECORDS = ("Title", "Class", "ModifierClass")
NAMING = {"preferredLong": 0, "preferred": 1, "inclusion": 2}
LANGUAGE = "http://www.w3.org/XML/1998/namespace}lang"
APART = {"Fragment", "Para", "ListItem", "Cell", "Row"}
"""Elements inside a label whose words do not run together with those around."""

DEEPEST = 20
"""Labels hold lists and tables, but not one in another for ever."""

EXCLUDED_AFTER = "excludeOnPrecedingModifier"
MOST_MODIFIED = 2_000_000
"""Modifiers multiply; a file that makes more codes than this of them is none of a publisher."""


@dataclass(frozen=True)
class Modified:
    """That a class is modified: by what, and by which of its classes (all if there is none)."""

    modifier: str
    valid: frozenset[str]


@dataclass(frozen=True)
class Part:
    """A modifier's class: what is appended to a code and to its label, and after what it is not."""

    code: str
    label: str
    not_after: frozenset[str]


@dataclass
class Codes:
    """What was read of a file: how classes hang together and are modified."""

    draft: Draft
    identifiers: dict[str, str] = field(default_factory=dict)
    subclasses: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    modified: dict[str, list[Modified]] = field(default_factory=dict)
    excluded: dict[str, set[str]] = field(default_factory=dict)
    parts: dict[str, list[Part]] = field(default_factory=dict)


def can_read(path: Path, first_bytes: bytes) -> bool:  # noqa: ARG001
    """Recognize the root element."""
    return b"<ClaML" in first_bytes or b"<!DOCTYPE ClaML" in first_bytes


@checked(language=AnyOf(Text(), Null()))
def read(path: Path, *, language: str | None = None) -> Draft:
    """Read a ClaML file; `language` such as "de" chooses labels where there are several."""
    codes = Codes(Draft(str(path)))
    with stream_file(path) as stream:
        for record in stream_records(stream, ROOT, RECORDS, path):
            if record.tag == "Class":
                _add_class(codes, record, language)
            elif record.tag == "Title":
                codes.draft.version = record.get("version", "")
            else:
                _add_part(codes, record, language)
    links = _links(codes)
    _add_modified(codes, links)
    return codes.draft


def _add_class(codes: Codes, record: Element, language: str | None) -> None:
    draft, code = codes.draft, _attribute(codes.draft, record, "code")
    is_chapter = record.get("kind") == "chapter"
    identifier = codes.identifiers[code] = f"Chapter {code}" if is_chapter else code
    rubrics = []
    for part in record:  # once: searching for each kind of part takes most of the time
        kind = part.tag
        if kind == "Rubric":
            rubrics.append(part)
        elif kind == "SuperClass":
            codes.subclasses[_attribute(draft, part, "code")].append(code)
        elif kind == "SubClass":
            codes.subclasses[code].append(_attribute(draft, part, "code"))
        elif kind == "ModifiedBy":
            codes.modified.setdefault(code, []).append(_modified(draft, part))
        elif kind == "ExcludeModifier":
            codes.excluded.setdefault(code, set()).add(_attribute(draft, part, "code"))
    label, *synonyms = _names(rubrics, language) or ("",)
    draft.add_concept(identifier, label, synonyms=dict.fromkeys(synonyms) if synonyms else ())


def _add_part(codes: Codes, record: Element, language: str | None) -> None:
    code = _attribute(codes.draft, record, "code")
    label, *_ = _names(record.iterfind("Rubric"), language) or [""]
    metas = [one for one in record.iterfind("Meta") if one.get("name") == EXCLUDED_AFTER]
    part = Part(code, label, frozenset(one.get("value", "") for one in metas))
    codes.parts.setdefault(_attribute(codes.draft, record, "modifier"), []).append(part)


def _modified(draft: Draft, element: Element) -> Modified:
    modifier, valid = _attribute(draft, element, "code"), element.iterfind("ValidModifierClass")
    return Modified(modifier, frozenset(_attribute(draft, one, "code") for one in valid))


def _attribute(draft: Draft, element: Element, name: str) -> str:
    value = (element.get(name) or "").strip()
    if not value:
        raise FormatError(
            f"{draft.source}: a <{element.tag}> near class number {len(draft) + 1} has no "
            f"{name!r}; every class, link and modifier needs one, fetch the file again from its "
            "publisher."
        )
    return value


# Labels -------------------------------------------------------------------------------------


def _names(rubrics: Iterable[Element], language: str | None) -> list[str]:
    """The texts of the rubrics that name a class, the best first, in the language if they can."""
    found: list[tuple[int, str]] = []
    for rubric in rubrics:
        rank = NAMING.get(rubric.get("kind", ""))
        if rank is not None and (text := _text(rubric.findall("Label"), language)):
            found.append((rank, text))
    if len(found) > 1:
        found.sort(key=itemgetter(0))
    return [text for _, text in found]


def _text(labels: list[Element], language: str | None) -> str:
    if not labels:
        return ""
    label = labels[0]
    if len(labels) > 1:
        fitting = (one for one in labels if one.get(LANGUAGE, "").lower() == language)
        label = next(fitting, label)
    # most labels are a text and nothing else
    return " ".join(("".join(_words(label)) if len(label) else label.text or "").split())


def _words(element: Element, depth: int = 0) -> Iterator[str]:
    """The words of an element and those inside it, without references to other codes."""
    if depth > DEEPEST:
        return
    apart = " " if element.tag in APART else ""
    yield apart + (element.text or "")
    for inner in element:
        if inner.tag != "Reference":
            yield from _words(inner, depth + 1)
        yield inner.tail or ""
    yield apart


# Links and modifiers ------------------------------------------------------------------------


def _links(codes: Codes) -> dict[str, list[str]]:
    """Link the classes, and return the codes directly below each of them."""
    known, links = codes.identifiers, {}
    for above, below in codes.subclasses.items():
        links[above] = [code for code in dict.fromkeys(below) if code in known]
        for code in links[above]:
            codes.draft.add_link(known[code], known.get(above, above))
    return links


def _add_modified(codes: Codes, links: dict[str, list[str]]) -> None:
    """Make the codes of modified classes that have no subclasses of their own."""
    inherited = _inherited(codes, links)
    for code in dict.fromkeys((*codes.modified, *inherited)):
        if not links.get(code):
            own = [*codes.modified.get(code, ()), *inherited.get(code, ())]
            kept = [one for one in own if one.modifier not in codes.excluded.get(code, ())]
            distinct = list({one.modifier: one for one in reversed(kept)}.values())[::-1]
            _append(codes, code, distinct)


def _inherited(codes: Codes, links: dict[str, list[str]]) -> dict[str, list[Modified]]:
    """The modifiers that come down to each class, those of classes late in the file first.

    Files go from the general to the particular, so these are the nearest.
    """
    inherited: dict[str, list[Modified]] = {}
    tops = [code for code in codes.modified if links.get(code)]
    handed_down = 0
    for top in reversed(tops):
        for modified in codes.modified[top]:
            below, seen = list(links[top]), {top}
            while below:
                code = below.pop()
                if code not in seen and modified.modifier not in codes.excluded.get(code, ()):
                    seen.add(code)
                    inherited.setdefault(code, []).append(modified)
                    below += links.get(code, ())
                    handed_down += 1
                    _check_count(codes.draft, handed_down)
    return inherited


def _append(codes: Codes, code: str, modifiers: Iterable[Modified]) -> None:
    """Add the codes that the first modifier makes, to each of them those of the next, and so on."""
    made = [(codes.identifiers[code], code, "")]
    for modified in modifiers:
        longer = []
        for above, stem, before in made:
            label = codes.draft.labels[codes.draft.positions[above]]
            for part in codes.parts.get(modified.modifier, ()):
                is_valid = not modified.valid or part.code in modified.valid
                whole = stem + part.code
                if is_valid and before not in part.not_after and whole not in codes.identifiers:
                    codes.draft.add_concept(whole, ": ".join(filter(None, (label, part.label))))
                    codes.draft.add_link(whole, above)
                    longer.append((whole, whole, f"{modified.modifier} {part.code}"))
                    _check_count(codes.draft, len(codes.draft))
        made = longer


def _check_count(draft: Draft, count: int) -> None:
    if count > MOST_MODIFIED:
        raise UnsafeSourceError(
            f"{draft.source}: its modifiers make more than {MOST_MODIFIED:,} codes; this is no "
            "honest release file, fetch it again from its publisher."
        )


READER = Reader("claml", can_read, read)
