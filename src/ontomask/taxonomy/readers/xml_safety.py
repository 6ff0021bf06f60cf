"""Reading XML that nobody vouches for.

Threat: a document type declaration can define entities. Entities made of entities grow without
end ("billion laughs"), one long entity used often grows quadratically, and an external entity
makes the parser open a file or an address of the writer's choice.

Source: RDF/XML and MeSH files come from anywhere. Honest ones do use the mechanism: ontology
editors write ``<!ENTITY owl "http://www.w3.org/2002/07/owl#">`` to abbreviate namespaces, and the
MeSH release names its external DTD.

Rule: defusedxml's parsers pass over external DTDs unread and refuse entities. Only `feed_handler`
lets plain abbreviations through, whose values hold neither markup nor references; how much they may
make a text grow is bounded by expat.
"""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder
from xml.parsers import expat
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler, ErrorHandler, feature_namespaces
from xml.sax.xmlreader import InputSource

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import XMLParser
from defusedxml.expatreader import DefusedExpatParser

from ontomask.errors import EncodingError, FormatError, UnsafeSourceError
from ontomask.taxonomy.draft import Line, place

__all__ = ["feed_handler", "stream_records"]

BOUNDED = expat.version_info >= (2, 4, 1)
"""Whether this expat stops entities from growing a hundredfold; an older one is given none."""

CHUNK = 1 << 16

_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*?\?>")
_ENCODING = re.compile(r"encoding\s*=\s*[\"']([^\"']*)")


def feed_handler(handler: ContentHandler, text: str, base: str, source: Path) -> None:
    """Parse an XML text, with the names that `base` completes, into a handler."""
    parser = _AbbreviationParser()
    parser.start_namespace_decl("xml", "http://www.w3.org/XML/1998/namespace")
    parser.setFeature(feature_namespaces, True)
    parser.setContentHandler(handler)
    parser.setErrorHandler(ErrorHandler())
    content = InputSource()
    content.setPublicId(base)
    content.setCharacterStream(io.StringIO(_standalone(text, source)))
    with _reported(source, parser.getLineNumber):
        parser.parse(content)


def stream_records(
    stream: IO[bytes], root: str, tags: Collection[str], source: Path
) -> Iterator[Element]:
    """Yield every element with one of these tags right below the root of a large XML file.

    It is forgotten afterwards. Names have their namespace before them, as in ``space}name``.
    """
    with _reported(source):
        records = _Records(tags)
        parser = XMLParser(target=records)
        records.listen(parser.parser)
        while chunk := stream.read(CHUNK):
            parser.feed(chunk)
            if records.top is not None and records.top.tag != root:
                raise FormatError(
                    f"{source}: the root element is <{records.top.tag}> instead of <{root}>; this "
                    "is a file of another kind."
                )
            yield from records.taken()
        parser.close()
        yield from records.taken(is_over=True)


class _Records:
    """Elements that are complete, made by the compiled builder without a step in Python each."""

    def __init__(self, tags: Collection[str]) -> None:
        self.tags = frozenset(tags)
        self.builder = TreeBuilder()
        self.data = self.builder.data  # taken by the parser, which refuses unknown entities in it
        self.top: Element | None = None

    def listen(self, parser: Any) -> None:
        """Take the elements from expat itself; its guards against entities stay as they are."""
        parser.ordered_attributes = False
        parser.StartElementHandler = functools.partial(self._start_top, parser)
        parser.EndElementHandler = self.builder.end

    def _start_top(self, parser: Any, tag: str, attributes: dict[str, str]) -> None:
        self.top = self.builder.start(tag, attributes)
        parser.StartElementHandler = self.builder.start

    def taken(self, is_over: bool = False) -> list[Element]:
        """The elements that were completed since the last time; the last one may still grow."""
        if self.top is None:
            return []
        end = len(self.top) if is_over else -1
        found = [element for element in self.top[:end] if element.tag in self.tags]
        del self.top[:end]
        return found


class _AbbreviationParser(DefusedExpatParser):  # type: ignore[misc]
    """A parser that lets an entity through if it merely stands for a plain text."""

    def defused_entity_decl(
        self, name: str, is_parameter_entity: bool, value: str | None, *place: Any
    ) -> None:
        plain = value is not None and not set("&%<") & set(value)
        if is_parameter_entity or not plain or not BOUNDED:
            super().defused_entity_decl(name, is_parameter_entity, value, *place)


def _standalone(text: str, source: Path) -> str:
    """Declare the text complete, so that an entity from an unread DTD is an error, not a gap.

    The text is decoded already, so no other encoding may be claimed. Lines keep their numbers.
    """
    declaration = _DECLARATION.match(text)
    written = declaration[0] if declaration else ""
    claimed = _ENCODING.search(written)
    accepted = claimed is None or claimed[1].lower() in ("utf-8", "utf8", "us-ascii", "ascii")
    if claimed and not accepted and not text.isascii():
        raise EncodingError(
            f"{source}, line 1: the XML declaration says encoding {claimed[1]!r}; save the file "
            "with the encoding UTF-8 and read it again."
        )
    return (
        '<?xml version="1.0" standalone="yes"?>' + "\n" * written.count("\n") + text[len(written) :]
    )


@contextmanager
def _reported(source: Path, line: Callable[[], Line] = lambda: None) -> Iterator[None]:
    """Turn the parsers' complaints into our sentences; `line` says where a parser stands."""
    try:
        yield
    except DefusedXmlException as error:
        name = getattr(error, "name", None) or getattr(error, "sysid", "")
        raise _refusal(place(str(source), line()), f"the entity {name!r}") from None
    except SAXParseException as error:
        if "amplification" in error.getMessage():
            raise _refusal(str(source), "entities that make it many times larger") from None
        raise _malformed(source, error.getLineNumber(), error.getMessage()) from None
    except ParseError as error:
        raise _malformed(source, error.position[0], str(error).rpartition(": ")[0]) from None


def _malformed(source: Path, line: int | None, reason: str) -> FormatError:
    return FormatError(
        f"{source}, line {line}: the XML is not well-formed ({reason}); the file may be cut short "
        "or edited by hand, fetch or export it again."
    )


def _refusal(where: str, what: str) -> UnsafeSourceError:
    return UnsafeSourceError(
        f"{where}: the file declares {what}; entities are never expanded, except for plain "
        "namespace abbreviations of an ontology: remove the declaration or fetch the file again "
        "from its publisher."
    )
