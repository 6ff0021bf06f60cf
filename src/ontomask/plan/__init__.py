"""The whole run as a file: read, check, run."""

from __future__ import annotations

from ontomask.plan.execution import Outcome
from ontomask.plan.plan import Plan
from ontomask.plan.problems import Problem
from ontomask.plan.schema import plan_schema

__all__ = ["Outcome", "Plan", "Problem", "plan_schema"]
