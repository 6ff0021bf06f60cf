"""Telling the serializations of RDF apart, without needing rdflib.

The content is asked first and the suffix second: files called `.owl` hold RDF/XML or Turtle.
"""

from __future__ import annotations

import re
from pathlib import Path

from ontomask.errors import FormatError
from ontomask.taxonomy.readers.separated import plain_suffix

__all__ = ["is_rdf", "not_rdf", "syntax_of"]

SYNTAXES = {
    ".rdf": "xml",
    ".rdfs": "xml",
    ".owl": "xml",
    ".skos": "xml",
    ".ttl": "turtle",
    ".nt": "nt",
    ".n3": "n3",
    ".trig": "trig",
    ".nq": "nquads",
    ".jsonld": "json-ld",
}
"""The serialization (as rdflib calls it) that a suffix stands for."""

TURTLE_FAMILY = frozenset({"turtle", "nt", "n3", "trig", "nquads"})
SNIFFED = 65536

_XML = re.compile(rb"<(\?|!--|!DOCTYPE\s+(\w+:)?RDF\b|(\w+:)?RDF\b)")
_RDF_XML = re.compile(rb"<(\w+:)?RDF\b|www\.w3\.org/1999/02/22-rdf-syntax-ns#")
_TURTLE = re.compile(
    rb"(?i:@?prefix)\s+[\w.\-]*:\s*<|(?i:@?base)\s+<"
    rb"|(<[^<>\s]*[:/#][^<>\s]*>|_:\w+)\s+(<[^<>\s]*:[^<>\s]*>|a|[\w\-]*:[\w\-]+)\s"
)
_JSON_LD = re.compile(rb'"@(context|graph|id|type)"\s*:')
_COMMENTS = re.compile(rb"(\s|#[^\n]*(\n|$))*+")


def is_rdf(path: Path, first_bytes: bytes) -> bool:
    """Recognize RDF by its content or by a suffix that is used for nothing else."""
    return plain_suffix(path) in SYNTAXES or _syntax_of_content(first_bytes) is not None


def syntax_of(path: Path, text: str) -> str:
    """Name the serialization of a file, in rdflib's words."""
    by_suffix = SYNTAXES.get(plain_suffix(path))
    by_content = _syntax_of_content(text[:SNIFFED].encode())
    if by_suffix in TURTLE_FAMILY and by_content == "turtle":
        return by_suffix or by_content
    if by_content or by_suffix not in (None, "xml"):
        return by_content or by_suffix or ""
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return "xml"
    raise not_rdf(path)


def not_rdf(path: Path) -> FormatError:
    """Make the error for a file that is none of the serializations."""
    return FormatError(
        f"{path} is not RDF that can be read; save the ontology as RDF/XML, Turtle, N-Triples or "
        "JSON-LD (OWL/XML, functional and Manchester syntax are not read)."
    )


def _syntax_of_content(first_bytes: bytes) -> str | None:
    start = first_bytes.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"{", b"[")):
        return "json-ld" if _JSON_LD.search(start) else None
    if _XML.match(start):
        return "xml" if _RDF_XML.search(start) else None
    comments = _COMMENTS.match(start)
    return "turtle" if _TURTLE.match(start, comments.end() if comments else 0) else None
