"""The loops of rank swapping against the published pseudo-code, draw by draw."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from ontomask.kernels import record_swapping, swapping, tuple_ranking
from ontomask.kernels.draws import hypergeometric
from ontomask.kernels.foresight import amount_ahead
from ontomask.kernels.record_ranks import nearer_records
from ontomask.kernels.records import compared, pack_points
from reference import swapping as slow

SEEDS = range(12)


def quiet() -> np.ndarray:
    return np.zeros(2, np.int64)


POOLS = pytest.mark.parametrize("everyone", [False, True], ids=["unswapped", "all"])


def random_matrix(generator: np.random.Generator, size: int, levels: int = 4) -> np.ndarray:
    """Symmetric, zero on the diagonal, few distinct distances: many ties."""
    upper = np.triu(generator.integers(1, levels + 1, (size, size)) / levels, 1)
    return upper + upper.T


def draws(generator: np.random.Generator, count: int, width: int):
    return generator.permutation(count), generator.random((count, width))


def is_swap(partners: np.ndarray) -> bool:
    return bool((partners[partners] == np.arange(partners.size)).all())


@POOLS
@pytest.mark.parametrize("k", [1, 2, 5, 39, 40, 100])
@pytest.mark.parametrize("seed", SEEDS)
def test_one_ranking_as_published(seed, k, everyone):
    generator = np.random.default_rng(seed)
    order, uniforms = generator.permutation(40), generator.random(40)
    partners = swapping.swap_ranked(order, k, everyone, uniforms)
    assert partners.tolist() == slow.fixed(order.tolist(), k, everyone, uniforms.tolist())
    assert is_swap(partners)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_ranks_of_swapped_values_differ_by_at_most_k(k):
    generator = np.random.default_rng(k)
    order, uniforms = generator.permutation(500), generator.random(500)
    ranks = np.empty(500, np.int64)
    ranks[order] = np.arange(500)
    moved = np.abs(ranks - ranks[swapping.swap_ranked(order, k, True, uniforms)])
    assert moved.max() == k


def test_every_rank_of_the_interval_is_as_likely():
    generator = np.random.default_rng(5)
    order = np.arange(6)
    firsts = Counter(
        int(swapping.swap_ranked(order, 4, False, generator.random(6))[0]) for _ in range(8000)
    )
    assert set(firsts) == {1, 2, 3, 4}
    assert max(abs(count - 2000) for count in firsts.values()) < 200


@POOLS
@pytest.mark.parametrize("k", [1, 2, 4, 10, 28, 60])
@pytest.mark.parametrize("seed", SEEDS)
def test_coded_values_as_published(seed, k, everyone):
    generator = np.random.default_rng(seed)
    matrix = random_matrix(generator, 9)
    codes = generator.integers(0, 9, 29).astype(np.int32)
    priority, uniforms = draws(generator, 29, 4)
    first = int(codes[0])
    near = swapping.neighbors(matrix)
    found = swapping.swap_coded(codes, near, first, k, everyone, priority, uniforms, quiet())
    oracle = slow.Univariate(
        codes.tolist(), lambda a, b: matrix[a, b], priority, uniforms, by_value=False
    )
    partners, references = oracle.run(first, k, everyone)
    assert (found[0].tolist(), found[1].tolist()) == (partners, references)
    assert is_swap(found[0])
    nearer = swapping.nearer_coded(codes, matrix, *found, everyone)
    assert nearer.max() < k


@POOLS
@pytest.mark.parametrize("k", [1, 2, 4, 10, 28, 60])
@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_as_published(seed, k, everyone):
    generator = np.random.default_rng(seed)
    values, codes = np.unique(generator.integers(0, 14, 29) / 4, return_inverse=True)
    codes = codes.astype(np.int32)
    priority, uniforms = draws(generator, 29, 4)
    first = int(codes[0])
    found = swapping.swap_ordered(codes, values, first, k, everyone, priority, uniforms, quiet())
    oracle = slow.Univariate(
        codes.tolist(), lambda a, b: abs(values[a] - values[b]), priority, uniforms, by_value=True
    )
    partners, references = oracle.run(first, k, everyone)
    assert (found[0].tolist(), found[1].tolist()) == (partners, references)
    nearer = swapping.nearer_ordered(codes, values, *found, everyone)
    assert nearer.max() < k
    by_matrix = np.abs(values[:, None] - values[None])
    assert (nearer == swapping.nearer_coded(codes, by_matrix, *found, everyone)).all()


def test_recounting_notices_a_partner_that_is_too_far():
    matrix = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    codes = np.array([0, 1, 2, 2], np.int32)
    partners, references = np.array([2, 1, 0, 3]), np.array([0, 1, 3])
    assert swapping.nearer_coded(codes, matrix, partners, references, False).tolist() == [1, 0, 0]
    values = np.array([0.0, 1.0, 2.0])
    assert swapping.nearer_ordered(codes, values, partners, references, True).tolist() == [1, 0, 0]


def test_unswapped_pool_leaves_at_most_one_value():
    generator = np.random.default_rng(3)
    for count in (30, 31):
        codes = generator.integers(0, 8, count).astype(np.int32)
        priority, uniforms = draws(generator, count, 4)
        near = swapping.neighbors(random_matrix(generator, 8))
        partners, _ = swapping.swap_coded(
            codes, near, int(codes[0]), 3, False, priority, uniforms, quiet()
        )
        assert (partners == np.arange(count)).sum() == count % 2


def test_one_value_and_one_record():
    near = swapping.neighbors(np.zeros((1, 1)))
    for count in (1, 2, 5):
        priority, uniforms = draws(np.random.default_rng(count), count, 4)
        codes = np.zeros(count, np.int32)
        for everyone in (False, True):
            partners, _ = swapping.swap_coded(
                codes, near, 0, 2, everyone, priority, uniforms, quiet()
            )
            assert is_swap(partners)
            values = np.zeros(1)
            partners, _ = swapping.swap_ordered(
                codes, values, 0, 2, everyone, priority, uniforms, quiet()
            )
            assert is_swap(partners)


def test_ties_at_the_edge_are_broken_at_random():
    """Three values are equally near and two fit: each is drawn a third of the time."""
    matrix = np.array([[0.0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]])
    near, generator = swapping.neighbors(matrix), np.random.default_rng(1)
    codes = np.arange(4, dtype=np.int32)
    for everyone in (False, True):
        drawn = Counter(
            int(
                swapping.swap_coded(codes, near, 0, 2, everyone, *draws(generator, 4, 4), quiet())[
                    0
                ][0]
            )
            for _ in range(6000)
        )
        assert max(abs(drawn[record] - 2000) for record in (1, 2, 3)) < 200


@pytest.mark.parametrize(
    ("present", "marked", "slots"), [(7, 3, 4), (10, 10, 4), (10, 0, 4), (12, 6, 12), (9, 8, 8)]
)
def test_share_of_a_tie_is_exact(present, marked, slots):
    steps = np.linspace(0, 1, 4001)[:-1] + 1 / 8000
    found = [hypergeometric(one, present, marked, slots) for one in steps]
    assert found == [slow.share_of_tie(float(one), present, marked, slots) for one in steps]


@pytest.mark.compiled
def test_share_of_a_large_tie():
    steps = (np.arange(500) + 0.5) / 500
    found = np.array([hypergeometric(one, 10**6, 4 * 10**5, 10**5) for one in steps])
    spread = np.sqrt(10**5 * 0.4 * 0.6 * 0.9)
    assert abs(found.mean() - 40_000) < spread / 10
    assert found.std() == pytest.approx(spread, rel=0.05)


def mixed_table(generator: np.random.Generator, count: int, steps: int = 4):
    """Two coded attributes and a number with gaps, as distinct tuples."""
    sizes = (5, 4)
    matrices = [random_matrix(generator, size) for size in sizes]
    columns = [generator.integers(0, size, count) for size in sizes]
    number = generator.integers(0, steps, count) / steps
    number[generator.random(count) < 0.2] = -1
    rows, tuple_of = np.unique(np.stack([*columns, number], 1), axis=0, return_inverse=True)
    numbers = np.where(rows[:, 2] < 0, np.nan, rows[:, 2])[None]
    codes = rows[:, :2].T.astype(np.int32)
    ones = np.ones(rows.shape[0])
    attributes = [compared(matrix) for matrix in matrices]
    tuples = pack_points(attributes, codes, numbers, ones, ones, ones, np.ones(1), 1)

    def distance(a: int, b: int) -> float:
        total = 0.0
        for matrix, column in zip(matrices, tuples.codes, strict=True):
            total += matrix[column[a], column[b]]
        one, other = numbers[0, a], numbers[0, b]
        if np.isnan(one) or np.isnan(other):
            return total + float(np.isnan(one) != np.isnan(other))
        return total + abs(one - other)

    return tuples, tuple_of.astype(np.int32), distance


@POOLS
@pytest.mark.parametrize("k", [1, 2, 5, 12, 23])
@pytest.mark.parametrize("seed", SEEDS)
def test_records_as_published(seed, k, everyone):
    generator = np.random.default_rng(seed)
    tuples, tuple_of, distance = mixed_table(generator, 24)
    priorities = np.stack([generator.permutation(24) for _ in range(4)])
    uniforms = generator.random((24, 8))
    first = int(tuple_of[0])
    found = record_swapping.swap_records(
        tuples, tuple_of, first, k, everyone, priorities, uniforms, quiet()
    )
    oracle = slow.Multivariate(tuple_of.tolist(), distance, priorities.tolist(), uniforms)
    partners, references = oracle.run(first, k, everyone)
    assert found[1].tolist() == references
    assert found[0].tolist() == partners
    assert all(is_swap(row) for row in found[0])
    nearer = nearer_records(tuples, tuple_of, *found[:2], everyone, np.arange(len(references)))
    assert nearer.max() < k
    assert (nearer == found[2]).all()
    some = np.arange(0, len(references), 3)
    assert (nearer_records(tuples, tuple_of, *found[:2], everyone, some) == nearer[some]).all()


@POOLS
@pytest.mark.parametrize("steps", [4, 1000], ids=["ties", "no ties"])
def test_what_is_foreseen_changes_nothing(steps, everyone, monkeypatch):
    """However many steps are foreseen, and whether they come true, on one thread or two."""
    generator = np.random.default_rng(7)
    tuples, tuple_of, _ = mixed_table(generator, 90, steps)
    priorities = np.stack([generator.permutation(90) for _ in range(4)])
    uniforms = generator.random((90, 8))
    foreseen, found = [], []
    for amount, threads in ((0, "1"), (1, "1"), (20, "1"), (20, "2")):
        monkeypatch.setenv("ONTOMASK_THREADS", threads)

        def ahead(seen, used, amount=amount):
            foreseen.append((seen, used))
            return amount

        monkeypatch.setattr(record_swapping, "amount_ahead", ahead)
        monkeypatch.setattr(record_swapping, "most_ahead", lambda alive, amount=amount: amount)
        arguments = (tuples, tuple_of, 0, 5, everyone, priorities, uniforms, quiet())
        found.append(record_swapping.swap_records(*arguments))
    for result in found[1:]:
        for one, other in zip(result, found[0], strict=True):
            assert (one == other).all()
    # some expectations came true, and some did not
    assert any(0 < used < seen for seen, used in foreseen)


def word_table(generator: np.random.Generator, count: int):
    """Three columns of words: most records differ from a reference in all of them."""
    columns = [generator.integers(0, size, count) for size in (12, 9, 15)]
    rows, tuple_of = np.unique(np.stack(columns, 1), axis=0, return_inverse=True)
    ones, codes = np.ones(rows.shape[0]), rows.T.astype(np.int32).copy()
    attributes = [compared(1.0 - np.eye(size)) for size in (12, 9, 15)]
    nothing = np.empty((0, rows.shape[0]))
    tuples = pack_points(attributes, codes, nothing, ones, ones, ones, np.empty(0), 1)
    return tuples, tuple_of.astype(np.int32), rows


def swap_words_by_lot(count: int, everyone: bool, seed: int):
    generator = np.random.default_rng(seed)
    tuples, tuple_of, rows = word_table(generator, count)
    priorities = np.stack([generator.permutation(count) for _ in range(4)])
    draws = priorities, generator.random((count, 8)), quiet()
    return rows[tuple_of], record_swapping.swap_records(tuples, tuple_of, 0, 5, everyone, *draws)


@POOLS
def test_references_that_are_drawn_by_lot_are_farthest_and_wait_to_be_swapped(
    everyone, monkeypatch
):
    monkeypatch.setattr(tuple_ranking, "LEAST_BY_LOT", 0)
    drawn = []
    kernel = tuple_ranking._met
    monkeypatch.setattr(tuple_ranking, "_met", lambda *given: drawn.append(kernel(*given)) or 16)
    words, (partners, references, _) = swap_words_by_lot(120, everyone, 3)
    assert drawn[0] > 8
    waiting = np.ones(partners.shape, bool)
    for reference, following in itertools.pairwise(references.tolist()):
        for attribute in range(3):
            if waiting[attribute, reference]:
                waiting[attribute, [reference, partners[attribute, reference]]] = False
        unfinished = waiting.any(axis=0)
        apart = (words != words[reference]).sum(axis=1)
        assert unfinished[following]
        assert apart[following] == apart[unfinished].max()


def test_what_is_drawn_by_lot_does_not_depend_on_what_is_foreseen(monkeypatch):
    monkeypatch.setattr(tuple_ranking, "LEAST_BY_LOT", 0)
    found = []
    for amount, threads in ((0, "1"), (1, "1"), (20, "1"), (20, "2")):
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        monkeypatch.setattr(record_swapping, "amount_ahead", lambda *_, amount=amount: amount)
        monkeypatch.setattr(record_swapping, "most_ahead", lambda _, amount=amount: amount)
        found.append(swap_words_by_lot(150, False, 5)[1])
    for result in found[1:]:
        for one, other in zip(result, found[0], strict=True):
            assert (one == other).all()


@pytest.mark.compiled
def test_every_record_that_is_farthest_is_drawn_as_often(monkeypatch):
    """The second reference, by lot: as likely for records of large tuples as for others."""
    monkeypatch.setattr(tuple_ranking, "LEAST_BY_LOT", 0)
    generator = np.random.default_rng(11)
    tuples, tuple_of, rows = word_table(generator, 60)
    # ten more records of one tuple that differs from the first in all columns
    far = int(np.flatnonzero((rows != rows[0]).all(axis=1))[0])
    tuple_of = np.append(tuple_of, np.full(10, far)).astype(np.int32)
    count, times = tuple_of.size, 1500
    farthest = (rows[tuple_of] != rows[0]).all(axis=1)
    met = np.zeros(count)
    for _ in range(times):
        priorities = np.stack([generator.permutation(count) for _ in range(4)])
        draws = priorities, generator.random((count, 8)), np.array([0, 0])
        met[record_swapping.swap_records(tuples, tuple_of, 0, 2, False, *draws)[1][1]] += 1
    assert not met[~farthest].any()
    # partners of the first reference wait no longer in some columns, but none is near it here
    expected = times / farthest.sum()
    assert abs(met[farthest] - expected).max() < 6 * np.sqrt(expected)


def test_foresight_is_shortened_where_it_fails_and_given_up_where_it_fails_always():
    """Large tables begin at their edge, where every other expectation fails."""
    amounts = [157]
    for _ in range(40):
        amounts.append(amount_ahead(amounts[-1], min(amounts[-1], 35)))
    assert min(amounts) >= 35
    assert max(amounts[8:]) < 50
    amount = 157
    for _ in range(8):
        amount = amount_ahead(amount, min(amount, 1))
    assert amount == 0
    assert amount_ahead(20, 20) > 20


def test_one_attribute_of_records_is_the_univariate_algorithm():
    """Without ties both algorithms see the same intervals; here k = 1 leaves no choice at all."""
    generator = np.random.default_rng(8)
    upper = np.triu(generator.random((30, 30)) + 0.1, 1)
    matrix, codes = upper + upper.T, generator.permutation(30).astype(np.int32)
    values, ones = np.arange(30, dtype=np.int32)[None], np.ones(30)
    tuples = pack_points(
        [compared(matrix)], values, np.empty((0, 30)), ones, ones, ones, np.empty(0), 1
    )
    priority = generator.permutation(30)
    whole, *_ = record_swapping.swap_records(
        tuples,
        codes,
        3,
        1,
        False,
        np.stack([priority, priority]),
        generator.random((30, 4)),
        quiet(),
    )
    near = swapping.neighbors(matrix)
    single, _ = swapping.swap_coded(
        codes, near, 3, 1, False, priority, generator.random((30, 4)), quiet()
    )
    assert whole[0].tolist() == single.tolist()


@POOLS
@pytest.mark.compiled
def test_records_of_many_tuples_as_published(everyone):
    """With more tuples than a leaf of the index holds, which is made anew on the way."""
    generator = np.random.default_rng(7)
    tuples, tuple_of, distance = mixed_table(generator, 700, steps=256)
    assert tuples.weights.size > 2 * record_swapping.SMALLEST_REBUILD
    priorities = np.stack([generator.permutation(700) for _ in range(4)])
    uniforms, first = generator.random((700, 8)), int(tuple_of[0])
    found = record_swapping.swap_records(
        tuples, tuple_of, first, 6, everyone, priorities, uniforms, quiet()
    )
    oracle = slow.Multivariate(tuple_of.tolist(), distance, priorities.tolist(), uniforms)
    partners, references = oracle.run(first, 6, everyone)
    assert (found[0].tolist(), found[1].tolist()) == (partners, references)


@pytest.mark.compiled
def test_records_with_many_steps():
    """The index is made anew when half of the tuples are finished; the result must not notice."""
    generator = np.random.default_rng(4)
    tuples, tuple_of, _ = mixed_table(generator, 4000)
    priorities = np.stack([generator.permutation(4000) for _ in range(4)])
    found = record_swapping.swap_records(
        tuples, tuple_of, 0, 4, False, priorities, generator.random((4000, 8)), quiet()
    )
    assert found[1].size > 2048
    assert all(is_swap(row) for row in found[0])
    assert ((found[0] == np.arange(4000)).sum(1) == 0).all()
    steps = np.arange(found[1].size)
    assert found[2].max() < 4
    assert (nearer_records(tuples, tuple_of, *found[:2], False, steps) == found[2]).all()


def test_loops_report_and_stop():
    generator = np.random.default_rng(6)
    tuples, tuple_of, _ = mixed_table(generator, 200)
    codes = tuple_of.astype(np.int32)
    values = np.arange(codes.max() + 1.0)
    near = swapping.neighbors(np.abs(values[:, None] - values[None]))
    priorities = np.stack([generator.permutation(200) for _ in range(4)])
    uniforms = generator.random((200, 8))

    def runs(signal):
        yield swapping.swap_coded(codes, near, 0, 3, False, priorities[0], uniforms, signal)
        yield swapping.swap_ordered(codes, values, 0, 3, False, priorities[0], uniforms, signal)
        yield record_swapping.swap_records(
            tuples, tuple_of, 0, 3, False, priorities, uniforms, signal
        )

    done = quiet()
    for _ in runs(done):
        assert done[0] == 200
        done[0] = 0
    assert [found[1].size for found in runs(np.array([0, 1]))] == [0, 0, 0]
