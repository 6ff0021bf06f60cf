"""The documentation site: complete, without dead links, and asking nothing of the network."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ontomask
from ontomask.plan import plan_schema
from public import PUBLIC

pytest.importorskip("mkdocs")

import yaml
from typer.main import get_command

from ontomask.cli import app

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FETCHED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="(?:https?:)?//[^"]*"')


def tool(name):
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


pages = tool("docs_pages")
reference = tool("docs_reference")


def linked(node):
    """The files of a navigation."""
    if isinstance(node, str):
        return [node]
    parts = node.values() if isinstance(node, dict) else node
    return [file for part in parts for file in linked(part)]


@pytest.fixture(scope="module")
def config():
    return yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def test_the_navigation_has_every_page_once_and_no_dead_one(config):
    written = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    listed = linked(config["nav"])
    own = {page for page in written if not page.startswith("studies/")}
    assert sorted(listed) == sorted(own | set(pages.PAGES))


def test_the_api_page_has_every_public_name_once():
    homes = [home for names in pages.themes().values() for home in names]
    assert sorted(homes) == sorted(f"{one.__module__}.{one.__name__}" for one in PUBLIC.values())
    shown = re.findall(r"^::: (\S+)$", pages.api_page(), re.MULTILINE)
    assert sorted(shown) == sorted(homes)


def test_a_public_name_without_a_theme_is_noticed(monkeypatch):
    monkeypatch.setattr(ontomask.protect, "__module__", "ontomask.cellar.box")
    with pytest.raises(LookupError, match=r"ontomask\.cellar\.box has no theme"):
        pages.themes()


def test_the_commands_page_has_every_command_and_option():
    text = reference.commands_page()
    found = list(reference._commands(get_command(app), ("ontomask",)))
    assert {"demo", "init", "check", "run", "evaluate", "compare"} <= {w[1] for w, _ in found}
    for words, command in found:
        section = re.split(rf"^#+ {' '.join(words)}$", text, flags=re.MULTILINE)[1]
        section = re.split(r"^#+ ", section, flags=re.MULTILINE)[0]
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert f"`{option}`" in section, f"{' '.join(words)}: {option}"


def test_the_plan_page_has_every_key():
    text = reference.plan_page()
    schema = plan_schema()
    kinds = {**schema["$defs"], "Plan": schema}
    keys = {key for kind in kinds.values() for key in kind.get("properties", {})}
    assert "key_variable" in keys
    assert {key for key in keys if f"`{key}`" not in text and f"### {key} =" not in text} == set()


def test_a_schema_becomes_a_table():
    model = {
        "properties": {
            "k": {"type": "integer", "minimum": 2, "description": "How many."},
            "how": {"anyOf": [{"enum": ["drop", "a|b"]}, {"type": "null"}], "default": "drop"},
            "parts": {"type": "array", "items": {"$ref": "#/$defs/Part"}},
        },
        "required": ["k"],
    }
    rows = reference.fields_table(model, {"$defs": {"Part": {"type": "object"}}}).splitlines()[2:]
    assert rows == [
        "| `k` | whole number of at least 2 | required | How many. |",
        '| `how` | `"drop"`, `"a│b"` | `"drop"` |  |',
        "| `parts` | list of tables |  |  |",
    ]


def test_the_site_builds_without_warnings_and_fetches_nothing(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    result = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert "WARNING" not in result.stderr
    built = list(tmp_path.rglob("*.html"))
    made = {page.relative_to(tmp_path).with_suffix(".md").as_posix() for page in built}
    assert {*pages.PAGES, *reference.PAGES} < made
    for page in built:
        assert not FETCHED.findall(page.read_text(encoding="utf-8")), page.name
    assert not list(tmp_path.rglob("snippets"))
