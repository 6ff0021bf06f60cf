"""`init` on awkward tables: either a plan that can be checked and run, or one sentence."""

import json
import re
import tomllib
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import ontomask as om
from ontomask.cli import app
from ontomask.samples import discharges
from plans import names_in

RUNNER = CliRunner()


def run(*arguments: object):
    result = RUNNER.invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def table(header: str, row, count: int = 24, separator: str = ",") -> str:
    lines = [separator.join(str(cell) for cell in row(number)) for number in range(count)]
    return "\n".join([header, *lines]) + "\n"


AWKWARD = [
    "a\nb",
    'c"d',
    "e.f",
    "ü é",
    "😀",
    "[bold]",
    "[/x]",
    "#",
    "a'b",
    ":",
    "\u2028z",
    "=1",
    "\\",
]
ODD = ",".join('"' + name.replace('"', '""') + '"' for name in AWKWARD)

WORKING = {
    "quoted names": ("odd.csv", table(ODD, lambda n: [n % 2 + (i > 9) for i in range(13)]), []),
    "one column": ("one.csv", table("a", lambda n: [n % 5]), []),
    "one column with gaps": ("gaps.csv", table("a", lambda n: ["x", '""', "y"][n % 3 :][:1]), []),
    "an empty column": ("empty.csv", table("a,b,c", lambda n: [n % 3, "", "x"]), []),
    "one value": ("same.csv", table("a,b", lambda n: [1, "x"]), []),
    "semicolons": ("semi.csv", table("a;b", lambda n: [n % 3, f"{n % 4},5"], separator=";"), []),
    "a decimal comma": (
        "comma.csv",
        table("a;b", lambda n: [n % 3, f"{n % 4},5"], separator=";"),
        ["--decimal", ","],
    ),
    "tabs": (
        "tabs.txt",
        table("a\tb", lambda n: [n % 3, n % 2], separator="\t"),
        ["--separator", "tab"],
    ),
    "latin": (
        "latin.csv",
        table("straße;b", lambda n: [f"Wäg {n % 2}", n % 3], separator=";").encode("latin-1"),
        ["--encoding", "latin-1"],
    ),
    "a mark": ("mark.csv", table("a,b", lambda n: [n % 2, n % 3]).encode("utf-8-sig"), []),
    "utf-16": ("wide.csv", table("a,b", lambda n: [n % 2, n % 3]).encode("utf-16"), []),
    "quoted lines": ("lines.csv", table("a,b", lambda n: [f'"x\n{n % 3}"', n % 2]), []),
    "returns": ("mac.csv", table("a,b", lambda n: [n % 2, n % 3]).replace("\n", "\r\n"), []),
    "a dotted name": ("claims.2024.01.csv", table("a,b", lambda n: [n % 2, n % 3]), []),
    "a hidden file": (".hidden.csv", table("a,b", lambda n: [n % 2, n % 3]), []),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder, name: str, content: str | bytes):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def checked_and_run(plan: str) -> None:
    """Check and run a plan; what is undecided is taken for known to others, limits are lifted."""
    text = Path(plan).read_text(encoding="utf-8").replace('role = "undecided"', 'role = "quasi"')
    text = text.replace("max_unique_unchanged = 10", "max_unique_unchanged = 100")
    Path(plan).write_text(text, encoding="utf-8")
    check = run("check", plan)
    assert check.exit_code == 0, check.stderr
    done = run("run", plan, "--quiet")
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize(("name", "content", "options"), WORKING.values(), ids=WORKING)
def test_a_plan_is_written_that_can_be_run(folder, name, content, options):
    put(folder, name, content)
    shown = run("init", name, "--k", "3", *options)
    assert shown.exit_code == 0, shown.stderr
    (plan,) = (one for one in names_in(folder) if one.endswith(".toml"))
    assert f"{plan} is written" in shown.stdout
    text = (folder / plan).read_text(encoding="utf-8")
    assert tomllib.loads(text)["input"]["path"] == name
    checked_and_run(plan)


def test_every_guess_is_explained_and_unsure_ones_are_marked(folder):
    columns = discharges(150, seed=2)
    pl.DataFrame(columns).write_csv(folder / "discharges.csv")
    shown = run("init", "discharges.csv", "-o", "plan.toml", "--k", "4")
    assert shown.exit_code == 0
    text = (folder / "plan.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    assert document["columns"]["patient"] == {"kind": "identifier"}
    assert document["columns"]["diagnosis"] == {
        "kind": "nominal",
        "taxonomy": "icd9cm",
        "role": "quasi",
    }
    assert document["columns"]["admission_date"]["kind"] == "date"
    assert document["steps"] == [{"method": "microaggregation", "k": 4}]
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("[columns."):
            assert lines[number - 1].startswith("# ")
    decide = r"^# DECIDE: .*\n\[columns\.status\]\nkind = .*\nrole = .undecided.$"
    assert re.search(decide, text, re.M)
    assert all(len(line) <= 200 for line in lines)
    assert not any(line.endswith("-") and line.startswith("#   ") for line in lines)
    checked_and_run("plan.toml")


def test_where_nothing_points_to_quasi_identifiers_all_columns_are_undecided(folder):
    put(folder, "t.csv", table("foo,bar", lambda n: [n % 4, f"w{n % 3}"]))
    found = json.loads(run("init", "t.csv", "--json").stdout)
    assert {one["role"] for one in found["columns"].values()} == {"undecided"}
    assert (folder / "t.toml").read_text().count("# DECIDE: ") == 2


def test_useless_columns_are_left_out_with_the_reason(folder):
    frame = pl.DataFrame({"age": [20, 21] * 9, "none": [None] * 18, "list": [[1], [2]] * 9})
    frame.write_parquet(folder / "t.parquet")
    assert run("init", "t.parquet").exit_code == 0
    text = (folder / "t.toml").read_text()
    assert "# none: left out, as it holds missing values only" in text
    assert "# list: left out, as it holds lists or tables of values" in text
    assert list(tomllib.loads(text)["columns"]) == ["age"]
    checked_and_run("t.toml")


@pytest.mark.parametrize("suffix", ["xlsx", "sav", "dta", "parquet"])
def test_other_formats(folder, suffix):
    frame = pl.DataFrame({"age": [20, 21, 22] * 8, "sex": ["f", "m"] * 12})
    om.files.write_file(frame, folder / f"people.{suffix}")
    assert run("init", f"people.{suffix}").exit_code == 0
    checked_and_run("people.toml")
    assert names_in(folder / "people-release") == sorted(
        ["manifest.json", "report.html", f"people.{suffix}"]
    )


def test_labels_of_spss_files(folder):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pl.DataFrame({"age": [20.0, 21.0, 22.0] * 8, "sex": [1.0, 2.0] * 12})
    labels = {"sex": {1.0: "female", 2.0: "male"}}
    pyreadstat.write_sav(frame, str(folder / "p.sav"), variable_value_labels=labels)
    assert run("init", "p.sav").exit_code == 0
    checked_and_run("p.toml")
    released = om.files.read_file(folder / "p-release" / "p.sav").frame
    assert set(released["sex"].to_list()) <= {"female", "male"}


def test_500_columns(folder):
    names = [f"c{number}" for number in range(500)]
    put(folder, "wide.csv", table(",".join(names), lambda n: [(n * i) % 3 for i in range(500)], 12))
    assert run("init", "wide.csv").exit_code == 0
    assert len(tomllib.loads((folder / "wide.toml").read_text())["columns"]) == 500
    refused = run("check", "wide.toml", "--quiet")
    assert refused.exit_code == 2
    assert "'c0', 'c1', 'c2', 'c3', 'c4' and 495 more is undecided" in " ".join(
        refused.stderr.split()
    )


REFUSED = {
    "an empty file": ("t.csv", "", [], "t.csv is empty"),
    "blank lines": ("t.csv", "\n\n\n", [], "t.csv is empty"),
    "a header only": ("t.csv", "a,b\n", [], "t.csv has 0 records, which is fewer than k = 5"),
    "few records": ("t.csv", "a,b\n1,2\n", [], "t.csv has 1 record, which is fewer than k = 5"),
    "only identifiers": (
        "t.csv",
        table("id,ssn", lambda n: [n, 1000 + n]),
        [],
        "Every column of t.csv seems to name people",
    ),
    "only gaps": ("t.csv", table("a,b", lambda n: ["", ""]), [], "Every column of t.csv"),
    "a name twice": ("t.csv", "a,a\n1,2\n", [], "the header names 'a' more than once"),
    "no name": ("t.csv", "a,\n1,2\n", [], "column 2 has no name in the header"),
    "ragged": ("t.csv", "a,b\n1\n", [], "line 2: the record has 1 field"),
    "not utf-8": ("t.csv", b"a\n\x81\n", [], "is not utf-8 text"),
    "not what is said": ("t.csv", b"a\n\xe9\n", ["--encoding", "utf-8"], "is not utf-8 text"),
    "no decimal mark": ("t.csv", "a\n1\n", ["--decimal", ""], "decimal must be one of '.', ','"),
    "bytes": ("t.csv", bytes(range(256)) * 4, [], "is not a text file"),
    "no parquet": ("t.parquet", "a,b\n", [], "is named like a Parquet file"),
    "no format": ("t.dat", "a,b\n", [], "does not tell the file's format"),
    "a wrong separator": ("t.csv", "a\n1\n", ["--separator", "xx"], "separator must be one of"),
    "a wrong sheet": ("t.csv", "a\n", ["--sheet", ""], "sheet must be a text"),
    "a k of one": ("t.csv", "a\n", ["--k", "1"], "Invalid value for '--k'"),
}


@pytest.mark.parametrize(("name", "content", "options", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_planned_is_told_in_a_sentence(folder, name, content, options, said):
    put(folder, name, content)
    result = run("init", name, *options)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert names_in(folder) == [name]


@pytest.mark.parametrize("place", [".", "..", "", "/", "none.csv", "none/none.csv"])
def test_what_is_no_file_is_told(folder, place):
    result = run("init", place)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert names_in(folder) == []


def test_nothing_is_ever_overwritten_unasked(folder):
    put(folder, "t.csv", table("age,job", lambda n: [n % 5, n % 3]))
    put(folder, "t.toml", "mine")
    (folder / "folder.toml").mkdir()
    for options, said in {
        (): "t.toml exists already and is kept; give another name, or say --force.",
        ("-o", "t.csv"): "t.csv exists already and is kept",
        ("-o", "folder.toml", "--force"): "folder.toml is a folder",
        ("-o", "no/t.toml"): "There is no folder 'no' to write 't.toml' to; make it first.",
    }.items():
        result = run("init", "t.csv", *options)
        assert result.exit_code == 2
        assert said in " ".join(result.stderr.split())
    assert (folder / "t.toml").read_text() == "mine"
    assert names_in(folder) == ["folder.toml", "t.csv", "t.toml"]
    assert run("init", "t.csv", "--force", "--quiet").output == ""
    checked_and_run("t.toml")


GERMAN = table(
    "Straße;Alter;Ort;Betrag",
    lambda n: [f"Weg {n % 4}", 20 + n % 9, ["Köln", "Zürich"][n % 2], f"{100 + 7 * n},{n:02d}"],
    separator=";",
).encode("cp1252")


def test_a_table_from_a_german_spreadsheet_is_read_and_its_plan_says_how(folder):
    put(folder, "t.csv", GERMAN)
    shown = run("init", "t.csv")
    assert shown.exit_code == 0
    said = " ".join(shown.stdout.split())
    assert "t.csv is not UTF-8 text and was read as cp1252 (Windows)" in said
    assert "The comma was taken for the decimal mark; only so are numbers: 'Betrag'." in said
    text = (folder / "t.toml").read_text(encoding="utf-8")
    assert re.search(r"^# CHECK: t\.csv is not UTF-8.*\nencoding = \"cp1252\"$", text, re.M)
    assert re.search(r"^# CHECK: The comma was taken.*\ndecimal = \",\"$", text, re.M)
    assert text.count("was read as cp1252") == 1
    columns = tomllib.loads(text)["columns"]
    assert columns["Straße"] == {"kind": "identifier"}
    assert columns["Betrag"] == {"kind": "numeric", "role": "sensitive"}
    checked_and_run("t.toml")
    released = (folder / "t-release" / "t.csv").read_bytes()
    assert "Köln".encode() in released
    assert not released.startswith(b"\xef\xbb\xbf")


def test_what_is_said_is_not_guessed(folder):
    put(folder, "t.csv", GERMAN)
    assert run("init", "t.csv", "--encoding", "latin-1", "--decimal", ".").exit_code == 0
    text = (folder / "t.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    assert document["input"] == {"path": "t.csv", "encoding": "latin-1"}
    assert document["columns"]["Betrag"]["kind"] == "flat"
    checked_and_run("t.toml")


def test_the_plan_shuffles_and_says_why(folder):
    put(folder, "t.csv", table("age,job", lambda n: [n, n % 3]))
    shown = run("init", "t.csv")
    assert "end at each" not in shown.stdout
    text = (folder / "t.toml").read_text()
    assert "end at each" not in text
    assert tomllib.loads(text)["output"] == {"shuffle": True, "escape_formulas": True}
    assert re.search(
        r"^shuffle = true +# the order of the records can give people away", text, re.M
    )


def test_a_plan_elsewhere_finds_its_table(folder):
    put(folder, "t.csv", table("age,job", lambda n: [n % 5, n % 3]))
    (folder / "plans").mkdir()
    assert run("init", "t.csv", "-o", "plans/p.toml").exit_code == 0
    assert 'path = "../t.csv"' in (folder / "plans" / "p.toml").read_text()
    checked_and_run("plans/p.toml")
    assert names_in(folder / "plans") == ["p-release", "p.toml"]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("patient,income", lambda n: [f"N{n}", 1000 + n * 7919 % 3000]),
        ("patient,hiv", lambda n: [f"N{n}", "yn"[n % 2]]),
        ("income,salary", lambda n: [1000 + n * 79 % 300, 7 + n % 5]),
    ],
)
def test_a_table_without_anything_that_others_know_is_to_be_decided_on(folder, header, row):
    put(folder, "t.csv", table(header, row, 60))
    shown = run("init", "t.csv")
    assert shown.exit_code == 0, shown.stderr
    text = (folder / "t.toml").read_text()
    roles = {one.get("role") for one in tomllib.loads(text)["columns"].values()}
    assert roles <= {"undecided", None}
    assert "# DECIDE: " in text
    assert "undecided, so nothing is released" in " ".join(run("check", "t.toml").stderr.split())
    checked_and_run("t.toml")
