"""Persons with all their records as wholes, where an intruder may join these.

Persons can look alike as wholes only if they have as many records. Those with most are taken
together until there are k, and keep as many records as the one with the fewest of them. Records of
a person are put in the order of the sorting operator, and persons compared record by record: a
person is a point that has every attribute once for each record.
"""

from __future__ import annotations

import numpy as np

from ontomask.arrays import Floats, Longs
from ontomask.data.grouping import group_rows
from ontomask.data.microdata import Microdata
from ontomask.errors import MethodError
from ontomask.kernels.records import Points, repeated_attributes
from ontomask.methods.points import Layout
from ontomask.privacy import PrivacyModel

__all__ = ["distinct_persons", "kept_lengths", "lists_of_records", "refuse_single_records"]


def refuse_single_records(
    microdata: Microdata, strata: tuple[str, ...], privacy: tuple[PrivacyModel, ...]
) -> None:
    """Refuse options that divide the records of a person, or look at each by itself."""
    for name, given in (("strata", strata), ("privacy", privacy)):
        if given:
            raise MethodError(
                f"{name} looks at single records, but column {microdata.schema.unit!r} says by "
                f"sequences that persons are masked with all their records; leave out {name}, or "
                "declare the column without sequences."
            )


def kept_lengths(counts: Longs, k: int) -> Longs:
    """How many records each person keeps, so that at least k keep as many."""
    order = np.argsort(-counts, kind="stable")
    descending, start = counts[order], 0
    kept = np.empty_like(counts)
    for end in (np.flatnonzero(np.diff(descending)) + 1).tolist():
        if end - start >= k and counts.size - end >= k:
            kept[order[start:end]] = descending[end - 1]
            start = end
    # the few with the fewest records need company, but not that of all who are left
    last = counts.size - k
    if last - start >= k:
        kept[order[start:last]] = descending[last - 1]
        start = last
    kept[order[start:]] = descending[-1]
    return kept


def lists_of_records(microdata: Microdata, order: Longs, k: int) -> list[Longs]:
    """For each number of records that persons keep, their records: a line for each person.

    Parameters
    ----------
    order
        All records, sorted: a person who keeps fewer keeps such from all over the list.
    """
    assert microdata.units is not None
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size)
    by_person = np.lexsort((ranks, microdata.units))
    _, starts, counts = np.unique(microdata.units[by_person], return_index=True, return_counts=True)
    lengths, lists = kept_lengths(counts, k), []
    for length in np.unique(lengths).tolist():
        own = lengths == length
        steps = (2 * np.arange(length) + 1) * counts[own, None] // (2 * length)
        lists.append(by_person[starts[own, None] + steps])
    return lists


def _persons_as_points(layout: Layout, records: Points, lists: Longs) -> Points:
    """Persons with equally many records, each a point with the attributes of all of them."""
    count, length = lists.shape
    every = lists.T.ravel()  # the first records of all persons, then the second ones, …
    codes, numbers = (
        one[:, every].reshape(-1, length, count).swapaxes(0, 1).reshape(-1, count)
        for one in (records.codes, records.numbers)
    )
    heads, lineages = repeated_attributes([coded.arrays for _, coded in layout.coded], length)
    return records._replace(
        # kernels are compiled for arrays that lie line by line
        codes=np.ascontiguousarray(codes),
        numbers=np.ascontiguousarray(numbers),
        heads=heads,
        lineages=lineages,
        gaps=np.tile(records.gaps, length),
        sizes=np.ones(count),
        weights=records.weights[lists].mean(axis=1),
        factors=np.ones(count),
        owners=records.owners[:0],
    )


def distinct_persons(
    layout: Layout, records: Points, lists: Longs, *, united: bool
) -> tuple[Points, Longs]:
    """Persons as points, those who are alike as one where they are `united`; and each one's."""
    points = _persons_as_points(layout, records, lists)
    if not united:
        return points, np.arange(len(lists))
    columns = [*points.codes, *(np.unique(one, return_inverse=True)[1] for one in points.numbers)]
    firsts, places = group_rows(columns, [int(one.max()) + 1 for one in columns])
    weights: Floats = np.bincount(places, weights=points.weights).astype(np.float64)
    return points._replace(
        codes=np.ascontiguousarray(points.codes[:, firsts]),
        numbers=np.ascontiguousarray(points.numbers[:, firsts]),
        sizes=np.bincount(places).astype(np.float64),
        weights=weights,
        factors=np.ones(firsts.size),
    ), places
