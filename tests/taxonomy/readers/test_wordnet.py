import io
import tarfile

import pytest

from ontomask.errors import FormatError, SourceNotFoundError, UnsafeSourceError
from ontomask.taxonomy.readers import sources, wordnet

LICENSE = "  1 This software and database is provided  \n  2 WordNet 3.0 Copyright 2006  \n"
DATA = LICENSE + (
    "00001740 03 n 01 entity 0 001 ~ 00002000 n 0000 | that which exists  \n"
    "00002000 03 n 02 dog 0 domestic_dog 0 002 @ 00001740 n 0000 + 00000009 v 0101 | a dog; "
    '"he | she"  \n'
    "00003000 18 n 01 Rex 0 002 @i 00002000 n 0000 @ 00001740 n 0000 | a king  \n"
    "00004000 03 n 02 cad 0 dog 1 001 @ 00001740 n 0000 | a bad man  \n"
)
INDEX = LICENSE + (
    "cad n 1 1 @ 1 0 00004000  \n"
    "dog n 2 2 @ ~ 2 1 00002000 00004000  \n"
    "domestic_dog n 1 1 @ 1 0 00002000  \n"
    "entity n 1 1 ~ 1 1 00001740  \n"
    "rex n 1 1 @ 1 0 00003000  \n"
)


def folder(tmp_path, data=DATA, index=INDEX):
    (tmp_path / "data.noun").write_text(data, encoding="utf-8")
    (tmp_path / "index.noun").write_text(index, encoding="utf-8")
    return tmp_path


def tar(tmp_path, members, mode="w:gz", name="wn.tar.gz"):
    path = tmp_path / name
    with tarfile.open(path, mode) as archive:
        for member, text in members:
            info = tarfile.TarInfo(member)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path


def test_synsets(tmp_path):
    draft = wordnet.read(folder(tmp_path))
    assert list(draft.positions) == ["entity.n.01", "dog.n.01", "rex.n.01", "cad.n.01"]
    assert draft.labels == ["entity", "dog", "Rex", "cad"]
    assert draft.synonyms == [(), ("domestic dog",), (), ("dog",)]
    assert draft.synonym_ranks[3] == (2,)
    assert draft.label_ranks == [1, 1, 1, 1]
    assert draft.glosses[1] == 'a dog; "he | she"'
    assert draft.version == "3.0"
    assert [link[:2] for link in draft.links] == [
        ("dog.n.01", "entity.n.01"),
        ("rex.n.01", "dog.n.01"),
        ("rex.n.01", "entity.n.01"),
        ("cad.n.01", "entity.n.01"),
    ]


@pytest.mark.parametrize(("mode", "name"), [("w", "wn.tar"), ("w:gz", "wn.tgz")])
def test_tar(tmp_path, mode, name):
    path = tar(tmp_path, [("wn/data.noun", DATA), ("wn/index.noun", INDEX)], mode, name)
    assert wordnet.can_read(path, sources.first_bytes(path))
    assert len(wordnet.read(path)) == 4
    assert sorted(each.name for each in tmp_path.iterdir()) == [name]


def test_dict_folder_and_data_file(tmp_path):
    (tmp_path / "dict").mkdir()
    folder(tmp_path / "dict")
    assert wordnet.can_read(tmp_path, b"")
    assert len(wordnet.read(tmp_path)) == 4
    assert wordnet.can_read(tmp_path / "dict" / "data.noun", DATA.encode())
    assert len(wordnet.read(tmp_path / "dict" / "data.noun")) == 4


def test_other_folders_and_files(tmp_path):
    assert not wordnet.can_read(tmp_path, b"")
    assert not wordnet.can_read(tmp_path / "x.csv", b"id,label,parents\n")
    with pytest.raises(SourceNotFoundError, match=r"holds no data\.noun with its index\.noun"):
        wordnet.read(tmp_path)


def test_tar_mistakes(tmp_path, monkeypatch):
    with pytest.raises(FormatError, match=r"holds 0 files index\.noun"):
        wordnet.read(tar(tmp_path, [("data.noun", DATA)]))
    both = [("a/data.noun", DATA), ("b/data.noun", DATA), ("index.noun", INDEX)]
    with pytest.raises(FormatError, match=r"holds 2 files data\.noun"):
        wordnet.read(tar(tmp_path, both))
    with pytest.raises(UnsafeSourceError, match=r"'\.\./data\.noun', a name that points outside"):
        wordnet.read(tar(tmp_path, [("../data.noun", DATA)]))
    whole = tar(tmp_path, [("data.noun", DATA), ("index.noun", INDEX)])
    whole.write_bytes(whole.read_bytes()[:-40])
    with pytest.raises(FormatError, match="is damaged and cannot be unpacked"):
        wordnet.read(whole)
    monkeypatch.setattr(sources, "RATIO_FREE", 1000)
    # the bomb is a member that nobody asks for, so skipping it must be bounded as well
    with pytest.raises(UnsafeSourceError, match="decompression bomb"):
        wordnet.read(tar(tmp_path, [("bomb", "0" * 3_000_000)]))


@pytest.mark.parametrize(
    ("data", "index", "sentence"),
    [
        (
            DATA.replace("@ 00001740 n 0000 | a bad", "@ 00009999 n 0000 | a bad"),
            INDEX,
            ":data.noun, line 6: the hypernym 00009999 of 'cad.n.01' is no synset of the file; "
            "fetch the file again from its publisher.",
        ),
        (
            DATA,
            INDEX.replace("rex", "max"),
            ":data.noun, line 5: index.noun does not list the synset 00003000 under all of its "
            "words (Rex); take both files from the same release.",
        ),
        (
            DATA.replace("n 01 entity", "n zz entity"),
            INDEX,
            ":data.noun, line 3: the line is not built as WordNet's files are (see its manual "
            "page wndb); fetch the file again from its publisher.",
        ),
        (
            DATA,
            INDEX.replace("cad n 1", "cad n one"),
            ":index.noun, line 3: the line is not built as WordNet's files are (see its manual "
            "page wndb); fetch the file again from its publisher.",
        ),
    ],
)
def test_mistakes(tmp_path, data, index, sentence):
    path = folder(tmp_path, data, index)
    with pytest.raises(FormatError) as caught:
        wordnet.read(path)
    assert str(caught.value) == f"{path}{sentence}"
