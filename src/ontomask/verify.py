"""Recount what a release promises, with code that shares nothing with the methods.

Columns are taken as plain Python values and counted with dictionaries: slow, short, and without
the methods' arrays, so that an error there cannot hide here.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ontomask.data.tables import open_table
from ontomask.errors import PromiseError
from ontomask.promises import (
    ClassSize,
    Closeness,
    Diversity,
    Permutation,
    Promise,
    Unchanged,
)

__all__ = ["Finding", "Verification", "verify"]

Columns = Mapping[str, Sequence[object]]

ROUNDING = 1e-9
DEFECT = "This is a defect of the method: please report it."


@dataclass(frozen=True)
class Finding:
    """One promise, what was measured, and whether it is kept."""

    promise: str
    measured: str
    kept: bool

    def __str__(self) -> str:
        return f"{'kept' if self.kept else 'NOT KEPT'}: {self.promise} ({self.measured})"


@dataclass(frozen=True)
class Verification:
    """All findings about a release."""

    findings: tuple[Finding, ...]

    @property
    def kept(self) -> bool:
        """Whether every promise is kept."""
        return all(finding.kept for finding in self.findings)

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)

    def require(self, hint: str = DEFECT) -> Verification:
        """Return itself, or raise with what was measured and a hint."""
        broken = [finding for finding in self.findings if not finding.kept]
        if broken:
            raise PromiseError(
                "The release does not keep its promise and is withheld: "
                + "; ".join(f"{one.promise} ({one.measured})" for one in broken)
                + f". {hint}"
            )
        return self


def verify(
    frame: object,
    promises: Sequence[Promise],
    *,
    published: Sequence[str],
    records: int,
    weights: Sequence[float] | None = None,
    original: Columns | None = None,
) -> Verification:
    """Recount the promises on a frame.

    Parameters
    ----------
    frame
        The release, as it is handed out or read back from its file.
    promises
        What the methods claim.
    published
        The columns the release must have, in order, and no others.
    records
        How many records it must have.
    weights
        How many people each record stands for, one each by default.
    original
        The columns before masking, for promises that compare with them.
    """
    table = open_table(frame)
    findings = [_columns(table.names, tuple(published)), _records(len(table), records)]
    if all(finding.kept for finding in findings):
        columns = {name: [_plain(value) for value in table.column(name)] for name in table.names}
        before = {
            name: [_plain(value) for value in values] for name, values in (original or {}).items()
        }
        people = list(weights) if weights is not None else [1.0] * len(table)
        findings += [_finding(promise, columns, before, people) for promise in promises]
    return Verification(tuple(findings))


def _plain(value: object) -> object:
    """Make all kinds of missing values equal to each other."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if isinstance(value, float) and value != value else value


def _columns(found: tuple[str, ...], published: tuple[str, ...]) -> Finding:
    return Finding(
        f"the columns are exactly {', '.join(published)}",
        "they are" if found == published else f"found {', '.join(found)}",
        found == published,
    )


def _records(found: int, expected: int) -> Finding:
    return Finding(f"there are {expected} records", f"found {found}", found == expected)


def _finding(promise: Promise, columns: Columns, before: Columns, people: list[float]) -> Finding:
    if isinstance(promise, ClassSize):
        smallest = _smallest_class([columns[name] for name in promise.columns], people)
        return Finding(promise.describe(), f"at least {smallest:g}", smallest >= promise.k)
    if isinstance(promise, Diversity):
        return _diversity(promise, columns, people)
    if isinstance(promise, Closeness):
        return _closeness(promise, columns, people)
    if isinstance(promise, Permutation):
        return _compared(promise, columns, before, _moved_values)
    if isinstance(promise, Unchanged):
        return _compared(promise, columns, before, _changed_records)
    raise PromiseError(f"There is no way to recount a {type(promise).__name__}.")


def _smallest_class(columns: Sequence[Sequence[object]], people: list[float]) -> float:
    sizes: defaultdict[tuple[object, ...], float] = defaultdict(float)
    for combination, count in zip(zip(*columns, strict=True), people, strict=True):
        sizes[combination] += count
    return min(sizes.values())


def _sensitive_classes(
    columns: Columns, names: Sequence[str], sensitive: str, people: list[float]
) -> list[dict[object, float]]:
    """For each class, how many people have which sensitive value."""
    classes: defaultdict[tuple[object, ...], dict[object, float]] = defaultdict(dict)
    rows = zip(*(columns[name] for name in names), strict=True)
    for row, value, count in zip(rows, columns[sensitive], people, strict=True):
        counts = classes[row]
        counts[value] = counts.get(value, 0.0) + count
    return list(classes.values())


def _diversity(promise: Diversity, columns: Columns, people: list[float]) -> Finding:
    classes = _sensitive_classes(columns, promise.columns, promise.sensitive, people)
    if promise.kind == "recursive":
        kept = all(_is_recursive(one, promise.l, promise.c) for one in classes)
        return Finding(promise.describe(), f"with c = {promise.c:g}", kept)
    if promise.kind == "entropy":
        least = min(math.exp(_entropy(one)) for one in classes)
    else:
        least = float(min(len(one) for one in classes))
    return Finding(promise.describe(), f"at least {least:.4g}", least >= promise.l - ROUNDING)


def _entropy(counts: Mapping[object, float]) -> float:
    total = sum(counts.values())
    return -sum(count / total * math.log(count / total) for count in counts.values())


def _is_recursive(counts: Mapping[object, float], diversity: float, factor: float) -> bool:
    ranked = sorted(counts.values(), reverse=True)
    return ranked[0] < factor * sum(ranked[math.ceil(diversity) - 1 :])


def _closeness(promise: Closeness, columns: Columns, people: list[float]) -> Finding:
    everyone = sum(count for _, count in promise.counts)
    shares = {_plain(value): count / everyone for value, count in promise.counts}
    largest = 0.0
    for one in _sensitive_classes(columns, promise.columns, promise.sensitive, people):
        total = sum(one.values())
        values = set(one) | set(shares)
        apart = sum(abs(one.get(v, 0.0) / total - shares.get(v, 0.0)) for v in values) / 2.0
        largest = max(largest, apart)
    kept = largest <= promise.t + ROUNDING
    return Finding(promise.describe(), f"at most {largest:.4g}", kept)


def _compared(
    promise: Promise,
    columns: Columns,
    before: Columns,
    differing: Callable[[Sequence[object], Sequence[object]], int],
) -> Finding:
    wrong = {name: differing(before[name], columns[name]) for name in promise.columns}
    total = sum(wrong.values())
    measured = "all of them" if not total else f"not in {total} values"
    return Finding(promise.describe(), measured, not total)


def _moved_values(before: Sequence[object], after: Sequence[object]) -> int:
    difference = Counter(before)
    difference.subtract(Counter(after))
    return sum(abs(count) for count in difference.values())


def _changed_records(before: Sequence[object], after: Sequence[object]) -> int:
    return sum(one != other for one, other in zip(before, after, strict=True))
