"""Frames with odd columns: a release, or a sentence; never a traceback."""

import datetime
import decimal
import math
import re
import uuid
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ontomask as om
from tables import DISEASES

ROWS = 12
FRAMES_EACH = 60
DAY = datetime.datetime(2024, 1, 31)
SIGNS = ["", " ", "\u00e9", "e\u0301", "=1+1", "a\nb", "\x00", "\ud7ff", "*", "NA", "flu", "250.00"]


def drawn(generator: np.random.Generator, values: list) -> list:
    """Values in any order, some of them missing, some not there at all."""
    several = [values[place] for place in generator.integers(0, len(values), ROWS)]
    gaps = generator.random(ROWS) < generator.choice([0.0, 0.3, 1.0], p=[0.5, 0.4, 0.1])
    return [None if gap else value for value, gap in zip(several, gaps, strict=True)]


PYTHON: dict[str, list] = {
    "texts": SIGNS,
    "whole": [0, -1, 3, 2**40],
    "large": [2**53 + 1, -(2**62), 2**62 + 1],
    "numbers": [0.0, -0.0, 1.5, 1e300, 5e-324, math.pi],
    "infinite": [math.inf, -math.inf, math.nan, 1.0],
    "truth": [True, False],
    "days": [DAY.date(), datetime.date(1, 1, 1), datetime.date(9999, 12, 31)],
    "hours": [DAY, DAY + datetime.timedelta(microseconds=1)],
    "times": [datetime.time(1, 2), datetime.time(23, 59)],
    "spans": [datetime.timedelta(1), datetime.timedelta(microseconds=1)],
    "decimals": [decimal.Decimal("1.10"), decimal.Decimal("-99999999999999999999.01")],
    "bytes": [b"", b"\xff\x00", b"a"],
    "lists": [[], [1], [1, 2]],
    "records": [{"a": 1}, {"a": 2}],
}
OBJECTS: dict[str, list] = {
    **PYTHON,
    "mixed": ["a", 1, 2.5, DAY],
    "alike": [1, True, 1.0],
    "sets": [{1}, frozenset({1})],
    "tuples": [(1, "a"), (2, "b")],
    "ids": [uuid.UUID(int=number) for number in range(3)],
    "complex": [1j, 2 + 3j],
    "things": [object(), DISEASES],
    "arrays": [np.array([1, 2]), np.array([3])],
    "strange decimals": [decimal.Decimal("NaN"), decimal.Decimal("Infinity"), decimal.Decimal(1)],
}
Maker = Callable[[np.random.Generator], object]


def pandas_column(generator: np.random.Generator) -> object:
    kind = generator.choice(["object", "inferred", "arrow", "category", "extension"])
    source = OBJECTS if kind in ("object", "category") else PYTHON
    values = drawn(generator, source[generator.choice(list(source))])
    if kind == "object":
        return pd.Series(values, dtype=object)
    if kind == "arrow":
        return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, from_pandas=False)))
    if kind == "extension":
        return PANDAS_EXTENSIONS[generator.integers(len(PANDAS_EXTENSIONS))](generator)
    series = pd.Series(values)
    if kind == "category":
        try:
            return pd.Series(pd.Categorical(values, ordered=bool(generator.integers(2))))
        except (TypeError, ValueError):  # pandas itself has no such categories
            return series
    return series


PANDAS_EXTENSIONS: list[Maker] = [
    lambda g: pd.Series(pd.period_range("2024-01", periods=ROWS, freq="M")),
    lambda g: pd.Series(pd.IntervalIndex.from_breaks(range(ROWS + 1))),
    lambda g: pd.Series(pd.arrays.SparseArray(g.integers(0, 2, ROWS))),
    lambda g: pd.Series(pd.arrays.SparseArray(["a", "b"] * (ROWS // 2))),
    lambda g: pd.Series(g.integers(0, 2, ROWS) * 1j),
    lambda g: pd.Series(np.array([10**9, -(10**9)] * (ROWS // 2), "datetime64[D]")),
    lambda g: pd.Series(np.array(["2024", "1600"] * (ROWS // 2), "datetime64[s]")),
    lambda g: pd.Series(pd.to_timedelta(drawn(g, [1, 2]), unit="ns")),
    lambda g: pd.Series(pd.date_range("2024", periods=ROWS, tz="Europe/Madrid")),
    lambda g: pd.Series(drawn(g, [1, 2]), dtype="Int8"),
    lambda g: pd.Series(drawn(g, [True, False]), dtype="boolean"),
    lambda g: pd.Series(drawn(g, [0.5, math.nan]), dtype="Float32"),
    lambda g: pd.Series(drawn(g, SIGNS), dtype="string"),
    lambda g: pd.Series(pd.Categorical(drawn(g, [1.5, 2.5]))),
    lambda g: pd.Series(g.random(ROWS).astype("float16")),
]


def polars_column(generator: np.random.Generator) -> object:
    kind = generator.choice(["plain", "object", "special"], p=[0.5, 0.05, 0.45])
    if kind == "object":
        values = drawn(generator, OBJECTS[generator.choice(list(OBJECTS))])
        return pl.Series(values, dtype=pl.Object)
    if kind == "special":
        return POLARS_SPECIALS[generator.integers(len(POLARS_SPECIALS))](generator)
    return pl.Series(drawn(generator, PYTHON[generator.choice(list(PYTHON))]), strict=False)


POLARS_SPECIALS: list[Maker] = [
    lambda g: pl.Series([None] * ROWS),
    lambda g: pl.Series(drawn(g, ["a", "b"]), dtype=pl.Categorical),
    lambda g: pl.Series(drawn(g, ["a", "b"]), dtype=pl.Enum(["a", "b", "c"])),
    lambda g: pl.Series(drawn(g, [2**100, 1]), dtype=pl.Int128),
    lambda g: pl.Series(drawn(g, [2**64 - 1, 1]), dtype=pl.UInt64),
    lambda g: pl.Series(drawn(g, [2**60, -(2**60)])).cast(pl.Datetime("us")),
    lambda g: pl.Series(drawn(g, [2**60 + 1, 1])).cast(pl.Datetime("ns", "UTC")),
    lambda g: pl.Series(drawn(g, [2**31 - 1, -(2**31), 1]), dtype=pl.Int32).cast(pl.Date),
    lambda g: pl.Series(drawn(g, [2**62, 1])).cast(pl.Duration("ns")),
    lambda g: pl.Series([[1.0, 2.0]] * ROWS, dtype=pl.Array(pl.Float64, 2)),
    lambda g: pl.Series(drawn(g, [decimal.Decimal("1.5")]), dtype=pl.Decimal(38, 10)),
    lambda g: pl.Series(drawn(g, [0.5, math.nan]), dtype=pl.Float32),
]


def arrow_column(generator: np.random.Generator) -> object:
    if generator.random() < 0.5:
        return ARROW_SPECIALS[generator.integers(len(ARROW_SPECIALS))](generator)
    return pa.array(drawn(generator, PYTHON[generator.choice(list(PYTHON))]))


ARROW_SPECIALS: list[Maker] = [
    lambda g: pa.nulls(ROWS),
    lambda g: pa.array(drawn(g, ["a", "b"])).dictionary_encode(),
    lambda g: pa.array(drawn(g, [1, 2])).dictionary_encode(),
    lambda g: pa.array(drawn(g, [b"a", b"b"])).dictionary_encode(),
    lambda g: pa.DictionaryArray.from_arrays(pa.array([0, 1] * (ROWS // 2)), ["a", None]),
    lambda g: pa.array(drawn(g, ["a", "b"]), pa.string_view()),
    lambda g: pa.array(drawn(g, [b"abcd"]), pa.binary(4)),
    lambda g: pa.array(drawn(g, [2**62, 1]), pa.int64()).cast(pa.timestamp("s")),
    lambda g: pa.array(drawn(g, [2**62 + 1, 1]), pa.int64()).cast(pa.timestamp("ns", "UTC")),
    lambda g: pa.array(drawn(g, [2**30, 1]), pa.int32()).cast(pa.date32()),
    lambda g: pa.array(drawn(g, [(1, 2, 3), (0, 0, 1)]), pa.month_day_nano_interval()),
    lambda g: pa.array([[("a", 1)]] * ROWS, pa.map_(pa.string(), pa.int64())),
    lambda g: pa.compute.run_end_encode(pa.array(drawn(g, [1, 2]))),
    lambda g: pa.array(np.array([1.5, 0.5] * (ROWS // 2), np.float16)),
    lambda g: pa.array(drawn(g, [decimal.Decimal("1e30")]), pa.decimal256(50, 10)),
    lambda g: pa.UnionArray.from_dense(
        pa.array([0, 1] * (ROWS // 2), pa.int8()),
        pa.array([place // 2 for place in range(ROWS)], pa.int32()),
        [pa.array(range(ROWS // 2)), pa.array(["a"] * (ROWS // 2))],
    ),
]

NAMES = [
    "x",
    "\u00e9t\u00e9",
    "e\u0301te\u0301",
    "a b",
    "",
    "0",
    "a,b",
    "x" * 300,
    "\u202e",
    "None",
]
COLUMNS = [
    *[om.Flat()] * 5,
    *[om.Flat(role="other")] * 5,
    om.Numeric(),
    om.Numeric(role="sensitive", missing="suppress"),
    om.Date(),
    om.Ordinal(order=["", " ", "a", "b"]),
    om.Nominal(DISEASES),
    om.Nominal(DISEASES, unmapped="root"),
    om.Nominal(DISEASES, role="other", unmapped="suppress"),
    om.Identifier(),
    om.Count(),
    om.Weight(),
]
METHODS = [
    om.Microaggregation(3),
    om.Recoding(3),
    om.LocalSuppression(3),
    om.Suppression(2),
    om.RankSwapping(k=3),
    om.Sampling(size=4),
    om.Generalization([om.privacy.KAnonymity(2)], suppression_limit=1.0),
]
SENTENCE = re.compile(r"(?s)[A-Zk'].+ .+[.?]$")
"""A whole one (k is the parameter), perhaps followed by a list."""
LIBRARIES = {
    "pandas": (pandas_column, lambda columns: pd.DataFrame(columns)),
    "polars": (polars_column, lambda columns: pl.DataFrame(columns)),
    "pyarrow": (arrow_column, lambda columns: pa.table(columns)),
}


def odd_case(library: str, seed: int) -> tuple[object, om.Schema, object]:
    generator = np.random.default_rng(seed)
    column, frame = LIBRARIES[library]
    names = generator.choice(NAMES, generator.integers(1, 3), replace=False).tolist()
    columns = {name: column(generator) for name in names}
    columns["age"] = [20, 30, 40] * (ROWS // 3)
    kinds = {name: COLUMNS[generator.integers(len(COLUMNS))] for name in names}
    method = METHODS[generator.integers(len(METHODS))]
    try:
        schema = om.Schema.of({**kinds, "age": om.Numeric()})
    except om.errors.SchemaError:
        schema = om.Schema.of({names[0]: kinds[names[0]], "age": om.Numeric()})
    return frame(columns), schema, method


def answered(question: Callable[[], object]) -> object:
    """The answer, or None where a sentence says why there is none."""
    try:
        return question()
    except om.errors.OntomaskError as error:
        sentence = str(error)
    assert SENTENCE.match(sentence), sentence
    assert "defect" not in sentence, sentence
    return None


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("seed", range(FRAMES_EACH))
def test_an_odd_frame_gets_an_answer(library, seed):
    frame, schema, method = odd_case(library, seed)
    release = answered(lambda: om.protect(frame, schema, method, seed=1))
    if release is not None:
        assert release.verification.kept
        assert isinstance(release.frame, type(frame))
        answered(release.evaluate)
        answered(lambda: om.evaluate(frame, frame, schema))
    answered(lambda: om.Schema.infer(frame))
    answered(lambda: om.file_risk(frame, schema))


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_quarters_and_years_are_not_taken_for_times(zone):
    """pandas reads texts such as 2020-Q1 as times, and warns of what it will not read one day."""
    days = pd.date_range("2020-01-01", periods=40, freq="9D", tz=zone)
    frame = pd.DataFrame({"age": [20 + place % 7 for place in range(40)], "seen": days})
    schema = om.Schema(age=om.Numeric(), seen=om.Date())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = om.protect(frame, schema, om.Generalization(k=3, suppression_limit=0.1), seed=1)
    assert any("Q" in str(one) or len(str(one)) == 4 for one in release.frame["seen"])
