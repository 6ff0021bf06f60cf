"""Every command: what it says to people and machines, and how it answers mistakes."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numba
import pytest
from rich.console import Console
from rich.progress import Progress
from typer.main import get_command
from typer.testing import CliRunner

import ontomask as om
from ontomask.cli import app
from ontomask.cli import demonstration as demonstration
from ontomask.cli import voice as voice_room
from ontomask.kernels.compiling import NOTICE
from ontomask.plan import execution, places
from plans import names_in, write_plan, write_small

RUNNER = CliRunner()


def run(*arguments: object, **options):
    """Run a command; whatever it answers, it is no traceback."""
    result = RUNNER.invoke(app, [str(one) for one in arguments], **options)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def refused(*arguments: object, code: int = 2) -> str:
    """The sentences that answer a mistake, on one line."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    return " ".join(result.stderr.split())


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_small(tmp_path).relative_to(tmp_path)


# Help -----------------------------------------------------------------------------------------


def commands(command, path=()):
    for name, one in getattr(command, "commands", {}).items():
        yield from commands(one, (*path, name))
    if path and not hasattr(command, "commands"):
        yield path, command


ALL = dict(commands(get_command(app)))


def test_the_commands_are_these():
    assert sorted(" ".join(path) for path in ALL) == [
        "check",
        "compare",
        "demo",
        "evaluate",
        "init",
        "risk",
        "run",
        "schema",
        "studio",
        "taxonomy convert",
        "taxonomy distance",
        "taxonomy list",
        "taxonomy map",
        "taxonomy show",
        "verify",
        "warm",
    ]


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_has_help_with_an_example_of_itself(path):
    shown = run(*path, "--help").stdout
    assert re.search(rf"Examples?: ontomask {' '.join(path)}", " ".join(shown.split()))
    assert all(one.help for one in ALL[path].params if one.param_type_name == "option")


def test_the_whole_says_where_to_start_and_what_exit_codes_mean():
    shown = " ".join(run("--help").stdout.split())
    assert "Start with: ontomask demo" in shown
    assert "130 interrupted" in shown
    assert run("--version").stdout.strip() == f"ontomask {om.__version__}"


@pytest.mark.parametrize(
    ("shell", "said"),
    [("bash", "complete -o default"), ("zsh", "compdef"), ("fish", "complete --command")],
)
def test_completion_can_be_shown_and_is_a_script_of_the_shell(monkeypatch, shell, said):
    """For the shell that a user has, whatever started this test."""
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: (shell, f"/bin/{shell}"))
    shown = run("--show-completion")
    assert shown.exit_code == 0
    assert said in shown.stdout
    if program := shutil.which(shell):
        parsed = subprocess.run([program, "-n"], input=shown.stdout, text=True, capture_output=True)
        assert (parsed.returncode, parsed.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "expected"), [("ontomask com", "compare"), ("ontomask run --se", "--seed")]
)
def test_completion_proposes_commands_and_options(words, expected):
    """What bash asks for when the Tab key is pressed."""
    asked = {"_ONTOMASK_COMPLETE": "complete_bash", "COMP_WORDS": words}
    asked |= {"COMP_CWORD": str(len(words.split()) - 1)}
    shown = RUNNER.invoke(app, [], prog_name="ontomask", env=asked)
    assert expected in shown.stdout.split()


@pytest.mark.parametrize(
    "wrong",
    [["frobnicate"], ["run"], ["run", "p.toml", "--nope"], ["run", "p.toml", "--seed", "-1"]],
)
def test_wrong_usage_is_told(wrong):
    result = run(*wrong)
    assert result.exit_code == 2
    assert "Usage" in result.stderr


# run ------------------------------------------------------------------------------------------


def test_a_run_tells_what_was_promised_measured_and_written(plan):
    shown = run("run", plan)
    assert shown.exit_code == 0
    promised, _, verdict = shown.stdout.partition("Promised against an intruder who knows age of a")
    assert "manifest" in promised
    assert "kept    every combination of age is shared by at least 3 (at least" in verdict
    last = " ".join(verdict.split("\n\n")[-1].split())
    assert last.startswith("Kept, but 1 published column is not covered. No promise holds")
    for word in ("information loss", "highest risk", "plan-release/report.html", "keep it to your"):
        assert word in shown.stdout
    assert shown.stderr == ""


def test_quiet_says_nothing_and_json_says_all(plan):
    silent = run("run", plan, "--quiet")
    assert (silent.exit_code, silent.stdout, silent.stderr) == (0, "", "")
    found = json.loads(run("run", plan, "--force", "--json", "--internal").stdout)
    assert found["kept"] is True
    assert found["table"] == "plan-release/small.csv"
    assert found["internal_report"] == "plan-release/report-internal.html"
    assert found["exceeded"] == []
    assert set(found["linkage"]) == {"semantic", "matching"}


def test_a_drawn_seed_can_be_given_back(plan, tmp_path):
    text = plan.read_text().replace("seed = 3\n", "").replace("microaggregation", "rank-swapping")
    plan.write_text(text)
    run("run", plan)
    seed = json.loads((tmp_path / "plan-release/manifest.json").read_text())["seed"]
    table = tmp_path / "plan-release/small.csv"
    kept = table.read_bytes()
    assert run("run", plan, "--seed", seed, "--force").exit_code == 0
    assert table.read_bytes() == kept


def test_an_exceeded_limit_is_exit_code_3_and_the_files_are_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = write_small(tmp_path, "[limits]\nmax_risk = 1\n")
    shown = run("run", plan)
    assert shown.exit_code == 3
    assert re.search(r"Limit exceeded: highest risk is [\d.]+%, allowed are 1%\.", shown.stdout)
    assert names_in(tmp_path / "plan-release") == ["manifest.json", "report.html", "small.csv"]
    machine = run("run", plan, "--force", "--json")
    assert machine.exit_code == 3
    assert json.loads(machine.stdout)["exceeded"][0]["name"] == "highest risk"


def test_a_broken_promise_is_exit_code_1_and_nothing_is_written(plan, tmp_path, monkeypatch):
    def short(frame, path, *_):
        frame.head(5).write_csv(path)

    monkeypatch.setattr(places, "write_file", short)
    before = names_in(tmp_path)
    said = refused("run", plan, code=1)
    assert "does not keep its promise and is withheld: the file holds 5 records" in said
    machine = run("run", plan, "--json")
    assert machine.exit_code == 1
    assert json.loads(machine.stdout)["exit_code"] == 1
    assert names_in(tmp_path) == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, om.errors.CancelledError])
def test_an_interruption_is_exit_code_130_and_nothing_is_written(
    plan, tmp_path, monkeypatch, error
):
    def interrupted(*_args, **_options):
        raise error("stopped")

    for name in ("protect", "render"):
        monkeypatch.setattr(execution, name, interrupted)
        before = names_in(tmp_path)
        assert run("run", plan).exit_code == 130
        assert names_in(tmp_path) == before


def test_too_little_memory_is_told(plan, monkeypatch):
    def greedy(*_args, **_options):
        raise MemoryError

    monkeypatch.setattr(execution, "protect", greedy)
    assert "There is not enough memory for this table" in refused("run", plan)


def test_being_told_to_end_is_an_interruption(tmp_path):
    plan = write_small(tmp_path)
    slow = (
        "import time, sys; from ontomask.plan import execution; from ontomask.cli import main;"
        "execution.protect = lambda *a, **o: (print('now', flush=True), time.sleep(60));"
        f"sys.argv = ['ontomask', 'run', {str(plan)!r}]; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", slow], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "now\n"
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate()
    assert process.returncode == 130
    assert time.monotonic() - started < 30
    assert "Interrupted; nothing was put in place." in said
    assert "Traceback" not in said
    assert names_in(tmp_path) == ["plan.toml", "small.csv"]


@pytest.mark.parametrize(
    "arguments", [["run", "plan.toml"], ["run", "plan.toml", "--json"], ["schema"], ["--version"]]
)
def test_what_is_done_counts_though_nobody_reads_what_is_said(plan, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "ontomask.cli", *arguments]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
    assert arguments[0] != "run" or "plan-release" in names_in(plan.parent)


def test_an_existing_release_is_kept(plan):
    run("run", plan, "--quiet")
    assert "plan-release holds a release already; nothing was changed." in refused("run", plan)


# Mistakes -------------------------------------------------------------------------------------


def test_problems_of_a_plan_are_listed_below_each_other(plan):
    plan.write_text(plan.read_text().replace("k = 3", "k = 1") + "[limits]\nmax_los = 3\n")
    for command in ("check", "run"):
        result = run(command, plan)
        assert result.exit_code == 2
        assert result.stderr.splitlines()[0] == "Error: plan.toml has 2 problems:"
        assert "  line 13, step 1    k must be a whole number" in result.stderr
        machine = json.loads(run(command, plan, "--json").stdout)
        assert machine["exit_code"] == 2
        assert len(machine["problems"]) == 2
        assert machine["problems"][0].startswith("line 13, step 1: k must be")


def test_a_long_path_is_never_broken(tmp_path):
    place = tmp_path / ("very-" * 30)
    place.mkdir()
    assert str(place / "none.toml") in run("check", place / "none.toml").stderr
    plan = write_small(place)
    assert f"ontomask run {plan}" in run("check", plan).stdout


@pytest.mark.parametrize("name", ["a[b]", "[bold]", "a b", "q'uote", "[red"])
def test_odd_names_of_files_are_shown_as_they_are(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    plan = write_small(tmp_path, name=f"{name}.toml")
    shown = run("check", plan.name)
    assert shown.exit_code == 0
    assert f"{name}.toml fits its table." in shown.stdout
    assert run("run", plan.name).stdout.count(f"{name}-release/") == 3
    (tmp_path / f"{name}.csv").write_bytes((tmp_path / "small.csv").read_bytes())
    shown = run("init", f"{name}.csv", "-o", f"new-{name}.toml")
    assert f"new-{name}.toml is written" in shown.stdout


# check ----------------------------------------------------------------------------------------


def test_check_tells_what_is_in_the_columns(tmp_path):
    plan = write_plan(tmp_path)
    shown = run("check", plan).stdout
    assert "diseases: 7 of 7 values mapped" in shown
    assert "of the 60 people are alone with their combination of diagnosis, age" in " ".join(
        shown.split()
    )
    found = json.loads(run("check", plan, "--json").stdout)
    assert found["records"] == 60
    assert found["columns"][1]["kind"] == "nominal"
    assert run("check", plan, "--quiet").output == ""
    assert names_in(tmp_path) == ["diseases.csv", "people.csv", "plan.toml"]


# evaluate -------------------------------------------------------------------------------------


def test_evaluate_compares_two_files(plan, tmp_path):
    run("run", plan, "--quiet")
    files = ("small.csv", "plan-release/small.csv", "--plan", plan)
    shown = run("evaluate", *files, "--report", "account.html")
    assert shown.exit_code == 0
    assert "linkage, semantic" in shown.stdout
    assert (tmp_path / "account.html").read_text().startswith("<!")
    assert "account.html exists already and is kept" in refused(
        "evaluate", *files, "--report", "account.html"
    )
    assert run("evaluate", *files, "--report", "account.html", "--force").exit_code == 0
    machine = json.loads(run("evaluate", *files, "--json").stdout)
    assert "loss" in machine
    assert machine["exceeded"] == []
    plan.write_text(plan.read_text() + "[limits]\nmax_risk = 1\n")
    shown = run("evaluate", *files)
    assert shown.exit_code == 3
    assert re.search(r"Limit exceeded: highest risk is [\d.]+%, allowed are 1%\.", shown.stdout)
    machine = json.loads(run("evaluate", *files, "--json").stdout)
    assert [one["name"] for one in machine["exceeded"]] == ["highest risk"]


def test_evaluate_answers_mistakes(plan, tmp_path):
    run("run", plan, "--quiet")
    table = "plan-release/small.csv"
    (tmp_path / "short.csv").write_text("age,job\n20,j\n")
    said = refused("evaluate", "small.csv", "short.csv", "-p", plan)
    assert "The original has 24 records and the masked table 1" in said
    assert "There is no file 'nope.csv'" in refused("evaluate", "nope.csv", table, "-p", plan)
    assert "There is no folder 'no'" in refused(
        "evaluate", "small.csv", table, "-p", plan, "--report", "no/r.html"
    )
    assert "is a folder" in refused("evaluate", "small.csv", table, "-p", plan, "--report", ".")
    plan.write_text(plan.read_text() + "[output]\nshuffle = true\n")
    assert "random order" in refused("evaluate", "small.csv", table, "-p", plan)


# risk -----------------------------------------------------------------------------------------


def test_risk_tells_what_a_table_gives_away(plan):
    shown = run("risk", "small.csv", "--quasi", "age,job")
    assert shown.exit_code == 0
    assert "alone in their class" in shown.stdout
    assert "what singles people out" in shown.stdout
    found = json.loads(run("risk", "small.csv", "--quasi", "age", "--json").stdout)
    assert found["unique_sets"] is not None
    guessed = run("risk", "small.csv")
    assert guessed.stderr.startswith("Taken as known to others: age")
    assert run("risk", "small.csv", "--quasi", "age", "--quiet").output == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["small.csv", "--quasi", "agee"], "The table has no column 'agee'. Did you mean 'age'?"),
        (["small.csv", "--quasi", ","], "No column is named; say --quasi"),
        (["small.csv", "--quasi", "age", "--fraction", "0"], "fraction must be a number"),
        (["small.csv", "--separator", "xx"], "separator must be one of"),
        (["small.csv", "--encoding", "klingon"], "encoding must be a text encoding"),
        (["empty.csv", "--quasi", "a"], "The table has no records"),
        (["nope.csv"], "There is no file 'nope.csv'"),
        (["."], "is a folder, not a file"),
    ],
)
def test_risk_answers_mistakes(plan, tmp_path, arguments, said):
    (tmp_path / "empty.csv").write_text("a,b\n")
    assert said in refused("risk", *arguments)


def test_risks_are_told_in_percent(plan):
    shown = run("risk", "small.csv", "--quasi", "age").stdout
    assert "people at a risk above 20%" in shown
    shown = run("risk", "small.csv", "--quasi", "age", "--threshold", "0.125").stdout
    assert "people at a risk above 12.5%" in shown


FOREIGN = "Größe;Preis\n1,5;10\n1,50;10\n1,6;10\n".encode("cp1252")


def test_risk_reads_a_table_as_it_is_told_or_guesses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(FOREIGN)
    risk = ("risk", "t.csv", "--quasi", "Größe")
    guessed = run(*risk)
    said = " ".join(guessed.stderr.split())
    assert "t.csv is not UTF-8 text and was read as cp1252" in said
    assert "The comma was taken for the decimal mark" in said
    told = run(*risk, "--encoding", "cp1252", "--decimal", ",")
    assert told.stderr == ""
    assert told.stdout == guessed.stdout
    texts = run(*risk, "--encoding", "cp1252", "--decimal", ".", "--json")
    assert json.loads(texts.stdout)["structure"]["classes"] == 3
    assert json.loads(run(*risk, "--json").stdout)["structure"]["classes"] == 2


def two_sheets(path):
    workbook = pytest.importorskip("xlsxwriter").Workbook(str(path))
    for name, header in (("notes", "a"), ("codes", "dx")):
        sheet = workbook.add_worksheet(name)
        sheet.write_column(0, 0, [header, "250.00", "401.9"])
    workbook.close()


def test_sheets_are_chosen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    two_sheets(tmp_path / "t.xlsx")
    assert "has no column 'dx'" in refused("risk", "t.xlsx", "--quasi", "dx")
    assert run("risk", "t.xlsx", "--quasi", "dx", "--sheet", "codes").exit_code == 0
    mapping = ("taxonomy", "map", "icd9cm", "t.xlsx", "-c", "dx")
    assert "has no column 'dx'" in refused(*mapping)
    assert "2 of 2 values mapped" in run(*mapping, "--sheet", "codes").stdout


def test_many_columns_take_no_long_time(tmp_path):
    names = [f"c{number}" for number in range(150)]
    rows = [",".join(str((i * j) % 5) for j in range(150)) for i in range(20)]
    (tmp_path / "wide.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    shown = run("risk", tmp_path / "wide.csv", "--quasi", ",".join(names), "--json")
    assert json.loads(shown.stdout)["unique_sets"]["max_size"] == 2


# taxonomy -------------------------------------------------------------------------------------


def test_taxonomies_are_listed_and_shown():
    assert "82,115" in run("taxonomy", "list").stdout
    names = [
        one["name"] for one in json.loads(run("taxonomy", "list", "--json").stdout)["taxonomies"]
    ]
    assert "icd9cm" in names
    shown = run("taxonomy", "show", "nace").stdout
    assert "1,048" in shown
    concept = run("taxonomy", "show", "icd9cm", "250.00").stdout
    assert "250.00" in concept
    assert "250 " in concept
    found = json.loads(run("taxonomy", "show", "icd9cm", "250.00", "--json").stdout)
    assert found["parents"] == ["250.0"]


def test_distances_are_told():
    shown = run("taxonomy", "distance", "icd9cm", "250.00", "250.01").stdout
    assert "in common: 250.0 " in shown
    found = json.loads(run("taxonomy", "distance", "icd9cm", "250.00", "428.0", "--json").stdout)
    assert set(found["distances"]) == set(om.taxonomy.measures.MEASURES)
    only = run("taxonomy", "distance", "icd9cm", "250.00", "428.0", "-m", "path", "--json").stdout
    assert list(json.loads(only)["distances"]) == ["path"]


def test_the_measure_that_is_taken_by_default_is_marked():
    shown = run("taxonomy", "distance", "icd9cm", "250.00", "250.01").stdout
    assert re.findall(r"^(\S+) \(default\)", shown, re.M) == [
        om.Nominal(om.load_taxonomy("icd9cm")).measure
    ]
    found = json.loads(run("taxonomy", "distance", "icd9cm", "250.00", "428.0", "--json").stdout)
    assert found["default"] == "logsc"


@pytest.mark.parametrize("word", ["diabetis", "Diabetis melitus", "diabetes melitus"])
def test_misspelled_concepts_are_suggested(word):
    said = refused("taxonomy", "show", "icd9cm", word)
    assert f"icd9cm has no concept '{word}'. Near are: 250 Diabetes mellitus; " in said


def test_a_column_is_mapped_as_the_table_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes("Schlüssel|x\n250.00|1\n401.9|?\n?|1,5\n".encode("cp1252"))
    mapping = ("taxonomy", "map", "icd9cm", "t.csv", "-c", "Schlüssel")
    guessed = run(*mapping)
    assert "2 of 3 values mapped" in guessed.stdout
    assert "was read as cp1252" in " ".join(guessed.stderr.split())
    told = run(*mapping, "--encoding", "cp1252", "--separator", "|")
    assert (told.stdout, told.stderr) == (guessed.stdout, "")
    assert "has no column" in refused(*mapping, "--separator", ";")
    (tmp_path / "plan.toml").write_text(
        '[input]\npath = "other.csv"\nencoding = "cp1252"\nmissing = ["?"]\n'
        '[columns.x]\nkind = "numeric"\n[[steps]]\nmethod = "microaggregation"\nk = 2\n'
    )
    planned = run(*mapping, "--plan", "plan.toml")
    assert "2 of 2 values mapped" in planned.stdout
    assert planned.stderr == ""
    assert "The plan says how the table is read" in refused(
        *mapping, "--plan", "plan.toml", "--separator", "|"
    )


def test_columns_are_mapped_and_mapping_files_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dx.csv").write_text("dx,n\n250.00,1\n428.0,2\nnonsense,3\n")
    shown = run("taxonomy", "map", "icd9cm", "dx.csv", "-c", "dx", "-o", "map.csv").stdout
    assert "2 of 3 values mapped" in shown
    assert 'mapping = "map.csv"' in shown
    assert "nonsense" in (tmp_path / "map.csv").read_text(encoding="utf-8-sig")
    assert "map.csv exists already and is kept" in refused(
        "taxonomy", "map", "icd9cm", "dx.csv", "-c", "dx", "-o", "map.csv"
    )
    found = json.loads(run("taxonomy", "map", "icd9cm", "dx.csv", "-c", "dx", "--json").stdout)
    assert found["unmapped"] == ["nonsense"]


def test_taxonomies_are_converted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("nace.csv", "nace.ontomask"):
        shown = run("taxonomy", "convert", "nace", name)
        assert shown.stdout.strip() == f"1,048 concepts are written to {name}."
        assert f"{name} exists already and is kept" in refused("taxonomy", "convert", "nace", name)
        assert run("taxonomy", "convert", "nace", name, "--force", "--quiet").output == ""
        assert om.load_taxonomy(name).ids == om.load_taxonomy("nace").ids


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "nope"], "There is no file or bundled taxonomy 'nope'"),
        (["show", "nace", "zzzz"], "nace has no concept 'zzzz'."),
        (["show", "nace", " "], "A concept must be a text that is not empty"),
        (["distance", "nace", "A", "zzzz"], "nace has no concept 'zzzz'."),
        (["distance", "nace", "A", "B", "-m", "pth"], "Did you mean 'path'?"),
        (["map", "nace", "small.csv", "-c", "jobs"], "has no column 'jobs'"),
        (["map", "nace", "small.csv", "-c", "job", "-o", "no/m.csv"], "There is no folder 'no'"),
        (["convert", "nace", "n.txt"], "must be one of '.csv', '.ontomask', not '.txt'."),
        (["convert", "nace", "no/n.csv"], "There is no folder 'no'"),
        (["convert", "small.csv", "n.csv"], "is in no format that ontomask recognizes"),
        (["convert", "nace", "n.csv", "--format", "nope"], "nope"),
    ],
)
def test_taxonomy_commands_answer_mistakes(plan, tmp_path, arguments, said):
    before = names_in(tmp_path)
    assert said in refused("taxonomy", *arguments)
    assert names_in(tmp_path) == before


# demo, schema, warm ---------------------------------------------------------------------------


def test_the_demonstration_runs_and_can_be_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr(demonstration, "RECORDS", 300)
    folder = tmp_path / "show"
    shown = run("demo", folder)
    assert shown.exit_code == 0, shown.output
    assert f"The table is {folder}/discharges.csv" in " ".join(shown.stdout.split())
    assert names_in(folder) == ["discharges.csv", "plan.toml", "release"]
    assert names_in(folder / "release") == ["discharges.csv", "manifest.json", "report.html"]
    assert run("demo", folder, "--quiet").output == ""
    (folder / "plan.toml").write_text("# mine\n")
    assert "plan.toml was changed and is kept" in refused("demo", folder)
    assert (folder / "plan.toml").read_text() == "# mine\n"


def test_the_demonstration_leaves_other_folders_alone(plan, tmp_path):
    before = names_in(tmp_path)
    assert "holds other things" in refused("demo", ".")
    assert "small.csv is a file" in refused("demo", "small.csv")
    (tmp_path / "odd" / "plan.toml").mkdir(parents=True)
    assert "odd/plan.toml cannot be written" in refused("demo", "odd")
    assert names_in(tmp_path) == sorted([*before, "odd"])


def test_the_schema_is_printed_as_json():
    found = json.loads(run("schema").stdout)
    assert found["required"] == ["input", "columns", "steps"]


def test_kernels_can_be_compiled_ahead(monkeypatch):
    from ontomask import warming

    monkeypatch.setattr(warming, "warm", lambda: iter([(0.5, "one"), (1.0, "two")]))
    shown = run("warm")
    assert shown.exit_code == 0
    assert "The kernels are compiled." in shown.stderr
    assert run("warm", "--quiet").output == ""


def test_a_name_cannot_play_tricks_with_the_terminal(tmp_path):
    data = tmp_path / "people.csv"
    data.write_text("age\x1b[2Jx,b\n1,2\n1,3\n5,6\n")
    for arguments in (["risk", str(data), "--quasi", "zz"], ["init", str(data), "--k", "2"]):
        result = CliRunner().invoke(app, arguments)
        assert "\x1b" not in result.output
        assert "age\N{REPLACEMENT CHARACTER}" in result.output


@pytest.mark.parametrize("measured", [True, False])
def test_a_bar_appears_on_a_terminal_when_work_takes_long(measured, monkeypatch):
    monkeypatch.setattr(voice_room, "PATIENCE", 0.05)
    stream = io.StringIO()
    terminal = Console(file=stream, force_terminal=True, width=80)
    voice = voice_room.Voice(err=terminal)
    with voice.progress("protecting", measured=measured) as report:
        report(0.5, "halfway")
        time.sleep(0.4)
    assert "halfway" in stream.getvalue()
    assert ("50%" in stream.getvalue()) == measured


@pytest.mark.parametrize("kernel", [numba.njit(lambda: 1), lambda: 1])
def test_a_bar_knows_when_kernels_are_compiled(kernel, monkeypatch):
    told = []
    monkeypatch.setattr(voice_room._Bar, "compile", lambda _bar, active: told.append(active))
    terminal = Console(file=io.StringIO(), force_terminal=True)
    for _ in range(2):
        with voice_room.Voice(err=terminal).progress("protecting"):
            kernel()
    kernel()
    assert told == ([True, False] if hasattr(kernel, "py_func") else [])


def test_a_bar_says_that_kernels_are_compiled_until_they_are():
    progress = Progress(console=Console(file=io.StringIO()))
    bar = voice_room._Bar(progress, "reading", measured=True)
    described = []
    for act in (
        lambda: bar.compile(True),
        lambda: bar.report(0.25, "clustering"),
        lambda: bar.compile(False),
        lambda: bar.report(0.5, ""),
    ):
        act()
        described.append(progress.tasks[0].description)
    assert described == [NOTICE, NOTICE, "clustering", "reading"]


def test_no_bar_appears_for_quick_work_or_without_a_terminal():
    for terminal in (True, False):
        stream = io.StringIO()
        err = Console(file=stream, force_terminal=terminal, width=80)
        with voice_room.Voice(err=err).progress("protecting") as report:
            report(0.5, "halfway")
        assert stream.getvalue() == ""
