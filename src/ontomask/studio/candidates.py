"""Methods that are compared with each other: which can be, and how a plan says one."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from ontomask.comparison import METHOD_NAMES
from ontomask.errors import OntomaskError, PlanError
from ontomask.methods.base import Method
from ontomask.methods.presets import PRESETS, preset
from ontomask.methods.registry import METHODS
from ontomask.studio.edits import model_in_words
from ontomask.studio.forms import models_of

__all__ = [
    "adopted",
    "besides",
    "comparable",
    "has_k",
    "is_candidate",
    "limit_of",
    "sizes_of",
    "step_of",
]

KEPT = (
    "keeps",
    "strata",
    "privacy_by",
    "population",
    "hierarchies",
    "levels_by",
    "suppression_limit",
    "outliers",
    "quality",
)
"""What a plan asks of any method that has it; the rest is what makes a candidate."""
LIMIT = 10.0
"""Percent linked that are allowed where neither the plan nor the person says how many."""


def has_k(name: str) -> bool:
    """Whether a preset or method asks for a k."""
    made: Any = METHODS.get(name)
    return made is None or "k" in made.__dataclass_fields__


def _made(name: str, k: int) -> Any:
    made: Any = METHODS.get(name)
    if made is None and name not in PRESETS:
        raise PlanError("There is no such method; reload the page.")
    try:
        return preset(name, k) if made is None else made(k=k) if has_k(name) else made()
    except (TypeError, OntomaskError):
        raise PlanError(
            f"{name} needs more than a k; add it on the screen Protection instead."
        ) from None


def step_of(name: str, k: int) -> dict[str, Any]:
    """How a compared method is written in a plan: its parameters that are not the default."""
    method = _made(name, k)
    given = {
        one.name: getattr(method, one.name)
        for one in dataclasses.fields(method)
        if getattr(method, one.name) != one.default
    }
    plain = {key: value for key, value in given.items() if value not in ((), {})}
    return {"method": method.name, **plain}


def is_candidate(step: Method, name: str, k: int) -> bool:
    """Whether a step of a plan is a compared method, whatever it promises besides."""
    made = _made(name, k)
    names = {one.name for one in dataclasses.fields(made)} - {*KEPT, "privacy"}
    return type(step) is type(made) and all(
        getattr(step, one) == getattr(made, one) for one in names
    )


def besides(steps: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The privacy models of steps that are no k: candidates are compared without them."""
    models = [model for step in steps for model in step.get("privacy", ())]
    return [one for one in models if one.get("model") != "k-anonymity"]


def adopted(steps: Sequence[Mapping[str, Any]], name: str, k: int) -> tuple[dict[str, Any], str]:
    """A compared method as a step that takes the place of others, and what that changes in words.

    What the steps promise besides a k is promised further on, if the method can promise it.
    """
    step = step_of(name, k)
    known = METHODS[step["method"]].__dataclass_fields__
    for before in steps:
        step |= {key: before[key] for key in KEPT if key in before and key in known}
    models = besides(steps)
    kept = [one for one in models if one.get("model") in models_of(step["method"])]
    if kept:
        step["privacy"] = kept
    lost = ", ".join(model_in_words(one) for one in models if one not in kept)
    now = f"{name}, k = {k}" if has_k(name) else name
    was = ", then ".join(map(_in_words, steps)) or "without a step"
    without = f", without {lost}: the method cannot promise it" if lost else ""
    return step, f"adopted {now}; was {was}{without}"


def _in_words(step: Mapping[str, Any]) -> str:
    """A step by its method and its k, its own or that of a model."""
    sizes = sizes_of([step])
    return f"{step.get('method')}{f', k = {sizes[0]}' if sizes else ''}"


def sizes_of(steps: Sequence[Mapping[str, Any]]) -> list[int]:
    """Every k that steps ask for, their own or that of a model."""
    parts = [part for step in steps for part in (step, *step.get("privacy", ()))]
    return [part["k"] for part in parts if isinstance(part.get("k"), int)]


def limit_of(grid: Mapping[str, Any], said: Mapping[str, Any]) -> float:
    """How many percent may be linked: as a person asks, else as the plan limits it."""
    limits = said.get("limits", {})
    wanted = (grid["limit"], limits.get("max_linkage"), limits.get("max_risk"))
    return float(next((one for one in wanted if one is not None), LIMIT))


@functools.cache
def comparable() -> tuple[str, ...]:
    """The presets and methods that need nothing but a k."""

    def is_made(name: str) -> bool:
        with contextlib.suppress(PlanError):
            return bool(step_of(name, 2))
        return False

    return tuple(filter(is_made, METHOD_NAMES))
