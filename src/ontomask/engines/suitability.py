"""Which steps work on distinct combinations alone, and which columns each has to see together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ontomask.checks import did_you_mean
from ontomask.data.schema import Schema
from ontomask.errors import MethodError, ParameterError
from ontomask.methods.base import Method
from ontomask.methods.columns import DropColumns, Pseudonyms
from ontomask.methods.generalization.method import Generalization
from ontomask.methods.microaggregation import Microaggregation
from ontomask.methods.perturbation import Rounding, TopBottomCoding
from ontomask.methods.recoding import Recoding
from ontomask.methods.suppression import Suppression
from ontomask.quality.models import Quality

__all__ = ["Group", "groups_of", "require_suitable"]

TOGETHER = (Microaggregation, Recoding, Generalization, Suppression)
"""Methods that look at all quasi-identifiers at once."""

ALONE = (Rounding, TopBottomCoding, Pseudonyms)
"""Methods that look at one column at a time."""

INSTEAD = {
    "hybrid": "microaggregation(algorithm='sa-mdav')",
    "resampling": "microaggregation(algorithm='sa-mdav')",
    "rank-swapping": "recoding",
    "shuffling": "recoding",
    "local-suppression": "suppression",
    "pram": "recoding",
    "private-generalization": "generalization",
    "noise": "rounding",
    "sampling": "suppression",
}
"""For methods that draw for every record, the nearest one that works on combinations."""


@dataclass(frozen=True)
class Group:
    """Columns that are looked at together, and the steps, by number, as they concern them."""

    columns: tuple[str, ...]
    parts: Mapping[int, Method]

    @property
    def steps(self) -> tuple[Method, ...]:
        """The steps, in order."""
        return tuple(self.parts.values())


def require_suitable(steps: Sequence[Method], schema: Schema) -> None:
    """Refuse steps that have to see every record, and columns that are not there to be masked."""
    if schema.unit is not None:
        raise MethodError(
            f"Column {schema.unit!r} says that persons are to be protected, which needs every "
            "record, not the distinct combinations of a table of any size; give a data frame that "
            "fits into memory, or declare the column without unit."
        )
    if schema.rules:
        raise MethodError(
            "Rules are heeded in data frames that fit into memory only, not in a table of any "
            "size; leave them out, or give such a frame."
        )
    for step in steps:
        _check_named(step, schema)
        _check_weights(step, schema)
        instead = _instead(step)
        if instead:
            raise MethodError(
                f"{step.name} works on single records, not on the distinct combinations of a table "
                f"of any size; use {instead}, or give a data frame that fits into memory."
            )


def _check_weights(step: Method, schema: Schema) -> None:
    """Refuse what would have to be recounted with weights, which no release holds."""
    models = getattr(step, "privacy", ())
    if schema.weight is not None and any(one.needs_column for one in models):
        raise MethodError(
            f"{step.name} promises distributions of people, weighted by {schema.weight!r}, and "
            "a table of any size is recounted by its release alone, which holds no weights; leave "
            "the weight out, or give a data frame that fits into memory."
        )


def _check_named(step: Method, schema: Schema) -> None:
    hidden = schema.with_role("identifier") if isinstance(step, Pseudonyms) else ()
    for parameter in ("columns", "strata"):
        for name in getattr(step, parameter, None) or ():
            if name not in (*schema.published, *hidden) or name == schema.count:
                raise ParameterError(
                    f"{parameter} names {name!r}, which is not a published column."
                    f"{did_you_mean(name, schema.published)}"
                )


def _instead(step: Method) -> str:
    """What to use in the place of a step that does not suit; empty if it does."""
    if isinstance(step, Microaggregation) and step.algorithm != "sa-mdav":
        return "algorithm='sa-mdav'"
    if isinstance(step, Rounding) and step.how == "random":
        return "how='nearest'"
    if isinstance(step, (*TOGETHER, *ALONE, DropColumns)):
        return ""
    return INSTEAD.get(step.name, "a method of the package such as microaggregation")


def groups_of(steps: Sequence[Method], schema: Schema, names: Sequence[str]) -> list[Group]:
    """Divide the columns that steps look at; those of the quasi-identifiers come first.

    Parameters
    ----------
    steps
        The steps, in order.
    schema
        What the columns are.
    names
        The columns of the table, in order.
    """
    merged = [set(schema.quasi)] if schema.quasi else []
    for together in (set(one) for step in steps for one in _seen_together(step, schema)):
        touching = [one for one in merged if one & together]
        merged = [one for one in merged if not one & together]
        merged.append(together.union(*touching))
    first = set(schema.quasi)
    merged.sort(key=lambda one: (not one & first, min(map(names.index, one))))
    return [
        Group(
            tuple(name for name in names if name in one),
            {
                number: part
                for number, step in enumerate(steps)
                if (part := _concerning(step, one, schema)) is not None
            },
        )
        for one in merged
    ]


def _seen_together(step: Method, schema: Schema) -> Iterator[tuple[str, ...]]:
    strata = tuple(getattr(step, "strata", ()))
    if isinstance(step, TOGETHER) and schema.quasi:
        yield (*schema.quasi, *strata, *_modeled(step, schema))
    elif isinstance(step, ALONE):
        for name in step.columns:
            yield (name, *strata)


def _modeled(step: Method, schema: Schema) -> Iterator[str]:
    """Columns that the models of a generalization speak of."""
    if not isinstance(step, Generalization):
        return
    for model in step.privacy:
        if model.needs_column:
            own = getattr(model, "column", None)
            yield from (own,) if own else schema.with_role("sensitive")
    if isinstance(step.quality, Quality):
        yield from step.quality.targets


def _concerning(step: Method, columns: set[str], schema: Schema) -> Method | None:
    """A step as it concerns some columns; None if it does not."""
    if isinstance(step, TOGETHER):
        return step if columns & set(schema.quasi) else None
    named: Any = step
    own = tuple(name for name in named.columns if name in columns)
    return replace(named, columns=own) if own else None
