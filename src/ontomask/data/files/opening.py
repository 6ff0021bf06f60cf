"""Getting at a file's bytes, and saying why when that fails."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import polars as pl

from ontomask.checks import did_you_mean
from ontomask.errors import DataError
from ontomask.wording import quoted

__all__ = ["existing", "file_digest", "reported", "unpacked"]

OPENERS: dict[bytes, Callable[..., Any]] = {
    rb"\x1f\x8b": gzip.open,
    rb"BZh[1-9]1AY&SY": bz2.open,
    rb"\xfd7zXZ\x00": lzma.open,
}
"""How to open packed content, by a pattern of its first bytes."""

ZSTANDARD = b"\x28\xb5\x2f\xfd"
MAX_RATIO = 1000
RATIO_FREE = 256 * 2**20
CHUNK = 2**20


def file_digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 digest of a file's bytes, in hexadecimal digits.

    Raises
    ------
    DataError
        If there is no such file, or it may not be read.
    """
    with reported(str(path)), existing(Path(path)).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def existing(path: Path) -> Path:
    """Return the path if it is a file, else say what is there instead."""
    if path.is_file():
        return path
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder, not a file;{_inside(path)}.")
    if path.exists():
        raise DataError(f"{str(path)!r} is not a plain file; save the table to one and give that.")
    if not path.parent.is_dir():
        raise DataError(f"There is no folder {str(path.parent)!r}; check the path.")
    names = [one.name for one in _files(path.parent)]
    raise DataError(
        f"There is no file {str(path)!r}; check the path.{did_you_mean(path.name, names)}"
    )


@contextmanager
def reported(shown: str) -> Iterator[None]:
    """Turn the operating system's complaints into our sentences."""
    try:
        yield
    except PermissionError:
        raise DataError(
            f"This user has no permission for {shown!r}; change the file's permissions, or copy it."
        ) from None
    except OSError as error:
        raise DataError(f"{shown!r} cannot be used: {error.strerror or error}.") from None


def unpacked(content: bytes, shown: str) -> bytes:
    """Return the content of a gzip, bzip2, xz or Zstandard file; other content as it is."""
    if content.startswith(ZSTANDARD):
        return _zstandard(content, shown)
    opener = next((OPENERS[magic] for magic in OPENERS if re.match(magic, content)), None)
    if opener is None:
        return content
    try:
        with cast(IO[bytes], opener(io.BytesIO(content), "rb")) as stream:
            return b"".join(_bounded(stream, len(content), shown))
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        raise _damaged(shown) from None


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(one for one in folder.iterdir() if one.is_file())
    except OSError:  # only a hint depends on it
        return []


def _inside(folder: Path) -> str:
    names = [one.name for one in _files(folder)]
    return f" give one of the files in it: {quoted(names)}" if names else " it holds no files"


def _bounded(stream: IO[bytes], packed: int, shown: str) -> Iterator[bytes]:
    size = 0
    while chunk := stream.read(CHUNK):
        size += len(chunk)
        if size > RATIO_FREE and size > MAX_RATIO * packed:
            raise DataError(
                f"{shown} unpacks to more than {MAX_RATIO} times its size, as no honest table "
                "does; unpack it yourself if you trust it."
            )
        yield chunk


def _zstandard(content: bytes, shown: str) -> bytes:
    """Unpack through Polars: Python itself cannot before version 3.14."""
    try:
        lines = pl.read_lines(content)["line"]
    except (pl.exceptions.PolarsError, OSError) as error:
        if "utf" in str(error).lower():
            raise DataError(
                f"{shown} is packed and not UTF-8 text; unpack it first, then say its encoding."
            ) from None
        raise _damaged(shown) from None
    text = lines.str.join("\n").item() if len(lines) else ""
    return str(text).encode()


def _damaged(shown: str) -> DataError:
    return DataError(f"{shown} is damaged and cannot be unpacked; fetch or pack it again.")
