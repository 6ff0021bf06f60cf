"""A plan that generalizes: `check` knows whether it can be run, and `init` drafts it."""

import re
import tomllib
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import ontomask as om
from ontomask.cli import app
from ontomask.errors import PlanError
from ontomask.plan import Plan
from plans import plan_text, write_people

RUNNER = CliRunner()
STEP = """
[[steps]]
method = "generalization"
suppression_limit = 0.3
[[steps.privacy]]
model = "k-anonymity"
k = 3
[steps.hierarchies]
"""
ALL = """age = { intervals = [10, 20, 40] }
admitted = { dates = ["month", "year"] }
severity = { order = 2 }
sex = { star = true }
"""


def checked(folder, hierarchies, **parts):
    write_people(folder)
    try:
        plan = Plan.parse(plan_text(step=STEP + hierarchies, **parts), folder=folder)
        plan.check()
    except PlanError as error:
        return [str(one) for one in error.problems]
    plan.run()
    return []


def test_a_plan_needs_no_row_per_value(tmp_path):
    assert checked(tmp_path, ALL) == []


def test_columns_without_hierarchy_get_one_that_is_told(tmp_path):
    assert checked(tmp_path, "") == []
    notes = Plan.parse(plan_text(step=STEP), folder=tmp_path).run(force=True).notes
    for name, example in (
        ("age", "intervals = ["),
        ("admitted", "dates = ["),
        ("severity", "order"),
    ):
        (sentence,) = (one for one in notes if f"'{name}'" in one)
        assert f"had no hierarchy; it was generalized by {{ {example}" in sentence


MISTAKES = {
    "a value without row": (
        "sex",
        'sex = [["f", "*"]]',
        "holds 'm', which the hierarchy has no row",
    ),
    "a level that forks": (
        "sex",
        'sex = [["f", "x", "*"], ["m", "x", "+"]]',
        "does not determine level",
    ),
    "rows of unequal length": ("sex", 'sex = [["f", "*"], ["m", "x", "*"]]', "row 2"),
    "what does not fit": ("sex", "sex = { intervals = [5] }", "intervals need numbers"),
    "cuts of words": ("sex", "sex = { cuts = [5] }", "cuts need numbers"),
    "cuts that fall": ("age", "age = { cuts = [65, 18] }", "cuts must ascend"),
    "a wrong width": ("age", "age = { intervals = [5, 12] }", "12 is no multiple of 5"),
    "a file that is not there": ("age", 'age = "none.csv"', "which is not a file"),
    "a file with a gap": ("age", 'age = "age.csv"', "age.csv"),
}


@pytest.mark.parametrize(("column", "written", "said"), MISTAKES.values(), ids=MISTAKES)
def test_what_cannot_be_run_is_not_approved(tmp_path, column, written, said):
    (tmp_path / "age.csv").write_text("30;30-39;*\n31;30-39\n")
    lines = [line for line in ALL.splitlines() if not line.startswith(f"{column} ")]
    text = "\n".join([*lines, written]) + "\n"
    (sentence,) = checked(tmp_path, text)
    assert said in sentence
    number = plan_text(step=STEP + text).splitlines().index(written) + 1
    assert sentence.startswith(f"line {number}, step 1: ")


def test_several_mistakes_are_told_together(tmp_path):
    wrong = ALL.replace("sex = { star = true }", 'sex = [["f", "*"]]').replace(
        "order = 2", 'dates = ["year"]'
    )
    found = checked(tmp_path, wrong)
    assert len(found) == 2
    assert "'m'" in found[1]


@pytest.mark.parametrize(
    "model",
    ['model = "l-diversity"\nl = 2', 'model = "t-closeness"\nt = 0.2\ncolumn = "sex"'],
)
def test_models_that_mean_no_sensitive_column_are_told(tmp_path, model):
    write_people(tmp_path)
    columns = (
        plan_text().replace('role = "sensitive"', 'role = "other"')
        if "l-div" in model
        else plan_text()
    )
    head = columns.partition("[[steps]]")[0]
    step = STEP.replace('model = "k-anonymity"\nk = 3', model)
    plan = Plan.parse(head + step + ALL, folder=tmp_path)
    with pytest.raises(PlanError, match=r"step 1: .*sensitive column"):
        plan.check()


def test_columns_that_earlier_steps_change_are_not_judged_by_their_old_values(tmp_path):
    rounding = '[[steps]]\nmethod = "rounding"\ncolumns = ["age"]\nbase = 10\n'
    rows = ", ".join(f'["{age}", "*"]' for age in range(0, 130, 10))
    text = ALL.replace("age = { intervals = [10, 20, 40] }", f"age = [{rows}]")
    write_people(tmp_path)
    plan = Plan.parse(plan_text(step=rounding + STEP + text), folder=tmp_path)
    plan.check()
    plan.run()


# What init drafts ---------------------------------------------------------------------------------


def uncommented(text):
    """The plan with the drafted generalization instead of the microaggregation."""
    before, rest = text.split('[[steps]]\nmethod = "microaggregation"')
    draft, after = rest[rest.index("# [[steps]]") :].split("\n\n", 1)
    return before + re.sub(r"^# ", "", draft, flags=re.M) + "\n\n" + after


def test_the_draft_of_init_runs_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(om.discharges(400, seed=4)).with_columns(
        pl.Series("zip", [f"{28000 + 7 * (n % 9)}" for n in range(400)]),
        pl.Series("pain level", ["low", "medium", "high", "low"] * 100),
    )
    frame.write_csv("t.csv")
    assert RUNNER.invoke(app, ["init", "t.csv"]).exit_code == 0
    text = uncommented(Path("t.toml").read_text(encoding="utf-8"))
    text = text.replace('"undecided"', '"quasi"').replace("unchanged = 10 ", "unchanged = 100 ")
    drafted = tomllib.loads(text)["steps"][0]["hierarchies"]
    assert drafted["age"] == {"intervals": [5, 10, 20, 80]}
    assert drafted["admission_date"] == {"dates": ["month", "quarter", "year"]}
    assert drafted["zip"] == {"digits": "last"}
    assert drafted["sex"] == {"star": True}
    assert "diagnosis" not in drafted
    Path("p.toml").write_text(text, encoding="utf-8")
    done = RUNNER.invoke(app, ["check", "p.toml"])
    assert done.exit_code == 0, done.stderr
    ran = RUNNER.invoke(app, ["run", "p.toml"])
    assert ran.exit_code == 0, ran.stderr
    assert re.search(r"generalized +age: .*\(level \d of 5\)", ran.stdout)
