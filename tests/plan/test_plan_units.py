"""Plans for tables with several records per person: what `check` says of them, and refuses."""

import polars as pl
import pytest

import ontomask as om
from methods.test_persons import visits

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
