"""Values as TOML writes them."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping

__all__ = ["toml_comment", "toml_key", "toml_value"]


def toml_key(name: str) -> str:
    """A name of a key or table, quoted where it must be."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def toml_value(value: object) -> str:
    """A text, number, truth value, date, or list or table of them; anything else as a text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(toml_value(one) for one in value)}]"
    if isinstance(value, Mapping):
        pairs = [f"{toml_key(str(name))} = {toml_value(one)}" for name, one in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, (int, float)):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_comment(text: str) -> str:
    """A text that can stand in a comment: one line, nothing invisible."""
    return "".join(one if one.isprintable() else " " for one in text)
