"""The cheapest partners found in a tree of cells are those that a look at every group finds."""

import numpy as np
import pytest

from ontomask.kernels import mergers
from ontomask.kernels.records import flat_owners
from ontomask.taxonomy.hierarchies import real_steps
from reference import generalization as slow


def drawn_ladder(generator, rooted):
    """Codes by level and row, nested; levels may repeat the one below, or end before the root."""
    ladder = [generator.permutation(int(generator.integers(2, 9)))]
    for _ in range(generator.integers(1, 4)):
        below = ladder[-1]
        united = generator.integers(0, max(1, below.max()), below.max() + 1)
        ladder.append(np.unique(united[below], return_inverse=True)[1])
    if rooted:
        ladder.append(np.zeros_like(ladder[0]))
    return np.array(ladder, np.int32)


def laid_out(ladders):
    sizes = [one.size for one in ladders]
    return mergers.Ladders(
        np.concatenate([one.ravel() for one in ladders]),
        np.concatenate([real_steps(one).ravel() for one in ladders]),
        np.cumsum([0, *sizes])[:-1].astype(np.int64),
        np.array([one.shape[1] for one in ladders], np.int64),
        np.array([len(one) - 1 for one in ladders], np.int64),
    )


@pytest.mark.parametrize("whose", ["records", "persons"])
@pytest.mark.parametrize("look", [0, 2, 10**6], ids=["tree", "either", "scan"])
@pytest.mark.parametrize("seed", range(12))
def test_mergers_are_those_of_looks_at_every_group(seed, look, whose, monkeypatch):
    if not hasattr(mergers._merge, "py_func"):  # compiled kernels know the numbers as they were
        monkeypatch.setattr(mergers, "LOOK", look)
        monkeypatch.setattr(mergers, "TRIALS", 2)
    generator = np.random.default_rng(seed)
    ladders = [drawn_ladder(generator, seed % 4 > 0) for _ in range(generator.integers(1, 5))]
    rows = [generator.integers(0, one.shape[1], 45) for one in ladders]
    tuples, counts = np.unique(np.stack(rows, axis=1).astype(np.int32), axis=0, return_counts=True)
    sizes = counts.astype(np.int64)
    records = np.split(np.arange(45), np.cumsum(sizes)[:-1])
    owners, persons = [{*one.tolist()} for one in records], np.empty(0, np.int64)
    if whose == "persons":
        owners = [{*generator.integers(0, 20, len(one)).tolist()} for one in owners]
        starts = np.cumsum([0, *map(len, owners)])
        persons = flat_owners(starts, np.array([one for each in owners for one in sorted(each)]))
    levels, k = np.zeros(tuples.shape, np.int32), int(generator.integers(2, 7))
    plain = [one.tolist() for one in ladders]
    expected = slow.merged_smallest(tuples.tolist(), sizes.tolist(), owners, plain, k)
    signal = np.zeros(2, np.int64)
    ends = mergers.merge_smallest(tuples, levels, sizes, laid_out(ladders), persons, k, signal)
    assert (ends.tolist(), levels[ends].tolist()) == expected
    assert signal[0] == len(tuples) - len({*ends.tolist()})


def nested(values, fan):
    """A ladder in which so many become one from level to level, up to the root."""
    ladder = [np.arange(values)]
    while ladder[-1].max() > 0:
        ladder.append(ladder[-1] // fan)
    return np.array(ladder, np.int32)


@pytest.mark.compiled
@pytest.mark.parametrize(("values", "fan", "k"), [(9, 3, 4), (16, 2, 7), (6, 6, 3)])
def test_a_tree_that_is_no_help_is_not_searched_for_long(values, fan, k, monkeypatch):
    """Seven columns that have nothing to do with each other; every merger as by plain looks."""
    searches, prices, merge = [], [], mergers._merge

    def watched(ladders, tree, parts, *rest):
        length = merge(ladders, tree, parts, *rest)
        searches.append(tree.looks[0])
        prices.append(parts.known[0])
        return length

    monkeypatch.setattr(mergers, "_merge", watched)
    generator = np.random.default_rng(values)
    ladders = [nested(values, fan)] * 7
    drawn = generator.integers(0, values, (160, 7)).astype(np.int32)
    tuples, counts = np.unique(drawn, axis=0, return_counts=True)
    sizes, levels = counts.astype(np.int64), np.zeros(tuples.shape, np.int32)
    everybody = iter(range(160))
    owners = [{next(everybody) for _ in range(size)} for size in counts]
    plain = [one.tolist() for one in ladders]
    expected = slow.merged_smallest(tuples.tolist(), counts.tolist(), owners, plain, k)
    given = levels, sizes, laid_out(ladders), np.empty(0, np.int64), k, np.zeros(2, np.int64)
    ends = mergers.merge_smallest(tuples, *given)
    assert (ends.tolist(), levels[ends].tolist()) == expected
    assert searches[0] == mergers.TRIALS
    # what is common to many groups has one price
    assert max(prices) <= 7 * sum(np.unique(level).size for level in ladders[0])
