"""A column nobody has decided on is not published: not by Python, not by a plan, not by chance."""

import json
import tomllib

import polars as pl
import pytest
from typer.testing import CliRunner

import ontomask as om
from ontomask.cli import app
from ontomask.data.schema import ROLES
from ontomask.errors import SchemaError
from plans import names_in

RUNNER = CliRunner()
RECORDS = 200
IDENTIFYING = (
    *("patient", "patient_id", "person_id", "subject_id", "pid", "patient_nbr", "case_no"),
    *("Patientennummer", "name", "PatNr", "client", "member number", "caseID", "record_id"),
)
NOTES = ("Mr Meier came in with a cold", "seen by Dr Weber, see his wife Anna", "J. Smith was fine")


def run(*arguments):
    result = RUNNER.invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def people(name, values):
    ages = [20 + number % 9 for number in range(RECORDS)]
    return pl.DataFrame({"age": ages, name: [values[n % len(values)] for n in range(RECORDS)]})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def planned(frame):
    frame.write_csv("t.csv")
    assert run("init", "t.csv").exit_code == 0


# What init understands ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", IDENTIFYING)
@pytest.mark.parametrize(
    ("count", "write"), [(20, "P{:04d}"), (50, "{}")], ids=["few codes", "many numbers"]
)
def test_ids_that_repeat_are_never_published(folder, name, count, write):
    values = [write.format(1000 + 7 * number) for number in range(count)]
    planned(people(name, values))
    assert run("run", "t.toml", "--leave-out-undecided").exit_code == 0
    released = (folder / "t-release" / "t.csv").read_text()
    assert released.splitlines()[0] == "age"


@pytest.mark.parametrize("name", IDENTIFYING[:8])
@pytest.mark.parametrize("count", [20, 50])
def test_ids_that_repeat_are_identifiers_of_several_records_each(name, count):
    proposal = om.Schema.infer(people(name, [f"P{number:04d}" for number in range(count)]))
    # or all records of a class could be of one person
    assert proposal.schema[name] == om.Identifier(unit=True)
    said = f"several records per person ({count} values in 200 records)"
    assert said in proposal.reasons[name]


@pytest.mark.parametrize("name", ["note", "remarks", "result", "outcome", "comment on costs"])
def test_free_text_is_undecided_whatever_its_name(name):
    proposal = om.Schema.infer(people(name, NOTES))
    assert proposal.schema[name] == om.Flat(role="undecided")
    assert "free text" in proposal.reasons[name]


@pytest.mark.parametrize("name", ["lab_id", "drug number", "loan_no", "test result key"])
def test_numbers_of_confidential_things_are_undecided(name):
    proposal = om.Schema.infer(people(name, [f"K{number:04d}" for number in range(50)]))
    assert proposal.schema[name].role in ("undecided", "identifier")


ODD = {
    "words": [f"w{number}" for number in range(30)],
    "numbers": [str(number) for number in range(30)],
    "decimals": [f"{number}.5" for number in range(30)],
    "codes": [f"{number:04d}" for number in range(30)],
    "answers": ["yes", "no"],
    "one value": ["x"],
    "a scale": ["low", "medium", "high"],
    "commas": [f"{number},{number}" for number in range(30)],
    "running": [str(number) for number in range(RECORDS)],
}


@pytest.mark.parametrize("name", ["foo", "weight", "count", "freq", "ward", "x1", "数", "status"])
@pytest.mark.parametrize("values", ODD.values(), ids=ODD)
def test_nothing_is_published_on_a_guess_alone(name, values):
    """No name that says nothing gets a role under which a column is published."""
    found = om.Schema.infer(people(name, values))
    assert found.schema[name].role in ("undecided", "identifier")
    assert found.schema.published == ("age",)
    assert name in found.unsure or found.schema[name].role == "identifier"


# What becomes of it -------------------------------------------------------------------------------


def test_an_undecided_column_is_refused_by_name_with_the_ways_out(folder):
    planned(people("ward", ["a", "b", "c"]).with_columns(pl.col("age").alias("foo")))
    refused = run("run", "t.toml")
    assert refused.exit_code == 2
    said = " ".join(refused.stderr.split())
    for part in ("'ward' and 'foo'", "quasi", "sensitive", "other", "identifier", "delete"):
        assert part in said
    assert "ontomask run t.toml --leave-out-undecided" in said
    assert names_in(folder) == ["t.csv", "t.toml"]


def test_one_option_leaves_all_of_them_out(folder):
    planned(people("ward", ["a", "b", "c"]))
    done = run("run", "t.toml", "--leave-out-undecided")
    assert done.exit_code == 0
    assert "Undecided, so not published: ward." in " ".join(done.stdout.split())
    assert om.files.read_file("t-release/t.csv").columns == ("age",)
    manifest = json.loads((folder / "t-release" / "manifest.json").read_text())
    assert "Undecided, so not published: ward." in manifest["notes"]


def test_check_lists_what_is_undecided_with_what_it_looks_like(folder):
    planned(people("ward", ["a", "b", "c"]))
    checked = run("check", "t.toml")
    assert checked.exit_code == 2
    assert "its 3 distinct values are words" in " ".join(checked.stdout.split())
    assert "fits its table" not in checked.stdout
    assert "'ward'" in checked.stderr
    found = json.loads(run("check", "t.toml", "--json").stdout)
    assert list(found["undecided"]) == ["ward"]


def test_a_decision_is_all_that_is_missing(folder):
    planned(people("ward", ["a", "b", "c"]))
    text = (folder / "t.toml").read_text()
    assert tomllib.loads(text)["columns"]["ward"]["role"] == "undecided"
    assert "# DECIDE: " in text
    (folder / "t.toml").write_text(text.replace('"undecided"', '"sensitive"'))
    assert run("check", "t.toml").exit_code == 0
    assert run("run", "t.toml").exit_code == 0
    assert om.files.read_file("t-release/t.csv").columns == ("age", "ward")


def test_where_everything_is_undecided_nothing_is_released(folder):
    planned(people("foo", ["a", "b"]).drop("age"))
    assert run("run", "t.toml").exit_code == 2
    refused = run("run", "t.toml", "--leave-out-undecided")
    assert refused.exit_code == 2
    assert "nothing would be published" in " ".join(refused.stderr.split())


def test_a_step_that_needs_an_undecided_column_says_so(folder):
    planned(people("ward", ["a", "b", "c"]))
    text = (folder / "t.toml").read_text()
    dropping = '[[steps]]\nmethod = "drop-columns"\ncolumns = ["ward"]\n\n[[steps]]'
    (folder / "t.toml").write_text(text.replace("[[steps]]", dropping, 1))
    refused = run("run", "t.toml", "--leave-out-undecided")
    assert refused.exit_code == 2
    assert "'ward'" in refused.stderr


def test_other_commands_take_the_decided_columns_only(folder):
    planned(people("ward", ["a", "b", "c"]))
    compared = run("compare", "t.toml", "--methods", "recoding", "--k", "3", "--workers", "1")
    assert compared.exit_code == 2
    assert "'ward'" in compared.stderr
    people("ward", ["a"]).write_csv("masked.csv")
    found = run("evaluate", "t.csv", "masked.csv", "--plan", "t.toml", "--json")
    assert found.exit_code == 0
    assert [one["name"] for one in json.loads(found.stdout)["loss"]["columns"]] == ["age"]


# In Python ----------------------------------------------------------------------------------------


def test_protect_refuses_and_the_schema_says_how_to_go_on():
    frame = people("ward", ["a", "b", "c"])
    schema = om.Schema.infer(frame).schema
    assert schema.undecided == ("ward",)
    for call in (
        lambda: om.protect(frame, schema, om.Microaggregation(3), 1),
        lambda: om.compare(frame, schema, ["recoding"], k=[3], workers=1),
    ):
        with pytest.raises(SchemaError, match=r"'ward'.*'quasi'.*Identifier.*decided\(\)"):
            call()
    release = om.protect(frame, schema.decided(), om.Microaggregation(3), 1)
    assert release.frame.columns == ["age"]


@pytest.mark.parametrize("kind", [om.Numeric, om.Flat, om.Date])
def test_only_one_role_is_never_published(kind):
    published = {
        role: om.Schema(age=om.Numeric(), x=kind(role=role)).published == ("age", "x")
        for role in ROLES
    }
    assert published == {"quasi": True, "sensitive": True, "other": True, "undecided": False}
