"""Crosswalks: what ConceptMaps and OMOP relations say, and what they may be taken for."""

import json

import pytest

import ontomask as om
from ontomask.errors import (
    EmptyTaxonomyError,
    FormatError,
    ParameterError,
    SourceNotFoundError,
    UnmappedValuesError,
)
from ontomask.taxonomy.crosswalks import RELATIONS

DISEASES = om.Taxonomy.from_parents(
    {
        "disease": [],
        "heart": ["disease"],
        "mi": ["heart"],
        "angina": ["heart"],
        "flu": ["disease"],
    }
)


def group(*elements, source="http://icd", target="http://snomed|2024"):
    return {"source": source, "target": target, "element": list(elements)}


def element(code, *targets):
    return {"code": code, "target": [{"code": to, "equivalence": how} for to, how in targets]}


@pytest.fixture
def concept_map(tmp_path):
    def write(*groups, name="map.json"):
        path = tmp_path / name
        path.write_text(json.dumps({"resourceType": "ConceptMap", "group": list(groups)}))
        return path

    return write


def test_a_concept_map_sends_codes_to_concepts(concept_map):
    path = concept_map(
        group(element("I21.9", ("mi", "equivalent")), element("J11", ("flu", "wider")))
    )
    walk = om.knowledge.load_crosswalk(path)
    assert (walk.source, walk.target, len(walk)) == ("http://icd", "http://snomed", 2)
    mapping = DISEASES.map(["I21.9", "I219", "J11"], overrides=walk)
    assert mapping.ids == ("mi", "mi", "flu")
    assert set(mapping.how) == {"override"}
    assert DISEASES.map(["I21.9"], overrides=path).ids == ("mi",)


@pytest.mark.parametrize(
    ("targets", "concept"),
    [
        ([("mi", "equivalent"), ("angina", "relatedto")], "mi"),
        ([("mi", "relatedto"), ("angina", "relatedto")], "heart"),
        ([("mi", "wider"), ("flu", "wider")], None),  # their common concept is the root
        ([("mi", "narrower")], None),
        ([("mi", "narrower"), ("heart", "wider")], "heart"),
        ([("mi", "unmatched")], None),
        ([("unheard of", "equal"), ("angina", "inexact")], "angina"),
        ([], None),
    ],
)
def test_no_more_is_said_than_the_source_says(concept_map, targets, concept):
    path = concept_map(group(element("x", *targets), element("y", ("flu", "equal"))))
    found = om.knowledge.load_crosswalk(path).into(DISEASES)
    assert found.get("x") == concept
    assert found["y"] == "flu"
    if concept is None:
        with pytest.raises(UnmappedValuesError):
            DISEASES.map(["x"], overrides=path).require()


def test_the_relations_of_both_releases_are_told_alike(concept_map):
    pairs = [
        ("relatedto", "related-to"),
        ("inexact", "related-to"),
        ("equal", "equivalent"),
        ("wider", "source-is-narrower-than-target"),
        ("subsumes", "source-is-narrower-than-target"),
        ("narrower", "source-is-broader-than-target"),
        ("specializes", "source-is-broader-than-target"),
        ("unmatched", "not-related-to"),
        ("disjoint", "not-related-to"),
    ]
    assert all(RELATIONS.get(old) == RELATIONS.get(new) for old, new in pairs)
    newer = {"code": "x", "target": [{"code": "flu", "relationship": "equivalent"}]}
    assert om.knowledge.load_crosswalk(concept_map(group(newer)))["x"] == ("flu",)


def test_the_closest_relation_comes_first(concept_map):
    targets = [("flu", "narrower"), ("mi", "relatedto"), ("angina", "equal")]
    assert om.knowledge.load_crosswalk(concept_map(group(element("x", *targets))))["x"] == (
        "angina",
        "mi",
        "flu",
    )


def test_several_pairs_of_vocabularies_have_to_be_chosen_from(concept_map):
    path = concept_map(
        group(element("x", ("flu", "equal"))),
        group(element("x", ("mi", "equal")), target="http://other"),
    )
    with pytest.raises(ParameterError, match="from http://icd to http://other; from http://icd to"):
        om.knowledge.load_crosswalk(path)
    assert om.knowledge.load_crosswalk(path, target="http://other")["x"] == ("mi",)


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        ({"resourceType": "CodeSystem"}, FormatError, "load_taxonomy reads a CodeSystem"),
        ({"resourceType": "ConceptMap"}, ParameterError, "goes nowhere"),
        ({"resourceType": "ConceptMap", "group": 3}, FormatError, "group: a list of objects"),
        (
            {"resourceType": "ConceptMap", "group": [group({"target": []})]},
            FormatError,
            r"group\[0\]: an element has no code",
        ),
        ({"resourceType": "ConceptMap", "group": [group()]}, EmptyTaxonomyError, "no code at all"),
    ],
)
def test_broken_concept_maps(tmp_path, content, error, words):
    path = tmp_path / "map.json"
    path.write_text(json.dumps(content))
    with pytest.raises(error, match=words):
        om.knowledge.load_crosswalk(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(SourceNotFoundError, match="There is no file"):
        om.knowledge.load_crosswalk(tmp_path / "map.json")


@pytest.fixture
def folder(tmp_path):
    dates = "19700101\t20991231\t"
    concepts = [
        ("1", "Infarction", "Condition", "SNOMED", "mi", ""),
        ("2", "Angina", "Condition", "SNOMED", "angina", ""),
        ("3", "Acute infarction", "Condition", "ICD10", "I21.9", ""),
        ("4", "An old code", "Condition", "ICD10", "I20", "U"),
        ("5", "Elsewhere", "Condition", "ICD9CM", "410", ""),
    ]
    related = [("3", "1", ""), ("4", "2", ""), ("5", "1", ""), ("3", "2", "D")]
    (tmp_path / "CONCEPT.csv").write_text(
        "concept_id\tconcept_name\tdomain_id\tvocabulary_id\tconcept_class_id\tstandard_concept\t"
        "concept_code\tvalid_start_date\tvalid_end_date\tinvalid_reason\n"
        + "".join(
            f"{number}\t{name}\t{domain}\t{vocabulary}\tx\tS\t{code}\t{dates}{gone}\n"
            for number, name, domain, vocabulary, code, gone in concepts
        )
    )
    (tmp_path / "CONCEPT_RELATIONSHIP.csv").write_text(
        "concept_id_1\tconcept_id_2\trelationship_id\tvalid_start_date\tvalid_end_date\t"
        "invalid_reason\n"
        + "".join(f"{one}\t{two}\tMaps to\t{dates}{gone}\n" for one, two, gone in related)
    )
    return tmp_path


def test_omop_relations_send_codes_to_codes_or_concept_ids(folder):
    walk = om.knowledge.load_crosswalk(folder, source="ICD10", target="SNOMED")
    assert dict(walk) == {"I21.9": ("mi",), "I20": ("angina",)}
    assert DISEASES.map(["I219"], overrides=walk).ids == ("mi",)
    numbers = om.knowledge.load_crosswalk(folder, source="ICD10", target="SNOMED", ids="concept_id")
    assert numbers["I21.9"] == ("1",)
    assert str(walk) == "A crosswalk of 2 codes from ICD10 to SNOMED"


def test_omop_needs_both_ends(folder):
    with pytest.raises(ParameterError, match="say which two"):
        om.knowledge.load_crosswalk(folder, source="ICD10")
    with pytest.raises(ParameterError, match="vocabularies='ICD11'; it has ICD10, ICD9CM, SNOMED"):
        om.knowledge.load_crosswalk(folder, source="ICD11", target="SNOMED")


def test_a_column_is_protected_through_a_crosswalk(folder):
    walk = om.knowledge.load_crosswalk(folder, source="ICD10", target="SNOMED")
    column = om.Nominal(DISEASES, overrides=walk, output="id")
    frame = {"diagnosis": ["I21.9", "I20", "I21.9", "I20"]}
    import polars as pl

    release = om.protect(
        pl.DataFrame(frame), om.Schema(diagnosis=column), om.Microaggregation(k=4), seed=1
    )
    assert set(release.frame["diagnosis"]) <= {"mi", "angina", "heart"}
