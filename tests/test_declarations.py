"""What people are told of a parameter is declared with it, once."""

import inspect
import json
import subprocess
import sys
from dataclasses import fields

import pytest

import ontomask as om
from ontomask.checks import Declared, texts_of
from public import PUBLIC

KINDS = [one for one in PUBLIC.values() if inspect.isclass(one)]
DECLARED = [kind for kind in KINDS if issubclass(kind, Declared)]


@pytest.mark.parametrize("kind", DECLARED, ids=lambda kind: kind.__name__)
def test_every_parameter_is_told(kind):
    texts = texts_of(kind)
    assert [one.name for one in fields(kind) if not texts.get(one.name)] == []
    for name, text in texts.items():
        assert text.endswith("."), name
        assert "None" not in text, name
        assert f"\n{name}\n    {text}" in kind.__doc__


def test_methods_and_models_are_declared():
    assert {
        om.Microaggregation,
        om.privacy.KAnonymity,
        om.quality.Loss,
        om.Nominal,
        om.files.FileFormat,
    } <= {*DECLARED}


def test_plans_are_told_without_docstrings():
    code = "import json; from ontomask.plan import plan_schema; print(json.dumps(plan_schema()))"
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, check=True)
    models = json.loads(done.stdout)["$defs"]
    untold = [
        (model, name)
        for model, described in models.items()
        for name, one in described["properties"].items()
        if "const" not in one and not one.get("description")
    ]
    assert untold == []
