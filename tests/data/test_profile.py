"""What a column looks like, in a few words for those who must decide on it."""

import datetime

import numpy as np
import polars as pl
import pytest

from ontomask.data.profile import profiles, sketches, spread_of
from ontomask.data.tables import open_table

AGES = [20, 31, 42, 53, 64, 75, 86, 97]


def told(name, values):
    return str(profiles(open_table(pl.DataFrame({name: values})), [name])[name])


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("age", AGES, "20 to 97"),
        ("age", [*AGES, None, None], "20 to 97, 2 missing"),
        ("score", [0.5, 1.25, 3.0], "0.5 to 3"),
        ("age", [str(one) for one in AGES], "20 to 97"),
        (
            "day",
            [datetime.date(2024, 1, 31), datetime.date(2023, 5, 1)],
            "2023-05-01 to 2024-01-31",
        ),
        ("day", ["2024-01-31", "2023-05-01"], "2023-05-01 to 2024-01-31"),
        ("sex", ["f", "m", "f"], "f, m"),
        ("sex", ["f", "", None], "f, 2 missing"),
        ("town", [f"t{number % 50}" for number in range(90)], "50 values"),
        ("id", [f"A{number}" for number in range(200)], "200 values, each once"),
        ("x", [7, 7, 7], "7 only"),
        ("none", pl.Series([None, None], dtype=pl.String), "2 missing"),
    ],
)
def test_profiles_are_short(name, values, said):
    assert told(name, values) == said


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([*AGES, None], "8 values, each once, 1 missing"),
        (AGES * 2, "8 values"),
        (["f", "m", "f"], "f, m"),
        ([7, 7, 7], "7"),
        (list(range(3, 80)), "77 values, each once"),
    ],
)
def test_what_is_written_down_names_no_end_of_a_range(values, said):
    assert profiles(open_table(pl.DataFrame({"x": values})), ["x"])["x"].counted == said


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("age", [*AGES * 2, "90+", "Meier"], "'90+' and 'Meier' are no numbers"),
        ("age", [*AGES * 9, *"abcdefg"], "'a', 'b', 'c', 'd', 'e' and 2 more are no numbers"),
        ("age", [*AGES, 999, -9], "'-9' and '999' look like codes for missing values"),
        ("age", [*AGES, 130], "1 value is no age of a person"),
        ("Alter", [*AGES, 130, -3, 140], "3 values are no age of a person"),
    ],
)
def test_what_is_odd_is_named(name, values, said):
    texts = [str(one) for one in values] if isinstance(values[-1], str) else values
    assert told(name, texts).endswith(said)


@pytest.mark.parametrize("write", [int, str])
def test_a_sketch_counts_records_however_numbers_are_written(write):
    paid = [1068] * 3328 + [0] * 82 + [500] * 832
    drawn = sketches(open_table(pl.DataFrame({"paid": [write(one) for one in paid]})), ["paid"])
    heights = [0.0] * 16
    heights[0], heights[500 * 16 // 1068], heights[15] = 82 / 3328, 832 / 3328, 1.0
    assert drawn["paid"] == pytest.approx(heights)


def test_few_values_are_shown_and_long_ones_cut():
    said = told("note", ["x" * 80, "y"])
    assert len(said) < 60
    assert said.startswith("xxx")


def test_large_tables_are_looked_at_in_part(monkeypatch):
    from ontomask.data import evidence

    monkeypatch.setattr(evidence, "CELLS", 10)
    monkeypatch.setattr(evidence, "FEWEST_SAMPLED", 60)
    numbers = [50] * 1000
    numbers[501] = 4000
    assert told("pay", numbers) == "50 to 4000"
    assert told("town", [f"t{number}" for number in range(1000)]) == "60 or more values"


def test_the_range_of_numbers_that_are_texts_is_that_of_all_of_them():
    """Of many different texts only the most frequent are looked at closely."""
    texts = [str(number) for number in range(1, 5001)]
    assert told("number", texts) == "1 to 5000"
    assert told("number", ["x", *texts]).startswith("1 to 1999 in the values looked at")


def test_the_spread_of_numbers_is_that_of_the_records():
    generator = np.random.default_rng(1)
    records = np.append(5 * generator.integers(0, 40, 1000), [5000, 9000]).astype(float)
    numbers, counts = np.unique(records, return_counts=True)
    spread = spread_of(numbers, counts)
    ordered = np.sort(records)
    assert spread.quartiles == tuple(ordered[[250, 500, 751]])
    low, _, high = spread.quartiles
    assert spread.far == int((ordered > high + 3 * (high - low)).sum()) == 2
    assert spread.unit == 5.0
    assert spread.counts == tuple(np.histogram(records, 48)[0])
    assert spread_of(np.array([0.12345678, 7.70013579]), np.array([1, 1])).unit == 0.0
