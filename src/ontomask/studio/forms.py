"""Forms for the steps of a plan, made from the plan's JSON Schema, and values read from them."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ontomask.errors import PlanError
from ontomask.plan.schema import plan_schema
from ontomask.toml_text import toml_value

__all__ = ["Field", "fields_of", "fields_of_section", "models_of", "read_field", "texts_of"]

SIMPLE = {"integer": "number", "number": "number", "boolean": "flag", "string": "text"}
TRUE, FALSE = "true", "false"
MODELS = "privacy"
"""A list of models has forms of its own."""


@dataclass(frozen=True)
class Field:
    """One parameter as a form shows it.

    Attributes
    ----------
    shape
        number, flag, choice, text, list (texts, one per line) or toml (anything else).
    value
        What the plan says, as it stands in the form; nothing where the default holds.
    default
        What holds where the plan says nothing, in words.
    """

    name: str
    shape: str
    text: str
    value: str = ""
    default: str = ""
    options: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    whole: bool = False
    required: bool = False


@functools.cache
def _definitions() -> Mapping[str, Any]:
    schema = plan_schema()
    return {"Plan": schema, **schema["$defs"]}


def _definition(tag: str, name: str) -> Mapping[str, Any]:
    for part in _definitions().values():
        if part.get("properties", {}).get(tag, {}).get("const") == name:
            known: Mapping[str, Any] = part
            return known
    raise PlanError(f"There is no {tag} {name!r}.")


@functools.cache
def texts_of(tag: str) -> Mapping[str, str]:
    """What each `method`, `kind` or `model` is, by its name in a plan."""
    properties = [part.get("properties", {}) for part in _definitions().values()]
    found = [part[tag] for part in properties if "const" in part.get(tag, {})]
    return {one["const"]: one["description"] for one in sorted(found, key=lambda one: one["const"])}


def models_of(method: str) -> tuple[str, ...]:
    """The privacy models that a step of a method may promise; none where it has no such list."""
    described = _definition("method", method)["properties"].get(MODELS, {})
    return tuple(described.get("items", {}).get("discriminator", {}).get("mapping", ()))


def fields_of(tag: str, name: str, given: Mapping[str, Any]) -> list[Field]:
    """The fields of a part of the plan: those that must be filled in first."""
    fields = _fields(_definition(tag, name), given, without=tag)
    return sorted(fields, key=lambda field: (not field.required, field.name == "keeps"))


def fields_of_section(
    name: str, given: Mapping[str, Any], names: Sequence[str] = ()
) -> list[Field]:
    """The fields of a section of the plan that is there once; some of them, if they are named."""
    fields = _fields(_definitions()[name.capitalize()], given)
    return [field for field in fields if not names or field.name in names]


def _fields(part: Mapping[str, Any], given: Mapping[str, Any], without: str = "") -> list[Field]:
    required = part.get("required", ())
    return [
        _field(key, described, given.get(key), required=key in required)
        for key, described in part["properties"].items()
        if key not in (without, MODELS)
    ]


def _field(name: str, described: Mapping[str, Any], value: Any, *, required: bool) -> Field:
    # a model with settings of its own is more than a word to choose
    shape = "toml" if isinstance(value, dict) else _shape(described)
    default = described.get("default")
    return Field(
        name=name,
        shape=shape,
        text=described.get("description", "").replace("`", ""),
        value="" if value is None else _shown(shape, value),
        default="" if default is None else _shown(shape, default),
        options=_options(described),
        least=described.get("minimum", described.get("exclusiveMinimum")),
        most=described.get("maximum", described.get("exclusiveMaximum")),
        whole=described.get("type") == "integer",
        required=required,
    )


def _shape(described: Mapping[str, Any]) -> str:
    if _options(described):
        return "choice"
    kind = described.get("type", "")
    if kind == "array" and described.get("items", {}).get("type") == "string":
        return "list"
    return SIMPLE.get(kind, "toml")


def _options(described: Mapping[str, Any]) -> tuple[str, ...]:
    """What can be chosen: words, words beside yes and no, or models by their names."""
    ways = [described, *described.get("anyOf", ())]
    words = [str(word) for way in ways for word in way.get("enum", ())]
    models = [name for way in ways[1:] for name in way.get("discriminator", {}).get("mapping", ())]
    flags = [TRUE, FALSE] if words and {"type": "boolean"} in ways else []
    return (*flags, *words, *models)


def _shown(shape: str, value: Any) -> str:
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if shape == "list":
        return "\n".join(map(str, value))
    return str(value) if shape in ("number", "choice", "text") else toml_value(value)


def read_field(field: Field, text: str) -> Any:
    """What a field says, as a value of the plan; None where it was left empty."""
    text = text.strip()
    if not text:
        return None
    if field.shape == "flag" or (text in (TRUE, FALSE) and text in field.options):
        return text == TRUE
    if field.shape == "list":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if field.shape == "number":
        return _number(field, text)
    if field.shape == "toml":
        return _anything(field, text)
    return text


def _number(field: Field, text: str) -> float:
    try:
        number = float(text)
        return int(text) if field.whole or number.is_integer() else number
    except (ValueError, OverflowError):
        wanted = "a whole number" if field.whole else "a number"
        raise PlanError(f"{field.name} must be {wanted}, such as 5, not {text!r}.") from None


def _anything(field: Field, text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{field.name} cannot be read as TOML ({error}).") from None
