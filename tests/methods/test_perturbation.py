"""Noise, top and bottom coding, rounding and sampling."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.methods.perturbation import Noise, Rounding, Sampling, TopBottomCoding
from ontomask.methods.points import number_column
from tables import mixed_columns, mixed_schema

NUMBERS = om.Schema(height=om.Numeric(), weight=om.Numeric(), sex=om.Flat(role="other"))


def body(count: int = 4000) -> pl.DataFrame:
    generator = np.random.default_rng(1)
    height = generator.normal(170, 10, count)
    weight = 0.9 * height - 80 + generator.normal(0, 6, count)
    return pl.DataFrame(
        {"height": height, "weight": weight, "sex": generator.choice(["f", "m"], count)}
    )


def protected(method, frame=None, schema=None, seed=3):
    frame = body() if frame is None else frame
    return om.protect(frame, schema or NUMBERS, method, seed).frame


# Noise -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.1, 0.5])
def test_noise_has_the_size_asked_for(scale):
    frame = body()
    noise = (protected(Noise(["height"], scale=scale))["height"] - frame["height"]).to_numpy()
    assert noise.std() == pytest.approx(scale * frame["height"].std(), rel=0.05)
    assert abs(noise.mean()) < 0.1 * scale * frame["height"].std()


def test_correlated_noise_keeps_correlations_and_independent_noise_weakens_them():
    frame, names = body(), ["height", "weight"]
    before = np.corrcoef(frame["height"], frame["weight"])[0, 1]
    kept = protected(Noise(names, scale=0.7, correlated=True))
    weakened = protected(Noise(names, scale=0.7))
    assert np.corrcoef(kept["height"], kept["weight"])[0, 1] == pytest.approx(before, abs=0.02)
    expected = before / (1 + 0.7**2)
    found = np.corrcoef(weakened["height"], weakened["weight"])[0, 1]
    assert found == pytest.approx(expected, abs=0.02)


def test_noise_within_the_range():
    frame = body()
    free, bounded = (
        protected(Noise(["height"], scale=1.0, keep_range=keep)) for keep in (False, True)
    )
    assert free["height"].max() > frame["height"].max()
    assert bounded["height"].max() == frame["height"].max()
    assert bounded["height"].min() == frame["height"].min()


def test_whole_numbers_dates_and_gaps_stay_what_they_are():
    columns = mixed_columns()
    columns["age"][3] = None
    frame = pl.DataFrame(columns)
    release = protected(Noise(["age", "admitted"], scale=1.0), frame, mixed_schema())
    assert release["admitted"].dtype == frame["admitted"].dtype
    assert release["age"].null_count() == 1
    assert (release["age"].drop_nulls() % 1 == 0).all()
    assert not release["admitted"].equals(frame["admitted"])
    correlated = protected(Noise(["age", "charge"], correlated=True), frame, mixed_schema())
    assert correlated["age"].null_count() == 1


@pytest.mark.parametrize("kind", [pl.Int64, pl.Decimal(10, 1), pl.Date])
def test_numbers_that_round_to_the_same_are_written_once(kind):
    column = om.Date() if kind == pl.Date else om.Numeric()
    frame = pl.DataFrame({"n": pl.Series([7, 3, 5, 3], dtype=pl.Int64).cast(kind)})
    attribute = encode(open_table(frame), om.Schema(n=column))["n"]
    days = attribute.record_numbers()
    around = days[[0, 1, 2]] + np.array([[0.02], [-0.01], [0.0], [0.01], [1.02]])
    found = number_column(attribute, np.append(around.ravel(), np.nan))
    assert found.has_missing
    np.testing.assert_array_equal(
        found.record_numbers(), [*np.tile(days[[0, 1, 2]], 4), *(days[[0, 1, 2]] + 1.0), np.nan]
    )
    # 3, 4, 5, 6, 7 and 8
    assert found.size == len(found.values) == len(set(found.values)) == 6


def test_noise_of_a_constant_is_nothing():
    frame = body(50).with_columns(height=pl.lit(7.0))
    for correlated in (False, True):
        release = protected(Noise(["height", "weight"], correlated=correlated), frame)
        assert set(release["height"]) == {7.0}


# Top and bottom coding ---------------------------------------------------------------------------


def test_limits():
    frame = pl.DataFrame({"age": [1, 50, 90, 104, None, 95]})
    schema = om.Schema(age=om.Numeric())
    found = protected(TopBottomCoding(["age"], top=90, bottom=18), frame, schema)["age"]
    assert found.to_list() == [18, 50, 90, 90, None, 90]
    found = protected(TopBottomCoding(["age"], top=90), frame, schema)["age"]
    assert found.to_list() == [1, 50, 90, 90, None, 90]


def test_the_mean_of_what_was_replaced_keeps_the_mean():
    frame = pl.DataFrame({"income": [1.0, 2.0, 3.0, 10.0, 20.0]})
    schema = om.Schema(income=om.Numeric())
    found = protected(TopBottomCoding(["income"], top=5, replace="mean"), frame, schema)["income"]
    assert found.to_list() == [1.0, 2.0, 3.0, 15.0, 15.0]
    assert found.mean() == frame["income"].mean()


def test_shares_replace_at_most_so_many():
    frame = pl.DataFrame({"income": [float(one) for one in range(100)]})
    schema = om.Schema(income=om.Numeric())
    chosen = TopBottomCoding(["income"], top_share=0.05, bottom_share=0.03)
    found = protected(chosen, frame, schema)["income"]
    assert (found != frame["income"]).sum() == 8
    assert (found.max(), found.min()) == (94.0, 3.0)
    tied = pl.DataFrame({"income": [1.0] * 10 + [9.0] * 10})
    assert protected(TopBottomCoding(["income"], top_share=0.2), tied, schema).equals(tied)


def test_dates_by_share():
    frame = pl.DataFrame(mixed_columns())
    release = protected(TopBottomCoding(["admitted"], top_share=0.1), frame, mixed_schema())
    assert release["admitted"].max() < frame["admitted"].max()
    assert release["admitted"].dtype == pl.Date


# Rounding ----------------------------------------------------------------------------------------


def test_rounding_to_the_nearest_multiple():
    frame = pl.DataFrame({"charge": [0, 499, 501, 1500, 2500, None]})
    schema = om.Schema(charge=om.Numeric())
    found = protected(Rounding(["charge"], base=1000), frame, schema)["charge"]
    assert found.to_list() == [0, 0, 1000, 2000, 2000, None]


def test_random_rounding_is_unbiased():
    frame = pl.DataFrame({"count": [2] * 20_000})
    schema = om.Schema(count=om.Numeric())
    found = protected(Rounding(["count"], base=5, algorithm="random"), frame, schema)["count"]
    assert set(found) == {0, 5}
    assert found.mean() == pytest.approx(2, abs=0.1)
    assert found.dtype == frame["count"].dtype


def test_multiples_are_not_moved_by_random_rounding():
    frame = pl.DataFrame({"count": [0, 5, 10, 15]})
    schema = om.Schema(count=om.Numeric())
    assert protected(Rounding(["count"], base=5, algorithm="random"), frame, schema).equals(frame)


# Sampling ----------------------------------------------------------------------------------------


def test_a_sample_is_a_part_of_the_table():
    frame = body(200)
    for chosen in (Sampling(share=0.25), Sampling(size=50)):
        release = om.protect(frame, NUMBERS, chosen, 1)
        assert len(release.frame) == 50
        assert release.suppressed == 150
        assert not set(release.frame.rows()) - set(frame.rows())
        assert release.frame.rows() == [row for row in frame.rows() if row in release.frame.rows()]
    assert not protected(Sampling(size=50), frame).equals(
        protected(Sampling(size=50), frame, seed=9)
    )


def test_a_stratified_sample_keeps_the_shares():
    frame = pl.DataFrame({"sex": ["f"] * 300 + ["m"] * 100, "age": list(range(400))})
    schema = om.Schema(sex=om.Flat(), age=om.Numeric())
    release = protected(Sampling(share=0.1, strata=("sex",)), frame, schema)
    assert Counter(release["sex"]) == {"f": 30, "m": 10}


def test_everybody_is_as_likely_to_be_in_the_sample():
    frame = pl.DataFrame({"age": list(range(10))})
    schema = om.Schema(age=om.Numeric())
    seen = Counter(
        age
        for seed in range(500)
        for age in protected(Sampling(size=3), frame, schema, seed)["age"]
    )
    assert min(seen.values()) > 110
    assert max(seen.values()) < 190
