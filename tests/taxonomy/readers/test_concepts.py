import pytest

from ontomask.errors import FormatError, UnknownParentError
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.readers.lists import CONCEPTS


def written(tmp_path, text):
    path = tmp_path / "concepts.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_parents_by_bar_or_semicolon(tmp_path):
    text = "id,label,parents\nr,R,\na,A,r\nb,B,r\nc,C,a|b\nd,D,a; b\n"
    links = [link[:2] for link in CONCEPTS.read(written(tmp_path, text)).links]
    assert links[2:] == [("c", "a"), ("c", "b"), ("d", "a"), ("d", "b")]


def test_icd_style_columns_in_any_order(tmp_path):
    text = (
        "parent,code,label,short_label,level,billable\n"
        ",ICD9CM,Diseases,,root,0\n"
        "ICD9CM,008.45,Clostridium difficile,Int inf clstrdium dfcile,code,1\n"
        "ICD9CM,009,Same,Same,code,1\n"
    )
    draft = CONCEPTS.read(written(tmp_path, text))
    assert list(draft.positions) == ["ICD9CM", "008.45", "009"]
    assert draft.synonyms == [(), ("Int inf clstrdium dfcile",), ()]


def test_synonyms_alt_labels_and_gloss(tmp_path):
    text = "id,parents,label,synonyms,alt_labels,gloss\nx,,X,one|two,three|one,What x is\n"
    draft = CONCEPTS.read(written(tmp_path, text))
    assert draft.synonyms == [("one", "two", "three")]
    assert draft.glosses == ["What x is"]


def test_parents_can_declare(tmp_path):
    path = written(tmp_path, "id,label,parents\na,A,elsewhere\n")
    with pytest.raises(UnknownParentError, match="line 2"):
        assemble(CONCEPTS.read(path))
    assert len(assemble(CONCEPTS.read(path, parents_declare=True))) == 2


def test_mistakes(tmp_path):
    path = written(tmp_path, "id,label,parents\n,Lost,\n")
    with pytest.raises(FormatError) as caught:
        CONCEPTS.read(path)
    assert str(caught.value) == (
        f"{path}, line 2: the concept labeled 'Lost' has no id; give every row an id."
    )
    with pytest.raises(FormatError, match="names 'id' or 'code' more than once"):
        CONCEPTS.read(written(tmp_path, "id,code,parents\na,b,\n"))
    with pytest.raises(FormatError, match="no column 'parents' or 'parent'"):
        CONCEPTS.read(written(tmp_path, "id,label\na,b\n"))


def test_can_read(tmp_path):
    path = tmp_path / "x.csv.gz"
    assert CONCEPTS.can_read(path, b"code,parent,label,level\n")
    assert not CONCEPTS.can_read(path, b"code,label\n")
    assert not CONCEPTS.can_read(path, b"id\teffectiveTime\tactive\tmoduleId\n")
