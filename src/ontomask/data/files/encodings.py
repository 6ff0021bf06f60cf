"""Any encoding in, UTF-8 without a byte-order mark out."""

from __future__ import annotations

import codecs

from ontomask.errors import DataError

__all__ = ["as_utf8", "encoding_of"]

MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
CHUNK = 2**20


def encoding_of(content: bytes) -> str:
    """Tell the encoding by the byte-order mark; without one it is to be UTF-8."""
    return next((name for mark, name in MARKS.items() if content.startswith(mark)), "utf-8")


def as_utf8(content: bytes, encoding: str, shown: str) -> bytes:
    """Return the text as UTF-8 with plain line ends, or say in which line it is something else."""
    if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
        text = content.removeprefix(codecs.BOM_UTF8)
        _refuse_binary(text, shown)
        _check_utf8(text, shown)
    else:
        text = _decoded(content, encoding, shown).removeprefix("\ufeff").encode()
        _refuse_binary(text, shown)
    return text.replace(b"\r", b"\n") if b"\r" in text and b"\n" not in text else text


def _refuse_binary(text: bytes, shown: str) -> None:
    if b"\x00" in text:
        raise DataError(
            f"{shown} is not a text file: it holds zero bytes. If it is UTF-16 text, say "
            "encoding='utf-16'; if it is a table of another format, say that format."
        )


def _check_utf8(text: bytes, shown: str) -> None:
    """Decode piece by piece, so that a large file is not held twice."""
    if text.isascii():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(text), CHUNK):
            decoder.decode(text[start : start + CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        _decoded(text, "utf-8", shown)


def _decoded(content: bytes, encoding: str, shown: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].decode(encoding, "replace").count("\n") + 1
        raise DataError(
            f"{shown}, line {line}: the byte 0x{content[error.start]:02x} is not {encoding} text; "
            "say which encoding the file was saved in, often encoding='cp1252' (Windows) or "
            "encoding='latin-1', or save it as UTF-8."
        ) from None
