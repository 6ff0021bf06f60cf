"""Plans on DuckDB: the same release as in memory, in place as a whole or not at all."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.engines import files
from ontomask.errors import DataError, MethodError, OntomaskError, OutputError, PlanError

pytest.importorskip("duckdb")

PLAN = """
seed = 1
[input]
path = "{path}"
[engine]
{engine}
[output]
table = "{table}"
{output}
[columns.id]
kind = "identifier"
[columns.age]
kind = "numeric"
[columns.sex]
kind = "flat"
[columns.code]
kind = "flat"
[columns.cost]
kind = "numeric"
role = "other"
[[steps]]
method = "{method}"
k = 4
"""


def people(count=300, seed=1):
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.arange(count),
            "age": draw.integers(20, 40, count),
            "sex": pl.Series(draw.choice(["m", "f", ""], count)).replace("", None),
            "code": draw.choice(["007", "07", "7"], count),
            "cost": draw.normal(100, 20, count).round(2),
            "left": "not declared",
        }
    )


def plan(folder, **changes):
    said = {
        "path": "in.parquet",
        "engine": 'name = "duckdb"\nthreads = 2\nmemory = "500MB"',
        "table": "out.parquet",
        "output": "",
        "method": "suppression",
    }
    text = PLAN.format(**{**said, **changes})
    return om.Plan.parse(text, folder=folder)


def in_order(frame):
    return frame.sort(frame.columns, nulls_last=True)


@pytest.fixture
def folder(tmp_path):
    people().write_parquet(tmp_path / "in.parquet")
    people().write_csv(tmp_path / "in.csv")
    (tmp_path / "parts").mkdir()
    for part in range(3):
        people()[part * 100 : part * 100 + 100].write_parquet(
            tmp_path / "parts" / f"{part}.parquet"
        )
    return tmp_path


READ = {".parquet": pl.read_parquet, ".csv": lambda path: pl.read_csv(path, infer_schema=False)}


@pytest.mark.parametrize("path", ["in.parquet", "in.csv", "parts", "parts/*.parquet"])
@pytest.mark.parametrize("suffix", READ)
def test_a_plan_gives_the_release_of_memory(folder, path, suffix):
    found = plan(folder, path=path, table=f"out{suffix}").run()
    known = "in.csv" if path == "in.csv" else "in.parquet"
    plain = plan(folder, path=known, engine='name = "memory"', table=f"out{suffix}").run(force=True)
    large = in_order(READ[suffix](found.table))
    memory = in_order(READ[suffix](plain.table)) if suffix == ".csv" else None
    assert large.columns == ["age", "sex", "code", "cost"]
    if memory is not None:
        assert large.equals(memory)
    assert set(large["code"]) <= {"007", "07", "7"}
    assert found.evaluation.loss.loss == pytest.approx(plain.evaluation.loss.loss)


def test_the_manifest_says_what_was_recounted_and_anyone_can_recount_it(folder):
    outcome = plan(folder).run()
    manifest = json.loads(outcome.manifest.read_text())
    assert manifest["input"]["records"] == 300
    assert manifest["output"]["records"] == pl.read_parquet(outcome.table).height < 300
    assert [one["promise"]["type"] for one in manifest["guarantee"]] == [
        "Published",
        "Records",
        "Unchanged",
        "ClassSize",
    ]
    assert outcome.report.is_file()
    assert outcome.evaluation.unchanged.columns == ("cost",)
    alone = pl.read_parquet(outcome.table)["cost"].is_unique().mean()
    assert outcome.evaluation.unchanged.alone == pytest.approx(alone)
    from ontomask.plan.recounting import recount_folder

    assert recount_folder(outcome.folder).verification.kept


def test_the_same_for_every_number_of_threads(folder):
    tables = []
    for threads in (1, 2):
        engine = f'name = "duckdb"\nthreads = {threads}'
        outcome = plan(folder, engine=engine, method="microaggregation").run(force=True)
        tables.append(in_order(pl.read_parquet(outcome.table)))
    assert tables[0].equals(tables[1])


def test_shuffled_records_are_the_same_records(folder):
    plain = pl.read_parquet(plan(folder).run().table)
    shuffled = pl.read_parquet(plan(folder, output="shuffle = true").run(force=True).table)
    assert not shuffled.equals(plain)
    assert in_order(shuffled).equals(in_order(plain))


def test_a_table_too_large_for_memory_goes_to_duckdb_with_a_note(folder, monkeypatch):
    monkeypatch.setitem(files.UNPACKED, "parquet", 10**12)
    outcome = plan(folder, engine="").run()
    assert any("too large for memory" in note for note in outcome.notes)
    assert type(outcome.release).__name__ == "LargeRelease"
    monkeypatch.setitem(files.UNPACKED, "parquet", 0)
    assert type(plan(folder, engine="").run(force=True).release).__name__ == "Release"


def test_what_does_not_suit_stays_in_memory_unless_duckdb_is_asked_for(folder, monkeypatch):
    monkeypatch.setitem(files.UNPACKED, "parquet", 10**12)
    unsuited = plan(folder, engine="", method="local-suppression")
    assert type(unsuited.run().release).__name__ == "Release"
    with pytest.raises(MethodError, match="use suppression"):
        plan(folder, method="local-suppression").run(force=True)


MISTAKES = {
    "not there": ({"path": "none.parquet"}, DataError, "no table none.parquet"),
    "a workbook": ({"table": "out.xlsx"}, OutputError, r"writes .parquet and .csv"),
    "formulas": ({"output": "escape_formulas = true"}, DataError, "escape_formulas"),
    "no numbers": ({"path": "bad.csv"}, DataError, "'age' .* other texts in 1 records"),
    "several files": ({"path": "parts/*.parquet", "table": "a*.parquet"}, OntomaskError, "table"),
    "no Parquet file": ({"path": "broken.parquet"}, OntomaskError, "DuckDB cannot"),
}


@pytest.mark.parametrize(("changes", "kind", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_answered_and_nothing_is_in_place(folder, changes, kind, sentence):
    bad = people().with_columns(age=pl.col("age").cast(pl.String))
    bad[0, "age"] = "secret"
    bad.write_csv(folder / "bad.csv")
    (folder / "broken.parquet").write_text("no Parquet")
    with pytest.raises(kind, match=sentence) as raised:
        plan(folder, **changes).run()
    assert "secret" not in str(raised.value)
    assert not list(folder.glob("*release*"))
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("engine", ['name = "spark"', 'memory = "much"', "threads = 0"])
def test_mistakes_in_the_section_are_found_when_the_plan_is_read(folder, engine):
    with pytest.raises(PlanError, match=rf"\[engine\].*{engine.partition(' ')[0]}.* must be"):
        plan(folder, engine=engine)


def test_a_run_that_is_killed_leaves_nothing_in_place(folder):
    code = """
import sys, time
import ontomask as om
from ontomask.engines import release
recounted = release.recounted
release.recounted = lambda *given: (print("written", flush=True), time.sleep(60))
om.Plan.read(sys.argv[1]).run()
"""
    path = folder / "plan.toml"
    path.write_text(plan(folder).text)
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "written\n"
        process.kill()
    assert not (folder / "plan-release").exists()
    outcome = om.Plan.read(path).run()
    assert sorted(one.name for one in folder.glob("*release*")) == [outcome.folder.name]
    assert not list(folder.glob(".plan-release*"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("table", ["out.parquet", "out.csv"])
def test_a_full_disk_is_said_in_a_sentence(folder, table, monkeypatch):
    def full(relation, path, how, **more):
        path.symlink_to("/dev/full")
        files.write(relation, path, how, **more)

    monkeypatch.setattr("ontomask.plan.large.write", full)
    with pytest.raises(OutputError, match="The disk is full"):
        plan(folder, table=table).run()
    assert not list(folder.glob("*release*"))
    assert not list(folder.glob(".*release*"))


def test_too_little_memory_is_said_in_a_sentence(folder):
    with pytest.raises(DataError, match="needs more memory"):
        plan(folder, engine='name = "duckdb"\nmemory = "1KB"').run()
    assert not list(folder.glob("*release*"))


LATER = {
    "fewer": (lambda: people()[:200], "rows instead of"),
    "other combinations": (
        lambda: people().with_columns(age=pl.col("age").shift(1, fill_value=20)),
        "rows instead of|other combinations",
    ),
    "other values": (
        lambda: people().with_columns(cost=pl.col("cost").reverse()),
        "other values beside them",
    ),
    "no column": (lambda: people().drop("cost"), "DuckDB cannot"),
    "no table": (None, "DuckDB cannot"),
}


@pytest.mark.parametrize(("later", "sentence"), LATER.values(), ids=LATER)
def test_a_table_that_changes_while_it_is_worked_with_is_not_released(
    folder, later, sentence, monkeypatch
):
    def too_late(*given, **more):
        (folder / "in.parquet").unlink()
        if later is not None:
            later().write_parquet(folder / "in.parquet")
        files.write(*given, **more)

    monkeypatch.setattr("ontomask.plan.large.write", too_late)
    with pytest.raises(OntomaskError, match=sentence):
        plan(folder).run()
    assert not list(folder.glob("*release*"))
