"""Reading and writing CSV: codes keep their zeros, and every mistake is told with its line."""

import bz2
import csv
import datetime
import gzip
import io
import lzma
import re
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontomask.checks import constraints_of
from ontomask.data.files import FileFormat, file_digest, read_file, write_file
from ontomask.data.files.opening import _zstandard_size
from ontomask.errors import DataError, ParameterError

KEYWORDS = ("kinds", "columns", "guess")


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Write a file and read it; messages then show its bare name."""
    monkeypatch.chdir(tmp_path)

    def load(content: str | bytes, name: str = "table.csv", **options):
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        how = {key: options.pop(key) for key in list(options) if key not in KEYWORDS}
        return read_file(name, FileFormat(**how), **options)

    return load


@pytest.fixture
def refused(read):
    def sentence(*args, error=DataError, **options) -> str:
        with pytest.raises(error) as caught:
            read(*args, **options)
        return str(caught.value)

    return sentence


PATIENTS = "id,zip,dx,age,charge\n1,01234,250.00,34,12.5\n2,10115,401.9,71,900\n3,80331,038.9,,NA\n"
KINDS = {
    "id": "identifier",
    "zip": "flat",
    "dx": "nominal",
    "age": "numeric",
    "charge": "numeric",
}


class TestTypes:
    def test_declared_kinds_decide_and_codes_keep_their_zeros(self, read):
        frame = read(PATIENTS, kinds=KINDS).frame
        assert frame.to_dict(as_series=False) == {
            "id": ["1", "2", "3"],
            "zip": ["01234", "10115", "80331"],
            "dx": ["250.00", "401.9", "038.9"],
            "age": [34, 71, None],
            "charge": [12.5, 900.0, None],
        }
        assert frame.schema["age"] == pl.Int64
        assert frame.schema["charge"] == pl.Float64

    def test_undeclared_columns_are_numbers_only_if_nothing_is_lost(self, read):
        source = read(PATIENTS)
        kinds = {name: str(kind) for name, kind in source.frame.schema.items()}
        assert kinds == {
            "id": "Int64",
            "zip": "String",
            "dx": "String",
            "age": "Int64",
            "charge": "Float64",
        }
        assert "Taken for numbers by their look: 'id', 'age' and 'charge'." in source.notes
        assert (
            "Written like codes, not like numbers, and left as text: 'zip' and 'dx'."
            in source.notes
        )

    @pytest.mark.parametrize(
        ("values", "is_number"),
        [
            (["3", "14", "-2", "0"], True),
            (["3", "2.5", "3.25"], True),
            (["3.0", "2.5", "3.25"], True),
            (["1200.50", "900.00", "7.10"], True),
            (["36.5", "37.2", "38.0"], True),
            (["1e-05", "0.25", "3.0"], True),
            ([".5", "1.25"], True),
            ([" 3", "14 "], True),
            (["007", "14"], False),
            (["250.00", "401.90"], False),
            (["250.00", "401.9", "486"], False),
            (["428.0", "486"], False),
            (["+49", "12"], False),
            (["1E50", "12"], False),
            (["1.2.3", "4"], False),
            (["1234567890123456", "2"], False),
            (["2024-01-31", "2024-02-29"], False),
            (["nan", "1"], False),
            (["inf", "1"], False),
            (["true", "false"], False),
            (["1,5", "2"], False),
            (["", "NA"], False),
        ],
    )
    def test_look_of_numbers(self, read, values, is_number):
        rows = "".join(f'"{value}",x\n' for value in values)
        assert read(f"a,b\n{rows}").frame.schema["a"].is_numeric() is is_number

    def test_looks_are_judged_on_all_values(self, read):
        rows = "".join(f"{number}\n" for number in range(1, 3000))
        assert read(f"a\n{rows}").frame.schema["a"] == pl.Int64
        assert read(f"a\n{rows}x7\n").frame.schema["a"] == pl.String
        assert read(f"a\n{rows}07\n").frame.schema["a"] == pl.String

    def test_whole_numbers_written_with_decimals_are_floats(self, read):
        frame = read("a,b\n3.0,1\n4.0,2\n", kinds={"a": "numeric", "b": "weight"}).frame
        assert frame.schema == {"a": pl.Float64, "b": pl.Int64}

    def test_declared_numbers_may_have_leading_zeros_signs_and_blanks(self, read):
        frame = read("a\n007\n+3\n -2 \n", kinds={"a": "numeric"}).frame
        assert frame["a"].to_list() == [7, 3, -2]

    def test_numbers_beyond_the_whole_ones_are_floats(self, read):
        frame = read("a\n12345678901234567890\n1\n", kinds={"a": "numeric"}).frame
        assert frame["a"].to_list() == [12345678901234567890.0, 1.0]

    def test_a_column_of_missing_values_only(self, read):
        frame = read("a,b,c\nNA,,x\n,NA,y\n", kinds={"a": "numeric", "c": "flat"}).frame
        assert frame["a"].null_count() == 2
        assert frame.schema["a"] == pl.Int64
        assert frame.schema["b"] == pl.String

    def test_dates_stay_text(self, read):
        frame = read("d\n2024-01-31\n", kinds={"d": "date"}).frame
        assert frame["d"].to_list() == ["2024-01-31"]


class TestWrongNumbers:
    def test_the_lines_are_told_and_never_the_values(self, refused):
        sentence = refused("a,b\n1,x\nsecret,x\n3,x\noops,y\n", kinds={"a": "numeric"})
        assert sentence == (
            "Column 'a' is to hold numbers, but 2 of its values are none (lines 3 and 5); correct "
            "what is wrong, declare the column as flat or nominal, or say under [input] of a plan "
            "what means a missing value there (missing_in) or a number (read_as)."
        )

    def test_lines_count_quoted_line_ends_and_blank_lines(self, refused):
        content = 'a,b\n1,"two\nlines"\n\nbad,x\n'
        assert "(line 5)" in refused(content, kinds={"a": "numeric"})

    def test_many_lines_are_counted(self, refused):
        sentence = refused("a\n" + "x\n" * 40, kinds={"a": "weight"})
        assert "40 of its values are none (lines 2, 3, 4, 5 and 6)" in sentence

    @pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-Infinity", "1e999", "0x10", "1_000"])
    def test_odd_numbers_are_none(self, refused, text):
        assert "(line 3)" in refused(f"a\n1\n{text}\n", kinds={"a": "numeric"})

    @pytest.mark.parametrize("text", ["1,234", "1,234,567.5", "1'234", "1 234"])
    def test_thousands_separators(self, refused, text):
        sentence = refused(f'a\n1\n"{text}"\n', kinds={"a": "numeric"}, separator=";")
        mark = next(one for one in text if not one.isdigit())
        assert f'say what stands between thousands (in a plan: thousands = "{mark}"' in sentence
        assert text not in sentence

    def test_thousands_separators_next_to_decimal_commas(self, refused):
        sentence = refused("a;b\n1.234,5;x\n", kinds={"a": "numeric"}, decimal=",")
        assert 'thousands = "."' in sentence

    def test_the_other_decimal_mark(self, refused):
        sentence = refused("a;b\n1,5;x\n", kinds={"a": "numeric"})
        assert sentence.endswith(
            "their decimal mark seems to be ',': say so (in a plan: decimal = \",\" under [input]; "
            "without a plan: --decimal ,)."
        )
        sentence = refused("a;b\n1.5;x\n", kinds={"a": "numeric"}, decimal=",")
        assert "their decimal mark seems to be '.': say so (in a plan: decimal = \".\"" in sentence

    def test_a_decimal_comma_is_noticed_without_kinds(self, read):
        source = read("a;b\n1,5;x\n2;y\n")
        assert source.guessed == {}
        assert source.notes[-1] == (
            "With the comma as decimal mark these columns would be numbers: 'a' (in a plan: "
            'decimal = "," under [input]; without a plan: --decimal ,).'
        )
        frame = read("a;b\n1,5;x\n2;y\n", decimal=",").frame
        assert frame["a"].to_list() == [1.5, 2.0]


class TestMissing:
    def test_default_texts_quoted_or_not(self, read):
        frame = read('a,b\n"",x\nNA,"NA"\n,z\nna,w\n').frame
        assert frame["a"].to_list() == [None, None, None, "na"]
        assert frame["b"].to_list() == ["x", None, "z", "w"]

    def test_only_what_is_named_is_missing(self, read):
        assert read("a,b\nNA,x\n,y\n", missing=("",)).frame["a"].to_list() == ["NA", None]
        assert read("a,b\nNA,x\n,y\n", missing=()).frame["a"].to_list() == ["NA", ""]
        frame = read("a,b\n-9,x\n3,y\n", missing=["-9"], kinds={"a": "numeric"}).frame
        assert frame["a"].to_list() == [None, 3]

    def test_blank_cells_of_numeric_columns(self, read):
        assert read("a,b\n  ,x\n3,y\n", kinds={"a": "numeric"}).frame["a"].to_list() == [None, 3]


class TestDialects:
    @pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
    def test_separators_are_found(self, read, separator):
        rows = [["a", "b", "c"], ["x", "1", "y"], ["z, w; q", "2", "v"]]
        content = "\n".join(separator.join(f'"{cell}"' for cell in row) for row in rows)
        source = read(content)
        assert source.format.separator == separator
        assert source.frame.rows() == [("x", 1, "y"), ("z, w; q", 2, "v")]

    def test_decimal_commas_do_not_mislead(self, read):
        source = read("name;height\nA;1,80\nB;1,75\n")
        assert source.format.separator == ";"

    def test_the_header_alone_decides_if_there_is_nothing_else(self, read):
        assert read("a;b;c\n").columns == ("a", "b", "c")

    def test_a_separator_that_is_said_wins(self, read):
        assert read("a:b\n1:2\n", separator=":").columns == ("a", "b")
        assert read("a;b\n1;2\n", separator=",").columns == ("a;b",)

    def test_one_column(self, read):
        source = read("code\n250.00\n401.9\n")
        assert source.frame["code"].to_list() == ["250.00", "401.9"]
        assert "There is one column only." in source.notes

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_line_ends(self, read, end):
        assert read(end.join(["a,b", "x,", ",y", ""])).frame.rows() == [("x", None), (None, "y")]

    def test_no_line_end_at_the_end(self, read):
        assert read("a,b\r\nx,y").frame.rows() == [("x", "y")]

    def test_quoted_line_ends_separators_and_marks(self, read):
        frame = read('"a ""1""","b\nc"\r\n"x\r\ny","He said ""no, never"""\r\n').frame
        assert frame.columns == ['a "1"', "b\nc"]
        assert frame.rows() == [("x\r\ny", 'He said "no, never"')]

    def test_blank_lines_are_left_out_and_told(self, read):
        source = read("\n\r\na,b\n\n1,2\n\r\n3,4\n\n")
        assert source.frame.rows() == [(1, 2), (3, 4)]
        assert "5 blank lines were left out." in source.notes

    def test_a_record_of_missing_values_is_not_a_blank_line(self, read):
        assert read('a,b\n1,2\n,\n"",\n').rows == 3

    def test_apostrophes_and_no_quotes(self, read):
        assert read("a;b\n'x;y';2\n", quote="'").frame["a"].to_list() == ["x;y"]
        assert read('a;b\n5" pipe;2\n', quote="none").frame["a"].to_list() == ['5" pipe']

    def test_many_columns(self, read):
        names = [f"c{number}" for number in range(500)]
        rows = [",".join(f"{row}{number}" for number in range(500)) for row in "12"]
        source = read("\n".join([",".join(names), *rows]))
        assert source.columns == tuple(names)
        assert source.frame["c499"].to_list() == [1499, 2499]
        assert "'c9' and 490 more" in source.notes[-1]

    def test_chosen_columns_in_their_order(self, read):
        assert read("a,b,c\n1,2,3\n", columns=["c", "a", "c"]).frame.rows() == [(3, 1)]

    def test_a_text_longer_than_the_scan_reads_at_once(self, read):
        long = 'x,"\n' * 400_000
        content = f'a,b\n1,"{long.replace(chr(34), chr(34) * 2)}"\n2,y\n'
        frame = read(content).frame
        assert frame["b"].to_list() == [long, "y"]

    @settings(max_examples=60, deadline=None)
    @given(
        rows=st.lists(
            st.lists(st.text("ab1,;'\"\n\r é|\t", max_size=5), min_size=3, max_size=3),
            min_size=1,
            max_size=6,
        ),
        separator=st.sampled_from(",;\t|"),
        # the module leaves a return unquoted unless it is part of the line end
        style=st.sampled_from([("\r\n", csv.QUOTE_MINIMAL), ("\n", csv.QUOTE_ALL)]),
    )
    def test_agrees_with_the_csv_module(self, tmp_path_factory, rows, separator, style):
        stream = io.StringIO(newline="")
        end, quoting = style
        writer = csv.writer(stream, delimiter=separator, lineterminator=end, quoting=quoting)
        writer.writerows([["p", "q", "r"], *rows])
        path = tmp_path_factory.mktemp("fuzz") / "t.csv"
        path.write_bytes(stream.getvalue().encode())
        how = FileFormat(separator=separator, missing=())
        kinds = dict.fromkeys("pqr", "flat")
        frame = read_file(path, how, kinds=kinds).frame
        assert [list(row) for row in frame.rows()] == rows


class TestEncodings:
    TEXT = "name,stadt\nJosé,Köln\nZoë,Zürich\n"

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
    def test_byte_order_marks(self, read, encoding):
        source = read(self.TEXT.encode(encoding))
        assert source.columns == ("name", "stadt")
        assert source.frame["stadt"].to_list() == ["Köln", "Zürich"]
        assert source.format.encoding == encoding

    def test_latin_1_is_refused_until_it_is_said(self, read, refused):
        assert refused(self.TEXT.encode("latin-1")) == (
            "table.csv, line 2: the byte 0xe9 is not utf-8 text; save the file as UTF-8, or say "
            'its encoding, perhaps cp1252 (in a plan: encoding = "cp1252" under [input]; without '
            "a plan: --encoding cp1252)."
        )
        source = read(self.TEXT.encode("latin-1"), encoding="latin-1")
        assert source.frame["name"].to_list() == ["José", "Zoë"]

    def test_a_wrong_byte_far_down_and_one_cut_off(self, refused):
        content = "a,b\n" + "é,x\n" * 600_000
        assert "line 600002:" in refused(content.encode() + b"\xff,y\n")
        assert "line 2:" in refused("a,b\nx,é".encode()[:-1])

    def test_the_encoding_that_was_said_does_not_fit(self, refused):
        sentence = refused(b"a,b\n1,2\n\x81,3\n", encoding="cp1252")
        assert "line 3: the byte 0x81 is not cp1252" in sentence
        assert "perhaps latin-1" in sentence

    def test_utf_16_without_a_mark(self, read, refused):
        content = self.TEXT.encode("utf-16-le")
        assert "--encoding utf-16" in refused("a,b\n1,2\n".encode("utf-16-le"))
        assert read(content, encoding="utf-16-le").frame["name"].to_list() == ["José", "Zoë"]


class TestGuesses:
    BOTH = ("encoding", "decimal")
    GERMAN = "Stadt;Betrag;Alter\nKöln;12,50;31\nZürich;1200,00;44\n"

    def test_nothing_is_guessed_unasked(self, read, refused):
        assert read(self.GERMAN).frame["Betrag"].dtype == pl.String
        assert "is not utf-8 text" in refused(self.GERMAN.encode("cp1252"))
        assert "is not utf-8 text" in refused(self.GERMAN.encode("cp1252"), guess=["decimal"])

    def test_both_are_guessed_and_told(self, read):
        source = read(self.GERMAN.encode("cp1252"), guess=self.BOTH)
        assert source.frame["Stadt"].to_list() == ["Köln", "Zürich"]
        assert source.frame["Betrag"].to_list() == [12.5, 1200.0]
        assert source.frame["Alter"].dtype == pl.Int64
        assert (source.format.encoding, source.format.decimal) == ("cp1252", ",")
        assert source.guessed == {
            "encoding": "table.csv is not UTF-8 text and was read as cp1252 (Windows); if letters "
            "such as ä or é come out wrong, say its encoding.",
            "decimal": "The comma was taken for the decimal mark; only so are numbers: 'Betrag'.",
        }
        assert set(source.guessed.values()) <= set(source.notes)

    def test_what_was_guessed_reads_the_file_again(self, read):
        content = self.GERMAN.encode("cp1252")
        source = read(content, guess=self.BOTH)
        said = {name: getattr(source.format, name) for name in source.guessed}
        assert read(content, **said).frame.equals(source.frame)

    def test_packed_texts_too(self, read):
        source = read(gzip.compress(self.GERMAN.encode("cp1252")), "t.csv.gz", guess=self.BOTH)
        assert source.format.encoding == "cp1252"

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_what_is_known_is_not_guessed(self, read, encoding):
        source = read(self.GERMAN.encode(encoding), guess=self.BOTH)
        assert list(source.guessed) == ["decimal"]
        assert source.format.encoding == encoding

    def test_what_is_said_is_not_guessed(self, read, refused):
        content = self.GERMAN.encode("latin-1")
        assert read(content, encoding="latin-1", guess=["encoding"]).guessed == {}
        assert read(self.GERMAN, decimal=",", guess=self.BOTH).guessed == {}
        assert "is not utf-8 text" in refused(content, encoding="utf-8", guess=self.BOTH)

    def test_bytes_that_cp1252_does_not_have_are_refused_as_utf_8(self, refused):
        assert "line 2: the byte 0x81 is not utf-8" in refused(b"a\n\x81\n", guess=self.BOTH)
        assert "holds zero bytes" in refused(b"a\n\x00\xe9\n", guess=self.BOTH)

    @pytest.mark.parametrize(
        "content",
        [
            "a;b\n1,5;1.5\n2,5;2.5\n",  # with a point b is numbers, with a comma a
            'a,b\n"1,5",x\n"2,5",y\n',  # commas end the fields
            "a;b\n1,5,7;x\n2,5;y\n",
            "a;b\n1.234,50;x\n2.000,00;y\n",
            "a;b\n1;x\n2;y\n",
        ],
    )
    def test_the_decimal_mark_stays_where_a_comma_does_not_settle_it(self, read, content):
        source = read(content, guess=self.BOTH)
        assert source.guessed == {}
        assert source.format.decimal == "."
        assert source.frame.equals(read(content).frame)

    def test_declared_columns_count_by_their_kind(self, read):
        text = "a;b\n1,5;x\n2,5;y\n"
        frame = read(text, kinds={"a": "numeric"}, guess=self.BOTH).frame
        assert frame["a"].to_list() == [1.5, 2.5]
        assert read(text, kinds={"a": "flat"}, guess=self.BOTH).guessed == {}

    def test_amounts_with_commas_are_no_codes_however_alike_they_look(self, read):
        text = "a;b\n100,50;x\n200,75;y\n300,20;z\n"
        assert read(text, guess=self.BOTH).frame["a"].to_list() == [100.5, 200.75, 300.2]
        assert read(text.replace(",", "."), guess=self.BOTH).frame["a"].dtype == pl.String

    @pytest.mark.parametrize("guess", [["sheet"], "encoding", True, [1]])
    def test_only_what_can_be_guessed(self, refused, guess):
        sentence = refused("a\n1\n", error=ParameterError, guess=guess)
        assert "guess must be a list, each item one of 'encoding', 'decimal'" in sentence


def test_the_comma_is_not_worth_a_note(read):
    assert read("a,b\nx,y\n").notes == ()
    assert read("a;b\nx;y\n").notes == ("The fields end at each semicolon.",)
    assert read("a\nx\n").notes == ("There is one column only.",)


class TestPacked:
    @pytest.mark.parametrize(
        ("name", "pack"),
        [("t.csv.gz", gzip.compress), ("t.tsv.bz2", bz2.compress), ("t.txt.xz", lzma.compress)],
    )
    def test_packed_texts(self, read, name, pack):
        source = read(pack(PATIENTS.encode()), name, kinds=KINDS)
        assert source.frame["dx"].to_list() == ["250.00", "401.9", "038.9"]

    def test_a_text_that_begins_like_a_packed_one(self, read):
        assert read("BZh9,b\n1,2\n").columns == ("BZh9", "b")

    def test_zstandard_both_ways(self, tmp_path):
        frame = pl.DataFrame({"a": ["x\ny", "é", None], "b": [1, 2, 3]})
        write_file(frame, tmp_path / "t.csv.zst")
        assert (tmp_path / "t.csv.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
        assert read_file(tmp_path / "t.csv.zst").frame.equals(frame)

    @pytest.mark.parametrize(
        "content",
        [
            gzip.compress(b"a,b\n1,2\n")[:-6],
            bz2.compress(b"a,b\n1,2\n")[:-6],
            lzma.compress(b"a,b\n1,2\n")[:-6],
            b"\x28\xb5\x2f\xfd junk",
        ],
        ids=["gzip", "bzip2", "xz", "zstandard"],  # gzip notes the time, and ids must not change
    )
    def test_damaged(self, refused, content):
        assert refused(content, "t.csv.gz") == (
            "t.csv.gz is damaged and cannot be unpacked; fetch or pack it again."
        )

    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
    def test_bombs(self, refused, monkeypatch, pack):
        monkeypatch.setattr("ontomask.data.files.opening.RATIO_FREE", 2**20)
        bomb = pack(b"a\n" + b"0" * 2**22)
        assert "unpacks to more than 200 times its size" in refused(bomb, "t.csv.gz")

    def test_zstandard_bombs(self, refused, monkeypatch, tmp_path):
        monkeypatch.setattr("ontomask.data.files.opening.RATIO_FREE", 2**20)
        for rows, width in ((2, 2**22), (2**21, 1)):
            frame = pl.DataFrame({"a": ["0" * width] * rows})
            write_file(frame, tmp_path / "t.csv.zst")
            packed = (tmp_path / "t.csv.zst").read_bytes()
            assert "unpacks to more than 200 times its size" in refused(packed, "t.csv.zst")

    def test_the_size_of_zstandard_content_is_told_by_its_blocks(self, tmp_path):
        generator = np.random.default_rng(1)
        for count in (0, 1, 1000, 200_000):
            frame = pl.DataFrame({"a": generator.integers(0, 10**9, count)})
            write_file(frame, tmp_path / "t.csv.zst")
            write_file(frame, tmp_path / "t.csv")
            size = (tmp_path / "t.csv").stat().st_size
            told = _zstandard_size((tmp_path / "t.csv.zst").read_bytes(), "t")
            assert size <= told <= size + 2 * 128 * 1024

    def test_workbooks_that_are_bombs(self, refused, monkeypatch):
        monkeypatch.setattr("ontomask.data.files.opening.RATIO_FREE", 2**20)
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml", "0" * 2**22)
        assert "unpacks to more than 200 times its size" in refused(stream.getvalue(), "t.xlsx")


class TestMistakes:
    def test_ragged_records(self, refused):
        assert refused("a,b,c\n1,2,3\n1,2\n4,5,6\n7,8,9,10\n") == (
            "table.csv, line 3: the record has 2 fields where the header has 3 (2 records are "
            "so); correct it, enclose values that hold the separator ',' in quotation marks, or "
            'say another one (in a plan: separator = ";" under [input]; without a plan: '
            "--separator ';')."
        )
        assert "line 4: the record has 4 fields" in refused('a,b,c\n"1\n",2,3\n1,2,3,4\n')

    def test_stray_quotation_marks(self, refused):
        assert refused('a,b\n1,2\n3,5" pipe\n') == (
            "table.csv, line 3: a quotation mark stands inside of a field; double it and enclose "
            "the field in quotation marks, or say that quotation marks are mere characters in "
            'this file (in a plan: quote = "none" under [input]; without a plan: --quote none).'
        )
        assert "line 2: a quotation mark stands inside" in refused('a,b\n"x"y,2\n')

    def test_open_quotation_mark(self, refused):
        assert "line 3: a quotation mark opens a field there that is never closed" in refused(
            'a,b\n1,2\n3,"x\n4,5\n'
        )

    def test_names_twice(self, refused):
        assert refused("a,b,a,b,c\n1,2,3,4,5\n") == (
            "table.csv: the header names 'a' and 'b' more than once; give every column a name of "
            "its own."
        )

    def test_no_names(self, refused):
        assert refused(",a\n0,1\n") == (
            "table.csv: column 1 has no name in the header; write it there, or save the table "
            "without it if it only numbers the rows."
        )
        assert "columns 2 and 3 have no name" in refused("a, ,\n0,1,2\n")

    @pytest.mark.parametrize("content", ["", "\n\n", b"\xef\xbb\xbf"])
    def test_empty(self, refused, content):
        assert refused(content) == (
            "table.csv is empty; a table needs a header with the columns' names."
        )

    def test_a_header_only_is_a_table_without_records(self, read):
        source = read("a,b\n", kinds={"a": "numeric"})
        assert (source.rows, source.columns) == (0, ("a", "b"))
        assert "table.csv has a header but no records." in source.notes

    def test_binary(self, refused):
        assert "table.csv is not a text file: it holds zero bytes." in refused(b"\x89P\x00\x02\n")

    def test_missing_file(self, tmp_path, monkeypatch, refused):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "patients.csv").write_text("a\n1\n")
        for call in (read_file, file_digest):
            with pytest.raises(DataError) as caught:
                call("patient.csv")
            assert str(caught.value) == (
                "There is no file 'patient.csv'; check the path. Did you mean 'patients.csv'?"
            )
        with pytest.raises(DataError, match="There is no folder 'nowhere'"):
            read_file("nowhere/patients.csv")

    def test_folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "data").mkdir()
        with pytest.raises(DataError, match="'data' is a folder, not a file; it holds no files"):
            read_file("data")
        (tmp_path / "data" / "p.csv").write_text("a\n1\n")
        with pytest.raises(DataError, match="give one of the files in it: 'p"):
            read_file("data")

    def test_no_permission(self, refused, monkeypatch):
        def forbidden(self):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("pathlib.Path.read_bytes", forbidden)
        assert "This user has no permission for 'table.csv'" in refused("a\n1\n")

    @pytest.mark.parametrize("name", ["table.dat", "table", "table.json", "table.gz", "t.sav.gz"])
    def test_unknown_name(self, refused, read, name):
        sentence = refused("a,b\n1,2\n", name)
        assert sentence.startswith(f"The name {name!r} does not tell the file's format; known")
        assert ".csv, .tsv, .txt, .parquet" in sentence
        assert read("a,b\n1,2\n", name, format="csv").frame.rows() == [(1, 2)]

    def test_unknown_columns(self, refused):
        assert refused("age,sex\n1,f\n", columns=["aeg"]) == (
            "table.csv has no column 'aeg'; it has 'age' and 'sex'. Did you mean 'age'?"
        )
        assert "has no column 'agee'" in refused("age,sex\n1,f\n", kinds={"agee": "numeric"})

    def test_kinds_of_columns_that_are_not_read_do_not_matter(self, read):
        kinds = {"age": "numeric", "sex": "numeric"}
        assert read("age,sex\n1,f\n", columns=["age"], kinds=kinds).frame["age"].to_list() == [1]

    def test_unknown_kind(self, refused):
        sentence = refused("a\n1\n", kinds={"a": "number"}, error=ParameterError)
        assert sentence.startswith("the kind of column 'a' must be one of 'numeric', 'count'")

    @pytest.mark.parametrize("wrong", ["a", 3, [], [3]])
    def test_wrong_columns(self, refused, wrong):
        assert refused("a\n1\n", columns=wrong, error=ParameterError).startswith("columns must be")


class TestFileFormat:
    @pytest.mark.parametrize(
        ("name", "wrong"),
        [
            (name, wrong)
            for name, constraint in constraints_of(FileFormat).items()
            for wrong in constraint.wrong_values()
        ],
    )
    def test_wrong_options(self, name, wrong):
        with pytest.raises(ParameterError, match=f"^{name} must be "):
            FileFormat(**{name: wrong})

    @pytest.mark.parametrize("encoding", ["utf9", "base64", "ut\0f"])
    def test_wrong_encodings(self, encoding):
        with pytest.raises(ParameterError, match="encoding must be a text encoding"):
            FileFormat(encoding=encoding)

    def test_every_option_is_checked(self):
        assert set(constraints_of(FileFormat)) == set(FileFormat.__dataclass_fields__)

    def test_a_mere_word_is_no_format(self, tmp_path):
        with pytest.raises(ParameterError, match="format must be a FileFormat"):
            read_file(tmp_path / "t.csv", "csv")
        with pytest.raises(ParameterError, match="format must be a FileFormat"):
            write_file(pl.DataFrame({"a": [1]}), tmp_path / "t.csv", "csv")


class TestWriting:
    FRAME = pl.DataFrame(
        {
            "dx": ["250.00", None, 'say "no"', "a;b,c", "x\ny"],
            "age": [34, None, 5, 6, 7],
            "charge": [1.5, 900.0, float("nan"), 1e-7, None],
            "day": [datetime.date(2024, 1, 31)] * 5,
        }
    )

    def written(self, tmp_path, frame, how=None, name="out.csv", **options) -> bytes:
        write_file(frame, tmp_path / name, how, **options)
        return (tmp_path / name).read_bytes()

    def test_csv(self, tmp_path):
        assert self.written(tmp_path, self.FRAME).decode() == (
            "dx,age,charge,day\n250.00,34,1.5,2024-01-31\n,,900.0,2024-01-31\n"
            '"say ""no""",5,,2024-01-31\n"a;b,c",6,1e-7,2024-01-31\n"x\ny",7,,2024-01-31\n'
        )

    def test_like_the_input(self, tmp_path, read):
        content = "dx;gewicht\n038,9;70,5\nNA;81,25\n'a;b';3,0\n"
        how = {"decimal": ",", "quote": "'", "missing": ("NA",), "encoding": "latin-1"}
        source = read(content, kinds={"dx": "nominal", "gewicht": "numeric"}, **how)
        assert self.written(tmp_path, source.frame, source.format).decode() == content

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
    def test_encodings(self, tmp_path, encoding):
        frame = pl.DataFrame({"a": ["é"]})
        content = self.written(tmp_path, frame, FileFormat(encoding=encoding))
        assert content == "a\né\n".encode(encoding)

    def test_characters_that_the_encoding_lacks(self, tmp_path):
        with pytest.raises(DataError, match="cannot be written in latin-1, which lacks some"):
            self.written(tmp_path, pl.DataFrame({"a": ["Ω"]}), FileFormat(encoding="latin-1"))
        how = FileFormat(encoding="latin-1")
        with pytest.raises(DataError, match="can be written in UTF-8 only"):
            self.written(tmp_path, pl.DataFrame({"a": ["x"]}), how, "out.csv.zst")
        assert not list(tmp_path.iterdir())

    def test_decimal_commas_between_commas_are_quoted(self, tmp_path):
        frame = pl.DataFrame({"a": [1.5, 2.0], "b": [1, 2]})
        how = FileFormat(decimal=",")
        assert self.written(tmp_path, frame, how) == b'a,b\n"1,5",1\n"2,0",2\n'
        assert read_file(tmp_path / "out.csv", how).frame.equals(frame)

    @pytest.mark.parametrize("values", [["x", None, "y"], [1, None, 2], [1.5, None, None]])
    @pytest.mark.parametrize("missing", [("",), ("NA", ""), ("a,b",)])
    def test_missing_values_come_back(self, tmp_path, values, missing):
        for frame in (pl.DataFrame({"a": values}), pl.DataFrame({"a": values, "b": values})):
            how = FileFormat(missing=missing, separator=",")
            self.written(tmp_path, frame, how)
            assert read_file(tmp_path / "out.csv", how).frame.equals(frame)

    @settings(max_examples=40, deadline=None)
    @given(
        texts=st.lists(st.text("ab1,;'\"\n\r é|\t=", min_size=1, max_size=5), min_size=1),
        separator=st.sampled_from(",;\t|"),
        quote=st.sampled_from("'\""),
    )
    def test_texts_come_back(self, tmp_path_factory, texts, separator, quote):
        path = tmp_path_factory.mktemp("fuzz") / "t.csv"
        how = FileFormat(separator=separator, quote=quote, header=1)  # values may be like names
        frame = pl.DataFrame({"a": texts, "b": texts[::-1]})
        write_file(frame, path, how)
        assert read_file(path, how, kinds={"a": "flat", "b": "flat"}).frame.equals(frame)

    def test_without_quotation_marks(self, tmp_path):
        how = FileFormat(quote="none", separator=";")
        assert self.written(tmp_path, pl.DataFrame({"a": ['5" x', "y"]}), how) == b'a\n5" x\ny\n'
        with pytest.raises(DataError, match="Texts in 'a' hold separators or line ends"):
            self.written(tmp_path, pl.DataFrame({"a": ["x;y"]}), how)

    def test_formulas(self, tmp_path):
        risky = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "＝1", "safe=1", None]
        frame = pl.DataFrame({"=a": risky, "b": [-1] * 9})
        write_file(frame, tmp_path / "out.csv", escape_formulas=True)
        back = read_file(tmp_path / "out.csv", kinds={"'=a": "flat"}).frame
        assert back["'=a"].to_list() == [f"'{text}" for text in risky[:7]] + risky[7:]
        assert back["b"].to_list() == [-1] * 9
        write_file(frame, tmp_path / "out.csv")
        assert read_file(tmp_path / "out.csv", kinds={"=a": "flat"}).frame.equals(frame)

    @pytest.mark.parametrize(
        ("text", "harmless"),
        [
            ("x;=1+cmd", "x;'=1+cmd"),
            ("x, @SUM(A1)", "x, '@SUM(A1)"),
            ("a\t=1\n+2|-3", "a\t'=1\n'+2|'-3"),
            ('a;"=1"', 'a;"\'=1"'),
            (' "=1', "' \"=1"),
            ("=1;=2", "'=1;'=2"),
            ("a;b = c, d-e", "a;b = c, d-e"),
        ],
    )
    def test_formulas_behind_separators(self, tmp_path, text, harmless):
        frame = pl.DataFrame({"a": [text], text: ["x"]})
        write_file(frame, tmp_path / "out.csv", escape_formulas=True)
        back = read_file(tmp_path / "out.csv", kinds={"a": "flat"}).frame
        assert back["a"].to_list() == [harmless]
        assert back.columns == ["a", harmless]

    @given(st.lists(st.text("=+-@＝,;|\t\n\r\"' x1", max_size=8), min_size=1, max_size=4))
    def test_no_spreadsheet_finds_a_formula(self, texts):
        frame = pl.DataFrame({"a": texts, "b": texts[::-1]})
        with TemporaryDirectory() as folder:
            write_file(frame, Path(folder) / "out.csv", escape_formulas=True)
            written = (Path(folder) / "out.csv").read_text(encoding="utf-8")
        for separator in ",;|\t":
            for cell in re.split(rf"[\r\n{separator}]", written):
                assert not re.match(r'[\s"]*[=+\-@＝]', cell), (separator, cell, written)

    @pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.csv.bz2", "t.csv.xz", "t.csv.zst"])
    def test_the_same_bytes_again(self, tmp_path, name, monkeypatch):
        first = self.written(tmp_path, self.FRAME, name=name)
        monkeypatch.setattr("time.time", lambda: 1e9)
        assert self.written(tmp_path, self.FRAME, name=name) == first
        assert read_file(tmp_path / name, kinds={"dx": "nominal"}).frame["dx"][0] == "250.00"

    def test_tabs_by_name(self, tmp_path):
        assert self.written(tmp_path, self.FRAME[:1, :2], name="t.tsv") == b"dx\tage\n250.00\t34\n"

    def test_the_name_goes_before_the_format(self, tmp_path, read):
        source = read("a,b\n1,2\n")
        assert self.written(tmp_path, source.frame, source.format, "o.parquet")[:4] == b"PAR1"

    def test_other_frames(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"a": [1, 2], "b": pandas.Categorical(["x", "y"])})
        assert self.written(tmp_path, frame) == b"a,b\n1,x\n2,y\n"
        with pytest.raises(DataError, match="A table must be a Polars, pandas or PyArrow"):
            self.written(tmp_path, [1, 2])

    def test_what_csv_cannot_hold(self, tmp_path):
        with pytest.raises(DataError, match="The table has no columns"):
            self.written(tmp_path, pl.DataFrame())
        with pytest.raises(DataError, match="The table cannot be written as CSV"):
            self.written(tmp_path, pl.DataFrame({"a": [[1, 2]]}))

    def test_where_nothing_can_be_written(self, tmp_path):
        frame = pl.DataFrame({"a": [1]})
        with pytest.raises(DataError, match=r"There is no folder .*none' to write to; make it"):
            write_file(frame, tmp_path / "none" / "t.csv")
        (tmp_path / "d.csv").mkdir()
        with pytest.raises(DataError, match="is a folder; give the name of a file to write"):
            write_file(frame, tmp_path / "d.csv")
        with pytest.raises(DataError, match="does not tell the file's format"):
            write_file(frame, tmp_path / "t.json")
        write_file(frame, tmp_path / "t.dat", FileFormat(format="csv"))
        assert (tmp_path / "t.dat").read_bytes() == b"a\n1\n"

    @pytest.mark.parametrize("mark", [",", ";", "\t", "|", "\n"])
    @pytest.mark.parametrize("start", ["=1+cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)"])
    def test_no_other_spreadsheet_finds_a_formula_either(self, tmp_path, mark, start):
        """Whatever mark divides the cells there, none of them begins a formula."""
        for between in ("", " ", '"', '" '):
            frame = pl.DataFrame({"a": [f"x{mark}{between}{start}", f"{start}{mark}{start}"]})
            write_file(frame, tmp_path / "t.csv", escape_formulas=True)
            content = (tmp_path / "t.csv").read_text().split("\n", 1)[1]
            for divider in (",", ";", "\t", "|"):
                cells = re.split(rf"[{re.escape(divider)}\n]", content)
                plain = [cell.strip(' "\r') for cell in cells]
                assert not [cell for cell in plain if cell[:1] in tuple("=+-@")]

    def test_escape_formulas_is_checked(self, tmp_path):
        with pytest.raises(ParameterError, match="escape_formulas must be True or False"):
            write_file(pl.DataFrame({"a": [1]}), tmp_path / "t.csv", escape_formulas="yes")


def test_digest_and_nothing_changed(read, tmp_path, capfd):
    source = read("a,b\n1,2\n")
    known = "492d5ea496056f1a6a6592241032fab764c321596317930b4fa0e1e8bc3b7470"
    assert source.sha256 == file_digest(tmp_path / "table.csv") == known
    assert [one.name for one in tmp_path.iterdir()] == ["table.csv"]
    assert capfd.readouterr() == ("", "")
