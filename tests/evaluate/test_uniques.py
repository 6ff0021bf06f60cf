"""Minimal unique sets: by hand, then against looking at every set of every person."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.errors import ParameterError
from ontomask.evaluation.uniques import (
    DEFINITIONS,
    minimal_unique_sets,
)
from reference import risk as reference


def encoded(columns, **extra):
    schema = {name: om.Flat() for name in columns} | extra
    return encode(open_table(pl.DataFrame(columns)), om.Schema.of(schema))


def people():
    """Person 0 is unique by a; 1 and 2 by a and b; 3 and 4 are alike."""
    return {
        "a": ["x", "y", "y", "z", "z", "z"],
        "b": ["1", "1", "2", "1", "1", None],
        "c": ["k", "k", "k", "k", "k", "k"],
    }


def found_sets(result):
    return {one.columns: (one.unique, one.minimal) for one in result.combinations}


def test_by_hand():
    result = minimal_unique_sets(encoded(people()))
    assert found_sets(result) == {
        ("a",): (1, 1),
        ("b",): (2, 2),
        ("c",): (0, 0),
        ("a", "b"): (4, 1),
        ("a", "c"): (1, 0),
        ("b", "c"): (2, 0),
        ("a", "b", "c"): (4, 0),
    }
    assert result.people == 6
    assert result.singled_out == 4
    assert result.by_size == (3, 1, 0)
    assert result.combinations[0].columns == ("b",)
    assert result.combinations[0].minimal_share == pytest.approx(2 / 6)


def test_scores_by_hand():
    # Three columns, sets of up to three: a set of one scores 2 * 1, a set of two 1.
    result = minimal_unique_sets(encoded(people()))
    scores = {one.column: one for one in result.scores}
    assert [one.column for one in result.scores] == ["b", "a", "c"]
    assert scores["a"].score == 2 + 1
    assert scores["b"].score == 2 * 2 + 1
    assert scores["c"].score == 0
    assert scores["a"].sets == 2
    assert scores["a"].set_share == pytest.approx(2 / 4)
    assert scores["b"].people == 3
    assert scores["b"].score_share == pytest.approx(5 / 7)


def test_a_set_of_size_k_scores_the_product_down_to_the_largest_size():
    # Eight columns, sets of up to three: 7 * 6 * 5 for a set of one.
    columns = {"first": ["x", "y", "y"]} | {f"same{n}": ["k"] * 3 for n in range(7)}
    for max_size, expected in ((3, 7 * 6 * 5), (1, 7)):
        first = minimal_unique_sets(encoded(columns), max_size=max_size).scores[0]
        assert (first.column, first.score) == ("first", expected)


def test_the_largest_size_matters():
    result = minimal_unique_sets(encoded(people()), max_size=1)
    assert set(found_sets(result)) == {("a",), ("b",), ("c",)}
    assert result.singled_out == 3
    assert minimal_unique_sets(encoded(people()), max_size=9).by_size == (3, 1, 0)


def test_chosen_columns_in_the_order_given():
    result = minimal_unique_sets(encoded(people()), ["c", "a"])
    assert set(found_sets(result)) == {("c",), ("a",), ("c", "a")}


def test_weights_above_one_are_never_unique():
    columns = people() | {"weight": [2, 1, 1, 1, 1, 1]}
    result = minimal_unique_sets(encoded(columns, weight=om.Count()))
    assert result.people == 7
    assert found_sets(result)["a",] == (0, 0)
    assert found_sets(result)["a", "b"] == (3, 1)


letters = st.sampled_from(["x", "y", "z", None])
tables = st.lists(st.tuples(letters, letters, letters, letters), min_size=1, max_size=14)


@given(tables, st.integers(1, 4))
def test_against_every_set_of_every_person(rows, largest):
    names = "abcd"
    columns = {name: [str(row[place]) for row in rows] for place, name in enumerate(names)}
    result = minimal_unique_sets(encoded(columns), max_size=largest)
    expected = reference.minimal_unique_sets(list(zip(*columns.values(), strict=True)), largest)
    for one in result.combinations:
        members = tuple(names.index(column) for column in one.columns)
        assert one.minimal == sum(members in sets for sets in expected.values())
        everyone = reference.unique_people(list(zip(*columns.values(), strict=True)), members)
        assert one.unique == len(everyone)
    assert result.singled_out == sum(bool(sets) for sets in expected.values())
    for one in result.scores:
        place = names.index(one.column)
        taking_part = [[place in members for members in sets] for sets in expected.values()]
        assert one.sets == sum(map(sum, taking_part))
        assert one.people == sum(map(any, taking_part))


def test_large_domains_are_grouped_as_small_ones():
    generator = np.random.default_rng(1)
    large = {name: generator.integers(0, 300, 400).tolist() for name in "abc"}
    found = minimal_unique_sets(encoded(large))
    expected = reference.minimal_unique_sets(list(zip(*large.values(), strict=True)), 3)
    assert found.singled_out == sum(bool(sets) for sets in expected.values())
    assert sum(one.minimal for one in found.combinations) == sum(map(len, expected.values()))


def test_rows_are_tidy():
    rows = minimal_unique_sets(encoded(people())).rows()
    assert rows[0]["columns"] == "b"
    assert {row["size"] for row in rows} == {1, 2, 3}
    assert len(pl.DataFrame(rows)) == 7


@pytest.mark.parametrize("size", [0, -1, 1.5, None])
def test_wrong_sizes(size):
    with pytest.raises(ParameterError, match="max_size must be a whole number of at least 1"):
        minimal_unique_sets(encoded(people()), max_size=size)


def test_every_figure_is_defined():
    result = minimal_unique_sets(encoded(people())).as_dict()
    figures = {"unique", "minimal", "singled_out", "by_size", *result["scores"][0]} - {"column"}
    assert figures <= set(DEFINITIONS)
