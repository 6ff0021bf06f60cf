"""Where values are equal or not, a step costs what it changes, however many values there are."""

import numpy as np
import pytest

from ontomask.kernels import shrinking as kernel
from ontomask.kernels.centroids import new_tally, tallied
from ontomask.kernels.index import FARTHEST, NEAREST, build_index, new_finds, search
from ontomask.kernels.neighbors import prepare
from ontomask.kernels.records import pack_points
from ontomask.semantics.distances import ValueDistances
from ontomask.semantics.operators import Comparison, coded_operator

WORDS = 60


@pytest.fixture
def without_tables(monkeypatch):
    monkeypatch.setattr("ontomask.semantics.operators.LARGEST_TABLE", 0)


def packed(attribute, codes, weights=None):
    ones, numbers = np.ones(codes.size), np.linspace(0.0, 0.1, codes.size)[None]
    weights = ones if weights is None else weights
    return pack_points(
        [attribute], codes[None].astype(np.int32), numbers, ones, weights, ones, np.ones(1), 1
    )


def two_sides():
    """Words that are compared with others: some are on one side only, one is there three times."""
    rows = np.append(np.arange(WORDS), -1)
    values = np.concatenate([[7, 7], np.arange(5, WORDS + 5), [7, -1]])
    return Comparison(ValueDistances(), importance=0.3).attribute(rows, values), values.size


def searched(points, index, finds, row, direction):
    search(points, index, finds, np.array([float(row), 0.05]), direction, 3)
    return finds.extremes[0 if direction == NEAREST else 1]


@pytest.mark.parametrize("direction", [NEAREST, FARTHEST])
def test_one_word_after_the_other_is_searched_as_each_for_itself(direction):
    attribute, count = two_sides()
    rng = np.random.default_rng(1)
    # not all of the words occur in the index
    points, order = packed(attribute, rng.integers(0, count, 90)), np.arange(80)
    index = build_index(points, order, points.factors, np.zeros(90), 4)
    prepare(index)
    finds = new_finds(index, 3)
    for row in [*rng.integers(0, WORDS + 1, 40), 7, 0, 7, WORDS]:
        found = searched(points, index, finds, row, direction).copy()
        expected = searched(points, index, new_finds(index, 3), row, direction)
        np.testing.assert_array_equal(found, expected)
        assert finds.answers[0, 0] >= 0.0 or direction == FARTHEST


def test_a_search_for_another_word_looks_at_both_words_only():
    attribute, count = two_sides()
    points = packed(attribute, np.arange(count))
    index = build_index(points, np.arange(count), points.factors, np.zeros(count), 4)
    prepare(index)
    finds = new_finds(index, 3)
    searched(points, index, finds, 20, NEAREST)
    finds.extremes[0, index.cells[2, index.places[40]]] = 123.0
    assert 123.0 in searched(points, index, finds, 30, NEAREST)


def words_of(rng, often):
    """Points of words, some of them missing; weights are whole."""
    values = np.append(np.arange(WORDS), -1)
    codes = rng.choice(WORDS + 1, 300, p=often).astype(np.int32)
    ones = np.ones(codes.size)
    attribute = coded_operator(Comparison(ValueDistances()), values, codes, ones, ones).arrays
    return packed(attribute, codes, rng.integers(1, 4, 300).astype(float))


@pytest.mark.parametrize("seed", range(3))
def test_the_most_frequent_word_of_what_is_left_is_seldom_looked_for(seed, without_tables):
    rng = np.random.default_rng(seed)
    points = words_of(rng, rng.dirichlet(np.full(WORDS + 1, 5.0)))
    tally, shrinking, order = new_tally(points), kernel.new_shrinking(points), rng.permutation(300)
    tallied(points, tally, np.arange(300))
    center, looks = np.empty(2), set()
    for start in range(0, 300):
        kernel.remaining_center(points, tally, shrinking, center)
        expected = tallied(points, new_tally(points), np.sort(order[start:]))
        assert center[0] == expected[0]
        looks.add(int(shrinking.counted[0]))
        kernel.take_out(points, tally, shrinking, int(order[start]))
    assert len(looks) < 60
