"""Parquet, Excel, SPSS and Stata files, and telling which is which."""

import datetime
import importlib
import sys
import zipfile

import fastexcel
import polars as pl
import pyreadstat
import pytest
import xlsxwriter

from ontomask.data.files import FileFormat, read_file, write_file
from ontomask.errors import DataError, DependencyError

FRAME = pl.DataFrame(
    {
        "dx": ["038", "250.00", None, "=x"],
        "age": [34, 71, None, 5],
        "charge": [1.5, None, 3.25, 2.0],
        "day": [datetime.date(2024, 1, 31), None, datetime.date(1999, 12, 31), None],
        "at": [datetime.datetime(2024, 1, 31, 13, 5), None, None, None],
    }
)


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    """Messages then show bare names."""
    monkeypatch.chdir(tmp_path)


def sentence(call, *args, error=DataError, **options) -> str:
    with pytest.raises(error) as caught:
        call(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize("name", ["t.parquet", "t.xlsx", "t.sav", "t.zsav", "t.dta"])
class TestEveryFormat:
    def test_values_come_back(self, name):
        write_file(FRAME, name)
        source = read_file(name)
        assert source.frame.to_dict(as_series=False) == FRAME.to_dict(as_series=False)
        suffix = name.partition(".")[2]
        expected = {"xlsx": "excel", "sav": "spss", "zsav": "spss", "dta": "stata"}
        assert source.format.format == expected.get(suffix, "parquet")

    def test_chosen_columns_in_their_order(self, name):
        write_file(FRAME, name)
        assert read_file(name, columns=["charge", "dx"]).columns == ("charge", "dx")
        assert read_file(name, columns=["age", "dx", "age"]).columns == ("age", "dx")
        message = sentence(read_file, name, columns=["charg"])
        assert message.startswith(f"{name} has no column 'charg'; it has 'dx', 'age',")
        assert message.endswith("Did you mean 'charge'?")

    def test_the_same_bytes_again(self, name, tmp_path):
        write_file(FRAME, name)
        first = (tmp_path / name).read_bytes()
        write_file(FRAME, name)
        assert (tmp_path / name).read_bytes() == first

    def test_texts_of_numeric_columns(self, name):
        write_file(pl.DataFrame({"a": ["1", "2.5"], "b": ["x", "y"]}), name)
        frame = read_file(name, kinds={"a": "numeric"}).frame
        assert frame["a"].to_list() == [1.0, 2.5]
        place = "row 2" if name == "t.xlsx" else "record 1"
        message = sentence(read_file, name, kinds={"b": "weight"})
        assert "2 of its values are none" in message
        assert f"({place.split()[0]}s {place.split()[1]} and" in message

    def test_dates_are_no_numbers(self, name):
        write_file(FRAME, name)
        message = sentence(read_file, name, kinds={"day": "numeric"})
        assert message.startswith("Column 'day' is to hold numbers but holds values of the type")

    def test_another_name_is_seen_through(self, name, tmp_path):
        write_file(FRAME, name)
        (tmp_path / "table.csv").write_bytes((tmp_path / name).read_bytes())
        source = read_file("table.csv")
        assert source.frame["dx"].to_list() == FRAME["dx"].to_list()
        assert source.notes[0].startswith("By its first bytes table.csv is a")

    def test_damaged(self, name, tmp_path):
        write_file(FRAME, name)
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:200])
        message = sentence(read_file, name)
        assert message.startswith(name)
        assert "damaged" in message or "cannot be read" in message

    def test_a_text_under_that_name(self, name, tmp_path):
        (tmp_path / name).write_text("a,b\n1,2\n")
        assert "but does not begin like one" in sentence(read_file, name)
        assert read_file(name, FileFormat(format="csv")).frame.rows() == [(1, 2)]

    def test_an_empty_file(self, name, tmp_path):
        (tmp_path / name).write_bytes(b"")
        assert f"{name} cannot be read as" in sentence(read_file, name)

    def test_reading_prints_nothing(self, name, capfd):
        write_file(FRAME.with_columns(nothing=pl.lit(None, pl.String)), name)
        read_file(name)
        assert capfd.readouterr() == ("", "")


class TestParquet:
    def test_types_stay(self):
        frame = pl.DataFrame({"code": [250, 401], "flag": [True, None]})
        write_file(frame, "t.parquet")
        assert read_file("t.parquet", kinds={"code": "nominal"}).frame.equals(frame)

    def test_names_with_asterisks_are_names(self, tmp_path):
        write_file(pl.DataFrame({"a": [1]}), "t1.parquet")
        write_file(pl.DataFrame({"a": [2]}), "t*.parquet")
        assert read_file("t*.parquet").frame["a"].to_list() == [2]

    def test_formulas_are_left_alone(self):
        write_file(FRAME, "t.parquet", escape_formulas=True)
        assert read_file("t.parquet").frame.equals(FRAME)


def book(sheets: dict[str, list[list[object]]], name: str = "t.xlsx") -> None:
    workbook = xlsxwriter.Workbook(name)
    for title, rows in sheets.items():
        sheet = workbook.add_worksheet(title)
        for place, row in enumerate(rows):
            sheet.write_row(place, 0, row)
    workbook.close()


class TestExcel:
    def test_the_first_sheet_is_read_and_told(self):
        book({"one": [["a"], [1]], "two": [["b"], [2]]})
        source = read_file("t.xlsx")
        assert source.columns == ("a",)
        assert source.format.sheet == "one"
        assert source.notes == ("The first of the sheets 'one' and 'two' was read: 'one'.",)
        source = read_file("t.xlsx", FileFormat(sheet="two"))
        assert (source.columns, source.notes) == (("b",), ())

    def test_a_wrong_sheet(self):
        book({"one": [["a"], [1]], "two": [["b"], [2]]})
        assert sentence(read_file, "t.xlsx", FileFormat(sheet="tow")) == (
            "t.xlsx has no sheet 'tow'; it has 'one' and 'two'. Did you mean 'two'?"
        )

    def test_empty_sheets(self):
        book({"one": []})
        assert "The sheet 'one' of t.xlsx is empty" in sentence(read_file, "t.xlsx")
        book({"one": [["a", "b"]]})
        assert read_file("t.xlsx").columns == ("a", "b")
        assert read_file("t.xlsx").rows == 0

    def test_codes_that_are_numbers_become_texts_with_a_note(self):
        book({"one": [["dx", "n"], [250.0, 1.5], [38, 2]]})
        source = read_file("t.xlsx", kinds={"dx": "nominal", "n": "numeric"})
        assert source.frame["dx"].to_list() == ["250", "38"]
        assert source.frame["n"].to_list() == [1.5, 2.0]
        assert source.notes[0].startswith("The file holds numbers in 'dx', which became texts")

    def test_mixed_columns_are_texts(self):
        book({"one": [["dx"], [250], ["250.00"], ["V22"]]})
        assert read_file("t.xlsx").frame["dx"].to_list() == ["250", "250.00", "V22"]

    def test_rows_above_between_and_columns_beside(self):
        rows = [[], [None, "a", "b", None], [None, 1, "x"], [], [None, 2, "bad"]]
        book({"one": rows})
        source = read_file("t.xlsx")
        assert source.frame.to_dict(as_series=False) == {"a": [1, 2], "b": ["x", "bad"]}
        assert "1 empty row was left out." in source.notes
        assert "(rows 3 and 5)" in sentence(read_file, "t.xlsx", kinds={"b": "numeric"})

    def test_names(self):
        book({"one": [["a", "", "a"], [1, 2, 3]]})
        assert "column 2 has no name" in sentence(read_file, "t.xlsx")
        book({"one": [["a", "b", "a"], [1, 2, 3]]})
        assert "names 'a' more than once" in sentence(read_file, "t.xlsx")

    def test_missing_texts(self):
        book({"one": [["a", "b"], ["NA", 1], ["x", 2]]})
        assert read_file("t.xlsx").frame["a"].to_list() == [None, "x"]
        assert read_file("t.xlsx", FileFormat(missing=())).frame["a"].to_list() == ["NA", "x"]

    def test_texts_are_never_formulas_or_links(self, tmp_path):
        write_file(pl.DataFrame({"a": ["=1+1", "http://x.org", "007"]}), "t.xlsx")
        assert read_file("t.xlsx").frame["a"].to_list() == ["=1+1", "http://x.org", "007"]
        with zipfile.ZipFile("t.xlsx") as archive:
            assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")
        write_file(pl.DataFrame({"a": ["=1+1", "x"]}), "t.xlsx", escape_formulas=True)
        assert read_file("t.xlsx").frame["a"].to_list() == ["'=1+1", "x"]

    def test_no_time_of_writing(self):
        write_file(FRAME, "t.xlsx")
        with zipfile.ZipFile("t.xlsx") as archive:
            about = archive.read("docProps/core.xml").decode()
            dates = {member.date_time for member in archive.infolist()}
        assert about.count("2000-01-01T00:00:00Z") == 2
        assert dates == {(1980, 1, 1, 0, 0, 0)}

    def test_long_whole_numbers_are_texts(self):
        write_file(pl.DataFrame({"a": [1234567890123456789, 1]}), "t.xlsx")
        assert read_file("t.xlsx").frame["a"].to_list() == ["1234567890123456789", "1"]

    def test_what_a_sheet_cannot_hold(self, monkeypatch):
        long = pl.DataFrame({"a": ["x" * 40_000]})
        assert "Texts in 'a' have more than 32767" in sentence(write_file, long, "t.xlsx")
        nested = pl.DataFrame({"a": [[1]]})
        assert "Column 'a' holds values of the type List" in sentence(write_file, nested, "t.xlsx")
        assert "as .xlsx only" in sentence(write_file, FRAME, "t.xls")
        named = FileFormat(sheet="a/b")
        assert "cannot be named 'a/b'" in sentence(write_file, FRAME, "t.xlsx", named)
        monkeypatch.setattr("ontomask.data.files.workbook_writing.MAX_ROWS", 4)
        assert "holds 3 records" in sentence(write_file, FRAME, "t.xlsx")

    def test_a_zip_that_is_no_workbook(self):
        with zipfile.ZipFile("t.xlsx", "w") as archive:
            archive.writestr("table.csv", "a\n1\n")
        assert "is a zip archive; unpack it" in sentence(read_file, "t.xlsx")


LABELS = {"sex": {1.0: "male", 2.0: "female", 9.0: "refused"}, "age": {-9.0: "unknown"}}
SURVEY = pl.DataFrame({"sex": [1.0, 2.0, 9.0], "age": [34.0, 71.0, -9.0], "s": ["x", "", "é"]})


class TestSurveys:
    def test_labels_and_missing_values_of_spss(self):
        pyreadstat.write_sav(
            SURVEY,
            "t.sav",
            variable_value_labels=LABELS,
            missing_ranges={"sex": [9.0], "age": [{"lo": -99, "hi": -1}]},
        )
        source = read_file("t.sav")
        assert source.frame.to_dict(as_series=False) == {
            "sex": ["male", "female", None],
            "age": [34, 71, None],
            "s": ["x", None, "é"],
        }
        assert source.notes == (
            "Values declared as missing in the file are missing: 'sex' and 'age'.",
        )
        coded = read_file("t.sav", FileFormat(labels=False)).frame
        assert coded["sex"].to_list() == [1, 2, None]

    @pytest.mark.parametrize("write", [pyreadstat.write_sav, pyreadstat.write_dta])
    def test_codes_without_a_label_of_their_own_are_kept(self, write):
        name = "t.sav" if write is pyreadstat.write_sav else "t.dta"
        whole = SURVEY.with_columns(pl.col("sex", "age").cast(pl.Int32))
        labels = {"sex": {1: "m", 2: "m", 9: "?"}, "age": {-9: "unknown"}}
        write(whole, name, variable_value_labels=labels)
        source = read_file(name)
        assert source.frame["sex"].to_list() == [1, 2, 9]
        assert source.frame["age"].to_list() == [34, 71, -9]
        assert source.notes == (
            "Codes were kept in 'sex' and 'age', where not every code has a label of its own.",
        )

    def test_labels_and_missing_values_of_stata(self):
        frame = pl.DataFrame({"sex": pl.Series([1, 2, None], dtype=pl.Int32), "age": [1.5, 2, 3]})
        pyreadstat.write_dta(frame, "t.dta", variable_value_labels={"sex": {1: "m", 2: "f"}})
        source = read_file("t.dta", kinds={"sex": "flat", "age": "numeric"})
        assert source.frame["sex"].to_list() == ["m", "f", None]

    def test_codes_become_texts_where_the_kind_asks_for_it(self):
        pyreadstat.write_sav(SURVEY, "t.sav")
        frame = read_file("t.sav", kinds={"sex": "flat", "age": "numeric"}).frame
        assert frame["sex"].to_list() == ["1", "2", "9"]
        assert frame.schema["age"] == pl.Int64

    def test_no_time_of_writing(self, tmp_path):
        write_file(FRAME, "t.sav")
        assert (tmp_path / "t.sav").read_bytes()[92:109] == b"01 Jan 0000:00:00"
        write_file(FRAME, "t.dta")
        assert b"<timestamp>\x1101 Jan 2000 00:00</timestamp>" in (tmp_path / "t.dta").read_bytes()

    @pytest.mark.parametrize("name", ["t.sav", "t.dta"])
    def test_names_that_are_not_allowed(self, name, tmp_path):
        message = sentence(write_file, pl.DataFrame({"a b": [1]}), name)
        assert message.startswith(f"The table cannot be written to {name!r} (variable name 'a b'")
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("package", "name", "extra"),
    [
        ("fastexcel", "t.xlsx", "excel"),
        ("xlsxwriter", "t.xlsx", "excel"),
        ("pyreadstat", "t.sav", "stats"),
    ],
)
def test_packages_that_are_not_installed(package, name, extra, monkeypatch):
    assert importlib.import_module(package) in (fastexcel, xlsxwriter, pyreadstat)
    write_file(FRAME, name)
    monkeypatch.setitem(sys.modules, package, None)
    call = (write_file, FRAME, name) if package == "xlsxwriter" else (read_file, name)
    message = sentence(*call, error=DependencyError)
    assert f"need the package {package}, which is not installed" in message
    assert message.endswith(f'pip install "ontomask[{extra}]"')
