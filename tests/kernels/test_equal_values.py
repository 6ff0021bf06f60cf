"""Where values are equal or not, a step costs what it changes, however many values there are."""

import numpy as np
import pytest

import ontomask as om
from ontomask.kernels import record_swapping, records
from ontomask.kernels import shrinking as kernel
from ontomask.kernels.centroids import centroids, new_tally, tallied
from ontomask.kernels.index import FARTHEST, NEAREST, build_index, new_finds, search
from ontomask.kernels.neighbors import prepare
from ontomask.kernels.record_ranks import nearer_records
from ontomask.kernels.records import pack_points
from ontomask.kernels.word_swapping import are_words, swap_words
from ontomask.semantics.distances import ValueDistances
from ontomask.semantics.operators import Comparison
from reference.points import coded_operator

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


def test_the_center_of_words_is_found_without_their_table():
    rng = np.random.default_rng(5)
    points = words_of(rng, rng.dirichlet(np.full(WORDS + 1, 0.3)))
    labels, uniforms = rng.integers(0, 40, 300).astype(np.int32), np.zeros(40)
    assert points.heads[0, records.WORDS] == 1
    by_table = points._replace(heads=points.heads.copy())
    by_table.heads[0, records.WORDS] = 0
    expected = centroids(by_table, labels, 40, uniforms)
    nothing = points._replace(costs=np.full(points.costs.size, np.nan))
    for given in (points, nothing):
        for own, other in zip(centroids(given, labels, 40, uniforms), expected, strict=True):
            np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize("operators", ["semantic", "equality", "mode", "random"])
@pytest.mark.parametrize("metric", ["mean", "euclidean", "s-distance"])
def test_what_is_called_words_costs_one_but_for_the_value_itself(operators, metric):
    values, codes = np.append(np.arange(9), -1), np.arange(10, dtype=np.int32)
    for distances in (ValueDistances(), ValueDistances(highest=8)):
        comparison = Comparison(distances, operators, metric)
        arrays = coded_operator(comparison, values, codes, np.ones(10), np.ones(10)).arrays
        if arrays.words:
            np.testing.assert_array_equal(arrays.costs, 1.0 - np.eye(10))
        assert arrays.words == (distances.highest is None or operators == "equality")


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


def tuples_of(words, importance=1.0):
    """The tuples of a table of single words, and that of each record."""
    different, places = np.unique(words, return_inverse=True)
    comparison = Comparison(ValueDistances(), importance=importance)
    attribute = comparison.attribute(different, different)
    ones, nothing = np.ones(different.size), np.empty((0, different.size))
    codes = np.arange(different.size, dtype=np.int32)[None]
    points = pack_points([attribute], codes, nothing, ones, ones, ones, np.empty(0), 1)
    return points, places.astype(np.int32)


@pytest.mark.parametrize("words", [1, 2, 9, 64, 10**6])
@pytest.mark.parametrize("k", [1, 4, 70])
def test_words_are_swapped_as_records(words, k):
    rng = np.random.default_rng(words + k)
    points, places = tuples_of(rng.integers(0, words, 81))
    priorities, uniforms = rng.permuted(np.tile(np.arange(81), (2, 1)), axis=1), rng.random((81, 4))
    first, signals = int(places[5]), np.zeros((2, 2), np.int64)
    rest = priorities, uniforms
    expected = record_swapping.swap_records(points, places, first, k, False, *rest, signals[0])
    found = swap_words(points, places, first, k, False, *rest, signals[1])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert signals[1].tolist() == signals[0].tolist()
    stopped = swap_words(points, places, first, k, False, *rest, np.array([0, 1]))
    assert stopped[1].size == 0


@pytest.mark.parametrize("words", [1, 2, 9, 64, 10**6])
@pytest.mark.parametrize("k", [1, 4, 70, 90])
def test_words_lie_in_the_interval_of_all_records(words, k):
    rng = np.random.default_rng(words + k)
    points, places = tuples_of(rng.integers(0, words, 81))
    priorities, uniforms = rng.permuted(np.tile(np.arange(81), (2, 1)), axis=1), rng.random((81, 4))
    rest, first = (priorities, uniforms), int(places[5])
    found = swap_words(points, places, first, k, True, *rest, np.zeros(2, np.int64))
    partners, references, nearer = found
    assert (partners[0, partners[0]] == np.arange(81)).all()
    every = np.arange(references.size)
    counted = nearer_records(points, places, partners, references, True, every)
    np.testing.assert_array_equal(nearer, counted)
    assert nearer.max() < k


@pytest.mark.compiled
@pytest.mark.parametrize("k", [1, 2, 4, 6])
def test_words_among_all_records_are_swapped_as_often_as_records(k):
    """Which words meet, and how many records stay, over many draws of both loops."""
    points, places = tuples_of(np.array([0, 0, 0, 0, 1, 1, 1, 2]))
    rng, met = np.random.default_rng(k), np.zeros((2, 3, 3))
    alone = np.zeros((2, 9))
    for _ in range(3000):
        for side, loop in enumerate((swap_words, record_swapping.swap_records)):
            priorities = rng.permuted(np.tile(np.arange(8), (2, 1)), axis=1)
            rest = k, True, priorities, rng.random((8, 4)), np.zeros(2, np.int64)
            partners = loop(points, places, 2, *rest)[0][0]
            np.add.at(met[side], (places, places[partners]), 1.0)
            alone[side, np.count_nonzero(partners == np.arange(8))] += 1.0
    np.testing.assert_allclose(met[0], met[1], atol=500)
    np.testing.assert_allclose(alone[0], alone[1], atol=170)


def test_what_is_no_word_is_swapped_as_a_record(without_tables):
    assert are_words(tuples_of(np.arange(5))[0])
    # where all are equally near, the interval does not begin with those that are equal
    assert not are_words(tuples_of(np.arange(5), importance=0.0)[0])
    assert not are_words(words_of(np.random.default_rng(1), np.full(WORDS + 1, 1 / (WORDS + 1))))


@pytest.mark.parametrize("pool", ["unswapped", "all"])
def test_a_column_of_words_is_swapped_without_looking_at_all_of_them(
    pool, monkeypatch, without_tables
):
    monkeypatch.delattr(record_swapping, "swap_records")
    table = {"name": [f"name {number % 90}" for number in range(200)]}
    method = om.RankSwapping(k=5, pool=pool)
    release = om.protect(table, om.Schema(name=om.Flat()), method, seed=1)
    assert sorted(release.frame["name"]) == sorted(table["name"])
    assert release.details[0]["farthest_rank"]["name"] <= 5


def test_words_are_summed_without_their_table(without_tables):
    rng = np.random.default_rng(2)
    values, weights = np.append(np.arange(WORDS), -1), rng.integers(1, 9, WORDS + 1).astype(float)
    codes = np.arange(WORDS + 1, dtype=np.int32)
    comparison = Comparison(ValueDistances(), importance=0.25)
    coded = coded_operator(comparison, values, codes, weights, weights)
    expected = coded.between(coded.rows, coded.values) @ weights
    np.testing.assert_array_equal(coded.summed(weights), expected)
