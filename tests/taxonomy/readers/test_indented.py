import pytest

from ontomask.errors import FormatError
from ontomask.taxonomy.readers import indented


def written(tmp_path, text):
    path = tmp_path / "tree.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("indent", ["  ", "\t", "     "])
def test_tree(tmp_path, indent):
    text = "disease\n>infection\n>>flu | Influenza\n\n>injury\nhealth\n".replace(">", indent)
    draft = indented.read(written(tmp_path, text))
    assert draft.links == [
        ("infection", "disease", 2),
        ("flu", "infection", 3),
        ("injury", "disease", 5),
    ]
    assert draft.labels[draft.positions["flu"]] == "Influenza"
    assert "health" in draft.positions


def test_uneven_widths_and_several_parents(tmp_path):
    draft = indented.read(written(tmp_path, "a\n   x\nb\n x\n   y\n"))
    assert [link[:2] for link in draft.links] == [("x", "a"), ("x", "b"), ("y", "x")]


@pytest.mark.parametrize("text", ["a\n  b\n\tc\n", "a\n \tb\n"])
def test_mixed_indentation(tmp_path, text):
    with pytest.raises(FormatError, match="use the same kind of indentation, spaces or tabs"):
        indented.read(written(tmp_path, text))


def test_sentences(tmp_path):
    path = written(tmp_path, "a\n    b\n  c\n")
    with pytest.raises(FormatError) as caught:
        indented.read(path)
    assert str(caught.value) == (
        f"{path}, line 3: the line steps back to 2 characters of indentation, where no line above "
        "it begins; step back to 0 or 4."
    )
    with pytest.raises(FormatError, match=r"line 2: '\| Label' lacks the id"):
        indented.read(written(tmp_path, "a\n  | Label\n"))


def test_can_read(tmp_path):
    path = tmp_path / "x.txt"
    assert indented.can_read(path, b"a\n  b\n")
    assert not indented.can_read(path, b"a\nb\n")
    assert not indented.can_read(path, b"@prefix a: <b> .\n  a\n")
    assert not indented.can_read(tmp_path / "data.noun", b"a\n  b\n")
