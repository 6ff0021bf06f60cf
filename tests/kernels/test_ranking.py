from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from ontomask.kernels import ranking as kernel
from ontomask.kernels.neighbors import nearest_points
from ontomask.kernels.ranking import MOST_TIED, PATIENCE, new_ranking
from ontomask.kernels.records import distances
from reference.points import only_numbers, random_points

KINDS = [
    {"rules": (), "numeric": 3},
    {"rules": (), "numeric": 2, "power": 1, "holes": True},
    {"rules": (0, 1), "numeric": 2, "holes": True, "weighted": True},
    {"rules": (0,), "numeric": 1, "weighted": True, "power": 1},
    {"rules": (0, 1), "numeric": 0},
]


@njit
def farthest(points, ranking, labels, center, other=-1):
    return kernel.farthest_from_center(points, ranking, labels, center, other)


def moved(rng, points, rows, numbers, step):
    """A center that mostly drifts, and now and then jumps, changes a row or loses a number."""
    numbers = numbers + rng.normal(size=numbers.size) * 0.05
    if step % 29 == 28 and numbers.size:
        numbers[0] = rng.choice([np.nan, 2.0])
    if step % 37 == 36 or (80 < step < 100):
        rows = rng.integers(0, points.heads[:, 1]).astype(np.int32)
    return rows, numbers


@pytest.mark.parametrize("kind", KINDS)
def test_ranking_finds_what_a_scan_finds_while_the_center_moves(kind):
    rng = np.random.default_rng(8)
    points = random_points(rng, 400, **kind)
    labels = np.full(400, -1, np.int32)
    ranking = new_ranking(points, np.arange(400))
    rows = np.zeros(points.codes.shape[0], np.int32)
    numbers = np.zeros(points.numbers.shape[0])
    unsure = 0
    for step in range(300):
        found = farthest(points, ranking, labels, np.concatenate([rows, numbers]))
        scan = np.where(labels < 0, distances(points, rows, numbers), -1.0)
        unsure += found < 0
        assert found in (-1, int(np.argmax(scan)))
        if found >= 0 and step % 3 == 0:  # and the one after it, which stays where it is
            after = farthest(points, ranking, labels, np.concatenate([rows, numbers]), found)
            scan[found] = -1.0
            assert after in (-1, int(np.argmax(scan)))
            scan[found] = np.inf
        labels[np.argmax(scan)] = 0
        rows, numbers = moved(rng, points, rows, numbers, step)
    assert unsure < 150
    if kind["rules"] and kind["numeric"]:
        assert unsure >= PATIENCE


def test_a_ranking_that_was_emptied_finds_nothing():
    points = random_points(np.random.default_rng(0), 5, rules=(), numeric=1)
    ranking = new_ranking(points, np.arange(5))
    assert farthest(points, ranking, np.zeros(5, np.int32), np.zeros(1)) == -1


def test_points_that_are_equally_far_are_not_compared_in_every_call():
    """The index is asked instead; when those are gone, the ranking tells again."""
    size = 4 * MOST_TIED
    numbers = np.where(np.arange(size) < 3 * MOST_TIED, 2.0, np.linspace(-1.0, 1.0, size))
    points, labels = only_numbers(numbers[:, None]), np.full(size, -1, np.int32)
    ranking, known = new_ranking(points, np.arange(size)), []
    for _ in range(size - 5):
        found = farthest(points, ranking, labels, np.zeros(1))
        expected = int(np.argmax(np.where(labels < 0, np.abs(numbers), -1.0)))
        assert found in (-1, expected)
        known.append(found == expected)
        labels[expected] = 0
    assert known[0]
    assert sum(known[: 2 * MOST_TIED]) < 9
    assert all(known[-MOST_TIED // 2 :])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [3, 250])
def test_nearest_points_are_those_of_a_scan(kind, size):
    points = random_points(np.random.default_rng(4), size, **kind)
    graph = nearest_points(points, 6)
    flat = points._replace(factors=np.ones(size))
    for point in range(0, size, 9):
        rows = [
            points.lineages[head[4] + codes[point]]
            for head, codes in zip(points.heads, points.codes, strict=True)
        ]
        scan = distances(flat, np.array(rows, np.int32), points.numbers[:, point].copy())
        others = [other for other in graph[point].tolist() if other >= 0]
        assert point not in others
        assert len(set(others)) == min(6, size - 1)
        expected = np.sort(np.delete(scan, point))[:6]
        assert scan[others].tolist() == expected.tolist()
