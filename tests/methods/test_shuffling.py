"""Data shuffling on tables."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.methods.shuffling import Shuffling
from tables import DISEASES, LEAVES, mixed_columns, mixed_schema


def protected(method, frame=None, schema=None, seed=3):
    frame = pl.DataFrame(mixed_columns()) if frame is None else frame
    return om.protect(frame, schema or mixed_schema(), method, seed)


def dependent(count: int = 6000, seed: int = 1) -> pl.DataFrame:
    """Age, stay and charge depend on each other, and the diagnosis on all."""
    generator = np.random.default_rng(seed)
    age = generator.normal(50, 15, count)
    stay = 0.05 * age + generator.exponential(2.0, count)
    charge = 100 * stay + generator.normal(0, 100, count)
    sick = np.argsort(np.argsort(charge + generator.normal(0, 200, count)))
    diagnosis = np.array(LEAVES)[sick * len(LEAVES) // count]
    return pl.DataFrame(
        {"age": age.round(), "stay": stay.round(1), "charge": charge, "diagnosis": diagnosis}
    )


SCHEMA = om.Schema(
    age=om.Numeric(), stay=om.Numeric(), charge=om.Numeric(), diagnosis=om.Nominal(DISEASES)
)


def ranks(frame: pl.DataFrame, names: list[str]) -> np.ndarray:
    return np.corrcoef(np.stack([frame[name].rank().to_numpy() for name in names]))


def test_means_variances_and_values_are_kept_exactly():
    frame = dependent()
    chosen = Shuffling(confidential=["stay", "diagnosis"], given=["age", "charge"])
    release = protected(chosen, frame, SCHEMA).frame
    for name in ("stay", "diagnosis"):
        assert Counter(release[name]) == Counter(frame[name])
        assert not release[name].equals(frame[name])
    assert release["stay"].mean() == pytest.approx(frame["stay"].mean(), rel=1e-12)
    assert release["stay"].var() == pytest.approx(frame["stay"].var(), rel=1e-12)
    before, after = (
        om.statistics.Sample.of(one["diagnosis"].to_list(), DISEASES) for one in (frame, release)
    )
    assert om.statistics.nominal_mean(after) == om.statistics.nominal_mean(before)
    assert om.statistics.nominal_variance(after) == pytest.approx(
        om.statistics.nominal_variance(before), rel=1e-12
    )
    assert release.select("age", "charge").equals(frame.select("age", "charge"))


def test_rank_correlations_are_kept():
    frame = dependent()
    numbers = ["stay", "charge", "age"]
    chosen = Shuffling(confidential=["stay", "charge"], given=["age"])
    release = protected(chosen, frame, SCHEMA).frame
    np.testing.assert_allclose(ranks(release, numbers), ranks(frame, numbers), atol=0.04)
    assert ranks(frame, numbers)[0, 1] > 0.5


def test_without_given_columns_nothing_of_the_old_values_is_left():
    frame = dependent()
    release = protected(Shuffling(confidential=["stay", "charge"]), frame, SCHEMA).frame
    both = np.corrcoef(frame["charge"].rank().to_numpy(), release["charge"].rank().to_numpy())
    assert abs(both[0, 1]) < 0.05
    kept = ranks(release, ["stay", "charge"])[0, 1]
    assert kept == pytest.approx(ranks(frame, ["stay", "charge"])[0, 1], abs=0.04)
    alone = ranks(release, ["age", "charge"])[0, 1]
    assert abs(alone) < 0.05 < ranks(frame, ["age", "charge"])[0, 1]


def test_concepts_of_equal_marginality_map_back_exactly():
    """Flu and cold are siblings and equally frequent: their marginalities are equal."""
    values = ["flu", "cold"] * 20 + ["asthma"] * 7
    frame = pl.DataFrame({"diagnosis": values, "age": list(range(47))})
    schema = om.Schema(diagnosis=om.Nominal(DISEASES), age=om.Numeric())
    sample = om.statistics.Sample.of(values, DISEASES)
    assert om.statistics.marginality(sample)[0] == om.statistics.marginality(sample)[1]
    release = protected(Shuffling(confidential=["diagnosis"], given=["age"]), frame, schema)
    assert Counter(release.frame["diagnosis"]) == Counter(values)


def test_all_kinds_of_columns_with_missing_values():
    names = ["diagnosis", "severity", "sex", "admitted", "charge"]
    frame = pl.DataFrame(mixed_columns())
    release = protected(Shuffling(confidential=names, given=["age"]), frame).frame
    for name in names:
        assert Counter(release[name]) == Counter(frame[name])
        assert release[name].dtype == frame[name].dtype
    assert release["age"].equals(frame["age"])


def test_a_column_with_one_value_is_left_alone():
    frame = dependent(300).with_columns(ward=pl.lit("east"))
    schema = om.Schema(ward=om.Flat(), age=om.Numeric(), stay=om.Numeric())
    release = protected(Shuffling(confidential=["ward", "stay"], given=["age"]), frame, schema)
    assert set(release.frame["ward"]) == {"east"}


def test_given_measure_and_seed_matter():
    frame = dependent(300)
    counts = {"flu": 90, "cold": 15, "lung cancer": 60, "asthma": 36, "skin cancer": 72}
    skewed = [one for one, count in {**counts, "pneumonia": 27}.items() for _ in range(count)]
    frame = frame.with_columns(diagnosis=pl.Series(skewed))
    plain = Shuffling(confidential=["diagnosis"], given=["age"])
    first = protected(plain, frame, SCHEMA).frame
    assert first.equals(protected(plain, frame, SCHEMA).frame)
    for other in (
        protected(plain, frame, SCHEMA, seed=4),
        protected(Shuffling(confidential=["diagnosis"], given=["stay"]), frame, SCHEMA),
        protected(Shuffling(["diagnosis"], ["age"], measure="weighted-path"), frame, SCHEMA),
    ):
        assert not first.equals(other.frame)


def test_strata_are_kept_apart():
    frame = pl.DataFrame(mixed_columns(80, gaps=False))
    chosen = Shuffling(confidential=["age"], given=["charge"], strata=("sex",))
    release = protected(chosen, frame).frame
    before = Counter(zip(frame["sex"], frame["age"], strict=True))
    assert Counter(zip(release["sex"], release["age"], strict=True)) == before


def test_shuffled_records_cannot_be_linked():
    """A nearest-neighbor attack on the shuffled columns does no better than chance."""
    frame = dependent(800)
    release = protected(Shuffling(["stay", "charge"], given=["age"]), frame, SCHEMA).frame
    old, new = (one.select("stay", "charge").to_numpy() for one in (frame, release))
    scale = old.std(axis=0)
    gaps = np.abs(old[:, None] / scale - new[None] / scale).sum(axis=2)
    linked = int((gaps.argmin(axis=0) == np.arange(800)).sum())
    assert linked <= 8
