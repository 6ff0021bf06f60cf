"""Equal records in several clusters: nothing gets lost, and nothing better is overlooked."""

import itertools

import numpy as np
import pytest
from numba import config

from ontomask.kernels.clusters import mdav, sa_mdav
from ontomask.kernels.exchanges import best_partner, is_too_far
from ontomask.kernels.losses import loss
from ontomask.kernels.pieces import Pieces, Shares, grains
from ontomask.kernels.rebuilding import rebuild
from ontomask.kernels.refinement import Refinement, refine
from reference.points import only_numbers, random_points

KINDS = {
    "numbers": {"rules": (), "numeric": 2},
    "codes": {"rules": (0, 1), "numeric": 0, "power": 1},
    "mixed": {"rules": (0,), "numeric": 2, "holes": True},
}
TABLES = 1 if config.DISABLE_JIT else 4


def signal():
    return np.zeros(2, np.int64)


def tied_points(kind, seed, size=40):
    generator = np.random.default_rng(seed)
    points = random_points(generator, size, **KINDS[kind])
    sizes = generator.integers(1, 9, size).astype(float)
    return points._replace(sizes=sizes, weights=sizes.copy())


def whole(points, labels):
    return Shares(np.arange(points.sizes.size), labels, points.sizes)


def laid_out(points, shares, k, divisible=None):
    every = np.ones(points.sizes.size, bool) if divisible is None else divisible
    return Pieces.of(points, shares, every, k, 12)


def refined(points, shares, k, divisible=None):
    pieces = laid_out(points, shares, k, divisible)
    labels = refine(pieces.points, pieces.labels, float(k), pieces.near, 20, signal(), pieces.kin)
    return pieces.shares(labels)


def assert_all_there(points, shares, k):
    assert np.bincount(shares.owners, shares.sizes).tolist() == points.sizes.tolist()
    assert np.bincount(shares.labels, shares.sizes).min() >= k
    assert shares.sizes.min() >= 1
    assert np.array_equal(shares.sizes, shares.sizes.round())
    pairs = [*zip(shares.owners.tolist(), shares.labels.tolist(), strict=True)]
    assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [3, 10])
def test_records_that_are_divided_are_all_there_and_lose_less(kind, k):
    divided = 0
    for seed in range(TABLES):
        points = tied_points(kind, seed)
        start = whole(points, sa_mdav(points, k, True, signal()))
        found = refined(points, start, k)
        assert_all_there(points, found, k)
        undivided = refine(points, start.labels, float(k), 12, 20, signal())
        assert found.loss(points) <= start.loss(points) + 1e-9
        divided += found.loss(points) < loss(points, undivided, int(undivided.max()) + 1) - 1e-9
        again = refined(points, start, k)
        assert all(map(np.array_equal, found, again))
    # of a single small table it may be best to leave all together
    assert divided > 0 or TABLES == 1


def test_what_must_not_be_divided_stays_whole():
    points, k = tied_points("numbers", 1), 10
    divisible = np.arange(points.sizes.size) % 2 == 0
    found = refined(points, whole(points, sa_mdav(points, k, True, signal())), k, divisible)
    assert_all_there(points, found, k)
    pieces = np.bincount(found.owners)
    assert pieces[~divisible].max() == 1
    assert pieces[divisible].max() > 1


@pytest.mark.parametrize("kind", KINDS)
def test_rebuilding_divides_as_well_and_can_be_repeated(kind):
    for seed in range(TABLES):
        points, k = tied_points(kind, seed), 5
        start, found = whole(points, sa_mdav(points, k, True, signal())), []
        for _ in range(2):
            pieces = laid_out(points, start, k)
            labels, rounds = rebuild(
                *(pieces.points, pieces.labels, float(k), pieces.near, 20, 3, 60.0),
                *(np.random.default_rng(0), signal(), pieces.kin),
            )
            assert rounds == 3
            found.append(pieces.shares(labels))
        assert_all_there(points, found[0], k)
        assert found[0].loss(points) <= refined(points, start, k).loss(points) + 1e-9
        assert all(map(np.array_equal, *found))


def squares(points, amounts):
    """The loss of a cluster with so many records of each point."""
    numbers, weights = points.numbers, np.asarray(amounts, float)
    if not weights.any():
        return 0.0
    centers = numbers @ weights / weights.sum()
    return float((((numbers - centers[:, None]) ** 2) @ weights).sum())


def best_of_all(points, labels, k, pair):
    """What the best exchange of any amounts of two points changes, by trying all of them."""
    first, second = (np.where(labels == one, points.sizes, 0.0) for one in pair)
    before, best = squares(points, first) + squares(points, second), 0.0
    for point, other in itertools.product(*(np.flatnonzero(labels == one) for one in pair)):
        for moved, returned in itertools.product(
            np.arange(points.sizes[point] + 1), np.arange(points.sizes[other] + 1)
        ):
            step = np.zeros(labels.size)
            step[point], step[other] = -moved, returned
            left, right = first + step, second - step
            if min(left.sum(), right.sum()) >= k:
                best = min(best, squares(points, left) + squares(points, right) - before)
    return best


def settled(points, labels, k, kin):
    refinement = Refinement.of(points, labels, float(k), 12, kin)
    refinement._improve(0, 0, 0.0, None, signal())
    return refinement


def best_found(state, labels, k, pair):
    """The same as a refinement finds it, which looks from either side."""
    best = 0.0
    for home, cluster in (pair, pair[::-1]):
        for point in np.flatnonzero(labels == home):
            given = state.points, state.partition, state.bench.marks, float(k), point, cluster
            change = best_partner(*given)[0]
            if is_too_far(state.partition, state.points.weights, point, home, cluster):
                assert change > -1e-9
            best = min(best, change)
    return best


@pytest.mark.parametrize("divisible", [True, False])
def test_no_amounts_are_better_than_those_that_are_tried(divisible):
    """The loss is concave in amounts, and bounds leave out only what does no good."""
    improved = 0
    for seed in range(TABLES):
        points, k = tied_points("numbers", seed, 12), 15 if divisible else 3
        if not divisible:
            points = points._replace(sizes=np.ones(12), weights=np.ones(12))
        labels = np.random.default_rng(seed).permutation(np.arange(12) // 4).astype(np.int32)
        pieces = laid_out(points, whole(points, labels), k, np.full(12, divisible))
        state = settled(pieces.points, pieces.labels, k, pieces.kin)
        for pair in itertools.combinations(range(3), 2):
            wanted = best_of_all(pieces.points, pieces.labels, k, pair)
            assert best_found(state, pieces.labels, k, pair) == pytest.approx(wanted, abs=1e-9)
            improved += wanted < 0.0
    assert improved > 0


def test_clusters_that_are_too_far_are_found_out():
    points = only_numbers([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    state = settled(points, np.array([0, 0, 0, 1, 1, 1], np.int32), 2, None)
    assert is_too_far(state.partition, points.weights, 0, 0, 1)
    state = settled(points, np.array([0, 0, 1, 1, 1, 0], np.int32), 2, None)
    assert not is_too_far(state.partition, points.weights, 5, 0, 1)


def test_a_chain_of_frequent_values_is_shared_out():
    """20 records of each number and k = 21: some have to go from one to the next."""
    points = only_numbers(np.arange(8.0)[:, None])
    points = points._replace(sizes=np.full(8, 20.0), weights=np.full(8, 20.0))
    single = grains(points, np.ones(8, bool), 21)
    labels = mdav(single.points(points), 21, signal())
    found = refined(points, single._replace(labels=labels).added(), 21)
    assert_all_there(points, found, 21)
    undivided = refine(points, np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int32), 21.0, 5, 20, signal())
    assert found.loss(points) < 0.7 * loss(points, undivided, int(undivided.max()) + 1)


def test_grains_are_records_and_what_is_left_of_many():
    points = only_numbers([[0.0], [1.0], [2.0]])._replace(sizes=np.array([2.0, 30.0, 7.0]))
    found = grains(points, np.array([True, True, False]), 3)
    assert found.owners.tolist() == [0] * 2 + [1] * 7 + [2]
    assert found.sizes.tolist() == [1.0] * 8 + [24.0, 7.0]


def test_records_take_their_clusters_from_the_shares():
    shares = Shares(np.array([1, 0, 1, 1]), np.array([0, 1, 2, 0], np.int32), np.ones(4))
    assert shares.added().sizes.tolist() == [1.0, 2.0, 1.0]
    # the point without others in several clusters may stand for any number of records
    places = np.array([1, 0, 1, 0, 1])
    assert shares.by_record(places).tolist() == [0, 1, 0, 1, 2]
