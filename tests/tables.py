"""Small tables about people, for tests of methods."""

from __future__ import annotations

import datetime

import numpy as np

import ontomask as om

DISEASES = om.Taxonomy.from_parents(
    {
        "disease": [],
        "infection": ["disease"],
        "flu": ["infection"],
        "cold": ["infection"],
        "covid": ["infection"],
        "cancer": ["disease"],
        "lung cancer": ["cancer", "lung disease"],
        "skin cancer": ["cancer"],
        "lung disease": ["disease"],
        "asthma": ["lung disease"],
        "pneumonia": ["infection", "lung disease"],
    },
    name="diseases",
)
LEAVES = ["flu", "cold", "covid", "lung cancer", "skin cancer", "asthma", "pneumonia"]


def mixed_columns(count: int = 60, seed: int = 1, *, gaps: bool = True) -> dict[str, list]:
    """Nominal, ordinal, numeric, date and flat columns, with duplicates and missing values."""
    generator = np.random.default_rng(seed)
    day = datetime.date(2024, 1, 1)
    columns: dict[str, list] = {
        "patient": [f"p{number:04d}" for number in range(count)],
        "diagnosis": generator.choice(LEAVES, count).tolist(),
        "age": generator.integers(20, 60, count).tolist(),
        "admitted": [
            day + datetime.timedelta(days=int(days)) for days in generator.integers(0, 40, count)
        ],
        "severity": generator.choice(["mild", "moderate", "severe"], count).tolist(),
        "sex": generator.choice(["f", "m"], count).tolist(),
        "charge": generator.normal(1000, 200, count).round(2).tolist(),
    }
    if gaps:
        for name in ("diagnosis", "sex", "severity"):
            for place in generator.choice(count, max(1, count // 15), replace=False):
                columns[name][place] = None
    for place in range(count * 2 // 3, count):  # the last third repeats the first few people
        for name in columns:
            if name not in ("patient", "charge"):
                columns[name][place] = columns[name][place % 4]
    return columns


def mixed_schema() -> om.Schema:
    """A schema for `mixed_columns`."""
    return om.Schema(
        patient=om.Identifier(),
        diagnosis=om.Nominal(DISEASES),
        age=om.Numeric(),
        admitted=om.Date(),
        severity=om.Ordinal(order=["mild", "moderate", "severe"]),
        sex=om.Flat(),
        charge=om.Numeric(role="sensitive"),
    )


def nominal_schema() -> om.Schema:
    """Only the diagnosis and the sex are quasi-identifiers."""
    return om.Schema(diagnosis=om.Nominal(DISEASES), sex=om.Flat(), charge=om.Numeric(role="other"))


def mixed_hierarchies(count: int = 60) -> dict[str, list[list[str]]]:
    """Generalizations of every quasi-identifier of `mixed_columns` but the diagnosis."""
    columns = mixed_columns(count)
    days = sorted({str(one) for one in columns["admitted"]})
    return {
        "age": [[str(age), f"{age // 10}0s", "*"] for age in sorted(set(columns["age"]))],
        "admitted": [[day, day[:7], "*"] for day in days],
        "severity": [[one, "*"] for one in ("mild", "moderate", "severe")],
        "sex": [[one, "*"] for one in ("f", "m")],
    }
