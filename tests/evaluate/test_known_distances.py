"""Distances between the values of a column are computed once, whatever is asked of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.evaluation.pairing import pair_tables
from ontomask.evaluation.sides import CodedSides
from ontomask.evaluation.statistics import measure_statistics
from ontomask.taxonomy.measures import Space
from tables import DISEASES, LEAVES


@pytest.fixture
def tables():
    generator = np.random.default_rng(3)
    original = pl.DataFrame(
        {name: generator.choice(LEAVES, 80).tolist() for name in ("first", "second")}
    )
    masked = original.with_columns(pl.col("second").shuffle(seed=1))
    schema = om.Schema(first=om.Nominal(DISEASES), second=om.Nominal(DISEASES))
    return original, masked, schema


def test_a_sample_with_known_distances_takes_them():
    sample = om.statistics.Sample.of(LEAVES, DISEASES)
    doubled = om.statistics.Sample.with_matrix(
        sample.space, sample.concepts, sample.codes, 2.0 * sample.matrix
    )
    assert om.statistics.nominal_variance(doubled) == pytest.approx(
        2.0 * om.statistics.nominal_variance(sample)
    )


def test_statistics_agree_with_samples_made_anew(tables):
    original, masked, schema = tables
    found = {
        (one.name, one.columns): one.masked
        for one in measure_statistics(pair_tables(original, masked, schema), subdomains=2)
    }
    samples = [om.statistics.Sample.of(masked[name].to_list(), DISEASES) for name in masked.columns]
    assert found["marginality variance", ("second",)] == pytest.approx(
        om.statistics.nominal_variance(samples[1])
    )
    assert found["semantic correlation", ("first", "second")] == pytest.approx(
        om.statistics.semantic_correlation(*samples)
    )


def test_single_columns_and_pairs_share_what_is_known_of_a_column(tables, monkeypatch):
    asked = []
    between = CodedSides.originals_apart
    monkeypatch.setattr(
        CodedSides,
        "originals_apart",
        lambda self, first, second: asked.append(self) or between(self, first, second),
    )
    paired = pair_tables(*tables[:2], tables[2])
    measure_statistics(paired)
    assert len(asked) == len(paired.columns)


def test_subdomains_compute_no_distances_of_values_again(tables, monkeypatch):
    sizes = []
    between = Space.between
    monkeypatch.setattr(Space, "between", lambda *given: sizes.append(1) or between(*given))
    counts = []
    for subdomains in (0, 30):
        sizes.clear()
        measure_statistics(pair_tables(*tables[:2], tables[2]), subdomains=subdomains)
        counts.append(len(sizes))
    assert counts[0] == counts[1]
