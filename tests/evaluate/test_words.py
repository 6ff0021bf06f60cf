"""Words that are equal or not: what they lose in a set is told without looking at all of them."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_no_word_is_compared_with_all_others(both, monkeypatch):
    """With 12,000 codes that was nine tenths of an evaluation."""
    own, _ = both
    monkeypatch.setattr(room, "LARGEST_TABLE", 0)
    monkeypatch.setattr(ValueDistances, "between", None)
    old = np.arange(COUNT)
    assert own.moved(old, np.full(COUNT, 2)) == pytest.approx(own.to_star[:-1])
