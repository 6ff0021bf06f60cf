"""Table files: CSV, Parquet, Excel, SPSS and Stata into Polars frames and back."""

from ontomask.data.files.formats import FileFormat
from ontomask.data.files.reading import read_file
from ontomask.data.files.writing import write_file

__all__ = [
    "FileFormat",
    "read_file",
    "write_file",
]
