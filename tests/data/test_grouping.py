"""Records with equal codes, against what NumPy finds by sorting whole rows."""

import numpy as np
import pytest

from ontomask import arrays, tallies
from ontomask.data import grouping
from ontomask.data.grouping import group_rows, group_sizes
from ontomask.data.tables import open_table

SIZES = {
    "few": [3] * 5,
    "more than are looked up quickly": [40] * 5,
    "many": [2**20] * 5,
    "short and long": [2, 2**20, 3, 2**33, 2],
    "one": [7],
}


@pytest.fixture(params=["large", "small"])
def stretched(request, monkeypatch):
    """Tables that are gone through in one stretch, and in many with little room for look-ups."""
    if request.param == "small":
        monkeypatch.setattr(arrays, "STRETCH", 7)
        for room in (grouping, tallies):
            monkeypatch.setattr(room, "NEAR", 50)
            monkeypatch.setattr(room, "FEW", 1)


def rows_of(sizes, count=400, known=50):
    generator = np.random.default_rng(len(sizes) + sizes[0])
    rows = np.array([generator.integers(0, size, known) for size in sizes])
    return rows[:, generator.integers(0, known, count)]


@pytest.mark.usefixtures("stretched")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_groups_are_numbered_by_their_codes(sizes):
    rows = rows_of(sizes)
    kept = rows.copy()
    kinds = [np.min_scalar_type(-size) for size in sizes]
    columns = [one.astype(kind) for one, kind in zip(rows, kinds, strict=True)]
    firsts, places = group_rows(iter(columns), sizes)
    known, expected, inverse = np.unique(rows, axis=1, return_index=True, return_inverse=True)
    assert firsts.tolist() == expected.tolist()
    assert places.tolist() == inverse.ravel().tolist()
    assert places.dtype == firsts.dtype == np.int64
    assert (rows[:, firsts] == known).all()
    assert (rows == kept).all()
    generator = np.random.default_rng(1)
    for counts in (None, generator.integers(0, 3, 400).astype(float)):  # some count for nobody
        weights = np.ones(400) if counts is None else counts
        summed = [weights[inverse.ravel() == place].sum() for place in range(known.shape[1])]
        assert group_sizes(iter(columns), sizes, counts).tolist() == summed


def test_grouping_survives_domains_too_large_to_pack():
    generator = np.random.default_rng(1)
    columns = [generator.integers(0, 3, 500).astype(np.int32) for _ in range(6)]
    firsts, places = group_rows(columns, [2**30] * 6)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert len(firsts) == len(set(rows))
    for record, place in enumerate(places):
        assert rows[firsts[place]] == rows[record]


@pytest.mark.usefixtures("stretched")
@pytest.mark.parametrize("width", [2, 30, 390])
def test_the_recount_finds_the_same_classes(width):
    """Its code is its own: it numbers classes by what is seen first, so only sizes are compared."""
    rows = np.random.default_rng(width).integers(0, width, (4, 400))
    table = open_table({f"c{place}": one.tolist() for place, one in enumerate(rows)})
    found = tallies.Rows(table, np.ones(400), np.ones(400)).classes(table.names)
    places = np.unique(rows, axis=1, return_inverse=True)[1].ravel()
    beside = set(zip(places.tolist(), found.tolist(), strict=True))
    assert len(beside) == np.unique(places).size == np.unique(found).size
