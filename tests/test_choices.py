"""Texts to choose from are types, so that an editor finds `algorithm="mdaf"`."""

from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import pytest

import ontomask as om
from ontomask.checks import Choice, constraints_of
from ontomask.methods.registry import METHODS

COLUMNS = (om.Numeric, om.Date, om.Flat, om.Ordinal, om.Nominal)
MODELS = [getattr(om.privacy, name) for name in dir(om.privacy)]
OPEN = {("Nominal", "measure")}
"""Names of measures, which other packages may add to."""


@pytest.mark.parametrize(
    "kind", [*METHODS.values(), *MODELS, *COLUMNS], ids=lambda one: one.__name__
)
def test_every_choice_is_a_literal(kind):
    hints = get_type_hints(kind, include_extras=True)
    for name, constraint in constraints_of(kind).items():
        if isinstance(constraint, Choice) and (kind.__name__, name) not in OPEN:
            base = get_args(hints[name])[0] if get_origin(hints[name]) is Annotated else hints[name]
            assert get_origin(base) is Literal, name
            assert get_args(base) == constraint.options


def test_choices_are_found():
    assert constraints_of(om.Microaggregation)["algorithm"] == Choice("sa-mdav", "mdav", "v-mdav")
    assert constraints_of(om.Numeric)["role"].options == (
        "quasi",
        "sensitive",
        "other",
        "undecided",
    )
