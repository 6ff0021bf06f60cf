"""Words that are equal or not: what they lose in a set is told without looking at all of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.evaluation import sides as room
from ontomask.evaluation.sides import CodedSides, Released
from ontomask.semantics.distances import ValueDistances

COUNT = 7


def words(groups, people, distances):
    """A column of words that is released as sets of them, and as the last word."""
    points = np.full(len(groups) + 1, COUNT - 1)
    labels = [f"set {place}" for place in range(len(groups))]
    released = Released.of([*labels, "word"], points, [*groups, None], COUNT)
    values, names = np.append(np.arange(COUNT), -1), tuple(map(str, range(COUNT)))
    return CodedSides(released, people, distances, values, names)


@pytest.fixture
def both():
    """The column, and one whose same distances are listed, so that they are added up."""
    groups = [np.array([4, 0, 2]), np.array([1]), np.arange(COUNT + 1), np.array([3, 5])]
    people = np.array([5.0, 1.0, 3.0, 0.0, 2.0, 0.0, 4.0, 6.0])
    listed = 1.0 - np.eye(COUNT)
    return [words(groups, people, one) for one in (ValueDistances(), ValueDistances(table=listed))]


def test_words_are_as_far_from_sets_as_from_their_members(both):
    own, listed = both
    np.testing.assert_allclose(own.to_sets, listed.to_sets, rtol=1e-15, atol=1e-16)
    np.testing.assert_allclose(own.to_star, listed.to_star, rtol=1e-15)
    assert own.to_sets[1, 1] == 0.0


@pytest.mark.parametrize("most", [0, 10**6])
def test_words_move_as_far_with_a_table_as_without(both, most, monkeypatch):
    monkeypatch.setattr(room, "LARGEST_TABLE", most)
    own, listed = both
    old, new = (one.ravel() for one in np.indices((COUNT + 1, len(own.released) + 1)))
    np.testing.assert_allclose(own.moved(old, new), listed.moved(old, new), rtol=1e-15, atol=1e-16)


@pytest.mark.parametrize("most", [0, 10**6])
def test_released_words_are_as_far_apart_with_a_table_as_without(both, most, monkeypatch):
    monkeypatch.setattr(room, "LARGEST_TABLE", most)
    own, listed = both
    codes = np.arange(len(own.released) + 1)
    found = own.released_apart(codes[::-1], codes)
    np.testing.assert_allclose(found, listed.released_apart(codes[::-1], codes), rtol=1e-15)


@pytest.mark.parametrize("kept", [1, 3])
def test_links_are_the_same_without_tables_of_words_and_sets(kept, monkeypatch):
    """Some codes are released as they are, some with fewer digits, some not at all."""
    generator = np.random.default_rng(kept)
    frame = pl.DataFrame(
        {
            "code": [f"{one:03d}" for one in generator.integers(0, 400, 300)],
            "city": generator.choice([*"abcd"], 300).tolist(),
            "age": generator.integers(0, 9, 300),
        }
    )
    schema = om.Schema(code=om.Flat(), city=om.Flat(), age=om.Numeric())
    shown = [
        None if place % 7 == 6 else one if place % kept else f"{one[:2]}*"
        for place, one in enumerate(frame["code"])
    ]
    masked = frame.with_columns(code=pl.Series(shown))
    asked = {"distances": ["semantic", "s-distance", "euclidean", "matching"]}
    expected = om.evaluate(frame, masked, schema, **asked)
    monkeypatch.setattr(room, "LARGEST_TABLE", 0)
    monkeypatch.setattr(CodedSides, "table", None)
    found = om.evaluate(frame, masked, schema, **asked)
    assert found.linkage == expected.linkage
    assert [one.masked for one in found.statistics] == pytest.approx(
        [one.masked for one in expected.statistics], nan_ok=True
    )


def test_no_word_is_compared_with_all_others(both, monkeypatch):
    """With 12,000 codes that was nine tenths of an evaluation."""
    own, _ = both
    monkeypatch.setattr(room, "LARGEST_TABLE", 0)
    monkeypatch.setattr(ValueDistances, "between", None)
    old = np.arange(COUNT)
    assert own.moved(old, np.full(COUNT, 2)) == pytest.approx(own.to_star[:-1])
