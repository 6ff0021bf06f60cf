"""The centroid of a set that shrinks is that of the points that are left, whatever was put off."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ontomask.kernels import shrinking as kernel
from ontomask.kernels.boards import read
from ontomask.kernels.centroids import Tallying, new_tally, tallied
from ontomask.kernels.compiling import compiled
from ontomask.kernels.records import LCS, MINIMUM_HIERARCHY, PRESENT, pack_points
from reference.points import flat, from_sets, random_points

SIZE = 400


def tree(rng, rule, missing, nodes=150):
    """A tree of more rows than are kept up to date; every node is a value, some are frequent."""
    above, depths = [{0}], [1]
    for node in range(1, nodes):
        parent = int(rng.integers(max(0, node // 3), node // 2 + 1))
        above.append(above[parent] | {node})
        depths.append(depths[parent] + 1)
    if missing:
        above.append({nodes})
        depths.append(99)
    return from_sets(above, depths, list(range(len(above))), rule, nodes if missing else -1, 1)


def points_over(rng, *attributes):
    often = [rng.dirichlet(np.full(one.own_rows.size, 0.3)) for one in attributes]
    codes = [rng.choice(share.size, SIZE, p=share) for share in often]
    numbers, ones = rng.normal(size=(1, SIZE)), np.ones(SIZE)
    weights = rng.integers(1, 4, SIZE).astype(float)
    return pack_points(
        [*attributes], np.array(codes, np.int32), numbers, ones, weights, ones, np.ones(1), 1
    )


@compiled
def help_while(points, tally, shrinking, going):
    """How many stretches are done as long as something goes on."""
    count = 0
    while read(going, 0) == 1:
        count += kernel.help_subtracting(points, tally, shrinking)
    return count


def centers_of(points, order, step):
    """The centroid of what is left before every step of some points, by sums put off; and told."""
    tally, shrinking = new_tally(points), kernel.new_shrinking(points)
    tallied(points, tally, np.arange(points.weights.size))
    center = np.empty(points.codes.shape[0] + points.numbers.shape[0])
    for start in range(0, order.size - step, step):
        kernel.remaining_center(points, tally, shrinking, center)
        yield order[start:], center.copy(), shrinking
        for point in order[start : start + step]:
            kernel.take_out(points, tally, shrinking, int(point))


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_centroid_of_what_is_left(seed):
    rng = np.random.default_rng(seed)
    kinds = (MINIMUM_HIERARCHY, True), (PRESENT, False), (LCS, False)
    points = points_over(rng, *(tree(rng, *kind) for kind in kinds), flat(120, PRESENT))
    # what is frequent goes first, so that rows become best that were far from it
    often = np.bincount(points.codes[3])[points.codes[3]]
    order, put_off = np.lexsort([rng.random(SIZE), -often]), 0
    for left, center, shrinking in centers_of(points, order, 7):
        expected = tallied(points, new_tally(points), np.sort(left))
        np.testing.assert_allclose(center, expected, rtol=1e-9)
        assert center[:4].tolist() == expected[:4].tolist()
        put_off += int(shrinking.taken[0] > shrinking.counted.min())
    # it must not have added up everything at every step
    assert put_off > 10


@pytest.mark.compiled
def test_sums_of_many_rows_are_brought_up_to_date_by_whoever_is_free():
    rng = np.random.default_rng(5)
    kinds = (MINIMUM_HIERARCHY, True), (PRESENT, False)
    # stretches of rows, and of the list of those that are candidates
    points = points_over(rng, *(tree(rng, *kind, nodes=4 * kernel.STRETCH + 9) for kind in kinds))
    order, helped = rng.permutation(SIZE), 0

    def summed(beside):
        given, going = (new_tally(points), kernel.new_shrinking(points)), np.ones(1, np.int64)
        tallied(points, given[0], np.arange(SIZE))
        center, found = np.empty(3), []
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(help_while, points, *given, going) if beside else None
            for start in range(0, SIZE - 7, 7):
                kernel.remaining_center(points, *given, center)
                found.append(center.tolist())
                for point in order[start : start + 7]:
                    kernel.take_out(points, *given, int(point))
            going[0] = 0
        return (found, given[0].sums.tolist()), other.result() if other else 0

    alone = summed(beside=False)[0]
    help_while(points, new_tally(points), kernel.new_shrinking(points), np.zeros(1, np.int64))
    for _ in range(200):  # others may have its processor
        together, count = summed(beside=True)
        assert together == alone
        helped += count
        if helped > 20:
            break
    assert helped


@pytest.mark.parametrize("holes", [False, True])
def test_it_is_so_for_few_rows_and_gaps(holes):
    rng = np.random.default_rng(4)
    points = random_points(rng, 40, rules=(0, 1, 2), numeric=2, holes=holes, weighted=True)
    for left, center, _ in centers_of(points, rng.permutation(40), 3):
        expected = tallied(points, new_tally(points), np.sort(left))
        np.testing.assert_allclose(center, expected, rtol=1e-9)


def test_attributes_that_are_counted_apart_are_those_that_are_counted_together():
    rng = np.random.default_rng(1)
    points = points_over(rng, tree(rng, MINIMUM_HIERARCHY, True), flat(120, PRESENT))
    one, other = new_tally(points), new_tally(points)
    # the second tally begins with what the first one left
    for members in (np.arange(SIZE), np.arange(0, SIZE, 3)):
        tallied(points, one, members)
        with ThreadPoolExecutor(1) as pool:
            Tallying(points, other, members, pool).finish()
        for together, apart in zip(one, other, strict=True):
            np.testing.assert_array_equal(together, apart)
