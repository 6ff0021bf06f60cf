"""Releases of a table with planted values that no public report may show."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.report.facts import Account, Run, gather

COUNT = 240
PLANTED = {
    "age": "113",
    "diagnosis": "zanzibar fever",
    "town": "Quuxville",
    "severity": "catastrophic",
    "admitted": "1931-05-17",
    "charge": "987654",
}
SEED = 918273645

ILLNESSES = om.Taxonomy.from_parents(
    {
        "illness": [],
        "infection": ["illness"],
        "flu": ["infection"],
        "cold": ["infection"],
        "cancer": ["illness"],
        "lung cancer": ["cancer"],
        "skin cancer": ["cancer"],
        "injury": ["illness"],
        "burn": ["injury"],
        "cut": ["injury"],
        "rarity": ["illness"],
        "zanzibar fever": ["rarity"],
    },
    name="illnesses",
)


def planted_table() -> pl.DataFrame:
    generator = np.random.default_rng(5)
    day = datetime.date(2023, 1, 1)
    leaves = ["flu", "cold", "lung cancer", "skin cancer", "burn", "cut"]
    frame = {
        "person": [f"person {place}" for place in range(COUNT)],
        "age": generator.integers(20, 80, COUNT).tolist(),
        "diagnosis": generator.choice(leaves, COUNT).tolist(),
        "town": generator.choice(["Aa", "Bb", "Cc"], COUNT).tolist(),
        "severity": generator.choice(["mild", "grave"], COUNT).tolist(),
        "admitted": [
            day + datetime.timedelta(days=int(days)) for days in generator.integers(0, 300, COUNT)
        ],
        "charge": generator.normal(1000, 100, COUNT).round(2).tolist(),
    }
    frame["age"][7] = 113
    frame["diagnosis"][7] = PLANTED["diagnosis"]
    frame["town"][7] = PLANTED["town"]
    frame["severity"][7] = PLANTED["severity"]
    frame["admitted"][7] = datetime.date(1931, 5, 17)
    frame["charge"][7] = 987654.0
    return pl.DataFrame(frame)


def planted_schema(**changed: Any) -> om.Schema:
    return om.Schema.of(
        {
            "person": om.Identifier(),
            "age": om.Numeric(),
            "diagnosis": om.Nominal(ILLNESSES),
            "town": om.Flat(),
            "severity": om.Ordinal(order=["mild", "grave", "catastrophic"]),
            "admitted": om.Date(),
            "charge": om.Numeric(role="sensitive"),
            **changed,
        }
    )


@dataclass(frozen=True)
class Case:
    """A release with its tables and the account of it."""

    frame: Any
    schema: om.Schema
    release: om.Release
    evaluation: om.results.Evaluation
    account: Account

    def gathered(self, **more: Any) -> Account:
        release = self.release
        known = {"verification": release.verification, "timings": release.timings}
        made = {"steps": release.steps, "details": release.details}
        told = {name: more.pop(name, given) for name, given in made.items()}
        run = Run(evaluation=self.evaluation, **{**known, **more})
        seed, rows = release.seed, release.rows
        return gather(self.frame, release.frame, self.schema, run, rows=rows, seed=seed, **told)


def make_case(method: Any, frame: Any = None, schema: om.Schema | None = None) -> Case:
    frame = planted_table() if frame is None else frame
    schema = schema or planted_schema()
    release = om.protect(frame, schema, method, seed=SEED)
    evaluation = release.evaluate(frame)
    case = Case(frame, schema, release, evaluation, None)  # type: ignore[arg-type]
    return Case(frame, schema, release, evaluation, case.gathered())


def hierarchies() -> dict[str, list[list[str]]]:
    ages = [*range(20, 80), 113]
    return {
        "age": [[str(age), f"{age // 20 * 20}-{age // 20 * 20 + 19}", "*"] for age in ages],
        "town": [[town, "*"] for town in ("Aa", "Bb", "Cc", PLANTED["town"])],
        "severity": [[one, "*"] for one in ("mild", "grave", "catastrophic")],
    }


METHODS = {
    "microaggregation": lambda: make_case(om.Microaggregation(k=5)),
    "rank swapping": lambda: make_case(om.RankSwapping(share=0.05)),
    "suppression": lambda: make_case(
        om.Suppression(k=5),
        schema=planted_schema(
            age=om.Numeric(role="sensitive"),
            admitted=om.Date(role="sensitive"),
        ),
    ),
    "generalization": lambda: make_case(
        om.Generalization(
            [om.privacy.KAnonymity(4), om.privacy.LDiversity(2, column="diagnosis")],
            suppression_limit=0.2,
            hierarchies=hierarchies(),
        ),
        schema=planted_schema(
            diagnosis=om.Nominal(ILLNESSES, role="sensitive"),
            admitted=om.Date(role="sensitive"),
        ),
    ),
}


@pytest.fixture(scope="session")
def cases() -> dict[str, Case]:
    return {name: make() for name, make in METHODS.items()}


@pytest.fixture(scope="session")
def case(cases: dict[str, Case]) -> Case:
    return cases["microaggregation"]


@pytest.fixture(scope="session")
def remade():
    """Make a case of another method, table or schema."""
    return make_case
