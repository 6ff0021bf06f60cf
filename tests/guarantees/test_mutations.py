"""Every promise there is: cells of a release are changed, and what breaks it is noticed.

For each promise there is a release that makes it, and a few plain lines that say when it holds,
from the rows as they are written; none of them looks at what the package counts.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pytest

import ontomask as om
from guarantees import counting
from guarantees.test_recount import changed
from ontomask import promises as room
from ontomask.data.schema import Column
from ontomask.data.tables import open_table
from ontomask.findings import Claim
from ontomask.verify import verify
from tables import DISEASES

Row = dict[str, Any]
Rows = list[Row]

QUASI = ("town", "age")
TOWNS = [
    [one, region, "*"] for region in ("north", "south") for one in (f"{region} 1", f"{region} 2")
]
AGES = [[str(age), "young" if age < 50 else "old", "*"] for age in range(20, 80, 10)]
ROWS = {"town": TOWNS, "age": AGES}
PARENTS = {one: DISEASES.parents(one) for one in DISEASES.ids}
PAIN = ["none", "mild", "strong"]
SITES = [["flu", "airways", "*"], ["cold", "airways", "*"], ["skin cancer", "skin", "*"]]


def people(count: int = 150, seed: int = 3) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "person": np.sort(generator.integers(0, count // 2, count)),
            "town": generator.choice([row[0] for row in TOWNS], count, p=[0.4, 0.3, 0.2, 0.1]),
            "age": generator.choice([row[0] for row in AGES], count),
            "illness": generator.choice(["flu", "cold", "skin cancer"], count, p=[0.5, 0.3, 0.2]),
            "pain": generator.choice(PAIN, count),
            "weight": generator.uniform(1.0, 3.0, count).round(2),
        }
    )


PEOPLE = people()
EVERYONE = pl.concat([PEOPLE, PEOPLE.head(100), PEOPLE.head(60)])


def schema(**more: Column | om.Identifier | om.Weight) -> om.Schema:
    return om.Schema(town=om.Flat(), age=om.Flat(), **more)


def generalized(model: om.Generalization, **options: Any) -> om.Generalization:
    return om.Generalization([model], 0.1, hierarchies=ROWS, **options)


# When a promise holds ------------------------------------------------------------------------


def classes(rows: Rows) -> list[Rows]:
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in QUASI)].append(row)
    return list(found.values())


def sizes(rows: Rows) -> list[int]:
    return [len(one) for one in classes(rows)]


def enough(k: int) -> Callable[[Rows], bool]:
    return lambda rows: min(sizes(rows)) >= k


def enough_persons(k: int) -> Callable[[Rows], bool]:
    return lambda rows: min(len({row["person"] for row in one}) for one in classes(rows)) >= k


def enough_alike(k: int) -> Callable[[Rows], bool]:
    def holds(rows: Rows) -> bool:
        found = defaultdict(list)
        for row in rows:
            found[row["person"]].append(str([row[name] for name in QUASI]))
        return min(Counter(str(sorted(one)) for one in found.values()).values()) >= k

    return holds


def enough_weight(k: int) -> Callable[[Rows], bool]:
    return lambda rows: min(sum(row["weight"] for row in one) for one in classes(rows)) >= k


def fitting(row: Row) -> int:
    """How many people of the population a released row stands for."""
    above = {name: {one[0]: one for one in rows} for name, rows in ROWS.items()}
    return sum(
        all(row[name] in above[name][person[name]] for name in QUASI)
        for person in EVERYONE.rows(named=True)
    )


def enough_people(k: int) -> Callable[[Rows], bool]:
    return lambda rows: min(fitting(one[0]) for one in classes(rows)) >= k


def few_present(most: float) -> Callable[[Rows], bool]:
    return lambda rows: all(len(one) <= most * fitting(one[0]) for one in classes(rows))


def told(row: Row) -> float:
    """The share of its information that a row keeps: 1 - log(area covered) / log(whole area)."""
    covered = [sum(row[name] in one for one in rows) for name, rows in ROWS.items()]
    known = [len(rows) / max(one, 1) for one, rows in zip(covered, ROWS.values(), strict=True)]
    known = [1.0 if one == 0 else ratio for one, ratio in zip(covered, known, strict=True)]
    return sum(map(math.log, known)) / sum(math.log(len(rows)) for rows in ROWS.values())


GAME = (10.0, 30.0, 9.0, 2.0)
"""Benefit and loss of the publisher, gain and cost of the attacker."""


def paying(among: Callable[[Rows], float]) -> Callable[[Rows], bool]:
    benefit, loss, gain, cost = GAME

    def pays(one: Rows) -> bool:
        chance = 1 / among(one)
        return benefit * told(one[0]) > (loss * chance if gain * chance > cost else 0.0)

    return lambda rows: all(pays(one) for one in classes(rows))


def average(t: float) -> Callable[[Rows], bool]:
    return lambda rows: len(classes(rows)) / len(rows) <= t


def at_risk(t: float, share: float) -> Callable[[Rows], bool]:
    return lambda rows: sum(one for one in sizes(rows) if 1 / one > t) <= share * len(rows)


def zayatz(t: float, fraction: float) -> Callable[[Rows], bool]:
    """The share of population uniques, with exact binomial coefficients (Zayatz 1991)."""

    def holds(rows: Rows) -> bool:
        found, drawn = Counter(sizes(rows)), len(rows)
        everyone = round(drawn / fraction)
        if not found[1]:
            return True

        def chance(size: int) -> float:
            ways = math.comb(everyone - size, drawn - 1) if everyone - size >= drawn - 1 else 0
            return size * ways / math.comb(everyone, drawn)

        correct = found[1] * chance(1) / sum(found[size] * chance(size) for size in found)
        return found[1] * correct / drawn <= t + 1e-9

    return holds


def poisson(k: int, fraction: float, significance: float, *, truncated: bool) -> Callable:
    """The class that a population of k people exceeds too seldom, by adding up chances."""
    rate, size, total = k * fraction, int(truncated), 0.0
    whole = 1.0 - math.exp(-rate) if truncated else 1.0
    while total < 1.0 - significance and size < k:
        total += math.exp(-rate) * rate**size / math.factorial(size) / whole
        size += 1
    return enough(min(k, size if truncated else size + 1))


def values(column: str, fits: Callable[[dict, dict], bool]) -> Callable[[Rows], bool]:
    """Whether counts of a column in every class fit, beside those of the whole table."""
    whole = Counter(PEOPLE[column])
    return lambda rows: all(
        fits(Counter(row[column] or "" for row in one), whole) for one in classes(rows)
    )


def compared(column: str, fits: Callable[[dict, dict], bool]) -> Callable[[Rows], bool]:
    """The same by shares."""
    return values(column, lambda p, q: fits(counting.shares(p), counting.shares(q)))


def close(column: str, t: float, ground: Callable[[str, str], float]) -> Callable[[Rows], bool]:
    """By the earth mover's distance; where a value that nobody had lies, only `equal` knows."""

    def fits(p: dict, q: dict) -> bool:
        known = set(p) <= set(q) or ground is counting.equal_ground
        return known and counting.earth_mover(p, q, ground) <= t + 1e-9

    return compared(column, fits)


def nobody(town: str, age: str) -> Callable[[Rows], bool]:
    return lambda rows: not any(row["town"] == town and row["age"] == age for row in rows)


def like_before(rows: Rows) -> bool:
    return all(Counter(row[name] for row in rows) == Counter(PEOPLE[name]) for name in QUASI)


def same_before(rows: Rows) -> bool:
    return [row["illness"] for row in rows] == PEOPLE["illness"].to_list()


# One release for each promise ----------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A release, one of its promises, and when that holds.

    A `cautious` recount may say no where it does not know: of a combination that the release did
    not have it cannot tell how many people of the population there are.
    """

    kind: type
    method: Any
    holds: Callable[[Rows], bool]
    schema: om.Schema = field(default_factory=schema)
    columns: Sequence[str] = QUASI
    cautious: bool = False
    given: str = ""
    rounds: int = 40

    def __str__(self) -> str:
        return f"{self.kind.__name__} {self.given}".strip()


UNIT = schema(person=om.Identifier(unit=True))
WHOLES = schema(person=om.Identifier(unit=True, sequences=True))
WEIGHED = schema(weight=om.Weight())
ILL = schema(illness=om.Nominal(DISEASES, role="sensitive"))
IN_PAIN = schema(pain=om.Ordinal(PAIN, role="sensitive"))
KEPT_APART = om.Rule(when={"town": "south 2"}, never={"age": "70"})


def of_population(model: Any) -> om.Generalization:
    return generalized(model, population=EVERYONE)


def of_illness(kind: type, model: Any, holds: Callable[[Rows], bool], given: str = "") -> Case:
    return Case(kind, generalized(model), holds, ILL, (*QUASI, "illness"), given=given)


def _classes() -> Iterator[Case]:
    size, limits = room.ClassSize, 0.05
    yield Case(size, generalized(om.privacy.KAnonymity(5)), enough(5))
    yield Case(size, om.Microaggregation(5), enough(5), given="clusters")
    yield Case(size, generalized(om.privacy.NoAttack(9, 2)), enough(5), given="no attack")
    yield Case(size, om.Microaggregation(5), enough_persons(5), UNIT, given="persons")
    yield Case(size, om.Resampling(5), enough_persons(5), UNIT, given="persons resampled")
    yield Case(room.SequenceSize, om.Microaggregation(3), enough_alike(3), WHOLES)
    yield Case(room.AverageRiskLimit, generalized(om.privacy.AverageRisk(0.081)), average(0.081))
    yield Case(
        room.UniquenessLimit, generalized(om.privacy.SampleUniqueness(0.01)), at_risk(0.9, 0.01)
    )
    yield Case(room.RiskLimit, generalized(om.privacy.RecordsAtRisk(0.2, 0.04)), at_risk(0.2, 0.04))
    for estimator in ("poisson", "zero-truncated-poisson"):
        model = om.privacy.EstimatedKMap(30, 0.1, estimator, limits)
        holds = poisson(30, 0.1, limits, truncated=estimator != "poisson")
        yield Case(room.EstimatedMapSize, generalized(model), holds, given=estimator)
    model = om.privacy.PopulationUniques(0.002, 0.2, "zayatz")
    holds = zayatz(0.002, 0.2)
    yield Case(room.PopulationUniquenessLimit, generalized(model), holds, rounds=10)
    game, persons = (
        om.privacy.Profitability(*GAME),
        paying(lambda one: len({row["person"] for row in one})),
    )
    yield Case(room.Payout, generalized(game), paying(len))
    yield Case(room.Payout, generalized(game), persons, UNIT, given="persons")
    private = om.PrivateGeneralization(3.0, 0.05, [{"town": 1, "age": 2}], hierarchies=ROWS)
    yield Case(room.DifferentialPrivacy, private, enough(private.k))


def _population() -> Iterator[Case]:
    weighed = generalized(om.privacy.KMap(12))
    yield Case(room.MapSize, weighed, enough_weight(12), WEIGHED, given="weights")
    attack = generalized(om.privacy.PopulationNoAttack(23, 2))
    yield Case(room.MapSize, attack, enough_weight(12), WEIGHED, given="no attack by weights")
    people = of_population(om.privacy.KMap(12))
    yield Case(room.MapSize, people, enough_people(12), cautious=True)
    attack = of_population(om.privacy.PopulationNoAttack(23, 2))
    yield Case(room.MapSize, attack, enough_people(12), cautious=True, given="no attack")
    game = om.privacy.PopulationProfitability(*GAME)
    weighed = paying(lambda one: sum(row["weight"] for row in one))
    yield Case(room.Payout, generalized(game), weighed, WEIGHED, given="weights")
    held = paying(lambda one: fitting(one[0]) or 0.01)
    yield Case(room.Payout, of_population(game), held, cautious=True, given="population")
    present = of_population(om.privacy.DeltaPresence(0.0, 0.8))
    yield Case(room.Presence, present, few_present(0.8), cautious=True)


def _values() -> Iterator[Case]:
    kind = room.Diversity
    for name, fits in {
        "distinct": lambda p, _q: counting.is_distinct_diverse(p, 3),
        "entropy": lambda p, _q: counting.is_entropy_diverse(p, 2.2),
        "grassberger": lambda p, _q: counting.is_grassberger_diverse(p, 2.2),
        "recursive": lambda p, _q: counting.is_recursively_diverse(p, 2, 1.5),
    }.items():
        options = (
            {"kind": "entropy", "estimator": name} if name == "grassberger" else {"kind": name}
        )
        l, c = (3, 1.0) if name == "distinct" else (2, 1.5) if name == "recursive" else (2.2, 1.0)  # noqa: E741
        yield of_illness(
            kind, om.privacy.LDiversity(l, c=c, **options), values("illness", fits), name
        )
    kind = room.Closeness
    for ground, distance in {
        "equal": counting.equal_ground,
        "hierarchical": counting.hierarchical_ground(SITES),
        "semantic": counting.semantic_ground(PARENTS),
    }.items():
        method = om.Generalization(
            [om.privacy.TCloseness(0.15, ground=ground)],
            0.1,
            hierarchies={**ROWS, "illness": SITES},
        )
        holds = close("illness", 0.15, distance)
        yield Case(kind, method, holds, ILL, (*QUASI, "illness"), given=ground)
    holds = close("pain", 0.12, counting.ordered_ground(PAIN))
    method = generalized(om.privacy.TCloseness(0.12, ground="ordered"))
    yield Case(kind, method, holds, IN_PAIN, (*QUASI, "pain"), given="ordered")
    method = om.Microaggregation(5, privacy=[om.privacy.TCloseness(0.3)], privacy_by="t-first")
    holds = close("illness", 0.3, counting.equal_ground)
    yield Case(kind, method, holds, ILL, (*QUASI, "illness"), given="clusters")
    holds = compared("illness", lambda p, q: not counting.is_delta_disclosing(p, q, 0.9))
    yield of_illness(room.Disclosure, om.privacy.DeltaDisclosure(0.9), holds)
    for way in ("basic", "enhanced"):
        enhanced = way == "enhanced"
        fits = lambda p, q, e=enhanced: counting.is_beta_like(p, q, 0.8, enhanced=e)  # noqa: E731
        model = om.privacy.BetaLikeness(0.8, kind=way)
        yield of_illness(room.Likeness, model, compared("illness", fits), way)


def _tables() -> Iterator[Case]:
    ruled = schema().with_rules(KEPT_APART)
    yield Case(room.Possible, om.Microaggregation(4), nobody("south 2", "70"), ruled)
    yield Case(room.Permutation, om.RankSwapping(share=0.1), like_before)
    with_illness = schema(illness=om.Flat(role="other"))
    columns = ("illness", *QUASI)
    yield Case(room.Unchanged, om.Microaggregation(4), same_before, with_illness, columns)


CASES = [*_classes(), *_population(), *_values(), *_tables()]


def promised() -> set[type]:
    """Every kind of promise that can be made."""
    kinds = [one for one in vars(room).values() if isinstance(one, type)]
    return {one for one in kinds if issubclass(one, room.Promise) and not one.__subclasses__()}


def test_there_is_a_case_for_every_promise() -> None:
    shapes = {room.Published, room.Records}  # changed below
    assert {one.kind for one in CASES} | shapes == promised()


def original(case: Case) -> pl.DataFrame:
    """The table; a rule is kept in it from the beginning."""
    if not case.schema.rules:
        return PEOPLE
    return PEOPLE.filter(~((pl.col("town") == "south 2") & (pl.col("age") == "70")))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_breaks_a_promise_is_noticed(case: Case) -> None:
    frame = original(case)
    release = om.protect(frame, case.schema, case.method, seed=5)
    promise = next(one for one in release.promises if isinstance(one, case.kind))
    hidden = frame[release.rows].select("person", "weight")
    before = {name: open_table(frame[release.rows]).seen(name) for name in promise.needs}
    generator, truths = np.random.default_rng(7), Counter()
    for number in range(case.rounds):
        columns = release.frame.to_dict(as_series=False)
        if number:
            columns = changed(columns, list(case.columns), generator)
        rows = [
            dict(zip((*columns, "person", "weight"), row, strict=True))
            for row in zip(*columns.values(), *hidden, strict=True)
        ]
        found = verify(
            pl.DataFrame(columns, schema=release.frame.schema),
            [Claim(promise, before)],
            published=list(columns),
            records=len(rows),
            weights=hidden["weight"].to_numpy() if case.schema.weight else None,
            units=hidden["person"].to_numpy(),
        )
        holds = case.holds(rows)
        assert found.kept <= holds, f"not noticed: {found}"
        assert found.kept == holds or case.cautious, f"false alarm: {found}"
        truths[holds] += 1
    assert truths[True], "nothing was kept, so that nothing could be noticed"
    assert truths[False], "nothing was broken"


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.with_columns(extra=pl.lit(1)),
        lambda frame: frame.select("age", "town"),
        lambda frame: frame.drop("age"),
        lambda frame: frame.head(len(frame) - 1),
        lambda frame: pl.concat([frame, frame.head(1)]),
    ],
)
def test_another_shape_is_noticed(change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    released = om.protect(PEOPLE, schema(), om.Microaggregation(5), seed=5).frame
    asked = {"published": list(QUASI), "records": len(PEOPLE)}
    assert verify(released, [], **asked).kept
    assert not verify(change(released), [], **asked).kept


def test_cases_make_every_privacy_model() -> None:
    from guarantees.options import privacy_models

    models = itertools.chain.from_iterable(getattr(one.method, "privacy", ()) for one in CASES)
    assert {type(one) for one in models} == set(privacy_models())
