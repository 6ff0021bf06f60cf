"""The game of publisher and attacker: every node of a small lattice, worked out by hand."""

import itertools
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest

import ontomask as om
from ontomask.errors import MethodError
from ontomask.promises import Payout

AGES = [[str(age), f"{age // 20 * 20}s", "*"] for age in range(20, 80, 10)]
TOWNS = [[name, name[0], "*"] for name in ("n1", "n2", "s1", "s2")]
ROWS = {"age": AGES, "town": TOWNS}
DRAWS = np.random.default_rng(4)
TABLE = pl.DataFrame(
    {
        "person": [number // 2 for number in range(60)],
        "age": DRAWS.choice([row[0] for row in AGES], 60, p=[0.4, 0.25, 0.15, 0.1, 0.07, 0.03]),
        "town": DRAWS.choice([row[0] for row in TOWNS], 60, p=[0.5, 0.3, 0.15, 0.05]),
    }
)
PEOPLE = pl.concat([TABLE] * 3)
GAME = om.privacy.Profitability(100, 250, adversary_gain=50, adversary_cost=8)
WIDE_GAME = om.privacy.PopulationProfitability(100, 750, adversary_gain=150, adversary_cost=8)
SCHEMA = om.Schema(age=om.Flat(), town=om.Flat())
PERSONS = om.Schema(person=om.Identifier(unit=True), age=om.Flat(), town=om.Flat())


def classes(table, levels):
    """How many rows of a table look the same at given levels."""
    up = {name: {row[0]: row for row in rows} for name, rows in ROWS.items()}
    return Counter(
        tuple(up[name][row[name]][level] for name, level in zip(ROWS, levels, strict=True))
        for row in table.rows(named=True)
    )


def outliers(game, levels, people):
    """Records of classes whose payout, as the paper and ARX define it, is not above 0."""
    among = classes(TABLE if people is None else people, levels)
    return sum(
        size * (payout(game, key, levels, among[key]) <= 0)
        for key, size in classes(TABLE, levels).items()
    )


def payout(game, key, levels, among):
    shares = [
        sum(row[level] == value for row in rows) / len(rows)
        for value, level, rows in zip(key, levels, ROWS.values(), strict=True)
    ]
    lost = math.log10(math.prod(shares)) / math.log10(math.prod(map(len, ROWS.values()))) + 1
    attacked = game.adversary_gain / among - game.adversary_cost > 0
    return game.publisher_benefit * (1 - lost) - attacked * game.publisher_loss / among


def method(game=GAME, **options):
    return om.Generalization([game], hierarchies=ROWS, **options)


@pytest.mark.parametrize(("game", "people"), [(GAME, None), (WIDE_GAME, PEOPLE)])
def test_every_node_of_the_lattice(game, people):
    asked = method(game, suppression_limit=0.3, population=people)
    nodes = om.measuring.explore(TABLE, SCHEMA, asked)
    every = list(itertools.product(range(3), range(3)))
    expected = [outliers(game, levels, people) for levels in every]
    assert len(set(expected)) > 4
    assert nodes.levels.tolist() == [list(levels) for levels in every]
    assert nodes.outliers.tolist() == expected
    assert nodes.valid.tolist() == [one <= 18 for one in expected]
    losses = np.where(nodes.valid, nodes.losses["loss"], np.inf)
    release = om.protect(TABLE, SCHEMA, asked)
    assert tuple(release.levels.values()) == every[int(losses.argmin())]


def test_what_does_not_pay_is_dropped_not_starred():
    release = om.protect(TABLE, SCHEMA, method(suppression_limit=0.3))
    assert release.left_out > 0
    assert ("*", "*") not in release.frame.rows()
    (promise,) = [one for one in release.promises if isinstance(one, Payout)]
    assert promise.unit is None
    assert not promise.weighed
    assert dict(promise.kept[0])["20"] == pytest.approx(math.log(6) / math.log(24))
    assert dict(promise.kept[1])["n1"] == pytest.approx(math.log(4) / math.log(24))


def test_persons_are_guessed_among_where_there_is_a_unit():
    """Two records of each person: a class has half as many, and an attack pays sooner."""
    table = TABLE.sort("age", "town").with_columns(person=TABLE["person"])
    by_records = om.protect(table, SCHEMA, method(suppression_limit=0.6))
    by_persons = om.protect(table, PERSONS, method(suppression_limit=0.6))
    assert by_persons.left_out > by_records.left_out > 0
    assert "a person (one person) in the table" in str(by_persons.verification)


def test_different_records_may_be_generalized_differently():
    release = om.protect(TABLE, SCHEMA, method(algorithm="local", suppression_limit=0.3))
    whole = om.protect(TABLE, SCHEMA, method(suppression_limit=0.3))
    assert release.details[0]["quality"] <= whole.details[0]["quality"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda: method(algorithm="mondrian"), "Mondrian divides classes as long as"),
        (
            lambda: om.Microaggregation(3, privacy=[GAME]),
            "Profitability weighs what general values still tell, which clusters do not have; use "
            "Generalization",
        ),
    ],
)
def test_methods_that_cannot_weigh_it_say_so(asked, said):
    with pytest.raises(MethodError, match=said):
        om.protect(TABLE, SCHEMA, asked())


def test_a_population_is_not_counted_by_persons():
    with pytest.raises(MethodError, match="PopulationProfitability counts records"):
        om.protect(TABLE, PERSONS, method(WIDE_GAME, population=PEOPLE))
