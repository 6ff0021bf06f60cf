"""The concepts of an RDF graph and their hierarchy; its statements tell which kind of graph it is.

A thesaurus or classification in SKOS (NACE, EuroVoc, AGROVOC, ...): concepts are the instances of
skos:Concept and whatever a hierarchical link or a concept scheme names as one. Parents come from
skos:broader, skos:narrower read backwards, and the generic variants of ISO 25964; partitive and
instance variants are no is-a links. skos:broaderTransitive and skos:narrowerTransitive are used
only when a file has none of these, less the links that follow from others. A concept scheme is not
a concept: its top concepts are roots. The id is the notation ("01.11") where a concept has one that
no other concept carries, with the IRI's local part as a synonym, and otherwise the local part.

An ontology in OWL or RDFS: concepts are the named classes: declared (owl:Class, rdfs:Class), used
in rdfs:subClassOf, or the type of a named individual. The terms of RDF, RDFS and OWL themselves are
none: a class below owl:Thing is a root. Parents are the named classes that a class is stated to be
below: by rdfs:subClassOf, and as a named member of an intersection that the class is below or
equivalent to (many ontologies state parents in definitions only: "Pneumonia = Disease and located
in some Lung"). Restrictions, unions and the equivalence of two named classes are ignored.
Individuals hang below the classes that they are instances of.

What is marked owl:deprecated is left out, with its links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeGuard

from rdflib import OWL, RDF, RDFS, SKOS, XSD, Graph, Namespace, URIRef
from rdflib.term import Node

from ontomask.taxonomy.draft import Draft
from ontomask.taxonomy.readers.rdf_names import add_concepts, forms, unique_identifiers

__all__ = ["fill"]

ISO_THES = Namespace("http://purl.org/iso25964/skos-thes#")
BROADER = (SKOS.broader, ISO_THES.broaderGeneric)
NARROWER = (SKOS.narrower, ISO_THES.narrowerGeneric)
VOCABULARIES = tuple(str(vocabulary) for vocabulary in (RDF, RDFS, OWL, XSD))

Link = tuple[URIRef, URIRef]


class _Found(NamedTuple):
    """Concepts, links from child to parent, and the properties of labels, the preferred first."""

    concepts: set[URIRef]
    links: set[Link]
    labels: tuple[URIRef, ...]


def fill(draft: Draft, graph: Graph, language: str) -> None:
    """Add the concepts of a graph to a draft."""
    marks = graph.subject_objects(OWL.deprecated)
    left_out = {node for node, mark in marks if str(mark).strip().lower() in ("true", "1")}
    is_thesaurus = _is_thesaurus(graph)
    found = _thesaurus(graph) if is_thesaurus else _ontology(graph, left_out)
    concepts = {concept for concept in found.concepts if concept not in left_out}
    codes = _own_notations(graph, concepts) if is_thesaurus else {}
    identifiers = unique_identifiers(
        {node: [*codes.get(node, [])[:1], *forms(node)] for node in concepts}
    )
    add_concepts(draft, graph, identifiers, found.labels, language)
    for child, parent in sorted(found.links):
        if child in concepts and parent in concepts:
            draft.add_link(identifiers[child], identifiers[parent])
    draft.version = _version(graph)


def _version(graph: Graph) -> str:
    """Return the version that the ontology or the concept scheme states, or nothing."""
    headers = [
        *graph.subjects(RDF.type, OWL.Ontology),
        *graph.subjects(RDF.type, SKOS.ConceptScheme),
    ]
    for stated in (OWL.versionInfo, OWL.versionIRI):
        found = sorted(str(value) for header in headers for value in graph.objects(header, stated))
        if found:
            return found[0]
    return ""


# Thesauri -------------------------------------------------------------------------------------


def _is_thesaurus(graph: Graph) -> bool:
    """Tell whether the graph has a SKOS concept or a SKOS link."""
    if (None, RDF.type, SKOS.Concept) in graph:
        return True
    return any((None, predicate, None) in graph for predicate in (*BROADER, *NARROWER))


def _thesaurus(graph: Graph) -> _Found:
    links = _stated(graph, BROADER, NARROWER)
    if not links:
        links = _reduced(_stated(graph, [SKOS.broaderTransitive], [SKOS.narrowerTransitive]))
    typed = graph.subjects(RDF.type, SKOS.Concept)
    tops = [*graph.objects(None, SKOS.hasTopConcept), *graph.subjects(SKOS.topConceptOf, None)]
    linked = [node for link in links for node in link]
    concepts = {node for node in [*typed, *tops, *linked] if isinstance(node, URIRef)}
    return _Found(concepts, links, (SKOS.prefLabel, RDFS.label))


def _own_notations(graph: Graph, concepts: set[URIRef]) -> dict[URIRef, list[str]]:
    """Return the notations of each concept that no other concept carries, in order."""
    stated = {
        concept: {str(one).strip() for one in graph.objects(concept, SKOS.notation)} - {""}
        for concept in concepts
    }
    carried = Counter(notation for found in stated.values() for notation in found)
    return {
        concept: sorted(notation for notation in found if carried[notation] == 1)
        for concept, found in stated.items()
    }


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


# Ontologies -----------------------------------------------------------------------------------


def _ontology(graph: Graph, left_out: set[Node]) -> _Found:
    links = set(_class_links(graph))
    individuals = graph.subjects(RDF.type, OWL.NamedIndividual)
    named = {node for node in individuals if _is_named(node)}
    classes = _classes(graph, links, named) - left_out
    memberships = {
        (individual, kind)
        for individual, kind in _memberships(graph)
        if kind in classes and individual not in classes
    }
    concepts = classes | named | {individual for individual, _ in memberships}
    return _Found(concepts, links | memberships, (RDFS.label, SKOS.prefLabel))


def _classes(graph: Graph, links: set[Link], individuals: set[URIRef]) -> set[URIRef]:
    declared = [*graph.subjects(RDF.type, OWL.Class), *graph.subjects(RDF.type, RDFS.Class)]
    used = [node for pair in graph.subject_objects(RDFS.subClassOf) for node in pair]
    linked = [node for link in links for node in link]
    kinds = [kind for node in individuals for kind in graph.objects(node, RDF.type)]
    return {node for node in [*declared, *used, *linked, *kinds] if _is_named(node)}


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
