"""Functions and sums: right, against exact ones, and added up in one order."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontomask import arithmetic
from ontomask.arithmetic import (
    combined,
    cosine,
    exp,
    expm1,
    log,
    log1p,
    log2,
    log10,
    power_of_two,
    raised,
    row_products,
    sine,
    summed_columns,
    summed_logarithms,
    summed_products,
    summed_rows,
)

LN = {name: Decimal(base).ln() for name, base in (("log2", 2), ("log10", 10))}
EXACT = {
    "log": lambda number: number.ln(),
    "log2": lambda number: number.ln() / LN["log2"],
    "log10": lambda number: number.ln() / LN["log10"],
    "log1p": lambda number: (1 + number).ln(),
    "exp": lambda number: number.exp(),
    "expm1": lambda number: number.exp() - 1,
}
UNITS = {"log": 0.8, "log2": 0.8, "log10": 0.8, "log1p": 1.5, "exp": 0.9, "expm1": 3.0}
"""How many units in the last place a result may be off; rounding alone is up to 0.5."""
generator = np.random.default_rng(5)
POSITIVE = np.concatenate(
    [
        generator.random(2000),
        1.0 + (generator.random(2000) - 0.5) * 1e-4,
        np.exp(generator.uniform(-700, 700, 2000)),
        2.0 - generator.integers(1, 30, 500) / generator.integers(30, 60, 500),
        [5e-324, 1e-310, 2.3e-308, 1.7e308],
    ]
)
SMALL = 10.0 ** generator.uniform(-18, -0.01, 2000)
GIVEN = {
    **dict.fromkeys(("log", "log2", "log10"), POSITIVE),
    "log1p": np.concatenate([SMALL, -SMALL, POSITIVE[:4000]]),
    "exp": np.concatenate([generator.uniform(-700, 700, 3000), SMALL, -SMALL]),
    "expm1": np.concatenate([-SMALL, generator.uniform(-60, 0, 2000)]),
}


@pytest.mark.parametrize("name", EXACT)
def test_functions_are_off_by_hardly_more_than_rounding(name):
    found = getattr(arithmetic, name)(GIVEN[name]).tolist()
    with localcontext(prec=60):
        for number, result in zip(GIVEN[name].tolist(), found, strict=True):
            exact = EXACT[name](Decimal(number))
            unit = Decimal(math.ulp(float(exact)))
            assert abs(Decimal(result) - exact) <= Decimal(UNITS[name]) * unit, number


def test_what_is_exact_is_exact():
    powers = np.arange(-1074, 1024)
    assert np.array_equal(log2(2.0**powers), powers)
    assert np.array_equal(power_of_two(powers), 2.0**powers)
    tens = [10.0**power for power in range(23)]
    assert log10(np.array(tens)).tolist() == [*range(23)]
    assert exp(np.array([0.0, -0.0])).tolist() == [1.0, 1.0]
    assert log(np.array([[1.0], [math.e]])).tolist() == [[0.0], [1.0]]
    assert expm1(np.array([0.0, -1e-300])).tolist() == [0.0, -1e-300]
    assert log1p(np.array([0.0, 1e-300])).tolist() == [0.0, 1e-300]


def test_the_ends_of_what_there_is():
    ends = np.array([0.0, -1.0, np.inf, -np.inf, np.nan])
    for logarithm in (log, log2, log10):
        np.testing.assert_array_equal(logarithm(ends), [-np.inf, np.nan, np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(log1p(ends[:2] * 1.0), [0.0, -np.inf])
    wide = np.array([1e300, -1e300, np.inf, -np.inf, np.nan, 709.78, -745.2])
    expected = [np.inf, 0.0, np.inf, 0.0, np.nan, math.exp(709.78), 0.0]
    np.testing.assert_allclose(exp(wide), expected, rtol=2e-16)
    np.testing.assert_array_equal(expm1(np.array([-np.inf, -800.0])), [-1.0, -1.0])
    assert log(np.empty((0, 3))).shape == (0, 3)
    assert float(log(math.e)) == 1.0


def test_single_numbers_have_the_logarithms_of_many():
    for logarithm in (log, log2, log10):
        some = POSITIVE[::7]
        assert [logarithm(one) for one in some.tolist()] == logarithm(some).tolist()
        assert logarithm(0.0) == -np.inf
        assert math.isnan(logarithm(-1.0))


@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=30), st.floats(0.0, 50.0))
def test_rarer_functions_are_those_of_the_c_library(numbers, power):
    given_ = np.array(numbers)
    assert sine(given_).tolist() == [math.sin(one) for one in numbers]
    assert cosine(given_).tolist() == [math.cos(one) for one in numbers]
    assert raised(given_, power).tolist() == [math.pow(one, power) for one in numbers]
    assert raised(0.5, given_).tolist() == [math.pow(0.5, one) for one in numbers]


def test_more_numbers_than_are_worked_on_at_a_time_keep_their_places():
    many = generator.random(3 * arithmetic.PIECE + 5)
    assert np.array_equal(log(many), np.concatenate([log(many[:7]), log(many[7:])]))
    assert np.array_equal(exp(many[::2]), exp(many[::2].copy()))


# Sums --------------------------------------------------------------------------------------------


def test_sums_of_products_are_added_up_in_the_order_of_numpy():
    numbers, others = generator.random(1001), generator.random(1001)
    products = [one * other for one, other in zip(numbers, others, strict=True)]
    assert summed_products(numbers, others) == np.add.reduce(np.array(products))
    assert summed_products(numbers, others) == pytest.approx(math.fsum(products), rel=1e-15)
    assert summed_products(np.array([2.0, 3.0]), np.array([True, False])) == 2.0


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 5000])
def test_logarithms_are_added_up(count):
    numbers = np.exp(generator.uniform(-690, 690, count))
    exact = math.fsum(math.log(one) for one in numbers.tolist())
    assert summed_logarithms(numbers) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (7, 1), (1, 9), (40, 5), (90, 2000)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_weighted_sums_of_rows_and_columns(shape, order):
    table = np.asarray(generator.random(shape), order=order)
    across, along = generator.random(shape[1]), generator.random(shape[0])
    rows = [float((row * across).sum()) for row in np.ascontiguousarray(table)]
    assert summed_rows(table, across).tolist() == rows
    found = summed_columns(along, table)
    np.testing.assert_allclose(found, along @ table, rtol=1e-12, atol=1e-12)
    # however the rows are divided
    half = shape[0] // 2
    some = summed_columns(along[:half], table[:half])
    if shape[1] != 1:
        assert np.array_equal(found, summed_columns(along[half:], table[half:], some))


def test_products_of_rows_are_symmetric_and_right():
    rows = generator.normal(size=(5, 20_011))
    own, other = row_products(rows, rows), row_products(rows, rows.copy())
    assert np.array_equal(own, own.T)
    assert np.array_equal(own, other)
    np.testing.assert_allclose(own, rows @ rows.T, rtol=1e-10, atol=1e-9)
    exact = math.fsum((rows[1] * rows[3]).tolist())
    assert own[1, 3] == pytest.approx(exact, rel=1e-12)
    assert row_products(rows[:0], rows).shape == (0, 5)


def test_rows_are_combined_one_after_the_other():
    factors, rows = generator.normal(size=(3, 4)), generator.normal(size=(4, 50))
    expected = np.zeros((3, 50))
    for place in range(4):
        expected += factors[:, [place]] * rows[place]
    assert np.array_equal(combined(factors, rows), expected)
    assert combined(np.empty((2, 0)), np.empty((0, 6))).tolist() == np.zeros((2, 6)).tolist()
