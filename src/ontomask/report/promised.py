"""The findings of the recount, in the words of a data steward."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ontomask.findings import Finding, Verification
from ontomask.promises import (
    AverageRiskLimit,
    ClassSize,
    Closeness,
    DifferentialPrivacy,
    Disclosure,
    Diversity,
    EstimatedMapSize,
    Likeness,
    MapSize,
    Payout,
    Permutation,
    PopulationUniquenessLimit,
    Possible,
    Presence,
    Promise,
    Published,
    Records,
    RiskLimit,
    SequenceSize,
    Unchanged,
    UniquenessLimit,
)
from ontomask.report.words import capital, listing, plural
from ontomask.verdict import Judgment, judge

__all__ = ["Kept", "Promised", "in_words"]


@dataclass(frozen=True)
class Kept:
    """A promise for people.

    Attributes
    ----------
    kind
        `group size`, `wholes`, `diversity`, `closeness`, `population`, `average`, `differential
        privacy`, `game`, `permutation`, `unchanged`, `rules` or `shape`.
    badge
        The promise in two or three words.
    promise, measured
        The sentences: what was promised, what the recount found.
    kept
        Whether it is kept.
    against
        Whom it is promised against.
    """

    kind: str
    badge: str
    promise: str
    measured: str
    kept: bool
    against: str = ""


@dataclass(frozen=True)
class Promised:
    """What was promised and recounted.

    Attributes
    ----------
    k
        The promised group size, None if there is none.
    judgment
        The verdict on all of it.
    given_up
        What an earlier step promised and a later one was meant to undo, in sentences.
    """

    findings: tuple[Kept, ...]
    k: int | None
    judgment: Judgment
    given_up: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether every promise is kept."""
        return all(one.kept for one in self.findings)

    def of_kind(self, *kinds: str) -> tuple[Kept, ...]:
        """The findings of some kinds."""
        return tuple(one for one in self.findings if one.kind in kinds)


def in_words(verification: Verification, published: Sequence[str] | None = None) -> Promised:
    """The findings of a verification, for people; `published` are the columns to be covered."""
    judgment = judge(verification, published)
    return Promised(
        tuple(replace(_kept(one.promise, one), against=who) for who, one in judgment.promised),
        verification.k,
        judgment,
        tuple(f"{capital(one.describe())}." for one in verification.given_up),
    )


@functools.singledispatch
def _kept(promise: Promise, finding: Finding) -> Kept:
    sentence = f"{capital(promise.describe())}."
    return Kept("other", "further promise", sentence, capital(finding.measured), finding.kept)


@_kept.register
def _class_size(promise: ClassSize, finding: Finding) -> Kept:
    what = "value" if len(promise.columns) == 1 else "combination"
    how, whom = f"occurs at least {promise.k} times", "records"
    if promise.unit:
        how, whom = f"is shared by at least {promise.k} persons (by {promise.unit})", "persons"
    return Kept(
        "group size",
        f"{promise.k}-anonymity",
        f"Every {what} of {_every(promise)} {how}.",
        f"the smallest group has {finding.figure:,.0f} {whom}",
        finding.kept,
    )


@_kept.register
def _sequence_size(promise: SequenceSize, finding: Finding) -> Kept:
    return Kept(
        "wholes",
        "persons as wholes",
        f"All records of a person (by {promise.unit}) together, by {_every(promise)}, are those of "
        f"at least {promise.k} persons, so that joining them singles out nobody.",
        f"the rarest list of records is that of {finding.figure:,.0f} persons",
        finding.kept,
    )


@_kept.register
def _map_size(promise: MapSize, finding: Finding) -> Kept:
    return Kept(
        "population",
        f"{promise.k}-map",
        f"Every combination of {_every(promise)} fits at least {promise.k} people of the "
        "population.",
        f"the rarest fits {finding.figure:,.0f}",
        finding.kept,
    )


@_kept.register
def _presence(promise: Presence, finding: Finding) -> Kept:
    return Kept(
        "population",
        "delta-presence",
        f"Of the people of the population who share {_every(promise)}, a share of "
        f"{promise.minimum:g} to {promise.maximum:g} is in the table.",
        f"the shares lie {finding.measured}",
        finding.kept,
    )


@_kept.register
def _payout(promise: Payout, finding: Finding) -> Kept:
    whom = f"a person (by {promise.unit})" if promise.unit else "a person"
    where = "of the population" if promise.by_population else "in the table"
    return Kept(
        "game",
        "profitability",
        f"Every combination of {_every(promise)} brings the publisher more than attacks on {whom} "
        f"{where} cost: {promise.benefit:g} for a record as it is, less by what was generalized; "
        f"{promise.loss:g} for a person who is recognized, where {promise.gain:g} times the chance "
        f"of it exceeds the attacker's cost of {promise.cost:g}.",
        f"a record brings at least {finding.figure:.4g}",
        finding.kept,
    )


@_kept.register
def _average_risk(promise: AverageRiskLimit, finding: Finding) -> Kept:
    return Kept(
        "average",
        "average risk",
        f"On average, a record is recognized by {_every(promise)} with a risk of at most "
        f"{promise.t:g}.",
        f"the average risk is {finding.figure:.4g}",
        finding.kept,
    )


@_kept.register
def _uniqueness(promise: UniquenessLimit, finding: Finding) -> Kept:
    return Kept(
        "average",
        "few uniques",
        f"A share of at most {promise.t:g} of the records is alone with {_every(promise)}.",
        f"the share is {finding.figure:.4g}",
        finding.kept,
    )


@_kept.register
def _estimated_map_size(promise: EstimatedMapSize, finding: Finding) -> Kept:
    return Kept(
        "population",
        f"estimated {promise.k}-map",
        f"Every combination of {_every(promise)} fits an estimated {promise.k} people of the "
        f"population or more ({promise.estimator}, significance {promise.significance:g}).",
        f"the smallest group has {finding.figure:,.0f} records",
        finding.kept,
    )


@_kept.register
def _risk(promise: RiskLimit, finding: Finding) -> Kept:
    return Kept(
        "average",
        "few at risk",
        f"A share of at most {promise.share:g} of the records is recognized by {_every(promise)} "
        f"with a risk above {promise.t:g}.",
        f"the share is {finding.figure:.4g}",
        finding.kept,
    )


@_kept.register
def _population_uniqueness(promise: PopulationUniquenessLimit, finding: Finding) -> Kept:
    return Kept(
        "population",
        "few unique people",
        f"A share of at most {promise.t:g} of the population is estimated to be alone with "
        f"{_every(promise)} ({promise.estimator}).",
        f"the estimate is {finding.figure:.4g}",
        finding.kept,
    )


@_kept.register
def _differential_privacy(promise: DifferentialPrivacy, finding: Finding) -> Kept:
    return Kept(
        "differential privacy",
        "differential privacy",
        f"Whether a person is in the table changes the odds of any outcome by a factor of at most "
        f"e^{promise.epsilon:g}, up to a probability of {promise.delta:g}: records were drawn with "
        f"probability {promise.beta:.4g}, and groups below {promise.k} left out.",
        f"these numbers are enough, and the smallest group has {finding.figure:,.0f} records; how "
        "the table was made cannot be seen from it"
        if finding.kept
        else finding.measured,
        finding.kept,
    )


@_kept.register
def _diversity(promise: Diversity, finding: Finding) -> Kept:
    column, least = promise.sensitive, f"{promise.l:g}"
    meanings = {
        "distinct": f"In every group, {column} has at least {least} different values.",
        "entropy": f"In every group, {column} is as mixed as {least} equally frequent values "
        "(entropy).",
        "recursive": f"In no group, {column} is dominated by its most frequent value (recursive "
        f"{least}-diversity, {finding.measured}).",
    }
    measured = {
        "distinct": f"the least varied group has {plural(finding.figure, 'value')} of {column}",
        "entropy": f"the least mixed group reaches {finding.figure:.4g}",
        "recursive": "every group was checked",
    }
    sentence, found = meanings[promise.kind], measured[promise.kind]
    return Kept("diversity", f"{least}-diversity", sentence, found, finding.kept)


@_kept.register
def _closeness(promise: Closeness, finding: Finding) -> Kept:
    by = "" if promise.ground == "equal" else f" ({promise.ground} distances)"
    return Kept(
        "closeness",
        f"{promise.t:g}-closeness",
        f"In every group, {promise.sensitive} is distributed as in the whole table, up to a "
        f"distance of {promise.t:g}{by}.",
        f"the group farthest off is at {finding.figure:.4g}",
        finding.kept,
    )


@_kept.register
def _disclosure(promise: Disclosure, finding: Finding) -> Kept:
    return Kept(
        "closeness",
        "delta-disclosure",
        f"In no group, a value of {promise.sensitive} is 2^{promise.delta:g} times more or less "
        "frequent than in the whole table.",
        f"the farthest is 2^{finding.figure:.4g} times",
        finding.kept,
    )


@_kept.register
def _likeness(promise: Likeness, finding: Finding) -> Kept:
    return Kept(
        "closeness",
        "beta-likeness",
        f"In no group, a value of {promise.sensitive} is much more frequent than in the whole "
        f"table ({promise.kind} {promise.beta:g}-likeness).",
        f"the largest relative gain is {finding.figure:.4g}",
        finding.kept,
    )


@_kept.register
def _permutation(promise: Permutation, finding: Finding) -> Kept:
    what = "Exactly the original values, each as often as before, only with other people"
    if promise.partly:
        what = "No values but the original ones, none more often than before"
    meant = ""
    if promise.by_meaning:
        meant = f" (spellings of one concept are united in {listing(promise.by_meaning)})"
    return Kept(
        "permutation",
        "same values",
        f"{what}: {_every(promise)}{meant}.",
        "every value was counted before and after" if finding.kept else finding.measured,
        finding.kept,
    )


@_kept.register
def _unchanged(promise: Unchanged, finding: Finding) -> Kept:
    meant = ""
    if promise.rewritten:
        meant = f" (written as ids or labels: {listing(promise.rewritten)})"
    return Kept(
        "unchanged",
        "unchanged columns",
        f"Unchanged, record by record: {_every(promise)}{meant}.",
        "the unchanged columns were compared record by record"
        if finding.kept
        else finding.measured,
        finding.kept,
    )


@_kept.register
def _possible(promise: Possible, finding: Finding) -> Kept:
    # how many records of the original break a rule is nobody else's business
    return Kept(
        "rules",
        "possible people",
        f"{capital(promise.describe())}.",
        "every record was held against the rules" if finding.kept else finding.measured,
        finding.kept,
    )


@_kept.register
def _published(promise: Published, finding: Finding) -> Kept:
    measured = "these and no others" if finding.kept else finding.measured
    sentence = f"The table has these columns and no others: {_every(promise)}."
    return Kept("shape", "table as declared", sentence, measured, finding.kept)


@_kept.register
def _records(promise: Records, finding: Finding) -> Kept:
    sentence = f"There are {promise.count:,} records."
    found = f"{finding.figure:,.0f} were counted"
    return Kept("shape", "table as declared", sentence, found, finding.kept)


def _every(promise: Promise) -> str:
    """All the columns: a promise that names only some is none."""
    return listing(promise.columns, most=len(promise.columns))
