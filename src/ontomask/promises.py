"""What a release promises, as plain data that `verify` can recount without the methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

__all__ = ["ClassSize", "Closeness", "Diversity", "Permutation", "Promise", "Unchanged"]


@dataclass(frozen=True)
class Promise:
    """A statement about the columns of a release."""

    columns: tuple[str, ...]

    def renamed(self, names: Mapping[str, str]) -> Self:
        """The same statement about columns with other names."""
        sensitive = getattr(self, "sensitive", None)
        others = {} if sensitive is None else {"sensitive": names[sensitive]}
        return replace(self, columns=tuple(names[name] for name in self.columns), **others)

    def describe(self) -> str:
        """Say it to a person."""
        return f"something about {', '.join(self.columns)}"


@dataclass(frozen=True)
class ClassSize(Promise):
    """Every combination of values that occurs in the columns stands for at least k people."""

    k: int

    def describe(self) -> str:
        """Say it to a person."""
        return f"every combination of {', '.join(self.columns)} is shared by at least {self.k}"


@dataclass(frozen=True)
class Diversity(Promise):
    """Every class of the columns has at least l well-represented values of a sensitive column.

    `kind` is `distinct` (so many different values), `entropy` (entropy of at least ln l) or
    `recursive` (the most frequent value occurs less than c times as often as the l-th and rarer
    ones together).
    """

    sensitive: str
    l: float  # noqa: E741 - the literature's name
    kind: str = "distinct"
    c: float = 1.0

    def describe(self) -> str:
        """Say it to a person."""
        return f"{self.sensitive} is {self.kind} {self.l:g}-diverse in every class"


@dataclass(frozen=True)
class Closeness(Promise):
    """In every class of the columns a sensitive column is distributed nearly as in the whole table.

    The distance, half the sum of the absolute differences of the shares, is at most t. `counts`
    holds the values of the whole table, suppressed records included, with their frequencies.
    """

    sensitive: str
    t: float
    counts: tuple[tuple[object, float], ...]

    def describe(self) -> str:
        """Say it to a person."""
        return f"{self.sensitive} is {self.t:g}-close to the whole table in every class"


@dataclass(frozen=True)
class Permutation(Promise):
    """Each of the columns holds exactly the values of the original, with their frequencies."""

    def describe(self) -> str:
        """Say it to a person."""
        return f"{', '.join(self.columns)}: the same values as in the original, each as often"


@dataclass(frozen=True)
class Unchanged(Promise):
    """The columns are as they were, record by record."""

    def describe(self) -> str:
        """Say it to a person."""
        return f"{', '.join(self.columns)}: unchanged"
