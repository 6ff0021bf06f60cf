"""What benchmarks are given on the command line, looked at before anything is computed.

Each function is a `type` of an argument of argparse, which says in a sentence what is wrong.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Collection
from pathlib import Path

CLAIMS = "tables/inpatient_claims_icd9.csv.gz"


def existing_file(text: str) -> Path:
    """A file that is there."""
    path = Path(text)
    if not path.is_file():
        what = "is a folder, but a file" if path.is_dir() else "is not there: a file"
        raise ArgumentTypeError(f"{text!r} {what} is needed.")
    return path


def folder_with(*names: str) -> Callable[[str], Path]:
    """A folder that holds some files."""

    def checked(text: str) -> Path:
        path = Path(text)
        if not path.is_dir():
            what = "is a file, but a folder" if path.is_file() else "is not there: a folder"
            raise ArgumentTypeError(f"{text!r} {what} with {', '.join(names)} is needed.")
        missing = [name for name in names if not (path / name).is_file()]
        if missing:
            raise ArgumentTypeError(f"the folder {text!r} does not hold {', '.join(missing)}.")
        return path

    return checked


def whole_number(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no whole number of at least 1.")
    return int(text)


def some_of(options: Collection[str]) -> Callable[[str], str]:
    """Some options, with commas between them."""

    def checked(text: str) -> str:
        unknown = [name for name in text.split(",") if name not in options]
        if unknown:
            raise ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(options)}.")
        return text

    return checked
