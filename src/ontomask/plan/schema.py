"""The JSON Schema of plans, for editors that complete and check TOML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, create_model

from ontomask.checks import AnyOf, Integer, Null
from ontomask.plan.parts import Part, list_of, table_of, union_of
from ontomask.plan.reading import SECTION_MODELS
from ontomask.plan.vocabulary import COLUMN_MODELS, RULE_MODEL, STEP_MODELS

__all__ = ["plan_schema"]


SUMMARY = (
    "A whole run of ontomask: about, input, engine, columns, steps, evaluation, limits, output and "
    "seed."
)


def _optional() -> Iterator[tuple[str, Any]]:
    for name, model in SECTION_MODELS.items():
        if name != "input":
            yield name, (model | None, Field(default=None, description=model.__doc__ or ""))


def plan_schema() -> dict[str, Any]:
    """The JSON Schema of a plan."""
    fields: dict[str, Any] = {
        "seed": (
            Annotated[int | None, AnyOf(Integer(0), Null())],
            Field(default=None, description="Fixes all random choices; drawn if left out."),
        ),
        "input": (SECTION_MODELS["input"], Field(description="The table that is protected.")),
        "columns": (
            table_of(union_of(COLUMN_MODELS, "kind")),
            Field(description="What each column is; columns that are not named are left out."),
        ),
        "rules": (
            list[RULE_MODEL],  # type: ignore[valid-type]
            Field(default_factory=list, description="Combinations that nobody can have."),
        ),
        "steps": (
            list_of(union_of(STEP_MODELS, "method")),
            Field(description="The methods, applied in order."),
        ),
        **dict(_optional()),
    }
    document = create_model("Plan", __base__=Part, __doc__=SUMMARY, **fields)
    schema = document.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
