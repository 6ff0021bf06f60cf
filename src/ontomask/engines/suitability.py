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
from ontomask.methods.hybrid import Hybrid
from ontomask.methods.microaggregation import Microaggregation
from ontomask.methods.perturbation import Noise, Rounding, Sampling, TopBottomCoding
from ontomask.methods.pram import Pram
from ontomask.methods.rank_swapping import RankSwapping
from ontomask.methods.recoding import Recoding
from ontomask.methods.resampling import Resampling
from ontomask.methods.shuffling import Shuffling
from ontomask.methods.suppression import Suppression
from ontomask.quality.models import Quality

__all__ = ["Group", "groups_of", "require_suitable"]

TOGETHER = (Microaggregation, Recoding, Generalization, Suppression, Resampling, Hybrid, Sampling)
"""Methods that look at all quasi-identifiers at once, or decide about whole records."""

ALONE = (Rounding, TopBottomCoding, Pseudonyms, Pram, Noise, RankSwapping)
"""Methods that look at one column at a time."""

DRAWING = (Resampling, Hybrid, Sampling, Pram, Noise, RankSwapping, Shuffling)
"""Methods that may treat the records of one combination each in its own way."""

INSTEAD = {"local-suppression": "suppression", "private-generalization": "generalization"}
"""For methods that compare single records, the nearest one that works on combinations."""

ONLY = {
    "microaggregation": ("algorithm", ("sa-mdav",)),
    "hybrid": ("algorithm", ("sa-mdav",)),
    "rank-swapping": ("algorithm", ("dynamic", "fixed", "random", "distributional")),
}
"""Parameters that say whether a method compares single records, and the values that do not."""


@dataclass(frozen=True)
class Group:
    """Columns that are looked at together, and the steps, by number, as they concern them."""

    columns: tuple[str, ...]
    parts: Mapping[int, Method]

    @property
    def steps(self) -> tuple[Method, ...]:
        """The steps, in order."""
        return tuple(self.parts.values())

    @property
    def draws(self) -> bool:
        """Whether the records of one combination may become different ones."""
        return any(_draws(step) for step in self.steps)


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
        _check_counts(step, schema)
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


def _check_counts(step: Method, schema: Schema) -> None:
    """Refuse to draw for rows that stand for several records."""
    if schema.count is not None and _draws(step):
        raise MethodError(
            f"{step.name} draws for every record, but {schema.count!r} says that a row of the "
            "table stands for several; repeat each row as often as its count says and leave the "
            "count out of the schema, or give a data frame that fits into memory."
        )


def _check_named(step: Method, schema: Schema) -> None:
    hidden = schema.with_role("identifier") if isinstance(step, Pseudonyms) else ()
    for parameter in ("columns", "confidential", "given", "strata"):
        for name in getattr(step, parameter, None) or ():
            if name not in (*schema.published, *hidden) or name == schema.count:
                raise ParameterError(
                    f"{parameter} names {name!r}, which is not a published column."
                    f"{did_you_mean(name, schema.published)}"
                )


def _draws(step: Method) -> bool:
    return isinstance(step, DRAWING) or (isinstance(step, Rounding) and step.algorithm == "random")


def _instead(step: Method) -> str:
    """What to use in the place of a step that does not suit; empty if it does."""
    parameter, allowed = ONLY.get(step.name, ("", ()))
    if allowed and getattr(step, parameter) not in allowed:
        return f"{parameter}={allowed[0]!r}"
    if isinstance(step, (*TOGETHER, *ALONE, Shuffling, DropColumns)):
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
    first = set(_first(schema))
    merged = [first] if schema.quasi else []
    for together in (set(one) for step in steps for one in _seen_together(step, schema)):
        touching = [one for one in merged if one & together]
        merged = [one for one in merged if not one & together]
        merged.append(together.union(*touching))
    merged.sort(key=lambda one: (not one & first, min(map(names.index, one))))
    return [
        Group(
            tuple(name for name in names if name in one),
            {
                number: part
                for number, step in enumerate(steps)
                if (part := _concerning(step, one, schema, main=one is merged[0])) is not None
            },
        )
        for one in merged
    ]


def _seen_together(step: Method, schema: Schema) -> Iterator[tuple[str, ...]]:
    strata = tuple(getattr(step, "strata", ()))
    if isinstance(step, TOGETHER):
        yield (*_first(schema), *strata, *_modeled(step, schema))
    elif isinstance(step, Shuffling):
        yield (*step.confidential, *step.given, *strata)
    elif isinstance(step, Noise) and step.correlated:
        yield (*step.columns, *strata)
    elif isinstance(step, ALONE):
        for name in _masked(step, schema):
            yield (name, *strata)


def _first(schema: Schema) -> tuple[str, ...]:
    """The columns that decide about whole records: where there are no quasi-identifiers, any."""
    return schema.quasi or tuple(n for n in schema.published if n != schema.count)[:1]


def _masked(step: Any, schema: Schema) -> tuple[str, ...]:
    """The columns that a step names, by default the quasi-identifiers."""
    named = step.confidential if isinstance(step, Shuffling) else step.columns
    return schema.quasi if named is None else tuple(named)


def _modeled(step: Method, schema: Schema) -> Iterator[str]:
    """Columns that the models of a step speak of."""
    for model in getattr(step, "privacy", ()):
        if model.needs_column:
            own = getattr(model, "column", None)
            yield from (own,) if own else schema.with_role("sensitive")
    if isinstance(step, Generalization) and isinstance(step.quality, Quality):
        yield from step.quality.targets


def _concerning(step: Method, columns: set[str], schema: Schema, *, main: bool) -> Method | None:
    """A step as it concerns some columns; None if it does not."""
    if isinstance(step, TOGETHER):
        return step if main else None
    own = tuple(name for name in _masked(step, schema) if name in columns)
    if isinstance(step, Shuffling) or not own:
        return step if own else None
    named: Any = step
    concerning: Method = replace(named, columns=own)
    return concerning
