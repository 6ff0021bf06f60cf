"""Exponentials and logarithms out of sums and products, which every processor rounds alike.

Libraries of such functions round differently, and some by what the processor offers, so that the
last bit of a distance, and with it a tie, would depend on the machine. Here the arguments are
brought near 0 (exponentials) or 1 (logarithms) by powers of 2, in the way of Sun's fdlibm (1993),
and what is left are polynomials of few terms. Results are off by less than one unit in the
last place, and exact where they are whole numbers or powers of 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ontomask.arrays import PIECE, Floats

__all__ = ["BASE_2", "BASE_10", "NATURAL", "Base", "exponentials", "logarithms"]

LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
"""ln 2 in two parts; the first one times a whole number below 2^20 is exact."""
LN2 = LN2_HIGH + LN2_LOW
ROOT_OF_HALF = 0.7071067811865476
FARTHEST = 1100.0
"""Exponentials of numbers that are farther from 0 are infinite, or nothing."""
HIGH_HALF = np.uint64(0xFFFFFFFF00000000)
"""The bits that make a number one whose product with another such one is exact."""

COTH = (
    *(0.16666666666666616, -0.00277777777770536, 6.613756318584129e-05),
    *(-1.653389020614122e-06, 4.137484153104294e-08),
)
"""r coth(r / 2) is 2 and r^2 times a polynomial in r^2 with these coefficients, to within 4e-18 up
to ln 2 / 2: those of least error (Remez), near to those of the series, 1/6, -1/360, …"""
ARTANH = (
    *(0.666666666666671, 0.39999999999519825, 0.28571428729284787, 0.2222219909089343),
    *(0.1818357154116891, 0.15313164375089836, 0.14810519990693494),
)
"""2 artanh(s) is 2 s and s^3 times a polynomial in s^2 with these, to within 8e-19 for what the
logarithms of sqrt(1/2) to sqrt(2) need; the series has 2/3, 2/5, …"""


class Base(NamedTuple):
    """The base of a logarithm: what those of 2 and of e are in it, each in two parts."""

    of_two: tuple[float, float]
    of_e: tuple[float, float]


NATURAL = Base((LN2_HIGH, LN2_LOW), (1.0, 0.0))
BASE_2 = Base((1.0, 0.0), (1.4426946640014648, 3.768874985636099e-07))
BASE_10 = Base(
    (0.3010299955494702, 1.1451100898021838e-10), (0.4342944622039795, 1.9699272335463627e-08)
)


def exponentials(numbers: Floats) -> Floats:
    """E to the power of each number."""
    return _in_pieces(_exponentials, numbers)


def logarithms(numbers: Floats, base: Base = NATURAL) -> Floats:
    """Logarithms of numbers; of 0 minus infinity, of negative ones nothing."""
    return _in_pieces(lambda piece: _logarithms(piece, base), numbers)


def _in_pieces(function: Callable[[Floats], Floats], numbers: Floats) -> Floats:
    """A function of all numbers, of so many at a time as stay near the processor."""
    flat = np.ascontiguousarray(numbers, np.float64).ravel()
    found = np.empty(flat.size)
    with np.errstate(all="ignore"):  # what is outside of the domain is put right in the end
        for start in range(0, flat.size, PIECE):
            found[start : start + PIECE] = function(flat[start : start + PIECE])
    return found.reshape(np.shape(numbers))


def _series(coefficients: Sequence[float], number: Floats) -> Floats:
    """A polynomial without constant term, by Horner's rule."""
    value = number * coefficients[-1]
    for one in coefficients[-2::-1]:
        value += one
        value *= number
    return value


def _exponentials(numbers: Floats) -> Floats:
    """2^k exp(r) with x = k ln 2 + r, and exp(r) = 1 + 2 r / (r coth(r / 2) - r)."""
    given = np.clip(numbers, -FARTHEST, FARTHEST)
    powers = np.rint(given * (1.0 / LN2))
    high, low = given - powers * LN2_HIGH, powers * LN2_LOW
    rest = high - low
    apart = rest - _series(COTH, rest * rest)
    rest *= apart
    rest /= np.subtract(2.0, apart, out=apart)
    low -= rest
    low -= high
    np.subtract(1.0, low, out=low)
    # what is no number stays none, whatever power of 2 it is taken for
    return np.ldexp(low, powers.astype(np.int32))


def _logarithms(numbers: Floats, base: Base) -> Floats:
    """K log 2 + log(1 + f) with x = 2^k (1 + f), and ln(1 + f) = 2 artanh(f / (2 + f))."""
    fractions, powers = np.frexp(numbers)
    small = fractions < ROOT_OF_HALF
    powers -= small
    fractions += fractions * small
    beyond = fractions - 1.0
    tangent = beyond / np.add(beyond, 2.0, out=fractions)
    half = beyond * beyond
    half *= 0.5
    correction = _series(ARTANH, tangent * tangent)
    correction += half
    correction *= tangent
    return _in_base(base, powers.astype(np.float64), beyond, half, correction, numbers)


def _in_base(
    base: Base, powers: Floats, beyond: Floats, half: Floats, correction: Floats, numbers: Floats
) -> Floats:
    """K log 2 + log(1 + f), where ln(1 + f) = f - f^2 / 2 + correction."""
    # in two parts, of which the first one has few bits
    high = beyond - half
    high.view(np.uint64)[...] &= HIGH_HALF
    beyond -= high
    beyond -= half
    beyond += correction
    whole = powers * base.of_two[0]
    powers *= base.of_two[1]
    if base.of_e[1] != 0.0:
        powers += (beyond + high) * base.of_e[1]
        beyond *= base.of_e[0]
        high *= base.of_e[0]
    powers += beyond
    found = whole + high
    whole -= found
    whole += high
    powers += whole
    found += powers
    if not (numbers.min() > 0.0 and numbers.max() < np.inf):
        found[numbers == 0.0] = -np.inf
        found[numbers == np.inf] = np.inf
        found[numbers < 0.0] = np.nan
    return found
