"""FHIR CodeSystem resources as JSON (R4, R5), alone or in a Bundle; plain or gzip.

* The label of a concept is its `display`, or the designation in the chosen `language`; the other
  designations are synonyms, the `definition` is the gloss.
* What is above what is said in one of three ways, or several: concepts that hold concepts; the
  properties `parent` or `subsumedBy`; the property `child`. A code system may call these properties
  otherwise and tell by their `uri` that they are meant.
* Whatever the `hierarchyMeaning`, the hierarchy is taken as it is: groups and wholes generalize
  their members and parts as well.

A code system that holds no concepts (`content` "not-present") is an error, and so is any other
resource. A ConceptMap is read by `ontomask.knowledge.load_crosswalk`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ontomask.checks import AnyOf, Null, Text, checked
from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Draft, Reader, place
from ontomask.taxonomy.readers.json_text import is_json, json_reported, read_json

__all__ = ["READER", "read_resource"]

PARENT = {"parent", "subsumedBy", "subsumedby"}
CHILD = {"child"}
PROPERTIES = re.compile(r"http://hl7\.org/fhir/concept-properties#(\w+)")
RESOURCE = re.compile(rb'"resourceType"\s*:\s*"\w+"')


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Recognize the type of a resource."""
    return is_json(path, first_bytes) and RESOURCE.search(first_bytes) is not None


@checked(language=AnyOf(Text(), Null()))
def read(path: Path, *, language: str | None = None) -> Draft:
    """Read a code system; `language` such as "de" chooses labels among the designations."""
    draft = Draft(str(path))
    resource = read_resource(path, "CodeSystem")
    draft.version = str(resource.get("version", ""))
    roles = _roles(draft, resource)
    waiting: list[tuple[Any, str, str | None]] = [
        (one, f"concept[{number}]", None)
        for number, one in enumerate(_list(draft, resource, "concept", ""))
    ]
    if not waiting:
        content = resource.get("content", "nothing about it")
        raise FormatError(
            f"{draft.source}: the code system holds no concepts (it says {content!r} of its "
            "content); fetch its complete form."
        )
    waiting.reverse()
    while waiting:
        node, where, parent = waiting.pop()
        code = _add_concept(draft, node, where, parent, language)
        _add_links(draft, node, code, where, roles)
        inner = _list(draft, node, "concept", where)
        waiting += [(one, f"{where}.concept[{n}]", code) for n, one in enumerate(inner)][::-1]
    return draft


def read_resource(path: Path, kind: str) -> dict[str, Any]:
    """Return the one resource of a kind that a file holds."""
    with json_reported(str(path)):
        content = read_json(path)
    found = [one for one in _resources(content) if one.get("resourceType") == kind]
    if len(found) != 1:
        others = {str(one.get("resourceType")) for one in _resources(content)} - {kind}
        held = f"{len(found)} of them" if found else " and ".join(sorted(others)) or "none at all"
        raise FormatError(
            f"{path} should hold one {kind} of FHIR but holds {held}; give a file with one {kind}"
            + _elsewhere(kind, others)
        )
    return found[0]


def _elsewhere(kind: str, others: set[str]) -> str:
    if kind == "CodeSystem" and "ConceptMap" in others:
        return "; om.knowledge.load_crosswalk reads a ConceptMap."
    if kind == "ConceptMap" and "CodeSystem" in others:
        return "; om.load_taxonomy reads a CodeSystem."
    return "."


def _resources(content: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(content, dict):
        return
    if content.get("resourceType") != "Bundle":
        yield content
        return
    for entry in content.get("entry") or ():
        if isinstance(entry, dict) and isinstance(entry.get("resource"), dict):
            yield entry["resource"]


def _roles(draft: Draft, resource: dict[str, Any]) -> dict[str, bool]:
    """The names of the properties that link concepts, and whether they name what is above."""
    roles = dict.fromkeys(PARENT, True) | dict.fromkeys(CHILD, False)
    for declared in _list(draft, resource, "property", ""):
        meant = PROPERTIES.fullmatch(str(declared.get("uri", "")))
        if meant and meant[1] in PARENT | CHILD:
            roles[str(declared.get("code"))] = meant[1] in PARENT
    return roles


def _add_concept(
    draft: Draft, node: Any, where: str, parent: str | None, language: str | None
) -> str:
    code = _text(node, "code")
    if not code:
        raise FormatError(f"{place(draft.source, where)}: the concept has no code; add one.")
    names = [
        (_text(one, "language").lower(), _text(one, "value"))
        for one in _list(draft, node, "designation", where)
    ]
    chosen = [name for tongue, name in names if tongue == (language or " ").lower()]
    label = chosen[0] if chosen else _text(node, "display")
    others = [_text(node, "display"), *(name for _, name in names)]
    synonyms = dict.fromkeys(name for name in others if name and name != label)
    gloss = _text(node, "definition")
    draft.add_concept(code, label, synonyms=synonyms, gloss=gloss, line=where)
    if parent is not None:
        draft.add_link(code, parent, where)
    return code


def _add_links(draft: Draft, node: Any, code: str, where: str, roles: dict[str, bool]) -> None:
    for one in _list(draft, node, "property", where):
        is_above = roles.get(_text(one, "code"))
        if is_above is None:
            continue
        coding = one.get("valueCoding")
        other = _text(coding, "code") if coding else _text(one, "valueCode", "valueString")
        if not other:
            raise FormatError(
                f"{place(draft.source, where)}: the property {_text(one, 'code')!r} of {code!r} "
                "names no concept; give it a valueCode."
            )
        child, parent = (code, other) if is_above else (other, code)
        draft.add_link(child, parent, where)


def _list(draft: Draft, node: Any, key: str, where: str) -> list[dict[str, Any]]:
    """A list of objects under a key; nothing if there is none."""
    if not isinstance(node, dict):
        raise FormatError(f"{place(draft.source, where)}: an object is needed here.")
    listed = node.get(key) or []
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        below = f"{where}.{key}" if where else key
        raise FormatError(f"{place(draft.source, below)}: a list of objects is needed here.")
    return listed


def _text(node: Any, *keys: str) -> str:
    """The first text under one of the keys; empty if there is none."""
    found = (node.get(key) for key in keys) if isinstance(node, dict) else ()
    return next((one.strip() for one in found if isinstance(one, str)), "")


READER = Reader("fhir", can_read, read)
