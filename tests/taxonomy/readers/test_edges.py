import gzip

import pytest

from ontomask.errors import DuplicateConceptError, FormatError, ParameterError, UnknownParentError
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.readers import hierarchy
from ontomask.taxonomy.readers.lists import CONCEPTS, EDGES


def written(tmp_path, text, name="edges.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separator_is_found_out(tmp_path, separator):
    text = "child,parent,label\ndisease,,Disease\nflu,disease,Influenza\n"
    draft = EDGES.read(written(tmp_path, text.replace(",", separator)))
    assert draft.labels == ["Disease", "Influenza"]
    assert draft.links == [("flu", "disease", 3)]


def test_several_parents_one_label(tmp_path):
    text = "child,parent,label\nflu,infection,Influenza\nflu,lung,\n"
    draft = EDGES.read(written(tmp_path, text))
    assert [link[:2] for link in draft.links] == [("flu", "infection"), ("flu", "lung")]
    assert draft.labels == ["Influenza"]
    assert draft.parents_declare


def test_naming_a_parent_declares_it_only_without_root_rows(tmp_path):
    assert len(assemble(EDGES.read(written(tmp_path, "child,parent\nflu,disease\n")))) == 2
    complete = EDGES.read(written(tmp_path, "child,parent\nroot,\nflu,disease\n"))
    with pytest.raises(UnknownParentError, match="line 3: 'flu' is said to be a 'disease'"):
        assemble(complete)


def test_quotes_blank_rows_crlf_mark_and_gzip(tmp_path):
    text = '\ufeffchild,parent,label\r\n\r\n,,\r\n"a, b",,"say ""x"""\r\n'
    path = tmp_path / "edges.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    draft = EDGES.read(path)
    assert list(draft.positions) == ["a, b"]
    assert draft.labels == ['say "x"']


def test_line_after_a_quoted_line_break(tmp_path):
    text = 'child,parent,label\na,,"two\nlines"\nb,a\n'
    with pytest.raises(FormatError, match="line 4: the row has 2 cells and the header 3"):
        EDGES.read(written(tmp_path, text))


def test_mistakes(tmp_path):
    path = written(tmp_path, "child,parent\n,disease\n")
    with pytest.raises(FormatError) as caught:
        EDGES.read(path)
    assert str(caught.value) == (
        f"{path}, line 2: the cell 'child' is empty beside the parent 'disease'; write the "
        "child's id, or leave the parent empty in the root's own row."
    )
    with pytest.raises(FormatError, match="line 1: the header has no column 'parent' but 'child'"):
        EDGES.read(written(tmp_path, "child,above\na,b\n"))
    with pytest.raises(DuplicateConceptError, match="line 3: concept 'a' is labeled 'B' here"):
        EDGES.read(written(tmp_path, "child,parent,label\na,,A\na,,B\n"))
    with pytest.raises(FormatError, match="line 2: the row cannot be split into cells"):
        EDGES.read(written(tmp_path, 'child,parent\n"a,b\n'))
    with pytest.raises(ParameterError, match="separator must be a single character"):
        EDGES.read(path, separator=",,")


def test_separator_can_be_given(tmp_path):
    draft = EDGES.read(written(tmp_path, "child#parent\na#b,c\n"), separator="#")
    assert draft.links == [("a", "b,c", 2)]


def test_can_read_only_its_own(tmp_path):
    path = tmp_path / "x.csv"
    assert EDGES.can_read(path, b"\xef\xbb\xbfChild;Parent;Label\n")
    assert not EDGES.can_read(path, b"id,label,parents\n")
    assert not CONCEPTS.can_read(path, b"child,parent,label\n")
    assert not hierarchy.can_read(path, b"child,parent\na,b\n")
