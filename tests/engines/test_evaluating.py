"""Two tables of any size are compared in every engine: the figures are those of memory."""

import polars as pl
import pytest
from test_measuring_on_engines import people

import ontomask as om
from ontomask.engines import files
from ontomask.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore")  # Spark and pandas warn of each other
SCHEMA = om.Schema.of(
    {
        "id": om.Numeric("other"),
        "age": om.Numeric(),
        "sex": om.Flat(),
        "number": om.Count(),
        "ward": om.Flat("sensitive"),
    }
)
ORIGINAL = people().drop("cost").with_row_index("id")
RELEASE = om.protect(ORIGINAL, SCHEMA, om.Suppression(6), seed=1)
MASKED = om.protect(ORIGINAL, SCHEMA, om.Rounding(("age",), 7), seed=1).frame
COLUMNS = ("age", "sex", "ward")


def stored(folder, name, frame):
    (folder / name).mkdir()
    frame.write_parquet(folder / name / "0.parquet")
    return folder / name


def opened(engine, folder, frame, name):
    return engine.open(stored(folder, name, frame))


def assert_same(found, known):
    assert found.loss.loss == pytest.approx(known.loss.loss)
    assert found.loss.loss > 0
    assert found.loss.suppressed == known.loss.suppressed
    assert found.risk_before == known.risk_before
    assert found.risk_after == known.risk_after
    assert found.risk == pytest.approx(known.risk)
    assert found.unchanged == known.unchanged


def test_a_key_tells_which_records_correspond(engine, tmp_path):
    before = opened(engine, tmp_path, ORIGINAL, "before")
    other_order = RELEASE.frame.sample(fraction=1.0, shuffle=True, seed=3)
    known = RELEASE.evaluate(ORIGINAL, columns=COLUMNS)
    after = opened(engine, tmp_path, other_order, "after")
    assert known.loss.suppressed > 0
    asked = {"key": "id", "columns": COLUMNS}
    assert_same(om.evaluate(before, after, SCHEMA, **asked), known)
    assert_same(om.evaluate(before, other_order, SCHEMA, **asked), known)  # in memory
    assert_same(om.evaluate(ORIGINAL, other_order.to_pandas(), SCHEMA, **asked), known)


def test_records_correspond_by_their_places(engine, tmp_path):
    before, after = (
        opened(engine, tmp_path, frame, name)
        for frame, name in ((ORIGINAL, "before"), (MASKED, "after"))
    )
    known = om.evaluate(ORIGINAL, MASKED, SCHEMA, columns=COLUMNS)
    if engine.name == "spark":
        with pytest.raises(DataError, match="Spark keeps no order of records"):
            om.evaluate(before, after, SCHEMA)
    else:
        assert_same(om.evaluate(before, after, SCHEMA, columns=COLUMNS), known)


@pytest.mark.parametrize("size", ["small", "large"])
def test_paths_are_opened_as_their_size_asks_for(size, tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    before = stored(tmp_path, "before", ORIGINAL) / "0.parquet"
    after = stored(tmp_path, "after", MASKED) / "0.parquet"
    if size == "large":
        monkeypatch.setattr(files, "read_file", None)
        for kind in files.UNPACKED:
            monkeypatch.setitem(files.UNPACKED, kind, 10**12)
    known = om.evaluate(ORIGINAL, MASKED, SCHEMA, columns=COLUMNS)
    assert_same(om.evaluate(before, str(after), SCHEMA, columns=COLUMNS), known)
    risk, whole = (om.file_risk(one, SCHEMA) for one in (before, ORIGINAL))
    assert (risk.structure, risk.sensitive) == (whole.structure, whole.sensitive)
    found, sets = (om.measuring.minimal_unique_sets(one, SCHEMA) for one in (before, ORIGINAL))
    assert found == sets
    checked = om.check(before, SCHEMA, [om.privacy.KAnonymity(2)])
    assert (
        checked.models[0].failing
        == om.check(ORIGINAL, SCHEMA, [om.privacy.KAnonymity(2)]).models[0].failing
    )


def test_tables_that_nothing_can_put_side_by_side_are_refused(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = stored(tmp_path, "before", ORIGINAL) / "0.parquet"
    one, other = (duckdb.connect().read_parquet(str(path)) for _ in range(2))
    with pytest.raises(DataError, match="different connections of DuckDB"):
        om.evaluate(one, other, SCHEMA)
    with pytest.raises(DataError, match=r"different kinds \(duckdb and polars\)"):
        om.evaluate(one, pl.scan_parquet(path), SCHEMA)
