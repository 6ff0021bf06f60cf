"""What a run writes: the files, the columns, the same bytes, the limits, every format."""

import csv
import datetime
import json
import re

import polars as pl
import pytest

import ontomask as om
from ontomask.data.files import read_file
from ontomask.errors import PlanError
from ontomask.plan import Plan
from ontomask.plan.comparing import evaluate_files
from plans import (
    COLUMNS,
    PUBLISHED,
    SMALL,
    STEP,
    names_in,
    people,
    plan_text,
    write_people,
    write_plan,
    write_small,
)
from tables import mixed_columns


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A run of the mixed table."""
    folder = tmp_path_factory.mktemp("run")
    more = '[limits]\nmax_loss = 100\nmax_risk = 50\n[output]\nfolder = "out/release"\n'
    plan = Plan.read(write_plan(folder, more=more))
    return plan, plan.run(internal=True)


def manifest_of(outcome) -> dict:
    return json.loads(outcome.manifest.read_text(encoding="utf-8"))


def test_a_run_writes_its_files_and_no_others(done):
    plan, outcome = done
    assert names_in(outcome.folder) == [
        "manifest.json",
        "people.csv",
        "report-internal.html",
        "report.html",
    ]
    assert outcome.folder == plan.folder / "out" / "release"
    assert names_in(plan.folder) == ["diseases.csv", "out", "people.csv", "plan.toml"]
    assert names_in(plan.folder / "out") == ["release"]


def test_the_table_holds_the_published_columns_and_keeps_k(done):
    _, outcome = done
    with outcome.table.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == PUBLISHED
    assert len(rows) == 61
    classes = [tuple(row[:-1]) for row in rows[1:]]
    assert min(classes.count(one) for one in classes) >= 3
    assert [float(row[-1]) for row in rows[1:]] == mixed_columns()["charge"]
    assert outcome.release.verification.kept


def test_the_manifest_says_first_what_was_promised_and_against_whom(done):
    found = manifest_of(done[1])
    assert list(found)[:5] == ["audience", "verdict", "says", "promised", "uncovered"]
    assert found["verdict"] == "kept, but not covered"
    assert found["uncovered"] == ["charge"]
    assert found["promised"][0]["against"] == (
        "against an intruder who knows diagnosis, age, admitted, severity and sex of a person"
    )


def test_a_report_begins_with_what_the_plan_says_of_the_release(tmp_path):
    about = (
        '[about]\ntitle = "Stays <2025>"\npurpose = "study 5/2026"\nrecipient = "an institute"\n'
        'contact = "office@example.org"\ndate = 2026-11-15\n'
        '[about.decided_by]\n"the roles" = "A. Smith"\n'
    )
    outcome = Plan.read(write_plan(tmp_path, more=about)).run()
    page = outcome.report.read_text(encoding="utf-8")
    head = page.partition("<header>")[2].partition("</header>")[0]
    for said in ("<h1>Stays &lt;2025&gt;</h1>", "study 5/2026", "an institute", "2026-11-15"):
        assert said in head
    assert "A. Smith: the roles" in head
    assert page.count("office@example.org") == 1
    signed = page.partition('class="sign-off"')[2]
    assert "<td>A. Smith</td>" in signed
    assert "the release to an institute" in signed
    assert manifest_of(outcome)["output"]["sha256"] in signed


def test_the_manifest_says_what_is_needed_to_repeat_the_run(done):
    plan, outcome = done
    found = manifest_of(outcome)
    assert found["plan"]["text"] == plan.text
    assert found["seed"] == 7
    assert found["output"]["table"] == "people.csv"
    assert found["output"]["records"] == 60
    assert found["output"]["sha256"] == om.data.files.file_digest(outcome.table)
    assert found["input"]["sha256"] == om.data.files.file_digest(plan.folder / "people.csv")
    assert found["versions"]["ontomask"] == om.__version__
    assert found["steps"][0]["method"] == "microaggregation"
    assert found["steps"][0]["parameters"]["k"] == 3
    assert all(one["kept"] for one in found["guarantee"])
    assert {one["name"]: one["exceeded"] for one in found["limits"]} == {
        "highest risk": False,
        "information loss": False,
    }
    assert str(plan.folder) not in outcome.manifest.read_text(encoding="utf-8")
    assert str(plan.folder) not in outcome.report.read_text(encoding="utf-8")


def test_the_internal_report_is_marked_and_the_public_one_is_not(done):
    _, outcome = done
    marks = [
        "internal" in path.read_text(encoding="utf-8").lower().split("</title>")[0]
        or "must not be published" in path.read_text(encoding="utf-8").lower()
        for path in (outcome.internal, outcome.report)
    ]
    assert marks == [True, False]


def test_the_same_plan_gives_the_same_bytes_elsewhere(done, tmp_path):
    plan, outcome = done
    (tmp_path / "a").mkdir()
    write_people(tmp_path / "a")
    (tmp_path / "a" / "plan.toml").write_text(plan.text, encoding="utf-8")
    again = Plan.read(tmp_path / "a" / "plan.toml").run(internal=True)
    assert again.table.read_bytes() == outcome.table.read_bytes()
    one, two = manifest_of(outcome), manifest_of(again)
    assert one.pop("times").keys() == two.pop("times").keys()
    assert one == two
    assert unmade(outcome.report) == unmade(again.report)
    assert untimed(outcome.internal) == untimed(again.internal)


def unmade(report) -> str:
    """A report without when it was made."""
    text, count = re.subn(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", report.read_text(encoding="utf-8"))
    assert count
    return text


def untimed(report) -> str:
    """An internal report without when it was made and how long that took."""
    return re.sub(r"[\d.]+(?=( ?|&nbsp;|\u202f)(ms|s|seconds)\b)", "", unmade(report))


def test_a_seed_is_drawn_noted_and_gives_the_same_table_again(tmp_path):
    text = SMALL.replace("seed = 3\n", "").replace("microaggregation", "rank-swapping")
    write_small(tmp_path)
    plan = Plan.parse(text, folder=tmp_path)
    first = plan.run()
    seed = manifest_of(first)["seed"]
    assert isinstance(seed, int)
    kept = first.table.read_bytes()
    assert plan.with_seed(seed).run(force=True).table.read_bytes() == kept
    other = plan.run(force=True)
    assert manifest_of(other)["seed"] != seed
    assert plan.with_seed(seed + 1).run(force=True).table.read_bytes() != kept


def test_shuffling_changes_the_order_only(tmp_path):
    write_small(tmp_path, '[output]\nfolder = "a"\n', "a.toml")
    write_small(tmp_path, '[output]\nfolder = "b"\nshuffle = true\n', "b.toml")
    kept = Plan.read(tmp_path / "a.toml").run().table.read_text().splitlines()
    plan = Plan.read(tmp_path / "b.toml")
    shuffled = plan.run().table.read_text().splitlines()
    assert shuffled[0] == kept[0]
    assert shuffled != kept
    assert sorted(shuffled) == sorted(kept)
    assert plan.run(force=True).table.read_text().splitlines() == shuffled


def test_formulas_are_escaped_only_where_that_is_wanted(tmp_path):
    rows = "".join(f"{number % 5},{'=1+1' if number % 2 else '-x'}\n" for number in range(20))
    (tmp_path / "small.csv").write_text(f"=age,job\n{rows}", encoding="utf-8")
    text = SMALL.replace('[columns.name]\nkind = "identifier"\n', "")
    text = text.replace("[columns.age]", '[columns."=age"]')
    plain = Plan.parse(f'{text}[output]\nfolder = "a"\n', folder=tmp_path).run()
    assert plain.table.read_text().startswith("=age,job\n")
    assert ",=1+1\n" in plain.table.read_text()
    more = '[output]\nfolder = "b"\nescape_formulas = true\n'
    escaped = Plan.parse(text + more, folder=tmp_path).run()
    assert escaped.table.read_text().startswith("'=age,job\n")
    assert ",'=1+1\n" in escaped.table.read_text()
    assert ",=" not in escaped.table.read_text()


def test_limits_are_told_and_the_files_are_there(tmp_path):
    plan = Plan.read(write_small(tmp_path, "[limits]\nmax_risk = 1\nmax_suppressed = 0\n"))
    outcome = plan.run()
    assert [one.name for one in outcome.exceeded] == ["highest risk"]
    assert outcome.table.exists()
    assert "highest risk" in outcome.report.read_text(encoding="utf-8").lower()
    assert [one["exceeded"] for one in manifest_of(outcome)["limits"]] == [True, False]


def test_few_records_left_out_are_not_counted_in_public(tmp_path):
    write_small(tmp_path)
    with (tmp_path / "small.csv").open("a") as stream:
        stream.write("n24,,j0\n")
    text = SMALL.replace('"numeric"', '"numeric"\nmissing = "suppress"')
    outcome = Plan.parse(text + "[limits]\nmax_suppressed = 50\n", folder=tmp_path).run()
    report = outcome.report.read_text(encoding="utf-8")
    assert outcome.limits[0].measured == 0.04
    assert "suppressed records</th><td>fewer than 3</td>" in report
    assert "<td>4%" not in report


@pytest.mark.parametrize("step", ["noise", "microaggregation"])
def test_records_are_counted_whatever_they_weigh_and_whoever_knows_them(tmp_path, step):
    write_typed(tmp_path / "in.csv")
    columns = TYPED.split("[[steps]]")[0]
    if step == "noise":
        columns = columns.replace('"numeric"\n[', '"numeric"\nrole = "other"\n[')
        columns = columns.replace('kind = "date"', 'kind = "date"\nrole = "other"')
        columns = columns.replace('kind = "flat"', 'kind = "flat"\nrole = "other"')
    more = 'columns = ["age"]' if step == "noise" else "k = 3"
    text = f'[input]\npath = "in.csv"\n{columns}[[steps]]\nmethod = "{step}"\n{more}\n'
    outcome = Plan.parse(text, folder=tmp_path).run()
    assert bool(outcome.release.schema.quasi) == (step != "noise")
    assert manifest_of(outcome)["output"]["records"] == 30
    assert ", 30 records, " in repr(outcome.release)


def test_a_target_is_judged(tmp_path):
    pytest.importorskip("sklearn")
    columns = COLUMNS.replace('kind = "flat"', 'kind = "flat"\nrole = "other"')
    more = '[evaluation]\ntarget = "sex"\nfeatures = ["age", "charge"]\nfolds = 2\n'
    outcome = Plan.read(write_plan(tmp_path, columns=columns, more=more)).run()
    assert outcome.classification is not None
    assert manifest_of(outcome)["classification"] is not None
    with pytest.raises(PlanError, match=r"line 27, .* a column with the role quasi"):
        Plan.read(write_plan(tmp_path, more=more))


def test_generalization_from_a_plan(tmp_path):
    step = """
[[steps]]
method = "generalization"
suppression_limit = 0.5
[[steps.privacy]]
model = "k-anonymity"
k = 3
[steps.hierarchies]
age = "ages.csv"
sex = [["f", "*"], ["m", "*"]]
"""
    columns = "".join(
        f"[columns.{one}]{COLUMNS.split(f'[columns.{one}]')[1].split('[columns')[0]}"
        for one in ("diagnosis", "age", "sex", "charge")
    )
    plan = write_plan(tmp_path, columns=columns, step=step)
    rows = "".join(f"{age},{age // 10}0s,*\n" for age in range(20, 60))
    (tmp_path / "ages.csv").write_text(rows, encoding="utf-8")
    outcome = Plan.read(plan).run()
    steps = manifest_of(outcome)["steps"]
    assert steps[0]["parameters"]["hierarchies"]["age"] == "ages.csv"
    assert outcome.release.levels is not None


# Formats --------------------------------------------------------------------------------------


def typed(count: int = 30) -> pl.DataFrame:
    day = datetime.date(2024, 1, 1)
    return pl.DataFrame(
        {
            "age": [20 + number % 7 for number in range(count)],
            "seen": [day + datetime.timedelta(days=number % 11) for number in range(count)],
            "code": [f"0{number % 3}0" for number in range(count)],
            "income": [None if number % 10 == 4 else number * 1.5 for number in range(count)],
            "people": [1 + number % 2 for number in range(count)],
        }
    )


TYPED = """
[columns.age]
kind = "numeric"
[columns.seen]
kind = "date"
[columns.code]
kind = "flat"
[columns.income]
kind = "numeric"
role = "other"
[columns.people]
kind = "count"
[[steps]]
method = "microaggregation"
k = 3
"""
SUFFIXES = ["csv", "csv.gz", "tsv", "parquet", "xlsx", "sav", "dta"]


def write_typed(path) -> None:
    om.files.write_file(typed(), path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_in_and_every_format_out(tmp_path, suffix):
    """The released values do not depend on how they are kept."""
    write_typed(tmp_path / f"in.{suffix}")
    text = f'seed = 1\n[input]\npath = "in.{suffix}"\n{TYPED}'
    tables = {}
    for number, other in enumerate([suffix, *SUFFIXES[-4:]]):
        output = f'[output]\nfolder = "out{number}"\ntable = "out.{other}"\n'
        outcome = Plan.parse(text + output, folder=tmp_path).run()
        back = read_file(
            outcome.table, kinds={"age": "numeric", "code": "flat", "income": "numeric"}
        ).frame
        assert back.columns == ["age", "seen", "code", "income", "people"]
        assert back["income"].to_list() == typed()["income"].to_list()
        assert set(back["code"].to_list()) <= {"000", "010", "020"}
        assert back["people"].cast(pl.Int64).to_list() == typed()["people"].to_list()
        counted = back.with_columns(pl.col("people").cast(pl.Int64))
        sizes = counted.group_by("age", "seen", "code").agg(pl.col("people").sum())
        assert sizes["people"].min() >= 3
        tables[other] = [[str(value)[:10] for value in row] for row in back.rows()]
    first = tables[suffix]
    assert all(table == first for table in tables.values())


def test_truth_values_of_parquet_are_told_apart(tmp_path):
    frame = pl.DataFrame(
        {"age": [20 + n % 4 for n in range(16)], "ill": [True, None, False, True] * 4}
    )
    frame.write_parquet(tmp_path / "in.parquet")
    text = (
        'seed = 1\n[input]\npath = "in.parquet"\n[columns.age]\nkind = "numeric"\n'
        '[columns.ill]\nkind = "flat"\nrole = "sensitive"\n' + STEP
    )
    same = Plan.parse(f'{text}[output]\nfolder = "a"\n', folder=tmp_path).run()
    assert pl.read_parquet(same.table)["ill"].to_list() == frame["ill"].to_list()
    more = '[output]\nfolder = "b"\ntable = "out.csv"\n'
    texts = Plan.parse(text + more, folder=tmp_path).run().table.read_text().splitlines()
    assert [line.split(",")[1] for line in texts[1:4]] == ["true", "", "false"]


def test_masked_numbers_may_have_become_intervals(tmp_path):
    plan = Plan.read(write_small(tmp_path))
    table = plan.run().table
    lines = table.read_text().splitlines()
    masked = tmp_path / "masked.csv"
    masked.write_text(
        "\n".join(["age,job", *("[20; 30[," + one.split(",")[1] for one in lines[1:])])
    )
    found = evaluate_files(plan, tmp_path / "small.csv", masked).evaluation
    assert 0 < found.loss.loss < 10
    masked.write_text("\n".join(["age", *(one.split(",")[0] for one in lines[1:])]) + "\n")
    assert evaluate_files(plan, tmp_path / "small.csv", masked).evaluation.loss.loss < 1


def test_an_odd_dialect_is_kept_and_latin_becomes_utf8(tmp_path):
    rows = "".join(f"{number % 4},5;M\xfcller {number % 2}\n" for number in range(16))
    (tmp_path / "in.csv").write_bytes(f"wert;name\n{rows}".encode("latin-1"))
    text = (
        'seed = 1\n[input]\npath = "in.csv"\nencoding = "latin-1"\ndecimal = ","\n'
        '[columns.wert]\nkind = "numeric"\n[columns.name]\nkind = "flat"\nrole = "other"\n' + STEP
    )
    plan = Plan.parse(text, folder=tmp_path)
    outcome = plan.run()
    lines = outcome.table.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "wert;name"
    assert lines[1].endswith(";M\xfcller 0")
    assert re.fullmatch(r"\d+(,\d+)?;M\xfcller \d", lines[1])
    found = evaluate_files(plan, tmp_path / "in.csv", outcome.table)
    assert found.evaluation.loss.loss == pytest.approx(outcome.evaluation.loss.loss)


# Checking -------------------------------------------------------------------------------------


def test_a_check_looks_at_every_column_and_writes_nothing(tmp_path):
    plan = Plan.read(write_plan(tmp_path))
    before = names_in(tmp_path)
    found = plan.check()
    assert found.records == 60
    assert [one.name for one in found.columns] == ["patient", *PUBLISHED]
    by_name = {one.name: one for one in found.columns}
    assert by_name["diagnosis"].mapped.startswith("diseases: 7 of 7 values mapped")
    assert by_name["sex"].missing == people()["sex"].null_count()
    assert found.risk is not None
    assert names_in(tmp_path) == before


def test_a_check_tells_all_that_does_not_fit(tmp_path):
    write_people(tmp_path)
    text = plan_text().replace("[columns.sex]", "[columns.gender]").replace("k = 3", "k = 99")
    text = text.replace(
        '[columns.severity]\nkind = "ordinal"\norder = ["mild", "moderate", "severe"]',
        '[columns.severity]\nkind = "numeric"',
    )
    with pytest.raises(PlanError) as caught:
        Plan.parse(text, folder=tmp_path).check()
    first, second = (str(one) for one in caught.value.problems)
    assert first.startswith("line 14, [columns.severity]: Column 'severity' is to hold numbers")
    assert second.startswith("line 16, [columns.gender]: the table has no column 'gender'. It has ")


def test_a_check_tells_values_and_classes_that_do_not_fit(tmp_path):
    write_people(tmp_path)
    text = plan_text().replace("k = 3", "k = 99").replace('"moderate", ', "")
    text = text.replace('"diseases.csv"', '"diseases.csv"\nmapping = { flu = "nothing" }')
    with pytest.raises(PlanError) as caught:
        Plan.parse(text, folder=tmp_path).check()
    mapping, order, step = (str(one) for one in caught.value.problems)
    assert mapping.startswith("line 7, [columns.diagnosis]: mapping: 1 concept is not in the")
    assert order.startswith("line 15, [columns.severity]: ")
    assert step == "line 24, step 1: k is 99, but the table has only 60 records."


def test_a_check_counts_records_as_often_as_a_column_says(tmp_path):
    write_typed(tmp_path / "in.csv")
    text = f'[input]\npath = "in.csv"\n{TYPED}'.replace('"weight"', '"count"')
    for k, fits in ((31, True), (45, True), (46, False)):
        plan = Plan.parse(text.replace("k = 3", f"k = {k}"), folder=tmp_path)
        if fits:
            assert plan.check().records == 30
            continue
        with pytest.raises(PlanError, match="k is 46, but the table has only 45 records"):
            plan.check()


def test_a_check_looks_at_the_k_of_privacy_models_too(tmp_path):
    write_people(tmp_path)
    builders = (
        "age = { intervals = [10] }\nadmitted = { dates = ['year'] }\nseverity = { order = 2 }\n"
        "sex = { star = true }\n"
    )
    model = (
        '[[steps]]\nmethod = "generalization"\n[steps.hierarchies]\n'
        + builders.replace("{", "{{").replace("}", "}}")
        + '[[steps.privacy]]\nmodel = "{}"\nk = 61\n'
    )
    plan = Plan.parse(plan_text(step=model.format("k-anonymity")), folder=tmp_path)
    with pytest.raises(PlanError, match="step 1: k is 61, but the table has only 60 records"):
        plan.check()
    Plan.parse(plan_text(step=model.format("k-map")), folder=tmp_path).check()


# Secrets --------------------------------------------------------------------------------------

CANARY = {"patient": "Zebulon Quagmire", "diagnosis": "skin cancer", "charge": 987654.32}


def test_nothing_rare_or_secret_leaks(tmp_path, monkeypatch):
    columns = mixed_columns()
    columns["diagnosis"] = [
        "flu" if one == CANARY["diagnosis"] else one for one in columns["diagnosis"]
    ]
    for name, value in CANARY.items():
        columns[name][5] = value
    write_people(tmp_path)
    pl.DataFrame(columns).write_csv(tmp_path / "people.csv")
    monkeypatch.setenv("HOUSE_KEY", "the key of the house")
    steps = STEP + '[[steps]]\nmethod = "noise"\ncolumns = ["charge"]\n'
    steps += '[[steps]]\nmethod = "pseudonyms"\ncolumns = ["patient"]\nkey_variable = "HOUSE_KEY"\n'
    more = '# Zebulon Quagmire is known\n[output]\nfolder = "release"\n'
    plan = Plan.parse(plan_text(seed=918273645, step=steps, more=more), folder=tmp_path)
    outcome = plan.run()
    report = outcome.report.read_text(encoding="utf-8")
    assert "918273645" not in report
    manifest = outcome.manifest.read_text(encoding="utf-8").replace(
        "# Zebulon Quagmire is known", ""
    )
    released = outcome.table.read_text(encoding="utf-8")
    for text in (report, manifest, released):
        assert "the key of the house" not in text
        for secret in ("Zebulon", "Quagmire", "987654", "987,654", CANARY["diagnosis"]):
            assert secret not in text
    assert "Zebulon" not in " ".join(names_in(outcome.folder))


def test_values_are_not_told_in_refusals(tmp_path):
    columns = mixed_columns()
    columns["age"] = [str(one) for one in columns["age"]]
    columns["age"][5] = "ninety-three"
    write_people(tmp_path)
    pl.DataFrame(columns).write_csv(tmp_path / "people.csv")
    plan = Plan.parse(plan_text(), folder=tmp_path)
    for act in (plan.check, plan.run):
        with pytest.raises(om.errors.OntomaskError) as caught:
            act()
        assert "'age'" in str(caught.value)
        assert "ninety" not in str(caught.value)


def test_check_points_at_values_that_were_found_by_their_stem(tmp_path):
    (tmp_path / "people.csv").write_text("job\nretired\nnurse\nretired\nnurse\n")
    text = """[input]
path = "people.csv"
[columns.job]
kind = "nominal"
taxonomy = "wordnet"
[[steps]]
method = "microaggregation"
k = 2
"""
    (column,) = Plan.parse(text, folder=tmp_path).check().columns
    assert column.mapped.endswith("; 1 by the stem of a word, please look at them")


def test_a_plan_and_its_outcome_say_what_they_are(tmp_path):
    (tmp_path / "people.csv").write_text("age\n1\n2\n8\n9\n")
    text = """[input]
path = "people.csv"
[columns.age]
kind = "numeric"
[[steps]]
method = "microaggregation"
k = 2
"""
    plan = Plan.parse(text, folder=tmp_path)
    assert repr(plan).startswith("Plan(plan.toml: 1 columns, microaggregation, to ")
    assert "smallest class 2" in repr(plan.run())


MESSY = """seed = 1
[input]
path = "in.{suffix}"
header = 3
skip = [4, -1]
missing_in = {{ age = ["999"] }}
read_as = {{ age = {{ "90+" = 90 }} }}
[columns.age]
kind = "numeric"
[columns.job]
kind = "flat"
role = "sensitive"
[[steps]]
method = "recoding"
k = 3
"""


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_what_is_odd_in_a_table_is_said_once_and_not_in_the_release(tmp_path, suffix):
    ages = [["90+", "a"] if n % 5 == 0 else [str(20 + n % 3), "b"] for n in range(30)]
    rows = [["Title", ""], ["", ""], ["age", "job"], ["(years)", ""], *ages, ["999", "c"]]
    rows += [["1234", ""]]
    path = tmp_path / f"in.{suffix}"
    if suffix == "csv":
        path.write_text("".join(",".join(row) + "\n" for row in rows))
    else:
        om.files.write_file(pl.DataFrame(rows[1:], schema=["Title", "-"], orient="row"), path)
    outcome = Plan.parse(MESSY.format(suffix=suffix), folder=tmp_path).run()
    released = om.files.read_file(outcome.table).frame
    assert released.columns == ["age", "job"]
    assert len(released) == 31
    assert released["age"].max() <= 90
