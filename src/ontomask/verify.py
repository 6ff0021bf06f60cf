"""Recount what a release promises, with code that shares nothing with the methods.

A column is taken as a reader of the release sees it: every different text, number or date is a
value of its own, 0.0 and -0.0 as well as a missing value and NaN, where the frame or file shows
them apart. Records are then grouped and counted with plain NumPy, so that an error in the methods'
encoding, kernels or searches cannot hide here.
"""

from __future__ import annotations

import datetime
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ontomask.arithmetic import exp, log, log2
from ontomask.arrays import Bools, Floats, Longs
from ontomask.chances import binomial_tail, poisson_chances
from ontomask.data.seen import Seen
from ontomask.data.tables import open_table
from ontomask.errors import PromiseError
from ontomask.findings import Claim, Failing, Finding, Verification
from ontomask.population import estimated_uniques
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
from ontomask.tallies import Rows, Tally, plain
from ontomask.transport import costs_of_moving

__all__ = ["shape", "verify"]

Classes = Iterator[tuple[Longs, Floats]]
"""For each class the places of its sensitive values in the table's distribution, with shares."""

Span = tuple[float | None, float | None]

ROUNDING = 1e-9


def verify(
    frame: object,
    claims: Sequence[Claim | Promise],
    *,
    published: Sequence[str],
    records: int,
    counts: Floats | None = None,
    weights: Floats | None = None,
    units: Longs | None = None,
) -> Verification:
    """Recount the promises on a frame.

    Parameters
    ----------
    frame
        The release, as it is handed out or read back from its file.
    claims
        What is promised; those that compare come with what they are compared with.
    published
        The columns the release must have, in order, and no others.
    records
        How many rows it must have.
    counts
        How many equal records each row stands for, one each by default: what class sizes count.
    weights
        How many people each row stands for, as many as records by default: what distributions
        count.
    units
        Whose record each row is, by number, for promises that count persons.
    """
    table = open_table(frame)
    findings = [*shape(table.names, len(table), published, records)]
    if all(finding.kept for finding in findings):
        amounts = np.ones(len(table)) if counts is None else counts
        release = Rows(table, amounts, amounts if weights is None else weights, units)
        made = [_as_claim(one) for one in claims]
        findings += [_recount(one.promise, release, one.before) for one in made]
    return Verification(tuple(findings))


def _as_claim(claim: Claim | Promise) -> Claim:
    return claim if isinstance(claim, Claim) else Claim(claim)


def shape(
    names: tuple[str, ...], rows: int, published: Sequence[str], records: int
) -> tuple[Finding, Finding]:
    """Whether a table has the columns and the rows that it must have."""
    same = names == tuple(published)
    found = "they are" if same else f"found {', '.join(names)}"
    return (
        Finding(Published(tuple(published)), same, len(names), found),
        Finding(Records((), records), rows == records, rows, f"found {rows}"),
    )


# One recount for each kind of promise ---------------------------------------------------------


@functools.singledispatch
def _recount(promise: Promise, _release: Rows, _before: Mapping[str, Seen]) -> Finding:
    raise PromiseError(f"There is no way to recount a {type(promise).__name__}.")


def _at_most(promise: Promise, figure: float, bound: float) -> Finding:
    return Finding(promise, figure <= bound + ROUNDING, figure, f"at most {figure:.4g}")


def _failing(promise: Promise, release: Rows, good: Bools) -> Failing:
    """The classes that are not as they should be."""
    if good.all():
        return Failing(0, 0)
    return Failing(int((~good).sum()), round(float(release.sizes(promise.columns)[~good].sum())))


def _each_at_least(promise: Promise, release: Rows, figures: Floats, bound: float) -> Finding:
    """A statement about every class, by the least of their figures."""
    good, least = figures >= bound - ROUNDING, float(figures.min())
    failing = _failing(promise, release, good)
    shown = f"{least:.0f}" if least.is_integer() else f"{least:.4g}"
    return Finding(promise, not failing.classes, least, f"at least {shown}", failing)


def _each_at_most(promise: Promise, release: Rows, figures: Floats, bound: float) -> Finding:
    """A statement about every class, by the largest of their figures."""
    good, most = figures <= bound + ROUNDING, float(figures.max())
    failing = _failing(promise, release, good)
    return Finding(promise, not failing.classes, most, f"at most {most:.4g}", failing)


@_recount.register
def _class_size(promise: ClassSize, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    count = release.persons if promise.unit else release.sizes
    return _each_at_least(promise, release, count(promise.columns), promise.k)


@_recount.register
def _sequence_size(promise: SequenceSize, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    smallest = float(release.alike(promise.columns).min())
    return Finding(promise, smallest >= promise.k, smallest, f"at least {smallest:.0f}")


@_recount.register
def _map_size(promise: MapSize, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    if promise.population is None:
        classes = release.classes(promise.columns)
        people: Floats = np.bincount(classes, weights=release.weights).astype(np.float64)
        return _each_at_least(promise, release, people, promise.k)
    everyone, known = _in_population(release, promise, promise.population)
    return _each_at_least(promise, release, everyone[known], promise.k)


@_recount.register
def _presence(promise: Presence, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    people, known = _in_population(release, promise, promise.population or ())
    sizes = np.zeros(people.size)
    sizes[known] = release.sizes(promise.columns)
    shares = sizes / np.maximum(people, 1.0)
    low, high = float(shares.min()), float(shares.max())
    good = (shares >= promise.minimum - ROUNDING) & (shares <= promise.maximum + ROUNDING)
    failing = Failing(int((~good).sum()), round(float(sizes[~good].sum())))
    measured = f"between {low:.4g} and {high:.4g}"
    return Finding(promise, bool(good.all()), high, measured, failing)


def _in_population(
    release: Rows, promise: Promise, population: Sequence[tuple[tuple[object, ...], float]]
) -> tuple[Floats, Longs]:
    """The people in each class of the population, and which of them each class is."""
    classes = release.classes(promise.columns)
    firsts = np.unique(classes, return_index=True)[1]
    columns = [release.column(name) for name in promise.columns]
    amounts: dict[tuple[object, ...], float] = {}
    for key, amount in population:
        values = tuple(plain(value) for value in key)
        amounts[values] = amounts.get(values, 0.0) + amount
    places = {key: place for place, key in enumerate(amounts)}
    own = []
    for first in firsts.tolist():
        key = tuple(plain(one.values[one.codes[first]]) for one in columns)
        own.append(places.setdefault(key, len(places)))
    people = np.zeros(len(places))
    people[: len(amounts)] = list(amounts.values())
    return people, np.array(own, np.int64)


@_recount.register
def _payout(promise: Payout, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    chances = 1.0 / np.maximum(_attacked(promise, release), 1.0)
    attacked = promise.gain * chances > promise.cost * (1.0 + ROUNDING)
    risks = np.where(attacked, promise.loss * chances, 0.0)
    least = float((promise.benefit * _told(promise, release) - risks).min())
    enough = least > ROUNDING * promise.benefit
    return Finding(promise, enough, least, f"at least {least:.4g} a record")


def _attacked(promise: Payout, release: Rows) -> Floats:
    """Among how many people of each class an attacker has to guess."""
    if not promise.by_population:
        count = release.persons if promise.unit else release.sizes
        return count(promise.columns)
    if promise.population is None:
        return np.bincount(release.classes(promise.columns), release.weights).astype(np.float64)
    everyone, known = _in_population(release, promise, promise.population)
    return everyone[known]


def _told(promise: Payout, release: Rows) -> Floats:
    """The share of its information that each class keeps; a value nobody knows of tells nothing."""
    firsts = np.unique(release.classes(promise.columns), return_index=True)[1]
    told = np.zeros(firsts.size)
    for name, values in zip(promise.columns, promise.kept, strict=True):
        seen, known = release.column(name), {plain(value): share for value, share in values}
        shares = np.array([known.get(plain(value), 0.0) for value in seen.values])
        told += shares[seen.codes[firsts]]
    return told


@_recount.register
def _average_risk(promise: AverageRiskLimit, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    sizes = release.sizes(promise.columns)
    return _at_most(promise, float(sizes.size / sizes.sum()), promise.t)


@_recount.register
def _uniqueness(promise: UniquenessLimit, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    sizes = release.sizes(promise.columns)
    return _few(promise, release, sizes, sizes > 1, promise.t)


def _few(promise: Promise, release: Rows, sizes: Floats, good: Bools, most: float) -> Finding:
    """A statement about the share of the records that are in classes with a fault."""
    found = _at_most(promise, float(sizes[~good].sum() / sizes.sum()), most)
    return found if found.kept else replace(found, failing=_failing(promise, release, good))


@_recount.register
def _estimated_map_size(
    promise: EstimatedMapSize, release: Rows, _before: Mapping[str, Seen]
) -> Finding:
    """A class of k people has more records than this with a probability below the significance."""
    seen, least = 0.0, 0
    truncated = promise.estimator != "poisson"
    chances = poisson_chances(np.arange(promise.k + 1), promise.k * promise.fraction)
    chances = np.append(0.0, chances[1:] / (1.0 - chances[0])) if truncated else chances
    while least < promise.k and seen < 1.0 - promise.significance:
        seen += chances[least]
        least += 1
    needed = min(promise.k, least if truncated else least + 1)
    return _each_at_least(promise, release, release.sizes(promise.columns), needed)


@_recount.register
def _risk(promise: RiskLimit, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    sizes = release.sizes(promise.columns)
    return _few(promise, release, sizes, 1.0 / sizes <= promise.t + ROUNDING, promise.share)


@_recount.register
def _population_uniqueness(
    promise: PopulationUniquenessLimit, release: Rows, _before: Mapping[str, Seen]
) -> Finding:
    sizes = np.rint(release.sizes(promise.columns)).astype(np.int64)
    share = estimated_uniques(sizes, promise.fraction, promise.estimator).share
    return _at_most(promise, math.inf if share is None else share, promise.t)


@_recount.register
def _differential_privacy(
    promise: DifferentialPrivacy, release: Rows, _before: Mapping[str, Seen]
) -> Finding:
    """How it was made cannot be seen; that it was enough, and no class is too small, can."""
    smallest = float(release.sizes(promise.columns).min(initial=math.inf))
    left = promise.epsilon - promise.spent
    enough = (
        smallest >= promise.k
        and 0.0 < promise.beta <= -math.expm1(-left)
        and _largest_tail(promise.k, promise.beta, left, promise.delta) <= promise.delta
    )
    return Finding(promise, enough, smallest, f"no class below {smallest:.0f}")


def _largest_tail(k: int, beta: float, epsilon: float, delta: float) -> float:
    """The largest P(Binomial(n, beta) > gamma n) over all n that can give a class of k.

    What is certain to be below delta is left out, and all others where the first is above it.
    """
    rest = (1.0 - beta) * math.exp(-epsilon)  # more exact than 1 - gamma
    gamma = 1.0 - rest

    def tails(sizes: Longs) -> Floats:
        if gamma < 0.5:
            return binomial_tail(np.floor(gamma * sizes + ROUNDING), sizes, beta)
        missing = np.maximum(np.ceil(rest * sizes - ROUNDING), 1.0)
        return binomial_tail(sizes - missing, sizes, beta)

    first = max(1, math.ceil(k / gamma - 1.0 - ROUNDING))
    largest = float(tails(np.array([first]))[0])
    if largest > delta:
        return largest
    # tails fall like exp(-n D), D being the divergence of gamma from beta
    last = -math.log(delta) / (gamma * math.log(gamma / beta) - rest * epsilon)
    return float(tails(np.arange(first, max(first, math.ceil(last)) + 2)).max())


@_recount.register
def _diversity(promise: Diversity, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    """Values are counted by records: whoever reads the release sees no weights."""
    histogram = release.histogram(promise, release.counts)
    if promise.kind == "recursive":
        failing = _failing(promise, release, _undominated(histogram, promise.l, promise.c))
        measured = f"with c = {promise.c:g}"
        return Finding(promise, not failing.classes, promise.c, measured, failing)
    different = np.bincount(histogram.classes).astype(np.float64)
    if promise.kind == "distinct":
        return _each_at_least(promise, release, different, promise.l)
    figures = exp(_entropies(histogram, promise.estimator))
    few = different < promise.l - ROUNDING
    if promise.estimator != "shannon" and few.any():  # an estimate may be above what there is
        figures[few] = different[few]
    return _each_at_least(promise, release, figures, promise.l)


def _entropies(histogram: Tally, estimator: str) -> Floats:
    """The entropy of each class: -sum p ln p, or Grassberger's estimate G(n) - sum s G(s) / n."""
    if estimator == "shannon":
        return -histogram.summed(histogram.shares * log(histogram.shares))
    sizes = histogram.summed(histogram.amounts)
    inner = np.array([count * _grassberger(int(count)) for count in histogram.amounts])
    outer = np.array([_grassberger(int(size)) for size in sizes])
    estimates: Floats = outer - histogram.summed(inner) / sizes
    return estimates


def _grassberger(count: int) -> float:
    return -np.euler_gamma - math.log(2) + sum(2 / (2 * j - 1) for j in range(1, count // 2 + 1))


def _undominated(histogram: Tally, diversity: float, factor: float) -> Bools:
    """For each class whether f_1 < c (f_l + f_(l+1) + …), frequencies descending."""
    order = np.lexsort((-histogram.amounts, histogram.classes))
    owners, amounts = histogram.classes[order], histogram.amounts[order]
    ranks = np.arange(owners.size) - np.searchsorted(owners, owners)
    first = histogram.summed(np.where(ranks == 0, amounts, 0.0)[np.argsort(order)])
    late = np.where(ranks >= math.ceil(diversity - ROUNDING) - 1, amounts, 0.0)
    return first < factor * histogram.summed(late[np.argsort(order)])


@_recount.register
def _closeness(promise: Closeness, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    histogram = release.histogram(promise, release.weights)
    whole, places = histogram.whole(promise.counts)
    if promise.ground == "equal":
        return _each_at_most(promise, release, _equal_ground(histogram, whole, places), promise.t)
    # how far is a value that the table never had?
    strange = histogram.summed(places == whole.size - 1) > 0
    farthest = np.where(strange, math.inf, 0.0)
    known = itertools.compress(_distributions(histogram, places), ~strange)
    farthest[~strange] = _GROUNDS[promise.ground](promise, whole[:-1], known)
    return _each_at_most(promise, release, farthest, promise.t)


def _equal_ground(histogram: Tally, whole: Floats, places: Longs) -> Floats:
    """1/2 sum |p - q|, which is the sum of p - q where that is positive."""
    return histogram.summed(np.maximum(histogram.shares - whole[places], 0.0))


def _distributions(histogram: Tally, places: Longs) -> Classes:
    """For each class the places of its values and their shares."""
    bounds = np.searchsorted(histogram.classes, np.arange(histogram.size + 1))
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        yield places[start:stop], histogram.shares[start:stop]


def _excesses(whole: Floats, classes: Classes) -> Iterator[Floats]:
    """For each class p - q over the values of the table."""
    for places, shares in classes:
        excess = -whole
        np.add.at(excess, places, shares)
        yield excess


def _ordered_ground(_promise: Closeness, whole: Floats, classes: Classes) -> Floats:
    """Sum of |cumulative p - cumulative q| over the steps between neighbors, over d - 1."""
    steps = max(whole.size - 1, 1)
    excesses = _excesses(whole, classes)
    return np.array([np.abs(np.cumsum(excess)).sum() / steps for excess in excesses])


def _hierarchical_ground(promise: Closeness, whole: Floats, classes: Classes) -> Floats:
    """A tree with links of half a level: each carries what its lower end has too much or little."""
    levels = [np.arange(whole.size), *(np.asarray(one) for one in promise.distances)]
    height = max(len(levels) - 1, 1)
    moved = [
        sum(np.abs(np.bincount(one, weights=excess)).sum() for one in levels[:-1])
        for excess in _excesses(whole, classes)
    ]
    return np.array(moved, np.float64) / (2.0 * height)


def _semantic_ground(promise: Closeness, whole: Floats, classes: Classes) -> Floats:
    """The earth mover's distances; a plan that is good enough makes an exact one needless.

    What is stated is at least the true distance: the cost of a transport that can be carried out.
    """
    distances = np.asarray(promise.distances, np.float64)
    return costs_of_moving(distances, _excesses(whole, classes), promise.t + ROUNDING)


_GROUNDS: dict[str, Callable[[Closeness, Floats, Classes], Floats]] = {
    "ordered": _ordered_ground,
    "hierarchical": _hierarchical_ground,
    "semantic": _semantic_ground,
}


@_recount.register
def _disclosure(promise: Disclosure, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    histogram = release.histogram(promise, release.weights)
    whole, places = histogram.whole(promise.counts)
    with np.errstate(divide="ignore"):
        ratios = np.abs(log2(histogram.shares / whole[places]))
    good = histogram.summed(ratios >= promise.delta) == 0
    return _disclosed(promise, release, good, float(ratios.max()), "at most 2^")


@_recount.register
def _likeness(promise: Likeness, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    histogram = release.histogram(promise, release.weights)
    whole, places = histogram.whole(promise.counts)
    own = whole[places]
    with np.errstate(divide="ignore"):
        gains = (histogram.shares - own) / own
        bounds = np.minimum(promise.beta, -log(own)) if promise.kind == "enhanced" else None
    too_much = gains > (promise.beta if bounds is None else bounds) + ROUNDING
    good = histogram.summed(too_much) == 0
    return _disclosed(promise, release, good, float(gains.max()), "at most ")


def _disclosed(promise: Promise, release: Rows, good: Bools, most: float, words: str) -> Finding:
    failing = _failing(promise, release, good)
    return Finding(promise, not failing.classes, most, f"{words}{most:.4g}", failing)


@_recount.register
def _possible(promise: Possible, release: Rows, _before: Mapping[str, Seen]) -> Finding:
    found = np.zeros(len(release.table), bool)
    for rule in promise.rules:
        meets = np.ones(len(release.table), bool)
        for column, values, spans, dates in rule:
            seen = release.column(column)
            known = {str(value) for value in values}
            meant = [_is_meant(plain(one), known, spans, dates) for one in seen.values]
            meets &= np.array(meant, bool)[seen.codes]
        found |= meets
    count = int(release.counts[found].sum())
    return Finding(promise, count <= promise.most, count, f"{count:,} of them" if count else "none")


def _is_meant(value: object, known: set[str], spans: Sequence[Span], dates: str) -> bool:
    """Whether a value is one of those of a condition, or in one of its ranges."""
    if value is None or str(value) in known:
        return value is not None
    number = _as_number(value, dates) if spans else math.nan
    return any(
        (low is None or number >= low) and (high is None or number <= high) for low, high in spans
    ) and not math.isnan(number)


def _as_number(value: object, dates: str) -> float:
    """A number, or a day, as it is written; NaN for anything else."""
    try:
        if dates and isinstance(value, str):
            value = datetime.datetime.strptime(value, dates)
        if isinstance(value, datetime.date):
            return float(value.toordinal())
        return float(str(value).replace(",", "."))
    except ValueError:
        return math.nan


# Comparing with what was there before ---------------------------------------------------------


@_recount.register
def _permutation(promise: Permutation, release: Rows, before: Mapping[str, Seen]) -> Finding:
    wrong = 0.0
    for name in promise.columns:
        given, own = before[name], release.column(name)
        if given.counts is not None:
            own = replace(own, counts=release.counts)
        # many different numbers are listed alike in both, by size
        if given.values == own.values and np.array_equal(_amounts(given), _amounts(own)):
            continue
        old, new = _tally(given), _tally(own)
        excess = [new[value] - old.get(value, 0) for value in new]
        lack = [old[value] - new.get(value, 0) for value in old]
        wrong += sum(one for one in excess if one > 0)
        wrong += 0 if promise.partly else sum(one for one in lack if one > 0)
    return _compared(promise, wrong)


def _tally(column: Seen) -> dict[object, int]:
    """How many records have each value; 0.0 and -0.0 are one."""
    tally: dict[object, int] = {}
    for value, count in zip(map(plain, column.values), _amounts(column).tolist(), strict=True):
        if count:
            tally[value] = tally.get(value, 0) + count
    return tally


def _amounts(column: Seen) -> Longs:
    """How many records have each of the values."""
    amounts = np.bincount(column.codes, column.counts, minlength=len(column.values))
    return amounts.astype(np.int64)


@_recount.register
def _unchanged(promise: Unchanged, release: Rows, before: Mapping[str, Seen]) -> Finding:
    wrong = sum(_differing(before[name], release.column(name)) for name in promise.columns)
    return _compared(promise, wrong)


def _differing(before: Seen, after: Seen) -> int:
    """In how many records two columns differ, each pair of values compared once."""
    if before.values == after.values and np.array_equal(before.codes, after.codes):
        return 0
    pairs = before.beside(after)
    return sum(count for old, new, count in pairs if plain(old) != plain(new))


def _compared(promise: Promise, wrong: float) -> Finding:
    measured = f"not in {wrong:g} values" if wrong else "all of them"
    return Finding(promise, not wrong, wrong, measured)
