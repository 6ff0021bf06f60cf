import datetime
import json
import math
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ontomask as om
from ontomask import errors
from ontomask.evaluation.linkage import DISTANCES, linking, own_versions
from ontomask.evaluation.pairing import pair_tables
from ontomask.evaluation.sides import CodedSides
from ontomask.evaluation.utility import measure_loss
from ontomask.kernels.blocks import side_by_side
from ontomask.kernels.neighbors import Links
from reference import evaluation as slow
from tables import DISEASES, mixed_columns, mixed_schema

PEOPLE = pl.DataFrame({"d": ["flu", "cold", "asthma", "flu"], "n": [1.0, 2.0, 3.0, 4.0]})
SCHEMA = om.Schema(d=om.Nominal(DISEASES), n=om.Numeric())


def release_of(method=None, **columns):
    frame = pl.DataFrame(mixed_columns(80))
    return frame, om.protect(frame, mixed_schema(), method or om.Microaggregation(4), seed=1)


def test_nothing_changed_is_nothing_lost():
    found = om.evaluate(PEOPLE, PEOPLE, SCHEMA, clustering=True)
    assert found.loss.loss == found.loss.sse == found.loss.semantic_loss == 0
    assert found.loss.records_changed == found.loss.values_changed == 0
    assert found.loss.kl_divergence == pytest.approx(0)
    assert found.clustering.distance == pytest.approx(0)
    assert found.risk == 1
    assert all(one.difference == pytest.approx(0) for one in found.statistics)


def test_columns_are_measured_side_by_side_with_the_same_figures(monkeypatch):
    frame, release = release_of()
    together = []

    def noted(work, *given, shares=True):
        together.append(shares)
        return side_by_side(work, *given, shares=shares)

    for room in ("statistics", "utility"):
        monkeypatch.setattr(f"ontomask.evaluation.{room}.side_by_side", noted)
    monkeypatch.setenv("ONTOMASK_THREADS", "1")
    alone = om.evaluate(frame, release.frame, mixed_schema())
    assert not any(together)
    monkeypatch.setenv("ONTOMASK_THREADS", "3")
    monkeypatch.setattr("ontomask.evaluation.pairing.MANY", 0)
    assert om.evaluate(frame, release.frame, mixed_schema()) == alone
    assert any(together)


def test_records_are_linked_while_other_things_are_measured(monkeypatch):
    frame, release = release_of()
    monkeypatch.setenv("ONTOMASK_THREADS", "1")
    alone = om.evaluate(frame, release.frame, mixed_schema(), distances=list(DISTANCES))
    begun, owners = threading.Event(), set()

    def fill(links, first, last, fill=Links.fill):
        owners.add(threading.current_thread())
        begun.set()
        fill(links, first, last)

    def measured(*given, **named):
        assert begun.wait(30)
        return measure_loss(*given, **named)

    monkeypatch.setattr("ontomask.kernels.neighbors.SMALLEST_SHARE", 1)
    monkeypatch.setattr(Links, "fill", fill)
    monkeypatch.setattr("ontomask.evaluation.evaluation.measure_loss", measured)
    monkeypatch.setenv("ONTOMASK_THREADS", "2")
    found = om.evaluate(frame, release.frame, mixed_schema(), distances=list(DISTANCES))
    assert found == alone
    assert owners - {threading.main_thread()}


def test_a_columns_distances_are_held_once_while_records_are_linked():
    frame, release = release_of()
    paired = pair_tables(frame, release.frame, mixed_schema())
    columns = [one for one in paired.quasi() if isinstance(one.sides, CodedSides)]
    before = [one.sides.table.copy() for one in columns]
    with linking(own_versions(paired), "semantic") as outcome:
        outcome()
        held = [one.sides.table for one in columns]
    assert all(map(np.array_equal, before, held))
    assert len({id(one.base) for one in held}) == 1
    with linking(own_versions(paired), "euclidean"):
        assert not any("table" in vars(one.sides) for one in columns)


def test_distances_of_values_are_computed_once_for_what_the_release_tells():
    starred = pl.DataFrame({"d": ["flu", "cold", None, "flu"], "n": [1.0, 2.0, 3.0, 4.0]})
    column = pair_tables(PEOPLE, starred, SCHEMA).columns["d"]
    table = column.sides.table
    told = column.without_suppressed()
    assert told is not column
    assert told.sides.table is table


def test_loss_by_hand():
    masked = pl.DataFrame({"d": ["flu", "flu", "asthma", "flu"], "n": [1.0, 2.0, 3.0, 2.0]})
    found = om.evaluate(PEOPLE, masked, SCHEMA, k=2).loss
    deviation = np.std([1, 2, 3, 4], ddof=1)
    cold = DISEASES.distances(["flu", "cold", "asthma"])[0, 1]
    first, second = cold / 2, 2 / deviation / 2
    assert found.sse == pytest.approx(first**2 + second**2)
    assert found.semantic_loss == pytest.approx((first + second) / 4)
    assert found.records_changed == 0.5
    assert found.values_changed == 0.25
    assert found.discernibility == 1 + 4 + 1  # (flu, 2) occurs twice now
    assert found.average_class_size == pytest.approx(4 / 3)
    assert found.normalized_class_size == pytest.approx(2 / 3)
    by_name = {one.name: one for one in found.columns}
    assert by_name["n"].raw_sse == 4
    assert by_name["n"].rmse == pytest.approx(math.sqrt((2 / deviation) ** 2 / 4))
    assert by_name["d"].sse == pytest.approx(cold**2)
    assert found.numeric_loss == pytest.approx(4 / 5)


@given(
    st.lists(
        st.tuples(st.sampled_from(["flu", "cold", "asthma"]), st.sampled_from(["flu", "cold"])),
        min_size=2,
        max_size=15,
    )
)
@settings(max_examples=40)
def test_loss_agrees_with_the_definitions(pairs):
    original, masked = [(one,) for one, _ in pairs], [(other,) for _, other in pairs]
    before, after = (pl.DataFrame({"d": [row[0] for row in rows]}) for rows in (original, masked))
    found = measure_loss(pair_tables(before, after, om.Schema(d=om.Nominal(DISEASES))))

    def distance(a, b):
        return DISEASES.distance(a, b)

    assert found.sse == pytest.approx(slow.squared_error(original, masked, [distance]))
    assert found.kl_divergence == pytest.approx(slow.divergence(original, masked))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
@settings(max_examples=60)
def test_partition_distance_agrees_with_the_definition(pairs):
    first, second = (np.array(part) for part in zip(*pairs, strict=True))
    expected = slow.partition_distance(first.tolist(), second.tolist())
    assert om.measuring.partition_distance(first, second) == pytest.approx(expected)


def test_partitions_that_agree_or_are_unrelated():
    assert om.measuring.partition_distance([0, 0, 1, 1], ["b", "b", "a", "a"]) == 0
    assert om.measuring.partition_distance(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])) == 1
    with pytest.raises(errors.DataError, match="there are 1 and 2 of them"):
        om.measuring.partition_distance([0], [0, 1])


def test_statistics_before_and_after_by_hand():
    masked = PEOPLE.with_columns(n=pl.Series([2.0, 2.0, 3.0, 3.0]))
    found = {(one.name, one.columns): one for one in om.evaluate(PEOPLE, masked, SCHEMA).statistics}
    assert found["mean", ("n",)].variation == 0
    assert found["variance", ("n",)].original == pytest.approx(5 / 3)
    assert found["variance", ("n",)].masked == pytest.approx(1 / 3)
    assert found["variance", ("n",)].variation == pytest.approx(-0.8)
    assert found["semantic mean", ("d",)].difference == 0
    sample = om.statistics.Sample.of(PEOPLE["d"].to_list(), DISEASES)
    assert found["marginality variance", ("d",)].original == pytest.approx(
        om.statistics.nominal_variance(sample)
    )


def test_subdomains_average_the_variation():
    _, release = release_of(om.Hybrid(4))
    whole = release.evaluate()
    parts = release.evaluate(subdomains=5, fraction=0.5, seed=1)
    assert all(one.subdomain_variation is None for one in whole.statistics)
    shown = [one for one in parts.statistics if one.subdomain_variation is not None]
    assert shown
    assert parts == release.evaluate(subdomains=5, fraction=0.5, seed=1)
    assert parts != release.evaluate(subdomains=5, fraction=0.5, seed=2)


def test_classes_and_risk_before_and_after():
    frame, release = release_of()
    found = release.evaluate(threshold=0.2)
    assert found.risk_after.smallest_class >= 4
    assert found.risk_after.highest_risk <= 0.25
    assert found.risk_before.uniques > 0
    assert found.risk_after.uniques == 0
    assert found.risk_after.average_risk == found.risk_after.classes / len(frame)
    sizes = dict(found.risk_after.sizes)
    assert sum(size * count for size, count in sizes.items()) == len(frame)
    at_risk = sum(size * count for size, count in sizes.items() if size < 5) / len(frame)
    assert found.risk_after.records_at_risk == pytest.approx(at_risk)


def test_an_evaluation_reads_as_table_dictionary_and_json():
    _, release = release_of()
    found = release.evaluate(clustering=True)
    assert all(row.definition for row in found.rows())
    assert json.loads(found.to_json())["loss"]["loss"] == found.as_dict()["loss"]["loss"]
    assert "linkage, semantic" in str(found)
    with pytest.raises(AttributeError):
        found.alpha = 1


def test_the_score_weighs_loss_against_risk():
    _, release = release_of()
    found = release.evaluate(alpha=0.25)
    assert found.score == pytest.approx(0.25 * found.loss.loss + 0.75 * found.risk)
    assert found.score_at(1) == found.loss.loss
    assert found.score_at(0) == found.risk
    assert found.curve(3)[1] == (0.5, found.score_at(0.5))
    for wrong in (-0.1, 1.1, "half"):
        with pytest.raises(errors.ParameterError, match="alpha must be a number from 0 to 1"):
            release.evaluate(alpha=wrong)


def test_suppressed_records_count_as_lost():
    frame = pl.DataFrame(mixed_columns(60))
    release = om.protect(frame, mixed_schema(), om.Suppression(2), seed=1)
    found = release.evaluate()
    assert found.loss.suppressed == release.suppressed > 0
    assert found.loss.sse == pytest.approx(release.suppressed)


def test_a_release_does_not_keep_the_original_alive():
    frame = pd.DataFrame(mixed_columns(40))
    release = om.protect(frame, mixed_schema(), om.Microaggregation(3), seed=1)
    expected = release.evaluate(frame)
    assert release.evaluate() == expected
    copy = frame.copy()
    del frame
    with pytest.raises(errors.DataError, match="The original table is gone"):
        release.evaluate()
    assert release.evaluate(copy) == expected


def test_masked_files_of_other_tools_are_understood():
    original = pl.DataFrame({"age": [21, 29, 34], "d": ["flu", "cold", "asthma"]})
    masked = pl.DataFrame({"age": ["20-29", "20-29", "*"], "d": ["infection", "infection", "*"]})
    schema = om.Schema(age=om.Numeric(), d=om.Nominal(DISEASES))
    found = om.evaluate(original, masked, schema)
    assert found.loss.records_changed == 1
    assert found.risk_after.classes == 2
    pair = pair_tables(original, masked, schema).columns["age"]
    assert pair.new_numbers[:2].tolist() == [25, 25]  # the mean of the 21 and 29 in it
    assert np.isnan(pair.new_numbers[2])


def test_a_label_stands_for_the_mean_of_those_who_got_it():
    original = pl.DataFrame({"age": [21, 29, 34, 80]})
    masked = pl.DataFrame({"age": ["young", "young", "young", "old"]})
    pair = pair_tables(original, masked, om.Schema(age=om.Numeric())).columns["age"]
    assert pair.new_numbers.tolist() == pytest.approx([28, 28, 28, 80])


@pytest.mark.parametrize(
    ("label", "day"),
    [
        ("2024-02", "2024-02-14.5"),
        ("2023-Q4", "2023-11-16.0"),
        ("2023", "2023-07-02.5"),
        ("2010s", "2015-01-01.0"),
        ("1900s", "1950-01-01.0"),
        ("2024-03-05", "2024-03-05.0"),
    ],
)
def test_a_period_stands_for_the_days_in_it_or_its_middle(label, day):
    original = pl.DataFrame({"day": ["2024-02-01", "2024-02-28"]})
    schema = om.Schema(day=om.Date())
    found = pair_tables(original, pl.DataFrame({"day": [label, label]}), schema).columns["day"]
    date, _, part = day.rpartition(".")
    expected = datetime.date.fromisoformat(date).toordinal() + float(f"0.{part}")
    assert found.new_numbers[0] == pytest.approx(expected)


def test_dates_generalized_to_months_can_be_evaluated():
    days = [f"2024-{month:02d}-{day:02d}" for month in (1, 2, 3) for day in range(1, 9)]
    frame = pl.DataFrame({"day": days})
    method = om.Generalization(
        [om.privacy.KAnonymity(4)], hierarchies={"day": om.knowledge.date_hierarchy(days)}
    )
    found = om.protect(frame, om.Schema(day=om.Date()), method).evaluate(frame)
    assert found.intervals == ()
    assert 0 < found.loss.loss < 1


@pytest.mark.parametrize(
    ("masked", "sentence"),
    [
        (PEOPLE.head(3), "The original has 4 records and the masked table 3; they must"),
        (PEOPLE.rename({"d": "x", "n": "y"}), "The masked table has none of the schema's columns."),
        (
            PEOPLE.with_columns(d=pl.lit("measles")),
            "1 masked values are not in the taxonomy 'diseases', the first is 'measles'",
        ),
    ],
)
def test_tables_that_cannot_be_compared(masked, sentence):
    with pytest.raises(errors.DataError) as caught:
        om.evaluate(PEOPLE, masked, SCHEMA)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "wrong"),
    [
        ("distances", ["semantics"]),
        ("k", 1),
        ("threshold", 0),
        ("subdomains", -1),
        ("fraction", 1.5),
        ("clustering", "yes"),
        ("seed", -1),
    ],
)
def test_wrong_settings_are_refused_by_name(setting, wrong):
    with pytest.raises(errors.ParameterError, match=f"^{setting} must be "):
        om.evaluate(PEOPLE, PEOPLE, SCHEMA, **{setting: wrong})


def test_a_column_of_nothing_but_empty_texts_loses_nothing():
    frame = pl.DataFrame({"word": [""] * 6, "n": [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]})
    schema = om.Schema(word=om.Flat(), n=om.Numeric())
    found = om.protect(frame, schema, om.Microaggregation(3), seed=1).evaluate(frame)
    assert found.loss.loss == 0


def test_progress_rises_and_can_stop_an_evaluation():
    frame, release = release_of()
    seen = []
    release.evaluate(frame, progress=lambda fraction, message: seen.append((fraction, message)))
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert "record linkage, semantic" in [message for _, message in seen]

    def stop(fraction, message):
        raise errors.CancelledError("enough")

    with pytest.raises(errors.CancelledError):
        release.evaluate(frame, progress=stop)


def test_nothing_is_said_of_numbers_of_which_none_is_left():
    frame = pl.DataFrame({"age": [20, 30, 40, 50], "pay": [1.0, 2.0, 3.0, 4.0]})
    masked = frame.with_columns(age=pl.lit("*"))
    found = om.evaluate(frame, masked, om.Schema(age=om.Numeric(), pay=om.Numeric(role="other")))
    assert [one.columns for one in found.statistics if "age" in one.columns] == []


def grouped(labels):
    """People of four age groups, released under the names of their groups."""
    ages = list(range(20, 60))
    released = [labels[(age - 20) // 10] for age in ages]
    return pl.DataFrame({"age": ages}), pl.DataFrame({"age": released})


def test_labels_with_digits_are_labels():
    """Q1 to Q4 are not the numbers 1 to 4: the same groups lose the same under every name."""
    schema = om.Schema(age=om.Numeric())
    losses = [
        om.evaluate(*grouped(labels), schema).loss.loss
        for labels in (
            ("Q1", "Q2", "Q3", "Q4"),
            ("young", "grown", "middle", "old"),
            ("group 1", "group 2", "group 3", "group 99"),
        )
    ]
    assert losses[0] == losses[1] == losses[2]
    assert losses[0] < 10


@pytest.mark.parametrize("word", ["NA", "missing", ""])
def test_what_encoding_takes_for_a_value_evaluation_does_not_take_for_missing(word):
    frame = pl.DataFrame({"job": [word, word, "nurse", "nurse"]})
    schema = om.Schema(job=om.Flat())
    same = om.evaluate(frame, frame, schema)
    assert same.loss.values_changed == 0
    swapped = pl.DataFrame({"job": ["nurse", "nurse", word, word]})
    changed = om.evaluate(frame, swapped, schema)
    assert changed.loss.values_changed == 1
    other = pl.DataFrame({"job": [None, None, "nurse", "nurse"]})
    assert om.evaluate(frame, other, schema).loss.values_changed == 0.5


def test_groups_of_ordered_words_can_be_evaluated():
    order = ["none", "mild", "moderate", "severe"]
    frame = pl.DataFrame({"pain": order * 3})
    groups = {"none": "light", "mild": "light", "moderate": "heavy", "severe": "heavy"}
    grouped_ = frame.with_columns(pl.col("pain").replace_strict(groups))
    found = om.evaluate(frame, grouped_, om.Schema(pain=om.Ordinal(order=order)))
    assert found.loss.values_changed == 1
    # each word is half a rank of three away from the middle of its group
    assert found.loss.semantic_loss == pytest.approx(0.5 / 3)


@pytest.mark.parametrize(
    ("masked", "times"),
    [
        pytest.param({"age": [35, 35, None, 55]}, 1, id="what was missing is missing"),
        pytest.param({"age": [35, 35, None, None]}, 2, id="a value is left out"),
    ],
)
def test_the_loss_is_measured_again_only_where_something_was_left_out(masked, times, monkeypatch):
    """What the release has something of is the whole table, unless a value was left out."""
    asked = []
    monkeypatch.setattr(
        "ontomask.evaluation.evaluation.measure_loss",
        lambda *given, **more: asked.append(1) or measure_loss(*given, **more),
    )
    original = pl.DataFrame({"age": [30, 40, None, 60]})
    found = om.evaluate(original, pl.DataFrame(masked), om.Schema(age=om.Numeric()))
    assert len(asked) == times
    assert (found.released == found.loss) == (times == 1)
