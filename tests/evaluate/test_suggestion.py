"""Suggested quasi-identifiers: distinction and separation by hand, then on every kind of frame."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.errors import DataError, ParameterError
from ontomask.evaluation.suggestion import DEFINITIONS, suggest_quasi_identifiers
from reference import risk as reference


def columns():
    generator = np.random.default_rng(1)
    rare = np.full(200, "no", object)
    rare[:3] = "yes"
    return {
        "person": [f"p{number}" for number in range(200)],
        "age": generator.integers(20, 60, 200).tolist(),
        "sex": ["f", "m"] * 100,
        "rare": rare.tolist(),
        "country": ["here"] * 200,
        "flag": [True] * 199 + [False],
    }


def roles(found):
    return {one.column: one.role for one in found.columns}


def test_roles_and_reasons():
    found = suggest_quasi_identifiers(pl.DataFrame(columns()))
    assert roles(found) == {
        "person": "identifier",
        "age": "quasi",
        "sex": "quasi",
        "rare": "quasi",
        "country": "other",
        "flag": "other",
    }
    reasons = {one.column: one.reason for one in found.columns}
    assert reasons["person"] == "100% of its values are different: it names people"
    assert reasons["sex"] == "it tells 50% of all pairs of people apart"
    # Each of the three becomes unique together with an age that others share: 3 / 200.
    assert reasons["rare"] == "added to age it singles out 2% more of the people"
    assert reasons["country"] == "it has the same value for everybody"
    assert "hardly anybody" in reasons["flag"]
    assert set(found.quasi_identifiers) == {"age", "sex", "rare"}
    assert "country: other (it has the same value for everybody)" in str(found)


def test_figures_by_hand():
    # Four people, values x, x, y and missing: 5 of 6 pairs are told apart.
    frame = pl.DataFrame({"a": ["x", "x", "y", None], "b": [1, 2, 2, 2]})
    found = suggest_quasi_identifiers(frame)
    first, second = (one.alone for one in found.columns)
    assert first.columns == ("a",)
    assert first.distinct == 3
    assert first.distinction == 3 / 4
    assert first.separation == pytest.approx(5 / 6)
    assert first.unique_share == 2 / 4
    assert second.separation == pytest.approx(3 / 6)
    (both,) = found.combinations
    assert both.separation == 1
    assert both.unique_share == 1
    # Without a only one person is unique, without b two are.
    assert [one.contribution for one in found.columns] == [3 / 4, 2 / 4]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=15))
def test_separation_against_all_pairs(rows):
    frame = pl.DataFrame({"a": [row[0] for row in rows], "b": [row[1] for row in rows]})
    found = suggest_quasi_identifiers(frame)
    alone = {one.column: one.alone for one in found.columns}
    assert alone["a"].separation == pytest.approx(reference.separation([row[:1] for row in rows]))
    for both in found.combinations:
        assert both.separation == pytest.approx(reference.separation(rows))
        assert both.distinct == len(set(rows))


def test_every_kind_of_frame_and_encoded_tables(make_frame):
    expected = suggest_quasi_identifiers(pl.DataFrame(columns()))
    assert suggest_quasi_identifiers(make_frame(columns())) == expected
    schema = om.Schema.of({name: om.Flat() for name in columns()})
    encoded = encode(open_table(make_frame(columns())), schema)
    assert roles(suggest_quasi_identifiers(encoded)) == roles(expected)


def test_amounts_name_nobody(make_frame):
    amounts = (np.arange(200) / 4).tolist()
    frame = make_frame(columns() | {"amount": amounts, "number": list(map(float, range(200)))})
    found = suggest_quasi_identifiers(frame)
    assert roles(found)["amount"] == "quasi"
    assert roles(found)["number"] == "identifier"
    assert not any("amount" in one.columns for one in found.combinations)
    kinds = {"amount": om.Numeric(), "number": om.Numeric(), "person": om.Flat()}
    encoded = suggest_quasi_identifiers(encode(open_table(frame), om.Schema.of(kinds)))
    assert roles(encoded) == {"amount": "quasi", "number": "identifier", "person": "identifier"}


def test_weights_count_people():
    frame = pl.DataFrame({"a": ["x", "y"], "w": [3, 1]})
    encoded = encode(open_table(frame), om.Schema(a=om.Flat(), w=om.Count()))
    found = suggest_quasi_identifiers(encoded)
    # Three pairs of six are told apart: the person y from each of the three x.
    assert found.people == 4
    assert found.columns[0].alone.separation == pytest.approx(3 / 6)
    assert found.columns[0].alone.distinction == 2 / 4
    assert found.columns[0].alone.unique_share == 1 / 4


def test_larger_combinations_on_request():
    frame = pl.DataFrame({name: values for name, values in columns().items() if name != "person"})
    sizes = {len(one.columns) for one in suggest_quasi_identifiers(frame, max_size=3).combinations}
    assert sizes == {2, 3}
    assert suggest_quasi_identifiers(frame, max_size=1).combinations == ()


def test_a_column_that_matters_only_with_all_others_is_found():
    generator = np.random.default_rng(5)
    parts = {f"c{n}": (generator.random(3000) < 0.15).tolist() for n in range(12)}
    found = suggest_quasi_identifiers(pl.DataFrame(parts), max_size=1)
    assert all(one.role == "quasi" for one in found.columns)
    assert all("without it" in one.reason for one in found.columns)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_contributions_are_those_of_leaving_each_column_out(count):
    generator = np.random.default_rng(count)
    columns = {f"c{n}": generator.integers(0, 4, 60).astype(str) for n in range(count)}
    found = {
        one.column: one.contribution
        for one in suggest_quasi_identifiers(pl.DataFrame(columns)).columns
    }

    def alone(names):
        rows = list(zip(*(columns[name] for name in names), strict=True))
        return sum(rows.count(row) == 1 for row in rows) / 60

    for name in columns:
        others = [other for other in columns if other != name]
        assert found[name] == pytest.approx(alone(columns) - (alone(others) if others else 0))


def test_empty_columns_and_mistakes():
    frame = pl.DataFrame({"a": [None, None], "b": [1, 2]})
    assert roles(suggest_quasi_identifiers(frame))["a"] == "other"
    with pytest.raises(ParameterError, match="max_size must be a whole number of at least 1"):
        suggest_quasi_identifiers(frame, max_size=0)
    with pytest.raises(DataError, match="A table must be"):
        suggest_quasi_identifiers([1, 2])


def test_every_figure_is_defined():
    found = suggest_quasi_identifiers(pl.DataFrame(columns()))
    figures = {*found.as_dict()["columns"][0]["alone"]} - {"columns"}
    assert figures | {"contribution", "role"} == set(DEFINITIONS)
