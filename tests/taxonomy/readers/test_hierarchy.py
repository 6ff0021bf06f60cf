import pytest

from ontomask.errors import FormatError, StructureError
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.readers import hierarchy

EDUCATION = "Bachelors;Undergraduate;Higher;*\nMasters;Graduate;Higher;*\n9th;School;Secondary;*"


def written(tmp_path, text):
    path = tmp_path / "hierarchy.csv"
    path.write_text(text, encoding="utf-8")
    return path


def links(draft):
    return {link[:2] for link in draft.links}


def test_levels_become_links(tmp_path):
    draft = hierarchy.read(written(tmp_path, EDUCATION))
    assert ("Masters", "Graduate") in links(draft)
    assert ("Higher", "*") in links(draft)
    assert len(assemble(draft)) == 9


def test_two_columns_and_repeated_rows(tmp_path):
    draft = hierarchy.read(written(tmp_path, "Male;*\nFemale;*\nMale;*\n"))
    assert links(draft) == {("Male", "*"), ("Female", "*")}


def test_repeated_values_are_one_concept(tmp_path):
    draft = hierarchy.read(written(tmp_path, "a;b;*\nOther;Other;*\n*;*;*\n"))
    assert links(draft) == {("a", "b"), ("b", "*"), ("Other", "*")}


def test_comma_inside_values_does_not_win(tmp_path):
    draft = hierarchy.read(written(tmp_path, "x, y;up, on\nz, w;up, on\n"))
    assert links(draft) == {("x, y", "up, on"), ("z, w", "up, on")}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separator(tmp_path, separator):
    draft = hierarchy.read(written(tmp_path, "a,b,*\nc,b,*\n".replace(",", separator)))
    assert len(draft) == 4


def test_several_roots_get_a_virtual_one(tmp_path):
    assert len(assemble(hierarchy.read(written(tmp_path, "a;x\nb;y\n")))) == 5


def sentence(tmp_path, text, error=StructureError):
    path = written(tmp_path, text)
    with pytest.raises(error) as caught:
        hierarchy.read(path)
    return str(caught.value).removeprefix(f"{path}, ")


def test_ragged_row(tmp_path):
    assert sentence(tmp_path, "a;b;*\nc;*\n") == (
        "line 2: the row of 'c' has 2 levels and the first row 3; repeat a value where a level "
        "is missing."
    )


def test_empty_cell_and_single_column(tmp_path):
    assert "line 1: the row of 'a' has an empty cell at level 1" in sentence(tmp_path, "a;;*\n")
    assert "line 1: 'a' is the row's only cell" in sentence(tmp_path, "a\nb\n", FormatError)


def test_level_that_does_not_determine_the_next(tmp_path):
    assert sentence(tmp_path, "a;b;x;*\nc;b;y;*\n") == (
        "line 2: 'b' (level 1) leads up to 'y' but in line 1 (level 1) up to 'x', so level 1 does "
        "not determine level 2; every value needs one value above it: correct the row, or give "
        "the two different names."
    )


@pytest.mark.parametrize("text", ["a;b;*\nb;a;*\n", "a;b;a\n", "a;b;c\nc;d;e\n"])
def test_one_name_at_two_levels(tmp_path, text):
    assert "so one name means two things" in sentence(tmp_path, text)


def test_can_read(tmp_path):
    path = tmp_path / "x.csv"
    assert hierarchy.can_read(path, EDUCATION.encode())
    assert hierarchy.can_read(path, b"<=50K;*\n>50K;*\n")
    assert not hierarchy.can_read(path, b"code,label\n1,a\n2,a\n")
    assert not hierarchy.can_read(path, b"sex;age\nMale;1\nMale;2\n")
    assert not hierarchy.can_read(path, b"A,B\n1,2\n3,4\n5,2\n")
    assert not hierarchy.can_read(tmp_path / "x.ttl", EDUCATION.encode())
    assert not hierarchy.can_read(path, b"")
