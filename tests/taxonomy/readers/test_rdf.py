"""OWL and RDFS: serializations, ids, parents, individuals, languages, and hostile files."""

import gzip
import json
import subprocess
import sys
import urllib.request

import pytest

from ontomask.errors import (
    DependencyError,
    EmptyTaxonomyError,
    EncodingError,
    FormatError,
    ParameterError,
    SourceNotFoundError,
    UnsafeSourceError,
)
from ontomask.taxonomy.readers import rdf, xml_safety
from ontomask.taxonomy.readers.sources import first_bytes

pytest.importorskip("rdflib")

PREFIXES = """\
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix oboInOwl: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix : <http://example.org/clinic#> .
"""

# As ontology editors write it: entities abbreviate the namespaces.
EDITOR_OWL = """\
<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [
    <!-- the editor's abbreviations -->
    <!ENTITY owl "http://www.w3.org/2002/07/owl#" >
    <!ENTITY rdfs "http://www.w3.org/2000/01/rdf-schema#" >
    <!ENTITY clinic 'http://example.org/clinic{separator}' >
]>
<rdf:RDF xmlns="&clinic;" xml:base="http://example.org/clinic"
     xmlns:owl="http://www.w3.org/2002/07/owl#"
     xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
     xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
    <owl:Ontology rdf:about="http://example.org/clinic">
        <owl:imports rdf:resource="http://example.invalid/other.owl"/>
        <owl:versionInfo>2.4</owl:versionInfo>
    </owl:Ontology>
    <owl:Class rdf:about="&clinic;Disease"><rdfs:subClassOf rdf:resource="&owl;Thing"/></owl:Class>
    <owl:Class rdf:about="&clinic;Lung_disease">
        <rdfs:label xml:lang="en">Disease of the lung &amp; airways</rdfs:label>
        <rdfs:subClassOf rdf:resource="&clinic;Disease"/>
        <rdfs:comment><![CDATA[literally &owl; here]]></rdfs:comment>
    </owl:Class>
    <owl:NamedIndividual rdf:about="&clinic;index_case">
        <rdf:type rdf:resource="&clinic;Lung_disease"/>
    </owl:NamedIndividual>
</rdf:RDF>
"""


@pytest.fixture
def read(tmp_path):
    """Write a text to a file and read it, as the loader would: only if it is recognized."""

    def write_and_read(text, name="ontology.ttl", **options):
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


def gloss(draft, identifier):
    return draft.glosses[draft.positions[identifier]]


@pytest.mark.parametrize("separator", ["#", "/"])
def test_editor_files_with_hash_and_with_slash(read, separator):
    draft = read(EDITOR_OWL.replace("{separator}", separator), "clinic.owl")
    assert set(draft.positions) == {"Disease", "Lung_disease", "index_case"}
    assert links(draft) == {("Lung_disease", "Disease"), ("index_case", "Lung_disease")}
    assert label(draft, "Lung_disease") == "Disease of the lung & airways"
    assert label(draft, "Disease") == "Disease"
    assert gloss(draft, "Lung_disease") == "literally &owl; here"
    assert draft.version == "2.4"


SAME = {
    "a.ttl": "@prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    "<http://x.org/b%20c> r:subClassOf <http://x.org/a> .",
    "a.nt": "<http://x.org/b%20c> <http://www.w3.org/2000/01/rdf-schema#subClassOf> "
    "<http://x.org/a> .\n",
    "a.n3": "@prefix r: <http://www.w3.org/2000/01/rdf-schema#>.\n"
    "<http://x.org/b%20c> r:subClassOf <http://x.org/a>.",
    "a.trig": "@prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    "<http://x.org/graph> { <http://x.org/b%20c> r:subClassOf <http://x.org/a> . }",
    "a.nq": "<http://x.org/b%20c> <http://www.w3.org/2000/01/rdf-schema#subClassOf> "
    "<http://x.org/a> <http://x.org/graph> .\n",
    "a.jsonld": '{"@context": {"r": "http://www.w3.org/2000/01/rdf-schema#"}, "@id": '
    '"http://x.org/b%20c", "r:subClassOf": {"@id": "http://x.org/a"}}',
    "a.json": '{"@graph": [{"@id": "http://x.org/b%20c", '
    '"http://www.w3.org/2000/01/rdf-schema#subClassOf": [{"@id": "http://x.org/a"}]}]}',
    "a.rdf": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:r="http://www.w3.org/2000/01/rdf-schema#"><rdf:Description '
    'rdf:about="http://x.org/b%20c"><r:subClassOf rdf:resource="http://x.org/a"/>'
    "</rdf:Description></rdf:RDF>",
}
# A suffix is only a hint: these contents are recognized under names that say less or otherwise.
SAME["turtle.owl"] = SAME["a.ttl"]
SAME["commented.txt"] = "# a comment first\n\n" + SAME["a.nt"]
SAME["rdf.xml"] = SAME["a.rdf"]


@pytest.mark.parametrize("name", SAME)
def test_every_serialization_gives_the_same_taxonomy(read, name):
    draft = read(SAME[name], name)
    assert list(draft.positions) == ["a", "b c"]
    assert links(draft) == {("b c", "a")}


def test_gzip(tmp_path):
    path = tmp_path / "a.ttl.gz"
    path.write_bytes(gzip.compress(SAME["a.ttl"].encode()))
    assert rdf.can_read(path, first_bytes(path))
    assert links(rdf.read(path)) == {("b c", "a")}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("edges.csv", b"child,parent\nprefix,base\n"),
        ("tree.json", b'{"name": "root", "children": []}'),
        ("desc2024.xml", b'<?xml version="1.0"?>\n<DescriptorRecordSet LanguageCode="eng">'),
        ("page.html", b"<html> <head> <title>RDF</title>"),
        ("tree.txt", b"base camp\n  tent\n"),
        ("ontology.obo", b"format-version: 1.2\n\n[Term]\nid: A:1\n"),
        ("empty.txt", b""),
    ],
)
def test_other_formats_are_left_to_their_readers(tmp_path, name, content):
    assert not rdf.can_read(tmp_path / name, content)


def test_a_folder_is_not_rdf(tmp_path):
    folder = tmp_path / "folder.owl"
    folder.mkdir()
    assert not rdf.can_read(folder, b"")


def test_parents_from_definitions(read):
    draft = read(
        PREFIXES
        + """
        :Pneumonia a owl:Class ; owl:equivalentClass [ a owl:Class ; owl:intersectionOf (
            :Infection
            [ a owl:Restriction ; owl:onProperty :site ; owl:someValuesFrom :Lung ]
            [ owl:intersectionOf ( :Inflammation owl:Thing ) ] ) ] .
        :Old a owl:Class ; owl:intersectionOf ( :Infection [ a owl:Restriction ] ) .
        :Sepsis rdfs:subClassOf [ owl:intersectionOf ( :Infection :Sepsis ) ] ,
            [ a owl:Restriction ; owl:onProperty :site ; owl:someValuesFrom :Blood ] .
        :Choice a owl:Class ; owl:equivalentClass [ owl:unionOf ( :Infection :Inflammation ) ] .
        :Contagion a owl:Class ; owl:equivalentClass :Infection .
        :site a owl:ObjectProperty .
        """
    )
    assert links(draft) == {
        ("Pneumonia", "Infection"),
        ("Pneumonia", "Inflammation"),
        ("Old", "Infection"),
        ("Sepsis", "Infection"),
    }
    assert {"Choice", "Contagion"} < set(draft.positions)
    assert not {"Thing", "Lung", "site", "Restriction"} & set(draft.positions)


def test_a_list_that_bites_its_tail_ends(read):
    draft = read(
        PREFIXES
        + """:A owl:intersectionOf _:cell . _:cell rdf:first :B ; rdf:rest _:cell .
        :C rdfs:subClassOf _:self . _:self owl:intersectionOf ( :B _:self ) ."""
    )
    assert links(draft) == {("A", "B"), ("C", "B")}


def test_individuals_hang_below_their_classes(read):
    draft = read(
        PREFIXES
        + """
        :City a rdfs:Class . :Paris a :City . :Rome a owl:NamedIndividual, :City, :Capital .
        :Nowhere a owl:NamedIndividual, owl:Thing .
        :Eagle a owl:Class, :Species . :Species a owl:Class .
        :visited a owl:ObjectProperty . :someone a :Undeclared .
        """
    )
    assert links(draft) == {("Paris", "City"), ("Rome", "City"), ("Rome", "Capital")}
    # A class that is also an instance (Eagle, a Species) stays a class; nothing else is a concept.
    assert set(draft.positions) == {
        "City", "Capital", "Paris", "Rome", "Nowhere", "Eagle", "Species",
    }  # fmt: skip


def test_a_notation_does_not_rename_a_class(read):
    draft = read(PREFIXES + ':A a owl:Class ; skos:notation "X1" .')
    assert list(draft.positions) == ["A"]
    assert synonyms(draft, "A") == ("X1",)


def test_deprecated_classes_are_left_out_with_their_links(read):
    draft = read(
        PREFIXES
        + """:A a owl:Class . :B rdfs:subClassOf :A, :Old . :Old rdfs:subClassOf :A ;
        owl:deprecated true . :Kept rdfs:subClassOf :A ; owl:deprecated false . :x a :Old ."""
    )
    assert set(draft.positions) == {"A", "B", "Kept"}
    assert links(draft) == {("B", "A"), ("Kept", "A")}


def test_shared_local_parts_get_longer_forms(read):
    text = """
        <http://a.org/cars#Beetle> rdfs:subClassOf <http://a.org/cars#Car> .
        <http://a.org/insects/Beetle> rdfs:subClassOf <http://a.org/insects/Insect> .
        <http://a.org/x/Unit> a owl:Class . <http://b.org/x/Unit> a owl:Class .
        """
    draft = read(PREFIXES + text)
    assert set(draft.positions) == {
        "cars#Beetle", "insects/Beetle", "Car", "Insect", "http://a.org/x/Unit",
        "http://b.org/x/Unit",
    }  # fmt: skip
    assert links(draft) == {("cars#Beetle", "Car"), ("insects/Beetle", "Insect")}
    assert label(draft, "cars#Beetle") == "Beetle"
    reordered = read(PREFIXES + "\n".join(reversed(text.splitlines())), "reordered.ttl")
    assert list(reordered.positions) == list(draft.positions)
    assert reordered.links == draft.links


WORDS = (
    PREFIXES
    + """
    :C a owl:Class ; rdfs:label "Zahn"@de, "tooth"@en, "dens" ; skos:prefLabel "tooth (organ)"@en ;
       skos:altLabel "dental organ"@en-GB, "Beisser"@de ;
       oboInOwl:hasExactSynonym "chopper" ; oboInOwl:id "UBERON:0001091" ;
       rdfs:comment "A comment."@en ; obo:IAO_0000115 "Used  for\\nchewing." .
    :Untagged a owl:Class ; rdfs:label "Zunge"@de, "lingua" .
    :Foreign a owl:Class ; rdfs:label "langue"@fr, "Zunge"@de ; skos:altLabel "Lecker"@de, "x"@fr .
    """
)


def test_words_in_the_chosen_language(read):
    draft = read(WORDS)
    assert label(draft, "C") == "tooth"
    assert set(synonyms(draft, "C")) == {
        "tooth (organ)", "dens", "dental organ", "chopper", "UBERON:0001091",
    }  # fmt: skip
    assert gloss(draft, "C") == "A comment."
    assert label(draft, "Untagged") == "lingua"
    assert label(draft, "Foreign") == "Zunge"
    assert set(synonyms(draft, "Foreign")) == {"Lecker"}


def test_another_language(read):
    draft = read(WORDS, language="de")
    assert label(draft, "C") == "Zahn"
    assert set(synonyms(draft, "C")) == {"dens", "Beisser", "chopper", "UBERON:0001091"}
    assert gloss(draft, "C") == "Used for chewing."
    assert label(read(WORDS, language="fr"), "Foreign") == "langue"


def test_regional_variants_of_the_language(read):
    text = PREFIXES + ':C a owl:Class ; rdfs:label "colour"@en-GB, "color"@en-US, "aaa" .'
    assert label(read(text), "C") == "colour"
    assert label(read(text, language="en-US"), "C") == "color"


def test_no_class_at_all(read):
    with pytest.raises(EmptyTaxonomyError, match=r"ontology\.ttl holds 1 RDF statements but no"):
        read(PREFIXES + ":a :b :c .")


BOMB = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [
<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&c;</rdf:RDF>"""

REFUSED = {
    "nested": BOMB,
    "external": BOMB.replace('"aaaaaaaaaa"', 'SYSTEM "file:///etc/passwd"'),
    "public": BOMB.replace('"aaaaaaaaaa"', 'PUBLIC "x" "http://example.invalid/x"'),
    "parameter": BOMB.replace("ENTITY a", "ENTITY % a"),
    "character reference": BOMB.replace("aaaaaaaaaa", "&#38;b;"),
    "markup": BOMB.replace("aaaaaaaaaa", "<rdf:li/>"),
    "parameter reference": BOMB.replace("<!ENTITY a", "%x; <!ENTITY a"),
    "quadratic": '<!DOCTYPE rdf:RDF [<!ENTITY a "'
    + "a" * 1000
    + '">]><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    + "&a;" * 20_000
    + "</rdf:RDF>",
    "hidden in an instruction": "<?x <!-- ?>" + BOMB.partition("\n")[2] + "<!-- -->",
}


@pytest.mark.parametrize("name", REFUSED)
def test_entities_are_never_expanded(tmp_path, name):
    path = tmp_path / "bomb.owl"
    path.write_text(REFUSED[name])
    with pytest.raises(UnsafeSourceError, match=r"bomb\.owl.*entities are never expanded"):
        rdf.read(path)


def test_a_refused_entity_is_named(tmp_path):
    path = tmp_path / "bomb.rdf"
    path.write_text(BOMB)
    with pytest.raises(UnsafeSourceError, match=r"bomb\.rdf, line 4: .* the entity 'b'"):
        rdf.read(path)


def test_an_expat_that_does_not_bound_their_growth_is_given_no_abbreviations(read, monkeypatch):
    text = EDITOR_OWL.replace("{separator}", "#")
    assert len(read(text, "clinic.owl")) == 3
    monkeypatch.setattr(xml_safety, "BOUNDED", False)
    with pytest.raises(UnsafeSourceError, match="declares the entity 'owl'"):
        read(text, "clinic.owl")


def test_another_encoding_cannot_hide_a_declaration(tmp_path):
    path = tmp_path / "bomb.owl"
    path.write_bytes(BOMB.replace('"1.0"', '"1.0" encoding="utf-16"').encode("utf-16"))
    with pytest.raises(EncodingError, match=r"bomb\.owl, line 1: byte 0xff is not UTF-8"):
        rdf.read(path)
    path.write_text(EDITOR_OWL.replace('"1.0"', '"1.0" encoding="iso-8859-1"') + "<!-- é -->")
    with pytest.raises(EncodingError, match="says encoding 'iso-8859-1'"):
        rdf.read(path)


def test_an_external_document_type_is_not_fetched(tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("nothing may be fetched")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    path = tmp_path / "a.rdf"
    path.write_text('<!DOCTYPE rdf:RDF SYSTEM "http://example.invalid/x.dtd">\n' + SAME["a.rdf"])
    assert links(rdf.read(path)) == {("b c", "a")}


@pytest.mark.parametrize(
    "context",
    [
        "https://example.invalid/context.jsonld",
        [{"x": "http://x.org/"}, "local.jsonld"],
        {"@import": "https://example.invalid/context.jsonld"},
        {"x": {"@id": "http://x.org/x", "@context": "file:///etc/passwd"}},
    ],
)
def test_a_remote_context_is_refused(tmp_path, context):
    path = tmp_path / "a.jsonld"
    path.write_text(json.dumps({"@graph": [{"@context": context, "@id": "http://x.org/a"}]}))
    with pytest.raises(
        UnsafeSourceError, match=r"a\.jsonld: the JSON-LD context .* lies elsewhere"
    ):
        rdf.read(path)


MALFORMED = {
    "a.owl": (EDITOR_OWL.replace("</owl:Ontology>", "</owl:Class>"), r"a\.owl, line 15: the XML"),
    "b.owl": (EDITOR_OWL.replace("&owl;Thing", "&unknown;Thing"), r"b\.owl, line 16: .*undefined"),
    "e.owl": (EDITOR_OWL.replace("<!ENTITY owl", "<!ATTLIST owl"), r"e\.owl, line 4: .*not well-f"),
    "f.owl": (EDITOR_OWL.partition("</owl:Ontology>")[0], r"f\.owl, line 15: .*no element found"),
    "g.owl": ("<!DOCTYPE rdf:RDF>" + EDITOR_OWL.partition("\n")[2], r"g\.owl, line 1: .*syntax"),
    # Where an external document type is named but not read, expat would leave the entity out.
    "h.owl": (
        EDITOR_OWL.replace("rdf:RDF [", 'rdf:RDF SYSTEM "x.dtd" [').replace("&owl;T", "&other;T"),
        r"h\.owl, line 16: .*undefined entity",
    ),
    "a.ttl": (PREFIXES + ":a a owl:Class .\n:b rdfs:subClassOf ; .\n", r"a\.ttl, line 9: .*Turtle"),
    "a.nt": (SAME["a.nt"] + "<http://x.org/c> nonsense\n", r"a\.nt, line 2: .*N-Triples"),
    "a.jsonld": ('{"@id": "x",\n"@type": }', r"a\.jsonld, line 2: .*JSON-LD"),
    "b.jsonld": ('{"@id":' + "[" * 100_000, r"b\.jsonld: .*nested too deeply"),
    "c.owl": ('<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', r"c\.owl is not RDF .*OWL/XML"),
    "d.owl": ("Prefix(:=<http://x.org/>)\nOntology()", r"d\.owl is not RDF"),
    "binary.owl": ("PK\x00\x01", "binary"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_files_name_the_line(tmp_path, name):
    path = tmp_path / name
    text, sentence = MALFORMED[name]
    path.write_text(text.replace("{separator}", "#"))
    with pytest.raises(FormatError, match=sentence):
        rdf.read(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(SourceNotFoundError, match=r"no file .*nothing\.owl"):
        rdf.read(tmp_path / "nothing.owl")


def test_without_rdflib_the_extra_is_named(tmp_path, monkeypatch):
    path = tmp_path / "a.ttl"
    path.write_text(SAME["a.ttl"])
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(DependencyError, match=r'pip install "ontomask\[rdf\]"'):
        rdf.read(path)


def test_the_reader_imports_rdflib_only_when_it_reads():
    code = "import sys; import ontomask.taxonomy.readers.rdf; sys.exit('rdflib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ill_typed_literals_are_nobodys_business(read, caplog):
    draft = read(
        PREFIXES + ':A a owl:Class ; :since "soon"^^<http://www.w3.org/2001/XMLSchema#date> .'
    )
    assert list(draft.positions) == ["A"]
    assert not caplog.records


def test_an_empty_file_gives_an_empty_draft(read):
    assert len(read(" \n", "empty.owl")) == 0


@pytest.mark.parametrize("language", ["", None, 5])
def test_a_language_that_is_none(read, language):
    with pytest.raises(ParameterError, match="language"):
        read(WORDS, language=language)
