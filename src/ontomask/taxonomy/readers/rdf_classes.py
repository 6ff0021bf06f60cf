"""The class hierarchy of an OWL or RDFS ontology.

Concepts are the named classes: declared (owl:Class, rdfs:Class), used in rdfs:subClassOf, or the
type of a named individual. The terms of RDF, RDFS and OWL themselves are none: a class below
owl:Thing is a root. What is marked owl:deprecated is left out, with its links.

Parents are the named classes that a class is stated to be below: by rdfs:subClassOf, and as a named
member of an intersection that the class is below or equivalent to (many ontologies state parents in
definitions only: "Pneumonia = Disease and located in some Lung"). Restrictions, unions and the
equivalence of two named classes are ignored.

Individuals hang below the classes that they are instances of.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from rdflib import OWL, RDF, RDFS, SKOS, XSD, Graph, URIRef
from rdflib.term import Node

from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.readers.rdf_names import (
    add_concepts,
    deprecated,
    forms,
    unique_identifiers,
    version,
)

__all__ = ["fill"]

LABEL_PROPERTIES = (RDFS.label, SKOS.prefLabel)
VOCABULARIES = tuple(str(vocabulary) for vocabulary in (RDF, RDFS, OWL, XSD))

Link = tuple[URIRef, URIRef]


def fill(draft: Draft, graph: Graph, language: str) -> None:
    """Add the classes and individuals of an ontology to a draft."""
    left_out = deprecated(graph)
    links = set(_class_links(graph))
    classes = _classes(graph, links) - left_out
    memberships = {
        (individual, kind)
        for individual, kind in _memberships(graph)
        if kind in classes and individual not in classes
    }
    concepts = classes | {individual for individual, _ in memberships} | _individuals(graph)
    concepts = {concept for concept in concepts if concept not in left_out}
    identifiers = unique_identifiers({concept: forms(concept) for concept in concepts})
    add_concepts(draft, graph, identifiers, LABEL_PROPERTIES, language)
    for child, parent in sorted(links | memberships):
        if child in concepts and parent in concepts:
            draft.add_link(identifiers[child], identifiers[parent])
    draft.version = version(graph)


def _classes(graph: Graph, links: set[Link]) -> set[URIRef]:
    declared = [*graph.subjects(RDF.type, OWL.Class), *graph.subjects(RDF.type, RDFS.Class)]
    used = [node for pair in graph.subject_objects(RDFS.subClassOf) for node in pair]
    linked = [node for link in links for node in link]
    kinds = [kind for node in _individuals(graph) for kind in graph.objects(node, RDF.type)]
    return {node for node in [*declared, *used, *linked, *kinds] if _is_named(node)}


def _individuals(graph: Graph) -> set[URIRef]:
    return {node for node in graph.subjects(RDF.type, OWL.NamedIndividual) if _is_named(node)}


def _class_links(graph: Graph) -> Iterator[Link]:
    """Yield (class, named superclass) from every kind of statement that has one."""
    for predicate in (RDFS.subClassOf, OWL.equivalentClass, OWL.intersectionOf):
        for child, stated in graph.subject_objects(predicate):
            if predicate == OWL.equivalentClass and isinstance(stated, URIRef):
                continue
            start = _members(graph, stated) if predicate == OWL.intersectionOf else [stated]
            for parent in _named_conjuncts(graph, start):
                if _is_named(child) and child != parent:
                    yield child, parent


def _memberships(graph: Graph) -> Iterator[Link]:
    """Yield (individual, named class)."""
    for individual, stated in graph.subject_objects(RDF.type):
        for kind in _named_conjuncts(graph, [stated]):
            if _is_named(individual):
                yield individual, kind


def _named_conjuncts(graph: Graph, nodes: list[Node]) -> Iterator[URIRef]:
    """Yield the named classes among `nodes` and inside the intersections among them."""
    waiting, seen = list(nodes), set(nodes)
    while waiting:
        node = waiting.pop()
        if _is_named(node):
            yield node
        elif not isinstance(node, URIRef):
            for listed in graph.objects(node, OWL.intersectionOf):
                fresh = [member for member in _members(graph, listed) if member not in seen]
                seen.update(fresh)
                waiting.extend(fresh)


def _members(graph: Graph, listed: Node) -> list[Node]:
    """Return the members of an RDF list; one that bites its tail ends there."""
    members: list[Node] = []
    seen: set[Node] = set()
    cell: Node | None = listed
    while cell is not None and cell != RDF.nil and cell not in seen:
        seen.add(cell)
        members.extend(graph.objects(cell, RDF.first))
        cell = next(iter(graph.objects(cell, RDF.rest)), None)
    return members


def _is_named(node: Node) -> TypeGuard[URIRef]:
    """Tell whether a node is an IRI of the ontology's own, not of the language it is written in."""
    return isinstance(node, URIRef) and not str(node).startswith(VOCABULARIES)
