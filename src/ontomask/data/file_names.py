"""Telling from its name whether a file is a table, and in which format.

Nothing is imported for it: who only lists files need not wait for those who read them.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["PACKED", "SUFFIXES", "format_of_name", "is_table_name", "without_suffixes"]

SUFFIXES = {
    "csv": (".csv", ".tsv", ".txt"),
    "parquet": (".parquet", ".pq"),
    "excel": (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    "spss": (".sav", ".zsav"),
    "stata": (".dta",),
}
PACKED = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}


def format_of_name(path: Path) -> str | None:
    """Tell the format from the suffix, looking through the suffix of a packed file."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in PACKED
    last = suffixes[-2:-1] if packed else suffixes[-1:]
    found = next((name for name, known in SUFFIXES.items() if last and last[0] in known), None)
    return None if packed and found != "csv" else found


def is_table_name(path: Path) -> bool:
    """Whether a file is named like a table; `.txt` may be anything."""
    return format_of_name(path) is not None and ".txt" not in path.suffixes


def without_suffixes(name: str) -> str:
    """The name of a table without the suffixes that tell its format and how it is packed."""
    path = Path(name)
    return Path(path.stem).stem if path.suffix.lower() in PACKED else path.stem
