"""Questions about all concepts at once, against walks along the links of single ones."""

from itertools import pairwise

import numpy as np
import pytest

from ontomask.kernels import concepts, stretches

DRAWN = 12


def drawn(seed):
    """Parents of concepts that are numbered from parent to child, several for many."""
    generator = np.random.default_rng(seed)
    return [
        sorted({int(generator.integers(child)) for _ in range(generator.integers(1, 4))})
        if child
        else []
        for child in range(DRAWN + seed)
    ]


def laid_out(parents):
    offsets = np.cumsum([0, *map(len, parents)])
    return offsets, np.array([one for above in parents for one in above], np.int32)


def ways(parents, concept):
    """The lengths of all ways up to each ancestor."""
    found = {concept: {0}}
    for above in parents[concept]:
        for ancestor, lengths in ways(parents, above).items():
            found.setdefault(ancestor, set()).update(1 + length for length in lengths)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_ancestors_depths_and_totals_are_those_of_single_walks(seed):
    parents = drawn(seed)
    links, count = laid_out(parents), len(parents)
    walked = [ways(parents, concept) for concept in range(count)]
    asked = np.array([5, 0, count - 1, 5], np.int32)
    offsets, members, ups = concepts.ancestor_sets(*links, asked)
    found = [
        list(zip(members[start:stop].tolist(), ups[start:stop].tolist(), strict=True))
        for start, stop in pairwise(offsets)
    ]
    assert found == [
        [(ancestor, min(walked[one][ancestor])) for ancestor in sorted(walked[one])]
        for one in asked.tolist()
    ]
    children = concepts.transpose(*links, count)
    for root in (0, 3):
        longest = [1 + max(one[root]) if root in one else 0 for one in walked]
        assert concepts.depths_below(*children, root).tolist() == longest
    assert concepts.longest_depths(links[0], *children).tolist() == [
        1 + max(max(lengths) for lengths in one.values()) for one in walked
    ]
    amounts = np.arange(count) % 3 * 0.1
    assert concepts.ancestor_totals(*links, amounts).tolist() == [
        sum(amounts[low] for low in range(count) if high in walked[low]) for high in range(count)
    ]


def test_sums_are_the_same_however_many_concepts_are_listed_at_once(monkeypatch):
    links, amounts = laid_out(drawn(5)), np.linspace(0.1, 0.7, DRAWN + 5)
    at_once = concepts.ancestor_totals(*links, amounts)
    monkeypatch.setattr(concepts, "MOST_CONCEPTS", 3)
    assert concepts.ancestor_totals(*links, amounts).tolist() == at_once.tolist()


def test_children_are_listed_in_order_and_nothing_on_or_below_a_circle_has_a_depth():
    parents = [[], [0], [1, 4], [2], [3], [0, 2]]
    links = laid_out(parents)
    offsets, children = concepts.transpose(*links, len(parents))
    assert [children[a:b].tolist() for a, b in pairwise(offsets)] == [
        [child for child, above in enumerate(parents) if one in above] for one in range(6)
    ]
    assert concepts.longest_depths(links[0], offsets, children).tolist() == [1, 2, 0, 0, 0, 0]


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("seed", range(6))
def test_what_all_pairs_share_is_what_their_ancestors_have_in_common(seed, threads, monkeypatch):
    monkeypatch.setenv("ONTOMASK_THREADS", threads)
    monkeypatch.setattr(concepts, "LEAST_PAIRS", 1)
    parents, generator = drawn(seed), np.random.default_rng(seed)
    count = len(parents)
    sets = concepts.ancestor_sets(*laid_out(parents), np.arange(count))
    columns = generator.permutation(count)[: count // 2]
    some = concepts.ancestor_sets(*laid_out(parents), columns)
    curve = generator.random((2, 3, count + 1))
    first, second = generator.integers(2, size=count), generator.integers(3, size=columns.size)
    starts = np.arange(count + 1) * columns.size
    every, told = np.empty(0, np.int64), (count, False, curve, first, second)
    found = concepts.shared_entries(sets, some, starts, every, *told)
    above = [set(ways(parents, concept)) for concept in range(count)]
    assert found.tolist() == [
        curve[first[row], second[place], len(above[row] & above[column])]
        for row in range(count)
        for place, column in enumerate(columns)
    ]
    listed = np.tile(np.arange(columns.size), count)
    assert concepts.shared_entries(sets, some, starts, listed, *told).tolist() == found.tolist()


@pytest.mark.parametrize("seed", range(6))
def test_stretches_hold_just_the_concepts_below_an_ancestor(seed):
    parents = drawn(seed)
    links, count = laid_out(parents), len(parents)
    asked = np.array([5, 0, count - 1, 7, 3], np.int32)
    offsets, members, _ = concepts.ancestor_sets(*links, asked)
    # a set without any ancestor is below none
    offsets = np.append(offsets, offsets[-1])
    order = stretches.branch_order(offsets, members)
    assert sorted(order.tolist()) == [*range(asked.size + 1)]
    above = [*(set(ways(parents, one)) for one in asked.tolist()), set()]
    for given, places in (None, range(asked.size + 1)), (order, order.tolist()):
        wholes = stretches.stretches_below(offsets, members, count, given)
        for ancestor, (start, stop) in enumerate(pairwise(wholes[: count + 1].tolist())):
            pairs = wholes[start:stop].reshape(-1, 2).tolist()
            found = [place for first, last in pairs for place in range(first, last)]
            assert found == [place for place, one in enumerate(places) if ancestor in above[one]]


def test_what_is_below_an_ancestor_of_a_tree_lies_in_one_stretch():
    parents = [[], *([(child - 1) // 3] for child in range(1, 60))]
    offsets, members, _ = concepts.ancestor_sets(*laid_out(parents), np.arange(60))
    order = stretches.branch_order(offsets, members)
    wholes = stretches.stretches_below(offsets, members, 60, order)
    assert np.diff(wholes[:61]).tolist() == [2] * 60


def test_large_sets_are_ordered_by_their_first_ancestors(monkeypatch):
    monkeypatch.setattr(stretches, "LETTERS", 2)
    offsets, members = np.array([0, 4, 5, 8]), np.array([0, 3, 4, 5, 0, 0, 2, 9])
    assert stretches.branch_order(offsets, members).tolist() == [1, 2, 0]
