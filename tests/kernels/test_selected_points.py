"""Points that are chosen among others, and the reference nearest to one of them."""

from __future__ import annotations

import numpy as np

from ontomask.kernels.records import (
    Attribute,
    Points,
    distances,
    nearest_references,
    pack_points,
    select_points,
)

TABLE = np.array([[0.0, 0.4, 1.0], [0.4, 0.0, 0.7], [1.0, 0.7, 0.0]])
CODES = np.array([[0, 1, 2, 1, 0]], np.int32)
NUMBERS = np.array([[0.0, 1.5, np.nan, 0.2, 3.0]])


def packed(places: list[int]) -> Points:
    rows = np.arange(3, dtype=np.int32)
    offsets = np.arange(4, dtype=np.int64)
    attribute = Attribute(TABLE, TABLE, rows, np.ones(3, np.int32), offsets, rows, 1, -1)
    ones = np.ones(len(places))
    sizes, weights = ones + np.array(places), ones / (1 + np.array(places))
    return pack_points(
        [attribute], CODES[:, places], NUMBERS[:, places], sizes, weights, ones, np.ones(1), 1
    )


def test_chosen_points_are_as_if_packed_alone() -> None:
    places = [3, 0, 2]
    chosen = select_points(packed([0, 1, 2, 3, 4]), np.array(places))
    for one, other in zip(chosen, packed(places), strict=True):
        np.testing.assert_array_equal(one, other)
    reference, numbers = np.array([1], np.int32), np.array([0.5])
    expected = distances(packed(places), reference, numbers)
    np.testing.assert_array_equal(distances(chosen, reference, numbers), expected)


def test_one_point_finds_what_all_find_together() -> None:
    points = packed([0, 1, 2, 3, 4])
    rows, numbers = np.array([[2], [0], [0]], np.int32), np.array([[0.0], [0.1], [0.1]])
    together = nearest_references(points, np.arange(5), rows, numbers)
    alone = [int(nearest_references(points, np.array([i]), rows, numbers)[0]) for i in range(5)]
    assert together.tolist() == alone
    # by hand: 0.1 against 1.0; 0.4 + 1.4 against 0.7 + 1.5; 0 against 1
    assert alone[:3] == [1, 1, 0]
