"""Nearest points of points and of references, beside plain loops over all of them."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from ontomask.kernels import index
from ontomask.kernels.index import LEAF
from ontomask.kernels.neighbors import FEW_LEAVES, Links, nearest_points, paired_distances
from ontomask.kernels.records import compared, pack_points
from reference import clusters as oracle
from reference.points import only_numbers, random_points, shuffled

KINDS = [
    {"rules": (), "numeric": 2},
    {"rules": (0, 1), "numeric": 0, "power": 1},
    {"rules": (0, 2), "numeric": 2, "holes": True, "sized": True},
]


def closest_links(points, references, tolerance):
    """The least distances, and the records at them."""
    links = Links.of(points, references, tolerance)
    with links.begun() as finish:
        finish()
    return links.found


def scans(points, references):
    """Distance of every reference to every point, by the definition."""
    case, coded = oracle.case_of(points), points.codes.shape[0]
    split = [([int(row) for row in line[:coded]], line[coded:].tolist()) for line in references]
    return np.array(
        [[oracle.distance(case, one, i) for i in range(points.sizes.size)] for one in split]
    )


def references_of(points):
    case = oracle.case_of(points)
    lines = [oracle.reference_of(case, point) for point in range(points.sizes.size)]
    return np.array([[*rows, *numbers] for rows, numbers in lines], float)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shuffle", [False, True])
def test_links_are_those_of_a_scan(kind, shuffle):
    rng = np.random.default_rng(7)
    points = random_points(rng, 90, **kind)
    references = references_of(random_points(rng, 40, **kind))
    if shuffle:
        points, references = shuffled(points, rng.permutation(90)), references[::-1].copy()
    expected = scans(points, references)
    for tolerance in (1e-9, 0.3):
        least, records = closest_links(points, references, tolerance)
        assert least.tolist() == pytest.approx(expected.min(axis=1), abs=1e-12)
        inside = expected <= expected.min(axis=1)[:, None] + tolerance
        assert records.tolist() == (inside @ points.sizes).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_those_of_a_scan(kind):
    rng = np.random.default_rng(8)
    points = random_points(rng, 30, **kind)
    references = references_of(points)
    firsts, seconds = rng.integers(0, 30, 50), rng.integers(0, 30, 50)
    expected = scans(points, references)[firsts, seconds]
    found = paired_distances(points, references, firsts, seconds)
    assert found.tolist() == pytest.approx(expected, abs=1e-12)


def test_rows_and_values_may_be_of_different_domains():
    """References over three values, points over two that stand for several of them."""
    table = np.array([[0.0, 0.5], [0.25, 0.5], [1.0, 0.0]])
    ones = np.ones(2)
    points = pack_points(
        *([compared(table)], np.array([[1, 0]], np.int32), np.empty((0, 2))),
        *(np.array([3.0, 4.0]), ones, ones, np.empty(0), 1),
    )
    least, records = closest_links(points, np.array([[0.0], [1.0], [2.0]]), 0.3)
    assert least.tolist() == [0.0, 0.25, 0.0]
    assert records.tolist() == [4.0, 7.0, 3.0]


@pytest.mark.parametrize("kind", KINDS)
def test_neighbors_are_the_nearest_others(kind):
    points = random_points(np.random.default_rng(9), 50, **kind)
    expected = scans(points, references_of(points))
    graph = nearest_points(points, 4)
    for point, near in enumerate(graph.tolist()):
        others = [other for other in range(50) if other != point]
        best = sorted(expected[point][others])[:4]
        assert expected[point][near].tolist() == pytest.approx(best, abs=1e-12)
        assert point not in near


def test_fewer_points_than_neighbors_wanted():
    points = random_points(np.random.default_rng(1), 3)
    assert (nearest_points(points, 4) == -1).sum(axis=1).tolist() == [2, 2, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_links_to_very_many_are_those_of_a_scan(kind):
    """Nodes that lie within the tolerance as a whole are not looked into."""
    rng = np.random.default_rng(11)
    size = (FEW_LEAVES + 8) * LEAF
    points = random_points(rng, size, **kind)
    references = references_of(random_points(rng, 12, **kind))
    expected = scans(points, references)
    for tolerance in (0.3, float(np.median(expected)), 1e9):
        inside = expected <= expected.min(axis=1)[:, None] + tolerance
        records = closest_links(points, references, tolerance)[1]
        assert records.tolist() == (inside @ points.sizes).tolist()


@pytest.mark.skipif(not numba.config.DISABLE_JIT, reason="nobody counts in compiled kernels")
def test_links_to_everybody_do_not_look_at_everybody(monkeypatch):
    measured, measure = [], index._measure

    def counted(*given):
        measured.append(given[-1] - given[-2])
        measure(*given)

    monkeypatch.setattr(index, "_measure", counted)
    points = only_numbers(np.linspace(0.0, 1.0, 3000)[:, None])
    records = closest_links(points, np.array([[0.2], [0.7]]), 2.0)[1]
    assert records.tolist() == [3000.0, 3000.0]
    assert sum(measured) < 3000
