"""SKOS thesauri and classifications."""

import pytest

from ontomask.errors import UnsafeSourceError
from ontomask.taxonomy.readers import rdf
from ontomask.taxonomy.readers.sources import first_bytes

pytest.importorskip("rdflib")

PREFIXES = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix iso: <http://purl.org/iso25964/skos-thes#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix nace: <http://data.europa.eu/ux2/nace2.1/> .
@prefix : <http://example.org/thesaurus#> .
"""

NACE = (
    PREFIXES
    + """
nace:nace2.1 a skos:ConceptScheme ; skos:prefLabel "NACE Rev. 2.1"@en ; owl:versionInfo "2.1" ;
    skos:hasTopConcept nace:A .
nace:A a skos:Concept ; skos:notation "A" ; skos:inScheme nace:nace2.1 ;
    skos:prefLabel "AGRICULTURE, FORESTRY AND FISHING"@en, "LANDWIRTSCHAFT"@de .
nace:01 a skos:Concept ; skos:notation "01" ; skos:broader nace:A ;
    skos:prefLabel "Crop and animal production"@en .
nace:011 a skos:Concept ; skos:notation "01.1" ; skos:broader nace:01 ;
    skos:narrower nace:0111 ; skos:prefLabel "Growing of non-perennial crops"@en .
nace:0111 a skos:Concept ; skos:notation "01.11" ;
    skos:prefLabel "Growing of cereals, other than rice"@en, "Anbau von Getreide"@de ;
    skos:altLabel "grain growing"@en, "Getreideanbau"@de ; skos:hiddenLabel "cerials"@en ;
    skos:definition "This class includes all forms of growing of cereals."@en .
"""
)


@pytest.fixture
def read(tmp_path):
    def write_and_read(text, name="thesaurus.ttl", **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        assert rdf.can_read(path, first_bytes(path))
        return rdf.read(path, **options)

    return write_and_read


def links(draft):
    return {(child, parent) for child, parent, _ in draft.links}


def label(draft, identifier):
    return draft.labels[draft.positions[identifier]]


def synonyms(draft, identifier):
    return draft.synonyms[draft.positions[identifier]]


def test_a_classification_with_notations(read):
    draft = read(NACE)
    assert set(draft.positions) == {"A", "01", "01.1", "01.11"}
    assert links(draft) == {("01", "A"), ("01.1", "01"), ("01.11", "01.1")}
    assert label(draft, "01.11") == "Growing of cereals, other than rice"
    assert synonyms(draft, "01.11") == ("grain growing", "cerials", "0111")
    assert draft.glosses[draft.positions["01.11"]].startswith("This class includes")
    assert synonyms(draft, "A") == ()
    assert draft.version == "2.1"


def test_labels_in_another_language(read):
    draft = read(NACE, language="de")
    assert label(draft, "01.11") == "Anbau von Getreide"
    assert synonyms(draft, "01.11") == ("Getreideanbau", "0111")
    assert label(draft, "01") == "Crop and animal production"


def test_rdf_xml(read):
    draft = read(
        """<?xml version="1.0" encoding="UTF-8"?>
        <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
                 xmlns:skos="http://www.w3.org/2004/02/skos/core#">
          <skos:Concept rdf:about="http://eurovoc.europa.eu/1434">
            <skos:prefLabel xml:lang="en">administrative law</skos:prefLabel>
            <skos:broader rdf:resource="http://eurovoc.europa.eu/527"/>
          </skos:Concept>
          <skos:Concept rdf:about="http://eurovoc.europa.eu/527">
            <skos:prefLabel xml:lang="en">law</skos:prefLabel>
          </skos:Concept>
        </rdf:RDF>""",
        "eurovoc.rdf",
    )
    assert links(draft) == {("1434", "527")}
    assert label(draft, "1434") == "administrative law"


def test_without_notations_local_parts_are_ids(read):
    draft = read(PREFIXES + ":cat a skos:Concept ; skos:broader <http://example.org/animal> .")
    assert links(draft) == {("cat", "animal")}


def test_the_notation_of_a_deprecated_concept_is_free(read):
    draft = read(
        PREFIXES
        + """:old a skos:Concept ; skos:notation "1" ; owl:deprecated true .
        :new a skos:Concept ; skos:notation "1" ."""
    )
    assert list(draft.positions) == ["1"]


def test_a_shared_notation_is_a_synonym_only(read):
    draft = read(
        PREFIXES
        + """:x a skos:Concept ; skos:notation "1" . :y a skos:Concept ; skos:notation "1", "2" .
        :z a skos:Concept ; skos:notation "x" ."""
    )
    # z's notation is x's local part: both take their next names.
    assert set(draft.positions) == {"thesaurus#x", "2", "z"}
    assert synonyms(draft, "thesaurus#x") == ("1",)
    assert set(synonyms(draft, "2")) == {"1"}
    assert synonyms(draft, "z") == ("x",)


def test_only_generic_links_are_hierarchical(read):
    draft = read(
        PREFIXES
        + """:cat a skos:Concept ; iso:broaderGeneric :mammal ; skos:related :dog ;
        skos:broadMatch :pet . :mammal iso:narrowerGeneric :dog .
        :paw a skos:Concept ; iso:broaderPartitive :cat ."""
    )
    assert links(draft) == {("cat", "mammal"), ("dog", "mammal")}
    assert set(draft.positions) == {"cat", "mammal", "dog", "paw"}


TRANSITIVE = """
:a a skos:Concept ; skos:broaderTransitive :b, :c, :d . :b skos:broaderTransitive :c, :d .
:d skos:narrowerTransitive :c .
"""


def test_transitive_links_only_where_there_are_no_others(read):
    draft = read(PREFIXES + TRANSITIVE)
    assert links(draft) == {("a", "b"), ("b", "c"), ("c", "d")}
    draft = read(PREFIXES + TRANSITIVE + ":a skos:broader :d .")
    assert links(draft) == {("a", "d")}


def test_top_concepts_are_roots_and_schemes_are_no_concepts(read):
    draft = read(
        PREFIXES
        + """:scheme a skos:ConceptScheme ; skos:hasTopConcept :a . :b skos:topConceptOf :scheme .
        :c a skos:Concept ; skos:broader :a ; skos:inScheme :scheme ."""
    )
    assert set(draft.positions) == {"a", "b", "c"}
    assert links(draft) == {("c", "a")}


def test_deprecated_concepts_are_left_out(read):
    draft = read(
        PREFIXES
        + ":a a skos:Concept . :b skos:broader :a ; owl:deprecated true . :c skos:broader :b, :a ."
    )
    assert links(draft) == {("c", "a")}
    assert set(draft.positions) == {"a", "c"}


def test_an_ontology_with_skos_labels_is_no_thesaurus(read):
    draft = read(PREFIXES + ':a rdfs:subClassOf :b ; skos:prefLabel "alpha" .')
    assert links(draft) == {("a", "b")}
    assert label(draft, "a") == "alpha"


def test_the_order_of_statements_does_not_matter(read):
    body = NACE.removeprefix(PREFIXES)
    blocks = [block for block in body.split(" .\n") if block.strip()]
    shuffled = read(PREFIXES + " .\n".join(reversed(blocks)) + " .\n", "shuffled.ttl")
    draft = read(NACE)
    assert list(shuffled.positions) == list(draft.positions)
    assert shuffled.synonyms == draft.synonyms
    assert shuffled.links == draft.links


def test_an_entity_bomb_is_refused(tmp_path):
    path = tmp_path / "skos.rdf"
    path.write_text(
        '<!DOCTYPE rdf:RDF [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><rdf:RDF xmlns:rdf='
        '"http://www.w3.org/1999/02/22-rdf-syntax-ns#">&c;</rdf:RDF>'
    )
    with pytest.raises(UnsafeSourceError, match=r"skos\.rdf, line 1"):
        rdf.read(path)
