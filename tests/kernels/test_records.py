from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from ontomask.kernels import index as kernel
from ontomask.kernels.index import (
    FARTHEST,
    NEAREST,
    farthest_points,
    new_finds,
    remove,
    restore,
    set_factor,
)
from ontomask.kernels.records import compared, distances, farthest, nearest
from reference import clusters as oracle
from reference.points import only_numbers, random_points, shuffled

KINDS = [
    {"rules": (), "numeric": 2},
    {"rules": (0, 1), "numeric": 0, "power": 1},
    {"rules": (0, 2), "numeric": 2, "holes": True, "weighted": True},
]


def reference_arrays(points, point):
    rows, numbers = oracle.reference_of(oracle.case_of(points), point)
    return np.array(rows, np.int32), np.array(numbers, float)


@njit
def search(points, index, finds, reference, direction, wanted):
    return kernel.search(points, index, finds, reference, direction, wanted)


def build_index(*arguments):
    index = kernel.build_index(*arguments)
    kernel.bound_all(index)
    return index


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 200])
def test_a_value_is_stood_for_by_the_first_of_the_nearest_rows(rows):
    table = np.random.default_rng(rows).integers(0, 9, (rows, 30)) / 8.0
    assert compared(table).own_rows.tolist() == table.argmin(axis=0).tolist()


def test_by_hand():
    points = only_numbers([[0.0, 0.0], [3.0, 4.0], [1.0, np.nan]])
    rows, numbers = np.empty(0, np.int32), np.array([0.0, 0.0])
    assert distances(points, rows, numbers).tolist() == [0.0, 25.0, 2.0]
    assert distances(points._replace(power=1), rows, numbers).tolist() == [0.0, 7.0, 2.0]
    assert distances(points, rows, np.array([0.0, np.nan])).tolist() == [1.0, 10.0, 1.0]
    assert nearest(points, rows, numbers) == 0
    assert farthest(points, rows, numbers) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_scan_agrees_with_the_definition(kind):
    points = random_points(np.random.default_rng(5), 60, **kind)
    case = oracle.case_of(points)
    for point in range(0, 60, 7):
        reference = oracle.reference_of(case, point)
        expected = [oracle.distance(case, reference, i) for i in range(60)]
        rows, numbers = reference_arrays(points, point)
        assert distances(points, rows, numbers).tolist() == pytest.approx(expected, abs=1e-12)
        assert farthest(points, rows, numbers) == oracle.farthest(case, reference, list(range(60)))
        assert nearest(points, rows, numbers) == min(range(60), key=lambda i: (expected[i], i))


def found(points, index, reference, direction, wanted):
    finds = new_finds(index, wanted)
    count = search(points, index, finds, np.concatenate(reference), direction, wanted)
    answers = finds.answers[:count]
    return [int(answer[2]) for answer in sorted(answers.tolist())]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shuffle", [False, True])
def test_index_finds_what_a_scan_finds_while_points_disappear(kind, shuffle):
    rng = np.random.default_rng(11)
    points = random_points(rng, 300, **kind)
    if shuffle:
        points = shuffled(points, rng.permutation(300))
    ranks = np.zeros(300)
    index = build_index(points, np.arange(300), points.factors, ranks, 4)
    alive = list(range(300))
    for point in rng.permutation(300)[:280].tolist():
        remove(index, point)
        alive.remove(point)
        if point % 5:
            continue
        reference = reference_arrays(points, point)
        scan = distances(points, *reference)
        near = sorted(alive, key=lambda i: (scan[i], i))
        far = sorted(alive, key=lambda i: (-scan[i], i))
        assert found(points, index, reference, NEAREST, 7) == near[:7]
        assert found(points, index, reference, FARTHEST, 3) == far[:3]


@pytest.mark.parametrize("kind", KINDS)
def test_points_that_are_put_back_are_found_again(kind):
    rng = np.random.default_rng(12)
    points = random_points(rng, 200, **kind)
    index = build_index(points, np.arange(200), points.factors, np.zeros(200), 4)
    bounds = index.boxes.copy(), index.nodes.copy()
    gone = rng.permutation(200)[:150].tolist()
    for point in gone:
        remove(index, point)
    rng.shuffle(gone)  # in any order
    for left in (60, 0):
        while len(gone) > left:
            restore(index, gone.pop())
        reference = reference_arrays(points, 17)
        scan = distances(points, *reference)
        alive = [point for point in range(200) if point not in gone]
        near = sorted(alive, key=lambda i: (scan[i], i))
        assert found(points, index, reference, NEAREST, 7) == near[:7]
    assert np.array_equal(index.boxes, bounds[0])
    assert np.array_equal(index.nodes, bounds[1])


@pytest.mark.parametrize("stress", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("kind", KINDS)
def test_all_farthest_points_are_found_however_the_index_is_divided(kind, stress):
    rng = np.random.default_rng(13)
    points = random_points(rng, 120, **kind)
    # everybody is there twice, and so are the farthest
    points = shuffled(points, np.tile(np.arange(120), 2))
    index = build_index(points, np.arange(240), points.factors, np.zeros(240), 4, stress)
    alive, listed = np.ones(240, bool), np.empty(240, np.int64)
    several = 0
    for point in rng.permutation(240)[:200].tolist():
        remove(index, point)
        alive[point] = False
        reference = reference_arrays(points, point)
        scan = np.where(alive, distances(points, *reference), -1.0)
        expected = np.flatnonzero(scan == scan.max()).tolist()
        size = farthest_points(
            points, index, new_finds(index, 0), np.concatenate(reference), listed
        )
        assert sorted(listed[:size].tolist()) == expected
        several += size > 1
    assert several > 20


def test_index_follows_factors_and_ranks():
    points = random_points(np.random.default_rng(3), 120, numeric=1, weighted=True)
    factors, ranks = points.factors.copy(), points.weights.copy()
    index = build_index(points, np.arange(120), factors, ranks, 4)
    reference = reference_arrays(points, 17)
    plain = distances(points._replace(factors=np.ones(120)), *reference)
    for point in range(0, 120, 3):
        factors[point], ranks[point] = 50.0 - point / 4, float(point % 4)
        set_factor(index, point, factors[point], ranks[point])
        order = sorted(range(120), key=lambda i: (plain[i] * factors[i], ranks[i], i))
        assert found(points, index, reference, NEAREST, 5) == order[:5]


def test_fewer_points_than_wanted():
    points = only_numbers([[0.0], [1.0]])
    index = build_index(points, np.arange(2), points.factors, np.zeros(2), 16)
    reference = np.empty(0, np.int32), np.array([0.9])
    assert found(points, index, reference, NEAREST, 5) == [1, 0]
