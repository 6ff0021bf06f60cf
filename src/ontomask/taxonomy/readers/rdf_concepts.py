"""The concept hierarchy of a SKOS thesaurus or classification (NACE, EuroVoc, AGROVOC, ...).

Concepts are the instances of skos:Concept and whatever a hierarchical link or a concept scheme
names as one. Parents come from skos:broader, skos:narrower read backwards, and the generic variants
of ISO 25964; partitive and instance variants are no is-a links. skos:broaderTransitive and
skos:narrowerTransitive are used only when a file has none of these, less the links that follow from
others. A concept scheme is not a concept: its top concepts are roots. What is marked owl:deprecated
is left out.

The id is the notation ("01.11") where a concept has one that no other concept carries, with the
IRI's local part as a synonym, and otherwise the local part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rdflib import RDF, RDFS, SKOS, Graph, Literal, Namespace, URIRef
from rdflib.term import Node

from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.readers.rdf_names import (
    add_concepts,
    deprecated,
    forms,
    unique_identifiers,
    version,
)

__all__ = ["fill", "is_thesaurus"]

ISO_THES = Namespace("http://purl.org/iso25964/skos-thes#")
LABEL_PROPERTIES = (SKOS.prefLabel, RDFS.label)
BROADER = (SKOS.broader, ISO_THES.broaderGeneric)
NARROWER = (SKOS.narrower, ISO_THES.narrowerGeneric)

Link = tuple[URIRef, URIRef]


def is_thesaurus(graph: Graph) -> bool:
    """Tell whether the graph has a SKOS concept or a SKOS link."""
    if (None, RDF.type, SKOS.Concept) in graph:
        return True
    return any((None, predicate, None) in graph for predicate in (*BROADER, *NARROWER))


def fill(draft: Draft, graph: Graph, language: str) -> None:
    """Add the concepts of a thesaurus to a draft."""
    left_out = deprecated(graph)
    links = _links(graph)
    concepts = {concept for concept in _concepts(graph, links) if concept not in left_out}
    identifiers = _identifiers(graph, concepts)
    add_concepts(draft, graph, identifiers, LABEL_PROPERTIES, language)
    for child, parent in sorted(links):
        if child in concepts and parent in concepts:
            draft.add_link(identifiers[child], identifiers[parent])
    draft.version = version(graph)


def _concepts(graph: Graph, links: set[Link]) -> set[URIRef]:
    typed = graph.subjects(RDF.type, SKOS.Concept)
    tops = [*graph.objects(None, SKOS.hasTopConcept), *graph.subjects(SKOS.topConceptOf, None)]
    linked = [node for link in links for node in link]
    return {node for node in [*typed, *tops, *linked] if isinstance(node, URIRef)}


def _links(graph: Graph) -> set[Link]:
    direct = _stated(graph, BROADER, NARROWER)
    if direct:
        return direct
    return _reduced(_stated(graph, [SKOS.broaderTransitive], [SKOS.narrowerTransitive]))


def _stated(graph: Graph, upward: Iterable[URIRef], downward: Iterable[URIRef]) -> set[Link]:
    pairs: list[tuple[Node, Node]] = []
    for predicate in upward:
        pairs.extend(graph.subject_objects(predicate))
    for predicate in downward:
        pairs.extend((child, parent) for parent, child in graph.subject_objects(predicate))
    return {
        (child, parent)
        for child, parent in pairs
        if isinstance(child, URIRef) and isinstance(parent, URIRef)
    }


def _reduced(links: set[Link]) -> set[Link]:
    """Leave out a link to a concept that is also above another parent of the same child."""
    above: dict[URIRef, set[URIRef]] = {}
    for child, parent in links:
        above.setdefault(child, set()).add(parent)
    return {
        (child, parent)
        for child, parents in above.items()
        for parent in parents
        if not any(parent in above.get(other, ()) for other in parents - {parent})
    }


def _identifiers(graph: Graph, concepts: set[URIRef]) -> dict[URIRef, str]:
    notations = {concept: _notations(graph, concept) for concept in concepts}
    carried = Counter(notation for found in notations.values() for notation in found)
    candidates: dict[URIRef, Sequence[str]] = {}
    for concept, found in notations.items():
        own = [notation for notation in found if carried[notation] == 1]
        candidates[concept] = [*own[:1], *forms(concept)]
    return unique_identifiers(candidates)


def _notations(graph: Graph, concept: URIRef) -> list[str]:
    """Return the notations of a concept, each once, in alphabetical order."""
    values = graph.objects(concept, SKOS.notation)
    return sorted(
        {text for value in values if isinstance(value, Literal) and (text := value.strip())}
    )
