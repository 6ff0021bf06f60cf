"""The search for cells to star, in tables of any width."""

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.data.grouping import group_rows
from ontomask.methods import base, stars


def wide(columns, records=60):
    rng = np.random.default_rng(columns)
    values = rng.choice(["x", "y", "z"], (columns, records), p=[0.97, 0.02, 0.01])
    return pl.DataFrame({f"c{place}": row for place, row in enumerate(values)})


@pytest.mark.parametrize("columns", [9, 62, 63, 64, 70])
def test_any_number_of_columns_can_be_starred(columns, monkeypatch):
    monkeypatch.setattr(base, "POLLED_EVERY", 0.0)
    frame, shares = wide(columns), []
    release = om.protect(
        frame,
        om.Schema(**{name: om.Flat() for name in frame.columns}),
        om.LocalSuppression(k=4),
        seed=1,
        progress=lambda share, _: shares.append(share),
    )
    counts = release.frame.group_by(frame.columns).len()["len"]
    assert counts.min() >= 4
    stars = release.frame.null_count().row(0)
    assert sum(stars) == release.details[0]["cells"] < 0.9 * columns * len(frame)
    known = release.frame.fill_null("-").rows()
    for row, own in zip(frame.rows(), known, strict=True):
        assert all(new in (old, "-") for old, new in zip(row, own, strict=True))
    # whoever watches is told while cells are looked for
    assert len({*shares}) > 20
    assert shares == sorted(shares)


@pytest.mark.parametrize("columns", [1, 2, 5, 11])
def test_records_are_numbered_as_all_columns_without_stars_number_them(columns):
    codes = np.random.default_rng(3).integers(0, 3, (columns, 200)).astype(np.int32)
    search = stars._Search(codes, np.ones(200), np.ones(columns), 3)
    assert search.sets[-1] == 2**columns - 1
    for pattern, starred in enumerate(search.sets):
        kept = [codes[place] for place in range(columns) if not starred >> place & 1]
        expected = group_rows(kept, [3] * len(kept))[1] if kept else np.zeros(200)
        assert search.keys(pattern).tolist() == expected.tolist()
