"""Identifiers and words for the resources of an RDF graph.

Ids. The id is the IRI's local part: what follows the last ``#`` or, without one, the last ``/``,
percent-decoded. IRIs that share a local part all take the longer form that begins one part earlier
(``cars/Beetle`` and ``insects/Beetle``), and the whole IRI where even this is shared; the result
does not depend on any order.

Words. Of several labels the one in the chosen language is taken, then one in a regional variant of
it, then one without a language, then any; among equals the preferred property, then alphabetical
order decides. Synonyms are all other labels and alternative labels in the chosen language, in the
language of the label and without a language: words of other languages are not synonyms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from rdflib import RDFS, SKOS, Graph, Literal, Namespace, URIRef
from rdflib.term import Node

from ontomask.taxonomy.draft import Draft

__all__ = ["add_concepts", "forms", "unique_identifiers"]

OBO = Namespace("http://purl.obolibrary.org/obo/")
OBO_IN_OWL = Namespace("http://www.geneontology.org/formats/oboInOwl#")

SYNONYM_PROPERTIES = (
    SKOS.altLabel,
    SKOS.hiddenLabel,
    OBO_IN_OWL.hasExactSynonym,
    OBO_IN_OWL.hasNarrowSynonym,
    OBO_IN_OWL.hasBroadSynonym,
    OBO_IN_OWL.hasRelatedSynonym,
    OBO.IAO_0000118,
)
GLOSS_PROPERTIES = (OBO.IAO_0000115, SKOS.definition, RDFS.comment)
CODE_PROPERTIES = (SKOS.notation, OBO_IN_OWL.id, OBO_IN_OWL.hasAlternativeId)

REGIONAL_VARIANT, UNTAGGED, OTHER_LANGUAGE = 1, 2, 3


class Text(NamedTuple):
    """A literal with the rank of its property; `language` is empty where there is none."""

    rank: int
    language: str
    content: str


def _local_part(iri: str) -> str:
    """Return what follows the last ``#``, or else the last ``/`` (or ``:``), percent-decoded."""
    trimmed = iri.rstrip("#/")
    for separator in "#/:":
        if separator in trimmed:
            return unquote(trimmed.rpartition(separator)[2])
    return unquote(trimmed) or str(iri)


def forms(iri: str) -> tuple[str, str, str]:
    """Return the names an IRI can go by, from the shortest to the only safe one."""
    trimmed = iri.rstrip("#/")
    cut = max(trimmed.rfind("#"), trimmed.rfind("/"))
    before = trimmed[: max(cut, 0)].rstrip("#/")
    start = max(before.rfind("#"), before.rfind("/")) + 1
    return _local_part(iri), unquote(trimmed[start:]), str(iri)


def unique_identifiers(candidates: Mapping[URIRef, Sequence[str]]) -> dict[URIRef, str]:
    """Give every resource the first of its candidates that no other resource goes by."""
    level = dict.fromkeys(candidates, 0)
    while True:
        chosen = {node: names[level[node]] for node, names in candidates.items()}
        used = Counter(chosen.values())
        shared = [
            node
            for node, name in chosen.items()
            if used[name] > 1 and level[node] + 1 < len(candidates[node])
        ]
        if not shared:
            return chosen
        for node in shared:
            level[node] += 1


def add_concepts(
    draft: Draft,
    graph: Graph,
    identifiers: Mapping[URIRef, str],
    label_properties: Sequence[URIRef],
    language: str,
) -> None:
    """Add every resource under its id, in alphabetical order of the IRIs, with its words.

    Codes and the local part become synonyms where they are not the id; a resource without any
    label is labeled with its local part.
    """
    labels = _texts(graph, label_properties)
    alternatives = _texts(graph, SYNONYM_PROPERTIES)
    glosses = _texts(graph, GLOSS_PROPERTIES)
    codes = _texts(graph, CODE_PROPERTIES)
    for node in sorted(identifiers):
        identifier, local = identifiers[node], _local_part(node)
        label, synonyms = _words(labels.get(node, []), alternatives.get(node, []), language)
        spare = [*synonyms, *sorted(text.content for text in codes.get(node, [])), local]
        label = label or local
        draft.add_concept(
            identifier,
            label,
            synonyms=dict.fromkeys(word for word in spare if word not in (label, identifier)),
            gloss=_words(glosses.get(node, []), [], language)[0],
        )


def _texts(graph: Graph, properties: Sequence[URIRef]) -> dict[Node, list[Text]]:
    texts: dict[Node, list[Text]] = {}
    for rank, predicate in enumerate(properties):
        for node, value in graph.subject_objects(predicate):
            if isinstance(value, Literal) and (content := " ".join(value.split())):
                tag = (value.language or "").lower()
                texts.setdefault(node, []).append(Text(rank, tag, content))
    return texts


def _words(labels: list[Text], alternatives: list[Text], language: str) -> tuple[str, list[str]]:
    """Choose a label and synonyms by the rule at the head of this module."""
    language = language.lower()
    ordered = sorted(labels, key=lambda text: (_distance(text, language), text))
    accepted = {ordered[0].language} if ordered else set()
    synonyms = [
        text.content
        for text in [*ordered[1:], *sorted(alternatives)]
        if _distance(text, language)[0] < OTHER_LANGUAGE or text.language in accepted
    ]
    return (ordered[0].content if ordered else ""), synonyms


def _distance(text: Text, language: str) -> tuple[int, str]:
    """Say how far a text's language is from the wanted one; other languages go by their tags."""
    if text.language == language:
        return 0, ""
    if not text.language:
        return UNTAGGED, ""
    if text.language.partition("-")[0] == language.partition("-")[0]:
        return REGIONAL_VARIANT, text.language
    return OTHER_LANGUAGE, text.language
