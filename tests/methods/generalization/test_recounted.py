"""Every privacy model is promised and recounted, and what is recounted is what was asked for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ontomask as om
from ontomask.errors import PromiseError
from ontomask.privacy import PrivacyModel
from ontomask.promises import (
    AverageRiskLimit,
    ClassSize,
    Closeness,
    Disclosure,
    Diversity,
    EstimatedMapSize,
    Likeness,
    MapSize,
    Payout,
    PopulationUniquenessLimit,
    Presence,
    RiskLimit,
    UniquenessLimit,
)
from ontomask.verify import verify
from tables import DISEASES, LEAVES

SEX = [["f", "*"], ["m", "*"]]
AGES = [[str(age), f"{age // 10}0s", "*"] for age in range(20, 50)]
HIERARCHIES = {"age": AGES, "sex": SEX}


def people(count, seed=0):
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": generator.integers(20, 50, count),
            "sex": generator.choice(["f", "m"], count),
            "ill": generator.choice(LEAVES, count),
            "cost": generator.integers(1, 6, count),
            "weight": generator.uniform(1, 50, count),
        }
    )


SCHEMA = om.Schema(
    age=om.Numeric(),
    sex=om.Flat(),
    ill=om.Nominal(DISEASES, "sensitive"),
    cost=om.Numeric("sensitive"),
    weight=om.Weight(),
)
FRAME = people(300)
POPULATION = pd.concat([FRAME, people(900, 1)])

# every model: what is promised, and the same promise a little too strict for the release
CASES = {
    "k": (om.privacy.KAnonymity(9), ClassSize, {"k": 10**6}),
    "k-map": (om.privacy.KMap(50), MapSize, {"k": 10**6}),
    "k-map by weights": (om.privacy.KMap(200), MapSize, {"k": 10**6}),
    "presence": (om.privacy.DeltaPresence(0.0, 0.35), Presence, {"maximum": 0.01}),
    "least presence": (om.privacy.DeltaPresence(0.15, 0.4), Presence, {"minimum": 0.39}),
    "distinct": (om.privacy.LDiversity(3, column="ill"), Diversity, {"l": 8}),
    "entropy": (om.privacy.LDiversity(2.5, "entropy", column="ill"), Diversity, {"l": 6.99}),
    "recursive": (om.privacy.LDiversity(2, "recursive", 3.0, "ill"), Diversity, {"c": 0.01}),
    "grassberger": (
        om.privacy.LDiversity(3, "entropy", column="ill", estimator="grassberger"),
        Diversity,
        {"l": 9.0},
    ),
    "equal": (om.privacy.TCloseness(0.3, column="ill"), Closeness, {"t": 0.001}),
    "ordered": (om.privacy.TCloseness(0.2, "ordered", "cost"), Closeness, {"t": 0.001}),
    "hierarchical": (om.privacy.TCloseness(0.2, "hierarchical", "ill"), Closeness, {"t": 0.001}),
    "semantic": (om.privacy.TCloseness(0.2, "semantic", "ill"), Closeness, {"t": 0.001}),
    "disclosure": (om.privacy.DeltaDisclosure(1.9, "ill"), Disclosure, {"delta": 0.001}),
    "likeness": (om.privacy.BetaLikeness(1.5, column="ill"), Likeness, {"beta": 0.001}),
    "enhanced": (om.privacy.BetaLikeness(1.5, "enhanced", "ill"), Likeness, {"beta": 0.001}),
    "risk": (om.privacy.AverageRisk(0.1), AverageRiskLimit, {"t": 0.001}),
    "uniqueness": (om.privacy.SampleUniqueness(0.01), UniquenessLimit, {"t": -0.1}),
    "estimated k-map": (om.privacy.EstimatedKMap(5, 0.1), EstimatedMapSize, {"k": 10**6}),
    "records at risk": (om.privacy.RecordsAtRisk(0.2, 0.05), RiskLimit, {"t": 1e-6, "share": 0.0}),
    "population uniques": (
        om.privacy.PopulationUniques(0.05, 0.1),
        PopulationUniquenessLimit,
        {"t": -0.1},
    ),
    "no attack": (om.privacy.NoAttack(10.0, 1.0), ClassSize, {"k": 10**6}),
    "no attack by the population": (
        om.privacy.PopulationNoAttack(100.0, 4.0),
        MapSize,
        {"k": 10**6},
    ),
    "profitable": (
        om.privacy.Profitability(10.0, 30.0, 9.0, 1.0),
        Payout,
        {"benefit": 1e-6, "cost": 1e-6},
    ),
    "profitable by the population": (
        om.privacy.PopulationProfitability(10.0, 300.0, 90.0, 1.0),
        Payout,
        {"benefit": 1e-6, "cost": 1e-6},
    ),
    "profitable by weights": (
        om.privacy.PopulationProfitability(10.0, 300.0, 90.0, 1.0),
        Payout,
        {"benefit": 1e-6, "cost": 1e-6},
    ),
}
GAMES = tuple(name for name in CASES if name.startswith("profitable"))
NEEDS_OPTIMAL = ("risk", "uniqueness", "least presence", "records at risk", "population uniques")
NOT_LOCAL = (*NEEDS_OPTIMAL, "presence", "disclosure", "grassberger")


def test_every_model_is_among_the_cases():
    def kinds(kind):
        return {kind, *(one for child in kind.__subclasses__() for one in kinds(child))}

    concrete = {
        one
        for one in kinds(PrivacyModel)
        if not one.__abstractmethods__ and one.__module__.startswith("ontomask")
    }
    assert {type(model) for model, _, _ in CASES.values()} == concrete


def runs():
    for name in CASES:
        yield name, {"suppression_limit": 0.1}
        if name not in (*NEEDS_OPTIMAL, *GAMES):
            yield name, {"algorithm": "mondrian"}
        if name not in NOT_LOCAL:
            yield name, {"algorithm": "local", "suppression_limit": 0.1}
        if "presence" not in name:
            yield name, {"strata": ("cost",), "suppression_limit": 0.3}


@pytest.mark.parametrize(
    ("name", "options"),
    list(runs()),
    ids=lambda one: one if isinstance(one, str) else "-".join(one),
)
def test_every_model_is_recounted(name, options):
    model, kind, stricter = CASES[name]
    if name == "ordered" and "strata" in options:
        options = {**options, "strata": ("sex",)}
    population = {} if "weights" in name else {"population": POPULATION}
    method = om.Generalization([model], hierarchies=HIERARCHIES, **population, **options)
    release = om.protect(FRAME, SCHEMA, method, seed=1)
    (found,) = [one for one in release.verification.findings if isinstance(one.promise, kind)]
    assert found.kept
    weights = FRAME["weight"].to_numpy()[release.rows]
    shape = {"published": tuple(release.frame), "records": len(release.frame), "weights": weights}
    too_much = type(found.promise)(**{**vars(found.promise), **stricter})
    with pytest.raises(PromiseError, match="does not keep its promise"):
        verify(release.frame, [too_much], **shape).require()


def test_two_spellings_are_one_value():
    """All women have the flu, however it is written; by its looks alone that were 2-diverse."""
    frame = pd.DataFrame(
        {"sex": list("ffffmmmm"), "ill": ["flu", "Flu", "FLU", "flu", "cold", "flu", "Cold", "flu"]}
    )
    schema = om.Schema(sex=om.Flat(), ill=om.Nominal(DISEASES, "sensitive"))
    models = [
        om.privacy.LDiversity(2),
        om.privacy.TCloseness(0.3),
        om.privacy.DeltaDisclosure(2.0),
        om.privacy.BetaLikeness(2.0),
    ]
    for model in (
        *models,
        om.privacy.TCloseness(0.1, "semantic"),
        om.privacy.TCloseness(0.1, "hierarchical"),
    ):
        method = om.Generalization([model], hierarchies={"sex": SEX})
        release = om.protect(frame, schema, method, seed=1)
        assert len(set(release.frame["ill"])) == 2
        if isinstance(model, om.privacy.LDiversity):
            assert release.levels == {"sex": 1}
            (found,) = [
                f for f in release.verification.findings if isinstance(f.promise, Diversity)
            ]
            assert found.figure == 2
