"""Numbers that floats cannot hold: what is not changed comes out as it was."""

from collections import Counter
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ontomask as om
from ontomask.data.encoding import encode
from ontomask.data.tables import open_table

LARGE = [2**53 + 1 + 1000 * number for number in range(12)]
CLOSE = [2**62 + number for number in range(12)]
CENTS = [Decimal(f"{10**15 + number}.{number:02d}") for number in range(12)]
KINDS = {
    "pandas": {
        "large": lambda values: pd.DataFrame({"x": pd.Series(values, dtype="int64")}),
        "cents": lambda values: pd.DataFrame(
            {"x": pd.Series(values, dtype=pd.ArrowDtype(pa.decimal128(30, 2)))}
        ),
    },
    "polars": {
        "large": lambda values: pl.DataFrame({"x": pl.Series(values, dtype=pl.Int64)}),
        "cents": lambda values: pl.DataFrame({"x": pl.Series(values, dtype=pl.Decimal(30, 2))}),
    },
    "pyarrow": {
        "large": lambda values: pa.table({"x": pa.array(values, pa.int64())}),
        "cents": lambda values: pa.table({"x": pa.array(values, pa.decimal128(30, 2))}),
    },
}
CASES = [
    pytest.param(make, values, id=f"{library}-{name}")
    for library, makers in KINDS.items()
    for name, make, values in [
        ("large", makers["large"], LARGE),
        ("close", makers["large"], CLOSE),
        ("cents", makers["cents"], CENTS),
    ]
]
every_case = pytest.mark.parametrize(("make", "values"), CASES)
SCHEMA = om.Schema(x=om.Numeric())


def listed(frame) -> list[object]:
    return frame["x"].to_pylist() if isinstance(frame, pa.Table) else frame["x"].to_list()


@every_case
def test_the_domain_is_exact(make, values):
    attribute = encode(open_table(make(values)), SCHEMA)["x"]
    assert attribute.values == tuple(values)
    assert attribute.codes.tolist() == list(range(12))


@every_case
def test_a_number_that_is_not_changed_is_the_same_number(make, values):
    three = [value for value in values[:4] for _ in range(3)]
    for schema, method in (
        (om.Schema(x=om.Numeric()), om.LocalSuppression(2)),
        (om.Schema(x=om.Flat()), om.Microaggregation(3)),
    ):
        assert listed(om.protect(make(three), schema, method, seed=1).frame) == three


@every_case
def test_permuted_numbers_are_the_same_numbers(make, values):
    swap = om.RankSwapping(columns=("x",), share=0.3, algorithm="fixed")
    for steps in (swap, [swap, swap]):
        released = listed(om.protect(make(values), SCHEMA, steps, seed=1).frame)
        assert Counter(released) == Counter(values)
        assert released != values


@pytest.mark.parametrize("library", KINDS)
def test_computed_numbers_keep_those_that_stay(library):
    for name, values in (("large", LARGE), ("cents", CENTS)):
        frame = KINDS[library][name](values)
        top = float(values[8])
        coded = om.TopBottomCoding(("x",), top=top)
        released = listed(om.protect(frame, SCHEMA, coded, seed=1).frame)
        assert released[:9] == values[:9]
        thrice = [value for value in values[:4] for _ in range(3)]
        frame = KINDS[library][name](thrice)
        masked = om.protect(frame, SCHEMA, om.Microaggregation(3), seed=1)
        assert listed(masked.frame) == thrice
        assert masked.evaluate().loss.loss == 0


def test_means_of_decimals_are_decimals_of_the_same_places():
    cents = [Decimal("1.10"), Decimal("1.15"), Decimal("1.21")]
    frame = KINDS["polars"]["cents"](cents)
    released = om.protect(frame, SCHEMA, om.Microaggregation(3), seed=1).frame
    assert released["x"].to_list() == [Decimal("1.15")] * 3
    assert released["x"].dtype == frame["x"].dtype


@pytest.mark.parametrize("method", [om.Microaggregation(3), om.Noise(("x",))])
def test_numbers_that_floats_cannot_tell_apart_are_not_computed_with(method):
    with pytest.raises(om.errors.DataError) as caught:
        om.protect(KINDS["polars"]["large"](CLOSE), SCHEMA, method, seed=1)
    assert str(caught.value) == (
        "Column 'x' holds numbers that differ only beyond the 15 digits that are computed with; "
        "round them or take a constant off, or declare the column as flat."
    )


def test_digests_tell_large_numbers_apart():
    frames = [pl.DataFrame({"x": [2**53, number]}) for number in (2**53, 2**53 + 1)]
    assert len({open_table(frame).digest() for frame in frames}) == 2


def test_ordinary_whole_numbers_are_floats_to_compute_with():
    attribute = encode(open_table(pl.DataFrame({"x": [3, 1, 2, 2]})), SCHEMA)["x"]
    assert attribute.values == (1, 2, 3)
    np.testing.assert_array_equal(attribute.numbers, [1.0, 2.0, 3.0])
