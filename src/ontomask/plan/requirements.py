"""The optional packages that a plan needs, told before anything is run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ontomask.data.files.formats import format_of_name
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
    found = source.format or format_of_name(Path(source.path))
    if found in READING:
        yield ("input", "path"), READING[found]
    made = format_of_name(Path(output.table or source.path))
    if made in WRITING and (made != found or READING.get(made) != WRITING[made]):
        yield ("output", "table") if output.table else ("input", "path"), WRITING[made]
    if contents.engine.name == "duckdb":
        yield ("engine", "name"), "duckdb"
    chosen = contents.evaluation
    if chosen.target is not None and set(chosen.classifiers) != {"zero-r"}:
        yield ("evaluation", "target"), "sklearn"


def absent(contents: Contents) -> Iterator[tuple[Place, str]]:
    """What is not installed, each with its place and the sentence that says how to get it."""
    for place, module in needed(contents):
        if not is_there(module):
            yield place, str(EXTRAS[module])
