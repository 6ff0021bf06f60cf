"""Run the notebook of the documentation and write it with what it shows.

The cells stand in docs/notebook.py, each after a line ``# %%``. They are run by Jupyter;
docs/notebook.ipynb is the notebook with its outputs, docs/notebook.md the same as a page.

Run ``python tools/docs_notebook.py`` after changing what it shows; `tests/test_docs_notebook.py`
fails while the files and a run differ.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "docs" / "notebook.py"
TARGET = ROOT / "docs" / "notebook.ipynb"
PAGE = ROOT / "docs" / "notebook.md"
MARK = re.compile(r"^# %%(?P<kind> \[markdown\])?\n", re.MULTILINE)
NOTE = "This page is [a notebook](notebook.ipynb), run as it is when the documentation is made.\n"


def cells(source: str) -> list[Any]:
    """The cells of a script."""
    _, *parts = MARK.split(source)
    return [
        nbformat.v4.new_markdown_cell(re.sub(r"^# ?", "", text.strip(), flags=re.MULTILINE))
        if kind
        else nbformat.v4.new_code_cell(text.strip())
        for kind, text in zip(parts[::2], parts[1::2], strict=True)
    ]


def executed() -> Any:
    """The notebook with what its cells show, the same in every run."""
    book = nbformat.v4.new_notebook(cells=cells(SOURCE.read_text(encoding="utf-8")))
    for place, cell in enumerate(book.cells):
        cell["id"] = f"cell-{place}"
    NotebookClient(book, timeout=300, kernel_name="python3").execute()
    book["metadata"] = {"language_info": {"name": "python"}}
    for cell in book.cells:
        cell["metadata"] = {}
        if cell.cell_type == "code":
            cell["outputs"] = [one for one in cell.outputs if one.output_type == "execute_result"]
    return book


def page(book: Any) -> str:
    """The notebook as Markdown; what cells show stands in it as it is."""
    parts: list[str] = []
    for cell in book.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        parts += [_shown(one.data) for one in cell.outputs]
    first, *rest = parts
    title, _, text = first.partition("\n")
    return "\n\n".join([title, NOTE + text, *rest]) + "\n"


def _shown(data: Any) -> str:
    html = data.get("text/html")
    if html is None:
        return f"```text\n{data['text/plain']}\n```"
    return "\n".join(line for line in html.splitlines() if line.strip())


def main() -> None:
    """Run the notebook and write both files."""
    book = executed()
    nbformat.write(book, TARGET)
    PAGE.write_text(page(book), encoding="utf-8")
    print(PAGE.relative_to(ROOT), TARGET.relative_to(ROOT))


if __name__ == "__main__":
    main()
