"""Constraints on parameters, declared once as objects.

A constraint checks a value, says in English what it allows, and can make values that violate it,
so that the bad-input tests of every public call are generated instead of written::

    @checked(k=Integer(2), measure=Choice("path", "logsc"))
    def cluster(data, k, measure): ...
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import numbers
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from ontomask.brevity import Brief
from ontomask.errors import ParameterError

__all__ = [
    "Annotation",
    "AnyOf",
    "Choice",
    "Constraint",
    "Declared",
    "Flag",
    "Integer",
    "ListOf",
    "Null",
    "Real",
    "TableOf",
    "Text",
    "Typed",
    "check",
    "checked",
    "composed",
    "constraints_of",
    "did_you_mean",
    "hints_of",
    "texts_of",
    "validate",
]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Constraint(Protocol):
    """What a parameter may be."""

    def accepts(self, value: object) -> bool:
        """Tell whether the value is allowed."""
        ...

    def describe(self) -> str:
        """Say what is allowed, to follow the words 'must be'."""
        ...

    def wrong_values(self) -> list[object]:
        """Make values that are not allowed."""
        ...

    def json_schema(self) -> dict[str, Any]:
        """Say what is allowed as JSON Schema, for editors and forms."""
        ...


class Annotation:
    """Lets Pydantic read a constraint from an annotation, with the constraint's own sentence.

    Pydantic is imported only where it reads one: the methods themselves do without it.
    """

    def __get_pydantic_core_schema__(self: Constraint, _source: Any, _handler: Any) -> Any:
        """Check a value of a plan."""
        from pydantic_core import core_schema

        constraint = _without_null(self)

        def accept(value: object, info: Any) -> object:
            check(info.field_name, value, constraint)
            return value

        return core_schema.with_info_plain_validator_function(accept)

    def __get_pydantic_json_schema__(self: Constraint, _schema: Any, _handler: Any) -> Any:
        """Describe the values of a plan."""
        return self.json_schema()


def _bounds(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(high):
        return f" of at least {low:g}"
    if math.isinf(low):
        return f" of at most {high:g}"
    return f" from {low:g} to {high:g}"


def _json_bounds(
    low: float, high: float, open_low: bool = False, open_high: bool = False
) -> dict[str, Any]:
    named = {
        "exclusiveMinimum" if open_low else "minimum": low,
        "exclusiveMaximum" if open_high else "maximum": high,
    }
    return {name: bound for name, bound in named.items() if math.isfinite(bound)}


@dataclass(frozen=True)
class Integer(Annotation):
    """A whole number within bounds, both included; True and False are not numbers here."""

    low: float = -math.inf
    high: float = math.inf

    def accepts(self, value: object) -> bool:
        """Tell whether the value is such a number."""
        if not isinstance(value, numbers.Integral) or isinstance(value, bool):
            return False
        return self.low <= int(value) <= self.high

    def describe(self) -> str:
        """Say which numbers are allowed."""
        return "a whole number" + _bounds(self.low, self.high)

    def wrong_values(self) -> list[object]:
        """Make a text, a fraction, a Boolean, nothing, and numbers beyond the bounds."""
        beyond = [self.low - 1, self.high + 1]
        return ["three", 2.5, True, None, *(int(value) for value in beyond if math.isfinite(value))]

    def json_schema(self) -> dict[str, Any]:
        """Say it as JSON Schema."""
        return {"type": "integer", **_json_bounds(self.low, self.high)}


@dataclass(frozen=True)
class Real(Annotation):
    """A finite number within bounds; `open_low` and `open_high` exclude the bounds themselves."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    def accepts(self, value: object) -> bool:
        """Tell whether the value is such a number."""
        if not isinstance(value, numbers.Real) or isinstance(value, bool):
            return False
        number = float(value)
        if not math.isfinite(number) or not self.low <= number <= self.high:
            return False
        excluded_low = self.open_low and number == self.low
        return not (excluded_low or (self.open_high and number == self.high))

    def describe(self) -> str:
        """Say which numbers are allowed."""
        excluded = [
            f"{bound:g}"
            for bound, is_open in ((self.low, self.open_low), (self.high, self.open_high))
            if is_open
        ]
        suffix = f", {' and '.join(excluded)} excluded" if excluded else ""
        return "a number" + _bounds(self.low, self.high) + suffix

    def wrong_values(self) -> list[object]:
        """Make a text, not-a-number, infinity, nothing, and numbers at or beyond the bounds."""
        beyond = [
            self.low if self.open_low else self.low - 0.5,
            self.high if self.open_high else self.high + 0.5,
        ]
        return ["half", math.nan, math.inf, None, *filter(math.isfinite, beyond)]

    def json_schema(self) -> dict[str, Any]:
        """Say it as JSON Schema."""
        bounds = _json_bounds(self.low, self.high, self.open_low, self.open_high)
        return {"type": "number", **bounds}


@dataclass(frozen=True, init=False)
class Choice(Annotation):
    """One of several texts."""

    options: tuple[str, ...]

    def __init__(self, *options: str) -> None:
        object.__setattr__(self, "options", options)

    def accepts(self, value: object) -> bool:
        """Tell whether the value is one of the options."""
        return isinstance(value, str) and value in self.options

    def describe(self) -> str:
        """List the options."""
        return "one of " + ", ".join(repr(option) for option in self.options)

    def wrong_values(self) -> list[object]:
        """Make a text that is no option, a number and nothing."""
        return ["".join(self.options) + "?", 7, None]

    def json_schema(self) -> dict[str, Any]:
        """Say it as JSON Schema."""
        return {"type": "string", "enum": list(self.options)}


@dataclass(frozen=True)
class Flag(Annotation):
    """True or False."""

    def accepts(self, value: object) -> bool:
        """Tell whether the value is a Boolean."""
        return isinstance(value, bool)

    def describe(self) -> str:
        """Say it."""
        return "True or False"

    def wrong_values(self) -> list[object]:
        """Make things that are easily mistaken for a Boolean."""
        return ["yes", 1, None]

    def json_schema(self) -> dict[str, Any]:
        """Say it as JSON Schema."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class Null(Annotation):
    """None: the parameter may be left out."""

    def accepts(self, value: object) -> bool:
        """Tell whether the value is None."""
        return value is None

    def describe(self) -> str:
        """Say it."""
        return "None"

    def wrong_values(self) -> list[object]:
        """Make something that is not None."""
        return [0]

    def json_schema(self) -> dict[str, Any]:
        """Say it as JSON Schema."""
        return {"type": "null"}


@dataclass(frozen=True)
class Text(Annotation):
    """A text that is not empty."""

    def accepts(self, value: object) -> bool:
        """Tell whether the value is such a text."""
        return isinstance(value, str) and bool(value.strip())

    def describe(self) -> str:
        """Say it."""
        return "a text that is not empty"

    def wrong_values(self) -> list[object]:
        """Make a number, an empty text, a blank one and nothing."""
        return [3, "", "  ", None]

    def json_schema(self) -> dict[str, Any]:
        """Say it as JSON Schema."""
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True)
class Typed(Annotation):
    """An instance of a class, spoken of by `name`."""

    kind: type | tuple[type, ...]
    name: str

    def accepts(self, value: object) -> bool:
        """Tell whether the value is an instance."""
        return isinstance(value, self.kind)

    def describe(self) -> str:
        """Say what is expected."""
        return self.name

    def wrong_values(self) -> list[object]:
        """Make an object of no known kind."""
        return [object()]

    def json_schema(self) -> dict[str, Any]:
        """Say it as JSON Schema."""
        return {"description": self.name}


@dataclass(frozen=True, init=False)
class AnyOf(Annotation):
    """Whatever one of several constraints allows."""

    constraints: tuple[Constraint, ...]

    def __init__(self, *constraints: Constraint) -> None:
        object.__setattr__(self, "constraints", constraints)

    def accepts(self, value: object) -> bool:
        """Tell whether any of the constraints allows the value."""
        return any(constraint.accepts(value) for constraint in self.constraints)

    def describe(self) -> str:
        """Join what the constraints say."""
        return ", or ".join(constraint.describe() for constraint in self.constraints)

    def wrong_values(self) -> list[object]:
        """Make the values that every one of the constraints refuses."""
        candidates = [value for part in self.constraints for value in part.wrong_values()]
        return [value for value in candidates if not self.accepts(value)]

    def json_schema(self) -> dict[str, Any]:
        """Say it as JSON Schema."""
        parts = [one.json_schema() for one in self.constraints if not isinstance(one, Null)]
        return parts[0] if len(parts) == 1 else {"anyOf": parts}


@dataclass(frozen=True)
class ListOf(Annotation):
    """A list or tuple whose items all satisfy a constraint."""

    item: Constraint
    empty: bool = True

    def accepts(self, value: object) -> bool:
        """Tell whether the value is such a list."""
        if not isinstance(value, (list, tuple)) or not (self.empty or value):
            return False
        return all(self.item.accepts(one) for one in value)

    def describe(self) -> str:
        """Say what the items may be."""
        filled = "" if self.empty else " that is not empty"
        return f"a list{filled}, each item {self.item.describe()}"

    def wrong_values(self) -> list[object]:
        """Make a text, a number, and lists with a wrong item."""
        wrong: list[object] = ["text", 3, *([one] for one in self.item.wrong_values())]
        return wrong if self.empty else [*wrong, []]

    def json_schema(self) -> dict[str, Any]:
        """Say it as JSON Schema."""
        filled = {} if self.empty else {"minItems": 1}
        return {"type": "array", "items": self.item.json_schema(), **filled}


@dataclass(frozen=True)
class TableOf(Annotation):
    """A mapping from texts to values that all satisfy a constraint."""

    item: Constraint

    def accepts(self, value: object) -> bool:
        """Tell whether the value is such a mapping."""
        if not isinstance(value, Mapping):
            return False
        return all(isinstance(key, str) and self.item.accepts(one) for key, one in value.items())

    def describe(self) -> str:
        """Say what the values may be."""
        return f"a table of names and values, each value {self.item.describe()}"

    def wrong_values(self) -> list[object]:
        """Make a text, a list, and tables with a wrong key or a wrong value."""
        return ["text", ["a"], {1: None}, *({"a": one} for one in self.item.wrong_values())]

    def json_schema(self) -> dict[str, Any]:
        """Say it as JSON Schema."""
        return {"type": "object", "additionalProperties": self.item.json_schema()}


def _without_null(constraint: Constraint) -> Constraint:
    """A constraint without None, which a file cannot say: there a key is left out."""
    if not isinstance(constraint, AnyOf):
        return constraint
    rest = [one for one in constraint.constraints if not isinstance(one, Null)]
    return rest[0] if len(rest) == 1 else AnyOf(*rest)


def did_you_mean(value: object, options: Iterable[str]) -> str:
    """Return ' Did you mean …?' when an option is close to the value, else nothing."""
    close = difflib.get_close_matches(str(value), list(options), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _is_number_within(text: str, constraint: Constraint) -> bool:
    """Whether a text would be allowed if it were the number that it spells."""
    for kind in (int, float):
        try:
            if constraint.accepts(kind(text)):
                return True
        except ValueError:
            continue
    return False


def _percent_hint(value: object, constraint: Constraint) -> str:
    """What to write where a share was given in percent."""
    if not isinstance(value, numbers.Real) or not 1 < float(value) <= 100:
        return ""
    share = float(value) / 100
    return f" For {float(value):g} percent write {share:g}." if constraint.accepts(share) else ""


def check(name: str, value: object, constraint: Constraint) -> None:
    """Raise a ParameterError, in one sentence, unless the constraint allows the value."""
    if constraint.accepts(value):
        return
    hint = _percent_hint(value, constraint)
    if isinstance(constraint, Choice):
        hint = did_you_mean(value, constraint.options)
    if isinstance(value, str) and _is_number_within(value, constraint):
        hint = " Write it without quotes."
    shown = repr(value) if len(repr(value)) <= 60 else f"a {type(value).__name__}"
    raise ParameterError(f"{name} must be {constraint.describe()}, not {shown}.{hint}")


def checked(
    **constraints: Constraint,
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Check the named parameters of a function whenever it is called."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapper(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            bound = signature.bind(*args, **kwargs)
            for name, constraint in constraints.items():
                if name in bound.arguments:
                    check(name, bound.arguments[name], constraint)
            return function(*args, **kwargs)

        wrapper.__dict__["__constraints__"] = constraints
        return wrapper

    return decorate


def composed(name: str) -> str:
    """A name in Unicode's composed form (NFC): what looks the same is the same name.

    An accented letter is one sign or two, depending on the system that a file comes from.
    """
    return unicodedata.normalize("NFC", name)


def validate(instance: object) -> None:
    """Check every field of a dataclass whose annotation carries a constraint.

    For use in `__post_init__`, so that a method or schema column cannot exist with a parameter
    that is not allowed: ``k: Annotated[int, Integer(2)]``.
    """
    for name, constraint in constraints_of(type(instance)).items():
        check(name, getattr(instance, name), constraint)


class Declared(Brief):
    """A dataclass whose annotations say what each parameter may be and what it means.

    ``k: Annotated[int, Integer(2), "The least size of a class."]`` is its only declaration: it is
    checked when an object is made, and the text is told in plans, reports and the docstring.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        told = [f"{name}\n    {text}" for name, text in texts_of(cls).items()]
        section = "\n".join(["", "", "Parameters", "----------", *told] if told else [])
        text = inspect.cleandoc(cls.__dict__.get("__doc__") or "")
        before, examples, shown = text.partition("\n\nExamples\n")
        cls.__doc__ = before + section + examples + shown

    def __post_init__(self) -> None:
        validate(self)

    def __dir__(self) -> list[str]:
        """The parameters: what else there is, is for those who write such a class."""
        named = {"kind", "name"} & set(super().__dir__())
        return sorted(named.union(one.name for one in fields(self)))  # type: ignore[arg-type]


def texts_of(kind: type) -> dict[str, str]:
    """What the annotations of a class and its bases tell people of its parameters."""
    hints = get_type_hints(kind, include_extras=True)
    told = {
        name: [part for part in getattr(hint, "__metadata__", ()) if isinstance(part, str)]
        for name, hint in hints.items()
    }
    return {name: texts[-1] for name, texts in told.items() if texts}


def constraints_of(function: Callable[..., Any]) -> dict[str, Constraint]:
    """Return the constraints declared by `checked` on a function or by a dataclass's fields."""
    if isinstance(function, type):
        return dict(_field_constraints(function))
    return dict(getattr(function, "__constraints__", {}))


def hints_of(kind: type) -> dict[str, Any]:
    """The annotations of a class; one of several texts (`Literal`) is constrained to be one."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: _constrained(hint) for name, hint in hints.items()}


def _constrained(hint: Any) -> Any:
    base, *told = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if get_origin(base) is not Literal:
        return hint
    return Annotated[(str, Choice(*get_args(base)), *told)]


@functools.cache
def _field_constraints(kind: type) -> dict[str, Constraint]:
    hints = hints_of(kind) if is_dataclass(kind) else {}
    return {
        name: part
        for name, hint in hints.items()
        for part in getattr(hint, "__metadata__", ())
        if hasattr(part, "wrong_values")
    }
