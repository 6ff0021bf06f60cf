"""OWL, RDFS and SKOS in any usual serialization of RDF, read with rdflib (the extra `rdf`).

The serializations are told apart without rdflib: the content is asked first and the suffix second,
for files called `.owl` hold RDF/XML or Turtle. `rdf_graph` makes a graph of the text, and
`rdf_concepts` finds its concepts.

Nothing is ever fetched: owl:imports are ignored, a JSON-LD context from elsewhere is refused.
"""

from __future__ import annotations

import re
from pathlib import Path

from ontomask.checks import Text, checked
from ontomask.errors import EmptyTaxonomyError, FormatError
from ontomask.extras import optional
from ontomask.taxonomy.draft import Draft, Reader
from ontomask.taxonomy.readers.separated import plain_suffix
from ontomask.taxonomy.readers.sources import read_text

__all__ = ["READER"]

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

TURTLE_FAMILY = ("turtle", "nt", "n3", "trig", "nquads")
SNIFFED = 65536
NAMESPACE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

_XML = re.compile(rb"<(\?|!--|!DOCTYPE\s+(\w+:)?RDF\b|(\w+:)?RDF\b)")
_RDF_XML = re.compile(rb"<(\w+:)?RDF\b|www\.w3\.org/1999/02/22-rdf-syntax-ns#")
_TURTLE = re.compile(
    rb"(?i:@?prefix)\s+[\w.\-]*:\s*<|(?i:@?base)\s+<"
    rb"|(<[^<>\s]*[:/#][^<>\s]*>|_:\w+)\s+(<[^<>\s]*:[^<>\s]*>|a|[\w\-]*:[\w\-]+)\s"
)
_JSON_LD = re.compile(rb'"@(context|graph|id|type)"\s*:')
_COMMENTS = re.compile(rb"(\s|#[^\n]*(\n|$))*+")


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Recognize RDF by its content or by a suffix that is used for nothing else."""
    known = plain_suffix(path) in SYNTAXES or _syntax_of_content(first_bytes) is not None
    return known and not path.is_dir()


@checked(language=Text())
def read(path: Path, *, language: str = "en") -> Draft:
    """Read a graph; `language` chooses labels, with fallbacks: no language, then any language."""
    draft = Draft(str(path))
    text = read_text(path)
    if not text.strip():
        return draft
    syntax = _syntax_of(path, text)
    optional("rdflib")
    from ontomask.taxonomy.readers import rdf_concepts, rdf_graph

    graph = rdf_graph.parse(text, syntax, path)
    rdf_concepts.fill(draft, graph, language)
    if not len(draft):
        raise EmptyTaxonomyError(
            f"{path} holds {len(graph)} RDF statements but no concept; a taxonomy needs classes "
            "(owl:Class, rdfs:Class, rdfs:subClassOf) or concepts (skos:Concept, skos:broader)."
        )
    return draft


def _syntax_of(path: Path, text: str) -> str:
    """Name the serialization of a file, in rdflib's words."""
    by_suffix = SYNTAXES.get(plain_suffix(path))
    by_content = _syntax_of_content(text[:SNIFFED].encode())
    if by_suffix in TURTLE_FAMILY and by_content == "turtle":
        return by_suffix
    syntax = by_content or by_suffix
    is_rdf_xml = text.lstrip("\ufeff \t\r\n").startswith("<") and NAMESPACE in text
    if syntax is None or (syntax == "xml" and not is_rdf_xml):
        raise FormatError(
            f"{path} is not RDF that can be read; save the ontology as RDF/XML, Turtle, N-Triples "
            "or JSON-LD (OWL/XML, functional and Manchester syntax are not read)."
        )
    return syntax


def _syntax_of_content(first_bytes: bytes) -> str | None:
    start = first_bytes.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"{", b"[")):
        return "json-ld" if _JSON_LD.search(start) else None
    if _XML.match(start):
        return "xml" if _RDF_XML.search(start) else None
    comments = _COMMENTS.match(start)
    return "turtle" if _TURTLE.match(start, comments.end() if comments else 0) else None


READER = Reader("rdf", can_read, read)
