"""Functions and sums that are rounded alike whatever the processor.

NumPy computes logarithms and powers by the instructions that it finds, and the library of linear
algebra adds up in the order that suits them. The last bits differ, and where two distances are
equal but for these, a release does. Here logarithms and exponentials are made of sums and products
(`elementary`), rarer functions are those of the C library, number by number, and sums are those of
NumPy, whose order depends on the shape of the arrays alone. Sums, differences, products, quotients
and square roots of two numbers are rounded by the standard, everywhere.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontomask.arrays import PIECE, STRETCH, Floats
from ontomask.elementary import BASE_2, BASE_10, NATURAL, Base, exponentials, logarithms

__all__ = [
    "combined",
    "cosine",
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "power_of_two",
    "raised",
    "row_products",
    "sine",
    "summed_columns",
    "summed_logarithms",
    "summed_products",
    "summed_rows",
]

FACTORS = 256
"""So many numbers between 1/2 and 1 are multiplied at a time."""

ONES = 4096
"""Logarithms of so many single numbers are remembered: to start anything for one takes longer."""

Numbers = NDArray[Any] | float


# Functions ---------------------------------------------------------------------------------------


def log(numbers: Numbers) -> Floats:
    """Natural logarithms; of 0 minus infinity."""
    return _logarithms(numbers, NATURAL)


def log2(numbers: Numbers) -> Floats:
    """Logarithms to the base 2; of 0 minus infinity."""
    return _logarithms(numbers, BASE_2)


def log10(numbers: Numbers) -> Floats:
    """Logarithms to the base 10; of 0 minus infinity."""
    return _logarithms(numbers, BASE_10)


def _logarithms(numbers: Numbers, base: Base) -> Floats:
    if isinstance(numbers, float):
        one: Floats = _logarithm(numbers, base)
        return one
    return logarithms(np.asarray(numbers), base)


@functools.lru_cache(ONES)
def _logarithm(number: float, base: Base) -> Any:
    """That of a single number: distances of single pairs ask for the same few again and again."""
    return logarithms(np.asarray(number), base)[()]


def log1p(numbers: Numbers) -> Floats:
    """Natural logarithms of 1 more than finite numbers, exact near 0; of -1 minus infinity."""
    given = np.asarray(numbers, np.float64)
    more = 1.0 + given
    # what was lost in adding 1
    lost = given - (more - 1.0)
    return log(more) + lost / np.where(more == 0.0, 1.0, more)


def exp(numbers: Numbers) -> Floats:
    """Exponentials; infinite where they are too large."""
    return exponentials(np.asarray(numbers))


def expm1(numbers: Numbers) -> Floats:
    """Exponentials less 1 of numbers that are at most 0, exact near 0 (Kahan)."""
    given = np.asarray(numbers, np.float64)
    found = exp(given)
    # 1 is lost from the exponential as it is rounded, and from its logarithm alike
    near = (found != 1.0) & (found > 0.5)
    logarithm = np.where(near, log(np.where(near, found, 0.5)), 1.0)
    exact = np.where(found == 1.0, given, (found - 1.0) * given / logarithm)
    return np.where(found > 0.5, exact, found - 1.0)


def _each(function: Callable[[float], float], numbers: Numbers) -> Floats:
    given = np.asarray(numbers, np.float64)
    found = np.fromiter(map(function, given.ravel().tolist()), np.float64, given.size)
    return found.reshape(given.shape)


def sine(numbers: Numbers) -> Floats:
    """Sines of a few finite numbers."""
    return _each(math.sin, numbers)


def cosine(numbers: Numbers) -> Floats:
    """Cosines of a few finite numbers."""
    return _each(math.cos, numbers)


def power_of_two(exponents: Numbers) -> Floats:
    """Powers of 2 with whole exponents, which are exact."""
    return np.asarray(np.ldexp(1.0, np.asarray(exponents).astype(np.int64)), np.float64)


def raised(numbers: Numbers, exponents: Numbers) -> Floats:
    """A few numbers that are at least 0, raised to powers that are at least 0."""
    bases, powers = np.asarray(numbers, np.float64), np.asarray(exponents, np.float64)
    if bases.shape != powers.shape:  # which takes longer than to raise a few
        bases, powers = np.broadcast_arrays(bases, powers)
    found = map(math.pow, bases.ravel().tolist(), powers.ravel().tolist())
    return np.fromiter(found, np.float64, bases.size).reshape(bases.shape)


# Sums --------------------------------------------------------------------------------------------


def summed_products(numbers: NDArray[Any], others: NDArray[Any]) -> float:
    """The sum of what two arrays have at the same places, multiplied."""
    return float(np.multiply(numbers, others).sum())


def _blocks(rows: int, columns: int) -> list[slice]:
    """The rows of a table, so many at a time as lie near the processor together."""
    step = max(1, STRETCH // max(1, columns))
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def summed_logarithms(numbers: Floats) -> float:
    """The sum of the natural logarithms of positive numbers, which is that of their product."""
    fractions, powers = np.frexp(numbers)
    # so many halves have no product that is too small
    products = np.multiply.reduceat(fractions, np.arange(0, numbers.size, FACTORS))
    return float(log(products).sum()) + math.log(2.0) * float(powers.sum())


def summed_rows(table: NDArray[Any], weights: NDArray[Any]) -> Floats:
    """The weighted sum of each row's entries: a table times a vector."""
    sums = np.empty(len(table))
    for rows in _blocks(*table.shape):
        np.multiply(table[rows], weights, order="C").sum(axis=1, out=sums[rows])
    return sums


def summed_columns(
    weights: NDArray[Any], table: NDArray[Any], total: Floats | None = None
) -> Floats:
    """The weighted sum of each column's entries, row after row: a vector times a table.

    Where a total is given, they are added to it, as if its rows came before.
    """
    sums = np.zeros(table.shape[1]) if total is None else total
    for rows in _blocks(*table.shape):
        products = np.multiply(weights[rows, None], table[rows], order="C")
        products[0] += sums
        # along the first axis one row is added after the other
        products.sum(axis=0, out=sums)
    return sums


def row_products(rows: Floats, others: Floats) -> Floats:
    """What each row and each other row have at the same places, multiplied and added up.

    Where the others are the rows themselves, what is found is symmetric.
    """
    found = np.zeros((len(rows), len(others)))
    for start in range(0, rows.shape[1], PIECE):
        piece = slice(start, start + PIECE)
        for place, row in enumerate(rows[:, piece]):
            first = place if others is rows else 0
            products = np.multiply(row, others[first:, piece], order="C")
            found[place, first:] += products.sum(axis=1)
    return np.triu(found) + np.triu(found, 1).T if others is rows else found


def combined(factors: Floats, rows: Floats) -> Floats:
    """Sums of rows, each with its factor: a matrix times a matrix, row after row."""
    found = np.zeros((len(factors), rows.shape[1]))
    for own, row in zip(factors.T, rows, strict=True):
        for total, factor in zip(found, own.tolist(), strict=True):
            total += factor * row
    return found
