"""Recounting a release from its files."""

from __future__ import annotations

import csv
import io
import json

import polars as pl
import pytest
from typer.testing import CliRunner

from ontomask.cli.app import app
from ontomask.engines import files
from ontomask.errors import DataError, ParameterError
from ontomask.plan import cells
from ontomask.plan.plan import Plan
from ontomask.plan.recounting import recount_folder, recount_table
from ontomask.promises import ClassSize
from ontomask.verdict import Verdict
from plans import write_small
from tables import DISEASES

CLOSE = """[[steps]]
method = "generalization"
suppression_limit = 0.3
hierarchies = {{ age = [{rows}] }}
[[steps.privacy]]
model = "k-anonymity"
k = 3
[[steps.privacy]]
model = "l-diversity"
l = 2
[[steps.privacy]]
model = "t-closeness"
t = 0.4
"""
ROWS = ", ".join(f'["{age}", "{age // 3 * 3}+", "*"]' for age in range(20, 29))


@pytest.fixture(params=["memory", "duckdb"])
def way(request, monkeypatch):
    """Where a table is counted: the one that is read, or the one that stays on the disk."""
    if request.param == "duckdb":
        pytest.importorskip("duckdb")
        monkeypatch.setattr(cells, "read_texts", None)
        for kind in files.UNPACKED:
            monkeypatch.setitem(files.UNPACKED, kind, 10**12)
    return request.param


@pytest.fixture
def release(tmp_path, way, monkeypatch):
    """A release whose steps promise class sizes, diversity and closeness, and its original."""
    plan = write_small(tmp_path)
    head, _ = plan.read_text().split("[[steps]]")
    plan.write_text(head + CLOSE.format(rows=ROWS))
    with monkeypatch.context() as patch:
        patch.setattr(files, "UNPACKED", {})
        outcome = Plan.read(plan).run()
    return outcome.folder, tmp_path / "small.csv"


def changed(path, change):
    """Change the rows of a table."""
    rows = list(csv.reader(io.StringIO(path.read_text())))
    change(rows)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue())


def test_a_release_is_recounted_from_its_folder(release):
    folder, original = release
    found = recount_folder(folder)
    assert found.verification.kept
    said = str(found.verification)
    assert "every combination of age is shared by at least 3" in said
    assert "job is distinct 2-diverse in every class" in said
    assert "job is 0.4-close to the whole table" in said
    assert found.notes[0] == "The table is the file that was released, byte for byte."
    assert "Not counted, since that needs the original: job: unchanged." in found.notes
    with_original = recount_folder(folder, original)
    assert with_original.verification.kept
    assert "job: unchanged" in str(with_original.verification)
    assert not [note for note in with_original.notes if note.startswith("Not counted")]


def one_alone(rows):
    rows[1][0] = "somebody"


def all_the_same(rows):
    for row in rows[1:]:
        if row[0] == rows[1][0]:
            row[1] = "j0"


def a_record_less(rows):
    del rows[3]


def a_column_more(rows):
    for row in rows:
        row.append("x")


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (one_alone, "shared by at least 3"),
        (all_the_same, "2-diverse"),
        (a_record_less, "records"),
        (a_column_more, "the columns are exactly"),
    ],
)
@pytest.mark.parametrize("compared", [False, True])
def test_every_change_is_noticed(release, change, broken, compared):
    folder, original = release
    changed(folder / "small.csv", change)
    found = recount_folder(folder, original if compared else None)
    assert "NOT the file that was released" in found.notes[0]
    assert any(
        broken in one.promise.describe() for one in found.verification.findings if not one.kept
    )


@pytest.mark.parametrize("change", [a_record_less, a_column_more])
def test_what_else_is_broken_is_counted_in_a_table_of_another_shape(release, change):
    folder, original = release
    changed(folder / "small.csv", lambda rows: (change(rows), one_alone(rows)))
    for source in (None, original):
        found = recount_folder(folder, source)
        broken = [one.promise.describe() for one in found.verification.findings if not one.kept]
        assert any("shared by at least 3" in one for one in broken)
        left = [note for note in found.notes if note.startswith("Not counted")]
        why = "that needs the original" if source is None else "the table has other columns or"
        assert len(left) == 1
        assert left[0].startswith(f"Not counted, since {why}")


def test_what_a_table_cannot_tell_without_a_column_is_said_so(release):
    folder, original = release
    changed(folder / "small.csv", lambda rows: [row.pop(0) for row in rows])
    for source in (None, original):
        notes = recount_folder(folder, source).notes
        left = [note for note in notes if note.startswith("Not counted")]
        assert sum("since the table has no column 'age': " in note for note in left) == 3
        assert not any("survey weights" in note for note in left)


def test_invented_values_are_noticed_with_the_original(release):
    folder, original = release
    changed(folder / "small.csv", lambda rows: rows[2].__setitem__(1, "astronaut"))
    found = recount_folder(folder, original)
    assert any(
        one.promise.describe() == "job: unchanged"
        for one in found.verification.findings
        if not one.kept
    )


def test_another_original_gives_another_distribution(release, tmp_path):
    folder, original = release
    other = tmp_path / "other.csv"
    other.write_text(original.read_text().replace("j1", "j0").replace("j2", "j0"))
    found = recount_folder(folder, other)
    assert not found.verification.kept
    assert any("The original is NOT the file that was protected" in one for one in found.notes)


def test_a_table_by_itself(release):
    folder, _ = release
    table = folder / "small.csv"
    found = recount_table(table, ["age"], k=3, sensitive="job", diversity=2, closeness=0.5)
    assert found.verification.kept
    assert [one.figure for one in found.verification.findings][:1] >= [3]
    assert "known to its owner only" in found.notes[0]
    assert not recount_table(table, ["age", "job"], k=20).verification.kept
    assert found.judgment.verdict is Verdict.COVERED
    assert recount_table(table, ["age"], k=3).judgment.uncovered == ("job",)


def test_mistakes_are_answered(release, tmp_path):
    folder, _ = release
    with pytest.raises(DataError, match="holds no manifest of a release that can be read"):
        recount_folder(tmp_path)
    with pytest.raises(DataError, match=r"no column 'aeg'. Did you mean 'age'\?"):
        recount_table(folder / "small.csv", ["aeg"], k=2)
    with pytest.raises(ParameterError, match="Say what to count"):
        recount_table(folder / "small.csv", ["age"])


def test_the_command(release):
    folder, original = release
    run = CliRunner()
    good = run.invoke(app, ["verify", str(folder), "--original", str(original)])
    assert good.exit_code == 0
    assert "Promised against an intruder who knows age of a person:\nkept" in good.stdout
    assert "Kept, and every published column is covered." in good.stdout
    machine = run.invoke(app, ["verify", str(folder), "--json"])
    assert json.loads(machine.stdout)["kept"] is True
    assert json.loads(machine.stdout)["verdict"] == "kept and covered"
    changed(folder / "small.csv", one_alone)
    bad = run.invoke(app, ["verify", str(folder)])
    assert bad.exit_code == 1
    assert "BROKEN" in bad.stdout
    assert "A promise is not kept. Do not publish this table." in bad.stdout
    table = run.invoke(app, ["verify", str(folder / "small.csv"), "--quasi", "age", "--k", "3"])
    assert table.exit_code == 1
    nothing = run.invoke(app, ["verify", str(folder.parent)])
    assert nothing.exit_code == 2


SPELLED = """seed = 3
[input]
path = "spelled.csv"
[columns.dx]
kind = "nominal"
taxonomy = "diseases.csv"
[columns.what]
kind = "nominal"
taxonomy = "diseases.csv"
role = "sensitive"
missing = "suppress"
[columns.job]
kind = "flat"
"""
SWAPPED = '[[steps]]\nmethod = "rank-swapping"\nk = 3\n'
GROUPED = """[[steps]]
method = "generalization"
hierarchies = { job = [["a", "*"], ["b", "*"]] }
[[steps.privacy]]
model = "t-closeness"
t = 0.3
"""


def spelled(folder, steps):
    """A release of a table with several spellings of its diseases, and a gap."""
    DISEASES.save(folder / "diseases.csv")
    words = ["flu", "FLU", "Flu", "cold", "Cold", "covid"] * 4
    jobs = ["a", "b", "a", "a", "b", "b"] * 4
    rows = [*zip(words, reversed(words), jobs, strict=True), ("flu", "", "a")]
    text = "".join(f"{','.join(row)}\n" for row in [("dx", "what", "job"), *rows])
    (folder / "spelled.csv").write_text(text)
    plan = folder / "plan.toml"
    plan.write_text(SPELLED + steps)
    return Plan.read(plan).run().folder, folder / "spelled.csv"


def test_columns_with_several_spellings_are_not_said_to_have_been_compared(tmp_path):
    """The file does not tell which spellings mean the same, so nothing is certified of them."""
    folder, original = spelled(tmp_path, SWAPPED)
    found = recount_folder(folder, original)
    compared = {name for one in found.verification.findings[2:] for name in one.promise.columns}
    assert compared == {"job"}
    assert any("Not compared" in one and "dx, what" in one for one in found.notes)


def test_a_distribution_over_spellings_is_that_of_the_manifest(tmp_path):
    folder, original = spelled(tmp_path, GROUPED)
    assert recount_folder(folder, original).verification.kept


PERSONS = """
seed = 7

[input]
path = "visits.csv"

[columns.person]
kind = "identifier"
unit = true

[columns.age]
kind = "numeric"

[columns.town]
kind = "flat"

[[steps]]
method = "microaggregation"
k = 3

[output]
shuffle = true
"""


def test_persons_are_recounted_with_the_original_only(tmp_path):
    """The file does not show whose its records are; the original and the manifest do."""
    rows = [(f"p{n // 3}", 20 + n % 41, "abcd"[n % 4]) for n in range(120)]
    original = tmp_path / "visits.csv"
    lines = ["person,age,town", *(",".join(map(str, row)) for row in rows)]
    original.write_text("\n".join(lines) + "\n")
    (tmp_path / "plan.toml").write_text(PERSONS)
    outcome = Plan.read(tmp_path / "plan.toml").run()
    alone = recount_folder(outcome.folder)
    assert any("needs the original" in note and "persons" in note for note in alone.notes)
    assert alone.judgment.title == "What is promised against an intruder was not counted"
    assert "--original" in alone.judgment.consequence
    found = recount_folder(outcome.folder, original)
    finding = next(one for one in found.verification.findings if isinstance(one.promise, ClassSize))
    assert finding.kept
    assert "at least 3 persons (different person)" in finding.statement
    report = outcome.report.read_text()
    assert "Protected are persons, by column person" in report
    assert "is shared by at least 3 persons (by person)" in report
    lines = ["person,age,town", *(",".join(map(str, ("p0", *row[1:]))) for row in rows)]
    original.write_text("\n".join(lines) + "\n")
    assert not recount_folder(outcome.folder, original).verification.kept


def test_values_are_told_apart_as_they_are_written(way, tmp_path):
    """As numbers, both zeros would be equal, and NaN and a gap are two things to a reader."""
    values = [0.0, 0.0, -0.0, -0.0, float("nan"), float("nan"), float("nan"), None, None]
    frame = pl.DataFrame({"size": values, "größe": ["a"] * 9})
    frame.write_parquet(tmp_path / "sizes.parquet")
    found = recount_table(tmp_path / "sizes.parquet", ["size", "größe"], k=3)
    finding = found.verification.findings[0]
    assert (finding.figure, finding.failing.classes, finding.failing.records) == (2, 3, 6)


@pytest.mark.parametrize("way", ["duckdb"], indirect=True)
def test_a_large_original_may_be_several_files(release, tmp_path):
    folder, original = release
    (tmp_path / "parts").mkdir()
    rows = original.read_text().splitlines(keepends=True)
    for number, part in enumerate((rows[1:9], rows[9:])):
        (tmp_path / "parts" / f"{number}.csv").write_text("".join([rows[0], *part]))
    found = recount_folder(folder, tmp_path / "parts" / "*.csv")
    assert found.verification.kept
    assert "job: unchanged" in str(found.verification)
