"""`compare` as a person uses it: any method, other plans, the plan's target, the picture."""

import csv
import json
import os

import pytest
from typer.testing import CliRunner

from ontomask.cli import app
from ontomask.cli.measuring import sizes
from plans import write_small

TARGET = '[evaluation]\ntarget = "job"\nclassifiers = ["zero-r"]\nfolds = 2\n'


def run(*arguments: object):
    result = CliRunner().invoke(app, ["compare", *map(str, arguments), "--workers", "1"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_small(tmp_path).relative_to(tmp_path)


def cells(*arguments: object) -> list[dict]:
    return json.loads(run(*arguments, "--json").stdout)["cells"]


def test_methods_presets_and_plan_files_stand_side_by_side(plan, tmp_path):
    other = write_small(tmp_path, name="other.toml")
    other.write_text(other.read_text().replace("k = 3", 'k = 3\nalgorithm = "mdav"'))
    named = "plan,other.toml,sa-mdav,s-mdav,local-suppression,rank-swapping"
    found = {one["method"]: one for one in cells(plan, "-m", named, "-k", "4")}
    assert list(found) == named.split(",")
    assert {one["error"] for one in found.values()} == {""}
    assert found["plan"]["loss"] == found["sa-mdav"]["loss"]
    assert found["other.toml"]["loss"] == found["s-mdav"]["loss"]
    assert found["local-suppression"]["stars"] > 0 == found["plan"]["stars"]


def test_stars_and_records_left_out_are_shown(plan):
    shown = run(plan, "-m", "local-suppression,suppression", "-k", "3")
    head, *rows = [line.split() for line in shown.stdout.splitlines()]
    assert " ".join(head) == "method k loss % linkage % score % suppressed stars seconds"
    (local, plain) = (row for row in rows if {"local-suppression", "suppression"} & set(row))
    found = {
        one["method"]: one for one in cells(plan, "-m", "local-suppression,suppression", "-k3")
    }
    # 24 people are 20 to 28 years old; each of the last three ages is that of two only
    assert (found["suppression"]["suppressed"], found["suppression"]["stars"]) == (6, 0)
    assert plain[-3:-1] == ["6", "0"]
    # the age is all that can be known of a person: without it nothing is left
    stars = str(found["local-suppression"]["stars"])
    assert local[-3:-1] == [stars, stars]


def test_the_target_of_the_plan_is_followed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = write_small(tmp_path, TARGET)
    shown = run(plan, "-m", "plan", "-k", "3", "--html", "grid.html")
    assert "accuracy %" in shown.stdout
    assert "accuracy" in (tmp_path / "grid.html").read_text(encoding="utf-8")
    (found,) = cells(plan, "-m", "plan", "-k", "3")
    assert found["accuracy"] == found["baseline"] == found["accuracy_before"]
    assert "accuracy %" not in run(write_small(tmp_path), "-m", "plan", "-k", "3").stdout


def test_what_the_plan_measures_is_measured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = write_small(tmp_path, '[evaluation]\ndistances = ["matching"]\nalpha = 1.0\n')
    (found,) = cells(plan, "-m", "plan", "-k", "3")
    assert found["risk"] == found["matching_risk"]
    assert found["score"] == found["loss"]


def test_the_picture_is_drawn_for_the_house_only(plan, tmp_path):
    options = (plan, "-m", "plan,recoding", "-k", "3,4", "--max-risk", "90")
    shown = run(*options, "--html", "grid.html")
    assert shown.exit_code == 0
    assert "The picture is grid.html (do not hand it on)." in shown.stdout
    page = (tmp_path / "grid.html").read_text(encoding="utf-8")
    assert page.count("<svg viewBox") == 2 + 2
    assert "small.csv" in page
    assert "Dashed: the risk not to be exceeded." in page
    if os.name == "posix":
        assert (tmp_path / "grid.html").stat().st_mode & 0o077 == 0
    again = run(*options, "--html", "grid.html")
    assert again.exit_code == 2
    assert "grid.html exists already and is kept" in " ".join(again.stderr.split())
    assert run(*options, "--html", "grid.html", "--force").exit_code == 0


def test_the_same_reason_is_said_once(plan, tmp_path):
    other = write_small(tmp_path, name="other.toml")
    diverse = 'k = 3\nprivacy = [{ model = "l-diversity", l = 9, column = "job" }]'
    other.write_text(other.read_text().replace("k = 3", diverse))
    shown = run(plan, "-m", "recoding,other.toml", "-k", "3,4")
    assert shown.exit_code == 0
    assert "●" in shown.stdout
    said = " ".join(shown.stdout.split())
    assert said.count("Not made") == 1
    assert "Not made: other.toml, k = 3, 4. l is 9, but the sensitive column has only 4" in said


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ("noise", "noise cannot be made from its name alone; say what it needs in a plan"),
        ("nowhere.toml", "There is no plan nowhere.toml"),
        ("small.csv", "methods must be one of 'plan', 'mdav+equality'"),
        ("local-supression", "Did you mean 'local-suppression'?"),
    ],
)
def test_compare_answers_wrong_methods(plan, methods, said):
    result = run(plan, "-m", methods, "-k", "3")
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_the_file_has_every_figure(plan, tmp_path):
    run(plan, "-m", "plan", "-k", "3", "-o", "grid.csv")
    with (tmp_path / "grid.csv").open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert {"suppressed", "stars", "accuracy", "loss", "risk"} <= set(row)
    assert row["stars"] == "0"


def test_a_risk_that_no_release_reaches_is_a_limit_exceeded(plan):
    options = ("--methods", "recoding", "--k", "3", "--max-risk", "0")
    shown = run(plan, *options)
    assert shown.exit_code == 3
    assert "No release of the grid has a risk of at most 0%" in shown.stdout


def test_compare_puts_methods_side_by_side(plan, tmp_path):
    options = ("--methods", "plan,recoding", "--k", "3,4")
    shown = run(plan, *options, "-o", "grid.csv", "--max-risk", "100")
    assert shown.exit_code == 0
    assert "Least loss under 100%" in shown.stdout
    with (tmp_path / "grid.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["method"], row["k"]) for row in rows] == [
        ("plan", "3"),
        ("plan", "4"),
        ("recoding", "3"),
        ("recoding", "4"),
    ]
    found = json.loads(run(plan, *options, "--json").stdout)
    assert len(found["cells"]) == 4
    assert found["best"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--k", "x"], "k must be such as 2..20, 2..20:2 or 2,5,10, not 'x'."),
        (["--k", "5..2"], "k counts upwards in steps of at least 1, unlike '5..2'."),
        (["--k", "2..9:0"], "k counts upwards in steps of at least 1"),
        (["--k", "2..99999999999"], "k must be 1000 values at most"),
        (["--k", "1"], "whole number of at least 2, not [1]."),
        (["--methods", "recodin"], "not 'recodin'. Did you mean 'recoding'?"),
        (["--methods", "plan,nope"], "methods must be one of 'plan', 'mdav+equality'"),
        (["--methods", ","], "methods is empty; name at least one."),
        (["--methods", "recoding", "--k", "900"], "None of the releases could be made. k is 900"),
        (
            ["-o", "no/grid.csv", "--methods", "recoding", "--k", "3"],
            "There is no folder 'no'",
        ),
        (["-o", "small.csv"], "small.csv exists already and is kept"),
    ],
)
def test_compare_answers_mistakes(plan, options, said):
    result = run(plan, *options)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5", [5]),
        ("2..5", [2, 3, 4, 5]),
        ("2..9:3", [2, 5, 8]),
        ("2,10, 5", [2, 10, 5]),
        ("2..4,3,4..5", [2, 3, 4, 5]),
    ],
)
def test_values_of_k_can_be_written_in_several_ways(text, found):
    assert sizes(text) == found
