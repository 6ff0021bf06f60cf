"""Clusters that are formed ahead are those that come anyway."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ontomask.kernels import ahead as kernel
from ontomask.kernels import clusters
from ontomask.kernels.ahead import AROUND, OPPOSITE, beside_clusters, obtain, tell_taken
from ontomask.kernels.boards import READY, TAKEN, close_now, take
from ontomask.kernels.centroids import new_tally
from ontomask.kernels.clusters import mdav, sa_mdav
from ontomask.kernels.compiling import compiled
from ontomask.kernels.growing import grow, new_side
from ontomask.kernels.index import FARTHEST, build_index, search
from ontomask.kernels.neighbors import prepare
from ontomask.kernels.records import flat_owners, point_reference
from ontomask.kernels.shrinking import new_shrinking
from reference import clusters as oracle
from reference.points import random_points

KINDS = {
    "numbers": {"rules": (), "numeric": 2},
    "mixed with holes": {"rules": (0, 1), "numeric": 1, "holes": True},
    "sized": {"rules": (0,), "numeric": 1, "sized": True, "weighted": True, "power": 1},
}


def signal():
    return np.zeros(2, np.int64)


@pytest.fixture
def beside(monkeypatch):
    """What the threads beside clusterings were given, which come for little, too."""
    given, wait = [], kernel._wait_for_works

    def noted(points, ahead, *others):
        given.append(ahead)
        wait(points, ahead, *others)

    monkeypatch.setattr(kernel, "_wait_for_works", noted)
    monkeypatch.setattr(kernel, "FEWEST", 0)
    monkeypatch.setattr(kernel, "LARGE", 0)
    monkeypatch.setattr(kernel, "SEVERAL", 0)
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    return given


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("size", [13, 40, 120])
def test_clusters_are_those_of_one_thread(kind, k, size, beside):
    """In small tables clusters want the same points every now and then."""
    points = random_points(np.random.default_rng(size), size, **kind)
    for dynamic in (False, True):
        found = sa_mdav(points, k, dynamic, signal())
        assert found.tolist() == oracle.sa_mdav(points, k, dynamic)
    assert mdav(points, k, signal()).tolist() == oracle.mdav(points, k)
    assert beside


@pytest.mark.compiled
@pytest.mark.parametrize(("seed", "size"), [(38, 60), (1, 120)])
def test_clusters_of_persons_are_those_of_one_thread(seed, size, beside, monkeypatch):
    """Persons have several points, and points are of several: more or fewer remain of either."""
    generator = np.random.default_rng(seed)
    points = random_points(generator, size, rules=(), numeric=2)
    most = generator.choice([1, 1, 1, 2, 3], size)
    units = [np.unique(generator.integers(0, size, one)) for one in most]
    starts = np.cumsum([0, *map(len, units)])
    numbers = np.unique(np.concatenate(units), return_inverse=True)[1]
    points = points._replace(owners=flat_owners(starts, numbers))
    together = {tuple(mdav(points, 2, signal()).tolist()) for _ in range(20)}
    assert len(beside) >= 20
    monkeypatch.setenv("ONTOMASK_THREADS", "1")
    assert together == {tuple(mdav(points, 2, signal()).tolist())}


@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("k", [3, 10])
def test_clusters_of_large_tables_are_those_of_one_thread(kind, k, beside, monkeypatch):
    points = random_points(np.random.default_rng(k), 6000, **kind)
    attempts, took_part = 0, False
    while attempts < 100 and not took_part:  # others may have its processor
        together = [sa_mdav(points, k, True, signal()), mdav(points, k, signal())]
        took_part = any(ahead.post[kernel.SEEN] > 0 for ahead in beside)
        attempts += 1
    assert beside
    assert took_part or together[0].max() <= 100
    monkeypatch.setenv("ONTOMASK_THREADS", "1")
    alone = [sa_mdav(points, k, True, signal()), mdav(points, k, signal())]
    assert [one.tolist() for one in together] == [one.tolist() for one in alone]


@compiled
def obtained(points, side, ahead, kind, seed, expected, k, adaptive):
    return obtain(points, side, ahead, kind, seed, expected, k, adaptive, adaptive)


@compiled
def told(ahead, taken, ready):
    tell_taken(ahead, taken, ready)


@compiled
def grown(points, side, seed, k, adaptive):
    return grow(points, side, 0, seed, k, adaptive, adaptive, 0.0)[0]


class Beside:
    """Both sides of a clustering, in one thread."""

    def __init__(self, points, k=3, adaptive=True):
        self.points, self.k, self.size = points, k, points.weights.size
        self.ways = adaptive, adaptive
        self.sums = new_tally(points), new_shrinking(points)
        self.taken = self.sums[1].taken
        self.labels = np.full(self.size, -1, np.int32)
        self.side = new_side(points, self.index(), k)
        given = self.labels, *self.sums, k, *self.ways
        with beside_clusters(points, self.index(), *given, None) as ahead:
            self.ahead = ahead
        ahead.post[kernel.OPEN] = 1

    def index(self):
        left = np.flatnonzero(self.labels < 0)
        index = build_index(self.points, left, self.points.factors, np.zeros(self.size), 4)
        prepare(index)
        return index

    def obtain(self, kind, seed, expected=-1):
        """The members that the first thread has, or None if it is to form the cluster itself."""
        given = self.points, self.side, self.ahead, kind, seed, expected, self.k, self.ways[0]
        if not obtained(*given):
            return None
        number = self.ahead.post[kernel.NEXT]
        return kernel._members(self.side, self.ahead, number).tolist()

    def take(self, members, ready):
        for point in members:
            kernel.drop(self.side.searched, point)
            self.taken[0] += 1
            self.taken[self.taken[0]], self.labels[point] = point, 0
        told(self.ahead, self.taken, ready)

    def go_on(self, kind, seed, expected=-1):
        """Have a cluster, whoever forms it, and take it; its members and whether it was ready."""
        wanted, found = self.expected(kind, seed), self.obtain(kind, seed, expected)
        self.take(wanted if found is None else found, found is not None)
        assert found in (None, wanted)
        return found is not None

    def do_works(self):
        """The other thread does all works."""
        close_now(self.ahead.board)  # nobody waits for more
        kernel._do_works(self.points, self.ahead, *self.sums, self.k, *self.ways)

    def expected(self, kind, seed):
        """What grows when all is done one after the other."""
        side = new_side(self.points, self.index(), self.k)
        if kind == OPPOSITE:
            point_reference(self.points, seed, side.reference)
            search(self.points, side.searched, side.finds, side.reference, FARTHEST, 1)
            seed = int(side.finds.answers[0, 2])
        size = grown(self.points, side, seed, self.k, self.ways[0])
        return side.members[:size].tolist()

    def living(self, side):
        return {point for point in range(self.size) if side.searched.places[point] >= 0}


@pytest.fixture
def both():
    return Beside(random_points(np.random.default_rng(1), 60, rules=(0,), numeric=2))


@pytest.mark.parametrize("adaptive", [True, False])
def test_clusters_of_the_other_thread_are_those_that_come_anyway(adaptive):
    """Found one by one or at once, in the same order: sums are made of them one after the other."""
    points = random_points(np.random.default_rng(1), 300, rules=(0,), numeric=2)
    both = Beside(points, 5, adaptive)
    seeds = [4, 17, 23]
    assert not both.go_on(AROUND, 4, 17)  # nobody knew of it
    for seed, after in zip(seeds, [*seeds[1:], -1], strict=True):
        both.do_works()
        assert seed == 4 or both.go_on(AROUND, seed, after)
        both.do_works()
        assert both.go_on(OPPOSITE, seed, after)


def test_what_nobody_has_begun_the_first_thread_does(both):
    both.go_on(AROUND, 4, 17)
    for kind, seed in ((OPPOSITE, 4), (AROUND, 17), (OPPOSITE, 17)):
        assert both.go_on(kind, seed)
    assert both.ahead.board[TAKEN] == both.ahead.board[READY] == 3


def test_a_cluster_that_wants_points_that_are_gone_is_refused_and_forgotten(both):
    both.go_on(AROUND, 4, 17)
    both.do_works()
    both.take(both.expected(OPPOSITE, 4)[-1:], ready=False)
    assert not both.go_on(OPPOSITE, 4, 17)
    both.do_works()
    assert both.go_on(AROUND, 17)
    assert both.go_on(OPPOSITE, 17)
    assert both.living(both.side) == {*np.flatnonzero(both.labels < 0)}


@pytest.mark.parametrize("who", ["other", "first", "both"])
def test_what_was_formed_in_vain_is_put_back(both, who):
    """Another point than expected comes next, and points of the vain clusters are wanted again."""
    both.go_on(AROUND, 4, 17)
    if who == "other":
        both.do_works()
    elif who == "both":
        assert both.go_on(OPPOSITE, 4, 17)
        both.do_works()
    else:
        assert both.go_on(OPPOSITE, 4, 17)
        assert both.obtain(AROUND, 17) is not None
        assert both.living(both.side) < {*np.flatnonzero(both.labels < 0)}
    for seed in (23, 31, 35):
        assert not both.go_on(AROUND, seed)
        assert both.living(both.side) == {*np.flatnonzero(both.labels < 0)}
        both.do_works()
        assert both.go_on(OPPOSITE, seed)
        assert both.living(both.side) == {*np.flatnonzero(both.labels < 0)}
        assert both.living(both.ahead.side) <= both.living(both.side) | {seed, *both.taken[1:]}


def test_who_is_late_is_not_waited_for_and_not_heard(both):
    both.go_on(AROUND, 4, 17)
    stale = take(both.ahead.board, 1)
    assert stale == 0  # somebody has begun
    assert not both.go_on(OPPOSITE, 4, 17)
    assert both.go_on(AROUND, 17, 23)
    for seed, after in ((23, 31), (31, 35), (35, -1)):  # until its place is that of another work
        assert both.go_on(OPPOSITE, {23: 17, 31: 23, 35: 31}[seed], seed)
        assert both.go_on(AROUND, seed, after)
    states = both.ahead.works.copy()
    kernel._form(both.points, both.ahead.side, both.ahead, 1, stale, 0, both.k, *both.ways)
    assert states.tolist() == both.ahead.works.tolist()
    assert both.go_on(OPPOSITE, 35)


class Failing(ThreadPoolExecutor):
    """Threads that begin, while whoever wanted them is told that they do not."""

    def submit(self, *given):
        super().submit(*given)
        raise RuntimeError("no more threads")


def test_no_thread_waits_for_works_that_nobody_can_offer(beside):
    points = random_points(np.random.default_rng(1), 60, rules=(0,), numeric=2)
    both = Beside(points)
    with (
        Failing(1) as pool,
        pytest.raises(RuntimeError, match="no more threads"),
        beside_clusters(points, both.index(), both.labels, *both.sums, 3, True, True, pool),
    ):
        raise AssertionError("nobody gets here")
    assert len(beside) == 1


@pytest.mark.compiled
def test_who_gives_signs_of_life_is_waited_for(beside):
    """A cluster of hundreds grows far longer than one looks in vain for the next member."""
    points = random_points(np.random.default_rng(1), 8000, rules=(0,), numeric=3)
    both = Beside(points, 600)
    wanted, attempts = both.expected(OPPOSITE, 4), []
    both.obtain(AROUND, 4)
    assert both.obtain(OPPOSITE, 4) == wanted  # whoever compiles first waits anyway
    while wanted not in attempts and len(attempts) < 300:  # others may have its processor
        given = points, both.index(), both.labels, *both.sums, 600, *both.ways
        with ThreadPoolExecutor(1) as pool, beside_clusters(*given, pool) as ahead:
            both.ahead = ahead
            assert both.obtain(AROUND, 4) is None
            while ahead.board[TAKEN] == 0:
                time.sleep(1e-5)
            attempts.append(both.obtain(OPPOSITE, 4))
    assert wanted in attempts


def test_nobody_is_asked_for_few_points_or_numbers_or_on_one_core(beside, monkeypatch):
    points = random_points(np.random.default_rng(1), 40, rules=(), numeric=2)
    monkeypatch.setenv("ONTOMASK_THREADS", "1")
    sa_mdav(points, 3, True, signal())
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    for name, least in (("FEWEST", 41), ("LARGE", 41), ("SEVERAL", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(kernel, name, least)
            sa_mdav(points, 3, True, signal())
    assert not beside
    sa_mdav(points, 3, True, signal())
    assert beside


def test_what_is_foreseen_wrongly_is_not_foreseen_for_a_while():
    luck, tried = clusters.MOST_LUCK, []
    for _ in range(2 * clusters.PAUSE):
        tried.append(luck > 0)
        luck = after(luck, 1, 2 if luck > 0 else -1)
    assert tried[:3] == [True] * 3
    assert 5 <= sum(tried) <= 8
    for _ in range(2 * clusters.PAUSE):
        luck = after(luck, 1, 1 if luck > 0 else -1)
    assert luck == clusters.MOST_LUCK


@compiled
def after(luck, seed, expected):
    return clusters._after(luck, seed, expected)
