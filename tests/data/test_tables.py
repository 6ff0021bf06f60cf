import pandas as pd
import polars as pl
import pytest

import ontomask as om
from ontomask.data.tables import open_table
from ontomask.errors import DataError


def test_objects_of_python_are_refused_with_a_sentence():
    frame = pl.DataFrame({"a": pl.Series([object(), object()], dtype=pl.Object)})
    with pytest.raises(DataError, match=r"^Column 'a' holds values of a type that .* \(Object\)"):
        open_table(frame).distinct("a")


@pytest.mark.parametrize("kind", ["Int64", "boolean", "string", "Float64", "int64[pyarrow]"])
def test_the_missing_value_of_pandas_is_a_missing_value(kind):
    values = {"boolean": [True, False, None], "string": ["a", "b", None]}.get(kind, [1, 2, None])
    gaps = pd.Series(values * 4, dtype=kind)
    frame = pd.DataFrame({"x": gaps, "n": range(12), "unused": gaps})
    schema = om.Schema(x=om.Flat(), n=om.Numeric())
    release = om.protect(frame, schema, om.Recoding(3), seed=1)
    assert release.verification.kept
    codes, known = open_table(frame).distinct("x")
    assert (codes < 0).sum() == 4
    assert len(known) == 2


def test_categories_that_are_numbers_stay_numbers():
    frame = pd.DataFrame({"grade": pd.Categorical([1, 2, 10] * 4), "n": range(12)})
    schema = om.Schema(grade=om.Ordinal(role="sensitive", order=[1, 2, 10]), n=om.Numeric())
    release = om.protect(frame, schema, om.Microaggregation(3), seed=1)
    assert release.frame["grade"].tolist() == [1, 2, 10] * 4
    assert release.evaluate().loss.loss > 0  # the frame itself is found again


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["age", 7], "The column name 7 is no text"),
        (pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]), "several rows of column names"),
    ],
)
def test_names_that_are_no_texts_are_refused(names, sentence):
    with pytest.raises(DataError, match=sentence):
        open_table(pd.DataFrame([[1, 2], [3, 4]], columns=names))


def test_columns_that_are_not_declared_may_hold_anything():
    frame = pd.DataFrame({"n": range(6), "notes": [[1], [2], "x", 3.5, None, {}]})
    release = om.protect(frame, om.Schema(n=om.Numeric()), om.Microaggregation(3), seed=1)
    assert list(release.frame.columns) == ["n"]
