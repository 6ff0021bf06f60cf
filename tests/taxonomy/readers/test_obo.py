import gzip

import pytest

from ontomask.errors import (
    DuplicateConceptError,
    FormatError,
    ParameterError,
    UnknownParentError,
)
from ontomask.taxonomy.readers import obo

QUIRKS = r"""format-version: 1.2
data-version: releases/2019-03-01/x.obo
! a comment line

[Term]
id: X:1
name: disease
def: "A \"bad\" thing\: really\, yes." [url:http\://a.b, X:y "note"]

[Term]
id: X:2 ! trailing comment
name: flu {source="z"} ! the flu
alt_id: X:22
synonym: "grippe" EXACT [X:a]
synonym: "the \"flu\"" RELATED LAY []
synonym: "so "called" flu" NARROW []
exact_synonym: "influenza" [] ! not "cold"
synonym: forgotten marks [X:b]
is_a: X:1 {is_inferred="true"} ! disease
xref: Y:1

[Term]
id: X:2
is_a: X:3

[Term]
id: X:3
name: long \
name

[Term]
id: X:4
name: gone
is_obsolete: true
is_a: X:99

[Term]
id: _:anon
is_anonymous: true

[Term]
id: X:5
name: five!
is_a: _:anon
is_a: X:1

[Typedef]
id: part_of
is_a: X:99

[Instance]
id: X:6
name: case
instance_of: X:2

[Annotation]
anything: goes
"""


def written(tmp_path, text):
    path = tmp_path / "x.obo"
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_quirks(tmp_path, newline):
    draft = obo.read(written(tmp_path, QUIRKS.replace("\n", newline)))
    assert draft.version == "releases/2019-03-01/x.obo"
    labels = dict(zip(draft.positions, draft.labels, strict=True))
    assert labels == {
        "X:1": "disease",
        "X:2": "flu",
        "X:3": "long name",
        "X:5": "five!",
        "X:6": "case",
    }
    assert draft.glosses[0] == 'A "bad" thing: really, yes.'
    assert draft.synonyms[1] == (
        "X:22",
        "grippe",
        'the "flu"',
        'so "called" flu',
        "influenza",
        "forgotten marks",
    )
    assert [link[:2] for link in draft.links] == [
        ("X:2", "X:1"),
        ("X:2", "X:3"),
        ("X:5", "X:1"),
        ("X:6", "X:2"),
    ]


@pytest.mark.parametrize(
    ("stanza", "reason"),
    [("", "which has no stanza in the file"), ("[Term]\nid: B\nis_obsolete: true\n", "obsolete")],
)
def test_unknown_parents(tmp_path, stanza, reason):
    path = written(tmp_path, f"[Term]\nid: A\nis_a: B\n\n{stanza}")
    with pytest.raises(UnknownParentError) as caught:
        obo.read(path)
    assert str(caught.value).startswith(f"{path}, line 3: 'A' is said to be a 'B', ")
    assert reason in str(caught.value)
    assert "unknown_parents='drop'" in str(caught.value)
    draft = obo.read(path, unknown_parents="drop")
    assert (list(draft.positions), draft.links) == (["A"], [])


def test_mistakes(tmp_path):
    with pytest.raises(FormatError, match=r"line 1: the stanza \[Term\] has no id"):
        obo.read(written(tmp_path, "[Term]\nname: a\n\n[Term]\nid: B\n"))
    with pytest.raises(FormatError, match="line 2: 'nonsense' is neither a stanza"):
        obo.read(written(tmp_path, "[Term]\nnonsense\n"))
    with pytest.raises(DuplicateConceptError, match="labeled 'b' here but 'a' before"):
        obo.read(written(tmp_path, "[Term]\nid: A\nname: a\n[Term]\nid: A\nname: b\n"))
    with pytest.raises(ParameterError, match="unknown_parents must be one of"):
        obo.read(written(tmp_path, QUIRKS), unknown_parents="keep")


def test_gzip_and_can_read(tmp_path):
    path = tmp_path / "x.obo.gz"
    path.write_bytes(gzip.compress(QUIRKS.encode()))
    assert len(obo.read(path)) == 5
    assert obo.can_read(path, b"")
    assert obo.can_read(tmp_path / "x.txt", b"format-version: 1.4\n")
    assert obo.can_read(tmp_path / "x", b"! comment\n[Term]\r\nid: A\n")
    assert not obo.can_read(tmp_path / "x.txt", b"Term\n  flu\n")
