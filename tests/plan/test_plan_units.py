"""Plans for tables with several records per person: what `check` says of them, and refuses."""

import tomllib
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import ontomask as om
from methods.test_persons import visits
from ontomask.cli import app

PLAN = """
[input]
path = "visits.csv"
[columns.person]
kind = "identifier"
unit = true
[columns.sex]
kind = "flat"
[columns.age]
kind = "numeric"
[columns.diagnosis]
kind = "flat"
role = "sensitive"
[[steps]]
method = "microaggregation"
k = 5
"""
PSEUDONYMS = """
[[steps]]
method = "pseudonyms"
columns = ["person"]
key_variable = "PERSONS_KEY"
"""
CARD = PLAN.replace("[[steps]]", '[columns.card]\nkind = "flat"\nrole = "other"\n[[steps]]', 1)
RISK = PLAN.replace("microaggregation", "generalization").replace(
    "k = 5",
    "hierarchies = { age = { intervals = [90] }, sex = { star = true } }\n"
    '[[steps.privacy]]\nmodel = "average-risk"\nt = 0.1',
)


def planned(folder, text, frame):
    frame.write_csv(folder / "visits.csv")
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return om.Plan.read(folder / "plan.toml")


def test_check_tells_who_is_counted_and_what_is_constant(tmp_path):
    notes = planned(tmp_path, PLAN, visits(40, seed=1)).check().notes
    records = len(visits(40, seed=1))
    assert notes[0].startswith(f"k counts persons (different person): 40 persons with {records} ")
    assert notes[1] == "The same in all records of a person: sex and age."


@pytest.mark.parametrize(
    ("text", "change", "said"),
    [
        (
            PLAN,
            {"person": pl.when(pl.col("age") < 60).then("person")},
            "line 4, [columns.person]: Column 'person' says whose record it is, but has no value",
        ),
        (PLAN, {"person": pl.lit("Ann")}, "the table has only 1 person (different person)"),
        (PLAN + PSEUDONYMS, {}, "step 2: Column 'person' would join the records"),
        (CARD, {"card": pl.col("person") + "x"}, "[columns.card]: Column 'card' would join"),
        (RISK, {}, "AverageRisk counts records, but column 'person' says that persons are"),
        (PLAN.replace("unit", "sequences"), {}, "say unit=True (in a plan unit = true)"),
        (PLAN.replace("unit = true", 'unit = "yes"'), {}, "unit"),
    ],
    ids=["gaps", "one person", "pseudonym", "card", "counting records", "no unit", "no flag"],
)
def test_what_is_refused(tmp_path, monkeypatch, text, change, said):
    monkeypatch.setenv("PERSONS_KEY", "k" * 32)
    with pytest.raises(om.errors.OntomaskError) as caught:
        planned(tmp_path, text, visits(40, seed=1).with_columns(**change)).check()
    assert said in " ".join(str(caught.value).split())


def test_a_pseudonym_may_join_persons_who_are_masked_as_wholes(tmp_path, monkeypatch):
    monkeypatch.setenv("PERSONS_KEY", "k" * 32)
    text = (PLAN + PSEUDONYMS).replace("unit = true", "unit = true\nsequences = true")
    assert planned(tmp_path, text, visits(40, seed=1)).check().records == len(visits(40, seed=1))


# Persons with several records that are not the unit ----------------------------------------------

SEVERAL = "Several records have the same patient, but k counts records"


def repeating(patients, records=60, unit=""):
    rows = (f"P{n % patients},{'FM'[n % patients % 2]},{20 + n % 37}\n" for n in range(records))
    Path("v.csv").write_text("patient,sex,age\n" + "".join(rows))
    Path("v.toml").write_text(
        f"""
[input]
path = "v.csv"
[columns.patient]
kind = "identifier"
{unit}
[columns.sex]
kind = "flat"
[columns.age]
kind = "numeric"
[[steps]]
method = "microaggregation"
k = 5
"""
    )
    return om.Plan.read("v.toml")


@pytest.mark.parametrize("engine", ["", '[engine]\nname = "duckdb"\n'])
@pytest.mark.parametrize("patients", [1, 20, 59])
def test_that_k_counts_records_of_few_persons_is_said(tmp_path, monkeypatch, patients, engine):
    monkeypatch.chdir(tmp_path)
    if engine:
        pytest.importorskip("duckdb")
    repeating(patients)
    with Path("v.toml").open("a") as plan:
        plan.write(engine)
    found = om.Plan.read("v.toml")
    assert any(note.startswith(SEVERAL) for note in found.check().notes)
    assert any(note.startswith(SEVERAL) for note in found.run().notes)


def test_it_is_not_said_of_persons_that_are_counted_or_have_one_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert SEVERAL not in " ".join(repeating(60).check().notes)
    assert SEVERAL not in " ".join(repeating(20, unit="unit = true").check().notes)


def test_people_are_spoken_of_where_records_are_people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for patients, word in ((60, "people"), (20, "records")):
        repeating(patients)
        shown = " ".join(CliRunner().invoke(app, ["check", "v.toml"]).stdout.split())
        assert f"of the 60 {word} are alone" in shown
        shown = " ".join(CliRunner().invoke(app, ["run", "v.toml", "--force"]).stdout.split())
        assert f"{word} alone in their class" in shown
        risk = CliRunner().invoke(app, ["risk", "v.csv", "--quasi", "sex,age"])
        assert f"{word} at a risk above" in risk.stdout


@pytest.mark.parametrize("patients", [2, 5, 20, 30, 59])
def test_init_makes_an_identifier_that_repeats_the_unit(tmp_path, monkeypatch, patients):
    monkeypatch.chdir(tmp_path)
    repeating(patients)
    shown = CliRunner().invoke(app, ["init", "v.csv", "-o", "w.toml"])
    assert shown.exit_code == 0, shown.stderr
    written = tomllib.loads(Path("w.toml").read_text())["columns"]["patient"]
    assert written == {"kind": "identifier", "unit": True}


def test_init_says_why_it_cannot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    repeating(20)
    Path("v.csv").write_text(Path("v.csv").read_text().replace("P7,", ","))
    assert CliRunner().invoke(app, ["init", "v.csv", "-o", "w.toml"]).exit_code == 0
    text = Path("w.toml").read_text()
    assert tomllib.loads(text)["columns"]["patient"] == {"kind": "identifier"}
    assert "some records have none: leave them out" in text
    assert any(note.startswith(SEVERAL) for note in om.Plan.read("w.toml").check().notes)
