"""Methods that are compared with each other: which can be, and how a plan says one."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from typing import Any

from ontomask.comparison import METHOD_NAMES
from ontomask.errors import OntomaskError, PlanError
from ontomask.methods.presets import PRESETS, preset
from ontomask.methods.registry import METHODS

__all__ = ["comparable", "has_k", "step_of"]


def has_k(name: str) -> bool:
    """Whether a preset or method asks for a k."""
    made: Any = METHODS.get(name)
    return made is None or "k" in made.__dataclass_fields__


def step_of(name: str, k: int) -> dict[str, Any]:
    """How a compared method is written in a plan: its parameters that are not the default."""
    made: Any = METHODS.get(name)
    if made is None and name not in PRESETS:
        raise PlanError("There is no such method; reload the page.")
    try:
        method: Any = preset(name, k) if made is None else made(k=k) if has_k(name) else made()
    except (TypeError, OntomaskError):
        raise PlanError(
            f"{name} needs more than a k; add it on the screen Protection instead."
        ) from None
    given = {
        one.name: getattr(method, one.name)
        for one in dataclasses.fields(method)
        if getattr(method, one.name) != one.default
    }
    plain = {key: value for key, value in given.items() if value not in ((), {})}
    return {"method": method.name, **plain}


@functools.cache
def comparable() -> tuple[str, ...]:
    """The presets and methods that need nothing but a k."""

    def is_made(name: str) -> bool:
        with contextlib.suppress(PlanError):
            return bool(step_of(name, 2))
        return False

    return tuple(filter(is_made, METHOD_NAMES))
