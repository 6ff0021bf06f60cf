"""Sentences count right: one record, two records, and no more than was looked at."""

import re
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import ontomask as om
from ontomask.cli import app
from ontomask.data import evidence
from ontomask.wording import enumerated, numbered, percent, plural, quoted, terse_percent

RUNNER = CliRunner()
ONE = pl.DataFrame({"age": [30], "sex": ["f"], "paid": [1]})
SCHEMA = om.Schema(age=om.Numeric(), sex=om.Flat(), paid=om.Flat(role="sensitive"))


def test_counts_with_their_nouns():
    assert [plural(n, "record") for n in (0, 1, 2, 1234)] == [
        *("0 records", "1 record", "2 records", "1,234 records")
    ]
    assert plural(2, "class", "classes") == "2 classes"
    assert plural(1.0, "record") == "1 record"


@pytest.mark.parametrize(
    ("share", "said", "tersely"),
    [
        (0.0, "0%", "0%"),
        (2 / 32561, "less than 0.1%", "<0.1%"),
        (0.0006, "0.1%", "0.1%"),
        (0.123, "12.3%", "12.3%"),
        (0.9996, "more than 99.9%", ">99.9%"),
        (1.0, "100%", "100%"),
    ],
)
def test_few_are_not_called_none_nor_many_all(share, said, tersely):
    assert (percent(share, 1), terse_percent(share, 1)) == (said, tersely)


def test_shares_are_written_in_one_way():
    """A format of its own would call two of 30,000 records 0.0%."""
    own = re.compile(r":\.[12]%\}")
    root = Path(om.__file__).parent
    assert not [path for path in root.rglob("*.py") if own.search(path.read_text())]


def test_lists_of_names_and_numbers():
    assert quoted(["a", "b"]) == "'a' and 'b'"
    assert enumerated([str(n) for n in range(7)]) == "0, 1, 2, 3, 4 and 2 more"
    assert numbered("line", [4]) == "line 4"
    assert numbered("line", [4, 9]) == "lines 4 and 9"


METHODS = [
    *(om.Microaggregation(2), om.Recoding(2), om.Resampling(2), om.Hybrid(2), om.Suppression(2)),
    *(om.RankSwapping(k=2), om.Sampling(size=2), om.Generalization([om.privacy.KAnonymity(2)])),
    om.Generalization([om.privacy.KAnonymity(2)], algorithm="tuple"),
]
PLAN = """
[input]
path = "t.csv"
[columns.age]
kind = "numeric"
missing = "error"
[[steps]]
method = "recoding"
k = 9
"""


@pytest.mark.parametrize("method", METHODS, ids=lambda one: one.name)
def test_one_record_is_not_several(method):
    hierarchies = {"age": [["30", "*"]], "sex": [["f", "*"]]}
    if isinstance(method, om.Generalization):
        method = om.Generalization(
            method.privacy, algorithm=method.algorithm, hierarchies=hierarchies
        )
    with pytest.raises(om.errors.OntomaskError) as caught:
        om.protect(ONE, SCHEMA, method, 1)
    assert "1 records" not in str(caught.value)
    assert "1 rows" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "command", "said"),
    [
        ("age\n1\n", "init", "t.csv has 1 record, which is fewer than k = 5"),
        ("age\n1\n", "check", "the table has only 1 record."),
        ("age,b\n1,2\n,3\n2,4\n", "check", "has 1 missing value, which"),
        ("age\n1\n\n2\n", "init", "t.csv has 2 records"),
    ],
)
def test_commands_count_right(tmp_path, monkeypatch, content, command, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(content)
    (tmp_path / "plan.toml").write_text(PLAN)
    result = RUNNER.invoke(app, [command, "t.csv" if command == "init" else "plan.toml"])
    assert said in " ".join((result.stdout + result.stderr).split())


def test_a_line_left_out_is_one_line(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n\n3,4\n")
    assert "1 blank line was left out." in om.files.read_file(tmp_path / "t.csv").notes
    (tmp_path / "t.csv").write_text("a,b\n1,2\n\n\n3,4\n")
    assert "2 blank lines were left out." in om.files.read_file(tmp_path / "t.csv").notes


# What was seen of a large table -------------------------------------------------------------------


@pytest.fixture
def few_looked_at(monkeypatch):
    monkeypatch.setattr(evidence, "CELLS", 10)
    monkeypatch.setattr(evidence, "FEWEST_SAMPLED", 60)


@pytest.mark.usefixtures("few_looked_at")
def test_counts_of_a_sample_are_no_facts():
    size = 1000
    frame = pl.DataFrame(
        {
            "age": [number % 97 for number in range(size)],
            "word": [f"w{number % 300}" for number in range(size)],
            "patient": [f"P{number % 250}" for number in range(size)],
        }
    )
    proposal = om.Schema.infer(frame)
    assert proposal.records == (60, 1000)
    assert "or more distinct values are numbers" in proposal.reasons["age"]
    assert "or more distinct values are words" in proposal.reasons["word"]
    assert "several records per person (250 values in 1,000 records)" in proposal.reasons["patient"]
    assert str(proposal).splitlines()[-1] == (
        "60 of 1,000 records were looked at; other values may be in the rest."
    )


@pytest.mark.usefixtures("few_looked_at")
def test_init_says_how_many_records_it_looked_at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"age": [number % 97 for number in range(1000)]}).write_csv("t.csv")
    said = RUNNER.invoke(app, ["init", "t.csv"]).stdout
    assert "60 of 1,000 records were looked at" in said
    assert "60 of 1,000 records were looked at" in (tmp_path / "t.toml").read_text()


def test_counts_of_a_whole_table_are_facts():
    proposal = om.Schema.infer(pl.DataFrame({"age": list(range(40)) * 2}))
    assert "its 40 distinct values are numbers" in proposal.reasons["age"]
    assert "looked at" not in str(proposal)
