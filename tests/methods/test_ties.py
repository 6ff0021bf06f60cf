"""Tables full of equal records: a refinement may divide them, and loses no more than with MDAV."""

import numpy as np
import polars as pl
import pytest

import ontomask as om
from tables import DISEASES

SIZE = 400


def whole_numbers(columns, generator):
    return {f"x{place}": generator.integers(0, 6, SIZE) for place in range(columns)}


def amounts(generator):
    found = np.exp(generator.normal(0.0, 1.5, (3, SIZE)) + generator.normal(0.0, 1.0, SIZE))
    return {f"x{place}": 100 * np.round(3 * one) for place, one in enumerate(found)}


TABLES = {
    "one column": lambda generator: whole_numbers(1, generator),
    "two columns": lambda generator: whole_numbers(2, generator),
    "three columns": lambda generator: whole_numbers(3, generator),
    "counts": lambda generator: {
        "x": generator.poisson(1.0, SIZE),
        "y": generator.geometric(0.4, SIZE),
    },
    "amounts": amounts,
    "words": lambda generator: {
        **whole_numbers(1, generator),
        "sick": generator.choice(["flu", "cold", "asthma"], SIZE),
    },
}


def schema_of(frame):
    kinds = {name: om.Numeric() for name in frame.columns}
    if "sick" in kinds:
        kinds["sick"] = om.Nominal(DISEASES)
    return om.Schema.of(kinds)


def released(frame, k, schema=None, **options):
    method = om.Microaggregation(k, refine=options.pop("refine", True), **options)
    return om.protect(frame, schema or schema_of(frame), method, seed=1)


def loss_of(release):
    return release.details[0]["refinement"]["loss_after"]


@pytest.mark.parametrize("k", [3, 10, 70])
@pytest.mark.parametrize("name", TABLES)
def test_refined_clusters_of_tuples_lose_no_more_than_those_of_records(name, k):
    frame = pl.DataFrame(TABLES[name](np.random.default_rng(3)))
    ours, theirs = released(frame, k), released(frame, k, algorithm="mdav")
    assert min(ours.class_sizes) >= k
    assert ours.verification.kept
    assert loss_of(ours) <= 1.02 * loss_of(theirs) + 1e-9


def test_a_thorough_refinement_divides_and_can_be_repeated(monkeypatch):
    frame, found = pl.DataFrame(TABLES["two columns"](np.random.default_rng(4))), []
    for threads in ("1", "2"):
        monkeypatch.setenv("ONTOMASK_THREADS", threads)
        found.append(released(frame, 20, refine="thorough", rounds=50))
    assert found[0].frame.equals(found[1].frame)
    assert loss_of(found[0]) <= loss_of(released(frame, 20)) + 1e-9
    looks = frame.with_columns(found[0].frame.select(pl.all().name.suffix("'")))
    assert looks.unique().height > frame.unique().height


def test_rows_that_stand_for_several_records_are_never_torn():
    generator = np.random.default_rng(5)
    columns = {**whole_numbers(2, generator), "number": generator.integers(1, 4, SIZE)}
    frame = pl.DataFrame(columns)
    schema = om.Schema(x0=om.Numeric(), x1=om.Numeric(), number=om.Count())
    release = released(frame, 40, schema)
    assert release.verification.kept
    assert min(release.class_sizes) >= 40


def test_models_missing_numbers_weights_and_strata_stay_as_they_are_promised():
    generator = np.random.default_rng(6)
    frame = pl.DataFrame(
        {
            "x0": np.where(generator.random(SIZE) < 0.1, np.nan, generator.integers(0, 4, SIZE)),
            **{name: generator.integers(0, 3, SIZE) for name in ("x1", "part")},
            "weight": generator.random(SIZE) + 0.5,
            "secret": generator.choice(["a", "b", "c"], SIZE),
        }
    )
    schema = om.Schema(
        x0=om.Numeric(),
        x1=om.Numeric(),
        part=om.Flat(),
        weight=om.Weight(),
        secret=om.Flat("sensitive"),
    )
    release = released(
        frame, 8, schema, strata=["part"], privacy=[om.privacy.LDiversity(2)], block_size=20
    )
    assert release.verification.kept
    assert release.frame["part"].equals(frame["part"])
    assert min(release.class_sizes) >= 8
