"""FHIR CodeSystem: the three ways to say a hierarchy, designations, and broken resources."""

import gzip
import json

import pytest

import ontomask as om
from ontomask.errors import DuplicateConceptError, FormatError, UnknownParentError

NESTED = [
    {
        "code": "I",
        "display": "Infections",
        "concept": [
            {"code": "A00", "display": "Cholera", "definition": "By vibrios."},
            {"code": "A01", "display": "Typhoid"},
        ],
    }
]


def linked(name, **value):
    return {"property": [{"code": name, **value}]}


@pytest.fixture
def load(tmp_path):
    def write_and_load(concepts, name="codes.json", options=None, **more):
        resource = {"resourceType": "CodeSystem", "version": "7", "concept": concepts, **more}
        content = json.dumps(resource).encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return om.load_taxonomy(path, **(options or {}))

    return write_and_load


@pytest.mark.parametrize("name", ["codes.json", "codes.json.gz"])
def test_concepts_that_hold_concepts(load, name):
    taxonomy = load(NESTED, name)
    assert taxonomy.children("I") == ("A00", "A01")
    assert taxonomy.label_of("A00") == "Cholera"
    assert taxonomy.glosses[taxonomy.index_of("A00")] == "By vibrios."
    assert taxonomy.version == "7"


@pytest.mark.parametrize("name", ["parent", "subsumedBy"])
@pytest.mark.parametrize("value", ["valueCode", "valueString", "valueCoding"])
def test_parents_as_properties(load, name, value):
    given = {value: {"code": "I"} if value == "valueCoding" else "I"}
    taxonomy = load([{"code": "A00", **linked(name, **given)}, {"code": "I"}])
    assert taxonomy.parents("A00") == ("I",)


def test_children_as_properties_and_names_of_ones_own(load):
    declared = [{"code": "holds", "uri": "http://hl7.org/fhir/concept-properties#child"}]
    own = {"code": "I", **linked("holds", valueCode="A00")}
    taxonomy = load([own, {"code": "A00"}], property=declared)
    assert taxonomy.parents("A00") == ("I",)
    assert load([{"code": "I", **linked("child", valueCode="B")}, {"code": "B"}]).root == "I"


def test_designations_are_synonyms_or_labels(load):
    names = [{"language": "de", "value": "Cholera, klassisch"}, {"value": "CHOL"}]
    concepts = [{"code": "A00", "display": "Cholera", "designation": names}]
    assert load(concepts).names == ("Cholera", "Cholera, klassisch", "CHOL")
    german = load(concepts, options={"language": "de"})
    assert german.names == ("Cholera, klassisch", "Cholera", "CHOL")


def test_a_bundle_with_one_code_system(tmp_path):
    system = {"resourceType": "CodeSystem", "concept": NESTED}
    entries = [{"resource": system}, {"resource": {"resourceType": "ValueSet"}}]
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps({"resourceType": "Bundle", "entry": entries}))
    assert len(om.load_taxonomy(path)) == 3


@pytest.mark.parametrize(
    ("concepts", "error", "words"),
    [
        ([], FormatError, "holds no concepts .it says 'not-present'"),
        ([{"display": "x"}], FormatError, r"concept\[0\]: the concept has no code"),
        ([{"code": "A", "concept": "B"}], FormatError, r"concept\[0\]\.concept: a list"),
        ([{"code": "A", "concept": ["B"]}], FormatError, r"concept\[0\]\.concept: a list"),
        ([{"code": "A", **linked("parent")}], FormatError, "names no concept"),
        ([{"code": "A", **linked("parent", valueCode="B")}], UnknownParentError, "no concept 'B'"),
        (
            [{"code": "A", "display": "x"}, {"code": "A", "display": "y"}],
            DuplicateConceptError,
            r"concept\[1\]",
        ),
    ],
)
def test_broken_code_systems(load, concepts, error, words):
    with pytest.raises(error, match=words):
        load(concepts, content="not-present")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"resourceType": "ConceptMap"}', r"holds ConceptMap; .*load_crosswalk reads"),
        ('{"resourceType": "Bundle"}', "holds none at all"),
        ('{"resourceType": "CodeSystem", "concept": [', "line 1: the JSON is malformed"),
        ('{"resourceType": "CodeSystem", "a": 1, "a": 2}', "the key 'a' stands twice"),
        ('{"resourceType": "CodeSystem", "concept": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_other_files(tmp_path, content, words):
    path = tmp_path / "codes.json"
    path.write_text(content)
    with pytest.raises(FormatError, match=words):
        om.load_taxonomy(path)


def test_a_tree_with_a_resource_type_is_still_recognized_by_its_own_reader(tmp_path):
    path = tmp_path / "tree.json"
    path.write_text('{"disease": {"flu": {}}}')
    assert om.load_taxonomy(path).ids == ("disease", "flu")
