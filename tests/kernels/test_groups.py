from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

from ontomask.kernels import groups


def numbered(keys):
    """Number by first appearance, with a dictionary, and tell where that is."""
    known = {}
    places = [known.setdefault(tuple(key), len(known)) for key in keys]
    return places, [places.index(one) for one in range(len(known))]


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("distinct", [1, 3, 50, 10**15])
def test_keys_are_numbered_by_first_appearance(words, distinct):
    generator = np.random.default_rng(distinct % 97 + words)
    keys = generator.integers(0, distinct, (words, 500))
    places, firsts = groups.number_keys(keys, 0)
    assert (places.tolist(), firsts.tolist()) == numbered(keys.T.tolist())


def test_keys_as_addresses_give_the_same_numbers():
    keys = np.random.default_rng(1).integers(0, 40, (1, 300))
    hashed, addressed = groups.number_keys(keys, 0), groups.number_keys(keys, 40)
    assert [one.tolist() for one in hashed] == [one.tolist() for one in addressed]


def test_one_key_and_all_different_keys():
    assert groups.number_keys(np.full((1, 7), -5), 0)[0].tolist() == [0] * 7
    assert groups.number_keys(np.arange(7)[None] * 2**40, 0)[0].tolist() == list(range(7))


def test_keys_that_differ_in_one_word_only():
    keys = np.array([[1, 1, 2, 2, 1], [1, 2, 1, 2, 1]])
    assert groups.number_keys(keys, 0)[0].tolist() == [0, 1, 2, 3, 0]


def test_keys_that_are_mixed_to_the_same_word_are_told_apart():
    def mixed(word):
        value = word * int(groups.GOLDEN) % 2**64
        return (value ^ (value >> 32)) >> 1

    keys = np.array([[1, 2, 1, 2], [7, 7 ^ mixed(1) ^ mixed(2), 7, 7]])
    words = np.empty(4, np.int64)
    groups._mix(keys, groups.GOLDEN, words)
    assert words[0] == words[1] != words[3]
    assert groups.number_keys(keys, 0)[0].tolist() == [0, 1, 0, 2]


def small_table(generator, count=200):
    """Three attributes with 4, 6 and 2 rows and two levels each, as shifts in one word."""
    sizes = np.array([4, 6, 2])
    tuples = np.array([generator.integers(0, size, count) for size in sizes], np.int32)
    levels = [
        np.array([np.arange(size), np.arange(size) // 2]) * factor
        for size, factor in zip(sizes, (1, 4, 24), strict=True)
    ]
    shifts = np.concatenate([one.ravel() for one in levels]).astype(np.int64)
    starts = np.array([0, 8, 20])
    keys = sum(shifts[start + rows] for start, rows in zip(starts, tuples, strict=True))
    return tuples, shifts, starts, sizes, keys[None]


def test_roll_up_unites_what_is_equal_after_raising():
    generator = np.random.default_rng(3)
    tuples, shifts, starts, sizes, keys = small_table(generator)
    amounts = generator.integers(1, 9, (2, 200))
    raised = np.array([0, 1])
    places, representatives, new_keys, sums = groups.roll_up(
        tuples,
        np.arange(200, dtype=np.int32),
        keys,
        amounts,
        shifts,
        raised,
        np.zeros(2, np.int64),
        starts[raised],
        starts[raised] + sizes[raised],
        sizes[raised],
        np.empty(0, np.int64),
        groups.room_for(1, 200),
    )
    seen = [(a // 2, b // 2, c) for a, b, c in tuples.T.tolist()]
    expected, firsts = numbered(seen)
    assert (places.tolist(), representatives.tolist()) == (expected, firsts)
    assert new_keys.shape == (1, len(firsts))
    for row in range(2):
        totals = Counter()
        for place, amount in zip(expected, amounts[row].tolist(), strict=True):
            totals[place] += amount
        assert sums[row].tolist() == [totals[place] for place in range(len(firsts))]


def test_rolling_up_in_two_steps_is_rolling_up_at_once():
    generator = np.random.default_rng(4)
    tuples, shifts, starts, sizes, keys = small_table(generator)
    amounts = np.ones((1, 200), np.int64)
    everything = np.arange(200, dtype=np.int32)
    room = groups.room_for(1, 300)
    for one in room:
        one[...] = 7  # what was left there is not looked at

    def raised(representatives, keys, amounts, attributes):
        chosen = np.array(attributes)
        places, *others = groups.roll_up(
            tuples,
            representatives,
            keys,
            amounts,
            shifts,
            chosen,
            np.zeros(chosen.size, np.int64),
            starts[chosen],
            starts[chosen] + sizes[chosen],
            sizes[chosen],
            np.empty(0, np.int64),
            room,
        )
        return places.copy(), *others  # the room is used again

    at_once = raised(everything, keys, amounts, [1, 2])
    first = raised(everything, keys, amounts, [2])
    second = raised(*first[1:], [1])
    for one, other in zip(at_once[1:], second[1:], strict=True):
        assert one.tolist() == other.tolist()
    assert second[0][first[0]].tolist() == at_once[0].tolist()


@pytest.mark.parametrize(("size", "count"), [(3, 50), (1000, 50), (1, 5)])
def test_histograms_roll_up(size, count):
    generator = np.random.default_rng(size)
    owners = np.repeat(np.arange(count, dtype=np.int32), 4)
    values = generator.integers(0, size, owners.size).astype(np.int32)
    counts = generator.integers(1, 5, owners.size)
    places = generator.integers(0, 7, count).astype(np.int32)
    merged = groups.merge_pairs(places, owners, values, counts, 7, size)
    expected = Counter()
    for owner, value, amount in zip(owners, values, counts.tolist(), strict=True):
        expected[places[owner], value] += amount
    found = {(g, v): c for g, v, c in zip(*merged, strict=True)}
    assert len(found) == merged[0].size
    assert found == dict(expected)


def test_the_two_largest_counts():
    pairs = {0: [5], 1: [3, 3], 2: [1, 4, 2], 3: [7, 7, 7], 4: [2, 9]}
    owners = np.repeat(list(pairs), [len(one) for one in pairs.values()]).astype(np.int32)
    counts = np.concatenate(list(pairs.values()))
    order = np.random.default_rng(0).permutation(counts.size)
    first, second = groups.two_largest(owners[order], counts[order], 6)
    assert first.tolist() == [5, 3, 4, 7, 9, 0]
    assert second.tolist() == [0, 3, 2, 7, 2, 0]


def test_totals_over_chosen_groups():
    generator = np.random.default_rng(5)
    tuples, _, starts, _, _ = small_table(generator, 30)
    costs = generator.random(24)
    sizes = generator.integers(1, 5, 30)
    chosen = generator.random(30) < 0.5
    totals = groups.attribute_totals(
        tuples, np.arange(30, dtype=np.int32), sizes, chosen, costs, starts
    )
    expected = defaultdict(float)
    for group in np.flatnonzero(chosen):
        for attribute in range(3):
            cell = starts[attribute] + tuples[attribute, group]
            expected[attribute] += sizes[group] * costs[cell]
    assert totals == pytest.approx([expected[0], expected[1], expected[2]])
