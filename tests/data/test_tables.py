import polars as pl
import pytest

from ontomask.data.tables import open_table
from ontomask.errors import DataError


def test_objects_of_python_are_refused_with_a_sentence():
    frame = pl.DataFrame({"a": pl.Series([object(), object()], dtype=pl.Object)})
    with pytest.raises(DataError, match="Column 'a' holds Python objects"):
        open_table(frame).distinct("a")
