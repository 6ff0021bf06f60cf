"""Judging maskings by what classifiers learn from them."""

from __future__ import annotations

import importlib
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.data.tables import open_table
from ontomask.evaluation.classification import (
    DEFINITIONS,
    ClassificationTask,
    ClassifierReport,
    judge_classification,
    stratified_folds,
)
from ontomask.evaluation.classifiers import CLASSIFIERS, learn
from ontomask.evaluation.features import Encoder, Features, read_features
from ontomask.evaluation.scores import Scores, relative_accuracy, score
from reference import classification as slow

SCHEMA = om.Schema(
    person=om.Identifier(),
    age=om.Numeric(),
    region=om.Flat(),
    drug=om.Flat(role="other"),
    outcome=om.Flat(role="sensitive"),
)


def people(count: int = 240, seed: int = 3) -> dict[str, list]:
    """Outcome depends on the region's country (its first letter) and, weakly, on the drug."""
    generator = np.random.default_rng(seed)
    region = [f"{country}{number}" for country in "ABC" for number in range(4)]
    places = generator.integers(0, len(region), count)
    drug = generator.choice(["x", "y"], count)
    wanted = np.where(generator.random(count) < 0.75, places // 4, generator.integers(0, 3, count))
    outcome = np.where((drug == "y") & (generator.random(count) < 0.3), 2, wanted)
    return {
        "person": [f"p{number}" for number in range(count)],
        "age": generator.integers(20, 80, count).tolist(),
        "region": [region[place] for place in places],
        "drug": drug.tolist(),
        "outcome": [("good", "middling", "poor")[code] for code in outcome],
    }


@dataclass(frozen=True)
class Countries:
    """Generalizes regions to countries and ages to tens."""

    def apply(self, frame: Any) -> Any:
        data = pl.DataFrame({name: list(frame[name]) for name in frame.columns})
        return data.select(
            (pl.format("[{}, {})", pl.col("age") // 10 * 10, pl.col("age") // 10 * 10 + 10)).alias(
                "age"
            ),
            pl.col("region").str.slice(0, 1),
            "drug",
            "outcome",
        )


@dataclass(frozen=True)
class Masked:
    frame: Any
    scheme: Any = None
    rows: Any = None
    suppressed: Any = 0


def generalized(frame: pl.DataFrame, hidden: tuple[int, ...] = ()) -> Masked:
    """Regions become countries, ages tens, and some records lose both."""
    masked = Countries().apply(frame)
    star = pl.Series([place in hidden for place in range(len(masked))])
    starred = [
        pl.when(star).then(pl.lit("*")).otherwise(pl.col(name)).alias(name)
        for name in ("age", "region")
    ]
    return Masked(masked.with_columns(starred), Countries())


def same(frame: Any) -> Masked:
    return Masked(frame.drop("person"))


# Folds ----------------------------------------------------------------------------------------


def test_folds_are_equal_in_size_and_in_classes_and_fixed_by_the_seed():
    labels = np.array([0] * 50 + [1] * 31 + [2] * 7)
    folds = stratified_folds(labels, 5, seed=1)
    assert sorted(np.bincount(folds)) == [17, 17, 18, 18, 18]
    for code in range(3):
        counts = np.bincount(folds[labels == code], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert (folds == stratified_folds(labels, 5, seed=1)).all()
    assert (folds != stratified_folds(labels, 5, seed=2)).any()


# Scores ---------------------------------------------------------------------------------------


def test_scores_of_four_records_computed_by_hand():
    truth = np.array([0, 0, 1, 1])
    probabilities = np.array([[0.9, 0.1], [0.4, 0.6], [0.4, 0.6], [0.2, 0.8]])
    found = score(truth, probabilities, np.ones(4), ("no", "yes"))
    assert found.accuracy == 3 / 4
    assert found.average_error == pytest.approx((0.1 + 0.6 + 0.4 + 0.2) / 4)
    assert found.brier == pytest.approx(2 * (0.01 + 0.36 + 0.16 + 0.04) / 4)
    no, yes = found.classes
    assert (no.precision, no.recall) == (1.0, 0.5)
    assert (yes.precision, yes.recall) == (2 / 3, 1.0)
    assert (no.specificity, yes.specificity) == (1.0, 0.5)
    assert yes.f1 == pytest.approx(0.8)
    # pairs (yes, no): 0.6 against 0.1 and 0.6 (a tie), 0.8 against both
    assert yes.auc == pytest.approx(3.5 / 4)
    assert no.brier == pytest.approx(0.57 / 4)
    assert found.f1 == pytest.approx((2 / 3 + 0.8) / 2)
    assert yes.curve.thresholds == pytest.approx((0.8, 0.6, 0.1))
    assert yes.curve.recalls == pytest.approx((0.5, 1, 1))
    assert yes.curve.false_positive_rates == pytest.approx((0, 0.5, 1))
    assert yes.curve.precisions == pytest.approx((1, 2 / 3, 0.5))
    sure = {round(one.threshold, 2): one for one in found.confidence}
    assert (sure[0.0].answered, sure[0.0].precision, sure[0.0].recall) == (1.0, 0.75, 0.75)
    assert (sure[0.7].answered, sure[0.7].precision, sure[0.7].recall) == (0.5, 1.0, 0.5)
    assert (sure[1.0].answered, sure[1.0].precision, sure[1.0].recall) == (0.0, 1.0, 0.0)


def test_scores_agree_with_counting_pairs_also_on_ties():
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 3, 80)
    probabilities = generator.integers(1, 4, (80, 3)).astype(float)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    found = score(truth, probabilities, np.ones(80), ("a", "b", "c"))
    rows = probabilities.tolist()
    assert found.accuracy == pytest.approx(slow.accuracy(truth.tolist(), rows))
    assert found.brier == pytest.approx(slow.brier(truth.tolist(), rows))
    for code, one in enumerate(found.classes):
        assert one.auc == pytest.approx(slow.auc(truth.tolist(), rows, code))
        expected = slow.precision_recall(truth.tolist(), rows, code)
        assert (one.precision, one.recall) == pytest.approx(expected)
        others = [row for row, own in zip(rows, truth.tolist(), strict=True) if own != code]
        right = sum(row.index(max(row)) != code for row in others)
        assert one.specificity == pytest.approx(right / len(others))


def test_a_record_of_weight_three_counts_as_three_records():
    generator = np.random.default_rng(5)
    truth = np.append(generator.integers(0, 2, 30), [0, 1])
    probabilities = generator.dirichlet([1, 1], 32)
    weights = generator.integers(1, 4, 32)
    copies = np.repeat(np.arange(32), weights)
    once = score(truth, probabilities, weights.astype(float), ("a", "b"))
    often = score(truth[copies], probabilities[copies], np.ones(copies.size), ("a", "b"))
    for name in ("accuracy", "average_error", "brier", "precision", "recall", "f1", "auc"):
        assert getattr(once, name) == pytest.approx(getattr(often, name))
    for one, other in zip(once.confidence, often.confidence, strict=True):
        assert one.answered == pytest.approx(other.answered)
        assert one.precision == pytest.approx(other.precision)


def test_a_class_that_is_never_predicted_has_no_precision():
    found = score(np.array([0, 1]), np.array([[0.9, 0.1], [0.8, 0.2]]), np.ones(2), ("a", "b"))
    assert (found.classes[1].precision, found.classes[1].recall, found.classes[1].f1) == (0, 0, 0)


def test_relative_accuracy():
    assert relative_accuracy(0.7, 0.5, 0.9) == pytest.approx(0.5)
    assert relative_accuracy(0.4, 0.5, 0.9) == pytest.approx(-0.25)
    assert relative_accuracy(0.7, 0.5, 0.5) is None
    assert relative_accuracy(0.7, 0.5, 0.4) is None


# Features -------------------------------------------------------------------------------------


def read(columns: dict[str, list], schema: om.Schema, *others: dict, **options: Any):
    tables = [open_table(pl.DataFrame(one)) for one in (columns, *others)]
    return read_features(tuple(schema), schema, tables, **options)


def test_numbers_are_standardized_and_gaps_are_marked():
    (features,) = read({"age": [10, None, 30]}, om.Schema(age=om.Numeric()))
    dense = Encoder.of(features).matrix(features).toarray()
    assert dense[:, 0] == pytest.approx([-1, 0, 1])
    assert dense[:, 1:].tolist() == [[1, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("features", [("age",), ("age", "drug")])
def test_numbers_that_do_not_vary_tell_nothing(name, features):
    frame = pl.DataFrame(people(60))
    options = {"classifiers": name, "folds": 3, "features": features}
    constant = frame.with_columns(pl.lit(40).alias("age"))
    starred = judge_classification(
        frame, SCHEMA, "outcome", lambda _: same(constant.with_columns(age=None)), **options
    )
    found = judge_classification(frame, SCHEMA, "outcome", lambda _: same(constant), **options)
    assert found[name].masked.accuracy == starred[name].masked.accuracy
    assert 0 <= found[name].masked.average_error <= 1
    if features == ("age",):
        assert found[name].masked == found.baseline


def test_a_category_that_was_not_trained_has_no_column():
    training, testing = read(
        {"code": ["a", "b", None]}, om.Schema(code=om.Flat()), {"code": ["b", "new", None]}
    )
    encoder = Encoder.of(training)
    assert encoder.matrix(testing).toarray().tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert encoder.codes(testing).ravel().tolist() == [3, 0, 1]


def test_large_domains_stay_sparse():
    codes = [f"c{number}" for number in range(2400)]
    (features,) = read({"code": codes}, om.Schema(code=om.Flat()))
    matrix = Encoder.of(features).matrix(features)
    assert matrix.shape == (2400, 2400)
    assert matrix.nnz == 2400


def test_intervals_enter_as_categories_or_midpoints():
    columns = {"age": ["[20, 30)", "[30, 40)", ">= 80", "*", None]}
    schema = om.Schema(age=om.Numeric())
    (categories,) = read(columns, schema)
    assert categories.numbers.shape == (5, 0)
    assert categories.sizes == (5,)
    (numbers,) = read(columns, schema, intervals="midpoints")
    assert numbers.numbers[:3, 0].tolist() == [25, 35, 80]
    assert np.isnan(numbers.numbers[3:, 0]).all()


def test_a_numeric_column_with_stars_is_still_one_of_numbers():
    (features,) = read({"age": ["34", "*", "35.5"]}, om.Schema(age=om.Numeric()))
    assert features.numbers[[0, 2], 0].tolist() == [34, 35.5]
    assert math.isnan(features.numbers[1, 0])


def test_dates_are_numbers_until_they_are_generalized():
    schema = om.Schema(day=om.Date())
    (exact,) = read({"day": ["2024-01-31", "2024-02-01"]}, schema)
    assert np.diff(exact.numbers[:, 0]).tolist() == [1]
    (months,) = read({"day": ["2024-01", "2024-02"]}, schema)
    assert months.numbers.shape[1] == 0


# Judging --------------------------------------------------------------------------------------


def test_interwoven_cross_validation_is_what_plain_python_computes():
    columns = people(150)
    frame = pl.DataFrame(columns)
    hidden = tuple(range(0, 150, 7))
    task = ClassificationTask(frame, SCHEMA, "outcome", ("naive-bayes",), folds=4, seed=9)
    report = task.judge(generalized(frame, hidden))
    features = [one[:3] for one in Countries().apply(frame).iter_rows()]
    masked = [None if place in hidden else one for place, one in enumerate(features)]
    labels = task.labels.tolist()
    both = slow.interwoven(masked, features, labels, task.fold_of.tolist(), 3)
    judged = report["naive-bayes"]
    for found, expected in zip((judged.masked, judged.supported), both, strict=True):
        assert found.accuracy == pytest.approx(slow.accuracy(labels, expected))
        assert found.brier == pytest.approx(slow.brier(labels, expected))
        assert found.classes[1].auc == pytest.approx(slow.auc(labels, expected, 1))
    assert report.suppressed == len(hidden)
    assert report.trained == 150 - len(hidden)
    assert both[0] != both[1]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_value_that_was_not_trained_does_not_point_to_the_rarest_class(name):
    generator = np.random.default_rng(8)
    labels = np.repeat([0, 1], [90, 10])
    codes = generator.integers(1, 3, (100, 1)).astype(np.int32)
    training = Features(np.empty((100, 0)), codes, (4,))
    predict = learn(name, training, labels, np.ones(100), 2, seed=0)
    unseen = Features(np.empty((1, 0)), np.array([[3]], np.int32), (4,))
    assert predict(unseen)[0, 0] == pytest.approx(0.9, abs=0.08)


def test_an_unmasked_table_is_as_good_as_the_original():
    frame = pl.DataFrame(people())
    names = ("logistic", "tree", "naive-bayes", "forest")
    report = judge_classification(frame, SCHEMA, "outcome", same, classifiers=names, folds=3)
    for name in names:
        assert report[name].masked == report[name].original == report[name].supported
        assert report[name].relative_accuracy == 1
        assert report[name].original.accuracy > report.baseline.accuracy + 0.1


def test_classifiers_learn_from_masked_records_and_not_from_original_ones():
    frame = pl.DataFrame(people())

    def scrambled(data: Any) -> Masked:
        return Masked(data.drop("person").with_columns(pl.lit("A0").alias("region")))

    report = judge_classification(frame, SCHEMA, "outcome", scrambled, folds=5)
    assert report["logistic"].relative_accuracy < 0.4
    generous = judge_classification(frame, SCHEMA, "outcome", generalized, folds=5)
    assert generous["logistic"].relative_accuracy > 0.8


def test_test_records_go_through_the_transformation():
    """By the scheme; without one, as they look in the masked table itself."""
    frame = pl.DataFrame(people())
    masked = generalized(frame)
    through, as_released, as_they_were = (
        judge_classification(frame, SCHEMA, "outcome", lambda _, one=one: one, folds=5)
        for one in (masked, Masked(masked.frame), Masked(frame))
    )
    assert through["logistic"].masked == as_released["logistic"].masked
    assert through["logistic"].masked != as_they_were["logistic"].masked


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_seed_fixes_everything(name):
    frame = pl.DataFrame(people(120))

    def judged(seed: int) -> ClassifierReport:
        return judge_classification(
            frame, SCHEMA, "outcome", generalized, classifiers=name, folds=3, seed=seed
        )[name]

    found = judged(4)
    assert found == judged(4)
    if name != "zero-r":
        assert found.masked != judged(5).masked


def test_matrices_are_multiplied_on_one_thread(monkeypatch):
    pools = pytest.importorskip("threadpoolctl")
    model = pytest.importorskip("sklearn.linear_model").LogisticRegression
    seen = []

    def noting(step: Any) -> Any:
        def noted(*arguments: Any, **named: Any) -> Any:
            found = pools.threadpool_info()
            seen.append({one["num_threads"] for one in found if one["user_api"] == "blas"})
            return step(*arguments, **named)

        return noted

    for name in ("fit", "predict_proba"):
        monkeypatch.setattr(model, name, noting(getattr(model, name)))
    with pools.threadpool_limits(2, user_api="blas"):
        judge_classification(
            pl.DataFrame(people(40)), SCHEMA, "outcome", same, classifiers="logistic", folds=2
        )
    assert seen
    assert all(threads <= {1} for threads in seen)


def test_all_kinds_of_frames_give_the_same(make_frame):
    columns = people(90)
    expected = judge_classification(pl.DataFrame(columns), SCHEMA, "outcome", published, folds=3)
    found = judge_classification(make_frame(columns), SCHEMA, "outcome", published, folds=3)
    assert found == expected


def published(frame: Any) -> Masked:
    return Masked(open_table(frame).released(("age", "region", "drug", "outcome"), {}, None))


def test_zero_r_is_the_baseline_and_has_no_relative_accuracy():
    frame = pl.DataFrame(people())
    report = judge_classification(
        frame, SCHEMA, "outcome", generalized, classifiers="zero-r", folds=3
    )
    counts = sorted(people()["outcome"].count(one) for one in ("good", "middling", "poor"))
    assert report.baseline.accuracy == pytest.approx(counts[-1] / 240)
    assert report["zero-r"].masked.accuracy == report.baseline.accuracy
    assert report["zero-r"].relative_accuracy is None


def test_where_everything_is_suppressed_only_the_baseline_is_left():
    frame = pl.DataFrame(people(60))
    report = judge_classification(
        frame, SCHEMA, "outcome", lambda data: generalized(data, tuple(range(60))), folds=3
    )
    assert report.trained == 0
    assert report["logistic"].masked == report.baseline
    assert report["logistic"].relative_accuracy == 0


def test_records_that_were_left_out_are_found_by_their_rows():
    frame = pl.DataFrame(people())
    kept = np.flatnonzero(np.arange(240) % 4 > 0)

    def dropped(data: pl.DataFrame) -> Masked:
        return Masked(data.drop("person")[kept.tolist()], rows=kept)

    def starred(data: pl.DataFrame) -> Masked:
        return Masked(data.drop("person"), suppressed=np.arange(240) % 4 == 0)

    options = {"classifiers": "naive-bayes", "folds": 3}
    first = judge_classification(frame, SCHEMA, "outcome", dropped, **options)
    second = judge_classification(frame, SCHEMA, "outcome", starred, **options)
    assert first == second
    assert (first.suppressed, first.trained) == (60, 180)


def test_masking_per_fold_sees_the_training_records_only():
    frame = pl.DataFrame(people(90))
    sizes = []

    def protect(data: pl.DataFrame) -> Masked:
        sizes.append(len(data))
        return generalized(data)

    report = judge_classification(
        frame, SCHEMA, "outcome", protect, folds=3, masking="per-fold", classifiers="naive-bayes"
    )
    assert sizes == [60, 60, 60]
    # a transformation that is learned from nothing is the same for every part
    assert (
        report["naive-bayes"]
        == judge_classification(
            frame, SCHEMA, "outcome", generalized, folds=3, classifiers="naive-bayes"
        )["naive-bayes"]
    )
    assert report.masking == "per-fold"
    assert report.trained == 90


def test_records_without_a_class_neither_train_nor_are_tested():
    columns = people(100)
    columns["outcome"][:10] = [None] * 10
    frame = pl.DataFrame(columns)
    options = {"folds": 3, "classifiers": "naive-bayes"}
    report = judge_classification(frame, SCHEMA, "outcome", generalized, **options)
    rest = judge_classification(frame[10:], SCHEMA, "outcome", generalized, **options)
    assert (report.records, report.without_target, report.trained) == (90, 10, 90)
    found, expected = report["naive-bayes"], rest["naive-bayes"]
    assert found.masked.accuracy == expected.masked.accuracy
    assert found.masked.brier == pytest.approx(expected.masked.brier)
    assert found.original.auc == pytest.approx(expected.original.auc)


def test_weights_count_in_training_and_in_scores():
    columns = people(80)
    columns["people"] = [1 + 9 * (one == "poor") for one in columns["outcome"]]
    schema = om.Schema.of({**SCHEMA, "people": om.Weight()})
    report = judge_classification(
        pl.DataFrame(columns), schema, "outcome", same, folds=3, classifiers="naive-bayes"
    )
    poor = columns["outcome"].count("poor")
    assert report.baseline.accuracy == pytest.approx(10 * poor / (80 + 9 * poor))
    assert report.baseline.classes[2].records == 10 * poor


def test_features_can_be_chosen_and_dropped_ones_do_not_matter():
    frame = pl.DataFrame(people())
    only_age = judge_classification(
        frame, SCHEMA, "outcome", same, features=("age",), folds=3, classifiers="naive-bayes"
    )
    assert only_age.features == ("age",)
    assert only_age["naive-bayes"].original.accuracy < 0.5
    without_region = judge_classification(
        frame, SCHEMA, "outcome", lambda data: Masked(data.drop("person", "region")), folds=3
    )
    assert without_region["logistic"].relative_accuracy < 0.5


def test_releases_of_the_package_can_be_judged():
    columns = people(200)
    frame = pl.DataFrame(columns)
    report = judge_classification(
        frame,
        SCHEMA,
        "outcome",
        lambda data: om.protect(data, SCHEMA, om.Microaggregation(k=5), seed=1),
        folds=3,
        classifiers=("logistic", "naive-bayes"),
    )
    assert report["logistic"].masked.accuracy > report.baseline.accuracy
    hybrid = judge_classification(
        frame,
        SCHEMA,
        "outcome",
        lambda data: om.protect(data, SCHEMA, om.Hybrid(k=3), seed=1),
        folds=3,
        classifiers="naive-bayes",
    )
    assert hybrid.trained == 200


def test_the_report_is_plain_and_every_figure_is_defined():
    frame = pl.DataFrame(people(60))
    report = judge_classification(frame, SCHEMA, "outcome", generalized, folds=3)
    plain = json.loads(json.dumps(report.as_dict()))
    assert plain["classifiers"][0]["masked"]["accuracy"] == report["logistic"].masked.accuracy
    figures = set(Scores.__dataclass_fields__) - {"classes"}
    figures |= set(ClassifierReport.__dataclass_fields__) - {"name", "relative_accuracy_supported"}
    assert figures <= set(DEFINITIONS)
    assert "logistic" in str(report)
    assert f"{report.baseline.accuracy:.1%}" in str(report)
    with pytest.raises(om.errors.ParameterError, match=r"no classifier 'tree' in the report"):
        report["tree"]


# Mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"target": "outcom"}, "ParameterError", "'outcom', which is not a column of the schema. "
         "Did you mean 'outcome'?"),
        ({"target": "person"}, "ParameterError", "declared as identifier and never published"),
        ({"folds": 1}, "ParameterError", "folds must be a whole number of at least 2"),
        ({"folds": 300}, "DataError", "folds is 300, but there are only 240 records with a value "
         "of 'outcome'; choose at most 240 folds"),
        ({"classifiers": "logistics"}, "ParameterError", "Did you mean 'logistic'?"),
        ({"classifiers": ()}, "ParameterError", "classifiers must be a list that is not empty"),
        ({"features": ("outcome",)}, "ParameterError", "the target 'outcome' itself"),
        ({"features": ("regoin",)}, "ParameterError", "Did you mean 'region'?"),
        ({"features": ("person",)}, "ParameterError", "'person', which is not a published column"),
        ({"masking": "twice"}, "ParameterError", "masking must be one of"),
        ({"intervals": "numbers"}, "ParameterError", "intervals must be one of"),
        ({"seed": -1}, "ParameterError", "seed must be"),
    ],
)  # fmt: skip
def test_mistakes_have_their_sentence(changes, error, sentence):
    options = {"target": "outcome", **changes}
    target = options.pop("target")
    with pytest.raises(getattr(om.errors, error)) as caught:
        judge_classification(pl.DataFrame(people()), SCHEMA, target, same, **options)
    assert sentence in str(caught.value)


def test_a_target_with_one_class_has_its_sentence():
    frame = pl.DataFrame(people(30)).with_columns(pl.lit("good").alias("outcome"))
    with pytest.raises(
        om.errors.DataError, match=r"'outcome' has 1 distinct values .* two classes"
    ):
        judge_classification(frame, SCHEMA, "outcome", same)


def test_a_target_with_very_many_classes_has_its_sentence():
    frame = pl.DataFrame(people(240)).with_columns(pl.col("person").alias("outcome"))
    with pytest.raises(om.errors.DataError, match="240 distinct values, more than 100; put them"):
        judge_classification(frame, SCHEMA, "outcome", same)


def test_left_out_records_without_rows_have_their_sentence():
    frame = pl.DataFrame(people(40))
    with pytest.raises(
        om.errors.DataError, match="has 30 of 40 records, and it is not known which"
    ):
        judge_classification(frame, SCHEMA, "outcome", lambda data: same(data[:30]), folds=3)


def test_a_masked_table_without_target_has_its_sentence():
    frame = pl.DataFrame(people(40))
    with pytest.raises(om.errors.DataError, match="has no column 'outcome'"):
        judge_classification(
            frame, SCHEMA, "outcome", lambda data: Masked(data.drop("outcome")), folds=3
        )


def test_a_target_that_the_scheme_would_look_at_is_refused():
    frame = pl.DataFrame(people(40))
    schema = om.Schema.of({**SCHEMA, "outcome": om.Flat()})
    with pytest.raises(om.errors.MethodError, match="would make use of the answer"):
        judge_classification(frame, schema, "outcome", generalized, folds=3)
    kept = judge_classification(frame, schema, "outcome", same, folds=3)
    assert kept["logistic"].relative_accuracy == 1


@dataclass(frozen=True)
class LeavesOut:
    """A scheme that keeps every second record."""

    def apply(self, frame: Any) -> Any:
        return frame.drop("person")[::2]


def test_a_scheme_that_leaves_out_records_may_not_change_values():
    frame = pl.DataFrame(people(60))
    rows = np.arange(0, 60, 2)
    plain = Masked(frame.drop("person")[::2], LeavesOut(), rows)
    report = judge_classification(frame, SCHEMA, "outcome", lambda _: plain, folds=3)
    assert (report.suppressed, report.trained) == (30, 30)
    changed = Masked(generalized(frame).frame[::2], LeavesOut(), rows)
    with pytest.raises(om.errors.MethodError, match="changes values and leaves out records"):
        judge_classification(frame, SCHEMA, "outcome", lambda _: changed, folds=3)


def test_without_scikit_learn_it_is_said_how_to_get_it(monkeypatch):
    real = importlib.import_module

    def missing(name: str, package: str | None = None) -> Any:
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", missing)
    frame = pl.DataFrame(people(40))
    with pytest.raises(om.errors.DependencyError, match=r'pip install "ontomask\[classify\]"'):
        judge_classification(frame, SCHEMA, "outcome", same, folds=3)
    baseline = judge_classification(frame, SCHEMA, "outcome", same, folds=3, classifiers="zero-r")
    assert baseline.records == 40


@pytest.mark.parametrize("search", ["optimal", "best-effort", "local", "mondrian", "tuple"])
def test_generalized_releases_are_judged_as_scikit_learn_judges_them(search):
    """Five folds inside the release, with its labels as categories."""
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    generator = np.random.default_rng(4)
    count = 1500
    age = generator.integers(20, 70, count)
    town = generator.integers(0, 12, count)
    chance = 1 / (1 + np.exp(-(age - 45) / 6 - np.where(town < 6, 1.0, -1.0)))
    frame = pl.DataFrame(
        {
            "age": age,
            "town": [f"t{one:02d}" for one in town],
            "ill": np.where(generator.random(count) < chance, "yes", "no"),
        }
    )
    schema = om.Schema(age=om.Numeric(), town=om.Flat(), ill=om.Flat(role="sensitive"))
    hierarchies = {
        "age": om.knowledge.interval_hierarchy(age.tolist(), [5, 10, 50]),
        "town": [(f"t{one:02d}", f"r{one // 6}", "*") for one in range(12)],
    }
    method = om.Generalization(
        [om.privacy.KAnonymity(15)],
        algorithm=search,
        suppression_limit=0.1,
        hierarchies=hierarchies,
        steps=50 if search == "best-effort" else None,
    )
    release = om.protect(frame, schema, method, seed=1)
    judged = judge_classification(
        frame, schema, "ill", lambda _: release, classifiers=["logistic"], folds=5
    )
    ours = judged.classifiers[0].masked.accuracy
    masked = release.frame
    features = masked.select(pl.col("age").cast(pl.String), "town").to_numpy()
    theirs = cross_val_score(
        make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000)),
        features,
        masked["ill"].to_numpy(),
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    ).mean()
    assert abs(ours - theirs) < 0.03
    assert ours > judged.baseline.accuracy + 0.05
