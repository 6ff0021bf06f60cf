"""JSON trees: concepts that hold their children.

Either objects with their properties, or plain nesting, where a key is a concept and its value
holds the children; the two may be mixed::

    {"id": "disease", "label": "Disease", "synonyms": ["illness"], "children": [
        {"id": "flu", "label": "Influenza"}, "cold"]}

    {"disease": {"infection": {"flu": {}, "cold": {}}, "injury": ["fracture", "burn"]}}

* An object with `id`, `label`, `name` or `children` (not itself an object) is a concept. `name`
  is accepted for `label`, and the id is the label where there is none. `synonyms` is a list of
  texts, `gloss` a text. Further properties are ignored if they are texts, numbers or the like; a
  list or object under an unknown name is an error, for it could be a misspelled `children`.
* In plain nesting a leaf's value is `{}`, `[]` or `null`; a list holds leaves or concepts.
* A list at the top, or several keys, are several roots. A concept that stands below several
  parents has all of them as parents. A key may stand only once in one object.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Draft, Line, Reader, place
from ontomask.taxonomy.readers.json_text import is_json, json_reported, read_json

__all__ = ["READER", "add_tree"]

PROPERTIES = {"id", "label", "name", "synonyms", "gloss", "children"}
MARKS = ("id", "label", "name", "children")
"""An object with one of these is a concept, not plain nesting."""


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Tell whether the file is called `.json`; linked data (JSON-LD) is taken by `rdf` before."""
    return is_json(path, first_bytes)


def read(path: Path) -> Draft:
    """Read a JSON tree, plain or gzip."""
    draft = Draft(str(path))
    with json_reported(draft.source):
        tree = read_json(path)
        if tree is not None:
            add_tree(draft, tree)
    return draft


def add_tree(draft: Draft, tree: Any) -> None:
    """Add the concepts of a whole tree."""
    _add(draft, tree, "", None)


def _add(draft: Draft, node: Any, where: str, parent: str | None) -> None:
    """Add what a node says: a list of nodes, a concept, plain nesting, or a leaf."""
    if isinstance(node, list):
        for position, item in enumerate(node):
            _add(draft, item, f"{where}[{position}]", parent)
    elif not isinstance(node, dict):
        _add_concept(draft, _name(draft, node, where), where, parent)
    elif any(mark in node and not isinstance(node[mark], dict) for mark in MARKS):
        _add_object(draft, node, where, parent)
    else:
        for key, value in node.items():
            _add_nested(draft, key, value, _below(where, key), parent)


def _add_nested(draft: Draft, key: str, value: Any, where: str, parent: str | None) -> None:
    if not key.strip():
        raise _error(draft, where, "a concept's key is empty; give it a name")
    if not isinstance(value, dict | list | None):
        raise _error(
            draft,
            where,
            f"the key {key!r} holds {_shown(value)} instead of its children; "
            "write {} for a concept without children",
        )
    _add_concept(draft, key.strip(), where, parent)
    if value:
        _add(draft, value, where, key.strip())


def _add_object(draft: Draft, node: dict[str, Any], where: str, parent: str | None) -> None:
    for key, value in node.items():
        if key not in PROPERTIES and isinstance(value, dict | list):
            raise _error(
                draft,
                _below(where, key),
                f"the concept has {_shown(value)} under the unknown name {key!r}; "
                f"a concept may have {', '.join(sorted(PROPERTIES))}",
            )
    texts = {
        key: _name(draft, node[key], _below(where, key))
        for key in ("id", "label", "name", "gloss")
        if node.get(key) not in (None, "")
    }
    label = texts.get("label") or texts.get("name", "")
    identifier = texts.get("id") or label
    if not identifier:
        raise _error(draft, where, "the concept has neither an id nor a label; add one")
    synonyms = _synonyms(draft, node.get("synonyms"), _below(where, "synonyms"))
    _add_concept(
        draft,
        identifier,
        where,
        parent,
        label=label,
        synonyms=synonyms,
        gloss=texts.get("gloss", ""),
    )
    children, below = node.get("children"), _below(where, "children")
    if not isinstance(children, dict | list | None):
        raise _error(draft, below, f"children is {_shown(children)}; it must be a list of concepts")
    if children:
        _add(draft, children, below, identifier)


def _synonyms(draft: Draft, listed: Any, where: str) -> list[str]:
    if listed in (None, ""):
        return []
    if not isinstance(listed, list):
        raise _error(draft, where, f"synonyms is {_shown(listed)}; it must be a list of texts")
    return [_name(draft, each, f"{where}[{position}]") for position, each in enumerate(listed)]


def _name(draft: Draft, value: Any, where: str) -> str:
    """Return a text, or a number as a text: codes are often written as numbers."""
    is_name = isinstance(value, str | int | float) and not isinstance(value, bool)
    if is_name and (text := str(value).strip()):
        return text
    raise _error(draft, where, f"{_shown(value)} stands where a text that is not empty is needed")


def _add_concept(
    draft: Draft, identifier: str, where: str, parent: str | None, **words: Any
) -> None:
    draft.add_concept(identifier, line=where, **words)
    if parent is not None:
        draft.add_link(identifier, parent, where)


def _error(draft: Draft, where: Line, reason: str) -> FormatError:
    return FormatError(f"{place(draft.source, where)}: {reason}.")


def _below(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _shown(value: Any) -> str:
    """Name the kind of value, or show it if it is small."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return json.dumps(value, ensure_ascii=False)


READER = Reader("json", can_read, read)
