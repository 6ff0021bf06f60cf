"""Single files, written as a whole or not at all, an existing one only if that is wanted."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ontomask.errors import OntomaskError, OutputError

__all__ = ["replacing", "require_new", "write_new", "write_rows", "writing"]

PRIVATE, USUAL = 0o600, 0o666
"""Rights of a new file; what the user's umask forbids is taken from them."""


def require_new(path: Path, *, force: bool) -> None:
    """Refuse to replace a file, unless that is wanted; a folder is never replaced."""
    with writing(path):
        if path.is_dir():
            raise OutputError(f"{path} is a folder; give the name of a file to write.")
        if not path.parent.is_dir():
            raise OutputError(
                f"There is no folder {str(path.parent)!r} to write {path.name!r} to; make it first."
            )
        if path.exists() and not path.is_file():
            raise OutputError(f"{path} is no plain file and is kept; give another name.")
        if os.path.lexists(path) and not force:
            raise OutputError(
                f"{path} exists already and is kept; give another name, or say --force."
            )


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Answer the operating system's complaints with a sentence."""
    try:
        yield
    except OntomaskError:
        raise
    except (OSError, ValueError) as error:  # a name with a zero character is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"{path} cannot be written ({reason}).") from None


@contextlib.contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Lend a new file, which takes the name of `path` when everything is written.

    Nobody can guess what it is called until then, and a link in its way is replaced, not followed.

    Parameters
    ----------
    path
        What the file is to be called.
    private
        Whether nobody but its owner may ever read it.
    """
    temporary = path.with_name(f".{secrets.token_hex(8)}.partial")
    new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(temporary, new, PRIVATE if private else USUAL)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_new(path: Path, text: str, *, force: bool, private: bool = False) -> None:
    """Write a text to a file that does not exist yet."""
    require_new(path, force=force)
    with writing(path), replacing(path, private=private) as stream:
        stream.write(text.encode())


def write_rows(path: Path, rows: Iterable[Iterable[object]], encoding: str = "utf-8") -> None:
    """Write rows as comma-separated values."""
    with replacing(path) as stream, io.TextIOWrapper(stream, encoding, newline="") as text:
        csv.writer(text, lineterminator="\n").writerows(rows)
