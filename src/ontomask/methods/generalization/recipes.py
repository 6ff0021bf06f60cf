"""How to build a hierarchy from the values of a column, said in a few words.

A recipe is a mapping such as ``{"intervals": [5, 10, 20]}``: what to build, and its options. Nobody
has to write a row per value.
"""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ontomask.arrays import FloatValues
from ontomask.checks import Choice, Constraint, Flag, Integer, ListOf, Real, check, did_you_mean
from ontomask.data.distinct import texts_of
from ontomask.data.domains import Concepts
from ontomask.data.microdata import Attribute
from ontomask.data.schema import Nominal
from ontomask.errors import MethodError, ParameterError
from ontomask.taxonomy.from_data import (
    UNITS,
    date_hierarchy,
    masking_hierarchy,
    order_hierarchy,
)
from ontomask.taxonomy.from_numbers import (
    check_cuts,
    check_intervals,
    cut_hierarchy,
    interval_hierarchy,
)
from ontomask.taxonomy.hierarchies import ROOT, Hierarchy

__all__ = [
    "RECIPES",
    "check_hierarchy",
    "drafted",
    "from_recipe",
    "from_taxonomy",
    "value_text",
    "value_texts",
]

Build = Callable[..., Hierarchy]


def value_text(value: object) -> str:
    """A value as it is looked up in a hierarchy: whole numbers without decimal point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def value_texts(attribute: Attribute) -> list[str]:
    """The values of a column as they are looked up in a hierarchy."""
    values = attribute.values
    if not isinstance(values, FloatValues):
        return [value_text(value) for value in values]
    texts, numbers = texts_of(values), values.numbers
    for place in np.flatnonzero(numbers == np.rint(numbers)).tolist():
        texts[place] = value_text(values[place])
    return texts


def _firsts(attribute: Attribute) -> dict[str, int]:
    """The different texts of a column, each with the first of its values that is written so."""
    firsts: dict[str, int] = {}
    for place, text in enumerate(value_texts(attribute)):
        firsts.setdefault(text.strip(), place)
    return firsts


def _needs(attribute: Attribute, fits: bool, needed: str) -> None:
    if not fits:
        raise MethodError(
            f"{needed}, but column {attribute.name!r} is {attribute.column.kind}; build its "
            "hierarchy in another way."
        )


def _intervals(attribute: Attribute, widths: Sequence[float], **options: float) -> Hierarchy:
    _needs(attribute, attribute.column.kind == "numeric", "intervals need numbers")
    return interval_hierarchy(value_texts(attribute), widths, **options)


def _cuts(attribute: Attribute, cuts: Sequence[float]) -> Hierarchy:
    _needs(attribute, attribute.column.kind == "numeric", "cuts need numbers")
    return cut_hierarchy(value_texts(attribute), cuts)


def _dates(attribute: Attribute, units: Sequence[str]) -> Hierarchy:
    """By the days that the values mean, however they are written."""
    _needs(attribute, attribute.column.kind == "date", "dates need dates")
    days, places = np.unique(np.floor(attribute.numbers).astype(np.int64), return_inverse=True)
    built = date_hierarchy(map(datetime.date.fromordinal, days.tolist()), units)
    firsts = _firsts(attribute)
    rows = places[[*firsts.values()]]
    above = [(built.levels[at].take(rows), built.labels[at]) for at in range(1, built.height + 1)]
    return Hierarchy.from_columns((*firsts,), above, "the dates", built.named)


def _order(attribute: Attribute, fanout: int) -> Hierarchy:
    _needs(attribute, attribute.column.kind == "ordinal", "order needs an order")
    return order_hierarchy(value_texts(attribute), fanout=fanout)


def _digits(attribute: Attribute, first: str) -> Hierarchy:
    return masking_hierarchy(value_texts(attribute), from_right=first == "last")


def _star(attribute: Attribute, starred: bool) -> Hierarchy:
    """Nothing between the value and any; without a star not even that."""
    texts = (*_firsts(attribute),)
    above = [(np.zeros(len(texts), np.int32), (ROOT,))] if starred else []
    return Hierarchy.from_columns(texts, above, "the values")


def from_taxonomy(attribute: Attribute, by: str) -> Hierarchy:
    """The taxonomy of a nominal column, level by level."""
    column = attribute.column
    fits = isinstance(column, Nominal) and isinstance(attribute.domain, Concepts)
    _needs(attribute, fits, "taxonomy needs a taxonomy")
    assert isinstance(column, Nominal)
    taxonomy = attribute.as_concepts.vocabulary.taxonomy
    ids = taxonomy.ids_of(attribute.concepts.tolist())
    options = {"root": column.root, **column.options}
    return Hierarchy.from_taxonomy(taxonomy, ids, by=by, measure=column.measure, **options)


@dataclass(frozen=True)
class Recipe:
    """A way to build a hierarchy: how, and what may be said, the recipe's own word first."""

    build: Build
    said: Mapping[str, tuple[Constraint, str]]

    @property
    def json_schema(self) -> dict[str, Any]:
        """The recipe as it is written in a plan, as JSON Schema."""
        return {
            "type": "object",
            "properties": {
                key: {**allowed.json_schema(), "description": text}
                for key, (allowed, text) in self.said.items()
            },
            "required": [next(iter(self.said))],
            "additionalProperties": False,
        }


WAYS: tuple[Recipe, ...] = (
    Recipe(
        _intervals,
        {
            "intervals": (
                ListOf(Real(0, open_low=True), empty=False),
                "Numbers in intervals: the widths, each a multiple of the one before.",
            ),
            "bottom": (Real(), "All numbers below it are one group."),
            "top": (Real(), "All numbers from it on are one group."),
            "origin": (Real(), "Where intervals begin; 0 if left out."),
        },
    ),
    Recipe(
        _cuts,
        {
            "cuts": (
                ListOf(Real(), empty=False),
                "Numbers in intervals between cuts, ascending; each level has every second cut of "
                "the one below.",
            )
        },
    ),
    Recipe(
        _dates,
        {"dates": (ListOf(Choice(*UNITS), empty=False), "Dates by calendar units, fine first.")},
    ),
    Recipe(
        _order,
        {"order": (Integer(2), "Ordered values: so many neighbors are united at each level.")},
    ),
    Recipe(
        _digits,
        {
            "digits": (
                Choice("last", "first"),
                "Codes: characters are masked one by one, from here.",
            )
        },
    ),
    Recipe(_star, {"star": (Flag(), "The value, or a star for any; false: always as it is.")}),
    Recipe(
        from_taxonomy,
        {
            "taxonomy": (
                Choice("steps", "depth"),
                "The taxonomy by steps up, or cut at equal depth.",
            )
        },
    ),
)
RECIPES = {next(iter(way.said)): way for way in WAYS}
"""What a hierarchy can be built by."""


def check_hierarchy(column: str, given: object) -> None:
    """Refuse what cannot be a hierarchy before any table is seen."""
    if isinstance(given, Mapping):
        check_recipe(column, given)
    elif not isinstance(given, (Hierarchy, str, os.PathLike, Sequence)):
        raise ParameterError(
            f"The hierarchy of {column!r} must be a path, rows of values, a Hierarchy, or how to "
            f"build one, not {type(given).__name__}."
        )


def check_recipe(column: str, recipe: Mapping[str, Any]) -> None:
    """Refuse a recipe that says nothing known, several things, or something not allowed."""
    where, listed = f"The hierarchy of {column!r}", ", ".join(RECIPES)
    known = [key for key in recipe if key in RECIPES]
    if len(known) != 1:
        hint = "".join(did_you_mean(key, RECIPES) for key in recipe if key not in RECIPES)
        how = "one of them only" if known else "how to build it"
        raise ParameterError(f"{where} must say {how}: one of {listed}.{hint}")
    chosen = RECIPES[known[0]]
    try:
        for key, value in recipe.items():
            check("its keys", key, Choice(*chosen.said))
            check(key, value, chosen.said[key][0])
        if known[0] == "intervals":
            check_intervals(recipe["intervals"], recipe.get("bottom"), recipe.get("top"))
        if known[0] == "cuts":
            check_cuts(recipe["cuts"])
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


def from_recipe(attribute: Attribute, recipe: Mapping[str, Any]) -> Hierarchy:
    """Build the hierarchy of a column."""
    key = next(key for key in recipe if key in RECIPES)
    options = {name: value for name, value in recipe.items() if name != key}
    return RECIPES[key].build(attribute, recipe[key], **options)


# Drafts ---------------------------------------------------------------------------------------

FINEST = 20
"""A draft begins with about so many intervals."""


def drafted(attribute: Attribute) -> dict[str, Any]:
    """A recipe to begin with for a column; nothing for one that has its taxonomy."""
    if isinstance(attribute.domain, Concepts):
        return {}
    kind = attribute.column.kind
    if kind == "date":
        return {"dates": ["month", "quarter", "year"]}
    if kind == "ordinal":
        return {"order": 2}
    if kind == "numeric":
        return {"intervals": _widths(attribute)}
    texts = value_texts(attribute)
    are_codes = all(text.isdigit() for text in texts) and len({len(text) for text in texts}) == 1
    return {"digits": "last"} if are_codes and len(texts[0]) > 2 else {"star": True}


def _widths(attribute: Attribute) -> list[float]:
    """A round width (1, 2 or 5 times a power of ten), twice and four times that, and a coarse one.

    The last is at least half the range: before a number becomes a star, it is one of two or three.
    """
    domain = attribute.as_numbers
    span = float(np.ptp(domain.numbers))
    least = max(span / FINEST, 1.0 if domain.whole else 1e-9)
    power = 10.0 ** math.floor(math.log10(least))
    width = min(
        (power * one for one in (1, 2, 5, 10)), key=lambda near: abs(math.log(near / least))
    )
    widths = [width, 2 * width, 4 * width]
    if span >= 2 * widths[-1]:
        widths.append(widths[-1] * 2.0 ** math.floor(math.log2(span / widths[-1])))
    return [int(one) if float(one).is_integer() else float(one) for one in widths]
