"""Edges of histograms, groups of concepts, and how numbers are written."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ontomask as om
from ontomask.report.groups import MOST, concept_groups, group_name
from ontomask.report.scales import date_scale, even_scale, merge_rare, number_scale
from ontomask.report.words import compact, distance, figure, listing, percent, terse_percent


def labels(scale):
    return [scale.label(place) for place in range(len(scale))]


def test_edges_are_round_and_the_ends_are_open():
    scale = number_scale(np.arange(3.0, 98.0), 5)
    assert labels(scale) == [
        "less than 10",
        *(f"{low} to {low + 9}" for low in range(10, 90, 10)),
        "90 or more",
    ]
    assert [scale.tick(place) for place in (0, 1, 9)] == ["<10", "10", "90+"]


def test_few_whole_numbers_get_an_interval_each():
    scale = number_scale(np.repeat(np.arange(5.0), 10), 3)
    assert labels(scale) == ["less than 1", "1", "2", "3", "4 or more"]


def test_fractions_are_said_without_gaps():
    scale = number_scale(np.linspace(0.1, 0.9, 50), 3)
    assert labels(scale)[1] == "0.2 to below 0.3"


def test_numbers_of_very_different_sizes_get_growing_edges():
    scale = number_scale(np.geomspace(1, 10_000, 200), 3)
    assert scale.edges == (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
    assert scale.label(9) == "1,000 to below 2,000"


def test_numbers_over_many_powers_of_ten_get_few_edges():
    for powers in (9, 40):
        scale = number_scale(10.0 ** np.linspace(0, powers, 300), 3)
        assert 8 <= len(scale) <= 17
        assert all(f"{edge:.0e}".startswith("1e") for edge in scale.edges)


def test_the_outermost_numbers_do_not_move_the_edges():
    usual = np.arange(20.0, 80.0).repeat(4)
    assert number_scale(np.append(usual, [113.0, -40.0]), 3) == number_scale(usual, 3)


def test_a_constant_has_nothing_to_show():
    assert len(number_scale(np.full(50, 7.0), 3)) == 1
    assert len(number_scale(np.linspace(1e6, 1e6 + 1e-4, 50), 3)) == 1
    assert len(number_scale(np.array([1.0, 2.0, 3.0]), 3)) == 1


@pytest.mark.parametrize(
    "values", [[-1.7e308, 0.0, 1.7e308], [5e-324, 1e-323, 2e-323]], ids=["huge", "tiny"]
)
def test_numbers_at_the_end_of_what_a_float_holds(values):
    numbers = np.repeat(values, 10)
    assert 1 <= len(merge_rare(number_scale(numbers, 3), numbers, 3)) <= 15


def test_intervals_with_few_numbers_are_merged_with_the_smaller_neighbor():
    numbers = np.array([1.0] * 9 + [2.0] * 5 + [3.0] * 1 + [4.0] * 8 + [6.0] * 9)
    scale = number_scale(numbers, 3)
    assert labels(scale) == ["less than 2", "2", "3", "4", "5", "6 or more"]
    assert labels(merge_rare(scale, numbers, 3)) == ["less than 2", "2 to 3", "4", "5", "6 or more"]
    assert merge_rare(scale, numbers, 1) == scale


@given(
    st.lists(st.floats(-1e6, 1e6) | st.floats(1e-9, 1e12), min_size=1, max_size=200),
    st.integers(3, 20),
    st.booleans(),
)
def test_no_interval_holds_few_numbers_and_none_is_lost(values, least, whole):
    numbers = np.rint(values) if whole else np.array(values)
    scale = merge_rare(number_scale(numbers, least), numbers, least)
    counts = np.bincount(scale.places(numbers), minlength=len(scale))
    assert counts.sum() == numbers.size
    if len(scale) > 1:
        assert all(count == 0 or count >= least for count in counts)
        assert counts[0] >= least
        assert counts[-1] >= least
    assert list(scale.edges) == sorted(set(scale.edges))
    assert len(set(scale.starts)) == len(scale.starts)


def days(first: str, count: int, step: int) -> np.ndarray:
    start = datetime.date.fromisoformat(first).toordinal()
    return np.arange(start, start + count * step, step, dtype=np.float64)


@pytest.mark.parametrize(
    ("first", "count", "step", "said"),
    [
        ("2024-03-01", 8, 1, "2024-03-04"),
        ("2024-01-01", 50, 1, "2024-01-21 to 2024-01-27"),
        ("2023-11-01", 200, 1, "Jan 2024"),
        ("2020-01-01", 200, 3, "Jul 2020 to Sep 2020"),
        ("2015-01-01", 300, 10, "2017"),
        ("1920-01-01", 300, 110, "1940 to 1949"),
    ],
)
def test_dates_are_cut_at_days_weeks_months_quarters_and_years(first, count, step, said):
    numbers = np.repeat(days(first, count, step), 5)
    scale = date_scale(numbers, 3)
    assert said in labels(scale)
    assert labels(scale)[0].startswith("before ")
    assert labels(scale)[-1].endswith(" or later")
    assert 2 <= len(scale) <= 13


def widths(scale):
    return {round(high - low, 9) for low, high in itertools.pairwise(scale.edges)}


def test_intervals_are_even_where_single_ones_would_be_rare():
    numbers = np.concatenate([np.arange(0.0, 100.0).repeat(5), []])
    numbers = numbers[(numbers < 42) | (numbers > 48)]  # 40 to 49 would hold 15 numbers
    merged = merge_rare(number_scale(numbers, 20), numbers, 20)
    even = even_scale(number_scale, numbers, 20)
    assert len(widths(merged)) > 1
    assert labels(even) == ["less than 20", "20 to 39", "40 to 59", "60 to 79", "80 or more"]


@given(st.lists(st.integers(0, 200), min_size=12, max_size=80), st.integers(1, 6))
def test_an_even_scale_shows_nothing_rare(values, least):
    numbers = np.array(values, float)
    scale = even_scale(number_scale, numbers, least)
    counts = np.bincount(scale.places(numbers), minlength=len(scale))
    assert len(scale) == 1 or not ((counts > 0) & (counts < least)).any()


def test_days_get_even_intervals_too():
    first = datetime.date(2020, 1, 1).toordinal()
    days = np.array([first + 30 * month for month in range(36) for _ in range(5)], float)
    thin = days[(days < first + 365) | (days > first + 440)]
    even = even_scale(date_scale, thin, 10)
    months = [datetime.date.fromordinal(int(edge)) for edge in even.edges]
    steps = [12 * (b.year - a.year) + b.month - a.month for a, b in itertools.pairwise(months)]
    assert len(even) >= 3
    assert len(set(steps)) <= 1


def test_a_date_that_stands_for_no_end_does_not_make_a_thousand_intervals():
    last = float(datetime.date(9999, 12, 31).toordinal())
    dates = np.concatenate([days("2019-01-01", 40, 20), np.full(10, last)])
    assert 2 <= len(date_scale(dates, 3)) <= 15


def test_concepts_are_grouped_on_the_lowest_level_that_has_few_groups(icd9):
    codes = ["250.00", "250.01", "428.0", "428.1", "486", "487.0", "V30.00"]
    numbers = np.sort(icd9.indices_of(codes))
    groups = concept_groups(icd9, numbers, np.full(numbers.size, 9), 5)
    assert np.unique(groups).size <= MOST
    assert {icd9.ids[one] for one in groups} == set(codes)
    leaves = np.flatnonzero(icd9.leaf_mask)[::40].astype(np.int32)
    coarse = np.unique(concept_groups(icd9, leaves, np.full(leaves.size, 9), 5))
    assert set(icd9.depths[coarse].tolist()) == {2}


def test_a_concept_above_the_level_stays_what_it_is(icd9):
    everything = np.sort(icd9.indices_of([icd9.root, "250.00", "428.0"]))
    groups = concept_groups(icd9, everything, np.array([0, 9, 9]), 5)
    assert group_name(icd9, int(groups[0])) == icd9.label_of(icd9.root)


def test_a_concept_with_two_parents_is_in_one_group():
    taxonomy = om.Taxonomy.from_parents(
        {
            "top": [],
            **{name: ["top"] for name in "abc"},
            **{f"x{place}": ["b", "a"] for place in range(20)},
            "y": ["c"],
        }
    )
    numbers = np.sort(taxonomy.indices_of(["y", *(f"x{place}" for place in range(20))]))
    groups = concept_groups(taxonomy, numbers, np.full(numbers.size, 9), 5)
    assert {taxonomy.ids[one] for one in groups} == {"a", "c"}


def test_groups_are_coarser_where_finer_ones_would_be_rare():
    taxonomy = om.Taxonomy.from_parents(
        {"top": [], "a": ["top"], "b": ["top"], "a1": ["a"], "a2": ["a"], "b1": ["b"], "b2": ["b"]}
    )
    numbers = np.sort(taxonomy.indices_of(["a1", "a2", "b1", "b2"]))
    counts = np.array([6, 6, 6, 6])
    named = [
        {taxonomy.ids[one] for one in concept_groups(taxonomy, numbers, counts, least)}
        for least in (5, 10)
    ]
    assert named == [{"a1", "a2", "b1", "b2"}, {"a", "b"}]


def test_numbers_are_written_for_people():
    assert [percent(share) for share in (0, 0.001, 0.123, 0.999, 1)] == [
        "0%",
        "less than 1%",
        "12%",
        "more than 99%",
        "100%",
    ]
    assert [terse_percent(share, 1) for share in (0.0001, 0.1234, 0.9999)] == [
        "<0.1%",
        "12.3%",
        ">99.9%",
    ]
    assert [figure(number) for number in (0, 1234567.0, 0.012345, 12.0)] == [
        "0",
        "1,230,000",
        "0.0123",
        "12.0",
    ]
    assert [compact(number) for number in (5, 1200, 20_000, 3_500_000)] == [
        "5",
        "1,200",
        "20k",
        "3.5M",
    ]
    assert [distance(number) for number in (0, 0.001, 0.126)] == ["0.00", "<0.01", "0.13"]
    assert listing(list("abcdefgh")) == "a, b, c, d, e and 3 more"
    assert [listing(list(names)) for names in ("", "a", "ab", "abc")] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
