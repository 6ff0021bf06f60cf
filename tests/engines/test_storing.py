"""A release that its library writes: recounted as it lies there, and in place only if it holds."""

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.engines import storing
from ontomask.errors import DataError, OutputError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore")  # Spark and pandas warn of each other
SCHEMA = om.Schema(age=om.Numeric(), sex=om.Flat(), cost=om.Numeric("other"))


@pytest.fixture
def table(engine, tmp_path):
    draw = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": draw.integers(20, 30, 200),
            "sex": pl.Series(draw.choice(["m", "f", ""], 200)).replace("", None),
            "cost": draw.choice([1.0, 0.0, -0.0, float("nan")], 200),
        }
    )
    (tmp_path / "in").mkdir()
    frame.write_parquet(tmp_path / "in" / "0.parquet")
    return engine.open(tmp_path / "in")


@pytest.fixture
def place(tmp_path):
    (tmp_path / "it's out").mkdir()
    return tmp_path / "it's out" / "released.parquet"


def in_order(frame):
    return frame.sort(frame.columns, nulls_last=True)


def protect(table, **more):
    return om.protect(table, SCHEMA, om.Microaggregation(4), seed=1, **more)


def test_what_is_written_is_what_would_have_been_asked_for(engine, table, place):
    written, asked = protect(table, target=place), protect(table)
    known = in_order(engine.collected(asked.frame))
    assert in_order(engine.collected(written.frame)).equals(known)
    files = place / "*.parquet" if place.is_dir() else place
    assert in_order(pl.read_parquet(files)).equals(known)
    assert [one.name for one in place.parent.iterdir()] == [place.name]
    assert str(written.verification) == str(asked.verification)
    assert written.evaluate().loss.loss == asked.evaluate().loss.loss


def test_what_is_not_there_as_it_should_be_gets_no_name(engine, table, place, monkeypatch):
    kind = storing.PLACES[engine.name.removesuffix("-one-thread")]
    own = kind.write

    monkeypatch.setattr(kind, "write", lambda place, release: own(place, release.limit(199)))
    with pytest.raises(DataError, match="199 rows instead of 200"):
        protect(table, target=place)
    assert not list(place.parent.iterdir())


def test_nothing_is_replaced(table, place):
    protect(table, target=place)
    with pytest.raises(OutputError, match="exists already and is kept"):
        protect(table, target=place)
    assert [one.name for one in place.parent.iterdir()] == [place.name]


@pytest.mark.parametrize("engine", ["polars", "duckdb"], indirect=True)
def test_mistakes_are_answered_before_anything_is_masked(table, place, tmp_path, monkeypatch):
    monkeypatch.setattr("ontomask.engines.release.prepare", lambda *_: pytest.fail("too late"))
    with pytest.raises(ParameterError, match=r"Parquet file, such as 'released\.parquet'"):
        protect(table, target=place.with_suffix(".csv"))
    with pytest.raises(OutputError, match="There is no folder"):
        protect(table, target=tmp_path / "nowhere" / "released.parquet")
    with pytest.raises(ParameterError, match="target is for tables that may be larger"):
        protect(pl.DataFrame({"age": [1], "sex": ["f"], "cost": [1.0]}), target=place)
