"""Opposite clusters that another thread forms ahead are those that come anyway."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ontomask.kernels import opposites
from ontomask.kernels.boards import TAKEN, close_now, take
from ontomask.kernels.clusters import mdav, sa_mdav
from ontomask.kernels.compiling import compiled
from ontomask.kernels.index import FARTHEST, build_index, search
from ontomask.kernels.neighbors import prepare
from ontomask.kernels.opposites import ask, beside_clusters, grow, grown_opposite, new_side
from ontomask.kernels.records import point_reference
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
def asked(monkeypatch):
    """The posts of the threads beside clusterings, which come for little, too."""
    posts, send = [], opposites._wait_for_questions

    def noted(points, opposite, *given):
        posts.append(opposite.post)
        send(points, opposite, *given)

    monkeypatch.setattr(opposites, "_wait_for_questions", noted)
    monkeypatch.setattr(opposites, "FEWEST", 0)
    monkeypatch.setattr(opposites, "MANY", 0)
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    return posts


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("size", [13, 40, 120])
def test_clusters_are_those_of_one_thread(kind, k, size, asked):
    """In small tables opposite clusters want the same points every now and then."""
    points = random_points(np.random.default_rng(size), size, **kind)
    for dynamic in (False, True):
        found = sa_mdav(points, k, dynamic, signal())
        assert found.tolist() == oracle.sa_mdav(points, k, dynamic)
    assert mdav(points, k, signal()).tolist() == oracle.mdav(points, k)
    assert asked


@compiled
def asked_for(opposite, seed, logged):
    ask(opposite, seed, logged)


@compiled
def answered(opposite, labels):
    return grown_opposite(opposite, labels)


@compiled
def grown(points, side, seed, k, adaptive):
    return grow(points, side, seed, k, adaptive, adaptive, 0.0)[0]


class Beside:
    """Both sides of a clustering, in one thread."""

    def __init__(self, points, k=3, adaptive=True):
        self.points, self.k, self.size = points, k, points.weights.size
        self.ways = adaptive, adaptive
        self.taken, self.labels = (
            np.zeros(1 + self.size, np.int64),
            np.full(self.size, -1, np.int32),
        )
        with beside_clusters(points, self._index(), self.taken, k, *self.ways, None) as opposite:
            self.opposite = opposite
        opposite.post[opposites.OPEN] = 1

    def _index(self):
        left = np.flatnonzero(self.labels < 0)
        index = build_index(self.points, left, self.points.factors, np.zeros(self.size), 4)
        prepare(index)
        return index

    def take(self, members):
        for point in members:
            self.taken[0] += 1
            self.taken[self.taken[0]], self.labels[point] = point, 0

    def ask(self, seed):
        asked_for(self.opposite, seed, self.taken[0])

    def answer(self):
        close_now(self.opposite.board)  # nobody waits for more
        opposites._answer(self.points, self.opposite, self.taken, self.k, *self.ways)

    def members(self):
        return self.opposite.side.members[: answered(self.opposite, self.labels)].tolist()

    def expected(self, seed):
        """What grows around the farthest point when all is done one after the other."""
        side = new_side(self.points, self._index(), self.k)
        point_reference(self.points, seed, side.reference)
        search(self.points, side.searched, side.finds, side.reference, FARTHEST, 1)
        size = grown(self.points, side, int(side.finds.answers[0, 2]), self.k, self.ways[0])
        return side.members[:size].tolist()


@pytest.fixture
def both():
    return Beside(random_points(np.random.default_rng(1), 60, rules=(0,), numeric=2))


def test_the_cluster_opposite_is_the_one_that_comes_anyway(both):
    for seed in (4, 17, 23):
        both.ask(seed)
        both.answer()
        both.take([seed])
        members = both.members()
        assert members == both.expected(seed)
        both.take(members)


def test_members_that_are_found_at_once_come_in_the_same_order_too(both):
    """Sums are made of them one after the other, and the index of the other thread is another."""
    both = Beside(both.points, 9, adaptive=False)
    for seed in (4, 17):
        first = grown_around(both, seed)
        both.ask(seed)
        both.answer()
        both.take(first)
        members = both.members()
        assert len(members) == 9
        assert members == both.expected(seed)
        both.take(members)


def grown_around(both, seed):
    side = new_side(both.points, both._index(), both.k)
    return side.members[: grown(both.points, side, seed, both.k, both.ways[0])].tolist()


class Failing(ThreadPoolExecutor):
    """Threads that begin, while whoever wanted them is told that they do not."""

    def submit(self, *given):
        super().submit(*given)
        raise RuntimeError("no more threads")


def test_no_thread_waits_for_questions_that_nobody_can_ask(asked):
    points = random_points(np.random.default_rng(1), 60, rules=(0,), numeric=2)
    both = Beside(points)
    with (
        Failing(1) as pool,
        pytest.raises(RuntimeError, match="no more threads"),
        beside_clusters(points, both._index(), both.taken, 3, True, True, pool),
    ):
        raise AssertionError("nobody gets here")
    assert len(asked) == 1


def test_a_cluster_that_wants_points_of_the_first_is_refused_and_forgotten(both):
    wanted = both.expected(4)
    both.ask(4)
    both.answer()
    both.take([4, wanted[-1]])
    assert both.members() == []
    both.take(both.expected(4))
    both.ask(23)
    both.answer()
    both.take([23])
    assert both.members() == both.expected(23)


def test_a_question_that_nobody_has_begun_to_answer_is_taken_back(both):
    both.ask(4)
    assert both.members() == []
    both.answer()  # there is none left
    assert both.opposite.post[opposites.ANSWERED] == 0
    both.ask(17)
    both.answer()
    assert both.members() == both.expected(17)


def test_who_is_late_is_not_asked_again_before_the_answer_comes(both):
    both.ask(4)
    assert take(both.opposite.board, 1) == 0  # somebody has begun
    assert both.members() == []
    both.ask(17)
    assert both.opposite.post[opposites.SEED] == 4


@pytest.mark.compiled
def test_who_gives_signs_of_life_is_waited_for(asked):
    """A cluster of hundreds grows far longer than one looks in vain for the next member."""
    points = random_points(np.random.default_rng(1), 8000, rules=(0,), numeric=3)
    both = Beside(points, 600)
    wanted, attempts = both.expected(4), []
    assert both.members() == []  # whoever compiles first waits anyway
    while wanted not in attempts and len(attempts) < 300:  # others may have its processor
        with (
            ThreadPoolExecutor(1) as pool,
            beside_clusters(points, both._index(), both.taken, 600, *both.ways, pool) as opposite,
        ):
            both.opposite = opposite
            both.ask(4)
            while opposite.board[TAKEN] == 0:
                time.sleep(1e-5)
            attempts.append(both.members())
    assert wanted in attempts


def test_nobody_is_asked_for_few_points_or_on_one_core(asked, monkeypatch):
    points = random_points(np.random.default_rng(1), 40, rules=(0,), numeric=2)
    monkeypatch.setenv("ONTOMASK_THREADS", "1")
    sa_mdav(points, 3, True, signal())
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    for least in ("FEWEST", "MANY"):
        with monkeypatch.context() as patch:
            patch.setattr(opposites, least, 41)
            sa_mdav(points, 3, True, signal())
    assert not asked
