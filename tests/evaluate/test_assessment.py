import polars as pl
import pytest

import ontomask as om
from tables import DISEASES

PEOPLE = pl.DataFrame({"d": ["flu", "flu", "cold", "asthma"], "s": ["f", "f", "m", "m"]})
SCHEMA = om.Schema(d=om.Nominal(DISEASES), s=om.Flat())


def test_risk_of_a_table_as_it_is():
    found = om.file_risk(PEOPLE, SCHEMA, threshold=0.5)
    assert found.structure.classes == 3
    assert found.prosecutor.highest == 1
    assert found.prosecutor.above == 0.5
    assert found.marketer == 0.75
    assert om.file_risk(PEOPLE, SCHEMA, ["s"]).structure.smallest == 2


def test_a_population_lowers_the_journalists_risk():
    population = pl.concat([PEOPLE, PEOPLE, PEOPLE])
    found = om.file_risk(PEOPLE, SCHEMA, population=population)
    assert found.journalist.highest == pytest.approx(1 / 3)


def test_combinations_that_single_people_out():
    rows = {
        row["columns"]: row["minimal"]
        for row in om.measuring.minimal_unique_sets(PEOPLE, SCHEMA).rows()
    }
    assert rows == {"d": 2, "s": 0, "d, s": 0}


def test_quasi_identifiers_are_suggested():
    assert om.measuring.suggest_quasi_identifiers(PEOPLE).columns
