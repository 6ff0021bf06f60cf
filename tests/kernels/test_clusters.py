from __future__ import annotations

import numba
import numpy as np
import pytest

from ontomask.kernels.centroids import centroids
from ontomask.kernels.clusters import mdav, sa_mdav, v_mdav
from ontomask.kernels.losses import loss, loss_to
from ontomask.kernels.recoding import recode
from ontomask.kernels.records import (
    LCS,
    MINIMUM_HIERARCHY,
    PRESENT,
    RANDOM,
    flat_owners,
    pack_points,
)
from ontomask.kernels.refinement import refine
from reference import clusters as oracle
from reference.points import flat, only_numbers, random_points, shuffled

KINDS = {
    "numbers": {"rules": (), "numeric": 2},
    "all rules": {"rules": (MINIMUM_HIERARCHY, PRESENT, LCS), "numeric": 0, "power": 1},
    "mixed with holes": {"rules": (MINIMUM_HIERARCHY, LCS), "numeric": 1, "holes": True},
    "weighted": {"rules": (MINIMUM_HIERARCHY,), "numeric": 1, "weighted": True},
    "sized": {"rules": (MINIMUM_HIERARCHY,), "numeric": 1, "sized": True},
    "sized and weighted with holes": {
        "rules": (PRESENT, MINIMUM_HIERARCHY),
        "numeric": 1,
        "holes": True,
        "sized": True,
        "weighted": True,
        "power": 1,
    },
}
MANY = 40 if numba.config.DISABLE_JIT else 120
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


def signal():
    return np.zeros(2, np.int64)


def each_case(kind, sizes=(1, 2, 7, 40)):
    for seed, size in enumerate(sizes):
        yield random_points(np.random.default_rng(seed), size, **kind)


@each_kind
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("leaf_size", [2, 1000])
def test_mdav_is_the_specification(kind, k, leaf_size):
    for points in each_case(kind):
        assert mdav(points, k, signal(), leaf_size).tolist() == oracle.mdav(points, k)


def test_records_that_are_equal_are_clustered_as_specified():
    """More are tied than are compared; the ranking leaves them to the index."""
    rng = np.random.default_rng(2)
    points = only_numbers(np.where(rng.random(700) < 0.02, 1.0, rng.integers(0, 2, 700))[:, None])
    assert mdav(points, 40, signal()).tolist() == oracle.mdav(points, 40)
    same = only_numbers(np.ones((700, 1)))
    assert mdav(same, 40, signal()).tolist() == oracle.mdav(same, 40)
    assert v_mdav(same, 40, 0.2, signal()).tolist() == oracle.v_mdav(same, 40, 0.2)


@each_kind
@pytest.mark.parametrize("k", [2, 5, 12])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("leaf_size", [2, 1000])
def test_sa_mdav_is_the_specification(kind, k, dynamic, leaf_size):
    for points in each_case(kind, (12, 13, 40)):
        expected = oracle.sa_mdav(points, k, dynamic)
        assert sa_mdav(points, k, dynamic, signal(), leaf_size).tolist() == expected


@each_kind
@pytest.mark.parametrize("gamma", [0.2, 1.1, 3.0])
def test_v_mdav_is_the_published_algorithm(kind, gamma):
    for points in each_case(kind, (3, 8, 40)):
        assert v_mdav(points, 3, gamma, signal(), 2).tolist() == oracle.v_mdav(points, 3, gamma)


def test_gamma_matters():
    points = random_points(np.random.default_rng(0), 60, rules=(), numeric=2)
    sizes = [np.bincount(v_mdav(points, 3, gamma, signal())).max() for gamma in (0.0, 3.0)]
    assert sizes == [3, 5]


@pytest.mark.compiled
def test_index_and_full_scan_agree_on_many_points_with_rebuilding():
    for kind in KINDS.values():
        points = random_points(np.random.default_rng(9), 1500, **kind)
        for k in (3, 10):
            assert mdav(points, k, signal(), 8).tolist() == mdav(points, k, signal(), 2000).tolist()
            for dynamic in (False, True):
                few = sa_mdav(points, k, dynamic, signal(), 8)
                assert few.tolist() == sa_mdav(points, k, dynamic, signal(), 2000).tolist()


def test_k_of_n_and_equal_points_make_one_group():
    points = only_numbers(np.zeros((9, 2)))
    assert set(mdav(points, 9, signal()).tolist()) == {0}
    assert set(sa_mdav(points, 9, True, signal()).tolist()) == {0}
    assert np.bincount(mdav(points, 3, signal())).tolist() == [3, 3, 3]


def test_order_of_the_input_does_not_change_the_loss_without_ties():
    rng = np.random.default_rng(2)
    points = only_numbers(rng.normal(size=(80, 3)))
    order = rng.permutation(80)
    labels, other = mdav(points, 4, signal()), mdav(shuffled(points, order), 4, signal())
    groups = {frozenset(np.flatnonzero(labels == c).tolist()) for c in set(labels.tolist())}
    moved = {frozenset(order[other == c].tolist()) for c in set(other.tolist())}
    assert groups == moved


def test_a_stop_request_is_heard():
    stop = np.array([0, 1])
    assert set(mdav(random_points(np.random.default_rng(0), 40), 3, stop).tolist()) == {-1}


@each_kind
def test_centroids_and_loss_are_the_specification(kind):
    for points in each_case(kind, (1, 5, 40)):
        case = oracle.case_of(points)
        size = points.weights.size
        labels = (np.arange(size) % min(4, size)).astype(np.int32)
        count = int(labels.max()) + 1
        rows, numbers = centroids(points, labels, count, np.zeros(count))
        for cluster in range(count):
            expected = oracle.centroid(case, np.flatnonzero(labels == cluster).tolist())
            assert rows[cluster].tolist() == expected[0]
            np.testing.assert_allclose(numbers[cluster], expected[1])
        expected_loss = oracle.loss(points, labels.tolist())
        assert loss(points, labels, count) == pytest.approx(expected_loss)
        assert loss_to(points, labels, rows, numbers) == pytest.approx(expected_loss)


@each_kind
def test_centroids_are_the_same_for_any_number_of_threads(kind, monkeypatch):
    monkeypatch.setattr("ontomask.kernels.centroids.SMALLEST_SHARE", 1)
    points = random_points(np.random.default_rng(2), 60, **kind)
    labels, found = (np.arange(60) % 17).astype(np.int32), []
    for threads in ("1", "2", "4"):
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        found.append(centroids(points, labels, 17, np.linspace(0.0, 0.9, 17)))
    for rows, numbers in found[1:]:
        np.testing.assert_array_equal(rows, found[0][0])
        np.testing.assert_array_equal(numbers, found[0][1])


def test_random_rule_draws_a_member_by_weight():
    attribute = flat(3, RANDOM)
    codes = np.array([[0, 1, 2]], np.int32)
    weights = np.array([1.0, 2.0, 1.0])
    points = pack_points(
        [attribute], codes, np.empty((0, 3)), np.ones(3), weights, weights, np.empty(0), 1
    )
    draws = [0.0, 0.24, 0.25, 0.74, 0.76]
    drawn = [
        int(centroids(points, np.zeros(3, np.int32), 1, np.array([u]))[0][0, 0]) for u in draws
    ]
    assert drawn == [0, 0, 1, 1, 2]
    case = oracle.case_of(points)
    assert drawn == [oracle.random_centroid(case, [0, 1, 2], u)[0][0] for u in draws]


@each_kind
@pytest.mark.parametrize("k", [2, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_recoding_is_the_specification(kind, k, weighted):
    for points in each_case(kind, (1, 2, 30)):
        uniforms = np.random.default_rng(4).random(points.weights.size)
        for guide, name in enumerate(("semantic", "discernibility", "random")):
            for order in (0, 1):
                found = recode(points, float(k), guide, order, weighted, uniforms, signal())
                expected = oracle.recode(points, k, name, order == 0, weighted, uniforms)
                assert found.tolist() == expected, (name, order)


@pytest.mark.compiled
def test_recoding_many_tuples_with_rebuilding():
    points = random_points(np.random.default_rng(1), 400, numeric=2, weighted=True, sized=True)
    found = recode(points, 20.0, 0, 0, True, np.empty(0), signal())
    assert found.tolist() == oracle.recode(points, 20, "semantic", True, True, [])
    assert np.bincount(found, weights=points.sizes)[np.unique(found)].min() >= 20


@each_kind
@pytest.mark.parametrize("k", [2, 4])
def test_refinement_lowers_the_loss_and_keeps_the_sizes(kind, k):
    gained = 0
    for points in each_case(kind, (4, 20, MANY)):
        labels = sa_mdav(points, k, True, signal())
        better = refine(points, labels, float(k), 12, 20, signal())
        assert np.bincount(better, weights=points.sizes).min() >= k
        before = oracle.loss(points, labels.tolist())
        after = oracle.loss(points, better.tolist())
        assert after <= before + 1e-9
        gained += after < before - 1e-9
        again = refine(points, labels, float(k), 12, 20, signal())
        assert again.tolist() == better.tolist()
    assert gained > 0


def test_refinement_moves_swaps_splits_and_dissolves():
    line = only_numbers([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    groups = {
        "swap": [0, 0, 1, 0, 1, 1],
        "split": [0, 0, 0, 0, 0, 0],
    }
    for labels in groups.values():
        better = refine(line, np.array(labels, np.int32), 3.0, 5, 10, signal())
        assert len(set(better[:3])) == len(set(better[3:])) == 1
        assert better[0] != better[3]
    # the outer points belong to two good clusters; the poor third one must go
    spread = only_numbers([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2], [0.3], [9.3]])
    better = refine(spread, np.array([0, 0, 0, 1, 1, 1, 2, 2], np.int32), 2.0, 7, 10, signal())
    assert loss(spread, better, int(better.max()) + 1) < 0.11
    assert better[6] != better[7]


def test_persons_are_counted_one_point_after_the_other_though_there_are_as_many_as_points():
    """The third person comes with the second point, so a third point is not asked for."""
    points = only_numbers(np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.5]]))
    firsts, persons = np.array([0, 1, 2, 3, 4, 6, 7]), np.array([0, 0, 1, 2, 3, 4, 5])
    points = points._replace(owners=flat_owners(firsts, persons))
    assert mdav(points, 3, signal()).tolist() == [1, 1, 1, 1, 0, 0]
