"""Blocks that points are cut into: nobody lost, none too large, cut where nobody is parted."""

from __future__ import annotations

import numpy as np
import pytest

from ontomask.kernels.neighbors import nearest_points
from ontomask.kernels.records import flat_owners
from ontomask.kernels.seams import cut_points
from reference.points import only_numbers, random_points

KINDS = [
    {"rules": (), "numeric": 2},
    {"rules": (0, 1), "numeric": 0, "power": 1},
    {"rules": (0, 2), "numeric": 2, "holes": True, "sized": True, "weighted": True},
    {"rules": (3,), "numeric": 0},
]


def cut(points, most, least=0.0):
    return cut_points(points, [np.arange(points.weights.size)], most, least)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "most"), [(1, 5), (60, 60), (60, 20), (61, 3)])
def test_every_point_lies_in_one_block_that_is_not_too_large(kind, size, most):
    blocks = cut(random_points(np.random.default_rng(3), size, **kind), most)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(size))
    assert max(block.size for block in blocks) <= most
    assert all((np.diff(block) > 0).all() for block in blocks)
    assert len(blocks) == 1 or size > most


def test_points_that_are_all_equal_are_cut_as_well():
    blocks = cut(only_numbers(np.ones((40, 2))), 10)
    assert [block.size for block in blocks] == [10] * 4


def test_parts_are_cut_inside():
    points = random_points(np.random.default_rng(4), 50)
    even, odd = np.arange(0, 50, 2), np.arange(1, 50, 2)
    blocks = cut_points(points, [even, odd], 10, 0.0)
    assert len(blocks) > 2
    parities = [set((block % 2).tolist()) for block in blocks]
    # one part after the other
    assert parities == sorted(parities, key=max)
    assert all(len(one) == 1 for one in parities)


@pytest.mark.parametrize("seed", range(4))
def test_cuts_go_between_groups_and_not_through_them(seed):
    """Eight far groups; the longest column says nothing of them, so cuts along it part many."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(8), 25))
    corners = np.array([[one & 1, one >> 1 & 1, one >> 2 & 1] for one in range(8)]) * 3.0
    table = np.column_stack(
        [corners[group] + rng.normal(size=(200, 3)) * 0.05, rng.random(200) * 3.5]
    )
    blocks = cut(only_numbers(table), 110)
    assert len(blocks) > 1
    whose = [set(group[block].tolist()) for block in blocks]
    assert sum(len(one) for one in whose) == 8


def test_no_side_has_less_than_asked_for():
    points = random_points(np.random.default_rng(5), 60)
    blocks = cut(points, 4, 13.0)
    assert min(block.size for block in blocks) >= 13
    sizes = np.ones(60)
    sizes[:3] = 100.0
    heavy = cut(points._replace(sizes=sizes), 4, 300.0)
    assert len(heavy) == 1  # one side would not have three hundred records


def test_persons_are_counted_where_there_are_any():
    points = random_points(np.random.default_rng(6), 60)
    few = points._replace(owners=flat_owners(np.arange(61), np.arange(60) % 3))
    assert len(cut(few, 10, 4.0)) == 1
    blocks = cut(few, 10, 3.0)
    assert len(blocks) > 1
    assert all(len(set((block % 3).tolist())) == 3 for block in blocks)


def test_former_seams_come_to_lie_inside():
    line = only_numbers(np.linspace(0.0, 1.0, 200)[:, None])
    former = np.zeros(200, np.int64)
    for number, block in enumerate(cut(line, 110)):
        former[block] = number
    seams = np.flatnonzero(np.diff(former))
    for block in cut_points(line, [np.arange(200)], 110, 0.0, former):
        assert not {block[0] - 1, block[-1]} & set(seams.tolist())


@pytest.mark.compiled
def test_the_number_of_threads_changes_nothing(monkeypatch):
    points = random_points(np.random.default_rng(7), 300, rules=(0, 1), numeric=2, holes=True)
    monkeypatch.setattr("ontomask.kernels.seams.SMALLEST_SHARE", 10)
    monkeypatch.setattr("ontomask.kernels.neighbors.SMALLEST_SHARE", 2)
    found = []
    for threads in ("1", "2", "4"):
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        found.append([block.tolist() for block in cut(points, 40)])
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 4


def test_chosen_points_find_what_they_find_among_all():
    points = random_points(np.random.default_rng(8), 80, rules=(0,), numeric=1)
    chosen = np.array([3, 17, 40, 79])
    some = nearest_points(points, 5, chosen)
    assert (some[chosen] == nearest_points(points, 5)[chosen]).all()
    assert (np.delete(some, chosen, axis=0) == -1).all()
