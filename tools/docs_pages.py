"""An MkDocs hook that makes the page of the Python API and lists the studies.

The page holds a mark for every public name, which only a build of the site turns into text; so it
is made whenever the site is built. The other reference pages lie in docs (`docs_reference.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import ontomask

THEMES = {
    "Release": ("release", "engines.", "plan", "samples"),
    "Schema": ("data.",),
    "Methods": ("methods.",),
    "Hierarchies and levels": (
        "methods.generalization.",
        "taxonomy.hierarchies",
        "taxonomy.from_data",
    ),
    "Privacy models": ("privacy", "checking"),
    "Quality models": ("quality",),
    "Evaluation": ("evaluation.", "population"),
    "Comparison": ("comparison", "recommendation"),
    "Taxonomies, terms and distances": ("taxonomy.",),
    "Statistics of nominal columns": ("semantics.",),
}
"""The themes of the API page, with the rooms that belong to them; the most exact one counts."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the studies, whose pages are written by their own programs, before the reference."""
    folder = Path(config.docs_dir) / "studies"
    pages = sorted(folder.glob("*.md"), key=lambda page: (page.stem != "index", page.stem))
    if pages and config.nav is not None:
        section = {"Studies": [f"studies/{page.name}" for page in pages]}
        config.nav.insert(len(config.nav) - 1, section)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to the site."""
    for path, make in PAGES.items():
        files.append(File.generated(config, path, content=make()))
    return files


# The Python API -------------------------------------------------------------------------------


def api_page() -> str:
    """Every public name, by theme, with its docstring."""
    parts = [
        "# Python API",
        "What is typed every day is reached from `import ontomask as om`, the rest from "
        "one module for each theme, the errors from [`om.errors`](../guides/errors.md). "
        "The examples take `import polars as pl` as done, too.",
        *_modules(),
    ]
    for theme, names in themes().items():
        parts += [f"## {theme}", *(_documented(one) for one in names)]
    return "\n\n".join(parts) + "\n"


def themes() -> dict[str, list[str]]:
    """The true homes of all public names, by theme."""
    starts = {start: theme for theme, rooms in THEMES.items() for start in rooms}
    found: list[tuple[int, str, str]] = []
    for one in public_things():
        start = _fitting(one.__module__.removeprefix("ontomask."), starts)
        home = f"{one.__module__}.{one.__name__}"
        found.append((list(starts).index(start), one.__name__.lower(), home))
    grouped: dict[str, list[str]] = {theme: [] for theme in THEMES}
    for place, _, home in sorted(found):
        grouped[list(starts.values())[place]].append(home)
    return grouped


def _fitting(room: str, starts: Iterable[str]) -> str:
    fitting = [start for start in starts if f"{room}.".startswith(start)]
    if not fitting:
        raise LookupError(f"ontomask.{room} has no theme on the API page; add it to THEMES.")
    return max(fitting, key=len)


def public_things() -> Iterator[Any]:
    """Every public class and function but the errors."""
    yield from (getattr(ontomask, name) for name in ontomask._HOMES)
    for room in _rooms().values():
        yield from (getattr(room, name) for name in _names(room))


def _rooms() -> dict[str, ModuleType]:
    return {one: getattr(ontomask, one) for one in ontomask._GROUPS if one != "errors"}


def _names(room: ModuleType) -> list[str]:
    return [name for name in dir(room) if not name.startswith("_")]


def _modules() -> Iterator[str]:
    """Which names each module has."""
    for name, room in _rooms().items():
        names = ", ".join(f"`{one}`" for one in _names(room))
        yield f"* `om.{name}`: {names}"


def _documented(path: str) -> str:
    return f"::: {path}"


PAGES: dict[str, Callable[[], str]] = {"reference/api.md": api_page}
"""What makes each generated page, by its place in the site."""
