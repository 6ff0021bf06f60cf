"""A release that is made is not lost for want of the memory that a report takes."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from typer.testing import CliRunner

from ontomask.cli import app
from ontomask.plan import Plan, execution
from ontomask.report import document
from plans import names_in, write_plan


def out_of_memory(*_args, **_more):
    raise MemoryError


def test_without_memory_for_charts_the_report_has_their_tables(tmp_path, monkeypatch):
    whole = Plan.read(write_plan(tmp_path)).run().report.read_text(encoding="utf-8")
    monkeypatch.setattr(document, "draw", out_of_memory)
    outcome = Plan.read(tmp_path / "plan.toml").run(force=True, internal=True)
    for report in (outcome.report, outcome.internal):
        page = report.read_text(encoding="utf-8")
        assert "<svg" not in page
        said = page.count("There was not enough memory to draw this chart")
        assert said == whole.count("<svg") > 3
        assert page.count("<details open>") == said
    assert "not enough memory" not in whole
    assert whole.count("<table") == page.count("<table") or "INTERNAL" in page


@pytest.mark.parametrize("broken", ["render", "Release.account"])
def test_without_memory_for_a_report_the_release_is_kept(tmp_path, monkeypatch, broken):
    plan = Plan.read(write_plan(tmp_path))
    whole = plan.run()
    table = whole.table.read_bytes()
    monkeypatch.setattr(f"ontomask.plan.execution.{broken}", out_of_memory)
    outcome = plan.run(force=True, internal=True)
    assert outcome.table.read_bytes() == table
    assert names_in(outcome.folder) == ["manifest.json", "people.csv"]
    assert outcome.report is None
    assert outcome.internal is None
    kept = json.loads(outcome.manifest.read_text(encoding="utf-8"))
    for name in ("report.html", "report-internal.html"):
        assert any(f"not enough memory for {name}" in note for note in outcome.notes)
        assert any(f"not enough memory for {name}" in note for note in kept["notes"])
    assert not any("memory" in note for note in whole.notes)


def test_a_report_that_is_there_stays_when_the_next_one_fails(tmp_path, monkeypatch):
    plan = Plan.read(write_plan(tmp_path))
    made = execution.render

    def only_public(account, *, internal):
        return out_of_memory() if internal else made(account, internal=internal)

    monkeypatch.setattr(execution, "render", only_public)
    outcome = plan.run(internal=True)
    assert outcome.internal is None
    assert "<svg" in outcome.report.read_text(encoding="utf-8")
    assert [note for note in outcome.notes if "memory" in note] == [
        "There was not enough memory for report-internal.html, so it is left out; the table is "
        "complete and its promises were recounted. Run the plan again where there is more memory "
        "to have it."
    ]


def test_the_command_says_that_the_report_is_missing(tmp_path, monkeypatch):
    path = write_plan(tmp_path)
    monkeypatch.setattr(execution, "render", out_of_memory)
    done = CliRunner().invoke(app, ["run", str(path)])
    assert done.exit_code == 0
    assert "There was not enough memory for report.html" in " ".join(done.stdout.split())
    assert "report    " not in done.stdout
    machine = CliRunner().invoke(app, ["run", str(path), "--force", "--json"])
    found = json.loads(machine.stdout)
    assert found["report"] is None
    assert any("memory" in note for note in found["notes"])


LIMITED = """
    import resource, sys
    limit = 5 << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    from ontomask.report import document
    if sys.argv[2] == "greedy":
        drawn = document.draw
        document.draw = lambda *given: drawn(*given) + str(bytearray(2 * limit)[:0])
    from ontomask.plan import Plan
    outcome = Plan.read(sys.argv[1]).run(force=True)
    print(outcome.report.read_text(encoding="utf-8").count("<svg"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
@pytest.mark.parametrize("drawing", ["ours", "greedy"])
def test_a_limit_of_the_system_costs_no_release_and_no_chart_of_ours(tmp_path, drawing):
    path = write_plan(tmp_path)
    threads = dict.fromkeys(("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"), "2")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LIMITED), str(path), drawing],
        env={**os.environ, **threads, "OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    charts = int(done.stdout)
    assert charts > 5 if drawing == "ours" else charts == 0
