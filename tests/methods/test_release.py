from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ontomask as om
from ontomask.kernels.losses import loss
from ontomask.kernels.rebuilding import rebuild
from ontomask.methods import microaggregation
from ontomask.methods.base import METHODS
from ontomask.protection import generators
from tables import DISEASES, mixed_columns, mixed_schema, nominal_schema


def test_strata_do_not_mix():
    columns = mixed_columns(gaps=False)
    schema = om.Schema(diagnosis=om.Nominal(DISEASES), age=om.Numeric(), sex=om.Flat(role="other"))
    release = om.protect(
        pl.DataFrame(columns), schema, om.Microaggregation(3, strata=("sex",)), seed=1
    )
    sizes = release.frame.group_by("sex", "diagnosis", "age").len()["len"]
    assert sizes.min() >= 3
    assert release.frame["sex"].to_list() == columns["sex"]
    pairs = set(zip(release.clusters.tolist(), columns["sex"], strict=True))
    assert len(pairs) == len(set(release.clusters.tolist()))


def test_a_stratum_that_is_too_small_is_named():
    frame = pl.DataFrame({"d": ["flu", "cold", "flu", "covid"], "sex": ["f", "f", "f", "m"]})
    schema = om.Schema(d=om.Nominal(DISEASES), sex=om.Flat(role="other"))
    with pytest.raises(om.errors.MethodError, match=r"Stratum sex = 'm': k is 2, but .* only 1"):
        om.protect(frame, schema, om.Microaggregation(2, strata=("sex",)), seed=1)


def test_weights_are_people():
    frame = pl.DataFrame({"d": ["flu", "cold", "covid"], "n": [1, 1, 1]})
    schema = om.Schema(d=om.Nominal(DISEASES), n=om.Count())
    heavy = om.protect(frame.with_columns(n=pl.Series([5, 5, 5])), schema, om.Microaggregation(5))
    assert heavy.frame["d"].to_list() == ["flu", "cold", "covid"]
    light = om.protect(frame, schema, om.Microaggregation(3))
    assert light.frame["d"].n_unique() == 1


@pytest.mark.parametrize("method", [om.Microaggregation(4), om.Recoding(4), om.Resampling(4)])
def test_the_scheme_gives_known_records_their_release(method):
    frame = pl.DataFrame(mixed_columns(gaps=False))
    release = om.protect(frame, mixed_schema(), method, seed=2)
    applied = release.scheme.apply(release.frame.with_columns(patient=pl.lit("x")))
    assert applied.columns == release.frame.columns
    quasi = ["diagnosis", "age", "admitted", "severity", "sex"]
    # A released record is at distance 0 from its own centroid, so it is mapped to itself.
    assert applied.select(quasi).equals(release.frame.select(quasi))


def test_the_scheme_takes_values_that_were_never_seen():
    frame = pl.DataFrame({"d": ["flu", "flu", "asthma", "asthma"], "n": [1.0, 1.0, 9.0, 9.0]})
    schema = om.Schema(d=om.Nominal(DISEASES), n=om.Numeric())
    release = om.protect(frame, schema, om.Microaggregation(2), seed=1)
    applied = release.scheme.apply(pl.DataFrame({"d": ["cold", "lung cancer"], "n": [2.0, 8.0]}))
    assert applied["d"].to_list() == ["flu", "asthma"]
    assert applied["n"].to_list() == [1.0, 9.0]


def test_suppression_keeps_what_it_released_and_its_scheme_knows_it():
    frame = pl.DataFrame(
        {"diagnosis": ["flu", "flu", "cold"], "sex": ["f", "f", "f"], "charge": [1, 2, 3]}
    )
    release = om.protect(frame, nominal_schema(), om.Suppression(2), seed=1)
    assert release.frame["charge"].to_list() == [1, 2]
    assert release.suppressed == 1
    new = pl.DataFrame({"diagnosis": ["cold", "flu"], "sex": ["f", "f"], "charge": [7, 8]})
    assert release.scheme.apply(new)["charge"].to_list() == [8]


def test_a_release_without_scheme_says_so():
    release = om.protect(pl.DataFrame(mixed_columns()), mixed_schema(), om.Hybrid(3), seed=1)
    with pytest.raises(om.errors.MethodError, match="no scheme"):
        release.scheme.apply(pl.DataFrame(mixed_columns()))


def test_steps_are_applied_in_order():
    frame = pl.DataFrame(mixed_columns())
    steps = [om.Suppression(2, outliers="star"), om.Microaggregation(3)]
    release = om.protect(frame, mixed_schema(), steps, seed=1)
    assert len(release.details) == 2
    assert min(release.class_sizes) >= 3


def test_adding_a_step_does_not_change_the_draws_of_another():
    alone = generators([om.Resampling(3)], 1, "a1")[0].random(3)
    after = generators([om.Hybrid(3), om.Resampling(3)], 1, "a1")[1].random(3)
    second = generators([om.Resampling(3), om.Resampling(3)], 1, "a1")[1].random(3)
    assert np.array_equal(alone, after)
    assert not np.array_equal(alone, second)


def test_without_a_seed_one_is_drawn_and_noted():
    frame = pl.DataFrame(mixed_columns())
    one = om.protect(frame, mixed_schema(), om.Resampling(3))
    two = om.protect(frame, mixed_schema(), om.Resampling(3))
    assert one.seed != two.seed
    assert om.protect(frame, mixed_schema(), om.Resampling(3), one.seed).frame.equals(one.frame)


def test_types_are_kept_where_values_fit():
    frame = pd.DataFrame(mixed_columns(gaps=False)).assign(extra=1)
    frame["sex"] = frame["sex"].astype("category")
    schema = om.Schema.of({**mixed_schema(), "extra": om.Numeric(role="other")})
    release = om.protect(frame, schema, om.Microaggregation(3), seed=1)
    assert release.frame["age"].dtype == frame["age"].dtype
    assert release.frame["extra"].tolist() == [1] * len(frame)
    assert list(release.frame.columns) == [*list(mixed_schema().published), "extra"]


def test_unused_categories_do_not_travel():
    frame = pd.DataFrame({"d": ["flu", "flu", "cold"], "town": pd.Categorical(["a", "a", "rare"])})
    schema = om.Schema(d=om.Nominal(DISEASES), town=om.Flat(role="other"))
    release = om.protect(frame, schema, om.Suppression(2), seed=1)
    assert release.frame["town"].cat.categories.tolist() == ["a"]


def test_metadata_of_the_frame_does_not_travel():
    frame = pd.DataFrame({"d": ["flu", "flu"]})
    frame.attrs["source"] = "ward 7"
    schema = om.Schema(d=om.Nominal(DISEASES))
    assert om.protect(frame, schema, om.Suppression(2)).frame.attrs == {}
    assert frame.attrs == {"source": "ward 7"}
    table = pa.table({"d": ["flu", "flu"]}).replace_schema_metadata({"source": "ward 7"})
    assert om.protect(table, schema, om.Suppression(2)).frame.schema.metadata is None


def test_missing_values_to_suppress_leave_the_release():
    frame = pl.DataFrame({"d": ["flu", None, "flu", "flu"], "x": [1, 2, 3, 4]})
    schema = om.Schema(d=om.Nominal(DISEASES, missing="suppress"), x=om.Numeric(role="other"))
    release = om.protect(frame, schema, om.Microaggregation(2), seed=1)
    assert release.frame["x"].to_list() == [1, 3, 4]
    assert release.suppressed == 1


def test_refining_loses_no_more():
    frame = pl.DataFrame(mixed_columns(200))
    for algorithm in ("sa-mdav", "mdav"):
        method = om.Microaggregation(4, algorithm=algorithm, refine=True)
        refinement = om.protect(frame, mixed_schema(), method, seed=1).details[0]["refinement"]
        assert refinement["loss_after"] < refinement["loss_before"]
        assert 0 < refinement["gain"] < 1


def test_a_thorough_refinement_loses_less_tells_its_rounds_and_can_be_repeated():
    frame = pl.DataFrame(mixed_columns(200))
    plain, first, again, hurried = (
        om.protect(frame, mixed_schema(), om.Microaggregation(4, **options), seed=1)
        for options in (
            {"refine": True},
            {"refine": "thorough", "rounds": 30},
            {"refine": "thorough", "rounds": 30},
            {"refine": "thorough", "rounds": 10**6, "seconds": 1e-6},
        )
    )
    losses = [one.details[0]["refinement"]["loss_after"] for one in (plain, first)]
    assert losses[1] < losses[0]
    assert first.frame.equals(again.frame)
    assert first.details[0]["rounds"] == 30
    assert hurried.details[0]["rounds"] < 10**6


@pytest.mark.parametrize("algorithm", microaggregation.ALGORITHMS)
def test_every_refinement_of_a_small_table_builds_clusters_anew(monkeypatch, algorithm):
    """It ended where no single move helps, a few percent above what few rounds of trials reach."""
    table = np.exp(np.random.default_rng(7).normal(size=(400, 3)))
    frame = pl.DataFrame(table, schema=list("abc"))
    schema = om.Schema.of({name: om.Numeric() for name in "abc"})
    method, losses = om.Microaggregation(5, algorithm=algorithm, refine=True), []
    for limit in (microaggregation.BRIEF_UP_TO, 400):
        monkeypatch.setattr(microaggregation, "BRIEF_UP_TO", limit)
        release = om.protect(frame, schema, method, seed=1)
        assert min(release.class_sizes) >= 5
        losses.append(release.details[0]["refinement"]["loss_after"])
    assert losses[0] < 0.98 * losses[1]


def test_a_table_in_one_part_is_rebuilt_twice_and_the_better_counts(monkeypatch):
    losses = []

    def noted(points, *given):
        labels, rounds = rebuild(points, *given)
        losses.append(loss(points, labels, int(labels.max()) + 1))
        return labels, rounds

    monkeypatch.setattr(microaggregation, "rebuild", noted)
    method = om.Microaggregation(4, refine="thorough", rounds=2)
    for seed in range(1, 4):
        release = om.protect(pl.DataFrame(mixed_columns(120)), mixed_schema(), method, seed=seed)
        reached = release.details[0]["refinement"]["loss_after"]
        assert reached == pytest.approx(min(losses[-2:]))
    assert len(losses) == 6
    assert len(set(losses)) > 1


def test_presets_are_methods_of_the_registry():
    assert len(om.presets()) == 14
    frame = pl.DataFrame(mixed_columns()).select("diagnosis", "sex", "charge")
    for name in om.presets():
        method = om.preset(name, 3)
        assert method.name in METHODS
        release = om.protect(frame, nominal_schema(), method, seed=1)
        assert min(release.class_sizes) >= 3
    with pytest.raises(om.errors.ParameterError, match="Did you mean 'sa-mdav'"):
        om.preset("sa-mdaw", 3)


def test_operators_and_settings_matter():
    """No option is accepted and does nothing."""
    frame = pl.DataFrame(mixed_columns(120, gaps=False))
    base = {"k": 4}
    variants = [
        {},
        {"algorithm": "mdav"},
        {"algorithm": "v-mdav"},
        {"operators": "marginality"},
        {"operators": "equality"},
        {"metric": "mean"},
        {"metric": "s-distance"},
        {"measure": "equality"},
        {"dynamic": False},
        {"weighting": "frequency"},
        {"refine": True},
        {"strata": ("severity",)},
        {"k": 5},
    ]
    digests = {}
    for variant in variants:
        method = om.Microaggregation(**{**base, **variant})
        release = om.protect(frame, mixed_schema(), method, seed=1)
        digests[str(variant)] = release.digests["output"]
    same = [name for name in digests if list(digests.values()).count(digests[name]) > 1]
    assert not same
    gammas = [om.Microaggregation(4, algorithm="v-mdav", gamma=gamma) for gamma in (0, 5)]
    first, second = (om.protect(frame, mixed_schema(), one, seed=1) for one in gammas)
    assert first.digests["output"] != second.digests["output"]


def test_column_weights_matter():
    columns = mixed_columns(100, gaps=False)
    schema = mixed_schema()
    heavy = om.Schema.of({**schema, "diagnosis": om.Nominal(DISEASES, weight=50.0)})
    changed = [
        om.protect(pl.DataFrame(columns), one, om.Microaggregation(4), seed=1).changed["diagnosis"]
        for one in (schema, heavy)
    ]
    assert changed[1] < changed[0]


def test_importance_of_columns_in_local_suppression():
    frame = pl.DataFrame(mixed_columns(100, gaps=False)).select("diagnosis", "sex", "charge")
    counts = [
        om.protect(
            frame, nominal_schema(), om.LocalSuppression(9, importance=importance), seed=1
        ).details[0]["cells_by_column"]
        for importance in ({"sex": 100.0}, {"diagnosis": 100.0})
    ]
    assert counts[0]["sex"] <= counts[1]["sex"]
    assert counts[0] != counts[1]


LOOKS = {
    "nominal": (om.Nominal(DISEASES), ["flu", "FLU", "Flu", "cold", "cold", "cold"]),
    "numeric": (om.Numeric(), [0.0, -0.0, 0.0, 1.5, 1.5, 1.5]),
}


@pytest.mark.parametrize("kind", LOOKS)
@pytest.mark.parametrize("method", [om.Suppression(3), om.LocalSuppression(3)])
def test_records_of_a_class_look_the_same_however_they_came(kind, method):
    """What one value means is written in one way, or a reader would see smaller classes."""
    column, values = LOOKS[kind]
    frame = pl.DataFrame({"known": values})
    release = om.protect(frame, om.Schema(known=column), method, seed=1)
    looks = [str(one) for one in release.frame["known"].to_list()]
    assert [len(set(looks[:3])), len(set(looks[3:])), len(looks)] == [1, 1, 6]


def test_the_share_of_changed_values_counts_records_not_rows():
    frame = pl.DataFrame({"age": [20, 21, 60], "number": [9, 1, 10]})
    schema = om.Schema(age=om.Numeric(), number=om.Count())
    release = om.protect(frame, schema, om.Microaggregation(10), seed=1)
    assert release.frame["age"].to_list() == [20, 20, 60]
    assert release.changed["age"] == 1 / 20


@pytest.mark.parametrize(("level", "limit"), [(0, 0.0), (1, 0.0), (2, 0.0), (0, 0.5), (1, 0.5)])
def test_changed_texts_are_those_written_otherwise(level, limit):
    """None of them, some (a group may be called like a value), or all, stars and gaps included."""
    rows = [["a", "a", "*"], ["b", "a", "*"], ["c", "cd", "*"], ["d", "cd", "*"], ["e", "e", "*"]]
    texts = [*"aabbccddddaabb", None, None, *"e" * (1 if limit else 2)]
    method = om.Generalization(
        k=2, suppression_limit=limit, hierarchies={"a": rows}, levels={"a": level}
    )
    release = om.protect(pl.DataFrame({"a": texts}), om.Schema(a=om.Flat()), method, seed=1)
    assert len(release.frame) == len(texts) - release.left_out
    kept = [texts[row] for row in release.rows.tolist()]
    pairs = zip(kept, release.frame["a"].to_list(), strict=True)
    assert release.changed["a"] == sum(old != new for old, new in pairs) / len(kept)
    assert (release.changed["a"] == 0) == (level == 0)


LARGE = 2**53


@pytest.mark.parametrize(
    "ages",
    [
        [1.0, 1.0, None, -0.0, 0.0, 7.25, 7.25, 3.0, None, 9.0],
        [1.0, 1.0, 2.5, -0.0, 0.0, 7.25, 7.25, 3.0, 2.5, 9.0],
        [1, 1, None, 0, 0, 7, 7, 3, None, 9],
        [LARGE + 4 * one for one in (1, 1, 9, 8, 30, 31, 31, 90, 90, 92)],
        [Decimal(one) for one in ("1.0", "1.0", "2.5", "0.0", "0.0", "7.2", "7.2", "3", "5", "9")],
    ],
    ids=["gaps", "floats", "whole", "large", "decimals"],
)
def test_changed_numbers_are_those_written_otherwise(ages):
    """Numbers are compared all at once, gaps included: as many as a person would count."""
    schema = om.Schema(age=om.Numeric())
    release = om.protect(pl.DataFrame({"age": ages}), schema, om.Microaggregation(2), seed=1)
    pairs = list(zip(ages, release.frame["age"].to_list(), strict=True))
    assert release.changed["age"] == sum(old != new for old, new in pairs) / 10
    assert 0 < release.changed["age"] < 1
