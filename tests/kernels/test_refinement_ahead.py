"""What a refinement looks up ahead, on several threads, changes nothing about its answer."""

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

from ontomask import warming
from ontomask.kernels import refinement
from ontomask.kernels.partitions import CHANGES, TOUCHED
from ontomask.kernels.records import flat_owners
from ontomask.kernels.refinement import Refinement
from reference.points import only_numbers, random_points

KINDS = {
    "numbers": {"rules": (), "numeric": 3, "power": 2},
    "codes": {"rules": (0, 1), "numeric": 0, "power": 1},
    "mixed": {"rules": (0,), "numeric": 2, "power": 2, "sized": True, "weighted": True},
}


def signal():
    return np.zeros(2, np.int64)


def of_random_clusters(points, k=3.0):
    """Clusters in which nearly everything can be made better."""
    size = points.weights.size
    labels = np.random.default_rng(5).permutation(np.arange(size) // 4).astype(np.int32)
    return Refinement.of(points, labels, k, 12)


def state_of(refined):
    """Down to the order of the points in every cluster."""
    partition = refined.partition
    return [
        partition.links.tolist(),
        partition.clusters[:, :3].tolist(),
        partition.figures.tolist(),
    ]


@pytest.fixture
def looked_ahead(monkeypatch):
    """How often it was looked ahead; for little, too."""
    looks, look = [], refinement.Look

    def count(*given):
        looks.append(given)
        return look(*given)

    monkeypatch.setattr(refinement, "Look", count)
    monkeypatch.setattr(refinement, "FEWEST_POINTS", 2)
    monkeypatch.setattr(refinement, "FEWEST_CLUSTERS", 2)
    monkeypatch.setattr(refinement, "LARGE", 8)
    return looks


@pytest.mark.compiled
@pytest.mark.parametrize("stretches", [1, 5])
@pytest.mark.parametrize("kind", [*KINDS, "persons"])
def test_refined_clusters_are_the_same_for_any_number_of_threads(
    kind, stretches, monkeypatch, looked_ahead
):
    monkeypatch.setattr(refinement, "STRETCHES", stretches)
    for seed in range(2):
        given = KINDS.get(kind, KINDS["numbers"])
        points = random_points(np.random.default_rng(seed), 60, **given)
        if kind == "persons":
            points = points._replace(owners=flat_owners(np.arange(61), np.arange(60) % 23))
        found = []
        for threads in ("1", "2", "3"):
            monkeypatch.setenv("ONTOMASK_THREADS", threads)
            refined = of_random_clusters(points)
            refined.improve(20, signal())
            found.append(state_of(refined))
            assert bool(looked_ahead) == (threads != "1")
        looked_ahead.clear()
        assert found[1] == found[0]
        assert found[2] == found[0]


def test_what_was_touched_is_looked_at_again(monkeypatch, looked_ahead):
    """Were it not, the clusters would be others: all is foreseen at once here."""
    monkeypatch.setattr(refinement, "STRETCHES", 1)
    points = only_numbers(np.random.default_rng(1).normal(size=(60, 2)))
    states = []
    for threads, blind in (("1", False), ("2", False), ("2", True)):
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        refined = of_random_clusters(points)
        for first, last in ((0, 0), (0, 60), (60, refined.since.size)):
            bench = refined.bench
            if threads == "2" and last:
                with ThreadPoolExecutor(1) as pool:
                    foreseen = refinement.Look(refined, first, last, pool).found()
                if blind:
                    foreseen.stamps[:] = 10**6
                bench = bench._replace(foreseen=foreseen)
            refinement._improve(
                *(refined.points, refined.partition, bench, refined.graph, refined.since),
                *(refined.k, first, last, 0.0, signal()),
            )
        states.append(state_of(refined))
        assert refined.partition.clusters[:, TOUCHED].max() > 1
    assert states[1] == states[0]
    assert states[2] != states[0]


def test_what_is_looked_up_while_clusters_change_is_not_believed_of_those(monkeypatch):
    """It takes no change into account that was made after it began, or before it was waited for."""
    monkeypatch.setenv("ONTOMASK_THREADS", "1")  # nobody else takes a piece
    refined = of_random_clusters(random_points(np.random.default_rng(3), 60, **KINDS["mixed"]))
    refined._improve(0, 0, 0.0, None, signal())
    before, foresee = int(refined.partition.clock[CHANGES]), refinement._foresee

    def meddled(*given):
        refined._improve(0, 20, 0.0, None, signal())
        foresee(*given)

    with ThreadPoolExecutor(1) as pool:
        look = refinement.Look(refined, 20, 60, pool)
    with monkeypatch.context() as meddling:
        meddling.setattr(refinement, "_foresee", meddled)
        look._look(20, 60)
    after = int(refined.partition.clock[CHANGES])
    assert after > before
    assert {*look._foreseen.stamps.tolist()} == {before}
    assert {*look.found().stamps.tolist()} == {after}


def test_small_tables_are_not_worth_it(monkeypatch, looked_ahead):
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    monkeypatch.setattr(refinement, "LARGE", 64)
    of_random_clusters(random_points(np.random.default_rng(0), 60)).improve(20, signal())
    assert not looked_ahead
    of_random_clusters(random_points(np.random.default_rng(0), 64)).improve(20, signal())
    assert looked_ahead


def test_a_stop_request_ends_it_at_once(monkeypatch, looked_ahead):
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    refined = of_random_clusters(random_points(np.random.default_rng(0), 60, **KINDS["mixed"]))
    refined.improve(20, np.array([0, 1]))
    assert not looked_ahead


@pytest.mark.compiled
def test_what_is_compiled_ahead_is_what_large_tables_ask_for(monkeypatch, looked_ahead):
    types, foresee = [], refinement._foresee

    def noted(*given):
        types.append(tuple(numba.typeof(one) for one in given))
        return foresee(*given)

    monkeypatch.setattr(refinement, "_foresee", noted)
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    assert warming.compile_ahead() == "refinement"
    of_random_clusters(random_points(np.random.default_rng(0), 60)).improve(2, signal())
    assert len(types) > 1
    assert len(set(types)) == 1
