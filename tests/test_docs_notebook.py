"""The notebook of the documentation shows what it shows when it is run."""

import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import docs_notebook
    finally:
        sys.path.pop(0)
    return docs_notebook


def test_the_notebook_is_what_a_run_of_it_gives(tool):
    book = tool.executed()
    stored = nbformat.read(tool.TARGET, as_version=4)
    for cell, known in zip(book.cells, stored.cells, strict=True):
        assert cell.source == known.source
        outputs = [one["data"] for one in cell.get("outputs", ())]
        assert outputs == [one["data"] for one in known.get("outputs", ())], (
            "run python tools/docs_notebook.py"
        )
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(stored)
    nbformat.validate(stored)
    assert sum(bool(one.get("outputs")) for one in stored.cells) > 7
