"""Every Python snippet in the documentation is a file that runs; every option is documented."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ontomask.taxonomy.measures import MEASURES
from ontomask.taxonomy.readers import READERS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SNIPPETS = sorted((ROOT / "docs" / "snippets").glob("*.py"))
BLOCK = re.compile(r"(?:<!-- snippet: (\S+) -->\n)?```python\n(.*?)```", re.DOTALL)


def blocks():
    for page in PAGES:
        for name, code in BLOCK.findall(page.read_text(encoding="utf-8")):
            yield page.name, name, code


def test_every_python_block_is_a_snippet_file():
    for page, name, code in blocks():
        assert name, f"{page}: a Python block without its snippet file"
        file = ROOT / "docs" / "snippets" / name
        assert file.read_text(encoding="utf-8") == code, f"{page}: {name} differs from its file"


def test_every_snippet_file_is_shown():
    assert {file.name for file in SNIPPETS} == {name for _, name, _ in blocks()}


@pytest.mark.parametrize("file", SNIPPETS, ids=lambda file: file.stem)
def test_snippets_run(file, tmp_path):
    command = [sys.executable, str(file)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout


def test_every_format_option_and_measure_is_documented():
    page = (ROOT / "docs" / "knowledge.md").read_text(encoding="utf-8")
    for name, reader in READERS.items():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
        for option in list(inspect.signature(reader.read).parameters)[1:]:
            assert f"`{option}" in row, f"{name}: {option} is not in docs/knowledge.md"
    for measure in MEASURES.values():
        for option in measure.options:
            assert f"`{option}=" in page or f"`{option}=`" in page
