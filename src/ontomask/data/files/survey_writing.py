"""SPSS and Stata files, with a fixed date in their headers instead of the time of writing."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl

from ontomask.data.files.formats import FileFormat
from ontomask.data.files.survey import library
from ontomask.errors import DataError

__all__ = ["survey_content"]

SPSS_DATE_AT = 92
SPSS_DATE = b"01 Jan 0000:00:00"
STATA_MARK = b"<timestamp>\x11"
STATA_DATE = b"01 Jan 2000 00:00"


def survey_content(frame: pl.DataFrame, how: FileFormat, path: Path) -> bytes:
    """Return an SPSS (.sav; .zsav packed) or Stata file with the frame's values."""
    is_stata = how.format == "stata"
    packed = path.suffix.lower() == ".zsav"
    package = library()
    # the package writes to named files only
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "table"
        try:
            if is_stata:
                package.write_dta(frame, str(target))
            else:
                package.write_sav(frame, str(target), compress=packed)
        except (package.ReadstatError, package.PyreadstatError) as error:
            raise DataError(
                f"The table cannot be written to {str(path)!r} ({str(error).rstrip('.')}); rename "
                "or leave out the column, or write CSV or Parquet."
            ) from None
        content = target.read_bytes()
    return _undated_stata(content) if is_stata else _undated_spss(content)


def _undated_spss(content: bytes) -> bytes:
    end = SPSS_DATE_AT + len(SPSS_DATE)
    return content[:SPSS_DATE_AT] + SPSS_DATE + content[end:]


def _undated_stata(content: bytes) -> bytes:
    start = content.index(STATA_MARK) + len(STATA_MARK)
    return content[:start] + STATA_DATE + content[start + len(STATA_DATE) :]
