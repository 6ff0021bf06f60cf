import pytest

import ontomask as om
from ontomask.errors import CycleError, DuplicateConceptError, FormatError
from ontomask.taxonomy.readers import json_tree


def written(tmp_path, text):
    path = tmp_path / "tree.json"
    path.write_text(text, encoding="utf-8")
    return path


def links(draft):
    return [link[:2] for link in draft.links]


def test_objects(tmp_path):
    text = """{"id": "d", "label": "Disease", "synonyms": ["illness"], "gloss": "Bad",
      "size": 3, "children": [{"id": 7, "name": "Flu", "children": null}, "cold"]}"""
    draft = json_tree.read(written(tmp_path, text))
    assert list(draft.positions) == ["d", "7", "cold"]
    assert draft.labels == ["Disease", "Flu", ""]
    assert draft.synonyms[0] == ("illness",)
    assert draft.glosses[0] == "Bad"
    assert draft.links == [("7", "d", "children[0]"), ("cold", "d", "children[1]")]


def test_plain_nesting(tmp_path):
    text = '{"disease": {"infection": {"flu": {}, "cold": null}, "injury": ["burn"]}}'
    assert links(json_tree.read(written(tmp_path, text))) == [
        ("infection", "disease"),
        ("flu", "infection"),
        ("cold", "infection"),
        ("injury", "disease"),
        ("burn", "injury"),
    ]


def test_several_roots_and_parents(tmp_path):
    draft = json_tree.read(written(tmp_path, '[{"a": ["x"]}, {"id": "b", "children": ["x"]}]'))
    assert links(draft) == [("x", "a"), ("x", "b")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '{"id": "a", "childern": []}',
            "childern: the concept has a list under the unknown name 'childern'; a concept may "
            "have children, gloss, id, label, name, synonyms.",
        ),
        (
            '{"a": {"b": {"c": {}, "d": "Influenza"}}}',
            "a.b.d: the key 'd' holds \"Influenza\" instead of its children; write {} for a "
            "concept without children.",
        ),
        ('{"a": {" ": {}}}', "a. : a concept's key is empty; give it a name."),
        (
            '{"id": "a", "synonyms": "b"}',
            'synonyms: synonyms is "b"; it must be a list of texts.',
        ),
        (
            '{"id": "a", "synonyms": ["b", null]}',
            "synonyms[1]: null stands where a text that is not empty is needed.",
        ),
        (
            '{"id": "a", "children": [{"id": "b"}, {"id": "c", "children": 3}]}',
            "children[1].children: children is 3; it must be a list of concepts.",
        ),
        (
            '["a", {"children": []}]',
            "[1]: the concept has neither an id nor a label; add one.",
        ),
        (
            '{"a": ["b", true]}',
            "a[1]: true stands where a text that is not empty is needed.",
        ),
        (
            '{"a": {}\n"b": {}}',
            "line 2: the JSON is malformed (Expecting ',' delimiter).",
        ),
        ("{}\n{}", "line 2: the JSON is malformed (Extra data)."),
    ],
)
def test_mistakes_are_found_by_their_path(tmp_path, text, sentence):
    path = written(tmp_path, text)
    with pytest.raises(FormatError) as caught:
        json_tree.read(path)
    assert str(caught.value) == f"{path}, {sentence}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"x": {"a": {}, "b": {}, "a": {}}}', "the key 'a' stands twice in one object; unite"),
        ("[NaN]", "the JSON is malformed (NaN is not JSON)"),
        ("[" * 100_000, "the tree is nested too deeply"),
        ('{"a":' * 800 + "{}" + "}" * 800, "the tree is nested too deeply"),
    ],
)
def test_mistakes_of_the_whole_file(tmp_path, text, sentence):
    path = written(tmp_path, text)
    with pytest.raises(FormatError) as caught:
        json_tree.read(path)
    assert str(caught.value).startswith(f"{path}: {sentence}")


def test_the_path_of_a_contradiction(tmp_path):
    path = written(
        tmp_path, '{"id": "A", "children": [{"id": "B", "label": "x"}, {"id": "B", "label": "y"}]}'
    )
    with pytest.raises(DuplicateConceptError, match=r"children\[1\]: .* before \(children\[0\]\)"):
        json_tree.read(path)
    path.write_text('{"a": {"b": {"a": {}}}}')
    with pytest.raises(CycleError, match=r"tree\.json, a\.b"):
        om.load_taxonomy(path)


def test_can_read(tmp_path):
    path = tmp_path / "x.json.gz"
    assert json_tree.can_read(path, b' {"a": {}}')
    assert not json_tree.can_read(tmp_path / "x.csv", b'{"a": {}}')
