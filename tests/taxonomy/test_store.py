import io
import zipfile

import numpy as np
import pytest

import ontomask as om
from ontomask import errors
from ontomask.taxonomy import loading, store
from ontomask.taxonomy.readers import sources

TOY = om.Taxonomy.from_parents(
    {"t": [], "a": ["t"], "b": ["t", "a"]},
    labels={"a": "Ä label, with\na line break"},
    synonyms={"b": ["one", "two"]},
    name="toy",
)


def assert_same(one: om.Taxonomy, other: om.Taxonomy) -> None:
    for text in (*store.TEXTS, *store.FACTS):
        assert getattr(one, text) == getattr(other, text)
    for array in store.ARRAYS:
        assert np.array_equal(getattr(one, array), getattr(other, array))


def test_a_saved_taxonomy_comes_back_the_same(tmp_path):
    path = tmp_path / "toy.ontomask"
    TOY.save(path)
    assert_same(om.load_taxonomy(path), TOY)


def test_saving_is_deterministic_and_leaves_nothing_else(tmp_path):
    TOY.save(tmp_path / "one.ontomask")
    TOY.save(tmp_path / "two.ontomask")
    one, two = sorted(tmp_path.iterdir())
    assert one.read_bytes() == two.read_bytes()


def test_an_existing_file_is_not_overwritten(tmp_path):
    path = tmp_path / "toy.ontomask"
    path.write_text("precious")
    with pytest.raises(errors.ParameterError, match="exists already"):
        TOY.save(path)
    assert path.read_text() == "precious"
    TOY.save(path, overwrite=True)
    assert_same(om.load_taxonomy(path), TOY)


@pytest.mark.parametrize("damage", ["cut", "text", "links", "layout"])
def test_a_damaged_file_is_refused(tmp_path, damage):
    path = tmp_path / "toy.ontomask"
    TOY.save(path)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:200])
    elif damage == "text":
        path.write_text("no archive")
    else:
        with np.load(path) as archive:
            arrays = dict(archive)
        if damage == "links":
            arrays["parent_numbers"] = arrays["parent_numbers"] + 2
        else:
            header = arrays["header"].tobytes().replace(b'"layout": 1', b'"layout": 9')
            arrays["header"] = np.frombuffer(header, np.uint8)
        with path.open("wb") as stream:
            np.savez(stream, **arrays)
    with pytest.raises(errors.FormatError, match=r"toy\.ontomask"):
        om.load_taxonomy(path)


def repacked(path, **changed) -> None:
    """Write the toy taxonomy with some arrays replaced by other content."""
    TOY.save(path, overwrite=True)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members |= {f"{name}.npy": content for name, content in changed.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def npy(array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def test_a_file_that_unpacks_to_too_much_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "RATIO_FREE", 2**20)
    path = tmp_path / "toy.ontomask"
    repacked(path, glosses=npy(np.zeros(2**22, np.uint8)))
    with pytest.raises(errors.UnsafeSourceError, match="decompression bomb"):
        om.load_taxonomy(path)
    many = {f"more{number}": npy(np.zeros(2**19, np.uint8)) for number in range(8)}
    repacked(path, **many)
    with pytest.raises(errors.UnsafeSourceError, match="decompression bomb"):
        om.load_taxonomy(path)


def test_an_array_that_claims_to_be_larger_than_it_is_takes_no_memory(tmp_path):
    path = tmp_path / "toy.ontomask"
    honest = npy(np.zeros(10, np.uint8))
    vast = honest.replace(b"(10,), }" + b" " * 14, b"(" + b"9" * 16 + b",), }")
    assert len(vast) == len(honest)
    assert vast != honest
    repacked(path, glosses=vast)
    with pytest.raises(errors.FormatError, match=r"toy\.ontomask"):
        om.load_taxonomy(path)


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A small file that counts as large, and an empty cache folder."""
    monkeypatch.setenv("ONTOMASK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loading, "CACHED_FROM", 1)
    path = tmp_path / "tree.csv"
    path.write_text("child,parent\na,t\nb,t\n")
    return path


def entries(path):
    return sorted((path.parent / "cache").glob("*"))


def test_large_sources_are_cached_by_content_and_settings(source):
    first = om.load_taxonomy(source)
    assert len(entries(source)) == 1
    written = entries(source)[0].stat().st_mtime_ns
    assert_same(om.load_taxonomy(source), first)
    assert entries(source)[0].stat().st_mtime_ns == written
    om.load_taxonomy(source, name="other")
    assert len(entries(source)) == 2
    source.write_text("child,parent\na,t\nc,t\n")
    assert "c" in om.load_taxonomy(source)
    assert len(entries(source)) == 3


def test_the_cache_is_really_read(source, monkeypatch):
    om.load_taxonomy(source)
    TOY.save(entries(source)[0], overwrite=True)
    assert om.load_taxonomy(source).name == "toy"
    assert om.load_taxonomy(source, cache=False).name == "tree"


def test_a_broken_cache_does_not_stand_in_the_way(source):
    om.load_taxonomy(source)
    entries(source)[0].write_text("rubbish")
    assert "a" in om.load_taxonomy(source)
    assert "a" in store.load(entries(source)[0])


def test_an_unwritable_cache_does_not_stand_in_the_way(source, monkeypatch):
    monkeypatch.setenv("ONTOMASK_CACHE", str(source / "below-a-file"))
    assert "a" in om.load_taxonomy(source)
