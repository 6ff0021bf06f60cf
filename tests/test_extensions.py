"""What other packages add by entry points: known to plans, or left out with a warning."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
METHOD = (ROOT / "docs" / "snippets" / "own_method.py").read_text(encoding="utf-8")
KNOWLEDGE = """
import numpy as np
from ontomask.extending import Draft, Measure, Reader

def apart(space, pairs):
    first, second = pairs.concepts
    return (first != second) * 0.5

HALF = Measure("half", "one half if not identical", "a test", apart)
READER = Reader("nothing", lambda path, beginning: beginning.startswith(b"NOTHING"), None)
"""
MODELS = '''
from dataclasses import dataclass
from typing import ClassVar
from ontomask.privacy import KAnonymity

@dataclass(frozen=True)
class Pairs(KAnonymity):
    """Two records at least."""
    name: ClassVar[str] = "pairs"
    k: int = 2
'''
ENTRIES = """
[ontomask.methods]
common-value = own_methods:CommonValue
broken = no_such_module:Broken
other-name = own_methods:CommonValue
microaggregation = own_methods:CommonValue
number = own_knowledge:HALF

[ontomask.measures]
half = own_knowledge:HALF

[ontomask.readers]
nothing = own_knowledge:READER

[ontomask.privacy_models]
pairs = own_models:Pairs
"""


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """What a Python says that has another package installed."""
    folder = tmp_path_factory.mktemp("other")
    method = METHOD.partition("frame = pl.DataFrame")[0]
    for name, text in (("methods", method), ("knowledge", KNOWLEDGE), ("models", MODELS)):
        (folder / f"own_{name}.py").write_text(text, encoding="utf-8")
    info = folder / "own-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)

    def run(code):
        paths = os.pathsep.join([str(folder), str(ROOT / "src")])
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": paths},
            cwd=folder,
        )

    return run


def test_plans_know_methods_models_measures_and_readers_of_other_packages(answered):
    result = answered("""
        import warnings
        warnings.simplefilter("ignore")
        import ontomask as om
        plan = om.Plan.parse('''
        seed = 1
        input = {path = "x.csv"}
        columns = {town = {kind = "flat"}}
        [[steps]]
        method = "common-value"
        columns = ["town"]
        least = 3
        [[steps]]
        method = "microaggregation"
        k = 3
        measure = "half"
        privacy = [{model = "pairs"}]
        ''')
        print(plan.steps[0])
        print(plan.steps[1].measure, plan.steps[1].privacy)
        from ontomask.taxonomy.readers import readers
        names = list(readers())
        print("nothing" in names, names.index("nothing") < names.index("edges"))
        pets = om.Taxonomy.from_parents({"pet": [], "cat": ["pet"], "dog": ["pet"]})
        print(pets.distance("cat", "dog", measure="half"))
        try:
            om.Plan.parse('input = {path = "x.csv"}\\ncolumns = {t = {kind = "flat"}}\\n'
                          'steps = [{method = "common-value", columns = ["t"], least = 1}]')
        except om.errors.PlanError as error:
            print(error)
    """)
    assert result.returncode == 0, result.stderr
    first, second, third, fourth, *rest = result.stdout.splitlines()
    assert "least=3" in first
    assert second.startswith("half (Pairs(")
    assert third == "True True"
    assert float(fourth) == 0.5
    assert "at least 2" in " ".join(rest)


def test_what_cannot_be_used_is_left_out_with_a_warning(answered):
    result = answered("""
        import warnings
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            from ontomask.methods.registry import METHODS
        for one in seen:
            print(one.message)
        print(METHODS["microaggregation"].__module__)
    """)
    assert result.returncode == 0, result.stderr
    said = result.stdout
    assert "'broken' of ontomask.methods cannot be loaded (ModuleNotFoundError" in said
    assert "'other-name' of ontomask.methods calls itself 'common-value'" in said
    assert "'number' of ontomask.methods is a Measure, not a type" in said
    assert "ontomask.methods.microaggregation" in said
