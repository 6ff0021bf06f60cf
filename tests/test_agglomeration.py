"""Linkage against SciPy: the same unions at the same heights, also where distances are equal."""

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from ontomask.agglomeration import cut, linkage


def distances(seed: int, count: int, kinds: int | None) -> np.ndarray:
    """Euclidean distances of random points; few kinds of coordinates make many of them equal."""
    generator = np.random.default_rng(seed)
    points = (
        generator.random((count, 3))
        if kinds is None
        else generator.integers(kinds, size=(count, 2))
    )
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


CASES = [
    (0, 2, None),
    (1, 3, None),
    (2, 60, None),
    (3, 200, None),
    (4, 60, 3),
    (5, 90, 6),
    (6, 20, 1),
]


@pytest.mark.parametrize("method", ["single", "complete", "ward"])
@pytest.mark.parametrize(("seed", "count", "kinds"), CASES)
def test_unions_are_those_of_scipy(seed, count, kinds, method):
    apart = distances(seed, count, kinds)
    expected = hierarchy.linkage(squareform(apart, checks=False), method)
    found = linkage(apart, method)
    np.testing.assert_array_equal(found.links, expected[:, :2])
    np.testing.assert_array_equal(found.heights, expected[:, 2])


@pytest.mark.parametrize("most", [1, 2, 3, 7, 19, 59, 60, 500])
@pytest.mark.parametrize(("seed", "count", "kinds"), CASES)
def test_groups_are_those_of_scipy(seed, count, kinds, most):
    tree = linkage(distances(seed, count, kinds), "ward")
    whole = np.column_stack([tree.links, tree.heights, np.ones(count - 1)])
    expected = hierarchy.fcluster(whole, most, criterion="maxclust")
    found = cut(tree, most)
    pairs = {*zip(found.tolist(), expected.tolist(), strict=True)}
    assert len(pairs) == len({*found.tolist()}) == len({*expected.tolist()})


@pytest.mark.parametrize("method", ["single", "complete", "ward"])
def test_what_is_alone_is_united_with_none(method):
    for count in (0, 1):
        tree = linkage(np.zeros((count, count)), method)
        assert tree.links.shape == (0, 2)
        assert tree.heights.size == 0
    assert cut(tree, 3).tolist() == [0]
