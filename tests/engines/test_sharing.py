"""Steps that draw for every record: what they do to combinations, and to which of their records."""

import itertools
from collections import Counter

import numpy as np
import polars as pl
import pytest
from test_every_engine import in_order, written

import ontomask as om
from ontomask import memory
from ontomask.engines.libraries import LazyPolars
from ontomask.engines.protecting import prepare
from ontomask.engines.release import recounted
from ontomask.errors import DataError, MethodError, ShortMemoryError

SCHEMA = om.Schema(sex=om.Flat(), vote=om.Flat("sensitive"), cost=om.Numeric("other"))
SWAPPED = om.RankSwapping(k=30, columns=("cost",))


def votes(count=1200):
    """Two large combinations, and costs that tell their records apart."""
    return pl.DataFrame(
        {
            "sex": ["f", "m"] * (count // 2),
            "vote": ["yes", "yes", "no", "yes"] * (count // 4),
            "cost": np.arange(count),
        }
    )


def released(frame, step, seed=1, schema=SCHEMA):
    return om.protect(frame.lazy(), schema, step, seed=seed)


def test_a_sample_has_its_size_and_is_drawn_from_all_records():
    frame = votes()
    kept = [released(frame, om.Sampling(0.5), seed).frame.collect() for seed in (1, 2)]
    for one in kept:
        assert len(one) == 600
        assert one.join(frame, on=frame.columns, nulls_equal=True).height == 600
        # the mean of 600 of the numbers below 1,200 has a standard deviation of 10
        assert abs(one["cost"].mean() - 599.5) < 45
        assert len(one.filter(pl.col("cost") < 300)) > 100
    assert 200 < kept[0].join(kept[1], on="cost").height < 400  # 300 expected


def test_values_change_as_often_as_the_method_says_whatever_else_a_record_holds():
    frame = votes(4000)
    step = om.Pram(columns=("vote",), matrix=[[0.7, 0.3], [0.1, 0.9]], order=["yes", "no"])
    pairs = frame.join(released(frame, step).frame.collect(), on="cost", suffix="_new")
    for half in (pairs.filter(pl.col("cost") < 2000), pairs.filter(pl.col("cost") >= 2000)):
        for old, stays in (("yes", 0.7), ("no", 0.9)):
            of_old = half.filter(pl.col("vote") == old)
            share = (of_old["vote_new"] == old).mean()
            assert abs(share - stays) < 4 * np.sqrt(stays * (1 - stays) / len(of_old))


def test_noise_has_the_spread_that_was_asked_for():
    frame = votes(4000)
    noisy = released(frame, om.Noise(("cost",), scale=0.2)).frame.collect()
    assert noisy["cost"].std() == pytest.approx(frame["cost"].std() * np.sqrt(1.04), rel=0.05)


def test_swapped_values_are_those_of_the_column_and_near():
    frame = votes()
    release = released(frame, SWAPPED)
    found = release.frame.collect()
    assert found["cost"].sort().equals(frame["cost"])
    assert release.changed["cost"] > 0.9
    # nobody else's cost tells who it was, but halves stay halves but for the interval
    assert (found.filter(pl.col("cost") < 600)["vote"] == "yes").mean() == pytest.approx(
        0.75, abs=0.05
    )


def test_classes_of_resampling_are_counted_on_the_written_records():
    frame = votes().with_columns(age=pl.col("cost") % 37)
    schema = om.Schema.of({**SCHEMA, "age": om.Numeric()})
    release = released(frame, om.Resampling(7), schema=schema)
    sizes = release.frame.collect().group_by("sex", "age").len()["len"]
    assert sizes.min() >= 7
    assert release.class_sizes == Counter(sizes.to_list())
    assert release.evaluate().loss.loss > 0


def test_equal_records_are_shared_out_alike_by_all_steps(engine, tmp_path):
    """Two steps on different columns must not pair their draws by how a library breaks ties."""
    frame = pl.DataFrame({"sex": ["f", "m"] * 60, "vote": ["yes", "no"] * 60, "cost": [1, 2] * 60})
    steps = [om.Pram(0.5, columns=("sex",)), om.Pram(0.5, columns=("vote",)), om.Sampling(0.6)]
    found = []
    for parts, order in ((1, 1), (3, 7)):
        shuffled = frame.sample(fraction=1.0, shuffle=True, seed=order)
        native = engine.open(written(shuffled, tmp_path / f"in {parts}", parts))
        found.append(in_order(engine.collected(om.protect(native, SCHEMA, steps, seed=5).frame)))
    assert found[0].equals(found[1])
    assert found[0].equals(
        in_order(om.protect(frame.lazy(), SCHEMA, steps, seed=5).frame.collect())
    )
    assert len(found[0].unique(["sex", "vote"])) == 4


def test_the_number_of_records_decides_not_that_of_combinations():
    few = pl.DataFrame({"age": [30] * 400 + [40] * 400})
    schema = om.Schema(age=om.Numeric())
    swapping = om.RankSwapping(share=0.5, algorithm="fixed")
    changed = [
        om.protect(one, schema, swapping, seed=1).changed["age"] for one in (few, few.lazy())
    ]
    assert changed[0] == pytest.approx(changed[1], abs=0.1)
    assert changed[1] > 0.3


def test_columns_without_any_quasi_identifier_are_sampled_too():
    schema = om.Schema(vote=om.Flat("sensitive"), cost=om.Numeric("other"))
    frame = votes().drop("sex")
    for strata in ((), ("vote",)):
        release = om.protect(frame.lazy(), schema, om.Sampling(0.25, strata=strata), seed=1)
        assert len(release.frame.collect()) == 300
        assert release.left_out == 900


def test_promises_of_later_steps_hold_on_what_was_drawn():
    frame = votes().with_columns(age=pl.col("cost") % 11)
    schema = om.Schema.of({**SCHEMA, "age": om.Numeric()})
    found = released(frame, [om.Sampling(0.2), om.Suppression(12)], schema=schema).frame.collect()
    assert 0 < len(found) < 240
    assert found.group_by("sex", "age").len()["len"].min() >= 12


# What cannot be -------------------------------------------------------------------------------


def test_what_stands_beside_shared_combinations_is_recounted():
    step = om.Pram(columns=("sex",))
    ready = prepare(votes().lazy(), LazyPolars(), SCHEMA, step, 1)
    made = ready.rewritten()
    said = [str(one) for one in recounted(ready, made, LazyPolars()).findings]
    assert "kept: vote, cost: unchanged (by a digest of all their values)" in said
    for other in (made.with_columns(cost=pl.lit(1)), made.with_columns(sex=pl.lit("f"))):
        with pytest.raises(DataError, match="changed between"):
            recounted(ready, other, LazyPolars())


@pytest.mark.parametrize("more", [(), (om.Sampling(0.5),)], ids=["all", "a sample"])
def test_values_that_changed_places_are_recounted_by_their_frequency(more):
    ready = prepare(votes().lazy(), LazyPolars(), SCHEMA, [SWAPPED, *more], 1)
    made = ready.rewritten()
    said = [str(one) for one in recounted(ready, made, LazyPolars()).findings]
    assert any("cost" in one and one.endswith("(by the frequency of every value)") for one in said)
    other = made.with_columns(cost=pl.when(pl.col("cost") < 9).then(9).otherwise(pl.col("cost")))
    with pytest.raises(DataError, match="other values of cost"):
        recounted(ready, other, LazyPolars())


def test_steps_on_other_columns_alone_have_an_account_too():
    release = released(votes(), om.Pram(columns=("vote",)))
    assert release.evaluate().loss.loss == 0.0
    assert release.account().steps[0].name == "pram"
    assert release.class_sizes == {600: 2}


def test_rows_that_stand_for_several_records_are_not_shared_out():
    schema = om.Schema(sex=om.Flat(), cost=om.Count())
    frame = votes().with_columns(cost=pl.col("cost") + 1)
    with pytest.raises(MethodError, match="repeat each row as often"):
        om.protect(frame.lazy(), schema, om.Pram(), seed=1)


def test_records_that_do_not_fit_into_memory_are_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    with pytest.raises(ShortMemoryError, match=r"1,200 records .* such as microaggregation"):
        released(votes(), om.Pram())


def test_a_permutation_is_recounted_by_records_not_by_parts():
    from ontomask.data.seen import Seen
    from ontomask.findings import Claim
    from ontomask.promises import Permutation
    from ontomask.verify import verify

    before = Seen(np.array([0, 1, 2]), ["a", "b", None], np.array([3.0, 1.0, 2.0]))
    frame = pl.DataFrame({"x": ["a", "a", "b", None]})
    for counts, kept in (([1, 2, 1, 2], True), ([1, 1, 2, 2], False)):
        claim = Claim(Permutation(("x",)), {"x": before})
        amounts = np.array(counts, float)
        found = verify(frame, [claim], published=["x"], records=4, counts=amounts)
        assert found.kept is kept


def test_seeds_decide_about_records():
    frame = votes(400)
    found = [
        in_order(released(frame, om.Pram(columns=("vote",)), seed).frame.collect())
        for seed in (1, 1, 2)
    ]
    assert [one.equals(other) for one, other in itertools.pairwise(found)] == [True, False]
