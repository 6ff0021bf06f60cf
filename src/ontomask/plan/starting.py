"""What a step begins with when somebody adds a method to a plan by its name alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ontomask.data.schema import Schema
from ontomask.errors import PlanError

__all__ = ["starting"]

Start = Callable[[Schema, int], dict[str, Any]]

KEY = "ONTOMASK_KEY"


def starting(method: str, schema: Schema, k: int) -> dict[str, Any]:
    """The parameters to begin with; a sentence where the table has nothing that the method changes.

    Parameters
    ----------
    method
        Its name in a plan.
    schema
        What the columns of the table are.
    k
        How many people shall look alike, where the method has a k.
    """
    return STARTS[method](schema, k) if method in STARTS else {}


def _size(_schema: Schema, k: int) -> dict[str, Any]:
    return {"k": k}


def _model(_schema: Schema, k: int) -> dict[str, Any]:
    return {"suppression_limit": 0.05, "privacy": [{"model": "k-anonymity", "k": k}]}


def _numbers(method: str, **given: Any) -> Start:
    """All numbers that others know; those that they do not know, where there are none."""

    def start(schema: Schema, _k: int) -> dict[str, Any]:
        for names in (schema.quasi, schema.published):
            columns = [name for name in names if schema[name].kind == "numeric"]
            if columns:
                return {"columns": columns, **given}
        raise PlanError(f"{method} changes numbers, but no column that is published is numeric.")

    return start


def _shuffled(schema: Schema, _k: int) -> dict[str, Any]:
    known = list(schema.quasi)
    hidden = [name for name in schema.published if name not in known]
    if not known or not hidden:
        raise PlanError(
            "shuffling exchanges the values of columns that nobody knows by those that others "
            "know; the table needs columns of both kinds."
        )
    return {"confidential": list(schema.with_role("sensitive")) or hidden[:1], "given": known}


def _pseudonyms(schema: Schema, _k: int) -> dict[str, Any]:
    names = schema.with_role("identifier")
    if not names:
        raise PlanError("pseudonyms replace identifiers, but the table has none.")
    return {"columns": list(names), "key_variable": KEY}


def _elsewhere(sentence: str) -> Start:
    def start(_schema: Schema, _k: int) -> dict[str, Any]:
        raise PlanError(sentence)

    return start


STARTS: Mapping[str, Start] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "microaggregation",
                "recoding",
                "resampling",
                "hybrid",
                "suppression",
                "local-suppression",
            ),
            _size,
        ),
        "generalization": _model,
        "noise": _numbers("noise"),
        "rounding": _numbers("rounding", base=10),
        "top-bottom-coding": _numbers("top-bottom-coding", top_share=0.02, bottom_share=0.02),
        "sampling": lambda _schema, _k: {"share": 0.5},
        "rank-swapping": lambda _schema, _k: {"share": 0.05},
        "shuffling": _shuffled,
        "pseudonyms": _pseudonyms,
        "drop-columns": _elsewhere(
            "A column is left out by its role: say there that it is not published."
        ),
        "private-generalization": _elsewhere(
            "private-generalization needs levels that were chosen without a look at the table; "
            "write it into the plan, as its page in the documentation shows."
        ),
    }
)
"""By the method's name in a plan; methods that are not here need nothing."""
