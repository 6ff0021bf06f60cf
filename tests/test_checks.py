import math
from dataclasses import dataclass
from typing import Annotated

import pytest

from ontomask import checks
from ontomask.checks import (
    AnyOf,
    Choice,
    Flag,
    Integer,
    ListOf,
    Null,
    Real,
    Text,
    Typed,
    check,
    checked,
)
from ontomask.errors import ParameterError

EXAMPLES = [
    (Integer(2), [2, 10**9], "a whole number of at least 2"),
    (Integer(0, 5), [0, 5], "a whole number from 0 to 5"),
    (Integer(high=3), [-7, 3], "a whole number of at most 3"),
    (Integer(), [0], "a whole number"),
    (Real(0, 1), [0, 0.5, 1.0], "a number from 0 to 1"),
    (Real(0, open_low=True), [0.1], "a number of at least 0, 0 excluded"),
    (Real(0, 1, open_low=True, open_high=True), [0.5], "a number from 0 to 1, 0 and 1 excluded"),
    (Choice("path", "logsc"), ["path"], "one of 'path', 'logsc'"),
    (Flag(), [True, False], "True or False"),
    (Null(), [None], "None"),
    (Text(), ["x"], "a text that is not empty"),
    (Typed(dict, "a dictionary"), [{}], "a dictionary"),
    (ListOf(Text()), [[], ["a"], ("a", "b")], "a list, each item a text that is not empty"),
    (ListOf(Flag(), empty=False), [[True]], "a list that is not empty, each item True or False"),
    (AnyOf(Integer(2), Null()), [2, None], "a whole number of at least 2, or None"),
    (
        checks.TableOf(Integer(1)),
        [{}, {"a": 1}],
        "a table of names and values, each value a whole number of at least 1",
    ),
]


@pytest.mark.parametrize(("constraint", "right", "words"), EXAMPLES, ids=lambda one: str(one)[:40])
def test_constraints_accept_describe_and_refuse_what_they_make(constraint, right, words):
    assert all(constraint.accepts(value) for value in right)
    assert constraint.describe() == words
    wrong = constraint.wrong_values()
    assert wrong
    assert not any(constraint.accepts(value) for value in wrong)


def test_every_constraint_is_exercised():
    listed = {type(constraint) for constraint, *_ in EXAMPLES}
    declared = {getattr(checks, name) for name in checks.__all__ if name[0].isupper()}
    assert listed == declared - {checks.Constraint, checks.Annotation, checks.Declared}


def test_the_sentence_names_parameter_rule_and_value():
    with pytest.raises(ParameterError) as caught:
        check("k", 1, Integer(2))
    assert str(caught.value) == "k must be a whole number of at least 2, not 1."


def test_a_near_miss_is_suggested():
    with pytest.raises(ParameterError, match=r"not 'logcs'\. Did you mean 'logsc'\?"):
        check("measure", "logcs", Choice("path", "logsc"))


def test_a_long_value_is_not_repeated():
    with pytest.raises(ParameterError, match="not a list"):
        check("k", list(range(100)), Integer(2))


def test_checked_functions_check_positional_and_keyword_arguments_and_defaults_stay():
    @checked(k=Integer(2))
    def function(data, k=3):
        return data, k

    assert function("x") == ("x", 3)
    assert checks.constraints_of(function) == {"k": Integer(2)}
    for call in (lambda: function("x", 1), lambda: function("x", k=math.pi)):
        with pytest.raises(ParameterError, match="k must be"):
            call()


def test_dataclass_fields_are_checked_by_their_annotations():
    @dataclass(frozen=True)
    class Method:
        k: Annotated[int, Integer(2)]
        name: str = "free"

        def __post_init__(self):
            checks.validate(self)

    assert Method(2).k == 2
    with pytest.raises(ParameterError, match="k must be a whole number of at least 2, not 1"):
        Method(1)
    assert checks.constraints_of(Method) == {"k": Integer(2)}


SCHEMAS = {
    Integer(2): {"type": "integer", "minimum": 2},
    Integer(0, 5): {"type": "integer", "minimum": 0, "maximum": 5},
    Integer(): {"type": "integer"},
    Real(0, 1): {"type": "number", "minimum": 0, "maximum": 1},
    Real(0, open_low=True): {"type": "number", "exclusiveMinimum": 0},
    Real(0, 1, open_high=True): {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
    Choice("path", "logsc"): {"type": "string", "enum": ["path", "logsc"]},
    Flag(): {"type": "boolean"},
    Null(): {"type": "null"},
    Text(): {"type": "string", "minLength": 1},
    Typed(dict, "a dictionary"): {"description": "a dictionary"},
    ListOf(Text()): {"type": "array", "items": {"type": "string", "minLength": 1}},
    ListOf(Flag(), empty=False): {"type": "array", "items": {"type": "boolean"}, "minItems": 1},
    checks.TableOf(Flag()): {"type": "object", "additionalProperties": {"type": "boolean"}},
    AnyOf(Integer(2), Null()): {"type": "integer", "minimum": 2},
    AnyOf(Flag(), Text(), Null()): {
        "anyOf": [{"type": "boolean"}, {"type": "string", "minLength": 1}]
    },
}


@pytest.mark.parametrize(
    ("constraint", "schema"), SCHEMAS.items(), ids=lambda one: type(one).__name__
)
def test_constraints_say_themselves_as_json_schema(constraint, schema):
    assert constraint.json_schema() == schema


def test_every_constraint_has_a_json_schema_example():
    assert {type(one) for one in SCHEMAS} == {type(one) for one, *_ in EXAMPLES}


@pytest.mark.parametrize(("constraint", "right", "words"), EXAMPLES, ids=lambda one: str(one)[:40])
def test_pydantic_reads_constraints_from_annotations(constraint, right, words):
    """It accepts the same values unchanged and answers wrong ones with the same sentence."""
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Part", value=(Annotated[object, constraint], ...))
    for value in right:
        if value is None:
            continue  # a file cannot say None: the key is left out
        read = model(value=value).value
        assert read == value
        assert type(read) is type(value)
    for value in constraint.wrong_values():
        with pytest.raises(pydantic.ValidationError) as caught:
            model(value=value)
        (error,) = caught.value.errors()
        said = words.removesuffix(", or None")
        assert str(error["ctx"]["error"]).startswith(f"value must be {said}, not ")
    schema = model.model_json_schema()["properties"]["value"]
    assert {**constraint.json_schema(), "title": "Value"} == {"title": "Value", **schema}


def test_none_is_not_offered_to_a_file():
    pydantic = pytest.importorskip("pydantic")
    constraint = AnyOf(Integer(2), Null())
    model = pydantic.create_model("Part", k=(Annotated[int | None, constraint], None))
    assert model().k is None
    with pytest.raises(pydantic.ValidationError, match="k must be a whole number of at least 2, n"):
        model(k=1)
    with pytest.raises(pydantic.ValidationError, match="k must be"):
        model(k=None)
