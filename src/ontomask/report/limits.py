"""The limits of a plan, judged as exactly as the reader may know what was measured."""

from __future__ import annotations

from dataclasses import dataclass

from ontomask.report.discretion import Discretion
from ontomask.report.facts import LOSS, SUPPRESSED, Account, Limit
from ontomask.report.words import percent

__all__ = ["UNTOLD", "Judged", "judged"]

MOST_DIGITS = 3
UNTOLD = "not told"


@dataclass(frozen=True)
class Judged:
    """A limit in words; `exceeded` is None where the answer would tell of a few records."""

    name: str
    measured: str
    allowed: str
    exceeded: bool | None


def judged(account: Account, discretion: Discretion) -> tuple[Judged, ...]:
    """All limits of the plan."""
    return tuple(_judged(one, account, discretion) for one in account.limits)


def _judged(limit: Limit, account: Account, discretion: Discretion) -> Judged:
    allowed = f"{limit.allowed:.3g}{limit.unit}"
    if not discretion.internal and limit.name == LOSS and _hides_loss(account):
        return Judged(limit.name, UNTOLD, allowed, None)
    if discretion.internal or account.left_out is None or limit.name not in (LOSS, SUPPRESSED):
        return Judged(limit.name, _measured(limit, account, discretion), allowed, limit.exceeded)
    ends = [_at(limit.name, account, count) for count in account.left_out]
    exceeded = {end > limit.allowed for end in ends}
    texts = dict.fromkeys(percent(end / 100.0, 1) for end in sorted(ends))
    measured = " to ".join(texts)
    if limit.name == SUPPRESSED:
        measured = discretion.size(account.left_out[0])
    return Judged(limit.name, measured, allowed, exceeded.pop() if len(exceeded) == 1 else None)


def _hides_loss(account: Account) -> bool:
    """Whether few records make up the loss, or it is not known what those left out weighed."""
    return account.few_changed or (account.weighted and account.left_out is not None)


def _at(name: str, account: Account, count: int) -> float:
    """What would be measured, in percent, if so many records had been left out.

    Both figures grow, or both fall, with the count, so the ends of a range say enough.
    """
    if name == SUPPRESSED:
        return 100.0 * count / (account.records + count)
    loss = account.evaluation.released
    return 100.0 * (loss.sse + count) / max(loss.sst + count, 1e-300)


def _measured(limit: Limit, account: Account, discretion: Discretion) -> str:
    if limit.name == SUPPRESSED:
        return discretion.share(limit.measured / 100.0, account.original_records)
    digits = 1 if limit.name == LOSS else 0
    while digits < MOST_DIGITS and _hides_verdict(limit, digits):
        digits += 1
    return percent(limit.measured / 100.0, digits)


def _hides_verdict(limit: Limit, digits: int) -> bool:
    """Whether the rounded figure would be on the other side of the limit."""
    return (round(limit.measured, digits) > limit.allowed) != limit.exceeded
