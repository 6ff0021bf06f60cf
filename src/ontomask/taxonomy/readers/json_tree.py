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

import re
from pathlib import Path

from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.readers.json_positions import Node, parse
from ontomask.taxonomy.readers.separated import plain_suffix
from ontomask.taxonomy.readers.sources import read_text

__all__ = ["NAME", "can_read", "read"]

NAME = "json"

PROPERTIES = {"id", "label", "name", "synonyms", "gloss", "children"}
MARKS = ("id", "label", "name", "children")
"""An object with one of these is a concept, not plain nesting."""

LINKED_DATA = re.compile(rb'"@(context|graph|id|type)"\s*:')


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Tell whether the file is called `.json` and is not linked data (JSON-LD)."""
    is_tree = first_bytes.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
    return plain_suffix(path) == ".json" and is_tree and not LINKED_DATA.search(first_bytes)


def read(path: Path) -> Draft:
    """Read a JSON tree, plain or gzip."""
    draft = Draft(str(path))
    text = read_text(path)
    if text.strip():
        _add(draft, parse(text, draft.source), None)
    return draft


def _add(draft: Draft, node: Node, parent: str | None) -> None:
    """Add what a node says: a list of nodes, a concept, plain nesting, or a leaf."""
    if node.items is not None:
        for item in node.items:
            _add(draft, item, parent)
    elif node.members is None:
        _add_concept(draft, node, _name(draft, node), parent)
    elif _is_concept(members := _members(draft, node)):
        _add_object(draft, node, members, parent)
    else:
        for key, value in members.items():
            _add_nested(draft, key, value, parent)


def _members(draft: Draft, node: Node) -> dict[str, Node]:
    members: dict[str, Node] = {}
    for key, value in node.members or ():
        if key in members:
            raise _error(draft, value, f"the key {key!r} stands twice in one object; unite the two")
        members[key] = value
    return members


def _is_concept(members: dict[str, Node]) -> bool:
    return any(name in members and members[name].members is None for name in MARKS)


def _add_nested(draft: Draft, key: str, value: Node, parent: str | None) -> None:
    if not key.strip():
        raise _error(draft, value, "a concept's key is empty; give it a name")
    if value.scalar is not None:
        raise _error(
            draft,
            value,
            f"the key {key!r} holds {value.describe()} instead of its children; "
            "write {} for a concept without children",
        )
    _add_concept(draft, value, key.strip(), parent)
    if value.members or value.items:
        _add(draft, value, key.strip())


def _add_object(draft: Draft, node: Node, members: dict[str, Node], parent: str | None) -> None:
    for key, value in members.items():
        if key not in PROPERTIES and (value.members is not None or value.items is not None):
            raise _error(
                draft,
                value,
                f"the concept has {value.describe()} under the unknown name {key!r}; "
                f"a concept may have {', '.join(sorted(PROPERTIES))}",
            )
    label = _text(draft, members.get("label")) or _text(draft, members.get("name"))
    identifier = _text(draft, members.get("id")) or label
    if not identifier:
        raise _error(draft, node, "the concept has children but neither an id nor a label; add one")
    draft.add_concept(
        identifier,
        label,
        synonyms=_synonyms(draft, members.get("synonyms")),
        gloss=_text(draft, members.get("gloss")),
        line=node.line,
    )
    _link(draft, identifier, parent, node.line)
    children = members.get("children", Node(node.line))
    if children.members or children.items:
        _add(draft, children, identifier)
    elif children.scalar is not None:
        raise _error(
            draft, children, f"children is {children.describe()}; it must be a list of concepts"
        )


def _synonyms(draft: Draft, node: Node | None) -> list[str]:
    if node is None or _is_blank(node):
        return []
    if node.items is None:
        raise _error(draft, node, f"synonyms is {node.describe()}; it must be a list of texts")
    return [_name(draft, item) for item in node.items]


def _is_blank(node: Node) -> bool:
    return node.scalar in (None, "") and node.members is None and node.items is None


def _text(draft: Draft, node: Node | None) -> str:
    """Return a property's text; one that is missing, null or empty is no text."""
    return "" if node is None or _is_blank(node) else _name(draft, node)


def _name(draft: Draft, node: Node) -> str:
    """Return a text, or a number as a text: codes are often written as numbers."""
    is_number = isinstance(node.scalar, int | float) and not isinstance(node.scalar, bool)
    if isinstance(node.scalar, str) and node.scalar.strip():
        return node.scalar.strip()
    if is_number:
        return str(node.scalar)
    raise _error(draft, node, f"{node.describe()} stands where a text that is not empty is needed")


def _add_concept(draft: Draft, node: Node, identifier: str, parent: str | None) -> None:
    draft.add_concept(identifier, line=node.line)
    _link(draft, identifier, parent, node.line)


def _link(draft: Draft, identifier: str, parent: str | None, line: int) -> None:
    if parent is not None:
        draft.add_link(identifier, parent, line)


def _error(draft: Draft, node: Node, reason: str) -> FormatError:
    return FormatError(f"{draft.source}, line {node.line}: {reason}.")
