"""Counts are repetitions, weights are people: every figure of an evaluation honors both.

A table in which a record with count c stands once must give the figures of the table in which it
stands c times; with survey weights, the figures are those of plain formulas.
"""

from __future__ import annotations

import dataclasses
import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table
from ontomask.evaluation.classification import ClassificationTask
from ontomask.evaluation.pairing import pair_tables
from ontomask.evaluation.risk import file_risk
from ontomask.evaluation.scores import score
from ontomask.evaluation.suggestion import suggest_quasi_identifiers
from ontomask.evaluation.uniques import minimal_unique_sets
from ontomask.evaluation.utility import measure_loss
from reference import evaluation as slow
from tables import DISEASES, LEAVES, mixed_columns, mixed_schema

DISTANCES = ("semantic", "matching", "s-distance", "euclidean")
DAY = datetime.date(2024, 1, 1)


def rows(draw, size):
    return {
        "d": draw(st.lists(st.sampled_from([*LEAVES[:4], None]), min_size=size, max_size=size)),
        "o": draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size)),
        "f": draw(st.lists(st.sampled_from(["x", "y", None]), min_size=size, max_size=size)),
        "n": draw(st.lists(st.sampled_from([0.5, 1.0, 7.0]), min_size=size, max_size=size)),
        "t": draw(st.lists(st.sampled_from([DAY]), min_size=size, max_size=size)),
        "s": draw(st.lists(st.sampled_from("pqr"), min_size=size, max_size=size)),
    }


@st.composite
def cases(draw):
    """An original and a masked table, counts and weights."""
    size = draw(st.integers(2, 9))
    before, after = rows(draw, size), rows(draw, size)
    before["d"][0] = before["d"][0] or "flu"
    before["f"][0] = before["f"][0] or "x"
    counts = draw(st.lists(st.integers(1, 4), min_size=size, max_size=size))
    weights = draw(st.lists(st.floats(0.25, 900.0), min_size=size, max_size=size))
    text = dict.fromkeys("dofs", pl.String)
    frames = [
        pl.DataFrame({**one, "c": counts, "w": weights}, schema_overrides=text)
        for one in (before, {**after, "s": before["s"]})
    ]
    return *frames, np.array(counts), np.array(weights)


def schema(*extra: str) -> om.Schema:
    kinds = {"c": om.Count(), "w": om.Weight()}
    return om.Schema(
        d=om.Nominal(DISEASES),
        o=om.Ordinal(order=["a", "b", "c"]),
        f=om.Flat(),
        n=om.Numeric(),
        t=om.Date(),
        s=om.Flat(role="sensitive"),
        **{name: kinds[name] for name in extra},
    )


def plain(thing):
    """All numbers of an evaluation by place."""
    if dataclasses.is_dataclass(thing):
        return plain({one.name: getattr(thing, one.name) for one in dataclasses.fields(thing)})
    if isinstance(thing, dict):
        return {
            (name, *key): value for name, one in thing.items() for key, value in plain(one).items()
        }
    if isinstance(thing, (list, tuple)):
        return plain(dict(enumerate(thing)))
    return {(): thing}


def assert_same(one, other):
    first, second = plain(one), plain(other)
    assert first.keys() == second.keys()
    for key, value in first.items():
        if isinstance(value, float):
            assert value == pytest.approx(second[key], rel=1e-9, abs=1e-9), key
        else:
            assert value == second[key], key


def repeated(frame, counts):
    return frame[np.repeat(np.arange(len(frame)), counts).tolist()]


@given(cases())
@settings(max_examples=30)
def test_a_record_with_a_count_is_as_good_as_so_many_records(case):
    before, after, counts, _ = case
    options = {"distances": DISTANCES, "clustering": True, "k": 2}
    once = om.evaluate(before, after, schema("c"), **options)
    often = om.evaluate(repeated(before, counts), repeated(after, counts), schema(), **options)
    assert_same(once, often)


@given(cases())
@settings(max_examples=15)
def test_a_count_and_a_weight_together(case):
    before, after, counts, _ = case
    options = {"distances": DISTANCES, "clustering": True}
    once = om.evaluate(before, after, schema("c", "w"), **options)
    often = om.evaluate(repeated(before, counts), repeated(after, counts), schema("w"), **options)
    assert_same(once, often)


@given(cases(), st.floats(0.01, 100.0))
@settings(max_examples=15)
def test_the_unit_of_survey_weights_does_not_matter(case, unit):
    """Sums are sums of people; everything else depends on proportions."""
    before, after, _, _ = case
    found, other = (
        om.evaluate(
            before.with_columns(w=pl.col("w") * one), after, schema("w"), distances=DISTANCES
        )
        for one in (1.0, unit)
    )
    assert other.loss.sse == pytest.approx(found.loss.sse * unit)
    assert other.loss.loss == pytest.approx(found.loss.loss)
    assert other.loss.semantic_loss == pytest.approx(found.loss.semantic_loss)
    assert_same(found.risk_after, other.risk_after)
    assert_same(found.linkage, other.linkage)
    summed = ("marginality variance", "marginality covariance")  # sums over all people, too
    for first, second in zip(found.statistics, other.statistics, strict=True):
        factor = unit if first.name in summed else 1.0
        if not isinstance(first.original, str):
            assert second.original == pytest.approx(first.original * factor, abs=1e-9)


@given(cases())
@settings(max_examples=40)
def test_classes_and_linkage_do_not_look_at_survey_weights(case):
    before, after, _, _ = case
    weighted = om.evaluate(before, after, schema("w"), distances=("semantic", "matching"))
    alone = om.evaluate(before, after, schema(), distances=("semantic", "matching"))
    for found, expected in (
        (weighted.risk_before, alone.risk_before),
        (weighted.risk_after, alone.risk_after),
    ):
        assert found.sizes == expected.sizes
        assert found.highest_risk == expected.highest_risk
        assert found.sensitive[0].distinct_l == expected.sensitive[0].distinct_l
        assert found.sensitive[0].entropy_l == expected.sensitive[0].entropy_l
    assert weighted.loss.discernibility == alone.loss.discernibility
    assert weighted.loss.average_class_size == alone.loss.average_class_size
    matching = {one.distance: one for one in weighted.linkage}["matching"]
    names = ["d", "o", "f", "n", "t"]
    pairs = [list(frame.select(names).iter_rows()) for frame in (before, after)]
    assert matching.risk == pytest.approx(slow.matching_risk(*pairs))


def figures(evaluation):
    return {(one.name, *one.columns): (one.original, one.masked) for one in evaluation.statistics}


def two_numbers(seed: int):
    generator = np.random.default_rng(seed)
    columns = {
        "x": generator.normal(size=40),
        "y": generator.normal(size=40),
        "d": generator.choice(LEAVES, 40),
        "e": generator.choice(LEAVES, 40),
        "w": generator.uniform(0.5, 30.0, 40),
        "c": generator.integers(1, 4, 40),
    }
    columns["y"] += columns["x"]
    frame = pl.DataFrame(columns)
    order = generator.permutation(40).tolist()
    masked = frame.with_columns(
        pl.Series("x", np.round(columns["x"])), pl.Series("d", columns["d"][order])
    )
    described = {"x": om.Numeric(), "y": om.Numeric()}
    described |= {"d": om.Nominal(DISEASES), "e": om.Nominal(DISEASES)}
    return frame, masked, om.Schema(**described, w=om.Weight(), c=om.Count())


def test_statistics_with_weights_are_plain_formulas():
    frame, masked, described = two_numbers(1)
    found = figures(om.evaluate(frame, masked, described))
    survey, counts = frame["w"].to_numpy(), frame["c"].to_numpy()
    people = survey * counts
    for place, table in enumerate((frame, masked)):
        x, y = table["x"].to_numpy(), table["y"].to_numpy()
        covariance = np.cov([x, y], fweights=counts, aweights=survey)
        assert found["mean", "x"][place] == pytest.approx(np.average(x, weights=people))
        assert found["variance", "x"][place] == pytest.approx(covariance[0, 0])
        assert found["covariance", "x", "y"][place] == pytest.approx(covariance[0, 1])
        scale = np.sqrt(covariance[0, 0] * covariance[1, 1])
        assert found["correlation", "x", "y"][place] == pytest.approx(covariance[0, 1] / scale)
        d, e = (DISEASES.distances(table[name].to_list()) for name in "de")
        assert found["marginality variance", "d"][place] == pytest.approx(
            people @ d @ people / people.sum()
        )
        products = np.sqrt((d @ people) * (e @ people))
        assert found["marginality covariance", "d", "e"][place] == pytest.approx(
            people @ products / people.sum()
        )
        assert found["semantic variance", "d"][place] == pytest.approx(dependence(d, d, people))
        spread = np.sqrt(dependence(d, d, people) * dependence(e, e, people))
        assert found["semantic correlation", "d", "e"][place] == pytest.approx(
            dependence(d, e, people) / spread
        )
        inside = DISEASES.subtree("disease")
        sums = DISEASES.between(inside, table["d"].to_list()) @ people
        assert found["semantic mean", "d"][place] == inside[int(sums.argmin())]


def dependence(one: np.ndarray, other: np.ndarray, people: np.ndarray) -> float:
    """Distance covariance under shares of people, from the whole matrices."""
    shares = people / people.sum()

    def centered(matrix):
        means = matrix @ shares
        return matrix - means[:, None] - means[None, :] + shares @ means

    return float(np.sqrt(shares @ (centered(one) * centered(other)) @ shares))


def test_losses_with_weights_are_plain_formulas():
    frame, masked, described = two_numbers(2)
    found = measure_loss(pair_tables(frame, masked, described), ["x", "d"])
    survey, counts = frame["w"].to_numpy(), frame["c"].to_numpy()
    people = survey * counts
    deviation = np.sqrt(np.cov(frame["x"], fweights=counts, aweights=survey))
    x = np.abs(frame["x"].to_numpy() - masked["x"].to_numpy()) / deviation
    pairs = zip(frame["d"], masked["d"], strict=True)
    d = np.array([DISEASES.distance(one, other) for one, other in pairs])
    assert found.sse == pytest.approx(people @ ((x + d) / 2) ** 2)
    assert found.semantic_loss == pytest.approx(people @ ((x + d) / 2) / people.sum())
    assert found.records_changed == pytest.approx(people @ ((x > 0) | (d > 0)) / people.sum())
    assert found.columns[0].rmse == pytest.approx(np.sqrt(people @ x**2 / people.sum()))
    spread = np.abs(frame["x"] - np.average(frame["x"], weights=people)).to_numpy() / deviation
    inside = DISEASES.subtree("disease")
    sums = DISEASES.between(inside, frame["d"].to_list()) @ people
    center = DISEASES.between([inside[int(sums.argmin())]], frame["d"].to_list())[0]
    assert found.sst == pytest.approx(people @ ((spread + center) / 2) ** 2)
    assert found.numeric_loss == pytest.approx((people @ x**2) / (people @ spread**2))


def test_divergence_with_weights_by_hand():
    frame = pl.DataFrame({"a": ["x", "x", "y"], "w": [1.0, 2.0, 5.0]})
    masked = frame.with_columns(a=pl.Series(["x", "x", "x"]))
    found = measure_loss(pair_tables(frame, masked, om.Schema(a=om.Flat(), w=om.Weight())))
    expected = 3 / 8 * np.log(3 / 8) + 5 / 8 * np.log(5 / 8 / (1 / (3 + 2)))
    assert found.kl_divergence == pytest.approx(expected)


def test_left_out_records_are_counted_and_weigh_as_they_did():
    frame = pl.DataFrame({"a": [*"xxxxyz"], "c": [1, 1, 1, 1, 2, 1], "w": [2.0] * 4 + [10.0, 7.0]})
    described = om.Schema(a=om.Flat(), c=om.Count(), w=om.Weight())
    release = om.protect(frame, described, om.Suppression(3), seed=1)
    found = release.evaluate(frame).loss
    assert found.suppressed == 3
    assert found.sse == pytest.approx(2 * 10 + 7)
    assert found.semantic_loss == pytest.approx(27 / 35)


def test_closeness_weighs_people_and_diversity_counts_records():
    frame = pl.DataFrame({"q": [*"aabb"], "s": [*"pqpp"], "w": [1.0, 3.0, 2.0, 2.0]})
    described = om.Schema(q=om.Flat(), s=om.Flat(role="sensitive"), w=om.Weight())
    found = om.file_risk(frame, described).sensitive[0]
    assert found.entropy_l == pytest.approx(1.0)
    assert found.closeness_t == pytest.approx(max(abs(1 / 4 - 5 / 8), abs(1 - 5 / 8)))
    alone = om.file_risk(frame[:2], described).sensitive[0]
    assert alone.entropy_l == pytest.approx(2.0)
    assert om.evaluate(frame, frame, described).risk_after.sensitive[0] == found


@given(cases())
@settings(max_examples=30)
def test_the_risk_of_a_table_counts_records(case):
    before, _, counts, _ = case
    once = encode(open_table(before), schema("c", "w"))
    often = encode(open_table(repeated(before, counts)), schema("w"))
    assert_same(file_risk(once, fraction=0.1), file_risk(often, fraction=0.1))
    assert_same(minimal_unique_sets(once), minimal_unique_sets(often))
    found, expected = suggest_quasi_identifiers(once), suggest_quasi_identifiers(often)
    assert_same(
        sorted(found.columns, key=lambda one: one.column),
        sorted(expected.columns, key=lambda one: one.column),
    )


@given(st.data())
@settings(max_examples=40)
def test_scores_of_classifiers_take_weights_as_repetitions(data):
    size = data.draw(st.integers(3, 12))
    whole = st.integers(0, 20)
    chances = np.array(
        data.draw(st.lists(st.tuples(whole, whole, whole), min_size=size, max_size=size)), float
    )
    chances = (chances + 0.5) / (chances + 0.5).sum(axis=1, keepdims=True)
    more = data.draw(st.lists(st.integers(0, 2), min_size=size - 3, max_size=size - 3))
    truth = np.array([0, 1, 2, *more])
    weights = np.array(data.draw(st.lists(st.integers(1, 5), min_size=size, max_size=size)))
    places = np.repeat(np.arange(size), weights)
    values = ("a", "b", "c")
    found = score(truth, chances, weights.astype(float), values)
    assert_same(found, score(truth[places], chances[places], np.ones(places.size), values))


def test_classifiers_learn_from_people_and_are_reported_in_records():
    columns = mixed_columns(40, gaps=False)
    frame = pl.DataFrame({**columns, "c": [1, 3] * 20, "w": [2.0, 0.001] * 20})
    described = om.Schema.of({**mixed_schema(), "c": om.Count(), "w": om.Weight()})
    binned = frame.with_columns(charge=pl.Series(["low", "high"] * 20))
    described = om.Schema.of({**dict(described), "charge": om.Flat(role="sensitive")})
    task = ClassificationTask(binned, described, "charge", ("zero-r",), folds=2)
    assert "c" not in task.names
    report = task.judge(om.protect(binned, described, om.Sampling(share=0.9), seed=1))
    assert report.records == 80
    # low has nearly all of the weight, so it is always said
    assert report.baseline.accuracy == pytest.approx(2.0 / 2.003)
    probabilities = task.baseline_probabilities
    assert probabilities.sum(axis=1).tolist() == pytest.approx([1.0] * 40)
