"""Sparse rows against SciPy: the same bits, since entries are added up in their order."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ontomask import sparse as own


def drawn(
    seed: int, rows: int, width: int, share: float
) -> tuple[own.SparseRows, sparse.csr_array]:
    generator = np.random.default_rng(seed)
    table = np.where(
        generator.random((rows, width)) < share, generator.normal(size=(rows, width)), 0
    )
    owners, columns = np.nonzero(table)
    amounts = table[owners, columns]
    return own.SparseRows.of(owners, columns, amounts, table.shape), sparse.csr_array(table)


SHAPES = [(0, 3, 1.0), (3, 0, 1.0), (1, 1, 1.0), (40, 7, 0.2), (7, 300, 0.9), (50, 60, 0.02)]


@pytest.mark.parametrize(("rows", "width", "share"), SHAPES)
def test_products_have_the_same_bits(rows, width, share, monkeypatch):
    mine, theirs = drawn(1, rows, width, share)
    generator = np.random.default_rng(2)
    right, vector = generator.normal(size=(width, 9)), generator.normal(size=width)
    np.testing.assert_array_equal(mine.dense(), theirs.toarray())
    np.testing.assert_array_equal(mine.times(vector), theirs @ vector)
    left = generator.normal(size=rows)
    np.testing.assert_array_equal(mine.gathered(left), theirs.T @ left)
    for cells in (own.CELLS, 20):
        monkeypatch.setattr(own, "CELLS", cells)
        np.testing.assert_array_equal(mine.times(right), theirs @ right)


def test_rows_are_taken_in_any_order_and_more_than_once():
    mine, theirs = drawn(3, 12, 8, 0.3)
    rows = np.array([4, 4, 0, 11])
    np.testing.assert_array_equal(mine[rows].dense(), theirs.toarray()[rows])
    assert mine[rows[:0]].dense().shape == (0, 8)


@pytest.mark.parametrize(("rows", "width", "share"), SHAPES)
def test_single_entries_are_found_in_any_order(rows, width, share):
    mine, theirs = drawn(4, rows, width, share)
    entries = np.random.default_rng(5).permutation(mine.columns.size)
    entries = entries[np.argsort(mine.owners[entries], kind="stable")]
    mixed = own.SparseRows(mine.starts, mine.columns[entries], mine.amounts[entries], width)
    places = np.random.default_rng(6).permutation(rows * width)
    found = mixed.at(places // max(1, width), places % max(1, width))
    np.testing.assert_array_equal(found, theirs.toarray().ravel()[places])
    np.testing.assert_array_equal(mixed.turned().dense(), theirs.toarray().T)
    assert len(mixed.turned()) == width


@pytest.mark.parametrize("share", [0.0, 0.01, 0.02, 0.05, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_what_is_joined_is_what_scipy_finds_connected(seed, share):
    mine, theirs = drawn(seed, 60, 40, share)
    graph = sparse.block_array([[None, theirs.T], [theirs, None]])
    expected = connected_components(graph, directed=False)[1]
    np.testing.assert_array_equal(np.concatenate(own.joined_by(mine)), expected)


def test_a_long_chain_is_one_group():
    """Each row joins two neighbors, told in an order that lets numbers travel slowly."""
    links = np.random.default_rng(0).permutation(999)
    columns = np.column_stack([links, links + 1]).ravel()
    owners = np.repeat(np.arange(999), 2)
    chain = own.SparseRows.of(owners, columns, np.ones(1998), (999, 1000))
    assert not np.concatenate(own.joined_by(chain)).any()
