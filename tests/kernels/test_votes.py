from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from ontomask.kernels.groups import members
from ontomask.kernels.votes import vote


def counted(groups, values, sizes, kept):
    """The same in plain Python."""
    found = [0] * 6
    for group in set(groups):
        every, stays = Counter(), Counter()
        for owner, value, size, stay in zip(groups, values, sizes, kept, strict=True):
            if owner == group:
                every[value] += size
                stays[value] += size * stay
        largest = sorted([0, 0, *stays.values()])[-2:]
        left = sum(stays.values())
        found[0] += sum(every.values()) - max(every.values())
        found[1] += left - largest[1]
        found[2] += (left - largest[1]) * (largest[1] > largest[0])
        found[3] += left * (largest[1] == largest[0])
        if not left:
            found[4] += sum(every.values())
            found[5] += max(every.values())
    return found


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.0])
def test_votes_against_plain_python(share):
    generator = np.random.default_rng(4)
    for width in (1, 2, 5):
        groups = generator.permutation(np.repeat(np.arange(9), 3)).astype(np.int32)
        values = generator.integers(0, width, 27).astype(np.int32)
        sizes, kept = generator.integers(1, 4, 27), generator.random(27) < share
        found = vote(*members(groups, np.ones(9, bool)), values, sizes, kept, width)
        given = (one.tolist() for one in (groups, values, sizes, kept))
        assert found.tolist() == counted(*given)


def test_members_of_some_groups():
    starts, order = members(np.array([2, 0, 1, 0, 2], np.int32), np.array([True, False, True]))
    assert starts.tolist() == [0, 2, 2, 4]
    assert order.tolist() == [1, 3, 0, 4]
