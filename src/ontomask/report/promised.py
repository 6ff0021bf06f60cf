"""The findings of the recount, in the words of a data steward.

`verify` states a promise as a sentence; here it is read back into what it is about. A sentence that
is not known is passed on as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ontomask.report.words import capital, listing
from ontomask.verify import Finding, Verification

__all__ = ["Kept", "Promised", "read_promises"]

CLASS_SIZE = re.compile(r"every combination of (?P<columns>.+) is shared by at least (?P<k>\d+)")
DIVERSITY = re.compile(
    r"(?P<column>.+) is (?P<kind>distinct|entropy|recursive) (?P<l>\S+)-diverse in every class"
)
CLOSENESS = re.compile(r"(?P<column>.+) is (?P<t>\S+)-close to the whole table in every class")
PERMUTATION = re.compile(r"(?P<columns>.+): the same values as in the original, each as often")
UNCHANGED = re.compile(r"(?P<columns>.+): unchanged")
COLUMNS = re.compile(r"the columns are exactly (?P<columns>.+)")
RECORDS = re.compile(r"there are (?P<records>\d+) records")
AMOUNT = re.compile(r"\d+")
AT_LEAST = re.compile(r"at (?:least|most) (?P<number>\S+)")


@dataclass(frozen=True)
class Kept:
    """A promise for people.

    Attributes
    ----------
    kind
        `group size`, `diversity`, `closeness`, `permutation`, `unchanged`, `shape` or `other`.
    badge
        The promise in two or three words.
    promise, measured
        The sentences: what was promised, what the recount found.
    kept
        Whether it is kept.
    """

    kind: str
    badge: str
    promise: str
    measured: str
    kept: bool


@dataclass(frozen=True)
class Promised:
    """What was promised and recounted; k is the promised group size, None if there is none."""

    findings: tuple[Kept, ...]
    k: int | None

    @property
    def kept(self) -> bool:
        """Whether every promise is kept."""
        return all(one.kept for one in self.findings)

    def of_kind(self, *kinds: str) -> tuple[Kept, ...]:
        """The findings of some kinds."""
        return tuple(one for one in self.findings if one.kind in kinds)


def read_promises(verification: Verification) -> Promised:
    """The findings of a verification, for people."""
    sizes = [CLASS_SIZE.fullmatch(one.promise) for one in verification.findings]
    return Promised(
        tuple(_kept(one) for one in verification.findings),
        max((int(found["k"]) for found in sizes if found), default=None),
    )


def _kept(finding: Finding) -> Kept:
    text = finding.promise
    if found := CLASS_SIZE.fullmatch(text):
        return _class_size(finding, found)
    if found := DIVERSITY.fullmatch(text):
        return _diversity(finding, found)
    if found := CLOSENESS.fullmatch(text):
        return _closeness(finding, found)
    if found := PERMUTATION.fullmatch(text):
        return _permutation(finding, found)
    if found := UNCHANGED.fullmatch(text):
        return _unchanged(finding, found)
    if COLUMNS.fullmatch(text) or RECORDS.fullmatch(text):
        return _shape(finding)
    return Kept(
        "other", "further promise", f"{capital(text)}.", capital(finding.measured), finding.kept
    )


def _class_size(finding: Finding, found: re.Match[str]) -> Kept:
    columns, smallest = _every(found), _number(finding)
    only = "," not in found["columns"]
    what = f"value of {columns}" if only else f"combination of {columns}"
    return Kept(
        "group size",
        f"{found['k']}-anonymity",
        f"Every {what} occurs at least {found['k']} times.",
        f"the smallest group has {smallest} records",
        finding.kept,
    )


def _diversity(finding: Finding, found: re.Match[str]) -> Kept:
    column, least = found["column"], found["l"]
    meanings = {
        "distinct": f"In every group, {column} has at least {least} different values.",
        "entropy": f"In every group, {column} is as mixed as {least} equally frequent values "
        "(entropy).",
        "recursive": f"In no group, {column} is dominated by its most frequent value (recursive "
        f"{least}-diversity, {finding.measured}).",
    }
    measured = {
        "distinct": f"the least varied group has {_number(finding)}",
        "entropy": f"the least mixed group reaches {_number(finding)}",
        "recursive": "every group was checked",
    }[found["kind"]]
    return Kept("diversity", f"{least}-diversity", meanings[found["kind"]], measured, finding.kept)


def _closeness(finding: Finding, found: re.Match[str]) -> Kept:
    return Kept(
        "closeness",
        f"{found['t']}-closeness",
        f"In every group, {found['column']} is distributed as in the whole table, up to a distance "
        f"of {found['t']}.",
        f"the group farthest off is at {_number(finding)}",
        finding.kept,
    )


def _permutation(finding: Finding, found: re.Match[str]) -> Kept:
    columns = _every(found)
    return Kept(
        "permutation",
        "same values",
        f"Exactly the original values, each as often as before, only with other people: {columns}.",
        "every value was counted in the original and in the release"
        if finding.kept
        else finding.measured,
        finding.kept,
    )


def _unchanged(finding: Finding, found: re.Match[str]) -> Kept:
    columns = _every(found)
    return Kept(
        "unchanged",
        "unchanged columns",
        f"Unchanged, record by record: {columns}.",
        "the unchanged columns were compared record by record"
        if finding.kept
        else finding.measured,
        finding.kept,
    )


def _shape(finding: Finding) -> Kept:
    if found := COLUMNS.fullmatch(finding.promise):
        columns = _every(found)
        promise = f"The table has these columns and no others: {columns}."
        measured = "these and no others" if finding.kept else finding.measured
    else:
        records = AMOUNT.search(finding.measured)
        measured = f"{int(records[0]):,} were counted" if records else finding.measured
        promise = f"There are {int(AMOUNT.search(finding.promise)[0]):,} records."  # type: ignore[index]
    return Kept("shape", "table as declared", promise, measured, finding.kept)


def _every(found: re.Match[str]) -> str:
    """All the columns: a promise that names only some is none."""
    columns = found["columns"].split(", ")
    return listing(columns, most=len(columns))


def _number(finding: Finding) -> str:
    found = AT_LEAST.fullmatch(finding.measured)
    return found["number"] if found else finding.measured
