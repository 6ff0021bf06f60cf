"""Whatever the table: classes of at least k records, whomever they stand for; none lost."""

import collections

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ontomask as om
from strategies import random_parents


@st.composite
def tables(draw):
    """A random taxonomy, a table of its concepts, numbers, gaps, counts and weights, and a k."""
    parents = draw(random_parents(10))
    count = draw(st.integers(2, 24))
    concepts = st.sampled_from(sorted(parents))
    nominal = draw(st.lists(st.one_of(st.none(), concepts), min_size=count, max_size=count))
    if all(value is None for value in nominal):
        nominal[0] = sorted(parents)[0]
    numbers = draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))
    counts = draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    weights = draw(st.lists(st.floats(0.1, 900.0), min_size=count, max_size=count))
    frame = pl.DataFrame(
        {"d": nominal, "n": numbers, "c": counts, "w": weights}, schema_overrides={"d": pl.String}
    )
    extra = {"c": om.Count()} if draw(st.booleans()) else {}
    extra |= {"w": om.Weight()} if draw(st.booleans()) else {}
    k = draw(st.integers(2, max(2, sum(counts) if "c" in extra else count)))
    return om.Taxonomy.from_parents(parents), frame, extra, k


METHODS = {
    "recoding": lambda k: om.Recoding(k),
    "recoding-frequency": lambda k: om.Recoding(k, weighting="frequency"),
    "recoding-discernibility": lambda k: om.Recoding(k, algorithm="discernibility"),
    "recoding-random": lambda k: om.Recoding(k, algorithm="random"),
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


@pytest.mark.parametrize("name", METHODS)
@given(case=tables())
@settings(max_examples=15)
def test_classes_of_at_least_k_records_whatever_they_weigh(name, case):
    taxonomy, frame, extra, k = case
    if name == "resampling":  # it draws rows
        k = min(k, len(frame))
    schema = om.Schema.of({"d": om.Nominal(taxonomy), "n": om.Numeric(), **extra})
    before = frame.clone()
    release = om.protect(frame, schema, METHODS[name](k), seed=5)
    again = om.protect(frame, schema, METHODS[name](k), seed=5)
    assert frame.equals(before)
    assert release.frame.equals(again.frame)
    assert release.frame.columns == ["d", "n", *(["c"] if "c" in extra else [])]
    assert len(release.frame) == len(frame)
    records = frame["c"].to_list() if "c" in extra else [1] * len(frame)
    sizes = collections.Counter()
    for row, count in zip(release.frame.select("d", "n").iter_rows(), records, strict=True):
        sizes[row] += count
    assert min(sizes.values()) >= k
    assert {value for value in release.frame["d"] if value} <= set(taxonomy.ids)


CLUSTERING = {
    name: METHODS[name] for name in METHODS if name.startswith(("sa-mdav", "mdav", "v-mdav"))
}


@pytest.mark.parametrize("name", [*CLUSTERING, "hybrid"])
def test_survey_weights_do_not_make_fifty_people_anonymous(name):
    generator = np.random.default_rng(1)
    people = {"age": np.arange(50) * 1.5, "d": [f"v{place:02d}" for place in range(50)]}
    frame = pl.DataFrame({**people, "w": generator.uniform(200, 900, 50)})
    schema = om.Schema(age=om.Numeric(), d=om.Flat(), w=om.Weight())
    method = om.Hybrid(5) if name == "hybrid" else CLUSTERING[name](5)
    release = om.protect(frame, schema, method, seed=1)
    assert np.bincount(release.clusters).min() >= 5
    if name != "hybrid":
        assert release.frame.group_by("age", "d").len()["len"].min() >= 5
        assert min(release.class_sizes) >= 5


@pytest.mark.parametrize("how", ["drop", "star"])
def test_suppression_counts_records_not_people(how):
    frame = pl.DataFrame({"a": [*"vvvvxxxxyz"], "w": [1.0] * 8 + [900.0, 900.0]})
    schema = om.Schema(a=om.Flat(), w=om.Weight())
    release = om.protect(frame, schema, om.Suppression(3, outliers=how), seed=1)
    assert set(release.frame["a"]) == ({"v", "x"} if how == "drop" else {"x", None})
    counted = om.Schema(a=om.Flat(), w=om.Count())
    whole = frame.with_columns(pl.col("w").cast(pl.Int64))
    assert om.protect(whole, counted, om.Suppression(3, outliers=how), seed=1).changed == {"a": 0.0}


def test_weights_move_centroids_and_nothing_else():
    frame = pl.DataFrame({"n": [0.5, 1.0, 2.0, 50.0, 51.0, 55.0], "w": [1.0, 1, 8, 2, 1, 1]})
    schema = om.Schema(n=om.Numeric(), w=om.Weight())
    released = om.protect(frame, schema, om.Microaggregation(3), seed=1).frame["n"]
    assert released.to_list() == pytest.approx([1.75] * 3 + [(100 + 51 + 55) / 4] * 3)


def test_fewer_rows_than_k_cannot_be_resampled():
    frame = pl.DataFrame({"n": [1, 2, 3], "c": [4, 4, 4]})
    schema = om.Schema(n=om.Numeric(), c=om.Count())
    with pytest.raises(om.errors.MethodError) as caught:
        om.protect(frame, schema, om.Resampling(5), seed=1)
    assert str(caught.value) == (
        "k is 5, and resampling draws k samples of different rows, but the table has only 3 rows "
        "(for 12 records); choose k of at most 3, or repeat each row as often as its count says."
    )
    assert set(om.protect(frame, schema, om.Resampling(3), seed=1).frame["n"]) == {2}


@given(case=tables())
@settings(max_examples=15)
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


def squared_loss(frame, method):
    """What is lost of columns in units of their own deviation, computed from the release."""
    kinds = {
        name: om.Numeric() if kind.is_numeric() else om.Flat()
        for name, kind in frame.schema.items()
    }
    released, lost = om.protect(frame, om.Schema.of(kinds), method).frame, 0.0
    for old, new in zip(frame, released, strict=True):
        if old.dtype.is_numeric():
            lost += float((((old - new) / old.std(ddof=0)) ** 2).sum())
        else:
            lost += float((old != new).sum())
    return lost


@pytest.mark.parametrize("words", [0, 1, 2])
def test_of_two_ways_to_cluster_mostly_numbers_the_better_is_kept(words):
    generator, winners = np.random.default_rng(2), set()
    for k in (3, 10, 40, 10, 3):
        frame = pl.DataFrame(generator.normal(size=(150, 3)) ** 3, schema=list("abc"))
        drawn = generator.choice(["x", "y", "z"], (words, 150))
        frame = frame.with_columns(pl.Series(f"word {n}", one) for n, one in enumerate(drawn))
        lost = {
            way: squared_loss(frame, om.Microaggregation(k, dynamic=way))
            for way in (True, False, None)
        }
        assert lost[None] == pytest.approx(min(lost[True], lost[False]))
        winners.add(lost[True] < lost[False])
    assert winners == {True, False}
