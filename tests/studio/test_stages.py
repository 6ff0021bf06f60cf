"""How the stages of the rail stand: each state of each of them, and that it is true."""

import json
import os

import pytest
from test_pages import change, checked, state_of, wait

from ontomask.studio import stages
from ontomask.studio.jobs import Job
from ontomask.studio.stages import CHECKED, STAGES, Known, computed, made_of

PATHS = [path for path, _ in STAGES]
QUIET = {"limits": [], "alike": []}
OVER_USE = {"limits": [["information loss", 0.3, 0.1, True]], "alike": []}
OVER_RISK = {"limits": [["highest risk", 0.3, 0.1, True]], "alike": []}
WITHIN = {"limits": [["highest risk", 0.1, 0.3, False]], "alike": []}
FINE = {path: [] for path in CHECKED}


def states(known):
    return {path: stages.state_of(path, known) for path in PATHS}


def test_without_a_plan_every_stage_is_empty():
    assert set(states(None).values()) == {"empty"}


def test_a_plan_that_cannot_be_read_needs_a_look_where_it_is_written():
    found = states(Known(readable=False, released="ready"))
    assert [path for path in PATHS if found[path] == "look"] == ["columns", "protection"]
    assert {found[path] for path in PATHS} == {"look", "empty"}


@pytest.mark.parametrize("path", CHECKED)
def test_a_checked_stage_stands_as_the_check_says(path):
    assert states(Known())[path] == "wait"
    assert states(Known(needing=FINE))[path] == "ready"
    found = states(Known(needing=FINE | {path: ["Something is wrong."]}))
    assert [one for one in CHECKED if found[one] == "look"] == [path]
    assert states(Known(needing=FINE, asked=frozenset([path])))[path] == "look"
    assert states(Known(asked=frozenset([path])))[path] == "look", "asked before it is checked"


@pytest.mark.parametrize(
    ("found", "looks"),
    [
        (None, []),
        (QUIET, []),
        (WITHIN, []),
        (OVER_USE, ["utility"]),
        (OVER_RISK, ["risk"]),
        (QUIET | {"alike": [["status", "10%"]]}, ["risk"]),
    ],
)
def test_a_measured_stage_needs_a_look_where_its_own_limits_are_exceeded(found, looks):
    shown = states(Known(needing=FINE, measured="ready", found=found))
    assert [path for path in ("utility", "risk") if shown[path] == "look"] == looks
    assert {shown["utility"], shown["risk"]} <= {"ready", "look"}


@pytest.mark.parametrize("state", ["empty", "busy", "ready", "old", "look"])
def test_computed_stages_stand_as_their_jobs(state):
    known = Known(needing=FINE, explored=state, measured=state, released=state)
    assert {states(known)[path] for path in ("explore", "utility", "risk", "release")} == {state}


@pytest.mark.parametrize(
    ("jobs", "earlier", "state"),
    [
        ([], False, "empty"),
        ([None], True, "old"),
        (["stopped"], False, "empty"),
        (["stopped"], True, "old"),
        (["waiting"], True, "busy"),
        (["done", "running"], False, "busy"),
        (["done", "failed"], False, "ready"),
        (["failed"], True, "look"),
    ],
)
def test_what_jobs_say_of_a_stage(jobs, earlier, state):
    given = [None if one is None else Job("x", one) for one in jobs]
    assert computed(given, earlier=earlier) == state


def test_a_release_stands_as_it_says_of_itself(tmp_path):
    def state(text="plan", changed=0.0, job=None):
        return made_of(tmp_path, text, changed, job)

    def release(**limit):
        limits = [{"name": "x", **limit}] if limit else []
        given = {"plan": {"text": "plan"}, "limits": limits}
        (tmp_path / "manifest.json").write_text(json.dumps(given))

    assert state() == "empty"
    assert state(job=Job("x", "running")) == "busy"
    assert state(job=Job("x", "failed")) == "look"
    assert state(job=Job("x", "stopped")) == "empty"
    release()
    assert state() == "ready"
    assert state(job=Job("x", "waiting")) == "busy"
    assert state(text="another") == "old"
    assert state(changed=(tmp_path / "manifest.json").stat().st_mtime + 1) == "old"
    release(exceeded=False)
    assert state() == "ready"
    release(exceeded=True)
    assert state() == "look"
    (tmp_path / "manifest.json").write_text("{")
    assert state() == "empty"


def test_a_release_that_exceeds_a_limit_is_not_ready_and_not_signed(browser, session):
    change(browser, session, "/sections/limits", max_loss="0.01", max_risk="1")
    assert state_of(browser.get("/release").text, "release") == "empty"
    browser.post("/release/run")
    assert state_of(browser.get("/release").text, "release") in ("busy", "look")
    page = wait(browser, "/release").text
    assert state_of(page, "release") == "look"
    assert "so it cannot be signed" in page
    assert browser.post("/release/sign", {"name": "A. Smith"}).status_code == 422
    wait(browser, "/part/account?of=utility")
    page = browser.get("/utility").text
    assert [state_of(page, one) for one in ("utility", "risk")] == ["look", "look"]
    assert "Information loss: " in browser.get("/part/account?of=utility").text
    assert "Highest risk: " not in browser.get("/part/account?of=utility").text
    assert "Highest risk: " in browser.get("/part/account?of=risk").text
    session.open(session.opened.plan)  # as after a start
    assert state_of(browser.get("/release").text, "release") == "look"
    change(browser, session, "/sections/limits", max_loss="", max_risk="")
    page = browser.get("/utility").text
    assert [state_of(page, one) for one in ("utility", "release")] == ["empty", "old"]


def test_a_release_of_another_table_is_out_of_date(browser, session, folder):
    browser.post("/release/run")
    page = wait(browser, "/release").text
    assert [state_of(page, one) for one in ("release", "utility")] == ["ready", "empty"]
    later = (session.plan().target / "manifest.json").stat().st_mtime + 5
    os.utime(folder / "discharges.csv", (later, later))
    page = browser.get("/release").text
    assert state_of(page, "release") == "old"
    assert "or of its files" in page


def test_more_values_than_a_column_has_cannot_be_promised(browser, session):
    change(browser, session, "/columns/set", name="sex", key="role", value="sensitive")
    change(browser, session, "/models/add", step="0", model="l-diversity")
    given = {"step": "0", "place": "0", "column": "sex"}
    change(browser, session, "/models/set", **given, l="2")
    assert state_of(checked(browser, "protection"), "protection") == "ready"
    change(browser, session, "/models/set", **given, l="3")
    page = checked(browser, "protection")
    assert state_of(page, "protection") == "look"
    assert "l is 3, but the sensitive column has only 2 different values" in page


def test_what_was_compared_and_measured_is_out_of_date_after_a_change(browser, session):
    def shown(*paths):
        page = browser.get("/history").text
        return [state_of(page, one) for one in paths]

    browser.post("/explore/grid", {"names": "sa-mdav", "sizes": "3", "limit": "50"})
    assert shown("explore", "utility") == ["empty", "empty"]
    wait(browser, "/part/methods")
    wait(browser, "/part/account?of=utility")
    assert shown("explore", "utility") == ["ready", "ready"]
    change(browser, session, "/steps/set", step="0", k="6")
    assert shown("explore", "utility") == ["ready", "old"], "methods are compared without steps"
    change(browser, session, "/columns/set", name="sex", key="role", value="other")
    assert shown("explore", "utility") == ["old", "old"]
