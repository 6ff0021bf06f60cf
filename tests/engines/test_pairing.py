"""Two large files are compared record by record, by DuckDB: the figures are those of memory."""

import polars as pl
import pytest
from test_measuring_on_engines import GENERALIZED, PLAN, STEP, people
from typer.testing import CliRunner

import ontomask as om
from ontomask.cli import app
from ontomask.engines import files
from ontomask.errors import DataError, ParameterError
from ontomask.plan.comparing import evaluate_files

pytest.importorskip("duckdb")

MORE = '\n[evaluation]\ncolumns = ["age", "sex", "cost"]\n'
HIERARCHIES = {
    "age": om.knowledge.interval_hierarchy(range(20, 60), (5, 10)),
    "sex": om.Hierarchy.from_rows([["m", "*"], ["f", "*"]]),
}
SCHEMA = om.Schema(
    age=om.Numeric(), sex=om.Flat(), cost=om.Numeric("other"), number=om.Count(), ward=om.Flat()
)


def plan(folder, suffix, step="", more=MORE):
    step = step or STEP.format(k=3)
    said = {"path": f"in.{suffix}", "engine": "memory", "kind": "numeric", "step": step}
    return om.Plan.parse(PLAN.format(**said) + more, folder=folder)


def written(frame, folder, name):
    for suffix, write in (("csv", frame.write_csv), ("parquet", frame.write_parquet)):
        write(folder / f"{name}.{suffix}")


@pytest.fixture
def folder(tmp_path):
    written(people().with_row_index("id"), tmp_path, "in")
    return tmp_path


def measured(plan, folder, name, suffix, key=None):
    found = evaluate_files(plan, folder / f"in.{suffix}", folder / f"{name}.{suffix}", key)
    assert found.report().startswith("<!doctype html>")
    assert found.account.records > 0
    rows = {(row.section, row.figure): row.value for row in found.evaluation.rows()}
    return rows, found.evaluation


def large(monkeypatch):
    for kind in files.UNPACKED:
        monkeypatch.setitem(files.UNPACKED, kind, 10**12)


MASKED = {
    "microaggregation": (om.Microaggregation(5), "parquet"),
    "generalization": (
        om.Generalization([om.privacy.KAnonymity(3)], hierarchies=HIERARCHIES),
        "csv",
    ),
    "pram": (om.Pram(columns=("sex",)), "csv"),
}


@pytest.mark.parametrize(("step", "suffix"), MASKED.values(), ids=MASKED)
def test_figures_of_large_files_are_those_of_memory(folder, step, suffix, monkeypatch):
    release = om.protect(people(), SCHEMA.replace(ward=om.Flat("sensitive")), step, seed=1)
    written(release.frame, folder, "out")
    said = GENERALIZED.format(more='sex = [["m", "*"], ["f", "*"]]')
    asked = plan(folder, suffix, said if isinstance(step, om.Generalization) else "")
    known, whole = measured(asked, folder, "out", suffix)
    large(monkeypatch)
    found, pairs = measured(asked, folder, "out", suffix)
    assert len(found) > 20
    for row, value in found.items():
        same = pytest.approx(known[row]) if isinstance(value, float) else known[row]
        assert value == same, row
    assert pairs.unchanged == whole.unchanged
    assert pairs.risk_after == whole.risk_after


def test_a_key_tells_which_records_correspond(folder):
    frame = people().with_row_index("id")
    schema = om.Schema.of({**SCHEMA.replace(ward=om.Flat("sensitive")), "id": om.Numeric("other")})
    release = om.protect(frame, schema, om.Suppression(6), seed=1)
    written(release.frame.sample(fraction=1.0, shuffle=True, seed=3), folder, "out")
    known = release.evaluate(frame, columns=["age", "sex", "cost"])
    _, found = measured(plan(folder, "parquet"), folder, "out", "parquet", "id")
    assert 0 < found.loss.suppressed == known.loss.suppressed
    assert found.loss.loss == pytest.approx(known.loss.loss)
    assert found.risk_after == known.risk_after
    with pytest.raises(DataError, match="does not tell all records apart"):
        measured(plan(folder, "parquet"), folder, "out", "parquet", "cost")


def test_records_that_do_not_correspond_are_refused(folder, monkeypatch):
    large(monkeypatch)
    written(people()[:-1], folder, "out")
    with pytest.raises(DataError, match=r"500 records and the masked table 499; .*--key"):
        measured(plan(folder, "csv"), folder, "out", "csv")
    written(people().select("cost"), folder, "out")
    with pytest.raises(DataError, match="none of the columns"):
        measured(plan(folder, "csv", more=""), folder, "out", "csv")
    own = plan(folder, "parquet", more="")
    outcome = own.run()
    with pytest.raises(ParameterError, match="whatever DuckDB gave"):
        evaluate_files(own, folder / "in.parquet", outcome.table)


@pytest.mark.parametrize(("lacking", "called"), [("id", "original"), ("it", "masked table")])
def test_a_key_that_a_table_lacks_is_named(lacking, called):
    tables = [pl.DataFrame({"age": [30, 40], name: [1, 2]}) for name in ("it", "id")]
    with pytest.raises(DataError, match=rf"^The {called} has no column '{lacking}', which .*--key"):
        om.evaluate(*tables, om.Schema(age=om.Numeric()), key=lacking)


def test_the_command_takes_a_key(folder):
    frame = people().with_row_index("id").with_columns(age=pl.lit(40))
    frame.reverse().write_parquet(folder / "out.parquet")
    (folder / "plan.toml").write_text(plan(folder, "parquet").text)
    said = ["evaluate", *(str(folder / name) for name in ("in.parquet", "out.parquet"))]
    command = [*said, "--plan", str(folder / "plan.toml"), "--key", "id", "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert '"suppressed": 0' in done.output
