"""Eigenvectors, roots and solutions for the few columns of a table, rounded alike everywhere.

The library of linear algebra chooses its steps by the processor (see `arithmetic`), and a draw from
a covariance would differ by it. Here all is sums, products, quotients and square roots, which are
rounded by the standard.
"""

from __future__ import annotations

import numpy as np

from ontomask.arithmetic import combined
from ontomask.arrays import Floats, Longs

__all__ = ["eigenvectors", "lower_root", "solved"]

SWEEPS = 60
"""So many are enough by far: what is left is squared in each of them, once it is small."""


def eigenvectors(matrix: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues of a symmetric matrix, ascending, and its eigenvectors, one in each column.

    Jacobi (1846); pairs that have no member in common are turned together, as in a tournament
    where all meet all: Brent and Luk, "The solution of singular-value and symmetric eigenvalue
    problems on multiprocessor arrays" (1985).
    """
    held, turned = np.array((matrix + matrix.T) / 2.0, np.float64), np.eye(len(matrix))
    rounds = _tournament(len(matrix))
    with np.errstate(over="ignore"):  # what is infinitely steep is turned by nothing
        for _ in range(SWEEPS):
            if sum(_turn(held, turned, *pairs) for pairs in rounds) == 0:
                break
    values = held.diagonal()
    order = np.argsort(values, kind="stable")
    return values[order], turned[order].T.copy()


def _tournament(count: int) -> list[tuple[Longs, Longs]]:
    """Rounds of pairs in which each meets each other once: the first one stays, the rest moves."""
    seats = [*range(count), *[-1] * (count % 2)]
    rounds = []
    for _ in range(1, len(seats)):
        half = len(seats) // 2
        pairs = zip(seats[:half], seats[: half - 1 : -1], strict=True)
        meeting = [sorted(pair) for pair in pairs if min(pair) >= 0]
        one, other = np.array(meeting, np.int64).reshape(-1, 2).T
        rounds.append((one, other))
        seats[1:] = [seats[-1], *seats[1:-1]]
    return rounds


def _turn(held: Floats, turned: Floats, first: Longs, second: Longs) -> bool:
    """Turn the axes of all pairs so that nothing lies across; whether anything did."""
    across, ends = held[first, second], (held[first, first], held[second, second])
    sizes = np.abs([across, *ends])
    # less than rounding of what it is added to
    nothing = (sizes[1:] + sizes[0] == sizes[1:]).all(axis=0)
    steep = np.where(nothing, 0.0, ends[1] - ends[0]) / np.where(nothing, 1.0, 2.0 * across)
    tangent = np.where(steep < 0.0, -1.0, 1.0) / (np.abs(steep) + np.sqrt(steep * steep + 1.0))
    tangent[nothing] = 0.0
    cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
    sine = tangent * cosine
    for rows in (held, held.T, turned):
        one, other = rows[first], rows[second]
        rows[first] = cosine[:, None] * one - sine[:, None] * other
        rows[second] = sine[:, None] * one + cosine[:, None] * other
    held[first, second] = held[second, first] = 0.0
    return not nothing.all()


def lower_root(matrix: Floats) -> Floats:
    """The lower triangular root of a positive definite matrix (Cholesky)."""
    root = np.zeros_like(matrix)
    for place, row in enumerate(matrix):
        for other in range(place + 1):
            rest = row[other] - (root[place, :other] * root[other, :other]).sum()
            own = place == other
            root[place, other] = np.sqrt(rest) if own else rest / root[other, other]
    return root


def solved(matrix: Floats, right: Floats) -> Floats:
    """What a positive definite matrix is to be multiplied by to give the right side."""
    root, found = lower_root(matrix), np.array(right, np.float64)
    for place in range(len(root)):
        found[place] -= combined(root[None, place, :place], found[:place])[0]
        found[place] /= root[place, place]
    for place in reversed(range(len(root))):
        found[place] -= combined(root.T[None, place, place + 1 :], found[place + 1 :])[0]
        found[place] /= root[place, place]
    return found
