"""The lowest levels of two attributes, against counting every pair of levels."""

import numpy as np
import pytest

from ontomask.kernels.projections import lowest_levels

OWN = np.array([[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 0, 0]], np.int32)
OTHER = np.array([[0, 1, 2], [0, 1, 1], [0, 0, 0]], np.int32)


def counted(rows, others, amounts, k, limit):
    """The same, by looking at every pair of levels."""
    lowest = []
    for own in OWN:
        few = []
        for other in OTHER:
            sizes: dict[tuple[int, int], int] = {}
            for row, second, amount in zip(rows, others, amounts, strict=True):
                key = own[row], other[second]
                sizes[key] = sizes.get(key, 0) + amount
            few.append(sum(size for size in sizes.values() if size < k) <= limit)
        lowest.append(few.index(True) if True in few else len(OTHER))
    return lowest


@pytest.mark.parametrize("k", [1, 2, 5, 40])
@pytest.mark.parametrize("limit", [0, 3, 12])
def test_levels_below_the_lowest_have_too_many_failing_records(k, limit):
    for seed in range(8):
        generator = np.random.default_rng(seed)
        rows, others = (generator.integers(0, size, 12).astype(np.int32) for size in (6, 3))
        amounts = generator.integers(1, 4, 12)
        lowest = lowest_levels(rows, others, amounts, OWN, OTHER, k, limit).tolist()
        assert lowest == counted(rows, others, amounts, k, limit)


def test_no_level_is_high_enough_where_all_records_are_too_few():
    rows, others = np.array([0, 5], np.int32), np.array([2, 0], np.int32)
    assert lowest_levels(rows, others, np.array([1, 1]), OWN, OTHER, 3, 1).tolist() == [3, 3, 3]
