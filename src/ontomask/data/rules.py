"""Rules about combinations that nobody can have, such as an obstetric code of a man."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from ontomask.arrays import Bools, Floats
from ontomask.brevity import SHOWN
from ontomask.checks import Declared, composed, did_you_mean
from ontomask.errors import SchemaError

if TYPE_CHECKING:
    from ontomask.data.schema import Column

__all__ = ["Condition", "Rule"]

ENDS = ("from", "to")
RANGED = ("numeric", "date", "ordinal")


@dataclass(frozen=True)
class Condition:
    """What a value must be for a rule to apply: one of some values or concepts, or in a range.

    A concept stands for all concepts under it. A missing value meets no condition.
    """

    values: tuple[object, ...] = ()
    low: object = None
    high: object = None

    @classmethod
    def of(cls, column: str, written: Any) -> Condition:
        """Read a value, a list of values, or a range `{"from": …, "to": …}`."""
        if isinstance(written, Mapping):
            if not written or set(written) - set(ENDS):
                raise SchemaError(
                    f"A range of {column!r} has the ends 'from' and 'to', one of them or both, "
                    f"not {', '.join(map(repr, written)) or 'none'}."
                )
            return cls((), written.get("from"), written.get("to"))
        several = tuple(written) if isinstance(written, (list, tuple)) else (written,)
        if not several or any(one is None for one in several):
            raise SchemaError(f"Say which values of {column!r} a rule means; there are none.")
        return cls(several)

    def __str__(self) -> str:
        if self.values:
            more = len(self.values) - SHOWN
            rest = [f"{more:,} more"] if more > 0 else []
            return " or ".join([*map(str, self.values[:SHOWN]), *rest])
        ends = [f"from {self.low}" if self.low is not None else ""]
        ends += [f"to {self.high}" if self.high is not None else ""]
        return " ".join(filter(None, ends))

    def spans(self, column: Column) -> list[tuple[float, float]]:
        """The numbers (days, ranks) that are meant, as ranges with both ends."""
        if self.values:
            return [(_number(one, column), _number(one, column)) for one in self.values]
        low = -np.inf if self.low is None else _number(self.low, column)
        return [(low, np.inf if self.high is None else _number(self.high, column))]

    def within(self, column: Column, numbers: Floats) -> Bools:
        """Which numbers (days, ranks) are meant."""
        found = np.zeros(numbers.shape, bool)
        for low, high in self.spans(column):
            found |= (numbers >= low) & (numbers <= high)
        return found

    def concepts(self, column: Column) -> Bools:
        """Which concepts of a nominal column's taxonomy are meant."""
        taxonomy: Any = getattr(column, "taxonomy", None)
        mapping = taxonomy.map([str(one) for one in self.values])
        found = mapping.concepts[mapping.positions].tolist()
        meant = np.zeros(len(taxonomy), bool)
        for value, concept in zip(self.values, found, strict=True):
            if concept < 0:
                hint = did_you_mean(str(value), taxonomy.ids)
                raise SchemaError(
                    f"A rule names {value!r}, which is no concept of {taxonomy.name!r}.{hint}"
                )
            meant[taxonomy.indices_of(taxonomy.subtree(taxonomy.ids[concept]))] = True
        return meant

    def check(self, name: str, column: Column) -> None:
        """Refuse what makes no sense for a column."""
        if not self.values and column.kind not in RANGED:
            raise SchemaError(
                f"A rule gives a range of {name!r}, which is {column.kind} and has no order; name "
                "values instead."
            )
        if column.kind == "nominal":
            self.concepts(column)
        elif column.kind != "flat":
            self.spans(column)


def _number(value: Any, column: Column) -> float:
    """A value of a rule as a number, a day or a rank."""
    order = list(getattr(column, "order", ()))
    if column.kind == "ordinal":
        if value in order:
            return float(order.index(value))
        hint = did_you_mean(value, [str(one) for one in order])
        raise SchemaError(f"A rule names {value!r}, which is not in the order.{hint}")
    if isinstance(value, str) and column.kind == "date":
        try:
            value = datetime.date.fromisoformat(value)
        except ValueError:
            raise SchemaError(f"A rule names the date {value!r}; write 2024-01-31.") from None
    if isinstance(value, datetime.date):
        return float(value.toordinal())
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise SchemaError(f"A rule about a {column.kind} column needs numbers, not {value!r}.")


@dataclass(frozen=True)
class Rule(Declared):
    """A combination that nobody has: when all of `when` holds, never all of `never`.

    Examples
    --------
    >>> rule = om.Rule(when={"age": {"to": 15}}, never={"status": "married"})
    >>> schema = om.Schema(age=om.Numeric(), status=om.Flat()).with_rules(rule)
    >>> table = pl.DataFrame({"age": [4, 18, 19], "status": ["single", "married", "married"]})
    >>> om.protect(table, schema, om.Microaggregation(3), seed=1).frame.row(0)
    (18, 'married')
    """

    when: Annotated[
        Mapping[str, Any],
        "For each column a value, a list of values, or a range with the ends `from` and `to`, one "
        "of them or both. In a nominal column a concept means all that is under it, too.",
    ]
    never: Annotated[Mapping[str, Any], "The same for other columns."]

    def __post_init__(self) -> None:
        super().__post_init__()
        for part in ("when", "never"):
            written = getattr(self, part)
            if not isinstance(written, Mapping) or not written:
                raise SchemaError(
                    f"{part} must name columns with their values, such as {{'sex': 'm'}}, not "
                    f"{written!r}."
                )
            object.__setattr__(self, part, {composed(name): one for name, one in written.items()})
        both = set(self.when) & set(self.never)
        if both:
            raise SchemaError(f"A rule names {min(both)!r} both under when and under never.")
        self.conditions  # noqa: B018 - reads every condition once

    @property
    def conditions(self) -> dict[str, Condition]:
        """What must not hold together."""
        return {name: Condition.of(name, one) for name, one in {**self.when, **self.never}.items()}

    def __str__(self) -> str:
        when, never = (
            " and ".join(f"{name} {Condition.of(name, one)}" for name, one in part.items())
            for part in (self.when, self.never)
        )
        return f"when {when}, never {never}"
