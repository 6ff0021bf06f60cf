"""The first screen: what was promised, whether it is kept, what is still at risk."""

from __future__ import annotations

from dataclasses import dataclass

from ontomask.evaluation.linkage import LinkageRisk
from ontomask.report.discretion import Discretion
from ontomask.report.facts import Account
from ontomask.report.limits import Judged, judged
from ontomask.report.promised import Kept
from ontomask.report.words import NAMED, capital, listing, percent, plural

__all__ = [
    "Badge",
    "Verdict",
    "badges",
    "kept",
    "linked_before",
    "promised",
    "recounted",
    "risk",
    "two_risks",
    "verdict",
]

GUARANTEES = ("group size", "diversity", "closeness", "population", "average", "other")
COUNTED_ON_RELEASE = ("group size", "diversity", "average", "permutation", "unchanged", "shape")
"""Promises whose recount a reader can repeat on the release."""
NO_ANONYMITY = (
    "The method does not form groups of equal records, so there is no guarantee of k-anonymity. "
    "How many records an intruder would link correctly is the measure of the risk."
)
ORDERED = (
    "The records keep their order: whoever knows how the original is sorted, or has another table "
    "in the same order, can tell which record is whose (shuffle = true in the plan prevents this)."
)
LOCAL = ("local", "mondrian", "tuple")
DOWNCODED = (
    "Records were generalized differently: whoever knows how that is done can narrow some of the "
    "values down (threats.md#downcoding in the documentation)."
)
BEYOND = (
    "No promise covers another release of the same people, several records of one person, or what "
    "an intruder knows besides the quasi-identifiers (threats.md in the documentation)."
)
GIVEN_UP = "Given up by a later step"
NOTHING = "Nothing was promised: the table was masked elsewhere, and no promise was given."


@dataclass(frozen=True)
class Verdict:
    """The first words of the report; `tone` is `good`, `bad` or `plain`."""

    tone: str
    title: str
    text: str


@dataclass(frozen=True)
class Badge:
    """A few words with a tone; the mark says the same without color."""

    tone: str
    mark: str
    text: str


def verdict(account: Account, discretion: Discretion) -> Verdict:
    """The one thing to know."""
    exceeded = [one for one in judged(account, discretion) if one.exceeded]
    if account.promised is not None and not account.promised.kept:
        return Verdict("bad", "A promise is not kept", "Do not publish this table.")
    if exceeded:
        which = " limit" if len(exceeded) == 1 else " limits"
        text = "; ".join(
            f"{one.name}: {one.measured}, the plan allows {one.allowed}" for one in exceeded
        )
        return Verdict("bad", f"{len(exceeded)}{which} of the plan exceeded", f"{capital(text)}.")
    if account.promised is None:
        return Verdict("plain", "No promise to check", NOTHING)
    if account.promised.given_up:
        return Verdict("bad", GIVEN_UP, " ".join(account.promised.given_up))
    if not account.promised.of_kind(*GUARANTEES):
        return Verdict("plain", "Kept, but no anonymity is promised", NO_ANONYMITY)
    return Verdict(
        "good",
        "Every promise is kept",
        "Recounted on the released table by code that shares nothing with the method.",
    )


def badges(account: Account, discretion: Discretion) -> tuple[Badge, ...]:
    """Promises and limits in two or three words each."""
    found: list[Badge] = []
    if account.promised is not None:
        found += [Badge("bad", "✗", "promise given up") for _ in account.promised.given_up]
        found += [
            Badge("good", "✓", f"{one.badge} kept")
            if one.kept
            else Badge("bad", "✗", f"{one.badge} NOT kept")
            for one in account.promised.findings
            if one.kind != "shape" or not one.kept
        ]
        if not account.promised.of_kind(*GUARANTEES):
            found.append(Badge("plain", "!", "no k-anonymity"))
    found += [_limit_badge(one) for one in judged(account, discretion)]
    return tuple(dict.fromkeys(found))


def _limit_badge(limit: Judged) -> Badge:
    if limit.exceeded is None:
        return Badge("plain", "–", f"{limit.name}: not told here")
    if limit.exceeded:
        return Badge("bad", "✗", f"{limit.name} above the limit")
    return Badge("good", "✓", f"{limit.name} within the limit")


def promised(account: Account) -> list[str]:
    """What was promised."""
    if account.promised is None:
        return [NOTHING]
    sentences = [f"{GIVEN_UP}: {one}" for one in account.promised.given_up]
    sentences += [one.promise for one in account.promised.findings if one.kind != "shape"]
    if not account.promised.of_kind(*GUARANTEES):
        sentences.insert(len(account.promised.given_up), "No k-anonymity is promised.")
    identifiers = [name for name, kind in account.removed if kind == "identifier"]
    if identifiers:
        sentences.append(f"Left out, since they name people: {listing(identifiers)}.")
    return sentences


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


# What is still at risk ------------------------------------------------------------------------


def risk(account: Account, discretion: Discretion) -> list[str]:
    """What is still at risk."""
    ordered = [ORDERED] if account.shuffled is False else []
    if not account.quasi:
        unknown = "No column is said to be known to an intruder, so no risk could be measured."
        return [unknown, *ordered]
    sentences = [_uniques(account, discretion)]
    if worst := _worst(account):
        sentences.append(_linkage(account, worst, discretion))
    beyond = [*_published_as_is(account), *ordered, *_downcoded(account), BEYOND]
    return [*sentences, *_homogeneous(account), *beyond]


def _worst(account: Account) -> LinkageRisk | None:
    return max(account.evaluation.linkage, key=lambda one: one.risk, default=None)


def two_risks(account: Account) -> str:
    """Why the highest risk and the share of linked records are different figures."""
    after, worst = account.evaluation.risk_after, _worst(account)
    if worst is None or after.smallest_class < 2:
        return ""
    return (
        f"Two figures, two questions: the highest risk, {percent(after.highest_risk)}, is the most "
        "that anyone can conclude from the size of a group. That "
        f"{cases(worst.risk)} of 100 records are linked correctly is what an attack by similarity "
        "found on this table."
    )


def _uniques(account: Account, discretion: Discretion) -> str:
    before, after = account.evaluation.risk_before, account.evaluation.risk_after
    known = listing(account.quasi)
    if len(account.quasi) > NAMED:
        known = f"their {len(account.quasi)} quasi-identifiers"
    old = discretion.of_groups(before, after).share(before.uniques, account.records)
    new = "none" if after.uniques == 0 else percent(after.uniques)
    return f"Records that are unique by {known}: {old} before, {new} after."


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
    """A percentage as a number of cases out of 100."""
    return _cases(percent(risk / 100.0))


def _cases(percentage: str) -> str:
    return percentage.replace("less", "fewer").rstrip("%")


def _homogeneous(account: Account) -> list[str]:
    after = account.evaluation.risk_after
    columns = [one.column for one in after.sensitive if one.distinct_l <= 1]
    if not columns or after.smallest_class < 2:  # a group of one says nothing about others
        return []
    return [
        f"In some group all records have the same {listing(columns, last='or')}: whoever knows "
        "that a person is in it learns the value."
    ]


def _downcoded(account: Account) -> list[str]:
    local = [
        one
        for step in account.steps
        for one in step.parameters
        if one.name == "search" and one.full in LOCAL
    ]
    return [DOWNCODED] if local else []


def _published_as_is(account: Account) -> list[str]:
    names = [one.name for one in account.columns if one.role != "quasi" and not one.changed]
    if not names:
        return []
    them = "it" if len(names) == 1 else "them"
    return [
        f"Published unchanged: {listing(names)}. Whoever knows {them} from elsewhere could use "
        f"{them} to find people."
    ]
