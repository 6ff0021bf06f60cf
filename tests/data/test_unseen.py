"""Rules that a table suggests: what never occurs although both parts are frequent."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.data.unseen import EXPECTED, unseen

CARE = om.Taxonomy.from_parents(
    {
        "care": [],
        "birth": ["care"],
        "delivery": ["birth"],
        "caesarean": ["birth"],
        "other": ["care"],
        "newborn": ["other"],
        "flu": ["other"],
        "fracture": ["other"],
    },
    name="care",
)
SCHEMA = om.Schema(sex=om.Flat(), age=om.Numeric(), place=om.Flat(), code=om.Nominal(CARE))


def people(count: int = 2000, seed: int = 1) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    code = generator.choice(["delivery", "caesarean", "newborn", "flu", "fracture"], count)
    birth = np.isin(code, ["delivery", "caesarean"])
    age = np.where(birth, generator.integers(15, 46, count), generator.integers(0, 100, count))
    return pl.DataFrame(
        {
            "sex": np.where(birth, "f", generator.choice(["f", "m"], count)),
            "age": np.where(code == "newborn", 0, age),
            "place": generator.choice(["north", "south", "west"], count),
            "code": code,
        }
    )


def proposed(frame: pl.DataFrame, schema: om.Schema = SCHEMA) -> dict[str, float]:
    return {str(one.rule): one.expected for one in unseen(encode(open_table(frame), schema))}


@pytest.mark.parametrize("seed", range(3))
def test_what_nobody_has_is_proposed(seed: int) -> None:
    frame = people(seed=seed)
    found = proposed(frame)
    births = frame.filter(pl.col("code").is_in(["delivery", "caesarean"]))
    men = (frame["sex"] == "m").sum()
    assert found["when sex m, never code birth"] == pytest.approx(births.height * men / 2000)
    youngest = max(age for age in frame["age"] if age < births["age"].min())
    early = (frame["age"] <= youngest).sum()
    key = f"when code birth, never age to {youngest}"
    assert found[key] == pytest.approx(births.height * early / 2000)
    newborns = (frame["code"] == "newborn").sum()
    grown = (frame["age"] > 0).sum()
    first = min(age for age in frame["age"] if age > 0)
    assert found[f"when code newborn, never age from {first}"] == pytest.approx(
        newborns * grown / 2000
    )
    assert not any("place" in one for one in found)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert min(found.values()) >= EXPECTED


def test_every_proposal_holds_in_the_whole_table() -> None:
    frame = people()
    for one in unseen(encode(open_table(frame), SCHEMA)):
        microdata = encode(open_table(frame), SCHEMA.with_rules(one.rule))
        assert not microdata.violations()[0].any()


def test_several_values_that_exclude_the_same_are_one_rule() -> None:
    """Ages in bands: two of them are too old to give birth, one is too young."""
    plain = people().filter(pl.col("code") != "newborn")
    bands = np.array(["child", "grown", "older", "old"])
    frame = plain.with_columns(age=bands[np.digitize(plain["age"], [15, 46, 71])])
    schema = om.Schema(age=om.Flat(), code=om.Nominal(CARE))
    found = proposed(frame, schema)
    said = [one for one in found if one.endswith("never code birth")]
    assert len(said) == 1
    values = said[0].split(", ")[0].removeprefix("when age ").split(" or ")
    assert sorted(values) == ["child", "old", "older"]
    births = frame["code"].is_in(["delivery", "caesarean"]).sum()
    others = (frame["age"] != "grown").sum()
    assert found[said[0]] == pytest.approx(births * others / len(frame))


def test_independent_columns_suggest_nothing() -> None:
    generator = np.random.default_rng(2)
    frame = people()
    shuffled = frame.select(pl.Series(one.name, generator.permutation(one)) for one in frame)
    assert proposed(shuffled) == {}
    assert proposed(frame.head(60)) == {}


def test_words_against_words_and_gaps() -> None:
    frame = pl.DataFrame(
        {
            "sex": ["f", "m"] * 400 + [None] * 10,
            "tie": ["wife", "husband"] * 100 + ["child", "child"] * 300 + ["wife"] * 10,
        }
    )
    assert proposed(frame, om.Schema(sex=om.Flat(), tie=om.Flat())) == {
        "when tie husband, never sex f": 50.0,
        "when tie wife, never sex m": 50.0,
    }


def test_init_writes_them_into_the_plan(tmp_path) -> None:
    people().select("sex", "age", "place").with_columns(
        pl.when(pl.col("age") < 15).then(pl.lit("child")).otherwise(pl.lit("grown")).alias("group")
    ).write_csv(tmp_path / "people.csv")
    from ontomask.plan.proposal import propose

    text = propose(tmp_path / "people.csv", tmp_path / "plan.toml")[0]
    assert '# when = { group = "child" }\n# never = { age = { from = 15 } }\n' in text.replace(
        '["child"]', '"child"'
    )
    assert "# [[rules]]   # no record, where " in text
