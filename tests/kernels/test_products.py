import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontomask.kernels import products
from ontomask.sparse import SparseRows


def some_rows(seed, count, width):
    draw = np.random.default_rng(seed)
    dense = np.where(draw.random((count, width)) < 0.4, draw.random((count, width)), 0.0)
    owners, columns = np.nonzero(dense)
    return dense, SparseRows.of(owners, columns, dense[owners, columns], (count, width))


@given(st.integers(0, 2**32 - 1), st.integers(1, 150), st.integers(1, 12), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_products_are_those_of_the_whole_matrices(seed, count, width, columns):
    dense, rows = some_rows(seed, count, width)
    draw = np.random.default_rng(seed)
    table, factors = draw.random((width, columns)), draw.random((count, columns))
    turned = products.turned_product(rows, table)
    np.testing.assert_allclose(turned, (dense @ table).T, rtol=1e-12)
    total = math.fsum((factors * (dense @ table)).ravel())
    assert products.total_of_product(rows, table, factors) == pytest.approx(total)


@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_kernel_numpy_and_threads_add_up_in_the_same_order(monkeypatch, threads):
    _, rows = some_rows(5, 200, 40)
    draw = np.random.default_rng(6)
    table, factors = draw.random((40, 30)), draw.random((200, 30))
    monkeypatch.setenv("ONTOMASK_THREADS", "1")
    turned = products.turned_product(rows, table)
    total = products.total_of_product(rows, table, factors)
    sums = products.summed_rows(factors, table[0], 2)
    monkeypatch.setenv("ONTOMASK_THREADS", threads)
    monkeypatch.setattr(products, "LARGE", 0)
    monkeypatch.setattr(products, "SMALLEST_SHARE", 0)
    monkeypatch.setattr(products, "NEAR", 60)
    assert products.turned_product(rows, table).tobytes() == turned.tobytes()
    assert products.total_of_product(rows, table, factors) == total
    assert products.summed_rows(factors, table[0], 2).tobytes() == sums.tobytes()


def test_sums_of_rows_are_weighted_and_raised():
    table = np.array([[1.0, 2.0], [3.0, 4.0]])
    weights = np.array([1.0, 10.0])
    assert products.summed_rows(table, weights).tolist() == [21.0, 43.0]
    assert products.summed_rows(table, weights, 2).tolist() == [41.0, 169.0]
    assert products.summed_rows(np.empty((0, 0)), np.empty(0)).size == 0


def test_rows_without_entries_and_tables_without_columns():
    rows = SparseRows.of(*(np.empty(0, np.int64) for _ in range(2)), np.empty(0), (3, 2))
    assert products.turned_product(rows, np.ones((2, 4))).tolist() == [[0.0] * 3] * 4
    assert products.total_of_product(rows, np.ones((2, 4)), np.ones((3, 4))) == 0.0
