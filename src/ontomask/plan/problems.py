"""What is wrong with a plan: one sentence each, with its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ontomask.checks import did_you_mean
from ontomask.errors import PlanError
from ontomask.plan.lines import Place, line_of, places
from ontomask.plan.parts import Part
from ontomask.wording import enumerated

__all__ = ["Problem", "missing_column", "named", "refuse", "refuse_at", "sentences", "unknown"]

SECTIONS = ("about", "input", "engine", "columns", "evaluation", "limits", "output")
RENAMED = {
    **dict.fromkeys(("variant", "partition", "guide", "search"), ("algorithm",)),
    "how": ("algorithm", "outliers"),
}
"""What old words are called now, whichever is known there."""
SHARES = {"p": "share", "top_percent": "top_share", "bottom_percent": "bottom_share"}
"""What was said in percent, and is a share now."""
SHAPES = {
    "model_type": "a table of keys and values",
    "model_attributes_type": "a table of keys and values",
    "dict_type": "a table of keys and values",
    "list_type": "a list",
    "tuple_type": "a list",
    "string_type": "a text in quotes",
    "int_type": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "too_short": "a list that is not empty",
}


@dataclass(frozen=True)
class Problem:
    """Something wrong in a plan."""

    sentence: str
    place: str
    line: int | None = None

    @property
    def where(self) -> str:
        """The place with its line."""
        return f"line {self.line}, {self.place}" if self.line else self.place

    def __str__(self) -> str:
        return f"{self.where}: {self.sentence}"


def refuse(name: str, problems: Iterable[Problem]) -> None:
    """Raise all problems at once, in the order of their lines."""
    listed = sorted(problems, key=lambda one: one.line or 0)
    if not listed:
        return
    count = "a problem" if len(listed) == 1 else f"{len(listed)} problems"
    lines = "\n".join(f"  {one}" for one in listed)
    raise PlanError(f"{name} has {count}:\n{lines}", tuple(listed))


def refuse_at(name: str, text: str, misfits: Iterable[tuple[Place, str]]) -> None:
    """Raise all problems of a plan at once, each with the place and line that it is about."""
    listed = list(misfits)
    lines = places(text) if listed else {}  # which takes long for thousands of columns
    refuse(name, [Problem(say, named(at), line_of(at, lines)) for at, say in listed])


def named(place: Place) -> str:
    """A place in words: [columns.age], step 2."""
    if not place:
        return "the plan"
    if place[0] == "steps" and len(place) > 1 and isinstance(place[1], int):
        return f"step {place[1] + 1}"
    if place[0] == "columns" and len(place) > 1:
        return f"[columns.{place[1]}]"
    return f"[{place[0]}]" if len(place) > 1 or place[0] in SECTIONS else "the plan"


def sentences(
    error: ValidationError, model: type[Part], nested: Mapping[str, type[Part]]
) -> list[tuple[Place, str]]:
    """Each mistake that Pydantic found: its place inside the part, and a sentence.

    Parameters
    ----------
    model
        The model of the part.
    nested
        The models of parts inside it, by the names that Pydantic puts in the place.
    """
    found = []
    for one in error.errors():
        around = [nested[str(name)] for name in one["loc"][:-1] if name in nested]
        found.append((tuple(one["loc"]), _sentence(one, around[-1] if around else model)))
    return found


def _sentence(one: Mapping[str, Any], model: type[Part]) -> str:
    kind, name = one["type"], str(one["loc"][-1]) if one["loc"] else "it"
    context = one.get("ctx", {})
    if kind == "value_error":
        return str(context["error"]).replace("True or False", "true or false")
    if kind == "extra_forbidden":
        return unknown(name, model.model_fields)
    if kind == "missing":
        return f"{name} is missing{_explained(model, name)}."
    if kind == "union_tag_not_found":
        tag = str(context["discriminator"]).strip("'")
        return f"{tag} is missing, which says what {one['loc'][0]} is to be."
    if kind == "union_tag_invalid":
        return _wrong_tag(context)
    shape = SHAPES.get(kind, "")
    return f"{name} must be {shape}." if shape else f"{name}: {one['msg']}."


def unknown(name: str, allowed: Iterable[str]) -> str:
    """The sentence for a key that nobody knows."""
    listed = list(allowed)
    known = f" Known here: {', '.join(listed)}." if listed else ""
    now = next((one for one in RENAMED.get(name, ()) if one in listed), "")
    if now:
        return f"{name!r} is called {now!r} now."
    if SHARES.get(name) in listed:
        return f"{name!r}, in percent, is {SHARES[name]!r} now, a fraction: 0.05 are 5 percent."
    return f"{name!r} is not known here.{did_you_mean(name, listed)}{known}"


def missing_column(name: str, found: Sequence[str]) -> str:
    """The sentence for a declared column that the table does not have."""
    hint = did_you_mean(name, found) or f" It has {enumerated(found)}."
    return f"the table has no column {name!r}.{hint}"


def _wrong_tag(context: Mapping[str, Any]) -> str:
    options = [one.strip(" '") for one in str(context["expected_tags"]).split(",")]
    tag, value = str(context["discriminator"]).strip("'"), str(context["tag"])
    return (
        f"{tag} must be one of {', '.join(options)}, not {value!r}.{did_you_mean(value, options)}"
    )


def _explained(model: type[Part], name: str) -> str:
    field = model.model_fields.get(name)
    text = (field.description or "") if field is not None else ""
    return f" ({text[0].lower()}{text[1:].rstrip('.')})" if text else ""
