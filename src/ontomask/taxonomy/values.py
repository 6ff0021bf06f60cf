"""Values of a column as taxonomies and hierarchies are built from them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from ontomask.errors import ParameterError

__all__ = ["distinct_values", "finite_number", "is_missing", "shown_number"]


def distinct_values(values: Iterable[object]) -> list[object]:
    """Return the values that are not missing, each once, in their order."""
    if isinstance(values, str):
        raise ParameterError(f"values must be a sequence of values, not the text {values!r}.")
    return [value for value in dict.fromkeys(values) if not is_missing(value)]


def is_missing(value: object) -> bool:
    """Tell None, NaN (the only thing unlike itself) and blank texts."""
    try:
        return value is None or bool(value != value) or not str(value).strip()
    except TypeError:  # some libraries' missing value refuses to be compared
        return True


def finite_number(value: object) -> Decimal:
    """Read a number exactly as it is written."""
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if isinstance(value, bool) or not number.is_finite():
        raise ParameterError(
            f"values must be finite numbers, not {value!r}; convert or remove it first."
        )
    return number


def shown_number(number: Decimal) -> str:
    """Write a number without exponent and without trailing zeros."""
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
