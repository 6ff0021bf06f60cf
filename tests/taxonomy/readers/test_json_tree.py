import pytest

from ontomask.errors import FormatError
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
    assert draft.links == [("7", "d", 2), ("cold", "d", 2)]


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
            '{"id": "a",\n"childern": []}',
            "line 2: the concept has a list under the unknown name 'childern'; a concept may have "
            "children, gloss, id, label, name, synonyms.",
        ),
        (
            '{"a": {},\n\n"a": {}}',
            "line 3: the key 'a' stands twice in one object; unite the two.",
        ),
        (
            '{"a":\n"Influenza"}',
            "line 2: the key 'a' holds \"Influenza\" instead of its children; write {} for a "
            "concept without children.",
        ),
        (
            '{"id": "a",\n"synonyms": "b"}',
            'line 2: synonyms is "b"; it must be a list of texts.',
        ),
        (
            '{"id": "a",\n"children": 3}',
            "line 2: children is 3; it must be a list of concepts.",
        ),
        (
            '[\n{"children": []}]',
            "line 2: the concept has children but neither an id nor a label; add one.",
        ),
        (
            '["a",\ntrue]',
            "line 2: true stands where a text that is not empty is needed.",
        ),
        (
            '{"a": {}\n"b": {}}',
            "line 2: a comma or '}' is expected; correct the JSON at this place.",
        ),
        (
            '{"a"\n {}}',
            "line 2: a colon is expected after the key 'a'; correct the JSON at this place.",
        ),
        (
            "{\na: {}}",
            "line 2: a key in double quotes is expected; correct the JSON at this place.",
        ),
        (
            "{}\n{}",
            "line 2: something follows after the end of the tree; correct the JSON at this place.",
        ),
    ],
)
def test_mistakes(tmp_path, text, sentence):
    path = written(tmp_path, text)
    with pytest.raises(FormatError) as caught:
        json_tree.read(path)
    assert str(caught.value) == f"{path}, {sentence}"


@pytest.mark.parametrize("text", ['{"a": ', '["a\\x"]', "[NaN]", "[" * 100_000])
def test_malformed(tmp_path, text):
    with pytest.raises(FormatError, match=r"line 1: the (JSON is malformed|tree is nested deeper)"):
        json_tree.read(written(tmp_path, text))


def test_can_read(tmp_path):
    path = tmp_path / "x.json.gz"
    assert json_tree.can_read(path, b' {"a": {}}')
    assert not json_tree.can_read(path, b'{"@context": {}}')
    assert not json_tree.can_read(tmp_path / "x.csv", b'{"a": {}}')
