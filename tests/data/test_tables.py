import datetime
from collections import Counter
from decimal import Decimal
from hashlib import blake2b

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ontomask as om
from ontomask import arrays
from ontomask.arrays import FloatValues
from ontomask.data import distinct, libraries, tables
from ontomask.data.seen import Seen, beside
from ontomask.data.tables import Table, open_table
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


SHUFFLED = pd.DataFrame({"n": range(12), "g": ["a", "b"] * 6}).sample(frac=1, random_state=1)


def test_values_go_to_the_people_they_belong_to_by_the_index():
    schema = om.Schema(n=om.Numeric(), g=om.Flat(role="other"))
    plain = om.protect(SHUFFLED, schema, om.Microaggregation(3), seed=1)
    assert plain.frame.index.tolist() == list(range(12))
    kept = om.protect(SHUFFLED, schema, om.Microaggregation(3), seed=1, keep_index=True)
    assert kept.frame.index.equals(SHUFFLED.index)
    assert kept.frame["n"].tolist() == plain.frame["n"].tolist()
    beside = SHUFFLED.assign(masked=kept.frame["n"])
    assert (beside["masked"] - beside["n"]).abs().max() <= 2
    assert kept.digests == plain.digests


def test_the_index_of_records_left_out_is_left_out():
    frame = SHUFFLED.set_index(pd.Index([f"p{n}" for n in SHUFFLED["n"]], name="patient"))
    frame = frame.assign(g=["rare", *["a"] * 11])
    schema = om.Schema(g=om.Flat(), n=om.Numeric(role="other"))
    kept = om.protect(frame, schema, om.Suppression(2), seed=1, keep_index=True)
    assert kept.frame.index.tolist() == frame.index[1:].tolist()
    assert kept.evaluate().loss.loss >= 0
    assert om.protect(frame, schema, om.Suppression(2), seed=1).frame.index.name is None


@pytest.mark.parametrize(
    "index", [[0, 0, 1, 1] * 3, pd.MultiIndex.from_product([range(6), ["a", "b"]])]
)
def test_any_index_can_be_kept(index):
    frame = SHUFFLED.set_axis(index)
    schema = om.Schema(n=om.Numeric(), g=om.Flat())
    kept = om.protect(frame, schema, om.Microaggregation(3), seed=1, keep_index=True)
    assert kept.frame.index.equals(frame.index)
    assert kept.verification.kept


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_only_pandas_has_an_index_to_keep(make):
    schema = om.Schema(n=om.Numeric())
    with pytest.raises(DataError, match=r"^keep_index is for pandas frames: a .* has no index"):
        om.protect(make({"n": [1, 2, 3]}), schema, om.Recoding(2), keep_index=True)


def test_a_column_is_looked_at_once(monkeypatch):
    looked = []
    distinct = Table._distinct
    monkeypatch.setattr(
        Table, "_distinct", lambda self, name: looked.append(name) or distinct(self, name)
    )
    table = open_table(pl.DataFrame({"a": ["x", "y", None], "b": [1, 1, 2]}))
    first, _, _ = table.distinct("a"), table.seen("a"), table.digest()
    assert table.distinct("a")[1] == first[1] == ["x", "y"]
    assert looked == ["a", "b"]
    assert open_table(table) is table


@pytest.mark.parametrize(
    "values",
    [
        ["b", None, "a", "b"],
        [3, 1, None, 3],
        [True, None, False],
        [Decimal("1.50"), None],
        [datetime.date(2024, 1, 2), None, datetime.date(2024, 1, 1)],
        [b"x", None, b"x"],
    ],
)
@pytest.mark.parametrize("make", [pl.Series, pd.Series])
def test_short_columns_are_coded_as_long_ones(values, make, monkeypatch):
    _coded_alike(make(values), monkeypatch)


@pytest.mark.parametrize("kind", ["Int64", "category", "datetime64[s]", "int64[pyarrow]"])
def test_short_columns_of_pandas_are_coded_as_long_ones(kind, monkeypatch):
    _coded_alike(pd.Series([3, 1, None, 3]).astype("Int64").astype(kind), monkeypatch)


def _coded_alike(column, monkeypatch):
    frame = column.alias("a").to_frame() if isinstance(column, pl.Series) else column.to_frame("a")
    by_hand = open_table(frame).distinct("a")
    monkeypatch.setattr(libraries, "FEW", 0)
    by_query = open_table(frame).distinct("a")
    assert by_hand[0].tolist() == by_query[0].tolist()
    assert by_hand[1] == by_query[1]
    assert list(map(type, by_hand[1])) == list(map(type, by_query[1]))


FLOATS = [
    [0.5, -1.5, None, 0.5, 1e300],
    [0.0, -0.0, 1.0, 0.0],
    [float("nan"), None, 1.0, float("nan")],
    [-0.0, None, float("nan"), -0.0],
]


@pytest.mark.parametrize("values", FLOATS)
def test_floats_are_seen_as_they_look(values):
    seen = open_table(pl.DataFrame({"a": values})).seen("a")
    assert [repr(seen.values[code]) for code in seen.codes.tolist()] == list(map(repr, values))
    looks = [repr(value) for value in seen.values]
    assert len({*looks}) == len(looks)


@pytest.mark.parametrize("many", [0, 10_000])
def test_floats_have_one_digest_in_every_library(many, monkeypatch):
    """By their bits, where they are many, or by their texts."""
    monkeypatch.setattr(tables, "MANY", many)
    values, above = [2.5, None, -1.0, 0.1], [2.5, None, -1.0, float(np.nextafter(0.1, 1))]
    found = [
        {open_table(make({"a": one})).digest() for make in (pl.DataFrame, pa.table, pd.DataFrame)}
        for one in (values, above, values[::-1])
    ]
    assert [len(one) for one in found] == [1, 1, 1]
    assert len(set.union(*found)) == 3


def test_floats_are_digested_as_python_writes_them():
    """Large and small ones, those between two shortest texts, and neighbors of powers."""
    generator = np.random.default_rng(1)
    powers = np.append(2.0 ** np.arange(-1074, 1024, 4), 10.0 ** np.arange(-30, 30))
    halves = generator.integers(2**49, 2**53, 500) / 8.0
    spread = generator.normal(size=500) * 10.0 ** generator.integers(-20, 20, 500)
    every = np.unique([*powers, *np.nextafter(powers, 0), *halves, *spread, *np.round(spread, 3)])
    table = open_table(pl.DataFrame({"a": np.append(every, -every[every > 0])}))
    codes, known = table.distinct("a")
    text = repr(("a", list(map(str, known)))).encode()
    assert len(known) < tables.MANY
    assert table.digest() == blake2b(text + codes.tobytes(), digest_size=16).hexdigest()


EXPECTED = {
    "true": ([1, 0, 2, 0], [-1.5, 0.5, 2.0]),
    "another number": ([1, 0, 2, 0], [-1.5, 0.5, 2.5]),
    "another record": ([1, 0, 2, 1], [-1.5, 0.5, 2.0]),
    "fewer records": ([1, 0, 2], [-1.5, 0.5, 2.0]),
    "not in order": ([1, 2, 0, 2], [2.0, 0.5, -1.5]),
    "one twice": ([1, 0, 3, 0], [-1.5, 0.5, 0.5, 2.0]),
    "one that nobody has": ([1, 0, 3, 0], [-1.5, 0.5, 1.0, 2.0]),
}


@pytest.mark.parametrize("kind", [pl.Float64, pl.Float32])
@pytest.mark.parametrize("expected", EXPECTED)
def test_what_is_expected_of_a_column_is_not_believed(expected, kind):
    codes, known = EXPECTED[expected]
    table = open_table(pl.DataFrame({"a": pl.Series([0.5, -1.5, 2.0, -1.5], dtype=kind)}))
    values = FloatValues(np.array(known), gap=True)
    table.expect({"a": Seen(np.array(codes, np.int32), values)})
    found, listed = table.distinct("a")
    assert (found.tolist(), listed) == ([1, 0, 2, 0], [-1.5, 0.5, 2.0])


EXPECTED_TEXTS = {
    "true": ([1, 0, 3, 0, 2], ["b", "a", "c", None]),
    "another text": ([1, 0, 3, 0, 2], ["b", "a", "d", None]),
    "another record": ([1, 0, 3, 1, 2], ["b", "a", "c", None]),
    "fewer records": ([1, 0, 3, 0], ["b", "a", "c", None]),
    "one twice": ([1, 0, 4, 3, 2], ["b", "a", "c", "b", None]),
    "one that nobody has": ([1, 0, 4, 0, 3], ["b", "a", "0", "c", None]),
    "a gap that is none": ([1, 0, 2, 0, 3], ["b", "a", "c", None]),
    "numbers": ([1, 0, 3, 0, 2], [2, 1, 3, None]),
}


@pytest.mark.parametrize("together", [2, 4, 100])
@pytest.mark.parametrize("kind", [pl.String, pl.Categorical])
@pytest.mark.parametrize("expected", EXPECTED_TEXTS)
def test_what_is_expected_of_texts_is_not_believed(expected, kind, together, monkeypatch):
    monkeypatch.setattr(arrays, "STRETCH", together)
    codes, values = EXPECTED_TEXTS[expected]
    table = open_table(pl.DataFrame({"a": pl.Series(["a", "b", None, "b", "c"], dtype=kind)}))
    table.expect({"a": Seen(np.array(codes, np.int32), values)})
    found, listed = table.distinct("a")
    assert (found.tolist(), listed) == ([0, 1, -1, 1, 2], ["a", "b", "c"])


@pytest.mark.parametrize("late", [0, 3, 900])
@pytest.mark.parametrize("values", [1, 3, 80, 900])
def test_expected_texts_come_in_the_order_of_their_appearance(values, late):
    """Most are among the first records, some only behind them, and some nowhere."""
    generator = np.random.default_rng(values)
    texts = [str(one) if one % 7 else None for one in generator.integers(0, values, 2_000)]
    texts += [f"late {one}" for one in range(late)]
    listed = [*sorted({one for one in texts if one is not None} | {"nobody's"}), None]
    places = {text: place for place, text in enumerate(listed)}
    codes = np.array([places[text] for text in texts], np.int32)
    told, plain = (open_table(pl.DataFrame({"a": texts})) for _ in range(2))
    told.expect({"a": Seen(codes, listed)})
    found, known = told.distinct("a")
    assert known == plain.distinct("a")[1] == [one for one in dict.fromkeys(texts) if one]
    assert found.tolist() == plain.distinct("a")[0].tolist()


@pytest.mark.parametrize("k", [3, 4])
def test_texts_that_are_as_expected_are_not_looked_up(k, monkeypatch):
    frame, schema = pl.DataFrame({"a": ["x", "y", "z", None] * 3}), om.Schema(a=om.Flat())
    looked, distinct = [], libraries._Polars.distinct
    monkeypatch.setattr(
        libraries._Polars, "distinct", lambda self, one: looked.append(one) or distinct(self, one)
    )
    method = om.Generalization(k=k, hierarchies={"a": {"star": True}})
    assert om.protect(frame, schema, method, seed=1).verification.kept
    assert len(looked) == 1


@pytest.mark.parametrize("values", FLOATS)
def test_zeros_and_gaps_are_compared_with_what_is_expected(values):
    frame = pl.DataFrame({"a": values})
    for others in FLOATS:
        table, plain = open_table(frame), open_table(pl.DataFrame({"a": others}))
        codes, known = plain.values("a")
        shown = np.where(codes < 0, len(known), codes).astype(np.int32)
        table.expect({"a": Seen(shown, FloatValues(known.numbers, gap=True))})
        assert table.digest() == open_table(frame).digest()


def test_a_column_that_is_as_expected_is_not_sorted(monkeypatch):
    frame, schema = pl.DataFrame({"a": [0.5, -1.5, 2.0, None]}), om.Schema(a=om.Numeric())
    sorted_ones = []
    sort = distinct.numbered
    monkeypatch.setattr(distinct, "numbered", lambda one: sorted_ones.append(one) or sort(one))
    om.protect(frame, schema, om.RankSwapping(k=2), seed=1)
    assert len(sorted_ones) == 1


@pytest.mark.parametrize("size", [3, 10**8])
def test_values_that_stand_beside_each_other_are_counted(size):
    """Where few codes are possible and where many are, with gaps, and by the records' counts."""
    generator = np.random.default_rng(size)
    pairs = generator.integers(0, size, (2, 30)) // max(1, size // 3) * max(1, size // 3)
    counts = generator.integers(1, 5, 3_000).astype(float)
    codes, others = (one.astype(np.int32) for one in pairs[:, generator.integers(0, 30, 3_000)])
    expected = Counter()
    for code, other, count in zip(codes.tolist(), others.tolist(), counts.tolist(), strict=True):
        expected[code, other] += count
    found = beside(codes, others, size, counts)
    listed = zip(*(one.tolist() for one in found), strict=True)
    assert [((a, b), count) for a, b, count in listed] == sorted(expected.items())


def test_columns_stand_beside_each_other_by_value():
    frame = pl.DataFrame({"a": ["x", "y", None, "x"], "b": [0.0, -0.0, None, 0.0]})
    one, other = (open_table(frame).seen(name) for name in "ab")
    found = {(a, str(b)): count for a, b, count in one.beside(other)}
    assert found == {("x", "0.0"): 2, ("y", "-0.0"): 1, (None, "None"): 1}


@pytest.mark.parametrize("later", [0, 1, 900])
@pytest.mark.parametrize("values", [1, 3, 80, 900, 200_000])
def test_texts_get_their_codes_however_many_differ(values, later, monkeypatch):
    monkeypatch.setattr(arrays, "STRETCH", 700)
    generator = np.random.default_rng(values)
    texts = [str(one) if one % 7 else None for one in generator.integers(0, values, 2_000)]
    # some values, few or many, that the first records do not have
    texts += [f"late {one}" if one % 7 else None for one in range(later)]
    codes, known = open_table(pl.DataFrame({"a": texts})).distinct("a")
    assert [None if code < 0 else known[code] for code in codes] == texts
    assert known == [one for one in dict.fromkeys(texts) if one is not None]


@pytest.mark.parametrize("known", [["a", "bb", "ccc"], ["a", "b", "ccc"]])
def test_texts_are_told_apart_though_their_hashes_are_not(known, monkeypatch):
    """Hashes of texts of equal length are equal here: those of some known ones, or of others."""
    monkeypatch.setattr(
        pl.DataFrame,
        "hash_rows",
        lambda frame: frame.to_series().str.len_bytes().fill_null(2).cast(pl.UInt64),
    )
    texts = [*known * 400, *["dd", None, "e", "ccc", "ffff"] * 3]
    codes, found = open_table(pl.DataFrame({"a": texts})).distinct("a")
    assert [None if code < 0 else found[code] for code in codes] == texts
    assert found == [*known, "dd", "e", "ffff"]


def test_a_forgotten_column_is_looked_at_again():
    table = open_table(pl.DataFrame({"a": ["x", "y", None]}))
    before = table.distinct("a")
    table.forget(["a", "b"])
    assert table.distinct("a")[0] is not before[0]
    assert table.distinct("a")[1] == before[1]


@pytest.mark.parametrize("count", [libraries.FEW, libraries.MODERATE, libraries.MODERATE + 1])
@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt8, pl.Int128])
def test_whole_numbers_are_told_apart_in_the_order_of_their_appearance(count, kind):
    """Few are counted, more are sorted, and many looked up: all alike."""
    numbers = np.random.default_rng(1).integers(0, 200, count).tolist()
    codes, known = open_table(pl.DataFrame({"n": pl.Series(numbers, dtype=kind)})).distinct("n")
    assert known == list(dict.fromkeys(numbers))
    assert {type(one) for one in known} == {int}
    assert [known[code] for code in codes.tolist()] == numbers
    assert codes.dtype == np.int32


@pytest.mark.parametrize("count", [8, 5000, 20_000])
def test_a_digest_knows_one_zero(count):
    """Which of both is met first depends on how numbers are sorted, and draws on the digest."""
    numbers = np.random.default_rng(1).permutation(np.append(np.arange(count // 2), [0] * count))
    positive = pl.DataFrame({"a": numbers.astype(float)})
    signs = np.where(np.arange(numbers.size) % 2, -1.0, 1.0)
    for zeros in (np.where(numbers == 0, signs * 0.0, numbers), np.where(numbers, numbers, -0.0)):
        assert open_table(pl.DataFrame({"a": zeros})).digest() == open_table(positive).digest()


KINDS = {
    "bytes": pl.Series([5, -3, 7, 5], dtype=pl.Int8),
    "gaps": pl.Series([None, 300, -3, None, 300], dtype=pl.Int16),
    "far apart": pl.Series([0, 10**15, -(10**15), 0, 7]),
    "long": pl.Series([2**64 - 1, 2**64 - 3, 2**64 - 1], dtype=pl.UInt64),
    "truths": pl.Series([True, None, False]),
    "days": pl.Series([datetime.date(2024, 5, 1), None, datetime.date(1, 1, 1)]),
    "all but one": pl.Series([None, None, None, None, 3], dtype=pl.Int32),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_whole_numbers_truths_and_days_are_counted_as_others_are(kind, library, monkeypatch):
    """The same codes and values, by appearance, whether they are counted or looked up."""
    own = KINDS[kind]
    frame = pl.DataFrame({"x": pl.concat([own, own.gather_every(2)])})
    native = {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow()}[library]
    codes, values = open_table(native).values("x")
    monkeypatch.setattr(tables, "MANY", 0)
    found, known = open_table(native).values("x")
    assert codes.tolist() == found.tolist()
    assert list(values) == list(known)
    assert [*map(type, values)] == [*map(type, known)]
    assert found.dtype == np.int32


def test_codes_are_kept_in_as_few_bytes_as_they_need(monkeypatch):
    """Narrow columns took several times their memory in codes of four bytes."""
    monkeypatch.setattr(arrays, "MANY_CODES", 4)
    for count, kind in ((200, np.uint8), (300, np.uint16), (70_000, np.int32)):
        codes = np.arange(count, dtype=np.int32)
        seen = Seen(codes, range(count))
        assert vars(seen)["_codes"].dtype == kind
        assert seen.codes.dtype == np.int32
        assert seen.of(slice(3, 9)).codes.tolist() == codes[3:9].tolist()
    assert arrays.narrowed(np.array([-1, 5, 9, 127], np.int32)).dtype == np.int8
    assert arrays.narrowed(np.array([-1, 5, 9, 200], np.int32)).dtype == np.int16
    table = open_table(pl.DataFrame({"x": ["a", None, "c", "a", "d"]}))
    assert table.values("x")[0].tolist() == [0, -1, 1, 0, 2]
    assert table._known["x"][0].dtype == np.int8
