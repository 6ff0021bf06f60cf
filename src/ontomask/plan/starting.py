"""What a step begins with when somebody adds a method to a plan by its name alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ontomask.data.schema import Schema
from ontomask.errors import PlanError

__all__ = ["starting", "starting_model"]

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


def starting_model(model: str, schema: Schema, k: int) -> dict[str, Any]:
    """A privacy model to begin with, as it is written in a plan.

    Where several columns are sensitive, it is about the first of them.
    """
    if model not in MODELS:
        raise PlanError(f"There is no privacy model {model!r}.")
    given = {"model": model, **MODELS[model], **({"k": k} if "k" in MODELS[model] else {})}
    sensitive = schema.with_role("sensitive")
    if model in OF_A_COLUMN and len(sensitive) > 1:
        given["column"] = sensitive[0]
    return given


WAN = {
    "publisher_benefit": 1200,
    "publisher_loss": 300,
    "adversary_gain": 300,
    "adversary_cost": 4,
}
"""What a record is worth in dollars in the study of Wan et al. (2015)."""
ATTACK = {name: value for name, value in WAN.items() if name.startswith("adversary")}
OF_A_COLUMN = ("l-diversity", "t-closeness", "beta-likeness", "delta-disclosure")
MODELS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "k-anonymity": {"k": 5},
        "l-diversity": {"l": 2},
        "t-closeness": {"t": 0.3},
        "beta-likeness": {"beta": 1},
        "delta-disclosure": {"delta": 1},
        "delta-presence": {"minimum": 0, "maximum": 0.5},
        "k-map": {"k": 5},
        "estimated-k-map": {"k": 5, "fraction": 0.01},
        "average-risk": {"t": 0.1},
        "records-at-risk": {"t": 0.05},
        "sample-uniqueness": {"t": 0.01},
        "population-uniques": {"t": 0.01, "fraction": 0.01},
        "no-attack": ATTACK,
        "population-no-attack": ATTACK,
        "profitability": WAN,
        "population-profitability": WAN,
    }
)
"""What privacy models begin with, by their names in a plan; a person moves each to their case."""
