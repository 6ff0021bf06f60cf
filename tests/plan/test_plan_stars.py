"""Starred records of a run count as suppressed, and labels of a plan's hierarchies are read."""

from __future__ import annotations

import json

import polars as pl
import pytest

from ontomask.plan.comparing import evaluate_files
from ontomask.plan.plan import Plan
from ontomask.plan.recounting import recount_folder

TEXT = """seed = 1
[input]
path = "towns.csv"
[columns.town]
kind = "flat"
[columns.sex]
kind = "flat"
[columns.ill]
kind = "flat"
role = "other"
[[steps]]
method = "generalization"
suppression_limit = 0.4
[[steps.privacy]]
model = "k-anonymity"
k = 3
[steps.hierarchies]
town = [["a", "north", "*"], ["b", "north", "*"], ["c", "south", "*"], ["d", "south", "*"]]
sex = [["m", "*"], ["f", "*"]]
[limits]
max_suppressed = 5
"""


@pytest.fixture
def outcome(tmp_path):
    towns = [*"aaaabbbb", "c"]
    frame = pl.DataFrame({"town": towns, "sex": ["m"] * 8 + ["f"], "ill": ["x"] * 9})
    more = pl.DataFrame({"town": [*"dd"], "sex": ["f", "m"], "ill": ["x", "y"]})
    pl.concat([frame, more]).write_csv(tmp_path / "towns.csv")
    return Plan.parse(TEXT, folder=tmp_path).run()


def test_stars_exceed_the_limit_of_suppressed_records(outcome):
    release = outcome.release
    assert (release.left_out, release.starred) == (0, 3)
    (limit,) = outcome.exceeded
    assert (limit.name, limit.measured) == ("suppressed records", pytest.approx(3 / 11))
    written = json.loads(outcome.manifest.read_text(encoding="utf-8"))
    assert [written[name] for name in ("suppressed", "left_out", "starred")] == [3, 0, 3]
    assert written["output"]["records"] == 11
    report = outcome.report.read_text(encoding="utf-8")
    assert "Records starred: fewer than 3" in report or "Records starred: 3" in report


def test_a_recount_says_how_many_records_have_nothing_but_stars(outcome):
    folder = outcome.table.parent
    said = "3 of 11 records have nothing but stars or gaps."
    assert said in recount_folder(folder).notes
    text = outcome.table.read_text(encoding="utf-8")
    outcome.table.write_text(text.replace("*,*", "north,*", 1), encoding="utf-8")
    notes = recount_folder(folder).notes
    assert "NOT as the manifest says: 2 records have nothing but stars, not 3." in notes


def test_a_written_release_is_read_by_the_hierarchies_of_its_plan(outcome, tmp_path):
    plan = Plan.parse(TEXT, folder=tmp_path)
    again = evaluate_files(plan, tmp_path / "towns.csv", outcome.table)
    assert again.evaluation.loss == outcome.evaluation.loss
    assert again.evaluation.notes == ()
    assert [one.name for one in again.exceeded] == ["suppressed records"]
