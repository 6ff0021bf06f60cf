"""What a recount found: one finding for each promise, and all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ontomask.brevity import Brief, abridged
from ontomask.data.seen import Seen
from ontomask.errors import PromiseError
from ontomask.promises import ClassSize, Promise

__all__ = ["DEFECT", "Claim", "Failing", "Finding", "Verification"]

DEFECT = "This is a defect of the method: please report it."


class Failing(NamedTuple):
    """How many classes do not satisfy what was promised of each, and the records in them."""

    classes: int
    records: int


@dataclass(frozen=True)
class Finding(Brief):
    """One promise, what was measured, and whether it is kept.

    Attributes
    ----------
    promise
        The statement that was recounted.
    kept
        Whether it holds.
    figure
        What was counted: the smallest class, the largest distance, the number of differing values.
    measured
        The same in words.
    failing
        The classes in which it does not hold; None where it is no statement about single classes.
    """

    promise: Promise
    kept: bool
    figure: float
    measured: str
    failing: Failing | None = None

    def __str__(self) -> str:
        return f"{'kept' if self.kept else 'NOT KEPT'}: {self.statement}"

    @property
    def statement(self) -> str:
        """The promise and what was measured, in words."""
        return f"{self.promise.describe()} ({self.measured})"


@dataclass(frozen=True)
class Verification(Brief):
    """All findings about a release; `given_up` are promises that a later step meant to undo."""

    findings: tuple[Finding, ...]
    given_up: tuple[Promise, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether every promise is kept."""
        return all(finding.kept for finding in self.findings)

    @property
    def k(self) -> int | None:
        """The largest class size that is promised; None if none is."""
        return max(
            (one.promise.k for one in self.findings if isinstance(one.promise, ClassSize)),
            default=None,
        )

    def __str__(self) -> str:
        lost = [f"given up: {one.describe()}" for one in self.given_up]
        told = [*lost, *(str(finding) for finding in self.findings)]
        return abridged(told, "verification.findings has them all")

    def require(self, hint: str = DEFECT) -> Verification:
        """Return itself, or raise with what was measured and a hint."""
        broken = [finding for finding in self.findings if not finding.kept]
        if broken:
            raise PromiseError(
                "The release does not keep its promise and is withheld: "
                + "; ".join(one.statement for one in broken)
                + f". {hint}"
            )
        return self


@dataclass(frozen=True, eq=False)
class Claim:
    """A promise, with the columns that it is compared with: what they were before it was made."""

    promise: Promise
    before: Mapping[str, Seen] = field(default_factory=dict)
