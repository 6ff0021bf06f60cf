"""Concepts of a tree are swapped by counts below their ancestors as they are by an index."""

import numpy as np
import pytest

import ontomask as om
from ontomask.kernels import concept_swapping, record_swapping, tuple_ranking
from ontomask.kernels.branches import (
    add_record,
    branches_of,
    distance_of,
    farthest_step,
    nearest_step,
    step_start,
    step_tuple,
)
from ontomask.kernels.concept_swapping import swap_concepts
from ontomask.kernels.formulas import WIDTH
from ontomask.kernels.records import contribution, pack_points, point_reference
from ontomask.semantics.distances import ValueDistances, column_space
from ontomask.semantics.operators import Comparison


def random_tree(rng, size, joined=0):
    """Concepts, each below one that was there before; the last ones may have two parents."""
    parents = {"0": []}
    for number in range(1, size):
        several = 2 if number >= size - joined else 1
        above = rng.choice(max(1, number // 2), min(several, max(1, number // 2)), replace=False)
        parents[str(number)] = [str(one) for one in above]
    return om.Taxonomy.from_parents(parents)


def concepts_of(taxonomy, values, measure="logsc", importance=1.0):
    """The tuples of a table of single concepts (-1: missing), in any order, and each record's."""
    rng = np.random.default_rng(values.size)
    different = rng.permutation(np.unique(values))
    places = np.empty(different.max() + 2, np.int32)
    places[different] = np.arange(different.size)
    known = different[different >= 0].astype(np.int32)
    space = column_space(taxonomy, known, measure, "attribute", {})
    comparison = Comparison(ValueDistances(space), importance=importance)
    attribute = comparison.attribute(different, different)
    ones, nothing = np.ones(different.size), np.empty((0, different.size))
    codes = np.arange(different.size, dtype=np.int32)[None]
    points = pack_points([attribute], codes, nothing, ones, ones, ones, np.empty(0), 1)
    return points, places[values]


def both_loops(points, places, k, seed, signal=(0, 0)):
    rng, count = np.random.default_rng(seed), places.size
    priorities = rng.permuted(np.tile(np.arange(count), (2, 1)), axis=1)
    rest = int(places[0]), k, False, priorities, rng.random((count, 4))
    signals = np.array([signal, signal])
    found = swap_concepts(points, places, *rest, signals[0])
    expected = record_swapping.swap_records(points, places, *rest, signals[1])
    assert found is not None
    assert signals[0].tolist() == signals[1].tolist()
    return found, expected


def assert_alike(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("measure", ["logsc", "tversky"])
@pytest.mark.parametrize("records", [1, 2, 40, 90])
@pytest.mark.parametrize("k", [1, 4, 200])
def test_concepts_are_swapped_as_records(measure, records, k):
    """With ties, several records of a concept, ancestors among the values, and missing ones."""
    rng = np.random.default_rng(records + k)
    values = rng.integers(-1, 60, records)
    points, places = concepts_of(random_tree(rng, 60), values, measure, 0.3)
    assert_alike(*both_loops(points, places, k, k))


@pytest.mark.parametrize("seed", range(4))
def test_references_are_drawn_by_the_same_lots(seed, monkeypatch):
    monkeypatch.setattr(tuple_ranking, "LEAST_BY_LOT", 8)
    monkeypatch.setattr(concept_swapping, "LEAST_BY_LOT", 8)
    met, kernel = [], concept_swapping._met
    monkeypatch.setattr(concept_swapping, "_met", lambda *one: met.append(kernel(*one)) or met[-1])
    rng = np.random.default_rng(seed)
    values = rng.integers(-1, 90, 110)
    points, places = concepts_of(random_tree(rng, 90), values)
    assert_alike(*both_loops(points, places, 5, seed))
    assert met[0] > 8


@pytest.mark.compiled
@pytest.mark.parametrize("threads", ["1", "2", "3"])
@pytest.mark.parametrize("size", [3000, 6000])
def test_lots_are_made_anew_as_often(size, threads, monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", threads)
    rng = np.random.default_rng(size)
    points, places = concepts_of(random_tree(rng, size), rng.integers(-1, size, 5000))
    assert_alike(*both_loops(points, places, 9, size))


@pytest.mark.compiled
def test_bounds_follow_the_concepts_that_are_left(monkeypatch):
    """One branch is full of concepts that are farther than all others, and is gone first."""
    spans = []
    kernel = concept_swapping._met

    def met(branches, reach, *rest):
        spans.append(reach.ends)
        return kernel(branches, reach, *rest)

    monkeypatch.setattr(concept_swapping, "_met", met)
    parents = {"0": [], "a": ["0"], "b": ["0"], "b1": ["b"], "b2": ["b1"]}
    parents |= {f"a{number}": ["a"] for number in range(2300)}
    parents |= {f"b{number}": ["b2"] for number in range(10, 110)}
    taxonomy = om.Taxonomy.from_parents(parents)
    values = taxonomy.indices_of([one for one in parents if len(one) > 2]).astype(np.int64)
    points, places = concepts_of(taxonomy, values)
    assert_alike(*both_loops(points, places, 3, 1))
    assert any(ends[concept_swapping.SPAN] > 0 for ends in spans)


def test_a_request_to_stop_is_heard():
    rng = np.random.default_rng(1)
    points, places = concepts_of(random_tree(rng, 30), rng.integers(0, 30, 50))
    found, _ = both_loops(points, places, 3, 1, (0, 1))
    assert found[1].size == 0


def test_what_is_no_tree_is_left_to_others():
    rng = np.random.default_rng(2)
    values = np.arange(1, 40)
    rest = 0, 3, False, np.tile(np.arange(39), (2, 1)), rng.random((39, 4)), np.zeros(2, np.int64)
    joined = concepts_of(random_tree(rng, 40, joined=9), values)
    assert swap_concepts(*joined, *rest) is None
    tree = concepts_of(random_tree(rng, 40), values)
    assert swap_concepts(*tree, *rest) is not None
    assert swap_concepts(*tree, 0, 3, True, *rest[3:]) is None  # intervals of all records
    none_far = concepts_of(random_tree(rng, 40), values, importance=0.0)
    assert_alike(*both_loops(*none_far, 3, 1))


def ranking(points, point, counts):
    """Distances of all records from a tuple, and their tuples, by (distance, tuple)."""
    reference = np.empty(1)
    point_reference(points, point, reference)
    told = [(contribution(points, reference, other), other) for other in range(counts.size)]
    return sorted(one for one in told for _ in range(counts[one[1]]))


@pytest.mark.parametrize("seed", range(3))
def test_branches_tell_who_stands_where(seed):
    rng = np.random.default_rng(seed)
    points, places = concepts_of(random_tree(rng, 40), rng.integers(-1, 40, 30))
    counts = np.bincount(places).astype(np.int32)
    branches = branches_of(points, counts)
    for point in rng.permutation(np.repeat(np.arange(counts.size), counts))[:-3].tolist():
        counts[point] -= 1
        add_record(branches, point, -1)
        expected = ranking(points, point, counts)
        for position, (apart, _) in enumerate(expected):
            rank, nearer = nearest_step(branches, point, position)
            assert nearer == sum(one < apart for one, _ in expected)
            first = step_start(branches, point, rank)
            found = step_tuple(branches, point, first, rank, position - nearer)
            assert found == expected[position][1]
        last = farthest_step(branches, branches.totals, point)
        assert step_start(branches, point, last) <= last
        kind = branches.kinds[point]
        assert branches.reached[kind, branches.order[kind, last]] == expected[-1][0]
        for apart, other in expected:
            assert distance_of(branches, point, other) == apart


def test_trees_of_very_many_levels_have_too_many_steps_to_be_gone_through(monkeypatch):
    rng = np.random.default_rng(1)
    points, places = concepts_of(random_tree(rng, 40), rng.integers(-1, 40, 30))
    counts = np.bincount(places).astype(np.int32)
    kinds, steps = branches_of(points, counts).order.shape
    assert kinds * points.heads[0, WIDTH] == steps
    for most in (steps, steps - 1):
        monkeypatch.setattr("ontomask.kernels.branches.MOST_STEPS", most)
        assert (branches_of(points, counts) is None) == (most < steps)


def test_a_column_of_many_concepts_is_swapped_without_looking_at_all_of_them(monkeypatch):
    monkeypatch.setattr("ontomask.semantics.operators.LARGEST_TABLE", 0)
    monkeypatch.delattr(record_swapping, "swap_records")
    rng = np.random.default_rng(5)
    taxonomy = random_tree(rng, 50)
    table = {"code": [str(one) for one in rng.integers(0, 50, 120)]}
    schema = om.Schema(code=om.Nominal(taxonomy))
    release = om.protect(table, schema, om.RankSwapping(k=5), seed=1)
    assert sorted(release.frame["code"]) == sorted(table["code"])
    assert release.details[0]["farthest_rank"]["code"] <= 5
