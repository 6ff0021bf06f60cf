import pytest

from ontomask.errors import DuplicateConceptError, FormatError, ParameterError
from ontomask.taxonomy.assembly import assemble
from ontomask.taxonomy.readers.lists import CODES

NACE = "code,label\n10,Food\n10.1,Meat\n10.11,Preserving\n10.52,Ice cream\n11,Drinks\n"


def written(tmp_path, text):
    path = tmp_path / "codes.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_parent_by_longest_prefix_in_the_list(tmp_path):
    draft = CODES.read(written(tmp_path, NACE), by_prefix=[2, 3, 4])
    # 105 is not in the list, so 10.52 climbs to 10
    assert draft.links == [("10.1", "10", 3), ("10.11", "10.1", 4), ("10.52", "10", 5)]
    assert len(assemble(draft)) == 6


def test_lengths_matter(tmp_path):
    text = "code,label\n1,A\n12,B\n123,C\n"
    draft = CODES.read(written(tmp_path, text), by_prefix=[1, 2, 3])
    assert draft.links[-1][:2] == ("123", "12")
    with pytest.raises(FormatError) as caught:
        CODES.read(written(tmp_path, text), by_prefix=[1, 3])
    assert str(caught.value).endswith(
        "line 3: the code '12' has 2 characters without dots and by_prefix allows 1, 3; add 2 to "
        "by_prefix or correct the code."
    )


@pytest.mark.parametrize("lengths", [[], [3, 2], [2, 2], [0, 1], "23", 2, None, [2.5]])
def test_wrong_lengths(tmp_path, lengths):
    with pytest.raises(ParameterError, match="by_prefix must be a list of growing code lengths"):
        CODES.read(written(tmp_path, NACE), by_prefix=lengths)


def test_mistakes(tmp_path):
    with pytest.raises(DuplicateConceptError, match=r"line 3: the codes '1\.1' and '11' differ"):
        CODES.read(written(tmp_path, "code,label\n1.1,A\n11,B\n"), by_prefix=[2])
    with pytest.raises(FormatError, match="line 2: the cell 'code' is empty"):
        CODES.read(written(tmp_path, "code,label\n,A\n"), by_prefix=[2])


def test_never_guessed(tmp_path):
    assert not CODES.can_read(tmp_path / "codes.csv", NACE.encode())
