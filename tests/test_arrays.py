"""Numbers told apart, and floats that become Python's only where somebody asks for them."""

import numpy as np
import pytest

from ontomask import arrays
from ontomask.arrays import (
    COUNTED,
    FloatValues,
    narrowed,
    numbered,
    numbered_whole,
    occurring,
    places_in,
    recoded,
    taken,
)


@pytest.mark.parametrize("kinds", [1, 7, 10**9])
def test_numbers_are_numbered_like_unique_ones_and_gaps_come_last(kinds):
    generator = np.random.default_rng(1)
    numbers = generator.integers(0, kinds, 500).astype(np.float64) / 7.0
    numbers[generator.random(500) < 0.2] = np.nan
    codes, known = numbered(numbers)
    present = ~np.isnan(numbers)
    expected, places = np.unique(numbers[present], return_inverse=True)
    assert np.array_equal(known, expected)
    assert np.array_equal(codes[present], places)
    assert set(codes[~present].tolist()) == {expected.size}


LOOKS = {
    "normal": lambda numbers: numbers,
    "equal ones": lambda numbers: np.round(numbers, 1),
    "one alone": lambda numbers: np.zeros(numbers.size),
    "cells of many": lambda numbers: np.append(numbers[1:], 1e12),
    "all in one cell but one": lambda numbers: np.append(numbers[1:], 1e300),
    "infinite": lambda numbers: np.append(numbers[2:], [np.inf, -np.inf]),
    "farther apart than floats reach": lambda numbers: np.append(numbers[2:], [1.7e308, -1.7e308]),
    "next to nothing": lambda numbers: np.rint(numbers * 1e6) * 5e-324,
    "single precision": lambda numbers: numbers.astype(np.float32),
    "next to nothing in single precision": lambda numbers: (numbers * 1e-40).astype(np.float32),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("gaps", [False, True])
def test_many_numbers_are_numbered_as_few_are(look, gaps):
    numbers = LOOKS[look](np.random.default_rng(2).normal(size=COUNTED.start + 2_000))
    if gaps:
        numbers[::7] = -np.float64(np.nan)
    codes, known = numbered(numbers)
    assert np.array_equal(known, np.unique(numbers[~np.isnan(numbers)]))
    assert np.array_equal(np.append(known, np.nan).take(codes), numbers, equal_nan=True)


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("count", [500, arrays.MANY_CODES + 3])
def test_whole_numbers_are_counted_as_they_are_sorted(look, gaps, count):
    numbers = LOOKS[look](400.0 * np.random.default_rng(2).normal(size=count)).astype(np.float64)
    if gaps:
        numbers[::7] = np.nan
    codes, known = numbered_whole(numbers)
    expected = numbered(np.rint(numbers))
    np.testing.assert_array_equal(codes, expected[0])
    np.testing.assert_array_equal(known, expected[1])


def test_whole_numbers_near_each_other_are_not_sorted(monkeypatch):
    monkeypatch.setattr(arrays, "_ascending", None)
    codes, known = numbered_whole(np.linspace(-90.0, 90.0, arrays.MANY_CODES))
    assert codes.dtype == np.uint8
    assert known.tolist() == list(range(-90, 91))


@pytest.mark.parametrize("count", [0, 5, 3 * arrays.STRETCH + 1])
def test_wanted_codes_are_found_where_they_are(count):
    codes = np.random.default_rng(1).integers(0, 9, count).astype(np.uint8)
    wanted = np.arange(9) % 4 == 0
    assert places_in(codes, wanted).tolist() == np.flatnonzero(codes % 4 == 0).tolist()


@pytest.mark.parametrize("count", [5, arrays.MANY_CODES, 3 * arrays.STRETCH + 1])
@pytest.mark.parametrize("most", [3, 300, 70_000])
def test_codes_become_what_a_table_has_for_them_in_few_bytes(count, most):
    generator = np.random.default_rng(most)
    codes = generator.integers(-1, most - 1, count).astype(np.int32)
    table = generator.permutation(most).astype(np.int32)
    found = recoded(narrowed(codes), table)
    assert (found == table[codes]).all()
    bytes_of_one = 4 if count < arrays.MANY_CODES or most > 2**16 else 1 if most < 2**8 else 2
    assert found.dtype.itemsize == bytes_of_one
    known = recoded(codes, np.append(np.arange(1, most), 0).astype(np.int32))
    assert occurring(known, most).tolist() == sorted(set((codes + 1).tolist()))


def test_no_number_is_there_where_all_are_missing():
    codes, known = numbered(np.full(3, np.nan))
    assert codes.tolist() == [0, 0, 0]
    assert known.size == 0


@pytest.mark.parametrize("gap", [False, True])
def test_floats_read_as_a_list_of_them_does(gap):
    numbers = [0.5, -1.0, 3.25]
    listed = [*numbers, *([None] if gap else [])]
    values = FloatValues(np.array(numbers), gap=gap)
    assert list(values) == listed == values
    assert [values[place] for place in range(len(listed))] == listed
    assert all(type(one) in (float, type(None)) for one in values)
    assert values[-1] == listed[-1]
    assert values[1:] == listed[1:]
    assert values[:2] == FloatValues(np.array(numbers[:2]))
    assert values != FloatValues(np.array(numbers), gap=not gap)
    assert 3.25 in values
    for wrong in (len(listed), slice(None, None, 2)):
        with pytest.raises(IndexError):
            values[wrong]


@pytest.mark.parametrize("places", [[2, 0], [3, 1]])
def test_some_values_are_taken_alike_however_they_are_held(places):
    listed = [0.5, -1.0, 3.25, None]
    values = FloatValues(np.array(listed[:3]), gap=True)
    for held in (listed, tuple(listed), values):
        assert list(taken(held, np.array(places))) == [listed[place] for place in places]
