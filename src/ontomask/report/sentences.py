"""The first screen: what was promised, whether it is kept, what was lost, what is still at risk."""

from __future__ import annotations

from dataclasses import dataclass

from ontomask.evaluation.linkage import LinkageRisk
from ontomask.evaluation.statistics import Statistic
from ontomask.report.discretion import Discretion
from ontomask.report.facts import SUPPRESSED, Account, Limit
from ontomask.report.words import NAMED, capital, figure, listing, percent, plural

__all__ = [
    "Badge",
    "Verdict",
    "badges",
    "correlations",
    "kept",
    "lost",
    "measured",
    "promised",
    "risk",
    "verdict",
]

GUARANTEES = ("class size", "diversity", "closeness", "other")
COUNTED = {"k-anonymity": "class size", "l-diversity": "diversity", "t-closeness": "closeness"}
NO_ANONYMITY = (
    "The method does not form groups of equal records, so there is no guarantee of k-anonymity. "
    "How many records an intruder would link correctly is the measure of the risk."
)
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


def measured(limit: Limit, account: Account, discretion: Discretion) -> str:
    """What was measured for a limit, as exact as the report may be."""
    if limit.name == SUPPRESSED:
        return discretion.share(limit.measured / 100.0, account.original_records)
    return f"{limit.measured:.3g}{limit.unit}"


def verdict(account: Account, discretion: Discretion) -> Verdict:
    """The one thing to know."""
    exceeded = [one for one in account.limits if one.exceeded]
    if account.promised is not None and not account.promised.kept:
        return Verdict("bad", "A promise is not kept", "Do not publish this table.")
    if exceeded:
        which = " limit" if len(exceeded) == 1 else " limits"
        text = "; ".join(
            f"{one.name}: {measured(one, account, discretion)}, the plan allows "
            f"{one.allowed:.3g}{one.unit}"
            for one in exceeded
        )
        return Verdict("bad", f"{len(exceeded)}{which} of the plan exceeded", f"{capital(text)}.")
    if account.promised is None:
        return Verdict("plain", "No promise to check", NOTHING)
    if not account.promised.of_kind(*GUARANTEES):
        if models := unrecounted(account):
            return Verdict("plain", "Kept, as far as it can be recounted", _enforced(models))
        return Verdict("plain", "Kept, but no anonymity is promised", NO_ANONYMITY)
    return Verdict(
        "good",
        "Every promise is kept",
        "Recounted on the released table by code that shares nothing with the method.",
    )


def unrecounted(account: Account) -> list[str]:
    """The privacy models that a method enforced but that the released table alone cannot show."""
    kinds = {one.kind for one in account.promised.findings} if account.promised else set()
    return [
        model
        for step in account.steps
        for model in step.models
        if COUNTED.get(model.partition(" ")[0]) not in kinds
    ]


def _enforced(models: list[str]) -> str:
    return (
        f"Enforced by the method, but not to be recounted on the released table alone: "
        f"{listing(models)}."
    )


def badges(account: Account) -> tuple[Badge, ...]:
    """Promises and limits in two or three words each."""
    found: list[Badge] = []
    if account.promised is not None:
        found += [
            Badge("good", "✓", f"{one.badge} kept")
            if one.kept
            else Badge("bad", "✗", f"{one.badge} NOT kept")
            for one in account.promised.findings
            if one.kind != "shape" or not one.kept
        ]
        if not account.promised.of_kind(*GUARANTEES):
            found.append(Badge("plain", "!", "no k-anonymity"))
    found += [
        Badge("bad", "✗", f"{one.name} above the limit")
        if one.exceeded
        else Badge("good", "✓", f"{one.name} within the limit")
        for one in account.limits
    ]
    return tuple(dict.fromkeys(found))


def promised(account: Account) -> list[str]:
    """What was promised."""
    if account.promised is None:
        return [NOTHING]
    sentences = [one.promise for one in account.promised.findings if one.kind != "shape"]
    if not account.promised.of_kind(*GUARANTEES):
        sentences.insert(0, "No k-anonymity is promised.")
    if models := unrecounted(account):
        sentences.append(_enforced(models))
    identifiers = [name for name, kind in account.removed if kind == "identifier"]
    if identifiers:
        sentences.append(f"Left out, since they name people: {listing(identifiers)}.")
    return sentences


def kept(account: Account) -> list[str]:
    """Whether it is kept."""
    if account.promised is None:
        return ["There was nothing to recount."]
    told = [
        f"{'Kept' if one.kept else 'NOT KEPT'}: {one.measured}."
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


# What was lost --------------------------------------------------------------------------------


def lost(account: Account, discretion: Discretion) -> list[str]:
    """What was lost."""
    loss = account.evaluation.loss
    sentences = [
        f"Information loss is {figure(loss.loss, 2)}%, where 0% is the original table and 100% a "
        "table in which every record is the same average one.",
        f"{percent(loss.values_changed)} of the values in the measured columns changed.",
        _left_out(account, discretion),
    ]
    return [*sentences, *_columns_lost(account), *_relations_lost(account)]


def _left_out(account: Account, discretion: Discretion) -> str:
    gone = account.original_records - account.records
    if not gone:
        return "No record was left out."
    share = discretion.share(gone / account.original_records, account.original_records)
    return f"Records left out: {share}."


def _columns_lost(account: Account) -> list[str]:
    moved = [one for one in account.columns if one.loss is not None and one.changed > 0]
    if len(moved) < 2:
        return []
    by_loss = sorted(moved, key=lambda one: one.loss.semantic_loss if one.loss else 0.0)
    return [f"Most moved: {by_loss[-1].name}; least moved: {by_loss[0].name}."]


def correlations(account: Account) -> tuple[Statistic, ...]:
    """The relations of two columns that were measured, strongest first."""
    found = [
        one
        for one in account.evaluation.statistics
        if one.name in ("correlation", "semantic correlation")
    ]
    return tuple(sorted(found, key=lambda one: (-abs(float(one.original)), one.columns)))


def _relations_lost(account: Account) -> list[str]:
    found = correlations(account)
    if not found:
        return []
    worst = max(found, key=lambda one: abs(one.difference))
    pair = " and ".join(worst.columns)
    if abs(worst.difference) < 0.005:
        which = f"The correlation of {pair} is" if len(found) == 1 else "All correlations are"
        return [f"{which} as before, to two digits."]
    if len(found) == 1:
        return [f"The correlation of {pair} changed by {abs(worst.difference):.2f}."]
    return [f"Correlations changed by at most {abs(worst.difference):.2f} ({pair})."]


# What is still at risk ------------------------------------------------------------------------


def risk(account: Account, discretion: Discretion) -> list[str]:
    """What is still at risk."""
    if not account.quasi:
        return ["No column is said to be known to an intruder, so no risk could be measured."]
    sentences = [_uniques(account, discretion)]
    if account.evaluation.linkage:
        worst = max(account.evaluation.linkage, key=lambda one: one.risk)
        sentences.append(_linkage(account, worst))
    return [*sentences, *_homogeneous(account), *_published_as_is(account)]


def _uniques(account: Account, discretion: Discretion) -> str:
    before, after = account.evaluation.risk_before, account.evaluation.risk_after
    known = listing(account.quasi)
    if len(account.quasi) > NAMED:
        known = f"their {len(account.quasi)} quasi-identifiers"
    old = discretion.share(before.uniques, account.records)
    new = "none" if after.uniques == 0 else percent(after.uniques)
    return f"Records that are unique by {known}: {old} before, {new} after."


def _linkage(account: Account, worst: LinkageRisk) -> str:
    before = 100.0 * account.evaluation.risk_before.average_risk
    return (
        f"An intruder who knows {'it' if len(account.quasi) == 1 else 'them'} and looks for the "
        f"most similar records would find the right one in {cases(worst.risk)} of 100 cases "
        f"({cases(before)} before masking, {cases(worst.chance)} by mere chance)."
    )


def cases(risk: float) -> str:
    """A percentage as a number of cases out of 100."""
    if 0 < risk < 1:
        return "fewer than 1"
    return "more than 99" if 99.5 <= risk < 100 else f"{risk:.0f}"


def _homogeneous(account: Account) -> list[str]:
    after = account.evaluation.risk_after
    columns = [one.column for one in after.sensitive if one.distinct_l <= 1]
    if not columns or after.smallest_class < 2:  # a group of one says nothing about others
        return []
    return [
        f"In some group all records have the same {listing(columns, last='or')}: whoever knows "
        "that a person is in it learns the value."
    ]


def _published_as_is(account: Account) -> list[str]:
    names = [one.name for one in account.columns if one.role != "quasi" and not one.changed]
    if not names:
        return []
    them = "it" if len(names) == 1 else "them"
    return [
        f"Published unchanged: {listing(names)}. Whoever knows {them} from elsewhere could use "
        f"{them} to find people."
    ]
