"""What a concept has in common with all others, counted in one pass.

Sets of ancestors lie one after the other, each at its *place*. Those that have an ancestor in
common lie in a few *stretches* of places, in one where sets are ordered by their ancestors, as
words are by their letters, and concepts have one parent each. So what a concept shares with all
others is one more from where a stretch of one of its ancestors begins, and one less from where it
ends: `steps` from each place to the next, of which there is one more than places.

What follows from it is read along the places from a flat array of *curves*: from a start, the
concept's own, at a distance that says the kind of each place, and as far again as there are common
ancestors. Whole numbers lie in one array, `wholes`, as in `formulas`; others say where in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontomask.arrays import Ints, Longs, offsets_of, ranges
from ontomask.kernels.compiling import part, unsigned

__all__ = ["branch_order", "read_along", "step_below", "stretches_below"]

LETTERS = 64
"""Of larger sets so many ancestors say where they lie: any order is right, and few are larger."""


def branch_order(offsets: Longs, members: Longs | Ints) -> Longs:
    """The sets in an order in which those below an ancestor lie together, or in few stretches."""
    counts = np.minimum(np.diff(offsets), LETTERS)
    # ancestors ascend from the root down: in a tree, the order of words is that of branches
    words = np.zeros((counts.size, int(counts.max(initial=1))), ">i4")
    spots = ranges(np.zeros_like(counts), counts)
    words[np.repeat(np.arange(counts.size), counts), spots] = (
        members[ranges(offsets[:-1], counts)] + 1
    )
    return np.argsort(words.view(f"S{words.strides[0]}").ravel(), kind="stable")


def stretches_below(
    offsets: Longs, members: Longs | Ints, size: int, order: Longs | None = None
) -> Longs:
    """For each of `size` ancestors, and behind the last, where its stretches start; then these.

    Of a stretch there are its first place and the one behind its last. Sets lie as they are given,
    or in another order.
    """
    counts = np.diff(offsets)
    if order is not None:
        members, counts = members[ranges(offsets[order], counts[order])], counts[order]
    found = np.repeat(np.arange(counts.size), counts)
    by_ancestor = np.argsort(members, kind="stable")
    owners, found = members[by_ancestor], found[by_ancestor]
    begins = np.ones(found.size, bool)
    begins[1:] = (owners[1:] != owners[:-1]) | (found[1:] != found[:-1] + 1)
    ends = np.append(begins[1:], True)[: found.size]
    bounds = np.stack([found[begins], found[ends] + 1], axis=1).ravel()
    return np.concatenate([size + 1 + 2 * offsets_of(owners[begins], size), bounds])


@part
def step_below(wholes: Longs, starts: int, ancestor: int, step: int, steps: Ints) -> None:
    """Let all places below an ancestor share one more, or one less."""
    above = starts + ancestor
    for stretch in range(wholes[above], wholes[above + 1], 2):
        steps[unsigned(wholes[stretch])] += step
        steps[unsigned(wholes[stretch + 1])] -= step


@part
def read_along(
    curves: NDArray[Any],
    start: int,
    wholes: Longs,
    kinds: int,
    steps: Ints,
    result: NDArray[Any],
    first: int,
) -> None:
    """Write what follows from all that is shared, by place, from the first entry of a result on."""
    beside, behind = unsigned(kinds), unsigned(first)
    for step in range(steps.size - 1):
        place = unsigned(step)
        start += steps[place]
        result[behind + place] = curves[unsigned(start + wholes[beside + place])]
