"""The screens for exploring and measuring: lattice, levels, classifiers, records, people."""

import json
import re

import numpy as np
import polars as pl
import pytest
from test_pages import change, wait

import ontomask as om
from ontomask.evaluation.classification import judge_classification
from ontomask.studio.edits import contents
from ontomask.studio.lattice import View, shown_nodes

GENERAL = """\
seed = 1

[input]
path = "discharges.csv"

[columns.sex]
kind = "flat"
role = "quasi"

[columns.age]
kind = "numeric"
role = "quasi"

[columns.charge]
kind = "numeric"
role = "sensitive"

[columns.status]
kind = "flat"
role = "sensitive"

[[steps]]
method = "generalization"
suppression_limit = 0.1

[[steps.privacy]]
model = "k-anonymity"
k = 5

[steps.hierarchies]
age = { intervals = [5, 10, 20] }
sex = { star = true }
"""


@pytest.fixture
def general(session):
    session.opened.plan.write_text(GENERAL)
    return session


def test_the_lattice_is_the_librarys_and_a_node_is_fixed_in_the_plan(browser, general, folder):
    part = wait(browser, "/part/solutions").text
    assert "10 combinations of levels" in part
    frame = pl.read_csv(folder / "discharges.csv")
    plan = general.plan()
    nodes = om.measuring.explore(frame, plan.schema, plan.steps[0])
    chosen = int(np.flatnonzero((nodes.levels == [1, 2]).all(axis=1))[0])
    assert f"{nodes.losses['loss'][chosen]:.4f}" in part
    look = browser.get("/part/solutions?node=1.2").text
    assert "intervals of 10" in look
    assert "*" in wait(browser, "/part/node?of=1.2").text
    assert change(browser, general, "/explore/levels", node="1.2").status_code == 303
    assert contents(general.opened.text)["steps"][0]["levels"] == {"sex": 1, "age": 2}
    assert "[20, 30)" in wait(browser, "/part/preview").text
    change(browser, general, "/explore/levels", node="")
    assert "levels" not in contents(general.opened.text)["steps"][0]
    for wrong in ("1", "1.2.3", "a.b", "1.²"):
        assert change(browser, general, "/explore/levels", node=wrong).status_code == 422


def lattice(heights=(3, 2, 4)):
    levels = list(np.ndindex(*(height + 1 for height in heights)))
    generator = np.random.default_rng(1)
    return {
        "names": ["a", "b", "c"],
        "level_names": [[f"level {n}" for n in range(height + 1)] for height in heights],
        "total": len(levels),
        "records": 1000,
        "quality": "loss",
        "fixed": [-1] * 3,
        "levels": [list(one) for one in levels],
        "valid": [sum(one) > 3 for one in levels],
        "loss": generator.random(len(levels)).tolist(),
        "classes": generator.integers(1, 99, len(levels)).tolist(),
        "suppressed": generator.integers(0, 500, len(levels)).tolist(),
    }


@pytest.mark.parametrize(
    ("query", "passes"),
    [
        ({"valid": "1"}, lambda levels, loss, share: sum(levels) > 3),
        ({"loss": "0.5"}, lambda levels, loss, share: loss <= 0.5),
        ({"suppressed": "20"}, lambda levels, loss, share: share <= 20),
        ({"height": "4"}, lambda levels, loss, share: sum(levels) == 4),
        ({"low0": "2", "high2": "1"}, lambda levels, loss, share: levels[0] >= 2 > levels[2]),
        ({"loss": "nonsense", "height": "²", "sort": "x"}, lambda *_: True),
    ],
)
def test_filters_leave_what_they_say(query, passes):
    found = lattice()
    shares = [100 * one / 1000 for one in found["suppressed"]]
    wanted = sum(map(passes, found["levels"], found["loss"], shares))
    assert shown_nodes(found, query)["count"] == wanted


@pytest.mark.parametrize("sort", ["loss", "suppressed", "classes", "height"])
def test_nodes_are_sorted_valid_ones_first(sort):
    rows = shown_nodes(lattice(), {"sort": sort})["rows"]
    assert [one["valid"] for one in rows] == sorted((one["valid"] for one in rows), reverse=True)
    values = [sum(one["levels"]) if sort == "height" else one[sort] for one in rows if one["valid"]]
    assert values == sorted(values, reverse=sort == "classes")


def test_a_way_of_looking_survives_its_address():
    query = {"valid": "1", "loss": "0.5", "low1": "1", "sort": "height", "pins": "0.1.2_3.0.0"}
    view = View.of(query, 3)
    address = dict(pair.split("=") for pair in view.address().split("&"))
    assert View.of(address, 3) == view
    assert [one["name"] for one in shown_nodes(lattice(), query)["pinned"]] == ["0.1.2", "3.0.0"]


def test_large_lattices_are_tiles_and_pages():
    found = lattice((9, 8, 9))
    shown = shown_nodes(found, {"page": "3"})
    assert shown["drawn"] == []
    assert sum(one["count"] for one in shown["tiles"]) == shown["count"] == 900
    assert shown["first"] == 150
    assert len(shown["rows"]) == 50
    assert shown_nodes(found, {"page": "9999"})["first"] == 850
    assert len(shown_nodes(lattice(), {})["drawn"]) == 60


def test_levels_of_a_column_are_built_and_shown(browser, general):
    ladder = wait(browser, "/part/ladder?of=1").text
    assert "intervals of 5" in ladder
    given = {"number": "1", "way": "intervals", "said": "10, 30", "top": "90"}
    assert change(browser, general, "/columns/hierarchy", **given).status_code == 303
    written = contents(general.opened.text)["steps"][0]["hierarchies"]["age"]
    assert written == {"intervals": [10, 30], "top": 90}
    assert "intervals of 30" in wait(browser, "/part/ladder?of=1").text
    for wrong in ({"said": "ten"}, {"said": "10, 15"}, {"way": "nonsense"}, {"way": "dates"}):
        answer = change(browser, general, "/columns/hierarchy", **{**given, **wrong})
        assert answer.status_code == 422, wrong
    (general.opened.folder / "ages.csv").write_text("34,30s,*\n")
    change(browser, general, "/columns/hierarchy", number="1", way="file", said="ages.csv")
    assert "values are not in the hierarchy" in wait(browser, "/part/ladder?of=1").text


def test_classifiers_are_judged_as_the_library_does(browser, general, folder):
    pytest.importorskip("sklearn")
    assert "Choose a column" in wait(browser, "/part/classifiers").text
    fields = {"target": "status", "classifiers": "tree", "folds": "3", "features": ""}
    answer = change(
        browser, general, "/sections/evaluation", here="utility?view=classifiers", **fields
    )
    assert answer.headers["location"] == "/utility?view=classifiers"
    said = contents(general.opened.text)["evaluation"]
    assert said == {"target": "status", "classifiers": ["tree"], "folds": 3}
    part = wait(browser, "/part/classifiers").text
    frame, plan = pl.read_csv(folder / "discharges.csv"), general.plan()
    release = om.protect(frame, plan.schema, plan.steps, seed=1)
    judged = judge_classification(
        frame, plan.schema, "status", lambda _: release, classifiers="tree", folds=3
    )
    for shown in (judged.baseline, judged["tree"].original, judged["tree"].masked):
        assert f"{100 * shown.accuracy:.1f}\u00a0%" in part
    points = json.loads(re.search(r'class="after" data-points="([^"]*)"', part).group(1))
    assert [tuple(one) for one in points] == [
        (one.recall, one.precision, one.threshold) for one in judged["tree"].masked.confidence
    ]


def test_records_are_shown_by_how_far_they_moved(browser, general):
    moved = wait(browser, "/part/records?of=moved").text
    figures = [float(one) for one in re.findall(r'class="number">(\d\.\d{3})<', moved)]
    assert len(figures) == 50
    assert figures == sorted(figures, reverse=True)
    clusters = wait(browser, "/part/records?of=clusters").text
    assert "cluster by cluster" in clusters


def test_the_threshold_of_risk_is_counted_on_classes(browser, general, folder):
    part = wait(browser, "/part/account?of=risk").text
    frame = pl.read_csv(folder / "discharges.csv")
    sizes = frame.group_by("sex", "age").len()["len"]
    above = 100 * sizes.filter(1 / sizes > 0.2).sum() / len(frame)
    row = re.search(r'<th scope="row">20\u00a0%</th>(.*?)</tr>', part, re.DOTALL).group(1)
    assert re.findall(r">([\d.]+)\u00a0%<", row)[0] == f"{above:.1f}"
    lonely = 100 * sizes.filter(sizes == 1).sum() / len(frame)
    both = re.search(r'<th scope="row">sex, age</th>(.*?)</tr>', part, re.DOTALL).group(1)
    assert re.findall(r">([\d.]+)\u00a0%<", both) == [f"{lonely:.1f}", "0"]


def test_people_are_protected_where_a_column_says_so(browser, session, folder):
    rows = "".join(f"p{n % 40},{'FM'[n % 2]},{30 + n % 3}\n" for n in range(120))
    (folder / "discharges.csv").write_text("person,sex,age\n" + rows)
    text = session.opened.text.split("[columns.charge]")[0]
    text += "[columns.person]\nkind = 'identifier'\n[[steps]]\nmethod = 'suppression'\nk = 2\n"
    session.opened.plan.write_text(text)
    asked = wait(browser, "/part/people").text
    assert "person: 40 people, at most 3 records each" in asked
    assert "several records" in asked
    change(browser, session, "/open/person", name="person")
    assert contents(session.opened.text)["columns"]["person"]["unit"] is True
    assert "People are protected" in wait(browser, "/part/people").text
    change(browser, session, "/open/person", name="")
    assert "unit" not in contents(session.opened.text)["columns"]["person"]
    assert change(browser, session, "/open/person", name="nobody").status_code == 422


def test_recipient_goal_and_section_are_written_into_the_plan(browser, session):
    change(browser, session, "/steps/advise", recipient="public")
    said = contents(session.opened.text)
    assert said["steps"][0]["k"] == 11
    assert said["limits"] == {"max_risk": 9.1}
    change(browser, session, "/sections/about", purpose="to study costs", title="Discharges")
    assert contents(session.opened.text)["about"]["purpose"] == "to study costs"
    for goal, method in (("categories", "generalization"), ("rare", "suppression")):
        assert change(browser, session, "/steps/goal", goal=goal).status_code == 303
        (step,) = contents(session.opened.text)["steps"]
        assert step["method"] == method
    assert change(browser, session, "/sections/columns", x="1").status_code == 422
    assert change(browser, session, "/steps/goal", goal="x").status_code == 422
    assert change(browser, session, "/steps/advise", recipient="x").status_code == 422


def test_a_release_is_signed_on_its_figures(browser, session):
    unmade = browser.post("/release/sign", {"name": "A. Smith"})
    assert "Make the release first" in unmade.text
    assert browser.post("/release/sign", {"name": " "}).status_code == 422


def test_the_demonstration_is_put_into_the_folder(browser, session, folder):
    session.project = None
    assert browser.post("/open/demonstration").status_code == 303
    assert session.picked == folder / "demonstration.csv"
    assert "2,000 records" in wait(browser, "/part/look").text


def test_a_changed_question_stops_the_one_before(browser, session):
    first = session.job("preview").key
    change(browser, session, "/steps/set", step="0", k="6")
    session.job("preview")
    for state in session.board.follow(first):
        last = state
    assert last.state in ("stopped", "done")
    assert session.board._wanted[first] is False


def test_what_was_superseded_is_computed_when_somebody_comes_back(browser, session):
    first = session.job("preview").key
    change(browser, session, "/steps/set", step="0", k="6")
    session.job("preview")
    browser.post("/history/undo", {"here": "protection"})
    assert "information loss" in wait(browser, "/part/preview").text
    assert session.board.get(first).state == "done"


def test_the_meter_says_who_is_alone_after_masking(browser):
    assert "/part/masked" in wait(browser, "/part/meter").text
    assert ">0\u00a0%</strong> are alone after masking" in wait(browser, "/part/masked").text


def test_the_preview_has_the_figures_of_an_evaluation(browser, session, folder):
    part = wait(browser, "/part/preview").text
    frame, plan = pl.read_csv(folder / "discharges.csv"), session.plan()
    found = om.protect(frame, plan.schema, plan.steps, seed=1).evaluate(distances=["semantic"])
    for share in (found.loss.loss, found.risk, found.risk_before.uniques):
        figure = 100 * share
        assert f"{figure:.1f}\u00a0%" in part
    assert f'<dd class="number">{found.risk_after.smallest_class}</dd>' in part
