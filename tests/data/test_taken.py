"""What our own calls return is taken by the others: proposals, files, dictionaries, releases."""

import contextlib

import polars as pl
import pytest

import ontomask as om
from ontomask.errors import DataError, SchemaError

PEOPLE = {"age": [34, 36, 71, 69], "sex": ["f", "f", "m", "m"]}
SCHEMA = om.Schema(age=om.Numeric(), sex=om.Flat())
METHOD = om.Microaggregation(k=2)


def test_files_dictionaries_and_releases_are_tables(tmp_path):
    path = tmp_path / "people.csv"
    pl.DataFrame(PEOPLE).write_csv(path)
    expected = om.protect(pl.DataFrame(PEOPLE), SCHEMA, METHOD, seed=1)
    read = om.files.read_file(path, kinds={"age": "numeric"})
    for given in (PEOPLE, read):
        release = om.protect(given, SCHEMA, METHOD, seed=1)
        assert release.frame.equals(expected.frame)
        assert om.evaluate(given, release, SCHEMA).loss.sse == expected.evaluate(PEOPLE).loss.sse
        assert om.file_risk(given, SCHEMA).structure.people == 4
    assert om.Schema.infer(read)["age"] == om.Schema.infer(PEOPLE)["age"]
    assert om.file_risk(expected, SCHEMA).structure.smallest == 2


def test_a_proposal_is_a_schema():
    frame = om.discharges(200, seed=1)
    proposal = om.Schema.infer(frame)
    assert isinstance(proposal, om.Schema)
    assert dict(proposal) == dict(proposal.schema)
    assert repr(proposal).startswith("Schema(patient=identifier")
    with pytest.raises(SchemaError, match="Nobody has decided"):
        om.protect(frame, proposal, METHOD)
    release = om.protect(frame, proposal.decided(), METHOD, seed=1)
    assert release.published == proposal.decided().published
    assert "sex" not in proposal.replace(sex=None)


@pytest.mark.parametrize("wrong", [{"age": [1, 2], "sex": ["f"]}, {3: [1, 2]}, {"a": [1, "b"]}])
def test_other_dictionaries_are_refused(wrong):
    with pytest.raises(DataError, match="columns as lists of equal length"):
        om.protect(wrong, SCHEMA, METHOD)


def queries(frame):
    """The same table as a lazy frame and, where it is installed, as a relation of DuckDB."""
    yield frame.lazy()
    with contextlib.suppress(ImportError):
        import duckdb

        yield duckdb.from_arrow(frame.to_arrow())


def test_paths_and_queries_are_proposed_for_and_compared(tmp_path):
    frame = pl.DataFrame(PEOPLE)
    path = tmp_path / "people.csv"
    frame.write_csv(path)
    expected = om.compare(frame, SCHEMA, [METHOD], k=[2], workers=1).cells[0].loss
    for given in (path, str(path), *queries(frame)):
        assert dict(om.Schema.infer(given)) == dict(om.Schema.infer(frame))
        assert om.compare(given, SCHEMA, [METHOD], k=[2], workers=1).cells[0].loss == expected
    with pytest.raises(DataError, match="no file"):
        om.Schema.infer(tmp_path / "people.parquet")


def test_of_a_long_query_the_first_records_are_looked_at_which_is_said(monkeypatch):
    monkeypatch.setattr("ontomask.data.evidence.FEWEST_SAMPLED", 3)
    monkeypatch.setattr("ontomask.data.evidence.CELLS", 1)
    for given in queries(pl.DataFrame(PEOPLE)):
        proposal = om.Schema.infer(given)
        assert proposal.records == (3, 4)
        assert "3 of 4 records were looked at" in str(proposal)
        assert proposal.profiles["age"].count == "3 or more values"


def test_a_comparison_of_very_many_records_is_refused(monkeypatch):
    monkeypatch.setattr("ontomask.engines.measuring.MOST_RECORDS", 3)
    for given in queries(pl.DataFrame(PEOPLE)):
        with pytest.raises(DataError, match=r"4 records are more than the 3 .* on a sample"):
            om.compare(given, SCHEMA, [METHOD], k=[2], workers=1)
    assert om.compare(PEOPLE, SCHEMA, [METHOD], k=[2], workers=1).records == 4
