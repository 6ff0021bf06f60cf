"""Large tables cut into blocks that are clustered apart, on all cores."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import numpy as np

from ontomask.arrays import Ints, Longs
from ontomask.checks import AnyOf, Integer, Null
from ontomask.errors import MethodError
from ontomask.kernels.records import Points, select_points
from ontomask.kernels.seams import cut_points
from ontomask.methods.base import Context, watched_parts

__all__ = [
    "BlockSize",
    "around_clusters",
    "blocks_of",
    "check_blocks",
    "in_every",
    "members_of",
    "numbered",
]

WHOLE_UP_TO = 200_000
USUAL = 50_000
"""Tables of so many tuples are clustered as a whole; larger ones in blocks of this size, …"""
CLUSTERS = 200
"""… but of so many clusters at least: the larger they are, the more reach over a seam."""
PIECES = 16
"""Into about so many they are cut first; the rest of the cutting looks at each more closely."""

BlockSize = Annotated[
    int | None,
    AnyOf(Integer(2), Null()),
    "How many tuples (or records, where these are clustered) are clustered together at most. Where "
    "there are more, they are cut into blocks along seams that part few near ones, and the blocks "
    "are clustered apart, on all cores; the same blocks whatever the number of cores. By default "
    "50,000, or 200 times k if that is more, where there are more than 200,000.",
]

Result = TypeVar("Result")


def blocks_of(
    points: Points,
    parts: Sequence[Longs],
    k: int,
    block_size: int | None,
    details: dict[str, object],
) -> list[Longs]:
    """Cut parts of a table where they are too large; the details say so."""
    size = points.weights.size
    most = block_size or (max(USUAL, CLUSTERS * k) if size > WHOLE_UP_TO else size)
    blocks = _cut(points, parts, most, 2.0 * k)
    if len(blocks) > len(parts):
        details.update(block_size=most, blocks=len(blocks))
    return blocks


def _cut(points: Points, parts: Sequence[Longs], most: int, least: float) -> list[Longs]:
    """Cut parts into blocks: very large ones first into pieces, each of which is scouted anew."""
    size = points.weights.size
    if size <= WHOLE_UP_TO:
        return cut_points(points, parts, most, least)
    pieces = cut_points(points, parts, max(most, size // PIECES), least)
    return cut_points(points, pieces, most, least)


def around_clusters(points: Points, labels: Ints, parts: Sequence[Longs]) -> list[Longs]:
    """Blocks of whole clusters, to look at them once more: the seams between parts lie inside."""
    firsts = np.unique(labels, return_index=True)[1]
    # a point of each cluster stands for it
    chosen = select_points(points, firsts)._replace(owners=np.empty(0, np.int64))
    largest = max(members.size for members in parts)
    former, most = _numbers(parts)[firsts], max(2, largest * firsts.size // labels.size)
    blocks = _numbers(cut_points(chosen, [np.arange(firsts.size)], most, 2.0, former))
    return members_of(blocks[labels])


def members_of(classes: Longs) -> list[Longs]:
    """The points of each class."""
    bounds = np.cumsum(np.bincount(classes))[:-1]
    return np.split(np.argsort(classes, kind="stable"), bounds)


def _numbers(parts: Sequence[Longs]) -> Longs:
    """For each point the number of its part."""
    numbers = np.empty(sum(members.size for members in parts), np.int64)
    for number, members in enumerate(parts):
        numbers[members] = number
    return numbers


def in_every(
    parts: Sequence[Longs],
    work: Callable[[Longs, Longs], Result],
    total: float | None,
    context: Context,
    message: str,
) -> list[Result]:
    """Call ``work(members, signal)`` for every part; by default a part's total is its size."""
    return watched_parts(
        [functools.partial(work, members) for members in parts],
        totals=[float(members.size) if total is None else total for members in parts],
        context=context,
        message=message,
        efforts=[members.size for members in parts],
    )


def numbered(parts: Sequence[Longs], found: Sequence[Ints]) -> Ints:
    """The clusters found in every part as those of all points, numbered one part after another."""
    labels, behind = np.empty(sum(members.size for members in parts), np.int32), 0
    for members, own in zip(parts, found, strict=True):
        labels[members] = own + behind
        behind += int(own.max()) + 1
    return labels


def check_blocks(block_size: int | None, privacy_by: str) -> None:
    """Refuse blocks where clusters need records from the whole table."""
    if block_size is not None and privacy_by != "merge":
        raise MethodError(
            f"privacy_by={privacy_by!r} spreads the sensitive values of the whole table over the "
            "clusters, so it cannot be cut into blocks; leave out block_size, or use "
            "privacy_by='merge'."
        )
