"""One body for all engines: the release is the same set of records, and the one of memory."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.errors import DataError

ODD = 'größe in "cm", a.b `c`'
pytestmark = pytest.mark.filterwarnings("ignore")  # Spark and pandas warn of each other


def people(count=400, seed=1):
    """Records with gaps, NaN, both zeros, odd names, duplicates and left-out candidates."""
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [f"p{place % (count // 2)}" for place in range(count)],
            "age": pl.Series(draw.integers(20, 50, count)).set(
                pl.Series(draw.random(count) < 0.1), None
            ),
            ODD: draw.choice([1.0, 2.5, 0.0, -0.0, float("nan")], count),
            "sex": pl.Series(draw.choice(["m", "f", "?"], count)).replace("?", None),
            "cost": pl.Series(draw.normal(100, 20, count)).set(
                pl.Series(draw.random(count) < 0.05), float("nan")
            ),
            "wage": draw.integers(0, 9, count),
            "illness": draw.choice(["a", "b", "c"], count),
            "note": pl.Series(draw.choice(["x", "y", "?"], count)).replace("?", None),
        }
    )


SCHEMA = om.Schema.of(
    {
        "id": om.Identifier(),
        "age": om.Numeric(),
        ODD: om.Numeric(),
        "sex": om.Flat(),
        "cost": om.Numeric("other"),
        "wage": om.Numeric("other"),
        "illness": om.Flat("sensitive"),
    }
)
SUPPRESSING = om.Schema.of({**SCHEMA, "note": om.Flat("other", missing="suppress")})
HIERARCHIES = {
    "age": om.knowledge.interval_hierarchy(range(20, 50), (5, 10)),
    ODD: om.Hierarchy.from_rows([["0", "low", "*"], ["1", "low", "*"], ["2.5", "high", "*"]]),
    "sex": om.Hierarchy.from_rows([["m", "*"], ["f", "*"]]),
}
KEY = "0123456789abcdef"


def written(frame, folder, parts=1):
    """The frame as Parquet files, the last of which is empty if there are several."""
    folder.mkdir()
    size = -(-len(frame) // max(parts - 1, 1))
    for part in range(parts):
        frame[part * size : (part + 1) * size].write_parquet(folder / f"{part}.parquet")
    return folder


def in_order(frame):
    return frame.sort(frame.columns, nulls_last=True)


STEPS = {
    "microaggregation": [om.Microaggregation(5)],
    "refined": [om.Microaggregation(4, refine=True)],
    "by stratum": [om.Microaggregation(3, strata=("wage",))],
    "recoding": [om.Recoding(4)],
    "generalization": [
        om.Generalization(
            [om.privacy.KAnonymity(4)], suppression_limit=0.2, hierarchies=HIERARCHIES
        )
    ],
    "diversity and closeness": [
        om.Generalization(
            [om.privacy.KAnonymity(3), om.privacy.LDiversity(2), om.privacy.TCloseness(0.4)],
            suppression_limit=0.1,
            outliers="drop",
            hierarchies=HIERARCHIES,
        )
    ],
    "locally": [
        om.Generalization([om.privacy.KAnonymity(4)], algorithm="local", hierarchies=HIERARCHIES)
    ],
    "suppression": [om.Suppression(3)],
    "stars": [om.Suppression(3, outliers="star")],
    "rounding first": [om.Rounding(("age", "cost"), 10), om.Microaggregation(5)],
    "pseudonyms": [om.Pseudonyms(("id",), KEY), om.Suppression(3)],
    "dropped": [om.Suppression(3), om.DropColumns(("sex", "wage"))],
    "top coding": [om.TopBottomCoding(("wage",), top_share=0.2, replace="mean")],
    "a model of sensitive values": [om.Microaggregation(3, privacy=[om.privacy.LDiversity(2)])],
    "resampling": [om.Resampling(4)],
    "hybrid": [om.Hybrid(4, algorithm="sa-mdav")],
    "pram": [om.Pram(columns=("sex", "illness"))],
    "noise": [om.Noise(("age", "cost"))],
    "correlated noise": [om.Noise(("wage", "cost"), correlated=True)],
    "random rounding": [om.Rounding(("age", "wage"), 5, algorithm="random")],
    "swapping": [om.RankSwapping(k=10)],
    "shuffling": [om.Shuffling(("cost",), given=("age",))],
    "sampling": [om.Sampling(0.5, strata=("wage",))],
    "one after the other": [
        om.RankSwapping(k=10, columns=("cost",)),
        om.Sampling(0.7),
        om.Pram(columns=("sex", "illness")),
        om.Microaggregation(3),
        om.Pseudonyms(("id",), KEY),
        om.DropColumns(("wage",)),
    ],
}
EXACT = (
    *("generalization", "diversity and closeness", "locally", "suppression", "stars"),
    *("pseudonyms", "dropped", "top coding"),
)
"""Steps in which nothing is drawn: draws depend on all that was asked together."""


CASES = {
    **{name: (SUPPRESSING, steps) for name, steps in STEPS.items()},
    **{f"{name}, nobody left out": (SCHEMA, STEPS[name]) for name in (*EXACT, "pram")},
}


@pytest.mark.parametrize(("schema", "steps"), CASES.values(), ids=CASES)
def test_the_release_is_that_of_lazy_polars_and_of_memory(engine, schema, steps, tmp_path):
    frame = people()
    large = om.protect(engine.open(written(frame, tmp_path / "in")), schema, steps, seed=3)
    found = in_order(engine.collected(large.frame))
    asked = om.protect(frame.lazy(), schema, steps, seed=3)
    assert found.equals(in_order(asked.frame.collect()))
    memory = om.protect(frame, schema, steps, seed=3)
    assert found.columns == memory.frame.columns
    assert large.left_out == memory.left_out
    if any(steps is STEPS[name] for name in EXACT):
        assert found.equals(in_order(memory.frame))
        assert large.suppressed == memory.suppressed
        assert large.class_sizes == memory.class_sizes
        assert large.changed == pytest.approx(memory.changed)


@pytest.mark.parametrize("engine", ["polars", "duckdb"], indirect=True)
def test_k_is_counted_by_the_engine_and_independently(engine, tmp_path):
    frame = people()
    native = engine.open(written(frame, tmp_path / "in"))
    release = om.protect(native, SCHEMA, om.Microaggregation(7), seed=1)
    found = engine.collected(release.frame)
    smallest = found.group_by(SCHEMA.quasi).len()["len"].min()
    assert smallest >= 7
    assert release.verification.findings[-1].figure == smallest
    assert found["cost"].drop_nulls().sort().equals(frame["cost"].drop_nans().sort())


# Tables that are odd as a whole ----------------------------------------------------------------

AGES = om.Schema(age=om.Numeric(), sex=om.Flat(), cost=om.Numeric("other"))


def ages(values):
    return pl.DataFrame(
        {
            "age": values,
            "sex": ["f" if value % 2 else "m" for value in values],
            "cost": np.arange(len(values), dtype=np.float64),
        }
    )


TABLES = {
    "one giant tuple": ages([40] * 300 + [41] * 5 + [90] * 3),
    "all tuples distinct": ages(list(range(200))),
    "a few records": ages([1, 3, 5, 7]),
}


@pytest.mark.parametrize("frame", TABLES.values(), ids=TABLES)
def test_partitions_do_not_matter_and_neither_does_the_order(engine, frame, tmp_path):
    found = []
    for parts, order in ((1, 1), (4, 7)):
        shuffled = frame.sample(fraction=1.0, shuffle=True, seed=order)
        native = engine.open(written(shuffled, tmp_path / f"in {parts}", parts))
        release = om.protect(native, AGES, om.Microaggregation(3), seed=5)
        found.append(in_order(engine.collected(release.frame)))
    assert found[0].equals(found[1])
    assert found[0]["cost"].sort().equals(frame["cost"])
    assert found[0].group_by("age", "sex").len()["len"].min() >= 3


def test_values_that_change_between_the_two_questions_are_noticed(engine, tmp_path):
    from ontomask.engines.libraries import library_of
    from ontomask.engines.protecting import prepare
    from ontomask.engines.release import recounted

    frame = people()
    native = engine.open(written(frame, tmp_path / "in"))
    ready = prepare(native, library_of(native), SCHEMA, om.Suppression(3), 1)
    kept = recounted(ready, ready.rewritten(), library_of(native))
    assert "cost, wage, illness: unchanged" in [one.promise.describe() for one in kept.findings]
    later = frame.with_columns(wage=pl.col("wage").shift(1, fill_value=0))
    other = engine.open(written(later, tmp_path / "later"))
    made = prepare(other, library_of(other), SCHEMA, om.Suppression(3), 1).rewritten()
    with pytest.raises(DataError, match="other values beside them"):
        recounted(ready, made, library_of(other))


def test_a_record_that_vanishes_is_noticed_though_it_would_have_been_left_out(engine, tmp_path):
    from ontomask.engines.libraries import library_of
    from ontomask.engines.protecting import prepare
    from ontomask.engines.release import recounted
    from ontomask.engines.tables import LargeTable

    frame = ages([40] * 30 + [90])
    native = engine.open(written(frame, tmp_path / "in"))
    ready = prepare(native, library_of(native), AGES, om.Suppression(3), 1)
    assert ready.main.release.left_out == 1
    assert recounted(ready, ready.rewritten(), library_of(native)).kept
    less = engine.open(written(frame[:-1], tmp_path / "later"))
    later = replace(ready, table=LargeTable.of(less, library_of(less)))
    with pytest.raises(DataError, match="30 rows instead of 31"):
        recounted(later, later.rewritten(), library_of(less))


@pytest.mark.parametrize("engine", ["spark"], indirect=True)
def test_spark_copies_combinations_instead_of_sorting_the_table(engine, tmp_path, capsys):
    engine.session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")  # as if they were many
    native = engine.open(written(people(), tmp_path / "in"))
    om.protect(native, SCHEMA, om.Suppression(3), seed=1).frame.explain()
    engine.session.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    joins = [one for one in capsys.readouterr().out.splitlines() if "Join" in one]
    assert len(joins) == 1
    assert "BroadcastHashJoin" in joins[0]


def test_counts_and_weights_are_added_up(engine, tmp_path):
    frame = pl.DataFrame(
        {
            "age": [20, 20, 21, 60, 61, 61],
            "number": [1, 2, 1, 2, 1, 1],
            "weight": [1.5, 0.5, 3.0, 1.0, 2.0, 2.0],
        }
    )
    schema = om.Schema(age=om.Numeric(), number=om.Count(), weight=om.Weight())
    native = engine.open(written(frame, tmp_path / "in"))
    release = om.protect(native, schema, om.Microaggregation(4), seed=1)
    found = engine.collected(release.frame).sort("age", "number")
    memory = om.protect(frame, schema, om.Microaggregation(4), seed=1)
    assert found.equals(memory.frame.sort("age", "number"))
    assert found["age"].to_list() == [21, 21, 21, 61, 61, 61]  # means 20.55 and 60.67, of people
    assert release.class_sizes == {4: 2}
    assert release.verification.findings[-1].figure == 4


def test_figures_are_those_of_the_records(engine, tmp_path):
    frame = people()
    native = engine.open(written(frame, tmp_path / "in"))
    steps = STEPS["generalization"]
    large = om.protect(native, SCHEMA, steps, seed=1).evaluate()
    memory = om.protect(frame, SCHEMA, steps, seed=1).evaluate(frame, columns=SCHEMA.quasi)
    assert large.loss.loss == pytest.approx(memory.loss.loss)
    assert large.risk_after.average_risk == pytest.approx(memory.risk_after.average_risk)
