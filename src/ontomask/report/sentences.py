"""The figures and words of the first screen: the verdict, the limits, what is still at risk.

What is always said in the same words stands in the templates.
"""

from __future__ import annotations

from dataclasses import dataclass

from ontomask.evaluation.linkage import LinkageRisk
from ontomask.evaluation.structure import ClassRisk
from ontomask.report.discretion import Discretion
from ontomask.report.facts import LOSS, SUPPRESSED, Account, Limit
from ontomask.report.promised import Kept
from ontomask.report.words import NAMED, capital, listing, percent, plural
from ontomask.verdict import OF_THE_TABLE, Verdict
from ontomask.wording import all_alike

__all__ = [
    "UNTOLD",
    "Badge",
    "Beyond",
    "Headline",
    "Judged",
    "badges",
    "beyond",
    "headline",
    "homogeneous",
    "judged",
    "kept",
    "linked_before",
    "promised",
    "recounted",
    "risk",
    "two_risks",
]

TONES = {
    Verdict.COVERED: ("good", "✓"),
    Verdict.UNCOVERED: ("warning", "!"),
    Verdict.BROKEN: ("bad", "✗"),
}
"""How a verdict is colored, and the mark that says the same without color."""
COUNTED_ON_RELEASE = (
    "group size",
    "wholes",
    "diversity",
    "average",
    "permutation",
    "unchanged",
    "shape",
)
"""Promises whose recount a reader can repeat on the release."""
LOCAL = ("local", "mondrian", "tuple")
MOST_DIGITS = 3
UNTOLD = "not told"


@dataclass(frozen=True)
class Headline:
    """The first words of the report; the mark says the same as the tone."""

    tone: str
    mark: str
    title: str
    text: str


@dataclass(frozen=True)
class Badge:
    """A few words with a tone; the mark says the same without color."""

    tone: str
    mark: str
    text: str


def headline(account: Account, discretion: Discretion) -> Headline:
    """The one thing to know."""
    found = account.promised
    exceeded = [one for one in judged(account, discretion) if one.exceeded]
    broken = found is not None and not found.kept
    if exceeded and not broken:
        text = "; ".join(
            f"{one.name}: {one.measured}, the plan allows {one.allowed}" for one in exceeded
        )
        title = f"{plural(len(exceeded), 'limit')} of the plan exceeded"
        rest = f" {found.judgment}" if found is not None else ""
        return Headline(*TONES[Verdict.BROKEN], title, f"{capital(text)}.{rest}")
    if found is None:
        text = "The table was masked elsewhere, and no promise was given."
        return Headline(*TONES[Verdict.UNCOVERED], "Nothing was promised", text)
    tone = TONES[found.judgment.verdict]
    if found.given_up and not broken:
        return Headline(*tone, "Given up by a later step", " ".join(found.given_up))
    return Headline(*tone, found.judgment.title, found.judgment.consequence)


def badges(account: Account, discretion: Discretion) -> tuple[Badge, ...]:
    """Promises and limits in two or three words each; green only where nothing is open."""
    found: list[Badge] = []
    if account.promised is not None:
        judgment = account.promised.judgment
        good = "good" if judgment.verdict is Verdict.COVERED else "plain"
        found += [Badge("bad", "✗", "promise given up") for _ in account.promised.given_up]
        found += [
            Badge(good, "✓", f"{one.badge} kept")
            if one.kept
            else Badge("bad", "✗", f"{one.badge} NOT kept")
            for one in account.promised.findings
            if one.kind != "shape" or not one.kept
        ]
        if judgment.uncovered:
            columns = plural(len(judgment.uncovered), "column")
            found.append(Badge("warning", "!", f"{columns} not covered"))
    found += [_limit_badge(one) for one in judged(account, discretion)]
    return tuple(dict.fromkeys(found))


def promised(account: Account) -> dict[str, list[str]]:
    """What was promised, by whom it was promised against."""
    groups: dict[str, list[str]] = {}
    for one in account.promised.findings if account.promised is not None else ():
        if one.against != OF_THE_TABLE:
            groups.setdefault(one.against, []).append(one.promise)
    return groups


def recounted(finding: Kept, discretion: Discretion) -> str:
    """What the recount found; figures that compare with the original table are internal.

    They are measured against all its records, so those left out could be told from them.
    """
    if discretion.internal or finding.kind in COUNTED_ON_RELEASE:
        return finding.measured
    return "every group was compared" if finding.kept else "not in every group"


def kept(account: Account, discretion: Discretion) -> list[str]:
    """Whether it is kept."""
    if account.promised is None:
        return ["There was nothing to recount."]
    told = [
        f"{'Kept' if one.kept else 'NOT KEPT'}: {recounted(one, discretion)}."
        for one in account.promised.findings
        if one.kind != "shape"
    ]
    shapes = account.promised.of_kind("shape")
    if shapes and all(one.kept for one in shapes):
        told.append(
            f"The table has exactly its {plural(len(account.published), 'declared column')} and "
            f"{plural(account.records, 'record')}."
        )
    return [*told, *(f"NOT KEPT: {one.promise}" for one in shapes if not one.kept)]


# Limits of the plan ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """A limit in words; `exceeded` is None where the answer would tell of a few records."""

    name: str
    measured: str
    allowed: str
    exceeded: bool | None


def judged(account: Account, discretion: Discretion) -> tuple[Judged, ...]:
    """All limits of the plan, as exactly as the reader may know what was measured."""
    return tuple(_judged(one, account, discretion) for one in account.limits)


def _limit_badge(limit: Judged) -> Badge:
    if limit.exceeded is None:
        return Badge("plain", "–", f"{limit.name}: not told here")
    if limit.exceeded:
        return Badge("bad", "✗", f"{limit.name} above the limit")
    return Badge("plain", "✓", f"{limit.name} within the limit")


def _judged(limit: Limit, account: Account, discretion: Discretion) -> Judged:
    allowed = f"{100 * limit.allowed:.3g}%"
    if not discretion.internal and limit.name == LOSS and _hides_loss(account):
        return Judged(limit.name, UNTOLD, allowed, None)
    if discretion.internal or account.left_out is None or limit.name not in (LOSS, SUPPRESSED):
        return Judged(limit.name, _measured(limit, account, discretion), allowed, limit.exceeded)
    ends = [_at(limit.name, account, count) for count in account.left_out]
    exceeded = {end > limit.allowed for end in ends}
    texts = dict.fromkeys(percent(end, 1) for end in sorted(ends))
    measured = " to ".join(texts)
    if limit.name == SUPPRESSED:
        stars = account.evaluation.released.starred
        measured = discretion.size(account.left_out[0])
        measured += f", and {discretion.size(stars)} starred" if stars else ""
    return Judged(limit.name, measured, allowed, exceeded.pop() if len(exceeded) == 1 else None)


def _hides_loss(account: Account) -> bool:
    """Whether few records make up the loss, or it is not known what those left out weighed."""
    return account.few_changed or (account.weighted and account.left_out is not None)


def _at(name: str, account: Account, count: int) -> float:
    """What would be measured if so many records had been left out.

    Both figures grow, or both fall, with the count, so the ends of a range say enough.
    """
    loss = account.evaluation.released
    if name == SUPPRESSED:
        return (count + loss.starred) / (account.records + count)
    return (loss.loss * loss.sst + count) / max(loss.sst + count, 1e-300)


def _measured(limit: Limit, account: Account, discretion: Discretion) -> str:
    if limit.name == SUPPRESSED:
        return discretion.share(limit.measured, account.original_records)
    digits = 1 if limit.name == LOSS else 0
    while digits < MOST_DIGITS and _hides_verdict(limit, digits):
        digits += 1
    return percent(limit.measured, digits)


def _hides_verdict(limit: Limit, digits: int) -> bool:
    """Whether the rounded figure would be on the other side of the limit."""
    return (round(limit.measured, digits + 2) > round(limit.allowed, 12)) != limit.exceeded


# What is still at risk ------------------------------------------------------------------------


def risk(account: Account, discretion: Discretion) -> list[str]:
    """What an intruder who knows the quasi-identifiers still finds."""
    if not account.quasi:
        return ["No column is said to be known to an intruder, so no risk could be measured."]
    worst = _worst(account)
    linked = [_linkage(account, worst, discretion)] if worst else []
    alike = [all_alike(account.quasi)] if account.evaluation.risk_after.classes == 1 else []
    return [*alike, _uniques(account, discretion), *linked]


def _worst(account: Account) -> LinkageRisk | None:
    return max(account.evaluation.linkage, key=lambda one: one.risk, default=None)


def two_risks(account: Account) -> tuple[str, str] | None:
    """The highest risk and the linked records of 100, where both say something."""
    after, worst = account.evaluation.risk_after, _worst(account)
    if worst is None or after.smallest_class < 2:
        return None
    return percent(after.highest_risk), cases(worst.risk)


def _uniques(account: Account, discretion: Discretion) -> str:
    before, after = account.evaluation.risk_before, account.evaluation.risk_after
    known = listing(account.quasi)
    if len(account.quasi) > NAMED:
        known = f"their {len(account.quasi)} quasi-identifiers"
    old = discretion.of_groups(before, after).share(before.uniques, account.records)
    new = "none" if after.uniques == 0 else percent(after.uniques)
    whom = "Records" if after.persons is None else "Persons"
    return f"{whom} that are unique by {known}: {old} before, {new} after."


def linked_before(account: Account, discretion: Discretion) -> tuple[float, str]:
    """How many original records are linked correctly to themselves: in percent, and in words."""
    before, after = account.evaluation.risk_before, account.evaluation.risk_after
    careful, share = discretion.of_groups(before, after), before.average_risk
    drawn = careful.drawn(share, account.records) or 0.0
    return drawn, careful.percent(share, account.records)


def _linkage(account: Account, worst: LinkageRisk, discretion: Discretion) -> str:
    before = _cases(linked_before(account, discretion)[1])
    return (
        f"An intruder who knows {'it' if len(account.quasi) == 1 else 'them'} and looks for the "
        f"most similar records would find the right one in {cases(worst.risk)} of 100 cases "
        f"({before} before masking, {cases(worst.chance)} by mere chance)."
    )


def cases(risk: float) -> str:
    """A risk as a number of cases out of 100."""
    return _cases(percent(risk))


def _cases(percentage: str) -> str:
    return percentage.replace("less", "fewer").rstrip("%")


@dataclass(frozen=True)
class Beyond:
    """What no promise covers, as far as it applies to the release.

    Attributes
    ----------
    unchanged
        Whom the columns published as they are single out, in a sentence.
    homogeneous
        Sensitive columns with the share of records in whose groups all have the same value.
    local
        Whether records were generalized differently.
    minimal
        Whether no more was generalized than a promise about sensitive values needs.
    ordered
        Whether the records keep their order.
    wholes
        Whether persons are protected with all their records, which may be joined.
    """

    unchanged: str
    homogeneous: tuple[tuple[str, str], ...]
    local: bool
    minimal: bool
    ordered: bool
    wholes: bool


def beyond(account: Account) -> Beyond:
    """What no promise covers; all of it can be seen in the release or is no figure."""
    generalized = [step for step in account.steps if step.name == "generalization"]
    searches = [
        one.full for step in generalized for one in step.parameters if one.name == "algorithm"
    ]
    about_values = account.promised is not None and account.promised.of_kind(
        "diversity", "closeness"
    )
    return Beyond(
        unchanged=str(account.evaluation.unchanged),
        homogeneous=homogeneous(account.evaluation.risk_after),
        local=any(one in LOCAL for one in searches),
        minimal=bool(generalized and about_values),
        ordered=account.shuffled is False,
        wholes=account.promised is not None and bool(account.promised.of_kind("wholes")),
    )


def homogeneous(risk: ClassRisk) -> tuple[tuple[str, str], ...]:
    """Sensitive columns with the share of records in whose groups all have the same value."""
    return tuple(
        (one.column, percent(one.homogeneous))
        for one in risk.sensitive
        if one.homogeneous and risk.smallest_class > 1  # one record says nothing of others
    )
