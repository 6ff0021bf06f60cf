"""Who is alone by the columns that are published as they are."""

import collections
import json
import tomllib

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import ontomask as om
from ontomask.cli import app
from ontomask.plan import Plan

RUNNER = CliRunner()
PLAN = """
seed = 1
[input]
path = "t.csv"
[columns.age]
kind = "numeric"
[columns.ward]
kind = "flat"
role = "other"
[columns.days]
kind = "numeric"
role = "other"
[columns.paid]
kind = "numeric"
role = "sensitive"
[[steps]]
method = "microaggregation"
k = 5
"""


def run(*arguments):
    result = RUNNER.invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def table(size=120, seed=3):
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 60, size),
            "ward": draw.choice(["a", "b", "c"], size),
            "days": draw.integers(1, 20, size),
            "paid": draw.integers(1, 40, size) * 10,
        }
    )


SCHEMA = om.Schema(
    age=om.Numeric(),
    ward=om.Flat(role="other"),
    days=om.Numeric(role="other"),
    paid=om.Numeric(role="sensitive"),
)


def alone(frame, names, counts=None):
    """Counted with a dictionary."""
    rows = list(frame.select(names).iter_rows())
    people = collections.Counter()
    for row, count in zip(rows, counts or [1] * len(rows), strict=True):
        people[row] += count
    return sum(one == 1 for one in people.values()) / sum(people.values())


def test_the_shares_are_those_of_a_count_by_hand():
    frame = table()
    found = om.protect(frame, SCHEMA, om.Microaggregation(5), 1).evaluate(frame).unchanged
    assert found.columns == ("ward", "days", "paid")
    assert found.alone == pytest.approx(alone(frame, ["ward", "days", "paid"]))
    each = {name: alone(frame, [name]) for name in found.columns}
    assert dict(found.single) == pytest.approx(each)
    assert 0.8 < found.alone < 1
    assert found.single[0] == ("ward", 0)


def test_only_records_of_the_release_count():
    frame = table()
    steps = [om.Sampling(share=0.5), om.Microaggregation(5)]
    release = om.protect(frame, SCHEMA, steps, 1)
    found = release.evaluate(frame).unchanged
    assert found.alone == pytest.approx(alone(release.frame, ["ward", "days", "paid"]))


def test_columns_that_a_step_changes_are_not_among_them():
    frame = table()
    steps = [om.Noise(("paid",)), om.Microaggregation(5), om.DropColumns(("days",))]
    found = om.protect(frame, SCHEMA, steps, 1).evaluate(frame).unchanged
    assert found.columns == ("ward",)


def test_a_column_of_which_hardly_anything_is_changed_still_is():
    frame = table()
    masked = frame.with_columns(pl.col("paid").replace(10, 0))
    found = om.evaluate(frame, masked, SCHEMA).unchanged
    assert found.columns == ("ward", "days", "paid")
    assert found.alone == pytest.approx(alone(masked, ["ward", "days", "paid"]))


def test_records_that_stand_for_several_are_not_alone():
    frame = table().with_columns(pl.Series("n", [1, 2] * 60))
    schema = om.Schema.of({**SCHEMA, "n": om.Count()})
    found = om.evaluate(frame, frame, schema).unchanged
    counts = frame["n"].to_list()
    assert found.alone == pytest.approx(alone(frame, ["ward", "days", "paid"], counts))


def test_without_such_columns_nobody_is_alone():
    frame = table().select("age")
    found = om.evaluate(frame, frame, om.Schema(age=om.Numeric())).unchanged
    assert (found.columns, found.alone, found.single) == ((), 0.0, ())
    assert str(found) == ""


def test_the_sentence_says_what_follows():
    frame = table()
    said = str(om.evaluate(frame, frame, SCHEMA).unchanged)
    assert said == (
        "96.7% of the records are alone with what is published unchanged (ward, days, paid; by "
        "paid alone 5.0%): whoever knows these values of a person finds the record, whatever k is."
    )
    many = om.Schema.of({f"c{number}": om.Numeric(role="other") for number in range(4)})
    wide = pl.DataFrame({name: [1, 1, 2] for name in many})
    assert "(4 columns; by c0 alone 33.3%" in str(om.evaluate(wide, wide, many).unchanged)


# Plans --------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table().write_csv("t.csv")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def test_check_and_run_give_the_figure(folder):
    expected = alone(table(), ["ward", "days", "paid"])
    for command in ("check", "run"):
        assert f"{expected:.1%} of the records are alone" in run(command, "plan.toml").stdout
    found = json.loads(run("check", "plan.toml", "--json").stdout)
    assert found["unchanged"]["alone"] == pytest.approx(expected)
    manifest = json.loads((folder / "plan-release" / "manifest.json").read_text())
    assert manifest["evaluation"]["unchanged"]["alone"] == pytest.approx(expected)


@pytest.mark.parametrize(("most", "code"), [(50, 3), (99, 0)])
def test_a_limit_is_held_against_it(folder, most, code):
    (folder / "plan.toml").write_text(f"{PLAN}[limits]\nmax_unique_unchanged = {most}\n")
    checked = run("check", "plan.toml")
    assert checked.exit_code == code
    assert ("A limit of the plan is exceeded already" in checked.stdout) == (code == 3)
    done = run("run", "plan.toml")
    assert done.exit_code == code
    assert ("Limit exceeded: records alone by unchanged columns" in done.stdout) == (code == 3)


def test_a_check_leaves_out_what_the_steps_change(folder):
    noisy = '[[steps]]\nmethod = "noise"\ncolumns = ["paid"]\n[[steps]]'
    plan = Plan.parse(PLAN.replace("[[steps]]", noisy, 1), folder=folder)
    assert plan.check().unchanged.columns == ("ward", "days")
    assert plan.run().evaluation.unchanged.columns == ("ward", "days")


def test_init_proposes_a_limit_and_says_where_the_table_stands(folder):
    assert run("init", "t.csv", "-o", "new.toml").exit_code == 0
    text = (folder / "new.toml").read_text()
    assert tomllib.loads(text)["limits"]["max_unique_unchanged"] == 10
    share = alone(table(), ["paid"])
    assert f"now {100 * share:.1f}" in text
