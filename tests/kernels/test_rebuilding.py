"""Taking clusters apart and building them anew: less loss, the same sizes, the same draws."""

import numpy as np
import pytest
from numba import config

from ontomask.kernels import rebuilding
from ontomask.kernels.clusters import sa_mdav
from ontomask.kernels.losses import loss
from ontomask.kernels.rebuilding import rebuild
from ontomask.kernels.refinement import refine
from reference.points import only_numbers, random_points


def signal():
    return np.zeros(2, np.int64)


def rebuilt(points, labels, k, rounds, seed=0):
    generator = np.random.default_rng(seed)
    return rebuild(points, labels, k, 16, 60, rounds, 60.0, generator, signal())


def loss_of(points, labels):
    return loss(points, labels, int(labels.max()) + 1)


KINDS = {
    "numbers": {"rules": (), "numeric": 3, "power": 2},
    "codes": {"rules": (0, 1), "numeric": 0, "power": 1},
    "mixed": {"rules": (0,), "numeric": 2, "power": 2},
}


TABLES = 1 if config.DISABLE_JIT else 3
"""Plain Python takes a second for each."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [2, 5])
def test_less_loss_and_k_records_in_every_cluster(kind, k):
    for seed in range(TABLES):
        points = random_points(np.random.default_rng(seed), 60, **KINDS[kind])
        labels = sa_mdav(points, k, True, signal())
        refined = refine(points, labels, k, 16, 60, signal())
        better, rounds = rebuilt(points, labels, k, 3)
        assert rounds == 3
        assert np.bincount(better, points.sizes).min() >= k
        assert loss_of(points, better) <= loss_of(points, refined) + 1e-9


@pytest.mark.compiled
def test_it_gets_out_of_a_local_optimum():
    """Points in a square, where single moves end early; the sum over many tables is far less."""
    before = after = 0.0
    for seed in range(6):
        points = only_numbers(np.random.default_rng(seed).random((300, 2)))
        labels = sa_mdav(points, 4, True, signal())
        before += loss_of(points, refine(points, labels, 4, 16, 60, signal()))
        after += loss_of(points, rebuilt(points, labels, 4, 20)[0])
    assert after < 0.97 * before


def test_the_same_draws_give_the_same_clusters_and_others_do_not():
    points = random_points(np.random.default_rng(1), 80, rules=(0,), numeric=2, power=2)
    labels = sa_mdav(points, 3, True, signal())
    first, again, other = (rebuilt(points, labels, 3, 2, seed)[0] for seed in (4, 4, 5))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_time_ends_it_and_is_told():
    points = random_points(np.random.default_rng(1), 80, rules=(0,), numeric=2, power=2)
    labels = sa_mdav(points, 3, True, signal())
    generator = np.random.default_rng(0)
    better, rounds = rebuild(points, labels, 3, 16, 60, 10**6, 1e-9, generator, signal())
    assert rounds < 100
    assert np.bincount(better, points.sizes).min() >= 3


def test_a_run_that_the_clock_was_ahead_of_did_not_make_all_rounds(monkeypatch):
    """Its trials were judged by how much time was left, which is another one next time."""
    points = random_points(np.random.default_rng(1), 80, rules=(0,), numeric=2, power=2)
    asked = points, sa_mdav(points, 3, True, signal()), 3, 16, 60, 4, 60.0
    _, rounds = rebuild(*asked, np.random.default_rng(1), signal())
    assert rounds == 4
    ticks = iter([0.0, 30.0])
    monkeypatch.setattr(rebuilding.time, "monotonic", lambda: next(ticks, 31.0))
    monkeypatch.setattr(rebuilding, "TRIALS", 5)
    _, rounds = rebuild(*asked, np.random.default_rng(1), signal())
    assert rounds == 3


def test_what_the_first_tenth_of_the_time_was_spent_on_counts_for_nothing(monkeypatch):
    """A machine that was busy for a moment makes the same clusters, and says so."""
    monkeypatch.setattr(rebuilding, "TRIALS", 5)
    points = random_points(np.random.default_rng(1), 80, rules=(0,), numeric=2, power=2)
    asked = points, sa_mdav(points, 3, True, signal()), 3, 16, 60, 4, 60.0
    usual, _ = rebuild(*asked, np.random.default_rng(1), signal())
    ticks = iter([0.0, 5.9])
    monkeypatch.setattr(rebuilding.time, "monotonic", lambda: next(ticks, 5.9))
    busy, rounds = rebuild(*asked, np.random.default_rng(1), signal())
    assert rounds == 4
    assert busy.tolist() == usual.tolist()


def test_compiling_takes_none_of_the_seconds(monkeypatch):
    """What is called first makes no trial, and the clock is not looked at before."""
    called, compiled = [], rebuilding._rebuild
    monkeypatch.setattr(
        rebuilding, "_rebuild", lambda *given: called.append(len(given[6])) or compiled(*given)
    )
    seen = []
    monkeypatch.setattr(
        rebuilding.time, "monotonic", lambda: seen.append(len(called)) or float(len(seen))
    )
    points = random_points(np.random.default_rng(1), 40, rules=(0,), numeric=2, power=2)
    rebuilt(points, sa_mdav(points, 3, True, signal()), 3, 1)
    assert called[0] == 0
    assert min(called[1:]) > 0
    assert seen[0] == 1
