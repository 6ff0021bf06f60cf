"""Groups of columns and of pairs of columns, before and after masking."""

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.report.maps import axis_of, shares_of

PETS = om.Taxonomy.from_parents(
    {
        "pet": [],
        "cat": ["pet"],
        "dog": ["pet"],
        "beagle": ["dog"],
        "boxer": ["dog"],
        "fish": ["pet"],
    }
)
FRAME = pl.DataFrame(
    {
        "pet": ["beagle", "boxer", "dog", "cat", "cat", "cat", "beagle", "fish"] * 5,
        "age": [3, 4, 5, 6, 7, 8, 9, None] * 5,
        "sex": ["f", "m", "f", "m", "m", "m", "f", "f"] * 5,
        "stage": ["low", "mid", "high", "low", "mid", "high", "low", "mid"] * 5,
    }
)
SCHEMA = om.Schema(
    pet=om.Nominal(PETS),
    age=om.Numeric(),
    sex=om.Flat(),
    stage=om.Ordinal(["low", "mid", "high"], role="sensitive"),
)


@pytest.fixture(scope="module")
def release():
    return om.protect(FRAME, SCHEMA, om.Microaggregation(k=4), seed=1)


def counted(frame, *names):
    found = frame.group_by(names).len().rows()
    return {row[:-1]: row[-1] / len(frame) for row in found}


def named(shares, *axes):
    keys = np.argwhere(shares > 0).tolist()
    return {
        tuple(axis.names[place] for axis, place in zip(axes, key, strict=True)): shares[tuple(key)]
        for key in keys
    }


def test_pairs_of_values_are_counted_before_and_after(release):
    columns = release.paired().columns
    sex, stage = axis_of(columns["sex"]), axis_of(columns["stage"])
    assert stage.names[:3] == ("low", "mid", "high")
    before, after = shares_of(sex, stage, np.ones(len(FRAME)))
    assert named(before, sex, stage) == pytest.approx(counted(FRAME, "sex", "stage"))
    assert named(after, sex, stage) == pytest.approx(counted(release.frame, "sex", "stage"))


def test_a_taxonomy_is_gone_down_level_by_level(release):
    column = release.paired().columns["pet"]
    top = axis_of(column)
    assert top.within == PETS.index_of("pet")
    kinds = {"beagle": "dog", "boxer": "dog"}
    for shares, frame in zip(
        shares_of(top, None, np.ones(40)), (FRAME, release.frame), strict=True
    ):
        wanted = frame.with_columns(pl.col("pet").replace(kinds))
        assert named(shares, top) == pytest.approx(counted(wanted, "pet"))
    dogs = axis_of(column, top.concepts[top.names.index("dog")])
    assert {"beagle", "missing or suppressed"} <= set(dogs.names)
    assert set(dogs.names) <= {"dog", "beagle", "boxer", "missing or suppressed"}
    before, _ = shares_of(dogs, None, np.ones(40))
    assert before[dogs.names.index("beagle")] == pytest.approx(10 / 40)
    assert before[-1] == pytest.approx(20 / 40)  # what is no dog


def test_numbers_are_in_intervals_and_many_values_are_others():
    codes = [f"c{n % 30:02}" for n in range(400)]
    frame = pl.DataFrame({"age": list(range(400)), "code": codes})
    schema = om.Schema(age=om.Numeric(), code=om.Flat(role="other"))
    columns = om.protect(frame, schema, om.Microaggregation(k=5), seed=1).paired().columns
    age, code = axis_of(columns["age"]), axis_of(columns["code"])
    assert len(age.names) <= 13
    before, after = shares_of(age, code, np.ones(400))
    assert before.sum() == pytest.approx(1)
    assert after.sum() == pytest.approx(1)
    assert len(code.names) == 13
    assert code.names[-1] == "others"
    assert shares_of(code, None, np.ones(400))[0][-1] == pytest.approx(
        sum(codes.count(one) for one in set(codes) - set(code.names)) / 400
    )


def test_generalized_values_are_compared_at_the_level_of_the_release():
    step = om.Generalization(
        privacy=[om.privacy.KAnonymity(k=4)],
        suppression_limit=1.0,
        hierarchies={"age": {"intervals": [5]}, "sex": {"star": True}, "pet": {"star": True}},
        levels={"age": 1, "sex": 0, "pet": 1},
    )
    columns = om.protect(FRAME, SCHEMA, step, seed=1).paired().columns
    age = axis_of(columns["age"])
    assert {"[0, 5)", "[5, 10)"} <= set(age.names)
    before, _ = shares_of(age, None, np.ones(40))
    assert before[age.names.index("[0, 5)")] == pytest.approx(10 / 40)
