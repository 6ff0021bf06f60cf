"""A taxonomy written as a concept list is read back as it was."""

import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ontomask as om
from ontomask.errors import ParameterError
from tables import DISEASES


def content(taxonomy: om.Taxonomy) -> dict[str, tuple[str, set[str], list[str]]]:
    """Labels, links and synonyms of all concepts, in whatever order."""
    names = zip(taxonomy.ids, taxonomy.labels, taxonomy.synonyms, strict=True)
    return {one: (label, set(taxonomy.parents(one)), sorted(more)) for one, label, more in names}


@pytest.mark.parametrize("name", ["nace", "icd9cm-procedures", "doid"])
def test_bundled_taxonomies_come_back(tmp_path, name):
    taxonomy = om.load_taxonomy(name)
    taxonomy.save(tmp_path / "concepts.csv")
    assert content(taxonomy) == content(om.load_taxonomy(tmp_path / "concepts.csv"))


def test_several_parents_come_back_and_the_file_can_be_read_by_people(tmp_path):
    path = tmp_path / "diseases.csv"
    DISEASES.save(path)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = {row["id"]: row for row in csv.DictReader(stream)}
    assert list(rows["flu"]) == ["id", "label", "parents", "synonyms"]
    assert rows["lung cancer"]["parents"] == "cancer|lung disease"
    assert rows["disease"]["parents"] == ""
    assert content(DISEASES) == content(om.load_taxonomy(path))


NAMES = (
    st.text(
        st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters="|;"),
        min_size=1,
        max_size=8,
    )
    .map(str.strip)
    .filter(bool)
)


@settings(max_examples=30)
@given(st.lists(NAMES, min_size=3, max_size=8, unique_by=lambda one: one.casefold()))
def test_odd_names_come_back(tmp_path_factory, names):
    """Quotes, commas, semicolons and other signs do no harm."""
    root, *others = names
    parents = {root: [], **{name: [names[place // 2]] for place, name in enumerate(others)}}
    taxonomy = om.Taxonomy.from_parents(parents, name="odd")
    path = tmp_path_factory.mktemp("odd") / "odd.csv"
    taxonomy.save(path)
    assert content(taxonomy) == content(om.load_taxonomy(path, format="concepts", cache=False))


def test_an_existing_file_is_kept_unless_that_is_wanted(tmp_path):
    path = tmp_path / "concepts.csv"
    path.write_text("mine")
    with pytest.raises(ParameterError, match="exists already"):
        DISEASES.save(path)
    assert path.read_text() == "mine"
    DISEASES.save(path, overwrite=True)
    assert len(om.load_taxonomy(path)) == len(DISEASES)
    assert [one.name for one in tmp_path.iterdir()] == ["concepts.csv"]


def test_a_failure_leaves_nothing_behind(tmp_path):
    (tmp_path / "concepts.csv").mkdir()
    with pytest.raises(OSError):
        DISEASES.save(tmp_path / "concepts.csv", overwrite=True)
    assert [one.name for one in tmp_path.iterdir()] == ["concepts.csv"]


@pytest.mark.parametrize("name", ["a|b", "a;b"])
def test_names_that_would_come_apart_are_refused(tmp_path, name):
    taxonomy = om.Taxonomy.from_parents({"root": [], name: ["root"]}, name="odd")
    with pytest.raises(ParameterError, match="which a concept list cannot"):
        taxonomy.save(tmp_path / "odd.csv")
    assert list(tmp_path.iterdir()) == []
