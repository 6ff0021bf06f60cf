"""Reading XML that nobody vouches for.

Threat: a document type declaration can define entities. Entities made of entities grow without
end ("billion laughs"), one long entity used often grows quadratically, and an external entity
makes the parser open a file or an address of the writer's choice.

Source: RDF/XML and MeSH files come from anywhere. Honest ones do use the mechanism: ontology
editors write ``<!ENTITY owl "http://www.w3.org/2002/07/owl#">`` to abbreviate namespaces, and the
MeSH release names its external DTD.

Rule: the XML parser never expands an entity and never fetches anything.

* `plain_xml` removes the document type declaration before the parser sees the text. Only literal
  abbreviations are accepted in it: values without markup and without references, bounded in
  number and length. They are written out textually, bounded in growth. All else is refused.
* `stream_records` parses large files as they are, with defusedxml: a mere reference to an external
  DTD is passed over unread, any entity declaration is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from ontomask.errors import EncodingError, FormatError, UnsafeSourceError

__all__ = ["malformed", "plain_xml", "stream_records"]

MAX_ENTITIES = 1000
MAX_ENTITY_LENGTH = 1000
MAX_GROWTH = 20
"""Written-out abbreviations may make a text at most this many times longer (plus `GROWTH_FREE`)."""

GROWTH_FREE = 2**20
PREDEFINED = frozenset({"amp", "lt", "gt", "quot", "apos"})

# Every pattern is tried at one place only and cannot match there in two ways: a hostile file must
# not make the search itself endless.
_NAME = r"[^\W\d][\w:.\-]*"
_QUOTED = r"""(?:"[^"]*"|'[^']*')"""
_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*?\?>")
_ENCODING = re.compile(r"encoding\s*=\s*[\"']([^\"']*)")
_MISCELLANEOUS = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->", re.DOTALL)
_DOCTYPE = re.compile(
    rf"<!DOCTYPE\s+{_NAME}(?:\s+(?:SYSTEM|PUBLIC\s+{_QUOTED})\s+{_QUOTED})?\s*(?P<subset>\[)?"
)
_DOCTYPE_END = re.compile(r"\s*>")
_ENTITY = re.compile(rf"<!ENTITY\s+(?P<name>{_NAME})\s+(?P<value>{_QUOTED})\s*>")
_REFERENCE = re.compile(
    rf"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|&(?P<name>{_NAME});", re.DOTALL
)


def plain_xml(text: str, source: str) -> str:
    """Return the XML text without declarations, its namespace abbreviations written out.

    Line numbers stay as they are, so that a later complaint of the parser names the right line.
    """
    text = _without_declaration(text, source)
    start = _past_miscellaneous(text, 0)
    if not text.startswith("<!DOCTYPE", start):
        return _checked(text, source)
    entities, end = _read_doctype(text, start, source)
    blank = "\n" * text.count("\n", start, end)
    return _written_out(_checked(text[:start] + blank + text[end:], source), entities, source)


def stream_records(stream: IO[bytes], root: str, tag: str, source: Path) -> Iterator[Element]:
    """Yield every `tag` inside the root element of a large XML file, and forget it afterwards."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    try:
        events = iterparse(stream, events=("start", "end"))
        _, top = next(events)
        if top.tag != root:
            raise FormatError(
                f"{source}: the root element is <{top.tag}> instead of <{root}>; this is a file of "
                "another kind."
            )
        for event, element in events:
            if event == "end" and element.tag == tag:
                yield element
                top.clear()
    except ParseError as error:
        raise malformed(source, error.position[0], str(error)) from None
    except DefusedXmlException as error:
        name = getattr(error, "name", None) or getattr(error, "sysid", "")
        raise _refusal(str(source), None, f"the entity {name!r}") from None


def malformed(source: Path, line: int | None, reason: str) -> FormatError:
    """Make the error for XML that is not well-formed."""
    where = f"{source}, line {line}" if line else str(source)
    reason = re.sub(r":? ?line \d+, column \d+$", "", reason)
    return FormatError(
        f"{where}: the XML is not well-formed ({reason}); the file may be cut short or edited by "
        "hand, fetch or export it again."
    )


def _without_declaration(text: str, source: str) -> str:
    """Drop ``<?xml ...?>``: the text is decoded already, and no other encoding may be claimed."""
    declaration = _DECLARATION.match(text)
    if declaration is None:
        return text
    encoding = _ENCODING.search(declaration[0])
    claimed = encoding[1].lower() if encoding else "utf-8"
    if claimed not in ("utf-8", "utf8", "us-ascii", "ascii") and not text.isascii():
        raise EncodingError(
            f"{source}, line 1: the XML declaration says encoding {claimed!r}; save the file with "
            "the encoding UTF-8 and read it again."
        )
    return "\n" * declaration[0].count("\n") + text[declaration.end() :]


def _checked(text: str, source: str) -> str:
    """Make sure that no parser can find a declaration in what is left."""
    for word in ("<!DOCTYPE", "<!ENTITY"):
        if (found := text.find(word)) >= 0:
            raise _refusal(source, _line(text, found), f"{word!r} in an unexpected place")
    return text


def _read_doctype(text: str, start: int, source: str) -> tuple[dict[str, str], int]:
    """Return the abbreviations of the document type declaration at `start`, and where it ends."""
    entities: dict[str, str] = {}
    head = _DOCTYPE.match(text, start)
    position = head.end() if head else start
    if head and head["subset"]:
        position = _read_entities(text, position, source, entities)
    end = _DOCTYPE_END.match(text, position)
    if head is None or end is None:
        raise _refusal(source, _line(text, position), _found(text, position))
    return entities, end.end()


def _read_entities(text: str, position: int, source: str, entities: dict[str, str]) -> int:
    """Fill `entities` from an internal subset and return the place after its closing bracket."""
    while not text.startswith("]", position := _past_miscellaneous(text, position)):
        entity = _ENTITY.match(text, position)
        if entity is None or not _is_abbreviation(entity["value"][1:-1]):
            raise _refusal(source, _line(text, position), _found(text, position))
        if len(entities) == MAX_ENTITIES:
            raise _refusal(source, _line(text, position), f"more than {MAX_ENTITIES} entities")
        value = escape(entity["value"][1:-1], {'"': "&quot;", "'": "&apos;"})
        if entity["name"] not in PREDEFINED:
            entities.setdefault(entity["name"], value)
        position = entity.end()
    return position + 1


def _is_abbreviation(value: str) -> bool:
    """Tell whether an entity's value is short and holds neither markup nor references."""
    return len(value) <= MAX_ENTITY_LENGTH and not any(sign in value for sign in "&%<")


def _found(text: str, position: int) -> str:
    return repr(text[position : position + 60].split("\n")[0])


def _written_out(text: str, entities: dict[str, str], source: str) -> str:
    """Replace every reference to a known abbreviation, outside of comments and CDATA."""
    allowed = MAX_GROWTH * len(text) + GROWTH_FREE
    grown = sum(
        len(entities.get(found["name"], "")) for found in _REFERENCE.finditer(text) if found["name"]
    )
    if grown > allowed:
        raise _refusal(source, None, "entities that make it many times larger")
    return _REFERENCE.sub(lambda found: entities.get(found["name"], found[0]), text)


def _past_miscellaneous(text: str, position: int) -> int:
    """Return the place after blanks, comments and processing instructions."""
    while found := _MISCELLANEOUS.match(text, position):
        position = found.end()
    return position


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _refusal(source: str, line: int | None, what: str) -> UnsafeSourceError:
    where = f"{source}, line {line}" if line else source
    return UnsafeSourceError(
        f"{where}: the file declares {what}; entities are never expanded, except for plain "
        "namespace abbreviations of an ontology: remove the declaration or fetch the file again "
        "from its publisher."
    )
