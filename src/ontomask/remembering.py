"""Properties that are computed once, also while threads are at work side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["remembered"]

Value = TypeVar("Value")


class remembered(Generic[Value]):  # noqa: N801
    """A property that an object computes when first asked, and then has.

    As `functools.cached_property`, whose lock, before Python 3.12, is one for all objects of a
    class: threads that computed it for different objects waited for each other. Here two that ask
    the same object at once may both compute it, to the same end.

    Parameters
    ----------
    compute
        What gives the value for an object.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> remembered[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...
    def __get__(
        self, instance: object | None, owner: type | None = None
    ) -> remembered[Value] | Value:
        if instance is None:
            return self
        # next time the object's own dictionary is looked at first
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
