"""The optional packages that a plan needs, told before anything is run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ontomask.data.file_names import format_of_name
from ontomask.engines.databases import is_server
from ontomask.extras import EXTRAS, is_there
from ontomask.plan.lines import Place
from ontomask.plan.reading import Contents

__all__ = ["absent", "needed"]

READING = {"excel": "fastexcel", "spss": "pyreadstat", "stata": "pyreadstat"}
WRITING = {"excel": "xlsxwriter", "spss": "pyreadstat", "stata": "pyreadstat"}


def needed(contents: Contents) -> Iterator[tuple[Place, str]]:
    """The modules that a plan needs, each with the place that asks for it.

    Those of taxonomies are not among them: a plan that is read has its taxonomies already.
    """
    source, output = contents.input, contents.output
    yield from _of_databases(contents)
    found = source.format or format_of_name(source.file)
    if found in READING:
        yield ("input", "path"), READING[found]
    made = None if output.database else format_of_name(Path(output.table or source.file))
    if made in WRITING and (made != found or READING.get(made) != WRITING[made]):
        yield ("output", "table") if output.table else ("input", "path"), WRITING[made]
    if contents.engine.name == "duckdb":
        yield ("engine", "name"), "duckdb"
    chosen = contents.evaluation
    if chosen.target is not None and set(chosen.classifiers) != {"zero-r"}:
        yield ("evaluation", "target"), "sklearn"


def _of_databases(contents: Contents) -> Iterator[tuple[Place, str]]:
    for name, section in (("input", contents.input), ("output", contents.output)):
        address = getattr(section, "database", None)
        if address is not None and is_server(address):
            yield (name, "database"), "adbc_driver_postgresql"
        if address is not None:
            yield (name, "database"), "pyarrow"


def absent(contents: Contents) -> Iterator[tuple[Place, str]]:
    """What is not installed, each with its place and the sentence that says how to get it."""
    for place, module in needed(contents):
        if not is_there(module):
            yield place, str(EXTRAS[module])
