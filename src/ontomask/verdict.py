"""What a release promises, against whom, and whether that covers everything it publishes.

A kept promise is not safety: it holds against an intruder who knows the columns that it names, and
says nothing of other columns that are published. So there are three verdicts, not two.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ontomask.brevity import Brief
from ontomask.findings import Finding, Verification
from ontomask.promises import Promise, Published, SensitivePromise
from ontomask.wording import enumerated, plural

__all__ = ["Judgment", "Verdict", "against", "judge"]

OF_THE_TABLE = "of the table"


class Verdict(enum.Enum):
    """What can be said of a release that was recounted."""

    COVERED = "kept and covered"
    UNCOVERED = "kept, but not covered"
    BROKEN = "not kept"


@dataclass(frozen=True)
class Judgment(Brief):
    """The verdict on a release.

    Attributes
    ----------
    verdict
        One of the three.
    promised
        The findings with what each is promised against; those about the table come last.
    known
        What the intruder is taken to know; None where nothing is promised against anyone.
    uncovered
        The published columns that no promise against an intruder speaks of.
    learned
        The sensitive columns of which it is promised that they are not learned: whoever knows them
        already can use them as well.
    uncounted
        Whether something is promised against an intruder that could not be counted.
    """

    verdict: Verdict
    promised: tuple[tuple[str, Finding], ...]
    known: tuple[str, ...] | None
    uncovered: tuple[str, ...]
    uncounted: bool = False
    learned: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.title}. {self.consequence}"

    @property
    def title(self) -> str:
        """The verdict in a few words."""
        if self.verdict is Verdict.BROKEN:
            return "A promise is not kept"
        if self.known is None and self.uncounted:
            return "What is promised against an intruder was not counted"
        if self.known is None:
            return "Kept, but nothing is promised against an intruder"
        if self.uncovered:
            columns = plural(len(self.uncovered), "published column")
            return f"Kept, but {columns} {'is' if len(self.uncovered) == 1 else 'are'} not covered"
        return "Kept, and every published column is covered"

    @property
    def consequence(self) -> str:
        """What follows from it."""
        if self.verdict is Verdict.BROKEN:
            return "Do not publish this table."
        if self.known is None and self.uncounted:
            return "That takes the original: ontomask verify FOLDER --original TABLE."
        if self.uncovered:
            them = "it" if len(self.uncovered) == 1 else "them"
            return (
                f"No promise holds against those who know {_every(self.uncovered)} of a "
                f"person: they can use {them} to find the record.{self._already_known()}"
            )
        known = _every(self.known or ("that the person is in the table",))
        return f"That holds against an intruder who knows no more of a person than {known}."

    def _already_known(self) -> str:
        """What a promise about sensitive columns does not say, where others are uncovered, too."""
        if not self.learned:
            return ""
        return (
            f" So can those who already know {_every(self.learned)}: of what is sensitive it is "
            "promised that it is not learned."
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "verdict": self.verdict.value,
            "says": str(self),
            "promised": [
                {"against": known, "statement": finding.statement, "kept": finding.kept}
                for known, finding in self.promised
            ],
            "uncovered": list(self.uncovered),
        }


def against(promise: Promise) -> str:
    """Whom a promise is made against, or that it is made of the table only."""
    return f"against {promise.intruder}" if promise.intruder else OF_THE_TABLE


def _every(columns: Sequence[str]) -> str:
    """All the columns: a promise that names only some is none."""
    return enumerated(columns, most=len(columns))


def judge(
    verification: Verification,
    published: Sequence[str] | None = None,
    uncounted: Sequence[Promise] = (),
) -> Judgment:
    """Judge what was recounted.

    Parameters
    ----------
    verification
        The findings.
    published
        The columns that should be covered; by default all that the table is said to have.
    uncounted
        What was promised too, but could not be counted with the files at hand.
    """
    promises = [finding.promise for finding in verification.findings]
    guards = [one for one in promises if one.covers]
    if published is None:
        published = [name for one in promises if isinstance(one, Published) for name in one.columns]
    known = max((one.columns for one in guards), key=len, default=None)
    # two promises about different columns do not hold against those who know both, so only the one
    # that names most counts; sensitive columns add to it, since they are what is not to be learned
    learned = [one.sensitive for one in guards if isinstance(one, SensitivePromise)]
    covered = {*(known or ()), *learned}
    uncovered = tuple(name for name in published if name not in covered)
    if not verification.kept or verification.given_up:
        verdict = Verdict.BROKEN
    else:
        verdict = Verdict.COVERED if guards and not uncovered else Verdict.UNCOVERED
    pairs = ((against(finding.promise), finding) for finding in verification.findings)
    ordered = sorted(pairs, key=lambda pair: pair[0] == OF_THE_TABLE)
    seen = tuple(name for name in dict.fromkeys(learned) if name in published)
    untold = any(promise.covers for promise in uncounted)
    return Judgment(verdict, tuple(ordered), known, uncovered, untold, seen)
