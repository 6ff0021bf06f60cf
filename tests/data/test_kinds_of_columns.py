"""Every kind of column of every frame library: missing stays missing, exact stays exact, nothing
that was left out or suppressed travels along."""

import datetime
import pickle
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ontomask as om
from ontomask.data.tables import open_table

DAY, HOUR = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 17, 30)
LARGE = 2**53 + 1
VALUES = {
    "truth": [True, False],
    "whole": [3, 200],
    "large": [LARGE, LARGE + 1],
    "number": [1.5, 0.25],
    "text": ["a common value", "zz a rare value"],
    "day": [DAY, DAY + datetime.timedelta(1)],
    "hour": [HOUR, HOUR + datetime.timedelta(1)],
    "exact": [Decimal("1.10"), Decimal("12345678901234567.89")],
    "span": [datetime.timedelta(hours=5), datetime.timedelta(days=2)],
    "bytes": [b"a common value", b"zz a rare value"],
}
RARE = b"a rare value"
"""Neither in a value nor anywhere in the memory of a release."""


def arrow(kind: pa.DataType) -> pd.ArrowDtype:
    return pd.ArrowDtype(kind)


TEXTS = pa.dictionary(pa.int32(), pa.string())
PANDAS = {
    "truth": ["object", "boolean", arrow(pa.bool_())],
    "whole": ["object", "float64", "Int64", "UInt8", "Int32", arrow(pa.int64())],
    "large": ["object", "Int64", "UInt64", arrow(pa.int64())],
    "number": ["object", "float32", "float64", "Float32", "Float64", arrow(pa.float64())],
    "text": ["object", "str", "string", "category", arrow(pa.string()), arrow(TEXTS)],
    "day": ["object", arrow(pa.date32())],
    "hour": ["datetime64[s]", "datetime64[ns]", "datetime64[us, UTC]", arrow(pa.timestamp("us"))],
    "exact": ["object", arrow(pa.decimal128(20, 2))],
    "span": ["timedelta64[ns]", arrow(pa.duration("us"))],
    "bytes": ["object", arrow(pa.binary())],
}
POLARS = {
    "truth": [pl.Boolean],
    "whole": [pl.Int64, pl.UInt8, pl.Int128, pl.Float32],
    "large": [pl.Int64, pl.UInt64, pl.Int128],
    "number": [pl.Float32, pl.Float64],
    "text": [pl.String, pl.Categorical, pl.Enum(["a common value", "never", "zz a rare value"])],
    "day": [pl.Date],
    "hour": [pl.Datetime("ms"), pl.Datetime("us"), pl.Datetime("ns", "UTC")],
    "exact": [pl.Decimal(20, 2)],
    "span": [pl.Duration("us")],
    "bytes": [pl.Binary],
}
ARROW = {
    "truth": [pa.bool_()],
    "whole": [pa.int64(), pa.uint8(), pa.float32(), pa.dictionary(pa.int8(), pa.int64())],
    "large": [pa.int64(), pa.uint64()],
    "number": [pa.float32(), pa.float64()],
    "text": [pa.string(), pa.large_string(), TEXTS, pa.dictionary(pa.int8(), pa.string(), True)],
    "day": [pa.date32(), pa.date64()],
    "hour": [pa.timestamp("s"), pa.timestamp("us"), pa.timestamp("ns", "UTC")],
    "exact": [pa.decimal128(20, 2), pa.decimal256(40, 2)],
    "span": [pa.duration("us")],
    "bytes": [pa.binary()],
}
MAKERS = {
    "pandas": (PANDAS, lambda values, kind: pd.DataFrame({"x": pd.Series(values, dtype=kind)})),
    "polars": (POLARS, lambda values, kind: pl.DataFrame({"x": pl.Series(values, dtype=kind)})),
    "pyarrow": (ARROW, lambda values, kind: pa.table({"x": pa.array(values, type=kind)})),
}
KINDS = [
    pytest.param(library, sort, kind, id=f"{library}-{sort}-{kind}")
    for library, (table, _) in MAKERS.items()
    for sort, kinds in table.items()
    for kind in kinds
]
every_kind = pytest.mark.parametrize(("library", "sort", "kind"), KINDS)

COMMON = 20
"""Records with the common value; three have the rare one, three none."""


def frame_of(library, sort, kind):
    common, rare = VALUES[sort]
    return MAKERS[library][1]([common] * COMMON + [rare] * 3 + [None] * 3, kind)


def values_of(frame) -> list[object]:
    column = frame["x"]
    listed = column.to_pylist() if isinstance(frame, pa.Table) else column.to_list()
    return [None if is_missing(value) else plain(value) for value in listed]


def is_missing(value) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or value != value


def plain(value):
    """Without time zone, and Python's own type where a library has its own."""
    value = getattr(value, "to_pydatetime", lambda: value)()
    value = getattr(value, "to_pytimedelta", lambda: value)()
    return value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value


def expected(sort, *, rare=True) -> list[object]:
    common, other = VALUES[sort]
    return [common] * COMMON + [other if rare else None] * 3 + [None] * 3


@every_kind
def test_an_unchanged_column_comes_out_as_it_was(library, sort, kind):
    frame = frame_of(library, sort, kind)
    schema = om.Schema(x=om.Flat())
    release = om.protect(frame, schema, om.LocalSuppression(2), seed=1)
    assert values_of(release.frame) == expected(sort)
    assert release.digests["input"] == release.digests["output"]


@every_kind
def test_what_is_suppressed_is_missing_and_nowhere_to_be_found(library, sort, kind):
    frame = frame_of(library, sort, kind)
    release = om.protect(frame, om.Schema(x=om.Flat()), om.LocalSuppression(4), seed=1)
    assert values_of(release.frame) == expected(sort, rare=False)
    assert type(values_of(release.frame)[0]) is type(values_of(frame)[0])
    assert set(categories_of(release.frame)) <= {VALUES[sort][0]}
    assert RARE not in pickle.dumps(release.frame)


@every_kind
def test_records_left_out_leave_nothing_behind(library, sort, kind):
    frame = frame_of(library, sort, kind)
    release = om.protect(frame, om.Schema(x=om.Flat()), om.Suppression(4), seed=1)
    assert values_of(release.frame) == [VALUES[sort][0]] * COMMON
    assert set(categories_of(release.frame)) <= {VALUES[sort][0]}
    assert RARE not in pickle.dumps(release.frame)


def categories_of(frame) -> list[object]:
    """What a reader finds listed as possible values of the column."""
    column = frame["x"]
    if isinstance(frame, pa.Table):
        chunks = column.chunks if pa.types.is_dictionary(column.type) else []
        return [one for chunk in chunks for one in chunk.dictionary.to_pylist()]
    if isinstance(frame, pl.DataFrame):
        return column.dtype.categories.to_list() if isinstance(column.dtype, pl.Enum) else []
    return column.cat.categories.tolist() if isinstance(column.dtype, pd.CategoricalDtype) else []


@every_kind
def test_distinct_values_are_read_as_they_are(library, sort, kind):
    codes, known = open_table(frame_of(library, sort, kind)).distinct("x")
    assert [None if code < 0 else plain(known[code]) for code in codes] == expected(sort)


@pytest.mark.parametrize("ordered", [True, False])
def test_the_order_of_categories_stays(ordered):
    order = ["mild", "never", "severe", "fatal"]
    values = ["severe", "mild", "fatal", "mild"] * 3
    schema = om.Schema(x=om.Flat(role="other"), n=om.Numeric())
    frame = pd.DataFrame({"x": pd.Categorical(values, order, ordered=ordered), "n": range(12)})
    released = om.protect(frame, schema, om.Microaggregation(3), seed=1).frame["x"]
    assert released.cat.categories.tolist() == ["mild", "severe", "fatal"]
    assert released.cat.ordered is ordered
    enum = pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum(order)), "n": range(12)})
    released = om.protect(enum, schema, om.Microaggregation(3), seed=1).frame["x"]
    assert released.dtype == pl.Enum(["mild", "severe", "fatal"])
    codes = pa.array([order.index(one) for one in values], pa.int8())
    coded = pa.DictionaryArray.from_arrays(codes, order, ordered=ordered)
    table = pa.table({"x": coded, "n": range(12)})
    released = om.protect(table, schema, om.Microaggregation(3), seed=1).frame["x"]
    assert released.type == coded.type
    assert released.chunk(0).dictionary.to_pylist() == ["mild", "severe", "fatal"]
    assert released.to_pylist() == values
