import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ontomask as om
from ontomask.arrays import different
from ontomask.data import encoding
from ontomask.data.encoding import day_number, encode
from ontomask.data.tables import open_table
from ontomask.taxonomy.bundled import load
from tables import DISEASES, mixed_columns, mixed_schema


def encoded(frame, **columns):
    return encode(open_table(frame), om.Schema.of(columns))


def test_every_kind_is_encoded_the_same_from_every_frame(make_frame):
    microdata = encode(open_table(make_frame(mixed_columns())), mixed_schema())
    expected = encode(open_table(pd.DataFrame(mixed_columns())), mixed_schema())
    assert list(microdata.attributes) == list(expected.attributes)
    for name, attribute in microdata.attributes.items():
        assert attribute.codes.tolist() == expected[name].codes.tolist(), name
        assert attribute.has_missing == expected[name].has_missing


def test_nominal_values_become_concepts_and_spellings_unite():
    microdata = encoded(
        pl.DataFrame({"d": ["flu", "Flu", "flu", "cold", None]}), d=om.Nominal(DISEASES)
    )
    attribute = microdata["d"]
    assert DISEASES.ids_of(attribute.concepts.tolist()) == ("cold", "flu")
    assert attribute.codes.tolist() == [1, 1, 1, 0, 2]
    assert attribute.values == ("cold", "flu")
    assert attribute.missing_code == 2


def test_codes_come_out_as_codes_and_labels_as_labels(icd9):
    by_code = encoded(pl.DataFrame({"d": ["250.00", "250.01"]}), d=om.Nominal(icd9))["d"]
    parent = icd9.index_of("250.0")
    assert by_code.as_concepts.vocabulary.written([parent]) == ["250.0"]
    labels = [icd9.label_of(one) for one in ("250.00", "250.01")]
    by_label = encoded(pl.DataFrame({"d": labels}), d=om.Nominal(icd9))["d"]
    assert by_label.as_concepts.vocabulary.written([parent]) == [icd9.label_of("250.0")]
    as_id = encoded(pl.DataFrame({"d": labels}), d=om.Nominal(icd9, output="id"))["d"]
    assert as_id.values == ("250.00", "250.01")


def test_numbers_dates_and_ranks():
    frame = pl.DataFrame(
        {
            "n": [3.5, None, 1.0],
            "d": [datetime.date(2024, 1, 2), datetime.date(2024, 1, 1), None],
            "o": ["high", "low", "high"],
            "t": ["31/01/2024", "01/02/2024", None],
        }
    )
    microdata = encoded(
        frame,
        n=om.Numeric(),
        d=om.Date(),
        o=om.Ordinal(order=["low", "mid", "high"]),
        t=om.Date(format="%d/%m/%Y"),
    )
    np.testing.assert_array_equal(microdata["n"].record_numbers(), [3.5, np.nan, 1.0])
    days = microdata["d"].record_numbers()
    assert days[0] - days[1] == 1
    assert np.isnan(days[2])
    assert microdata["o"].codes.tolist() == [2, 0, 2]
    assert microdata["t"].values == ("31/01/2024", "01/02/2024")


def test_tuples_and_weights():
    frame = pl.DataFrame({"a": ["x", "x", "y"], "b": [1, 1, 2], "w": [2, 3, 4]})
    microdata = encoded(frame, a=om.Flat(), b=om.Numeric(), w=om.Count())
    tuples = microdata.tuples()
    assert tuples.weights.tolist() == [5, 4]
    assert tuples.places.tolist() == [0, 0, 1]
    assert microdata.total == 9


def test_missing_rules():
    frame = pl.DataFrame({"a": ["x", None, "y"], "b": [1, 2, 3]})
    suppressed = encoded(frame, a=om.Flat(missing="suppress"), b=om.Numeric())
    assert len(suppressed) == 2
    assert suppressed.left_out.tolist() == [1]
    with pytest.raises(om.errors.DataError, match="1 missing value,"):
        encoded(frame, a=om.Flat(missing="error"), b=om.Numeric())


def test_all_problems_are_collected():
    frame = pl.DataFrame({"a": [None, None], "b": ["x", "y"], "c": ["flu", "measles"]})
    with pytest.raises(om.errors.SchemaError) as caught:
        encoded(frame, a=om.Flat(), b=om.Numeric(), c=om.Nominal(DISEASES))
    for number in ("1. ", "2. ", "3. "):
        assert number in str(caught.value)


def test_a_proposed_schema_gives_its_reasons(icd9):
    generator = np.random.default_rng(1)
    count = 200
    frame = pl.DataFrame(
        {
            "patient_id": [f"x{number}" for number in range(count)],
            "age": generator.integers(0, 90, count),
            "sex": generator.choice(["f", "m"], count),
            "diagnosis": generator.choice(["250.00", "401.9", "428.0", "V45.71"], count),
            "admitted": ["2024-01-31"] * count,
        }
    )
    proposal = om.Schema.infer(frame)
    assert isinstance(proposal.schema["patient_id"], om.Identifier)
    assert isinstance(proposal.schema["age"], om.Numeric)
    assert isinstance(proposal.schema["sex"], om.Flat)
    assert isinstance(proposal.schema["admitted"], om.Date)
    nominal = proposal.schema["diagnosis"]
    assert isinstance(nominal, om.Nominal)
    assert nominal.taxonomy is icd9
    assert "codes of icd9cm" in str(proposal)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (["71534", "71535", "71536"], {"7153", "71534", "71535", "71536"}),
        (["715.34", "715.35", "715.36"], {"715.3", "715.34", "715.35", "715.36"}),
    ],
)
def test_general_codes_are_written_as_the_column_writes_its_own(codes, expected):
    schema = om.Schema(diagnosis=om.Nominal(om.load_taxonomy("icd9cm")))
    attribute = encode(open_table(pl.DataFrame({"diagnosis": codes})), schema)["diagnosis"]
    taxonomy = schema.column("diagnosis").taxonomy
    general = taxonomy.index_of("715.3")
    vocabulary = attribute.as_concepts.vocabulary
    assert set(vocabulary.written([*attribute.concepts.tolist(), general])) == expected
    assert vocabulary.written([taxonomy.index_of("710-719")]) == ["710-719"]


def refused(error, frame, **columns) -> str:
    with pytest.raises(error) as caught:
        encoded(pl.DataFrame(frame), **columns)
    return str(caught.value)


def test_wrong_dates_are_told_by_their_records():
    days = ["31.01.2024", None, "secret", "secret", "01.02.2024"]
    sentence = refused(om.errors.DataError, {"d": days}, d=om.Date(format="%d.%m.%Y"))
    assert sentence == (
        "Column 'd' is said to hold dates (%d.%m.%Y) but holds values that are none (in records "
        "3, 4); correct them, give the column's format, or declare the column as flat."
    )
    only = refused(om.errors.DataError, {"d": ["2024-01-31", "secret"]}, d=om.Date())
    assert "(in record 2)" in only
    many = refused(om.errors.DataError, {"d": days * 7}, d=om.Date(format="%d.%m.%Y"))
    assert "(in records 3, 4, 8, 9, 13 and 9 more)" in many


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("DD.MM.YYYY", "%d.%m.%Y"),
        ("dd.mm.yy", "%d.%m.%y"),
        ("TT.MM.JJJJ", "%d.%m.%Y"),
        ("YYYY-MM-DD hh:mm:ss", "%Y-%m-%d %H:%M:%S"),
        ("d/m/Y", "%d/%m/%Y"),
        ("YYYYMMDD", "%Y%m%d"),
        ("...", "%d.%m.%Y, say"),
    ],
)
def test_formats_as_spreadsheets_write_them_are_translated(written, meant):
    frame = {"d": ["31.01.2024", "01.02.2024"]}
    sentence = refused(om.errors.DataError, frame, d=om.Date(format=written))
    assert sentence.endswith(f"; write the format as {meant}.")


ICD9_CODES = ["250.00", "401.9", "V45.71", "25001", "V10.3", "038.9"]


def test_a_taxonomy_that_knows_the_codes_is_named(icd9):
    procedures = load("icd9cm-procedures")
    sentence = refused(om.errors.UnmappedValuesError, {"d": ICD9_CODES}, d=om.Nominal(procedures))
    assert sentence == (
        "Column 'd': 6 of 6 values have no concept in the taxonomy 'icd9cm-procedures', but "
        "icd9cm knows 100% of them; take that taxonomy."
    )
    many = {"d": list(icd9.ids[2000:2500])}
    sentence = refused(om.errors.UnmappedValuesError, many, d=om.Nominal(load("nace")))
    assert "icd9cm knows 100% of the 200 most frequent of them" in sentence


def test_no_taxonomy_is_named_where_most_values_are_known_or_none_knows_them(icd9):
    mostly = {"d": ["45.16", "38.93", "99.04", "81.54", "250.01", "V45.71", "25002"]}
    unknown = {"d": ["x1", "x2", "x3", "x4"]}
    procedures = load("icd9cm-procedures")
    for frame, taxonomy in ((mostly, procedures), (unknown, icd9)):
        sentence = refused(om.errors.UnmappedValuesError, frame, d=om.Nominal(taxonomy))
        assert "knows" not in sentence
        assert "Correct the values" in sentence


def test_for_words_no_taxonomy_is_loaded(icd9, monkeypatch):
    monkeypatch.setattr(encoding, "load", None)
    words = {"d": ["zz top", "yy", "xx", "ww"]}
    sentence = refused(om.errors.UnmappedValuesError, words, d=om.Nominal(icd9))
    assert "Correct the values" in sentence


def test_counts_and_weights_are_kept_apart():
    frame = pl.DataFrame({"a": ["x", "x", "y"], "n": [2, 1, 3], "w": [10.0, 20.5, 1.0]})
    microdata = encoded(frame, a=om.Flat(), n=om.Count(), w=om.Weight())
    tuples = microdata.tuples(["a"])
    assert tuples.counts.tolist() == [3, 3]
    assert tuples.weights.tolist() == [40.5, 3]
    assert microdata.total == 6


def test_people_left_out_for_a_missing_value_count_in_the_whole_table():
    """A model compares with all people there were, whoever is released."""
    frame = pl.DataFrame(
        {"age": [30, None, 31, 32], "sex": ["f", "f", None, "m"], "w": [1.0, 2.0, 4.0, 8.0]}
    )
    schema = om.Schema(
        age=om.Numeric(missing="suppress"),
        sex=om.Flat(role="sensitive", missing="suppress"),
        w=om.Weight(),
    )
    microdata = encode(open_table(frame), schema)
    assert len(microdata) == 2
    assert microdata["sex"].values == ("f", "m")
    assert microdata.distribution("sex").tolist() == [3.0, 8.0]


@pytest.mark.parametrize("numbers", [[], [7], [3, 3], [5, -1, 5, 2**60, -1, 0]])
def test_different_numbers_ascend(numbers):
    assert different(np.array(numbers, np.int64)).tolist() == sorted(set(numbers))


def test_days_are_the_same_together_and_one_by_one():
    """To the last bit, with and without a time zone, dates among times as well."""
    generator, zone = np.random.default_rng(5), datetime.timezone(datetime.timedelta(hours=-7))
    begin = datetime.datetime(1, 1, 1)
    seconds = generator.integers(0, 9990 * 365 * 86_400, 500).tolist()
    micros = generator.integers(0, 10**6, 500).tolist()
    times = [
        begin + datetime.timedelta(seconds=one, microseconds=other)
        for one, other in zip(seconds, micros, strict=True)
    ]
    for values in (
        times,
        [one.replace(tzinfo=zone) for one in times],
        [one.date() for one in times],
    ):
        found = encoding._plain_days(values)
        assert found.tolist() == [day_number("x", one, None) for one in values]
    assert encoding._plain_days([*times, "2024-01-31"]) is None
