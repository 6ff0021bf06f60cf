"""Table files: CSV, Parquet, Excel, SPSS and Stata into Polars frames and back."""

from ontomask.data.files.first_look import first_look
from ontomask.data.files.formats import FileFormat
from ontomask.data.files.opening import file_digest
from ontomask.data.files.reading import Source, as_texts, read_file, read_texts
from ontomask.data.files.writing import with_formulas_escaped, write_file

__all__ = [
    "FileFormat",
    "Source",
    "as_texts",
    "file_digest",
    "first_look",
    "read_file",
    "read_texts",
    "with_formulas_escaped",
    "write_file",
]
