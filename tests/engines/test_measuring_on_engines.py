"""Risk, check, init and paths on tables of any size say what memory says."""

import re

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import ontomask as om
from ontomask.cli import app
from ontomask.engines import files
from ontomask.errors import DataError, PlanError
from tables import DISEASES

duckdb = pytest.importorskip("duckdb")

PLAN = """
seed = 1
[input]
path = "{path}"
[engine]
name = "{engine}"
[output]
table = "out.parquet"
[columns.age]
kind = "numeric"
[columns.sex]
kind = "flat"
[columns.cost]
kind = "{kind}"
role = "other"
[columns.number]
kind = "count"
[columns.ward]
kind = "flat"
role = "sensitive"
[[steps]]
{step}
"""
STEP = 'method = "suppression"\nk = {k}'
GENERALIZED = """method = "generalization"
privacy = [{{ model = "k-anonymity", k = 3 }}, {{ model = "l-diversity", l = 2 }}]
[steps.hierarchies]
age = {{ intervals = [5, 10] }}
{more}"""
SCHEMA = om.Schema(age=om.Numeric(), sex=om.Flat(), ward=om.Flat("sensitive"), number=om.Count())


def people(count=500):
    draw = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 60, count),
            "sex": pl.Series(draw.choice(["m", "f", ""], count)).replace("", None),
            "cost": draw.integers(0, 200, count),
            "number": draw.integers(1, 3, count),
            "ward": draw.choice(["a", "b", "c"], count),
        }
    )


@pytest.fixture
def folder(tmp_path):
    people().write_parquet(tmp_path / "in.parquet")
    people().write_csv(tmp_path / "in.csv")
    (tmp_path / "parts").mkdir()
    people()[:300].write_parquet(tmp_path / "parts" / "0.parquet")
    people()[300:].write_parquet(tmp_path / "parts" / "1.parquet")
    return tmp_path


@pytest.fixture
def everything_is_large(monkeypatch):
    for kind in files.UNPACKED:
        monkeypatch.setitem(files.UNPACKED, kind, 10**12)


def plan(folder, **changes):
    said = {"path": "in.parquet", "engine": "duckdb", "kind": "numeric", "step": STEP.format(k=3)}
    return om.Plan.parse(PLAN.format(**{**said, **changes}), folder=folder)


def test_risk_is_that_of_the_records(engine, folder):
    large = engine.open(folder / "parts")
    found = om.file_risk(large, SCHEMA, fraction=0.1)
    known = om.file_risk(people(), SCHEMA, fraction=0.1)
    assert found.structure == known.structure
    assert found.sensitive == known.sensitive
    assert found.population == known.population
    assert om.measuring.minimal_unique_sets(large, SCHEMA) == om.measuring.minimal_unique_sets(
        people(), SCHEMA
    )


def test_risk_of_persons_needs_the_records():
    schema = om.Schema(age=om.Numeric(), number=om.Identifier(unit=True))
    with pytest.raises(DataError, match="'number' says whose each record is"):
        om.file_risk(people().lazy(), schema)


def test_check_says_what_it_says_in_memory(folder):
    large, memory = (plan(folder, engine=one).check() for one in ("duckdb", "memory"))
    assert large.records == memory.records
    assert large.unchanged == memory.unchanged
    assert large.risk.structure == memory.risk.structure
    for one, other in zip(large.columns, memory.columns, strict=True):
        told = (one.name, one.kind, one.role, one.distinct, one.missing, one.mapped)
        assert told == (
            *(other.name, other.kind, other.role),
            *(other.distinct, other.missing, other.mapped),
        )


WRONG = {
    "no dates": ({"kind": "date"}, "cost"),
    "k too large": ({"step": STEP.format(k=10**6)}, "only 7[0-9]{2} records"),
    "a short hierarchy": (
        {"step": GENERALIZED.format(more='sex = [["m", "*"]]')},
        "sex",
    ),
}


@pytest.mark.parametrize(("changes", "sentence"), WRONG.values(), ids=WRONG)
def test_check_finds_what_it_finds_in_memory(folder, changes, sentence):
    said = []
    for engine in ("duckdb", "memory"):
        with pytest.raises(PlanError, match=sentence) as raised:
            plan(folder, engine=engine, **changes).check()
        said.append(re.sub(r" \([^()]*records? \d[^()]*\)", "", str(raised.value)))
    assert said[0] == said[1]


def test_check_names_the_columns_that_are_not_there(folder):
    people().drop("cost").write_parquet(folder / "less.parquet")
    with pytest.raises(PlanError, match="'cost'"):
        plan(folder, path="less.parquet").check()


def test_check_counts_what_a_taxonomy_knows(folder):
    frame = people().with_columns(ward=pl.Series(["flu", "cold"] * 250))
    frame.write_parquet(folder / "ill.parquet")
    path = folder / "diseases.csv"
    DISEASES.save(path)
    told = []
    for engine in ("duckdb", "memory"):
        text = plan(folder, path="ill.parquet", engine=engine).text
        text = text.replace(
            '[columns.ward]\nkind = "flat"',
            '[columns.ward]\nkind = "nominal"\ntaxonomy = "diseases.csv"',
        )
        told.append(om.Plan.parse(text, folder=folder).check().columns[-1].mapped)
    assert told[0] == told[1] != ""


@pytest.mark.parametrize("path", ["in.parquet", "in.csv", "parts"])
def test_commands_work_on_large_tables(folder, path, monkeypatch, everything_is_large):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(files, "SAMPLE", 200)
    done = CliRunner().invoke(app, ["init", path, "-o", "made.toml"])
    assert done.exit_code == 0, done.output
    assert "Guessed from 200 records, drawn from 500." in (folder / "made.toml").read_text()
    done = CliRunner().invoke(app, ["risk", path, "--quasi", "age,sex", "--json"])
    assert done.exit_code == 0, done.output
    assert f'"people": {len(people())}' in done.output


def test_a_path_is_opened_as_its_size_asks_for(folder, monkeypatch):
    step = om.Suppression(3)
    small = om.protect(folder / "in.csv", SCHEMA, step, seed=1)
    assert isinstance(small.frame, pl.DataFrame)
    several = om.protect(str(folder / "parts"), SCHEMA, step, seed=1)
    found = pl.from_arrow(several.frame.to_arrow_table())
    assert found.sort(found.columns).equals(small.frame.select(found.columns).sort(found.columns))


def test_folders_named_by_values_are_columns(tmp_path):
    frame = people().drop("number")
    for (ward,), part in frame.group_by("ward"):
        folder = tmp_path / "visits" / f"ward={ward}"
        folder.mkdir(parents=True)
        part.drop("ward").write_parquet(folder / "part.parquet")
    schema = om.Schema(age=om.Numeric(), sex=om.Flat(), ward=om.Flat("sensitive"))
    release = om.protect(tmp_path / "visits", schema, om.Suppression(3), seed=1)
    found = pl.from_arrow(release.frame.to_arrow_table())
    known = om.protect(frame, schema, om.Suppression(3), seed=1).frame.select(found.columns)
    assert found.sort(found.columns).equals(known.sort(found.columns))


def test_folders_and_patterns_go_to_duckdb_by_themselves(folder):
    outcome = plan(folder, path="parts/*.parquet", engine="automatic").run()
    assert type(outcome.release).__name__ == "LargeRelease"
