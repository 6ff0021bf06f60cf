"""A first look at messy files: what is odd is noticed, said, and can be said again in a plan."""

import datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ontomask.data.files import FileFormat, first_look, read_file, write_file
from ontomask.errors import DataError
from ontomask.samples import discharges

RANDOM = np.random.default_rng(5)
AGES = RANDOM.integers(18, 90, 40).tolist()
PAID = RANDOM.integers(100, 9000, 40).tolist()
SEXES = RANDOM.choice(["f", "m"], 40).tolist()
ROWS = [list(row) for row in zip(AGES, SEXES, PAID, strict=True)]
HEAD = ["age", "sex", "paid"]


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def csv(rows, name="t.csv", separator=",", encoding="utf-8"):
    def cell(one):
        text = "" if one is None else str(one)
        return f'"{text}"' if separator in text else text

    lines = [separator.join(cell(one) for one in row) for row in rows]
    Path(name).write_bytes(("\n".join(lines) + "\n").encode(encoding))
    return name


def book(rows, name="t.xlsx"):
    workbook = pytest.importorskip("xlsxwriter").Workbook(name)
    sheet = workbook.add_worksheet("one")
    for place, row in enumerate(rows):
        for column, one in enumerate(row):
            if one is not None:
                sheet.write(place, column, one)
    workbook.close()
    return name


def changed(values, **places):
    """Values with some of them replaced: `at3="x"`."""
    return [places.get(f"at{place}", value) for place, value in enumerate(values)]


def column(name, values, write=csv):
    return write([[name, "sex"], *([one, SEXES[place]] for place, one in enumerate(values))])


def looked(path, **said):
    """What was found, after checking that the plan that says it reads the same."""
    source = first_look(path, FileFormat(**said))
    again = read_file(path, source.format)
    assert again.frame.equals(source.frame)
    assert set(source.guessed.values()) <= set(source.notes)
    return source


# Rows ---------------------------------------------------------------------------------------------

WRITERS = pytest.mark.parametrize("write", [csv, book])


@WRITERS
@pytest.mark.parametrize(
    "above",
    [
        [["Patients of 2024"]],
        [["Patients of 2024"], []],
        [["Patients of 2024", None, None], ["made on", "2024-05-01", None]],
    ],
    ids=["a title", "a title and a gap", "a title and a date, padded"],
)
def test_a_header_below_a_title_is_found(write, above):
    source = looked(write([*above, HEAD, *ROWS]))
    assert source.columns == tuple(HEAD)
    assert source.rows == 40
    assert source.format.header == len(above) + 1
    assert f"names seem to be in line {len(above) + 1}, below a title" in source.guessed["header"]


def test_a_padded_title_in_a_german_file_is_no_header():
    rows = [["Patienten", "", ""], ["Alter", "Geschlecht", "Betrag"], *ROWS]
    source = looked(csv(rows, separator=";"))
    assert source.columns == ("Alter", "Geschlecht", "Betrag")


@WRITERS
@pytest.mark.parametrize(
    "units", [["(years)", None, "(€)"], ["years", "f/m", "EUR"], ["[a]", "", "[EUR]"]]
)
def test_a_row_of_units_is_no_person(write, units):
    source = looked(write([HEAD, units, *ROWS]))
    assert source.rows == 40
    assert source.format.skip == (2,)
    assert source.frame["age"].sum() == sum(AGES)
    assert source.guessed["skip"] == "These seem to be no records: line 2 gives units."


@WRITERS
@pytest.mark.parametrize(
    "total",
    [
        [sum(AGES), None, sum(PAID)],
        [sum(AGES), "Total", sum(PAID)],
        [None, "Summe", sum(PAID)],
        [None, "TOTAL:", 400_000],
        [sum(AGES) / 40, "Mean", sum(PAID) / 40],
    ],
    ids=["sums", "named sums", "one sum", "a name", "means"],
)
def test_a_row_of_totals_is_no_person(write, total):
    source = looked(write([HEAD, *ROWS, total]))
    assert source.rows == 40
    assert source.format.skip == (-1,)
    assert "sums up" in source.guessed["skip"]


@WRITERS
def test_units_totals_and_notes_together(write):
    below = [[sum(AGES), "total", sum(PAID)], ["Source: registry", None, None]]
    source = looked(write([["Report"], HEAD, ["(years)", None, "(€)"], *ROWS, *below]))
    assert source.rows == 40
    assert source.format.header == 2
    assert source.format.skip == (3, -2, -1)
    assert source.frame["age"].max() < 100


@WRITERS
def test_a_header_in_the_middle_is_no_person(write):
    source = looked(write([HEAD, *ROWS[:20], HEAD, *ROWS[20:], HEAD]))
    assert source.rows == 40
    assert source.frame["age"].cast(int).sum() == sum(AGES)
    assert source.format.skip == (22, 43)
    assert "line 22 repeats the header" in source.guessed["skip"]


def test_notes_that_are_no_full_records_are_left_out():
    source = looked(csv([HEAD, *ROWS, ["Source: registry of 2024"], ["see also page 3"]]))
    assert source.rows == 40
    assert source.format.skip == (-2, -1)


def test_records_with_a_wrong_number_of_fields_inside_are_still_refused():
    with pytest.raises(DataError, match="line 5: the record has 2 fields"):
        first_look(csv([HEAD, *ROWS[:3], ["1", "f"], *ROWS[3:]]))


# Values -------------------------------------------------------------------------------------------


@WRITERS
@pytest.mark.parametrize(
    "codes", [["999"], ["-9"], ["999", "-9"], ["-99", "-99"], ["-1"], ["9999", "8888"]]
)
def test_codes_for_missing_values_are_found(write, codes):
    values = changed(AGES, **{f"at{place + 3}": int(code) for place, code in enumerate(codes)})
    source = looked(column("age", values, write))
    assert set(source.format.missing_in["age"]) == set(codes)
    assert source.frame["age"].null_count() == len(codes)
    assert all(repr(code) in source.guessed["missing_in"] for code in codes)


def test_odd_texts_in_a_column_of_numbers_are_read_or_missing():
    values = changed(AGES, at2="90+", at5="<1", at7="unk", at9="90+", at11=">= 85", at13="?")
    source = looked(column("age", values))
    assert source.format.read_as == {"age": {"90+": 90, "<1": 0, ">= 85": 85}}
    assert set(source.format.missing_in["age"]) == {"unk", "?"}
    assert source.frame["age"].dtype == pl.Int64
    assert "in 'age' '90+' for 90" in source.guessed["read_as"]


def test_a_limit_of_detection_is_read_as_the_limit():
    values = changed([f"{one / 10}" for one in PAID], at3="<0.5")
    assert looked(column("crp", values)).format.read_as == {"crp": {"<0.5": 0.5}}


def test_what_cannot_be_explained_stays_as_it_is():
    source = looked(column("age", changed(AGES, at2="90+", at5="Meier")))
    assert source.guessed == {}
    assert source.frame["age"].dtype == pl.String


@pytest.mark.parametrize(
    ("texts", "mark", "decimal"),
    [
        (["1,234,567", "1,000", "12"], ",", "."),
        (["1,234.50", "1,000.00", "12.00"], ",", "."),
        (["1.234,50", "1.000,00", "12,00"], ".", ","),
        (["1 234 567", "1 000", "12"], " ", "."),
        (["1'234.50", "1'000.00", "12.25"], "'", "."),
    ],
)
def test_marks_of_thousands_are_found(texts, mark, decimal):
    source = looked(csv([["paid", "x"], *([text, "a"] for text in texts * 5)], separator=";"))
    assert (source.format.thousands, source.format.decimal) == (mark, decimal)
    assert source.frame["paid"].max() >= 1000


def test_a_comma_that_could_be_either_mark_is_asked_about():
    source = looked(
        csv([["paid", "x"], *([text, "a"] for text in ["1,234", "2,500"] * 5)], separator=";")
    )
    assert source.format.thousands is None
    assert source.format.decimal == ","
    assert "decimal" in source.guessed


# Encodings ----------------------------------------------------------------------------------------


def test_a_file_in_two_encodings_is_noticed():
    Path("t.csv").write_bytes("town\nKöln\nZürich\n".encode() + "Mönchen\nGräz\n".encode("cp1252"))
    with pytest.raises(DataError) as caught:
        first_look("t.csv")
    assert str(caught.value) == (
        "t.csv is in two encodings: line 2 is UTF-8 and line 4 is not; two files were probably "
        "joined. Save both in the same encoding and join them again, or say the encoding of most "
        'of it (in a plan: encoding = "cp1252" under [input]; without a plan: --encoding cp1252).'
    )
    said = read_file("t.csv", FileFormat(encoding="cp1252"))
    assert any("two encodings" in note for note in said.notes)


def test_files_in_one_encoding_are_not_accused():
    for encoding in ("utf-8", "cp1252"):
        Path("t.csv").write_bytes("town\nKöln\nZürich\nÃlesund\n".encode(encoding))
        assert not any("two encodings" in note for note in first_look("t.csv").notes)


# What is not odd ----------------------------------------------------------------------------------


def clean():
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(n) for n in range(40)]
    return {
        "age": AGES,
        "rare": [0] * 35 + [1, 0, 1, 0, 2],
        "flag": [0, 1] * 19 + [0, 19],
        "name": [f"n{number}" for number in range(39)] + ["Total"],
        "diff": [-5, 4, -3, 2] * 10,
        "code": ["V45", "401", "250", "486"] * 10,
        "amount": [999.5, 99.0, 10.25, 12.0] * 10,
        "score": list(range(960, 1000)),
        "day": days,
    }


@pytest.mark.parametrize("name", clean())
@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_nothing_odd_is_seen_in_clean_columns(name, suffix):
    write_file(pl.DataFrame({name: clean()[name], "sex": SEXES}), f"t.{suffix}")
    assert looked(f"t.{suffix}").guessed == {}


def test_nothing_odd_is_seen_in_the_sample():
    write_file(pl.DataFrame(discharges(500, seed=3)), "t.csv")
    assert looked("t.csv").guessed == {}


def test_what_is_said_is_not_guessed():
    rows = [["Report"], HEAD, ["(years)", None, "(€)"], *ROWS]
    with pytest.raises(DataError):
        first_look(csv(rows), FileFormat(header=1))
    said = first_look("t.csv", FileFormat(header=2, skip=(4,)))
    assert said.format.skip == (4,)
    assert "skip" not in said.guessed
    path = column("age", changed(AGES, at3=999))
    kept = first_look(path, FileFormat(missing_in={"age": ["998"]}))
    assert kept.format.missing_in == {"age": ["998"]}
    assert kept.frame["age"].max() == 999


@pytest.mark.parametrize("rows", [[HEAD], [HEAD, *ROWS[:1]], [HEAD, *ROWS[:3]], [["a"], [1], [2]]])
def test_small_tables_are_read_as_they_are(rows):
    assert looked(csv(rows)).rows == len(rows) - 1
