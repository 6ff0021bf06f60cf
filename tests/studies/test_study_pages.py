"""The framework of the studies: verdicts, cells, pages, the index, the command line."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from defusedxml import ElementTree

import ontomask as om
from studies import __main__ as command
from studies.charts import bars, dots, lines, panels
from studies.data import Data, small_data
from studies.page import (
    markdown_table,
    read_claims,
    render_page,
    score,
    shown,
    svg,
    write_index,
    write_page,
)
from studies.study import VERDICTS, Claim, Clock, Figure, Findings, ResultTable, Study, judge

PAGES = Path(__file__).parents[2] / "docs" / "studies"
ROWS = [{"k": k, "loss": k * factor, "method": f"m{factor}"} for k in (2, 4) for factor in (1, 2)]
FINDINGS = Findings(
    title="A study",
    paper="Somebody: *Something.*",
    data="Few records.",
    setup="Once.",
    tables=(
        ResultTable("losses", "Losses", ("k", "loss"), ((2, 0.12345678901), (4, None)), "A note."),
        ResultTable("many", "Many rows", ("k",), ((1,), (2,)), on_page=False),
    ),
    figures=(
        Figure("loss", "Loss", lines(ROWS, "k", "loss", "method", titles=("k", "L")), "Loss by k"),
    ),
    claims=(
        Claim.judged("a < b | c", "Section 1", [True, False], "1 of 2", "why"),
        Claim.untestable("never", "Section 2", "no data"),
    ),
    printed_notes=("A slip.",),
    discrepancies=("Other data.",),
    seconds={"all": 1.5},
)


@pytest.mark.parametrize(
    ("tests", "verdict"),
    [
        (True, "holds"),
        (False, "does not hold"),
        (np.bool_(True), "holds"),
        ([True, True], "holds"),
        ([True, False], "partly"),
        ([False], "does not hold"),
        ([], "cannot be tested here"),
        ((one > 1 for one in (1, 2)), "partly"),
    ],
)
def test_verdicts_follow_from_tests(tests, verdict):
    assert judge(tests) == verdict


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "—"),
        (float("nan"), "—"),
        (12345, "12,345"),
        (0.0, "0"),
        (0.123456, "0.1235"),
        (1234.5, "1,234"),
        (0.00001234, "1.234e-05"),
        (2.05e12, "2.050e+12"),
        ("a|b\nc", "a\\|b c"),
    ],
)
def test_cells_are_shown_as_people_read_them(cell, text):
    assert shown(cell) == text


def test_columns_of_numbers_are_aligned_to_the_right():
    table = markdown_table(("name", "value"), [("a", 1), ("b", None)])
    assert table.splitlines()[1] == "| --- | ---: |"


def test_a_page_has_its_tables_figures_and_claims(tmp_path):
    page = write_page(tmp_path, "demo", FINDINGS)
    text = page.read_text(encoding="utf-8")
    assert "**2 statements: 0 hold, 1 partly, 0 do not hold, 1 cannot be tested here.**" in text
    assert "| a < b \\| c | Section 1 | **partly** | 1 of 2 | why |" in text
    assert "![Loss by k](demo/loss.svg)" in text
    assert "| 2 | 0.1235 |" in text
    for link in re.findall(r"\]\((demo/[^)]+)\)", text):
        assert (tmp_path / link).is_file()
    assert (tmp_path / "demo/losses.csv").read_text() == "k,loss\n2,0.123456789\n4,\n"
    assert ElementTree.parse(tmp_path / "demo/loss.svg").getroot().tag.endswith("svg")


def test_only_the_section_on_time_changes_from_run_to_run():
    one, other = (
        render_page("demo", replace(FINDINGS, seconds={"all": seconds})) for seconds in (1.5, 9.9)
    )
    assert one != other
    assert one.split("## Time")[0] == other.split("## Time")[0]


def test_results_of_an_earlier_run_do_not_stay(tmp_path):
    write_page(tmp_path, "demo", FINDINGS)
    write_page(tmp_path, "demo", replace(FINDINGS, tables=FINDINGS.tables[:1]))
    assert not (tmp_path / "demo/many.csv").exists()


def test_the_index_counts_every_claim(tmp_path):
    write_page(tmp_path, "demo", FINDINGS)
    write_page(tmp_path, "other", replace(FINDINGS, title="Another", claims=FINDINGS.claims[:1]))
    text = write_index(tmp_path, ("demo", "other", "missing")).read_text(encoding="utf-8")
    assert "| [A study](demo.md) | 2 | 0 | 1 | 0 | 1 |" in text
    assert "| [Another](other.md) | 1 | 0 | 1 | 0 | 0 |" in text
    assert "| **all** | 3 | 0 | 2 | 0 | 1 |" in text
    assert text.count("| a < b \\| c |") == 2
    assert "missing" not in text
    assert read_claims(tmp_path, "demo") == list(FINDINGS.claims)


@pytest.mark.parametrize(
    "spec",
    [
        bars(ROWS, "k", "loss", "method", titles=("k", "loss")),
        dots([{**ROWS[0], "loss": 0.0}, *ROWS], "loss", "k", "method", title="loss", log_x=True),
        panels({"one": lines(ROWS, "k", "loss", "method", titles=("k", "loss"), log_x=True)}),
    ],
)
def test_charts_can_be_drawn(spec):
    drawn = svg(Figure("name", "Title", spec, "words"))
    assert "m1" in drawn
    assert "NaN" not in drawn


def test_a_logarithmic_axis_leaves_out_zeros():
    spec = dots([{"x": 0.0, "y": "a", "s": "b"}], "x", "y", "s", title="x", log_x=True)
    assert spec["data"]["values"] == []


def test_a_clock_adds_up_parts():
    clock = Clock()
    for _ in range(2):
        with clock.part("work"):
            pass
    assert list(clock.seconds) == ["work"]
    assert clock.seconds["work"] >= 0


# The command line -----------------------------------------------------------------------------


def test_the_command_writes_pages_and_the_score(tmp_path, monkeypatch, capsys):
    seen = []

    def run(data: Data, small: bool) -> Findings:
        seen.append((data["neoplasm"].height, small))
        return FINDINGS

    monkeypatch.setattr(command, "load_study", lambda name: Study(name, run))
    command.main(["marginality", "--small", "--out", str(tmp_path)])
    assert seen == [(180, True)]
    assert (tmp_path / "marginality.md").is_file()
    assert "1 partly" in capsys.readouterr().out
    assert "A study" in (tmp_path / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["margins", "--small", "--out", "x"], "there is no study 'margins'"),
        (["--small"], "--small needs --out"),
    ],
)
def test_mistakes_on_the_command_line_are_explained(arguments, sentence, capsys):
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert sentence in capsys.readouterr().err


def test_a_run_without_data_says_what_to_do(monkeypatch):
    monkeypatch.delenv("ONTOMASK_DATA", raising=False)
    with pytest.raises(SystemExit, match="--data or ONTOMASK_DATA"):
        command.main([])


def test_a_folder_without_the_tables_is_named(tmp_path):
    with pytest.raises(om.errors.SourceNotFoundError, match=r"tables/inpatient_claims"):
        Data.from_folder(tmp_path)


@pytest.mark.parametrize("name", command.NAMES)
def test_every_study_can_be_loaded(name):
    assert command.load_study(name).name == name


# The small tables -----------------------------------------------------------------------------


def test_small_tables_are_always_the_same_and_mapped():
    first, second = small_data(), small_data()
    for name in first.readers:
        assert first[name].equals(second[name])
    for column, taxonomy in (("dx_principal", "icd9cm"), ("procedure", "icd9cm-procedures")):
        codes = first["claims"][column].drop_nulls().to_list()
        om.load_taxonomy(taxonomy).map(codes).require()
    assert first["claims"]["procedure"].null_count() > 0
    assert "word_pairs" not in first


def test_small_hierarchies_cover_their_tables():
    data = small_data()
    hierarchies = data.adult_hierarchies()
    for name in data["adult_nine"].columns:
        known = {row[0] for row in hierarchies[name]}
        assert {str(value) for value in data["adult_nine"][name].unique()} <= known
        assert {row[-1] for row in hierarchies[name]} == {"*"}


# The pages as they stand ----------------------------------------------------------------------


@pytest.mark.parametrize("name", command.NAMES)
def test_the_page_of_a_study_agrees_with_its_files(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    claims = read_claims(PAGES, name)
    assert claims
    assert {claim.verdict for claim in claims} <= set(VERDICTS)
    counts = score(claims)
    for verdict in VERDICTS:
        said = verdict.replace("holds", "hold").replace("does not", "do not")
        assert f"{counts[verdict]} {said}" in text
    for link in re.findall(rf"\]\(({name}/[^)]+)\)", text):
        assert (PAGES / link).is_file()


def test_the_index_agrees_with_the_pages():
    text = (PAGES / "index.md").read_text(encoding="utf-8")
    every = [claim for name in command.NAMES for claim in read_claims(PAGES, name)]
    cells = " | ".join(str(count) for count in score(every).values())
    assert f"| **all** | {len(every)} | {cells} |" in text


def test_pages_name_no_machine():
    for path in PAGES.rglob("*"):
        if path.suffix in (".md", ".csv", ".svg"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"/(home|root|tmp|work|Users)/", text), path


def test_tables_on_disk_are_rectangular():
    for path in PAGES.rglob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            assert len({len(row) for row in csv.reader(file)}) == 1, path


def test_a_folder_without_the_tables_is_answered_with_a_sentence(tmp_path):
    with pytest.raises(SystemExit, match="The data folder has no file tables/"):
        command.main(["marginality", "--data", str(tmp_path), "--out", str(tmp_path)])
