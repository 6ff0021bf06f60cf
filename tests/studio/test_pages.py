"""What the pages say and change, asked without a browser."""

import html
import json
import os
import re
import time

import polars as pl
import pytest

from ontomask.plan.advice import RECIPIENTS
from ontomask.plan.plan import Plan
from ontomask.plan.schema import plan_schema
from ontomask.plan.starting import starting_model
from ontomask.studio.answers import percent, templates
from ontomask.studio.edits import ROLES, add_step, contents, differences, set_value
from ontomask.studio.forms import models_of
from ontomask.studio.jobs import Job
from ontomask.studio.pages import PARTS


def wait(browser, path, within=60):
    """A part of a page once it is computed."""
    started = time.monotonic()
    while time.monotonic() - started < within:
        answer = browser.get(path)
        if "data-follow" not in answer.text:
            return answer
        time.sleep(0.1)
    raise AssertionError(answer.text)


def change(browser, session, where, **fields):
    version = session.opened.notice().digest
    return browser.post(where, {"version": version, **fields})


def test_every_screen_opens(browser):
    for path in (
        "open",
        "columns",
        "protection",
        "explore",
        "utility",
        "risk",
        "release",
        "history",
    ):
        answer = browser.get(f"/{path}")
        assert answer.status_code == 200, path
        assert "<h1>" in answer.text
    assert browser.get("/nowhere").status_code == 404


def test_a_role_is_set_and_undone(browser, session):
    before = session.opened.text
    answer = change(browser, session, "/columns/set", name="age", key="role", value="other")
    assert answer.status_code == 303
    assert session.opened.text == before.replace(
        'role = "quasi"   # years', 'role = "other"   # years'
    )
    browser.post("/history/undo", {"here": "columns"})
    assert session.opened.text == before


def test_a_mistake_leaves_the_plan_and_is_a_sentence(browser, session):
    before = session.opened.text
    answer = change(browser, session, "/steps/set", step="0", k="1")
    assert answer.status_code == 422
    assert "k must be a whole number of at least 2" in answer.text
    words = change(browser, session, "/steps/set", step="0", k="five")
    assert "such as 5" in words.text
    gone = change(browser, session, "/steps/set", step="7", k="5")
    assert "no such step" in gone.text
    assert session.opened.text == before


def test_a_change_made_from_an_old_page_is_refused(browser, session):
    old = session.opened.notice().digest
    session.opened.plan.write_text(session.opened.text + "# by hand\n")
    answer = browser.post("/steps/set", {"version": old, "step": "0", "k": "9"})
    assert answer.status_code == 422
    assert "changed in the meantime" in answer.text
    assert "# by hand" in session.opened.text


def test_steps_are_added_set_moved_and_removed(browser, session):
    change(browser, session, "/steps/add", method="recoding", k="4")
    steps = contents(session.opened.text)["steps"]
    assert steps[1] == {"method": "recoding", "k": 4}
    change(browser, session, "/steps/set", step="0", k="7", refine="true")
    assert contents(session.opened.text)["steps"][0] == {
        "method": "microaggregation",
        "k": 7,
        "refine": True,
    }
    change(browser, session, "/steps/move", step="1", to="0")
    assert [one["method"] for one in contents(session.opened.text)["steps"]] == [
        "recoding",
        "microaggregation",
    ]
    change(browser, session, "/steps/remove", step="0")
    assert [one["method"] for one in contents(session.opened.text)["steps"]] == ["microaggregation"]
    assert len(session.opened.versions()) == 5


def test_a_plan_that_cannot_be_read_is_shown_as_such(browser, session):
    session.opened.plan.write_text("[columns\n")
    answer = browser.get("/columns")
    assert answer.status_code == 200
    assert "cannot be run as it is" in answer.text
    browser.post("/history/undo", {"here": "columns"})
    assert "cannot be run" not in browser.get("/columns").text


def test_a_plan_that_has_gone_is_a_sentence(browser, session):
    session.opened.plan.unlink()
    answer = browser.get("/columns")
    assert answer.status_code == 422
    assert "no longer there" in answer.text


def checked(browser, screen):
    """A screen once the plan is compared with its table."""
    wait(browser, "/part/check")
    return html.unescape(browser.get(f"/{screen}").text)


def state_of(page, screen):
    return re.search(rf'href="/{screen}" class="(\w*)"', page)[1]


def test_a_table_that_has_moved_is_pointed_to(browser, session, folder):
    (folder / "discharges.csv").rename(folder / "elsewhere.csv")
    page = checked(browser, "open")
    assert state_of(page, "open") == "look"
    assert page.count("discharges.csv") == 1, "one box says that it has gone"
    assert "discharges.csv" in wait(browser, "/part/meter").text
    change(browser, session, "/open/table", path="elsewhere.csv")
    assert contents(session.opened.text)["input"]["path"] == "elsewhere.csv"
    assert state_of(checked(browser, "open"), "open") == "ready"
    assert change(browser, session, "/open/table", path="../x.csv").status_code == 422


def test_models_are_added_set_and_removed(browser, session):
    change(browser, session, "/models/add", step="0", model="l-diversity")
    promised = {"model": "l-diversity", "l": 2}
    assert contents(session.opened.text)["steps"][0]["privacy"] == [promised]
    change(browser, session, "/models/set", step="0", place="0", l="3", kind="entropy")
    assert contents(session.opened.text)["steps"][0]["privacy"] == [
        {"model": "l-diversity", "l": 3, "kind": "entropy"}
    ]
    page = html.unescape(browser.get("/protection").text)
    assert "Every class has l well-represented sensitive values" in page
    assert "step 1: l-diversity: l 3, was 2" in page
    wrong = change(browser, session, "/models/set", step="0", place="0", l="0")
    assert "Not saved: l must be" in html.unescape(wrong.text)
    assert change(browser, session, "/models/add", step="0", model="x").status_code == 422
    change(browser, session, "/models/remove", step="0", place="0")
    assert "privacy" not in contents(session.opened.text)["steps"][0]


def test_every_model_begins_with_something_that_a_plan_may_say(session):
    """A population is a file of its own, which nobody can guess."""
    text, schema = session.opened.text.split("[[steps]]")[0], session.plan().schema
    for model in set(models_of("generalization")) - {"delta-presence"}:
        step = {"privacy": [starting_model(model, schema, 7)]}
        plan = Plan.parse(add_step(text, "generalization", step))
        (promised,) = plan.steps[0].privacy
        assert type(promised).__name__.lower() == model.replace("-", "")
        assert step["privacy"][0].get("k", 7) == 7


def test_the_texts_of_forms_are_each_their_own_and_have_no_words_of_python():
    schema = plan_schema()
    for name, part in {"Plan": schema, **schema["$defs"]}.items():
        texts = [one.get("description", "") for one in part["properties"].values()]
        assert len(set(texts)) == len(texts), name
        for text in texts:
            assert not re.search(r"\b(True|False|None)\b|`[A-Z][a-z]+\w*[`.(]", text), (name, text)


def test_all_that_is_advised_is_taken_over(browser, session):
    change(browser, session, "/steps/advise", recipient="public")
    said = contents(session.opened.text)
    advice = RECIPIENTS["public"]
    assert said["steps"] == [
        {
            "method": "microaggregation",
            "k": advice.k,
            "privacy": [{"model": "l-diversity", "l": advice.l, "column": "charge"}],
        }
    ]
    assert said["limits"]["max_risk"] == pytest.approx(100 * advice.max_risk)
    told = session.opened.versions()[-1].said
    assert "step 1: k 11, was 5" in told
    assert "l-diversity of charge: l 3" in told
    change(browser, session, "/columns/set", name="sex", key="role", value="sensitive")
    change(browser, session, "/steps/advise", recipient="public")
    promised = contents(session.opened.text)["steps"][0]["privacy"]
    assert [one["column"] for one in promised] == ["charge"], "sex has fewer than three values"
    change(browser, session, "/steps/advise", recipient="inside")
    assert contents(session.opened.text)["steps"][0]["privacy"][0]["l"] == RECIPIENTS["inside"].l


def test_a_plan_that_does_not_fit_the_table_can_be_made_to_fit(browser, session):
    change(browser, session, "/columns/set", name="sex", key="kind", value="numeric")
    page = checked(browser, "columns")
    assert "Column 'sex' is to hold numbers" in page
    assert state_of(page, "columns") == "look"
    assert 'aria-label="kind of sex"' in wait(browser, "/part/columns").text
    change(browser, session, "/columns/set", name="sex", key="kind", value="flat")
    assert state_of(checked(browser, "columns"), "columns") == "ready"
    assert "are alone with their values" in wait(browser, "/part/meter").text


def test_a_class_larger_than_the_table_needs_a_look(browser, session):
    assert state_of(browser.get("/protection").text, "protection") == "wait"
    change(browser, session, "/steps/set", step="0", k="60000")
    page = checked(browser, "protection")
    assert state_of(page, "protection") == "look"
    assert "k is 60000, but the table has only 400 records" in page
    assert state_of(page, "columns") == "ready"


def test_columns_over_the_limit_of_what_stays_unchanged_need_a_look(browser, session):
    session.opened.plan.write_text(session.opened.text + "[limits]\nmax_unique_unchanged = 10\n")
    page = checked(browser, "columns")
    alone = pl.read_csv(session.table())["charge"].is_unique().mean()
    said = f"{percent(alone)} of the records are alone with what is published unchanged"
    assert said in page
    assert "the limit of the plan is 10\u00a0%" in page
    assert "max_unique" not in page.partition("<main")[2]
    assert state_of(page, "columns") == "look"
    change(browser, session, "/sections/limits", max_unique_unchanged="100")
    assert state_of(checked(browser, "columns"), "columns") == "ready"


def test_columns_and_preview_are_computed(browser):
    assert 'aria-label="distribution of sex"' in wait(browser, "/part/columns").text
    assert "are alone with their values of sex, age" in wait(browser, "/part/meter").text
    preview = wait(browser, "/part/preview")
    assert "information loss" in preview.text
    assert "The whole table" in preview.text


def test_the_smallest_sets_that_single_people_out_stand_beside(browser, session):
    part = wait(browser, "/part/unique").text
    frame = pl.read_csv(session.table())
    alone = frame.group_by("sex", "age").len().filter(pl.col("len") == 1)
    by_age = frame["age"].is_unique().sum()
    assert f">{len(alone) - by_age}</td>" in part.replace(",", "")


def test_a_role_changes_the_row_without_a_look_at_the_table(browser, session):
    """Though a proposed plan names itself in a comment."""
    session.opened.plan.write_text(session.opened.text + "# ontomask run plan.toml\n")
    wait(browser, "/part/columns")
    change(browser, session, "/columns/set", name="age", key="role", value="other")
    assert "data-follow" not in browser.get("/part/columns").text


def test_a_column_without_a_role_is_one_that_others_know(browser, session):
    session.opened.plan.write_text(session.opened.text.replace('role = "quasi"   # years\n', ""))
    part = wait(browser, "/part/columns").text
    row = part[part.index('aria-label="role of age"') :]
    assert re.search(r'value="(\w+)" aria-pressed="true"', row)[1] == "quasi"


def test_roles_of_several_columns_are_set_at_once(browser, session):
    change(browser, session, "/columns/set", name=["sex", "charge"], key="role", value="other")
    said = contents(session.opened.text)["columns"]
    assert {name: one["role"] for name, one in said.items()} == {
        "sex": "other",
        "age": "quasi",
        "charge": "other",
    }
    assert change(browser, session, "/columns/set", key="role", value="other").status_code == 422


def test_kinds_of_several_columns_are_set_at_once(browser, session):
    def declared(kind, **more):
        given = {"name": ["sex", "charge"], "what": "kind", "kind": kind, **more}
        answer = change(browser, session, "/columns/set", **given)
        said = contents(session.opened.text)["columns"]
        return answer, [said[name] for name in ("sex", "charge")]

    before = session.opened.text
    answer, _ = declared("nominal")
    assert "need a taxonomy" in answer.text
    assert declared("nothing")[0].status_code == 422
    assert session.opened.text == before
    _, both = declared("nominal", taxonomy="icd9cm")
    assert [one["taxonomy"] for one in both] == ["icd9cm", "icd9cm"]
    assert [one["role"] for one in both] == ["quasi", "sensitive"]
    _, both = declared("ordinal")
    assert both[0]["order"] == ["F", "M"]
    assert both[1]["order"] == sorted(both[1]["order"], key=float)
    _, both = declared("identifier")
    assert both == [{"kind": "identifier"}] * 2
    change(browser, session, "/columns/set", name="charge", key="kind", value="flat")
    change(browser, session, "/columns/set", name=["sex", "age"], key="role", value="other")
    said = contents(session.opened.text)["columns"]
    assert (said["sex"], said["age"]["role"]) == ({"kind": "identifier"}, "other")


def test_a_page_that_stays_is_told_what_changed(browser, session):
    def told(path, **fields):
        version = session.opened.notice().digest
        asked = {"x-requested-with": "fetch"}
        return browser.post(path, {"version": version, **fields}, headers=asked).json()

    assert told("/columns/set", name="age", key="role", value="other") == {
        "go": "/columns",
        "changed": "age: harmless, was others know it",
    }
    assert told("/steps/set", step="0", k="7")["changed"] == "step 1: k 7, was 5"
    assert told("/history/undo", here="columns/1")["changed"] == "step 1: k 5, was 7"
    assert "Last change: age: harmless, was others know it" in browser.get("/protection").text
    refused = told("/steps/set", step="0", k="0")["problem"]
    assert refused == "Not saved: k must be a whole number of at least 2, not 0."


def test_what_changed_is_told_in_the_words_of_the_buttons(browser, session):
    """Whoever reads the history has not read the plan file."""
    buttons = dict(
        re.findall(
            r'value="(\w+)" title="[^"]+">([^<]+)</button>', wait(browser, "/part/columns").text
        )
    )
    assert buttons == ROLES
    before = session.opened.text
    model = '[[steps.privacy]]\nmodel = "l-diversity"\nl = 2\ncolumn = "charge"\n'
    for role, word in ROLES.items():
        after = set_value(before, ["columns", "charge", "role"], role)
        assert differences(before, after) in ("", f"charge: {word}, was sensitive")
    assert differences(before, before + model) == "step 1: l-diversity of charge: l 2"
    assert differences(before + model, before) == "step 1: l-diversity of charge taken out"
    said = set_value(before, ["about", "contact"], "A. Ward")
    assert differences(before, said) == "who gets it: contact A. Ward"
    assert differences(said, set_value(said, ["about", "contact"], None)) == (
        "who gets it: contact no longer set"
    )


def test_a_promise_about_a_column_made_harmless_says_what_to_do_and_where(browser, session):
    model = '[[steps.privacy]]\nmodel = "l-diversity"\nl = 2\ncolumn = "charge"\n'
    session.opened.plan.write_text(session.opened.text + model)
    change(browser, session, "/columns/set", name="charge", key="role", value="other")
    for path in ("/part/meter", "/part/account?of=risk"):
        part = wait(browser, path).text
        assert "Take this promise out of the step, or make the column sensitive." in part
        assert 'href="/protection">Go to Protection' in part
        assert "Try again" not in part, "the answer would be the same"


def test_what_is_computed_has_a_name_and_only_what_runs_can_be_stopped(
    browser, session, monkeypatch
):
    monkeypatch.setattr(session, "job", lambda name, **_: Job(name))
    for name in ("meter", "columns", "unique"):
        monkeypatch.setattr(session.board, "ahead", lambda key: None)
        running = browser.get(f"/part/{name}").text
        assert f"<p>{PARTS[name]}</p>" in running
        assert "data-stop>" in running
        monkeypatch.setattr(session.board, "ahead", lambda key: Job("first", "running"))
        waiting = browser.get(f"/part/{name}").text
        assert "waits for its turn" in waiting
        assert "data-stop hidden>" in waiting


@pytest.mark.parametrize("refused", [True, False])
def test_only_what_failed_by_chance_can_be_tried_again(browser, session, monkeypatch, refused):
    failed = Job("key", "failed", problem="It failed.", refused=refused)
    monkeypatch.setattr(session, "job", lambda name, **_: failed)
    part = browser.get("/part/account?of=risk").text
    assert ("Try again" in part) is not refused
    assert ("Go to Protection" in part) is refused


def test_every_share_is_written_alike_and_stays_on_its_line():
    shown = templates().from_string("{{ a | percent }} {{ a | percent('g') }} {{ b | told }}")
    said = "99.9% are alone, where 5 % are allowed (column 100%)"
    assert shown.render(a=0.307, b=said) == (
        "30.7\u00a0% 30.7\u00a0% 99.9\u00a0% are alone, where 5\u00a0% are allowed (column 100%)"
    )
    for name in templates().list_templates(["html"]):
        text = templates().loader.get_source(templates(), name)[0]
        assert not re.search(r"\}\}(?: |&nbsp;)?%(?!\})", text), f"{name} writes a share by itself"


def test_without_a_table_there_is_a_way_to_one(browser, session):
    session.project = None
    assert '<a href="/open">Choose a table</a>' in browser.get("/release").text


def test_the_states_of_stages_are_words_for_everyone(browser):
    """Narrow screens show a sign; its word is its title, and is read aloud."""
    page = browser.get("/columns").text
    for title, state in re.findall(
        r'title="([a-z ]+)"[^>]*>\s*<span class="number.*?state">([^<]*)<', page, re.DOTALL
    ):
        assert title == state
    assert 'title="being checked"' in page


def test_names_and_values_are_escaped(browser, session, folder):
    evil = '<script>alert("x")</script>'
    (folder / "discharges.csv").write_text(
        f'sex,"{evil.replace(chr(34), chr(34) * 2)}"\n' + "F,<b>\nM,<b>\n" * 20
    )
    text = (
        session.opened.text.split("[columns.age]")[0]
        + f"[columns.'{evil}']\nkind = 'flat'\nrole = 'quasi'\n"
        + "[[steps]]\nmethod = 'suppression'\nk = 2\n"
    )
    session.opened.plan.write_text(text)
    for path in ("/part/columns", "/part/preview"):
        answer = wait(browser, path).text
        assert evil not in answer
        assert "<b>" not in answer
        assert "&lt;script&gt;" in answer


def test_a_release_is_made_and_its_files_can_be_had(browser, session, folder):
    assert browser.get("/download/table").status_code == 404
    browser.post("/release/run")
    started = time.monotonic()
    while not session.release_job().is_over and time.monotonic() - started < 90:
        time.sleep(0.2)
    assert session.release_job().state == "done", session.release_job().problem
    page = browser.get("/release").text
    assert "counted again" in page
    assert "The release is that of this plan" in page
    table = browser.get("/download/table")
    assert table.text.splitlines()[0] == "sex,age,charge"
    assert "RELEASE REPORT" in browser.get("/report/public").text.upper()
    manifest = json.loads(browser.get("/download/manifest").text)
    assert manifest["plan"]["text"] == session.opened.text
    change(browser, session, "/steps/set", step="0", k="6")
    assert "of an earlier version" in browser.get("/release").text


def test_two_clicks_make_one_release(browser, session):
    browser.post("/release/run")
    first = session.releasing
    browser.post("/release/run")
    assert session.releasing == first
    session.board.stop(first)


def test_a_table_becomes_a_project(browser, session, folder):
    (folder / "plan.toml").unlink()
    session.project = None
    assert "discharges.csv" in browser.get("/open").text
    browser.post("/open/pick", {"path": "discharges.csv"})
    assert "records" in wait(browser, "/part/look").text
    browser.post("/open/begin")
    started = time.monotonic()
    while session.project is None and time.monotonic() - started < 60:
        answer = browser.get("/part/begin")
        time.sleep(0.1)
    assert answer.json() == {"go": "/open"}
    assert state_of(browser.get("/columns").text, "open") == "look"
    assert "That is right: go on to the columns" in wait(browser, "/part/people").text
    accepted = change(browser, session, "/open/person", name="")
    assert accepted.headers["location"] == "/columns"
    assert session.opened.versions()[-1].said == "whose records: each a person"
    assert state_of(checked(browser, "columns"), "open") == "ready"
    assert session.opened.plan == folder / "discharges-project" / "plan.toml"
    assert contents(session.opened.text)["input"]["path"] == "../discharges.csv"


TITLED = "A title;;\nsex;age;charge\n" + "F;30;1,5\nM;41;2,5\n" * 10


def test_how_a_file_is_read_is_said_before_there_is_a_plan(browser, session, folder):
    (folder / "titled.csv").write_text(TITLED)
    browser.post("/open/pick", {"path": "titled.csv"})
    assert session.project is None
    browser.post("/open/reading", {"header": "1"})
    wrong = wait(browser, "/part/look").text
    assert "titled.csv: column" in wrong
    assert "row 2 holds the names" in wrong
    browser.post("/open/reading", {"header": "2", "separator": ";", "decimal": ","})
    right = wait(browser, "/part/look").text
    assert "20 records, 3 columns" in right
    assert re.findall(r'<tr class="(\w+)">', right) == ["left", "names"]
    assert browser.post("/open/reading", {"decimal": "x"}).status_code == 422
    browser.post("/open/begin")
    while browser.get("/part/begin").headers["content-type"] != "application/json":
        time.sleep(0.1)
    said = contents(session.opened.text)
    assert said["input"]["header"] == 2
    assert said["input"]["decimal"] == ","
    assert list(said["columns"]) == ["sex", "age", "charge"]
    browser.post("/open/pick", {"path": "discharges.csv"})
    assert session.said_reading == {}


def test_a_plan_is_proposed_anew_where_another_row_holds_the_names(browser, session, folder):
    (folder / "discharges.csv").write_text(TITLED)
    change(browser, session, "/sections/input", header="2", separator=";", decimal=",")
    assert "20 records, 3 columns" in wait(browser, "/part/look").text
    assert change(browser, session, "/open/anew").status_code == 303
    assert "proposed anew" in browser.get("/history").text
    assert contents(session.opened.text)["input"]["decimal"] == ","
    browser.post("/history/undo", {"here": "open"})
    assert session.opened.text.startswith("# a plan")


def test_a_compared_method_is_adopted(browser, session):
    change(browser, session, "/explore/adopt", method="sa-mdav-static", k="4")
    assert contents(session.opened.text)["steps"] == [
        {"method": "microaggregation", "k": 4, "dynamic": False}
    ]
    change(browser, session, "/explore/adopt", method="pram", k="4")
    assert contents(session.opened.text)["steps"] == [{"method": "pram"}]
    answer = change(browser, session, "/explore/adopt", method="shuffling", k="4")
    assert answer.status_code == 422
    assert "needs more than a k" in answer.text
    offered = browser.get("/explore").text
    assert 'value="pram"' in offered
    assert 'value="shuffling"' not in offered


def test_methods_are_compared_one_by_one(browser, session):
    browser.post("/explore/grid", {"names": "sa-mdav", "sizes": "3, 5", "limit": "50"})
    assert session.grid == {"names": ["sa-mdav"], "sizes": [3, 5], "limit": 50.0, "whole": False}
    begun = browser.get("/part/methods").text
    assert "0 of 2 compared" in begun
    answer = wait(browser, "/part/methods")
    assert "sa-mdav, k = 3" in answer.text
    assert "<svg" in answer.text
    kept = [job.key for *_, job in session.cells()]
    change(browser, session, "/steps/set", step="0", k="7")  # what is compared stays as it is
    more = ", ".join(map(str, [3, 5, *range(7, 20)]))
    browser.post("/explore/grid", {"names": "sa-mdav", "sizes": more, "limit": "50"})
    cells = session.cells()
    assert [job.key for *_, job in cells[:2]] == kept
    assert [job.state for *_, job in cells[:2]] == ["done", "done"]
    browser.post("/explore/stop")
    assert re.search(r"Stopped after \d+ of 15", wait(browser, "/part/methods").text)
    browser.post("/explore/grid", {"names": "sa-mdav", "sizes": "3, 19", "limit": "50"})
    assert "sa-mdav, k = 19" in wait(browser, "/part/methods?again=1").text
    assert browser.post("/explore/grid", {"sizes": "3"}).status_code == 422


def test_a_method_that_cannot_be_compared_says_why(browser, session):
    browser.post("/explore/grid", {"names": ["shuffling", "pram"], "sizes": "3, 5"})
    assert len(session.cells()) == 2
    answer = wait(browser, "/part/methods").text
    assert "cannot be made from its name alone" in answer


def test_the_account_is_the_internal_report(browser):
    part = wait(browser, "/part/account?of=risk")
    assert "highest risk" in part.text
    page = browser.get("/account")
    assert "INTERNAL" in page.text.upper()
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_a_note_is_kept_with_the_decision_that_it_is_about(browser, session):
    change(browser, session, "/steps/set", step="0", k="8")
    given = {"note": "k = 5 as agreed with the board", "number": "1", "here": "release"}
    assert browser.post("/history/note", given).headers["location"] == "/release"
    assert [one.note for one in session.opened.versions()] == [given["note"], ""]
    assert "as agreed" in browser.get("/download/decisions").text
    assert browser.post("/history/note", {"note": "x", "number": "99"}).status_code == 422


def test_decisions_leave_out_what_was_undone_and_any_version_is_opened(browser, session):
    change(browser, session, "/steps/set", step="0", k="8")
    browser.post("/history/undo", {"here": "release"})
    change(browser, session, "/steps/set", step="0", k="9")
    said = [one.said for one in session.opened.decisions()]
    assert said == ["opened", "step 1: k 9, was 5"]
    assert "k = 8" not in browser.get("/release").text
    history = browser.get("/history?show=2").text
    assert "+ k = 8" in history
    assert "(undone)" in history
    browser.post("/history/go", {"number": "2"})
    assert "k = 8" in session.opened.text
    for wrong in ("99", "x", "²"):
        assert browser.post("/history/go", {"number": wrong}).status_code == 422


def test_every_page_says_what_was_changed_last(browser, session):
    change(browser, session, "/steps/set", step="0", k="8")
    for path in ("open", "columns", "columns/1", "protection", "release", "history"):
        assert "Last change: step 1: k 8, was 5" in browser.get(f"/{path}").text, path


def test_projects_are_listed_the_newest_first(browser, session, folder):
    for name, when in (("old", 1e9), ("new", 2e9)):
        (folder / name).mkdir()
        (folder / name / "plan.toml").write_text("")
        os.utime(folder / name / "plan.toml", (when, when))
    page = browser.get("/open").text
    found = re.findall(r'class="file">(\S+) <span class="small">changed (\d{4})', page)
    assert [name for name, _ in found] == ["new", folder.name, "old"]
    assert found[2][1] == "2001"


def test_no_value_of_the_table_stands_in_an_address(browser):
    pages = [browser.get(f"/{path}").text for path in ("columns", "protection", "release")]
    pages.append(wait(browser, "/part/columns").text)
    for address in re.findall(r'(?:href|src|action|data-part)="([^"]*)"', "".join(pages)):
        assert not re.search(r"sex|age|charge", address), address


@pytest.mark.parametrize(
    "here", ["columns", "//evil.example", "https://evil.example", "", "nowhere"]
)
def test_going_back_stays_in_the_studio(browser, session, here):
    change(browser, session, "/steps/set", step="0", k="8")
    answer = browser.post("/history/undo", {"here": here})
    assert answer.headers["location"] == ("/columns" if here == "columns" else "/")


NOMINAL = """\
[input]
path = "words.csv"

[columns.sex]
kind = "flat"
role = "quasi"

[columns.diagnosis]
kind = "nominal"
taxonomy = "icd9cm"
unmapped = "root"
role = "quasi"
{mapping}
[[steps]]
method = "microaggregation"
k = 2
"""


@pytest.mark.parametrize("in_file", [False, True])
def test_words_without_a_concept_are_repaired(browser, session, folder, in_file):
    (folder / "words.csv").write_text("sex,diagnosis\n" + "F,410\nM,hart failure\n" * 10)
    (folder / "mapping.csv").write_text("value,concept,label\n")
    mapping = 'mapping = "mapping.csv"\n' if in_file else ""
    session.opened.plan.write_text(NOMINAL.format(mapping=mapping))
    answer = wait(browser, "/part/words?of=1")
    assert "hart failure" in answer.text
    assert "taken to mean anything" in answer.text
    left = {"number": "1", "kind": "nominal", "unmapped": "suppress"}
    change(browser, session, "/columns/declare", **left)
    assert "they count as missing" in wait(browser, "/part/words?of=1").text
    given = {"number": "1", "value": "hart failure", "concept": "428"}
    assert change(browser, session, "/columns/map", **given).status_code == 303
    assert "Every value means a concept" in wait(browser, "/part/words?of=1").text
    if in_file:
        assert (folder / "mapping.csv").read_text() == "value,concept,label\nhart failure,428,\n"
    wrong = change(
        browser, session, "/columns/map", **{**given, "value": "x", "concept": "nonsense"}
    )
    assert wrong.status_code == 422
    assert "nonsense" in wrong.text


def test_a_column_that_is_not_there_is_a_sentence(browser):
    for number in ("99", "-1", "x", "²"):
        assert browser.get(f"/columns/{number}").status_code == 422
