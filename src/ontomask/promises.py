"""What a release promises, as plain data that `verify` can recount without the methods."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ClassSize", "Permutation", "Promise", "Unchanged"]


@dataclass(frozen=True)
class Promise:
    """A statement about the columns of a release."""

    columns: tuple[str, ...]

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
