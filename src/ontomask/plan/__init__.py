"""The whole run as a file: read, check, run.

A name is imported when it is first used: who only needs to know how a release's files are called
does not wait for all that makes one.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontomask.plan.execution import Outcome
    from ontomask.plan.plan import Plan
    from ontomask.plan.problems import Problem
    from ontomask.plan.schema import plan_schema

__all__ = ["Outcome", "Plan", "Problem", "plan_schema"]

_HOMES = {"Outcome": "execution", "Plan": "plan", "Problem": "problems", "plan_schema": "schema"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ontomask.plan' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ontomask.plan.{_HOMES[name]}"), name)
