"""The risk of persons with several records, against a computation by hand."""

from __future__ import annotations

import math
from collections import defaultdict

import polars as pl
import pytest
from typer.testing import CliRunner

import ontomask as om
from ontomask.cli.app import app

WHO = ["a", "a", "b", "b", "c", "c", "c", "d"]
AGE = [30, 40, 30, 30, 30, 50, 50, 40]
SCHEMA = om.Schema(who=om.Identifier(unit=True), age=om.Flat())


def by_hand() -> dict[str, list[float]]:
    """The risks of each person's records: 30 has a, b, c; 40 has a, d; 50 has c alone."""
    persons = {30: 3, 40: 2, 50: 1}
    risks = defaultdict(list)
    for who, age in zip(WHO, AGE, strict=True):
        risks[who].append(1 / persons[age])
    return risks


def test_the_risk_of_a_file_is_that_of_persons() -> None:
    found = om.file_risk(pl.DataFrame({"who": WHO, "age": AGE}), SCHEMA, threshold=0.4)
    risks = by_hand()
    single = [max(one) for one in risks.values()]
    joined = [1 - math.prod(1 - risk for risk in one) for one in risks.values()]
    assert (found.structure.people, found.structure.smallest, found.structure.uniques) == (4, 1, 1)
    assert found.structure.histogram == ((1, 1), (2, 1), (3, 1))
    assert found.prosecutor.average == pytest.approx(sum(single) / 4)
    assert found.prosecutor.above == pytest.approx(sum(risk > 0.4 for risk in single) / 4)
    assert found.persons is not None
    assert found.persons.joined_average == pytest.approx(sum(joined) / 4)
    assert (found.persons.highest, found.persons.joined_highest) == (1.0, 1.0)


def test_the_risk_before_and_after_masking() -> None:
    frame = pl.DataFrame({"who": WHO * 3, "age": AGE * 3})
    schema = om.Schema(who=om.Identifier(unit=True), age=om.Numeric())
    release = om.protect(frame, schema, om.Microaggregation(k=3), seed=1)
    before, after = release.risk["before"], release.risk["after"]
    assert before.smallest_class == 1
    assert before.persons is not None
    assert before.uniques == 0.25
    assert after.smallest_class >= 3
    assert after.highest_risk <= 1 / 3


def test_the_command_takes_a_unit(tmp_path) -> None:
    path = tmp_path / "visits.csv"
    pl.DataFrame({"who": WHO, "age": AGE}).write_csv(path)
    said = CliRunner().invoke(app, ["risk", str(path), "--quasi", "age", "--unit", "who"])
    assert said.exit_code == 0, said.output
    assert "average risk of any of a person's records" in said.output
    wrong = CliRunner().invoke(app, ["risk", str(path), "--quasi", "age", "--unit", "whom"])
    assert wrong.exit_code != 0
