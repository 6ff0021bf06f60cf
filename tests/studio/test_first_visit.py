"""What somebody has to be told who sees the studio for the first time."""

import re
import signal

import pytest
import uvicorn
from test_pages import change, wait

from ontomask.plan.advice import RECIPIENTS
from ontomask.studio.candidates import adopted, comparable, is_candidate, step_of
from ontomask.studio.edits import contents
from ontomask.studio.jobs import Job
from ontomask.studio.serve import serve
from ontomask.studio.session import Session

DIVERSE = {"model": "l-diversity", "l": 2, "column": "charge"}
PROMISING = """
privacy = [{ model = "k-anonymity", k = 5 }, { model = "l-diversity", l = 2, column = "charge" }]
strata = ["sex"]
"""


@pytest.fixture
def promising(session):
    """A plan whose step promises more than a k."""
    plan = session.opened.plan
    plan.write_text(plan.read_text() + PROMISING)
    return session


def test_files_of_a_release_are_named_and_none_is_taken_for_the_original(browser, session):
    browser.post("/release/run")
    page = wait(browser, "/release").text
    files = page[page.index("<h2>Files</h2>") :]
    assert "<code>plan-release</code>" in files
    named = dict(re.findall(r'href="/download/(\w+)" download>[^<]*</a> <code>([^<]+)<', files))
    sent = {which: browser.get(f"/download/{which}").headers for which in named}
    assert named == {
        which: re.search(r'filename="([^"]+)"', headers["content-disposition"])[1]
        for which, headers in sent.items()
    }
    assert named["table"] == "discharges-released.csv"
    assert set(named) == {"table", "report", "internal", "manifest", "plan", "decisions"}
    plan = files[files.index("/download/plan") :].partition("</li>")[0]
    assert "internal: its comments and mappings name values" in plan
    sign, again = (
        re.search(f"<button([^>]*)>{one}<", page)[1] for one in ("Sign", "Make it again")
    )
    assert "primary" in sign
    assert "primary" not in again
    assert "Say who signs:" in browser.post("/release/sign", {"name": ""}).text
    field = re.search(r'id="(signer[^"]*)"', page)[1]
    browser.post("/release/sign", {"name": "A. Smith"})
    signed = browser.get("/release").text
    assert "primary" not in re.search("<button([^>]*)>Sign too<", signed)[1]
    assert field not in signed, "a field of the same id would keep the name that was typed"
    change(browser, session, "/steps/set", step="0", k="6")
    old = browser.get("/release").text
    assert "This is the release of an earlier version of the plan" in old
    assert "<h2>Every promise was kept" not in old
    assert "Files of the earlier release" in old
    assert old.count('class="warn">(of an earlier version') == 4
    assert "primary" in re.search("<button([^>]*)>Make it again<", old)[1]


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("people.csv", "people-released.csv"),
        ("people.csv.gz", "people-released.csv.gz"),
        ("people.2024.parquet", "people.2024-released.parquet"),
    ],
)
def test_a_table_that_is_sent_says_that_it_is_released(browser, session, name, sent):
    text = session.opened.text + f'\n[output]\ntable = "{name}"\n'
    session.opened.plan.write_text(text)
    target = session.plan().target
    target.mkdir()
    (target / name).write_text("x")
    assert f'"{sent}"' in browser.get("/download/table").headers["content-disposition"]


def test_what_a_step_promises_is_promised_by_what_is_adopted(browser, promising):
    change(browser, promising, "/explore/adopt", method="s-mdav", k="10")
    assert contents(promising.opened.text)["steps"] == [
        {
            "method": "microaggregation",
            "k": 10,
            "algorithm": "mdav",
            "strata": ["sex"],
            "privacy": [DIVERSE],
        }
    ]
    said = "adopted s-mdav, k = 10; was microaggregation, k = 5"
    assert promising.opened.versions()[-1].said == said
    answer = browser.post(
        "/explore/adopt",
        {"version": promising.opened.notice().digest, "method": "suppression", "k": "3"},
        headers={"x-requested-with": "fetch"},
    )
    said = "adopted suppression, k = 3; was microaggregation, k = 10, without l-diversity of charge"
    assert answer.json()["changed"].startswith(said)
    assert promising.opened.versions()[-1].said == answer.json()["changed"]


def test_every_candidate_is_a_plan_with_all_that_it_can_promise(browser, promising):
    steps = contents(promising.opened.text)["steps"]
    for name in comparable():
        step, said = adopted(steps, name, 4)
        assert (DIVERSE in step.get("privacy", ())) is ("without" not in said), name
        assert change(browser, promising, "/explore/adopt", method=name, k="4").status_code == 303
        assert is_candidate(promising.plan().steps[0], name, 4)
        assert (step_of(name, 5) == step_of(name, 4)) is is_candidate(
            promising.plan().steps[0], name, 5
        )
        browser.post("/history/undo", {"here": "explore"})


def test_explore_knows_the_limit_the_steps_and_the_promises_of_the_plan(browser, promising):
    assert 'id="limit" name="limit" value="10"' in browser.get("/explore").text
    change(browser, promising, "/sections/limits", max_risk="20")
    assert 'id="limit" name="limit" value="20"' in browser.get("/explore").text
    given = {"names": "sa-mdav", "sizes": "3, 5"}
    browser.post("/explore/grid", {**given, "limit": "20"})
    change(browser, promising, "/sections/limits", max_linkage="99")
    part = wait(browser, "/part/methods").text
    assert "Least loss with at most 99\u00a0% linked" in part
    assert "without what your plan promises besides (l-diversity of charge)" in part
    assert re.findall(r'data-title="([^"]+)" class="[^"]*own', part) == ["sa-mdav, k = 5"]
    browser.post("/explore/grid", {**given, "limit": "98", "sizes": "3"})
    part = wait(browser, "/part/methods").text
    assert "with at most 98\u00a0% linked" in part, "what a person asks for goes before the plan"
    assert "Your plan (microaggregation) is none of these" in part


def test_what_is_best_is_so_far_while_others_are_compared(browser, session, monkeypatch):
    browser.post("/explore/grid", {"names": "sa-mdav", "sizes": "3", "limit": "99"})
    wait(browser, "/part/methods")
    known = session.cells()
    waiting = [*known, ("sa-mdav", 5, Job("abc", "waiting"))]
    monkeypatch.setattr(Session, "cells", lambda *_, **__: waiting)
    assert "Least loss so far with at most 99\u00a0% linked" in browser.get("/part/methods").text


def test_who_gets_it_is_asked_first_and_what_was_taken_is_marked(browser, session):
    def cards():
        page = browser.get("/protection").text
        who = page[: page.index("What matters most?")]
        return '<details class="card" open>' in who, re.findall(
            r'small-card taken">.*?name="recipient" value="(\w+)"', who
        )

    assert cards() == (True, [])
    first = wait(browser, "/part/preview").text
    assert "in the preview before" not in first
    change(browser, session, "/steps/advise", recipient="public")
    assert cards() == (False, ["public"])
    loss = re.search(r'information loss</dt><dd class="number">([\d.]+)\u00a0%', first)[1]
    assert f"was {loss}\u00a0% in the preview before" in wait(browser, "/part/preview").text
    change(browser, session, "/steps/advise", recipient="contract")
    assert cards() == (False, ["contract"])
    recipient = contents(session.opened.text)["about"]["recipient"]
    assert recipient == RECIPIENTS["contract"].recipient, "the card before named another"
    change(browser, session, "/steps/set", step="0", k="7")
    assert cards() == (False, [])
    change(browser, session, "/sections/about", recipient="Dr. Jones")
    change(browser, session, "/steps/advise", recipient="inside")
    assert contents(session.opened.text)["about"]["recipient"] == "Dr. Jones"
    page = browser.get("/protection").text
    for path in ("release", "explore", "utility", "risk"):
        assert f'href="/{path}"' in page[page.index("Go on to the release") - 40 :]


def test_counts_of_a_sample_are_named_so_before_they_are_read(browser, session, monkeypatch):
    assert "sample" not in wait(browser, "/part/promise").text
    found = session.job("preview")
    sampled = Job(found.key, "done", result={**found.result, "whole": False})
    monkeypatch.setattr(session, "job", lambda *_, **__: sampled)
    for path in ("/part/promise", "/part/preview"):
        part = browser.get(path).text
        for statement in found.result["promises"]:
            said = part[: part.index(statement)]
            assert "sample" in said[said.rindex("<") :], path


@pytest.mark.parametrize("running", [False, True])
def test_a_studio_that_is_stopped_says_so(folder, monkeypatch, running):
    said = []

    def interrupted(*_, **__):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(uvicorn.Server, "run", interrupted)
    monkeypatch.setattr("ontomask.studio.serve._prepare", lambda _: None)
    if running:
        monkeypatch.setattr(Session, "release_job", lambda _: Job("abc", "running"))
        with pytest.raises(KeyboardInterrupt):
            serve(folder, said.append, browser=False)
    else:
        serve(folder, said.append, browser=False)
    assert (said[-1] == "The studio was stopped.") is not running
