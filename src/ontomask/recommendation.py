"""What a comparison of releases recommends, ready to be run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ontomask.cards import card
from ontomask.checks import Real, check
from ontomask.comparison import Cell, Comparison, Methods, compare
from ontomask.data.schema import Schema
from ontomask.methods.base import Method
from ontomask.plan.plan import Plan
from ontomask.protection import protect
from ontomask.release import Release
from ontomask.wording import terse_percent

__all__ = ["Recommendation", "recommend"]


@dataclass(frozen=True, eq=False)
class Recommendation:
    """What a comparison recommends, ready to be run.

    Attributes
    ----------
    cell
        What it did in the comparison: method, k, loss, risk.
    steps
        The methods.
    schema
        What the columns are.
    comparison
        All that it was compared with.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [30, 31, 32, 50, 51, 52, 70, 71, 72]})
    >>> schema = om.Schema(age=om.Numeric())
    >>> found = om.recommend(frame, schema, ["sa-mdav"], max_risk=0.4, k=[2, 3], workers=1)
    >>> found.protect(frame, seed=1).class_sizes
    {3: 3}
    >>> found.plan("people.csv", seed=1).steps == found.steps
    True
    """

    cell: Cell
    steps: tuple[Method, ...]
    schema: Schema
    comparison: Comparison

    def protect(self, frame: object, seed: int | None = None, **settings: Any) -> Release:
        """Protect a table as recommended; the settings are those of `ontomask.protect`."""
        return protect(frame, self.schema, self.steps, seed, **settings)

    def plan(self, table: str | os.PathLike[str], **settings: Any) -> Plan:
        """The recommendation as a plan for the file of a table; settings are those of `Plan.of`.

        ``found.plan("people.csv").save("plan.toml")`` writes what ``ontomask run plan.toml`` runs.
        """
        return Plan.of(self.schema, self.steps, table, **settings)

    def __repr__(self) -> str:
        return f"Recommendation({self})"

    def __str__(self) -> str:
        assert self.cell.loss is not None
        assert self.cell.risk is not None
        loss, risk = terse_percent(self.cell.loss, 2), terse_percent(self.cell.risk, 2)
        return f"{self.cell.title} (loss {loss}, linkage {risk})"

    def _repr_html_(self) -> str:
        facts = [("steps", " → ".join(step.name for step in self.steps)), ("why", str(self))]
        return card("Recommended", facts, self.comparison._repr_html_())


def recommend(
    frame: object, schema: Schema, methods: Methods, *, max_risk: float, **settings: Any
) -> Recommendation:
    """Compare, and recommend what loses least among all whose risk is at most `max_risk`.

    Examples
    --------
    >>> frame = pl.DataFrame({"age": [30, 31, 32, 50, 51, 52, 70, 71, 72]})
    >>> schema = om.Schema(age=om.Numeric())
    >>> found = om.recommend(frame, schema, ["sa-mdav"], max_risk=0.4, k=[2, 3], workers=1)
    >>> found.cell.method, found.cell.k
    ('sa-mdav', 3)
    >>> found.protect(frame, seed=1).frame["age"].to_list()
    [31, 31, 31, 51, 51, 51, 71, 71, 71]
    """
    check("max_risk", max_risk, Real(0, 1))
    compared = compare(frame, schema, methods, **settings)
    best = compared.best(max_risk)
    return Recommendation(best, compared.steps[best.method, best.k], schema, compared)
