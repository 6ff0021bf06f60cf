"""What people do to a studio: one clear sentence, and nothing lost."""

import errno
import os
import re

import pytest
from test_pages import change, wait

from ontomask.errors import OutputError
from ontomask.studio import project
from ontomask.studio.edits import contents
from ontomask.studio.serve import session_for

NAMES = [
    'it\'s "quoted"',
    "<script>alert(1)</script>",
    "x" * 300,
    "\u05d0\u05d1\u05d2 \u202eabc",
    "a.b c",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_of_a_column_can_be_decided_on(browser, session, folder, name):
    quoted = '"' + name.replace('"', '""') + '"'
    (folder / "discharges.csv").write_text(f"sex,{quoted}\n" + "F,1\nM,2\n" * 20, encoding="utf-8")
    text = session.opened.text.split("[columns.age]")[0]
    session.opened.plan.write_text(text + "[[steps]]\nmethod = 'suppression'\nk = 2\n")
    change(browser, session, "/columns/set", name=name, key="kind", value="flat")
    assert change(browser, session, "/columns/set", name=name, key="role", value="quasi")
    assert contents(session.opened.text)["columns"][name] == {"kind": "flat", "role": "quasi"}
    part = wait(browser, "/part/meter").text + wait(browser, "/part/columns").text
    assert "are alone with their values" in part
    turned = [one for one in re.findall(r">([^<]*)<", part) if "\u202e" in one]
    assert not any("." in one for one in turned), "a name turns the sentence behind it"
    assert "<script>" not in part


def test_a_full_disk_is_a_sentence_and_the_plan_stays(browser, session, monkeypatch):
    before = session.opened.text

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    answer = change(browser, session, "/steps/set", step="0", k="9")
    monkeypatch.undo()
    assert answer.status_code == 422
    assert "No space left" in answer.text
    assert session.opened.text == before
    assert not list(session.opened.folder.glob(".*.partial")), "a part of a file was left behind"


@pytest.mark.parametrize("file", ["plan.toml", "000002.toml", "current", "versions.jsonl"])
def test_whatever_cannot_be_written_leaves_the_plan_or_all_of_the_change(
    browser, session, monkeypatch, file
):
    """Which file the disk is full at does not matter."""
    before, write = session.opened.text, project.write_whole

    def written(path, text):
        if path.name == file:
            raise OutputError(f"{path.name} could not be written (full); nothing was changed.")
        write(path, text)

    monkeypatch.setattr(project, "write_whole", written)
    log, sync = (session.opened.history / project.LOG).stat().st_ino, os.fsync

    def synced(number):
        if file == project.LOG and os.fstat(number).st_ino == log:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(number)

    monkeypatch.setattr(os, "fsync", synced)
    answer = change(browser, session, "/steps/set", step="0", k="9")
    monkeypatch.undo()
    assert answer.status_code == 422
    assert "could not be written" in answer.text
    kept = session.opened.text
    assert kept == before or (file == "current" and "k = 9" in kept)
    assert change(browser, session, "/steps/set", step="0", k="7").status_code == 303
    assert "k = 7" in session.opened.text


def test_the_same_project_opened_twice_loses_nothing(browser, session, folder, workers):
    other = session_for(folder)
    other.board.workers = workers
    old = other.opened.notice().digest
    change(browser, session, "/steps/set", step="0", k="7")
    text = other.opened.text
    with pytest.raises(Exception, match="changed in the meantime"):
        other.opened.save(text.replace("k = 7", "k = 8"), "k", expected=old)
    assert "k = 7" in session.opened.text
    other.board.leave()


def test_a_reload_during_a_run_shows_how_far_it_is(browser, session):
    browser.post("/release/run")
    page = browser.get("/release").text
    assert "data-follow" in page or "Every promise" in page
    session.board.stop(session.releasing)


def test_going_back_to_a_page_that_has_gone_is_a_page(browser, session):
    session.project = None
    for path in ("columns", "protection", "explore", "utility", "risk"):
        assert browser.get(f"/{path}").headers["location"] == "/open"
    for path in ("release", "history"):
        answer = browser.get(f"/{path}")
        assert answer.status_code == 422
        assert "No table is open yet" in answer.text


def test_an_error_of_ours_is_told_without_a_value(browser, session, monkeypatch, capfd):
    def broken(*_):
        raise ValueError(f"the secret value {4700 + 11}")

    monkeypatch.setattr(type(session), "stages", broken)
    answer = browser.get("/open")
    assert answer.status_code == 500
    assert "ValueError" in answer.text
    assert "4711" not in answer.text + "".join(capfd.readouterr())
