"""The last screens: what is measured once and shared, what stays at risk, what is signed."""

import re

import numpy as np
import polars as pl
import pytest
from test_pages import change, wait

import ontomask as om
from ontomask.plan import examination, execution
from ontomask.studio import measuring, opened, tasks
from ontomask.studio.jobs import Job
from ontomask.studio.session import REPORTED
from ontomask.wording import terse_percent

SAID = """
[about]
title = "Discharges of a year"
recipient = "a university"

[limits]
max_risk = 25

[output]
shuffle = true
"""
ALIKE = """\
seed = 1

[input]
path = "discharges.csv"

[columns.age]
kind = "numeric"
role = "quasi"

[columns.ward]
kind = "flat"
role = "sensitive"

[columns.name]
kind = "identifier"

[[steps]]
method = "microaggregation"
k = 2
"""


@pytest.fixture
def said(session):
    plan = session.opened.plan
    plan.write_text(plan.read_text() + SAID)
    return session


@pytest.fixture
def alike(session, folder):
    """Six people in groups of two; in one group the wards differ, so four people share theirs."""
    rows = "30,a,x\n31,a,y\n50,b,z\n51,b,u\n70,a,v\n71,b,w\n"
    (folder / "discharges.csv").write_text("age,ward,name\n" + rows)
    session.opened.plan.write_text(ALIKE)
    return session


KEPT = (opened._read, opened._odd, opened._masked, opened._evaluated, opened._classified)
"""What a process keeps."""


@pytest.fixture
def counted(monkeypatch):
    """How often a table was masked and evaluated in this process."""
    for kept in KEPT:
        kept.cache_clear()
    calls = []
    mask, evaluate = execution.protect, om.Release.evaluate

    def masked(*given, **more):
        calls.append("mask")
        return mask(*given, **more)

    def evaluated(*given, **more):
        calls.append("evaluate")
        return evaluate(*given, **more)

    monkeypatch.setattr(execution, "protect", masked)
    monkeypatch.setattr(om.Release, "evaluate", evaluated)
    return calls


def silent(*_):
    """Nobody waits."""


def releasing(session):
    """What a release is told."""
    given = {"text": session.opened.text, "force": True, "leave_out": False}
    return session.about(*REPORTED) | given


def test_a_table_is_masked_once_for_all_screens_and_the_release(said, counted):
    measuring.account(**said._question("account", "")[2], progress=silent)
    measuring.records(**said._question("records", "")[2], progress=silent)
    measuring.population(**said._question("population", "10-after")[2], progress=silent)
    given = releasing(said)
    made = tasks.release(**given, progress=silent)
    assert counted == ["mask", "evaluate"]
    assert made["kept"]
    text = said.opened.text.replace("k = 5", "k = 6")
    said.opened.plan.write_text(text)
    tasks.release(**releasing(said), progress=silent)
    assert counted == ["mask", "evaluate"] * 2


def test_a_changed_role_or_step_is_checked_without_reading_the_table_anew(said, monkeypatch):
    for kept in KEPT:
        kept.cache_clear()
    calls = []
    for name in ("read_file", "first_look"):
        asked = getattr(examination, name)
        counted = lambda *given, asked=asked, name=name, **more: (  # noqa: E731
            calls.append(name) or asked(*given, **more)
        )
        monkeypatch.setattr(examination, name, counted)
    found = []
    for old, new in (("", ""), ("k = 5", "k = 6"), ("k = 6", "k = 2")):
        said.opened.plan.write_text(said.opened.text.replace(old, new))
        found.append(tasks.check(**said._question("check", "")[2], progress=silent))
        expected = said.plan().check()  # which reads it
        del calls[-2:]
        assert found[-1]["notes"] == list(expected.notes)
    assert calls == ["read_file", "first_look"]


def test_a_release_of_the_studio_has_the_bytes_of_a_run(said, tmp_path):
    given = releasing(said)
    measuring.account(**said._question("account", "")[2], progress=silent)
    tasks.release(**given, progress=silent)
    plan = said.plan()
    ours = (plan.target / plan.table).read_bytes()
    assert plan.run(force=True).table.read_bytes() == ours


def test_the_report_beside_the_screens_is_that_of_the_plan(browser, said):
    wait(browser, "/part/account?of=utility")
    page = browser.get("/account").text
    assert "Discharges of a year" in page
    assert "highest risk within the limit" in page
    assert "5-anonymity kept" in page
    assert "shuffle = true." not in page  # it is said already


def test_the_sample_is_drawn_once_and_kept_by_its_seed(said, monkeypatch):
    monkeypatch.setattr(opened, "SAMPLE", 50)
    first = opened.Opened.of(said.about("columns")["about"])
    frame, whole = first.sample()
    assert (len(frame), whole) == (50, False)
    rows = np.sort(np.random.default_rng(1).choice(400, 50, replace=False))
    assert frame.equals(first.frame[rows])
    opened._read.cache_clear()
    monkeypatch.setattr(opened.Workbench, "read", None)  # it is not read again
    again, _ = opened.Opened.of(said.about("columns")["about"]).sample()
    assert again.equals(frame)
    (file,) = said.opened.runs.glob("sample-*.parquet")
    assert not file.parent.stat().st_mode & 0o077


def test_groups_of_one_value_are_on_every_screen_that_decides(browser, alike):
    sentence = "ward (for 67\u00a0% of the records)"
    assert sentence in wait(browser, "/part/account?of=risk").text
    before = browser.get("/release").text
    assert sentence in before
    browser.post("/release/run")
    page = wait(browser, "/release").text
    assert page.count(sentence) == 2  # in the last look, and beside what is signed
    figures = alike.release_job().result["figures"]
    linked, lost = (f"{100 * figures[name]:.1f}\u00a0%" for name in ("linkage", "loss"))
    assert f"Highest risk 50.0\u00a0%, linked {linked}, information loss {lost}" in page
    browser.post("/release/sign", {"name": "A. Smith"})
    (signed,) = [one for one in alike.opened.versions() if one.said == "signed off"]
    assert "67% share ward with their whole group" in signed.note
    assert "highest risk 50 %" in signed.note
    page = browser.get("/release").text
    assert "<strong>Signed.</strong>" in page
    assert "A. Smith" in page
    report = (alike.plan().target / "report.html").read_text()
    assert sentence.replace("\u00a0", "") in report


def test_the_last_look_tells_what_will_be_released(browser, said):
    page = browser.get("/release").text
    for sentence in (
        "For a university.",
        "k = 5: at least 5 records in a group",
        "Published: sex, age, charge.",
        "highest risk at most 25\u00a0%",
        "The records are put in a random order.",
        "was not looked at",
    ):
        assert sentence in page, sentence
    promise = wait(browser, "/part/promise").text
    assert "(at least 5)" in promise
    assert "those who know charge" in promise
    wait(browser, "/part/account?of=utility")
    page = browser.get("/release").text
    assert "was not looked at" not in page
    assert "alone with what is published unchanged (charge" in page.partition("last look")[2]
    assert 'href="/utility" class="ready"' in page


def test_a_release_is_still_there_after_a_restart(browser, alike):
    browser.post("/release/run")
    wait(browser, "/release")
    alike.open(alike.opened.plan)  # as after a start
    assert "Every promise was kept" in browser.get("/release").text


def test_left_out_and_identifying_columns_are_no_features(browser, alike):
    page = browser.get("/utility?view=classifiers").text
    offered = re.findall(r'name="features" value="([^"]+)"', page)
    assert offered == ["age", "ward"]
    target = page[page.index('id="target"') : page.index("</select>")]
    assert re.findall(r'value="(\w+)"', target) == ["ward"], "what is offered is not refused"
    assert "Left out: name" in browser.get("/release").text


def test_uniques_of_the_population_are_estimated_before_and_after(browser, session, folder):
    sizes = pl.read_csv(folder / "discharges.csv").group_by("sex", "age").len()["len"]
    before = om.measuring.population_uniqueness(sizes.to_list(), 0.1)
    part = wait(browser, "/part/population?of=10").text
    assert "population of 4,000" in part
    assert f"{before.dankar.uniques:,.0f} people" in part
    after = wait(browser, "/part/population?of=10-after").text
    assert "After masking" in after
    assert "0 people" in after
    assert session._question("population", "10")[0] == "preview"  # it waits for no masking


def test_figures_are_those_of_the_librarys_evaluation(browser, session, folder):
    found = 100 * session.plan().run().evaluation.loss.loss
    assert f"<strong>{found:.1f}\u00a0%</strong>" in wait(browser, "/part/account?of=utility").text
    assert change(browser, session, "/sections/limits", max_loss="1").status_code == 303
    wait(browser, "/part/account?of=utility")
    assert "Limits of the plan" in browser.get("/account").text
    exceeded = "A limit will be exceeded: information loss" in browser.get("/release").text
    assert exceeded is (found > 1)


def shown(share):
    """A share as the studio writes it, with a plain space."""
    return terse_percent(share, 1).replace("%", " %")


def shown_shares(part, who):
    """The figures of a row, as they are shown."""
    row = re.search(rf">{who}.*?</tr>", part, re.DOTALL)[0]
    return [one.replace("\u00a0", " ") for one in re.findall(r'class="number">([^<]*)<', row)]


def test_every_attacker_is_asked_before_and_after(browser, session, folder):
    """A journalist's groups are ten times as large where a tenth of the population is known."""
    part = wait(browser, "/part/account?of=risk").text
    assert "how many percent" in part
    assert "journalist, before" not in part
    part = browser.get("/part/account?of=risk&percent=10").text  # nothing is computed anew
    assert "data-follow" not in part
    sizes = pl.read_csv(folder / "discharges.csv").group_by("sex", "age").len()["len"]
    assert shown_shares(part, "Prosecutor")[0] == shown(1 / sizes.min())
    assert shown_shares(part, "Journalist")[0] == shown(0.1 / sizes.min())
    found, lost = (shown(share * len(sizes) / sizes.sum()) for share in (1, 0.1))
    assert shown_shares(part, "Marketer")[0] == found
    assert shown_shares(part, 'Marketer <span class="small">who does not')[0] == lost
    for limit in (50, 20, 5):
        above = sizes.filter(1 / sizes > limit / 100).sum() / sizes.sum()
        rare = sizes.filter(0.1 / sizes > limit / 100).sum() / sizes.sum()
        told = shown_shares(part, f"{limit}\u00a0%")
        assert [told[1], told[3]] == [shown(above), shown(rare)]
    assert browser.get("/part/account?of=risk&percent=x").status_code == 422


def test_a_journalists_risk_is_not_taken_for_a_bound(browser, session, folder):
    """Whoever is alone in the table is found for sure by those who know that they are in it."""
    part = wait(browser, "/part/account?of=risk&percent=5").text.replace("\u00a0", " ")
    sizes = pl.read_csv(folder / "discharges.csv").group_by("sex", "age").len()["len"]
    assert "an average over the population, not a bound" in part
    assert "every group is 20 times as large" in part
    assert f"the risk is up to {shown(1 / sizes.min())} before masking" in part


def test_the_share_of_the_population_is_kept_as_long_as_the_project_is_open(browser, session):
    assert browser.get("/risk?percent=0").status_code == 422
    assert 'value=""' in browser.get("/risk").text
    assert 'action="/risk#population"' in browser.get("/risk?percent=5").text
    browser.get("/columns")
    assert "/part/population?of=5-after" in browser.get("/risk").text
    browser.get("/risk?percent=")
    assert "/part/population" not in browser.get("/risk").text
    browser.get("/risk?percent=5")
    session.open(session.opened.plan)
    assert "/part/population" not in browser.get("/risk").text


def test_numbers_moved_as_far_as_their_column_counts(browser, session, folder):
    """In years: counted from the release itself, whose order is that of the table."""
    part = wait(browser, "/part/account?of=utility").text
    release = session.plan().run().release.frame
    ages = (pl.read_csv(folder / "discharges.csv")["age"], pl.DataFrame(release)["age"])
    moved = (ages[0] - ages[1]).abs().mean()
    assert shown_shares(part, "age")[2] == f"{moved:,.3g}"
    assert shown_shares(part, "sex")[2] == ""


def test_a_column_is_shown_before_one_is_chosen(browser, session):
    page = browser.get("/utility?view=map").text
    assert re.search(r'data-part="/part/map\?of=0\.', page)
    assert "sex" in wait(browser, "/part/map?of=0...").text


def test_what_is_published_as_it_is_is_told_by_its_role(browser, session):
    change(browser, session, "/columns/set", name="sex", key="role", value="other")
    part = wait(browser, "/part/meter").text
    assert "Published as they are and not sensitive: sex;" in part
    assert "Sensitive, published as they are: charge;" in part


def test_sets_of_more_than_two_columns_are_looked_at(browser, session, folder):
    change(browser, session, "/columns/set", name="charge", key="role", value="quasi")
    change(browser, session, "/columns/set", name="county", key="kind", value="flat")
    change(browser, session, "/columns/set", name="county", key="role", value="quasi")
    part = wait(browser, "/part/account?of=risk").text
    alone = pl.read_csv(folder / "discharges.csv").group_by("sex", "age", "county").len()["len"]
    share = 100 * (alone == 1).sum() / alone.sum()
    assert "at most 4 together" in part
    assert shown_shares(part, "sex, age, county")[0] == f"{share:.1f} %"


@pytest.mark.parametrize(
    ("columns", "records", "size"), [(8, 1_000, 4), (9, 300_000, 3), (9, 1_000_000, 2)]
)
def test_fewer_columns_are_looked_at_together_in_a_large_table(columns, records, size):
    assert measuring.largest_set(columns, records) == size


def test_decisions_and_their_notes_go_with_the_internal_report(browser, session):
    browser.post("/history/note", {"note": "<b>as agreed</b>", "number": "1", "here": "release"})
    browser.post("/release/run")
    wait(browser, "/release")
    answer = browser.get("/download/internal")
    assert "attachment" in answer.headers["content-disposition"]
    before, decisions = answer.text.split("<h2>Decisions</h2>")
    assert "&lt;b&gt;as agreed&lt;/b&gt;" in decisions
    assert decisions.rstrip().endswith("</html>")
    path = session.plan().target / "report-internal.html"
    assert before.startswith(path.read_text().rpartition("</body>")[0][:1000])
    assert "as agreed" not in browser.get("/download/report").text


def test_there_is_one_thing_to_stop_while_a_release_is_made(browser, session, monkeypatch):
    monkeypatch.setattr(session, "release_job", lambda: Job("abc", "running"))
    page = browser.get("/release").text
    assert re.findall(r'action="(/jobs/\w+/stop)"', page) == ["/jobs/abc/stop"]
    shown = page.partition('id="content"')[2]  # the rail's own check shows nothing to stop
    assert "data-part" not in shown, "a part has a job of its own"
