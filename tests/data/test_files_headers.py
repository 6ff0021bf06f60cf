"""A table without a line of names: its first record is not taken for names."""

from pathlib import Path

import polars as pl
import pytest

from ontomask.data.files import FileFormat, first_look, read_file, write_file
from ontomask.data.files.headers import doubt_about
from ontomask.errors import DataError
from ontomask.samples import discharges


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(n: int) -> list[str]:
    return [f"Smith{n}", "FM"[n % 2], str(40 + n % 20), f"250.{n:02}", f"2020-01-{n % 28 + 1:02}"]


NAMES = ["patient", "sex", "age", "code", "day"]
RECORDS = [record(n) for n in range(50)]


def csv(rows, name="t.csv"):
    Path(name).write_text("\n".join(",".join(row) for row in rows) + "\n")
    return name


def book(rows, name="t.xlsx"):
    workbook = pytest.importorskip("xlsxwriter").Workbook(name, {"strings_to_numbers": True})
    sheet = workbook.add_worksheet("one")
    for place, row in enumerate(rows):
        sheet.write_row(place, 0, row)
    workbook.close()
    return name


WRITERS = pytest.mark.parametrize("write", [csv, book])
READERS = pytest.mark.parametrize("read", [read_file, first_look])


def columns(*places):
    return [[row[place] for place in places] for row in RECORDS]


@WRITERS
@READERS
@pytest.mark.parametrize(
    "rows",
    [
        RECORDS,
        columns(0, 1),
        columns(1),
        columns(0),
        columns(2),
        columns(4),
        [[f"V{n % 60 + 10}.{n % 9}", "NSW"[n % 3]] for n in range(80)],
        [[str(1950 + n % 40), str(2000 + n % 20)] for n in range(80)],
        [[str(n * 7919 % 1000), str(n * 104729 % 1000)] for n in range(1, 80)],
        [["unknown", "F"], *columns(2, 1)],
        [["Report", ""], *columns(0, 1)],
    ],
)
def test_a_record_is_not_taken_for_names(write, read, rows):
    if read is read_file and rows[0][0] == "Report":
        pytest.skip("a title is noticed by a first look only")
    with pytest.raises(DataError, match="looks like a record, not like names") as refused:
        read(write(rows))
    shown = str(refused.value).split("not like names: ")[1].split(";")[0]
    assert not any(cell in shown for cell in rows[0] if len(cell) > 2)


@WRITERS
@pytest.mark.parametrize("read", [read_file, first_look])
def test_it_can_be_said_that_there_are_no_names(write, read):
    source = read(write(RECORDS), FileFormat(header=0, skip=(3, -1)))
    assert source.columns == tuple(f"column_{place}" for place in range(1, 6))
    assert source.frame["column_1"].to_list() == [row[0] for row in [*RECORDS[:2], *RECORDS[3:-1]]]
    assert source.numbers([0, 1, 2]) == [1, 2, 4]
    assert "header" not in source.guessed


@WRITERS
def test_it_can_be_said_that_the_names_are_meant(write):
    assert read_file(write(RECORDS), FileFormat(header=1)).columns[0] == "Smith0"


def test_a_name_that_stands_there_twice_is_not_shown_if_it_is_a_value():
    with pytest.raises(DataError, match="looks like a record"):
        read_file(csv([[*row, row[1]] for row in RECORDS]))


@WRITERS
def test_names_of_years_are_to_be_looked_at(write):
    rows = [[f"Region {n}", *(str(n * k * 377 % 5000) for k in range(1, 4))] for n in range(60)]
    path = write([["region", "2019", "2020", "2021"], *rows])
    assert any("look" in note or "like values" in note for note in read_file(path).notes)
    source = first_look(path)
    assert source.format.header == 1
    assert "3 columns are named like values" in source.guessed["header"]
    assert source.columns == ("region", "2019", "2020", "2021")


@WRITERS
def test_names_that_are_codes_over_indicators_are_to_be_looked_at(write):
    rows = [[f"N{n}", str(n % 2), str(n % 3 % 2)] for n in range(60)]
    assert first_look(write([["patient", "250.00", "401.9"], *rows])).format.header == 1


@WRITERS
@pytest.mark.parametrize("names", [NAMES, ["Name", "F/M", "Age 2020", "icd9", "day1"]])
def test_names_are_no_record(write, names):
    source = first_look(write([names, *RECORDS]))
    assert source.columns == tuple(names)
    assert "header" not in source.guessed


def test_a_table_of_discharges_leaves_no_doubt():
    frame = pl.DataFrame(discharges(300, seed=1))
    texts = frame.select(pl.all().cast(pl.String).fill_null(""))
    assert doubt_about(texts.columns, texts.rows()) is None
    assert doubt_about(texts.row(0), texts.rows()[1:]).certain


def test_a_header_that_is_repeated_is_no_record():
    assert doubt_about(NAMES, [*RECORDS[:20], NAMES, *RECORDS[20:]]) is None


def test_what_is_written_is_read_back_whatever_its_names_are():
    frame = pl.DataFrame(RECORDS, schema=RECORDS[0], orient="row")
    how = FileFormat(header=1)
    write_file(frame, "out.csv", how)
    assert read_file("out.csv", how.dialect).columns == tuple(RECORDS[0])


LONG = "x" * 200_000


@READERS
@pytest.mark.parametrize("long", [LONG, f'"{LONG}"', '"' + "a,b\n" * 50_000 + '""c"'])
def test_cells_of_any_length_are_read(read, long):
    Path("t.csv").write_text(f"age,note\n{long},1\n" + "".join(f"{n},{n}\n" for n in range(30)))
    assert read("t.csv").rows == 31
    Path("t.csv").write_text(f"{long},note\n" + "".join(f"{n},{n}\n" for n in range(30)))
    assert len(read("t.csv").columns[0]) >= 200_000
