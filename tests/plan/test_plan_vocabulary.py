"""Whatever Python can make, a plan can write; and the JSON Schema describes all of it."""

import dataclasses
import json
import math
from collections.abc import Mapping

import numpy as np
import pytest

from every_method.test_contract import CASES
from ontomask.checks import (
    AnyOf,
    Choice,
    Flag,
    Integer,
    ListOf,
    Null,
    Real,
    TableOf,
    Text,
    Typed,
    constraints_of,
)
from ontomask.errors import OntomaskError, PlanError
from ontomask.plan import Plan, plan_schema
from ontomask.plan.vocabulary import COLUMNS, PRIVACY, QUALITY, STEPS, WRITTEN
from plans import plan_text, write_people

SECRET = "a secret of the house"


@pytest.fixture
def steps_of(tmp_path, monkeypatch):
    """Make the steps that a text writes."""
    write_people(tmp_path)
    monkeypatch.setenv("HOUSE_KEY", SECRET)
    return lambda text: Plan.parse(plan_text(step=text), folder=tmp_path).steps


def toml(value: object) -> str:
    """A value as TOML writes it in one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float, np.number)):
        return repr(float(value)) if isinstance(value, float) else str(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value)


def words(kinds: Mapping, tag: str, thing: object) -> dict[str, object]:
    """A thing as the table that a plan writes for it."""
    name = next(name for name, kind in kinds.items() if kind.made is type(thing))
    values = {one.name: getattr(thing, one.name) for one in dataclasses.fields(thing)}
    return {tag: name, **{key: value for key, value in values.items() if value is not None}}


def written(method) -> dict[str, object]:
    """A method as the table that a plan writes for it."""
    table = words(STEPS, "method", method)
    if "key" in table:
        table["key_variable"] = "HOUSE_KEY"
        del table["key"]
    if table["method"] == "generalization":
        table["privacy"] = [words(PRIVACY, "model", one) for one in method.privacy]
        if not isinstance(method.quality, str):
            table["quality"] = words(QUALITY, "model", method.quality)
    return table


def as_step(table: Mapping[str, object]) -> str:
    return "[[steps]]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in table.items())


def plain(value: object) -> object:
    """A value in which lists and tuples, and a quality and its name, are the same."""
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if type(value) in (kind.made for kind in QUALITY.values()):
        return words(QUALITY, "model", value)
    if isinstance(value, str) and value in QUALITY:
        return words(QUALITY, "model", QUALITY[value].made())
    return value


def parameters(method) -> dict[str, object]:
    return {one.name: plain(getattr(method, one.name)) for one in dataclasses.fields(method)}


IDS = [f"{method.name}-{place}" for place, method in enumerate(CASES)]


@pytest.mark.parametrize("method", CASES, ids=IDS)
def test_every_method_can_be_written_in_a_plan(steps_of, method):
    (made,) = steps_of(as_step(written(method)))
    assert type(made) is type(method)
    assert parameters(made) == parameters(method)


def another(constraint: object, old: object) -> object:
    """An allowed value other than the old one."""
    if isinstance(constraint, AnyOf):
        rest = [one for one in constraint.constraints if not isinstance(one, Null)]
        return another(rest[0], old)
    if isinstance(constraint, Integer):
        return int(constraint.low) + 1 if math.isfinite(constraint.low) else 3
    if isinstance(constraint, Real):
        low = constraint.low if math.isfinite(constraint.low) else 0.0
        return low + 0.25
    if isinstance(constraint, Choice):
        return next(one for one in reversed(constraint.options) if one != old)
    if isinstance(constraint, Flag):
        return not old
    if isinstance(constraint, ListOf) and isinstance(constraint.item, Text):
        return ["age"] if list(old or ()) != ["age"] else ["charge"]
    if isinstance(constraint, ListOf):
        return [another(constraint.item, None)]
    if isinstance(constraint, TableOf):
        return {"age": another(constraint.item, None)}
    assert isinstance(constraint, (Text, Typed)), constraint
    return None


def single_parameters():
    for name, kind in STEPS.items():
        example = next(method for method in CASES if method.name == name)
        for parameter, constraint in constraints_of(kind.made).items():
            value = another(constraint, getattr(example, parameter))
            if parameter not in WRITTEN.get(name, {}) and value is not None:
                yield pytest.param(example, parameter, value, id=f"{name}-{parameter}")


@pytest.mark.parametrize(("example", "parameter", "value"), list(single_parameters()))
def test_every_parameter_can_be_written_in_a_plan(steps_of, example, parameter, value):
    """Where Python refuses the combination, the plan refuses it in the same words."""
    text = as_step({**written(example), parameter: value})
    expected, sentence = replaced(example, parameter, value)
    if expected is None:
        with pytest.raises(PlanError) as caught:
            steps_of(text)
        assert sentence in str(caught.value)
    else:
        (made,) = steps_of(text)
        assert parameters(made) == parameters(expected)
        assert parameters(made)[parameter] == plain(value)


def replaced(example, parameter: str, value: object):
    """A method with another parameter, or the sentence that refuses it."""
    try:
        return dataclasses.replace(example, **{parameter: value}), ""
    except OntomaskError as error:
        return None, str(error)


def test_parameters_without_a_simple_value_can_be_written_too(steps_of):
    importance = '[[steps]]\nmethod = "local-suppression"\nk = 3\nimportance = { age = 2.5 }\n'
    assert steps_of(importance)[0].importance == {"age": 2.5}
    pram = (
        '[[steps]]\nmethod = "pram"\ncolumns = ["sex"]\norder = ["f", "m"]\n'
        "matrix = [[0.75, 0.25], [0.5, 0.5]]\n"
    )
    assert plain(steps_of(pram)[0].matrix) == [[0.75, 0.25], [0.5, 0.5]]


EXAMPLES = {"k": 4, "l": 2.0, "t": 0.5, "delta": 0.5, "beta": 0.5, "minimum": 0.0, "maximum": 1.0}


@pytest.mark.parametrize("name", PRIVACY)
def test_every_privacy_model_can_be_written(steps_of, name):
    made = PRIVACY[name].made
    values = {}
    for one in dataclasses.fields(made):
        constraint = constraints_of(made)[one.name]
        values[one.name] = EXAMPLES.get(one.name) or another(constraint, one.default)
    values = {key: value for key, value in values.items() if value is not None}
    if "column" in {one.name for one in dataclasses.fields(made)}:
        values["column"] = "charge"
    expected = made(**values)
    step = {"method": "generalization", "privacy": [{"model": name, **values}]}
    assert steps_of(as_step(step))[0].privacy == (expected,)


@pytest.mark.parametrize("name", QUALITY)
def test_every_quality_model_can_be_written(steps_of, name):
    made, values = QUALITY[name].made, {}
    for one in dataclasses.fields(made):
        constraint = constraints_of(made)[one.name]
        special = {"weights": {"age": 2.0}, "target": "sex"}
        values[one.name] = special.get(one.name) or another(constraint, one.default)
    privacy = [{"model": "k-anonymity", "k": 3}]
    step = {"method": "generalization", "privacy": privacy, "quality": {"model": name, **values}}
    made_one = steps_of(as_step(step))[0].quality
    assert type(made_one) is made
    assert {key: plain(getattr(made_one, key)) for key in values} == values


def test_hierarchies_come_from_files_and_from_rows(steps_of, tmp_path):
    (tmp_path / "age.csv").write_text("20;20s;*\n21;20s;*\n", encoding="utf-8")
    text = (
        '[[steps]]\nmethod = "generalization"\n[[steps.privacy]]\nmodel = "k-anonymity"\nk = 3\n'
        '[steps.hierarchies]\nage = "age.csv"\nsex = [["f", "*"], ["m", "*"]]\n'
    )
    found = steps_of(text)[0].hierarchies
    assert found["age"] == tmp_path / "age.csv"
    assert found["sex"] == [("f", "*"), ("m", "*")]


def test_a_mistake_in_one_file_hides_none_in_another(steps_of):
    mistakes = {"population": "nobody.csv", "hierarchies": {"age": "none.csv"}}
    step = {"method": "generalization", "privacy": [{"model": "k-anonymity", "k": 3}], **mistakes}
    with pytest.raises(PlanError) as caught:
        steps_of(as_step(step))
    population, hierarchy = caught.value.problems
    assert "nobody.csv" in population.sentence
    assert "The hierarchy of 'age' is to be in 'none.csv'" in hierarchy.sentence
    assert hierarchy.line == population.line + 1


def test_a_population_is_read_from_its_file(steps_of, tmp_path):
    (tmp_path / "all.csv").write_text("age,sex\n20,f\n21,m\n", encoding="utf-8")
    text = (
        '[[steps]]\nmethod = "generalization"\npopulation = "all.csv"\n'
        '[[steps.privacy]]\nmodel = "k-map"\nk = 2\n'
    )
    assert steps_of(text)[0].population.to_dict(as_series=False) == {
        "age": [20, 21],
        "sex": ["f", "m"],
    }


# The JSON Schema ------------------------------------------------------------------------------


def part_of(schema: dict, tag: str, name: str) -> dict:
    return next(
        one
        for one in schema["$defs"].values()
        if one.get("properties", {}).get(tag, {}).get("const") == name
    )


@pytest.mark.parametrize(
    ("tag", "kinds"),
    [("kind", COLUMNS), ("method", STEPS), ("model", PRIVACY), ("model", QUALITY)],
    ids=["columns", "steps", "privacy", "quality"],
)
def test_the_schema_describes_every_word(tag, kinds):
    schema = plan_schema()
    for name, kind in kinds.items():
        part = part_of(schema, tag, name)
        assert part["additionalProperties"] is False
        assert part["description"]
        keys = {
            kind.written[one.name].name if one.name in kind.written else one.name
            for one in dataclasses.fields(kind.made)
        }
        assert set(part["properties"]) == keys | {tag}


def test_the_schema_names_what_must_be_there():
    schema = plan_schema()
    assert set(schema["required"]) == {"input", "columns", "steps"}
    assert part_of(schema, "method", "recoding")["required"] == ["method", "k"]
    assert set(part_of(schema, "method", "pseudonyms")["required"]) == {
        "method",
        "columns",
        "key_variable",
    }
    assert part_of(schema, "method", "recoding")["properties"]["k"]["minimum"] == 2


def test_the_schema_is_one_and_fits_what_the_reader_accepts(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    import tomllib

    schema = json.loads(json.dumps(plan_schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    texts = [plan_text(step=as_step(written(method))) for method in CASES]
    texts.append(plan_text(seed=None, more="[limits]\nmax_loss = 3\n[output]\nshuffle = true\n"))
    for text in texts:
        assert not list(validator.iter_errors(tomllib.loads(text)))
    wrong = [
        plan_text(step='[[steps]]\nmethod = "recoding"\nk = 1\n'),
        plan_text(step='[[steps]]\nmethod = "nothing"\n'),
        plan_text(more="[limits]\nmax_los = 3\n"),
        plan_text(seed=-1),
        plan_text(columns='[columns.a]\nkind = "flat"\nrole = "none"\n'),
    ]
    for text in wrong:
        assert list(validator.iter_errors(tomllib.loads(text))), text


def test_every_key_of_a_plan_is_described():
    parts = plan_schema()["$defs"].items()
    silent = [
        (part, key)
        for part, shape in parts
        for key, what in shape.get("properties", {}).items()
        if not what.get("description")
    ]
    assert silent == []
