"""What single values of a table stand for."""

from __future__ import annotations

import datetime
import math

import pytest

import ontomask as om
from ontomask.data.values import Span, is_gap, is_star, read_interval, read_span

INFINITE = math.inf


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("42", Span(42, 42)),
        ("-4.5", Span(-4.5, -4.5)),
        ("1e-3", Span(0.001, 0.001)),
        ("20-29", Span(20, 29)),
        ("20 – 29", Span(20, 29)),
        ("-5--1", Span(-5, -1)),
        ("-10 – -5", Span(-10, -5)),
        ("]0.5;1.5]", Span(0.5, 1.5)),
        ("[a, b)", None),
        ("[20, 30)", Span(20, 30, open_high=True)),
        ("[20, 30]", Span(20, 30)),
        ("20..29", Span(20, 29)),
        ("18 to 64 years", Span(18, 64)),
        ("90+", Span(90, INFINITE)),
        ("90 and over", Span(90, INFINITE)),
        (">= 80", Span(80, INFINITE)),
        ("<1", Span(-INFINITE, 1, open_high=True)),
        ("up to 17", Span(-INFINITE, 17)),
        ("≤ 17", Span(-INFINITE, 17)),
        # labels that merely contain digits, or mean nothing
        ("Q1", None),
        ("group 2", None),
        ("29-20", None),
        ("12 monkeys", None),
        ("NA", None),
        ("", None),
    ],
)
def test_numbers_and_intervals_are_read_by_their_whole_text(text, span):
    assert read_interval(text) == span


def days(year, month=1, day=1):
    return float(datetime.date(year, month, day).toordinal())


@pytest.mark.parametrize(
    ("value", "low", "after"),
    [
        ("2024-02", days(2024, 2), days(2024, 3)),
        ("2024-Q4", days(2024, 10), days(2025)),
        ("2024", days(2024), days(2025)),
        ("1990s", days(1990), days(2000)),
        ("1900s", days(1900), days(2000)),
    ],
)
def test_periods(value, low, after):
    assert read_span(value, om.Date()) == Span(low, after, open_high=True)


def test_days_and_labels_of_dates():
    day = datetime.date(2024, 1, 31)
    assert read_span(day, om.Date()) == read_span("2024-01-31", om.Date())
    assert read_span("31.01.2024", om.Date(format="%d.%m.%Y")).low == days(2024, 1, 31)
    assert read_span("spring", om.Date()) is None


def test_stars_and_gaps():
    assert is_star(" * ")
    assert not any(map(is_star, ("NA", "missing", "", None, 0, "**")))
    assert all(map(is_gap, (None, float("nan"))))
    assert not any(map(is_gap, ("NA", "", "*", 0, "missing")))


def test_the_middle_of_a_span():
    assert Span(20, 30).middle == 25
    assert Span(90, INFINITE).middle == 90
    assert Span(-INFINITE, 1).middle == 1
    assert Span(5, 5).is_point
