"""The steps of a release in words: what each does, its parameters, what it reports of itself.

Ideas and explanations are those of the methods' own documentation, so that they are said once.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ontomask.checks import texts_of
from ontomask.methods.base import Method
from ontomask.quality import QUALITIES
from ontomask.report.words import figure, grouped, listing

__all__ = ["COUNTING", "Parameter", "StepFacts", "describe_step"]

PUBLIC_DETAILS = ("generalized_public", "quality_model", "metric")
"""What a public report tells of a step's own report; the rest may count records, also left out."""
LABELS = {
    "quality": "loss by the quality model",
    "nodes": "combinations of levels",
    "generalized_public": "generalized",
}
"""What a step reports of itself, where its name alone says too little."""
SAID_IN_WORDS = ("levels", "generalized_public")
COUNTING = {"generalization": ("suppression_limit",), "sampling": ("share", "size")}
"""Parameters that would tell, with the size of the release, how many records were left out."""
UNTOLD = "not shown: it would tell how many records were left out"


@dataclass(frozen=True)
class Parameter:
    """One parameter: its value in words that may be published, its full value, what it means.

    Without a value it is not `given`: the method does without.
    """

    name: str
    value: str
    full: str
    meaning: str
    given: bool = True


@dataclass(frozen=True)
class StepFacts:
    """One step of a release."""

    name: str
    idea: str
    parameters: tuple[Parameter, ...]
    public_details: tuple[tuple[str, str], ...]
    details: tuple[tuple[str, str], ...]


def describe_step(step: Method, details: Mapping[str, object], columns: Sequence[str]) -> StepFacts:
    """Describe a method; lists in its parameters are published if they name columns only."""
    meanings, known = texts_of(type(step)), frozenset(columns)
    shown = tuple(
        _parameter(step, one, details, grouped(meanings.get(one.name, "")), known)
        for one in dataclasses.fields(step)
    )
    said = {(one.name, one.full) for one in shown}
    rest = {name: _words(value, None) for name, value in details.items() if value is not None}
    rest.update(_quality(details))
    told = {name: words for name, words in rest.items() if (name, words) not in said}
    public = {name: told[name] for name in PUBLIC_DETAILS if name in told}
    if "generalized" in told:  # says the same in words
        told = {name: one for name, one in told.items() if name not in SAID_IN_WORDS}
    return StepFacts(step.name, _idea(type(step)), shown, _labeled(public), _labeled(told))


def _quality(details: Mapping[str, object]) -> dict[str, str]:
    """What the loss of a quality model means, with its figure."""
    name, value = str(details.get("quality_model", "")), details.get("quality")
    if name not in QUALITIES or not isinstance(value, float):
        return {}
    measures = grouped(QUALITIES[name].measures)
    return {"quality": f"{figure(value)}, {measures}", "quality_model": f"{name}: {measures}"}


def _labeled(details: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((LABELS.get(one, one.replace("_", " ")), words) for one, words in details.items())


def _parameter(
    step: Method,
    one: dataclasses.Field[Any],
    details: Mapping[str, object],
    meaning: str,
    columns: frozenset[str],
) -> Parameter:
    """A parameter; where no value was given, the one that the method chose itself."""
    if not one.repr:  # the method itself keeps it from being shown
        return Parameter(one.name, "a secret, not shown", "a secret, not shown", meaning)
    value, chosen = getattr(step, one.name), details.get(one.name)
    public = _words(value, columns)
    if one.name in COUNTING.get(step.name, ()) and value:
        public = UNTOLD
    elif value is None and chosen is not None:
        value = chosen
        public = _words(value, columns) if one.name in PUBLIC_DETAILS else "chosen by the method"
    return Parameter(one.name, public, _words(value, None), meaning, given=value is not None)


def _words(value: object, columns: frozenset[str] | None) -> str:
    """A value in words; with `columns`, of lists and mappings only what names columns."""
    if value is None:
        return "none"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    if isinstance(value, (float, np.floating)):
        return f"{value:,.6g}"
    if isinstance(value, str):
        return value if columns is None else value.replace("\\", "/").rpartition("/")[2]
    if isinstance(value, Mapping):
        return _mapping_words(value, columns)
    if isinstance(value, (list, tuple)):
        return _list_words(value, columns)
    return _object_words(value, columns)


def _mapping_words(value: Mapping[Any, object], columns: frozenset[str] | None) -> str:
    if not value:
        return "none"
    if columns is not None and not all(str(key) in columns for key in value):
        return f"{len(value)} entries, not shown"
    kinds = (int, float) if columns is not None else (int, float, str)
    if not all(isinstance(one, kinds) for one in value.values()):  # texts may be paths of files
        return f"given for {listing([str(key) for key in value])}"
    return ", ".join(f"{key}: {_words(one, columns)}" for key, one in value.items())


def _list_words(value: Sequence[object], columns: frozenset[str] | None) -> str:
    if not value:
        return "none"
    if all(dataclasses.is_dataclass(one) for one in value):
        return "; ".join(_object_words(one, columns) for one in value)
    if columns is not None and not all(str(one) in columns for one in value):
        return f"{len(value)} entries, not shown"
    return listing([str(one) for one in value], most=20)


def _object_words(value: object, columns: frozenset[str] | None) -> str:
    """A privacy or quality model with its plain parameters; of other things, what they are."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return "given"
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=^[A-Z])(?=[A-Z])", "-", type(value).__name__).lower()
    plain = [
        f"{one.name} = {_words(getattr(value, one.name), columns)}"
        for one in dataclasses.fields(value)
        if isinstance(getattr(value, one.name), (int, float, str))
    ]
    return f"{name} ({', '.join(plain)})" if plain else name


def _idea(kind: type[Method]) -> str:
    return grouped((inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " "))
