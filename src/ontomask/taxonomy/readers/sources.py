"""Opening what a user points at: text, gzip, zip and tar, without trusting it.

Threats and rules: a compressed file may be a bomb (bounded in size and in ratio while it is being
read, headers are not believed); an archive may name files outside its folder (such names are
refused, and nothing is ever extracted to disk); text may be in another encoding (UTF-8 or a clear
error).
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from ontomask.errors import EncodingError, FormatError, SourceNotFoundError, UnsafeSourceError

__all__ = [
    "MAX_RATIO",
    "MAX_SIZE",
    "Inside",
    "base_name",
    "check_encoding",
    "files_inside",
    "first_bytes",
    "names_inside",
    "numbered_lines",
    "open_zip",
    "read_bytes",
    "read_tar",
    "read_text",
    "stream_file",
    "stream_member",
]

MAX_SIZE = 8 * 2**30
"""No source may unpack to more bytes than this."""

MAX_RATIO = 100
"""No source larger than `RATIO_FREE` may unpack to more than this many times its packed size."""

RATIO_FREE = 64 * 2**20
SNIFFED = 65536
CHUNK = 2**20
GZIP_MAGIC = b"\x1f\x8b"

Inside = tuple[str, Callable[[], AbstractContextManager[IO[bytes]]]]
"""A file in a folder or zip: what to call it, and how to open it for reading piece by piece."""


def first_bytes(path: Path) -> bytes:
    """Return the beginning of a file's (unpacked) content, for `can_read`; empty for a folder."""
    if path.is_dir():
        return b""
    with _reported(path), _open_plain(path) as stream:
        return stream.read(SNIFFED)


def read_bytes(path: Path) -> bytes:
    """Return a file's whole content, unpacked when it is gzip, within the bounds."""
    with _reported(path), _open_plain(path) as stream:
        return _bounded(stream, path.stat().st_size, str(path))


@contextmanager
def stream_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a large file for reading piece by piece, unpacked when it is gzip, within the bounds."""
    with _reported(path), _open_plain(path) as stream:
        yield _bounded_reader(stream, path.stat().st_size, str(path))


def read_text(path: Path) -> str:
    """Return a file's content as UTF-8 text; a byte-order mark is dropped, newlines are kept."""
    return decode(read_bytes(path), str(path))


def decode(content: bytes, name: str) -> str:
    """Decode UTF-8 or say, in one sentence, where it is not."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise EncodingError(
            f"{name}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8 text; "
            "save the file with the encoding UTF-8 and read it again."
        ) from None
    if "\x00" in text:
        raise FormatError(
            f"{name} is a binary file, not a text; see om.taxonomies() for what is bundled and the "
            "documentation for the formats that can be read."
        )
    return text


def check_encoding(line: bytes, number: int, name: str) -> None:
    """Refuse a line of a published file that is not UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        raise EncodingError(
            f"{name}, line {number}: byte 0x{line[error.start]:02x} is not UTF-8 text; use the "
            "files as they were published."
        ) from None


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, line without its end) of a UTF-8 text file."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        yield number, line.rstrip("\r")


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip whose member names stay inside it and whose sizes stay in bounds."""
    with _reported(path), zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            _check_name(member.filename, path)
            _check_bounds(member.file_size, member.compress_size, f"{path}:{member.filename}")
        total = sum(member.file_size for member in archive.infolist())
        _check_bounds(total, path.stat().st_size, str(path))
        yield archive


@contextmanager
def stream_member(archive: zipfile.ZipFile, name: str) -> Iterator[IO[bytes]]:
    """Open one member of a zip for reading piece by piece, bounded while it is unpacked."""
    member = archive.getinfo(name)
    with archive.open(member) as stream:
        yield _bounded_reader(stream, member.compress_size, f"{archive.filename}:{name}")


@contextmanager
def files_inside(path: Path) -> Iterator[list[Inside]]:
    """List the files of a folder or zip, by name so that results never depend on the disk."""
    if not path.exists():
        raise SourceNotFoundError(f"There is no file or folder {str(path)!r}; check the path.")
    if path.is_dir():
        inside = sorted(found for found in path.rglob("*") if found.is_file())
        yield [(str(found), partial(stream_file, found)) for found in inside]
        return
    with open_zip(path) as archive:
        yield [(name, partial(stream_member, archive, name)) for name in sorted(archive.namelist())]


def names_inside(path: Path, first_bytes: bytes) -> list[str]:
    """Return the last parts of the names of what a folder or zip holds; for `can_read`."""
    if path.is_dir():
        return [found.name for found in path.rglob("*")]
    if not first_bytes.startswith(b"PK") or not zipfile.is_zipfile(path):
        return []
    with open_zip(path) as archive:
        return [base_name(name) for name in archive.namelist()]


def base_name(name: str) -> str:
    """Return the last part of a path, whichever way its slashes lean."""
    return name.replace("\\", "/").rpartition("/")[2]


def read_tar(path: Path, names: Collection[str]) -> dict[str, bytes]:
    """Return the plain files of a tar, packed by gzip or not, whose last name is in `names`.

    The tar is read as one stream in memory, bounded as a whole; links and devices are skipped.
    """
    found: dict[str, bytes] = {}
    with stream_file(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            _check_name(member.name, path)
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None and PurePosixPath(member.name).name in names:
                found[member.name] = content.read()
    return found


def _check_name(filename: str, path: Path) -> None:
    name = PurePosixPath(filename.replace("\\", "/"))
    if name.is_absolute() or ".." in name.parts or ":" in filename:
        raise UnsafeSourceError(
            f"{path}: the archive holds {filename!r}, a name that points outside of it; "
            "this is no honest release file, fetch it again from its publisher."
        )


def _check_bounds(size: int, packed: int, name: str) -> None:
    too_dense = size > RATIO_FREE and size > MAX_RATIO * max(packed, 1)
    if size > MAX_SIZE or too_dense:
        raise UnsafeSourceError(
            f"{name} unpacks to more than {MAX_RATIO} times its size or {MAX_SIZE >> 30} GiB; "
            "it looks like a decompression bomb and was not read."
        )


def _bounded(stream: IO[bytes], packed: int, name: str) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while chunk := stream.read(CHUNK):
        size += len(chunk)
        _check_bounds(size, packed, name)
        chunks.append(chunk)
    return b"".join(chunks)


class _BoundedStream(io.RawIOBase):
    """A stream that counts what it hands out and stops at the bounds."""

    def __init__(self, stream: IO[bytes], packed: int, name: str) -> None:
        self._stream, self._packed, self._name = stream, packed, name
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._stream.read(len(buffer))
        self._size += len(chunk)
        _check_bounds(self._size, self._packed, self._name)
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _bounded_reader(stream: IO[bytes], packed: int, name: str) -> io.BufferedReader:
    return io.BufferedReader(_BoundedStream(stream, packed, name), CHUNK)


def _open_plain(path: Path) -> IO[bytes]:
    stream = path.open("rb")
    magic = stream.read(2)
    stream.seek(0)
    if magic != GZIP_MAGIC:
        return stream
    stream.close()
    return cast(IO[bytes], gzip.open(path, "rb"))


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn the operating system's and the unpackers' complaints into our sentences."""
    try:
        yield
    except FileNotFoundError as error:
        if isinstance(error, SourceNotFoundError):
            raise
        raise SourceNotFoundError(f"There is no file {str(path)!r}; check the path.") from None
    except (zipfile.BadZipFile, gzip.BadGzipFile, tarfile.TarError, zlib.error, EOFError) as error:
        raise FormatError(f"{path} is damaged and cannot be unpacked ({error}).") from None
    except PermissionError:
        raise FormatError(f"{path} may not be read by this user; change its permissions.") from None
