"""A taxonomy written as a concept list is read back as it was."""

import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ontomask as om
from ontomask.errors import ParameterError
from ontomask.taxonomy.export import write_concepts
from tables import DISEASES


def same(one: om.Taxonomy, other: om.Taxonomy) -> None:
    """Concepts, labels, synonyms and links are the same, in whatever order."""
    assert set(one.ids) == set(other.ids)
    for identifier in one.ids:
        assert one.label_of(identifier) == other.label_of(identifier)
        assert set(one.parents(identifier)) == set(other.parents(identifier))
        here, there = one.index_of(identifier), other.index_of(identifier)
        assert sorted(one.synonyms[here]) == sorted(other.synonyms[there])


@pytest.mark.parametrize("name", ["nace", "icd9cm-procedures", "doid"])
def test_bundled_taxonomies_come_back(tmp_path, name):
    taxonomy = om.load_taxonomy(name)
    write_concepts(taxonomy, tmp_path / "concepts.csv")
    same(taxonomy, om.load_taxonomy(tmp_path / "concepts.csv"))


def test_several_parents_come_back_and_the_file_can_be_read_by_people(tmp_path):
    path = tmp_path / "diseases.csv"
    write_concepts(DISEASES, path)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = {row["id"]: row for row in csv.DictReader(stream)}
    assert list(rows["flu"]) == ["id", "label", "parents", "synonyms"]
    assert rows["lung cancer"]["parents"] == "cancer|lung disease"
    assert rows["disease"]["parents"] == ""
    same(DISEASES, om.load_taxonomy(path))


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
    write_concepts(taxonomy, path)
    same(taxonomy, om.load_taxonomy(path, format="concepts", cache=False))


def test_an_existing_file_is_kept_unless_that_is_wanted(tmp_path):
    path = tmp_path / "concepts.csv"
    path.write_text("mine")
    with pytest.raises(ParameterError, match="exists already"):
        write_concepts(DISEASES, path)
    assert path.read_text() == "mine"
    write_concepts(DISEASES, path, overwrite=True)
    assert len(om.load_taxonomy(path)) == len(DISEASES)
    assert [one.name for one in tmp_path.iterdir()] == ["concepts.csv"]


def test_a_failure_leaves_nothing_behind(tmp_path):
    (tmp_path / "concepts.csv").mkdir()
    with pytest.raises(OSError):
        write_concepts(DISEASES, tmp_path / "concepts.csv", overwrite=True)
    assert [one.name for one in tmp_path.iterdir()] == ["concepts.csv"]


@pytest.mark.parametrize("name", ["a|b", "a;b"])
def test_names_that_would_come_apart_are_refused(tmp_path, name):
    taxonomy = om.Taxonomy.from_parents({"root": [], name: ["root"]}, name="odd")
    with pytest.raises(ParameterError, match="which a concept list cannot"):
        write_concepts(taxonomy, tmp_path / "odd.csv")
    assert list(tmp_path.iterdir()) == []
