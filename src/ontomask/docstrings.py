"""What the documentation of a class says of its parameters, for plans, schemas and reports."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["parameter_texts"]

ELSEWHERE = re.compile(r"As (?:in|for) `(\w+)`")


def parameter_texts(
    kind: Callable[..., Any], others: Mapping[str, Callable[..., Any]] | None = None
) -> dict[str, str]:
    """The text of each parameter, from the numpy docstrings of a function or a class and its bases.

    Parameters
    ----------
    others
        Classes and functions by name, to be looked up where a text only says "As in `Other`".
    """
    texts: dict[str, str] = {}
    for one in reversed(inspect.getmro(kind) if isinstance(kind, type) else (kind,)):
        texts.update(_listed(inspect.cleandoc(one.__doc__ or "")))
    for name, text in texts.items():
        found = ELSEWHERE.match(text)
        other = (others or {}).get(found[1]) if found else None
        if other is not None and other is not kind:
            texts[name] = parameter_texts(other).get(name, text)
    return texts


def _listed(text: str) -> dict[str, str]:
    """The entries of a section of parameters; several names may share one."""
    _, _, section = text.partition("Parameters\n----------\n")
    entries: dict[str, str] = {}
    names: list[str] = []
    for line in section.split("\n"):
        if line and not line.startswith(" "):
            if not re.fullmatch(r"[\w, ]+", line):
                break
            names = [name.strip() for name in line.split(",")]
        else:
            for name in names:
                entries[name] = f"{entries.get(name, '')} {line.strip()}".strip()
    return entries
