"""Every option of every method and column, on random tables: what is promised holds on the text."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import pytest

from guarantees.options import (
    GUARDED,
    column_options,
    every_option,
    made,
    options_of,
    privacy_models,
)
from guarantees.promised import ON_CLASSES, ON_VALUES, PROMISED
from ontomask.checks import Integer
from ontomask.data.masked import Masked
from ontomask.methods.base import Method
from ontomask.methods.registry import METHODS


def test_it_is_known_what_every_method_and_model_promises():
    assert set(PROMISED) == set(METHODS)
    assert set(ON_CLASSES) | set(ON_VALUES) == {kind.__name__ for kind in privacy_models()}


def test_a_method_with_a_parameter_that_nobody_can_draw_is_not_covered():
    @dataclass(frozen=True)
    class Strange(Method):
        name: ClassVar[str] = "strange"
        k: Annotated[int, Integer(2)] = 2
        thing: object = None

        def mask(self, microdata, context):
            return Masked({})

    with pytest.raises(LookupError, match=r"Strange\.thing is not covered"):
        options_of(Strange)


@pytest.mark.parametrize("option", every_option(), ids=str)
def test_what_a_step_promises_holds_with_every_option(trial, option):
    trial().examine(lambda people, generator: [made(option.kind, people, generator, option)])


@pytest.mark.parametrize("option", column_options(), ids=str)
def test_what_a_step_promises_holds_for_every_kind_of_column(trial, option):
    def steps(people, generator):
        kinds = list(GUARDED.values())
        return [made(kinds[int(generator.integers(len(kinds)))], people, generator)]

    trial(forced={option.kind.kind: option}).examine(steps)
