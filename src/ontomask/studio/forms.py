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

__all__ = ["Field", "fields_of", "fields_of_section", "method_texts", "read_field"]

SIMPLE = {"integer": "number", "number": "number", "boolean": "flag", "string": "text"}
TRUE = "true"


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
def method_texts() -> Mapping[str, str]:
    """What each method does, by its name in a plan."""
    properties = [part.get("properties", {}) for part in _definitions().values()]
    found = [part["method"] for part in properties if "const" in part.get("method", {})]
    return {one["const"]: one["description"] for one in sorted(found, key=lambda one: one["const"])}


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
        if key != without
    ]


def _field(name: str, described: Mapping[str, Any], value: Any, *, required: bool) -> Field:
    shape = _shape(described)
    default = described.get("default")
    return Field(
        name=name,
        shape=shape,
        text=described.get("description", ""),
        value="" if value is None else _shown(shape, value),
        default="" if default is None else _shown(shape, default),
        options=tuple(described.get("enum", ())),
        least=described.get("minimum", described.get("exclusiveMinimum")),
        most=described.get("maximum", described.get("exclusiveMaximum")),
        whole=described.get("type") == "integer",
        required=required,
    )


def _shape(described: Mapping[str, Any]) -> str:
    if "enum" in described:
        return "choice"
    kind = described.get("type", "")
    if kind == "array" and described.get("items", {}).get("type") == "string":
        return "list"
    return SIMPLE.get(kind, "toml")


def _shown(shape: str, value: Any) -> str:
    if shape == "flag":
        return str(bool(value)).lower()
    if shape == "list":
        return "\n".join(map(str, value))
    return str(value) if shape in ("number", "choice", "text") else toml_value(value)


def read_field(field: Field, text: str) -> Any:
    """What a field says, as a value of the plan; None where it was left empty."""
    text = text.strip()
    if not text:
        return None
    if field.shape == "flag":
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
        return int(text) if field.whole else float(text)
    except ValueError:
        wanted = "a whole number" if field.whole else "a number"
        raise PlanError(f"{field.name} must be {wanted}, such as 5, not {text!r}.") from None


def _anything(field: Field, text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{field.name} cannot be read as TOML ({error}).") from None
