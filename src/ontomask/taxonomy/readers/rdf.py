"""OWL, RDFS and SKOS in any usual serialization of RDF, read with rdflib (the extra `rdf`).

Whether the graph is a thesaurus (SKOS) or an ontology (OWL, RDFS) is told by its statements: see
`rdf_concepts` and `rdf_classes`.

Nothing is ever fetched: owl:imports are ignored, a JSON-LD context from elsewhere is refused.
"""

from __future__ import annotations

from pathlib import Path

from ontomask.checks import Text, checked
from ontomask.errors import DependencyError, EmptyTaxonomyError
from ontomask.taxonomy.draft import Draft, Reader
from ontomask.taxonomy.readers.rdf_syntax import is_rdf, syntax_of
from ontomask.taxonomy.readers.sources import read_text

__all__ = ["READER"]


def can_read(path: Path, first_bytes: bytes) -> bool:
    """Recognize RDF by its content or by a suffix that is used for nothing else."""
    return not path.is_dir() and is_rdf(path, first_bytes)


@checked(language=Text())
def read(path: Path, *, language: str = "en") -> Draft:
    """Read a graph; `language` chooses labels, with fallbacks: no language, then any language."""
    draft = Draft(str(path))
    text = read_text(path)
    if not text.strip():
        return draft
    syntax = syntax_of(path, text)
    try:
        import rdflib  # noqa: F401
    except ImportError:
        raise DependencyError(
            f"{path} is RDF, and reading it needs the package rdflib, which is not installed; "
            'install it with: pip install "ontomask[rdf]"'
        ) from None
    from ontomask.taxonomy.readers import rdf_classes, rdf_concepts, rdf_graph

    graph = rdf_graph.parse(text, syntax, path)
    if rdf_concepts.is_thesaurus(graph):
        rdf_concepts.fill(draft, graph, language)
    else:
        rdf_classes.fill(draft, graph, language)
    if not len(draft):
        raise EmptyTaxonomyError(
            f"{path} holds {len(graph)} RDF statements but no concept; a taxonomy needs classes "
            "(owl:Class, rdfs:Class, rdfs:subClassOf) or concepts (skos:Concept, skos:broader)."
        )
    return draft


READER = Reader("rdf", can_read, read)
