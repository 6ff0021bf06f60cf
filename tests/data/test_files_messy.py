"""Files as people send them: titles, units, totals, codes for missing values, odd numbers."""

from pathlib import Path

import polars as pl
import pytest

from ontomask.data.files import FileFormat, read_file, read_texts, write_file
from ontomask.errors import DataError, ParameterError

xlsxwriter = pytest.importorskip("xlsxwriter")
AGES = {"kinds": {"age": "numeric"}}


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def csv(text, name="t.csv", encoding="utf-8"):
    Path(name).write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return name


def book(rows, name="t.xlsx"):
    workbook = xlsxwriter.Workbook(name)
    sheet = workbook.add_worksheet("one")
    for place, row in enumerate(rows):
        for column, cell in enumerate(row):
            if cell is not None:
                sheet.write(place, column, cell)
    workbook.close()
    return name


def refused(path, how, error=DataError, **options):
    with pytest.raises(error) as caught:
        read_file(path, how, **options)
    return str(caught.value)


# What can be said ---------------------------------------------------------------------------------

TITLED = 'Report of 2024\n\nage,sex\n(years),\n23,f\n"40",m\nTotal,\n'


@pytest.mark.parametrize("skip", [(4, 7), (4, -1), (-1, -4), [7, 4]])
def test_the_header_is_where_it_is_said_and_rows_can_be_left_out(skip):
    source = read_file(csv(TITLED), FileFormat(header=3, skip=skip), **AGES)
    assert source.frame.to_dict(as_series=False) == {"age": [23, 40], "sex": ["f", "m"]}
    assert source.format.header == 3


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_are_told_as_the_file_has_them(end):
    path = csv(f"Title{end}age;sex{end}years;{end}1;f{end}{end}x;m{end}".replace("\n", "\n"))
    how = FileFormat(header=2, skip=(3,))
    assert "(line 6)" in refused(path, how, **AGES)
    assert read_file(path, how).format.separator == ";"


def test_rows_of_a_workbook_are_said_likewise_and_numbers_stay_numbers():
    rows = [["Report"], [], ["age", "sex"], ["(years)", None], [23, "f"], [], [40, "m"], [63, None]]
    source = read_file(book(rows), FileFormat(header=3, skip=(4, -1)))
    assert source.frame.to_dict(as_series=False) == {"age": [23, 40], "sex": ["f", "m"]}
    assert source.frame["age"].dtype == pl.Int64
    rows[6][0] = "x"
    sentence = refused(book(rows), FileFormat(header=3, skip=(4, -1)), **AGES)
    assert "(row 7)" in sentence


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"header": 2}, "header names line 2 of t.csv, where no record begins"),
        ({"header": 99}, "header names line 99 of t.csv, where no record begins"),
        ({"header": 3, "skip": (2,)}, "skip names line 2 of t.csv, where no record begins"),
        ({"header": 3, "skip": (1,)}, "it may name lines 4 to 7"),
        ({"header": 3, "skip": (3,)}, "no record below the header"),
        ({"header": 3, "skip": (-9,)}, "no record below the header"),
        ({"header": 3, "skip": (0,)}, "no record below the header"),
    ],
)
def test_rows_that_are_not_there_are_told(how, said):
    assert said in refused(csv(TITLED), FileFormat(**how))


@pytest.mark.parametrize("how", [{"header": 99}, {"skip": (1,)}, {"skip": (-9,)}, {"skip": (99,)}])
def test_rows_that_a_workbook_does_not_have_are_told(how):
    name = next(iter(how))
    assert refused(book([["age"], [1], [2]]), FileFormat(**how)).startswith(f"{name} names")


def test_rows_cannot_be_named_in_files_without_rows():
    write_file(pl.DataFrame({"a": [1]}), "t.parquet")
    for how in (FileFormat(header=2), FileFormat(skip=(-1,))):
        assert "are for CSV and Excel files" in refused("t.parquet", how)


def test_codes_for_missing_values_hold_for_their_column_only():
    path = csv("age,paid\n23,999\n999,5\n unk ,6\n-9,7\n")
    how = FileFormat(missing_in={"age": ["999", "unk", "-9"]})
    source = read_file(path, how, **AGES)
    assert source.frame["age"].to_list() == [23, None, None, None]
    assert source.frame["paid"].to_list() == [999, 5, 6, 7]
    assert source.notes[0] == (
        "3 values of 'age' that, as missing_in says, stand for a missing one: written as missing, "
        "too."
    )


def test_a_column_in_which_no_code_occurs_is_not_spoken_of():
    how = FileFormat(missing_in={"age": ["999"], "paid": ["5"]})
    notes = read_file(csv("age,paid\n23,999\n24,5\n"), how, **AGES).notes
    told = [note for note in notes if "missing_in" in note]
    assert [note.split(" that")[0] for note in told] == ["1 value of 'paid'"]


def test_codes_are_found_in_numbers_too():
    path = book([["age", "paid"], [23, 999], [999, 5.5]])
    how = FileFormat(missing_in={"age": ["999"]}, missing=["5.5"])
    source = read_file(path, how)
    assert source.frame.to_dict(as_series=False) == {"age": [23, None], "paid": [999, None]}


def test_texts_are_read_as_the_numbers_they_stand_for():
    how = FileFormat(read_as={"age": {"90+": 90, "<1": 0.5}}, decimal=",", separator=";")
    source = read_file(csv("age;note\n23;90+\n90+;a\n<1;b\n1,5;c\n"), how, **AGES)
    assert source.frame["age"].to_list() == [23, 90, 0.5, 1.5]
    assert source.frame["note"].to_list()[0] == "90+"
    assert read_texts("t.csv", how, ["age"])["age"].to_list() == ["23.0", "90.0", "0.5", "1.5"]


@pytest.mark.parametrize("said", ["missing_in", "read_as"])
def test_a_column_that_is_not_there_is_told(said):
    value = {"agee": ["1"]} if said == "missing_in" else {"agee": {"1+": 1}}
    assert "has no column 'agee'" in refused(csv("age\n1\n"), FileFormat(**{said: value}))
    assert read_file("t.csv", FileFormat(**{said: value}), columns=["age"]).rows == 1


@pytest.mark.parametrize(
    ("mark", "decimal", "texts"),
    [
        (",", ".", ["1,234.5", "1,234,567", "12", "-1,000"]),
        (".", ",", ["1.234,5", "1.234.567", "12", "-1.000"]),
        ("'", ".", ["1'234.5", "1'234'567", "12", "-1'000"]),
        (" ", ",", ["1 234,5", "1 234 567", "12", "-1 000"]),
        ("\u202f", ",", ["1\u202f234,5", "1\u202f234\u202f567", "12", "-1\u202f000"]),
    ],
)
def test_marks_of_thousands_are_read(mark, decimal, texts):
    path = csv("paid\n" + "".join(f'"{text}"\n' for text in texts))
    how = FileFormat(thousands=mark, decimal=decimal, separator=";")
    assert read_file(path, how).frame["paid"].to_list() == [1234.5, 1234567, 12, -1000]


def test_a_mark_that_stands_elsewhere_makes_no_number():
    how = FileFormat(thousands=",", separator=";")
    assert read_file(csv("paid\n12,34\n1,234\n"), how).frame["paid"].dtype == pl.String
    assert "(line 2)" in refused("t.csv", how, kinds={"paid": "numeric"})


def test_the_two_marks_differ():
    with pytest.raises(ParameterError, match="thousands and decimal cannot both be ','"):
        FileFormat(thousands=",", decimal=",")


def test_what_is_odd_in_a_file_is_not_in_what_is_written():
    how = FileFormat(
        header=3,
        skip=(4,),
        missing_in={"age": ["999"]},
        read_as={"age": {"90+": 90}},
        thousands=".",
        decimal=",",
        separator=";",
        encoding="cp1252",
    )
    assert how.dialect == FileFormat(separator=";", decimal=",", header=1)
