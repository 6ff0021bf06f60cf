"""Tables of databases: one body for PostgreSQL, SQLite and DuckDB, in memory and on DuckDB."""

import contextlib
import datetime
import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import ontomask as om
from engines.postgres import PASSWORD, server
from ontomask.engines.databases import Database
from ontomask.errors import DataError, OntomaskError, OutputError, ParameterError, PlanError

pytest.importorskip("pyarrow")

KINDS = ("postgresql", "sqlite", "duckdb")
ODD = 'größe "cm" a b'
VARIABLE = "ONTOMASK_TEST_PASSWORD"
PLAN = """
seed = 1
[input]
database = "{database}"
query = "{query}"
{password}
[engine]
name = "{engine}"
[output]
{output}
[columns]
id = {{ kind = "identifier" }}
age = {{ kind = "numeric" }}
sex = {{ kind = "flat" }}
'{odd}' = {{ kind = "numeric" }}
code = {{ kind = "flat", role = "other" }}
cost = {{ kind = "numeric", role = "other" }}
[[steps]]
method = "suppression"
k = 3
"""


def visits(count=300):
    """Records with gaps, codes with zeros and an odd name; the first texts are missing."""
    draw = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "id": np.arange(count),
            "age": draw.integers(20, 30, count),
            "sex": [None] * 20 + draw.choice(["m", "f"], count - 20).tolist(),
            ODD: draw.choice([1.5, 2.0], count),
            "code": draw.choice(["007", "07", "O'Neill; --"], count),
            "cost": draw.normal(100, 20, count).round(2),
        }
    )


@pytest.fixture(scope="module")
def postgresql():
    with server() as address:
        yield address


@pytest.fixture(params=KINDS)
def database(request, tmp_path, monkeypatch):
    """A database with a table of visits, empty otherwise."""
    monkeypatch.setenv(VARIABLE, PASSWORD)
    if request.param == "postgresql":
        address = request.getfixturevalue("postgresql")
        found = Database(address, tmp_path, VARIABLE)
        with found.opened(writing=True) as session:
            session._execute("DROP SCHEMA public CASCADE")
            session._execute("CREATE SCHEMA public")
            session.commit()
    else:
        pytest.importorskip("duckdb")
        found = Database(f"visits.{request.param}", tmp_path)
    store(found, "visits", visits())
    return found


def store(database, table, frame):
    with database.opened(writing=True) as session:
        session.write(table, frame.to_arrow().to_reader())
        session.commit()


def stored(database, table):
    with database.opened() as session:
        return session.frame(f'SELECT * FROM "{table}"')[0]


def plan(database, folder, **changes):
    said = {
        "database": database.address,
        "query": "SELECT * FROM visits",
        "password": password_of(database),
        "engine": "memory",
        "output": 'table = "out.parquet"',
        "odd": ODD,
    }
    return om.Plan.parse(PLAN.format(**{**said, **changes}), folder=folder)


def password_of(database):
    return f'password_variable = "{VARIABLE}"' if database.password_variable else ""


def to_table(database, table="released"):
    return f'database = "{database.address}"\ntable = "{table}"\n{password_of(database)}'


def in_order(frame):
    return frame.sort(frame.columns, nulls_last=True)


@pytest.fixture
def expected(tmp_path):
    """The release of the same table from a file, in memory."""
    schema = plan(Database("x.sqlite"), tmp_path).schema
    return in_order(om.protect(visits(), schema, om.Suppression(3), seed=1).frame)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_query_is_protected_like_a_file(database, engine, expected, tmp_path):
    outcome = plan(database, tmp_path, engine=engine).run()
    assert in_order(pl.read_parquet(outcome.table)).equals(expected)
    assert json.loads(outcome.manifest.read_text())["input"]["records"] == 300


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_release_goes_to_a_new_table(database, engine, expected, tmp_path):
    made = plan(database, tmp_path, engine=engine, output=to_table(database))
    outcome = made.run()
    assert outcome.table is None
    assert outcome.place == f"released in {database.address}"
    assert outcome.verification.kept
    assert sorted(one.name for one in outcome.folder.iterdir()) == ["manifest.json", "report.html"]
    assert in_order(stored(database, "released")).equals(expected)
    with pytest.raises(OutputError, match="holds a release already"):
        made.run()
    made.run(force=True)
    assert in_order(stored(database, "released")).equals(expected)


def test_a_table_that_is_no_release_is_never_replaced(database, tmp_path):
    made = plan(database, tmp_path, output=to_table(database, "visits"))
    for force in (False, True):
        with pytest.raises(OutputError, match="There is a table visits"):
            made.run(force=force)
    assert stored(database, "visits").height == 300
    assert not list(tmp_path.glob("*release*"))


def test_nothing_is_stored_where_the_recount_fails(database, tmp_path, monkeypatch):
    from ontomask.release import Release

    def fail(*given, **more):
        raise DataError("counted wrongly")

    monkeypatch.setattr(Release, "recount", fail)
    with pytest.raises(OntomaskError, match="counted wrongly"):
        plan(database, tmp_path, output=to_table(database)).run()
    with database.opened() as session:
        assert not session.exists("released")
    assert not list(tmp_path.glob("*release*"))


def test_a_run_that_is_killed_stores_nothing(database, tmp_path):
    code = """
import sys, time
import ontomask as om
from ontomask.plan import execution
execution._write_reports = lambda *given: (print("written", flush=True), time.sleep(60))
om.Plan.read(sys.argv[1]).run()
"""
    path = tmp_path / "plan.toml"
    path.write_text(plan(database, tmp_path, output=to_table(database)).text)
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "written\n"
        process.kill()
    with database.opened() as session:
        assert not session.exists("released")
    assert not (tmp_path / "plan-release").exists()
    om.Plan.read(path).run()
    with database.opened() as session:
        assert session.exists("released")


def test_types_that_a_table_may_have_come_back(database):
    frame = pl.DataFrame(
        {
            "day": [datetime.date(2024, 2, 29), None],
            "yes": [True, None],
            "kind": pl.Series(["a", "b"], dtype=pl.Categorical),
            "whole": pl.Series([1, 2], dtype=pl.UInt16),
            "exact": pl.Series(["1.50", "2.25"]).cast(pl.Decimal(10, 2)),
        }
    )
    store(database, "typed", frame)
    found = stored(database, "typed")
    assert found.columns == frame.columns
    assert [str(one) for one in found["day"]] == ["2024-02-29", "None"]
    assert [float(one) for one in found["exact"]] == [1.5, 2.25]
    assert found["kind"].to_list() == ["a", "b"]
    assert found["whole"].to_list() == [1, 2]


def test_numbers_and_texts_of_one_column_are_texts(tmp_path):
    import sqlite3

    with contextlib.closing(sqlite3.connect(tmp_path / "mixed.sqlite")) as handle, handle:
        handle.execute("CREATE TABLE mixed (code, gap, both)")
        rows = [(place, None, place) for place in range(3)] + [("x", "late", 1.5)]
        handle.executemany("INSERT INTO mixed VALUES (?, ?, ?)", rows)
    found = stored(Database("mixed.sqlite", tmp_path), "mixed")
    assert found["code"].to_list() == ["0", "1", "2", "x"]
    assert found["gap"].to_list() == [None, None, None, "late"]
    assert found["both"].to_list() == [0.0, 1.0, 2.0, 1.5]


def test_what_only_postgresql_knows_is_read_as_text(postgresql, monkeypatch):
    monkeypatch.setenv(VARIABLE, PASSWORD)
    database = Database(postgresql, password_variable=VARIABLE)
    asked = """SELECT 12.50::numeric AS amount, '10.0.0.1'::inet AS host, interval '1 day' AS span,
        '{"a": 1}'::jsonb AS record, 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'::uuid AS id,
        '5'::money AS price -- and a comment;"""
    with database.opened() as session:
        frame, numbers = session.frame(asked)
    assert numbers == ("amount",)
    assert frame.row(0) == (
        *("12.50", "10.0.0.1/32", "1 day", '{"a": 1}'),
        *("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "$5.00"),
    )


MISTAKES = {
    "no table": ("SELECT * FROM patients", "no such table"),
    "no column": ("SELECT patient FROM visits", "no such column|no such table"),
    "no statement": ("SELEC * FROM visits", "no SELECT"),
    "changing": ("DELETE FROM visits", "no SELECT"),
    "several": ("SELECT 1; DROP TABLE visits", "no SELECT"),
    "twice": ("SELECT 1 AS x, 2 AS x", "more than once|no column 'id'"),
}


@pytest.mark.parametrize(("query", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_queries_that_cannot_be_are_answered_in_a_sentence(database, query, sentence, tmp_path):
    with pytest.raises(DataError, match=sentence):
        plan(database, tmp_path, query=query).run()
    assert stored(database, "visits").height == 300


def test_a_query_cannot_change_anything(postgresql, monkeypatch):
    monkeypatch.setenv(VARIABLE, PASSWORD)
    database = Database(postgresql, password_variable=VARIABLE)
    with database.opened(writing=True) as session:
        session._execute("CREATE SEQUENCE numbers")
        session.commit()
    with (
        database.opened() as session,
        pytest.raises(DataError, match="broke off"),
    ):
        session.frame("SELECT nextval('numbers')")
    with database.opened() as session:
        assert session.frame("SELECT is_called FROM numbers")[0].item() is False


def test_check_reads_the_query_too(database, tmp_path):
    found = plan(database, tmp_path).check()
    assert found.records == 300
    with pytest.raises(DataError, match="no column 'id'"):
        plan(database, tmp_path, query="SELECT 1 AS sex").check()


def test_an_answer_too_large_for_memory_goes_to_duckdb(database, tmp_path, monkeypatch):
    from ontomask.engines import files

    monkeypatch.setattr(files, "CELL", 10**12)
    outcome = plan(database, tmp_path, engine="automatic").run()
    assert any("too large for memory" in note for note in outcome.notes)


# Passwords -------------------------------------------------------------------------------------


def test_the_password_is_nowhere(postgresql, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, PASSWORD)
    database = Database(postgresql, tmp_path, VARIABLE)
    store(database, "secret_visits", visits())
    asked = plan(database, tmp_path, query="SELECT * FROM secret_visits", output=to_table(database))
    outcome = asked.run(internal=True, force=True)
    assert PASSWORD not in f"{database!r} {asked!r} {asked.contents!r} {outcome!r}"
    for path in outcome.folder.iterdir():
        assert PASSWORD not in path.read_text()


def test_a_wrong_password_is_answered_without_it(postgresql, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "wrong one")
    with pytest.raises(DataError, match="does not let you in") as raised:
        plan(Database(postgresql, tmp_path, VARIABLE), tmp_path).run()
    assert "wrong one" not in str(raised.value)
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(ParameterError, match="is not set"):
        plan(Database(postgresql, tmp_path, VARIABLE), tmp_path).run()


def test_the_password_may_come_from_where_postgresql_looks_for_it(postgresql, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with Database(postgresql).opened() as session:
        assert session.size("SELECT 1 AS one, 2 AS two") == (1, 2)


def test_a_server_that_is_not_there_is_said_so(tmp_path):
    pytest.importorskip("adbc_driver_postgresql")
    with pytest.raises(DataError, match="cannot be reached"):
        plan(Database("postgresql://me@127.0.0.1:1/none"), tmp_path).run()


def test_a_lost_connection_leaves_nothing(postgresql, tmp_path, monkeypatch):
    from ontomask.plan import execution

    monkeypatch.setenv(VARIABLE, PASSWORD)
    database = Database(postgresql, tmp_path, VARIABLE)
    store(database, "lost_visits", visits())
    written = execution._write_reports

    def cut(*given):
        with database.opened(writing=True) as session:
            others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            session.frame(f"{others} WHERE pid <> pg_backend_pid() AND backend_type LIKE 'client%'")
        return written(*given)

    monkeypatch.setattr(execution, "_write_reports", cut)
    asked = plan(
        database, tmp_path, query="SELECT * FROM lost_visits", output=to_table(database, "lost")
    )
    with pytest.raises(OutputError, match="broke off"):
        asked.run()
    with database.opened() as session:
        assert not session.exists("lost")
    assert not list(tmp_path.glob("*release*"))


WRITTEN = {
    "a password": ("postgresql://me:hidden@host/x", "without a password"),
    "a password behind": ("postgresql://me@host/x?password=hidden", "without a password"),
    "another server": ("mysql://me@host/hidden", "must be an address such as"),
}


@pytest.mark.parametrize(("address", "sentence"), WRITTEN.values(), ids=WRITTEN)
def test_addresses_that_cannot_be_are_refused_and_not_repeated(address, sentence, tmp_path):
    with pytest.raises(PlanError, match=sentence) as raised:
        plan(Database(address), tmp_path)
    assert "hidden" not in str(raised.value)


SECTIONS = {
    "both": ('path = "a.csv"\ndatabase = "a.sqlite"\nquery = "SELECT 1"', "one of them"),
    "neither": ('encoding = "utf-8"', "one of them"),
    "no query": ('database = "a.sqlite"', "go together"),
    "no database": ('path = "a.csv"\nquery = "SELECT 1"', "go together"),
    "a password for a file": ('path = "a.csv"\npassword_variable = "X"', "none is named"),
    "no name for the table": ('database = "a.sqlite"\nquery = "SELECT 1"', "say table ="),
}


@pytest.mark.parametrize(("said", "sentence"), SECTIONS.values(), ids=SECTIONS)
def test_sections_say_one_place(said, sentence, tmp_path):
    rest = '[columns.age]\nkind = "numeric"\n[[steps]]\nmethod = "suppression"\nk = 2\n'
    with pytest.raises(PlanError, match=sentence):
        om.Plan.parse(f"[input]\n{said}\n{rest}", folder=tmp_path)


@pytest.mark.parametrize("table", ["a.b.c", ".a", ""])
def test_tables_of_a_database_have_a_plain_name(table, tmp_path):
    with pytest.raises(PlanError, match=r"table"):
        plan(Database("a.sqlite"), tmp_path, output=f'database = "a.sqlite"\ntable = "{table}"')


def test_what_is_no_database_is_refused(tmp_path):
    (tmp_path / "a.sqlite").write_text("hello")
    for name in ("a.sqlite", "none.duckdb"):
        with pytest.raises(DataError, match="no file of SQLite or DuckDB"):
            plan(Database(name, tmp_path), tmp_path).run()


def test_init_writes_a_plan_for_a_query(database, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from ontomask.cli import app

    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.chdir(tmp_path)
    command = ["init", database.address, "--query", "SELECT * FROM visits", "-o", "made.toml"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    made = om.Plan.read("made.toml")
    assert made.contents.input.database == database.address
    assert set(made.schema) == set(visits().columns)
    assert made.run(leave_out_undecided=True).table.name == "table.csv"


def test_a_release_in_a_database_is_recounted_where_it_is(database, tmp_path):
    from ontomask.plan.recounting import recount_folder

    visits().write_parquet(tmp_path / "visits.parquet")
    outcome = plan(database, tmp_path, output=to_table(database)).run()
    found = recount_folder(outcome.folder, tmp_path / "visits.parquet")
    assert found.verification.kept
    assert found.verification.k == 3
    assert "The table holds the values that were released, in the same order." in found.notes
    assert "cost" in str(found.verification)  # compared with the original
    table = stored(database, "released")
    with database.opened(writing=True) as session:
        changed = table.with_columns(age=pl.Series([99, *table["age"][1:]]))
        session.write("released", changed.to_arrow().to_reader(), replace=True)
        session.commit()
    found = recount_folder(outcome.folder)
    assert not found.verification.kept
    assert "NOT" in found.notes[0]
