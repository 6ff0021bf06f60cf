"""Whoever gives a benchmark something wrong reads a sentence, before anything is computed."""

import re
import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"
SCRIPTS = sorted(one for one in FOLDER.glob("*.py") if one.name != "arguments.py")
NUMBER = re.compile(r'"(--\w+)"(?:, nargs="\+")?, type=whole_number')
FLAG = re.compile(r'add_argument\(\s*"(--data)", type=')


def wrong_arguments(script: Path) -> list[str]:
    """A folder for a file, a file for a folder, a word for a number."""
    text = script.read_text(encoding="utf-8")
    if "existing_file" in text:
        return [*(["--table"] if '"--table"' in text else []), str(FOLDER)]
    if "folder_with" in text:
        return [*FLAG.findall(text), __file__]
    flags = NUMBER.findall(text)
    return [flags[0], "many"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_wrong_argument_is_answered_with_a_sentence(script, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr(sys, "argv", [script.name, *wrong_arguments(script)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")
    assert ended.value.code == 2
    said = capsys.readouterr().err.strip()
    assert re.search(r"error: argument \S+: .* (needed|at least 1)\.$", said)
