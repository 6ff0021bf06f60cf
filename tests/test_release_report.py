"""What a release tells of itself: risk, utility, report, and the recount of a written table."""

import gc
import pickle

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.errors import DataError, PromiseError
from tables import mixed_columns, mixed_schema


@pytest.fixture(scope="module")
def frame():
    return pl.DataFrame(mixed_columns())


@pytest.fixture(scope="module")
def release(frame):
    return om.protect(frame, mixed_schema(), om.Microaggregation(3), seed=1)


def test_risk_is_told_before_and_after(release):
    risk = release.risk
    assert set(risk) == {"before", "after"}
    assert risk["before"].highest_risk == 1.0
    assert risk["after"].highest_risk <= 1 / 3
    assert risk["after"].uniques == 0
    evaluation = release.evaluate()
    assert risk["after"] == evaluation.risk_after


def test_utility_is_the_loss_of_the_evaluation(release):
    assert release.utility.loss == release.evaluate().loss.loss
    assert 0 < release.utility.loss < 100
    assert {one.name for one in release.utility.columns} >= {"diagnosis", "age"}


def test_the_account_is_made_once(frame, monkeypatch):
    made = om.protect(frame, mixed_schema(), om.Microaggregation(3), seed=1)
    assert made.utility is made.utility
    assert made.risk["after"] is made.risk["after"]


def test_a_report_is_one_file(release, tmp_path):
    path = release.report(tmp_path / "report.html", title="The people of a town")
    assert path == tmp_path / "report.html"
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!")
    assert "The people of a town" in text
    assert "src=" not in text.replace('src="data:', "")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    internal = release.report(tmp_path / "internal.html", internal=True).read_text(encoding="utf-8")
    assert internal != text


def test_an_evaluation_that_was_made_is_used(release, tmp_path, monkeypatch):
    made = release.evaluate(distances=("matching",))
    plain = release.report(tmp_path / "a.html").read_text(encoding="utf-8")
    given = release.report(tmp_path / "b.html", evaluation=made).read_text(encoding="utf-8")
    assert plain != given


def test_without_the_original_it_is_asked_for(tmp_path):
    frame = pl.DataFrame(mixed_columns())
    release = om.protect(frame, mixed_schema(), om.Microaggregation(3), seed=1)
    kept = frame.clone()
    del frame
    gc.collect()
    for act in (
        lambda: release.report(tmp_path / "report.html"),
        lambda: release.risk,
        lambda: release.utility,
    ):
        with pytest.raises(DataError, match=r"The original table is gone, .* or give it to"):
            act()
    assert list(tmp_path.iterdir()) == []
    release.report(tmp_path / "report.html", original=kept)
    assert release.evaluate(kept).loss.loss > 0


def test_a_pickled_release_forgets_the_original(frame):
    release = om.protect(frame, mixed_schema(), om.Microaggregation(3), seed=1)
    again = pickle.loads(pickle.dumps(release))  # noqa: S301 - our own bytes
    assert again.frame.equals(release.frame)
    with pytest.raises(DataError, match="The original table is gone"):
        _ = again.risk


# Recounting -----------------------------------------------------------------------------------


def test_what_was_written_is_recounted(release, frame):
    found = release.recount(release.frame, release.frame, frame)
    assert found.kept
    said = str(found)
    assert "every combination of diagnosis, age, admitted, severity, sex is shared by" in said
    assert "there are 60 records (found 60)" in said


def test_another_order_is_recounted_in_that_order(release, frame):
    order = np.random.default_rng(1).permutation(60).astype(np.int64)
    shuffled = release.frame[order.tolist()]
    assert release.recount(shuffled, shuffled, frame, order=order).kept
    with pytest.raises(PromiseError, match="read back otherwise"):
        release.recount(release.frame, shuffled, frame, order=order)


def test_weights_follow_the_order():
    """A class of one record that stands for three people is one of three."""
    frame = pl.DataFrame({"sex": ["f", "m", "m", "m"], "people": [3, 1, 1, 1]})
    schema = om.Schema(sex=om.Flat(), people=om.Count())
    release = om.protect(frame, schema, om.Suppression(3), seed=1)
    order = np.array([3, 2, 1, 0], np.int64)
    turned = release.frame[order.tolist()]
    assert release.recount(turned, turned, frame, order=order).kept
    with pytest.raises(PromiseError, match="shared by at least 3"):
        release.recount(turned, turned, frame)


CHANGES = {
    "a value": lambda one: one.with_columns(
        pl.when(pl.int_range(pl.len()) == 4).then(pl.lit("x")).otherwise(pl.col("sex")).alias("sex")
    ),
    "a record less": lambda one: one.head(59),
    "a record more": lambda one: pl.concat([one, one.head(1)]),
    "a column more": lambda one: one.with_columns(pl.lit("p").alias("patient")),
    "a column less": lambda one: one.drop("charge"),
    "another order of columns": lambda one: one.select(sorted(one.columns)),
    "other records": lambda one: one.reverse(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_differs_is_withheld(release, frame, change):
    with pytest.raises(PromiseError, match=r"is withheld: .* choose another format"):
        release.recount(change(release.frame), release.frame, frame)


def test_texts_of_dates_and_truth_values_are_no_difference():
    frame = pl.DataFrame(
        {
            "age": [1, 1, 2, 2],
            "day": [None, *mixed_columns()["admitted"][:3]],
            "ill": [True, None, False, True],
        }
    )
    schema = om.Schema(age=om.Numeric(), day=om.Date(role="other"), ill=om.Flat(role="other"))
    release = om.protect(frame, schema, om.Suppression(2), seed=1)
    texts = release.frame.with_columns(
        pl.col("day").dt.strftime("%Y-%m-%d"), pl.col("ill").cast(pl.String)
    )
    assert release.recount(texts, release.frame, frame).kept
    wrong = texts.with_columns(pl.col("ill").str.to_uppercase())
    with pytest.raises(PromiseError, match="read back otherwise"):
        release.recount(wrong, release.frame, frame)
