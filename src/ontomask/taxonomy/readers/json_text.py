"""JSON that nobody vouches for: what is malformed, repeated or nested too deeply is a sentence.

The readers of JSON trees and of FHIR resources stand on this.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ontomask.errors import FormatError
from ontomask.taxonomy.draft import Line, place
from ontomask.taxonomy.readers.separated import plain_suffix
from ontomask.taxonomy.readers.sources import read_text

__all__ = ["is_json", "json_reported", "read_json"]


def is_json(path: Path, first_bytes: bytes) -> bool:
    """Tell whether a file is called `.json` and begins as JSON does; for `can_read`."""
    begins = first_bytes.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
    return plain_suffix(path) == ".json" and begins


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object; a key that stands twice is an error."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object; unite the two")
    return found


def read_json(path: Path) -> Any:
    """Read a JSON file, plain or gzip; None if it is blank."""
    text = read_text(path)
    if not text.strip():
        return None
    return json.loads(text, object_pairs_hook=_members, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(f"the JSON is malformed ({constant} is not JSON)")


@contextmanager
def json_reported(source: str) -> Iterator[None]:
    """Turn the parser's complaints into our sentences."""
    try:
        yield
    except json.JSONDecodeError as error:
        raise _error(source, error.lineno, f"the JSON is malformed ({error.msg})") from None
    except RecursionError:
        raise _error(source, None, "the tree is nested too deeply") from None
    except ValueError as error:
        raise _error(source, None, str(error)) from None


def _error(source: str, where: Line, reason: str) -> FormatError:
    return FormatError(f"{place(source, where)}: {reason}.")
