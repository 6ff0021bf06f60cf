"""The plan of a project: changed with its comments kept, every version of it kept too."""

import os
import threading

import pytest

from ontomask.errors import PlanError
from ontomask.studio.edits import (
    add_step,
    contents,
    move_step,
    only_step,
    remove_step,
    set_value,
)
from ontomask.studio.project import Project

PLAN = """\
# my plan
seed = 1   # keep it

[input]
path = "a.csv"

# the age in years
[columns.age]
kind = "numeric"
role = "quasi"   # others may know it

[[steps]]
method = "microaggregation"  # groups
k = 5

[limits]
max_loss = 20
"""


@pytest.fixture
def project(tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    return Project.open(plan)


def test_a_value_is_changed_and_nothing_else():
    changed = set_value(PLAN, ["columns", "age", "role"], "other")
    assert changed == PLAN.replace('role = "quasi"  ', 'role = "other"  ')


def test_tables_on_the_way_are_made_and_values_taken_out():
    changed = set_value(PLAN, ["output", "folder"], "there")
    assert contents(changed)["output"] == {"folder": "there"}
    assert changed.startswith(PLAN)
    assert contents(set_value(changed, ["output", "folder"], None))["output"] == {}
    assert set_value(PLAN, ["nowhere", "at", "all"], None) == PLAN


def test_a_parameter_of_a_step_is_changed():
    assert set_value(PLAN, ["steps", 0, "k"], 7) == PLAN.replace("k = 5", "k = 7")
    with pytest.raises(PlanError, match="no part 3"):
        set_value(PLAN, ["steps", 3, "k"], 7)


def test_steps_come_go_and_change_places():
    two = add_step(PLAN, "noise", {"columns": ["age"], "deviation": 0.5})
    assert [step["method"] for step in contents(two)["steps"]] == ["microaggregation", "noise"]
    assert "# groups" in two
    assert "max_loss = 20" in two
    swapped = move_step(two, 1, 0)
    assert [step["method"] for step in contents(swapped)["steps"]] == ["noise", "microaggregation"]
    assert contents(remove_step(swapped, 0))["steps"] == contents(PLAN)["steps"]
    assert "steps" not in contents(remove_step(PLAN, 0))
    assert contents(add_step(remove_step(PLAN, 0), "pram", {}))["steps"] == [{"method": "pram"}]


def test_a_plan_that_is_no_toml_is_answered():
    with pytest.raises(PlanError, match="no valid TOML"):
        set_value("[columns", ["seed"], 1)


def test_undo_and_redo_walk_the_versions(project):
    texts = [PLAN]
    for k in (6, 7, 8):
        text = set_value(project.text, ["steps", 0, "k"], k)
        project.save(text, f"k = {k}", expected=project.notice().digest)
        texts.append(text)
    for text in reversed(texts[:-1]):
        project.undo()
        assert project.text == text
    with pytest.raises(PlanError, match="nothing to undo"):
        project.undo()
    for text in texts[1:]:
        project.redo()
        assert project.text == text
    with pytest.raises(PlanError, match="nothing to redo"):
        project.redo()


def test_a_change_after_undo_starts_a_new_branch_and_loses_nothing(project):
    first = project.notice()
    project.save(PLAN + "# a\n", "a", expected=first.digest)
    project.undo()
    project.save(PLAN + "# b\n", "b", expected=first.digest)
    project.undo()
    project.redo()
    assert project.text == PLAN + "# b\n"
    assert [one.said for one in project.versions()] == ["opened", "a", "b"]
    assert project.text_of(project.versions()[1]) == PLAN + "# a\n"


def test_a_change_by_an_editor_is_noticed_and_never_overwritten(project):
    seen = project.notice().digest
    project.plan.write_text(PLAN + "# by hand\n")
    with pytest.raises(PlanError, match="changed in the meantime"):
        project.save(PLAN + "# by the studio\n", "x", expected=seen)
    assert project.text == PLAN + "# by hand\n"
    assert project.versions()[-1].said == "changed outside the studio"
    project.undo()
    assert project.text == PLAN


def test_a_cut_line_of_the_log_costs_at_most_that_version(project):
    with (project.history / "versions.jsonl").open("a") as log:
        log.write('{"number": 2, "wh')
    assert [one.number for one in project.versions()] == [1]
    project.save(PLAN + "# next\n", "next", expected=project.notice().digest)
    assert [one.said for one in project.versions()] == ["opened", "next"]


def test_a_pointer_behind_the_plan_is_repaired(project):
    """Power fails after the plan was written and before the pointer moved."""
    project.plan.write_text(PLAN + "# new\n")
    again = Project.open(project.plan)
    assert again.text == PLAN + "# new\n"
    assert again.undo().digest == project.versions()[0].digest


def test_many_tabs_at_once_lose_no_version(project):
    seen = project.notice().digest
    outcomes = []

    def change(number):
        try:
            outcomes.append(project.save(f"{PLAN}# {number}\n", str(number), expected=seen))
        except PlanError:
            outcomes.append(None)

    threads = [threading.Thread(target=change, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (kept,) = [one for one in outcomes if one is not None]
    assert project.text == f"{PLAN}# {kept.said}\n"


def test_a_full_disk_leaves_the_plan(project, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    seen = project.notice().digest
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Exception, match="No space left"):
        project.save(PLAN + "# x\n", "x", expected=seen)
    assert project.text == PLAN


def test_a_plan_that_has_gone_is_said(project):
    project.plan.unlink()
    with pytest.raises(PlanError, match="no longer there"):
        project.notice()
    with pytest.raises(PlanError, match="may have been moved"):
        Project.open(project.plan)


COMMENTED = """\
# a plan
seed = 1

# the steps, in order
[[steps]]
# chosen by the board
method = "microaggregation"
k = 5  # five
[[steps.privacy]]
model = "distinct-l-diversity"

# and then
[[steps]]
method = "suppression"
columns = [
  "a",
  # in a list
]

# what must not be exceeded
[limits]
max_risk = 20
"""


@pytest.mark.parametrize("text", [COMMENTED, COMMENTED.replace("# a plan", ""), "seed = 1\n"])
def test_one_step_takes_the_place_of_all_and_comments_stay(text):
    changed = only_step(text, "recoding", {"k": 3, "hierarchies": {"a": {"star": True}}})
    remarks = [line.strip() for line in text.splitlines() if line.strip().startswith("#")]
    assert [line.strip() for line in changed.splitlines() if line.strip()[:1] == "#"] == remarks
    step = {"method": "recoding", "k": 3, "hierarchies": {"a": {"star": True}}}
    assert contents(changed) == contents(text) | {"steps": [step]}


def test_a_text_that_looks_like_a_header_is_not_torn():
    text = '[[steps]]\nmethod = "suppression"\nnote = """\n[limits]\n"""\n[about]\ntitle = "x"\n'
    assert contents(only_step(text, "recoding", {"k": 3})) == {
        "steps": [{"method": "recoding", "k": 3}],
        "about": {"title": "x"},
    }
