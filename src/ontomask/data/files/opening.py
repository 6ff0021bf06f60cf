"""Getting at a file's bytes, and saying why when that fails."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import polars as pl

from ontomask.checks import did_you_mean
from ontomask.errors import DataError
from ontomask.wording import quoted

__all__ = ["check_archive", "existing", "file_digest", "reported", "unpacked"]

OPENERS: dict[bytes, Callable[..., Any]] = {
    rb"\x1f\x8b": gzip.open,
    rb"BZh[1-9]1AY&SY": bz2.open,
    rb"\xfd7zXZ\x00": lzma.open,
}
"""How to open packed content, by a pattern of its first bytes."""

ZSTANDARD = b"\x28\xb5\x2f\xfd"
SKIPPED = b"\x2a\x4d\x18"
ZSTANDARD_BLOCK = 128 * 2**10
RAW, REPEATED = 0, 1
"""Blocks of a Zstandard file that say their size: plain bytes, and one byte many times."""

MAX_SIZE = 32 * 2**30
"""No file may unpack to more bytes than this."""

MAX_RATIO = 200
"""Nor to more than so many times its size, once it is larger than `RATIO_FREE`."""

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


def check_archive(path: Path, shown: str) -> None:
    """Refuse a zip archive, which a workbook is, that would unpack to too much."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        _check_size(size, path.stat().st_size, shown)


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(one for one in folder.iterdir() if one.is_file())
    except OSError:  # only a hint depends on it
        return []


def _inside(folder: Path) -> str:
    names = [one.name for one in _files(folder)]
    return f" give one of the files in it: {quoted(names)}" if names else " it holds no files"


def _check_size(size: int, packed: int, shown: str) -> None:
    if size > MAX_SIZE or (size > RATIO_FREE and size > MAX_RATIO * packed):
        raise DataError(
            f"{shown} unpacks to more than {MAX_RATIO} times its size or {MAX_SIZE >> 30} GiB, as "
            "no honest table does; unpack it yourself if you trust it."
        )


def _bounded(stream: IO[bytes], packed: int, shown: str) -> Iterator[bytes]:
    size = 0
    while chunk := stream.read(CHUNK):
        size += len(chunk)
        _check_size(size, packed, shown)
        yield chunk


def _zstandard(content: bytes, shown: str) -> bytes:
    """Unpack through Polars: Python itself cannot before version 3.14."""
    _check_size(_zstandard_size(content, shown), len(content), shown)
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


def _zstandard_size(content: bytes, shown: str) -> int:
    """To how many bytes Zstandard frames unpack at most, by the headers of their blocks (RFC 8878).

    What the frames themselves say of their size need not be there, nor be true.
    """
    size = place = 0
    while place < len(content):
        if content[place + 1 : place + 4] == SKIPPED:
            place += 8 + int.from_bytes(content[place + 4 : place + 8], "little")
            continue
        descriptor = int.from_bytes(content[place + 4 : place + 5], "little")
        place += _header_length(descriptor)
        last = 0
        while not last:
            if place >= len(content):
                raise _damaged(shown)
            block = int.from_bytes(content[place : place + 3], "little")
            last, kind, length = block & 1, block >> 1 & 3, block >> 3
            size += length if kind in (RAW, REPEATED) else ZSTANDARD_BLOCK
            place += 3 + (1 if kind == REPEATED else length)
        place += 4 * (descriptor >> 2 & 1)
    return size


def _header_length(descriptor: int) -> int:
    """The length of a Zstandard frame's header: magic, descriptor, window, dictionary, size."""
    is_single = descriptor >> 5 & 1
    stated = (is_single, 2, 4, 8)[descriptor >> 6]
    return 5 + (1 - is_single) + (0, 1, 2, 4)[descriptor & 3] + stated


def _damaged(shown: str) -> DataError:
    return DataError(f"{shown} is damaged and cannot be unpacked; fetch or pack it again.")
