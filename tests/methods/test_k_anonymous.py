"""Property tests: whatever the table, classes of at least k, no record lost, nothing changed."""

import collections

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ontomask as om
from strategies import random_parents


@st.composite
def tables(draw):
    """A random taxonomy, a table of its concepts, numbers, gaps and weights, and a k up to n."""
    parents = draw(random_parents(10))
    count = draw(st.integers(2, 24))
    concepts = st.sampled_from(sorted(parents))
    nominal = draw(st.lists(st.one_of(st.none(), concepts), min_size=count, max_size=count))
    if all(value is None for value in nominal):
        nominal[0] = sorted(parents)[0]
    numbers = draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))
    weights = draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    frame = pl.DataFrame(
        {"d": nominal, "n": numbers, "w": weights}, schema_overrides={"d": pl.String}
    )
    weighted = draw(st.booleans())
    k = draw(st.integers(2, max(2, sum(weights) if weighted else count)))
    return om.Taxonomy.from_parents(parents), frame, weighted, k


METHODS = {
    "recoding": lambda k: om.Recoding(k),
    "recoding-frequency": lambda k: om.Recoding(k, weighting="frequency"),
    "recoding-discernibility": lambda k: om.Recoding(k, guide="discernibility"),
    "recoding-random": lambda k: om.Recoding(k, guide="random"),
    "sa-mdav": lambda k: om.Microaggregation(k),
    "sa-mdav-frequency": lambda k: om.Microaggregation(k, weighting="frequency"),
    "sa-mdav-static": lambda k: om.Microaggregation(k, dynamic=False),
    "sa-mdav-refined": lambda k: om.Microaggregation(k, refine=True),
    "sa-mdav-consensus": lambda k: om.Microaggregation(k, operators="marginality"),
    "mdav": lambda k: om.Microaggregation(k, algorithm="mdav"),
    "v-mdav": lambda k: om.Microaggregation(k, algorithm="v-mdav"),
    "resampling": lambda k: om.Resampling(k),
    "local": lambda k: om.LocalSuppression(k),
}
ON_RECORDS = {"mdav", "v-mdav", "resampling"}


@pytest.mark.parametrize("name", METHODS)
@given(case=tables())
@settings(max_examples=25)
def test_classes_of_at_least_k(name, case):
    taxonomy, frame, weighted, k = case
    if name in ON_RECORDS:  # these count records, whatever these stand for
        weighted, k = False, min(k, len(frame))
    columns = {"d": om.Nominal(taxonomy), "n": om.Numeric()}
    schema = om.Schema.of({**columns, "w": om.Count()} if weighted else columns)
    before = frame.clone()
    release = om.protect(frame, schema, METHODS[name](k), seed=5)
    again = om.protect(frame, schema, METHODS[name](k), seed=5)
    assert frame.equals(before)
    assert release.frame.equals(again.frame)
    assert release.frame.columns == ["d", "n", "w"][: 2 + weighted]
    assert len(release.frame) == len(frame)
    people = frame["w"].to_list() if weighted else [1] * len(frame)
    sizes = collections.Counter()
    for row, count in zip(release.frame.select("d", "n").iter_rows(), people, strict=True):
        sizes[row] += count
    assert min(sizes.values()) >= k
    assert {value for value in release.frame["d"] if value} <= set(taxonomy.ids)


@given(case=tables())
@settings(max_examples=25)
def test_recoding_invents_no_tuple(case):
    taxonomy, frame, _, k = case
    schema = om.Schema(d=om.Nominal(taxonomy), n=om.Numeric())
    release = om.protect(frame, schema, om.Recoding(min(k, len(frame))), seed=1)
    assert set(release.frame.iter_rows()) <= set(frame.select("d", "n").iter_rows())


def test_the_mean_of_equal_numbers_is_that_number():
    numbers = [1.1, 1.1, 1.1, 2.7, 2.7, 2.7, 9.3, 9.3, 9.3]
    frame = pl.DataFrame({"n": numbers, "m": [one / 7 for one in numbers]})
    release = om.protect(frame, om.Schema(n=om.Numeric(), m=om.Numeric()), om.Microaggregation(3))
    assert release.frame.equals(frame)
    assert release.changed == {"n": 0.0, "m": 0.0}
