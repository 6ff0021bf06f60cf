import time

import pytest

import ontomask as om
from ontomask.taxonomy import bundled

SHIPPED = [entry for entry in om.taxonomies() if not entry.needs]


@pytest.mark.parametrize("entry", SHIPPED, ids=lambda entry: entry.name)
def test_the_catalog_tells_the_truth(entry):
    taxonomy = om.load_taxonomy(entry.name)
    assert len(taxonomy) == entry.concepts
    assert taxonomy.name == entry.name
    assert taxonomy.version == entry.version
    assert taxonomy.license == entry.license
    assert entry.title in str(entry)


def test_every_name_is_in_the_catalog_and_has_its_notice():
    assert [entry.name for entry in om.taxonomies()] == list(bundled.NAMES)
    notices = (bundled.FILES / "NOTICES.md").read_text(encoding="utf-8")
    for entry in SHIPPED:
        assert f"**{entry.name}**" in notices
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in notices


def test_known_facts_of_the_bundled_taxonomies(icd9, wordnet):
    assert icd9.label_of("250.00").startswith("Diabetes mellitus without mention of complication")
    assert icd9.parents("250.00") == ("250.0",)
    assert icd9.lcs(["250.01", "250.13"]) == "250"
    assert wordnet.root == "entity.n.01"
    assert wordnet.parents("dog.n.01") == ("domestic_animal.n.01", "canine.n.02")
    procedures = om.load_taxonomy("icd9cm-procedures")
    assert procedures.label_of("00.66").startswith("Percutaneous transluminal coronary angioplasty")
    assert om.load_taxonomy("doid").label_of("DOID:4") == "disease"
    assert om.load_taxonomy("nace").parents("01.11") == ("01.1",)
    assert om.load_taxonomy("naics").parents("111") == ("11",)


def test_loading_twice_gives_the_same_object(icd9):
    assert om.load_taxonomy("icd9cm") is icd9


def test_wordnet_loads_quickly():
    start = time.perf_counter()
    bundled.load.__wrapped__("wordnet")
    assert time.perf_counter() - start < 2.0  # aimed at 0.5 s; a busy machine is no failure


def test_icd10_through_its_package():
    pytest.importorskip("simple_icd_10_cm")
    taxonomy = om.load_taxonomy("icd10cm")
    assert len(taxonomy) == next(one.concepts for one in om.taxonomies() if one.name == "icd10cm")
    assert taxonomy.label_of("E11.9") == "Type 2 diabetes mellitus without complications"
    assert taxonomy.map(["E119"]).ids == ("E11.9",)
