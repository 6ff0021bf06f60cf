"""Write every snippet file, what it prints, and tables of definitions into the documentation.

A page marks the places, each with a comment on a line of its own:

* ``<!-- snippet: x.py -->`` before a code block that shows the file docs/snippets/x.py;
* ``<!-- output: x.py -->`` before a block that shows what it prints (also for the commands of the
  tutorial, which are run one after the other on the table of the demonstration);
* ``<!-- definitions: evaluation.risk -->`` before a table of the figures that a module defines;
* ``<!-- types: pandas -->`` before a table of the types of columns of a frame library.

The pages of docs/reference are made as a whole (`docs_reference.py`).

Run ``python tools/docs_snippets.py`` after changing one of them; `tests/test_docs.py` fails while a
page and its sources differ.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import re
import runpy
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner

from docs_reference import PAGES as REFERENCE
from docs_types import table as types_table
from ontomask.cli import app
from ontomask.cli.demonstration import prepare

ROOT = Path(__file__).parent.parent
SNIPPETS = ROOT / "docs" / "snippets"
PLACE = re.compile(r"(<!-- (snippet|output): (\S+) -->\n```\w*\n)(.*?)(```)", re.DOTALL)
DEFINED = re.compile(r"(<!-- definitions: (\S+) -->\n)((?:\|.*\n)*)")
TYPES = re.compile(r"(<!-- types: (\S+) -->\n)((?:\|.*\n)*)")


TUTORIAL = ("init.sh", "check.sh", "run.sh")
TIME = re.compile(r"^\d+(\.\d+)? s$")
"""What differs from run to run."""


def printed(name: str) -> str:
    """Return what a snippet prints."""
    return script(name) if name.endswith(".py") else tutorial()[name]


@functools.cache
def script(name: str) -> str:
    """Run a Python snippet in a folder of its own and return what it prints."""
    output = io.StringIO()
    with workplace(), contextlib.redirect_stdout(output):
        runpy.run_path(str(SNIPPETS / name), run_name="__main__")
    return output.getvalue()


@functools.cache
def tutorial() -> dict[str, str]:
    """Follow the tutorial: how its table begins, and what its commands print."""
    with workplace() as folder:
        prepare(folder / "example")
        table = (folder / "example" / "discharges.csv").rename("patients.csv")
        beginning = table.read_text(encoding="utf-8").splitlines()[:4]
        printed = {table.name: "\n".join([*beginning, "…"]) + "\n"}
        for name in TUTORIAL:
            printed[name] = command(name)
            shutil.copy(SNIPPETS / "plan_patients.toml", "plan.toml")
    return printed


def command(name: str, *further: str) -> str:
    """Run the command of a snippet where we are and return what it prints, without times."""
    words = shlex.split((SNIPPETS / name).read_text(encoding="utf-8"))
    result = CliRunner().invoke(app, [*words[1:], *further])
    if result.exit_code:
        raise RuntimeError(f"{name} ended with {result.exit_code}: {result.output}")
    lines = (line.rstrip() for line in result.stdout.splitlines())
    return "\n".join(line for line in lines if not TIME.match(line)).strip() + "\n"


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """Go to an empty folder for a while."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield Path(folder)


def filled(text: str) -> str:
    """Return a page with its snippets and outputs as they are now."""

    def content(place: re.Match[str]) -> str:
        opening, kind, name, _, closing = place.groups()
        file = SNIPPETS / name
        shown = file.read_text(encoding="utf-8") if kind == "snippet" else printed(name)
        return f"{opening}{shown}{closing}"

    defined = DEFINED.sub(lambda place: place[1] + definitions_table(place[2]), text)
    return TYPES.sub(lambda place: place[1] + types_table(place[2]), PLACE.sub(content, defined))


def definitions_table(module: str) -> str:
    """Return the table of the figures that a module of ontomask defines."""
    definitions = importlib.import_module(f"ontomask.{module}").DEFINITIONS
    rows = [f"| `{name}` | {_cell(text)} |" for name, text in definitions.items()]
    return "\n".join(["| figure | definition |", "|---|---|", *rows]) + "\n"


def _cell(text: str) -> str:
    """A text as a cell of a table, in which a bar must not end it."""
    return text.replace("|", "│")


def main() -> None:
    """Rewrite the pages that differ."""
    for place, make in REFERENCE.items():
        write(ROOT / "docs" / place, make())
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        write(page, filled(page.read_text(encoding="utf-8")))


def write(page: Path, text: str) -> None:
    """Write a page if it differs, and say so."""
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, encoding="utf-8")
        print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
