"""Products of rows with few entries and tables, added up in one order whoever adds them up.

Linear algebra would round them differently by the processor and by the number of its threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ontomask import arithmetic
from ontomask.arrays import Floats, Longs
from ontomask.kernels.blocks import in_blocks
from ontomask.kernels.compiling import compiled
from ontomask.sparse import SparseRows

__all__ = ["summed_rows", "total_of_product", "turned_product"]

LARGE = 2**22
"""So many products are added up by a kernel: for fewer it is not worth being compiled."""
SMALLEST_SHARE = 2**20
"""Products, or entries of a table, that are enough work for one more thread."""
NEAR = 2**16
"""So many entries of a table are gone through several times: they stay near the processor …"""
TOGETHER = 64
"""… and so do so many rows of a product, from where they are computed until they are used."""


def turned_product(rows: SparseRows, table: Floats) -> Floats:
    """The product of rows with few entries and a table, transposed."""
    turned = np.empty((table.shape[1], len(rows)))

    def take(first: int, last: int, product: Floats) -> None:
        turned[:, first:last] = product.T

    _multiply(rows, table, take)
    return turned


def total_of_product(rows: SparseRows, table: Floats, factors: Floats) -> float:
    """The sum over all entries of the product of rows and a table, each with its factor."""
    sums = np.empty(len(rows))

    def take(first: int, last: int, product: Floats) -> None:
        product *= factors[first:last]
        product.sum(axis=1, out=sums[first:last])

    _multiply(rows, table, take)
    return float(sums.sum())


def summed_rows(table: Floats, weights: Floats, power: int = 1) -> Floats:
    """The weighted sum of the entries of each row, raised to a power."""
    sums, together = np.empty(len(table)), max(1, NEAR // max(1, weights.size))

    def work(first: int, last: int) -> None:
        for start in range(first, last, together):
            some = slice(start, min(start + together, last))
            raised = table[some] if power == 1 else table[some] ** 2
            sums[some] = arithmetic.summed_rows(raised, weights)

    in_blocks(work, len(table), 1 + SMALLEST_SHARE // max(1, weights.size))
    return sums


def _multiply(rows: SparseRows, table: Floats, take: Callable[[int, int, Floats], None]) -> None:
    """Hand out the product of rows and a table, some rows at a time."""
    products = rows.columns.size * table.shape[1]
    other = np.require(table, np.float64, ["C_CONTIGUOUS", "WRITEABLE"])

    def work(first: int, last: int) -> None:
        for start in range(first, last, TOGETHER):
            end = min(start + TOGETHER, last)
            if products < LARGE:
                product = rows[np.arange(start, end)].times(other)
            else:
                product = np.zeros((end - start, other.shape[1]))
                _add_rows(rows.starts, rows.columns, rows.amounts, other, start, product)
            take(start, end, product)

    in_blocks(work, len(rows), 1 + len(rows) * SMALLEST_SHARE // max(1, products))


@compiled
def _add_rows(
    starts: Longs, columns: Longs, amounts: Floats, table: Floats, first: int, product: Floats
) -> None:
    """Add up the rows from `first` on; each takes its entries in their order."""
    for row in range(product.shape[0]):
        for entry in range(starts[first + row], starts[first + row + 1]):
            column, amount = columns[entry], amounts[entry]
            for place in range(product.shape[1]):
                product[row, place] += amount * table[column, place]
