"""What each method and each model promises, said by the tests themselves, and counted on the text.

Nothing is taken from what a release says of itself. A promise looks at the final table: every step
must keep what the steps before it promise, or the run must be refused.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from guarantees import counting
from guarantees.counting import Text
from guarantees.people import (
    COUNT,
    LABELS,
    ORDER,
    PARENTS,
    RECORD,
    WEIGHT,
    People,
    Trait,
    shown,
)

Complaints = Iterator[str]

WEIGHTS = (COUNT, WEIGHT)
"""Whoever is counted as people is counted by both."""


@dataclass(frozen=True)
class Seen:
    """A release as it was written, beside the table it was made of."""

    people: People
    steps: Sequence[Any]
    text: Text

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        return tuple(name for name in self.people.quasi if name in self.text.names)

    @cached_property
    def origins(self) -> list[int] | None:
        """Which record of the table each released one is, if that can be told."""
        if RECORD in self.text.names:
            return [int(float(one)) - 1000 for one in self.text.column(RECORD)]
        kept = [place for place, out in enumerate(self.people.is_left_out) if not out]
        return kept if len(kept) == len(self.text) else None

    def amounts(self, *names: str) -> list[float]:
        """What each released record counts; 1 where nothing was declared."""
        declared = self.people.amounts(*names)
        if self.origins is None:
            return [1.0] * len(self.text)
        return [declared[origin] for origin in self.origins]

    def meanings(self, name: str) -> list[str]:
        trait = self.people[name]
        return [trait.meaning(one) for one in self.text.column(name)]


@dataclass(frozen=True)
class Promised:
    """Something that must hold at the end, unless a later step says that it may undo it."""

    step: int
    words: str
    complaints: Callable[[Seen], Complaints]
    lifted: bool


def promises(steps: Sequence[Any]) -> list[Promised]:
    """All promises of a run."""
    return [
        Promised(place, words, one, any(not later.keeps for later in steps[place + 1 :]))
        for place, step in enumerate(steps)
        for words, one in PROMISED[step.name](place, step)
    ]


def broken(seen: Seen, *, lifted: bool = False) -> list[str]:
    """Every promise that the text does not keep; those that stand, or those that were lifted."""
    return [
        f"step {one.step + 1} ({seen.steps[one.step].name}) promises {one.words}: {complaint}"
        for one in promises(seen.steps)
        if one.lifted == lifted
        for complaint in one.complaints(seen)
    ]


Stated = list[tuple[str, Callable[[Seen], Complaints]]]


def nothing(_place: int, _step: Any) -> Stated:
    return []


# Classes --------------------------------------------------------------------------------------


def class_size(_place: int, step: Any) -> Stated:
    return [(f"k = {step.k}", lambda seen: _too_small(seen, step.k))]


def _too_small(seen: Seen, k: int) -> Complaints:
    smallest = counting.smallest_class(seen.text, seen.quasi, seen.people.count)
    if seen.quasi and smallest < k:
        yield f"a class of {smallest}"


def clustered(place: int, step: Any) -> Stated:
    return [*class_size(place, step), *modeled(place, step)]


def resampled(place: int, step: Any) -> Stated:
    return clustered(place, step) if step.algorithm == "k-anonymous" else []


# Permutations ---------------------------------------------------------------------------------


def permuted(place: int, step: Any) -> Stated:
    return [("a permutation", lambda seen: _not_permuted(seen, place, step))]


def _not_permuted(seen: Seen, place: int, step: Any) -> Complaints:
    """Values that the columns did not have when the step began; or none of them, if no one left."""
    earlier, later = seen.steps[:place], seen.steps[place + 1 :]
    changed = {name for one in earlier for name in masked_columns(one, seen.people)}
    partly = any(leaves_out(one) for one in later)
    entered = [place for place, out in enumerate(seen.people.is_left_out) if not out]
    if any(leaves_out(one) for one in earlier) and not partly:
        entered = entered if seen.origins is None else seen.origins
        partly = seen.origins is None
    for name in masked_columns(step, seen.people):
        if name in seen.text.names and name not in changed:
            known = seen.people[name].meanings()
            before, after = Counter(known[one] for one in entered), Counter(seen.meanings(name))
            more, fewer = after - before, before - after
            if more or (fewer and not partly):
                yield f"{more.total()} values of {name!r} are new or more, {fewer.total()} fewer"


def leaves_out(step: Any) -> bool:
    """Whether a step may leave records out."""
    return step.name in ("sampling", "generalization") or (
        step.name == "suppression" and step.outliers == "drop"
    )


def masked_columns(step: Any, people: People) -> tuple[str, ...]:
    """The columns whose values a step may change."""
    if step.name in ("sampling", "drop-columns") or (
        step.name == "suppression" and step.outliers == "drop"
    ):
        return ()
    if step.name == "shuffling":
        return tuple(step.confidential)
    named = getattr(step, "columns", None)
    return people.quasi if named is None else tuple(named)


# Privacy models -------------------------------------------------------------------------------


def modeled(place: int, step: Any) -> Stated:
    return [
        (repr(model), lambda seen, model=model: _violated(seen, place, step, model))
        for model in step.privacy
    ]


def generalized(place: int, step: Any) -> Stated:
    """Models, and k in short for one of them."""
    return [*(class_size(place, step) if step.k else ()), *modeled(place, step)]


def _violated(seen: Seen, place: int, step: Any, model: Any) -> Complaints:
    if not seen.quasi:
        return
    name = type(model).__name__
    if name in ON_CLASSES:
        yield from ON_CLASSES[name](seen, step, model)
        return
    column = model.column or seen.people.named("sensitive")[0]
    changed = {name for one in seen.steps[:place] for name in masked_columns(one, seen.people)}
    if column in seen.text.names and column not in changed:
        yield from ON_VALUES[name](seen, model, column)


def _k_anonymous(seen: Seen, _step: Any, model: Any) -> Complaints:
    yield from _too_small(seen, model.k)


def _average_risk(seen: Seen, _step: Any, model: Any) -> Complaints:
    risk = counting.average_risk(seen.text, seen.quasi, seen.people.count)
    if risk > model.t + counting.ROUNDING:
        yield f"an average risk of {risk:.4f}"


def _uniqueness(seen: Seen, _step: Any, model: Any) -> Complaints:
    share = counting.share_of_uniques(seen.text, seen.quasi, seen.people.count)
    if share > model.t + counting.ROUNDING:
        yield f"{share:.4f} of the records are unique"


def _estimated_k_map(seen: Seen, _step: Any, model: Any) -> Complaints:
    """The smallest size that a class of k people exceeds seldom enough, but never more than k."""
    rate, total, size = model.k * model.fraction, 0.0, 0
    whole = 1.0
    if model.estimator == "zero-truncated-poisson":
        whole, size = 1.0 - math.exp(-rate), 1
    while total < 1.0 - model.significance and size < model.k:
        total += math.exp(-rate) * rate**size / math.factorial(size) / whole
        size += 1
    least = min(model.k, size + (model.estimator == "poisson"))
    yield from _too_small(seen, least)


def _no_attack(seen: Seen, _step: Any, model: Any) -> Complaints:
    smallest = counting.smallest_class(seen.text, seen.quasi, seen.people.count)
    if model.adversary_gain / smallest >= model.adversary_cost:
        yield f"an attack on a class of {smallest} pays"


def _pays(seen: Seen, step: Any, model: Any) -> Complaints:
    """What a record brings at most is the whole benefit, and a record of stars brings nothing."""
    among = _people(seen, step) if model.needs_population else _sizes(seen)
    for combination, people in zip(seen.text.classes(seen.quasi), among, strict=True):
        count = max(people, 1)  # whom nobody knows of is taken to be alone
        attacked = model.adversary_gain / count > model.adversary_cost + counting.ROUNDING
        if set(combination) <= {"*"}:
            yield "a class that tells nothing"
        elif attacked and model.publisher_loss / count >= model.publisher_benefit:
            yield f"a class of {count} that cannot pay"


def _at_risk(seen: Seen, _step: Any, model: Any) -> Complaints:
    sizes = _sizes(seen)
    risky = sum(size for size in sizes if 1 / size > model.t + counting.ROUNDING)
    if risky > model.share * sum(sizes) + counting.ROUNDING:
        yield f"{risky} of {sum(sizes)} records are at risk"


def _population_uniques(seen: Seen, _step: Any, model: Any) -> Complaints:
    """Whatever the estimator: where nobody is unique in the table, none is expected to be."""
    if model.t == 0 and counting.share_of_uniques(seen.text, seen.quasi, seen.people.count) > 0:
        yield "somebody is unique"


def _people(seen: Seen, step: Any) -> list[float]:
    """How many people of the population there are in each class."""
    if getattr(step, "population", None) is not None:
        return [people for _, people in _class_and_population(seen, step)]
    return _sizes(seen, *WEIGHTS)


def _sizes(seen: Seen, *names: str) -> list[float]:
    """What the records of each class count together."""
    amounts = seen.amounts(*(names or (COUNT,)))
    return [sum(amounts[one] for one in them) for them in seen.text.classes(seen.quasi).values()]


def _population_no_attack(seen: Seen, step: Any, model: Any) -> Complaints:
    found = _people(seen, step)
    if model.adversary_gain / max(min(found), 1e-9) >= model.adversary_cost + counting.ROUNDING:
        yield f"an attack on {min(found)} people pays"


def _k_map(seen: Seen, step: Any, model: Any) -> Complaints:
    found = _people(seen, step)
    if min(found) < model.k - counting.ROUNDING:
        yield f"a class of {min(found)} in the population"


def _presence(seen: Seen, step: Any, model: Any) -> Complaints:
    for inside, everyone in _class_and_population(seen, step):
        share = inside / everyone if everyone else math.inf
        if not model.minimum - counting.ROUNDING <= share <= model.maximum + counting.ROUNDING:
            yield f"{inside} of {everyone} people of a class are in the table"
    if model.minimum > 0 and step.algorithm in ("optimal", "best-effort"):
        traits = [seen.people[name] for name in seen.quasi]
        combinations = list(seen.text.classes(seen.quasi))
        for person in _population(seen, step):
            if not any(_matches(traits, one, person) for one in combinations):
                yield "people of the population whose class is empty in the table"
                return


def _class_and_population(seen: Seen, step: Any) -> Iterator[tuple[int, int]]:
    """For each class its size and how many people of the population it can stand for."""
    traits = [seen.people[name] for name in seen.quasi]
    everyone = _population(seen, step)
    for combination, places in seen.text.classes(seen.quasi).items():
        yield len(places), sum(_matches(traits, combination, person) for person in everyone)


def _population(seen: Seen, step: Any) -> list[tuple[Any, ...]]:
    columns = [step.population[name] for name in seen.quasi]
    return list(zip(*(list(one) for one in columns), strict=True))


def _matches(traits: Sequence[Trait], combination: Sequence[str], person: Sequence[Any]) -> bool:
    cells = zip(traits, combination, person, strict=True)
    return all(trait.stands_for(general, value) for trait, general, value in cells)


ON_CLASSES: dict[str, Callable[[Seen, Any, Any], Complaints]] = {
    "KAnonymity": _k_anonymous,
    "KMap": _k_map,
    "DeltaPresence": _presence,
    "AverageRisk": _average_risk,
    "SampleUniqueness": _uniqueness,
    "EstimatedKMap": _estimated_k_map,
    "NoAttack": _no_attack,
    "PopulationNoAttack": _population_no_attack,
    "PopulationProfitability": _pays,
    "PopulationUniques": _population_uniques,
    "Profitability": _pays,
    "RecordsAtRisk": _at_risk,
}


def _diversity(seen: Seen, model: Any, column: str) -> Complaints:
    counts = seen.amounts(COUNT)
    for one in counting.histograms(seen.text, seen.quasi, seen.meanings(column), counts):
        if not _is_diverse(one, model):
            yield f"a class with {sorted(one.values(), reverse=True)} of {column!r}"


def _is_diverse(counts: dict[str, float], model: Any) -> bool:
    if model.kind == "recursive":
        return counting.is_recursively_diverse(counts, model.l, model.c)
    if model.kind == "entropy" and model.estimator == "grassberger":
        return counting.is_grassberger_diverse(counts, model.l)
    if model.kind == "entropy":
        return counting.is_entropy_diverse(counts, model.l)
    return counting.is_distinct_diverse(counts, model.l)


def _compared(
    seen: Seen, column: str, fails: Callable[[counting.Shares, counting.Shares], str]
) -> Complaints:
    """Each class against the whole table, both by counts and survey weights."""
    if seen.origins is None and set(WEIGHTS) & set(seen.people.others):
        return  # nobody can tell who is how many
    weights = seen.amounts(*WEIGHTS)
    whole: Counter[str] = Counter()
    trait = seen.people[column]
    for value, weight in zip(trait.meanings(), seen.people.amounts(*WEIGHTS), strict=True):
        if value or trait.settings["missing"] != "suppress":
            whole[value] += weight
    q = counting.shares(whole)
    for one in counting.histograms(seen.text, seen.quasi, seen.meanings(column), weights):
        complaint = fails(counting.shares(one), q)
        if complaint:
            yield complaint


def _closeness(seen: Seen, model: Any, column: str) -> Complaints:
    ground = _ground(seen.people[column], model.ground)

    def fails(p: counting.Shares, q: counting.Shares) -> str:
        if model.ground != "equal" and set(p) - set(q):
            return "a value that nobody had, and that is nowhere"
        distance = counting.earth_mover(p, q, ground)
        return f"a class at distance {distance:.4f}" if distance > model.t + 1e-6 else ""

    yield from _compared(seen, column, fails)


def _ground(trait: Trait, name: str) -> Callable[[str, str], float]:
    if name == "hierarchical":
        found = counting.hierarchical_ground(trait.rows)
        return lambda one, other: found(trait.looked_up(one), trait.looked_up(other))
    if name == "semantic":
        return counting.semantic_ground(PARENTS)
    if name == "ordered":
        return counting.ordered_ground(_order(trait))
    return counting.equal_ground


def _order(trait: Trait) -> list[str]:
    """The values of a column from lowest to highest."""
    if trait.kind == "ordinal":
        return list(ORDER)
    known = {one for one in trait.values if one is not None}
    return list(dict.fromkeys(trait.meaning(shown(one)) for one in sorted(known)))


def _disclosure(seen: Seen, model: Any, column: str) -> Complaints:
    def fails(p: counting.Shares, q: counting.Shares) -> str:
        return "a value too rare or too frequent" * counting.is_delta_disclosing(p, q, model.delta)

    yield from _compared(seen, column, fails)


def _likeness(seen: Seen, model: Any, column: str) -> Complaints:
    enhanced = model.kind == "enhanced"

    def fails(p: counting.Shares, q: counting.Shares) -> str:
        like = counting.is_beta_like(p, q, model.beta, enhanced=enhanced)
        return "" if like else "a value too frequent"

    yield from _compared(seen, column, fails)


ON_VALUES: dict[str, Callable[[Seen, Any, str], Complaints]] = {
    "LDiversity": _diversity,
    "TCloseness": _closeness,
    "DeltaDisclosure": _disclosure,
    "BetaLikeness": _likeness,
}

PROMISED: dict[str, Callable[[int, Any], Stated]] = {
    "recoding": clustered,
    "microaggregation": clustered,
    "resampling": resampled,
    "suppression": class_size,
    "local-suppression": class_size,
    "generalization": generalized,
    "private-generalization": nothing,
    "rank-swapping": permuted,
    "shuffling": permuted,
    "hybrid": nothing,
    "pram": nothing,
    "noise": nothing,
    "top-bottom-coding": nothing,
    "rounding": nothing,
    "sampling": nothing,
    "pseudonyms": nothing,
    "drop-columns": nothing,
}


# What holds of every release --------------------------------------------------------------------


def leaks(seen: Seen) -> Complaints:
    """Columns and texts that must not be there."""
    yield from _wrong_columns(seen)
    everything = [*seen.text.names, *(cell for row in seen.text.rows for cell in row)]
    if any("-miller" in cell for cell in everything):
        yield "an identifier is readable"
    masked = {name for step in seen.steps for name in masked_columns(step, seen.people)}
    for trait in seen.people.traits:
        if trait.kind == "nominal" and trait.name in masked & set(seen.text.names):
            yield from _leftover_texts(seen, trait)


def _wrong_columns(seen: Seen) -> Complaints:
    dropped = {n for one in seen.steps if one.name == "drop-columns" for n in one.columns}
    added = {n for one in seen.steps if one.name == "pseudonyms" for n in one.columns}
    expected = [
        name
        for name in seen.people.columns
        if (name in seen.people.published or name in added) and name not in dropped
    ]
    if list(seen.text.names) != expected:
        yield f"the columns are {seen.text.names}, not {expected}"


def _leftover_texts(seen: Seen, trait: Trait) -> Complaints:
    """A concept is written as its id or label, or in a spelling that enough records have."""
    least = max([3, *(largest_k(step) for step in seen.steps)])
    spelled: Counter[str] = Counter()
    for value, amount in zip(trait.values, seen.people.amounts(COUNT), strict=True):
        spelled[shown(value)] += int(amount)
    known = {*LABELS, *LABELS.values(), *(cell for row in trait.rows for cell in row)}
    for text in set(seen.text.column(trait.name)) - {"", "*"}:
        if text.startswith("zzq"):
            yield f"the unmapped text {text!r} is readable"
        elif text not in known and spelled[text] < least:
            yield f"the spelling {text!r} of {spelled[text]} records is readable"


def largest_k(step: Any) -> int:
    """The k that a step asks for, 0 if it asks for none; some models count people, not records."""
    counting_records = ("KAnonymity", "NoAttack")
    models = [
        one.k for one in getattr(step, "privacy", ()) if type(one).__name__ in counting_records
    ]
    own = getattr(step, "k", 0)
    return max([own or 0, *models])


def untouched(seen: Seen) -> Complaints:
    """Columns that no step masks are as they were, record by record."""
    if seen.origins is None:
        return
    masked = {name for step in seen.steps for name in masked_columns(step, seen.people)}
    for name in set(seen.text.names) - masked - set(seen.people.others):
        trait = seen.people[name]
        before = trait.meanings()
        if [before[one] for one in seen.origins] != seen.meanings(name):
            yield f"the column {name!r} has changed"
