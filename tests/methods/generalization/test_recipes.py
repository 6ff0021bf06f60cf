"""Hierarchies that are built from the values of a column by a few words."""

import datetime
from dataclasses import replace

import polars as pl
import pytest

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.errors import OntomaskError, ParameterError
from ontomask.methods.generalization.encoding import hierarchy_of
from tables import DISEASES

DAYS = [datetime.date(2024, 1, 31), datetime.date(2024, 3, 1), datetime.date(2023, 12, 24)]


def built(values, column, recipe):
    table = open_table(pl.DataFrame({"x": values}))
    hierarchy = hierarchy_of(encode(table, om.Schema(x=column))["x"], recipe, "steps")
    return {row[0]: row[1:] for row in hierarchy.cells()}, hierarchy


def test_intervals():
    rows, hierarchy = built([23, 27, 31, 64], om.Numeric(), {"intervals": [5, 10]})
    assert rows["23"] == ["[20, 25)", "[20, 30)", "*"]
    assert hierarchy.words == (
        *("as it is", "intervals of 5 (level 1 of 3)", "intervals of 10 (level 2 of 3)"),
        "any value (level 3 of 3)",
    )
    rows, _ = built([1.5, 92.0], om.Numeric(), {"intervals": [10], "top": 90, "bottom": 5})
    assert rows == {"1.5": ["< 5", "*"], "92": [">= 90", "*"]}


@pytest.mark.parametrize("written", [None, "%d.%m.%Y", "%Y-%m"])
def test_dates_however_they_are_written(written):
    values = DAYS if written is None else [day.strftime(written) for day in DAYS]
    rows, hierarchy = built(values, om.Date(format=written), {"dates": ["quarter", "year"]})
    first = str(DAYS[0]) if written is None else DAYS[0].strftime(written)
    assert rows[first] == ["2024-Q1", "2024", "*"]
    assert hierarchy.words[1:3] == ("quarters (level 1 of 3)", "years (level 2 of 3)")


def test_orders():
    column = om.Ordinal(order=["low", "fair", "good", "high"])
    rows, _ = built(["low", "high"], column, {"order": 2})
    assert rows["fair"] == ["low – fair", "*"]


def test_digits():
    rows, _ = built(["28013", "28045"], om.Flat(), {"digits": "last"})
    assert rows["28013"][:2] == ["2801*", "280**"]
    rows, _ = built(["28013", "28045"], om.Flat(), {"digits": "first"})
    assert rows["28013"][0] == "*8013"


def test_stars():
    rows, _ = built(["a", "b"], om.Flat(), {"star": True})
    assert rows == {"a": ["*"], "b": ["*"]}
    rows, hierarchy = built(["a", "b"], om.Flat(), {"star": False})
    assert rows == {"a": [], "b": []}
    assert hierarchy.words == ("as it is",)


def test_levels_of_a_taxonomy():
    column = om.Nominal(DISEASES)
    values = list(DISEASES.ids)[-4:]
    for by in ("steps", "depth"):
        rows, _ = built(values, column, {"taxonomy": by})
        table = open_table(pl.DataFrame({"x": values}))
        expected = hierarchy_of(encode(table, om.Schema(x=column))["x"], None, by)
        assert rows == {row[0]: row[1:] for row in expected.cells()}


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        (
            {},
            "must say how to build it: one of intervals, cuts, dates, order, digits, star, "
            "taxonomy",
        ),
        ({"interval": [5]}, "Did you mean 'intervals'?"),
        ({"intervals": [5], "dates": ["year"]}, "must say one of them only"),
        ({"intervals": 5}, "intervals must be a list"),
        ({"intervals": [5, 12]}, "12 is no multiple of 5"),
        ({"intervals": [5], "topp": 3}, "'topp'"),
        ({"dates": ["years"]}, "each item one of 'week'"),
        ({"order": 1}, "order must be a whole number of at least 2"),
        ({"digits": "right"}, "digits must be one of 'last', 'first'"),
        ({"star": 1}, "star must be True or False"),
        ({"taxonomy": "up"}, "taxonomy must be one of 'steps', 'depth'"),
    ],
)
def test_mistakes_are_answered_when_the_method_is_made(recipe, said):
    with pytest.raises(ParameterError) as caught:
        om.Generalization([om.privacy.KAnonymity(2)], hierarchies={"age": recipe})
    assert "'age'" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("column", "recipe", "said"),
    [
        (om.Flat(), {"intervals": [5]}, "intervals need numbers, but column 'x' is flat"),
        (om.Flat(), {"dates": ["year"]}, "dates need dates, but column 'x' is flat"),
        (om.Flat(), {"order": 2}, "order needs an order, but column 'x' is flat"),
        (om.Flat(), {"taxonomy": "steps"}, "taxonomy needs a taxonomy, but column 'x' is flat"),
    ],
)
def test_what_does_not_fit_the_column_is_told(column, recipe, said):
    with pytest.raises(OntomaskError) as caught:
        built(["a", "b"], column, recipe)
    assert said in str(caught.value)


def test_a_release_with_recipes_only():
    frame = pl.DataFrame(om.discharges(300, seed=2)).select(
        "sex", "age", "county", "admission_date"
    )
    schema = om.Schema(sex=om.Flat(), age=om.Numeric(), county=om.Flat(), admission_date=om.Date())
    method = om.Generalization(
        [om.privacy.KAnonymity(5)],
        suppression_limit=0.1,
        hierarchies={
            "sex": {"star": True},
            "age": {"intervals": [10, 20, 40]},
            "county": {"star": True},
            "admission_date": {"dates": ["quarter", "year"]},
        },
    )
    release = om.protect(frame, schema, method, 1)
    generalized = release.details[0]["generalized"]
    assert set(generalized) == set(frame.columns)
    assert all("(level " in one or one == "as it is" for one in generalized.values())
    level = release.levels["age"]
    assert f"level {level} of 4" in generalized["age"] or level == 0


VALUES = {
    "intervals": ([1.5, 3.0, None, 700.25, -0.5], om.Numeric()),
    "cuts": ([1, 3, 3, 700, -5], om.Numeric()),
    "dates": ([datetime.datetime(2024, 1, day, 7, 30) for day in (31, 2, 2, 9, 8)], om.Date()),
    "digits": (["28013", "28020", "8013", "41001", "28013"], om.Flat()),
    "star": (["a", "b", "b", None, "a"], om.Flat()),
}
SAID = {
    "intervals": [2, 4],
    "cuts": [0, 5],
    "dates": ["week", "year"],
    "digits": "last",
    "star": True,
}


@pytest.mark.parametrize("recipe", VALUES)
def test_no_row_is_made_for_each_value_and_values_are_looked_up_once(recipe, monkeypatch):
    """For 300,000 different floats rows of texts took seconds, and to write each several times."""
    values, column = VALUES[recipe]
    calls = []
    monkeypatch.setattr(om.Hierarchy, "from_rows", None)
    monkeypatch.setattr(om.Hierarchy, "encode", lambda *_: calls.append(1))
    frame = pl.DataFrame({"x": values})
    method = om.Generalization(
        [om.privacy.KAnonymity(2)], 0.5, hierarchies={"x": {recipe: SAID[recipe]}}
    )
    om.protect(frame, om.Schema(x=replace(column, missing="own-category")), method, seed=1)
    assert not calls
