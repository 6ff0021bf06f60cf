"""Any encoding in, UTF-8 without a byte-order mark out."""

from __future__ import annotations

import codecs

from ontomask.errors import DataError
from ontomask.wording import option

__all__ = ["as_utf8", "encoding_of", "guessed_encoding", "mixed_encodings"]

MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
CHUNK = 2**20
GUESSED = "cp1252"
UNUSED = (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d")
"""Bytes that stand for nothing in cp1252."""


def encoding_of(content: bytes) -> str:
    """Tell the encoding by the byte-order mark; without one it is to be UTF-8."""
    return next((name for mark, name in MARKS.items() if content.startswith(mark)), "utf-8")


def guessed_encoding(content: bytes) -> str | None:
    """Return cp1252 for a text that has no mark and is not UTF-8 but can be that; else None."""
    if encoding_of(content) != "utf-8" or b"\x00" in content or _is_utf8(content):
        return None
    return None if any(byte in content for byte in UNUSED) else GUESSED


def mixed_encodings(content: bytes) -> str:
    """Say so if a text that is not UTF-8 holds lines that are, with letters beyond ASCII."""
    lines = content.split(b"\n")
    beyond = [number for number, line in enumerate(lines) if not line.isascii()]
    proper = next((one for one in beyond if _is_utf8(lines[one])), None)
    other = next((one for one in beyond if not _is_utf8(lines[one])), None)
    if proper is None or other is None:
        return ""
    return f"in two encodings: line {proper + 1} is UTF-8 and line {other + 1} is not"


def as_utf8(content: bytes, encoding: str, shown: str) -> bytes:
    """Return the text as UTF-8 with plain line ends, or say in which line it is something else."""
    if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
        text = content.removeprefix(codecs.BOM_UTF8)
        _refuse_binary(text, shown)
        if not _is_utf8(text):
            _decoded(text, "utf-8", shown)
    else:
        text = _decoded(content, encoding, shown).removeprefix("\ufeff").encode()
        _refuse_binary(text, shown)
    return text.replace(b"\r", b"\n") if b"\r" in text and b"\n" not in text else text


def _refuse_binary(text: bytes, shown: str) -> None:
    if b"\x00" in text:
        raise DataError(
            f"{shown} is not a text file: it holds zero bytes. If it is UTF-16 text, say its "
            f"encoding ({option('encoding', 'utf-16')}); if it is a table of another format, say "
            "that format."
        )


def _is_utf8(text: bytes) -> bool:
    """Decode piece by piece, so that a large file is not held twice."""
    if text.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(text), CHUNK):
            decoder.decode(text[start : start + CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _decoded(content: bytes, encoding: str, shown: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].decode(encoding, "replace").count("\n") + 1
        likely = "latin-1" if codecs.lookup(encoding).name == GUESSED else GUESSED
        raise DataError(
            f"{shown}, line {line}: the byte 0x{content[error.start]:02x} is not {encoding} text; "
            f"save the file as UTF-8, or say its encoding, perhaps {likely} "
            f"({option('encoding', likely)})."
        ) from None
