"""Every kind of column of every frame library: what goes in comes out, missing stays missing, exact
stays exact, nothing that was left out or suppressed travels along. docs/types.md says so, too."""

import datetime
import pickle
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ontomask as om
from ontomask.data.tables import open_table
from tools.docs_types import COMMON, KINDS, LIBRARIES, RARE, REFUSED, VALUES, refusal, refused

PAGE = (Path(__file__).parents[2] / "docs" / "types.md").read_text(encoding="utf-8").splitlines()
HIDDEN = b"a rare value"
"""Neither in a value nor anywhere in the memory of a release."""
every_kind = pytest.mark.parametrize("kind", KINDS, ids=str)


def values_of(frame) -> list[object]:
    column = frame["x"]
    listed = column.to_pylist() if isinstance(frame, pa.Table) else column.to_list()
    return [None if is_missing(value) else plain(value) for value in listed]


def is_missing(value) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or value != value


def plain(value):
    """Without time zone, and Python's own type where a library has its own."""
    value = getattr(value, "item", lambda: value)()
    value = getattr(value, "to_pydatetime", lambda: value)()
    value = getattr(value, "to_pytimedelta", lambda: value)()
    return value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value


def clock_of(kind, value):
    """The value on the clock of the zone: zones change what Python's times without one mean."""
    return values_of(kind.of([value]))[0]


def expected(kind, *, rare=True) -> list[object]:
    common, other = (clock_of(kind, value) for value in VALUES[kind.sort])
    return [common] * COMMON + [other if rare else None] * RARE + [None] * kind.gaps


@every_kind
def test_what_goes_in_comes_out(kind):
    unchanged = kind.released(om.LocalSuppression(2))
    assert values_of(unchanged.frame) == expected(kind)
    assert unchanged.digests["input"] == unchanged.digests["output"]
    suppressed = kind.released(om.LocalSuppression(4))
    # where none was missing, a common value is suppressed, too, or there would be three gaps only
    assert values_of(suppressed.frame)[1:] == expected(kind, rare=False)[1:]
    assert type(values_of(suppressed.frame)[1]) is type(values_of(kind.frame)[1])
    leaves_nothing_behind(kind, suppressed)
    assert kind.row(unchanged, suppressed) in PAGE, "run tools/docs_snippets.py"


@every_kind
def test_records_left_out_leave_nothing_behind(kind):
    release = kind.released(om.Suppression(4))
    assert values_of(release.frame) == expected(kind)[:COMMON]
    assert kind.came_out(release) == "same"
    leaves_nothing_behind(kind, release)


def leaves_nothing_behind(kind, release):
    assert set(categories_of(release.frame)) <= {VALUES[kind.sort][0]}
    assert HIDDEN not in pickle.dumps(release.frame)


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
def test_distinct_values_are_read_as_they_are(kind):
    codes, known = open_table(kind.frame).distinct("x")
    assert [None if code < 0 else plain(known[code]) for code in codes] == expected(kind)


def test_the_page_has_a_row_for_every_type_and_no_other():
    rows = [line for line in PAGE if line.startswith("| ") and not line.startswith("| type |")]
    assert len(rows) == len(KINDS) + len(REFUSED) + 1  # the heading of what is refused
    assert {kind.library for kind in KINDS} == set(LIBRARIES)


def test_no_library_has_missing_values_of_its_own_among_listed_ones():
    for kind in KINDS:
        listed = open_table(kind.frame).column("x")
        assert [value is None for value in listed] == [False] * (COMMON + RARE) + [True] * kind.gaps


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_published_is_refused_with_a_sentence(name):
    assert refused(name) in PAGE, "run tools/docs_snippets.py"
    assert refusal(name) == refusal(name, role="other")
    assert refusal(name).startswith("Column 'x' ")


MASKED = {"mild": "light", "never": "light", "severe": "heavy", "fatal": "heavy"}


def coded(library, order, *, ordered):
    """A frame of categories, one of which nobody has."""
    values = ["severe", "mild", "fatal", "mild"] * 3
    if library == "pandas":
        return pd.DataFrame({"x": pd.Categorical(values, order, ordered=ordered), "n": range(12)})
    if library == "polars":
        kind = pl.Enum(order) if ordered else pl.Categorical
        return pl.DataFrame({"x": pl.Series(values, dtype=kind), "n": range(12)})
    codes = pa.array([order.index(one) for one in values], pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, order, ordered=ordered)
    return pa.table({"x": column, "n": range(12)})


def generalized(frame):
    """A release that has other values than the table."""
    hierarchy = [[value, group, "*"] for value, group in MASKED.items()]
    method = om.Generalization([om.privacy.KAnonymity(6)], hierarchies={"x": hierarchy})
    return om.protect(frame, om.Schema(x=om.Flat()), method, seed=1).frame


@pytest.mark.parametrize("library", LIBRARIES)
def test_values_that_are_no_categories_yet_become_some(library):
    order = ["mild", "never", "severe", "fatal"]
    for ordered in (True, False):
        frame = generalized(coded(library, order, ordered=ordered))
        assert values_of(frame) == [MASKED[one] for one in ("severe", "mild", "fatal", "mild")] * 3
        column = frame["x"]
        if library == "pandas":
            assert column.cat.categories.tolist() == ["heavy", "light"]
            assert not column.cat.ordered
        elif library == "polars":
            assert column.dtype == pl.Categorical
        else:
            assert column.type == pa.dictionary(pa.int8(), pa.string())


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
