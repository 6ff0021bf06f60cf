"""Every public name shows how it is used, and what its example prints is what it shows."""

import doctest
import inspect

import polars as pl
import pytest

import ontomask as om
from public import PUBLIC

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def example_of(name):
    """The steps of the last section of a docstring, where examples belong."""
    told, _, shown = inspect.getdoc(PUBLIC[name]).rpartition("\n\nExamples\n--------\n")
    assert told, "no section of examples"
    assert "\n---" not in shown, "another section follows the examples"
    return doctest.DocTestParser().get_doctest(shown, {"om": om, "pl": pl}, name, None, 0)


def complaints(example):
    said = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=said.append)
    return "".join(said)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_example_holds(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = example_of(name)
    assert any(step.want for step in example.examples), "no example that shows a result"
    assert not any(doctest.SKIP in step.options for step in example.examples)
    assert complaints(example) == ""
    assert list(tmp_path.iterdir()) == [], "the example leaves files behind"


def test_a_wrong_example_is_noticed():
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    assert "Expected:\n    3" in complaints(wrong)
