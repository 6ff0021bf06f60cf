"""The risk of a table as it is: classes by hand, then against plain counting."""

from __future__ import annotations

import datetime
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.errors import DataError, ParameterError, SchemaError
from ontomask.evaluation.risk import (
    DEFINITIONS,
    ClassStructure,
    Reidentification,
    count_in_population,
    file_risk,
    interval_disclosure,
)
from reference import risk as reference
from tables import DISEASES, mixed_columns, mixed_schema

SCHEMA = {
    "city": om.Flat(),
    "age": om.Numeric(),
    "illness": om.Flat(role="sensitive"),
}


def encoded(columns, **schema):
    return encode(open_table(pl.DataFrame(columns)), om.Schema.of(schema or SCHEMA))


def people():
    """Classes of 1, 2 and 5 people; one of them has no city, two lack the age."""
    return {
        "city": [None, "a", "a", "b", "b", "b", "b", "b"],
        "age": [30, None, None, 40, 40, 40, 40, 40],
        "illness": ["flu", "flu", "cold", "flu", "flu", "cold", "cold", "asthma"],
    }


# Classes --------------------------------------------------------------------------------------


def test_classes_by_hand():
    found = file_risk(encoded(people()))
    assert found.columns == ("city", "age")
    assert found.structure == ClassStructure(
        people=8,
        classes=3,
        smallest=1,
        largest=5,
        mean=8 / 3,
        uniques=1,
        unique_share=1 / 8,
        histogram=((1, 1), (2, 1), (5, 1)),
    )


def test_risks_by_hand():
    # Risks: 1 for one person, 1/2 for two, 1/5 for five, which does not exceed the threshold 1/5.
    found = file_risk(encoded(people()))
    assert found.prosecutor == Reidentification(1.0, pytest.approx(3 / 8), 3 / 8)
    assert found.marketer == 3 / 8
    assert found.journalist is None
    assert found.population is None


@pytest.mark.parametrize(("threshold", "above"), [(1, 0), (0.5, 1 / 8), (0.49, 3 / 8), (0.19, 1)])
def test_the_threshold_matters(threshold, above):
    found = file_risk(encoded(people()), threshold=threshold)
    assert found.prosecutor.above == above
    assert found.threshold == threshold


def test_weights_count_people():
    columns = people() | {"weight": [3, 1, 1, 1, 1, 1, 1, 1]}
    found = file_risk(encoded(columns, **SCHEMA, weight=om.Count()))
    assert found.structure.people == 10
    assert found.structure.uniques == 0
    assert found.structure.smallest == 2
    assert found.structure.histogram == ((2, 1), (3, 1), (5, 1))
    assert found.prosecutor.average == pytest.approx(3 / 10)


def test_chosen_columns_may_be_any():
    found = file_risk(encoded(people()), ["illness"])
    assert found.columns == ("illness",)
    assert found.structure.histogram == ((1, 1), (3, 1), (4, 1))
    assert found.sensitive == ()


def test_population_uniqueness_comes_with_a_fraction():
    found = file_risk(encoded(people()), fraction=0.25)
    assert found.population.population == 32
    assert found.population.sample_uniques == 1
    assert found.as_dict()["population"]["dankar"]["uniques"] == found.population.dankar.uniques


# Sensitive columns ----------------------------------------------------------------------------


def test_sensitive_columns_by_hand():
    # The class of one has one value: l = 1. In the table p = (flu 4, cold 3, asthma 1) / 8; all of
    # the class of one is flu: t = 1/2 (1/2 + 3/8 + 1/8) = 1/2.
    (found,) = file_risk(encoded(people())).sensitive
    assert found.column == "illness"
    assert found.distinct_l == 1
    assert found.homogeneous == 1 / 8
    assert found.entropy_l == 1.0
    assert found.closeness_t == pytest.approx(1 / 2)


def test_diversity_of_larger_classes_by_hand():
    # Class a: flu, cold, so l = 2 both ways; t = 1/2 (|1/2 - 3/7| + |1/2 - 3/7| + 1/7) = 1/7.
    # Class b: 2 flu, 2 cold, 1 asthma, t = 1/2 (1/35 + 1/35 + 2/35) = 2/35.
    columns = {name: values[1:] for name, values in people().items()}
    (found,) = file_risk(encoded(columns)).sensitive
    assert found.distinct_l == 2
    assert found.entropy_l == pytest.approx(2.0)
    assert found.closeness_t == pytest.approx(1 / 7)


def test_a_missing_sensitive_value_is_a_value():
    columns = {"city": ["a", "a"], "age": [1, 1], "illness": ["flu", None]}
    (found,) = file_risk(encoded(columns)).sensitive
    assert found.distinct_l == 2
    assert found.closeness_t == 0


letters = st.sampled_from(["x", "y", "z", None])
rows = st.lists(
    st.tuples(letters, st.sampled_from([1, 2, None]), letters, st.integers(1, 3)),
    min_size=1,
    max_size=25,
).filter(lambda found: all(any(row[place] is not None for row in found) for place in range(3)))


@given(rows, st.sampled_from([0.2, 0.25, 0.5, 1.0]))
def test_against_counting_people(found, threshold):
    names = ("city", "age", "illness", "weight")
    columns = {name: [row[place] for row in found] for place, name in enumerate(names)}
    risk = file_risk(encoded(columns, **SCHEMA, weight=om.Count()), threshold=threshold)
    everyone = reference.people([row[:2] for row in found], columns["weight"])
    illness = [row[0] for row in reference.people([row[2:3] for row in found], columns["weight"])]
    sizes = sorted(reference.classes(everyone).values())
    assert risk.structure.histogram == tuple((size, sizes.count(size)) for size in sorted({*sizes}))
    expected = reference.prosecutor(everyone, threshold)
    measured = risk.prosecutor.highest, risk.prosecutor.average, risk.prosecutor.above
    assert measured == pytest.approx(expected)
    (sensitive,) = risk.sensitive
    assert sensitive.distinct_l == reference.distinct_l(everyone, illness)
    assert sensitive.homogeneous == reference.homogeneous(everyone, illness)
    assert sensitive.entropy_l == pytest.approx(reference.entropy_l(everyone, illness))
    assert sensitive.closeness_t == pytest.approx(reference.closeness_t(everyone, illness))


def test_the_order_of_records_does_not_matter():
    frame = pl.DataFrame(mixed_columns())
    shuffled = frame.sample(fraction=1, shuffle=True, seed=3)
    schema = mixed_schema()
    first = file_risk(encode(open_table(frame), schema), fraction=0.1)
    assert first == file_risk(encode(open_table(shuffled), schema), fraction=0.1)


# Journalist -----------------------------------------------------------------------------------


def test_journalist_by_hand():
    # In the population the classes have 4, 2 and 10 people: (1 * 1/4 + 2 * 1/2 + 5 * 1/10) / 8.
    sizes = [4, 2, 2, 10, 10, 10, 10, 10]
    found = file_risk(encoded(people()), population_sizes=sizes, threshold=0.25)
    assert found.journalist == Reidentification(0.5, pytest.approx(1.75 / 8), 2 / 8)
    assert found.marketer == found.journalist.average
    assert found.prosecutor.highest == 1


def test_people_of_a_population_table_are_counted_by_what_values_mean():
    schema = {
        "ill": om.Nominal(DISEASES),
        "age": om.Numeric(),
        "day": om.Date(),
        "level": om.Ordinal(order=["low", "high"]),
    }
    day = datetime.date(2024, 1, 2)
    ours = encoded(
        {
            "ill": ["flu", "cold", None],
            "age": [30, 40, None],
            "day": [day, day, None],
            "level": ["high", "low", "low"],
        },
        **schema,
    )
    theirs = encoded(
        {
            "ill": ["Flu", "asthma", "cold", "flu", None, None],
            "age": [30.0, 40.0, 40.0, 30.0, None, 31.0],
            "day": ["2024-01-02", "2024-01-02", "2024-01-02", "2024-01-02", None, None],
            "level": ["high", "low", "low", "high", "low", "low"],
            "people": [3, 1, 5, 1, 2, 9],
        },
        **{**schema, "level": om.Ordinal(order=["none", "low", "high"])},
        people=om.Count(),
    )
    counted = count_in_population(ours, theirs)
    assert counted.tolist() == [4, 5, 2]
    assert count_in_population(ours, theirs, ["level"]).tolist() == [4, 17, 17]
    assert file_risk(ours, population_sizes=counted).journalist.highest == 0.5


def test_values_that_the_population_does_not_have_are_counted_as_none():
    ours = encoded({"city": ["a", "b", None]}, city=om.Flat())
    theirs = encoded({"city": ["a", "c"]}, city=om.Flat())
    counted = count_in_population(ours, theirs)
    assert counted.tolist() == [1, 0, 0]
    with pytest.raises(ParameterError, match="2 of 3 classes have fewer people in the population"):
        file_risk(ours, population_sizes=counted)


# Intervals ------------------------------------------------------------------------------------


def test_interval_disclosure_by_hand():
    original = [100.0, -100.0, 0.0, 0.0, 50.0, math.nan, 10.0]
    masked = [101.0, -95.0, 0.0, 0.1, 75.0, 10.0, math.nan]
    found = interval_disclosure(original, masked, [0, 0.01, 0.05, 0.5, 1e7])
    assert found.shares == pytest.approx((1 / 6, 2 / 6, 3 / 6, 4 / 6, 4 / 6))
    assert found.people == 6


def test_interval_bounds_are_included_despite_rounding():
    values = np.arange(1, 1000) / 7
    assert interval_disclosure(values, values * 1.1, [0.1]).shares == (1.0,)
    assert interval_disclosure(values, values * 1.1, [0.099]).shares == (0.0,)


def test_interval_weights():
    found = interval_disclosure([1.0, 2.0], [1.0, 4.0], [0.01], weights=[3, 1])
    assert found.shares == (0.75,)
    assert found.as_dict()["people"] == 4


def test_no_known_number_discloses_nothing():
    assert interval_disclosure([math.nan], [1.0]).shares is None


def test_interval_mistakes():
    with pytest.raises(DataError, match="there are 2 and 1 of them"):
        interval_disclosure([1.0, 2.0], [1.0])
    with pytest.raises(ParameterError, match="widths must be a list that is not empty"):
        interval_disclosure([1.0], [1.0], [])
    with pytest.raises(ParameterError, match="a number of at least 0"):
        interval_disclosure([1.0], [1.0], [-1])


# Mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0, -0.2, 1.5, math.nan, "low", None])
def test_thresholds_outside_their_bounds(threshold):
    with pytest.raises(ParameterError, match="threshold must be a number from 0 to 1, 0 excluded"):
        file_risk(encoded(people()), threshold=threshold)


@pytest.mark.parametrize("fraction", [0, 2, "most"])
def test_fractions_outside_their_bounds(fraction):
    with pytest.raises(ParameterError, match="fraction must be a number from 0 to 1, 0 excluded"):
        file_risk(encoded(people()), fraction=fraction)


def test_unknown_columns():
    with pytest.raises(ParameterError) as caught:
        file_risk(encoded(people()), ["citty"])
    assert str(caught.value) == (
        "columns names 'citty', which is not a published column of the table; there are: city, "
        "age, illness. Did you mean 'city'?"
    )
    with pytest.raises(ParameterError, match="columns names a column twice"):
        file_risk(encoded(people()), ["city", "city"])
    with pytest.raises(ParameterError, match="columns must be a list that is not empty"):
        file_risk(encoded(people()), [])


def test_no_quasi_identifier():
    microdata = encoded({"city": ["a"]}, city=om.Flat(role="other"))
    with pytest.raises(SchemaError, match="No column is a quasi-identifier"):
        file_risk(microdata)
    assert file_risk(microdata, ["city"]).structure.classes == 1


def test_population_sizes_that_do_not_fit():
    with pytest.raises(ParameterError, match="a number for each of the 8 records, not 2 of them"):
        file_risk(encoded(people()), population_sizes=[1, 2])
    with pytest.raises(ParameterError, match="must be equal for records that share their values"):
        file_risk(encoded(people()), population_sizes=[1, 2, 3, 5, 5, 5, 5, 5])


def test_every_figure_is_defined():
    figures = file_risk(encoded(people())).as_dict()
    names = {*figures["structure"], *figures["sensitive"][0]} - {"column"}
    assert names | {"prosecutor", "journalist", "marketer"} <= set(DEFINITIONS)
