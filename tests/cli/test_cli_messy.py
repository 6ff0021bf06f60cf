"""What a person sees who gives a messy file to `init`, `check` and `run`."""

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ontomask as om
from ontomask.cli import app

RUNNER = CliRunner()
ROWS = [f"{20 + number % 30},{'fm'[number % 2]},{100 + 7 * number}" for number in range(60)]
BODY = "\n".join(ROWS)


def run(*arguments):
    result = RUNNER.invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def planned(text, *options):
    """What `init` says and writes, after a run that must work."""
    Path("t.csv").write_text(text, encoding="utf-8")
    shown = run("init", "t.csv", *options)
    assert shown.exit_code == 0, shown.stderr
    plan = Path("t.toml").read_text(encoding="utf-8")
    Path("t.toml").write_text(plan.replace("unchanged = 10 ", "unchanged = 100 "), encoding="utf-8")
    done = run("run", "t.toml", "--force")
    assert done.exit_code == 0, done.stderr
    return " ".join(shown.stdout.split()), plan, om.files.read_file("t-release/t.csv").frame


TOTAL = sum(int(row.split(",")[0]) for row in ROWS)
MESSY = {
    "a title": (f"Report\n\nage,sex,paid\n{BODY}\n", "names seem to be in line 3", "header = 3"),
    "units": (f"age,sex,paid\n(years),,(€)\n{BODY}\n", "line 2 gives units", "skip = [2]"),
    "a total": (f"age,sex,paid\n{BODY}\n{TOTAL},Total,\n", "line 62 sums up", "skip = [-1]"),
    "notes": (f"age,sex,paid\n{BODY}\nSource: x\n", "seems to be notes", "skip = [-1]"),
    "codes": (
        f"age,sex,paid\n{BODY}\n999,f,5\n-9,m,6\n",
        "in 'age' '-9' and '999'",
        'missing_in = { age = ["-9", "999"] }',
    ),
    "open ends": (
        f"age,sex,paid\n{BODY}\n90+,f,5\n<1,m,6\nunk,f,7\n",
        "in 'age' '90+' for 90 and '<1' for 0",
        'read_as = { age = { "90+" = 90, "<1" = 0 } }',
    ),
}


@pytest.mark.parametrize(("text", "said", "written"), MESSY.values(), ids=MESSY)
def test_what_is_odd_is_said_written_into_the_plan_and_not_released(text, said, written):
    shown, plan, released = planned(text)
    assert said in shown
    assert f"\n{written}\n" in plan
    assert "# CHECK: " in plan[: plan.index(written)]
    assert released.columns == ["age", "sex", "paid"]
    ages = released["age"].drop_nulls()
    assert ages.dtype.is_numeric()
    assert 0 <= ages.min() <= ages.max() <= 90
    assert not {"Total", "Source: x", "(€)"} & set(map(str, released["sex"]))


@pytest.mark.parametrize(("text", "said", "written"), MESSY.values(), ids=MESSY)
def test_check_notices_what_a_plan_does_not_say(text, said, written):
    _, plan, _ = planned(text)
    Path("t.toml").write_text(plan.replace(f"\n{written}\n", "\n"), encoding="utf-8")
    checked = run("check", "t.toml")
    told = " ".join((checked.stdout + checked.stderr).split())
    if checked.exit_code == 2:  # the table cannot even be read as the plan says
        assert "line " in told
    else:
        assert said in told
        assert f"say under [input]: {written}" in told


def test_a_plan_that_says_everything_is_not_accused():
    planned(MESSY["units"][0])
    assert "seem" not in run("check", "t.toml").stdout


def test_rows_can_be_named_where_the_guess_is_wrong():
    text = f"A report,of,2024\nage,sex,paid\nx,y,z\n{BODY}\n"
    _, plan, released = planned(text, "--header", "2", "--skip", "3")
    assert tomllib.loads(plan)["input"] == {"path": "t.csv", "header": 2, "skip": [3]}
    assert len(released) == 60
    _, _, released = planned(f"age,sex,paid\n{BODY}\n", "--force", "--skip", "-1", "--skip", "-2")
    assert len(released) == 58


def test_quotation_marks_can_be_mere_characters():
    text = f'age,sex,paid\n{BODY}\n30,5" f,7\n'
    Path("t.csv").write_text(text, encoding="utf-8")
    assert "without a plan: --quote none" in " ".join(run("init", "t.csv").stderr.split())
    _, plan, released = planned(text, "--quote", "none")
    assert tomllib.loads(plan)["input"]["quote"] == "none"
    assert len(released) == 61


def test_every_column_is_shown_with_its_profile():
    shown, plan, _ = planned(f"age,sex,paid\n{BODY}\n")
    assert "20 to 49" in shown
    assert "20 to 49" not in plan, "its ends may be those of single people"
    assert "\n# 30 values\n" in plan
    checked = " ".join(run("check", "t.toml").stdout.split())
    assert "20 to 49" in checked
    assert "f, m" in checked
    found = json.loads(run("check", "t.toml", "--json").stdout)
    assert found["columns"][0]["profile"] == "20 to 49"


def test_values_that_nobody_can_explain_are_shown_to_the_steward():
    Path("t.csv").write_text(f"age,sex,paid\n{BODY}\nMeier,f,3\n", encoding="utf-8")
    assert "'Meier' is no number" in " ".join(run("init", "t.csv").stdout.split())


def test_risk_reads_messy_files_too():
    Path("t.csv").write_text(MESSY["units"][0], encoding="utf-8")
    found = run("risk", "t.csv", "--quasi", "age,sex", "--json")
    assert json.loads(found.stdout)["structure"]["people"] == 60


# No line of names --------------------------------------------------------------------------------

NAMELESS = "".join(f"Smith{n},{'FM'[n % 2]},{40 + n % 4},{1000 + 7 * n}\n" for n in range(60))
PLAN = """
[input]
path = "t.csv"
{header}
[columns.{column}]
kind = "numeric"
[[steps]]
method = "microaggregation"
k = 5
{engine}
"""


def nameless_plan(column, header="", engine=""):
    Path("t.toml").write_text(PLAN.format(column=column, header=header, engine=engine))


@pytest.mark.parametrize("command", ["init", "risk"])
def test_a_first_record_is_not_published_as_names(command):
    Path("t.csv").write_text(NAMELESS)
    refused = run(command, "t.csv")
    assert refused.exit_code == 2
    said = " ".join(refused.stderr.split())
    assert "The first line of t.csv looks like a record, not like names: 4 of its 4" in said
    assert "--header 0" in said
    assert "Smith" not in refused.output
    assert "1000" not in refused.output
    assert not Path("t.toml").exists()


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("engine", ["", '[engine]\nname = "duckdb"'])
@pytest.mark.parametrize("column", ["40", "age"])
def test_neither_by_a_plan_that_somebody_wrote(command, engine, column):
    if engine:
        pytest.importorskip("duckdb")
    Path("t.csv").write_text(NAMELESS)
    nameless_plan(column, engine=engine)
    refused = run(command, "t.toml")
    assert refused.exit_code == 2
    assert "looks like a record, not like names" in " ".join(refused.stderr.split())
    assert "Smith" not in refused.output
    assert not Path("t-release").exists()


@pytest.mark.parametrize("engine", ["", '[engine]\nname = "duckdb"'])
@pytest.mark.parametrize(("header", "column", "records"), [(0, "column_3", 60), (1, "40", 59)])
def test_what_the_first_line_is_can_be_said(engine, header, column, records):
    if engine:
        pytest.importorskip("duckdb")
    Path("t.csv").write_text(NAMELESS)
    nameless_plan(column, f"header = {header}", engine)
    assert run("check", "t.toml").exit_code == 0
    done = run("run", "t.toml")
    assert done.exit_code == 0, done.stderr
    released = om.files.read_file("t-release/t.csv", om.files.FileFormat(header=1)).frame
    assert released.columns == [column]
    assert len(released) == records


def test_init_writes_down_that_there_are_no_names():
    said, plan, released = planned_undecided(NAMELESS, "--header", "0")
    assert tomllib.loads(plan)["input"]["header"] == 0
    assert {*released.columns} <= {f"column_{place}" for place in range(1, 5)}
    assert "column_1" in said


def planned_undecided(text, *options):
    Path("t.csv").write_text(text)
    shown = run("init", "t.csv", *options)
    assert shown.exit_code == 0, shown.stderr
    plan = Path("t.toml").read_text()
    decided = plan.replace('"undecided"', '"quasi"').replace("unchanged = 10 ", "unchanged = 100 ")
    Path("t.toml").write_text(decided)
    done = run("run", "t.toml")
    assert done.exit_code == 0, done.stderr
    return shown.stdout, plan, om.files.read_file("t-release/t.csv").frame


def test_names_that_look_like_values_are_marked():
    rows = "".join(f"Region {n % 9},{n * 377 % 500},{n * 991 % 500}\n" for n in range(60))
    _, plan, released = planned_undecided("region,2019,2020\n" + rows)
    assert "# CHECK: Line 1 seems to name the columns; 2 columns are named like values" in plan
    assert tomllib.loads(plan)["input"]["header"] == 1
    assert released.columns[-2:] == ["2019", "2020"]


# Numbers that are written unlike the others ------------------------------------------------------

ODD_NUMBERS = [
    "1e3",
    "5.",
    "+5",
    ".5",
    "1E+3",
    "1000000000000000",
    "9" * 17,
    str(2**63),
    "1" + 30 * "0",
]


@pytest.mark.parametrize("odd", ODD_NUMBERS)
def test_what_init_calls_a_number_check_and_run_read_as_one(odd):
    rows = "".join(f"M,{20 + n % 7}\n" for n in range(60))
    _, plan, released = planned_undecided(f"sex,income\n{rows}F,{odd}\n")
    assert tomllib.loads(plan)["columns"]["income"]["kind"] == "numeric"
    assert len(released) == 61


@pytest.mark.parametrize("odd", ODD_NUMBERS)
def test_so_does_duckdb(odd):
    pytest.importorskip("duckdb")
    rows = "".join(f"M,{20 + n % 7}\n" for n in range(60))
    Path("t.csv").write_text(f"sex,income\n{rows}F,{odd}\n")
    nameless_plan("income", engine='[engine]\nname = "duckdb"')
    done = run("run", "t.toml")
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("odd", ["1e999", "pending"])
def test_a_column_that_is_no_number_as_a_whole_is_to_be_decided_on(odd):
    rows = "".join(f"M,{20 + n // 3}\n" for n in range(7200))
    Path("t.csv").write_text(f"sex,income\n{rows}F,{odd}\n")
    shown = run("init", "t.csv")
    assert shown.exit_code == 0, shown.stderr
    income = tomllib.loads(Path("t.toml").read_text())["columns"]["income"]
    assert income == {"kind": "flat", "role": "undecided"}
    checked = run("check", "t.toml")
    assert "undecided" in checked.output


@pytest.mark.parametrize(
    "command",
    [
        ["risk", "t.csv", "--quasi", "column_2,column_3"],
        ["verify", "t.csv", "--quasi", "column_2", "--k", "5"],
        ["taxonomy", "map", "icd9cm", "t.csv", "--column", "column_5"],
    ],
)
def test_every_command_that_reads_a_table_can_be_told(command):
    rows = NAMELESS.splitlines()
    codes = ["250.00", "401.9", "428.0"]
    lines = [f"{row},{codes[place % 3]}\n" for place, row in enumerate(rows)]
    Path("t.csv").write_text("".join(lines))
    refused = run(*command)
    assert refused.exit_code != 0
    assert "looks like a record" in " ".join(refused.stderr.split())
    done = run(*command, "--header", "0")
    assert done.exit_code == 0, done.stderr
